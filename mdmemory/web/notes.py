"""All notes in a list, and MEMORY.md as an assistant is given it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from mdmemory.actions.listing import IndexPlace, Listed
from mdmemory.citing.citation import DRIFTED
from mdmemory.layers import USER
from mdmemory.memory import Memory
from mdmemory.note.limits import TYPES
from mdmemory.review.items import Kind
from mdmemory.unseen import shown_text
from mdmemory.web.cache import KeptValue
from mdmemory.web.site import Site, cut, note_path

SIZE = 50  # notes of a page
STRONGEST = 7.5
_MOST_WORDS = 20  # that the list is narrowed by
_NAMED = {"held": "on hold"}
_IN_FORCE, _OUT = "in force", "not in the index"
# what `status` may ask for: its own words, and two of the list
STATES = (
    _IN_FORCE,
    DRIFTED,
    "unconfirmed",
    "in conflict",
    "superseded",
    "on hold",
    "unreadable",
    _OUT,
)
_ASKED = ("q", "layer", "type", "status", "source")
SORTS = ("newest", "name", "strongest")


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A note as the list shows it. `told` is what can be searched of it, `day` its last change."""

    layer: str
    file: str
    name: str
    description: str
    type: str
    source: str
    status: str
    mark: str
    strength: float
    listed: bool
    place: IndexPlace
    day: str
    told: str
    again: int
    superseded_by: str


def rows(site: Site, layer: str) -> KeptValue[Mapping[str, NoteRow]]:
    """All notes of a layer by their files, in their order."""

    def make(memory: Memory) -> Mapping[str, NoteRow]:
        places = memory.index_places()
        listing = memory.listing(digests=False)
        return {
            each.head.file: _row(layer, each, places[each.head.file])
            for each in listing if each.head.file in places
        }  # fmt: skip

    return site.of_notes("rows", layer, make)


def _row(layer: str, listed: Listed, place: IndexPlace) -> NoteRow:
    head, is_held = listed.head, listed.status == "held"
    # on hold: the description may be the secret
    description = "(on hold)" if is_held else head.description
    status = _NAMED.get(listed.status, listed.status)
    mark = status if is_held else listed.mark
    type = head.kind or head.type
    words = f"{head.name}\n{head.file}\n{description}\n{' '.join(head.aliases)}".casefold()
    return NoteRow(
        layer, head.file, head.name, description, type, head.source, status, mark,
        listed.strength, listed.listed, place, head.updated or head.created, words,
        head.reinforced, head.superseded_by,
    )  # fmt: skip


def memory(site: Site, request: Request) -> Response:
    """The list, narrowed by what the address asks for."""
    query = request.query_params
    layers = [layer for layer, _ in site.layers.each()]
    caches = [rows(site, layer) for layer in layers]
    every = [row for each in caches for row in each.value.values()]
    is_narrowed = any(query.get(name) for name in _ASKED)
    drifted = {
        (each.layer, each.key) for each in site.items().value if each.kind == Kind.ON_CHANGED
    }
    wanted = _narrow(every, query, drifted)
    sort = query.get("sort", "") if query.get("sort", "") in SORTS else SORTS[0]
    key, is_reversed = _ORDERS[sort]
    wanted = sorted(wanted, key=key, reverse=is_reversed)
    shown_rows = cut(wanted, query.get("page", ""), SIZE)
    sources = sorted({row.source for row in every if row.source})
    return site.page(
        request, "memory.html", is_fresh=all(each.is_fresh for each in caches),
        cut=shown_rows, total=len(every), layers=layers,
        asked={name: query.get(name, "") for name in _ASKED} | {"sort": sort},
        types=[*TYPES, "decision"], states=STATES, sources=sources, sorts=SORTS,
        strongest=STRONGEST, why=why, budgets=[_budget(site, layer) for layer in layers],
        is_narrowed=is_narrowed, drifted=drifted,
    )  # fmt: skip


# Stable, also backwards: equals stay in the order of their files.
_ORDERS: Mapping[str, tuple[Callable[[NoteRow], Any], bool]] = {
    "newest": (attrgetter("day"), True),
    "name": (lambda row: row.name.casefold(), False),
    "strongest": (attrgetter("strength"), True),
}


def _narrow(
    every: list[NoteRow], query: Mapping[str, str], drifted: Collection[tuple[str, str]]
) -> list[NoteRow]:
    """The rows that fit all that was asked for."""
    rows = every
    for name in ("layer", "type", "source"):
        if wanted := query.get(name):
            is_asked = attrgetter(name)
            rows = [row for row in rows if is_asked(row) == wanted]
    status = query.get("status", "")
    if status == _OUT:
        rows = [row for row in rows if not row.listed]
    elif status == DRIFTED:
        rows = [row for row in rows if (row.layer, row.file) in drifted]
    elif status:
        status = "" if status == _IN_FORCE else status
        rows = [row for row in rows if row.status == status]
    for word in query.get("q", "").casefold().split()[:_MOST_WORDS]:
        rows = [row for row in rows if word in row.told]
    return rows


def why(place: IndexPlace) -> str:
    """Why a note is in the index or not, in a few words."""
    if place.listed:
        return "in the index"
    if place.why == "budget":
        return f"no room: place {place.rank:,} of {place.of:,}"
    return f"not in the index: {_NAMED.get(place.why, place.why)}"


# --- MEMORY.md


def _budget(site: Site, layer: str) -> dict[str, Any]:
    """How full the index of a layer is."""
    memory = site.memory(layer)
    text = site.of_notes("index", layer, lambda each: each.index_text())
    notes = rows(site, layer).value
    settings = memory.project.settings
    return {
        "layer": layer, "chars": len(text.value), "tokens": len(text.value) // 4,
        "most_chars": settings.whole("index.max_chars"),
        "listed": sum(row.listed for row in notes.values()), "total": len(notes),
        "most_listed": settings.whole("index.max_entries"), "text": shown_text(text.value),
        "path": str(memory.project.store / "MEMORY.md"),
    }  # fmt: skip


def index(site: Site, request: Request) -> Response:
    """MEMORY.md of each layer, as it stands in a prompt: the person's first."""
    layers = [layer for layer, _ in site.layers.each()]
    budgets = [_budget(site, layer) for layer in sorted(layers, key=lambda layer: layer != USER)]
    return site.page(request, "memory_md.html", budgets=budgets)


def add(site: Site, request: Request) -> Response:
    """Store a fact that is said in a sentence."""
    form = site.form(request)
    layers = site.layers
    with site.acting:
        done = layers.add(form.get("text").strip(), everywhere=bool(form.get("everywhere")))
    home = next(
        (each for each in layers.there() if (each.project.store / done.file).exists()), layers.main
    )
    layer = home.layer
    if done.same:
        return site.done(f"Known already: {done.name}.", None, note_path(layer, done.file))
    text = f"Stored {done.name}."
    if done.superseded:
        text += f" It replaces {', '.join(each['file'] for each in done.superseded)}."
    if done.doubtful:
        text += " It may replace another note: see the inbox."
    return site.done(text, site.undoing(home, done.written.id), note_path(layer, done.file))
