"""Sessions are found where the hosts keep them, only those of the folders that were named, and of
each only what a person typed, and what was answered, is a turn."""

import hashlib
import json
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mdmemory.config.person import Hosts
from mdmemory.config.person import host_places as of_environment
from mdmemory.errors import BadTranscript, NotFound
from mdmemory.transcripts.codex import transcript as codex_transcript
from mdmemory.transcripts.gemini import transcript as gemini_transcript
from mdmemory.transcripts.session_files import SessionFile, SessionRows
from mdmemory.transcripts.sources import READERS, copy, find_place, read, sessions
from mdmemory.transcripts.turns import Transcript, select_turns

DATA = Path(__file__).parent / "data"
CAPTURE = Path(__file__).parents[1] / "capture/data"
Patch = pytest.MonkeyPatch
_AT = "2026-11-24T17-01-20"


def uuid(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-000000000000"


def jsonl(path: Path, *rows: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def claude(hosts: Hosts, folder: Path, number: int, text: str = "hello") -> Path:
    slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(folder))
    said = {"type": "user", "uuid": f"u{number}", "sessionId": uuid(number), "cwd": str(folder),
            "timestamp": f"2026-06-01T10:00:{number:02}Z",
            "message": {"content": text}}  # fmt: skip
    return jsonl(hosts.claude / slug / f"{uuid(number)}.jsonl", said)


def codex(hosts: Hosts, folder: Path, number: int, text: str = "hello") -> Path:
    meta = {"id": uuid(number), "cwd": str(folder), "base_instructions": {"text": "x" * 9_000}}
    stamp = f"2026-06-01T10:00:{number:02}Z"
    return jsonl(
        hosts.codex / f"sessions/2026/06/01/rollout-2026-06-01T10-00-00-{uuid(number)}.jsonl",
        {"timestamp": stamp, "type": "session_meta", "payload": meta},
        {"timestamp": stamp, "type": "event_msg",
         "payload": {"type": "item_completed", "item": {
             "type": "UserMessage", "id": f"i{number}",
             "content": [{"type": "text", "text": text}]}}},
    )  # fmt: skip


def gemini(hosts: Hosts, folder: Path, number: int, text: str = "hello") -> Path:
    name = hashlib.sha256(str(folder).encode()).hexdigest()[:9]
    chats = hosts.gemini / "tmp" / name / "chats"
    chats.mkdir(parents=True, exist_ok=True)
    (chats.parent / ".project_root").write_text(f"{folder}\n", encoding="utf-8")
    return jsonl(
        chats / f"session-2026-06-01T10-00-{uuid(number)[:8]}.jsonl",
        {"sessionId": uuid(number), "projectHash": "0", "kind": "main"},
        {"id": f"m{number}", "type": "user", "timestamp": f"2026-06-01T10:00:{number:02}Z",
         "content": [{"text": text}]},
    )  # fmt: skip


Writer = Callable[..., Path]
WRITERS: dict[str, Writer] = {"claude": claude, "codex": codex, "gemini": gemini}


@pytest.fixture
def hosts(tmp_path: Path) -> Hosts:
    home = tmp_path / "home"
    return Hosts(home / "opencode.db", home / "projects", home / ".codex", home / ".gemini")


@pytest.fixture(params=[*WRITERS])
def write(request: pytest.FixtureRequest) -> Writer:
    return WRITERS[request.param]


def words(transcript: Transcript, role: str = "user") -> list[str]:
    return [turn.text for turn in transcript.turns if turn.role == role]


def found(hosts: Hosts, *folders: Path, newest: int | None = None) -> list[str]:
    return [session.id for session in sessions(hosts, folders, newest).items]


def test_each_host_has_a_place_of_its_own_which_its_variable_can_name(hosts: Hosts) -> None:
    assert [reader.name for reader in READERS] == ["codex", "gemini", "claude"]
    assert len({find_place(hosts, reader) for reader in READERS}) == 3
    found = of_environment({"CODEX_HOME": "/c", "GEMINI_CLI_HOME": "/g", "CLAUDE_CONFIG_DIR": "/a"})
    assert (found.codex, found.gemini) == (Path("/c"), Path("/g/.gemini"))
    assert found.claude == Path("/a/projects")


def test_sessions_of_named_folders_are_listed(hosts: Hosts, write: Writer, tmp_path: Path) -> None:
    here = tmp_path / "app"
    for number, folder in enumerate((here, here / "sub", tmp_path / "app-2", tmp_path, Path("/"))):
        write(hosts, folder, number)
    assert found(hosts, here) == [uuid(1), uuid(0)]
    assert len(sessions(hosts, None).items) == 5


def test_a_folder_behind_a_link_is_the_folder(hosts: Hosts, write: Writer, tmp_path: Path) -> None:
    (tmp_path / "private/app").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "private")
    write(hosts, tmp_path / "private/app", 1)
    write(hosts, tmp_path / "link/app", 2)
    for name in ("private", "link"):
        assert uuid(1) in found(hosts, tmp_path / name / "app")
    assert found(hosts, tmp_path / "private/app", tmp_path / "link/app") == [uuid(2), uuid(1)]


