"""One note: its text, links, place in the index, and its life with every step's difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from mdmemory.actions.glance import LinkMap
from mdmemory.actions.note_history import BY_HAND, REVERT, WORK_TREE, Step
from mdmemory.errors import BadNote, MdmemoryError, NoteChanged, NotFound
from mdmemory.memory import Memory
from mdmemory.note.note import UNREADABLE, Head
from mdmemory.privacy import is_secret, redacted_text
from mdmemory.store import catalog
from mdmemory.store.store import Store, StoredNote, is_note_name
from mdmemory.unseen import shown_text
from mdmemory.web import marks
from mdmemory.web.around import Surroundings
from mdmemory.web.markdown import render
from mdmemory.web.notes import STRONGEST, NoteRow, rows, why
from mdmemory.web.site import Form, Site, note_path

_QUICKLY = 2.0  # seconds that one command of git may take while a page waits

WAITS = "waits"
STEPS = 30  # of a history that are shown at once
MOST_LINKED = 50
_WHY = "Why:"  # begins a line with a reason
_SAID = {
    "explicit": "You asked for it", "manual": "Written by hand", "extraction": "Found in a session",
    "assistant": "An assistant stored it",
}  # fmt: skip


def note(site: Site, request: Request) -> Response:
    """The page of a note, also of one that was removed."""
    layer, memory, file = _find_note(site, request)
    try:
        stored: StoredNote | None = Store(memory.project.store).read(file)
    except NotFound:
        stored = None
    every = rows(site, layer)
    row = every.value.get(file)
    hold = "" if stored is None else _on_hold(stored, row)
    # of a secret all but the secret is shown; an order to an assistant, only to a person
    is_hidden = hold == catalog.SECRET
    is_shielded = hold not in ("", catalog.SECRET) and not site.is_at_terminal
    steps, problem = _steps(site, memory, file)
    if stored is None and not steps:
        raise NotFound(f"There is no note {file.removesuffix('.md')}.", "The list shows all notes.")
    more = request.query_params.get("more", "")
    links = Surroundings(link_map(site, layer), every.value)
    text, reasons = stored.note.body if stored else "", list[str]()
    if stored and not hold:
        text, reasons = _split_reasons(stored)
    items = site.items().value if hold == WAITS else ()
    whys = (item.why for item in items if (item.layer, item.key) == (layer, file))
    return site.page(
        request, "note.html", is_fresh=every.is_fresh, layer=layer, file=file, stored=stored,
        row=row, hold=hold,
        head=stored.note.head if stored else None,
        body=_body(site, layer, stored, text, is_hidden, is_shielded),
        reasons=render("\n".join(reasons), _leads(site, layer)) if reasons else "",
        is_secret=is_hidden, held_why=next(whys, WAITS) if hold == WAITS else "",
        timeline=[] if is_shielded else _timeline(steps, None if more else STEPS, is_hidden),
        total=0 if is_shielded else len(steps),
        problem=problem, why=why, told=row.place.told() if row else "", strongest=STRONGEST,
        place=str(memory.project.store / file), links=_list_links(site, layer, file, stored, links),
        name=_name(stored, file, is_hidden), path_of=note_path(layer, file),
        said=_SAID.get(stored.note.head.source, "") if stored else "",
        around=links.picture(file) if stored else None,
        facts=_facts(stored.note.head, is_hidden) if stored else [],
        cited=_cited(memory, stored) if stored and not hold else [],
    )  # fmt: skip


def _find_note(site: Site, request: Request) -> tuple[str, Memory, str]:
    """The layer, its memory and the file that an address names. Raises NotFound."""
    layer, name = request.path_params["layer"], request.path_params["name"]
    file = f"{name}.md"
    if "/" in file or "\0" in file or not is_note_name(file) or len(file) > 200:
        raise NotFound("That is no note's name.", "The list shows all notes.")
    return layer, site.memory(layer), file


def _on_hold(stored: StoredNote, row: NoteRow | None) -> str:
    """Why a note is on hold: it holds a SECRET, or WAITS for a person; "" where it is not."""
    if catalog.is_held(stored.note, is_secret):
        return catalog.SECRET
    return WAITS if row and row.status == "on hold" else ""


def _name(stored: StoredNote | None, file: str, is_hidden: bool) -> str:
    name = stored.note.head.name if stored else file.removesuffix(".md")
    return redacted_text(name) if is_hidden else name


def _body(
    site: Site, layer: str, stored: StoredNote | None, text: str, is_hidden: bool, is_shielded: bool
) -> Any:
    """The text of a note; of one that is on hold without its secrets, as it stands."""
    if stored is None or stored.note.head.status == UNREADABLE:
        return ""
    if is_shielded:
        return "(shown only where a person started `mdmemory web` at a terminal)"
    if is_hidden:
        return Markup('<pre class="plain">{}</pre>').format(
            shown_text(redacted_text(stored.note.body))
        )
    return render(text, _leads(site, layer))


def _split_reasons(stored: StoredNote) -> tuple[str, list[str]]:
    """The text of a note without what its title says already, and the reasons that it gives."""
    lines, reasons = list[str](), list[str]()
    into = lines
    for line in stored.note.body.splitlines():
        if line.startswith(_WHY) or not line.strip():  # a reason goes on to the next blank line
            into = reasons if line.strip() else lines
            line = f"\n{line.removeprefix(_WHY).strip()}"
        into.append(line)
    text = "\n".join(lines).strip()
    is_same = text.rstrip(".") == stored.note.head.description.strip().rstrip(".")
    return "" if is_same else text, reasons


def _facts(head: Head, is_hidden: bool) -> list[tuple[str, str]]:
    """What the head says besides name and description."""
    reinforced = f"{head.reinforced} times, last on {head.last_reinforced}"
    pairs = [
        ("Type", f"{head.type}, {head.kind}" if head.kind else head.type),
        ("Source", head.source), ("Importance", head.importance), ("Created", head.created),
        ("Changed", head.updated), ("Said again", reinforced if head.reinforced else ""),
        ("Also called", ", ".join(each for each in head.aliases if each != head.name)),
        ("Superseded", head.superseded),
    ]  # fmt: skip
    return [(name, redacted_text(text) if is_hidden else text) for name, text in pairs if text]


def _cited(memory: Memory, stored: StoredNote) -> list[dict[str, Any]]:
    """What the note cites in the project, and how that stands now."""
    if not stored.note.head.cites:
        return []
    try:
        states = memory.citations([stored.file], patience=_QUICKLY)
    except MdmemoryError:  # no project, or its git cannot be asked
        return []
    return [
        {"place": each.place, "state": each.state, "now": each.now, "why": each.why,
         "diff": marks.signed(each.diff)}
        for each in states
    ]  # fmt: skip


# --- links


def link_map(site: Site, layer: str) -> LinkMap:
    """The links between the notes of a layer; only what changed is read again."""
    before = site.kept.peek(("links", layer))
    return site.of_notes("links", layer, lambda memory: memory.links(before)).value


def _leads(site: Site, layer: str) -> Callable[[str], str | None]:
    """Where a link of a note leads: to a note of its layer, else of the other one."""
    order = [layer, *(each for each, _ in site.layers.each() if each != layer)]
    maps = [(each, link_map(site, each)) for each in order]

    def leads(name: str) -> str | None:
        path = ((each, known.leads_to(name)) for each, known in maps)
        return next((note_path(each, file) for each, file in path if file), None)

    return leads


def _list_links(
    site: Site, layer: str, file: str, stored: StoredNote | None, around: Surroundings
) -> dict[str, Any]:
    """The links of a note in both directions, and what it replaced, with what they are about."""
    known = link_map(site, layer)
    about = rows(site, layer).value

    def shown(other: str) -> dict[str, str]:
        name, row = other.removesuffix(".md"), about.get(other)
        return {"name": name, "path": note_path(layer, other),
                "about": row.description if row else name}  # fmt: skip

    leads = _leads(site, layer) if stored else lambda _: None
    out = [
        {
            "name": name,
            "path": leads(name),
            "about": about[to].description if to and to in about else "",
        }
        for name, to in known.out_of(file)
    ]
    into = known.into(file)
    return {
        "out": out[:MOST_LINKED],
        "into": [shown(other) for other in into[:MOST_LINKED]],
        "replaced": [shown(other) for other in around.older[file]],
        "more": max(0, len(into) - MOST_LINKED),
    }


# --- its life


def _steps(site: Site, memory: Memory, file: str) -> tuple[Sequence[Step], str]:
    """The versions of a note, newest first, or why there are none."""
    mark = site.glance(memory).notes
    try:
        name = ("life", file, mark)
        return site.of_commits(name, memory, lambda: memory.history(file)), ""
    except NotFound:
        return [], ""
    except MdmemoryError as problem:
        return [], problem.sentences


def _timeline(steps: Sequence[Step], most: int | None, is_hidden: bool) -> list[dict[str, Any]]:
    """The steps as the page shows them, each with its difference from the one before."""
    rows = []
    for at, step in enumerate(steps[:most]):
        before = next((each.text for each in steps[at + 1 :] if each.text is not None), "")
        after, logged = step.text or "", step.logged
        if is_hidden:
            before, after = redacted_text(before or ""), redacted_text(after)
        is_ours = step.kind not in (BY_HAND, REVERT, WORK_TREE)
        rows.append({
            "time": logged.time, "kind": step.kind, "commit": logged.commit,
            "subject": logged.subject.removeprefix("memory: ").removeprefix(f"{step.kind} "),
            "is_gone": step.text is None,
            "file": step.file, "diff": marks.changes(before or "", after),
            "is_ours": is_ours,
            "is_new": not before and step.text is not None,
            "can_return": at > 0 and step.text is not None and not is_hidden,
        })  # fmt: skip
    return rows


def undo_step(site: Site, request: Request) -> Response:
    """Take one step of a note's life back: the commit that made it."""
    layer, memory, file = _find_note(site, request)
    commit = site.form(request).get("commit")
    with site.acting:
        undone = memory.undo(commit)
    if undone.kept:
        files = ", ".join(f"{each} ({reason})" for each, reason in undone.kept)
        raise NoteChanged(
            f"Not taken back: {files}.", "An older text can be brought back from the history below."
        )
    text = f"Taken back: {'; '.join(undone.facts) or file}"
    return site.done(text, site.undoing(memory, undone.written.id), note_path(layer, file))


