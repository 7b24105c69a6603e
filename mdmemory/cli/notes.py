"""Commands on notes: add, search, list, show, edit, rename, check, forget."""

from __future__ import annotations

import os
import re
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from mdmemory.actions.listing import Listed, in_words
from mdmemory.cli.commands import (
    LISTED,
    UNDO,
    ask_person,
    choose_number,
    count_noun,
    emit_json,
    is_terminal,
    show_value,
    visible_text,
    warn_person,
)
from mdmemory.cli.progress import Progress
from mdmemory.errors import Ambiguous, MdmemoryError, NoGit, NotFound, UsageError
from mdmemory.layers import PROJECT, USER
from mdmemory.memory import Memory
from mdmemory.note.limits import TYPES, check_name
from mdmemory.note.note import UNREADABLE, read_fields

TYPE_CHECKING = False
if TYPE_CHECKING:  # the commands that only read must not pay for writing
    from typing import Any

    from mdmemory.actions.editing import Edited
    from mdmemory.actions.erasing import Erasable
    from mdmemory.citing.citation import CheckedCitation
    from mdmemory.search.results import Hit
    from mdmemory.store.store import StoredNote


_SAME = "already says this; nothing changed."


def run_add(layers: Memory, options: Namespace) -> int:
    if not options.description:
        return _state_fact(layers, options)
    if not options.type:
        raise UsageError("A note with --description needs --type.", f"One of: {', '.join(TYPES)}.")
    name = options.name or options.text
    body = " ".join(options.body) if options.body or options.why else None
    given: AbstractContextManager[str] = nullcontext("")
    if (body := _read_body(body)) is None:
        from mdmemory.cli.editor import edited_copy

        check_name(name)  # it names the copy
        given = edited_copy(f"{options.description}\n", f"{name}.md")
    with given as text:
        done = layers.add(
            name, type=options.type, description=options.description, kind=options.kind,
            body=text.rstrip("\n") if body is None else body, why=options.why,
            everywhere=options.everywhere, cite=options.cite, replaces=options.replaces,
        )  # fmt: skip
    memory = layers.for_type(options.type, everywhere=options.everywhere)
    return report_note(layers, memory, options, done, "Stored", _SAME)


def _field_line(name: str, text: str) -> str:
    return f"{name:<13}{visible_text(text)}"


def _state_fact(layers: Memory, options: Namespace) -> int:
    """Store a sentence, and show what was made of it."""
    from mdmemory.capture.fact import state_fact
    from mdmemory.capture.notice import FLOOR, letter_weight

    text, more = _read_body(options.text) or "", " ".join(options.body)
    is_name = re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", text)
    is_cut = len(options.body) > 1 or letter_weight(text) < FLOOR
    if more and is_cut and " " not in text and not (is_name and "-" in text):
        text, more, is_name = f"{text} {more}", "", None  # without quotes a shell cuts a sentence
    if is_name and (options.type or more):
        hint = "Pass --description, one line; or put the sentence into quotes."
        raise UsageError(f"The note {text} has no description.", hint)
    if is_name:
        raise UsageError(
            f"{text} is a name, and no fact.",
            "Say the fact in a sentence, or give the NAME with --type and --description.",
        )
    body = _read_body(more) or ""
    fact = state_fact(
        text, type=options.type, name=options.name, body=body, kind=options.kind, why=options.why
    )
    replaces: Sequence[str] = options.replaces
    near = layers.near(fact.said) if is_terminal() and not (options.json or replaces) else []
    for number, (file, description) in enumerate(near, 1):
        print(f"{number}  {file}  {visible_text(description)}")
    at = choose_number("Does it replace one of these?", len(near)) if near else None
    replaces = replaces if at is None else [near[at][0]]
    memory, done = layers.state_fact(fact, options.everywhere, cite=options.cite, replaces=replaces)
    fields = [
        _field_line("type", f"{fact.type} {fact.kind}".rstrip()), _field_line("name", done.name),
        _field_line("description", fact.description),
        *(_field_line("", line) for line in filter(str.strip, fact.body.splitlines())),
    ]  # fmt: skip
    return report_note(
        layers, memory, options, done, "Stored", _SAME, *fields,
        type=fact.type, kind=fact.kind, description=fact.description, body=fact.body,
    )  # fmt: skip


