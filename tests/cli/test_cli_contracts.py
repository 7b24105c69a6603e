"""What scripts may rely on: the JSON of each command, exit codes, and clean streams."""

import io
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from json_shapes import EXPLAIN, EXTRACT, WORD, fit
from pace import HUNG, seldom

from mdmemory import assets
from mdmemory.cli import commands, main

Ask = Callable[..., tuple[int, Any]]

WRITTEN = {"file": str, "name": str, "digest": str, "commit": WORD, "layer": str}
ROW = {
    "file": str, "name": str, "description": str, "type": str, "kind": str, "digest": str,
    "strength": float, "listed": bool, "status": str, "layer": str,
}  # fmt: skip
COMPACT = {
    "outcome": str, "checkpoint": WORD, "commit": WORD, "planned": [dict], "applied": [dict],
    "skipped": [{"op": dict, "reason": str}],
    "refused": [{"op": dict, "code": str, "message": str}],
    "refusals": [{"code": str, "message": str}], "doubts": [{"op": dict, "message": str}],
    "planner": str, "tokens": {"input": int, "output": int, "calls": int},
}  # fmt: skip
LOGGED = {
    "id": str, "time": str, "kind": str, "commit": str, "checkpoint": WORD, "session": WORD,
    "ops": [str], "undone": bool, "waiting": bool, "layer": str,
}  # fmt: skip
UNDO = {
    "undone": str, "commit": WORD, "restored": [str], "kept": [{"file": str, "reason": str}],
    "facts": [str], "layer": str,
}  # fmt: skip
STORE = {
    "layer": str, "store": str, "git": str, "remote": WORD, "notes": int, "listed": int,
    "held": int, "unconfirmed": int, "superseded": int, "conflicts": int, "unread": [str],
    "lost": [str],
    "unadopted": [{"file": str, "change": str, "why": str}],
    "inbox": {"wishes": int, "pending": int, "imports": int},
    "waiting": [{"id": str, "subject": str, "files": [str]}],
}  # fmt: skip
STATUS = {
    **STORE, "layers": [STORE], "due": WORD, "last": dict | None, "planner": str, "sends_to": WORD,
    "tokens_today": {"input": int, "output": int, "calls": int}, "passed_over": int,
    "questions": str,
    "embeddings": {"kind": str, "missing": str},
    "review": {
        "lost": int, "wish": int, "conflict": int, "forget": int, "pending": int,
        "unconfirmed": int, "orphaned": int, "drifted": int, "refused_op": int, "on_hold": int,
        "import_rest": int,
    },
}  # fmt: skip
DOCTOR = {
    "ok": bool,
    "findings": [
        {"check": str, "level": str, "path": str, "message": str, "fixable": bool, "layer": str}
    ],
}
ERROR = {"error": {"code": str, "message": str, "hint": str}}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory, begin: Callable[..., None]) -> Path:
    """The demo's eight notes as a store with one commit."""
    root = tmp_path_factory.mktemp("template") / "project"
    shutil.copytree(assets.asset_path("templates/demo/notes"), root / "notes/memory")
    begin(root, ("git", "add", "notes"), ("git", "commit", "-q", "-m", "notes"))
    shutil.rmtree(root / ".mdmemory")
    return root


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    """Runs a command with --json: exit code and answer. Standard error says nothing."""

    def run(*words: str) -> tuple[int, Any]:
        capsys.readouterr()
        code = main([*words, "--json"])
        said = capsys.readouterr()
        assert said.err == ""
        return code, json.loads(said.out)

    return run


def head(project: Path, git: Callable[..., str]) -> str:
    return git(project, "rev-parse", "HEAD").strip()


# --- one note ----------------------------------------------------------------------------------

TABS = ("add", "tabs-in-go", "--type", "feedback", "--description", "Go is indented with tabs")


def test_list_gives_every_note_with_its_strength(project: Path, ask: Ask) -> None:
    code, rows = ask("list")
    assert code == 0
    fit(rows, [ROW])
    assert [row["file"] for row in rows] == sorted(row["file"] for row in rows)
    assert len(rows) == 8
    assert all(row["listed"] and row["status"] == "" for row in rows)


