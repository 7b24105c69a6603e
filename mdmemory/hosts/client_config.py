"""What a client of ours is wired by: entries in a person's files, and files of our own.

All is read and checked before the first byte is written. Where a program rewrites a file meanwhile,
the entries are put into what it wrote. The record of what was done lies with our logs, and holds no
text of the person's but the white space that ours replaced.
"""

from __future__ import annotations

import json
import os
import shlex
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from mdmemory.config import person
from mdmemory.errors import MdmemoryError
from mdmemory.files import name_refusals, read_if_there, sync_folder, write_atomic, write_beside
from mdmemory.hosts import entries, launcher
from mdmemory.hosts.entries import ConfigEdit, ConfigEntry
from mdmemory.note.stamps import add_stamp, explain_outdated, is_unedited, read_stamp

_MOST = 64 * 1024 * 1024  # bytes of a configuration; Claude Code's grows with its projects
_TRIES = 5  # to write a file that another program writes at the same time
_OF_OPENCODE = "opencode-folders.json"  # where 0.2 kept the folders made for OpenCode
_WRITTEN = ("Installed", "Updated")
WHY_LEFT = {"edited": "was edited", "another's": "is not ours"}
Name = Callable[[Path], str]  # how messages name a file


def invalid_file(path: Path | str, problem: Exception | str) -> MdmemoryError:
    """The error for a file whose text is not what its client reads."""
    return MdmemoryError(
        f"{path} is not a valid configuration: {problem}.",
        "Correct it and run this again; nothing was written.",
        code="bad_configuration",
    )


@contextmanager
def name_file(path: Path | str) -> Iterator[None]:
    """A context in which the error of a text that is not valid becomes `invalid_file`."""
    try:
        yield
    except ValueError as problem:
        raise invalid_file(path, problem) from problem


def read(path: Path) -> str | None:
    """The text of a file, None where there is none. Raises MdmemoryError."""
    data = bytes_of(path)
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError as problem:
        raise invalid_file(path, "It is not UTF-8") from problem


