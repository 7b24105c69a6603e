"""How often a law is tried: in full by `make test`, a quarter of it by `make quick`."""

from __future__ import annotations

from hypothesis import settings

USUAL = 100  # hypothesis' own number of examples


def scaled(examples: int) -> int:
    """`examples` as the profile that `conftest.py` loaded scales them."""
    return max(1, examples * settings.default.max_examples // USUAL)
