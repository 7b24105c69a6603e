"""Reading and changing the head of a note."""

import time
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pace import scaled
from rows import each

from mdmemory.errors import BadNote
from mdmemory.note import editing, frontmatter
from mdmemory.note.editing import put, recite
from mdmemory.note.note import Note, parse
from mdmemory.store.note_links import has_own_keys, unite_notes

Patch = pytest.MonkeyPatch
FLAT = """\
name: prefers-pnpm
description: Uses pnpm, never npm, in every JavaScript project
metadata:
  type: feedback
  source: explicit
  created: 2026-06-01
  updated: 2026-06-03
  reinforced: 2
"""
SAYINGS = (
    *("yes", "no", "null", "~", "010", "1:30", "2024-01-01", "1e3", ".5", "...", "---", "-", "?"),
    *("a: b", "a:b", "a #b", "a#b", "#b", "C# is #1", "[WIP] x", "{x}", "> q", "| q", "@me"),
    *("&a", "*a", "!t", "!!str x", "%d", "`x`", "'x'", '"x"', '"x" y', "'it''s'", '"a\\"b\\\\c"'),
    *('"a\\nb"', "ends:", " lead", "trail ", "tab\there", "喜欢简短", "é", "\xa0x", "x\xa0"),
    *("x\u2028y", "x\x85y", "\ufeffx", "x\ufffey", "😀", "\U0001fffe", "x\x7f"),
    *("x\x00", "", '""', "''", "<<", "=", "a, b", "- a", "-a", "?a", ":a", "a\\b", "$x", "~/x"),
    *("/x", "(x)", "+1", "x\ry", "a: ", "a :b"),
)
value = st.sampled_from(SAYINGS) | st.text(max_size=12)
key = st.sampled_from(("name", "description", "type", "metadata", "a-b", "x", "é", "a b", "-", "1"))
line = st.builds(
    lambda indent, name, gap, text: f"{indent}{name}:{gap}{text}\n",
    st.sampled_from(("", "", "", "  ", "  ", "   ", "\t", " ")),
    key,
    st.sampled_from((" ", " ", " ", "", "  ", "\t")),
    value,
)
odd_line = st.sampled_from(
    ("\n", "# note\n", "  # note\n", "  more\n", "- x\n", "metadata:\n", "\r\n")
)
block = st.just("metadata:\n  type: user\n")
listed = st.lists(value, max_size=3).map(lambda all: f"aliases: [{', '.join(all)}]\n")
written_list = st.lists(value.filter(str.isprintable), min_size=1, max_size=3).map(
    lambda all: f"aliases: [{frontmatter.join_items(all)}]\n"
)
structured = st.lists(line | odd_line | block | listed | written_list, max_size=8).map("".join)


def by_yaml(head: str) -> Any:
    return yaml.load(head, Loader=yaml.CBaseLoader)


@settings(max_examples=scaled(300), deadline=None)
@given(st.lists(value.filter(str.isprintable), min_size=1, max_size=3))
@example(["yes", "2024-01-01", "1", "a b", 'say "hi"', "a, b", "]", "喜欢"])
def test_a_list_that_we_write_needs_no_yaml_parser_and_stays_the_same(names: list[str]) -> None:
    head = f"name: a\naliases: [{frontmatter.join_items(names)}]\n"
    assert frontmatter.parse_flat(head) == by_yaml(head) == {"name": "a", "aliases": names}
    assert yaml.safe_load(head)["aliases"] == names


def test_a_machine_written_head_needs_no_yaml_parser() -> None:
    fields = frontmatter.parse_flat(FLAT)
    assert fields == by_yaml(FLAT)
    assert frontmatter.parse_flat(FLAT.replace("\n", "\r\n")) == fields


@pytest.mark.slow
@settings(max_examples=scaled(600), deadline=None)
@given(structured | st.text(max_size=60))
@example("metadata:\n")
@example('metadata: ""\n')
@example("a: b\na: c\n")
@example("a: b")
@example("a: b \n")
@example("metadata: x\n  a: b\n")
def test_what_the_fast_parser_accepts_yaml_reads_the_same(head: str) -> None:
    fields = frontmatter.parse_flat(head)
    if fields is not None:
        assert fields == by_yaml(head)


