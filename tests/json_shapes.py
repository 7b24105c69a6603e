"""The shapes of JSON that scripts may rely on, as far as several tests ask for them."""

from typing import Any

WORD = str | None
EXPLAIN = {
    "text": str, "private_removed": int, "redacted": [str], "noticed": str, "wish": [str],
    "gate": {"accepted": bool, "reasons": [str]},
    "near": [{"file": str, "description": str, "score": float}], "recalled": [str],
}  # fmt: skip
EXTRACT = {
    "added": [str], "updated": [str], "reinforced": [str], "flagged": [str],
    "superseded": [{"file": str, "by": str, "text": str, "new": str}], "pending": [str],
    "dropped": [{"text": str, "reasons": [str]}], "id": WORD, "commit": WORD, "watermark": str,
    "unread": int, "older": int, "passed_over": int, "unreadable": int, "torn": int,
}  # fmt: skip


def fit(value: Any, shape: Any, where: str = "answer") -> None:
    """Exactly these keys, all the way down, and values of exactly these types."""
    if isinstance(shape, dict):
        assert isinstance(value, dict), where
        assert set(value) == set(shape), where
        for key, inner in shape.items():
            fit(value[key], inner, f"{where}.{key}")
    elif isinstance(shape, list):
        assert type(value) is list, where
        for item in value:
            fit(item, shape[0], f"{where}[]")
    else:
        assert isinstance(value, shape), where
        assert type(value) is not bool or shape is bool, where
