"""Merges and removals that a pass proposed and the guards refused. They changed nothing; a person
may look at the notes, and settle it. Kept in a file of our own folder, without expiry; the answers
that they stood in are kept for a week."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path

from mdmemory.errors import MdmemoryError
from mdmemory.files import digest, name_refusals, read_if_there, to_bytes, write_atomic
from mdmemory.git.private_folder import is_folder, make_folder
from mdmemory.privacy import redacted_text
from mdmemory.store.store import StoredNote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmemory.compact.plan import Op

MOST = 20  # that wait, the newest first; as many again are remembered as answered
_FILE = "refused.json"
# Refusals that a person can judge by the notes; with others there is nothing to decide.
_JUDGED = {
    "literal_lost", "literal_invented", "negation", "cross_type", "body", "description",
    "dangling_link", "doubted", "waits",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class LeftOut:
    """`op` is merge (of two notes) or delete (of one). `digests` are what the notes held then,
    `why` is the guards' sentence, `since` a UTC day."""

    op: str
    files: tuple[str, ...]
    digests: tuple[str, ...]
    why: str
    since: str

    @property
    def id(self) -> str:
        """The same for the same op on the same contents."""
        text = "\n".join((self.op, *self.files, *self.digests))
        return "r-" + digest(to_bytes(text))[:8]


def keep(
    folder: Path, refused: Sequence[tuple[Op, str, str]], notes: Mapping[str, StoredNote],
    today: str,
) -> None:  # fmt: skip
    """Let the refused ops wait that a person can judge and has not answered yet. Raises
    Unwritable."""
    from mdmemory.compact.plan import Delete, Merge  # the inbox reads no plan

    waiting, answered = _read(folder)
    known = {each.id for each in waiting} | {*answered}
    fresh = []
    for op, code, why in refused:
        if isinstance(op, Merge) and len(op.sources) == 2:
            kind, files = "merge", tuple(sorted(op.sources))
        elif isinstance(op, Delete):
            kind, files = "delete", (op.file,)
        else:
            continue
        if code in _JUDGED and all(file in notes for file in files):
            digests = tuple(notes[file].digest for file in files)
            fresh.append(LeftOut(kind, files, digests, redacted_text(why), today))
    if fresh := [each for each in fresh if each.id not in known]:
        _write(folder, [*fresh, *waiting][:MOST], answered)


def waiting(folder: Path, digests: Mapping[str, str]) -> list[LeftOut]:
    """Those whose notes are as they were; `digests` are those of the notes there are."""
    return [
        each
        for each in _read(folder)[0]
        if all(digests.get(f) == d for f, d in zip(each.files, each.digests, strict=True))
    ]


def settle(folder: Path, id: str) -> None:
    """Take one off the list; the same op on the same contents does not wait again."""
    entries, answered = _read(folder)
    _write(folder, [each for each in entries if each.id != id], [id, *answered][:MOST])


def place(folder: Path) -> Path:
    """The file that holds them."""
    return folder / _FILE


def _read(folder: Path) -> tuple[list[LeftOut], list[str]]:
    known: list[LeftOut] = []
    if not is_folder(folder):  # no link is followed
        return [], []
    try:
        data = json.loads(read_if_there(place(folder)) or b"{}")
        answered = [str(each) for each in data.get("answered", [])]
        rows = list(data.get("waiting", []))
    except (ValueError, AttributeError, TypeError, RecursionError, MdmemoryError):
        return [], []  # no knowledge: the next pass finds the same
    for row in rows:
        with suppress(KeyError, TypeError, ValueError):
            files, digests = (tuple(map(str, row[name])) for name in ("files", "digests"))
            if row["op"] in ("merge", "delete") and len(files) == len(digests) > 0:
                known.append(LeftOut(row["op"], files, digests, str(row["why"]), str(row["since"])))
    return known, answered


def _write(folder: Path, rows: Sequence[LeftOut], answered: Sequence[str]) -> None:
    data = {"waiting": [asdict(each) for each in rows], "answered": [*answered]}
    write_atomic(place(folder), json.dumps(data, ensure_ascii=False).encode(), mode=0o600)


KEPT = timedelta(days=7)  # of answers that could not be used


def keep_answers(
    folder: Path, answers: Sequence[str], redact: Callable[[str], str], now: datetime
) -> None:
    """Put the answers of one pass into a file of `folder`, and remove what is too old there."""
    for old in folder.glob("*.txt") if is_folder(folder) else ():
        if old.lstat().st_mtime < (now - KEPT).timestamp():
            old.unlink()
    if answers:
        with name_refusals(folder):
            make_folder(folder)
        text = redact("\n\n".join(answers)).encode("utf-8", "replace")
        # another pass may be refused within the same second
        name = f"{now.strftime('%Y-%m-%dT%H%M%S')}-{digest(text)[:6]}.txt"
        write_atomic(folder / name, text, mode=0o600)
