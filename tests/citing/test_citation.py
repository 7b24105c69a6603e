"""A citation as it is written, and what of a note's text is one."""

import random
import subprocess
import tempfile
from hashlib import sha256
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st
from rows import each

from mdmemory.citing import cite
from mdmemory.citing.citation import MAY_CITE, Citation, is_path, parse
from mdmemory.citing.lines import IN_FILES, Comparison, Span, Squeezed, hunks_of

HEX = st.text("0123456789abcdef", min_size=12, max_size=12)
WORDS = r"(?:[A-Za-z0-9_ é][\w é.-]{0,8}/){0,3}[\wé][\w é.-]{0,8}"
# no citation names a file with blanks around its name
PATHS = st.from_regex(WORDS, fullmatch=True).filter(lambda path: path == path.strip())


@given(PATHS, st.tuples(st.integers(1, 10**6), st.integers(0, 99)) | st.none(), HEX, HEX)
def test_what_is_written_is_read_back(
    path: str, lines: tuple[int, int] | None, blob: str, other: str
) -> None:
    span = (lines[0], lines[0] + lines[1]) if lines else None
    for pin in ((blob, other[:8] if span else ""), ("", "")):
        cite = Citation(path, span, *pin)
        # blanks around it are none of it
        assert parse(f" {cite} ") == (cite if is_path(path) else None)


def test_what_leads_out_of_the_project_or_is_half_a_citation_is_none() -> None:
    def check(text: str) -> None:
        assert parse(text) is None

    each(
        ["", "/etc/passwd", "../a.py", "a/../b.py", "a//b", ".git/config", "src/.GIT/x", "a\nb",
         "a.py#L0", "a.py#L9-L3", "a.py@0123456789ab:01234567", "commit:xyz", "commit:abc",
         "a\x00b", "x" * 600],
        check,
    )  # fmt: skip


def test_a_hand_may_write_less() -> None:
    for text in ("src/a.py", "src/", "commit:0123456"):
        assert parse(text) == Citation(text)
    assert parse("src/a.py#L3-9") == Citation("src/a.py", (3, 9))
    assert not Citation("src/a.py", (3, 9)).is_pinned


def test_paths_and_lines_are_found_in_prose() -> None:
    def check(text: str, path: str, lines: tuple[int, int] | None) -> None:
        found = {(each.path, each.lines) for each in cite.find_paths(text)}
        assert (path, lines) in found, found

    each(
        [
            ("See src/a.py.", "src/a.py", None),
            ("see `src/a.py`, please", "src/a.py", None),
            ("(src/a.py:12)", "src/a.py", (12, 12)),
            ("src/a.py:12-20 does it", "src/a.py", (12, 20)),
            ("src/a.py#L3-L7", "src/a.py", (3, 7)),
            ("src/a.py, line 7", "src/a.py", (7, 7)),
            ("in `src/a.py` (lines 7 to 9)", "src/a.py", (7, 9)),
            ("lines 7-9 of src/a.py", "src/a.py", (7, 9)),
            ("the `Makefile` has it", "Makefile", None),
            ("in ./tools/run", "./tools/run", None),
            ("`my file.txt` is it", "my file.txt", None),
            ("the folder docs/", "docs/", None),
            ("见 src/模块.py 。", "src/模块.py", None),
        ],
        check,
    )


def test_commits_are_told_from_numbers_and_words() -> None:
    text = "since 1f3a5b7 and commit 1234567, 20260601, effaced, deadbee1f"
    assert cite.find_commits(text) == ["1f3a5b7", "1234567", "deadbee1f"]


def test_an_address_in_the_projects_own_remote_names_a_file() -> None:
    ours = ("example.org/team/app",)

    def check(url: str, kind: str, path: str, lines: tuple[int, int] | None) -> None:
        [(found, mention)] = cite.find_addresses(f"See {url}.", ours)
        assert (found, mention.path, mention.lines) == (kind, path, lines)

    base = "https://example.org/team/app"
    each(
        [
            (f"{base}/blob/main/src/a.py#L3-L7", "blob", "main/src/a.py", (3, 7)),
            (f"{base}/-/blob/main/src/a.py#L3", "blob", "main/src/a.py", (3, 3)),
            (f"{base}/src/branch/main/src/a.py", "src", "branch/main/src/a.py", None),
            (f"{base}/commit/1f3a5b7", "commit", "1f3a5b7", None),
        ],
        check,
    )
    for other in ("example.org/team/apple/blob/main/a.py", "other.example/team/app/blob/x/a.py"):
        assert [*cite.find_addresses(f"https://{other}", ours)] == []


def test_a_text_that_may_cite_is_told_at_a_glance() -> None:
    assert not MAY_CITE.search("Tests run before each commit, always; never on a Friday.")
    for text in ("see src/a", "see a.py", "`Makefile`", "since 1f3a5b7"):
        assert MAY_CITE.search(text)


CODE = """import os
RETRIES = 5
TIMEOUT = 120.0  # seconds

def load(path, retries=RETRIES):
    return read(path, 17)

class Loader:
    retries = 5
    def read(self): return load(self.path)
static int max_width(int a) {
  "color": "teal",
  "color": "teal",
"""


def test_the_lines_of_a_claim_are_chosen_and_no_others() -> None:
    def check(text: str, *lines: int) -> None:
        assert cite.lines_of_claims(CODE.encode(), text, ["code.py"]) == [*lines]

    each(
        [
            ("`load` reads a path, in code.py", 5),
            ("The method load() is in code.py", 5),
            ("RETRIES is 5, says code.py", 2),
            ("A request may take 120 seconds (code.py)", 3),
            ("It stops after 17, see code.py", 6),
            ("`Loader` is in code.py", 8),
            ("max_width() of code.py", 11),
            ("All is told in code.py",),
            ("The color is `teal` in code.py",),  # twice
            ("It is 5 in code.py",),  # a number that stands anywhere
        ],
        check,
    )  # fmt: skip


# Lines of one version of a file, found in another: what they survive, and what they do not.

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
def test_an_edit_of_the_cited_lines_and_one_put_between_them_always_drifts(
    cited: Lines, before: Lines, behind: Lines, at: int
) -> None:
    # whatever copies of them stand elsewhere
    place = at % len(cited)
    head, line, tail = cited[:place], cited[place], cited[place + 1 :]
    edited = [*head, f"{line} edited", *tail]
    grown = [*head, line, "put_between = them", *tail] if tail else edited
    old, span = [*before, *cited, *behind], (len(before), len(before) + len(cited))
    for changed in (edited, grown):
        assert found(old, [*before, *changed, *behind], span) is None


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
    alone = compared(["import os"], ["import os", "}"])
    assert alone.arrived_lines(source, (3, 4), IN_FILES) is None


def test_what_a_file_had_before_did_not_come_into_it() -> None:
    copy = ["a", "the_very_same_line_in_a_vendored_copy = of_the_file(1, 2, 3)"]
    source = Squeezed("\n".join(copy).encode())
    assert compared(copy, [*copy, "b"]).arrived_lines(source, (1, 2), 1) is None
