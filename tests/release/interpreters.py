"""The Pythons that a release is tried on: those that pyproject.toml names and this machine has."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

UV = str(Path(sys.prefix, "bin/uv"))
_FETCH = 300  # seconds that an interpreter may take to come
_CLASSIFIER = "Programming Language :: Python :: "


def promised(pyproject: str) -> list[str]:
    """The versions that the classifiers name, such as "3.11"."""
    classifiers = tomllib.loads(pyproject)["project"]["classifiers"]
    names = [each.removeprefix(_CLASSIFIER) for each in classifiers]
    return [name for name in names if re.fullmatch(r"3\.\d+", name)]


def found(version: str) -> Path | None:
    """An interpreter of this version: one that uv finds, one of pyenv's, or one that uv fetches."""
    return _by_uv(version) or _by_pyenv(version) or (_by_uv(version) if _fetched(version) else None)


def _by_uv(version: str) -> Path | None:
    words = [UV, "python", "find", "--no-project", "--no-python-downloads", version]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return Path(done.stdout.strip()) if done.returncode == 0 else None


def _by_pyenv(version: str) -> Path | None:
    """The newest one; pyenv's own `python3.12` works only where the person chose that version."""
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    there = [each for each in root.glob(f"versions/{version}.*/bin/python") if each.is_file()]
    return max(there, key=lambda each: _numbers(each.parts[-3]), default=None)


def _numbers(name: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", name)))


def _fetched(version: str) -> bool:
    """Whether uv could install this version."""
    words = [UV, "python", "install", "--quiet", version]
    try:
        done = subprocess.run(words, capture_output=True, timeout=_FETCH, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0
