"""Whose words a message holds: what the user typed, and what they pasted, quoted or forwarded.

Pure, and linear in the length of the text: each line is looked at a fixed number of times. What is
in doubt counts as pasted where it stands behind an announcement, in a page, mail or chat.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from mdmemory.capture import shape
from mdmemory.capture.pasted_lines import Line, lines_of
from mdmemory.text.wordlists import fullmatch, match, pattern, search

# Blanked out at equal length: what is not the user's triggers nothing, and places stay the same.
BLANK = "\ufffc"
SET_OFF = ("code", "quote")  # marked as another's line by line; behind it the user speaks again
LONG = 12  # lines without a blank one between them; more is nothing that a person types
_ELEMENT = r"<(?P<name>[a-z][\w-]{0,40})(?:[ ][^<>\n]{0,300})?>"
_GREETING = r"{whose.greeting}(?: [\w.'’-]{1,30}){0,5} ?[,!:]?"
_SIGN_OFF = r"{whose.sign_off} ?[,.!]?"
_LIST = r"[ \t]*(?:[-*+•]|\d{1,2}[.)])[ \t]+\S"


def parted(text: str, asks: Callable[[str], bool]) -> tuple[str, Sequence[str]]:
    """The text with all that the user did not type blanked out, at equal length; and the lines that
    are not the user's, without the marks that show it, fenced code left out.

    `asks` tells whether a line begins with a request: such a one announces nothing.
    """
    lines = lines_of(text)
    _Reading(lines, asks).read()
    shape.mark(lines, asks)
    shown = [_shown(line) for line in lines]
    others = []
    for line, kept in zip(lines, shown, strict=True):
        if BLANK in kept and line.kind != "code":
            said = _masked(line.text, kept)
            others.append(pattern(r"[ \t>|]*(?:[-*+•][ \t]+)?", said).sub("", said, count=1))
    return "\n".join(shown), others


def own_lines(text: str, asks: Callable[[str], bool]) -> str:
    """What the user typed, with what they name between quotation marks or as code."""
    lines = lines_of(text)
    _Reading(lines, asks).read()
    shape.mark(lines, asks)
    return "\n".join(line.text[: line.told_at or None] for line in lines if line.own)


def _masked(text: str, shown: str) -> str:
    """What of a line is blanked out; all of it where that is most of it."""
    if shown.count(BLANK) * 2 > len(text):
        return text
    return "".join(char for char, kept in zip(text, shown, strict=True) if kept == BLANK)


def _shown(line: Line) -> str:
    text = line.text if line.own else BLANK * len(line.text)
    if line.own and line.told_at:
        text = text[: line.told_at] + BLANK * (len(text) - line.told_at)
    for start, end in line.quoted:
        text = text[:start] + BLANK * (end - start) + text[end:]
    return text


@dataclass(slots=True)
class _Reading:
    """One pass over the lines. `inside` is what of another's text the pass stands in:

    "" none, "told" it was announced and begins with the next line, "block" the announced text,
    "page", "mail", "ruled" (between two lines of dashes), "shell" and "chat" (to a blank line),
    or the closing tag of an element of markup.
    """

    lines: Sequence[Line]
    asks: Callable[[str], bool]
    inside: str = ""
    opens: bool = True  # a paragraph begins with this line
    closings: set[str] = field(default_factory=set)
    last_rule: int = -1

    def read(self) -> None:
        """Mark each line as the user's or not."""
        self.closings = {f"</{name.lower()}" for line in self.lines for name in line.closes}
        rulers = [at for at, line in enumerate(self.lines) if line.kind == "rule"]
        self.last_rule = max(rulers, default=-1)
        clean = self._clean_after()
        whole = _whole_pages(self.lines)
        for at, line in enumerate(self.lines):
            if line.kind == "blank":
                self.inside = "" if self.inside in ("shell", "chat") else self.inside
                self.opens = True
                continue
            line.own = at not in whole and self._is_own(line, clean[at], at)
            if line.own and line.kind == "":
                self._look_ahead(line, at)
            self.opens = False

    def _is_own(self, line: Line, is_clean: bool, at: int) -> bool:
        if line.kind in SET_OFF or line.kind == "log":
            self.inside = "set" if self.inside in ("told", "set") else self.inside
            return False
        if self.inside.startswith("</"):
            self.inside = "set" if self.inside in line.text.lower() else self.inside
            return False
        if line.kind == "rule":
            return self._at_rule(at)
        if line.kind in ("shell", "chat"):
            # announced or not, it ends with its paragraph
            self.inside = line.kind if self.inside in ("", "told", "set") else self.inside
            return False
        if line.kind in ("head", "markup"):
            self._begin(line)
            return False
        return self._is_plain_own(line, is_clean)

    def _begin(self, line: Line) -> None:
        """Another's text begins with the head of a mail, or with markup."""
        if line.kind == "head":
            self.inside = "mail"
            return
        tag = match(_ELEMENT, line.text.strip())
        closing = f"</{tag['name'].lower()}" if tag else ""
        if not closing:
            self.inside = "page"
        elif closing in line.text.lower():
            self.inside = "set" if self.inside in ("", "told", "set") else self.inside
        elif closing in self.closings:
            self.inside = closing
        else:
            self.inside = "page"

    def _at_rule(self, at: int) -> bool:
        if self.inside == "ruled":
            self.inside = "set"
        elif self.inside != "page":
            is_pair = self.inside or at < self.last_rule
            self.inside = "ruled" if is_pair else "block"
        return False

    def _is_plain_own(self, line: Line, is_clean: bool) -> bool:
        if self.inside in ("", "set"):
            self.inside = ""
            return True
        if self.inside == "signed":
            # below a sign-off comes a name, then the user again
            if self.opens and len(line.text.split()) > 4:
                self.inside = ""
                return True
            return False
        is_back = match(shape.BACK, line.text.strip()) is not None
        if self.inside in ("shell", "chat", "ruled"):
            return False
        if self.opens and is_clean and is_back:
            self.inside = ""
            return True
        if self.inside == "told":
            self.inside = "block"
        if self.inside in ("mail", "block") and fullmatch(_SIGN_OFF, line.text.strip()):
            self.inside = "signed"
        return False

    def _look_ahead(self, line: Line, at: int) -> None:
        """What a line of the user's own announces: the text behind it, or below it."""
        text = line.text.strip()
        if _is_title_of_list(line, self.lines[at + 1 : at + 2]):
            line.own, self.inside = False, "page"
            return
        if self.asks(text):
            if text.endswith(":") and not search(r"\b{whose.says}[ ]?:$", text[-40:]):
                return
        elif line.told_at:
            self.inside = "block" if not text.endswith(("?", ".", "!")) else ""
            return
        if _announces(text, is_last=at == len(self.lines) - 1, asks=self.asks(text)):
            self.inside = "told"

    def _clean_after(self) -> list[bool]:
        """For each line whether from there on nothing looks like a page, mail or chat."""
        found, clean = [], True
        for line in reversed(self.lines):
            clean = clean and line.kind not in ("head", "chat", "markup")
            found.append(clean)
        return found[::-1]