def test_show_gives_the_row_the_body_and_the_head(project: Path, ask: Ask) -> None:
    code, shown = ask("show", "prefers-pnpm")
    assert code == 0
    fit(shown, {**ROW, "body": str, "head": dict, "cites": list})
    assert shown["head"]["name"] == "prefers-pnpm"
    assert shown["head"]["metadata"]["created"] == "2026-05-11"
    _, rows = ask("list")
    assert {key: shown[key] for key in ROW} in rows


@pytest.mark.parametrize("name", ["prefers-pnpm", "feedback-prefers-pnpm.md", "PREFERS-pnpm"])
def test_a_note_answers_to_its_name_stem_and_file(project: Path, ask: Ask, name: str) -> None:
    assert ask("show", name)[1]["file"] == "feedback-prefers-pnpm.md"


def test_add_gives_file_name_digest_and_commit(
    project: Path, ask: Ask, git: Callable[..., str]
) -> None:
    code, added = ask(*TABS, "gofmt does it.")
    assert code == 0
    fit(added, WRITTEN)
    assert (added["file"], added["name"]) == ("feedback-tabs-in-go.md", "tabs-in-go")
    assert added["commit"] == head(project, git)
    assert ask("show", "tabs-in-go")[1]["digest"] == added["digest"]


def test_adding_the_same_again_names_the_note_and_makes_no_commit(project: Path, ask: Ask) -> None:
    _, first = ask(*TABS, "gofmt does it.")
    code, again = ask(*TABS, "gofmt does it.")
    assert code == 0
    assert again == {**first, "commit": None}


def test_a_body_is_read_from_standard_input(
    project: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("Two\nlines.\n"))
    ask(*TABS, "-")
    assert ask("show", "tabs-in-go")[1]["body"] == "Two\nlines."


@pytest.mark.parametrize(
    "words",
    [("edit", "prefers-pnpm", "--description", "Uses pnpm 9"), ("forget", "prefers-pnpm")],
    ids=lambda words: words[0],
)
def test_edit_and_remove_give_what_add_gives(
    project: Path, ask: Ask, git: Callable[..., str], words: tuple[str, ...]
) -> None:
    code, done = ask(*words)
    assert code == 0
    fit(done, WRITTEN)
    assert done["file"] == "feedback-prefers-pnpm.md"
    assert done["commit"] == head(project, git)


def test_a_note_that_is_kept_by_its_name_is_listed(project: Path, ask: Ask) -> None:
    path = project / "notes/memory/feedback-prefers-pnpm.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("metadata:\n", "metadata:\n  status: unconfirmed\n"), "utf-8")
    assert ask("show", "prefers-pnpm")[1]["status"] == "unconfirmed"
    assert not ask("show", "prefers-pnpm")[1]["listed"]
    code, done = ask("review", "prefers-pnpm", "keep")
    assert (code, done["answer"]) == (0, "keep")
    assert ask("show", "prefers-pnpm")[1]["listed"]


# --- the index ---------------------------------------------------------------------------------


def test_index_tells_whether_it_changed_anything(project: Path, ask: Ask) -> None:
    one = {"path": str, "changed": bool, "listed": int, "total": int}
    shape = {**one, "layers": [{"layer": str, **one}]}
    code, done = ask("index")
    assert code == 0
    fit(done, shape)
    assert done["path"] == str(project / "notes/memory/MEMORY.md")
    (project / "notes/memory/hand-made.md").write_text("Made by hand.\n", encoding="utf-8")
    code, stale = ask("index", "--check")
    assert (code, stale["changed"], stale["total"]) == (1, True, 9)
    assert ask("index")[1]["changed"] is True
    code, fresh = ask("index", "--check")
    assert (code, fresh["changed"]) == (0, False)


# --- capture -----------------------------------------------------------------------------------


def test_explain_gives_its_whole_verdict(project: Path, ask: Ask) -> None:
    code, verdict = ask("explain", "remember: we decided on Redis <private>in Paris</private>")
    assert code == 0
    fit(verdict, EXPLAIN)
    assert verdict["gate"] == {"accepted": True, "reasons": []}
    assert (verdict["noticed"], verdict["wish"]) == ("explicit", ["we decided on Redis"])
    assert verdict["private_removed"] == 1
    _, refused = ask("explain", "morning")
    fit(refused, EXPLAIN)
    assert refused["gate"] == {"accepted": False, "reasons": ["too_short"]}
    assert (refused["noticed"], refused["wish"]) == ("", [])


