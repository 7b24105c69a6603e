"""What may be wrong with a store: a table of checks, each from the store to its findings.

Checks only look. A fix is done by `doctor --fix`, and only where nothing can be lost by it.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mdmemory.note import Note
from mdmemory.store import attributes
from mdmemory.store.index import is_generated
from mdmemory.store.store import GENERATED, LEDGER, is_note_name
from mdmemory.store.transaction import MARK, Change, Transactions
from mdmemory.store.writer import Group, Writer

_LINK = re.compile(r"\[\[([^\[\]|#\n]+)")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know: `level` is error or warning; `path` is relative to the store, or ""."""

    check: str
    level: str
    path: str
    message: str
    fixable: bool = False


def examine(writer: Writer, names: Callable[[Note], set[str]]) -> list[Finding]:
    """The findings of all checks, in their order.

    `names` gives every name under which a link finds a note, folded, former ones included.
    """
    found = [finding for check in CHECKS for finding in check(writer)]
    return found + list(_links(writer, names))


def fix(writer: Writer) -> None:
    """Do what is safe: finish an open journal, refresh the index, add missing attributes."""
    with writer.locked():
        writer.refresher.refresh()
        changes = _missing_attributes(writer)
        if changes and writer.refusal() is None:
            group = Group(f"mend {changes[0].file}", tuple(changes))
            writer.write("memory: mend what git is told of the store", [group], kind="mend")


def _missing_attributes(writer: Writer) -> list[Change]:
    if writer.history is None:
        return []
    path = writer.project.store / ".gitattributes"
    raw = attributes.same_bytes(writer.history, writer.refresher.store)
    return attributes.lines_added(path, path.name, attributes.wanted(raw))


def _git(writer: Writer) -> Iterator[Finding]:
    # covers git missing, no repository, a merge under way, a detached HEAD, a foreign index.lock
    if problem := writer.refusal():
        yield Finding("git", "warning", "", f"{problem.message} {problem.hint}")


def _journal(writer: Writer) -> Iterator[Finding]:
    if writer.history and Transactions(writer.history).is_open():
        message = "A write was interrupted; the next one finishes it."
        yield Finding("journal", "warning", "", message, fixable=True)


def _unreadable(writer: Writer) -> Iterator[Finding]:
    for head in writer.refresher.catalog().heads():
        for problem in head.problems:
            yield Finding("note", "warning", head.file, problem)


def _names(writer: Writer) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    for head in writer.refresher.catalog().heads():
        other = seen.setdefault(head.name.casefold(), head.file)
        if other != head.file:
            message = f"It has the name {head.name}, as {other} does: rename one of them."
            yield Finding("names", "warning", head.file, message)


def _strangers(writer: Writer) -> Iterator[Finding]:
    """Entries that look like notes and are none: links, folders, FIFOs, undecodable names."""
    with os.scandir(writer.project.store) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            shown = entry.name.encode("utf-8", "replace").decode()
            if not is_note_name(entry.name) and entry.name not in (*GENERATED, LEDGER):
                continue
            if entry.is_symlink():
                yield Finding("files", "warning", shown, "It is a link, and is not followed.")
            elif not entry.is_file(follow_symlinks=False):
                yield Finding("files", "warning", shown, "It is not a regular file, so no note.")
            elif shown != entry.name:
                yield Finding("files", "warning", shown, "Its name is not UTF-8: rename it.")


def _held(writer: Writer) -> Iterator[Finding]:
    for file in sorted(writer.refresher.catalog().held):
        yield Finding(
            "secrets", "error", file,
            "It is held back: it holds what looks like a secret. Take it out, or put "
            "`secrets: allowed` under metadata.",
        )  # fmt: skip


def _links(writer: Writer, names: Callable[[Note], set[str]]) -> Iterator[Finding]:
    notes = writer.refresher.store.notes()
    known = {name for note in notes for name in names(note.note)}
    for note in notes:
        for target in _LINK.findall(note.note.body):
            if _folded(target) not in known:
                message = f"It links to [[{target}]], and there is no such note."
                yield Finding("links", "warning", note.file, message)


def _folded(target: str) -> str:
    return unicodedata.normalize("NFC", target).strip().casefold().removesuffix(".md")


def _index(writer: Writer) -> Iterator[Finding]:
    folder = writer.project.store
    for name in GENERATED:
        path = folder / name
        text = path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""
        if text and not is_generated(text):
            message = "It was not generated by mdmemory: `mdmemory init` keeps it as a note."
            yield Finding("index", "error", name, message)
            return
    for name in writer.refresher.refresh(write=False).changed:
        yield Finding("index", "warning", name, "It is not what the notes say.", fixable=True)


def _attributes(writer: Writer) -> Iterator[Finding]:
    if writer.history is None:
        return
    if not attributes.same_bytes(writer.history, writer.refresher.store):
        yield Finding(
            "line-ends", "warning", ".gitattributes",
            "git converts line ends of notes at checkout, so a commit of ours would change every "
            "line. Set `git config core.autocrlf false`, check the notes out anew, and run "
            "`mdmemory init` again.",
        )  # fmt: skip
    for change in _missing_attributes(writer):
        message = "Lines are missing that keep the bytes of notes and merges quiet."
        yield Finding("attributes", "warning", change.file, message, fixable=True)
    if name := attributes.filtered(writer.history, ["reference-sample.md"]):
        message = f"A content filter ({name}) applies to notes: git does not hold their bytes."
        yield Finding("filter", "error", ".gitattributes", message)


def _unseen(writer: Writer) -> Iterator[Finding]:
    if writer.history is None:
        return
    files = writer.refresher.store.files()
    for file, why in sorted(Transactions(writer.history).unseen(files).items()):
        message = f"It {why}: no commit of ours holds it, and it cannot be changed through us."
        yield Finding("unseen", "warning", file, message)


def _private(writer: Writer) -> Iterator[Finding]:
    folder = writer.project.private
    if folder.is_symlink():
        yield Finding("state", "error", str(folder), "It is a link: remove it.")
    elif writer.is_private_tracked():
        message = "git tracks it, but it is state of this machine: `git rm -r --cached` it."
        yield Finding("state", "error", str(folder), message)


def _aside(writer: Writer) -> Iterator[Finding]:
    for path in sorted(writer.project.store.glob(f"{MARK}*.old")):
        message = "It holds text that was saved while a note was replaced: look at it."
        yield Finding("aside", "warning", path.name, message)


CHECKS: tuple[Callable[[Writer], Iterator[Finding]], ...] = (
    _git, _journal, _private, _strangers, _unreadable, _names, _held, _index,
    _attributes, _unseen, _aside,
)  # fmt: skip
