"""What the bench of a model asks, and how an answer is counted: sessions and small stores whose
facts, junk, duplicates and contradictions are marked by hand. Pure but for reading the files.

What a model writes never equals the marked text, so a note counts as the marked fact or piece of
junk that it shares most words with. Mostly that is right, not always: `--details` shows each.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mdmemory.compact.plan import Delete, Flag, Merge, Op, Rewrite, named
from mdmemory.note.limits import file_name
from mdmemory.text.words import word_keys

TESTS = Path(__file__).parents[1]
SESSIONS = TESTS / "capture" / "replay"
PLANS = TESTS / "compact" / "plans.jsonl"
PAIRS = TESTS / "compact" / "pairs.jsonl"
NEAR = 0.5  # of the words of the shorter text, two that say the same share at least this
PAIRS_OF_A_STORE = 6

# What stands for secrets in the files of sessions; none stands in the repository.
SECRETS = {"{{github}}": f"ghp_{'a1B2' * 9}", "{{password}}": "Xk7!" + "q9Zw" * 3}

Files = frozenset[str]


@dataclass(frozen=True)
class Marked:
    """Something that a session holds: a `fact` that deserves a note, or junk that does not. It is
    known by its `texts` (how a note would say it, and the words that were said), or by `file` where
    a note that exists is to be counted once more."""

    is_fact: bool
    texts: tuple[str, ...]
    file: str = ""

    def nearness(self, text: str) -> float:
        """How much of its words a text has, 0 to 1, by the form of it that is nearest."""
        return max((_shared(each, text) for each in self.texts), default=0.0)


@dataclass(frozen=True)
class Session:
    """A session of `turns` (who, what), in a store of `notes` (type, name, description, body)."""

    name: str
    notes: Sequence[Sequence[str]]
    turns: Sequence[Sequence[str]]
    marked: tuple[Marked, ...]
    answer: Sequence[dict[str, Any]] = ()  # what a model might say, the junk included

    @property
    def transcript(self) -> bytes:
        """As OpenCode exports it: tool output and synthetic text are parts of a message."""
        messages = []
        for number, (who, text) in enumerate(self.turns, 1):
            part: dict[str, Any] = {"type": "text", "text": text}
            if who == "tool":
                part = {"type": "tool", "tool": "bash", "state": {"output": text}}
            if who == "synthetic":
                part["synthetic"] = True
            role = {"tool": "assistant", "synthetic": "user"}.get(who, who)
            info = {"id": f"msg_{number:03}", "role": role, "time": {"created": number}}
            messages.append({"info": info, "parts": [part]})
        told = {"id": f"ses_{self.name}", "title": self.name}
        return json.dumps({"info": told, "messages": messages}).encode()


def sessions(folder: Path = SESSIONS) -> list[Session]:
    """The marked sessions, by name."""
    return [_session(path) for path in sorted(folder.glob("*.json"))]


def _session(path: Path) -> Session:
    text = path.read_text(encoding="utf-8")
    for name, secret in SECRETS.items():
        text = text.replace(name, secret)
    found = json.loads(text)
    marked = tuple(
        Marked(
            each["mark"] == "fact",
            (f"{each.get('description', '')}\n{each.get('body', '')}", each["quote"]),
            each.get("file", "") if each["action"] == "reinforce" else "",
        )
        for each in found["answer"]
    )
    return Session(path.stem, found["notes"], found["said"], marked, found["answer"])


def matched(text: str, marked: Sequence[Marked]) -> Marked | None:
    """What a note or a waiting fact says, None where it is nothing that is marked."""
    by_nearness = [(each.nearness(text), each.is_fact, at) for at, each in enumerate(marked)]
    nearness, _, at = max(by_nearness, default=(0.0, False, 0))
    return marked[at] if nearness >= NEAR else None


def _shared(one: str, other: str) -> float:
    mine, theirs = set(word_keys(one)), set(word_keys(other))
    return len(mine & theirs) / (min(len(mine), len(theirs)) or 1)


@dataclass(frozen=True)
class Store:
    """Notes (file, type, description, body) of which groups say the `same`, some are `over`, and
    pairs contradict. To merge what is `near` is neither right nor wrong."""

    name: str
    notes: Sequence[dict[str, str]]
    same: tuple[Files, ...] = ()
    near: tuple[Files, ...] = ()
    over: Files = frozenset()
    contradict: tuple[Files, ...] = ()


def stores(plans: Path = PLANS, pairs: Path = PAIRS) -> list[Store]:
    """The marked stores, in a fixed order."""
    found = []
    for row in _rows(plans):
        groups = {name: tuple(map(frozenset, row[name])) for name in ("same", "near", "contradict")}
        found.append(Store(row["id"], row["notes"], over=frozenset(row["over"]), **groups))
    return [*found, *(_of_pairs(name, rows) for name, rows in _bundles(_rows(pairs)))]


def _rows(path: Path) -> list[dict[str, Any]]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [json.loads(line) for line in lines if line.strip()]


def _bundles(rows: Iterable[dict[str, Any]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Pairs of one language, a few to a store, no two of them about one thing."""
    waiting: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        waiting[row["lang"]].append(row)
    for lang, those in waiting.items():
        number = 0
        while those:
            chosen: list[dict[str, Any]] = []
            for row in those:
                if len(chosen) < PAIRS_OF_A_STORE and not any(
                    _shared(row[a], o[b]) >= NEAR for o in chosen for a in "ab" for b in "ab"
                ):
                    chosen.append(row)
            those = [row for row in those if row not in chosen]
            number += 1
            yield f"pairs-{lang}-{number}", chosen


