"""The bar for what a model proposes: what is no lasting fact is turned down, with the reasons.

Pure and deterministic. What a person asked for, or wrote, does not pass through here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from mdmemory.capture import gate_words as words
from mdmemory.capture.triggers import weight

FLOOR = 20  # letters; a Chinese, Japanese or Korean character counts as three
JUDGED = 4_000  # characters of a text; a fact takes a sentence or two
FLOORS = {"user": 12, "feedback": 15}  # "Is vegetarian" is a fact, 不要跳过测试 a rule
TRUSTED = ("explicit", "manual")
SOFT = ("restated", "bad_feedback", "bad_decision", "dangling")
# A reason that is given may tell what happened: "Why: the tests failed twice".
OF_THE_CLAIM = ("task", "progress", "event", "measured", "temporary")


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
    fact = _without_frame(" ".join(text[:JUDGED].split()), type)
    claim = _pattern(words.REASON).sub("", fact).strip() or fact
    found = tuple(
        code
        for code, speaks_against in REASONS.items()
        if speaks_against(fact, type)
        and (code not in OF_THE_CLAIM or claim == fact or speaks_against(claim, type))
    )
    forgiven = set(found) <= set(SOFT) and _says(words.WHY, fact)
    return Verdict(not found or forgiven, found)


def _without_frame(fact: str, type: str) -> str:
    """What the user said, or what the assistant should do, without the words that say so."""
    said = _pattern(words.SAID).sub("", fact)
    if said != fact:
        said = _pattern(r"^(?:they|he|she)\b").sub("The user", said)
    if type == "feedback":
        said = _pattern(words.DUTY).sub("", said)
    return said or fact


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


def _too_short(fact: str, type: str) -> bool:
    said = re.sub(r"\[redacted:\w+\]|\W", " ", fact)
    pointer = type == "reference" and _says(_POINTER, fact)
    return not pointer and weight(" ".join(said.split())) < FLOORS.get(type, FLOOR)


def _git_hash(fact: str, _: str) -> bool:
    return _says(_GIT, fact) and not _says(r"\b(?:pinned|pin|frozen|forked|vendored)\b", fact)


def _raw_error(fact: str, _: str) -> bool:
    """An error as it was printed; what one means, or has to be, is a fact."""
    return _says(_ERROR, fact) or (_says(_ERROR_WITHIN, fact) and not _says(words.LAW, fact))


def _path_heavy(fact: str, _: str) -> bool:
    """More than half of the words are paths; two CJK characters count as a word."""
    said = re.findall(rf"[{_CJK}]{{1,2}}|[^\s{_CJK}]+", fact)
    said = [word for word in said if re.search(r"\w", word) and "://" not in word]
    paths = sum(_is_path(word) for word in said)
    return len(said) > 1 and 2 * paths > len(said)


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


def _question(fact: str, type: str) -> bool:
    # "Is the author of ..." says something of the user
    of_user = type == "user" and not _says(r"[?？]|吗", fact) and _says(r"^(?:is|was) ", fact)
    return (not of_user and _says(words.ASKS, fact)) or _says(words.WONDERS, fact)


def _task(fact: str, type: str) -> bool:
    if (_order(fact, type) or _wish(fact, type)) and not _says(words.EACH_TIME, fact):
        return True
    some_day = _says(words.PERHAPS, fact) or (
        _says(words.PLANNED, fact) and (type != "user" or _says(words.WORK, fact))
    )
    return (some_day and not _says(words.DATED, fact)) or _says(words.TO_DO, fact)


def _order(fact: str, type: str) -> bool:
    """In feedback an order is a rule, but for what was to be done there and then."""
    if type == "feedback":
        return _says(words.AT_ONCE, fact)
    return (_says(words.ORDER, fact) or _says(words.ONCE, fact)) and not _says(words.HOW, fact)


def _wish(fact: str, type: str) -> bool:
    if type == "project":
        return _says(words.WANTS, fact) or _says(words.WISHED_CJK, fact)
    return _says(words.WANTS, fact) and _says(words.WORK, fact) and not _says(words.RULE, fact)


def _progress(fact: str, type: str) -> bool:
    if _says(words.FORBIDS, fact):
        return False
    of_user = _says(words.USER_DID, fact) and type not in ("user", "feedback")
    if of_user or _says(words.PROGRESS, fact):
        return not _says(words.CAME_TO, fact)
    if _says(words.PROGRESS_UNLESS_RULE, fact) and not _says(words.LAW, fact):
        return True
    report = _says(words.LABELLED, fact) or (
        type != "feedback" and _says(words.REPORT, fact) and not _says(words.RULE, fact)
    )
    state = report or (_says(words.STATE, fact) and not _says(words.IF_SO, fact))
    return state and not _says(words.DATED, fact)


def _event(fact: str, type: str) -> bool:
    """Something that happened, and neither decided anything nor says how things are."""
    if type == "reference" or _says(words.YEAR, fact) or _says(words.CAME_TO, fact):
        return False
    # a life is told in the past tense, and so is what a preference was seen by
    if type == "user" or (type == "feedback" and _says(words.OF_THE_USER, fact)):
        return _says(words.IN_SESSION, fact)
    told = _says(words.HAPPENED, fact) or (fact.isascii() and _says(words.DID, fact))
    if told and not _says(words.PRESENT, fact) and not _says(words.LASTS, fact):
        return True
    return (
        not fact.isascii() and _says(words.HAPPENED_CJK, fact) and not _says(words.LASTS_CJK, fact)
    )


def _measured(fact: str, type: str) -> bool:
    return (
        type != "user"
        and _says(words.MEASURED, fact)
        and not (_says(words.BOUND, fact) or _says(words.DATED, fact))
    )


def _restated(fact: str, type: str) -> bool:
    """What a piece of code does, without a rule about it."""
    rule = _says(words.RULE, fact) or _says(words.EACH_TIME, fact)
    told = _says(words.HANDBOOK, fact) or (
        _says(words.RESTATED, fact) and not _says(words.OUTSIDE, fact)
    )
    return type == "project" and not rule and told


def _dangling(fact: str, type: str) -> bool:
    here = type != "reference" and _says(words.HERE, fact) and not _says(words.EACH_TIME, fact)
    return here or _says(words.DANGLING, fact)


def _temporary(fact: str, _: str) -> bool:
    return _says(words.FOR_NOW, fact) and not _says(words.DATED, fact)


def _bad_feedback(fact: str, type: str) -> bool:
    """Praise, a mood or good advice that comes with no rule."""
    if type != "feedback":
        return False
    advice = _says(words.PLATITUDE, fact) and not _says(words.PARTICULAR, fact)
    return advice or (_says(words.MOOD, fact) and not _says(words.RULE, fact))


def _bad_decision(fact: str, type: str) -> bool:
    """A decision that does not say what was chosen."""
    decided = type == "project" and _says(words.DECIDED, fact)
    return decided and _says(words.NO_CHOICE, fact)


def _when(expression: str) -> Callable[[str, str], bool]:
    return lambda fact, _: _says(expression, fact)


REASONS: dict[str, Callable[[str, str], bool]] = {
    "too_short": _too_short,
    "git_hash": _git_hash,
    "raw_error": _raw_error,
    "stack_trace": _when(_STACK),
    "path_heavy": _path_heavy,
    "command_line": _command_line,
    "code": _code,
    "question": _question,
    "task": _task,
    "progress": _progress,
    "event": _event,
    "measured": _measured,
    "restated": _restated,
    "courtesy": _when(words.COURTESY),
    "self_talk": _when(words.SELF_TALK),
    "injection": _when(words.INJECTION),
    "temporary": _temporary,
    "bad_feedback": _bad_feedback,
    "bad_decision": _bad_decision,
    "dangling": _dangling,
}
