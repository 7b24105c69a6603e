"""The memories of other tools come in whole: what becomes no note is kept, and nothing is lost.

The files in tests/data/imports are made after the formats that each project documents.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mdmemory import Memory
from mdmemory.capture.imports import reading
from mdmemory.cli import main

DATA = Path(__file__).parents[1] / "data" / "imports"
SOURCES = (
    "mem0.json", "openmemory.json", "memory.jsonl", "claude", "cursorrules.md",
    "unknown.json",
)  # fmt: skip


@pytest.fixture
def memory(repository: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    memory, _ = Memory.init(repository)
    monkeypatch.chdir(repository)
    return memory


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def said(path: Path) -> set[str]:
    """The words of a source that somebody said: of JSON those of texts with a blank in them."""
    files = sorted(path.rglob("*.m*")) if path.is_dir() else [path]
    texts = [file.read_text("utf-8") for file in files if file.is_file()]
    if path.suffix == ".json":
        return words(" ".join(_texts(json.loads(texts[0]))))
    if path.suffix == ".jsonl":
        return words(
            " ".join(s for line in texts[0].splitlines() for s in _texts(json.loads(line)))
        )
    return words("\n".join(re.sub(r"(?s)\A---\n.*?\n---\n", "", text) for text in texts))


def _texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for inner in value.values() for text in _texts(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in _texts(inner)]
    return [value] if isinstance(value, str) and " " in value else []


def kept(memory: Memory, rest: Path | None) -> set[str]:
    """The words of all notes and of what the import kept beside them."""
    texts = [stored.note.text for stored in memory.notes()]
    return words("\n".join([*texts, rest.read_text("utf-8") if rest else ""]))


@pytest.mark.parametrize("source", SOURCES)
def test_every_word_of_a_source_is_in_a_note_or_in_what_is_kept(
    memory: Memory, source: str
) -> None:
    done = memory.import_from(DATA / source)
    assert done.added
    missing = said(DATA / source) - kept(memory, done.rest)
    # numbers of numbered lists, and the names and links of an index of notes that came in
    assert {word for word in missing if not word.isdigit()} <= {"release_day", "md", "memory"}
    again = memory.import_from(DATA / source)
    assert (again.added, again.commit, again.rest) == ([], None, done.rest)


def types(memory: Memory) -> dict[str, str]:
    return {stored.note.head.description: stored.note.head.type for stored in memory.notes()}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("mem0.json", {"Prefers pnpm": "user", "Works as": "user", "Decided to": "project"}),
        ("openmemory.json", {"Never restart": "project", "The printer's queue": "project"}),
        ("memory.jsonl", {"Dana: Prefers": "user", "parcel-router listens": "project",
                          "Dana maintains": "project", "Hall 4": "project"}),
        ("claude", {"Releases go out": "project", "Staging mirrors": "project"}),
        ("cursorrules.md", {"Prefer early": "project", "Deployment": "project"}),
        ("unknown.json", {"The scanner needs": "project", "Night shifts": "project"}),
    ],
)  # fmt: skip
def test_a_fact_has_the_type_that_its_source_names_or_is_the_users_where_it_speaks_of_them(
    memory: Memory, source: str, expected: dict[str, str]
) -> None:
    memory.import_from(DATA / source)
    found = types(memory)
    for beginning, type in expected.items():
        match = [kind for text, kind in found.items() if text.startswith(beginning)]
        assert match == [type], (beginning, found)


def test_what_became_no_note_is_said_and_kept_for_its_owner_alone(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", str(DATA / "cursorrules.md"), "--yes"]) == 0
    told = capsys.readouterr().out
    (rest,) = (memory.project.store / ".inbox").glob("import-*.md")
    assert f"What became no note is kept in {rest}." in told
    assert rest.stat().st_mode & 0o777 == 0o600
    assert "| post | 31.5 kg |" in rest.read_text("utf-8")
    assert "left out (task)" in told
    assert main(["status"]) == 0
    assert "1 import rest" in capsys.readouterr().out
    assert main(["review"]) == 0
    assert "import rest: an import made no note of it" in capsys.readouterr().out


def test_a_look_first_keeps_nothing(memory: Memory) -> None:
    done = memory.import_from(DATA / "cursorrules.md", dry_run=True)
    assert done.dropped
    assert done.rest is None
    assert not (memory.project.store / ".inbox").exists()


def test_an_item_keeps_its_nested_list_and_its_code_ticks(memory: Memory) -> None:
    memory.import_from(DATA / "cursorrules.md")
    (note,) = [n.note for n in memory.notes() if "No abbreviations" in n.note.body]
    assert note.body == "No abbreviations in names\n1. `cnt` is `count`\n2. `idx` is `index`"


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.recursive(
        st.one_of(
            st.integers(), st.sampled_from(["a b c", "one two three four", "x", "2026-01-01"])
        ),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(st.sampled_from(["text", "fact", "id", "other"]), inner, max_size=3),
        ),
        max_leaves=8,
    )
)
def test_every_text_of_any_json_is_handed_on(tmp_path: Path, value: object) -> None:
    if not isinstance(value, list | dict):
        value = [value]
    path = tmp_path / "some.json"
    path.write_text(json.dumps(value), "utf-8")
    try:
        read = " ".join(fact.text for fact in reading.read(path))
    except reading.BadImport:
        read = ""
    assert words(" ".join(_texts(value))) <= words(read)


def test_of_a_folder_installed_packages_links_and_what_is_no_file_are_passed_over(
    tmp_path: Path,
) -> None:
    for name in ("node_modules/pkg/README.md", ".git/a.md", "notes/deep/a.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("We deploy on Tuesdays.", "utf-8")
    (tmp_path / "link.md").symlink_to(tmp_path / "notes/deep/a.md")
    os.mkfifo(tmp_path / "pipe.md")
    assert [fact.origin for fact in reading.read(tmp_path)] == ["notes/deep/a.md"]