def test_no_session_of_another_project_is_copied(
    hosts: Hosts, write: Writer, tmp_path: Path
) -> None:
    write(hosts, tmp_path / "app", 1, "remember: ours")
    write(hosts, tmp_path / "other", 2, "remember: theirs")
    assert words(read(copy(hosts, uuid(1), [tmp_path / "app"]))) == ["remember: ours"]
    with pytest.raises(NotFound, match="belongs to another project") as refused:
        copy(hosts, uuid(2), [tmp_path / "app"])
    assert "--all-projects" in refused.value.hint
    assert read(copy(hosts, uuid(2))).turns


def test_a_session_without_a_folder_is_nobodys(hosts: Hosts, write: Writer, tmp_path: Path) -> None:
    file = write(hosts, tmp_path / "app", 1)
    file.write_text(file.read_text("utf-8").replace('"cwd"', '"nowhere"'), encoding="utf-8")
    (file.parent.parent / ".project_root").unlink(missing_ok=True)
    assert found(hosts, tmp_path / "app") == []
    with pytest.raises(NotFound):
        copy(hosts, uuid(1), [tmp_path / "app"])


def test_a_copy_says_what_the_session_says(hosts: Hosts, tmp_path: Path) -> None:
    for name, path in (
        ("codex.jsonl", hosts.codex / f"sessions/2026/11/24/rollout-{_AT}-{uuid(1)}.jsonl"),
        ("gemini-resumed.jsonl", hosts.gemini / f"tmp/p/chats/session-{_AT}-5f13aa74.jsonl"),
        ("claude.jsonl", hosts.claude / f"-p/{uuid(3)}.jsonl"),
    ):  # fmt: skip
        path.parent.mkdir(parents=True)
        path.write_bytes((DATA / name).read_bytes())
        id = "5f13aa74-19a4-4cf1-b4ec-bf35745f0de9" if "gemini" in name else path.stem[-36:]
        data = copy(hosts, id)
        assert read(data) == read(DATA / name)
        assert not any(word in data for word in (b"INJECTED", b'"toolCalls"'))


def test_a_broken_line_hides_no_other(hosts: Hosts, write: Writer, tmp_path: Path) -> None:
    file = write(hosts, tmp_path, 1, "half \ud800 a pair")
    whole = file.read_bytes()
    for junk in (b"\0" * 99, b"\xff\xfe{", b"{" * 9_999, b"[]", b'"\\ud800"', b""):
        file.write_bytes(junk + b"\n" + whole + junk + b"\n")
        (session,) = sessions(hosts, [tmp_path]).items
        session.transcript.turns[0].text.encode()


