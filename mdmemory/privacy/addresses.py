"""Passwords in addresses of servers and in commands: `db://me:x@host`, `curl -u me:x`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from mdmemory.privacy.values import (
    WEAK,
    code,
    grade,
    hexlike,
    made_up,
    noisy,
    odd,
    pinlike,
    placeholder,
)

Span = tuple[int, int, str]
_DIGITS = re.compile(r"\d{1,5}(?:/|$)")


@cache
def _pattern(expression: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(expression, flags)


def addresses(text: str, _: str) -> Iterator[Span]:
    """The password before a host. It may hold a slash; a port with a path is none."""
    at = text.find("://")
    address = _pattern(
        r"://(?P<user>[^\s/@\"'`<>]{0,120}?):(?P<value>[^\s\"'`<>]{1,200}?)@(?=[\w\[$-][^\s@]{0,200}(?:\s|$|[\"'`<>),;])"
        r"|[\w\[][\w.\]-]{0,200}(?:[:/?,]|$|\s|[\"'`<>)]))"
    )
    while at >= 0:
        found = address.match(text, at, at + 520)
        if (
            found
            and not _DIGITS.match(found["value"])
            and not _is_stand_in(found["user"], found["value"])
        ):
            # of an old address of Sentry's both halves are keys
            first = "user" if hexlike(found["user"]) else "value"
            yield found.start(first), found.end("value"), "url_password"
        at = text.find("://", at + 3)
    for hint, expression in _CONNECTIONS:
        for found in _pattern(expression).finditer(text) if _pattern(hint).search(text) else ():
            if not _is_stand_in("", found["value"]):
                yield (*found.span("value"), "password")


def _is_stand_in(user: str, value: str) -> bool:
    """Whether it only shows where a password would stand: user:password, guest:guest, $X."""
    return placeholder(value) or value == user or value.lower() in ("postgres", "guest", "passwd")


_CONNECTIONS = (
    # Oracle, and Go's form for MySQL
    (r"(?i:sqlplus|sqlldr|expdp|impdp|oracle:thin|rman)",
     r"(?i:\b(?:sqlplus|sqlldr|expdp|impdp|exp|imp|jdbc:oracle:thin:|rman target)"
     r"[ \t]{0,3}(?:-\w[ \t]+)?)"
     r"[\w.-]{1,60}/\"?(?P<value>[^\s@\"]{3,99})\"?@"),
    (r"@tcp\(", r"(?<![\w:])[\w.-]{1,60}:(?P<value>[^\s:@]{3,99})@tcp\("),
    (r"@unix\(", r"(?<![\w:])[\w.-]{1,60}:(?P<value>[^\s:@]{3,99})@unix\("),
    # .pgpass: host, port, database, user, password
    (r":(?:\d{2,5}|\*):", r"(?m)^[\w.*-]{1,99}:(?:\d{2,5}|\*):[\w*-]{1,60}:[\w.*-]{1,60}:"
                           r"(?P<value>\S{3,99})$"),
    # .netrc
    ("machine", r"\bmachine[ \t]+\S{1,99}\s+login\s+\S{1,99}\s+password\s+(?P<value>\S{3,99})"),
)  # fmt: skip

_ANY = (
    r"(?:'(?P<value1>[^'\n]{3,99})'|\"(?P<value2>[^\"\n]{3,99})\"|(?P<value3>[^\s'\"|;&<>]{3,99}))"
)
_SHORT = r"[^\n|;]{0,160}?[ \t]"


def _flag(command: str, flag: str, blank: str = r"[ \t=]{1,3}") -> str:
    return rf"\b(?:{command})\b{_SHORT}(?:{flag}){blank}{_ANY}"


_COMMANDS = (
    ("sshpass", rf"\bsshpass[ \t]+-p[ \t]?{_ANY}"),
    ("mysql", rf"\b(?:mysql|mysqldump|mysqladmin|mysqlimport)\b{_SHORT}-p{_ANY}"),
    ("mariadb", rf"\b(?:mariadb|mariadb-dump)\b{_SHORT}-p{_ANY}"),
    ("curl", _flag("curl", "-u|--user|-U|--proxy-user", r"[ \t=]{0,3}")),
    ("sudo", rf"\becho[ \t]+(?:-n[ \t]+)?{_ANY}[ \t]*\|[ \t]*sudo\b"),
    ("chpasswd", r"\becho[ \t]+['\"]?[\w.-]{1,40}:(?P<value3>[^\s'\"]{3,99})['\"]?[ \t]*\|"
                 r"[^\n]{0,20}chpasswd"),
    ("passwd", rf"\becho[ \t]+{_ANY}[ \t]*\|[ \t]*(?:sudo[ \t]+)?passwd\b"),
    ("zip", rf"\b(?:un)?zip[ \t]+-P[ \t]?{_ANY}"),
    ("7z", rf"\b7z[ \t]+\w{_SHORT}-p{_ANY}"),
    ("htpasswd", r"\bhtpasswd[ ]+-\w*b\w*(?:[ ]+[^\s\\]{1,99}){2}[ ]+(?P<value3>[^\s\\]{3,99})"),
    ("redis-cli", _flag("redis-cli", "-a|--pass")),
    ("login", _flag(r"(?:docker|podman|helm registry|az|oc|cf|skopeo) login", "-p|--password")),
    ("vault login", rf"\bvault login[ \t]+{_ANY}"),
    ("sqlcmd", _flag("sqlcmd|bcp|osql", "-P", r"[ \t]?")),
    ("ldap", _flag("ldapsearch|ldapadd|ldapmodify|ldapwhoami|ldappasswd", "-w")),
    ("mosquitto", _flag("mosquitto_pub|mosquitto_sub", "-P")),
    ("ipmitool", _flag("ipmitool", "-P")),
    ("mongo", _flag("mongo|mongosh|mongodump|mongorestore|mongoexport", "-p")),
    ("cqlsh", _flag("cqlsh", "-p|--password")),
    ("cypher-shell", _flag("cypher-shell", "-p")),
    ("influx", _flag("influx", "-password|-p")),
    ("store", _flag("keytool|jarsigner|apksigner", "-(?:src|dest)?(?:store|key)pass")),
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


def commands(text: str, lower: str) -> Iterator[Span]:
    """What a command is given as a password."""
    if not any(sign in text for sign in (" -", "\t-", "|", "/user:", "/p:", "net user", "login ")):
        return
    for hint, expression in _COMMANDS:
        if hint not in lower:
            continue
        for found in _pattern(expression).finditer(text):
            group = next(name for name, value in found.groupdict().items() if value is not None)
            value = found[group]
            shown = value.rpartition(":")[2] if hint == "curl" else value
            if hint == "curl" and ":" not in value:
                continue
            if not _is_stand_in(
                value.partition(":")[0] if hint == "curl" else "", shown
            ) and not code(shown):
                if shown.isupper() and shown.isalpha():
                    continue
                yield (*found.span(group), "password")


# --- a name and a password, without a label ------------------------------------------------------

_CREDENTIALS = (
    "login", "log in", "cred", "zugangsdaten", "identifiants", "账号", "帳號", "계정", "ログイン",
    "логин", "доступ",
)  # fmt: skip
_PAIR = re.compile(
    r"\w{0,12}[^\n/:]{0,20}?[ \t:：=]{1,3}[\w.@-]{2,64}[ ]?[/:](?!/)[ ]?(?P<value>[^\s\"'`]{6,64})"
)
_NAME = re.compile(r"(?i:\b(?:admin|root|user|administrator|guest|sa|postgres|deploy))\Z")
_AFTER = re.compile(r" / (?P<value>[^\s\"'`]{6,64})")


def _places(hint: str, text: str) -> Iterator[int]:
    at = text.find(hint)
    while at >= 0:
        yield at
        at = text.find(hint, at + len(hint))


def pairs(text: str, lower: str) -> Iterator[Span]:
    """`credentials: bob / x9`, `admin / x9!b`, `ssh bob:x9@host`: what stands out by itself."""
    for hint in _CREDENTIALS:
        for at in _places(hint, lower):
            found = _PAIR.match(text, at + len(hint))
            if found:
                yield from _standing_out(found.start("value"), found["value"])
    for at in _places(" / ", text):
        found = _AFTER.match(text, at)
        if found and _NAME.search(text[max(0, at - 14) : at]):
            yield from _standing_out(found.start("value"), found["value"])
    before = _pattern(r"(?<![\w/:.])[\w.-]{2,32}:([^\s:/@]{6,64})\Z")
    for at in _places("@", text):
        value = before.search(text, max(0, at - 100), at)
        if value and _pattern(r"@(?!sha\d)[\w-]{2,}[.:]\w").match(text, at):
            yield from _standing_out(value.start(1), value[1])
    yield from _key_pairs(text)


def _standing_out(start: int, shown: str) -> Iterator[Span]:
    password = shown.rstrip(".,;:)")
    if made_up(password) or placeholder(password) or code(password) or pinlike(password):
        return
    if grade(password) >= WEAK or (odd(password) and not hexlike(password)):
        yield start, start + len(password), "password"


def _key_pairs(text: str) -> Iterator[Span]:
    """The secret beside the public id of an AWS key: `AKIA... / secret`."""
    if "AKIA" not in text and "ASIA" not in text:
        return
    for found in _pattern(
        r"\bA[KS]IA[A-Z0-9]{16}[\"']?[ \t]{0,3}[/:,|][ \t]{0,3}[\"']?([A-Za-z0-9/+=]{40})(?![\w/+])"
    ).finditer(text):
        if noisy(found[1], 0.3) and not made_up(found[1]):
            yield (*found.span(1), "aws_secret")
