"""Search by meaning is turned on by one command, which fetches a model and installs nothing."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from search.conftest import note

from mdmemory import Memory
from mdmemory.cli import main, meaning
from mdmemory.search import sources
from mdmemory.search.local_models import DEFAULT

Say = Callable[..., tuple[int, str, str]]
ON = ("config", "set", "search.embeddings", "local")
OFF = ("config", "set", "search.embeddings", "off")

FASTEMBED = '''
import os
from pathlib import Path

class TextEmbedding:
    def __init__(self, name, cache_dir, local_files_only=False, lazy_load=False):
        if name != "DEFAULT":
            raise ValueError(f"Model {name} is not supported in TextEmbedding.\\nSee there.")
        folder = Path(cache_dir, "models--" + name.replace("/", "--"))
        if os.environ["FETCH"] == "fails" or local_files_only and not folder.is_dir():
            raise ValueError(f"Could not load model {name} from any source.")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.onnx").write_bytes(b"0" * 2_000_000)

    def embed(self, texts):
        import numpy
        from fake_server import meaning
        return (numpy.array(meaning(text, 32)) for text in texts)
'''.replace("DEFAULT", DEFAULT)  # fmt: skip


@pytest.fixture
def without_fastembed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)


@pytest.fixture
def fastembed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package above, installed; `FETCH=fails` is a machine without a network."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "fastembed.py").write_text(FASTEMBED)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("FETCH", "works")
    before = sys.modules.pop("fastembed", None)
    sources.local_model.cache_clear()
    yield
    sources.local_model.cache_clear()
    sys.modules.pop("fastembed", None)
    if before is not None:
        sys.modules["fastembed"] = before


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
def turned_on(empty_home: Path) -> None:
    """A person's settings that say `local`, without the command."""
    settings = empty_home / ".config/mdmemory/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[search]\nembeddings = "local"\n')


# --- turning it on -----------------------------------------------------------------------------


@pytest.mark.usefixtures("fastembed")
def test_one_command_fetches_the_model_and_makes_the_vectors(say: Say) -> None:
    code, out, err = say(*ON)
    assert code == 0, err
    assert f"Fetching {DEFAULT}" in err
    assert out.splitlines()[-1].startswith(f"Search by meaning is on: 2 notes, model {DEFAULT}, ")
    assert "project-where.md" in say("search", "hosting")[1]
    assert "by words" not in say("doctor")[1]
    assert "Fetching" not in say(*ON)[2], "it is here"


@pytest.mark.usefixtures("without_fastembed")
def test_a_missing_package_is_one_sentence_with_the_command(say: Say) -> None:
    code, out, err = say(*ON)
    assert (code, out) == (1, "")
    assert "fastembed>=0.5 is not installed. Run `" in err
    assert "install 'fastembed>=0.5'`, then this again." in err
    assert say("config", "get", "search.embeddings")[1] == "off\n"


@pytest.mark.usefixtures("fastembed")
def test_a_model_that_cannot_be_fetched_is_one_sentence_and_changes_nothing(
    say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FETCH", "fails")
    code, _, err = say(*ON)
    assert code == 1
    assert f"could not be fetched: Could not load model {DEFAULT} from any source." in err
    assert "HTTPS_PROXY" in err
    assert "Traceback" not in err
    assert say("config", "get", "search.embeddings")[1] == "off\n"


@pytest.mark.usefixtures("fastembed")
def test_programs_read_what_it_came_to(say: Say) -> None:
    code, out, err = say(*ON, "--json")
    answer = json.loads(out)
    assert (code, answer["changed"], err) == (0, True, "")
    assert answer["meaning"].keys() == {"model", "notes", "seconds"}
    assert (answer["meaning"]["model"], answer["meaning"]["notes"]) == (DEFAULT, 2)


@pytest.mark.usefixtures("fastembed")
def test_an_unknown_model_is_refused(say: Say) -> None:
    assert say("config", "set", "search.embedding_model", "text-embedding-3-small")[0] == 0
    code, _, err = say(*ON)
    assert code == 1
    assert "Model text-embedding-3-small is not supported in TextEmbedding." in err
    assert "See there" not in err
    assert say("config", "get", "search.embeddings")[1] == "off\n"


@pytest.mark.usefixtures("fastembed")
def test_a_folder_without_a_model_is_refused(say: Say, tmp_path: Path) -> None:
    say("config", "set", "search.embedding_model", str(tmp_path / "gone"))
    assert "There is no folder" in say(*ON)[2]


def test_the_command_is_that_of_this_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meaning, "find_spec", lambda _: True)
    assert meaning.install_command(["numpy>=2"]) == f"{sys.executable} -m pip install 'numpy>=2'"
    monkeypatch.setattr(meaning, "find_spec", lambda _: None)
    assert meaning.install_command(["x"]) == f"uv pip install --python {sys.executable} x"


# --- turning it off, and what is missing ---------------------------------------------------------


@pytest.mark.usefixtures("fastembed")
def test_turning_it_off_says_what_can_be_deleted(
    say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "of mine"))
    say(*ON)
    code, out, _ = say(*OFF)
    models = tmp_path / "of mine/mdmemory/models"
    assert code == 0
    assert f"`rm -r '{models}'` deletes the fetched models (2 MB)" in out
    assert "index --rebuild" in out
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(models))
    out = say(*OFF)[1]
    assert "rm -r" not in out
    assert "other programs may need them" in out


@pytest.mark.usefixtures("without_fastembed", "turned_on")
def test_status_and_doctor_say_that_words_are_all_there_is(say: Say) -> None:
    assert "meaning     local; search goes by words: fastembed>=0.5 not" in say("status")[1]
    code, out, _ = say("doctor")
    assert (code, "Search by meaning is on, and goes by words" in out) == (0, True)
    answer = json.loads(say("status", "--json")[1])
    assert answer["embeddings"]["kind"] == "local"
    assert "config set search.embeddings local" in answer["embeddings"]["missing"]
    say(*OFF)
    assert "meaning" not in say("status")[1]


@pytest.mark.usefixtures("fastembed", "turned_on")
def test_a_search_never_fetches_a_model(say: Say) -> None:
    code, out, err = say("search", "tea")
    assert (code, out.startswith("user-tea.md")) == (0, True)
    assert f"Could not load model {DEFAULT} from any source." in err
    assert "config set search.embeddings local" in err
