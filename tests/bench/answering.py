"""A fake model that reads the question and answers it, behind a server with a small window.

It merges notes that say the same in nearly the same words and flags those that differ in a value;
of a session it says what it was told to. Its answers come as models give them (`dresses`).
"""

import json
import re
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from bench.dresses import DRESSES
from fake_server import Answer, Body
from fake_windows import refuse

from mdmemory.text.similarity import likeness_of
from mdmemory.text.words import word_keys

PER_TOKEN = 3.2  # characters, by the fake's own tokenizer
ALIKE, TWINS = 0.95, 0.7  # of their words in common


@dataclass
class Answering:
    """Give `reply` to a FakeServer. `window` holds question and answer in tokens (0: no limit);
    `dress` is one of DRESSES; `candidates` are what it finds in any session, `plan` the ops that it
    proposes for any store (None: what it thinks itself)."""

    window: int = 0
    dress: str = "plain"
    candidates: list[dict[str, Any]] = field(default_factory=list)
    plan: list[dict[str, Any]] | None = None

    def reply(self, body: Body) -> Answer:
        """The answer, a refusal where it has no room, or the part of it that has."""
        asked = sum(length(str(each["content"])) for each in body["messages"])
        most = body.get("max_tokens") or body.get("max_completion_tokens") or 0
        if self.window and asked + most > self.window:
            return refuse("vllm", self.window, asked + most)
        text = DRESSES[self.dress](self.answer(body))
        room = min(most or 10**9, (self.window or 10**9) - asked)
        cut = text[: int(room * PER_TOKEN)]
        usage = {"prompt_tokens": asked, "completion_tokens": length(cut)}
        return Answer(cut, finish="stop" if cut == text else "length", usage=usage)

    def answer(self, body: Body) -> dict[str, Any]:
        """What it says about the question."""
        question, _ = json.JSONDecoder().raw_decode(str(body["messages"][-1]["content"]))
        if "turns" in question:
            return {"candidates": self.candidates}
        return {"ops": ops(question) if self.plan is None else self.plan}


def length(text: str) -> int:
    """The tokens of a text."""
    wide = sum(char > "\u2e80" for char in text)
    return int((len(text) - wide) / PER_TOKEN) + wide + 1


def ops(question: dict[str, Any]) -> list[dict[str, Any]]:
    """A plan for the notes of a question; none the second time, when something was refused."""
    if "refused" in question:
        return []
    found: list[dict[str, Any]] = []
    taken: set[str] = {file for pair in question.get("conflicts", ()) for file in pair}
    for one, other in combinations(question["notes"], 2):
        files = {one["file"], other["file"]}
        if _type(one) != _type(other) or files & taken:
            continue
        near = likeness_of({*word_keys(one["description"])}, {*word_keys(other["description"])})
        if near >= ALIKE and "body" in one and "body" in other:
            found.append(_merge(one, other))
            taken |= files
        elif near >= TWINS and _values(one) != _values(other):
            found.append({"op": "flag", "files": sorted(files), "reason": "Which of them holds?"})
            taken |= files
    return found


def _merge(one: dict[str, str], other: dict[str, str]) -> dict[str, Any]:
    best = max(one, other, key=lambda note: len(note["body"]))
    said = {key: best[key] for key in ("type", "description", "body")}
    name = best["file"].removesuffix(".md").partition("-")[2]
    return {"op": "merge", "sources": [one["file"], other["file"]], "target": best["file"],
            "name": name, **said, "reason": "both say the same"}  # fmt: skip


def _type(note: dict[str, str]) -> str:
    return note["file"].partition("-")[0]


def _values(note: dict[str, str]) -> set[str]:
    return {*re.findall(r"\d[\d.-]*|\b[A-Z][a-z]+", note["description"])}
