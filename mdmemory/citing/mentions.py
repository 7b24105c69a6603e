"""What a note's text may name in a project: paths with their lines, addresses, commits; and which
lines of a file it speaks of. Pure. Whether anything has that name, the project's files tell.

A file that is merely named would drift with each change of anything in it. So only lines that stand
for a claim, a name or a number, are cited, and only where none of them stands there twice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from mdmemory.citing.citation import MOST_LINE
from mdmemory.git.identity import parse_remote
from mdmemory.text import literals
from mdmemory.text.words import word_tokens as words_of

_MOST = 40  # mentions of one note that are looked up
_LONGEST = 24_000  # characters of a text: more than a note has
_NAME = r"[^\W_][\w@+.-]*|[_.@][\w@+.-]+"
_PATH = re.compile(
    rf"(?<![\w/:.~@+-])(?P<path>(?:\.{{1,2}}/|/)?(?:{_NAME})(?:/(?:{_NAME}))*/?)"
    r"(?::(?P<from>\d{1,7})(?:[-–](?P<to>\d{1,7}))?(?![\d.])"
    r"|#L(?P<first>\d{1,7})(?:-L?(?P<last>\d{1,7}))?)?"
)
_SPAN = re.compile(r"(?<!`)`([^`\n]{1,300})`(?!`)")
_NUMBERS = r"lines?[ \n](?P<from>\d{1,7})(?: ?(?:-|–|to) ?(?P<to>\d{1,7}))?"
_BEHIND = re.compile(rf"[`,;:]{{0,2}}[ \n]?\(?(?:(?:at|on|in) )?{_NUMBERS}", re.IGNORECASE)
_BEFORE = re.compile(rf"{_NUMBERS} (?:of|in) `?\Z", re.IGNORECASE)
_FROM_BEFORE = 60  # characters before a path that may name its lines
_URL = re.compile(r"(?<![A-Za-z0-9])https?://[^\s<>\"'`)\]，。；、）」]{1,500}")
_COMMIT = re.compile(r"(?<![\w/.@#:-])(?P<said>commit )?`?(?P<id>[0-9a-f]{7,64})(?![\w/-])")
# what stands between a repository and a revision in the address of a file at a host of repositories
_IN_HOST = re.compile(r"/(?:-/)?(blob|tree|blame|raw|edit|src|commits?)/")

_ROWS = 3  # lines of one file
_CLAIMS = 40  # of one note that are looked for
_FEW = 4  # lines with a claim, among which the note's other words decide
_MANY = 200  # places at which a claim is looked at
_WIDEST = 400  # bytes of a line: in a longer one, as of a packed file, anything may change
_SHORTEST = 4  # bytes of a line without white space
_WORD = 4  # letters of a word that a line and a note share
_WORDY = re.compile(rb"\w")
_IN_SPAN = 4  # names of one code span
_CALLED = re.compile(r"(?<!\w)(?P<name>[^\W\d]\w{1,80})\(")
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


@dataclass(frozen=True, slots=True)
class Mention:
    """A place that a text may mean. `is_sure`: it stands in a code span, or names its lines, so
    that even a single word may be a path."""

    path: str
    lines: tuple[int, int] | None = None
    is_sure: bool = False


def find_paths(text: str) -> list[Mention]:
    """The paths that a text may name, without its addresses; each once."""
    text = _URL.sub(" ", text[:_LONGEST])
    spans = {match.start(1): match.end(1) for match in _SPAN.finditer(text)}
    mentions: dict[tuple[str, tuple[int, int] | None], Mention] = {}
    for match in _PATH.finditer(text):
        lines = _lines_named(match) or _lines_beside(text, match)
        path = match["path"].rstrip(".,;:")
        is_span = spans.get(match.start()) == match.end()
        if lines or is_span or "/" in path.strip("/") or path.endswith("/") or "." in path[1:-1]:
            mention = Mention(path, lines, is_sure=bool(lines) or is_span)
            mentions.setdefault((path, lines), mention)
    for start, end in spans.items():  # with blanks, perhaps, or signs that prose has beside words
        if (path := text[start:end].strip()) and not any(path == each.path for each in
                                                         mentions.values()):  # fmt: skip
            mentions.setdefault((path, None), Mention(path, is_sure=True))
    return [*mentions.values()][:_MOST]


def _lines_beside(text: str, path: re.Match[str]) -> tuple[int, int] | None:
    """The lines that the words beside a path name."""
    if behind := _BEHIND.match(text, path.end()):
        return _lines_named(behind)
    start = max(0, path.start() - _FROM_BEFORE)
    before = _BEFORE.search(text[start : path.start()])
    return _lines_named(before) if before else None


def _lines_named(match: re.Match[str]) -> tuple[int, int] | None:
    groups = match.groupdict()
    first = groups["from"] or groups.get("first")
    if not first:
        return None
    last = groups["to"] or groups.get("last") or first
    low, high = int(first), int(last)
    return (low, high) if 0 < low <= high <= MOST_LINE else None


def find_commits(text: str) -> list[str]:
    """The words of a text that may be the id of a commit."""
    commits = []
    for match in _COMMIT.finditer(_URL.sub(" ", text[:_LONGEST])):
        id = match["id"]
        # a number, or a word, unless it is called a commit
        if match["said"] or not (id.isdigit() or id.isalpha()):
            commits.append(id)
    return [*dict.fromkeys(commits)][:_MOST]


def find_addresses(text: str, remotes: tuple[str, ...]) -> Iterator[tuple[str, Mention]]:
    """The files and commits that addresses in the project's own `remotes` name: the word of its
    host for what it is, and what follows it, the revision still in front."""
    for url in _URL.findall(text[:_LONGEST]):
        whole, _, anchor = url.rstrip(".,;:!?").partition("#")
        host = parse_remote(whole.partition("?")[0])
        for remote in remotes:
            rest = host.removeprefix(remote)
            if rest != host and (match := _IN_HOST.match(rest)):
                lines = re.fullmatch(r"L(?P<from>\d{1,7})(?:-L?(?P<to>\d{1,7}))?", anchor)
                yield match[1], Mention(rest[match.end() :], _lines_named(lines) if lines else None)


def lines_of_claims(data: bytes, text: str, but: Sequence[str] = ()) -> list[int]:
    """The numbers of the lines (from 1) of a file that hold what a text claims, in their order; at
    most three. `but` are words of the text that claim nothing of the file, such as its path."""
    rows = data.split(b"\n")
    known = {*but, *(part for each in but for part in each.split("/"))}
    claims = [claim for claim in _find_claims(text) if claim not in known][:_CLAIMS]
    names = [name for name in dict.fromkeys(_defined_names(text)) if name not in known][:_CLAIMS]
    shared = {word.encode() for word in words_of(text) if len(word) >= _WORD and word not in known}
    shared -= {part.casefold().encode() for part in known}
    rows_found: dict[int, None] = {}
    for claim, is_name in [*((name, True) for name in names), *((c, False) for c in claims)]:
        row = _defining_row(data, rows, claim) if is_name else _claim_row(data, rows, claim, shared)
        if row is not None and _is_fit(rows, row):
            rows_found.setdefault(row + 1)
    return sorted([*rows_found][:_ROWS])


def _find_claims(text: str) -> list[str]:
    """The names and numbers of a text, names first."""
    claims = {claim.removesuffix("()") for claim in literals.literal_tokens(text)}
    claims = {claim for claim in claims if len(claim) > 1 and not claim.startswith("[[")}
    places = {claim: text.find(claim) for claim in claims}
    return sorted(claims, key=lambda claim: (claim[0].isdigit(), places[claim], claim))


def _defined_names(text: str) -> Iterator[str]:
    """The words of a text that a file may define: what is called, code, and what is written as no
    word of prose is."""
    for match in _CALLED.finditer(text):
        yield match["name"]
    for span in _SPAN.findall(text):
        yield from _IDENTIFIER.findall(span)[:_IN_SPAN]
    yield from _CODED.findall(text)


def _defining_row(data: bytes, rows: Sequence[bytes], name: str) -> int | None:
    """The one line that defines a name; None where there is none, or several do."""
    wanted = name.encode("utf-8", "replace")
    places = _find_places(data, wanted)
    rows_found = {row for row, at in places if _is_defined(rows[row], at, len(wanted))}
    return rows_found.pop() if len(rows_found) == 1 else None


def _claim_row(data: bytes, rows: Sequence[bytes], claim: str, shared: set[bytes]) -> int | None:
    """The one line that stands for a claim; None where there is none, or several may."""
    wanted = claim.encode("utf-8", "replace")
    rows_found = [*dict.fromkeys(row for row, _ in _find_places(data, wanted))]
    if len(rows_found) == 1:
        return rows_found[0]
    others = {word for word in shared if word not in wanted.lower()}
    if len(rows_found) > _FEW:
        return None
    rows_telling = [row for row in rows_found if any(word in rows[row].lower() for word in others)]
    return rows_telling[0] if len(rows_telling) == 1 else None


def _find_places(data: bytes, wanted: bytes) -> Iterator[tuple[int, int]]:
    """Line and column, from 0, of each place where these bytes stand as a whole word: 30 is no part
    of 1.30, nor of 30.5, but of 30.0."""
    before = rb"(?<![\w.])" if wanted[:1].isdigit() else rb"\b" if _WORDY.match(wanted) else rb""
    behind = rb"(?!\w)" if _WORDY.match(wanted[-1:]) else rb""
    fraction = rb"(?!\.0{0,40}[1-9])" if wanted[-1:].isdigit() else rb""
    whole = re.compile(before + re.escape(wanted) + behind + fraction)
    row = begin = 0
    for match in islice(whole.finditer(data), _MANY):
        row += data.count(b"\n", begin, match.start())
        begin = match.start()
        yield row, begin - (data.rfind(b"\n", 0, begin) + 1)


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
    if not _SHORTEST <= len(squeezed) <= len(line) <= _WIDEST:
        return False
    return sum(b"".join(each.split()) == squeezed for each in rows if squeezed[:1] in each) == 1
