"""Search of a project: always of the notes as they are, and of nothing that is held back."""

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from rows import each, replace
from search.conftest import note

from mdmemory import Memory
from mdmemory.errors import NotFound, Unwritable, UsageError
from mdmemory.search import answer, notes, sqlite
from mdmemory.search.results import Hit, as_json, matched_words, telling_lines
from mdmemory.search.sqlite import SQLite
from mdmemory.store.project import Project

Opened = Callable[..., Memory]
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
TWO = {
    "user-tea.md": note("tea", "Drinks green tea", "Two cups before noon."),
    "user-rum.md": note("rum", "Never drinks rum", "See [[tea]] and [[tea]], tea and tea."),
}


def files(memory: Memory, query: str, **more: int) -> list[str]:
    return [hit.file for hit in memory.search(query, **more).hits]


def with_head(text: str, line: str) -> str:
    """The note with one more line in its head."""
    return text.replace("metadata:", f"{line}\nmetadata:")


def put(memory: Memory, file: str, text: str) -> None:
    (memory.project.store / file).write_text(text, "utf-8")


def store(memory: Memory) -> Path:
    return memory.project.store


def test_one_and_two_notes_are_ranked_sensibly(opened: Opened) -> None:
    memory = opened({"user-tea.md": TWO["user-tea.md"]})
    (hit,) = memory.search("green tea").hits
    assert (hit.name, hit.score, hit.source) == ("tea", 1.0, "memory")
    assert (hit.start_line, hit.end_line, hit.text) == (8, 8, "Two cups before noon.")
    memory = opened(TWO)
    assert files(memory, "tea") == ["user-tea.md", "user-rum.md"]
    assert files(memory, "what does the user never drink?")[0] == "user-rum.md"


def test_a_link_never_outranks_the_note_it_names(opened: Opened) -> None:
    links = {
        f"user-link-{n}.md": note(f"link-{n}", "Points elsewhere", "[[plain-answers]] " * n)
        for n in range(1, 9)
    }
    wanted = note("plain-answers", "How to write", "A long text about style. " * 60)
    memory = opened({**links, "user-plain-answers.md": wanted})
    for query in ("plain answers", "plain-answers", "plain", "answers"):
        assert files(memory, query)[0] == "user-plain-answers.md"


