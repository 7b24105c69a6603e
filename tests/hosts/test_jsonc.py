"""Editing a person's configuration: what is set or removed is right, and nothing else moves."""

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pace import scaled

from mdmemory.hosts import entries

NEW = ["p/P.md", "é.md"]


def data_without(text: str, key: str) -> object:
    """What a document says apart from `key`."""
    document = entries.JsoncText(text)
    return [(part.key, part.data) for part in document.parts(document.root) if part.key != key]


def items(text: str) -> list[object]:
    member = entries.JsoncText(text).member("list")
    assert member is not None
    assert isinstance(member.data, list)
    return member.data


def appended(text: str) -> str:
    for item in NEW:
        text = entries.append_item(text, ["list"], item)
    return text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{\n  "list": [\n    "x"\n  ]\n}'),
        ("{ // none yet\n}\n", '{\n  "list": [\n    "x"\n  ] // none yet\n}\n'),
        ('{"a":1}', '{"a":1, "list": ["x"]}'),
        ('{\n\t"a": 1 // why\n}', '{\n\t"a": 1, // why\n\t"list": [\n\t\t"x"\n\t]\n}'),
        ('{\r\n "a": 1,\r\n}\r\n', '{\r\n "a": 1,\r\n "list": [\r\n  "x"\r\n ],\r\n}\r\n'),
        ('{"list":["a"]}', '{"list":["a", "x"]}'),
        ('{"list":["a",]}', '{"list":["a", "x",]}'),
        ('{"list":["a" /* c */ , /* d */ ]}', '{"list":["a" /* c */ , "x", /* d */ ]}'),
        ('{"list": [\n    "a" // why\n]}', '{"list": [\n    "a", // why\n    "x"\n]}'),
        ('{"list": [\n    "a", // why\n]}', '{"list": [\n    "a", // why\n    "x",\n]}'),
        ('{"list": [ "a" // why\n]}', '{"list": [ "a", "x" // why\n]}'),
        ('{"list": []}', '{"list": [\n  "x"\n]}'),
        ('\ufeff{"list":[1]}', '\ufeff{"list":[1, "x"]}'),
    ],
)
def test_an_addition_is_laid_out_as_its_neighbours_are(before: str, after: str) -> None:
    assert entries.append_item(before, ["list"], "x") == after


def test_a_list_of_that_name_elsewhere_is_not_mistaken_for_it() -> None:
    before = '{"a": {"list": ["n"]}, "b": "\\"list\\": []", /* "list": [] */ "c": [{"list": []}]}'
    assert entries.append_item(before, ["list"], "x") == before[:-1] + ', "list": ["x"]}'


def test_of_a_name_given_twice_the_last_grows_because_it_is_the_one_that_counts() -> None:
    assert entries.append_item('{"list":["a"],"list":["b"]}', ["list"], "x") == (
        '{"list":["a"],"list":["b", "x"]}'
    )


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("", 1, 1),
        ("// only\n", 2, 1),
        ('{"a":1,,}', 1, 8),
        ('{"a" 1}', 1, 6),
        ('{"a":01}', 1, 7),
        ('{"a":NaN}', 1, 6),
        ("{'a':1}", 1, 2),
        ('{"a":1', 1, 7),
        ('{\r\n"a":x}', 2, 5),
        ("{} /* ", 1, 4),
        ('{"a":1} x', 1, 9),
        ("[" * 500, 1, 501),
        ('{"a":[1 2]}', 1, 9),
        ('{"a":"x\ny"}', 1, 8),
        ("[1]", 1, 1),
        ('{"list": "x"}', 1, 10),
        ("\u00a0{}", 1, 1),
    ],
)
def test_what_is_not_right_is_named_with_line_and_column(text: str, line: int, column: int) -> None:
    with pytest.raises(entries.JsoncError) as caught:
        entries.append_item(text, ["list"], "x")
    assert (caught.value.line, caught.value.column) == (line, column)


BLANK = st.sampled_from(["", " ", "\n", "\r\n\t", ' // "list": [\n', "/* , ] } */", " /* a\nb */ "])
WORDS = st.sampled_from(["a", "ключ", "//", "/*", 'q"\\', "{[", "b"])
PLAIN = st.one_of(WORDS, st.integers(), st.booleans(), st.none())


def boxed(draw: st.DrawFn, brackets: str, parts: list[str]) -> str:
    """The text of a list or an object of `parts`, blanks and a trailing comma as drawn."""
    inside = ",".join(draw(BLANK) + part + draw(BLANK) for part in parts)
    comma = "," + draw(BLANK) if parts and draw(st.booleans()) else ""
    return brackets[0] + (inside or draw(BLANK)) + comma + brackets[1]


