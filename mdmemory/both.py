"""Both layers read as one: which holds a note or a change, and what both know of something."""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path

from mdmemory.citing.citation import DRIFTED, MOVED
from mdmemory.config.person import Places
from mdmemory.errors import Ambiguous, MdmemoryError, NoGit, NoStore, NotFound, UsageError
from mdmemory.files import as_given
from mdmemory.memory import Memory
from mdmemory.routing import MINE, PROJECT, USER
from mdmemory.store.conflicts import IN_CONFLICT
from mdmemory.store.store import INDEX, Store, is_note_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from mdmemory.actions.doctor import Finding
    from mdmemory.actions.listing import Listed
    from mdmemory.actions.note_history import Step
    from mdmemory.actions.resolve import Across, Conflict
    from mdmemory.citing.citation import CheckedCitation
    from mdmemory.git.log import Logged
    from mdmemory.search.notes import Report
    from mdmemory.search.results import Found, Hit
    from mdmemory.store.store import StoredNote
    from mdmemory.store.writer import Written

    T = TypeVar("T")

BOTH = "both"  # what lies between the layers
_IN_FORCE = ("", IN_CONFLICT)


class BothLayers:
    """The project's memory and the person's; either may be missing."""

    project: Memory | None
    person: Memory | None
    question: MdmemoryError | None
    start: Path
    _places: Places
    _tell: Callable[[str], None]
    _asked = False  # the question was told

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
        found = [(PROJECT, self.project), (USER, self.person)]
        there = [(name, memory) for name, memory in found if memory] or [(USER, self.main)]
        if self.question is not None and not self._asked:
            self._asked = True
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
        by_file = [memory for memory in layers if _has(memory, name)]
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
        hidden = layer == USER and self.project is not None and _has(self.project, file)
        return f"{MINE}{file}" if hidden else file

    def search(
        self, query: str, *, k: int = 6, source: str = "memory", at: str | None = None,
        report: Report = lambda *_: None, meaning: bool = True, all_projects: bool = False,
    ) -> Found:  # fmt: skip
        """The `k` best places of both layers, ranked together, each with its `layer`; see
        `Memory.search`. Sessions, files, and the notes `at` a commit are the project's alone.

        `all_projects` reads the notes of every store in the memory folder, and says `project`.
        """
        from mdmemory.search import answer

        (first, memory), *others = self._asked_of(all_projects)
        best = memory.search(query, k=k, source=source, at=at, report=report, meaning=meaning)
        found = [answer.of_layer(best, *first)]
        for layer, memory in others if at is None and source in ("memory", "all") else []:
            ask = partial(memory.search, query, k=k, report=report, meaning=meaning)
            if (more := self._also(ask)) is not None:
                found.append(answer.of_layer(more, *layer))
        joined = answer.joined(found, k)
        return joined._replace(hits=self._with_conflicts(joined.hits))

    def _asked_of(self, all_projects: bool) -> list[tuple[tuple[str, str], Memory]]:
        """The memories to ask, each with its layer and, if it is another project's, its name."""
        if not all_projects:
            return [((layer, ""), memory) for layer, memory in self.each()]
        others = [((PROJECT, name), memory) for name, memory in self.others()]
        own = self.each() if self.there() or not others else []
        return [*(((layer, ""), memory) for layer, memory in own), *others]

    def others(self) -> Iterator[tuple[str, Memory]]:
        """The other projects' stores in the memory folder, each with its folder's name. Only a
        person's command may read them."""
        from mdmemory.store import home
        from mdmemory.store.project import home_of, open_project

        own = [memory.project.root for memory in self.there()]
        for entry in home.entries(home_of(self._places)):
            if entry.store not in own:
                yield entry.store.name, Memory(open_project(entry.store, self._places))

    def _also(self, ask: Callable[[], T]) -> T | None:
        """What a second layer answers; its failure does not take the first one's answer away."""
        try:
            return ask()
        except UsageError:
            raise
        except MdmemoryError as problem:
            self._tell(f"A store is left out. {problem.sentences}")
            return None

    def _with_conflicts(self, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        """The hits; where one of the person's contradicts one of the project's, both are marked,
        and the project's comes first."""
        notes = [hit for hit in hits if hit.source == "memory" and not hit.project]
        if {hit.layer for hit in notes} != {PROJECT, USER}:
            return hits
        pairs = self._contradicting(
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
        return self._contradicting(
            *(
                [each.head.file for each in memory.listing(digests=False)
                 if each.status in _IN_FORCE]
                for memory in (self.project, self.person)
            )
        )  # fmt: skip

    def _contradicting(self, projects: Sequence[str], persons: Sequence[str]) -> list[Across]:
        from mdmemory.actions import resolve

        assert self.project is not None
        assert self.person is not None
        ledger = "\n".join(Store(memory.project.store).ledger() for _, memory in self.each())
        return resolve.across(_read(self.project, projects), _read(self.person, persons), ledger)

    def conflicts(self) -> list[tuple[str, Conflict]]:
        """The open entries of both ledgers, each with its layer."""
        return [(layer, each) for layer, memory in self.each() for each in memory.conflicts()]

    def resolve(self, id: str, *, keep: str | None = None) -> tuple[str, tuple[str, ...], Written]:
        """Resolve a conflict, on a person's word; its layer ("both" between them), the files that
        were removed, and what was written. Raises NotFound, UsageError."""
        layers = self.each()
        if pair := next((pair for pair in self.across() if pair.id == id), None):
            return self._settled(pair, keep)
        open_in = [(layer, memory) for layer, memory in layers
                   if any(each.entry.id == id for each in memory.conflicts())]  # fmt: skip
        layer, memory = (open_in or layers)[0]
        done = memory.resolve(id, keep=keep)
        return layer, done.removed, done.written

    def _settled(self, pair: Across, keep: str | None) -> tuple[str, tuple[str, ...], Written]:
        if keep is None:
            raise UsageError(
                "Both stay as they are: here the project's goes first, elsewhere yours.",
                f"Answer `mdmemory review {pair.id} both` if that is right, or pass --keep NAME.",
            )
        memory, name = self.holding(keep)
        kept = memory.note(name).file
        if (self.of(memory), kept) == (PROJECT, pair.project):
            other, gone = self.person, pair.person
        elif (self.of(memory), kept) == (USER, pair.person):
            other, gone = self.project, pair.project
        else:
            files = f"{pair.project}, {MINE}{pair.person}"
            raise NotFound(f"{kept} is not part of {pair.id}.", f"Keep one of {files}.")
        assert other is not None
        written = other.remove(gone).written
        removed = () if written.kept else (gone if other is self.project else f"{MINE}{gone}",)
        return BOTH, removed, written

    def doctor(self, *, fix: bool = False) -> list[tuple[str, Finding]]:
        """The problems of both stores, each with its layer. A link may lead to the other one."""
        from mdmemory.store import merged

        layers = self.each()
        names: dict[str, set[str]] = {layer: set() for layer, _ in layers}
        for layer, memory in layers if len(layers) > 1 else []:
            for stored in Store(memory.project.store).notes():  # a stale index is to be found
                names[layer] |= merged.names(stored.note)
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
        found = self._answered(
            lambda memory: [(self.of(memory), *row) for row in memory.log(limit)]
        )  # fmt: skip
        mixed = heapq.merge(*found, key=lambda row: moment(row[1].time), reverse=True)
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
        if _has(memory, name):
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

    def _answered(self, ask: Callable[[Memory], T]) -> list[T]:
        """What the layers answer. One that cannot (it has no git, say, or nothing to find) does
        not take the other's answer away; where none can, the first one's reason is raised."""
        found, problems = [], []
        for _, memory in self.each():
            try:
                found.append(ask(memory))
            except MdmemoryError as problem:
                problems.append(problem)
        if not found:
            raise problems[0]
        for each in problems:
            if not isinstance(each, NotFound):
                self._tell(f"A store is left out. {each.sentences}")
        return found


def _read(memory: Memory, files: Sequence[str]) -> list[StoredNote]:
    store, found = Store(memory.project.store), []
    for file in files:
        with suppress(NotFound):  # gone meanwhile
            found.append(store.read(file))
    return found


def moment(time: str) -> datetime:
    """The moment that an ISO time with an offset names, whatever its offset."""
    return datetime.fromisoformat(time)


def written(memory: Memory) -> int:
    """When the store's index was last written (ns): tells which of two changes of one second is
    the newer."""
    with suppress(OSError):
        return os.lstat(memory.project.store / INDEX).st_mtime_ns
    return 0


def _has(memory: Memory, file: str) -> bool:
    """Whether the store has a note of this file; costs one look at its entry."""
    path = f"{memory.project.store}/{as_given(file)}"
    return "/" not in file and is_note_name(file) and os.path.isfile(path)
