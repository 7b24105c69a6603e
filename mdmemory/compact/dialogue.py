"""What passes between the planner and its model: what is shown, batch by batch, the ops that come
back, what a second reading says of them, and what all that cost and where it failed.

A small model is only asked whether two notes say the same. Measured with 1.5 billion parameters: of
25 fresh duplicates among 120 notes 21 were found so, and no two notes became one that differ."""

from __future__ import annotations

import json
import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from mdmemory import assets
from mdmemory.compact import guards
from mdmemory.compact import plan as plans
from mdmemory.compact.plan import Merge, Op, Plan, PlanRefused, Rewrite, sources_of
from mdmemory.compact.planner import Tokens
from mdmemory.compact.result import best
from mdmemory.compact.text_guards import as_one
from mdmemory.errors import MdmemoryError
from mdmemory.files import digest, to_bytes
from mdmemory.llm import json_answer, verdicts
from mdmemory.llm.answer import Asking, ContextExceeded, Model, once_more
from mdmemory.llm.schemas import PLAN, READINGS
from mdmemory.llm.sizes import ANYTHING, Room, no_room, room, tokens
from mdmemory.note.note import list_standing
from mdmemory.store import note_links
from mdmemory.store.store import StoredNote
from mdmemory.text import literals
from mdmemory.text.similarity import Ranking

Size = Callable[[StoredNote], int]
Readable = Merge | Rewrite

MAX_FAILURES = 2  # in a row
MAX_CUT = 5  # answers in a row of which nothing was whole: the model does not come to an end
MAX_TOO_LONG = 16  # questions in a row: halving leads from the longest to a single note in fewer
_FINAL = ("over_cap", "bad_setting")  # what asking again cannot help
_RAREST = 12  # words of a note that its neighbours are found by
_NEAREST = 3  # neighbours that go with a note into one question, itself among them
_LOOKED_AT = 400  # characters of a body that are looked at for it
_ALL_FIELDS = {"op", *(name for word in plans.WORDS for name in plans.fields_of(word)[1])}
_LISTS = ("sources", "files")
OK = "ok"
DOUBTS = {
    "lost": "would lose", "added": "would add", "changed": "would change",
    "reversed": "would turn around",
}  # fmt: skip
_WHAT = 120  # characters of a doubt that are told
_WORD = re.compile(r"\W{0,9}(yes|no)\b", re.IGNORECASE)


# --- what is shown


def batches(notes: Sequence[StoredNote], size: Size, limit: int) -> list[list[StoredNote]]:
    """The notes in batches of at most `limit` by `size`, each sorted by file."""
    ordered = sorted(notes, key=lambda note: (note.note.head.type, note.file))
    notes = [note for note in ordered if size(note) <= limit]
    if sum(map(size, notes)) <= limit:
        return [sorted(notes, key=lambda note: note.file)] if notes else []
    packed: list[list[StoredNote]] = []
    rooms: list[int] = []
    # each piece into the first batch that has room for it
    for piece in (piece for group in _near(notes) for piece in _cut(group, size, limit)):
        total = sum(map(size, piece))
        at = next((at for at, room in enumerate(rooms) if total <= room), len(rooms))
        if at == len(rooms):
            packed.append([])
            rooms.append(limit)
        packed[at] += piece
        rooms[at] -= total
    return [sorted(batch, key=lambda note: note.file) for batch in packed]


def _near(notes: Sequence[StoredNote]) -> Iterator[list[StoredNote]]:
    """Groups that hang together, neighbours one after the other; never of two types."""
    for _, group in groupby(notes, key=lambda note: note.note.head.type):
        some = [*group]
        texts = [f"{note.note.head.description}\n{note.note.body[:_LOOKED_AT]}" for note in some]
        ranking, left = Ranking(texts), dict.fromkeys(range(len(some)))
        while left:
            waiting, near = deque([next(iter(left))]), list[StoredNote]()
            while waiting:
                if (at := waiting.popleft()) in left:
                    del left[at]
                    near.append(some[at])
                    waiting.extend(ranking.near(texts[at], _RAREST)[:_NEAREST])
            yield near


def _cut(group: Sequence[StoredNote], size: Size, limit: int) -> Iterator[list[StoredNote]]:
    piece: list[StoredNote] = []
    room = limit
    for note in group:
        if size(note) > room:
            yield piece
            piece, room = [], limit
        piece.append(note)
        room -= size(note)
    yield piece


