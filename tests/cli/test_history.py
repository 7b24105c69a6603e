"""log and undo as a person meets them."""

import io
import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from blocks import steps
from projects import Ask, Git, Patch, Run, Say
from scene import Scene
from stores import BeginStore

import mdmemory
from mdmemory import Memory
from mdmemory.capture.pending import PendingFact, put_facts
from mdmemory.cli import main


def fill(memory: Memory) -> None:
    memory.add("go-tabs", type="feedback", description="Uses tabs.", body="Uses tabs in Go.")
    memory.edit("go-tabs", body="Uses spaces in Go. 喜欢短的回答")


@pytest.fixture
def project(begin_store: BeginStore, repository: Path, monkeypatch: Patch) -> Path:
    begin_store(fill=fill)
    monkeypatch.chdir(repository)
    return repository


# --- log ---------------------------------------------------------------------------------------


def test_a_long_log_is_cut_for_a_person_alone(project: Path, run: Run, monkeypatch: Patch) -> None:
    def shown(*words: str) -> tuple[list[str], str]:
        done = run("log", *words)
        lines = done.out.splitlines()
        return [line.split()[0] for line in lines if line.startswith("m-")], done.err

    every, said = shown()
    assert (len(every), said) == (3, "")
    monkeypatch.setattr("mdmemory.cli.history.CHANGES", 2)
    newest, said = shown()
    assert newest == every[:2]
    assert "--all" in said
    assert shown("--all") == shown("-n", "3") == (every, "")
    assert [each["id"] for each in json.loads(run("log", "--json").out)] == every


# --- what a change did -------------------------------------------------------------------------


def commit(git: Git, project: Path, subject: str) -> None:
    git(project, "add", "-A")
    git(project, "commit", "-qm", subject)


def diff_of(ask: Ask, *words: str) -> str:
    """The diff of one change, which can be taken back by git."""
    row, *_ = ask("log", *words, "-p")
    subprocess.run(["git", "apply", "--check", "-R"], input=row["diff"], text=True, check=True)
    return str(row["diff"])


def test_a_piped_diff_is_unified_and_without_the_index(project: Path, say: Say, ask: Ask) -> None:
    Memory.open(project).edit("go-tabs", description="Uses spaces.")
    text = say("log", "-p", "-n", "1")
    assert "\n-description: Uses tabs.\n+description: Uses spaces.\n" in text
    assert "MEMORY.md" not in text
    assert "\x1b" not in text
    diff = diff_of(ask, "-n", "1")
    assert diff in text
    assert diff_of(ask, "go-tabs") == diff


def test_a_change_may_be_a_commit_made_by_hand(project: Path, say: Say, git: Git) -> None:
    (project / "notes/memory/a.md").write_text("one\n", encoding="utf-8")
    commit(git, project, "by a person")
    text = say("log", "HEAD", "-p")
    assert re.match(r"[0-9a-f]{10}  \S+ \S+ UTC  by a person\n", text)
    assert "+one" in text
    assert "+one" not in say("log", "HEAD")


@pytest.fixture
def shown(say: Say, monkeypatch: Patch) -> Say:
    """What `log WORDS -p` prints when a terminal is at the other end."""

    def on_a_terminal(*words: str, colour: bool = False) -> str:
        with monkeypatch.context() as patch:
            patch.setattr(sys.stdout, "isatty", lambda: True)
            patch.setenv("NO_COLOR", "" if colour else "1")
            return say("log", *words, "-p")

    return on_a_terminal


def test_on_a_terminal_words_are_coloured_and_chinese_signs_are_words(
    project: Path, shown: Say
) -> None:
    text = shown("-n", "1", colour=True)
    assert "\x1b[1mfeedback-go-tabs.md\x1b[0m\n" in text
    assert "Uses \x1b[31;9mtabs\x1b[0m\x1b[32mspaces\x1b[0m in Go." in text
    assert "@@" not in text
    assert "Uses \x1b[31;9mtabs" in shown("go-tabs", colour=True)
    plain = shown("-n", "1")
    assert "Uses [-tabs-]{+spaces+} in Go.{+ 喜欢短的回答+}\n" in plain
    Memory.open(project).edit("go-tabs", body="Uses spaces in Go. 喜欢很短的回答")
    assert "喜欢{+很+}短的回答\n" in shown("-n", "1")


def test_a_note_cannot_write_to_the_terminal(project: Path, shown: Say, git: Git) -> None:
    (project / "notes/memory/a.md").write_text("one \x1b]0;title\x07 \u202etwo\n", encoding="utf-8")
    commit(git, project, "by hand")
    for name in ("HEAD", "a"):
        assert "one �]0;title� �two" in shown(name)


