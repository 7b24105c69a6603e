"""The conflict ledger `_CONFLICTS.md`: pairs of notes that contradict, one line each.

Pure text in, text out. A line that cannot be read is kept; only a person's tick clears an entry.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote_from_bytes, unquote_to_bytes

from mdmemory.store.store import StoredNote

HEADER = """\
<!-- conflict ledger of mdmemory: notes that contradict each other -->
# Conflicts
> Both notes of a line stay as they are until you decide: `mdmemory review` shows both texts and \
takes your answer. A ticked box means "looked at: keep both".

"""
IN_CONFLICT = "in conflict"  # the status of a note in an open entry
MAX_WHY = 300  # characters

_LINE = (
    r"\s*[-*+] \[(?P<box>[ xX])\] (?P<id>c-[0-9a-f]{8}) "
    r"\[[^\]]*\]\((?P<one>[^()\s]+)\) × \[[^\]]*\]\((?P<other>[^()\s]+)\) — (?P<why>.*)"
    r" · since (?P<since>\d{4}-\d\d-\d\d)"
    r" · (?P<left>[0-9a-f]{12})…?/(?P<right>[0-9a-f]{12})…?\s*"
)


class Entry(NamedTuple):
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
    return _settle_entries(entry for entry in map(_parse_entry, text.split("\n")) if entry)


def open_entries(text: str, superseded: Container[str] = ()) -> list[Entry]:
    """The entries that wait for a person, one for each id: the latest. A pair with one of the
    `superseded` files waits for nobody while that file is superseded."""
    latest: dict[str, Entry] = {}
    for entry in parse(text):
        if any(file in superseded for file in entry.files):
            continue
        if not entry.cleared and entry.since >= latest.get(entry.id, entry).since:
            latest[entry.id] = entry
    return list(latest.values())


def add(text: str, pairs: Sequence[tuple[StoredNote, StoredNote, str]], today: str) -> str:
    """The ledger with these pairs and why they contradict; the same text when all are known.

    A known pair is written anew only when one of its notes changed since.
    """
    ledger = Ledger(text)
    ledger.add(pairs, today)
    return ledger.text()


class Ledger:
    """A ledger that grows: each line is read once, however many pairs are added one by one."""

    def __init__(self, text: str) -> None:
        self._lines: dict[int, str] = {}  # by number, in their order
        self._entries: dict[str, dict[int, Entry]] = defaultdict(dict)  # by id and line
        self._extend_entries(text.split("\n"))

    def add(self, pairs: Iterable[tuple[StoredNote, StoredNote, str]], today: str) -> bool:
        """Write these pairs and why they contradict; whether any was not known already."""
        is_new = False
        for one, other, why in pairs:
            first, second = sorted((one, other), key=lambda note: note.file)
            digests = (_short_digest(first.digest), _short_digest(second.digest))
            files, id = (first.file, second.file), entry_id(first.file, second.file)
            # folded to one line without control, bidi or tag characters, and cut
            words = "".join(" " if unicodedata.category(c)[0] == "C" else c for c in why).split()
            line = " ".join(words) or "no reason was given"
            line = line if len(line) <= MAX_WHY else line[: MAX_WHY - 1] + "…"
            is_new |= self._add(Entry(id, files, line, today, digests, False))
        return is_new

    def text(self) -> str:
        """The ledger as it stands now."""
        return "\n".join(self._lines.values())

    def _add(self, entry: Entry) -> bool:
        there = _settle_entries(self._entries[entry.id].values())
        known = any(old.files == entry.files and old.digests == entry.digests for old in there)
        if known or entry.files[0] == entry.files[1]:
            return False
        if waiting := [old.since for old in there if not old.cleared]:
            entry = entry._replace(since=min(waiting))
        # its notes changed, and it is flagged anew: its lines go
        for at in self._entries.pop(entry.id, ()):
            del self._lines[at]
        if len(self._lines) < 2 and not any(self._lines.values()):
            self._lines.clear()
            self._extend_entries(HEADER.split("\n"))
        last = next(reversed(self._lines))
        if self._lines[last] == "":
            del self._lines[last]
        self._extend_entries([_entry_line(entry), ""])
        return True

    def _extend_entries(self, lines: Sequence[str]) -> None:
        for at, line in enumerate(lines, next(reversed(self._lines), -1) + 1):
            self._lines[at] = line
            if entry := _parse_entry(line):
                self._entries[entry.id][at] = entry


def clear_entry(text: str, entry: str) -> str:
    """The ledger with every line of the id `entry` ticked."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        listed = _parse_entry(line)
        if listed and listed.id == entry:
            lines[at] = line.replace("[ ]", "[x]", 1)
    return "\n".join(lines)