def whole(note: StoredNote) -> dict[str, str]:
    """A note with its body, and what else an op on it is judged by, as far as it has that."""
    head = note.note.head
    more = list_standing(head) | {"created": head.created}
    more |= {"updated": head.updated} if head.updated != head.created else {}
    named_as = {"file": note.file, "type": head.type, "name": head.name}
    texts = {"description": head.description, "body": note.note.body}
    return named_as | texts | {key: text for key, text in more.items() if text}


def brief(note: StoredNote) -> dict[str, str]:
    """A note by its description only: then only flags are asked for."""
    return {"file": note.file, "description": note.note.head.description}


def size(shown: Mapping[str, str]) -> int:
    """The characters that a note takes in a question."""
    return len(as_text(shown)) + len(", ")


def find_linked(notes: Sequence[StoredNote]) -> frozenset[str]:
    """The files that another one of the notes links to, by whatever name they have."""
    linkers: dict[str, set[str]] = defaultdict(set)
    for note in notes:
        for name in literals.linked_names(note.note.text) if "[[" in note.note.text else ():
            linkers[name].add(note.file)
    if not linkers:
        return frozenset()
    return frozenset(
        note.file
        for note in notes
        if any(linkers.get(name, set()) - {note.file} for name in note_links.note_names(note.note))
    )


def as_text(value: object) -> str:
    """A value as it stands in a question."""
    return json.dumps(value, ensure_ascii=False)


# --- the ops that come back


def read(text: str) -> Plan:
    """The ops in a model's answer, as far as they are whole. Raises PlanRefused where there are
    none that can be read.

    It has no digests: whoever asked knows which notes it showed, and a model's word counts nothing.
    """
    try:
        if len(text) > plans.MAX_ANSWER:
            raise json_answer.BadAnswer(f"is longer than {plans.MAX_ANSWER} characters")
        answer = json_answer.read_list(text, "ops", fields=_ALL_FIELDS, mark="op")
    except json_answer.BadAnswer as problem:
        raise PlanRefused("unparsable", f"The model's answer {problem.why}.") from None
    ops, flawed = plans.ops_of([_as_asked(each) for each in answer.objects])
    if flawed and not ops:
        raise PlanRefused("schema", *flawed)
    return Plan(ops, flawed=flawed, lost=answer.lost, count=answer.lost + len(answer.objects))


def _as_asked(op: Mapping[str, Any]) -> dict[str, Any]:
    """An op in the form that was asked for: its own fields, without blank ones, a single file as a
    list, the words of a choice in lower case."""
    word = json_answer.as_word(op.get("op")) or ""
    required, possible = plans.fields_of(word)
    fields: dict[str, Any] = {"op": word}
    for name in possible:
        read = json_answer.as_texts if name in _LISTS else json_answer.as_text
        value = (json_answer.as_word if name == "type" else read)(op.get(name))
        if value is None:
            fields[name] = op[name]  # what it is, for the sentence that says what is wrong with it
        elif value or (name in required and op.get(name) is not None):
            fields[name] = value
    return fields


# --- the second reading: only what an op takes and what it leaves is shown. What it doubts, or does
# not answer, is not done


@dataclass
class SecondReading(verdicts.Spent):
    """`doubts` says of each op that was answered "" (it is right) or what is wrong with it, as half
    a sentence; an op that is not in it had no answer, for the reason in `failure`, if any."""

    doubts: dict[Readable, str] = field(default_factory=dict)


def read_again(
    model: Model, ops: Sequence[Readable], notes: Mapping[str, StoredNote]
) -> SecondReading:
    """Ask about these ops in one question; where that is too long, or its answer cannot be read,
    about half of them each, down to one."""
    reading = SecondReading()
    asking = Asking(model, assets.read("protocol/verify.md"))

    def ask_about(some: Sequence[Readable]) -> None:
        shown = ", ".join(_show(op, notes, number) for number, op in enumerate(some, 1))
        fields = ("number", "verdict", "what")
        answer = verdicts.ask(asking, f'{{"ops": [{shown}]}}', READINGS, fields, reading)
        doubts = verdicts.by_place(answer, range(len(some)), _doubt)
        reading.doubts |= {some[at]: doubt for at, doubt in doubts.items()}

    # in an order that says nothing of who proposed them, the same for the same ops
    ordered = sorted(ops, key=lambda op: digest(to_bytes(_show(op, notes))))
    verdicts.ask_in_parts([ordered] if ops else [], ask_about, reading)
    return reading


