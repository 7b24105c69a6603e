"""What tools did: files by their part in the work, errors from real failures alone, and bounded."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from mdmemory.session import changes, sections, session
from mdmemory.session.changes import take_result
from mdmemory.session.failures import find_failure, list_succeeded
from mdmemory.session.sections import Sections, sections_of
from mdmemory.session.session import ContextUsage, find_level, notice, usable

ROOT = "/home/you/project"
FAILED = "tests/test_a.py:3: AssertionError\nFAILED tests/test_a.py::test_x - assert 1 == 2"


def snapshot(memory: Sections) -> str:
    return session.render(memory, sections.names()).text


def used(state: Sections, tool: str, path: str = "", **more: object) -> None:
    take_result(state, tool, {"filePath": path, **more}, "", None, ROOT)


def ran(state: Sections, command: str, exit_code: int | None, output: str = FAILED) -> None:
    take_result(state, "bash", {"command": command}, output, exit_code, ROOT)


def test_files_are_ranked_by_their_best_action_and_by_how_often() -> None:
    state = Sections()
    for _ in range(11):
        used(state, "read", f"{ROOT}/often_read.py")
    used(state, "edit", f"{ROOT}/src/a.py")
    used(state, "read", f"{ROOT}/src/a.py")
    used(state, "write", "b.py")
    used(state, "read", "c.py")
    found = {each.path: (each.action, each.count, each.rank) for each in state.files}
    assert found["src/a.py"] == ("edit", 2, 56)
    assert found["b.py"] == ("write", 1, 48)
    assert found["often_read.py"] == ("read", 11, 53)
    assert [each.path for each in state.files] == ["src/a.py", "often_read.py", "b.py", "c.py"]
    assert "- src/a.py (edit, 2x)\n- often_read.py (read, 11x)\n" in snapshot(state)


def test_a_search_makes_the_files_it_found_active_and_a_patch_those_it_edits() -> None:
    state = Sections()
    found = "Found 2 matches\nsrc/a.py:\n  Line 3: x = 1\nsrc/b.py:\n  Line 9: y"
    take_result(state, "grep", {"pattern": "x", "path": ROOT}, found, None, ROOT)
    assert {each.path for each in state.files} == {"src/a.py", "src/b.py"}
    patch = "*** Begin Patch\n*** Update File: src/b.py\n@@\n-y\n+z\n*** End Patch"
    take_result(state, "apply_patch", {"patchText": patch}, "", None, ROOT)
    assert (state.files[0].path, state.files[0].action) == ("src/b.py", "edit")


def test_what_is_kept_is_bounded() -> None:
    state = Sections()
    for number in range(100):
        used(state, "edit", f"f{number}.py")
        ran(state, f"pytest t{number}.py", 1, f"FAILED t{number}.py: {number}")
        changes.add(state, "decisions", f"Decision number {number}", is_candidate=True)
        changes.add(state, "candidates", f"Candidate number {number}", is_candidate=True)
    assert (len(state.files), len(state.errors)) == (20, 5)
    assert [len(state.said(name)) for name in ("decisions", "candidates")] == [8, 12]


REAL = [
    ("mypy src", "typecheck"), ("npx tsc --noEmit", "typecheck"), ("cargo check", "typecheck"),
    ("pytest -q", "test"), (".venv/bin/python -m pytest tests", "test"), ("npm test", "test"),
    ("CI=1 pnpm run test --watch=false", "test"), ("go test ./...", "test"),
    ("cd web && yarn test", "test"), ("uv run pytest", "test"), ("make test", "test"),
    ("ruff check .", "lint"), ("npm run lint", "lint"), ("cargo clippy", "lint"),
    ("make", "build"), ("npm run build", "build"), ("cargo build --release", "build"),
    ("g++ -o a a.cpp", "build"), ("docker build .", "build"), ("./gradlew assemble", "build"),
    ("python manage.py migrate", "runtime"), ("node server.js", "runtime"),
    ("./run.sh", "runtime"), ("git push origin main", "tool"), ("curl https://a.example", "tool"),
    ("sh -c 'pytest'", "tool"), ("timeout 60 pytest", "test"), ("sudo make install", "build"),
    ("set -o pipefail; pytest | tail -5", "test"), ("git commit -m 'fix; test || x'", "tool"),
    ("cat > a.py <<'EOF'\nx; pytest\nEOF", None), ("pytest | tail -5", None),
]  # fmt: skip


def test_each_command_has_its_category() -> None:
    for command, category in REAL:
        found = find_failure("bash", {"command": command}, "it went wrong: error", 1)
        assert (found.category if found else None) == category, command


NONE = [
    ("pytest", FAILED, 0), ("pytest", FAILED, None), ("pytest", FAILED, 130),
    ("git log --grep error", "fix: error in test FAILED", 0), ("git log nothing", "fatal", 128),
    ("cat errors.log", "ERROR everything failed", 0), ("cat missing", "No such file", 1),
    ("grep -r error .", "", 1), ("diff a b", "< error", 1), ("test -f a", "", 1),
    ("git -C /x diff --exit-code", "-error", 1), ("cd a && ls missing", "ls: error", 2),
]  # fmt: skip


def test_what_only_looks_like_an_error_is_none() -> None:
    for command, output, exit_code in NONE:
        assert find_failure("bash", {"command": command}, output, exit_code) is None, command


def test_an_error_has_a_short_summary_and_its_fingerprint() -> None:
    found = find_failure("bash", {"command": "pytest"}, f"{'. ' * 500}\n{FAILED}\n{FAILED * 9}", 1)
    assert len(found.summary) <= 280
    assert "FAILED tests/test_a.py::test_x" in found.summary
    assert found.fingerprint == hashlib.sha256(found.summary.encode()).hexdigest()[:12]
    assert "tests/test_a.py" in found.files


def test_success_closes_the_errors_of_its_category_alone() -> None:
    state = Sections()
    ran(state, "pytest", 1)
    ran(state, "ruff check .", 1, "a.py:1:1: error F401")
    ran(state, "pytest | tail", 0)  # that is tail's success
    ran(state, "pytest || true", 0)
    ran(state, "git log", 0)
    assert [each.category for each in state.errors] == ["test", "lint"]
    ran(state, "cd src && pytest -q", 0)
    assert [each.category for each in state.errors] == ["lint"]
    assert "[lint] a.py:1:1: error F401" in snapshot(state)


def test_of_an_unknown_command_only_its_own_success_closes_the_error() -> None:
    state = Sections()
    ran(state, "deployctl push --all", 1, "Error: quota exceeded")
    ran(state, "git push", 0)
    (open_,) = state.errors
    assert open_.summary == "deployctl push --all: Error: quota exceeded"
    ran(state, "sudo deployctl push", 0)
    assert state.errors == []
    take_result(state, "jira_create", {}, "Error: no project", 1)
    take_result(state, "jira_search", {}, "", 0)
    assert len(state.errors) == 1
    take_result(state, "jira_create", {}, "", 0)
    assert state.errors == []


def test_a_chain_proves_all_of_its_parts_only_when_it_ends_well() -> None:
    assert list_succeeded("bash", {"command": "make build && pytest"}, 0) == {"build", "test"}
    assert list_succeeded("bash", {"command": "pytest; echo done"}, 0) == set()
    assert list_succeeded("bash", {"command": "make build && pytest"}, 1) == set()


def test_the_same_command_has_one_error_and_an_edit_may_have_mended_it() -> None:
    state = Sections()
    ran(state, "pytest", 1)
    ran(state, "pytest", 1, "FAILED tests/test_b.py::test_y - other")
    assert [each.files for each in state.errors] == [["tests/test_b.py"]]
    used(state, "edit", f"{ROOT}/src/other.py")
    assert state.errors[0].status == "open"
    used(state, "edit", f"{ROOT}/tests/test_b.py")
    assert state.errors[0].status == "maybe_fixed"
    assert "[test, maybe fixed] FAILED" in snapshot(state)
    ran(state, "pytest", 1, "FAILED tests/test_b.py::test_y - other")
    assert state.errors[0].status == "open"


TOLD = [
    ("terraformer plan", "\n".join(["Reading state"] * 9 + ["access denied by policy"]
     + [f"module {n} skipped" for n in range(9)]), "access denied by policy"),
    ("frobnicate", "a\nb\nbash: frobnicate: command not found\nc\nd\ne\nf\ng\nh", "not found"),
    ("deploy now", "step 1\nstep 2\nFehler: kein Platz\nstep 3\n\nsee log", "Fehler: kein Platz"),
    ("git push", "To host\n ! [rejected] main -> main\nhint: a\nhint: b", "[rejected]"),
    ("curl x", "", "curl x: exit code 1"),
    ("make", "gcc -c a.c\nld: cannot find -lfoo\nmake[1]: leaving\nx\ny\nz", "cannot find -lfoo"),
]  # fmt: skip


def test_the_summary_is_what_says_the_error_and_not_the_last_lines() -> None:
    for command, output, telling in TOLD:
        found = find_failure("bash", {"command": command}, output, 1)
        assert telling in found.summary
        assert found.summary.count(" | ") <= 1, found.summary
    found = find_failure("bash", {"command": "frob"}, "one\ntwo\nthree\nfour\nfive\nsix", 1)
    assert found.summary == "frob: six"


texts = st.text(max_size=300)


@given(st.lists(st.tuples(texts, texts, st.integers(0, 2)), max_size=30))
def test_a_snapshot_is_never_over_its_budget_and_tells_whole_lines(
    events: list[tuple[str, str, int]],
) -> None:
    state = Sections()
    for path, text, code in events:
        used(state, "edit", path)
        ran(state, "pytest", code, text)
        changes.add(state, "decisions", text)
        changes.add(state, "candidates", path)
    shown = snapshot(state)
    assert len(shown) <= session.LISTS + 250
    lines = shown.split("\n")[3:-1]
    assert sum("x)" in line[-4:] and line.startswith("- ") for line in lines) <= 12
    assert all(line.startswith("- ") or line.endswith(":") for line in lines if line)
    assert sections_of(state.document()) == state


# How full the context is: from real counts where there are any, and told once for each level.

SIZES = {"goal": 1204, "lists": 560}


def test_the_share_comes_from_what_is_known() -> None:
    counts = ((90_000, 100_000, 999_999), (0, 100_000, 200_000), (0, 0, 90_000), (22_500, 0, 5))
    shares = [ContextUsage(*each).percent for each in counts]
    assert shares == [90, 50, None, None]
    assert ContextUsage().percent is None


def test_the_levels_begin_where_the_table_says() -> None:
    shares = (0, 69.9, 70, 84.9, 85, 94.9, 95, 300)
    found = [find_level(ContextUsage(round(percent * 1000), 100_000)) for percent in shares]
    assert found[::2] == ["safe", "moderate", "high", "critical"]
    assert found[1::2] == found[::2], "each as long as the next has not begun"


def test_a_level_is_told_when_it_changes_and_not_again() -> None:
    before, said = "safe", []
    for tokens in (10, 71, 75, 86, 90, 96, 99, 100, 20, 97):
        now = ContextUsage(tokens, 100)
        said.append(notice(before, now, SIZES))
        before = find_level(now)
    assert "".join("yn"[not each] for each in said) == "nynynynnyy"
    assert said[1].startswith("Context moderate: about 71% full.")
    assert ["Choices" in each for each in (said[3], said[5])] == [False, True]
    assert "goal 1,204, lists 560" in said[5]
    assert all(len(each) < 800 for each in said)


def test_a_window_has_room_for_the_answer() -> None:
    assert usable(200_000, 0, 64_000) == 168_000
    assert usable(200_000, 0, 8_000) == 192_000
    assert usable(0, 100_000, 8_000) == 92_000
    assert usable(0) == 0


def test_without_a_known_window_tokens_are_said_and_no_share_of_it() -> None:
    before, said = "safe", []
    for tokens in (10, 49_999, 50_000, 99_000, 128_000, 150_000, 20_000, 210_000):
        now = ContextUsage(tokens)
        said.append(notice(before, now, SIZES))
        before = find_level(now)
        assert before not in ("moderate", "high", "critical")
    assert [bool(each) for each in said] == [False, False, True, False, True, False, False, True]
    assert said[2].startswith("Context: about 50,000 tokens; how many fit is not known.")
    assert not any("%" in each for each in said)
    # the window becomes known
    assert notice(before, ContextUsage(60_000, 200_000), SIZES) == ""
    assert "75% full" in notice(before, ContextUsage(150_000, 200_000), SIZES)
