"""What is searched beside the notes: sessions of this project, and folders that a person named."""

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from rows import replace
from search.conftest import NOW, note, write_settings

from mdmemory import Memory
from mdmemory.cli import main
from mdmemory.errors import BadSetting, UsageError
from mdmemory.search import feeders
from mdmemory.search.answer import join_stores, merge_sources
from mdmemory.search.results import Found, Hit

Opened = Callable[..., Memory]
DATA = Path(__file__).parents[1] / "capture/data"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
DAY = 86_400_000


def database(home: Path) -> Path:
    path = home / ".local/share/opencode/opencode.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def say(home: Path, session: str, folder: Path, *turns: str, title: str = "A talk") -> None:
    """Turns of OpenCode, the user's and the assistant's by turns; a session goes on."""
    with closing(sqlite3.connect(database(home))) as connection, connection:
        if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            connection.executescript((DATA / "opencode.sql").read_text("utf-8"))
        query = "INSERT OR IGNORE INTO session VALUES (?, 'p', ?, 's', ?, ?, '1', 0, 1, NULL)"
        connection.execute(query, (session, None, str(folder), title))
        query = "SELECT count(*) FROM message WHERE session_id = ?"
        begun = connection.execute(query, (session,)).fetchone()[0]
        for n, text in enumerate(turns, begun):
            message = f"msg_{session}_{n:03}"
            about = {"role": ("user", "assistant")[n % 2], "time": {"created": 20_600 * DAY + n}}
            row = (message, session, json.dumps(about))
            connection.execute("INSERT INTO message VALUES (?, ?, 0, 0, ?)", row)
            part = json.dumps({"type": "text", "text": text})
            row = (f"prt_{message}", message, session, part)
            connection.execute("INSERT INTO part VALUES (?, ?, ?, 0, 0, ?)", row)


def hits(memory: Memory, query: str, source: str = "sessions") -> list[tuple[str, int]]:
    return [(hit.file, hit.start_line) for hit in memory.search(query, source=source).hits]


def write_lines(path: Path, *rows: object) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")


def choose(home: Path, folders: object) -> None:
    write_settings(home, f"search.folders = {json.dumps(folders)}")


def test_a_turn_is_found_with_its_session(opened: Opened, empty_home: Path) -> None:
    memory = opened({})
    turns = ("Where do the herons nest?", "In the reeds.", "Thanks.")
    say(empty_home, "ses_a", memory.project.root, *turns, title="On birds")
    (hit, *_) = memory.search("herons", source="sessions").hits
    assert (hit.file, hit.start_line, hit.source) == ("ses_a", 1, "sessions")
    said = (hit.title, hit.date, hit.text)
    assert said == ("On birds", "2026-05-27", "user: Where do the herons nest?")
    assert memory.search("herons").hits == (), "nobody asked for sessions"


def test_a_session_without_a_title_is_shown_by_its_first_words(
    opened: Opened, empty_home: Path
) -> None:
    memory = opened({})
    said = f"The key {SECRET} opens the house of the herons, {'and ' * 40}more.\nAnd so on."
    say(empty_home, "ses_a", memory.project.root, said, title="")
    (hit, *_) = memory.search("herons", source="sessions").hits
    assert hit.title.startswith("The key [redacted")
    assert len(hit.title) <= 80


def test_what_answers_in_the_next_turn_is_found_too(opened: Opened, empty_home: Path) -> None:
    memory = opened({})
    root = memory.project.root
    say(empty_home, "ses_a", root, "And which colour has the logo?", "Vermilion.", "Good.", "Yes.")
    say(empty_home, "ses_b", root, "Something else entirely.", "Quite so.")
    found = memory.search("which colour is the logo", source="sessions").hits
    assert [(hit.file, hit.start_line) for hit in found] == [("ses_a", 1), ("ses_a", 2)]
    assert found[0].score > found[1].score


