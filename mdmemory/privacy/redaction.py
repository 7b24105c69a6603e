"""Secrets, which must never be stored. Runs before the network and before git.

A rule finds spans; spans that touch are merged; each becomes `[redacted:<kind>]`. A rule looks
first for what is cheap to see and must be there: most texts hold no secret. Patterns are compiled
at their first use, because every command pays for the import.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from mdmemory.privacy.shapes import (
    INNER_TOKENS,
    IS,
    LABELS,
    TAIL,
    TOKENS,
    USER,
    code,
    luhn,
    mixed,
    mod97,
    noisy,
    odd,
    placeholder,
    secret_value,
)

Span = tuple[int, int, str]


class Given(NamedTuple):
    """What all rules want to know of a text. `raw`, its small letters as UTF-8, holds a literal's
    bytes if and only if `lower` holds the literal, and is the quicker to search."""

    lower: str
    raw: bytes
    words: Sequence[str]  # the long ones


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
    marks = _pattern(r"\[redacted:\w+\]").finditer(text) if "[redacted:" in text else ()
    for mark in (*marks, None):
        piece = text[start : mark.start()] if mark else text[start:]
        lower, words = _lower(piece), [w for w in piece.split() if len(w) >= _SHORTEST_TOKEN]
        given = Given(lower, lower.encode("utf-8", "surrogatepass"), words)
        longest = max(map(len, words), default=0)
        for rule, least in _RULES:
            if longest >= least:
                for a, b, kind in rule(piece, given):
                    yield start + a, start + b, kind
        start = mark.end() if mark else start


def _lower(text: str) -> str:
    """In small letters, each in its place; the two that ignoring case would not tell apart, too."""
    lower = text.lower()
    if len(lower) != len(text):  # one character of Turkish becomes two
        lower = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    return lower if lower.isascii() else lower.replace("ſ", "s").replace("ı", "i")


@cache
def _pattern(expression: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(expression, flags)


def _has(text: str, *hints: str) -> bool:
    """Whether one of the literals is in the text: most texts are done with this alone."""
    return any(hint in text for hint in hints)


def _places(hints: Iterable[str], text: str) -> Iterator[int]:
    for hint in hints:
        at = text.find(hint)
        while at >= 0:
            yield at
            at = text.find(hint, at + len(hint))


@cache
def _beginnings() -> tuple[re.Pattern[str], dict[str, list[int]]]:
    """What finds any beginning of a token in one pass, and which rules each of them may start."""
    hints = sorted({hint for _, some, _ in TOKENS for hint in some}, reverse=True)
    found = re.compile(rf"(?<![A-Za-z0-9_])(?:{'|'.join(map(re.escape, hints))})")
    rules = {
        hint: [at for at, (_, some, _) in enumerate(TOKENS) if hint.startswith(some)]
        for hint in hints
    }
    return found, rules


@cache
def _label_hints() -> tuple[re.Pattern[str], dict[str, list[str]]]:
    """What finds the first letter of any label's literal in one pass, and the literals by it."""
    by_letter: dict[str, list[str]] = {}
    for hint in sorted({hint for hints, _, _ in LABELS.values() for hint in hints}):
        by_letter.setdefault(hint[0], []).append(hint)
    ways = (
        f"{letter}(?={'|'.join(re.escape(hint[1:]) for hint in hints)})"
        for letter, hints in by_letter.items()
    )
    return re.compile("|".join(ways)), by_letter


_SHORTEST_TOKEN = 15  # characters: Slack's; none has a blank in it
_SHORTEST_INNER = 36  # Mailchimp's


# --- shapes ----------------------------------------------------------------------------------


def _private_keys(text: str, _: Given) -> Iterator[Span]:
    """From the first line of a key with something in it to its last line, or to the end."""
    if "PRIVATE KEY" not in text:
        return
    block = (
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?=[\s\S]{0,300}?[A-Za-z0-9+/]{16})"
        r"(?:[\s\S]*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|[\s\S]*)"
    )
    for found in _pattern(block).finditer(text):
        yield (*found.span(), "private_key")


