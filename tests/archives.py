"""Archives of the tests' own data, unpacked."""

from __future__ import annotations

import tarfile
from pathlib import Path


def unpack(archive: Path, folder: Path) -> None:
    """Unpack a tar archive into a folder, with all that it has."""
    with tarfile.open(archive) as opened:
        # from 3.12 on Python wants to hear that an archive is trusted, and before 3.11.4 it has no
        # word for that
        opened.extraction_filter = getattr(tarfile, "fully_trusted_filter", None)
        opened.extractall(folder)
