"""Growing a list in a person's configuration: what is added is right, and nothing else moves."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pace import scaled

from mdmemory.hosts import jsonc

NEW = ["p/P.md", "é.md"]


def data_without(text: str, key: str) -> object:
    """What a document says apart from `key`."""
    root = jsonc.parse(text.removeprefix(jsonc.BOM))
    pairs = zip(root.keys, root.parts, strict=True)
    return [(name, part.data) for (name, _), part in pairs if name != key]


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
    assert jsonc.grow(before, "list", ["x"]) == after


def test_a_list_of_that_name_elsewhere_is_not_mistaken_for_it() -> None:
    before = '{"a": {"list": ["n"]}, "b": "\\"list\\": []", /* "list": [] */ "c": [{"list": []}]}'
    after = jsonc.grow(before, "list", ["x"])
    assert after == before[:-1] + ', "list": ["x"]}'


def test_of_a_name_given_twice_the_last_grows_because_it_is_the_one_that_counts() -> None:
    assert jsonc.grow('{"list":["a"],"list":["b"]}', "list", ["x"]) == (
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
        ("[" * 500, 1, 102),
        ('{"a":[1 2]}', 1, 9),
        ('{"a":"x\ny"}', 1, 8),
        ("[1]", 1, 1),
        ('{"list": "x"}', 1, 10),
        ("\u00a0{}", 1, 1),
    ],
)
def test_what_is_not_right_is_named_with_line_and_column(text: str, line: int, column: int) -> None:
    with pytest.raises(jsonc.JsoncError) as caught:
        jsonc.grow(text, "list", ["x"])
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
    mark = draw(st.sampled_from(["", jsonc.BOM]))
    return mark + draw(BLANK) + boxed(draw, "{}", members) + draw(BLANK)


def _is_subsequence(short: str, long: str) -> bool:
    rest = iter(long)
    return all(letter in rest for letter in short)


@settings(max_examples=scaled(200), deadline=None)
@given(documents())
def test_nothing_but_the_list_changes_in_any_document(text: str) -> None:
    old = jsonc.parse(text.removeprefix(jsonc.BOM))
    after = jsonc.grow(text, "list", NEW)
    bare_before, bare = text.removeprefix(jsonc.BOM), after.removeprefix(jsonc.BOM)
    new = jsonc.parse(bare)
    listed, grown = old.member("list"), new.member("list")
    before = [item.data for item in listed.parts] if listed else []
    assert grown is not None
    assert grown.data == [*before, *NEW]
    assert data_without(text, "list") == data_without(after, "list")
    # Only insertions, and none of them in another member's source.
    assert _is_subsequence(text, after)
    for (key, _), was, now in zip(old.keys, old.parts, new.parts, strict=False):
        if key != "list":
            assert bare[now.start : now.end] == bare_before[was.start : was.end]


@settings(max_examples=scaled(100), deadline=None)
@given(st.text(alphabet='{}[]",:/*\\ \n1ax', max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(jsonc.JsoncError):
        assert jsonc.parse(jsonc.grow(text, "list", NEW))


@settings(max_examples=scaled(100), deadline=None)
@given(st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(WORDS, inner)))
def test_plain_json_is_read_as_python_reads_it(data: object) -> None:
    assert jsonc.parse(json.dumps(data, indent=1)).data == data


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{\n  "box": {\n    "x": [1]\n  }\n}'),
        ('{"a":1}', '{"a":1, "box": {"x": [1]}}'),
        ('{"box": {}}', '{"box": {\n  "x": [1]\n}}'),
        ('{"box": {"y": 2 /* c */}}', '{"box": {"y": 2, "x": [1] /* c */}}'),
        ('{\n\t"box": {\n\t\t"y": 2, // why\n\t},\n}',
         '{\n\t"box": {\n\t\t"y": 2, // why\n\t\t"x": [1],\n\t},\n}'),
    ],
)  # fmt: skip
def test_a_member_comes_and_goes_and_leaves_no_trace(before: str, after: str) -> None:
    assert jsonc.put(before, "box", "x", [1]) == after
    taken = jsonc.drop(after, "box", "x")
    if "box" not in before:
        taken = jsonc.drop_member(taken, "box")
    assert jsonc.parse(taken).data == jsonc.parse(before).data
    assert taken.replace(" ", "").replace("\n", "") == before.replace(" ", "").replace("\n", "")
