"""What the text of an op may not gain: what nobody sees, and what a viewer fetches."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mdmemory.compact.guards import check
from mdmemory.compact.plan import Merge, Op, Plan, Rewrite
from mdmemory.store.store import StoredNote

Make = Callable[..., StoredNote]
BODY = "The token rotates weekly, see [the log](https://log.example/x)."


def codes(notes: list[StoredNote], op: Op) -> list[str]:
    verdict = check(Plan((op,)), notes, has_secret=lambda text: False)
    return [code for _, code, _ in verdict.refused]


@pytest.mark.parametrize("char", [*"\u200b\u2060\u00ad\u034f\ufeff\u2028\u2029\u3164\u115f\u1160"])
def test_no_op_puts_a_character_into_a_word_that_nobody_sees(make: Make, char: str) -> None:
    note, other = make("token", "About the token", BODY), make("queue", "On queues", "They grow.")
    hidden = BODY.replace("token", f"to{char}ken")
    assert codes([note], Rewrite(note.file, hidden)) == ["body"]
    described = Rewrite(note.file, BODY, f"About the to{char}ken")
    assert codes([note], described) in (["body"], ["description"])  # of two lines it is none
    op = Merge((note.file, other.file), note.file, "token", "user", "About the token, on queues",
               f"{hidden} They grow.")  # fmt: skip
    assert codes([note, other], op) == ["body"]


def test_what_nobody_sees_may_stay_where_it_was_and_may_go(
    from_text: Callable[[str, str], StoredNote],
) -> None:
    text = "---\nname: a\ndescription: About a\nmetadata:\n  type: user\n---\n\nIt is so\u200bft.\n"
    note = from_text("user-a.md", text)
    for body in ("It is so\u200bft.\n\nIt is so\u200bft.", "It is soft."):
        assert codes([note], Rewrite(note.file, body)) == []


@pytest.mark.parametrize(
    "fetched",
    [
        "![the log](https://log.example/x)",
        "![the\nlog](https://log.example/x)",
        "![the [old] log](https://log.example/x)",
        "![the log][x]",
        "![[the log]]",
        '<img src="https://log.example/x">',
        "<IFRAME src=https://log.example/x>",
    ],
)
def test_a_link_does_not_become_a_picture_that_viewers_fetch(make: Make, fetched: str) -> None:
    link = "[the log](https://log.example/x)"
    plain, shown = make("token", "On it", BODY), make("token", "On it", BODY.replace(link, fetched))
    body = f"Once a week the token rotates, see {fetched}."
    assert "body" in codes([plain], Rewrite(plain.file, body))
    assert codes([shown], Rewrite(shown.file, body)) == []
