"""The type of a fact, by the signs that its words give: who speaks of whom, and of what. Pure.

Each sign, and a few pairs of signs, add to the scores of the four types; the highest score wins.
The words behind the signs are the sections `type.*` of the word lists.
"""

from __future__ import annotations

import re

from mdmemory.text.wordlists import LATIN, in_languages, pattern

JUDGED = 600  # characters of a fact that tell its type
_NEAR_START = 6  # characters that may stand before a word that opens a fact

_POINTER = re.compile(
    r"\b(?:https?|ftp|s3|file)://"
    r"|\b[a-z0-9][\w-]{0,60}(?:\.[\w-]{1,60}){0,6}"
    r"\.(?:example|com|org|net|io|dev|eu|de|fr|es|it|pt|br|jp|cn|kr)\b"
    r"|\b\d{1,3}(?:\.\d{1,3}){3}\b|(?:^|[ (])[~/]{0,2}[\w.-]{1,60}/[\w./-]+|(?<!\w)#[a-z][\w-]+"
    r"|[\w.]{1,60}@[\w.]+|\b\w{1,60}\.(?:pdf|xlsx|docx|csv)\b",
    re.IGNORECASE,
)
# Signs that every language writes alike.
_ALIKE = {
    "pointer": _POINTER,  # an address, a host, a path, a channel, a document
    "quoted": re.compile(r'["“„«「][^"“”«»」]{2,40}["”“»」]'),
    "number": re.compile(r"\d"),
}
_SECTIONS = (
    "type.i", "type.prefers", "type.you", "type.rule", "type.praise", "type.we", "type.decided",
    "type.plan", "type.time", "type.must", "type.party", "type.system", "type.work",
    "type.document", "type.located", "type.contrast", "type.polite", "type.choice",
)  # fmt: skip
_OPENING = ("i", "we", "you")  # these make another sign where they open the fact
_THING = '["“„«]?{type.thing}'
_ORDER = (
    r"(?:^|[,;:–—-] |[，,])(?:{type.order_lead}[ ]?){0,3}{type.order}(?!\w)"
    r"|{type.order_end}[.。!！]*$"
)
_BOTH = (
    ("located", "document"), ("located", "pointer"), ("i_first", "prefers"), ("rule", "work"),
    ("plan", "time"),
)  # fmt: skip
_ONE_ALONE = (("must", "work"), ("rule", "system"))  # the first sign without the second

_SCRIPTS = (("ja", "[\u3040-\u30ff]"), ("ko", "[\uac00-\ud7af]"), ("zh", "[\u4e00-\u9fff]"))
# "don't" is a word of English; "l'appli" is two.
_WORDS = re.compile(r"[^\W\d_]+['’](?:m|re|ve|ll|t|d|s)\b|[^\W\d_]+")

_TYPES = ("user", "feedback", "project", "reference")
# What each sign adds to the scores of the four types, in their order; "" is where each begins.
# They were fitted to tests/capture/data/types.jsonl. A sign alone proves little: "must" stands in
# rules of working and in requirements of the work.
SCORES: dict[str, tuple[int, int, int, int]] = {
    "": (-7, 6, 14, -13),
    "contrast": (3, 0, -1, -2),
    "decided": (-2, -8, 14, -4),
    "document": (-3, -4, -11, 18),
    "i": (20, -5, -11, -4),
    "i_alone": (10, -4, -3, -3),
    "i_first": (22, -7, -9, -5),
    "i_first+prefers": (4, 0, -3, -1),
    "located": (-3, -5, -8, 16),
    "located+document": (-1, -6, -8, 15),
    "located+pointer": (0, -2, -1, 4),
    "must": (-1, 1, 3, -3),
    "must-work": (-1, -2, 4, -1),
    "number": (-3, -6, 3, 6),
    "order": (5, 14, -12, -7),
    "party": (-2, -11, 16, -3),
    "plan": (-5, 1, 13, -9),
    "plan+time": (0, -6, 8, -2),
    "pointer": (1, -9, -10, 19),
    "polite": (17, -5, -10, -1),
    "praise": (-5, 13, -2, -5),
    "prefers": (9, -4, -3, -2),
    "quoted": (-3, 1, -2, 4),
    "rule": (-5, 3, 6, -4),
    "rule+work": (-2, 8, -4, -1),
    "rule-system": (-4, 10, -4, -2),
    "system": (0, -7, 7, 1),
    "thing": (-7, -6, 5, 8),
    "time": (-6, -3, 14, -5),
    "we": (-2, -5, 5, 2),
    "we_first": (-1, -5, 6, 0),
    "work": (-4, 16, -10, -2),
    "you": (-8, 12, -4, 0),
    "you_first": (-1, 3, -3, 0),
}


def type_of(fact: str) -> tuple[str, str]:
    """The type of a fact and its kind: "decision" for a project's decision, else ""."""
    found = signs(fact)
    if "choice" in found:
        return "project", "decision"
    scores = [SCORES[""], *(SCORES[sign] for sign in found)]
    totals = [sum(each) for each in zip(*scores, strict=True)]
    type_ = _TYPES[totals.index(max(totals))]
    return type_, "decision" if type_ == "project" and "decided" in found else ""


def signs(fact: str) -> frozenset[str]:
    """What the words of a fact show: keys of SCORES."""
    # "in all my projects" says nothing about the speaker
    text = pattern("{trigger.everywhere}", fact[:JUDGED]).sub(" ", " ".join(fact[:JUDGED].split()))
    languages = languages_of(text)
    found = {name for name, place in _ALIKE.items() if place.search(text)}
    for section in _SECTIONS:
        sign = section.removeprefix("type.")
        place = in_languages(f"{{{section}}}", languages).search(text)
        if place:
            found.add(sign)
        if place and sign in _OPENING and place.start() <= _NEAR_START:
            found.add(f"{sign}_first")
    if in_languages(_THING, languages).match(text):
        found.add("thing")
    if in_languages(_ORDER, languages).search(text):
        found.add("order")
    found |= {f"{one}+{other}" for one, other in _BOTH if {one, other} <= found}
    found |= {f"{one}-{other}" for one, other in _ONE_ALONE if one in found and other not in found}
    if "i" in found and not found & {"rule", "you", "order"}:
        found.add("i_alone")
    return frozenset(found)


def languages_of(text: str) -> tuple[str, ...]:
    """The language of a text, by its script or its small words: several where these are in doubt,
    all that are written in Latin letters where it has none."""
    if not text.isascii():
        for language, script in _SCRIPTS:
            if re.search(script, text):
                return (language,)
    counts = dict.fromkeys(LATIN, 0.0)
    for word in _WORDS.findall(text):
        speakers = [
            each for each in LATIN if in_languages("{type.speaks}", (each,)).fullmatch(word)
        ]
        for each in speakers:
            counts[each] += 1 / len(speakers)
    most = max(counts.values())
    return tuple(each for each in LATIN if counts[each] == most)
