"""How the memory of a session changes: by hand, by the results of a host's tools, and by messages.

Files become active by what is done to them. Errors open with a failure and close with a success of
their category. Pure; all text passes `cleaning`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from mdmemory.errors import NotFound, UsageError
from mdmemory.session import failures, sections
from mdmemory.session.cleaning import clean, cut, line, visible
from mdmemory.session.failures import CATEGORIES, MAX_PATH, SUMMARY
from mdmemory.session.sections import BLOCKS, ERRORS, POOL, SLOTS, Error, File, Item, Sections

_NAMED = 60  # characters that the warning repeats of a lost end


# --- blocks


def write(memory: Sections, block: str, text: str, *, append: bool = False) -> str:
    """Replace a block by `text`, or append it as a line; a text too long loses its end.

    Returns a warning that quotes the lost end, "" when the text fits.
    """
    text = clean(visible(text)).strip()
    before = memory.blocks.pop(block, "")
    if append:
        text = f"{before}\n{text}".strip()
    fit = text[: BLOCKS[block]].rstrip()
    if fit:
        memory.blocks[block] = fit
    lost = text[len(fit) :].strip()
    warning = (
        f"{block} holds {BLOCKS[block]} characters: the last {len(lost)} were cut off, from "
        f"{cut(' '.join(lost.split()), _NAMED)!r} on. Shorten the block and replace it."
    )
    return warning if lost else ""


# --- lists


def tick(memory: Sections) -> None:
    """Count an event: what was mentioned too long ago leaves the pool."""
    memory.event += 1
    since, pool = memory.event - sections.LASTS, memory.slots.pop(POOL, [])
    if left := [each for each in pool if each.at >= since]:
        memory.slots[POOL] = left


def add(memory: Sections, section: str, text: str, *, is_candidate: bool = False) -> str:
    """Put a text into a slot, or note it as an error; returns its id, "" for an empty text. The
    same text again moves to the end; a full list loses its oldest entry.

    Raises UsageError for a section to which nothing can be added by hand.
    """
    if section not in SLOTS and section != ERRORS:
        lists = ", ".join((*BLOCKS, ERRORS, *SLOTS))
        raise UsageError(f"Nothing can be added to {section[:40]!r}.", f"Add to one of: {lists}.")
    text = line(visible(text), SLOTS[section].longest if section in SLOTS else SUMMARY)
    if not text:
        return ""
    if section == ERRORS:
        category, _, rest = text.partition(": ")
        if not rest or category not in {each.name for each in CATEGORIES}:
            category, rest = sections.NOTED, text
        if not any(sections.is_same(each.summary, rest) for each in memory.errors):
            mark = sections.fingerprint(rest)
            open_error(memory, sections.Error(category, rest, mark, mark, [], "open", memory.event))
        text = rest
    else:
        items = memory.slots.get(section, ())
        same = [each for each in items if sections.is_same(each.text, text)]
        others = [each for each in items if each not in same]
        # the longer wording says more, and is the user's own where the assistant repeated it
        text = max((text, *(each.text for each in same)), key=len)
        is_candidate = is_candidate or any(each.is_candidate for each in same)
        item = Item(text, memory.event, is_candidate=is_candidate)
        memory.slots[section] = [*others, item][-SLOTS[section].holds :]
    return sections.SessionEntry(section, text, text).id


def open_error(memory: Sections, error: sections.Error) -> None:
    """Add an error: it replaces the last one of its command, and the same one noted by hand."""
    others = [each for each in memory.errors if not sections.is_same(each.summary, error.summary)]
    whose = (error.category, error.source)
    others = [each for each in others if (each.category, each.source) != whose]
    memory.errors = [*others, error][-sections.HOLDS[ERRORS] :]


def set_todos(memory: Sections, todos: Iterable[Mapping[str, Any]]) -> None:
    """Show the host's own list (`content`, `status` of each) as todos: tasks under way first, then
    pending ones."""
    rank = {"in_progress": 0, "pending": 1}
    open_ones = [each for each in todos if each.get("status", "pending") in rank]
    open_ones.sort(key=lambda each: rank[each.get("status", "pending")])
    memory.slots.pop("todos", None)
    # the newest is the last of a slot, and shown first
    for each in reversed(open_ones[: SLOTS["todos"].holds]):
        add(memory, "todos", str(each.get("content", "")))


def clear(memory: Sections, section: str) -> int:
    """Empty a section; returns how many entries it had, of a block how many lines. Raises
    UsageError."""
    if section not in sections.names():
        raise UsageError(
            f"There is no section {section[:40]!r}.", f"Use: {', '.join(sections.names())}."
        )
    if section in BLOCKS:
        return len(memory.blocks.pop(section, "").splitlines())
    if section in SLOTS:
        return len(memory.slots.pop(section, ()))
    count = len(getattr(memory, section))
    setattr(memory, section, [])
    return count


def remove(memory: Sections, section: str, text: str) -> str:
    """Remove the entry with this id or text, or the only one that holds the text, from a section,
    or from any list for ""; of a block one line. Returns it. Raises NotFound."""
    wanted = " ".join(text.split())
    if section in BLOCKS:
        lines = memory.blocks.get(section, "").splitlines()
        at = _place(lines, wanted, section)
        write(memory, section, "\n".join(lines[:at] + lines[at + 1 :]))
        return lines[at]
    rows = [each for each in sections.entries(memory) if section in ("", each.section)]
    by_id = [each for each in rows if each.id == wanted]
    gone = by_id[0] if by_id else rows[_place([each.text for each in rows], wanted, section)]
    named = {ERRORS: "summary", sections.FILES: "path"}.get(gone.section, "text")
    items = memory.slots.get(gone.section) or getattr(memory, gone.section)
    items[:] = [each for each in items if getattr(each, named) != gone.text]
    return gone.text


def _place(texts: list[str], wanted: str, section: str) -> int:
    """Where the text is that is meant."""
    mark, shown = sections.key(wanted), cut(wanted, 40)
    same = [at for at, each in enumerate(texts) if sections.key(each) == mark]
    inside = [at for at, each in enumerate(texts) if mark and mark in each.casefold()]
    if same or len(inside) == 1:
        return (same or inside)[0]
    if inside:
        raise NotFound(f"{len(inside)} entries hold {shown!r}.", "Name more of its words.")
    where = section or "The session's memory"
    raise NotFound(f"{where} has no entry {shown!r}.", "Name it by its words.")


# --- what the results of tools and the messages of a session say

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
    tick(memory)
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
        open_error(memory, replace(failed, turn=memory.event))
    todos = args.get("todos")
    if tool.lower() in TODO_TOOLS and isinstance(todos, list):
        set_todos(memory, [each for each in todos if isinstance(each, dict)])
    take_mentions(memory, output, "tool")
    return failed


def take_mentions(memory: Sections, text: str, speaker: str) -> None:
    """Take what a text of the user, the assistant or a tool says; it is `visible`."""
    for place, mention in find_mentions(text, speaker):
        add(memory, place, mention, is_candidate=place in ("decisions", sections.CANDIDATES))


def _touch(memory: Sections, path: str, action: str) -> None:
    old = next((each for each in memory.files if each.path == path), File(path, action, 0, 0))
    best = max(old.action, action, key=lambda name: sections.ACTIONS.get(name, 0))
    files = [each for each in memory.files if each is not old]
    files.append(File(path, best, old.count + 1, memory.event))
    memory.files = sorted(files, key=lambda each: (-each.rank, -each.turn, each.path))
    memory.files = memory.files[: sections.HOLDS[sections.FILES]]
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
