"""The terminal. A process starts here: what every command needs before it is known which one.

Nothing is imported at the top that costs time, because a hook loads this file and no other of this
package. The commands stand in `commands`.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # `typing` costs as much as all else that a hook loads
if TYPE_CHECKING:
    from mdmemory.cli.commands import main as main


def __getattr__(name: str) -> object:
    if name == "main":  # what a program that starts no process calls
        from mdmemory.cli.commands import main

        return main
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def run() -> None:
    """The console script."""
    _speak_utf8()
    _open_closed_streams()
    if sys.argv[1:2] == ["hook"]:
        from mdmemory.hosts.bridge import client

        if client.run(sys.argv[2:]):
            os._exit(0)  # all is written, and taking Python down would cost a tenth of it all
    from mdmemory.cli.commands import begin_logging, discard_output, main, report_unwritten

    if place := os.environ.get("MDMEMORY_DEBUG"):
        begin_logging(place)
    code = main(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()
    except OSError as problem:  # the last output could not be written
        discard_output()
        code = report_unwritten(problem)
    import gc

    gc.freeze()  # all goes with the process: to look for what could go before it is a tenth of it
    sys.exit(code)


def _speak_utf8() -> None:
    """Restart Python in UTF-8 mode if the locale has another encoding: notes are UTF-8.

    A flag, not a variable: the person's editor and git would inherit a variable.
    """
    if sys.getfilesystemencoding() != "utf-8" and not sys.flags.utf8_mode and sys.executable:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def _open_closed_streams() -> None:
    """Replace a stream that our caller closed (`<&-`) by an empty one.

    Python has None in its place, and the next file opened would get its number.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            while os.open(os.devnull, os.O_RDWR) < number:
                pass
            setattr(sys, name, open(number, mode, encoding="utf-8"))  # noqa: SIM115 - open until we exit
