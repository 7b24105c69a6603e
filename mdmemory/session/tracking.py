"""Takes the results of a host's tools and the messages of a session into its memory. Pure.

Files become active by what is done to them. Errors open with a failure and close with a success of
their category.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from mdmemory.capture.fact import type_of
from mdmemory.session import changes, failures
from mdmemory.session.cleaning import line
from mdmemory.session.failures import MAX_PATH
from mdmemory.session.sections import ACTIONS, CANDIDATES, FILES, HOLDS, Error, File, Sections

WINDOW = 20_000  # characters at either end of a long text that are searched
MOST = 12  # mentions in one text


@dataclass(frozen=True, slots=True)
class Pattern:
    """The group `text` of the expression goes to `place`: a slot, `pool`, or `candidates` (for
    notes). `speakers` are user, assistant, tool."""

    place: str
    speakers: tuple[str, ...]
    expression: str


# "Let's use X", in nine languages.
_CHOICE = re.compile(
    r"(?i)\blet['’]?s (?:use|go (?:with|for)|stick (?:with|to)|stay with|switch to|settle on)\b"
    r"|\blass(?:t)? uns .{0,80}\b(?:nehmen|nutzen|verwenden|benutzen|bleiben)\b"
    r"|\b(?:usemos|utilicemos|vamos a (?:usar|utilizar)|vamos con|quedémonos con)\b"
    r"|\b(?:on va (?:utiliser|prendre|garder|partir sur)|utilisons|prenons|gardons)\b"
    r"|\b(?:andiamo con|restiamo su|vamos (?:usar|ficar com|com|utilizar|manter))\b"
    r"|(?:就|我们|咱们)用.{1,30}吧|就用"
    r"|(?:にし|で(?:行|い)き|を使い)ましょう|(?:にし|でいこ|で行こ|を使お)よ?う"
    r"|로 (?:하자|가자|갑시다|합시다)|[을를] 쓰자"
)
_SAID = ("user", "assistant")
_OPENS = r"(?:^|(?<=[.!?\]]\s))[ \t>*-]*"
_SENTENCE = re.compile(r"(?:[^.!?。！？\n]|[.!?](?=\S)){5,250}[.!?。！？]?")
_REST = r"(?:[^.!?\n]|[.!?](?=\S)){2,250}"  # of a sentence
PATTERNS: tuple[Pattern, ...] = (
    Pattern("decisions", _SAID, r"\[Decision:\s*(?P<text>[^\]\n]{3,300})\]"),
    Pattern("decisions", ("user",), _OPENS + r"(?P<text>(?:(?:we|I)(?:'ve| have)? "
            r"(?:decided|agreed) (?:to|on|that))\b" + _REST + ")"),
    Pattern("decisions", ("user",), r"(?:^|[。！？\n])"
            r"(?P<text>我们?(?:决定|選擇|选择)[^。！？\n]{2,120})"),
    Pattern("todos", _SAID, r"\[Todo:\s*(?P<text>[^\]\n]{3,300})\]"),
    Pattern("todos", ("assistant",), _OPENS + r"next step:\s*(?P<text>[^\n]{3,250})"),
    Pattern("dependencies", _SAID, r"\[Dependency:\s*(?P<text>[^\]\n]{2,300})\]"),
    Pattern("dependencies", ("tool",), r"^(?P<text>Successfully installed [^\n]{2,200})$"),
    Pattern("dependencies", ("tool",), r"^(?P<text>added \d+ packages?\b[^\n]{0,120})$"),
    Pattern("dependencies", ("tool",), r"^(?P<text>[ \t]*Adding \S+ v\S+ to [\w-]*dependencies)"),
    Pattern("candidates", ("assistant",), r"\[Memory:\s*(?P<text>[^\]\n]{8,300})\]"),
    Pattern("pool", _SAID, r"\[Note:\s*(?P<text>[^\]\n]{3,300})\]"),
    Pattern("pool", _SAID, r"`(?P<text>(?:[\w.-]+/)+[\w.-]+\.\w{1,8}(?::\d+)?)`"),
)  # fmt: skip


def find_mentions(text: str, speaker: str) -> list[tuple[str, str]]:
    """Pairs of a place and a text for it, in the table's order; `text` is `visible`."""
    if len(text) > 2 * WINDOW:
        # at the ends of lines, so that no word is cut in two
        start, end = text[:WINDOW].rpartition("\n")[0], text[-WINDOW:].partition("\n")[2]
        text = f"{start}\n{end}"
    pairs = [
        (pattern.place, match["text"].strip())
        for pattern in PATTERNS
        if speaker in pattern.speakers
        for match in re.finditer(pattern.expression, text, re.IGNORECASE | re.MULTILINE)
    ]
    # the sentences in which the user chooses something
    for sentence in _SENTENCE.findall(text) if speaker == "user" else ():
        choice = sentence.strip(" \t>*-")
        if _CHOICE.search(choice) and not choice.endswith(("?", "？")):
            pairs.append(("decisions", choice.rstrip(" .!。！")))
    return list(dict.fromkeys(pairs))[:MOST]


