"""Vectors as bytes and back, and the nearest of many by one product of a matrix. Pure.

A vector is float32, little endian, of length 1, so that the product of two is their cosine.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # 60 ms, and only who has vectors needs it
    from collections.abc import Callable

    import numpy

    Matrix = numpy.ndarray[Any, numpy.dtype[numpy.float32]]
    Numbers = numpy.ndarray[Any, numpy.dtype[numpy.int64]]

WIDTH = 4  # bytes of a number


def pack_vectors(vectors: Sequence[Sequence[float]], count: int) -> list[bytes]:
    """Vectors as they are kept. Raises ValueError, in words, unless there are `count` of them, all
    of one length, of finite numbers and not all zero."""
    import numpy

    if len(vectors) != count:
        raise ValueError(f"{len(vectors)} vectors for {count} texts")
    wanted = len(vectors[0]) if vectors else 0
    if wrong := [len(each) for each in vectors if len(each) != wanted]:
        raise ValueError(f"a vector of {wrong[0]} numbers instead of {wanted}")
    try:
        matrix = numpy.array(vectors, dtype="<f8")
    except (TypeError, ValueError, OverflowError):
        raise ValueError("something else than numbers") from None
    with numpy.errstate(over="ignore", invalid="ignore"):
        length = numpy.sqrt((matrix * matrix).sum(axis=1, keepdims=True))
    if not (numpy.isfinite(length) & (length > 0)).all():
        raise ValueError("a vector without a direction")
    return [row.tobytes() for row in (matrix / length).astype("<f4")]


@dataclass(frozen=True)
class Space:
    """All vectors of a source; `chunks` has the number of each row, in ascending order."""

    chunks: Numbers
    rows: Matrix

    def nearest(
        self, vector: bytes, limit: int, also: Collection[int] = ()
    ) -> tuple[dict[int, float], float]:
        """See Database.nearest."""
        import numpy

        if not len(self.chunks):
            return {}, 0.0
        cosines = self.rows @ numpy.frombuffer(vector, dtype="<f4")
        top = numpy.arange(len(cosines))
        if limit < len(cosines):
            top = numpy.argpartition(-cosines, limit)[:limit]
        top = top[numpy.lexsort((top, -cosines[top]))]
        numbers = self.chunks
        wanted = numpy.array(sorted(also), dtype=numbers.dtype)
        others = numpy.searchsorted(numbers, wanted)
        others = others[others < len(numbers)]
        others = others[numpy.isin(numbers[others], wanted)]
        cosines_found = {int(numbers[at]): float(cosines[at]) for at in (*top, *others)}
        return cosines_found, float(cosines.min())


def make_space(chunks: Sequence[int], data: bytes | bytearray, dimensions: int) -> Space:
    """The vectors in `data`, one after the other."""
    import numpy

    rows = numpy.frombuffer(data, dtype="<f4").reshape(-1, dimensions or 1)
    return Space(numpy.array(chunks, dtype=numpy.int64), rows)


_kept: dict[str, tuple[Hashable, Space]] = {}


def read_kept(place: str, state: Hashable, read: Callable[[], Space]) -> Space:
    """What `read` gives, which is the same again for a place in the same state: a process that
    goes on asking reads its vectors once."""
    if place not in _kept or _kept[place][0] != state:
        _kept.pop(place, None)  # the old ones first: two may not fit
        if len(_kept) >= 4:
            _kept.clear()
        _kept[place] = (state, read())
    return _kept[place][1]
