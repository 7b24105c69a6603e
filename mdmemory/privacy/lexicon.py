"""The words of ten languages that name a secret or lead to one, and where they stand in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from mdmemory.text.words import CJK, is_cjk

Span = tuple[int, int, str]  # where a secret begins and ends, and its kind


def any_of(literals: Iterable[str]) -> str:
    """An expression for any of the literals, the longest first; it rejects a place quickly."""
    by_letter: dict[str, list[str]] = {}
    for literal in sorted(set(literals), reverse=True):
        by_letter.setdefault(literal[0], []).append(re.escape(literal[1:]))
    return "|".join(
        f"{re.escape(letter)}(?:{'|'.join(rest)})" for letter, rest in sorted(by_letter.items())
    )


@cache
def compile_shape(written: str, flags: int = 0) -> re.Pattern[str]:
    """The compiled expression; most texts need few of ours, so each is compiled on first use."""
    return re.compile(written, flags)


def stands_at(piece: str, text: str, at: int) -> int:
    """Where that piece of the text stands between two blanks; `at` is not behind it."""
    while True:
        at = text.index(piece, at)
        end = at + len(piece)
        if (not at or text[at - 1].isspace()) and (end == len(text) or text[end].isspace()):
            return at
        at += 1


TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DATA = Path(__file__).parent / "data"
# The first kind that names a label wins: "key" is weak, though "private key" is none.
KINDS = tuple("phrase codes pin password secret session pass weak".split())
OPEN, LOCK, THING = "open", "lock", "thing"
# The name under which a value behind a label of that kind is redacted.
SHOWN = {
    "password": "password", "pass": "password", "pin": "pin", "secret": "secret", "weak": "secret",
    "session": "session", "phrase": "passphrase", "codes": "recovery_code",
}  # fmt: skip
# Long enough to be recognised inside another word: Datenbankpasswort, dbpassword.
_INSIDE = ("password", "passwort", "kennwort", "passwd", "passwörter", "apikey", "api_key")
_STEM = 5  # letters of a Chinese, Japanese or Korean word that are looked for first
_FIRST_CJK = "\u3040"  # of a text without such a character no expression with all of them is made
_RUN = re.compile(r"[a-z0-9]+")
_WORD = re.compile(r"[^\W_]+")
# The capital is looked for first: it is the rarer of the two letters.
_HUMP = re.compile("[A-ZÀ-ÞА-ЯЁ](?<=[a-zß-ÿа-яё].)")
_REMEMBERED = 20_000  # pieces of text that are remembered, each of at most _LONG characters
_LONG = 40


class Label(NamedTuple):
    """A word that names a secret: its place in the text, and which of KINDS it is."""

    start: int
    end: int
    kind: str
    word: str


@cache
def listed_words(name: str) -> tuple[str, ...]:
    """All words of that list, in every language, as they are written."""
    return tuple(word for table in read_tables() for word in table.get(name, ()))


@cache
def read_tables() -> tuple[dict[str, list[str]], ...]:
    """The lists of each file. They are written so that JSON reads them, too: in a tenth of the time
    that TOML takes, which every command that stores a text would spend."""
    import json  # a command that reads no text need not load it

    tables_read = []
    for file in sorted(_DATA.glob("*.toml")):
        rows: list[str] = []
        for line in file.read_text(encoding="utf-8").splitlines():
            name, is_list, rest = line.partition(" = [")
            if is_list:
                rows.append(f'"{name}": [{rest}')
            elif line == "]":  # JSON takes no comma before it
                rows[-1] = rows[-1].rstrip(",") + line
            elif not line.startswith("#"):
                rows.append(line)
            if rows and rows[-1].endswith("]"):
                rows[-1] += ","
        tables_read.append(json.loads(f"{{{''.join(rows).rstrip(',')}}}"))
    return tuple(tables_read)


if TYPE_CHECKING:
    _Node = dict[str, Any]  # the next characters; under "" what the word means


class Lexicon:
    """Words with their meanings; a blank in a word stands for a blank, a hyphen, an underscore or
    nothing."""

    def __init__(self, meanings: Iterable[tuple[str, str]]) -> None:
        self._by_letter: dict[str, list[tuple[str, str]]] = {}
        digits = set("0123456789")
        for word, meaning in meanings:
            self._by_letter.setdefault(word[0], []).append((word, meaning))
            digits.difference_update(word)
        # No word holds these digits, so that it is all the same which of them a text has.
        self._alike = dict.fromkeys(map(ord, digits), min(digits, default=""))
        self._trees: dict[str, _Node | None] = {}  # of the letters that a text began a word with
        # The words that begin in a piece of text: start, length, meaning; 0 where it is open.
        self._seen: dict[str, tuple[tuple[int, int, str], ...]] = {}

    def find(self, text: str, lower: str) -> Iterator[tuple[int, int, str]]:
        """Start, end and meaning of each word in a text; the longest wins.

        `lower` is the text in small letters, each in its place.
        """
        starts = self._after_breaks(lower)
        others: list[re.Match[str]] = list(_HUMP.finditer(text))
        if not lower.isascii() and max(lower) >= _FIRST_CJK:
            others += compile_shape(self._cjk_expression).finditer(lower)
        if any(word in lower for word in _INSIDE):
            others += compile_shape(any_of(_INSIDE)).finditer(lower)
        for match in others:
            starts.setdefault(match.start(), (0, ""))
        done = 0
        for at in sorted(starts):
            if at < done:
                continue
            length, meaning = starts[at]
            end = at + length
            if not length:
                end, meaning, _ = self._longest_word(lower, at)
            if end:
                yield at, end, meaning
                done = end

    def _after_breaks(self, lower: str) -> dict[int, tuple[int, str]]:
        """Where a word may begin behind a blank, a sign or a Chinese character, with its length and
        meaning if they are known.

        Texts repeat their words, so what was seen in a piece between two blanks is remembered:
        once for all numbers of as many digits, of which a log has a new one in each line.
        """
        breaks = {}
        at = 0
        if lower.isascii():  # of others it would take longer than it saves
            lower = lower.translate(self._alike)
        for piece in lower.split():
            starts = self._seen.get(piece)
            if starts is None:
                starts = self._word_starts(piece)
            if starts:
                at = stands_at(piece, lower, at)
                for start, length, meaning in starts:
                    breaks[at + start] = length, meaning
                at += len(piece)
        return breaks

    def _word_starts(self, piece: str) -> tuple[tuple[int, int, str], ...]:
        runs = _RUN if piece.isascii() else _WORD
        if runs is _WORD and max(piece) >= _FIRST_CJK:
            runs = compile_shape(rf"[^\W_{CJK}]+")
        starts = []
        for run in runs.finditer(piece):
            at = run.start()
            end, meaning, is_open = self._longest_word(piece, at)
            if end or is_open:
                starts.append((at, 0 if is_open else end - at, meaning))
        if len(piece) <= _LONG:
            if len(self._seen) >= _REMEMBERED:
                self._seen.clear()
            self._seen[piece] = tuple(starts)
        return tuple(starts)

    def _longest_word(self, lower: str, at: int) -> tuple[int, str, bool]:
        """End and meaning of the longest word at that place, end 0 for none; and whether a longer
        one may go on behind the text."""
        best, meaning, is_open = 0, "", False
        ways: list[tuple[_Node | None, int]] = [(self._letter_tree(lower[at : at + 1]), at + 1)]
        while ways:
            node, end = ways.pop()
            while node is not None:
                if "" in node and end > best and _may_end(lower, end):
                    best, meaning = end, node[""]
                char = lower[end : end + 1]
                if " " in node:  # tried last: the word as the text has it wins
                    ways.append((node[" "], end + (char in ("_", "-"))))
                    is_open = is_open or not char
                node = node.get(char) if char else None
                end += 1
        return best, meaning, is_open

    def _letter_tree(self, letter: str) -> _Node | None:
        """What may follow a letter at the beginning of a word; None: no word begins so. Made for
        the letters of a text alone: to make all takes longer than to judge a note."""
        if letter in self._trees:
            return self._trees[letter]
        tree: _Node = {}
        for word, meaning in self._by_letter.get(letter, ()):
            node = tree
            for char in word[1:]:
                node = node.setdefault(char, {})
            node.setdefault("", meaning)
        self._trees[letter] = tree or None
        return tree or None

    @cached_property
    def _cjk_expression(self) -> str:
        """An expression for how words of Chinese, Japanese and Korean begin."""
        beginnings: set[str] = set()
        for word in (word for some in self._by_letter.values() for word, _ in some):
            if is_cjk(word[0]):
                beginnings |= {word.split(" ")[0][:_STEM], word.replace(" ", "")[:_STEM]}
        return any_of(beginnings)


def _may_end(lower: str, at: int) -> bool:
    """Whether a word may end here: before no letter, unless one of the two is Chinese or so."""
    after, last = lower[at : at + 1], lower[at - 1]
    if "\u30a1" <= last <= "\u30fc":
        return not "\u30a1" <= after <= "\u30fc"
    if last == "키":  # of a keyboard, 키보드
        return not is_cjk(after) or after in "는은이가을를로의도"
    return not after.isalpha() or is_cjk(after) or is_cjk(last)


@cache
def _whole_lexicon() -> Lexicon:
    return Lexicon(
        (word, kind) for kind in (*KINDS, LOCK, OPEN, THING) for word in listed_words(kind)
    )


def find_labels(text: str, lower: str) -> list[Label]:
    """Every label of a text, and (of the kinds OPEN and LOCK) every word that tells that
    something is opened, encrypted or has a lock.

    `lower` is the text in small letters, each in its place.
    """
    return [
        Label(start, end, kind, lower[start:end])
        for start, end, kind in _whole_lexicon().find(text, lower)
        if _may_begin(text, lower, start) and not _other_code(lower, start, end)
    ]


# Of anything, as a rule: of a door as well as of an error.
CODES = tuple("code código codigo codice код кода コード 코드 códigos codes".split())
_OTHER_AFTER = re.compile(
    r"[ -]?(?:d['’]|(?:de|di|do|da|del|des|du|la)[ ])?[ ]?(?:l['’]|la[ ]|el[ ]|o[ ])?"
    r"(?:err|postal|postale|[ée]tat|estado|stato|status|fiscal|iso\b|pays|pa[ií]s|paese|sou?rce|fuente|fonte"
    r"|sortie|salida|sa[ií]da|uscita|barr|http|retour|retorno|ritorno|r[ée]ponse|respuesta|resposta|risposta"
    r"|client|artic|article|produ|prodo|ошибк|стран|област|ответ|возврат|товар|состояни|статус"
    r"|review|coverage|base\b|page\b|point|style)"
)


def _other_code(lower: str, start: int, end: int) -> bool:
    """Whether it opens nothing: a code of an error, a place, a product; a port of a network, which
    Portuguese and Italian call by the word for a door."""
    word = lower[start:end]
    if word == "porta":
        return lower[end : end + 1] == " " and lower[end + 1 : end + 2].isdigit()
    return word in CODES and _OTHER_AFTER.match(lower, end) is not None


def _may_begin(text: str, lower: str, at: int) -> bool:
    """Whether a word may begin here: DB_PASSWORD, userPassword, 我的密码, Datenbankpasswort."""
    before = text[at - 1 : at]
    if not before.isalnum() or is_cjk(before) or is_cjk(text[at]):
        return True
    return (text[at].isupper() and before.islower()) or lower.startswith(_INSIDE, at)


# --- what leads to a value


@cache
def _lead_words(name: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """The words of a list: those between blanks, and those that are written without."""
    every = listed_words(name)
    joined = tuple(word for word in every if any(map(is_cjk, word)))
    return frozenset(word for word in every if word not in joined), joined


def leads_to(name: str, before: str) -> bool:
    """Whether a text in small letters ends with a word of that list."""
    plain, joined = _lead_words(name)
    bare = before.rstrip(" \t\"'`«„“”‘「『(*[:,，：、=")
    if bare.endswith(joined):
        return True
    last = bare[-40:].split()[-4:]
    return any(" ".join(last[at:]).strip(".?!") in plain for at in range(len(last)))


def follows_from(name: str, after: str) -> bool:
    """Whether a text in small letters begins with a word of that list."""
    plain, joined = _lead_words(name)
    bare = after.lstrip(" \t\"'`»”’」』)*],.!")
    if bare.startswith(joined):
        return True
    first = bare[:40].split()[:3]
    return any(" ".join(first[:count]) in plain for count in range(1, len(first) + 1))


@cache
def not_values() -> frozenset[str]:
    """Words that say something about a secret and are none."""
    return frozenset(listed_words("not_values"))