def _tokens(text: str, given: Given) -> Iterator[Span]:
    any_beginning, rules = _beginnings()
    found = any_beginning.findall(" ".join(given.words))  # no token has a blank in it
    here = {rule for hint in set(found) for rule in rules[hint]}
    for kind, beginnings, expression in (TOKENS[rule] for rule in sorted(here)):
        stop = 0
        for at in sorted(_places(beginnings, text)):
            if at < stop or not _begins(text, at):
                continue
            token = _pattern(expression).match(text, at)
            if token:
                stop = token.end()
                if mixed(token[0][4:]):
                    yield (*token.span(), kind)


def _inner_tokens(text: str, _: Given) -> Iterator[Span]:
    for kind, hint, front, rest in INNER_TOKENS:
        for found in _pattern(rest).finditer(text) if hint in text else ():
            before = _pattern(front + r"\Z").search(text, max(0, found.start() - 40), found.start())
            if before and _begins(text, before.start()):
                yield before.start(), found.end(), kind


def _begins(text: str, at: int) -> bool:
    """Whether a token may begin here: after no letter or digit but a Chinese one."""
    before = text[at - 1 : at]
    return not (before.isascii() and before.isalnum()) and before != "_"


def _url_passwords(text: str, _: Given) -> Iterator[Span]:
    if "://" not in text:
        return
    for found in _pattern(r"://[^\s:/@]{0,200}:([^\s/\"'`<>]{1,200})@").finditer(text):
        if not placeholder(found[1]):
            yield (*found.span(1), "url_password")


def _headers(text: str, given: Given) -> Iterator[Span]:
    header = r"\bauthorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:\w{3,12}\s{1,3})?"
    for hint, before, length in (
        ("authorization", header, 8),
        ("bearer", r"\bbearer\s{1,3}", 12),
        ("basic", r"\bbasic\s{1,3}", 12),
    ):
        if hint not in given.lower:
            continue
        expression = rf"{before}([a-z0-9._~+/-]{{{length},}}={{0,2}})"
        for found in _pattern(expression, re.IGNORECASE).finditer(text):
            value = found[1]
            # A capital alone begins a sentence: "Basic Authentication".
            if not code(value) and (any(c.isdigit() for c in value) or mixed(value[1:])):
                yield (*found.span(1), "authorization")


# --- labels: "password: ...", "my PIN is ..." --------------------------------------------------

# A word may begin at an underscore or a capital: DB_PASSWORD, userPassword. In Chinese, Japanese
# and Korean it may begin anywhere.
_CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_START = rf"(?:(?<![^\W_])|(?-i:(?<=[a-z])(?=[A-Z]))|(?<=[{_CJK}])|(?=[{_CJK}]))"
_WHOSE = (
    r"(?:[ \t]+(?:for|of|to|für|von|vom|de|del|du|pour|para)(?:[ \t]+[\w.-]{1,30}){1,3}?)?"
)
_VALUE = (
    r"(?:(?P<q>[\"'`「])(?P<quoted>[^\"'`」\n]{1,200})[\"'`」]"
    # "パスワードはxです": what follows in another script is no part of it
    rf"|(?P<plain>[^\s，。；、！？」{_CJK}]+))"
)
_REACH = 24  # characters of a label before, and after, the literal that gives it away


def _labelled(text: str, given: Given) -> Iterator[Span]:
    here = _told(given.lower)
    for kind, (hints, label, verb) in LABELS.items() if here else ():
        near = {at for hint in here.keys() & hints for at in here[hint]}
        if not near:
            continue
        begins = _pattern(rf"{_START}(?={label})", re.IGNORECASE)
        whole = _pattern(rf"(?:{label}){_between(kind, verb)}{_VALUE}", re.IGNORECASE)
        read_to = 0
        for at in sorted(near):
            for begin in begins.finditer(text, max(read_to, at - _REACH), at + _REACH):
                if begin.start() > at:
                    break
                found = whole.match(text, begin.start())
                if found:
                    yield from _value(kind, found, text)
            read_to = at + 1


