"""Settings: where each may stand, what counts over what, and one sentence for what is wrong."""

from pathlib import Path

import pytest
from rows import each

from mdmemory.config.settings import Settings, load_settings
from mdmemory.config.table import TABLE, Setting
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
    assert [sentence.partition(", ")[0] for sentence in settings.former] == [
        f"{personal} sets editor", f"{project} sets search.embedding_calls",
    ]  # fmt: skip


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
