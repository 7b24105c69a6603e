"""Lines of one version of a file, found in another: what they survive, and what they do not."""

from __future__ import annotations

import random
import subprocess
import tempfile
from hashlib import sha256
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st
from rows import each

from mdmemory.citing.lines import IN_FILES, Comparison, Span, Squeezed, hunks_of

COMMON = ["}", "return None", "x = 1", "else:", "import os", "pass"]
Lines = list[str]
COPIES = st.lists(st.sampled_from(COMMON), max_size=25)
CITED = st.lists(st.sampled_from(COMMON), min_size=1, max_size=25)


def compared(old: Lines, new: Lines) -> Comparison:
    """Two versions of a file, with what git says of them."""
    texts = ["\n".join(each).encode() for each in (old, new)]
    with tempfile.TemporaryDirectory() as folder:
        for name, text in zip("ab", texts, strict=True):
            (Path(folder) / name).write_bytes(text)
        words = ("git", "diff", "--no-index", "-U0", "-w", "--text", "--patience", "a", "b")
        done = subprocess.run(words, cwd=folder, capture_output=True, check=False)
    return Comparison(*map(Squeezed, texts), hunks_of(done.stdout.decode("utf-8", "replace")))


def found(old: Lines, new: Lines, span: Span) -> Span | None:
    """Where lines of `old` stand in `new`."""
    return compared(old, new).standing_lines(span)


def said(lines: Lines, span: Span | None) -> str:
    assert span is not None
    return "".join("".join(lines[span[0] : span[1]]).split())


@st.composite
def edited_around(draw: st.DrawFn) -> tuple[Lines, Lines, Span, Lines]:
    """A file of lines none of which looks like an edited other one, cited ones in it, the file with
    some of the others left out and new ones put in, and the same with the others in any order."""
    count = draw(st.integers(1, 12))
    old = [sha256(b"%d" % number).hexdigest()[:24] for number in range(count)]
    start = draw(st.integers(0, count - 1))
    end = draw(st.integers(start + 1, count))
    sides = [[line for line in side if draw(st.booleans())] for side in (old[:start], old[end:])]
    for number in range(draw(st.integers(0, 5))):
        side = sides[draw(st.integers(0, 1))]
        side.insert(draw(st.integers(0, len(side))), f"fresh_{number} = {number}")
    before, behind = sides
    others = draw(st.permutations([*before, *behind]))
    at, cited = draw(st.integers(0, len(others))), old[start:end]
    elsewhere = [*others[:at], *cited, *others[at:]]
    return old, [*before, *cited, *behind], (start, end), elsewhere


@given(edited_around())
def test_a_citation_survives_any_edit_outside_its_lines(
    case: tuple[Lines, Lines, Span, Lines],
) -> None:
    old, new, span, in_another_order = case
    assert said(new, found(old, new, span)) == said(old, span)
    # what stands between its former neighbours may be taken for an edit of it, no other text
    stands = found(old, in_another_order, span)
    assert stands is None or said(in_another_order, stands) == said(old, span)


@given(CITED, COPIES, COPIES, st.integers(0, 1_000))
@example(["x = 1"], ["else:", "x = 1", "pass"], ["else:", "x = 1", "pass"], 0)
def test_an_edit_of_the_cited_lines_always_drifts(
    cited: Lines, before: Lines, behind: Lines, at: int
) -> None:
    # whatever copies of them stand elsewhere
    changed = [*cited]
    changed[at % len(cited)] += " edited"
    old, new = [*before, *cited, *behind], [*before, *changed, *behind]
    assert found(old, new, (len(before), len(before) + len(cited))) is None


@given(CITED, COPIES, COPIES, st.integers(0, 1_000))
def test_a_line_put_between_the_cited_ones_drifts(
    cited: Lines, before: Lines, behind: Lines, at: int
) -> None:
    place = 1 + at % len(cited)
    if place == len(cited):
        return
    changed = [*cited[:place], "put_between = them", *cited[place:]]
    old, new = [*before, *cited, *behind], [*before, *changed, *behind]
    assert found(old, new, (len(before), len(before) + len(cited))) is None


@given(CITED, st.randoms(use_true_random=False))
def test_white_space_never_drifts(old: Lines, dice: random.Random) -> None:
    start = dice.randrange(len(old))
    end = dice.randint(start + 1, len(old))

    def laid_out(lines: Lines) -> str:
        words = " ".join(lines).split()
        return "".join(word + dice.choice((" ", "\n", "\n\n\t", "\r\n    ")) for word in words)

    new = "\n".join(map(laid_out, (old[:start], old[start:end], old[end:])))
    stands = found(old, new.split("\n"), (start, end))
    filled = [line for line in new.split("\n") if line.strip()]
    assert said(old, (start, end)) == said(filled, stands)


def test_a_line_that_got_more_on_it_has_changed() -> None:
    def check(old: Lines, new: Lines, span: Span) -> None:
        assert found(old, new, span) is None

    each(
        [
            (["a = 1", "return x", "b = 2"], ["a = 1", "return x + 1", "b = 2"], (1, 2)),
            (["a = 1", "return x", "b = 2"], ["a = 1", "if y: return x", "b = 2"], (1, 2)),
            (["a = 1", "x = 1", "b = 2"], ["a = 1", "x = 10", "c = 2"], (1, 2)),
            (["call(", "a,", "b)"], ["call(a, c)"], (1, 2)),
            (["call(", "a,", "b)", "c = 1"], ["call(a,", "b)", "c = 1"], (1, 2)),
            (["call(", "a,", "b)", "c = 1"], ["call(", "a, b)", "c = 1"], (1, 2)),
        ],
        check,
    )  # fmt: skip


def test_the_original_of_a_copied_function_is_the_one_that_is_cited() -> None:
    old = ["def f(x):", "a = first(x)", "b = second(a)", "return b"]
    copied = ["def f(x):", "a = first(x)", "b = other(a)", "return b",
              "def g(x):", "a = first(x)", "b = second(a)", "return b"]  # fmt: skip
    assert found(old, copied, (2, 3)) is None


def test_lines_that_were_cut_and_pasted_moved_and_an_edited_one_did_not() -> None:
    line = "timeout_of_the_bridge = 30"
    old = ["a = 1", line, "b = 2", "c = 3", "d = 4"]
    assert found(old, ["a = 1", "b = 2", "c = 3", line, "d = 4"], (1, 2)) == (3, 4)
    edited = ["a = 1", "timeout_of_the_bridge = 60", "b = 2", "c = 3", line, "d = 4"]
    assert found(old, edited, (1, 2)) is None


def test_a_short_line_is_known_again_in_another_file_by_what_came_along() -> None:
    block = ["def connect_to_the_server(host):", "try:", "    look_for_it_elsewhere(host)", "}"]
    source = Squeezed("\n".join(block).encode())
    whole = compared(["import os"], ["import os", *block])
    assert whole.arrived_lines(source, (3, 4), IN_FILES) == (4, 5)
    assert (
        compared(["import os"], ["import os", "}"]).arrived_lines(source, (3, 4), IN_FILES) is None
    )


def test_what_a_file_had_before_did_not_come_into_it() -> None:
    copy = ["a", "the_very_same_line_in_a_vendored_copy = of_the_file(1, 2, 3)"]
    source = Squeezed("\n".join(copy).encode())
    assert compared(copy, [*copy, "b"]).arrived_lines(source, (1, 2), 1) is None
