"""A renamed note: its file, the links to it and its conflicts follow, and it can be taken back."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from projects import Git
from rows import each
from stores import BeginStore

from mdmemory import Memory
from mdmemory.actions.glance import LinkMap
from mdmemory.errors import BadNote, MdmemoryError, NotFound
from mdmemory.store.conflicts import is_stale
from mdmemory.store.store import Store, StoredNote

TEXT = "Uses pnpm, never npm."


@pytest.fixture
def memory(begin_store: BeginStore) -> Memory:
    memory = begin_store(clock=lambda: datetime(2026, 6, 1, 12, tzinfo=UTC))
    memory.add("prefers-pnpm", type="feedback", description=TEXT, body=TEXT)
    return memory


def texts(memory: Memory) -> dict[str, bytes]:
    files = memory.project.store.glob("*.md")
    return {path.name: path.read_bytes() for path in files if path.is_file()}


def test_a_rename_is_one_commit_that_git_sees_as_a_rename(memory: Memory, git: Git) -> None:
    done = memory.rename("prefers-pnpm", "uses-pnpm")
    root = memory.project.root
    assert (done.before, done.edited.file) == ("feedback-prefers-pnpm.md", "feedback-uses-pnpm.md")
    shown = git(root, "show", "-M50", "--format=%s", "--name-status", "HEAD")
    assert shown.startswith("memory: rename prefers-pnpm to uses-pnpm")
    assert "notes/memory/feedback-prefers-pnpm.md\tnotes/memory/feedback-uses-pnpm.md" in shown
    assert git(root, "status", "--porcelain") == ""
    head = memory.note("uses-pnpm").note.head
    assert head.aliases == ("prefers-pnpm", "uses-pnpm")
    assert (head.updated, memory.note("uses-pnpm").note.body) == ("2026-06-01", TEXT)
    assert "](feedback-uses-pnpm.md)" in (memory.project.store / "MEMORY.md").read_text()


def test_the_old_name_finds_the_note_and_its_history_crosses_the_rename(memory: Memory) -> None:
    memory.rename("prefers-pnpm", "uses-pnpm")
    for name in ("prefers-pnpm", "feedback-prefers-pnpm", "uses-pnpm"):
        assert memory.note(name).file == "feedback-uses-pnpm.md"
        assert [step.kind for step in memory.history(name)] == ["rename", "add"]
    memory.add("links", type="user", description="Links", body="See [[feedback-prefers-pnpm]].")
    expected = ["It links to [[feedback-prefers-pnpm]], which is [[feedback-uses-pnpm]] now."]
    assert [finding.message for finding in memory.doctor()] == expected
    memory.doctor(fix=True)
    assert memory.note("links").note.body == "See [[feedback-uses-pnpm]]."


def test_links_in_a_note_by_hand_follow_and_nothing_else_changes(memory: Memory) -> None:
    path = memory.project.store / "hand.md"
    before = (
        '\ufeff---\r\n# mine\r\nrelated: "[[prefers-pnpm]]"\r\ntags: [a]\r\n---\r\n\r\n'
        "[[prefers-pnpm]] [[ Prefers-PNPM#npm|x ]] [[feedback-prefers-pnpm.md]] ![[prefers-pnpm]]"
        " [a](feedback-prefers-pnpm.md#b) [c](<./feedback-prefers-pnpm.md>) \r\n"
        "`[[prefers-pnpm]]` [[prefers-pnpm-2]] [d](x/feedback-prefers-pnpm.md) prefers-pnpm\r\n"
        "```\r\n[[prefers-pnpm]]\r\n```"
    )
    path.write_bytes(before.encode())
    assert memory.rename("prefers-pnpm", "uses-pnpm").linked == ("hand.md",)
    after = before.replace("feedback-prefers-pnpm.md", "feedback-uses-pnpm.md")
    after = after.replace("[[prefers-pnpm]]", "[[uses-pnpm]]").replace("Prefers-PNPM", "uses-pnpm")
    after = after.replace("`[[uses-pnpm]]`", "`[[prefers-pnpm]]`")
    after = after.replace("x/feedback-uses-pnpm.md", "x/feedback-prefers-pnpm.md")
    after = after.replace("```\r\n[[uses-pnpm]]", "```\r\n[[prefers-pnpm]]")
    assert path.read_bytes() == after.encode()


def test_undo_takes_all_of_a_rename_back(memory: Memory) -> None:
    memory.add("links", type="user", description="Links", body="See [[prefers-pnpm]].")
    before = texts(memory)
    memory.rename("prefers-pnpm", "uses-pnpm")
    done = memory.undo()
    assert (done.kept, done.facts) == ((), ("rename prefers-pnpm to uses-pnpm",))
    assert texts(memory) == before
    assert memory.note("prefers-pnpm").file == "feedback-prefers-pnpm.md"


def test_what_was_flagged_or_cleared_of_a_note_holds_under_its_new_name(memory: Memory) -> None:
    memory.add("npm", type="feedback", description="Uses npm, never pnpm.", body="Uses npm.")
    memory.add("yarn", type="feedback", description="Uses yarn", body="Not [[prefers-pnpm]].")
    others = ("feedback-prefers-pnpm.md", "feedback-yarn.md")
    ops = [
        {"op": "flag", "files": ["feedback-npm.md", other], "reason": "they differ"}
        for other in others
    ]
    for op in ops:
        assert memory.compact(plan=json.dumps({"ops": [op]})).outcome == "applied"
    (cleared,) = [each for each in memory.conflicts() if "feedback-yarn.md" in each.files]
    memory.resolve(cleared.id)
    assert memory.rename("prefers-pnpm", "uses-pnpm").linked == ("feedback-yarn.md",)
    (waiting,) = memory.conflicts()
    assert waiting.files == ("feedback-npm.md", "feedback-uses-pnpm.md")
    assert not is_stale(waiting, Store(memory.project.store).digests(waiting.files))
    again = json.dumps({"ops": [ops[1]]})
    assert memory.compact(plan=again).outcome != "applied"


def test_a_link_in_a_note_of_an_open_conflict_stays_and_is_named(memory: Memory) -> None:
    for name in ("a", "b"):
        memory.add(name, type="user", description=f"Is {name}", body=f"{name} [[prefers-pnpm]].")
    flag = {"op": "flag", "files": ["user-a.md", "user-b.md"], "reason": "they differ"}
    assert memory.compact(plan=json.dumps({"ops": [flag]})).outcome == "applied"
    before = texts(memory)
    done = memory.rename("prefers-pnpm", "uses-pnpm")
    assert (done.linked, done.left) == ((), ("user-a.md", "user-b.md"))
    assert {name: texts(memory)[name] for name in done.left} == {n: before[n] for n in done.left}


def test_a_name_that_is_none_or_taken_changes_nothing(memory: Memory) -> None:
    memory.add("tea", type="user", description="Drinks tea", body="Tea.")
    (memory.project.store / "feedback-Chai.md").write_text("By hand.\n", encoding="utf-8")
    (memory.project.store / "feedback-folder.md").mkdir()
    before = texts(memory)

    def check(name: str, code: str) -> None:
        with pytest.raises(BadNote) as refused:
            memory.rename("prefers-pnpm", name)
        assert refused.value.message.count(". ") == 0
        assert refused.value.hint
        assert (refused.value.code == "taken") == (code == "taken")
        assert texts(memory) == before

    names = ("tea", "TEA", "chai", "folder", "feedback-tea", "", "a b", "../x", "x/y", "a" * 90)
    each([(name, "taken" if name in names[:5] and name != "TEA" else "") for name in names], check)
    with pytest.raises(NotFound):
        memory.rename("nobody", "x")
    assert memory.rename("prefers-pnpm", "feedback-prefers-pnpm.md").edited.same


def test_a_note_on_hold_or_unreadable_and_a_store_without_git_are_refused(
    memory: Memory, tmp_path: Path
) -> None:
    store = memory.project.store
    (store / "user-key.md").write_text("key AKIAIOSFODNN7EXAMPLQ\n", encoding="utf-8")
    (store / "user-bad.md").write_bytes(b"\xff\xfe")
    (store / "user-odd.md").write_text("---\nname: odd\nbad: [\n---\n\nx\n", encoding="utf-8")
    for name in ("key", "bad", "odd"):
        with pytest.raises(BadNote):
            memory.rename(name, "other")
    (store / "user-links.md").write_text("AKIAIOSFODNN7EXAMPLQ [[prefers-pnpm]]\n")
    assert memory.rename("prefers-pnpm", "uses-pnpm").left == ("user-links.md",)
    bare = tmp_path / "bare" / "notes" / "memory"
    bare.mkdir(parents=True)
    (bare / "user-tea.md").write_text("Tea.\n", encoding="utf-8")
    with pytest.raises(MdmemoryError):
        Memory.open(bare.parent.parent, store=str(bare)).rename("tea", "chai")
    assert (bare / "user-tea.md").read_text() == "Tea.\n"


def test_a_note_of_other_hands_that_waits_is_not_admitted_by_a_rename(memory: Memory) -> None:
    path = memory.project.store / "user-odd.md"
    path.write_text("Hidden\u200b words. See [[prefers-pnpm]].\n", encoding="utf-8")
    before = path.read_bytes()
    with pytest.raises(BadNote, match="waits for a person"):
        memory.rename("odd", "other")
    assert memory.rename("prefers-pnpm", "uses-pnpm").left == ("user-odd.md",)
    memory.doctor(fix=True)
    assert path.read_bytes() == before
    with pytest.raises(NotFound):
        memory.get("odd")


def test_a_note_by_hand_gets_no_more_than_it_needs(memory: Memory) -> None:
    store = memory.project.store
    (store / "Tea Notes.md").write_text("Tea. See [[Tea Notes]].\n", encoding="utf-8")
    assert memory.rename("Tea Notes", "chai").edited.file == "chai.md"
    text = '---\naliases: ["Tea Notes"]\n---\n\nTea. See [[chai]].\n'
    assert (store / "chai.md").read_text() == text
    (store / "user-milk.md").write_text(
        "---\nname: milk # m\naliases:\n- cow\ntype: user\n---\nMilk.\n"
    )
    memory.rename("milk", "oat-milk")
    text = "---\nname: oat-milk # m\naliases:\n- cow\n- milk\ntype: user\n---\nMilk.\n"
    assert (store / "user-oat-milk.md").read_text() == text


# Which note links to which, kept over many looks.


def test_links_are_followed_in_both_directions(
    tmp_path: Path, write_note: Callable[[Path, str, str], bytes]
) -> None:
    write_note(tmp_path, "project-a.md", "See [[b]], [c](reference-c.md) and [[gone]].")
    write_note(tmp_path, "feedback-b.md", "Of [[project-a]] and [[b]] itself; `[[c]]` is code.")
    write_note(tmp_path, "reference-c.md", "Nothing.")
    found = LinkMap(Store(tmp_path)).look()
    expected = [("b", "feedback-b.md"), ("reference-c", "reference-c.md"), ("gone", None)]
    assert found.out_of("project-a.md") == expected
    assert found.into("feedback-b.md") == ["project-a.md"]
    assert found.into("project-a.md") == ["feedback-b.md"]
    assert found.into("reference-c.md") == ["project-a.md"]
    assert found.leads_to("B") == "feedback-b.md"
    assert found.leads_to("nothing") is None


def test_only_what_changed_is_read_again(
    tmp_path: Path, write_note: Callable[[Path, str, str], bytes]
) -> None:
    for name in "abc":
        write_note(tmp_path, f"project-{name}.md", "[[a]]")
    read: list[str] = []

    class Counting(Store):
        def read(self, file: str) -> StoredNote:
            read.append(file)
            return super().read(file)

    first = LinkMap(Counting(tmp_path)).look()
    assert first.into("project-a.md") == ["project-b.md", "project-c.md"]
    assert first.look() is first
    read.clear()
    write_note(tmp_path, "project-b.md", "Nothing any more, and longer.")
    (tmp_path / "project-c.md").unlink()
    write_note(tmp_path, "project-d.md", "[[a]]")
    second = first.look()
    assert sorted(read) == ["project-b.md", "project-d.md"]
    assert second.into("project-a.md") == ["project-d.md"]
    assert first.into("project-a.md") == ["project-b.md", "project-c.md"], "the old one stays whole"
