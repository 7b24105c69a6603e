"""Whatever lies in the place of `.mdmemory`, no command follows it, changes it or fails by it."""

import io
import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from pace import seldom
from projects import Git, Patch, Run, Say

from mdmemory.errors import GOING_ON
from mdmemory.hosts.background import Log, Starter
from mdmemory.hosts.opencode.hooks import Hooks
from mdmemory.memory import Memory

USER = ("--type", "feedback", "--description")
SAID = [{"type": "text", "text": "remember: the office is in Graz"}]
ASKED = {"info": {"id": "msg_1", "role": "user"}, "parts": SAID}
TALK = {"info": {"id": "ses_1", "title": "Talk"}, "messages": [ASKED]}
READING = (("list",), ("search", "one"), ("status",), ("log",), ("review",))
WRITING = (
    ("compact", "--if-due"), ("compact",), ("extract", "--transcript", "talk.json"),
    ("add", "three", *USER, "Another thing", "Body three."),
    ("edit", "one", "--description", "Something else"), ("forget", "two"), ("undo",), ("init",),
)  # fmt: skip
STATE = ".mdmemory/state.db"
Put = Callable[[Path, Path], None]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory, begin: Callable[..., None]) -> Path:
    root = tmp_path_factory.mktemp("template") / "project"
    one = ("mdmemory", "add", "one", *USER, "One thing", "Body one.")
    begin(root, one, ("mdmemory", "add", "two", *USER, "Other thing", "Body two."))
    (root / "talk.json").write_text(json.dumps(TALK), encoding="utf-8")
    (root / STATE).unlink(missing_ok=True)
    return root


def database(path: Path) -> None:
    with sqlite3.connect(path) as theirs:
        theirs.execute("CREATE TABLE theirs (x)")
    theirs.close()


# What each puts in its place; `outside` is a folder beside the project.


def linked_file(root: Path, outside: Path) -> None:
    database(outside / "app.db")
    (root / STATE).symlink_to(outside / "app.db")


def link_to_nothing(root: Path, outside: Path) -> None:
    (root / STATE).symlink_to(outside / "fresh.db")


def linked_folder(root: Path, outside: Path) -> None:
    shutil.rmtree(root / ".mdmemory")
    (root / ".mdmemory").symlink_to(outside)


def linked_parts(root: Path, outside: Path) -> None:
    (root / ".mdmemory/.gitignore").unlink()
    (root / ".mdmemory/search.db").unlink(missing_ok=True)
    for name in ("state.db-wal", "search.db", ".gitignore", "bridge.log"):
        (root / ".mdmemory" / name).symlink_to(outside / name)
    for name in ("outputs", "refused", "aside", "waiting"):
        (root / ".mdmemory" / name).symlink_to(outside)


def pipe(root: Path, outside: Path) -> None:
    os.mkfifo(root / STATE)


def folder(root: Path, outside: Path) -> None:
    (root / STATE).mkdir()


def foreign(root: Path, outside: Path) -> None:
    database(root / STATE)


def file_for_folder(root: Path, outside: Path) -> None:
    shutil.rmtree(root / ".mdmemory")
    (root / ".mdmemory").write_text("mine", encoding="utf-8")


def tracked(root: Path, outside: Path) -> None:
    database(root / STATE)
    (root / ".mdmemory/catalog").write_text("planted", encoding="utf-8")
    subprocess.run(["git", "add", "-f", ".mdmemory"], cwd=root, check=True)


WAYS = (
    linked_file, link_to_nothing, linked_folder, linked_parts, pipe, folder, foreign,
    file_for_folder, tracked,
)  # fmt: skip


def seen(outside: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in outside.iterdir()}


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    return tmp_path / "outside"


@pytest.mark.parametrize("put", seldom(WAYS, 4))
def test_every_command_goes_on_without_state_and_says_so_once(
    project: Path, outside: Path, put: Put, run: Run, monkeypatch: Patch
) -> None:
    put(project, outside)
    before = seen(outside)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    for words in (*READING, *WRITING):
        code, out, err = run(*words, "--json")
        assert (code, "error" in json.loads(out)) == (0, False), (words, err)
        assert err.count(GOING_ON) <= 1
        if words[0] in ("status", "compact", "extract"):
            assert GOING_ON in err, words
            assert any(f"`{step} " in err for step in ("rm", "mv", "git rm -r --cached"))
    assert seen(outside) == before
    code, out, _ = run("doctor", "--json")
    found = json.loads(out)["findings"]
    assert (code, "state" in {each["check"] for each in found}) == (1, True)


@pytest.mark.parametrize("put", seldom(WAYS, 4))
def test_the_bridge_goes_on_without_state(project: Path, outside: Path, put: Put) -> None:
    put(project, outside)
    before, log = seen(outside), Log()
    start = Starter(lambda: ["false"], project)
    methods = Hooks(lambda: Memory.around(project, tell=log.say), start, log).methods()
    part = {"type": "text", "text": "Remember that deploys go out on Tuesdays only."}
    asked = {"session": "ses_1", "message": "msg_1", "parts": [part]}
    assert "asks to remember" in methods["message"](asked)["parts"][0]
    for method in ("system", "tool", "compacting"):
        methods[method]({"session": "ses_1", "tool": "bash", "call": "c", "output": "x\n" * 900})
    methods["message"](asked | {"message": "msg_2", "parts": [{"type": "text", "text": "hello"}]})
    assert (project / "notes/memory/project-deploys-go-out-on-tuesdays.md").is_file()
    assert seen(outside) == before


def test_what_a_repository_brings_as_the_heads_of_notes_is_not_believed(
    project: Path, git: Git, say: Say
) -> None:
    say("list")
    catalog = project / ".mdmemory/catalog"
    assert b"One thing" in catalog.read_bytes()
    git(project, "add", "-f", ".mdmemory")
    stamp = catalog.stat().st_mtime_ns
    (project / "notes/memory/feedback-one.md").write_text("Another text.\n", encoding="utf-8")
    assert "Another text." in say("list")
    assert catalog.stat().st_mtime_ns == stamp