def _announces(text: str, *, is_last: bool, asks: bool) -> bool:
    """Whether a line of the user's says that another's text follows."""
    if is_last:
        return False
    end = text[-400:]
    if search(r"\b{whose.says}[ ]?:$", end[-40:]):
        return True
    if end.endswith((":", "：")):
        return not asks and search("{whose.own_list}", end) is None
    if search("{whose.announces}", end):
        return True
    if not asks and match(r"\b{whose.points}\b.{0,60}\b{whose.texts}\b", end):
        return True
    pointed = search("{whose.this}", end) is not None
    return pointed and search("{whose.done_with}", end) is not None


def _is_title_of_list(line: Line, below: Sequence[Line]) -> bool:
    """Whether a line is the heading of somebody's list: "Team Rules" and bullets."""
    if not below or not match(_LIST, below[0].text):
        return False
    title = line.text.strip()
    name = title.rstrip(":").strip("*_ ")
    return _is_heading(title) or fullmatch("{whose.page_names}", name) is not None


def _is_heading(title: str) -> bool:
    """Whether a line reads as a title: a few words, most with a capital, no end of a sentence."""
    found = title.split()
    if not 1 < len(found) <= 8 or len(title) > 70 or title[-1] in ".!?:;,":
        return False
    return sum(word[0].isupper() for word in found) * 3 >= len(found) * 2


def _is_page_title(first: str) -> bool:
    return _is_heading(first) and not search("{whose.announces}", first)


def _whole_pages(lines: Sequence[Line]) -> set[int]:
    """The lines of blocks that nobody types: long or hard-wrapped ones, what stands under a title,
    and a letter from its greeting to its sign-off."""
    found: set[int] = set()
    done = 0
    blocks = _blocks(lines)
    ends = [at for at, x in enumerate(lines) if fullmatch(_SIGN_OFF, x.text.strip()[:80])]
    for number, block in enumerate(blocks):
        first = lines[block[0]].text.strip()[:400]
        if len(block) > LONG or _is_wrapped([lines[at].text for at in block]):
            found.update(block)
        elif number == 0 and len(block) == 1 and len(blocks) > 2 and _is_page_title(first):
            found.update(range(len(lines)))
        elif fullmatch(_GREETING, first):
            end = bisect_left(ends, block[0])
            letter = range(max(block[0], done), ends[end] + 1) if end < len(ends) else range(0)
            found.update(letter)
            done = max(done, letter.stop)
    return found


def _blocks(lines: Sequence[Line]) -> list[list[int]]:
    found: list[list[int]] = []
    for at, line in enumerate(lines):
        if line.kind == "blank":
            continue
        if at and lines[at - 1].kind != "blank" and found:
            found[-1].append(at)
        else:
            found.append([at])
    return found


def _is_wrapped(block: Sequence[str]) -> bool:
    full = [
        each for each in block[:-1]
        if 55 <= len(each) <= 110 and each.rstrip()[-1:] not in ".!?:;"
    ]  # fmt: skip
    return len(block) > 3 and len(full) * 3 >= len(block) * 2
