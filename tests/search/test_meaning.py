"""Search by meaning is turned on by one command, which asks before it installs anything."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake_server import FakeServer
from search.conftest import note

from mdmemory import Memory
from mdmemory.cli import main, meaning, packages
from mdmemory.cli.packages import adding, removing
from mdmemory.search import sources
from mdmemory.search.local_models import DEFAULT

Say = Callable[..., tuple[int, str, str]]
ON = ("config", "set", "search.embeddings", "local")

FASTEMBED = '''
import os, time
from pathlib import Path

class TextEmbedding:
    def __init__(self, name, cache_dir, local_files_only=False, lazy_load=False):
        if local_files_only:
            return
        if os.environ["FETCH"] == "hangs":
            time.sleep(600)
        if os.environ["FETCH"] == "fails":
            raise ValueError(f"Could not load model {name} from any source.")
        folder = Path(cache_dir, "models--" + name.replace("/", "--"))
        folder.mkdir(parents=True)
        (folder / "model.onnx").write_bytes(b"0" * 2_000_000)

    @classmethod
    def list_supported_models(cls):
        return [{"model": "DEFAULT", "size_in_GB": 0.002}]

    def embed(self, texts):
        import numpy
        from fake_server import meaning
        return (numpy.array(meaning(text, 32)) for text in texts)
'''.replace("DEFAULT", DEFAULT)  # fmt: skip
PIP = """
import os, sys
from pathlib import Path
here = Path(__file__).parents[1]
(here / "asked").write_text(" ".join(sys.argv[1:]))
if os.environ["PIP"] == "fails":
    sys.exit("no such package")
