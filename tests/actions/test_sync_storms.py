"""sync in bad weather: random edits on two machines, kills, and remotes that misbehave."""

import re
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from machines import Machine, Two, add, check_same, come_together, texts
from moments import DIED, DONE, child, die, spread
from pace import FULL, HUNG
from projects import Git, Patch, script

from mdmemory import Memory
from mdmemory.errors import GitFailed
from mdmemory.git import persons_git

NAMES = ("tea", "rain", "moss")
HEAD = "---\nname: {0}\ndescription: About {0}\nmetadata:\n  type: user\n---\n\n"


# --- random edits --------------------------------------------------------------------------------

edits = st.lists(
    st.tuples(
        st.sampled_from(("home", "work", "home", "work", "sync home", "sync work")),
        st.sampled_from(("write", "change", "append", "remove", "rename", "count")),
        st.sampled_from(NAMES),
        st.integers(0, 3),
    ),
    min_size=2,
    max_size=9,
)


def edit(memory: Memory, how: str, name: str, line: int, word: str) -> None:
    """One edit by hand of a note, which may be there or not; `word` is new with it."""
    path = memory.project.store / f"user-{name}.md"
    if how == "write" or not path.exists():
        lines = [f"Line {number}.\n\n" for number in range(4)]
        path.write_text(HEAD.format(name) + "".join(lines) + word + "\n", encoding="utf-8")
        return
    text = path.read_text(encoding="utf-8")
    if how == "change":
        path.write_text(re.sub(rf"Line {line}\..*", f"Line {line}. {word}", text), encoding="utf-8")
    elif how == "append":
        path.write_text(f"{text}{word}\n", encoding="utf-8")
    elif how == "remove":
        path.unlink()
    elif how == "rename":
        fresh = text.replace(f"name: {name}", f"name: {word}", 1)
        fresh = fresh.replace("metadata:\n", f"metadata:\n  merged: {name}\n", 1)
        path.with_name(f"user-{word}.md").write_text(fresh, encoding="utf-8")
        path.unlink()
    else:
        count = re.sub(r"  reinforced: .*\n", "", text)
        count = count.replace("type: user\n", f"type: user\n  reinforced: {line + 1}\n", 1)
        path.write_text(count, encoding="utf-8")


def words(memory: Memory) -> set[str]:
    return set(re.findall(r"w\d+", " ".join(texts(memory).values())))


class Pair:
    """Two machines, and the words that each has written since its last sync.

    What it had of the other before may go with a sync: the other may have replaced it since.
    """

    def __init__(self, home: Memory, work: Memory) -> None:
        self.machines = {"home": home, "work": work}
        self.written: dict[str, set[str]] = {"home": set(), "work": set()}

    def edit(self, name: str, how: str, note: str, line: int, word: str) -> None:
        edit(self.machines[name], how, note, line, word)
        self.written[name].add(word)

    def sync(self, name: str) -> None:
        memory = self.machines[name]
        own = words(memory) & self.written[name]  # itself, it may have replaced some
        done = memory.sync()
        self.written[name].clear()
        assert done.conflicts == []
        assert own <= words(memory), "a text of this side is gone"
        assert memory.git_state() == "ready"
        flagged = {file for each in memory.conflicts() for file in each.files}
        assert {file for pair in done.doubled for file in pair} <= flagged


def copied(template: Path, folder: Path) -> Two:
    """The machines of the folder `template`, with their remote, in another folder."""
    shutil.copytree(template, folder, symlinks=True)
    stores = []
    for name in ("home", "work"):
        config = folder / name / "notes/memory/.git/config"
        config.write_text(config.read_text().replace(str(template), str(folder)))
        stores.append(Memory.open(folder / name))
    return stores[0], stores[1]


@pytest.fixture
def template(machines: Two, tmp_path: Path) -> Path:
    """The folder of two machines that share a store, and their remote."""
    home, work = machines
    for name in NAMES:
        edit(home, "write", name, 0, "w0")
    home.sync()
    work.sync()
    return tmp_path


def test_whatever_two_machines_write_both_have_all_of_it(
    template: Path, git: Git, tmp_path_factory: pytest.TempPathFactory
) -> None:
    base = tmp_path_factory.mktemp("pairs")

    @settings(
        max_examples=150 if FULL else 5, deadline=None, database=None,
        suppress_health_check=list(HealthCheck), derandomize=not FULL,
    )  # fmt: skip
    @given(edits)
    def run(steps: list[tuple[str, str, str, int]]) -> None:
        home, work = copied(template, base / str(time.monotonic_ns()))
        pair = Pair(home, work)
        for number, (who, how, name, line) in enumerate(steps, 1):
            if who.startswith("sync"):
                pair.sync(who.removeprefix("sync "))
            else:
                pair.edit(who, how, name, line, f"w{number}")
        for name in ("home", "work", "home", "work"):
            pair.sync(name)
        check_same(home, work, git)

    run()


# --- kills ---------------------------------------------------------------------------------------


def apart(template: Path, folder: Path) -> None:
    """Both have changed a note in the same lines, and others; home has pushed."""
    home, work = copied(template, folder)
    for number, memory in enumerate((home, work), 1):
        edit(memory, "change", "tea", 1, f"w{number}")
        edit(memory, "append", "rain", 1, f"w{number + 2}")
        edit(memory, "write", f"new-{number}", 1, f"w{number + 4}")
        store = memory.project.store
        (store / ".inbox").mkdir(exist_ok=True)
        (store / ".inbox/wish.md").write_text(f"{number}", encoding="utf-8")
        for words in (("add", ".inbox"), ("commit", "-qm", "a wish")):
            subprocess.run(["git", *words], cwd=store, check=True, timeout=HUNG)
    home.sync()


