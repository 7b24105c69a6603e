"""Whatever is put before it: one sentence, the next step, an exit code, and a store as it was."""

import errno
import io
import json
import os
import shlex
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pace import seldom
from projects import Ask, Git, Patch, Run, Say
from rows import each

from mdmemory.cli import main
from mdmemory.errors import GOING_ON
from mdmemory.hosts.background import Log, Starter
from mdmemory.hosts.opencode.hooks import Hooks
from mdmemory.memory import Memory

ADD = ("add", "three", "--type", "feedback", "--description", "Another thing", "Body three.")
EDIT = ("edit", "one", "--description", "Something else")
REMOVE = ("forget", "one")
EXTRACT = ("extract", "--transcript", "talk.json")
ASKED = {"info": {"id": "msg_1", "role": "user"},
         "parts": [{"type": "text", "text": "remember: the office is in Graz"}]}  # fmt: skip
TALK = {"info": {"id": "ses_1", "title": "Talk"}, "messages": [ASKED]}


def seen(root: Path) -> dict[str, object]:
    """All bytes of the project but our own state; of git the branch, refs and index."""
    files: dict[str, object] = {}
    for folder, folders, names in os.walk(root):
        skipped = {".mdmemory", "objects", "logs", "mdmemory"}
        folders[:] = [name for name in folders if name not in skipped]
        for path in (Path(folder, name) for name in (*folders, *names)):
            if path.is_symlink():
                files[str(path)] = os.readlink(path)
            elif not path.name.startswith("mdmemory.lock"):
                files[str(path)] = path.read_bytes() if path.is_file() else path.stat().st_mode
    return files


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory, begin: Callable[..., None]) -> Path:
    """A project with two notes."""
    root = tmp_path_factory.mktemp("template") / "project"
    user = ("--type", "feedback", "--description")
    one = ("mdmemory", "add", "one", *user, "One thing", "Body one.")
    begin(root, one, ("mdmemory", "add", "two", *user, "Other thing", "Body two."))
    (root / "talk.json").write_text(json.dumps(TALK), encoding="utf-8")
    return root


@pytest.fixture
def store(project: Path) -> Path:
    return project / "notes/memory"


@pytest.fixture
def refused(project: Path, run: Run, monkeypatch: Patch) -> Say:
    """Runs a command that must be refused; what it said. Nothing at all may have changed."""

    def refuse(*words: str, code: int = 1) -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO(""))
        before = seen(project)
        done = run(*words, "--json")
        assert done.code == code
        error = json.loads(done.out)["error"]
        *before_it, said = done.err.splitlines()
        assert said == f"mdmemory: {error['message']} {error['hint']}", "not one line with a step"
        assert all(GOING_ON in line for line in before_it)
        assert error["hint"].endswith((".", "?"))
        assert seen(project) == before
        return done.err

    return refuse


def check_all(refused: Say, commands: tuple[tuple[str, ...], ...], says: str = "") -> None:
    """Each of these commands is refused with these words."""
    for words in commands:
        assert says in refused(*words), words


# --- words that are no command -----------------------------------------------------------------

WRONG = (
    ("frobnicate", "Unknown command: frobnicate."),
    ("lst", "Did you mean `mdmemory list`?"),
    ("mv", "Did you mean `mdmemory rename`?"),
    ("rm", "Did you mean `mdmemory forget`?"),
    ("settings", "Did you mean `mdmemory config`?"),
    ("renmae", "Did you mean `mdmemory rename`?"),
    ("list --frobnicate it.", "Unrecognized arguments: --frobnicate it. Put"),
    ("show", "NAME"),
    ("add x", "NAME with --type and --description"),
    ("log -n many", "many is not a whole number"),
    ("edit one", "Nothing to change."),
    ("add x --type feedback --description d", "The note has no body."),
    ("init --user here", "--user cannot be combined with DIR"),
    ("add x --type feedback --description d --kind guess b", "guess"),
    ("undo -- --all", ""),
)
ABSENT = (
    ("show nothing", "There is no note nothing."),
    ("show feedback-tow", "Near it: feedback-two"),
    ("show ../../mdmemory.toml", "There is no note"),
    ("forget MEMORY.md", "There is no note"),
    ("undo m-00000000", "`mdmemory log` lists them."),
    ("log nothing", "There is no note nothing."),
    ("review nothing keep", "Nothing waits under the id or name nothing."),
    ("extract --transcript nowhere.json", "No such file: nowhere.json."),
    ("compact --plan nowhere.json", "No such file: nowhere.json."),
    ("demo mdmemory.toml", "not an empty folder"),
    ("demo .", "not an empty folder"),
)


