"""A citation as it is written, and what of a note's text is one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rows import each

from mdmemory.citing import cite
from mdmemory.citing.citation import MAY_CITE, Citation, is_path, parse

HEX = st.text("0123456789abcdef", min_size=12, max_size=12)
PATHS = st.from_regex(
    r"(?:[A-Za-z0-9_ é][\w é.-]{0,8}/){0,3}[\wé][\w é.-]{0,8}", fullmatch=True
).filter(
    lambda path: path == path.strip()  # no citation names a file with blanks around its name
)


@given(PATHS, st.tuples(st.integers(1, 10**6), st.integers(0, 99)) | st.none(), HEX, HEX)
def test_what_is_written_is_read_back(
    path: str, lines: tuple[int, int] | None, blob: str, other: str
) -> None:
    span = (lines[0], lines[0] + lines[1]) if lines else None
    for pin in ((blob, other[:8] if span else ""), ("", "")):
        cite = Citation(path, span, *pin)
        assert parse(f" {cite} ") == (cite if is_path(path) else None), (
            "blanks around it are none of it"
        )


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
    assert parse("src/a.py") == Citation("src/a.py")
    assert parse("src/a.py#L3-9") == Citation("src/a.py", (3, 9))
    assert parse("src/") == Citation("src/")
    assert parse("commit:0123456") == Citation("commit:0123456")
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
    assert cite.find_commits("since 1f3a5b7 and commit 1234567, 20260601, effaced, deadbee1f") == [
        "1f3a5b7",
        "1234567",
        "deadbee1f",
    ]


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
    others = (
        "https://example.org/team/apple/blob/main/a.py https://other.example/team/app/blob/x/a.py"
    )
    assert [*cite.find_addresses(others, ours)] == []


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
