"""The command that opens the memory in a browser: web."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from pathlib import Path

from mdmemory.cli.commands import is_terminal, open_layers, warn_person
from mdmemory.memory import Memory


def run_web(options: Namespace) -> int:
    from mdmemory.cli.commands import record_traceback
    from mdmemory.store import sights
    from mdmemory.web import serving

    def open_here() -> Memory:
        return open_layers(options, watched=True)

    open_here().main  # noqa: B018 - raises where there is no store
    with serving.listen(options.port) as listening, sights.watch_folders():
        sentences = serving.serve(
            listening, open_here, idle=options.idle * 60, is_at_terminal=is_terminal(),
            record=lambda problem: record_traceback(problem, ["web"]),
            ready=lambda address: _show_address(address, options),
        )  # fmt: skip
    if not options.json:
        print(sentences, flush=True)
    return 0


def _show_address(address: str, options: Namespace) -> None:
    """Print the address once, and open it where there is a screen."""
    if options.json:
        import json

        print(json.dumps({"address": address}), flush=True)
    else:
        print(f"{address}\nThe address works once. Ctrl-C ends the server.", flush=True)
    if options.no_open:
        return
    if os.environ.get("SSH_CONNECTION"):
        port = address.partition("//")[2].partition("/")[0].rpartition(":")[2]
        warn_person(
            f"Over SSH: run `ssh -L {port}:127.0.0.1:{port} HOST` on your own machine, and open "
            "the address there."
        )
    elif sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY"))):
        import webbrowser

        # where another user could read it among the arguments of a program, and nothing but the
        # token keeps them out, it goes by way of a file of the person's own
        if sys.platform != "linux":
            import tempfile

            page = f'<meta charset="utf-8"><meta http-equiv="refresh" content="0; url={address}">'
            folder = Path(tempfile.mkdtemp(prefix="mdmemory-"))  # for this user alone
            (folder / "open.html").write_text(page, encoding="utf-8")
            address = (folder / "open.html").as_uri()
        webbrowser.open(address)