def test_what_a_crash_left_in_a_line_hides_no_whole_record() -> None:
    torn, one, two, nul = b'{"a": {"b": 1}, "c": "x', b'{"n": 1, "in": {}}', b'{"n": 2}', b"\0" * 9
    for line, *numbers in (
        (torn + one, 1), (torn + torn + one, 1), (one + two, 1, 2), (one + b" " + two, 1, 2),
        (nul + one, 1), (one + nul + two, 1, 2), (one + torn, 1), (torn,),
    ):  # fmt: skip
        assert [row["n"] for row in SessionRows(line)] == numbers


def test_lines_that_are_cut_off_are_counted(hosts: Hosts, write: Writer, tmp_path: Path) -> None:
    file = write(hosts, tmp_path, 1)
    whole = file.read_bytes()
    cut = whole.splitlines()[0][:-9]
    file.write_bytes(cut + whole + b"\0\0\n" + cut + b"\n" + cut)  # the last is being written
    told = read(copy(hosts, uuid(1)))
    assert (told.torn, words(told)) == (2, ["hello"])
    (session,) = sessions(hosts, [tmp_path]).items
    assert words(session.transcript) == ["hello"]


def test_what_is_no_session_is_passed_over(hosts: Hosts, write: Writer, tmp_path: Path) -> None:
    file = write(hosts, tmp_path, 1)
    name = file.name.replace(uuid(1)[:8], uuid(2)[:8])
    (file.parent / name).write_bytes(b"")
    (file.parent / name.replace("00000002", "00000003")).mkdir()
    (file.parent / name.replace("00000002", "00000004")).symlink_to(file)
    os.mkfifo(file.parent / name.replace("00000002", "00000005"))
    (file.parent / f"{file.name}.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    there = sessions(hosts, [tmp_path])
    assert [session.id for session in there.items] == [uuid(1)]
    (problem,) = there.problems
    assert "3 sessions of" in problem.message
    assert problem.hint


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_session_that_nobody_may_read_is_named(
    hosts: Hosts, write: Writer, tmp_path: Path
) -> None:
    write(hosts, tmp_path, 1).chmod(0)
    write(hosts, tmp_path, 2)
    there = sessions(hosts, [tmp_path])
    assert [session.id for session in there.items] == [uuid(2)]
    assert "cannot be read" in there.problems[0].message
    with pytest.raises(BadTranscript):
        copy(hosts, uuid(1))


def test_the_newest_are_read_the_rest_is_told(hosts: Hosts, write: Writer, tmp_path: Path) -> None:
    for number in range(8):
        os.utime(write(hosts, tmp_path, number), (number, number))
    write(hosts, tmp_path / "sub", 9)
    there = sessions(hosts, [tmp_path], 3)
    assert [session.id for session in there.items] == [uuid(9), uuid(7), uuid(6)]
    assert not there.is_all
    assert sessions(hosts, [tmp_path], 9).is_all


def test_of_a_long_session_only_the_words_are_kept_in_memory(hosts: Hosts, tmp_path: Path) -> None:
    file = claude(hosts, tmp_path, 1)
    result = {"type": "user", "uuid": "t", "toolUseResult": "x" * 100_000, "message": {}}
    line = json.dumps(result).encode() + b"\n"
    with file.open("ab") as opened:
        for _ in range(200):
            opened.write(line)
    tracemalloc.start()
    try:
        assert len(read(copy(hosts, uuid(1))).turns) == 1
        assert tracemalloc.get_traced_memory()[1] < 2_000_000, "the file has 20,000,000"
    finally:
        tracemalloc.stop()


def test_a_line_that_is_too_long_is_passed_over(tmp_path: Path, monkeypatch: Patch) -> None:
    file = tmp_path / "a.jsonl"
    long = json.dumps({"long": "x" * 2_000})
    file.write_text("\n".join(('{"n":1}', long, '{"n":2}', '{"n":3}', long)), encoding="utf-8")
    monkeypatch.setattr("mdmemory.transcripts.session_files.MAX_LINE", 1_000)
    assert [*SessionRows(SessionFile("a", (file,)))] == [{"n": 1}, {"n": 2}, {"n": 3}]
    monkeypatch.setattr("mdmemory.transcripts.session_files.MAX_LINE", len(long) + 1)
    assert len([*SessionRows(SessionFile("a", (file,)))]) == 5


def test_a_file_over_the_limit_is_told(
    hosts: Hosts, write: Writer, tmp_path: Path, monkeypatch: Patch
) -> None:
    write(hosts, tmp_path, 1, "hello " * 99)
    monkeypatch.setattr("mdmemory.transcripts.session_files.MAX_BYTES", 200)
    there = sessions(hosts, [tmp_path])
    assert there.items == ()
    assert "1 session of" in there.problems[0].message


# --- what one host alone does -----------------------------------------------------------------


def test_a_helper_of_claude_lies_elsewhere_or_is_named_so(hosts: Hosts, tmp_path: Path) -> None:
    file = claude(hosts, tmp_path, 1)
    helpers = file.parent / uuid(1) / "subagents"
    helpers.mkdir(parents=True)
    for path in (file.with_name("agent-1.jsonl"), helpers / "agent-2.jsonl"):
        path.write_bytes(file.read_bytes())
    assert found(hosts, tmp_path) == [uuid(1)]


def test_a_fork_of_claude_has_only_its_own_turns_and_hooks_change_none() -> None:
    turns = read(DATA / "claude-fork.jsonl").turns
    assert [turn.text for turn in turns] == ["remember: worktree forked", "Understood, done."]
    lines = (DATA / "claude.jsonl").read_bytes().splitlines()
    without = [line for line in lines if b"INJECTED" not in line and b"hook" not in line]
    assert len(without) < len(lines)
    whole = read(DATA / "claude.jsonl")
    assert read(b"\n".join(without)) == whole
    expected = ["remember: claude says tabs", "second: remember claude says spaces"]
    assert words(whole) == expected


def test_a_session_of_codex_is_found_by_a_folder_late_in_its_line_and_when_it_is_archived(
    hosts: Hosts, tmp_path: Path
) -> None:
    file = codex(hosts, tmp_path, 1)
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    lines[0]["payload"] = {"first": "x" * 9_000, **lines[0]["payload"]}
    jsonl(file, *lines)
    assert found(hosts, tmp_path) == [uuid(1)]
    (hosts.codex / "archived_sessions").mkdir()
    file.rename(hosts.codex / "archived_sessions" / file.name)
    assert found(hosts, tmp_path) == [uuid(1)]
    assert copy(hosts, uuid(1))


def test_a_session_of_gemini_in_two_files_is_one(hosts: Hosts, tmp_path: Path) -> None:
    file = gemini(hosts, tmp_path, 1)
    later = {"id": "m9", "type": "user", "content": "more"}
    first = {"sessionId": uuid(1), "projectHash": "0"}
    jsonl(file.with_name(file.name.replace("T10", "T11")), first, later)
    assert found(hosts, tmp_path) == [uuid(1)]
    assert words(read(copy(hosts, uuid(1)))) == ["hello", "more"]


def test_a_project_of_gemini_is_known_by_its_registry_too(hosts: Hosts, tmp_path: Path) -> None:
    project = gemini(hosts, tmp_path, 1).parent.parent
    (project / ".project_root").unlink()
    assert found(hosts, tmp_path) == []
    registry = hosts.gemini / "projects.json"
    registry.write_text(json.dumps({"projects": {str(tmp_path): project.name}}), encoding="utf-8")
    assert found(hosts, tmp_path) == [uuid(1)]
    assert copy(hosts, uuid(1), [tmp_path])
    registry.write_text("[", encoding="utf-8")
    assert found(hosts, tmp_path) == []


# --- Codex: the samples were written by the client 0.169.0, with hooks that gave it texts of ours -

META = {"type": "session_meta", "payload": {"id": "s", "cwd": "/repo"}}
UNNAMED = {
    "type": "item_completed",
    "item": {"type": "UserMessage", "content": [{"type": "text", "text": "x"}]},
}


def item(text: str, at: int = 0, kind: str = "UserMessage", **more: Any) -> dict[str, Any]:
    content = [{"type": "Text" if kind == "AgentMessage" else "text", "text": text}]
    payload = {"type": "item_completed", "thread_id": "s", **more,
               "item": {"type": kind, "id": f"i{at}", "content": content}}  # fmt: skip
    return {"type": "event_msg", "timestamp": f"2026-06-01T10:{at:02}:00Z", "payload": payload}


def of_codex(*rows: dict[str, Any]) -> list[str]:
    return words(codex_transcript([META, *rows]))


def test_of_a_session_of_codex_only_what_was_said_becomes_a_turn() -> None:
    transcript = read(DATA / "codex.jsonl")
    assert (transcript.session, transcript.parent) == ("01a20e81-3c7b-7822-857a-db9c28edb8c6", "")
    said = ("codex says tabs", "codex second says spaces", "after compaction says fourth")
    assert words(transcript) == [f"remember: {text}" for text in said]
    assert words(transcript, "assistant") == ["Understood, done."] * 3
    assert transcript.turns[0].time == 1795539681095
    assert len({turn.id for turn in transcript.turns}) == 6, "a name that comes twice"
    assert [turn.text[:22] for turn in transcript.summaries] == ["Another language model"]
    raw = (DATA / "codex.jsonl").read_text("utf-8")
    assert raw.count("INJECTED") > 5, "this sample would prove nothing"
    assert raw.count("the agents file speaks") > 0


def test_a_fork_of_codex_has_only_its_own_turns_and_a_reviewers_orders_are_nobodys() -> None:
    assert words(read(DATA / "codex-fork.jsonl")) == ["remember: the fork says third"]
    assert words(read(DATA / "codex-review.jsonl")) == []
    reviewer = read(DATA / "codex-reviewer.jsonl")
    assert (reviewer.turns, reviewer.parent != "") == ((), True)


def test_codexs_own_sessions_have_no_turns() -> None:
    for meta in (
        {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}},
        {"source": {"internal": "memory_consolidation"}},
        {"source": "cli", "thread_source": "subagent"},
    ):
        first = {"type": "session_meta", "payload": {"id": "s", **meta}}
        transcript = codex_transcript([first, item("remember: an order to a helper")])
        assert (transcript.turns, transcript.parent != "") == ((), True)


