"""A store under the person's own git: revert, merge, rebase, pull, between two clones.

The matrix: 9 kinds of our commits reverted; 7 x 7 changes on different notes, merged and rebased
(98 cases), 7 more in 3 ways with MEMORY.md ignored and 7 with converted line ends: no conflict in
any, and the next command gives both clones the same fresh index. 3 real conflicts, in 2 ways: each
is one, on the note alone. Without `merge=union` some of the quick cases fail.
"""

import json
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pace import FULL, HUNG, sample, scaled

from mdmemory import Memory
from mdmemory.compact.guards import check
from mdmemory.compact.plan import Merge, Plan
from mdmemory.compact.result import changes
from mdmemory.errors import BadNote
from mdmemory.files import digest
from mdmemory.note.note import Note, parse
from mdmemory.store.note_links import own_keys, unite_notes
from mdmemory.store.store import StoredNote

Git = Callable[..., str]
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
    path = memory.project.store / f"user-{side}-maybe.md"
    path.write_text(
        f"---\nname: {side}-maybe\ndescription: Perhaps {side}\nmetadata:\n  type: user\n"
        "  status: unconfirmed\n---\n\nPerhaps.\n",
        encoding="utf-8",
    )


def compact(memory: Memory, *ops: dict[str, object]) -> None:
    outcome = memory.compact(plan=json.dumps({"ops": ops}))
    assert outcome.outcome == "applied", outcome


def merge(memory: Memory, side: str) -> None:
    names = [f"user-{side}-drinks.md", f"user-{side}-drinks-too.md"]
    compact(memory, {
        "op": "merge", "sources": names, "target": names[0], "name": f"{side}-drinks",
        "type": "user", "description": f"Drinks tea at {side}.", "body": f"Drinks tea at {side}.",
    })  # fmt: skip


def flag(memory: Memory, side: str) -> None:
    files = [f"user-{side}-drinks.md", f"user-{side}-reads.md"]
    compact(memory, {"op": "flag", "files": files, "reason": "not both"})


def delete(memory: Memory, side: str) -> None:
    compact(memory, {"op": "delete", "file": f"user-{side}-reads.md", "reason": "outdated"})


def extract(memory: Memory, side: str) -> None:
    part = {"id": "prt_1", "type": "text", "text": f"Remember that the {side} garden has a pond."}
    about = {"id": "msg_1", "role": "user", "time": {"created": 1780300000000}}
    session = {"info": {"id": f"ses_{side}"}, "messages": [{"info": about, "parts": [part]}]}
    assert memory.extract(json.dumps(session).encode()).added


def undo(memory: Memory, side: str) -> None:
    memory.edit(f"{side}-reads", body="Reads nothing.")
    memory.undo()


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
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[bool, Path]]:
    """Two remotes to be copied: with MEMORY.md tracked, and ignored."""
    made = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
        for tracked in (True, False):
            folder = tmp_path_factory.mktemp("remote")
            run(folder, "init", "-q", "-b", "main", "first")
            first = identify(folder / "first")
            if not tracked:
                (first / "mdmemory.toml").write_text(
                    'store = "notes/memory"\n[index]\ntracked = false\n', encoding="utf-8"
                )
                run(first, "add", "-A")
                run(first, "commit", "-qm", "settings")
            Memory.init(first)
            for side in ("home", "work"):
                seed(opened(first), side)
            run(first, "add", "-A")
            run(first, "commit", "-q", "-m", "by hand")
            opened(first).index()
            run(first, "commit", "-q", "--allow-empty", "-am", "index")
            run(folder, "clone", "-q", "--bare", "first", "remote")
            made[tracked] = folder / "remote"
        yield made


def run(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=HUNG,
    )
    assert done.returncode == 0, f"git {' '.join(words)}: {done.stderr}{done.stdout}"
    return done.stdout


def identify(folder: Path) -> Path:
    run(folder, "config", "user.name", "A Person")
    run(folder, "config", "user.email", "person@example.com")
    return folder


def clone_twice(remote: Path, folder: Path, *options: str) -> tuple[Memory, Memory]:
    run(folder, "clone", "-q", "--bare", str(remote), "remote")
    for name in ("home", "work"):
        run(folder, "clone", "-q", *options, "remote", name)
        identify(folder / name)
    return opened(folder / "home"), opened(folder / "work")


JOIN = {
    "merge": [("fetch", "-q"), ("merge", "-q", "--no-edit", "@{upstream}")],
    "rebase": [("fetch", "-q"), ("rebase", "-q", "@{upstream}")],
    "pull": [("pull", "-q", "--no-rebase", "--no-edit")],
}


def join(home: Memory, work: Memory, way: str) -> None:
    """Home pushes, work takes it in and pushes, home pulls: by plain git alone."""
    run(home.project.root, "push", "-q")
    for words in JOIN[way]:
        run(work.project.root, *words)
    run(work.project.root, "push", "-q")
    run(home.project.root, "pull", "-q", "--ff-only")


def check_same(home: Memory, work: Memory) -> None:
    assert texts(home) == texts(work)
    assert index_of(home) == index_of(work)


