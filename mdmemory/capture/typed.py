"""What a person typed of a message, told by form alone: without what is fenced, quoted, forwarded
or printed by a machine, nor the inside of a long message. Pure, and linear in its length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from mdmemory.bounds import ends

LONG = 12  # lines that are not blank; of more only the first and the last paragraph is typed
_READ = 16_000  # characters, half of them from either end
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_HEAD = re.compile(r"(?i)^(?:from|to|cc|date|sent|subject|von|an|betreff|de|à|objet|asunto):\s")
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
_FORWARDED = re.compile(
    r"(?i)^(?:-{2,}\s*(?:original|forwarded|weitergeleitet|mensaje|message)"
    r"|(?:on|am|le|el)\s.{4,80}(?:wrote|schrieb|a écrit|escribió)\s*:\s*$)"
)


def typed(message: str, asks: Callable[[str], bool] = lambda _: False) -> str:
    """The lines of a message that its person typed, blank lines between paragraphs; "" where all
    of it is somebody else's. What stands below a paragraph that ends in a colon is another's text,
    unless it is a list, or that paragraph `asks` something of the memory."""
    lines = [*_own(ends(message, _READ))]
    paragraphs = [part for part in re.split(r"\n\s*\n", "\n".join(lines).strip()) if part.strip()]
    for at, paragraph in enumerate(paragraphs[:-1]):
        is_list = ITEM.match(paragraphs[at + 1]) is not None
        if paragraph.rstrip().endswith((":", "：")) and not (is_list or asks(paragraph)):
            del paragraphs[at + 1 :]
            break
    if sum(bool(line.strip()) for part in paragraphs for line in part.splitlines()) <= LONG:
        return "\n\n".join(paragraphs)
    kept = paragraphs if len(paragraphs) < 2 else [paragraphs[0], paragraphs[-1]]
    return "\n\n".join(_short(part) for part in kept)


def _own(text: str) -> Iterator[str]:
    """The lines that are typed; what is not leaves a blank one."""
    is_fenced = is_head = False
    tag = ""
    for line in text.splitlines():
        if tag:
            tag = "" if f"</{tag}>" in line else tag
            yield ""
        elif found := _OPEN.match(line):
            tag = found[1] if f"</{found[1]}>" in text else ""
            yield ""
        elif _FENCE.match(line):
            is_fenced = not is_fenced
            yield ""
        elif is_fenced:
            continue
        elif _FORWARDED.match(line.strip()):
            return
        else:
            was_head, is_head = is_head, bool(_HEAD.match(line)) and (is_head or len(line) < 200)
            if was_head and is_head:  # a mail: what it says is another's
                return
            yield "" if is_head or _NOT_TYPED.match(line) else line


def _short(paragraph: str) -> str:
    """A paragraph of at most as many lines as a message that counts whole; of a longer one the
    first and the last line."""
    lines = paragraph.splitlines()
    return paragraph if len(lines) <= LONG else f"{lines[0]}\n\n{lines[-1]}"
