"""What an assistant stores over MCP, on words that hooks heard, and on words that nobody did."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp_host import serving

from mdmemory import Memory
from mdmemory.session import heard

SAID = "From now on the staging host is called beta, not alpha."
FACT = "The staging host is called beta."
ADD = (
    "mdmemory", "add", "staging-alpha", "--type", "project", "--description",
    "The staging host is called alpha.", "The staging host is called alpha.",
)  # fmt: skip


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory, begin: Callable[..., None]) -> Path:
    root = tmp_path_factory.mktemp("words") / "project"
    begin(root, ADD)
    return root


def hear(project: Path, *texts: str) -> None:
    memory = Memory.open(project)
    with memory.state() as state:
        for number, text in enumerate(texts):
            heard.put(state, "ses_1", f"msg_{number}", text, memory.now())


def call(project: Path, tool: str, **given: str) -> Any:
    with serving(project) as host:
        return host.ask("tools/call", {"name": tool, "arguments": given})["result"]


def index(project: Path) -> str:
    return Memory.open(project).index_text()


def test_what_hooks_heard_the_user_say_is_stored_as_theirs_and_replaces_the_old(
    project: Path,
) -> None:
    hear(project, SAID)
    done = call(project, "memory_store", content=FACT, quote=SAID)["structuredContent"]
    assert (done["status"], done["quoted"]) == ("", False)
    assert [each["file"] for each in done["superseded"]] == ["project-staging-alpha.md"]
    assert "beta" in index(project)
    assert "alpha" not in index(project)


def test_a_note_is_changed_and_forgotten_on_words_that_were_heard(project: Path) -> None:
    hear(project, SAID, "Please forget the note about the staging host.")
    done = call(project, "memory_update", note="staging-alpha", content=FACT, quote=SAID)
    assert done["structuredContent"]["outcome"] == "superseded"
    gone = call(
        project, "memory_forget", note=done["structuredContent"]["file"],
        quote="forget the note about the staging host",
    )  # fmt: skip
    assert gone["structuredContent"]["outcome"] == "forgotten"
    assert "staging" not in index(project)


@pytest.mark.parametrize("others", [(), ("Let us look at the tests.",)])
def test_a_quote_that_nobody_heard_is_listed_with_a_question_mark(
    project: Path, others: tuple[str, ...]
) -> None:
    hear(project, *others)
    done = call(project, "memory_store", content="The CI runs on Debian 12.", quote="CI: Debian 12")
    assert done["structuredContent"]["status"] == "unconfirmed"
    assert "lists it with `?`" in done["content"][0]["text"]
    (line,) = [line for line in index(project).splitlines() if "Debian" in line]
    assert line.endswith(" — The CI runs on Debian 12 ?")
    memory = Memory.open(project)
    name = done["structuredContent"]["name"]
    assert memory.note(name).note.head.quote == "CI: Debian 12"
    memory.confirm(name)
    assert memory.note(name).note.head.quote == ""
    (line,) = [line for line in index(project).splitlines() if "Debian" in line]
    assert line.endswith(" — The CI runs on Debian 12")


def test_without_a_quote_it_waits_and_the_index_does_not_list_it(project: Path) -> None:
    done = call(project, "memory_store", content="The CI runs on Debian 12.")
    assert done["structuredContent"]["status"] == "unconfirmed"
    assert "Debian" not in index(project)


def test_the_same_words_list_at_most_three_notes(project: Path) -> None:
    facts = [f"The {part} service runs on Debian 12." for part in ("mail", "billing", "login")]
    for fact in [*facts, "Every server in Paris runs on FreeBSD."]:
        call(project, "memory_store", content=fact, quote="what our servers run on")
    listed = [line for line in index(project).splitlines() if line.endswith("?")]
    assert len(listed) == 3
    assert not any("FreeBSD" in line for line in listed)


@pytest.mark.parametrize("others", [(), ("Let us look at the tests.",)])
def test_a_change_on_words_that_nobody_heard_waits_and_is_not_refused(
    project: Path, others: tuple[str, ...]
) -> None:
    hear(project, *others)
    changed = call(project, "memory_update", note="staging-alpha", content=FACT, quote=SAID)
    assert changed["structuredContent"]["outcome"] == "unconfirmed"
    gone = call(project, "memory_forget", note="staging-alpha", quote="forget the staging host")
    assert gone["structuredContent"]["outcome"] == "waits"
    assert "staging-alpha" in index(project)


def test_what_the_user_does_not_want_remembered_is_not_stored(project: Path) -> None:
    hear(project, "Don't remember that the staging host is called beta.")
    refused = call(project, "memory_store", content=FACT, quote="the staging host is called beta")
    assert refused["isError"]


def test_a_secret_in_a_quote_is_not_kept(project: Path) -> None:
    key = "ghp_" + "a1B2c3D4e5" * 4
    call(
        project, "memory_store", content="The CI runs on Debian 12.", quote=f"Debian 12 with {key}"
    )
    store = project / "notes/memory"
    assert not any(key in path.read_text("utf-8") for path in store.glob("*.md"))
