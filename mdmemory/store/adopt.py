"""What other hands did to the notes, and how it comes into a commit.

An editor, another assistant, a copy, a pull: whatever differs from what git has is found here, and
one commit takes all of it. No byte of a note is changed by that.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from mdmemory.errors import MdmemoryError
from mdmemory.files import as_given, as_text, digest, name_refusals, read_regular
from mdmemory.git.commits_of_store import KEEP, History, Message, memory_trailers, subject
from mdmemory.git.transaction import Change, Checkpoint, Transactions
from mdmemory.note.note import SUPERSEDED, UNCLOSED, UNREADABLE, Head, headline
from mdmemory.store import conflicts
from mdmemory.store.catalog import SECRET
from mdmemory.store.refresh import Refresher
from mdmemory.store.store import INDEX, LEDGER, StoredNote, is_note_name
from mdmemory.store.strangers import WHY, sync_copies

KIND = "adopt"  # the Memory-Op of such a commit
NEW, CHANGED, GONE = "new", "changed", "gone"
UNSEEN, COPY = "unseen", "copy"
SETTLED = 30.0  # seconds that a file stays as it is before something that nobody typed commits it
FEW = 3  # notes that may go at once; of a large store a quarter may
MOST_FLAGS = 50  # lines of the ledger that one commit adds
_COPIED = "a sync tool kept both texts of one note"
_SAID = {NEW: "adopt", CHANGED: "adopt the change of", GONE: "adopt the removal of"}


class Unadopted(NamedTuple):
    """A note that is not as git has it. `change` is new, changed or gone; `why` says what keeps it
    out of a commit: held (it seems to hold a secret), order, hidden, unseen (git is told not to
    look), copy (of the index, by a sync tool), or "" for nothing."""

    file: str
    change: str
    why: str = ""


class Look(NamedTuple):
    """The store beside what git has of it: `before` counts the notes there, `now` those here."""

    found: tuple[Unadopted, ...]
    before: int
    now: int
    data: Mapping[str, bytes]  # of those that are there and may be committed

    @property
    def lost(self) -> list[str]:
        """The notes that went, where they are so many that it may be an accident."""
        gone = [each.file for each in self.found if each.change == GONE]
        is_sudden = len(gone) > max(FEW, self.before // 4) or (gone and not self.now)
        return gone if is_sudden else []


def look_at_folder(refresher: Refresher, history: History) -> Look:
    """What other hands did since the last commit. Writes nothing."""
    catalog = refresher.catalog()
    with history.objects.open():
        head = history.head()
        tree = history.objects.folder_id(head, history.prefix.rstrip("/")) if head else ""
        if tree and tree == catalog.tree and not catalog.changed:
            return Look((), len(catalog.files), len(catalog.files), {})
        known = {*catalog.files}
        ids = history.ids(head)
        there = {file: id for file, id in ids.items() if file in known or is_note_name(file)}
        data = _differing_bytes(refresher, history, there)
        if not data and there.keys() == known:
            catalog.know_tree(tree)
        left = history.kept.read_left()  # by writes of ours that no branch has yet
        ids = {file: history.blob_id(data[file]) for file in left if file in data}
        waits = {f for f, blob in left.items() if ids.get(f) == (blob.id if blob else None)}
        data = {file: each for file, each in data.items() if file not in waits}
        # what a hand removed: git has it, the folder does not. Sparse ones are no such
        missing = there.keys() - {*refresher.catalog().files} - waits
        if missing:  # a link or a folder of the name is something, if no note
            missing -= {*map(as_text, os.listdir(refresher.store.folder))}
        staged = history.read_index(missing)
        gone = [file for file in missing if file not in staged or not staged[file].closed]
        unseen = Transactions(history).list_unseen(sorted(data)) if data else {}
    why: dict[str, str] = {}  # of the notes that may not be committed
    if data:
        copied = sync_copies(catalog.names)
        why = {file: COPY for file, base in copied.items() if base == INDEX}
        why |= dict.fromkeys(catalog.held, SECRET) | catalog.waiting | dict.fromkeys(unseen, UNSEEN)
    foreign = [Unadopted(f, CHANGED if f in there else NEW, why.get(f, "")) for f in data]
    foreign += [Unadopted(file, GONE) for file in gone]
    foreign.sort(key=lambda each: each.file)
    return Look(tuple(foreign), len(there), len(refresher.catalog().files), data)


def _differing_bytes(
    refresher: Refresher, history: History, there: Mapping[str, str]
) -> dict[str, bytes]:
    """The bytes of the notes that are not as a commit has them."""
    catalog = refresher.catalog()
    data: dict[str, bytes] = {}
    for file in catalog.uncertain_files(there):
        with suppress(MdmemoryError):  # gone in this moment, or not to be read: `doctor` tells
            data[file] = read_regular(f"{refresher.store.folder}/{as_given(file)}")
    ids = {file: history.blob_id(each) for file, each in data.items()}
    same = {file: id for file, id in ids.items() if there.get(file) == id}
    catalog.know_blobs(same)
    different = {file: each for file, each in data.items() if file not in same}
    # where git converts line ends, its own bytes are other ones: that is no hand's doing
    converted = [file for file, each in different.items() if file in there and b"\r\n" in each]
    blobs = history.objects.read([there[file] for file in converted])
    for file, blob in zip(converted, blobs, strict=True):
        if blob and blob.data == different[file].replace(b"\r\n", b"\n"):
            del different[file]
    return different


def sudden_loss(seen: Look, store: Path) -> MdmemoryError:
    """The sentence on notes that went by accident, or are said to have been meant to go."""
    return MdmemoryError(
        f"{len(seen.lost)} of {seen.before} notes are gone from {store} without a commit that "
        "removes them.",
        "Put them back with `mdmemory doctor --fix`, or say that they were meant to go with "
        "`mdmemory review --all lost drop`.",
        code="sudden_loss",
    )


def restore_lost(refresher: Refresher, history: History) -> list[str]:
    """Put notes back that went all at once; the files. Never writes over anything."""
    texts = history.read_many(history.head(), look_at_folder(refresher, history).lost)
    for file, data in texts.items():
        path = refresher.store.folder / file
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with name_refusals(path), os.fdopen(os.open(path, flags, 0o644), "wb") as note:
            note.write(data)
            note.flush()
            os.fsync(note.fileno())
    refresher.forget()
    return sorted(texts)


# what is committed of it


def _is_taken(each: Unadopted, seen: Look, accepted: Collection[str], accept_loss: bool) -> bool:
    if each.change == GONE:
        return accept_loss or not seen.lost
    return not each.why or (each.file in accepted and each.why in WHY)


def _list_settled(
    refresher: Refresher, changes: Sequence[Unadopted], seconds: float
) -> list[Unadopted]:
    """Those that stayed as they are for so long, and read as a note."""
    catalog = refresher.catalog()
    before = catalog.sight.clock - int(seconds * 1e9)
    settled = {file for file, time in catalog.sight.times.items() if time <= before}
    for head in catalog.heads():
        is_cut = any(UNCLOSED in problem for problem in head.problems)
        if head.status == UNREADABLE or not head.description or is_cut:
            settled.discard(head.file)
    if os.stat(refresher.store.folder).st_mtime_ns <= before:  # names came and went
        settled |= {each.file for each in changes if each.change == GONE}
    return [each for each in changes if each.file in settled]


def _adoption_message(
    foreign: Sequence[Unadopted], heads: Mapping[str, Head], flagged: Sequence[str]
) -> Message:
    names = [headline(heads[each.file]) if each.file in heads else each.file for each in foreign]
    about = subject(_SAID[foreign[0].change] if len(foreign) == 1 else "adopt", names)
    lines = [
        f"{_SAID[each.change]} {each.file}"
        + (f": {text}" if (text := _text_of(heads, each)) else "")
        for each in foreign
    ]
    models = [each.file in heads and is_models(heads[each.file]) for each in foreign]
    origins = ["assistant"] * any(models) + ["unknown"] * (not all(models))
    trailers = memory_trailers(
        KIND,
        [("Memory-Origin", origin) for origin in origins],
        groups=[[each.file] for each in foreign],
    )
    return Message(about, [*lines, *flagged], trailers, by_model=all(models))


def _text_of(heads: Mapping[str, Head], each: Unadopted) -> str:
    head = heads.get(each.file)
    return (head.description or (UNREADABLE if head.status == UNREADABLE else "")) if head else ""


def is_models(head: Head) -> bool:
    """Whether a note is known to be a model's, by its head."""
    return head.source == "assistant"


