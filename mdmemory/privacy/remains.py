"""Whether a text says anything yet when its secrets are gone: a note without a fact is no note."""

from __future__ import annotations

import re
from functools import cache

from mdmemory.privacy import lexicon
from mdmemory.privacy.lexicon import SHOWN
from mdmemory.privacy.matching import CJK

MARK = re.compile(r"\[redacted:\w+\]")
LEAST = 3  # words with a meaning of their own that a clause needs

_CLAUSE = re.compile(r"[.;!?](?:\s|$)|,\s|[\n。；！？，、]|\s[–—-]\s")
_WORD = re.compile(rf"[{CJK}]+|[^\W_][^\W_'’]*")
# Words that only speak of the keeping of a fact.
_KEEPING = """
    again also always anybody anyone btw case could don't dont down else for forget fyi get got
    had has have he her here him i if it just keep kept know let lose me memorise my need
    needs note ok okay one our please remember right save share she so store sure tell that
    them there they thing things this too until us use used was way we when will would write
    yes you your
"""
_REMARKS = frozenset(_KEEPING.split())
# What a label or a lock names, without its value, says nothing; a host or a service does.
_NAMED = re.compile(rf"\[redacted:(?:{'|'.join(sorted({*SHOWN.values()}))})\]")


def says_something(text: str) -> bool:
    """Whether a redacted text states a fact besides the secrets that it had.

    A clause that a label or a lock names says nothing without its secret. A text without a mark
    says what it says.
    """
    if not MARK.search(text):
        return True
    return any(_meaning(clause) >= LEAST for clause in _CLAUSE.split(text))


def _meaning(clause: str) -> int:
    """How many words of a clause mean something by themselves; three Chinese characters are one."""
    if _NAMED.search(clause):
        return 0
    bare = MARK.sub(" ", clause)
    lower = bare.lower()
    named = lexicon.labels(bare, lower) if len(lower) == len(bare) else []
    labelled = bare != clause and any(label.kind in SHOWN for label in named)
    for label in reversed(named):
        lower = lower[: label.start] + " " + lower[label.end :]
    counted = 0.0
    for word in _WORD.findall(lower):
        if re.match(f"[{CJK}]", word):
            counted += len(_particles().sub("", word)) / 3
        elif word not in _REMARKS and word not in lexicon.not_values():
            counted += word not in lexicon.words("is") and len(word) > 1
    return int(counted) - labelled


@cache
def _particles() -> re.Pattern[str]:
    joined = {word for name in ("is", "as", "with") for word in lexicon.words(name)}
    some = sorted((word for word in joined if re.match(f"[{CJK}]", word)), reverse=True)
    return re.compile("|".join(map(re.escape, ["です", "입니다", "我的", "的", *some])))