def test_a_sync_that_is_killed_is_done_by_the_next_one(
    template: Path, git: Git, tmp_path_factory: pytest.TempPathFactory
) -> None:
    base = tmp_path_factory.mktemp("kills")
    apart(template, base / "apart")
    _, work = copied(base / "apart", base / "whole")
    code, count = child(work.sync, lambda event, step: None)
    assert code == DONE
    moments = range(1, count + 1) if FULL else spread(1, count, 7)
    for at in moments:
        home, work = copied(base / "apart", base / str(at))
        code, _ = child(work.sync, lambda event, step, at=at: die(event, step, at))  # type: ignore[misc]
        assert code == DIED
        assert not (work.project.store / ".git/MERGE_HEAD").exists()
        work.sync()
        home.sync()
        check_same(home, work, git)
        assert words(home) == {f"w{number}" for number in range(7)}
        assert home.counts()["conflicts"] == 2
        assert [*work.project.store.rglob(".mdmemory-*")] == []
        assert (work.project.store / ".inbox/wish-2.md").read_text(encoding="utf-8") == "1"


# --- remotes that misbehave ----------------------------------------------------------------------


def failed(memory: Memory) -> GitFailed:
    """How a sync failed that has something to push; the note is committed, nothing is half done."""
    add(memory, "snow")
    with pytest.raises(GitFailed) as caught:
        memory.sync()
    assert memory.git_state() == "ready"
    assert "user-snow.md" in texts(memory)
    assert "\n" not in caught.value.message
    return caught.value


def test_a_remote_that_was_made_anew_gets_all_of_it_again(
    machines: Two, empty_remote: Path, git: Git
) -> None:
    home, work = machines
    shutil.rmtree(empty_remote)
    git(empty_remote.parent, "init", "-q", "--bare", "-b", "main", empty_remote.name)
    assert home.sync().pushed > 0
    come_together(work, home, git)


def state_of(number: str) -> str:
    """The letter of a process' state, "" for one that is gone."""
    if Path("/proc/self/stat").exists():
        with suppress(FileNotFoundError, ProcessLookupError):
            return Path(f"/proc/{number}/stat").read_text().rpartition(") ")[2][:1]
        return ""
    words = ["ps", "-o", "stat=", "-p", number]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()[:1]


def test_a_remote_that_hangs_is_left_with_all_that_was_started(
    machines: Two, git: Git, tmp_path: Path, monkeypatch: Patch
) -> None:
    home, _ = machines
    ssh = script(tmp_path / "ssh", f"echo $$ > {tmp_path}/pid\nexec sleep {HUNG:.0f}")
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    monkeypatch.setattr(persons_git, "PATIENCE", 2.0)
    git(home.project.store, "remote", "set-url", "origin", "ssh://example.invalid/notes")
    assert "git fetch did not end within 2 s" in failed(home).message
    number = (tmp_path / "pid").read_text().strip()
    end = time.monotonic() + HUNG
    while state_of(number) not in ("", "Z"):  # it is told to end, and nobody may collect it yet
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_remote_that_rejects_says_why(machines: Two, empty_remote: Path, git: Git) -> None:
    home, work = machines
    hook = script(empty_remote / "hooks/pre-receive", "echo this place is full >&2\nexit 1")
    said = failed(home)
    assert "could not push to origin: remote: this place is full" in said.message
    hook.unlink()
    assert home.sync().pushed > 0
    come_together(work, home, git)


@pytest.fixture
def locked_server() -> Iterator[str]:
    """The address of a server that lets nobody in without a password."""

    class Locked(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="notes"')
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Locked)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/notes.git"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_remote_that_wants_a_password_asks_nobody(
    machine: Machine, locked_server: str, tmp_path: Path, monkeypatch: Patch
) -> None:
    home = machine("home")
    asking = script(tmp_path / "ask", f"touch {tmp_path}/asked\necho secret")
    monkeypatch.setenv("GIT_ASKPASS", str(asking))
    monkeypatch.setenv("SSH_ASKPASS", str(asking))
    with pytest.raises(GitFailed, match="could not read Username"):
        home.sync(remote=locked_server)
    with_password = locked_server.replace("://", "://me:secret@")
    with pytest.raises(GitFailed, match="Nothing can be read at") as caught:
        home.sync(remote=with_password)
    assert "secret" not in caught.value.message
    assert home.remote() is None
    assert not (tmp_path / "asked").exists()


def test_a_remote_that_is_ahead_each_time_is_named(machines: Two, git: Git, tmp_path: Path) -> None:
    home, work = machines
    other = tmp_path / "other"
    branch = git(home.project.store, "symbolic-ref", "--short", "HEAD").strip()
    git(tmp_path, "clone", "-q", "-b", branch, home.remote() or "", "other")
    # just before each push of home's, somebody else pushes
    hook = script(
        home.project.store / ".git/hooks/pre-push",
        f"unset GIT_DIR GIT_PREFIX\ncd {other} && git pull -q &&\n"
        "echo $$ >> user-other.md && git add . &&\n"
        "git -c user.name=o -c user.email=o@o commit -qm other && git push -q",
    )
    said = failed(home)
    assert "was ahead again each of 3 times" in said.message
    assert said.hint == "Run `mdmemory sync` again."
    hook.unlink()
    come_together(home, work, git)