def run_list(layers: Memory, options: Namespace) -> int:
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
            mark = visible_text(row.mark) if row.status else "not in the index"
            is_plain = row.listed and not row.status
            print(f"{file}  {_row_description(row)}" + ("" if is_plain else f"  [{mark}]"))
    for _, _, memory, _ in listings:
        print(f"{memory.project.store}: {in_words(memory.counts())}")
    return 0


def run_show(layers: Memory, options: Namespace) -> int:
    with layers.at_one_look():
        memory, name = layers.holding(options.name)
        stored = memory.note(name)
        if options.path and not options.json:
            print(memory.project.store / stored.file)
            return 0
        if stored.note.head.status == UNREADABLE:
            raise MdmemoryError(stored.note.head.problems[0], "Open the file itself.")
        cited = memory.cited([stored.file])
        if not options.json:
            mark = memory.mark(stored.file)
        else:
            [row] = memory.listing(digests=False, files=[stored.file])
    if not options.json:
        sys.stdout.write(stored.note.text)
        if mark:
            sys.stdout.flush()  # both may go to one terminal
            warn_person(f"This note is {mark.replace('held', 'on hold')}; see `mdmemory review`.")
        # what the note cites, and the project does not hold any more
        if drifted := [each for each in cited if each.state != "fresh"]:
            sys.stdout.flush()
            print("\n".join(["", *citation_lines(drifted)[1:]]), file=sys.stderr)
        if any(each.is_outdated for each in drifted):
            name = stored.file.removesuffix(".md")
            warn_person(
                f"The project changed since. If it still holds: `mdmemory review {name} keep`."
            )
        return 0
    cites = [each._asdict() for each in cited]
    about = {"body": stored.note.body, "head": read_fields(stored.note), "cites": cites}
    emit_json({**_row_json(row, memory.layer), "digest": stored.digest, **about})
    return 0


def run_edit(layers: Memory, options: Namespace) -> int:
    memory, name = layers.holding(options.name)
    description = ""
    if options.body is None and options.description is None:
        if not is_terminal():
            raise UsageError(
                "Nothing to change.", "Pass --description, BODY, or `-` to read the body."
            )
        from mdmemory.cli.editor import edited_copy

        note = memory.note(name)
        seen = note.note.text
        with edited_copy(seen, note.file) as text:
            done = memory.replace_text(note.file, text, replaces=note.digest, seen=seen)
    elif options.body is None or options.description is not None:
        body = _read_body(options.body) if options.body is not None else None
        done = memory.edit(name, description=options.description, body=body)
    else:
        done, description = memory.say_anew(name, _read_body(options.body) or "")
    more = [_field_line("description", description)] if description else []
    return report_note(layers, memory, options, done, "Changed", _SAME, *more)


def run_rename(layers: Memory, options: Namespace) -> int:
    memory, name = layers.holding(options.name)
    done = memory.rename(name, options.new)
    for file in done.left:
        warn_person(f"{file} still links to the old name, which stays an alias.")
    notes = f"Links follow in {count_noun(len(done.linked), 'note')}: {', '.join(done.linked)}."
    return report_note(
        layers, memory, options, done.edited, f"Renamed {done.before} to",
        "has this name already.", *([notes] if done.linked else []),
        was=done.before, linked=[*done.linked],
    )  # fmt: skip


