"""A conversation as plain text, with `User:` and `Assistant:` at the start of a line.

`Human:`, `用户：` and `助手：` count too, bold or as a heading. Text before the first
label, or under `Tool:` and `System:`, gives no turns.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from mdmemory.transcripts.injected import fence_after
from mdmemory.transcripts.turns import Transcript, Turn, clean, is_ours

_ROLES = {
    "User": "user", "USER": "user", "Human": "user", "用户": "user", "用戶": "user",
    "Assistant": "assistant", "ASSISTANT": "assistant", "AI": "assistant", "助手": "assistant",
    "System": "", "Tool": "", "系统": "", "工具": "",
}  # fmt: skip
_LABEL = re.compile(
    rf"(?:#{{1,4}} )?\*{{0,2}}({'|'.join(_ROLES)})\*{{0,2}}[ ]?[:：]\*{{0,2}}[ \t]*"
)
_TITLE = re.compile(r"\[Session:[ \t]*([^\]\n]{1,200})\]")


def is_plain(text: str) -> bool:
    """Whether a user or an assistant speaks in the text."""
    return any(role for role, _ in _split_blocks(text))


def read_plain(text: str) -> Transcript:
    """The turns of a conversation in plain text.

    A session's id comes from its first turn, and a turn's id from its number and all text up to
    it. So a text that grew is read on from its old end, and a text that only begins alike is read
    from its start.
    """
    text = text.replace("\r\n", "\n")
    header = _TITLE.match(text.lstrip("\ufeff \t\n"))
    title = header[1].strip() if header else ""
    turns: list[Turn] = []
    sha = hashlib.sha256(title.encode("utf-8", "replace"))
    session = ""
    for number, (role, block) in enumerate(_split_blocks(text), 1):
        sha.update(f"\0{role}\0{block.strip()}".encode("utf-8", "replace"))
        session = session or f"text-{sha.hexdigest()[:12]}"
        words = clean(block) if role else ""
        if words:
            turns.append(Turn(f"{number:06}-{sha.hexdigest()[:8]}", role, words))
    return Transcript(session, title, "", () if is_ours(title) else tuple(turns))


def _split_blocks(text: str) -> Iterator[tuple[str, str]]:
    """Pairs of role ("" for nobody) and text, in order. A label inside code is code."""
    role: str | None = None
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        label = None if fence else _LABEL.match(line)
        if label:
            if role is not None:
                yield role, "\n".join(lines)
            role, lines = _ROLES[label[1]], [line[label.end() :]]
        else:
            fence = fence_after(line, fence)
            lines.append(line)
    if role is not None:
        yield role, "\n".join(lines)