# what contradicts


def _extended_ledger(
    refresher: Refresher, foreign: Sequence[Unadopted], heads: Mapping[str, Head]
) -> tuple[tuple[Change, ...], list[str]]:
    """The ledger with the contradictions between these notes and any others, and a line on each."""
    files = [each.file for each in foreign if each.change != GONE]
    # the copies that a sync tool made, each with the note that it is another text of
    catalog, read = refresher.catalog(), refresher.store.read
    copied = sync_copies(catalog.names)
    copies = [(file, copied[file]) for file in files if copied.get(file, INDEX) != INDEX]
    copies = [pair for pair in copies if catalog.held.isdisjoint(pair)]
    texts = ((read(file), read(base), _COPIED) for file, base in copies)
    pairs = chain(texts, _contradicting_pairs(refresher, files, heads))
    before = refresher.store.ledger()
    ledger = conflicts.Ledger(before)
    times = catalog.sight.times
    lines: list[str] = []
    for one, other, why in pairs:
        since = datetime.fromtimestamp(times.get(one.file, 0) / 1e9, UTC).date().isoformat()
        if len(lines) < MOST_FLAGS and ledger.add([(one, other, why)], since):
            lines.append(f"flag {one.file} × {other.file}: {why}")
    if not lines:
        return (), []
    old, new = (text.encode("utf-8", "surrogateescape") for text in (before, ledger.text()))
    return (Change(LEDGER, digest(old) if old else None, new),), lines


