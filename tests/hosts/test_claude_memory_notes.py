"""Notes as Claude Code writes them (2.1.330): read, confirmed by a person, borne out by the words
of the session that they came from."""

from __future__ import annotations

from pathlib import Path

import pytest

from mdmemory import Memory
from mdmemory.note.editing import edit
from mdmemory.note.note import parse

# as the client left it behind after an edit of a note of ours
REWRITTEN = """\
---
name: deploy-tuesdays-blue-script
description: We deploy on Wednesdays with the blue script
metadata:
  node_type: memory
  aliases:
    - deploy-tuesdays-blue-script
  title: Deploys
  type: project
  source: manual
  created: 2026-11-24
  updated: 2026-11-24
  originSessionId: b65b1161-02b5-4e27-88f7-8b92ffef0ab3
  modified: 2026-11-24T17:00:22.841Z
---

"""
FILE = "project-we-deploy-on-tuesdays-with.md"


@pytest.fixture
def memory(repository: Path) -> Memory:
    return Memory.init(repository, home=True)[0]


def test_what_claude_moves_in_a_head_is_still_read() -> None:
    head = parse(REWRITTEN, FILE).head
    assert head.aliases == ("deploy-tuesdays-blue-script",)
    assert head.title == "Deploys"
    assert head.session == "b65b1161-02b5-4e27-88f7-8b92ffef0ab3"
    assert head.problems == ()


def test_an_alias_that_is_added_stands_beside_those_that_claude_moved() -> None:
    lines = REWRITTEN.replace("metadata:", "aliases: [newer]\nmetadata:")
    assert parse(lines, FILE).head.aliases == ("newer", "deploy-tuesdays-blue-script")


def test_a_persons_note_that_claude_changed_is_unconfirmed_until_a_person_stands_by_it(
    memory: Memory,
) -> None:
    memory.add("We deploy on Tuesdays with the blue script", type="project")
    path = memory.project.store / FILE
    assert path.is_file()
    path.write_text(REWRITTEN, "utf-8")
    memory.adopt()
    head = memory.note(FILE).note.head
    assert (head.status, head.source) == ("unconfirmed", "assistant")
    assert path.read_text("utf-8") == REWRITTEN
    assert FILE not in (memory.project.store / "MEMORY.md").read_text("utf-8")
    memory.confirm(FILE)
    head = memory.note(FILE).note.head
    assert (head.status, head.source) == ("", "manual")
    assert FILE in (memory.project.store / "MEMORY.md").read_text("utf-8")
    changed = {*path.read_text("utf-8").splitlines()} ^ {*REWRITTEN.splitlines()}
    assert changed <= {"  modified: 2026-11-24T17:00:22.841Z", f"  updated: {head.updated}",
                       "  updated: 2026-11-24"}  # fmt: skip
    path.write_text(path.read_text("utf-8").replace("  created", "  modified: x\n  created"))
    assert memory.note(FILE).note.head.status == "unconfirmed"


def test_a_superseded_note_stays_superseded_whoever_rewrites_it() -> None:
    text = REWRITTEN.replace("  source: manual", "  source: manual\n  status: superseded")
    assert parse(text, FILE).head.status == "superseded"


def test_a_note_of_claudes_can_be_edited_like_any_other() -> None:
    changed = edit(parse(REWRITTEN, FILE), set={"description": "Deploys run on Fridays"})
    assert changed.text == REWRITTEN.replace(
        "We deploy on Wednesdays with the blue script", "Deploys run on Fridays"
    )
