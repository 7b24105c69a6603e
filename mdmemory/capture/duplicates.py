"""When two texts state the same fact. Pure; knows nothing of notes or files."""

from __future__ import annotations

import re
import unicodedata

_URL = re.compile(r"https?://[^\s<>\"'`)\]}，。；、）】]+")
_MARK = re.compile(r"[\W_]")


def canonical(text: str) -> str:
    """The key under which a fact is known: NFKC, lower case, and each run of punctuation or space
    one space. Texts with equal keys are the same fact. "" for text without letters or digits.

    What tells facts apart stays: accents and vowel signs, pictures and currencies, the point and
    the minus of a number, and the end of a name such as C++ or C#.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(_MARK.sub(_kept, folded).split())


def _kept(mark: re.Match[str]) -> str:
    """The character, where it tells facts apart; else a space."""
    char, text = mark[0], mark.string
    before, after = text[max(0, mark.start() - 1) : mark.start()], text[mark.end() : mark.end() + 1]
    if char == ".":
        telling = before.isdigit() and after.isdigit()
    elif char == "-":
        telling = after.isdigit() and not before.strip()
    elif char in "+#":
        telling = text[max(0, mark.start() - 4) : mark.start()].rstrip("+#")[-1:].isalnum()
    else:
        telling = unicodedata.category(char) in ("Mn", "Mc", "Me", "So", "Sc")
    return char if telling else " "


def identity(text: str) -> str:
    """What a pointer points to: its first http(s) URL with the host lower, without fragment and
    closing slash, the query kept; "" without a URL."""
    found = _URL.search(text)
    if not found:
        return ""
    scheme, _, rest = found[0].rstrip(".,;:!?").partition("://")
    host, slash, path = rest.partition("#")[0].partition("/")
    return f"{scheme}://{host.lower()}{slash}{path}".rstrip("/")
