"""Our entries in any settings of a person: put in and taken out, nothing else has moved."""

import json
import tomllib
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pace import scaled

from mdmemory.config.writing import TomlError, find_value, read_toml
from mdmemory.hosts import entries
from mdmemory.hosts.entries import ConfigEntry

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


@settings(max_examples=scaled(200), deadline=None)
@given(documents() | st.sampled_from(["", "\n", entries.BOM]), documents())
def test_any_settings_are_themselves_again(text: str, other: str) -> None:
    after, done = entries.add(text, OURS)
    assert all(entries.find(after, entry) == entry.value for entry in OURS)
    assert entries.add(after, OURS, known=done)[0] == after, "a second time nothing is added"
    assert entries.drop_entries(after, OURS, done) == text
    assert entries.drop_entries(other, OURS, done) == other, "what is not ours stays"


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
        assert said == before
        assert left == json.dumps(before, indent=2)
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