@settings(max_examples=scaled(400), deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | value)
def test_a_written_value_reads_back_the_same(text: str) -> None:
    for name in ("description", "session"):
        written = frontmatter.to_yaml(name, text)
        assert by_yaml(f"{name}: {written}\n") == {name: text}
        assert frontmatter.read(f"{name}: {written}\n").fields == {name: text}


def test_scalars_stay_the_strings_that_were_written_for_us_and_other_readers() -> None:
    texts = ["2024-01-01", "no", "1:30", "010", "~", "yes", "null", "0xff", "1e3"]
    written = dict(zip("abcdefghi", texts, strict=True))
    head = "".join(f"{key}: {text}\n" for key, text in written.items())
    assert frontmatter.read(head).fields == written
    assert frontmatter.read(f"# not for the fast parser\n{head}").fields == written
    for text in texts:
        assert yaml.safe_load(f"a: {frontmatter.to_yaml('description', text)}") == {"a": text}


DANGER = {
    "anchor": "name: &a x\nother: *a\n",
    "alias bomb": "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
    "tag": "name: !!python/object:os.system x\n",
    "own tag": "name: !x y\n",
    "depth": "a: {b: {c: {d: {e: f}}}}\n",
    "lists in lists": f"a: {'[' * 5000}\n",
    "twice": "name: a\nname: b\n",
    "twice below": "metadata:\n  type: user\n  type: project\n",
    "twice in flow": "metadata: {type: user, type: project}\n",
    "too large": f"name: a\n# {'x' * frontmatter.MAX_HEAD}\n",
    "too large in bytes": f"name: a\n# {'喜' * (frontmatter.MAX_HEAD // 2)}\n",
}


@pytest.mark.parametrize("head", DANGER.values(), ids=DANGER.keys())
def test_danger_is_refused_by_name_and_the_lines_are_still_read(head: str) -> None:
    started = time.process_time()
    reading = frontmatter.read(head)
    assert reading.problem.endswith(".")
    assert all(isinstance(text, (str, dict)) for text in reading.fields.values())
    assert time.process_time() - started < 20


@pytest.mark.parametrize(
    "fill", [" ", "a ", ": ", '"', "'", "[", "{", "- ", "#", " #", "\\", "\t", "? "]
)
def test_no_head_takes_long(fill: str) -> None:
    text = (fill * frontmatter.MAX_HEAD)[: frontmatter.MAX_HEAD - 100]
    for head in (f"{text}\n", f"description: {text}\n", f"metadata:\n  type: {text}\n"):
        started = time.process_time()
        frontmatter.read(head)
        assert time.process_time() - started < 20


def test_the_first_of_two_equal_keys_counts_and_the_deepest_allowed_nesting_is_read() -> None:
    assert frontmatter.read("name: a\nname: b\n").fields == {"name": "a"}
    deep = frontmatter.Reading({"a": {"b": {"c": {"d": "e"}}}})
    assert frontmatter.read("a: {b: {c: {d: e}}}\n") == deep


def test_a_description_that_yaml_refuses_is_read_as_its_line() -> None:
    refused = (
        "fix: the thing",
        "[WIP] x",
        "> q",
        "@me",
        "`code` first",
        "% of",
        "- dash",
        "a: b: c",
    )
    for text in refused:
        reading = frontmatter.read(f"name: n\ndescription: {text}\nmetadata:\n  type: user # why\n")
        assert reading.problem
        assert reading.fields == {"name": "n", "description": text, "metadata": {"type": "user"}}


@pytest.mark.parametrize("text", ["C# is #1", "#hash first", "[WIP]", "{x}", "a  # b"])
def test_a_description_is_read_as_its_whole_line_without_a_problem(text: str) -> None:
    head = f"description: {text}\ntitle: Issue #7\n"
    assert frontmatter.read(head) == frontmatter.Reading({"description": text, "title": "Issue #7"})


