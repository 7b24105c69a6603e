"""A sentence model of the BERT family, computed with numpy from the files it is published as.

It needs `config.json`, `tokenizer.json` and `model.safetensors`, and no library for machine
learning: that would be ten times the size of the model.
"""

from __future__ import annotations

import json
import math
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmemory.errors import MdmemoryError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

FILES = ("config.json", "tokenizer.json", "model.safetensors")
LONGEST = 512  # tokens, where the model names no length


class Bert:
    """The model in a folder. Raises MdmemoryError for another kind of model, and ImportError
    without numpy and tokenizers."""

    def __init__(self, folder: Path) -> None:
        config = _json(folder / "config.json")
        if config.get("model_type") != "bert":
            kind = config.get("model_type") or "unknown"
            raise MdmemoryError(
                f"{folder} holds a model of the kind {kind}, of which only an ONNX file can be "
                "used.", "Put its model.onnx into the folder.",
            )  # fmt: skip
        self._heads = int(config["num_attention_heads"])
        self._layers = int(config["num_hidden_layers"])
        self._tiny = float(config.get("layer_norm_eps", 1e-12))
        self._pieces = tokenizer(folder, int(config.get("max_position_embeddings", LONGEST)))
        self._first_alone = takes_first(folder)
        self._weights = _weights(folder / "model.safetensors")
        _on_one_core()

    def vector(self, text: str) -> Any:
        """The vector of a text, of whatever length (geometrically)."""
        w = self._weights
        ids = self._pieces.encode(text).ids
        x = w["embeddings.word_embeddings.weight"][ids]
        x = x + w["embeddings.position_embeddings.weight"][: len(ids)]
        x = self._norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for layer in range(self._layers):
            at = f"encoder.layer.{layer}"
            mixed = self._linear(self._attention(x, at), f"{at}.attention.output.dense")
            x = self._norm(x + mixed, f"{at}.attention.output.LayerNorm")
            wide = _gelu(self._linear(x, f"{at}.intermediate.dense"))
            x = self._norm(x + self._linear(wide, f"{at}.output.dense"), f"{at}.output.LayerNorm")
        return x[0] if self._first_alone else x.mean(axis=0)

    def _attention(self, x: Any, at: str) -> Any:
        import numpy

        def part(name: str) -> Any:
            given = self._linear(x, f"{at}.attention.self.{name}")
            return given.reshape(len(x), self._heads, -1).transpose(1, 0, 2)

        query, key, value = part("query"), part("key"), part("value")
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1])
        shares = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        return (shares @ value).transpose(1, 0, 2).reshape(x.shape)

    def _linear(self, x: Any, name: str) -> Any:
        return x @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _norm(self, x: Any, name: str) -> Any:
        import numpy

        x = (x - x.mean(-1, keepdims=True)) / numpy.sqrt(x.var(-1, keepdims=True) + self._tiny)
        return x * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def _on_one_core() -> None:
    """Let numpy multiply on one core, where its library is the one it ships with. The matrices are
    small: several threads wait for each other ten times as long wherever another process runs."""
    import ctypes

    import numpy

    for library in Path(numpy.__file__).parents[1].glob("numpy.libs/libscipy_openblas*"):
        with suppress(OSError, AttributeError):
            ctypes.CDLL(str(library)).scipy_openblas_set_num_threads64_(1)


def _gelu(x: Any) -> Any:
    """The activation, by its tanh form (4e-4 off the exact one at most)."""
    import numpy

    return 0.5 * x * (1 + numpy.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def tokenizer(folder: Path, longest: int) -> Tokenizer:
    """What cuts a text into the pieces that a model knows, at most `longest` of them, or what the
    model says it was made for. Raises ImportError."""
    from tokenizers import Tokenizer

    pieces = Tokenizer.from_file(str(folder / "tokenizer.json"))
    pieces.no_padding()
    limits = [longest, int(_json(folder / "sentence_bert_config.json").get("max_seq_length") or 0)]
    pieces.enable_truncation(min(each for each in limits if each))
    return pieces


def takes_first(folder: Path) -> bool:
    """Whether the first token's vector is that of the text; else it is the mean of all."""
    return bool(_json(folder / "1_Pooling/config.json").get("pooling_mode_cls_token"))


def _json(path: Path) -> dict[str, Any]:
    """What a file of settings says; nothing where there is none."""
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    return found if isinstance(found, dict) else {}


def _weights(path: Path) -> dict[str, Any]:
    """The matrices of a safetensors file: the length of a JSON head, the head, the numbers. They
    stay in the file, and the system loads the parts that are used."""
    import numpy

    data = numpy.asarray(numpy.memmap(path, dtype=numpy.uint8, mode="r"))
    start = 8 + int.from_bytes(data[:8].tobytes(), "little")
    found = {}
    for name, told in json.loads(data[8:start].tobytes()).items():
        if name != "__metadata__" and told["dtype"] == "F32":
            first, last = (start + at for at in told["data_offsets"])
            found[name.removeprefix("bert.")] = data[first:last].view("<f4").reshape(told["shape"])
    return found