def test_what_codex_tells_twice_or_an_editor_a_pipe_or_another_thread_adds_is_left_out() -> None:
    twice = item("use tabs", 1), item("use tabs", 1), item("use tabs", 2)
    assert of_codex(*twice) == ["use tabs", "use tabs"], "twice within seconds"
    editor = "# Context from my IDE setup:\n\n## Active file: a.md\nremember: x\n\n"
    asked = f"{editor}## My request for Codex:\nremember: use tabs\n"
    piped = "What is wrong?\n\n<stdin>\nremember: a log\n</stdin>"
    assert of_codex(item(asked, 1), item(piped, 2)) == ["remember: use tabs", "What is wrong?"]
    review, end = item("", 1, "EnteredReviewMode"), item("", 3, "ExitedReviewMode")
    other = item("a", 0, thread_id="other")
    assert of_codex(other, review, item("b", 2), end, item("c", 4)) == ["c"]


def test_a_session_of_codex_without_its_first_line_is_refused() -> None:
    with pytest.raises(BadTranscript, match="names no session"):
        read(json.dumps(item("x")).encode())


@pytest.mark.parametrize(
    "row",
    [
        {"payload": None}, {"payload": "text"}, {"payload": {}}, {"payload": {"type": 3}},
        {"payload": {"type": "item_completed", "item": 3}},
        {"payload": {"type": "item_completed", "item": {"type": "UserMessage", "content": [3]}}},
        {"timestamp": "no moment at all!", "payload": UNNAMED}, {"type": ["event_msg"]},
        {"timestamp": None, "payload": UNNAMED},
    ],
    ids=str,
)  # fmt: skip
def test_a_line_of_codex_of_another_form_is_passed_over(row: dict[str, Any]) -> None:
    assert of_codex({**item("x"), **row}, item("the next", 1)) == ["the next"]


