"""What becomes of each candidate: kept, left to a person, or dropped, and why. Pure.

The model proposes; what it proposes is held against the session and the notes as they are now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mdmemory.actions.replacing import SAME, Pairs
from mdmemory.capture.candidates import Candidate, cleaned
from mdmemory.capture.corrections import SILENT, of_the_note, restated, text_of, trouble, updated
from mdmemory.capture.duplicates import canonical, identity
from mdmemory.capture.extract import keys_of, reinforced
from mdmemory.capture.note_text import as_sentence, beside, description_of, name_of
from mdmemory.capture.proof import USER_ONLY, Proof, heard, prove
from mdmemory.capture.routes import is_everywhere
from mdmemory.capture.scene import Judged, Scene
from mdmemory.capture.standing import Standing
from mdmemory.capture.triggers import FLOOR, weight
from mdmemory.citing.citation import MAY_CITE
from mdmemory.errors import BadNote
from mdmemory.files import digest
from mdmemory.note import editing, limits
from mdmemory.note.note import SUPERSEDED, parse
from mdmemory.privacy.private import strip_private
from mdmemory.privacy.redaction import names_secret, says_something
from mdmemory.search.near import nearest
from mdmemory.store.store import StoredNote, is_note_name
from mdmemory.text.polarity import may_deny
from mdmemory.text.similarity import likeness
from mdmemory.text.words import keys
from mdmemory.transcripts.injected import without_memory

_OF_QUOTES = ("task", "progress", "temporary", "injection")  # what a finer wording may hide
_SHORT = "too_short"
_LEFT = ("note_changed", "overlap", "unknown_file")  # what keeps an update from its note, not us
# Where two candidates are about one note, the one that keeps more comes first.
_ORDER = ("flag", "update", "reinforce", "add")


def judge(candidates: Sequence[Candidate], scene: Scene) -> list[Judged]:
    """What becomes of each, in the order given."""
    sitting = _Sitting(scene)

    def place(at: int) -> tuple[int, int]:
        # of two values the one that was said later comes later
        return _ORDER.index(candidates[at].action), sitting.place_of(candidates[at])

    found = {at: sitting.judge(candidates[at]) for at in sorted(range(len(candidates)), key=place)}
    made = sitting.standing.made
    return [
        replace(each, superseded=tuple(mark for mark in each.superseded if mark in made))
        for each in (found[at] for at in sorted(found))
    ]


class _Sitting:
    """The candidates of one answer, one after the other: what one takes the next cannot have."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.said = heard(scene.turns)
        self.notes = {note.file: note for note in scene.notes}
        self.keys = {key: note for note in reversed(scene.notes) for key in keys_of(note.note)}
        asked = [parse(text, file) for file, text in scene.asked]
        self.asked = {*scene.stated, *(key for note in asked for key in keys_of(note))}
        names = [*scene.reserved, *self.notes, *(file for file, _ in scene.asked)]
        names += [note.head.name for note in asked]
        names += [note.note.head.name for note in scene.notes]
        self.taken = {name.casefold() for name in names}
        self.touched = set(scene.touched)
        self.standing = Standing(
            scene.notes, held=scene.held, near=scene.near, is_anothers=scene.is_anothers,
            today=scene.today,
        )  # fmt: skip
        self.places = {turn.id: at for at, turn in enumerate(scene.turns)}

    def place_of(self, candidate: Candidate) -> int:
        """The number of the last turn that has the candidate's quote."""
        turn = prove(candidate, "", self.said).turn
        return self.places.get(turn, -1)

    def judge(self, candidate: Candidate) -> Judged:
        fate = self.scene.fate(candidate)
        candidate = cleaned(candidate)
        note = self.notes.get(candidate.file)
        is_update = candidate.action == "update"
        why = self._target_trouble(candidate, note)
        if why and not (is_update and why in _LEFT and self._is_open(candidate.file)):
            return Judged(candidate, "dropped", (why,), candidate.file)
        type = candidate.type if note is None or candidate.action == "flag" else note.note.head.type
        proof = prove(candidate, type, self.said, "" if note is None else text_of(note))
        candidate = candidate._replace(quote=proof.words or candidate.quote)
        proof = proof if why else self._excused(proof, is_update)
        if proof.dropped:
            return Judged(candidate, "dropped", (why or proof.dropped,), candidate.file)
        if note is not None and candidate.action == "reinforce":
            if not self._differs(restated(candidate, note), note):
                return self._reinforce(candidate, note, proof)
            # the model calls it said again, and the user said something else
            candidate = restated(candidate, note)
            type = candidate.type
        unfit = self._unfit(candidate, type)
        if unfit and not (is_update and SILENT.isdisjoint(unfit)):
            return Judged(candidate, "dropped", unfit, candidate.file)
        proof = self._weighed(proof, candidate, type)._replace(fate=fate)
        if why or unfit:
            # a correction that does not reach its note waits for a person
            waits = (*proof.waits, *unfit, *([why] if why else []))
            proof = proof._replace(waits=tuple(dict.fromkeys(waits)))
            return self._add(candidate._replace(type=type), proof, None)
        if note is not None and is_update:
            return self._update(candidate, note, proof)
        return self._add(candidate, proof, note)

    def _is_open(self, file: str) -> bool:
        """Whether a file could be that of a note which is not on hold."""
        return is_note_name(file) and "/" not in file and file not in self.scene.held

    def _excused(self, proof: Proof, is_update: bool) -> Proof:
        """The proof of a candidate that waits for a person where another one is dropped: what is
        said to correct a note, and in a summary what nobody said."""
        if proof.dropped == "no_evidence" and (is_update or self.scene.doubtful):
            return Proof(waits=("no_evidence",))
        if proof.dropped and is_update and proof.dropped not in SILENT:
            return proof._replace(dropped="", waits=(proof.dropped,))
        return proof

    def _differs(self, candidate: Candidate, note: StoredNote) -> str | None:
        """In what a candidate contradicts a note; None when it does not."""
        from mdmemory.text.contradiction import Profile, contradiction, profile  # as in near

        mine = Profile(note.note.head.type, candidate.description, candidate.body)
        return contradiction(mine, profile(note.note))

    def _target_trouble(self, candidate: Candidate, note: StoredNote | None) -> str:
        """What is wrong with the note that a candidate names; "" when nothing is."""
        if not candidate.file:
            return ""
        if candidate.file in {file for file, _ in self.scene.asked}:
            return "known"  # stored by this very run, on the user's word
        if note is None or candidate.file not in self.scene.shown:
            return "unknown_file"
        if candidate.file in self.scene.held:
            return "held"
        if note.digest != self.scene.shown[candidate.file]:
            return "note_changed"
        if candidate.file in self.touched:
            return "overlap"
        return ""

    def _unfit(self, candidate: Candidate, type: str) -> tuple[str, ...]:
        """What speaks against a text as such."""
        whole = f"{candidate.description}\n{candidate.body}"
        if without_memory(whole) != whole or strip_private(whole)[1]:
            return ("memory",)
        if not says_something(candidate.description):
            return ("secret",)
        return self._turned_down(candidate, type)

    def _turned_down(self, candidate: Candidate, type: str) -> tuple[str, ...]:
        """What the gate says. A short hook is no fault where the body says more, and what the user
        said of themselves ("Is vegetarian") has the floor of a request."""
        found = [self.scene.gate(text, type) for text in (candidate.description, candidate.body)]
        short = all(reasons == (_SHORT,) for reasons in found)
        if short and not (type in USER_ONLY and weight(candidate.description) >= FLOOR):
            return (_SHORT,)
        return next((reasons for reasons in found if reasons not in ((), (_SHORT,))), ())

    def _weighed(self, proof: Proof, candidate: Candidate, type: str) -> Proof:
        """The proof, with what speaks against the user's own words where the model's are finer."""
        found = self.scene.gate(candidate.quote, type) if candidate.quote else ()
        doubts = tuple(why for why in found if why in _OF_QUOTES)
        return proof._replace(waits=(*proof.waits, *doubts))

    # a note that there is

    def _reinforce(self, candidate: Candidate, note: StoredNote, proof: Proof) -> Judged:
        if not proof.by_user or proof.waits:
            return Judged(candidate, "dropped", proof.waits or ("not_the_users_words",), note.file)
        fresh = reinforced(note, (self.scene.session, proof.turn), self.scene.today)
        if isinstance(fresh, str):
            return Judged(candidate, "dropped", (fresh,), note.file)
        self.touched.add(note.file)
        return Judged(candidate, "reinforced", (), note.file, note, fresh.text)

    def _update(self, candidate: Candidate, note: StoredNote, proof: Proof) -> Judged:
        beside = of_the_note(candidate, note)
        if not proof.by_user or proof.waits or proof.fate.reasons:
            return self._add(beside, proof, note)  # where it waits, or is dropped
        if not candidate.superseded and self._differs(candidate, note):
            return self._add(beside, proof, note)  # nobody said that the note is out of date
        try:
            why = trouble(candidate, note, self.scene)
            fresh = None if why else updated(candidate, note, self.scene.today)
        except BadNote:
            why = "not_editable"
        if why and not candidate.superseded:
            return self._add(beside, proof._replace(waits=(why,)), None)
        if why:
            # a correction is not lost: it is a note of its own, in the place of the old one or
            # flagged with it
            return self._add(beside, proof, note)
        if fresh is None:
            return Judged(candidate, "dropped", ("known",), note.file)
        self.touched.add(note.file)
        self.keys |= dict.fromkeys(keys_of(fresh), note)
        return Judged(candidate, "updated", (), note.file, note, fresh.text)

    # a new one

    def _add(self, candidate: Candidate, proof: Proof, against: StoredNote | None) -> Judged:
        near = nearest(
            f"{candidate.description}\n{candidate.body}", self.scene.notes, self.scene.near
        )
        if self._is_asked_for(candidate):
            return Judged(candidate, "dropped", ("known",), near=near)
        same = self._same(candidate)
        if same is not None:
            return self._again(candidate, proof, same, against)
        texts = (candidate.body, candidate.description)
        if any(canonical(text) in self.scene.route.said for text in texts):
            return Judged(candidate, "dropped", ("known",), near=near)
        if proof.fate.is_dropped:
            return Judged(candidate, "dropped", proof.fate.reasons, near=near)
        if waits := proof.waits or proof.fate.reasons:
            return Judged(candidate, "pending", waits, near=near)
        try:
            file, text = self._composed(candidate, proof.turn)
        except BadNote:
            return Judged(candidate, "dropped", ("unfit",), near=near)
        new = StoredNote(file, digest(text.encode("utf-8")), parse(text, file))
        if self._is_of_before(new, proof):
            return Judged(candidate, "dropped", ("superseded",), near=near)
        found = self._contradicted(candidate, new, proof, against)
        self.keys |= dict.fromkeys(keys_of(new.note), new)
        self.taken |= {file.casefold(), new.note.head.name.casefold()}
        made = tuple(each for each in self.standing.made if each.new == file)
        self.touched |= {note.file for note, _ in found} | {each.old.file for each in made}
        outcome = "flagged" if found else "added"
        return Judged(candidate, outcome, (), file, None, text, found, near, made)

    def _contradicted(
        self, candidate: Candidate, new: StoredNote, proof: Proof, named: StoredNote | None
    ) -> Pairs:
        """The notes that a new one contradicts: the one that the model named, and what is near.
        Those that the user's own words surely replace are marked, and not among them."""
        found = self.standing.meets(
            candidate.quote if proof.by_user else "", new, day=self._day(proof), but=self.touched,
            claims="" if named is None else named.file,
            later=lambda note: not self.scene.revertible or self._is_later(note, proof),
        )  # fmt: skip
        against = [*found.doubtful, *self.standing.put(new, found.replaced)]
        if named is None or any(named.file == note.file for note, _ in found.replaced):
            return tuple(against)
        said = f"the user said: {candidate.quote}"
        return ((named, said), *(pair for pair in against if pair[0].file != named.file))

    def _day(self, proof: Proof) -> str:
        """The day on which the turn of a proof was said, or ""."""
        at = self.places.get(proof.turn)
        return "" if at is None else self.scene.turns[at].day

    def _is_later(self, note: StoredNote, proof: Proof) -> bool:
        """Whether a note was said in this session after the turn of a proof."""
        head = note.note.head
        if head.session != self.scene.session or head.turn not in self.places:
            return False
        return self.places[head.turn] > self.places.get(proof.turn, -1)

    def _is_of_before(self, new: StoredNote, proof: Proof) -> bool:
        """Whether a fact restates what a note said before the user said otherwise."""
        words = {*keys(new.note.head.description)}
        for old, last in self.standing.chains():
            before = {*keys(old.note.head.description)}
            now = {*keys(last.note.head.description)}
            is_same = likeness(words, before) >= SAME and words & (before - now)
            if is_same and not words & (now - before) and not self._is_said_since(old, last, proof):
                return True
        return False

    def _is_said_since(self, old: StoredNote, last: StoredNote | None, proof: Proof) -> bool:
        """Whether the turn of a proof comes after `old` was replaced."""
        if last is None:
            return True
        head = last.note.head
        if head.session == self.scene.session and head.turn in self.places:
            return self.places.get(proof.turn, -1) > self.places[head.turn]
        return self._day(proof) > old.note.head.superseded

    def _is_asked_for(self, candidate: Candidate) -> bool:
        """Whether the user's own request for this fact is stored in the same run."""
        quote = canonical(candidate.quote)
        ours = {canonical(candidate.description), canonical(candidate.body)}
        return any(key in ours or key in quote or quote in key for key in self.asked)

    def _same(self, candidate: Candidate) -> StoredNote | None:
        """The note that states this fact: the same words, or a pointer to the same place."""
        for text in (candidate.body, candidate.description):
            if found := self.keys.get(canonical(text)):
                return found
        if decided := self._decided(candidate):
            return decided
        place = identity(f"{candidate.description}\n{candidate.body}")
        if candidate.type != "reference" or not place:
            return None
        for note in self.scene.notes:
            pointer = note.note.head.type == "reference" and identity(text_of(note)) == place
            if pointer and not self._differs(candidate, note):
                return note
        return None

    def _decided(self, candidate: Candidate) -> StoredNote | None:
        """The note of this session on the same decision in other words: "let's use X for Y", and
        "X is used for Y"."""
        words = {*keys(candidate.description)}
        for note in self.notes.values() if candidate.kind == "decision" else ():
            head = note.note.head
            is_ours = head.kind == "decision" and head.session == self.scene.session
            other = words ^ {*keys(head.description)} if is_ours else words
            if len(other) > 1 or any(word.isdigit() for word in other):
                continue  # "let" alone may stand in one of them
            if is_ours and may_deny(head.description) == may_deny(candidate.description):
                return note
        return None

    def _again(
        self, candidate: Candidate, proof: Proof, same: StoredNote, against: StoredNote | None
    ) -> Judged:
        """What becomes of a fact that a note states already."""
        if same.file not in self.notes or same.file in self.touched | set(self.scene.held):
            return Judged(candidate, "dropped", ("known",), same.file)
        if same.note.head.status == SUPERSEDED:
            return self._restored(candidate, proof, same)
        if against is not None and against.file != same.file:
            self.touched |= {same.file, against.file}
            why = f"the user said: {candidate.quote}"
            return Judged(candidate, "flagged", (), same.file, same, None, ((against, why),))
        return self._reinforce(candidate, same, proof)

    def _restored(self, candidate: Candidate, proof: Proof, same: StoredNote) -> Judged:
        """What becomes of a fact that a superseded note states: it holds where it is said again."""
        last = self.standing.last(same)
        if not proof.by_user or proof.waits or not self._is_said_since(same, last, proof):
            return Judged(candidate, "dropped", ("superseded",), same.file)
        found = self.standing.restored(same)
        if found is None or found.fresh is None or (last and last.file in self.touched):
            return Judged(candidate, "dropped", ("superseded",), same.file)
        self.standing.put(found.note, found.replaced)
        made = tuple(each for each in self.standing.made if each.new == same.file)
        self.touched |= {same.file, *(each.old.file for each in made)}
        text = found.fresh.text
        return Judged(candidate, "updated", (), same.file, same, text, superseded=made)

    def _composed(self, candidate: Candidate, turn: str) -> tuple[str, str]:
        """File and text of the new note. Raises BadNote."""
        type = candidate.type
        name = limits.slug(candidate.name.removesuffix(".md").removeprefix(f"{type}-"))
        if not name or names_secret(candidate.name) or "redacted" in name:
            name = name_of(candidate.description)
        name = limits.free_name(name, type, self.taken)
        description = description_of(as_sentence(candidate.description))
        said = f"{description}\n{candidate.body}"
        text = editing.compose(
            name=name, type=type, description=description,
            body=beside(description, candidate.body), kind=candidate.kind,
            metadata={
                "source": "extraction", "created": self.scene.today, "updated": self.scene.today,
                "session": self.scene.session, "turn": turn,
                **self.scene.route.metadata(type, is_everywhere(candidate)),
            },
            cites=self.scene.cite(said) if MAY_CITE.search(said) else (),
        )  # fmt: skip
        return limits.file_name(type, name), text
