"""A memory that changes its mind: what the user says anew replaces what they said before.

Each chain says, renames, forgets and takes back; at its end stands what a person would expect.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from moments import DIED, DONE, FAILED, TOLD, child, die, full, spread
from pace import FULL
from scripted import Scripted

from mdmemory import Memory
from mdmemory.capture import requests
from mdmemory.capture.extracted import Extracted
from mdmemory.errors import MdmemoryError
from mdmemory.prompt import receipts
from mdmemory.store.superseding import orphans
from mdmemory.transcripts.turns import Turn

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
FREIGHT = "parcels above 31.5 kg go with the freight carrier"
SERVICE = "parcels above 31.5 kg go with the parcel service"
COURIER = "parcels above 31.5 kg go with the courier Rapid"
FACTS = {"A": FREIGHT, "B": SERVICE, "C": COURIER}


@pytest.fixture
def memory(repository: Path) -> Memory:
    Memory.init(repository, own_repo=True)
    return Memory.open(repository, clock=lambda: NOW)


class Talk:
    """One session of a person with the memory."""

    def __init__(self, memory: Memory, name: str = "m") -> None:
        self.memory, self.name = memory, name
        self.done: list[Extracted] = []

    def say(self, text: str) -> Extracted:
        turn = Turn(f"{self.name}{len(self.done) + 1}", "user", text)
        self.done.append(requests.keep(self.memory._writer(), "ses_1", turn, now=NOW))
        return self.done[-1]

    def note(self, letter: str) -> str:
        """The file of the note that states a fact."""
        says = [
            note for note in self.memory.notes()
            if FACTS[letter].split(" the ")[1] in note.note.head.description
        ]  # fmt: skip
        return says[0].file

    def step(self, step: str) -> None:
        """A letter says that fact; `!` undoes the last change, `!n` that of the n-th message; `~A`
        renames its note, `-A` forgets it, `*A` edits it."""
        match step[0], step[1:]:
            case "!", "":
                self.memory.undo()
            case "!", number:
                self.memory.undo(self.done[int(number) - 1].id)
            case "~", letter:
                self.memory.rename(self.note(letter), f"heavy-{letter.lower()}{len(self.done)}")
            case "-", letter:
                self.memory.remove(self.note(letter))
            case "*", letter:
                self.memory.edit(self.note(letter), body=f"Edited: {FACTS[letter]}.")
            case letter, _:
                words = "From now on" if self.done else "Remember that"
                self.say(f"{words} {FACTS[letter]}.")

    @property
    def index(self) -> str:
        text = (self.memory.project.store / "MEMORY.md").read_text()
        lines = [line for line in text.splitlines() if line.startswith("- [")]
        found = (letter for letter, fact in FACTS.items()
                 if any(fact.split(" the ")[1] in line for line in lines))  # fmt: skip
        assert len(lines) == len(list(lines))
        return "".join(found)


CHAINS = {
    # steps: what the index lists, how many notes are superseded, how many conflicts are open
    "A B": ("B", 1, 0),
    "A B C": ("C", 2, 0),
    "A B A": ("A", 1, 0),
    "A B A B": ("B", 1, 0),
    "A B C A": ("A", 2, 0),
    "A B C B": ("B", 2, 0),
    "A B B": ("B", 1, 0),
    "A B !": ("A", 0, 0),
    "A B A !": ("B", 1, 0),
    "A B C !": ("B", 1, 0),
    "A B C ! !": ("A", 0, 0),
    "A ~A B": ("B", 1, 0),
    "A B ~B C": ("C", 2, 0),
    "A B ~A A": ("A", 1, 0),
    "A B ~B ~B A": ("A", 1, 0),
    "A B -B A": ("A", 0, 0),
    "A B C -A": ("C", 1, 0),
    "A B -B !": ("B", 1, 0),
    "A B *B !2": ("AB", 0, 1),
    "A B ~B !2": ("AB", 0, 1),
    "A B C !2": ("AC", 1, 1),
}


@pytest.mark.parametrize(("steps", "expected"), [*CHAINS.items()][:: 1 if FULL else 3])
def test_a_chain_ends_with_what_was_said_last(
    memory: Memory, steps: str, expected: tuple[str, int, int]
) -> None:
    talk = Talk(memory)
    for step in steps.split():
        talk.step(step)
    counts = memory.counts()
    assert (talk.index, counts["superseded"], counts["conflicts"]) == expected
    assert counts["listed"] == len(expected[0])
    assert orphans(memory.notes()) == []
    assert [finding for finding in memory.doctor() if finding.check == "superseded"] == []


ASKED = (
    ("The port is 80.", "Remember that the port is now 81."),
    ("The proxy's port is 80.", "Please keep in mind that the proxy's port is 81."),
    (
        "Deploys go out on Mondays only.",
        "Remember that from now on deploys go out on Fridays only.",
    ),
    ("Der Port ist 80.", "Merk dir: der Port ist jetzt 81."),
)


@pytest.mark.parametrize(("before", "said"), ASKED)
def test_the_words_that_ask_for_it_are_no_difference(
    memory: Memory, before: str, said: str
) -> None:
    memory.add(before)
    done = Talk(memory).say(said)
    assert (len(done.superseded), done.flagged) == (1, [])


def test_the_words_that_ask_for_it_change_nothing_by_themselves(memory: Memory) -> None:
    memory.add("Deploys go out on Mondays only.")
    done = Talk(memory).say("Remember that deploys go out on Fridays only.")
    assert (done.superseded, len(done.flagged)) == ([], 1)


def test_a_mark_leads_to_what_its_note_was_merged_into(memory: Memory) -> None:
    talk = Talk(memory)
    talk.step("A")
    talk.step("B")
    body = f"P{SERVICE[1:]}. They are picked up at 16:00."
    memory.add("twin", type="project", kind="decision", description=body, body=body)
    merge = {
        "op": "merge", "sources": [talk.note("B"), "project-twin.md"], "target": "project-twin.md",
        "name": "twin", "type": "project", "description": body, "body": body,
    }  # fmt: skip
    assert memory.compact(plan=json.dumps({"ops": [merge]})).outcome == "applied"
    assert (talk.index, orphans(memory.notes())) == ("B", [])
    talk.step("A")
    assert (talk.index, memory.note("twin").note.head.status) == ("A", "superseded")


# --- the dialogue, by each way in


def test_a_message_replaces_a_note_with_a_receipt_and_undo_brings_back_its_bytes(
    memory: Memory,
) -> None:
    talk = Talk(memory)
    first = talk.say(f"Remember that {FREIGHT}.")
    before = {note.file: note.digest for note in memory.notes()}
    done = talk.say(f"From now on {SERVICE}.")
    assert (talk.index, done.flagged) == ("B", [])
    (pair,) = done.superseded
    assert (pair["file"], pair["by"]) == (first.added[0], done.added[0])
    told = " ".join(receipts.told(done))
    assert all(word in told for word in ("freight carrier", "parcel service", f"undo {done.id}"))
    log = memory.log(1)[0][0]
    assert log.groups() == [[pair["by"], pair["file"]]]
    assert "parcel service" in log.subject
    memory.undo(done.id)
    assert {note.file: note.digest for note in memory.notes()} == before


def test_git_revert_brings_a_replaced_note_back(memory: Memory, git: Callable[..., str]) -> None:
    talk = Talk(memory)
    talk.say(f"Remember that {FREIGHT}.")
    before = {note.file: note.digest for note in memory.notes()}
    done = talk.say(f"From now on {SERVICE}.")
    for name in ("user.name", "user.email"):
        git(memory.project.store, "config", name, "person@example.org")
    git(memory.project.store, "revert", "--no-edit", str(done.commit))
    memory.index()
    assert {note.file: note.digest for note in memory.notes()} == before
    assert talk.index == "A"


def test_what_is_typed_replaces_a_note(memory: Memory) -> None:
    memory.add("one", type="project", description=FREIGHT, body=FREIGHT)
    done = memory.add(
        "two", type="project", description=SERVICE, body=SERVICE, said=f"From now on {SERVICE}"
    )
    assert [pair["file"] for pair in done.superseded] == ["project-one.md"]
    assert Talk(memory).index == "B"
    again = memory.add("x", type="project", description=FREIGHT, body=FREIGHT, said=FREIGHT)
    assert (again.file, Talk(memory).index) == ("project-one.md", "A")


def test_what_an_assistant_stores_replaces_a_note_only_on_the_users_words(memory: Memory) -> None:
    said = [f"We found out that {FREIGHT}.", "Fine.", f"Listen: from now on {SERVICE}."]
    memory.store(f"P{FREIGHT[1:]}.", session="ses_1", said=said[:1])
    unproven = memory.store(f"P{COURIER[1:]}.", session="ses_1", said=said)
    assert (unproven.superseded, unproven.status) == ((), "unconfirmed")
    done = memory.store(f"P{SERVICE[1:]}.", session="ses_1", said=said)
    assert [pair["file"] for pair in done.superseded] != []
    assert Talk(memory).index == "B"
    # the older words, stored late, bring nothing back
    late = memory.store(f"P{FREIGHT[1:]}.", session="ses_1", said=said)
    assert (late.existed, late.status, Talk(memory).index) == (True, "superseded", "B")


def test_a_model_only_proposes_the_pair(memory: Memory) -> None:
    memory.add("one", type="project", description=FREIGHT, body=FREIGHT)
    claim = {
        "action": "add", "type": "project", "kind": "", "name": "parcels", "file": "",
        "description": f"P{SERVICE[1:]}", "body": f"P{SERVICE[1:]}.", "superseded": [],
    }  # fmt: skip
    said = {"role": "user", "id": "m1", "text": f"Hm. From now on {SERVICE}, it is cheaper."}
    quote = f"From now on {SERVICE}"
    done = memory.extract(
        exported(said["text"]), model=Scripted({"candidates": [{**claim, "quote": quote}]})
    )
    assert [pair["file"] for pair in done.superseded] == ["project-one.md"]
    assert Talk(memory).index == "B"


def exported(*texts: str) -> bytes:
    """A session as OpenCode exports it, said just now."""
    created = int(NOW.timestamp() * 1000)
    messages: list[dict[str, Any]] = [
        {"info": {"id": f"msg_{at}", "role": "user", "time": {"created": created + at}},
         "parts": [{"type": "text", "text": text}]}
        for at, text in enumerate(texts)
    ]  # fmt: skip
    info = {"id": "ses_2", "title": "A talk", "time": {"created": created}}
    return json.dumps({"info": info, "messages": messages}).encode()


def test_of_two_values_in_one_session_the_later_stands(memory: Memory) -> None:
    done = memory.extract(exported(
        "Remember that the staging server is at 10.0.4.7.", "Thanks!",
        "Actually, remember that the staging server is at 10.0.9.9, not 10.0.4.7.",
    ))  # fmt: skip
    assert len(done.superseded) == 1
    (row,) = [row for row in memory.listing() if row.listed]
    assert "10.0.9.9" in row.head.description
    assert memory.counts()["superseded"] == 1


def test_words_of_before_bring_nothing_back(memory: Memory) -> None:
    talk = Talk(memory)
    talk.say(f"Remember that {FREIGHT}.")
    talk.say(f"From now on {SERVICE}.")
    old = json.loads(exported(f"Remember that {FREIGHT}."))
    old["messages"][0]["info"]["time"]["created"] -= 40 * 24 * 3600 * 1000
    done = memory.extract(json.dumps(old).encode())
    assert (talk.index, done.dropped[0]["reasons"]) == ("B", ["superseded"])


def test_a_flag_that_stood_between_the_two_is_settled(memory: Memory) -> None:
    from mdmemory.store import conflicts

    memory.add("one", type="project", description=FREIGHT, body=FREIGHT)
    memory.add("two", type="project", description=SERVICE, body=SERVICE)
    pair = memory.note("one"), memory.note("two"), "freight against parcel"
    (memory.project.store / "_CONFLICTS.md").write_text(conflicts.add("", [pair], "2026-07-01"))
    assert len(memory.conflicts()) == 1
    Talk(memory).say(f"From now on {SERVICE}.")
    assert (memory.conflicts(), Talk(memory).index) == ([], "B")
    assert "- [x]" in (memory.project.store / "_CONFLICTS.md").read_text()


# --- a write that does not end


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize(("trouble", "ends"), [(die, (DIED,)), (full, (DONE, FAILED, TOLD))])
def test_a_killed_process_leaves_the_new_note_with_the_mark_or_neither(
    repository: Path, tmp_path: Path, trouble: Callable[..., None], ends: tuple[int, ...]
) -> None:
    Memory.init(repository, own_repo=True)
    Talk(Memory.open(repository, clock=lambda: NOW)).say(f"Remember that {FREIGHT}.")
    place = tmp_path / "copy"

    def fresh() -> Talk:
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(repository, place, symlinks=True)
        return Talk(Memory.open(place, clock=lambda: NOW), "later")

    talk = fresh()
    ended, count = child(lambda: talk.say(f"From now on {SERVICE}."), lambda *_: None)
    assert (ended, talk.index) == (DONE, "B")
    for at in range(1, count + 1) if FULL else spread(1, count, 5):
        talk = fresh()
        before = {note.file: note.digest for note in talk.memory.notes()}
        said = partial(talk.say, f"From now on {SERVICE}.")
        ended, _ = child(said, partial(_at, trouble, at))
        assert ended in ends, at
        memory = Memory.open(place, clock=lambda: NOW)
        memory.index()
        now, counts = {note.file: note.digest for note in memory.notes()}, memory.counts()
        assert (counts["notes"], counts["conflicts"]) == (1, 0), at
        assert now == before or (len(now), counts["superseded"]) == (2, 1), at
        assert orphans(memory.notes()) == []


def _at(trouble: Callable[..., None], at: int, event: str, step: int) -> None:
    trouble(event, step, at)


# --- a walk


@pytest.mark.parametrize("seed", range(20 if FULL else 1))
def test_a_random_walk_makes_no_circle_and_loses_no_byte(
    memory: Memory, seed: int, git: Callable[..., str]
) -> None:
    walk, talk, seen = random.Random(seed), Talk(memory), set[bytes]()
    store = memory.project.store
    for _ in range(14):
        step = walk.choice(["A", "B", "C", "A", "B", "C", "~A", "~B", "-C", "!", "*B"])
        try:
            talk.step(step)
        except (LookupError, MdmemoryError):
            continue  # there is no such note, or nothing to take back
        notes = memory.notes()
        assert [each.note.head.name for each in orphans(notes)] == []
        index = (store / "MEMORY.md").read_text()
        for note in notes:
            seen.add((store / note.file).read_bytes())
            if note.note.head.status == "superseded":
                assert note.file not in index
    known = git(store, "rev-list", "--objects", "--all")
    for data in seen:
        blob = git(store, "hash-object", "--stdin", text=data.decode()).strip()
        assert blob in known
