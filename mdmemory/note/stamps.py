"""The stamp in an installed file: its version, and a digest that shows whether it was edited.

It is the first line, or the second where a file must begin with `---`.
"""

from __future__ import annotations

import re

from mdmemory.files import digest
from mdmemory.version import VERSION

_FENCE = "---\n"
_MARK = re.compile(r"(?:<!-- |// |# )mdmemory: (\S+) ([0-9a-f]{16})(?: -->)?\n")


def add_stamp(text: str, name: str, version: str = VERSION) -> bytes:
    """The text of a file with its stamp, as a comment that fits the file's type."""
    mark = f"mdmemory: {version} {digest(text.encode())[:16]}"
    if name.endswith((".ts", ".json")):
        return f"// {mark}\n{text}".encode()
    if name.endswith((".toml", ".yaml")):
        return f"# {mark}\n{text}".encode()
    if text.startswith(_FENCE):
        return f"{_FENCE}# {mark}\n{text.removeprefix(_FENCE)}".encode()
    return f"<!-- {mark} -->\n{text}".encode()


def is_unedited(data: bytes) -> bool:
    """Whether an installed file is unchanged, apart from line ends, which git may change."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    match = _find_stamp(text)
    return match is not None and digest(drop_stamp(text).encode())[:16] == match[2]


def read_stamp(data: bytes) -> str:
    """The version in the stamp of a file, or ""."""
    match = _find_stamp(data.decode("utf-8", "replace").replace("\r\n", "\n"))
    return match[1] if match else ""


def explain_outdated(data: bytes, name: object, again: str) -> str:
    """What is wrong with an installed file, with the next step `again`; "" for nothing."""
    if not is_unedited(data):
        return f"{name} was edited, so it is not kept up to date. Delete it. {again}"
    if read_stamp(data) != VERSION:
        return f"{name} is of mdmemory {read_stamp(data)}, and this is {VERSION}. {again}"
    return ""


def drop_stamp(text: str) -> str:
    """The text without its stamp."""
    match = _find_stamp(text)
    return text[: match.start()] + text[match.end() :] if match else text


def _find_stamp(text: str) -> re.Match[str] | None:
    return _MARK.match(text, len(_FENCE) if text.startswith(_FENCE) else 0)
