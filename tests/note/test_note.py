"""The note: reading, writing, editing, and the words it may be made of."""

import re
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from pace import HUNG, scaled
from rows import each

from mdmemory.errors import BadNote
from mdmemory.note import limits
from mdmemory.note.editing import compose, edit
from mdmemory.note.limits import check_body, check_description, check_name, file_name, slugify
from mdmemory.note.note import Head, decode, make_unreadable, parse, read_fields

FILE = "feedback-prefers-pnpm.md"
SAMPLE = """\
---
name: prefers-pnpm
description: Uses pnpm, never npm, in every JavaScript project
aliases: [prefers-pnpm]
metadata:
  type: feedback
  source: explicit
  created: 2026-06-01
  updated: 2026-06-03
  reinforced: 2
  last_reinforced: 2026-06-20
  session: ses_abc
  turn: msg_def
---

Use pnpm for installs and scripts; lockfiles of npm are deleted on sight.

Why: the monorepo's workspaces broke twice with npm. See [[monorepo-layout]].
"""
BY_HAND = """\
\ufeff---\r
# mine\r
title: "Pnpm: always"   # shown\r
tags:\r
- js\r
- "node"\r
name:   'prefers-pnpm'\r
description: C# is #1\r
metadata:   # ours\r
    type: user     # who I am\r
    x-mood: >\r
      good\r
\r
      # so far\r
    created: 2026-06-01\r
    # the end\r
---\r
Body begins at once.\r
\r
And ends without a line end."""
ROOT = Path(__file__).parents[2]

pieces = st.sampled_from(
    (
        *("---", "---\n", "\n---\n", "--- \n", "\r\n", "\r", "\n", "\ufeff", "\x00", " ", "text"),
        *("name: x\n", "description: a #b\n", "# h\n", "metadata: {type: user}\n"),
        "metadata:\n  type: user\n",
    )
)
any_text = st.text() | st.lists(pieces | st.text(max_size=5), max_size=10).map("".join)
one_line = (
    st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp", "Cf", "Cn"]), max_size=60)
    | st.sampled_from(("fix: it", "C# is #1", "[WIP] x", "> q", "@me", 'say "no"', "yes", "2024"))
).filter(str.strip)
nested = st.recursive(
    one_line, lambda each: st.lists(each) | st.dictionaries(one_line, each), max_leaves=4
).filter(lambda value: str(value).count("[") + str(value).count("{") < 3)
plain_line = st.from_regex(r"[a-z][a-z0-9 ,.]{0,30}[a-z]", fullmatch=True).filter(
    lambda text: text not in ("no", "on", "off", "yes", "true", "false", "null")
)
body_text = (
    st.lists(one_line, min_size=1, max_size=4)
    .map("\n".join)
    .filter(lambda text: not text.strip().startswith("---") and not text.startswith((">>>", "<<<")))
)
name_text = st.text(min_size=1, max_size=40).map(slugify).filter(bool)


def test_the_sample_is_read() -> None:
    note = parse(SAMPLE, FILE)
    assert note.head._asdict() == Head(FILE, "", "", "")._asdict() | {
        **{"name": "prefers-pnpm", "type": "feedback", "source": "explicit", "reinforced": 2},
        "description": "Uses pnpm, never npm, in every JavaScript project",
        **{"created": "2026-06-01", "updated": "2026-06-03", "last_reinforced": "2026-06-20"},
        **{"session": "ses_abc", "turn": "msg_def", "aliases": ("prefers-pnpm",)},
    }
    assert note.body.startswith("Use pnpm for installs")
    assert note.body.endswith("[[monorepo-layout]].")


def test_the_template_is_well_formed_and_the_example_of_the_page_is_what_we_write() -> None:
    head = parse((ROOT / "templates" / "note.md").read_text(encoding="utf-8"), FILE).head
    assert (head.problems, file_name(head.type, head.name)) == ((), head.file)
    page = (ROOT / "docs" / "by-hand.md").read_text(encoding="utf-8")
    text = page.partition("```markdown\n")[2].partition("```")[0]
    note = parse(text, "project-release-branch.md")
    head = note.head
    assert head.problems == ()
    dates = {key: getattr(head, key) for key in ("created", "updated", "last_reinforced")}
    metadata = {"source": head.source, **dates, "reinforced": str(head.reinforced)}
    parts = {"name": head.name, "type": head.type, "description": head.description}
    assert text == compose(**parts, kind=head.kind, body=note.body, metadata=metadata)


