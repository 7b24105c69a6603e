"""Candidates without enough proof: they wait in an inbox for a person, who accepts or drops them.

One markdown file each, at most 50 for at most 30 days. What is accepted becomes a note like one
that was written by hand. Of one that was dropped `state.db` keeps the id: it is not proposed again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from mdmemory.actions import editing
from mdmemory.actions.editing import Edited
from mdmemory.capture.duplicates import canonical
from mdmemory.capture.extract import description_of
from mdmemory.errors import MdmemoryError, NotFound
from mdmemory.files import digest, read_regular, write_atomic
from mdmemory.git.transaction import Change
from mdmemory.note import limits
from mdmemory.privacy import is_secret
from mdmemory.privacy.redaction import redact
from mdmemory.privacy.remains import says_something
from mdmemory.store import inbox
from mdmemory.store.project import INBOX, Project
from mdmemory.store.state import State
from mdmemory.store.writer import Writer

KEPT = 50
KEPT_DAYS = 30
_BEGIN = "pending-"
_ID = "p-"


@dataclass(frozen=True, slots=True)
class PendingFact:
    """A fact that waits; `since` is `YYYY-MM-DD`, `reasons` say what proof it lacks. `kept_as` is
    the id that its file gives it, whatever a person makes of the text."""

    type: str
    kind: str
    name: str
    description: str
    body: str
    session: str
    since: str
    reasons: tuple[str, ...]
    kept_as: str = ""

    @property
    def id(self) -> str:
        """The same for the same fact, so that one that is found again waits once."""
        key = f"{self.type}\n{canonical(self.body)}"
        return self.kept_as or _ID + hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()[:8]


def put(project: Project, state: State, facts: Sequence[PendingFact], today: str) -> None:
    """Let these wait, without their secrets; of one that is a secret nothing is kept. One that
    waits already, or that a person dropped, stays as it is. The caller holds the store's lock."""
    insert = "INSERT OR IGNORE INTO pending VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)"
    rows = [
        (insert, (each.id, each.type, each.kind, each.name, each.description, each.body,
                  each.session, each.since, json.dumps(each.reasons)))
        for each in filter(None, map(_clean, facts))
    ]  # fmt: skip
    state.change(("DELETE FROM pending WHERE dropped = 1 AND since < ?", (_oldest(today),)), *rows)
    _carry_over(project, state)
    newest_first = sorted(_files(project), key=lambda pair: pair[1].since, reverse=True)
    for at, (path, fact) in enumerate(newest_first):
        if at >= KEPT or _is_old(fact, today):
            path.unlink(missing_ok=True)


def waiting(project: Project, open_state: Callable[[], State], today: str) -> list[PendingFact]:
    """Those that wait, the newest first. The database is asked where there may be one."""
    found: list[PendingFact] = []
    if os.path.lexists(project.private):
        with open_state() as state:
            found = _carry_over(project, state)
    by_id = {fact.id: fact for fact in (*found, *(fact for _, fact in _files(project)))}
    fresh = [fact for fact in by_id.values() if not _is_old(fact, today)]
    return sorted(fresh, key=lambda fact: fact.since, reverse=True)


def accept(writer: Writer, id: str, *, today: str, into: Writer | None = None) -> Edited:
    """Store one, on a person's word (`source: manual`), in one commit; `into` is another store
    that the note belongs to. Raises NotFound, BadNote."""
    chosen, path = _find(writer, id, today)
    leaves: list[Change] = []
    if into is None:
        with writer.locked():
            writer.commit_inbox()
            leaves = _leaves(writer, path)
    done = editing.add(
        into or writer, name=limits.slug(chosen.name) or "fact", type=chosen.type,
        description=chosen.description, body=chosen.body, kind=chosen.kind, today=today,
        also=leaves,
    )  # fmt: skip
    with writer.locked():
        _forget(writer, id, path)  # only now: an add that fails loses nothing
    return done


def drop(writer: Writer, id: str, *, today: str) -> PendingFact:
    """Take one off the list; for 30 days it is not proposed again. Raises NotFound."""
    chosen, path = _find(writer, id, today)
    with writer.locked():
        # of a fact that a person does not want, only the id is kept
        row = (id, "", "", "", "", "", "", today, "[]")
        insert = "INSERT OR REPLACE INTO pending VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1)"
        with writer.state() as state:
            state.change((insert, row))
        _forget(writer, id, path)
    return chosen


def _find(writer: Writer, id: str, today: str) -> tuple[PendingFact, Path | None]:
    """A fact that waits, and its file; None where it still lies in the database."""
    for fact in waiting(writer.project, writer.state, today):
        if fact.id == id:
            paths = [path for path, kept in _files(writer.project) if kept.id == id]
            return fact, next(iter(paths), None)
    raise NotFound(f"Nothing waits under the id {id}.", "`mdmemory pending` lists what waits.")