def _told(lower: str) -> dict[str, list[int]]:
    """Where each literal of a label stands with something behind it that could lead to a secret: no
    place that tells of one is left out, and most of prose is."""
    follows = _pattern(
        rf"{TAIL}(?:[\"'`]?{_WHOSE}[ \t]{{0,3}}(?:(?:value[ \t]?)?(?:[:=：＝]|->)|{IS})"
        r"|[ \t]{1,3}(?:[\"'`「]|\S*?[^\W_a-z]))"
    )
    letters, hints = _label_hints()
    told: dict[str, list[int]] = {}
    for found in letters.finditer(lower):
        at = found.start()
        for hint in hints[found[0]]:
            if lower.startswith(hint, at) and follows.match(lower, at + len(hint)):
                told.setdefault(hint, []).append(at)
    return told


def _between(kind: str, verb: str) -> str:
    """What may stand between a label and its value, as an expression."""
    mark = rf"(?P<mark>(?:value[ \t]?)?(?:=>|->|:=|[:=：＝]{{1,2}})|{verb})"
    between = rf"[\"'`]?{_WHOSE}[ \t]{{0,3}}{mark}(?:[ \t]*[|>][+-]?\n)?[ \t]{{0,9}}"
    return rf"(?:{between}|[ \t]{{1,3}})" if kind in ("password", "secret", "key") else between


def _value(kind: str, found: re.Match[str], text: str) -> Iterator[Span]:
    group = "quoted" if found["q"] else "plain"
    start, stop = found.span(group)
    if kind == "passphrase":
        end = text.find("\n", start)
        words = text[start : end if end >= 0 else len(text)]
        if len(words.split()) >= 3:
            yield start, start + len(words), kind
            return
        kind = "password"
    # a password by another name
    shown = {"pass": "password", "key": "secret"}.get(kind, kind)
    mark = (found["mark"] or "").strip()
    value = found[group]
    if group == "plain":
        value = value.rstrip(".,;:!?)]}>\"'`")
        stop = start + len(value)
    closing = r"[\"'`)]*(?:[ \t]*(?:\n|$)|[.,;!?](?:\s|$)|[，。；、！？])"
    last = _pattern(closing).match(text, stop) is not None
    if not secret_value(kind, value, group == "quoted", mark, last):
        return
    if group == "plain" and mark and mark in ":=：＝":
        stop += len(text[stop : stop + 3]) - len(text[stop : stop + 3].lstrip("!?"))
    yield start, stop, shown
    if shown == "password":
        yield from _beside(text, found.start(), stop)


def _beside(text: str, start: int, stop: int) -> Iterator[Span]:
    """The user name that stands directly before a password's label, or after the password."""
    joint = r"[\s\"'`,;/|，、；。.&]{0,9}(?:and|with|for|und|et|y|和)?[\s\"'`]{0,3}"
    prefix = r"(?:[A-Za-z0-9]{1,20}[_.-]){0,3}"
    is_ = r"[\"'`]?[ \t]{0,3}(?P<mark>[:=：＝]|(?:is|ist|est|es)\b|是|为|は|는|은|[ \t])[ \t]{0,3}"
    user = rf"{_START}(?:{USER}){is_}[\"'`]?(?P<user>[^\s\"'`,;，；、。|]{{2,64}})"
    window = max(0, start - 120)
    for found in _pattern(rf"{user}{joint}{prefix}\Z", re.I).finditer(text[window:start]):
        yield from _user(found, window)
    after = _pattern(rf"\A{joint}{prefix}{user}", re.I).match(text[stop : stop + 120])
    if after:
        yield from _user(after, stop)