@st.composite
def values(draw: st.DrawFn, depth: int = 0) -> str:
    """The text of any value, down to three levels; objects in it may hold a `list` too."""
    kind = draw(st.sampled_from(["plain", "[]", "{}"])) if depth < 3 else "plain"
    if kind == "plain":
        return json.dumps(draw(PLAIN), ensure_ascii=draw(st.booleans()))
    parts = [draw(values(depth + 1)) for _ in range(draw(st.integers(0, 3)))]
    if kind == "{}":
        parts = [named(draw, draw(WORDS | st.just("list")), part) for part in parts]
    return boxed(draw, kind, parts)


def named(draw: st.DrawFn, key: str, value: str) -> str:
    return json.dumps(key) + draw(BLANK) + ":" + draw(BLANK) + value


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A root object that may hold `list`, a list of anything, between other members."""
    members = [named(draw, draw(WORDS), draw(values())) for _ in range(draw(st.integers(0, 3)))]
    if draw(st.booleans()):
        items = [draw(values(1)) for _ in range(draw(st.integers(0, 3)))]
        place = draw(st.integers(0, len(members)))
        members.insert(place, named(draw, "list", boxed(draw, "[]", items)))
    mark = draw(st.sampled_from(["", entries.BOM]))
    return mark + draw(BLANK) + boxed(draw, "{}", members) + draw(BLANK)


def _is_subsequence(short: str, long: str) -> bool:
    rest = iter(long)
    return all(letter in rest for letter in short)


@settings(max_examples=scaled(200), deadline=None)
@given(documents())
def test_nothing_but_the_list_changes_in_any_document(text: str) -> None:
    old = entries.JsoncText(text)
    after = appended(text)
    new = entries.JsoncText(after)
    listed, grown = old.member("list"), new.member("list")
    before: list[object] = listed.data if listed else []  # type: ignore[assignment]
    assert grown is not None
    assert grown.data == [*before, *NEW]
    assert data_without(text, "list") == data_without(after, "list")
    # Only insertions, and none of them in another member's source.
    assert _is_subsequence(text, after)
    for was, now in zip(old.parts(old.root), new.parts(new.root), strict=False):
        if was.key != "list":
            assert after[now.start : now.end] == text[was.start : was.end]


@settings(max_examples=scaled(100), deadline=None)
@given(st.text(alphabet='{}[]",:/*\\ \n1ax', max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(entries.JsoncError):
        assert entries.JsoncText(appended(text))


@settings(max_examples=scaled(100), deadline=None)
@given(st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(WORDS, inner)))
def test_plain_json_is_read_as_python_reads_it(data: object) -> None:
    assert entries.JsoncText(json.dumps(data, indent=1)).data == data


@settings(max_examples=scaled(200), deadline=None)
@given(documents())
def test_what_was_added_goes_again_and_nothing_else_does(text: str) -> None:
    after = appended(text)
    for _ in NEW:
        after = entries.drop_value(after, ["list", len(items(after)) - 1])
    old, new = entries.JsoncText(text), entries.JsoncText(after)
    listed, left = old.member("list"), new.member("list")
    assert (left.data if left else None) == (listed.data if listed else [])
    assert data_without(text, "list") == data_without(after, "list")
    gone = entries.drop_value(after, ["list"])
    assert entries.JsoncText(gone).member("list") is None
    assert data_without(text, "list") == data_without(gone, "list")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{\n  "box": {\n    "x": [\n      1\n    ]\n  }\n}'),
        ('{"a":1}', '{"a":1, "box": {"x": [1]}}'),
        ('{"box": {}}', '{"box": {\n  "x": [\n    1\n  ]\n}}'),
        ('{"box": {"y": 2 /* c */}}', '{"box": {"y": 2, "x": [1] /* c */}}'),
        ('{\r\n\t"box": {\r\n\t\t"y": 2, // why\r\n\t},\r\n}',
         '{\r\n\t"box": {\r\n\t\t"y": 2, // why\r\n\t\t"x": [\r\n\t\t\t1\r\n\t\t],\r\n\t},\r\n}'),
    ],
)  # fmt: skip
def test_a_member_comes_and_goes_and_leaves_no_trace(before: str, after: str) -> None:
    assert entries.put_value(before, ["box", "x"], [1]) == after
    taken = entries.drop_value(after, ["box", "x"])
    if "box" not in before:
        taken = entries.drop_value(taken, ["box"])
    assert entries.JsoncText(taken).data == entries.JsoncText(before).data
    assert "".join(taken.split()) == "".join(before.split())


def test_a_value_on_the_way_that_is_no_object_is_refused() -> None:
    with pytest.raises(entries.JsoncError, match="An object was expected"):
        entries.put_value('{"c": 2}', ["c", "d"], 1)


def test_what_is_not_there_cannot_be_removed() -> None:
    text = '{"a": {"b": [1]}} // end'
    for path in (["a", "c"], ["x", "y"], ["a", "b", 2]):
        assert entries.drop_value(text, path) == text
