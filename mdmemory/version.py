"""The version, here and nowhere else: the wheel, `--version` and the installed files read it."""

DISTRIBUTION = "mdmemory-git"  # what is installed; on PyPI `mdmemory` is another project's
VERSION = "0.3.0"
