"""Characters that show nothing or that a terminal obeys, and where a script needs one. Pure.

Put into a word they change it for every search, and a reader cannot tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

# Default_Ignorable_Code_Point of Unicode 16.0, as DerivedCoreProperties.txt of the Unicode
# Character Database lists it, first and last of each run.
IGNORABLE = (
    (0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5),
    (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
# By category: line and paragraph separators (Zl, Zp), and of the format characters (Cf) those
# that neither stand in the table above nor show themselves.
BY_CATEGORY = ((0x2028, 0x2029), (0xFFF9, 0xFFFB), (0x13430, 0x1343F))

# Scripts in which a joiner changes the form of a letter: Arabic, Syriac, N'Ko, those of India and
# its neighbours, Mongolian; first and last of each run of blocks.
_JOINING = (
    (0x0600, 0x08FF), (0x0900, 0x0DFF), (0x0F00, 0x109F), (0x1700, 0x17B3), (0x17B6, 0x180A),
    (0x1810, 0x18AF), (0x1900, 0x1CFF), (0xA800, 0xABFF), (0xFB50, 0xFDFF), (0xFE70, 0xFEFC),
    (0x10A00, 0x10FFF), (0x11000, 0x11FFF), (0x1E900, 0x1E95F),
)  # fmt: skip
_MONGOLIAN = ((0x1820, 0x18AF),)
_PICTURES = (
    (0x00A9, 0x00A9), (0x00AE, 0x00AE), (0x203C, 0x203C), (0x2049, 0x2049), (0x2122, 0x2122),
    (0x2139, 0x2139), (0x2190, 0x21FF), (0x2300, 0x23FF), (0x24C2, 0x24C2), (0x25A0, 0x27BF),
    (0x2900, 0x2BFF), (0x3030, 0x303D), (0x3297, 0x3299), (0x1F000, 0x1FAFF),
)  # fmt: skip


# control characters but for line ends and tabs, and marks that turn the direction of writing
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")

_BREAKS = "[\t-\r\x1c-\x1e\x85\u2028\u2029]+"
# what no line may hold: the above, tags, and halves of pairs that are no bytes of a file's name
_UNFIT = re.compile(
    f"(?:{CONTROL.pattern}|[\u061c\ud800-\udc7f\udd00-\udfff\U000e0000-\U000e007f])+"
)


def in_one_line(text: str) -> str:
    """A text as a commit may say it: one line, with a mark in place of what git refuses, a terminal
    obeys, or turns the direction of writing. Bytes of file names (surrogateescape) stay."""
    return _UNFIT.sub("\ufffd", re.sub(_BREAKS, " ", text))


def shown_text(text: str) -> str:
    """The text as a person may be shown it: with a mark in place of control characters, of what
    shows nothing, and of halves of surrogate pairs."""
    marked_text = CONTROL.sub("\ufffd", text)
    if not marked_text.isascii():
        marked_text = _unseen_pattern().sub("\ufffd", marked_text)
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in marked_text)


@cache
def _unseen_pattern() -> re.Pattern[str]:
    """A character that shows nothing where no script needs it; compiled at its first use."""
    hidden = _char_class(*IGNORABLE, *BY_CATEGORY)
    picture = _char_class(*_PICTURES)
    needed = (
        rf"(?<={_char_class(*_JOINING)})[\u200c\u200d]",
        rf"(?<={_char_class(*_MONGOLIAN)})[\u180b-\u180f]",
        rf"(?:(?<={picture})|(?<={picture}\ufe0f))\u200d(?={picture})",
        rf"(?<={picture})[\ufe0e\ufe0f]",
        r"(?<=[0-9#*])\ufe0f(?=\u20e3)",
    )
    return re.compile(rf"(?!{'|'.join(needed)}){hidden}")


def _char_class(*runs: tuple[int, int]) -> str:
    return f"[{''.join(f'{chr(first)}-{chr(last)}' for first, last in runs)}]"


def without_unseen(text: str) -> str:
    """The text without what shows nothing; a line or paragraph separator becomes a line break."""
    if text.isascii():
        return text
    return _unseen_pattern().sub(lambda match: "\n" if match[0] in "\u2028\u2029" else "", text)


def unseen_added(sources: Iterable[str], result: str) -> list[str]:
    """What shows nothing in words of `result` that none of the sources has, as `U+200B`; sorted."""
    if result.isascii():
        return []
    new = _unseen_words(result).difference(*map(_unseen_words, sources))
    return sorted(
        {f"U+{ord(char):04X}" for word in new for char in _unseen_pattern().findall(word)}
    )


def _unseen_words(text: str) -> set[str]:
    # not str.split(): it takes some of the very characters for white space
    return {word for word in re.split(r"[ \t\r\n]+", text) if _unseen_pattern().search(word)}