@pytest.mark.parametrize(("rows", "code"), [(WRONG, 2), (ABSENT, 1)], ids=["wrong", "absent"])
def test_a_wrong_command_says_how_it_is_right_and_what_is_not_there_is_named(
    refused: Say, rows: tuple[tuple[str, str], ...], code: int
) -> None:
    def check(words: str, says: str) -> None:
        assert says in refused(*shlex.split(words), code=code)

    each(rows, check)


NO_NOTES = (
    ("Has Spaces", "feedback", "d", "b", "has-spaces"),
    ("../escape", "feedback", "d", "b", "not a note's name"),
    ("a" * 81, "feedback", "d", "b", f"Use {'a' * 80}."),
    ("x", "fact", "d", "b", "user, feedback, project, reference"),
    ("x", "feedback", "two\nlines", "b", "one line"),
    ("x", "feedback", "d" * 221, "b", "220"),
    ("x", "feedback", " ", "b", "description"),
    ("x", "feedback", "d\u202ed", "b", "description"),
    ("x", "feedback", "d", " ", "body is empty"),
    ("x", "feedback", "d", "b" * 20_001, "20"),
    ("x", "feedback", "d", "b\x00b", "control characters"),
    ("x", "feedback", "d", "---\nname: y\n---\nb", "---"),
    ("x", "feedback", "d", "<<<<<<< ours\nb", "conflict"),
    ("x", "feedback", "d", "password: hunter2hunter2", "secret"),
    ("x", "feedback", "key ghp_" + "a1B2" * 9, "b", "secret"),
)


def test_a_note_that_must_not_be_is_not_written(refused: Say) -> None:
    def check(name: str, type: str, description: str, body: str, says: str) -> None:
        assert says in refused("add", name, "--type", type, "--description", description, body)

    each(NO_NOTES, check)


# --- notes that are no good notes --------------------------------------------------------------

HEAD = "---\nname: odd\ndescription: An odd note\nmetadata:\n  type: user\n---\n\n"
UNREADABLE = {"binary": b"\xff\xfe\x00\x01binary", "huge": b"a" * (4 * 1024 * 1024 + 1)}
# Each can be read, at least in part.
ODD = {
    "empty": b"",
    "blank": b"\n\n",
    "duplicate-keys": b"---\nname: odd\nname: even\ndescription: x\n---\n\nText\n",
    "alias-bomb": b"---\na: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nname: *c\n---\n\nText\n",
    "deep": b"---\nname: " + b"[" * 500 + b"]" * 500 + b"\n---\n\nDeep text\n",
    "never-closed": b"---\nname: odd\ndescription: x\nText\n",
    "huge-head": b"---\n" + b"key: value\n" * 2000 + b"---\n\nText under a huge head\n",
    "tag": b"---\nname: !!python/object/apply:os.system [id]\n---\n\nText of a tag\n",
    "bidi": "---\nname: hidden\ndescription: a \u202e b\n---\n\nHidden\n".encode(),
    "one-long-line": b"x" * 100_000,
}
UNUSUAL = {  # and nothing is wrong with these
    "bom": b"\xef\xbb\xbf" + HEAD.encode() + b"After a byte order mark\n",
    "crlf": (HEAD + "With these line ends\n").replace("\n", "\r\n").encode(),
    "no-final-newline": HEAD.encode() + b"Without an end",
}


