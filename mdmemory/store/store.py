"""The notes as they lie on disk: which files are notes, and reading them.

Only the `*.md` directly in the store's folder; folders, links and other files are the person's.
Nothing here writes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG
from types import MappingProxyType
from typing import NamedTuple

from mdmemory.errors import Ambiguous, BadNote, MdmemoryError, NotFound
from mdmemory.files import as_given, as_text, digest, read_if_there, read_regular
from mdmemory.note import note as notes_format
from mdmemory.note.note import Note

INDEX = "MEMORY.md"
OVERFLOW = "_MORE.md"
LEDGER = "_CONFLICTS.md"
GENERATED = (INDEX, OVERFLOW)


class StoredNote(NamedTuple):
    """A note together with the file it was read from; `digest` is the sha256 of its bytes."""

    file: str
    digest: str
    note: Note


def is_note_name(file: str) -> bool:
    """Whether a file of this name in the store is a note (or would be one)."""
    return file.endswith(".md") and file[0] not in "._" and file not in ("README.md", INDEX)


class Store:
    """A folder of notes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def files(self) -> list[str]:
        """The names of all notes, sorted by code point. Links, folders and FIFOs are none."""
        with os.scandir(self.folder) as entries:
            return sorted(
                as_text(entry.name)
                for entry in entries
                if is_note_name(entry.name) and entry.is_file(follow_symlinks=False)
            )

    def those_of(self, files: Iterable[str]) -> list[StoredNote]:
        """The notes of these files that `files` would list, in their order. A name may come from
        outside."""
        stored = []
        for file in self._listed_files(files):
            with suppress(NotFound):
                stored.append(self.read(file))
        return stored

    def _listed_files(self, files: Iterable[str]) -> Iterator[str]:
        """Those of these files that `files` would list."""
        for file in files:
            if not file or os.path.basename(file) != file or not is_note_name(file):
                continue
            with suppress(OSError, ValueError):  # gone, or no name that a file can have
                if S_ISREG(os.lstat(f"{self.folder}/{as_given(file)}").st_mode):
                    yield file

    def read(self, file: str) -> StoredNote:
        """One note. A file that is no readable text still gives a note, with the problem named.

        Raises NotFound when there is none of that name.
        """
        data = self._file_bytes(file)
        if isinstance(data, Note):
            return StoredNote(file, "", data)
        return StoredNote(file, digest(data), decode_note(data, file))

    def _file_bytes(self, file: str) -> bytes | Note:
        """What the file holds, or where it cannot be read the note that says why."""
        try:
            return read_regular(f"{self.folder}/{as_given(file)}")
        except NotFound:
            raise
        except MdmemoryError as problem:
            return notes_format.make_unreadable(file, problem.sentences)

    def notes(self, known: Mapping[str, StoredNote] = MappingProxyType({})) -> list[StoredNote]:
        """All notes, sorted by file. All are read, but what is `known` of the same bytes, by file,
        is not parsed again: that takes most of the time."""
        stored = []
        for file, data in self._read_each(self.files()):
            before, now = known.get(file), "" if isinstance(data, Note) else digest(data)
            if now and before and before.digest == now:
                stored.append(before)
            else:
                note = data if isinstance(data, Note) else decode_note(data, file)
                stored.append(StoredNote(file, now, note))
        return stored

    def those_whose_text(
        self, files: Iterable[str], may: Callable[[str, str], bool]
    ) -> list[StoredNote]:
        """The notes of these files of which `may` says yes to file and whole text: the others are
        not parsed, which takes most of the time."""
        stored = []
        for file, data in self._read_each(files):
            if not isinstance(data, Note) and may(file, data.decode("utf-8", "replace")):
                stored.append(StoredNote(file, digest(data), decode_note(data, file)))
        return stored

    def digests(self, files: Iterable[str] | None = None) -> dict[str, str]:
        """What `notes`, or `those_of` these files, gives as the digest of each file, without a note
        being read as one."""
        listed = self.files() if files is None else self._listed_files(files)
        read = self._read_each(listed)
        return {file: "" if isinstance(data, Note) else digest(data) for file, data in read}

    def _read_each(self, files: Iterable[str]) -> Iterator[tuple[str, bytes | Note]]:
        """These files, but those that were removed since they were listed, with what they hold."""
        for file in files:
            try:
                data = self._file_bytes(file)
            except NotFound:
                continue
            yield file, data

    def ledger(self) -> str:
        """The text of the conflict ledger, "" when there is none; encodes back to its bytes."""
        try:
            data = read_if_there(f"{self.folder}/{LEDGER}")
        except MdmemoryError:
            return ""  # a link or folder is in its place; doctor tells of it
        return (data or b"").decode("utf-8", "surrogateescape")

    def find(self, name: str, *, former: bool = True) -> StoredNote:
        """The note that NAME on the command line means: its file, its stem, or its name; then an
        alias, or (`former`) a name that it took over in a merge.

        Raises NotFound, with the nearest names as the hint.
        """
        if (file := self._find_named(name)) is not None:
            return self.read(file)
        notes, files = self.notes(), self.files()
        matches = [note for note in notes if note.note.head.name.casefold() == name.casefold()]
        if not matches:  # perhaps an alias, or a name that one had before a merge
            from mdmemory.store import note_links

            wanted = note_links.fold_name(name)
            matches = [note for note in notes if wanted in note_links.note_names(note.note)]
            is_lone = not former and len(matches) == 1
            if is_lone and wanted in note_links.former_names(matches[0].note):
                hint = f"It was merged into {matches[0].file}: name that."
                raise NotFound(f"There is no note {name} any more.", hint)
        if len(matches) == 1:
            return matches[0]
        if matches:
            files = [note.file for note in matches]
            shown = f"{', '.join(files[:-1])} and {files[-1]}"
            raise Ambiguous(f"{name} names {len(files)} notes: {shown}.", "Name the file.")
        import difflib  # only for this message

        stems = [file.removesuffix(".md") for file in files]
        # what follows the type is what people type
        short = {stem.partition("-")[2] or stem: stem for stem in stems}
        near = difflib.get_close_matches(name, [*stems, *short], 3, 0.5)
        near = list(dict.fromkeys(short.get(word, word) for word in near))
        hint = f"Near it: {', '.join(near)}." if near else "`mdmemory list` shows all."
        raise NotFound(f"There is no note {name}.", hint)

    def _find_named(self, name: str) -> str | None:
        """The file that NAME says letter by letter, where it is a note. Listed, not looked for:
        some systems find a file under other letters, too."""
        wanted = [file for file in (name, f"{name}.md") if file and is_note_name(file)]
        there = os.listdir(self.folder) if wanted else []
        for file in (file for file in wanted if as_given(file) in there):
            with suppress(FileNotFoundError):
                if S_ISREG(os.lstat(f"{self.folder}/{as_given(file)}").st_mode):
                    return file
        return None


def decode_note(data: bytes, file: str) -> Note:
    """The note in these bytes; bytes that are not text give a note that names the problem."""
    try:
        return notes_format.parse(notes_format.decode(data), file)
    except BadNote as problem:
        return notes_format.make_unreadable(file, problem.sentences)
