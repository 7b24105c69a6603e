"""A pass that a model plans: asked without a lock, one commit that names it, or nothing at all."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fake_server import FakeServer, system_text, user_texts
from pace import HUNG
from scripted import Said, Scripted
from stores import BeginStore

from mdmemory import Memory
from mdmemory.cli import main
from mdmemory.compact import model_planner, runner
from mdmemory.compact.pass_history import PARTIAL
from mdmemory.compact.plan import Delete
from mdmemory.compact.runner import Outcome, outlived
from mdmemory.errors import Busy
from mdmemory.git.lock import hold_turn
from mdmemory.llm.answer import Answer, ModelFailed, Schema
from mdmemory.store.state import Pass, State

Patch = pytest.MonkeyPatch
Git = Callable[..., str]
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
SECRET = "ghp_" + "a1B2" * 9
MERGED: dict[str, Any] = {
    "op": "merge", "sources": ["user-cups.md", "user-tea.md"], "target": "user-tea.md",
    "name": "tea", "type": "user", "description": "Drinks green tea", "reason": "one habit",
    "body": "Drinks 2 cups of green tea each day.",
}  # fmt: skip
LOSSY = {**MERGED, "body": "Drinks cups of green tea each day."}
UNLIKE = {
    "op": "merge", "sources": ["project-login.md", "project-port.md"], "target": "project-login.md",
    "name": "login", "type": "project", "description": "Sign-in is on",
    "body": "The sign-in page is enabled.", "reason": "the newer one",
}  # fmt: skip
NOTES = {
    "user-tea": ("Drinks green tea", "Drinks 2 cups of green tea each day."),
    "user-cups": ("Green tea, each day", "Of green tea 2 cups are drunk each day."),
    "project-login": ("Sign-in is on", "The sign-in page is enabled."),
    "project-port": ("Where the proxy listens", "The proxy listens on port 8080."),
}
WRONG = {"op": "rewrite", "file": "user-editor.md", "body": "Works in Vim 9."}
RIGHT = {"op": "rewrite", "file": "user-editor.md", "body": "Works in Helix, on Linux."}
TWINS = {
    "user-tea": ("Drinks green tea", "Drinks 2 cups of green tea each day."),
    "user-tea-2": ("Drinks green tea", "Drinks 2 cups of green tea each day."),
    "project-on": ("Sign-in runs on port 8080", "The sign-in page."),
    "project-off": ("Sign-in runs on port 8443", "The sign-in page."),
    "user-editor": ("Works in Helix", "Works in Helix, on Linux. Works in Helix."),
}


def write(memory: Memory, notes: dict[str, tuple[str, str]]) -> None:
    """Put notes there by hand: descriptions and bodies by type and name."""
    for file, (description, body) in notes.items():
        type, _, name = file.partition("-")
        head = f"name: {name}\ndescription: {description}\nmetadata:\n  type: {type}"
        (memory.project.store / f"{file}.md").write_text(f"---\n{head}\n---\n\n{body}\n")


def commit_by_hand(memory: Memory) -> None:
    memory.index()
    for words in (("add", "-A"), ("commit", "-q", "-m", "by hand")):
        subprocess.run(["git", *words], cwd=memory.project.root, check=True, timeout=HUNG)


def write_and_commit(notes: dict[str, tuple[str, str]], memory: Memory) -> None:
    write(memory, notes)
    commit_by_hand(memory)


fill, fill_twins = partial(write_and_commit, NOTES), partial(write_and_commit, TWINS)


@pytest.fixture
def memory(begin_store: BeginStore, repository: Path, monkeypatch: Patch) -> Memory:
    monkeypatch.chdir(repository)
    return begin_store(fill=fill, clock=lambda: NOON)


def plan(*ops: dict[str, Any]) -> dict[str, Any]:
    return {"ops": list(ops)}


def files(memory: Memory, some: str = "*.md") -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in memory.project.store.glob(some)}


def kinds(done: Outcome) -> list[str]:
    return [type(op).__name__ for op in done.applied]


def last(memory: Memory) -> Pass:
    with State(memory.project.private / "state.db") as state:
        found = state.last_pass()
    assert found is not None
    return found


def refused(memory: Memory) -> list[str]:
    folder = memory.project.private / "refused"
    return [path.read_text("utf-8") for path in sorted(folder.glob("*"))]


@pytest.mark.parametrize(
    ("reader", "sentence"),
    [
        (
            {"verdicts": [{"number": "1", "verdict": "lost", "what": "each day"}]},
            "A second reading says that it would lose each day.",
        ),
        (ModelFailed("It is away.", "Ask later."), "No second reading: It is away."),
    ],
)
def test_a_plan_of_ones_own_is_done_and_what_a_verifier_doubts_is_said(
    memory: Memory, reader: Said, sentence: str
) -> None:
    done = memory.compact(plan=json.dumps(plan(MERGED)), model=Scripted(reader=reader))
    assert (done.outcome, done.planner) == ("applied", "given")
    assert [*done.doubts] == [(done.applied[0], sentence)]


def test_a_commit_names_the_model_that_planned_it(memory: Memory, git: Git) -> None:
    before = files(memory)
    done = memory.compact(model=Scripted(plan(MERGED)))
    assert (done.outcome, done.planner, done.model) == ("applied", "scripted", "scripted")
    message = git(memory.project.root, "log", "-1", "--format=%an <%ae>%n%B")
    assert message.startswith("mdmemory <mdmemory@localhost>\nmemory: merge 2 notes: ")
    assert "\nMemory-Planner: scripted\nMemory-Model: scripted\n" in message
    assert "user-cups.md" not in files(memory)
    memory.undo(done.id)
    assert files(memory) == before


def test_the_rules_are_the_protocols_and_held_notes_are_not_sent(memory: Memory) -> None:
    path = memory.project.store / "user-token.md"
    path.write_text(f"My token is {SECRET}\n", encoding="utf-8")
    (memory.project.store / "user-bytes.md").write_bytes(b"\xff\xfe")
    model = Scripted(plan())
    assert memory.compact(model=model).outcome == "noop"
    assert "prefer keeping over losing" in model.asked[0].system
    assert "{{" not in model.asked[0].system
    sent = [note["file"] for note in json.loads(model.asked[0].user)["notes"]]
    assert sent == sorted(f"{name}.md" for name in NOTES)
    assert path.read_text("utf-8") == f"My token is {SECRET}\n"


@pytest.mark.parametrize("op", [UNLIKE, LOSSY, {**MERGED, "body": MERGED["body"] + " At 5."}])
def test_what_a_model_should_not_have_proposed_changes_nothing_and_is_kept(
    memory: Memory, op: dict[str, Any]
) -> None:
    before = files(memory)
    told = {**op, "reason": f"the token is {SECRET}"}
    done = memory.compact(model=Scripted(plan(op), plan(op)))
    assert (done.outcome, done.commit, len(done.refused)) == ("refused", None, 1)
    assert done.tokens.calls == 2
    done = memory.compact(model=Scripted(plan(told), plan(told)))
    assert (done.outcome, [code for code, _ in done.refusals]) == ("refused", ["secret"])
    assert files(memory) == before
    texts = refused(memory)
    assert len(texts) == 2  # of two passes within one second
    assert all(op["body"] in text and SECRET not in text for text in texts)
    assert last(memory).outcome == "refused"


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (ModelFailed("It is down."), "model_failed"),
        (ModelFailed("Enough for today.", "", "over_cap"), "over_cap"),
        ("I would rather not.", "unparsable"),
        ('{"ops": [], "ops": []}', "unparsable"),
    ],
)
def test_a_failed_pass_changes_nothing_and_waits(
    memory: Memory, said: str | Exception, code: str
) -> None:
    before = files(memory)
    done = memory.compact(model=Scripted(said, said), if_due=True)
    assert (done.outcome, [each[0] for each in done.refusals]) == ("failed", [code])
    assert files(memory) == before
    assert refused(memory) == ([said] if isinstance(said, str) else [])
    assert last(memory).outcome == "failed"  # which waits: see test_runner.py
    assert memory.compact(model=Scripted(), if_due=True).outcome == "not_due"


def test_a_failed_batch_leaves_the_pass_partial(memory: Memory, monkeypatch: Patch) -> None:
    monkeypatch.setattr(model_planner, "MAX_CHARS", 450)  # two notes
    model = Scripted("no plan", "no plan", plan(MERGED), plan())
    done = memory.compact(model=model)
    assert (done.outcome, done.more) == ("applied", True)
    assert [code for code, _ in done.refusals] == ["unparsable"]
    assert last(memory).outcome == PARTIAL
    assert refused(memory) == ["no plan"]


@pytest.mark.parametrize("is_edited", [False, True])
def test_what_has_no_answer_in_two_passes_in_a_row_waits(
    memory: Memory, monkeypatch: Patch, is_edited: bool
) -> None:
    monkeypatch.setattr(model_planner, "MAX_CHARS", 450)  # two notes
    down = ModelFailed("It is down.")
    assert memory.compact(model=Scripted(down, plan(MERGED))).more
    assert last(memory).outcome == PARTIAL
    if is_edited:
        memory.edit("login", body="The sign-in page is enabled for guests.")
    monkeypatch.setattr(model_planner, "MAX_CHARS", 300)  # one
    fresh = {"op": "rewrite", "file": "project-port.md", "body": "On port 8080 the proxy listens."}
    done = memory.compact(model=Scripted(down, plan(fresh), plan()), if_due=True)
    assert (done.outcome, [code for code, _ in done.refusals]) == ("applied", ["model_failed"])
    assert last(memory).outcome == (PARTIAL if is_edited else "failed")
    assert (memory.due() is None) != is_edited
    later = Memory.open(memory.project.root, clock=lambda: NOON + timedelta(hours=12))
    assert later.due() is not None


class Meanwhile(Scripted):
    """A model that does something before it answers."""

    def __init__(self, act: Callable[[], object], *answers: Any) -> None:
        super().__init__(*answers)
        self.act = act

    def complete(self, system: str, user: str, schema: Schema | None = None) -> Answer:
        answer = super().complete(system, user, schema)
        self.act()
        return answer


def test_another_writes_while_the_model_thinks(memory: Memory) -> None:
    def add() -> None:
        memory.add("new", type="user", description="New", body="It is new.")

    assert memory.compact(model=Meanwhile(add, plan(MERGED))).outcome == "applied"
    assert "user-new.md" in files(memory)


def test_of_two_passes_one_asks_and_the_other_is_busy(memory: Memory, monkeypatch: Patch) -> None:
    monkeypatch.setattr(runner, "_PATIENCE", 0.1)
    asks, go = threading.Event(), threading.Event()

    def wait() -> None:
        asks.set()
        assert go.wait(30)

    first = threading.Thread(target=memory.compact, kwargs={"model": Meanwhile(wait, plan(MERGED))})
    first.start()
    try:
        assert asks.wait(30)
        assert memory.compact(model=Scripted(), if_due=True).outcome == "busy"
        with pytest.raises(Busy, match="Another compaction"):
            memory.compact(model=Scripted())
        assert memory.compact(model=Scripted(plan()), dry_run=True).outcome == "dry_run"
    finally:
        go.set()
        first.join(30)
    assert last(memory).outcome == "applied"
    assert memory.compact(model=Scripted(), if_due=True).outcome == "not_due"


def test_a_turn_ends_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "turn"
    code = (
        "import os, sys; from pathlib import Path; from mdmemory.git.lock import hold_turn\n"
        "with hold_turn(Path(sys.argv[1]), 0, 'busy'): print('mine', flush=True); sys.stdin.read();"
        "    os._exit(9)"
    )
    with subprocess.Popen(
        [sys.executable, "-P", "-c", code, str(path)], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True,
    ) as other:  # fmt: skip
        assert other.stdout is not None
        assert other.stdout.readline() == "mine\n"
        with pytest.raises(Busy), hold_turn(path, 0, "busy"):
            pass
    with hold_turn(path, 0, "busy"):
        pass


def test_a_dry_run_asks_and_writes_nothing(memory: Memory) -> None:
    before = files(memory)
    done = memory.compact(model=Scripted(plan(MERGED)), dry_run=True)
    assert (done.outcome, len(done.applied), done.tokens.calls) == ("dry_run", 1, 2)
    assert memory.compact(model=Scripted("no plan", "no plan"), dry_run=True).outcome == "failed"
    assert files(memory) == before
    assert not (memory.project.private / "refused").exists()
    assert memory.due() == "no pass is recorded"


def test_a_plan_that_was_taken_back_is_not_carried_out_again(memory: Memory) -> None:
    memory.undo(memory.compact(model=Scripted(plan(MERGED))).id)
    before = files(memory)
    again = {**MERGED, "reason": "really", "body": "2 cups of green tea are drunk each day."}
    done = memory.compact(model=Scripted(plan(again)))
    assert (done.outcome, done.commit) == ("noop", None)
    assert "taken back" in done.skipped[0][1]
    assert files(memory) == before


def test_a_refused_answer_is_kept_for_a_week(memory: Memory) -> None:
    memory.compact(model=Scripted("no plan", "no plan"))
    (old,) = (memory.project.private / "refused").iterdir()
    for days, there in ((6.9, True), (7.1, False)):
        then = (NOON - timedelta(days=days)).timestamp()
        os.utime(old, (then, then))
        memory.compact(model=Scripted(plan()))
        assert old.exists() == there


def test_offline_asks_nobody_whatever_is_chosen(
    memory: Memory, monkeypatch: Patch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MDMEMORY_PLANNER", "openai")
    capsys.readouterr()
    assert main(["compact", "--offline", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["planner"] == "offline"
    assert main(["compact", "--json"]) == 1
    failed = json.loads(capsys.readouterr().out)
    assert (failed["outcome"], failed["planner"]) == ("failed", "openai")
    assert failed["tokens"] == {"input": 0, "output": 0, "calls": 0}
    assert [each["code"] for each in failed["refusals"]] == ["bad_setting"]
    assert main(["compact"]) == 1
    told = capsys.readouterr().out
    assert "no plan: There is no key for api.openai.com. Set OPENAI_API_KEY" in told
    assert "nothing changed" in told


@pytest.mark.slow
def test_the_command_asks_a_real_server_through_the_real_client(memory: Memory, git: Git) -> None:
    root = memory.project.root
    with FakeServer() as server:
        server.say(json.dumps(plan(MERGED, {**UNLIKE, "reason": ""})))
        server.say(json.dumps(plan({
            "op": "flag", "files": ["project-login.md", "project-port.md"], "reason": "On or off?",
        })))  # fmt: skip
        more = {"MDMEMORY_PLANNER": "openai", "OPENAI_BASE_URL": server.url}
        done = subprocess.run(
            [sys.executable, "-P", "-m", "mdmemory", "compact", "--json"], cwd=root,
            env={**os.environ, **more}, capture_output=True, text=True, timeout=HUNG,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        told = json.loads(done.stdout)
        first, second = server.requests
    assert set(told) == {
        "outcome", "checkpoint", "commit", "planned", "applied", "skipped", "refused", "refusals",
        "doubts", "planner", "tokens",
    }  # fmt: skip
    assert (told["outcome"], told["planner"]) == ("applied", "openai")
    assert [op["op"] for op in told["applied"]] == ["merge", "flag"]
    assert told["tokens"] == {"input": 300, "output": 30, "calls": 3}
    assert first["response_format"]["json_schema"]["strict"] is True
    assert "# Task: tidy the notes" in system_text(first)
    assert len(json.loads(user_texts(first)[0])["notes"]) == 4
    assert json.loads(user_texts(second)[0])["refused"][0]["op"]["sources"] == UNLIKE["sources"]
    assert "\nMemory-Model: gpt-5-mini\n" in git(root, "log", "-1", "--format=%B")
    assert git(root, "status", "--porcelain") == ""


# --- two processes of which both would compact: one does, the other says so and leaves ------------


# A pass whose planner says that it was asked, and answers when it is told to.
SLOW = """
import sys
from datetime import UTC, datetime
from mdmemory import Memory
from mdmemory.compact.planner import Offline
from mdmemory.compact.runner import Compactor

