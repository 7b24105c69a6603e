"""Numbers and their units in one form, in eight languages: 12k is 12000, two weeks are 1209600s.

Pure. A number gets its digits and loses the separators of thousands; a known unit becomes a symbol
right behind it, one of time its seconds, days counting 24 hours; "per hour" becomes per_hour.
"""

from __future__ import annotations

import re
from collections.abc import Set

from mdmemory.text import units
from mdmemory.text.words import CJK

_THOUSANDS = {
    "en": re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?!,?\d)"),
    "comma": re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:[.'’ ]\d{3})+(?!\.?\d)"),
}
_DECIMAL = re.compile(r"(?<![\d.,])(?:(0),(\d+)|(\d+),(\d{1,2}))(?![\d,.]\d|\d)")
_K = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s?k\b(?!\s?[Ωg])")
_LARGE = {
    word: times
    for times, words in (
        (1_000, "thousand tausend mila mil mille 千"),
        (10_000, "万 萬"),
        (1_000_000, "million millions millionen mio millones milhões milioni 百万"),
        (100_000_000, "億 亿"),
    )
    for word in words.split()
}
_MANY = re.compile(
    r"(?i)(?<![\w.])(\d+(?:\.\d+)?)\s?("
    + "|".join(sorted(_LARGE, key=len, reverse=True))
    + rf")(?:\.(?=\s[^\W\d_{CJK}])|(?![^\W{CJK}]))"
)
_WORD = re.compile(
    rf"(?<![\w'’-])[^\W\d_{CJK}]{{2,24}}(?:[- ](?:y |e |et )?[^\W\d_{CJK}]{{2,6}})?(?![\w])"
)
_NUMERALS = "一二三四五六七八九十百千两〇"
_EASTERN = re.compile(
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
    )
    for word in words.split()
}  # fmt: skip
# Symbols that are words or other symbols when their case is another one.
_CASED = {"a": "A", "b": "B", "v": "V", "w": "W", "to": "To", "go": "Go", "mo": "Mo", "pa": "Pa",
          "g": "g", "m": "m", "l": "l", "d": "d", "h": "h", "s": "s", "bar": "bar"}  # fmt: skip
