"""How many files and functions one command walks through, against marks that only fall (size.toml).

Counted are the functions and lambdas of the package that a fresh process calls, each once, and the
files they stand in, from the start of `main` to its end, in every thread. A comprehension is part
of the function around it (later Pythons run it there); class bodies
and modules that are only imported do not count. The texts name nothing that has a lock,
a database say: those are read closer for secrets.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import size
from pace import HUNG

import mdmemory
from mdmemory.hosts.opencode.hooks import PROTOCOL

PACKAGE = Path(mdmemory.__file__).parent

MARKS = size.read_marks((size.ROOT / size.MARKS).read_text("utf-8"))

# calls `main` with the words after the first, and writes what was walked to that first word's file
TRACE = """
import inspect, json, sys, threading
out, base = sys.argv.pop(1), sys.argv.pop(1)
walked = {}
def look(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(base):
        is_body = not code.co_flags & inspect.CO_OPTIMIZED
        is_part = code.co_name in ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
        if not (is_body or is_part):
            walked[code.co_filename[len(base):], code.co_qualname, code.co_firstlineno] = None
from mdmemory.cli import main
if "bridge" in sys.argv:
    # traced, an answer may take longer than this, and a slow machine would look for a due pass too
    import mdmemory.hosts.opencode.hooks as hooks
    hooks.FIRST_LOOK = 300.0
    import mdmemory.cli.serving as serving
    serving.GRACE = 300.0  # its input ends at once
threading.setprofile(look)
sys.setprofile(look)
try:
    exit = main(sys.argv[1:])
finally:
    sys.setprofile(None)
    with open(out, "w") as file:
        json.dump([*walked], file)
sys.exit(exit)
"""

Walk = list[tuple[str, str, int]]  # file, function, line; in the order of the first call


def run(root: Path, *words: str, said: str = "", code: tuple[str, ...] = ("-m", "mdmemory")) -> str:
    """What `mdmemory WORDS` prints in the project `root`, asked as a person with nothing set."""
    clean = {"PATH": os.environ["PATH"], "HOME": str(root.parent), "GIT_CONFIG_GLOBAL": "/dev/null"}
    done = subprocess.run(
        [sys.executable, "-P", *code, *words], cwd=root, env=clean, input=said, text=True,
        capture_output=True, timeout=HUNG, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def walk(root: Path, *words: str, said: str = "") -> tuple[Walk, str]:
    """The functions that `mdmemory WORDS` calls, and what it prints."""
    out = root.parent / "walked.json"
    printed = run(root, *words, said=said, code=("-c", TRACE, str(out), f"{PACKAGE}{os.sep}"))
    return [(file, name, line) for file, name, line in json.loads(out.read_text())], printed


def check(path: str, walked: Walk) -> None:
    """The walk stays within its limits. On failure all of it is shown."""
    files = {file for file, _, _ in walked}
    steps = "\n".join(f"{file}:{line} {name}" for file, name, line in walked)
    now = {f"paths.{path}.files": len(files), f"paths.{path}.functions": len(walked)}
    assert not size.grown(now, MARKS), f"{size.grown(now, MARKS)}:\n{steps}"


@pytest.fixture(scope="module")
def template(begin: Callable[..., None], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one note, searched once the file system's clock has passed it by."""
    root = tmp_path_factory.mktemp("paths") / "project"
    words = ("--type", "project", "--description", "Deploys go out on Fridays.")
    begin(root, ("mdmemory", "add", "deploys", *words, "We deploy on Fridays."))
    run(root, "search", "deploys")
    time.sleep(2.2)  # a file that changed more recently is read again by every command
    run(root, "search", "deploys")
    return root


@pytest.fixture
def root(template: Path, tmp_path: Path) -> Path:
    """A copy of the project."""
    return Path(shutil.copytree(template, tmp_path / "project"))


def test_adding_a_second_note(root: Path) -> None:
    words = ("--type", "project", "--description", "Tests run before each commit.")
    walked, printed = walk(root, "add", "tests", *words, "They take a minute.")
    assert "project-tests.md" in printed
    check("add", walked)


def test_undoing_an_edit(root: Path) -> None:
    run(root, "edit", "deploys", "--description", "Deploys go out on Mondays.")
    walked, _ = walk(root, "undo")
    assert "Fridays" in (root / "notes/memory/project-deploys.md").read_text()
    check("undo", walked)


def test_hearing_a_message_through_the_bridge(root: Path) -> None:
    part = {"type": "text", "text": "Fix it. Remember: tests run before each commit"}
    params = {"session": "ses_1", "message": "msg_1", "parts": [part]}
    hello = {"id": 0, "method": "hello", "params": {"protocol": PROTOCOL, "mode": "run"}}
    request = {"id": 1, "method": "message", "params": params}
    said = f"{json.dumps(hello)}\n{json.dumps(request)}\n"
    for number in range(9):  # on a busy machine a search takes too long, and that is logged
        tried = shutil.copytree(root, root.with_name(f"try-{number}"), symlinks=True)
        walked, printed = walk(tried, "bridge", said=said)
        if "Log.failure" not in {name for _, name, _ in walked}:
            break
    assert "memory_store" in json.loads(printed.splitlines()[1])["result"]["parts"][0]
    (kept,) = (tried / "notes/memory/.inbox").glob("wish-*.md")
    assert "before each commit" in kept.read_text()
    check("message", walked)


def test_searching_where_nothing_changed(template: Path) -> None:
    walked, printed = walk(template, "search", "deploys")
    assert "project-deploys.md" in printed
    check("search", walked)
