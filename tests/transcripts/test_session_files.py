"""Sessions are found where the hosts keep them, and only those of the folders that were named."""

import hashlib
import json
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rows import each

from mdmemory.config.person import Hosts
from mdmemory.config.person import host_places as of_environment
from mdmemory.errors import BadTranscript, NotFound
from mdmemory.transcripts.session_files import SessionFile, SessionRows
from mdmemory.transcripts.sources import READERS, copy, find_place, read, sessions

DATA = Path(__file__).parent / "data"
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


def found(hosts: Hosts, *folders: Path, newest: int | None = None) -> list[str]:
    return [session.id for session in sessions(hosts, folders, newest).items]


def test_each_host_has_a_place_of_its_own(hosts: Hosts) -> None:
    assert [reader.name for reader in READERS] == ["codex", "gemini", "claude"]
    assert len({find_place(hosts, reader) for reader in READERS}) == 3


def test_the_variables_of_the_hosts_say_where_their_sessions_lie() -> None:
    found = of_environment({"CODEX_HOME": "/c", "GEMINI_CLI_HOME": "/g", "CLAUDE_CONFIG_DIR": "/a"})
    assert (found.codex, found.gemini, found.claude) == (
        Path("/c"), Path("/g/.gemini"), Path("/a/projects"),
    )  # fmt: skip


def test_only_sessions_of_the_named_folders_are_listed(
    hosts: Hosts, write: Writer, tmp_path: Path
) -> None:
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


def test_a_session_of_another_project_is_not_copied(
    hosts: Hosts, write: Writer, tmp_path: Path
) -> None:
    write(hosts, tmp_path / "app", 1, "remember: ours")
    write(hosts, tmp_path / "other", 2, "remember: theirs")
    assert [turn.text for turn in read(copy(hosts, uuid(1), [tmp_path / "app"])).turns] == [
        "remember: ours"
    ]
    with pytest.raises(NotFound, match="belongs to another project") as refused:
        copy(hosts, uuid(2), [tmp_path / "app"])
    assert "--all-projects" in refused.value.hint
    assert read(copy(hosts, uuid(2))).turns


def test_a_session_that_does_not_say_where_it_began_is_nobodys(
    hosts: Hosts, write: Writer, tmp_path: Path
) -> None:
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


def test_a_session_that_is_being_written_is_read_up_to_its_last_whole_line(
    hosts: Hosts, write: Writer, tmp_path: Path
) -> None:
    file = write(hosts, tmp_path, 1)
    with file.open("ab") as opened:
        opened.write(file.read_bytes().splitlines()[-1][:-9])
    (session,) = sessions(hosts, [tmp_path]).items
    assert [turn.text for turn in session.transcript.turns] == ["hello"]


@pytest.mark.parametrize("junk", [b"\0" * 99, b"\xff\xfe{", b"{" * 9_999, b"[]", b'"\\ud800"', b""])
def test_a_broken_line_hides_no_other(
    hosts: Hosts, write: Writer, tmp_path: Path, junk: bytes
) -> None:
    file = write(hosts, tmp_path, 1, "half \ud800 a pair")
    file.write_bytes(junk + b"\n" + file.read_bytes() + junk + b"\n")
    (session,) = sessions(hosts, [tmp_path]).items
    session.transcript.turns[0].text.encode()


def test_what_a_crash_left_in_a_line_hides_no_whole_record() -> None:
    torn, one, two, nul = b'{"a": {"b": 1}, "c": "x', b'{"n": 1, "in": {}}', b'{"n": 2}', b"\0" * 9

    def check(line: bytes, *numbers: int) -> None:
        assert [row["n"] for row in SessionRows(line)] == [*numbers]

    each([
        (torn + one, 1), (torn + torn + one, 1), (one + two, 1, 2), (one + b" " + two, 1, 2),
        (nul + one, 1), (one + nul + two, 1, 2), (one + torn, 1), (torn,),
    ], check)  # fmt: skip


