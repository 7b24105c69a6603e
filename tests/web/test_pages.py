"""The pages show what the command line shows, and each act is one of the facade's."""

from __future__ import annotations

import re

import pytest
from visiting import Visit

PATHS = (
    "/inbox", "/memory", "/memory/index", "/changes", "/changes/project/newest", "/compaction",
    "/search", "/search?q=staging", "/sessions", "/health", "/keys",
    "/note/project/reference-staging-address", "/note/project/reference-staging-address/edit",
)  # fmt: skip


def test_every_page_answers(visit: Visit) -> None:
    visitor = visit()
    for path in PATHS:
        visitor.get(path)
        assert visitor.status == 200, (path, visitor.page)
        assert "<h1" in visitor.page


@pytest.mark.parametrize(
    "path",
    ["/no", "/note/project/none", "/note/other/x", "/changes/user/zzzz", "/sessions/ses_none",
     "/inbox/edit/c-0"],
)  # fmt: skip
def test_what_is_not_there_is_one_sentence(visit: Visit, path: str) -> None:
    visitor = visit()
    visitor.get(path)
    assert visitor.status == 404
    assert "Not done" in visitor.page


def test_each_store_has_the_command_that_gives_it_a_remote(visit: Visit) -> None:
    visitor = visit()
    visitor.get("/health")
    commands = re.findall(r"<code>mdmemory( --store \S+)? sync --remote URL</code>", visitor.page)
    assert ["/me" in each for each in commands] == [False, True]
