"""`mdmemory demo`: the main job from end to end, in a folder of its own, with real git.

Each step says what it shows and the command that a person would type, and then runs just that.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from mdmemory import assets
from mdmemory.errors import MdmemoryError
from mdmemory.git.repositories import is_installed

_PROJECT, _STORE = "billing", "mdmemory/billing"  # below the demo's folder
_SEEN_AS = f"~/{_STORE}"
_PERSON = """\
[user]
	name = You
	email = you@example.com
[init]
	defaultBranch = main
"""


def run_demo(options: Namespace) -> int:
    if not is_installed():
        raise MdmemoryError("The demo needs git.", "Install git and run it again.", "no_git")
    if options.dir is None:
        folder = Path(tempfile.mkdtemp(prefix="mdmemory-demo-"))
    else:
        folder = Path(options.dir).absolute()
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise MdmemoryError(
                f"{folder} is not an empty folder.", "Name one that is not there yet."
            )
        folder.mkdir(parents=True, exist_ok=True)
    with _at_home_in(folder):
        _say_styled(1, f"The demo's home folder is {folder}; your own notes are not touched.")
        _play_demo(folder)
    return 0


@contextlib.contextmanager
def _at_home_in(folder: Path) -> Iterator[None]:
    """The steps run in the demo's project, with `folder` as home: they see none of the caller's
    settings, and touch none of their notes."""
    before = dict(os.environ)
    for name in before:
        if name.startswith(_SETTINGS) or name == "CI":
            del os.environ[name]
    os.environ["HOME"] = str(folder)
    project = folder / _PROJECT
    project.mkdir()
    try:
        with contextlib.chdir(project):
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)


_SETTINGS = ("MDMEMORY_", "MEMORY_", "GIT_", "XDG_")


def _play_demo(folder: Path) -> None:
    from mdmemory.hosts.git_hooks import program_words

    Path(folder, ".gitconfig").write_text(_PERSON, encoding="utf-8")
    _run_git("init", "-q")
    _run_git("commit", "-q", "--allow-empty", "-m", "first")
    shutil.copy(assets.asset_path("templates/demo/transcript.json"), "transcript.json")
    _run_mdmemory("A project gets a store in your memory folder. The project itself gets no file.",
              "init")  # fmt: skip
    store = folder / _STORE
    shutil.copytree(assets.asset_path("templates/demo/notes"), store, dirs_exist_ok=True)
    why = "Eight notes that you wrote by hand, put there, are listed in MEMORY.md."
    _run_mdmemory(why, "index")
    _run_mdmemory(
        "From a session with OpenCode: what you asked to remember becomes notes, the rest does "
        "not.",
        "extract", "--transcript", "transcript.json",
    )  # fmt: skip
    _print_step("Your assistant reads this before every request.", f"cat {_SEEN_AS}/MEMORY.md")
    print((store / "MEMORY.md").read_text(encoding="utf-8"), end="")

    why = "Compaction merges duplicates and flags contradictions, in one commit."
    _run_mdmemory(why, "compact")
    in_store, show = f"git -C {_SEEN_AS}", ("show", "--stat", "--format=%s")
    ledger = f"tail -n 1 {_SEEN_AS}/_CONFLICTS.md"
    _print_step("That commit, and the contradiction that it wrote down:",
          f"{in_store} {' '.join(show)}; {ledger}")  # fmt: skip
    colour = "--color=always" if sys.stdout.isatty() else "--color=never"
    print(_run_git("-C", str(store), *show, colour), end="")
    print((store / "_CONFLICTS.md").read_text(encoding="utf-8").splitlines()[-1])
    revert = ("revert", "--no-edit", "HEAD")
    _print_step("It is plain text in git, so git can revert it.", f"{in_store} {' '.join(revert)}")
    print(_run_git("-C", str(store), *revert), end="")
    _run_mdmemory("Every byte is as before, and the index matches the notes.", "index", "--check")

    _say_in_session("You tell your assistant a fact. Here it calls no tool, so the hook keeps your "
            "own words when the turn ends:",
            "Remember that deploys go out on Tuesdays only.")  # fmt: skip
    _run_mdmemory(
        "You change your mind. An assistant says so by the same tool; this is the command.",
        "add", "Deploys go out on Thursdays only", "--replaces", "deploys-go-out-on-tuesdays",
    )  # fmt: skip
    _print_step("One line of the two is left in the index.", f"grep Deploys {_SEEN_AS}/MEMORY.md")
    lines = (store / "MEMORY.md").read_text(encoding="utf-8").splitlines()
    print("\n".join(line for line in lines if "Deploys" in line))

    _run_mdmemory("Forget a note. (In a session: \"Forget what I told you about ...\")",
              "forget", "reference-error-dashboard")  # fmt: skip
    _run_mdmemory("Take the newest change back, whatever it was.", "undo")
    _run_mdmemory("What mdmemory must not decide by itself waits for you.",
              "add", "Indent Python with spaces, width 8")  # fmt: skip
    why = "This is the inbox. At a terminal, `mdmemory review` takes one key for each answer."
    _run_mdmemory(why, "review", piped="cat")
    _run_mdmemory("Each change is one commit.", "log", "-n", "3")

    program = "mdmemory" if shutil.which("mdmemory") else shlex.join(program_words())
    place = shlex.quote(str(store))
    print()
    _say_styled(1, "Where to look:")
    print(f"  the notes      {store}")
    print(f"  their history  git -C {place} log --stat")
    print(f"  the inbox      {program} --store {place} review")
    _say_styled(1, "For your own projects:")
    print(f"  {program} setup    # connects OpenCode, Claude Code, Codex, Gemini CLI and editors")
    print('  and then say in a session: "Remember that ..."')


# --- how a step runs


def _say_in_session(why: str, words: str) -> None:
    """Send a message and the end of its turn as Claude Code does, and print what its hooks show:
    here without a process that answers them, and none is started."""
    from mdmemory.hosts.background import Log, Starter
    from mdmemory.hosts.commands.hooks import CommandHooks
    from mdmemory.hosts.git_hooks import program_words
    from mdmemory.memory import Memory

    opened = partial(Memory.around, holder="the demo", automatic=True)
    hooks = CommandHooks(opened, partial(Starter, program_words), Log())
    _print_step(why, words, sign=">")
    event = {
        "session_id": "the-demo", "prompt": words, "cwd": os.getcwd(),
        "prompt_id": words.replace(" ", "-").rstrip("."),
    }  # fmt: skip
    for name in ("UserPromptSubmit", "Stop"):
        event["hook_event_name"] = name
        answer = hooks.hook({"host": "claude", "folder": os.getcwd(), "event": event})
        if message := answer["output"].get("systemMessage"):
            print(message)


def _run_mdmemory(why: str, *words: str, piped: str = "") -> None:
    from mdmemory.cli import main

    command = shlex.join(("mdmemory", *words))
    _print_step(why, f"{command} | {piped}" if piped else command)
    printed = io.StringIO()  # no terminal: a command asks nothing
    try:
        with contextlib.redirect_stdout(printed):
            code = main(words)
    finally:
        print(printed.getvalue(), end="")
    if code != 0:
        raise MdmemoryError(f"`{command}` failed.", "See the lines above.")


def _print_step(why: str, command: str, sign: str = "$") -> None:
    print()
    _say_styled(36, f"# {why}")
    _say_styled(32, f"{sign} {command}")
    sys.stdout.flush()


def _run_git(*words: str) -> str:
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MdmemoryError(f"`git {' '.join(words)}` failed: {done.stderr.strip()}")
    return done.stdout


def _say_styled(colour: int, text: str) -> None:
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        text = f"\x1b[{colour}m{text}\x1b[0m"
    print(text)
