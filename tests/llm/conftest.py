"""A server that speaks as those of models do."""

from collections.abc import Iterator

import pytest
from fake_server import FakeServer


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as running:
        yield running
