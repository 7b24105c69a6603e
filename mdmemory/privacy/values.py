"""Whether a word could be a secret: noise, a password, a word beside a number, or plain words.

Nothing here searches a text. `labels` and `spoken` find the places and ask.
"""

from __future__ import annotations

import math
import re
from functools import cache
from itertools import pairwise

from mdmemory.privacy.lexicon import compile_shape, listed_words, not_values

STRONG, WEAK, JOINED, PLAIN, NONE = 3, 2, 1, 0, -1

_L = r"[^\W\d_]"
_HEX = r"(?:0x)?(?=[0-9a-f]*\d)[0-9a-f]{7,}"
_UUID = r"(?i:[{(]?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}[)}]?)"


@cache
def _not_names() -> re.Pattern[str]:
    """What only looks like a word with a number: an id, a version, a place, a name."""
    named = "|".join(map(re.escape, listed_words("named")))
    endings = "|".join(map(re.escape, listed_words("endings")))
    return re.compile(
        rf"{_HEX}|{_UUID}"
        r"|v?\d+(?:\.\d+)+(?:[-+.~_]?[\w.+~-]*)?"  # a version
        r"|[\d.,:/x×-]+(?:[a-zA-Z%°µ]{1,4}|-[a-z]+)?"  # a number, a date, a measure
        r"|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-][\d:]+)?"
        rf"|(?:{named})[-_.]?\d[\d.]*(?-i:[a-z]{{0,6}})(?:[-_./][\w.]+)*|[a-z]\d{{1,4}}[a-z]?"
        rf"|[\w-]+(?:\.[\w-]+)*\.(?:{endings})(?::\d+)?(?:[/?#:]\S*)?"
        r"|[^\s@]+@[\w-]+(?:\.[\w-]+)+|(?-i:[a-z][a-z0-9._-]*@v?\d[\d.]*[\w.-]*)"
        r"|(?-i:[A-Z]{2,8}-\d+(?:-[A-Z]+)?)|\w+://\S*|[~.]{0,2}/\S*|--?\w\S*|[\w.-]+:\d{2,5}"
        r"|(?-i:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z]+(?:_[a-z]+)+)"
        r"|\w+\(\S*|\S*\)|\$\S*|%\S*%?|[\d-]+\w{1,3}|#\S*|@\S*|[A-Za-z]:\\\S*|[a-z_.-]+=\S*"
        r"|\S*[<>{}|\\]\S*|(?:\w\+){1,2}\w?|x86_64|\d\w{1,3}|\w{1,2}\d|(?-i:\d+[a-z]{1,4})",
        re.IGNORECASE,
    )


_SYMBOL = re.compile(
    rf"{_L}[!$%^*+~?]+(?={_L}|\d)|\d[!$%^*+~]+{_L}|{_L}{{2,}}&{_L}{{2,}}|{_L}\#(?:{_L}|\d)"
)
_AT = re.compile(r"^\w{0,2}@\w+")
_LAST_SYMBOL = re.compile(r"[!$#*%?]$")
_WORD_NUMBER = re.compile(
    rf"(?:{_L}{{3,}}[_.-]?\d{{1,5}}|{_L}+\d+{_L}\w*|(?:{_L}{{3,}}[-_.])+\d{{1,5}}|\d+[-_.]?{_L}{{4,}}[\w-]*)"
)
# What somebody writes for "both", or for a way from one to the other; and formulas.
_OF_PROSE = re.compile(rf"{_L}+(?:\+[a-z]+)+|\w+/\w+|\S*[·×÷→≥≤]\S*")
_INNER_CAPITAL = re.compile(rf"[^\W\d_A-ZА-Я][A-ZÀ-ÞА-ЯЁ]|{_L}[-.][A-ZÀ-ÞА-ЯЁ]")
_ABOUT = re.compile(
    r"pass|pwd|secret|token|key|user|name|db|env|var|conf|hash|value|id\b|type|file|path|get|set|is_"
    r"|test|data|list|count|size|time|date|url|host|port|auth|code|text|str|num|max|min|to_|from_|by_"
)
_JOINED_WORDS = re.compile(rf"{_L}+(?:[-]{_L}+){{2,}}|{_L}+(?:_{_L}+)+|{_L}+(?:/[\w]+){{2,}}")


