"""What is private or secret in a text, and how it is taken out. Knows text alone."""

from __future__ import annotations

import re


def is_secret(text: str) -> bool:
    """Whether a text holds what looks like a secret."""
    from mdmemory.privacy.redaction import has_secret  # loads the tables: only where it is needed

    return has_secret(text)


def redacted_text(text: str) -> str:
    """A text with a mark in place of each secret."""
    from mdmemory.privacy.redaction import redact

    return redact(text)[0]


def strip_private(text: str) -> tuple[str, int]:
    """`text` without its `<private>` and `[PRIVATE]` blocks, and how many (a nest counts once).

    Case does not matter, code is no exception, and a block left open reaches to the end.
    """
    parts_left: list[str] = []
    blocks = start = 0
    depth = {"<": 0, "[": 0}
    tags = (
        r"(?P<form><)\s{0,9}(?P<end>/?)\s{0,9}private(?:\s[^<>]{0,200})?>"
        # not a link: [private](notes.md)
        r"|(?P<square>\[)(?P<close>/?)private\](?!\()"
    )
    for tag in re.finditer(tags, text, re.IGNORECASE):
        form = tag["form"] or tag["square"]
        ends = bool(tag["end"] or tag["close"])
        if ends and depth[form] == 0:
            continue
        if not any(depth.values()):
            parts_left.append(text[start : tag.start()])
            blocks += 1
        depth[form] += -1 if ends else 1
        start = tag.end()
    if not any(depth.values()):
        parts_left.append(text[start:])
    return "".join(parts_left), blocks