_AMOUNT = re.compile(
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
# Units that stand without a number, too: "in millimetres".
_LONG_UNIT = re.compile("(?:milli|centi|zenti|kilo|quilo|giga|mega|tera)[a-z]{4,}")
_ALONE = re.compile(
    r"(?i)(?<!\d)(?<!\d[ -])\b(?:"
    + "|".join([*_GLUED, *(word for word in _SYMBOL if _LONG_UNIT.fullmatch(word))])
    + r")\b|(?<=\d )(?:"
    + "|".join(_GLUED)
    + r")\b"
)
_SIGN = re.compile(r"\d\s?[%€$£°℃]|[$€£¥]\s?\d|\d\s?[^\W\d_]{1,4}\b")
_WHOLE = (
    r"(?:hour|stunde|heure|hora|ora|minute|minuto|minuten?|day|tag|jour|día|dia|giorno|week|woche|"
    r"semaine|semana|settimana|second|sekunde|seconde|segundo|secondo)"
)
_ONE_AND_HALF = re.compile(
    rf"(?i)\b(?:an?|one|une?|una|uma|un)\s({_WHOLE})\s(?:and\sa\shalf|et\sdemie?|y\smedi[oa]|"
    rf"e\smei[oa]|e\smezz[oa])\b|\b(?:anderthalb|eineinhalb)\s(\w{{3,8}})"
)
_QUARTER = re.compile(
    r"(?i)\b(?:an?\s|une?\s|eine[rn]?\s|un\s|tous\sles\s|every\s|alle\s|"
    r"jede\s)?(?:quarts?\sd['’]heure|quarter\s(?:of\san\s)?hours?|viertelstunden?|"
    r"cuartos?\sde\shora|quartos?\sde\shora|quart[oi]\sd['’]ora)\b"
)
_HALF = re.compile(
    rf"(?i)\b(?:half\san?\s|half-|une?\sdemi[- ]|eine?[rn]?\shalben?\s|media\s|meia\s|mezz['’]|"
    rf"mezza\s)({_WHOLE})\b|(半)(小时|小時|個小時|个小时|時間|天|日)|(\d+)\s?(時間|小时|个小时|年)半"
)
_ONE = re.compile(rf"(?i)\b(?:one|eine[rnm]?|ein|une|una|uma|um|un)\s(?={_WHOLE}(?:s|n|en)?\b)")
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
}  # fmt: skip
_SUFFIXED = re.compile(r"(?<![\w.])(\d{1,3})(?:st|nd|rd|th|er|ère|e|ème|º|ª)\b|第\s?(\d{1,3})")
_RATES = (
    ("second", "seconds? seconde sekunde segundo secondo 秒"),
    ("minute", "minutes? minute min minuto 分(?:钟|間)? 分鐘"),
    ("hour", "hours? h heure stunde hora ora 小时 小時 時間?"),
    ("day", "days? d jour tag día dia giorno 天 日"),
    ("week", "weeks? semaine woche semana settimana 周(?![一二三四五六日天末]) 週"),
    ("month", "months? mois monat mes mês mese 月"),
    ("year", "years? an année jahr año ano anno 年"),
)
_ADVERBS = {
    "hour": "hourly stündlich", "day": "daily täglich quotidiennement diariamente quotidianamente",
    "week": "weekly wöchentlich hebdomadaire semanalmente settimanalmente",
    "month": "monthly monatlich mensuel mensuelle mensualmente mensalmente mensilmente mensile",
    "year": "yearly annually jährlich annuel annuelle anualmente annualmente",
}  # fmt: skip
_FORMS = {
    name: (
        "|".join(form for form in forms.split() if form < "\u2e80"),
        "|".join(form for form in forms.split() if form > "\u2e80"),
        "|".join(_ADVERBS.get(name, "never-said").split()),
    )
    for name, forms in _RATES
}
_SAID = "".join(f"|(?P<per_{name}>{forms[0]})" for name, forms in _FORMS.items())[1:]
_SAID_EAST = "".join(f"|(?P<per_{name}>{forms[1]})" for name, forms in _FORMS.items())[1:]
_SAID_ADVERB = "".join(f"|(?P<per_{name}>{forms[2]})" for name, forms in _FORMS.items())[1:]
_PER = (
    re.compile(rf"(?i)(?:(?<=\d)|(?<=[\w)])\s?)/\s?(?:{_SAID})\b"),
    re.compile(
        r"(?i)\b(?:(?:once|einmal|une\sfois|una\svez|uma\svez|una\svolta)\s"
        r"(?:an?|per|am|im|in\sder|pro|par|por|al|à\sla|ao|alla)\s|all['’]|à\sl['’]|(?:per|pro|"
        r"je|par|"
        r"por|each|every|jede[rnms]?|chaque|cada|ogni|in\sder|al|ao|(?<=\d )an?)\s)"
        rf"(?:{_SAID})\b"
    ),
    re.compile(rf"(?i)\b(?:{_SAID_ADVERB})\b"),
)
_PER_EAST = (
    re.compile(rf"(?:每|毎)[个個]?(?:{_SAID_EAST})"),
    re.compile(rf"(?:1|一)\s?(?:{_SAID_EAST})(?:あたり|当たり|に)"),
)
_A = re.compile(
    r"(?i)(?<=\d)(?!\d)(?P<what>\w{0,30}(?:\s[^\W\d_]+){0,2}?)\s(?:an?|au|am|il|a\sla|à\sla)\s"
    rf"(?:{_SAID})\b"
)


_COUNTS = frozenset((*units.words(), *_ORDINAL))
_UNIT_WORDS = frozenset(
    (
        *_TIME,
        *_SYMBOL,
        *(word for words in _ADVERBS.values() for word in words.split()),
        *(part for glued in _GLUED for part in glued.split()),
        *("month", "mois", "monat", "mese", "viertelstunde", "viertelstunden", "mezz"),
    )
)


