"""`session list` shows this project's sessions of both hosts, and `extract --session` reads one."""

import json
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from stores import BeginStore

from mdmemory import Memory
from mdmemory.cli import main

Capture = pytest.CaptureFixture[str]
DATA = Path(__file__).parent / "data"
CLAUDE = "0d1f6c1e-6a53-4a0e-9c0b-2f7a3f9f0001"
Git = Callable[..., str]
Patch = pytest.MonkeyPatch


class Bench:
    """A project, and the two hosts' sessions in a home of the test's own."""

    def __init__(self, root: Path, home: Path, capsys: Capture) -> None:
        self.root = root
        self.database = home / ".local/share/opencode/opencode.db"
        self.claude = home / ".claude/projects"
        self._capsys = capsys

    def ask(self, *words: str, code: int = 0) -> Any:
        """The JSON that a command answers."""
        assert main([*words, "--json"]) == code
        return json.loads(self._capsys.readouterr().out)

    def ids(self, *words: str, code: int = 0) -> list[str]:
        return [row["id"] for row in self.ask("session", *words, code=code)]

    def tell(self, *words: str, code: int = 0) -> str:
        """All that a command says to a person."""
        assert main([*words]) == code
        said = self._capsys.readouterr()
        assert "Traceback" not in said.err
        return said.out + said.err

    def opencode(self, id: str, folder: Path | str, *said: str, at: int = 1, **more: str) -> None:
        """A session of OpenCode, of these turns of the user."""
        self.database.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self.database)) as connection, connection:
            if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                connection.executescript((DATA / "opencode.sql").read_text(encoding="utf-8"))
            row = (id, more.get("parent"), str(folder), more.get("title", "A talk"), at)
            values = "(?, 'p', ?, 's', ?, ?, '1', 0, ?, NULL)"
            connection.execute(f"INSERT INTO session VALUES {values}", row)
        for n, text in enumerate(said, 1):
            self.say(id, n, text)

    def say(self, session: str, n: int, text: str) -> None:
        """One more turn of the user."""
        message, role = f"msg_{session}_{n}", {"role": "user", "time": {"created": n}}
        with closing(sqlite3.connect(self.database)) as connection, connection:
            row = (message, session, json.dumps(role))
            connection.execute("INSERT INTO message VALUES (?, ?, 0, 0, ?)", row)
            part = json.dumps({"type": "text", "text": text})
            row = (f"prt_{n}_{message}", message, session, part)
            connection.execute("INSERT INTO part VALUES (?, ?, ?, 0, 0, ?)", row)

    def session_of_claude(self, folder: Path, name: str = CLAUDE) -> Path:
        """The sample session of Claude Code, begun in `folder`."""
        slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(folder))
        file = self.claude / slug / f"{name}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        text = (DATA / "claude.jsonl").read_text(encoding="utf-8")
        file.write_text(text.replace('"/repo"', json.dumps(str(folder))), encoding="utf-8")
        return file


@pytest.fixture
def bench(
    begin_store: BeginStore, repository: Path, empty_home: Path,
    capsys: Capture, monkeypatch: Patch,
) -> Bench:  # fmt: skip
    begin_store()
    monkeypatch.chdir(repository)
    return Bench(repository, empty_home, capsys)


def test_the_sessions_of_both_hosts_are_listed_newest_first(bench: Bench) -> None:
    bench.opencode("ses_old", bench.root, "Fix it\nand more", at=1_780_000_000_000, title="")
    title = "a\x1b[2J\n\u202eb"  # which takes over no terminal
    bench.opencode("ses_new", bench.root, "one", "two", at=1_790_000_000_000, title=title)
    bench.session_of_claude(bench.root)
    names = ("id", "title", "time", "source", "turns", "read")
    assert bench.ask("session") == [
        dict(zip(names, row, strict=True))
        for row in (
            ("ses_new", title, "2026-09-21T14:13:20+00:00", "opencode", 2, 0),
            (CLAUDE, "Fix the flaky date test", "2026-06-01T09:00:28+00:00", "claude", 6, 0),
            ("ses_old", "Fix it", "2026-05-28T20:26:40+00:00", "opencode", 1, 0),
        )
    ]
    lines = bench.tell("session").splitlines()
    assert lines[0].startswith("2026-09-21 14:13 UTC  OpenCode     ses_new  2 turns, 2 unread")
    assert lines[0].endswith("  a[2J b")
    assert lines[-1] == "Read one: `mdmemory extract --session ID`."


