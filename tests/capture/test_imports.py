"""Other memories come in: read without trust, told first, stored once, taken back whole."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import rows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stores import BeginStore

from mdmemory import Memory
from mdmemory.capture.imports import run
from mdmemory.capture.imports.markdown import MAX_WHOLE, Block, Incoming, day, split_blocks
from mdmemory.capture.imports.run import read
from mdmemory.cli import main

Git = Callable[..., str]
KEY = "sk-proj-" + "Zx8Qw3Lr9Tb2Nv7Kc4Md6Hf1"  # looks like one, and is none


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def brief(facts: list[Incoming]) -> list[tuple[str, str, str]]:
    return [(fact.text, fact.type, fact.reason) for fact in facts]


EXPORTED = [
    {
        "file": "feedback-components.md", "name": "components", "type": "feedback",
        "description": "User prefers functional components", "body": "Why: easier to test",
        "head": {
            "metadata": {
                "type": "feedback", "source": "explicit", "importance": "high",
                "created": "2026-03-01", "updated": "2026-03-02", "reinforced": "2",
                "last_reinforced": "2026-03-05", "session": "ses_1", "turn": "msg_1",
            }
        },
    },
    {
        "file": "project-database.md", "name": "database", "type": "project", "kind": "decision",
        "description": "Use PostgreSQL for the primary database", "body": "",
        "head": {"metadata": {"kind": "decision", "source": "extraction"}},
    },
    {
        "file": "project-old.md", "name": "old", "type": "project", "description": "Old",
        "body": "", "head": {"metadata": {"status": "superseded"}},
    },
    {
        "file": "project-task.md", "name": "task", "type": "project",
        "description": "TODO", "body": "",
        "head": {"metadata": {"source": "extraction"}},
    },
]  # fmt: skip


def test_exported_notes_keep_what_is_known_of_them(tmp_path: Path) -> None:
    first, second, *others = read(put(tmp_path, "m.json", json.dumps(EXPORTED)))
    assert first == Incoming(
        "Why: easier to test", "feedback-components.md", name="components",
        description="User prefers functional components",
        type="feedback", source="explicit",
        metadata={"importance": "high", "created": "2026-03-01", "updated": "2026-03-02",
                  "reinforced": "2", "last_reinforced": "2026-03-05", "session": "ses_1",
                  "turn": "msg_1"},
    )  # fmt: skip
    assert (second.type, second.kind, second.source) == ("project", "decision", "extraction")
    assert [each.reason for each in others] == ["superseded", ""]


def test_notes_of_other_tools_keep_their_heads(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    head = "name: Tabs in Go\ndescription: Go uses tabs\ntype: feedback\nmeta: {a: 1, b: [x]}"
    note = f"---\n{head}\nmetadata:\n  deep: {{k: {{v: w}}}}\n---\n\ngofmt does.\n"
    put(memory, "feedback_tabs.md", note)
    put(memory, "plain.md", "No head at all.\n")
    put(memory, "MEMORY.md", "- [Tabs in Go](feedback_tabs.md) — Go uses tabs\n")
    for folder in (memory, tmp_path):
        tabs, plain = read(folder)
        assert (tabs.name, tabs.description) == ("Tabs in Go", "Go uses tabs")
        assert tabs.own == {"meta": {"a": "1", "b": ["x"]}, "deep": {"k": {"v": "w"}}}
        assert (tabs.type, tabs.text, tabs.source) == ("feedback", "gofmt does.", "manual")
        assert (plain.text, plain.origin) == ("No head at all.", "plain.md")


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("# Rules\n\n- Use tabs\n  in Go\n- Never push to main\n\nBye.\n\n1. Third\n",
         ["Use tabs\nin Go", "Never push to main", "Rules: Bye.", "Rules: Third"]),
        ("We deploy on Tuesdays.\n\nWhy: on-call is complete.\n",
         ["We deploy on Tuesdays.\n\nWhy: on-call is complete."]),
        (f"# Title\n\n{'One. ' * 200}\n\n{'Two. ' * 200}\n",
         [("One. " * 200).strip(), ("Two. " * 200).strip()]),
        ("---\nname: a\ndescription: b\n---\n\n- c\n", ["- c"]),
        ("```\n- no fact\n```\n- Use tabs in Go\n", ["Use tabs in Go"]),
    ],
)  # fmt: skip
def test_a_plain_file_is_its_bullets_or_its_paragraphs(
    tmp_path: Path, text: str, facts: list[str]
) -> None:
    for path in (put(tmp_path, "notes.md", text), put(tmp_path / "folder", "MEMORY.md", text)):
        assert [fact.text for fact in read(path) if not fact.reason] == facts


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.json", b'{"entries": '), ("a.json", b'{"what": 1}'), ("a.json", b"[1]"),
        ("a.json", b"[" * 100_000), ("a.md", b"\xff\xfe\x00"), ("a.md", b"  \n"), ("b", None),
        ("a.db", b"SQLite format 3\x00\xff"), ("empty/.keep", b""),
    ],
)  # fmt: skip
def test_what_holds_no_memory_is_refused_with_a_next_step(
    tmp_path: Path, name: str, data: bytes | None
) -> None:
    path = tmp_path / name
    if data is not None:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    with pytest.raises(run.BadImport) as refused:
        read(path.parent if name.startswith("empty") else path)
    assert refused.value.hint


# a file, its text, the facts of it, and what none of them says
MARKS_OF_OTHERS = [
    ("a.md", "- [ ] call them\n- [-] no more\n\nWe ship on Fridays.\n", ["We ship on Fridays."]),
    ("a.md", "> they said\n\nWe ship on Fridays.\n", ["We ship on Fridays."]),
    ("a.md", "title:: x\ntags:: y\n\n- We ship on Fridays\n- LATER ask\n- {{embed x}}\n",
     ["We ship on Fridays"]),
    ("a.md", "---\ntitle: \"{{title}}\"\n---\n## Present\n", []),
    ("a.md", "# Left to do\n- Refunds\n- Use `{{ x }}` in charts of Helm\n",
     ["Left to do: Refunds", "Use `{{ x }}` in charts of Helm"]),
    ("a.md", "One line\nand another.\n---\n\n- Tabs are wide in Go files\n",
     ["One line\nand another.", "Tabs are wide in Go files"]),
    ("a.md", "[2026-03-01] - We ship on Fridays", ["[2026-03-01] - We ship on Fridays"]),
    ("a.txt", "[[page]] says how we ship", ["[[page]] says how we ship"]),
    ("a.md", "---\npermalink: a/b\n---\n\n---\ndescription: We ship\n---\n\nOn Fridays.\n",
     ["On Fridays."]),
    ("a.json", '[{"role": "user", "content": "Remember that we ship on Fridays."},'
     ' {"role": "assistant", "content": "I always ship with care."}]', ["we ship on Fridays"]),
    ("a.json", '[{"author": {"role": "tool"}, "content": {"parts": ["It is done now."]}}]', []),
    ("a.json", '[{"memory": "Ships on Fridays", "role": "assistant"}]', ["Ships on Fridays"]),
]  # fmt: skip


def test_marks_of_other_programs_and_words_of_others_are_no_facts(tmp_path: Path) -> None:
    def check(name: str, text: str, facts: list[str]) -> None:
        found = read(put(tmp_path, name, text))
        assert [fact.text.rstrip(".") for fact in found if not fact.reason] == [
            fact.rstrip(".") for fact in facts
        ]

    rows.each(MARKS_OF_OTHERS, check)


# A file as another program wrote it, and what comes of it: the descriptions of its facts, then
# what is left out, behind a minus.
OF_OTHER_PROGRAMS = [
    ('+++\ntitle = "Mail relay"\ndate = 2024-03-02T10:00:00Z\n[params]\nowner = "ops"\n+++\n\n'
     "It listens on port 2525.\n", ["It listens on port 2525. [Mail relay, 2024-03-02]"]),
    ('+++\r\ntitle = "Ofen"\r\n+++\r\nEr braucht 380 V.\r\n', ["Er braucht 380 V. [Ofen, ]"]),
    ('{\n"title": "Fridge",\n"date": "2024-01-01"\n}\n\nIts alarm is at 9 °C.\n',
     ["Its alarm is at 9 °C. [Fridge, 2024-01-01]"]),
    ('---\ntitle: Cellar\n...\nIt reports hourly.\n', ["It reports hourly. [Cellar, ]"]),
    ("\ufeff\n---\ntitle: Boiler\n---\nIt needs 1.8 bar.\n", ["It needs 1.8 bar. [Boiler, ]"]),
    ("---\r\ntitle: Oven\r\n---\r\n\r\n- It takes 380 V.\r\n", ["It takes 380 V. [Oven, ]"]),
    ('---\ntitle: Hours\ndraft: true\n---\n\n{{< figure src="a.png" >}}\n\nWe open at 7:30.\n\n'
     "<!--more-->\n", ["We open at 7:30. [Hours, ]"]),
    ("---\nid: 5f3a\ntitle: Proxies\ncreated: 1609372800000\n---\n\nTraefik ends TLS.\n",
     ["Traefik ends TLS. [Proxies, 2020-12-31]"]),
    ("Ice\n\nIt is leased.\n\nid: 0123456789abcdef0123456789abcdef\ncreated_time: "
     "2024-02-01T10:00:00.000Z\nis_conflict: 0\ntype_: 1\n", ["It is leased. [Ice, 2024-02-01]"]),
    ("---\nexcalidraw-plugin: parsed\n---\n# Text Elements\nBakery flow ^a\n", ["-no_fact"]),
    ("---\nkanban-plugin: board\n---\n## Doing\n\n- [ ] order salt\n", ["-task"]),
    ("- It needs 3 bar\n- {{[[TODO]]}} order salt\n- {{[[DONE]]}} pads\n- ((abcd12345))\n",
     ["It needs 3 bar", "-task", "-task", "-no_fact"]),
    ('- Rolls are 62 mm wide\n- #+BEGIN_QUERY\n  {:title "x"}\n  #+END_QUERY\n',
     ["Rolls are 62 mm wide", "-no_fact"]),
    ("> [!warning] Deploys\n> Never after 18:00.\n", ["Deploys: Never after 18:00."]),
    ("> [!NOTE]\n> The staging till is till-2.\n", ["The staging till is till-2."]),
    ("> [!quote] Petra\n> Bread is life.\n\nFlour is rye.\n", ["-no_fact", "Flour is rye."]),
    ("> Bread is life.\n\nFlour is rye.\n", ["-no_fact", "Flour is rye."]),
    ("# Sourdough\n#bread/notes\n\nIt is fed with rye.\n", ["-no_fact", "It is fed with rye."]),
    ("Notes\n\n• The guest VLAN is 40\n• The camera VLAN is 41\n‣ C# is #1\n",
     ["Notes", "The guest VLAN is 40", "The camera VLAN is 41", "C# is #1"]),
    ("The silo holds 12 t.\rIt is filled on Mondays.\r",
     ["The silo holds 12 t.\nIt is filled on Mondays."]),
]  # fmt: skip


def test_a_file_of_another_program_is_its_facts_and_its_head(tmp_path: Path) -> None:
    def check(text: str, expected: list[str]) -> None:
        (path := tmp_path / "x.md").write_bytes(text.encode())
        facts = [
            f"-{each.reason}" if each.reason
            else each.text if not each.title
            else f"{each.description} [{each.title}, {each.metadata.get('created', '')}]"
            for each in read(path)
        ]  # fmt: skip
        assert facts == expected, facts

    rows.each(OF_OTHER_PROGRAMS, check)


TILL, PETRA = "The till runs Debian 12", "Petra signs invoices"
# JSON of other programs, and the facts of it; "~" is before one that was true once.
JSON_OF_OTHERS = [
    ([TILL, PETRA], [TILL, PETRA]),
    ({"data": {"items": [{"text": TILL}]}}, [TILL]),
    ({"a": {"b": {"c": [{"d": {"memory": TILL}}]}}}, [TILL]),
    ({"memories": [{"id": "1", "content": TILL, "created_at": "2025-02-03T10:00:00Z"}]}, [TILL]),
    ({"results": [{"memory": TILL, "user_id": "p", "categories": ["x"], "updated_at": None}],
      "relations": [{"source": "petra", "relationship": "works_at", "target": "bakery"}]},
     [TILL, "petra works at bakery"]),
    ([{"source": "a", "relationship": "likes", "destination": "b"}], ["a likes b"]),
    ({"blocks": [{"label": "human", "value": TILL}, {"label": "persona", "value": "I help you."}]},
     [TILL]),
    ({"facts": [{"fact": TILL, "valid_at": "2024-01-01", "invalid_at": None},
                {"fact": PETRA, "invalid_at": "2024-01-01"}]}, [TILL, f"~{PETRA}"]),
    ([{"memory": PETRA, "expiration_date": "2020-01-01"}], [f"~{PETRA}"]),
    ({"memories": [{"title": "Till", "knowledge": TILL}]}, [TILL]),
    ([{"namespace": ["u"], "key": "k", "value": {"content": TILL, "kind": "Memory"}}], [TILL]),
    ({"saved_info": [{"text": TILL, "create_time": "2025-01-01"}]}, [TILL]),
    ([{"chat_messages": [{"sender": "human", "text": f"Remember that {TILL}."},
                         {"sender": "assistant", "text": "I will do that."}]}], [TILL]),
    ([{"mapping": {"a": {"message": {"author": {"role": "user"}, "content": {
        "parts": [f"Remember that {PETRA}."]}}}}}], [PETRA]),
    (f'{{"memory": "{TILL}"}}\n\n{{"memory": "{PETRA}"}}\n', [TILL, PETRA]),
    (f'\ufeff[{{"memory": "{TILL}"}}]', [TILL]),
    (f'[{{"memory": "{TILL}", "score": NaN}}]', [TILL]),
    (f'{{"type": "entity", "name": "Till", "observations": ["{TILL}"]}}\nbroken line\n', [TILL]),
    ([{"memory": "Die Kasse 🥐 läuft"}], ["Die Kasse 🥐 läuft"]),
    ([{"memory": TILL, "state": "deleted"}], []),
]  # fmt: skip


def test_json_of_any_program_is_its_facts_and_what_ended_is_told(tmp_path: Path) -> None:
    def check(value: object, expected: list[str]) -> None:
        text = value if isinstance(value, str) else json.dumps(value)
        facts = [
            f"{'~' * bool(each.metadata.get('expires', ''))}{each.text}"
            for each in read(put(tmp_path, "x.json", text))
            if not each.reason
        ]
        assert facts == expected, facts

    rows.each(JSON_OF_OTHERS, check)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("2026-03-01T10:00:00Z", "2026-03-01"), (1772668800000, "2026-03-05"),
     (1772668800, "2026-03-05"), ("soon", ""),
     (True, ""), (-1, ""), (9e15, ""), (None, "")],
)  # fmt: skip
def test_days_are_read_from_dates_and_milliseconds(value: object, expected: str) -> None:
    assert day(value) == expected


# --- into a store ------------------------------------------------------------------------------


@pytest.fixture
def memory(begin_store: BeginStore, repository: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    memory = begin_store()
    monkeypatch.chdir(repository)
    return memory


def test_an_import_tells_first_stores_once_and_is_taken_back_whole(
    memory: Memory, tmp_path: Path, git: Git, capsys: pytest.CaptureFixture[str]
) -> None:
    path = put(tmp_path, "memory.json", json.dumps(EXPORTED))
    before = git(memory.project.root, "rev-parse", "HEAD")
    for words in (("import", str(path)), ("import", str(path), "--yes", "--dry-run")):
        assert main(words) == 0
        told = capsys.readouterr().out
        assert "would store feedback-components.md" in told
        assert "left out (superseded): Old" in told
        assert "Nothing was stored. Add --yes to store 2 notes." in told
    assert git(memory.project.root, "rev-parse", "HEAD") == before
    main(["import", str(path), "--yes", "--json"])
    said = json.loads(capsys.readouterr().out)
    assert [each["from"] for each in said["added"]] == [
        "feedback-components.md", "project-database.md",
    ]  # fmt: skip
    superseded, task = (each["reasons"] for each in said["dropped"])
    assert superseded == ["superseded"]
    assert task == ["too_short"]
    assert git(memory.project.root, "rev-list", "--count", f"{before.strip()}..HEAD") == "1\n"
    text = memory.note("components").note.text
    for line in (
        "  source: explicit\n", "  importance: high\n", "  created: 2026-03-01\n",
        "  reinforced: 2\n", "  session: ses_1\n", "  turn: msg_1\n",
        "  imported_from: feedback-components.md\n",
    ):  # fmt: skip
        assert line in text
    again = memory.import_from(path)
    assert (again.added, again.commit, len(again.known)) == ([], None, 2)
    memory.undo(said["commit"])
    assert memory.notes() == []


def test_secrets_and_private_parts_stay_behind(memory: Memory, tmp_path: Path) -> None:
    path = put(
        tmp_path, "notes.md",
        f"- The staging host takes the key {KEY} of the team\n"
        f"- {KEY}\n- <private>Nobody's business</private>\n- Use tabs in Go, always\n",
    )  # fmt: skip
    done = memory.import_from(path)
    assert [file.partition("-")[0] for file, _, _ in done.added]
    assert len(done.added) == 2
    assert [each["reasons"] for each in done.dropped] == [["secret"], ["private"]]
    told = json.dumps([done.added, done.dropped]) + "".join(n.note.text for n in memory.notes())
    assert KEY not in told
    assert "business" not in told


def test_an_export_comes_in_again_as_it_went_out(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.add("tabs", type="feedback", description="Go uses tabs", body="gofmt does.\n\n- a\n- b")
    memory.add("sqlite", type="project", description="SQLite it is", body="One file.",
               kind="decision")  # fmt: skip
    put(memory.project.store, "reference-host.md", f"---\nname: host\n---\n\nKey {KEY}\n")
    assert main(["export"]) == 0
    shown = capsys.readouterr()
    assert KEY not in shown.out
    assert "Left out 1 note on hold" in shown.err
    path = put(tmp_path, "export.json", shown.out)
    assert [each["file"] for each in json.loads(shown.out)] == [
        "feedback-tabs.md", "project-sqlite.md",
    ]  # fmt: skip
    before = {note.file: note.note for note in memory.notes()}
    memory.remove("tabs")
    assert [file for file, _, _ in memory.import_from(path).added] == ["feedback-tabs.md"]
    after = memory.note("tabs").note
    assert (after.body, after.head.description, after.head.created) == (
        before["feedback-tabs.md"].body, "Go uses tabs", before["feedback-tabs.md"].head.created,
    )  # fmt: skip


def test_an_export_as_markdown_is_one_page(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.add("tabs", type="feedback", description="Go uses tabs", body="gofmt does.")
    page = "# Memory\n\n## feedback\n\n### tabs\n\n> Go uses tabs\n\ngofmt does.\n"
    assert main(["export", "--markdown", "-"]) == 0
    assert capsys.readouterr().out == page
    assert main(["export", "--markdown", str(tmp_path / "out.md")]) == 0
    assert (tmp_path / "out.md").read_text("utf-8") == page
    assert main(["export", "--markdown", str(tmp_path / "no" / "out.md")]) == 1


# --- formats --------------------------------------------------------------------------------------

DATA = Path(__file__).parents[1] / "data" / "imports"
SOURCES = (
    "mem0.json", "openmemory.json", "memory.jsonl", "claude", "cursorrules.md",
    "unknown.json",
)  # fmt: skip


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
        read = " ".join(fact.text for fact in run.read(path))
    except run.BadImport:
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
    assert [fact.origin for fact in run.read(tmp_path)] == ["notes/deep/a.md"]


# --- blocks of markdown ---------------------------------------------------------------------------

PIECES = [
    "# Title", "## Rules ##", "Heading\n===", "Intro:", "- one", "* two `code`", "  - nested",
    "    deeper", "1. first", "2) second", "- [ ] task", "- [x] done", "> quote", "```\ncode\n```",
    "~~~", "| a | b |\n|---|---|\n| 1 | 2 |", "[ref]: http://example.org", "<!-- note -->",
    "---", "***", "", "", "", "plain words", "a *b* `c` d", "\tindented", "      far", "-", "1.",
    "long " * 400, "Ünïcödé 漢字 한국어", "http://example.org/a_b", "<b>html</b>", "\\* no list",
]  # fmt: skip


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def facts(text: str) -> list[str]:
    return [block.text for block in split_blocks(text) if not block.reason]


@given(st.lists(st.sampled_from(PIECES), max_size=14))
def test_every_word_of_a_text_is_in_a_block_or_in_the_section_of_one(pieces: list[str]) -> None:
    text = "\n".join(pieces)
    found = split_blocks(text)
    kept = [word for block in found for word in words_of(block.text)]
    sections = {word for block in found for word in words_of(" ".join(block.section))}
    missing = [word for word in words_of(text) if word not in kept and word not in sections]
    # the number of a numbered item is its place, and is not kept
    assert [word for word in missing if word not in ("1", "2")] == []


@given(st.text(alphabet="ab -*>#`\n\t1.|[]:<!", max_size=120))
def test_no_text_is_too_odd(text: str) -> None:
    kept = {
        w for block in split_blocks(text) for w in words_of(block.text + " ".join(block.section))
    }
    assert {w for w in words_of(text) if w.isalpha()} <= kept | set("1")


def test_an_item_keeps_what_is_nested_in_it() -> None:
    text = "- Use tabs\n  in Go\n  - but `two spaces` in YAML\n\n  and never both\n- Next"
    assert facts(text) == [
        "Use tabs\nin Go\n- but `two spaces` in YAML\n\nand never both", "Next",
    ]  # fmt: skip


def test_paragraphs_beside_a_list_are_facts_too() -> None:
    text = "# Rules\n\nWe deploy on Tuesdays.\n\n- Use tabs in Go\n\nStaging is at 10.0.4.7.\n"
    assert facts(text) == ["We deploy on Tuesdays.", "Use tabs in Go", "Staging is at 10.0.4.7."]
    assert {block.section for block in split_blocks(text)} == {("Rules",)}


def test_a_short_line_above_a_list_is_its_heading() -> None:
    (item,) = split_blocks("# About me\n\nThings I like:\n\n- tea\n")
    assert item == Block("tea", 5, ("About me", "Things I like"))


def test_numbered_steps_are_one_fact_with_the_line_above_them() -> None:
    text = "Release:\n\n1. run the tests\n2. tag\n\n- Use tabs\n"
    assert facts(text) == ["Release:\n\n1. run the tests\n2. tag", "Use tabs"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("- a\n\n```\nmake\n```", "no_fact"),
        ("- a\n\n> said", "no_fact"),
        ("- a\n\n| a |\n|---|\n| 1 |", "no_fact"),
        ("- a\n- [ ] later", "task"),
        ("- a\n\n[x]: http://example.org", "no_fact"),
        ("- a\n\n# Nothing below", "no_fact"),
    ],
)
def test_what_is_no_fact_is_handed_on_with_the_reason(text: str, reason: str) -> None:
    fact, other = split_blocks(text)
    assert (fact.text, fact.reason) == ("a", "")
    assert other.reason == reason
    assert other.text in text


def test_a_short_text_without_a_list_is_one_fact() -> None:
    text = "We deploy on Tuesdays.\n\nWhy: on-call is complete."
    assert facts(text) == [text]
    assert len(facts(text + "\n\n" + "x " * MAX_WHOLE)) == 3
