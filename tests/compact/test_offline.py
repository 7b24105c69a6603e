"""The planner without a model merges exact duplicates and flags contradictions, and no more."""

import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

import pytest
from bench.planner import planted

from mdmemory.compact.guards import check
from mdmemory.compact.plan import Delete, Flag, Merge, Plan, named
from mdmemory.compact.planner import Offline, Planner, Tokens
from mdmemory.compact.result import pairs
from mdmemory.store import conflicts
from mdmemory.store.store import StoredNote

Make = Callable[..., StoredNote]


def propose(notes: Sequence[StoredNote], ledger: str = "") -> Plan:
    planner: Planner = Offline()
    proposal = planner.propose(notes, conflicts=conflicts.parse(ledger))
    assert proposal.tokens == Tokens(0, 0, 0)
    plan = proposal.plan
    seen = {note.file: note.digest for note in notes}
    assert dict(plan.digests) == {file: seen[file] for op in plan.ops for file in named(op)}
    open_pairs = [frozenset(entry.files) for entry in conflicts.open_entries(ledger)]
    verdict = check(plan, notes, open_conflicts=open_pairs, has_secret=lambda text: False)
    assert verdict.accepted == plan.ops, "it proposes only what the guards let pass"
    return plan


def fact(make: Make, name: str, text: str, **more: str) -> StoredNote:
    return make(name, text, f"{text}.", **more)


def merge_of(notes: Sequence[StoredNote]) -> Merge:
    """The one op that is proposed, which has to be a merge."""
    (op,) = propose(notes).ops
    assert isinstance(op, Merge)
    return op


def test_exact_duplicates_are_merged_into_the_better_note(make: Make) -> None:
    notes = [
        fact(make, "a", "Uses pnpm everywhere", source="extraction", created="2025-01-01"),
        fact(make, "b", "uses  PNPM everywhere", source="explicit", created="2026-02-01"),
        fact(make, "c", "Uses pnpm everywhere", source="explicit", created="2026-01-01"),
        fact(make, "d", "Uses cargo everywhere"),
    ]
    for some in (notes, notes[::-1]):
        op = merge_of(some)
        assert (op.target, op.sources) == ("user-c.md", ("user-c.md", "user-a.md", "user-b.md"))


def test_the_plain_name_outlives_the_numbered_one(make: Make) -> None:
    notes = [fact(make, "tea-2", "Drinks tea"), fact(make, "tea", "Drinks tea")]
    assert merge_of(notes).target == "user-tea.md"


def test_what_differs_in_form_alone_is_merged(make: Make) -> None:
    one = "Keep **the** changelog short"
    op = merge_of([fact(make, "a", one), fact(make, "b", "keep the changelog short.")])
    assert (op.target, op.description, op.body) == ("user-a.md", one, f"{one}.")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Writes tools in C", "Writes tools in C++"),
        ("Pins version 3.5", "Pins version 3 5"),
        ("Uses npm", "Uses npm?"),
        ("Passes --force", "Passes -force"),
        ("Anna manages Bilal", "Bilal manages Anna"),
        ("Uses pnpm in every project", "Uses pnpm in every JavaScript project"),
        ("Wants tests for the parser", "Wants tests for the parser and the linter"),
        ("Is the parser tested", "Is the parser tested?"),
    ],
)
def test_what_differs_in_a_sign_or_in_words_is_no_duplicate(
    make: Make, one: str, other: str
) -> None:
    plan = propose([fact(make, "a", one), fact(make, "b", other)])
    assert not any(isinstance(op, Merge) for op in plan.ops)


def test_the_order_of_sentences_is_form_and_the_order_of_words_is_not(make: Make) -> None:
    one = make("a", "Rules for Go", "Use tabs. Lint with vet.")
    assert merge_of([one, make("b", "Rules for Go", "Lint with vet. Use tabs.")])
    assert propose([one, make("b", "Rules for Go", "Lint tabs. Use vet with.")]).ops == ()


def test_a_note_that_says_all_of_another_and_more_is_left_to_who_can_read(make: Make) -> None:
    said = "Wants tests for the parser"
    notes = [make("a", said, f"{said}. It broke."), make("b", said, f"{said}. It broke twice.")]
    assert propose(notes).ops == ()


def test_what_a_person_added_to_a_head_is_not_merged_away(
    make: Make, from_text: Callable[[str, str], StoredNote]
) -> None:
    plain = make("z", "Drinks tea", "Drinks tea.", source="explicit")
    for line in ("title: Tea", "colour: green", "tags: [a, b]"):
        mine = from_text("user-a.md", plain.note.text.replace("metadata:", f"{line}\nmetadata:"))
        assert merge_of([mine, plain]).sources == ("user-a.md", "user-z.md")
        assert propose([mine, StoredNote("user-b.md", mine.digest, mine.note)]).ops == ()


def test_duplicates_of_another_type_or_kind_stay_apart(make: Make) -> None:
    others = (
        {},
        {"type": "feedback"},
        {"type": "project"},
        {"type": "project", "kind": "decision"},
    )
    notes = [fact(make, f"n{at}", "Uses pnpm", **more) for at, more in enumerate(others)]
    assert propose(notes).ops == ()


