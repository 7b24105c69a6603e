"""The form of a fact: what machines print, what only asks, and what reads like an order to an
assistant is turned down.

Pure and deterministic. What a person asked for, or wrote, does not pass through here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from mdmemory.capture.notice import FLOOR, weight
from mdmemory.text.orders import is_order
from mdmemory.text.words import CJK

JUDGED = 4_000  # characters of a text; a fact takes a sentence or two


def form(text: str) -> tuple[str, ...]:
    """The reasons for which a text has not the form of a fact, whatever it may mean. The text is
    redacted already."""
    fact = " ".join(text[:JUDGED].split())
    return tuple(code for code, rule in REASONS.items() if rule(fact))


def _says(expression: str, fact: str) -> bool:
    return _pattern(expression).search(fact) is not None


@cache
def _pattern(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE)


@cache
def _cased(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


# --- form: what machines print

# A pointer, or a parameter set such as "scrypt n=16384 r=8 p=1", says enough in few letters.
# A hash with its subject, a sentence about nothing but a commit, or what git prints.
_GIT = (
    r"^(?:commit |merge )?`?(?=[0-9a-f]*\d)[0-9a-f]{7,40}`?(?:$|[\s:]+)"
    r"|\bcommit `?(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b|^HEAD (?:detached|is)\b|\bfiles? changed, \d+"
    r"|^On branch \w|^Your branch is\b|nothing to commit"
    r"|^Merge (?:remote-tracking )?(?:branch|pull request)\b|^Revert \""
)
_ERROR = (
    r"^\W{0,3}(?:(?:uncaught|unhandled) )?(?:[\w.]{0,60}(?:Error|Exception|Warning)|error|fatal"
    r"|panic|warning|failed|failure|segmentation fault|npm ERR!|(?-i:E[A-Z]{4,12}))"
    r"(?:\[\w+\])?(?:!|:| -| ?\()|^npm ERR!|^make: \*\*\*"
    r"|^(?:the )?(?:build|lint|tests?|pipeline|compilation|deployment|job|ci) failed\b"
    r"|^\W{0,2}\d{3} (?:Internal|Not Found)"
    r"|^(?:permission|access) denied\b|^connection (?:refused|reset)\b|^no such file\b"
    r"|^cannot find module\b"
)
_ERROR_WITHIN = (
    r"\bE(?:NOENT|ACCES|ADDRINUSE|CONNREFUSED|PERM|EXIST|LIFECYCLE|PIPE)\b"
    r"|\bexit(?:ed)?(?: with)?(?: code| status)? [1-9]\d{0,2}\b"
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
_SENTENCE = (
    " (?:is|are|must|should|never|always|because|when|for|the|in|needs?|requires?|takes?|fails?"
    "|runs?|does|uses?|writes|reads|has|have|works?|means|cannot|can|may|only|without|before|after"
    ") "
)
_STATEMENT = (
    r"\s*(?:(?:const|let|var) \w+ ?=|(?:async )?(?:def|function|func|fn|class) \w+ ?[(:{<]"
    r"|import [\w{*].* from ['\"]|from [\w.]+ import |#include|package \w+;"
    "|public (?:static|class) |SELECT .{1,200} FROM "
    r"|(?:INSERT INTO|UPDATE \w+ SET|CREATE TABLE|ALTER TABLE) |<\w+(?: [\w-]+=|>).*</"
    r"|return [\w.(]+;|if ?\(.*\) ?\{|\w+\(.*\);?\s*$|[\w.]+ [+-]?= .*[)\]}\"';]\s*$"
    r"|(?:\+\+\+|---|@@|diff --git) |@[\w.]+\s*(?:\(|def )"
    r"|[\w.#:>-]+(?: [>.#][\w.#:-]*)* \{ ?[\w-]+: [^{}]*\}$)"
    r"|\s*[\[{]\s*(?:\"[^\"]*\"\s*[:,]|\]|\}).*[\]}]\s*$"
)


def _too_short(fact: str) -> bool:
    return weight(re.sub(r"\[redacted:\w+\]", " ", fact)) < FLOOR


def _git_hash(fact: str) -> bool:
    return _says(_GIT, fact) and not _says(r"\b(?:pinned|pin|frozen|forked|vendored)\b", fact)


def _raw_error(fact: str) -> bool:
    return _says(_ERROR, fact) or _says(_ERROR_WITHIN, fact)


def _path_heavy(fact: str) -> bool:
    """More than half of the words are paths; two CJK characters count as a word."""
    said = re.findall(rf"[{CJK}]{{1,2}}|[^\s{CJK}]+", fact)
    said = [word for word in said if re.search(r"\w", word) and "://" not in word]
    paths = sum(_is_path(word) for word in said)
    return len(said) > 1 and 2 * paths > len(said)


def _is_path(word: str) -> bool:
    bare = re.sub(r"(?::\d+)*[,;:.)`\"']*$", "", word.strip("(`\"'"))
    return _cased(_PATH).fullmatch(bare) is not None


def _command_line(fact: str) -> bool:
    """A whole text that one could paste into a shell."""
    if _says(_SHELL, fact):
        return True
    command = _cased(_COMMAND).match(fact) and _says(_PASTED, fact)
    return bool(command) and not _says(_SENTENCE, fact)


def _code(fact: str) -> bool:
    """A statement of a language, or text that is mostly in a fence."""
    fenced = sum(map(len, re.findall(r"```.*?(?:```|\Z)", fact)))
    return fenced * 2 > len(fact) or _cased(_STATEMENT).match(fact) is not None


# --- what asks, and what orders


def _question(fact: str) -> bool:
    return fact.rstrip("\"'”’)] ").endswith(("?", "？"))


def _injection(fact: str) -> bool:
    return is_order(fact)


def _when(expression: str) -> Callable[[str], bool]:
    return lambda fact: _says(expression, fact)


REASONS: dict[str, Callable[[str], bool]] = {
    "too_short": _too_short,
    "git_hash": _git_hash,
    "raw_error": _raw_error,
    "stack_trace": _when(_STACK),
    "path_heavy": _path_heavy,
    "command_line": _command_line,
    "code": _code,
    "question": _question,
    "injection": _injection,
}