def _of_pairs(name: str, rows: Sequence[dict[str, Any]]) -> Store:
    notes: list[dict[str, str]] = []
    groups: dict[str, list[Files]] = defaultdict(list)
    for number, row in enumerate(rows, 1):
        files = [file_name("project", f"{side}-{number}") for side in ("first", "other")]
        for file, text in zip(files, (row["a"], row["b"]), strict=True):
            said = {"description": text[:200], "body": text}
            notes.append({"file": file, "type": "project", **said})
        groups[row["relation"]].append(frozenset(files))
    return Store(name, notes, same=tuple(groups["same"]), contradict=tuple(groups["contradict"]))


def judged(op: Op, store: Store) -> str:
    """What an op that was done is worth: right, wrong, or "" (neither)."""
    files = frozenset(named(op))
    if isinstance(op, Merge):
        files = frozenset(op.sources)
        if any(files <= group for group in store.same):
            return "right"
        return "" if any(files <= group for group in store.near) else "wrong"
    if isinstance(op, Delete):
        return (
            "right"
            if files <= store.over or any(files < group for group in store.same)
            else "wrong"
        )
    if isinstance(op, Flag):
        return "right" if any(pair <= files for pair in store.contradict) else "wrong"
    return ""


def finds(op: Op, group: Files, *, contradict: bool) -> bool:
    """Whether an op does what a group needs: a flag of two that `contradict`; else a merge of two
    that say the same, or the deletion of one."""
    if isinstance(op, Flag) != contradict or isinstance(op, Rewrite):
        return False
    return len(group & frozenset(named(op))) > (not isinstance(op, Delete))


@dataclass
class Figures:
    """What was counted, by name; `details` say it case by case; `seconds` is a clock's."""

    counts: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    details: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def lines(self) -> list[str]:
        """The table that is printed."""
        told = self.counts

        def of(some: str, all_: str) -> str:
            return f"{some} {told[some]} of {told[all_]}"

        def listed(these: Counter[str]) -> str:
            return ", ".join(f"{name} {count}" for name, count in these.most_common()) or "none"

        return [
            f"sessions {told['sessions']:4}   {of('facts kept', 'facts')};"
            f" facts waiting {told['facts waiting']}; junk stored {told['junk stored']},"
            f" waiting {told['junk waiting']}; other notes stored {told['other stored']},"
            f" waiting {told['other waiting']}",
            f"stores   {told['stores']:4}   {of('duplicates found', 'duplicates')};"
            f" {of('contradictions found', 'contradictions')}; {of('past found', 'past')}",
            *(
                f"{f'{kind}s':15} right {told[f'{kind} right']}, wrong {told[f'{kind} wrong']}"
                for kind in ("merge", "delete", "flag")
            ),
            f"rewrites        {told['rewrite']}",
            f"refused         {listed(self.refusals)}",
            f"no answer       {listed(self.failures)}",
            f"cost            {told['calls']} calls, {told['input']} tokens in,"
            f" {told['output']} out, {self.seconds:.0f} s",
        ]
