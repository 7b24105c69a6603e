"""What a client of ours is wired by: entries in a person's files, and files of our own.

All is read and checked before the first byte is written. Where a program rewrites a file meanwhile,
the entries are put into what it wrote. The record of what was done lies with our logs, and holds no
text of the person's but the white space that ours replaced.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mdmemory.errors import MdmemoryError
from mdmemory.hosts import entries, launcher, own_files, settings_files, wiring_record
from mdmemory.hosts.entries import ConfigEdit, ConfigEntry
from mdmemory.hosts.own_files import WHY_LEFT, OwnFile
from mdmemory.hosts.wiring_record import WiringRecord

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
class Wiring:
    """All that wires one client."""

    configurations: Sequence[Configuration]
    own: Sequence[OwnFile] = ()


def other_files(wiring: Wiring, environment: Mapping[str, str]) -> list[Path]:
    """The files in other places than the wiring's that have the same entries, by the record."""
    written = wiring_record.read(environment).written
    return [
        Path(name) for each in wiring.configurations for name, edit in written.items()
        if Path(name).name == each.path.name and Path(name) != each.path
        and any(edit.values.get(entry.name) == entry.value for entry in each.entries)
    ]  # fmt: skip


def install_wiring(
    wiring: Wiring, environment: Mapping[str, str], *, dry_run: bool = False
) -> list[str]:
    """Put in what is missing or outdated; a sentence on each changed file, [] when all is there.

    Raises MdmemoryError for a file that is not valid, and for links, before anything is written.
    """
    record = wiring_record.read(environment)
    texts = [
        (each, *_with_ours(each, settings_files.read(each.path), record))
        for each in wiring.configurations
    ]
    changed = [each for each, before, after, _ in texts if after != before]
    fresh, sentences = own_files.plan_files(wiring.own)
    sentences = [sentence for *_, of_file in texts for sentence in of_file] + sentences
    paths = [each.path for each in changed] + [file.path for file in fresh]
    settings_files.refuse_read_only(paths)
    settings_files.refuse_no_folders(paths)
    if dry_run or not paths:
        return sentences
    record.note_missing([launcher.launcher_place(environment), *paths])
    for configuration in changed:
        _write(configuration, record)
    record.save()
    own_files.write(fresh)
    return sentences


def remove_wiring(
    wiring: Wiring, environment: Mapping[str, str], *, dry_run: bool = False
) -> list[str]:
    """Take out exactly what is ours; a sentence on each file, [] when nothing of ours is there.

    Folders that are empty then stay, and so does the record. Raises MdmemoryError as
    `install_wiring` does."""
    record = wiring_record.read(environment)
    texts = [(each, settings_files.read(each.path)) for each in wiring.configurations]
    plan = [(each, text, _without_ours(each, text, record)) for each, text in texts]
    changed = [(each, after) for each, text, after in plan if text is not None and after != text]
    settings_files.refuse_read_only([each.path for each, _ in changed])
    gone, of_own = own_files.plan_removal(own.path for own in wiring.own)
    sentences: list[str] = []
    for each, after in changed:
        sentences.append(f"Took our entries out of {each.path}.")
        if _is_husk(each, after, record):
            gone.append(each.path)
            sentences[-1] = f"Removed {each.path}, which held only our entries."
        elif not dry_run:
            _write(each, record, is_removal=True)
    if not dry_run:
        for path in gone:
            path.unlink(missing_ok=True)
        for each in wiring.configurations:
            record.written.pop(str(each.path), None)
        if record.file.exists():
            record.save()
    return sentences + of_own


def is_wired(wiring: Wiring) -> bool:
    """Whether anything of ours is in the client's files. An invalid file has nothing."""
    try:
        return any(settings_files.bytes_of(own.path) is not None for own in wiring.own) or any(
            _is_there(each) for each in wiring.configurations
        )
    except MdmemoryError:
        return False


def wiring_findings(wiring: Wiring, environment: Mapping[str, str], again: str) -> Iterator[str]:
    """What is missing, old or edited in a wiring, a sentence each; `again` is the next step."""
    record = wiring_record.read(environment)
    for each in wiring.configurations:
        try:
            states = _entry_states(each, settings_files.read(each.path), record)
        except MdmemoryError as problem:
            yield problem.message
            continue
        for state, what in _FOUND.items():
            names = [name for name, its in states.items() if its == state]
            if names:
                yield f"{each.path}: {', '.join(names)} {what}. {again}"
    yield from own_files.file_findings(wiring.own, again)


