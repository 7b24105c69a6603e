"""The words of ten languages that name a secret or lead to one, and where they stand in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from mdmemory.privacy.tables import CJK, any_of

_DATA = Path(__file__).parent / "data"
_STEM = 5  # letters of a word that are looked for before the whole is
# The first kind that names a label wins: "key" is weak, though "private key" is none.
KINDS = ("phrase", "codes", "pin", "password", "secret", "session", "pass", "weak")
OPEN, LOCK, THING = "open", "lock", "thing"
# Long enough to be known inside of another word: Datenbankpasswort, dbpassword.
_INSIDE = ("password", "passwort", "kennwort", "passwd", "passwörter", "apikey", "api_key")
_CJK = re.compile(f"[{CJK}]")
_HUMP = re.compile("[a-zß-ÿа-яё](?=[A-ZÀ-ÞА-ЯЁ])")
_KATAKANA = re.compile("[\u30a1-\u30fc]")


@dataclass(frozen=True, slots=True)
class Label:
    """A word that names a secret, where it stands, and which of KINDS it is."""

    start: int
    end: int
    kind: str
    word: str


@cache
def words(name: str) -> tuple[str, ...]:
    """All words of that list, in every language, as they are written."""
    return tuple(word for table in _tables() for word in table.get(name, ()))


@cache
def _tables() -> tuple[dict[str, list[str]], ...]:
    import tomllib  # a command that reads no text need not load it

    files = sorted(_DATA.glob("*.toml"))
    return tuple(tomllib.loads(file.read_text(encoding="utf-8")) for file in files)


_Node = dict[str, Any]  # the next characters; under "" what the word means


class Lexicon:
    """Words with what each stands for; a blank in a word may be a hyphen or an underscore, too,
    or nothing."""

    def __init__(self, meanings: Iterable[tuple[str, str]]) -> None:
        self._root: _Node = {}
        stems: set[str] = set()
        short: set[str] = set()
        for word, meaning in meanings:
            node = self._root
            for char in word:
                node = node.setdefault(char, {})
            node.setdefault("", meaning)
            first = word[:_STEM].split(" ")[0]
            # a short word is no beginning of another: "key" is looked for, "keyboard" is not
            is_short = len(first) < _STEM and first.isascii() and first.isalpha()
            (short if is_short else stems).add(first)
            if first != word[:_STEM]:
                stems.add(word.replace(" ", "")[:_STEM])
        joined = [stem for stem in stems if _CJK.match(stem)]
        alone = rf"(?:{any_of(short)})(?![a-z])"
        self._stem = re.compile(f"{any_of(stems.difference(joined))}|{alone}")
        # before no letter or digit but a Chinese one: cheap to see, and most places are not so
        self._begun = re.compile(rf"(?<![^\W_{CJK}])(?:{self._stem.pattern})")
        self._joined = re.compile(any_of((*joined, *_INSIDE)))

    def find(self, text: str, lower: str) -> Iterator[tuple[int, int, str]]:
        """Start, end and meaning of each word in a text; the longest wins.

        `lower` is the text in small letters, each in its place.
        """
        starts = {found.start() for found in self._begun.finditer(lower)}
        if any(word in lower for word in _INSIDE) or not lower.isascii():
            starts.update(found.start() for found in self._joined.finditer(lower))
        for hump in _HUMP.finditer(text):
            if self._stem.match(lower, hump.end()):
                starts.add(hump.end())
        done = 0
        for at in sorted(starts):
            if at < done:
                continue
            end, meaning = self._longest(lower, at)
            if end:
                yield at, end, meaning
                done = end

    def _longest(self, lower: str, at: int) -> tuple[int, str]:
        best, meaning = 0, ""
        ways = [(self._root, at)]
        while ways:
            node, place = ways.pop()
            if "" in node and place > best and _may_end(lower, place):
                best, meaning = place, node[""]
            char = lower[place : place + 1]
            if " " in node:
                ways.append((node[" "], place + (char in ("_", "-"))))
            if char and char in node:  # read first: what is written so wins
                ways.append((node[char], place + 1))
        return best, meaning


def _may_end(lower: str, at: int) -> bool:
    """Whether a word may end here: before no letter, unless one of the two is Chinese or so."""
    after, last = lower[at : at + 1], lower[at - 1]
    if _KATAKANA.match(last):
        return not _KATAKANA.match(after)
    if last == "키":  # of a keyboard, 키보드
        return not _CJK.match(after) or after in "는은이가을를로의도"
    return not after.isalpha() or bool(_CJK.match(after) or _CJK.match(last))


@cache
def _all() -> Lexicon:
    return Lexicon((word, kind) for kind in (*KINDS, LOCK, OPEN, THING) for word in words(kind))


def labels(text: str, lower: str) -> list[Label]:
    """Every label of a text, and (of the kinds OPEN and LOCK) every word that tells that
    something is opened, encrypted or has a lock.

    `lower` is the text in small letters, each in its place.
    """
    return [
        Label(start, end, kind, lower[start:end])
        for start, end, kind in _all().find(text, lower)
        if _begins(text, lower, start) and not _other_code(lower, start, end)
    ]


# Of anything, as a rule: of a door as well as of an error.
CODES = ("code", "código", "codigo", "codice", "код", "кода", "コード", "코드", "códigos", "codes")
_OTHER_AFTER = re.compile(
    r"[ -]?(?:d['’]|(?:de|di|do|da|del|des|du|la)[ ])?[ ]?(?:l['’]|la[ ]|el[ ]|o[ ])?"
    r"(?:err|postal|postale|[ée]tat|estado|stato|status|fiscal|iso\b|pays|pa[ií]s|paese|sou?rce|fuente|fonte"
    r"|sortie|salida|sa[ií]da|uscita|barr|http|retour|retorno|ritorno|r[ée]ponse|respuesta|resposta|risposta"
    r"|client|artic|article|produ|prodo|ошибк|стран|област|ответ|возврат|товар|состояни|статус"
    r"|review|coverage|base\b|page\b|point|style)"
)


def _other_code(lower: str, start: int, end: int) -> bool:
    """Whether it is a code that opens nothing: of an error, a place, a product."""
    return lower[start:end] in CODES and _OTHER_AFTER.match(lower, end) is not None


def _begins(text: str, lower: str, at: int) -> bool:
    """Whether a word may begin here: DB_PASSWORD, userPassword, 我的密码, Datenbankpasswort."""
    before = text[at - 1 : at]
    if not before.isalnum() or _CJK.match(before) or _CJK.match(text[at]):
        return True
    return (text[at].isupper() and before.islower()) or lower.startswith(_INSIDE, at)


# --- what leads to a value -----------------------------------------------------------------------


@cache
def _leads(name: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """The words of a list: those between blanks, and those that are written without."""
    every = words(name)
    joined = tuple(word for word in every if _CJK.search(word))
    return frozenset(word for word in every if word not in joined), joined


def leads(name: str, before: str) -> bool:
    """Whether a text in small letters ends with a word of that list."""
    plain, joined = _leads(name)
    bare = before.rstrip(" \t\"'`«„“”‘「『(*[:,，：、=")
    if bare.endswith(joined):
        return True
    last = bare[-40:].split()[-4:]
    return any(" ".join(last[at:]).strip(".?!") in plain for at in range(len(last)))


def follows(name: str, after: str) -> bool:
    """Whether a text in small letters begins with a word of that list."""
    plain, joined = _leads(name)
    bare = after.lstrip(" \t\"'`»”’」』)*],.!")
    if bare.startswith(joined):
        return True
    first = bare[:40].split()[:3]
    return any(" ".join(first[:count]) in plain for count in range(1, len(first) + 1))


@cache
def not_values() -> frozenset[str]:
    """Words that say something about a secret and are none."""
    return frozenset(words("not_values"))