def report_note(
    layers: Memory, memory: Memory, options: Namespace, done: Edited, verb: str, same: str,
    *more: str, **made: Any,
) -> int:  # fmt: skip
    """Tell what became of a note, and return the exit code. `more` are lines for people on one that
    changed, `made` is what JSON says of it besides."""
    written, layer = done.written, memory.layer
    for file, why in written.kept:
        warn_person(f"{file} was not changed: {why}.")
    fields: dict[str, Any] = {"file": done.file, "name": done.name, "digest": done.digest}
    fields |= {"commit": written.commit, "layer": layer, **made}
    fields |= {"superseded": [*done.superseded]} if done.superseded else {}
    if options.json or done.same:
        return show_value(options, fields, f"{done.file} {same}", failed=bool(written.kept))
    where = f"commit {written.commit[:10]}" if written.commit else "not committed"
    whose = " in your own store, for all projects" if layer == USER else ""
    lines = [f"{verb} {done.file}{whose} ({where})."]
    for pair in done.superseded:
        text = visible_text(pair["text"])
        lines.append(f"It replaces {pair['file']}, which is superseded now: {text}")
    if written.id:
        lines.append(UNDO.format(written.id))
    is_meant = done.file.startswith(USER) or layers.of_project or options.store
    if verb == "Stored" and layer == USER and not (is_meant or options.everywhere):
        lines.append("This folder is in no project: to move it to one, undo, and add it there.")
    for pair in done.doubtful:
        lines.append(f"It may replace {pair['file']}: {visible_text(pair['text'])}")
    if done.doubtful:
        lines.append("Both stay until you say which holds: `mdmemory review`.")
    files = {pair["file"] for pair in done.doubtful}
    if near := [each for each in done.near if each[0] not in files]:
        lines.append(
            "Near it (`mdmemory add --replaces NAME` says that a fact stands in place of one):"
        )
        lines += [f"  {file}  {visible_text(text)}" for file, text in near]
    lines += more
    if done.cites:  # what a new note cites in the project
        from mdmemory.citing.citation import parse

        cited = ((cite, parse(cite)) for cite in done.cites)
        lines += [_field_line("cites", place.place if place else cite) for cite, place in cited]
    code = show_value(options, fields, *lines, failed=bool(written.kept))
    # a store in the memory folder was made with git: there something is amiss without it
    refusal = memory.refusal() if not written.commit and not written.kept else None
    if refusal and not (isinstance(refusal, NoGit) and memory.project.around is None):
        warn_person(f"A later commit will include it. {refusal.sentences}")
    return code


def _row_description(row: Listed) -> str:
    """The description, hidden if the note is on hold: it may be the secret."""
    return "(on hold)" if row.status == "held" else row.head.description


def _row_json(row: Listed, layer: str) -> dict[str, Any]:
    head = row.head
    return {
        "file": head.file, "name": head.name, "description": _row_description(row),
        "type": head.type, "kind": head.kind, "digest": row.digest, "strength": row.strength,
        "listed": row.listed, "status": row.status, "layer": layer,
    }  # fmt: skip


def _read_body(given: str | None) -> str | None:
    """The body from the arguments or standard input; None: open the editor."""
    if given == "-":
        return sys.stdin.read().rstrip("\n")
    if given is None and not is_terminal():
        raise UsageError("The note has no body.", "Pass BODY, or `-` to read standard input.")
    return given


# --- check