(here / "fastembed").mkdir()
(here / "fastembed/__init__.py").write_text((here / "fastembed.txt").read_text())
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of packages before all others, with a pip that installs a fastembed there."""
    folder = tmp_path / "site"
    (folder / "pip").mkdir(parents=True)
    (folder / "pip/__init__.py").touch()
    (folder / "pip/__main__.py").write_text(PIP)
    (folder / "fastembed.txt").write_text(FASTEMBED)
    monkeypatch.syspath_prepend(str(folder))
    tests = Path(__file__).parents[1]
    monkeypatch.setenv("PYTHONPATH", f"{folder}:{tests}:{tests / 'e2e'}")
    monkeypatch.setenv("PIP", "works")
    monkeypatch.setenv("FETCH", "works")
    before = sys.modules.pop("fastembed", None)
    sources.local_model.cache_clear()
    yield folder
    sources.local_model.cache_clear()
    sys.modules.pop("fastembed", None)
    if before is not None:
        sys.modules["fastembed"] = before


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A place of models that can be reached."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with FakeServer() as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        yield


@pytest.fixture
def say(
    opened: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Say:  # fmt: skip
    notes = {
        "user-tea.md": note("tea", "Drinks green tea"),
        "project-where.md": note("where", "Runs on AWS", "All of it in Frankfurt."),
    }
    monkeypatch.chdir(opened(notes).project.root)

    def run(*words: str) -> tuple[int, str, str]:
        code = main(words)
        return (code, *capsys.readouterr())

    return run


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """`answers("y")`: a person at a terminal, who says this; the list has what was asked."""

    def begin(word: str) -> list[str]:
        asked: list[str] = []
        monkeypatch.setattr(meaning, "is_terminal", lambda: True)
        monkeypatch.setattr("builtins.input", lambda said: asked.append(said) or word)
        return asked

    return begin


def without_fastembed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)


# --- turning it on -----------------------------------------------------------------------------


@pytest.mark.usefixtures("hub")
def test_one_command_installs_fetches_and_makes_the_vectors(
    site: Path, say: Say, answers: Callable[[str], list[str]]
) -> None:
    (question,) = [answers("y")]
    code, out, err = say(*ON)
    assert code == 0, err
    assert "-m pip install" in question[0]
    assert (site / "asked").read_text() == "install fastembed>=0.5"
    assert "220 MB" in out, "what it costs is said before it is asked"
    assert "Fetching" in err
    assert out.splitlines()[-1].startswith(f"Search by meaning is on: 2 notes, model {DEFAULT}, ")
    assert "project-where.md" in say("search", "hosting")[1]
    assert "by words" not in say("doctor")[1]


def test_nothing_is_installed_without_a_person_to_ask(
    site: Path, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_fastembed(monkeypatch)
    code, out, err = say(*ON)
    assert (code, out) == (1, "")
    assert "fastembed is not installed. Run `" in err
    assert "pip install 'fastembed>=0.5'`, then this again." in err
    assert not (site / "asked").exists()
    assert say("config", "get", "search.embeddings")[1] == "off\n"


def test_a_no_changes_nothing(site: Path, say: Say, answers: Callable[[str], list[str]]) -> None:
    answers("n")
    code, _, err = say(*ON)
    assert (code, "stays as it was" in err) == (1, True)
    assert not (site / "asked").exists()
    assert say("config", "get", "search.embeddings")[1] == "off\n"


def test_an_installation_that_fails_is_one_sentence(
    site: Path, say: Say, answers: Callable[[str], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers("")
    monkeypatch.setenv("PIP", "fails")
    code, _, err = say(*ON)
    assert (code, "failed (exit 1)" in err, "Traceback" in err) == (1, True, False)
    assert say("config", "get", "search.embeddings")[1] == "off\n"


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("unreachable", "could not be fetched: 127.0.0.1:9 cannot be reached (Connection refused)"),
        ("fails", f"Could not load model {DEFAULT} from any source"),
        ("hangs", "nothing came for"),
    ],
)
@pytest.mark.usefixtures("hub")
def test_a_model_that_cannot_be_fetched_is_one_sentence_and_changes_nothing(
    site: Path, say: Say, how: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (site / "fastembed.py").write_text(FASTEMBED)
    monkeypatch.setenv("FETCH", how)
    monkeypatch.setattr(meaning, "STALLED", 0.1 if how == "hangs" else 60.0)
    if how == "unreachable":
        monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    code, _, err = say(*ON)
    assert code == 1
    assert said in err
    assert "HTTPS_PROXY" in err
    assert "Traceback" not in err
    assert say("config", "get", "search.embeddings")[1] == "off\n"


@pytest.mark.usefixtures("hub")
def test_programs_read_what_it_came_to(site: Path, say: Say) -> None:
    (site / "fastembed.py").write_text(FASTEMBED)
    code, out, _ = say(*ON, "--json")
    answer = json.loads(out)
    assert (code, answer["changed"]) == (0, True)
    assert answer["meaning"].keys() == {"model", "notes", "seconds"}
    assert (answer["meaning"]["model"], answer["meaning"]["notes"]) == (DEFAULT, 2)


def test_an_unknown_model_is_refused_before_anything_is_fetched(site: Path, say: Say) -> None:
    (site / "fastembed.py").write_text(FASTEMBED)
    assert say("config", "set", "search.embedding_model", "text-embedding-3-small")[0] == 0
    code, _, err = say(*ON)
    assert (code, "fastembed has no model text-embedding-3-small" in err) == (1, True)
    assert "--unset" in err


def test_a_folder_without_a_model_is_refused(say: Say, tmp_path: Path) -> None:
    say("config", "set", "search.embedding_model", str(tmp_path / "gone"))
    assert "There is no folder" in say(*ON)[2]
    say("config", "set", "search.embedding_model", str(tmp_path))
    assert "tokenizer.json" in say(*ON)[2] or "config.json" in say(*ON)[2]


def test_a_name_that_no_model_has_is_refused_before_its_package_is_asked_for(
    say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_fastembed(monkeypatch)
    say("config", "set", "search.embedding_model", "text-embedding-3-small")
    code, _, err = say(*ON)
    assert (code, "fastembed has no model text-embedding-3-small" in err) == (1, True)
    assert "install" not in err


@pytest.mark.usefixtures("hub")
def test_half_a_download_is_fetched_again(site: Path, say: Say, empty_home: Path) -> None:
    loads = (
        "if not Path(cache_dir, 'models--' + name.replace('/', '--')).is_dir(): raise ValueError"
    )
    (site / "fastembed.py").write_text(
        FASTEMBED.replace("            return\n", f"            {loads}\n            return\n", 1)
    )
    half = empty_home / ".cache/mdmemory/models" / f"half-{DEFAULT.rpartition('/')[2]}"
    half.mkdir(parents=True)
    (half / "model.onnx").touch()
    code, out, err = say(*ON)
    assert (code, "Fetching" in err, "is on: 2 notes" in out) == (0, True, True), err


# --- turning it off, and what is missing ---------------------------------------------------------


@pytest.mark.usefixtures("hub")
def test_turning_it_off_says_what_can_be_deleted(site: Path, say: Say, empty_home: Path) -> None:
    (site / "fastembed.py").write_text(FASTEMBED)
    say(*ON)
    code, out, _ = say("config", "set", "search.embeddings", "off")
    models = empty_home / ".cache/mdmemory/models"
    assert code == 0
    assert f"`rm -r {models}` deletes the fetched models (2 MB)" in out
    assert "rebuild --db" in out


@pytest.mark.usefixtures("hub")
def test_a_folder_is_deleted_by_its_whole_name_and_never_where_others_use_it(
    site: Path, say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (site / "fastembed.py").write_text(FASTEMBED)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "of mine"))
    say(*ON)
    off = ("config", "set", "search.embeddings", "off")
    assert f"`rm -r '{tmp_path}/of mine/mdmemory/models'`" in say(*off)[1]
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", f"{tmp_path}/of mine/mdmemory/models")
    out = say(*off)[1]
    assert "rm -r" not in out
    assert "other programs may need them" in out


def test_status_and_doctor_say_that_words_are_all_there_is(
    say: Say, empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_fastembed(monkeypatch)
    assert "meaning" not in say("status")[1]
    settings = empty_home / ".config/mdmemory/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[search]\nembeddings = "local"\n')
    assert "meaning     local; search goes by words: fastembed>=0.5 not" in say("status")[1]
    code, out, _ = say("doctor")
    assert (code, "Search by meaning is on, and goes by words" in out) == (0, True)
    answer = json.loads(say("status", "--json")[1])
    assert answer["embeddings"]["kind"] == "local"
    assert "config set search.embeddings local" in answer["embeddings"]["missing"]


def test_a_search_never_fetches_a_model(
    site: Path, say: Say, empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (site / "fastembed.py").write_text(FASTEMBED)
    monkeypatch.setenv("FETCH", "fails")
    settings = empty_home / ".config/mdmemory/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[search]\nembeddings = "local"\n')
    code, out, err = say("search", "tea")
    assert (code, out.startswith("user-tea.md")) == (0, True)
    assert f"The model {DEFAULT} is not on this disk." in err


# --- how packages get there ----------------------------------------------------------------------

RECEIPT = """
[tool]
requirements = [
    { name = "mdmemory", extras = ["postgres"], %s },
    { name = "numpy", specifier = ">=1" },
    { name = "httpx" },
]
"""


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, "{python} -m pip install 'numpy>=2'"),
        ({"pipx_metadata.json": "{}"}, "pipx inject mdmemory 'numpy>=2'"),
        (
            {"uv-receipt.toml": RECEIPT % 'specifier = "==1.0"'},
            "uv tool install --with httpx --with 'numpy>=2' 'mdmemory[postgres]==1.0'",
        ),
        (
            {"uv-receipt.toml": RECEIPT % 'editable = "/src/mdmemory"'},
            "uv tool install --with httpx --with 'numpy>=2' --editable '/src/mdmemory[postgres]'",
        ),
        (
            {"uv-receipt.toml": RECEIPT % 'git = "https://x.example/m"'},
            "uv tool install --with httpx --with 'numpy>=2' "
            "'mdmemory[postgres] @ git+https://x.example/m'",
        ),
        ({"uv-receipt.toml": "[["}, "uv tool install --with 'numpy>=2' mdmemory"),
    ],
)
def test_the_command_is_that_of_the_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], expected: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(packages, "_found", lambda program: program)
    monkeypatch.setattr(packages, "find_spec", lambda _: True)
    assert str(adding(["numpy>=2"])) == expected.format(python=sys.executable)


def test_a_python_without_pip_and_one_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "_found", lambda program: program)
    monkeypatch.setattr(packages, "find_spec", lambda _: None)
    python = sys.executable
    assert str(adding(["x"], alone=True)) == f"uv pip install --python {python} --no-deps x"
    assert removing(["x"]) == f"uv pip uninstall --python {python} x"
    monkeypatch.setattr(packages, "find_spec", lambda _: True)
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    monkeypatch.setattr(packages.sysconfig, "get_path", lambda _: str(tmp_path))
    (tmp_path / "EXTERNALLY-MANAGED").touch()
    assert "belongs to the system" in adding(["x"]).problem
