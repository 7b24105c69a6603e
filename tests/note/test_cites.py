"""The citations of a note: read in any form, changed in their own lines, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import each

from mdmemory.errors import BadNote
from mdmemory.note import editing
from mdmemory.note.editing import recite
from mdmemory.note.note import Note, parse
from mdmemory.store.note_links import has_own_keys, unite_notes

ONE, OTHER = "src/a.py#L1@111111111111:22222222", "src/b b.py"
PINNED = "src/b b.py@333333333333"
FORMS = {
    "one line": f'  cites: ["{ONE}", "{OTHER}"]  # mine\n',
    "a line each": f'  cites:\n    - "{ONE}"  # why\n    # a remark\n    - {OTHER}\n',
    "at the key": f"  cites:\n  - {ONE}\n  - '{OTHER}'\n",
}


def note(cites: str, end: str = "\n") -> Note:
    text = f"---\nname: a\nowner: me\nmetadata:\n  type: project\n{cites}  own: 1  # x\n---\n\nB\n"
    return parse(text.replace("\n", end), "project-a.md")


def test_a_list_is_read_in_every_form() -> None:
    def check(form: str) -> None:
        for end in ("\n", "\r\n"):
            read = note(FORMS[form], end)
            assert read.head.cites == (ONE, OTHER)
            assert "metadata" not in " ".join(read.head.problems)

    each(FORMS, check)
    assert note(f"  cites: {OTHER}\n").head.cites == (OTHER,)
    assert note("").head.cites == ()


def test_what_is_no_list_is_named_and_kept() -> None:
    odd = note("  cites: {a: b}\n")
    assert odd.head.cites == ()
    assert any("cites" in problem for problem in odd.head.problems)
    assert "cites: {a: b}" in editing.edit(odd, set={"metadata.updated": "2026-06-01"}).text


def test_only_what_changes_of_a_list_is_written_anew() -> None:
    def check(form: str) -> None:
        for end in ("\n", "\r\n"):
            before = note(FORMS[form], end)
            changed = recite(before, {OTHER: PINNED})
            assert changed.head.cites == (ONE, PINNED)
            lines = zip(before.text.split(end), changed.text.split(end), strict=True)
            differing = [old for old, new in lines if old != new]
            assert len(differing) == 1
            assert OTHER in differing[0]
            assert ("# mine" in changed.text) == (form == "one line")
            assert ("# a remark" in changed.text) == (form == "a line each")

    each(FORMS, check)


def test_a_list_grows_shrinks_and_goes() -> None:
    def check(form: str) -> None:
        before = note(FORMS[form])
        assert recite(before, {}, ["src/c.py"]).head.cites == (ONE, OTHER, "src/c.py")
        assert recite(before, {ONE: None}).head.cites == (OTHER,)
        assert recite(before, {OTHER: ONE}).head.cites == (ONE,)
        bare = recite(before, {ONE: None, OTHER: None})
        assert "cites" not in bare.text
        assert recite(before, {}) is before
        assert recite(bare, {}, [ONE]).head.cites == (ONE,)

    each(FORMS, check)


def test_a_list_that_cannot_be_changed_safely_is_refused() -> None:
    spread = note(f'  cites: ["{ONE}",  # first\n    "{OTHER}"]\n')
    assert spread.head.cites
    with pytest.raises(BadNote, match="cites"):
        recite(spread, {ONE: PINNED})


def test_a_list_in_metadata_on_one_line_changes_with_it() -> None:
    flow = parse(f'---\nname: a\nmetadata: {{type: project, cites: ["{ONE}"]}}\n---\n\nB\n', "a.md")
    assert recite(flow, {ONE: PINNED}).head.cites == (PINNED,)


PATHS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=30)


@given(st.lists(PATHS.map(str.strip).filter(bool), min_size=1, max_size=4, unique=True))
def test_whatever_a_path_is_called_it_is_read_back(paths: list[str]) -> None:
    text = editing.compose(
        name="a", type="project", description="A", body="", cites=paths
    ) if all(map(str.isprintable, paths)) else ""  # fmt: skip
    if text:
        assert parse(text, "project-a.md").head.cites == tuple(paths)


def test_editing_keeps_the_list_byte_for_byte() -> None:
    def check(form: str) -> None:
        after = editing.edit(note(FORMS[form]), set={"description": "New"}, body="New.")
        assert FORMS[form] in after.text

    each(FORMS, check)


def test_a_merge_has_the_citations_of_all_and_they_are_no_persons_own_keys() -> None:
    first, second = note(FORMS["one line"]), note(f'  cites: ["{OTHER}", "src/c.py"]\n')
    assert unite_notes(first, [second]).head.cites == (ONE, OTHER, "src/c.py")
    assert unite_notes(note(""), [second]).head.cites == (OTHER, "src/c.py")
    text = "---\nname: a\ndescription: A\nmetadata:\n  type: project\n  cites: [b]\n---\n\nB\n"
    assert not has_own_keys(parse(text, "project-a.md"))