def test_only_this_projects_sessions_are_listed(bench: Bench, tmp_path: Path) -> None:
    root = bench.root
    (root / "sub").mkdir()
    others = (tmp_path, f"{root}-2", "/", ".", "", "\0")
    for n, folder in enumerate((root, root / "sub", root / "gone", *others)):
        bench.opencode(f"ses_{n}", folder, "hello", at=9 - n)
    for folder in (root / "sub", tmp_path, Path(f"{root}-2")):
        bench.session_of_claude(folder)
    assert bench.ids() == [CLAUDE, "ses_0", "ses_1", "ses_2"]


def test_the_sessions_of_other_worktrees_are_listed_even_when_these_are_gone(
    bench: Bench, tmp_path: Path, git: Git, monkeypatch: Patch
) -> None:
    for name in ("one", "two"):
        git(bench.root, "worktree", "add", "-q", str(tmp_path / name))
        bench.opencode(f"ses_{name}", tmp_path / name / "src", "hello")
    bench.opencode("ses_main", bench.root, "hello")
    shutil.rmtree(tmp_path / "two")
    for folder in (bench.root, tmp_path / "one"):
        monkeypatch.chdir(folder)
        assert {*bench.ids()} == {"ses_main", "ses_one", "ses_two"}


def test_sub_agents_own_sessions_and_empty_ones_are_not_listed(bench: Bench) -> None:
    bench.opencode("ses_1", bench.root, "hello")
    bench.opencode("ses_2", bench.root, "hello", parent="ses_1")
    bench.opencode("ses_3", bench.root, "hello", title="mdmemory extract")
    bench.opencode("ses_4", bench.root)
    file = bench.session_of_claude(bench.root, "agent-1")
    file.with_name("empty.jsonl").write_text("", encoding="utf-8")
    assert bench.ids() == ["ses_1"]


def test_a_machine_without_hosts_has_no_sessions(bench: Bench) -> None:
    assert bench.ask("session") == []
    assert "No sessions of OpenCode, Codex, Gemini CLI or Claude Code" in bench.tell("session")
    assert not (bench.root / ".mdmemory/state.db").exists(), "looking makes no file"


def test_a_host_that_cannot_be_read_hides_no_other(bench: Bench) -> None:
    bench.session_of_claude(bench.root)
    bench.database.parent.mkdir(parents=True)
    bench.database.write_bytes(b"damaged")
    assert bench.ids(code=1) == [CLAUDE]
    said = "OpenCode's sessions cannot be listed. opencode.db is damaged"
    assert said in bench.tell("session", code=1)


def test_the_hosts_own_variables_say_where_they_keep_their_sessions(
    bench: Bench, tmp_path: Path, monkeypatch: Patch
) -> None:
    bench.opencode("ses_1", bench.root, "hello")
    bench.session_of_claude(bench.root)
    (tmp_path / "data/opencode").mkdir(parents=True)
    bench.database.rename(tmp_path / "data/opencode/other.db")
    bench.claude.rename(tmp_path / "projects")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("OPENCODE_DB", "other.db")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    assert len(bench.ids()) == 2


def test_a_session_is_found_where_the_project_lay_before_it_was_moved(
    repository: Path, empty_home: Path, capsys: Capture, tmp_path: Path,
    monkeypatch: Patch,
) -> None:  # fmt: skip
    Memory.init(repository, home=True)
    bench = Bench(repository, empty_home, capsys)
    bench.session_of_claude(repository)
    bench.opencode("ses_1", repository / "src", "hello")
    repository.rename(tmp_path / "moved")
    monkeypatch.chdir(tmp_path / "moved")
    bench.tell("status")
    assert {*bench.ids()} == {CLAUDE, "ses_1"}
    repository.mkdir()  # whatever lies there now may be another's
    assert bench.ids() == []


