"""Hot state: a session's files, open errors, decisions and candidates for notes. Pure.

It begins empty, is bounded, and holds only text that `cleaning` has cleaned.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from mdmemory.session import failures
from mdmemory.session.cleaning import cut, fits, line
from mdmemory.session.failures import Failure

WINDOW = 20_000  # characters at either end of a long text that are searched
MOST = 12  # mentions in one text


@dataclass(frozen=True, slots=True)
class Pattern:
    """The group `text` of the expression goes to `place`: a slot of working memory, `pool`, or
    `pending` (a candidate for a note). `speakers` are user, assistant, tool."""

    place: str
    speakers: tuple[str, ...]
    expression: str


_SAID = ("user", "assistant")
_OPENS = r"(?:^|(?<=[.!?\]]\s))[ \t>*-]*"
_REST = r"(?:[^.!?\n]|[.!?](?=\S)){2,250}"  # of a sentence
PATTERNS: tuple[Pattern, ...] = (
    Pattern("decision", _SAID, r"\[Decision:\s*(?P<text>[^\]\n]{3,300})\]"),
    Pattern("decision", ("user",), _OPENS + r"(?P<text>(?:(?:we|I)(?:'ve| have)? "
            r"(?:decided|agreed) (?:to|on|that)|let'?s (?:go with|use|switch to|stick with"
            r"|stay with))\b" + _REST + ")"),
    Pattern("decision", ("user",), r"(?:^|[。！？\n])"
            r"(?P<text>我们?(?:决定|選擇|选择)[^。！？\n]{2,120})"),
    Pattern("todo", _SAID, r"\[Todo:\s*(?P<text>[^\]\n]{3,300})\]"),
    Pattern("todo", ("assistant",), _OPENS + r"next step:\s*(?P<text>[^\n]{3,250})"),
    Pattern("dependency", _SAID, r"\[Dependency:\s*(?P<text>[^\]\n]{2,300})\]"),
    Pattern("dependency", ("tool",), r"^(?P<text>Successfully installed [^\n]{2,200})$"),
    Pattern("dependency", ("tool",), r"^(?P<text>added \d+ packages?\b[^\n]{0,120})$"),
    Pattern("dependency", ("tool",), r"^(?P<text>[ \t]*Adding \S+ v\S+ to [\w-]*dependencies)"),
    Pattern("pending", ("assistant",), r"\[Memory:\s*(?P<text>[^\]\n]{8,300})\]"),
    Pattern("pool", _SAID, r"\[Note:\s*(?P<text>[^\]\n]{3,300})\]"),
    Pattern("pool", _SAID, r"`(?P<text>(?:[\w.-]+/)+[\w.-]+\.\w{1,8}(?::\d+)?)`"),
)  # fmt: skip


def mentions(text: str, speaker: str) -> list[tuple[str, str]]:
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
    return list(dict.fromkeys(pairs))[:MOST]


# How much an action says about a file's part in the work. A file keeps its best action.
ACTIONS = {"edit": 50, "write": 45, "grep": 30, "read": 20}
TOOLS = {
    "edit": "edit", "multiedit": "edit", "patch": "edit", "apply_patch": "edit", "write": "write",
    "grep": "grep", "read": "read",
}  # fmt: skip
EACH_USE = 3  # rank = weight + 3 x count

BUDGET = 700  # characters of the snapshot
MAX_LINE = 120  # of one entry there
KEPT = {"files": 20, "errors": 5, "decisions": 8, "pending": 12}
SHOWN = {"files": 8, "errors": 3, "decisions": 8, "pending": 6}
MAX_PATH = 200
MAX_TEXT = 260
_FOUND = 10  # files of one search that count
_HEADING = "Hot session state snapshot (epoch start; conversation history may be newer):"


@dataclass(frozen=True, slots=True)
class File:
    """A file of the work; `turn` is the event of its last use."""

    path: str
    action: str
    count: int
    turn: int

    @property
    def rank(self) -> int:
        """The sort key; the highest comes first."""
        return ACTIONS.get(self.action, 0) + EACH_USE * self.count


@dataclass(frozen=True, slots=True)
class Error:
    """An open error; `status` is open, or maybe_fixed after an edit of a file that it names."""

    category: str
    summary: str
    fingerprint: str
    source: str
    files: list[str]
    status: str
    turn: int


@dataclass(frozen=True, slots=True)
class SessionFact:
    """A candidate for a note; `type` is decision, project... as in a summary's section."""

    type: str
    text: str


@dataclass
class Hot:
    """The hot state; `turn` counts the session's events."""

    turn: int = 0
    files: list[File] = field(default_factory=list)
    errors: list[Error] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)
    pending: list[SessionFact] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """The state as a JSON object."""
        return asdict(self)


def hot_of(document: Mapping[str, Any] | None) -> Hot:
    """The state in a document; an empty state for a document of another form."""
    try:
        parts = dict(document or {})
        return Hot(
            int(parts.get("turn", 0)),
            [File(**each) for each in parts.get("files", ())],
            [Error(**each) for each in parts.get("errors", ())],
            [str(each) for each in parts.get("decisions", ())],
            [SessionFact(**each) for each in parts.get("pending", ())],
        )
    except (TypeError, ValueError, AttributeError):
        return Hot()