def _user(found: re.Match[str], offset: int) -> Iterator[Span]:
    name = found["user"]
    spoken = not found["mark"].strip() and name in ("and", "has", "had", "with", "uses")
    call = _pattern(r"\w+[(\[].*|(?:self|re\w+)\..*").match(name)
    if not (spoken or call or placeholder(name)):
        yield offset + found.start("user"), offset + found.end("user"), "username"


def _markup(text: str, given: Given) -> Iterator[Span]:
    """The content of an element whose name is a label."""
    if "</" not in text or not _has(given.lower, "pass", "pwd", "secret", "token", "key"):
        return
    element = (
        r"<(?P<name>[\w.:-]{0,30}(?:password|passwd|pwd|secret|token|api-?key)[\w.-]{0,30})"
        r"(?:\s[^<>]{0,99})?>(?P<value>[^<>\s]{4,200})</(?P=name)>"
    )
    for found in _pattern(element, re.IGNORECASE).finditer(text):
        kind = "password" if _has(found["name"].lower(), "pass", "pwd") else "secret"
        if secret_value(kind, found["value"], False, ":", True):
            yield (*found.span("value"), kind)


# --- passwords without a label ---------------------------------------------------------------

_SQL = r"[^\n|;]{0,99}?[ \t]-p['\"]?(?P<value>[^\s'\"]{4,99})"
_COMMANDS = (
    (b"sshpass", r"\bsshpass[ \t]+-p[ \t]?['\"]?(?P<value>[^\s'\"]{3,99})"),
    (b"mysql", rf"\b(?:mysql|mysqldump|mysqladmin)\b{_SQL}"),
    (b"mariadb", rf"\bmariadb\b{_SQL}"),
    (
        b"curl",
        r"\bcurl\b[^\n|;]{0,200}?[ \t](?:-u|--user)[ =]?['\"]?"
        r"(?P<value>[^\s'\":]{1,99}:[^\s'\"]{3,99})",
    ),
    (b"sudo", r"\becho[ \t]+['\"]?(?P<value>[^\s'\"]{4,99})['\"]?[ \t]*\|[ \t]*sudo\b"),
    (b"zip", r"\b(?:un)?zip[ \t]+-P[ \t]?['\"]?(?P<value>[^\s'\"]{3,99})"),
    (b"htpasswd", r"\bhtpasswd[ \t]+-\w*b\w*[ \t]+\S{1,99}[ \t]+\S{1,99}[ \t]+(?P<value>\S{3,99})"),
    (b"redis-cli", r"\bredis-cli[^\n|;]{0,99}?[ \t]-a[ \t]['\"]?(?P<value>[^\s'\"]{4,99})"),
    (b"docker", r"\bdocker[ \t]+login[^\n|;]{0,99}?[ \t]-p[ \t]['\"]?(?P<value>[^\s'\"]{4,99})"),
    (
        b"define(",
        r"\bdefine\([ ]?[\"']\w{0,30}PASS\w{0,9}[\"'],[ ]?[\"'](?P<value>[^\"'\n]{4,99})[\"']",
    ),
)


def _commands(text: str, given: Given) -> Iterator[Span]:
    if not any(sign in given.raw for sign in (b" -", b"\t-", b"|", b"define(")):
        return
    for hint, expression in _COMMANDS:
        if hint in given.raw:
            for found in _pattern(expression).finditer(text):
                if not placeholder(found["value"].rpartition(":")[2]):
                    yield (*found.span("value"), "password")


