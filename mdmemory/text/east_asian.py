"""What a question in Chinese, Japanese or Korean asks for: the pairs of characters that tell.

Pure. An index has every pair of characters. A question has words of grammar between those that
tell, and Japanese shows by its three scripts, Korean by its spaces where words end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from mdmemory.text import korean
from mdmemory.text.stop_words import east_asian, listed_words
from mdmemory.text.words import CJK, char_grams

LIGHT = 0.3  # of a word counts that may be one by chance
_RUNS = re.compile(f"[\uac00-\ud7a3]+|(?:(?![\uac00-\ud7a3])[{CJK}])+")
_KANA = re.compile("[\u3040-\u30ff]")
# Han with what Japanese verbs have behind it, words of foreign origin, and the rest.
_JAPANESE = re.compile(
    "(?P<han>[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+)|(?P<foreign>[\u30a0-\u30ff]+)"
    "|(?P<own>[\u3040-\u309f]+)"
)
_PARTICLES = "はがをにでとのもへやかよねなさ"


class Piece(NamedTuple):
    """A pair of characters to look for, or one alone: whatever begins with it, if `is_prefix`.
    `weight` is what its absence says, from 0 to 1."""

    text: str
    weight: float = 1.0
    is_prefix: bool = False


def asked_pieces(text: str) -> list[Piece]:
    """The pieces of a question, each once, those that tell the most first; all pairs where none
    of them tells."""
    runs: list[str] = _RUNS.findall(text)
    read = _japanese_pieces if _KANA.search(text) else _chinese_pieces
    pieces_found: dict[str, Piece] = {}
    for run in runs:
        for piece in (_korean_pieces if korean.is_korean(run) else read)(run):
            known = pieces_found.get(piece.text)
            if known is None or known.weight < piece.weight:
                pieces_found[piece.text] = piece
    if not any(piece.weight for piece in pieces_found.values()):
        pieces_found = {gram: _lone_piece(gram) for run in runs for gram in char_grams(run)}
    return sorted(pieces_found.values(), key=lambda piece: -piece.weight)


def _lone_piece(gram: str) -> Piece:
    return Piece(gram) if len(gram) > 1 else Piece(gram, LIGHT, is_prefix=True)


def _chinese_pieces(run: str) -> Iterator[Piece]:
    """The pairs outside words of grammar. One with a sign that is only mostly grammar makes a text
    better, and says nothing where it is missing."""
    marks = bytearray(len(run))  # 1: may be grammar, 2: is
    at = 0
    kept_pairs, stop = east_asian("zh", "kept"), east_asian("zh", "stop")
    single = listed_words("zh", "single")
    while at < len(run):
        if word := kept_pairs.match(run, at):
            at = word.end()
        elif word := stop.match(run, at):
            marks[at : word.end()] = b"\2" * len(word[0])
            at = word.end()
        else:
            marks[at] = run[at] in single
            at += 1
    for at, gram in enumerate(char_grams(run)):
        around = marks[at : at + len(gram)]
        if len(gram) > 1 and 2 not in around and not all(around):
            yield Piece(gram, 0.0 if any(around) else 1.0)
    yield from _single_signs("".join(sign for at, sign in enumerate(run) if not marks[at]))
    for at, mark in enumerate(marks):
        if not mark and all(marks[max(0, at - 1) : at + 2].replace(b"\0", b"", 1)):
            yield Piece(run[at], LIGHT, is_prefix=True)  # a word of one sign


def _single_signs(han: str) -> Iterator[Piece]:
    """Each sign alone: most have a sense of their own, and two words often share just one. That a
    text lacks one says nothing."""
    return (Piece(sign, LIGHT, is_prefix=True) for sign in han)


def is_han(sign: str) -> bool:
    """Whether a sign is Chinese."""
    return "\u3400" <= sign <= "\u9fff" or "\uf900" <= sign <= "\ufaff"


def _japanese_pieces(run: str) -> Iterator[Piece]:
    """Words in Han signs and of foreign origin; of others what is no grammar, and lightly."""
    stop, asking = east_asian("ja", "stop"), listed_words("ja", "kanji")
    for word in _JAPANESE.finditer(run):
        if han := word["han"]:
            if han in asking:
                continue
            yield from _single_signs(han)
            if len(han) == 1:
                yield Piece(han, LIGHT, is_prefix=True)
            else:
                yield from map(_lone_piece, char_grams(han))
        elif foreign := word["foreign"]:
            yield from map(_lone_piece, char_grams(foreign))
        elif not word.start() or not is_han(run[word.start() - 1]):  # behind Han it is an ending
            for own in stop.sub(" ", word["own"]).split():
                if len(own := own.strip(_PARTICLES)) > 1:
                    yield from (Piece(gram, LIGHT) for gram in char_grams(own))


def _korean_pieces(word: str) -> Iterator[Piece]:
    """The word without particles and endings."""
    stem = korean.cut_word(word)
    stop = listed_words("ko", "stop")
    if word not in stop and stem not in stop:
        yield from (Piece(gram, 1.0 if len(gram) > 1 else LIGHT) for gram in char_grams(stem))