# The action of a tool of a host.
TOOLS = {
    "edit": "edit", "multiedit": "edit", "patch": "edit", "apply_patch": "edit", "write": "write",
    "grep": "grep", "read": "read",
}  # fmt: skip
TODO_TOOLS = ("todowrite", "todoread")

_OF_SEARCH = 10  # files of one search that count


def take_result(
    memory: Sections, tool: str, args: Mapping[str, Any], output: str, exit_code: int | None,
    root: str = "",
) -> Error | None:  # fmt: skip
    """Take a tool's result; returns its failure, or None. `output` is `visible` text; paths below
    `root` become relative to it."""
    changes.tick(memory)
    action = TOOLS.get(tool.lower(), "")
    for path in _list_touched(action, args, output):
        if root and os.path.isabs(path):
            path = path.removeprefix(root.rstrip("/") + "/")
        _touch(memory, line(os.path.normpath(path), MAX_PATH), action)
    closed = failures.list_succeeded(tool, args, exit_code)
    memory.errors = [
        each for each in memory.errors if (each.closed_by or each.category) not in closed
    ]
    failed = failures.find_failure(tool, args, output, exit_code)
    if failed:
        changes.open_error(memory, replace(failed, turn=memory.event))
    todos = args.get("todos")
    if tool.lower() in TODO_TOOLS and isinstance(todos, list):
        changes.set_todos(memory, [each for each in todos if isinstance(each, dict)])
    _take_mentions(memory, output, "tool")
    return failed


def take_message(memory: Sections, role: str, text: str) -> None:
    """Take a message of the user or the assistant; `text` is `visible`."""
    changes.tick(memory)
    _take_mentions(memory, text, role)


def _take_mentions(memory: Sections, text: str, speaker: str) -> None:
    for place, mention in find_mentions(text, speaker):
        if place == CANDIDATES:
            changes.propose(memory, type_of(mention), mention)
        else:
            changes.add(memory, place, mention, is_candidate=place == "decisions")


def _touch(memory: Sections, path: str, action: str) -> None:
    old = next((each for each in memory.files if each.path == path), File(path, action, 0, 0))
    best = max(old.action, action, key=lambda name: ACTIONS.get(name, 0))
    files = [each for each in memory.files if each is not old]
    files.append(File(path, best, old.count + 1, memory.event))
    memory.files = sorted(files, key=lambda each: (-each.rank, -each.turn, each.path))
    memory.files = memory.files[: HOLDS[FILES]]
    for at, error in enumerate(memory.errors if action in ("edit", "write") else ()):
        # an error names a file by a path that may be relative to another folder
        if any(
            f"/{path}".endswith(f"/{each}") or each.endswith(f"/{path}") for each in error.files
        ):
            memory.errors[at] = replace(error, status="maybe_fixed")


def _list_touched(action: str, args: Mapping[str, Any], output: str) -> Iterable[str]:
    """The files that a call of a tool is about."""
    if action == "grep":
        named = (path for each in output.split("\n")[:500] for path in failures.paths(each)[:1])
        return tuple(dict.fromkeys(named))[:_OF_SEARCH]
    path = next((args[key] for key in ("filePath", "file_path", "path") if args.get(key)), "")
    patch = args.get("patchText") or args.get("patch")
    if action == "edit" and not path and isinstance(patch, str):
        return re.findall(r"(?m)^(?:\*\*\* (?:Update|Add) File: |\+\+\+ b/)(.+)$", patch)
    return [path] if action and isinstance(path, str) and path else []
