"""Secrets known by their format: private keys, headers, markup, cards, accounts, long noise."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdmemory.privacy.matching import Span, compile_shape, stands_at
from mdmemory.privacy.values import (
    is_code,
    is_mixed,
    is_noisy,
    is_passwordlike,
    is_placeholder,
    made_up,
    passes_luhn,
    passes_mod97,
)


def private_keys(text: str, _: str) -> Iterator[Span]:
    """From the first line of a key with something in it to its last line, or to the end."""
    at = text.find("PRIVATE KEY")
    begin = compile_shape(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
    end = compile_shape(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
    done = 0
    while at >= 0:
        first = begin.search(text, max(done, at - 60), at + 40)
        if first and compile_shape(r"[A-Za-z0-9+/]{16}").search(
            text, first.end(), first.end() + 300
        ):
            last = end.search(text, first.end())
            done = last.end() if last else len(text)
            yield first.start(), done, "private_key"
        at = text.find("PRIVATE KEY", max(done, at + 1))
    putty = (
        r"Private-Lines:[ \t]*\d+[ \t]*\r?\n(?P<key>(?:[A-Za-z0-9+/=]{4,}[ \t]*(?:\r?\n|$))+"
        r"(?:Private-MAC: [0-9a-f]+)?)"
    )
    for match in compile_shape(putty).finditer(text) if "Private-Lines:" in text else ():
        yield (*match.span("key"), "private_key")
    for kind, hint, shape in _LONG_KEYS:
        for match in compile_shape(shape).finditer(text) if hint in text else ():
            yield (*match.span("key"), kind)


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


def find_markup(text: str, lower: str) -> Iterator[Span]:
    """The content of an element whose name is a label."""
    if "</" not in text or not any(h in lower for h in ("pass", "pwd", "secret", "token", "key")):
        return
    element = (
        r"<(?P<name>[\w.:-]{0,30}(?:password|passwd|pwd|secret|token|api-?key)[\w.-]{0,30})"
        r"(?:\s[^<>]{0,99})?>(?P<value>[^<>\s]{4,200})</(?P=name)>"
    )
    for match in compile_shape(element, re.IGNORECASE).finditer(text):
        value = match["value"]
        is_password = any(each in match["name"].lower() for each in ("pass", "pwd"))
        good = is_passwordlike(value, True) if is_password else len(value) >= 8 and is_mixed(value)
        if good and not is_placeholder(value) and not is_code(value):
            yield (*match.span("value"), "password" if is_password else "secret")


def find_headers(text: str, lower: str) -> Iterator[Span]:
    """What follows `Authorization:`, `Bearer` or `Basic`, and the values of cookies."""
    header = r"\bauthorization[\"']?\s{0,3}[:=]\s{0,3}[\"'`]?(?:\w{3,12}\s{1,3})?"
    for hint, before, length in (
        ("authorization", header, 8),
        ("bearer", r"\bbearer[ \t]{1,3}", 12),
        ("basic", r"\bbasic[ \t]{1,3}", 12),
    ):
        if hint not in lower:
            continue
        shape = rf"{before}([a-z0-9._~+/-]{{{length},}}={{0,2}})"
        for match in compile_shape(shape, re.IGNORECASE).finditer(text):
            value = match[1]
            # A capital alone begins a sentence: "Basic Authentication".
            random = any(c.isdigit() for c in value) or is_mixed(value[1:])
            if not is_code(value) and not made_up(value) and not is_placeholder(value) and random:
                yield (*match.span(1), "authorization")
    if "cookie" in lower:
        yield from _find_cookies(text)


def _find_cookies(text: str) -> Iterator[Span]:
    """Each long value of a Cookie header that could be random."""
    assigned = compile_shape(r"[\w.-]{1,60}=(?P<value>[^\s;,\"']{16,2000})")
    line = compile_shape(r"(?i)\b(?:set-)?cookie[\"']?:[ \t]{0,3}(?P<all>[^\n]{1,4000})")
    for cookies in line.finditer(text):
        for pair in assigned.finditer(cookies["all"]):
            value = pair["value"]
            if any(map(str.isdigit, value)) and (is_noisy(value[:200], 0.25) or is_mixed(value)):
                start = cookies.start("all") + pair.start("value")
                yield start, start + len(value), "session"


# --- numbers, and noise that nothing names

_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# Length and first digits of the issuers; the check digit alone lets one number in ten through.
_CARD = (
    r"(?<![\w.+-])(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6\d{3}|3\d{3})"
    r"(?:([ -]?)\d{4}\1\d{4}\1\d{4}|([ -]?)\d{6}\2\d{4,5})(?![\w-]|\.\d)"
)


# Country, two check digits, then up to 30 letters and digits, in fours where they are spaced.
_IBAN = (
    r"(?<![A-Za-z0-9_])[A-Z]{2}\d{2}( ?)[A-Z0-9]{4}(?:\1[A-Z0-9]{4}){1,6}(?:\1[A-Z0-9]{1,3})?"
    r"(?![A-Za-z0-9_])"
)


# A text as digits (0), capitals (A), what else may not stand before a number (x) and the rest: in
# that form a literal is enough to see that no number can be there.
_FORM = {**dict.fromkeys(b"0123456789", b"0"), **dict.fromkeys(_CAPITALS.encode(), b"A")}
_FORM |= dict.fromkeys(_CAPITALS.lower().encode() + b"_.+", b"x") | {32: b" ", 45: b"-"}
_FORMS = b"".join(_FORM.get(byte, b".") for byte in range(256))
_NUMBER = re.compile(rb"0000(?<![Ax0-]0000)[ -]?0000")


def find_numbers(text: str, _: str) -> Iterator[Span]:
    """Numbers of cards and bank accounts with the right check digits."""
    form = text.encode("utf-8", "surrogatepass").translate(_FORMS)
    if _NUMBER.search(form):
        for match in compile_shape(_CARD, re.ASCII).finditer(text):
            if passes_luhn([int(digit) for digit in match[0] if digit.isdigit()]):
                yield (*match.span(), "card_number")
    if b"AA00" in form:
        for match in compile_shape(_IBAN, re.ASCII).finditer(text):
            plain = match[0].replace(" ", "")
            if passes_mod97("".join(str(int(char, 36)) for char in plain[4:] + plain[:4])):
                yield (*match.span(), "iban")


# Ids of sessions and calls, checksums of lock files, public keys: random, and no secret.
_PUBLIC = r"(?:ses|msg|prt|call|toolu|chatcmpl|req|run|evt|sha\d{1,3}|h1|AAAA)(?:[_:=-]|[A-Z])"
NOISE = 32  # characters
_RUN = rf"(?<![\w:/.#?&%-])[A-Za-z0-9+/_-]{{{NOISE},}}={{0,2}}"


def find_noise(text: str, _: str) -> Iterator[Span]:
    """Random-looking runs of both cases and digits. Hashes and UUIDs have one case only."""
    at = 0
    for word in text.split():
        if len(word) < NOISE:
            continue
        runs = [run.span() for run in compile_shape(_RUN).finditer(word) if _is_random(run, word)]
        if runs:
            at = stands_at(word, text, at)
            yield from ((at + start, at + end, "high_entropy") for start, end in runs)
            at += len(word)


def _is_random(run: re.Match[str], word: str) -> bool:
    if compile_shape(_PUBLIC).match(run[0]) or not is_noisy(run[0]):
        return False
    # pictures and fonts in a page: data:image/png;base64,...
    before = word[max(0, run.start() - 70) : run.start()]
    return compile_shape(r"data:[\w/+.-]{0,50};base64,\Z").search(before) is None
