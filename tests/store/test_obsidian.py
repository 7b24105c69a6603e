"""The memory folder opened by Obsidian: links lead where they should, and its files disturb nobody.

The rules are those that Obsidian publishes (help: Internal links, Aliases) and that were seen in
1.13.7: a link names a file, in any case, with or without `.md`; an exact path in the vault wins,
then the folder of the note that links, then the shortest path. No alias resolves a link.
"""

import re
import shutil
from pathlib import Path
from urllib.parse import unquote

import pytest
from projects import git

from mdmemory import Memory

LINK = re.compile(r"\[\[([^\[\]|#\n]+)[^\[\]\n]*\]\]|\]\(<?([^()<>#\n]+)[^()\n]*\)")


def shown(vault: Path, pattern: str) -> list[Path]:
    """The files that Obsidian shows: none in hidden folders."""
    paths = sorted(path for path in vault.rglob(pattern) if path.is_file())
    return [p for p in paths if not any(x.startswith(".") for x in p.relative_to(vault).parts)]


def followed(vault: Path, source: Path, link: str) -> Path | None:
    """The file that Obsidian opens for a link in `source`; None: it would make a new note."""
    wanted = unquote(link).strip().casefold().removeprefix("./")
    files = {path.relative_to(vault).as_posix(): path for path in shown(vault, "*")}
    for name in (wanted, f"{wanted}.md"):
        found = [file for file in files if f"/{file}".casefold().endswith(f"/{name}")]
        exact = [file for file in found if file.casefold() == name]
        near = [file for file in found if files[file].parent == source.parent]
        for some in (exact, near, sorted(found, key=len)):
            if some:
                return files[some[0]]
    return None


def dead(vault: Path) -> list[tuple[str, str]]:
    """The links in the vault's notes that Obsidian does not follow, or follows out of the store."""
    lost = []
    for path in shown(vault, "*.md"):
        for name, file in LINK.findall(path.read_text(encoding="utf-8")):
            target = followed(vault, path, name or file)
            if target is None or target.parent != path.parent:
                lost.append((path.name, name or file))
    return lost


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """The memory folder with the stores of three projects, whose notes have the same names, opened
    by Obsidian."""
    for name in NAMES:
        project = tmp_path / name
        git(tmp_path, "init", "-q", "-b", "main", str(project))
        who = ("-c", "user.name=A Person", "-c", "user.email=person@localhost")
        git(project, *who, "commit", "-q", "--allow-empty", "-m", f"begin {name}")
        memory, _ = Memory.init(project, home=True)
        memory.add("layout", type="project", description=f"Layout of {name}", body="Flat.")
        memory.add("喜欢-茶", type="user", description="Likes tea", body="See [[project-layout]].")
        memory.add("links", type="reference", description="Links", body=BODY)
    folder = Path.home() / "mdmemory"
    (folder / ".obsidian").mkdir()
    (folder / ".obsidian" / "app.json").write_text("{}", encoding="utf-8")
    return folder


NAMES = ("app", "shop", "blog")
BODY = (
    "[[project-layout]] [[Project-Layout.md]] [[project-layout#Flat|where]] "
    "[text](project-layout.md) ![[user-喜欢-茶]] and by their names "
    "[[layout]], [[喜欢-茶#a]] and [[Layout|where]]."
)


def opened(vault: Path, name: str) -> Memory:
    return Memory.open(vault / name, store=str(vault / name))


@pytest.mark.slow
def test_links_to_files_resolve_and_a_fix_makes_all_resolve(vault: Path) -> None:
    names = {"layout", "喜欢-茶", "Layout"}
    assert {link for _, link in dead(vault)} == names
    for name in NAMES:
        memory = opened(vault, name)
        (finding,) = [f for f in memory.doctor() if f.check == "obsidian"]
        assert finding.path == "reference-links.md"
        assert finding.fixable
        assert [f for f in memory.doctor(fix=True) if f.check in ("obsidian", "links")] == []
        body = memory.note("links").note.body
        assert "[[project-layout|layout]], [[user-喜欢-茶#a]] and [[project-layout|where]]" in body
        assert body.startswith(BODY.partition(" and by")[0])
    assert dead(vault) == []


@pytest.mark.slow
def test_links_resolve_after_a_rename(vault: Path) -> None:
    memory = opened(vault, "shop")
    memory.doctor(fix=True)
    memory.rename("layout", "folders")
    assert "[[project-folders|folders]]" in memory.note("links").note.body
    assert [lost for lost in dead(vault / "shop") if "layout" in lost[1].lower()] == []


@pytest.mark.slow
def test_without_obsidian_links_by_name_are_no_problem(vault: Path) -> None:
    shutil.rmtree(vault / ".obsidian")
    before = (vault / "shop" / "reference-links.md").read_bytes()
    assert opened(vault, "shop").doctor(fix=True) == []
    assert (vault / "shop" / "reference-links.md").read_bytes() == before


@pytest.mark.slow
def test_files_of_obsidian_are_left_alone(vault: Path) -> None:
    store = vault / "shop"
    theirs = {
        **{".obsidian/workspace.json": "{}", ".trash/project-old.md": "Old.\n"},
        **{"Untitled.md": "", "Untitled.canvas": '{"nodes": []}', "Untitled.base": "views:\n"},
        "attachments/Pasted image.png": "png",
    }
    for name, text in theirs.items():
        (store / name).parent.mkdir(exist_ok=True)
        (store / name).write_text(text, encoding="utf-8")
    memory = opened(vault, "shop")
    memory.doctor(fix=True)
    memory.add("tea", type="user", description="Drinks tea", body="Drinks tea.")
    memory.compact()
    memory.rename("tea", "green-tea")
    memory.undo()
    assert {name: (store / name).read_text(encoding="utf-8") for name in theirs} == theirs
    tracked = git(store, "ls-files").split("\n")
    assert not {name for name in theirs if name in tracked} - {"Untitled.md"}
    assert [f for f in memory.doctor() if f.level == "error" or f.check == "folders"] == []
