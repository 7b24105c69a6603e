"""When two texts state the same fact. Pure; knows nothing of files."""

from __future__ import annotations

import re
import unicodedata

from mdmemory.note.limits import MAX_DESCRIPTION
from mdmemory.text.negation import negations
from mdmemory.text.words import keys

_URL = re.compile(r"(?i:https?)://[^\s<>\"'`)\]}，。；、）】]+")
# Of ASCII only these may tell facts apart by what stands around them; the others never do.
_MARK = re.compile(r"[.+#-]|[^\w\x00-\x7f]")
_BLANKS = {code: " " for code in range(128) if not chr(code).isalnum() and chr(code) not in ".+#-$"}
# A path is concrete when it is rooted, or has a file's ending: "and/or" and "24/7" are none.
_ENDING = r"[\w@+-]+(?:\.[\w-]+)*\.(?:[a-z]{1,5}\d?|[A-Z]{2,4})(?![\w/])"
_PATH = re.compile(
    r"(?<![\w/:.@+-])(?:(?:~|\.{1,2})?/[\w@.+-]+(?:/[\w@.+-]+)*/?"
    rf"|(?:[\w@.+-]+/)+{_ENDING}|(?:[\w@.+-]+/){{2,}}(?![\w/])"
    r"|[\w@+-]+\.(?:py|tsx?|jsx?|go|rs|java|rb|cpp|md|json|ya?ml|toml|css|html|sql|sh|txt|lock)\b)"
)


def canonical(text: str) -> str:
    """The key under which a fact is known: NFKC, lower case, and each run of punctuation or space
    one space. Texts with equal keys are the same fact. "" for text without letters or digits.

    What tells facts apart stays: accents and vowel signs, pictures and currencies, the point and
    the minus of a number, and the end of a name such as C++ or C#.
    """
    return " ".join(_MARK.sub(_kept, folded(text)).translate(_BLANKS).split())


def folded(text: str) -> str:
    """The text in lower case, each character in its plainest form."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


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
    closing slash, the query kept; else its first concrete path; "" without either."""
    found = _URL.search(text)
    if not found:
        path = _PATH.search(text)
        return path[0].removeprefix("./").rstrip("/.") if path else ""
    scheme, _, rest = found[0].rstrip(".,;:!?").partition("://")
    host, slash, path_ = rest.partition("#")[0].partition("/")
    return f"{scheme.lower()}://{host.lower()}{slash}{path_}".rstrip("/")


def pointer(text: str) -> str:
    """The key of a fact that says where one thing is: its URL, by `identity`, and the other words
    that tell it from others, in any order. "" for a text without a URL, with several, or that may
    deny something: no word of a person's is lost in another fact."""
    found = _URL.findall(text) if len(text) <= MAX_DESCRIPTION else []
    if len(found) != 1:
        return ""
    rest = text.replace(found[0], " ")
    about = sorted({*keys(rest)})
    return f"{identity(found[0])} {' '.join(about)}" if about and not negations(rest) else ""
