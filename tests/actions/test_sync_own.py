"""sync of a store that is a repository of its own: two machines become one, nothing to decide."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from machines import Machine, Two, add, check_same, come_together, identify, texts
from projects import Ask, Git, Patch, Say

from mdmemory import Memory
from mdmemory.errors import GitFailed, NoStore, RepositoryState, UsageError

# --- a remote ------------------------------------------------------------------------------------


def test_a_store_gets_its_remote_and_is_there_too(
    machine: Machine, empty_remote: Path, git: Git, say: Say, ask: Ask, monkeypatch: Patch
) -> None:
    home = machine("home")
    add(home, "tea")
    monkeypatch.chdir(home.project.root)
    assert "only on this disk" in say("status")
    assert "Pushed 2 commits to origin/" in say("sync", "--remote", "../remote")
    held = git(empty_remote, "ls-tree", "--name-only", git(empty_remote, "branch").split()[-1])
    assert "user-tea.md" in held
    assert ask("status")["remote"] == str(empty_remote)
    before = (home.project.store / ".git/config").read_bytes()
    assert "Already up to date" in say("sync", "--remote", "../remote")
    say("sync")
    assert (home.project.store / ".git/config").read_bytes() == before
    assert git(home.project.root, "status", "--porcelain") == ""


def test_another_remote_is_refused_with_the_way_to_it(machine: Machine, empty_remote: Path) -> None:
    home = machine("home")
    home.sync(remote=str(empty_remote))
    with pytest.raises(RepositoryState, match="has another remote already") as caught:
        home.sync(remote="https://example.com/notes.git")
    assert "remote set-url origin https://example.com/notes.git" in caught.value.hint
    assert home.sync().pushed == 0


def test_an_address_that_leads_nowhere_leaves_the_store_without_a_remote(
    machine: Machine, tmp_path: Path
) -> None:
    home = machine("home")
    with pytest.raises(GitFailed, match="Nothing can be read at"):
        home.sync(remote=str(tmp_path / "nowhere"))
    assert home.remote() is None
    with pytest.raises(UsageError):
        home.sync(remote="--upload-pack=touch x")
    with pytest.raises(RepositoryState, match="no remote: its notes are only on") as caught:
        home.sync()
    assert "the same command with `--remote URL`" in caught.value.hint


def test_a_store_in_a_projects_repository_gets_no_remote_of_its_own(
    repository: Path, empty_remote: Path, git: Git
) -> None:
    memory, _ = Memory.init(repository)
    with pytest.raises(RepositoryState, match="whose remote is the project's"):
        memory.sync(remote=str(empty_remote))
    assert git(repository, "remote") == ""


def test_a_repository_of_other_things_is_not_joined(
    machine: Machine, empty_remote: Path, git: Git
) -> None:
    home = machine("home")
    git(home.project.root, "push", "-q", str(empty_remote), "main")
    add(home, "tea")
    (home.project.root / "src").mkdir()
    configured = (home.project.store / ".git/config").read_bytes()
    with pytest.raises(RepositoryState, match="something other than a memory") as caught:
        home.sync(remote=str(empty_remote))
    assert "The store has no remote, as before." in caught.value.hint
    assert (home.remote(), (home.project.store / ".git/config").read_bytes()) == (None, configured)
    assert git(home.project.store, "for-each-ref", "refs/remotes") == ""
    assert git(empty_remote, "log", "--format=%s", "--all").split() == ["first"]
    assert home.git_state() == "ready"
    assert [note.file for note in home.notes()] == ["user-tea.md"]


def test_two_machines_that_began_by_themselves_are_joined(
    machine: Machine, empty_remote: Path, git: Git
) -> None:
    home, work = machine("home"), machine("work")
    git(work.project.store, "branch", "-m", "trunk")  # their git may name branches otherwise
    add(home, "tea", "Drinks green tea.")
    add(home, "rain")
    add(work, "tea", "Drinks black tea.")
    add(work, "snow")
    add(home, "moss", "The same on both.")
    add(work, "moss", "The same on both.")
    home.sync(remote=str(empty_remote))
    assert work.sync(remote=str(empty_remote)).doubled == [("user-tea.md", "user-tea-2.md")]
    home.sync()
    check_same(home, work, git)
    found = texts(home)
    assert "black" in found["user-tea.md"]
    assert "green" in found["user-tea-2.md"]
    second = home.note("tea-2").note.head
    assert (second.name, second.aliases) == ("tea-2", ("tea-2",))
    assert {"user-rain.md", "user-snow.md", "user-moss.md"} <= found.keys()
    assert "user-moss-2.md" not in found
    (flagged,) = home.conflicts()
    assert sorted(flagged.files) == ["user-tea-2.md", "user-tea.md"]
    assert len(git(home.project.store, "rev-list", "--max-parents=0", "HEAD").split()) == 2
    assert work.sync().fetched == 0


def test_changes_to_other_lines_of_a_note_come_together(machines: Two, git: Git) -> None:
    home, work = machines
    body = home.note("tea").note.body
    home.edit("tea", body=body.replace("morning", "evening"))
    work.edit("tea", body=body.replace("milk", "honey"))
    assert come_together(home, work, git).doubled == []
    assert home.note("tea").note.body == "Drinks tea.\n\nIn the evening.\n\nWith honey."
    assert home.conflicts() == []


def test_changes_to_the_same_lines_are_two_notes_and_a_flag(
    machines: Two, git: Git, say: Say, monkeypatch: Patch
) -> None:
    home, work = machines
    home.edit("tea", body="Drinks green tea.")
    work.edit("tea", body="Drinks black tea.")
    home.sync()
    monkeypatch.chdir(work.project.root)
    said = say("sync")
    assert "user-tea.md was written on two machines" in said
    assert "the other's is in user-tea-2.md" in said
    come_together(home, work, git)
    assert home.note("tea").note.body == "Drinks black tea."
    assert home.note("tea-2").note.body == "Drinks green tea."
    (flagged,) = home.conflicts()
    home.resolve(flagged.id, keep="tea-2")
    come_together(home, work, git)
    assert work.conflicts() == []


def count_by_hand(memory: Memory, lines: str) -> None:
    path = memory.project.store / "user-tea.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("---\n\nDr", f"{lines}---\n\nDr"), encoding="utf-8")


def test_dates_and_counts_come_together_quietly(machines: Two, git: Git) -> None:
    home, work = machines
    for memory, day, count in ((home, "03", 4), (work, "02", 7)):
        count_by_hand(memory, f"  reinforced: {count}\n  last_reinforced: 2026-07-{day}\n")
    assert come_together(home, work, git).doubled == []
    head = home.note("tea").note.head
    assert (head.reinforced, head.last_reinforced) == (7, "2026-07-03")


def test_what_one_removed_and_the_other_changed_stays(machines: Two, git: Git) -> None:
    home, work = machines
    add(home, "rain")
    come_together(home, work, git)
    home.remove("tea")
    work.edit("tea", body="Drinks black tea.")
    home.edit("rain", body="Likes the rain.")
    work.remove("rain")
    said = [sentence.split()[0] for sentence in come_together(home, work, git).said]
    assert said == ["user-rain.md", "user-tea.md"]
    assert home.note("tea").note.body == "Drinks black tea."
    assert home.note("rain").note.body == "Likes the rain."


def test_what_one_removed_stays_so_where_the_other_only_counted(machines: Two, git: Git) -> None:
    home, work = machines
    home.remove("tea")
    count_by_hand(work, "  reinforced: 2\n")
    assert come_together(home, work, git).said == []
    assert home.notes() == []


def test_a_renamed_note_takes_the_others_change_along(machines: Two, git: Git) -> None:
    home, work = machines
    home.rename("tea", "hot-drinks")
    work.edit("tea", body=work.note("tea").note.body.replace("milk", "honey"))
    assert come_together(home, work, git).said == []
    assert [note.file for note in home.notes()] == ["user-hot-drinks.md"]
    assert "With honey." in home.note("tea").note.body


def test_files_beside_the_notes_come_together_as_well(machines: Two, git: Git) -> None:
    home, work = machines
    for memory, word in ((home, b"green"), (work, b"black")):
        store = memory.project.store
        (store / ".inbox").mkdir(exist_ok=True)
        (store / ".inbox/wish.md").write_bytes(word)
        (store / "tea.png").write_bytes(b"\xff" + word)
        with (store / ".gitignore").open("ab") as file:
            file.write(b"*." + word + b"\n")
        git(store, "add", "-A")
        git(store, "commit", "-qm", "by hand")
        memory.sync()
    home.sync()
    check_same(home, work, git)
    store = home.project.store
    assert (store / ".inbox/wish.md").read_bytes() == b"black"
    assert (store / ".inbox/wish-2.md").read_bytes() == b"green"
    assert (store / "tea-2.png").read_bytes() == b"\xffgreen"
    lines = (store / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {"*.green", "*.black"} <= set(lines)


def test_what_no_commit_holds_is_not_overwritten(machines: Two, git: Git) -> None:
    home, work = machines
    add(home, "key", "Where the key is.")
    home.sync()
    held = work.project.store / "user-key.md"
    held.write_text("token ghp_" + "a1B2" * 9 + "\n", encoding="utf-8")  # on hold
    with pytest.raises(RepositoryState, match=r"user-key\.md would be overwritten"):
        work.sync()
    assert "ghp_" in held.read_text(encoding="utf-8")
    held.unlink()
    come_together(work, home, git)


def test_a_link_from_the_other_side_is_refused(machines: Two, git: Git) -> None:
    home, work = machines
    (home.project.store / "user-link.md").symlink_to("/etc/passwd")
    git(home.project.store, "add", "-A")
    git(home.project.store, "commit", "-qm", "a link")
    home.sync()
    with pytest.raises(RepositoryState, match=r"user-link\.md is no file that a store can hold"):
        work.sync()
    assert not (work.project.store / "user-link.md").is_symlink()
    assert work.git_state() == "ready"


# --- stores in the memory folder -----------------------------------------------------------------

Use = Callable[..., Path]


@pytest.fixture
def use(repository: Path, git: Git, tmp_path: Path, monkeypatch: Patch) -> Use:
    """`use("home")` sits down at that machine, in a folder: a clone of the project, whose own
    remote is project.git, or with `empty` nothing."""
    git(tmp_path, "clone", "-q", "--bare", str(repository), "project.git")

    def sit(name: str, empty: bool = False) -> Path:
        folder = tmp_path / name / "app"
        monkeypatch.setenv("MDMEMORY_HOME", str(tmp_path / name / "mdmemory"))
        if not folder.exists():
            folder.mkdir(parents=True)
            if not empty:
                git(folder, "clone", "-q", str(tmp_path / "project.git"), ".")
        monkeypatch.chdir(folder)
        return folder

    return sit


def begin_another(git: Git, folder: Path) -> Memory:
    """A project of its own in an empty folder, with a store in the memory folder."""
    git(folder, "init", "-q")
    git(folder, "-c", "user.name=o", "-c", "user.email=o@o", "commit", "-q", "--allow-empty", "-mx")
    return Memory.init(folder, home=True)[0]


def test_a_second_machine_in_two_commands_also_where_it_had_begun(
    empty_remote: Path, git: Git, use: Use, tmp_path: Path, say: Say, ask: Ask
) -> None:
    names = ("home", "work", "sofa")
    for name in names:
        folder = use(name)
        if name != "work":
            git(folder, "config", "user.name", name)
        Memory.init(folder, home=True)
        if name != "sofa":
            words = ("--type", "project", "--description", f"As {name} has it", "Has a port.")
            say("add", "port", *words)
        said = say("sync", "--remote", str(empty_remote))
    assert "Fetched" in said
    for name in names:
        use(name)
        say("sync")
        assert {"project-port.md", "project-port-2.md"} <= {row["file"] for row in ask("list")}
        assert ask("status")["conflicts"] == 1
        assert git(use(name), "status", "--porcelain") == ""
        assert "note" not in git(use(name), "log", "--format=%s")
    stores = [tmp_path / name / "mdmemory/app" for name in names]
    heads = {git(store, "rev-parse", "HEAD") for store in stores}
    assert len(heads) == 1, "something is written anew each time"
    known = (stores[0] / "mdmemory.toml").read_text(encoding="utf-8")
    assert all(f"{tmp_path}/{name}/app/.git" in known for name in names)
    assert known.count("[project]") == 1


def test_a_folder_of_the_persons_is_synced_along(empty_remote: Path, git: Git, use: Use) -> None:
    home = Memory.init(use("home"), home=True)[0]
    store = home.project.store
    (store / "images").mkdir()
    (store / "images/tea.png").write_bytes(b"\xff")
    git(store, "add", "-A")
    identify(git, store, "home")
    git(store, "commit", "-qm", "a picture")
    home.sync(remote=str(empty_remote))
    work = Memory.init(use("work"), home=True)[0]
    work.sync(remote=str(empty_remote))
    assert (work.project.store / "images/tea.png").read_bytes() == b"\xff"
    assert home.sync().conflicts == []


def test_another_projects_memory_and_the_projects_own_remote_are_refused(
    empty_remote: Path, git: Git, use: Use, tmp_path: Path
) -> None:
    memory, _ = Memory.init(use("home"), home=True)
    with pytest.raises(RepositoryState, match="is the project's own repository"):
        memory.sync(remote=str(tmp_path / "project.git"))
    memory.sync(remote=str(empty_remote))
    stranger = begin_another(git, use("other", empty=True))
    with pytest.raises(RepositoryState, match="holds the memory of another project"):
        stranger.sync(remote=str(empty_remote))
    assert stranger.git_state() == "ready"


def test_in_a_project_without_a_store_the_persons_own_gets_no_remote(
    empty_remote: Path, use: Use, tmp_path: Path, say: Say, fail: Say
) -> None:
    add(Memory.around(use("home")).for_type("user"), "tea")
    assert "`mdmemory init` first" in fail("sync", "--remote", str(empty_remote))
    me = str(tmp_path / "home/mdmemory/me")
    assert "Pushed" in say("--store", me, "sync", "--remote", str(empty_remote))


def test_the_persons_own_store_is_synced_by_its_name_and_a_second_machine_gets_it(
    empty_remote: Path, use: Use, tmp_path: Path, git: Git, say: Say, fail: Say
) -> None:
    folder = use("home", empty=True)
    add(Memory.around(folder).for_type("user"), "tea")
    begin_another(git, folder)
    me = str(tmp_path / "home/mdmemory/me")
    hints = re.findall(r"`mdmemory (.*?) URL`", say("status"))
    assert hints == ["sync --remote", f"--store {me} sync --remote"]
    say(*hints[1].split(), str(empty_remote))
    use("work", empty=True)
    me = str(tmp_path / "work/mdmemory/me")
    with pytest.raises(NoStore, match="is not there"):
        Memory.open(store=me)
    assert "Fetched" in say("--store", me, "sync", "--remote", str(empty_remote))
    assert "user-tea.md" in say("list")
    use("sofa", empty=True)
    other = tmp_path / "sofa/mdmemory/mine"
    fail("--store", str(other), "sync", "--remote", str(empty_remote))
    assert not other.parent.exists(), "no store is made for another name"