def bring_back(site: Site, request: Request) -> Response:
    """Give a note the text again that it had after one of its steps."""
    layer, memory, file = _find_note(site, request)
    form = site.form(request)
    commit = form.get("commit") or None
    step = next((each for each in memory.history(file) if each.logged.commit == commit), None)
    if step is None or step.text is None:
        raise NotFound("There is no text of that time.", "The history lists what there is.")
    with site.acting:
        done = memory.replace_text(file, step.text, replaces=form.get("seen"))
    text = f"{done.name} says again what it said on {step.logged.time[:10]}."
    return site.done(text, site.undoing(memory, done.written.id), note_path(layer, file))


# --- changing it


def edit(site: Site, request: Request) -> Response:
    """The form for a note's description and text."""
    layer, memory, file = _find_note(site, request)
    return _edit_page(site, request, layer, memory, file)


def _edit_page(
    site: Site, request: Request, layer: str, memory: Memory, file: str,
    form: Form | None = None, before: str = "",
) -> Response:  # fmt: skip
    """The form; after a stale one with what was typed, and what changed meanwhile."""
    stored = _require(memory, file)
    head, body = stored.note.head, stored.note.body
    typed = form or Form({"description": [head.description], "body": [body]})
    return site.page(
        request, "note_edit.html", status=409 if form else 200, name=head.name,
        path_of=note_path(layer, file), seen=stored.digest, text=stored.note.text,
        description=typed.get("description"), body=typed.get("body"),
        changed=marks.changes(before, stored.note.text) if form else "",
    )  # fmt: skip