def _spoken(text: str, given: Given) -> Iterator[Span]:
    """ "x9 is the root password", "credentials: bob / x9", "ssh bob:x9@host": only what stands out
    of a sentence by itself."""
    asserted = r"(?:as|is)[ \t]+(?:the|my|our|your)[ \t]+(?:[\w-]{1,20}[ \t]+){0,2}"
    named = r"(?:password|passphrase|pw|token|secret|api[ ]key)\b"
    pair = (
        r"(?:creds?|credentials?|log[ ]?in)\b[^\n/:]{0,20}?[ \t:=]{1,3}[\w.@-]{2,64}[ ]?[/:][ ]?"
        r"(?P<value>[^\s\"'`]{6,64})"
    )
    found: list[tuple[int, str]] = []
    for at in _places((" as ", " is "), given.lower):
        if not _pattern(asserted + named).match(given.lower, at + 1):
            continue
        value = _pattern(r"[^\s\"'`]{6,64}(?=[\"'`]?\Z)").search(text[max(0, at - 70) : at])
        if value:
            found.append((max(0, at - 70) + value.start(), value[0]))
    for at in _places(("cred", "login", "log in"), given.lower):
        match = _pattern(pair, re.I).match(text, at)
        found += [(match.start("value"), match["value"])] if match else []
    for at in _places("@", text):
        value = _pattern(r"(?<![\w/:.])[\w.-]{2,32}:([^\s:/@]{6,64})\Z").search(
            text, max(0, at - 100), at
        )
        if value and _pattern(r"@(?!sha\d)[\w-]{2,}[.:]\w").match(text, at):
            found.append((value.start(1), value[1]))
    for start, shown in found:
        password = shown.rstrip(".,;:)")
        if odd(password) and not code(password):
            yield start, start + len(password), "password"


# --- numbers and noise -----------------------------------------------------------------------

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


def _cards(text: str, given: Given) -> Iterator[Span]:
    if not _number().search(given.raw.translate(_SHAPES)):
        return
    for found in _pattern(_CARD, re.ASCII).finditer(text):
        if luhn([int(digit) for digit in found[0] if digit.isdigit()]):
            yield (*found.span(), "card_number")


# Country, two check digits, then up to 30 letters and digits, in fours where they are spaced.
_IBAN = (
    r"(?<![A-Za-z0-9_])[A-Z]{2}\d{2}( ?)[A-Z0-9]{4}(?:\1[A-Z0-9]{4}){1,6}(?:\1[A-Z0-9]{1,3})?"
    r"(?![A-Za-z0-9_])"
)


def _ibans(text: str, _: Given) -> Iterator[Span]:
    for found in _pattern(_IBAN, re.ASCII).finditer(text):
        plain = found[0].replace(" ", "")
        if mod97("".join(str(int(char, 36)) for char in plain[4:] + plain[:4])):
            yield (*found.span(), "iban")


# Ids of sessions and calls, checksums of lock files, public keys: random, and no secret.
_PUBLIC = r"(?:ses|msg|prt|call|toolu|chatcmpl|req|run|evt|sha\d{1,3}|h1|AAAA)(?:[_:=-]|[A-Z])"
_NOISE = 32  # characters


def _high_entropy(text: str, _: Given) -> Iterator[Span]:
    """Random-looking runs of both cases and digits. Hashes and UUIDs have one case only."""
    run = rf"(?<![\w:/.#?&%-])[A-Za-z0-9+/_-]{{{_NOISE},}}={{0,2}}"
    for found in _pattern(run).finditer(text):
        if _pattern(_PUBLIC).match(found[0]) or not noisy(found[0]):
            continue
        # pictures and fonts in a page: data:image/png;base64,...
        before = text[max(0, found.start() - 70) : found.start()]
        if not _pattern(r"data:[\w/+.-]{0,50};base64,\Z").search(before):
            yield (*found.span(), "high_entropy")


# What is named first wins where two rules find the same: PIN, pair and password, bearer, the rest.
# With each, how long the longest word of a text must be for it to find anything.
_RULES: tuple[tuple[Callable[..., Iterator[Span]], int], ...] = (
    (_private_keys, 0),
    (_tokens, _SHORTEST_TOKEN),
    (_inner_tokens, _SHORTEST_INNER),
    (_url_passwords, 0),
    (_labelled, 0),
    (_markup, 0),
    (_commands, 0),
    (_spoken, 0),
    (_headers, 0),
    (_cards, 0),
    (_ibans, 0),
    (_high_entropy, _NOISE),
)
