"""The text of a note as a page shows it: markdown whose HTML is escaped and whose links are few.

A link leads to a page of the web, to an address of mail, or to another note; pictures are not
loaded. A note of another program is no more trusted than any text from outside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from markupsafe import Markup

from mdmemory import unseen

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

MOST = 40_000  # characters that are rendered; a longer text is shown as it stands
_NEST = 12  # lists and quotes inside each other
_SAFE = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x1f\x7f]+", re.IGNORECASE)
_FILE = re.compile(r"(?:\./)?([^/\\:?#]+)\.md(?:#.*)?")
_WIKI = re.compile(
    r"\[\[[ \t]*([^\[\]|#\n]{1,200})(?:#[^\[\]|\n]{0,200})?(?:\|([^\[\]\n]{1,200}))?\]\]"
)

Leads = Callable[[str], str | None]


def render(text: str, leads: Leads) -> Markup:
    """A note's body as HTML. `leads` gives the address of the note that a name means, or None."""
    text = unseen.shown_text(text)
    if len(text) > MOST:
        return Markup('<pre class="plain">{}</pre>').format(text)
    reader = _reader()
    tokens = reader.parse(text, {"leads": leads})
    _restrict(tokens, leads)
    return Markup(reader.renderer.render(tokens, reader.options, {}))


@cache
def _reader() -> MarkdownIt:
    from markdown_it import MarkdownIt

    options = {"html": False, "linkify": False, "typographer": False, "maxNesting": _NEST}
    reader = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    reader.disable(["html_block", "html_inline", "image"])
    reader.inline.ruler.before("link", "note_link", _note_link)
    return reader


def _note_link(state: StateInline, silent: bool) -> bool:
    """[[name]] and [[name|what is shown]]: a link where there is such a note, else as it stands."""
    if not state.src.startswith("[[", state.pos):
        return False
    match = _WIKI.match(state.src, state.pos)
    if match is None:
        return False
    name, shown = match[1].strip(), (match[2] or match[1]).strip()
    target = state.env["leads"](name)
    if not silent:
        if target is None:
            token = state.push("text", "", 0)
            token.content = shown
        else:
            opening = state.push("link_open", "a", 1)
            opening.attrs, opening.meta = {"href": target}, {"is_ours": True}
            state.push("text", "", 0).content = shown
            state.push("link_close", "a", -1)
    state.pos = match.end()
    return True


def _restrict(tokens: Sequence[Token], leads: Leads) -> None:
    """Let headings begin below the page's own, and links lead only where they may."""
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
        links: list[bool] = []
        for child in token.children or ():
            if child.type == "link_open":
                links.append(_lead(child, leads))
                keep = links[-1]
            elif child.type == "link_close":
                keep = links.pop()
            else:
                continue
            if not keep:
                child.type, child.nesting, child.content = "text", 0, ""


def _lead(link: Token, leads: Leads) -> bool:
    """Whether a link may stay; its target and what a browser sends along are set."""
    if link.meta.get("is_ours"):
        return True
    href = str(link.attrs.get("href", ""))
    if match := _FILE.fullmatch(unquote(href)):
        target = leads(match[1])
        link.attrs = {"href": target} if target else {}
        return target is not None
    if not _SAFE.fullmatch(href):
        return False
    link.attrs = {"href": href, "rel": "noopener noreferrer nofollow"}
    return True
