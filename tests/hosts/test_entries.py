"""Our entries in any settings of a person: put in and taken out, and nothing else has moved."""

import json
import tomllib
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pace import scaled

from mdmemory.config.writing import TomlError, find_value, read_toml
from mdmemory.hosts import entries
from mdmemory.hosts.entries import ConfigEntry

X = ConfigEntry(("list",), "x", in_list=True)
NEW = ["p/P.md", "é.md"]
OURS = (
    entries.hook_entry("claude", "Stop", timeout=30),
    entries.hook_entry("claude", "SessionStart", timeout=30),
    ConfigEntry(("permissions", "allow"), "mcp__mdmemory", in_list=True),
    ConfigEntry(("mcpServers", "mdmemory"), entries.server_entry(trust=True)),
)
TABLE = ConfigEntry(("mcp_servers", "mdmemory"), entries.server_entry(env_vars=["A", "B"]))
WORDS = st.sampled_from(["hooks", "Stop", "allow", "permissions", "mcpServers", "é", "", 'q"'])
PLAIN = st.none() | st.booleans() | st.integers() | WORDS
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3)
)
HOOKS = st.dictionaries(st.sampled_from(["Stop", "PreToolUse"]), st.lists(VALUES, max_size=2))
KNOWN = st.fixed_dictionaries(
    {},
    optional={
        "hooks": HOOKS,
        "permissions": st.fixed_dictionaries({}, optional={"allow": st.lists(VALUES, max_size=2)}),
        "mcpServers": st.dictionaries(st.sampled_from(["x", "y"]), VALUES, max_size=2),
    },
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """JSON text of settings in any layout, with a mark, line ends and comments as drawn."""
    others = draw(st.dictionaries(st.sampled_from(["a", "é", "ui"]), VALUES, max_size=3))
    text = json.dumps(
        others | draw(KNOWN), indent=draw(st.sampled_from([None, 1, 2, "\t"])),
        ensure_ascii=draw(st.booleans()), separators=draw(st.sampled_from([None, (",", ":")])),
    )  # fmt: skip
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n", " // mine\n"])))
    return (
        draw(st.sampled_from(["", entries.BOM])) + text + draw(st.sampled_from(["", "\n", "\n\n"]))
    )


@pytest.mark.slow
@settings(max_examples=scaled(200), deadline=None)
@given(documents() | st.sampled_from(["", "\n", entries.BOM]), documents())
def test_any_settings_are_themselves_again(text: str, other: str) -> None:
    after, done = entries.add(text, OURS)
    assert all(entries.find(after, entry) == entry.value for entry in OURS)
    assert entries.add(after, OURS, known=done)[0] == after, "a second time nothing is added"
    assert entries.drop_entries(after, OURS, done) == text
    assert entries.drop_entries(other, OURS, done) == other, "what is not ours stays"


@pytest.mark.slow
@settings(max_examples=scaled(200), deadline=None)
@given(documents(), st.booleans())
def test_of_settings_that_a_client_wrote_anew_only_ours_is_taken(text: str, known: bool) -> None:
    assume("//" not in text)
    after, done = entries.add(text, OURS)
    anew = json.dumps(entries.JsoncText(after).data, indent=2)
    left = entries.drop_entries(anew, OURS, done if known else None)
    before: Any = entries.JsoncText(text).data
    said: Any = entries.JsoncText(left).data
    if known:
        assert (said, left) == (before, json.dumps(before, indent=2))
    assert "/mdmemory/launch" not in left


TABLES = (
    'model = "gpt"',
    "# a comment",
    "[features]\nhooks = true",
    "[mcp_servers.other] # why\ncommand = 'x'",
    '[mcp_servers."mdmemory2"]\ncommand = "y"',
    '[projects."/a b/c"]\ntrust_level = "trusted"',
    '[a]\ntext = """\n[mcp_servers.x]\n"""',
    "[[list]]\nb = [1,\n 2]",
    "[numbers]\na = nan\nb = -inf\nc = 1.50",
    '[projects."/c#[d]"]\ntrust_level = "trusted"',
)


@pytest.mark.slow
@settings(max_examples=scaled(200), deadline=None)
@given(
    st.lists(st.sampled_from(TABLES), unique=True),
    st.lists(st.sampled_from(TABLES[2:]), unique=True),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\n"]),
)
def test_any_toml_is_itself_again(parts: list[str], more: list[str], end: str, last: str) -> None:
    parts.sort(key=TABLES.index)  # bare keys stand first
    text = ("\n\n".join(parts) + last).replace("\n", end)
    after, done = entries.add(text, [TABLE], is_toml=True)
    assert tomllib.loads(after)["mcp_servers"]["mdmemory"] == TABLE.value
    assert entries.drop_entries(after, [TABLE], done, is_toml=True) == text
    added = "".join(end + part.replace("\n", end) + end for part in more if part not in parts)
    for known in (done, None):
        left = entries.drop_entries(after + added, [TABLE], known, is_toml=True)
        assert read_toml(left) == read_toml(text + end + added)
        assert find_value(left, TABLE.path) is None


@pytest.mark.parametrize("text", [f"a = {'[' * 5_000}{']' * 5_000}", "a = [", "a = 1\na = 2"])
def test_what_is_no_toml_is_refused(text: str) -> None:
    with pytest.raises(TomlError):
        entries.add(text, [TABLE], is_toml=True)
    with pytest.raises(TomlError):
        entries.drop_entries(text, [TABLE], None, is_toml=True)


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
        # of a name given twice the last counts; one elsewhere is another
        ('{"list":["a"],"list":["b"]}', '{"list":["a"],"list":["b", "x"]}'),
        ('{"a": {"list": ["n"]}, "b": "\\"list\\": []", /* "list": [] */ "c": [{"list": []}]}',
         '{"a": {"list": ["n"]}, "b": "\\"list\\": []", /* "list": [] */ "c": [{"list": []}], '
         '"list": ["x"]}'),
    ],
)  # fmt: skip
def test_an_addition_is_laid_out_as_its_neighbours_are(before: str, after: str) -> None:
    assert entries.add(before, [X])[0] == after


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("", 1, 1), ("// only\n", 2, 1), ('{"a":1,,}', 1, 8), ('{"a" 1}', 1, 6),
        ('{"a":01}', 1, 7), ('{"a":NaN}', 1, 6), ("{'a':1}", 1, 2), ('{"a":1', 1, 7),
        ('{\r\n"a":x}', 2, 5), ("{} /* ", 1, 4), ('{"a":1} x', 1, 9), ("[" * 500, 1, 501),
        ('{"a":[1 2]}', 1, 9), ('{"a":"x\ny"}', 1, 8), ("[1]", 1, 1), ('{"list": "x"}', 1, 10),
        ("\u00a0{}", 1, 1),
    ],
)  # fmt: skip
def test_what_is_not_right_is_named_with_line_and_column(text: str, line: int, column: int) -> None:
    with pytest.raises(entries.JsoncError) as caught:
        entries.JsoncText(text) if not text.strip() else entries.add(text, [X])
    assert (caught.value.line, caught.value.column) == (line, column)


