"""The ways in which models dress an answer, as they were seen of small and chatty ones.

`WHOLE` are those in which all of it can be read, `BROKEN` those in which a part is missing, or
nothing is there to be read. Each takes the answer, an object with one list, and gives what is sent.
"""

import json
import re
from collections.abc import Callable
from typing import Any

Value = dict[str, Any]
Dress = Callable[[Value], str]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _list(value: Value) -> list[Any]:
    return next(iter(value.values()))


def _around(before: str, after: str = "") -> Dress:
    return lambda value: f"{before}{_json(value)}{after}"


def _each(value: Value, **more: object) -> Value:
    return {key: [{**one, **more} for one in those] for key, those in value.items()}


def _blanks(value: Value) -> Value:
    return {key: [{name: said or None for name, said in one.items()} for one in those]
            for key, those in value.items()}  # fmt: skip


WHOLE: dict[str, Dress] = {
    "plain": _json,
    "pretty": lambda value: json.dumps(value, indent=2),
    "ascii": lambda value: json.dumps(value),
    "prose before": _around("Sure! Here is the JSON you asked for:\n\n"),
    "prose after": _around("", "\n\nLet me know if you need anything else."),
    "prose with braces": _around("I looked at {all} of the notes [twice].\n", "\nThat is {all}."),
    "fence": _around("```json\n", "\n```"),
    "fence without a word": _around("```\n", "\n```"),
    "fence in capitals": _around("```JSON\n", "\n```"),
    "fence and prose": _around("Here you go:\n```json\n", "\n```\nHope this helps!"),
    "fence on one line": _around("```json ", " ```"),
    "fence without an end": _around("```json\n"),
    "tildes": _around("~~~json\n", "\n~~~"),
    "heading": _around("# Plan\n\n**Answer:**\n\n"),
    "label": _around("json\n"),
    "think": _around("<think>\nThe user wants a plan. Let me see.\n</think>\n\n"),
    "think with a draft": _around(
        '<think>\nPerhaps {"ops": []} or {"candidates": []}?\n</think>\n'
    ),
    "think without a beginning": _around("So the answer is clear.\n</think>\n\n"),
    "thinking": _around("<thinking>Two of them agree.</thinking>\n"),
    "think and fence": _around("<think>ok</think>\n```json\n", "\n```"),
    "marks of a template": _around("<|im_start|>assistant\n", "<|im_end|>"),
    "end of a template": _around("", "</s>"),
    "byte order mark": _around("\ufeff"),
    "blank lines": _around("\n\n\n   ", "\n\n\t\n"),
    "line ends of another system": lambda value: json.dumps(value, indent=1).replace("\n", "\r\n"),
    "bare list": lambda value: _json(_list(value)),
    "list of the answer": lambda value: _json([value]),
    "wrapped": lambda value: _json({"result": value}),
    "a call of a tool": lambda value: _json({"name": "answer", "arguments": value}),
    "text in a text": lambda value: _json(_json(value)),
    "one object a line": lambda value: "\n".join(map(_json, _list(value))) or "[]",
    "trailing commas": lambda value: re.sub(r"([}\]])(?=[}\]]|$)", r"\1,", _json(value))[:-1],
    "single quotes": lambda value: re.sub(r'"(\w+)":', r"'\1':", _json(value)),
    "keys without quotes": lambda value: re.sub(r'"(\w+)":', r"\1:", _json(value)),
    "comment": lambda value: _json(value).replace("[", "[ // what I propose\n", 1),
    "extra field": lambda value: _json({**value, "comment": "all done", "confidence": 0.9}),
    "extra fields everywhere": lambda value: _json(_each(value, confidence=0.9, id=7)),
    "nothing for what is blank": lambda value: _json(_blanks(value)),
    "answered twice": lambda value: f"{_json(value)}\n{_json(value)}",
    "an example first": _around('For example {"ops": [], "candidates": []}. My answer:\n'),
}

BROKEN: dict[str, Dress] = {
    "cut off": lambda value: _json(value)[: len(_json(value)) * 2 // 3],
    "cut off at once": lambda value: _json(value)[:12],
    "cut off in thought": lambda value: "<think>\nLet me look at each of the notes. First",
    "no end": lambda value: _json(value).rstrip("}]"),
    "a word for an object": lambda value: _json({key: ["none"] for key in value}),
    "an unknown op": lambda value: _json(_each(value, op="rename", action="rename")),
    "a path": lambda value: _json(_each(value, file="../../etc/passwd", target="/etc/passwd")),
    "numbers for texts": lambda value: _json(_each(value, body=7, quote=7, reason=7)),
    "other name": lambda value: _json({"operations": _list(value)}),
    "key twice": lambda value: _json(value)[:-1] + ', "ops": [], "candidates": []}',
    "null": lambda value: "null",
    "a number": lambda value: "42",
    "empty object": lambda value: "{}",
    "empty list": lambda value: "[]",
    "only prose": lambda value: "The notes look tidy to me, there is nothing to do.",
    "declined": lambda value: "I'm sorry, but I can't help with that.",
    "a page": lambda value: "<!DOCTYPE html><html><body>502 Bad Gateway</body></html>",
    "another form": lambda value: "ops:\n  - op: delete\n    file: a.md\n",
    "a loop": lambda value: '{"ops": [' + '{"op": ' * 2_000,
    "the same for ever": lambda value: "the the the " * 2_000,
    "what it was asked": lambda value: '{"today": "2026-06-20", "notes": [], "turns": []}',
    "not a number": lambda value: _json(_each(value, body=float("nan"), quote=float("inf"))),
    "half a character": lambda value: json.dumps(_each(value, body="\ud83d", quote="\ud83d")),
}

DRESSES = WHOLE | BROKEN
