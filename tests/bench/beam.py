"""BEAM's folders (`chats/100K/1/`), read: very long talks and questions that probe the memory.

Each talk is `chat.json`, batches of turns of messages that have an id (in the longest talks a list
of plans, each with its batches), and `probing_questions/probing_questions.json`, questions by
ability with the ids of the messages that answer them. A talk is searched alone, by message and by
batch.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from bench.corpus import BadDataError, Corpus, Levels
from bench.retrieval import Question

CHAT = "chat.json"
PROBES = ("probing_questions/probing_questions.json", "probing_questions.json")
UNANSWERABLE = "abstention"
_MARK = re.compile(r"\s*->->\s*[\d,\s]+$")  # the author's number of a question, not said by anybody
_DEPTH = 4  # folders from what was named down to a talk


@dataclass(frozen=True)
class Message:
    """One message: its id, the number of its batch, its day (`YYYY-MM-DD` or "") and text."""

    id: int
    batch: int
    day: str
    text: str


def talks_in(folder: Path) -> list[Path]:
    """The folders of talks in or below a folder, by size and number."""
    found = [
        path.parent for depth in range(_DEPTH) for path in folder.glob("*/" * depth + CHAT)
    ]  # fmt: skip
    return sorted(found, key=lambda path: (path.parent.name, path.name.zfill(9)))


def levels(folders: list[Path]) -> Levels:
    """Each talk by message and by batch; talks of several sizes apart."""
    sizes: dict[str, list[Path]] = {}
    for folder in folders:
        sizes.setdefault(folder.parent.name, []).append(folder)
    found: dict[str, list[Corpus]] = {}
    for size, some in sizes.items():
        before = f"{size}, " if len(sizes) > 1 else ""
        for folder in some:
            for name, corpus in _corpora(folder).items():
                found.setdefault(before + name, []).append(corpus)
    return found


def _corpora(folder: Path) -> dict[str, Corpus]:
    probes = next((folder / name for name in PROBES if (folder / name).is_file()), None)
    if probes is None:
        raise BadDataError(f"{folder} has a {CHAT} and no {PROBES[0]}: take BEAM's whole folder.")
    try:
        messages = [*_messages(_read(folder / CHAT))]
        asked = [*_asked(_read(probes))]
    except (KeyError, TypeError, AttributeError, ValueError) as problem:
        reason = f"{type(problem).__name__}: {problem}"[:80]
        raise BadDataError(f"{folder} is not a talk as BEAM publishes it ({reason}).") from None
    by_message, by_batch = Corpus(), Corpus()
    places: dict[int, tuple[str, str]] = {}
    for number, of_batch in groupby(messages, lambda message: message.batch):
        some, batch = list(of_batch), f"batch-{number}"
        texts = [message.text for message in some]
        by_batch.add_text(batch, "\n".join(texts), some[0].day)
        for message, name in zip(some, by_message.add_talk(batch, some[0].day, texts), strict=True):
            places[message.id] = name, batch
    times = Counter(message.id for message in messages)
    for ability, text, ids in asked:
        # an id that stands for two messages, as in several plans, names neither
        if (bool(ids) == (ability == UNANSWERABLE)) or any(times[each] != 1 for each in ids):
            by_message.left_out += 1
            by_batch.left_out += 1
            continue
        for at, corpus in enumerate((by_message, by_batch)):
            wanted = frozenset(places[each][at] for each in ids)
            corpus.questions.append(Question(text, wanted, ability, "en"))
    return {"messages": by_message, "batches": by_batch}


def _messages(chat: Any) -> Iterator[Message]:
    day = ""
    for number, batch in enumerate(_batches(chat), 1):
        day = _day(batch.get("time_anchor")) or day
        for turn in batch["turns"]:
            for message in turn:
                day = _day(message.get("time_anchor")) or day
                text = _MARK.sub("", str(message["content"]))
                yield Message(int(message["id"]), number, day, f"{message['role']}: {text}")


def _batches(chat: Any) -> Iterator[Mapping[str, Any]]:
    for each in chat:
        if "turns" in each:
            yield each
        else:  # a plan by its name
            for plan in each.values():
                yield from _batches(plan or ())


def _asked(probes: Mapping[str, Any]) -> Iterator[tuple[str, str, frozenset[int]]]:
    for ability, questions in probes.items():
        for each in questions:
            yield ability, str(each["question"]), frozenset(_ids(each.get("source_chat_ids")))


def _ids(value: Any) -> Iterator[int]:
    """The numbers in a list, or in the lists of several statements."""
    if isinstance(value, int):
        yield value
    elif isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _ids(each)


def _day(text: object) -> str:
    for form in ("%B-%d-%Y", "%B %d, %Y", "%Y-%m-%d"):
        try:
            return f"{datetime.strptime(str(text).strip(), form).date()}"
        except ValueError:
            continue
    return ""


def _read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))
