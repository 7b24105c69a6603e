"""The real client's own database, read while the client runs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from client import OpenCode
from fake_server import FakeServer
from pace import HUNG

from mdmemory.transcripts.opencode import read_export
from mdmemory.transcripts.sources import read
from mdmemory.transcripts.turns import Transcript

pytestmark = pytest.mark.slow


def mdmemory(project: Path, *words: str) -> str:
    """What the installed command prints, run in `project`."""
    program = Path(sys.executable).with_name("mdmemory")
    done = subprocess.run(
        [program, *words], cwd=project, capture_output=True, text=True, timeout=HUNG, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def texts(transcript: Transcript) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in transcript.turns]


# test_model_opencode.py reads a session out of this database, test_opencode_recall.py an export
@pytest.mark.full
def test_the_live_database_gives_the_turns_of_the_export(
    repository: Path, empty_home: Path
) -> None:
    database = empty_home / ".local/share/opencode/opencode.db"
    mdmemory(repository, "init", "--shared")
    with FakeServer() as server, OpenCode(repository, empty_home, server.url) as client:
        session = client.new_session("Deployments")
        server.call("bash", command="echo 'remember: tool output'", description="x")
        server.say("It said something.")
        client.send(session, "Remember that deployments go out on Tuesdays only.")
        client.send(session, '"a quoted line"')
        assert database.with_name("opencode.db-wal").stat().st_size > 0, "this is not live"
        live = read(database, session)
        assert texts(live) == [
            ("user", "Remember that deployments go out on Tuesdays only."),
            ("assistant", "It said something."),
            ("user", "a quoted line"),
            ("assistant", "Done."),
        ]
        assert live == read_export(client.export(session).encode())

        (row,) = json.loads(mdmemory(repository, "session", "--json"))
        assert (row["id"], row["title"], row["turns"]) == (session, "Deployments", 4)
        said = json.loads(mdmemory(repository, "extract", "--session", session, "--json"))
        assert said["added"] == ["project-deployments-go-out-on-tuesdays.md"]

        client.send(session, "And now?")
        assert len(read(database, session).turns) == 6, "the client was held up"
        (row,) = json.loads(mdmemory(repository, "session", "--json"))
        assert (row["turns"], row["read"]) == (6, 4)