def test_an_unknown_word_changes_no_order_and_hides_no_note(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened(TWO)
    for query in ("green tea", "green tea zanzibar", "does the quartermaster of zanzibar like tea"):
        assert files(memory, query) == ["user-tea.md", "user-rum.md"]
    monkeypatch.setattr(answer, "SCANNED", 1)
    for query in ("tea", "tea zanzibar", "tea zanz*", "tea 2019-01-01"):
        assert len(files(memory, query)) == 2, query


def test_notes_that_are_all_alike_or_one_that_is_long_hide_no_other(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer, "CANDIDATES", 4)
    alike = {f"user-a{at}.md": note(f"a{at}", "Drinks tea", "Tea.") for at in range(5)}
    lines = "\n".join(f"tea of day {at} " + "and more " * 100 for at in range(30))
    memory = opened(alike | {"user-long.md": note("tea", "Tea of each day", lines)})
    memory = opened({"user-other.md": note("other", "Buys cups", "some words " * 90 + "tea")})
    assert {*files(memory, "tea", k=3)} == {"user-a0.md", "user-long.md", "user-other.md"}


def test_an_alias_finds_its_note_before_others_that_have_more_of_the_question(
    opened: Opened,
) -> None:
    known = with_head(note("uses-github-actions", "Builds on GitHub"), "aliases: [GHA, build line]")
    others = {f"user-{n}.md": note(f"{n}", f"Why the slow machine {n} broke") for n in range(9)}
    memory = opened({"user-uses-github-actions.md": known, **others})
    for query in ("why is GHA slow?", "why is the build line slow?"):
        assert files(memory, query)[0] == "user-uses-github-actions.md"


def test_a_date_under_a_key_of_ones_own_is_found(opened: Opened) -> None:
    due = with_head(note("report", "Write the report"), "due: 2026-09-30")
    memory = opened({"user-report.md": due, **TWO})
    for query in ("what is due on 2026-09-30", "anything in September 2026?"):
        assert files(memory, query)[0] == "user-report.md"


def test_what_changes_on_disk_is_found_at_once(opened: Opened) -> None:
    memory = opened(TWO)
    assert files(memory, "whisky") == []
    put(memory, "user-rum.md", note("rum", "Drinks whisky instead"))
    (hit,) = memory.search("whisky").hits
    assert (hit.file, hit.start_line, hit.text) == ("user-rum.md", 1, "Drinks whisky instead")
    (store(memory) / "user-rum.md").unlink()
    assert files(memory, "whisky") == []
    put(memory, "user-new.md", "No head, only whisky.\n")
    assert files(memory, "whisky") == ["user-new.md"]


def test_an_edit_within_one_tick_of_the_clock_is_seen(opened: Opened) -> None:
    memory = opened(TWO)
    path = store(memory) / "user-tea.md"
    memory.search("tea")
    text = path.read_text("utf-8")
    before = path.stat()
    path.write_text(text.replace("green", "white"), "utf-8")  # of the same length
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert files(memory, "white") == ["user-tea.md"]


def settled(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the files had been left alone for a while."""
    monkeypatch.setattr("mdmemory.store.sights.RACY", 0)
    memory.index()
    for _ in range(3):
        time.sleep(0.02)  # a tick of the file system's clock
        memory.search("x")


def test_unchanged_notes_are_not_looked_at_again(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened(TWO)
    settled(memory, monkeypatch)

    def never(*_: object) -> None:
        raise AssertionError("the folder was looked at")

    monkeypatch.setattr(notes, "note_document", never)
    monkeypatch.setattr(SQLite, "prints", never)
    assert files(memory, "green tea")[0] == "user-tea.md"


def test_only_what_differs_is_read(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = opened(TWO)
    settled(memory, monkeypatch)
    put(memory, "user-tea.md", note("tea", "Drinks black tea"))
    os.utime(store(memory) / "user-rum.md")  # the same bytes
    assert memory.opened.search(meaning=False).update().changed == ("user-tea.md",)
    assert memory.opened.search(meaning=False).update().changed == ()


def test_held_notes_are_never_in_it(opened: Opened) -> None:
    held = note("key", "The zebra token", f"It is {SECRET}, for the zebra.")
    memory = opened({**TWO, "user-key.md": held})
    assert files(memory, "zebra") == files(memory, SECRET) == []
    assert (memory.project.private / "search.db").exists()
    whole = b"".join(path.read_bytes() for path in memory.project.private.glob("search.db*"))
    assert b"zebra" not in whole
    assert SECRET.encode() not in whole
    put(memory, "user-key.md", held.replace("type: user", "type: user\n  secrets: allowed"))
    assert files(memory, "zebra") == ["user-key.md"]
    put(memory, "user-key.md", held)
    assert files(memory, "zebra") == []


def test_what_is_unconfirmed_says_so_and_a_hit_has_its_date(opened: Opened) -> None:
    more = "  status: unconfirmed\n  created: 2026-06-09\n"
    memory = opened({"user-tea.md": note("tea", "Drinks tea", "Green.", more)})
    (hit,) = memory.search("what tea, as of last Tuesday?").hits
    assert (hit.status, hit.date, hit.title) == ("unconfirmed", "2026-06-09", "Drinks tea")


def test_a_long_note_is_found_by_its_middle_with_the_lines(opened: Opened) -> None:
    lines = [f"Line {number} tells of nothing." for number in range(400)]
    lines[250] = "The heron stands in the reeds."
    memory = opened({"user-long.md": note("long", "A long one", "\n".join(lines))})
    (hit,) = memory.search("heron in the reeds").hits
    at = hit.text.split("\n").index(lines[250])
    assert memory.get("user-long.md", (hit.start_line + at, hit.start_line + at)).text == lines[250]
    assert memory.get(hit.file, (hit.start_line, hit.end_line)).text == hit.text


def test_deleted_at_any_time_it_is_made_again(opened: Opened) -> None:
    memory = opened(TWO)
    for _ in range(2):
        assert files(memory, "green tea")[0] == "user-tea.md"
        for path in memory.project.private.iterdir():
            path.unlink()
    (memory.project.private / "search.db").write_bytes(b"no database at all, but long enough" * 99)
    found = memory.search("green tea")
    assert found.hits[0].file == "user-tea.md"
    assert "made anew" in found.said[0]


def test_a_folder_that_cannot_be_written_is_searched_in_memory(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: Project) -> Path:
        raise Unwritable("Read-only.")

    memory = opened(TWO)
    monkeypatch.setattr(Project, "prepare_private", refused)
    found = memory.search("green tea")
    assert found.hits[0].file == "user-tea.md"
    assert "cannot be used: everything is read anew" in found.said[0]


def test_while_another_process_writes_the_old_hits_come_with_a_word(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened(TWO)
    memory.search("tea")
    put(memory, "user-new.md", "Green tea again.\n")
    monkeypatch.setattr(sqlite, "PATIENCE", 0.05)
    path = memory.project.private / "search.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        found = memory.search("green tea")
    assert found.hits[0].file == "user-tea.md"
    assert "newest changes may be missing" in found.said[0]
    assert "user-new.md" not in [hit.file for hit in found.hits]
    assert "user-new.md" in files(memory, "green tea")


def test_odd_queries_get_an_answer_and_those_without_a_word_a_sentence(opened: Opened) -> None:
    memory = opened(TWO)
    for query in ("", "?", "!!! ... ???", "\x00\x07", "\ud800"):
        found = memory.search(query)
        assert found.hits == ()
        assert found.said == ("There is no word in the query to look for.",)
    for query in ("x", "tea " * 25_000, "茶", "NEAR(tea, 2) AND *"):
        assert memory.search(query).said == ()


def test_an_empty_store_has_no_hits(opened: Opened) -> None:
    assert opened({}).search("anything at all").hits == ()


def test_what_cannot_be_searched_is_refused(opened: Opened) -> None:
    memory = opened(TWO)
    for wrong in ({"source": "moon"}, {"k": 0}):
        with pytest.raises(UsageError):
            memory.search("tea", **wrong)
    assert len(memory.search("tea", k=1, source="all").hits) == 1


def test_the_store_is_searched_as_it_stood(repository: Path, git: Callable[..., str]) -> None:
    memory, _ = Memory.init(repository)
    for file, text in TWO.items():
        (store(memory) / file).write_text(text, "utf-8")
    put(memory, "user-key.md", note("key", "Zebra", SECRET))
    (store(memory) / "user-link.md").symlink_to("user-tea.md")
    git(repository, "add", "-A", "-f")
    git(repository, "commit", "-q", "-m", "notes")
    put(memory, "user-tea.md", note("tea", "Drinks white tea"))
    (hit,) = memory.search("green tea before noon", at="HEAD", k=1).hits
    assert (hit.file, hit.text) == ("user-tea.md", "Two cups before noon.")
    assert memory.search("zebra", at="HEAD").hits == ()
    assert memory.search("tea", at="HEAD~1").hits == ()
    assert files(memory, "white tea", k=1) == ["user-tea.md"]
    for revision in ("nowhere", "--all", ""):
        with pytest.raises(NotFound):
            memory.search("tea", at=revision)


def test_get_gives_lines_as_they_stand(opened: Opened) -> None:
    memory = opened({"user-tea.md": "one\r\ntwo\n\nfour\n"})
    assert memory.get("user-tea.md").text == "one\ntwo\n\nfour"
    assert memory.get("user-tea", (2, 99)) == memory.get("user-tea.md", (2, 4))
    assert memory.get("user-tea.md", (4, 4)).text == "four"


def test_get_reads_nothing_but_notes(opened: Opened) -> None:
    memory = opened({**TWO, "user-key.md": note("key", "Zebra", SECRET)})
    outside = store(memory).parent / "outside.md"
    outside.write_text("outside\n", "utf-8")
    (store(memory) / "link.md").symlink_to(outside)
    (store(memory) / "folder.md").mkdir()
    (store(memory) / "bytes.md").write_bytes(b"\xff\xfe")
    os.mkfifo(store(memory) / "pipe.md")
    for file in (
        *("../../etc/passwd", "/etc/passwd", "notes/memory/user-tea.md", "..", ".", ""),
        *("MEMORY.md", "_MORE.md", "link.md", "link", "folder.md", "pipe.md", "gone.md"),
        *("x" * 5_000, "\0.md", "\udcff.md", "..\\x.md", "user-key.md", "bytes.md"),
    ):
        with pytest.raises((NotFound, UsageError)) as refused:
            memory.get(file)
        assert refused.value.hint
        assert SECRET not in str(refused.value)


def test_get_refuses_lines_that_cannot_be(opened: Opened) -> None:
    memory = opened(TWO)
    for lines, problem in (((0, 1), UsageError), ((3, 2), UsageError), ((99, 100), NotFound)):
        with pytest.raises(problem):
            memory.get("user-tea.md", lines)


def test_rebuild_makes_everything_derived_again(opened: Opened) -> None:
    memory = opened(TWO)
    memory.search("tea")
    (store(memory) / "MEMORY.md").unlink()
    told: list[tuple[int, int, str]] = []
    done = memory.rebuild(report=lambda *step: told.append(step))
    assert (sorted(done.changed), done.chunks) == (["user-rum.md", "user-tea.md"], 2)
    assert (store(memory) / "MEMORY.md").exists()
    assert told == [(0, 2, "notes for search")]
    assert len(memory.rebuild(search_only=True).changed) == 2


def test_hits_come_by_rank_each_with_the_words_that_matched(opened: Opened) -> None:
    others = {f"user-o{n}.md": note(f"o{n}", f"Meets team {n} on Monday") for n in range(9)}
    cup = note("cup", "Keeps a cup of tea for the team", "Green.")
    tea = note("tea", "Buys green tea in Kyoto", "The Uji leaves.")
    memory = opened({**others, "user-cup.md": cup, "user-tea.md": tea})
    hits = memory.search("green Kyoto tea of the team", k=20).hits
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    matched = [("tea", "green", "kyoto"), ("tea", "team", "green"), ("team",)]
    assert [hit.matched for hit in hits[:3]] == matched
    assert len(hits) == 11


def test_what_matches_by_one_word_is_shown(opened: Opened) -> None:
    texts = ("Labels are 203 dpi", "Parcels leave at noon", "Invoices go out on Mondays")
    memory = opened({f"user-{n}.md": note(f"n{n}", text) for n, text in enumerate(texts)})
    (hit,) = memory.search("label resolution").hits
    assert hit.description == "Labels are 203 dpi"
    assert memory.search("zebra").hits == ()


def test_two_notes_with_one_reason_are_both_found(opened: Opened) -> None:
    texts = ("Uses Postgres for billing", "Uses PostgREST for the partner API")
    why = "Why: row level security."
    memory = opened({f"user-{n}.md": note(f"n{n}", text, why) for n, text in enumerate(texts)})
    assert {*files(memory, "row level security")} == {"user-0.md", "user-1.md"}


def test_a_superseded_note_comes_last_and_shows_what_it_said(opened: Opened) -> None:
    old = "  status: superseded\n  superseded_by: pnpm\n"
    memory = opened({
        "user-npm.md": note("npm", "Installs packages with npm", "Why: habit.", old),
        "user-pnpm.md": note("pnpm", "Installs packages with pnpm", "Why: speed."),
        "user-tea.md": note("tea", "Drinks tea, and packages it", "Green."),
    })  # fmt: skip
    *_, hit = memory.search("installs packages npm").hits
    told = (hit.file, hit.description, hit.superseded_by)
    assert told == ("user-npm.md", "Installs packages with npm", "pnpm")


def test_a_quoted_phrase_is_needed_and_whole_names_come_first(opened: Opened) -> None:
    others = {f"user-o{n}.md": note(f"o{n}", f"The index of row {n} has a level") for n in range(9)}
    memory = opened({
        **others,
        "user-kiln-shelf.md": note("kiln-shelf", "Where the index and the level of row 3 meet"),
        "user-limit.md": note("limit", "Lists are cut", "By index.max_rows, row by row."),
    })  # fmt: skip
    assert files(memory, 'what about "row by row" levels of the index') == ["user-limit.md"]
    for asked, file in (
        ("which index does index.max_rows name, and which level", "user-limit.md"),
        ("which row and level has the index of the kiln shelf", "user-kiln-shelf.md"),
    ):
        assert files(memory, asked)[0] == file


def test_names_of_a_letter_and_signs_are_told_apart(opened: Opened) -> None:
    other = {f"user-n{at}.md": note(f"n{at}", f"Fact {at}") for at in range(20)}
    for file, alias in (("engine", "C++"), ("desktop", "C#"), ("helpdesk", "IT")):
        text = note(file, "A fact of ours", "it is c")
        other[f"user-{file}.md"] = with_head(text, f"aliases: ['{alias}']")
    memory = opened(other)
    for question, file in (("C# style", "desktop"), ("c++", "engine"), ("who is IT?", "helpdesk")):
        assert files(memory, question)[0] == f"user-{file}.md"


@pytest.mark.parametrize("name", ["F#", "g++", ".env", "--force", "@types", "$HOME", "R&D"])
def test_a_note_with_the_very_signs_comes_first(opened: Opened, name: str) -> None:
    bare = name.strip("#+.-@$").replace("&", " ")
    facts = (f"{bare} is where all of it begins", f"Our plan rests on {name} now", f"A {bare} fact")
    notes = {f"user-n{n}.md": note(f"n{n}", fact) for n, fact in enumerate(facts)}
    assert files(opened(notes), name)[0] == "user-n1.md"


SIGNED_FACTS = (
    "C++ sources are built with Bazel", "C code of the firmware is built with Meson",
    "The C# worker lives in services/worker", "F# is used in the pricing engine",
    ".NET 8 is the target of all services", "The net of the warehouse is 10.4.0.0/16",
    "node.js 20 runs the gateway", "The third node of the cluster is slow",
    "@acme/ui-kit is published from packages/ui", "Acme pays by invoice",
    "Run the migration with --dry-run first", "Dry goods are in hall 2",
    "Logs lie in /var/log/shop-api/current", "var is forbidden in the frontend",
    "The client speaks protocol v2.13.1", "The client spoke protocol v2.13.10 before",
    "DATABASE_URL is set by the operator", "The database is in Graz",
    "src/**/*.gen.ts is generated, never edited", "ops@bakery.example gets the alerts",
    "The kernel module bans std::vector", "Vite is pinned to ^4.2.0", "C:\\Tills\\bin has drivers",
)  # fmt: skip


def test_a_name_with_signs_finds_its_fact_first(opened: Opened) -> None:
    memory = opened(
        {f"user-n{at}.md": note(f"n{at}", fact) for at, fact in enumerate(SIGNED_FACTS)}
    )

    def check(question: str, fact: int) -> None:
        assert files(memory, question)[0] == f"user-n{fact}.md", files(memory, question)

    each([
        ("c++ build", 0), ("cpp", 0), ("(C#)?", 2), ("csharp worker", 2), ("c sharp", 2), ("F#", 3),
        ("which .net version", 4), ("dotnet", 4), ("Node.js version", 6), ("@acme/ui-kit", 8),
        ("acme ui-kit publish", 8), ("what does --dry-run do", 10), ("/var/log", 12),
        ("v2.13.1", 14), ("2.13.1", 14), ("2.13.10", 15), ("DATABASE_URL", 16), ("*.gen.ts", 18),
        ("ops@bakery.example", 19), ("std::vector", 20), ("^4.2.0", 21), ("C:\\Tills\\bin", 22),
    ], check)  # fmt: skip


# What is shown of a hit.

HIT = Hit("a.md", "a", 1, 4, 0.5, "memory", "One.\n\nTwo cups.\nThree.", description="One fact")


def test_a_passage_is_shown_from_the_line_that_tells_and_only_where_it_adds_something() -> None:
    assert telling_lines(HIT, "cups", 2, 80) == ["Two cups.", "Three."]
    assert telling_lines(HIT, "zebra", 1, 80) == ["One."]
    assert telling_lines(replace(HIT, text="One fact."), "cups", 2, 80) == []


def test_of_a_long_line_the_part_with_the_word_is_shown() -> None:
    long = replace(HIT, text=f"{'first words ' * 50}two cups {'last words ' * 50}\nThree.")
    line, other = telling_lines(long, "cups", 2, 80)
    assert len(line) == 80
    assert line.startswith("…first words two")
    assert "two cups last" in line
    assert other == "Three."
    assert "cups" in telling_lines(replace(HIT, text="w" * 300 + " cups"), "cups", 1, 80)[0]
    assert telling_lines(replace(HIT, text="w" * 300), "w*", 1, 80) == ["w" * 80]


def test_a_hit_tells_which_of_its_words_the_query_has() -> None:
    texts = ("Two cups, or a CUP", "of tea")
    assert matched_words(texts, "teas in the cup") == ("cups", "cup", "tea")
    assert matched_words(texts, "zebra") == ()
    assert as_json(replace(HIT, matched=("cups",)))["matched"] == ["cups"]
    assert "cited" not in as_json(HIT), "scripts have the states of what is cited"