@pytest.mark.parametrize("data", UNREADABLE.values(), ids=UNREADABLE)
def test_an_unreadable_note_is_listed_as_such_and_left_alone_and_to_show_it_says_why(
    store: Path, refused: Say, ask: Ask, fail: Say, data: bytes
) -> None:
    (store / "odd.md").write_bytes(data)
    main(["index"])
    keep = ("review", "odd", "keep")
    check_all(refused, (("edit", "odd", "--description", "d"), ("forget", "odd"), keep))
    assert [row["status"] for row in ask("list") if row["file"] == "odd.md"] == ["unreadable"]
    assert fail("show", "odd").endswith(" Open the file itself.\n")


@pytest.mark.slow
def test_bad_notes_stop_no_other_and_keep_their_bytes(store: Path, ask: Ask) -> None:
    notes = {f"{stem}.md": data for stem, data in {**UNREADABLE, **ODD, **UNUSUAL}.items()}
    for file, data in notes.items():
        (store / file).write_bytes(data)
    assert {row["file"] for row in ask("list")} >= set(notes)
    for words in (ADD, EDIT, REMOVE, EXTRACT, ("compact",), ("undo",), ("index",)):
        ask(*words)
        assert {file: (store / file).read_bytes() for file in notes} == notes, words
    named = {row["path"] for row in ask("doctor")["findings"]}
    assert named >= {f"{stem}.md" for stem in (*UNREADABLE, *ODD)}
    index = (store / "MEMORY.md").read_text(encoding="utf-8")
    assert all(index.count(f"]({file})") <= 1 for file in notes)
    assert "\u202e" not in index
    assert len(index) <= 8000


def test_an_edit_of_an_unusual_note_keeps_its_form(store: Path, ask: Ask) -> None:
    path = store / "odd.md"

    def check(data: bytes) -> None:
        path.write_bytes(data)
        ask("edit", "odd.md", "--description", "Edited")
        edited = path.read_bytes()
        assert edited.startswith(data[:3])
        assert edited.endswith(data[-8:])
        assert (b"\r\n" in edited) == (b"\r\n" in data) == (b"\r" in data)
        ask("undo")
        assert path.read_bytes() == data

    each(UNUSUAL.values(), check)


