"""From turns to a proposal: which notes to add, which to reinforce, what was left out and why.

Pure planning: nothing is written here, and a note that exists is only ever reinforced.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

from mdmemory import bounds
from mdmemory.actions.replacing import Effect, IsAnothers, Superseding
from mdmemory.capture.asked import Asked, asked_in
from mdmemory.capture.duplicates import ComparedFact, canonical, place_of
from mdmemory.capture.fact_type import type_of
from mdmemory.capture.note_text import (
    description_of,
    keys_of_fact,
    keys_of_text,
    may_state,
    name_of,
    stating,
    worded,
)
from mdmemory.capture.routes import ALL, Route
from mdmemory.capture.standing import Standing, as_now, nobodys
from mdmemory.citing.citation import MAY_CITE
from mdmemory.citing.cite import Cite, cites_nothing
from mdmemory.errors import BadNote
from mdmemory.files import digest
from mdmemory.note import editing, limits
from mdmemory.note.note import SUPERSEDED, Note, parse
from mdmemory.privacy.private import strip_private
from mdmemory.privacy.redaction import has_secret, redact
from mdmemory.search.near import Near, scan
from mdmemory.search.unread import UnreadNotes
from mdmemory.store.store import StoredNote
from mdmemory.transcripts.turns import Turn

if TYPE_CHECKING:
    from mdmemory.capture.gate import GateVerdict

REINFORCE_EVERY = 7  # days, rolling
REINFORCE_MAX = 6


def reinforced(stored: StoredNote, source: tuple[str, str], today: str) -> Note | str:
    """The note, counted once more: once in 7 days and at most 6 times, then only the date.

    `source` is the session and the turn. A note that came from this very turn, and one that is
    held back, stay as they are: then the answer is why, as a word.
    """
    head = stored.note.head
    if head.secrets != "allowed" and has_secret(stored.note.text):
        return "held"
    changes: dict[str, str | None] = {}
    if head.status == "unconfirmed":
        changes |= editing.confirming(stored.note, "extraction")  # now the user has said it
    if (head.session, head.turn) != source and _is_due(head.last_reinforced, today):
        count = min(head.reinforced + 1, max(head.reinforced, REINFORCE_MAX))
        changes |= {"metadata.reinforced": str(count), "metadata.last_reinforced": today}
    if not changes:
        return "known"
    try:
        return editing.edit(stored.note, set=changes)
    except BadNote:
        return "not_editable"


def _is_due(last: str, today: str) -> bool:
    """Whether 7 days have passed; a date that is none, or lies ahead, counts as long ago."""
    try:
        days = (date.fromisoformat(today) - date.fromisoformat(last)).days
    except ValueError:
        return True
    return days < 0 or days >= REINFORCE_EVERY


@dataclass(frozen=True, slots=True)
class Proposal:
    """What one reading of a transcript would change.

    `added` are files with their whole text, `flagged` the same with the notes that they contradict
    and in what, `reinforced` a stored note with its edited form, `restored` one that was superseded
    and holds again, `superseded` the notes that are replaced, `dropped` objects {"text", "reasons"}
    (redacted), `watermark` the id of the last turn read, "" when there was none.
    """

    added: list[tuple[str, str]] = field(default_factory=list)
    flagged: list[tuple[str, str, list[tuple[StoredNote, str]]]] = field(default_factory=list)
    reinforced: list[tuple[StoredNote, Note]] = field(default_factory=list)
    restored: list[tuple[StoredNote, Note]] = field(default_factory=list)
    superseded: list[Superseding] = field(default_factory=list)
    dropped: list[dict[str, object]] = field(default_factory=list)
    watermark: str = ""

    @property
    def new(self) -> list[tuple[str, str]]:
        """All new files with their text."""
        return [*self.added, *((file, text) for file, text, _ in self.flagged)]

    @property
    def touched(self) -> set[str]:
        """The notes that change, or wait for a person, because of it."""
        waiting = {note.file for _, _, against in self.flagged for note, _ in against}
        waiting |= {each.old.file for each in self.superseded}
        return waiting | {stored.file for stored, _ in (*self.reinforced, *self.restored)}


def propose(
    turns: Sequence[Turn],
    existing: Sequence[StoredNote] | UnreadNotes,
    *,
    session: str,
    today: str,
    reserved: Collection[str] = (),
    held: Collection[str] = (),
    asked: Sequence[Asked] | None = None,
    near: Near = scan,
    route: Route = ALL,
    is_anothers: IsAnothers = nobodys,
    cite: Cite = cites_nothing,
) -> Proposal:
    """Plan what the explicit requests in these turns change. `today` is `YYYY-MM-DD` (UTC).

    `reserved` are names of other files in the store's folder, which no new note may have; `held`
    are files of notes that nothing is compared with; `asked` is what the turns ask for, where that
    is known already; `route` says which of it is for this store; `is_anothers` tells the notes of
    other people, which no words replace; `cite` gives the citations of a new note.
    """
    standing = Standing(existing, held=held, near=near, is_anothers=is_anothers, today=today)
    last = turns[-1].id if turns else ""
    proposal = Proposal(superseded=standing.made, watermark=last)
    facts = [
        fact for fact in (asked_in(turns) if asked is None else asked)
        if route.hears(fact.trigger, fact.reason)
    ]  # fmt: skip
    stored = _stating(facts, existing)
    if isinstance(existing, UnreadNotes):
        names = existing.names
    else:
        names = {name for note in existing for name in (note.file, note.note.head.name)}
    taken = {name.casefold() for name in (*names, *reserved)}
    handled: set[str] = set()
    for fact in facts:
        if fact.reason:
            _drop(proposal, fact.text or fact.trigger.phrase, fact.reason)
            continue
        keys = keys_of_fact(fact.text)
        known = next((stored[key] for key in sorted(keys & stored.keys())), None)
        if keys & handled and not standing.is_replaced(known):
            continue  # said twice in one reading
        source = (session, fact.turn)
        if known and _again(proposal, standing, fact, known, source, today):
            pass
        elif there := keys & route.said.keys():
            _drop(proposal, route.said[min(there)], "known")
        else:
            new = _add(proposal, fact, taken, source, today, route, cite)
            if new is not None:
                stored |= dict.fromkeys(keys, new[0])
                _compare(proposal, standing, new, fact)
        handled |= keys
    return proposal


def _stating(
    facts: Sequence[Asked], existing: Sequence[StoredNote] | UnreadNotes
) -> dict[str, str]:
    """The files of the notes that state any of these facts, by the keys of what they state. Where
    two notes state a fact, the one in force is meant, and of these the first."""
    keys = {key for fact in facts if not fact.reason for key in keys_of_fact(fact.text)}
    says = stating(keys)
    notes = existing.holding(may_state(keys)) if isinstance(existing, UnreadNotes) else existing
    found = [note for note in reversed(notes) if says(note.note.head.description, note.note.body)]
    found.sort(key=lambda note: note.note.head.status != SUPERSEDED)
    return {key: note.file for note in found for key in keys_of(note.note)}


def explain(text: str, existing: Sequence[StoredNote] = ()) -> dict[str, object]:
    """Why a message would, or would not, be remembered; `near` lists notes of the same fact.

    Without a trigger (`trigger` is ""), the gate's word is on the text as a model's candidate.
    """
    text = bounds.beginning(text)
    visible, blocks = strip_private(text)
    shown, kinds = redact(visible)
    asked = asked_in([Turn("", "user", text)])
    stated, verdict = _asked(asked) if asked else _proposed(shown)
    what = stated[0] if stated else ComparedFact(shown, "feedback")
    key = canonical(what.text)
    return {
        "text": shown,
        "private_removed": blocks,
        "redacted": kinds,
        "trigger": asked[0].trigger.phrase if asked else "",
        "negated": any(fact.trigger.negated for fact in asked),
        "facts": [{"type": each.type, "kind": each.kind, "text": each.text} for each in stated],
        "gate": {"accepted": verdict.accepted, "reasons": list(verdict.reasons)},
        "words": _words(what),
        "key": key,
        "identity": place_of(what),
        "near": _near(what, existing),
    }


def _asked(facts: Sequence[Asked]) -> tuple[list[ComparedFact], GateVerdict]:
    """What of a request is stored. The gate is not asked: only what makes it no fact counts."""
    from mdmemory.capture.gate import GateVerdict

    good = [ComparedFact(f.text, f.trigger.type, f.trigger.kind) for f in facts if not f.reason]
    return good, GateVerdict(bool(good), tuple(dict.fromkeys(f.reason for f in facts if f.reason)))


def _proposed(text: str) -> tuple[list[ComparedFact], GateVerdict]:
    """What the gate would say if a model proposed this text as a fact."""
    from mdmemory.capture.gate import judge

    candidate = ComparedFact(" ".join(text.split()), *type_of(text))
    verdict = judge(candidate.text, type=candidate.type, source="extraction")
    return [candidate] if verdict.accepted else [], verdict


def _words(fact: ComparedFact) -> dict[str, object]:
    """What the words of a text show of how long it holds."""
    from mdmemory.capture.endurance import shown

    found = shown(fact.text, fact.text, fact.type)
    return {"show": found.value, "lasts": [*found.lasts], "passes": [*found.passes]}


def _near(what: ComparedFact, existing: Sequence[StoredNote]) -> list[dict[str, object]]:
    """The notes that say the same (1.0), or speak of the same place (0.9)."""
    place, says = place_of(what), stating(keys_of_fact(what.text))
    found: list[dict[str, object]] = []
    for stored in existing:
        head = stored.note.head
        if says(head.description, stored.note.body):
            found.append({"file": stored.file, "score": 1.0})
        elif place and place == place_of(
            ComparedFact(f"{head.description}\n{stored.note.body}", head.type, head.kind)
        ):
            found.append({"file": stored.file, "score": 0.9})
    return found


def _drop(proposal: Proposal, text: str, reason: str) -> None:
    proposal.dropped.append({"text": description_of(text), "reasons": [reason]})


# --- a fact that is stored already -----------------------------------------------------------


def keys_of(note: Note) -> set[str]:
    """The keys of the facts a note states; a description that was cut states none."""
    return keys_of_text(note.head.description, note.body)


def _again(
    proposal: Proposal, standing: Standing, fact: Asked, file: str, source: tuple[str, str],
    today: str,
) -> bool:  # fmt: skip
    """A fact that a note states already: count it, or put it in force again; and mark what it
    replaces by these words. False where it takes a note of its own."""
    now, replaced = standing.notes[file], Effect().replaced
    if now.note.head.status != SUPERSEDED or standing.is_held(file):
        if fresh := _reinforce(proposal, now, source, today):
            now = as_now(now, fresh)
        if standing.is_held(file):
            return True
    elif fact.day and fact.day < now.note.head.superseded:
        _drop(proposal, now.note.head.name, "superseded")
        return True
    elif (found := standing.restored(now)) is None:
        return False
    else:
        if found.fresh is not None:
            proposal.restored.append((now, found.fresh))
        now, replaced = found.note, found.replaced
    taken = [note.file for note, _ in replaced]
    more = standing.meets(fact.said, now, day=fact.day, but=taken).replaced
    standing.put(now, (*replaced, *more))
    return True


def _reinforce(
    proposal: Proposal, stored: StoredNote, source: tuple[str, str], today: str
) -> Note | None:
    fresh = reinforced(stored, source, today)
    if isinstance(fresh, str):
        _drop(proposal, stored.note.head.name, fresh)
        return None
    proposal.reinforced.append((stored, fresh))
    return fresh


# --- a new one -------------------------------------------------------------------------------


def _compare(proposal: Proposal, standing: Standing, new: tuple[str, str], fact: Asked) -> None:
    """Add the note, with marks on those that it surely replaces; or (where near ones may say
    otherwise) flag it: both stay, a person settles it."""
    file, text = new
    note = StoredNote(file, digest(text.encode("utf-8")), parse(text, file))
    found = standing.meets(fact.said, note, day=fact.day)
    against = [*found.doubtful, *standing.put(note, found.replaced)]
    if against:
        proposal.flagged.append((file, text, against))
    else:
        proposal.added.append(new)


def _add(
    proposal: Proposal, fact: Asked, taken: set[str], source: tuple[str, str], today: str,
    route: Route, cite: Cite,
) -> tuple[str, str] | None:  # fmt: skip
    """File and text of the note for a fact; None where it cannot be one."""
    trigger = fact.trigger
    name = limits.free_name(name_of(fact.text), trigger.type, taken)
    session, turn = source
    description, body = worded(fact.text)
    try:
        limits.check_body(fact.text)
        text = editing.compose(
            name=name,
            type=trigger.type,
            description=description,
            body=body,
            kind=trigger.kind,
            metadata={
                "source": "explicit",
                "created": today,
                "updated": today,
                "session": session,
                "turn": turn,
                **route.metadata(trigger.type, trigger.everywhere),
            },
            cites=cite(fact.text) if MAY_CITE.search(fact.text) else (),
        )
    except BadNote:
        # Over long, or markup that no body may begin with.
        _drop(proposal, fact.text, "unfit")
        return None
    file = limits.file_name(trigger.type, name)
    taken |= {name.casefold(), file.casefold()}
    return file, text
