"""The bar for what a model proposes: what is no lasting fact is turned down, with the reasons.

Pure and deterministic. What a person asked for, or wrote, does not pass through here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from mdmemory.capture import wordings
from mdmemory.capture.triggers import weight

FLOOR = 20  # letters; a Chinese, Japanese or Korean character counts as three
FLOOR_OF_USER = 12  # "Is vegetarian" is a fact
TRUSTED = ("explicit", "manual")
SOFT = ("bad_feedback", "bad_decision", "dangling")
# A reason that is given may tell what happened: "Why: the tests failed twice".
OF_THE_CLAIM = ("task", "progress", "temporary")


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reasons` are codes in the order of `REASONS`; () when nothing speaks against the text."""

    accepted: bool
    reasons: tuple[str, ...] = ()


def judge(text: str, *, type: str, source: str) -> Verdict:
    """Whether a fact may become a note. `source` explicit and manual pass whatever they say.

    The text is redacted already; `type` is one of the four. Soft reasons are told, and forgiven
    where the fact says why.
    """
    if source in TRUSTED:
        return Verdict(True)
    fact = " ".join(text.split())
    claim = re.split(r"\bWhy:|原因[：:]", fact, maxsplit=1)[0].strip() or fact
    found = tuple(
        code
        for code, speaks_against in REASONS.items()
        if speaks_against(claim if code in OF_THE_CLAIM else fact, type)
    )
    forgiven = set(found) <= set(SOFT) and _says(wordings.WHY, fact)
    return Verdict(not found or forgiven, found)


