"""What is read from a page, and when it counts as shown: a guide that is wrong must be found."""

import json
from pathlib import Path
from typing import Any

import pytest
from blocks import Step, is_shown, normal, steps
from demo_project import prepare, talk
from json_shapes import SHOWN, fits
from projects import Ask, Git, Patch, Run
from scene import Scene
from stores import observe

from mdmemory import Memory
from mdmemory.cli.commands import COMMANDS

PAGE = """\
Text, and `$ not typed`.

```console
$ cat > note.md <<'END'
$ this is the note
END
$ mdmemory add one \\
    --type user
Stored user-one.md.
```

```sh
$ not run
```

```session
> Remember that it rains.
mdmemory: Remembered: it rains.
$ no command here
```
"""


def test_the_steps_of_a_page_are_those_of_its_terminals_and_sessions_in_order() -> None:
    assert steps(PAGE) == [
        Step("$", "cat > note.md <<'END'\n$ this is the note\nEND", ""),
        Step("$", "mdmemory add one \\\n    --type user", "Stored user-one.md.\n"),
        Step(
            ">", "Remember that it rains.", "mdmemory: Remembered: it rains.\n$ no command here\n"
        ),
    ]


def test_a_block_that_shows_something_before_anything_is_typed_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing is typed before"):
        steps("```console\nStored.\n$ ls\n```\n")


REAL = "one\ntwo\nthree\nfour\n"
WHOLE = (
    "one\n...\nfour\n", "...\n", "one\n...\n", "...\nthree\nfour\n",
    "one\n...\nthree\n...\nfour\n", "...\ntwo\n...\n", "one\ntwo\n...\nthree\nfour\n",
)  # fmt: skip
WRONG = (
    "", "one\ntwo\nthree\n", "one\n...\nthree\n", "...\nfive\n...\n",
    "...\nthree\n...\ntwo\n...\n", "one\ntwo\n...\ntwo\nthree\nfour\n",
    "one\n...\nfour\n...\nfour\n",
)  # fmt: skip


def test_a_page_shows_all_lines_or_says_where_some_are_left_out() -> None:
    assert [text for text in (REAL, *WHOLE) if not is_shown(text, REAL)] == []
    assert [text for text in WRONG if is_shown(text, REAL)] == []
    assert is_shown("", ""), "nothing is shown only where nothing was printed"
    assert not is_shown("", "an error\n")
    assert not is_shown("words\n", "")


def test_ids_dates_and_the_home_do_not_count() -> None:
    real = "m-0123abcd in 0123456789 of /tmp/x/you/shop on 2026-01-02"
    page = "m-fedcba98 in 9876543210 of /home/you/shop on 2025-03-04"
    assert normal(real, "/tmp/x/you") == normal(page)
    assert normal(real, "/tmp/x/you") != normal(page.replace("shop", "other"))


@pytest.mark.parametrize(
    ("sign", "typed", "shown"),
    [
        ("$", "echo really", "something else\n"),
        ("$", "mdmemory show nothing", ""),
        ("$", "false", ""),
        (">", "Good morning!", "mdmemory: Remembered: good morning.\n"),
    ],
)
def test_a_page_that_is_wrong_is_found(tmp_path: Path, sign: str, typed: str, shown: str) -> None:
    scene = Scene(tmp_path / "you")
    scene.follow([Step("$", "cd / && cd ~/shop && pwd", "/home/you/shop\n")])
    with pytest.raises(AssertionError, match=typed):
        scene.follow([Step(sign, typed, shown)])


# docs/answers.json, held to what each command answers in one small project.

Answers = dict[str, Any]
# What prints no JSON of its own, and what runs on: a server, a connection.
OTHERS = {"demo", "completion", "mcp", "bridge", "hook", "web"}

ADD = ("add", "tabs-in-go", "--type", "feedback", "--description", "Go uses tabs", "gofmt does.")
PLACE = ("--cite", "server.py#L1")


