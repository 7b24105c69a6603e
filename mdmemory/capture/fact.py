"""A text that an assistant or a person hands over, read as a fact: cleaned, typed, named, or turned
down by its form. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from mdmemory import bounds, unseen
from mdmemory.capture.note_text import as_sentence, bare_line, description_of, name_of, word_note
from mdmemory.capture.notice import FLOOR, holds_everywhere, letter_weight, type_of
from mdmemory.errors import BadNote, MdmemoryError, UsageError
from mdmemory.note import limits
from mdmemory.privacy import strip_private
from mdmemory.privacy.redaction import redact, says_something
from mdmemory.text.orders import is_order
from mdmemory.text.words import CJK
from mdmemory.transcripts.injected import without_memory

if TYPE_CHECKING:
    from mdmemory.store.writer import StoredIn

HOOK = 20  # letters; a shorter first line says too little to find the note by

_REDACTED = re.compile(r"\[redacted:\w+\]")
_HEADING = re.compile(r"(?m)^#{1,6}[ \t]+")
# what begins a heading, quotation, item or code block, and what ends a heading
_MARKS = re.compile(r"^[ \t>]*(?:#{1,6}[ \t]+|[-*+][ \t]+|(?:`{3,}|~{3,})[^`~]*$)?|[ \t]+#+[ \t]*$")

_ONE_FACT = "Store one lasting fact, in words that stand alone, or leave it out."
_NO_SECRETS = "Without its secret it says nothing: secrets belong in a password manager."


def clean_text(text: str) -> tuple[str, list[str]]:
    """A text without what is private, what nobody sees, and secrets; and the kinds of these."""
    return redact(strip_private(unseen.without_unseen(text))[0].strip())


class NotStored(MdmemoryError):
    """The text is no fact to keep; `reasons` are the codes of `gate` and `judge`."""

    code = "not_stored"

    def __init__(self, *reasons: str) -> None:
        step = _NO_SECRETS if "secret" in reasons else _ONE_FACT
        super().__init__(f"The text was not stored: {', '.join(reasons)}.", step)
        self.reasons = reasons


class Fact(NamedTuple):
    """A text without secrets and private parts, and what it will be called; `title` may be "".
    `said` are a person's words where they stated it in a sentence; `everywhere`: that sentence says
    that it holds in all projects."""

    body: str
    description: str
    name: str
    type: str
    title: str = ""
    kind: str = ""
    redacted: tuple[str, ...] = ()
    said: str = ""
    everywhere: bool = False


class Candidate(NamedTuple):
    """One fact on its way to a note, as a person, an assistant or a model states it. A field that
    does not apply is "" (or no items). `type` is one of the four, or "" to guess, `quote` are the
    user's words. `replaces` are notes that the fact makes untrue, says again, or does not agree
    with, `keeps` near ones that stay. `declined` says why it is not for the memory.

    What becomes of it: `outcome` is keep, pending or dropped, with its reasons. `worded` is the
    fact as a note will have it (None: it only says again what a note says), `turn` the id of the
    user's turn that proves it, `named` the notes that it is about. `is_untrue`: they are untrue
    now, by both readings; else it is flagged with them where it changes them.
    """

    fact: str = ""
    type: str = ""
    title: str = ""
    why: str = ""
    quote: str = ""
    replaces: tuple[str, ...] = ()
    action: str = "add"
    kind: str = ""
    source: str = "extraction"
    keeps: tuple[str, ...] = ()
    declined: str = ""
    outcome: str = ""
    reasons: tuple[str, ...] = ()
    worded: Fact | None = None
    turn: str = ""
    named: tuple[StoredIn, ...] = ()
    is_untrue: bool = False

    @property
    def text(self) -> str:
        """What it says, in one line, for people."""
        return self.fact or self.quote or " ".join(self.replaces)


FactCall = Candidate  # what a program hands over


def fact_of(content: str, title: str = "", type: str = "", why: str = "") -> Fact:
    """The fact that a text states, with its reason. `type` is one of the four; without one it is
    `user` for a sentence whose subject is the first person, else `project`.

    Raises NotStored with the reasons, BadNote for a text that no note may hold, UsageError for a
    type that there is not.
    """
    parts = (content, title, why)
    for part in parts:
        if len(part) > bounds.FACT:
            raise BadNote(
                f"The text has {len(part):,} characters: no fact has so many.",
                "Store what lasts of it, in a sentence or two.",
            )
    (text, kinds), (heading, more), (reason, others) = map(clean_text, parts)
    if not text and strip_private(content)[1]:
        raise NotStored("private")
    limits.check_body(text)
    type_ = type or type_of(text)
    if type_ not in limits.TYPES:
        raise UsageError(f"{type_[:40]!r} is no type.", f"Use one of: {', '.join(limits.TYPES)}.")
    beside = f"{heading}\n{reason}"
    if without_memory(whole := f"{beside}\n{text}") != whole:
        raise NotStored("memory")
    if not says_something(text):
        raise NotStored("secret")
    # a heading of markdown is no prompt of a shell
    if reasons := form_reasons(_HEADING.sub("", text)):
        raise NotStored(*reasons)
    if beside.strip() and "injection" in form_reasons(beside):
        raise NotStored("injection")
    description = hook_line(text)
    name = name_of(_REDACTED.sub(" ", heading).strip() or _REDACTED.sub(" ", description))
    name = name.removeprefix(f"{type_}-") or name
    redacted = tuple(dict.fromkeys([*kinds, *more, *others]))
    heading, body = " ".join(heading.split()), with_reason(text, reason)
    return Fact(body, description, name, type_, heading, redacted=redacted)


def with_reason(body: str, reason: str) -> str:
    """A note's text with its reason behind it, where one is given and none is there."""
    reason = re.sub(r"(?i)\Awhy:\s*", "", reason)
    return f"{body}\n\nWhy: {reason}".strip() if reason and "Why:" not in body else body