BLANK = st.sampled_from(["", " ", "\n", "\r\n\t", ' // "list": [\n', "/* , ] } */", " /* a\nb */ "])
NAMED = st.sampled_from(["a", "ключ", "//", "/*", 'q"\\', "{[", "b"])
SIMPLE = NAMED | st.integers() | st.booleans() | st.none()


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
        return json.dumps(draw(SIMPLE), ensure_ascii=draw(st.booleans()))
    parts = [draw(values(depth + 1)) for _ in range(draw(st.integers(0, 3)))]
    if kind == "{}":
        parts = [named(draw, draw(NAMED | st.just("list")), part) for part in parts]
    return boxed(draw, kind, parts)


def named(draw: st.DrawFn, key: str, value: str) -> str:
    return json.dumps(key) + draw(BLANK) + ":" + draw(BLANK) + value


@st.composite
def written(draw: st.DrawFn) -> str:
    """A root object that may hold `list`, a list of anything, between other members."""
    members = [named(draw, draw(NAMED), draw(values())) for _ in range(draw(st.integers(0, 3)))]
    if draw(st.booleans()):
        items = [draw(values(1)) for _ in range(draw(st.integers(0, 3)))]
        place = draw(st.integers(0, len(members)))
        members.insert(place, named(draw, "list", boxed(draw, "[]", items)))
    mark = draw(st.sampled_from(["", entries.BOM]))
    return mark + draw(BLANK) + boxed(draw, "{}", members) + draw(BLANK)


def others(text: str) -> list[tuple[object, str, object]]:
    """What a document says apart from `list`: each key, its source and its value."""
    document = entries.JsoncText(text)
    parts = [part for part in document.parts(document.root) if part.key != "list"]
    return [(part.key, text[part.start : part.end], part.data) for part in parts]


def listed(text: str) -> list[object]:
    member = entries.JsoncText(text).member("list")
    return list(member.data) if member else []  # type: ignore[call-overload]


def is_subsequence(short: str, long: str) -> bool:
    rest = iter(long)
    return all(letter in rest for letter in short)


@pytest.mark.slow
@settings(max_examples=scaled(200), deadline=None)
@given(written())
def test_nothing_but_the_list_changes_in_any_document(text: str) -> None:
    after = text
    for item in NEW:
        after = entries.append_item(after, ["list"], item)
    assert (listed(after), others(after)) == ([*listed(text), *NEW], others(text))
    assert is_subsequence(text, after), "something is inserted, and no more"
    gone = entries.drop_value(after, ["list"])
    assert (entries.JsoncText(gone).member("list"), others(gone)) == (None, others(text))
    for _ in NEW:
        after = entries.drop_value(after, ["list", len(listed(after)) - 1])
    assert (listed(after), others(after)) == (listed(text), others(text)), "and goes again"


@settings(max_examples=scaled(100), deadline=None)
@given(st.text(alphabet='{}[]",:/*\\ \n1ax', max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(entries.JsoncError):
        assert entries.JsoncText(entries.add(text, [X])[0])


@settings(max_examples=scaled(100), deadline=None)
@given(st.recursive(SIMPLE, lambda inner: st.lists(inner) | st.dictionaries(NAMED, inner)))
def test_plain_json_is_read_as_python_reads_it(data: object) -> None:
    assert entries.JsoncText(json.dumps(data, indent=1)).data == data


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
    assert entries.add(before, [ConfigEntry(("box", "x"), [1])])[0] == after
    taken = entries.drop_value(after, ["box", "x"])
    if "box" not in before:
        taken = entries.drop_value(taken, ["box"])
    assert entries.JsoncText(taken).data == entries.JsoncText(before).data
    assert "".join(taken.split()) == "".join(before.split())


def test_a_value_on_the_way_that_is_no_object_is_refused() -> None:
    with pytest.raises(entries.JsoncError, match="An object was expected"):
        entries.add('{"c": 2}', [ConfigEntry(("c", "d"), 1)])


def test_what_is_not_there_cannot_be_removed() -> None:
    text = '{"a": {"b": [1]}} // end'
    for path in (["a", "c"], ["x", "y"], ["a", "b", 2]):
        assert entries.drop_value(text, path) == text
