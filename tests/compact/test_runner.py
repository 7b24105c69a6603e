"""A compaction pass over a real store: one commit or nothing, and every byte can come back."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from locks import held_by_another
from stores import BeginStore

from mdmemory import Memory
from mdmemory.compact.pass_history import PARTIAL, due
from mdmemory.compact.plan import Delete, Flag, Merge, Op, Rewrite, describe, named, render
from mdmemory.compact.planner import Offline, Planner, ProposedPlan
from mdmemory.compact.runner import Compactor, Given, Outcome
from mdmemory.config.settings import load_settings
from mdmemory.errors import MdmemoryError
from mdmemory.git.lock import Patience, hold_lock
from mdmemory.store import conflicts
from mdmemory.store.conflicts import Entry
from mdmemory.store.note_links import former_names
from mdmemory.store.state import Pass, State
from mdmemory.store.store import StoredNote
from mdmemory.store.writer import Writer

Git = Callable[..., str]
Make = Callable[..., StoredNote]
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)

TEA = ("tea", "Drinks green tea at work", "Drinks green tea at work.")
TEA_TOO = ("tea-2", "drinks green tea at work!", "Drinks green tea at work.")
FRIDAY = ("friday", "The team deploys on Friday", "The team deploys on Friday.")
MONDAY = ("monday", "The team deploys on Monday", "The team deploys on Monday.")
CHESS = ("chess", "Plays chess in a club", "Plays chess in a club, see [[tea-2]].")


LUNCHES = [(f"lunch-{at}", f"Lunch is at {at}:30", "So they said.") for at in (11, 12)]
CLUBS = [(name, "Plays chess in a club", "Plays chess in a club.") for name in ("club", "club-2")]
Pair = Sequence[tuple[str, str, str]]


class Shop:
    """A store in a repository, and what a test asks of it."""

    def __init__(self, memory: Memory, make: Make, git: Git) -> None:
        self.memory, self.make, self._git = memory, make, git
        self.folder = memory.project.store

    def git(self, *words: str) -> str:
        return self._git(self.memory.project.root, *words)

    def write(self, *notes: tuple[str, str, str]) -> None:
        """Notes of type user by hand, committed."""
        for note in notes:
            text = self.make(*note).note.text
            (self.folder / f"user-{note[0]}.md").write_text(text, encoding="utf-8")
        self.memory.index()
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "by hand")

    def edit(self, name: str, old: str = "", new: str = "") -> Path:
        """Change a note by hand: put a text in the place of another, or at the end."""
        path = self.folder / f"user-{name}.md"
        text = path.read_text("utf-8")
        path.write_text(text.replace(old, new) if old else f"{text}\n{new}\n", "utf-8")
        return path

    def take_back(self, done: Outcome, way: str = "undo") -> None:
        """What a pass did, by `git revert` or by ours."""
        if way == "revert":
            self.git("revert", "--no-edit", str(done.commit))
        else:
            self.memory.undo(done.id)
        self.memory.index()

    def bytes(self) -> dict[str, bytes]:
        paths = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in paths}

    def everything(self) -> tuple[dict[str, bytes], str, str, str]:
        """All bytes of the store, HEAD, the index and what git has to say."""
        refs = self.git("for-each-ref")
        return self.bytes(), refs, self.git("ls-files", "-s"), self.git("status", "--porcelain")

    def run(self, planner: Planner, *, now: datetime = NOON, **asked: bool) -> Outcome:
        writer = Writer(self.memory.project, lambda text: "hunter2" in text, "a test")
        return Compactor(writer, planner, lambda text: text, now).run(**asked)

    def plan(self, *ops: Op, **asked: bool) -> Outcome:
        seen = {note.file: note.digest for note in self.memory.notes()}
        return self.run(Given(render(ops, seen)), **asked)

    def last(self) -> Pass | None:
        with State(self.memory.project.private / "state.db") as state:
            return state.last_pass()


@pytest.fixture
def shop(begin_store: BeginStore, make: Make, git: Git) -> Shop:
    return Shop(begin_store(clock=lambda: NOON), make, git)


class Acting:
    """A planner that does something while it is asked, and then answers as another."""

    kind = "offline"

    def __init__(self, act: Callable[[], object], planner: Planner | None = None) -> None:
        self.act, self.planner = act, planner or Offline()

    def propose(self, notes: Sequence[StoredNote], *, conflicts: Sequence[Entry]) -> ProposedPlan:
        self.shown = [note.file for note in notes]
        answer = self.planner.propose(notes, conflicts=conflicts)
        self.act()
        return answer


def changed(count: int, total: int = 20) -> dict[str, str]:
    """So many notes, of which some changed."""
    return {f"{at}.md": ("1" if at < count else "0") * 64 for at in range(total)}


SEEN = changed(0)


def is_now_due(
    last: str, notes: dict[str, str], hours: int, settings: dict[str, str] | None = None
) -> bool:
    """Whether a pass is, that many hours after one over SEEN; `last` is how that ended, if any."""
    before = Pass(NOON.isoformat(), last, SEEN) if last else None
    chosen = load_settings(settings or {})
    return bool(due(before, len(notes), lambda: notes, NOON + timedelta(hours=hours), chosen))


@pytest.mark.parametrize(
    ("last", "now", "hours", "is_due"),
    [
        ("", SEEN, 0, True),
        ("", changed(0, 1), 0, False),
        ("applied", SEEN, 0, False),
        ("applied", SEEN, 500, False),
        ("applied", changed(1), 11, False),
        ("applied", changed(1), 12, True),
        ("applied", changed(7), 1, False),
        ("applied", changed(8), 0, True),
        ("applied", changed(0, 2), 0, True),
        ("noop", SEEN, 13, False),
        ("refused", SEEN, 11, False),
        ("refused", SEEN, 12, True),
        ("failed", SEEN, 1, False),
        ("failed", SEEN, 12, True),
        ("failed", changed(8), 1, True),
        (PARTIAL, SEEN, 0, True),
        (PARTIAL, changed(0, 1), 0, False),
    ],
)
def test_a_pass_is_due_when_there_is_something_to_do(
    last: str, now: dict[str, str], hours: int, is_due: bool
) -> None:
    assert is_now_due(last, now, hours) == is_due


def test_settings_decide_when_it_is_due() -> None:
    for name, value, notes, is_due in (
        ("ENABLED", "0", changed(20), False),
        ("CHURN", "1", changed(1), True),
        ("INTERVAL_MS", "0", changed(1), True),
        ("INTERVAL_MS", "0", SEEN, False),
        ("MIN_ENTRIES", "21", changed(20), False),
    ):
        assert is_now_due("applied", notes, 0, {f"MEMORY_COMPACT_{name}": value}) == is_due, name


def test_a_pass_that_another_made_meanwhile_is_not_made_again(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.write(TEA, TEA_TOO)
    answers = iter(["it is time", None])
    monkeypatch.setattr("mdmemory.compact.pass_history.why_due", lambda *_: next(answers))
    before = shop.git("rev-parse", "HEAD")
    assert shop.run(Offline(), if_due=True).outcome == "not_due"
    assert shop.git("rev-parse", "HEAD") == before


def test_one_pass_is_one_commit_that_says_what_it_did(shop: Shop) -> None:
    shop.write(TEA, TEA_TOO, FRIDAY, MONDAY)
    before = shop.git("rev-parse", "HEAD").strip()
    done = shop.run(Offline())
    assert done.outcome == "applied"
    assert done.checkpoint is None, "nothing was uncommitted"
    assert shop.git("rev-list", f"{before}..HEAD").split() == [done.commit]
    message = shop.git("log", "-1", "--format=%B")
    assert message.startswith(
        "memory: merge 2 notes: tea and 1 more\n\nmerge user-tea.md + user-tea-2.md -> "
    )
    why = "the same words but for Friday and Monday"
    for line in (
        *(f"flag user-friday.md × user-monday.md: {why}", f"Memory-Id: {done.id}"),
        *("Memory-Op: compact", "Memory-Planner: offline"),
    ):
        assert f"\n{line}\n" in message
    assert message.count("\nMemory-Basis: ") == 2
    assert shop.git("status", "--porcelain") == ""
    assert not (shop.folder / "user-tea-2.md").exists()


def test_flags_write_the_ledger_and_no_note(shop: Shop) -> None:
    shop.write(FRIDAY, MONDAY)
    before = shop.bytes()
    assert shop.run(Offline()).outcome == "applied"
    after = shop.bytes()
    (entry,) = conflicts.open_entries(after.pop("_CONFLICTS.md").decode())
    assert entry.files == ("user-friday.md", "user-monday.md")
    assert {name for name in after if after[name] != before[name]} == {"MEMORY.md"}


def test_a_second_pass_finds_nothing_to_do(shop: Shop) -> None:
    shop.write(TEA, TEA_TOO, FRIDAY, MONDAY)
    shop.run(Offline())
    before = shop.everything()
    assert shop.run(Offline()).outcome == "noop"
    assert shop.everything() == before


@pytest.mark.parametrize("way", ["revert", "undo"])
def test_a_pass_comes_back_byte_for_byte(shop: Shop, way: str) -> None:
    shop.write(TEA, TEA_TOO, FRIDAY, MONDAY, CHESS)
    before = shop.bytes()
    done = shop.run(Offline())
    assert shop.bytes() != before
    shop.take_back(done, way)
    assert shop.bytes() == before


def test_a_dry_run_writes_nothing(shop: Shop) -> None:
    shop.write(TEA, TEA_TOO, FRIDAY, MONDAY)
    (shop.folder / "user-tea.md").write_text("by hand, not committed\n", encoding="utf-8")
    before = shop.everything()
    done = shop.run(Offline(), dry_run=True)
    assert (done.outcome, len(done.applied), done.commit) == ("dry_run", 1, None)
    assert shop.everything() == before
    assert shop.last() is None


def test_a_checkpoint_holds_what_was_edited_by_hand(shop: Shop) -> None:
    shop.write(TEA, TEA_TOO, CHESS)
    mine = shop.edit("chess", new="More of it.")
    text = mine.read_bytes()
    done = shop.run(Offline())
    assert done.checkpoint is not None
    assert shop.git("rev-parse", f"{done.commit}^").strip() == done.checkpoint
    path = mine.relative_to(shop.memory.project.root).as_posix()
    assert shop.git("show", f"{done.checkpoint}:{path}").encode() == text
    assert mine.read_bytes() == text
    assert f"Memory-Checkpoint: {done.checkpoint}" in shop.git("log", "-1", "--format=%B")


def test_an_empty_plan_is_no_commit_and_no_checkpoint(shop: Shop) -> None:
    shop.write(TEA, CHESS)
    (shop.folder / "user-chess.md").write_text("by hand\n", encoding="utf-8")
    shop.memory.index()
    before = shop.everything()
    same = Rewrite("user-tea.md", "Drinks green tea at work.")
    for ops in ((), (same,)):
        done = shop.plan(*ops)
        assert (done.outcome, done.commit, done.checkpoint) == ("noop", None, None)
    assert shop.everything() == before


def test_a_plan_whose_ops_are_all_refused_makes_no_commit(shop: Shop) -> None:
    shop.write(FRIDAY, MONDAY, TEA, TEA_TOO, CHESS)
    before = shop.everything()
    done = shop.plan(Delete("user-tea-2.md", "old"), Rewrite("user-tea.md", "Drinks 3 teas."))
    assert (done.outcome, done.commit) == ("refused", None)
    assert [code for _, code, _ in done.refused] == ["dangling_link", "literal_invented"]
    assert shop.everything() == before
    (kept,) = (shop.memory.project.private / "refused").iterdir()
    assert "Drinks 3 teas." in kept.read_text("utf-8")


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ('{"ops": []}', "noop"),
        ("nonsense", "refused"),
        ('{"ops": [{"op": "delete", "file": "user-nobody.md", "reason": "old"}]}', "refused"),
        (render([Delete("user-tea.md", "old")], {"user-tea.md": "0" * 64}), "noop"),
        ("", "not_due"),
    ],
)
def test_a_pass_that_applies_nothing_still_shows_a_hand_edit_in_the_index(
    answer: str, outcome: str, shop: Shop
) -> None:
    shop.write(TEA, CHESS)
    if outcome == "not_due":
        assert shop.run(Offline(), if_due=True).outcome == "noop"
    shop.edit("chess", CHESS[1], "Plays go")
    index = shop.folder / "MEMORY.md"
    before = index.read_bytes()
    assert shop.run(Given(answer), dry_run=True).commit is None
    assert index.read_bytes() == before, "a dry run writes nothing"
    done = shop.run(Given(answer), if_due=outcome == "not_due")
    assert (done.outcome, done.commit, done.applied) == (outcome, None, [])
    assert "Plays go" in index.read_text("utf-8")


def test_hand_edit_during_compaction_is_not_lost(shop: Shop) -> None:
    shop.write(TEA, TEA_TOO, FRIDAY, MONDAY)
    mine = shop.folder / "user-tea.md"
    done = shop.run(Acting(lambda: mine.write_bytes(b"I drink coffee now.\n")))
    assert mine.read_bytes() == b"I drink coffee now.\n"
    assert (shop.folder / "user-tea-2.md").exists()
    assert [(type(op), why) for op, why in done.skipped] == [
        (Merge, "user-tea.md changed since the plan was made.")
    ]
    assert [type(op) for op in done.applied] == [Flag], "the other op is done"


def test_a_note_removed_during_compaction_stays_removed(shop: Shop) -> None:
    shop.write(TEA, TEA_TOO)
    mine = shop.folder / "user-tea.md"
    done = shop.run(Acting(mine.unlink))
    assert (done.outcome, [why for _, why in done.skipped]) == ("noop", ["user-tea.md is gone."])
    assert not mine.exists()
    assert (shop.folder / "user-tea-2.md").exists()


def test_a_held_note_is_shown_to_no_planner_and_stays(shop: Shop) -> None:
    shop.write(TEA, TEA_TOO, CHESS)
    mine = shop.edit("tea-2", new="hunter2")
    text, looking = mine.read_bytes(), Acting(lambda: None)
    assert shop.run(looking).outcome == "noop"
    assert looking.shown == ["user-chess.md", "user-tea.md"]
    both = ("user-tea.md", "user-tea-2.md")
    merge = Merge(both, "user-tea.md", "tea", "user", *TEA[1:])
    done = shop.plan(merge, Delete("user-chess.md", "old"))
    assert [code for _, code, _ in done.refused] == ["held"]
    assert mine.read_bytes() == text
    assert shop.git("log", "--oneline", "-S", "hunter2", "--", str(mine)) == ""


def test_a_planner_that_raises_leaves_the_store_as_it_was(shop: Shop) -> None:
    shop.write(TEA, TEA_TOO)
    (shop.folder / "user-tea.md").write_text("by hand\n", encoding="utf-8")
    before = shop.everything()
    for problem in (RuntimeError("a bug"), MdmemoryError("no answer", "try later"), OSError("no")):

        def fail(problem: Exception = problem) -> None:
            raise problem

        with pytest.raises(type(problem)):
            shop.run(Acting(fail))
        assert shop.everything() == before
    last = shop.last()
    assert last is not None
    assert last.outcome == "failed"
    assert not shop.memory.due()


def test_a_busy_store_is_left_alone_when_nobody_waits(shop: Shop, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    shop.write(TEA, TEA_TOO)
    before = shop.everything()

    def brief(path: Path, holder: str, _: Patience) -> AbstractContextManager[None]:
        return hold_lock(path, holder, Patience(0.1))

    monkeypatch.setattr("mdmemory.store.writer.hold_lock", brief)
    with held_by_another(shop.memory.project.root / ".git" / "mdmemory.lock"):
        done = shop.run(Offline(), if_due=True)
    assert done.outcome == "busy"
    assert shop.everything() == before
    assert shop.last() is None


def test_without_git_a_pass_is_refused_before_anybody_is_asked(
    tmp_path: Path, make: Make, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "notes"
    store.mkdir()
    (store / "user-tea.md").write_text(make(*TEA).note.text, encoding="utf-8")
    shop = Shop(Memory.open(tmp_path, store=str(store)), make, git)
    with pytest.raises(MdmemoryError, match="taken back"):
        shop.run(Acting(lambda: pytest.fail("asked")))
    assert shop.run(Offline(), dry_run=True).outcome == "dry_run"


# --- what was taken back is not done again


@pytest.mark.parametrize("way", ["revert", "undo"])
def test_an_op_that_was_taken_back_is_not_done_again(shop: Shop, way: str) -> None:
    shop.write(TEA, TEA_TOO, FRIDAY, MONDAY)
    done = shop.run(Offline())
    shop.take_back(done, way)
    before = shop.everything()
    why = f"It was done in {done.id} and taken back since."
    for asked in ({"dry_run": True}, {}):
        again = shop.run(Offline(), **asked)
        assert (again.commit, [told for _, told in again.skipped]) == (None, [why] * 2)
    assert again.outcome == "noop"
    assert shop.everything() == before


def test_a_changed_note_is_looked_at_anew(shop: Shop) -> None:
    shop.write(TEA, TEA_TOO, FRIDAY, MONDAY)
    shop.take_back(shop.run(Offline()))
    shop.edit("friday", new="Since spring.")
    again = shop.run(Offline())
    assert [type(op) for op in again.applied] == [Flag]
    assert [type(op) for op, _ in again.skipped] == [Merge]


def test_an_undo_that_was_undone_counts_for_nothing(shop: Shop) -> None:
    shop.write(TEA, TEA_TOO, CHESS)
    undone = shop.memory.undo(shop.run(Offline()).id)
    assert shop.run(Offline()).outcome == "noop"
    shop.memory.undo(undone.written.id)
    assert not (shop.folder / "user-tea-2.md").exists()
    shop.write(TEA_TOO)
    assert shop.run(Offline()).outcome == "applied", "the note that stayed is another by now"


def test_another_op_on_the_same_notes_is_not_the_one_taken_back(shop: Shop) -> None:
    shop.write(TEA, TEA_TOO, CHESS, FRIDAY)
    shop.memory.undo(shop.plan(Delete("user-friday.md", "old")).id)
    assert shop.plan(Rewrite("user-friday.md", "On Friday the team deploys.")).outcome == "applied"
    assert shop.plan(Delete("user-chess.md", "old")).outcome == "applied"


@pytest.mark.parametrize(
    ("limit", "value", "one", "other"),
    [
        ("MAX_PASS_LINES", 1, (FRIDAY, MONDAY), LUNCHES),
        ("removable", lambda total: 1, (TEA, TEA_TOO), CLUBS),
    ],
    ids=["flags", "merges"],
)
def test_ops_that_were_taken_back_hide_no_others(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, limit: str, value: object, one: Pair, other: Pair
) -> None:
    monkeypatch.setattr(f"mdmemory.compact.planner.{limit}", value)
    shop.write(*one, *other)
    first = shop.memory.compact()
    assert (len(first.applied), first.more) == (1, True)
    shop.take_back(first)
    again = shop.memory.compact()
    assert [type(op) for op in again.applied] == [type(op) for op in first.applied]
    assert again.applied != first.applied
    assert [op for op, _ in again.skipped] == first.applied
    assert (again.more, shop.memory.compact(if_due=True).outcome) == (False, "not_due")


def test_a_held_note_that_stays_as_it_is_makes_no_pass_due(shop: Shop) -> None:
    shop.write(TEA, CHESS)
    token = "ghp_" + "a1B2" * 9
    (shop.folder / "user-token.md").write_text(f"It is {token}\n", encoding="utf-8")
    assert shop.memory.compact(if_due=True).outcome == "noop"
    later = Memory.open(shop.memory.project.root, clock=lambda: NOON + timedelta(days=2))
    assert later.due() is None
    assert later.compact(if_due=True).outcome == "not_due"


def test_links_to_a_merged_note_still_find_it(shop: Shop) -> None:
    shop.write(TEA, TEA_TOO, CHESS)
    shop.run(Offline())
    assert former_names(shop.memory.note("tea").note).keys() == {"tea-2", "user-tea-2"}
    refused = shop.plan(Delete("user-tea.md", "old"), Rewrite("user-chess.md", CHESS[2] + " Yes."))
    assert [code for _, code, _ in refused.refused] == ["dangling_link"]


def test_a_pass_that_hits_a_limit_is_due_again_at_once(shop: Shop, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr("mdmemory.compact.planner.MAX_PASS_LINES", 1)
    shop.write(FRIDAY, MONDAY, *LUNCHES)
    for outcome, count, more in (
        ("applied", 1, True),
        ("applied", 1, False),
        ("not_due", 0, False),
    ):
        done = shop.run(Offline(), if_due=True)
        assert (done.outcome, len(done.applied), done.more) == (outcome, count, more)


def deleting(*names: str) -> str:
    return render([Delete(f"user-{name}.md", "its time is over") for name in names], {})


def test_one_unknown_file_and_one_flawed_op_spoil_no_other(shop: Shop) -> None:
    shop.write(TEA, TEA_TOO, FRIDAY, CHESS)
    good = {"op": "rewrite", "file": "user-friday.md", "body": "So the team deploys on Friday."}
    unknown = {"op": "delete", "file": "user-none.md", "reason": "over"}
    flawed = {"op": "rename", "file": "user-tea.md"}
    done = shop.run(Given(json.dumps({"ops": [unknown, flawed, good, good]})))
    assert (done.outcome, [named(op) for op in done.applied]) == ("applied", [("user-friday.md",)])
    assert [code for _, code, _ in done.refused] == ["unknown_file", "overlap"]
    assert [(code, why[:5]) for code, why in done.refusals] == [("schema", "Op 2:")]


def test_automatic_passes_remove_no_more_in_a_week_than_one_pass_may(shop: Shop) -> None:
    matters = ("oak", "fern", "moss", "reed", "lily", "rose", "iris", "pine")
    shop.write(*((name, f"Waters the {name}", f"Waters the {name} daily.") for name in matters))
    now = datetime.now(UTC)

    def automatic(hours: int, *names: str) -> Outcome:
        shop.write(("hour", "The hour of the last look", f"It was hour {hours}."))
        later = now + timedelta(hours=hours)
        return shop.run(Given(deleting(*names)), now=later, if_due=True)

    first = automatic(1, "oak", "fern")
    assert (first.outcome, len(first.applied)) == ("applied", 2)
    second = automatic(20, "moss", "reed")
    assert [named(op) for op in second.applied] == [("user-moss.md",)]
    ((op, why),) = second.skipped
    assert (named(op), "7 days" in why) == (("user-reed.md",), True)
    assert automatic(40, "reed").outcome == "noop"
    # what a person takes back counts for nothing, and what a person asks for is not counted
    shop.memory.undo(first.id)
    assert automatic(60, "reed").outcome == "applied"
    assert shop.run(Given(deleting("lily")), now=now).outcome == "applied"
    assert len(automatic(24 * 9, "rose", "iris", "pine").applied) == 3


def test_a_pass_writes_at_most_fifty_lines_into_the_ledger(shop: Shop) -> None:
    words = [f"{one}{two}" for one in "bdfg" for two in "aeiou"]
    groups = [[f"{word}-{at}" for at in range(5)] for word in words[:6]]
    shop.write(*((name, f"On {name}", f"This is {name}.") for group in groups for name in group))
    flags = [Flag(tuple(f"user-{name}.md" for name in group), "which one") for group in groups]
    done = shop.run(Given(render(flags, {})))
    assert (done.outcome, done.applied, done.more) == ("applied", flags[:5], True)
    assert [op for op, _ in done.skipped] == flags[5:]
    assert len(conflicts.parse((shop.folder / "_CONFLICTS.md").read_text(encoding="utf-8"))) == 50
    assert shop.run(Given(render(flags, {}))).applied == flags[5:]


def test_an_op_is_described_in_one_line() -> None:
    odd = "user-a\nMemory-Id: m-1\u2028.md"
    for op in (
        Merge((odd, "b.md"), odd, "a", "user", "d", "b", "why\n\nnot"),
        Merge(tuple(f"{at}.md" for at in range(3_000)), "0.md", "a", "user", "d", "b"),
        Delete(odd, "x\ry"),
        Rewrite(odd, "b"),
        Flag((odd, "\x00"), "\u2029 "),
    ):
        assert describe(op).isprintable()
        assert len(describe(op).splitlines()) == 1
        assert len(describe(op)) < 2_000


@pytest.fixture
def planted(shop: Shop) -> Iterator[Shop]:
    """A store that every nasty plan finds, and must leave, in the same state."""
    shop.write(TEA, TEA_TOO, FRIDAY, MONDAY, CHESS)
    (shop.folder / "user-a.md").write_text("A note by hand, not committed.\n", encoding="utf-8")
    (shop.folder.parent / "outside.md").write_text("outside\n", encoding="utf-8")
    yield shop
    assert (shop.folder.parent / "outside.md").read_text("utf-8") == "outside\n"


@pytest.mark.slow
def test_no_nasty_plan_changes_a_byte(planted: Shop, nasty: Sequence[str | bytes]) -> None:
    assert len(nasty) >= 60
    planted.memory.index()
    before = planted.everything()
    for answer in nasty:
        done = planted.memory.compact(plan=answer)
        assert done.outcome in ("refused", "noop"), answer
        assert done.commit is done.checkpoint is None
        assert all(message and "\n" not in message for _, message in done.refusals)
        assert planted.bytes() == before[0], answer
    assert planted.everything() == before