def test_a_note_by_hand_is_read_with_bom_crlf_comments_and_quotes() -> None:
    note = parse(BY_HAND, "x.md")
    dated = {"created": "2026-06-01", "title": "Pnpm: always"}
    assert note.head == Head("x.md", "prefers-pnpm", "C# is #1", "user", **dated)
    assert note.body == "Body begins at once.\r\n\r\nAnd ends without a line end."


@settings(max_examples=scaled(500), deadline=None)
@given(any_text)
@example(SAMPLE)
@example(BY_HAND)
@example("---\n---")
@example("---\r---\r")
@example("---\r\n---\n\r\n")
@example("\ud800")
def test_every_text_is_read_and_rendered_to_the_character(text: str) -> None:
    note = parse(text, FILE)
    assert note.text == text
    assert note.body in text
    assert note.head.name


@pytest.mark.parametrize("eol", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_bom_change_nothing_that_is_read(eol: str, mark: str) -> None:
    note, whole = parse(mark + SAMPLE.replace("\n", eol), FILE), parse(SAMPLE, FILE)
    assert note.head == whole.head
    assert note.body.replace(eol, "\n") == whole.body
    mixed = "---\r\nname: n\ndescription: d\rmetadata:\r\n  type: user\n---\n\nx\r\ny\r"
    note = parse(mixed, "n.md")
    assert note.head == Head("n.md", "n", "d", "user")
    assert note.body == "x\r\ny"


HEADLESS = (
    "## Uses pnpm\n\nmore",
    "\n\n  \nUses pnpm\n",
    "\ufeffUses pnpm",
    "---\n# Uses pnpm\nno end",
)


@pytest.mark.parametrize("text", HEADLESS)
def test_without_a_head_the_first_line_describes_and_the_stem_names(text: str) -> None:
    note = parse(text, FILE)
    problems = note.head.problems
    assert len(problems) == 1
    assert note.head == Head(FILE, "prefers-pnpm", "Uses pnpm", "reference", problems=problems)
    assert text.removeprefix("\ufeff").startswith(note.body)


DESCRIBED = [
    ("- The oven takes 380 V\n- The silo holds 12 t\n", "The oven takes 380 V"),
    ("* C# is #1\n", "C# is #1"),
    ("• One\n• Two\n", "One"),
    ("1. First, stop the line\n", "1. First, stop the line"),
    ("-5 degrees is the limit\n", "-5 degrees is the limit"),
    ("*Never* on Fridays\n", "*Never* on Fridays"),
    ("**The relay** is relay-2\n", "**The relay** is relay-2"),
    ("#infra #mail\n\nMail goes through relay-2.\n", "Mail goes through relay-2."),
    ("#infra is our channel\n", "#infra is our channel"),
    ("#only-a-tag\n", "#only-a-tag"),
    ("<!-- mine -->\n\nBelow a comment.\n", "Below a comment."),
    ("```sh\nmake deploy\n```\nBy make.\n", "make deploy"),
    ("title:: Printer\nalias:: zebra\n\n- It is at 10.3.0.9\n", "It is at 10.3.0.9"),
    ("std::vector is banned\n", "std::vector is banned"),
    ('+++\ntitle = "Relay"\n+++\n\nIt listens on 2525.\n', "It listens on 2525."),
    ('\ufeff+++\r\ntitle = "R"\r\n+++\r\nIt listens.\r\n', "It listens."),
    ("+++\nnever closed\n", "never closed"),
    ("|---|---|\n| till-1 | 8443 |\n", "| till-1 | 8443 |"),
    ("---\nid: 5f\n---\n\n# Proxies\n\nTraefik.\n", "Proxies"),
    ("---\nSome prose\n---\nmore\n", "Some prose"),
    ("#" + "a#" * 20_000 + "\nDone.\n", "Done."),
]


def test_the_first_line_that_says_something_describes() -> None:
    def check(text: str, description: str) -> None:
        assert parse(text, "n.md").head.description == description

    each(DESCRIBED, check)
    assert parse("---\nSome prose\n---\nmore\n", "n.md").body == "---\nSome prose\n---\nmore"


@pytest.mark.parametrize("before", ["", "\ufeff", "\n", " \t\n\r\n", "\ufeff\n"])
@pytest.mark.parametrize("end", ["---", "...", "...  "])
def test_a_head_is_read_and_edited_behind_blanks_and_with_either_end(before: str, end: str) -> None:
    text = f"{before}---\nname: n\ndescription: d\nmetadata:\n  type: user\n{end}\n\nBody.\n"
    note = parse(text, "n.md")
    assert (note.head.name, note.head.type, note.body) == ("n", "user", "Body.")
    assert note.head.problems == ()
    assert edit(note, set={"metadata.type": "project"}).text == text.replace("user", "project")


def test_a_head_that_is_not_understood_gets_no_second_one_above_it() -> None:
    prose, merging = "---\nSome prose\n---\nmore\n", "\n---\n<<<<<<< x\n---\n"
    for text in ("+++\ntitle = 1\n+++\nx\n", "---\nname: never closed\n", prose, merging):
        with pytest.raises(BadNote, match="second head"):
            edit(parse(text, "n.md"), set={"metadata.type": "user"})


def test_a_number_sign_within_a_line_two_heads_and_an_open_merge() -> None:
    for line in ("We write C# 12.", "It is # 4", "F# and C# are ours"):
        assert parse(f"## {line}\n", "a.md").head.description == line
    text = "---\nid: 1\n---\n\n---\nname: tea\nmetadata:\n  type: user\n---\n\nGreen.\n"
    note = parse(text, "a.md")
    assert (note.head.name, note.head.type, note.body) == ("tea", "user", "Green.")
    edited = edit(note, set={"name": "cup"}, body="Black.")
    assert (edited.head.name, edited.head.type, edited.body) == ("cup", "user", "Black.")
    merging = "<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> other\n"
    assert any("open merge" in each for each in parse(merging, "a.md").head.problems)


def test_the_stem_loses_only_a_known_type() -> None:
    names = {"user-a-b.md": "a-b", "user-.md": "user-", "idea-a.md": "idea-a", "user.md": "user"}
    assert {file: parse("", file).head.name for file in names} == names


def test_odd_heads_are_tolerated_with_one_clear_problem() -> None:
    for head, problem in [
        ("d\ntype: user", "no `metadata` block"),
        ("d\ntype: user\nmetadata: words", "not a block"),
        ("d\ntype: user\nmetadata:\n- a", "not a block"),
        ("d\nmetadata:\n  type: user\n  reinforced: often", "whole number"),
        ("d\nmetadata:\n  type: user\n  kind: [a]", "`kind` is not"),
        (f"{'d' * 221}\nmetadata:\n  type: user", "221 characters"),
        ("d\nmetadata:\n  type: user\n  type: user", "stands twice"),
    ]:
        read = parse(f"---\nname: n\ndescription: {head}\n---\n\nbody\n", "x.md").head
        assert (read.name, read.description[0], read.type, read.reinforced) == ("n", "d", "user", 0)
        (said,) = read.problems
        assert problem in said


def test_metadata_counts_before_the_same_key_at_the_top_and_what_is_unknown_is_kept() -> None:
    top = "---\nname: n\ndescription: d\ntype: project\ncreated: 2026-01-01\n"
    head = parse(f"{top}metadata:\n  type: user\n---\n", "x.md").head
    assert head == Head("x.md", "n", "d", "user", created="2026-01-01")
    text = "---\nname: n\ndescription: >\n  one\n\n  two\nmetadata: {type: idea}\n---\nx"
    assert parse(text, "x.md").head == Head("x.md", "n", "one two", "idea")


@pytest.mark.parametrize(
    "text",
    [
        *(sign * 1_000_000 for sign in "x-\n "),
        "---\n" + "x: y\n" * 200_000,
        "---\nname: n\n" + "x: y\n" * 200_000 + "---\nbody\n",
        "---\n" + " " * 1_000_000 + "\n---\n",
        "---\n---" + " " * 1_000_000 + "x",
        "\x00\x01\x02" * 300_000,
        "---\na: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n---\n",
    ],
    ids=lambda text: repr(text[:12]),
)
def test_huge_and_hostile_files_are_read_in_no_time(text: str) -> None:
    started = time.process_time()
    note = parse(text, "x.md")
    assert note.text == text
    assert note.head.problems
    assert len(note.head.description) <= limits.MAX_DESCRIPTION
    assert time.process_time() - started < 10


def test_starting_up_loads_no_yaml() -> None:
    script = (
        "import sys; from mdmemory.note import note as n; n.parse(sys.stdin.read(), 'x.md');"
        "assert not {'yaml', 'frontmatter'} & sys.modules.keys()"
    )
    words = [sys.executable, "-c", script]
    subprocess.run(words, input=SAMPLE, text=True, check=True, timeout=HUNG)


def test_bytes_that_are_not_utf_8_are_refused_with_a_sentence() -> None:
    assert decode("\ufeffä\r\n".encode()) == "\ufeffä\r\n"
    for data in (b"\xff\xfea\x00", b"\x89PNG\r\n", "ä".encode("latin-1"), b"\xed\xa0\x80"):
        with pytest.raises(BadNote, match=r"not UTF-8 text \(byte 1\)"):
            decode(data)


def test_an_unreadable_file_has_a_name_and_is_never_edited() -> None:
    note = make_unreadable("user-a.md", "The file is not UTF-8 text.")
    assert (note.head.name, note.head.type, note.text) == ("a", "reference", "")
    assert note.head.problems == ("The file is not UTF-8 text.",)
    with pytest.raises(BadNote):
        edit(note, set={"name": "b"})


def test_a_new_note_has_its_keys_in_the_order_of_the_format() -> None:
    metadata = {
        **{"turn": "msg_def", "session": "ses_abc", "reinforced": "2", "status": ""},
        **{"last_reinforced": "2026-06-20", "updated": "2026-06-03"},
        **{"created": "2026-06-01", "source": "explicit"},
    }
    note = parse(SAMPLE, FILE)
    parts = {"name": note.head.name, "type": "feedback", "description": note.head.description}
    assert compose(**parts, body=note.body + "\n", metadata=metadata) == SAMPLE


def test_kind_follows_type_and_unknown_keys_come_last() -> None:
    metadata = {"secrets": "allowed", "source": "manual", "status": "unconfirmed"}
    parts = {"name": "a", "type": "project", "description": "fix: it", "body": "b"}
    assert compose(**parts, kind="decision", metadata=metadata) == (
        '---\nname: a\ndescription: "fix: it"\naliases: [a]\nmetadata:\n  type: project\n'
        "  kind: decision\n  source: manual\n  status: unconfirmed\n  secrets: allowed\n---\n\nb\n"
    )


@pytest.mark.slow
@settings(max_examples=scaled(300), deadline=None)
@given(name_text, st.sampled_from(limits.TYPES), one_line, body_text, one_line, nested)
def test_what_is_composed_reads_back_without_problems(
    name: str, type: str, description: str, body: str, session: str, own: object
) -> None:
    parts = {"name": name, "type": type, "description": description, "body": body}
    metadata = {"session": session, "reinforced": "3", "x-own": session}
    text = compose(**parts, metadata=metadata, own={"mine": own})
    assert read_fields(parse(text, "x.md"))["mine"] == own
    note = parse(text, file_name(type, name))
    known = {"session": session, "reinforced": 3, "aliases": (name,)}
    assert note.head == Head(f"{type}-{name}.md", name, description, type, **known)
    assert note.body == body


def test_a_bad_new_note_is_refused() -> None:
    def check(wrong: dict[str, object]) -> None:
        with pytest.raises(BadNote):
            compose(**{"name": "a", "type": "user", "description": "d", "body": "b", **wrong})

    bad: list[dict[str, object]] = [
        *({"name": "No Good"}, {"type": "idea"}, {"description": ""}, {"body": " "}),
        *({"metadata": {"a b": "x"}}, {"metadata": {"a": "x\ny"}}, {"kind": "a\x00"}),
    ]
    each(bad, check)


def changed_lines(old: str, new: str) -> tuple[list[str], list[str]]:
    """What a diff would show: the lines that only one of two texts has, in order."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    while before and after and before[0] == after[0]:
        del before[0], after[0]
    while before and after and before[-1] == after[-1]:
        del before[-1], after[-1]
    return before, after


WHO = "     # who I am\r\n"
MOOD = ["    x-mood: >\r\n", "      good\r\n", "\r\n", "      # so far\r\n"]


def test_a_hand_edited_note_changes_only_where_it_must() -> None:
    for key, value, old, new in [
        ("description", "new", ["description: C# is #1\r\n"], ["description: new\r\n"]),
        ("description", "F# #2", ["description: C# is #1\r\n"], ['description: "F# #2"\r\n']),
        ("name", "other", ["name:   'prefers-pnpm'\r\n"], ["name:   other\r\n"]),
        ("title", "T", ['title: "Pnpm: always"   # shown\r\n'], ['title: "T"   # shown\r\n']),
        ("metadata.type", "project", [f"    type: user{WHO}"], [f"    type: project{WHO}"]),
        ("metadata.updated", "2026-07-01", [], ["    updated: 2026-07-01\r\n"]),
        ("metadata.created", None, ["    created: 2026-06-01\r\n"], []),
        ("metadata.x-mood", "bad", MOOD, ["    x-mood: bad\r\n"]),
        ("mine", "x", [], ["mine: x\r\n"]),
        ("tags", None, ["tags:\r\n", "- js\r\n", '- "node"\r\n'], []),
        ("absent", None, [], []),
        ("metadata.created", "2026-06-01", [], []),
    ]:
        edited = edit(parse(BY_HAND, "x.md"), set={key: value})
        assert changed_lines(BY_HAND, edited.text) == (old, new)
        assert edited.body == parse(BY_HAND, "x.md").body


def test_several_keys_and_the_body_change_at_once() -> None:
    note = parse(SAMPLE, FILE)
    edited = edit(note, set={"metadata.reinforced": "3", "description": "d"}, body="one\r\ntwo\n\n")
    wanted = SAMPLE[: SAMPLE.index("Use pnpm for")] + "one\ntwo\n"
    wanted = wanted.replace("reinforced: 2\n", "reinforced: 3\n", 1)
    wanted = wanted.replace("Uses pnpm, never npm, in every JavaScript project", "d")
    assert edited.text == wanted
    assert edited.head == note.head._replace(reinforced=3, description="d")


def test_a_body_keeps_the_files_spacing_and_line_ends() -> None:
    edited = edit(parse(BY_HAND, "x.md"), body="one\n\ntwo\n")
    assert edited.text == BY_HAND[: BY_HAND.index("Body begins")] + "one\r\n\r\ntwo"
    assert edit(parse("just text", "x.md"), body="more").text == "more"
    assert edit(parse("\ufeffa\r\n", "x.md"), body="b\nc").text == "\ufeffb\r\nc\r\n"
    for rest in ("", "\n", "\n\n"):
        note = parse(f"---\nname: n\n---{rest}", "x.md")
        assert edit(note, body="b").text == "---\nname: n\n---\n\nb\n"


@pytest.mark.parametrize("text", ["", "text", "\ufefftext\r\nmore\r\n", "\n\nx"])
def test_a_headless_note_gets_a_head_before_all_its_text(text: str) -> None:
    note = parse(text, "x.md")
    edited = edit(note, set={"name": "note", "metadata.type": "user"})
    eol = "\r\n" if "\r\n" in text else "\n"
    head = eol.join(["---", "name: note", "metadata:", "  type: user", "---", "", ""])
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    assert edited.text == mark + head + text.removeprefix("\ufeff")
    assert (edited.head.name, edited.head.type, edited.body) == ("note", "user", note.body)


def test_keys_of_other_tools_are_edited_where_they_stand() -> None:
    text = "---\nname: n\ndescription: d\ntype: user\nupdated: 2025-01-01\n---\nx\n"
    edited = edit(parse(text, "x.md"), set={"metadata.updated": "2026-01-01"})
    assert edited.text == text.replace("2025", "2026")
    assert edit(edited, set={"metadata.updated": None}).head.updated == ""


def test_a_head_that_yaml_refuses_is_still_edited_by_line() -> None:
    text = "---\nname: n\ndescription: fix: the thing\nodd: [\nmetadata:\n  type: user\n---\n\nx\n"
    edited = edit(parse(text, "x.md"), set={"metadata.updated": "2026-01-01"})
    assert edited.text == text.replace("  type: user\n", "  type: user\n  updated: 2026-01-01\n")
    mended = edit(edited, set={"odd": None, "description": "fix: it"})
    assert mended.head.problems == ()
    assert mended.head.updated == "2026-01-01"


def test_a_line_that_nobody_understands_is_kept() -> None:
    text = "---\nmetadata:\n  turn: t\nodd\nname: n\nodd too\n---\n"
    edited = edit(parse(text, "x.md"), set={"metadata.turn": "u", "name": "m"})
    assert edited.text == text.replace(": t\n", ": u\n").replace("name: n", "name: m")


def test_a_note_that_an_edit_would_damage_is_refused() -> None:
    def check(text: str, key: str) -> None:
        with pytest.raises(BadNote):
            edit(parse(text, "x.md"), set={key: "new"})

    rows = [
        ('---\nname: "a\nb: c"\nb: d\n---\nx', "b"),
        ("---\nname: n\nmetadata: words\n---\nx", "metadata.type"),
        ("---\nname: n\nmetadata:\n- a\n---\nx", "metadata.type"),
        ("---\n{name: n, description: d}\n---\nx", "name"),
    ]
    each(rows, check)


def test_a_bad_value_is_refused_before_anything_changes() -> None:
    def check(key: str, value: str) -> None:
        with pytest.raises(BadNote):
            edit(parse(SAMPLE, FILE), set={key: value})

    rows = [
        *(("name", "Not A Slug"), ("description", "two\nlines"), ("description", "")),
        *(("metadata", "x"), ("a b", "x"), ("metadata.a.b", "x"), ("title", "a\u202eb")),
        ("metadata.turn", "a\x00b"),
    ]
    each(rows, check)
    with pytest.raises(BadNote):
        edit(parse(SAMPLE, FILE), body="---\nx")


KEYS = (
    *("name", "description", "title", "own"),
    *("metadata.type", "metadata.updated", "metadata.x-own"),
)
hand_lines = st.sampled_from(
    (
        *("# c", "", "odd", "own: x", "own: |\n  a\n  # b", "list:\n- a\n- b: c", "title: T #1"),
        *("name: n", "description: d", 'description: "d: e" # c', "description: fix: it"),
        *("'q': \"x\\ty\"", "metadata:", "metadata: {type: user, l: [1, 2]}"),
        *("metadata:\n    type: user # c", "metadata:\n\ttype: user"),
        "metadata:\n  x-own: >\n    a\n\n    b\n  # c\n  type: idea",
    )
)
hand_notes = st.builds(
    lambda mark, lines, eol, rest: mark + "\n".join(["---", *lines, rest]).replace("\n", eol),
    st.sampled_from(("", "\ufeff")),
    st.lists(hand_lines, max_size=5),
    st.sampled_from(("\n", "\r\n")),
    st.sampled_from(("---", "---\n", "---\n\nbody\n", "---\nbody", "---\n\n\nbody\n\n---\nmore\n")),
)


@pytest.mark.slow
@settings(max_examples=scaled(400), deadline=None)
@given(hand_notes, st.sampled_from(KEYS), one_line)
def test_an_edit_leaves_every_other_line_alone(text: str, key: str, value: str) -> None:
    value = slugify(value) if key == "name" else value
    assume(value)
    note = parse(text, "x.md")
    try:
        edited = edit(note, set={key: value})
    except BadNote:
        return
    assert edited.body == note.body
    field = key.removeprefix("metadata.")
    if field in ("name", "description", "title", "type", "updated"):
        assert getattr(edited.head, field) == value
        same = {field: getattr(note.head, field), "problems": note.head.problems}
        assert edited.head._replace(**same) == note.head
    old, new = changed_lines(text, edited.text)
    if old and old[0].startswith("metadata: {"):  # it became a block
        assert new[0].startswith("metadata:")
        assert all(line.startswith("  ") for line in new[1:])
    elif old:  # the lines of a key that was there became one
        depth = len(old[0]) - len(old[0].lstrip())
        assert old[0].lstrip().startswith(f"{field}:")
        assert all(not line.strip() or line.startswith(" " * (depth + 1)) for line in old[1:])
        assert len(new) == 1
    else:
        assert any(line.lstrip().startswith(f"{field}:") for line in new) or text == edited.text


@settings(max_examples=scaled(200), deadline=None)
@given(hand_notes, st.sampled_from(KEYS), plain_line, plain_line)
def test_an_edit_taken_back_restores_the_bytes(text: str, key: str, old: str, new: str) -> None:
    old, new = (slugify(old), slugify(new)) if key == "name" else (old, new)
    try:
        start = edit(parse(text, "x.md"), set={key: old})
        changed = edit(start, set={key: new})
    except BadNote:
        return
    assert edit(changed, set={key: old}).text == start.text


@settings(max_examples=scaled(200), deadline=None)
@given(hand_notes, body_text)
def test_a_new_body_leaves_the_head_alone(text: str, body: str) -> None:
    note = parse(text, "x.md")
    edited = edit(note, body=body)
    head = text[: text.rindex(note.body)] if note.body else text.rstrip("\r\n")
    assert edited.text.startswith(head)
    assert edited.body.replace("\r\n", "\n") == body.lstrip("\n")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Prefers pnpm!", "prefers-pnpm"),
        ("  C++ / C# -- 2.0  ", "c-c-2-0"),
        ("喜欢 简短。回答", "喜欢-简短-回答"),
        ("Cafe\u0301 Ärger", "café-ärger"),
        ("हिन्दी भाषा", "हिन्दी-भाषा"),
        ("İstanbul", "i̇stanbul"),
        ("snake_case", "snake-case"),
        ("❤️ it", "it"),
        ("soft\u00adhy\u200bphen", "softhyphen"),
        ("../../etc/passwd", "etc-passwd"),
        ("!?", ""),
        ("\u3164", ""),
        ("ア" * 40, "ア" * 26),
        (f"{'a' * 79} b", "a" * 79),
    ],
)
def test_a_name_is_made_of_any_script(text: str, name: str) -> None:
    assert slugify(text) == name


@settings(max_examples=scaled(500), deadline=None)
@given(st.text())
def test_a_name_is_short_and_a_name_again(text: str) -> None:
    name = slugify(text)
    assert slugify(name) == name
    assert len(name.encode()) <= limits.MAX_NAME_BYTES
    assert not re.search("^-|-$|--", name)
    if name:
        check_name(name)


def is_refused(check: Callable[[str], None], text: str) -> None:
    with pytest.raises(BadNote) as refused:
        check(text)
    assert refused.value.hint


def test_a_bad_name_is_answered_with_a_good_one() -> None:
    with pytest.raises(BadNote) as refused:
        check_name("Prefers pnpm")
    assert "prefers-pnpm" in refused.value.hint
    for name in ("", "!", "a--b", "-a", "a/b", "A", "a" * 81, "a.md"):
        with pytest.raises(BadNote):
            check_name(name)


def test_a_bad_description_is_refused_and_220_characters_of_any_script_are_fine() -> None:
    bad = ("", "  ", "a\nb", "a\tb", "a\u2028b", "a\x07", "a\x85b", "\ud800", "a\u202eb", "a" * 221)
    each((*bad, "a\U000e0041"), partial(is_refused, check_description))
    for fine in ("a" * 220, "喜" * 220, 'fix: "it" # [x]', "👩\u200d💻 codes", "- x"):
        check_description(fine)


def test_a_bad_body_is_refused_and_a_long_one_with_rules_and_underlines_is_fine() -> None:
    bad = ("", " \n\t\n", "a" * 20_001, "a\x00b", "a\x1bb", "a\x85b", "\ud800", "---\na: b\n---")
    merging = "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\n"
    each((*bad, "\n\n---  \nx", ">>>>>>> other", merging), partial(is_refused, check_body))
    for fine in ("a" * 20_000, "a\r\n\tb\n", "Title\n=======\n\n---\n", "----", "<<<<<<<x"):
        check_body(fine)
