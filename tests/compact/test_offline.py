"""The planner without a model merges exact duplicates and flags contradictions, and no more."""

import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

import pytest

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


def test_exact_duplicates_are_merged_into_the_better_note(make: Make) -> None:
    notes = [
        fact(make, "a", "Uses pnpm everywhere", source="extraction", created="2025-01-01"),
        fact(make, "b", "uses  PNPM everywhere", source="explicit", created="2026-02-01"),
        fact(make, "c", "Uses pnpm everywhere", source="explicit", created="2026-01-01"),
        fact(make, "d", "Uses cargo everywhere"),
    ]
    (op,) = propose(notes).ops
    assert isinstance(op, Merge)
    assert op.target == "user-c.md"
    assert op.sources == ("user-c.md", "user-a.md", "user-b.md")
    assert propose(list(reversed(notes))).ops[0].target == op.target  # type: ignore[union-attr]


def test_the_plain_name_outlives_the_numbered_one(make: Make) -> None:
    (op,) = propose([fact(make, "tea-2", "Drinks tea"), fact(make, "tea", "Drinks tea")]).ops
    assert isinstance(op, Merge)
    assert op.target == "user-tea.md"


def test_what_differs_in_form_alone_is_merged(make: Make) -> None:
    one = "Keep **the** changelog short"
    (op,) = propose([fact(make, "a", one), fact(make, "b", "keep the changelog short.")]).ops
    assert isinstance(op, Merge)
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
    other = make("b", "Rules for Go", "Lint with vet. Use tabs.")
    (op,) = propose([one, other]).ops
    assert isinstance(op, Merge)
    turned = make("b", "Rules for Go", "Lint tabs. Use vet with.")
    assert propose([one, turned]).ops == ()


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
        also = StoredNote("user-b.md", mine.digest, mine.note)
        (op,) = propose([mine, plain]).ops
        assert isinstance(op, Merge)
        assert op.sources == ("user-a.md", "user-z.md")
        assert propose([mine, also]).ops == ()


def test_duplicates_of_another_type_or_kind_stay_apart(make: Make) -> None:
    notes = [
        fact(make, "a", "Uses pnpm"),
        fact(make, "b", "Uses pnpm", type="feedback"),
        fact(make, "c", "Uses pnpm", type="project"),
        fact(make, "d", "Uses pnpm", type="project", kind="decision"),
    ]
    assert propose(notes).ops == ()


def test_contradictions_are_flagged_with_the_values(make: Make) -> None:
    notes = [
        fact(make, "a", "The team deploys on Friday"),
        fact(make, "b", "The team deploys on Monday"),
        fact(make, "c", "The standup is on Monday"),
        fact(make, "d", "Likes green tea"),
    ]
    why = "the same words but for Friday and Monday"
    assert propose(notes).ops == (Flag(("user-a.md", "user-b.md"), why),)


def test_a_planted_store_is_planned_as_a_person_would(make: Make) -> None:
    notes = [
        fact(make, "tabs", "Wants tabs for indentation"),
        fact(make, "spaces", "Wants spaces for indentation"),
        fact(make, "node-old", "Runs the build with Node 18"),
        fact(make, "node-new", "Runs the build with Node 20"),
        fact(make, "tea", "Drinks green tea at work"),
        fact(make, "tea-too", "Drinks green tea at work!"),
        fact(make, "friday", "Deploys on Friday"),
        fact(make, "standup", "Standup on Monday"),
        fact(make, "staging", "The staging database listens on port 5432"),
        fact(make, "production", "The production database listens on port 5433"),
        fact(make, "tab-zh", "喜欢用制表符缩进代码"),
        fact(make, "space-zh", "喜欢用空格缩进代码"),
    ]
    assert {frozenset(named(op)) for op in propose(notes).ops} == {
        frozenset({"user-tea.md", "user-tea-too.md"}),
        frozenset({"user-node-old.md", "user-node-new.md"}),
    }


def test_files_are_named_once_though_a_note_contradicts_many(make: Make) -> None:
    texts = [f"Runs the build with Node {version}" for version in (16, 18, 20)]
    (flag,) = propose([fact(make, f"n{at}", text) for at, text in enumerate(texts)]).ops
    assert named(flag) == ("user-n0.md", "user-n1.md", "user-n2.md")


def test_a_known_pair_is_not_flagged_again_until_a_note_changes(make: Make) -> None:
    notes = [
        fact(make, "a", "Always deploys on Friday"),
        fact(make, "b", "Always deploys on Monday"),
    ]
    (flag,) = propose(notes).ops
    assert isinstance(flag, Flag)
    found = pairs(flag, {note.file: note for note in notes})
    ledger = conflicts.add("", found, "2026-06-01")
    cleared = conflicts.clear_entry(ledger, conflicts.parse(ledger)[0].id)
    assert propose(notes, ledger).ops == propose(notes, cleared).ops == ()
    assert len(propose([notes[0], fact(make, "b", "Always deploys on Sunday")], cleared).ops) == 1


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


def test_the_plan_does_not_depend_on_the_order_of_files(make: Make) -> None:
    notes = [fact(make, f"n{at}", f"Runs job {'xyz'[at % 3]} on Node {at}") for at in range(12)]
    shuffled = list(notes)
    random.Random(4).shuffle(shuffled)
    assert propose(notes).ops == propose(shuffled).ops


def planted(make: Make, total: int) -> list[StoredNote]:
    """Notes of twelve random words, a tenth of them a duplicate or a twin with another number."""
    chance = random.Random(7)
    words = [
        "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 9)))
        for _ in range(6_000)
    ]
    notes = []
    for at in range(total):
        text = f"{' '.join(chance.choices(words, k=11))} takes {chance.randint(1, 99)} minutes"
        if at % 10 == 9:
            text = notes[-1].note.head.description
        if at % 20 == 19:
            text = text.replace("takes ", "takes 1")
        notes.append(make(f"n{at:05}", text, f"{text}. {' '.join(chance.choices(words, k=25))}"))
    return notes


def test_a_large_store_is_planned_in_a_moment(make: Make) -> None:
    notes = planted(make, 1_000)
    start = time.process_time()
    ops = Offline().propose(notes, conflicts=[]).plan.ops
    assert time.process_time() - start < 10  # all pairs took minutes
    assert sum(isinstance(op, Flag) for op in ops) == 50


def test_a_plan_that_deletes_a_quarter_is_judged_in_a_moment(make: Make) -> None:
    notes = planted(make, 2_000)
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