@cache
def _pattern(expression: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    return re.compile(expression, flags)


def _says(expression: str, fact: str) -> bool:
    return _pattern(expression).search(fact) is not None


# --- form: what machines print ---------------------------------------------------------------

_CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
# A pointer, or a parameter set such as "scrypt n=16384 r=8 p=1", says enough in few letters.
_POINTER = r"https?://\S{4}|\b(?:pin|scrypt|[nrp]=\d)"
# A hash with its subject, a sentence about nothing but a commit, or what git prints.
_GIT = (
    r"^(?:commit |merge )?`?(?=[0-9a-f]*\d)[0-9a-f]{7,40}`?(?:$|[\s:]+)"
    r"|\bcommit `?(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b|^HEAD (?:detached|is)\b|\bfiles? changed, \d+"
    r"|^On branch \w|^Your branch is\b|nothing to commit"
    r"|^Merge (?:remote-tracking )?(?:branch|pull request)\b|^Revert \""
)
_ERROR = (
    r"^\W{0,3}(?:(?:uncaught|unhandled) )?(?:[\w.]{0,60}(?:Error|Exception|Warning)|error|fatal"
    r"|panic|warning|failed|failure|segmentation fault|npm ERR!|E[A-Z]{4,12})(?:\[\w+\])?(?:!|:"
    r"| -| ?\()|^npm ERR!|\bE(?:NOENT|ACCES|ADDRINUSE|CONNREFUSED|PERM|EXIST|LIFECYCLE|PIPE)\b"
    r"|^make: \*\*\*"
    r"|^(?:the )?(?:build|lint|tests?|pipeline|compilation|deployment|job|ci) failed\b"
    r"|\bexit(?:ed)?(?: with)?(?: code| status)? [1-9]\d{0,2}\b"
    r"|^\W{0,2}\d{3} (?:Internal|Not Found)"
)
_STACK = (
    r"Traceback \(most recent|\bat [\w.$<>]+ ?\([^()]*:\d+(?::\d+)?\)"
    r"|\bat [\w.$]+\(\w+\.\w+:\d+\)|File \"[^\"]+\", line \d+|thread '.*' panicked"
    r"|goroutine \d+ \[|^\W*(?:#\d+ )?0x[0-9a-f]+ in |\bat \S+\.\w{1,4}:\d+$"
)
_PATH = (
    r"(?:~|\.{1,2})?/?(?:[\w@.+-]+/)+[\w@.+-]*|/[\w@.+-]{2,}|[A-Za-z]:\\\S+"
    r"|[\w-]+\.(?:py|tsx?|jsx?|go|rs|java|rb|c|h|cpp|md|json|ya?ml|toml|css|html|sql|sh|txt|lock)"
)
_PROGRAMS = (
    "git|npm|npx|pnpm|yarn|pip|pipx|uv|poetry|python3?|node|deno|bun|cargo|go|make|docker"
    "|kubectl|helm|terraform|curl|wget|ssh|scp|rsync|cd|ls|rm|cp|mv|cat|grep|find|sed|awk|chmod"
    "|sudo|apt|apt-get|brew|pytest|ruff|mypy|eslint|tsc|psql|mysql|redis-cli|systemctl|export"
    "|source"
)
_SHELL = r"^[$#%>] \w|^sudo \S|^#\d+ \[|^(?:for|while|if) .*; ?(?:do|then)\b"
_COMMAND = rf"(?:\w+=\S+ )*(?:{_PROGRAMS}) [\w./~'\"-]"
_PASTED = (
    r" --?[a-z]|&&|\|| > |[/~]\w|=="
    r"|^\S+ (?:install|run|build|up|push|pull|add|commit|restart|start|stop|status|checkout"
    r"|clone|test|exec|apply)\b"
)
_SENTENCE = " (?:is|are|must|should|never|always|because|when|for|the|in) "
_STATEMENT = (
    r"\s*(?:(?:const|let|var) \w+ ?=|(?:async )?(?:def|function|func|fn|class) \w+ ?[(:{<]"
    r"|import [\w{*].* from ['\"]|from [\w.]+ import |#include|package \w+;"
    "|public (?:static|class) |SELECT .{1,200} FROM "
    r"|(?:INSERT INTO|UPDATE \w+ SET|CREATE TABLE|ALTER TABLE) |<\w+(?: [\w-]+=|>).*</"
    r"|return [\w.(]+;|if ?\(.*\) ?\{|\w+\(.*\);?\s*$|[\w.]+ [+-]?= .*[)\]}\"';]\s*$"
    r"|(?:\+\+\+|---|@@|diff --git) |@[\w.]+\s*(?:\(|def )|[\w.#: >-]+ \{ ?[\w-]+: [^{}]*\}$)"
    r"|\s*[\[{]\s*(?:\"[^\"]*\"\s*[:,]|\]|\}).*[\]}]\s*$"
)

def _too_short(fact: str, type: str) -> bool:
    said = re.sub(r"\[redacted:\w+\]|\W", " ", fact)
    pointer = type == "reference" and _says(_POINTER, fact)
    floor = FLOOR_OF_USER if type == "user" else FLOOR
    return not pointer and weight(" ".join(said.split())) < floor


def _path_heavy(fact: str, _: str) -> bool:
    """More than half of the words are paths; two CJK characters count as a word."""
    words = re.findall(rf"[{_CJK}]{{1,2}}|[^\s{_CJK}]+", fact)
    words = [word for word in words if re.search(r"\w", word) and "://" not in word]
    paths = sum(_is_path(word) for word in words)
    return len(words) > 1 and 2 * paths > len(words)


def _is_path(word: str) -> bool:
    bare = re.sub(r"(?::\d+)*[,;:.)`\"']*$", "", word.strip("(`\"'"))
    return _pattern(_PATH, 0).fullmatch(bare) is not None


def _command_line(fact: str, _: str) -> bool:
    """A whole text that one could paste into a shell."""
    if _says(_SHELL, fact):
        return True
    command = _pattern(_COMMAND, 0).match(fact) and _says(_PASTED, fact)
    return bool(command) and not _says(_SENTENCE, fact)


def _code(fact: str, _: str) -> bool:
    """A statement of a language, or text that is mostly in a fence."""
    fenced = sum(map(len, re.findall(r"```.*?(?:```|\Z)", fact)))
    return fenced * 2 > len(fact) or _pattern(_STATEMENT, 0).match(fact) is not None


# --- meaning: what will not be true, or of use, next month -----------------------------------


def _task(fact: str, type: str) -> bool:
    order = type != "feedback" and _says(wordings.ORDER, fact)
    return (order and not _says(wordings.EACH_TIME, fact)) or _says(wordings.TO_DO, fact)


def _temporary(fact: str, _: str) -> bool:
    return _says(wordings.FOR_NOW, fact) and not _says(wordings.DATED, fact)


def _bad_feedback(fact: str, type: str) -> bool:
    """Praise or a mood that comes with no rule."""
    mood = type == "feedback" and _says(wordings.MOOD, fact)
    return mood and not _says(wordings.RULE, fact)


def _bad_decision(fact: str, type: str) -> bool:
    """A decision that does not say what was chosen."""
    decided = type == "project" and _says(wordings.DECIDED, fact)
    return decided and _says(wordings.NO_CHOICE, fact)


def _when(expression: str) -> Callable[[str, str], bool]:
    return lambda fact, _: _says(expression, fact)


REASONS: dict[str, Callable[[str, str], bool]] = {
    "too_short": _too_short,
    "git_hash": _when(_GIT),
    "raw_error": _when(_ERROR),
    "stack_trace": _when(_STACK),
    "path_heavy": _path_heavy,
    "command_line": _command_line,
    "code": _code,
    "question": _when(wordings.ASKS),
    "task": _task,
    "progress": _when(wordings.PROGRESS),
    "self_talk": _when(wordings.SELF_TALK),
    "injection": _when(wordings.INJECTION),
    "temporary": _temporary,
    "bad_feedback": _bad_feedback,
    "bad_decision": _bad_decision,
    "dangling": _when(wordings.DANGLING),
}
