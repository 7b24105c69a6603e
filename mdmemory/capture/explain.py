"""Why a message would, or would not, be remembered."""

from __future__ import annotations

from typing import Any

from mdmemory import bounds
from mdmemory.capture.fact import form
from mdmemory.capture.notice import notice, without_unwanted
from mdmemory.capture.stores import Stores
from mdmemory.privacy.private import strip_private
from mdmemory.privacy.redaction import redact
from mdmemory.search.near import NEAREST, near_notes
from mdmemory.store.superseding import in_force
from mdmemory.text.similarity import likeness
from mdmemory.text.words import keys


def explain(text: str, stores: Stores) -> dict[str, Any]:
    """What a message shows: `noticed` is explicit, perhaps or "", `wish` the facts that it asks to
    remember, `gate` the verdict on its form, as if a model proposed it, `near` notes near it."""
    visible, blocks = strip_private(bounds.beginning(text))
    said, unwanted = without_unwanted(visible)
    shown, kinds = redact(said)
    noticed = notice(shown)
    reasons = form(shown)
    return {
        "text": shown,
        "private_removed": blocks + unwanted,
        "redacted": kinds,
        "noticed": "explicit" if noticed.wishes else "perhaps" if noticed.perhaps else "",
        "wish": [*noticed.wishes],
        "gate": {"accepted": not reasons, "reasons": [*reasons]},
        "near": _near(shown, stores),
    }


def _near(text: str, stores: Stores) -> list[dict[str, object]]:
    words = {*keys(text)}
    found = []
    for source in stores.sources():
        for note in in_force(near_notes(source.writer.refresher)(text))[:NEAREST]:
            said = f"{note.note.head.description}\n{note.note.body}"
            found.append({
                "file": f"{source.prefix}{note.file}", "description": note.note.head.description,
                "score": round(likeness(words, {*keys(said)}), 2),
            })  # fmt: skip
    return found
