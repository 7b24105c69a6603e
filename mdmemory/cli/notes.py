"""Commands on one note: add, list, show, edit, rename."""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from collections.abc import Sequence

from mdmemory.actions.listing import Listed, in_words
from mdmemory.cli.output import (
    choose_number,
    count_noun,
    emit_json,
    is_terminal,
    tell_of_others,
    visible_text,
    warn_person,
)
from mdmemory.errors import MdmemoryError, NoGit, UsageError
from mdmemory.layers import PROJECT, USER, Layers
from mdmemory.memory import Memory
from mdmemory.note.limits import TYPES, check_name
from mdmemory.note.note import UNREADABLE, read_fields

TYPE_CHECKING = False
if TYPE_CHECKING:  # the commands that only read must not pay for writing
    from typing import Any

    from mdmemory.actions.editing import Edited
    from mdmemory.citing.citation import CheckedCitation


def run_add(layers: Layers, options: Namespace) -> int:
    if not options.description:
        return _state_fact(layers, options)
    if not options.type:
        raise UsageError("A note with --description needs --type.", f"One of: {', '.join(TYPES)}.")
    options.name = options.name or options.text
    body = _read_body(options.body)
    done = _add_note(layers, options, body) if body is not None else _write_note(layers, options)
    same = f"{done.file} already says this; nothing changed."
    memory = layers.for_type(options.type, everywhere=options.everywhere)
    code = report_note(layers, memory, options, done, "Stored", same)
    if done.cites and not options.json:
        _tell_of_citations(done)
    return code


def _tell_of_citations(done: Edited) -> None:
    """Say what a new note cites in the project."""
    from mdmemory.citing.citation import parse

    for cite in done.cites:
        citation = parse(cite)
        print(f"{'cites':<13}{visible_text(citation.place if citation else cite)}")


def _state_fact(layers: Layers, options: Namespace) -> int:
    """Store a sentence, and show what was made of it."""
    from mdmemory.capture.fact import state_fact

    text = _read_body(options.text) or ""
    named = re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", text)
    if named and (options.type or options.body is not None):
        raise UsageError(f"The note {text} has no description.", "Pass --description, one line.")
    if named:
        raise UsageError(
            f"{text} is a name, and no fact.",
            "Say the fact in a sentence, or give the NAME with --type and --description.",
        )
    body = "" if options.body is None else _read_body(options.body) or ""
    fact = state_fact(text, type=options.type, name=options.name, body=body, kind=options.kind)
    replaces = options.replaces or _asked_which(layers, fact.said, options)
    memory, done = layers.state(fact, options.everywhere, options.source, options.cite, replaces)
    options.made = {
        "type": fact.type, "kind": fact.kind, "description": fact.description, "body": fact.body,
    }  # fmt: skip
    code = report_note(layers, memory, options, done, "Stored", f"{done.file} already says this.")
    if not options.json and not done.same:
        print(f"{'type':<13}{' '.join(filter(None, (fact.type, fact.kind)))}")
        print(f"{'name':<13}{done.name}")
        print(f"{'description':<13}{visible_text(fact.description)}")
        for line in filter(str.strip, fact.body.splitlines()):
            print(f"{'':<13}{visible_text(line)}")
        if done.cites:
            _tell_of_citations(done)
    return code


def _asked_which(layers: Layers, sentence: str, options: Namespace) -> Sequence[str]:
    """The note near a fact that the person at the terminal says it replaces."""
    near = layers.near(sentence) if is_terminal() and not options.json else []
    if not near:
        return []
    for number, (file, description) in enumerate(near, 1):
        print(f"{number}  {file}  {visible_text(description)}")
    at = choose_number("Does it replace one of these?", len(near))
    return [] if at is None else [near[at][0]]


def _add_note(layers: Layers, options: Namespace, body: str) -> Edited:
    return layers.add(
        options.name,
        type=options.type,
        description=options.description,
        body=body,
        kind=options.kind,
        source=options.source,
        everywhere=options.everywhere,
        cite=options.cite,
        replaces=options.replaces,
    )


def run_list(layers: Layers, options: Namespace) -> int:
    others = [*layers.others()] if options.all_projects else []
    own = layers.each() if layers.there() or not others else []
    stores = [(layer, "", memory) for layer, memory in own]
    stores += [(PROJECT, name, memory) for name, memory in others]
    # only JSON tells the digests, for which each file is read
    listings = [(*store, store[-1].listing(digests=options.json)) for store in stores]
    if options.json:
        emit_json([
            {**_row_json(row, layer), **({"project": name} if name else {})}
            for layer, name, _, rows in listings for row in rows
        ])  # fmt: skip
        return 0
    for layer, name, _, rows in listings:
        for row in rows:
            file = f"{name}/{row.head.file}" if name else layers.shown(layer, row.head.file)
            mark = f"  [{visible_text(row.mark)}]" if row.status else _unlisted_mark(row)
            print(f"{file}  {_row_description(row)}{mark}")
    for _, _, memory, _ in listings:
        print(f"{memory.project.store}: {in_words(memory.counts())}")
    return 0


def _unlisted_mark(row: Listed) -> str:
    return "" if row.listed else "  [not in the index]"


def run_show(layers: Layers, options: Namespace) -> int:
    with layers.at_one_look():
        memory, name = layers.holding(options.name)
        stored = memory.note(name)
        if options.path and not options.json:
            print(memory.project.store / stored.file)
            return 0
        if stored.note.head.status == UNREADABLE:
            raise MdmemoryError(stored.note.head.problems[0], "Open the file itself.")
        cited = layers.cited(memory, [stored.file])
        if not options.json:
            mark = memory.mark(stored.file)
        else:
            [row] = memory.listing(digests=False, files=[stored.file])
    if not options.json:
        sys.stdout.write(stored.note.text)
        if mark:
            sys.stdout.flush()  # both may go to one terminal
            warn_person(f"This note is {mark.replace('held', 'on hold')}; see `mdmemory review`.")
        _warn_of_drift(cited, stored.file)
        return 0
    cites = [each._asdict() for each in cited]
    about = {"body": stored.note.body, "head": read_fields(stored.note), "cites": cites}
    emit_json({**_row_json(row, layers.of(memory)), "digest": stored.digest, **about})
    return 0


