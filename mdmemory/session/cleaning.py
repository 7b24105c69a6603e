"""Cleans text for a session's state: no private parts, injected memory, secrets or unseen
characters. Pure; all text of the state passes through here.
"""

from __future__ import annotations

import re

from mdmemory.privacy import strip_private
from mdmemory.privacy.redaction import redact
from mdmemory.text.orders import is_order
from mdmemory.transcripts.injected import without_memory

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
# Characters that control a terminal, that are invisible, or that UTF-8 cannot write.
UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
    r"\U000e0000-\U000e007f]"
)
# The same of a text in ASCII.
_UNSEEN_ASCII = bytes(code for code in range(128) if UNSEEN.match(chr(code)))
LOOKED_AT = 4_000  # characters of a text that becomes one line
LEFT_OUT = "(left out: it reads as an instruction to an assistant)"
# Tags that would open or close one of our blocks in the prompt.
_OURS = re.compile(
    r"<(?=/?(?:session_memory|core_memory|working_memory|goal|progress|context|private)\b)", re.I
)


def visible(text: str) -> str:
    """`text` as a person sees it on a screen, without private parts and injected memory."""
    if ("<" in text or "[" in text) and "private" in text.lower():
        text = strip_private(text)[0]
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    text = without_memory(text)
    return _drop_unseen(_ANSI.sub("", text) if "\x1b" in text else text)


def clean(text: str) -> str:
    """`visible` text without secrets and tags of our own blocks."""
    return _OURS.sub("‹", redact(_drop_unseen(text))[0])


def _drop_unseen(text: str) -> str:
    if text.isascii():  # a hundredth of the time
        return text.encode("ascii").translate(None, _UNSEEN_ASCII).decode("ascii")
    return UNSEEN.sub("", text)


def line(text: str, limit: int) -> str:
    """`visible` text as one clean line of at most `limit` characters.

    An instruction to an assistant is left out: it would come back with every prompt.
    """
    text = " ".join(text.split())
    if len(text) > LOOKED_AT:
        text = text[:LOOKED_AT].rpartition(" ")[0]  # no word is cut in two before it is redacted
    if is_order(text):
        text = LEFT_OUT
    # again after the cut: half of a text may look like what the whole did not
    return cut(clean(cut(clean(text), limit)), limit)


def cut(text: str, limit: int) -> str:
    """At most `limit` characters of `text`; an ellipsis marks a cut."""
    return text if len(text) <= limit else text[: max(0, limit - 1)].rstrip() + "…"
