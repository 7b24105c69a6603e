"""Numbers with a unit that is a word: 30 minutes are not 30 days. English and German. Pure."""

from __future__ import annotations

import re
from collections import defaultdict

_UNITS = {
    word: words.split()[0]
    for words in (
        "ms millisecond milliseconds millisekunde millisekunden",
        "second seconds sec secs sekunde sekunden",
        "minute minutes min mins minuten",
        "hour hours hr hrs stunde stunden",
        "day days tag tage tagen",
        "week weeks woche wochen",
        "month months monat monate monaten",
        "quarter quarters quartal quartale quartalen",
        "year years yr yrs jahr jahre jahren",
        "percent per_cent prozent",
        "byte bytes", "kb kib kilobyte kilobytes", "mb mib megabyte megabytes",
        "gb gib gigabyte gigabytes", "tb tib terabyte terabytes",
        "bit bits", "kbit mbit gbit",
        "euro euros eur", "dollar dollars usd", "cent cents", "pound pounds gbp", "franken chf",
        "mm millimeter millimeters", "cm centimeter centimeters zentimeter",
        "meter meters metre metres metern", "km kilometer kilometers kilometre kilometern",
        "mile miles meile meilen", "inch inches zoll", "pixel pixels px",
        "gram grams gramm", "kg kilogram kilograms kilogramm", "ton tons tonne tonnen",
        "liter liters litre litres", "watt watts", "kw kilowatt", "volt volts",
        "degree degrees grad", "celsius", "fahrenheit",
        "character characters char chars zeichen", "word words wort wörter worten",
        "line lines zeile zeilen", "page pages seite seiten", "token tokens",
        "request requests anfrage anfragen", "space spaces leerzeichen",
        "core cores kern kerne", "person persons personen", "note notes",
        "file files datei dateien",
    )
    for word in words.split()
}  # fmt: skip
_NUMBERS = {
    word: number
    for words in (
        "2 two zwei", "3 three drei", "4 four vier", "5 five fünf", "6 six sechs",
        "7 seven sieben", "8 eight acht", "9 nine neun", "10 ten zehn", "11 eleven elf",
        "12 twelve zwölf", "15 fifteen fünfzehn", "20 twenty zwanzig", "30 thirty dreißig",
        "60 sixty sechzig", "90 ninety neunzig", "100 hundred hundert",
    )
    for number, *spelled in [words.split()]
    for word in spelled
}  # fmt: skip
# Further ones and further languages; what means something else in English or German is left out.
_FURTHER = {
    word: number
    for words in (
        "2 deux dos dois duas", "3 trois tres três tre", "4 quatre cuatro quatro quattro",
        "5 cinq cinco cinque", "6 seis", "7 sept siete sete sette", "8 huit ocho oito otto",
        "9 neuf nueve nove", "10 dix diez dez dieci", "11 onze undici",
        "12 douze doce doze dodici", "14 fourteen vierzehn quatorze catorce",
        "15 quinze quince quindici", "16 sixteen sechzehn seize", "18 eighteen achtzehn",
        "20 vingt veinte vinte venti", "24 vierundzwanzig", "30 trente treinta trinta trenta",
        "40 forty vierzig quarante cuarenta quarenta quaranta",
        "50 fifty fünfzig cinquante cincuenta cinquenta cinquanta",
        "60 soixante sesenta sessenta sessanta", "13 thirteen dreizehn treize trece treze tredici",
        "17 seventeen siebzehn diecisiete dezessete diciassette",
        "19 nineteen neunzehn diecinueve dezenove diciannove", "70 seventy siebzig setenta "
        "settanta",
        "80 eighty achtzig ochenta oitenta ottanta", "90 noventa novanta",
        "200 zweihundert doscientos duzentos duecento", "100 cent cien ciento cem cento", "1000 "
        "thousand tausend mille mil",
    )
    for number, *spelled in [words.split()]
    for word in spelled
}  # fmt: skip
_PAIR = re.compile(
    r"(?<![\w.,])(\d+(?:[.,:]\d+)*|[a-zäöüß]{3,8})(?=[ \t\n-]{1,3}([a-zäöüß]{2,14})\b)"
)
_SENTENCE = re.compile(r"[.!?;](?:\s|$)|\n[ \t]*\n")


def lost(source: str, result: str) -> list[str]:
    """The numbers with a unit of a text that have another one in the result; sorted."""
    mine, theirs = _measured(source), _measured(result)
    gone = (
        (number, unit)
        for number, units in mine.items()
        for unit in units - theirs.get(number, set())
    )
    # where another unit stands behind the number, no word elsewhere makes up for it
    return sorted(
        f"{number} {unit}s"
        for number, unit in gone
        if number in theirs or not _stands(number, unit, result)
    )


def words() -> tuple[str, ...]:
    """The words that name numbers, folded."""
    return (*_NUMBERS, *_FURTHER, "einund", "zweiund")


def number(word: str) -> str:
    """The digits of a folded word that names a number, in one of six languages; "" for another."""
    return _NUMBERS.get(word) or _FURTHER.get(word, "")


_EASTERN = {sign: at for at, sign in enumerate("〇一二三四五六七八九")} | {"两": 2}
_TENS = {"十": 10, "百": 100, "千": 1_000}


def eastern(written: str) -> int | None:
    """The number that Chinese or Japanese signs, or plain digits, say; None for another text."""
    if written.isdecimal():
        return int(written)
    total, last = 0, 0
    for sign in written:
        if sign in _TENS:
            total, last = total + (last or 1) * _TENS[sign], 0
        elif sign in _EASTERN:
            last = _EASTERN[sign]
        else:
            return None
    return total + last


def _measured(text: str) -> dict[str, set[str]]:
    """The units that stand right behind each number."""
    found: dict[str, set[str]] = defaultdict(set)
    for number, word in _PAIR.findall(text.casefold()):
        number = _NUMBERS.get(number, number)
        if number[0].isdigit() and word in _UNITS:
            found[number].add(_UNITS[word])
    return found


def _stands(number: str, unit: str, text: str) -> bool:
    """Whether number and unit stand in one sentence of the text, in whatever order."""
    for sentence in _SENTENCE.split(text.casefold()):
        words = re.findall(r"[^\W\d_]+|\d+(?:[.,:]\d+)*", sentence)
        if number in (_NUMBERS.get(word, word) for word in words) and unit in (
            _UNITS.get(word) for word in words
        ):
            return True
    return False