def _show(op: Readable, notes: Mapping[str, StoredNote], number: int = 0) -> str:
    sources = [notes[file].note for file in sources_of(op)]
    description = sources[0].head.description if op.description is None else op.description
    fields = {
        "number": str(number), "result": as_one(description, op.body).strip(),
        "sources": [as_one(note.head.description, note.body).strip() for note in sources],
    }  # fmt: skip
    return json.dumps(fields, ensure_ascii=False)


def _doubt(word: str, row: Mapping[str, Any]) -> str | None:
    """What is wrong, as half a sentence; "" for nothing, None for a word that is no verdict."""
    if word == OK:
        return ""
    what = row.get("what")
    words = " ".join(what.split())[:_WHAT] if isinstance(what, str) else ""
    return f"{DOUBTS[word]} {words or 'something'}" if word in DOUBTS else None


# --- for a small model


def list_nearest(
    notes: Sequence[StoredNote], nearest: Callable[[StoredNote], StoredNote | None]
) -> Iterator[tuple[StoredNote, StoredNote]]:
    """These notes, each with the one that is nearest to it, where that is so the other way round,
    too; each pair once, the note that should stay first."""
    seen: set[str] = set()
    for note in notes:
        other = nearest(note)
        if other is None or note.file in seen or other.file in seen:
            continue
        back = nearest(other)
        if back is not None and back.file == note.file:
            seen.update((note.file, other.file))
            first = best([note, other])
            yield first, other if first is note else note


def read_yes(answer: str) -> bool | None:
    """What an answer says; None where it says neither yes nor no."""
    word = _WORD.match(answer)
    return None if word is None else word[1].lower() == "yes"


def merge_pair(first: StoredNote, other: StoredNote) -> Merge:
    """The two notes as one: the first as it is, and behind it what the other's body adds."""
    head = first.note.head
    bodies = [note.note.body.replace("\r\n", "\n").strip() for note in (first, other)]
    body = "\n\n".join(dict.fromkeys(filter(None, bodies)))
    return Merge(
        sources=(first.file, other.file), target=first.file, name=head.name, type=head.type,
        description=head.description, body=body, reason="both say the same",
    )  # fmt: skip


