"""What doctor finds, what it mends, and that looking changes nothing."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from projects import Git, Patch, Run, Say
from rows import each
from stores import BeginStore

from mdmemory import Memory, files
from mdmemory.actions.doctor import Finding
from mdmemory.capture.extracted import Caller
from mdmemory.capture.fact import FactCall
from mdmemory.errors import NotFound
from mdmemory.git import replacement
from mdmemory.hosts.problems import by_file, list_problems
from mdmemory.version import DISTRIBUTION


class Killed(BaseException):
    """Stands for a process that ends here."""


def stop(*_: object) -> None:
    raise Killed


@pytest.fixture
def memory(begin_store: BeginStore) -> Memory:
    opened = begin_store()
    opened.add("prefers-pnpm", type="feedback", description="Uses pnpm.", body="Uses pnpm.")
    return opened


def found(memory: Memory, check: str, *, fix: bool = False) -> list[Finding]:
    return [finding for finding in memory.doctor(fix=fix) if finding.check == check]


def test_a_sound_store_has_no_finding_and_looking_changes_nothing(memory: Memory, git: Git) -> None:
    before = git(memory.project.root, "rev-parse", "HEAD")
    assert memory.doctor() == memory.doctor(fix=True) == []
    assert git(memory.project.root, "rev-parse", "HEAD") == before
    assert git(memory.project.root, "status", "--porcelain") == ""


def test_a_stale_index_is_mended_and_somebodys_own_is_an_error_and_stays(memory: Memory) -> None:
    index = memory.project.store / "MEMORY.md"
    good = index.read_bytes()
    index.write_bytes(good + b"a line by hand\n")
    (finding,) = found(memory, "index")
    assert finding.fixable
    assert found(memory, "index", fix=True) == []
    assert index.read_bytes() == good
    index.write_bytes(b"mine\n")
    (finding,) = found(memory, "index")
    assert (finding.level, index.read_bytes()) == ("error", b"mine\n")


def test_a_last_day_that_is_no_date_is_named_with_what_to_write(memory: Memory) -> None:
    path = memory.project.store / "feedback-prefers-pnpm.md"
    good = path.read_text()
    path.write_text(good.replace("metadata:", "metadata:\n  expires: 2026-12-31"))
    assert found(memory, "note") == []
    path.write_text(good.replace("metadata:", "metadata:\n  expires: next summer"))
    (finding,) = found(memory, "note")
    assert finding.path == path.name
    assert "`expires` is no day" in finding.message
    assert "YYYY-MM-DD" in finding.message


def test_missing_attributes_are_found_and_mended_in_a_commit(memory: Memory, git: Git) -> None:
    path = memory.project.store / ".gitattributes"
    path.write_text("*.png binary\n", encoding="utf-8")
    (finding,) = found(memory, "attributes")
    assert finding.fixable
    assert found(memory, "attributes", fix=True) == []
    assert path.read_text(encoding="utf-8").startswith("*.png binary\n*.md -text\n")
    assert git(memory.project.root, "status", "--porcelain") == ""


def test_a_name_that_is_not_utf8_is_named(memory: Memory) -> None:
    (memory.project.store / os.fsdecode(b"caf\xe9.md")).write_bytes(b"x\n")
    (memory.project.store / "_CONFLICTS.md").symlink_to("elsewhere.md")
    assert "It is a link" in found(memory, "files")[0].message
    assert "UTF-8" in found(memory, "files")[1].message


HEAD = "---\nname: x\ndescription: X\n{}metadata:\n  type: user\n{}---\n\n{}\n"
SECRET = "The token is ghp_" + "aB3dE5fG7h" * 3 + "aB3dE5\n"
# Whatever is wrong with one note, it is one line: what is wrong, and what to do.
WRONG = (
    ("Plain.\n", "no head", "put `name:`"),
    ("\ufeffPlain.\r\n", "no head"),
    ("# A heading\n\n- a list\n", "no head"),
    ("", "empty", "remove it"),
    ("---\nname: x\nno end", "never closed", "put a `---` line"),
    ("---\nProse.\n---\nmore\n", "not a head", "write them as"),
    ("---\nname: x\n---\nwords\n", "`metadata`", "`description:`", "`type:`", "write one"),
    ("---\ntags: [a]\n---\nwords\n", "`name:`", "`type:`"),
    ("---\nname: x\ndescription: a: b\n---\nwords\n", "YAML", "Mend it"),
    ("---\nname: x\nname: y\n---\nwords\n", "stands twice", "Mend it"),
    (HEAD.format("aliases: {a: b}\n", "  cites: {a: b}\n", ""), "`aliases` is", "`cites` is"),
    (HEAD.format("", "", "[[a]] [[b]]").replace("X", "d" * 221), "cut it to 220", "[[a]], [[b]]"),
    ("[[a]] [[b]] [[c]] [[d]]\n", "no head", "[[c]], ...", "add it, or unlink it"),
    ("a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> d\n", "no head", "take out the marks"),
    ("a\0b\n", "no head", "zero bytes"),
    ("\udcff", "not UTF-8", "Save it as UTF-8"),
    (SECRET, "error: ", "no head", "on hold", "Take it out"),
    (HEAD.format("", "", "").replace("name: x", "name: prefers-pnpm"), "rename one of them"),
)


def test_whatever_is_wrong_with_a_note_is_one_line_and_the_end_counts_the_lines(
    memory: Memory, run: Run, monkeypatch: Patch
) -> None:
    monkeypatch.chdir(memory.project.root)

    def is_one_line(text: str, *told: str) -> None:
        note = memory.project.store / "zz-plain.md"
        note.write_bytes(text.encode("utf-8", "surrogateescape"))
        *lines, end = run("doctor").out.splitlines()
        (line,) = [line for line in lines if note.name in line]
        assert [part for part in told if part not in line] == []
        errors = sum(line.startswith("error: ") for line in lines)
        assert end.startswith("1 error, " * errors + f"{len(lines) - errors} warning")
        page = by_file(list_problems(Memory.around("."), os.environ))
        messages = [row["message"] for row in page if row["path"] == note.name]
        assert messages == [line.split(": ", 2)[2]]

    each(WRONG, is_one_line)


def test_tracked_state_and_late_text_beside_a_note_are_named(memory: Memory, git: Git) -> None:
    git(memory.project.root, "add", "-f", ".mdmemory/catalog")
    (memory.project.store / ".mdmemory-tx-0123-0.old").write_bytes(b"late\n")
    assert [finding.level for finding in found(memory, "state")] == ["error"]
    assert [finding.path for finding in found(memory, "aside")] == [".mdmemory-tx-0123-0.old"]


def test_no_content_filter_of_the_repository_is_run(
    memory: Memory, git: Git, tmp_path: Path
) -> None:
    ran, store = tmp_path / "ran", memory.project.store
    path = store / ".gitattributes"
    path.write_text(path.read_text(encoding="utf-8") + "*.md filter=crypt\n", encoding="utf-8")
    git(store, "config", "filter.crypt.clean", f"touch {ran}; cat")
    note, late = store / "feedback-prefers-pnpm.md", (2**31, 2**31)
    os.utime(note, late)
    git(store, "-c", "filter.crypt.clean=", "add", note.name)
    git(store, "config", "core.trustctime", "false")
    note.write_bytes(note.read_bytes().replace(b"Uses pnpm", b"Uses PNPM"))
    os.utime(note, late)  # git has to read it to know whether it was edited
    (finding,) = found(memory, "filter")
    assert finding.level == "error"
    assert not ran.exists()
    git(store, "status", "--porcelain")
    assert ran.exists(), "git itself would run it"


@pytest.fixture
def linked(memory: Memory) -> Memory:
    """A note in three forms of a link to one that was merged into prefers-pnpm, and in code."""
    memory.add("zz-pnpm", type="feedback", description="Uses pnpm!", body="Uses pnpm.")
    body = (
        "See [[zz-pnpm]], [[feedback-zz-pnpm.md|why]] and [[ ZZ-pnpm#npm ]].\r\n"
        "Not `[[zz-pnpm]]`, and not [[prefers-pnpm]].\r\n```\r\nif [[ -f zz-pnpm ]]\r\n```\r\n"
    )
    head = "---\r\nname: other\r\ndescription: 'See it'  # mine\r\nmetadata:\r\n  type: user\r\n"
    head += "  updated: 2020-01-01\r\n---\r\n\r\n"
    (memory.project.store / "user-other.md").write_bytes(f"{head}{body}".encode())
    assert memory.compact().outcome == "applied"
    return memory


def test_links_to_a_merged_note_say_its_name_after_a_fix_and_nothing_else_changes(
    linked: Memory, git: Git
) -> None:
    path = linked.project.store / "user-other.md"
    before = path.read_bytes()
    assert [(f.path, f.fixable) for f in found(linked, "links")] == [("user-other.md", True)] * 3
    assert found(linked, "links", fix=True) == []
    after = before.replace(b"See [[zz-pnpm]]", b"See [[prefers-pnpm]]")
    after = after.replace(b"[[feedback-zz-pnpm.md|why]]", b"[[feedback-prefers-pnpm.md|why]]")
    assert path.read_bytes() == after.replace(b"[[ ZZ-pnpm#npm ]]", b"[[ prefers-pnpm#npm ]]")
    (entry, *_), *_ = linked.log()
    assert entry.get("Memory-Op") == "edit"
    assert git(linked.project.root, "status", "--porcelain") == ""
    linked.undo()
    assert path.read_bytes() == before


def test_links_in_a_note_of_an_open_conflict_stay_as_they_are(linked: Memory) -> None:
    linked.add("yy", type="user", description="Another", body="Another.")
    flag = {"op": "flag", "files": ["user-other.md", "user-yy.md"], "reason": "they differ"}
    assert linked.compact(plan=json.dumps({"ops": [flag]})).outcome == "applied"
    before = (linked.project.store / "user-other.md").read_bytes()
    assert found(linked, "links", fix=True) == []
    assert (linked.project.store / "user-other.md").read_bytes() == before


def test_links_to_what_a_hand_renamed_follow_it(memory: Memory, git: Git) -> None:
    store = memory.project.store
    memory.add("tea", type="user", description="Drinks tea", body="Tea.")
    memory.add("jam", type="user", description="Eats jam", body="Eats jam on bread.")
    body = "[[tea]] [[jam]] [[user-jam]] [[nobody]]"
    memory.add("links", type="user", description="Links", body=body)
    # the name in the head alone, and the file with it
    tea = (store / "user-tea.md").read_text().replace("name: tea", "name: green-tea")
    (store / "user-tea.md").write_text(tea)
    jam = (store / "user-jam.md").read_text().replace("name: jam", "name: marmalade")
    (store / "user-jam.md").unlink()
    (store / "user-marmalade.md").write_text(jam)
    git(store, "add", "-A", ".")
    git(store, "commit", "-q", "-m", "renamed by hand")
    (left,) = found(memory, "links", fix=True)
    assert "[[nobody]]" in left.message
    text = "[[green-tea]] [[marmalade]] [[user-marmalade]] [[nobody]]"
    assert memory.note("links").note.body == text


def test_a_former_name_finds_the_note_and_does_not_remove_it(linked: Memory) -> None:
    for name in ("zz-pnpm", "feedback-zz-pnpm", "ZZ-pnpm"):
        assert linked.note(name).file == "feedback-prefers-pnpm.md"
    expected = {"feedback-prefers-pnpm.md", "feedback-zz-pnpm.md"}
    assert {step.file for step in linked.history("zz-pnpm")} == expected
    with pytest.raises(NotFound, match="any more") as refused:
        linked.remove("zz-pnpm")
    assert "feedback-prefers-pnpm.md" in refused.value.hint
    linked.add("zz-pnpm", type="user", description="Another", body="Another.")
    assert linked.note("zz-pnpm").file == "user-zz-pnpm.md"


def test_copies_of_killed_writes_go_and_nothing_else_does(memory: Memory, tmp_path: Path) -> None:
    private, store, name = memory.project.private, memory.project.store, ".mdmemory-{}.tmp".format
    copies = [name(f"{number:012x}") for number in range(0, 2**48, 2**44)]
    theirs = ["x.tmp", name("mine"), name("0" * 11), name("0" * 13), name("0" * 11 + "G"),
              name("0" * 12) + "~", "." + name("0" * 12), name("A" * 12)]  # fmt: skip
    for file in (*copies, *theirs):
        (store / file).write_bytes(b"half")
        (private / file).write_bytes(b"half")
    (store / name("f" * 12)).mkdir()
    (store / name("e" * 11 + "0")).symlink_to(tmp_path)
    memory.add("tea", type="user", description="Drinks tea", body="Tea.")
    assert {*os.listdir(store)} >= {*theirs, name("f" * 12), name("e" * 11 + "0")}
    assert {*os.listdir(store)}.isdisjoint(copies), "the next command takes them"
    assert {*os.listdir(private)} & {*copies, *theirs} == {*theirs}


def test_a_live_write_whose_copy_was_swept_is_made_anew(memory: Memory, monkeypatch: Patch) -> None:
    real, fresh = files.write_beside, [True, True]

    def write_beside(path: Path, data: bytes, mode: int) -> Path:
        copy = real(path, data, mode)
        if fresh and fresh.pop():
            replacement.sweep_copies(path.parent, os.listdir(path.parent))
        return copy

    monkeypatch.setattr(files, "write_beside", write_beside)
    files.write_atomic(memory.project.store / "a.md", b"whole", replace=False)
    assert (memory.project.store / "a.md").read_bytes() == b"whole"
    assert fresh == []


def test_a_note_that_a_broken_write_will_put_is_named(memory: Memory, monkeypatch: Patch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(replacement, "install", stop)
        with pytest.raises(Killed):
            memory.add("tea", type="user", description="Drinks tea", body="Tea.")
    told = found(memory, "journal")
    assert [finding.path for finding in told] == ["", "user-tea.md"]
    assert "removed" in told[1].message
    said: list[str] = []
    again = Memory(memory.project, tell=said.append)
    assert [f for f in again.doctor(fix=True) if f.check == "journal"] == []
    assert said[0] == "A write that was interrupted is finished."
    assert said[1].startswith("user-tea.md: put in place")
    assert again.note("tea")


def test_text_that_a_recovery_had_to_keep_aside_is_told_by_the_command_that_recovers(
    memory: Memory, run: Run, monkeypatch: Patch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(replacement, "settle", stop)
        with pytest.raises(Killed):
            memory.edit("prefers-pnpm", body="Uses pnpm alone.")
    (aside,) = memory.project.store.glob(".mdmemory-tx-*.old")
    aside.write_bytes(b"saved late, by an editor that had the old file open\n")
    monkeypatch.chdir(memory.project.root)
    told = run("add", "tea", "--type", "feedback", "--description", "Tea", "Tea.").err
    assert "mdmemory: A write that was interrupted is finished.\n" in told
    assert "feedback-prefers-pnpm.md: it was changed meanwhile, twice" in told
    assert f"the other text is in {aside.name}" in told
    assert aside.read_bytes().startswith(b"saved late")
    assert run("list").err == ""


def test_a_repository_without_a_work_tree_is_named_by_status(memory: Memory, git: Git) -> None:
    git(memory.project.root, "config", "core.bare", "true")
    assert "bare" in memory.git_state()


def test_notes_in_folders_are_told_once_and_an_import_takes_them(memory: Memory) -> None:
    store = memory.project.store
    for folder in ("work/deep", ".obsidian", "attachments"):
        (store / folder).mkdir(parents=True)
    (store / ".obsidian" / "note.md").write_text("Of Obsidian's.\n", encoding="utf-8")
    (store / "attachments" / "a.png").write_bytes(b"png")
    assert found(memory, "folders") == []
    head = "---\nname: Deploy Day\naliases:\n- Tuesday\n---\n\n"
    texts = {
        "work/deploy.md": f"{head}Deploys happen on Tuesdays.\n",
        "work/deep/standup.md": "The standup is at 9:30 in the Berlin office.\n",
    }
    for name, text in texts.items():
        (store / name).write_text(text, encoding="utf-8")
    (finding,) = found(memory, "folders")
    assert (finding.level, finding.fixable) == ("warning", False)
    assert "2 notes lie" in finding.message
    assert "work/deploy.md" in finding.message
    assert found(memory, "folders", fix=True) == [finding]
    assert len(memory.import_from(store / "work").added) == 2
    assert memory.note("Tuesday").file == memory.note("Deploy Day").file
    assert memory.note("deploy-day").note.head.aliases == ("deploy-day", "Deploy Day", "Tuesday")
    assert {name: (store / name).read_text() for name in texts} == texts


def test_a_package_of_another_project_under_our_name_is_named_with_the_way_out(
    memory: Memory, tmp_path: Path, say: Say, monkeypatch: Patch
) -> None:
    for name, record in (
        ("mdmemory", "mdmemory/__init__.py,,\n"), ("harmless", "harmless.py,,\n"),
        (DISTRIBUTION, "mdmemory/__init__.py,,\n"), ("our-editable", "mdmemory/shipped/a,,\n"),
    ):  # fmt: skip
        info = tmp_path / "site" / f"{name.replace('-', '_')}-1.5.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.5\n")
        (info / "RECORD").write_text(record)
    monkeypatch.chdir(memory.project.root)
    assert "No problems" in say("doctor")
    monkeypatch.syspath_prepend(tmp_path / "site")
    line, _ = say("doctor").splitlines()
    assert line.startswith("warning: mdmemory 1.5 is another project's")
    assert f"-m pip uninstall mdmemory`, then install {DISTRIBUTION} again." in line


# Why a note is in the index or not, when it left it, and how good the memory is by its counts.

TYPES = ("reference", "feedback", "feedback", "user")


@pytest.fixture
def placed(begin_store: BeginStore, monkeypatch: Patch) -> Memory:
    """A store whose index has room for three notes."""
    monkeypatch.setenv("MEMORY_INDEX_MAX_ENTRIES", "3")
    return begin_store(clock=lambda: datetime(2026, 6, 1, 12, tzinfo=UTC))


def add(placed: Memory, number: int, type: str) -> str:
    text = f"The {'north east south west'.split()[number]} gate opens with card {number}."
    return placed.add(f"gate-{number}", type=type, description=text, body=text).file


def test_a_note_that_had_to_leave_the_index_says_its_place_and_the_commit(placed: Memory) -> None:
    first, *_ = [add(placed, number, type) for number, type in enumerate(TYPES)]
    place = placed.index_place(first)
    newest, *_ = placed.log(1)[0]
    assert place is not None
    budget = ("budget", 4, 4, "reference", 1)
    assert (place.why, place.rank, place.of, place.pool, place.pool_rank) == budget
    assert place.left is not None
    assert place.left.commit == newest.commit
    assert newest.commit[:10] in place.told()
    assert "place 4 of 4" in place.told()
    placed.undo()
    place = placed.index_place(first)
    assert place is not None
    assert (place.listed, place.told()) == (True, ""), "a line that came back has not left"


def test_an_unconfirmed_note_was_never_in_the_index_nor_one_that_is_gone(placed: Memory) -> None:
    fact = FactCall("The barrier of the car park is raised by hand after nine.")
    place = placed.index_place(placed.store(fact, Caller()).file)
    assert place is not None
    assert (place.why, place.left) == ("unconfirmed", None)
    assert placed.index_place("gate-0") is None
