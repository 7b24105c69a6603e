"""What git holds of a store, read back whatever its files are called and however git is set."""

import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pace import HUNG
from projects import commit_all, git, tip

from mdmemory.errors import GitFailed, NotFound, RepositoryState
from mdmemory.git import commits_of_store as module
from mdmemory.git import log, repositories
from mdmemory.git.commits_of_store import History, Message, memory_trailers, subject
from mdmemory.git.filter_repo import FROM, Carried, carry
from mdmemory.git.log import FILES_TRAILER, ID_TRAILER, REVERTS, UNDOES, Logged, taken_back

Patch = pytest.MonkeyPatch
ODD = [
    'quote".md', "back\\slash.md", "line\nbreak.md", "tab\there.md", " space .md", "-dash.md",
    ":(top)magic.md", "*.md", "[x].md", "喜欢.md", "e\u0301.md", "\u00e9.md", "X.md", "x.md",
    "l" * 252 + ".md", os.fsdecode(b"\xff\xfe.md"),
]  # fmt: skip


def of(folder: Path) -> History:
    return History(repositories.find(folder), folder)


def commit(folder: Path, message: Message) -> str:
    git(folder, "commit", "-q", "--allow-empty", "-F", "-", text=message.text())
    return tip(folder)


def test_files_are_found_by_their_names_however_odd(store: Path) -> None:
    for name in ODD:
        (store / name).write_bytes(os.fsencode(name))
    commit_all(store)
    history = of(store)
    expected = {name: history.blob_id(os.fsencode(name)) for name in ODD}
    for found in (history.read_tree("HEAD"), history.read_tree("HEAD", ODD)):
        assert {name: found[name].id for name in ODD} == expected
    staged = history.read_index(ODD)
    assert {name: staged[name].blob.id for name in ODD} == expected
    assert not any(there.closed for there in staged.values())
    for name in ODD:
        assert history.read("HEAD", name) == os.fsencode(name)


def test_asking_for_many_files_gives_the_same_as_for_few(store: Path, monkeypatch: Patch) -> None:
    (store / "below").mkdir()
    (store / "below" / "user-name.md").write_text("not in the folder itself")
    commit_all(store, "below")
    history, files = of(store), ["user-name.md", "project-plan.md", "missing.md"]
    few = history.read_tree("HEAD", files), history.read_index(files)
    monkeypatch.setattr(module, "MANY", 0)
    assert (history.read_tree("HEAD", files), history.read_index(files)) == few
    assert few[0].keys() == {"user-name.md", "project-plan.md"}


def test_a_store_at_the_top_of_its_repository_has_no_prefix(repository: Path) -> None:
    history = of(repository)
    assert history.prefix == ""
    assert {*history.read_tree("HEAD")} == {*history.read_tree("HEAD", ["README"])} == {"README"}
    assert history.read_index(["README"]).keys() == {"README"}


def test_what_git_is_told_not_to_look_at_or_is_merging_is_closed(store: Path) -> None:
    commit_all(store, **{"user-new.md": "new"})
    (store / "user-new.md").write_text("stashed\n")
    git(store, "stash", "-q")
    commit_all(store, **{"user-new.md": "committed\n"})
    with pytest.raises(AssertionError):
        git(store, "stash", "pop", "-q")
    git(store, "update-index", "--assume-unchanged", "user-name.md")
    git(store, "update-index", "--skip-worktree", "project-plan.md")
    files = ["user-name.md", "project-plan.md", "feedback-old.md", "user-new.md"]
    staged = of(store).read_index(files)
    closed = [file for file, there in staged.items() if there.closed]
    assert closed == ["project-plan.md", "user-name.md", "user-new.md"]
    assert "merge" in staged["user-new.md"].closed


