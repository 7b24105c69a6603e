"""Candidates without enough proof: they wait in an inbox for a person, who accepts or drops them.

One markdown file each, until a person answers. What is accepted becomes a note like one that was
written by hand. Of one that was dropped `state.db` keeps the id for 30 days: it is not proposed
again.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from mdmemory.actions import editing, leaving
from mdmemory.actions.editing import Edited
from mdmemory.capture.note_text import canonical_key, description_of
from mdmemory.capture.wishes import read_head, render_head
from mdmemory.errors import MdmemoryError, NotFound
from mdmemory.files import digest, read_regular, write_atomic
from mdmemory.git.commits_of_store import subject
from mdmemory.git.transaction import Change
from mdmemory.note import limits
from mdmemory.privacy import is_secret
from mdmemory.privacy.redaction import redact, says_something
from mdmemory.store import inbox
from mdmemory.store.project import Project
from mdmemory.store.state import State
from mdmemory.store.writer import Writer, Written

FULL = 300  # facts that wait; the next ones are told of, and not kept
DROPPED_DAYS = 30
_BEGIN = "pending-"
_ID = "p-"


@dataclass(frozen=True, slots=True)
class PendingFact:
    """A fact that waits; `since` is `YYYY-MM-DD`, `reasons` say what proof it lacks, `quote` is
    what it rests on. `kept_as` is the id that its file gives it, whatever a person makes of the
    text."""

    type: str
    kind: str
    name: str
    description: str
    body: str
    session: str
    since: str
    reasons: tuple[str, ...]
    quote: str = ""
    kept_as: str = ""

    @property
    def id(self) -> str:
        """The same for the same fact, so that one that is found again waits once."""
        key = f"{self.type}\n{canonical_key(self.body)}"
        return self.kept_as or _ID + digest(key.encode("utf-8", "replace"))[:8]


def put_facts(project: Project, state: State, facts: Sequence[PendingFact], today: str) -> None:
    """Let these wait, without their secrets; of one that is a secret nothing is kept. One that
    waits already, or that a person dropped, stays as it is. The caller holds the store's lock.
    Raises what the last of the inboxes raises that does not take one."""
    oldest = (date.fromisoformat(today) - timedelta(days=DROPPED_DAYS)).isoformat()
    state.change(("DELETE FROM pending WHERE since < ?", (oldest,)))
    dropped = {id for (id,) in state.rows("SELECT id FROM pending WHERE dropped = 1")}
    there = {fact.id for _, fact in _fact_files(project)}
    for fact in filter(None, map(_clean_fact, facts)):
        if fact.id not in dropped | there and len(there) < FULL:
            there.add(fact.id)
            _keep_fact(project, fact)


def waiting_facts(project: Project) -> list[PendingFact]:
    """Those that wait, the newest first."""
    by_id = {fact.id: fact for _, fact in _fact_files(project)}
    return sorted(by_id.values(), key=lambda fact: fact.since, reverse=True)


def find_fact(project: Project, id: str) -> tuple[PendingFact, Path]:
    """A fact that waits, and its file. Raises NotFound."""
    for path, fact in _fact_files(project):
        if fact.id == id:
            return fact, path
    raise NotFound(f"Nothing waits under the id {id}.", "`mdmemory review` lists what waits.")


def accept_fact(
    writer: Writer, id: str, *, today: str, into: Writer | None = None, text: str | None = None
) -> tuple[Edited, bool]:
    """`store_waiting` for one, on a person's word (`source: manual`); `text` is the person's own
    wording: a description, and a body below it. Raises NotFound, BadNote."""
    chosen, path = find_fact(writer.project, id)
    if text is not None:
        head, _, body = text.strip().partition("\n")
        description = description_of(head.strip())
        whole = body.strip() if description == head.strip() else text.strip()
        chosen = replace(chosen, description=description, body=whole or description)
    return store_waiting(
        writer, path, into or writer, name=limits.slugify(chosen.name) or "fact", type=chosen.type,
        description=chosen.description, body=chosen.body, kind=chosen.kind, today=today,
    )  # fmt: skip


def store_waiting(writer: Writer, path: Path, into: Writer, **fact: Any) -> tuple[Edited, bool]:
    """Make a note `into` a store of what waits in a file of the inbox of `writer`, in one commit;
    and whether an undo of it puts the file back. Raises BadNote."""
    leaves: list[Change] = []
    if into is writer:
        with writer.lock_store():
            writer.commit_inbox()
            leaves = leaving.leaving_changes(writer, path)
    done = editing.add(into, also=leaves, **fact)
    with writer.lock_store():
        path.unlink(missing_ok=True)  # only now: an add that fails loses nothing
    return done, bool(leaves and done.written.id)


def drop_fact(writer: Writer, id: str, *, today: str) -> tuple[PendingFact, Written]:
    """Take one off the list, in one commit where the inbox is in one; for 30 days it is not
    proposed again. Raises NotFound."""
    chosen, path = find_fact(writer.project, id)
    written = leaving.take_out(writer, path, subject("drop", [chosen.name or chosen.id]))
    with writer.lock_store(), writer.state() as state:
        # of a fact that a person does not want, only the id is kept
        row = (id, "", "", "", "", "", "", today, "[]")
        state.change(("INSERT OR REPLACE INTO pending VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1)", row))
    return chosen, written


def forget_stored(project: Project, ids: Collection[str]) -> None:
    """Facts became notes: they wait no more, wherever they lay. The caller holds the lock."""
    for path, fact in _fact_files(project) if ids else ():
        if fact.id in ids:
            path.unlink(missing_ok=True)


# --- the files


def _inbox_folders(project: Project) -> list[tuple[Path, str]]:
    """The inboxes: the store's, then the person's, each with the project that its files name."""
    stores, persons = project.inboxes()
    return [(stores, ""), (persons, os.path.realpath(project.root))]


def _keep_fact(project: Project, fact: PendingFact) -> None:
    """Write the file of a fact into the first inbox that takes it, unless it is there."""
    folders = _inbox_folders(project)
    for folder, named in folders:
        path = folder / f"{_BEGIN}{fact.id.removeprefix(_ID)}{inbox.END}"
        values = {name: getattr(fact, name) for name in _KEYS if name != "quote"}
        values |= {"quote": fact.quote} if fact.quote else {}
        values |= {"project": named} if named else {}
        try:
            inbox.prepare_inbox(folder)
            if not os.path.lexists(path):
                write_atomic(path, render_head(values, f"{fact.body}\n"), mode=0o600)
            return
        except (MdmemoryError, OSError):
            if (folder, named) == folders[-1]:
                raise


def _clean_fact(fact: PendingFact) -> PendingFact | None:
    """The fact without its secrets, under the same id; None where nothing is left of it."""
    texts = (fact.name, fact.description, fact.body, fact.quote)
    name, hook, body, quote = (redact(text)[0] for text in texts)
    if body != fact.body and not says_something(body):
        return None
    clean = replace(fact, name=name, description=hook, body=body, quote=quote, kept_as=fact.id)
    content = f"{clean.description}\n{clean.body}\n{clean.quote}"
    return None if is_secret(content) else clean


def _fact_files(project: Project) -> Iterator[tuple[Path, PendingFact]]:
    """The facts in the inboxes of a project, and their files; unreadable files are left out."""
    for folder, named in _inbox_folders(project):
        for path in inbox.inbox_files(folder, _BEGIN):
            with suppress(MdmemoryError):
                fact, about = _read(read_regular(path), path)
                if about == named:
                    yield path, fact


_KEYS: list[str] = [name for name in PendingFact.__match_args__ if name not in ("body", "kept_as")]


def _read(data: bytes, path: Path) -> tuple[PendingFact, str]:
    """The fact in a file, and the project that it names. A person may have edited it: what is no
    value of ours counts as text, and what is missing is filled in."""
    values, text = read_head(data.replace(b"\r\n", b"\n"))
    body = text.strip("\n")
    texts = {name: str(values.get(name, "")) for name in (*_KEYS, "project")}
    reasons = values.get("reasons")
    fact = PendingFact(
        type=texts["type"] if texts["type"] in limits.TYPES else "project", kind=texts["kind"],
        name=texts["name"], description=texts["description"] or description_of(body), body=body,
        session=texts["session"], since=texts["since"],
        reasons=tuple(map(str, reasons)) if isinstance(reasons, list) else (),
        quote=texts["quote"], kept_as=_ID + path.name.removeprefix(_BEGIN).removesuffix(inbox.END),
    )  # fmt: skip
    return fact, texts["project"]
