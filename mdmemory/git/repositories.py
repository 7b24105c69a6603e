"""Running git: one function, a scrubbed environment, and fixed settings.

A repository may be hostile: nothing that its configuration names is run, and no GIT_* variable of
the caller can point us at another repository.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from mdmemory import debugging
from mdmemory.errors import GitFailed, MdmemoryError, RepositoryState
from mdmemory.files import read_if_there, require_utf8, to_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from typing import Any

# Each of these closes a door through which a repository's own configuration could run a program,
# makes what we write durable (git's default does not sync loose objects), or keeps what we read
# and write in the one form that we parse.
SAFE = (
    "-c", "core.fsmonitor=false",
    "-c", "core.hooksPath=/dev/null",
    "-c", "commit.gpgSign=false",
    "-c", "core.fsync=committed,reference",
    "-c", "core.quotePath=false",
    "-c", "core.splitIndex=false",
    "-c", "core.untrackedCache=keep",
    "-c", "log.showSignature=false",
    "-c", "i18n.commitEncoding=UTF-8",
    "-c", "i18n.logOutputEncoding=UTF-8",
)  # fmt: skip
TIMEOUT = 120.0  # seconds for one git command; they take milliseconds
_PACE = 200_000  # bytes of input that a command has one more second for
PATIENCE = 5.0  # seconds to wait for somebody else's index.lock, which is never ours to delete
PAUSE = 0.02  # seconds between two looks at it
_GRACE = 5.0  # seconds that a command has to end once it was told to
_MUCH = 1 << 16  # bytes of input that are not worth many small steps

_ENVIRONMENT = {
    "LC_ALL": "C", "LANGUAGE": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    # a partial clone would fetch a missing object by itself, through a program that its
    # configuration names
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}  # fmt: skip

# What marks an operation of the person's that is not finished, and how they end it.
_UNFINISHED = {
    "MERGE_HEAD": ("a merge is under way", "merge"),
    "rebase-merge": ("a rebase is under way", "rebase"),
    "rebase-apply/applying": ("patches are being applied", "am"),
    "rebase-apply": ("a rebase is under way", "rebase"),
    "CHERRY_PICK_HEAD": ("a cherry-pick is under way", "cherry-pick"),
    "REVERT_HEAD": ("a revert is under way", "revert"),
    "sequencer": ("a series of commits is picked or reverted", "cherry-pick"),
    "BISECT_LOG": ("a bisection is under way", "bisect"),
}

# names that are what they look like, without anything that git would refuse in one
_PLAIN = r"refs/heads/(?!.*\.lock)\w[\w+@%=,-]*(?:[./]\w[\w+@%=,-]*)*"
_OURS = r"refs/mdmemory/[a-z]+/[a-z]+(?:/[0-9a-f]{12})?"
_HEAD = rb"ref: (%s)\n" % _PLAIN.encode()
_ID = rb"(?:[0-9a-f]{40}|[0-9a-f]{64})\n"
_LIMIT = 256 * 1024 * 1024  # bytes; packed-refs of a very large repository


def run(
    folder: Path, words: Sequence[str], *, data: bytes = b"",
    extra: Mapping[str, str] | None = None, seconds: float = TIMEOUT,
) -> subprocess.CompletedProcess[bytes]:  # fmt: skip
    """One git command in `folder`, with nothing of the caller's GIT_* variables in it. Raises
    GitFailed after `seconds`, more for much data."""
    import subprocess  # a command that only reads notes starts no git

    require_utf8(words)
    begun, limit = time.monotonic(), seconds + len(data) / _PACE
    given: dict[str, Any] = {"input": data}
    with ExitStack() as opened:
        if len(data) >= _MUCH and hasattr(os, "memfd_create"):
            # a file in memory: through a pipe it would go 4 KB at a time
            file = opened.enter_context(open(os.memfd_create("git"), "w+b"))
            file.write(data)
            file.seek(0)
            given = {"stdin": file}
        try:
            done = subprocess.run(
                ["git", *SAFE, *words], cwd=folder, env=environment(extra),
                **given, capture_output=True, timeout=limit, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as problem:
            raise GitFailed(f"git {words[0]} did not end within {limit:.0f} s.") from problem
    if debugging.logger:
        # the name of the command alone: what follows it may be a person's words
        spent = (time.monotonic() - begun) * 1000
        debugging.log_line("git %s: %.0f ms, exit %d", words[0], spent, done.returncode)
    return done


def start(folder: Path, words: Sequence[str]) -> subprocess.Popen[bytes]:
    """A git command that goes on, with pipes for what it is asked, answers and complains of."""
    import subprocess

    if debugging.logger:
        debugging.log_line("git %s: started", words[0])
    pipe = subprocess.PIPE
    return subprocess.Popen(
        ["git", *SAFE, *words], cwd=folder, env=environment(), stdin=pipe, stdout=pipe, stderr=pipe
    )


class Repository:
    """A git work tree: `top` is its root; `git_dir` is its own, `common_dir` all worktrees'.
    `hash_name` is sha1 or sha256, `patience` the seconds that one command may take. `room` is our
    own folder in the git directory: journal, the index to be, names of our locks."""

    # how git is run
    git = staticmethod(run)
    start = staticmethod(start)

    def __init__(
        self, top: Path, git_dir: Path, common_dir: Path, hash_name: str, patience: float = TIMEOUT
    ) -> None:
        self.top, self.git_dir, self.common_dir = top, git_dir, common_dir
        self.hash_name, self.patience = hash_name, patience
        self.room = git_dir / "mdmemory"

    def run(
        self,
        *words: str,
        data: bytes = b"",
        folder: Path | None = None,
        extra: Mapping[str, str] | None = None,
        fine: Sequence[int] = (0,),
    ) -> bytes:
        """What `git words...` prints. Raises GitFailed, in git's words, unless its exit is fine."""
        done = self.git(folder or self.top, words, data=data, extra=extra, seconds=self.patience)
        if done.returncode not in fine:
            raise GitFailed(
                f"git {words[0]} failed: {last_line(done.stderr).rstrip('.')}.",
                f"`git -C {self.top} fsck` tells whether its history is damaged.",
            )
        return done.stdout

    def ask(self, *words: str, data: bytes = b"", folder: Path | None = None) -> bytes | None:
        """What `git words...` prints, or None where it ends with an error: a no to a question."""
        done = self.git(folder or self.top, words, data=data, seconds=self.patience)
        return done.stdout if done.returncode == 0 else None

    def ask_line(self, *words: str) -> str | None:
        """The one line that `git words...` answers, or None."""
        return to_text(self.ask(*words) or b"").strip() or None


