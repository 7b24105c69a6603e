"""What a client of ours is wired by: entries in a person's files, and files of our own.

All is read and checked before the first byte is written. Where a program rewrites a file meanwhile,
the entries are put into what it wrote. The record of what was done lies with our logs, and holds no
text of the person's but the white space that ours replaced.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mdmemory.config.writing import TomlError
from mdmemory.errors import MdmemoryError
from mdmemory.hosts import entries, jsonc, launcher, settings_files, wiring_record
from mdmemory.hosts.entries import ConfigEdit, ConfigEntry
from mdmemory.hosts.wiring_record import WiringRecord
from mdmemory.note.stamps import add_stamp, explain_outdated, is_unedited, read_stamp

_TRIES = 5  # to write a file that another program writes at the same time


@dataclass(frozen=True, slots=True)
class Configuration:
    """A file of the person's, and our entries in it. `mode` is for one that is not there yet."""

    path: Path
    entries: Sequence[ConfigEntry]
    mode: int = 0o644

    @property
    def is_toml(self) -> bool:
        return self.path.suffix == ".toml"


@dataclass(frozen=True, slots=True)
class Own:
    """A file of ours, with our stamp; an edited one is the person's, and stays."""

    path: Path
    text: str

    @property
    def bytes(self) -> bytes:
        return add_stamp(self.text, self.path.name)


@dataclass(frozen=True, slots=True)
class Wiring:
    """All that wires one client, the launcher that it starts, and the file in which we keep what
    was done."""

    configurations: Sequence[Configuration]
    own: Sequence[Own]
    launcher: Path
    record: Path


def of(
    environment: Mapping[str, str], configurations: Sequence[Configuration], own: Sequence[Own] = ()
) -> Wiring:
    """The wiring of a client by these files."""
    return Wiring(
        configurations, own, launcher.place(environment), wiring_record.place(environment)
    )


def elsewhere(wiring: Wiring) -> list[Path]:
    """The files in other places than the wiring's that have the same entries, by the record."""
    written = wiring_record.read(wiring.record).written
    return [
        Path(name) for each in wiring.configurations for name, edit in written.items()
        if Path(name).name == each.path.name and Path(name) != each.path
        and any(edit.values.get(entry.name) == entry.value for entry in each.entries)
    ]  # fmt: skip


def made_folders(environment: Mapping[str, str]) -> frozenset[Path]:
    """The folders that were not there before any `install`."""
    return frozenset(_folders(wiring_record.read(wiring_record.place(environment)).made))


def drop_folders(made: Collection[Path]) -> None:
    """Remove those of the folders that hold nothing."""
    for folder in sorted(made, key=lambda each: len(each.parts), reverse=True):
        if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
            folder.rmdir()


def install(wiring: Wiring, *, dry_run: bool = False) -> list[str]:
    """Put in what is missing or outdated; a sentence on each changed file, [] when all is there.

    Raises MdmemoryError for a file that is not valid, and for links, before anything is written.
    """
    record = wiring_record.read(wiring.record)
    texts = [
        (each, *_with_ours(each, settings_files.read(each.path), record))
        for each in wiring.configurations
    ]
    said = [sentence for *_, sentences in texts for sentence in sentences]
    fresh = [own for own in wiring.own if _step(own) in ("Installed", "Updated")]
    said += _own_sentences(wiring.own)
    changed = [each for each, before, after, *_ in texts if after != before]
    paths = [each.path for each in changed] + [own.path for own in fresh]
    settings_files.refuse_read_only(paths)
    if dry_run or not paths:
        return said
    record.made = sorted(
        {*record.made, *map(str, _missing([wiring.record, wiring.launcher, *paths]))}
    )
    for configuration in changed:
        _write(configuration, record, wiring.record)
    wiring_record.keep(wiring.record, record)
    for own in fresh:
        settings_files.replace(own.path, own.bytes, 0o644)
    return said


def remove(wiring: Wiring, *, dry_run: bool = False) -> list[str]:
    """Take out exactly what is ours; a sentence on each file, [] when nothing of ours is there.

    Raises MdmemoryError as `install` does.
    """
    record = wiring_record.read(wiring.record)
    texts = [(each, settings_files.read(each.path)) for each in wiring.configurations]
    plan = [(each, text, _without_ours(each, text, record)) for each, text in texts]
    changed = [(each, after) for each, text, after in plan if text is not None and after != text]
    settings_files.refuse_read_only([each.path for each, _ in changed])
    said: list[str] = []
    gone: list[Path] = []
    for each, after in changed:
        said.append(f"Took our entries out of {each.path}.")
        if _is_husk(each, after, record):
            gone.append(each.path)
            said[-1] = f"Removed {each.path}, which held only our entries."
        elif not dry_run:
            _write(each, record, wiring.record, is_removal=True)
    present = {own.path: settings_files.bytes_of(own.path) for own in wiring.own}
    ours = [path for path, data in present.items() if data is not None and is_unedited(data)]
    said += [f"Removed {_listed(ours)}."] if ours else []
    said += [
        f"Left {path} where it is: it was edited."
        for path, data in present.items()
        if data is not None and path not in ours and read_stamp(data)
    ]
    gone += ours
    if not dry_run:
        _forget(wiring, record, gone)
    return said


