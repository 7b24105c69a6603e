"""The changelog by version, and whether it, the version and a tag agree.

`python tests/release/changelog.py [TAG]` prints the section of the version, as a release's text.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHANGELOG = ROOT / "CHANGELOG.md"
VERSION_FILE = ROOT / "mdmemory/version.py"
UNRELEASED = "Unreleased"
VERSION = re.compile(r'^VERSION = "([^"\n]+)"$', re.MULTILINE)
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_RELEASED = re.compile(r"(\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d)\)")


@dataclass(frozen=True, slots=True)
class Section:
    """What changed with a version: `date` is "" for what is not released, `version` too."""

    version: str
    date: str
    text: str


def sections(changelog: str) -> list[Section]:
    """The sections, newest first. Raises ValueError for a heading that is neither `Unreleased` nor
    a version with its date."""
    parts = _HEADING.split(changelog)[1:]
    found = []
    for heading, text in zip(parts[::2], parts[1::2], strict=True):
        released = _RELEASED.fullmatch(heading)
        if released is None and heading != UNRELEASED:
            raise ValueError(f"CHANGELOG.md: {heading!r} is no `VERSION (YYYY-MM-DD)`.")
        version, date = released.groups() if released else ("", "")
        found.append(Section(version, date, text.strip()))
    return found


def version_of(source: str) -> str:
    """The version that mdmemory/version.py names."""
    found = VERSION.search(source)
    if found is None:
        raise ValueError("mdmemory/version.py names no version.")
    return found[1]


def problems(version: str, changelog: str, tag: str = "") -> list[str]:
    """Why `version` cannot be released as `tag`; [] where all agree."""
    found = []
    if tag and tag != f"v{version}":
        found.append(f"The tag {tag} is not v{version}, which mdmemory/version.py names.")
    known = sections(changelog)
    newest = next((each for each in known if each.version), None)
    if newest is None or newest.version != version:
        found.append(f"CHANGELOG.md does not begin with {version}: `make version V={version}`.")
    if tag and known and not known[0].version:
        found.append("CHANGELOG.md has changes that are not released.")
    if newest is not None and not newest.text:
        found.append(f"CHANGELOG.md says nothing about {newest.version}.")
    order = [tuple(map(int, each.version.split("."))) for each in known if each.version]
    if order != sorted(set(order), reverse=True):
        found.append("The versions of CHANGELOG.md are not in order, newest first.")
    return found


def main(tag: str = "") -> int:
    """Print the text of the release, or what is wrong; the exit code."""
    changelog = CHANGELOG.read_text(encoding="utf-8")
    version = version_of(VERSION_FILE.read_text(encoding="utf-8"))
    if wrong := problems(version, changelog, tag):
        print("\n".join(wrong), file=sys.stderr)
        return 1
    print(next(each.text for each in sections(changelog) if each.version == version))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
