"""Bringing a store and its remote together, on a person's command and never else.

In a repository of the store's own both histories become one. In a project's git merges, or nothing
is merged, and only the memory's own commits are pushed. No lock is held while the network is waited
for. A remote is looked at before anything is set: a wrong address changes nothing.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mdmemory.actions import joining
from mdmemory.config.table import PROJECT_FILE
from mdmemory.errors import GitFailed, RepositoryState, UsageError
from mdmemory.files import digest, to_text
from mdmemory.git import filter_repo, log, repositories
from mdmemory.git.commits_of_store import History, Message
from mdmemory.git.persons_git import PersonsGit, explain, redact_url
from mdmemory.git.replacement import Change, read_state
from mdmemory.store import conflicts, home
from mdmemory.store.index import is_generated
from mdmemory.store.project import Project
from mdmemory.store.store import GENERATED, INDEX, LEDGER, StoredNote, decode_note, is_note_name
from mdmemory.store.writer import Writer

NAME = "origin"
_UPSTREAM = "@{upstream}"  # names its commit as last fetched; none when it has none yet


def connect_remote(writer: Writer, history: History, own: PersonsGit, url: str) -> bool:
    """Give a store of its own the remote `url`, and its branch the one there that it follows.

    Whether the store had no remote before; with the same address again nothing changes. Raises
    RepositoryState where the store has another already or is a project's, GitFailed where nothing
    can be read at that address.
    """
    if not url or url.startswith("-") or not url.isprintable():
        raise UsageError(f"{url[:200]!r} is no address of a repository.", "Give a URL or a path.")
    top = history.repository.top
    if not writer.is_own:
        raise RepositoryState(
            f"The store is a part of {top}, whose remote is the project's.",
            "Once: `git push -u origin BRANCH` there; then `mdmemory sync`. Or `mdmemory move` "
            "makes the store a repository of its own.",
            code="shared_store",
        )
    if repositories.parse_remote(url) in _places_of_project(writer.project):
        raise RepositoryState(
            f"{redact_url(url)} is the project's own repository, and notes do not belong there.",
            "Make an empty repository for them, and give its address.",
            code="not_a_store",
        )
    known = read_config(history, f"remote.{NAME}.url")
    if known and known != url:
        raise RepositoryState(
            f"The store has another remote already: {redact_url(known)}.",
            f"To change it: `git -C {top} remote set-url {NAME} {redact_url(url)}`, then "
            "`mdmemory sync`.",
            code="other_remote",
        )
    branch = history.branch().removeprefix("refs/heads/")
    if known and read_config(history, f"branch.{branch}.merge"):
        return False
    there = _branch_there(own, url, branch)
    with writer.lock_store():
        if not known:
            history.repository.run("remote", "add", NAME, url)
        history.repository.run("config", f"branch.{branch}.remote", NAME)
        history.repository.run("config", f"branch.{branch}.merge", there)
    return not known


def _places_of_project(project: Project) -> tuple[str, ...]:
    """The remotes of the project that the store belongs to, as `host/path`."""
    entry = home.read(project.store) if (project.store / PROJECT_FILE).is_file() else None
    if entry is not None:
        return entry.remotes
    outer = repositories.find(project.root) if project.root != project.store else None
    identified = repositories.identify(outer, ()) if outer else None
    return identified.remotes if identified else ()


def _branch_there(own: PersonsGit, url: str, branch: str) -> str:
    """The branch at that address which the store's is to follow; its own name where there is none.

    One of the same name, else the one that HEAD there names, else the only one.
    """
    done = own.run("ls-remote", "--symref", "--", url)
    if done.returncode != 0:
        raise GitFailed(
            f"Nothing can be read at {redact_url(url)}: {explain(done)}",
            "The store was left without a remote: make an empty repository there, or correct the "
            "address.",
        )
    rows = [row.partition("\t") for row in to_text(done.stdout).splitlines()]
    heads = {name for _, _, name in rows if name.startswith("refs/heads/")}
    # the row on what HEAD stands for begins with `ref: `
    default = [left.removeprefix("ref: ") for left, _, name in rows if name == "HEAD"]
    wanted = f"refs/heads/{branch}"
    only = [*heads] if len(heads) == 1 else []
    for head in [wanted, *default, *only]:
        if head in heads:
            return head
    if not heads:
        return wanted
    raise RepositoryState(
        f"{redact_url(url)} has {len(heads)} branches, and none is called {branch}.",
        f"Rename the store's branch to the right one: `git -C {own.folder} branch -m NAME`.",
    )


def upstream_of(history: History, *, is_own: bool) -> tuple[str, str]:
    """The remote and the branch there that this branch follows. Raises RepositoryState."""
    branch = history.branch().removeprefix("refs/heads/")
    values = [read_config(history, f"branch.{branch}.{key}") for key in ("remote", "merge")]
    if all(values):
        return values[0], values[1]
    remotes = (history.repository.ask("remote") or b"").decode("utf-8", "replace").split()
    first = "" if remotes else "`git remote add origin URL`, then "
    name = remotes[0] if len(remotes) == 1 else NAME
    way = f"Once: {first}`git push -u {name} {branch}`."
    why = f"The branch {branch} follows no branch of a remote, so there is nothing to sync with."
    if is_own:
        url = read_config(history, f"remote.{NAME}.url")
        given = f"`--remote {redact_url(url) or 'URL'}`"
        way = f"Once: the same command with {given} (an empty repository will do)."
        why = why if remotes else "This store has no remote: its notes are only on this disk."
    raise RepositoryState(why, way, code="no_upstream")


def remote_address(history: History) -> str | None:
    """The address of the store's remote, without a password; None where it has none."""
    names = (history.repository.ask("remote") or b"").decode("utf-8", "replace").split()
    if not names:
        return None
    name = NAME if NAME in names else names[0]
    return redact_url(read_config(history, f"remote.{name}.url")) or name


