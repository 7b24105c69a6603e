"""What an import made no note of: one markdown file for each source, in the store's `.inbox/`.

A person reads it, adds what matters, and deletes the file. Nothing here is read as a note.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mdmemory.files import digest, read_regular, write_atomic
from mdmemory.store import inbox
from mdmemory.store.project import INBOX

_BEGIN = "import-"


@dataclass(frozen=True, slots=True)
class Rest:
    """A text of the source, redacted, with the place it comes from and why it is no note."""

    text: str
    origin: str
    reason: str


def keep_rests(store: Path, label: str, rests: Sequence[Rest], since: str) -> Path:
    """Keep the texts of one import in a file for their owner alone (0600), and return its path.

    The same import again writes the same file. Raises Unwritable, and RepositoryState for a link
    in the inbox's place.
    """
    folder = store / INBOX
    inbox.prepare_inbox(folder)
    body = "\n".join(f"<!-- {_comment_line(rest)} -->\n{rest.text}\n" for rest in rests)
    head = f'---\nfrom: {json.dumps(label, ensure_ascii=False)}\nsince: "{since}"\n---\n\n'
    name = digest(f"{label}\n{body}".encode("utf-8", "replace"))[:12]
    path = folder / f"{_BEGIN}{name}{inbox.END}"
    if not os.path.lexists(path):
        write_atomic(path, (head + body).encode("utf-8", "replace"), mode=0o600)
    return path


def rest_files(store: Path) -> list[Path]:
    """The files that imports left in the store's inbox, without reading them."""
    return inbox.inbox_files(store / INBOX, _BEGIN)


def read(path: Path) -> tuple[str, str, str]:
    """Where such a file comes from, its day, and its text without the head; a person may have
    edited it. Raises MdmemoryError where it cannot be read."""
    text = read_regular(path).decode("utf-8", "replace")
    head, mark, body = text.removeprefix("---\n").partition("\n---\n")
    if not mark or not text.startswith("---\n"):
        return "", "", text.strip()
    fields = dict(line.partition(": ")[::2] for line in head.split("\n"))
    return fields.get("from", "").strip('"'), fields.get("since", "").strip('"'), body.strip()


def _comment_line(rest: Rest) -> str:
    return " · ".join((rest.origin, rest.reason)).replace("--", "- -").replace("\n", " ")
