"""Trees made without an index are git's own, and what is read is what its id says."""

import os
import zlib
from collections.abc import Mapping
from pathlib import Path

import pytest
from projects import commit_all, git, tip

from mdmemory.errors import GitFailed
from mdmemory.git import repositories as our_git
from mdmemory.git.objects import MANY, Blob, Object, Objects

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
    return Objects(our_git.find(root))


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
    repository = our_git.find(root)
    assert repository
    for name in ("main", "feature/one.two", "caf\u00e9"):
        git(root, "switch", "-q", "-C", name)
        git(root, "commit", "-q", "--allow-empty", "-m", name)
        for pack in (False, True):
            if pack:
                git(root, "pack-refs", "--all")
            branch = our_git.read_branch(repository)
            assert branch == f"refs/heads/{name}"
            assert our_git.read_tip(repository, branch) == tip(root)
    git(root, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    main = tip(root, "main")
    assert our_git.read_tip(repository, "refs/heads/alias") == main
    assert our_git.read_tip(repository, "refs/heads/unborn") is None
    git(root, "switch", "-q", "--detach")
    assert our_git.read_branch(repository) is None
