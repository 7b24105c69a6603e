"""What git's objects are read and written as: trees as git's own, and packs that lose nothing."""

import os
import threading
import zlib
from collections.abc import Mapping
from pathlib import Path

import pytest
from pace import HUNG
from projects import commit_all, git, tip
from stores import BeginStore

from mdmemory import Memory
from mdmemory.errors import GitFailed
from mdmemory.git import objects as packing
from mdmemory.git import repositories
from mdmemory.git.objects import MANY, Blob, Object, Objects
from mdmemory.git.repositories import Repository

Patch = pytest.MonkeyPatch
WRITTEN = 12


def fill(memory: Memory) -> None:
    for number in range(WRITTEN):
        text = f"The depot {number} opens at {number} o'clock"
        memory.add(f"depot-{number}", type="project", description=text, body=text)


@pytest.fixture
def memory(begin_store: BeginStore) -> Memory:
    return begin_store(own_repo=True, fill=fill)


@pytest.fixture
def soon(monkeypatch: Patch) -> None:
    """Any object that lies by itself is one too many."""
    monkeypatch.setattr(packing, "count_loose", lambda repository: packing.LOOSE)


def repository_of(memory: Memory) -> Repository:
    return repositories.find(memory.project.store)


def objects(store: Path) -> set[str]:
    words = ("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")
    return set(git(store, *words).splitlines())


def by_themselves(store: Path) -> int:
    return int(git(store, "count-objects").split()[0])


@pytest.mark.usefixtures("soon")
def test_a_pass_packs_what_lies_by_itself_and_undo_is_exact_afterwards(memory: Memory) -> None:
    store = memory.project.store
    (note, *_) = sorted(store.glob("project-*.md"))
    before, bytes_ = objects(store), note.read_bytes()
    memory.edit(note.stem, body="It never opens.")
    memory.compact(offline=True)
    assert by_themselves(store) == 0
    assert before <= objects(store)
    memory.undo(tip(store))
    assert note.read_bytes() == bytes_
    assert git(store, "fsck", "--strict", "--no-dangling") == ""


@pytest.mark.usefixtures("soon")
def test_what_no_branch_names_any_more_is_kept(memory: Memory) -> None:
    store = memory.project.store
    before = objects(store)
    git(store, "reset", "-q", "--hard", "HEAD~3")
    git(store, "reflog", "expire", "--expire=now", "--all")
    assert packing.pack_if_due(repository_of(memory))
    assert objects(store) == before


@pytest.mark.usefixtures("soon")
def test_a_dry_run_and_a_project_with_git_are_left_alone(memory: Memory, tmp_path: Path) -> None:
    before = by_themselves(memory.project.store)
    memory.compact(offline=True, dry_run=True)
    assert by_themselves(memory.project.store) == before
    project = tmp_path / "of-a-team"
    project.mkdir()
    git(project, "init", "-q", "-b", "main")
    shared, _ = Memory.init(project, store="notes/memory")
    shared.add("depot", type="project", description="The depot is open", body="It is open.")
    before = by_themselves(project)
    shared.compact(offline=True)
    assert by_themselves(project) >= before > 0


