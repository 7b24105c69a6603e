"""Tokens of services, by the table of shapes in `data/shapes.txt`, in one pass over keywords."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mdmemory.privacy.lexicon import Span, any_of, compile_shape, stands_at
from mdmemory.privacy.values import class_changes, is_mixed, made_up

SHORTEST = 14  # characters of the shortest token; none has a blank in it
_DOTTED = 58  # characters of the shortest token that nothing but a dot announces
_LONGEST = 6_000  # a web token with many claims has 4,000
_BEFORE = 90  # characters that may stand before a keyword: Azure's 76


_TABLE = Path(__file__).parent / "data" / "shapes.txt"
_ALPHABETS = {
    "digit": "[0-9]", "hex": "[0-9a-fA-F]", "lower": "[0-9a-z]", "upper": "[0-9A-Z]",
    "letter": "[A-Za-z]", "alnum": "[A-Za-z0-9]", "word": "[A-Za-z0-9_-]",
    "dotted": "[A-Za-z0-9_.-]", "b64": "[A-Za-z0-9+/=]", "path": "[A-Za-z0-9_./+=@~:%-]",
}  # fmt: skip
_UUID = "-".join(f"[0-9a-fA-F]{{{length}}}" for length in (8, 4, 4, 4, 12))
_PART = re.compile(r"<(?P<alphabet>\w+)(?::(?P<least>\d+)(?P<open>-)?(?P<most>\d+)?)?>")


class Shape(NamedTuple):
    """How a token of one kind is written.

    `keyword` stands in every such token, in `written` as the table has it.
    """

    kind: str
    keyword: str
    written: str
    page: str

    @property
    def is_led(self) -> bool:
        """Whether anything may stand before the keyword."""
        return not self.written.startswith(self.keyword)

    @property
    def front(self) -> str:
        """What may stand before the keyword, as an expression."""
        return _as_expression(self.written[: self.written.index(self.keyword)])

    @property
    def rest(self) -> str:
        """The keyword with all that follows, as an expression."""
        return _as_expression(self.written[self.written.index(self.keyword) :])

    @property
    def is_open(self) -> bool:
        """Whether the part after the keyword may be of any length."""
        return ",}" in self.rest.split(")", 1)[0]


@cache
def token_shapes() -> tuple[Shape, ...]:
    """Every row of the table of tokens."""
    shapes = []
    for line in _TABLE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            kind, written, page = line.split()
            # a literal, then four groups and a literal for each part
            literals = _PART.split(written)[::5]
            shapes.append(Shape(kind, literals[0] or max(literals, key=len), written, page))
    return tuple(shapes)


@cache  # at the first use: most texts hold few of the keywords
def _as_expression(written: str) -> str:
    made, end = "", 0
    for part in _PART.finditer(written):
        most = part["most"] or ("" if part["open"] else part["least"])
        alphabet = _ALPHABETS.get(part["alphabet"], "")
        made += re.escape(written[end : part.start()])
        made += f"{alphabet}{{{part['least']},{most}}}" if alphabet else _UUID
        end = part.end()
    last = written[end:]
    # a token of one length ends where its alphabet ends
    stop = "" if last or not written.endswith(">") or written.endswith("->") else "(?![0-9A-Za-z])"
    return made + re.escape(last) + stop


@cache
def _keyword_rows() -> dict[str, list[tuple[int, Shape]]]:
    """The rows that each keyword may belong to, with their numbers; the longest keyword first.

    A token that begins like a longer keyword may be of either row: "sk-" and "sk-ant-".
    """
    own: dict[str, list[tuple[int, Shape]]] = {}
    for number, shape in enumerate(token_shapes()):
        own.setdefault(shape.keyword, []).append((number, shape))
    return {
        keyword: [row for end in range(len(keyword), 0, -1) for row in own.get(keyword[:end], ())]
        for keyword in own
    }


@cache
def _keyword_pattern(dotted: bool) -> re.Pattern[str]:
    """What finds a keyword; a dot alone is one only where a word is long enough for its token.

    A token that begins with its keyword begins a word, too.
    """
    rows = _keyword_rows()
    inner = {keyword for keyword, some in rows.items() if any(shape.is_led for _, shape in some)}
    first = rf"(?<![A-Za-z0-9_])(?:{any_of(rows.keys() - inner)})"
    return re.compile(f"{first}|{any_of(inner if dotted else inner - {'.'})}")


def find_tokens(text: str, _: str = "") -> Iterator[Span]:
    """Every token of the table; the kind is its row's."""
    at = 0
    for word in [word for word in text.split() if len(word) >= SHORTEST]:
        keywords = _keyword_pattern(len(word) >= _DOTTED and "." in word)
        if first := keywords.search(word):
            at = stands_at(word, text, at)
            yield from _in_word(text, keywords, at + first.start(), (at, at + len(word)))
            at += len(word)


def _in_word(
    text: str, keywords: re.Pattern[str], at: int, word: tuple[int, int]
) -> Iterator[Span]:
    """The tokens in a word from `at` on."""
    done, stop = word
    rows = _keyword_rows()
    read_to: dict[int, int] = {}  # of each row: what was tried without success, or is a token
    while match := keywords.search(text, at, stop):
        at = match.start() + 1
        for row, shape in rows[match[0]]:
            if match.start() < max(read_to.get(row, 0), done):
                continue
            token = _match_shape(shape, text, match.start(), done)
            if token is None:
                if shape.is_open:  # until the run ends, no other place can succeed
                    run = compile_shape(r"[A-Za-z0-9_-]*").match(text, match.end(), stop)
                    read_to[row] = run.end() if run else match.end()
                continue
            begin, end = token
            if _is_noise(text[begin:end], shape):
                yield begin, end, shape.kind
                done = at = end
                break
            if shape.is_open:
                read_to[row] = end


def _match_shape(shape: Shape, text: str, at: int, done: int) -> tuple[int, int] | None:
    begin = at
    if shape.is_led:
        window = text[max(done, at - _BEFORE) : at]
        before = compile_shape(f"(?:{shape.front})\\Z").search(window)
        if before is None:
            return None
        begin = at - len(window) + before.start()
    # it begins after no letter or digit but a Chinese one
    behind = text[begin - 1 : begin]
    if behind == "_" or (behind.isascii() and behind.isalnum()):
        return None
    match = compile_shape(shape.rest).match(text, at, at + _LONGEST)
    return (begin, match.end()) if match else None


def _is_noise(token: str, shape: Shape) -> bool:
    tail = token if shape.is_led else token[len(shape.keyword) :]
    if made_up(token):
        return False
    if shape.written.endswith("<upper:16>"):  # one in fifteen has no digit but its last
        return len(set(tail)) >= 8  # a random one has twelve signs
    return is_mixed(tail) and class_changes(tail[:200]) >= 0.12
