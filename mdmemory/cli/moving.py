"""Commands that move a memory: move, export, import, sync."""

from __future__ import annotations

import os
import shlex
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from mdmemory.actions import move as store_move
from mdmemory.cli.commands import (
    PATIENCE,
    UNDO,
    count_noun,
    emit_json,
    only_memory,
    open_layers,
    show_value,
    warn_person,
)
from mdmemory.config import person
from mdmemory.errors import NoStore, Unwritable
from mdmemory.git.lock import Patience
from mdmemory.note.note import UNREADABLE, read_fields
from mdmemory.privacy import is_secret
from mdmemory.store.writer import Writer

if TYPE_CHECKING:
    from mdmemory.actions.listing import Listed
    from mdmemory.memory import Memory
    from mdmemory.store.store import StoredNote


def run_move(options: Namespace) -> int:
    done = None if options.dry_run else store_move.finish_move(Path.cwd())
    if done is None:
        project, patience = (
            only_memory(open_layers(options)).project,
            Patience(PATIENCE, warn_person),
        )
        writer = Writer(project, is_secret, "`mdmemory move`", warn_person, patience=patience)
        done = store_move.move_store(
            writer, person.person_places(),
            to=options.to, folder=options.folder, dry_run=options.dry_run,
        )  # fmt: skip
    history = f"with {count_noun(done.commits, 'commit')} of its history"
    sentences = [f"The store is {done.target} now, {history}.", *done.said]
    if done.source == done.target:
        sentences = done.said
    elif options.dry_run:
        sentences = [f"Would move {done.source} to {done.target}, {history}."]
    elif done.kept:
        sentences.append(f"These files of {done.source} were changed meanwhile and stay there: "
                    f"{', '.join(done.kept)}.")  # fmt: skip
    if done.removal and not options.dry_run:
        sentences += [
            "The project's commits still have the notes. To take them out of the next one:",
            f"  {done.removal}",
        ]
    fields = {
        "from": str(done.source), "to": str(done.target), "commits": done.commits,
        "kept": done.kept, "removal": done.removal or None, "said": done.said,
    }  # fmt: skip
    return show_value(options, fields, *sentences, failed=bool(done.kept))


_TITLE = "# Memory"  # of an export as one text


def run_export(layers: Memory, options: Namespace) -> int:
    exported: list[tuple[str, Listed, StoredNote]] = []
    for layer, memory in layers.each():
        rows, notes = memory.listing(), {note.file: note for note in memory.notes()}
        out = [row.head.file for row in rows if row.status in ("held", UNREADABLE)]
        if out:
            left = count_noun(len(out), "note")
            warn_person(f"Left out {left} on hold or unreadable: `mdmemory doctor`.")
        for row in rows:
            if row.head.file not in out and row.head.file in notes:
                exported.append((layer, row, notes[row.head.file]))
    if options.okf is not None:  # the person's inside
        from mdmemory.capture.imports.okf import write_bundle

        path = Path(options.okf).expanduser()
        parts = {
            layers.prefix_of(layer): [stored for of, _, stored in exported if of == layer]
            for layer, _ in layers.each()
        }
        write_bundle(path, parts)
        count = count_noun(len(exported), "note")
        written = f"Wrote {count} to {path}. `mdmemory import` reads them."
        return show_value(options, {"path": str(path), "notes": len(exported)}, written)
    if options.markdown is None:
        emit_json([
            {
                "file": row.head.file, "name": row.head.name, "description": row.head.description,
                "type": row.head.type, "kind": row.head.kind, "digest": stored.digest,
                "status": row.status, "body": stored.note.body, "head": read_fields(stored.note),
                "layer": layer,
            }
            for layer, row, stored in exported
        ])  # fmt: skip
        return 0
    texts = [_TITLE]
    for type in dict.fromkeys(row.head.type for _, row, _ in exported):
        texts.append(f"## {type}")
        for _, row, stored in exported:
            if row.head.type == type:
                title, about = row.head.title or row.head.name, row.head.description
                status = f" ({row.status})" if row.status else ""
                texts += [f"### {title}{status}", f"> {about}", stored.note.body.strip()]
    text = "\n\n".join(filter(None, texts)) + "\n"
    if options.markdown == "-":
        sys.stdout.write(text)
        return 0
    path = Path(options.markdown).expanduser()
    try:
        if path.exists() and not path.read_bytes().startswith(_TITLE.encode()):
            hint = "Name another file, or remove that one."
            raise Unwritable(f"{path} is there, and no earlier export.", hint)
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as problem:
        raise Unwritable(
            f"{path} cannot be written ({problem.strerror}).", "Name another file."
        ) from problem
    written = f"Wrote {count_noun(len(exported), 'note')} to {path}."
    return show_value(options, {"path": str(path), "notes": len(exported)}, written)