def _warn_of_drift(cited: Sequence[CheckedCitation], file: str) -> None:
    """Warn of what the note cites and the project does not hold any more."""
    drifted = [each for each in cited if each.state != "fresh"]
    if drifted:
        from mdmemory.cli.checking import citation_lines

        sys.stdout.flush()
        print("\n".join(["", *citation_lines(drifted)[1:]]), file=sys.stderr)
        if any(each.is_outdated for each in drifted):
            name = file.removesuffix(".md")
            warn_person(
                f"The project changed since. If it still holds: `mdmemory review {name} keep`."
            )


def run_edit(layers: Layers, options: Namespace) -> int:
    memory, name = layers.holding(options.name)
    same = "Nothing changed."
    if options.body is None and options.description is None:
        if not is_terminal():
            raise UsageError(
                "Nothing to change.", "Pass --description, BODY, or `-` to read the body."
            )
        return report_note(layers, memory, options, _edit_note(memory, name), "Changed", same)
    if options.body is None or options.description is not None:
        body = _read_body(options.body) if options.body is not None else None
        done = memory.edit(name, description=options.description, body=body)
        return report_note(layers, memory, options, done, "Changed", same)
    done, description = memory.say_anew(name, _read_body(options.body) or "")
    code = report_note(layers, memory, options, done, "Changed", same)
    if description and not (options.json or done.same):
        print(f"{'description':<13}{visible_text(description)}")
    return code


def run_rename(layers: Layers, options: Namespace) -> int:
    memory, name = layers.holding(options.name)
    done = memory.rename(name, options.new)
    edited, written = done.edited, done.edited.written
    for file, why in written.kept:
        warn_person(f"{file} was not changed: {why}.")
    for file in done.left:
        warn_person(f"{file} still links to the old name, which stays an alias.")
    if options.json:
        about = {"file": edited.file, "name": edited.name, "digest": edited.digest}
        about |= {"layer": layers.of(memory)}
        emit_json({**about, "commit": written.commit, "was": done.before, "linked": [*done.linked]})
    elif edited.same:
        print(f"{edited.file} has this name already.")
    else:
        whose = " in your own store" if layers.of(memory) == USER else ""
        commit = str(written.commit)[:10]
        print(f"Renamed {done.before} to {edited.file}{whose} (commit {commit}).")
        if done.linked:
            print(
                f"Links follow in {count_noun(len(done.linked), 'note')}: {', '.join(done.linked)}."
            )
    return 1 if written.kept else 0


def report_note(
    layers: Layers, memory: Memory, options: Namespace, done: Edited, verb: str, same: str
) -> int:
    """Tell what became of a note, and return the exit code."""
    for file, why in done.written.kept:
        warn_person(f"{file} was not changed: {why}.")
    if options.json:
        about: dict[str, Any] = {"file": done.file, "name": done.name, "digest": done.digest}
        about |= {"commit": done.written.commit, "layer": layers.of(memory)}
        about |= getattr(options, "made", {})
        emit_json({**about, **({"superseded": [*done.superseded]} if done.superseded else {})})
    elif done.same:
        print(same)
    else:
        where = f"commit {done.written.commit[:10]}" if done.written.commit else "not committed"
        whose = " in your own store" if layers.of(memory) == USER else ""
        print(f"{verb} {done.file}{whose} ({where}).")
        tell_of_others(done)
        if not done.written.commit and not done.written.kept:
            _warn_of_no_commit(memory)
    return 1 if done.written.kept else 0


def _warn_of_no_commit(memory: Memory) -> None:
    """Warn why there is no commit, unless the folder simply has no git.

    A store in the memory folder was made with git: there something is amiss.
    """
    why = memory.refusal()
    is_usual = isinstance(why, NoGit) and memory.project.around is None
    if why is not None and not is_usual:
        warn_person(f"A later commit will include it. {why.sentences}")


def _row_description(row: Listed) -> str:
    """The description, hidden if the note is on hold: it may be the secret."""
    return "(on hold)" if row.status == "held" else row.head.description


def _row_json(row: Listed, layer: str) -> dict[str, Any]:
    head = row.head
    return {
        "file": head.file,
        "name": head.name,
        "description": _row_description(row),
        "type": head.type,
        "kind": head.kind,
        "digest": row.digest,
        "strength": row.strength,
        "listed": row.listed,
        "status": row.status,
        "layer": layer,
    }


def _read_body(given: str | None) -> str | None:
    """The body from the arguments or standard input; None: open the editor."""
    if given == "-":
        return sys.stdin.read().rstrip("\n")
    if given is None and not is_terminal():
        raise UsageError("The note has no body.", "Pass BODY, or `-` to read standard input.")
    return given


def _write_note(layers: Layers, options: Namespace) -> Edited:
    from mdmemory.cli.editor import edited_copy

    check_name(options.name)  # it names the copy
    with edited_copy(f"{options.description}\n", f"{options.name}.md") as text:
        return _add_note(layers, options, text.rstrip("\n"))


def _edit_note(memory: Memory, name: str) -> Edited:
    from mdmemory.cli.editor import edited_copy

    stored = memory.note(name)
    with edited_copy(stored.note.text, stored.file) as text:
        return memory.replace_text(stored.file, text, replaces=stored.digest, seen=stored.note.text)