def test_lines_that_are_cut_off_are_counted_and_the_one_being_written_is_not(
    hosts: Hosts, write: Writer, tmp_path: Path
) -> None:
    file = write(hosts, tmp_path, 1)
    whole = file.read_bytes()
    cut = whole.splitlines()[0][:-9]
    file.write_bytes(cut + whole + b"\0\0\n" + cut + b"\n" + cut)
    told = read(copy(hosts, uuid(1)))
    assert (told.torn, len(told.turns)) == (2, 1)


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
def test_a_session_that_may_not_be_read_is_named(
    hosts: Hosts, write: Writer, tmp_path: Path
) -> None:
    write(hosts, tmp_path, 1).chmod(0)
    write(hosts, tmp_path, 2)
    there = sessions(hosts, [tmp_path])
    assert [session.id for session in there.items] == [uuid(2)]
    assert "cannot be read" in there.problems[0].message
    with pytest.raises(BadTranscript):
        copy(hosts, uuid(1))


def test_the_newest_are_read_and_the_rest_is_said_to_be_there(
    hosts: Hosts, write: Writer, tmp_path: Path
) -> None:
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


def test_a_line_that_is_too_long_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.jsonl"
    long = json.dumps({"long": "x" * 2_000})
    file.write_text("\n".join(('{"n":1}', long, '{"n":2}', '{"n":3}', long)), encoding="utf-8")
    monkeypatch.setattr("mdmemory.transcripts.session_files.MAX_LINE", 1_000)
    assert [*SessionRows(SessionFile("a", (file,)))] == [{"n": 1}, {"n": 2}, {"n": 3}]
    monkeypatch.setattr("mdmemory.transcripts.session_files.MAX_LINE", len(long) + 1)
    assert len([*SessionRows(SessionFile("a", (file,)))]) == 5


def test_a_file_over_the_limit_is_named(
    hosts: Hosts, write: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(hosts, tmp_path, 1, "hello " * 99)
    monkeypatch.setattr("mdmemory.transcripts.session_files.MAX_BYTES", 200)
    there = sessions(hosts, [tmp_path])
    assert there.items == ()
    assert "1 session of" in there.problems[0].message


# --- what one host alone does -----------------------------------------------------------------


def test_a_helper_of_claude_lies_elsewhere_or_is_named_so(hosts: Hosts, tmp_path: Path) -> None:
    file = claude(hosts, tmp_path, 1)
    (file.parent / uuid(1) / "subagents").mkdir(parents=True)
    for path in (file.with_name("agent-1.jsonl"),
                 file.parent / uuid(1) / "subagents/agent-2.jsonl"):  # fmt: skip
        path.write_bytes(file.read_bytes())
    assert found(hosts, tmp_path) == [uuid(1)]


def test_hooks_change_no_turn_of_a_session_of_claude(tmp_path: Path) -> None:
    lines = (DATA / "claude.jsonl").read_bytes().splitlines()
    without = [line for line in lines if b"INJECTED" not in line and b"hook" not in line]
    assert len(without) < len(lines)
    assert read(b"\n".join(without)) == read(DATA / "claude.jsonl")
    assert [turn.text for turn in read(DATA / "claude.jsonl").turns if turn.role == "user"] == [
        "remember: claude says tabs", "second: remember claude says spaces",
    ]  # fmt: skip


def test_a_fork_of_claude_has_only_its_own_turns() -> None:
    turns = read(DATA / "claude-fork.jsonl").turns
    assert [turn.text for turn in turns] == ["remember: worktree forked", "Understood, done."]


def test_an_archived_session_of_codex_is_found(hosts: Hosts, tmp_path: Path) -> None:
    file = codex(hosts, tmp_path, 1)
    (hosts.codex / "archived_sessions").mkdir()
    file.rename(hosts.codex / "archived_sessions" / file.name)
    assert found(hosts, tmp_path) == [uuid(1)]
    assert copy(hosts, uuid(1))


def test_a_folder_that_stands_late_in_the_first_line_is_found(hosts: Hosts, tmp_path: Path) -> None:
    file = codex(hosts, tmp_path, 1)
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    meta = lines[0]["payload"]
    lines[0]["payload"] = {"first": "x" * 9_000, **meta}
    jsonl(file, *lines)
    assert found(hosts, tmp_path) == [uuid(1)]


def test_a_session_of_gemini_in_two_files_is_one(hosts: Hosts, tmp_path: Path) -> None:
    file = gemini(hosts, tmp_path, 1)
    later = file.with_name(file.name.replace("T10", "T11"))
    jsonl(later, {"sessionId": uuid(1), "projectHash": "0"},
          {"id": "m9", "type": "user", "content": "more"})  # fmt: skip
    assert found(hosts, tmp_path) == [uuid(1)]
    assert [turn.text for turn in read(copy(hosts, uuid(1))).turns] == ["hello", "more"]


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
