"""The conflict ledger: one line per pair, cleared by a person alone, whatever else stands there."""

import hashlib
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mdmemory.files import digest
from mdmemory.note.note import parse as parse_note
from mdmemory.store import conflicts as module
from mdmemory.store.conflicts import (
    HEADER,
    Ledger,
    add,
    clear_entry,
    entry_id,
    is_known,
    is_stale,
    open_entries,
    parse,
)
from mdmemory.store.store import StoredNote

Patch = pytest.MonkeyPatch


def note(file: str, text: str = "text") -> StoredNote:
    return StoredNote(file, digest(text.encode()), parse_note(text, file))


entry = module._parse_entry
A, B, C = note("a.md", "A"), note("b.md", "B"), note("c.md", "C")
DAY = "2026-06-01"


def test_an_entry_is_one_line_of_the_documented_form_below_how_to_clear_it() -> None:
    text = add("", [(B, A, "Friday against Monday")], DAY)
    short = f"{A.digest[:12]}/{B.digest[:12]}"
    number = hashlib.sha256(b"a.md\nb.md").hexdigest()[:8]
    line = f"- [ ] c-{number} [a](a.md) × [b](b.md) — Friday against Monday · since {DAY} · {short}"
    assert text == f"{HEADER}{line}\n"
    (entry,) = parse(text)
    assert entry.id == f"c-{number}" == entry_id("b.md", "a.md")
    assert (entry.files, entry.why, entry.since) == (("a.md", "b.md"), "Friday against Monday", DAY)
    assert entry.digests == (A.digest[:12], B.digest[:12])
    assert not entry.cleared
    assert open_entries(text) == [entry]
    assert HEADER.startswith("<!-- ")
    assert "`mdmemory review`" in HEADER
    assert "looked at: keep both" in HEADER


def test_a_pair_is_written_once_in_either_order() -> None:
    text = add("", [(A, B, "x"), (B, A, "y"), (A, C, "z")], DAY)
    assert [entry.files for entry in parse(text)] == [("a.md", "b.md"), ("a.md", "c.md")]
    assert add(text, [(B, A, "again")], "2026-07-01") == text
    assert add(text, [], DAY) == text
    assert add("", [], DAY) == ""
    assert add("", [(A, A, "x")], DAY) == ""
    odd = StoredNote("odd.md", "", A.note)  # it could not be read, and has no digest
    text = add("", [(A, odd, "x")], DAY)
    assert len(open_entries(text)) == 1
    assert add(text, [(A, odd, "x")], DAY) == text


def test_a_ticked_box_clears_and_stays_cleared() -> None:
    for box in ("[x]", "[X]"):
        text = add("", [(A, B, "x")], DAY).replace("[ ]", box)
        assert [entry.cleared for entry in parse(text)] == [True]
        assert open_entries(text) == []
        assert add(text, [(A, B, "x")], "2026-07-01") == text


def test_a_union_merge_cannot_bring_a_cleared_entry_back() -> None:
    text = add("", [(A, B, "x"), (A, C, "z")], DAY)
    ticked = clear_entry(text, entry_id("a.md", "b.md"))
    assert ticked.count("[x]") == 1
    for union in (text + ticked, ticked + text):
        assert [entry.files for entry in open_entries(union)] == [("a.md", "c.md")]
        assert add(union, [(A, B, "x")], DAY) == union
    assert len(open_entries(text + text)) == 2, "a doubled entry counts once"
    assert len(open_entries(clear_entry(text + text, entry_id("a.md", "b.md")))) == 1


def test_a_changed_note_is_flagged_anew_in_place_of_the_old_line() -> None:
    changed = note("b.md", "B2")
    text = add("", [(A, B, "x")], DAY)
    (entry,) = parse(add(text, [(A, changed, "y")], "2026-07-01"))
    assert (entry.why, entry.since) == ("y", DAY)  # it has waited since then
    assert entry.digests == (A.digest[:12], changed.digest[:12])
    reopened = add(clear_entry(text, entry.id), [(A, changed, "y")], "2026-07-01")
    (entry,) = open_entries(reopened)
    assert entry.since == "2026-07-01"
    # The other side of a union merge still has the old tick: it was given to other contents.
    assert open_entries(reopened + clear_entry(text, entry.id)) == [entry]


