"""What scripts may rely on: the JSON of each command, exit codes, and clean streams."""

import io
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from json_shapes import fits
from pace import HUNG, seldom
from projects import Ask, Git, Patch, Run
from rows import each

from mdmemory import assets
from mdmemory.cli import commands

PNPM = "feedback-prefers-pnpm.md"
NOW = ("rev-parse", "HEAD")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory, begin: Callable[..., None]) -> Path:
    """The demo's eight notes as a store with one commit."""
    root = tmp_path_factory.mktemp("template") / "project"
    shutil.copytree(assets.asset_path("templates/demo/notes"), root / "notes/memory")
    begin(root, ("git", "add", "notes"), ("git", "commit", "-q", "-m", "notes"))
    shutil.rmtree(root / ".mdmemory")
    return root


@pytest.fixture
def store(project: Path) -> Path:
    return project / "notes/memory"


def by_hand(store: Path, name: str = "hand-made.md", text: str = "Made by hand.\n") -> None:
    (store / name).write_text(text, encoding="utf-8")


# --- one note ----------------------------------------------------------------------------------

FEEDBACK = ("--type", "feedback", "--description", "Go is indented with tabs")
TABS = ("add", "tabs-in-go", *FEEDBACK)


def test_list_gives_every_note_with_its_strength(store: Path, ask: Ask) -> None:
    rows = fits("list", ask("list"))
    assert [row["file"] for row in rows] == sorted(row["file"] for row in rows)
    assert len(rows) == 8
    assert all(row["listed"] and row["status"] == "" for row in rows)


def test_show_gives_row_body_and_head_by_name_stem_and_file(store: Path, ask: Ask) -> None:
    shown = fits("show", ask("show", "prefers-pnpm"))
    assert shown["head"]["name"] == "prefers-pnpm"
    assert shown["head"]["metadata"]["created"] == "2026-05-11"
    assert [row for row in ask("list") if row.items() <= shown.items()]
    for name in (PNPM, "feedback-prefers-pnpm", "PREFERS-pnpm"):
        assert ask("show", name) == shown


def test_add_gives_file_name_digest_and_commit_and_none_for_what_is_there_already(
    store: Path, ask: Ask, git: Git
) -> None:
    added = fits("add", ask(*TABS, "gofmt does it."))
    assert (added["file"], added["name"]) == ("feedback-tabs-in-go.md", "tabs-in-go")
    assert added["commit"] == git(store, *NOW).strip()
    assert ask("show", "tabs-in-go")["digest"] == added["digest"]
    assert ask("add", "another-name", *FEEDBACK, "gofmt does it.") == {**added, "commit": None}
    assert added["commit"] == git(store, *NOW).strip()


def test_a_body_is_read_from_standard_input(store: Path, ask: Ask, monkeypatch: Patch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("Two\nlines.\n"))
    ask(*TABS, "-")
    assert ask("show", "tabs-in-go")["body"] == "Two\nlines."


def test_edit_and_remove_give_what_add_gives(store: Path, ask: Ask, git: Git) -> None:
    for words in (("edit", PNPM, "--description", "Uses pnpm 9"), ("forget", PNPM)):
        done = fits(words[0], ask(*words))
        assert (done["file"], done["commit"]) == (PNPM, git(store, *NOW).strip())


def test_a_note_that_is_kept_by_its_name_is_listed(store: Path, ask: Ask) -> None:
    text = (store / PNPM).read_text(encoding="utf-8")
    by_hand(store, PNPM, text.replace("metadata:\n", "metadata:\n  status: unconfirmed\n"))
    shown = ask("show", "prefers-pnpm")
    assert (shown["status"], shown["listed"]) == ("unconfirmed", False)
    assert ask("review", "prefers-pnpm", "keep")["answer"] == "keep"
    assert ask("show", "prefers-pnpm")["listed"]


def test_index_tells_whether_it_changed_anything(store: Path, ask: Ask) -> None:
    assert fits("index", ask("index"))["path"] == str(store / "MEMORY.md")
    by_hand(store)
    stale = ask("index", "--check", code=1)
    assert (stale["changed"], stale["total"]) == (True, 9)
    assert ask("index")["changed"] is True
    assert ask("index", "--check")["changed"] is False


# --- capture and compaction --------------------------------------------------------------------


def test_explain_gives_its_whole_verdict(store: Path, ask: Ask) -> None:
    verdict = ask("explain", "remember: we decided on Redis <private>in Paris</private>")
    assert fits("explain", verdict)["gate"] == {"accepted": True, "reasons": []}
    assert (verdict["noticed"], verdict["wish"]) == ("explicit", ["we decided on Redis"])
    assert verdict["private_removed"] == 1
    refused = fits("explain", ask("explain", "morning"))
    assert refused["gate"] == {"accepted": False, "reasons": ["too_short"]}
    assert (refused["noticed"], refused["wish"]) == ("", [])
    known = ask("explain", "remember: Uses pnpm, never npm, in every JavaScript project")
    assert PNPM in [near["file"] for near in fits("explain", known)["near"]]


