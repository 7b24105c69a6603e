"""Making citations: for a note, pinned to the project as it is in this moment.

What a note names is looked up in the project; what is not there is no citation.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import islice
from pathlib import Path, PurePosixPath

from mdmemory.citing import citation
from mdmemory.citing.citation import BLOB, COMMIT, MOST_LINE, Citation, is_path, parse
from mdmemory.citing.lines import Squeezed, lines_hash
from mdmemory.citing.snapshot import FOLDERS, MOST_BYTES, repository_of
from mdmemory.errors import MdmemoryError, UsageError
from mdmemory.files import as_given, read_regular, to_text
from mdmemory.git import repositories
from mdmemory.git.objects import Object, Objects
from mdmemory.git.repositories import Repository, is_ancestor, parse_remote
from mdmemory.store.project import Project
from mdmemory.text.words import word_tokens as words_of

# at the first use: many texts name nothing of a project
_compiled = cache(re.compile)

_MOST = 40  # mentions of one note that are looked up
_LONGEST = 24_000  # characters of a text: more than a note has
_NAME = r"[^\W_][\w@+.-]*|[_.@][\w@+.-]+"
_PATH = (
    rf"(?<![\w/:.~@+-])(?P<path>(?:\.{{1,2}}/|/)?(?:{_NAME})(?:/(?:{_NAME}))*/?)"
    r"(?::(?P<from>\d{1,7})(?:[-–](?P<to>\d{1,7}))?(?![\d.])"
    r"|#L(?P<first>\d{1,7})(?:-L?(?P<last>\d{1,7}))?)?"
)
_SPAN = r"(?<!`)`([^`\n]{1,300})`(?!`)"
_NUMBERS = r"lines?[ \n](?P<from>\d{1,7})(?: ?(?:-|–|to) ?(?P<to>\d{1,7}))?"
_BEHIND = rf"(?i)[`,;:]{{0,2}}[ \n]?\(?(?:(?:at|on|in) )?{_NUMBERS}"
_BEFORE = rf"(?i){_NUMBERS} (?:of|in) `?\Z"
_FROM_BEFORE = 60  # characters before a path that may name its lines
_URL = r"(?<![A-Za-z0-9])https?://[^\s<>\"'`)\]，。；、）」]{1,500}"
_COMMIT = r"(?<![\w/.@#:-])(?P<said>commit )?`?(?P<id>[0-9a-f]{7,64})(?![\w/-])"
# what stands between a repository and a revision in the address of a file at a host of repositories
_IN_HOST = r"/(?:-/)?(blob|tree|blame|raw|edit|src|commits?)/"

# A file that is merely named would drift with each change of anything in it. So only lines that
# stand for a claim, a name or a number, are cited, and only where none of them stands there twice.
_ROWS = 3  # lines of one file
_CLAIMS = 40  # of one note that are looked for
_FEW = 4  # lines with a claim, among which the note's other words decide
_MANY = 200  # places at which a claim is looked at
_WIDEST = 400  # bytes of a line: in a longer one, as of a packed file, anything may change
_SHORTEST = 4  # bytes of a line without white space
_WORD = 4  # letters of a word that a line and a note share
_WORDY = re.compile(rb"\w")
_IN_SPAN = 4  # names of one code span
_CALLED = r"(?<!\w)(?P<name>[^\W\d]\w{1,80})\("
_IDENTIFIER = r"(?<!\w)[^\W\d]\w{1,80}(?!\w)"
_CODED = (  # ALL_CAPITALS, snake_case, camelCase and PascalCase with a second capital
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
    text = _compiled(_URL).sub(" ", text[:_LONGEST])
    spans = {match.start(1): match.end(1) for match in _compiled(_SPAN).finditer(text)}
    mentions: dict[tuple[str, tuple[int, int] | None], Mention] = {}
    for match in _compiled(_PATH).finditer(text):
        lines = _lines_named(match)
        if not lines:  # perhaps the words beside it name them
            start = max(0, match.start() - _FROM_BEFORE)
            behind = _compiled(_BEHIND).match(text, match.end())
            beside = behind or _compiled(_BEFORE).search(text[start : match.start()])
            lines = _lines_named(beside) if beside else None
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
    for match in _compiled(_COMMIT).finditer(_compiled(_URL).sub(" ", text[:_LONGEST])):
        id = match["id"]
        # a number, or a word, unless it is called a commit
        if match["said"] or not (id.isdigit() or id.isalpha()):
            commits.append(id)
    return [*dict.fromkeys(commits)][:_MOST]


def find_addresses(text: str, remotes: tuple[str, ...]) -> Iterator[tuple[str, Mention]]:
    """The files and commits that addresses in the project's own `remotes` name: the word of its
    host for what it is, and what follows it, the revision still in front."""
    for url in _compiled(_URL).findall(text[:_LONGEST]):
        whole, _, anchor = url.rstrip(".,;:!?").partition("#")
        host = parse_remote(whole.partition("?")[0])
        for remote in remotes:
            rest = host.removeprefix(remote)
            if rest != host and (match := _compiled(_IN_HOST).match(rest)):
                lines = re.fullmatch(r"L(?P<from>\d{1,7})(?:-L?(?P<to>\d{1,7}))?", anchor)
                yield match[1], Mention(rest[match.end() :], _lines_named(lines) if lines else None)


def lines_of_claims(data: bytes, text: str, but: Sequence[str] = ()) -> list[int]:
    """The numbers of the lines (from 1) of a file that hold what a text claims, in their order; at
    most three. `but` are words of the text that claim nothing of the file, such as its path."""
    from mdmemory.text import literals

    rows = data.split(b"\n")
    known = {*but, *(part for each in but for part in each.split("/"))}
    # the names and numbers of the text, names first
    claims = [*{claim.removesuffix("()") for claim in literals.literal_tokens(text)} - known]
    claims = [claim for claim in claims if len(claim) > 1 and not claim.startswith("[[")]
    claims.sort(key=lambda claim: (claim[0].isdigit(), text.find(claim), claim))
    names = [name for name in dict.fromkeys(_defined_names(text)) if name not in known][:_CLAIMS]
    shared = {word.encode() for word in words_of(text) if len(word) >= _WORD and word not in known}
    shared -= {part.casefold().encode() for part in known}
    rows_found: dict[int, None] = {}
    for claim, is_name in [*((n, True) for n in names), *((c, False) for c in claims[:_CLAIMS])]:
        wanted = claim.encode("utf-8", "replace")
        places = [*_find_places(data, wanted)]
        if is_name:  # the one line that defines it
            near = {row for row, at in places if _is_defined(rows[row], at, len(wanted))}
        else:  # the one line that stands for it, or of a few the one that shares another word
            near = {row for row, _ in places}
            others = [word for word in shared if word not in wanted.lower()]
            if 1 < len(near) <= _FEW:
                near = {row for row in near if any(word in rows[row].lower() for word in others)}
        if len(near) == 1 and _is_fit(rows, row := near.pop()):
            rows_found.setdefault(row + 1)
    return sorted([*rows_found][:_ROWS])


def _defined_names(text: str) -> Iterator[str]:
    """The words of a text that a file may define: what is called, code, and what is written as no
    word of prose is."""
    for match in _compiled(_CALLED).finditer(text):
        yield match["name"]
    for span in _compiled(_SPAN).findall(text):
        yield from _compiled(_IDENTIFIER).findall(span)[:_IN_SPAN]
    yield from _compiled(_CODED).findall(text)


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


MOST = 8  # citations that a note gets by its text
_NAMES = 32 * 1024 * 1024  # bytes of a list of all files; of more only whole paths are known


def cites_of(project: Project, text: str, named: Sequence[str] = ()) -> Sequence[str]:
    """The citations for places that a person names, then those for what the text of a note names
    in other files. For a text alone [] where the project is not here or cannot be read: a note is
    stored all the same. Raises UsageError for a place that is none, NoGit without a project."""
    if named:
        from mdmemory.citing.check import require_repository

        making = _Making(project, require_repository(project))
        given = [each for word in named for each in making.named(word, text)]
        return [*dict.fromkeys(map(str, (*given, *making.of_text(text, but=given))))]
    with suppress(MdmemoryError, OSError):
        if repository := repository_of(project):
            return [*map(str, _Making(project, repository).of_text(text))]
    return []


def pin_citations(project: Project, cites: Sequence[str]) -> dict[str, str | None]:
    """What is to be put in place of citations that are not pinned yet."""
    bare = {cite: each for cite in cites if (each := parse(cite)) and not each.is_pinned}
    repository = repository_of(project) if bare else None
    if repository is None:
        return {}
    making = _Making(project, repository)
    return {cite: str(making.pin_citation(each)) for cite, each in bare.items()}


def cited_anew(project: Project, cites: Sequence[str]) -> dict[str, str | None]:
    """What is to be put in place of citations that do not stand as they are written; None for what
    is gone. What is not known stays."""
    from mdmemory.citing.check import check_citations, require_repository

    changes = pin_citations(project, cites)
    making = _Making(project, require_repository(project))
    for each in check_citations(project, [("", cites)]):
        place = parse(each.now or each.place)
        if each.state == citation.GONE:
            changes[each.cite] = None
        elif place is not None and each.state in (citation.MOVED, citation.DRIFTED):
            changes[each.cite] = str(making.pin_citation(place))
        elif place is not None and each.state == citation.UNKNOWN and not place.is_commit:
            fresh = making.pin_citation(place)
            changes[each.cite] = str(fresh) if fresh.is_pinned else each.cite
    return changes


class _Making:
    """Makes citations in the project of a store. What is in the store is not cited."""

    def __init__(self, project: Project, repository: Repository) -> None:
        self._repository, self._objects = repository, Objects(repository)
        self._top = Path(os.path.realpath(repository.top))
        self._inside = _relative_path(project.around or project.root, self._top)
        self._store = _relative_path(project.store, self._top)
        self._tip = repositories.read_head(repository)
        self._is_there = lru_cache(maxsize=None)(self._is_file)
        self._data = lru_cache(maxsize=8)(self._read)

    # --- what a text names

    def of_text(self, text: str, but: Iterable[Citation] = ()) -> list[Citation]:
        """The citations for all that a text names and the project holds, at most eight; without
        those in files that are cited already (`but`)."""
        citations: dict[str, Citation] = {}
        paths_cited = {each.path for each in but}
        names: list[str] = []
        for mention in self._path_mentions(text):
            path = self._path_found(mention)
            if path is not None and path not in paths_cited:
                names += [mention.path, path]
                for cite in self._of_mention(path, mention, text, names):
                    citations.setdefault(cite.place, cite)
        ids = find_commits(text)
        for kind, mention in self._address_mentions(text):
            ids += find_commits(f"commit {mention.path}") if kind.startswith("commit") else ()
        for id in ids:
            commit = self._whole_commit(id)
            if commit and self._tip and is_ancestor(self._repository, commit, self._tip):
                citations.setdefault(commit, Citation(f"{COMMIT}{commit[:BLOB]}"))
        with_lines = {each.path for each in citations.values() if each.lines}
        return [e for e in citations.values() if e.lines or e.path not in with_lines][:MOST]

    def named(self, word: str, text: str) -> list[Citation]:
        """The citations for a place that a person names: the lines that they name, else those that
        the text of the note speaks of, else the file. Raises UsageError where it is not there."""
        given = parse(word)
        if given is not None and given.is_commit:
            id = given.path.removeprefix(COMMIT)
            if not (commit := self._whole_commit(id)):
                raise UsageError(f"The project has no commit {id}.", "`git log` lists them.")
            return [Citation(f"{COMMIT}{commit[:BLOB]}")]
        mention = self._mention_meant(word, given)
        path = self._path_found(mention) if mention else None
        if mention is None or path is None:
            raise UsageError(
                f"The project has no {word!r} that could be cited.",
                "Name a file of the project that git does not ignore: PATH, PATH#L10-L20.",
            )
        cites = self._of_mention(path, mention, text, [mention.path, path])
        if mention.lines and not any(each.lines for each in cites):
            if path.endswith("/") or self._data(path) is None:
                what = "is a folder" if path.endswith("/") else "is too large, or no text"
                no_lines = f"{path} {what}: its lines cannot be cited."
                raise UsageError(no_lines, f"Cite {path} itself.")
            raise UsageError(f"{path} has no such lines, or they are blank.", "Name others.")
        return cites

    def pin_citation(self, cite: Citation) -> Citation:
        """A citation as it was written by hand, pinned to what stands there now; the same where
        there is nothing."""
        if cite.is_pinned or cite.is_folder or not self._is_there(cite.path):
            return cite
        return self._pin_lines(cite.path, cite.lines) or cite

    def _mention_meant(self, word: str, given: Citation | None) -> Mention | None:
        """The place that a word names by itself: as a citation, a path, or an address."""
        if "://" in word:
            return next(self._path_mentions(word), None)
        mentions = find_paths(f"`{word}`")
        if given is None:  # what is no citation may be a path from the root of the machine
            return mentions[0] if mentions and "#" not in word and "@" not in word else None
        if not given.lines and mentions and mentions[0].lines:
            return mentions[0]  # src/app.py:10-20
        return Mention(given.path, given.lines, is_sure=True)

    def _path_mentions(self, text: str) -> Iterator[Mention]:
        yield from find_paths(text)
        for kind, mention in self._address_mentions(text):
            # the revision is in front, and may have slashes, too
            parts = [] if kind.startswith("commit") else mention.path.split("/")
            tails = ["/".join(parts[at:]) for at in range(1, min(len(parts), 6))]
            there = next((p for p in tails if self._is_there(p) or self._is_folder(p)), None)
            if there:
                yield Mention(there, mention.lines, is_sure=True)

    def _address_mentions(self, text: str) -> Iterator[tuple[str, Mention]]:
        if "://" in text:
            yield from find_addresses(text, repositories.list_remotes(self._repository))

    def _whole_commit(self, id: str) -> str:
        """The whole id of a commit; "" where there is none of it."""
        return repositories.find_commit(self._repository, id) or ""

    # --- a path of the project

    def _path_found(self, mention: Mention) -> str | None:
        """The path in the project that a mention means, a folder's with a slash; else None."""
        path = mention.path
        if path.startswith("/"):
            path = _relative_path(Path(path), self._top) or ""
        plain = path.removeprefix("./")
        beside = os.path.normpath(f"{self._inside}/{plain}") if self._inside else ""
        for each in filter(is_path, dict.fromkeys((plain, beside))):
            if self._is_stores(each) or parse(each) != Citation(each):
                continue  # our own, or a name that ends like a citation
            bare = each.rstrip("/")
            if not each.endswith("/") and self._is_there(bare):
                return bare
            if ("/" in each or mention.is_sure) and self._is_folder(bare):
                return f"{bare}/"
        # people call a file by its name: the one file whose path ends so
        if not is_path(plain) or plain.endswith("/") or "." not in plain[1:]:
            return None
        names = [each for each in self._head_names if f"/{each}".endswith(f"/{plain}")]
        names = [each for each in names if not self._is_stores(each)]
        return names[0] if len(names) == 1 else None

    def _is_stores(self, path: str) -> bool:
        return self._store is not None and f"{path.rstrip('/')}/".startswith(f"{self._store}/")

    def _is_file(self, path: str) -> bool:
        """Whether a file lies there that git has or would take: it is not ignored."""
        path = unicodedata.normalize("NFC", path)
        place = Path(f"{self._top}/{as_given(path)}")
        if not is_path(path) or _relative_path(place, self._top) != path:
            return False  # behind a link
        words = ("ls-files", "-z", "-t", "-c", "-o", "--exclude-standard", "--", path)
        rows = to_text(self._repository.run(*words)).split("\0")
        is_left_out = f"S {path}" in rows  # by a sparse checkout
        return is_left_out or (os.path.lexists(place) and any(row[2:] == path for row in rows))

    def _is_folder(self, path: str) -> bool:
        words = ("ls-tree", "-z", "--full-tree", self._tip, "--", path)
        return bool(self._tip) and self._repository.run(*words).decode()[:6] in FOLDERS

    @cached_property
    def _head_names(self) -> list[str]:
        """The paths of all files of HEAD."""
        words = ("ls-tree", "-r", "-z", "--name-only", "--full-tree", self._tip)
        out = self._repository.run(*words) if self._tip else b""
        return [] if len(out) > _NAMES else to_text(out).split("\0")[:-1]

    # --- pinning

    def _of_mention(
        self, path: str, mention: Mention, text: str, names: Sequence[str]
    ) -> list[Citation]:
        """The lines of a path that a mention names, or of which a text speaks; else the path."""
        if path.endswith("/"):
            return [Citation(path)]
        if mention.lines:
            citations = [self._pin_lines(path, mention.lines)]
        else:
            rows = lines_of_claims(self._data(path) or b"", text, names)
            # each for itself: what comes between two of them changes neither
            citations = [self._pin_lines(path, (row, row)) for row in rows]
        whole = [] if any(citations) else [self._pin_lines(path, None)]
        return [*filter(None, citations + whole)]

    def _read(self, path: str) -> bytes | None:
        """The text of a file; None where it is none, or too large."""
        with suppress(MdmemoryError):
            data = read_regular(f"{self._top}/{as_given(path)}", MOST_BYTES)
            return data if Squeezed(data).is_text else None
        return None

    def _pin_lines(self, path: str, lines: tuple[int, int] | None) -> Citation | None:
        """A citation of what stands there now; None for lines that are not there, or blank."""
        blob = self._blob_of(path)[:BLOB]
        if lines is None:
            return Citation(path, None, blob)
        text = Squeezed(self._data(path) or b"")
        span = text.span(lines)
        if span[0] == span[1]:
            return None
        last = min(lines[1], text.numbers[-1])
        return Citation(path, (lines[0], last), blob, lines_hash(text.text(span)))

    def _blob_of(self, path: str) -> str:
        """The id under which git has a file, or would: that of HEAD where they are the same."""
        there = self._objects.find_files(self._tip, [path]).get(path) if self._tip else None
        place = f"{self._top}/{as_given(path)}"
        is_link = os.path.islink(place)
        try:
            data = os.fsencode(os.readlink(place)) if is_link else read_regular(place, MOST_BYTES)
        except (MdmemoryError, OSError):  # too large, or left out
            return there.id if there else ""
        texts = (data, data.replace(b"\r\n", b"\n"))
        id, plain = (self._objects.hash(Object("blob", text)) for text in texts)
        return plain if there and there.id != id else id


def _relative_path(path: Path, top: Path) -> str | None:
    """A path as git writes it; None where it is not in the project, or its top."""
    real = os.path.join(os.path.realpath(path.parent), path.name)
    try:
        inside = PurePosixPath(real).relative_to(top)
    except ValueError:
        return None
    return None if str(inside) == "." else str(inside)