class Slow(Offline):
    def propose(self, notes, *, conflicts):
        print("asked", flush=True)
        sys.stdin.readline()
        return super().propose(notes, conflicts=conflicts)

memory = Memory.open(".")
print(Compactor(memory.opened.writer(), Slow(), str, datetime.now(UTC)).run(if_due=True).outcome)
"""


def command(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-P", "-m", "mdmemory", "compact", "--if-due", *words]
    return subprocess.run(line, cwd=root, capture_output=True, text=True, timeout=HUNG, check=False)


@pytest.mark.slow
def test_while_one_process_compacts_the_other_says_so_and_leaves(
    twins: Memory, repository: Path, git: Git
) -> None:
    with subprocess.Popen(
        [sys.executable, "-P", "-c", SLOW], cwd=repository, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as slow:  # fmt: skip
        assert slow.stdout
        assert slow.stdout.readline() == "asked\n"
        before = git(repository, "rev-parse", "HEAD")
        other, told = command(repository, "--json"), command(repository)
        assert (other.returncode, json.loads(other.stdout)["outcome"]) == (0, "busy")
        assert (told.returncode, told.stderr) == (0, "")
        assert told.stdout == "Another process is writing; nothing changed.\n"
        assert git(repository, "rev-parse", "HEAD") == before
        assert slow.communicate("go on\n", timeout=HUNG)[0] == "applied\n"
    assert git(repository, "log", "-1", "--format=%s").startswith("memory: merge 2 notes")
    assert command(repository).stdout == "No compaction is due.\n"
    assert git(repository, "status", "--porcelain") == ""


# --- choosing a model never switches off what is sure without one ---------------------------------


@pytest.fixture
def twins(begin_store: BeginStore) -> Memory:
    return begin_store(fill=fill_twins)


@pytest.mark.parametrize(
    "said",
    [
        [ModelFailed("It is down.")],
        ["I would rather not."] * 2,
        [plan(WRONG), plan(WRONG)],
        [plan()],
    ],
)
def test_what_is_sure_is_done_whatever_the_model_says(twins: Memory, said: list[Said]) -> None:
    done = twins.compact(model=Scripted(*said))
    assert (done.outcome, kinds(done)) == ("applied", ["Merge", "Flag"])
    assert files(twins, "*-*.md").keys() == {f"{name}.md" for name in TWINS} - {"user-tea-2.md"}
    assert len(twins.conflicts()) == 1
    failed = isinstance(said[0], ModelFailed | str)
    assert bool(done.refusals) == failed, "a failure is said"


def test_both_parts_are_one_commit_and_one_undo(twins: Memory, git: Git) -> None:
    twins.add("port", type="project", description="The port", body="It is 8080.")
    before = files(twins, "*-*.md")
    commits = int(git(twins.project.root, "rev-list", "--count", "HEAD"))
    done = twins.compact(model=Scripted(plan(RIGHT)))
    assert kinds(done) == ["Merge", "Rewrite", "Flag"]
    assert int(git(twins.project.root, "rev-list", "--count", "HEAD")) == commits + 1
    twins.undo(done.id)
    assert files(twins, "*-*.md") == before


def test_other_words_are_done_where_the_second_reading_affirms_them(twins: Memory) -> None:
    """A name and a denial may go; the same plan of a person, which nobody read again, may not."""
    reworded = {"op": "rewrite", "file": "user-editor.md", "body": "No editor but Vim."}
    alone = twins.compact(plan=json.dumps(plan(reworded)))
    assert [code for _, code, _ in alone.refused] == ["literal_lost"]
    assert kinds(twins.compact(model=Scripted(plan(reworded)))) == ["Merge", "Rewrite", "Flag"]
    assert b"No editor but Vim." in files(twins)["user-editor.md"]


def test_the_model_is_shown_what_is_left(twins: Memory) -> None:
    model = Scripted(plan())
    twins.compact(model=model)
    told = json.loads(model.asked[0].user)
    shown = {note["file"] for note in told["notes"]}
    assert shown == {"project-off.md", "project-on.md", "user-editor.md"}
    assert told["conflicts"] == [["project-off.md", "project-on.md"]]


def test_what_was_taken_back_is_neither_done_again_nor_in_the_way(twins: Memory) -> None:
    twins.undo(twins.compact(model=Scripted(plan())).id)
    body = "Of green tea, each day 2 cups are drunk."
    rewrite = {"op": "rewrite", "file": "user-tea.md", "body": body}
    done = twins.compact(model=Scripted(plan(rewrite, RIGHT)))
    assert "user-tea-2.md" in files(twins)
    named = [op.file for op in done.applied if hasattr(op, "file")]
    assert named == ["user-tea.md", "user-editor.md"]


def test_a_plan_of_a_persons_own_is_carried_out_as_it_stands(twins: Memory) -> None:
    assert kinds(twins.compact(plan=json.dumps(plan(RIGHT)))) == ["Rewrite"]


# A superseded note goes after 30 days, by a pass of any planner, and an undo brings it back.

LATER = datetime(2026, 8, 1, 12, tzinfo=UTC)
AGING = {
    "freight": ("Parcels go by freight", "parcels", "2026-06-01"),
    "parcels": ("Parcels go by the parcel service", "", ""),
    "port-1": ("The proxy listens on 8080", "port-2", "2026-05-01"),
    "port-2": ("The proxy listens on 9090", "port", "2026-06-01"),
    "port": ("The proxy listens on 9191", "", ""),
    "young": ("The office is in Rome", "office", "2026-07-20"),
    "office": ("The office is in Oslo", "", ""),
    "linked": ("The team is called Blue", "team", "2026-06-01"),
    "team": ("The team is called Green, see [[linked]]", "", ""),
    "orphan": ("The desk is blue", "nobody", "2026-06-01"),
}


def text(name: str) -> str:
    says, by, day = AGING[name]
    mark = f"  status: superseded\n  superseded_by: {by}\n  superseded: {day}\n" if by else ""
    head = f"name: {name}\ndescription: {says}\nmetadata:\n  type: project\n{mark}"
    return f"---\n{head}---\n\n{says}.\n"


def fill_aging(memory: Memory) -> None:
    for name in AGING:
        (memory.project.store / f"project-{name}.md").write_text(text(name))
    commit_by_hand(memory)


@pytest.fixture
def aging(begin_store: BeginStore) -> Memory:
    return begin_store(fill=fill_aging, clock=lambda: LATER)


def deleted(outcome: Outcome) -> list[str]:
    return [op.file for op in outcome.applied if isinstance(op, Delete)]


def test_what_was_superseded_over_30_days_ago_goes(aging: Memory) -> None:
    gone = ["project-freight.md", "project-port-1.md"]
    done = aging.compact(offline=True)
    assert sorted(deleted(done)) == gone
    assert "superseded on 2026-06-01" in {op.reason for op in done.applied}
    assert not done.refused, "what stays is not even proposed"
    assert deleted(aging.compact(offline=True)) == ["project-port-2.md"], "the next of its chain"
    left = {note.note.head.name for note in aging.notes()}
    assert left == AGING.keys() - {"freight", "port-1", "port-2"}


@pytest.mark.parametrize(
    ("day", "goes"),
    [("2026-07-31", True), ("2026-08-01", False), ("2027-01-01", False), ("soon", False)],
)
def test_a_note_goes_after_its_own_last_day_and_an_undo_brings_it_back(
    aging: Memory, day: str, goes: bool
) -> None:
    file = aging.project.store / "project-office.md"
    dated = file.read_text().replace("type: project\n", f"type: project\n  expires: {day}\n")
    file.write_text(dated)
    (aging.project.store / "project-young.md").unlink()  # what it replaced holds it
    done = aging.compact(offline=True)
    assert ("project-office.md" in deleted(done)) == goes
    assert not goes or f"held until {day}" in {op.reason for op in done.applied}
    aging.undo(done.id)
    assert file.read_text() == dated


def test_an_undo_brings_it_back_for_good(aging: Memory) -> None:
    before = files(aging, "project-*")
    aging.undo(aging.compact(offline=True).id)
    assert before == files(aging, "project-*")
    assert aging.compact(offline=True).outcome == "noop"


def test_a_model_need_not_say_so_and_a_plan_of_ones_own_is_all_that_is_done(aging: Memory) -> None:
    plan = {"ops": [{"op": "delete", "file": "project-freight.md", "reason": "old"}]}
    done = aging.compact(plan=json.dumps(plan), dry_run=True)
    assert [code for _, code, _ in done.refused] == ["held"]
    assert aging.compact(plan='{"ops": []}').outcome == "noop"
    done = aging.compact(model=Scripted(plan, plan))
    assert sorted(deleted(done)) == ["project-freight.md", "project-port-1.md"]


def test_they_count_in_the_number_of_notes_that_may_go(aging: Memory) -> None:
    for at in range(4):
        more = text("freight").replace("freight", f"more-{at}")
        (aging.project.store / f"project-more-{at}.md").write_text(more)
    commit_by_hand(aging)
    done = aging.compact(offline=True)
    assert (len(deleted(done)), done.more) == (3, True)
    assert len(deleted(aging.compact(offline=True))) == 3


def test_of_very_many_some_go_in_a_pass_and_one_that_stays_holds_nobody_up(
    aging: Memory, monkeypatch: Patch
) -> None:
    monkeypatch.setattr("mdmemory.compact.runner._AT_ONCE", 1)
    asked: list[str] = []
    monkeypatch.setattr(
        "mdmemory.actions.replacing.tell_anothers",
        lambda writer, many: lambda note: bool(asked.append(note.file)),
    )
    passes = [aging.compact(offline=True) for _ in range(4)]
    goes = ["project-freight.md", "project-port-1.md", "project-port-2.md"]
    assert [deleted(done) for done in passes] == [*([each] for each in goes), []]
    assert [done.more for done in passes] == [True, False, False, False]
    assert asked[:3] == ["project-freight.md", "project-linked.md", "project-port-1.md"]


def test_another_persons_note_stays(repository: Path, git: Git) -> None:
    aging, _ = Memory.init(repository)
    folder = aging.project.store
    for name in ("freight", "parcels"):
        (folder / f"project-{name}.md").write_text(text(name))
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "theirs", "--author=Else <else@example.org>")
    aging = Memory.open(repository, clock=lambda: LATER)
    assert aging.compact(offline=True).outcome == "noop"
    assert [note.file for note in outlived(aging.notes(), "2026-08-01")] == ["project-freight.md"]
