"""The command by which a person stands by a protocol that a project brought: trust."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from mdmemory import protocol
from mdmemory.cli.output import emit, opened
from mdmemory.errors import NotFound
from mdmemory.files import digest


def trust_options(parser: ArgumentParser) -> None:
    """Options of `trust`."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true",
                      help="record nothing; exit 1 when an edited one is not trusted")  # fmt: skip
    what.add_argument("--forget", action="store_true", help="stand by it no longer")


def trust(asked: Namespace) -> int:
    """Let models read the edited PROTOCOL.md of this project, as it is now. Read it first."""
    asked.holder = "trust"
    root = opened(asked).project.root
    path, record = root / protocol.OVERRIDE, protocol.trust()
    data = protocol.edited(root)
    if asked.forget:
        return _tell(asked, data, False, _FORGOTTEN if record.forget(path) else _UNKNOWN)
    if data is None:
        if asked.check:
            return _tell(asked, None, False, "Our own protocol is in force.")
        raise NotFound(
            f"This project has no {protocol.OVERRIDE} of its own: ours is in force.",
            "Edit that file first (`mdmemory init --opencode` puts it there).",
        )
    if asked.check:
        trusted = record.has(path, data)
        said = "stands by" if trusted else "has not stood by"
        _tell(asked, data, trusted, f"This machine {said} {path} as it is.")
        return 0 if trusted else 1
    record.add(path, data)
    return _tell(asked, data, True, f"Models read the rules of {path} from now on.{_hole(data)}")


_FORGOTTEN = "Forgotten: our own protocol is in force."
_UNKNOWN = "There was nothing to forget: our own protocol is in force."


def _hole(data: bytes) -> str:
    missing = protocol.Protocol(data.decode("utf-8")).missing
    return f" It has no section {', '.join(missing)}: ours is used there." if missing else ""


def _tell(asked: Namespace, data: bytes | None, trusted: bool, sentence: str) -> int:
    if asked.json:
        emit({"file": protocol.OVERRIDE, "edited": data is not None,
              "digest": digest(data) if data else None, "trusted": trusted})  # fmt: skip
    else:
        print(sentence)
    return 0