def test_a_file_that_is_gone_is_not_the_same_as_bytes_that_are_missing(store: Path) -> None:
    history = of(store)
    assert history.read("HEAD", "never-there.md") is None
    blob = tip(store, "HEAD:notes/memory/user-name.md")
    (store.parents[1] / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(GitFailed):
        history.read("HEAD", "user-name.md")


def test_a_detached_head_has_no_branch_and_an_unborn_one_an_empty_log(
    store: Path, tmp_path: Path
) -> None:
    assert of(store).branch() == "refs/heads/main"
    git(store, "switch", "-q", "--detach")
    with pytest.raises(RepositoryState, match="detached"):
        of(store).branch()
    git(tmp_path, "init", "-q", "new")
    history = of(tmp_path / "new")
    assert history.logged() == history.log_of(ID_TRAILER) == []
    assert history.list_undone() == set()
    assert history.read_tree(history.head()) == {}


def test_a_message_is_read_back_as_it_was_written(store: Path) -> None:
    groups = [["user-a.md", "line\nbreak.md"], ["喜欢.md"]]
    trailers = memory_trailers("compact", [("Memory-Session", "ses_1")], groups=groups)
    made = commit(store, Message("memory: one", ["merge a + b", "flag 喜欢: why"], trailers))
    (store / "new").touch()
    git(store, "add", ".")
    git(store, "commit", "-q", "--amend", "--no-edit")
    (entry,) = of(store).log_of(ID_TRAILER)
    assert entry.commit != made
    assert (entry.subject, entry.ops) == ("memory: one", ("merge a + b", "flag 喜欢: why"))
    assert entry.trailers == trailers
    assert entry.groups() == groups
    assert entry.get("Memory-Session") == "ses_1"
    assert entry.get("Memory-Model") is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("grep.patternType", "fixed"), ("grep.patternType", "perl"), ("log.showSignature", "true"),
        ("i18n.commitEncoding", "ISO-8859-1"), ("i18n.logOutputEncoding", "UTF-16"),
        ("color.ui", "always"), ("log.follow", "true"), ("core.quotePath", "true"),
    ],
)  # fmt: skip
def test_a_persons_settings_change_nothing_that_we_read(name: str, value: str, store: Path) -> None:
    (store / "喜欢.md").write_text("new")
    git(store, "add", ".")
    about = memory_trailers("add", groups=[["喜欢.md"]])
    made = commit(store, Message("memory: 喜欢", ["add 喜欢"], about))
    git(store, "config", name, value)
    history = of(store)
    (entry,) = history.log_of(ID_TRAILER)
    assert (entry.commit, entry.subject, entry.ops) == (made, "memory: 喜欢", ("add 喜欢",))
    assert "喜欢.md" in history.read_tree("HEAD")
    assert history.list_undone() == set()


def test_commits_of_others_and_of_other_folders_are_not_in_the_log(store: Path) -> None:
    about = memory_trailers("add", groups=[["a.md"]])
    commit(store, Message("memory: elsewhere", trailers=about))
    (store / "a.md").write_text("by hand")
    commit_all(store, "by hand\n\nMemory-Id is only mentioned here")
    assert of(store).logged() == []


def test_commits_are_found_by_a_trailer_as_the_whole_log_has_them(store: Path) -> None:
    values = ("ses_1", "ses_12", "ses.1", "a*[b]$^\\", "ses_1", "喜欢", "ses_1 and more")
    for number, value in enumerate(values):
        (store / f"{number}.md").write_text(value)
        git(store, "add", ".")
        about = memory_trailers("add", [("Memory-Session", value)], id=f"m-{number}")
        commit(store, Message("memory: one", trailers=about))
    elsewhere = memory_trailers("add", [("Memory-Session", "ses_1")], id="m-8")
    other = commit(store, Message("memory: elsewhere", trailers=elsewhere))
    (store / "only.md").write_text("the words are in the text, and no trailer")
    git(store, "add", ".")
    about = memory_trailers("add", id="m-9")
    said = Message("memory: one", ["Memory-Session: ses_1", "Memory-Id: m-0"], about)
    mentioned = commit(store, said)
    history, log = of(store), [entry for entry, _ in of(store).logged()]
    for value in (*values, "ses", "m-0", "", "ses_1\nses_12"):
        expected = [entry for entry in log if entry.get("Memory-Session") == value]
        assert history.log_of("Memory-Session", value) == expected
    assert history.log_of("Memory-Session") == [e for e in log if e.get("Memory-Session")]
    assert [e.commit for e in history.log_of(ID_TRAILER, "m-0")] == [log[-1].commit]
    assert history.log_of(ID_TRAILER, "m-8") == []
    assert history.find_own(other) is None
    assert history.find_own(mentioned) == log[0]
    git(store, "reset", "-q", "--hard", "HEAD~3")
    assert of(store).find_own(mentioned) is None  # no ancestor of HEAD any more


