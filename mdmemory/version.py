"""The version, here and nowhere else: the wheel, `--version` and the installed files read it."""

VERSION = "0.2.0"
