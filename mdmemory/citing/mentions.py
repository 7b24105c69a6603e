"""What a note's text may name in a project: paths with their lines, addresses, commits. Pure.

Whether there is anything of that name, the project's files tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdmemory.citing.citation import MOST_LINE
from mdmemory.git.identity import place
from mdmemory.records import dataclass

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


@dataclass(frozen=True, slots=True)
class Mention:
    """A place that a text may mean. `is_sure`: it stands in a code span, or names its lines, so
    that even a single word may be a path."""

    path: str
    lines: tuple[int, int] | None = None
    is_sure: bool = False


def paths(text: str) -> list[Mention]:
    """The paths that a text may name, without its addresses; each once."""
    text = _URL.sub(" ", text[:_LONGEST])
    spans = {match.start(1): match.end(1) for match in _SPAN.finditer(text)}
    found: dict[tuple[str, tuple[int, int] | None], Mention] = {}
    for match in _PATH.finditer(text):
        lines = _lines(match) or _beside(text, match)
        path = match["path"].rstrip(".,;:")
        is_span = spans.get(match.start()) == match.end()
        if lines or is_span or "/" in path.strip("/") or path.endswith("/") or "." in path[1:-1]:
            mention = Mention(path, lines, is_sure=bool(lines) or is_span)
            found.setdefault((path, lines), mention)
    for start, end in spans.items():  # with blanks, perhaps, or signs that prose has beside words
        if (path := text[start:end].strip()) and not any(path == each.path for each in
                                                         found.values()):  # fmt: skip
            found.setdefault((path, None), Mention(path, is_sure=True))
    return [*found.values()][:_MOST]


def _beside(text: str, path: re.Match[str]) -> tuple[int, int] | None:
    """The lines that the words beside a path name."""
    if behind := _BEHIND.match(text, path.end()):
        return _lines(behind)
    start = max(0, path.start() - _FROM_BEFORE)
    before = _BEFORE.search(text[start : path.start()])
    return _lines(before) if before else None


def _lines(match: re.Match[str]) -> tuple[int, int] | None:
    groups = match.groupdict()
    first = groups["from"] or groups.get("first")
    if not first:
        return None
    last = groups["to"] or groups.get("last") or first
    low, high = int(first), int(last)
    return (low, high) if 0 < low <= high <= MOST_LINE else None


def commits(text: str) -> list[str]:
    """The words of a text that may be the id of a commit."""
    found = []
    for match in _COMMIT.finditer(_URL.sub(" ", text[:_LONGEST])):
        id = match["id"]
        # a number, or a word, unless it is called a commit
        if match["said"] or not (id.isdigit() or id.isalpha()):
            found.append(id)
    return [*dict.fromkeys(found)][:_MOST]


def addresses(text: str, remotes: tuple[str, ...]) -> Iterator[tuple[str, Mention]]:
    """The files and commits that addresses in the project's own `remotes` name: the word of its
    host for what it is, and what follows it, the revision still in front."""
    for url in _URL.findall(text[:_LONGEST]):
        whole, _, anchor = url.rstrip(".,;:!?").partition("#")
        host = place(whole.partition("?")[0])
        for remote in remotes:
            rest = host.removeprefix(remote)
            if rest != host and (found := _IN_HOST.match(rest)):
                lines = re.fullmatch(r"L(?P<from>\d{1,7})(?:-L?(?P<to>\d{1,7}))?", anchor)
                yield found[1], Mention(rest[found.end() :], _lines(lines) if lines else None)