def test_reverts_of_reverts_are_followed_to_any_depth(store: Path) -> None:
    (store / "a.md").write_text("new")
    git(store, "add", ".")
    made = [commit(store, Message("memory: add a", trailers=memory_trailers("add")))]
    for depth in range(1, 5):
        how = ["-c", "revert.reference=true"] if depth == 2 else []  # git then shortens the id
        git(store, *how, "revert", "--no-edit", "HEAD")
        made.append(tip(store))
        # every second one, counted back from the newest, which stands
        assert of(store).list_undone() == {*made[depth - 1 :: -2]}
    assert (store / "a.md").exists()


def test_an_undo_by_us_and_a_revert_by_git_count_alike(store: Path) -> None:
    about = memory_trailers("add")
    first = commit(store, Message("memory: add a", trailers=about))
    undo = commit(store, Message("memory: undo", trailers=(*about, (UNDOES, first))))
    assert of(store).list_undone() == {first}
    said = Message('Reapply "memory: add a"', [f"This reverts commit {undo}."])
    again = commit(store, said)
    assert of(store).list_undone() == {undo}
    commit(store, Message("memory: undo", trailers=(*about, (UNDOES, again))))
    assert of(store).list_undone() == {again, first}


@pytest.mark.parametrize("inside", ["notes", ""])
@pytest.mark.parametrize("merges", [False, True])
def test_the_log_with_its_undone_commits_is_the_log_beside_them(
    repository: Path, inside: str, merges: bool
) -> None:
    """Among foreign commits, those by hand, merges, and clocks that go wrong."""
    dice, ours, made = random.Random(f"{inside} {merges}"), list[str](), list[str]()
    words = ["git", "-C", repository, "fast-import", "--quiet", "--force"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True) as importing:
        assert importing.stdin
        assert importing.stdout
        for number in range(1, 90):
            kind = dice.choice(["ours", "ours", "by hand", "foreign", "revert" if ours else "ours"])
            path = f"src/{number}.py" if kind == "foreign" else f"notes/{number % 7}.md"
            text = f"{kind}\n"
            text += f"\nMemory-Id: m-{number}\n" if kind == "ours" else ""
            text += f"\n{REVERTS}{dice.choice(ours)}.\n" if kind == "revert" else ""
            when = dice.choice([number, number, 90 - number])
            importing.stdin.write(
                f"commit refs/heads/main\nmark :{number}\ncommitter A <a@b> {when} +0000\n"
                f"data {len(text)}\n{text}\n"
                + (f"merge :{number - 5}\n" if merges and not number % 9 else "")
                + f"M 100644 inline {path}\ndata {len(str(number))}\n{number}\n\n"
                f"get-mark :{number}\n"
            )
            importing.stdin.flush()
            made.append(importing.stdout.readline().strip())
            ours += [made[-1]] if kind in ("ours", "revert") else []
    git(repository, "reset", "-q", "--hard", "main")
    history = of(repository / inside)
    how = ("--date-order", "--parents", "--full-history", *log.OURS, "HEAD", "--")
    entries = [*log.read(history.repository, *how, *filter(None, [inside]))]
    for limit in (1, 2, 5, 20, 200, None):
        undone = history.list_undone()
        expected = [(each, each.commit in undone) for each in entries[:limit]]
        assert history.logged(limit) == expected
    assert {mark for _, mark in history.logged()} == {True, False}


