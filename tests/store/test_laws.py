"""The laws of the store under any mix of what people, models and git do to it.

A state machine over a real repository. After every step of ours: whatever bytes stood in the store
before are in the work tree or reachable from a ref, the index is what the notes say, and nothing
outside the store has changed.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from pace import FULL, HUNG

from mdmemory import Memory
from mdmemory.errors import MdmemoryError

NAMES = ["alpha", "beta", "gamma", "delta"]
TEXTS = [
    "Uses pnpm, never npm.", "Uses npm 9, not pnpm.", "Deploys on Tuesdays at 10:00.",
    "See https://example.com/a and `make test`.", "喜欢简短的回答。", "Why: it broke twice.",
]  # fmt: skip
HAND = [
    b"no head at all\n", b"---\r\nname: mine\r\n---\r\n\r\ncrlf", b"\xff\xfe not text", b"",
    b"---\ndescription: fix: it\nx: [1\n---\n\nbroken head\n",
]  # fmt: skip
FILES = [f"user-{name}.md" for name in NAMES] + ["mine.md", "other.md"]
OUTSIDE = {"staged.txt": b"staged\n", "changed.txt": b"changed\n", "untracked.txt": b"new\n"}

texts = st.sampled_from(TEXTS)
files = st.sampled_from(FILES)


def op() -> st.SearchStrategy[dict[str, Any]]:
    merge = st.fixed_dictionaries({
        "op": st.just("merge"), "sources": st.lists(files, min_size=2, max_size=3, unique=True),
        "target": files, "name": st.sampled_from(NAMES), "type": st.just("user"),
        "description": texts, "body": texts,
    })  # fmt: skip
    delete = st.fixed_dictionaries({"op": st.just("delete"), "file": files, "reason": texts})
    rewrite = st.fixed_dictionaries({"op": st.just("rewrite"), "file": files, "body": texts})
    flag = st.fixed_dictionaries({
        "op": st.just("flag"), "files": st.lists(files, min_size=2, max_size=2, unique=True),
        "reason": texts,
    })  # fmt: skip
    return merge | delete | rewrite | flag


class StoreMachine(RuleBasedStateMachine):
    """Every rule is something a person, a model or git does."""

    @initialize()
    def begin(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="laws-"))
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "A Person")
        self.git("config", "user.email", "person@example.com")
        (self.root / "changed.txt").write_bytes(b"first\n")
        self.git("add", ".")
        self.git("commit", "-qm", "first")
        for name, data in OUTSIDE.items():
            (self.root / name).write_bytes(data)
        self.git("add", "staged.txt")
        self.memory, _ = Memory.init(self.root)
        self.store = self.memory.project.store

    def teardown(self) -> None:
        if hasattr(self, "root"):
            assert "missing" not in self.git("fsck", "--full", "--strict")
            shutil.rmtree(self.root)

    # what people do

    @rule(name=st.sampled_from(NAMES), text=texts)
    def add(self, name: str, text: str) -> None:
        self.ours(lambda: self.memory.add(name, type="user", description=text, body=text))

    @rule(file=files, text=texts)
    def edit(self, file: str, text: str) -> None:
        self.ours(lambda: self.memory.edit(file, body=text))

    @rule(file=files)
    def remove(self, file: str) -> None:
        self.ours(lambda: self.memory.remove(file))

    @rule(file=files, data=st.sampled_from(HAND))
    def save_in_an_editor(self, file: str, data: bytes) -> None:
        (self.store / file).write_bytes(data)

    @rule(file=files)
    def delete_by_hand(self, file: str) -> None:
        (self.store / file).unlink(missing_ok=True)

    @rule()
    def commit_by_hand(self) -> None:
        self.git("commit", "-q", "-m", "by hand", "--allow-empty", "--", "notes")

    # what models and our own commands do

    @rule(ops=st.lists(op(), max_size=4))
    def compact_with_a_plan(self, ops: list[dict[str, Any]]) -> None:
        self.ours(lambda: self.memory.compact(plan=json.dumps({"ops": ops})))

    @rule()
    def compact_offline(self) -> None:
        self.ours(self.memory.compact)

    @rule(which=st.integers(0, 5))
    def undo(self, which: int) -> None:
        log = self.memory.log()
        if log:
            entry, _ = log[min(which, len(log) - 1)]
            self.ours(lambda: self.memory.undo(entry.commit))

    # what git does

    @rule(which=st.integers(0, 3))
    def revert(self, which: int) -> None:
        if self.git("status", "--porcelain", "--", "notes").strip():
            return  # git refuses to revert over changes
        log = [entry for entry, _ in self.memory.log() if entry.get("Memory-Op") != "init"]
        if log:
            entry = log[min(which, len(log) - 1)]
            self.git("stash", "push", "-q", "--", "staged.txt", "changed.txt")
            if self.try_git("revert", "--no-edit", entry.commit):
                self.try_git("revert", "--abort")
            self.git("stash", "pop", "-q", "--index")

    @rule(branch=st.sampled_from(["main", "other"]))
    def switch(self, branch: str) -> None:
        known = self.git("branch", "--list", branch).strip()
        self.try_git("switch", "-q", *([] if known else ["-c"]), branch)

    # the laws

    def ours(self, act: Callable[[], object]) -> None:
        """Run one command of ours, which may refuse, and hold it to the laws."""
        before = self.bytes_in_store()
        try:
            act()
        except MdmemoryError as refusal:
            said = refusal.message
        else:
            said = "."
        assert said.endswith("."), "a refusal is a sentence"
        self.assert_nothing_lost(before)
        if not self.is_foreign():
            self.memory.index()
            assert self.memory.index(check=True).changed == ()
        for name, data in OUTSIDE.items():
            assert (self.root / name).read_bytes() == data
        outside = self.git("status", "--porcelain", "--", *OUTSIDE)
        assert outside.split("\n")[:-1] == [" M changed.txt", "A  staged.txt", "?? untracked.txt"]
        assert not list(self.store.glob(".mdmemory-*"))
        assert not (self.root / ".git" / "index.lock").exists()

    def is_foreign(self) -> bool:
        index = self.store / "MEMORY.md"
        return index.exists() and not index.read_bytes().startswith(b"<!-- generated")

    def bytes_in_store(self) -> dict[str, bytes]:
        return {
            path.name: path.read_bytes()
            for path in self.store.iterdir()
            if path.is_file() and path.name not in ("MEMORY.md", "_MORE.md")
        }

    def assert_nothing_lost(self, before: dict[str, bytes]) -> None:
        now = set(self.bytes_in_store().values())
        gone = [data for data in before.values() if data not in now]
        if gone:
            reachable = self.git("rev-list", "--objects", "--all")
            for data in gone:
                blob = self.git("hash-object", "--stdin", "--no-filters", data=data).strip()
                assert blob in reachable, data

    def git(self, *words: str, data: bytes = b"") -> str:
        done = subprocess.run(
            ["git", *words],
            cwd=self.root,
            input=data,
            capture_output=True,
            check=False,
            timeout=HUNG,
        )
        if words[0] not in ("commit",):
            assert done.returncode == 0, (words, done.stderr.decode())
        return done.stdout.decode("utf-8", "replace")

    def try_git(self, *words: str) -> int:
        done = subprocess.run(["git", *words], cwd=self.root, capture_output=True, check=False)
        return done.returncode


COMMON = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}


def run_machine(examples: int, steps: int) -> None:
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(
        StoreMachine, settings=settings(max_examples=examples, stateful_step_count=steps, **COMMON)
    )


def test_nothing_is_ever_lost_in_a_short_life() -> None:
    run_machine(40 if FULL else 4, 12)


@pytest.mark.slow
def test_nothing_is_ever_lost_in_many_long_lives() -> None:
    run_machine(200 if FULL else 8, 20)
