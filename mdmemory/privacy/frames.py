"""What a sentence tells by how it is built: something is opened, something is typed.

A word is weighed: what it looks like, what the sentence speaks of, and the place that it stands in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from mdmemory.privacy import values
from mdmemory.privacy.lexicon import LOCK, THING, Label, follows_from, leads_to, listed_words
from mdmemory.privacy.matching import CJK, any_of, compile_shape, is_cjk
from mdmemory.privacy.values import JOINED, NONE, PLAIN, STRONG, WEAK, is_pinlike

_ENOUGH = 8
_FULL = ("password", "phrase", "pin", "secret", "codes")
_END = re.compile(
    rf"[\"'`»”’)*\]]*[ \t]*(?:$|\n|[.,;!?](?:\s|$|[{CJK}])|[，。；、！？]|[{CJK}]"
    r"|(?:lol|haha|btw|please|bitte|danke|voilà|merci|gracias|obrigado|grazie|ok|ein|an|rein)\b)"
)
# "on web12", "to db7": a place, no secret.
_PLACE = re.compile(
    r"\b(?:on|at|of|in|for|from|auf|im|am|von|für|bei|sur|pour|chez|en|del?|du|do|da|di|su|sul|em|no"
    r"|na|в|от|из|к)\s+\Z"
)
_FROM_TO = re.compile(r"\b(?:from|von|de|da|с)\s+\Z")
_TO = re.compile(r"\s+(?:to|auf|zu|à|en|a|para|por|per|на)\s")
# "x as the new password"; "x as password manager" is none.
_AS = re.compile(
    r"[\"'`»”’)!,]*\s+(?:as|als|como|come|comme|de|für|for|как|в качестве)\s+(?:[^\W\d]+\s+){0,2}"
    r"|\s?(?:을|를)?\s?"
)
_OF_SECRET = re.compile(
    r"[ -]?(?:manager|store|field|policy|hash|reset|prompt|backend|provider|file)"
)
# "type" and such are nouns, too.
_TWO_FACED = re.compile(r"\b(?:types?|enters?|input|say|entre|marca|compose|tape|answer)\s+\Z")
_NAMED_USER = re.compile(
    r"\b(?:root|admin|user|usuario|usuário|utente|benutzer|account|konto|conta|compte)\b"
    r"[^.]{1,60}?\s"
    r"(?P<label>[^\W\d]+)\s+\Z"
)
_ASKED = re.compile(
    r"\b(?:asks?|prompts?|fragt|gefragt|demande|pregunta|pide|pergunta|pede|chiede|спросит|просит)\b"
    r"[^.]{0,40}\Z"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_GROUPS = re.compile(r"(?=[A-Z0-9-]*\d)(?=[A-Z0-9-]*[A-Z])[A-Z0-9]{2,6}(?:-[A-Z0-9]{2,6})+")
_NAMED_GROUPS = re.compile(r"AES|SHA|RSA|ISO|CVE|UTF|RFC|GPT|EC|HMAC|CHACHA|HS|RS|UTC|GMT|\d{4}-")
_ALGORITHM = re.compile(r"(?i:sha|x509|md5|rsa|ecdsa|aes|pkcs|base|zip|sig)[-v]?\d")
# A line of code or of a table of settings: what is secret there, labels tell.
_CODE = re.compile(r"\w\(|[{};]|[\"']\s*[,:)\]+]|->|=|#\s*noqa|\\|</|://")
_CHANGED = re.compile(
    r"replac|chang|remplac|cambia|reempla|troque|substitu|sostitu|ersetz|geänder|смени|поменя|замени|mud[eoa]"
)
_SET_BEHIND = re.compile(r"\s+(?:gesetzt|genommen|vergeben|gewählt|eingestellt|eingetragen)\b")
_BY_US = re.compile(r"\b(?:ich|wir)\s+\Z")
_LOWER_GERMAN = re.compile(r"mit\s+\Z")
_GERMAN_ENTRY = re.compile(
    r"\s+(?:kommst|kommt|komme|kommen|gehst|meldest|melde|logge|loggst|öffne\w*|entsperr\w*|geht)\b"
    r"|\s+(?:an|ein|rein|auf)\b"
)


@cache
def _about_pattern() -> re.Pattern[str]:
    listed = listed_words("about")
    joined = any_of(word for word in listed if any(map(is_cjk, word)))
    plain = any_of(word for word in listed if not any(map(is_cjk, word)))
    return re.compile(rf"(?<!\w)(?:{plain})(?!\w)|{joined}")


def is_voucher(shown: str) -> bool:
    """Whether a word is groups of capitals and digits, as codes that come by post are."""
    return _GROUPS.fullmatch(shown) is not None and not _NAMED_GROUPS.match(shown)


def is_typed(lower: str, left: int, right: int) -> bool:
    """Whether something in that part of a text, in small letters, is to be typed or still is so."""
    part = lower[left:right]
    plain = _typed_words().isdisjoint(compile_shape(r"\w+").findall(part))
    if plain and (part.isascii() or not compile_shape(f"[{CJK}]").search(part)):
        return False  # cheap to see, and so in most sentences
    return _typed_pattern().search(lower, left, right) is not None


@cache
def _typed_words() -> frozenset[str]:
    """The words that an expression for typing begins with, if it is no Chinese or so."""
    listed = ("mit", *listed_words("enter"), *listed_words("stays"))
    return frozenset(first[0] for word in listed if (first := re.match(r"\w+", word)))


@cache
def _typed_pattern() -> re.Pattern[str]:
    listed = (*listed_words("enter"), *listed_words("stays"))
    joined = any_of(word for word in listed if any(map(is_cjk, word)))
    plain = any_of(word for word in listed if not any(map(is_cjk, word)))
    return re.compile(rf"(?<!\w)(?:{plain}|mit)(?!\w)|{joined}")


def speaks_about(sentence: str) -> bool:
    """Whether a sentence in small letters speaks of secrets (their length, their end) alone."""
    return _about_pattern().search(sentence) is not None


def tells_secret(
    lower: str, word: tuple[int, int, str, int, bool], sentence: tuple[int, int],
    labels: Sequence[Label], opens: Sequence[Label],
) -> bool:  # fmt: skip
    """Whether a word is what its sentence gives away.

    `word` is its start, its end, its text, its grade and whether it stands in quotes.
    """
    start, end, shown, rated, quoted = word
    before, after = lower[sentence[0] : start], lower[end : sentence[1]]
    code = is_pinlike(shown) and not _YEAR.fullmatch(shown) and not values.is_counted(after, 0)
    if _CODE.search(lower, *sentence) or values.is_id(shown):
        return False
    if _ALGORITHM.match(shown):
        return False
    topic = _topic_grade(labels, opens, code)
    weight = _word_weight(shown, rated, code)
    if not topic or not weight or shown.lower() in listed_words("tools"):
        return False
    if rated == PLAIN and shown.endswith("!") and not _END.match(after):
        rated, weight = JOINED, 2
    lock = any(each.kind == "pin" for each in labels) or any(each.kind == LOCK for each in opens)
    if code and (topic < 3 or (weight < 3 and not lock)):
        return False
    place = max(_place_weight(before, after, rated, code), _label_weight(lower, start, end, labels))
    ends = _END.match(after) is not None
    if rated == NONE and not code and (topic < 3 or place < 2):
        return False
    camel = rated == JOINED and not re.search(r"[-_./!]", shown)
    if camel and (place < 3 or all(each.kind not in ("password", "phrase") for each in labels)):
        return False
    if rated == PLAIN and not code:
        return _is_plain(before, after, shown, (labels, opens), (ends, quoted))
    if code and place < 2 and not _only_number(lower[slice(*sentence)], before, labels):
        return False
    if code and place < 2:
        place = 2
    if place < 2 and _PLACE.search(before):
        return False
    if place < 3 and speaks_about(lower[slice(*sentence)]):
        return False
    return topic + weight + place + ends >= _ENOUGH


def _topic_grade(labels: Sequence[Label], opens: Sequence[Label], code: bool) -> int:
    """How plainly a sentence speaks of a secret: 3 by its name, 2 by what opens."""
    full = ("pin", "password", "phrase") if code else _FULL
    if any(label.kind in full for label in labels):
        return 3
    if any(label.kind == LOCK for label in opens) and code:
        return 3
    soft = sum(label.kind != THING for label in opens)
    if labels or soft:
        return 3 if labels and soft else 2
    return 1 if opens else 0


def _word_weight(shown: str, rated: int, code: bool) -> int:
    """How much a word looks like a secret, 0 to 4."""
    if code:
        return 3 if sum(map(str.isdigit, shown)) >= 4 else 2
    if rated == STRONG:
        return 4
    if rated == WEAK:
        digits = sum(map(str.isdigit, shown))
        return 4 if digits >= 2 or re.search(r"[_.-]|[a-zà-ÿа-я][A-ZА-Я]", shown) else 3
    if rated == NONE:
        return 3 if is_voucher(shown) else 0
    return 2 if rated == JOINED else 1


def _place_weight(before: str, after: str, rated: int, code: bool) -> int:
    """How much the place of a word says that it is a value, 0 to 3."""
    if leads_to("enter", before) or leads_to("stays", before) or leads_to("states", before):
        return 3
    if before.rstrip().endswith((":", "：", "→")) or follows_from("entered", after):
        return 3
    if _FROM_TO.search(before) and _TO.match(after):
        return 3
    if leads_to("using", before):
        return 3 if _CHANGED.search(before) or rated >= WEAK or code else 2
    if leads_to("with", before) or leads_to("is", before):
        return 2
    bare = before.strip()
    return 2 if bare.endswith(("/", ",", "，", "—", "–")) or not bare else 0


def _label_weight(lower: str, start: int, end: int, labels: Sequence[Label]) -> int:
    """The same, by the label that stands beside it: "the PIN 1", "x as password"."""
    before = next((each for each in reversed(labels) if each.end <= start), None)
    if before and not lower[before.end : start].strip(" \"'`(") and before.kind in _FULL:
        return 2
    later = next((each for each in labels if each.start >= end), None)
    if later is None or later.kind not in _FULL or _OF_SECRET.match(lower, later.end):
        return 0
    return 3 if _AS.fullmatch(lower[end : later.start]) else 0


def _is_plain(
    before: str, after: str, shown: str, named: tuple[Sequence[Label], Sequence[Label]],
    seen: tuple[bool, bool],
) -> bool:  # fmt: skip
    """Whether a plain word is given away: it is typed, or it is still the password."""
    labels, opens = named
    ends, quoted = seen
    if values.says_about(shown) or len(shown) < 4:
        return False
    if opens and _LOWER_GERMAN.search(before) and _GERMAN_ENTRY.match(after) and len(shown) > 5:
        return shown.islower() or shown.endswith("!")
    full = any(label.kind in _FULL for label in labels)
    whose = _NAMED_USER.search(before)
    if full and ends and whose and leads_to("with", before[: whose.start("label")]):
        return any(label.word == whose["label"] for label in labels)
    if full and _SET_BEHIND.match(after) and _BY_US.search(before):
        return True
    plainly = len(shown) >= 6 and not _TWO_FACED.search(before)
    asks = full or any(label.kind != THING for label in opens) or (plainly and bool(labels))
    if not ends or not asks:
        return False
    if leads_to("enter", before):
        return full or quoted or len(shown) >= 6
    if _ASKED.search(before) and leads_to("states", before) and shown.isascii() and len(shown) > 6:
        return not shown.endswith(("al", "en", "ar", "ant", "ent"))
    return full and leads_to("stays", before)


def _only_number(sentence: str, before: str, labels: Sequence[Label]) -> bool:
    """Whether a number is all that a sentence names after the word for a PIN."""
    pin = [each for each in labels if each.kind == "pin" or each.word == "passcode"]
    numbers = re.findall(r"\d[\d-]*", sentence)
    return bool(pin) and len(numbers) == 1 and bool(before.strip()) and not speaks_about(sentence)
