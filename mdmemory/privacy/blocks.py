"""Secrets in blocks, headers and markup: private keys, cookies, basic auth, `<password>x</...>`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from mdmemory.privacy.values import code, made_up, mixed, noisy, passwordlike, placeholder

Span = tuple[int, int, str]


@cache
def _pattern(expression: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(expression, flags)


def private_keys(text: str, _: str) -> Iterator[Span]:
    """From the first line of a key with something in it to its last line, or to the end."""
    at = text.find("PRIVATE KEY")
    begin = _pattern(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
    end = _pattern(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
    done = 0
    while at >= 0:
        first = begin.search(text, max(done, at - 60), at + 40)
        if first and _pattern(r"[A-Za-z0-9+/]{16}").search(text, first.end(), first.end() + 300):
            last = end.search(text, first.end())
            done = last.end() if last else len(text)
            yield first.start(), done, "private_key"
        at = text.find("PRIVATE KEY", max(done, at + 1))
    putty = (
        r"Private-Lines:[ \t]*\d+[ \t]*\r?\n(?P<key>(?:[A-Za-z0-9+/=]{4,}[ \t]*(?:\r?\n|$))+"
        r"(?:Private-MAC: [0-9a-f]+)?)"
    )
    for found in _pattern(putty).finditer(text) if "Private-Lines:" in text else ():
        yield (*found.span("key"), "private_key")
    for kind, hint, expression in _LONG_KEYS:
        for found in _pattern(expression).finditer(text) if hint in text else ():
            yield (*found.span("key"), kind)


# Keys that name themselves by how they begin, though no service gave them out.
_LONG_KEYS = (
    ("private_key", '"d"', r"\"d\"\s{0,3}:\s{0,3}\"(?P<key>[A-Za-z0-9_-]{32,1000})\""),
    ("private_key", "nsec1", r"\b(?P<key>nsec1[0-9a-z]{50,70})\b"),
    ("private_key", "prv", r"\b(?P<key>[xyz]prv[1-9A-HJ-NP-Za-km-z]{90,120})\b"),
    ("private_key", "RWRTY0Iy", r"\b(?P<key>RWRTY0Iy[A-Za-z0-9+/=]{60,})"),
    # "-----BEGIN ... PRIV" in base 64, as kubeconfig has it
    ("private_key", "LS0tLS1CRUdJTiB",
     r"(?P<key>LS0tLS1CRUdJTi(?:BSU0EgUFJJ|BQUklWQ|BPUEVOU1NI|BFQyBQUk)[A-Za-z0-9+/=]{20,})"),
    ("otp_secret", "otpauth://", r"otpauth://[^\s\"'<>]{1,200}[?&]secret=(?P<key>[A-Za-z2-7=]{8,200})"),
    ("password", "WIFI:", r"WIFI:[^\n]{0,99}?P:(?P<key>[^;\n\\(]{4,99});"),
)  # fmt: skip


def markup(text: str, lower: str) -> Iterator[Span]:
    """The content of an element whose name is a label."""
    if "</" not in text or not any(h in lower for h in ("pass", "pwd", "secret", "token", "key")):
        return
    element = (
        r"<(?P<name>[\w.:-]{0,30}(?:password|passwd|pwd|secret|token|api-?key)[\w.-]{0,30})"
        r"(?:\s[^<>]{0,99})?>(?P<value>[^<>\s]{4,200})</(?P=name)>"
    )
    for found in _pattern(element, re.IGNORECASE).finditer(text):
        value = found["value"]
        is_password = any(each in found["name"].lower() for each in ("pass", "pwd"))
        good = passwordlike(value, True) if is_password else len(value) >= 8 and mixed(value)
        if good and not placeholder(value) and not code(value):
            yield (*found.span("value"), "password" if is_password else "secret")


def headers(text: str, lower: str) -> Iterator[Span]:
    """What follows `Authorization:`, `Bearer` or `Basic`, and the values of cookies."""
    header = r"\bauthorization[\"']?\s{0,3}[:=]\s{0,3}[\"'`]?(?:\w{3,12}\s{1,3})?"
    for hint, before, length in (
        ("authorization", header, 8),
        ("bearer", r"\bbearer[ \t]{1,3}", 12),
        ("basic", r"\bbasic[ \t]{1,3}", 12),
    ):
        if hint not in lower:
            continue
        expression = rf"{before}([a-z0-9._~+/-]{{{length},}}={{0,2}})"
        for found in _pattern(expression, re.IGNORECASE).finditer(text):
            value = found[1]
            # A capital alone begins a sentence: "Basic Authentication".
            random = any(c.isdigit() for c in value) or mixed(value[1:])
            if not code(value) and not made_up(value) and not placeholder(value) and random:
                yield (*found.span(1), "authorization")
    if "cookie" in lower:
        yield from _cookies(text)


def _cookies(text: str) -> Iterator[Span]:
    """Each long value of a Cookie header that could be random."""
    line = _pattern(r"(?i)\b(?:set-)?cookie[\"']?:[ \t]{0,3}(?P<all>[^\n]{1,4000})")
    for found in line.finditer(text):
        for pair in _pattern(r"[\w.-]{1,60}=(?P<value>[^\s;,\"']{16,2000})").finditer(found["all"]):
            value = pair["value"]
            if any(map(str.isdigit, value)) and (noisy(value[:200], 0.25) or mixed(value)):
                start = found.start("all") + pair.start("value")
                yield start, start + len(value), "session"
