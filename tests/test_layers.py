"""Two layers, read as one: what lies in the project's store and in the person's is shown once,
with its layer, and every command finds it by the name that was shown."""

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from projects import Ask, Git, Patch, Run, Say

from mdmemory import Memory

NOTE = "---\nname: {name}\ndescription: {about}\nmetadata:\n  type: {type}\n---\n\n{about}.\n"


@pytest.fixture
def home(empty_home: Path, repository: Path, monkeypatch: Patch) -> Path:
    """The memory folder, with the test standing in a project that has no store yet."""
    monkeypatch.chdir(repository)
    return empty_home / "mdmemory"


def add(say: Say, name: str, type: str, about: str, *more: str) -> None:
    say("add", name, "--type", type, "--description", about, *more, f"{about}.")


@pytest.fixture
def both(say: Say, home: Path) -> Path:
    add(say, "tabs", "feedback", "Use width 8 in Go")
    add(say, "tea", "user", "Drinks green tea")
    add(say, "tabs", "feedback", "Use width 4 in Go", "--everywhere")
    return home


def test_add_goes_where_the_type_belongs_and_makes_the_store_with_its_first_note(
    home: Path, run: Run
) -> None:
    words = ["--description", "Likes tea", "Likes tea."]
    assert run("add", "Bad Name", "--type", "feedback", *words).code == 1
    assert not home.exists()
    done = run("add", "rule", "--type", "feedback", *words)
    assert f"The store of this project is {home / 'project'}." in done.err
    done = run("add", "tea", "--type", "user", *words)
    assert f"Your own store is {home / 'me'}." in done.err
    assert "in your own store" in done.out
    assert (home / "me/user-tea.md").is_file()
    assert (home / "project/feedback-rule.md").is_file()


def test_a_personal_note_never_goes_into_a_shared_store(
    say: Say, home: Path, git: Git, repository: Path
) -> None:
    say("init", "--shared")
    add(say, "tea", "user", "Drinks green tea")
    assert (home / "me/user-tea.md").is_file()
    assert "tea" not in git(repository, "log", "--format=%B", "--name-only", "-p")


def test_a_named_store_is_used_alone(both: Path, say: Say) -> None:
    store = str(both / "project")
    say("--store", store, "add", "cat", "--type", "user", "--description", "Cat", "Has a cat.")
    assert (both / "project/user-cat.md").is_file()
    assert "tea" not in say("--store", store, "list")


def test_lists_show_both_and_the_names_lead_back(both: Path, say: Say, ask: Ask) -> None:
    expected = ["feedback-tabs.md", "me/feedback-tabs.md", "user-tea.md"]
    assert [line.split("  ")[0] for line in say("list").splitlines()[:3]] == expected
    assert "Use width 8" in say("show", "tabs")
    assert "Use width 4" in say("show", "me/tabs")
    assert ask("show", "tea")["layer"] == "user"
    say("edit", "me/tabs", "Use width 4 in Go, always.")
    assert "always" in say("show", "me/feedback-tabs.md")
    say("rename", "me/tabs", "blanks")
    say("forget", "me/blanks")
    assert "me/" not in say("list")
    assert "blanks" in say("log", "me/blanks")


NAMES = st.sets(st.sampled_from(["tabs", "tea", "user-tabs", "me", "feedback-tea"]), max_size=4)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.tuples(NAMES, NAMES), st.sampled_from(["user", "feedback"]))
def test_whatever_lies_in_two_layers_is_listed_once_and_shown_by_that_name(
    both: Path, ask: Ask, say: Say, names: tuple[set[str], set[str]], type: str
) -> None:
    wanted = []
    for folder, some in zip(("project", "me"), names, strict=True):
        for old in (both / folder).glob("*-*.md"):
            old.unlink()
        for name in some:
            about = f"{name} of {folder}"
            text = NOTE.format(name=name, type=type, about=about)
            (both / folder / f"{type}-{name}.md").write_text(text)
            wanted.append(("project" if folder == "project" else "user", about))
    assert sorted((row["layer"], row["description"]) for row in ask("list")) == sorted(wanted)
    for line in say("list").splitlines()[: len(wanted)]:
        shown, about = line.split("  ")[:2]
        assert f"description: {about}\n" in say("show", shown)


def test_search_ranks_both_together_and_shows_a_text_once(both: Path, say: Say, ask: Ask) -> None:
    mine = Memory.open(both / "me")
    mine.add("again", type="user", description="Same", body="Deploys on Friday.")
    add(say, "again", "project", "Same")
    (both / "project/project-again.md").write_text((both / "me/user-again.md").read_text())
    hits = ask("search", "deploys", "friday")["hits"]
    assert [(hit["layer"], hit["file"]) for hit in hits] == [("project", "project-again.md")]
    hits = ask("search", "green", "tea")["hits"]
    assert [(hit["layer"], hit["file"]) for hit in hits] == [("user", "user-tea.md")]