def run_in_time(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], seconds: float,
    data: bytes = b"",
) -> subprocess.CompletedProcess[bytes]:  # fmt: skip
    """A git command that may wait for others: a remote, an agent, a hook. It has no terminal.

    Raises GitFailed after `seconds`; then it is ended with all that it started.
    """
    import subprocess

    pipe = subprocess.PIPE
    process = subprocess.Popen(
        ["git", *words], cwd=folder, env=environment, start_new_session=True,
        stdin=pipe, stdout=pipe, stderr=pipe,
    )  # fmt: skip
    try:
        out, err = process.communicate(data, timeout=seconds)
    except BaseException as problem:
        _end(process)
        if isinstance(problem, subprocess.TimeoutExpired):
            name = next((word for word in words if word[0] != "-" and "=" not in word), "")
            raise GitFailed(f"git {name} did not end within {seconds:.0f} s.") from problem
        raise
    return subprocess.CompletedProcess(["git", *words], process.returncode, out, err)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a git and all that it started, such as an ssh that would hold our pipes open."""
    import subprocess

    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=_GRACE)
            return


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    # git starts in the repository, where a relative entry would find the repository's own "git"
    entries = env.get("PATH", os.defpath).split(os.pathsep)
    env["PATH"] = os.pathsep.join(filter(os.path.isabs, entries))
    return env | _ENVIRONMENT | dict(extra or {})


def list_leaked(env: Mapping[str, str]) -> list[str]:
    """The variables of git's that the caller's environment has beside those of `env`."""
    return [name for name in os.environ if name.startswith("GIT_") and name not in env]


@contextmanager
def named_to_gitpython() -> Iterator[None]:
    """While GitPython is loaded, which asks a git for its version: it is to ask the one that we
    run, whatever the caller's variables and the present folder would make of the name."""
    import shutil

    name = "GIT_PYTHON_GIT_EXECUTABLE"
    before = os.environ.pop(name, None)
    os.environ[name] = shutil.which("git", path=environment()["PATH"]) or "git"
    try:
        yield
    finally:
        del os.environ[name]
        if before is not None:
            os.environ[name] = before


def is_installed() -> bool:
    """Whether a git program is on the path."""
    import shutil  # only asked where something failed already

    return shutil.which("git") is not None


