"""A store under the person's own git: revert, merge, rebase, pull, between two clones.

The matrix: 9 kinds of our commits reverted; 7 x 7 changes on different notes, merged and rebased
(98 cases), 7 more in 3 ways with MEMORY.md ignored and 7 with converted line ends: no conflict in
any, and the next command gives both clones the same fresh index. 3 real conflicts, in 2 ways: each
is one, on the note alone. Without `merge=union` some of the quick cases fail.
"""

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import identify
from pace import FULL, sample, scaled
from projects import commit_all, git

from mdmemory import Memory
from mdmemory.compact.guards import check
from mdmemory.compact.plan import Merge, Plan
from mdmemory.compact.result import changes
from mdmemory.errors import BadNote
from mdmemory.files import digest
from mdmemory.note.note import Note, parse
from mdmemory.store.note_links import own_keys, unite_notes
from mdmemory.store.store import StoredNote

Clone = Callable[..., tuple[Memory, Memory]]
Change = Callable[[Memory, str], object]
INSIDE = "notes/memory/"


def opened(folder: Path) -> Memory:
    return Memory(Memory.open(folder).project, clock=lambda: datetime(2026, 6, 1, 12, tzinfo=UTC))


def write(memory: Memory, name: str, text: str) -> str:
    return memory.add(name, type="user", description=text, body=text).file


def seed(memory: Memory, side: str) -> None:
    """Four notes whose names begin with the side's, for each side to work on."""
    write(memory, f"{side}-drinks", f"Drinks tea at {side}.")
    write(memory, f"{side}-drinks-too", f"Drinks much tea at {side}.")
    write(memory, f"{side}-reads", f"Reads in bed at {side}.")
    head = f"name: {side}-maybe\ndescription: Perhaps {side}\n"
    text = f"---\n{head}metadata:\n  type: user\n  status: unconfirmed\n---\n\nPerhaps.\n"
    (memory.project.store / f"user-{side}-maybe.md").write_text(text, encoding="utf-8")


def compact(memory: Memory, **op: object) -> None:
    outcome = memory.compact(plan=json.dumps({"ops": [op]}))
    assert outcome.outcome == "applied", outcome


def merge(memory: Memory, side: str) -> None:
    names = [f"user-{side}-drinks.md", f"user-{side}-drinks-too.md"]
    tea = dict.fromkeys(("description", "body"), f"Drinks tea at {side}.")
    result = {"target": names[0], "name": f"{side}-drinks", "type": "user", **tea}
    compact(memory, op="merge", sources=names, **result)


def flag(memory: Memory, side: str) -> None:
    files = [f"user-{side}-drinks.md", f"user-{side}-reads.md"]
    compact(memory, op="flag", files=files, reason="not both")


def delete(memory: Memory, side: str) -> None:
    compact(memory, op="delete", file=f"user-{side}-reads.md", reason="outdated")


def extract(memory: Memory, side: str) -> None:
    part = {"id": "prt_1", "type": "text", "text": f"Remember that the {side} garden has a pond."}
    about = {"id": "msg_1", "role": "user", "time": {"created": 1780300000000}}
    session = {"info": {"id": f"ses_{side}"}, "messages": [{"info": about, "parts": [part]}]}
    assert memory.extract(json.dumps(session).encode()).added


CHANGES: dict[str, Change] = {
    "add": lambda memory, side: write(memory, f"{side}-new", f"Has new plans at {side}."),
    "edit": lambda memory, side: memory.edit(f"{side}-reads", body="Reads in the train."),
    "describe": lambda memory, side: memory.edit(f"{side}-reads", description=f"Trains, {side}."),
    "remove": lambda memory, side: memory.remove(f"{side}-reads"),
    "compact": merge,
    "flag": flag,
    "extract": extract,
}
REVERTED: dict[str, Change] = {
    **{name: CHANGES[name] for name in ("add", "edit", "remove", "compact", "flag", "extract")},
    "delete": delete,
    "confirm": lambda memory, side: memory.confirm(f"{side}-maybe"),
}


