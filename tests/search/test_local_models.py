"""Vectors of a model on this machine: out of a folder, by its name, or not at all."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import pytest
from search.conftest import TEA_AND_WHERE, write_settings

from mdmemory import Memory
from mdmemory.search import embeddings, sources
from mdmemory.search.local_models import Local

MODEL = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
Chosen = Callable[[str], Memory]
FOLDER_FILES = ("model.onnx", "tokenizer.json")


class TextEmbedding:
    """fastembed's class, as far as it is used; its models are those in `on_disk`."""

    on_disk: ClassVar[set[str]] = {MODEL}
    loaded: ClassVar[list[tuple[str, dict[str, Any]]]] = []
    registered: ClassVar[dict[str, dict[str, Any]]] = {}

    def __init__(self, name: str, **options: Any) -> None:
        assert options["local_files_only"], "a search fetches nothing"
        if name not in self.on_disk | self.registered.keys():
            raise ValueError(f"Could not load model {name} from any source.")
        self.loaded.append((name, options))

    @classmethod
    def add_custom_model(cls, name: str, **options: Any) -> None:
        if name in cls.registered:
            raise ValueError(f"Model {name} is already registered")
        cls.registered[name] = options

    def embed(self, texts: list[str]) -> Iterator[object]:
        import numpy
        from fake_server import meaning

        return (numpy.array(meaning(text, 32)) for text in texts)


@pytest.fixture(autouse=True)
def fastembed(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[TextEmbedding]]:
    """The class above in a module of that name."""
    package, module = ModuleType("fastembed"), "fastembed.common.model_description"
    package.TextEmbedding = TextEmbedding  # type: ignore[attr-defined]
    description = SimpleNamespace(
        ModelSource=lambda url: url, PoolingType=SimpleNamespace(CLS="first", MEAN="mean")
    )
    for name, value in (
        ("fastembed", package), ("fastembed.common", ModuleType("common")), (module, description)
    ):  # fmt: skip
        monkeypatch.setitem(sys.modules, name, value)
    monkeypatch.setattr(TextEmbedding, "on_disk", {MODEL})
    TextEmbedding.loaded.clear()
    TextEmbedding.registered.clear()
    sources.local_model.cache_clear()
    yield TextEmbedding
    sources.local_model.cache_clear()


@pytest.fixture
def chosen(opened: Callable[..., Memory], empty_home: Path) -> Chosen:
    """A memory whose person chose this local model."""

    def begin(model: str) -> Memory:
        chosen = ('search.embeddings = "local"', f'search.embedding_model = "{model}"')
        write_settings(empty_home, *chosen)
        return opened(TEA_AND_WHERE)

    return begin


def model_folder(folder: Path, files: tuple[str, ...] = FOLDER_FILES) -> Path:
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text("{}")
    return folder


def test_a_folder_with_a_model_serves_a_search(chosen: Chosen, tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "tiny")
    memory = chosen(str(folder))
    done = memory.make_vectors()
    assert (done.chunks, done.said) == (2, ())
    assert memory.search("hosting").hits[0].file == "project-where.md"
    ((name, options),) = TextEmbedding.loaded
    assert (name, options["specific_model_path"]) == (str(folder), str(folder))
    registered = TextEmbedding.registered[str(folder)]
    assert (registered["model_file"], registered["pooling"]) == ("model.onnx", "mean")


def test_a_model_may_speak_by_its_first_token(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "tiny", ("onnx/model.onnx", "tokenizer.json"))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling/config.json").write_text('{"pooling_mode_cls_token": true}')
    for _ in range(2):  # the second one finds it registered
        Local(str(folder), tmp_path).embed(["a"])
    registered = TextEmbedding.registered[str(folder)]
    assert (registered["model_file"], registered["pooling"]) == ("onnx/model.onnx", "first")


def test_another_file_in_the_folder_is_another_model(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "tiny")
    before = Local(str(folder), tmp_path).model
    os.utime(folder / "model.onnx", ns=(1, 1))
    assert Local(str(folder), tmp_path).model != before


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ((), "There is no folder"),
        (("config.json",), "model.onnx is missing"),
        (("model.onnx",), "tokenizer.json is missing"),
    ],
)
def test_a_folder_that_holds_no_whole_model_is_a_sentence(
    chosen: Chosen, tmp_path: Path, files: tuple[str, ...], sentence: str
) -> None:
    results = chosen(str(model_folder(tmp_path / "model", files))).search("green tea")
    assert (results.mode, [hit.file for hit in results.hits]) == ("keyword", ["user-tea.md"])
    assert sentence in results.said[0]
    assert "It needs" in results.said[0] or "Check search.embedding_model" in results.said[0]


def test_without_the_package_a_local_model_is_a_sentence(
    chosen: Chosen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    results = chosen(MODEL).search("green tea")
    assert (results.mode, [hit.file for hit in results.hits]) == ("keyword", ["user-tea.md"])
    assert "fastembed" in results.said[0]
    assert "config set search.embeddings local" in results.said[0]


def test_a_named_model_is_loaded_once(chosen: Chosen, empty_home: Path) -> None:
    TextEmbedding.on_disk.clear()
    memory = chosen(MODEL)
    assert "Could not load model" in memory.search("hosting").said[0]
    TextEmbedding.on_disk.add(MODEL)
    assert memory.search("hosting").hits[0].file == "project-where.md"
    assert memory.search("hosting").mode == "hybrid"
    ((name, options),) = TextEmbedding.loaded
    assert name == MODEL
    assert options["cache_dir"] == str(empty_home / ".cache/mdmemory/models")


def test_a_search_waits_for_few_texts_of_a_model_that_runs_here(
    chosen: Chosen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embeddings, "EACH_SEARCH_LOCAL", 1)
    memory = chosen(MODEL)
    assert memory.search("green tea").said[0].startswith("1 text is searched by words only")
    assert memory.search("green tea").said == ()
