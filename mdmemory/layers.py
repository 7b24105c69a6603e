"""The person's memory and the project's, read as one: which holds what, and which gets what.

Either may be missing: the project's until it is made, by `init` or with the first fact that is
kept there, the person's until its first fact.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path

from mdmemory.both import BothLayers, moment, written
from mdmemory.config import person
from mdmemory.config.settings import Settings, load
from mdmemory.errors import MdmemoryError, NoGit, NoStore, NotFound, UsageError
from mdmemory.git.lock import Patience
from mdmemory.memory import Memory
from mdmemory.privacy import is_secret
from mdmemory.routing import MINE as MINE
from mdmemory.routing import PROJECT as PROJECT
from mdmemory.routing import USER as USER
from mdmemory.routing import Routed
from mdmemory.store.project import INDEX, Project, of_person, of_project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmemory.actions.editing import Edited
    from mdmemory.actions.undo import Agree, Undone
    from mdmemory.capture.fact import Stated


class Layers(Routed, BothLayers):
    """What is known in the folder `start`. `project` and `person` are the two memories, None where
    there is none; `question` says why it is not certain whose store the project's is, or ""."""

    def __init__(
        self, start: Path, places: person.Places, *, store: str | None = None, **how: Any
    ) -> None:
        self.start, self._places, self._how = start.absolute(), places, how
        self._tell: Callable[[str], None] = how.get("tell", lambda _: None)
        self._clock: Callable[[], datetime] = how.get("clock", person.now)
        self._named = bool(store or places.environment.get("MDMEMORY_STORE"))
        self.question: MdmemoryError | None = None
        self.project: Memory | None = None
        try:
            found = of_project(self.start, store, places)
        except NoStore as problem:
            if problem.code != "asked":
                raise
            found, self.question = None, problem
        own = self._own(found)
        is_own = found is not None and own is not None and found.root == own.root
        if found is not None and not is_own:
            self.project = Memory(found, **how)
            if found.is_moved:
                self._tell(f"The project was known again: its store is {found.store}.")
        self.person = Memory(own, **how) if own and (is_own or not self._named) else None

    def _own(self, found: Project | None) -> Project | None:
        """The person's own store; one that cannot be read does not take the project's away."""
        try:
            return of_person(self._places)
        except MdmemoryError as problem:
            if found is None:
                raise
            self._tell(f"Your own store is left out. {problem.sentences}")
            return None

    @classmethod
    def open(
        cls, path: str | Path = ".", *, store: str | None = None,
        environment: Mapping[str, str] | None = None, holder: str = "a Python program",
        clock: Callable[[], datetime] = person.now, tell: Callable[[str], None] = lambda _: None,
        automatic: bool = False, patience: Patience | None = None, watched: bool = False,
    ) -> Layers:  # fmt: skip
        """The layers for the folder `path`; with `store` that one alone. Raises NoStore where the
        named one is none; where there is none at all, reading raises it. For the other options see
        `Opened`."""
        return cls(
            Path(path), person.places(environment), store=store, holder=holder, clock=clock,
            tell=tell, automatic=automatic, patience=patience, watched=watched,
        )  # fmt: skip

    @property
    def settings(self) -> Settings:
        """The settings in force: the project's, else the person's own."""
        memory = self.project or self.person
        if memory is not None:
            return memory.project.settings
        return load(self._places.environment, self._places.personal_settings)

    @contextmanager
    def at_one_look(self) -> Iterator[None]:
        """Answer all that is asked in the block by one look at each store."""
        with ExitStack() as stack:
            for memory in self.there():
                stack.enter_context(memory.at_one_look())
            yield

    def indexes(self) -> list[str]:
        """The real paths of both indexes, the person's first, as a prompt is to hold them."""
        return [os.path.realpath(memory.project.store / INDEX) for memory in reversed(self.there())]

    def add(
        self, name: str, *, type: str = "", description: str = "", body: str = "", kind: str = "",
        source: str = "manual", everywhere: bool = False, cite: Sequence[str] = (),
        replaces: Sequence[str] = (),
    ) -> Edited:  # fmt: skip
        """Store a note in the layer that its type belongs to (see `for_type`). Without a
        description `name` is a sentence."""
        from mdmemory.actions import editing

        if not description:
            from mdmemory.capture.fact import stated

            fact = stated(name, type=type, body=body, kind=kind)
            return self.state(fact, everywhere, source, cite, replaces)[1]
        # no store is made for a note that none would take
        editing.check_new(is_secret, name, type, f"{description}\n{body}")
        memory, names = self._home(type, everywhere, replaces)
        return memory.add(
            name, type=type, description=description, body=body, kind=kind, source=source,
            replaces=names, cite=cite,
        )  # fmt: skip

    def _home(
        self, type: str, everywhere: bool, replaces: Sequence[str]
    ) -> tuple[Memory, list[str]]:
        """The memory that a new note goes to, which is that of the notes it replaces, and their
        names there. Raises NotFound, UsageError for notes of both layers."""
        if not replaces:
            return self.for_type(type, everywhere=everywhere), []
        found = [self.holding(name) for name in replaces]
        if len({id(memory) for memory, _ in found}) > 1:
            raise UsageError(
                "The notes are in two stores, and a fact replaces those of one.",
                "Add it twice, once for each store.",
            )
        return found[0][0], [memory.note(name).file for memory, name in found]

    def state(
        self,
        fact: Stated,
        everywhere: bool = False,
        source: str = "manual",
        cite: Sequence[str] = (),
        replaces: Sequence[str] = (),
    ) -> tuple[Memory, Edited]:
        """Store what a person states in a sentence, and the layer it is in: a note of either
        layer that says it already is named."""
        from mdmemory.actions import editing

        for memory in self.there() if not replaces else ():
            if (same := memory.stating(fact.said)) is not None:
                return memory, editing.unchanged(same)
        editing.check_new(is_secret, fact.name, fact.type, f"{fact.description}\n{fact.body}")
        memory, names = self._home(fact.type, everywhere or fact.everywhere, replaces)
        return memory, memory.add(
            fact.name, type=fact.type, description=fact.description, body=fact.body,
            kind=fact.kind, source=source, replaces=names, cite=cite,
        )  # fmt: skip

    def near(self, text: str) -> list[tuple[str, str]]:
        """The notes of both layers near a text, three of each at most: file and description."""
        from mdmemory.search.near import NEAREST, near_notes
        from mdmemory.store.superseding import in_force

        found = []
        for source in self.sources():
            notes = in_force(near_notes(source.writer.refresher)(text))[:NEAREST]
            for note in notes:
                said = " ".join(note.note.head.description.split())
                found.append((f"{source.prefix}{note.file}", said))
        return found

    # --- taking back

    def undo(self, id: str | None = None, agree: Agree | None = None) -> tuple[Memory, Undone]:
        """Take back a commit of the layer that has it, by default the newest change of both;
        that layer, and what became of it."""
        stores = self._certain()
        if len(stores) == 1:
            memory = stores[0]
        elif id is not None:
            memory = next((each for each in stores if each.has_change(id)), stores[0])
        else:
            plans = [(plan, each) for each in stores if (plan := each.newest_change())]
            if not plans:
                return stores[0], stores[0].undo(None, agree)  # says so
            plan, memory = max(plans, key=lambda pair: (moment(pair[0].time), written(pair[1])))
            id = plan.commit
        return memory, memory.undo(id, agree)

    def undo_session(self, session: str, agree: Agree | None = None) -> list[tuple[Memory, Undone]]:
        """Take back all that one session caused, in one commit for each layer."""
        done: list[tuple[Memory, Undone]] = []
        missing: NotFound | None = None
        for memory in self._certain():
            try:
                done += [(memory, each) for each in memory.undo_session(session, agree)]
            except NotFound as problem:
                missing = problem
        if missing is not None and not done:
            raise missing
        return done

    def _certain(self) -> list[Memory]:
        """The memories of both layers. Raises where it is not certain whose the project's is."""
        if self.question is not None:
            raise self.question
        return [memory for _, memory in self.each()]

    # --- where a new note goes

    def for_type(self, type: str, *, everywhere: bool = False) -> Memory:
        """The memory that a new note of this type belongs to, made where it is missing.

        `user` notes and what holds `everywhere` go to the person's, all else to the project's,
        and to the person's where the folder is in no project that can have one. A store that was
        named gets all. Raises NoStore where nothing may be made: CI is set, or it is not certain
        which store is the project's.
        """
        if self._named:
            return self.main
        if type == USER or everywhere:
            return self._persons()
        if self.project is None and (made := self._made()) is not None:
            self.project = made
        return self.project or self._persons()

    def for_fact(self, type: str) -> Memory:
        """The memory for a fact that nobody waits to be asked about: as `for_type`, and the
        person's where no store of a project may be made. Raises NoStore."""
        try:
            return self.for_type(type)
        except NoStore:
            if self.person is None or self.question is not None:
                raise
            return self.person

    def _persons(self) -> Memory:
        if self.person is None:
            from mdmemory.actions import memory_folder

            made = memory_folder.begin_person(self._places, is_secret)
            self.person = Memory(made.project, **self._how)
            self._tell(f"Your own store is {made.project.store}.")
        return self.person

    def _made(self) -> Memory | None:
        """The project's store, made now; None where the folder is in no project of its own."""
        from mdmemory.actions import memory_folder

        if self.question is not None:
            raise self.question
        settings = load(self._places.environment, self._places.personal_settings)
        if settings.text("memory.projects") == "listed":
            return None
        try:
            memory_folder.project_around(self.start)
        except (NoGit, NoStore):
            return None
        made = memory_folder.begin(self.start, self._places, is_secret)
        memory = Memory(made.project, **self._how)
        self._tell(f"The store of this project is {made.project.store}.")
        return memory
