"""The catalog spares reading and is never wrong: not when raced, forged, cut or missing."""

import gc
import json
import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import indexed
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmemory import Memory
from mdmemory.errors import MdmemoryError, NoStore, NotFound
from mdmemory.files import MAX_FILE
from mdmemory.git.transaction import Transactions
from mdmemory.note.note import Head, Note, parse
from mdmemory.store import catalog, index, refresh, sights
from mdmemory.store import catalog as catalogs
from mdmemory.store.catalog import Catalog
from mdmemory.store.store import Store, StoredNote

Patch = pytest.MonkeyPatch


class Shelf:
    """A store and the place of its catalog."""

    def __init__(self, top: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder, self.cache, self.patch = top / "store", top / "private" / "catalog", patch
        self.folder.mkdir()
        self.cache.parent.mkdir()
        self.seen: list[str] = []  # the files that were read since the last `load`

    def put(self, file: str, hook: str = "a hook", body: str = "text", extra: str = "") -> Path:
        kind = file.partition("-")[0]
        head = f"name: n\ndescription: {hook}\nmetadata:\n  type: {kind}\n{extra}"
        (self.folder / file).write_text(f"---\n{head}---\n\n{body}\n", encoding="utf-8")
        return self.folder / file

    def _read(self, file: str) -> StoredNote:
        self.seen.append(file)
        return Store(self.folder).read(file)

    def load(self, stamp: str = "", **where: Path | None) -> Catalog:
        self.seen.clear()
        cache = where.get("cache", self.cache)
        return Catalog(self.folder, cache, self._read, lambda text: "sk-" in text, stamp)

    def hooks(self, found: Catalog | None = None) -> dict[str, str]:
        return {head.file: head.description for head in (found or self.load()).heads()}

    def is_known(self, stamp: str = "") -> bool:
        """Whether the catalog knows, without reading a note, that nothing changed since `save`."""
        return not self.load(stamp).changed

    def settle(self) -> None:
        """Instead of waiting two seconds, after which a file can no longer change unseen."""
        self.patch.setattr(sights, "RACY", 0)
        time.sleep(0.03)  # a few ticks of the file system's clock

    def save(self) -> None:
        """What the next command knows, which comes when all has settled."""
        self.settle()
        assert self.load().save()


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: Patch) -> Shelf:
    return Shelf(tmp_path, monkeypatch)


def test_a_note_that_did_not_change_is_not_read_again(shelf: Shelf) -> None:
    shelf.put("user-a.md", "one")
    shelf.put("user-b.md", "two")
    shelf.settle()
    first = shelf.load()
    assert first.changed
    assert shelf.hooks(first) == {"user-a.md": "one", "user-b.md": "two"}
    assert first.save()
    shelf.put("user-b.md", "three")
    second = shelf.load()
    assert second.changed
    assert shelf.hooks(second) == {"user-a.md": "one", "user-b.md": "three"}
    assert shelf.seen == ["user-b.md"]


@pytest.mark.parametrize("name", ["MEMORY.md", "_MORE.md", "_CONFLICTS.md", "user-new.md"])
def test_a_file_that_comes_changes_or_goes_is_a_change(shelf: Shelf, name: str) -> None:
    shelf.put("user-a.md")
    path = shelf.folder / name
    for change in (lambda: path.write_text("1"), lambda: path.write_text("2"), path.unlink):
        shelf.save()
        assert shelf.is_known()
        change()
        assert not shelf.is_known()


@pytest.mark.parametrize("name", ["README.md", "notes.txt", ".hidden.md", "_other.md"])
def test_other_files_are_nobodys_business(shelf: Shelf, name: str) -> None:
    shelf.save()
    (shelf.folder / name).write_text("x")
    assert shelf.is_known()


def test_another_stamp_forgets_everything(shelf: Shelf) -> None:
    shelf.put("user-a.md")
    shelf.settle()
    shelf.load("0.1.0 8000 80").save()
    assert shelf.is_known("0.1.0 8000 80")
    assert not shelf.is_known("0.1.0 4000 80")
    shelf.load("0.1.0 4000 80").heads()
    assert shelf.seen == ["user-a.md"]


