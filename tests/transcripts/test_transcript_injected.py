"""What memory holds is never captured again, wherever in a session it turns up."""

import json
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from itertools import count
from pathlib import Path

import indexed
import pytest

from mdmemory import assets
from mdmemory.capture.notice import notice_wishes
from mdmemory.files import digest
from mdmemory.note.editing import compose
from mdmemory.note.limits import file_name
from mdmemory.note.note import parse
from mdmemory.store import conflicts
from mdmemory.store.store import StoredNote
from mdmemory.transcripts.injected import without_memory
from mdmemory.transcripts.sources import read
from mdmemory.transcripts.turns import Turn

DATA = Path(__file__).parents[1] / "capture/data"
SAID = (
    ("prefers-tabs", "I prefer tabs, never spaces"),
    ("remembers", "Remember: the staging database is read-only"),
    ("喜欢-简短", "记住：我喜欢简短的回答，不要长篇大论"),
    ("from-now-on", "From now on, run the linter.\n\nWhy: remember the outage."),
    ("listed", "- remember that deploys go out on Tuesdays\n- don't forget the changelog entry"),
    ("with-code", "Remember: run this\n\n```sh\nmake check\n```\n\nremember: and nothing else"),
    ("with-block", "remember: see the block\n\n```\nplain\n```\n\nremember: what follows it"),
)  # fmt: skip


def stored(name: str, body: str) -> StoredNote:
    file = file_name("feedback", name)
    hook = body.splitlines()[0]
    text = compose(name=name, type="feedback", description=hook, body=body)
    return StoredNote(file, digest(text.encode()), parse(text, file))


NOTES = [stored(*each) for each in SAID]
BUILT = indexed.build([note.note.head for note in NOTES], max_entries=4)
BARE = "---\ntitle: Hand\ndescription: remember: this hook\n---\nremember: what a hand wrote\n"
LEDGER = conflicts.add("", [(NOTES[0], NOTES[1], "remember: they differ in this")], "2026-06-01")


def fenced(text: str) -> str:
    return f"```markdown\n{text}\n```"


def quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.split("\n"))


INJECTED = {
    "index": BUILT.memory,
    "overflow": BUILT.more or "",
    "index without its mark": BUILT.memory.split("\n", 1)[1],
    "quoted index": quoted(BUILT.memory),
    "protocol": assets.asset_path("protocol/PROTOCOL.md").read_text(encoding="utf-8"),
    "ledger": LEDGER,
    "all notes": "\n".join(note.note.text for note in NOTES),
    "a note's beginning": "\n".join(NOTES[1].note.text.split("\n")[:4]),
    "a note made by hand": BARE,
    "a note of Windows": "\ufeff" + NOTES[1].note.text.replace("\n", "\r\n"),
    "recall": "<mdmemory_recall>\n- remember: what was recalled\n</mdmemory_recall>",
    "session": "<session_memory>\nerrors:\n- remember: x is y and z\n</session_memory>",
    "core": "<core_memory><goal chars='9/1000'>\nremember: x is y and z\n</goal></core_memory>",
    "workspace": "<workspace_memory_candidates>\nremember: an older form",
    "reminder": "<system-reminder>\nremember: told by the client\n</system-reminder>",
    "nested": "<mdmemory_recall>\n<core_memory>a</core_memory>\nremember: it\n</mdmemory_recall>",
    "headline": "Workspace memory (cross-session, verify if stale):\nfeedback:\n- remember: 4",
    **{f"note {note.file}": note.note.text for note in NOTES},
    **{f"fenced {note.file}": fenced(note.note.text) for note in NOTES[:6]},
    **{f"quoted {note.file}": quoted(note.note.text) for note in NOTES},
}  # fmt: skip


def as_export(user: str, assistant: str, tool: str) -> bytes:
    parts = [
        {"type": "tool", "tool": "bash", "state": {"status": "completed", "output": tool}},
        {"type": "reasoning", "text": tool},
        {"type": "text", "text": tool, "synthetic": True},
        {"type": "text", "text": assistant},
    ]
    messages = [
        {"info": {"id": "m1", "role": "user"}, "parts": [{"type": "text", "text": user}]},
        {"info": {"id": "m2", "role": "assistant"}, "parts": parts},
    ]
    return json.dumps({"info": {"id": "s1"}, "messages": messages}).encode()


def as_claude(user: str, assistant: str, tool: str) -> bytes:
    result = [{"type": "tool_result", "tool_use_id": "t", "content": tool}]
    rows = [
        ("user", user, {}),
        ("user", result, {"toolUseResult": tool}),
        ("user", f"<system-reminder>\n{tool}\n</system-reminder>", {}),
        ("user", f"<local-command-stdout>{tool}</local-command-stdout>", {}),
        ("assistant", [{"type": "thinking", "thinking": tool}], {}),
        ("assistant", [{"type": "text", "text": assistant}], {}),
    ]
    whole = [
        {"type": kind, "uuid": f"u{n}", "sessionId": "s1", "message": {"content": said}, **more}
        for n, (kind, said, more) in enumerate(rows)
    ]
    return b"\n".join(json.dumps(row).encode() for row in whole)


