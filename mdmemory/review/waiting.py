"""What waits for a person in both layers, found anew at each question; nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from mdmemory.capture import wishes
from mdmemory.compact import left_out
from mdmemory.errors import MdmemoryError, NotFound, UsageError
from mdmemory.files import digest, read_regular
from mdmemory.layers import MINE, USER
from mdmemory.memory import Memory
from mdmemory.note.note import SUPERSEDED
from mdmemory.privacy import redacted_text
from mdmemory.review.items import BETWEEN, KINDS, Action, InboxItem, Kind, Side, in_order
from mdmemory.store.conflicts import Entry, is_stale
from mdmemory.store.store import Store, StoredNote
from mdmemory.store.strangers import WHY, suspicion_of
from mdmemory.store.superseding import lead_on, orphan_notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmemory.capture.pending import PendingFact
    from mdmemory.store.catalog import Catalog

_EVERY_WAY = (Action.KEEP, Action.EDIT, Action.DROP, Action.LATER)
_AS_IT_IS = (Action.KEEP, Action.DROP, Action.LATER)  # there is nothing to edit
_EITHER = (Action.THIS, Action.THAT, Action.BOTH, Action.EDIT, Action.LATER)
_HELD = "it seems to hold a secret, so it is in no commit and no index; take the secret out"
_UNPROVEN = "an assistant stored it, and nothing that you said bears it out"
_REASONS = {
    "assistant_said": "the assistant said it, and you did not",
    "momentary": "a second look took it for a thing of the moment",
    "no_evidence": "nothing that you said bears it out",
    "weak_evidence": "what you said hardly bears it out",
    "invented": "it says more than you said",
    "unclear": "no second look could tell whether it lasts",
    "not_the_users_words": "the quote is not in your words",
    "question": "you asked, and did not say it",
    "reversed": "it says the opposite of what you said",
    "path_heavy": "it is mostly paths",
    "command_line": "it is a command", "code": "it is code",
    "unknown_file": "the note that it corrects is not there",
    "note_changed": "the note that it corrects changed meanwhile",
    "order": "it reads like an order to an assistant", "pasted": "it stood in a pasted text",
}  # fmt: skip
_ORDERS = {"order", "injection"}
_MOST = 20_000  # characters of a text that is shown


def items(layers: Memory) -> list[InboxItem]:
    """All that waits, first what a person has to see first."""
    return in_order([*_list_items(layers, shown=True)], MINE)


def counts(layers: Memory) -> dict[str, int]:
    """How many wait of each kind, the kinds in their order."""
    # nobody sees the notes, so none is read and looked through for secrets
    kinds = [each.kind for each in _list_items(layers, shown=False)]
    return {kind: kinds.count(kind) for kind in KINDS}


def _list_items(layers: Memory, *, shown: bool) -> Iterator[InboxItem]:
    for layer, memory in layers.each():
        yield from _list_layer(layer, memory, shown)
    for pair in layers.across():
        files = zip(layers.there(), (pair.project, pair.person), strict=True)
        sides = tuple(
            _file_side(part.layer, part.opened.fresh().store, file) for part, file in files
        )
        why = f"{pair.why} (here the project's goes first)"
        yield InboxItem(
            pair.id, Kind.CONFLICT, sides, why, _EITHER, BETWEEN, pair.id, since=pair.since
        )


def find_item(layers: Memory, name: str) -> InboxItem:
    """The item with this id, or on the note of this name; a note on which nothing waits can be
    confirmed all the same. Raises NotFound, and UsageError for a note of several items."""
    waiting = items(layers)
    if by_id := next((each for each in waiting if each.id == name), None):
        return by_id
    try:
        memory, own_name = layers.holding(name)
        stored = memory.note(own_name)
    except NotFound:
        hint = "`mdmemory review` lists what waits."
        raise NotFound(f"Nothing waits under the id or name {name}.", hint) from None
    about = (memory.layer, stored.file)
    named = [
        each for each in waiting
        if about in {(each.layer if each.layer != BETWEEN else side.layer, side.file)
                     for side in each.notes}
    ]  # fmt: skip
    if len(named) > 1:
        ids = ", ".join(each.id for each in named)
        raise UsageError(f"{name} is in {len(named)} items.", f"Name one by its id: {ids}.")
    if named:
        return named[0]
    side, why = side_of(memory.layer, stored), "nothing waits; you can confirm it"
    actions = (Action.KEEP, Action.LATER)
    return _of_note("u", Kind.UNCONFIRMED, side, why, actions, shield=bool(suspicion_of(side.text)))


def _of_note(
    letter: str, kind: Kind, side: Side, why: str, actions: tuple[str, ...] = _EVERY_WAY,
    *, more: str = "", shield: bool = False,
) -> InboxItem:  # fmt: skip
    """The item on one note; `more` is what its id stands for besides the note's text."""
    about = (side.layer, side.file)
    id = _id(letter, *about, side.digest, *([more] if more else []))
    return InboxItem(id, kind, (side,), why, actions, *about, since=side.date, is_shielded=shield)


