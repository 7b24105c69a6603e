"""What is dear to find in a large store, kept as long as the store looks the same.

Each page looks at the store first. What changed is found anew in the background: a page waits for
it a moment, then shows what was found last, and says so.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

PATIENCE = 0.06  # seconds that a page waits for what is found anew, where it has something to show
MOST = 400  # values that are kept
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class KeptValue(Generic[T]):
    """A value, and whether it is of now; else a newer one is on its way."""

    value: T
    is_fresh: bool = True


class KeptValues:
    """Values by name, each made from something that has a mark."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._lock = threading.RLock()
        self._worker = ThreadPoolExecutor(1, "mdmemory-web")
        self._values: dict[Hashable, tuple[Hashable, Any]] = {}
        self._coming: dict[Hashable, tuple[Hashable, Future[Any]]] = {}

    def get(self, name: Hashable, mark: Hashable, make: Callable[[], T]) -> KeptValue[T]:
        """The value of this name for this mark; `make` finds it, in one thread for all."""
        with self._lock:
            if name in self._values:
                self._values[name] = self._values.pop(name)  # the last used is the last to go
                before, value = self._values[name]
                if before == mark:
                    return KeptValue(value)
            is_known = name in self._values
            coming = self._begin(name, mark, make)
        try:
            return KeptValue(coming.result(self._patience if is_known else None))
        except Late:
            with self._lock:
                return KeptValue(self._values[name][1], is_fresh=False)

    def _begin(self, name: Hashable, mark: Hashable, make: Callable[[], T]) -> Future[Any]:
        wanted, coming = self._coming.get(name, (None, None))
        if coming is not None and wanted == mark and not coming.done():
            return coming

        def find() -> T:
            value = make()
            with self._lock:
                self._values[name] = (mark, value)
                while len(self._values) > MOST:
                    del self._values[next(iter(self._values))]
            return value

        coming = self._worker.submit(find)
        self._coming[name] = (mark, coming)
        coming.add_done_callback(lambda done: self._arrived(name, done))
        return coming

    def _arrived(self, name: Hashable, done: Future[Any]) -> None:
        with self._lock:
            if self._coming.get(name, (None, None))[1] is done:
                del self._coming[name]

    def peek(self, name: Hashable) -> Any:
        """The value that is kept under a name, however old; None where there is none."""
        with self._lock:
            return self._values.get(name, (None, None))[1]

    def change(self, name: Hashable, change: Callable[[Any], Any]) -> None:
        """Change a kept value as an act of ours changed the store; the next look finds it anew."""
        with self._lock:
            if name in self._values:
                mark, value = self._values[name]
                self._values[name] = (mark, change(value))

    def close(self) -> None:
        """End the work in the background."""
        self._worker.shutdown(wait=False, cancel_futures=True)