def texts(memory: Memory) -> dict[str, str]:
    return {note.file: note.note.text for note in memory.notes()}


def index_of(memory: Memory) -> bytes:
    """MEMORY.md after the next command."""
    memory.listing()
    assert memory.index(check=True).changed == ()
    data = (memory.project.store / "MEMORY.md").read_bytes()
    (memory.project.store / "MEMORY.md").unlink()
    memory.index()
    assert (memory.project.store / "MEMORY.md").read_bytes() == data  # it is a function of files
    return data


@pytest.fixture(scope="module")
def clones(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    """A remote and two clones of it, to be copied: with MEMORY.md tracked, and ignored."""
    made = {}
    for tracked in (True, False):
        folder = made[tracked] = tmp_path_factory.mktemp("clones")
        git(folder, "init", "-q", "-b", "main", "first")
        identify(git, first := folder / "first", "first")
        if not tracked:
            text = 'store = "notes/memory"\n[index]\ntracked = false\n'
            (first / "mdmemory.toml").write_text(text, encoding="utf-8")
            commit_all(first)
        Memory.init(first)
        for side in ("home", "work"):
            seed(opened(first), side)
        commit_all(first, "by hand")
        opened(first).index()
        commit_all(first, "index")
        git(folder, "clone", "-q", "--bare", "first", "remote")
        for name in ("home", "work"):
            git(folder, "clone", "-q", "remote", name)
            identify(git, folder / name, name)
    return made


@pytest.fixture
def clone(clones: dict[bool, Path], tmp_path: Path) -> Clone:
    """`clone()` gives two clones of a remote of their own, home and work."""

    def copy(name: str = "clones", tracked: bool = True) -> tuple[Memory, Memory]:
        folder = tmp_path / name
        shutil.copytree(clones[tracked], folder, symlinks=True)
        for side in ("home", "work"):
            git(folder / side, "remote", "set-url", "origin", str(folder / "remote"))
        return opened(folder / "home"), opened(folder / "work")

    return copy


JOIN = {
    "merge": [("fetch", "-q"), ("merge", "-q", "--no-edit", "@{upstream}")],
    "rebase": [("fetch", "-q"), ("rebase", "-q", "@{upstream}")],
    "pull": [("pull", "-q", "--no-rebase", "--no-edit")],
}


def join(home: Memory, work: Memory, way: str) -> None:
    """Home pushes, work takes it in and pushes, home pulls: by plain git alone."""
    git(home.project.root, "push", "-q")
    for words in JOIN[way]:
        git(work.project.root, *words)
    git(work.project.root, "push", "-q")
    git(home.project.root, "pull", "-q", "--ff-only")


def check_same(home: Memory, work: Memory) -> None:
    assert texts(home) == texts(work)
    assert index_of(home) == index_of(work)


@pytest.mark.parametrize("kind", REVERTED)
def test_git_revert_takes_back_each_kind_of_commit_byte_for_byte(clone: Clone, kind: str) -> None:
    memory, _ = clone()
    before, index = texts(memory), index_of(memory)
    REVERTED[kind](memory, "home")
    assert kind == "flag" or texts(memory) != before
    git(memory.project.root, "revert", "--no-edit", "HEAD")
    assert texts(memory) == before
    assert index_of(memory) == index


def test_git_revert_takes_back_an_undo(clone: Clone) -> None:
    memory, _ = clone()
    memory.edit("home-reads", body="Reads nothing.")
    memory.undo()
    git(memory.project.root, "revert", "--no-edit", "HEAD")
    assert "Reads nothing." in texts(memory)["user-home-reads.md"]
    index_of(memory)


@pytest.mark.slow
def test_git_revert_of_an_older_commit_leaves_what_came_later(clone: Clone) -> None:
    memory, _ = clone()
    merge(memory, "home")
    for name in ("edit", "add", "flag"):
        CHANGES[name](memory, "work")
    later = texts(memory)
    git(memory.project.root, "revert", "--no-edit", "HEAD~3")
    now = texts(memory)
    assert "user-home-drinks-too.md" in now
    assert all(now[file] == text for file, text in later.items() if "work" in file)
    index_of(memory)


def joined(home: Memory, work: Memory, one: str, other: str, way: str) -> None:
    CHANGES[one](home, "home")
    CHANGES[other](work, "work")
    join(home, work, way)
    check_same(home, work)


@pytest.mark.parametrize(("one", "other", "way"), [
    ("add", "add", "merge"), ("compact", "edit", "rebase"), ("flag", "flag", "pull"),
    ("remove", "add", "rebase"),
])  # fmt: skip
def test_changes_to_other_notes_never_conflict(
    clone: Clone, one: str, other: str, way: str
) -> None:
    home, work = clone()
    joined(home, work, one, other, way)
    if one == other == "flag":
        assert home.index(check=True).index.memory.count("2 conflicts need a person") == 1


@pytest.mark.slow
@pytest.mark.parametrize(("one", "way"), sample([*product(CHANGES, ("merge", "rebase"))], 5))
def test_no_pair_of_changes_to_different_notes_conflicts(clone: Clone, one: str, way: str) -> None:
    for other in CHANGES:
        joined(*clone(other), one, other, way)


@pytest.mark.slow
@pytest.mark.parametrize("way", sample([*JOIN], 2))
def test_an_ignored_index_never_conflicts_either(clone: Clone, way: str) -> None:
    for one in CHANGES:
        home, work = clone(one, tracked=False)
        joined(home, work, one, one, way)
        for memory in (home, work):
            assert "MEMORY.md" not in git(memory.project.root, "ls-files")
            assert git(memory.project.root, "status", "--porcelain") == ""


@pytest.mark.slow
def test_a_clone_that_converts_line_ends_takes_part(clone: Clone) -> None:
    for one in CHANGES:
        home, work = clone(one)
        for memory in (home, work):  # as `git clone -c core.autocrlf=true` checks them out
            root = memory.project.root
            git(root, "config", "core.autocrlf", "true")
            shutil.rmtree(root / "notes")
            (root / "mdmemory.toml").unlink()
            git(root, "checkout", "-q", "--", ".")
            assert b"\r\n" in (root / "mdmemory.toml").read_bytes()
        joined(home, work, one, one, "merge")
        for path in git(home.project.root, "ls-tree", "-r", "--name-only", "HEAD", INSIDE).split():
            assert "\r" not in git(home.project.root, "cat-file", "blob", f"HEAD:{path}")


@pytest.mark.slow
def test_many_rounds_of_syncs_stay_the_same_on_both_sides(clone: Clone) -> None:
    home, work = clone()
    for at in range(8 if FULL else 4):
        write(home, f"home-{at}", f"Home has plan {at}.")
        write(work, f"work-{at}", f"Work has plan {at}.")
        if at % 3 == 1:
            home.edit(f"work-{at - 1}", body="Home knows better.")
        if at % 4 == 2:
            work.remove(f"home-{at - 1}")
        done = [home.sync(rebase=at % 2 == 1), work.sync(rebase=at % 3 == 1), home.sync()]
        assert [step.conflicts for step in done] == [[], [], []]
        check_same(home, work)
        assert git(home.project.root, "status", "--porcelain") == ""


def edit_both(home: Memory, work: Memory) -> str:
    home.edit("home-reads", body="Reads at noon.")
    work.edit("home-reads", body="Reads at night.")
    return "user-home-reads.md"


def edit_against_delete(home: Memory, work: Memory) -> str:
    home.remove("home-reads")
    work.edit("home-reads", body="Reads at night.")
    return "user-home-reads.md"


def same_new_name(home: Memory, work: Memory) -> str:
    write(home, "pond", "Has a pond with frogs.")
    return write(work, "pond", "Has a pond without frogs.")


@pytest.mark.parametrize("way", ["merge", pytest.param("rebase", marks=pytest.mark.slow)])
@pytest.mark.parametrize("clash", [edit_both, edit_against_delete, same_new_name])
def test_a_real_conflict_is_on_the_note_alone_and_both_texts_are_there(
    clone: Clone, clash: Callable[[Memory, Memory], str], way: str
) -> None:
    home, work = clone()
    file = clash(home, work)
    git(home.project.root, "push", "-q")
    git(work.project.root, "fetch", "-q")
    with pytest.raises(AssertionError, match="CONFLICT"):
        git(work.project.root, *(["merge"] if way == "merge" else ["rebase"]), "@{upstream}")
    unmerged = git(work.project.root, "diff", "--name-only", "--diff-filter=U").split()
    assert unmerged == [INSIDE + file]
    work.listing()  # reading still works, and says what there is
    git(work.project.root, "checkout", "-q", "--theirs" if way == "rebase" or clash is not
        edit_against_delete else "--ours", "--", INSIDE + file)  # fmt: skip
    git(work.project.root, "add", "-A", INSIDE)
    git(work.project.root, "-c", "core.editor=true", way, "--continue")
    assert work.git_state() == "ready"
    index_of(work)


# What a person put into the heads of notes is still there when they become one note.


def note(head: str, name: str = "a", metadata: str = "") -> Note:
    text = f"---\nname: {name}\n{head}metadata:\n  type: user\n{metadata}---\n\nTea.\n"
    return parse(text, f"user-{name}.md")


def head_of(text: str) -> str:
    return text.partition("---\n")[2].partition("---\n")[0]


@pytest.mark.parametrize(
    ("mine", "theirs", "after"),
    [
        ("", "x-owner: ann # since May\n", "x-owner: ann # since May\n"),
        ("x-owner: ann\n", "x-owner: ann\n", "x-owner: ann\n"),
        ("owner: ann\n", "owner: bob\n", "owner: ann\nx-owner: bob\n"),
        ("x-owner: ann\n", "x-owner: bob\n", "x-owner: ann\nx-owner-2: bob\n"),
        ("owner: ann\nx-owner: bob\n", "owner: bob\n", "owner: ann\nx-owner: bob\n"),
        ("tags: [a, b]\n", "tags: [b, c d]\n", 'tags: [a, b, "c d"]\n'),
        ("tags: [a] # mine\n", "tags:\n- b\n", "tags: [a, b] # mine\n"),
        ("tags:\n  # mine\n  - a\n", "tags: [b]\n", "tags:\n  # mine\n  - a\n  - b\n"),
        ("aliases: tea\n", "aliases: [chai]\n", "aliases: [tea, chai]\n"),
        ("aliases: tea\n", "aliases: chai\n", "aliases: [tea, chai]\n"),
        ("aliases:\n", "aliases:\n  - chai\n", "aliases:\n  - chai\n"),
        ("title: Tea\n", "title: Chai\n", "title: Tea\nx-title: Chai\n"),
        ("", "deep:\n  one: 1\n  two: [2]\n", "deep:\n  one: 1\n  two: [2]\n"),
        ("", "long: |\n  one\n\n  two\n", "long: |\n  one\n\n  two\n"),
    ],
)
def test_own_keys_are_united(mine: str, theirs: str, after: str) -> None:
    found = unite_notes(note(mine), [note(theirs, "b")])
    assert head_of(found.text) == f"name: a\n{after}metadata:\n  type: user\n"


def test_keys_of_the_metadata_stay_in_the_metadata() -> None:
    found = unite_notes(
        note("", metadata="  owner: ann\n"), [note("", "b", "  owner: bob\n  n: [1]\n")]
    )
    assert "  owner: ann\n  x-owner: bob\n  n: [1]\n---" in found.text


def test_comments_order_and_line_ends_of_the_note_that_stays_survive() -> None:
    base = note("# the first\nzebra: 1 # striped\ntags: [a]\napple: 2\n# the last\n")
    base = parse(base.text.replace("\n", "\r\n"), base.head.file)
    found = unite_notes(base, [note("tags: [b]\nx-new: 3\n", "b")])
    wanted = base.text.replace("[a]", "[a, b]").replace("apple: 2\r\n", "apple: 2\r\nx-new: 3\r\n")
    assert found.text == wanted


def test_a_note_without_a_head_gets_one() -> None:
    found = unite_notes(parse("Tea.\n", "user-a.md"), [note("tags: [b]\n", "b", "  owner: ann\n")])
    assert own_keys(found) == {"tags": ["b"], "metadata.owner": "ann"}
    assert found.body == "Tea."


def test_a_head_without_metadata_gets_it_for_a_key_of_it_alone() -> None:
    bare = parse("---\nname: a\n---\n\nTea.\n", "user-a.md")
    found = unite_notes(bare, [note("tags: [b]\n", "b")])
    assert head_of(found.text) == "name: a\ntags: [b]\n"
    found = unite_notes(bare, [note("", "b", "  owner: ann\n")])
    assert head_of(found.text) == "name: a\nmetadata:\n  owner: ann\n"


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ("deep:\n  one: 1\n", "deep:\n  one: 2\n"),
        ("deep:\n  one: 1\n", "deep: 2\n"),
        ("tags: [[a]]\n", "tags: [b]\n"),
        ("wie alt: 1\n", "wie alt: 2\n"),
        ("", "bad: [1\n"),
    ],
)
def test_what_cannot_be_kept_side_by_side_refuses_the_merge(mine: str, theirs: str) -> None:
    one, two = note(mine), note(theirs, "b")
    with pytest.raises(BadNote):
        unite_notes(one, [two])
    stored = [StoredNote(each.head.file, digest(each.text.encode()), each) for each in (one, two)]
    op = Merge((stored[0].file, stored[1].file), stored[0].file, "a", "user", "Tea.", "Tea.")
    verdict = check(Plan((op,)), stored, has_secret=lambda text: False)
    assert [code for _, code, _ in verdict.refused] == ["body"]
    assert "cannot" in verdict.refused[0][2]


