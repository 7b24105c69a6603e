"""What goes along with a message: the notes near it, and one instruction where the message may want
something of the memory; and what a person typed of it, as far as it tells what it is about: without
pasted code, logs and quotations. Pure, and linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mdmemory.bounds import QUERY_OF_MESSAGE, RECALLED_FOR, ends_of
from mdmemory.capture.notice import Noticed, typed_text
from mdmemory.session.cleaning import clean
from mdmemory.transcripts.injected import MEMORY_TAGS

OPEN, CLOSE = "<recalled_memory>", "</recalled_memory>"
# Any of these tags in a note would open or close a block for whoever reads the session later.
_TAGS = re.compile(rf"<(?=/?(?:{MEMORY_TAGS})\b)", re.IGNORECASE)
_MARKS = frozenset("{}()[];=<>|$\\*_,.:")
_DENSE = 10  # a line with one of these marks in so many characters is code
_QUOTE = 300  # characters of a request that are repeated
_ASKED = re.compile(r"[?？][\s\"'”’)]*\Z")
_WISH = (
    "The user asks to remember: {facts}. Store each fact by one call of memory_store: one clean "
    "sentence in their words, their words as `quote`, and in `replaces` each note that it makes "
    "untrue. If it is not for the memory, say so by `declined`."
)
_PERHAPS = (
    "This message may want something of the memory. If it states or changes a lasting fact: "
    "memory_store with their words as `quote`; if a note is to go: memory_forget; otherwise "
    "nothing."
)
_NEAR = (
    "If the message makes one of these{named}, or another line of the index, untrue: memory_store "
    "with `replaces`, or memory_forget; otherwise nothing."
)
_SECRET = (
    "The user asks to remember a secret: nothing of it is kept. Do not repeat or store it; tell "
    "them to keep it in a password manager."
)
_PRIVATE = "Private and unwanted parts are not kept, nor by you. If a note has them: memory_forget."


def part(
    message: str, noticed: Noticed, near: str, named: Sequence[str] = (), *,
    has_secret: bool = False, is_private: bool = False,
) -> list[str]:  # fmt: skip
    """The texts that go with a message, [] for most. `near` are the notes near it as text, `named`
    the files of those of which the prompt has every word."""
    texts = [near] if near else []
    if noticed.wishes:
        # the user's own words are handed back as they are: they may well be an order
        words = (clean(" ".join(each.split()))[:_QUOTE].rstrip() for each in noticed.wishes)
        texts.append(_WISH.format(facts="; ".join(f'"{each}"' for each in words)))
    elif noticed.perhaps and not is_private:
        texts.append(_PERHAPS)
    elif (near or named) and is_statement(message):
        files = f" ({', '.join(named)})" if named else ""
        texts.append(_NEAR.format(named=files))
    texts += [_SECRET] if has_secret else []
    texts += [_PRIVATE] if is_private else []
    return texts


def read_typed(message: str) -> str:
    """The typed part of a message, one line, of a bounded length; "" where all was pasted."""
    lines = typed_text(ends_of(message, RECALLED_FOR)).splitlines()
    prose = [
        line for line in lines if sum(map(_MARKS.__contains__, line)) * _DENSE <= len(line.strip())
    ]
    return " ".join(" ".join(prose).split())[:QUERY_OF_MESSAGE]


def safe(text: str) -> str:
    """A text of a note for the prompt: without secrets, and without tags of injected memory."""
    return _TAGS.sub("‹", clean(text))


def is_statement(message: str) -> bool:
    """Whether a message does more than ask."""
    return _ASKED.search(message.strip()) is None
