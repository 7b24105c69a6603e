"""The project's own corpora, read: tests/data/search/README.md says what they are."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from bench.corpus import Corpus, Levels, composed
from bench.readers import QUESTIONS, collection
from bench.retrieval import Question

DATA = Path(__file__).parents[1] / "data" / "search"
HALVES = ("half-1", "half-2")
LEFT_OUT = "left-out.yaml"  # questions with a defect, by id, with the reason
FREIGHT = "freight"
_TODAY = date(2026, 6, 15)


@cache
def levels() -> Levels:
    """Each corpus by its name."""
    halves = [name for name in HALVES if (DATA / name / QUESTIONS).is_file()]
    return {**{name: [half(name)] for name in halves}, FREIGHT: [freight()]}


def half(name: str) -> Corpus:
    """One half of the large corpus, without the questions that have a defect."""
    folder = DATA / name
    return collection(folder / QUESTIONS, without=_read(folder / LEFT_OUT) or {})


def freight() -> Corpus:
    """177 notes and 20 conversations of one company, and questions by kind."""
    corpus = Corpus()
    for path in sorted(DATA.glob("notes-*.yaml")):
        for row in _read(path):
            kind, _, name = row["file"].removesuffix(".md").partition("-")
            corpus.add_note(row["file"], composed({**row, "type": kind, "name": name}))
    for row in _read(DATA / "transcripts.yaml"):
        corpus.add_text(row["file"], row["text"], f"{row['date']}")
    corpus.today = _TODAY
    corpus.questions = [
        Question(row[0], frozenset(row[1:]), kind, "zh" if kind == "chinese" else "en")
        for kind, rows in _read(DATA / "questions.yaml").items()
        for row in rows
    ]
    return corpus


def _read(path: Path) -> Any:
    text = path.read_text("utf-8") if path.is_file() else ""
    data: list[Mapping[str, Any]] | Mapping[str, Any] = yaml.load(text, yaml.CSafeLoader)
    return data