def run_check(layers: Memory, options: Namespace) -> int:
    files: list[str] = []
    for name in options.names:
        memory, own_name = layers.holding(name)
        if memory is not layers.of_project:
            raise NotFound(f"{name} is in your own store, and only a project's notes cite.")
        files.append(memory.note(own_name).file)
    citations = layers.citations(files or None, since=options.diff)
    outdated = [each for each in citations if each.is_outdated]
    shown = citations if options.all else [each for each in citations if each.state != "fresh"]
    lines = citation_lines(shown[:LISTED])
    if more := len(shown[LISTED:]):
        lines.append(f"... and {more} more: `mdmemory check --json` lists all.")
    if options.diff is not None:
        stood = "stood until {} and not any more."
        unsure = "stood until {}; this clone cannot tell what became of that."
        counts = (len(outdated), stood), (len(citations) - len(outdated), unsure)
        says = [f"{count_noun(n, 'citation')} {text}" for n, text in counts if n]
        nothing = "Nothing that the notes cite drifts since {}."
        lines.append((" ".join(says) or nothing).replace("{}", options.diff))
    elif not citations:
        lines.append("The notes cite nothing of the project.")
    else:
        states = Counter(sorted(each.state for each in citations))
        what = ", ".join(f"{count} {state}" for state, count in states.items())
        where = count_noun(len({each.file for each in citations}), "note")
        lines.append(f"{count_noun(len(citations), 'citation')} in {where}: {what}.")
    if outdated:
        lines.append("Next: `mdmemory forget NAME`, `edit` it, or `review NAME keep` if it holds.")
    fields = {"ok": not outdated, "citations": [each._asdict() for each in citations]}
    return show_value(options, fields, *lines, failed=bool(outdated))


def citation_lines(checked: Sequence[CheckedCitation]) -> list[str]:
    """Citations as a person reads them: the note's file once, then a line for each with the lines
    of its diff."""
    lines, file = [], ""
    for each in checked:
        if each.file != file:
            file = each.file
            lines.append(visible_text(file))
        more = (f" -> {each.now}" if each.now else "") + (f"  ({each.why})" if each.why else "")
        lines.append(f"  {each.state:<8} {visible_text(each.place)}{visible_text(more)}")
        lines += [f"      {visible_text(line)}" for line in each.diff.splitlines()]
    return lines


# --- forget

_SHOWN = 400  # characters of a note's text


def run_forget(layers: Memory, options: Namespace) -> int:
    what = " ".join(options.name)
    if options.erase:
        return _erase_note(layers, what, options)
    try:
        memory, name = layers.holding(what)
        gone = memory.note(name)
    except Ambiguous:
        raise
    except NotFound as problem:
        memory, name = _choose_note(layers, what, options, problem)
        gone = memory.note(name)
    done = memory.remove(name)
    lines = [_field_line("description", _description_line(gone))]
    if done.also:
        lines.append(f"With it went what it had replaced: {', '.join(done.also)}.")
    if done.written.commit:
        lines.append("Its text stays in the store's history.")
    return report_note(layers, memory, options, done, "Removed", "", *lines)


# --- for good


def _erase_note(layers: Memory, what: str, options: Namespace) -> int:
    """Erase a note, after the person at the terminal typed its name."""
    if options.json or not is_terminal():
        raise UsageError(
            "Only a person at a terminal can erase a note: it is the one act without undo.",
            "Run the command there, without --json.",
        )
    memory, name = layers.holding(what)
    done = memory.erase(name, _agrees_to_erase)
    print(f"Erased {', '.join(done.files)}; rewrote {count_noun(done.commits, 'commit')}.")
    if done.said_by:
        print(f"Other notes say some of it, too, and stay: {', '.join(done.said_by)}.")
    for file in done.left:
        warn_person(f"{file} holds the text still.")
    if done.push:
        print(
            "The remote still has it, and so has every clone. Overwrite it there:\n"
            f"  {done.push}\nThen clone anew elsewhere, and ask the host to remove old commits."
        )
    print("Sessions of your assistants keep what was said in them: delete those there.")
    return 1 if done.left else 0


def _agrees_to_erase(plan: Erasable) -> bool:
    """Say what goes, and ask for the name."""
    print(f"To be erased, with every version: {', '.join(plan.files)}")
    print("History, refs, inbox, state and search lose the text. This cannot be undone.")
    if plan.remote:
        print(f"{plan.remote} keeps it until you overwrite it; nothing is pushed.")
    return ask_person(f"Type {plan.name} to erase it:") == plan.name


# --- by what it is about


