"""Whatever is handed in, the right reader is found, or one sentence says why there is none."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmemory.config.person import Hosts
from mdmemory.errors import BadTranscript, MdmemoryError, NotFound
from mdmemory.transcripts.opencode import MAGIC, read_export
from mdmemory.transcripts.sources import READERS, copy, read

DATA = Path(__file__).parents[1] / "capture/data"


def test_each_kind_is_recognised_by_its_bytes() -> None:
    for name, session in (
        ("work.json", "ses_1a2b3c"), ("claude.jsonl", "0d1f6c1e-6a53-4a0e-9c0b-2f7a3f9f0001"),
    ):  # fmt: skip
        assert read((DATA / name).read_bytes()).session == session
        assert read(DATA / name) == read((DATA / name).read_bytes())
    assert read(DATA / "plain.txt").session.startswith("text-")


def test_an_export_on_one_line_is_no_session_of_claude() -> None:
    data = json.dumps(json.loads((DATA / "work.json").read_bytes())).encode()
    assert read(data) == read_export((DATA / "work.json").read_bytes())
    with pytest.raises(BadTranscript, match="cut off"):
        read(data[:-20])


def test_one_line_of_claude_is_enough() -> None:
    data = b'{"type":"user","uuid":"u","sessionId":"s","message":{"content":"hello"}}'
    assert [turn.text for turn in read(data).turns] == ["hello"]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b'store = "notes"\n', "not JSON, and no line"),
        (b"Assistants: none\n", "not JSON, and no line"),
        (b"{}", "no `info`"),
        (b"[]", "no `info`"),
        (b'{"info": {"id": "s"}, "messages": [', "cut off"),
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
    events = (
        {"type": "event_msg", "timestamp": other, "payload": one},
        {"type": "event_msg", "payload": {"type": "item_completed", "item": other}},
    )
    first = {"sessionId": "s", "projectHash": "0", "summary": one}
    messages = (
        {"$set": one},
        {"$set": {"messages": [one, other]}},
        {"id": "m", "type": "user", "content": one, "displayContent": other},
    )
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


def _hosts(folder: Path) -> Hosts:
    return Hosts(folder / "opencode.db", folder / "projects", folder / "codex", folder / "gemini")


@pytest.mark.parametrize("what", ["folder", "pipe", "nothing", "link"])
def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path, what: str) -> None:
    path = tmp_path / "talk"
    if what == "folder":
        path.mkdir()
    elif what == "pipe":
        os.mkfifo(path)
    elif what == "link":
        path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(BadTranscript):
        read(path)


def test_a_session_is_copied_from_the_host_that_has_it(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-repo"
    folder.mkdir(parents=True)
    (folder / "abc-1.jsonl").write_bytes((DATA / "claude.jsonl").read_bytes())
    hosts = _hosts(tmp_path)
    assert len(read(copy(hosts, "abc-1")).turns) == 6
    for name in ("abc-2", "../-repo/abc-1", "*", ""):
        with pytest.raises(NotFound):
            copy(hosts, name)


def test_a_host_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    hosts = _hosts(tmp_path)
    hosts.opencode.write_bytes(b"no database, though it is named so")
    with pytest.raises(MdmemoryError, match="is damaged"):
        copy(hosts, "ses_1")