def table_of(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """A table in what a file says; an empty one where none is."""
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def bytes_of(path: Path) -> bytes | None:
    """The bytes of a file, None where there is none. Raises MdmemoryError for a link, a folder, and
    what cannot be read."""
    refuse_link(path)
    try:
        return read_if_there(path, _MOST)
    except MdmemoryError as problem:  # which speaks of a file in a store, by its name
        message = problem.message.replace(path.name, str(path), 1)
        raise MdmemoryError(
            message, "Mend that and run this again; nothing was written."
        ) from problem


def refuse_link(path: Path, name: str = "") -> None:
    """Raise MdmemoryError for a symbolic link; `name` is how the message names it."""
    if path.is_symlink():
        raise MdmemoryError(
            f"{name or path} is a symbolic link, and links are not written through.",
            f"Change what it points to by hand, or replace it by a file: {path}.",
        )


def refuse_read_only(paths: Sequence[Path]) -> None:
    """Raise MdmemoryError where a file is read-only: a person may have meant that."""
    for path in paths:
        if path.exists() and not path.stat().st_mode & stat.S_IWUSR:
            allow = f"chmod u+w {shlex.quote(str(path))}"
            raise MdmemoryError(f"{path} is read-only.", f"`{allow}`, and run this again.")


def replace_file(path: Path, data: bytes, mode: int) -> None:
    """Write a file in one step; what was there gives its permissions and its owner."""
    with name_refusals(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        status = path.stat() if path.exists() else None
        fresh = write_beside(path, data, status.st_mode & 0o7777 if status else mode)
        try:
            if status and (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
                os.chown(fresh, status.st_uid, status.st_gid)
            os.replace(fresh, path)
        finally:
            fresh.unlink(missing_ok=True)
        sync_folder(path.parent)


def drop_empty(folders: Iterable[Path]) -> None:
    """Remove those of the folders that hold nothing, the inner ones first."""
    for folder in sorted(folders, key=lambda each: len(each.parts), reverse=True):
        if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
            folder.rmdir()


# --- files of ours


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file of ours; `text` is without its stamp."""

    path: Path
    text: str

    def step(self) -> str:
        """What is to be done: Installed, Updated, why it is left, or "" when all is in place.

        Raises MdmemoryError for a link.
        """
        present = bytes_of(self.path)
        if present is None:
            return "Installed"
        if present.replace(b"\r\n", b"\n") == add_stamp(self.text, self.path.name):
            return ""
        if is_unedited(present):
            return "Updated"
        return "edited" if read_stamp(present) else "another's"


def plan_files(files: Iterable[OwnFile], name: Name = str) -> tuple[list[OwnFile], list[str]]:
    """The files that are to be written, and what is to be said: one sentence for all of them, and
    one for each that is left."""
    steps = [(file, step) for file in files if (step := file.step())]
    sentences = [
        f"{verb} {_list_names([name(file.path) for file in written])}."
        for verb in _WRITTEN
        if (written := [file for file, step in steps if step == verb])
    ]
    sentences += [
        f"Left {name(file.path)} as it is: it {WHY_LEFT[step]}. Remove it and run this again for "
        "ours."
        for file, step in steps
        if step in WHY_LEFT
    ]
    return [file for file, step in steps if step in _WRITTEN], sentences


def plan_removal(paths: Iterable[Path], name: Name = str) -> tuple[list[Path], list[str]]:
    """Which of these files are as we wrote them, and go; sentences on them, and on edited ones."""
    files = [path for path in paths if not path.is_symlink()]
    present = {path: data for path in files if (data := bytes_of(path)) is not None}
    ours = [path for path, data in present.items() if is_unedited(data)]
    sentences = [f"Removed {_list_names([*map(name, ours)])}."] if ours else []
    return ours, sentences + [
        f"Left {name(path)} where it is: it was edited."
        for path, data in present.items()
        if path not in ours and read_stamp(data)
    ]


def _list_names(names: Sequence[str]) -> str:
    """The names of files; of several, the folder that they share is named once."""
    if len(names) == 1:
        return names[0]
    folder = os.path.commonpath(names)
    return f"in {folder}: {', '.join(os.path.relpath(name, folder) for name in names)}"


@dataclass(slots=True)
class WiringRecord:
    """What was done, file by file, and the folders and files that were not there before. `file`
    holds it on the disk; a project's is not kept."""

    file: Path | None
    written: dict[str, ConfigEdit] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)

    def paths(self) -> list[Path]:
        """What was changed or was not there before."""
        return [Path(name) for name in (*self.written, *self.made)]

    def has_all(self, wiring: Wiring) -> bool:
        """Whether each configuration of a wiring was changed."""
        return all(str(each.path) in self.written for each in wiring.configurations)

    def launchers(self) -> list[Path]:
        """The launchers that were written, wherever the person's settings lay."""
        return [path for path in self.paths() if path.match(f"mdmemory/{launcher.NAME}")]

    def note_missing(self, paths: Iterable[Path]) -> None:
        """Note which of these files, and of the folders above them, are not there yet."""
        files = filter(None, [*paths, self.file])
        every = {each for path in files for each in (path, *path.parents)}
        missing = {str(each) for each in every if not os.path.lexists(each)}
        self.made = sorted({*self.made, *missing})

    def save(self) -> None:
        """Write the record. Raises Unwritable."""
        if self.file is None:
            return
        data = {
            "home": str(Path.home()),
            "written": {
                name: dict(each._asdict(), values=dict(each.values))
                for name, each in self.written.items()
            },
            "made": self.made,
        }
        with name_refusals(self.file.parent):
            self.file.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
        write_atomic(self.file, text.encode("utf-8"), mode=0o600)
        self.file.with_name(_OF_OPENCODE).unlink(missing_ok=True)

    def drop_empty_folders(self) -> None:
        """Remove the folders that were made and hold nothing, and forget all that is gone."""
        drop_empty(map(Path, self.made))
        self.made = [name for name in self.made if os.path.lexists(name)]

    def drop(self) -> None:
        """Remove the record itself, and what it then leaves empty."""
        if self.file is not None:
            for name in (self.file.name, _OF_OPENCODE):
                self.file.with_name(name).unlink(missing_ok=True)
        self.drop_empty_folders()


def read_record(environment: Mapping[str, str]) -> WiringRecord:
    """The record of all clients; an empty one where it is lost or was not written by us."""
    file = person.state_folder(environment) / "wiring.json"
    record = WiringRecord(file)
    try:
        data = json.loads(read_if_there(file) or b"{}")
        here = partial(person.in_this_home, home=str(data.get("home", "")))
        written = {here(name): _as_edit(each) for name, each in data["written"].items()}
        record = WiringRecord(file, written, [here(str(name)) for name in data["made"]])
    except (ValueError, LookupError, TypeError, AttributeError, MdmemoryError):
        pass  # it is lost, or was not written by us
    with suppress(ValueError, TypeError, MdmemoryError):
        older = json.loads(read_if_there(file.with_name(_OF_OPENCODE)) or b"[]")
        record.made += [name for name in older if name not in record.made]
    return record


def _as_edit(data: dict[str, Any]) -> ConfigEdit:
    splices = [(int(at), str(put), str(old)) for at, put, old in data["splices"]]
    made = [[str(key) for key in box] for box in data["made"]]
    return ConfigEdit(str(data["digest"]), splices, dict(data["values"]), made)


@dataclass(frozen=True, slots=True)
class Configuration:
    """A file of the person's, and our entries in it. `mode` is for one that is not there yet."""

    path: Path
    entries: Sequence[ConfigEntry]
    mode: int = 0o644

    @property
    def is_toml(self) -> bool:
        return self.path.suffix == ".toml"

    def find(self, text: str | None, entry: ConfigEntry) -> object:
        """What stands in the place of an entry. Raises MdmemoryError for a text that is not
        valid."""
        with name_file(self.path):
            return entries.find(text or "", entry, is_toml=self.is_toml)

    def without_ours(self, text: str | None, record: WiringRecord) -> str:
        """The text without our entries."""
        known = record.written.get(str(self.path))
        with name_file(self.path):
            return entries.drop_entries(text or "", self.entries, known, is_toml=self.is_toml)

    def states(self, text: str | None, record: WiringRecord) -> dict[str, str]:
        """By the name of each entry: "" where it is as it should be, else missing, old, edited or
        another's."""
        written = record.written.get(str(self.path), ConfigEdit()).values
        states = {}
        for entry in self.entries:
            present = self.find(text, entry)
            if present is None:
                states[entry.name] = "missing"
            elif _says_ours(present, entry.value):
                states[entry.name] = ""
            elif entry.name in written and _says_ours(present, written[entry.name]):
                states[entry.name] = "old"
            else:
                states[entry.name] = "edited" if entries.is_ours(present) else "another's"
        return states


@dataclass(frozen=True, slots=True)
class Wiring:
    """All that wires one client. `unwanted` are files of ours that are to go, `remarks` what is to
    be told beside, and `name` is how messages name a file of ours."""

    configurations: Sequence[Configuration]
    own: Sequence[OwnFile] = ()
    unwanted: Sequence[Path] = ()
    remarks: Sequence[str] = ()
    name: Name = str

    def paths(self) -> list[Path]:
        """All files that it may change."""
        changed = [each.path for each in self.configurations]
        return [*changed, *(file.path for file in self.own), *self.unwanted]


def install_wiring(wiring: Wiring, record: WiringRecord, *, dry_run: bool = False) -> list[str]:
    """Put in what is missing or outdated; a sentence on each changed file, [] when all is there.

    Raises MdmemoryError for a file that is not valid, and for links, before anything is written.
    """
    changed: list[Configuration] = []
    sentences: list[str] = []
    for each in wiring.configurations:
        text = read(each.path)
        after, of_file = _with_ours(each, text, record)
        changed += [each] if after != text else []
        sentences += of_file
    fresh, of_own = plan_files(wiring.own, wiring.name)
    gone, of_gone = plan_removal(wiring.unwanted, wiring.name)
    sentences += [*of_own, *wiring.remarks, *of_gone]
    paths = [each.path for each in changed] + [file.path for file in fresh]
    refuse_read_only(paths)
    launcher.refuse_no_folders(paths)
    if dry_run or not (paths or gone):
        return sentences
    record.note_missing(paths)
    for configuration in changed:
        _write(configuration, record)
    _drop_files(gone, record)
    record.save()
    for file in fresh:  # what was there gives its permissions
        replace_file(file.path, add_stamp(file.text, file.path.name), 0o644)
    return sentences


def remove_wiring(wiring: Wiring, record: WiringRecord, *, dry_run: bool = False) -> list[str]:
    """Take out exactly what is ours; a sentence on each file, [] when nothing of ours is there.

    The record is left to be saved. Raises MdmemoryError as `install_wiring` does."""
    texts = [(each, read(each.path)) for each in wiring.configurations]
    plan = [(each, text, each.without_ours(text, record)) for each, text in texts]
    changed = [(each, after) for each, text, after in plan if text is not None and after != text]
    refuse_read_only([each.path for each, _ in changed])
    gone, of_own = plan_removal([*(own.path for own in wiring.own), *wiring.unwanted], wiring.name)
    sentences: list[str] = []
    for each, after in changed:
        sentences.append(f"Took our entries out of {each.path}.")
        is_empty = not after.strip() if each.is_toml else entries.says_nothing(after)
        if is_empty and str(each.path) in record.made:
            gone.append(each.path)
            sentences[-1] = f"Removed {each.path}, which held only our entries."
        elif not dry_run:
            _write(each, record, is_removal=True)
    if not dry_run:
        _drop_files(gone, record)
        for each in wiring.configurations:
            record.written.pop(str(each.path), None)
    return sentences + of_own


def _drop_files(paths: Sequence[Path], record: WiringRecord) -> None:
    """Remove files, and the folders of ours that this leaves empty."""
    for path in paths:
        path.unlink(missing_ok=True)
    if paths:
        record.drop_empty_folders()


def is_wired(wiring: Wiring) -> bool:
    """Whether anything of ours is in the client's files. Raises MdmemoryError for an invalid
    one."""
    own = (bytes_of(file.path) for file in wiring.own)
    return any(data is not None and is_unedited(data) for data in own) or any(
        entries.is_ours(each.find(text, entry))
        for each in wiring.configurations
        for text in [read(each.path)]
        for entry in each.entries
    )


def wiring_findings(wiring: Wiring, record: WiringRecord, again: str) -> Iterator[str]:
    """What is missing, old or edited in a wiring, a sentence each; `again` is the next step."""
    for each in wiring.configurations:
        try:
            states = each.states(read(each.path), record)
        except MdmemoryError as problem:
            yield problem.message
            continue
        for state, what in _FOUND.items():
            names = [name for name, its in states.items() if its == state]
            if names:
                yield f"{each.path}: {', '.join(names)} {what}. {again}"
    for file in wiring.own:
        data = bytes_of(file.path)
        if data is None:
            yield f"{file.path} is missing. {again}"
        elif not read_stamp(data):
            continue  # a command of the person's own by the same name
        elif wrong := explain_outdated(data, file.path, again):
            yield wrong


_FOUND = {
    "missing": "is not there",
    "old": "is of another version of mdmemory",
    "edited": "was edited, so it is not kept up to date; remove it for ours",
    "another's": "is not ours, and brings the memory a second time; remove it for ours",
}


def _says_ours(present: object, value: object) -> bool:
    """Whether a value is ours, with what a client put into it beside: Codex notes there which tools
    the person allows for good."""
    if isinstance(present, dict) and isinstance(value, dict):
        return {key: present.get(key) for key in value} == value
    return present == value


def _with_ours(
    each: Configuration, text: str | None, record: WiringRecord
) -> tuple[str | None, list[str]]:
    """The text as it should be, and sentences on the difference."""
    states = each.states(text, record)
    words = {"missing": "Added to", "old": "Updated in"}
    sentences = [
        f"{verb} {each.path}: {', '.join(names)}."
        for state, verb in words.items()
        if (names := [name for name, its in states.items() if its == state])
    ]
    sentences += [
        f"Left {name} in {each.path} as it is: it {WHY_LEFT[its]}. Remove it and run this again."
        for name, its in states.items()
        if its in WHY_LEFT
    ]
    if not {"missing", "old"} & {*states.values()}:
        return text, sentences
    return _add_entries(each, text, states, record)[0], sentences


def _add_entries(
    each: Configuration, text: str | None, states: dict[str, str], record: WiringRecord
) -> tuple[str, ConfigEdit]:
    """The text with our entries, put anew into the text without them, and what was done."""
    known = record.written.get(str(each.path))
    free = [entry for entry in each.entries if states[entry.name] not in WHY_LEFT]
    with name_file(each.path):
        if len(free) == len(each.entries):
            # without a record only what starts our launcher is known to be ours
            sure = free if known else [entry for entry in free if entries.is_ours(entry.value)]
            base = entries.drop_entries(text or "", sure, known, is_toml=each.is_toml)
            return entries.add(base, free, is_toml=each.is_toml)
        # what a person made of ours stays where it is, so the rest is not moved either
        old = [entry for entry in free if states[entry.name] == "old"]
        base = entries.drop_entries(text or "", old, None, is_toml=each.is_toml)
        return entries.add(base, free, is_toml=each.is_toml, known=known)


def _write(each: Configuration, record: WiringRecord, *, is_removal: bool = False) -> None:
    """Write a file with our entries or without, from what it holds now."""
    for _ in range(_TRIES):
        text = read(each.path)
        if is_removal and text is None:
            return
        if is_removal:
            after = each.without_ours(text, record)
        else:
            after, written = _add_entries(each, text, each.states(text, record), record)
            # before the file: a record of what is not there does no harm
            updated = replace(record, written={**record.written, str(each.path): written})
            updated.save()
        if read(each.path) != text:
            continue
        if after != text:
            replace_file(each.path, after.encode(), each.mode)
        if not is_removal:
            record.written = updated.written
        return
    raise MdmemoryError(
        f"{each.path} is written by another program all the time.",
        "End the assistant that writes it and run this again.",
    )
