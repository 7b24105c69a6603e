"""The protocol that a project's assistant reads, and the prompts that are cut from it.

Prompts hold the task, and take what a note is from PROTOCOL.md; an assistant with our tools reads
TOOLS.md. An edited PROTOCOL.md in a project reaches a prompt only after a person stood by it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from mdmemory import assets
from mdmemory.bounds import beginning
from mdmemory.config import person
from mdmemory.errors import MdmemoryError, NotFound
from mdmemory.expressions import lazy
from mdmemory.files import is_inside, read_regular
from mdmemory.note.stamps import is_unedited, unstamped
from mdmemory.records import dataclass
from mdmemory.store.project import Project, person_root
from mdmemory.store.trust import Trust

OVERRIDE = ".opencode/memory/PROTOCOL.md"  # where `init --opencode` puts it in a project
SECTIONS = ("Types", "The bar", "Format", "Limits")  # what prompts are cut from
_FENCED = lazy(r"(?ms)^```.*?(?:^```$\n?|\Z)")
MAX_OVERRIDE = 64 * 1024  # bytes; ours has 5,000
_BAR = 1_200  # characters of an edited protocol's


@dataclass(frozen=True, slots=True)
class Protocol:
    """The text in force. `origin` is shipped, project or personal; `said` is one sentence on why
    the edited text that there is is not in force, or ""."""

    text: str
    origin: str = "shipped"
    said: str = ""

    def section(self, name: str) -> str:
        """What stands under a heading; ours where this text has none of that name."""
        return _sections(self.text).get(name) or _sections(shipped())[name]

    @property
    def missing(self) -> tuple[str, ...]:
        """The sections prompts need that this text lacks."""
        found = _sections(self.text)
        return tuple(name for name in SECTIONS if not found.get(name))


def shipped() -> str:
    """The protocol of this version."""
    return assets.read("protocol/PROTOCOL.md")


def short() -> str:
    """What an assistant is told that has our tools."""
    return assets.read("protocol/TOOLS.md")


def for_tools(project: Project, environment: Mapping[str, str] | None = None) -> str:
    """What an assistant is told that has our tools, with the bar of an edited protocol."""
    protocol = of_project(project, environment)
    if protocol.origin == "shipped":  # of ours the short one says enough
        return short()
    bar = beginning(protocol.section("The bar"), _BAR)
    return f"{short()}\nWhat to store here:\n\n{bar}\n"


def of_project(project: Project, environment: Mapping[str, str] | None = None) -> Protocol:
    """The protocol that prompts for this project are cut from; its `said` is worth a warning.

    For the person's own store it is the file that OpenCode reads for all their projects.
    """
    if project.root == person_root(person.places(environment)):
        return personal(person.opencode_folder(environment) / "memory" / "PROTOCOL.md")
    return text(project.root, trust(environment))


def trust(environment: Mapping[str, str] | None = None) -> Trust:
    """The person's record of the protocols they stand by."""
    return Trust(person.state_folder(environment) / "trusted.json")


def text(root: Path, trust: Trust) -> Protocol:
    """The protocol of the project at `root`. Never raises for what lies in the project."""
    try:
        data = edited(root)
    except MdmemoryError as problem:
        return Protocol(shipped(), said=f"Our own protocol is used: {problem.message}")
    if data is None:
        return Protocol(shipped())
    if not trust.has(root / OVERRIDE, data):
        return Protocol(
            shipped(),
            said=f"Our own protocol is used: {OVERRIDE} was edited, and nobody on this machine "
            "stood by that text. Read it, then run `mdmemory trust`.",
        )
    return Protocol(_lines(data), "project")


def personal(path: Path) -> Protocol:
    """The protocol of the store for all projects: the person's own file, which needs no trust."""
    try:
        data = _edited(path, str(path))
    except MdmemoryError as problem:
        return Protocol(shipped(), said=f"Our own protocol is used: {problem.message}")
    return Protocol(shipped()) if data is None else Protocol(_lines(data), "personal")


def edited(root: Path) -> bytes | None:
    """The project's own PROTOCOL.md; None where there is none, or one as some version wrote it.

    That one says of itself that it is unedited, which anybody can write: so its text counts for
    nothing, and ours is used. Raises MdmemoryError when it cannot be read.
    """
    path = root / OVERRIDE
    if not is_inside(path, root):
        raise MdmemoryError(f"{OVERRIDE} lies outside the project, behind a symbolic link.")
    return _edited(path, OVERRIDE)


def _edited(path: Path, name: str) -> bytes | None:
    try:
        data = read_regular(path, MAX_OVERRIDE)
    except NotFound:
        return None
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise MdmemoryError(f"{name} is not UTF-8 text.") from problem
    if is_unedited(data) or _lines(data) in (shipped(), short()):
        return None
    return data


def prompt(task: str, protocol: Protocol) -> str:
    """The system text for `task` ("extract", "compact"): its page, with `{{Section}}` filled in.

    Samples in code fences are left out: they show files, and the answer is JSON.
    """
    # one pass: a section that itself holds a placeholder is not filled in again
    return re.sub(
        r"\{\{([\w ]+)\}\}",
        lambda found: _FENCED.sub("", protocol.section(found[1])).strip(),
        assets.read(f"protocol/{task}.md"),
    )


def _lines(data: bytes) -> str:
    """The text without our marker line, and with the line ends of prompts."""
    return unstamped(data.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n"))


def _sections(text: str) -> dict[str, str]:
    """What stands under each heading of the second level; a `## ` in a code fence is none."""
    found: dict[str, list[str]] = {}
    name, fenced = "", False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        if line.startswith("## ") and not fenced:
            name = line[3:].strip()
        else:
            found.setdefault(name, []).append(line)
    return {name: "\n".join(lines).strip() for name, lines in found.items()}
