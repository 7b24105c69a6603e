"""Secrets, which must never be stored: taken out, and whether a text still says anything then.
Runs before the network and before git.

A rule finds spans; spans that touch are merged; each becomes `[redacted:<kind>]`. A rule looks
first for what is cheap to see and must be there: most texts hold no secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from mdmemory.privacy import addresses, formats, lexicon, tokens
from mdmemory.privacy.lexicon import SHOWN
from mdmemory.privacy.matching import CJK, Span

MARK = re.compile(r"\[redacted:\w+\]")
# What says least of a secret; another name for the same span wins.
_VAGUE = frozenset((*SHOWN.values(), "high_entropy", "username"))


def redact(text: str) -> tuple[str, list[str]]:
    """`text` with each secret replaced by `[redacted:<kind>]`, and the kinds in order, each once.

    Redacting twice changes nothing more.
    """
    kinds: list[str] = []
    # What is left can be told only now: a label may have stood against the secret before it.
    while spans := _merge_spans(sorted(_find_spans(text), key=lambda span: span[:2])):
        parts_left: list[str] = []
        end = 0
        for start, stop, kind in spans:
            parts_left += text[end:start], f"[redacted:{kind}]"
            end = stop
        text = "".join((*parts_left, text[end:]))
        kinds += [kind for _, _, kind in spans]
    return text, list(dict.fromkeys(kinds))


def has_secret(text: str) -> bool:
    """Whether `redact` would change the text."""
    return next(_find_spans(text), None) is not None


def names_secret(name: str) -> bool:
    """Whether the name of a note or a file holds a secret; its hyphens may stand for blanks."""
    return has_secret(name) or has_secret(re.sub("[-_]", " ", name))


def _merge_spans(spans: list[Span]) -> list[Span]:
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


def _find_spans(text: str) -> Iterator[Span]:
    """The secrets between what is redacted already, rule by rule."""
    start = 0
    marks = MARK.finditer(text) if "[redacted:" in text else ()
    for mark in (*marks, None):
        piece = _mask_public(text[start : mark.start()] if mark else text[start:])
        lower = _lower_text(piece)
        longest = max(map(len, piece.split()), default=0)
        for length, rule in _RULES:
            for a, b, kind in rule(piece, lower) if longest >= length else ():
                yield start + a, start + b, kind
        start = mark.end() if mark else start


def _lower_text(text: str) -> str:
    """In small letters, each in its place; the two that ignoring case would not tell apart, too."""
    lower = text.lower()
    if len(lower) != len(text):  # one character of Turkish becomes two
        lower = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    return lower if lower.isascii() else lower.replace("ſ", "s").replace("ı", "i")


# --- what is meant to be seen: public keys, digests, pictures

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


def _mask_public(text: str) -> str:
    """The text with what is public made unreadable, each character in its place."""
    for hint, expression in _PUBLIC:
        if hint in text:
            text = expression.sub(_blank_match, text)
    return text


def _blank_match(match: re.Match[str]) -> str:
    return re.sub(r"\S", MASK, match[0])


# --- the rules


def _find_named(text: str, lower: str) -> Iterator[Span]:
    """What a label or a sentence names."""
    labels_found = lexicon.find_labels(text, lower)
    if labels_found:
        from mdmemory.privacy import labels, spoken  # not for a text without a label

        named = [each for each in labels_found if each.kind in SHOWN]
        yield from labels.find_values(text, lower, named)
        yield from spoken.find_spoken(text, lower, labels_found)


# Each rule behind the length of the shortest word that it can find something in. What is named
# first wins where two rules find the same: PIN, pair and password, bearer, the rest.
_RULES: tuple[tuple[int, Callable[[str, str], Iterator[Span]]], ...] = (
    (0, formats.private_keys),
    (tokens.SHORTEST, tokens.find_tokens),
    (0, addresses.find_addresses),
    (0, _find_named),
    (0, formats.find_markup),
    (0, addresses.find_commands),
    (0, addresses.find_pairs),
    (0, formats.find_headers),
    (0, formats.find_numbers),
    (formats.NOISE, formats.find_noise),
)


# --- what is left

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
    return any(_count_meaning(clause) >= LEAST for clause in _CLAUSE.split(text))


def _count_meaning(clause: str) -> int:
    """How many words of a clause mean something by themselves; three Chinese characters are one."""
    if _NAMED.search(clause):
        return 0
    bare = MARK.sub(" ", clause)
    lower = bare.lower()
    named = lexicon.find_labels(bare, lower) if len(lower) == len(bare) else []
    labelled = bare != clause and any(label.kind in SHOWN for label in named)
    for label in reversed(named):
        lower = lower[: label.start] + " " + lower[label.end :]
    counted = 0.0
    for word in _WORD.findall(lower):
        if re.match(f"[{CJK}]", word):
            counted += len(_particle_pattern().sub("", word)) / 3
        elif word not in _REMARKS and word not in lexicon.not_values():
            counted += word not in lexicon.listed_words("is") and len(word) > 1
    return int(counted) - labelled


@cache
def _particle_pattern() -> re.Pattern[str]:
    joined = {word for name in ("is", "as", "with") for word in lexicon.listed_words(name)}
    some = sorted((word for word in joined if re.match(f"[{CJK}]", word)), reverse=True)
    return re.compile("|".join(map(re.escape, ["です", "입니다", "我的", "的", *some])))
