"""Secrets, which must never be stored. Runs before the network and before git.

A rule finds spans; spans that touch are merged; each becomes `[redacted:<kind>]`. A rule looks
first for what is cheap to see and must be there: most texts hold no secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from mdmemory.privacy import addresses, formats, lexicon, tokens
from mdmemory.privacy.matching import Span

_MARK = re.compile(r"\[redacted:\w+\]")
# What says least of a secret; another name for the same span wins.
_VAGUE = frozenset((*lexicon.SHOWN.values(), "high_entropy", "username"))


def redact(text: str) -> tuple[str, list[str]]:
    """`text` with each secret replaced by `[redacted:<kind>]`, and the kinds in order, each once.

    Redacting twice changes nothing more.
    """
    kinds: list[str] = []
    # What is left can be told only now: a label may have stood against the secret before it.
    while spans := _merged(sorted(_spans(text), key=lambda span: span[:2])):
        kept: list[str] = []
        end = 0
        for start, stop, kind in spans:
            kept += text[end:start], f"[redacted:{kind}]"
            end = stop
        text = "".join((*kept, text[end:]))
        kinds += [kind for _, _, kind in spans]
    return text, list(dict.fromkeys(kinds))


def has_secret(text: str) -> bool:
    """Whether `redact` would change the text."""
    return next(_spans(text), None) is not None


def names_secret(name: str) -> bool:
    """Whether the name of a note or a file holds a secret; its hyphens may stand for blanks."""
    return has_secret(name) or has_secret(re.sub("[-_]", " ", name))


def _merged(spans: list[Span]) -> list[Span]:
    """Spans that touch as one; the first names it, and a shape says more than a label."""
    merged: list[Span] = []
    for start, stop, kind in spans:
        if merged and start < merged[-1][1]:
            before = merged[-1]
            named = kind if before[2] in _VAGUE and kind not in _VAGUE else before[2]
            merged[-1] = (before[0], max(stop, before[1]), named)
        else:
            merged.append((start, stop, kind))
    return merged


def _spans(text: str) -> Iterator[Span]:
    """The secrets between what is redacted already, rule by rule."""
    start = 0
    marks = _MARK.finditer(text) if "[redacted:" in text else ()
    for mark in (*marks, None):
        piece = _masked(text[start : mark.start()] if mark else text[start:])
        lower = _lower(piece)
        longest = len(max(piece.split(), key=len, default=""))
        for length, rule in _RULES:
            for a, b, kind in rule(piece, lower) if longest >= length else ():
                yield start + a, start + b, kind
        start = mark.end() if mark else start


def _lower(text: str) -> str:
    """In small letters, each in its place; the two that ignoring case would not tell apart, too."""
    lower = text.lower()
    if len(lower) != len(text):  # one character of Turkish becomes two
        lower = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    return lower if lower.isascii() else lower.replace("ſ", "s").replace("ı", "i")


# --- what is meant to be seen: public keys, digests, pictures ------------------------------------

# No letter, digit or blank, so that no rule reads it as a part of a word.
MASK = "\ue000"

# A literal that must be there, and what is public around it.
_PUBLIC = tuple(
    (hint, re.compile(expression))
    for hint, expression in (
        ("-----BEGIN ",
         r"-----BEGIN (?:[A-Z0-9 ]{0,30}PUBLIC KEY(?: BLOCK)?"
         r"|[A-Z0-9 ]{0,9}CERTIFICATE(?: REQUEST)?"
         r"|X509 CRL|PGP SIGNATURE|DH PARAMETERS)-----[^-]{1,20000}"),
        (" AAAA",
         r"(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-[\w-]{1,30}|sk-[\w@.-]{1,40}) AAAA[\w+/=]+"),
        (";base64,", r"data:[\w/+.-]{0,60};base64,[A-Za-z0-9+/=]+"),
        ("sha", r"\bsha(?:1|224|256|384|512)[-:=_][A-Za-z0-9+/]{16,}={0,2}"),
        ("SHA", r"\bSHA(?:1|256|512):[A-Za-z0-9+/]{16,}={0,2}"),
        ("ublic", r"(?i:public[_ -]?key)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?[A-Za-z0-9+/=_-]{20,}"),
        ("age1", r"\bage1[a-z0-9]{40,}"),
        ("iVBORw0KGgo", r"iVBORw0KGgo[A-Za-z0-9+/=]*"),
        ("/9j/", r"/9j/[A-Za-z0-9+/=]*"),
        ("R0lGOD", r"R0lGOD[A-Za-z0-9+/=]*"),
        ("AAABAAEA", r"AAABAAEA[A-Za-z0-9+/=]*"),
        ("d09G", r"\bd09G[A-Za-z0-9+/=]*"),
    )
)  # fmt: skip


def _masked(text: str) -> str:
    """The text with what is public made unreadable, each character in its place."""
    for hint, expression in _PUBLIC:
        if hint in text:
            text = expression.sub(_blank, text)
    return text


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"\S", MASK, found[0])


# --- the rules ------------------------------------------------------------------------------------


def _named(text: str, lower: str) -> Iterator[Span]:
    """What a label or a sentence names."""
    found = lexicon.labels(text, lower)
    if found:
        from mdmemory.privacy import labels, spoken  # not for a text without a label

        named = [each for each in found if each.kind in lexicon.SHOWN]
        yield from labels.find(text, lower, named)
        yield from spoken.find(text, lower, found)


# Each rule behind the length of the shortest word that it can find something in. What is named
# first wins where two rules find the same: PIN, pair and password, bearer, the rest.
_RULES: tuple[tuple[int, Callable[[str, str], Iterator[Span]]], ...] = (
    (0, formats.private_keys),
    (tokens.SHORTEST, tokens.find),
    (0, addresses.addresses),
    (0, _named),
    (0, formats.markup),
    (0, addresses.commands),
    (0, addresses.pairs),
    (0, formats.headers),
    (0, formats.numbers),
    (formats.NOISE, formats.noise),
)
