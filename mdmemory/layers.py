"""The person's memory and the project's, read as one: which holds what, and which gets what.

Either may be missing: the project's until it is made, by `init` or with the first fact that is
kept there, the person's until its first fact. What a session has taught so far is known to the
project's store, and to the person's where there is no other.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from pathlib import Path

from mdmemory.citing.citation import DRIFTED, MOVED
from mdmemory.config import person
from mdmemory.config.settings import Settings, load_settings
from mdmemory.config.table import PERSON
from mdmemory.errors import Ambiguous, MdmemoryError, NoGit, NoStore, NotFound, UsageError
from mdmemory.files import as_given
from mdmemory.git.private_folder import common_dir, find_top
from mdmemory.memory import Memory, actions, capture, search, store
from mdmemory.store.conflicts import IN_CONFLICT
from mdmemory.store.project import of_person, of_project
from mdmemory.store.store import INDEX, Store, is_note_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmemory.actions.doctor import Finding
    from mdmemory.actions.editing import Edited
    from mdmemory.actions.listing import Listed
    from mdmemory.actions.note_history import Step
    from mdmemory.actions.resolve import Across
    from mdmemory.actions.undo import Agree, Planned, Undone
    from mdmemory.capture.batch import Route
    from mdmemory.capture.extracted import Caller, Extracted
    from mdmemory.capture.fact import Fact, FactCall
    from mdmemory.capture.forgetting import Forgotten
    from mdmemory.capture.imports.run import Imported
    from mdmemory.capture.store_fact import Stored
    from mdmemory.capture.wishes import Inbox
    from mdmemory.citing.citation import CheckedCitation
    from mdmemory.git.log import Logged
    from mdmemory.llm.answer import Model
    from mdmemory.search.notes import Report
    from mdmemory.search.results import Found, Hit
    from mdmemory.session.promotion import Accounting
    from mdmemory.store.conflicts import Entry
    from mdmemory.store.store import StoredNote
    from mdmemory.store.writer import NoteSource, StoredIn, Written
    from mdmemory.transcripts.turns import Turn

USER, PROJECT = "user", "project"
MINE = f"{PERSON}/"  # before the name of a note of the person's
BOTH = "both"  # what lies between the layers
_IN_FORCE = ("", IN_CONFLICT)


class Layers:
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
        self._is_question_told = False
        self.project: Memory | None = None
        try:
            store_around = of_project(self.start, store, places)
        except NoStore as problem:
            if problem.code != "asked":
                raise
            store_around, self.question = None, problem
        try:
            own = of_person(self._places)
        except MdmemoryError as problem:
            if store_around is None:
                raise
            own = None  # one that cannot be read does not take the project's away
            self._tell(f"Your own store is left out. {problem.sentences}")
        is_own = store_around is not None and own is not None and store_around.root == own.root
        if store_around is not None and not is_own:
            self.project = Memory(store_around, **self._how)
            if store_around.is_moved:
                self._tell(f"The project was known again: its store is {store_around.store}.")
        self.person = Memory(own, **self._how) if own and (is_own or not self._named) else None

    @classmethod
    def open(
        cls, path: str | Path = ".", *, store: str | None = None,
        environment: Mapping[str, str] | None = None, **how: Any,
    ) -> Layers:  # fmt: skip
        """The layers for the folder `path`; with `store` that one alone. Raises NoStore where the
        named one is none; where there is none at all, reading raises it. `how` is what `Memory`
        takes."""
        return cls(Path(path), person.person_places(environment), store=store, **how)

    @property
    def settings(self) -> Settings:
        """The settings in force: the project's, else the person's own."""
        memory = self.project or self.person
        if memory is not None:
            return memory.project.settings
        return load_settings(self._places.environment, self._places.personal_settings)

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
        if not description:
            fact = capture.fact.state_fact(name, type=type, body=body, kind=kind)
            return self.state(fact, everywhere, source, cite, replaces)[1]
        fact = capture.fact.Fact(body, description, name, type, kind=kind)
        return self._put(fact, everywhere, source, cite, replaces)[1]

    def state(
        self, fact: Fact, everywhere: bool = False, source: str = "manual",
        cite: Sequence[str] = (), replaces: Sequence[str] = (),
    ) -> tuple[Memory, Edited]:  # fmt: skip
        """Store what a person states in a sentence, and the layer it is in: a note of either layer
        that says it already is named."""
        for memory in self.there() if not replaces else ():
            if (same := memory.stating(fact.said)) is not None:
                return memory, actions.editing.unchanged_note(same)
        return self._put(fact, everywhere or fact.everywhere, source, cite, replaces)

    def _put(
        self, fact: Fact, everywhere: bool, source: str, cite: Sequence[str],
        replaces: Sequence[str],
    ) -> tuple[Memory, Edited]:  # fmt: skip
        """Store a fact, in the layer of the notes that it replaces. Raises NotFound, UsageError for
        notes of both layers."""
        # no store is made for a note that none would take
        text = f"{fact.description}\n{fact.body}"
        actions.editing.check_new(fact.name, fact.type, text)
        owners = [self.holding(name) for name in replaces]
        if len({id(memory) for memory, _ in owners}) > 1:
            raise UsageError(
                "The notes are in two stores, and a fact replaces those of one.",
                "Add it twice, once for each store.",
            )
        names = [memory.note(name).file for memory, name in owners]
        memory = owners[0][0] if owners else self.for_type(fact.type, everywhere=everywhere)
        return memory, memory.add(
            fact.name, type=fact.type, description=fact.description, body=fact.body,
            kind=fact.kind, source=source, replaces=names, cite=cite,
        )  # fmt: skip

    def near(self, text: str) -> list[tuple[str, str]]:
        """The notes of both layers near a text, three of each at most: file and description."""
        return [
            (f"{source.prefix}{note.file}", " ".join(note.note.head.description.split()))
            for source in self.sources()
            for note in store.superseding.in_force(
                search.near.near_notes(source.writer.refresher)(text)
            )[: search.near.NEAREST]
        ]

    # --- taking back

    def undo(self, id: str | None = None, agree: Agree | None = None) -> tuple[Memory, Undone]:
        """Take back a commit of the layer that has it, by default the newest change of both;
        that layer, and what became of it."""
        stores = self._certain_layers()
        if len(stores) == 1:
            memory = stores[0]
        elif id is not None:
            memory = next((each for each in stores if each.has_change(id)), stores[0])
        else:
            plans = [(plan, each) for each in stores if (plan := each.newest_change())]
            if not plans:
                return stores[0], stores[0].undo(None, agree)  # says so

            def moment(pair: tuple[Planned, Memory]) -> tuple[datetime, int]:
                written = 0  # the index tells which of two changes of one second is the newer
                with suppress(OSError):
                    written = os.lstat(pair[1].project.store / INDEX).st_mtime_ns
                return moment_of(pair[0].time), written

            plan, memory = max(plans, key=moment)
            id = plan.commit
        return memory, memory.undo(id, agree)

    def undo_session(self, session: str, agree: Agree | None = None) -> list[tuple[Memory, Undone]]:
        """Take back all that one session caused, in one commit for each layer."""
        done: list[tuple[Memory, Undone]] = []
        missing: NotFound | None = None
        for memory in self._certain_layers():
            try:
                done += [(memory, each) for each in memory.undo_session(session, agree)]
            except NotFound as problem:
                missing = problem
        if missing is not None and not done:
            raise missing
        return done

    def _certain_layers(self) -> list[Memory]:
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
            return self._persons_memory()
        if self.project is None and (made := self._make_project()) is not None:
            self.project = made
        return self.project or self._persons_memory()

    def for_fact(self, type: str) -> Memory:
        """The memory for a fact that nobody waits to be asked about: as `for_type`, and the
        person's where no store of a project may be made. Raises NoStore."""
        try:
            return self.for_type(type)
        except NoStore:
            if self.person is None or not actions.memory_folder.is_forbidden(self._places):
                raise  # a fact of the project's is the project's, whatever fails
            return self.person

    def _persons_memory(self) -> Memory:
        if self.person is None:
            made = actions.memory_folder.begin_person(self._places)
            self.person = Memory(made.project, **self._how)
            self._tell(f"Your own store is {made.project.store}.")
        return self.person

    def _make_project(self) -> Memory | None:
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
        return Memory(made.project, **self._how)

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
        """The layers that are there with their names, the project's first. Raises NoStore.

        Where it is not certain whose store the project's is, that is told, and the person's serves.
        """
        layers_there = [(PROJECT, self.project), (USER, self.person)]
        there = [(name, memory) for name, memory in layers_there if memory] or [(USER, self.main)]
        if self.question is not None and not self._is_question_told:
            self._is_question_told = True
            self._tell(self.question.sentences)
        return there

    def there(self) -> list[Memory]:
        """The memories that are there, the project's first."""
        return [memory for memory in (self.project, self.person) if memory]

    def holding(self, name: str) -> tuple[Memory, str]:
        """The memory that holds the note NAME, and its name there: the project's first, and
        `me/NAME` is the person's. Raises NotFound, NoStore."""
        layers = [memory for _, memory in self.each()]
        if self.person is not None and name.startswith(MINE):
            return self.person, name.removeprefix(MINE)
        if len(layers) == 1:
            return layers[0], name
        by_file = [memory for memory in layers if _has_note(memory, name)]
        if by_file:  # a list shows files: another note's alias does not come between
            return by_file[0], name
        for memory in layers:
            try:
                memory.note(name)
            except Ambiguous:
                return memory, name
            except NotFound:
                continue
            return memory, name
        return layers[0], name  # its own words say what is near

    def of(self, memory: Memory) -> str:
        """The name of the layer that this memory is."""
        return PROJECT if memory is self.project else USER

    def notes(self) -> list[tuple[str, StoredNote]]:
        """All notes, each with its layer: the project's, then the person's, sorted by file."""
        return [(layer, note) for layer, memory in self.each() for note in memory.notes()]

    def listing(self, *, digests: bool = True) -> list[tuple[str, Listed]]:
        """Every note as `list` shows it, with its layer. Refreshes the indexes. For `digests` see
        `Memory.listing`."""
        return [
            (layer, row) for layer, memory in self.each()
            for row in memory.listing(digests=digests)
        ]  # fmt: skip

    def shown(self, layer: str, file: str) -> str:
        """How a list names a note: its file, and of the person's `me/FILE` where the project has
        a note of that file, too."""
        hidden = layer == USER and self.project is not None and _has_note(self.project, file)
        return f"{MINE}{file}" if hidden else file

    def search(
        self, query: str, *, k: int = 6, source: str = "memory", at: str | None = None,
        report: Report = lambda *_: None, meaning: bool = True, all_projects: bool = False,
    ) -> Found:  # fmt: skip
        """The `k` best places of both layers, ranked together, each with its `layer`; see
        `Memory.search`. Sessions, files, and the notes `at` a commit are the project's alone.

        `all_projects` reads the notes of every store in the memory folder, and says `project`.
        """
        # the memories to ask, each with its layer and, if it is another project's, its name
        others = self.others() if all_projects else ()
        asked = [((PROJECT, name), memory) for name, memory in others]
        if self.there() or not asked:
            asked = [*(((layer, ""), memory) for layer, memory in self.each()), *asked]
        (first, memory), *also = asked
        best = memory.search(query, k=k, source=source, at=at, report=report, meaning=meaning)
        answers = [search.answer.of_layer(best, *first)]
        for layer, memory in also if at is None and source in ("memory", "all") else []:
            try:
                more = memory.search(query, k=k, report=report, meaning=meaning)
            except UsageError:
                raise
            except MdmemoryError as problem:  # it does not take the first one's answer away
                self._tell(f"A store is left out. {problem.sentences}")
            else:
                answers.append(search.answer.of_layer(more, *layer))
        joined = search.answer.join_stores(answers, k)
        return joined._replace(hits=self._with_conflicts(joined.hits))

    def others(self) -> Iterator[tuple[str, Memory]]:
        """The other projects' stores in the memory folder, each with its folder's name. Only a
        person's command may read them."""
        own = [memory.project.root for memory in self.there()]
        for entry in store.home.read_entries(store.project.home_of(self._places)):
            if entry.store not in own:
                opened = store.project.open_project(entry.store, self._places)
                yield entry.store.name, Memory(opened)

    def _with_conflicts(self, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        """The hits; where one of the person's contradicts one of the project's, both are marked,
        and the project's comes first."""
        notes = [hit for hit in hits if hit.source == "memory" and not hit.project]
        if {hit.layer for hit in notes} != {PROJECT, USER}:
            return hits
        pairs = self._contradicting_pairs(
            [hit.file for hit in notes if hit.layer == PROJECT],
            [hit.file for hit in notes if hit.layer == USER],
        )  # fmt: skip
        order = list(hits)
        for pair in pairs:
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

    def across(self) -> list[Across]:
        """Where a note of the project's and one of the person's contradict, by their form,
        but for pairs of which a person said that both hold. Nothing is written."""
        if self.project is None or self.person is None:
            return []
        return self._contradicting_pairs(
            *(
                [each.head.file for each in memory.listing(digests=False)
                 if each.status in _IN_FORCE]
                for memory in (self.project, self.person)
            )
        )  # fmt: skip

    def _contradicting_pairs(self, projects: Sequence[str], persons: Sequence[str]) -> list[Across]:
        assert self.project is not None
        assert self.person is not None
        ledger = "\n".join(Store(memory.project.store).ledger() for _, memory in self.each())
        return actions.resolve.find_across(
            _read(self.project, projects), _read(self.person, persons), ledger
        )

    def conflicts(self) -> list[tuple[str, Entry]]:
        """The open entries of both ledgers, each with its layer."""
        return [(layer, each) for layer, memory in self.each() for each in memory.conflicts()]

    def resolve(self, id: str, *, keep: str | None = None) -> tuple[str, tuple[str, ...], Written]:
        """Resolve a conflict, on a person's word; its layer ("both" between them), the files that
        were removed, and what was written. Raises NotFound, UsageError."""
        layers = self.each()
        if pair := next((pair for pair in self.across() if pair.id == id), None):
            return self._settle_pair(pair, keep)
        open_in = [(layer, memory) for layer, memory in layers
                   if any(each.id == id for each in memory.conflicts())]  # fmt: skip
        layer, memory = (open_in or layers)[0]
        done = memory.resolve(id, keep=keep)
        return layer, done.removed, done.written

    def _settle_pair(self, pair: Across, keep: str | None) -> tuple[str, tuple[str, ...], Written]:
        if keep is None:
            raise UsageError(
                "Both stay as they are: here the project's goes first, elsewhere yours.",
                f"Answer `mdmemory review {pair.id} both` if that is right, or pass --keep NAME.",
            )
        memory, name = self.holding(keep)
        winner = memory.note(name).file
        if (self.of(memory), winner) == (PROJECT, pair.project):
            other, gone = self.person, pair.person
        elif (self.of(memory), winner) == (USER, pair.person):
            other, gone = self.project, pair.project
        else:
            files = f"{pair.project}, {MINE}{pair.person}"
            raise NotFound(f"{winner} is not part of {pair.id}.", f"Keep one of {files}.")
        assert other is not None
        written = other.remove(gone).written
        removed = () if written.kept else (gone if other is self.project else f"{MINE}{gone}",)
        return BOTH, removed, written

    def doctor(self, *, fix: bool = False) -> list[tuple[str, Finding]]:
        """The problems of both stores, each with its layer. A link may lead to the other one."""
        layers = self.each()
        names: dict[str, set[str]] = {layer: set() for layer, _ in layers}
        for layer, memory in layers if len(layers) > 1 else []:
            for stored in Store(memory.project.store).notes():  # a stale index is to be found
                names[layer] |= store.note_links.note_names(stored.note)
        return [
            (layer, finding)
            for layer, memory in layers
            for finding in memory.doctor(
                fix=fix, elsewhere=set().union(*(names[of] for of in names if of != layer))
            )
        ]

    def citations(
        self, files: Collection[str] | None = None, *, since: str | None = None
    ) -> list[CheckedCitation]:
        """What the project's notes cite, and how that stands; see `Memory.citations`. Only the
        project's layer cites. Raises NoGit where there is no project."""
        if self.project is None:
            raise self.question or NoGit(
                f"{self.start} is in no project that has a store, and only a project's notes cite.",
                "Run it in a project, or make its store: `mdmemory init`.",
            )
        return self.project.citations(files, since=since)

    def cited(self, memory: Memory, files: Collection[str] | None = None) -> list[CheckedCitation]:
        """What some notes of a layer cite, or all, and how that stands; [] where none can tell."""
        if memory is not self.project:
            return []
        try:
            return memory.citations(files)
        except (MdmemoryError, OSError):
            return []

    # --- what was done

    def log(self, limit: int | None = None) -> list[tuple[str, Logged, bool]]:
        """Our commits of both layers by their time, newest first, each with its layer and whether
        it was undone since."""
        entries, problems = [], []
        for layer, memory in self.each():
            try:
                entries.append([(layer, *row) for row in memory.log(limit)])
            except MdmemoryError as problem:
                problems.append(problem)
        # one that cannot (it has no git, say, or nothing to find) does not take the other's away
        if not entries:
            raise problems[0]
        for each in problems:
            if not isinstance(each, NotFound):
                self._tell(f"A store is left out. {each.sentences}")
        mixed = heapq.merge(*entries, key=lambda row: moment_of(row[1].time), reverse=True)
        return list(mixed)[:limit]

    def of_change(self, id: str) -> Memory:
        """The memory with the commit that a Memory-Id or a commit's name means, first looked for in
        the project's. Raises NoGit."""
        layers = [memory for _, memory in self.each()]
        for memory in layers[:-1]:
            with suppress(NotFound):
                memory.change(id)
                return memory
        # HEAD~1 is what stands in the project
        is_id = set(id.removeprefix("m-")) <= set("0123456789abcdef")
        return layers[-1] if is_id else layers[0]

    def past(self, what: str) -> tuple[Memory, list[Step] | Logged]:
        """The memory that has the note, or the change, of this name or id, and its life, or the
        change. A note that is there comes first, then a change, then a note that is gone. Raises
        NotFound."""
        memory, name = self.holding(what)
        if _has_note(memory, name):
            return memory, memory.history(name)
        try:
            memory.note(name)
        except NotFound:
            with suppress(NotFound):
                memory = self.of_change(what)
                return memory, memory.change(what)
        return self.history(what)

    def history(self, name: str) -> tuple[Memory, list[Step]]:
        """The memory that holds a note, and the note's life; it may be gone. Raises NotFound."""
        memory, own_name = self.holding(name)
        try:
            return memory, memory.history(own_name)
        except NotFound:
            if memory is self.person or self.person is None:
                raise
            with suppress(NotFound):
                return self.person, self.person.history(own_name)
            raise

    # --- the message of a person

    def keep_wishes(
        self, texts: Sequence[str], *, session: str, turn: str, message: str = "",
        attended: bool = True,
    ) -> list[Path]:  # fmt: skip
        """Keep what a message asks to remember until its turn has ended, whatever git and the store
        do: the files; `message` is all of it. A run that is not `attended` stores it by a call
        alone, unless the message begins with it. Raises MdmemoryError: no folder takes them."""
        if self.project is not None:
            places = capture.wishes.open_inboxes(self.project.project)
        else:
            places = [capture.wishes.inbox_without_store(self.start)]
        return capture.wishes.keep_wishes(
            places, texts, session, turn, self._clock(), message, attended
        )

    def settle_wishes(self, session: str = "", turn: str = "") -> list[Stored]:
        """Store the wishes that no call answered, as they were said, where their turn is over:
        `session` is at this `turn` now ("": at none). One that cannot be written yet waits."""
        boxes = [each for each in self._layer_inboxes() if each.files()]
        if not boxes or self.question is not None:
            return []
        now = self._clock()
        due = capture.wishes.list_due(boxes, now, session, turn)
        return capture.store_fact.settle_wishes(self, due, now=now) if due else []

    def begin_for_wishes(self) -> None:
        """Where there is no store at all, make the one that a wish kept here waits for."""
        if self.project or self.person or self.question is not None:
            return
        for _, wish in capture.wishes.inbox_without_store(self.start).wishes()[:1]:
            with suppress(MdmemoryError):
                self.for_fact(USER if wish.is_personal else PROJECT)

    def _answer_wishes(self, text: str, session: str, *, ends: bool = False) -> None:
        """Note what a call says of the wishes of its turn."""
        if boxes := [each for each in self._layer_inboxes() if each.files()]:
            capture.store_fact.answer_wishes(self, boxes, text, session=session, ends=ends)

    def _layer_inboxes(self) -> list[Inbox]:
        boxes = [box for each in self.there() for box in capture.wishes.open_inboxes(each.project)]
        if not self._named:
            boxes.append(capture.wishes.inbox_without_store(self.start))
        return list(dict.fromkeys(boxes))

    # --- what an assistant hands over

    def store(self, call: FactCall, caller: Caller) -> Stored:
        """Store a fact that an assistant hands over, in its layer or in that of the notes that it
        replaces; files of the person's layer are `me/FILE`. Raises NotStored, NotFound, NoStore."""
        if not caller.turns:
            # what hooks kept here of the user's words, where nothing else is known of them: the
            # first message in a fresh home is heard before there is a store
            from mdmemory.transcripts.turns import Turn

            wishes = [wish for box in self._layer_inboxes() for _, wish in box.wishes()]
            caller = caller._replace(turns=tuple(Turn(e.turn, "user", e.text) for e in wishes))
        done = capture.store_fact.store_fact(self, call, caller, now=self._clock())
        texts = [call.fact, call.why, call.title, *(pair["text"] for pair in done.superseded)]
        texts += [call.quote] if done.declined else []
        text = "\n".join(filter(None, texts))
        self._answer_wishes(text, caller.session, ends=bool(done.declined))
        return done

    def forget(self, names: Sequence[str], quote: str, caller: Caller) -> Forgotten:
        """Remove the notes that an assistant names, if the user's turns ask for it; see
        `capture.forgetting`. Raises NotFound, NotProven, NoStore."""
        done = capture.forgetting.forget_notes(
            self.sources(), names, quote, caller, now=self._clock()
        )
        self._answer_wishes(quote, caller.session)
        return done

    def described(self, what: str) -> list[StoredIn]:
        """The notes of both layers that a person may mean by `what`, the likeliest first."""
        return capture.forgetting.find_described(self.sources(), what)

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
        return [
            store.writer.NoteSource(self._memory_prefix(each), each._writer())
            for each in self.there()
        ]

    def open_for(self, personal: bool) -> tuple[NoteSource, Route]:
        """The store that a fact goes to, made where it is missing. Raises NoStore."""
        memory = self.for_fact(USER if personal else PROJECT)
        source = store.writer.NoteSource(self._memory_prefix(memory), memory._writer())
        if not self._named and not personal and memory is not self.project:
            return source, capture.batch.Route(folder=self._folder_named())
        if memory is self.project and not self._named and not personal and source.writer.is_own:
            return source, capture.batch.Route(said=self._said())
        return source, capture.batch.ALL

    def _memory_prefix(self, memory: Memory) -> str:
        return MINE if memory is self.person and self.project is not None else ""

    def _said(self) -> dict[str, str]:
        """The facts that the person's store states for all projects, by their keys."""
        stated: list[StoredNote] = []
        with suppress(MdmemoryError):  # a broken store of the person's stops no other
            stated = capture.batch.visible_notes(self.person._writer()) if self.person else []
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


def _read(memory: Memory, files: Sequence[str]) -> list[StoredNote]:
    store, stored = Store(memory.project.store), []
    for file in files:
        with suppress(NotFound):  # gone meanwhile
            stored.append(store.read(file))
    return stored


def moment_of(time: str) -> datetime:
    """The moment that an ISO time with an offset names, whatever its offset."""
    return datetime.fromisoformat(time)


def _has_note(memory: Memory, file: str) -> bool:
    """Whether the store has a note of this file; costs one look at its entry."""
    path = f"{memory.project.store}/{as_given(file)}"
    return "/" not in file and is_note_name(file) and os.path.isfile(path)