def find(folder: Path) -> Repository | None:
    """The repository whose work tree holds `folder`, or None (no git, no repository).

    Raises RepositoryState for a bare repository, for one that git itself refuses to open, and for
    one that is so damaged that git passes over it, perhaps to another one around it.
    """
    # "true" between the answers: a path may hold a line break
    words = (
        "rev-parse", "--is-bare-repository", "--absolute-git-dir", "--is-inside-work-tree",
        "--git-common-dir", "--is-inside-work-tree", "--show-toplevel", "--is-inside-work-tree",
        "--show-object-format",
    )  # fmt: skip
    try:
        done = run(folder, words)
    except FileNotFoundError:
        return None
    out = os.fsdecode(done.stdout)  # paths, as Python gives them
    if out.startswith("true\n"):
        raise RepositoryState(
            f"{folder} lies in a bare git repository, which has no work tree for notes.",
            "Clone it and work in the clone.",
        )
    if done.returncode == 0:
        git_dir, common, top, kind = out.removeprefix("false\n").split("\ntrue\n")
        _require_whole(folder, Path(top))
        shared = Path(os.path.realpath(folder / common))  # it is relative to where git ran
        return Repository(Path(top), Path(git_dir), shared, kind.strip())
    complaint = last_line(done.stderr).rstrip(".")
    if "not a git repository" in complaint:
        _require_whole(folder, None)
        return None
    raise RepositoryState(f"git refuses this repository: {complaint}.", "Run `git status` there.")


def _require_whole(folder: Path, top: Path | None) -> None:
    """Raises RepositoryState where a repository between `folder` and the one found is damaged."""
    place = Path(os.path.realpath(folder))
    end = None if top is None else os.path.realpath(top)
    for at in (place, *place.parents):
        if str(at) == end:
            return
        git = at / ".git"
        if os.path.lexists(git):
            raise RepositoryState(
                f"{git} is damaged: git does not take it for a repository.",
                "Restore it from a copy, or move it away and begin a new history: "
                f"`git init {at}`.",
            )


def refusal(repository: Repository, patience: float = 0.0) -> RepositoryState | None:
    """Why no commit is written in the repository's present state, or None when it is ready.

    A lock of another git process is waited for, up to `patience` seconds.
    """
    if problem := find_unfinished(repository):
        return problem
    lock, deadline = repository.git_dir / "index.lock", time.monotonic() + patience
    # the lock of a killed process of ours is no foreign one: the next write takes it over
    while os.path.lexists(lock) and not any(
        is_same_file(lock, ours) for ours in repository.room.glob("*.held")
    ):
        if time.monotonic() >= deadline:
            return lock_refusal(lock)
        time.sleep(PAUSE)
    return None


def find_unfinished(repository: Repository) -> RepositoryState | None:
    """What a person has to finish before anything is committed or removed, or None."""
    for mark, (what, command) in _UNFINISHED.items():
        if (repository.git_dir / mark).exists():
            way_out = f"`git {command} --continue` or `git {command} --abort`"
            way_out = "`git bisect reset`" if command == "bisect" else way_out
            return RepositoryState(
                f"Nothing is committed while {what} in {repository.top}.",
                f"Finish it first: {way_out}.",
            )
    if read_branch(repository) is None:
        return RepositoryState(
            f"HEAD is detached in {repository.top}, and a commit there would belong to no branch.",
            "Switch to a branch first: `git switch <branch>`.",
        )
    return None


def read_branch(repository: Repository) -> str | None:
    """The full name of the branch that HEAD is on, such as refs/heads/main; None: detached."""
    match = re.fullmatch(_HEAD, _read_bytes(repository.git_dir / "HEAD"))
    if match:
        return match[1].decode()
    # a commit, a link, another way to keep refs: git knows
    return repository.ask_line("symbolic-ref", "-q", "HEAD")


def read_tip(repository: Repository, branch: str) -> str | None:
    """The commit that a branch (or a ref of ours) is at, or None where it has none yet.

    Read as git reads it, its own file before the packed ones, which spares a process.
    """
    if re.fullmatch(_PLAIN, branch, re.ASCII) or re.fullmatch(_OURS, branch):
        loose = _read_bytes(repository.common_dir / branch)
        if re.fullmatch(_ID, loose):
            return loose.decode().strip()
        row = rb"^([0-9a-f]{40,64}) %s$" % re.escape(branch.encode())
        packed = re.search(row, _read_bytes(repository.common_dir / "packed-refs"), re.MULTILINE)
        if not loose and packed:
            return packed[1].decode()
        may_be_elsewhere = (repository.common_dir / "reftable").exists()
        if not os.path.lexists(repository.common_dir / branch) and not may_be_elsewhere:
            return None
    return find_commit(repository, branch)


def find_commit(repository: Repository, name: str) -> str | None:
    """The full id of the commit that a ref or a hash names, or None."""
    return repository.ask_line("rev-parse", "-q", "--verify", f"{name}^{{commit}}")


def _read_bytes(path: Path) -> bytes:
    """What a file of git's holds; nothing where it is missing or no plain file."""
    try:
        return read_if_there(path, _LIMIT) or b""
    except MdmemoryError:
        return b""


