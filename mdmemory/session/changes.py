"""How the memory of a session changes: texts are written, entries added, removed and forgotten.
Pure; all text passes `cleaning`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from mdmemory.errors import NotFound, UsageError
from mdmemory.session import sections
from mdmemory.session.cleaning import clean, cut, line, visible
from mdmemory.session.failures import CATEGORIES, SUMMARY
from mdmemory.session.sections import BLOCKS, ERRORS, POOL, SLOTS, Item, Sections, SessionEntry

_NAMED = 60  # characters that the warning repeats of a lost end


# --- blocks


def write(memory: Sections, block: str, text: str, *, append: bool = False) -> str:
    """Replace a block by `text`, or append it as a line; a text too long loses its end.

    Returns a warning that quotes the lost end, "" when the text fits.
    """
    text = clean(visible(text)).strip()
    before = memory.blocks.pop(block, "")
    if append:
        text = f"{before}\n{text}".strip()
    fit = text[: BLOCKS[block]].rstrip()
    if fit:
        memory.blocks[block] = fit
    lost = text[len(fit) :].strip()
    warning = (
        f"{block} holds {BLOCKS[block]} characters: the last {len(lost)} were cut off, from "
        f"{cut(' '.join(lost.split()), _NAMED)!r} on. Shorten the block and replace it."
    )
    return warning if lost else ""


# --- lists


def tick(memory: Sections) -> None:
    """Count an event: the pool fades, and the faintest entries go."""
    memory.event += 1
    memory.pool = [each for each in memory.pool if each.score_at(memory.event) >= sections.GONE]


def add(memory: Sections, section: str, text: str, *, is_candidate: bool = False) -> str:
    """Put a text into a slot, note it as an error, or mention it in the pool; returns its id, ""
    for an empty text. The same text again moves to the end; a full list loses its oldest entry.

    Raises UsageError for a section to which nothing can be added by hand.
    """
    if section not in SLOTS and section not in (ERRORS, POOL):
        lists = ", ".join((*BLOCKS, ERRORS, *SLOTS, POOL))
        raise UsageError(f"Nothing can be added to {section[:40]!r}.", f"Add to one of: {lists}.")
    text = line(visible(text), SLOTS[section].longest if section in SLOTS else SUMMARY)
    if not text:
        return ""
    if section == ERRORS:
        category, _, rest = text.partition(": ")
        if not rest or category not in {each.name for each in CATEGORIES}:
            category, rest = sections.NOTED, text
        if not any(sections.is_same(each.summary, rest) for each in memory.errors):
            mark = sections.fingerprint(rest)
            open_error(memory, sections.Error(category, rest, mark, mark, [], "open", memory.event))
        text = rest
    elif section == POOL:
        text = cut(text, SLOTS["todos"].longest)
        before = sum(each.score_at(memory.event) for each in memory.pool if each.text == text)
        item = Item(text, memory.event, min(1 + before, 1 / (1 - sections.FADING)))
        memory.pool = [*(each for each in memory.pool if each.text != text), item]
        memory.pool = sections.by_score(memory)[: sections.HOLDS[POOL]]
    else:
        items = memory.slots.get(section, ())
        same = [each for each in items if sections.is_same(each.text, text)]
        others = [each for each in items if each not in same]
        # the longer wording says more, and is the user's own where the assistant repeated it
        text = max((text, *(each.text for each in same)), key=len)
        is_candidate = is_candidate or any(each.is_candidate for each in same)
        item = Item(text, memory.event, is_candidate=is_candidate)
        memory.slots[section] = [*others, item][-SLOTS[section].holds :]
    return SessionEntry(section, text, text).id


def propose(memory: Sections, type: str, text: str) -> None:
    """Add a candidate for a note."""
    new = sections.SessionFact(type, line(text, sections.LONGEST))
    if new.text:
        others = [each for each in memory.candidates if each != new]
        memory.candidates = [*others, new][-sections.HOLDS[sections.CANDIDATES] :]


def open_error(memory: Sections, error: sections.Error) -> None:
    """Add an error: it replaces the last one of its command, and the same one noted by hand."""
    others = [each for each in memory.errors if not sections.is_same(each.summary, error.summary)]
    whose = (error.category, error.source)
    others = [each for each in others if (each.category, each.source) != whose]
    memory.errors = [*others, error][-sections.HOLDS[ERRORS] :]


def set_todos(memory: Sections, todos: Iterable[Mapping[str, Any]]) -> None:
    """Show the host's own list (`content`, `status` of each) as todos: tasks under way first, then
    pending ones."""
    rank = {"in_progress": 0, "pending": 1}
    open_ones = [each for each in todos if each.get("status", "pending") in rank]
    open_ones.sort(key=lambda each: rank[each.get("status", "pending")])
    memory.slots.pop("todos", None)
    # the newest is the last of a slot, and shown first
    for each in reversed(open_ones[: SLOTS["todos"].holds]):
        add(memory, "todos", str(each.get("content", "")))


def clear(memory: Sections, section: str) -> int:
    """Empty a section; returns how many entries it had, of a block how many lines. Raises
    UsageError."""
    if section not in sections.names():
        raise UsageError(
            f"There is no section {section[:40]!r}.", f"Use: {', '.join(sections.names())}."
        )
    if section in BLOCKS:
        return len(memory.blocks.pop(section, "").splitlines())
    if section in SLOTS:
        return len(memory.slots.pop(section, ()))
    count = len(getattr(memory, section))
    setattr(memory, section, [])
    return count


def remove(memory: Sections, section: str, text: str) -> str:
    """Remove the entry with this id or text, or the only one that holds the text, from a section,
    or from any list for ""; of a block one line. Returns it. Raises NotFound."""
    wanted = " ".join(text.split())
    if section in BLOCKS:
        lines = memory.blocks.get(section, "").splitlines()
        at = _place(lines, wanted, section)
        write(memory, section, "\n".join(lines[:at] + lines[at + 1 :]))
        return lines[at]
    rows = [each for each in sections.entries(memory) if section in ("", each.section)]
    by_id = [each for each in rows if each.id == wanted]
    gone = by_id[0] if by_id else rows[_place([each.text for each in rows], wanted, section)]
    _drop(memory, gone)
    return gone.text


def leave(memory: Sections, section: str, texts: Collection[str]) -> None:
    """Take these entries out of a list, as far as they are in it."""
    for each in sections.entries(memory):
        if each.section == section and each.text in texts:
            _drop(memory, each)


def halve(memory: Sections) -> None:
    """Keep the stronger half of the pool: the compaction's summary covers the rest."""
    strongest = sections.by_score(memory)
    memory.pool = strongest[: (len(strongest) + 1) // 2]


def _drop(memory: Sections, gone: SessionEntry) -> None:
    named = {ERRORS: "summary", sections.FILES: "path"}.get(gone.section, "text")
    items = memory.slots.get(gone.section) or getattr(memory, gone.section)
    items[:] = [each for each in items if getattr(each, named) != gone.text]


def _place(texts: list[str], wanted: str, section: str) -> int:
    """Where the text is that is meant."""
    mark, shown = sections.key(wanted), cut(wanted, 40)
    same = [at for at, each in enumerate(texts) if sections.key(each) == mark]
    inside = [at for at, each in enumerate(texts) if mark and mark in each.casefold()]
    if same or len(inside) == 1:
        return (same or inside)[0]
    if inside:
        raise NotFound(f"{len(inside)} entries hold {shown!r}.", "Name more of its words.")
    where = section or "The session's memory"
    raise NotFound(f"{where} has no entry {shown!r}.", "Name it by its words.")