def grade_word(token: str) -> int:
    """How much a word stands out of a sentence as a password.

    STRONG: nothing else looks like it. WEAK: a word with a number. JOINED: words written as one.
    PLAIN: a word. NONE: a number, a name, a place, an id, code.
    """
    bare = token.strip("\"'`„“”«»‘’「」『』")
    if len(bare) < 4 or is_placeholder(bare) or bare.lower() in listed_words("products"):
        return NONE
    digits, letters = any(map(str.isdigit, bare)), any(map(str.isalpha, bare))
    snake = re.fullmatch(r"[a-z]+(?:_[a-z]+){2,}", bare)
    if snake is None and not letters:
        return NONE
    named = _not_names().fullmatch(bare) and not _SYMBOL.search(bare)
    if snake is None and (named or is_code(bare)):
        return NONE
    if re.match(r"\w+://|\S+@\S+\.\w", bare) or bare.startswith(
        ("-", "/", "~/", "./", "$", "#", "@")
    ):
        return NONE
    if re.match(r"(?i)(?:ctrl|shift|alt|cmd|super|meta|option|strg|umschalt|maj)[-+]", bare):
        return NONE
    if _OF_PROSE.fullmatch(bare):
        return JOINED if bare.isascii() else NONE
    if _SYMBOL.search(bare) or (digits and _AT.search(bare) and len(bare) >= 6):
        return STRONG if len(bare) >= 6 and "/" not in bare and "(" not in bare else NONE
    if digits and "@" in bare and class_changes(bare) >= 0.3:
        return STRONG
    if digits and len(bare) >= 6 and (_LAST_SYMBOL.search(bare) or is_noisy(bare[:64], 0.4)):
        return STRONG
    if re.fullmatch(r"[a-z]+(?:_[a-z]+){2,}", bare):  # a name in code, or words written as one
        return NONE if _ABOUT.search(bare) else JOINED
    if digits and re.fullmatch(rf"{_L}+(?:/\w+){{2,}}", bare):
        return JOINED
    if digits:
        return WEAK if len(bare) >= 5 and _WORD_NUMBER.search(bare) else NONE
    if re.fullmatch(r"(?:[A-Z][a-z]+){3,}|[A-Za-z]+\.[a-z_]+", bare):
        return NONE  # the name of a type, a name in a module
    if _INNER_CAPITAL.search(bare) or _JOINED_WORDS.fullmatch(bare):
        return JOINED
    return PLAIN if bare.replace("-", "").rstrip("!").isalpha() else NONE


def is_pinlike(token: str) -> bool:
    """Whether it could be a PIN or a code for a door: digits, in groups, or with a letter."""
    return bool(
        re.fullmatch(
            r"\d{3,10}[#*]?|\d{1,4}(?:[- .]\d{1,4}){1,4}[A-Za-z]?"
            r"|\d{2,6}[A-ZА-Я]\d{0,4}|[A-Z]\d{3,8}",
            token,
        )
        and not re.fullmatch(r"(?:19|20)\d\d-\d\d(?:-\d\d)?|\d{1,3}\.\d{1,3}(?:\.\d{1,3})*", token)
    )


def is_counted(text: str, at: int) -> bool:
    """Whether a measure stands at that place: what stands before it is a number of these."""
    return _listed_pattern("units", r"[ \t]*(?:{})(?![a-z])").match(text, at) is not None


def is_neutral(before: str) -> bool:
    """Whether a text in small letters ends with a word whose number is no secret: a version."""
    form = r"\b(?:{})[ \t]*[:#]?[ \t]*\Z|(?:版本|端口|第|不是|门牌号?[是为]?|ポート|포트) ?\Z"
    return _listed_pattern("neutral", form).search(before[-24:]) is not None


@cache
def _listed_pattern(name: str, form: str) -> re.Pattern[str]:
    words = "|".join(sorted(listed_words(name), reverse=True))
    return re.compile(form.format(words), re.IGNORECASE)


