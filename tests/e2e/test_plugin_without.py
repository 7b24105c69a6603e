"""The plugin in the real client where something is missing or switched off, and what it leaves."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from client import OpenCode
from fake_server import Answer, FakeServer
from pace import HUNG
from plugged import PROGRAM, STORE, Place, make, processes, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc"),
]
Git = Callable[..., str]
CAT = "Remember that the cat is called Tom."


def cats(place: Place) -> list[Path]:
    return list((place.project / STORE).glob("*cat*.md"))


@pytest.fixture(scope="module")
def gitless(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, list[str]]:
    """A project after two turns in a client that finds no git; what the assistant said, and what
    a search gave."""
    folder = tmp_path_factory.mktemp("gitless")
    place = make(folder)
    (folder / "bin").mkdir()
    (folder / "bin/sh").symlink_to("/bin/sh")
    more = {"PATH": str(folder / "bin")}
    with FakeServer() as server, OpenCode(place.project, place.home, server.url, **more) as client:
        session = client.new_session()
        said = [client.send(session, CAT)]
        server.call("memory_search", query="cat")
        server.say("Tom.")
        said.append(client.send(session, "What is the cat called?"))
        return place, [*said, server.turns[-1]["messages"][-1]["content"]]


def test_without_git_a_turn_succeeds_and_what_was_asked_for_is_a_file(
    gitless: tuple[Place, list[str]], git: Git
) -> None:
    place, (first, second, found) = gitless
    assert (first, second) == ("Done.", "Tom.")
    assert len(cats(place)) == 1
    assert cats(place)[0].name in found
    assert "called Tom" not in git(place.project, "log", "--format=%s")


def test_without_git_the_log_says_why_nothing_is_committed(
    gitless: tuple[Place, list[str]],
) -> None:
    assert "git is not installed" in gitless[0].log()


def test_without_git_the_later_reading_says_that_nothing_is_committed(tmp_path: Path) -> None:
    place = make(tmp_path)
    said = {"info": {"id": "msg_1", "role": "user"}, "parts": [{"type": "text", "text": CAT}]}
    session = tmp_path / "session.json"
    session.write_text(json.dumps({"info": {"id": "ses_1"}, "messages": [said]}), encoding="utf-8")
    done = subprocess.run(
        [PROGRAM, "extract", "--transcript", session], cwd=place.project, capture_output=True,
        env={"HOME": str(place.home), "PATH": str(tmp_path)}, text=True, timeout=HUNG, check=True,
    )  # fmt: skip
    assert "added: " in done.stdout
    assert "not committed" in done.stderr


@pytest.mark.full
def test_with_models_switched_off_a_wish_is_stored_and_nothing_runs_on(
    tmp_path: Path, git: Git
) -> None:
    place = make(tmp_path)
    more = {
        "MEMORY_EXTRACT_ENABLED": "0", "MEMORY_EXTRACT_DEBOUNCE_MS": "3000",
        "MDMEMORY_PLANNER": "openai", "OPENAI_API_KEY": "none",
    }  # fmt: skip
    with FakeServer() as server:
        server.script.default = Answer(json.dumps({"candidates": []}))
        more["OPENAI_BASE_URL"] = server.url
        with OpenCode(place.project, place.home, server.url, **more) as client:
            session = client.new_session()
            client.send(session, CAT)
            client.send(session, "By the way, a release takes an hour.")
        until(lambda: not [line for line in processes(place.home) if line.endswith(" bridge")])
        assert [line for line in processes(place.home) if " extract " in line], "it outlives it"
        until(lambda: not processes(place.home))
        assert [body for body in server.requests if not body.get("tools")] == []
    subjects = git(place.project, "log", "--all", "--format=%s").splitlines()
    assert len([each for each in subjects if "called Tom" in each]) == 1
    assert len(cats(place)) == 1
