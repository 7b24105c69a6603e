"""The catalog spares reading and is never wrong: not when raced, forged, cut or missing."""

import json
import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import indexed
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmemory.errors import NoStore, NotFound
from mdmemory.note.note import Head, Note, parse
from mdmemory.store import catalog, index, sights
from mdmemory.store.store import Store

Load = Callable[..., catalog.Catalog]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    store = tmp_path / "store"
    store.mkdir()
    return store


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    private = tmp_path / "private"
    private.mkdir()
    return private / "catalog"


@pytest.fixture
def seen() -> list[str]:
    """The files that were read, in order."""
    return []


@pytest.fixture
def load(folder: Path, cache: Path, seen: list[str]) -> Load:
    store = Store(folder)

    def read(file: str) -> Note:
        seen.append(file)
        return store.read(file).note

    def run(stamp: str = "", cache: Path | None = cache) -> catalog.Catalog:
        seen.clear()
        return catalog.Catalog(folder, cache, read, lambda text: "sk-" in text, stamp)

    return run


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Instead of waiting two seconds, after which a file can no longer change unseen."""
    monkeypatch.setattr(sights, "RACY", 0)
    return lambda: time.sleep(0.03)  # a few ticks of the file system's clock


def put(folder: Path, file: str, hook: str = "a hook", body: str = "text", extra: str = "") -> Path:
    path = folder / file
    kind = file.partition("-")[0]
    head = f"name: n\ndescription: {hook}\nmetadata:\n  type: {kind}\n{extra}"
    path.write_text(f"---\n{head}---\n\n{body}\n", encoding="utf-8")
    return path


def unchanged(folder: Path, cache: Path, stamp: str = "") -> bool:
    """Whether the catalog knows, without reading a note, that nothing changed since its `save`."""
    return not catalog.Catalog(
        folder, cache, lambda file: Store(folder).read(file).note, lambda _: False, stamp
    ).changed


def hooks(found: catalog.Catalog) -> dict[str, str]:
    return {head.file: head.description for head in found.heads()}


def test_a_note_that_did_not_change_is_not_read_again(
    folder: Path, load: Load, seen: list[str], settled: Callable[[], None]
) -> None:
    put(folder, "user-a.md", "one")
    put(folder, "user-b.md", "two")
    settled()
    first = load()
    assert first.changed
    assert hooks(first) == {"user-a.md": "one", "user-b.md": "two"}
    assert first.save()
    put(folder, "user-b.md", "three")
    second = load()
    assert second.changed
    assert hooks(second) == {"user-a.md": "one", "user-b.md": "three"}
    assert seen == ["user-b.md"]


@pytest.mark.parametrize("name", ["MEMORY.md", "_MORE.md", "_CONFLICTS.md", "user-new.md"])
def test_a_file_that_comes_changes_or_goes_is_a_change(
    folder: Path, cache: Path, load: Load, settled: Callable[[], None], name: str
) -> None:
    put(folder, "user-a.md")
    for change in (
        lambda: (folder / name).write_text("1"),
        lambda: (folder / name).write_text("2"),
        lambda: (folder / name).unlink(),
    ):
        settled()
        load().save()
        assert unchanged(folder, cache)
        change()
        assert not unchanged(folder, cache)


@pytest.mark.parametrize("name", ["README.md", "notes.txt", ".hidden.md", "_other.md"])
def test_other_files_are_nobodys_business(
    folder: Path, cache: Path, load: Load, settled: Callable[[], None], name: str
) -> None:
    settled()
    load().save()
    (folder / name).write_text("x")
    assert unchanged(folder, cache)


def test_another_stamp_forgets_everything(
    folder: Path, cache: Path, load: Load, seen: list[str], settled: Callable[[], None]
) -> None:
    put(folder, "user-a.md")
    settled()
    load("0.1.0 8000 80").save()
    assert unchanged(folder, cache, "0.1.0 8000 80")
    assert not unchanged(folder, cache, "0.1.0 4000 80")
    load("0.1.0 4000 80").heads()
    assert seen == ["user-a.md"]


def test_the_catalog_after_writing_the_index_is_settled_by_the_next_command(
    folder: Path, cache: Path, load: Load, settled: Callable[[], None]
) -> None:
    put(folder, "user-a.md")
    settled()
    first = load()
    settled()
    (folder / "MEMORY.md").write_text("generated after the catalog was loaded")
    first.save()
    assert not unchanged(folder, cache)  # nobody can know that it was not edited since
    settled()
    load().save()
    assert unchanged(folder, cache)


@pytest.mark.slow
def test_a_note_just_written_is_read_again_until_it_has_settled(
    folder: Path, cache: Path, load: Load, seen: list[str]
) -> None:
    put(folder, "user-a.md")
    for _ in range(2):
        found = load()
        found.heads()
        assert seen == ["user-a.md"]
        found.save()
        assert not unchanged(folder, cache)
    time.sleep(2.1)
    load().save()
    assert unchanged(folder, cache)


def test_an_edit_of_the_same_size_and_time_is_seen(
    folder: Path, load: Load, settled: Callable[[], None]
) -> None:
    path = put(folder, "user-a.md", "one")
    settled()
    load().save()
    before = path.stat()
    with path.open("r+", encoding="utf-8") as file:
        file.write(path.read_text(encoding="utf-8").replace("one", "two"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    same = ("st_size", "st_mtime_ns", "st_ino")
    assert [getattr(before, name) for name in same] == [getattr(after, name) for name in same]
    assert hooks(load()) == {"user-a.md": "two"}


def test_a_note_edited_while_it_is_read_is_read_again_next_time(
    folder: Path, cache: Path, load: Load, settled: Callable[[], None]
) -> None:
    put(folder, "user-a.md", "one")
    settled()
    found = load()
    put(folder, "user-a.md", "two!")  # after the look, before the reading
    assert hooks(found) == {"user-a.md": "two!"}
    put(folder, "user-a.md", "three")
    found.save()
    assert not unchanged(folder, cache)
    assert hooks(load()) == {"user-a.md": "three"}


def test_a_note_removed_while_reading_is_not_there(folder: Path, cache: Path, load: Load) -> None:
    put(folder, "user-a.md")
    put(folder, "user-b.md")
    found = load()
    (folder / "user-a.md").unlink()
    assert list(found.files) == ["user-b.md"]
    assert found.columns().files == ["user-b.md"]
    assert found.save()
    assert not unchanged(folder, cache)


def test_a_secret_holds_a_note_back_unless_it_is_allowed(folder: Path, load: Load) -> None:
    put(folder, "user-a.md", body="sk-123")
    put(folder, "user-b.md", body="sk-123", extra="  secrets: allowed\n")
    for _ in range(2):
        found = load()
        assert found.held == {"user-a.md"}
        assert index.arrange_index(found.columns()).listed == ("user-b.md",)
        found.save()


def test_links_folders_and_pipes_are_no_notes(folder: Path, tmp_path: Path, load: Load) -> None:
    put(folder, "user-a.md")
    outside = put(tmp_path, "user-outside.md", "secret of another folder")
    (folder / "user-link.md").symlink_to(outside)
    (folder / "user-folder.md").mkdir()
    os.mkfifo(folder / "user-pipe.md")
    assert list(load().files) == ["user-a.md"]


def test_a_name_that_is_no_utf8_disturbs_nobody(
    folder: Path, cache: Path, load: Load, settled: Callable[[], None]
) -> None:
    put(folder, "user-é.md")
    try:
        (Path(os.fsdecode(os.fsencode(folder) + b"/user-\xff.md"))).write_text("x")
    except OSError:
        pytest.skip("this file system has UTF-8 names only")
    settled()
    found = load()
    assert list(found.files) == ["user-é.md"]
    found.save()
    assert unchanged(folder, cache)


def test_a_name_with_a_line_break_is_a_note_like_any_other(
    folder: Path, cache: Path, load: Load, seen: list[str], settled: Callable[[], None]
) -> None:
    put(folder, "user-a\nb.md", "one")
    put(folder, "user-c.md", "two")
    settled()
    load().save()
    assert unchanged(folder, cache)
    assert hooks(load()) == {"user-a\nb.md": "one", "user-c.md": "two"}
    assert seen == []


def test_a_missing_store_is_an_error_with_a_next_step(cache: Path, tmp_path: Path) -> None:
    with pytest.raises(NoStore, match="cannot be listed") as problem:
        unchanged(tmp_path / "nowhere", cache)
    assert "mdmemory init" in problem.value.hint


def test_without_a_cache_everything_is_read(folder: Path, load: Load, seen: list[str]) -> None:
    put(folder, "user-a.md")
    for _ in range(2):
        found = load(cache=None)
        assert found.changed
        assert list(found.files) == ["user-a.md"]
        assert not found.save()
        assert seen == ["user-a.md"]


def test_a_cache_that_cannot_be_written_costs_only_time(
    folder: Path, tmp_path: Path, load: Load
) -> None:
    put(folder, "user-a.md")
    found = load(cache=tmp_path / "no" / "such" / "folder" / "catalog")
    assert list(found.files) == ["user-a.md"]
    assert not found.save()


@pytest.mark.parametrize("how", ["link", "another name", "pipe", "database of others"])
def test_whatever_lies_in_place_of_the_cache_is_replaced_and_never_written_through(
    folder: Path, cache: Path, load: Load, settled: Callable[[], None], how: str
) -> None:
    put(folder, "user-a.md", "one")
    settled()
    (target := folder.parent / "target").write_bytes(b"not ours")
    if how == "link":
        cache.symlink_to(target)
    elif how == "another name":
        os.link(target, cache)
    elif how == "pipe":
        os.mkfifo(cache)
    else:
        with closing(sqlite3.connect(cache)) as database:
            database.execute("CREATE TABLE note (file TEXT)")
    assert hooks(load()) == {"user-a.md": "one"}
    assert load().save()
    assert target.read_bytes() == b"not ours"
    assert unchanged(folder, cache)


def damages(whole: bytes) -> Iterator[bytes]:
    """What may be left of a database of pages of 4,096 bytes."""
    yield from (b"", b"\n", b"mdmemory catalog 5", b"SQLite format 3\0", whole[:100], whole[:-1])
    for at in range(0, len(whole), 4096):
        yield whole[:at]
        yield whole[:at] + b"\0" * 4096 + whole[at + 4096 :]
        yield whole[:at] + b"\xff" * 4096 + whole[at + 4096 :]
        yield whole[:at] + random.Random(at).randbytes(64) + whole[at + 64 :]  # a page's own words


def test_a_damaged_cache_is_made_anew_and_nothing_it_says_is_believed(
    folder: Path, cache: Path, load: Load, settled: Callable[[], None]
) -> None:
    for number in range(40):
        put(folder, f"user-{number}.md", f"hook {number} \U0001f600", "sk-1" if number < 5 else "x")
    settled()

    def known() -> tuple[object, ...]:
        now = load()
        asked = now.held, now.with_status("unconfirmed"), now.heads(), now.columns()
        now.save()
        return asked

    expected = known()
    for data in damages(cache.read_bytes()):
        cache.write_bytes(data)
        assert known() == expected
        assert known() == expected
        assert unchanged(folder, cache), "the next command makes it anew"


def test_what_another_process_saved_meanwhile_is_not_taken_for_what_was_seen(
    folder: Path, cache: Path, load: Load, settled: Callable[[], None]
) -> None:
    put(folder, "user-a.md", "one")
    settled()
    slow = load()
    assert hooks(slow) == {"user-a.md": "one"}
    put(folder, "user-a.md", "two")
    settled()
    load().save()
    assert slow.save()
    assert not unchanged(folder, cache)
    assert hooks(load()) == {"user-a.md": "two"}


def test_what_another_process_forgets_or_writes_between_two_questions_is_seen(
    folder: Path, cache: Path, load: Load, settled: Callable[[], None]
) -> None:
    for file in ("user-a.md", "user-b.md"):
        put(folder, file, "one")
    settled()
    load().save()
    found = load()
    assert not found.changed
    with closing(sqlite3.connect(cache)) as database, database:
        database.execute("DELETE FROM note WHERE file = 'user-b.md'")
    assert [head.file for head in found.heads_of(["user-b.md"])] == ["user-b.md"]
    assert hooks(found) == {"user-a.md": "one", "user-b.md": "one"}
    put(folder, "user-a.md", "two")
    load().heads()
    assert [head.description for head in found.heads_of(["user-a.md"])] == ["two"]
    assert not found.is_index_known, "an index of before says less"
    assert found.save()
    assert not unchanged(folder, cache)


def test_a_disk_that_fills_up_forgets_nothing_of_what_was_known(
    folder: Path, load: Load, seen: list[str], settled: Callable[[], None]
) -> None:
    put(folder, "user-a.md", "one")
    settled()
    load().save()
    for number in range(30):
        put(folder, f"user-b{number}.md", "x" * 3_000)
    found = load()
    connection = found._database.connection
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    assert len(hooks(found)) == 31
    assert "user-a.md" not in seen
    assert not found.save()


def test_a_cache_that_came_with_the_repository_is_not_believed(
    folder: Path, cache: Path, load: Load, settled: Callable[[], None]
) -> None:
    """Even one made from the very same files elsewhere: a change time cannot be forged."""
    path = put(folder, "user-a.md", "lies")
    settled()
    load().save()
    forged, status = cache.read_bytes(), path.stat()
    put(folder, "user-a.md", "true")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    cache.write_bytes(forged)
    assert hooks(load()) == {"user-a.md": "true"}


def test_the_index_from_the_catalog_is_the_index_from_the_heads(
    folder: Path, load: Load, settled: Callable[[], None]
) -> None:
    """Whatever was added, edited or removed since the catalog was saved."""
    dice = random.Random(5)
    names = [f"{type}-{n}.md" for type in ("user", "project", "other") for n in range(12)]
    for step in range(40):
        for name in dice.sample(names, dice.randrange(4)):
            body = dice.choice(["text", "sk-1"])
            if (folder / name).exists() and dice.random() < 0.4:
                (folder / name).unlink()
            else:
                more = f"  created: 2026-0{dice.randint(1, 9)}-01\n"
                more += dice.choice(["", "  status: unconfirmed\n", "cites: [src/a.py]\n"])
                put(folder, name, f"hook {step}", body, more)
        few, found = dice.sample([*names, "user-nobody.md"], 5), load()
        told = found.heads_of(few), found.citing(), found.with_status("unconfirmed")
        heads = [Store(folder).read(name).note.head for name in names if (folder / name).exists()]
        anew = indexed.build(heads, held=found.held, max_entries=6)
        assert index.arrange_index(found.columns(), max_entries=6) == anew
        heads.sort(key=lambda head: head.file)
        assert found.heads() == heads
        assert told == (
            [head for head in heads if head.file in few],
            [head for head in heads if head.cites],
            [head.file for head in heads if head.status == "unconfirmed"],
        )
        if dice.random() < 0.7:
            settled()
            found.save()


def test_columns_tell_what_would_be(folder: Path, load: Load) -> None:
    for file in ("user-b.md", "user-d.md"):
        put(folder, file)
    found = load()
    note = {file: parse(f"{file} sk-1", file) for file in ("user-a.md", "user-c.md", "user-d.md")}
    news = {**note, "user-b.md": None, "user-nowhere.md": None}
    assert list(found.columns(found.foresee_rows(news)).files) == [
        "user-a.md",
        "user-c.md",
        "user-d.md",
    ]
    assert found.columns(found.foresee_rows(news)).held == 3
    assert list(found.columns().files) == ["user-b.md", "user-d.md"]


odd = st.text(st.one_of(st.characters(), st.sampled_from("\\\n\0\x1e\x1f|f0n\ud800")), max_size=12)


@given(odd, odd, st.lists(odd, max_size=3), st.integers())
def test_any_head_can_be_remembered(
    name: str, hook: str, problems: list[str], reinforced: int
) -> None:
    head = Head("a.md", name, hook, "user", reinforced=reinforced, problems=tuple(problems))
    packed = json.dumps(catalog._VALUES(head))
    assert packed.isascii()
    assert catalog.unpack_heads([("a.md", packed)] * 2) == [head, head]


def test_odd_heads_survive_the_file(folder: Path, cache: Path, settled: Callable[[], None]) -> None:
    path = put(folder, "user-a.md")
    head = Head(path.name, "a\nb", "\x1f \\n \0 \ud800 \u2028", "us\ner", problems=("one", "two"))

    def read(file: str) -> Note:
        if not path.exists():
            raise NotFound(file)
        return Note("", head, "")

    settled()
    catalog.Catalog(folder, cache, read, lambda text: False).save()
    path.rename(folder / "user-elsewhere.txt")
    (folder / "user-elsewhere.txt").rename(path)  # another change time: the note is read again
    settled()
    for _ in range(2):
        found = catalog.Catalog(folder, cache, read, lambda text: False)
        assert found.heads() == [head]
        found.save()
    assert not catalog.Catalog(folder, cache, read, lambda text: False).changed


def test_the_index_is_known_while_nothing_that_it_shows_changes(
    folder: Path, load: Load, settled: Callable[[], None]
) -> None:
    for file in ("user-a.md", "user-b.md"):
        put(folder, file)
    (folder / "MEMORY.md").write_text("generated")
    settled()
    load().save()
    put(folder, "user-a.md", body="another body")
    assert load().changed
    assert load().is_index_known
    for change in (
        lambda: put(folder, "user-a.md", "another hook"),
        lambda: put(folder, "user-a.md", body="sk-1"),
        lambda: put(folder, "user-a.md", extra="  created: 2026-01-01\n"),
        lambda: put(folder, "user-c.md"),
        lambda: (folder / "user-b.md").unlink(),
        lambda: (folder / "MEMORY.md").write_text("edited by hand"),
        lambda: (folder / "_CONFLICTS.md").write_text("- [ ] something"),
    ):
        settled()
        load().save()
        assert load().is_index_known
        change()
        assert not load().is_index_known


def test_what_was_just_written_is_known_at_once_and_read_again_later(
    folder: Path, load: Load, seen: list[str], settled: Callable[[], None]
) -> None:
    for file in ("user-a.md", "user-b.md"):
        put(folder, file)
    settled()
    found = load()
    news = {"user-c.md": parse("Likes tea", "user-c.md"), "user-b.md": None}
    found.take(found.foresee_rows(news))
    assert list(found.files) == ["user-a.md", "user-c.md"]
    assert found.heads()[1].description == "Likes tea"
    assert not found.is_index_known
    (folder / "user-b.md").unlink()
    put(folder, "user-c.md", "another hand was quicker")
    found.save()
    assert hooks(load()) == {"user-a.md": "a hook", "user-c.md": "another hand was quicker"}
    assert seen == ["user-c.md"]


def test_heads_that_hold_a_text_are_found_whatever_is_in_it(folder: Path, load: Load) -> None:
    put(folder, "user-a.md", "either C:\\temp or D:")
    put(folder, "user-b.md", "neither")
    for _ in range(2):
        found = load()
        assert found.holding("C:\\temp") == ["user-a.md"]
        assert found.holding("either") == ["user-a.md", "user-b.md"]
        assert found.holding("nowhere") == []
        found.save()


def test_where_nothing_changed_nothing_is_read_to_know_that_no_note_waits(
    folder: Path, cache: Path, settled: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, why = Store(folder), {"user-a.md": "stranger"}

    def load() -> catalog.Catalog:
        return catalog.Catalog(
            folder, cache, store.note, lambda _: False, waiting=lambda notes: {
                file: word for file, word in why.items() if file in notes
            },
        )  # fmt: skip

    put(folder, "user-a.md")
    settled()
    first = load()
    assert first.waiting == why
    first.save()
    settled()
    assert load().changed, "what waits may be in a commit by now"
    assert load().waiting == why
    why.clear()
    load().save()
    settled()
    load().save()
    monkeypatch.setattr(catalog.Catalog, "_query_rows", lambda *_: pytest.fail("it was read"))
    known = load()
    assert not known.changed
    assert known.waiting == {}