def test_only_sessions_of_this_project_are_read(
    opened: Opened, empty_home: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    memory = opened({})
    other = tmp_path_factory.mktemp("other")
    say(empty_home, "ses_other", other, "The herons nest here.")
    say(empty_home, "ses_mine", memory.project.root / "below", "The storks nest here.")
    assert hits(memory, "nest") == [("ses_mine", 1)]


def test_a_session_is_read_again_only_when_it_went_on(
    opened: Opened, empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened({})
    root = memory.project.root
    for session, bird in (("ses_a", "herons"), ("ses_b", "storks")):
        say(empty_home, session, root, f"The {bird} nest.")
    read: list[str] = []
    before = feeders.opencode.read_transcripts
    monkeypatch.setattr(
        feeders.opencode, "read_transcripts",
        lambda path, names: read.extend(names) or before(path, names),
    )  # fmt: skip
    assert len(hits(memory, "nest")) == 2
    assert len(hits(memory, "nest")) == 2
    say(empty_home, "ses_b", root, "And where?", "The geese in the meadow.")
    assert hits(memory, "geese in the meadow")[0] == ("ses_b", 3)
    assert read == ["ses_a", "ses_b", "ses_b"]
    with closing(sqlite3.connect(database(empty_home))) as connection, connection:
        connection.execute("DELETE FROM session WHERE id = 'ses_b'")
    assert hits(memory, "geese") == []


def test_private_text_and_secrets_stay_out_of_the_database(
    opened: Opened, empty_home: Path
) -> None:
    memory = opened({})
    turn = f"The zebra key is {SECRET}. <private>The okapi is ill.</private> Use it."
    say(empty_home, "ses_a", memory.project.root, turn, title=f"About {SECRET}")
    (hit,) = memory.search("zebra key", source="sessions").hits
    assert "[redacted:" in hit.text
    assert "[redacted:" in hit.title
    assert hits(memory, "okapi") == []
    whole = b"".join(path.read_bytes() for path in memory.project.private.glob("search.db*"))
    assert not any(word in whole for word in (SECRET.encode(), b"okapi"))


def test_sessions_of_claude_are_found(opened: Opened, empty_home: Path) -> None:
    memory = opened({})
    root = memory.project.root
    slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(root))
    file = empty_home / ".claude/projects" / slug / "0d1f6c1e-6a53-4a0e-9c0b-2f7a3f9f0001.jsonl"
    file.parent.mkdir(parents=True)
    text = (DATA / "claude.jsonl").read_text("utf-8")
    file.write_text(text.replace('"/repo"', json.dumps(str(root))), "utf-8")
    memory = Memory.open(root, clock=lambda: NOW)
    found = memory.search("flaky date test", source="sessions")
    assert file.stem in {hit.file for hit in found.hits}
    assert found.said == ()


def test_sessions_of_codex_and_gemini_are_found_and_read_once(
    opened: Opened, empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened({})
    ids = [f"0000000{at}-0000-4000-8000-000000000000" for at in (1, 2, 3)]
    chats = empty_home / ".gemini/tmp/app/chats"
    sessions = empty_home / ".codex/sessions/2026/06/01"
    for folder in (chats, sessions):
        folder.mkdir(parents=True)
    for id, folder, said in (
        (ids[0], memory.project.root, "Herons drink green water."),
        (ids[1], empty_home / "other", "Herons belong to another project."),
    ):
        item = {"type": "UserMessage", "content": [{"type": "text", "text": said}]}
        write_lines(
            sessions / f"rollout-2026-06-01T10-00-00-{id}.jsonl",
            {"type": "session_meta", "payload": {"id": id, "cwd": str(folder)}},
            {
                "type": "event_msg",
                "timestamp": "2026-06-01T10:00:00Z",
                "payload": {"type": "item_completed", "item": item},
            },
        )
    (chats.parent / ".project_root").write_text(str(memory.project.root), "utf-8")
    file = chats / "session-2026-06-01T10-00-00000003.jsonl"
    turn = {"id": "m", "type": "user", "content": [{"text": "Herons are grey birds."}]}
    write_lines(file, {"sessionId": ids[2], "projectHash": "0"}, turn)

    def found() -> set[str]:
        return {hit.file for hit in memory.search("herons", source="sessions").hits}

    assert found() == {ids[0], ids[2]}
    again: list[object] = []
    for name, nothing in (("session_files.lines_of", ()), ("codex.read_start", b"")):
        read = lambda path, *_, nothing=nothing: again.append(path) or nothing  # noqa: E731
        monkeypatch.setattr(f"mdmemory.transcripts.{name}", read)
    assert found() == {ids[0], ids[2]}
    assert again == [], "nothing changed, and nothing is read again"
    file.unlink()
    assert found() == {ids[0]}


def test_a_database_that_is_damaged_leaves_the_rest(opened: Opened, empty_home: Path) -> None:
    memory = opened({"user-tea.md": note("tea", "Drinks green tea")})
    say(empty_home, "ses_a", memory.project.root, "Herons drink green water.")
    assert len(memory.search("green", source="all").hits) == 2
    database(empty_home).write_bytes(b"SQLite format 3\0 and then nothing that makes sense" * 99)
    found = memory.search("green", source="all")
    assert len(found.hits) == 2
    assert "newest sessions are missing" in found.said[0]


@pytest.fixture
def vault(tmp_path_factory: pytest.TempPathFactory, empty_home: Path) -> Path:
    folder = tmp_path_factory.mktemp("vault")
    choose(empty_home, [str(folder)])
    return folder


def test_a_vault_is_searched_with_its_folders_and_not_written(
    opened: Opened, vault: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (vault / "link").symlink_to(outside)
    (vault / "link.md").symlink_to(outside / "herons.md")
    deep = vault / "Birds/Water/Herons.md"
    for path, text in (
        (deep, "Some\n\n# On herons\n\nThey stand.\n"),
        *((vault / f"{each}/herons.md", "herons") for each in (".obsidian", ".trash")),
        *((vault / "node_modules/herons.md", "herons"), (vault / "herons.txt", "herons")),
        (outside / "herons.md", "herons"),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    (vault / "bytes.md").write_bytes(b"\xff\xfe herons \x00\xe9")
    os.mkfifo(vault / "pipe.md")
    before = sorted(vault.rglob("*"))
    memory = opened({})
    found = memory.search("herons", source="files").hits
    assert [hit.file for hit in found] == [str(deep), str(vault / "bytes.md")]
    assert (found[0].title, found[0].start_line, found[0].source) == ("On herons", 1, "files")
    assert sorted(vault.rglob("*")) == before
    deep.write_text("Only storks.\n", "utf-8")
    (vault / "bytes.md").unlink()
    assert memory.search("flamingos", source="files").hits == ()


def test_a_file_is_called_as_its_frontmatter_says(opened: Opened, vault: Path) -> None:
    memory = opened({})
    for name, text in (
        ("On herons", "title: On herons\ntags: [birds, water]\n---\n\n# Birds\n\nA heron.\n"),
        ("a", "title: *gone\n"),
        ("Birds", "\n# Birds\n\nA ruler, and a heron.\n"),
    ):
        (vault / "a.md").write_text(f"---\n{text}A heron.\n", "utf-8")
        (hit,) = memory.search("heron", source="files").hits
        assert hit.title == name


def test_lines_stay_where_they_are_without_what_is_private(opened: Opened, vault: Path) -> None:
    lines = ["one", "two <private>okapi", "more okapi", "end</private> after", "", "The heron."]
    (vault / "a.md").write_text("\n".join(lines * 60), "utf-8")
    (vault / "key.md").write_text(f"The heron's key is {SECRET}.\n", "utf-8")
    memory = opened({})
    assert memory.search("okapi", source="files").hits == ()
    hit, other = memory.search("heron", source="files").hits
    long, key = (hit, other) if hit.file.endswith("a.md") else (other, hit)
    at = long.text.split("\n").index("The heron.")
    assert (lines * 60)[long.start_line - 1 + at] == "The heron."
    assert "two  after" in long.text
    assert SECRET not in key.text


def test_of_a_big_file_the_beginning_is_searched_with_a_word(
    opened: Opened, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeders, "LONGEST", 2_000)
    text = "The heron.\n" + "Nothing at all.\n" * 500 + "The stork.\n"
    (vault / "big.md").write_text(text, "utf-8")
    memory = opened({})
    found = memory.search("heron", source="files")
    assert len(found.hits) == 1
    assert "only the beginning is searched" in found.said[0]
    assert memory.search("stork", source="files").hits == ()


def test_the_store_is_no_folder_of_files_and_one_that_is_gone_is_named(
    opened: Opened, empty_home: Path
) -> None:
    root = opened({"user-key.md": note("key", "Zebra", SECRET)}).project.root
    (root / "zebra.md").write_text("A zebra.\n", "utf-8")
    choose(empty_home, [str(root), str(root / "gone")])
    found = Memory.open(root, clock=lambda: NOW).search("zebra", source="all")
    assert [hit.file for hit in found.hits] == [str(root / "zebra.md")]
    assert found.said == (f"{root / 'gone'} of search.folders is not there.",)


def hit(source: str, number: int, score: float, text: str = "") -> Hit:
    name = f"{source}-{number}"
    return Hit(name, name, 1, 1, score, source, text or f"{name} says {number * 37}")


def test_notes_are_never_crowded_out() -> None:
    notes = Found("keyword", tuple(hit("memory", n, 0.3 - n / 100) for n in range(9)))
    files = Found("hybrid", tuple(hit("files", n, 0.9) for n in range(9)), ("A word.",))
    found = merge_sources([notes, files], 7)
    assert [each.source for each in found.hits].count("memory") == 4
    assert (found.mode, found.said, len(found.hits)) == ("hybrid", ("A word.",), 7)
    few = merge_sources([Found("keyword", notes.hits[:1]), files], 6)
    assert [each.source for each in few.hits].count("memory") == 1
    assert len(merge_sources([notes, Found("keyword", ())], 6).hits) == 6


def test_what_a_note_says_is_not_said_again_by_a_file() -> None:
    note = replace(hit("memory", 1, 0.5, "Use pnpm."), description="Installs with pnpm")
    notes = Found("keyword", (note,))
    files = Found("keyword", (hit("files", 1, 1.0, "Use pnpm!"), hit("files", 2, 0.4)))
    assert [each.name for each in merge_sources([notes, files], 6).hits] == ["memory-1", "files-2"]


def test_places_of_any_source_come_by_rank_and_superseded_notes_last() -> None:
    low = [hit("memory", n, 0.4) for n in range(4)]
    old = replace(hit("memory", 9, 0.45), status="superseded")
    notes = Found("keyword", (hit("memory", 8, 0.6), *low, old))
    files = Found("keyword", tuple(hit("files", n, 0.9) for n in range(3)))
    names = [each.name for each in merge_sources([notes, files], 7).hits]
    assert names[:4] == ["files-0", "files-1", "files-2", "memory-8"]
    assert merge_sources([notes], 9).hits[-1].status == "superseded"


def test_what_another_store_holds_still_is_not_hidden_by_a_superseded_copy() -> None:
    mine, old = hit("memory", 1, 0.8, "Use npm."), hit("memory", 2, 0.4, "Use npm.")
    first = Found("keyword", (replace(old, status="superseded"),))
    assert [each.status for each in join_stores([first, Found("keyword", (mine,))], 6).hits] == [""]


def test_a_commit_holds_notes_only(opened: Opened) -> None:
    with pytest.raises(UsageError, match="holds no sessions"):
        opened({}).search("x", source="sessions", at="HEAD")


def test_the_command_shows_the_session(
    opened: Opened, empty_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = opened({}).project.root
    say(empty_home, "ses_a", root, "Where do the herons nest?", title="On birds")
    assert main(["--store", str(root), "search", "--source", "sessions", "herons"]) == 0
    assert "ses_a:1-1  herons  2026-05-27  On birds" in capsys.readouterr().out


def test_folders_are_absolute_or_there_is_a_sentence(opened: Opened, empty_home: Path) -> None:
    root = opened({}).project.root
    for wrong in (["notes"], [3], 7, "vault:other"):
        choose(empty_home, wrong)
        with pytest.raises(BadSetting, match="a list of absolute folders"):
            Memory.open(root)
    for given, folders in (([""], ()), ("~/a:/b", ("~/a", "/b"))):
        choose(empty_home, given)
        settings = Memory.open(root).project.settings
        assert settings.several("search.folders") == folders
    assert settings.shown("search.folders") == "~/a:/b"
    assert settings.shown("search.dsn") == "not set"
