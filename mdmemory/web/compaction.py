"""Compaction: a plan that is looked at before it is applied, made without a model unless asked."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from mdmemory.compact.plan import Delete, Flag, Merge, Op, Rewrite, describe, named, render
from mdmemory.compact.runner import Outcome
from mdmemory.errors import MdmemoryError, NoteChanged, NotFound
from mdmemory.layers import PROJECT, USER
from mdmemory.llm.choose import sends_to
from mdmemory.memory import Memory
from mdmemory.store.store import Store
from mdmemory.web import marks
from mdmemory.web.jobs import Job
from mdmemory.web.site import Site, note_path, redirect

MOST = 100  # ops that are shown
_OFFLINE, _MODEL = "offline", "model"


@dataclass(frozen=True, slots=True)
class Preview:
    """A plan as it was found, and the id by which a form means it."""

    id: str
    outcome: Outcome


def compaction(site: Site, request: Request) -> Response:
    """What is due, and the plan that was asked for last."""
    layer = request.query_params.get("layer", "") or site.layers.main.layer
    memory = site.memory(layer)
    job = site.jobs.get(_name(layer))
    with memory.state() as state:
        last = state.last_pass()
    settings = memory.project.settings
    planner = settings.text("planner")
    preview: Preview | None = job.value if job and job.is_done else None
    return site.page(
        request, "compaction.html", wait=bool(job and not job.is_done), layer=layer,
        layers=[each for each, _ in site.layers.each()], job=job,
        last=last, due=_due(site, layer, memory), planner=planner, sends_to=sends_to(settings),
        has_model=planner != _OFFLINE, preview=preview, plan=_plan(memory, layer, preview),
    )  # fmt: skip


def _name(layer: str) -> str:
    return f"plan-{layer}"


def _due(site: Site, layer: str, memory: Memory) -> str:
    glance, now = site.glance(memory), memory.now()
    mark = (glance.notes, glance.state, now.isoformat()[:15])  # ten minutes
    try:
        return site.kept.get(("due", layer), mark, memory.due).value or ""
    except MdmemoryError:
        return ""


def preview(site: Site, request: Request) -> Response:
    """Begin to make a plan; nothing is changed by it."""
    form = site.form(request)
    layer = form.get("layer") if form.get("layer") in (PROJECT, USER) else PROJECT
    memory = site.memory(layer)
    offline = form.get("planner") != _MODEL

    def work(job: Job) -> Preview:
        def report(done: int, total: int, what: str) -> None:
            job.step = f"{done} of {total} {what}"

        outcome = memory.compact(offline=offline, dry_run=True, report=report)
        return Preview(secrets.token_hex(6), outcome)

    site.jobs.forget(_name(layer))
    site.jobs.begin(_name(layer), work, soon=0.4)
    return redirect(f"/compaction?layer={layer}")


def apply(site: Site, request: Request) -> Response:
    """Apply those ops of the plan that are ticked, to the notes as they were shown."""
    form = site.form(request)
    layer = form.get("layer")
    memory, job = site.memory(layer), site.jobs.get(_name(layer))
    preview = job.value if job and job.is_done else None
    if preview is None or preview.id != form.get("plan"):
        raise NotFound("That plan is not at hand any more.", "Make a new one.")
    wanted = {*form.all("op")}
    ops = [op for at, op in enumerate(preview.outcome.applied) if str(at) in wanted]
    if not ops:
        raise MdmemoryError("No line was chosen.", "Tick what is to be done.")
    digests = {file: preview.outcome.digests[file] for op in ops for file in named(op)
               if file in preview.outcome.digests}  # fmt: skip
    with site.acting:
        done = memory.compact(plan=render(ops, digests))
    site.jobs.forget(_name(layer))
    if done.outcome != "applied":
        raise NoteChanged(f"Nothing was changed: {_why(done)}.", "Make a new plan.")
    text = f"Done: {_count(len(done.applied))}."
    if left := [*done.skipped, *((op, why) for op, _, why in done.refused)]:
        text += f" {_count(len(left))} left out: {'; '.join(why for _, why in left)}"
    return site.done(text, site.undoing(memory, done.id), "/compaction")


def _count(number: int) -> str:
    return f"{number} step{'' if number == 1 else 's'}"


def _why(outcome: Outcome) -> str:
    lines = [message for _, message in outcome.refusals]
    lines += [message for _, _, message in outcome.refused]
    lines += [why for _, why in outcome.skipped]
    return "; ".join(dict.fromkeys(each.rstrip(".") for each in lines)) or outcome.outcome


# --- how a plan looks


def _plan(memory: Memory, layer: str, preview: Preview | None) -> Mapping[str, Any]:
    if preview is None:
        return {}
    outcome = preview.outcome
    store = Store(memory.project.store)
    return {
        "id": preview.id, "ops": [_show(store, layer, op) for op in outcome.applied[:MOST]],
        "more": max(0, len(outcome.applied) - MOST),
        "left": [
            *(("skipped", describe(op), why) for op, why in outcome.skipped),
            *(("refused", describe(op), message) for op, _, message in outcome.refused),
        ],
        "refusals": [message for _, message in outcome.refusals],
        "tokens": outcome.tokens, "model": outcome.model,
    }  # fmt: skip


def _show(store: Store, layer: str, op: Op) -> Mapping[str, Any]:
    """An op in words, with what it does to the texts."""
    files = [file for file in dict.fromkeys(named(op)) if not isinstance(op, Merge)
             or file in op.sources]  # fmt: skip
    texts = {file: _text(store, file) for file in files}
    about: list[tuple[str, Any]] = []
    match op:
        case Merge():
            base = texts.get(op.target) or texts[op.sources[0]]
            text = f"{op.description}\n\n{op.body.strip()}"
            about = [(f"{op.target}, which stays", marks.changes(base, text) or text)]
            about += [(f"{file}, which goes", texts[file]) for file in files if file != op.target]
            title = op.description
        case Delete():
            about = [(f"{op.file}, which goes", texts[op.file])]
            title = texts[op.file].partition("\n")[0]
        case Rewrite():
            title = op.description or texts[op.file].partition("\n")[0]
            changed = marks.changes(texts[op.file], f"{title}\n\n{op.body}")
            about = [(f"{op.file}, with the difference", changed)]
        case Flag():
            about = _pair(texts)
            title = "Flag a contradiction, for you to settle in the inbox"
    links = [(file.removesuffix(".md"), note_path(layer, file)) for file in files]
    word = type(op).__name__.lower()
    return {"kind": word, "title": title, "reason": op.reason, "links": links, "about": about}


def _pair(texts: Mapping[str, str]) -> list[tuple[str, Any]]:
    if len(texts) != 2:
        return [(file.removesuffix(".md"), text) for file, text in texts.items()]
    marked: Sequence[Any] = marks.beside(*texts.values())
    return [(file.removesuffix(".md"), text) for file, text in zip(texts, marked, strict=True)]


def _text(store: Store, file: str) -> str:
    try:
        note = store.read(file).note
    except NotFound:
        return ""
    return f"{note.head.description}\n\n{note.body.strip()}"
