"""The sessions that taught the memory: what was captured, dropped and why, what was recalled."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from mdmemory.errors import MdmemoryError, NotFound
from mdmemory.layers import MINE, PROJECT, USER
from mdmemory.memory import Memory
from mdmemory.review.waiting import reason
from mdmemory.session.recalls import KnownSession
from mdmemory.store.store import is_note_name
from mdmemory.tools.session import stored_content
from mdmemory.web.changes import subject_of
from mdmemory.web.notes import rows
from mdmemory.web.site import Site, cut, note_path

SIZE = 40
_KEPT = ("added", "updated", "reinforced", "superseded", "flagged")
_WAITS = ("pending", "unconfirmed")
_OUTCOMES = (*_KEPT, *_WAITS, "dropped", "failed")
_PHASES = {
    "asked": "you asked for it", "model": "a model found it", "summary": "from a summary",
    "assistant": "an assistant stored it", "run": "the reading as a whole",
}  # fmt: skip


def sessions(site: Site, request: Request) -> Response:
    """All sessions that anything is remembered of."""
    pairs = [(layer, each) for layer, memory in site.layers.each()
             for each in memory.known_sessions()]  # fmt: skip
    pairs.sort(key=lambda pair: pair[1].time, reverse=True)
    rows = [_row(layer, each) for layer, each in pairs]
    shown = cut(rows, request.query_params.get("page", ""), SIZE)
    return site.page(request, "sessions.html", shown=shown)


def _row(layer: str, each: KnownSession) -> dict[str, Any]:
    number = sum(each.outcomes[outcome] for outcome in _KEPT)
    return {
        "id": each.id, "layer": layer, "time": each.time, "kept": number,
        "waits": sum(each.outcomes[outcome] for outcome in _WAITS),
        "dropped": sum(count for outcome, count in each.outcomes.items()
                       if outcome not in (*_KEPT, *_WAITS)),
        "recalled": each.recalled, "tokens": each.tokens,
        "path": f"/sessions/{quote(each.id, safe='')}",
    }  # fmt: skip


def session(site: Site, request: Request) -> Response:
    """One session: each candidate with its outcome and reasons, recalled notes, changes."""
    id = request.path_params["id"]
    wanted = request.query_params.get("outcome", "")
    captures = [
        {"time": each.time, "phase": _PHASES.get(each.phase, each.phase), "outcome": each.outcome,
         "reasons": [reason(word) for word in each.reasons], "preview": each.preview,
         "path": _path(layer, each.preview) if is_note_name(each.preview or "_") else "",
         "about": _sentence(site, layer, each.preview),
         "near": [(_sentence(site, layer, file) or file.removesuffix(".md"), _path(layer, file))
                  for file in each.near]}
        for layer, memory in site.layers.each()
        for each in memory.captures()
        if each.session == id
    ]  # fmt: skip
    recalls = [
        {"name": each.file.removesuffix(".md"), "path": _path(layer, each.file),
         "about": _sentence(site, layer, each.file),
         "time": each.time, "tokens": each.tokens, "is_seen": each.is_seen}
        for layer, memory in site.layers.each()
        for each in memory.recalled(id)
    ]  # fmt: skip
    changes = [
        (layer, entry, undone)
        for layer, memory in site.layers.each()
        for entry, undone, _ in read_log(site, memory)
        if entry.get("Memory-Session") == id
    ]
    parts = _stored(site, id)
    if not (captures or recalls or changes or parts):
        raise NotFound(f"Nothing is known of a session {id[:80]}.", "The list shows all.")
    outcomes = [
        (outcome, sum(each["outcome"] == outcome for each in captures)) for outcome in _OUTCOMES
    ]
    return site.page(
        request, "session.html", id=id, total=len(captures), wanted=wanted,
        captures=[each for each in captures if wanted in ("", each["outcome"])],
        outcomes=[pair for pair in outcomes if pair[1]], recalls=recalls,
        tokens=sum(each["tokens"] for each in recalls), kept=parts,
        changes=[
            {"path": f"/changes/{layer}/{entry.get('Memory-Id')}", "time": entry.time,
             "subject": subject_of(entry), "undone": undone}
            for layer, entry, undone in changes
        ],
        can_undo_all=any(not undone for _, _, undone in changes),
        path_of=f"/sessions/{quote(id, safe='')}",
    )  # fmt: skip


def _path(layer: str, file: str) -> str:
    mine = file.startswith(MINE)
    return note_path(USER if mine else layer, file.removeprefix(MINE))


def _sentence(site: Site, layer: str, file: str) -> str:
    """What a note is about; "" where it is there no more."""
    layer = USER if file.startswith(MINE) else layer
    known = rows(site, layer).value if layer in dict(site.layers.each()) else {}
    row = known.get(file.removeprefix(MINE))
    return row.description if row else ""


def read_log(site: Site, memory: Memory) -> list[Any]:
    """All changes of a store, each with whether it was undone; none where git cannot be asked."""
    try:
        return list(site.of_commits("log", memory, memory.log))
    except MdmemoryError:
        return []


def _stored(site: Site, id: str) -> list[tuple[str, Any]]:
    """The sections of the session's own memory that hold something."""
    for layer in (PROJECT, USER):
        try:
            parts = stored_content(site.memory(layer), id)["sections"]
        except MdmemoryError:
            continue
        return [(name, [text] if isinstance(text, str) else text)
                for name, text in parts.items() if text]  # fmt: skip
    return []


def undo(site: Site, request: Request) -> Response:
    """Take back all that a session stored."""
    id = request.path_params["id"]
    with site.acting:
        pairs = site.layers.undo_session(id)
    facts = "; ".join(fact for _, done in pairs for fact in done.facts)
    stays = "; ".join(f"{file} stays: {why}" for _, done in pairs for file, why in done.kept)
    text = f"Taken back: {facts or id}. {stays}".rstrip()
    written = next(((memory, done.written.id) for memory, done in pairs if done.written.id), None)
    back = site.undoing(*written) if written else None
    return site.done(text, back, f"/sessions/{quote(id, safe='')}")
