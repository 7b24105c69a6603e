"""How the two layers learn: each fact goes to its store, which is made where it is missing.

What a session has taught so far is known to the project's store, and to the person's where there
is no other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from mdmemory.config.table import PERSON
from mdmemory.errors import MdmemoryError
from mdmemory.memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmemory.capture.caller import Caller
    from mdmemory.capture.extracted import Extracted
    from mdmemory.capture.forgetting import Forgotten
    from mdmemory.capture.imports.run import Imported
    from mdmemory.capture.routes import Route
    from mdmemory.capture.store_fact import FactCall, Stored
    from mdmemory.capture.wishes import Inbox, Wish
    from mdmemory.llm.answer import Model
    from mdmemory.search.notes import Report
    from mdmemory.session.promotion import Accounting
    from mdmemory.store.sources import NoteSource, StoredIn
    from mdmemory.store.store import StoredNote
    from mdmemory.transcripts.turns import Turn

USER, PROJECT = "user", "project"
MINE = f"{PERSON}/"  # before the name of a note of the person's


class Routed:
    """The methods of `Layers` by which sessions, assistants and imports add to the two stores."""

    start: Path
    project: Memory | None
    person: Memory | None
    question: MdmemoryError | None
    _named: bool
    _clock: Callable[[], datetime]

    if TYPE_CHECKING:

        @property
        def main(self) -> Memory: ...

        def there(self) -> list[Memory]: ...

        def for_fact(self, type: str) -> Memory: ...

    # --- the message of a person

    def keep_wishes(
        self, texts: Sequence[str], *, session: str, turn: str, message: str = "",
        attended: bool = True,
    ) -> list[Path]:  # fmt: skip
        """Keep what a message asks to remember until its turn has ended, whatever git and the store
        do: the files; `message` is all of it. A run that is not `attended` stores it by a call
        alone, unless the message begins with it. Raises MdmemoryError: no folder takes them."""
        from mdmemory.capture import wishes

        if self.project is not None:
            places = wishes.inboxes(self.project.project)
        else:
            places = [wishes.inbox_without_store(self.start)]
        return wishes.keep(places, texts, session, turn, self._clock(), message, attended)

    def settle_wishes(self, session: str = "", turn: str = "") -> list[Stored]:
        """Store the wishes that no call answered, as they were said, where their turn is over:
        `session` is at this `turn` now ("": at none). One that cannot be written yet waits."""
        boxes = [each for each in self._inboxes() if each.files()]
        if not boxes or self.question is not None:
            return []
        from mdmemory.capture import settle_wishes

        return settle_wishes.settle(self, boxes, now=self._clock(), session=session, turn=turn)

    def begin_for_wishes(self) -> None:
        """Where there is no store at all, make the one that a wish kept here waits for."""
        if self.project or self.person or self.question is not None:
            return
        from mdmemory.capture import wishes

        for _, wish in wishes.inbox_without_store(self.start).wishes()[:1]:
            with suppress(MdmemoryError):
                self.for_fact(USER if wish.is_personal else PROJECT)

    def _answer(self, text: str, session: str, *, ends: bool = False) -> list[Wish]:
        """Note what a call says of the wishes of its turn."""
        boxes = [each for each in self._inboxes() if each.files()]
        if not boxes:
            return []
        from mdmemory.capture import settle_wishes

        return settle_wishes.answer(self, boxes, text, session=session, ends=ends)

    def _inboxes(self) -> list[Inbox]:
        from mdmemory.capture import wishes

        boxes = [box for each in self.there() for box in wishes.inboxes(each.project)]
        if not self._named:
            boxes.append(wishes.inbox_without_store(self.start))
        return list(dict.fromkeys(boxes))

    # --- what an assistant hands over

    def store(self, call: FactCall, caller: Caller) -> Stored:
        """Store a fact that an assistant hands over, in its layer or in that of the notes that it
        replaces; files of the person's layer are `me/FILE`. Raises NotStored, NotFound, NoStore."""
        from mdmemory.capture import store_fact

        caller = caller if caller.turns else self._with_wishes(caller)
        done = store_fact.store(self, call, caller, now=self._clock())
        said = [call.fact, call.why, call.title, *(pair["text"] for pair in done.superseded)]
        said += [call.quote] if done.declined else []
        text = "\n".join(filter(None, said))
        self._answer(text, caller.session, ends=bool(done.declined))
        return done

    def _with_wishes(self, caller: Caller) -> Caller:
        """The caller with what hooks kept here of the user's words, where nothing else is known of
        them: the first message in a fresh home is heard before there is a store."""
        from mdmemory.transcripts.turns import Turn

        wishes = [wish for box in self._inboxes() for _, wish in box.wishes()]
        return caller._replace(turns=tuple(Turn(e.turn, "user", e.text) for e in wishes))

    def forget(self, names: Sequence[str], quote: str, caller: Caller) -> Forgotten:
        """Remove the notes that an assistant names, if the user's turns ask for it; see
        `capture.forgetting`. Raises NotFound, NotProven, NoStore."""
        from mdmemory.capture import forgetting

        done = forgetting.forget(self.sources(), names, quote, caller, now=self._clock())
        self._answer(quote, caller.session)
        return done

    def described(self, what: str) -> list[StoredIn]:
        """The notes of both layers that a person may mean by `what`, the likeliest first."""
        from mdmemory.capture import forgetting

        return forgetting.described(self.sources(), what)

    # --- sessions

    def extract(
        self, transcript: bytes, *, model: Model | None = None, dry_run: bool = False,
        again: bool = False, report: Report = lambda *_: None,
    ) -> Extracted:  # fmt: skip
        """Store what the user asked to remember in a transcript, and what a model finds, each fact
        in its layer. Raises NoStore."""
        main = self.main
        done = main.extract(
            transcript, model=model, dry_run=dry_run, again=again, report=report, stores=self
        )
        if self.project is not None and self.project is not main and done.watermark:
            with self.project.state() as state:  # it is the one that is asked from now on
                state.set_watermark(done.session, done.watermark)
        return done

    def summary_request(self) -> tuple[str, dict[str, str]]:
        """The text for a host's compaction prompt, and the notes of both layers that it numbers:
        file to digest. Raises NoStore."""
        return self.main.summary_request(self)

    def summary(
        self, session: str, text: str, said: Sequence[Turn], *,
        shown: Mapping[str, str] | None = None,
    ) -> Extracted:  # fmt: skip
        """Store the facts of a host's summary that the user's turns bear out, each in its layer;
        the others wait. Raises NoStore."""
        return self.main.summary(session, text, said, shown=shown, stores=self)

    def promote(self, session: str, said: Sequence[Turn]) -> Accounting:
        """Take a session's decisions and candidates to notes, each in its layer. Raises NoStore."""
        return self.main.promote(session, said, stores=self)

    def import_from(self, path: str | Path, *, dry_run: bool = False) -> Imported:
        """Store the facts of another memory, each in its layer. Raises BadImport, NoStore."""
        return self.main.import_from(path, dry_run=dry_run, stores=self)

    # --- which store gets what

    def sources(self) -> list[NoteSource]:
        """Both layers as places to look for a note in, the project's first."""
        from mdmemory.store.sources import NoteSource

        return [NoteSource(self._prefix(each), each._writer()) for each in self.there()]

    def open_for(self, personal: bool) -> tuple[NoteSource, Route]:
        """The store that a fact goes to, made where it is missing. Raises NoStore."""
        from mdmemory.store.sources import NoteSource

        memory = self.for_fact(USER if personal else PROJECT)
        return NoteSource(self._prefix(memory), memory._writer()), self._route(memory, personal)

    def _prefix(self, memory: Memory) -> str:
        return MINE if memory is self.person and self.project is not None else ""

    def _route(self, memory: Memory, personal: bool) -> Route:
        """How a fact came to this store."""
        from mdmemory.capture.routes import ALL, Route

        if self._named or personal:
            return ALL
        if memory is self.project:
            return Route(said=self._said()) if memory._writer().is_own else ALL
        return Route(folder=self._folder())

    def _said(self) -> dict[str, str]:
        """The facts that the person's store states for all projects, by their keys."""
        from mdmemory.capture.note_text import keys_of
        from mdmemory.capture.routes import visible

        stated: list[StoredNote] = []
        with suppress(MdmemoryError):  # a broken store of the person's stops no other
            stated = visible(self.person._writer()) if self.person else []
        return {
            key: f"{MINE}{stored.file}"
            for stored in stated
            if not stored.note.head.status and "\n  project: " not in stored.note.text
            for key in keys_of(stored.note)
        }

    def _folder(self) -> str:
        """The folder that a fact is said in, as its note names it: the top of a repository, with
        ~ for the home folder, which itself goes without a name."""
        home = Path(os.path.expanduser("~"))
        folders = (self.start, *self.start.parents)
        top = next((each for each in folders if os.path.lexists(each / ".git")), self.start)
        place = self.start if home.is_relative_to(top) else top
        if place == home or not str(place).isprintable():
            return ""
        return f"~/{place.relative_to(home)}" if place.is_relative_to(home) else str(place)
