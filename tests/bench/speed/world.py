"""A project with a store of so many notes, its twin for plain git, and the floors beside them."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from itertools import count
from pathlib import Path

from bench import many_notes
from bench.speed.measure import Cost, Starter, Step, inside

from mdmemory import Memory

STORE = "notes/memory"
SETTLE = 2.2  # seconds; younger files are read again, and that is not what is measured here
SCRIPT = Path(sys.executable).with_name("mdmemory")
PLAIN = Path(__file__).with_name("plain_table.py")
DERIVED = ("MEMORY.md", "_MORE.md")
BY_HAND = 20  # every so manieth note has a head as a person writes it, which takes a YAML reader
TEN = 10


def notes(size: int) -> dict[str, str]:
    """The text of each note by file: those of `many_notes`, some with a head written by hand."""
    found = many_notes.notes(size)
    for number, (file, text) in enumerate(found.items()):
        # what begins with such a sign has to stand in quotes, and no writer of ours forgets them
        found[file] = text = re.sub(r"\ndescription: [-%\s]+", "\ndescription: ", text, count=1)
        if number % BY_HAND == 0:
            found[file] = _by_hand(text, number)
    return found


def _by_hand(text: str, number: int) -> str:
    """The same note with a comment, quotes or a folded line, and keys of the person's own."""
    _, head, body = text.split("---\n", 2)
    lines = dict(line.strip().partition(": ")[::2] for line in head.splitlines())
    kind, day = lines["type"], lines["created"]
    if number % 2:
        head = (
            f"# by hand\nname: '{lines['name']}'\ndescription: >-\n  {lines['description']}\n"
            f"tags: [a, b]\nmetadata: {{type: {kind}, created: {day}}}\n"
        )
    else:
        head = (
            f'description: "{lines["description"]}: \\u00e9"\nname: {lines["name"]}\nmetadata:\n'
            f"    type: {kind}   # four spaces\n    created: {day}\n"
        )
    return f"---\n{head}---\n{body}"


