"""Whatever is put before it: one sentence, the next step, an exit code, and a store as it was."""

import errno
import io
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pace import seldom

from mdmemory.cli import main
from mdmemory.errors import GOING_ON

ADD = ("add", "three", "--type", "feedback", "--description", "Another thing", "Body three.")
EDIT = ("edit", "one", "--description", "Something else")
REMOVE = ("forget", "one")
EXTRACT = ("extract", "--transcript", "talk.json")


@dataclass(frozen=True)
class Bench:
    """A project with two notes, and what a test may do to it."""

    root: Path
    git: Callable[..., str]
    monkeypatch: pytest.MonkeyPatch

    @property
    def store(self) -> Path:
        return self.root / "notes/memory"

    def write(self, name: str, data: bytes | str) -> Path:
        path = self.root / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    def seen(self) -> dict[str, object]:
        """All bytes of the project but our own state; of git the branch, refs and index."""
        files: dict[str, object] = {}
        for folder, folders, names in os.walk(self.root):
            skipped = {".mdmemory", "objects", "logs", "mdmemory"}
            folders[:] = [name for name in folders if name not in skipped]
            for path in (Path(folder, name) for name in (*folders, *names)):
                if path.is_symlink():
                    files[str(path)] = os.readlink(path)
                elif not path.name.startswith("mdmemory.lock"):
                    files[str(path)] = path.read_bytes() if path.is_file() else path.stat().st_mode
        return files


TALK = {
    "info": {"id": "ses_1", "title": "Talk"},
    "messages": [
        {"info": {"id": "msg_1", "role": "user"},
         "parts": [{"type": "text", "text": "remember: the office is in Graz"}]}
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory, begin: Callable[..., None]) -> Path:
    root = tmp_path_factory.mktemp("template") / "project"
    user = ("--type", "feedback", "--description")
    begin(
        root,
        ("mdmemory", "add", "one", *user, "One thing", "Body one."),
        ("mdmemory", "add", "two", *user, "Other thing", "Body two."),
    )
    (root / "talk.json").write_text(json.dumps(TALK), encoding="utf-8")
    return root


@pytest.fixture
def bench(project: Path, monkeypatch: pytest.MonkeyPatch, git: Callable[..., str]) -> Bench:
    return Bench(project, git, monkeypatch)


@pytest.fixture
def refused(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., str]:
    """Runs a command that must be refused; what it said. Nothing at all may have changed."""

    def run(*words: str, code: int = 1) -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO(""))
        before = bench.seen()
        capsys.readouterr()
        assert main([*words, "--json"]) == code
        out, err = capsys.readouterr()
        error = json.loads(out)["error"]
        *before_it, said = err.splitlines()
        assert said == f"mdmemory: {error['message']} {error['hint']}", "not one line with a step"
        assert all(GOING_ON in line for line in before_it)
        assert error["hint"].endswith((".", "?"))
        assert bench.seen() == before
        return err

    return run