def fact_as_said(text: str, type: str = "", kind: str = "") -> Fact:
    """What a person asked to remember, in their own words and whole: its first sentence describes
    it. The text is redacted. Raises BadNote for one that no note may hold."""
    limits.check_body(text)
    description, rest = word_note(text)
    name = name_of(_REDACTED.sub(" ", text))
    is_whole = description.endswith("…") or description in rest
    body = rest if rest and is_whole else f"{description}\n\n{rest}".strip()
    return Fact(body, description, name, type or type_of(text), kind=kind)


def state_fact(
    text: str, *, type: str = "", name: str = "", body: str = "", kind: str = "", why: str = ""
) -> Fact:
    """The note for a sentence of a person's: what is not given is worked out from its words.

    A secret is taken out. Raises NotStored where nothing is left, BadNote for a text that is too
    long or too short for a fact.
    """
    if len(text) > bounds.FACT:
        raise BadNote(f"The text has {len(text):,} characters.", "State one fact in a sentence.")
    sentence = " ".join(clean_text(text)[0].split())
    if not says_something(sentence):
        raise NotStored("secret" if sentence else "private")
    if letter_weight(sentence) < FLOOR:
        raise BadNote(
            f"{sentence[:40]!r} is too short for a fact.",
            "Say it in a sentence, or give a NAME with --type and --description.",
        )
    fact = fact_as_said(sentence, type, kind)
    return fact._replace(
        body=with_reason(body or word_note(sentence)[1], clean_text(why)[0]),
        name=limits.slugify(name) if name else fact.name, said=sentence,
        everywhere=holds_everywhere(sentence),
    )  # fmt: skip


def hook_line(body: str) -> str:
    """A description for a text: its first line, or where that says too little all in one."""
    lines = [_MARKS.sub("", line).strip() for line in body.splitlines()]
    lines = [line for line in lines if re.search(r"\w", line)] or [body]
    first = lines[0] if letter_weight(lines[0]) >= HOOK else " ".join(lines)
    return description_of(as_sentence(bare_line(first)))


JUDGED = 4_000  # characters of a text; a fact takes a sentence or two


def form_reasons(text: str) -> tuple[str, ...]:
    """The reasons for which a text has not the form of a fact, whatever it may mean. The text is
    redacted already."""
    fact = " ".join(text[:JUDGED].split())
    return tuple(code for code, rule in REASONS.items() if rule(fact))


def _matches(expression: str, fact: str) -> bool:
    return re.search(expression, fact, re.IGNORECASE) is not None


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
    r"|\bE(?:NOENT|ACCES|ADDRINUSE|CONNREFUSED|PERM|EXIST|LIFECYCLE|PIPE)\b"
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


def _path_heavy(fact: str) -> bool:
    """More than half of the words are paths; two CJK characters count as a word."""
    words = re.findall(rf"[{CJK}]{{1,2}}|[^\s{CJK}]+", fact)
    words = [word for word in words if re.search(r"\w", word) and "://" not in word]
    bare = (re.sub(r"(?::\d+)*[,;:.)`\"']*$", "", word.strip("(`\"'")) for word in words)
    paths = sum(re.fullmatch(_PATH, word) is not None for word in bare)
    return len(words) > 1 and 2 * paths > len(words)


def _command_line(fact: str) -> bool:
    """A whole text that one could paste into a shell."""
    if _matches(_SHELL, fact):
        return True
    command = re.match(_COMMAND, fact) and _matches(_PASTED, fact)
    return bool(command) and not _matches(_SENTENCE, fact)


def _is_code(fact: str) -> bool:
    """A statement of a language, or text that is mostly in a fence."""
    fenced = sum(map(len, re.findall(r"```.*?(?:```|\Z)", fact)))
    return fenced * 2 > len(fact) or re.match(_STATEMENT, fact) is not None


_MEANT = r"\b(?:pinned|pin|frozen|forked|vendored)\b"
REASONS: dict[str, Callable[[str], bool]] = {
    "too_short": lambda fact: letter_weight(_REDACTED.sub(" ", fact)) < FLOOR,
    "git_hash": lambda fact: _matches(_GIT, fact) and not _matches(_MEANT, fact),
    "raw_error": lambda fact: _matches(_ERROR, fact),
    "stack_trace": lambda fact: _matches(_STACK, fact),
    "path_heavy": _path_heavy,
    "command_line": _command_line,
    "code": _is_code,
    "question": lambda fact: fact.rstrip("\"'”’)] ").endswith(("?", "？")),
    "injection": is_order,
}
