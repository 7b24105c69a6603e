"""What messages and outputs say that a session should keep: one table of patterns. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

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
    if speaker == "user":
        pairs += [("decisions", choice) for choice in _find_choices(text)]
    return list(dict.fromkeys(pairs))[:MOST]


def _find_choices(text: str) -> Iterator[str]:
    """The sentences in which the user chooses something."""
    for sentence in _SENTENCE.findall(text):
        choice = sentence.strip(" \t>*-")
        if _CHOICE.search(choice) and not choice.endswith(("?", "？")):
            yield choice.rstrip(" .!。！")
