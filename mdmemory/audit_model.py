"""What a model finds in any memory: facts that say the same, and facts that cannot both be true.

It is asked for a compaction of the facts, as if they were notes of a store. Nothing of that is
done; what its guards and its second reading let pass is listed.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mdmemory.compact.plan import Flag, Merge, named
from mdmemory.compact.planner import Tokens
from mdmemory.errors import BadNote, UsageError
from mdmemory.files import digest, to_bytes
from mdmemory.llm import choose
from mdmemory.llm.answer import Asking
from mdmemory.note.editing import compose
from mdmemory.note.limits import MAX_DESCRIPTION
from mdmemory.note.note import parse
from mdmemory.privacy import redacted_text
from mdmemory.store.store import StoredNote

if TYPE_CHECKING:
    from mdmemory.compact.model_planner import Report
    from mdmemory.llm.answer import Model
    from mdmemory.store.project import Project


@dataclass
class ModelReading:
    """Asks the model of a project's settings on the day `today` (`YYYY-MM-DD`), or the one that is
    `given`; `report` hears of each question. After `find_pairs`, `tokens` is what it cost, and
    `failures` are sentences on what was not read.

    Raises UsageError where no model is chosen that can be asked.
    """

    project: Project
    today: str
    report: Report
    given: Model | None = None
    tokens: Tokens = field(default_factory=Tokens)
    failures: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        settings = self.project.settings
        if self.given is None and settings.text("planner") == "offline":
            hint = "Choose one with `mdmemory config set planner`, or leave --model out."
            raise UsageError("No model is chosen, so none can be asked.", hint)
        if self.given is None and settings.text("llm.questions") == "pairs":
            hint = "Choose a larger one, or leave --model out."
            raise UsageError("The chosen model is too small to read a memory.", hint)

    def find_pairs(self, facts: Sequence[tuple[str, str]]) -> Iterator[tuple[str, int, int, str]]:
        """For each two facts (description, text) that the model names: duplicates or
        contradictions, their places, and its reason. One with a secret is not shown to it."""
        from mdmemory.compact.model_planner import ModelPlanner

        all_notes = [_as_note(at, *fact) for at, fact in enumerate(facts)]
        places = {note.file: at for at, note in enumerate(all_notes) if note}
        notes = [note for note in all_notes if note]
        kind = self.given.kind if self.given else self.project.settings.text("planner")
        planner = ModelPlanner(
            kind, self._ask, self.today, redacted_text, self.report, everything=True
        )
        proposed = planner.propose(notes, conflicts=[])
        self.tokens = proposed.tokens
        unread = (*proposed.failed, *proposed.refusals)
        self.failures = tuple(dict.fromkeys(sentence for _, sentence in unread))
        for op in proposed.plan.ops:
            check = {Merge: "duplicates", Flag: "contradictions"}.get(type(op), "")
            first, *others = (places[file] for file in named(op) if file in places)
            for other in others if check else ():
                yield check, first, other, getattr(op, "reason", "")

    def _ask(self) -> Asking:
        asking = choose.asking("compact", self.project, self.today, self.given)
        assert asking is not None, "a planner with a model is chosen"
        return asking


def _as_note(at: int, about: str, text: str) -> StoredNote | None:
    """A fact as a note; None of one that no note can hold."""
    description = textwrap.shorten(about, MAX_DESCRIPTION, placeholder="…")
    file, name = f"project-fact-{at + 1}.md", f"fact-{at + 1}"
    body = "" if text.strip() == description else text.strip()
    try:
        whole = compose(name=name, type="project", description=description, body=body)
    except BadNote:
        return None
    return StoredNote(file, digest(to_bytes(whole)), parse(whole, file))
