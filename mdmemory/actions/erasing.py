"""A note leaves its store for good: work tree, history, refs, inbox, state and search.

Only a person asks for it, for a store of their own, and it is the one act without undo. What comes
before the refs move is an ordinary commit, and what comes after it may be repeated: a process that
is killed leaves the old history whole or the new one, and the same command finishes the rest.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from mdmemory.actions import editing, note_history, sync
from mdmemory.errors import GitFailed, MdmemoryError, NotFound, RepositoryState
from mdmemory.files import digest, read_regular
from mdmemory.git import filter_repo, objects
from mdmemory.git.commits_of_store import History, subject
from mdmemory.git.filter_repo import ERASED, Erasure
from mdmemory.git.private_folder import STATE
from mdmemory.git.transaction import Change
from mdmemory.store import receipt_box
from mdmemory.store.store import GENERATED, LEDGER, decode_note
from mdmemory.store.writer import Group, Writer

LINE, SHORT = 20, 8  # characters of a line, in plain ASCII or not; a shorter one stands anywhere
_KEPT_STATE = (STATE, "lock", ".gitignore")
_REBUILT = ("search.db", "catalog")  # they begin so
_CUT = receipt_box.FOLDER  # its texts are cut short, so that no comparison finds them
_NOT_TEXT = ("watermark", "pass", "model_call", "endpoint")
Agree = Callable[["Erasable"], bool]


class Erasable(NamedTuple):
    """What an erasure would take: `files` of notes, those among them that are `there` now, and
    `remote`, where another copy of the history is ("" for none). `said_by` are other notes that
    hold some of the text: what they say stays."""

    name: str
    files: tuple[str, ...]
    there: tuple[str, ...]
    texts: tuple[str, ...]
    remote: str = ""
    said_by: tuple[str, ...] = ()


class Erased(NamedTuple):
    """What was erased: `files`, and how many `commits` were made anew. `left` are files of the
    store's folder that hold the text still. `push` is the command that overwrites the remote."""

    files: tuple[str, ...]
    commits: int
    left: tuple[str, ...] = ()
    push: str = ""
    said_by: tuple[str, ...] = ()


def erase_note(writer: Writer, name: str, agree: Agree) -> Erased:
    """Erase the note that NAME means, which may be removed already, with those that it replaced,
    if `agree` says yes to what that is. Raises NotFound, RepositoryState."""
    history = writer.require_history()
    if not writer.is_own:
        raise RepositoryState(
            f"The history of {writer.project.store} is the project's, and not the memory's to "
            "rewrite.",
            "docs/safety.md shows how with git filter-repo.",
        )
    with writer.lock_store():
        filter_repo.require_plain(history)
        plan = _plan_erasure(writer, history, name)
    if not agree(plan):
        raise MdmemoryError("Nothing was erased.", "`mdmemory log` lists what was done.")
    try:
        return _erase_files(writer, history, plan)
    except KeyboardInterrupt as problem:
        again = f"Run `mdmemory forget {plan.name} --erase` again; it does what is left."
        raise MdmemoryError("The erase was interrupted and may be unfinished.", again) from problem


def _erase_files(writer: Writer, history: History, plan: Erasable) -> Erased:
    """Erase what was agreed to."""
    if plan.there:
        editing.remove_note(writer, plan.there[0])
    with writer.lock_store():
        filter_repo.require_plain(history)
        erasure = Erasure(plan.files, plan.texts, (*GENERATED, LEDGER))
        # ledger and inbox are committed without it, before HEAD is made anew
        ours, theirs = writer.project.inboxes()
        for path in (*ours.glob("*.md"), *theirs.glob("*.md")):
            with suppress(MdmemoryError):
                data = read_regular(path)
                if erasure.is_in(data) or (path.parent == ours and erasure.is_about(data)):
                    path.unlink()
        writer.commit_inbox()
        before = writer.refresher.store.ledger().encode("utf-8", "surrogateescape")
        after = erasure.clean_bytes(before, LEDGER)
        if after != before:
            change = Change(LEDGER, digest(before), after)
            subject_line = subject("erase", [ERASED])
            writer.write(subject_line, [Group(f"erase {ERASED}", (change,))], kind="erase")
        _clean_state(writer, erasure)
        commits = filter_repo.rewrite(history, erasure)
        with objects.hold_packing(history.repository):
            filter_repo.clear(history)
        if filter_repo.find_objects(history, erasure):
            raise GitFailed(
                "Some object of git still holds the text.", "Run the command again; then `git gc`."
            )
        filter_repo.finish(history)
        left, store = [], writer.project.store  # what holds a text still, outside git's own
        for path in _walk_files(store):
            with suppress(OSError):
                is_gits = ".git" in path.relative_to(store).parts[:1]
                if not is_gits and path.is_file() and erasure.is_in(path.read_bytes()):
                    left.append(str(path.relative_to(store)))
    push = ""
    if plan.remote:
        names = history.repository.run("remote").decode("utf-8", "replace").split()
        branch = history.branch().removeprefix("refs/heads/")
        push = f"git -C {history.repository.top} push --force {names[0]} {branch}"
    return Erased(plan.files, commits, tuple(left), push, plan.said_by)


