"""Literals survive a compaction: none is lost, none is invented."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mdmemory.text.literals import audit_literals, linked_names, literal_tokens

SENTENCES = [
    "The API answers on port 8080 (v1.2.3) since 2026-06-01.",
    "Mail anna.b@example.co.uk, or see https://example.com/a/b?x=1#y.",
    "Run `make test -j 2`; logs lie in /var/log/app/x.log and ~/notes.",
    "Why: the build of 12:30 broke twice, by 1,200 files.",
    "See [[monorepo-layout]] and [[Other Note|the other]].",
    "1. First step\n2. Second step of 10",
    "版本3在`main`分支，见https://example.com/文档。",
    "Nothing to see here, and/or there.",
    "- [ ] ticked `a b` in src/app/main.py, 50 %",
    "It costs $3.50 (about 3 EUR): 1/2 of 7.",
]

sentences = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4)


@given(st.lists(sentences.map("\n\n".join), min_size=1, max_size=4))
@settings(deadline=None)
def test_plain_concatenation_is_never_refused(texts: list[str]) -> None:
    assert (
        audit_literals(texts, "\n".join(texts))
        == audit_literals(texts, "\n\n".join(texts))
        == ([], [])
    )


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=5))
@settings(deadline=None)
def test_sentences_joined_by_spaces_are_never_refused(texts: list[str]) -> None:
    assert audit_literals(texts, " ".join(texts)) == ([], [])


@given(st.lists(st.text(max_size=60), min_size=1, max_size=3))
@settings(deadline=None)
def test_a_text_that_stays_loses_nothing(texts: list[str]) -> None:
    assert audit_literals(texts, "\n\n".join(texts))[0] == []


@pytest.mark.parametrize(
    ("text", "literals"),
    [
        (SENTENCES[0], {"8080", "1.2.3", "2026-06-01"}),
        (SENTENCES[1], {"anna.b@example.co.uk", "https://example.com/a/b?x=1#y", "1"}),
        (SENTENCES[2], {"make test -j 2", "2", "/var/log/app/x.log", "~/notes"}),
        (SENTENCES[4], {"[[monorepo-layout]]", "[[other note]]"}),
        (SENTENCES[7], set()),
    ],
)
def test_literals_are_found_whole(text: str, literals: set[str]) -> None:
    assert literal_tokens(text) == literals


@pytest.mark.parametrize("text", [SENTENCES[at] for at in (0, 1, 2, 4, 6, 8, 9)])
def test_each_removed_literal_is_seen(text: str) -> None:
    for token in literal_tokens(text) - {"1", "2", "3", "3.50"}:
        word = token.strip("[]")
        lost, _ = audit_literals([text], text.replace(word, "").replace("Other Note", ""))
        assert lost, token


def test_a_changed_number_is_lost_and_invented() -> None:
    assert audit_literals(["Port 8080."], "Port 80801.") == (["8080"], ["80801"])
    assert audit_literals(["Version 1.2"], "Version 1.20") == (["1.2"], ["1.20"])


def test_a_why_line_stays_with_most_of_its_words() -> None:
    text = "Use pnpm.\n\nWhy: npm broke the workspaces twice."
    assert (
        audit_literals([text], "Use pnpm.\n\nWhy: twice the workspaces were broken by npm.")[0]
        == []
    )
    for gone in ("Use pnpm, npm broke workspaces.", "Use pnpm.\n\nWhy: it is fast."):
        assert audit_literals([text], gone)[0] == ["Why: npm broke the workspaces twice."]
    assert audit_literals([text], "Use pnpm.\n\nWhy: npm broke.")[0] == [
        "Why: npm broke the workspaces twice."
    ]
    assert audit_literals([text], "Use pnpm. **Why:** npm broke the workspaces twice")[0] == []


def test_the_numbers_of_a_list_are_form() -> None:
    assert audit_literals(["1. a", "1. b"], "1. a\n2. b") == ([], [])


def test_links_among_merged_notes_may_go() -> None:
    texts = ["See [[b]] and [[c]].", "See [[a]]."]
    assert audit_literals(texts, "See [[c]].", merged=["a", "b"]) == ([], [])
    assert audit_literals(texts, "See [[b]].", merged=["a", "b"])[0] == ["[[c]]"]


def test_links_are_folded_names() -> None:
    assert linked_names("[[A]] [[b.md]] [[c|see]] [[d#part]] [[x\ny]] [e]") == {"a", "b", "c", "d"}
