"""Which lines of a file a note speaks of: those that hold what it claims, a name or a number. Pure.

A file that is merely named would drift with each change of anything in it. So only lines that stand
for a claim are cited, and of none that stands there twice; where there is no such line, the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mdmemory.text import literals
from mdmemory.text.words import tokens as words_of

MOST = 3  # lines of one file
_CLAIMS = 40  # of one note that are looked for
_FEW = 4  # lines with a claim, among which the note's other words decide
_MANY = 200  # places at which a claim is looked at
_LONGEST = 400  # bytes of a line: in a longer one, as of a packed file, anything may change
_SHORTEST = 4  # bytes of a line without white space
_WORD = 4  # letters of a word that a line and a note share
_WORDY = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_FRACTION = re.compile(rb"[0-9]{1,40}")
_DIGITS = frozenset(b"0123456789")
_IN_SPAN = 4  # names of one code span
_CALLED = re.compile(r"(?<!\w)(?P<name>[^\W\d]\w{1,80})\(")
_SPAN = re.compile(r"(?<!`)`([^`\n]{1,300})`(?!`)")
_IDENTIFIER = re.compile(r"(?<!\w)[^\W\d]\w{1,80}(?!\w)")
_CODED = re.compile(  # ALL_CAPITALS, snake_case, camelCase and PascalCase with a second capital
    r"(?<!\w)(?:[A-Z][A-Z0-9_]{3,60}|[a-zA-Z][a-zA-Z0-9]{0,40}_\w{1,60}|[A-Za-z][a-z0-9]{1,40}[A-Z]\w{0,60})(?!\w)"
)
# words before a name by which a language defines it
_DEFINING = frozenset(
    b"class struct enum interface trait type typedef union record protocol object module namespace"
    b" def fn func fun function sub proc procedure macro defmacro defn define #define"
    b" const let var val static final export local readonly table view alias rule"
    b" message service resource variable data target".split()
)


def lines(data: bytes, text: str, but: Sequence[str] = ()) -> list[int]:
    """The numbers of the lines (from 1) of a file that hold what a text claims, in their order; at
    most three. `but` are words of the text that claim nothing of the file, such as its path."""
    rows = data.split(b"\n")
    known = {*but, *(part for each in but for part in each.split("/"))}
    claims = [claim for claim in _claims(text) if claim not in known][:_CLAIMS]
    names = [name for name in dict.fromkeys(_names(text)) if name not in known][:_CLAIMS]
    shared = {word.encode() for word in words_of(text) if len(word) >= _WORD and word not in known}
    shared -= {part.casefold().encode() for part in known}
    found: dict[int, None] = {}
    for claim, is_name in [*((name, True) for name in names), *((c, False) for c in claims)]:
        row = _defined(data, rows, claim) if is_name else _row(data, rows, claim, shared)
        if row is not None and _is_fit(rows, row):
            found.setdefault(row + 1)
    return sorted([*found][:MOST])


def _claims(text: str) -> list[str]:
    """The names and numbers of a text, names first."""
    found = {claim.removesuffix("()") for claim in literals.tokens(text)}
    found = {claim for claim in found if len(claim) > 1 and not claim.startswith("[[")}
    places = {claim: text.find(claim) for claim in found}
    return sorted(found, key=lambda claim: (claim[0].isdigit(), places[claim], claim))


def _names(text: str) -> Iterator[str]:
    """The words of a text that a file may define: what is called, code, and what is written as no
    word of prose is."""
    for match in _CALLED.finditer(text):
        yield match["name"]
    for span in _SPAN.findall(text):
        yield from _IDENTIFIER.findall(span)[:_IN_SPAN]
    yield from _CODED.findall(text)


def _defined(data: bytes, rows: Sequence[bytes], name: str) -> int | None:
    """The one line that defines a name; None where there is none, or several do."""
    wanted = name.encode("utf-8", "replace")
    places = _places(data, wanted)
    found = {row for row, at in places if _is_defined(rows[row], at, len(wanted))}
    return found.pop() if len(found) == 1 else None


def _row(data: bytes, rows: Sequence[bytes], claim: str, shared: set[bytes]) -> int | None:
    """The one line that stands for a claim; None where there is none, or several may."""
    wanted = claim.encode("utf-8", "replace")
    found = [*dict.fromkeys(row for row, _ in _places(data, wanted))]
    if len(found) == 1:
        return found[0]
    others = {word for word in shared if word not in wanted.lower()}
    if len(found) > _FEW:
        return None
    told = [row for row in found if any(word in rows[row].lower() for word in others)]
    return told[0] if len(told) == 1 else None


def _places(data: bytes, wanted: bytes) -> Iterator[tuple[int, int]]:
    """Line and column, from 0, of each place where these bytes stand as a whole word."""
    at, row, begin = data.find(wanted), 0, 0
    for _ in range(_MANY):
        if at < 0:
            return
        row += data.count(b"\n", begin, at)
        begin = at
        if _is_whole(data, at, at + len(wanted)):
            yield row, at - (data.rfind(b"\n", 0, at) + 1)
        at = data.find(wanted, at + 1)


def _is_whole(data: bytes, start: int, end: int) -> bool:
    before, after = data[start - 1 : start] if start else b"", data[end : end + 1]
    if data[start] in _WORDY and before and before[0] in _WORDY:
        return False
    if data[end - 1] in _WORDY and after and after[0] in _WORDY:
        return False
    if data[start] in _DIGITS and before == b".":  # 30 is no part of 1.30,
        return False
    if data[end - 1] not in _DIGITS or after != b".":
        return True
    fraction = _FRACTION.match(data, end + 1)
    return not fraction or not fraction[0].strip(b"0")  # nor of 30.5, but of 30.0


def _is_defined(row: bytes, at: int, length: int) -> bool:
    """Whether a line defines the name that stands there."""
    before, behind = row[:at], row[at + length :].lstrip()
    last = before.split()[-1:] or [b""]
    if last[0] in _DEFINING:
        return True
    if b"(" in before or b"=" in before or b":" in before:
        return False
    if behind.startswith((b"=", b":")) and not behind.startswith((b"==", b"=>", b"::")):
        return True
    return behind.startswith(b"(") and behind.rstrip().endswith((b"{", b"{}"))


def _is_fit(rows: Sequence[bytes], row: int) -> bool:
    """Whether a line can be cited: long enough to say something, and there only once."""
    line = rows[row]
    squeezed = b"".join(line.split())
    if not _SHORTEST <= len(squeezed) <= len(line) <= _LONGEST:
        return False
    return sum(b"".join(each.split()) == squeezed for each in rows if squeezed[:1] in each) == 1
