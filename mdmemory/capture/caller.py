"""Who calls on the memory in a turn: the session, and what was said in it."""

from __future__ import annotations

from typing import NamedTuple

from mdmemory.transcripts.turns import Turn


class Caller(NamedTuple):
    """The host's session and its turns, as far as the host reports them. `hears`: it reports all
    that the user types, so that a quote which is not among these turns is none."""

    session: str = ""
    turns: tuple[Turn, ...] = ()
    hears: bool = True