def test_the_catalog_after_writing_the_index_is_settled_by_the_next_command(shelf: Shelf) -> None:
    shelf.put("user-a.md")
    shelf.settle()
    first = shelf.load()
    shelf.settle()
    (shelf.folder / "MEMORY.md").write_text("generated after the catalog was loaded")
    first.save()
    assert not shelf.is_known()  # nobody can know that it was not edited since
    shelf.save()
    assert shelf.is_known()


@pytest.mark.slow
def test_a_note_just_written_is_read_again_until_it_has_settled(shelf: Shelf) -> None:
    shelf.put("user-a.md")
    for _ in range(2):
        found = shelf.load()
        found.heads()
        assert shelf.seen == ["user-a.md"]
        found.save()
        assert not shelf.is_known()
    time.sleep(2.1)
    shelf.load().save()
    assert shelf.is_known()


def test_an_edit_of_the_same_size_and_time_is_seen(shelf: Shelf) -> None:
    path = shelf.put("user-a.md", "one")
    shelf.save()
    before = path.stat()
    with path.open("r+", encoding="utf-8") as file:
        file.write(path.read_text(encoding="utf-8").replace("one", "two"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    same = ("st_size", "st_mtime_ns", "st_ino")
    assert [getattr(before, name) for name in same] == [getattr(after, name) for name in same]
    assert shelf.hooks() == {"user-a.md": "two"}


def test_a_note_edited_while_it_is_read_is_read_again_next_time(shelf: Shelf) -> None:
    shelf.put("user-a.md", "one")
    shelf.settle()
    found = shelf.load()
    shelf.put("user-a.md", "two!")  # after the look, before the reading
    assert shelf.hooks(found) == {"user-a.md": "two!"}
    shelf.put("user-a.md", "three")
    found.save()
    assert not shelf.is_known()
    assert shelf.hooks() == {"user-a.md": "three"}


def test_a_note_removed_while_reading_is_not_there(shelf: Shelf) -> None:
    path, _ = shelf.put("user-a.md"), shelf.put("user-b.md")
    found = shelf.load()
    path.unlink()
    assert list(found.files) == found.columns().files == ["user-b.md"]
    assert found.save()
    assert not shelf.is_known()


def test_a_secret_holds_a_note_back_unless_it_is_allowed(shelf: Shelf) -> None:
    shelf.put("user-a.md", body="sk-123")
    shelf.put("user-b.md", body="sk-123", extra="  secrets: allowed\n")
    for _ in range(2):
        found = shelf.load()
        assert found.held == {"user-a.md"}
        assert index.arrange_index(found.columns()).listed == ("user-b.md",)
        found.save()


def test_links_folders_and_pipes_are_no_notes(shelf: Shelf, tmp_path: Path) -> None:
    shelf.put("user-a.md")
    (tmp_path / "user-outside.md").write_text("secret of another folder")
    (shelf.folder / "user-link.md").symlink_to(tmp_path / "user-outside.md")
    (shelf.folder / "user-folder.md").mkdir()
    os.mkfifo(shelf.folder / "user-pipe.md")
    assert list(shelf.load().files) == ["user-a.md"]


def test_a_name_with_a_line_break_is_a_note_and_one_that_is_no_utf8_disturbs_nobody(
    shelf: Shelf,
) -> None:
    shelf.put("user-a\nb.md", "one")
    shelf.put("user-é.md", "two")
    with suppress(OSError):  # this file system has UTF-8 names only
        Path(os.fsdecode(os.fsencode(shelf.folder) + b"/user-\xff.md")).write_text("x")
    shelf.save()
    assert shelf.is_known()
    assert shelf.hooks() == {"user-a\nb.md": "one", "user-é.md": "two"}
    assert shelf.seen == []


def test_a_missing_store_is_an_error_with_a_next_step(shelf: Shelf) -> None:
    shelf.folder.rmdir()
    with pytest.raises(NoStore, match="cannot be listed") as problem:
        shelf.is_known()
    assert "mdmemory init" in problem.value.hint


@pytest.mark.parametrize("cache", [None, Path("/no/such/folder/catalog")])
def test_without_a_cache_everything_is_read(shelf: Shelf, cache: Path | None) -> None:
    shelf.put("user-a.md")
    for _ in range(2):
        found = shelf.load(cache=cache)
        assert found.changed
        assert list(found.files) == ["user-a.md"]
        assert not found.save()
        assert shelf.seen == ["user-a.md"]


def make_other_database(cache: Path, target: Path) -> None:
    with closing(sqlite3.connect(cache)) as database:
        database.execute("CREATE TABLE note (file TEXT)")


@pytest.mark.parametrize(
    "put",
    [
        lambda cache, target: cache.symlink_to(target),
        lambda cache, target: os.link(target, cache),
        lambda cache, target: os.mkfifo(cache),
        make_other_database,
    ],
    ids=["link", "another name", "pipe", "database of others"],
)
def test_whatever_lies_in_place_of_the_cache_is_replaced_and_never_written_through(
    shelf: Shelf, tmp_path: Path, put: Callable[[Path, Path], object]
) -> None:
    shelf.put("user-a.md", "one")
    (target := tmp_path / "target").write_bytes(b"not ours")
    put(shelf.cache, target)
    shelf.settle()
    assert shelf.hooks() == {"user-a.md": "one"}
    shelf.save()
    assert target.read_bytes() == b"not ours"
    assert shelf.is_known()


def damages(whole: bytes) -> Iterator[bytes]:
    """What may be left of a database of pages of 4,096 bytes."""
    yield from (b"", b"\n", b"mdmemory catalog 5", b"SQLite format 3\0", whole[:100], whole[:-1])
    for at in range(0, len(whole), 4096):
        yield whole[:at]
        yield whole[:at] + b"\0" * 4096 + whole[at + 4096 :]
        yield whole[:at] + b"\xff" * 4096 + whole[at + 4096 :]
        yield whole[:at] + random.Random(at).randbytes(64) + whole[at + 64 :]  # a page's own words


def test_a_damaged_cache_is_made_anew_and_nothing_it_says_is_believed(shelf: Shelf) -> None:
    for number in range(40):
        hook = f"hook {number} \U0001f600"
        shelf.put(f"user-{number}.md", hook, "sk-1" if number < 5 else "x")
    shelf.settle()

    def known() -> tuple[object, ...]:
        now = shelf.load()
        asked = now.held, now.with_status("unconfirmed"), now.heads(), now.columns()
        now.save()
        return asked

    expected = known()
    for data in damages(shelf.cache.read_bytes()):
        shelf.cache.write_bytes(data)
        assert known() == expected
        assert known() == expected
        assert shelf.is_known(), "the next command makes it anew"


def test_what_another_process_saved_meanwhile_is_not_taken_for_what_was_seen(shelf: Shelf) -> None:
    shelf.put("user-a.md", "one")
    shelf.settle()
    slow = shelf.load()
    assert shelf.hooks(slow) == {"user-a.md": "one"}
    shelf.put("user-a.md", "two")
    shelf.save()
    assert slow.save()
    assert not shelf.is_known()
    assert shelf.hooks() == {"user-a.md": "two"}


def test_what_another_process_forgets_or_writes_between_two_questions_is_seen(shelf: Shelf) -> None:
    for file in ("user-a.md", "user-b.md"):
        shelf.put(file, "one")
    shelf.save()
    found = shelf.load()
    assert not found.changed
    with closing(sqlite3.connect(shelf.cache)) as database, database:
        database.execute("DELETE FROM note WHERE file = 'user-b.md'")
    assert [head.file for head in found.heads_of(["user-b.md"])] == ["user-b.md"]
    assert shelf.hooks(found) == {"user-a.md": "one", "user-b.md": "one"}
    shelf.put("user-a.md", "two")
    shelf.load().heads()
    assert [head.description for head in found.heads_of(["user-a.md"])] == ["two"]
    assert not found.is_index_known, "an index of before says less"
    assert found.save()
    assert not shelf.is_known()


def test_a_disk_that_fills_up_forgets_nothing_of_what_was_known(shelf: Shelf) -> None:
    shelf.put("user-a.md", "one")
    shelf.save()
    for number in range(30):
        shelf.put(f"user-b{number}.md", "x" * 3_000)
    found = shelf.load()
    connection = found._database.connection
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    assert len(shelf.hooks(found)) == 31
    assert "user-a.md" not in shelf.seen
    assert not found.save()


def test_a_cache_that_came_with_the_repository_is_not_believed(shelf: Shelf) -> None:
    """Even one made from the very same files elsewhere: a change time cannot be forged."""
    path = shelf.put("user-a.md", "lies")
    shelf.save()
    forged, status = shelf.cache.read_bytes(), path.stat()
    shelf.put("user-a.md", "true")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    shelf.cache.write_bytes(forged)
    assert shelf.hooks() == {"user-a.md": "true"}


@pytest.mark.slow
def test_the_index_from_the_catalog_is_the_index_from_the_heads(shelf: Shelf) -> None:
    """Whatever was added, edited or removed since the catalog was saved."""
    dice, store = random.Random(5), Store(shelf.folder)
    names = [f"{type}-{n}.md" for type in ("user", "project", "other") for n in range(12)]
    shelf.settle()
    for step in range(40):
        for name in dice.sample(names, dice.randrange(4)):
            body = dice.choice(["text", "sk-1"])
            if (shelf.folder / name).exists() and dice.random() < 0.4:
                (shelf.folder / name).unlink()
            else:
                more = f"  created: 2026-0{dice.randint(1, 9)}-01\n"
                more += dice.choice(["", "  status: unconfirmed\n", "cites: [src/a.py]\n"])
                shelf.put(name, f"hook {step}", body, more)
        few, found = dice.sample([*names, "user-nobody.md"], 5), shelf.load()
        told = found.heads_of(few), found.citing(), found.with_status("unconfirmed")
        heads = [store.read(name).note.head for name in sorted(os.listdir(shelf.folder))]
        anew = indexed.build(heads, held=found.held, max_entries=6)
        assert index.arrange_index(found.columns(), max_entries=6) == anew
        assert found.heads() == heads
        assert told == (
            [head for head in heads if head.file in few],
            [head for head in heads if head.cites],
            [head.file for head in heads if head.status == "unconfirmed"],
        )
        if dice.random() < 0.7:
            shelf.settle()
            found.save()


def test_columns_tell_what_would_be(shelf: Shelf) -> None:
    for file in ("user-b.md", "user-d.md"):
        shelf.put(file)
    found = shelf.load()
    names = ["user-a.md", "user-c.md", "user-d.md"]
    news = {file: parse(f"{file} sk-1", file) for file in names}
    foreseen = found.foresee_rows({**news, "user-b.md": None, "user-nowhere.md": None})
    assert list(found.columns(foreseen).files) == names
    assert found.columns(foreseen).held == 3
    assert list(found.columns().files) == ["user-b.md", "user-d.md"]


odd = st.text(st.one_of(st.characters(), st.sampled_from("\\\n\0\x1e\x1f|f0n\ud800")), max_size=12)


@given(odd, odd, st.lists(odd, max_size=3), st.integers())
def test_any_head_is_remembered(name: str, hook: str, problems: list[str], reinforced: int) -> None:
    head = Head("a.md", name, hook, "user", reinforced=reinforced, problems=tuple(problems))
    packed = json.dumps(catalog._VALUES(head))
    assert packed.isascii()
    assert catalog.unpack_heads([("a.md", packed)] * 2) == [head, head]


def test_odd_heads_survive_the_file(shelf: Shelf) -> None:
    path = shelf.put("user-a.md")
    head = Head(path.name, "a\nb", "\x1f \\n \0 \ud800 \u2028", "us\ner", problems=("one", "two"))

    def load() -> Catalog:
        return Catalog(shelf.folder, shelf.cache, read, lambda text: False)

    def read(file: str) -> StoredNote:
        if not path.exists():
            raise NotFound(file)
        return StoredNote(file, "", Note("", head, ""))

    shelf.settle()
    load().save()
    path.rename(path.with_suffix(".txt"))
    path.with_suffix(".txt").rename(path)  # another change time: the note is read again
    shelf.settle()
    for _ in range(2):
        found = load()
        assert found.heads() == [head]
        found.save()
    assert not load().changed


def test_the_index_is_known_while_nothing_that_it_shows_changes(shelf: Shelf) -> None:
    for file in ("user-a.md", "user-b.md"):
        shelf.put(file)
    (shelf.folder / "MEMORY.md").write_text("generated")
    shelf.save()
    shelf.put("user-a.md", body="another body")
    assert shelf.load().changed
    assert shelf.load().is_index_known
    for change in (
        lambda: shelf.put("user-a.md", "another hook"),
        lambda: shelf.put("user-a.md", body="sk-1"),
        lambda: shelf.put("user-a.md", extra="  created: 2026-01-01\n"),
        lambda: shelf.put("user-c.md"),
        lambda: (shelf.folder / "user-b.md").unlink(),
        lambda: (shelf.folder / "MEMORY.md").write_text("edited by hand"),
        lambda: (shelf.folder / "_CONFLICTS.md").write_text("- [ ] something"),
    ):
        shelf.save()
        assert shelf.load().is_index_known
        change()
        assert not shelf.load().is_index_known


def test_what_was_just_written_is_known_at_once_and_read_again_later(shelf: Shelf) -> None:
    for file in ("user-a.md", "user-b.md"):
        shelf.put(file)
    shelf.settle()
    found = shelf.load()
    news = {"user-c.md": parse("Likes tea", "user-c.md"), "user-b.md": None}
    found.take(found.foresee_rows(news))
    assert list(found.files) == ["user-a.md", "user-c.md"]
    assert found.heads()[1].description == "Likes tea"
    assert not found.is_index_known
    (shelf.folder / "user-b.md").unlink()
    shelf.put("user-c.md", "another hand was quicker")
    found.save()
    assert shelf.hooks() == {"user-a.md": "a hook", "user-c.md": "another hand was quicker"}
    assert shelf.seen == ["user-c.md"]


def test_heads_that_hold_a_text_are_found_whatever_is_in_it(shelf: Shelf) -> None:
    shelf.put("user-a.md", "either C:\\temp or D:")
    shelf.put("user-b.md", "neither")
    for _ in range(2):
        found = shelf.load()
        assert found.holding("C:\\temp") == ["user-a.md"]
        assert found.holding("either") == ["user-a.md", "user-b.md"]
        assert found.holding("nowhere") == []
        found.save()


def test_where_nothing_changed_nothing_is_read_to_know_that_no_note_waits(
    shelf: Shelf, monkeypatch: Patch
) -> None:
    store, why = Store(shelf.folder), {"user-a.md": "stranger"}

    def waiting(notes: object) -> dict[str, str]:
        return {file: word for file, word in why.items() if file in notes}  # type: ignore[operator]

    def load() -> Catalog:
        return Catalog(shelf.folder, shelf.cache, store.read, lambda _: False, waiting=waiting)

    shelf.put("user-a.md")
    shelf.settle()
    first = load()
    assert first.waiting == why
    first.save()
    shelf.settle()
    assert load().changed, "what waits may be in a commit by now"
    assert load().waiting == why
    why.clear()
    for _ in range(2):
        load().save()
        shelf.settle()
    monkeypatch.setattr(Catalog, "_query_rows", lambda *_: pytest.fail("it was read"))
    known = load()
    assert not known.changed
    assert known.waiting == {}


# The index follows every write, and looks at no more than it must.


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory, _ = Memory.init(tmp_path)
    memory.add("tea", type="user", description="Likes tea", body="Green.")
    return memory


def add_coffee(memory: Memory) -> str | None:
    """Its commit."""
    done = memory.add("coffee", type="user", description="Likes coffee", body="Black.")
    return done.written.commit


def shown(memory: Memory) -> str:
    return (memory.project.store / "MEMORY.md").read_text(encoding="utf-8")


def is_right(memory: Memory) -> bool:
    """Whether the index is that of the notes."""
    heads = [note.note.head for note in Store(memory.project.store).notes()]
    return shown(memory) == indexed.build(heads).memory


def test_a_write_looks_and_arranges_the_index_once(memory: Memory, monkeypatch: Patch) -> None:
    done: list[str] = []
    for module, name in ((refresh, "Catalog"), (index, "arrange_index")):
        before = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda *a, _b=before, _n=name, **k: (done.append(_n), _b(*a, **k))[1]
        )
    add_coffee(memory)
    memory.remove("tea")
    assert done == ["Catalog", "arrange_index"] * 2
    assert is_right(memory)


def test_a_hand_edit_during_a_write_is_in_the_next_index(
    memory: Memory, monkeypatch: Patch
) -> None:
    by_hand = memory.project.store / "user-tea.md"
    before = catalogs.Catalog.save

    def save(catalog: catalogs.Catalog) -> bool:
        text = by_hand.read_text(encoding="utf-8")
        by_hand.write_text(text.replace("Likes tea", "Loves tea"), encoding="utf-8")
        return before(catalog)

    monkeypatch.setattr(catalogs.Catalog, "save", save)
    add_coffee(memory)
    monkeypatch.undo()
    memory.listing()
    assert "Loves tea" in shown(memory)
    assert is_right(memory)


def test_an_index_changed_meanwhile_is_made_again(memory: Memory, monkeypatch: Patch) -> None:
    before = Transactions.apply

    def apply(self: Transactions, *words: object) -> object:
        done = before(self, *words)  # type: ignore[arg-type]
        (memory.project.store / "MEMORY.md").write_text(f"{index.MARKER}\nold\n", encoding="utf-8")
        return done

    monkeypatch.setattr(Transactions, "apply", apply)
    add_coffee(memory)
    assert is_right(memory)


def test_a_generated_file_of_any_length_is_ours_and_is_made_anew(memory: Memory) -> None:
    store = memory.project.store
    huge = f"{index.MARKER}\n" + "- [A](user-a.md) — from an earlier version\n" * 120_000
    assert len(huge.encode()) > MAX_FILE
    for name in ("MEMORY.md", "_MORE.md"):
        (store / name).write_text(huge, encoding="utf-8")
    assert [finding.path for finding in memory.doctor()] == ["MEMORY.md", "_MORE.md"]
    memory.index()
    assert is_right(memory)
    assert not (store / "_MORE.md").exists()
    (store / "_MORE.md").write_text(huge, encoding="utf-8")
    assert add_coffee(memory)
    assert not (store / "_MORE.md").exists()


def test_a_huge_text_of_a_persons_own_is_not_read_and_stays(memory: Memory) -> None:
    mine = memory.project.store / "_MORE.md"
    with open(mine, "wb") as file:
        file.write(b"My own list.\n")
        file.truncate(1 << 40)
    with pytest.raises(MdmemoryError, match="was not generated by mdmemory"):
        memory.index()
    (finding,) = memory.doctor()
    assert (finding.level, finding.path) == ("error", "_MORE.md")
    assert mine.stat().st_size == 1 << 40


def test_a_store_whose_overflow_has_reached_its_limit_is_written_to_like_any_other(
    memory: Memory, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(index, "MAX_MORE", 2_000)
    for number in range(200):
        text = f"---\nname: n{number}\ndescription: It is the number {number}\n---\nIt is.\n"
        (memory.project.store / f"project-n{number}.md").write_text(text, encoding="utf-8")
    assert memory.index().index.total == 201
    assert add_coffee(memory)
    more = (memory.project.store / "_MORE.md").read_text(encoding="utf-8")
    assert len(more.encode()) <= 2_000
    assert " of 122 more notes; the others: `memory_search` or `mdmemory list`." in more
    assert not memory.index().changed
    assert [each for each in memory.doctor() if each.check == "index"] == []


def test_a_text_is_looked_through_for_secrets_once(memory: Memory) -> None:
    asked: list[str] = []

    def is_secret(text: str) -> bool:
        asked.append(text)
        return "hunter" in text

    refresher = refresh.Refresher(memory.project, is_secret)
    for _ in range(3):
        assert not refresher.is_secret("We deploy on Fridays.")
        assert not refresher.is_secret("We deploy on Fridays.\n")  # other bytes
        assert not refresher.is_secret("\ud800 half a pair")
        assert refresher.is_secret("It is hunter2.")
    assert asked.count("We deploy on Fridays.") == asked.count("We deploy on Fridays.\n") == 1
    assert asked.count("It is hunter2.") == 3  # what holds one is never taken for free


@pytest.mark.slow
def test_what_was_read_of_a_store_goes_with_its_last_user(memory: Memory) -> None:
    """Megabytes each: a process that lives on cannot wait until Python looks for circles."""
    memory.add("tea", type="user", description="Drinks tea", body="Drinks green tea.")

    def use() -> None:
        opened = Memory.open(memory.project.root)
        opened.search("tea")
        opened.index()
        opened.notes()
        opened.edit("tea", body="Drinks black tea.")

    def known() -> list[object]:
        kinds = catalogs.Catalog | refresh.Refresher
        return [each for each in gc.get_objects() if isinstance(each, kinds)]

    gc.collect()
    gc.disable()
    try:
        before = known()  # of other tests
        use()
        left = [each for each in known() if not any(each is other for other in before)]
    finally:
        gc.enable()
    assert left == []