def test_explain_names_the_note_that_says_it_already(project: Path, ask: Ask) -> None:
    _, verdict = ask("explain", "remember: Uses pnpm, never npm, in every JavaScript project")
    fit(verdict, EXPLAIN)
    assert "feedback-prefers-pnpm.md" in [near["file"] for near in verdict["near"]]


def test_extract_tells_what_it_stored_and_then_finds_nothing_new(
    project: Path, ask: Ask, git: Callable[..., str]
) -> None:
    transcript = str(assets.asset_path("templates/demo/transcript.json"))
    before = head(project, git)
    code, planned = ask("extract", "--transcript", transcript, "--dry-run")
    assert code == 0
    fit(planned, EXTRACT)
    assert planned["commit"] is None
    assert head(project, git) == before
    code, done = ask("extract", "--transcript", transcript)
    assert code == 0
    fit(done, EXTRACT)
    assert done["commit"] == head(project, git) != before
    assert {**done, "commit": None, "id": None} == planned
    code, again = ask("extract", "--transcript", transcript)
    assert code == 0
    assert (again["added"], again["commit"]) == ([], None)
    assert again["watermark"] == done["watermark"]


# --- compaction --------------------------------------------------------------------------------


def plan(tmp_path: Path, *ops: dict[str, Any]) -> str:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({"ops": ops}), encoding="utf-8")
    return str(path)


def test_compact_tells_checkpoint_commit_and_every_op(
    project: Path, ask: Ask, git: Callable[..., str]
) -> None:
    (project / "notes/memory/hand-made.md").write_text("Made by hand.\n", encoding="utf-8")
    code, done = ask("compact")
    assert code == 0
    fit(done, COMPACT)
    assert (done["outcome"], done["planner"]) == ("applied", "offline")
    assert done["commit"] == head(project, git)
    assert done["checkpoint"] == git(project, "rev-parse", "HEAD^").strip()
    assert done["planned"] == done["applied"]
    assert [op["op"] for op in done["applied"]] == ["merge", "flag"]


def test_a_refused_op_is_named_and_the_others_go_on(
    project: Path, ask: Ask, tmp_path: Path
) -> None:
    lossy = {"op": "rewrite", "file": "project-postgres-for-billing.md", "body": "A database."}
    fine = {"op": "delete", "file": "reference-error-dashboard.md", "reason": "closed"}
    code, done = ask("compact", "--plan", plan(tmp_path, lossy, fine))
    assert code == 0
    fit(done, COMPACT)
    assert (done["outcome"], done["planner"]) == ("applied", "given")
    assert done["applied"] == [fine]
    assert [(row["op"], row["code"]) for row in done["refused"]] == [(lossy, "literal_lost")]


def test_an_op_on_a_note_that_changed_is_skipped_and_named(
    project: Path, ask: Ask, tmp_path: Path
) -> None:
    file = "reference-error-dashboard.md"
    path = tmp_path / "plan.json"
    op = {"op": "delete", "file": file, "reason": "closed"}
    path.write_text(json.dumps({"ops": [op], "digests": {file: "0" * 64}}), encoding="utf-8")
    code, done = ask("compact", "--plan", str(path))
    assert code == 0
    fit(done, COMPACT)
    assert (done["outcome"], [row["op"] for row in done["skipped"]]) == ("noop", [op])


# --- contradictions ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "held"),
    [(("keep", "indent-with-two-spaces"), "feedback-indent-with-two-spaces.md"), (("both",), "")],
    ids=["keep", "both"],
)
@pytest.mark.parametrize("by_name", [False, True])
def test_an_answer_to_a_conflict_is_one_commit_that_can_be_undone(
    project: Path, ask: Ask, git: Callable[..., str], how: tuple[str, ...], held: str, by_name: bool
) -> None:
    assert ask("review") == (0, [])
    ask("compact")
    (row,) = ask("review")[1]
    assert (row["kind"], [each["file"] for each in row["notes"]]) == (
        "conflict", ["feedback-indent-with-spaces.md", "feedback-indent-with-two-spaces.md"],
    )  # fmt: skip
    code, done = ask("review", "indent-with-spaces" if by_name else row["id"], *how)
    assert (code, done["commit"]) == (0, head(project, git))
    assert ask("review")[1] == []
    notes = [row for row in ask("list")[1] if "indent" in row["file"]]
    in_force = [row["file"] for row in notes if row["status"] != "superseded"]
    assert in_force == ([held] if held else [each["file"] for each in notes])
    assert ask("undo", done["undo"])[0] == 0
    assert ask("review")[1] == [row]


