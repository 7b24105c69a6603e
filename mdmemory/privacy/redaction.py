"""Secrets, which must never be stored: taken out, and whether a text still says anything then.
Runs before the network and before git.

A rule finds spans; spans that touch are merged; each becomes `[redacted:<kind>]`. A rule looks
first for what is cheap to see and must be there: most texts hold no secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from mdmemory.privacy import lexicon, tokens, values
from mdmemory.privacy.lexicon import SHOWN, Span, compile_shape, stands_at
from mdmemory.text.words import CJK

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
        piece = text[start : mark.start()] if mark else text[start:]
        for hint, expression in _PUBLIC:  # what is public is made unreadable
            if hint in piece:
                piece = re.sub(expression, lambda match: re.sub(r"\S", MASK, match[0]), piece)
        lower = piece.lower()
        if len(lower) != len(piece):  # one character of Turkish becomes two
            lower = "".join(c.lower() if len(c.lower()) == 1 else c for c in piece)
        if not lower.isascii():  # the two that ignoring case would not tell apart
            lower = lower.replace("ſ", "s").replace("ı", "i")
        longest = max(map(len, piece.split()), default=0)
        for length, rule in _RULES:
            for a, b, kind in rule(piece, lower) if longest >= length else ():
                yield start + a, start + b, kind
        start = mark.end() if mark else start


# --- what is meant to be seen: public keys, digests, pictures

# No letter, digit or blank, so that no rule reads it as a part of a word.
MASK = "\ue000"

# A literal that must be there, and what is public around it.
_PUBLIC = (
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
)  # fmt: skip


# --- the rules


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
        good = len(value) >= 8 and values.is_mixed(value)
        if is_password:
            good = values.is_passwordlike(value, True)
        if good and not values.is_placeholder(value) and not values.is_code(value):
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
            random = any(c.isdigit() for c in value) or values.is_mixed(value[1:])
            if random and not values.is_for_show(value):
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
            if any(map(str.isdigit, value)):
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
            digits = [int(digit) for digit in match[0] if digit.isdigit()]
            doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
            if (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0:  # the last is a check digit
                yield (*match.span(), "card_number")
    if b"AA00" in form:
        for match in compile_shape(_IBAN, re.ASCII).finditer(text):
            plain = match[0].replace(" ", "")
            if int("".join(str(int(char, 36)) for char in plain[4:] + plain[:4])) % 97 == 1:
                yield (*match.span(), "iban")


# Ids of sessions and calls, checksums of lock files, public keys: random, and no secret.
_PUBLIC_ID = r"(?:ses|msg|prt|call|toolu|chatcmpl|req|run|evt|sha\d{1,3}|h1|AAAA)(?:[_:=-]|[A-Z])"
NOISE = 32  # characters
_RUN = rf"(?<![\w:/.#?&%-])[A-Za-z0-9+/_-]{{{NOISE},}}={{0,2}}"


def find_noise(text: str, _: str) -> Iterator[Span]:
    """Random-looking runs of both cases and digits. Hashes and UUIDs have one case only."""
    at = 0
    for word in text.split():
        if len(word) < NOISE:
            continue
        public = compile_shape(_PUBLIC_ID)
        runs = (run for run in compile_shape(_RUN).finditer(word) if not public.match(run[0]))
        spans = [run.span() for run in runs if values.is_noisy(run[0])]
        if spans:
            at = stands_at(word, text, at)
            yield from ((at + start, at + end, "high_entropy") for start, end in spans)
            at += len(word)


_DIGITS = re.compile(r"\d{1,5}(?:/|$)")


def find_addresses(text: str, lower: str) -> Iterator[Span]:
    """The password before a host. It may hold a slash; a port with a path is none."""
    at = text.find("://")
    address = compile_shape(
        r"://(?P<user>[^\s/@\"'`<>]{0,120}?):(?P<value>[^\s\"'`<>]{1,200}?)@(?=[\w\[$-][^\s@]{0,200}(?:\s|$|[\"'`<>),;])"
        r"|[\w\[][\w.\]-]{0,200}(?:[:/?,]|$|\s|[\"'`<>)]))"
    )
    while at >= 0:
        match = address.match(text, at, at + 520)
        if (
            match
            and not _DIGITS.match(match["value"])
            and not _is_stand_in(match["user"], match["value"])
        ):
            # of an old address of Sentry's both halves are keys
            first = "user" if values.is_hexlike(match["user"]) else "value"
            yield match.start(first), match.end("value"), "url_password"
        at = text.find("://", at + 3)
    shapes = [shape for hint, shape in _CONNECTIONS if hint in lower]
    if _PORT.search(text):
        shapes.append(_PGPASS)
    for shape in shapes:
        for match in compile_shape(shape).finditer(text):
            if not _is_stand_in("", match["value"]):
                yield (*match.span("value"), "password")


def _is_stand_in(user: str, value: str) -> bool:
    """Whether it only shows where a password would stand: user:password, guest:guest, $X."""
    known = value == user or value.lower() in ("postgres", "guest", "passwd")
    return known or values.is_placeholder(value)


_PORT = re.compile(r":(?:\d{2,5}|\*):")
# a line of .pgpass: host, port, database, user, password
_PGPASS = (
    rf"(?m)^[\w.*-]{{1,99}}{_PORT.pattern}[\w*-]{{1,60}}:[\w.*-]{{1,60}}:(?P<value>\S{{3,99}})$"
)
_ORACLE = (
    r"(?i:\b(?:sqlplus|sqlldr|expdp|impdp|exp|imp|jdbc:oracle:thin:|rman target)"
    r"[ \t]{0,3}(?:-\w[ \t]+)?)[\w.-]{1,60}/\"?(?P<value>[^\s@\"]{3,99})\"?@"
)
_NETRC = r"\bmachine[ \t]+\S{1,99}\s+login\s+\S{1,99}\s+password\s+(?P<value>\S{3,99})"
# What has to stand in the text, in small letters, and the shape that is looked for then.
_CONNECTIONS = (
    *((name, _ORACLE) for name in ("sqlplus", "sqlldr", "expdp", "impdp", "oracle:thin", "rman")),
    ("@tcp(", r"(?<![\w:])[\w.-]{1,60}:(?P<value>[^\s:@]{3,99})@tcp\("),  # Go's form for MySQL
    ("@unix(", r"(?<![\w:])[\w.-]{1,60}:(?P<value>[^\s:@]{3,99})@unix\("),
    ("machine", _NETRC),
)

_ANY = (
    r"(?:'(?P<value1>[^'\n]{3,99})'|\"(?P<value2>[^\"\n]{3,99})\"|(?P<value3>[^\s'\"|;&<>]{3,99}))"
)
_SHORT = r"[^\n|;]{0,160}?[ \t]"


def _flag_of(commands: str, flags: str, blank: str = r"[ \t=]{1,3}") -> tuple[str, str]:
    return commands, rf"\b(?:{commands})\b{_SHORT}(?:{flags}){blank}{_ANY}"


# What has to stand in the text, in small letters (one of some), and the shape behind it.
_COMMANDS = (
    ("sshpass", rf"\bsshpass[ \t]+-p[ \t]?{_ANY}"),
    _flag_of("mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump", "-p", ""),
    _flag_of("curl", "-u|--user|-U|--proxy-user", r"[ \t=]{0,3}"),
    ("sudo", rf"\becho[ \t]+(?:-n[ \t]+)?{_ANY}[ \t]*\|[ \t]*sudo\b"),
    ("chpasswd", r"\becho[ \t]+['\"]?[\w.-]{1,40}:(?P<value3>[^\s'\"]{3,99})['\"]?[ \t]*\|"
                 r"[^\n]{0,20}chpasswd"),
    ("passwd", rf"\becho[ \t]+{_ANY}[ \t]*\|[ \t]*(?:sudo[ \t]+)?passwd\b"),
    ("zip", rf"\b(?:un)?zip[ \t]+-P[ \t]?{_ANY}"),
    ("7z", rf"\b7z[ \t]+\w{_SHORT}-p{_ANY}"),
    ("htpasswd", r"\bhtpasswd[ ]+-\w*b\w*(?:[ ]+[^\s\\]{1,99}){2}[ ]+(?P<value3>[^\s\\]{3,99})"),
    _flag_of("redis-cli", "-a|--pass"),
    _flag_of("docker login|podman login|helm registry login|az login|oc login|cf login|"
             "skopeo login", "-p|--password"),
    ("vault login", rf"\bvault login[ \t]+{_ANY}"),
    _flag_of("sqlcmd|bcp|osql", "-P", r"[ \t]?"),
    _flag_of("ldapsearch|ldapadd|ldapmodify|ldapwhoami|ldappasswd", "-w"),
    _flag_of("mosquitto_pub|mosquitto_sub", "-P"),
    _flag_of("ipmitool", "-P"),
    _flag_of("mongo|mongosh|mongodump|mongorestore|mongoexport", "-p"),
    _flag_of("cqlsh", "-p|--password"),
    _flag_of("cypher-shell", "-p"),
    _flag_of("influx", "-password|-p"),
    _flag_of("keytool|jarsigner|apksigner", "-(?:src|dest)?(?:store|key)pass"),
    ("openssl", r"-pass(?:in|out)?[ \t]+pass:(?P<value3>[^\s'\"]{3,99})"),
    ("net use", r"\bnet use\b[^\n]{0,120}?/user:\S{1,60}[ \t]+(?P<value3>[^\s/\\]\S{3,99})"),
    ("net use",
     r"\bnet use[ \t]+(?:[A-Za-z*]:?[ \t]+)?\\\\\S{1,80}[ \t]+"
     r"(?P<value7>[^\s/*]\S{3,99})[ \t]+/user:"),
    ("net user", r"\bnet user[ \t]+\S{1,60}[ \t]+(?P<value3>[^\s/*]\S{3,99})"),
    ("smb", r"(?:-U|--user)[ =][\w.\\-]{1,60}%(?P<value3>[^\s'\"]{3,99})"),
    ("freerdp", r"/p:(?P<value3>[^\s'\"]{3,99})"),
    ("-u", rf"[ \t](?:-u|--user|--username)[ =]\S{{1,60}}[ \t]+-p[ =]?{_ANY}"),
)  # fmt: skip


def find_commands(text: str, lower: str) -> Iterator[Span]:
    """What a command is given as a password."""
    if not any(sign in text for sign in (" -", "\t-", "|", "/user:", "/p:", "net user", "login ")):
        return
    for names, shape in _COMMANDS:
        if not any(name in lower for name in names.split("|")):
            continue
        for match in compile_shape(shape).finditer(text):
            group = next(name for name, value in match.groupdict().items() if value is not None)
            user, shown = "", match[group]
            if names == "curl":
                if ":" not in shown:
                    continue
                user, shown = shown.partition(":")[0], shown.rpartition(":")[2]
            variable = shown.isupper() and shown.isalpha()
            if not (variable or _is_stand_in(user, shown) or values.is_code(shown)):
                yield (*match.span(group), "password")


# --- a name and a password, without a label

_CREDENTIALS = ("login", "log in", "cred", "zugangsdaten", "identifiants")
_OTHER_CREDENTIALS = ("账号", "帳號", "계정", "ログイン", "логин", "доступ")
_PAIR = (
    # a slash behind a blank begins a path, unless one follows it, too
    r"\w{0,12}[^\n/:]{0,20}?[ \t:：=]{1,3}[\w.@-]{2,64}(?:[ ]?:(?!/)[ ]?|/(?!/)[ ]?|[ ]/[ ])"
    r"(?P<value>[^\s\"'`]{6,64})"
)
_NAME = r"(?i:\b(?:admin|root|user|administrator|guest|sa|postgres|deploy))\Z"
_AFTER = r" / (?P<value>[^\s\"'`]{6,64})"


def _hint_places(hint: str, text: str) -> Iterator[int]:
    return (match.start() for match in compile_shape(re.escape(hint)).finditer(text))


def find_pairs(text: str, lower: str) -> Iterator[Span]:
    """`credentials: bob / x9`, `admin / x9!b`, `ssh bob:x9@host`: what stands out by itself."""
    hints = _CREDENTIALS if lower.isascii() else (*_CREDENTIALS, *_OTHER_CREDENTIALS)
    for hint in [hint for hint in hints if hint in lower]:
        for at in _hint_places(hint, lower):
            match = compile_shape(_PAIR).match(text, at + len(hint))
            if match:
                yield from _standing_out(match.start("value"), match["value"])
    for at in _hint_places(" / ", text):
        match = compile_shape(_AFTER).match(text, at)
        if match and re.search(_NAME, text[max(0, at - 14) : at]):
            yield from _standing_out(match.start("value"), match["value"])
    before = compile_shape(r"(?<![\w/:.])[\w.-]{2,32}:([^\s:/@]{6,64})\Z")
    for at in _hint_places("@", text):
        value = before.search(text, max(0, at - 100), at)
        if value and compile_shape(r"@(?!sha\d)[\w-]{2,}[.:]\w").match(text, at):
            yield from _standing_out(value.start(1), value[1])
    # the secret beside the public id of an AWS key: `AKIA... / secret`
    pair = (
        r"\bA[KS]IA[A-Z0-9]{16}[\"']?[ \t]{0,3}[/:,|][ \t]{0,3}[\"']?([A-Za-z0-9/+=]{40})(?![\w/+])"
    )
    for match in compile_shape(pair).finditer(text) if "AKIA" in text or "ASIA" in text else ():
        if values.is_noisy(match[1], 0.3) and not values.made_up(match[1]):
            yield (*match.span(1), "aws_secret")


def _standing_out(start: int, shown: str) -> Iterator[Span]:
    password = shown.rstrip(".,;:)")
    if values.is_for_show(password) or values.is_pinlike(password):
        return
    odd = values.is_odd(password) and not values.is_hexlike(password)
    if odd or values.grade_word(password) >= values.WEAK:
        yield start, start + len(password), "password"


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
    (0, private_keys),
    (tokens.SHORTEST, tokens.find_tokens),
    (0, find_addresses),
    (0, _find_named),
    (0, find_markup),
    (0, find_commands),
    (0, find_pairs),
    (0, find_headers),
    (0, find_numbers),
    (NOISE, find_noise),
)


# --- what is left

LEAST = 3  # words with a meaning of their own that a clause needs

_CLAUSE = r"[.;!?](?:\s|$)|,\s|[\n。；！？，、]|\s[–—-]\s"
_WORD = rf"[{CJK}]+|[^\W_][^\W_'’]*"
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
_NAMED = rf"\[redacted:(?:{'|'.join(sorted({*SHOWN.values()}))})\]"


def says_something(text: str) -> bool:
    """Whether a redacted text states a fact besides the secrets that it had.

    A clause that a label or a lock names says nothing without its secret. A text without a mark
    says what it says.
    """
    if not MARK.search(text):
        return True
    return any(_count_meaning(clause) >= LEAST for clause in re.split(_CLAUSE, text))


def _count_meaning(clause: str) -> int:
    """How many words of a clause mean something by themselves; three Chinese characters are one."""
    if re.search(_NAMED, clause):
        return 0
    bare = MARK.sub(" ", clause)
    lower = bare.lower()
    named = lexicon.find_labels(bare, lower) if len(lower) == len(bare) else []
    labelled = bare != clause and any(label.kind in SHOWN for label in named)
    for label in reversed(named):
        lower = lower[: label.start] + " " + lower[label.end :]
    counted = 0.0
    for word in re.findall(_WORD, lower):
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
