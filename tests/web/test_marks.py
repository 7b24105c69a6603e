"""What a sentence of ours looks like on a page."""

from __future__ import annotations

import pytest

from mdmemory.web.marks import commands


@pytest.mark.parametrize(
    ("sentence", "page"),
    [
        ("None is connected.", "None is connected."),
        ("Run `mdmemory setup`.", "Run <code>mdmemory setup</code>."),
        ("`a` or `b`", "<code>a</code> or <code>b</code>"),
        ("half a `span", "half a `span"),
        ("`<b>` & <i>", "<code>&lt;b&gt;</code> &amp; &lt;i&gt;"),
        ("`<b> & x", "`&lt;b&gt; &amp; x"),
        ("", ""),
    ],
)
def test_a_command_is_shown_as_code_and_nothing_becomes_markup(sentence: str, page: str) -> None:
    assert str(commands(sentence)) == page
