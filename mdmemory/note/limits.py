"""The limits of a note: keys, names, lengths, characters. Each check raises BadNote."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from mdmemory.errors import BadNote

TOP_KEYS = ("name", "description", "title")
METADATA_KEYS = (
    *("type", "kind", "source", "importance", "created", "updated", "reinforced"),
    *("last_reinforced", "session", "turn", "status", "quote", "superseded_by", "superseded"),
    "secrets",
)
ALIASES = "aliases"  # at the top level, a list: Obsidian's key for other names of a note
CITES = "cites"  # under metadata, a list: the places in the project that the note speaks of
KNOWN_KEYS = frozenset((*TOP_KEYS, "metadata", *METADATA_KEYS, CITES))
# Prose, where ` #1` is a number sign and not the start of a YAML comment.
LINE_KEYS = frozenset(("description", "title"))

TYPES = ("user", "feedback", "project", "reference")
MAX_DESCRIPTION = 220  # characters
MAX_BODY = 20_000  # characters
MAX_NAME_BYTES = 80  # of UTF-8; type, hyphen and `.md` keep the file name far under 255

# Compiled at their first use: reading commands check nothing, and start quicker.
_TEXT_LINE = r"\S[^\r\n]*"
_CONTROL = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]"
_LINE_BREAK = r"[\t\n\r\u2028\u2029]"
# Unicode's Bidi_Control characters and its tag characters: both can hide text from a reader.
_HIDDEN = r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
# Letters and marks that show nothing: fillers, joiners and variation selectors.
_INVISIBLE = (
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0"
    r"\U000e0100-\U000e01ef]"
)
CONFLICT_MARKER = r"(?m)^(?:<{7}|>{7}) "


def file_name(type: str, name: str) -> str:
    """The name of the file that a note of this type and name is written to."""
    return f"{type}-{name}.md"


def slugify(text: str) -> str:
    """A name made of any text: letters and digits of every script, the rest single hyphens.

    Returns "" when nothing is left. A slug's slug is itself.
    """
    text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    text = unicodedata.normalize("NFC", re.sub(_INVISIBLE, "", text))
    text = unicodedata.normalize("NFC", text.lower())
    name = ""
    for char in text:
        category = unicodedata.category(char)[0]
        # A mark alone has nothing to stand on: its base was left out.
        if category in "LN" or (category == "M" and name and name[-1] != "-"):
            name += char
        elif name and name[-1] != "-":
            name += "-"
        if len(name) > MAX_NAME_BYTES:
            break
    return name.encode()[:MAX_NAME_BYTES].decode(errors="ignore").strip("-")


def free_name(name: str, type: str, names: Collection[str]) -> str:
    """`name`, or `name-2`, `name-3`..., so that neither it nor its file is taken.

    `names` are casefolded names and files.
    """
    candidate, number = name, 1
    while candidate.casefold() in names or file_name(type, candidate).casefold() in names:
        number += 1
        suffix = f"-{number}"
        room = name.encode()[: MAX_NAME_BYTES - len(suffix)]
        candidate = room.decode(errors="ignore").rstrip("-") + suffix
    return candidate


def check_name(name: str) -> None:
    """Raise BadNote unless `slugify` would return the name unchanged."""
    better = slugify(name)
    if not name or better != name:
        hint = f"Use {better}." if better else "Use words with hyphens, such as prefers-pnpm."
        raise BadNote(f"{name[:MAX_NAME_BYTES]!r} is not a note's name.", hint)


def check_description(text: str) -> None:
    """Raise BadNote unless this is one line of 1 to MAX_DESCRIPTION visible characters."""
    check_line("The description", text)
    if not text.strip():
        raise BadNote("The description is empty.", "Say in one line when this note is useful.")
    if len(text) > MAX_DESCRIPTION:
        raise BadNote(
            f"The description has {len(text)} characters; at most {MAX_DESCRIPTION} are allowed.",
            "Shorten it, and keep the details in the body.",
        )


def check_body(text: str) -> None:
    """Raise BadNote for a body that is empty, too long, or could not be read back as a body."""
    if not text.strip():
        raise BadNote("The body is empty.", "Write the fact down in a sentence or two.")
    if len(text) > MAX_BODY:
        raise BadNote(
            f"The body has {len(text)} characters; at most {MAX_BODY} are allowed.",
            "Split it into several notes.",
        )
    if re.search(_CONTROL, text):
        raise BadNote("The body holds control characters.", "Write it as plain text.")
    first = re.search(_TEXT_LINE, text)
    if first and first[0].rstrip() == "---":
        raise BadNote("The body begins with a `---` line.", "Begin it with a sentence.")
    if re.search(CONFLICT_MARKER, text):
        raise BadNote("The body holds git conflict markers.", "Resolve the conflict first.")


def check_line(what: str, text: str) -> None:
    """Raise BadNote, naming `what`, unless this is one line of visible characters."""
    if re.search(_LINE_BREAK, text):
        raise BadNote(f"{what} is more than one line.", "Write it as one line, without tabs.")
    if re.search(_CONTROL, text):
        raise BadNote(f"{what} holds control characters.", "Write it as plain text.")
    if re.search(_HIDDEN, text):
        raise BadNote(f"{what} holds invisible direction or tag characters.", "Take them out.")