def _contradicting_pairs(
    refresher: Refresher, files: Sequence[str], heads: Mapping[str, Head]
) -> Iterator[tuple[StoredNote, StoredNote, str]]:
    from mdmemory.text import conflict

    on_hold = refresher.catalog().held
    known = [e for e in heads.values() if e.file not in on_hold and e.status != SUPERSEDED]
    places = {head.file: at for at, head in enumerate(known)}
    new = {*files}  # of two that came together a compaction tells
    if new.issuperset(places):
        return
    # by their descriptions, so that few notes have to be read; of work whatever its type
    kinds = ["user" if head.type == "user" else "work" for head in known]
    wanted = [places[file] for file in files if file in places]
    for pair in conflict.find_pairs([head.description for head in known], kinds, wanted):
        mine, other = sorted((known[at] for at in pair), key=lambda head: head.file not in new)
        odd = conflict.other_literal(mine.description, other.description)
        if odd and other.file not in new:
            read = refresher.store.read
            yield read(mine.file), read(other.file), conflict.why_contrary(odd)


def index_without(
    transactions: Transactions, later: Sequence[Unadopted],
    index: Callable[[Sequence[Change]], list[Change]], changes: Sequence[Change] = (),
) -> tuple[list[Change], dict[str, bytes | None]]:  # fmt: skip
    """The index that goes with a commit that leaves `later` out: as changes where the one on disk
    is the same, else as texts of the commit alone, for that on disk names them."""
    history = transactions.history
    later = [each for each in later if each.change != GONE and not each.why]  # it names
    if not later:
        return index(changes), {}
    former = history.read_many(history.head(), [each.file for each in later])
    back = [Change(each.file, None, former.get(each.file)) for each in later]
    texts = {each.file: each.new for each in index([*changes, *back])}
    unseen = transactions.list_unseen([*texts])
    return [], {file: text for file, text in texts.items() if file not in unseen}


def adopt_changes(
    refresher: Refresher, transactions: Transactions, needed: Collection[str],
    tell: Callable[[str], None], index: Callable[[Sequence[Change]], list[Change]], *,
    destructive: bool = False, accepted: Collection[str] = (), accept_loss: bool = False,
    settled: float = 0.0, flags: bool = True, only: Collection[str] | None = None,
) -> Checkpoint:  # fmt: skip
    """Commit all that other hands did, then make a checkpoint of the files `needed`, which are
    taken whatever speaks against it. `index` gives the index that belongs to changes.

    `accepted` files are taken although they wait for a person. With `settled` only what did not
    change for so many seconds, and reads as a note. Without `flags` the ledger stays as it is; with
    `only` so do other files. Raises SuddenLoss before a `destructive` write; of any other, `tell`
    hears the loss.
    """
    seen = look_at_folder(refresher, transactions.history)
    if seen.lost and not accept_loss:
        problem = sudden_loss(seen, refresher.project.store)
        if destructive:
            raise problem
        tell(problem.sentences)
    if accepted:
        refresher.catalog().accept(accepted)
    foreign = [each for each in seen.found if _is_taken(each, seen, accepted, accept_loss)]
    if only is not None:
        foreign = [each for each in foreign if each.file in only]
    if settled:
        foreign = _list_settled(refresher, foreign, settled)
    if not foreign:
        return transactions.checkpoint(needed, KEEP)
    contents = {each.file: seen.data.get(each.file) for each in foreign}
    contents |= {file: seen.data[file] for file in needed if file in seen.data}
    heads = {head.file: head for head in refresher.catalog().heads()}
    ledger, lines = _extended_ledger(refresher, foreign, heads) if flags else ((), [])
    message = _adoption_message(foreign, heads, lines)
    base = transactions.checkpoint([each.file for each in ledger if each.old is not None], KEEP)
    later = [each for each in seen.found if each not in foreign]
    derived, apart = index_without(transactions, later, index, ledger)
    done = transactions.apply([*ledger, *derived], base, message, others=contents | apart)
    if done.unchanged or apart:
        refresher.refresh()
    else:
        refresher.follow()
    return transactions.checkpoint(needed, KEEP)._replace(made=True)
