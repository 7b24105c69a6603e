"""Merges and removals that a pass proposed and the guards refused. They changed nothing; a person
may look at the notes, and settle it. Kept in a file of our own folder, without expiry; the answers
that they stood in are kept for a week."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

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

    op: Literal["merge", "delete"]
    files: tuple[str, ...]
    digests: tuple[str, ...]
    why: str
    since: str

    @property
    def id(self) -> str:
        """The same for the same op on the same contents."""
        text = "\n".join((self.op, *self.files, *self.digests))
        return "r-" + digest(to_bytes(text))[:8]


@dataclass(frozen=True, slots=True)
class _Kept:
    """The file: what waits, and the ids of what was answered, the newest first."""

    waiting: tuple[LeftOut, ...] = ()
    answered: tuple[str, ...] = ()


def keep(
    folder: Path, refused: Sequence[tuple[Op, str, str]], notes: Mapping[str, StoredNote],
    today: str,
) -> None:  # fmt: skip
    """Let the refused ops wait that a person can judge and has not answered yet. Raises
    Unwritable."""
    from mdmemory.compact.plan import Delete, Merge, sources_of  # the inbox reads no plan

    kept = _read(folder)
    known = {each.id for each in kept.waiting} | {*kept.answered}
    fresh = []
    for op, code, why in refused:
        is_pair = isinstance(op, Merge) and len(op.sources) == 2
        files = tuple(sorted(sources_of(op)))
        judged = code in _JUDGED and (is_pair or isinstance(op, Delete))
        if judged and all(file in notes for file in files):
            digests = tuple(notes[file].digest for file in files)
            kind: Literal["merge", "delete"] = "merge" if is_pair else "delete"
            fresh.append(LeftOut(kind, files, digests, redacted_text(why), today))
    if fresh := [each for each in fresh if each.id not in known]:
        _write(folder, _Kept((*fresh, *kept.waiting)[:MOST], kept.answered))


def waiting(folder: Path, digests: Mapping[str, str]) -> list[LeftOut]:
    """Those whose notes are as they were; `digests` are those of the notes there are."""
    return [
        each for each in _read(folder).waiting if (*map(digests.get, each.files),) == each.digests
    ]


def settle(folder: Path, id: str) -> None:
    """Take one off the list; the same op on the same contents does not wait again."""
    stored = _read(folder)
    rest = tuple(each for each in stored.waiting if each.id != id)
    _write(folder, _Kept(rest, (id, *stored.answered)[:MOST]))


def place(folder: Path) -> Path:
    """The file that holds them."""
    return folder / _FILE


def _read(folder: Path) -> _Kept:
    from msgspec import DecodeError, ValidationError, json

    if not is_folder(folder):  # no link is followed
        return _Kept()
    try:
        return json.decode(read_if_there(place(folder)) or b"{}", type=_Kept)
    except (DecodeError, ValidationError, RecursionError, MdmemoryError):
        return _Kept()  # no knowledge: the next pass finds the same


def _write(folder: Path, record: _Kept) -> None:
    data = json.dumps(asdict(record), ensure_ascii=False).encode()
    write_atomic(place(folder), data, mode=0o600)


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
