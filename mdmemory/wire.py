"""Lines of JSON over file descriptors, as hosts speak to us: read, written, and ended by a signal.

A line is bounded, strict JSON in UTF-8, and no host that stops reading holds up our end.
"""

from __future__ import annotations

import json
import math
import os
import select
import signal
import threading
from collections.abc import Callable, Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_LINE = 16 * 1024 * 1024  # bytes of one line; a tool's output may be large
_LOOK = 0.5  # seconds between two looks whether a host that reads nothing is to be waited for


def parse_line(line: bytes) -> Any:
    """The JSON value of a line. Raises ValueError for what is none, also by its depth."""
    try:
        return json.loads(
            line.decode("utf-8"), parse_constant=_finite_number, parse_float=_finite_number
        )
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def read_lines(
    source: int, woken: int, look: Callable[[], float | None] = lambda: None
) -> Iterator[bytes]:
    """The lines of the file `source`, until it ends or the file `woken` has something to read.

    The last one may lack its end; one longer than MAX_LINE becomes one that is no JSON. `look` is
    called before each wait, and gives the seconds until it is to be called again, None for never.
    """
    buffer = bytearray()
    while woken not in (ready := select.select([source, woken], [], [], look())[0]):
        if not ready:
            continue
        data = os.read(source, 1 << 16)
        if not data:
            if buffer:
                yield bytes(buffer)
            return
        buffer += data
        if b"\n" in data:
            *whole, buffer = buffer.split(b"\n")
            yield from map(bytes, whole)
        elif len(buffer) > MAX_LINE:
            buffer = bytearray(b"!")


class Sink:
    """Writes lines to a file, each whole, whichever thread sends it. `closed`: nobody reads it any
    more; `ending`, from `end` on: a host that reads nothing is not waited for."""

    def __init__(self, file: int) -> None:
        self._file, self._writing = file, threading.Lock()
        self.closed = self.ending = False

    def end(self) -> None:
        """Wait for the host no longer. It may be called from a signal."""
        self.ending = True

    def send(self, value: Any) -> None:
        """Write a JSON value as one line; what UTF-8 cannot write becomes U+FFFD."""
        self.write(json.dumps(_whole_value(value)).encode("ascii") + b"\n")

    def write(self, data: bytes) -> None:
        """Write a line, or several."""
        with self._writing:
            while data and not self.closed:
                try:
                    # so much fits whenever anything does
                    if select.select([], [self._file], [], _LOOK)[1]:
                        data = data[os.write(self._file, data[: select.PIPE_BUF]) :]
                    elif self.ending:
                        self.closed = True  # half a line is written: no other can follow
                except OSError:
                    self.closed = True


class Signals:
    """SIGTERM calls `came` and makes the file that `with` gives readable; it ends no running work.
    SIGINT is ignored: the host handles it, and ends our input."""

    def __init__(self, came: Callable[[], None] = lambda: None) -> None:
        self._came = came

    def __enter__(self) -> int:
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        # elsewhere than in the main thread Python lets nobody take signals
        ours = threading.current_thread() is threading.main_thread()
        wanted: dict[int, Any] = {signal.SIGTERM: self._wake_up, signal.SIGINT: signal.SIG_IGN}
        self._before = {each: signal.signal(each, wanted[each]) for each in wanted if ours}
        return self._read

    def _wake_up(self, *_: object) -> None:
        self._came()
        os.write(self._write, b".")

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self._read)
        os.close(self._write)


def _finite_number(written: str) -> float:
    """A number of JSON. Python also reads NaN, Infinity and 1e999, which other readers refuse."""
    value = float(written)
    if not math.isfinite(value):
        raise ValueError(f"{written[:40]} is no number of JSON")
    return value


def _whole_value(value: Any, key: str = "") -> Any:
    """A JSON value whose texts UTF-8 can write; an `id` stays as the host gave it."""
    if isinstance(value, str) and not value.isascii() and key != "id":
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {name: _whole_value(each, name) for name, each in value.items()}
    return [_whole_value(each) for each in value] if isinstance(value, list | tuple) else value