# --- Gemini CLI: the samples were written by the client 0.61.0, with hooks as above ---------------


def said(text: object, id: str = "m1", kind: str = "user", **more: Any) -> dict[str, Any]:
    content = [{"text": text}] if isinstance(text, str) else text
    return {"id": id, "type": kind, "content": content, **more}


def of_gemini(*rows: dict[str, Any]) -> Transcript:
    return gemini_transcript([{"sessionId": "s", "projectHash": "0", "kind": "main"}, *rows])


THANKS = said("Got it. Thanks for the additional context!", "n2", "gemini")


def test_of_a_session_of_gemini_only_what_was_said_becomes_a_turn() -> None:
    transcript = read(DATA / "gemini.jsonl")
    assert transcript.session == "66c928ca-b22f-42b7-b418-2045acdfd8ee"
    first = "remember: first in the terminal"
    others = ["second message here", "third message here", "fourth after compress"]
    assert words(transcript) == [first, *others]
    assert words(transcript, "assistant") == ["Understood, done."] * 4
    assert transcript.turns[0].time == 1795540050730
    assert (DATA / "gemini.jsonl").read_text("utf-8").count("INJECTED") > 4
    assert read(DATA / "gemini-helper.jsonl").turns == ()
    own = {"$set": {"summary": "mdmemory extract"}}
    assert of_gemini(own, said("remember: x")).turns == ()


