"""What a search is measured on: documents that are searched together, and questions about them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from bench.plain import in_words
from bench.retrieval import Question, place

from mdmemory.files import digest
from mdmemory.note.editing import compose
from mdmemory.search.chunks import cut_text
from mdmemory.search.database import Document
from mdmemory.search.notes import note_document
from mdmemory.search.results import MEMORY, SESSIONS
from mdmemory.store.store import StoredNote, decode_note

_NAME = 8  # words of a fact that make its name
_OLD = date(1970, 1, 1)


class BadDataError(Exception):
    """What was given cannot be measured on; the text is one sentence with the next step."""


@dataclass
class Corpus:
    """Documents and their questions. `texts` is (file, text) of each as the plain table has it;
    `left_out` counts the questions that name no evidence. The questions are asked on the day
    `today`, by itself that of the newest document."""

    questions: list[Question] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)
    left_out: int = 0
    today: date = _OLD

    def add(self, document: Document, body: str) -> None:
        """One more document with its whole body."""
        self._put(document)
        day = in_words(document.date) if _day(document.date) else ""
        parts = (document.name, document.description, document.aliases, body, day)
        self.texts.append((document.file, "\n".join(filter(None, parts))))

    def _put(self, document: Document) -> None:
        self.documents.append(document)
        self.today = max(self.today, _day(document.date) or _OLD)

    def add_text(self, file: str, text: str, day: str, fact: str = "") -> None:
        """A text that is no note, or a `fact` as a note: its first words the name, itself the
        description. `day` is `YYYY-MM-DD` or ""."""
        name = " ".join(re.findall(r"\w+", fact)[:_NAME])
        self.add(
            Document(MEMORY, file, "", "", name, "", fact, day, chunks=[*cut_text(text)]), text
        )

    def add_talk(self, name: str, day: str, turns: Sequence[str]) -> list[str]:
        """A session, of which each turn is found by itself, as `search --source sessions` does it;
        the names of its turns as places."""
        chunks = [
            piece._replace(start=number, end=number)
            for number, turn in enumerate(turns, 1)
            for piece in cut_text(turn)
        ]
        self._put(Document(SESSIONS, name, "", "", name, date=day, chunks=chunks))
        places = [place(name, number) for number in range(1, len(turns) + 1)]
        said = in_words(day) if day else ""
        self.texts += [(at, f"{turn}\n{said}") for at, turn in zip(places, turns, strict=True)]
        return places

    def add_note(self, file: str, text: str) -> None:
        """A note, given by the text of its file."""
        data = text.encode()
        self.add_stored(StoredNote(file, digest(data), decode_note(data, file)))

    def add_stored(self, stored: StoredNote) -> None:
        """A note as the store reads it."""
        self.add(note_document(stored, "", False), stored.note.body)


def _day(text: str) -> date | None:
    """The day that a note names, if it is written as one."""
    try:
        return date.fromisoformat(text) if "-" in text else None
    except ValueError:
        return None


Levels = Mapping[str, Sequence[Corpus]]  # what is searched, as `turns`: its collections


def composed(row: Mapping[str, Any]) -> str:
    """The text of a note as mdmemory writes it, from its parts by name; null is none. Raises
    KeyError without a name, TypeError for aliases that are no list, and MdmemoryError."""
    row = {key: value for key, value in row.items() if value is not None}
    aliases = row.get("aliases", [])
    if not isinstance(aliases, list | tuple):
        raise TypeError("aliases")
    return compose(
        name=str(row["name"]), type=str(row.get("type", "project")), kind=str(row.get("kind", "")),
        description=str(row.get("description", "")), body=str(row.get("body", "")),
        aliases=[*map(str, aliases)],
        metadata={key: str(row[key]) for key in ("created", "updated") if row.get(key)},
    )  # fmt: skip
