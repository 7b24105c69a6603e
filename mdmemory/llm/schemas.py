"""JSON schemas of the answers of models, in the subset that strict endpoints accept: every field is
required, no other is allowed, none is null. "" means that a field does not apply."""

from __future__ import annotations

from mdmemory.llm.answer import Schema
from mdmemory.note.limits import TYPES

_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_TYPE: Schema = {"type": "string", "enum": list(TYPES)}


def _object(**fields: Schema) -> Schema:
    return {
        "type": "object", "properties": fields, "required": list(fields),
        "additionalProperties": False,
    }  # fmt: skip


def _word(*words: str) -> Schema:
    return {"type": "string", "enum": list(words)}


# {"candidates": [...]}: facts found in a session. `kind` is "" or decision; `title` and `why` may
# be ""; `replaces` are files of notes.
CANDIDATES = _object(
    candidates={
        "type": "array",
        "items": _object(
            action=_word("add", "update", "reinforce", "flag"),
            type=_TYPE, kind=_word("", "decision"), title=_TEXT, fact=_TEXT, why=_TEXT,
            quote=_TEXT, replaces=_TEXTS,
        ),
    }
)  # fmt: skip

# {"verdicts": [...]}: whether each proposal lasts, and whether it makes what it `replaces` untrue.
# `number` is the proposal's, as a word; `untrue` is "" where it replaces nothing.
VERDICTS = _object(
    verdicts={
        "type": "array",
        "items": _object(
            number=_TEXT, reason=_TEXT, verdict=_word("lasting", "moment", "unclear"),
            untrue=_word("", "yes", "no"),
        ),
    }
)  # fmt: skip

# {"verdicts": [...]}: whether a new text says what the old ones do. `what` is "" where it is ok.
READINGS = _object(
    verdicts={
        "type": "array",
        "items": _object(
            number=_TEXT, verdict=_word("ok", "lost", "added", "changed", "reversed"), what=_TEXT
        ),
    }
)

# {"ops": [...]}: a plan as compact/plan.py reads it, once blank fields are gone. Its `digests` are
# no business of a model: who asked adds those of the notes it showed.
PLAN = _object(
    ops={
        "type": "array",
        "items": {
            "anyOf": [
                _object(
                    op=_word("merge"), sources=_TEXTS, target=_TEXT, name=_TEXT, type=_TYPE,
                    description=_TEXT, body=_TEXT, reason=_TEXT,
                ),
                _object(
                    op=_word("rewrite"), file=_TEXT, description=_TEXT, body=_TEXT, reason=_TEXT
                ),
                _object(op=_word("delete"), file=_TEXT, reason=_TEXT),
                _object(op=_word("flag"), files=_TEXTS, reason=_TEXT),
            ]
        },
    }
)  # fmt: skip

# {"observations": [...]}: what uses of tools came to. `number` is the event's, `importance` 1 to 5;
# both are words, as all values here are.
OBSERVATIONS = _object(
    observations={
        "type": "array",
        "items": _object(
            number=_TEXT,
            type=_word("decision", "bugfix", "feature", "refactor", "discovery", "change"),
            title=_TEXT, narrative=_TEXT, facts=_TEXTS, concepts=_TEXTS, files=_TEXTS,
            importance=_word("1", "2", "3", "4", "5"),
        ),
    }
)  # fmt: skip

# What a session came to so far, each field a few sentences or "".
SUMMARY = _object(
    request=_TEXT, investigated=_TEXT, learned=_TEXT, completed=_TEXT, next_steps=_TEXT
)
