"""The memory at a glance: what there is and how old, what changed, what is recalled, what waits."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from datetime import date, timedelta
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from mdmemory.errors import MdmemoryError
from mdmemory.layers import MINE, USER
from mdmemory.memory import Memory
from mdmemory.note.limits import TYPES
from mdmemory.session import recalls
from mdmemory.web import charts
from mdmemory.web.notes import NoteRow, rows
from mdmemory.web.sessions import read_log
from mdmemory.web.site import Site, note_path

AGES = ((7, "this week"), (30, "this month"), (90, "this quarter"), (10**6, "older"))  # in days
WEEKS = 12
_RECALLED = 8  # notes that are shown


def overview(site: Site, request: Request) -> Response:
    """The page."""
    caches = {layer: rows(site, layer) for layer, _ in site.layers.each()}
    notes = [row for each in caches.values() for row in each.value.values()]
    today = site.layers.main.now().date()
    waits = Counter(item.kind for item in site.items().value).most_common()
    most = max((count for _, count in waits), default=0)
    return site.page(
        request, "overview.html", is_fresh=all(each.is_fresh for each in caches.values()),
        total=len(notes), types=_by_type(notes, today), ages=[name for _, name in AGES],
        recalled=_recalled(site, {layer: each.value for layer, each in caches.items()}),
        waiting=[(kind, count, charts.bar([count], most)) for kind, count in waits],
        **_by_week(site, today),
    )  # fmt: skip


def _by_type(notes: list[NoteRow], today: date) -> list[dict[str, Any]]:
    """For each type how many notes are how old."""
    counts = Counter((row.type, _age(row.day, today)) for row in notes)
    types = [*TYPES, *sorted({row.type for row in notes}.difference(TYPES))]
    lists = [(type, [counts[type, age] for age in range(len(AGES))]) for type in types]
    most = max((sum(each) for _, each in lists), default=0)
    return [
        {"type": type, "counts": each, "total": sum(each), "bar": charts.bar(each, most)}
        for type, each in lists if any(each)
    ]  # fmt: skip


def _age(day: str, today: date) -> int:
    """The place in AGES of a day; what is no day is the oldest."""
    try:
        days = (today - date.fromisoformat(day)).days
    except ValueError:
        return len(AGES) - 1
    return next(at for at, (most, _) in enumerate(AGES) if days < most)


def _by_week(site: Site, today: date) -> dict[str, Any]:
    """How many changes each of the last weeks had, which end today."""
    counts = [0] * WEEKS
    for _, memory in site.layers.each():
        for entry, *_ in read_log(site, memory):
            back = (today - date.fromisoformat(entry.time[:10])).days // 7
            if back < WEEKS:
                counts[WEEKS - 1 - max(back, 0)] += 1
    begin = today - timedelta(days=7 * WEEKS - 1)
    weeks = [(begin + timedelta(days=7 * at), count) for at, count in enumerate(counts)]
    return {"weeks": weeks, "columns": charts.columns(counts), "most": max(counts), "today": today}


def _recalled(site: Site, notes: dict[str, Any]) -> list[dict[str, Any]]:
    """The notes that came with most messages, where they are still there."""
    counts = Counter[tuple[str, str]]()
    for layer, memory in site.layers.each():
        mark, count_all = site.glance(memory).state, partial(_counted, memory)
        for file, count in site.kept.get(("recalled", layer), mark, count_all).value:
            mine = file.startswith(MINE)
            counts[USER if mine else layer, file.removeprefix(MINE)] += count
    shown = [(key, count) for key, count in counts.most_common() if key[1] in notes.get(key[0], ())]
    most = max((count for _, count in shown), default=0)
    return [
        {"row": notes[layer][file], "path": note_path(layer, file), "count": count,
         "bar": charts.bar([count], most)}
        for (layer, file), count in shown[:_RECALLED]
    ]  # fmt: skip


def _counted(memory: Memory) -> list[tuple[str, int]]:
    with suppress(MdmemoryError), memory.state() as state:
        return recalls.count_files(state)
    return []