def run_import(layers: Memory, options: Namespace) -> int:
    wet = options.yes and not options.dry_run
    if not (wet or layers.there() or layers.question):
        step = f"`mdmemory import {shlex.quote(options.path)} --yes` makes it."
        raise NoStore("There is no store here yet.", step)
    done = layers.import_from(options.path, dry_run=not wet)
    added = [{"file": f, "description": d, "from": o} for f, d, o in done.added]
    known = [{"file": file, "from": origin} for file, origin in done.known]
    fields = {
        "added": added, "known": known, "dropped": done.dropped, "commit": done.commit,
        "redacted": [{"from": place, "kinds": kinds} for place, kinds in done.redacted],
        "rest": str(done.rest) if done.rest else None,
    }  # fmt: skip
    verb = "stored" if wet else "would store"
    lines = [f"{verb} {file}: {description}" for file, description, _ in done.added]
    lines += [f"already stored: {origin} is in {file}" for file, origin in done.known]
    for each in done.dropped:
        reasons = each["reasons"]
        assert isinstance(reasons, list)
        lines.append(f"left out ({', '.join(reasons)}): {each['text']}")
    lines += [f"taken out ({', '.join(kinds)}): {place}" for place, kinds in done.redacted]
    if done.rest:
        lines.append(f"What became no note is kept in {done.rest}.")
    where = "" if layers.of_project else " in your own store, for all projects"
    notes = f"{count_noun(len(done.added), 'note')}{where}"
    if done.commit:
        lines.append(f"{notes} in commit {done.commit[:10]}. {UNDO.format(done.id)}")
    elif wet:
        lines.append(f"{notes} stored, not committed.")
    elif done.added:
        lines.append(f"Nothing was stored. Add --yes to store {notes}.")
    else:
        lines.append("Nothing to store.")
    return show_value(options, fields, *lines)


def run_sync(options: Namespace) -> int:
    remote = options.remote
    if remote is not None:
        if Path(remote).expanduser().is_dir():  # of this machine: the store's git runs elsewhere
            remote = str(Path(remote).expanduser().resolve())
        _prepare_store(options.store)
    memory = only_memory(open_layers(options))
    done = memory.sync(rebase=options.rebase, remote=remote, push_all=options.all)
    fields = {
        "committed": done.committed, "fetched": done.fetched, "merged": done.merged,
        "pushed": done.pushed, "conflicts": done.conflicts, "doubled": done.doubled,
        "said": done.said,
    }  # fmt: skip
    sentences = [f"Committed local changes ({done.committed[:10]})."] if done.committed else []
    if done.fetched:
        sentences.append(f"Fetched {count_noun(done.fetched, 'commit')} from {done.upstream}.")
    if done.conflicts:
        files = [os.path.relpath(done.top / file) for file in done.conflicts]
        verb = "rebase" if options.rebase else "merge"
        sentences += [
            "Nothing was merged or pushed: both sides changed the same files, and you have to "
            "choose:",
            *(f"  {file}" for file in files),
            f"Run `git {verb} {done.upstream}`, edit, then `git add {shlex.join(files)}` (`git rm` "
            f"to remove a note), then `git {verb} --continue` and `mdmemory sync`.",
        ]
        return show_value(options, fields, *sentences, failed=True)
    for file, second in done.doubled:
        sentences.append(
            f"{file} was written on two machines: this one's text stays in it, the other's is in "
            f"{second}. `mdmemory review` shows both."
        )
    sentences += done.said
    if done.pushed:
        sentences.append(f"Pushed {count_noun(done.pushed, 'commit')} to {done.upstream}.")
    sentences = sentences or [f"Already up to date with {done.upstream}."]
    return show_value(options, fields, *sentences)


def _prepare_store(named: str | None) -> None:
    """Before a store gets a remote: a person's own is made if it is the named one, with which a
    second machine begins; it gets none from a project that has no store yet."""
    from mdmemory.actions import memory_folder
    from mdmemory.git.private_folder import common_dir
    from mdmemory.store.project import of_person, of_project, person_root

    places, here = person.person_places(), Path.cwd()
    root = person_root(places)
    if named is not None:
        if Path(named).expanduser().absolute() == root and not os.path.lexists(root):
            memory_folder.begin_person(places)
            warn_person(f"Your own store is {root}.")
        return
    own = of_person(places)
    if own is not None and not of_project(here, None, places) and common_dir(here):
        raise NoStore(
            "This project has no store yet, and a remote of your own store is not set from here.",
            "`mdmemory init` first; for your own: "
            f"`mdmemory --store {own.store} sync --remote URL`.",
        )
