"""How text is spelled for the full-text table, and which words say nothing. Pure.

The table splits at spaces only what has spaces, so CJK goes in as pairs of characters; and a link
to a note must not make a text a better answer than that note.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
# Left to be compiled where there is such a text (`re` keeps them): they take 2 ms each.
_RUN = f"[{CJK}]+"
_WORD = rf"[^\W_{CJK}]+"
_PLAIN_WORD = re.compile(r"[^\W_]+")
_HUMPS = re.compile(r"\b[a-z][a-z0-9]+(?:[A-Z][a-z0-9]*)+")
_LINK = re.compile(r"\[\[([^\[\]\n|]{1,200})(?:\|[^\[\]\n]*)?\]\]")

_STOP = (
    "a about after again all also am an and any are as at be because been before being but by can"
    " could did do does doing done for from get go got had has have having he her here him his how"
    " i if in into is it its itself just let like me more most my no not of off on once one only"
    " or our out over please shall she should so some such than that the their them then there"
    " these they this those through to too under until up us use used using user very was we were"
    " what when where which while who whom whose why will with would you your yours s t d ll m re"
    " ve don doesn didn isn aren wasn won wouldn shouldn couldn"
)
STOP = frozenset(_STOP.split())
# Words of asking and doing: an answer mostly lacks them, so their absence says little.
_LIGHT = (
    "actually always another answer best better big call called choose chosen come day decide"
    " decided decision different ever exactly explain fact find give good happen happened help"
    " keep kind know last long look made main make many mean much need never new now number often"
    " okay old pick picked prefer preferred put question recommend remember right run say said see"
    " set show start stop still sure take talk tell thing things think time told try usually want"
    " way week work year"
)
LIGHT = frozenset(_LIGHT.split())
# The same in Chinese and Japanese; a query is split at them.
_GRAMMAR = (
    "我们|你们|他们|什么时候|多长时间|什么|怎么样|怎么|怎样|如何|为什么|哪个|哪些|哪里|哪儿|哪家|多少|多久|"
    "能不能|请问|可以|应该|需要|有没有|是不是|用户|谁|几|个|吗|呢|吧|啊|的|了|是|在|和|与|或|我|你|他|她|它|"
    "要|会|有|用|把|被|"
    "ですか|ますか|でした|ました|です|ます|する|して|した|どの|どう|どこ|なに|何|いつ|だれ|誰|なぜ|"
    "は|が|を|に|で|と|の|も|へ|か"
)
# What developers write short, and what it is short for: either finds the other.
_SHORT = (
    "auth authentication|auth authorization|config configuration|db database|dep dependency|"
    "deps dependencies|dev development|dir directory|doc documentation|docs documentation|"
    "env environment|golang go|infra infrastructure|js javascript|k8s kubernetes|lib library|"
    "perf performance|postgres postgresql|pr pull request|prod production|repo repository|"
    "ts typescript|var variable"
)
SYNONYMS: dict[str, tuple[tuple[str, ...], ...]] = {}  # of a word, each a run of words
for _pair in _SHORT.split("|"):
    _short, _, _whole = _pair.partition(" ")
    SYNONYMS[_short] = (*SYNONYMS.get(_short, ()), tuple(_whole.split()))
    SYNONYMS[_whole] = (*SYNONYMS.get(_whole, ()), (_short,))


def words(text: str) -> Iterator[re.Match[str]]:
    """The words of a text in scripts that have spaces."""
    return (_PLAIN_WORD if text.isascii() else re.compile(_WORD)).finditer(text)


def parts(text: str) -> list[str]:
    """All words of a text, CJK character by character."""
    return (_PLAIN_WORD if text.isascii() else re.compile(f"[{CJK}]|{_WORD}")).findall(text)


def run(text: str) -> tuple[str, ...]:
    """The words of a phrase one after the other, as the full-text table holds them."""
    found: list[str] = []
    for part in re.findall(f"{_RUN}|{_WORD}", text):
        found += pairs(part) if re.match(_RUN, part) else [part.casefold()]
    return tuple(found)


def normal(text: str) -> str:
    """One form for each character: full-width letters become plain ones."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def spelled(text: str) -> str:
    """Text for the full-text table: CJK in pairs, `camelCase` also in its parts."""
    text = _HUMPS.sub(_with_parts, normal(text))
    return text if text.isascii() else re.sub(_RUN, _in_pairs, text)


def unlinked(text: str) -> tuple[str, str]:
    """A text without the names in its [[links]], and these names."""
    if "[[" not in text:
        return text, ""
    names = " ".join(match[1] for match in _LINK.finditer(text))
    return _LINK.sub(" ", text), names


def pairs(run: str) -> list[str]:
    """A run of CJK characters as overlapping pairs."""
    return [run[at : at + 2] for at in range(max(1, len(run) - 1))]


def pieces(text: str) -> list[str]:
    """The runs of CJK in a query that carry meaning: split at words of grammar, if any is left."""
    if text.isascii():
        return []
    runs = re.findall(_RUN, text)
    split = [piece for run in runs for piece in re.split(_GRAMMAR, run) if piece]
    return [piece for piece in split if len(piece) > 1] or split or runs


def _in_pairs(run: re.Match[str]) -> str:
    # the last character for itself, so that each begins some token: one is looked for as a prefix
    return f" {' '.join(pairs(run[0]))} {run[0][-1]} " if len(run[0]) > 1 else f" {run[0]} "


def _with_parts(name: re.Match[str]) -> str:
    parts = re.sub("([A-Z])", r" \1", name[0])
    return f"{name[0]} {parts}"