def is_wired(wiring: Wiring) -> bool:
    """Whether anything of ours is in the client's files. An invalid file has nothing."""
    try:
        return any(settings_files.bytes_of(own.path) is not None for own in wiring.own) or any(
            _is_there(each) for each in wiring.configurations
        )
    except MdmemoryError:
        return False


def findings(wiring: Wiring, again: str) -> Iterator[str]:
    """What is missing, old or edited in a wiring, a sentence each; `again` is the next step."""
    record = wiring_record.read(wiring.record)
    for each in wiring.configurations:
        try:
            text = settings_files.read(each.path)
            states = {entry.name: _state(each, text, entry, record) for entry in each.entries}
        except MdmemoryError as problem:
            yield problem.message
            continue
        for state, what in _FOUND.items():
            names = [name for name, its in states.items() if its == state]
            if names:
                yield f"{each.path}: {', '.join(names)} {what}. {again}"
    for own in wiring.own:
        present = settings_files.bytes_of(own.path)
        if present is None:
            yield f"{own.path} is missing. {again}"
        elif not read_stamp(present):
            continue  # a command of the person's own by the same name
        elif wrong := explain_outdated(present, own.path, again):
            yield wrong


_FOUND = {
    "missing": "is not there",
    "old": "is of another version of mdmemory",
    "edited": "was edited, so it is not kept up to date; remove it for ours",
    "another's": "is not ours, and brings the memory a second time; remove it for ours",
}


# --- the entries of one file


def _state(each: Configuration, text: str | None, entry: ConfigEntry, record: WiringRecord) -> str:
    """ "" where an entry is as it should be, else missing, old, edited or another's."""
    present = _find(each, text, entry)
    if present is None:
        return "missing"
    if _says(present, entry.value):
        return ""
    known = record.written.get(str(each.path))
    if known and entry.name in known.values and _says(present, known.values[entry.name]):
        return "old"
    return "edited" if entries.is_ours(present) else "another's"


def _says(present: object, value: object) -> bool:
    """Whether a value is ours, with what a client put into it beside: Codex notes there which tools
    the person allows for good."""
    if isinstance(present, dict) and isinstance(value, dict):
        return {key: present.get(key) for key in value} == value
    return present == value


def _find(each: Configuration, text: str | None, entry: ConfigEntry) -> object:
    try:
        return entries.find(text or "", entry, is_toml=each.is_toml)
    except (jsonc.JsoncError, TomlError) as problem:
        raise settings_files.invalid(each.path, problem) from problem


def _is_there(each: Configuration) -> bool:
    text = settings_files.read(each.path)
    return any(entries.is_ours(_find(each, text, entry)) for entry in each.entries)


def _with_ours(
    each: Configuration, text: str | None, record: WiringRecord
) -> tuple[str | None, str | None, list[str]]:
    """The text as it is, as it should be, and sentences on the difference."""
    states = {entry.name: _state(each, text, entry, record) for entry in each.entries}
    words = {"missing": "Added to", "old": "Updated in"}
    sentences = [
        f"{verb} {each.path}: {', '.join(names)}."
        for state, verb in words.items()
        if (names := [name for name, its in states.items() if its == state])
    ]
    sentences += [
        f"Left {name} in {each.path} as it is: it {_LEFT[its]}. Remove it and run this again."
        for name, its in states.items()
        if its in _LEFT
    ]
    if not {"missing", "old"} & {*states.values()}:
        return text, text, sentences
    after, _ = _added(each, text, states, record)
    return text, after, sentences


_LEFT = {"edited": "was edited", "another's": "is not ours"}


