"""Why a message would, or would not, be remembered."""

from __future__ import annotations

from typing import Any

from mdmemory import bounds
from mdmemory.capture.fact import form_reasons
from mdmemory.capture.notice import notice_wishes, without_unwanted
from mdmemory.capture.stores import Stores
from mdmemory.privacy.private import strip_private
from mdmemory.privacy.redaction import redact
from mdmemory.search.near import NEAREST, near_notes
from mdmemory.store.superseding import in_force
from mdmemory.text.similarity import likeness_of
from mdmemory.text.words import word_keys


def explain_message(text: str, stores: Stores) -> dict[str, Any]:
    """What a message shows: `noticed` is explicit, perhaps or "", `wish` the facts that it asks to
    remember, `gate` the verdict on its form, as if a model proposed it, `near` notes near it."""
    visible, blocks = strip_private(bounds.beginning_of(text))
    remainder, unwanted = without_unwanted(visible)
    shown, kinds = redact(remainder)
    noticed = notice_wishes(shown)
    reasons = form_reasons(shown)
    return {
        "text": shown,
        "private_removed": blocks + unwanted,
        "redacted": kinds,
        "noticed": "explicit" if noticed.wishes else "perhaps" if noticed.perhaps else "",
        "wish": [*noticed.wishes],
        "gate": {"accepted": not reasons, "reasons": [*reasons]},
        "near": _near_notes(shown, stores),
    }


def _near_notes(text: str, stores: Stores) -> list[dict[str, object]]:
    words = {*word_keys(text)}
    content = []
    for source in stores.sources():
        for note in in_force(near_notes(source.writer.refresher)(text))[:NEAREST]:
            rows = f"{note.note.head.description}\n{note.note.body}"
            content.append({
                "file": f"{source.prefix}{note.file}", "description": note.note.head.description,
                "score": round(likeness_of(words, {*word_keys(rows)}), 2),
            })  # fmt: skip
    return content