def test_a_broken_head_still_gives_quoted_and_folded_values() -> None:
    for text, meant in [
        ("'it''s' # c", "it's"),
        ('"a \\"b\\"" # c', 'a "b"'),
        ('"a\\qb"', "a\\qb"),
        ('"\\ud83d"', "\\ud83d"),
        (">\n  one\n  two", "one two"),
        ("|-\n  one\n\n  # two", "one # two"),
        ("one\n  two", "one two"),
    ]:
        reading = frontmatter.read(f"bad: [\ndescription: {text}\n\n# end\nname: n\n")
        assert reading.problem
        assert (reading.fields["description"], reading.fields["name"]) == (meant, "n")


def test_a_broken_head_still_gives_metadata_in_one_line_or_behind_tabs() -> None:
    tagged = {"type": "user", "tags": ["a", "b"]}
    rows = (("{type: user, tags: [a, b]}", tagged), ("# ours\n  type: user", {"type": "user"}))
    for text, meant in rows:
        reading = frontmatter.read(f"description: fix: it\nmetadata: {text}\n")
        assert reading.fields["metadata"] == meant
    head = "name: n\nmetadata:\n\ttype: user\n"
    reading = frontmatter.read(head)
    assert reading.problem
    assert reading.fields == {"name": "n", "metadata": {"type": "user"}}
    assert put(head, "metadata.turn", "t", "\n") == f"{head}\tturn: t\n"


@settings(max_examples=scaled(300), deadline=None)
@given(structured | st.text(max_size=80))
def test_reading_never_raises(head: str) -> None:
    reading = frontmatter.read(head)
    assert reading.problem == "" or reading.problem.endswith(".")
    assert all(isinstance(key, str) for key in frontmatter.flatten(reading.fields))


def test_a_new_key_goes_to_the_end_of_its_block_and_a_missing_block_is_made() -> None:
    head = "metadata:\n    type: user\n    # kept\n\nother: x\n"
    wanted = "metadata:\n    type: user\n    turn: t\n    # kept\n\nother: x\n"
    assert put(head, "metadata.turn", "t", "\n") == wanted
    for head in ("name: n\n", "name: n\nmetadata:\n"):
        assert put(head, "metadata.turn", "t", "\n") == "name: n\nmetadata:\n  turn: t\n"
    assert put("name: n\n", "metadata.turn", None, "\n") == "name: n\n"


def test_a_value_over_several_lines_is_replaced_whole() -> None:
    for old in ("|\n  a\n\n  # b", ">-\n  a\n  b", '"a\n  b"', "a\n  b", "\n  a"):
        head = f"name: n\ndescription: {old}\n\n# kept\nmetadata:\n  type: user\n"
        wanted = "name: n\ndescription: new\n\n# kept\nmetadata:\n  type: user\n"
        assert put(head, "description", "new", "\n") == wanted


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("user # why", "project # why"),
        ('"user"  # why', "project  # why"),
        ("'us # er'\t# why", "project\t# why"),
        ("# why", "project # why"),
        ("us#er", "project"),
        ('"us # er"', "project"),
        ("|  # why\n    user", "project  # why"),
    ],
)
def test_a_comment_behind_a_changed_value_stays(old: str, new: str) -> None:
    head = f"metadata:\n  type: {old}\n  turn: t\n"
    assert put(head, "metadata.type", "project", "\n") == f"metadata:\n  type: {new}\n  turn: t\n"
    head = put('description: "old" # why\n', "description", "new", "\n")
    assert head == 'description: "new" # why\n'
    assert frontmatter.read(head).fields == {"description": "new"}