# --- what goes


def _plan_erasure(writer: Writer, history: History, name: str) -> Erasable:
    store, there, former = writer.refresher.store, list[str](), list[str]()
    with suppress(NotFound):  # it may be removed already
        stored = store.find(name, former=False)
        replaced = editing.replaced_by(writer.refresher, stored)
        there = [each.file for each in (stored, *replaced)]
    with suppress(NotFound):
        now = {*store.files()} - {*there}  # what is another note now is none of its files
        steps = note_history.trace_life(history, store, name)
        former = [step.file for step in steps if step.file not in now]
    files = [*dict.fromkeys([*there, *former])]
    files += [file for file in filter_repo.open_files(history) if file not in files]
    if not files:
        raise NotFound(
            f"There is no note {name}, and no version of one in the history.",
            "`mdmemory list` shows all.",
        )
    texts = _distinct_texts(filter_repo.list_versions(history, files), files)
    texts |= _distinct_texts([read_regular(store.folder / file) for file in there], files)
    others = [note for note in store.notes() if note.file not in files]
    said_by = [each.file for each in others if any(text in each.note.text for text in texts)]
    shared_texts = {text for text in texts if any(text in each.note.text for each in others)}
    return Erasable(
        name, tuple(files), tuple(there), tuple(sorted(texts - shared_texts)),
        sync.remote_address(history) or "", tuple(said_by),
    )  # fmt: skip


def _distinct_texts(versions: Iterable[bytes], files: Sequence[str]) -> set[str]:
    """What the versions of a note say: descriptions, titles, and each line of the body."""
    texts: set[str] = set()
    for data in versions:
        note = decode_note(data, files[0])
        head = note.head
        lines = [head.description, head.title, *(line.strip() for line in note.body.splitlines())]
        texts |= {line for line in lines if len(line) >= (LINE if line.isascii() else SHORT)}
    return texts


# --- beside the history


def _clean_state(writer: Writer, erasure: Erasure) -> None:
    """Take the text out of `.mdmemory/`; what can be made anew goes whole."""
    for path in _walk_files(writer.project.private):
        if path.name.startswith(_KEPT_STATE):
            continue
        with suppress(OSError):
            goes = path.name.startswith(_REBUILT) or path.parent.name == _CUT
            if goes or erasure.is_about(path.read_bytes()):
                path.unlink()
    if not os.path.lexists(writer.project.state_file):
        return
    words = [*erasure.texts, *(file.removesuffix(".md") for file in erasure.files)]
    escaped = {json.dumps(word, ensure_ascii=how)[1:-1] for word in words for how in (True, False)}
    with writer.state() as state:
        tables = [row[0] for row in state.rows("SELECT name FROM sqlite_master WHERE type='table'")]
        for table in (each for each in tables if each not in _NOT_TEXT and "sqlite" not in each):
            columns = [row[1] for row in state.rows(f"PRAGMA table_info({table})")]
            where = " OR ".join(f"instr({column}, ?) > 0" for column in columns)
            for form in escaped.union(words):
                state.change((f"DELETE FROM {table} WHERE {where}", [form] * len(columns)))
        state.rows("VACUUM")
        state.rows("PRAGMA wal_checkpoint(TRUNCATE)")


def _walk_files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not os.path.islink(os.path.join(place, name))]
        yield from (Path(place, name) for name in names)
