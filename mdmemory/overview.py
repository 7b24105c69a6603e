"""How a store stands: what it holds and waits for, what is due, and where text is sent.

What `mdmemory status` and the page of health show, as values.
"""

from __future__ import annotations

from mdmemory.git.log import ID_TRAILER
from mdmemory.memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def of_store(memory: Memory) -> dict[str, Any]:
    """What one store holds, and what waits there."""
    from mdmemory.capture.wishes import rest_files

    by_hand = memory.unadopted()
    return {
        "store": str(memory.project.store),
        "git": memory.git_state(),
        "remote": memory.remote(),
        **memory.counts(),
        "unread": memory.unread(),
        "inbox": {
            "wishes": len(memory.kept_wishes()),
            "pending": len(memory.pending()),
            "imports": len(rest_files(memory.project.store)),
        },
        "unadopted": [
            {"file": each.file, "change": each.change, "why": each.why}
            for each in (by_hand.found if by_hand else ())
        ],
        "lost": by_hand.lost if by_hand else [],
        "waiting": [
            {
                "id": each.get(ID_TRAILER),
                "subject": each.subject,
                "files": [file for files in each.groups() for file in files],
            }
            for each in memory.waiting()
        ],
    }


def of_work(memory: Memory) -> dict[str, Any]:
    """What is due, and where text is sent."""
    from mdmemory.capture import unanswered
    from mdmemory.llm.choose import sends_to

    with memory.state() as known:
        last = known.last_pass()
        used = known.usage(memory.now().date().isoformat())
        passed = unanswered.passed_over(known)
    settings = memory.project.settings
    missing = ""  # why search goes by words although vectors are turned on
    if settings.text("search.embeddings") != "off":
        from mdmemory.search import sources  # which loads all of search

        missing = sources.meaning_trouble(settings)
    return {
        "due": memory.due(),
        "last": {"at": last.at, "outcome": last.outcome} if last else None,
        "planner": settings.text("planner"),
        "questions": settings.text("llm.questions"),
        "sends_to": sends_to(settings),
        "embeddings": {"kind": settings.text("search.embeddings"), "missing": missing},
        "tokens_today": used._asdict(),
        "passed_over": passed,
    }
