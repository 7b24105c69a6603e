"""What new notes cite by themselves, whoever writes them, and what becomes of the list."""

import json
import re

import pytest
from citing_projects import SERVER, CitedProject

from mdmemory import Memory
from mdmemory.capture.extracted import Caller
from mdmemory.capture.fact import FactCall
from mdmemory.errors import NoGit, UsageError
from mdmemory.tools.table import call_tool
from mdmemory.transcripts.turns import Turn

NAMED = "The server listens on port 8081 (src/server.py)"
PORT = "src/server.py#L4"


def cites(memory: Memory, file: str) -> list[str]:
    return [each.partition("@")[0] for each in memory.note(file).note.head.cites]


def test_a_note_cites_what_its_text_names_and_the_project_holds(cited: CitedProject) -> None:
    for text, *places in (
        (NAMED, PORT),
        ("`start` of server.py opens the socket", "src/server.py#L7"),
        ("It is bound in src/server.py:9-10", "src/server.py#L9-L10"),
        ("Why it is so is told in docs/reasons.md", "docs/reasons.md"),
        ("All sources are in src/", "src/"),
        ("See other.py, src/none.py and and/or, e.g. 1.2.3",),
    ):
        assert cited.note(text) == (*places,)


def test_a_name_that_two_files_have_is_no_citation(cited: CitedProject) -> None:
    cited.write("vendor/server.py", SERVER)
    cited.commit()
    assert cited.note("The port is set in server.py") == ()
    assert cited.note(NAMED) == (PORT,)


def test_the_blob_is_the_one_of_the_work_tree(cited: CitedProject) -> None:
    cited.replace("src/server.py", "8081", "7070")
    cited.note("It listens on 7070, as src/server.py says")
    [cite] = cited.memory.note("the-note").note.head.cites
    assert cite.split("@")[1].startswith(cited.git("hash-object", "src/server.py")[:12])


def test_commits_and_addresses_of_the_project_are_cited(cited: CitedProject) -> None:
    cited.git("remote", "add", "origin", "git@example.org:team/app.git")
    id = cited.git("rev-parse", "HEAD")
    url = "https://example.org/team/app"
    assert cited.note(f"Decided in commit {id[:9]}") == (f"commit:{id[:12]}",)
    assert cited.note(f"See {url}/blob/main/src/server.py#L4 for it") == (PORT,)
    assert cited.note(f"See {url}/commit/{id} for it") == (f"commit:{id[:12]}",)
    assert cited.note("See https://example.org/other/app/blob/main/src/server.py") == ()
    assert cited.note("Something", f"{url}/blob/main/src/server.py#L4") == (PORT,), "as a place"


def test_what_git_ignores_and_what_is_untracked(cited: CitedProject) -> None:
    cited.write(".gitignore", ".env\nbuild/\n")
    cited.write(".env", "TOKEN_FILE = x\n")
    cited.write("build/out.js", "var a = 17000\n")
    cited.write("fresh.py", "LIMIT = 17000\n")
    assert cited.note("LIMIT is 17000: see .env, build/out.js and fresh.py") == ("fresh.py#L1",)
    with pytest.raises(UsageError, match="could be cited"):
        cited.note("The token is there", ".env")


def test_a_place_that_is_named_has_to_be_there(cited: CitedProject) -> None:
    refused = r"no .* that could be cited|no commit|no such lines|is a"
    for place in ("src/none.py", "../outside.py", "src/server.py#L99", "commit:0123456789", "",
                  "src/server.py#L0", "src/server.py#L9-L4", "src/#L1", "https://example.org/x",
                  "/etc/passwd", ".git/config"):  # fmt: skip
        with pytest.raises(UsageError, match=refused):
            cited.note("Something", place)
    assert cited.note("Something", "src/server.py:4") == (PORT,)


def test_from_a_folder_of_the_project_paths_count_from_there(cited: CitedProject) -> None:
    memory = Memory.open(cited.top / "src")
    done = memory.add("a", type="project", description="The port is 8081, in ./server.py")
    assert cites(memory, done.file) == [PORT]


def test_only_the_project_cites(cited: CitedProject) -> None:
    layers = Memory.around(cited.top)
    layers.add("a", type="user", description=NAMED, body=NAMED)
    assert layers.of_person.note("a").note.head.cites == ()
    with pytest.raises(NoGit):
        layers.add("b", type="user", description=NAMED, body=NAMED, cite=[PORT])


def test_every_feeder_cites(cited: CitedProject) -> None:
    memory = cited.memory
    layers = Memory.around(cited.top)
    layers.keep_wishes([NAMED], session="s", turn="t")
    kept = [each.file for each in layers.settle_wishes("s")]
    part = {"type": "text", "text": "Remember: the socket is opened by start() in src/server.py."}
    message = {"info": {"id": "m1", "role": "user"}, "parts": [part]}
    session = {"info": {"id": "ses_1"}, "messages": [message]}
    found = memory.extract(json.dumps(session).encode()).added
    told = "The timeout is 30 seconds, see src/server.py"
    stored = memory.store(FactCall(told, quote=told), Caller("s", (Turn("m", "user", told),))).file
    foreign = cited.top.parent / "old.md"
    foreign.write_text("- The server binds in src/server.py:9\n", "utf-8")
    imported = [file for file, *_ in memory.import_from(foreign).added]
    assert [cites(memory, file) for file in (*kept, *found, stored, *imported)] == [
        [PORT], ["src/server.py#L7"], ["src/server.py#L3"], ["src/server.py#L9"],
    ]  # fmt: skip


