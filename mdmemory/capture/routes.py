"""Which of two stores a fact goes to: the person's own, or the project's.

The person's gets what is about them, and what is said to hold in all projects; the project's gets
the rest. Each fact is judged against the notes of the store that it goes to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mdmemory.capture.triggers import Trigger, holds_everywhere

if TYPE_CHECKING:
    from mdmemory.capture.candidates import Candidate
    from mdmemory.store.store import StoredNote
    from mdmemory.store.writer import Writer

USER, PROJECT = "user", "project"


def is_personal(type: str, everywhere: bool) -> bool:
    """Whether a fact goes to the person's store, whichever project it was said in."""
    return type == USER or everywhere


@dataclass(frozen=True, slots=True)
class Route:
    """What one store gets. `layer` is `user` (what is personal), `project` (the rest), or "": all.

    `is_main`: it also hears of the words that become no note. `folder` is where a fact was said
    that only the person's store could take: its note names it. `said` are the facts that the
    person's store holds for the project, by their keys, with the files: they are not stored twice.
    """

    layer: str = ""
    is_main: bool = True
    folder: str = ""
    said: Mapping[str, str] = field(default_factory=dict)

    def takes(self, type: str, everywhere: bool) -> bool:
        """Whether a fact goes to this store."""
        return not self.layer or is_personal(type, everywhere) == (self.layer == USER)

    def hears(self, trigger: Trigger, reason: str) -> bool:
        """Whether a request goes to this store; `reason` says why it becomes no note, or ""."""
        return self.is_main if reason else self.takes(trigger.type, trigger.everywhere)

    def metadata(self, type: str, everywhere: bool) -> dict[str, str]:
        """What a note says of the folder that it was said in; {} for what is personal."""
        is_of_folder = self.folder and not is_personal(type, everywhere)
        return {"project": self.folder} if is_of_folder else {}


ALL = Route()


def visible(writer: Writer) -> list[StoredNote]:
    """The notes of a store that are neither on hold nor unreadable."""
    held = writer.refresher.catalog().held
    notes = writer.refresher.store.notes()
    return [note for note in notes if note.file not in held and note.note.text]


def is_visible(writer: Writer, note: StoredNote) -> bool:
    """Whether a note of the store is one of these."""
    return note.file not in writer.refresher.catalog().held and bool(note.note.text)


@dataclass(frozen=True, slots=True)
class Split:
    """The other store of a session: `route` is what goes there, and `open` gives its writer, which
    makes the store where it is missing (`there` is None then).

    `prefix` stands before its files, and `own` before those of the store at hand.
    """

    route: Route
    there: Writer | None
    open: Callable[[], Writer]
    prefix: str = ""
    own: str = ""

    def notes(self) -> list[StoredNote]:
        """The notes of the other store that may be shown, under the names that they have here."""
        from mdmemory.store.superseding import in_force

        there = in_force(visible(self.there)) if self.there else []
        return [note._replace(file=f"{self.prefix}{note.file}") for note in there]

    def divided(
        self, candidates: Sequence[Candidate], types: Mapping[str, str]
    ) -> tuple[list[Candidate], list[Candidate]]:
        """The candidates for the store at hand, and those for the other one.

        What changes a note goes where the note is; but a personal fact that would change one of
        the project's becomes a note of its own. `types` are those of the notes at hand, by file.
        """
        mine: list[Candidate] = []
        others: list[Candidate] = []
        for each in candidates:
            if self.prefix and each.file.startswith(self.prefix):
                others.append(each._replace(file=each.file.removeprefix(self.prefix)))
            elif each.action == "reinforce" or (each.file and not self._is_kept_apart(each, types)):
                mine.append(each)
            elif self.route.takes(each.type, is_everywhere(each)):
                others.append(each._replace(action="add", file="", superseded=()))
            else:
                mine.append(each)
        return mine, others

    def shown(self, files: Mapping[str, str]) -> dict[str, str]:
        """What a model saw of the other store: digests by file."""
        return dict(_without(self.prefix, files.items())) if self.prefix else {}

    def _is_kept_apart(self, candidate: Candidate, types: Mapping[str, str]) -> bool:
        return self.route.layer == USER and USER in (candidate.type, types.get(candidate.file))


def is_everywhere(candidate: Candidate) -> bool:
    """Whether a candidate says, or the user said of it, that it holds in all projects."""
    said = (candidate.quote, candidate.description, candidate.body)
    return any(holds_everywhere(text) for text in said)


@dataclass(frozen=True, slots=True)
class Routes:
    """What goes to the store at hand, and what to another one, where there is one."""

    here: Route = ALL
    other: Split | None = None


ONE_STORE = Routes()


def _without(prefix: str, pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for name, value in pairs:
        if name.startswith(prefix):
            yield name.removeprefix(prefix), value
