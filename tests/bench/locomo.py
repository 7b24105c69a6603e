"""How well search finds in long talks: `python tests/bench/locomo.py PATH/locomo10.json`.

The file (LoCoMo, CC BY-NC 4.0) is not ours to ship and nothing is tuned on it. Recall is the mean
share of a question's evidence that is found inside its conversation, for three sizes of document:
a fact (an observation of the file), a turn, a session. Nothing is asked of the figures.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.retrieval import HEADING, Figures, Question, measured, ours, plain

from mdmemory.search.chunks import Chunk, cut
from mdmemory.search.database import Document
from mdmemory.search.results import MEMORY

_TURN = re.compile(r"D\d+:\d+")
NAME = 8  # words of a fact that make its name


@dataclass
class Level:
    """Documents of one size, their texts, and which of them each turn lies in."""

    documents: list[Document] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)
    of_turn: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, document: Document, turns: set[str]) -> None:
        """One more document, which stands for these turns."""
        self.documents.append(document)
        body = "\n".join(chunk.text for chunk in document.chunks)
        self.texts.append((document.file, f"{document.name}\n{document.description}\n{body}"))
        for turn in turns:
            self.of_turn[turn].add(document.file)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("file", type=Path)
    conversations = json.loads(options.parse_args().file.read_text("utf-8"))
    print(HEADING)
    for what, level in {"facts": facts, "turns": turns, "sessions": sessions}.items():
        for name, figures in zip(("plain table", "mdmemory"), both(conversations, level),
                                 strict=True):  # fmt: skip
            print(f"{what + ', ' + name:34}  {figures}", flush=True)
    return 0


def both(
    conversations: list[dict[str, Any]], level: Callable[[dict[str, Any]], Level]
) -> tuple[Figures, Figures]:
    """The figures of the plain table and ours, over the questions of all conversations."""
    floor, found = [], []
    for each in conversations:
        here = level(each)
        questions = [*asked(each, here)]
        if not questions:
            continue
        newest = max(day for day, _ in talks(each).values())
        with plain(here.texts) as find:
            floor.append(measured(find, questions))
        with ours(here.documents, newest) as find:
            found.append(measured(find, questions))
    return pooled(floor), pooled(found)


def pooled(parts: list[Figures]) -> Figures:
    """One mean over the questions of all."""
    whole = sum(part.asked for part in parts)
    means = {
        name: sum(getattr(part, name) * part.asked for part in parts) / max(1, whole)
        for name in (f.name for f in fields(Figures) if f.type == "float")
    }
    return Figures(asked=whole, unanswerable=0, false=0, **means)


def asked(conversation: dict[str, Any], level: Level) -> Iterator[Question]:
    """The questions with evidence, and the documents that it lies in."""
    for entry in conversation["qa"]:
        evidence = _turns_in(entry.get("evidence"))
        wanted = frozenset(file for turn in evidence for file in level.of_turn.get(turn, ()))
        if wanted:
            yield Question(str(entry["question"]), wanted)


def talks(conversation: dict[str, Any]) -> dict[str, tuple[date, list[dict[str, Any]]]]:
    """Day and turns of each session, by its number."""
    talk = conversation["conversation"]
    numbers = [m[1] for key in talk if (m := re.fullmatch(r"session_(\d+)", key))]
    return {
        number: (_day(talk[f"session_{number}_date_time"]), talk[f"session_{number}"])
        for number in numbers
    }


def facts(conversation: dict[str, Any]) -> Level:
    """Each observation as a note: its first words the name, itself the description and body."""
    level, days = Level(), {n: f"{day}" for n, (day, _) in talks(conversation).items()}
    for key, by_speaker in conversation["observation"].items():
        number = key.split("_")[1]
        for said in (fact for every in by_speaker.values() for fact in every):
            text, evidence = str(said[0]), _turns_in(said[1:])
            name = " ".join(re.findall(r"\w+", text)[:NAME])
            file = f"{len(level.documents)}.md"
            level.add(_document(file, text, days[number], name, text), evidence)
    return level


def turns(conversation: dict[str, Any]) -> Level:
    """Each turn with its speaker."""
    level = Level()
    for day, said in talks(conversation).values():
        for turn in said:
            level.add(_document(turn["dia_id"], _line(turn), f"{day}"), {turn["dia_id"]})
    return level


def sessions(conversation: dict[str, Any]) -> Level:
    """Each session as a whole."""
    level = Level()
    for number, (day, said) in talks(conversation).items():
        text = "\n".join(map(_line, said))
        level.add(_document(number, text, f"{day}"), {turn["dia_id"] for turn in said})
    return level


def _document(file: str, text: str, day: str, name: str = "", description: str = "") -> Document:
    chunks: list[Chunk] = [*cut(text)]
    return Document(MEMORY, file, "", "", name, "", description, day, chunks=chunks)


def _line(turn: dict[str, Any]) -> str:
    seen = turn.get("blip_caption")
    return f"{turn['speaker']}: {turn.get('text', '')}" + (f" [image: {seen}]" if seen else "")


def _turns_in(evidence: object) -> set[str]:
    # some lists hold several turns in one string
    return set(_TURN.findall(json.dumps(evidence)))


def _day(text: str) -> date:
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").date()


if __name__ == "__main__":
    sys.exit(main())
