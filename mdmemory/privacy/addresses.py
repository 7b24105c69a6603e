"""Passwords in addresses of servers and in commands: `db://me:x@host`, `curl -u me:x`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdmemory.privacy.matching import Span, compile_shape
from mdmemory.privacy.values import (
    WEAK,
    grade_word,
    is_code,
    is_hexlike,
    is_noisy,
    is_odd,
    is_pinlike,
    is_placeholder,
    made_up,
)

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
            first = "user" if is_hexlike(match["user"]) else "value"
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
    return (
        is_placeholder(value) or value == user or value.lower() in ("postgres", "guest", "passwd")
    )


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
            if not (variable or _is_stand_in(user, shown) or is_code(shown)):
                yield (*match.span(group), "password")


# --- a name and a password, without a label

_CREDENTIALS = ("login", "log in", "cred", "zugangsdaten", "identifiants")
_OTHER_CREDENTIALS = ("账号", "帳號", "계정", "ログイン", "логин", "доступ")
_PAIR = re.compile(
    r"\w{0,12}[^\n/:]{0,20}?[ \t:：=]{1,3}[\w.@-]{2,64}[ ]?[/:](?!/)[ ]?(?P<value>[^\s\"'`]{6,64})"
)
_NAME = re.compile(r"(?i:\b(?:admin|root|user|administrator|guest|sa|postgres|deploy))\Z")
_AFTER = re.compile(r" / (?P<value>[^\s\"'`]{6,64})")


def _hint_places(hint: str, text: str) -> Iterator[int]:
    at = text.find(hint)
    while at >= 0:
        yield at
        at = text.find(hint, at + len(hint))


def find_pairs(text: str, lower: str) -> Iterator[Span]:
    """`credentials: bob / x9`, `admin / x9!b`, `ssh bob:x9@host`: what stands out by itself."""
    hints = _CREDENTIALS if lower.isascii() else (*_CREDENTIALS, *_OTHER_CREDENTIALS)
    for hint in [hint for hint in hints if hint in lower]:
        for at in _hint_places(hint, lower):
            match = _PAIR.match(text, at + len(hint))
            if match:
                yield from _standing_out(match.start("value"), match["value"])
    for at in _hint_places(" / ", text) if " / " in text else ():
        match = _AFTER.match(text, at)
        if match and _NAME.search(text[max(0, at - 14) : at]):
            yield from _standing_out(match.start("value"), match["value"])
    before = compile_shape(r"(?<![\w/:.])[\w.-]{2,32}:([^\s:/@]{6,64})\Z")
    for at in _hint_places("@", text) if "@" in text else ():
        value = before.search(text, max(0, at - 100), at)
        if value and compile_shape(r"@(?!sha\d)[\w-]{2,}[.:]\w").match(text, at):
            yield from _standing_out(value.start(1), value[1])
    if "AKIA" in text or "ASIA" in text:
        yield from _key_pairs(text)


def _standing_out(start: int, shown: str) -> Iterator[Span]:
    password = shown.rstrip(".,;:)")
    if made_up(password) or is_placeholder(password) or is_code(password) or is_pinlike(password):
        return
    if grade_word(password) >= WEAK or (is_odd(password) and not is_hexlike(password)):
        yield start, start + len(password), "password"


def _key_pairs(text: str) -> Iterator[Span]:
    """The secret beside the public id of an AWS key: `AKIA... / secret`."""
    for match in compile_shape(
        r"\bA[KS]IA[A-Z0-9]{16}[\"']?[ \t]{0,3}[/:,|][ \t]{0,3}[\"']?([A-Za-z0-9/+=]{40})(?![\w/+])"
    ).finditer(text):
        if is_noisy(match[1], 0.3) and not made_up(match[1]):
            yield (*match.span(1), "aws_secret")
