"""Records docs/images/demo.svg: a short session of OpenCode. `make recording` runs it.

Needs no network: the client asks a model that answers by a script (`session.py`).
"""

import tempfile
from pathlib import Path

from animation import Step, animated
from session import in_opencode, play

RECORDING = Path(__file__).parents[2] / "docs/images/demo.svg"
TITLE = "A session of OpenCode: a fact is stored, corrected, and a wrong replacement is taken back"


def played() -> list[Step]:
    """The session in the real client, in a home folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return [Step(*each) for each in play(Path(folder).resolve(), in_opencode)]


if __name__ == "__main__":
    drawn = animated(played(), TITLE)
    RECORDING.write_text(drawn, "utf-8")
    print(f"{RECORDING.name}: {len(drawn.encode())} bytes")
