"""End to end: the real client, the real git, the real command line; only the model is scripted."""

from __future__ import annotations

import sys
from pathlib import Path

# pytest imports these files by path, so that they could not import each other by name.
sys.path.insert(0, str(Path(__file__).parent))
