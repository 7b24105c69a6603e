"""How a store is found, and what is never taken for one."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pace import HUNG
from projects import git, tip

from mdmemory import Memory
from mdmemory.config.person import Places
from mdmemory.errors import BadSetting, NoState, NoStore
from mdmemory.git import repositories
from mdmemory.store import home as homes
from mdmemory.store.home import Known
from mdmemory.store.project import find_project, open_project, person_root


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places({"MDMEMORY_HOME": str(tmp_path / "home")}, tmp_path / "config" / "config.toml")


def make_project(root: Path, store: str = "notes/memory") -> Path:
    (root / store).mkdir(parents=True)
    (root / "mdmemory.toml").write_text(f'store = "{store}"\n', encoding="utf-8")
    return root


def test_the_store_is_found_from_any_folder_of_it(repository: Path, places: Places) -> None:
    make_project(repository)
    (deep := repository / "src" / "deep").mkdir(parents=True)
    assert find_project(deep, None, places).store == repository / "notes" / "memory"


def test_nothing_above_the_repository_is_searched(repository: Path, places: Places) -> None:
    make_project(repository.parent)
    with pytest.raises(NoStore) as problem:
        find_project(repository, None, places)
    assert "mdmemory init" in problem.value.hint


def test_a_named_store_wins(repository: Path, places: Places) -> None:
    make_project(repository)
    other = make_project(repository.parent / "other")
    for named in (other, other / "notes/memory"):
        assert find_project(repository, str(named), places).root == other
    (bare := repository.parent / "bare").mkdir()
    assert find_project(repository, str(bare), places).store == bare


def test_a_linked_worktree_uses_the_main_ones_store(repository: Path, places: Places) -> None:
    git(repository, "worktree", "add", "-q", "../linked")
    make_project(repository)
    assert find_project(repository.parent / "linked", None, places).root == repository


def test_the_person_s_own_store_is_the_last_resort(tmp_path: Path, places: Places) -> None:
    make_project(person_root(places))
    (lonely := tmp_path / "lonely").mkdir()
    assert find_project(lonely, None, places).root == person_root(places)


@pytest.mark.parametrize("link", ["notes", "notes/memory"])
def test_a_store_behind_a_link_is_refused(tmp_path: Path, places: Places, link: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "memory").mkdir(parents=True)
    root = make_project(tmp_path / "p", "other")
    (root / "mdmemory.toml").write_text('store = "notes/memory"\n', encoding="utf-8")
    (root / link).parent.mkdir(parents=True, exist_ok=True)
    (root / link).symlink_to(elsewhere if link == "notes" else elsewhere / "memory")
    with pytest.raises(NoStore, match="symbolic link"):
        open_project(root, places)


def test_a_store_that_is_gone_says_who_named_it(tmp_path: Path, places: Places) -> None:
    root = make_project(tmp_path / "p")
    (root / "notes/memory").rmdir()
    with pytest.raises(NoStore, match=r"mdmemory\.toml names it"):
        open_project(root, places)


@pytest.mark.parametrize("path", ["/etc", "~/notes", "../up", "a/../../b", ".git/notes"])
def test_a_project_has_no_store_outside_itself(tmp_path: Path, places: Places, path: str) -> None:
    root = make_project(tmp_path / "p", "notes")
    (root / "mdmemory.toml").write_text(f'store = "{path}"\n', encoding="utf-8")
    with pytest.raises(BadSetting, match="folder inside the project"):
        open_project(root, places)


def test_private_state_is_its_owner_s_alone_and_ignores_itself(repository: Path) -> None:
    memory, _ = Memory.init(repository)
    assert memory.project.prepare_private().stat().st_mode & 0o777 == 0o700
    assert git(repository, "status", "--porcelain") == ""


def test_private_state_is_never_written_through_a_link(tmp_path: Path, places: Places) -> None:
    root = make_project(tmp_path / "p")
    (tmp_path / "target").mkdir()
    (root / ".mdmemory").symlink_to(tmp_path / "target")
    with pytest.raises(NoState, match="symbolic link"):
        open_project(root, places).prepare_private()
    assert os.listdir(tmp_path / "target") == []


def test_the_step_that_makes_room_for_state_can_be_typed(tmp_path: Path, places: Places) -> None:
    root = make_project(tmp_path / "it's mine")
    (root / ".mdmemory").write_text("a file")
    with pytest.raises(NoState) as refusal:
        open_project(root, places).prepare_private()
    (command,) = re.findall(r"`(.*)`", refusal.value.hint)
    subprocess.run(command, shell=True, check=True, timeout=HUNG)
    assert open_project(root, places).prepare_private().is_dir()


# Projects' stores lie in one folder of the person's, and each project finds its own.


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "mdmemory"


def keep(home: Path, project: Path, name: str = "app") -> Path:
    """A store of the project, as `init` would write it down; its folder."""
    (folder := home / name).mkdir(parents=True)
    entry = Known(folder).met(repositories.identify(repositories.find(project)))
    (folder / "mdmemory.toml").write_bytes(homes.write(entry))
    return folder


def matched(home: Path, start: Path) -> tuple[Path | None, list[Path]]:
    """The store that is taken for the project, and those that are asked about."""
    match = homes.find_match(home, start)
    return match.entry and match.entry.store, [entry.store for entry in match.asked]


@pytest.fixture
def origin(repository: Path, tmp_path: Path) -> Path:
    """A bare repository that the project was cloned from; the project is its clone."""
    bare = tmp_path / "origin.git"
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(bare))
    git(repository, "remote", "add", "origin", str(bare))
    return bare


def commit(folder: Path, words: str = "more") -> None:
    who = ("-c", "user.name=A Person", "-c", "user.email=person@example.com")
    git(folder, *who, "commit", "-q", "--allow-empty", "-m", words)


def test_a_project_finds_its_store_from_each_folder_and_worktree(
    home: Path, repository: Path
) -> None:
    store = keep(home, repository)
    (repository / "src").mkdir()
    git(repository, "worktree", "add", "-q", str(repository.parent / "linked"))
    for start in (repository, repository / "src", repository.parent / "linked"):
        assert homes.find_match(home, start).entry == homes.read(store)
        assert not homes.find_match(home, start).moved


def test_worktrees_of_a_bare_one_share_a_store(home: Path, origin: Path) -> None:
    for name in ("one", "two"):
        git(origin, "worktree", "add", "-q", "-b", name, str(origin.parent / name))
    store = keep(home, origin.parent / "one")
    assert matched(home, origin.parent / "two") == (store, [])


def test_a_second_clone_finds_the_store_asks_about_two_that_fit_and_a_fork_has_none(
    home: Path, repository: Path, origin: Path
) -> None:
    store, again = keep(home, repository), repository.with_name("again")
    git(origin.parent, "clone", "-q", str(origin), "again")
    assert matched(home, again) == (store, [])
    assert homes.find_match(home, again).moved
    other = keep(home, repository, "app-2")
    assert matched(home, again) == (None, [store, other])
    git(again, "remote", "set-url", "origin", "https://example.org/me/app")
    assert homes.find_match(home, again) == homes.Match()


def test_a_clone_that_went_on_after_the_first_was_deleted_finds_it_by_a_commit_that_was_seen(
    home: Path, repository: Path, origin: Path
) -> None:
    commit(repository)
    git(repository, "push", "-q", "origin", "main")
    store = keep(home, repository)
    shutil.rmtree(repository)
    git(repository.parent, "clone", "-q", str(origin), "project")
    commit(repository)
    assert matched(home, repository) == (store, [])


def test_a_moved_folder_finds_its_store(home: Path, repository: Path) -> None:
    store = keep(home, repository)
    commit(repository)
    moved = repository.rename(repository.with_name("moved"))
    # nothing shows that the later commit is the project's
    assert matched(home, moved) == (None, [store])
    git(moved, "reset", "-q", "--hard", "HEAD~1")
    assert matched(home, moved) == (store, [])


def test_a_stranger_who_copied_first_commit_and_remote_is_asked_about(
    home: Path, repository: Path, origin: Path
) -> None:
    first = tip(repository)
    commit(repository)
    store = keep(home, repository)
    evil = repository.parent / "evil"
    git(repository.parent, "clone", "-q", str(origin), str(evil))
    assert tip(evil) == first
    commit(evil, "evil")
    assert matched(home, evil) == (None, [store])
    git(evil, "remote", "add", "more", "https://evil.example/app")
    assert matched(home, evil) == (None, [store])


def test_a_copy_without_a_remote_is_asked_about_while_the_first_is_there(
    home: Path, repository: Path
) -> None:
    store = keep(home, repository)
    shutil.copytree(repository, repository.parent / "copy")
    assert matched(home, repository.parent / "copy") == (None, [store])
    shutil.rmtree(repository)
    assert matched(home, repository.parent / "copy") == (store, [])


def test_another_project_in_the_same_place_gets_no_store(home: Path, repository: Path) -> None:
    keep(home, repository)
    shutil.rmtree(repository / ".git")
    git(repository, "init", "-q", "-b", "main")
    commit(repository, "another beginning")
    assert homes.find_match(home, repository) == homes.Match()


def test_a_remote_that_the_project_got_later_is_noted(home: Path, repository: Path) -> None:
    commit(repository)
    store = keep(home, repository)
    assert homes.met_again(store, repository, False) is None
    git(repository, "remote", "add", "origin", "git@example.org:team/app.git")
    texts = homes.met_again(store, repository, False)
    assert b'"example.org/team/app"' in texts[1]


def test_settings_that_a_person_wrote_stay_beside_the_projects_table(tmp_path: Path) -> None:
    before = b'store = "."\n\n[index]\nmax_entries = 9 # few\n'
    once = homes.write(Known(tmp_path, roots=("a",)), before)
    assert once.startswith(before)
    again = homes.write(Known(tmp_path, roots=("b",)), once + b"\n[compact]\nchurn = 3\n")
    counts = [again.count(part) for part in (b"[project]", b"churn = 3", b'"b"', b'"a"')]
    assert counts == [1, 1, 1, 0]


def test_folders_are_named_like_the_project_and_never_like_the_persons(tmp_path: Path) -> None:
    assert homes.free_folder(tmp_path, "my app").name == "my-app"
    (tmp_path / "my-app").mkdir()
    for name, free in (("my app", "my-app-2"), ("me", "me-2"), ("Me", "Me-2"), ("..", "project")):
        assert homes.free_folder(tmp_path, name).name == free


def test_a_store_of_no_project_and_a_link_are_passed_over(home: Path, repository: Path) -> None:
    for name in ("me", "plain"):
        (home / name).mkdir(parents=True)
        (home / name / "mdmemory.toml").write_text('store = "."\n')
    keep(home.parent / "other", repository)
    (home / "link").symlink_to(home.parent / "other" / "app")
    assert list(homes.read_entries(home)) == []


def test_a_damaged_table_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "mdmemory.toml").write_text('[project]\nroots = "one"\n')
    with pytest.raises(BadSetting, match=r"\[project\]"):
        list(homes.read_entries(tmp_path))


def test_a_memory_folder_that_cannot_hold_a_store_is_refused_by_whatever_looks_there(
    repository: Path,
) -> None:
    (repository.parent / "file").write_text("")
    (repository.parent / "link").symlink_to(repository.parent)
    for place in ("file", "link", "file/under"):
        with pytest.raises(NoStore):
            homes.prepare_home(repository.parent / place)
    for place in ("file", "link"):
        with pytest.raises(NoStore, match=f"is a {place}"):
            homes.find_match(repository.parent / place, repository)
    assert (
        homes.prepare_home(repository.parent / "deep" / "mdmemory").stat().st_mode & 0o777 == 0o700
    )


@given(st.lists(st.text(max_size=20), max_size=4))
def test_whatever_a_path_holds_is_read_back(texts: list[str]) -> None:
    texts = [text for text in dict.fromkeys(texts) if not re.search("[\r\ud800-\udfff]", text)]
    table = tomllib.loads(homes.write(Known(Path("/s"), folders=tuple(texts))).decode())
    assert table["project"]["folders"] == texts
