"""A project with a store in the memory folder, and what its notes cite."""

import subprocess
from pathlib import Path

import pytest
from pace import HUNG
from projects import KeptProject

from mdmemory import CheckedCitation, Memory

SERVER = """import socket

TIMEOUT = 30  # seconds
PORT = 8081


def start(port=PORT):
    sock = socket.socket()
    sock.bind(("", port))
    return sock
"""


class CitedProject:
    """A git repository, and the memory of it."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.git("config", "user.name", "A Person")
        self.git("config", "user.email", "person@example.com")

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=self.top, capture_output=True, text=True,
                              check=False, timeout=HUNG)  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def write(self, path: str, text: str | bytes) -> None:
        place = self.top / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode() if isinstance(text, str) else text)

    def replace(self, path: str, old: str, new: str) -> None:
        text = (self.top / path).read_text()
        assert old in text
        self.write(path, text.replace(old, new))

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "work")

    @property
    def memory(self) -> Memory:
        """Opened anew, as each command does."""
        return Memory.open(self.top)

    def note(self, text: str, *cite: str) -> tuple[str, ...]:
        """Add a note; its citations, without what they are pinned to."""
        done = self.memory.add("the-note", type="project", description=text, cite=cite)
        return tuple(each.partition("@")[0] for each in self.memory.note(done.file).note.head.cites)

    def by_hand(self, *cites: str) -> None:
        """Write a note as a hand does."""
        listed = ", ".join(f'"{cite}"' for cite in cites)
        text = "---\nname: by-hand\ndescription: What a hand wrote\nmetadata:\n  type: project\n"
        store = self.memory.project.store
        (store / "project-by-hand.md").write_text(f"{text}  cites: [{listed}]\n---\n\nText.\n")

    def checked(self) -> list[CheckedCitation]:
        return self.memory.citations()

    def states(self) -> list[str]:
        """The state of each citation, and the place where it stands if that is another one."""
        return [f"{each.state} {each.now}".strip() for each in self.checked()]


@pytest.fixture(scope="session")
def _cited(_clean_environment: None, tmp_path_factory: pytest.TempPathFactory) -> KeptProject:
    return KeptProject(tmp_path_factory.mktemp("cited"), made)


@pytest.fixture
def cited(_cited: KeptProject, empty_home: Path) -> CitedProject:
    """A project with `src/server.py`, and an empty store."""
    return CitedProject(_cited.copy(empty_home))


def made(top: Path, *how: str) -> CitedProject:
    top.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main", *how], cwd=top, check=True, timeout=HUNG)
    found = CitedProject(top)
    found.write("src/server.py", SERVER)
    found.write("docs/reasons.md", "Why.\n")
    found.commit()
    Memory.init(top, home=True)
    return found