# --- the past ----------------------------------------------------------------------------------


def test_log_gives_our_commits_newest_first(
    project: Path, ask: Ask, git: Callable[..., str]
) -> None:
    ask(*TABS, "gofmt does it.")
    code, rows = ask("log")
    assert code == 0
    fit(rows, [LOGGED])
    assert [row["kind"] for row in rows] == ["add", "init"]
    assert rows[0]["commit"] == head(project, git)
    assert len(ask("log", "-n", "1")[1]) == 1


def test_undo_takes_back_the_newest_change_and_the_log_knows(project: Path, ask: Ask) -> None:
    path = project / "notes/memory/feedback-prefers-pnpm.md"
    before = path.read_bytes()
    _, removed = ask("forget", "prefers-pnpm")
    code, done = ask("undo")
    assert code == 0
    fit(done, UNDO)
    assert done["undone"] == removed["commit"]
    assert (done["restored"], done["kept"]) == ([path.name], [])
    assert path.read_bytes() == before
    rows = ask("log")[1]
    fit(rows, [LOGGED])
    assert [(row["kind"], row["undone"]) for row in rows][:2] == [("undo", False), ("remove", True)]


def test_undo_that_keeps_a_hand_edit_names_it_and_exits_1(project: Path, ask: Ask) -> None:
    path = project / "notes/memory/feedback-prefers-pnpm.md"
    ask("edit", "prefers-pnpm", "--description", "Uses pnpm 9")
    path.write_text(path.read_text(encoding="utf-8") + "\nBy hand.\n", encoding="utf-8")
    code, done = ask("undo")
    assert code == 1
    fit(done, UNDO)
    assert (done["commit"], done["restored"]) == (None, [])
    assert [row["file"] for row in done["kept"]] == [path.name]
    assert path.read_text(encoding="utf-8").endswith("By hand.\n")


def test_a_change_is_a_row_of_the_log_with_its_diff(project: Path, ask: Ask) -> None:
    ask(*TABS, "gofmt does it.")
    code, (row,) = ask("log", "-p", "-n", "1")
    assert code == 0
    fit(row, {**LOGGED, "diff": str})
    assert "+gofmt does it." in row["diff"]
    assert ask("log", row["id"], "-p")[1] == ask("log", row["commit"][:10], "-p")[1] == [row]


# --- the store ---------------------------------------------------------------------------------


def test_status_says_where_text_goes_and_what_is_due(project: Path, ask: Ask) -> None:
    code, report = ask("status")
    assert code == 0
    fit(report, STATUS)
    assert (report["git"], report["planner"], report["sends_to"]) == ("ready", "offline", None)
    assert (report["notes"], report["listed"], report["conflicts"]) == (8, 8, 0)
    assert (report["due"], report["last"]) == ("no pass is recorded", None)
    ask("compact")
    _, report = ask("status")
    fit(report, {**STATUS, "last": {"at": str, "outcome": str}})
    assert (report["conflicts"], report["due"]) == (1, None)


def test_doctor_exits_0_with_warnings_and_1_with_an_error(project: Path, ask: Ask) -> None:
    code, report = ask("doctor")
    assert (code, report) == (0, {"ok": True, "findings": []})
    (project / "notes/memory/hand-made.md").write_text("Made by hand.\n", encoding="utf-8")
    code, report = ask("doctor")
    assert (code, report["ok"]) == (0, True)
    fit(report, DOCTOR)
    assert {row["level"] for row in report["findings"]} == {"warning"}
    (project / "notes/memory/MEMORY.md").write_text("somebody's own\n", encoding="utf-8")
    code, report = ask("doctor")
    assert (code, report["ok"]) == (1, False)
    fit(report, DOCTOR)