def test_links_folders_and_pipes_are_no_notes(
    store: Path, refused: Say, ask: Ask, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text(HEAD + "Text\n", encoding="utf-8")
    (store / "link.md").symlink_to(outside)
    (store / "loop.md").symlink_to("loop.md")
    (store / "folder.md").mkdir()
    os.mkfifo(store / "pipe.md")
    assert [row["file"] for row in ask("list")] == ["feedback-one.md", "feedback-two.md"]
    paths = {row["path"] for row in ask("doctor")["findings"]}
    assert paths >= {"link.md", "loop.md", "folder.md", "pipe.md"}
    for name in ("link", "loop", "folder", "pipe"):
        check_all(refused, (("forget", name), ("edit", name, "--description", "d")))
    # a name that is taken by something else is not written over, nor through
    assert ask("add", "link", "--type", "feedback", "--description", "d", "b")["file"]
    assert outside.read_text(encoding="utf-8") == HEAD + "Text\n"


def test_a_note_with_a_secret_is_held_back(store: Path, refused: Say, ask: Ask, git: Git) -> None:
    (store / "odd.md").write_text(HEAD + "password: hunter2hunter2\n", encoding="utf-8")
    assert [row["status"] for row in ask("list") if row["file"] == "odd.md"] == ["held"]
    check_all(refused, (("forget", "odd"), ("edit", "odd", "--description", "d")), "on hold")
    check_all(refused, (("forget", "odd"), ("edit", "odd", "--description", "d")), "s: allowed")
    ask(*ADD)
    assert ask("compact")["checkpoint"] is None
    assert "odd.md" not in git(store, "log", "--all", "--name-only", "--format=")
    index = (store / "MEMORY.md").read_text(encoding="utf-8")
    assert "1 note held back" in index
    assert "hunter2" not in index
    assert "(odd.md)" not in index


# --- a store that is not as it should be -------------------------------------------------------


def test_no_store_says_how_to_make_one(
    project: Path, fail: Say, monkeypatch: Patch, tmp_path: Path
) -> None:
    (empty := tmp_path / "empty").mkdir()
    monkeypatch.chdir(empty)
    said = f"mdmemory: There is no memory store for {empty}. Make one: `mdmemory init`.\n"
    for words in (("list",), REMOVE, ("compact",), ("log",)):
        assert fail(*words) == said
    assert "`mdmemory setup` connects your assistants.\n" in fail("status")
    assert "`mdmemory import a --yes` makes it.\n" in fail("import", "a")
    assert list(empty.iterdir()) == []


def test_a_store_that_is_none_is_named(refused: Say) -> None:
    for store in ("nowhere", "mdmemory.toml", "notes/memory/feedback-one.md"):
        said = refused("list", "--store", store)
        assert store in said
        assert "`mdmemory init`" in said or "is a file, not a folder" in said


def test_a_store_that_was_removed_is_not_made_again_in_silence(store: Path, refused: Say) -> None:
    shutil.rmtree(store)
    check_all(refused, (("list",), ADD, REMOVE, ("compact",), ("index",)), "mdmemory.toml names it")


def test_a_store_that_is_a_link_is_not_followed(store: Path, refused: Say, tmp_path: Path) -> None:
    store.rename(tmp_path / "elsewhere")
    store.symlink_to(tmp_path / "elsewhere")
    commands = (("list",), ADD, REMOVE, ("compact",), ("index",), ("init",))
    check_all(refused, commands, "symbolic link")


SETTINGS = (
    ('base_url = "http://evil.example"', "config.toml"),
    ('planner = "offline"', "config.toml"),
    ('editor = "rm -rf"', "config.toml"),
    ('store = "../outside"', "inside the project"),
    ('store = "/etc"', "inside the project"),
    ('stor = "x"', "Did you mean store?"),
    ('store = "a" "b"', "not valid TOML"),
    ("index = 3", "Unknown setting index"),
)


def test_a_project_setting_that_must_not_be_stops_everything(project: Path, refused: Say) -> None:
    def check(text: str, says: str) -> None:
        (project / "mdmemory.toml").write_text(text + "\n", encoding="utf-8")
        check_all(refused, (("list",), ADD, ("compact",), ("init",)), says)

    each(SETTINGS, check)


def test_init_takes_no_file_for_a_folder_and_no_store_outside(project: Path, refused: Say) -> None:
    check_all(refused, (("init", "talk.json"), ("init", "talk.json/below")), "talk.json")
    (project / "fresh").mkdir()
    for store in ("/outside", "../outside", "~/outside", 'quo"te'):
        refused("init", "fresh", "--store", store)


def test_somebodys_own_index_is_left_alone(store: Path, refused: Say) -> None:
    (store / "MEMORY.md").write_text("My own list.\n", encoding="utf-8")
    check_all(refused, (ADD, EDIT, REMOVE, ("index",)), "`mdmemory init")


@pytest.mark.parametrize("name", ["MEMORY.md", "_MORE.md"])
def test_a_folder_under_one_of_our_names_is_named(store: Path, refused: Say, name: str) -> None:
    (store / name).unlink(missing_ok=True)
    (store / name).mkdir()
    check_all(refused, (ADD, ("index",)), name)


def test_corrupt_state_is_moved_aside_and_costs_no_note(project: Path, run: Run, ask: Ask) -> None:
    for name in ("state.db", "catalog"):
        (project / ".mdmemory" / name).write_bytes(b"\x00 not what it should be " * 400)
    assert len(ask("list")) == 2
    done = run("compact")
    assert (done.code, "moved to state.db.aside-1" in done.err) == (0, True)
    ask(*ADD)
    assert len(ask("list")) == 3


# --- git that is not there, or not ready -------------------------------------------------------


def test_without_git_reading_adding_and_editing_work_and_nothing_is_destroyed(
    project: Path, store: Path, refused: Say, ask: Ask, monkeypatch: Patch
) -> None:
    monkeypatch.setenv("PATH", str(project / "no-such-folder"))
    check_all(refused, (REMOVE, ("compact",), ("undo",), ("log",), ("log", "-p")), "Install git")
    old = (store / "feedback-one.md").read_bytes()
    assert ask(*ADD)["commit"] is None
    assert ask(*EDIT)["commit"] is None
    assert old in [path.read_bytes() for path in (project / ".mdmemory/aside").iterdir()]
    assert len(ask("list")) == 3
    assert ask("status")["git"] == "none"
    assert ask("doctor")["ok"]
    assert ask(*EXTRACT)["added"]
    assert ask("compact", "--dry-run")["outcome"] == "dry_run"


def detached(root: Path, git: Git) -> None:
    git(root, "checkout", "-q", "--detach")


def merging(root: Path, git: Git) -> None:
    (root / ".git/MERGE_HEAD").write_text(git(root, "rev-parse", "HEAD"))


def rebasing(root: Path, git: Git) -> None:
    (root / ".git/rebase-merge").mkdir()


def index_locked(root: Path, git: Git) -> None:
    (root / ".git/index.lock").touch()


@pytest.mark.parametrize(
    "spoil", [detached, merging, rebasing, pytest.param(index_locked, marks=pytest.mark.slow)]
)
def test_in_the_middle_of_something_nothing_is_destroyed_and_nothing_is_lost(
    project: Path, refused: Say, ask: Ask, git: Git, monkeypatch: Patch,
    spoil: Callable[[Path, Git], None],
) -> None:  # fmt: skip
    spoil(project, git)
    monkeypatch.setattr("mdmemory.git.repositories.PATIENCE", 0.1)
    check_all(refused, (REMOVE, ("compact",), ("undo",)))
    head = git(project, "rev-parse", "HEAD")
    assert ask(*ADD)["commit"] is None
    assert ask(*EDIT)["commit"] is None
    assert len(ask("list")) == 3
    assert git(project, "rev-parse", "HEAD") == head


def test_without_an_identity_a_note_is_committed_as_ours(project: Path, ask: Ask, git: Git) -> None:
    for name in ("user.name", "user.email"):
        git(project, "config", "--unset", name)
    git(project, "config", "user.useConfigOnly", "true")
    assert ask(*ADD)["commit"]
    assert git(project, "log", "-1", "--format=%an <%ae>") == "mdmemory <mdmemory@localhost>\n"


def test_what_git_ignores_is_not_added(project: Path, store: Path, refused: Say, ask: Ask) -> None:
    (project / ".gitignore").write_text("feedback-three.md\n")
    check_all(refused, (ADD,), "git check-ignore")
    (store / "feedback-three.md").write_text(HEAD + "Text\n", encoding="utf-8")
    main(["index"])
    edit = ("edit", "feedback-three", "--description", "d")
    check_all(refused, (("forget", "feedback-three"), edit), "git check-ignore")
    assert "feedback-three.md" in [row["path"] for row in ask("doctor")["findings"]]


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_a_note_that_git_is_told_not_to_see_is_not_touched(
    store: Path, refused: Say, ask: Ask, git: Git, flag: str
) -> None:
    path = store / "feedback-one.md"
    git(store, "update-index", flag, str(path))
    path.write_text(path.read_text(encoding="utf-8") + "\nBy hand.\n", encoding="utf-8")
    main(["index"])
    check_all(refused, (EDIT, REMOVE), "git ls-files -v")
    assert [row["check"] for row in ask("doctor")["findings"]] == ["unseen"]


def test_an_ignored_store_is_not_begun(project: Path, refused: Say) -> None:
    (project / "fresh").mkdir()
    (project / "fresh/.gitignore").write_text("/notes\n")
    said = refused("init", "fresh", "--shared")
    assert "git ignores" in said
    assert "--here" in said


# --- a disk that says no -----------------------------------------------------------------------


def read_only(root: Path, monkeypatch: Patch) -> None:
    # not by permissions: the superuser, whom tests may run as, passes over those
    real_open, real_mkdir = os.open, os.mkdir

    def refuse(path: object, writes: int) -> None:
        if writes and str(path).startswith(str(root)):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    def refusing_open(path: Any, flags: int, *more: Any, **named: Any) -> int:
        refuse(path, flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        return real_open(path, flags, *more, **named)

    def refusing_mkdir(path: Any, *more: Any, **named: Any) -> None:
        refuse(path, True)
        real_mkdir(path, *more, **named)

    monkeypatch.setattr(os, "open", refusing_open)
    monkeypatch.setattr(os, "mkdir", refusing_mkdir)


def test_a_read_only_folder_is_read_and_not_written(
    project: Path, refused: Say, ask: Ask, monkeypatch: Patch
) -> None:
    (project / "notes/memory/odd.md").write_text(HEAD + "Text\n", encoding="utf-8")
    read_only(project, monkeypatch)
    assert len(ask("list")) == 3
    assert ask("show", "odd")["body"] == "Text"
    fresh = ("init", str(project / "fresh"), "--shared")
    check_all(refused, (ADD, EDIT, REMOVE, ("index",), fresh), "read-only")


def test_a_full_disk_changes_nothing(refused: Say, monkeypatch: Patch) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    check_all(refused, (ADD, EDIT, REMOVE), "Free some space")


# --- plans and transcripts ---------------------------------------------------------------------


def delete(*files: str) -> str:
    return json.dumps({"ops": [{"op": "delete", "file": f, "reason": "r"} for f in files]})


REWRITE = {"op": "rewrite", "file": "feedback-one.md", "body": "password: hunter2hunter2"}
PLANS = (
    ("I would merge the first two.", "unparsable"), ("[]", "schema"),
    (delete("x.md"), "unknown_file"),
    ('{"ops": [], "ops": []}', "duplicate_key"), (delete("MEMORY.md"), "bad_name"),
    (delete("feedback-one.md", "feedback-two.md"), "empties_store"),
    (json.dumps({"ops": [REWRITE]}), "secret"),
)  # fmt: skip


def test_a_bad_plan_changes_nothing_and_is_kept_to_look_at(project: Path, run: Run) -> None:
    def check(text: str, code: str) -> None:
        (project / "plan.json").write_text(text)
        before = seen(project)
        done = run("compact", "--plan", "plan.json", "--json")
        assert (done.code, done.err) == (1, "")
        answer = json.loads(done.out)
        assert (answer["outcome"], answer["commit"]) == ("refused", None)
        assert code in [refusal["code"] for refusal in answer["refusals"]]
        assert all({*refusal} == {"code", "message"} for refusal in answer["refusals"])
        assert seen(project) == before
        (kept,) = (project / ".mdmemory/refused").iterdir()
        assert "hunter2" not in kept.read_text(encoding="utf-8")
        kept.unlink()

    each(PLANS, check)


def test_a_plan_that_is_none_names_file_flaw_and_next_step(project: Path, say: Say) -> None:
    (project / "plan.json").write_text('{"ops": 5}')
    assert say("compact", "--plan", "plan.json", code=1) == (
        'plan.json: This is no plan: `ops` has to be a list. Give `{"ops": [...]}`.\n'
        "The plan was refused; nothing changed. Correct plan.json and run it again.\n"
    )
    (project / "plan.json").write_text(json.dumps({"ops": [{**REWRITE, "body": ""}]}))
    assert "Correct plan.json" in say("compact", "--plan", "plan.json", code=1), "op by op"


def test_a_bad_transcript_is_one_sentence(project: Path, refused: Say) -> None:
    empty = (b"", b"{}", b"[]", b'{"info": 3, "messages": 4}')
    for data in (*empty, b"not JSON", b"\xff\xfe", b"{" * 9999):
        (project / "bad.json").write_bytes(data)
        assert "opencode export" in refused("extract", "--transcript", "bad.json"), data[:12]


@pytest.mark.parametrize(
    ("words", "make"),
    [("extract --transcript", os.mkdir), ("extract --transcript", os.mkfifo),
     ("compact --plan", os.mkdir)],
)  # fmt: skip
def test_a_folder_or_an_idle_pipe_is_no_input(
    refused: Say, words: str, make: Callable[[str], None]
) -> None:
    make("input")
    said = refused(*words.split(), "input")
    assert "out of the store" not in said, "a step that fits a note, not this file"


# --- whatever lies in the place of our own state -------------------------------------------------

STATE = ".mdmemory/state.db"
READING = (("list",), ("search", "one"), ("status",), ("log",), ("review",))
WRITING = (
    ("compact", "--if-due"), ("compact",), EXTRACT, ADD, EDIT, ("forget", "two"), ("undo",),
    ("init",),
)  # fmt: skip
WAYS = (
    "linked file", "link to nothing", "linked folder", "linked parts", "pipe", "folder", "foreign",
    "file for folder", "tracked",
)  # fmt: skip


def database(path: Path) -> None:
    with sqlite3.connect(path) as theirs:
        theirs.execute("CREATE TABLE theirs (x)")
    theirs.close()


def put(way: str, root: Path, outside: Path) -> None:
    """Something in the place of our state; `outside` is a folder beside the project."""
    private, state = root / ".mdmemory", root / STATE
    state.unlink(missing_ok=True)
    match way:
        case "linked file":
            database(outside / "app.db")
            state.symlink_to(outside / "app.db")
        case "link to nothing":
            state.symlink_to(outside / "fresh.db")
        case "linked folder":
            shutil.rmtree(private)
            private.symlink_to(outside)
        case "linked parts":
            for name in ("state.db-wal", "search.db", ".gitignore", "bridge.log"):
                (private / name).unlink(missing_ok=True)
                (private / name).symlink_to(outside / name)
            for name in ("outputs", "refused", "aside", "waiting"):
                (private / name).symlink_to(outside)
        case "pipe":
            os.mkfifo(state)
        case "folder":
            state.mkdir()
        case "file for folder":
            shutil.rmtree(private)
            private.write_text("mine", encoding="utf-8")
        case "foreign" | "tracked":
            database(state)
    if way == "tracked":
        (private / "catalog").write_text("planted", encoding="utf-8")
        subprocess.run(["git", "add", "-f", ".mdmemory"], cwd=root, check=True)


def bytes_in(outside: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in outside.iterdir()}


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    return tmp_path / "outside"


@pytest.mark.parametrize("way", seldom(WAYS, 4))
def test_every_command_goes_on_without_state_and_says_so_once(
    project: Path, outside: Path, way: str, run: Run, monkeypatch: Patch
) -> None:
    put(way, project, outside)
    before = bytes_in(outside)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    for words in (*READING, *WRITING):
        code, out, err = run(*words, "--json")
        assert (code, "error" in json.loads(out)) == (0, False), (words, err)
        assert err.count(GOING_ON) <= 1
        if words[0] in ("status", "compact", "extract"):
            assert GOING_ON in err, words
            assert any(f"`{step} " in err for step in ("rm", "mv", "git rm -r --cached"))
    assert bytes_in(outside) == before
    code, out, _ = run("doctor", "--json")
    found = json.loads(out)["findings"]
    assert (code, "state" in {each["check"] for each in found}) == (1, True)


@pytest.mark.parametrize("way", seldom(WAYS, 4))
def test_the_bridge_goes_on_without_state(project: Path, outside: Path, way: str) -> None:
    put(way, project, outside)
    before, log = bytes_in(outside), Log()
    start = Starter(lambda: ["false"], project)
    methods = Hooks(lambda: Memory.around(project, tell=log.say), start, log).methods()
    part = {"type": "text", "text": "Remember that deploys go out on Tuesdays only."}
    asked = {"session": "ses_1", "message": "msg_1", "parts": [part]}
    assert "asks to remember" in methods["message"](asked)["parts"][0]
    for method in ("system", "tool", "compacting"):
        methods[method]({"session": "ses_1", "tool": "bash", "call": "c", "output": "x\n" * 900})
    methods["message"](asked | {"message": "msg_2", "parts": [{"type": "text", "text": "hello"}]})
    assert (project / "notes/memory/project-deploys-go-out-on-tuesdays.md").is_file()
    assert bytes_in(outside) == before


def test_what_a_repository_brings_as_the_heads_of_notes_is_not_believed(
    project: Path, git: Git, say: Say
) -> None:
    say("list")
    catalog = project / ".mdmemory/catalog"
    assert b"One thing" in catalog.read_bytes()
    git(project, "add", "-f", ".mdmemory")
    stamp = catalog.stat().st_mtime_ns
    (project / "notes/memory/feedback-one.md").write_text("Another text.\n", encoding="utf-8")
    assert "Another text." in say("list")
    assert catalog.stat().st_mtime_ns == stamp
