"""Work that takes longer than a page may: it runs beside them, and its page asks for it again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mdmemory.errors import MdmemoryError

_SOON = 0.05  # seconds in which most work of a small store is done


@dataclass
class Job:
    """Work under way or done: `value` is what came of it, `problem` why nothing did. `step` says
    how far it is."""

    begun: float
    value: Any = None
    problem: MdmemoryError | None = None
    is_done: bool = False
    step: str = ""

    @property
    def seconds(self) -> int:
        """How long it has been under way."""
        return int(time.monotonic() - self.begun)


class Jobs:
    """One job of each name at a time; the last one's outcome stays."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, Job] = {}

    def get(self, name: str) -> Job | None:
        """The job of this name, or None."""
        with self._lock:
            return self._known.get(name)

    def begin(self, name: str, work: Callable[[Job], Any], soon: float = _SOON) -> Job:
        """Begin a job unless one of its name is under way, and wait for it a moment."""
        with self._lock:
            known = self._known.get(name)
            if known is not None and not known.is_done:
                return known
            job = self._known[name] = Job(time.monotonic())
        thread = threading.Thread(
            target=_run, args=(job, work), name=f"mdmemory-{name}", daemon=True
        )
        thread.start()
        thread.join(soon)
        return job

    def forget(self, name: str) -> None:
        """Forget what came of a job."""
        with self._lock:
            self._known.pop(name, None)


def _run(job: Job, work: Callable[[Job], Any]) -> None:
    try:
        job.value = work(job)
    except MdmemoryError as problem:
        job.problem = problem
    except Exception as problem:  # noqa: BLE001 - its page has to say that it ended
        job.problem = MdmemoryError(f"It failed unexpectedly ({type(problem).__name__}).")
    finally:
        job.is_done = True
