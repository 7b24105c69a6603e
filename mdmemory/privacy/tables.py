"""The tables in `data/`: the shapes of tokens, and the words of ten languages, read once.

A search for words looks at every place of a text once, for the first letters of any of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_DATA = Path(__file__).parent / "data"
CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_ALPHABETS = {
    "digit": "[0-9]",
    "hex": "[0-9a-fA-F]",
    "lower": "[0-9a-z]",
    "upper": "[0-9A-Z]",
    "letter": "[A-Za-z]",
    "alnum": "[A-Za-z0-9]",
    "word": "[A-Za-z0-9_-]",
    "dotted": "[A-Za-z0-9_.-]",
    "b64": "[A-Za-z0-9+/=]",
    "path": "[A-Za-z0-9_./+=@~:%-]",
}
_UUID = "-".join(f"[0-9a-fA-F]{{{length}}}" for length in (8, 4, 4, 4, 12))
_PART = re.compile(r"<(?P<alphabet>\w+)(?::(?P<least>\d+)(?P<open>-)?(?P<most>\d+)?)?>")


@dataclass(frozen=True, slots=True)
class Shape:
    """How a token of one kind is written.

    `keyword` stands in every such token. `front` is what may stand before the keyword, as an
    expression, and `rest` the keyword with all that follows.
    """

    kind: str
    keyword: str
    front: str
    rest: str
    page: str

    @property
    def is_open(self) -> bool:
        """Whether the part after the keyword may be of any length."""
        return ",}" in self.rest.split(")", 1)[0]


@cache
def shapes() -> tuple[Shape, ...]:
    """Every row of the table of tokens."""
    lines = (_DATA / "shapes.txt").read_text(encoding="utf-8").splitlines()
    return tuple(_shape(*line.split()) for line in lines if line and not line.startswith("#"))


def _shape(kind: str, written: str, page: str) -> Shape:
    parts = _PART.split(written)  # a literal, then four groups and a literal for each part
    literals = parts[::5]
    keyword = literals[0] or max(literals, key=len)
    at = written.index(keyword)
    front, rest = _expression(written[:at]), _expression(written[at:])
    return Shape(kind, keyword, front, rest, page)


def _expression(written: str) -> str:
    made, end = "", 0
    for part in _PART.finditer(written):
        made += re.escape(written[end : part.start()]) + _alphabet(part)
        end = part.end()
    last = written[end:]
    # a token of one length ends where its alphabet ends
    stop = "" if last or not written.endswith(">") or written.endswith("->") else "(?![0-9A-Za-z])"
    return made + re.escape(last) + stop


def _alphabet(part: re.Match[str]) -> str:
    if part["alphabet"] == "uuid":
        return _UUID
    most = part["most"] or ("" if part["open"] else part["least"])
    return f"{_ALPHABETS[part['alphabet']]}{{{part['least']},{most}}}"


def any_of(literals: Iterable[str]) -> str:
    """An expression for any of the literals, the longest first, that is quick to reject a place."""
    by_letter: dict[str, list[str]] = {}
    for literal in sorted(set(literals), reverse=True):
        by_letter.setdefault(literal[0], []).append(re.escape(literal[1:]))
    return "|".join(
        f"{re.escape(letter)}(?:{'|'.join(rest)})" for letter, rest in sorted(by_letter.items())
    )
