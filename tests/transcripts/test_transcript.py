"""A transcript gives turns for what people and assistants said, and for nothing else."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmemory.config.person import Hosts
from mdmemory.errors import BadTranscript, MdmemoryError, NotFound
from mdmemory.transcripts.opencode import MAGIC, read_export
from mdmemory.transcripts.sources import READERS, copy, read
from mdmemory.transcripts.turns import Transcript, Turn, select_turns, turns_read

DATA = Path(__file__).parents[1] / "capture/data"


def texts(turns: Iterable[Turn]) -> list[str]:
    return [turn.text for turn in turns]


def export(*said: str, role: str = "user") -> bytes:
    rows = enumerate(([{"type": "text", "text": text}] for text in said), 1)
    messages = [{"info": {"id": f"msg_{n:04}", "role": role}, "parts": p} for n, p in rows]
    return json.dumps({"info": {"id": "ses_1"}, "messages": messages}).encode()


def test_what_was_taken_back_is_no_turn_and_a_watermark_there_holds() -> None:
    two = {"messageID": "msg_0002"}
    part, gone = {**two, "partID": "p"}, {"messageID": "gone"}
    for revert, left in ((two, 1), (part, 2), (gone, 3), ("x", 3)):
        data = {**json.loads(export("1", "2", "3")), "info": {"id": "s", "revert": revert}}
        transcript = read_export(json.dumps(data).encode())
        assert texts(transcript.turns) == ["1", "2", "3"][:left]
        assert turns_read(transcript, "msg_0003") == left


def test_only_what_was_said_becomes_a_turn() -> None:
    transcript = read(DATA / "work.json")
    assert transcript.session == "ses_1a2b3c"
    assert transcript.title == "Fix the flaky date test"
    numbers = (1, 2, 3, 4, 5, 6, 7, 10)
    assert [turn.id for turn in transcript.turns] == [f"msg_{number:03}" for number in numbers]
    assert "".join(turn.role[0] for turn in transcript.turns) == "uauauauu"
    said = "\n".join(texts(transcript.turns))
    for injected in ("tool said", "reasoning", "synthetic", "ignored", "compaction", "next steps"):
        assert injected not in said
    assert transcript.turns[0].time == 1780304401000
    assert read(DATA / "subagent.json").turns == read(DATA / "own.json").turns == ()


def test_a_damaged_message_is_passed_over_and_the_rest_is_read() -> None:
    assert texts(read(DATA / "damaged.json").turns) == ["remember: what is whole is still read"]


@given(st.integers(min_value=1, max_value=2000))
def test_a_truncated_export_is_always_refused(cut: int) -> None:
    data = (DATA / "work.json").read_bytes().rstrip()
    with pytest.raises(BadTranscript):
        read_export(data[:-cut])


def test_half_a_surrogate_pair_can_still_be_written() -> None:
    data = b'{"info":{"id":"s"},"messages":[{"info":{"id":"m","role":"user"},"parts":'
    turns = read_export(data + b'[{"type":"text","text":"x\\ud800y"}]}]}').turns
    assert turns[0].text.encode() == "x\ufffdy".encode()


def test_a_message_quoted_by_the_command_line_is_unquoted() -> None:
    assert read_export(export('"remember: use tabs"\n')).turns[0].text == "remember: use tabs"
    assert read_export(export('"a" and "b"')).turns[0].text == '"a" and "b"'


def test_private_text_is_in_no_turn() -> None:
    said = read_export(export("a <private>remember: b</private> c", "d <PRIVATE> e")).turns
    assert texts(said) == ["a  c", "d"]


def turns(count: int, text: str = "x") -> Transcript:
    return Transcript("s", "", "", tuple(Turn(f"m{n:03}", "user", text) for n in range(count)))


def chosen(transcript: Transcript, mark: str) -> list[str]:
    return [turn.id for turn in select_turns(transcript, mark)]


def test_reading_goes_on_after_the_watermark_and_skips_nothing() -> None:
    transcript, mark, read = turns(100), "m009", list[str]()
    while found := chosen(transcript, mark):
        assert len(found) <= 40
        mark = found[-1]
        read += found
    assert read == [f"m{n:03}" for n in range(10, 100)]
    for unknown in ("", "gone"):
        assert chosen(transcript, unknown) == [f"m{n:03}" for n in range(60, 100)], "the newest"


def test_characters_are_limited_and_a_long_turn_is_still_read_whole() -> None:
    assert chosen(turns(9, "x" * 10_000), "m000") == ["m001", "m002"]
    assert chosen(turns(9, "x" * 10_000), "") == ["m007", "m008"]
    assert chosen(turns(2, "x" * 30_000), "m000") == ["m001"]


def test_of_a_plain_text_only_what_was_said_becomes_a_turn() -> None:
    transcript = read(DATA / "plain.txt")
    assert transcript.title == "Fix the flaky date test"
    code = "I will read the test.\n\n```\nUser: remember: a dialogue in code is code\n```"
    assert [(turn.role, turn.text) for turn in transcript.turns] == [
        ("user", "The date test fails on CI. Can you look?"),
        ("assistant", code),
        ("user", "Good.\nremember: tests run with TZ=UTC, see `make check`"),
        ("assistant", "Fixed: the test now pins its time zone."),
        ("user", "谢谢。\n记住：我喜欢简短回答"),
        ("assistant", "好的。记住：助手不是用户"),
    ]
    own = b"[Session: mdmemory extract]\nUser: remember: told to a model\n"
    assert read(own).turns == ()


def test_a_text_that_grows_is_read_on_and_one_that_only_begins_alike_from_its_start() -> None:
    before = read(b"User: one\nAssistant: two\n")
    after = read(b"User: one\nAssistant: two\nUser: three\n")
    assert after.session == before.session
    assert texts(select_turns(after, before.turns[-1].id)) == ["three"]
    other = read(b"User: one\nAssistant: 2\nUser: three\n")
    assert texts(select_turns(other, before.turns[-1].id)) == ["one", "2", "three"]


def test_line_ends_byte_order_marks_and_what_looks_like_a_label_do_not_matter() -> None:
    said = ("User: remember: one", "and two", "Assistant: done", "")
    for text in ("\n".join(said), "\r\n".join(said), "\ufeff" + "\n".join(said)):
        assert texts(read(text.encode()).turns) == ["remember: one\nand two", "done"]
    text = "User: a\nuser: root\nUsers: three\n  User: indented\nThe Assistant: x\n"
    assert len(read(text.encode()).turns) == 1


def test_each_kind_is_recognised_by_its_bytes() -> None:
    for name, session in (("work.json", "ses_1a2b3c"), ("claude.jsonl", "0d1f6c1e-6a53")):
        assert read((DATA / name).read_bytes()).session.startswith(session)
        assert read(DATA / name) == read((DATA / name).read_bytes())
    assert read(DATA / "plain.txt").session.startswith("text-")
    claude = b'{"type":"user","uuid":"u","sessionId":"s","message":{"content":"hello"}}'
    assert texts(read(claude).turns) == ["hello"], "one line is enough"
    data = json.dumps(json.loads((DATA / "work.json").read_bytes())).encode()
    assert read(data) == read_export((DATA / "work.json").read_bytes()), "an export on one line"
    with pytest.raises(BadTranscript, match="cut off"):
        read(data[:-20])


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b'store = "notes"\n', "not JSON, and no line"),
        (b"Assistants: none\n", "not JSON, and no line"),
        (b"{}", "no `info`"),
        (b"[]", "no `info`"),
        (b'{"info": {}, "messages": {}}', "no `info`"),
        (b'{"info": {"id": ""}, "messages": []}', "names no session"),
        (b'{"info": {"id": "s"}, "messages": [', "cut off"),
        (b'{"info": {"id": "s"}, "messages": [{"in', "cut off"),
        (b'{"type": "user", "uuid": "u", "message": {"content": "x"}}', "names no session"),
        (b"{" * 9999, "not JSON"),
        (b"[" * 200_000, "cannot be read"),
        (b"\xff\xfe{", "not UTF-8"),
        (b"User: \xff\n", "not UTF-8"),
        (MAGIC + b"\0" * 100, "is a database"),
    ],
)
def test_what_is_no_transcript_is_refused_with_the_next_step(data: bytes, says: str) -> None:
    with pytest.raises(BadTranscript, match=says) as refused:
        read(data)
    assert refused.value.hint
    with pytest.raises(BadTranscript) as no_export:
        read_export(data)
    assert "opencode export" in no_export.value.hint


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_a_transcript_or_one_sentence(data: bytes) -> None:
    sentences: list[str] = []
    for start in (
        b"", b"User: ", b"{", b'{"type":"user","sessionId":"s","uuid":"u","message":',
        b'{"type":"session_meta","payload":{"id":"s"}}\n', b'{"type":"event_msg","payload":{',
        b'{"sessionId":"s","projectHash":"0"}\n',
        b'{"sessionId":"s","projectHash":"0","messages":[',
    ):  # fmt: skip
        try:
            read(start + data)
        except BadTranscript as refused:
            sentences.append(refused.message)
    assert not any("\n" in sentence for sentence in sentences)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(("type", "message", "content", "text", "uuid", "role", "attachment",
                         "prompt", "info", "messages", "item", "$set", "kind", "parts", "id",
                         "time", "metadata")),
        inner, max_size=5),
    max_leaves=12,
)  # fmt: skip


@given(JSON, JSON)
def test_rows_of_any_shape_are_read_or_passed_over(one: object, other: object) -> None:
    row = {"type": "user", "sessionId": "s", "uuid": "u", "message": one, "attachment": other}
    parts = {"info": {"id": "s"}, "messages": [{"info": one, "parts": [other]}, other]}
    for data in (row, {**row, "type": "attachment"}, parts):
        assert read(json.dumps(data).encode()).session == "s"
    meta = {"type": "session_meta", "payload": {"id": "s", "source": one, "thread_source": other}}
    done = {"type": "item_completed", "item": other}
    events = [{"type": "event_msg", "timestamp": other, "payload": each} for each in (one, done)]
    first = {"sessionId": "s", "projectHash": "0", "summary": one}
    said = {"id": "m", "type": "user", "content": one, "displayContent": other}
    messages = ({"$set": one}, {"$set": {"messages": [one, other]}}, said)
    for reader, rows in zip(READERS, ((meta, *events), (first, *messages), (row,)), strict=True):
        kept = [*filter(None, map(reader.pick_row, rows))]
        for some in (rows, kept):
            found = read(b"\n".join(json.dumps(each).encode() for each in some))
            assert found.session == "s"
            assert found == reader.transcript(rows)


@given(st.lists(st.integers(-3, 9), max_size=30))
def test_what_was_taken_back_in_a_file_is_no_turn(steps: list[int]) -> None:
    """A step below 0 takes so many requests back; another is one, with its answer."""
    codexs: list[dict[str, Any]] = [{"type": "session_meta", "payload": {"id": "s"}}]
    claudes, model = list[dict[str, Any]](), list[int]()
    for at, step in enumerate(steps):
        if step < 0:
            payload: object = {"type": "thread_rolled_back", "num_turns": -step}
            codexs.append({"type": "event_msg", "payload": payload})
            del model[step:]
            continue
        asked = ("user", f"u{at}", f"a{[-1, *model][-1]}", "UserMessage")
        for role, id, parent, kind in (asked, ("assistant", f"a{at}", f"u{at}", "AgentMessage")):
            row = {"type": role, "uuid": id, "parentUuid": parent, "sessionId": "s"}
            claudes.append({**row, "message": {"content": id}})
            item = {"type": kind, "id": id, "content": [{"type": "text", "text": id}]}
            payload = {"type": "item_completed", "item": item}
            codexs.append({"type": "event_msg", "payload": payload})
        model.append(at)
    # Claude Code writes nothing of it before the next request, and may write its lines twice
    for reader, rows in ((READERS[0], codexs), (READERS[2], claudes * 2 * (steps[-1:] >= [0]))):
        found = reader.transcript([*filter(None, map(reader.pick_row, rows))])
        ids = [turn.id for turn in found.turns]
        assert ids == [f"{who}{at}" for at in model for who in "ua" if rows]
        for id, before in found.gone.items():
            assert ids[before:] == [each for each in ids if int(each[1:]) > int(id[1:])]


def hosts(folder: Path) -> Hosts:
    return Hosts(folder / "opencode.db", folder / "projects", folder / "codex", folder / "gemini")


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("folder", "pipe", "link", "nothing"):
        with pytest.raises(BadTranscript):
            read(tmp_path / name)


def test_a_session_is_copied_from_the_host_that_has_it(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-repo"
    folder.mkdir(parents=True)
    (folder / "abc-1.jsonl").write_bytes((DATA / "claude.jsonl").read_bytes())
    assert len(read(copy(hosts(tmp_path), "abc-1")).turns) == 6
    for name in ("abc-2", "../-repo/abc-1", "*", ""):
        with pytest.raises(NotFound):
            copy(hosts(tmp_path), name)
    hosts(tmp_path).opencode.write_bytes(b"no database, though it is named so")
    with pytest.raises(MdmemoryError, match="is damaged"):
        copy(hosts(tmp_path), "ses_1")
