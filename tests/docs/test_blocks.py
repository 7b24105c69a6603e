"""What is read from a page, and when it counts as shown: a guide that is wrong must be found."""

from __future__ import annotations

from pathlib import Path

import pytest
from blocks import Step, is_shown, normal, steps
from rows import each
from scene import Scene

PAGE = """\
Text, and `$ not typed`.

```console
$ cat > note.md <<'END'
$ this is the note
END
$ mdmemory add one \\
    --type user
Stored user-one.md.
```

```sh
$ not run
```

```session
> Remember that it rains.
mdmemory: Remembered: it rains.
$ no command here
```
"""


def test_the_steps_of_a_page_are_those_of_its_terminals_and_sessions_in_order() -> None:
    assert steps(PAGE) == [
        Step("$", "cat > note.md <<'END'\n$ this is the note\nEND", ""),
        Step("$", "mdmemory add one \\\n    --type user", "Stored user-one.md.\n"),
        Step(
            ">", "Remember that it rains.", "mdmemory: Remembered: it rains.\n$ no command here\n"
        ),
    ]


def test_a_block_that_shows_something_before_anything_is_typed_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing is typed before"):
        steps("```console\nStored.\n$ ls\n```\n")


def test_a_page_shows_all_lines_or_says_where_some_are_left_out() -> None:
    real = "one\ntwo\nthree\nfour\n"

    def shows(shown: str, expected: bool) -> None:
        assert is_shown(shown, real) is expected

    each(
        [
            (real, True), ("one\n...\nfour\n", True), ("...\n", True), ("one\n...\n", True),
            ("...\nthree\nfour\n", True), ("one\n...\nthree\n...\nfour\n", True),
            ("...\ntwo\n...\n", True), ("one\ntwo\n...\nthree\nfour\n", True),
            ("", False), ("one\ntwo\nthree\n", False), ("one\n...\nthree\n", False),
            ("...\nfive\n...\n", False), ("...\nthree\n...\ntwo\n...\n", False),
            ("one\ntwo\n...\ntwo\nthree\nfour\n", False), ("one\n...\nfour\n...\nfour\n", False),
        ],
        shows,
    )  # fmt: skip


def test_nothing_is_shown_only_where_nothing_was_printed() -> None:
    assert is_shown("", "")
    assert not is_shown("", "an error\n")
    assert not is_shown("words\n", "")


def test_ids_dates_and_the_home_do_not_count() -> None:
    real = "m-0123abcd in 0123456789 of /tmp/x/you/shop on 2026-01-02"
    page = "m-fedcba98 in 9876543210 of /home/you/shop on 2025-03-04"
    assert normal(real, "/tmp/x/you") == normal(page)
    assert normal(real, "/tmp/x/you") != normal(page.replace("shop", "other"))


@pytest.mark.parametrize(
    ("sign", "typed", "shown"),
    [
        ("$", "echo really", "something else\n"),
        ("$", "mdmemory show nothing", ""),
        ("$", "false", ""),
        (">", "Good morning!", "mdmemory: Remembered: good morning.\n"),
    ],
)
def test_a_page_that_is_wrong_is_found(tmp_path: Path, sign: str, typed: str, shown: str) -> None:
    scene = Scene(tmp_path / "you")
    scene.follow([Step("$", "cd / && cd ~/shop && pwd", "/home/you/shop\n")])
    with pytest.raises(AssertionError, match=typed):
        scene.follow([Step(sign, typed, shown)])