def test_titles_say_what_became_of_a_file(project: Path, shown: Say, git: Git, ask: Ask) -> None:
    store, text = project / "notes/memory", "one\n\ntwo\nthree\nfour\nfive\nsix\n" * 2

    def lines() -> list[str]:
        diff_of(ask, "HEAD")
        return shown("HEAD").splitlines()[1:]

    (store / "a.md").write_text(text)
    commit(git, project, "new")
    assert lines()[:4] == ["a.md (new)", "{+one+}", "", "{+two+}"]
    git(store, "mv", "a.md", "b c.md")
    (store / "b c.md").write_text(text + "x\n")
    commit(git, project, "moved")
    assert lines() == ["b c.md (was a.md)", "five", "six", "{+x+}", ""]
    (store / "b c.md").unlink()
    commit(git, project, "gone")
    assert lines()[:2] == ["b c.md (removed)", "[-one-]"]


# --- the life of a note ------------------------------------------------------------------------


def test_the_log_of_a_note_is_a_line_a_version(project: Path, say: Say) -> None:
    newest, first = say("log", "go-tabs").splitlines()
    whole = [line for line in say("log").splitlines() if not line.startswith(" ")]
    assert [newest, first] == whole[:2]
    assert say("log", "go-tabs", "-n", "1").splitlines() == [newest]
    path = project / "notes/memory/feedback-go-tabs.md"
    path.write_text(path.read_text("utf-8") + "By hand.\n", "utf-8")
    assert say("log", "go-tabs").splitlines()[0].endswith("  not committed")
    assert "\n+By hand.\n" in say("log", "go-tabs", "-p")


def test_the_log_of_a_note_in_json_has_all_texts_or_null(project: Path, say: Say, ask: Ask) -> None:
    Memory.open(project).remove("go-tabs")
    rows, (one, *_) = ask("log", "go-tabs"), ask("log")
    assert [sorted(row) for row in rows] == [sorted([*one, "file", "text"])] * 3
    assert {key: rows[0][key] for key in one} == one
    assert [row["kind"] for row in rows] == ["remove", "edit", "add"]
    assert [row["text"] is None for row in rows] == [True, False, False]
    assert "(gone: feedback-go-tabs.md)" in say("log", "go-tabs").splitlines()[0]


def test_a_note_comes_before_a_branch_of_its_name(project: Path, say: Say) -> None:
    assert "edit" in say("log", "main")
    Memory.open(project).add("main", type="project", description="The main hall.", body="It is.")
    assert len(say("log", "main").splitlines()) == 1


# --- undo --------------------------------------------------------------------------------------


class Typed(io.StringIO):
    """What a person types at a terminal."""

    def isatty(self) -> bool:
        return True


