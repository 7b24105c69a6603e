"""Sets the version, in all places that name it: `make version V=0.2.0`.

The changes that CHANGELOG.md has as unreleased become those of this version, with today's date.
"""

import re
import subprocess
import sys
from datetime import date
from pathlib import Path

from changelog import CHANGELOG, ROOT, UNRELEASED, VERSION, VERSION_FILE, problems


def dated(changelog: str, version: str, today: date) -> str:
    """The changelog with the unreleased changes as those of `version`. Raises ValueError where
    there are none."""
    heading = f"## {UNRELEASED}\n"
    if changelog.count(heading) != 1:
        raise ValueError(f"CHANGELOG.md needs one section {UNRELEASED!r} to make {version} of.")
    done = changelog.replace(heading, f"## {version} ({today.isoformat()})\n")
    if wrong := problems(version, done):
        raise ValueError(" ".join(wrong))
    return done


def main(version: str, root: Path = ROOT) -> int:
    """Write the version; the exit code."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        print(f"{version!r} is no version: `make version V=0.2.0`.", file=sys.stderr)
        return 2
    log, source = root / CHANGELOG.relative_to(ROOT), root / VERSION_FILE.relative_to(ROOT)
    try:
        changes = dated(log.read_text(encoding="utf-8"), version, date.today())
    except ValueError as problem:
        print(problem, file=sys.stderr)
        return 1
    named = VERSION.sub(f'VERSION = "{version}"', source.read_text(encoding="utf-8"))
    source.write_text(named, encoding="utf-8")
    log.write_text(changes, encoding="utf-8")
    packages = root / "tests/write_packages.py"  # which name the version, too
    return subprocess.run([sys.executable, str(packages)], cwd=root, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) == 2 else ""))