def lock_refusal(lock: Path) -> RepositoryState:
    """The sentence on a lock of git's that is not ours, and so not ours to delete."""
    return RepositoryState(
        f"Another git process holds {lock}.",
        "Wait for it; if none runs any more, remove that file.",
    )


def is_same_file(one: Path, other: Path) -> bool:
    """Whether two names are one file (no link followed); False when either is missing."""
    try:
        return os.path.samestat(os.lstat(one), os.lstat(other))
    except FileNotFoundError:
        return False


def last_line(text: bytes) -> str:
    """The sentence in which git says what is wrong."""
    lines = [line for line in text.decode("utf-8", "replace").splitlines() if line.strip()]
    for line in lines:
        if line.startswith(("fatal:", "error:")):
            return line.partition(":")[2].strip()
    return lines[-1].strip() if lines else "it said nothing"


# What tells one project from another: where its repository lies, its first commit, its remotes. A
# clone keeps the first commit; a fork keeps it too. A remote says where a clone came from. So only
# both together speak for the same project, and a commit that was seen there before speaks against a
# stranger who copied them.

_MOST = 16  # first commits and remotes that are looked at; joined histories have two or three
_ADDRESS = r"(?i)(?:[a-z][a-z0-9+.-]*://)(?:[^/@\s]*@)?([^/\s]+)/*(\S*)"
_SSH = r"(?:[^/@:\s]+@)?([^/@:\s]+):(?!/{2})/*(\S+)"


class Identity(NamedTuple):
    """A project: the git directory that all its worktrees share, the commit that is checked out,
    the first ones of its history, and its remotes as `host/path`, without credentials."""

    common_dir: Path
    head: str
    roots: tuple[str, ...]
    remotes: tuple[str, ...]


def identify(repository: Repository, among: Collection[str] | None = None) -> Identity | None:
    """The identity of a repository; None while it has no commit.

    With `among` its first commits are those of `among` that it holds: no history is walked.
    """
    if not (head := read_head(repository)):
        return None
    roots: list[str] = []  # of a shallow clone the oldest commit at hand is not the first one
    if among is not None:
        data = "".join(f"{commit}\n" for commit in among).encode()
        rows = (repository.ask("cat-file", "--batch-check", data=data) or b"").decode().splitlines()
        roots = [row.split()[0] for row in rows if row.split()[1:2] == ["commit"]]
    elif not is_shallow(repository):
        output = repository.ask("rev-list", "--max-parents=0", f"-n{_MOST}", "HEAD") or b""
        roots = output.decode().split()
    return Identity(
        common_dir=Path(os.path.realpath(repository.common_dir)),
        head=head,
        roots=tuple(sorted(roots)),
        remotes=list_remotes(repository),
    )


def is_shallow(repository: Repository) -> bool:
    """Whether the clone was told to leave old commits out."""
    return (repository.common_dir / "shallow").exists()


def has_commit(repository: Repository, commit: str) -> bool:
    """Whether the repository has this commit, asked without the network."""
    return repository.ask("cat-file", "-e", f"{commit}^{{commit}}") is not None


def is_ancestor(repository: Repository, commit: str, tip: str) -> bool:
    """Whether a commit is `tip` or one of its ancestors."""
    return repository.ask("merge-base", "--is-ancestor", commit, tip) is not None


def read_head(repository: Repository) -> str:
    """The commit that is checked out, or "" without one."""
    if branch := read_branch(repository):
        return read_tip(repository, branch) or ""
    return find_commit(repository, "HEAD") or ""


def list_remotes(repository: Repository) -> tuple[str, ...]:
    """The remotes of a repository as `host/path`, without credentials."""
    raw = repository.ask("config", "-z", "--get-regexp", r"^remote\..*\.url$") or b""
    urls = [entry.partition("\n")[2] for entry in os.fsdecode(raw).split("\0") if entry]
    return tuple(sorted({parse_remote(url) for url in urls[:_MOST]}))


def parse_remote(url: str) -> str:
    """The place that a remote's URL names, as `host/path`: the same for every way to reach it.

    `git@example.org:team/app.git` and `https://name:word@example.org/team/app` are both
    `example.org/team/app`. A folder of this machine stays its path.
    """
    url = url.strip()
    match = re.fullmatch(_ADDRESS, url)
    if match is None and not url.startswith((".", "/")):
        match = re.fullmatch(_SSH, url)
    if match is None or url.lower().startswith("file:"):
        return re.sub(r"^file://[^/]*", "", url, flags=re.IGNORECASE).rstrip("/")
    host = re.sub(r":\d+$", "", match[1]).lower()
    return f"{host}/{match[2].rstrip('/').removesuffix('.git')}"


TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from typing import Any
