"""Links follow a note to its new name and back, and no other character ever changes."""

from __future__ import annotations

import unicodedata

from hypothesis import example, given, settings
from hypothesis import strategies as st
from pace import scaled

from mdmemory.note.note import Head, parse
from mdmemory.store.note_links import by_name, follow_note, may_link_to, rewrite_links

OLD = Head("feedback-prefers-pnpm.md", "prefers-pnpm", "", "feedback")
NEW = Head("feedback-uses-pnpm.md", "uses-pnpm", "", "feedback")
LINKS = (
    *("[[prefers-pnpm]]", "[[feedback-prefers-pnpm]]", "[[feedback-prefers-pnpm.md]]"),
    *("[[ prefers-pnpm ]]", "[[prefers-pnpm#x]]", "[[prefers-pnpm|why]]", "![[prefers-pnpm]]"),
    *("[a](feedback-prefers-pnpm.md)", "[a](./feedback-prefers-pnpm.md#x)"),
    *("[a](<feedback-prefers-pnpm.md>)", "[[feedback-prefers-pnpm|prefers-pnpm]]"),
    "| [[feedback-prefers-pnpm\\|prefers-pnpm]] | [[prefers-pnpm\\|why]] |",
    *("[[./prefers-pnpm|why]]", "\n[a]: ./feedback-prefers-pnpm.md#x\n"),
)
OTHERS = (
    *("[[prefers-pnpm-2]]", "[[user-prefers-pnpm]]", "prefers-pnpm", "`[[prefers-pnpm]]`"),
    *("[a](x/feedback-prefers-pnpm.md)", "[a](https://x.y/feedback-prefers-pnpm.md)", "[[", "]]"),
    *(
        "](",
        "```\n",
        "~~~\n",
        "`",
        "\n",
        "\r\n",
        " ",
        "é",
        "[[a]]",
        "[[#x]]",
        "<",
        ")",
        "|",
        "---\n",
    ),
)
texts = st.lists(st.sampled_from(LINKS + OTHERS) | st.text(max_size=4), max_size=12).map("".join)


def moved(text: str, old: Head, new: Head) -> str:
    return follow_note(parse(text, "user-a.md"), old, new)


@settings(max_examples=scaled(300), deadline=None)
@given(texts)
@example("".join(LINKS))
def test_links_that_follow_a_rename_come_back_with_it(text: str) -> None:
    after = moved(text, OLD, NEW)
    assert moved(after, NEW, OLD) == text
    assert len(after) <= len(text)
    assert moved(after, OLD, NEW) == after


def test_every_form_of_a_link_follows() -> None:
    for link in LINKS:
        after = moved(f"See {link}.", OLD, NEW)
        assert after == f"See {link.replace('prefers-pnpm', 'uses-pnpm')}."


def test_nothing_else_follows() -> None:
    for text in OTHERS:
        assert moved(f"{text} x", OLD, NEW) == f"{text} x"


@settings(max_examples=scaled(200), deadline=None)
@given(texts)
def test_links_that_name_a_file_are_all_there_is_to_mend(text: str) -> None:
    target = parse("---\nname: prefers-pnpm\ntype: feedback\n---\n\nx\n", OLD.file)
    note = parse(f"x\n{text}", "user-a.md")
    links = by_name([note, target])
    fresh = parse(rewrite_links(note, links), note.head.file)
    assert by_name([fresh, target]) == []
    if not links:
        assert fresh.text == note.text


@settings(max_examples=scaled(200), deadline=None)
@given(texts)
@example("".join(LINKS))
@example("[a](feedback-prefers%2Dpnpm.md)")
def test_a_text_that_no_link_of_follows_a_note_is_told_by_its_letters(text: str) -> None:
    if moved(text, OLD, NEW) != text:
        assert may_link_to(OLD)(text)


def test_the_letters_of_a_name_are_found_in_every_spelling() -> None:
    names = ("café", "Straße-Å", "ﬁle", "İstanbul", "한글")
    shapes = (str, str.upper, str.title, str.casefold)
    forms = ("NFC", "NFD")
    follow = 0
    for name in names:
        old, new = Head(f"user-{name}.md", name, "", "user"), Head("user-new.md", "new", "", "user")
        for spelled in (unicodedata.normalize(form, shape(name))
                        for shape in shapes for form in forms):  # fmt: skip
            for text in (f"\u0301[[{spelled}]]\u0301", f"[[ user-{spelled}|x]]"):
                follows = moved(text, old, new) != text
                follow += follows
                assert may_link_to(old)(text) or not follows
    assert follow > 50
    assert not may_link_to(OLD)("".join(each for each in OTHERS if "prefers-pnpm" not in each))
