"""Making citations: for a note, pinned to the project as it is in this moment.

What a note names is looked up in the project; what is not there is no citation.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath

from mdmemory.citing.citation import (
    BLOB,
    COMMIT,
    DRIFTED,
    GONE,
    MOVED,
    UNKNOWN,
    Citation,
    is_path,
    parse,
)
from mdmemory.citing.snapshot import MOST_BYTES, repository_of
from mdmemory.errors import MdmemoryError, UsageError
from mdmemory.files import as_given, read_regular, to_text
from mdmemory.git import identity
from mdmemory.git.objects import Object, Objects
from mdmemory.git.repositories import Repository
from mdmemory.store.project import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmemory.citing.mentions import Mention

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
        if each.state == GONE:
            changes[each.cite] = None
        elif place is not None and each.state in (MOVED, DRIFTED):
            changes[each.cite] = str(making.pin_citation(place))
        elif place is not None and each.state == UNKNOWN and not place.is_commit:
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
        self._tip = identity.read_head(repository)
        self._is_there = lru_cache(maxsize=None)(self._is_file)
        self._data = lru_cache(maxsize=8)(self._read)

    # --- what a text names

    def of_text(self, text: str, but: Iterable[Citation] = ()) -> list[Citation]:
        """The citations for all that a text names and the project holds, at most eight; without
        those in files that are cited already (`but`)."""
        from mdmemory.citing.mentions import find_commits

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
            if commit and self._tip and identity.is_ancestor(self._repository, commit, self._tip):
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
            raise self._no_lines(path)
        return cites

    def pin_citation(self, cite: Citation) -> Citation:
        """A citation as it was written by hand, pinned to what stands there now; the same where
        there is nothing."""
        if cite.is_pinned or cite.is_folder or not self._is_there(cite.path):
            return cite
        return self._pin_lines(cite.path, cite.lines) or cite

    def _mention_meant(self, word: str, given: Citation | None) -> Mention | None:
        """The place that a word names by itself: as a citation, a path, or an address."""
        from mdmemory.citing.mentions import Mention, find_paths

        if "://" in word:
            return next(self._path_mentions(word), None)
        mentions = find_paths(f"`{word}`")
        if given is None:  # what is no citation may be a path from the root of the machine
            return mentions[0] if mentions and "#" not in word and "@" not in word else None
        if not given.lines and mentions and mentions[0].lines:
            return mentions[0]  # src/app.py:10-20
        return Mention(given.path, given.lines, is_sure=True)

    def _no_lines(self, path: str) -> UsageError:
        if path.endswith("/") or self._data(path) is None:
            what = "is a folder" if path.endswith("/") else "is too large, or no text"
            return UsageError(f"{path} {what}: its lines cannot be cited.", f"Cite {path} itself.")
        return UsageError(f"{path} has no such lines, or they are blank.", "Name others.")

    def _path_mentions(self, text: str) -> Iterator[Mention]:
        from mdmemory.citing.mentions import Mention, find_paths

        yield from find_paths(text)
        for kind, mention in self._address_mentions(text):
            # the revision is in front, and may have slashes, too
            parts = [] if kind.startswith("commit") else mention.path.split("/")
            tails = ["/".join(parts[at:]) for at in range(1, min(len(parts), 6))]
            there = next((p for p in tails if self._is_there(p) or self._is_folder(p)), None)
            if there:
                yield Mention(there, mention.lines, is_sure=True)

    def _address_mentions(self, text: str) -> Iterator[tuple[str, Mention]]:
        from mdmemory.citing.mentions import find_addresses

        if "://" in text:
            yield from find_addresses(text, identity.list_remotes(self._repository))

    def _whole_commit(self, id: str) -> str:
        """The whole id of a commit; "" where there is none of it."""
        out = self._repository.ask("rev-parse", "-q", "--verify", f"{id}^{{commit}}")
        return (out or b"").decode().strip()

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
        return self._by_its_end(plain) if is_path(plain) else None

    def _by_its_end(self, path: str) -> str | None:
        """The one file whose path ends so: people call a file by its name."""
        if path.endswith("/") or "." not in path[1:] or path.startswith("../"):
            return None
        names = [each for each in self._head_names if f"/{each}".endswith(f"/{path}")]
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
        from mdmemory.citing.snapshot import FOLDERS

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
        from mdmemory.citing.mentions import lines_of_claims

        if path.endswith("/"):
            return [Citation(path)]
        if mention.lines:
            citations = [self._pin_lines(path, mention.lines)]
        else:
            rows = lines_of_claims(self._data(path) or b"", text, names)
            # each for itself: what comes between two of them changes neither
            citations = [self._pin_lines(path, (row, row)) for row in rows]
        return [each for each in citations if each] or [
            *filter(None, [self._pin_lines(path, None)])
        ]

    def _read(self, path: str) -> bytes | None:
        """The text of a file; None where it is none, or too large."""
        from mdmemory.citing.lines import Squeezed

        with suppress(MdmemoryError):
            data = read_regular(f"{self._top}/{as_given(path)}", MOST_BYTES)
            return data if Squeezed(data).is_text else None
        return None

    def _pin_lines(self, path: str, lines: tuple[int, int] | None) -> Citation | None:
        """A citation of what stands there now; None for lines that are not there, or blank."""
        from mdmemory.citing.lines import Squeezed, lines_hash

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