def test_a_message_that_gemini_drops_when_it_goes_on_is_still_said() -> None:
    typed = "I prefer pnpm over npm. Read the README <b>please</b>."
    others = ["Second prompt: use an agent", "Third prompt"]
    assert words(read(DATA / "gemini-resumed.jsonl")) == [typed, *others]
    lines = (DATA / "gemini-resumed.jsonl").read_text("utf-8").splitlines()
    histories = [json.loads(line)["$set"] for line in lines if '"$set":{"messages"' in line]
    assert "I prefer pnpm" not in json.dumps(histories[-1]), "this sample would prove nothing"
    assert words(of_gemini(said("1"), said("2", "m2"), {"$rewindTo": "m1"})) == ["1", "2"]


def test_a_shortened_history_says_nothing_anew() -> None:
    before = [said("use tabs", "m1"), said("Done.", "m2", "gemini"), said("use tabs", "m3")]
    summary = said("<state_snapshot>\nremember: use tabs\n</state_snapshot>", "n1")
    history = {"$set": {"messages": [summary, THANKS, said("use tabs", "n3")]}}
    transcript = of_gemini(*before, history, said("use tabs", "m4"))
    assert [turn.id for turn in transcript.turns] == ["m1", "m2", "m3", "m4"]
    assert [turn.id for turn in transcript.summaries] == ["n1"]
    # a summary of any form is known by the answer to it
    assert of_gemini({"$set": {"messages": [said("A plain summary", "n1"), THANKS]}}).turns == ()


def test_what_gemini_says_in_a_persons_name_is_left_out() -> None:
    for text in (
        "<hook_context>remember: ours</hook_context>",
        "<session_context>\nremember: the client's\n</session_context>",
        "Here is the user's editor context as a JSON object. remember: x",
        "System: Potential loop detected. remember: x",
        "Please continue.",
    ):
        assert of_gemini(said(text)).turns == (), text
    made = [{"text": "look at @a.md"}, {"text": "\n--- Content from referenced files ---"},
            {"text": "remember: the file's"}]  # fmt: skip
    shown = [{"text": "<hook_context>remember: ours</hook_context>\n\nlook at @a.md"}]
    both = of_gemini(said(made), said(made, "m2", displayContent=shown))
    assert words(both) == ["look at @a.md"] * 2


