"""Makes the manual page and the scripts for tab completion when a wheel is built.

pip puts them where `man` and the shells look, below the prefix of the environment.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLACES = {
    "man": "share/man/man1/mdmemory.1",
    "bash": "share/bash-completion/completions/mdmemory",
    "zsh": "share/zsh/site-functions/_mdmemory",
    "fish": "share/fish/vendor_completions.d/mdmemory.fish",
}


class CustomBuildHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the files and name them to the builder. They need nothing but Python's library."""
        self.folder = tempfile.mkdtemp()
        clean = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": self.root}
        for wanted, place in PLACES.items():
            words = [sys.executable, "-S", "-B", "-m", "mdmemory", "completion", wanted]
            made = subprocess.run(
                words, cwd=self.root, env=clean, check=True, stdout=subprocess.PIPE
            )
            file = Path(self.folder) / wanted
            file.write_bytes(made.stdout)
            build_data["shared_data"][str(file)] = place

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the files: the wheel has them."""
        shutil.rmtree(self.folder)
