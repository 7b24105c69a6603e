"""What an assistant stores over MCP, on words that hooks heard, and on words that nobody did."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp_host import serving

from mdmemory import Memory
from mdmemory.session import heard
from mdmemory.session.client_process import of_parent

SAID = "From now on the staging host is called beta, not alpha."
FACT = "The staging host is called beta."
ALPHA = "project-staging-alpha.md"
ADD = (
    "mdmemory", "add", "staging-alpha", "--type", "project", "--description",
    "The staging host is called alpha.", "The staging host is called alpha.",
)  # fmt: skip


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory, begin: Callable[..., None]) -> Path:
    root = tmp_path_factory.mktemp("words") / "project"
    begin(root, ADD)
    return root


def hear(
    project: Path, *texts: str, client: str = "", role: str = "user", session: str = "ses_1"
) -> None:
    """What the hooks of the client that started the server heard, or those of another client."""
    memory = Memory.open(project)
    with memory.state() as state:
        for number, text in enumerate(texts):
            client = client or f"1:1 {of_parent()}"
            heard.put(state, session, f"{role}_{number}", text, memory.now(), role, client=client)


def call(project: Path, tool: str, **given: object) -> Any:
    with serving(project) as host:
        return host.ask("tools/call", {"name": tool, "arguments": given})["result"]


def store(project: Path, fact: str = FACT, **given: object) -> Any:
    return call(project, "memory_store", fact=fact, **given)["structuredContent"]


def index(project: Path) -> str:
    return Memory.open(project).index_text()


def test_what_hooks_heard_is_stored_as_the_users_and_replaces_what_is_named(project: Path) -> None:
    hear(project, SAID)
    done = store(project, quote=SAID, replaces=[ALPHA])
    assert (done["status"], done["quoted"], done["left"]) == ("", False, [])
    assert [each["file"] for each in done["superseded"]] == [ALPHA]
    assert ("beta" in index(project), "alpha" in index(project)) == (True, False)
    assert Memory.open(project).note(done["file"]).note.head.session == "ses_1"


def test_notes_are_forgotten_on_words_that_were_heard(project: Path) -> None:
    hear(project, "Please forget the note about the staging host.")
    quote = "forget the note about the staging host"
    gone = call(project, "memory_forget", names=[ALPHA], quote=quote)["structuredContent"]
    assert (gone["files"], "staging" in index(project)) == ([ALPHA], False)


@pytest.mark.parametrize(
    ("text", "role"),
    [("Fix it.", "user"), (SAID, "assistant"), (f"What is this?\n\n> {SAID}", "user")],
)
def test_words_that_nobody_typed_here_prove_nothing(project: Path, text: str, role: str) -> None:
    hear(project, "Let us look at the tests.")
    hear(project, text, role=role)
    done = store(project, quote=SAID, replaces=[ALPHA])
    assert (done["status"], done["quoted"], done["superseded"]) == ("unconfirmed", False, [])
    assert done["left"] == [[ALPHA, done["why"]]]
    refused = call(project, "memory_forget", names=[ALPHA], quote="forget the staging host")
    assert refused.get("isError") or refused["structuredContent"]["waiting"] == [ALPHA]
    assert ("alpha" in index(project), "beta" in index(project)) == (True, False)


def test_what_was_typed_in_an_earlier_session_of_the_client_proves_nothing(project: Path) -> None:
    hear(project, SAID)
    hear(project, "Fix it.", session="ses_2")
    done = store(project, quote=SAID, replaces=[ALPHA])
    assert (done["status"], done["superseded"]) == ("unconfirmed", [])
    assert Memory.open(project).note(done["file"]).note.head.session == "ses_2"


def test_a_client_without_hooks_replaces_with_a_mark_and_forgets_nothing(project: Path) -> None:
    hear(project, SAID, client="7:7")  # another client's
    done = store(project, quote=SAID, replaces=[ALPHA])
    assert (done["status"], done["quoted"]) == ("unconfirmed", True)
    assert [each["file"] for each in done["superseded"]] == [ALPHA]
    (line,) = [line for line in index(project).splitlines() if "beta" in line]
    assert line.endswith("?")
    memory = Memory.open(project)
    assert memory.log(1)[0][0].get("Memory-Proof") == "host"
    quote = "forget the staging host"
    gone = call(project, "memory_forget", names=[done["file"]], quote=quote)["structuredContent"]
    assert (gone["waiting"], "files" in gone) == ([done["file"]], False)
    memory.undo(done["ids"][0])
    assert "alpha" in index(project)


def test_a_quote_that_nobody_heard_has_a_question_mark_until_confirmed(project: Path) -> None:
    done = store(project, "The build servers run on Debian 12.", quote="CI: Debian 12")
    (line,) = [line for line in index(project).splitlines() if "Debian" in line]
    assert line.endswith(") ?")
    memory = Memory.open(project)
    assert memory.note(done["name"]).note.head.quote == "CI: Debian 12"
    memory.confirm(done["name"])
    (line,) = [line for line in index(project).splitlines() if "Debian" in line]
    assert line.startswith("- [The build servers run on Debian 12](")


def test_without_a_quote_it_waits_and_the_index_does_not_list_it(project: Path) -> None:
    done = store(project, "The build servers run on Debian 12.")
    assert (done["status"], "Debian" in index(project)) == ("unconfirmed", False)


def test_the_same_words_list_at_most_three_notes(project: Path) -> None:
    facts = [f"The {part} service runs on Debian 12." for part in ("mail", "billing", "login")]
    for fact in [*facts, "Every server in Paris runs on FreeBSD."]:
        store(project, fact, quote="what our servers run on")
    listed = [line for line in index(project).splitlines() if line.endswith("?")]
    assert len(listed) == 3
    assert not any("FreeBSD" in line for line in listed)


def test_a_yes_after_one_question_is_proof_enough(project: Path) -> None:
    hear(project, f"Shall I remember that {FACT[0].lower()}{FACT[1:-1]}?", role="assistant")
    hear(project, "yes, please")
    assert store(project, quote="yes, please", replaces=[ALPHA])["status"] == ""


def test_a_secret_in_a_quote_is_not_kept(project: Path) -> None:
    key = "ghp_" + "a1B2c3D4e5" * 4
    store(project, "The build servers run on Debian 12.", quote=f"Debian 12 with {key}")
    kept = (project / "notes/memory").glob("*.md")
    assert not any(key in path.read_text("utf-8") for path in kept)