def of_notes(ask: Ask) -> Answers:
    """One note from its beginning to its end."""
    found = {"add": ask(*ADD)}
    found["edit"] = ask("edit", "tabs-in-go", "--description", "Go uses tabs, always")
    found["show"] = ask("show", "prefers-pnpm")
    found |= {"list": ask("list"), "search": ask("search", "pnpm"), "export": ask("export")}
    found["log NAME"] = ask("log", "tabs-in-go")
    found["rename"] = ask("rename", "tabs-in-go", "go-uses-tabs")
    ask("undo")
    found["forget"] = ask("forget", "tabs-in-go")
    found["undo"] = ask("undo")
    ask("forget", "tabs-in-go")
    found["export --markdown"] = ask("export", "--markdown", "all.md")
    found["export --okf"] = ask("export", "--okf", "bundle")
    Path("server.py").write_text("PORT = 8081\n", "utf-8")
    ask("add", "The server has one port", *PLACE)
    Path("server.py").write_text("PORT = 9090\n", "utf-8")
    return found | {"check": ask("check")}


def of_passes(ask: Ask) -> Answers:
    """A session is read, and the notes are compacted."""
    fact = "remember: Uses pnpm, never npm, in every JavaScript project"
    found = {"explain": ask("explain", fact)}
    found["extract"] = ask("extract", "--transcript", "session.json")
    found["log --captures"] = ask("log", "--captures")
    found["compact"] = ask("compact", "--plan", "plan.json")
    ask("compact")
    return found | {"log": ask("log"), "log -p": ask("log", "-p", "-n", "1")}


def of_inbox(ask: Ask) -> Answers:
    """What waits after that: a fact, and a contradiction."""
    found = {"review": ask("review"), "status": ask("status")}
    (id,) = [each["id"] for each in found["review"] if each["kind"] == "conflict"]
    found["review ID"] = ask("review", id)
    found["review ID ANSWER"] = ask("review", id, "both")
    ask("undo")
    found["review --all KIND ANSWER"] = ask("review", "--all", "conflict", "both")
    return found


def of_store(ask: Ask) -> Answers:
    """The store and its surroundings."""
    found = {"doctor": ask("doctor")}
    found["audit"] = ask("audit", "notes/memory")
    found["config list"] = ask("config", "list", "index.max_entries")
    found["config get"] = ask("config", "get", "index.max_entries")
    found["config set"] = ask("config", "set", "index.max_entries", "70")
    found["index"] = ask("index")
    found["setup"] = ask("setup", "opencode", "--dry-run")
    found["init --dry-run"] = ask("init", "--opencode", "--dry-run")
    Path("CLAUDE.md").write_text("# Facts\n\n- Billing uses PostgreSQL 15\n", "utf-8")
    found["import"] = ask("import", "CLAUDE.md", "--yes")
    protocol = Path(".opencode/memory/PROTOCOL.md")
    protocol.parent.mkdir(parents=True)
    protocol.write_text("# Ours\n\n## The bar\n\nStore little.\n", "utf-8")
    return found


def of_sessions(ask: Ask, memory: Memory) -> Answers:
    """What is kept of sessions."""
    with memory.session("ses_1") as own:
        own.write("goal", "Ship it", now=memory.now())
    observe(memory, "The gateway answers 429", "ses_1", files=["a.py"])
    found = {"session": ask("session"), "session ID": ask("session", "ses_1")}
    found |= {"session NUMBER": ask("session", "1"), "session --work": ask("session", "--work")}
    found["session --forget"] = ask("session", "--forget", "1")
    return found | {"session --sweep": ask("session", "--sweep")}


@pytest.fixture
def answers(repository: Path, git: Git, monkeypatch: Patch, run: Run) -> Answers:
    """The JSON of each command in one small project."""
    prepare(repository)
    talk(repository)
    monkeypatch.chdir(repository)
    ask = lambda *words: json.loads(run(*words, "--json").out)  # noqa: E731
    found = {"init": ask("init", "--store", "notes/memory"), "an error": ask("show", "nothing")}
    found |= of_notes(ask) | of_passes(ask) | of_inbox(ask) | of_store(ask)
    found |= of_sessions(ask, Memory.open(repository))
    git(repository, "init", "-q", "--bare", "../remote.git")
    git(repository, "remote", "add", "origin", "../remote.git")
    git(repository, "push", "-q", "-u", "origin", "main")
    return found | {"sync": ask("sync"), "move": ask("move")}


def test_the_file_has_an_answer_of_every_command() -> None:
    assert {name for name, _, _ in COMMANDS} - OTHERS <= {name.split(" ")[0] for name in SHOWN}


@pytest.mark.slow
def test_each_example_has_exactly_the_keys_of_the_real_answer(answers: Answers) -> None:
    assert set(answers) == set(SHOWN)
    for name in SHOWN:
        assert fits(name, answers[name]), name
