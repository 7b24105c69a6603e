"""Long outputs are shown in part: whole lines in their order, what is missing told and findable."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmemory.errors import NotFound
from mdmemory.session import storage
from mdmemory.session.pruning import LEVELS, MARK, Pruned, prune
from mdmemory.store.state import State

NOW = datetime(2026, 6, 20, 12, tzinfo=UTC)

WHERE = "/p/.mdmemory/outputs/o-1.txt"


def cut(
    output: str, level: str = "normal", tool: str = "bash", command: str = "./run", **more: bool
) -> Pruned | None:
    args = {"command": command} if tool == "bash" else {}
    return prune(output, tool=tool, args=args, level=level, where=WHERE, **more)


def part(output: str, *more: str, **named: str) -> Pruned:
    """As `cut`, where something is cut."""
    return cut(output, *more, **named) or pytest.fail("nothing was cut")


def numbered(count: int, word: str = "step of the work") -> str:
    return "\n".join(f"{word} {'abc'[n % 3] * (n % 7 + 1)} {n}" for n in range(count))


def own(text: str) -> list[str]:
    return [line for line in text.split("\n") if not line.startswith(MARK)]


@pytest.mark.parametrize(
    ("level", "over", "kept"), [("normal", 50, 60), ("aggressive", 30, 40), ("hyper", 15, 20)]
)
def test_each_level_keeps_the_first_and_the_last_lines(level: str, over: int, kept: int) -> None:
    assert cut(numbered(over), level) is None
    assert cut(numbered(kept), level) is None
    text = numbered(500)
    done = part(text, level)
    lines = text.split("\n")
    assert own(done.text) == [*lines[: kept // 2], *lines[-kept // 2 :]]
    assert [line for line in done.text.split("\n") if line.startswith(MARK)] == [
        f"[mdmemory: {500 - kept} lines left out]",
        f"[mdmemory: {kept} of 500 lines shown; the whole output: {WHERE}]",
    ]


def test_lines_that_tell_of_an_error_stay() -> None:
    lines = numbered(500).split("\n")
    lines[200], lines[300] = "src/a.py:3: TypeError: no", "0 errors so far"
    done = part("\n".join(lines), "hyper")
    assert lines[200] in own(done.text)
    assert lines[300] not in own(done.text)
    many = part("\n".join(f"error {n} {'x' * (n % 9)}" for n in range(900)))
    assert many.kept == 80


TELLING = [
    "error: x", "2 FAILED", "a failure", "Fatal: y", "panicked? panic!", "OSError", "an exception",
    "Traceback (most recent call last)", "CRITICAL z", "E   assert 1 == 2", "✗ case", "✕ case",
]  # fmt: skip


def test_every_word_for_an_error_is_seen_wherever_its_line_stands() -> None:
    for turkish in ("", "İstanbul"):  # two characters in small letters
        lines = numbered(500).split("\n")
        lines[90:90] = [turkish, *TELLING, "terrors unfailingly told", *TELLING]
        assert own(part("\n".join(lines)).text)[30:50] == [*TELLING, *TELLING][:20]


def test_repetition_is_told_by_its_first_and_last_line_and_other_words_are_none() -> None:
    same = ["a1 0xff deadbeef1", "a22 0x1 0123456789abcdef", "a3 0xabc 12345678"]
    other = ["deadbeef x", "cafebabe x", "feedface x"]
    done = part("\n".join([*same * 6, *other * 5]), "aggressive")
    assert own(done.text) == [same[0], same[2], *other * 5]
    text = "\n".join(["start", *(f"Downloading 0x{n:04x} {n}%" for n in range(100)), "done"])
    done = part(text, "aggressive")
    assert own(done.text) == ["start", "Downloading 0x0000 0%", "Downloading 0x0063 99%", "done"]
    assert done.rule == "repeats"
    assert part(text, "normal").kept == 60


KINDS = [
    ("find . -name '*.py'", "\n".join(f"./src/mod{n}/file.py" for n in range(200)), "listing"),
    ("anything", "\n".join(f"src/mod{n}/file.py" for n in range(200)), "listing"),
    ("tree", "\n".join(f"{'│   ' * (n % 4)}├── name{n}" for n in range(200)), "tree"),
    ("./serve", "\n".join(f"2026-06-01 12:00:{n % 60:02} GET /{n}" for n in range(200)), "log"),
    ("docker logs web", numbered(200), "log"),
    ("./run", numbered(200), "ends"),
]


def test_listings_trees_and_logs_are_cut_in_their_own_way() -> None:
    for command, text, rule in KINDS:
        done = part(text, command=command)
        assert (done.rule, done.kept) == (rule, 60)
    # the upper floor is whole; the last two lines stay besides
    assert sum(line.startswith("├") for line in own(part(KINDS[2][1]).text)) == 50
    assert own(part(KINDS[3][1]).text)[10:] == KINDS[3][1].split("\n")[-50:]


TOOLS = [
    ("edit", "hyper", False), ("write", "hyper", False), ("skill", "hyper", False),
    ("memory_search", "hyper", False), ("mdmemory_core_memory_read", "hyper", False),
    ("read", "normal", False), ("read", "aggressive", True), ("grep", "aggressive", False),
    ("grep", "hyper", True), ("task", "aggressive", True), ("mytool", "normal", True),
]  # fmt: skip


def test_each_tool_has_a_level_from_which_it_is_pruned() -> None:
    for tool, level, expected in TOOLS:
        assert (cut(numbered(500), level, tool) is not None) == expected, (tool, level)
    assert cut(numbered(5_000), "hyper", synthetic=True) is None, "what the host wrote itself"


def test_of_an_output_of_lines_that_are_all_too_long_both_ends_stay() -> None:
    for level, limits in LEVELS.items():
        for lines in (1, 3, 200):
            text = "\n".join(["<" + "a" * 100_000 + ">"] * lines)
            done, half = part(f"{text}\n", level), limits.longest // 2
            assert own(done.text) == [text[:half], text[-half:]]
            assert f"{len(text) - 2 * half:,} characters left out" in done.text
            assert done.text.endswith(f"the whole output: {WHERE}]")
    assert own(part("a\n" + "x" * 20_000 + "\nb").text) == ["a", "b"], "one alone is left out"


line = st.text(st.sampled_from("ab 1:/.│├─-\x0b\r"), max_size=12)
outputs_of_tools = st.lists(line | st.sampled_from(["error: x", "src/a.py"]), max_size=300)


@given(outputs_of_tools, st.sampled_from([*LEVELS]), st.sampled_from(["./run", "ls", "tail x"]))
def test_what_is_shown_is_a_subsequence_of_the_lines_and_marks(
    lines: list[str], level: str, command: str
) -> None:
    text = "\n".join(lines)
    done = cut(text, level, command=command)
    if done is None:
        return
    rest = iter(text.split("\n"))
    assert all(kept in rest for kept in own(done.text))  # `in` walks on: order counts
    gaps = [m for m in done.text.split("\n") if m.startswith(MARK) and "left out" in m]
    left_out = sum(int(gap.split()[1].replace(",", "")) for gap in gaps)
    assert len(own(done.text)) == done.kept
    assert left_out == done.total - done.kept
    assert len(done.text) < len(text)


def test_a_full_output_is_found_by_its_id_until_newer_ones_take_its_place(tmp_path: Path) -> None:
    folder = tmp_path / "outputs"
    id = storage.output_id("ses_1", "text")
    storage.put_output(folder, id, "text")
    assert storage.get_output(folder, id) == "text"
    assert storage.output_id("ses_2", "text") != id
    for number in range(storage.MAX_FILES + 5):
        storage.put_output(folder, storage.output_id("ses_2", str(number)), str(number))
    assert len(list(folder.iterdir())) == storage.MAX_FILES
    for gone in (id, "o-../../../etc/passwd"):
        with pytest.raises(NotFound):
            storage.get_output(folder, gone)


def test_old_outputs_and_those_of_a_deleted_session_go(tmp_path: Path) -> None:
    now, folder = datetime.now(UTC), tmp_path / "outputs"
    one, other = storage.output_id("ses_1", "a"), storage.output_id("ses_2", "b")
    storage.put_output(folder, one, "a")
    storage.put_output(folder, other, "bb")
    (folder / "mine.txt").write_text("a person's", "utf-8")
    assert storage.remove_outputs(folder, "ses_1") == (1, 1, 0)
    assert storage.get_output(folder, other) == "bb"
    with State(tmp_path / "state.db") as state:
        assert storage.sweep(state, now).files == 0
        swept = storage.sweep(state, now + timedelta(days=8))
    assert (swept.files, swept.bytes, swept.errors) == (1, 2, 0)
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]


def test_outputs_that_go_while_they_are_listed_do_no_harm(tmp_path: Path) -> None:
    folder = tmp_path / "outputs"
    for number in range(3):
        storage.put_output(folder, storage.output_id("ses_1", str(number)), str(number))
    listed = storage._files(folder)
    _, _, first = next(listed)
    for path in folder.iterdir():
        path.unlink()
    assert list(listed) == []
    assert Path(first).parent == folder
