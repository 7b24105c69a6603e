"""The demo's notes with a life: a project's store and a person's own, in which something waits.

`make demo-web` opens it, and the tests in a browser use it. All by calls of the facade, at fixed
times.
"""

import os
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mdmemory import Memory, assets
from mdmemory.capture.extracted import Caller
from mdmemory.capture.fact import FactCall
from mdmemory.capture.pending import PendingFact, put_facts
from mdmemory.session import recalls
from mdmemory.store import evidence
from mdmemory.store.evidence import Evidence

SESSION = "ses_e047ee0a6ffeUuUl8bq9XYbJNL"
FIRST = datetime(2026, 6, 20, 9, 0, tzinfo=UTC)
_GIT = (
    ("init", "-q", "-b", "main", "--template="), ("config", "user.name", "Sam Reed"),
    ("config", "user.email", "sam@example.com"), ("commit", "-q", "--allow-empty", "-m", "first"),
)  # fmt: skip
# what was said later, in the order in which it is stored: name, type, kind, description, body
_NOTES = (
    ("staging-address", "reference", "", "Staging is reached at staging.internal:8443",
     "Staging is reached at staging.internal:8443, behind the VPN.\n\nSee [[monorepo-layout]]."),
    ("api-versioning", "project", "decision", "The public API is versioned by date, not by number",
     "The public API is versioned by date (`2026-06-01`), not by number.\n\n"
     "Why: clients pin a day, and we keep each version for a year.\n\n"
     "| version | until |\n|---|---|\n| `2025-12-01` | 2026-12-01 |\n"
     "| `2026-06-01` | 2027-06-01 |"),
    ("release-day", "project", "", "Releases go out on Tuesdays before noon",
     "Releases go out on Tuesdays before noon, so that the day is left to look after them."),
    ("review-size", "feedback", "", "Keep pull requests under 400 lines",
     "Keep pull requests under 400 lines.\n\nWhy: the last large one was merged unread.\n\n"
     "- split by room, see [[monorepo-layout]]\n- moves go alone"),
)  # fmt: skip
_PERSONS = (
    ("short-answers", "Wants short answers, with the command first", "Short answers."),
    ("works-from-lisbon", "Works from Lisbon, on UTC+1 in summer", "Works from Lisbon."),
)

_PENDING = (
    ("project", "invoice-numbers", "Invoice numbers restart at 1 each January",
     "invoice numbers start over in January, right?", "question"),
    ("feedback", "no-weekend-deploys", "Never deploys on a weekend",
     "let's not deploy on a weekend again", "unclear"),
)  # fmt: skip


def make(folder: Path) -> Memory:
    """Make the project and both stores in an empty folder; its `home` is that of the person."""
    project, home = folder / "billing", folder / "home"
    project.mkdir(parents=True)
    home.mkdir()
    for words in _GIT:
        subprocess.run(["git", "-C", str(project), *words], check=True, env=_environment(home))
    layers = _opened(project, home, FIRST)
    memory = layers.for_type("project")
    for note in sorted(assets.asset_path("templates/demo/notes").glob("*.md")):
        shutil.copy(note, memory.project.store)
    memory.index()
    memory.adopt()
    transcript = assets.asset_path("templates/demo/transcript.json").read_bytes()
    layers.extract(transcript)
    _add_notes(project, home)
    _let_wait(project, home)
    return _opened(project, home, FIRST + timedelta(days=9))


def environment(folder: Path) -> dict[str, str]:
    """The variables by which the program finds the stores that `make` made in a folder."""
    return _environment(folder / "home")


def _environment(home: Path) -> dict[str, str]:
    return {
        "HOME": str(home), "PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1", "MDMEMORY_HOME": str(home / "mdmemory"),
        "XDG_CONFIG_HOME": str(home / "config"), "XDG_STATE_HOME": str(home / "state"),
    }  # fmt: skip


def _opened(project: Path, home: Path, at: datetime) -> Memory:
    return Memory.around(
        project, environment=_environment(home), holder="the demo", clock=lambda: at
    )


def _add_notes(project: Path, home: Path) -> None:
    for number, (name, type, kind, description, body) in enumerate(_NOTES):
        layers = _opened(project, home, FIRST + timedelta(days=number + 1, hours=number))
        layers.add(
            name, type=type, kind=kind, description=description, body=body, source="explicit"
        )
    for name, description, body in _PERSONS:
        layers.add(name, type="user", description=description, body=body, source="explicit")
    memory = layers.main
    stored = memory.note("staging-address")
    body = stored.note.body.replace("8443", "9443")
    memory.edit(stored.file, description="Staging is reached at staging.internal:9443", body=body)


def _let_wait(project: Path, home: Path) -> None:
    """What waits for a person, and what a session left."""
    layers = _opened(project, home, FIRST + timedelta(days=8))
    memory, now = layers.main, FIRST + timedelta(days=8)
    memory.compact(offline=True)
    same = memory.note("review-size").note.text.replace("name: review-size", "name: small-changes")
    (memory.project.store / "feedback-small-changes.md").write_text(same, encoding="utf-8")
    memory.index()
    memory.adopt()
    fact = "The nightly backup of the billing database runs at 02:30 UTC"
    memory.store(FactCall(fact, "reference"), Caller(SESSION))
    facts = [
        PendingFact(type, "", name, text, text, SESSION, "2026-06-27", (why,), quote)
        for type, name, text, quote, why in _PENDING
    ]
    with memory.state() as state:
        put_facts(memory.project, state, facts, "2026-06-27")
        evidence.record_evidence(state, [
            Evidence(SESSION, "model", "pending", ("question",), facts[0].description),
            Evidence(SESSION, "model", "pending", ("unclear",), facts[1].description),
            Evidence(SESSION, "model", "dropped", ("momentary",), "The tests of totals.py fail now",
                     ("project-release-day.md",)),
            Evidence(SESSION, "model", "dropped", ("too_short",), "Round up"),
        ], now)  # fmt: skip
        recalls.add(state, SESSION, "msg_2", {"project-postgres-for-billing.md": 48,
                                              "me/user-short-answers.md": 21}, now)  # fmt: skip