def test_metadata_on_one_line_becomes_a_block_where_it_changes() -> None:
    for flow, changes, wanted in [
        ("{type: user}", {"type": "project"}, "\n  type: project"),
        ("{type: user}", {"turn": "t"}, "\n  type: user\n  turn: t"),
        ("{}", {"turn": "a, b"}, "\n  turn: a, b"),
        ("{ type: user, x: [1, 2] } # why", {"type": None}, ' # why\n  x: ["1", "2"]'),
        ("{type: user}", {"type": None}, ""),
        ("{type: user,\n  turn: 't'}", {"turn": "u"}, "\n  type: user\n  turn: u"),
        ('{"type": "user", x: 😀}', {"x": "y", "type": "z"}, "\n  type: z\n  x: y"),
    ]:
        head = f"name: n\nmetadata: {flow}\nlast: x\n"
        for name, text in changes.items():
            head = put(head, f"metadata.{name}", text, "\n")
        assert head == f"name: n\nmetadata:{wanted}\nlast: x\n"


def test_metadata_that_is_no_block_is_left_alone() -> None:
    for head in ("metadata: user\n", "metadata: {type\n", "metadata: {a: b, # why\n  c: d}\n"):
        with pytest.raises(BadNote):
            put(head, "metadata.type", "project", "\n")
    head = put("metadata: {a: {b: [c, 'd: e']}}\n", "metadata.type", "project", "\n")
    assert head == 'metadata:\n  a: {b: [c, "d: e"]}\n  type: project\n'


def test_without_the_c_parser_the_same_is_read(monkeypatch: Patch) -> None:
    monkeypatch.delattr(yaml, "CBaseLoader")
    assert frontmatter.read("a: yes # b\n") == frontmatter.Reading({"a": "yes"})
    assert "anchors" in frontmatter.read("a: &b c\n").problem
    assert "twice" in frontmatter.read("a: b\na: c\n").problem


# The citations of a note: read in any form, changed in their own lines, and nowhere else.

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


def test_a_list_grows_shrinks_and_goes_and_an_edit_keeps_it_byte_for_byte() -> None:
    def check(form: str) -> None:
        before = note(FORMS[form])
        after = editing.edit(before, set={"description": "New"}, body="New.")
        assert FORMS[form] in after.text, "an edit keeps it byte for byte"
        assert recite(before, {}, ["src/c.py"]).head.cites == (ONE, OTHER, "src/c.py")
        assert recite(before, {ONE: None}).head.cites == (OTHER,)
        assert recite(before, {OTHER: ONE}).head.cites == (ONE,)
        bare = recite(before, {ONE: None, OTHER: None})
        assert "cites" not in bare.text
        assert recite(before, {}) is before
        assert recite(bare, {}, [ONE]).head.cites == (ONE,)

    each(FORMS, check)


def test_a_list_in_metadata_on_one_line_changes_with_it_and_none_that_is_not_safe_to() -> None:
    flow = parse(f'---\nname: a\nmetadata: {{type: project, cites: ["{ONE}"]}}\n---\n\nB\n', "a.md")
    assert recite(flow, {ONE: PINNED}).head.cites == (PINNED,)
    spread = note(f'  cites: ["{ONE}",  # first\n    "{OTHER}"]\n')
    assert spread.head.cites
    with pytest.raises(BadNote, match="cites"):
        recite(spread, {ONE: PINNED})


PRINTABLE = st.characters(exclude_categories=["C", "Z"]) | st.just(" ")
PATHS = st.text(PRINTABLE, min_size=1, max_size=30)


@given(st.lists(PATHS.map(str.strip).filter(bool), min_size=1, max_size=4, unique=True))
def test_whatever_a_path_is_called_it_is_read_back(paths: list[str]) -> None:
    text = editing.compose(name="a", type="project", description="A", body="", cites=paths)
    assert parse(text, "project-a.md").head.cites == tuple(paths)


def test_a_merge_has_the_citations_of_all_and_they_are_no_persons_own_keys() -> None:
    first, second = note(FORMS["one line"]), note(f'  cites: ["{OTHER}", "src/c.py"]\n')
    assert unite_notes(first, [second]).head.cites == (ONE, OTHER, "src/c.py")
    assert unite_notes(note(""), [second]).head.cites == (OTHER, "src/c.py")
    text = "---\nname: a\ndescription: A\nmetadata:\n  type: project\n  cites: [b]\n---\n\nB\n"
    assert not has_own_keys(parse(text, "project-a.md"))