def _list_layer(layer: str, memory: Memory, shown: bool) -> Iterator[InboxItem]:
    refresher = memory.opened.refresher()
    refresher.current()
    catalog = refresher.catalog()
    if (seen := memory.unadopted()) and seen.lost:
        sides = tuple(Side(file.removesuffix(".md"), layer, "", file=file) for file in seen.lost)
        why = f"{len(seen.lost)} of {seen.before} notes are gone and no commit removes them"
        yield InboxItem(_id("g", layer), Kind.LOST, sides, why, _AS_IT_IS, layer, Kind.LOST)
    for entry in refresher.open_conflicts():
        yield _conflict(layer, refresher.store, entry, shown)
    yield from _notes(layer, refresher.store, catalog, shown)
    if catalog.with_status(SUPERSEDED) and not lead_on(catalog.heads()):
        why = "another note replaced it, and that one is gone: does it hold again?"
        for each in orphan_notes(refresher.store.notes()):
            yield _of_note("o", Kind.ORPHANED, side_of(layer, each), why)
    yield from _on_changed(layer, memory, catalog)
    yield from _list_refused(layer, memory)
    if memory.project.has_inbox() or memory.project.state_file.exists():
        yield from (_pending(layer, fact) for fact in memory.pending())
        yield from _removals(layer, memory)
        yield from _wishes(layer, memory)
        for path in wishes.rest_files(memory.project.store):
            with suppress(MdmemoryError):  # gone in this moment, or not to be read
                origin, since, text = wishes.read_rest(path)
                side = Side(origin or path.stem, layer, text[:_MOST], since, "import")
                yield InboxItem(
                    _id("i", layer, path.name), Kind.REST, (side,), "an import made no note of it",
                    _EVERY_WAY, layer, str(path), since=since,
                    is_shielded=bool(suspicion_of(text)),
                )  # fmt: skip


def _conflict(layer: str, store: Store, entry: Entry, shown: bool) -> InboxItem:
    if not shown:
        return InboxItem(entry.id, Kind.CONFLICT, (), entry.why, (), layer, entry.id)
    there = {each.file: each for each in store.those_of(entry.files)}
    digests = {file: each.digest for file, each in there.items()}
    sides = tuple(
        side_of(layer, there[file]) if file in there else _file_side(layer, store, file)
        for file in entry.files
    )
    why = entry.why + (" (a note has changed since)" if is_stale(entry, digests) else "")
    actions = _EITHER if all(side.digest for side in sides) else (Action.BOTH, Action.LATER)
    return InboxItem(
        entry.id, Kind.CONFLICT, sides, why, actions, layer, entry.id, since=entry.since
    )


def _file_side(layer: str, store: Store, file: str) -> Side:
    try:
        return side_of(layer, store.read(file))
    except MdmemoryError:
        return Side(file.removesuffix(".md"), layer, "(gone)", file=file)


def side_of(layer: str, stored: StoredNote) -> Side:
    """A note as one side of an item."""
    head, text = stored.note.head, _whole_text(stored.note.head.description, stored.note.body)
    return Side(
        head.name, layer, text[:_MOST], head.updated or head.created, head.source, stored.file,
        stored.digest,
    )  # fmt: skip


def _whole_text(description: str, body: str) -> str:
    """What a note says: its body once, where that is its description."""
    if body.strip().rstrip(".").casefold() == description.rstrip(".").casefold():
        return description
    return f"{description}\n\n{body.strip()}".strip()


def _notes(layer: str, store: Store, catalog: Catalog, shown: bool) -> Iterator[InboxItem]:
    """Notes that are not served, or not without a mark, until a person saw them."""
    files, strangers = catalog.held, catalog.waiting
    for head in catalog.heads_of({*files, *strangers, *catalog.with_status("unconfirmed")}):
        side = clean = Side(head.name, layer, "", file=head.file)
        if shown:
            side = _file_side(layer, store, head.file)
            name, text = redacted_text(side.name), redacted_text(side.text)
            clean = side._replace(name=name, text=text)
        if why := strangers.get(head.file):
            text = f"{WHY[why]}, and no command of yours wrote it"
            yield _of_note("h", Kind.ON_HOLD, clean, text, shield=True)
        elif head.file in files:
            yield _of_note("h", Kind.ON_HOLD, clean, _HELD, (Action.EDIT, Action.LATER))
        else:
            is_order = bool(suspicion_of(side.text))
            yield _of_note("u", Kind.UNCONFIRMED, side, _UNPROVEN, shield=is_order)


