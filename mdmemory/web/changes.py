"""What was done: each commit with its ops and difference, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from mdmemory.actions.note_history import TextChange
from mdmemory.errors import MdmemoryError
from mdmemory.git.log import ID_TRAILER, Logged
from mdmemory.memory import Memory
from mdmemory.store.store import is_note_name
from mdmemory.web import marks
from mdmemory.web.site import Site, note_path, whole

SIZE = 30  # changes of a page
MOST_FILES = 40  # of a change that are shown
MOST_OPS = 6  # of a change that the list shows
_NO_WAY_BACK = frozenset({"init", "move", "sync", "mend", "erase"})  # have other ways


def changes(site: Site, request: Request) -> Response:
    """All changes of both layers, newest first."""
    number = max(1, whole(request.query_params.get("page", "")))
    needed = number * SIZE + 1
    try:
        entries = _newest(site, needed)
        problem = ""
    except MdmemoryError as why:
        entries, problem = [], why.sentences
    rows = [_row(layer, entry, undone) for entry, undone, layer in entries]
    shown = rows[(number - 1) * SIZE : number * SIZE]
    return site.page(
        request, "changes.html", rows=shown, problem=problem, number=number,
        has_more=len(rows) > number * SIZE, most_ops=MOST_OPS,
    )  # fmt: skip


def _newest(site: Site, count: int) -> list[tuple[Logged, bool, str]]:
    """So many changes of both layers, newest first."""
    layers = site.layers
    marks_ = tuple(glance.commits for _, glance in site.glances())
    cache = site.kept.get(("newest", count), marks_, lambda: layers.log(count))
    return cache.value if cache.is_fresh else layers.log(count)


def _row(layer: str, entry: Logged, undone: bool) -> dict[str, Any]:
    kind = entry.get("Memory-Op") or ""
    id = entry.get(ID_TRAILER) or entry.commit
    return {
        "layer": layer, "id": id, "commit": entry.commit, "time": entry.time, "kind": kind,
        "subject": subject_of(entry), "ops": entry.ops, "undone": undone,
        "waits": entry.waits, "session": entry.get("Memory-Session") or "",
        "model": entry.get("Memory-Model") or "", "path": f"/changes/{layer}/{id}",
        "can_undo": not undone and bool(kind) and kind not in _NO_WAY_BACK,
    }  # fmt: skip


def subject_of(entry: Logged) -> str:
    """The subject of a commit without what stands beside it: whose it is, and its kind."""
    kind = entry.get("Memory-Op") or ""
    return entry.subject.removeprefix("memory: ").removeprefix(f"{kind} ")


def change(site: Site, request: Request) -> Response:
    """One change: its ops, and each file's difference word by word."""
    layer, id = request.path_params["layer"], request.path_params["id"]
    memory = site.memory(layer)
    entry, undone, touched = site.of_commits(("change", id), memory, lambda: _read(memory, id))
    files = [
        {"name": each.file, "mark": each.mark, "text": marks.changes(each.before, each.after),
         "path": note_path(layer, each.file) if is_note_name(each.file) else ""}
        for each in touched
    ]  # fmt: skip
    every = {file for group in entry.groups() for file in group}
    return site.page(
        request, "change.html", row=_row(layer, entry, undone), files=files,
        more=max(0, len(every) - MOST_FILES) if len(files) >= MOST_FILES else 0,
        trailers=[(name, value) for name, value in entry.trailers if name != "Memory-Files"],
    )  # fmt: skip


def _read(memory: Memory, id: str) -> tuple[Logged, bool, Sequence[TextChange]]:
    """A change, whether it was undone, and what it did."""
    newest = memory.log(1) if id == "newest" else []
    entry = newest[0][0] if newest else memory.change(id)
    files = memory.file_changes([entry.commit], most=MOST_FILES)[entry.commit]
    return entry, memory.is_undone(entry), files


def undo(site: Site, request: Request) -> Response:
    """Take a change back."""
    layer, id = request.path_params["layer"], request.path_params["id"]
    memory = site.memory(layer)
    with site.acting:
        undone = memory.undo(id)
    sentence = f"Taken back: {'; '.join(undone.facts) or id}. {undone.told_handmade()}".rstrip()
    files = [f"{file}: {why}" for file, why in undone.kept]
    if files and not undone.restored:
        raise MdmemoryError(
            f"Not taken back. {'; '.join(files)}.",
            "The history of the note brings an older text back.",
        )
    text = sentence if undone.restored else "The files are as they were already."
    if files:
        text += f" These stay: {'; '.join(files)}."
    return site.done(text, site.undoing(memory, undone.written.id), "/changes")
