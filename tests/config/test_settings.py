"""Settings: where each may stand, what counts over what, and one sentence for what is wrong."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from projects import Ask, Git, Patch, Run, Say
from rows import each

from mdmemory.actions.configuring import set_for_person
from mdmemory.config.settings import Settings, load_settings
from mdmemory.config.table import TABLE, Setting
from mdmemory.config.writing import change_setting
from mdmemory.errors import BadSetting

# What a test sets, and what it reads back; for all others it sets the default.
GOOD: dict[str, tuple[str, object]] = {
    "store": ("memory", "memory"),
    "index.max_chars": ("500", 500),
    "index.max_entries": ("1", 1),
    "index.tracked": ("off", False),
    "compact.enabled": ("no", False),
    "compact.churn": ("3", 3),
    "compact.min_entries": ("5", 5),
    "compact.interval_ms": ("0", 0),
    "search.dsn": ("postgresql://a@b/c", "postgresql://a@b/c"),
    "search.embedding_url": ("http://a/v1", "http://a/v1"),
    "search.folders": ("/a:~/b", "/a:~/b"),
}
BAD = {
    "store": ["", "/elsewhere", "../above", "~/home", "a/../../b", ".git/notes"],
    "index.max_chars": ["499", "-1", "8k", "8000.5", "1e4", ""],
    "index.max_entries": ["0", "many"],
    "index.tracked": ["maybe", "2"],
    "compact.enabled": ["enabled"],
    "compact.churn": ["0", "-8"],
    "compact.min_entries": ["0"],
    "compact.interval_ms": ["-1", "12h"],
    "planner": ["psychic"],
    "extract.enabled": ["maybe"],
    "extract.model": ["", "two words", "--help"],
    "compact.model": ["two words", "-m"],
    "openai.base_url": [
        "", "localhost", "ftp://a", "https://", "http://a b", "http://a:99999", "http://a/?key=b",
        "http://a/#b", "http://[a",
    ],
    "openai.api_key": ["two words", "schlüssel"],
    "opencode.command": ["./opencode", "bin/opencode"],
    "llm.daily_calls": ["-1"],
    "llm.timeout_s": ["0", "1.5"],
    "search.backend": ["mysql"],
    "search.dsn": ["localhost", "mysql://a/b"],
    "search.embeddings": ["on", "yes"],
    "search.embedding_model": ["two words"],
    "search.embedding_url": ["localhost", "http://a/?key=b"],
    "search.folders": ["notes", "/a:b", " "],
}  # fmt: skip


def good(setting: Setting) -> tuple[str, object]:
    """A text that is a value of this setting, and the value."""
    default = setting.default if setting.default != "" else "abc"
    return GOOD.get(setting.name, (str(default), default))


def written(folder: Path, text: str, name: str = "mdmemory.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def toml(name: str, value: object) -> str:
    """One setting as a line (and its table) of a settings file."""
    table, _, key = name.rpartition(".")
    shown = f'"{value}"' if isinstance(value, str) else str(value).lower()
    return f"[{table}]\n{key} = {shown}\n" if table else f"{key} = {shown}\n"


def refused(folder: Path, text: str) -> BadSetting:
    """Why a project's file with this text is no file of settings."""
    with pytest.raises(BadSetting) as caught:
        load_settings({}, project=written(folder, text))
    return caught.value


def test_without_files_and_variables_every_setting_has_its_default() -> None:
    settings = load_settings({})
    assert dict(settings.values) == {setting.name: setting.default for setting in TABLE}
    assert set(settings.origins.values()) == {"default"}
    assert [row.name for row in TABLE if row.kind.read(row.default) != row.default] == []


def test_names_and_variables_are_unique() -> None:
    names = [setting.name for setting in TABLE]
    variables = [variable for setting in TABLE for variable in setting.variables]
    assert len(set(names)) == len(names)
    assert len(set(variables)) == len(variables)
    assert set(BAD) | set(GOOD) <= set(names)


def test_every_setting_is_read_from_its_variables_and_from_the_persons_file(tmp_path: Path) -> None:
    def check(setting: Setting) -> None:
        text, value = good(setting)
        path = written(tmp_path, toml(setting.name, value))
        found = [(load_settings({variable: text}), variable) for variable in setting.variables]
        for settings, origin in (*found, (load_settings({}, personal=path), str(path))):
            assert settings.values[setting.name] == value
            assert settings.origins[setting.name] == origin

    each(((row,) for row in TABLE), check)


