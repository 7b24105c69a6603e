"""A project with a memory, for the files of tests that begin none of their own."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def template(begin: Callable[..., None], tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("template") / "project"
    begin(root)
    return root