def as_codex(user: str, assistant: str, tool: str) -> bytes:
    def message(role: str, text: str, **more: object) -> dict[str, object]:
        content = [{"type": "input_text", "text": text}]
        return {"type": "message", "role": role, "content": content, **more}

    def event(kind: str, text: str, part: str) -> dict[str, object]:
        item = {"type": kind, "id": f"{kind}-1", "content": [{"type": part, "text": text}]}
        return {"type": "item_completed", "thread_id": "s1", "item": item}

    rows = (
        ("session_meta", {"id": "s1", "cwd": "/", "base_instructions": {"text": tool}}),
        ("response_item", message("developer", tool)),
        ("response_item", message("user", f"# AGENTS.md instructions for /\n\n{tool}")),
        ("world_state", {"state": {"agents_md": {"text": tool}}}),
        ("response_item", message("user", user)),
        ("event_msg", event("UserMessage", user, "text")),
        ("response_item", {"type": "function_call_output", "output": tool}),
        ("event_msg", {"type": "agent_reasoning", "text": tool}),
        ("event_msg", event("AgentMessage", assistant, "Text")),
        ("response_item", message("assistant", assistant)),
        ("event_msg", {"type": "task_complete", "last_agent_message": tool}),
    )
    return b"\n".join(
        json.dumps({"timestamp": f"2026-06-01T10:00:{n:02}Z", "type": kind, "payload": payload})
        .encode() for n, (kind, payload) in enumerate(rows)
    )  # fmt: skip


def as_gemini(user: str, assistant: str, tool: str) -> bytes:
    context = f"<hook_context>{tool.replace('<', '&lt;').replace('>', '&gt;')}</hook_context>"
    first = {"id": "c", "type": "user", "content": [{"text": f"<session_context>\n{tool}\n"}]}
    called = {"name": "read_file", "result": [{"functionResponse": {"output": tool}}]}
    rows = (
        {"sessionId": "s1", "projectHash": "0", "kind": "main"},
        {"$set": {"messages": [first]}},
        {"id": "a", "type": "user", "content": [{"text": context}]},
        {"id": "b", "type": "user", "content": [
            {"text": f"{context}\n\n{user}"}, {"text": "\n--- Content from referenced files ---"},
            {"text": tool}, {"text": "\n--- End of content ---"}, {"text": context}]},
        {"id": "t", "type": "gemini", "content": "", "toolCalls": [called],
         "thoughts": [{"description": tool}]},
        {"id": "r", "type": "user", "content": [{"functionResponse": {"output": tool}}]},
        {"id": "d", "type": "gemini", "content": assistant},
        {"id": "i", "type": "info", "content": tool},
    )  # fmt: skip
    return b"\n".join(json.dumps(row).encode() for row in rows)


def as_plain(user: str, assistant: str, tool: str) -> bytes:
    return f"User: {user}\n\nTool: {tool}\n\nAssistant:\n{assistant}\n".encode()


def as_database(path: Path, user: str, assistant: str, tool: str) -> Path:
    held = json.loads(as_export(user, assistant, tool))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript((DATA / "opencode.sql").read_text(encoding="utf-8"))
        connection.execute("INSERT INTO session VALUES ('s1', '', NULL, '', '', '', '', 0, 0, 0)")
        for message in held["messages"]:
            id = message["info"].pop("id")
            data = json.dumps(message["info"])
            connection.execute("INSERT INTO message VALUES (?, 's1', 0, 0, ?)", (id, data))
            for n, part in enumerate(message["parts"]):
                row = (f"{id}-{n}", id, json.dumps(part))
                connection.execute("INSERT INTO part VALUES (?, ?, 's1', 0, 0, ?)", row)
    return path


@pytest.fixture(params=["export", "claude", "codex", "gemini", "plain", "database"])
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Path | bytes]:
    """Makes a session of one kind in which a user, an assistant and a tool say something."""
    if request.param == "database":
        numbers = count()
        return lambda *said: as_database(tmp_path / f"{next(numbers)}.db", *said)
    forms = {"export": as_export, "claude": as_claude, "codex": as_codex, "gemini": as_gemini,
             "plain": as_plain}  # fmt: skip
    return forms[request.param]


def wishes(turns: Iterable[Turn]) -> list[str]:
    return [wish for turn in turns for wish in notice_wishes(turn.text).wishes]


def test_nothing_of_injected_memory_is_left() -> None:
    for what in INJECTED.keys() - {"protocol"}:
        link = "- [Tabs](feedback-tabs.md) — remember: use tabs\n"
        text = without_memory(f"{INJECTED[what]}\n{link}")
        assert text.replace("```markdown\n```", "").strip(" >\n") == "", what


def test_injected_memory_asks_for_nothing(session: Callable[..., Path | bytes]) -> None:
    for what, text in INJECTED.items():
        assert wishes(read(session(text, text, text)).turns) == [], what


def test_what_was_asked_before_a_paste_is_kept(session: Callable[..., Path | bytes]) -> None:
    for what, pasted in INJECTED.items():
        asked = "deploys go out on Tuesdays"
        text = f"remember: {asked}\n\nHere is what I see:\n\n{pasted}"
        assert wishes(read(session(text, "Done.", "")).turns) == [asked], what


def test_what_is_said_after_memory_in_code_or_a_quotation_is_kept() -> None:
    assert without_memory(f"Look:\n{BUILT.memory}Now.") == "Look:\nNow."
    for note in NOTES[:6]:
        forms = ((fenced, "```markdown\n```\n"), (quoted, ""))
        for form, left in forms:
            text = f"Look:\n{form(note.note.text)}\nNow."
            assert without_memory(text) == f"Look:\n{left}Now.", note.file


def test_what_only_looks_like_memory_is_kept() -> None:
    for text in (
        "One\n---\nTwo\n\nremember: three",
        "---\nThat was all: nothing else.\n---\nremember: four",
        "| a | b |\n|---|---|\n| 1 | 2 |\nremember: five",
        "See [the guide](guide.md).\nremember: six",
        "- [guide](https://example.org/guide)\n- remember: seven",
    ):
        assert without_memory(text) == text
