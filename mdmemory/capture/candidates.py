"""What a model is asked about a session, and its answer: candidates, each with its evidence.

The question holds no secret and no note on hold. Nothing of the answer is believed: a candidate
that is not whole, or not as it was asked for, is left out with the reason `schema`.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mdmemory import bounds
from mdmemory.capture.fact import Candidate, clean_text
from mdmemory.errors import MdmemoryError
from mdmemory.llm.answer import Asking, ContextExceeded, once_more
from mdmemory.llm.json_answer import BadAnswer, as_text, as_texts, as_word, read_list
from mdmemory.llm.schemas import CANDIDATES
from mdmemory.llm.sizes import ANYTHING, UNBOUNDED, Room, no_room, room, tokens
from mdmemory.note.limits import MAX_DESCRIPTION, TYPES
from mdmemory.note.note import list_standing
from mdmemory.privacy.redaction import redact
from mdmemory.search.near import Near, scan_notes
from mdmemory.store.store import StoredNote
from mdmemory.transcripts.turns import MAX_CHARS, Turn

MAX_ANSWER = bounds.CANDIDATES
MAX_CANDIDATES = 30  # a good answer has three
MAX_TEXT = 4_000  # characters of a body or a quote; a fact takes a sentence or two
MAX_REPLACED = 10

ACTIONS = ("add", "update", "reinforce", "flag")
KINDS = ("", "decision")
_CHOICES = ("action", "type", "kind")
_TEXTS = (*_CHOICES, "title", "fact", "why", "quote")
# what 0.2 asked for, and smaller models go on to answer with
_FORMER = {"fact": "description", "replaces": "file"}


@dataclass
class SessionReading:
    """What `model` ("": none was asked) found in the turns up to `upto` (an id, "" where none was
    read), or in one of its answers.

    `shown` are the digests of all notes that it was shown, by file, `dropped` what it found and
    cannot be read, and turns that are too long for it, with a reason; `failure` says why it stopped
    early, and `failed` is the last turn of the question that had no answer.
    """

    model: str = ""
    upto: str = ""
    failure: MdmemoryError | None = None
    failed: str = ""
    candidates: list[Candidate] = field(default_factory=list)
    dropped: list[tuple[str, str]] = field(default_factory=list)
    shown: dict[str, str] = field(default_factory=dict)
    unreadable: int = 0  # candidates that came neither whole nor as asked for


def parse(answer: str) -> SessionReading:
    """The candidates in an answer, as far as they are whole. Raises BadAnswer where there is no
    list of them, or none that can be read."""
    if len(answer) > MAX_ANSWER:
        raise BadAnswer(f"has more than {MAX_ANSWER} characters")
    fields = (*_TEXTS, "replaces", *_FORMER.values())
    objects = read_list(answer, "candidates", fields=fields, mark="action")
    read = [(_read_candidate(value), value) for value in objects.objects]
    good = [candidate for candidate, _ in read if candidate is not None]
    if read and not good:
        raise BadAnswer("holds candidates, and none of them in the form that was asked for")
    dropped = [(_preview_text(value), "schema") for candidate, value in read if candidate is None]
    dropped += [("a candidate that did not come whole", "schema")] * objects.lost
    dropped += [(each.text, "too_many") for each in good[MAX_CANDIDATES:]]
    count = len(objects.objects) - len(good) + objects.lost
    return SessionReading(candidates=good[:MAX_CANDIDATES], dropped=dropped, unreadable=count)


def _read_candidate(value: Mapping[str, Any]) -> Candidate | None:
    """The candidate, or None where a field is not what it may be."""
    value = {**value, **{new: value[old] for new, old in _FORMER.items()
                         if old in value and not value.get(new)}}  # fmt: skip
    read = {name: as_word if name in _CHOICES else as_text for name in _TEXTS}
    texts = {name: read[name](value.get(name) or "") for name in _TEXTS}
    given = value.get("replaces")
    named = as_texts([given] if isinstance(given, str) else given)
    if named is None or len(named) > MAX_REPLACED:
        return None
    trimmed: dict[str, Any] = {
        name: text.strip() for name, text in texts.items() if text is not None
    }
    if len(trimmed) < len(texts):
        return None
    files = tuple(dict.fromkeys(each.strip() for each in named if each.strip()))
    each = Candidate(**trimmed, replaces=files)
    is_long = max(map(len, (each.fact, each.why, each.quote))) > MAX_TEXT
    if each.action not in ACTIONS or not each.quote or is_long:
        return None
    if each.action == "reinforce":
        return each if each.replaces else None
    is_typed = each.type in TYPES and each.kind in (KINDS if each.type == "project" else ("",))
    # a bare number or mark says nothing
    return each if is_typed and any(map(str.isalpha, each.fact)) else None


def _preview_text(value: Mapping[str, Any]) -> str:
    """What a candidate that cannot be read seems to say, for the log."""
    for name in ("fact", "description", "quote"):
        text = value.get(name)
        if isinstance(text, str) and text.strip():
            cut = " ".join(text.split())[:MAX_DESCRIPTION]
            return cut.encode("utf-8", "replace").decode("utf-8")
    return "a candidate that cannot be read"


MAX_BODIES = 12_000  # characters of notes that are shown whole
MAX_HEADS = 12_000  # characters of the descriptions of those that are not
_AROUND = 60  # tokens of a question besides its turns and notes
MIN_SAID = 40  # characters; nobody states a fact in less


class Question(NamedTuple):
    """A prompt, and the digests of the notes in it by file."""

    text: str
    shown: dict[str, str]


def redact_turns(turns: Sequence[Turn]) -> list[Turn]:
    """The turns without secrets: in this form they are shown, and quotes are looked for.

    One that alone is over the limit, as a pasted log is, is cut, and says so. What a question asks
    for, the answer to it need not name.
    """
    questions = ["", *(turn.text.rstrip()[-_ASKED:] for turn in turns)]
    return [
        _cut_turn(turn._replace(text=_redact_answer(question, redact(turn.text)[0])), MAX_CHARS)
        for question, turn in zip(questions, turns, strict=False)
    ]


def _redact_answer(question: str, text: str) -> str:
    joined = redact(f"{question} {text}")[0] if question.endswith(("?", "？")) else ""
    return joined.removeprefix(f"{question} ") if joined.startswith(f"{question} ") else text


def _cut_turn(turn: Turn, length: int) -> Turn:
    more = len(turn.text) - length
    text = f"{turn.text[:length]}\n[{more} more characters]"
    return turn._replace(text=text) if more > 0 else turn


def make_question(
    turns: Sequence[Turn], notes: Sequence[StoredNote], today: str, near: Near = scan_notes,
    free: Room = ANYTHING,
) -> Question:  # fmt: skip
    """Ask for the facts in these (redacted) turns.

    Where there are more notes than fit, those nearest to what was said are shown, in full as long
    as there is room, then by their heads. `free` is what the model's window leaves for all of it.
    """
    numbered = [turn_in_question(number, turn) for number, turn in enumerate(turns, 1)]
    if free.tokens < UNBOUNDED:
        free = free.less(_AROUND + tokens(json.dumps(numbered, ensure_ascii=False)))
    size = _measure_notes(free, MAX_BODIES, whole=True)
    opened, heads = list(notes), list[StoredNote]()
    if sum(map(size, notes)) > MAX_BODIES:
        closest = near("\n".join(turn.text for turn in turns), notes)
        opened, rest = _fitting_notes(dict.fromkeys([*closest, *notes]), MAX_BODIES, size)
        if free.tokens < UNBOUNDED:
            free = free.less(sum(map(size, opened)) * max(free.tokens, 0) // MAX_BODIES)
        heads, _ = _fitting_notes(rest, MAX_HEADS, _measure_notes(free, MAX_HEADS, whole=False))
    rows = [(note, note in opened) for note in (*opened, *heads)]
    rows.sort(key=lambda row: row[0].file)
    shown = [_shown_note(note, whole) for note, whole in rows]
    text = json.dumps({"today": today, "turns": numbered, "notes": shown}, ensure_ascii=False)
    return Question(text, {note.file: note.digest for note, _ in rows})


def turn_in_question(number: int, turn: Turn) -> dict[str, Any]:
    """A turn as it stands in a question."""
    return {"number": number, "role": turn.role, "id": turn.id, "text": turn.text}


def _measure_notes(free: Room, most: int, *, whole: bool) -> Callable[[StoredNote], int]:
    """What a note takes of a question that holds `most` characters of them."""
    if free.tokens < UNBOUNDED:
        measure = free.measure(most)
        return lambda note: measure(json.dumps(_shown_note(note, whole), ensure_ascii=False))

    def size(note: StoredNote) -> int:
        head, body = note.note.head, note.note.body if whole else ""
        return sum(map(len, (head.file, head.name, head.description, body)))

    return size


def _fitting_notes(
    notes: Iterable[StoredNote], room: int, size: Callable[[StoredNote], int]
) -> tuple[list[StoredNote], list[StoredNote]]:
    """The notes that a room holds, one after the other, and the others."""
    fitting, rest = list[StoredNote](), list[StoredNote]()
    for note in notes:
        fits = (cost := size(note)) <= room
        (fitting if fits else rest).append(note)
        room -= cost if fits else 0
    return fitting, rest


def _shown_note(note: StoredNote, whole: bool) -> dict[str, str]:
    head = note.note.head
    fields = {"file": note.file, "type": head.type, "name": head.name}
    fields |= list_standing(head)
    fields["description"] = redact(head.description)[0]
    return fields | ({"body": redact(note.note.body)[0]} if whole else {})


def clean_candidate(candidate: Candidate) -> Candidate:
    """Without secrets and what nobody sees, the fact one line."""
    texts = (candidate.title, candidate.fact, candidate.why, candidate.quote)
    *lines, quote = (clean_text(text)[0] for text in texts)
    title, fact, why = (" ".join(line.split()) for line in lines)
    return candidate._replace(title=title, fact=fact, why=why, quote=quote)


LEAST = 200  # characters of a turn: what is left of it where a window is too small for the whole
_ASKED = 200  # characters of the end of a turn that may ask for a secret
_PREVIEW = 80  # characters of a turn that was left out
Report = Callable[[int, int, str], None]  # done, total, what
Portion = tuple[Turn, ...]


def ask_about(
    asking: Asking, turns: Sequence[Turn], notes: Sequence[StoredNote], today: str, near: Near,
    report: Report = lambda *_: None,
) -> SessionReading:  # fmt: skip
    """Ask about these (redacted) turns until all are read, or one question fails."""
    reading = SessionReading(asking.model.name or asking.model.kind)
    waiting = deque(_split_portions(tuple(turns), room(asking, CANDIDATES)))
    done = 0
    while waiting:
        if room(asking, CANDIDATES).tokens <= 0:
            reading.failure = no_room(asking.model)
            return reading
        portion = waiting.popleft()
        count = f"{len(portion)} turn{'' if len(portion) == 1 else 's'}"
        report(done, done + 1 + len(waiting), f"asking {reading.model} about {count}")
        inquiry = make_question(portion, notes, today, near, room(asking, CANDIDATES))
        again: list[Portion] = []
        try:
            answered, is_cut = _ask_whole(asking, inquiry.text, len(portion) > 1)
            again = _halve_portion(portion) if is_cut else []
            reading.shown |= inquiry.shown
            reading.candidates = [*dict.fromkeys([*reading.candidates, *answered.candidates])]
            reading.dropped += answered.dropped
            reading.unreadable += answered.unreadable
        except ContextExceeded:
            again = _smaller_portions(portion, room(asking, CANDIDATES))
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


def _ask_whole(asking: Asking, question: str, has_halves: bool) -> tuple[SessionReading, bool]:
    """What was found, and whether the answer was cut off: then it is asked again in halves. An
    answer that cannot be read gets one more question, with an example of the form."""
    answer = asking.model.complete(asking.system, question, CANDIDATES)
    try:
        return parse(answer.text), answer.cut
    except BadAnswer:
        if answer.cut and has_halves:
            return SessionReading(), True  # nothing of it is whole
    again = asking.model.complete(asking.system, once_more(question, CANDIDATES), CANDIDATES)
    return parse(again.text), again.cut


def _split_portions(turns: Portion, free: Room) -> list[Portion]:
    """The turns in portions that leave a quarter of a question for notes."""
    if free.tokens >= UNBOUNDED:
        return [turns]
    left = most = free.tokens * 3 // 4
    portions: list[list[Turn]] = [[]]
    for turn in turns:
        turn = _fit_turn(turn, most)
        size = _turn_size(turn)
        if size > left and portions[-1]:
            portions.append([])
            left = most
        portions[-1].append(turn)
        left -= size
    return [tuple(each) for each in portions if each]


def _smaller_portions(portion: Portion, free: Room) -> list[Portion]:
    """A portion that was too long for the model, in more questions; none if it is one turn of
    which no more can be cut off."""
    fitting = _split_portions(portion, free)
    if fitting != [portion] or len(portion) > 1:
        return fitting if fitting != [portion] else _halve_portion(portion)
    turn = _fit_turn(portion[0], _turn_size(portion[0]) // 2)
    return [] if turn == portion[0] else [(turn,)]


def _halve_portion(portion: Portion) -> list[Portion]:
    middle = len(portion) // 2
    return [portion[:middle], portion[middle:]] if middle else []


def _fit_turn(turn: Turn, most: int) -> Turn:
    """The turn, cut to about that many tokens where it has more; LEAST characters stay."""
    if _turn_size(turn) <= most:
        return turn
    length = max(LEAST, Room(most).characters(len(turn.text), turn.text) * 9 // 10 - LEAST)
    return _cut_turn(turn, length) if len(turn.text) - length > 50 else turn


def _turn_size(turn: Turn) -> int:
    return tokens(json.dumps(turn_in_question(1, turn), ensure_ascii=False))
