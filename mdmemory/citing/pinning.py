"""Citations for a note, pinned to the project as it is in this moment.

What a note names is looked up in the project; what is not there is no citation.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath

from mdmemory.citing import choosing, commits, judging, mentions
from mdmemory.citing.citation import BLOB, COMMIT, Citation, is_path, parse
from mdmemory.citing.lines import Squeezed, lines_hash
from mdmemory.citing.mentions import Mention
from mdmemory.citing.states import FRESH
from mdmemory.citing.versions import ProjectFiles, Version
from mdmemory.errors import UsageError
from mdmemory.git import identity

MOST = 8  # citations that a note gets by its text
_NAMES = 32 * 1024 * 1024  # bytes of a list of all files; of more only whole paths are known


class Pinning:
    """Makes citations in the project whose `files` these are. `start` is the folder from which a
    path may be meant, `store` where the notes lie: what is in it is not cited."""

    def __init__(self, files: ProjectFiles, tip: str, start: Path, store: Path) -> None:
        self._files, self._tip = files, tip
        self._inside = _relative(start, files.top)
        self._store = _relative(store, files.top)

    # --- what a text names ------------------------------------------------------------------------

    def of_text(self, text: str, but: Iterable[Citation] = ()) -> list[Citation]:
        """The citations for all that a text names and the project holds, at most eight; without
        those in files that are cited already (`but`)."""
        found: dict[str, Citation] = {}
        taken = {each.path for each in but}
        names: list[str] = []
        for mention in self._mentions(text):
            path = self._found(mention)
            if path is not None and path not in taken:
                names += [mention.path, path]
                for cite in self._of_mention(path, mention, text, names):
                    found.setdefault(cite.place, cite)
        for id in self._commits(text):
            found.setdefault(id, Citation(id))
        return _narrow(found.values())[:MOST]

    def named(self, word: str, text: str) -> list[Citation]:
        """The citations for a place that a person names: the lines that they name, else those that
        the text of the note speaks of, else the file. Raises UsageError where it is not there."""
        given = parse(word)
        if given is not None and given.is_commit:
            return [self._commit(given)]
        mention = self._meant(word, given)
        path = self._found(mention) if mention else None
        if mention is None or path is None:
            raise UsageError(
                f"The project has no {word!r} that could be cited.",
                "Name a file of the project that git does not ignore: PATH, PATH#L10-L20.",
            )
        cites = self._of_mention(path, mention, text, [mention.path, path])
        if mention.lines and not any(each.lines for each in cites):
            raise self._no_lines(path)
        return cites

    def _meant(self, word: str, given: Citation | None) -> Mention | None:
        """The place that a word names by itself: as a citation, a path, or an address."""
        if "://" in word:
            return next(self._mentions(word), None)
        found = mentions.paths(f"`{word}`")
        if given is None:  # what is no citation may be a path from the root of the machine
            return found[0] if found and "#" not in word and "@" not in word else None
        if not given.lines and found and found[0].lines:
            return found[0]  # src/app.py:10-20
        return Mention(given.path, given.lines, is_sure=True)

    def _no_lines(self, path: str) -> UsageError:
        if path.endswith("/") or self._data(path) is None:
            what = "is a folder" if path.endswith("/") else "is too large, or no text"
            return UsageError(f"{path} {what}: its lines cannot be cited.", f"Cite {path} itself.")
        return UsageError(f"{path} has no such lines, or they are blank.", "Name others.")

    def pinned(self, cite: Citation) -> Citation:
        """A citation as it was written by hand, pinned to what stands there now; the same where
        there is nothing."""
        if cite.is_pinned or self._version(cite.path) is None:
            return cite
        return self._pin(cite.path, cite.lines) or cite

    def _commit(self, cite: Citation) -> Citation:
        id = cite.path.removeprefix(COMMIT)
        [whole] = self._files.ids([id], "commit")
        if not whole:
            raise UsageError(f"The project has no commit {id}.", "`git log` lists them.")
        return Citation(f"{COMMIT}{whole[:BLOB]}")

    def _mentions(self, text: str) -> Iterator[Mention]:
        found = [*mentions.paths(text)]
        if "://" in text:
            for kind, mention in mentions.addresses(text, self._remotes):
                if not kind.startswith("commit"):
                    found += self._without_revision(mention)
        yield from found

    def _without_revision(self, mention: Mention) -> Iterator[Mention]:
        """The path behind the revision of an address, which may have slashes, too."""
        parts = mention.path.split("/")
        for at in range(1, min(len(parts), 6)):
            path = "/".join(parts[at:])
            if self._version(path) is not None or self._is_folder(path):
                yield Mention(path, mention.lines, is_sure=True)
                return

    def _commits(self, text: str) -> list[str]:
        ids = mentions.commits(text)
        if "://" in text:
            for kind, mention in mentions.addresses(text, self._remotes):
                if kind.startswith("commit"):
                    ids += mentions.commits(f"commit {mention.path}")
        if not ids or not self._tip:
            return []
        states = commits.states(self._files, {*ids}, self._tip)
        here = [id for id in ids if states[id].state == FRESH]
        return [f"{COMMIT}{id[:BLOB]}" for id in self._files.ids(here, "commit")]

    @cached_property
    def _remotes(self) -> tuple[str, ...]:
        return identity.remotes(self._files.repository)

    # --- a path of the project --------------------------------------------------------------------

    def _found(self, mention: Mention) -> str | None:
        """The path in the project that a mention means, a folder's with a slash; else None."""
        path = mention.path
        if path.startswith("/"):
            path = _relative(Path(path), self._files.top) or ""
        plain = path.removeprefix("./")
        beside = os.path.normpath(f"{self._inside}/{plain}") if self._inside else ""
        for each in filter(is_path, dict.fromkeys((plain, beside))):
            if self._is_stores(each) or parse(each) != Citation(each):
                continue  # our own, or a name that ends like a citation
            bare = each.rstrip("/")
            if not each.endswith("/") and self._version(bare) is not None:
                return bare
            if ("/" in each or mention.is_sure) and self._is_folder(bare):
                return f"{bare}/"
        return self._by_its_end(plain) if is_path(plain) else None

    def _by_its_end(self, path: str) -> str | None:
        """The one file whose path ends so: people call a file by its name."""
        if path.endswith("/") or "." not in path[1:] or path.startswith("../"):
            return None
        name = path.rpartition("/")[2]
        found = [each for each in self._names.get(name, ()) if f"/{each}".endswith(f"/{path}")]
        found = [each for each in found if not self._is_stores(each)]
        return found[0] if len(found) == 1 else None

    def _is_stores(self, path: str) -> bool:
        return self._store is not None and f"{path.rstrip('/')}/".startswith(f"{self._store}/")

    def _version(self, path: str) -> Version | None:
        """The file at a path as it is now, where git has it or would take it."""
        path = unicodedata.normalize("NFC", path) if not path.isascii() else path
        if path not in self._versions:
            found = self._files.now([path]).get(path)
            if found is not None and not self._files.is_tracked(self._tip, path):
                found = None
            self._versions[path] = found
        return self._versions[path]

    @cached_property
    def _versions(self) -> dict[str, Version | None]:
        return {}

    def _is_folder(self, path: str) -> bool:
        return bool(self._tip and self._files.folders(self._tip, {path}))

    @cached_property
    def _names(self) -> dict[str, list[str]]:
        """The paths of all files of HEAD, by their last part."""
        found: dict[str, list[str]] = {}
        for path in self._files.paths(self._tip, _NAMES) if self._tip else ():
            found.setdefault(path.rpartition("/")[2], []).append(path)
        return found

    # --- pinning ----------------------------------------------------------------------------------

    def _of_mention(
        self, path: str, mention: Mention, text: str, names: Sequence[str]
    ) -> list[Citation]:
        """The lines of a path that a mention names, or of which a text speaks; else the path."""
        if path.endswith("/"):
            return [Citation(path)]
        if mention.lines:
            found = [self._pin(path, mention.lines)]
        else:
            data = self._data(path)
            rows = [] if data is None else choosing.lines(data, text, names)
            # each for itself: what comes between two of them changes neither
            found = [self._pin(path, (row, row)) for row in rows]
        return [each for each in found if each] or [*filter(None, [self._pin(path, None)])]

    def _data(self, path: str) -> bytes | None:
        version = self._version(path)
        data = self._files.data(version) if version else None
        return None if data is None or judging.is_no_text(data) else data

    def _pin(self, path: str, lines: tuple[int, int] | None) -> Citation | None:
        """A citation of what stands there now; None for lines that are not there, or blank."""
        version = self._version(path)
        if version is None:
            return None
        blob = self._files.blob_of(version, self._tip)[:BLOB]
        if lines is None:
            return Citation(path, None, blob)
        if (data := self._data(path)) is None:
            return None
        text = Squeezed(data)
        span = text.span(lines)
        if span[0] == span[1]:
            return None
        last = min(lines[1], text.numbers[-1])
        return Citation(path, (lines[0], last), blob, lines_hash(text.text(span)))


def _narrow(cites: Iterable[Citation]) -> list[Citation]:
    """The citations without whole files of which lines are cited, too."""
    found = [*cites]
    with_lines = {each.path for each in found if each.lines}
    return [each for each in found if each.lines or each.path not in with_lines]


def _relative(path: Path, top: Path) -> str | None:
    """A path as git writes it; None where it is not in the project, or its top."""
    real = os.path.join(os.path.realpath(path.parent), path.name)
    try:
        inside = PurePosixPath(real).relative_to(top)
    except ValueError:
        return None
    return None if str(inside) == "." else str(inside)
