"""What a message seems to want of the memory: a request to remember, and its facts as they were
said. A small published table notices; nothing here settles, replaces or re-types a note. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from mdmemory.bounds import ends_of
from mdmemory.text.words import CJK, compiled, is_cjk

FLOOR = 8  # letters of a fact; a Chinese, Japanese or Korean character counts as three
MOST = 8_000  # characters of a message in which requests are looked for
_ITEMS = 20  # of one list
_TABLE = Path(__file__).with_name("notice.toml")
_END = r"[.!?。！？]+[\"'”’)\]]*(?:\s+|\Z|(?<=[。！？]))"
_MARKS = " \t\n,;:.!?，。：；！？、–—-"
_BEFORE = _MARKS.replace("-", "")  # a list's own mark stays
# a mark that opens twice begins anew, lest a line of such marks is read once for each
_CODE = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"|“[^“”\n]*”|«[^«»\n]*»|„[^„“\n]*“")
_BOUNDARY = r"[.!?。！？;,:\n，；：、]"
_JOINED = r"\b(?:also|and|but|und|auch|et|y)[ \t]+(?:please[ \t]+)?\Z"
# What joins a fact to a request behind it in Japanese and Korean.
_QUOTING = r"(?:ということを|ってことを|って|(?<!こ)と|(?<=다)(?:는[ ]?(?:걸|것을)|고)|이?라고)?"
_EMPHASIS = " \t*_-•"  # may stand before a request
# Who says it, in a chat that was pasted: "Anna Berg: remember that ...".
_SPEAKER = re.compile(r"(?:^|\n)[ \t]*([^\W\d_a-z]\w+(?: [^\W\d_a-z]\w+)?):[ \t]*\Z")
_COURTESY = 80  # characters of courtesy before a request
_TRIED = 200  # phrases of one text that are looked at
_COMMAND = re.compile(r"\s*/remember\b[:\s]*")
_SPARED = re.compile(
    r"(?:\bnever|\bnot|n['’]t|\bnie|\bniemals|\bnunca|\bjamais)\s+(?:\w+\s+)?"
    r"(?:forget|delete|remove|erase|drop|scratch|lösch\w*|vergiss|vergessen|entferne?n?|borr\w+|olvid\w+)\b"
    r"|\b(?:lösche?|entferne?|streich|vergiss)\b.*\bnicht\W*\Z"
)
_POLITE = re.compile(r"\W*(?:hey\W+|ok\W+)?(?:can|could|will|would) you\b")


class Noticed(NamedTuple):
    """`wishes` are the facts that a message asks to remember, each as it was said. `perhaps`: it
    seems to want something of the memory that is no such request."""

    wishes: tuple[str, ...] = ()
    perhaps: bool = False

    def __bool__(self) -> bool:
        return bool(self.wishes or self.perhaps)


def notice_wishes(message: str) -> Noticed:
    """What a message, without what is private, wants of the memory."""
    own = own_words(message)
    if _COMMAND.match(own):
        fact = _COMMAND.sub("", own, count=1).strip()
        return Noticed((fact,) if letter_weight(fact) >= FLOOR else (), True)
    wishes: list[str] = []
    perhaps = False
    for paragraph in _split_paragraphs(own):
        requests = [*_find_requests(paragraph)]
        for text, is_wish in requests:
            wishes += _split_facts(text) if is_wish else ()
            perhaps = perhaps or not is_wish
        perhaps = perhaps or (not requests and _says_phrase("rule", paragraph))
        perhaps = perhaps or (not requests and _opens_with("gone", paragraph))
    return Noticed(tuple(dict.fromkeys(wishes)), perhaps)


def own_words(message: str) -> str:
    """What the person typed of a message, as `typed_text` tells; what stands below a paragraph that
    ends in a colon is theirs only below a request or a list."""
    return typed_text(message[:MOST], asks=lambda text: bool([*_find_requests(text)]))


def is_request(sentence: str) -> bool:
    """Whether a sentence asks to remember or to forget something."""
    return bool(_find_spans(_mask_text(sentence))) or _opens_with("gone", sentence)


def begins_with_request(message: str) -> bool:
    """Whether the first that a message says is a request to remember."""
    own = own_words(message)
    starts = [start for start, _ in _find_spans(_mask_text(own))[:1]]
    return _COMMAND.match(own) is not None or any(
        not _without_lead(own[:at].strip(_MARKS + _EMPHASIS)) for at in starts
    )


def spares_note(sentence: str) -> bool:
    """Whether a sentence asks for something not to go: "don't forget", "lösch ... nicht"."""
    masked = _mask_text(sentence)
    return bool(_find_spans(masked) or _SPARED.search(masked)) and _says_phrase("gone", sentence)


def wants_gone(sentence: str) -> bool:
    """Whether a sentence asks for something to go or not to be kept, or says that it ended."""
    return _says_phrase("gone", sentence) or _says_phrase("unwanted", sentence)


def is_about_user(text: str) -> bool:
    """Whether the subject of the sentence is the first person, as a whole word at its head: not
    the beginning of a name, as in `my-app` and `eu-west-1`, nor an acronym, as EU and IO."""
    subject = rf"\W*({_either_phrase('first_person')})(?![/.們们たち]|-\w|ら)"
    match = re.match(subject, _mask_text(text))
    return match is not None and text[slice(*match.span(1))].strip() not in ("EU", "IO", "MI", "MA")


def type_of(text: str) -> str:
    """The type of a fact that nobody named one for."""
    return "user" if is_about_user(text) else "project"


def holds_everywhere(text: str) -> bool:
    """Whether a text says that it holds in all projects."""
    return _says_phrase("everywhere", text)


def is_personal(type: str, text: str) -> bool:
    """Whether a fact goes to the person's store, whichever project it was said in."""
    return type == "user" or holds_everywhere(text)


