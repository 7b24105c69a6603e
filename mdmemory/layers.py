"""The person's memory and the project's, read as one: which holds what, and which gets what.

Either may be missing: the project's until it is made, by `init` or with the first fact that is
kept there, the person's until its first fact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from mdmemory.config import person
from mdmemory.config.settings import load
from mdmemory.errors import MdmemoryError, NoStore, NotFound
from mdmemory.git.lock import Patience
from mdmemory.memory import Memory
from mdmemory.privacy import is_secret
from mdmemory.store.home import PERSON
from mdmemory.store.project import of_person, of_project

USER, PROJECT = "user", "project"


class Layers:
    """What is known in the folder `start`. `project` and `person` are the two memories, None where
    there is none; `question` says why it is not certain whose store the project's is, or ""."""

    def __init__(
        self, start: Path, places: person.Places, *, store: str | None = None, **how: Any
    ) -> None:
        self.start, self._places, self._how = start.absolute(), places, how
        self._tell: Callable[[str], None] = how.get("tell", lambda _: None)
        self._named = bool(store or places.environment.get("MDMEMORY_STORE"))
        self.question: MdmemoryError | None = None
        self.project: Memory | None = None
        self.person: Memory | None = None
        try:
            found = of_project(self.start, store, places)
        except NoStore as problem:
            if problem.code != "asked":
                raise
            found, self.question = None, problem
        own = None if self._named else of_person(places)
        if found is not None and (own is None or found.root != own.root):
            self.project = Memory(found, **how)
            if found.is_moved:
                self._tell(f"The project was known again: its store is {found.store}.")
        if own is not None:
            self.person = Memory(own, **how)

    @classmethod
    def open(
        cls, path: str | Path = ".", *, store: str | None = None,
        environment: Mapping[str, str] | None = None, holder: str = "a Python program",
        clock: Callable[[], datetime] = person.now, tell: Callable[[str], None] = lambda _: None,
        automatic: bool = False, patience: Patience | None = None,
    ) -> Layers:  # fmt: skip
        """The layers for the folder `path`; with `store` that one alone. Raises NoStore where the
        named one is none; where there is none at all, reading raises it."""
        return cls(
            Path(path), person.places(environment), store=store, holder=holder, clock=clock,
            tell=tell, automatic=automatic, patience=patience,
        )  # fmt: skip

    @property
    def main(self) -> Memory:
        """The project's memory, else the person's. Raises NoStore where there is neither."""
        memory = self.project or self.person
        if memory is None:
            raise self.question or NoStore(
                f"There is no memory store for {self.start}.", "Make one: `mdmemory init`."
            )
        return memory

    def each(self) -> list[tuple[str, Memory]]:
        """The layers that are there with their names, the project's first. Raises NoStore."""
        found = [(PROJECT, self.project), (USER, self.person)]
        return [(name, memory) for name, memory in found if memory] or [(USER, self.main)]

    def holding(self, name: str) -> tuple[Memory, str]:
        """The memory that holds the note NAME, and its name there: the project's first, and
        `me/NAME` is the person's. Raises NotFound, NoStore."""
        if name.startswith(f"{PERSON}/") and self.person is not None:
            return self.person, name.removeprefix(f"{PERSON}/")
        layers = [memory for _, memory in self.each()]
        for memory in layers[:-1]:
            try:
                memory.note(name)
            except NotFound:
                continue
            return memory, name
        if len(layers) > 1:
            try:
                layers[-1].note(name)
            except NotFound:
                return layers[0], name  # its own words say what is near
        return layers[-1], name

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
        except MdmemoryError:
            return None
        made = memory_folder.begin(self.start, self._places, is_secret)
        memory = Memory(made.project, **self._how)
        self._tell(f"The store of this project is {made.project.store}.")
        return memory