def test_what_was_brought_back_is_not_taken_back() -> None:
    for takes, gone in [
        ({"b": ["a"]}, "a"),
        ({"c": ["b"], "b": ["a"]}, "b"),
        ({"d": ["c"], "c": ["b"], "b": ["a"]}, "ca"),
        ({"e": ["d"], "d": ["c"], "c": ["b"], "b": ["a"]}, "db"),
        # taken back, brought back, and taken back once more by another
        ({"d": ["a"], "c": ["b"], "b": ["a"]}, "ab"),
        # taken back twice, and only one of these brought back
        ({"d": ["c"], "c": ["a"], "b": ["a"]}, "ca"),
        ({"d": ["b", "c"], "c": ["a"], "b": ["a"]}, "bc"),
        ({}, ""),
    ]:
        assert taken_back(takes.items()) == set(gone)


def test_a_commit_is_resolved_by_what_names_it_and_options_are_no_names(store: Path) -> None:
    full = tip(store)
    history = of(store)
    assert history.resolve(full[:10]) == history.resolve("main") == full
    for bad in ("--all", "nothing", "main:README", ""):
        with pytest.raises(NotFound):
            history.resolve(bad)
    assert history.parent(full) == tip(store, "HEAD~1")
    assert history.parent(str(history.parent(full))) is None


@pytest.mark.parametrize(
    "value",
    [
        "not json", '"user-a.md"', "[1]", '["../../outside.md"]', '["/etc/passwd"]', '["a/../b"]',
        '[".git/config"]', '["./a.md"]', '[""]', '["ok.md", "../no.md"]', "{}", "null", "[[]]",
    ],
)  # fmt: skip
def test_a_trailer_that_somebody_made_up_leads_nowhere(value: str) -> None:
    entry = Logged("c", "t", "s", (), ((ID_TRAILER, "m-1"), (FILES_TRAILER, value)))
    assert entry.groups() == []


# --- what a commit says --------------------------------------------------------------------------

ANY = st.text(st.characters() | st.sampled_from("\0\n\r\x1b\u202e\u2028\udc80"), max_size=60)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(fact=ANY, line=ANY, value=ANY)
@example(fact="\0", line="\0\n\n\0", value="\0\nMemory-Id: m-forged")
@example(fact="a\ud800b", line="Memory-Op: forged", value="\udcff")
def test_git_takes_whatever_a_commit_is_to_say_and_each_part_stays_its_own(
    repository: Path, fact: str, line: str, value: str
) -> None:
    history = of(repository)
    about = memory_trailers("add", [("Memory-Session", value)], groups=[["a.md"]], id="m-1")
    message = Message(subject("add", [fact]), [f"add a.md: {line}"], about)
    commit = history.build(history.head(), {}, message)  # of a text that git refuses it raises
    (said,) = log.read(history.repository, "-n1", commit)
    assert said.subject.startswith("memory: add")
    assert "\n" not in said.subject
    assert [name for name, _ in said.trailers] == [name for name, _ in about]
    assert (said.get("Memory-Id"), said.groups()) == ("m-1", [["a.md"]])
    shown = message.text().replace("\n", "")
    assert not [char for char in shown if ord(char) < 32 or char in "\x7f\x85\u202e\u2066\u2028"]


# Who wrote which file, as the commits tell it.


