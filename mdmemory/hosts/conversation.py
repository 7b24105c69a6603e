"""What a message of the person does, whichever host brings it: wishes are stored or taken back, the
index follows, and the answer says what the assistant and the person are told.

Nothing here fails a message: what goes wrong is logged, and the rest of the answer is still good.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmemory import bounds
from mdmemory.config import person
from mdmemory.errors import MdmemoryError
from mdmemory.hosts.bridge_log import Log
from mdmemory.hosts.following import BySession, Following
from mdmemory.hosts.telling import Telling
from mdmemory.layers import MINE, Layers
from mdmemory.memory import Memory
from mdmemory.privacy import is_secret
from mdmemory.prompt.lines import of_wishes
from mdmemory.prompt.receipts import saved, tell_withdrawn, toast, told, written
from mdmemory.store.adopt import SETTLED
from mdmemory.store.refresh import Refresher

if TYPE_CHECKING:  # each is loaded by the function that needs it
    from mdmemory.capture.extracted import Extracted
    from mdmemory.capture.withdrawal import Withdrawn
    from mdmemory.transcripts.turns import Transcript, Turn

Answer = dict[str, Any]
# The notes that go with a message, from the layers and from what has looked at their folders.
Notes = Callable[[Layers, Sequence[Refresher | None]], list[str]]


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message of a session. `turn` is what was said, None where nothing of it can be read;
    `is_private`: a part of it is; `length`: the characters of all of it; `by_agent`: another agent
    says it, whose words decide nothing; `transcript`: the session's file, where the host names it.
    """

    session: str
    turn: Turn | None
    folder: Path
    is_private: bool = False
    length: int = 0
    by_agent: bool = False
    transcript: Path | None = None


class Conversation:
    """The messages of all sessions of one client, or of one store."""

    def __init__(self, log: Log, telling: Telling, following: Following) -> None:
        self._log, self._telling, self._following = log, telling, following
        self._last: BySession[str] = BySession()  # the message before

    def last(self, session: str) -> str:
        """What was said last in a session; "" for nothing."""
        return self._last.get(session) or ""

    def forget(self, session: str) -> None:
        """Forget a deleted session."""
        self._last.drop(session)

    def take(self, layers: Layers, message: Spoken, notes: Notes) -> Answer:
        """Store what the message asks to remember, and update the index, before the turn.

        `parts` are texts for the assistant, `saved` the written files, `toast` a line for the user.
        """
        session, turn, done = message.session, message.turn, None
        known = [each.project.store for each in layers.there()]
        if not message.by_agent:
            self._telling.begin(session)
        if turn is not None and not message.by_agent:
            try:
                done = layers.keep(turn.text, session=session, turn=turn.id)
            except MdmemoryError as problem:
                return self.put_by(message, problem)
        fresh: list[Refresher | None] = []
        if done is None or done.failure is None:
            self._log.tried("message", partial(self.write_wishes, layers))
        for memory in layers.there():
            if done is not None:
                self._uncommitted(memory, done)
            self._log.tried("message", partial(memory.adopt, settled=SETTLED))
            if done is not None and _wrote_in(layers, memory, done):
                fresh.append(None)  # the index followed under the lock, before it was let go
            else:
                fresh.append(self._log.tried("message", partial(refreshed, memory)))
        answer = self._receipt(message, done)
        stores = [each.project.store for each in layers.there()]
        if made := [store for store in stores if store not in known]:
            _name_made(answer, made)
        if turn is not None:
            self._answer(answer, layers, message, turn, done, partial(notes, layers, fresh))
        if "toast" in answer:
            self._telling.shown()
        return answer

    def _answer(
        self, answer: Answer, layers: Layers, message: Spoken, turn: Turn,
        done: Extracted | None, notes: Callable[[], list[str]],
    ) -> None:  # fmt: skip
        """Put into the answer what the message takes back, the notes that go with it, and what
        waited for it."""
        if done is not None:
            withdraw = partial(_taken_back, layers, message, turn, self.last(message.session))
            tell_withdrawn(answer, self._log.tried("message", withdraw))
        is_about_memory = any(answer.get(key) for key in ("parts", "saved", "toast"))
        answer["parts"] += [*([] if is_about_memory else notes()), *unread(message.length)]
        self._last.put(message.session, turn.text)
        if main := layers.project or layers.person:
            role = "assistant" if message.by_agent else "user"
            heard = partial(self._following.heard, main, message.session, role, turn.text)
            answer["parts"] += self._log.tried("message", heard) or []

    def put_by(self, message: Spoken, problem: MdmemoryError) -> Answer:
        """The answer where no store can be opened: what the message asks for is put by for later.
        Where it asks for nothing, `problem` is raised."""
        from mdmemory.capture.asked import wishes_in
        from mdmemory.capture.wishes import inbox_without_store, put_by

        turn = None if message.by_agent else message.turn
        if turn is None or not wishes_in(turn.text, turn.id):
            raise problem
        inbox, today = inbox_without_store(message.folder), person.now().date().isoformat()
        done = put_by([inbox], turn.text, message.session, turn.id, today, problem)
        return self._receipt(message, done)

    def _receipt(self, message: Spoken, done: Extracted | None) -> Answer:
        """The answer to a message whose requests were stored, or refused, as `done` says."""
        if message.turn is None or done is None:
            return {"parts": [], "saved": []}
        if done.failure is not None:
            self._log.failure("message", done.failure)
        facts, quoted = self._log.tried("message", partial(requests_of, message.turn)) or ([], [])
        line = toast(done, facts, message.is_private)
        answer: Answer = {"parts": told(done, message.is_private, quoted), "saved": saved(done)}
        return answer if line is None else answer | {"toast": line}

    def write_wishes(self, layers: Layers) -> None:
        """Write what could not be written earlier, and tell the person so."""
        if report := written(layers.write_wishes()):
            self._log.say(report)
            self._telling.toast(of_wishes(report))

    def _uncommitted(self, memory: Memory, done: Extracted) -> None:
        """Log why a stored note is in no commit: a person counts on git."""
        if saved(done) and not (done.commit or done.waits) and (why := memory.refusal()):
            self._log.say(f"message: a stored note is in no commit. {why.message} {why.hint}")