def take_back(text: str, left: str, former: str) -> str | None:
    """The ledger `text` without one change, which made `left` of `former`; what other changes made
    of other lines stays. None where a line of that change was changed since."""
    before, after = former.split("\n"), left.split("\n")
    added = [line for line in after if _parse_entry(line) and line not in before]
    removed = [line for line in before if _parse_entry(line) and line not in after]
    lines = text.split("\n")
    if not all(line in lines for line in added):
        return None
    place = min(map(lines.index, added), default=len(lines) - 1)
    rest = [line for line in lines if line not in added]
    return "\n".join([*rest[:place], *removed, *rest[place:]])


def move_entries(text: str, changes: Iterable[tuple[StoredNote, StoredNote]]) -> str:
    """The ledger after notes got another file or other links: (before, now) of each.

    What was flagged or cleared of these notes, with the contents they had, holds for those of now.
    """
    now = {}
    for old, new in changes:
        now[old.file] = (_short_digest(old.digest), new.file, _short_digest(new.digest))
    lines = text.split("\n")
    for at, line in enumerate(lines):
        entry = _parse_entry(line)
        if entry is None or now.keys().isdisjoint(entry.files):
            continue
        sides = []
        for file, shown in zip(entry.files, entry.digests, strict=True):
            was, after, digest = now.get(file, ("", file, shown))
            sides.append((after, digest if shown == was else shown))
        one, other = sorted(sides)
        files, digests = (one[0], other[0]), (one[1], other[1])
        moved = entry._replace(id=entry_id(*files), files=files, digests=digests)
        lines[at] = _entry_line(moved)
    return "\n".join(lines)


def is_known(entries: Iterable[Entry], one: StoredNote, other: StoredNote) -> bool:
    """Whether this pair, with these very contents, is in the ledger, open or cleared."""
    digests = {note.file: note.digest for note in (one, other)}
    files = tuple(sorted(digests))
    return any(entry.files == files and not is_stale(entry, digests) for entry in entries)


def is_stale(entry: Entry, digests: Mapping[str, str]) -> bool:
    """Whether a note of the entry changed or is gone, by the digests of the files there are."""
    return any(
        file not in digests or _short_digest(digests[file]) != shown
        for file, shown in zip(entry.files, entry.digests, strict=True)
    )


@lru_cache(maxsize=2_000)  # a process that lives on reads the same lines with each question
def _parse_entry(line: str) -> Entry | None:
    match = re.fullmatch(_LINE, line)
    if not match:
        return None
    one, other = _target_file(match["one"]), _target_file(match["other"])
    if (one, other) != tuple(sorted((one, other))) or match["id"] != entry_id(one, other):
        return None  # edited by hand into something else: kept, but not ours to read
    return Entry(
        match["id"],
        (one, other),
        re.sub(r"\\(.)", r"\1", match["why"]),
        match["since"],
        (match["left"], match["right"]),
        match["box"] != " ",
    )


def _settle_entries(entries: Iterable[Entry]) -> list[Entry]:
    """These entries, in their order, each cleared if any line clears it."""
    settled = list(entries)
    ticked: dict[str, list[Entry]] = defaultdict(list)
    for entry in settled:
        if entry.cleared:
            ticked[entry.id].append(entry)
    return [
        entry._replace(cleared=entry.cleared or any(
            other.digests == entry.digests or other.since >= entry.since
            for other in ticked.get(entry.id, ())
        ))
        for entry in settled
    ]  # fmt: skip


def _short_digest(digest: str) -> str:
    return digest[:12] or "0" * 12  # a file that cannot be read has no digest


def _entry_line(entry: Entry) -> str:
    to = _link_target
    one, other = (f"[{to(file.removesuffix('.md'))}]({to(file)})" for file in entry.files)
    why = re.sub(r"[\\<>\[\]`*_]", r"\\\g<0>", entry.why)
    box = "x" if entry.cleared else " "
    digests = "/".join(entry.digests)
    return f"- [{box}] {entry.id} {one} × {other} — {why} · since {entry.since} · {digests}"


def _link_target(file: str) -> str:
    """A file name as a link target: letters, digits, - _ . ~ as they are, the rest encoded."""

    def encode(char: re.Match[str]) -> str:
        return quote_from_bytes(char[0].encode("utf-8", "surrogateescape"), safe="")

    return re.sub(r"[^\w.~-]", encode, file)


def _target_file(target: str) -> str:
    return unquote_to_bytes(target.encode("utf-8", "replace")).decode("utf-8", "surrogateescape")
