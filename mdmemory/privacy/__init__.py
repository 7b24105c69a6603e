"""What is private or secret in a text, and how it is taken out. Knows text alone."""

from __future__ import annotations


def is_secret(text: str) -> bool:
    """Whether a text holds what looks like a secret."""
    from mdmemory.privacy.redaction import has_secret  # loads the tables: only where it is needed

    return has_secret(text)


def redacted_text(text: str) -> str:
    """A text with a mark in place of each secret."""
    from mdmemory.privacy.redaction import redact

    return redact(text)[0]
