"""Numbers, amounts and units of eight languages in one form: "neunzig Tage" is "90 d". Pure."""

from __future__ import annotations

import re
from collections.abc import Set

from mdmemory.text.words import CJK, compiled

_NUMBERS = {
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
_THOUSANDS = {
    "en": re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?!,?\d)"),
    "comma": re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:[.'’ ]\d{3})+(?!\.?\d)"),
}
_DECIMAL = r"(?<![\d.,])(?:(0),(\d+)|(\d+),(\d{1,2}))(?![\d,.]\d|\d)"
_K = r"(?<![\w.])(\d+(?:\.\d+)?)\s?k\b(?!\s?[Ωg])"
_LARGE = {
    **dict.fromkeys("thousand tausend mila mil mille 千".split(), 10**3),
    **dict.fromkeys("万 萬".split(), 10**4),
    **dict.fromkeys("million millions millionen mio millones milhões milioni 百万".split(), 10**6),
    **dict.fromkeys("億 亿".split(), 10**8),
}
_MANY = (
    r"(?i)(?<![\w.])(\d+(?:\.\d+)?)\s?("
    + "|".join(sorted(_LARGE, key=len, reverse=True))
    + rf")(?:\.(?=\s[^\W\d_{CJK}])|(?![^\W{CJK}]))"
)
_WORD = rf"(?<![\w'’-])[^\W\d_{CJK}]{{2,24}}(?:[- ](?:y |e |et )?[^\W\d_{CJK}]{{2,6}})?(?![\w])"
_NUMERALS = "一二三四五六七八九十百千两〇"
_EASTERN_NUMBER = (
    # a run of numerals is looked at once, from its first one
    f"(?<![{_NUMERALS}])[{_NUMERALS}]++"
    "(?=\\s?(?:次|个|個|天|日|月|年|周|週|秒|分|小时|時間|时间|台|枚|件|人|回|"
    "本|名|页|頁|行|条|倍|度|円|元|張|张|つ|位|ヶ月|か月|箇所|份|块|桁|文字|字|级|版|层|階|歳|岁|杯|把|间|室|列|段|点|割|歩))"
)
# Number words of other languages that mean something else in English.
_NO_ENGLISH = frozenset("due once cent mil mille elf dos nove sette dix".split())

_TIME = {
    word: seconds
    for seconds, words in (
        (0.001, "ms msec millisecond milliseconds millisekunde millisekunden milliseconde "
         "millisecondes milisegundo milisegundos millisecondo millisecondi 毫秒 ミリ秒"),
        (1, "s sec secs sek second seconds sekunde sekunden seconde secondes segundo segundos seg "
         "secondo secondi 秒 秒钟 秒間"),
        (60, "min mins minute minutes minuten minuto minutos minuti 分 分钟 分間 分鐘"),
        (3_600, "h hr hrs std hour hours stunde stunden heure heures hora horas ora ore 小时 小時 "
         "個小時 个小时 時間"),
        (86_400, "d day days tag tage tagen jour jours día días dia dias giorno giorni 天 日間"),
        (604_800, "week weeks woche wochen semaine semaines semana semanas settimana settimane 周 "
         "週間 个星期 星期"),
    )
    for word in words.split()
}  # fmt: skip
_SYMBOL = {
    word: words.split()[0]
    for words in (
        "mth month months monat monate monaten mois mes meses mese mesi mês 个月 個月 か月 ヶ月 "
        "カ月",
        "yr year years yrs jahr jahre jahren ans année années año años ano anos anno anni 年間",
        "% percent prozent pour_cent por_ciento por_cento per_cento",
        "kB kb kio ko", "MB mio mo mega megabyte megabytes", "GB go gio giga gigabyte gigabytes",
        "TB to tio terabyte terabytes", "KiB", "MiB", "GiB", "B byte bytes octets",
        "kHz", "MHz", "GHz", "Hz hertz", "kPa", "hPa", "Pa", "bar", "mbar", "V volt", "A", "W "
        "watt",
        "kW", "kWh", "mA", "mV", "dB", "dpi", "px pixel pixels",
        "EUR € euro euros", "USD $ dollar dollars dólares", "GBP £ pounds", "BRL reais r$",
        "CHF franken",
        "JPY 円", "CNY 元",
        "mm millimeter millimetern millimeters millimetres milimetros millimètres millimetri",
        "cm centimeter centimeters centimetres zentimeter zentimetern",
        "m meter meters metern metre metres mètres metros metri メートル",
        "km kilometer kilometern kilometers kilometres "
        "kilomètres quilômetros kilómetros chilometri 公里 キロ",
        "g gramm grams gramas gramos grammi grammes 克 グラム",
        "kg kilogramm kilogram kilograms kilo kilos chili quilos 公斤 千克 キログラム",
        "l liter litern liters litre litres litros litri 升 リットル", "ml",
        "degC °c ℃ gradcelsius", "degF °f", "deg ° degree degrees grad graus grados gradi "
        "degrés 度",
        # what is counted, in English and German
        "quarter quarters quartal quartale quartalen",
        "bit bits", "kbit mbit gbit", "cent cents",
        "mile miles meile meilen", "inch inches zoll", "ton tons tonne tonnen",
        "celsius", "fahrenheit", "character characters char chars zeichen",
        "word words wort wörter worten", "line lines zeile zeilen", "page pages seite seiten",
        "token tokens", "request requests anfrage anfragen", "space spaces leerzeichen",
        "core cores kern kerne", "person persons personen", "note notes",
        "file files datei dateien",
    )
    for word in words.split()
}  # fmt: skip
# Symbols that are words or other symbols when their case is another one.
_CASED = {"a": "A", "b": "B", "v": "V", "w": "W", "to": "To", "go": "Go", "mo": "Mo", "pa": "Pa",
          "g": "g", "m": "m", "l": "l", "d": "d", "h": "h", "s": "s", "bar": "bar"}  # fmt: skip
_AMOUNT = (
    rf"(?<![.,])(?<![^\W{CJK}])(?P<front>[€$£¥]|R\$\s?|EUR\s|"
    rf"USD\s)?(?P<number>\d+(?:[.]\d+)?)(?P<gap>[\s-]?)"
    rf"(?P<unit>[°℃](?:\s?[CF]\b)?|[%€$£]|[^\W\d_{CJK}]{{1,14}}|[{CJK}]{{1,4}})?"
)
_GLUED = dict.fromkeys(
    ("degrees celsius", "degree celsius", "gradi celsius", "grad celsius", "degrés celsius",
     "grados celsius", "graus celsius"), "°C",
) | dict.fromkeys(
    ("per cent", "pour cent", "por ciento", "por cento", "per cento"), "%"
)  # fmt: skip
_ORDINAL = {
    word: number
    for number, words in enumerate(
        (
            "third dritte dritten dritter drittes troisième tercera tercero tercer terceira "
            "terceiro terza terzo",
            "fourth vierte vierten vierter quatrième cuarta cuarto quarta quarto",
            "fifth fünfte fünften cinquième quinta quinto",
            "sixth sechste sechsten sixième sexta sexto sesta sesto",
            "seventh siebte siebten septième séptima séptimo settima settimo",
            "eighth achte achten huitième octava octavo oitava oitavo ottava ottavo",
            "ninth neunte neunten neuvième novena noveno nona nono",
            "tenth zehnte zehnten dixième décima décimo decima decimo",
        ),
        3,
    )
    for word in words.split()
}
_SUFFIXED = r"(?<![\w.])(\d{1,3})(?:st|nd|rd|th|er|ère|e|ème|º|ª)\b|第\s?(\d{1,3})"
_ONE = (
    r"(?i)\b(?:one|eine[rnm]?|ein|une|una|uma|um|un)\s(?=(?:hour|stunde|heure|hora|ora|minute|minuto|"
    r"day|tag|jour|día|dia|giorno|week|woche|semaine|semana|settimana|second|sekunde|seconde|segundo|"
    r"secondo)(?:s|n|en)?\b)"
)
_COUNTS = frozenset((*_NUMBERS, *_ORDINAL, "einund", "zweiund"))
_EASTERN_DIGITS = {sign: at for at, sign in enumerate("〇一二三四五六七八九")} | {"两": 2}
_TENS = {"十": 10, "百": 100, "千": 1_000}


def number_digits(word: str) -> str:
    """The digits of a folded word that names a number, in one of six languages; "" for another."""
    return _NUMBERS.get(word, "")


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


def numbers_to_digits(text: str, language: str, words: Set[str]) -> str:
    """The text with its numbers in digits: number words, thousands, and the comma of decimals."""
    if language in ("en", "cjk"):
        text = _THOUSANDS["en"].sub(lambda match: match[0].replace(",", ""), text)
    else:
        text = _THOUSANDS["comma"].sub(lambda match: re.sub(r"\D", "", match[0]), text)
        text = compiled(_DECIMAL).sub(lambda match: match[0].replace(",", "."), text)
    if words & _COUNTS or any(word.endswith(("zig", "ßig")) for word in words):
        text = compiled(_WORD).sub(lambda match: _number_word(match[0], language), text)
    if language == "cjk":
        values = (
            (each, eastern_number(each)) for each in {*compiled(_EASTERN_NUMBER).findall(text)}
        )
        digits = {each: str(value) for each, value in values if value and value > 1}
        text = compiled(_EASTERN_NUMBER).sub(lambda match: digits.get(match[0], match[0]), text)
    if not any(map(str.isdigit, text)):
        return text
    text = compiled(_SUFFIXED).sub(lambda match: match[1] or match[2], text)
    text = compiled(_K).sub(lambda match: _plain_number(float(match[1]) * 1_000), text)
    return compiled(_MANY).sub(
        lambda match: _plain_number(float(match[1]) * _LARGE[match[2].lower()]), text
    )


def _number_word(written: str, language: str) -> str:
    if value := _of_word(written.casefold(), language):
        return value
    head, sign, rest = [*re.split(r"([- ])", written, maxsplit=1), "", ""][:3]
    if not sign:
        return written
    tail = re.sub("(?i)^(?:y|e|et) ", "", rest)
    ten, one = (_of_word(part.casefold(), language) for part in (head, tail))
    if ten and one and len(ten) == 2 and ten[1] == "0" and len(one) == 1:
        return str(int(ten) + int(one))
    if sign == "-":  # two-week; but db-two is a name
        return f"{ten} {rest}" if ten else written
    return f"{ten or head} {one if one and tail == rest else rest}"


def _of_word(folded: str, language: str) -> str:
    """The digits of a number word; of a word that means something else in the language none."""
    if folded in _ORDINAL:
        return str(_ORDINAL[folded])
    if folded in _LARGE or (language == "en" and folded in _NO_ENGLISH):
        return ""
    if language == "pt" and folded == "dos":
        return ""
    if joined := re.fullmatch(r"(ein|zwei|drei|vier|fünf|sechs|sieben|acht|neun)und(\w+)", folded):
        ten = number_digits(joined[2])
        one = "1" if joined[1] == "ein" else number_digits(joined[1])
        return str(int(ten) + int(one)) if ten else ""
    return number_digits(folded)


def units_to_symbols(text: str, language: str, words: Set[str]) -> str:
    """The text with each known unit as a symbol behind its number."""
    if language == "cjk" or words & _TIME.keys():
        text = compiled(_ONE).sub("1 ", text)
    if not any(character.isdigit() for character in text):
        return text
    for written, sign in _GLUED.items():
        text = re.sub(rf"(?i)(?<=\d ){written}", sign, text)
    return compiled(_AMOUNT).sub(_write_amount, text)


def _write_amount(match: re.Match[str]) -> str:
    number, unit, front = match["number"], match["unit"] or "", (match["front"] or "").strip()
    if front in ("$", "€", "£", "R$", "EUR", "USD"):
        symbol = _SYMBOL.get(front.casefold(), front)
        return f"{_plain_number(float(number))}{symbol}{match['gap']}{unit}"
    folded = unit.replace(" ", "").casefold()
    tail = ""
    if unit and unit[0] > "\u2e80":  # the longest beginning of the run that is a unit
        known = (unit[:end] for end in range(len(unit), 0, -1))
        folded = next((each for each in known if each in _TIME or each in _SYMBOL), unit)
        unit, tail = folded, unit[len(folded) :]
    if _CASED.get(folded, unit) == unit:
        if seconds := _TIME.get(folded):
            return f"{front}{_plain_number(float(number) * seconds)}s{' ' if tail else ''}{tail}"
        if folded in _SYMBOL or unit in _SYMBOL.values():
            symbol = unit if unit in _SYMBOL.values() else _SYMBOL[folded]
            return f"{front}{number}{symbol}{' ' if tail else ''}{tail}"
    return match[0]


def _plain_number(value: float) -> str:
    return f"{value:.9f}".rstrip("0").rstrip(".")


# What is no prose: it is compared letter by letter.