def read_config(history: History, name: str) -> str:
    """A value of git's configuration, "" where it is not set."""
    return (history.repository.ask("config", name) or b"").decode("utf-8", "replace").strip()


def fetch_remote(history: History, own: PersonsGit, remote: str, *, is_own: bool) -> None:
    """Bring what the remote has. Of a store of its own also what a shallow clone lacks; and what
    the remote has no more, because it was made anew, is pushed again."""
    gone = filter_repo.list_former(history) if is_own else set()
    if gone:
        _refuse_erased(history, gone, own.run("ls-remote", remote).stdout, remote)
    is_shallow = (history.repository.common_dir / "shallow").exists()
    more = ["--prune", *(["--unshallow"] if is_shallow else [])] if is_own else []
    require_done(own.run("fetch", "--quiet", *more, remote), f"git could not fetch from {remote}")
    if gone:
        _refuse_erased(history, gone, history.repository.run("rev-list", "--remotes"), remote)


def _refuse_erased(history: History, gone: set[str], listed: bytes, remote: str) -> None:
    """Raise RepositoryState where a list of commits has one of an erased history: joined with
    ours, it would bring the text back."""
    if not gone.isdisjoint(listed.decode("ascii", "replace").split()):
        branch = history.branch().removeprefix("refs/heads/")
        raise RepositoryState(
            f"{remote} still has the history from before `mdmemory forget --erase`.",
            f"Overwrite it: `git -C {history.repository.top} push --force {remote} {branch}`; then "
            "clone anew wherever else you have this store.",
        )


def count_commits(history: History, commits: str) -> int:
    """How many commits a range such as `a..b` has."""
    return int(history.repository.run("rev-list", "--count", commits))


def require_done(done: subprocess.CompletedProcess[bytes], what: str) -> None:
    """Raise GitFailed, saying `what` could not be done and git's reason, unless it was."""
    if done.returncode != 0:
        raise GitFailed(
            f"{what}: {explain(done)}",
            "What was changed here is committed; run `mdmemory sync` again when that is solved.",
        )