def test_doctor_fix_mends_what_it_called_fixable(project: Path, ask: Ask) -> None:
    (project / "notes/memory/MEMORY.md").unlink()
    assert any(row["fixable"] for row in ask("doctor")[1]["findings"])
    assert ask("doctor", "--fix")[1] == {"ok": True, "findings": []}


def test_init_again_says_that_nothing_was_changed(project: Path, ask: Ask) -> None:
    code, done = ask("init")
    assert code == 0
    fit(done, {"root": str, "store": str, "commit": WORD, "files": [str], "said": [str]})
    assert (done["commit"], done["files"]) == (None, [])


# --- errors and exit codes ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "word"),
    [
        (("show", "nothing"), 1, "not_found"),
        (("undo", "m-00000000"), 1, "not_found"),
        (("list", "--store", "nowhere"), 1, "no_store"),
        (("add", "Bad Name", "--type", "feedback", "--description", "d", "b"), 1, "bad_note"),
        (("extract", "--transcript", "mdmemory.toml"), 1, "bad_transcript"),
        (("show",), 2, "usage"),
        (("show", "a", "b"), 2, "usage"),
        (("list", "--frobnicate"), 2, "usage"),
        (("frobnicate",), 2, "usage"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)
def test_an_error_is_one_sentence_with_a_next_step_and_an_object(
    project: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], code: int, word: str
) -> None:
    assert main([*words, "--json"]) == code
    said = capsys.readouterr()
    error = json.loads(said.out)
    fit(error, ERROR)
    error = error["error"]
    assert error["code"] == word
    assert error["message"].endswith((".", "!"))
    assert error["hint"].endswith((".", "?"))
    assert said.err == f"mdmemory: {error['message']} {error['hint']}\n"
    assert main(words) == code
    assert capsys.readouterr() == ("", said.err)


def test_what_is_unexpected_exits_3_with_a_log_and_without_a_trace(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    empty_home: Path,
) -> None:
    def broken(*_: object) -> int:
        raise ZeroDivisionError("a surprise")

    monkeypatch.setattr(commands, "_dispatch_words", broken)
    assert main(["list", "--json"]) == 3
    said = capsys.readouterr()
    fit(json.loads(said.out), ERROR)
    assert said.err.count("\n") == 1
    assert "Traceback" not in said.err
    log = empty_home / ".local/state/mdmemory/error.log"
    assert str(log) in said.err
    assert "ZeroDivisionError: a surprise" in log.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("mv", "rename"), ("rm", "forget"), ("settings", "config"), ("renmae", "rename")],
)
def test_an_unknown_command_is_answered_with_the_one_that_was_meant(
    typed: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([typed]) == 2
    assert f"Did you mean `mdmemory {meant}`?" in capsys.readouterr().err


# --- through the console script ----------------------------------------------------------------

SCRIPT = Path(sys.executable).with_name("mdmemory")


@pytest.mark.parametrize(
    ("words", "code"),
    seldom(
        [
            (("list", "--json"), 0),
            (("index", "--check"), 0),
            (("show", "nothing"), 1),
            (("nope",), 2),
        ],
        3,
    ),
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)
def test_the_console_script_and_the_module_end_alike(
    project: Path, words: tuple[str, ...], code: int
) -> None:
    ways = ([str(SCRIPT)], [sys.executable, "-P", "-m", "mdmemory"])
    first, second = (
        subprocess.run([*way, *words], capture_output=True, text=True, timeout=HUNG) for way in ways
    )
    assert first.returncode == second.returncode == code
    assert (first.stdout, first.stderr) == (second.stdout, second.stderr)
    assert bool(first.stderr) == (code != 0)


def test_a_reader_who_leaves_early_sees_no_trace(project: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", f'"{SCRIPT}" list | true'], capture_output=True, text=True, timeout=HUNG
    )
    assert done.stderr == ""


plain = st.sampled_from([None, True, 1, -2.5, "", '},\n    {"', 'x"\\\n},{', "é\u2028"])


@given(st.lists(st.dictionaries(st.sampled_from(["a", "},\n    {"]), plain, min_size=1)))
@example([{}])
@example([{"a": [1]}, {"a": {"b": 1}}])
@example([{"a": ()}, 1])
def test_a_table_is_written_as_python_writes_indented_json(rows: list[object]) -> None:
    assert commands.indent_json(rows) == json.dumps(rows, ensure_ascii=False, indent=2)