def is_mixed(text: str) -> bool:
    """Whether it could be random: digits, or both cases (words joined by hyphens are neither)."""
    return any(c.isdigit() for c in text) or (
        any(c.isupper() for c in text) and any(c.islower() for c in text)
    )


def made_up(token: str) -> bool:
    """Whether a token is one of documentation: it says so, or repeats one character."""
    plain = token.lower()
    if re.search(
        r"example|xxxx|your[-_]|_here|redacted|placeholder|\.\.\.|\*\*\*|…|dummy|^change[-_]?(?:me|it)",
        plain,
    ):
        return True
    return len(plain) >= 12 and len(set(plain[-12:])) == 1


def is_keylike(value: str) -> bool:
    """Whether it could be a key: long enough, and digits or both cases in turn."""
    if re.fullmatch(r"(?:[A-Z]+[a-z]+){1,5}", value):
        return False  # the name of a type
    digits = sum(c.isdigit() for c in value)
    numbered = digits >= 2 and not re.fullmatch(r"[0-9.,:/-]+", value)
    return len(value) >= 8 and (numbered or (" " not in value and class_changes(value) >= 0.3))


def is_hexlike(value: str) -> bool:
    """Whether it is a key in hex digits, or an id in five groups of them."""
    return bool(re.fullmatch(rf"(?:0x)?[0-9a-fA-F]{{20,}}|{_UUID}", value))


def is_id(value: str) -> bool:
    """Whether it is an id in five groups of hex digits, or one with its kind in front: ses_1x."""
    return re.fullmatch(rf"{_UUID}|(?:ses|msg|prt|call|req|run|evt)_\w+", value) is not None


def is_passwordlike(value: str, stands_alone: bool) -> bool:
    """Words are a password only where nothing but one would stand: last, or in quotes."""
    if len(value) < 4 or re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        return False
    if not re.fullmatch(rf"{_L}+(?:-{_L}+){{0,2}}", value):
        return value.isascii() or any(c.isdigit() or c in "!#$%&*+_/." for c in value)
    return value.isascii() and stands_alone and not says_about(value)


def says_about(word: str) -> bool:
    """Whether a plain word rather says something about a password than is one."""
    lower = word.lower()
    return lower in not_values() or bool(
        re.search(
            r"(?:ed|able|ible|ive|ing|ly|less|ful|lich|ig|bar|ados?|adas?|idos?|idas?|oire|ée?s?|oso|osa|eux|euse|ato|ata"
            r"|uto|uta|orio|oria|ório|ória|ный|ная|ен|ена|ит|ется)$",
            lower,
        )
    )


_DENIALS = """
    not never no too only kept stored lost wrong nicht nie zu nur falsch pas trop jamais toujours
    muy nunca não muito non mai troppo не слишком always still the same right as on in at
"""
_DENIES = frozenset(_DENIALS.split())


def find_phrase(text: str, least: int, surely: bool = False) -> str:
    """The words that a text begins with, where they could be a phrase that opens something.

    "" where they are fewer than `least`, or read as a sentence; `surely` where a label says that
    a phrase follows.
    """
    match = re.match(rf"[\"'„“«]?({_L}+(?:[ -]{_L}+){{2,23}}|[^\W\d_]+(?: {_L}+){{2,}})", text)
    if not match:
        return ""
    words = match[1].split(" ")
    about = not_values()
    tells = sum(word.lower() in about for word in words)
    first = words[0].lower()
    # what surely is a phrase may begin as a sentence does
    refused = first in (_DENIES if surely and len(words) > 3 else about)
    if len(words) < least or refused or tells * 2 > len(words):
        return ""
    return match[1]


