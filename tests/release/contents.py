"""What the wheel and the source archive hold, and nothing else."""

import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

# what `man` and the shells find below the prefix, and the word of `mdmemory completion` for it
SHARED = {
    "man/man1/mdmemory.1": "man",
    "bash-completion/completions/mdmemory": "bash",
    "zsh/site-functions/_mdmemory": "zsh",
    "fish/vendor_completions.d/mdmemory.fish": "fish",
}
SHIPPED = ("protocol/", "templates/")  # folders that the wheel has inside the package
STEM = "mdmemory_git"  # of the names of what is built
_ABOUT = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")


def sources(root: Path) -> set[str]:
    """The files of a checkout that git has, or would add."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True).stdout
    return {name for name in listed.split("\0") if name and (root / name).exists()}


def of_wheel(files: set[str], version: str) -> set[str]:
    """The names in the wheel, of a checkout with these files."""
    return (
        {name for name in files if name.startswith("mdmemory/")}
        | {f"mdmemory/shipped/{name}" for name in files if name.startswith(SHIPPED)}
        | {f"{STEM}-{version}.data/data/share/{place}" for place in SHARED}
        | {f"{STEM}-{version}.dist-info/{name}" for name in _ABOUT}
    )


def of_archive(files: set[str], version: str) -> set[str]:
    """The names in the source archive, of a checkout with these files."""
    return {f"{STEM}-{version}/{name}" for name in {*files, "PKG-INFO"}}


def problems(root: Path, wheel: Path, archive: Path, version: str) -> Iterator[str]:
    """What the wheel and the archive lack, or have too much."""
    files = sources(root)
    with zipfile.ZipFile(wheel) as opened:
        yield from _differences(wheel, set(opened.namelist()), of_wheel(files, version))
    with tarfile.open(archive) as unpacked:
        found = {each.name for each in unpacked.getmembers() if not each.isdir()}
        yield from _differences(archive, found, of_archive(files, version))


def _differences(file: Path, found: set[str], wanted: set[str]) -> Iterator[str]:
    for name in sorted(wanted - found):
        yield f"{file.name} lacks {name}"
    for name in sorted(found - wanted):
        yield f"{file.name} has {name}, which does not belong there"
