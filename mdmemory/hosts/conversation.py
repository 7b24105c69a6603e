"""What a message of the person does, whichever host brings it: what it asks to remember is kept
until its turn has ended, the index follows, and the assistant gets the notes near it.

Nothing here fails a message: what goes wrong is logged, and the rest of the answer is still good.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mdmemory import bounds
from mdmemory.config import person
from mdmemory.errors import MdmemoryError
from mdmemory.hosts.bridge_log import Log
from mdmemory.hosts.following import BySession, Following
from mdmemory.hosts.notifications import Notifications
from mdmemory.layers import Layers
from mdmemory.memory import Memory
from mdmemory.privacy import is_secret
from mdmemory.prompt.lines import of_as_said, show
from mdmemory.store.adopt import SETTLED
from mdmemory.store.project import INDEX
from mdmemory.store.refresh import Refresher

if TYPE_CHECKING:  # each is loaded by the function that needs it
    from mdmemory.capture.notice import Noticed
    from mdmemory.hosts.by_message import Near
    from mdmemory.store.state import State
    from mdmemory.transcripts.turns import Transcript, Turn

Answer = dict[str, Any]
# The notes near a message, from the layers and from what has looked at their folders. With True
# also those come along of which the prompt has every word.
Notes = Callable[[Layers, Sequence[Refresher | None], bool], "Near"]


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message of a session. `turn` is what was said, None where nothing of it can be read;
    `is_private`: a part of it is; `length`: the characters of all of it; `by_agent`: another agent
    says it, whose words decide nothing; `transcript`: the session's file, where the host names it.
    `attended`: a person watches the run. `at_once`: it is the command to remember."""

    session: str
    turn: Turn | None
    folder: Path
    is_private: bool = False
    length: int = 0
    by_agent: bool = False
    transcript: Path | None = None
    attended: bool = True
    at_once: bool = False


class HeardMessage(NamedTuple):
    """What a message wants, without what the person does not want remembered. `secret`: of a
    request nothing is left without its secret; `cut`: a part was taken out."""

    text: str
    noticed: Noticed
    wishes: tuple[str, ...]
    secret: bool
    cut: bool