def _leaves(writer: Writer, path: Path | None) -> list[Change]:
    """What takes a fact out of a committed inbox, in the commit of its note: so that an undo puts
    it back."""
    if path is None or writer.history is None or writer.refusal() is not None:
        return []
    is_ours = writer.is_own and path.parent == writer.project.store / INBOX
    if not is_ours or not inbox.is_committed(writer.history, path.name):
        return []
    return [Change(f"{INBOX}/{path.name}", digest(read_regular(path)), None)]


def _forget(writer: Writer, id: str, path: Path | None) -> None:
    if path is not None:
        path.unlink(missing_ok=True)
    if id and os.path.lexists(writer.project.state_file):
        with writer.state() as state:
            state.change(("DELETE FROM pending WHERE id = ? AND dropped = 0", (id,)))


def _oldest(today: str) -> str:
    return (date.fromisoformat(today) - timedelta(days=KEPT_DAYS)).isoformat()


def _is_old(fact: PendingFact, today: str) -> bool:
    return bool(fact.since) and fact.since < _oldest(today)


def _carry_over(project: Project, state: State) -> list[PendingFact]:
    """Move the facts that lie in the database, as 0.1 kept them, into files; those that could not
    be moved.

    A process that dies on the way leaves them in both places, and the next one goes on.
    """
    columns = "type, kind, name, description, body, session, since, reasons, id"
    left: list[PendingFact] = []
    for row in state.rows(f"SELECT {columns} FROM pending WHERE dropped = 0"):
        fact = _clean(replace(PendingFact(*row), reasons=tuple(json.loads(row[7]))))
        if fact is not None and not _is_kept(project, fact):
            left.append(fact)
            continue
        state.change(("DELETE FROM pending WHERE id = ? AND dropped = 0", (row[8],)))
    return left


# --- the files -----------------------------------------------------------------------------------


def _folders(project: Project) -> list[tuple[Path, str]]:
    """The inboxes: the store's, then the person's, each with the project that its files name."""
    stores, persons = project.inboxes()
    return [(stores, ""), (persons, os.path.realpath(project.root))]


def _is_kept(project: Project, fact: PendingFact) -> bool:
    """Write the file of a fact, unless it is there; False where no inbox takes it."""
    for folder, named in _folders(project):
        with suppress(MdmemoryError, OSError):
            inbox.prepare(folder)
            path = folder / f"{_BEGIN}{fact.id.removeprefix(_ID)}{inbox.END}"
            if not os.path.lexists(path):
                write_atomic(path, _rendered(fact, named), mode=0o600)
            return True
    return False


def _clean(fact: PendingFact) -> PendingFact | None:
    """The fact without its secrets, under the same id; None where nothing is left of it."""
    name, hook, body = (redact(text)[0] for text in (fact.name, fact.description, fact.body))
    if body != fact.body and not says_something(body):
        return None
    clean = replace(fact, name=name, description=hook, body=body, kept_as=fact.id)
    return None if is_secret(f"{clean.description}\n{clean.body}") else clean


def _files(project: Project) -> Iterator[tuple[Path, PendingFact]]:
    """The facts in the inboxes of a project, and their files; unreadable files are left out."""
    for folder, named in _folders(project):
        for path in inbox.files(folder, _BEGIN):
            with suppress(MdmemoryError):
                fact, about = _read(read_regular(path), path)
                if about == named:
                    yield path, fact


_KEYS = [field.name for field in fields(PendingFact) if field.name not in ("body", "kept_as")]


def _rendered(fact: PendingFact, project: str) -> bytes:
    values = {name: getattr(fact, name) for name in _KEYS}
    values |= {"project": project} if project else {}
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in values.items()]
    head = "\n".join(lines)
    return f"---\n{head}\n---\n\n{fact.body}\n".encode("utf-8", "replace")


def _read(data: bytes, path: Path) -> tuple[PendingFact, str]:
    """The fact in a file, and the project that it names. A person may have edited it: what is no
    value of ours counts as text, and what is missing is filled in."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    head, mark, body = text.removeprefix("---\n").partition("\n---\n")
    if not mark or not text.startswith("---\n"):
        head, body = "", text
    values = dict(_values(head.split("\n")))
    body = body.strip("\n")
    texts = {name: str(values.get(name, "")) for name in (*_KEYS, "project")}
    reasons = values.get("reasons")
    fact = PendingFact(
        type=texts["type"] if texts["type"] in limits.TYPES else "project", kind=texts["kind"],
        name=texts["name"], description=texts["description"] or description_of(body), body=body,
        session=texts["session"], since=texts["since"],
        reasons=tuple(map(str, reasons)) if isinstance(reasons, list) else (),
        kept_as=_ID + path.name.removeprefix(_BEGIN).removesuffix(inbox.END),
    )  # fmt: skip
    return fact, texts["project"]


def _values(lines: Iterable[str]) -> Iterator[tuple[str, Any]]:
    for line in lines:
        name, _, value = line.partition(": ")
        try:
            yield name, json.loads(value)
        except (ValueError, RecursionError):
            yield name, value.strip()
