"""What must never be stored: `<private>` text and secrets. Runs before the network and before git.

A rule finds spans; spans that touch are merged; each becomes `[redacted:<kind>]`. Patterns are
compiled at their first use, because every command pays for the import.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from mdmemory.capture.secret_shapes import (
    INNER_TOKENS,
    LABELS,
    TOKENS,
    USER,
    code,
    luhn,
    mixed,
    noisy,
    odd,
    placeholder,
    secret_value,
)

Span = tuple[int, int, str]


def strip_private(text: str) -> tuple[str, int]:
    """`text` without its `<private>` and `[PRIVATE]` blocks, and how many (a nest counts once).

    Case does not matter, code is no exception, and a block left open reaches to the end.
    """
    kept: list[str] = []
    blocks = start = 0
    depth = {"<": 0, "[": 0}
    tags = (
        r"(?P<form><)\s{0,9}(?P<end>/?)\s{0,9}private(?:\s[^<>]{0,200})?>"
        # not a link: [private](notes.md)
        r"|(?P<square>\[)(?P<close>/?)private\](?!\()"
    )
    for tag in re.finditer(tags, text, re.IGNORECASE):
        form = tag["form"] or tag["square"]
        ends = bool(tag["end"] or tag["close"])
        if ends and depth[form] == 0:
            continue
        if not any(depth.values()):
            kept.append(text[start : tag.start()])
            blocks += 1
        depth[form] += -1 if ends else 1
        start = tag.end()
    if not any(depth.values()):
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
        lower = piece.lower()
        if len(lower) != len(piece):  # one character of Turkish becomes two
            lower = "".join(c.lower() if len(c.lower()) == 1 else c for c in piece)
        for rule in _RULES:
            yield from ((start + a, start + b, kind) for a, b, kind in rule(piece, lower))
        start = mark.end() if mark else start


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
def _label_hints() -> tuple[str, ...]:
    return tuple({hint for hints, _, _ in LABELS.values() for hint in hints})


# --- shapes ----------------------------------------------------------------------------------


def _private_keys(text: str, _: str) -> Iterator[Span]:
    """From the first line of a key with something in it to its last line, or to the end."""
    if "PRIVATE KEY" not in text:
        return
    block = (
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?=[\s\S]{0,300}?[A-Za-z0-9+/]{16})"
        r"(?:[\s\S]*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|[\s\S]*)"
    )
    for found in _pattern(block).finditer(text):
        yield (*found.span(), "private_key")


def _tokens(text: str, _: str) -> Iterator[Span]:
    any_beginning, rules = _beginnings()
    here = {rule for hint in set(any_beginning.findall(text)) for rule in rules[hint]}
    for kind, beginnings, expression in (TOKENS[rule] for rule in sorted(here)):
        stop = 0
        for at in sorted(_places(beginnings, text)):
            if at < stop or not _begins(text, at):
                continue
            found = _pattern(expression).match(text, at)
            if found:
                stop = found.end()
                if mixed(found[0][4:]):
                    yield (*found.span(), kind)


def _inner_tokens(text: str, _: str) -> Iterator[Span]:
    for kind, hint, front, rest in INNER_TOKENS:
        for found in _pattern(rest).finditer(text) if hint in text else ():
            before = _pattern(front + r"\Z").search(text, max(0, found.start() - 40), found.start())
            if before and _begins(text, before.start()):
                yield before.start(), found.end(), kind


def _begins(text: str, at: int) -> bool:
    """Whether a token may begin here: after no letter or digit but a Chinese one."""
    before = text[at - 1 : at]
    return not (before.isascii() and before.isalnum()) and before != "_"


def _url_passwords(text: str, _: str) -> Iterator[Span]:
    if "://" not in text:
        return
    for found in _pattern(r"://[^\s:/@]{0,200}:([^\s/\"'`<>]{1,200})@").finditer(text):
        if not placeholder(found[1]):
            yield (*found.span(1), "url_password")


def _headers(text: str, lower: str) -> Iterator[Span]:
    header = r"\bauthorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:\w{3,12}\s{1,3})?"
    for hint, before, length in (
        ("authorization", header, 8),
        ("bearer", r"\bbearer\s{1,3}", 12),
        ("basic", r"\bbasic\s{1,3}", 12),
    ):
        if hint not in lower:
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


def _labelled(text: str, lower: str) -> Iterator[Span]:
    here = {hint for hint in _label_hints() if hint in lower}
    for kind, (hints, label, verb) in LABELS.items() if here else ():
        near = set(_places(here.intersection(hints), lower))
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


def _markup(text: str, lower: str) -> Iterator[Span]:
    """The content of an element whose name is a label."""
    if "</" not in text or not _has(lower, "pass", "pwd", "secret", "token", "key"):
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

_COMMANDS = (
    ("sshpass", r"\bsshpass[ \t]+-p[ \t]?['\"]?(?P<value>[^\s'\"]{3,99})"),
    (
        "-p",
        r"\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;]{0,99}?[ \t]-p['\"]?"
        r"(?P<value>[^\s'\"]{4,99})",
    ),
    (
        "curl",
        r"\bcurl\b[^\n|;]{0,200}?[ \t](?:-u|--user)[ =]?['\"]?"
        r"(?P<value>[^\s'\":]{1,99}:[^\s'\"]{3,99})",
    ),
    ("sudo", r"\becho[ \t]+['\"]?(?P<value>[^\s'\"]{4,99})['\"]?[ \t]*\|[ \t]*sudo\b"),
    ("zip", r"\b(?:un)?zip[ \t]+-P[ \t]?['\"]?(?P<value>[^\s'\"]{3,99})"),
    ("htpasswd", r"\bhtpasswd[ \t]+-\w*b\w*[ \t]+\S{1,99}[ \t]+\S{1,99}[ \t]+(?P<value>\S{3,99})"),
    ("redis-cli", r"\bredis-cli[^\n|;]{0,99}?[ \t]-a[ \t]['\"]?(?P<value>[^\s'\"]{4,99})"),
    ("docker", r"\bdocker[ \t]+login[^\n|;]{0,99}?[ \t]-p[ \t]['\"]?(?P<value>[^\s'\"]{4,99})"),
    (
        "define(",
        r"\bdefine\([ ]?[\"']\w{0,30}PASS\w{0,9}[\"'],[ ]?[\"'](?P<value>[^\"'\n]{4,99})[\"']",
    ),
)


def _commands(text: str, _: str) -> Iterator[Span]:
    for hint, expression in _COMMANDS:
        if hint in text:
            for found in _pattern(expression).finditer(text):
                if not placeholder(found["value"].rpartition(":")[2]):
                    yield (*found.span("value"), "password")


def _spoken(text: str, lower: str) -> Iterator[Span]:
    """ "x9 is the root password", "credentials: bob / x9", "ssh bob:x9@host": only what stands out
    of a sentence by itself."""
    asserted = r"(?:as|is)[ \t]+(?:the|my|our|your)[ \t]+(?:[\w-]{1,20}[ \t]+){0,2}"
    named = r"(?:password|passphrase|pw|token|secret|api[ ]key)\b"
    pair = (
        r"(?:creds?|credentials?|log[ ]?in)\b[^\n/:]{0,20}?[ \t:=]{1,3}[\w.@-]{2,64}[ ]?[/:][ ]?"
        r"(?P<value>[^\s\"'`]{6,64})"
    )
    found: list[tuple[int, str]] = []
    for at in _places((" as ", " is "), lower):
        value = _pattern(r"[^\s\"'`]{6,64}(?=[\"'`]?\Z)").search(text[max(0, at - 70) : at])
        if value and _pattern(asserted + named, re.I).match(text, at + 1):
            found.append((max(0, at - 70) + value.start(), value[0]))
    for at in _places(("cred", "login", "log in"), lower):
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

# Length and first digits of the issuers; the check digit alone lets one number in ten through.
_CARD = (
    r"(?<![\w.+-])(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6\d{3}|3\d{3})"
    r"(?:([ -]?)\d{4}\1\d{4}\1\d{4}|([ -]?)\d{6}\2\d{4,5})(?![\w-]|\.\d)"
)


def _cards(text: str, _: str) -> Iterator[Span]:
    if not _pattern(r"\d{4}[ -]?\d{4}", re.ASCII).search(text):
        return
    for found in _pattern(_CARD, re.ASCII).finditer(text):
        if luhn([int(digit) for digit in found[0] if digit.isdigit()]):
            yield (*found.span(), "card_number")


# Ids of sessions and calls, checksums of lock files, public keys: random, and no secret.
_PUBLIC = r"(?:ses|msg|prt|call|toolu|chatcmpl|req|run|evt|sha\d{1,3}|h1|AAAA)(?:[_:=-]|[A-Z])"
_NOISE = 32  # characters


def _high_entropy(text: str, _: str) -> Iterator[Span]:
    """Random-looking runs of both cases and digits. Hashes and UUIDs have one case only."""
    if not any(len(word) >= _NOISE for word in text.split()):
        return
    run = rf"(?<![\w:/.#?&%-])[A-Za-z0-9+/_-]{{{_NOISE},}}={{0,2}}"
    for found in _pattern(run).finditer(text):
        if _pattern(_PUBLIC).match(found[0]) or not noisy(found[0]):
            continue
        # pictures and fonts in a page: data:image/png;base64,...
        before = text[max(0, found.start() - 70) : found.start()]
        if not _pattern(r"data:[\w/+.-]{0,50};base64,\Z").search(before):
            yield (*found.span(), "high_entropy")


# What is named first wins where two rules find the same: PIN, pair and password, bearer, the rest.
_RULES = (
    _private_keys,
    _tokens,
    _inner_tokens,
    _url_passwords,
    _labelled,
    _markup,
    _commands,
    _spoken,
    _headers,
    _cards,
    _high_entropy,
)