@pytest.mark.parametrize(
    "row",
    [
        {"content": 3}, {"content": None}, {"content": [3, None, {"text": 3}, []]}, {"id": ""},
        {"id": ["m"]}, {"type": ["user"]}, {"type": None}, {"$set": {"messages": [3, None, {}]}},
        {"$set": {"messages": 3}}, {"displayContent": 3, "content": ""},
        {"content": [{"functionResponse": {}, "text": "x"}, {"thought": True, "text": "x"}]},
    ],
    ids=str,
)  # fmt: skip
def test_a_line_of_gemini_of_another_form_is_passed_over(row: dict[str, Any]) -> None:
    assert words(of_gemini({**said("x"), **row}, said("the next", "m2"))) == ["the next"]


# --- Claude Code ----------------------------------------------------------------------------------

SAMPLE = CAPTURE / "claude.jsonl"


def line(text: object, kind: str = "user", **more: Any) -> bytes:
    row = {"type": kind, "uuid": "u1", "sessionId": "s1", "message": {"content": text}, **more}
    return json.dumps(row).encode() + b"\n"


def test_of_a_session_of_claude_only_what_was_said_becomes_a_turn() -> None:
    transcript = read(SAMPLE)
    assert transcript.session == "0d1f6c1e-6a53-4a0e-9c0b-2f7a3f9f0001"
    assert transcript.title == "Fix the flaky date test"
    deploys = "deploys are listed at https://example.org/deploys"
    assert [(turn.role, turn.text) for turn in transcript.turns] == [
        ("user", "The date test fails on CI. Can you look?"),
        ("assistant", "I will read the test."),
        ("user", "remember: tests run with TZ=UTC, see `make check`"),
        ("assistant", "Fixed: the test now pins its time zone."),
        ("user", "Thanks. 记住：我喜欢简短回答"),
        ("user", f"Where do deploys stand?\nremember: {deploys}"),
    ]
    assert transcript.turns[0].time == 1780304410250
    assert [turn.text[:12] for turn in transcript.summaries] == ["This session"]
    title = json.dumps({"type": "custom-title", "customTitle": "mdmemory extract"}).encode()
    assert read(line("remember: told to a model of ours") + title).turns == ()


def test_ids_without_an_order_are_read_on_in_the_order_of_the_lines() -> None:
    transcript = read(SAMPLE)
    ids = [turn.id for turn in transcript.turns]
    assert ids != sorted(ids), "these ids would prove nothing"
    assert [turn.id for turn in select_turns(transcript, ids[2])] == ids[3:]
    assert select_turns(transcript, ids[-1]) == []


@pytest.mark.parametrize(
    "row",
    [
        {"message": None}, {"message": "text"}, {"message": {"role": "assistant", "content": "x"}},
        {"message": {"content": 3}}, {"message": {"content": [3, None, {"type": "text"}]}},
        {"uuid": ""}, {"uuid": ["u"]}, {"type": ["user"]}, {"type": "attachment"},
        {"type": "attachment", "attachment": []}, {"message": {"content": ""}},
    ],
    ids=str,
)  # fmt: skip
def test_a_line_of_claude_of_another_form_is_passed_over(row: dict[str, Any]) -> None:
    assert words(read(line("x", **row) + line("the next", uuid="u2"))) == ["the next"]


def test_a_time_that_is_none_is_unknown_and_a_session_without_a_name_is_refused() -> None:
    for stamp in (None, 3, "yesterday", "9999-99-99", ""):
        assert read(line("x", timestamp=stamp)).turns[0].time == 0
    for name in ("", None, "../x y"):
        with pytest.raises(BadTranscript, match="names no session"):
            read(line("x", sessionId=name))
