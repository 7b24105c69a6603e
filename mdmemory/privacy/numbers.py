"""Numbers of cards and accounts, by their check digits, and long noise that nothing names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from mdmemory.privacy.values import luhn, mod97, noisy

Span = tuple[int, int, str]


@cache
def _pattern(expression: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(expression, flags)


_WORDY = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.+"
# Length and first digits of the issuers; the check digit alone lets one number in ten through.
_CARD = (
    r"(?<![\w.+-])(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6\d{3}|3\d{3})"
    r"(?:([ -]?)\d{4}\1\d{4}\1\d{4}|([ -]?)\d{6}\2\d{4,5})(?![\w-]|\.\d)"
)


# Digits, what may not stand before a number, and what may stand in it: a literal to look for.
_SHAPES = bytes(
    48 if 48 <= byte < 58 else byte if byte in b" -" else 120 if chr(byte) in _WORDY else 46
    for byte in range(256)
)


@cache
def _number() -> re.Pattern[bytes]:
    """Where a card's number may begin, in shapes; a search for a literal skips all else."""
    return re.compile(rb"0000(?<![x0-]0000)[ -]?0000")


def cards(text: str, lower: str) -> Iterator[Span]:
    if not _number().search(lower.encode("utf-8", "surrogatepass").translate(_SHAPES)):
        return
    for found in _pattern(_CARD, re.ASCII).finditer(text):
        if luhn([int(digit) for digit in found[0] if digit.isdigit()]):
            yield (*found.span(), "card_number")


# Country, two check digits, then up to 30 letters and digits, in fours where they are spaced.
_IBAN = (
    r"(?<![A-Za-z0-9_])[A-Z]{2}\d{2}( ?)[A-Z0-9]{4}(?:\1[A-Z0-9]{4}){1,6}(?:\1[A-Z0-9]{1,3})?"
    r"(?![A-Za-z0-9_])"
)


def ibans(text: str, _: str) -> Iterator[Span]:
    for found in _pattern(_IBAN, re.ASCII).finditer(text):
        plain = found[0].replace(" ", "")
        if mod97("".join(str(int(char, 36)) for char in plain[4:] + plain[:4])):
            yield (*found.span(), "iban")


# Ids of sessions and calls, checksums of lock files, public keys: random, and no secret.
_PUBLIC = r"(?:ses|msg|prt|call|toolu|chatcmpl|req|run|evt|sha\d{1,3}|h1|AAAA)(?:[_:=-]|[A-Z])"
_NOISE = 32  # characters


def noise(text: str, _: str) -> Iterator[Span]:
    """Random-looking runs of both cases and digits. Hashes and UUIDs have one case only."""
    run = rf"(?<![\w:/.#?&%-])[A-Za-z0-9+/_-]{{{_NOISE},}}={{0,2}}"
    for found in _pattern(run).finditer(text):
        if _pattern(_PUBLIC).match(found[0]) or not noisy(found[0]):
            continue
        # pictures and fonts in a page: data:image/png;base64,...
        before = text[max(0, found.start() - 70) : found.start()]
        if not _pattern(r"data:[\w/+.-]{0,50};base64,\Z").search(before):
            yield (*found.span(), "high_entropy")
