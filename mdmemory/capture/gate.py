"""The bar for what a model proposes: what is no lasting fact is turned down, with the reasons.

Pure and deterministic. What a person asked for, or wrote, does not pass through here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from mdmemory.capture.triggers import weight
from mdmemory.text import wordlists
from mdmemory.text.words import CJK

FLOOR = 20  # letters; a Chinese, Japanese or Korean character counts as three
JUDGED = 4_000  # characters of a text; a fact takes a sentence or two
FLOORS = {"user": 12, "feedback": 15}  # "Is vegetarian" is a fact, 不要跳过测试 a rule
TRUSTED = ("explicit", "manual")
SOFT = ("restated", "bad_feedback", "bad_decision", "dangling")
# A reason that is given may tell what happened: "Why: the tests failed twice".
OF_THE_CLAIM = ("task", "progress", "event", "measured", "temporary")


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """`reasons` are codes in the order of `REASONS`; () when nothing speaks against the text."""

    accepted: bool
    reasons: tuple[str, ...] = ()


def judge(text: str, *, type: str, source: str) -> GateVerdict:
    """Whether a fact may become a note. `source` explicit and manual pass whatever they say.

    The text is redacted already; `type` is one of the four. Soft reasons are told, and forgiven
    where the fact says why.
    """
    if source in TRUSTED:
        return GateVerdict(True)
    fact = _without_frame(" ".join(text[:JUDGED].split()), type)
    claim = wordlists.pattern("{gate.reason}", fact).sub("", fact).strip() or fact
    found = tuple(
        code
        for code, speaks_against in REASONS.items()
        if speaks_against(fact, type)
        and (code not in OF_THE_CLAIM or claim == fact or speaks_against(claim, type))
    )
    forgiven = set(found) <= set(SOFT) and _says("{gate.why}", fact)
    return GateVerdict(not found or forgiven, found)


def _without_frame(fact: str, type: str) -> str:
    """The fact without a frame such as "The user said that" or "The assistant should"."""
    said = wordlists.pattern("{gate.said}", fact).sub("", fact)
    if said != fact:
        said = wordlists.pattern(r"^(?:they|he|she)\b", said).sub("The user", said)
    if type == "feedback":
        said = wordlists.pattern("{gate.duty}", said).sub("", said)
    return said or fact


def _says(expression: str, fact: str) -> bool:
    return wordlists.pattern(expression, fact).search(fact) is not None


@cache
def _cased(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


# --- form: what machines print ---------------------------------------------------------------

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
    return _says(_ERROR, fact) or (_says(_ERROR_WITHIN, fact) and not _says("{gate.law}", fact))


def _path_heavy(fact: str, _: str) -> bool:
    """More than half of the words are paths; two CJK characters count as a word."""
    said = re.findall(rf"[{CJK}]{{1,2}}|[^\s{CJK}]+", fact)
    said = [word for word in said if re.search(r"\w", word) and "://" not in word]
    paths = sum(_is_path(word) for word in said)
    return len(said) > 1 and 2 * paths > len(said)


def _is_path(word: str) -> bool:
    bare = re.sub(r"(?::\d+)*[,;:.)`\"']*$", "", word.strip("(`\"'"))
    return _cased(_PATH).fullmatch(bare) is not None


def _command_line(fact: str, _: str) -> bool:
    """A whole text that one could paste into a shell."""
    if _says(_SHELL, fact):
        return True
    command = _cased(_COMMAND).match(fact) and _says(_PASTED, fact)
    return bool(command) and not _says(_SENTENCE, fact)


def _code(fact: str, _: str) -> bool:
    """A statement of a language, or text that is mostly in a fence."""
    fenced = sum(map(len, re.findall(r"```.*?(?:```|\Z)", fact)))
    return fenced * 2 > len(fact) or _cased(_STATEMENT).match(fact) is not None


# --- meaning: what will not be true, or of use, next month -----------------------------------


def _question(fact: str, type: str) -> bool:
    # "Is the author of ..." says something of the user
    of_user = type == "user" and not _says(r"[?？]|吗", fact) and _says(r"^(?:is|was) ", fact)
    return (not of_user and _says("{gate.asks}", fact)) or _says("{gate.wonders}", fact)


def _task(fact: str, type: str) -> bool:
    if (_order(fact, type) or _wish(fact, type)) and not _says("{gate.each_time}", fact):
        return True
    some_day = _says("{gate.perhaps}", fact) or (
        _says("{gate.planned}", fact) and (type != "user" or _says("{gate.work}", fact))
    )
    return (some_day and not _says("{gate.dated}", fact)) or _says("{gate.to_do}", fact)


def _order(fact: str, type: str) -> bool:
    """In feedback an order is a rule, but for what was to be done there and then."""
    if type == "feedback":
        return _says("{gate.at_once}", fact)
    return (_says("{gate.order}", fact) or _says("{gate.once}", fact)) and not _says(
        "{gate.how}", fact
    )


def _wish(fact: str, type: str) -> bool:
    if type == "project":
        return _says("{gate.wants}", fact) or _says("{gate.wished_cjk}", fact)
    return (
        _says("{gate.wants}", fact)
        and _says("{gate.work}", fact)
        and not _says("{gate.rule}", fact)
    )


def _progress(fact: str, type: str) -> bool:
    if _says("{gate.forbids}", fact):
        return False
    of_user = _says("{gate.user_did}", fact) and type not in ("user", "feedback")
    if of_user or _says("{gate.progress}", fact):
        return not _says("{gate.came_to}", fact)
    if _says("{gate.progress_unless_rule}", fact) and not _says("{gate.law}", fact):
        return True
    report = _says("{gate.labelled}", fact) or (
        type != "feedback" and _says("{gate.report}", fact) and not _says("{gate.rule}", fact)
    )
    state = report or (_says("{gate.state}", fact) and not _says("{gate.if_so}", fact))
    return state and not _says("{gate.dated}", fact)


def _event(fact: str, type: str) -> bool:
    """Something that happened, and neither decided anything nor says how things are."""
    if type == "reference" or _says("{gate.year}", fact) or _says("{gate.came_to}", fact):
        return False
    # a life is told in the past tense, and so is what a preference was seen by
    if type == "user" or (type == "feedback" and _says("{gate.of_the_user}", fact)):
        return _says("{gate.in_session}", fact)
    told = _says("{gate.happened}", fact) or (fact.isascii() and _says("{gate.did}", fact))
    if told and not _says("{gate.present}", fact) and not _says("{gate.lasts}", fact):
        return True
    return (
        not fact.isascii()
        and _says("{gate.happened_cjk}", fact)
        and not _says("{gate.lasts_cjk}", fact)
    )


def _measured(fact: str, type: str) -> bool:
    return (
        type != "user"
        and _says("{gate.measured}", fact)
        and not (_says("{gate.bound}", fact) or _says("{gate.dated}", fact))
    )


def _restated(fact: str, type: str) -> bool:
    """What a piece of code does, without a rule about it."""
    rule = _says("{gate.rule}", fact) or _says("{gate.each_time}", fact)
    told = _says("{gate.handbook}", fact) or (
        _says("{gate.restated}", fact) and not _says("{gate.outside}", fact)
    )
    return type == "project" and not rule and told


def _dangling(fact: str, type: str) -> bool:
    here = (
        type != "reference" and _says("{gate.here}", fact) and not _says("{gate.each_time}", fact)
    )
    return here or _says("{gate.dangling}", fact)


def _temporary(fact: str, _: str) -> bool:
    return _says("{gate.for_now}", fact) and not _says("{gate.dated}", fact)


def _bad_feedback(fact: str, type: str) -> bool:
    """Praise, a mood or good advice that comes with no rule."""
    if type != "feedback":
        return False
    advice = _says("{gate.platitude}", fact) and not _says("{gate.particular}", fact)
    return advice or (_says("{gate.mood}", fact) and not _says("{gate.rule}", fact))


def _bad_decision(fact: str, type: str) -> bool:
    """A decision that does not say what was chosen."""
    decided = type == "project" and _says("{gate.decided}", fact)
    return decided and _says("{gate.no_choice}", fact)


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
    "courtesy": _when("{gate.courtesy}"),
    "self_talk": _when("{gate.self_talk}"),
    "injection": _when("{gate.injection}"),
    "temporary": _temporary,
    "bad_feedback": _bad_feedback,
    "bad_decision": _bad_decision,
    "dangling": _dangling,
}
