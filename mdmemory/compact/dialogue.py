"""What passes between the planner and its model: questions go out, ops come back, and what it
cost and where it failed is kept. A small model is only asked whether two notes say the same.

Measured with 1.5 billion parameters: of 25 fresh duplicates among 120 notes 21 were found so, and
no two notes became one that differ."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mdmemory import assets
from mdmemory.compact import guards, second_reading
from mdmemory.compact.model_question import read
from mdmemory.compact.plan import Merge, Op, Plan, PlanRefused
from mdmemory.compact.planner import Tokens
from mdmemory.compact.result import best
from mdmemory.compact.second_reading import Readable
from mdmemory.errors import MdmemoryError
from mdmemory.files import digest
from mdmemory.llm.answer import Asking, ContextExceeded, once_more
from mdmemory.llm.schemas import PLAN
from mdmemory.llm.sizes import ANYTHING, Room, no_room, room, tokens
from mdmemory.store.store import StoredNote

REASON = "both say the same"
_WORD = re.compile(r"\W{0,9}(yes|no)\b", re.IGNORECASE)

Nearest = Callable[[StoredNote], StoredNote | None]


def list_nearest(
    notes: Sequence[StoredNote], nearest: Nearest
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
        description=head.description, body=body, reason=REASON,
    )  # fmt: skip


MAX_FAILURES = 2  # in a row
MAX_CUT = 5  # answers in a row of which nothing was whole: the model does not come to an end
MAX_TOO_LONG = 16  # questions in a row: halving leads from the longest to a single note in fewer
_FINAL = ("over_cap", "bad_setting")  # what asking again cannot help


@dataclass
class Talk:
    """`failed` says (code, sentence) why there was no answer to read; `rejected` are answers that
    could not be used as they came, `flawed` what is wrong with ops of the last one. `is_too_long`:
    the last question was, for this model; `is_cut`: its answer ended at its length limit;
    `is_asked_twice`: its first answer could not be read."""

    ask: Callable[[], Asking]
    name: str = ""
    tokens: Tokens = field(default_factory=Tokens)
    failed: list[tuple[str, str]] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    flawed: tuple[str, ...] = ()
    is_too_long: bool = False
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

    def ops(self, question: str, *, is_last: bool = False) -> list[Op] | None:
        """The ops that the model proposes; None where it fails, or answers with no plan. Where
        `is_last`, nobody asks it again for an answer that can be read."""
        self.is_too_long = self.is_cut = False
        if self.is_over:
            return None
        if tokens(question) > self.room().tokens:
            self.is_too_long = True
            return None
        try:
            plan = self._plan(question, is_last)
            proposed = list(plan.ops)
        except ContextExceeded:
            self.is_too_long = True  # no failure: it can be asked about less
            self._too_long_in_a_row += 1
            if self._too_long_in_a_row >= MAX_TOO_LONG:
                called = f"called {MAX_TOO_LONG} questions in a row too long, down to the shortest."
                hint = "Choose a model with a larger context, or set llm.context_tokens."
                self._end("context", f"The server of {self.name} {called} {hint}")
        except PlanRefused as problem:
            self._cut_in_a_row += 1
            if self.is_cut and self._cut_in_a_row < MAX_CUT:
                return []  # nothing of it is whole: half as many notes are asked about
            self.failed += [(each["code"], each["message"]) for each in problem.refusals]
            self.reject()
            self._in_a_row += 1
        except MdmemoryError as problem:
            self._fail(problem)
        else:
            self._in_a_row = 0
            if not self.is_cut and not is_last:
                self._cut_in_a_row = 0
            lost = f"{plan.lost} of {plan.count} ops did not stand in the answer whole."
            self.flawed = (*plan.flawed, *([lost] if plan.lost and not self.is_cut else []))
            if self.flawed:
                self.reject()
            return proposed
        return None

    def read_again(
        self, ops: Sequence[Readable], notes: Mapping[str, StoredNote]
    ) -> Mapping[Readable, str]:
        """What a second reading says of these ops; what it costs is counted, and why it failed is
        told."""
        if not ops or self._asking is None:
            return {}
        reading = second_reading.read_again(self._asking.reader, ops, notes)
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
            asking = self._asking = self._asking or self.ask()
        except MdmemoryError:
            return ""  # told when it is asked
        rules = digest(f"{guards.VERSION}\n{asking.system}")
        return f"{asking.model.name} {rules[:12]}"

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
            self._asking = self._asking or self.ask()
        except MdmemoryError:
            return ANYTHING  # told when it is asked
        return room(self._asking, PLAN)

    def has_room(self) -> bool:
        """Whether a question fits the window at all; it is told where none does."""
        if self.room().tokens > 0 or self._asking is None:
            return True
        problem = no_room(self._asking.model)
        self._end(problem.code, problem.sentences)
        return False

    def leave_out(self, count: int) -> None:
        """Say that so many questions were not asked."""
        code = self.failed[-1][0]
        self.failed.append((code, f"{count} more batches were not asked about."))

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
        asking = self._asking = self._asking or self.ask()
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