@dataclass
class Talk:
    """`failed` says (code, sentence) why there was no answer to read; `rejected` are answers that
    could not be used as they came, `flawed` what is wrong with ops of the last one. `is_cut`: the
    last answer ended at its length limit; `is_asked_twice`: the first one could not be read."""

    ask: Callable[[], Asking]
    name: str = ""
    tokens: Tokens = field(default_factory=Tokens)
    failed: list[tuple[str, str]] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    flawed: tuple[str, ...] = ()
    is_cut: bool = False
    is_asked_twice: bool = False
    _asking: Asking | None = None
    _last: str = ""
    _in_a_row: int = 0
    _cut_in_a_row: int = 0
    _too_long_in_a_row: int = 0

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be asked."""
        return self._in_a_row >= MAX_FAILURES

    def ops(self, question: str, *, is_last: bool = False) -> list[Op]:
        """The ops that the model proposes. Where `is_last`, nobody asks it again for an answer that
        can be read. Raises ContextExceeded where less can be asked about, PlanRefused where the
        answer holds no plan, and MdmemoryError where there is none; the last two stand in `failed`.
        """
        self.is_cut = False
        if tokens(question) > self.room().tokens:
            raise ContextExceeded(f"The question is too long for {self.name}.", 0)
        try:
            plan = self._plan(question, is_last)
        except ContextExceeded:
            self._too_long_in_a_row += 1
            if self._too_long_in_a_row >= MAX_TOO_LONG:
                called = f"called {MAX_TOO_LONG} questions in a row too long, down to the shortest."
                hint = "Choose a model with a larger context, or set llm.context_tokens."
                self._end("context", f"The server of {self.name} {called} {hint}")
            raise
        except PlanRefused as problem:
            self._cut_in_a_row += 1
            if self.is_cut and self._cut_in_a_row < MAX_CUT:
                return []  # nothing of it is whole: half as many notes are asked about
            self.failed += problem.refusals
            self.reject()
            self._in_a_row += 1
            raise
        except MdmemoryError as problem:
            self._fail(problem)
            raise
        self._in_a_row = 0
        if not self.is_cut and not is_last:
            self._cut_in_a_row = 0
        lost = f"{plan.lost} of {plan.count} ops did not stand in the answer whole."
        self.flawed = (*plan.flawed, *([lost] if plan.lost and not self.is_cut else []))
        if self.flawed:
            self.reject()
        return list(plan.ops)

    def read_again(
        self, ops: Sequence[Readable], notes: Mapping[str, StoredNote]
    ) -> Mapping[Readable, str]:
        """What a second reading says of these ops; what it costs is counted, and why it failed is
        told."""
        if not ops or self._asking is None:
            return {}
        reading = read_again(self._asking.reader, ops, notes)
        self._spend(reading.input, reading.output, reading.calls)
        if (problem := reading.failure) is not None:
            self.failed.append((problem.code, problem.sentences))
        return reading.doubts

    def is_same(self, one: StoredNote, other: StoredNote) -> bool | None:
        """Whether two notes state one fact; None where the model fails, or says neither."""
        try:
            rules = assets.read("protocol/same.md")
            # what they state, and nothing else
            sentences = [note.note.head.description for note in (one, other)]
            question = json.dumps({"sentences": sentences}, ensure_ascii=False)
            self._last = self._answer(question, rules)
        except MdmemoryError as problem:
            self._fail(problem)
            return None
        self._in_a_row = 0
        return read_yes(self._last)

    def _fail(self, problem: MdmemoryError) -> None:
        self.failed.append((problem.code, problem.sentences))
        self._in_a_row = MAX_FAILURES if problem.code in _FINAL else self._in_a_row + 1

    def judge(self) -> str:
        """Who judges the notes: the model's name, and a digest of its rules and of the guards'
        version; "" where no model can be had."""
        try:
            asking = self._find()
        except MdmemoryError:
            return ""  # told when it is asked
        rules = digest(f"{guards.VERSION}\n{asking.system}")
        return f"{asking.model.name} {rules[:12]}"

    def _find(self) -> Asking:
        self._asking = self._asking or self.ask()
        return self._asking

    def _plan(self, question: str, is_last: bool) -> Plan:
        """The plan in the model's answer, or in a second one after an example of the form."""
        self.is_asked_twice = False
        self._last = self._answer(question)
        try:
            return read(self._last)
        except PlanRefused:
            if self.is_cut or is_last:
                raise
            self.reject()
        self.is_asked_twice = True
        self._last = self._answer(once_more(question, PLAN))
        return read(self._last)

    def room(self) -> Room:
        """How much a question may hold, as far as it is known by now."""
        try:
            return room(self._find(), PLAN)
        except MdmemoryError:
            return ANYTHING  # told when it is asked

    def has_room(self) -> bool:
        """Whether a question fits the window at all; it is told where none does."""
        if self.room().tokens > 0 or self._asking is None:
            return True
        problem = no_room(self._asking.model)
        self._end(problem.code, problem.sentences)
        return False

    def count_cut(self, *, of_use: bool) -> None:
        """Count a cut answer that had whole ops; after MAX_CUT in a row none of which was of use
        nothing more is asked, since more and smaller questions would use up the day's calls."""
        self._cut_in_a_row = 0 if of_use else self._cut_in_a_row + 1
        if self._cut_in_a_row >= MAX_CUT and not self.is_over:
            text = f"{MAX_CUT} answers of {self.name} in a row were cut short and of no use."
            hint = "Choose another model, or let its server give longer answers."
            self._end("unparsable", f"{text} {hint}")

    def _end(self, code: str, sentence: str) -> None:
        self.failed.append((code, sentence))
        self._in_a_row = MAX_FAILURES

    def reject(self) -> None:
        """The last answer could not be used as it came."""
        if self._last not in self.rejected:
            self.rejected.append(self._last)

    def _answer(self, question: str, system: str = "") -> str:
        """The answer to a question about a plan, or with another `system` text in a few words."""
        asking = self._find()
        self.name = asking.model.name or asking.model.kind
        try:
            schema = None if system else PLAN
            answer = asking.model.complete(system or asking.system, question, schema)
        except MdmemoryError as problem:
            cost = problem.cost if isinstance(problem, ContextExceeded) else (0, 0)
            self._spend(*cost, calls=problem.code not in _FINAL)
            raise
        self._too_long_in_a_row = 0
        self._spend(answer.input_tokens, answer.output_tokens)
        self.is_cut = answer.cut
        return answer.text

    def _spend(self, input: int, output: int, calls: int = 1) -> None:
        so_far = self.tokens
        self.tokens = Tokens(so_far.input + input, so_far.output + output, so_far.calls + calls)
