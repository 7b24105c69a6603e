"""Numbers as words, in eight languages: "neunzig" and "九十" are 90. Pure."""

from __future__ import annotations

NUMBERS = {  # the digits of each word, in lower case
    word: number
    for words in (
        "2 two zwei deux dos dois duas", "3 three drei trois tres três tre",
        "4 four vier quatre cuatro quatro quattro", "5 five fünf cinq cinco cinque",
        "6 six sechs seis", "7 seven sieben sept siete sete sette",
        "8 eight acht huit ocho oito otto", "9 nine neun neuf nueve nove",
        "10 ten zehn dix diez dez dieci", "11 eleven elf onze undici",
        "12 twelve zwölf douze doce doze dodici",
        "13 thirteen dreizehn treize trece treze tredici", "14 fourteen vierzehn quatorze catorce",
        "15 fifteen fünfzehn quinze quince quindici", "16 sixteen sechzehn seize",
        "17 seventeen siebzehn diecisiete dezessete diciassette", "18 eighteen achtzehn",
        "19 nineteen neunzehn diecinueve dezenove diciannove",
        "20 twenty zwanzig vingt veinte vinte venti", "24 vierundzwanzig",
        "30 thirty dreißig trente treinta trinta trenta",
        "40 forty vierzig quarante cuarenta quarenta quaranta",
        "50 fifty fünfzig cinquante cincuenta cinquenta cinquanta",
        "60 sixty sechzig soixante sesenta sessenta sessanta",
        "70 seventy siebzig setenta settanta", "80 eighty achtzig ochenta oitenta ottanta",
        "90 ninety neunzig noventa novanta", "100 hundred hundert cent cien ciento cem cento",
        "200 zweihundert doscientos duzentos duecento", "1000 thousand tausend mille mil",
    )
    for number, *spelled in [words.split()]
    for word in spelled
}  # fmt: skip
# number words that mean something else in English, and so count for nothing that one must keep
IN_ENGLISH = frozenset("due once cent mil mille elf dos nove sette dix".split())
_EASTERN_DIGITS = {sign: at for at, sign in enumerate("〇一二三四五六七八九")} | {"两": 2}
_TENS = {"十": 10, "百": 100, "千": 1_000}


def eastern_number(written: str) -> int | None:
    """The number that Chinese or Japanese signs, or plain digits, say; None for another text."""
    if written.isdecimal():
        return int(written)
    total, last = 0, 0
    for sign in written:
        if sign in _TENS:
            total, last = total + (last or 1) * _TENS[sign], 0
        elif sign in _EASTERN_DIGITS:
            last = _EASTERN_DIGITS[sign]
        else:
            return None
    return total + last