_FOUND = {
    "missing": "is not there",
    "old": "is of another version of mdmemory",
    "edited": "was edited, so it is not kept up to date; remove it for ours",
    "another's": "is not ours, and brings the memory a second time; remove it for ours",
}


# --- the entries of one file


def _entry_states(each: Configuration, text: str | None, record: WiringRecord) -> dict[str, str]:
    """By the name of each entry: "" where it is as it should be, else missing, old, edited or
    another's."""
    return {entry.name: _entry_state(each, text, entry, record) for entry in each.entries}


def _entry_state(
    each: Configuration, text: str | None, entry: ConfigEntry, record: WiringRecord
) -> str:
    """ "" where an entry is as it should be, else missing, old, edited or another's."""
    present = _find_entry(each, text, entry)
    if present is None:
        return "missing"
    if _says_ours(present, entry.value):
        return ""
    known = record.written.get(str(each.path))
    if known and entry.name in known.values and _says_ours(present, known.values[entry.name]):
        return "old"
    return "edited" if entries.is_ours(present) else "another's"


def _says_ours(present: object, value: object) -> bool:
    """Whether a value is ours, with what a client put into it beside: Codex notes there which tools
    the person allows for good."""
    if isinstance(present, dict) and isinstance(value, dict):
        return {key: present.get(key) for key in value} == value
    return present == value


def _find_entry(each: Configuration, text: str | None, entry: ConfigEntry) -> object:
    with settings_files.name_file(each.path):
        return entries.find(text or "", entry, is_toml=each.is_toml)


def _is_there(each: Configuration) -> bool:
    text = settings_files.read(each.path)
    return any(entries.is_ours(_find_entry(each, text, entry)) for entry in each.entries)


def _with_ours(
    each: Configuration, text: str | None, record: WiringRecord
) -> tuple[str | None, str | None, list[str]]:
    """The text as it is, as it should be, and sentences on the difference."""
    states = _entry_states(each, text, record)
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
        return text, text, sentences
    after, _ = _add_entries(each, text, states, record)
    return text, after, sentences


def _add_entries(
    each: Configuration, text: str | None, states: dict[str, str], record: WiringRecord
) -> tuple[str, ConfigEdit]:
    """The text with our entries, put anew into the text without them, and what was done."""
    known = record.written.get(str(each.path))
    free = [entry for entry in each.entries if states[entry.name] not in WHY_LEFT]
    with settings_files.name_file(each.path):
        if len(free) == len(each.entries):
            # without a record only what starts our launcher is known to be ours
            sure = free if known else [entry for entry in free if entries.is_ours(entry.value)]
            base = entries.drop_entries(text or "", sure, known, is_toml=each.is_toml)
            return entries.add(base, free, is_toml=each.is_toml)
        # what a person made of ours stays where it is, so the rest is not moved either
        old = [entry for entry in free if states[entry.name] == "old"]
        base = entries.drop_entries(text or "", old, None, is_toml=each.is_toml)
        return entries.add(base, free, is_toml=each.is_toml, known=known)


def _without_ours(each: Configuration, text: str | None, record: WiringRecord) -> str:
    known = record.written.get(str(each.path))
    with settings_files.name_file(each.path):
        return entries.drop_entries(text or "", each.entries, known, is_toml=each.is_toml)


def _is_husk(each: Configuration, text: str, record: WiringRecord) -> bool:
    """Whether a file that we made holds nothing any more."""
    if str(each.path) not in record.made:
        return False
    return not text.strip() if each.is_toml else entries.says_nothing(text)


def _write(each: Configuration, record: WiringRecord, *, is_removal: bool = False) -> None:
    """Write a file with our entries or without, from what it holds now."""
    for _ in range(_TRIES):
        text = settings_files.read(each.path)
        if is_removal and text is None:
            return
        if is_removal:
            after = _without_ours(each, text, record)
        else:
            after, written = _add_entries(each, text, _entry_states(each, text, record), record)
            # before the file: a record of what is not there does no harm
            updated = replace(record, written={**record.written, str(each.path): written})
            updated.save()
        if settings_files.read(each.path) != text:
            continue
        if after != text:
            settings_files.replace_file(each.path, after.encode(), each.mode)
        if not is_removal:
            record.written = updated.written
        return
    raise MdmemoryError(
        f"{each.path} is written by another program all the time.",
        "End the assistant that writes it and run this again.",
    )