def _require(memory: Memory, file: str) -> StoredNote:
    """The note. Raises what keeps it from being edited here."""
    stored = Store(memory.project.store).read(file)
    if catalog.is_held(stored.note, is_secret):
        raise BadNote(
            f"{stored.note.head.name} is on hold: it seems to hold a secret.",
            f"Take the secret out in its own file: {memory.project.store / file}",
        )
    return stored


def save(site: Site, request: Request) -> Response:
    """Store what was typed, unless the note changed since the form was made."""
    layer, memory, file = _find_note(site, request)
    form = site.form(request)
    with site.acting:
        stored = _require(memory, file)
        if stored.digest != form.get("seen"):
            return _edit_page(site, request, layer, memory, file, form, form.get("before"))
        body = form.get("body")
        same = body.strip() == stored.note.body.replace("\r\n", "\n").strip()
        done = memory.edit(
            file, description=form.get("description").strip(), body=None if same else body,
            replaces=stored.digest,
        )  # fmt: skip
    text = "Nothing changed." if done.same else f"Changed {done.name}."
    return site.done(text, site.undoing(memory, done.written.id), note_path(layer, file))


def rename(site: Site, request: Request) -> Response:
    """Give a note another name; the links to it follow."""
    layer, memory, file = _find_note(site, request)
    with site.acting:
        done = memory.rename(file, site.form(request).get("name").strip())
    edited = done.edited
    followed = f" Links follow in {len(done.linked)} notes." if done.linked else ""
    text = "It has this name already." if edited.same else f"Renamed to {edited.name}.{followed}"
    return site.done(text, site.undoing(memory, edited.written.id), note_path(layer, edited.file))


def confirm(site: Site, request: Request) -> Response:
    """Stand by a note that was unconfirmed."""
    layer, memory, file = _find_note(site, request)
    with site.acting:
        _require_seen(memory, file, site.form(request))
        done = memory.confirm(file)
    text = f"{done.name} is confirmed already." if done.same else f"Confirmed {done.name}."
    return site.done(text, site.undoing(memory, done.written.id), note_path(layer, file))


def forget(site: Site, request: Request) -> Response:
    """Remove a note; history keeps its text."""
    layer, memory, file = _find_note(site, request)
    with site.acting:
        _require_seen(memory, file, site.form(request))
        done = memory.remove(file)
    also = f", and {', '.join(done.also)}, which it had replaced" if done.also else ""
    text = f"Removed {done.name}{also}. Its text stays in the history."
    return site.done(text, site.undoing(memory, done.written.id), note_path(layer, file))


def _require_seen(memory: Memory, file: str, form: Form) -> None:
    if Store(memory.project.store).read(file).digest != form.get("seen"):
        raise NoteChanged(f"{file} was changed meanwhile.", "Look at it and answer again.")