def test_a_fact_in_place_of_another_cites_what_its_own_text_names(cited: CitedProject) -> None:
    memory = cited.memory
    memory.add("port", type="project", description="The server listens on port 8080")
    said = f"Actually, {NAMED}"
    fact = FactCall(NAMED, quote=said, replaces=("port",))
    done = memory.store(fact, Caller("s", (Turn("m", "user", said),)))
    assert len(done.superseded) == 1
    assert cites(memory, done.file) == [PORT]


def test_confirming_cites_anew_and_can_be_taken_back(cited: CitedProject) -> None:
    cited.note(NAMED, "docs/reasons.md")
    before = cited.memory.note("the-note").note.text
    cited.replace("src/server.py", "8081", "9090")
    cited.git("rm", "-q", "docs/reasons.md")
    cited.commit()
    done = cited.memory.confirm("the-note")
    assert cited.states() == ["fresh"], "what is gone is cited no more"
    assert cited.memory.confirm("the-note").same
    cited.memory.undo(done.written.id)
    assert cited.memory.note("the-note").note.text == before


def test_what_a_hand_wrote_is_pinned_by_the_next_write_or_confirming(cited: CitedProject) -> None:
    cited.by_hand(PORT, "src/", "odd//path", "src/none.py#L3")
    cited.memory.edit("by-hand", body="Another text.")
    written = cited.memory.note("by-hand").note.head.cites
    assert written[0].startswith(f"{PORT}@")
    assert written[1:] == ("src/", "odd//path", "src/none.py#L3"), "what is not there stays"
    cited.by_hand("src/server.py")
    cited.memory.confirm("by-hand")
    assert cited.memory.note("by-hand").note.head.cites[0].startswith("src/server.py@")


def test_editing_renaming_and_rewriting_keep_the_list(cited: CitedProject) -> None:
    cited.note(NAMED)
    before = cited.memory.note("the-note").note.head.cites
    cited.replace("src/server.py", "8081", "9090")
    cited.memory.edit("the-note", description="The server listens on a port of src/server.py")
    cited.memory.rename("the-note", "its-port")
    rewrite = {"op": "rewrite", "file": "project-its-port.md", "reason": "shorter",
               "body": "The server listens on a port of src/server.py."}  # fmt: skip
    assert cited.memory.compact(plan=json.dumps({"ops": [rewrite]})).outcome == "applied"
    assert cited.memory.note("its-port").note.head.cites == before


def test_a_merge_unites_what_its_sources_cite(cited: CitedProject) -> None:
    memory, text = cited.memory, "The server has its numbers at the top."
    for name, place in (("one", PORT), ("two", "src/server.py#L3")):
        memory.add(name, type="project", description=text, body=f"{text} {name}", cite=[place])
    merge = {
        "op": "merge", "sources": ["project-one.md", "project-two.md"], "target": "project-one.md",
        "name": "one", "type": "project", "description": text, "body": f"{text} one two",
        "reason": "the same",
    }  # fmt: skip
    assert memory.compact(plan=json.dumps({"ops": [merge]})).outcome == "applied"
    assert cites(memory, "project-one.md") == [PORT, "src/server.py#L3"]


@pytest.mark.parametrize(
    ("change", "mark"),
    [("drifted", f"drifted: {PORT}"), ("moved", f"moved: {PORT} -> src/net.py#L4")],
)
def test_what_the_last_check_found_is_told_everywhere(
    cited: CitedProject, change: str, mark: str
) -> None:
    from mdmemory.hosts import conversation

    fact = "The ferry gateway listens on port 8081 (src/server.py)"
    body = f"{fact}. Harbour pilots may open another one by hand, with the lighthouse keys."
    cited.memory.add("ferry", type="project", description=fact, body=body)
    index = cited.memory.project.store / "MEMORY.md"
    before = index.read_bytes()
    message = "Which port does the ferry gateway listen on for the harbour pilots?"

    def told() -> list[object]:
        layers = Memory.around(cited.top)
        [hit] = cited.memory.search("port of the ferry").hits
        answers = [
            answer_of(layers, "memory_search", query="port of the ferry"),
            answer_of(layers, "memory_get", file="project-ferry.md"),
        ]
        marks = [each.mark for each in conversation.notes_for(layers, message)]
        return [(hit.status, hit.mark), *answers, marks]

    if change == "drifted":
        cited.replace("src/server.py", "8081", "9090")
    else:
        cited.git("mv", "src/server.py", "src/net.py")
    assert told() == [("", ""), "", "", [""]], "nothing was checked yet"
    cited.checked()
    assert told() == [(change, mark), mark, mark, [mark]]
    cited.memory.index()
    assert index.read_bytes() == before
    cited.memory.confirm("ferry")
    assert told() == [("", ""), "", "", [""]], "it cites anew"


def answer_of(layers: Memory, tool: str, **given: object) -> str:
    """The mark in what a tool answers."""
    text = call_tool(layers, tool, given).text.partition("The ferry")[0]
    found = re.search(r"(?:drifted|moved): [^\]);\n]+", text)
    return found[0] if found else ""
