"""Cited lines followed through branches and merges, in real repositories."""

from __future__ import annotations

import pytest
from citing_projects import SERVER, CitedProject

PORT = "src/server.py#L4"
BIND = "src/server.py#L9-L10"
NOTE = "It answers on one port only"
HELPERS = "".join(f"\n\ndef helper_{n}(value):\n    return value * {n}\n" for n in range(9))
OTHER = ("value * 3", "value * 33")


@pytest.fixture
def branched(cited: CitedProject) -> CitedProject:
    """The project with a longer file, a note on two places in it, and a branch `side`."""
    cited.write("src/server.py", SERVER + HELPERS)
    cited.commit()
    cited.note(NOTE, PORT, BIND)
    cited.git("branch", "side")
    return cited


def on(cited: CitedProject, branch: str, *edits: tuple[str, str]) -> None:
    """Commit these edits of the file on a branch."""
    cited.git("switch", "-q", branch)
    for old, new in edits:
        cited.replace("src/server.py", old, new)
    cited.commit()


def merge(cited: CitedProject) -> None:
    cited.git("switch", "-q", "main")
    cited.git("merge", "-q", "--no-ff", "-m", "merge", "side")


def test_a_file_renamed_on_one_branch_and_edited_on_another_is_followed(
    branched: CitedProject,
) -> None:
    branched.git("mv", "src/server.py", "src/net.py")
    branched.commit()
    on(branched, "side", OTHER)
    merge(branched)
    assert branched.states() == ["moved src/net.py#L4", "moved src/net.py#L9-L10"]


def test_a_line_edited_on_one_branch_drifted_though_another_renamed_the_file(
    branched: CitedProject,
) -> None:
    branched.git("mv", "src/server.py", "src/net.py")
    branched.commit()
    on(branched, "side", ("8081", "9090"))
    merge(branched)
    assert branched.states() == ["drifted src/net.py#L4", "moved src/net.py#L9-L10"]
    assert branched.checked()[0].diff == "-PORT = 8081\n+PORT = 9090"


def test_a_note_written_on_a_branch_is_followed_into_the_file_that_main_renamed(
    branched: CitedProject,
) -> None:
    branched.git("mv", "src/server.py", "src/net.py")
    branched.commit()
    on(branched, "side", ("return value * 5", "return value * 5  # five"))
    branched.note("Helper five is odd", "src/server.py#L33")
    merge(branched)
    assert "moved src/net.py#L33" in branched.states()


def test_a_function_cut_out_on_a_branch_is_found_after_the_merge(branched: CitedProject) -> None:
    function = "def start" + SERVER.partition("def start")[2]
    branched.git("switch", "-q", "side")
    branched.write("src/opening.py", f"import socket\n\n\n{function}")
    on(branched, "side", (function, ""))
    on(branched, "main", OTHER)
    merge(branched)
    assert branched.states() == ["fresh", "moved src/opening.py#L6-L7"]


def test_what_a_merge_itself_changed_has_changed(branched: CitedProject) -> None:
    on(branched, "side", OTHER)
    branched.git("switch", "-q", "main")
    branched.git("merge", "-q", "--no-ff", "--no-commit", "side")
    branched.replace("src/server.py", "8081", "9090")
    branched.git("mv", "src/server.py", "src/net.py")
    branched.commit()
    assert branched.states() == ["drifted src/net.py#L4", "moved src/net.py#L9-L10"]


def test_a_change_that_no_merge_took_over_is_none(branched: CitedProject) -> None:
    on(branched, "side", ("8081", "9090"))
    on(branched, "main", OTHER)
    branched.git("merge", "-q", "-s", "ours", "-m", "not that", "side")
    assert branched.states() == ["fresh", "fresh"]


def test_a_line_moved_and_put_back_and_then_edited_drifted(branched: CitedProject) -> None:
    whole = (branched.top / "src/server.py").read_text()
    function = "def start" + SERVER.partition("def start")[2]
    branched.write("src/opening.py", f"import socket\n\n\n{function}")
    on(branched, "main", (function, ""))
    branched.write("src/server.py", whole)  # back again, and the copy stays
    branched.commit()
    assert branched.states() == ["fresh", "fresh"]
    on(branched, "main", ("return sock", "return sock, port"))
    assert branched.states()[1].startswith("drifted")