def test_other_projects_are_listed_and_read_only_when_asked_for(
    bench: Bench, tmp_path: Path
) -> None:
    bench.opencode("ses_1", tmp_path / "other", "remember: theirs is a heron")
    bench.session_of_claude(tmp_path / "other")
    assert bench.ids() == []
    assert len(bench.ids("--all-projects")) == 2
    for session in ("ses_1", CLAUDE):
        said = bench.tell("extract", "--session", session, code=1)
        assert "belongs to another project" in said
        assert "--all-projects" in said
    done = bench.ask("extract", "--session", "ses_1", "--all-projects")
    assert done["added"] == ["project-theirs-is-a-heron.md"]


def test_the_newest_hundred_are_listed_and_the_rest_is_told_of(bench: Bench) -> None:
    for number in range(102):
        bench.opencode(f"ses_{number}", bench.root, "hello", at=number + 1)
    assert len(bench.ids()) == 100
    assert "These are the newest 100; `mdmemory session --all`" in bench.tell("session")
    assert len(bench.ids("--all")) == 102


def test_a_session_is_read_from_the_database_once_and_then_on(bench: Bench) -> None:
    extract = ("extract", "--session", "ses_1")
    bench.opencode("ses_1", bench.root, "remember: deploys go out on Tuesdays", "thanks")
    assert bench.ask(*extract)["added"] == ["project-deploys-go-out-on-tuesdays.md"]
    assert [row["read"] for row in bench.ask("session")] == [2]
    assert bench.ask(*extract)["added"] == []
    bench.say("ses_1", 9, "remember: the changelog is written by hand")
    assert [(row["turns"], row["read"]) for row in bench.ask("session")] == [(3, 2)]
    assert bench.ask(*extract)["added"] == ["project-the-changelog-is-written-by.md"]


FORMS = {"--session": CLAUDE, "--transcript": "plain.txt", "--transcript=": "claude.jsonl"}


@pytest.mark.parametrize(("option", "name"), FORMS.items())
def test_a_session_is_read_from_its_file_and_a_transcript_may_be_of_any_kind(
    bench: Bench, option: str, name: str
) -> None:
    bench.session_of_claude(bench.root)
    words = ("extract", option.strip("="), name if name == CLAUDE else str(DATA / name))
    added = bench.ask(*words)["added"]
    assert "project-tests-run-with-tz-utc.md" in added
    assert bench.ask(*words)["added"] == []
    if name == CLAUDE:
        assert added[1:] == ["project-deploys-are-listed-at-https.md", "me/user-我喜欢简短回答.md"]
        assert [row["read"] for row in bench.ask("session")] == [6]


def test_a_session_deleted_while_extract_waits_is_read(bench: Bench, monkeypatch: Patch) -> None:
    bench.opencode("ses_1", bench.root, "remember: deploys go out on Tuesdays")
    waited: list[float] = []

    def sleep(seconds: float) -> None:
        if seconds > 0.1:  # less is a wait for git
            waited.append(seconds)
            bench.database.unlink(missing_ok=True)

    monkeypatch.setattr(time, "sleep", sleep)
    done = bench.ask("extract", "--session", "ses_1", "--after", "60")
    assert sum(waited) >= 60
    assert done["added"] == ["project-deploys-go-out-on-tuesdays.md"]


def test_what_names_no_session_to_extract_is_one_sentence(bench: Bench) -> None:
    for words in ((), ("--transcript", "a.json", "--session", "ses_1")):
        said = bench.tell("extract", *words, code=2)
        assert "Name one session: --transcript FILE or --session ID" in said
    for seconds in ("-1", "x", "nan", "inf", "1e9"):
        said = bench.tell("extract", "--session", "ses_1", "--after", seconds, code=2)
        assert "not a number from 0 to 3600" in said
    for session in ("ses_1", "ses_2"):
        said = bench.tell("extract", "--session", "ses_gone", code=1).removeprefix("mdmemory: ")
        missing = "There is no session ses_gone. `mdmemory session` shows those of this project.\n"
        assert said == missing
        bench.opencode(session, bench.root, "hello")
