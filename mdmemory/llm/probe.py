"""Three questions with known answers, put to a model when a person chooses it.

A model that misses one is asked small questions only, for a small one merges what it should not and
answers with the examples of a long prompt.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from mdmemory import assets
from mdmemory.config.settings import Settings
from mdmemory.llm import verdicts
from mdmemory.llm.answer import Asking, Model
from mdmemory.llm.choose import COMPACT, model
from mdmemory.llm.connection import host
from mdmemory.llm.json_answer import BadAnswer
from mdmemory.llm.openai_api import HOSTED
from mdmemory.llm.schemas import READINGS
from mdmemory.store.project import Project

ALL, PAIRS = "all", "pairs"  # the values of llm.questions


# Texts, one that is to stand in their place, and whether it says the same. All made up: nothing of
# a person's is sent.
KNOWN = (
    (
        ("The shop closes at six on Fridays.", "On Fridays the shop is shut from six o'clock on."),
        "On Fridays the shop closes at six.",
        True,
    ),
    (
        ("Invoices go out on the first, and reminders follow after ten days.",),
        "Invoices go out on the first.",
        False,
    ),
    (("The lift stops at every floor but the third.",), "The lift stops at every floor.", False),
)


def choose_questions(settings: Settings, today: str) -> str | None:
    """What the model that the settings choose may be asked: ALL or PAIRS; None where they choose
    none, OpenCode's, or one of OpenAI's own, of which none is small. `today` is YYYY-MM-DD. Raises
    MdmemoryError where it cannot be asked."""
    if settings.text("planner") != "openai" or host(settings.text("openai.base_url")) == HOSTED:
        return None
    with TemporaryDirectory(prefix="mdmemory-") as folder:
        chosen = model(COMPACT, Project(Path(folder), Path(folder), settings), today, {})
        if chosen is None:
            return None
        return ALL if count_right(chosen) == len(KNOWN) else PAIRS


def count_right(candidate: Model) -> int:
    """How many of the known answers a model gives, in one question. Raises MdmemoryError."""
    ops = [
        {"number": str(number), "result": result, "sources": [*sources]}
        for number, (sources, result, _) in enumerate(KNOWN, 1)
    ]
    asking = Asking(candidate, assets.read("protocol/verify.md"))
    try:
        objects = verdicts.ask(
            asking, json.dumps({"ops": ops}), READINGS, ("number", "verdict", "what"),
            verdicts.Spent(),
        )  # fmt: skip
    except BadAnswer:
        return 0
    answers = verdicts.by_place(objects, range(len(KNOWN)), lambda word, _: word == "ok")
    return sum(answers.get(at) == is_same for at, (_, _, is_same) in enumerate(KNOWN))
