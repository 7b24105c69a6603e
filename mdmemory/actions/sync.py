"""Bringing a store and its remote together, on a person's command and never else.

In a repository of the store's own nothing is left to decide: both histories become one. In a
project's repository git merges, or nothing is merged; only the memory's own commits are pushed.
No lock is held while the network is waited for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mdmemory.actions import joining, remotes
from mdmemory.actions.remotes import count_commits, require_done, tracked_commit
from mdmemory.config.table import PROJECT_FILE
from mdmemory.errors import GitFailed, NoGit, RepositoryState
from mdmemory.files import digest, to_text
from mdmemory.git import log
from mdmemory.git.commits_of_store import History, Message
from mdmemory.git.persons_git import PersonsGit, explain
from mdmemory.git.replacement import Change, read_state
from mdmemory.store import conflicts, home
from mdmemory.store.index import is_generated
from mdmemory.store.store import GENERATED, INDEX, LEDGER, StoredNote, decode_note, is_note_name
from mdmemory.store.writer import Writer

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
    history = writer.history
    if history is None:
        raise writer.refusal() or NoGit("There is no git repository.")
    own = PersonsGit(history.repository.top, environment)
    is_new = remote is not None and remotes.connect_remote(writer, history, own, remote)
    try:
        return _sync_steps(writer, history, own, today, rebase=rebase, push_all=push_all)
    except RepositoryState as refused:
        if not (is_new and refused.code == _NOT_A_STORE):
            raise
        remotes.disconnect_remote(writer, history)
        raise RepositoryState(refused.message, _OTHER_ADDRESS, code=refused.code) from refused


def _sync_steps(
    writer: Writer, history: History, own: PersonsGit, today: str, *, rebase: bool, push_all: bool
) -> Synced:
    with writer.lock_store():
        if refusal := writer.refusal():
            raise refusal
        name, there = remotes.upstream_of(history, is_own=writer.is_own)
        upstream = f"{name}/{there.removeprefix('refs/heads/')}"
        result = Synced(history.repository.top, upstream)
        _commit_store(writer, history, result)
    for _ in range(ROUNDS):
        remotes.fetch_remote(history, own, name, is_own=writer.is_own)
        with writer.lock_store():
            if refusal := writer.refusal():
                raise refusal
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
    ours, theirs = history.head(), tracked_commit(history)
    if theirs is None:
        return
    fetched = count_commits(history, f"{ours}..{theirs}" if ours else theirs)
    if not fetched:
        return
    result.fetched += fetched
    base = history.merge_base(ours, theirs) if ours else None
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
    for first, second in joined.doubled:
        notes = [_stored_note(history, joined, ours, file) for file in (first, second)]
        if notes[0] and notes[1]:
            pairs.append((notes[0], notes[1], joining.WHY))
    if pairs:
        ledger_data = joined.texts.get(LEDGER) or (history.read(ours, LEDGER) if ours else None)
        ledger = (ledger_data or b"").decode("utf-8", "surrogateescape")
        fresh = conflicts.add(ledger, pairs, today)
        joined.texts[LEDGER] = fresh.encode("utf-8", "surrogateescape")


def _stored_note(
    history: History, joined: joining.Joined, ours: str | None, file: str
) -> StoredNote | None:
    if "/" in file or not is_note_name(file):
        return None
    data = joined.texts.get(file) or (history.read(ours, file) if ours else None) or b""
    return StoredNote(file, digest(data), decode_note(data, file))


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
        raise RepositoryState(
            f"{upstream} was not merged: {_name_files(foreign)} would be overwritten, and no "
            "commit holds it.",
            "Commit it or put it away (a note that is on hold is never committed by mdmemory), "
            "then run `mdmemory sync` again.",
        )
    return changes


def _name_files(files: Sequence[str]) -> str:
    return ", ".join(files[:3]) + (f" and {len(files) - 3} more" if len(files) > 3 else "")


# a project's repository


def _refuse_foreign(history: History, result: Synced) -> None:
    """Only what the memory wrote is pushed unasked."""
    theirs = tracked_commit(history)
    beyond = ("HEAD", f"^{theirs}") if theirs else ("HEAD",)
    commits = log.read_with_files(history.repository, "--no-merges", *beyond, "--")
    foreign = [each for each in commits if not _is_ours(history, each)]
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


def _is_ours(history: History, commit: log.Logged) -> bool:
    """Whether a commit is the memory's: it touches the store alone, be it a person's revert, or
    begins it. Where the store is all of the folder, it has to say so."""
    kind = commit.get("Memory-Op")
    inside = all(each.path.startswith(history.prefix) for each in commit.files)
    is_known = kind is not None or bool(history.prefix and commit.files)
    return is_known and (inside or kind == "init")


def _merge_remote(own: PersonsGit, history: History, result: Synced, rebase: bool) -> None:
    head, theirs = history.head(), tracked_commit(history)
    if theirs is None or head is None:
        return
    fetched = count_commits(history, f"{head}..{theirs}")
    result.fetched += fetched
    if not fetched:
        return
    result.conflicts = [] if rebase else _foresee_conflicts(own, head, theirs)
    if result.conflicts:
        return
    words = ["rebase"] if rebase else ["merge", "--no-edit"]
    # never a stash of theirs: what cannot be merged over is told
    try:
        done = own.run(*words, "--no-autostash", "@{upstream}")
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


def _foresee_conflicts(own: PersonsGit, head: str, theirs: str) -> list[str]:
    """The files that a merge would leave to the person; [] where git (before 2.38) cannot say."""
    words = ("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", head, theirs)
    done = own.run(*words)
    return to_text(done.stdout).split("\0")[1:-1] if done.returncode == 1 else []


# and back


def _push_branch(
    own: PersonsGit, history: History, result: Synced, remote: str, there: str
) -> bool:
    """Whether the upstream has everything now; False when somebody else was quicker."""
    theirs = tracked_commit(history)
    ahead = count_commits(history, f"{theirs}..HEAD" if theirs else "HEAD")
    if not ahead:
        return True
    done = own.run("push", "--quiet", remote, f"HEAD:{there}")
    if done.returncode != 0 and any(words in done.stderr for words in _OVERTAKEN):
        return False
    require_done(done, f"git could not push to {remote}")
    result.pushed += ahead
    return True
