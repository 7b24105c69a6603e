"""The protocol that a project's assistant reads, and the prompts that are cut from it.

Prompts hold the task, and take what a note is from PROTOCOL.md; an assistant with our tools reads
TOOLS.md. A person may write a PROTOCOL.md of their own beside their settings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from mdmemory import assets
from mdmemory.bounds import beginning_of
from mdmemory.config import person
from mdmemory.errors import MdmemoryError, NotFound
from mdmemory.files import read_regular

FILE = "PROTOCOL.md"  # beside the person's settings
_FENCED = re.compile(r"(?ms)^```.*?(?:^```$\n?|\Z)")
MAX_BYTES = 64 * 1024  # ours has 5,000
_BAR = 1_200  # characters of an edited protocol's


@dataclass(frozen=True, slots=True)
class Protocol:
    """The text in force. `is_edited`: it is the person's own; `said` is one sentence on why the
    text that they wrote is not in force, or ""."""

    text: str
    is_edited: bool = False
    said: str = ""

    def section(self, name: str) -> str:
        """What stands under a heading; ours where this text has none of that name."""
        return _split_sections(self.text).get(name) or _split_sections(shipped_protocol())[name]


def shipped_protocol() -> str:
    """The protocol of this version."""
    return assets.read("protocol/PROTOCOL.md")


def short_protocol() -> str:
    """What an assistant is told that has our tools."""
    return assets.read("protocol/TOOLS.md")


def for_tools(environment: Mapping[str, str] | None = None) -> str:
    """What an assistant is told that has our tools, with the bar of an edited protocol."""
    protocol = in_force(environment)
    if not protocol.is_edited:  # of ours the short one says enough
        return short_protocol()
    bar = beginning_of(protocol.section("The bar"), _BAR)
    return f"{short_protocol()}\nWhat to store here:\n\n{bar}\n"


def in_force(environment: Mapping[str, str] | None = None) -> Protocol:
    """The protocol that prompts are cut from: the person's own file, else ours. Its `said` is
    worth a warning. No file of a project has a say."""
    path = person.person_places(environment).personal_settings.with_name(FILE)
    try:
        data = read_regular(path, MAX_BYTES)
        text = data.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")
    except NotFound:
        return Protocol(shipped_protocol())
    except UnicodeDecodeError:
        return Protocol(
            shipped_protocol(), said=f"Our own protocol is used: {path} is not UTF-8 text."
        )
    except MdmemoryError as problem:
        return Protocol(shipped_protocol(), said=f"Our own protocol is used: {problem.message}")
    return Protocol(text, is_edited=True)


def task_prompt(task: str, protocol: Protocol) -> str:
    """The system text for `task` ("extract", "compact"): its page, with `{{Section}}` filled in.

    Samples in code fences are left out: they show files, and the answer is JSON.
    """
    # one pass: a section that itself holds a placeholder is not filled in again
    return re.sub(
        r"\{\{([\w ]+)\}\}",
        lambda match: _FENCED.sub("", protocol.section(match[1])).strip(),
        assets.read(f"protocol/{task}.md"),
    )


def _split_sections(text: str) -> dict[str, str]:
    """What stands under each heading of the second level; a `## ` in a code fence is none."""
    sections: dict[str, list[str]] = {}
    name, fenced = "", False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        if line.startswith("## ") and not fenced:
            name = line[3:].strip()
        else:
            sections.setdefault(name, []).append(line)
    return {name: "\n".join(lines).strip() for name, lines in sections.items()}
