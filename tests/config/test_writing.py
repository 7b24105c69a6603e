"""One setting changes in a file, and nothing else there."""

import json
import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mdmemory.actions.configuring import set_for_person
from mdmemory.cli import main
from mdmemory.config.settings import load_settings
from mdmemory.config.table import TABLE
from mdmemory.config.writing import change_setting
from mdmemory.errors import BadSetting

FILE = Path("config.toml")
OWN = 'store = "."\n\n[project]\nroots = [\n  "[a]",\n]\nremotes = []\n'
EDITS: dict[str, tuple[str, str, Any, str]] = {
    "a new file": ("", "planner", "openai", 'planner = "openai"\n'),
    "behind a comment": ("# mine\n", "planner", "openai", '# mine\nplanner = "openai"\n'),
    "a comment behind a value stays": (
        'planner = "offline"  # for now\n', "planner", "openai", 'planner = "openai"  # for now\n',
    ),
    "above the first table": (
        '# about it\n[extract]\nmodel = "a/b"\n', "planner", "openai",
        'planner = "openai"\n# about it\n[extract]\nmodel = "a/b"\n',
    ),
    "a last line without its end": (
        'editor = "vi"', "planner", "openai", 'editor = "vi"\nplanner = "openai"\n',
    ),
    "into its table": (
        "[index]\n# why\nmax_chars = 600 # ok\n\n[git]\nsign = false\n", "index.max_entries", 9,
        "[index]\n# why\nmax_chars = 600 # ok\nmax_entries = 9\n\n[git]\nsign = false\n",
    ),
    "a table of its own": (OWN, "index.max_entries", 9, f"{OWN}\n[index]\nmax_entries = 9\n"),
    "beside a dotted name": (
        "index.max_chars = 600\n", "index.max_entries", 9,
        "index.max_chars = 600\nindex.max_entries = 9\n",
    ),
    "a value of several lines": (
        '[search]\nfolders = [\n  "/a", # [index]\n  "/b",\n] # mine\n', "search.folders", ["/c"],
        '[search]\nfolders = ["/c"] # mine\n',
    ),
    "into a table on one line": (
        "index = { max_chars = 600 } # mine\n", "index.max_entries", 9,
        "index = { max_chars = 600, max_entries = 9} # mine\n",
    ),
    "what only looks like a table": (
        'editor = """\n[index]\nmax_chars = 3\n"""\n', "index.max_chars", 600,
        'editor = """\n[index]\nmax_chars = 3\n"""\n\n[index]\nmax_chars = 600\n',
    ),
    "line ends of Windows": (
        "[index]\r\nmax_chars = 600\r\n", "index.max_chars", 700, "[index]\r\nmax_chars = 700\r\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", EDITS)
def test_a_setting_is_one_line_and_all_others_stay(case: str) -> None:
    before, name, value, after = EDITS[case]
    assert change_setting(before, name, value, FILE) == after
    assert change_setting(after, name, value, FILE) == after
    if before.endswith("\n") and name.rpartition(".")[2] not in before:  # it was not set
        assert change_setting(after, name, None, FILE) == before


def test_what_is_beyond_an_edit_is_refused_with_the_line_to_write() -> None:
    with pytest.raises(BadSetting) as problem:
        change_setting("index = 600\n", "index.max_entries", 9, FILE)
    assert "`index.max_entries = 9`" in problem.value.hint


def test_settings_that_are_no_toml_are_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("planner = [\n", encoding="utf-8")
    with pytest.raises(BadSetting):
        set_for_person(file, "planner", "openai")
    assert file.read_text(encoding="utf-8") == "planner = [\n"


def test_a_persons_file_is_their_own_and_a_link_to_it_stays_one(tmp_path: Path) -> None:
    file, real = tmp_path / "mdmemory/config.toml", tmp_path / "dotfiles.toml"
    assert set_for_person(file, "planner", "openai")
    assert file.stat().st_mode & 0o777 == 0o600
    assert not set_for_person(file, "planner", "openai")
    file.rename(real)
    file.symlink_to(real)
    assert set_for_person(file, "planner", "offline")
    assert file.is_symlink()
    assert real.read_text() == 'planner = "offline"\n'


def test_a_table_behind_what_init_wrote_about_the_project_counts(tmp_path: Path) -> None:
    file = tmp_path / "mdmemory.toml"
    file.write_text(change_setting(OWN, "index.max_entries", 9, file))
    assert load_settings({}, None, file).whole("index.max_entries") == 9


# --- at the command line -------------------------------------------------------------------------


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """`said(*words)` is the exit code of `mdmemory config WORDS`, and what it printed."""

    def ask(*words: str) -> tuple[int, str, str]:
        return main(["config", *words]), *capsys.readouterr()

    return ask


def test_config_says_each_value_and_where_it_comes_from(
    said: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMORY_INDEX_MAX_ENTRIES", "70")
    assert said("set", "openai.api_key", "sk-secret") == (
        0, f"Wrote openai.api_key to {Path.home()}/.config/mdmemory/config.toml.\n", "",
    )  # fmt: skip
    code, out, _ = said("--all")
    assert code == 0
    assert "index.max_entries = 70  (MEMORY_INDEX_MAX_ENTRIES)\n    Maximum number of" in out
    assert "index.max_chars = 8000  (default)\n" in out
    assert "openai.api_key = set  (" in out
    assert said("get", "index.max_entries")[1] == "70\n"
    shown = json.loads(said("list", "--json")[1])
    assert [row["value"] for row in shown if row["name"] == "openai.api_key"] == [None]
    assert "sk-secret" not in json.dumps(shown) + out
    assert said("--changed")[1].count("(") == 2


def test_config_lists_what_people_set_and_what_is_set_and_with_all_everything(
    said: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMORY_INDEX_MAX_ENTRIES", "70")
    common = [row.name for row in TABLE if row.common]
    known = {row.name for row in TABLE}
    assert len(common) == 12
    shown = said()[1]
    assert names(shown) == [*common, "index.max_entries"]
    assert shown.endswith(f"\n{len(known) - 13} more settings: `mdmemory config --all`\n")
    everything = names(said("--all")[1])
    assert (everything[:12], {*everything}) == (common, known)
    assert names(said("list", "embedding_m")[1]) == ["search.embedding_model"]
    assert said("list", "moon")[1] == "No setting has 'moon' in its name.\n"
    assert {row["name"] for row in json.loads(said("--json")[1])} == known


def names(shown: str) -> list[str]:
    """The settings in a list of them."""
    return re.findall(r"^([a-z_.]+) = ", shown, re.MULTILINE)


def test_config_writes_what_a_person_alone_may_set_into_their_own_file(
    said: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "--store", "notes"]) == 0
    own = Path.home() / ".config/mdmemory/config.toml"
    assert said("set", "planner", "openai")[0] == 0
    assert said("set", "index.max_entries", "9", "--global")[0] == 0
    assert tomllib.loads(own.read_text()) == {"planner": "openai", "index": {"max_entries": 9}}
    assert said("set", "planner", "--unset")[0] == 0
    assert own.read_text() == "\n[index]\nmax_entries = 9\n"
    mine = tmp_path / "mdmemory.toml"
    before = mine.read_text()
    assert said("set", "index.max_entries", "12")[0] == 0
    assert mine.read_text() == f"{before}\n[index]\nmax_entries = 12\n"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("set", "index.max_chars", "3"), "must be a whole number of at least 500"),
        (("set", "index.max_char", "3"), "Did you mean index.max_chars?"),
        (("set", "store", "elsewhere"), "`mdmemory move`"),
        (("set", "planner"), "needs NAME and VALUE"),
        (("get",), "needs NAME"),
        (("set", "observe.enabled", "maybe"), "The default is false."),
        (("set", "index.max_chars", "900"), "--global"),
    ],
)
def test_config_writes_nothing_that_is_not_a_setting(
    words: tuple[str, ...],
    why: str,
    said: Callable[..., tuple[int, str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, error = said(*words)
    assert (code > 0, out) == (True, "")
    assert why in error
    assert not (Path.home() / ".config/mdmemory").exists()


def test_config_in_a_store_of_its_own_is_a_commit_that_undo_takes_back(
    said: Callable[..., tuple[int, str, str]],
    repository: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(repository)
    monkeypatch.delenv("CI", raising=False)
    assert main(["init"]) == 0
    store = Path.home() / "mdmemory" / repository.name
    before = (store / "mdmemory.toml").read_bytes()
    capsys.readouterr()
    commit = json.loads(said("set", "index.max_entries", "9", "--json")[1])["commit"]
    shown = subprocess.run(["git", "-C", store, "status", "--porcelain"], capture_output=True)
    assert shown.stdout == b""
    assert said("get", "index.max_entries")[1] == "9\n"
    assert main(["undo", commit]) == 0
    assert (store / "mdmemory.toml").read_bytes() == before