def _added(
    each: Configuration, text: str | None, states: dict[str, str], record: WiringRecord
) -> tuple[str, ConfigEdit]:
    """The text with our entries, put anew into the text without them, and what was done."""
    known = record.written.get(str(each.path))
    free = [entry for entry in each.entries if states[entry.name] not in _LEFT]
    try:
        if len(free) == len(each.entries):
            # without a record only what starts our launcher is known to be ours
            sure = free if known else [entry for entry in free if entries.is_ours(entry.value)]
            base = entries.drop(text or "", sure, known, is_toml=each.is_toml)
            return entries.add(base, free, is_toml=each.is_toml)
        # what a person made of ours stays where it is, so the rest is not moved either
        old = [entry for entry in free if states[entry.name] == "old"]
        base = entries.drop(text or "", old, None, is_toml=each.is_toml)
        return entries.add(base, free, is_toml=each.is_toml, known=known)
    except (jsonc.JsoncError, TomlError) as problem:
        raise settings_files.invalid(each.path, problem) from problem


def _without_ours(each: Configuration, text: str | None, record: WiringRecord) -> str:
    known = record.written.get(str(each.path))
    try:
        return entries.drop(text or "", each.entries, known, is_toml=each.is_toml)
    except (jsonc.JsoncError, TomlError) as problem:
        raise settings_files.invalid(each.path, problem) from problem


def _is_husk(each: Configuration, text: str, record: WiringRecord) -> bool:
    """Whether a file that we made holds nothing any more."""
    if str(each.path) not in record.made:
        return False
    return not text.strip() if each.is_toml else entries.says_nothing(text)


# --- files


def _step(own: Own) -> str:
    """Installed, Updated, why it is left, or "" when all is in place."""
    present = settings_files.bytes_of(own.path)
    if present is None:
        return "Installed"
    if present.replace(b"\r\n", b"\n") == own.bytes:
        return ""
    if is_unedited(present):
        return "Updated"
    return "edited" if read_stamp(present) else "another's"


def _own_sentences(files: Sequence[Own]) -> list[str]:
    """What is to be done with the files of ours: one sentence for all that are written, and one
    for each that is left."""
    steps = [(own.path, step) for own in files if (step := _step(own))]
    sentences = [
        f"{verb} {_listed(paths)}."
        for verb in ("Installed", "Updated")
        if (paths := [path for path, step in steps if step == verb])
    ]
    return sentences + [
        f"Left {path} as it is: it {_LEFT[step]}. Remove it and run this again for ours."
        for path, step in steps
        if step in _LEFT
    ]


def _listed(paths: Sequence[Path]) -> str:
    """The paths of files; of several, the folder that they share is named once."""
    if len(paths) == 1:
        return str(paths[0])
    folder = os.path.commonpath(paths)
    return f"in {folder}: {', '.join(os.path.relpath(path, folder) for path in paths)}"


def _write(
    each: Configuration, record: WiringRecord, file: Path, *, is_removal: bool = False
) -> None:
    """Write a file with our entries or without, from what it holds now."""
    for _ in range(_TRIES):
        text = settings_files.read(each.path)
        if is_removal and text is None:
            return
        if is_removal:
            after = _without_ours(each, text, record)
        else:
            states = {entry.name: _state(each, text, entry, record) for entry in each.entries}
            after, written = _added(each, text, states, record)
            kept = WiringRecord({**record.written, str(each.path): written}, record.made)
            # before the file: a record of what is not there does no harm
            wiring_record.keep(file, kept)
        if settings_files.read(each.path) != text:
            continue
        if after != text:
            settings_files.replace(each.path, after.encode(), each.mode)
        if not is_removal:
            record.written = kept.written
        return
    raise MdmemoryError(
        f"{each.path} is written by another program all the time.",
        "End the assistant that writes it and run this again.",
    )


def _forget(wiring: Wiring, record: WiringRecord, gone: Sequence[Path]) -> None:
    """Remove the files in `gone`, and what is recorded of them; the record goes with the last."""
    ours = {str(each.path) for each in wiring.configurations}
    left = {name: written for name, written in record.written.items() if name not in ours}
    if left:
        made = [name for name in record.made if Path(name) not in gone]
        wiring_record.keep(wiring.record, WiringRecord(left, made))
    _drop([*gone, *([] if left else [wiring.record])], record.made)


def _missing(paths: Sequence[Path]) -> set[Path]:
    """The files that are not there yet, and the folders."""
    return {each for path in paths for each in (path, *path.parents) if not os.path.lexists(each)}


def _drop(paths: Sequence[Path], made: Collection[str]) -> None:
    """Remove files, and the folders that were made for them and hold nothing."""
    for path in paths:
        path.unlink(missing_ok=True)
    drop_folders(_folders(made))


def _folders(made: Collection[str]) -> set[Path]:
    """Those that are folders, of recorded paths."""
    return {folder for name in made for folder in Path(name).parents if str(folder) in made}