_WORDS = """
    string str bytes int integer number bool boolean object array any text char varchar secretstr
    password passwd pass pwd passphrase token key user username admin root name value example
    changeme changeit change_me placeholder dummy fake sample redacted todo tbd n/a env vault
    1password bitwarden keepass keepassxc lastpass keychain bcrypt scrypt argon2 argon2id pbkdf2
    sha256 sha512 md5 oauth oauth2 jwt base64 hs256 rs256 replace_me replaceme fixme insert_here
    basic bearer api_key apikey access_token secret_key none null nil undefined test_password
    hier-eintragen a_remplacer inserisci-qui 여기에_입력 вставьте_сюда
"""
_PLACEHOLDERS = frozenset(_WORDS.split())
_STANDS_FOR = re.compile(
    r"(?:x{3,}|\*+|•+|\.{3,}|…+|[-_]+|#+|0{9,}|\?+)"
    r"|[<‹\[{].*|.*(?:YOUR|your)[-_ ].*|your.*|.*[-_](?:here|aqui|aquí|hier|ici|qui)"
    r"|(?:tu|sua|seu|deine?|votre|ton|mon|il_tuo|la_tua)[-_].*|my[-_]?(?:secret|pass|pwd|token|api|key|user|db|client).*|.*(?:\.\.\.|…|\*{3,}|•{3,}|x{4,}|X{4,}).*"
    r"|(?:sk|pk)-\.*"
)
_DATE_FORM = re.compile(r"(?:YY|yy|MM|DD|dd|HH|hh|mm|ss|T|[-./: ])+")  # such as YYYY-MM-DD


def is_placeholder(value: str) -> bool:
    """Whether it only stands for a value, or says something about it."""
    plain = value.lower().strip("\"'`*.,;:!?")
    first = plain.partition("|")[0]  # "required|min:8"
    return (
        first in _PLACEHOLDERS
        or first in not_values()
        or value.startswith(("$", "{", "<", "‹", "%", "...", "!Ref", "!vault", "!secret"))
        or _STANDS_FOR.fullmatch(value) is not None
        or (len(set(plain)) < 2 and not plain.isdigit())
        or re.fullmatch(r"[A-Z]{4,}(?:_[A-Z]+)*", value) is not None
        or _DATE_FORM.fullmatch(value) is not None
        or "EXAMPLE" in value
    )


_CODE = (
    r"\w+[(\[].*|(?:[a-z_][a-z0-9_]*\.)+[A-Za-z_]\w*(?:[(\[].*)?|[a-z]+(?:_[a-z]+)+"
    r"|[A-Z]+(?:_[A-Z]+)+|(?:~|\.{1,2})?/[\w./-]+|https?://.*|[({].*"
    r"|[\w.-]+(?:/[\w.-]+)*/[\w-]+(?:\.[\w-]+)*\.[a-z]{1,4}"
    r"|(?:[\w$]+(?:\.|->|::))+\w+\(.*"
)


def is_code(value: str) -> bool:
    """Whether it reads as code or a place: a call, a type, a name, a path, a link."""
    return compile_shape(_CODE).fullmatch(value) is not None


def is_for_show(value: str) -> bool:
    """Whether it is no value: it stands for one, was made up, or is code or a place."""
    return is_placeholder(value) or made_up(value) or is_code(value)


def is_odd(value: str) -> bool:
    """Whether it stands out of a sentence by itself: no word, number, date or word with one."""
    return (
        len(value) >= 6
        and any(c.isdigit() for c in value)
        and any(c.isalpha() for c in value)
        and not re.fullmatch(
            r"(?:[A-Z]?[a-z]+|[A-Z]+)[.-]?v?[\d.]+|v?[\d.,:/-]+(?:[a-z]+|[A-Z]{1,4})", value
        )
    )


def is_noisy(text: str, turns: float = 0.4) -> bool:
    """Whether it has both cases and digits in turn, and as many bits a character as noise has."""
    # what is cheap to see comes first: most long words are paths and names
    if not all(any(map(kind, text)) for kind in (str.isdigit, str.isupper, str.islower)):
        return False
    if class_changes(text) < turns:
        return False
    shares = [text.count(c) / len(text) for c in set(text)]
    bits = -sum(share * math.log2(share) for share in shares)
    # 4 bits from 32 characters on; 16 characters of noise have 3.7, 8 have 2.7
    return bits >= (4.0 if len(text) >= 32 else 3.2 if len(text) >= 14 else 2.5)


def class_changes(text: str) -> float:
    """How often neighbours differ in class (upper, lower, digit): 0.62 in random text, 0.2 in
    names made of words."""
    classes = [(c.isupper(), c.isdigit()) for c in text if c.isalnum()]
    return sum(a != b for a, b in pairwise(classes)) / max(1, len(classes))