def digits(text: str, language: str, words: Set[str]) -> str:
    """The text with its numbers in digits: number words, thousands, and the comma of decimals."""
    if language in ("en", "cjk"):
        text = _THOUSANDS["en"].sub(lambda match: match[0].replace(",", ""), text)
    else:
        text = _THOUSANDS["comma"].sub(lambda match: re.sub(r"\D", "", match[0]), text)
        text = _DECIMAL.sub(lambda match: match[0].replace(",", "."), text)
    if words & _COUNTS or any(word.endswith(("zig", "ßig")) for word in words):
        text = _WORD.sub(lambda match: _number_word(match[0], language), text)
    if language == "cjk":
        text = _EASTERN.sub(_eastern, text)
    text = _SUFFIXED.sub(lambda match: match[1] or match[2], text)
    text = _K.sub(lambda match: _plain(float(match[1]) * 1_000), text)
    return _MANY.sub(lambda match: _plain(float(match[1]) * _LARGE[match[2].lower()]), text)


def _number_word(written: str, language: str) -> str:
    if found := _of_word(written.casefold(), language):
        return found
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
        ten = units.number(joined[2])
        one = "1" if joined[1] == "ein" else units.number(joined[1])
        return str(int(ten) + int(one)) if ten else ""
    return units.number(folded)


def _eastern(match: re.Match[str]) -> str:
    found = units.eastern(match[0])
    return str(found) if found is not None and found > 1 else match[0]


def symbols(text: str, language: str, words: Set[str]) -> str:
    """The text with each known unit as a symbol behind its number."""
    if language != "cjk" and not words & _UNIT_WORDS and not _SIGN.search(text):
        return text
    text = _ALONE.sub(lambda match: _GLUED.get(match[0].lower()) or _SYMBOL[match[0].lower()], text)
    if language == "cjk" or words & _TIME.keys():
        text = _ONE_AND_HALF.sub(lambda m: _time(1.5, m[1] or m[2]) or m[0], text)
        text = _ONE.sub("1 ", _QUARTER.sub("900s", _HALF.sub(_half, text)))
    for form in (*_PER, *(_PER_EAST if language == "cjk" else ())):
        text = form.sub(lambda match: f" {_rate(match)} ", text)
    if not any(character.isdigit() for character in text):
        return text
    text = _A.sub(lambda match: f"{match['what']} {_rate(match)}", text)
    return _AMOUNT.sub(_amount, text)


def is_rate(token: str) -> bool:
    """Whether a literal in this form is a rate, as per_hour is."""
    return token.startswith("per_")


def _rate(match: re.Match[str]) -> str:
    return next(name for name, form in match.groupdict().items() if form and name != "what")


def _half(match: re.Match[str]) -> str:
    if match[4]:
        return f" {_time(float(match[4]) + 0.5, match[5]) or match[0]} "
    return f"{_time(0.5, match[1] or match[3]) or match[0]}"


def _time(number: float, unit: str) -> str:
    seconds = _TIME.get(unit.casefold(), 0)
    return f"{_plain(number * seconds)}s" if seconds else ""


def _amount(match: re.Match[str]) -> str:
    number, unit, front = match["number"], match["unit"] or "", (match["front"] or "").strip()
    if front in ("$", "€", "£", "R$", "EUR", "USD"):
        return f"{_plain(float(number))}{_SYMBOL.get(front.casefold(), front)}{match['gap']}{unit}"
    folded = unit.replace(" ", "").casefold()
    tail = ""
    if unit and unit[0] > "\u2e80":
        unit, tail = _eastern_unit(unit)
        folded = unit
    if _CASED.get(folded, unit) == unit:
        if seconds := _TIME.get(folded):
            return f"{front}{_plain(float(number) * seconds)}s{' ' if tail else ''}{tail}"
        if folded in _SYMBOL or unit in _SYMBOL.values():
            symbol = unit if unit in _SYMBOL.values() else _SYMBOL[folded]
            return f"{front}{number}{symbol}{' ' if tail else ''}{tail}"
    return match[0]


def _eastern_unit(run: str) -> tuple[str, str]:
    """The longest beginning of a run that is a unit, and the rest."""
    for end in range(len(run), 0, -1):
        if run[:end] in _TIME or run[:end] in _SYMBOL:
            return run[:end], run[end:]
    return run, ""


def _plain(value: float) -> str:
    return f"{value:.9f}".rstrip("0").rstrip(".")
