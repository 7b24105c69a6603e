"""A server that speaks as those of models do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fake_server import FakeServer


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as running:
        yield running
