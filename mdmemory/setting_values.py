"""How the value of a setting is read, from text or TOML; what it cannot be is a ValueError."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

Reader = Callable[[object], Any]


def whole(least: int, most: int | None = None) -> Reader:
    def read(value: object) -> int:
        if isinstance(value, bool) or not re.fullmatch(r"\d+", str(value).strip()):
            raise ValueError
        number = int(str(value))
        if number < least or (most is not None and number > most):
            raise ValueError
        return number

    return read


def share(value: object) -> float:
    number = float(str(value))
    if isinstance(value, bool) or not 0 <= number <= 1:
        raise ValueError
    return number


def switch(value: object) -> bool:
    words = {"1": True, "true": True, "yes": True, "on": True}
    words |= {"0": False, "false": False, "no": False, "off": False}
    return words[str(value).strip().lower()]  # KeyError: a bad value


def some_text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value.strip()


def folder_inside(value: object) -> str:
    text = some_text(value)
    parts = Path(text).parts
    if text.startswith("~") or Path(text).is_absolute() or ".." in parts or ".git" in parts:
        raise ValueError
    return text


def one_of(*choices: str) -> Reader:
    def read(value: object) -> str:
        text = some_text(value)
        if text not in choices:
            raise ValueError
        return text

    return read


def model(value: object) -> str:
    text = some_text(value)
    if not re.fullmatch(r"\w[\w./:@+-]{0,199}", text):
        raise ValueError
    return text


def program(value: object) -> str:
    text = some_text(value)
    # a relative path would be looked for in whatever folder mdmemory is called from
    if "/" in text and not text.startswith(("/", "~/")):
        raise ValueError
    return text


def key(value: object) -> str:
    text = some_text(value)
    if not re.fullmatch(r"[!-~]+", text):  # what an HTTP header can carry
        raise ValueError
    return text


def address(value: object) -> str:
    from urllib.parse import urlsplit  # only where an address is set

    text = some_text(value)
    parts = urlsplit(text)
    whole = re.fullmatch(r"https?://[^\s/]\S*", text) and parts.hostname
    if not whole or "@" in parts.netloc or parts.query or parts.fragment or parts.port == 0:
        raise ValueError
    return text.rstrip("/")


def folders(value: object) -> str:
    """Absolute folders: a list, or one text with a colon between two, as which they are kept."""
    items = value.split(os.pathsep) if isinstance(value, str) else value
    if not isinstance(items, list):
        raise ValueError
    folders = [some_text(item) for item in items if item != ""]
    if any(not folder.startswith(("/", "~/")) and folder != "~" for folder in folders):
        raise ValueError  # from where on, if it is relative?
    return os.pathsep.join(folders)


def dsn(value: object) -> str:
    text = some_text(value)
    if not re.match(r"postgres(?:ql)?://|\w+ {0,9}=", text) or not text.isprintable():
        raise ValueError
    return text


def or_empty(read: Reader) -> Reader:
    """Also "", which stands for a setting that is not made."""
    return lambda value: "" if value == "" else read(value)
