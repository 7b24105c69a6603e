"""Files are written whole or not at all, and a disk that says no is one sentence."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from projects import git, tip
from stores import open_writer

from mdmemory.errors import MdmemoryError, Unwritable
from mdmemory.files import link_file, read_regular, write_atomic

Patch = pytest.MonkeyPatch

SENTENCES = {
    errno.ENOSPC: "Free some space",
    errno.EROFS: "read-only",
    errno.EACCES: "permissions",
    errno.EPERM: "permissions",
    errno.EIO: "Nothing was changed",
}


@pytest.mark.parametrize("code", SENTENCES)
@pytest.mark.parametrize("call", ["open", "fsync", "replace"])
def test_what_the_disk_refuses_is_said_and_leaves_the_file_as_it_was(
    code: int, call: str, tmp_path: Path, monkeypatch: Patch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, refuse)
        with pytest.raises(Unwritable) as refused:
            write_atomic(path, b"new")
    assert SENTENCES[code].casefold() in refused.value.hint.casefold()
    assert [entry.read_bytes() for entry in tmp_path.iterdir()] == [b"old"]


def test_a_file_that_may_not_be_read_says_so(tmp_path: Path, monkeypatch: Patch) -> None:
    def refuse(path: object, *_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    # not by chmod: the superuser, whom tests may run as, passes over that
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(MdmemoryError, match="cannot be read: Permission denied") as refused:
        read_regular(tmp_path / "note.md")
    assert "permissions" in refused.value.hint


@pytest.mark.parametrize("code", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_disk_without_hard_links_is_named(code: int, tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(os, "link", _without_links(tmp_path, code))
    with pytest.raises(Unwritable, match="no hard links"):
        link_file(tmp_path / "one", tmp_path / "two")


@pytest.mark.parametrize("where", [".git", "notes"])
def test_without_hard_links_nothing_is_changed(where: str, store: Path, monkeypatch: Patch) -> None:
    from mdmemory.actions.editing import edit

    root = store.parents[1]
    writer, before = open_writer(root), (store / "user-name.md").read_bytes()
    writer.refresher.refresh()
    head, state = tip(root), git(root, "status", "--porcelain")
    with monkeypatch.context() as patch:
        patch.setattr(os, "link", _without_links(root / where, errno.EPERM))
        with pytest.raises(Unwritable, match="no hard links"):
            edit(writer, "name", body="Another.", today="2026-01-01")
    assert (store / "user-name.md").read_bytes() == before
    assert (tip(root), git(root, "status", "--porcelain")) == (head, state)
    assert not list(store.glob(".mdmemory-*"))
    assert edit(writer, "name", body="Another.", today="2026-01-01").written.commit


def _without_links(folder: Path, code: int) -> Callable[..., None]:
    real = os.link

    def refuse(path: Path, other: Path) -> None:
        if Path(other).is_relative_to(folder):
            raise OSError(code, os.strerror(code))
        real(path, other)

    return refuse
