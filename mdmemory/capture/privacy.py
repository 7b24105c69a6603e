"""What must never be stored: `<private>` text and secrets. Runs before the network and before git.

A rule finds spans; spans that touch are merged; each becomes `[redacted:<kind>]`. Patterns are
compiled at their first use, because every command pays for the import.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from mdmemory.capture.secret_shapes import LABELS, NOT_A_SECRET, TOKENS

Span = tuple[int, int, str]


def strip_private(text: str) -> tuple[str, int]:
    """`text` without its `<private>` blocks, and how many there were (a nest counts once).

    Case does not matter, code is no exception, and a block left open reaches to the end.
    """
    kept: list[str] = []
    blocks = depth = start = 0
    for tag in re.finditer(r"<\s{0,9}(/?)\s{0,9}private(?:\s[^<>]{0,200})?>", text, re.IGNORECASE):
        if depth == 0 and tag[1]:
            continue
        if depth == 0:
            kept.append(text[start : tag.start()])
            blocks += 1
        depth += -1 if tag[1] else 1
        start = tag.end()
    if depth == 0:
        kept.append(text[start:])
    return "".join(kept), blocks


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


def _merged(spans: list[Span]) -> list[Span]:
    """Spans that touch as one; the first names it, and a shape says more than a label."""
    merged: list[Span] = []
    for start, stop, kind in spans:
        if merged and start < merged[-1][1]:
            before = merged[-1]
            named = kind if before[2] in LABELS or before[2] == "high_entropy" else before[2]
            merged[-1] = (before[0], max(stop, before[1]), named)
        else:
            merged.append((start, stop, kind))
    return merged


def _spans(text: str) -> Iterator[Span]:
    """The secrets between what is redacted already, rule by rule."""
    start = 0
    for mark in (*_pattern(r"\[redacted:\w+\]").finditer(text), None):
        piece = text[start : mark.start()] if mark else text[start:]
        for rule in _RULES:
            yield from ((start + a, start + b, kind) for a, b, kind in rule(piece))
        start = mark.end() if mark else start


@cache
def _pattern(expression: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(expression, flags)


def _private_keys(text: str) -> Iterator[Span]:
    """From the first line of a key with something in it to its last line, or to the end."""
    if "PRIVATE KEY" not in text:
        return
    block = (
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?=[\s\S]{0,300}?[A-Za-z0-9+/]{16})"
        r"(?:[\s\S]*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|[\s\S]*)"
    )
    for found in _pattern(block).finditer(text):
        yield (*found.span(), "private_key")


def _tokens(text: str) -> Iterator[Span]:
    for kind, hints, expression in TOKENS:
        if any(hint in text for hint in hints):
            for found in _pattern(rf"(?<![A-Za-z0-9_]){expression}").finditer(text):
                if _mixed(found[0][4:]):
                    yield (*found.span(), kind)


def _mixed(text: str) -> bool:
    """Whether it could be random: digits, or both cases (words joined by hyphens are neither)."""
    return any(c.isdigit() for c in text) or (
        any(c.isupper() for c in text) and any(c.islower() for c in text)
    )


def _url_passwords(text: str) -> Iterator[Span]:
    if "://" not in text:
        return
    for found in _pattern(r"://[^\s:/@]{0,200}:([^\s/\"'`<>]{1,200})@").finditer(text):
        if not _placeholder(found[1]):
            yield (*found.span(1), "url_password")


def _headers(text: str) -> Iterator[Span]:
    header = r"\bauthorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:\w{3,12}\s{1,3})?"
    scheme = r"\b(?:bearer|basic)\s{1,3}"
    for before, length in ((header, 8), (scheme, 12)):
        expression = rf"{before}([a-z0-9._~+/-]{{{length},}}={{0,2}})"
        for found in _pattern(expression, re.IGNORECASE).finditer(text):
            value = found[1]
            # A capital alone begins a sentence: "Basic Authentication".
            if not _code(value) and (any(c.isdigit() for c in value) or _mixed(value[1:])):
                yield (*found.span(1), "authorization")


# --- labels: "password: ...", "my PIN is ..." --------------------------------------------------


def _labelled(text: str) -> Iterator[Span]:
    for kind, (hints, label, verb) in LABELS.items():
        lower = text.lower()
        if not any(hint in lower for hint in hints):
            continue
        # A word may begin at an underscore or a capital: DB_PASSWORD, userPassword.
        start = r"(?:(?<![^\W_])|(?-i:(?<=[a-z])(?=[A-Z]))|(?<=[\u3040-\u9fff\uac00-\ud7a3]))"
        whose = r"(?:[ \t]+(?:for|of|to)(?:[ \t]+[\w.-]{1,30}){1,3}?)?"
        between = rf"[\"'`]?{whose}[ \t]{{0,3}}(?P<mark>[:=：＝]{{1,2}}|{verb})[ \t]{{0,3}}"
        value = r"(?:(?P<q>[\"'`])(?P<quoted>[^\"'`\n]{1,200})(?P=q)|(?P<plain>[^\s，。；、！？]+))"
        expression = rf"{start}(?:{label}){between}{value}"
        for found in _pattern(expression, re.IGNORECASE).finditer(text):
            yield from _value(kind, found, text)


def _value(kind: str, found: re.Match[str], text: str) -> Iterator[Span]:
    group = "quoted" if found["q"] else "plain"
    start, stop = found.span(group)
    if kind == "passphrase":
        line_end = text.find("\n", start)
        stop = len(text) if line_end < 0 else line_end
        if len(text[start:stop].split()) >= 3:
            yield start, stop, kind
        return
    value = found[group]
    if group == "plain":
        value = value.rstrip(".,;:!?)]}>\"'`")
        stop = start + len(value)
    closing = r"[\"'`)]*(?:[ \t]*(?:\n|$)|[.,;!?](?:\s|$)|[，。；、！？])"
    last = _pattern(closing).match(text, stop) is not None
    if _secret_value(kind, value, group == "quoted", found["mark"].strip(), last):
        yield start, stop, kind


def _secret_value(kind: str, value: str, quoted: bool, mark: str, last: bool) -> bool:
    if kind == "pin":
        return bool(re.fullmatch(r"[0-9][0-9 -]{2,11}", value))
    if _placeholder(value) or _code(value):
        return False
    digits = sum(c.isdigit() for c in value)
    if kind == "secret":
        numbered = digits >= 2 and not re.fullmatch(r"[0-9.,:/-]+", value)
        return len(value) >= 8 and (numbered or (" " not in value and _changes(value) >= 0.3))
    if len(value) < 4 or re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        return False
    # Words alone are a password only where a password would stand: last, or in quotes.
    words = re.fullmatch(r"[^\W\d_]+(?:-[^\W\d_]+){0,2}", value)
    if not words:
        return value.isascii() or digits > 0
    if not value.isascii() or re.search(r"(?i)(?:ed|able|ible|ive|ing|ly)$", value):
        return False
    return quoted or (last and (mark in ":=：＝" or mark.lower() == "is"))


def _placeholder(value: str) -> bool:
    plain = value.lower().strip("\"'`*.,;:!?")
    return (
        plain in NOT_A_SECRET
        or value.startswith(("$", "{", "<", "%", "...", "your", "YOUR"))
        or len(set(plain)) < 2
    )


def _code(value: str) -> bool:
    """Whether it reads as code or a place: a call, a type, a name, a path, a link."""
    return bool(
        _pattern(
            r"\w+[(\[].*|(?:[a-z_][a-z0-9_]*\.)+[A-Za-z_]\w*(?:[(\[].*)?|[a-z]+(?:_[a-z]+)+"
            r"|[A-Z]+(?:_[A-Z]+)+|(?:~|\.{1,2})?/[\w./-]+|https?://.*|[({].*"
        ).fullmatch(value)
    )


# --- numbers and noise -----------------------------------------------------------------------

# Length and first digits of the issuers; the check digit alone lets one number in ten through.
_CARD = (
    r"(?<![\w.+-])(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6\d{3}|3\d{3})"
    r"(?:([ -]?)\d{4}\1\d{4}\1\d{4}|([ -]?)\d{6}\2\d{4,5})(?![\w-]|\.\d)"
)


def _cards(text: str) -> Iterator[Span]:
    for found in _pattern(_CARD, re.ASCII).finditer(text):
        if _luhn([int(digit) for digit in found[0] if digit.isdigit()]):
            yield (*found.span(), "card_number")


def _luhn(digits: list[int]) -> bool:
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


# Ids of sessions and calls, checksums of lock files, public keys: random, and no secret.
_PUBLIC = r"(?:ses|msg|prt|call|toolu|chatcmpl|req|run|evt|sha\d{1,3}|h1|AAAA)(?:[_:=-]|[A-Z])"


def _high_entropy(text: str) -> Iterator[Span]:
    """Random-looking runs of both cases and digits. Hashes and UUIDs have one case only."""
    for found in _pattern(r"(?<![\w:/.#?&%-])[A-Za-z0-9+/_-]{32,}={0,2}").finditer(text):
        if not _pattern(_PUBLIC).match(found[0]) and _random(found[0]):
            yield (*found.span(), "high_entropy")


def _random(text: str) -> bool:
    """Whether it has both cases and digits in turn, and at least 4 bits a character."""
    counts = [sum(map(kind, text)) for kind in (str.isupper, str.islower, str.isdigit)]
    shares = [text.count(c) / len(text) for c in set(text)]
    bits = -sum(share * math.log2(share) for share in shares)
    return min(counts) >= 1 and _changes(text) >= 0.4 and bits >= 4.0


def _changes(text: str) -> float:
    """How often neighbours differ in class (upper, lower, digit): 0.62 in random text, 0.2 in
    names made of words."""
    classes = [(c.isupper(), c.isdigit()) for c in text if c.isalnum()]
    return sum(a != b for a, b in pairwise(classes)) / max(1, len(classes))


_RULES = (
    _private_keys,
    _tokens,
    _url_passwords,
    _headers,
    _labelled,
    _cards,
    _high_entropy,
)
