"""German compounds in their two parts, where one of them is a word that many are made of. Pure."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path

from mdmemory.text.words import LONGEST, stem_in

_TABLE = Path(__file__).parent / "words" / "compounds.txt"
_SHORTEST = 8  # letters of a compound
_PART = 3  # letters of a part that the table has not
_JOINTS = ("s", "n", "en", "es", "e", "er")  # between the parts

# A verb's, which make no noun of their own.
_PREFIXES = (
    "ver",
    "zer",
    "ent",
    "abg",
    "ang",
    "aufg",
    "ausg",
    "beig",
    "eing",
    "umg",
    "vorg",
    "zug",
)


@lru_cache(maxsize=20_000)
def halves(word: str) -> tuple[str, ...]:
    """The stems of the two parts of a word in lower case, accents and all; none where no part of it
    is known. The part behind says what the whole is, so it is looked for first."""
    if not _SHORTEST <= len(word) <= LONGEST or not word.isalpha():
        return ()
    whole, known = stem_in("de", word), _known()
    if whole in known:
        return ()
    for at in range(_PART, len(whole) - _PART + 1):
        if whole[at:] in known:
            first = _before(whole[:at])
            if first in known or (len(whole) - at > _PART and not first.startswith(_PREFIXES)):
                return first, whole[at:]
    for at in range(len(whole) - _PART - 1, _PART, -1):
        if (first := _before(whole[:at])) in known:
            return first, whole[at:]
    return ()


def _before(part: str) -> str:
    """The stem of the part in front, without what joins it to the other."""
    known = _known()
    for joint in ("", *_JOINTS):
        if part.endswith(joint) and (found := stem_in("de", part.removesuffix(joint))) in known:
            return found
    return stem_in("de", part.removesuffix("s"))


@cache
def _known() -> frozenset[str]:
    lines = _TABLE.read_text("utf-8").splitlines()
    words = (word for line in lines if not line.startswith("#") for word in line.split())
    return frozenset(stem_in("de", word) for word in words)