@pytest.mark.parametrize("kind", REVERTED)
def test_git_revert_takes_back_each_kind_of_commit_byte_for_byte(
    remote: dict[bool, Path], tmp_path: Path, kind: str
) -> None:
    memory, _ = clone_twice(remote[True], tmp_path)
    before, index = texts(memory), index_of(memory)
    REVERTED[kind](memory, "home")
    assert kind == "flag" or texts(memory) != before
    run(memory.project.root, "revert", "--no-edit", "HEAD")
    assert texts(memory) == before
    assert index_of(memory) == index


def test_git_revert_takes_back_an_undo(remote: dict[bool, Path], tmp_path: Path) -> None:
    memory, _ = clone_twice(remote[True], tmp_path)
    undo(memory, "home")
    run(memory.project.root, "revert", "--no-edit", "HEAD")
    assert "Reads nothing." in texts(memory)["user-home-reads.md"]
    index_of(memory)


@pytest.mark.slow
def test_git_revert_of_an_older_commit_leaves_what_came_later(
    remote: dict[bool, Path], tmp_path: Path
) -> None:
    memory, _ = clone_twice(remote[True], tmp_path)
    merge(memory, "home")
    for name in ("edit", "add", "flag"):
        CHANGES[name](memory, "work")
    later = texts(memory)
    run(memory.project.root, "revert", "--no-edit", "HEAD~3")
    now = texts(memory)
    assert "user-home-drinks-too.md" in now
    assert all(now[file] == text for file, text in later.items() if "work" in file)
    index_of(memory)


def joined(remote: Path, folder: Path, one: str, other: str, way: str) -> tuple[Memory, Memory]:
    home, work = clone_twice(remote, folder)
    CHANGES[one](home, "home")
    CHANGES[other](work, "work")
    join(home, work, way)
    check_same(home, work)
    return home, work


@pytest.mark.parametrize(("one", "other", "way"), [
    ("add", "add", "merge"), ("compact", "edit", "rebase"), ("flag", "flag", "pull"),
    ("remove", "add", "rebase"),
])  # fmt: skip
def test_changes_to_different_notes_never_conflict(
    remote: dict[bool, Path], tmp_path: Path, one: str, other: str, way: str
) -> None:
    home, _ = joined(remote[True], tmp_path, one, other, way)
    if one == other == "flag":
        assert home.index(check=True).index.memory.count("2 conflicts need a person") == 1


@pytest.mark.slow
@pytest.mark.parametrize(("one", "way"), sample([*product(CHANGES, ("merge", "rebase"))], 5))
def test_no_pair_of_changes_to_different_notes_conflicts(
    remote: dict[bool, Path], tmp_path: Path, one: str, way: str
) -> None:
    for other in CHANGES:
        (tmp_path / other).mkdir()
        joined(remote[True], tmp_path / other, one, other, way)


@pytest.mark.slow
@pytest.mark.parametrize("way", sample([*JOIN], 2))
def test_an_ignored_index_never_conflicts_either(
    remote: dict[bool, Path], tmp_path: Path, way: str
) -> None:
    for one in CHANGES:
        (tmp_path / one).mkdir()
        home, work = joined(remote[False], tmp_path / one, one, one, way)
        for memory in (home, work):
            assert "MEMORY.md" not in run(memory.project.root, "ls-files")
            assert run(memory.project.root, "status", "--porcelain") == ""


@pytest.mark.slow
def test_a_clone_that_converts_line_ends_takes_part(
    remote: dict[bool, Path], tmp_path: Path
) -> None:
    for one in CHANGES:
        (tmp_path / one).mkdir()
        home, work = clone_twice(remote[True], tmp_path / one, "-c", "core.autocrlf=true")
        CHANGES[one](home, "home")
        CHANGES[one](work, "work")
        join(home, work, "merge")
        check_same(home, work)
        for path in run(home.project.root, "ls-tree", "-r", "--name-only", "HEAD", INSIDE).split():
            assert "\r" not in run(home.project.root, "cat-file", "blob", f"HEAD:{path}")


@pytest.mark.slow
def test_many_rounds_of_syncs_stay_the_same_on_both_sides(
    remote: dict[bool, Path], tmp_path: Path
) -> None:
    home, work = clone_twice(remote[True], tmp_path)
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
        assert run(home.project.root, "status", "--porcelain") == ""


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
    remote: dict[bool, Path], tmp_path: Path, clash: Callable[[Memory, Memory], str], way: str
) -> None:
    home, work = clone_twice(remote[True], tmp_path)
    file = clash(home, work)
    run(home.project.root, "push", "-q")
    run(work.project.root, "fetch", "-q")
    with pytest.raises(AssertionError, match="CONFLICT"):
        run(work.project.root, *(["merge"] if way == "merge" else ["rebase"]), "@{upstream}")
    unmerged = run(work.project.root, "diff", "--name-only", "--diff-filter=U").split()
    assert unmerged == [INSIDE + file]
    work.listing()  # reading still works, and says what there is
    run(work.project.root, "checkout", "-q", "--theirs" if way == "rebase" or clash is not
        edit_against_delete else "--ours", "--", INSIDE + file)  # fmt: skip
    run(work.project.root, "add", "-A", INSIDE)
    run(work.project.root, "-c", "core.editor=true", way, "--continue")
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
