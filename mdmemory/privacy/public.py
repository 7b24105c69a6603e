"""What looks like a secret and is meant to be seen: public keys, digests, pictures."""

from __future__ import annotations

import re

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


def masked(text: str) -> str:
    """The text with what is public made unreadable, each character in its place."""
    for hint, expression in _PUBLIC:
        if hint in text:
            text = expression.sub(_blank, text)
    return text


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"\S", MASK, found[0])
