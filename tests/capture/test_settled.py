"""Text is judged while no lock is held, and what was judged is written only if it still holds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mdmemory import Memory
from mdmemory.capture import asked, judge, run, settling
from mdmemory.capture.imports import run as imports
from mdmemory.errors import Busy
from mdmemory.llm.answer import outside_locks

NOW = datetime(2026, 6, 20, 12, tzinfo=UTC)
SAID = "Remember: release notes are written in British English"


@pytest.fixture
def memory(repository: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    Memory.init(repository)
    monkeypatch.chdir(repository)
    return Memory.open(repository, clock=lambda: NOW)


def add(memory: Memory, name: str) -> None:
    memory.add(name, type="project", description=f"About {name}", body=f"All about {name}.")


def without_locks(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, calls: list[str]
) -> None:
    """Have a function refuse to work while the store is locked."""
    real: Callable[..., object] = getattr(module, name)

    def checked(*given: Any, **named: Any) -> object:
        outside_locks()
        calls.append(name)
        return real(*given, **named)

    monkeypatch.setattr(module, name, checked)


def test_no_text_is_judged_while_the_store_is_locked(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls: list[str] = []
    without_locks(monkeypatch, asked, "find", calls)
    without_locks(monkeypatch, run, "propose", calls)
    without_locks(monkeypatch, judge, "heard", calls)
    without_locks(monkeypatch, imports, "judge", calls)
    assert memory.keep(SAID, session="ses_1", turn="m1").added
    memory.summary("ses_1", "Memory candidates:\n- [project] Deploys run on Tuesdays.", [])
    log = "User: remember: deploys run on Tuesdays, after the stand-up\n\nAssistant: Stored.\n"
    assert memory.extract(log.encode()).added
    facts = tmp_path / "facts.md"
    facts.write_text("- The staging server is rebuilt every night at three.\n", "utf-8")
    assert memory.import_from(facts, dry_run=False).added
    assert set(calls) == {"find", "propose", "heard", "judge"}


def test_what_was_judged_against_other_notes_is_judged_again(memory: Memory) -> None:
    seen: list[int] = []

    def judged() -> int:
        seen.append(len(memory.notes()))
        if len(seen) == 1:
            add(memory, "deploys")
        return seen[-1]

    assert settling.judged_first(memory._writer(), judged, lambda count: count) == 1
    assert seen == [0, 1]


def test_where_the_notes_never_stay_nothing_is_written(memory: Memory) -> None:
    numbers = iter(range(99))

    def judged() -> None:
        add(memory, f"rule-{next(numbers)}")

    def write(_: None) -> None:
        raise AssertionError("it was judged against other notes")

    with pytest.raises(Busy, match="again and again"):
        settling.judged_first(memory._writer(), judged, write)
    assert next(numbers) == settling.TRIES