def _choose_note(
    layers: Memory, what: str, options: Namespace, problem: NotFound
) -> tuple[Memory, str]:
    """The note that a person picks of those that a query means. Raises `problem` where there is
    none, and MdmemoryError where nobody answers."""
    notes = layers.described(what)
    if not notes:
        raise problem
    if options.json or not is_terminal():
        files = "\n".join(f"  {each.file}  {_description_line(each.stored)}" for each in notes)
        if not options.json:
            print(files)
        raise NotFound(
            f"There is no note {what}. These may be meant: "
            f"{', '.join(each.file for each in notes)}.",
            "Name the one to forget.",
        )
    for number, each in enumerate(notes, 1):
        body, description = " ".join(each.stored.note.body.split()), _description_line(each.stored)
        print(f"{number}  {each.file}\n   {description}")
        if body.rstrip(".") not in ("", description.rstrip(".")):
            print(f"   {visible_text(body)[:_SHOWN]}")
    if len(notes) == 1:
        is_meant = (ask_person("Forget it? [y/N]") or "").casefold() in ("y", "yes", "1")
        at = 0 if is_meant else None
    else:
        at = choose_number("Forget which?", len(notes))
    if at is None:
        raise MdmemoryError("Nothing was removed.", "`mdmemory list` shows all notes.")
    return layers.holding(notes[at].file)


def _description_line(stored: StoredNote) -> str:
    return visible_text(" ".join(stored.note.head.description.split()))


# --- search

_HIT_LINES = 4  # lines of a hit that are shown to a person
_BELOW_DESCRIPTION = 3  # of these, where the description stands above them
_NO_PROOF = "A match is no proof."
_HIT_WIDTH = 400  # characters of such a line
_MARK = ("\x1b[1;33m", "\x1b[0m")
_TITLE = ("\x1b[1m", "\x1b[0m")


def run_search(layers: Memory, options: Namespace) -> int:
    query, every = " ".join(options.query), options.all_projects
    with Progress(None if every else layers.main, json=options.json) as progress:
        results = layers.search(
            query, k=options.k, source=options.source, at=options.at, report=progress.step,
            all_projects=every,
        )  # fmt: skip
    for sentence in results.said:
        warn_person(sentence)
    if options.json:
        from mdmemory.search.results import as_json

        hits = [as_json(hit) for hit in results.hits]
        return show_value(options, {"mode": results.mode, "hits": hits})
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    colour = colour and os.environ.get("TERM") != "dumb"
    wordless = results.wordless
    shown = [_shown_hit(hit, layers, query, colour, wordless) for hit in results.hits]
    print("\n\n".join([*shown, _NO_PROOF] if shown else ["No matches."]))
    return 0


def _shown_hit(hit: Hit, layers: Memory, query: str, colour: bool, wordless: str) -> str:
    from mdmemory.search.query import mark_words
    from mdmemory.search.results import telling_lines

    file = hit.file
    if hit.source == "memory":
        file = f"{hit.project}/{file}" if hit.project else layers.shown(hit.layer, file)
    place = f"{file}:{hit.start_line}-{hit.end_line}"
    title = f"{_TITLE[0]}{visible_text(place)}{_TITLE[1]}" if colour else visible_text(place)
    status = f"  [{visible_text(hit.mark)}]" if hit.mark else ""
    status += visible_text(f"  {', '.join(hit.matched) or wordless}")
    if hit.source == "sessions":  # the id of a session says little
        status += visible_text(f"  {hit.date}  {hit.title}".rstrip())
    lines = [hit.description] if hit.description else []
    lines += telling_lines(hit, query, _BELOW_DESCRIPTION if lines else _HIT_LINES, _HIT_WIDTH)
    rows = [f"{title}{status}"]
    for line in lines:
        line = visible_text(line)[:_HIT_WIDTH]
        for start, end in reversed(mark_words(query, line)) if colour else ():
            line = f"{line[:start]}{_MARK[0]}{line[start:end]}{_MARK[1]}{line[end:]}"
        rows.append(f"    {line}")
    return "\n".join(rows)
