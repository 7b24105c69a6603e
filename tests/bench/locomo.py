"""LoCoMo's file (`locomo10.json`), read: ten long talks and what is asked about them.

The file (CC BY-NC 4.0) is not ours to ship and nothing is tuned on it. A talk is searched alone, by
three sizes of document: a fact (an observation of the file), a turn, a session.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from typing import Any

from bench.corpus import Corpus, Levels
from bench.retrieval import Question

_TURN = re.compile(r"D\d+:\d+")
_KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
Talk = dict[str, Any]


def is_locomo(data: object) -> bool:
    """Whether this is what LoCoMo's file holds."""
    return isinstance(data, list) and bool(data) and all(
        isinstance(each, dict) and {"conversation", "qa"} <= each.keys() for each in data
    )  # fmt: skip


def levels(talks: Sequence[Talk]) -> Levels:
    """Each talk by each size of document."""
    sizes = {"facts": facts, "turns": turns, "sessions": sessions}
    return {name: [size(talk) for talk in talks] for name, size in sizes.items()}


def facts(talk: Talk) -> Corpus:
    """Each observation as a note: its first words the name, itself the description and body."""
    corpus, places = Corpus(), defaultdict(set)
    days = {number: f"{day}" for number, day, _ in _sessions(talk)}
    for key, by_speaker in talk["observation"].items():
        number = key.split("_")[1]
        for said in (fact for every in by_speaker.values() for fact in every):
            text, file = str(said[0]), f"{len(corpus.texts)}.md"
            corpus.add_text(file, text, days[number], fact=text)
            _put(places, _turns_in(said[1:]), file)
    return _asked(talk, corpus, places)


def turns(talk: Talk) -> Corpus:
    """Each turn with its speaker, in its session."""
    corpus, places = Corpus(), defaultdict(set)
    for number, day, said in _sessions(talk):
        names = corpus.add_talk(number, f"{day}", [*map(_line, said)])
        for turn, name in zip(said, names, strict=True):
            _put(places, {turn["dia_id"]}, name)
    return _asked(talk, corpus, places)


def sessions(talk: Talk) -> Corpus:
    """Each session as a whole."""
    corpus, places = Corpus(), defaultdict(set)
    for number, day, said in _sessions(talk):
        corpus.add_text(number, "\n".join(map(_line, said)), f"{day}")
        _put(places, {turn["dia_id"] for turn in said}, number)
    return _asked(talk, corpus, places)


def _asked(talk: Talk, corpus: Corpus, places: dict[str, set[str]]) -> Corpus:
    """The corpus with the questions whose evidence lies in it."""
    for entry in talk["qa"]:
        evidence = _turns_in(entry.get("evidence"))
        wanted = frozenset(file for turn in evidence for file in places.get(turn, ()))
        if wanted:
            kind = _KINDS.get(entry.get("category"), "")
            corpus.questions.append(Question(str(entry["question"]), wanted, kind, "en"))
        else:
            corpus.left_out += 1
    return corpus


def _put(places: dict[str, set[str]], turns: Iterable[str], file: str) -> None:
    for turn in turns:
        places[turn].add(file)


def _sessions(talk: Talk) -> Iterator[tuple[str, date, list[dict[str, Any]]]]:
    """Number, day and turns of each session that has any."""
    said = talk["conversation"]
    for key in said:
        if match := re.fullmatch(r"session_(\d+)", key):
            yield match[1], _day(said[f"{key}_date_time"]), said[key]


def _line(turn: dict[str, Any]) -> str:
    seen = turn.get("blip_caption")
    return f"{turn['speaker']}: {turn.get('text', '')}" + (f" [image: {seen}]" if seen else "")


def _turns_in(evidence: object) -> set[str]:
    # some lists hold several turns in one string
    return set(_TURN.findall(json.dumps(evidence)))


def _day(text: str) -> date:
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").date()