def test_at_a_terminal_undo_names_the_fact_and_asks(
    project: Path, say: Say, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    told = r"^edit of [-0-9: ]+ UTC: Uses tabs\.\nTake this back\? \[Y/n\] "
    for typed, code in (("n\n", 1), ("\n", 0)):
        assert "spaces" in say("show", "go-tabs")
        monkeypatch.setattr("sys.stdin", Typed(typed))
        out = say("undo", code=code)
        assert re.search(told, out, re.MULTILINE)
    assert "Undone: Uses tabs." in out
    assert "spaces" not in say("show", "go-tabs")
    assert "Take this back?" not in say("undo", "--yes")
    assert not (project / "notes/memory/feedback-go-tabs.md").exists()


def test_the_first_note_can_be_undone_and_who_undoes_their_own_file_hears_how_to_get_it_back(
    tmp_path: Path, monkeypatch: Patch, say: Say, git: Git
) -> None:
    (tmp_path / "new").mkdir()
    monkeypatch.chdir(tmp_path / "new")
    git(Path(), "init", "-q")
    Memory.init()
    Memory.open().add("tea", type="project", description="Tea at four.", body="Tea at four.")
    assert "Undone: Tea at four.\nremoved: project-tea.md\n" in say("undo")
    assert git(Path(), "status", "--porcelain") == ""
    assert main(["undo"]) == 1
    mine = Path("notes/memory/project-mine.md")  # a person's own, which the index command adopts
    mine.write_text("---\nname: mine\ndescription: Mine.\ntype: project\n---\nBy hand.\n")
    say("index")
    told = say("undo")
    assert "What you wrote yourself is gone from the folder: project-mine.md. git keeps" in told
    say(*told.partition("get it back: `mdmemory ")[2].partition("`")[0].split())
    assert mine.exists()


# --- a person's configuration ------------------------------------------------------------------


UNPARSABLE = (
    "format.pretty", "log.date", "log.abbrevCommit", "log.showRoot", "log.showSignature",
    "log.follow", "log.mailmap", "log.diffMerges", "diff.algorithm", "diff.renames",
    "diff.context", "diff.interHunkContext", "diff.colorMoved", "diff.relative",
    "diff.mnemonicPrefix", "color.ui", "color.diff", "color.decorate.branch", "grep.patternType",
)  # fmt: skip


@pytest.mark.slow
def test_a_setting_that_git_cannot_parse_stops_nothing(project: Path, say: Say, git: Git) -> None:
    words = (("log", "-p"), ("log", "HEAD~1", "-p"), ("log", "go-tabs", "-p"))
    before = [say(*each) for each in words]
    plain = (project / ".git/config").read_bytes()
    for name in UNPARSABLE:
        (project / ".git/config").write_bytes(plain)
        git(project, "config", name, "bogus(")
        ours = subprocess.run(["git", "log"], cwd=project, capture_output=True, check=False)
        assert ours.returncode, f"git can parse {name}"
        kinds = [step.kind for step in Memory.open(project).history("go-tabs")]
        assert kinds == ["edit", "add"], name
    for name in UNPARSABLE:
        git(project, "config", name, "bogus(")
    assert [say(*each) for each in words] == before
    say("compact")
    say("undo")
    assert "Uses tabs in Go." in say("show", "go-tabs")


def test_no_git_command_that_obeys_display_settings_is_run() -> None:
    shown = r'"(?:log|show|diff|status|branch|whatchanged)",\s*f?"-'
    sources = Path(mdmemory.__file__).parent.rglob("*.py")
    found = [path.name for path in sources if re.search(shown, path.read_text(encoding="utf-8"))]
    assert found == ["demo.py"]  # which shows a person what they would see


# --- all of them, one after the other ----------------------------------------------------------


@pytest.mark.slow
def test_each_command_prints_what_is_written_down(tmp_path: Path) -> None:
    typed = steps((Path(__file__).with_name("history.md")).read_text(encoding="utf-8"))
    assert len(typed) > 10
    (tmp_path / "you").mkdir()
    Scene((tmp_path / "you").resolve()).follow(typed)


# Undo and the inbox over the project's store and the person's: the newest change of both.

TODAY = datetime.now(UTC).date().isoformat()


@pytest.fixture
def layers(begin_store: BeginStore, repository: Path, monkeypatch: Patch, git: Git) -> Memory:
    """A shared store with a note, and then one about the person, in their own."""
    monkeypatch.chdir(repository)
    begin_store()
    layers = Memory.around(repository)
    layers.add("tabs", type="project", description="Uses tabs", body="Uses tabs.")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2020-01-01T00:00:00Z")  # git counts in seconds
    git(repository, "commit", "-q", "--amend", "--no-edit")
    monkeypatch.delenv("GIT_COMMITTER_DATE")
    layers.add("tea", type="user", description="Drinks tea", body="Drinks tea.")
    return layers


def test_an_id_is_undone_in_the_layer_that_holds_it(layers: Memory, ask: Ask) -> None:
    assert layers.of_project
    assert layers.of_person
    ids = [memory.log(1)[0][0].commit for memory in (layers.of_person, layers.of_project)]
    assert [ask("undo", id)["layer"] for id in ids] == ["user", "project"]
    assert ask("undo", ids[0], code=1)["error"]["message"].endswith("is undone already.")
    assert ask("undo", "m-00000000", code=1)["error"]["code"] == "not_found"


def test_a_session_is_undone_in_both_layers(layers: Memory, ask: Ask) -> None:
    wishes = ("I am colour-blind", "deploys go out on Tuesdays only")
    layers.keep_wishes(wishes, session="ses_1", turn="msg_1")
    assert len(layers.settle_wishes("ses_1")) == 2
    assert {each["layer"] for each in ask("undo", "--session", "ses_1")} == {"project", "user"}
    assert [note.file for note in layers.notes()] == ["project-tabs.md", "user-tea.md"]
    ask("undo", "--session", "ses_1", code=1)


def test_facts_wait_in_both_layers_and_one_about_the_person_goes_to_their_own_store(
    layers: Memory, ask: Ask, git: Git
) -> None:
    assert layers.of_project
    assert layers.of_person

    def pending(type: str, name: str, text: str) -> PendingFact:
        return PendingFact(type, "", name, text, f"{text}.", "s", TODAY, ("invented",))

    facts = (
        pending("user", "graz", "Lives in Graz"),
        pending("project", "noon", "Deploys at noon"),
    )
    for memory, fact in zip((layers.of_project, layers.of_person), facts, strict=True):
        with (writer := memory.opened.writer()).lock_store(), writer.state() as state:
            put_facts(memory.project, state, [fact], TODAY)
    expected = {("graz", "project"), ("noon", "user")}
    assert {(row["notes"][0]["name"], row["layer"]) for row in ask("review")} == expected
    graz, noon = (fact.id for fact in facts)
    assert "user-graz.md" in ask("review", graz, "keep")["said"]
    assert ask("show", "me/user-graz.md")["layer"] == "user"
    assert "Graz" not in git(layers.of_project.project.root, "log", "-p", "--all")
    assert ask("review", noon, "drop")["answer"] == "drop"
    assert ask("review") == []