ROUNDS = 3  # pushes that others may overtake before we give up
_OVERTAKEN = (
    b"fetch first", b"non-fast", b"failed to update ref", b"cannot lock ref",
    b"incorrect old value",
)  # fmt: skip
_JOINS = (("Memory-Op", "join"),)
_NOT_A_STORE = "not_a_store"
_OTHER_ADDRESS = (
    "The store has no remote, as before. Run `mdmemory sync --remote URL` with the address of an "
    "empty repository, or of this memory's."
)


@dataclass
class Synced:
    """What `sync` did. `committed` and `merged` are commits or None; `fetched` and `pushed` count.

    `doubled` are pairs of files whose two texts were both kept, `said` sentences on the rest. With
    `conflicts` (paths below `top`, the work tree's root) nothing was merged or pushed: the person
    decides first.
    """

    top: Path
    upstream: str
    committed: str | None = None
    fetched: int = 0
    merged: str | None = None
    pushed: int = 0
    conflicts: list[str] = field(default_factory=list)
    doubled: list[tuple[str, str]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


def sync_store(
    writer: Writer, environment: Mapping[str, str], today: str, *, rebase: bool = False,
    remote: str | None = None, push_all: bool = False,
) -> Synced:  # fmt: skip
    """Commit what is uncommitted, fetch, merge (or rebase), bring the index up to date, push.

    `environment` is the person's; `remote` is the address that a store of its own gets first;
    `push_all` also pushes commits that are not the memory's. Raises RepositoryState without an
    upstream, and where git will not merge because files are changed; GitFailed, with git's words,
    where the remote cannot be reached. Each leaves the notes committed and no merge under way.
    """
    history = writer.require_history()
    own = PersonsGit(history.repository.top, environment)
    is_new = remote is not None and connect_remote(writer, history, own, remote)
    try:
        return _sync_steps(writer, history, own, today, rebase=rebase, push_all=push_all)
    except RepositoryState as refused:
        if not (is_new and refused.code == _NOT_A_STORE):
            raise
        with writer.lock_store():  # with what was fetched from it
            history.repository.run("remote", "remove", NAME)
        raise RepositoryState(refused.message, _OTHER_ADDRESS, code=refused.code) from refused


def _sync_steps(
    writer: Writer, history: History, own: PersonsGit, today: str, *, rebase: bool, push_all: bool
) -> Synced:
    with writer.lock_store():
        writer.require_history()
        name, there = upstream_of(history, is_own=writer.is_own)
        upstream = f"{name}/{there.removeprefix('refs/heads/')}"
        result = Synced(history.repository.top, upstream)
        _commit_store(writer, history, result)
    for _ in range(ROUNDS):
        fetch_remote(history, own, name, is_own=writer.is_own)
        with writer.lock_store():
            writer.require_history()
            _commit_store(writer, history, result)  # whatever was written meanwhile
            if writer.is_own:
                _join_histories(writer, history, result, today)
            else:
                if not push_all:
                    _refuse_foreign(history, result)
                _merge_remote(own, history, result, rebase)
            if result.conflicts:
                return result
            writer.refresher.forget()
            _commit_store(writer, history, result)  # the index of what is now there
        if _push_branch(own, history, result, name, there):
            return result
    raise GitFailed(
        f"{result.upstream} was ahead again each of {ROUNDS} times.", "Run `mdmemory sync` again."
    )


def _commit_store(writer: Writer, history: History, result: Synced) -> None:
    """Commit the store as it is, held notes excepted, and the index that belongs to it."""
    checkpoint = writer.checkpoint_all(())
    written = writer.write("memory: bring the index up to date", [], kind="sync")
    made = checkpoint.commit if checkpoint.made else None
    result.committed = written.commit or made or result.committed


# a repository of the store's own


def _join_histories(writer: Writer, history: History, result: Synced, today: str) -> None:
    """Both histories as one commit, or the other's where it has all of this one."""
    ours, theirs = history.head(), history.find_commit(_UPSTREAM)
    if theirs is None:
        return
    fetched = count_commits(history, f"{ours}..{theirs}" if ours else theirs)
    if not fetched:
        return
    result.fetched += fetched
    base = history.repository.ask_line("merge-base", ours, theirs) if ours else None
    if base is None:
        _require_store(writer.project.store, history, result.upstream, theirs)
    joined = joining.join_trees(history, base, ours, theirs)
    message = None
    if base is None or base != ours:
        _flag_pairs(history, joined, ours, today)
        message = Message(
            f"memory: join what was written elsewhere ({result.upstream})", trailers=_JOINS
        )
    else:
        index = history.read_many(theirs, GENERATED)
        files = history.read_tree(ours, GENERATED).keys() | index.keys()
        joined.texts |= {file: index.get(file) for file in files}
    changes = _join_changes(history, joined.texts, ours, result.upstream)
    written = writer.join(changes, ours, theirs, message)
    result.merged = written.commit
    result.doubled += joined.doubled
    result.said += [*joined.said, *(f"{file}: {why}." for file, why in written.kept)]


def _require_store(store: Path, history: History, upstream: str, theirs: str) -> None:
    """A remote that has nothing in common with the store must hold a store, of the same project."""
    index = history.read(theirs, INDEX) or b""
    name = upstream.partition("/")[0]
    hint = (
        f"`git -C {history.folder} remote remove {name}`, then `mdmemory sync --remote URL` with "
        "the address of an empty repository, or of this memory's."
    )
    if history.holds_other_work(theirs) and not is_generated(index.decode("utf-8", "replace")):
        raise RepositoryState(
            f"{upstream} holds something other than a memory, so nothing was joined or pushed.",
            hint,
            code=_NOT_A_STORE,
        )
    settings = history.read(theirs, PROJECT_FILE)
    if settings is None or not (store / PROJECT_FILE).is_file():
        return
    ours, other = home.read(store), home.parse_known(settings, store)
    if (ours is None) != (other is None) or (ours and other and not ours.shares_project(other)):
        whose = "the memory of another project" if other else "a memory that is no project's"
        raise RepositoryState(
            f"{upstream} holds {whose}, so nothing was joined or pushed.", hint, code=_NOT_A_STORE
        )


def _flag_pairs(history: History, joined: joining.Joined, ours: str | None, today: str) -> None:
    """Each pair of texts that both were kept goes into the ledger."""
    pairs = []
    for files in joined.doubled:
        notes = []
        for file in files:
            if "/" not in file and is_note_name(file):
                data = joined.texts.get(file) or (history.read(ours, file) if ours else None) or b""
                notes.append(StoredNote(file, digest(data), decode_note(data, file)))
        if len(notes) == 2:
            pairs.append((notes[0], notes[1], joining.WHY))
    if pairs:
        ledger_data = joined.texts.get(LEDGER) or (history.read(ours, LEDGER) if ours else None)
        ledger = (ledger_data or b"").decode("utf-8", "surrogateescape")
        fresh = conflicts.add(ledger, pairs, today)
        joined.texts[LEDGER] = fresh.encode("utf-8", "surrogateescape")


def _join_changes(
    history: History, texts: Mapping[str, bytes | None], ours: str | None, upstream: str
) -> list[Change]:
    """The changes that put these texts in place of those of `ours`.

    Raises RepositoryState where the work tree has something there that is in no commit.
    """
    before = history.read_many(ours, texts)
    changes, foreign = [], []
    for file, data in sorted(texts.items()):
        old = digest(before[file]) if file in before else None
        derived = file in GENERATED
        if not derived and read_state(history.folder / file) != old:
            foreign.append(file)
        changes.append(Change(file, old, data, derived))
    if foreign:
        files = ", ".join(foreign[:3]) + (f" and {len(foreign) - 3} more" if foreign[3:] else "")
        raise RepositoryState(
            f"{upstream} was not merged: {files} would be overwritten, and no commit holds it.",
            "Commit it or put it away (a note that is on hold is never committed by mdmemory), "
            "then run `mdmemory sync` again.",
        )
    return changes


# a project's repository


def _refuse_foreign(history: History, result: Synced) -> None:
    """Only what the memory wrote is pushed unasked."""
    theirs = history.find_commit(_UPSTREAM)
    beyond = ("HEAD", f"^{theirs}") if theirs else ("HEAD",)
    commits = log.read_with_files(history.repository, "--no-merges", *beyond, "--")
    foreign = []
    for each in commits:
        # the memory's are those that touch the store alone, be it a person's revert, or begin it;
        # where the store is all of the folder, a commit has to say so
        kind = each.get("Memory-Op")
        inside = all(file.path.startswith(history.prefix) for file in each.files)
        is_known = kind is not None or bool(history.prefix and each.files)
        if not (is_known and (inside or kind == "init")):
            foreign.append(each)
    if foreign:
        first = f"{foreign[-1].commit[:10]} ({foreign[-1].subject})"
        which = f"commit {first} is" if len(foreign) == 1 else f"{len(foreign)} commits are"
        also = "" if len(foreign) == 1 else f", the first {first}"
        raise RepositoryState(
            f"Nothing was merged or pushed: {which} not the memory's, and {result.upstream} lacks "
            f"{'it' if len(foreign) == 1 else 'them'}{also}.",
            "Push by git what is ready; or `mdmemory sync --all` pushes all of it.",
            code="foreign_commits",
        )


def _merge_remote(own: PersonsGit, history: History, result: Synced, rebase: bool) -> None:
    head, theirs = history.head(), history.find_commit(_UPSTREAM)
    if theirs is None or head is None:
        return
    fetched = count_commits(history, f"{head}..{theirs}")
    result.fetched += fetched
    if not fetched:
        return
    if not rebase:
        # the files that a merge would leave to the person; git before 2.38 cannot say
        tree = ("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", head, theirs)
        foreseen = own.run(*tree)
        if foreseen.returncode == 1:
            result.conflicts = to_text(foreseen.stdout).split("\0")[1:-1]
    if result.conflicts:
        return
    words = ["rebase"] if rebase else ["merge", "--no-edit"]
    # never a stash of theirs: what cannot be merged over is told
    try:
        done = own.run(*words, "--no-autostash", _UPSTREAM)
    finally:
        unmerged = to_text(history.repository.run("ls-files", "-u", "-z")).split("\0")[:-1]
        # the project stays as it was before a merge that stopped
        marks = ("rebase-merge", "rebase-apply") if rebase else ("MERGE_HEAD",)
        if any((history.repository.git_dir / mark).exists() for mark in marks):
            own.run(words[0], "--abort")
    if done.returncode == 0:
        result.merged = history.head()
        return
    # a row for each side of a file: its object, then after a tab the path
    result.conflicts = [*dict.fromkeys(row.partition("\t")[2] for row in unmerged)]
    if not result.conflicts:
        raise RepositoryState(
            f"git did not {words[0]} {result.upstream}: {explain(done)}",
            "Commit or put away what it names (a note that is on hold is never committed by "
            "mdmemory), then run `mdmemory sync` again.",
        )


# and back


def _push_branch(
    own: PersonsGit, history: History, result: Synced, remote: str, there: str
) -> bool:
    """Whether the upstream has everything now; False when somebody else was quicker."""
    theirs = history.find_commit(_UPSTREAM)
    ahead = count_commits(history, f"{theirs}..HEAD" if theirs else "HEAD")
    if not ahead:
        return True
    done = own.run("push", "--quiet", remote, f"HEAD:{there}")
    if done.returncode != 0 and any(words in done.stderr for words in _OVERTAKEN):
        return False
    require_done(done, f"git could not push to {remote}")
    result.pushed += ahead
    return True