@pytest.mark.parametrize("folder", ["notes/", ""])
def test_who_wrote_each_file_is_told_in_one_walk(repository: Path, folder: str) -> None:
    def commit(text: str, name: str, author: str, *more: str) -> None:
        (repository / "notes").mkdir(exist_ok=True)
        (repository / "notes" / name).write_text(text)
        git(repository, "add", "-A")
        by = f"--author={author} <{author}@example.org>"
        git(repository, "commit", "-q", "-m", "\n\n".join(["one", *more]), by)

    commit("a", "tea.md", "ann", "Memory-Origin: unknown")
    commit("b", "über tea.md", "bob")
    commit("c", "tea.md", "bob")
    git(repository, "switch", "-q", "-c", "side")
    commit("side", "tea.md", "eve")
    commit("s", "side.md", "eve")
    git(repository, "switch", "-q", "-")
    commit("main", "tea.md", "ann")
    found = repositories.find(repository)
    assert found is not None
    names = ("tea.md", "über tea.md", "missing.md")
    linear = {f"notes/{name}": log.list_authors(found, f"notes/{name}") for name in names}
    linear = {path: wrote for path, wrote in linear.items() if wrote}
    assert {k: v for k, v in log.list_all_authors(found, folder).items() if "/" in k} == linear
    assert linear["notes/tea.md"][0] == ("ann@example.org", "unknown")
    git(repository, "merge", "-q", "-s", "ours", "--no-commit", "side")
    commit("both", "tea.md", "mia")
    after = log.list_all_authors(found, folder)
    for name in (*names, "side.md"):
        assert set(log.list_authors(found, f"notes/{name}")) <= set(after.get(f"notes/{name}", []))
    assert ("mia@example.org", "") in after["notes/tea.md"]


# A folder's history becomes a repository's own: what was said of the notes, by whom and when.


Take = Callable[..., Carried]
TOLD = "--format=%an %ae %at %ai|%cn %ce %ct|%B"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Where the history goes: a repository without a commit."""
    folder = tmp_path / "own"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main", "--template=")
    return folder


@pytest.fixture
def old(repository: Path, store: Path) -> Path:
    """The project's repository, with a store in it."""
    return repository


@pytest.fixture
def take(repository: Path, own: Path) -> Take:
    """`take()` carries the history of notes/memory in `repository` to `own`."""

    def run(folder: str = "notes/memory") -> Carried:
        before = sorted((repository / ".git").rglob("*"))
        done = carry_from(repository, own, folder)
        assert sorted((repository / ".git").rglob("*")) == before, "the project was written to"
        return done

    return run


def carry_from(repository: Path, own: Path, folder: str = "notes/memory") -> Carried:
    return carry(
        History(repositories.find(repository), repository / folder), repositories.find(own)
    )


def change(repository: Path, message: str, **files: str | None) -> str:
    for name, text in files.items():
        path = repository / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink() if text is None else path.write_text(text)
    return commit_all(repository, message)


def test_all_that_was_said_stays_and_no_code_comes(old: Path, own: Path, take: Take) -> None:
    change(old, "code alone", src="1")
    change(old, "both\n\nMemory-Id: m-1", src="2", notes__memory__a="one")
    git(old, "commit", "-q", "--amend", "--no-edit", "--author=Zoë <z@x>",
        "--date=2020-01-02T03:04:05+0530")  # fmt: skip
    change(old, "memory: remove a", notes__memory__a=None)
    assert take().head == tip(own)
    assert git(own, "log", TOLD) == git(old, "log", TOLD, "--", "notes/memory")
    assert tip(own, "HEAD^{tree}") == tip(old, "HEAD:notes/memory")
    assert git(own, "ls-tree", "-r", "--name-only", "HEAD~1").split()[0] == "a"
    assert "src" not in git(own, "log", "--name-only", "--format=")


def test_a_side_that_was_not_taken_is_in_the_history(old: Path, own: Path, take: Take) -> None:
    git(old, "switch", "-q", "-c", "side")
    change(old, "thrown away later", notes__memory__side="s")
    git(old, "switch", "-q", "main")
    change(old, "on main", notes__memory__main="m")
    git(old, "merge", "-q", "-s", "ours", "-m", "ours", "side")
    take()
    assert git(own, "rev-list", "--merges", "--count", "HEAD").strip() == "1"
    assert {"thrown away later", "on main"} <= {*git(own, "log", "--format=%s").split("\n")}


def test_the_history_begins_where_the_folder_got_its_name(old: Path, own: Path, take: Take) -> None:
    git(old, "mv", "notes/memory", "kept")
    change(old, "the store moves")
    change(old, "another", kept__b="b")
    take("kept")
    assert git(own, "log", "--format=%s").splitlines() == ["another", "the store moves"]
    assert git(own, "show", "HEAD~1:user-name.md") == git(old, "show", "HEAD:kept/user-name.md")


