"""When two texts state the same fact. Pure; knows nothing of notes or files."""

from __future__ import annotations

import re
import unicodedata

_URL = re.compile(r"https?://[^\s<>\"'`)\]}，。；、）】]+")
# Letters, digits and combining marks stay; everything else separates words.
_SEPARATORS = re.compile(r"[\W_]+")


def canonical(text: str) -> str:
    """The key under which a fact is known: NFKC, lower case, and each run of punctuation or space
    one space. Texts with equal keys are the same fact. "" for text without letters or digits.

    A minus before a digit and a decimal point stay, so that -1 is not 1 and 1.5 is not 1 5.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = re.sub(r"(?<=\d)\.(?=\d)", "\ue000", folded)
    kept = re.sub(r"(?<!\S)-(?=\d)", "\ue001", kept)
    words = _SEPARATORS.sub(_space_or_keep, kept)
    return words.replace("\ue000", ".").replace("\ue001", "-").strip()


def _space_or_keep(run: re.Match[str]) -> str:
    """A space for a run of separators, with the marks of numbers kept in their places."""
    return re.sub(r"[^\ue000\ue001]+", " ", run[0])


def identity(text: str) -> str:
    """What a pointer points to: its first http(s) URL with the host lower, without fragment and
    closing slash, the query kept; "" without a URL."""
    found = _URL.search(text)
    if not found:
        return ""
    scheme, _, rest = found[0].rstrip(".,;:!?").partition("://")
    host, slash, path = rest.partition("#")[0].partition("/")
    return f"{scheme}://{host.lower()}{slash}{path}".rstrip("/")