def test_nothing_to_unite_leaves_every_byte() -> None:
    base = note("tags: [a, b]\n")
    assert unite_notes(base, [note("tags:\n- b\n", "b"), note("", "c")]) is base


values = st.one_of(
    st.text("ab#: -'\"é", max_size=5), st.lists(st.text("ab ,#:é", max_size=4), max_size=3)
)
heads = st.dictionaries(
    st.sampled_from(["aliases", "tags", "x-owner", "owner", "url"]), values, max_size=5
)


def written(keys: dict[str, object]) -> str:
    import yaml

    return yaml.safe_dump(keys, allow_unicode=True) if keys else ""


def items(keys: dict[str, object]) -> list[object]:
    lists = [value if isinstance(value, list) else [value] for value in keys.values()]
    return [item for each in lists for item in each]


@given(heads, st.lists(heads, min_size=1, max_size=3))
@settings(max_examples=scaled(100), deadline=None)
def test_no_own_key_is_ever_lost(mine: dict[str, object], others: list[dict[str, object]]) -> None:
    named = zip([mine, *others], "abcd", strict=False)
    sources = [note(written(keys), name) for keys, name in named]
    stored = {each.head.file: StoredNote(each.head.file, "0" * 64, each) for each in sources}
    op = Merge(tuple(stored), sources[0].head.file, "a", "user", "Tea.", "Tea.")
    first, *_ = changes(op, stored, "2026-01-01")
    kept = items(own_keys(parse(first.new.decode(), sources[0].head.file)))
    assert [item for each in sources for item in items(own_keys(each)) if item not in kept] == []
