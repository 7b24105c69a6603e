"""What waits goes into the branch, as the commits that it was to be.

A person may have committed, changed or put back some of it by themselves: only what still differs
is committed, a change of theirs stays, and what no commit took over stays kept under a ref.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from urllib.parse import unquote

from mdmemory.errors import GitFailed, MdmemoryError, NotFound, RepositoryState
from mdmemory.expressions import lazy
from mdmemory.files import read_regular
from mdmemory.git.commits_of_store import History
from mdmemory.git.log import ID_TRAILER
from mdmemory.git.objects import Blob, Object
from mdmemory.git.transaction import Transactions, Write
from mdmemory.git.waiting import Waiting, WaitingCommit
from mdmemory.records import dataclass, field
from mdmemory.store.index import is_generated
from mdmemory.store.store import GENERATED

_NAMED = 3  # changes that are told one by one
_NO_FILE = "no file"  # in place of an object id: a link, a folder, what cannot be read
_ENTRY = lazy(r"- \[(?:\\.|[^\]\\])*\]\(([^()]+)\)")  # a line of the index, and its note


def replay(history: History, waiting: Waiting) -> list[str]:
    """Commit what waits, on top of HEAD; sentences on what was committed, and what was not.

    The caller holds the store's lock, and nothing is in the way of a commit. Raises what a write
    raises; then all of it waits still.
    """
    tip = waiting.tip()
    steps = waiting.steps()
    if tip is None or not steps:
        return []
    transactions = Transactions(history)
    with transactions.locked() as id:
        files = {file for step in steps for file in step.changed}
        base, staged = history.head(), history.staged(files)
        held = history.tree(base, files)
        plan = _Plan(history, _not_there(history, steps, base), dict(held))
        put_back = sorted(plan.settled)
        plan.settled |= {file for file, there in staged.items() if there.closed}
        commit, done = plan.build(base)
        if commit is not None and done:
            entries = {file: plan.there.get(file) for file in plan.written}
            write = Write(id, base, entries, held, staged)
            transactions.publish_ready(write, commit)
    waiting.end(tip, plan.whole)
    return [*_committed(history, done), *_left(put_back, tip)]


def replay_all(history: History, tell: Callable[[str], None]) -> None:
    """`replay`, and what becomes of it in sentences. Raises what it raises in the middle."""
    waiting = Waiting(history)
    if waiting.is_empty():
        return
    try:
        said = replay(history, waiting)
    except (RepositoryState, GitFailed) as problem:
        if Transactions(history).is_open():
            raise
        said = [f"What waits to be committed goes on waiting: {problem.message}"]
    for sentence in said:
        tell(sentence)


def _committed(history: History, commits: list[str]) -> list[str]:
    subjects = [each.subject for each in history.told(commits) if each.get(ID_TRAILER)]
    said = [f"Committed now, as it was waiting: {subject}" for subject in subjects[-_NAMED:]]
    if len(subjects) > _NAMED:
        said.insert(0, f"Committed now, as it was waiting: {len(subjects) - _NAMED} changes.")
    return said


def _left(files: list[str], tip: str) -> list[str]:
    if not files:
        return []
    return [
        f"Not committed, as it was removed or put back since: {', '.join(files)}. What was written "
        f"there stays in git: `git show {tip[:10]}` and the commits before it."
    ]


def _not_there(
    history: History, steps: list[WaitingCommit], head: str | None
) -> list[WaitingCommit]:
    """Without those that HEAD has already: a process was killed when it had just done this."""
    begin = history.parent(steps[0].commit)
    base = history.parent(begin) if begin else None
    if head is None or head == base:
        return steps
    made = {entry.get(ID_TRAILER) for entry in history.log(beyond=base)}
    found: list[WaitingCommit] = []
    group: list[WaitingCommit] = []  # a change, behind what keeps the bytes that it replaced
    for step, told in zip(steps, history.told([step.commit for step in steps]), strict=True):
        group.append(step)
        if id := told.get(ID_TRAILER):
            found += [] if id in made else group
            group = []
    return found + group


@dataclass
class _Plan:
    """Which file of which step goes into the branch; `there` is what the branch has of them."""

    history: History
    steps: list[WaitingCommit]
    there: dict[str, Blob]
    whole: bool = True  # every byte that was kept is in the branch
    settled: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.now = {file: _now(self.history, file) for step in self.steps for file in step.changed}
        self.last = {file: step.commit for step in self.steps for file in step.changed}
        left = {file: _id(new) for step in self.steps for file, (_, new) in step.changed.items()}
        # what is not as it was left, and as the branch has it, was put back by a person
        self.settled |= {
            file
            for file, now in self.now.items()
            if now != left[file] and now == _id(self.there.get(file)) and file not in GENERATED
        }

    def build(self, base: str | None) -> tuple[str | None, list[str]]:
        """The last commit, and all of them, each on top of the one before; nothing refers to any
        of them yet."""
        wanted = [(step, self._entries(step)) for step in self.steps]
        if full := [entries for _, entries in wanted if entries]:
            full[-1].update(self._generated(base))
        anew: dict[str, str] = {}
        tip, done = base, []
        for step, entries in wanted:
            if entries:
                tip = self._commit(step, tip, entries, anew)
                done.append(tip)
            if tip is not None:
                anew[step.commit] = tip
        return tip, done

    def _entries(self, step: WaitingCommit) -> dict[str, Blob | None]:
        """What of a step is committed, nothing where that were the index alone; `there` follows."""
        found = {}
        for file, (old, new) in step.changed.items():
            there = self.there.get(file)
            newest = self.last[file] == step.commit and self.now[file] == _id(new)
            if file not in self.settled and (there == old or (newest and there != new)):
                found[file] = new
            elif file not in GENERATED:
                self.whole = False
        if not found.keys() - {*GENERATED}:
            return {}
        for file, blob in found.items():
            self._set(file, blob)
        return found

    def _generated(self, base: str | None) -> dict[str, Blob | None]:
        """The index as it stands, which goes with the last of the commits; it names no note that
        is in none, as one that a person has just begun."""
        found: dict[str, Blob | None] = {}
        for file in {*GENERATED} & self.now.keys():
            blob = self._as_it_is(file, base)
            if blob != self.there.get(file):
                found[file] = blob
                self._set(file, blob)
        return found

    def _as_it_is(self, file: str, base: str | None) -> Blob | None:
        try:
            data = read_regular(self.history.folder / file)
        except NotFound:
            return None
        except MdmemoryError:
            return self.there.get(file)
        text = data.decode("utf-8", "surrogateescape")
        if not is_generated(text):
            return self.there.get(file)
        committed = {*self.history.tree(base)} - self.now.keys() | self.there.keys()
        data = _of_these(text, committed).encode("utf-8", "surrogateescape")
        blob = Object("blob", data)
        self.history.objects.write([blob])
        return Blob("100644", self.history.objects.id(blob))

    def _set(self, file: str, blob: Blob | None) -> None:
        self.written.add(file)
        self.there.pop(file, None)
        if blob is not None:
            self.there[file] = blob

    def _commit(
        self,
        step: WaitingCommit,
        parent: str | None,
        entries: dict[str, Blob | None],
        anew: dict[str, str],
    ) -> str:
        objects = self.history.objects
        paths = {self.history.prefix + file: blob for file, blob in entries.items()}
        tree, new = objects.edited(parent, paths)
        head, _, message = step.data.partition(b"\n\n")
        for before, after in anew.items():  # a trailer may name a commit of the chain
            message = message.replace(before.encode(), after.encode())
        objects.write(new)
        words = [tree, *(["-p", parent] if parent else [])]
        return self.history.commit_tree(words, message, _who_and_when(head))


def _of_these(index: str, files: Collection[str]) -> str:
    """The text of an index without its lines on notes that are not among these files."""
    lines = index.split("\n")
    entries = [_ENTRY.match(line) for line in lines]
    kept = [
        line
        for line, entry in zip(lines, entries, strict=True)
        if entry is None or unquote(entry[1], errors="surrogateescape") in files
    ]
    if len(kept) == len(lines):
        return index
    sections = re.split(r"\n(?=## )", "\n".join(kept).rstrip("\n"))
    return "\n".join(each for each in sections if "\n- " in each or each[:3] != "## ") + "\n"


def _who_and_when(head: bytes) -> dict[str, str]:
    """Author, committer and their times in the head of a commit, as git's variables."""
    found: dict[str, str] = {}
    for line in head.decode("utf-8", "surrogateescape").split("\n"):
        role, _, rest = line.partition(" ")
        name, _, others = rest.rpartition(" <")
        email, _, when = others.partition("> ")
        if role in ("author", "committer"):
            variables = zip(("NAME", "EMAIL", "DATE"), (name, email, f"@{when}"), strict=True)
            found |= {f"GIT_{role.upper()}_{what}": value for what, value in variables}
    return found


def _now(history: History, file: str) -> str | None:
    try:
        return history.blob_id(read_regular(history.folder / file))
    except NotFound:
        return None
    except MdmemoryError:
        return _NO_FILE


def _id(blob: Blob | None) -> str | None:
    return blob.id if blob else None
