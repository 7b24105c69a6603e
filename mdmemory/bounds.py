"""How much of each kind of text from outside is looked at: the one table of such lengths.

In characters. A text is cut, or refused, before any expression runs over it. What judges it takes
time in proportion to its length, so these bound that time, too. A note's file has `MAX_FILE`.
"""

from __future__ import annotations

# What a user says in one message, or one turn of a transcript: 4,000 lines of a pasted file.
MESSAGE = 200_000
# What is judged of a failed tool's output: half of it from the beginning, half from the end.
OUTPUT = 200_000
# What an assistant or an import gives as one fact; a note's body may have a tenth of it.
FACT = 200_000
# What the assistant says in one answer, as far as decisions and open ends are looked for in it.
SAID = 40_000
# What is kept of an output as an observation is made of it.
OBSERVED = 50_000
# A model's answer with candidates for notes: it has about 2,000.
CANDIDATES = 400_000
# A model's answer on what tools showed: it has about 3,000.
OBSERVATION = 200_000
# A plan for a compaction, in bytes of UTF-8 too: the largest batch makes a tenth of it.
PLAN = 2_000_000
# A question that notes are looked for by, and what of a message is one.
QUERY = 10_000
QUERY_OF_MESSAGE = 2_000
# What of a message is read to find out what was typed of it, half from either end.
RECALLED_FOR = 8_000

_NEW_LINE = "\n"


def beginning_of(text: str, most: int = MESSAGE) -> str:
    """The text, or of a longer one the first lines that fit into `most` characters. A line that
    would take more than half of that along is cut in itself."""
    if len(text) <= most:
        return text
    end = text.rfind(_NEW_LINE, most // 2, most)
    return text[: end if end > 0 else most]


def ends_of(text: str, most: int = OUTPUT) -> str:
    """The text, or of a longer one its first and its last lines, together at most `most`
    characters."""
    if len(text) <= most:
        return text
    half = (most - 1) // 2
    _, _, last = text[-half:].partition(_NEW_LINE)
    return f"{beginning_of(text, half)}\n{last or text[-half:]}"
