"""What an assistant or a person wrote into MEMORY.md that no note says. Pure.

The file is generated, and Claude Code writes lines into it all the same: one that names a note is
ours to make anew, and any other may hold knowledge.
"""

from __future__ import annotations

from collections.abc import Collection

_BULLETS = ("- ", "* ", "+ ")
_LINK, _TARGET_END = "](", ")"


def strange(text: str, known: Collection[str], ours: Collection[str] = ()) -> list[str]:
    """The lines of an index that say what no note says: `known` are the files of all notes, of now
    and before, `ours` the lines of an index that we made. Headings, comments and quoted lines say
    nothing; a line that names a file which never was says what its note would."""
    from urllib.parse import unquote

    def speaks(line: str) -> bool:
        if not line.startswith(_BULLETS):
            return bool(line) and not line.startswith(("#", ">", "<!--", "---"))
        target = line.partition(_LINK)[2].partition(_TARGET_END)[0]
        return unquote(target).rpartition("/")[2] not in known

    lines = (line.strip() for line in text.removeprefix("\ufeff").splitlines())
    return [line for line in lines if line not in ours and speaks(line)]