def _wrote_in(layers: Layers, memory: Memory, done: Extracted) -> bool:
    """Whether what a message asked to remember was written in this store."""
    is_other = memory is not layers.main
    return any(file.startswith(MINE) == is_other for file in saved(done))


def refreshed(memory: Memory) -> Refresher:
    """MEMORY.md follows the notes; nothing is read where nothing changed."""
    refresher = Refresher(memory.project, is_secret)
    refresher.keep_fresh()
    return refresher


def _name_made(answer: Answer, made: Sequence[Path]) -> None:
    from mdmemory.hosts.opencode.places import from_home

    where = " and ".join(map(from_home, made))
    answer["parts"].append(f"mdmemory made a store for it: {where}.")
    if "toast" in answer:
        answer["toast"]["message"] += f" (new store: {where})"


def requests_of(turn: Turn) -> tuple[list[str], list[str]]:
    """The facts that a turn asks to remember, and the requests in text that it only quotes."""
    from mdmemory.capture import foreign
    from mdmemory.capture.asked import wishes_in

    return [each.text for each in wishes_in(turn.text, turn.id)], foreign.requests(turn.text)


def unread(length: int) -> list[str]:
    """A notice for the assistant on a message that is too long to be read whole, or []."""
    if length <= bounds.MESSAGE:
        return []
    return [
        f"mdmemory read the first {bounds.MESSAGE:,} of {length:,} characters of this message. If "
        "the user asks to remember something after that, store it with memory_store."
    ]


def transcript_of(session: str, file: Path | None = None) -> Transcript:
    """A session as its host keeps it, in `file` where the host names that. Raises MdmemoryError
    where it cannot be read."""
    from mdmemory.transcripts.sources import copy, read

    return read(file if file is not None else copy(person.hosts(), session))


def _taken_back(layers: Layers, message: Spoken, turn: Turn, last: str) -> Withdrawn | None:
    """Take back what a message does not want remembered; `last` is the user's message before it,
    for where the session cannot be read."""

    def before() -> list[Turn]:
        from mdmemory.transcripts.turns import Turn

        with suppress(MdmemoryError):  # a host without such a session
            turns = transcript_of(message.session, message.transcript).turns
            ids = [each.id for each in turns]
            return [*turns[: ids.index(turn.id) if turn.id in ids else len(ids)]]
        return [Turn("last", "user", last)] if last else []

    return layers.withdraw(turn.text, session=message.session, before=before)
