"""How the two layers learn: each fact goes to its store, which is made where it is missing.

What a session has taught so far is known to the project's store, and to the person's where there
is no other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from mdmemory.config.table import PERSON
from mdmemory.errors import BadNote, MdmemoryError
from mdmemory.memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmemory.capture.assistant import Stored
    from mdmemory.capture.extracted import Extracted
    from mdmemory.capture.forgetting import Forgotten, Meant, NoteSource
    from mdmemory.capture.imports.run import Imported
    from mdmemory.capture.routes import Route, Routes
    from mdmemory.capture.updating import Corrected
    from mdmemory.capture.withdrawal import Withdrawn
    from mdmemory.llm.answer import Model
    from mdmemory.search.notes import Report
    from mdmemory.session.promotion import Accounting
    from mdmemory.store.store import StoredNote
    from mdmemory.store.writer import Writer
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

    if TYPE_CHECKING:

        @property
        def main(self) -> Memory: ...

        def for_fact(self, type: str) -> Memory: ...

        def can_have_project(self) -> bool: ...

    def keep(self, text: str, *, session: str, turn: str) -> Extracted:
        """Store at once what a message asks to remember, each fact in its layer; files of the
        person's layer are `me/FILE`. Makes a store only for a fact. Raises NoStore."""
        from mdmemory.capture import asked, requests
        from mdmemory.capture.extracted import Extracted
        from mdmemory.capture.routes import is_personal

        if not requests.asks(text):
            return Extracted(session)
        triggers = [each.trigger for each in asked.wishes_in(text, turn)]
        kinds = {is_personal(each.type, each.everywhere) for each in triggers}
        if not (kinds or self.project or self.person):
            return asked.without_fact(text, session, turn)
        failure: MdmemoryError | None = None
        for personal in sorted(kinds):
            try:
                self.for_fact(USER if personal else PROJECT)
            except MdmemoryError as problem:
                failure = problem
        if failure is not None and not (self.person or self.project):
            raise failure
        return self._kept(text, session, turn, kinds, failure)

    def _kept(
        self, text: str, session: str, turn: str, kinds: set[bool], failure: MdmemoryError | None
    ) -> Extracted:
        """What the stores that there are make of a message; `failure`: the project's cannot be
        had, and what is for it waits."""
        from mdmemory.capture import wishes
        from mdmemory.capture.routes import Route

        main, here = self.main, self._here()
        done = main.keep(text, session=session, turn=turn, route=here)
        if self.project is not None and self.person is not None and True in kinds:
            route = Route(USER, is_main=False)
            mine = self.person.keep(text, session=session, turn=turn, route=route)
            if not self._named:
                done.join(mine, MINE)
        if failure is not None:
            inbox = wishes.inbox_without_store(self.start)
            today, route = main.now().date().isoformat(), Route(PROJECT, is_main=False)
            done.join(wishes.put_by([inbox], text, session, turn, today, failure, route=route))
        return done

    def write_wishes(self) -> list[Extracted]:
        """Write what could not be written earlier, each wish in its layer, as far as possible."""
        written = self._write_first() if self.project is None and not self._named else []
        for memory in filter(None, (self.project, self.person)):
            if memory.project.has_wishes():
                routes = self.routes() if memory is self.project else None
                written += memory.write_wishes(routes=routes)
        return written

    def _write_first(self) -> list[Extracted]:
        """Write what was kept here before the project had a store, or could have one."""
        from mdmemory.capture import requests, wishes

        inbox = wishes.inbox_without_store(self.start)
        if not inbox.wishes():
            return []
        self.begin_for_wishes()
        with suppress(MdmemoryError, OSError):
            writer, now = self.main._writer(), self.main.now()
            found = requests.keep_what_waits(writer, inbox, now=now, routes=self.routes())
            return [done for done, _ in found]
        return []

    def begin_for_wishes(self) -> None:
        """Where there is no store at all, make the one that a wish kept here waits for."""
        if self.project or self.person or self.question is not None:
            return
        from mdmemory.capture import wishes
        from mdmemory.capture.routes import is_personal

        for _, wish in wishes.inbox_without_store(self.start).wishes()[:1]:
            personal = is_personal(wish.type, wish.asked().trigger.everywhere)
            with suppress(MdmemoryError):
                self.for_fact(USER if personal else PROJECT)

    def extract(
        self, transcript: bytes, *, model: Model | None = None, dry_run: bool = False,
        report: Report = lambda *_: None,
    ) -> Extracted:  # fmt: skip
        """Store what the user asked to remember in a transcript, and what a model finds, each fact
        in its layer. Raises NoStore."""
        main = self.main
        done = main.extract(
            transcript, model=model, dry_run=dry_run, report=report, routes=self.routes()
        )
        if self.project is not None and self.project is not main and done.watermark:
            with self.project.state() as state:  # it is the one that is asked from now on
                state.set_watermark(done.session, done.watermark)
        return done

    def summary_request(self) -> tuple[str, dict[str, str]]:
        """The text for a host's compaction prompt, and the notes of both layers that it numbers:
        file to digest. Raises NoStore."""
        return self.main.summary_request(self.routes().other)

    def summary(
        self, session: str, text: str, said: Sequence[Turn], *,
        shown: Mapping[str, str] | None = None,
    ) -> Extracted:  # fmt: skip
        """Store the facts of a host's summary that the user's turns bear out, each in its layer;
        the others wait. Raises NoStore."""
        return self.main.summary(session, text, said, shown=shown, routes=self.routes())

    def promote(self, session: str, said: Sequence[Turn]) -> Accounting:
        """Take a session's decisions and candidates to notes, each in its layer. Raises NoStore."""
        return self.main.promote(session, said, routes=self.routes())

    def import_from(self, path: str | Path, *, dry_run: bool = False) -> Imported:
        """Store the facts of another memory, each in its layer. Raises BadImport, NoStore."""
        return self.main.import_from(path, dry_run=dry_run, routes=self.routes())

    def store(
        self, content: str, *, title: str = "", type: str = "", session: str = "",
        said: Sequence[str] = (), quote: str = "",
    ) -> Stored:  # fmt: skip
        """Store a fact that an assistant found, in its layer. Raises NotStored, NoStore."""
        from mdmemory.capture import extracted
        from mdmemory.capture.fact import NotStored, fact_of
        from mdmemory.capture.routes import Routes, is_personal
        from mdmemory.capture.triggers import holds_everywhere

        try:
            fact = fact_of(content, title, type)
        except (NotStored, BadNote):
            if not (self.project or self.person):
                raise
            memory = self.main  # which notes down why
        else:
            personal = is_personal(fact.type, holds_everywhere(fact.body))
            memory = self.for_fact(USER if personal else PROJECT)
        here = Routes(self._here()) if memory is self.main else None
        done = memory.store(
            content, title=title, type=type, session=session, said=said, quote=quote, routes=here
        )
        if memory is self.main:
            return done
        near = tuple((f"{MINE}{file}", score) for file, score in done.near)
        against = tuple(f"{MINE}{file}" for file in done.conflicts)
        gone = tuple(extracted.prefixed(each, MINE) for each in done.superseded)
        file = f"{MINE}{done.file}"
        return replace(done, file=file, near=near, conflicts=against, superseded=gone)

    def forget(
        self, what: str, *, quote: str = "", session: str = "", turns: Sequence[Turn] = ()
    ) -> Forgotten:
        """Remove the note of either layer that an assistant names or describes; see
        `Memory.forget`. Files of the person's layer are `me/FILE`. Raises NoStore."""
        from mdmemory.capture import forgetting

        now = self.main.now()
        return forgetting.forget(
            self.looked_in(), what, quote=quote, session=session, turns=turns, now=now
        )

    def update(
        self, what: str, content: str, *, quote: str = "", session: str = "",
        turns: Sequence[Turn] = (),
    ) -> Corrected:  # fmt: skip
        """Let the note of either layer that an assistant names or describes say `content`; see
        `Memory.update`. Raises NoStore."""
        from mdmemory.capture import updating

        return updating.update(
            self.looked_in(), what, content, quote=quote, session=session, turns=turns,
            now=self.main.now(),
        )  # fmt: skip

    def withdraw(
        self, text: str, *, session: str, before: Callable[[], Sequence[Turn]]
    ) -> Withdrawn | None:
        """Take back what a message does not want remembered, and find the notes that it wants
        forgotten or put right; None where it wants nothing of that. `before` gives the turns of
        the session until then."""
        from mdmemory.capture import takebacks

        if not (self.project or self.person) or not takebacks.find(text):
            return None
        from mdmemory.capture import withdrawal

        return withdrawal.withdraw(
            self.looked_in(), text, session=session, before=before(), now=self.main.now()
        )

    def described(self, what: str) -> list[Meant]:
        """The notes of both layers that a person may mean by `what`, the likeliest first."""
        from mdmemory.capture.forgetting import OFFERED, Meant, described
        from mdmemory.capture.routes import visible

        sources = self.looked_in()
        every = [Meant(source, note) for source in sources for note in visible(source.writer)]
        return described(every, what)[:OFFERED]

    def looked_in(self) -> list[NoteSource]:
        """Both layers as places to look for a note in, the project's first."""
        from mdmemory.capture.forgetting import NoteSource

        both = self.project is not None and self.person is not None
        mine = MINE if both else ""
        found = [("", self.project), (mine, self.person)]
        return [NoteSource(prefix, each._writer()) for prefix, each in found if each]

    # --- which store gets what -------------------------------------------------------------------

    def routes(self) -> Routes:
        """What of a session goes to `main`, and what to the other store, which is made with its
        first note. Raises NoStore where it is not certain which store is the project's."""
        from mdmemory.capture.routes import Route, Routes, Split

        if self._named:
            return Routes()
        if self.project is not None:
            there = self.person._writer() if self.person else None
            mine = Route(USER, is_main=False)
            return Routes(self._here(), Split(mine, there, self._opens(USER), prefix=MINE))
        if self.question is not None:
            raise self.question
        if not self.can_have_project():
            return Routes(self._here())
        works = Route(PROJECT, is_main=False, said=self._said())
        return Routes(Route(USER), Split(works, None, self._opens(PROJECT), own=MINE))

    def _opens(self, type: str) -> Callable[[], Writer]:
        return lambda: self.for_fact(type)._writer()

    def _here(self) -> Route:
        """What of a session goes to `main`."""
        from mdmemory.capture.routes import Route

        if self._named:
            return Route()
        if self.project is not None:
            return Route(PROJECT, said=self._said() if self.project._writer().is_own else {})
        if self.question is not None or self.can_have_project():
            return Route(USER)
        return Route(folder=self._folder())

    def _said(self) -> dict[str, str]:
        """The facts that the person's store states for all projects, by their keys."""
        from mdmemory.capture.extract import keys_of
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