def test_contradictions_are_flagged_with_the_values(make: Make) -> None:
    texts = ("The team deploys on Friday", "The team deploys on Monday")
    others = ("The standup is on Monday", "Likes green tea")
    notes = [fact(make, name, text) for name, text in zip("abcd", texts + others, strict=True)]
    why = "the same words but for Friday and Monday"
    assert propose(notes).ops == (Flag(("user-a.md", "user-b.md"), why),)


def test_a_planted_store_is_planned_as_a_person_would(make: Make) -> None:
    texts = {
        "tabs": "Wants tabs for indentation",
        "spaces": "Wants spaces for indentation",
        "node-old": "Runs the build with Node 18",
        "node-new": "Runs the build with Node 20",
        "tea": "Drinks green tea at work",
        "tea-too": "Drinks green tea at work!",
        "friday": "Deploys on Friday",
        "standup": "Standup on Monday",
        "staging": "The staging database listens on port 5432",
        "production": "The production database listens on port 5433",
        "tab-zh": "喜欢用制表符缩进代码",
        "space-zh": "喜欢用空格缩进代码",
    }
    notes = [fact(make, name, text) for name, text in texts.items()]
    assert {frozenset(named(op)) for op in propose(notes).ops} == {
        frozenset({"user-tea.md", "user-tea-too.md"}),
        frozenset({"user-node-old.md", "user-node-new.md"}),
    }


def test_files_are_named_once_though_a_note_contradicts_many(make: Make) -> None:
    notes = [fact(make, f"n{at}", f"Runs the build with Node {at}") for at in (16, 18, 20)]
    (flag,) = propose(notes).ops
    assert named(flag) == ("user-n16.md", "user-n18.md", "user-n20.md")


def test_the_plan_does_not_depend_on_the_order_of_files(make: Make) -> None:
    notes = [fact(make, f"n{at}", f"Runs job {'xyz'[at % 3]} on Node {at}") for at in range(12)]
    shuffled = random.Random(4).sample(notes, len(notes))
    assert propose(notes).ops == propose(shuffled).ops


def test_a_known_pair_is_not_flagged_again_until_a_note_changes(make: Make) -> None:
    notes = [fact(make, day, f"Always deploys on {day.title()}") for day in ("friday", "monday")]
    (flag,) = propose(notes).ops
    assert isinstance(flag, Flag)
    found = pairs(flag, {note.file: note for note in notes})
    ledger = conflicts.add("", found, "2026-06-01")
    cleared = conflicts.clear_entry(ledger, conflicts.parse(ledger)[0].id)
    assert propose(notes, ledger).ops == propose(notes, cleared).ops == ()
    changed = fact(make, "monday", "Always deploys on Sunday")
    assert len(propose([notes[0], changed], cleared).ops) == 1


def test_notes_of_an_open_conflict_are_not_merged(make: Make) -> None:
    notes = [fact(make, name, "Uses pnpm") for name in ("a", "b", "c")]
    ledger = conflicts.add("", [(notes[0], notes[2], "why")], "2026-06-01")
    assert propose(notes, ledger).ops == ()


def test_merges_keep_within_the_removal_budget(make: Make) -> None:
    plan = propose([fact(make, f"n{at}", f"Fact {'abcdefghij'[at // 2] * 3}") for at in range(20)])
    assert sum(len(op.sources) - 1 for op in plan.ops if isinstance(op, Merge)) == 5


def test_notes_that_may_hold_secrets_are_left_alone(make: Make) -> None:
    notes = [fact(make, name, "The key is known", secrets="allowed") for name in ("a", "b")]
    assert propose(notes).ops == ()


def test_an_odd_store_gives_an_empty_plan(from_text: Callable[[str, str], StoredNote]) -> None:
    assert propose([]).ops == ()
    texts = ["", "", "\n", "---\nname: x\n---\n", "---\nname: x\n---\n"]
    assert propose([from_text(f"n{at}.md", text) for at, text in enumerate(texts)]).ops == ()


def test_a_large_store_is_planned_in_a_moment() -> None:
    notes = planted(1_000)
    start = time.process_time()
    ops = Offline().propose(notes, conflicts=[]).plan.ops
    assert time.process_time() - start < 10  # all pairs took minutes
    assert sum(isinstance(op, Flag) for op in ops) == 50


def test_a_plan_that_deletes_a_quarter_is_judged_in_a_moment() -> None:
    notes = planted(2_000)
    plan = Plan(tuple(Delete(note.file, "old") for note in notes[::4]))
    start = time.process_time()
    check(plan, notes, has_secret=lambda text: False)
    assert time.process_time() - start < 10


def test_a_pass_says_when_a_limit_left_work(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def more(notes: Sequence[StoredNote]) -> bool:
        return Offline().propose(notes, conflicts=[]).more

    same = [fact(make, f"n{at}", f"Fact {'abcde'[at // 4] * 3}") for at in range(20)]
    assert more(same), "removing stops at five"
    assert not more(same[:4])
    twins = [fact(make, f"t{at}", f"Job {'abc'[at // 2] * 3} runs on Node {at}") for at in range(6)]
    assert not more(twins)
    monkeypatch.setattr("mdmemory.compact.planner.MAX_PASS_LINES", 2)
    assert more(twins)


def test_importing_these_rooms_loads_nothing_heavy() -> None:
    heavy = ("rapidfuzz", "yaml", "frontmatter", "git", "openai", "numpy", "sqlite3")
    code = (
        "import sys, mdmemory.compact.planner, mdmemory.compact.guards, mdmemory.store.conflicts;"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
