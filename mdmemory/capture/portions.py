"""The turns of one run, asked about in as many questions as the model's window needs, one after
the other. Where one fails, what was read before it counts."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from mdmemory.capture.candidates import (
    Answered,
    Candidate,
    Question,
    parse,
    question,
    turn_in_question,
)
from mdmemory.errors import MdmemoryError
from mdmemory.llm.answer import Asking, ContextExceeded
from mdmemory.llm.form import once_more
from mdmemory.llm.json_answer import BadAnswer
from mdmemory.llm.schemas import CANDIDATES
from mdmemory.llm.sizes import UNBOUNDED, Room, no_room, room, tokens
from mdmemory.search.near import Near
from mdmemory.store.store import StoredNote
from mdmemory.transcripts.turns import Turn

LEAST = 200  # characters of a turn: what is left of it where a window is too small for the whole
_PREVIEW = 80  # characters of a turn that was left out
Report = Callable[[int, int, str], None]  # done, total, what
Portion = tuple[Turn, ...]


@dataclass
class SessionReading:
    """What a model found in the turns up to `upto` (an id, "" where none was read).

    `asked` is what it was shown in all questions together, `dropped` what it found and cannot be
    read, and turns that are too long for it, with a reason; `failure` says why it stopped early.
    """

    upto: str = ""
    failure: MdmemoryError | None = None
    failed: str = ""  # the last turn of the question that had no answer
    candidates: list[Candidate] = field(default_factory=list)
    dropped: list[tuple[str, str]] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    unreadable: int = 0  # candidates

    @property
    def found(self) -> Answered:
        """All candidates, as of one answer."""
        return Answered(tuple(self.candidates), tuple(self.dropped), self.unreadable)

    @property
    def asked(self) -> Question:
        """All questions, as one."""
        shown = {file: digest for each in self.questions for file, digest in each.shown.items()}
        opened = frozenset(file for each in self.questions for file in each.opened)
        return Question("\n".join(each.text for each in self.questions), shown, opened)

    def add(self, asked: Question, found: Answered) -> None:
        """One more question with its answer."""
        self.questions.append(asked)
        self.candidates += [each for each in found.candidates if each not in self.candidates]
        self.dropped += found.dropped
        self.unreadable += found.unreadable


def read(
    asking: Asking, turns: Sequence[Turn], notes: Sequence[StoredNote], today: str, near: Near,
    report: Report = lambda *_: None,
) -> SessionReading:  # fmt: skip
    """Ask about these (redacted) turns until all are read, or one question fails."""
    reading, model = SessionReading(), asking.model.name or asking.model.kind
    waiting = deque(_portions(tuple(turns), room(asking, CANDIDATES)))
    done = 0
    while waiting:
        if room(asking, CANDIDATES).tokens <= 0:
            reading.failure = no_room(asking.model)
            return reading
        portion = waiting.popleft()
        count = f"{len(portion)} turn{'' if len(portion) == 1 else 's'}"
        report(done, done + 1 + len(waiting), f"asking {model} about {count}")
        asked = question(portion, notes, today, near, room(asking, CANDIDATES))
        again: list[Portion] = []
        try:
            found, is_cut = _answered(asking, asked.text, len(portion) > 1)
            again = _halves(portion) if is_cut else []
            reading.add(asked, found)
        except ContextExceeded:
            again = _smaller(portion, room(asking, CANDIDATES))
            if not again:
                reading.dropped.append((portion[0].text[:_PREVIEW], "too_long"))
        except MdmemoryError as problem:
            reading.failure, reading.failed = problem, portion[-1].id
            return reading
        waiting.extendleft(reversed(again))
        if not again:
            reading.upto = portion[-1].id
        done += 1
    report(done, done, "judging what it found")
    return reading


def _answered(asking: Asking, question: str, has_halves: bool) -> tuple[Answered, bool]:
    """What was found, and whether the answer was cut off: then it is asked again in halves. An
    answer that cannot be read gets one more question, with an example of the form."""
    answer = asking.model.complete(asking.system, question, CANDIDATES)
    try:
        return parse(answer.text), answer.cut
    except BadAnswer:
        if answer.cut and has_halves:
            return Answered(), True  # nothing of it is whole
    again = asking.model.complete(asking.system, once_more(question, CANDIDATES), CANDIDATES)
    return parse(again.text), again.cut


def _portions(turns: Portion, free: Room) -> list[Portion]:
    """The turns in portions that leave a quarter of a question for notes."""
    if free.tokens >= UNBOUNDED:
        return [turns]
    left = most = free.tokens * 3 // 4
    found: list[list[Turn]] = [[]]
    for turn in turns:
        turn = _fitted(turn, most)
        size = _size(turn)
        if size > left and found[-1]:
            found.append([])
            left = most
        found[-1].append(turn)
        left -= size
    return [tuple(each) for each in found if each]


def _smaller(portion: Portion, free: Room) -> list[Portion]:
    """A portion that was too long for the model, in more questions; none if it is one turn of
    which no more can be cut off."""
    fitting = _portions(portion, free)
    if fitting != [portion]:
        return fitting
    if len(portion) > 1:
        return _halves(portion)
    turn = _fitted(portion[0], _size(portion[0]) // 2)
    return [] if turn == portion[0] else [(turn,)]


def _halves(portion: Portion) -> list[Portion]:
    middle = len(portion) // 2
    return [portion[:middle], portion[middle:]] if middle else []


def _fitted(turn: Turn, most: int) -> Turn:
    """The turn, cut to about that many tokens where it has more; LEAST characters stay."""
    if _size(turn) <= most:
        return turn
    kept = max(LEAST, Room(most).characters(len(turn.text), turn.text) * 9 // 10 - LEAST)
    more = len(turn.text) - kept
    return (
        turn._replace(text=f"{turn.text[:kept]}\n[{more} more characters]") if more > 50 else turn
    )


def _size(turn: Turn) -> int:
    return tokens(json.dumps(turn_in_question(1, turn), ensure_ascii=False))