def without_unwanted(message: str) -> tuple[str, int]:
    """A message without what the person asks not to remember, and how many parts that were: the
    sentence that asks so with what follows it in its line, or where that is nothing, what stands
    before it."""
    lines, removed = [], 0
    pattern = _section_pattern("unwanted")
    for line in message.split("\n"):
        if (match := pattern.search(_mask_text(line))) is None:
            lines.append(line)
            continue
        removed += 1
        start = max(
            (end.end() for end in compiled(_END).finditer(line, 0, match.start())), default=0
        )
        says_more = letter_weight(line[match.end() :]) >= FLOOR
        lines.append(line[:start] if says_more else "")
    return "\n".join(lines), removed


def letter_weight(text: str) -> int:
    """How many letters a text has; a Chinese, Japanese or Korean character counts as three."""
    return sum(map(str.isalnum, text)) + 2 * len(re.findall(f"[{CJK}]", text))


# --- requests


def _split_paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a text; a list below belongs to the paragraph that ends in a colon or asks
    for what follows, also where blank lines stand between."""
    parts = [part for part in re.split(r"\n\s*\n", text) if part.strip()]
    while parts:
        paragraph = parts.pop(0)
        ends_so = paragraph.rstrip().endswith((":", "："))
        is_list = ITEM.match(paragraph.splitlines()[-1]) is not None
        if ends_so or is_list or (parts and _asks_below(paragraph)):
            while parts and ITEM.match(parts[0]):
                paragraph += f"\n{parts.pop(0)}"
        yield paragraph


def _asks_below(paragraph: str) -> bool:
    """Whether a paragraph is a request that says nothing of what to remember."""
    spans = _find_spans(_mask_text(paragraph)) if len(paragraph) < _COURTESY else []
    return len(spans) == 1 and not spans[0][0] and not paragraph[spans[0][1] :].strip(_MARKS)


def _find_requests(paragraph: str) -> Iterator[tuple[str, bool]]:
    """The requests to remember in a paragraph: each with what it asks for, and whether that is a
    fact that can be kept as it was said."""
    masked = _mask_text(paragraph)
    spans = [each for each in _find_spans(masked) if _is_plain(masked[each[1] :])]
    if not spans:
        if closed := _form("closing").search(masked):
            fact = paragraph[: closed.start()].strip(_MARKS)
            yield fact, _can_be_kept(fact, paragraph)
        return
    for number, (start, begin) in enumerate(spans):
        end = spans[number + 1][0] if number + 1 < len(spans) else len(paragraph)
        if task := _section_pattern("task").search(masked, begin, end):
            end = task.start()
        fact = paragraph[begin:end].lstrip(_BEFORE).rstrip(_MARKS)
        if number == 0 and letter_weight(fact) < FLOOR:  # "we use tabs. Remember that."
            fact = _without_lead(paragraph[:start].strip(_MARKS))
        if thanks := _form("thanks").search(_mask_text(fact)):
            fact = fact[: thanks.start()].rstrip(_MARKS)
        polite = _POLITE.match(masked, start) is not None
        # what stands before it may name somebody who makes it
        named = _SPEAKER.search(paragraph[:start][-_COURTESY:])
        is_own = named is None or _form("lead").fullmatch(_mask_text(named[1])) is not None
        yield fact, is_own and _can_be_kept(fact, paragraph[start:end], polite)


def _find_spans(masked: str) -> list[tuple[int, int]]:
    """Where requests begin, and where what they ask for does: behind a phrase at the head of its
    sentence, a mark, or a word that joins, with nothing but courtesy before it."""
    spans = []
    for each in _section_pattern("explicit").finditer(masked):
        start = _find_head(masked, each.start())
        if start is None:
            continue
        begin = each.end()
        while step := _form("join").match(masked, begin):
            begin = step.end()
        spans.append((start, begin))
    return spans


def _find_head(masked: str, at: int) -> int | None:
    """Where the sentence or clause begins of which a phrase is the head; None where it is not."""
    before = masked[max(0, at - _COURTESY) : at]
    last = [*compiled(_BOUNDARY).finditer(before)]
    if not last and at > _COURTESY:
        return None
    rest = before[last[-1].end() if last else 0 :]
    start = at - len(rest)
    if joined := compiled(_JOINED).search(rest):
        start, rest = at - len(joined[0]), ""
    rest = rest.strip(_EMPHASIS)
    while rest and (step := _form("lead").match(rest)):
        rest = rest[step.end() :].strip(_EMPHASIS)
    return None if rest else start


def _is_plain(rest: str) -> bool:
    """Whether what follows a phrase is said of a fact: "remember { }" and "remember to" are not."""
    return not (
        re.match(r"\s*[({\[<=]|\w*\(|\.\w", rest) or _section_pattern("not").match(rest.lstrip())
    )


def _without_lead(text: str) -> str:
    """A text without the courtesy that it begins with."""
    while text and (step := _form("lead").match(_mask_text(text))):
        text = text[step.end() :].lstrip(_MARKS)
    return text


def _can_be_kept(fact: str, whole: str, is_polite: bool = False) -> bool:
    first = compiled(_END).search(whole)
    ends_so = first[0][0] in "?？" if first else fact.endswith(("吗", "嗎"))
    is_asked = not is_polite and ends_so and "\n" not in fact
    return letter_weight(fact) >= FLOOR and not is_asked and not _says_phrase("moment", whole)


def _split_facts(text: str) -> list[str]:
    """What one request asks for: each item of a list, where what stands above it says no more than
    that a list follows; else all of it, in one."""
    lines = text.split("\n")
    items: list[list[str]] = []
    head: list[str] = []
    for line in lines:
        if mark := ITEM.match(line):
            items.append([line[mark.end() :]])
        elif line.strip():
            (items[-1] if items else head).append(line)
    facts = [" ".join(" ".join(item).split()) for item in items]
    above = " ".join(" ".join(head).split())
    if not facts or len(facts) > _ITEMS or (above and not above.endswith((":", "："))):
        return ["\n".join(line.rstrip() for line in lines).strip() if items else above]
    short = [each for each in facts if letter_weight(each) < FLOOR]
    return [f"{above} {', '.join(facts)}".strip()] if short else facts


# --- the table


@cache
def _section_phrases() -> dict[str, set[str]]:
    import tomllib

    with _TABLE.open("rb") as file:
        sections = tomllib.load(file)
    return {name: set().union(*languages.values()) for name, languages in sections.items()}


@cache
def _either_phrase(section: str) -> str:
    """An expression for the phrases of a section, the longest first: as whole words where blanks
    stand between words. It is for a text in lower case: to ignore case costs a second."""
    joined, elided, words = list[str](), list[str](), list[str]()
    for phrase in sorted(_section_phrases()[section], key=len, reverse=True):
        place = joined if is_cjk(phrase[0]) else elided if phrase.endswith("'") else words
        escaped = re.escape(phrase).replace(r"\ ", r"[ \t\n]+")
        # "don't" also without its mark
        place.append(re.sub("'(.?)", lambda it: f"['’]{'?' if it[1] else ''}{it[1]}", escaped))
    parts = [*joined, rf"(?<!\w)(?:{'|'.join(words)})(?!\w)"]
    return "|".join([*parts, rf"(?<!\w)(?:{'|'.join(elided)})"] if elided else parts)


@cache
def _section_pattern(section: str) -> re.Pattern[str]:
    return re.compile(_either_phrase(section))


# What stands around the phrases of a section; `thanks` is courtesy alone at the end of a text.
_FORMS = {
    "lead": r"\s*(?:{lead})[,.:!]?",
    "join": r"[ \t\n]*(?:[:,：，](?:\*\*|__)?|(?:\*\*|__)[:：]|(?:{join}))",
    "closing": rf"{_QUOTING}[,.;:，。、：(]?[ \t]*(?:{{closing}})[ \t]*(?:{{lead}})?[.!。！~) ]*\Z",
    "thanks": r"(?:[.!?。！？]\s+|\n\s*|(?<=[。！？]))(?:{lead})[.!。！~ ]*\Z",
}


@cache
def _form(name: str) -> re.Pattern[str]:
    named = re.compile(r"\{(lead|join|closing)\}")
    return re.compile(named.sub(lambda section: _either_phrase(section[1]), _FORMS[name]))


def _says_phrase(section: str, text: str) -> bool:
    return _section_pattern(section).search(_mask_text(text)) is not None


def _opens_with(section: str, text: str) -> bool:
    """Whether a sentence of a text begins with a phrase of a section."""
    masked = _mask_text(text)
    matches = islice(_section_pattern(section).finditer(masked), _TRIED)
    return any(_find_head(masked, each.start()) is not None for each in matches)


def _mask_text(text: str) -> str:
    """The text in lower case with what is quoted or code blanked out, of the same length."""
    plain = text.replace("\u0130", "i").lower()  # the one letter that gets longer
    return _CODE.sub(lambda match: "\0" * len(match[0]), plain)


LONG = 12  # lines that are not blank; of more only the first and the last paragraph is typed
_READ = 16_000  # characters, half of them from either end
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_HEAD = r"(?i)^(?:from|to|cc|date|sent|subject|von|an|betreff|de|à|objet|asunto):\s"
# A quotation, a log, a trace, a diff, a prompt of a shell, a tag, a chat's line with its time.
_NOT_TYPED = re.compile(
    r"""(?x)
    \s*(?:
      [>|] | \d{4}-\d\d-\d\d[T ]\d\d:\d\d | \[?\d\d:\d\d(?::\d\d)?\]?[ ] | \[\w+\][ ]
      | (?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\b | Traceback[ ] | File[ ]" | at[ ][\w.$<>]+\(
      | (?:diff[ ]--git|@@|\+\+\+|---)[ ] | [$%#][ ]\w+[ ] | </?[A-Za-z!][^>]*>
    )
    """
)
ITEM = re.compile(r"\s*(?:(?:[-*+•]|\d{1,2}[.)])\s+|・)(?=\S)")  # of a list
_OPEN = re.compile(r"\s*<([A-Za-z][\w-]*)[^>]*>(?!.*</\1>)")
_FORWARDED = (
    r"(?i)^(?:-{2,}\s*(?:original|forwarded|weitergeleitet|mensaje|message)"
    r"|(?:on|am|le|el)\s.{4,80}(?:wrote|schrieb|a écrit|escribió)\s*:\s*$)"
)


def typed_text(message: str, asks: Callable[[str], bool] = lambda _: False) -> str:
    """The lines of a message that its person typed, blank lines between paragraphs; "" where all
    of it is somebody else's. What stands below a paragraph that ends in a colon is another's text,
    unless it is a list, or that paragraph `asks` something of the memory."""
    lines = [*_own_lines(ends_of(message, _READ))]
    paragraphs = [part for part in re.split(r"\n\s*\n", "\n".join(lines).strip()) if part.strip()]
    for at, paragraph in enumerate(paragraphs[:-1]):
        is_list = ITEM.match(paragraphs[at + 1]) is not None
        if paragraph.rstrip().endswith((":", "：")) and not (is_list or asks(paragraph)):
            del paragraphs[at + 1 :]
            break
    if sum(bool(line.strip()) for part in paragraphs for line in part.splitlines()) <= LONG:
        return "\n\n".join(paragraphs)
    shown = []  # of a longer paragraph the first and the last line
    for part in paragraphs if len(paragraphs) < 2 else (paragraphs[0], paragraphs[-1]):
        rows = part.splitlines()
        shown.append(part if len(rows) <= LONG else f"{rows[0]}\n\n{rows[-1]}")
    return "\n\n".join(shown)


def _own_lines(text: str) -> Iterator[str]:
    """The lines that are typed; what is not leaves a blank one."""
    is_fenced = is_head = False
    tag = ""
    for line in text.splitlines():
        if tag:
            tag = "" if f"</{tag}>" in line else tag
            yield ""
        elif opening := _OPEN.match(line):
            tag = opening[1] if f"</{opening[1]}>" in text else ""
            yield ""
        elif _FENCE.match(line):
            is_fenced = not is_fenced
            yield ""
        elif is_fenced:
            continue
        elif compiled(_FORWARDED).match(line.strip()):
            return
        else:
            was_head, is_head = (
                is_head,
                bool(compiled(_HEAD).match(line)) and (is_head or len(line) < 200),
            )
            if was_head and is_head:  # a mail: what it says is another's
                return
            yield "" if is_head or _NOT_TYPED.match(line) else line
