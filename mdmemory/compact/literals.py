"""The literals of a text: what a compaction must neither lose nor invent.

Numbers (with dates and versions), URLs, mail addresses, paths, code spans, `Why:` lines and
[[links]], compared as whole tokens. Pure text in, sets of tokens out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence

_END = ".,;:!?…"  # punctuation that follows a literal, not part of it
_URL = re.compile(r"https?://[^\s<>\"'`)\]，。；：！？、）」』】》]+", re.IGNORECASE)
_MAIL = re.compile(r"[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
# Rooted, or ending in a file name with an extension: "and/or" is prose.
_PATH = re.compile(
    r"(?<![\w/:.~])(?:(?:~|\.{1,2})?/[\w@+~-][\w.@+~-]*(?:/[\w.@+~-]+)*/?"
    r"|[\w.@+-]+(?:/[\w.@+-]+)*/[\w@+-]+\.[A-Za-z]\w*)",
    re.ASCII,
)
_NUMBER = re.compile(r"(?<![0-9])[0-9]+(?:[.,:/-][0-9]+)*(?![0-9])")
_ORDINAL = re.compile(r"(?m)^[ \t]*[0-9]+[.)](?=[ \t])")  # the number of a list item: form
_WHY = re.compile(r"(?mi)^[ \t>*_-]*why[*_]*\s*[:：][*_ \t]*(.+)$")
_LINK = re.compile(r"\[\[([^\[\]|#\n]+)(?:[|#][^\[\]\n]*)?\]\]")


def links(text: str) -> set[str]:
    """The names that a text links to as [[name]], folded as `fold` does."""
    return {fold(name) for name in _LINK.findall(text)}


def fold(name: str) -> str:
    """A name as links compare it: composed, without case, without `.md`."""
    return unicodedata.normalize("NFC", name).strip().casefold().removesuffix(".md")


def tokens(text: str) -> set[str]:
    """Every literal of a text but its `Why:` lines, each as it is compared."""
    text = unicodedata.normalize("NFC", text)
    marked = {match.rstrip(_END) for form in (_URL, _MAIL, _PATH) for match in form.findall(text)}
    spans = {" ".join(span.split()) for span in _CODE.findall(text)}
    return marked | spans | set(_NUMBER.findall(text)) | {f"[[{name}]]" for name in links(text)}


def audit(
    sources: Sequence[str], result: str, *, merged: Collection[str] = ()
) -> tuple[list[str], list[str]]:
    """What `result` lost of the source texts, and what it holds that none of them has.

    `merged` are the names of the sources: links among them may go, for they are one note now.
    """
    loose_sources = set().union(*map(tokens, sources))
    own = {f"[[{fold(name)}]]" for name in merged}
    kept = tokens(result)
    lost = set().union(*(tokens(_plain(text)) for text in sources)) - kept - own
    invented = tokens(_plain(result)) - loose_sources
    # A neighbour can change how a line is cut ("`" left open, words joined to a path).
    lost = {token for token in lost if not _stands(token, result)}
    invented = {token for token in invented if not any(_stands(token, text) for text in sources)}
    return sorted(lost | _lost_reasons(sources, result)), sorted(invented)


def _plain(text: str) -> str:
    return _ORDINAL.sub("", text)


def _stands(token: str, text: str) -> bool:
    """Whether the token stands in the text with no letter or digit touching it."""
    if _NUMBER.fullmatch(token) or token.startswith("[["):
        return False  # these are cut the same way everywhere
    edged = rf"(?<![\w./-]){re.escape(token)}(?![\w/-]|\.\w)"
    return re.search(edged, unicodedata.normalize("NFC", text)) is not None


def _lost_reasons(sources: Sequence[str], result: str) -> set[str]:
    whole = _folded(result)
    return {
        f"Why: {reason.strip()}"
        for text in sources
        for reason in _WHY.findall(text)
        if _folded(reason) not in whole
    }


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(_END)
