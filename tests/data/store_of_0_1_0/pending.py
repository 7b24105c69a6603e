"""Lets 0.1.0 keep one fact that lacks proof, as an extraction with a model leaves it."""

import sys
from pathlib import Path

from mdmemory.capture.pending import Waiting, put
from mdmemory.store.state import State

project = Path(sys.argv[1])
fact = Waiting(
    type="project",
    kind="",
    name="customs-papers",
    description="Customs papers are printed twice",
    body="Customs papers are printed twice.",
    session="ses_two",
    since="2026-11-21",
    reasons=("no quote of the user proves it",),
)
with State(project / ".mdmemory" / "state.db") as state:
    put(state, [fact], "2026-11-21")