def test_a_project_may_set_what_is_not_personal(tmp_path: Path) -> None:
    def check(setting: Setting) -> None:
        text = toml(setting.name, good(setting)[1])
        if setting.personal:
            assert "config.toml" in refused(tmp_path, text).hint
        else:
            settings = load_settings({}, project=written(tmp_path, text))
            assert settings.values[setting.name] == good(setting)[1]

    each(((row,) for row in TABLE), check)


def test_the_environment_counts_over_the_project_and_that_over_the_person(tmp_path: Path) -> None:
    personal = written(tmp_path, "[index]\nmax_entries = 1\nmax_chars = 600\n", "config.toml")
    project = written(tmp_path, "[index]\nmax_entries = 2\n")
    assert load_settings({}, personal, project).whole("index.max_entries") == 2
    assert load_settings({}, personal, project).whole("index.max_chars") == 600
    variables = {"MEMORY_INDEX_MAX_ENTRIES": "3"}
    assert load_settings(variables, personal, project).whole("index.max_entries") == 3


def test_an_empty_variable_is_none_and_zero_counts() -> None:
    assert load_settings({"MEMORY_COMPACT_MODEL": " "}).origins["compact.model"] == "default"
    assert load_settings({"MDMEMORY_DAILY_CALLS": "0"}).whole("llm.daily_calls") == 0


def test_a_bad_value_is_one_sentence_that_names_place_value_and_way_out(tmp_path: Path) -> None:
    def check(name: str, text: str) -> None:
        path = written(tmp_path, toml(name, text), "config.toml")
        with pytest.raises(BadSetting) as caught:
            load_settings({}, personal=path)
        secret = next(setting.secret for setting in TABLE if setting.name == name)
        told = "unusable" if secret else repr(text)
        assert f"{name} in {path} is {told}, but must be " in caught.value.message
        assert caught.value.message.endswith(".")
        assert caught.value.hint.startswith("The default is ")

    each(((name, text) for name in BAD for text in BAD[name]), check)
    for value in ("true", "3.5", "[1]", '"x"'):  # of another type
        refused(tmp_path, f"[index]\nmax_entries = {value}\n")


def test_a_project_can_name_no_host_key_program_or_planner_ever(tmp_path: Path) -> None:
    for line in (
        'base_url = "http://evil.example"', 'api_key = "k"', 'search.endpoint = "http://x"',
        'openai.model = "x"', 'hooks.command = "rm"', 'database.dsn = "x"', 'planner = "offline"',
    ):  # fmt: skip
        with pytest.raises(BadSetting) as caught:
            load_settings({}, tmp_path / "mine.toml", written(tmp_path, line + "\n"))
        assert str(tmp_path / "mine.toml") in caught.value.hint, line


def test_an_unknown_setting_names_the_nearest(tmp_path: Path) -> None:
    nearest = "Did you mean compact.enabled?"
    assert refused(tmp_path, "[compact]\nenable = 3\n").hint == nearest
    assert "docs/settings.md" in refused(tmp_path, "zzz = 1\n").hint


def test_a_setting_of_an_earlier_version_stops_nothing_and_is_named(tmp_path: Path) -> None:
    personal = written(tmp_path, 'editor = "vi"\n[compact]\nenabled = false\n', "config.toml")
    project = written(tmp_path, "search.embedding_calls = 3\n")
    settings = load_settings({}, personal, project)
    assert not settings.switch("compact.enabled")
    expected = [f"{personal} sets editor", f"{project} sets search.embedding_calls"]
    assert [sentence.partition(", ")[0] for sentence in settings.former] == expected


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "mdmemory.toml"
    for data in (b"store = \n", b"\xff\xfe", b'a = "1"\na = "2"\n'):
        path.write_bytes(data)
        with pytest.raises(BadSetting) as caught:
            load_settings({}, project=path)
        assert str(path) in caught.value.message, data


def test_the_short_way_to_read_a_file_gives_what_toml_gives(tmp_path: Path) -> None:
    for text in (
        'store = "kept"\n', '# mine\nstore = "kept"\n', 'store="kept"', "store = 'kept'\n",
        'store = "kept" # here\n', 'store = "k\\u0065pt"\n', '\nstore = "kept"\n[index]\n',
    ):  # fmt: skip
        assert load_settings({}, project=written(tmp_path, text)).text("store") == "kept", text


def test_settings_are_read_by_their_kind() -> None:
    settings = Settings({"a": 3, "b": False, "c": "x"})
    assert (settings.whole("a"), settings.switch("b"), settings.text("c")) == (3, False, "x")


# One setting changes in a file, and nothing else there.

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