class World:
    """A project below `root` with `size` notes, all committed and indexed."""

    def __init__(
        self, root: Path, size: int, starter: Starter, texts: Mapping[str, str] | None = None
    ) -> None:
        self.size, self.starter, self._root = size, starter, root
        self.project, self.twin = root / "project", root / "twin"
        self.store, self.private = self.project / STORE, self.project / ".mdmemory"
        self.texts = notes(size) if texts is None else texts
        self.files = sorted(self.texts)
        self.project.mkdir(parents=True)
        Memory.init(self.project)
        for file, text in self.texts.items():
            (self.store / file).write_text(text, encoding="utf-8")
        self._number = count()
        self._settled = 0

    def commit(self) -> Cost:
        """Index the notes, and commit them with git alone. Returns what the index took, of notes
        that somebody copied there and no commit holds."""
        first = self.ours("index")
        # no repacking behind our back while it is copied and measured
        git(self.project, "config", "gc.auto", "0")
        git(self.project, "add", "-A")
        git(self.project, "commit", "-q", "--allow-empty", "-m", "notes")
        return first

    def ours(self, *words: str, said: str = "", codes: Container[int] = (0,)) -> Cost:
        """What a command of ours costs in the project."""
        return self.starter.run(self.project, str(SCRIPT), *words, said=said, codes=codes)

    def step(self, *words: str) -> Step:
        """The same as a step, in which `{name}` is a note's, `{question}` and `{new}` others each
        time."""

        def run() -> Cost:
            given = {"name": self.known, "question": self.question, "new": self.name()}
            # doctor ends with 1 where it finds notes that seem to hold secrets, as some here do
            codes = (0, 1) if words[0] == "doctor" else (0,)
            return self.ours(*(word.format(**given) for word in words), codes=codes)

        return run

    def add(self) -> Cost:
        """What it costs to add a note that says what none says: the same again is not stored."""
        name = self.name()
        words = ("--type", "project", "--description", f"The {name} of the team is green")
        return self.ours("add", name, *words, "It is drunk with milk.")

    def follow_a_remote(self) -> None:
        """Let the branch follow that of an empty repository beside it, pushed already."""
        remote = self._root / "remote.git"
        git(self._root, "init", "-q", "--bare", str(remote))
        git(self.project, "remote", "add", "origin", str(remote))
        git(self.project, "push", "-q", "-u", "origin", "HEAD")

    def settle(self) -> None:
        """Let all that was written be known, and old enough to be trusted."""
        time.sleep(SETTLE)
        self.ours("index")
        self.ours("search", "anything")

    def settle_once(self) -> None:
        """The same, where nothing was written since it was last done."""
        newest = max(os.lstat(self.store / each).st_ctime_ns for each in os.listdir(self.store))
        if newest != self._settled:
            self.settle()
            self._settled = newest

    def name(self) -> str:
        """A name that no note has yet."""
        return f"tea-{next(self._number)}"

    @cached_property
    def memory(self) -> Memory:
        """The store, opened in this process."""
        return Memory.open(self.project)

    @cached_property
    def known(self) -> str:
        """The name of a note in the middle of the store."""
        return self.files[self.size // 2].removesuffix(".md")

    @property
    def question(self) -> str:
        """What somebody asks who remembers half of a note; another one each time."""
        number = next(self._number) * 7919 % self.size
        return many_notes.question(self.texts[self.files[number]])

    @cached_property
    def floors(self) -> Mapping[str, Step]:
        """What each floor costs, by the name that the targets use."""
        return {
            "bare Python": lambda: self.starter.run(self.project, sys.executable, "-c", "pass"),
            "look": inside(self._look),
            "plain table": self._plain_table,
            "git add + commit": self._git_add,
            "git, two commits": self._git_twice,
            "cold search": lambda: self.ours("search", self.question),
            "add in process": self.add_in_process,
        }

    def add_in_process(self) -> Cost:
        """What a note costs that a running process stores."""
        name = self.name()
        return inside(
            lambda: self.memory.add(
                name, type="project", description=f"The {name} is green", body="With milk."
            )
        )()

    def _look(self) -> None:
        with os.scandir(self.store) as entries:
            for entry in entries:
                entry.stat(follow_symlinks=False)

    def _plain_table(self) -> Cost:
        database = self._root / "plain.db"
        database.unlink(missing_ok=True)
        # the modules that ours may use, so that no start-up of ours is hidden in it
        words = (sys.executable, str(PLAIN), str(self.store), str(database))
        return self.starter.run(self.project, *words)

    @cached_property
    def _twin(self) -> Path:
        subprocess.run(["cp", "-a", self.project, self.twin], check=True)
        shutil.rmtree(self.twin / ".mdmemory", ignore_errors=True)
        git(self.twin, "status", "--short")  # so that git knows the copied files
        git(self.twin, "add", "-A")
        git(self.twin, "commit", "-q", "--allow-empty", "-m", "as it is")
        return self.twin

    def _git_add(self) -> Cost:
        """One new note, and the index files that a new note changes."""
        name = f"project-{self.name()}.md"
        store = self._twin / STORE
        (store / name).write_text(self.texts[self.files[0]] + name, encoding="utf-8")
        derived = [each for each in DERIVED if (store / each).exists()]
        append(store, derived)
        return self._committed([name, *derived])

    def _git_twice(self) -> Cost:
        """Ten notes changed by hand and committed, and changed again with the index files."""
        store = self._twin / STORE
        ten = self.ten
        append(store, ten)
        first = self._committed(ten)
        derived = [each for each in DERIVED if (store / each).exists()]
        append(store, [*ten, *derived])
        return first + self._committed([*ten, *derived])

    @property
    def ten(self) -> list[str]:
        """Files of ten notes all over the store."""
        return self.files[:: max(1, self.size // TEN)][:TEN]

    def _committed(self, files: list[str]) -> Cost:
        paths = [f"{STORE}/{file}" for file in files]
        run = self.starter.run
        return run(self.twin, "git", "add", "--", *paths) + run(
            self.twin, "git", "commit", "-q", "-m", "add"
        )


def append(folder: Path, files: list[str]) -> None:
    """Change these files as a hand would."""
    for file in files:
        with (folder / file).open("a", encoding="utf-8") as opened:
            opened.write("More.\n")


def git(folder: Path, *words: str, data: bytes | None = None) -> bytes:
    """What git answers; nothing of it is measured."""
    done = subprocess.run(["git", *words], cwd=folder, check=True, input=data, capture_output=True)
    return done.stdout


def forget(world: World) -> Callable[[], None]:
    """Take away all that is derived and lies outside git."""
    return lambda: shutil.rmtree(world.private, ignore_errors=True)


@contextmanager
def clean_environment(home: Path) -> Iterator[dict[str, str]]:
    """Nothing of the person's: no settings, no git configuration, an identity of our own."""
    for name in list(os.environ):
        if name.startswith(("GIT_", "MDMEMORY_", "MEMORY_", "OPENAI_", "XDG_", "PYTHON")):
            del os.environ[name]
    home.mkdir(parents=True, exist_ok=True)
    # by a file, as most people have it: of the caller's GIT_* variables nothing reaches our git
    identity = "[user]\n\tname = Bench\n\temail = bench@example.com\n[init]\n\tdefaultBranch=main\n"
    (home / ".gitconfig").write_text(identity + "[gc]\n\tauto = 0\n", encoding="utf-8")
    os.environ |= {"HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}
    yield dict(os.environ)