def test_a_contradiction_between_layers_is_shown_on_both_and_the_projects_goes_first(
    both: Path, say: Say, ask: Ask
) -> None:
    hits = ask("search", "use", "go")["hits"]
    expected = [("project", "in conflict"), ("user", "in conflict")]
    assert [(hit["layer"], hit["status"]) for hit in hits] == expected
    (row,) = ask("review")
    assert (row["layer"], row["kind"]) == ("both", "conflict")
    sides = [(side["layer"], side["file"]) for side in row["notes"]]
    assert sides == [("project", "feedback-tabs.md"), ("user", "feedback-tabs.md")]
    assert not (both / "project/_CONFLICTS.md").exists()
    assert row["id"] in say("review", "me/feedback-tabs.md")
    say("review", "tabs", "keep", "me/tabs")
    assert not (both / "project/feedback-tabs.md").exists()
    assert "Nothing waits" in say("review")
    assert "restored: feedback-tabs.md" in say("undo")
    assert (both / "project/feedback-tabs.md").exists()


def test_undo_takes_the_newest_change_of_either_layer(both: Path, say: Say, ask: Ask) -> None:
    rows = ask("log")
    assert {row["layer"] for row in rows} == {"project", "user"}
    tea = next(row["id"] for row in rows if "user-tea.md" in str(row["ops"]))
    assert "+Drinks green tea." in say("log", tea, "-p")
    assert ask("undo")["layer"] == "user"
    assert not (both / "me/feedback-tabs.md").exists()
    say("undo", tea)
    assert not (both / "me/user-tea.md").exists()
    assert ask("undo")["layer"] == "project"


def test_a_link_to_a_note_of_the_other_layer_is_not_dead(both: Path, say: Say, ask: Ask) -> None:
    add(say, "links", "project", "See [[tea]] and [[nowhere]]")
    findings = ask("doctor")["findings"]
    expected = ["It links to [[nowhere]], and there is no such note: add it, or unlink it."]
    assert [row["message"] for row in findings if row["check"] == "links"] == expected


def test_status_index_and_export_cover_both(both: Path, say: Say, ask: Ask) -> None:
    status = ask("status")
    expected = [("project", 1), ("user", 2)]
    assert [(row["layer"], row["notes"]) for row in status["layers"]] == expected
    assert status["store"] == str(both / "project")
    assert f"your own    {both / 'me'}" in say("status")
    assert str(both / "me/MEMORY.md") in say("index")
    (both / "me/MEMORY.md").write_text("<!-- generated by mdmemory -->\n")
    say("index", "--check", code=1)
    assert sorted(row["layer"] for row in json.loads(say("export"))) == ["project", "user", "user"]


def test_other_projects_are_read_only_where_a_person_asks(
    both: Path, say: Say, git: Git, tmp_path: Path, monkeypatch: Patch
) -> None:
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(Path.cwd()), "other")
    git(other, "remote", "remove", "origin")
    git(other, "config", "user.name", "A")
    monkeypatch.chdir(other)
    say("init")
    add(say, "goat", "project", "The goat deploys")
    monkeypatch.chdir(tmp_path)
    assert "goat" not in say("list")
    assert "No matches" in say("search", "goat")
    assert "other/project-goat.md" in say("list", "--all-projects")
    assert "other/project-goat.md:" in say("search", "goat", "--all-projects")


def test_where_the_store_is_not_certain_reading_serves_the_person_and_writing_asks(
    both: Path, run: Run, tmp_path: Path, monkeypatch: Patch
) -> None:
    shutil.copytree(".", tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    said = run("list")
    assert (said.code, "user-tea.md" in said.out, "--join" in said.err) == (0, True, True)
    said = run("add", "x", "--type", "feedback", "--description", "d", "b")
    assert (said.code, "--join" in said.err) == (1, True)


def test_layers_in_python(both: Path) -> None:
    layers = Memory.around(".")
    found = {layer: [note.file for note in each.notes()] for layer, each in layers.each()}
    assert found == {"project": ["feedback-tabs.md"], "user": ["feedback-tabs.md", "user-tea.md"]}
    assert [note.file for note in layers.notes()] == [*found["project"], *found["user"]]
    assert layers.add("cup", type="user", description="A cup", body="A cup.").file == "user-cup.md"
    assert [row.head.file for row in layers.listing()] == [note.file for note in layers.notes()]
    edited = layers.edit("me/tabs", body="Use width 2.")
    expected = ("feedback-tabs.md", "Use width 2.")
    assert (edited.file, layers.note("me/tabs").note.body.strip()) == expected
    assert layers.search("cup").hits[0].layer == "user"


def test_sessions_are_the_projects_not_the_memory_folders(both: Path, repository: Path) -> None:
    from mdmemory.search.sources import session_folders

    assert session_folders(Memory.open(repository).project)[0] == repository