def test_extract_tells_what_it_stored_and_finds_it_once(store: Path, ask: Ask, git: Git) -> None:
    words = ("extract", "--transcript", str(assets.asset_path("templates/demo/transcript.json")))
    before = git(store, *NOW).strip()
    planned = fits("extract", ask(*words, "--dry-run"))
    assert (planned["commit"], git(store, *NOW).strip()) == (None, before)
    done = fits("extract", ask(*words))
    assert done["commit"] == git(store, *NOW).strip() != before
    assert {**done, "commit": None, "id": None} == planned
    again = ask(*words)
    assert (again["added"], again["commit"]) == ([], None)
    assert again["watermark"] == done["watermark"]


def test_compact_tells_checkpoint_commit_and_every_op(store: Path, ask: Ask, git: Git) -> None:
    by_hand(store)
    done = fits("compact", ask("compact"))
    assert (done["outcome"], done["planner"]) == ("applied", "offline")
    assert done["commit"] == git(store, *NOW).strip()
    assert done["checkpoint"] == git(store, "rev-parse", "HEAD^").strip()
    assert done["planned"] == done["applied"]
    assert [op["op"] for op in done["applied"]] == ["merge", "flag"]


def test_an_op_that_is_refused_or_came_too_late_is_named_and_the_others_go_on(
    store: Path, ask: Ask, tmp_path: Path
) -> None:
    lossy = {"op": "rewrite", "file": "project-postgres-for-billing.md", "body": "A database."}
    fine = {"op": "delete", "file": "reference-error-dashboard.md", "reason": "closed"}
    late = {"op": "delete", "file": PNPM, "reason": "closed"}
    plan = {"ops": [lossy, fine, late], "digests": {PNPM: "0" * 64}}
    (tmp_path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    done = fits("compact", ask("compact", "--plan", str(tmp_path / "plan.json")))
    assert (done["outcome"], done["planner"]) == ("applied", "given")
    assert done["applied"] == [fine]
    assert [(row["op"], row["code"]) for row in done["refused"]] == [(lossy, "literal_lost")]
    assert [row["op"] for row in done["skipped"]] == [late]


@pytest.mark.parametrize("by_name", [False, True])
@pytest.mark.parametrize("answer", ["keep", "both"])
def test_an_answer_to_a_conflict_is_one_commit_that_can_be_undone(
    store: Path, ask: Ask, git: Git, answer: str, by_name: bool
) -> None:
    assert ask("review") == []
    ask("compact")
    (row,) = ask("review")
    files = ["feedback-indent-with-spaces.md", "feedback-indent-with-two-spaces.md"]
    assert (row["kind"], [each["file"] for each in row["notes"]]) == ("conflict", files)
    held = [answer] if answer == "both" else [answer, "indent-with-two-spaces"]
    done = ask("review", "indent-with-spaces" if by_name else row["id"], *held)
    assert done["commit"] == git(store, *NOW).strip()
    assert ask("review") == []
    notes = [row for row in ask("list") if "indent" in row["file"]]
    in_force = [row["file"] for row in notes if row["status"] != "superseded"]
    assert in_force == (files if answer == "both" else files[1:])
    ask("undo", done["undo"])
    assert ask("review") == [row]


# --- the past ----------------------------------------------------------------------------------


def test_log_gives_our_commits_newest_first_and_diffs(store: Path, ask: Ask, git: Git) -> None:
    ask(*TABS, "gofmt does it.")
    rows = fits("log", ask("log"))
    assert [row["kind"] for row in rows] == ["add", "init"]
    assert rows[0]["commit"] == git(store, *NOW).strip()
    assert ask("log", "-n", "1") == rows[:1]
    (row,) = fits("log -p", ask("log", "-p", "-n", "1"))
    assert "+gofmt does it." in row["diff"]
    assert ask("log", row["id"], "-p") == ask("log", row["commit"][:10], "-p") == [row]


def test_undo_takes_back_the_newest_change_and_the_log_knows(store: Path, ask: Ask) -> None:
    before = (store / PNPM).read_bytes()
    removed = ask("forget", "prefers-pnpm")
    done = fits("undo", ask("undo"))
    assert done["undone"] == removed["commit"]
    assert (done["restored"], done["kept"]) == ([PNPM], [])
    assert (store / PNPM).read_bytes() == before
    rows = fits("log", ask("log"))
    assert [(row["kind"], row["undone"]) for row in rows][:2] == [("undo", False), ("remove", True)]


def test_undo_that_keeps_a_hand_edit_names_it_and_exits_1(store: Path, ask: Ask) -> None:
    ask("edit", "prefers-pnpm", "--description", "Uses pnpm 9")
    with (store / PNPM).open("a") as file:
        file.write("\nBy hand.\n")
    done = fits("undo", ask("undo", code=1))
    assert (done["commit"], done["restored"]) == (None, [])
    assert [row["file"] for row in done["kept"]] == [PNPM]
    assert (store / PNPM).read_text(encoding="utf-8").endswith("By hand.\n")


# --- the store ---------------------------------------------------------------------------------


def test_status_says_where_text_goes_and_what_is_due(store: Path, ask: Ask) -> None:
    report = fits("status", ask("status"))
    assert (report["git"], report["planner"], report["sends_to"]) == ("ready", "offline", None)
    assert (report["notes"], report["listed"], report["conflicts"]) == (8, 8, 0)
    assert (report["due"], report["last"]) == ("no pass is recorded", None)
    ask("compact")
    report = fits("status", ask("status"))
    assert (report["conflicts"], report["due"]) == (1, None)


def test_doctor_exits_0_with_warnings_and_1_with_an_error(store: Path, ask: Ask) -> None:
    sound = {"ok": True, "findings": []}
    assert ask("doctor") == sound
    (store / "MEMORY.md").unlink()
    assert any(row["fixable"] for row in ask("doctor")["findings"])
    assert ask("doctor", "--fix") == sound, "it mends what it called fixable"
    by_hand(store)
    report = fits("doctor", ask("doctor"))
    assert (report["ok"], {row["level"] for row in report["findings"]}) == (True, {"warning"})
    by_hand(store, "MEMORY.md", "somebody's own\n")
    assert fits("doctor", ask("doctor", code=1))["ok"] is False


def test_init_again_changes_nothing_and_says_so(store: Path, ask: Ask, git: Git) -> None:
    def state() -> tuple[str, dict[Path, bytes]]:
        files = [*store.iterdir(), store.parents[1] / "mdmemory.toml"]
        return git(store, *NOW), {path: path.read_bytes() for path in files if path.is_file()}

    before = state()
    done = fits("init", ask("init"))
    assert (done["commit"], done["files"], state()) == (None, [], before)
    assert [said.partition("; ")[2] for said in done["said"]] == ["nothing changed."]


# --- errors and exit codes ---------------------------------------------------------------------

ERRORS = (
    ("show nothing", 1, "not_found"),
    ("undo m-00000000", 1, "not_found"),
    ("list --store nowhere", 1, "no_store"),
    ("add Bad-Name --type feedback --description d b", 1, "bad_note"),
    ("extract --transcript mdmemory.toml", 1, "bad_transcript"),
    ("show", 2, "usage"),
    ("show a b", 2, "usage"),
    ("list --frobnicate", 2, "usage"),
    ("frobnicate", 2, "usage"),
)


def test_an_error_is_one_sentence_with_a_next_step_and_an_object(store: Path, run: Run) -> None:
    def check(words: str, code: int, word: str) -> None:
        said = run(*words.split(), "--json")
        error = fits("an error", json.loads(said.out))["error"]
        assert (said.code, error["code"]) == (code, word)
        assert error["message"].endswith((".", "!"))
        assert error["hint"].endswith((".", "?"))
        assert said.err == f"mdmemory: {error['message']} {error['hint']}\n"
        assert run(*words.split()) == (code, "", said.err)

    each(ERRORS, check)


def test_what_is_unexpected_exits_3_with_a_log_and_without_a_trace(
    store: Path, run: Run, monkeypatch: Patch, empty_home: Path
) -> None:
    def broken(*_: object) -> int:
        raise ZeroDivisionError("a surprise")

    monkeypatch.setattr(commands, "_dispatch_words", broken)
    said = run("list", "--json")
    assert said.code == 3
    fits("an error", json.loads(said.out))
    assert said.err.count("\n") == 1
    assert "Traceback" not in said.err
    log = empty_home / ".local/state/mdmemory/error.log"
    assert str(log) in said.err
    assert "ZeroDivisionError: a surprise" in log.read_text(encoding="utf-8")


SCRIPT = Path(sys.executable).with_name("mdmemory")


@pytest.mark.parametrize(
    ("words", "code"), seldom([("list --json", 0), ("show nothing", 1), ("nope", 2)], 2)
)
def test_the_console_script_and_the_module_end_alike(project: Path, words: str, code: int) -> None:
    ways = ([str(SCRIPT)], [sys.executable, "-P", "-m", "mdmemory"])
    first, second = (
        subprocess.run([*way, *words.split()], capture_output=True, text=True, timeout=HUNG)
        for way in ways
    )
    assert first.returncode == second.returncode == code
    assert (first.stdout, first.stderr) == (second.stdout, second.stderr)
    assert bool(first.stderr) == (code != 0)


def test_a_reader_who_leaves_early_sees_no_trace(project: Path) -> None:
    words = ["sh", "-c", f'"{SCRIPT}" list | true']
    assert subprocess.run(words, capture_output=True, text=True, timeout=HUNG).stderr == ""


plain = st.sampled_from([None, True, 1, -2.5, "", '},\n    {"', 'x"\\\n},{', "é\u2028"])


@given(st.lists(st.dictionaries(st.sampled_from(["a", "},\n    {"]), plain, min_size=1)))
@example([{}])
@example([{"a": [1]}, {"a": {"b": 1}}])
@example([{"a": ()}, 1])
def test_a_table_is_written_as_python_writes_indented_json(rows: list[object]) -> None:
    assert commands.indent_json(rows) == json.dumps(rows, ensure_ascii=False, indent=2)