class Conversation:
    """The messages of all sessions of one client, or of one store."""

    def __init__(self, log: Log, notifications: Notifications, following: Following) -> None:
        self._log, self._notifications, self._following = log, notifications, following
        self._heard: BySession[bool] = BySession()  # sessions whose person said something

    def forget(self, session: str) -> None:
        """Forget a deleted session."""
        self._heard.drop(session)

    def end(self, layers: Layers) -> None:
        """Store what no call answered: the client is gone, and no turn of its sessions goes on."""
        for session in self._heard.sessions():
            self._log.try_work("end", partial(self.settle_wishes, layers, session))

    def take(self, layers: Layers, message: Spoken, notes: Notes) -> Answer:
        """Keep what the message asks to remember, and update the index, before the turn.

        `parts` are texts for the assistant, `saved` the files of what was stored at once, `toast` a
        line for the user.
        """
        session, turn = message.session, message.turn
        answer: Answer = {"parts": [], "saved": []}
        if not message.by_agent:
            self._notifications.begin(session)
        message_read = (
            read_request(turn.text) if turn is not None and not message.by_agent else None
        )
        if turn is not None and message_read is not None:
            self._keep_message(answer, layers, message, turn, message_read)
        settle = partial(self.settle_wishes, layers, session, turn.id if turn else "")
        self._log.try_work("message", settle)
        fresh: list[Refresher | None] = []
        for memory in layers.there():
            self._log.try_work("message", partial(memory.adopt, settled=SETTLED))
            fresh.append(self._log.try_work("message", partial(refresh_index, memory)))
        if turn is not None:
            self._go_along(answer, layers, message, message_read, partial(notes, layers, fresh))
            self._heard.put(session, True)
            if main := layers.project or layers.person:
                role = "assistant" if message.by_agent else "user"
                hear = partial(self._following.heard, main, session, role, turn.text)
                answer["parts"] += self._log.try_work("message", hear) or []
        if "toast" in answer:
            self._notifications.shown()
        return answer

    def _keep_message(
        self, answer: Answer, layers: Layers, message: Spoken, turn: Turn, heard: HeardMessage
    ) -> None:
        """Keep the wishes of a message, whatever git and the store do."""
        if heard.secret:
            answer["toast"] = show(NO_SECRET, "warning")
        if not heard.wishes:
            return
        try:
            layers.keep_wishes(
                heard.wishes, session=message.session, turn=turn.id, message=turn.text,
                attended=message.attended,
            )  # fmt: skip
        except MdmemoryError as problem:
            self._log.failure("message", problem)
            answer["toast"] = show(f"NOT remembered, and not kept: {problem.message}", "error")
            return
        if main := layers.project or layers.person:
            self._log.try_work("message", partial(_pass_over, self._following.state(main), message))
        if message.at_once:
            before = stores_with_notes(layers)
            done = (
                self._log.try_work("message", partial(layers.settle_wishes, message.session)) or []
            )
            answer["saved"] = [each.file for each in done]
            if line := of_as_said(done, name_new_stores(layers, before)):
                answer["toast"] = line

    def _go_along(
        self, answer: Answer, layers: Layers, message: Spoken, heard: HeardMessage | None,
        notes: Callable[[bool], Near],
    ) -> None:  # fmt: skip
        """Put into the answer what the assistant is told with the message."""
        from mdmemory.capture.notice import Noticed
        from mdmemory.prompt.message_part import part

        noticed = heard.noticed if heard else Noticed()
        near = self._log.try_work("message", partial(notes, bool(noticed)))
        text, named = (near.text, near.named) if near else ("", ())
        answer["parts"] += part(
            heard.text if heard else "", noticed, text, named if heard else (),
            has_secret=bool(heard and heard.secret),
            is_private=bool(heard and heard.cut) or (message.is_private and bool(noticed)),
        )  # fmt: skip
        answer["parts"] += notices_of_length(message.length)

    def put_by(self, message: Spoken, problem: MdmemoryError) -> Answer:
        """The answer where no store can be opened: what the message asks for is kept for later.
        Where it asks for nothing, `problem` is raised."""
        from mdmemory.capture.wishes import inbox_without_store, keep_wishes

        heard = (
            None if message.by_agent or message.turn is None else read_request(message.turn.text)
        )
        if heard is None or not heard.wishes or message.turn is None:
            raise problem
        self._log.failure("message", problem)
        inbox, turn = inbox_without_store(message.folder), message.turn.id
        try:
            keep_wishes(
                [inbox], heard.wishes, message.session, turn, person.now(),
                message=message.turn.text,
            )  # fmt: skip
        except MdmemoryError as failure:
            line = show(f"NOT remembered, and not kept: {failure.message}", "error")
            return {"parts": [], "saved": [], "toast": line}
        why = problem.sentences
        parts = [f"mdmemory keeps what the user asks to remember until it can be written: {why}"]
        return {"parts": parts, "saved": [], "toast": show(f"Kept for later: {why}", "warning")}

    def settle_wishes(self, layers: Layers, session: str = "", turn: str = "") -> None:
        """Store what no call answered where its turn is over, and tell the person so."""
        before = stores_with_notes(layers)
        done = layers.settle_wishes(session, turn)
        if any(not (each.commit or each.waits or each.existed) for each in done):
            refusals = filter(None, (each.refusal() for each in layers.there()))
            for refusal in refusals:  # why a note just stored is in no commit
                self._log.failure("message", refusal)
        self._notifications.look_in(layers)
        self._notifications.toast(of_as_said(done, name_new_stores(layers, before)))


NO_SECRET = "Not remembered: that is a secret. Keep it in a password manager."


def stores_with_notes(layers: Layers) -> list[Path]:
    """The stores that hold a note."""
    stores = (each.project.store for each in layers.there())
    return [store for store in stores if any(each.name != INDEX for each in store.glob("*.md"))]


def name_new_stores(layers: Layers, before: Sequence[Path]) -> str:
    """The stores that got their first note since, as a person reads them; "" for none."""
    fresh = [store for store in stores_with_notes(layers) if store not in before]
    if not fresh:
        return ""
    from mdmemory.hosts.opencode.places import from_home

    return " and ".join(map(from_home, fresh))


def read_request(text: str) -> HeardMessage:
    """What a message, without its private parts, wants of the memory."""
    from mdmemory.capture.notice import notice_wishes, without_unwanted
    from mdmemory.privacy.redaction import redact, says_something

    text_left, cut = without_unwanted(text)
    noticed = notice_wishes(redact(text_left)[0])
    wishes = tuple(each for each in noticed.wishes if says_something(each))
    is_secret_ = len(wishes) < len(noticed.wishes)
    return HeardMessage(text_left, noticed._replace(wishes=wishes), wishes, is_secret_, bool(cut))


def _pass_over(state: State, message: Spoken) -> None:
    """Have a later reading of the session pass over what is heard here."""
    from mdmemory.capture.wishes import mark_answered, words_id

    assert message.turn is not None
    ids = (message.turn.id, words_id(message.turn.text))
    mark_answered(state, message.session, ids)


def refresh_index(memory: Memory) -> Refresher:
    """MEMORY.md follows the notes; nothing is read where nothing changed."""
    refresher = Refresher(memory.project, is_secret)
    refresher.current()
    return refresher


def notices_of_length(length: int) -> list[str]:
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

    return read(file if file is not None else copy(person.host_places(), session))
