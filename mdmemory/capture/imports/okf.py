"""Open Knowledge Format 0.2: a folder of markdown files with a top-level `type`, made of notes and
read again, byte for byte. The lines that are added say that they are ours. Pure, but for the
writing of a folder."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from mdmemory.errors import Unwritable
from mdmemory.files import as_given
from mdmemory.note import frontmatter
from mdmemory.note.note import Note, split
from mdmemory.store.index import note_line
from mdmemory.store.store import StoredNote

INDEX, LOG = "index.md", "log.md"  # reserved in each folder: they are no notes
KEYS = {"type": "okf_type", "status": "okf_status"}  # keys that say something else here
_OURS = "# mdmemory"
_EOL = r"(?:\r\n|[\r\n])"
_LINE = rf"(?:\w+: [^\r\n]*  )?{_OURS}{_EOL}"
_HEAD = re.compile(rf"---{_EOL}(?:{_LINE})+---{_EOL}")
_LINES = re.compile(rf"(\ufeff?(?:[ \t]*{_EOL})*+---[ \t]*{_EOL})(?:{_LINE})++(?!---[ \t]*{_EOL})")


def concept_text(note: Note) -> str:
    """A note with what the format asks for: a head that is YAML, with a `type` at its top."""
    text, (fences, reading) = note.text, split(note.text)
    eol = "\r\n" if "\r\n" in text else "\n"
    own = {key: reading.fields.get(name) for key, name in KEYS.items()}
    lines = "".join(
        f"{key}: {frontmatter.to_yaml('', value, quoted=True)}  {_OURS}{eol}"
        for key, value in ({"type": note.head.type} | {k: v for k, v in own.items() if v}).items()
        if isinstance(value, str)
    )
    at = fences.head if fences else 0
    for added in (f"{_OURS}{eol}", lines):
        concept = text[:at] + added + text[at:]
        if _is_concept(concept) and note_text(concept) == text:
            return concept
    return f"---{eol}{lines}---{eol}{text}"


def _is_concept(text: str) -> bool:
    fences, _ = split(text)
    reading = frontmatter.read(text[fences.head : fences.closing] if fences else "")
    return not reading.problem and bool(reading.fields.get("type"))


def note_text(text: str) -> str | None:
    """The note of which `concept_text` made this; None for the text of somebody else."""
    if head := _HEAD.match(text):
        return text[head.end() :]
    if lines := _LINES.match(text):
        return lines[1] + text[lines.end() :]
    return None


def list_concepts(texts: Mapping[str, str | None]) -> list[str]:
    """Those files of a folder that are concepts: of a bundle all but its lists and logs."""
    heads = {name: split(text)[1].fields if text else {} for name, text in texts.items()}
    others = [name for name in texts if os.path.basename(name) not in (INDEX, LOG)]
    is_bundle = "okf_version" in heads.get(INDEX, {}) or (
        bool(others) and all(isinstance(heads[name].get("type"), str) for name in others)
    )
    return [name for name in texts if not is_bundle or name in others or "type" in heads[name]]


def write_bundle(folder: Path, layers: Mapping[str, Sequence[StoredNote]]) -> None:
    """Write the notes of each layer below a prefix, with a list of them. Raises Unwritable."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise Unwritable(f"{folder} is not empty.", "Name a new folder.")
        for prefix, notes in layers.items():
            place = folder / prefix
            place.mkdir(exist_ok=True)
            rows = ["" if prefix else '---\nokf_version: "0.2"\n---\n']
            for type in dict.fromkeys(stored.note.head.type for stored in notes):
                rows.append(f"# {type}\n")
                rows += [
                    note_line(stored.note.head) for stored in notes if stored.note.head.type == type
                ]
                rows.append("")
            (place / INDEX).write_text("\n".join(rows).lstrip("\n"), "utf-8")
            for stored in notes:
                name = f"note-{stored.file}" if stored.file in (INDEX, LOG) else stored.file
                data = concept_text(stored.note).encode("utf-8")
                (place / as_given(name)).write_bytes(data)
    except OSError as problem:
        message = f"{folder} cannot be written ({problem.strerror})."
        raise Unwritable(message, "Name another folder.") from problem
