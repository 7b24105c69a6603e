"""Receipts of work that nobody watched: a background process leaves one, and the next client with
a person in front of it shows it, once.

One small file each in `.mdmemory/receipts/`, for its owner only. A lost file loses a message, and
no fact.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from mdmemory.errors import MdmemoryError
from mdmemory.files import list_names, name_refusals, read_regular, write_atomic
from mdmemory.git.private_folder import is_folder, make_folder
from mdmemory.store.project import Project

FOLDER = "receipts"
MOST = 50  # files; the oldest go
_SIZE = 10_000  # bytes of one
_END = ".json"


class Receipt(NamedTuple):
    """What one piece of work did. `message` is a line for the person, `counts` says how often each
    thing happened (learned, replaced, merged ...), `at` is ISO 8601, UTC; `session` may be ""."""

    message: str
    counts: Mapping[str, int] = MappingProxyType({})
    variant: str = "info"
    session: str = ""
    at: str = ""


def leave_receipt(project: Project, receipt: Receipt, now: datetime) -> None:
    """Leave a receipt for the next client. Raises NoState and Unwritable."""
    folder = project.prepare_private() / FOLDER
    with name_refusals(folder):
        make_folder(folder)
    at = now.isoformat(timespec="seconds")
    values = receipt._asdict() | {"counts": dict(receipt.counts), "at": at}
    # sorted by name they are sorted by time
    name = f"{now.strftime('%Y%m%dT%H%M%S%f')}-{os.urandom(3).hex()}{_END}"
    write_atomic(folder / name, json.dumps(values).encode("ascii"), mode=0o600)
    for old in _receipt_names(folder)[:-MOST]:
        with suppress(OSError):
            (folder / old).unlink()


def take_receipts(
    private: Path, wanted: Callable[[Receipt], bool] = lambda _: True, *, remove: bool = True
) -> list[Receipt]:
    """The receipts in the folder `private` (`.mdmemory`), the oldest first. A receipt is removed
    before it is returned, so that of several clients one gets it; not without `remove`."""
    folder = private / FOLDER
    names = _receipt_names(folder)
    if not names or not is_folder(folder):
        return []
    receipts = []
    for path in (folder / name for name in names):
        receipt = _read(path)
        if receipt is not None and not wanted(receipt):
            continue
        with suppress(OSError):  # another client was quicker
            if remove:
                path.unlink()
            receipts += [receipt] if receipt else []
    return receipts


def _receipt_names(folder: Path) -> list[str]:
    return sorted(name for name in list_names(folder) if name.endswith(_END))


def _read(path: Path) -> Receipt | None:
    """The receipt in a file; None for what is none."""
    try:
        values = json.loads(read_regular(path, _SIZE))
        counts = {n: count for n, count in values["counts"].items() if isinstance(count, int)}
        texts = {name: values[name] for name in ("message", "variant", "session", "at")}
    except (MdmemoryError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if not all(isinstance(text, str) for text in texts.values()):
        return None
    return Receipt(counts=counts, **texts)