def _list_refused(layer: str, memory: Memory) -> Iterator[InboxItem]:
    """Merges and removals that a pass proposed, and the guards refused."""
    folder = memory.project.private
    if not left_out.place(folder).is_file():
        return
    store = Store(memory.project.store)
    digests = {note.file: note.digest for note in store.notes()}
    for each in left_out.waiting(folder, digests):
        sides = tuple(_file_side(layer, store, file) for file in each.files)
        what = "merge these" if each.op == "merge" else "remove it"
        why = f"a compaction wanted to {what}, and that was refused: {each.why}"
        either = tuple(each for each in _EITHER if each != Action.EDIT)
        actions = either if len(sides) == 2 else _AS_IT_IS
        yield InboxItem(
            each.id, Kind.REFUSED, sides, why, actions, layer, each.id, since=each.since
        )


def _on_changed(layer: str, memory: Memory, catalog: Catalog) -> Iterator[InboxItem]:
    """Notes in force of which the project changed what they cite, by the last check."""
    if layer == USER:
        return
    files = {head.file for head in catalog.citing() if not head.status}
    files -= {*catalog.held, *catalog.waiting}
    for file, checked in (memory.known_citations(files) if files else {}).items():
        if not (cited := [each for each in checked if each.is_outdated]):
            continue
        side = _file_side(layer, Store(memory.project.store), file)
        changes = "\n".join(f"{each.place} {each.state}\n{each.diff}".strip() for each in cited)
        places = ", ".join(each.place for each in cited)
        why = f"the project changed what it cites: {places}"
        shown = side._replace(text=f"{side.text}\n\n{changes}"[:_MOST])
        is_order = bool(suspicion_of(shown.text))
        yield _of_note("d", Kind.ON_CHANGED, shown, why, more=changes, shield=is_order)


def _pending(layer: str, fact: PendingFact) -> InboxItem:
    text = _whole_text(fact.description, fact.body)
    why = "; ".join(map(reason, fact.reasons))
    side = Side(fact.name, layer, text, fact.since, f"session {fact.session}")
    return InboxItem(
        fact.id, Kind.PENDING, (side,), why or "it lacks proof", _EVERY_WAY, layer,
        fact.id, fact.quote, fact.since,
        not _ORDERS.isdisjoint(fact.reasons) or bool(suspicion_of(f"{text}\n{fact.quote}")),
        fact.session, 1 if fact.reasons == ("unclear",) else 0,
    )  # fmt: skip


def reason(word: str) -> str:
    """A reason of the evidence log in words for people."""
    return _REASONS.get(word, word.replace("_", " "))


def _removals(layer: str, memory: Memory) -> Iterator[InboxItem]:
    """Notes that an assistant wants forgotten."""
    from mdmemory.capture.quote_proof import WHY as WHY_NOT  # seldom one waits

    store = Store(memory.project.store)
    for each in memory.asked_removals():
        side = _file_side(layer, store, each.file)
        why = f"an assistant asks to forget it, and {WHY_NOT.get(each.why, each.why)}"
        yield InboxItem(
            each.id, Kind.FORGET, (side,), why, _AS_IT_IS, layer, each.id, each.quote,
            each.since, bool(suspicion_of(each.quote)),
        )  # fmt: skip


_UNWRITTEN = "you asked to remember it, and it could not be written"
_WISH_REASONS = {
    None: "a request to remember; it carries no seal of this machine",
    "unfit": "you asked to remember it, and it is too long for one note",
    wishes.UNATTENDED: "asked amid the message of a program, which nobody saw",
}


def _wishes(layer: str, memory: Memory) -> Iterator[InboxItem]:
    for box in wishes.open_inboxes(memory.project):
        known = dict(box.wishes())
        for path in box.kept():
            wish = known.get(path)
            if wish and not wish.why and not wish.is_due(memory.now(), ""):
                continue  # its turn may still run, and settles it
            text = wish.text if wish else ""
            if wish is None:
                with suppress(MdmemoryError):
                    text = redacted_text(read_regular(path).decode("utf-8", "replace"))
            since, source = (wish.since, f"session {wish.session}") if wish else ("", "unknown")
            why = _WISH_REASONS.get(wish.why if wish else None, _UNWRITTEN)
            side = Side(path.stem, layer, text[:_MOST], since, source)
            yield InboxItem(
                _id("w", layer, path.name), Kind.WISH, (side,), why, _EVERY_WAY, layer,
                str(path), since=since, is_shielded=wish is None,
            )  # fmt: skip


def _id(letter: str, *parts: str) -> str:
    """An id for these parts; with a note's digest among them it means that text alone, so that an
    answer to what was listed meets no other."""
    return f"{letter}-{digest('/'.join(parts))[:8]}"
