"""`make demo-web`: the pages in your browser, on the demo's stores in a temporary folder."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import demo_store

# what a browser needs to open, and what tells that there is none
_SCREEN = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "BROWSER",
           "SSH_CONNECTION", "DBUS_SESSION_BUS_ADDRESS", "TERM")  # fmt: skip


def main() -> int:
    """Make the stores, and serve them until Ctrl-C."""
    with tempfile.TemporaryDirectory(prefix="mdmemory-demo-") as folder:
        demo_store.make(Path(folder))
        environment = demo_store.environment(Path(folder))
        environment |= {name: os.environ[name] for name in _SCREEN if name in os.environ}
        words = [sys.executable, "-P", "-m", "mdmemory", "web", *sys.argv[1:]]
        with subprocess.Popen(words, cwd=Path(folder) / "billing", env=environment) as server:
            try:
                return server.wait()
            except KeyboardInterrupt:  # the server hears it, too
                return server.wait()


if __name__ == "__main__":
    sys.exit(main())
