"""One setting changes in a file, and nothing else there."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from projects import Ask, Git, Patch, Run, Say
from rows import each

from mdmemory.actions.configuring import set_for_person
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


@pytest.fixture(autouse=True)
def standing(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.chdir(tmp_path)


def test_config_says_each_value_and_its_origin(say: Say, ask: Ask, monkeypatch: Patch) -> None:
    monkeypatch.setenv("MEMORY_INDEX_MAX_ENTRIES", "70")
    own = Path.home() / ".config/mdmemory/config.toml"
    wrote = f"Wrote openai.api_key to {own}.\n"
    assert say("config", "set", "openai.api_key", "sk-secret") == wrote
    out = say("config", "--all")
    assert "index.max_entries = 70  (MEMORY_INDEX_MAX_ENTRIES)\n    Maximum number of" in out
    assert "index.max_chars = 8000  (default)\n" in out
    assert "openai.api_key = set  (" in out
    assert say("config", "get", "index.max_entries") == "70\n"
    shown = ask("config", "list")
    assert [row["value"] for row in shown if row["name"] == "openai.api_key"] == [None]
    assert "sk-secret" not in json.dumps(shown) + out
    assert say("config", "--changed").count("(") == 2


def test_config_lists_what_people_set_and_what_is_set_and_with_all_everything(
    say: Say, ask: Ask, monkeypatch: Patch
) -> None:
    monkeypatch.setenv("MEMORY_INDEX_MAX_ENTRIES", "70")
    common = [row.name for row in TABLE if row.common]
    known = {row.name for row in TABLE}
    assert len(common) == 12
    shown = say("config")
    assert names(shown) == [*common, "index.max_entries"]
    assert shown.endswith(f"\n{len(known) - 13} more settings: `mdmemory config --all`\n")
    everything = names(say("config", "--all"))
    assert (everything[:12], {*everything}) == (common, known)
    assert names(say("config", "list", "embedding_m")) == ["search.embedding_model"]
    assert say("config", "list", "moon") == "No setting has 'moon' in its name.\n"
    assert {row["name"] for row in ask("config")} == known


def names(shown: str) -> list[str]:
    """The settings in a list of them."""
    return re.findall(r"^([a-z_.]+) = ", shown, re.MULTILINE)


def test_config_writes_what_is_a_persons_into_their_own_file(say: Say, tmp_path: Path) -> None:
    say("init", "--store", "notes")
    own, mine = Path.home() / ".config/mdmemory/config.toml", tmp_path / "mdmemory.toml"
    before = mine.read_text()
    say("config", "set", "planner", "openai")
    say("config", "set", "index.max_entries", "9", "--global")
    assert tomllib.loads(own.read_text()) == {"planner": "openai", "index": {"max_entries": 9}}
    say("config", "set", "planner", "--unset")
    assert own.read_text() == "\n[index]\nmax_entries = 9\n"
    say("config", "set", "index.max_entries", "12")
    assert mine.read_text() == f"{before}\n[index]\nmax_entries = 12\n"


REFUSED = (
    ("set index.max_chars 3", "must be a whole number of at least 500"),
    ("set index.max_char 3", "Did you mean index.max_chars?"),
    ("set store elsewhere", "`mdmemory move`"),
    ("set planner", "needs NAME and VALUE"),
    ("get", "needs NAME"),
    ("set observe.enabled maybe", "The default is false."),
    ("set index.max_chars 900", "--global"),
)


def test_config_writes_nothing_that_is_not_a_setting(run: Run) -> None:
    def check(words: str, why: str) -> None:
        done = run("config", *words.split())
        assert (done.code > 0, done.out, why in done.err) == (True, "", True), done
        assert not (Path.home() / ".config/mdmemory").exists()

    each(REFUSED, check)


def test_config_in_a_store_of_its_own_is_a_commit_that_undo_takes_back(
    say: Say, run: Run, repository: Path, git: Git, monkeypatch: Patch
) -> None:
    monkeypatch.chdir(repository)
    say("init")
    store = Path.home() / "mdmemory" / repository.name
    before = (store / "mdmemory.toml").read_bytes()
    done = run("config", "set", "index.max_entries", "9", "--json")
    assert git(store, "status", "--porcelain") == ""
    assert say("config", "get", "index.max_entries") == "9\n"
    say("undo", json.loads(done.out)["commit"])
    assert (store / "mdmemory.toml").read_bytes() == before