@pytest.fixture
def told(bench: Bench, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs a command that must go on; its answer."""

    def run(*words: str) -> Any:
        capsys.readouterr()
        assert main([*words, "--json"]) == 0, capsys.readouterr().err
        out, err = capsys.readouterr()
        assert err == ""
        return json.loads(out)

    return run


# --- words that are no command -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("frobnicate",), "Unknown command: frobnicate."),
        (("lst",), "Did you mean `mdmemory list`?"),
        (("list", "--frobnicate"), "Unrecognized arguments: --frobnicate."),
        (("show",), "NAME"),
        (("add", "x"), "NAME with --type and --description"),
        (("log", "-n", "many"), "many is not a whole number"),
        (("edit", "one"), "Nothing to change."),
        (("add", "x", "--type", "feedback", "--description", "d"), "The note has no body."),
        (("init", "--user", "here"), "--user cannot be combined with DIR"),
        (("add", "x", "--type", "feedback", "--description", "d", "--kind", "guess", "b"), "guess"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_wrong_command_says_how_it_is_right(
    refused: Callable[..., str], words: tuple[str, ...], says: str
) -> None:
    assert says in refused(*words, code=2)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("show", "nothing"), "There is no note nothing."),
        (("show", "feedback-tow"), "Near it: feedback-two"),
        (("show", "../../mdmemory.toml"), "There is no note"),
        (("forget", "MEMORY.md"), "There is no note"),
        (("undo", "m-00000000"), "`mdmemory log` lists them."),
        (("undo", "--", "--all"), ""),
        (("log", "nothing"), "There is no note nothing."),
        (("review", "nothing", "keep"), "Nothing waits under the id or name nothing."),
        (("extract", "--transcript", "nowhere.json"), "No such file: nowhere.json."),
        (("compact", "--plan", "nowhere.json"), "No such file: nowhere.json."),
        (("demo", "mdmemory.toml"), "not an empty folder"),
        (("demo", "."), "not an empty folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_is_not_there_is_named(
    refused: Callable[..., str], words: tuple[str, ...], says: str
) -> None:
    assert says in refused(*words, code=2 if "--" in words else 1)


@pytest.mark.parametrize(
    ("name", "type", "description", "body", "says"),
    [
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
    ],
)
def test_a_note_that_must_not_be_is_not_written(
    refused: Callable[..., str], name: str, type: str, description: str, body: str, says: str
) -> None:
    assert says in refused("add", name, "--type", type, "--description", description, body)


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
@pytest.mark.parametrize(
    "words",
    [("edit", "odd", "--description", "d"), ("forget", "odd"), ("review", "odd", "keep")],
    ids=lambda words: words[0],
)
def test_an_unreadable_note_is_left_alone(
    bench: Bench, refused: Callable[..., str], data: bytes, words: tuple[str, ...]
) -> None:
    (bench.store / "odd.md").write_bytes(data)
    main(["index"])
    refused(*words)


@pytest.mark.slow
def test_bad_notes_stop_no_other_and_keep_their_bytes(
    bench: Bench, told: Callable[..., Any]
) -> None:
    notes = {f"{stem}.md": data for stem, data in {**UNREADABLE, **ODD, **UNUSUAL}.items()}
    for file, data in notes.items():
        (bench.store / file).write_bytes(data)
    assert {row["file"] for row in told("list")} >= set(notes)
    for words in (ADD, EDIT, REMOVE, EXTRACT, ("compact",), ("undo",), ("index",)):
        told(*words)
        assert {file: (bench.store / file).read_bytes() for file in notes} == notes, words
    named = {row["path"] for row in told("doctor")["findings"]}
    assert named >= {f"{stem}.md" for stem in (*UNREADABLE, *ODD)}
    index = (bench.store / "MEMORY.md").read_text(encoding="utf-8")
    for file in notes:
        assert index.count(f"]({file})") <= 1
    assert "\u202e" not in index
    assert len(index) <= 8000


@pytest.mark.parametrize("data", seldom(UNUSUAL.values(), 3), ids=UNUSUAL)
def test_an_edit_of_an_unusual_note_keeps_its_form(
    bench: Bench, told: Callable[..., Any], data: bytes
) -> None:
    path = bench.store / "odd.md"
    path.write_bytes(data)
    told("edit", "odd.md", "--description", "Edited")
    edited = path.read_bytes()
    assert edited.startswith(data[:3])
    assert edited.endswith(data[-8:])
    assert (b"\r\n" in edited) == (b"\r\n" in data) == (b"\r" in data)
    told("undo")
    assert path.read_bytes() == data


@pytest.mark.parametrize("data", seldom(UNREADABLE.values(), 3), ids=UNREADABLE)
def test_an_unreadable_note_is_listed_as_such_and_to_show_it_says_why(
    bench: Bench, told: Callable[..., Any], capsys: pytest.CaptureFixture[str], data: bytes
) -> None:
    (bench.store / "odd.md").write_bytes(data)
    row = next(row for row in told("list") if row["file"] == "odd.md")
    assert row["status"] == "unreadable"
    assert main(["show", "odd"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith(" Open the file itself.\n")


def test_links_folders_and_pipes_are_no_notes(
    bench: Bench, refused: Callable[..., str], told: Callable[..., Any], tmp_path: Path
) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text(HEAD + "Text\n", encoding="utf-8")
    (bench.store / "link.md").symlink_to(outside)
    (bench.store / "loop.md").symlink_to("loop.md")
    (bench.store / "folder.md").mkdir()
    os.mkfifo(bench.store / "pipe.md")
    assert [row["file"] for row in told("list")] == ["feedback-one.md", "feedback-two.md"]
    paths = {row["path"] for row in told("doctor")["findings"]}
    assert paths >= {"link.md", "loop.md", "folder.md", "pipe.md"}
    for name in ("link", "loop", "folder", "pipe"):
        refused("forget", name)
        refused("edit", name, "--description", "d")
    # a name that is taken by something else is not written over, nor through
    assert told("add", "link", "--type", "feedback", "--description", "d", "b")["file"]
    assert outside.read_text(encoding="utf-8") == HEAD + "Text\n"


def test_a_note_with_a_secret_is_held_back(
    bench: Bench, refused: Callable[..., str], told: Callable[..., Any]
) -> None:
    (bench.store / "odd.md").write_text(HEAD + "password: hunter2hunter2\n", encoding="utf-8")
    assert [row["status"] for row in told("list") if row["file"] == "odd.md"] == ["held"]
    for words in (("forget", "odd"), ("edit", "odd", "--description", "d")):
        assert "secrets: allowed" in refused(*words)
    told(*ADD)
    assert told("compact")["checkpoint"] is None
    assert "odd.md" not in bench.git(bench.root, "log", "--all", "--name-only", "--format=")
    assert "hunter2" not in (bench.store / "MEMORY.md").read_text(encoding="utf-8")


# --- a store that is not as it should be -------------------------------------------------------


@pytest.mark.parametrize("words", [("list",), REMOVE, ("compact",), ("log",), ("status",)])
def test_no_store_says_how_to_make_one(
    bench: Bench,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    words: tuple[str, ...],
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    assert main(words) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        f"mdmemory: There is no memory store for {empty}. Make one: `mdmemory init`.\n"
    )
    assert list(empty.iterdir()) == []


@pytest.mark.parametrize("store", ["nowhere", "mdmemory.toml", "notes/memory/feedback-one.md"])
def test_a_store_that_is_none_is_named(refused: Callable[..., str], store: str) -> None:
    said = refused("list", "--store", store)
    assert store in said
    assert "`mdmemory init`" in said or "is a file, not a folder" in said


def test_a_store_that_was_removed_is_not_made_again_in_silence(
    bench: Bench, refused: Callable[..., str]
) -> None:
    shutil.rmtree(bench.store)
    for words in (("list",), ADD, REMOVE, ("compact",), ("index",)):
        assert "mdmemory.toml names it" in refused(*words)


def test_a_store_that_is_a_link_is_not_followed(
    bench: Bench, refused: Callable[..., str], tmp_path: Path
) -> None:
    bench.store.rename(tmp_path / "elsewhere")
    bench.store.symlink_to(tmp_path / "elsewhere")
    for words in (("list",), ADD, REMOVE, ("compact",), ("index",), ("init",)):
        assert "symbolic link" in refused(*words)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('base_url = "http://evil.example"', "config.toml"),
        ('planner = "offline"', "config.toml"),
        ('editor = "rm -rf"', "config.toml"),
        ('store = "../outside"', "inside the project"),
        ('store = "/etc"', "inside the project"),
        ('stor = "x"', "Did you mean store?"),
        ('store = "a" "b"', "not valid TOML"),
        ("index = 3", "Unknown setting index"),
    ],
)
def test_a_project_setting_that_must_not_be_stops_everything(
    bench: Bench, refused: Callable[..., str], text: str, says: str
) -> None:
    bench.write("mdmemory.toml", text + "\n")
    for words in (("list",), ADD, ("compact",), ("init",)):
        assert says in refused(*words)


@pytest.mark.parametrize("words", [("init", "talk.json"), ("init", "talk.json/below")])
def test_init_does_not_take_a_file_for_a_folder(
    refused: Callable[..., str], words: tuple[str, ...]
) -> None:
    assert "talk.json" in refused(*words)


@pytest.mark.parametrize("store", ["/outside", "../outside", "~/outside", 'quo"te'])
def test_init_keeps_the_store_inside_the_project(
    bench: Bench, refused: Callable[..., str], store: str
) -> None:
    (bench.root / "fresh").mkdir()
    refused("init", "fresh", "--store", store)


def test_somebodys_own_index_is_left_alone(bench: Bench, refused: Callable[..., str]) -> None:
    (bench.store / "MEMORY.md").write_text("My own list.\n", encoding="utf-8")
    for words in (ADD, EDIT, REMOVE, ("index",)):
        assert "`mdmemory init" in refused(*words)


@pytest.mark.parametrize("name", ["MEMORY.md", "_MORE.md"])
def test_a_folder_under_one_of_our_names_is_named(
    bench: Bench, refused: Callable[..., str], name: str
) -> None:
    (bench.store / name).unlink(missing_ok=True)
    (bench.store / name).mkdir()
    for words in (ADD, ("index",)):
        assert name in refused(*words)


# --- our own state -----------------------------------------------------------------------------


def test_corrupt_state_is_moved_aside_and_costs_no_note(
    bench: Bench, told: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    private = bench.root / ".mdmemory"
    for name in ("state.db", "catalog"):
        (private / name).write_bytes(b"\x00 not what it should be " * 400)
    assert len(told("list")) == 2
    assert main(["compact"]) == 0
    assert "moved to state.db.aside-1" in capsys.readouterr().err
    told(*ADD)
    assert len(told("list")) == 3


# --- git that is not there, or not ready -------------------------------------------------------


@pytest.fixture
def no_git(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    bench.monkeypatch.setenv("PATH", str(tmp_path / "bin"))


@pytest.mark.usefixtures("no_git")
def test_without_git_nothing_is_destroyed(refused: Callable[..., str]) -> None:
    for words in (REMOVE, ("compact",), ("undo",), ("log",), ("log", "-p")):
        assert "Install git" in refused(*words)


@pytest.mark.usefixtures("no_git")
def test_without_git_reading_adding_and_editing_work(
    bench: Bench, told: Callable[..., Any]
) -> None:
    old = (bench.store / "feedback-one.md").read_bytes()
    assert told(*ADD)["commit"] is None
    assert told(*EDIT)["commit"] is None
    assert old in [path.read_bytes() for path in (bench.root / ".mdmemory/aside").iterdir()]
    assert len(told("list")) == 3
    assert told("status")["git"] == "none"
    assert told("doctor")["ok"]
    assert told(*EXTRACT)["added"]
    assert told("compact", "--dry-run")["outcome"] == "dry_run"


def detached(bench: Bench) -> None:
    bench.git(bench.root, "checkout", "-q", "--detach")


def merging(bench: Bench) -> None:
    (bench.root / ".git/MERGE_HEAD").write_text(bench.git(bench.root, "rev-parse", "HEAD"))


def rebasing(bench: Bench) -> None:
    (bench.root / ".git/rebase-merge").mkdir()


def index_locked(bench: Bench) -> None:
    (bench.root / ".git/index.lock").touch()


@pytest.mark.parametrize(
    "spoil", [detached, merging, rebasing, pytest.param(index_locked, marks=pytest.mark.slow)]
)
def test_in_the_middle_of_something_nothing_is_destroyed_and_nothing_is_lost(
    bench: Bench, refused: Callable[..., str], told: Callable[..., Any],
    spoil: Callable[[Bench], None],
) -> None:  # fmt: skip
    spoil(bench)
    bench.monkeypatch.setattr("mdmemory.git.repositories.PATIENCE", 0.1)
    for words in (REMOVE, ("compact",), ("undo",)):
        refused(*words)
    head = bench.git(bench.root, "rev-parse", "HEAD")
    assert told(*ADD)["commit"] is None
    assert told(*EDIT)["commit"] is None
    assert len(told("list")) == 3
    assert bench.git(bench.root, "rev-parse", "HEAD") == head


def test_without_an_identity_the_note_is_committed_as_ours(
    bench: Bench, told: Callable[..., Any]
) -> None:
    for name in ("user.name", "user.email"):
        bench.git(bench.root, "config", "--unset", name)
    bench.git(bench.root, "config", "user.useConfigOnly", "true")
    assert told(*ADD)["commit"]
    author = bench.git(bench.root, "log", "-1", "--format=%an <%ae>")
    assert author == "mdmemory <mdmemory@localhost>\n"


def test_a_note_that_git_ignores_is_not_added(
    bench: Bench, refused: Callable[..., str], told: Callable[..., Any]
) -> None:
    bench.write(".gitignore", "feedback-three.md\n")
    assert "git check-ignore" in refused(*ADD)
    (bench.store / "feedback-three.md").write_text(HEAD + "Text\n", encoding="utf-8")
    main(["index"])
    for words in (("forget", "feedback-three"), ("edit", "feedback-three", "--description", "d")):
        assert "git check-ignore" in refused(*words)
    assert "feedback-three.md" in [row["path"] for row in told("doctor")["findings"]]


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_a_note_that_git_is_told_not_to_see_is_not_touched(
    bench: Bench, refused: Callable[..., str], told: Callable[..., Any], flag: str
) -> None:
    path = bench.store / "feedback-one.md"
    bench.git(bench.root, "update-index", flag, str(path))
    path.write_text(path.read_text(encoding="utf-8") + "\nBy hand.\n", encoding="utf-8")
    main(["index"])
    for words in (EDIT, REMOVE):
        assert "git ls-files -v" in refused(*words)
    assert [row["check"] for row in told("doctor")["findings"]] == ["unseen"]


def test_an_ignored_store_is_not_begun(bench: Bench, refused: Callable[..., str]) -> None:
    (bench.root / "fresh").mkdir()
    bench.write("fresh/.gitignore", "/notes\n")
    assert "--here" in refused("init", "fresh", "--shared")


# --- a disk that says no -----------------------------------------------------------------------


def read_only(bench: Bench) -> None:
    # not by permissions: the superuser, whom tests may run as, passes over those
    real_open, real_mkdir = os.open, os.mkdir

    def inside(path: object) -> bool:
        return str(path).startswith(str(bench.root))

    def refusing_open(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) and inside(path):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return real_open(path, flags, *more, **named)

    def refusing_mkdir(path: Any, *more: Any, **named: Any) -> None:
        if inside(path):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        real_mkdir(path, *more, **named)

    bench.monkeypatch.setattr(os, "open", refusing_open)
    bench.monkeypatch.setattr(os, "mkdir", refusing_mkdir)


def test_a_read_only_folder_is_read_and_not_written(
    bench: Bench, refused: Callable[..., str], told: Callable[..., Any]
) -> None:
    (bench.store / "odd.md").write_text(HEAD + "Text\n", encoding="utf-8")
    read_only(bench)
    assert len(told("list")) == 3
    assert told("show", "odd")["body"] == "Text"
    for words in (ADD, EDIT, REMOVE, ("index",), ("init", str(bench.root / "fresh"), "--shared")):
        assert "read-only" in refused(*words)


def test_a_full_disk_changes_nothing(bench: Bench, refused: Callable[..., str]) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    bench.monkeypatch.setattr(os, "fsync", full)
    for words in (ADD, EDIT, REMOVE):
        assert "Free some space" in refused(*words)


# --- plans and transcripts ---------------------------------------------------------------------

PLANS = {
    "nothing": ("", "unparsable"),
    "prose": ("I would merge the first two.", "unparsable"),
    "cut": ('{"ops": [', "unparsable"),
    "two objects": ('{"ops": []} {"ops": []}', "unparsable"),
    "a list": ("[]", "schema"),
    "a field of its own": ('{"ops": [], "note": "x"}', "schema"),
    "an op of its own": ('{"ops": [{"op": "rename", "file": "feedback-one.md"}]}', "schema"),
    "a key twice": ('{"ops": [], "ops": []}', "duplicate_key"),
    "a path": ('{"ops": [{"op": "delete", "file": "../x.md", "reason": "r"}]}', "bad_name"),
    "our name": ('{"ops": [{"op": "delete", "file": "MEMORY.md", "reason": "r"}]}', "bad_name"),
    "no such note": ('{"ops": [{"op": "delete", "file": "x.md", "reason": "r"}]}', "unknown_file"),
    "all notes": (
        '{"ops": [{"op": "delete", "file": "feedback-one.md", "reason": "r"},'
        ' {"op": "delete", "file": "feedback-two.md", "reason": "r"}]}',
        "empties_store",
    ),
    "a note twice": (
        '{"ops": [{"op": "flag", "files": ["feedback-one.md", "feedback-one.md"], "reason": "r"}]}',
        "overlap",
    ),
    "a secret": (
        '{"ops": [{"op": "rewrite", "file": "feedback-one.md",'
        ' "body": "password: hunter2hunter2"}]}',
        "secret",
    ),
}


@pytest.mark.parametrize(("text", "code"), PLANS.values(), ids=PLANS)
def test_a_bad_plan_changes_nothing_and_is_kept_to_look_at(
    bench: Bench, capsys: pytest.CaptureFixture[str], text: str, code: str
) -> None:
    path = bench.write("plan.json", text)
    before = bench.seen()
    assert main(["compact", "--plan", str(path), "--json"]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    answer = json.loads(out)
    assert (answer["outcome"], answer["commit"]) == ("refused", None)
    assert code in [refusal["code"] for refusal in answer["refusals"]]
    assert all({*refusal} == {"code", "message"} for refusal in answer["refusals"])
    assert bench.seen() == before
    (kept,) = (bench.root / ".mdmemory/refused").iterdir()
    assert "hunter2" not in kept.read_text(encoding="utf-8")


def test_a_plan_that_is_none_names_the_file_what_is_wrong_and_the_next_step(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.write("plan.json", '{"ops": 5}')
    assert main(["compact", "--plan", "plan.json"]) == 1
    assert capsys.readouterr().out == (
        'plan.json: This is no plan: `ops` has to be a list. Give `{"ops": [...]}`.\n'
        "The plan was refused; nothing changed. Correct plan.json and run it again.\n"
    )


@pytest.mark.parametrize(
    "data",
    [b"", b"not JSON", b"{}", b"[]", b'{"info": 3, "messages": 4}', b"\xff\xfe", b"{" * 9999],
    ids=lambda data: repr(data[:12]),
)
def test_a_bad_transcript_is_one_sentence(
    bench: Bench, refused: Callable[..., str], data: bytes
) -> None:
    bench.write("bad.json", data)
    assert "opencode export" in refused("extract", "--transcript", "bad.json")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("extract", "--transcript"), "folder"),
        (("extract", "--transcript"), "pipe"),
        (("compact", "--plan"), "folder"),
    ],
)
def test_a_folder_or_an_idle_pipe_is_no_input(
    bench: Bench, refused: Callable[..., str], words: tuple[str, ...], what: str
) -> None:
    if what == "folder":
        (bench.root / "input").mkdir()
    else:
        os.mkfifo(bench.root / "input")
    said = refused(*words, "input")
    assert "out of the store" not in said, "a step that fits a note, not this file"
