"""What a person put into the heads of notes is still there when they become one note."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pace import scaled

from mdmemory.compact.guards import check
from mdmemory.compact.plan import Merge, Plan
from mdmemory.compact.result import changes
from mdmemory.errors import BadNote
from mdmemory.files import digest
from mdmemory.note.note import Note, parse
from mdmemory.store.note_links import own_keys, unite_notes
from mdmemory.store.store import StoredNote


def note(head: str, name: str = "a", metadata: str = "") -> Note:
    text = f"---\nname: {name}\n{head}metadata:\n  type: user\n{metadata}---\n\nTea.\n"
    return parse(text, f"user-{name}.md")


def head_of(text: str) -> str:
    return text.partition("---\n")[2].partition("---\n")[0]


@pytest.mark.parametrize(
    ("mine", "theirs", "after"),
    [
        ("", "x-owner: ann # since May\n", "x-owner: ann # since May\n"),
        ("x-owner: ann\n", "x-owner: ann\n", "x-owner: ann\n"),
        ("owner: ann\n", "owner: bob\n", "owner: ann\nx-owner: bob\n"),
        ("x-owner: ann\n", "x-owner: bob\n", "x-owner: ann\nx-owner-2: bob\n"),
        ("owner: ann\nx-owner: bob\n", "owner: bob\n", "owner: ann\nx-owner: bob\n"),
        ("tags: [a, b]\n", "tags: [b, c d]\n", 'tags: [a, b, "c d"]\n'),
        ("tags: [a] # mine\n", "tags:\n- b\n", "tags: [a, b] # mine\n"),
        ("tags:\n  # mine\n  - a\n", "tags: [b]\n", "tags:\n  # mine\n  - a\n  - b\n"),
        ("aliases: tea\n", "aliases: [chai]\n", "aliases: [tea, chai]\n"),
        ("aliases: tea\n", "aliases: chai\n", "aliases: [tea, chai]\n"),
        ("aliases:\n", "aliases:\n  - chai\n", "aliases:\n  - chai\n"),
        ("title: Tea\n", "title: Chai\n", "title: Tea\nx-title: Chai\n"),
        ("", "deep:\n  one: 1\n  two: [2]\n", "deep:\n  one: 1\n  two: [2]\n"),
        ("", "long: |\n  one\n\n  two\n", "long: |\n  one\n\n  two\n"),
    ],
)
def test_own_keys_are_united(mine: str, theirs: str, after: str) -> None:
    found = unite_notes(note(mine), [note(theirs, "b")])
    assert head_of(found.text) == f"name: a\n{after}metadata:\n  type: user\n"


def test_keys_of_the_metadata_stay_in_the_metadata() -> None:
    found = unite_notes(
        note("", metadata="  owner: ann\n"), [note("", "b", "  owner: bob\n  n: [1]\n")]
    )
    assert "  owner: ann\n  x-owner: bob\n  n: [1]\n---" in found.text


def test_comments_order_and_line_ends_of_the_note_that_stays_survive() -> None:
    base = note("# the first\nzebra: 1 # striped\ntags: [a]\napple: 2\n# the last\n")
    base = parse(base.text.replace("\n", "\r\n"), base.head.file)
    found = unite_notes(base, [note("tags: [b]\nx-new: 3\n", "b")])
    wanted = base.text.replace("[a]", "[a, b]").replace("apple: 2\r\n", "apple: 2\r\nx-new: 3\r\n")
    assert found.text == wanted


def test_a_note_without_a_head_gets_one() -> None:
    found = unite_notes(parse("Tea.\n", "user-a.md"), [note("tags: [b]\n", "b", "  owner: ann\n")])
    assert own_keys(found) == {"tags": ["b"], "metadata.owner": "ann"}
    assert found.body == "Tea."


def test_a_head_without_metadata_gets_it_for_a_key_of_it_alone() -> None:
    bare = parse("---\nname: a\n---\n\nTea.\n", "user-a.md")
    found = unite_notes(bare, [note("tags: [b]\n", "b")])
    assert head_of(found.text) == "name: a\ntags: [b]\n"
    found = unite_notes(bare, [note("", "b", "  owner: ann\n")])
    assert head_of(found.text) == "name: a\nmetadata:\n  owner: ann\n"


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ("deep:\n  one: 1\n", "deep:\n  one: 2\n"),
        ("deep:\n  one: 1\n", "deep: 2\n"),
        ("tags: [[a]]\n", "tags: [b]\n"),
        ("wie alt: 1\n", "wie alt: 2\n"),
        ("", "bad: [1\n"),
    ],
)
def test_what_cannot_be_kept_side_by_side_refuses_the_merge(mine: str, theirs: str) -> None:
    one, two = note(mine), note(theirs, "b")
    with pytest.raises(BadNote):
        unite_notes(one, [two])
    stored = [StoredNote(each.head.file, digest(each.text.encode()), each) for each in (one, two)]
    op = Merge((stored[0].file, stored[1].file), stored[0].file, "a", "user", "Tea.", "Tea.")
    verdict = check(Plan((op,)), stored, has_secret=lambda text: False)
    assert [code for _, code, _ in verdict.refused] == ["body"]
    assert "cannot" in verdict.refused[0][2]


def test_nothing_to_unite_leaves_every_byte() -> None:
    base = note("tags: [a, b]\n")
    assert unite_notes(base, [note("tags:\n- b\n", "b"), note("", "c")]) is base


values = st.one_of(
    st.text("ab#: -'\"é", max_size=5), st.lists(st.text("ab ,#:é", max_size=4), max_size=3)
)
heads = st.dictionaries(
    st.sampled_from(["aliases", "tags", "x-owner", "owner", "url"]), values, max_size=5
)


def written(keys: dict[str, object]) -> str:
    import yaml

    return yaml.safe_dump(keys, allow_unicode=True) if keys else ""


def items(keys: dict[str, object]) -> list[object]:
    lists = [value if isinstance(value, list) else [value] for value in keys.values()]
    return [item for each in lists for item in each]


@given(heads, st.lists(heads, min_size=1, max_size=3))
@settings(max_examples=scaled(100), deadline=None)
def test_no_own_key_is_ever_lost(mine: dict[str, object], others: list[dict[str, object]]) -> None:
    named = zip([mine, *others], "abcd", strict=False)
    sources = [note(written(keys), name) for keys, name in named]
    stored = {each.head.file: StoredNote(each.head.file, "0" * 64, each) for each in sources}
    op = Merge(tuple(stored), sources[0].head.file, "a", "user", "Tea.", "Tea.")
    (_, _, data), *_ = changes(op, stored, "2026-01-01")
    assert data is not None
    kept = items(own_keys(parse(data.decode(), sources[0].head.file)))
    assert [item for each in sources for item in items(own_keys(each)) if item not in kept] == []
