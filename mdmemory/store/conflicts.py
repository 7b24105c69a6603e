"""The conflict ledger `_CONFLICTS.md`: pairs of notes that contradict, one line each.

Pure text in, text out. A line that cannot be read is kept; only a person's tick clears an entry.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote_from_bytes, unquote_to_bytes

from mdmemory.store.store import StoredNote

HEADER = """\
<!-- conflict ledger of mdmemory: notes that contradict each other -->
# Conflicts
> Both notes of a line stay as they are until you decide: tick its box, or run \
`mdmemory conflicts resolve ID`.

"""
MAX_WHY = 300  # characters

_LINE = re.compile(
    r"\s*[-*+] \[(?P<box>[ xX])\] (?P<id>c-[0-9a-f]{8}) "
    r"\[[^\]]*\]\((?P<one>[^()\s]+)\) × \[[^\]]*\]\((?P<other>[^()\s]+)\) — (?P<why>.*)"
    r" · since (?P<since>\d{4}-\d\d-\d\d)"
    r" · (?P<left>[0-9a-f]{12})…?/(?P<right>[0-9a-f]{12})…?\s*"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """Two files in sorted order, what they differ in, and the first 12 hex of their digests."""

    id: str
    files: tuple[str, str]
    why: str
    since: str
    digests: tuple[str, str]
    cleared: bool


def entry_id(one: str, other: str) -> str:
    """The id of a pair of files, in either order."""
    pair = "\n".join(sorted((one, other)))
    return "c-" + hashlib.sha256(pair.encode("utf-8", "surrogateescape")).hexdigest()[:8]


def parse(text: str) -> list[Entry]:
    """Every entry, one per line and in their order; other lines are passed over.

    An id that is ticked on any line is cleared on all, so that a union merge cannot bring it back;
    except on a line that was flagged later, of other contents.
    """
    found = [entry for entry in map(_entry, text.split("\n")) if entry]
    ticked = [entry for entry in found if entry.cleared]
    return [replace(entry, cleared=_is_cleared(entry, ticked)) for entry in found]


def open_entries(text: str) -> list[Entry]:
    """The entries that wait for a person, one for each id: the latest."""
    latest: dict[str, Entry] = {}
    for entry in parse(text):
        if not entry.cleared and entry.since >= latest.get(entry.id, entry).since:
            latest[entry.id] = entry
    return list(latest.values())


def add(text: str, pairs: Sequence[tuple[StoredNote, StoredNote, str]], today: str) -> str:
    """The ledger with these pairs and why they contradict; the same text when all are known.

    A known pair is written anew only when one of its notes changed since.
    """
    for one, other, why in pairs:
        entry = _fresh(one, other, why, today)
        entries = parse(text)
        if one.file == other.file or known(entries, one, other):
            continue
        waiting = [old for old in entries if old.id == entry.id and not old.cleared]
        if waiting:
            entry = replace(entry, since=min(old.since for old in waiting))
        text = _without(text, entry.id) or HEADER
        text += ("" if text.endswith("\n") else "\n") + _line(entry) + "\n"
    return text


def clear(text: str, entry: str) -> str:
    """The ledger with every line of the id `entry` ticked."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        found = _entry(line)
        if found and found.id == entry:
            lines[at] = line.replace("[ ]", "[x]", 1)
    return "\n".join(lines)


def known(entries: Iterable[Entry], one: StoredNote, other: StoredNote) -> bool:
    """Whether this pair, with these very contents, is in the ledger, open or cleared."""
    digests = {note.file: note.digest for note in (one, other)}
    files = tuple(sorted(digests))
    return any(entry.files == files and not stale(entry, digests) for entry in entries)


def stale(entry: Entry, digests: Mapping[str, str]) -> bool:
    """Whether a note of the entry changed or is gone, by the digests of the files there are."""
    return any(
        file not in digests or _short(digests[file]) != shown
        for file, shown in zip(entry.files, entry.digests, strict=True)
    )


def _entry(line: str) -> Entry | None:
    found = _LINE.fullmatch(line)
    if not found:
        return None
    one, other = _file(found["one"]), _file(found["other"])
    if (one, other) != tuple(sorted((one, other))) or found["id"] != entry_id(one, other):
        return None  # edited by hand into something else: kept, but not ours to read
    return Entry(
        found["id"],
        (one, other),
        re.sub(r"\\(.)", r"\1", found["why"]),
        found["since"],
        (found["left"], found["right"]),
        found["box"] != " ",
    )


def _is_cleared(entry: Entry, ticked: Iterable[Entry]) -> bool:
    return any(
        other.id == entry.id and (other.digests == entry.digests or other.since >= entry.since)
        for other in ticked
    )


def _fresh(one: StoredNote, other: StoredNote, why: str, today: str) -> Entry:
    first, second = sorted((one, other), key=lambda note: note.file)
    return Entry(
        entry_id(first.file, second.file),
        (first.file, second.file),
        _one_line(why),
        today,
        (_short(first.digest), _short(second.digest)),
        False,
    )


def _short(digest: str) -> str:
    return digest[:12] or "0" * 12  # a file that cannot be read has no digest


def _without(text: str, entry: str) -> str:
    """The ledger without the lines of an id: its notes changed, and it is flagged anew."""
    lines = text.split("\n")
    return "\n".join(line for line in lines if (found := _entry(line)) is None or found.id != entry)


def _line(entry: Entry) -> str:
    one, other = (f"[{_target(file.removesuffix('.md'))}]({_target(file)})" for file in entry.files)
    why = re.sub(r"[\\<>\[\]`*_]", r"\\\g<0>", entry.why)
    box = "x" if entry.cleared else " "
    digests = "/".join(entry.digests)
    return f"- [{box}] {entry.id} {one} × {other} — {why} · since {entry.since} · {digests}"


def _one_line(why: str) -> str:
    """Folded to one line without control, bidi or tag characters, and cut."""
    visible = "".join(" " if unicodedata.category(char)[0] == "C" else char for char in why)
    folded = " ".join(visible.split()) or "no reason was given"
    return folded if len(folded) <= MAX_WHY else folded[: MAX_WHY - 1] + "…"


def _target(file: str) -> str:
    """A file name as a link target: letters, digits, - _ . ~ as they are, the rest encoded."""
    return re.sub(
        r"[^\w.~-]",
        lambda char: quote_from_bytes(char.group().encode("utf-8", "surrogateescape"), safe=""),
        file,
    )


def _file(target: str) -> str:
    return unquote_to_bytes(target.encode("utf-8", "replace")).decode("utf-8", "surrogateescape")