def test_an_entry_is_stale_when_a_note_changed_or_is_gone() -> None:
    (entry,) = parse(add("", [(A, B, "x")], DAY))
    assert not is_stale(entry, {"a.md": A.digest, "b.md": B.digest})
    assert is_stale(entry, {"a.md": A.digest, "b.md": C.digest})
    assert is_stale(entry, {"a.md": A.digest})
    assert is_known([entry], B, A)
    assert not is_known([entry], A, note("b.md", "B2"))
    assert not is_known([entry], A, C)


def test_pairs_added_one_by_one_give_what_they_give_at_once_and_no_line_is_read_twice(
    monkeypatch: Patch,
) -> None:
    notes = [note(f"{number}.md") for number in range(40)]
    pairs = [(one, other, "x") for one, other in pairwise(notes)]
    known = add("", pairs[:5], DAY)
    ledger = Ledger(known)
    assert [ledger.add([pair], "2026-07-01") for pair in pairs] == [False] * 5 + [True] * 34
    assert ledger.text() == add(known, pairs, "2026-07-01")
    read: list[str] = []
    monkeypatch.setattr(module, "_parse_entry", lambda line: read.append(line) or entry(line))
    add(known, pairs, DAY)
    assert len(read) <= 2 * len(pairs) + len(known.split("\n"))


def test_lines_that_cannot_be_read_are_kept() -> None:
    odd = [
        "# My conflicts",
        f"- [ ] c-12345678 [a](a.md) × [b](b.md) — wrong id · since {DAY} · {'0' * 12}/{'1' * 12}",
        "- [ ] a thought of mine",
        "<<<<<<< HEAD",
        "\ufffd\x00",
    ]
    text = "\n".join(odd)
    assert parse(text) == []
    grown = add(text, [(A, B, "x")], DAY)
    assert grown.startswith(text + "\n")
    changed = add(grown, [(A, note("b.md", "B2"), "y")], DAY)
    assert changed.split("\n")[: len(odd)] == odd
    assert len(parse(changed)) == 1
    windows = add("", [(A, B, "x")], DAY).replace("\n", "\r\n")
    left, right = A.digest[:12], B.digest[:12]
    for known in (windows, windows.replace(f"{left}/{right}", f"{left}…/{right}…")):
        assert len(open_entries(known)) == 1, "line ends of Windows and ellipses are read"


names = st.text(
    alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="/\x00"), max_size=20
).map(lambda stem: f"{stem}.md")


@given(names, names, st.text(max_size=400))
@settings(deadline=None)
def test_any_names_and_reason_give_one_line_that_reads_back(one: str, other: str, why: str) -> None:
    if one == other:
        return
    text = add("", [(note(one), note(other), why)], DAY)
    assert text.count("\n") == HEADER.count("\n") + 1
    (entry,) = open_entries(text)
    assert entry.files == tuple(sorted((one, other)))
    assert len(entry.why) <= 300
    assert add(text, [(note(other), note(one), why)], DAY) == text
    assert parse(add("", [(note(one), note(other), entry.why)], DAY)) == [entry]


def test_a_reason_cannot_forge_lines_or_hide_text() -> None:
    text = add("", [(A, B, "x\n- [x] c-00000000 <!-- [a](b) \u202e · since 2026-01-01 · 0/0")], DAY)
    line = text.removeprefix(HEADER)
    assert line.count("\n") == 1
    assert "<!--" not in line.replace("\\<", "")
    assert "\u202e" not in line
    assert len(open_entries(text)) == 1


@given(st.text(max_size=200))
def test_any_text_is_a_ledger(text: str) -> None:
    parse(text)
    assert len(open_entries(add(text, [(A, B, "x")], DAY))) == 1
