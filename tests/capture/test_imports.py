"""Other memories come in: read without trust, told first, stored once, taken back whole."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mdmemory import Memory
from mdmemory.capture.imports.incoming import BadImport, Incoming, day
from mdmemory.capture.imports.reading import read
from mdmemory.cli import main

Git = Callable[..., str]
KEY = "sk-proj-" + "Zx8Qw3Lr9Tb2Nv7Kc4Md6Hf1"  # looks like one, and is none


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def brief(facts: list[Incoming]) -> list[tuple[str, str, str]]:
    return [(fact.text, fact.type, fact.reason) for fact in facts]


WORKSPACE = {
    "version": 1,
    "workspace": {"root": "/repo", "key": "0123456789abcdef"},
    "entries": [
        {
            "id": "mem_1", "type": "feedback", "text": "User prefers functional components",
            "rationale": "easier to test", "source": "explicit", "status": "active",
            "createdAt": "2026-03-01T10:00:00.000Z", "updatedAt": "2026-03-02T10:00:00.000Z",
            "reinforcementCount": 2, "lastReinforcedAt": 1772668800000, "userImportance": "high",
            "pendingOwnerSessionID": "ses_1", "pendingMessageID": "msg_1",
        },
        {
            "id": "mem_2", "type": "decision", "text": "Use PostgreSQL for the primary database",
            "source": "compaction", "status": "active",
        },
        {"id": "mem_3", "type": "project", "text": "Old", "status": "superseded"},
        {"id": "mem_4", "type": "project", "text": "TODO: fix the tests", "source": "compaction"},
        "no entry",
    ],
}  # fmt: skip


def test_the_entries_of_a_workspace_memory_keep_what_is_known_of_them(tmp_path: Path) -> None:
    first, second, *others = read(put(tmp_path, "m.json", json.dumps(WORKSPACE)))
    assert first == Incoming(
        "User prefers functional components\n\nWhy: easier to test",
        "opencode-working-memory:mem_1", description="User prefers functional components",
        type="feedback", source="explicit", importance="high",
        created="2026-03-01", updated="2026-03-02", reinforced=2, last_reinforced="2026-03-05",
        session="ses_1", turn="msg_1",
    )  # fmt: skip
    assert (second.type, second.kind, second.source) == ("project", "decision", "extraction")
    assert [each.reason for each in others] == ["superseded", ""]


@pytest.mark.parametrize(
    "session",
    [
        {
            "sessionID": "ses_1",
            "items": [
                {"id": "1", "type": "decision", "content": "Use SQLite",
                 "timestamp": 1772668800000},
                {"id": "2", "type": "error", "content": "Build failed"},
            ],
        },
        {
            "sessionID": "ses_1",
            "slots": {
                "decision": [{"id": "1", "content": "Use SQLite", "timestamp": 1772668800000}],
                "error": [{"id": "2", "content": "Build failed"}],
            },
            "pool": [],
        },
    ],
    ids=["items", "slots"],
)  # fmt: skip
def test_of_a_session_file_only_what_outlives_the_session_comes_in(
    tmp_path: Path, session: dict[str, Any]
) -> None:
    put(tmp_path, "ses_1.json", json.dumps(session))
    put(tmp_path, "ses_1_pressure.json", "{}")
    decision, error = read(tmp_path)
    assert (decision.text, decision.kind, decision.reason) == ("Use SQLite", "decision", "")
    assert (decision.created, decision.session) == ("2026-03-05", "ses_1")
    assert error.reason == "session_state"


def test_core_blocks_are_told_and_left_out(tmp_path: Path) -> None:
    blocks = {"goal": {"content": "Ship it", "chars": 7}, "progress": {"content": ""}}
    found = read(put(tmp_path, "ses_1.json", json.dumps({"blocks": blocks})))
    assert brief(found) == [("Ship it", "", "session_state")]


def open_mem(path: Path, *rows: tuple[object, ...]) -> Path:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "CREATE TABLE observations (id TEXT, session_id TEXT, type TEXT, title TEXT,"
            " subtitle TEXT, facts TEXT, narrative TEXT, created_at TEXT, superseded_by TEXT)"
        )
        database.executemany("INSERT INTO observations VALUES (?,?,?,?,?,?,?,?,?)", rows)
    return path


def test_decisions_and_discoveries_of_open_mem_come_in(tmp_path: Path) -> None:
    when = "2026-03-01 10:00:00"
    path = open_mem(
        tmp_path / "memory.db",
        ("o1", "s1", "decision", "Chose SQLite", "", '["No server", "One file"]', "It is enough.",
         when, None),
        ("o2", "s1", "bugfix", "Fixed a crash", "", "[]", "Fixed it.", when, None),
        ("o3", "s1", "discovery", "The API is slow", "", "no json", "Slow since May.", when, "o4"),
    )  # fmt: skip
    kept, bugfix, old = read(path)
    assert kept.text == "It is enough.\n\n- No server\n- One file"
    assert (kept.origin, kept.description) == ("open-mem:o1", "Chose SQLite")
    assert (kept.kind, kept.created, kept.session) == ("decision", "2026-03-01", "s1")
    assert (bugfix.reason, old.reason) == ("progress", "superseded")


def test_notes_of_other_tools_keep_their_heads(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    put(
        memory,
        "feedback_tabs.md",
        "---\nname: Tabs in Go\ndescription: Go uses tabs\ntype: feedback\n---\n\ngofmt does.\n",
    )
    put(memory, "plain.md", "No head at all.\n")
    put(memory, "MEMORY.md", "- [Tabs in Go](feedback_tabs.md) — Go uses tabs\n")
    for folder in (memory, tmp_path):
        tabs, plain = read(folder)
        assert (tabs.name, tabs.description) == ("Tabs in Go", "Go uses tabs")
        assert (tabs.type, tabs.text, tabs.source) == ("feedback", "gofmt does.", "manual")
        assert (plain.text, plain.origin) == ("No head at all.", "plain.md")


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("# Rules\n\n- Use tabs\n  in Go\n- Never push to main\n\nBye.\n\n1. Third\n",
         ["Use tabs\nin Go", "Never push to main", "Bye.", "Third"]),
        ("We deploy on Tuesdays.\n\nWhy: on-call is complete.\n",
         ["We deploy on Tuesdays.\n\nWhy: on-call is complete."]),
        (f"# Title\n\n{'One. ' * 200}\n\n{'Two. ' * 200}\n",
         [("One. " * 200).strip(), ("Two. " * 200).strip()]),
        ("---\nname: a\ndescription: b\n---\n\n- c\n", ["- c"]),
        ("```\n- no fact\n```\n- Use tabs in Go\n", ["Use tabs in Go"]),
    ],
)  # fmt: skip
def test_a_plain_file_is_its_bullets_or_its_paragraphs(
    tmp_path: Path, text: str, facts: list[str]
) -> None:
    for path in (put(tmp_path, "notes.md", text), put(tmp_path / "folder", "MEMORY.md", text)):
        assert [fact.text for fact in read(path) if not fact.reason] == facts


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.json", b'{"entries": '), ("a.json", b'{"what": 1}'), ("a.json", b"[1]"),
        ("a.json", b"[" * 100_000), ("a.md", b"\xff\xfe\x00"), ("a.md", b"  \n"), ("b", None),
        ("a.db", b"SQLite format 3\x00 and no more"), ("empty/.keep", b""),
    ],
)  # fmt: skip
def test_what_holds_no_memory_is_refused_with_a_next_step(
    tmp_path: Path, name: str, data: bytes | None
) -> None:
    path = tmp_path / name
    if data is not None:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    with pytest.raises(BadImport) as refused:
        read(path.parent if name.startswith("empty") else path)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("value", "expected"),
    [("2026-03-01T10:00:00Z", "2026-03-01"), (1772668800000, "2026-03-05"), ("soon", ""),
     (True, ""), (-1, ""), (9e15, ""), (None, "")],
)  # fmt: skip
def test_days_are_read_from_dates_and_milliseconds(value: object, expected: str) -> None:
    assert day(value) == expected


# --- into a store ------------------------------------------------------------------------------


@pytest.fixture
def memory(repository: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    memory, _ = Memory.init(repository)
    monkeypatch.chdir(repository)
    return memory


def test_an_import_tells_first_stores_once_and_is_taken_back_whole(
    memory: Memory, tmp_path: Path, git: Git, capsys: pytest.CaptureFixture[str]
) -> None:
    path = put(tmp_path, "workspace-memory.json", json.dumps(WORKSPACE))
    before = git(memory.project.root, "rev-parse", "HEAD")
    for words in (("import", str(path)), ("import", str(path), "--yes", "--dry-run")):
        assert main(words) == 0
        told = capsys.readouterr().out
        assert "would store feedback-user-prefers-functional-components.md" in told
        assert "left out (superseded): Old" in told
        assert "Nothing was stored. Add --yes to store 2 notes." in told
    assert git(memory.project.root, "rev-parse", "HEAD") == before
    main(["import", str(path), "--yes", "--json"])
    said = json.loads(capsys.readouterr().out)
    assert [each["from"] for each in said["added"]] == [
        "opencode-working-memory:mem_1", "opencode-working-memory:mem_2",
    ]  # fmt: skip
    superseded, task = (each["reasons"] for each in said["dropped"])
    assert superseded == ["superseded"]
    assert "task" in task
    assert git(memory.project.root, "rev-list", "--count", f"{before.strip()}..HEAD") == "1\n"
    text = memory.note("user-prefers-functional-components").note.text
    for line in (
        "  source: explicit\n", "  importance: high\n", "  created: 2026-03-01\n",
        "  reinforced: 2\n", "  session: ses_1\n", "  turn: msg_1\n",
        "  imported_from: opencode-working-memory:mem_1\n",
    ):  # fmt: skip
        assert line in text
    again = memory.import_from(path)
    assert (again.added, again.commit, len(again.known)) == ([], None, 2)
    memory.undo(said["commit"])
    assert memory.notes() == []


def test_secrets_and_private_parts_stay_behind(memory: Memory, tmp_path: Path) -> None:
    path = put(
        tmp_path, "notes.md",
        f"- The staging host takes the key {KEY} of the team\n"
        f"- {KEY}\n- <private>Nobody's business</private>\n- Use tabs in Go, always\n",
    )  # fmt: skip
    done = memory.import_from(path)
    assert [file.partition("-")[0] for file, _, _ in done.added]
    assert len(done.added) == 2
    assert [each["reasons"] for each in done.dropped] == [["secret"], ["private"]]
    told = json.dumps([done.added, done.dropped]) + "".join(n.note.text for n in memory.notes())
    assert KEY not in told
    assert "business" not in told


def test_an_export_comes_in_again_as_it_went_out(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.add("tabs", type="feedback", description="Go uses tabs", body="gofmt does.\n\n- a\n- b")
    memory.add("sqlite", type="project", description="SQLite it is", body="One file.",
               kind="decision")  # fmt: skip
    put(memory.project.store, "reference-host.md", f"---\nname: host\n---\n\nKey {KEY}\n")
    assert main(["export"]) == 0
    shown = capsys.readouterr()
    assert KEY not in shown.out
    assert "Left out 1 note on hold" in shown.err
    path = put(tmp_path, "export.json", shown.out)
    assert [each["file"] for each in json.loads(shown.out)] == [
        "feedback-tabs.md", "project-sqlite.md",
    ]  # fmt: skip
    before = {note.file: note.note for note in memory.notes()}
    memory.remove("tabs")
    done = memory.import_from(path)
    assert [file for file, _, _ in done.added] == ["feedback-tabs.md"]
    after = memory.note("tabs").note
    assert (after.body, after.head.description, after.head.created) == (
        before["feedback-tabs.md"].body, "Go uses tabs", before["feedback-tabs.md"].head.created,
    )  # fmt: skip


def test_an_export_as_markdown_is_one_page(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.add("tabs", type="feedback", description="Go uses tabs", body="gofmt does.")
    page = "# Memory\n\n## feedback\n\n### tabs\n\n> Go uses tabs\n\ngofmt does.\n"
    assert main(["export", "--markdown", "-"]) == 0
    assert capsys.readouterr().out == page
    assert main(["export", "--markdown", str(tmp_path / "out.md")]) == 0
    assert (tmp_path / "out.md").read_text("utf-8") == page
    assert main(["export", "--markdown", str(tmp_path / "no" / "out.md")]) == 1