def test_a_commit_is_named_as_it_is_called_now(old: Path, own: Path, take: Take) -> None:
    first = change(old, "memory: a", notes__memory__a="1")
    code = change(old, "code", src="1")
    said = f"back\n\nThis reverts commit {first}.\n\nSee {code}.\n\nMemory-Checkpoint: {first[:9]}"
    change(old, said, notes__memory__a=None)
    now = take().new[first]
    message = git(own, "log", "-1", "--format=%B")
    assert message == said.replace(first, now).replace(first[:9], now[:9]) + "\n\n"
    history = History(repositories.find(own), own)  # type: ignore[arg-type]
    assert history.list_undone() == {now}


def test_a_signature_stays_behind_and_is_counted(old: Path, own: Path, take: Take) -> None:
    raw = git(old, "cat-file", "commit", "HEAD")
    signed = raw.replace("\n\n", "\ngpgsig -----BEGIN\n \n line\n -----END\n\n", 1)
    id = git(old, "hash-object", "-t", "commit", "-w", "--stdin", text=signed).strip()
    git(old, "reset", "-q", "--soft", id)
    assert take().signed == 1
    assert "gpgsig" not in git(own, "cat-file", "commit", "HEAD")
    git(own, "fsck", "--strict")


def test_a_message_in_another_encoding_keeps_its_bytes(old: Path, own: Path, take: Take) -> None:
    (old / "notes/memory/c").write_text("c")
    git(old, "add", ".")
    words = ["git", "-c", "i18n.commitEncoding=latin-1", "commit", "-q", "-F-"]
    subprocess.run(words, cwd=old, input="Käse".encode("latin-1"), check=True, timeout=HUNG)
    take()
    assert git(own, "log", "-1", "--encoding=UTF-8", "--format=%s") == "Käse\n"


def test_another_branch_has_a_branch_of_its_own(old: Path, own: Path, take: Take) -> None:
    git(old, "branch", "old")
    git(old, "switch", "-q", "-c", "team/idea")
    change(old, "an idea", notes__memory__idea="i")
    git(old, "switch", "-q", "main")
    git(old, "switch", "-q", "-c", "code")
    change(old, "code", src="1")
    git(old, "switch", "-q", "main")
    change(old, "on main", notes__memory__main="m")
    assert [*take().refs] == [f"{FROM}team/idea"]
    assert git(own, "show", "from/team/idea:idea") == "i"


def test_without_a_commit_there_is_no_history(repository: Path, own: Path, take: Take) -> None:
    assert take().head is None
    git(repository, "switch", "-q", "--orphan", "fresh")
    git(repository, "branch", "-q", "-D", "main")
    assert take().head is None


def test_a_shallow_clone_gives_what_it_has(old: Path, own: Path, tmp_path: Path) -> None:
    for number in range(4):
        change(old, f"change {number}", notes__memory__n=str(number))
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth=2", f"file://{old}", str(clone))
    assert carry_from(clone, own).is_shallow
    assert git(own, "log", "--format=%s").split() == "change 3 change 2".split()
    git(own, "fsck", "--strict")


def test_a_repository_that_lacks_bytes_is_refused(old: Path, own: Path, take: Take) -> None:
    blob = tip(old, "HEAD:notes/memory/user-name.md")
    os.unlink(old / ".git" / "objects" / blob[:2] / blob[2:])
    with pytest.raises(GitFailed):
        take()


def test_an_object_folder_with_an_odd_name_is_read(tmp_path: Path) -> None:
    top, own = tmp_path / 'a:b "c\\', tmp_path / "own"
    for folder in (top, own):
        folder.mkdir()
        git(folder, "init", "-q", "--object-format=sha256", "--template=")
        git(folder, "config", "user.name", "A Person")
        git(folder, "config", "user.email", "person@example.com")
    change(top, "first", notes__memory__a="1")
    carry_from(top, own)
    assert git(own, "show", "HEAD:a") == "1"