# --- what happens ------------------------------------------------------------------------------


def record(
    hot: Hot, tool: str, args: Mapping[str, Any], output: str, exit_code: int | None,
    root: str = "",
) -> Failure | None:  # fmt: skip
    """Record a tool's result; returns its failure, or None. `output` is `visible` text; paths below
    `root` become relative to it."""
    hot.turn += 1
    action = TOOLS.get(tool.lower(), "")
    for path in _touched(action, args, output):
        _touch(hot, _shown(path, root), action)
    for category in failures.succeeded(tool, args, exit_code):
        hot.errors = [each for each in hot.errors if each.category != category]
    failed = failures.failure(tool, args, output, exit_code)
    if failed:
        _open(hot, failed)
    return failed


def decide(hot: Hot, text: str) -> None:
    """Record a decision, as one line."""
    text = line(text, MAX_TEXT)
    if text:
        hot.decisions = [*(each for each in hot.decisions if each != text), text]
        hot.decisions = hot.decisions[-KEPT["decisions"] :]


def propose(hot: Hot, type: str, text: str) -> None:
    """Record a candidate for a note."""
    new = SessionFact(type, line(text, MAX_TEXT))
    if new.text:
        hot.pending = [*(each for each in hot.pending if each != new), new][-KEPT["pending"] :]


def _touch(hot: Hot, path: str, action: str) -> None:
    old = next((each for each in hot.files if each.path == path), File(path, action, 0, 0))
    best = max(old.action, action, key=lambda name: ACTIONS.get(name, 0))
    files = [each for each in hot.files if each is not old]
    files.append(File(path, best, old.count + 1, hot.turn))
    hot.files = sorted(files, key=_order)[: KEPT["files"]]
    if action in ("edit", "write"):
        hot.errors = [
            replace(each, status="maybe_fixed") if _names(each, path) else each
            for each in hot.errors
        ]


def _open(hot: Hot, failed: Failure) -> None:
    error = Error(
        failed.category, failed.summary, failed.fingerprint, failed.source,
        [line(path, MAX_PATH) for path in failed.files], "open", hot.turn,
    )  # fmt: skip
    others = [
        each
        for each in hot.errors
        if each.category != error.category
        or (each.fingerprint != error.fingerprint and each.source != error.source)
    ]
    hot.errors = [*others, error][-KEPT["errors"] :]


def _touched(action: str, args: Mapping[str, Any], output: str) -> Iterable[str]:
    """The files that a call of a tool is about."""
    if action == "grep":
        named = (path for each in output.split("\n")[:500] for path in failures.paths(each)[:1])
        return tuple(dict.fromkeys(named))[:_FOUND]
    path = next((args[key] for key in ("filePath", "file_path", "path") if args.get(key)), "")
    patch = args.get("patchText") or args.get("patch")
    if action == "edit" and not path and isinstance(patch, str):
        return re.findall(r"(?m)^(?:\*\*\* (?:Update|Add) File: |\+\+\+ b/)(.+)$", patch)
    return [path] if action and isinstance(path, str) and path else []


def _shown(path: str, root: str) -> str:
    if root and os.path.isabs(path) and path.startswith(root.rstrip("/") + "/"):
        path = path[len(root.rstrip("/")) + 1 :]
    return line(os.path.normpath(path), MAX_PATH)


def _names(error: Error, path: str) -> bool:
    """Whether an error names a file, by a path that may be relative to another folder."""
    return any(
        path == each or path.endswith(f"/{each}") or each.endswith(f"/{path}")
        for each in error.files
    )


def _order(file: File) -> tuple[int, int, str]:
    return (-file.rank, -file.turn, file.path)


# --- what is shown -----------------------------------------------------------------------------


def snapshot(hot: Hot, budget: int = BUDGET) -> str:
    """The state as text of at most `budget` characters, "" for an empty state.

    Lines that do not fit are skipped; each section has its own limit of lines.
    """
    sections = {
        "active_files": [f"{each.path} ({each.action}, {each.count}x)" for each in hot.files],
        "open_errors": [_error(each) for each in reversed(hot.errors)],
        "recent_decisions": list(reversed(hot.decisions)),
        "pending_memories": [f"[{each.type}] {each.text}" for each in reversed(hot.pending)],
    }
    lines = [_HEADING]
    for (title, entries), most in zip(sections.items(), SHOWN.values(), strict=True):
        left = budget - sum(len(each) + 1 for each in lines) - len(title) - 2
        some = fits([f"- {cut(each, MAX_LINE)}" for each in entries[:most]], left)
        lines += [f"{title}:", *some] if some else []
    return "\n".join(lines) if len(lines) > 1 else ""


def _error(error: Error) -> str:
    mark = f"{error.category}, maybe fixed" if error.status == "maybe_fixed" else error.category
    return f"[{mark}] {error.summary}"