def test_many_are_counted(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    repository = repositories.find(tmp_path)
    assert repository is not None
    assert packing.count_loose(repository) == 0
    for name in "\n".join(f"{number}.txt" for number in range(2 * packing.LOOSE)).split():
        (tmp_path / name).write_text(name)
    git(tmp_path, "add", ".")
    assert packing.LOOSE < packing.count_loose(repository) < 4 * packing.LOOSE


@pytest.mark.usefixtures("soon")
def test_who_writes_meanwhile_is_not_held_up_and_all_is_there(memory: Memory) -> None:
    repository, done = repository_of(memory), threading.Event()

    def pack() -> None:
        while not done.wait(0.05):
            packing.pack_if_due(repository)

    thread = threading.Thread(target=pack)
    thread.start()
    try:
        for number in range(WRITTEN):
            memory.edit(f"depot-{number}", body=f"It opens at {number + 1}.")
    finally:
        done.set()
        thread.join(HUNG)
    store = memory.project.store
    assert int(git(store, "rev-list", "--count", "HEAD")) >= 2 * WRITTEN
    assert git(store, "fsck", "--strict", "--no-dangling") == ""
    assert git(store, "status", "--porcelain") == ""


@pytest.mark.usefixtures("soon")
def test_an_erasure_waits_for_a_packing_that_goes_on(memory: Memory) -> None:
    erased = threading.Event()

    def erase() -> None:
        memory.erase("depot-3", lambda _: True)
        erased.set()

    with packing.hold_packing(repository_of(memory)):
        thread = threading.Thread(target=erase)
        thread.start()
        assert not erased.wait(2.0)
    assert erased.wait(HUNG)
    thread.join(HUNG)
    with packing.hold_packing(repository_of(memory)):
        assert not packing.pack_if_due(repository_of(memory)), "two do not pack at once"


# Trees made without an index, and objects many at once.

# names that git sorts otherwise than a plain sort does, and that need quoting elsewhere
FILES = ["a.md", "a-b.md", "a/x.md", "a0", "deep/er/n\nl.md", "caf\u00e9.md", "only/one.md"]


@pytest.fixture(params=["sha1", "sha256"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", f"--object-format={request.param}", "new")
    folder = tmp_path / "new"
    git(folder, "config", "user.name", "A Person")
    git(folder, "config", "user.email", "person@example.com")
    for file in FILES:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(file)
    os.symlink("a.md", folder / "link")
    commit_all(folder, "first")
    return folder


def objects_of(root: Path) -> Objects:
    return Objects(repositories.find(root))


def test_an_edited_tree_is_the_one_that_gits_index_makes(root: Path) -> None:
    objects, head = objects_of(root), tip(root)
    blob = Blob("100755", objects.hash(Object("blob", b"new\n")))
    changes: list[Mapping[str, Blob | None]] = [
        {"a.md": blob},
        {"a/y.md": blob, "a.b": blob, "deep/er/new/z.md": blob},
        {"only/one.md": None, "a0": None, "missing.md": None, "no/where.md": None},
        {"a.md/below.md": None, "a": None, "deep/er/n\nl.md": None, "deep/x": blob},
        dict.fromkeys([*FILES, "link"]),
    ]
    for entries in changes:
        git(root, "read-tree", "HEAD")
        for file, there in entries.items():
            if there:
                git(root, "update-index", "--add", "--cacheinfo", f"{there.mode},{there.id},{file}")
            elif file in FILES or file == "link":
                git(root, "update-index", "--force-remove", file)
        theirs = git(root, "write-tree", "--missing-ok").strip()
        tree, new = objects.edit_root(head, entries)
        objects.write([*new, Object("blob", b"new\n")])
        assert tree == theirs
        assert git(root, "cat-file", "-t", tree).strip() == "tree"
    assert git(root, "cat-file", "blob", blob.id) == "new\n"


def test_a_file_under_a_folders_name_is_refused_and_so_is_the_reverse(root: Path) -> None:
    objects, head = objects_of(root), tip(root)
    blob = Blob("100644", objects.hash(Object("blob", b"")))
    with pytest.raises(GitFailed, match="a is a folder"):
        objects.edit_root(head, {"a": blob})
    with pytest.raises(GitFailed, match=r"a\.md is a file"):
        objects.edit_root(head, {"a.md/below.md": blob})


def test_objects_are_read_as_they_were_written_many_at_once(root: Path) -> None:
    objects = objects_of(root)
    things = [Object("blob", b"x" * size) for size in (0, 1, 15, 16, 2047, 2048, 70_000, 300_000)]
    things += [Object("blob", f"{number}".encode()) for number in range(120)]
    objects.write(things)
    names = [objects.hash(thing) for thing in things]
    assert objects.read([*names, "0" * 39]) == [*things, None]


@pytest.mark.parametrize("count", [MANY - 2, MANY - 1])
def test_many_objects_go_into_one_file_and_are_read_all_the_same(root: Path, count: int) -> None:
    packs = root / ".git/objects/pack"
    things = [Object("blob", b"%d\n" % number) for number in range(count)]
    things += [things[0], Object("blob", (root / "a.md").read_bytes())]  # twice, and there already
    objects = objects_of(root)
    objects.write(things)
    objects.write(things)
    assert objects_of(root).read([objects.hash(each) for each in things]) == things
    assert len([*packs.glob("*.pack")]) == (count + 1 >= MANY)
    git(root, "fsck", "--strict")


def test_a_damaged_object_is_a_failure(root: Path) -> None:
    objects = objects_of(root)
    id = tip(root, "HEAD:a.md")
    path = root / ".git" / "objects" / id[:2] / id[2:]
    path.chmod(0o644)
    path.write_bytes(zlib.compress(b"blob 4\0A.md"))
    with pytest.raises(GitFailed, match=r"damaged|failed"):
        objects.read([id])


def test_the_reading_process_lives_as_long_as_the_block(root: Path) -> None:
    objects = objects_of(root)
    with objects.open():
        objects.read(["HEAD"])
        first = objects._reader
        with objects.open():
            objects.read(["HEAD"])
        assert objects._reader is first is not None
    assert objects._reader is None
    assert first._process.returncode is not None


def test_head_is_read_from_its_files_as_git_would(root: Path) -> None:
    repository = repositories.find(root)
    assert repository
    for name in ("main", "feature/one.two", "caf\u00e9"):
        git(root, "switch", "-q", "-C", name)
        git(root, "commit", "-q", "--allow-empty", "-m", name)
        for pack in (False, True):
            if pack:
                git(root, "pack-refs", "--all")
            branch = repositories.read_branch(repository)
            assert branch == f"refs/heads/{name}"
            assert repositories.read_tip(repository, branch) == tip(root)
    git(root, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    main = tip(root, "main")
    assert repositories.read_tip(repository, "refs/heads/alias") == main
    assert repositories.read_tip(repository, "refs/heads/unborn") is None
    git(root, "switch", "-q", "--detach")
    assert repositories.read_branch(repository) is None
