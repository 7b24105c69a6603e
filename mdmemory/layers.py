"""The stores that are known in a folder, and which of them gets what: the project's, the person's.

Either may be missing: the project's until it is made, by `init` or with the first fact that is
kept there, the person's until its first fact. What a session has taught so far is known to the
project's store, and to the person's where there is no other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType

from mdmemory.citing.citation import DRIFTED, MOVED
from mdmemory.config import person
from mdmemory.config.settings import Settings, load_settings
from mdmemory.config.table import PERSON
from mdmemory.errors import GOING_ON, Ambiguous, MdmemoryError, NoGit, NoStore, NotFound
from mdmemory.files import as_given
from mdmemory.git.private_folder import common_dir, find_top
from mdmemory.privacy import is_secret
from mdmemory.store.conflicts import IN_CONFLICT
from mdmemory.store.project import Project, of_person, of_project
from mdmemory.store.refresh import Refresher
from mdmemory.store.store import INDEX, Store, is_note_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any, Self

    from mdmemory.actions.resolve import Across
    from mdmemory.capture.batch import Route
    from mdmemory.capture.wishes import Inbox
    from mdmemory.config.person import Places
    from mdmemory.git.commits_of_store import History
    from mdmemory.git.lock import Patience
    from mdmemory.search.project import Search
    from mdmemory.search.results import Hit
    from mdmemory.store.adopt import Look
    from mdmemory.store.state import State
    from mdmemory.store.store import StoredNote
    from mdmemory.store.writer import NoteSource, Writer

__all__ = ["MINE", "PROJECT", "USER", "Layers", "OpenStore", "actions", "capture", "citing",
           "compact", "imports", "llm", "observe", "search", "sessions", "store"]  # fmt: skip


class _Room(ModuleType):
    """A package of ours, whose modules are loaded when they are first used: reading stays quick."""

    def __getattr__(self, module: str) -> ModuleType:
        return import_module(f"mdmemory.{self.__name__}.{module}")


if TYPE_CHECKING:
    from mdmemory import actions, capture, citing, compact, llm, observe, search, store
    from mdmemory import session as sessions
    from mdmemory.actions import memory_folder  # noqa: F401 - what functions return
    from mdmemory.capture import imports, run, summary, wishes  # noqa: F401
    from mdmemory.citing import check  # noqa: F401
    from mdmemory.search import sources  # noqa: F401
else:
    actions, capture, compact = _Room("actions"), _Room("capture"), _Room("compact")
    llm, observe, search = _Room("llm"), _Room("observe"), _Room("search")
    citing = _Room("citing")
    imports, sessions, store = _Room("capture.imports"), _Room("session"), _Room("store")

USER, PROJECT = "user", "project"
MINE = f"{PERSON}/"  # before the name of a note of the person's
_IN_FORCE = ("", IN_CONFLICT)


class OpenStore:
    """A store of a `layer`. `clock` gives the present moment in UTC, `holder` is the name that
    other processes see while this one writes, and `tell` gets a sentence for each write that an
    earlier process could not finish. `automatic`: no person typed the command; in a repository of
    theirs its writes are kept beside the branches, and wait for a command that they type.
    `watched`: whoever opened it brings the index up to date, so that reading a note or history
    does not."""

    def __init__(
        self, project: Project, layer: str, *, holder: str = "a Python program",
        clock: Callable[[], datetime] = person.now, tell: Callable[[str], None] = lambda _: None,
        automatic: bool = False, patience: Patience | None = None, watched: bool = False,
    ) -> None:  # fmt: skip
        self.project, self.layer, self.clock, self.automatic = project, layer, clock, automatic
        self._holder, self._tell = holder, tell
        self._patience, self._watched = patience, watched
        self._sentences: set[str] = set()
        self._at_hand: Writer | None = None
        self._by_hand: list[Look | None] = []  # at one look, once it was asked what hands did

    @contextmanager
    def at_one_look(self) -> Iterator[None]:
        """Answer all that is asked in the block by one look at the notes. For what only reads, and
        is soon done."""
        self._at_hand = self._at_hand or self.writer()
        try:
            yield
        finally:
            self._at_hand = None
            self._by_hand.clear()

    def today(self) -> str:
        """The day by the clock."""
        return self.clock().date().isoformat()

    def state(self) -> State:
        """The database of our own work, as a context. Its trouble goes to `tell`."""
        return store.state.State(self.project.state_file, self._tell_once)

    def _tell_once(self, sentence: str) -> None:
        kind = GOING_ON if GOING_ON in sentence else sentence
        if kind not in self._sentences:
            self._sentences.add(kind)
            self._tell(sentence)

    def refresher(self) -> Refresher:
        """What keeps the index."""
        return self._at_hand.refresher if self._at_hand else Refresher(self.project, is_secret)

    def fresh(self) -> Refresher:
        """The refresher, whose index is brought up to date unless somebody else does so."""
        refresher = self.refresher()
        if not self._watched:
            refresher.current()
        return refresher

    def writer(self) -> Writer:
        """What writes notes."""
        return self._at_hand or store.writer.Writer(
            self.project, is_secret, self._holder, self._tell_once, self.automatic, self._patience
        )

    def source(self, prefix: str) -> NoteSource:
        """The store as a place to look for notes in."""
        return store.writer.NoteSource(prefix, self.writer())

    def history(self, *, shown: bool = True) -> History:
        """The history, to be `shown` to a person. Raises NoGit, or why git cannot be used."""
        return actions.note_history.history_of(self.writer(), not self._watched, shown)

    def search(self, source: str = "memory", meaning: bool = True) -> Search:
        """What answers questions from its notes or what else `source` names."""
        return search.sources.search(self.refresher(), source, self.today(), meaning=meaning)

    def by_hand(self) -> Look | None:
        """What other hands did to the notes that no commit holds; None without git."""
        if self._at_hand is None:
            return actions.listing.find_unadopted(self.writer())
        if not self._by_hand:
            self._by_hand.append(actions.listing.find_unadopted(self._at_hand))
        return self._by_hand[0]


class Layers:
    """A store of a `layer`, or those that are known in a folder: `of_project` and `of_person` are
    the parts, None where there is none, and `first` is one of these. `question` says why it is not
    certain whose store the project's is, or None. `how` is what `OpenStore` takes."""

    def __init__(
        self, project: Project | None = None, *, layer: str = PROJECT, start: Path | None = None,
        places: Places | None = None, is_named: bool = True, beside: Self | None = None,
        **how: Any,
    ) -> None:  # fmt: skip
        self._how, self._is_named, self._beside = how, is_named, beside or self
        self._places = places or person.person_places()
        self._tell: Callable[[str], None] = how.get("tell", lambda _: None)
        self._clock: Callable[[], datetime] = how.get("clock", person.now)
        self.question: MdmemoryError | None = None
        self._is_question_told = False
        self.layer = layer
        self.of_project: Self | None = None
        self.of_person: Self | None = None
        self.first: Self | None = None
        self._opened: OpenStore | None = None
        if project is not None:
            self._opened = OpenStore(project, layer, **how)
            self.of_project, self.of_person = (self, None) if layer == PROJECT else (None, self)
            self.first = self
        self.start = start or self.project.root

    @classmethod
    def around(
        cls, path: str | Path = ".", *, store: str | None = None,
        environment: Mapping[str, str] | None = None, **how: Any,
    ) -> Self:  # fmt: skip
        """The project's store and the person's own for the folder `path`; with `store` that one
        alone. Raises NoStore where the named one is none; where there is none at all, reading
        raises it."""
        places = person.person_places(environment)
        is_named = bool(store or places.environment.get("MDMEMORY_STORE"))
        layers = cls(start=Path(path).absolute(), places=places, is_named=is_named, **how)
        try:
            store_around = of_project(layers.start, store, places)
        except NoStore as problem:
            if problem.code != "asked":
                raise
            store_around, layers.question = None, problem
        try:
            own = of_person(places)
        except MdmemoryError as problem:
            if store_around is None:
                raise
            own = None  # one that cannot be read does not take the project's away
            layers._tell(f"Your own store is left out. {problem.sentences}")
        is_own = store_around is not None and own is not None and store_around.root == own.root
        if store_around is not None and not is_own:
            layers._open_part(store_around, PROJECT)
            if store_around.is_moved:
                layers._tell(f"The project was known again: its store is {store_around.store}.")
        if own and (is_own or not is_named):
            layers._open_part(own, USER)
        return layers

    def _open_part(self, project: Project, layer: str) -> Self:
        how = {"start": self.start, "places": self._places, "beside": self, **self._how}
        part = type(self)(project, layer=layer, **how)
        if layer == PROJECT:
            self.of_project = part
        else:
            self.of_person = part
        self.first = self.of_project or self.of_person
        return part

    # --- the stores

    @property
    def main(self) -> Self:
        """The project's, else the person's. Raises NoStore where there is neither."""
        if self.first is None:
            raise self.question or NoStore(
                f"There is no memory store for {self.start}.", "Make one: `mdmemory init`."
            )
        return self.first

    @property
    def opened(self) -> OpenStore:
        """That store, opened. Raises NoStore."""
        return self._opened or self.main.opened

    @property
    def project(self) -> Project:
        """Where that store and its project lie, and their settings. Raises NoStore."""
        return self.opened.project

    @property
    def settings(self) -> Settings:
        """The settings in force: the project's, else the person's own."""
        if self.first is not None:
            return self.first.project.settings
        return load_settings(self._places.environment, self._places.personal_settings)

    def there(self) -> list[Self]:
        """The stores that are there, each alone, the project's first."""
        return [part for part in (self.of_project, self.of_person) if part]

    def each(self) -> list[tuple[str, Self]]:
        """The same with their layers. Raises NoStore.

        Where it is not certain whose store the project's is, that is told, and the person's serves.
        """
        parts = self.there() or [self.main]
        if self.question is not None and not self._is_question_told:
            self._is_question_told = True
            self._tell(self.question.sentences)
        return [(part.layer, part) for part in parts]

    def others(self) -> Iterator[tuple[str, Self]]:
        """The other projects' stores in the memory folder, each with its folder's name. Only a
        person's command may read them."""
        own = [part.project.root for part in self.there()]
        for entry in store.home.read_entries(store.project.home_of(self._places)):
            if entry.store not in own:
                opened = store.project.open_project(entry.store, self._places)
                yield entry.store.name, type(self)(opened, places=self._places)

    @contextmanager
    def at_one_look(self) -> Iterator[None]:
        """Answer all that is asked in the block by one look at each store."""
        with ExitStack() as stack:
            for part in self.there():
                stack.enter_context(part.opened.at_one_look())
            yield

    def indexes(self) -> list[str]:
        """The real paths of both indexes, the person's first, as a prompt is to hold them."""
        return [os.path.realpath(part.project.store / INDEX) for part in reversed(self.there())]

    # --- which store has a note

    def holding(self, name: str) -> tuple[Self, str]:
        """The store that holds the note NAME, and its name there: the project's first, and
        `me/NAME` is the person's. Raises NotFound, NoStore."""
        parts = [part for _, part in self.each()]
        if self.of_person is not None and name.startswith(MINE):
            return self.of_person, name.removeprefix(MINE)
        if len(parts) == 1:
            return parts[0], name
        by_file = [part for part in parts if part.has_file(name)]
        if by_file:  # a list shows files: another note's alias does not come between
            return by_file[0], name
        for part in parts:
            try:
                part.opened.fresh().store.find(name)
            except Ambiguous:
                return part, name
            except NotFound:
                continue
            return part, name
        return parts[0], name  # its own words say what is near

    def has_file(self, file: str) -> bool:
        """Whether the store has a note of this file; costs one look at its entry."""
        path = f"{self.project.store}/{as_given(file)}"
        return "/" not in file and is_note_name(file) and os.path.isfile(path)

    def prefix_of(self, layer: str) -> str:
        """What stands before a note's name that is to be found here: `me/` before the person's
        where there is a project's, too."""
        return MINE if layer == USER and self.of_project is not None else ""

    def shown(self, layer: str, file: str) -> str:
        """How a list names a note: its file, and of the person's `me/FILE` where the project has
        a note of that file, too."""
        hidden = layer == USER and self.of_project is not None and self.of_project.has_file(file)
        return f"{MINE}{file}" if hidden else file

    # --- which store gets what

    def for_type(self, type: str, *, everywhere: bool = False) -> Self:
        """The store that a new note of this type belongs to, made where it is missing.

        `user` notes and what holds `everywhere` go to the person's, all else to the project's,
        and to the person's where the folder is in no project that can have one. A store that was
        named gets all. Raises NoStore where nothing may be made: CI is set, or it is not certain
        which store is the project's.
        """
        if self._is_named:
            return self.main
        if type == USER or everywhere:
            return self._make_persons()
        return self.of_project or self._make_projects() or self._make_persons()

    def for_fact(self, type: str) -> Self:
        """The store for a fact that nobody waits to be asked about: as `for_type`, and the
        person's where no store of a project may be made. Raises NoStore."""
        try:
            return self.for_type(type)
        except NoStore:
            if self.of_person is None or not actions.memory_folder.is_forbidden(self._places):
                raise  # a fact of the project's is the project's, whatever fails
            return self.of_person

    def _make_persons(self) -> Self:
        if self.of_person is not None:
            return self.of_person
        made = actions.memory_folder.begin_person(self._places)
        self._tell(f"Your own store is {made.project.store}.")
        return self._open_part(made.project, USER)

    def _make_projects(self) -> Self | None:
        """The project's store, made now; None where the folder is in no project of its own."""
        if self.question is not None:
            raise self.question
        settings = load_settings(self._places.environment, self._places.personal_settings)
        if settings.text("memory.projects") == "listed":
            return None
        try:
            actions.memory_folder.project_around(self.start)
        except NoStore:
            return None
        except NoGit:
            if common_dir(self.start) is None:
                return None
            raise
        made = actions.memory_folder.begin_store(self.start, self._places)
        self._tell(f"The store of this project is {made.project.store}.")
        return self._open_part(made.project, PROJECT)

    def sources(self) -> list[NoteSource]:
        """The stores as places to look for a note in, the project's first."""
        return [part.opened.source(self.prefix_of(part.layer)) for part in self.there()]

    def open_for(self, personal: bool) -> tuple[NoteSource, Route]:
        """The store that a fact goes to, made where it is missing. Raises NoStore."""
        part = self.for_fact(USER if personal else PROJECT)
        source, route = part.opened.source(self.prefix_of(part.layer)), capture.batch.Route
        if self._is_named or personal:
            return source, capture.batch.ALL
        if part is not self.of_project:
            return source, route(folder=self._folder_named())
        return source, route(said=self._said()) if source.writer.is_own else capture.batch.ALL

    def _said(self) -> dict[str, str]:
        """The facts that the person's store states for all projects, by their keys."""
        stated: list[StoredNote] = []
        with suppress(MdmemoryError):  # a broken store of the person's stops no other
            if self.of_person:
                stated = capture.batch.visible_notes(self.of_person.opened.writer())
        return {
            key: f"{MINE}{stored.file}"
            for stored in stated
            if not stored.note.head.status and "\n  project: " not in stored.note.text
            for key in capture.note_text.keys_of(stored.note)
        }

    def _folder_named(self) -> str:
        """The folder that a fact is said in, as its note names it: the top of a repository, with
        ~ for the home folder, which itself goes without a name."""
        home = Path(os.path.expanduser("~"))
        top = find_top(self.start) or self.start
        place = self.start if home.is_relative_to(top) else top
        if place == home or not str(place).isprintable():
            return ""
        return f"~/{place.relative_to(home)}" if place.is_relative_to(home) else str(place)

    def _inboxes(self) -> list[Inbox]:
        """Where what was asked for waits, of each store and of a folder that has none yet."""
        boxes = [box for part in self.there() for box in capture.wishes.open_inboxes(part.project)]
        if not self._is_named:
            boxes.append(capture.wishes.inbox_without_store(self.start))
        return list(dict.fromkeys(boxes))

    def begin_for_wishes(self) -> None:
        """Where there is no store at all, make the one that a wish kept here waits for."""
        if self.first or self.question is not None:
            return
        for _, wish in capture.wishes.inbox_without_store(self.start).wishes()[:1]:
            with suppress(MdmemoryError):
                self.for_fact(USER if wish.is_personal else PROJECT)

    # --- what contradicts between the two

    def across(self) -> list[Across]:
        """Where a note of the project's and one of the person's contradict, by their form,
        but for pairs of which a person said that both hold. Nothing is written."""
        if len(parts := self.there()) < 2:
            return []
        return self._contradicting_pairs(
            *(
                [row.head.file for row in actions.listing.list_notes(part.opened.refresher(), False)
                 if row.status in _IN_FORCE]
                for part in parts
            )
        )  # fmt: skip

    def _contradicting_pairs(self, *files: Sequence[str]) -> list[Across]:
        """The pairs among these files of the two."""
        stores = [Store(part.project.store) for part in self.there()]
        projects, persons = (
            [*_read_notes(each, some)] for each, some in zip(stores, files, strict=True)
        )
        ledger = "\n".join(each.ledger() for each in stores)
        return actions.resolve.find_across(projects, persons, ledger)

    def mark_conflicts(self, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        """The hits; where one of the person's contradicts one of the project's, both are marked,
        and the project's comes first."""
        notes = [hit for hit in hits if hit.source == "memory" and not hit.project]
        if {hit.layer for hit in notes} != {PROJECT, USER}:
            return hits
        files = ([hit.file for hit in notes if hit.layer == of] for of in (PROJECT, USER))
        order = list(hits)
        for pair in self._contradicting_pairs(*files):
            places = [
                next(at for at, hit in enumerate(order) if (hit.layer, hit.file) == (layer, file))
                for layer, file in zip((PROJECT, USER), (pair.project, pair.person), strict=True)
            ]
            for at in places:
                mark = order[at].status if order[at].status not in (DRIFTED, MOVED) else ""
                order[at] = order[at]._replace(status=mark or IN_CONFLICT)
            if places[1] < places[0]:
                order.insert(places[1], order.pop(places[0]))
        return tuple(order)


def _read_notes(folder: Store, files: Sequence[str]) -> Iterator[StoredNote]:
    for file in files:
        with suppress(NotFound):  # gone meanwhile
            yield folder.read(file)
