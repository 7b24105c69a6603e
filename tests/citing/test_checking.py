"""What became of what notes cite, in real repositories: fresh, moved, drifted, gone, unknown."""

from pathlib import Path

import pytest
from citing_projects import SERVER, CitedProject, made
from rows import replace

from mdmemory import Memory
from mdmemory.errors import NoGit, NotFound

Patch = pytest.MonkeyPatch
PORT = "src/server.py#L4"
BIND = "src/server.py#L9-L10"
NOTE = "It answers on one port only"


def test_what_did_not_change_is_fresh_also_where_others_pushed_it(cited: CitedProject) -> None:
    assert cited.note(NOTE, PORT, BIND) == (PORT, BIND)
    assert cited.states() == ["fresh", "fresh"]
    cited.commit()
    assert cited.states() == ["fresh", "fresh"]
    cited.write("src/server.py", "# first\n# second\n" + SERVER)
    for _ in range(2):  # before the commit, and after it
        assert cited.states() == ["fresh src/server.py#L6", "fresh src/server.py#L11-L12"]
        cited.commit()


def test_lines_changed_or_taken_out_drifted_as_the_diff_says(cited: CitedProject) -> None:
    cited.note(NOTE, PORT)
    cited.replace("src/server.py", "8081", "9090")
    for _ in range(2):  # before the commit, and after it
        [found] = cited.checked()
        assert (found.state, found.place) == ("drifted", PORT)
        assert found.diff == "-PORT = 8081\n+PORT = 9090"
        cited.commit()
    cited.replace("src/server.py", "9090", "8081")
    cited.commit()
    assert cited.states() == ["fresh"]
    cited.replace("src/server.py", "PORT = 8081\n", "")  # nothing stands in its place
    [found] = cited.checked()
    assert (found.state, found.now, found.diff) == ("drifted", "src/server.py", "-PORT = 8081")


@pytest.mark.slow
def test_a_renamed_file_is_followed_and_what_changes_in_it_drifts_there(
    cited: CitedProject,
) -> None:
    cited.note(NOTE, PORT)
    for number in range(3):
        source = cited.git("ls-files", "*.py")
        cited.git("mv", source, f"net{number}.py")
        assert cited.states() == [f"moved net{number}.py#L{4 + number}"], "in the index"
        cited.commit()
        cited.write(f"net{number}.py", "# more\n" + (cited.top / f"net{number}.py").read_text())
        cited.commit()
        assert cited.states() == [f"moved net{number}.py#L{5 + number}"]
    cited.replace("net2.py", "8081", "9090")
    cited.commit()
    [found] = cited.checked()
    assert (found.state, found.now) == ("drifted", "net2.py#L7")
    assert "+PORT = 9090" in found.diff


def test_a_function_that_went_to_another_file_is_found_there(cited: CitedProject) -> None:
    cited.note(NOTE, BIND)
    head, _, function = SERVER.partition("def start")
    cited.write("src/server.py", head)
    cited.write("src/opening.py", f"from server import PORT\n\n\ndef start{function}")
    assert cited.states() == ["moved src/opening.py#L6-L7"], "before git knows of the file"
    cited.commit()
    assert cited.states() == ["moved src/opening.py#L6-L7"]
    cited.replace("src/opening.py", "    return sock", "    return sock, port")
    cited.commit()
    assert cited.states()[0].startswith("drifted")


def test_a_vendored_copy_does_not_stand_for_a_line_that_was_changed(cited: CitedProject) -> None:
    cited.write("vendor/old/server.py", SERVER)
    cited.commit()
    cited.note(NOTE, PORT, BIND)
    cited.write("vendor/new/server.py", SERVER)
    cited.replace("src/server.py", '("", port)', '("localhost", port)')
    cited.commit()
    assert cited.states() == ["fresh", "drifted"]


def test_white_space_line_ends_and_the_mark_of_utf_8_do_not_count(cited: CitedProject) -> None:
    cited.write("Program.cs", "\ufeffusing System;\r\nclass Program { }\r\n")
    cited.commit()
    cited.note(NOTE, PORT, BIND, "Program.cs#L1")
    cited.replace("src/server.py", '    sock.bind(("", port))', '    sock.bind(\n\t("", port)\n  )')
    cited.write("src/server.py", (cited.top / "src/server.py").read_text().replace("\n", "\r\n"))
    cited.write("Program.cs", "using System;\nclass Program { }\n")
    cited.commit()
    assert cited.states() == ["fresh", "fresh src/server.py#L9-L12", "fresh"]
    cited.replace("Program.cs", "using System;", "using System.Text;")
    assert cited.states()[2] == "drifted"


def test_a_whole_file_or_folder_is_fresh_whatever_is_in_it_moves_and_goes(
    cited: CitedProject,
) -> None:
    places = ("docs/reasons.md", "src/")
    assert cited.note("The reasons are told elsewhere", *places) == places
    cited.write("docs/reasons.md", "All new.\n")
    cited.write("src/more.py", "x = 1\n")
    cited.commit()
    assert cited.states() == ["fresh", "fresh"]
    cited.git("mv", "src", "lib")
    cited.commit()
    assert cited.states() == ["fresh", "moved lib/"]
    cited.git("rm", "-rq", "docs/reasons.md", "lib")
    cited.commit()
    assert cited.states() == ["gone", "gone"]


def test_a_commit_is_fresh_while_the_branch_has_it(cited: CitedProject) -> None:
    cited.git("switch", "-q", "-c", "other")
    cited.commit()
    id = cited.git("rev-parse", "HEAD")
    assert cited.note("It was decided then", f"commit:{id}") == (f"commit:{id[:12]}",)
    assert cited.states() == ["fresh"]
    cited.git("switch", "-q", "main")
    assert cited.states() == ["unknown"], "another branch has it"
    cited.git("branch", "-q", "-D", "other")
    assert cited.states() == ["gone"]


def test_a_citation_that_is_odd_not_pinned_or_of_nothing_is_named(cited: CitedProject) -> None:
    never = "other/place.py#L3@0123456789ab:01234567", "commit:0123456789ab"
    cited.by_hand("../outside.py#L1", PORT, "src/server.py#L4@0123456789ab:zz", *never)
    odd, bare, *others = cited.checked()
    assert (odd.state, bare.state) == ("unknown", "fresh")
    assert "cannot be read" in odd.why
    assert "not pinned" in bare.why
    assert [each.state for each in others] == ["unknown"] * 3, "the repository never held them"
    found = [each.message for each in cited.memory.doctor() if each.check == "citations"]
    assert "../outside.py#L1" in "".join(found)


def test_a_version_that_no_commit_ever_had_is_known_by_its_lines(cited: CitedProject) -> None:
    cited.replace("src/server.py", "8081", "7070")
    cited.note(NOTE, PORT)  # of the work tree, which is never committed so
    cited.write("src/server.py", "# more\n" + (cited.top / "src/server.py").read_text())
    cited.commit()
    assert cited.states() == ["fresh src/server.py#L5"]
    cited.replace("src/server.py", "7070", "6060")
    cited.commit()
    assert cited.states()[0].startswith("drifted")


def test_lines_of_a_commit_that_was_squashed_are_known_by_their_hash(cited: CitedProject) -> None:
    cited.git("switch", "-q", "-c", "topic")
    cited.replace("src/server.py", "8081", "7070")
    cited.commit()
    cited.note(NOTE, PORT)
    cited.git("switch", "-q", "main")
    cited.write("src/server.py", "# licence\n" + SERVER)
    cited.commit()
    cited.git("merge", "-q", "--squash", "topic")
    cited.commit()
    cited.git("branch", "-q", "-D", "topic")
    cited.git("reflog", "expire", "--expire=now", "--all")
    cited.git("gc", "-q", "--prune=now")
    assert cited.states() == ["fresh src/server.py#L5"]
    cited.git("mv", "src/server.py", "net.py")
    cited.commit()
    assert cited.states() == ["moved net.py#L5"]
    cited.replace("net.py", "7070", "6060")
    cited.commit()
    assert cited.states() == ["drifted net.py"]


def test_before_a_commit_a_removed_file_is_gone_a_renamed_one_followed(cited: CitedProject) -> None:
    cited.note(NOTE, PORT, BIND, "docs/reasons.md")
    (cited.top / "src/server.py").rename(cited.top / "net.py")
    (cited.top / "docs/reasons.md").rename(cited.top / "why.md")
    moved = ["moved net.py#L4", "moved net.py#L9-L10", "moved why.md"]
    assert cited.states() == moved, "git does not know of it"
    cited.git("add", "-A")
    assert cited.states() == moved, "in the index"
    cited.replace("net.py", "8081", "9090")
    assert cited.states() == ["drifted net.py#L4", *moved[1:]]
    (cited.top / "net.py").unlink()
    (cited.top / "why.md").unlink()
    cited.git("reset", "-q")
    assert cited.states() == ["gone", "gone", "gone"]
    cited.git("checkout", "-q", ".")
    assert cited.states() == ["fresh", "fresh", "fresh"]


def test_a_file_that_became_a_link_is_followed_to_where_its_lines_went(cited: CitedProject) -> None:
    cited.note(NOTE, PORT)
    cited.git("mv", "src/server.py", "src/net.py")
    (cited.top / "src/server.py").symlink_to("net.py")
    cited.commit()
    assert cited.states() == ["moved src/net.py#L4"]
    cited.replace("src/net.py", "8081", "9090")
    cited.commit()
    assert cited.states()[0].startswith("drifted")


def since(cited: CitedProject, revision: str) -> list[str]:
    return [each.place for each in cited.memory.citations(since=revision)]


@pytest.mark.slow
def test_a_change_since_a_revision_drifts_what_stood_before_it_alone(cited: CitedProject) -> None:
    cited.note(NOTE, PORT, BIND)
    cited.replace("src/server.py", "8081", "9090")
    assert since(cited, "HEAD") == [PORT], "not committed yet"
    cited.commit()
    assert since(cited, "HEAD") == []
    cited.replace("src/server.py", "return sock", "return sock, port")
    assert since(cited, "HEAD") == [BIND], "the other one drifted before"
    cited.commit()
    assert since(cited, "HEAD~1") == [BIND]
    assert since(cited, "HEAD~2") == [PORT, BIND]
    for revision in ("nothing", "--all", "", "HEAD\n"):
        with pytest.raises(NotFound, match="no commit"):
            since(cited, revision)


def test_a_branch_counts_from_where_it_left(cited: CitedProject) -> None:
    cited.note(NOTE, PORT, BIND)
    cited.git("switch", "-q", "-c", "topic")
    cited.replace("src/server.py", "return sock", "return sock, port")
    cited.commit()
    cited.git("switch", "-q", "main")
    cited.replace("src/server.py", "8081", "9090")
    cited.commit()
    cited.git("switch", "-q", "topic")
    assert since(cited, "main") == [BIND]


def test_a_clone_that_leaves_out_commits_says_what_to_fetch(cited: CitedProject) -> None:
    cited.note(NOTE, PORT, BIND)
    store = cited.memory.project.store
    cited.git("switch", "-q", "-c", "topic")
    cited.replace("src/server.py", "8081", "9090")
    cited.commit()
    clone = cloned(cited, "--depth=1")
    for revision, message in (("origin/main", "no commit 'origin/main'"), ("main", "leaves out")):
        with pytest.raises(NotFound, match=message):
            in_clone(clone, store).citations(since=revision)
        clone.git("fetch", "-q", "--depth=1", "origin", "main:main")
    clone.git("fetch", "-q", "--unshallow")
    assert [each.place for each in in_clone(clone, store).citations(since="main")] == [PORT]


def test_outside_a_project_there_is_a_sentence(tmp_path: Path) -> None:
    layers = Memory.around(tmp_path)
    layers.add("likes-tea", type="user", description="Likes tea", body="Tea, as src/server.py.")
    for ask in (layers.citations, layers.of_person.citations):
        with pytest.raises(NoGit, match=r"only (a project's notes|notes of a project) cite"):
            ask()


@pytest.mark.parametrize("how", [["--object-format=sha256"], ["--separate-git-dir=../elsewhere"]])
def test_in_a_repository_of_another_kind(tmp_path: Path, how: list[str]) -> None:
    cited = made(tmp_path / "project", *how)
    cited.note(NOTE, PORT)
    cited.git("mv", "src/server.py", "net.py")
    cited.commit()
    assert cited.states() == ["moved net.py#L4"]
    cited.replace("net.py", "8081", "9090")
    assert cited.states() == ["drifted net.py#L4"]


def test_a_work_tree_is_judged_by_its_own_files(cited: CitedProject, tmp_path: Path) -> None:
    """A linked one, a sparse one, which lacks nothing, and one before the first commit."""
    cited.note(NOTE, PORT, "docs/reasons.md")
    store = cited.memory.project.store
    cited.git("worktree", "add", "-q", "../linked")
    linked = CitedProject(cited.top.parent / "linked")
    linked.replace("src/server.py", "8081", "9090")
    assert (linked.states(), cited.states()) == (["drifted", "fresh"], ["fresh", "fresh"])
    cited.git("sparse-checkout", "set", "--no-cone", "docs/")
    assert not (cited.top / "src").exists()
    assert cited.states() == ["fresh", "fresh"]
    cited.git("init", "-q", str(tmp_path / "unborn"))
    assert states_in(CitedProject(tmp_path / "unborn"), store) == ["unknown", "unknown"]


def cloned(cited: CitedProject, *how: str) -> CitedProject:
    cited.git("config", "uploadpack.allowFilter", "true")
    place = cited.top.parent / "clone"
    cited.git("clone", "-q", "--no-local", *how, f"file://{cited.top}", str(place))
    return CitedProject(place)


def in_clone(clone: CitedProject, store: Path) -> Memory:
    memory = Memory.open(clone.top, store=str(store))
    return Memory(replace(memory.project, around=clone.top))


def states_in(clone: CitedProject, store: Path) -> list[str]:
    """How the citations of a store stand in a clone of its project."""
    return [f"{each.state} {each.now}".strip() for each in in_clone(clone, store).citations()]


@pytest.mark.parametrize("how", ["--depth=1", "--filter=blob:none"])
def test_a_clone_without_the_past_fetches_and_changes_nothing(
    cited: CitedProject, how: str
) -> None:
    cited.note(NOTE, PORT, BIND)
    store = cited.memory.project.store
    cited.write("src/server.py", "# more\n" + SERVER)
    cited.replace("src/server.py", "return sock", "return sock, port")
    cited.commit()
    clone = cloned(cited, how)
    cited.top.rename(cited.top.with_name("away"))  # whoever asks for it, fails
    assert states_in(clone, store) == ["fresh src/server.py#L5", "unknown"]
    cited.top.with_name("away").rename(cited.top)
    if how == "--depth=1":
        clone.git("fetch", "-q", "--unshallow")
        drifted = "drifted src/server.py#L10-L11"
        assert states_in(clone, store) == ["fresh src/server.py#L5", drifted]


def test_line_ends_that_git_converts_are_no_change(cited: CitedProject) -> None:
    cited.git("config", "core.autocrlf", "true")
    (cited.top / "src/server.py").unlink()
    cited.git("checkout", "-q", "--", "src/server.py")
    assert b"\r\n" in (cited.top / "src/server.py").read_bytes()
    cited.note(NOTE, PORT)
    [cite] = cited.memory.note("the-note").note.head.cites
    assert cited.git("rev-parse", "HEAD:src/server.py").startswith(cite.split("@")[1][:12])
    assert cited.states() == ["fresh"]


def test_links_and_what_is_no_text_are_there_or_not(cited: CitedProject, tmp_path: Path) -> None:
    (cited.top / "link.py").symlink_to("src/server.py")
    (cited.top / "out").symlink_to(tmp_path)
    (tmp_path / "secret.txt").write_text("outside\n")
    cited.write("picture.bin", b"\0\1\2" * 50)
    cited.write("huge.txt", "x = 1\n" * 900_000)
    cited.commit()
    text = "See link.py, picture.bin, huge.txt and out/secret.txt, x = 1"
    assert cited.note(text) == ("link.py", "picture.bin", "huge.txt")
    assert cited.states() == ["fresh"] * 3
    (cited.top / "link.py").unlink()
    cited.write("picture.bin", b"\0other")
    cited.commit()
    assert cited.states() == ["gone", "fresh", "fresh"]


def test_a_submodule_and_a_link_are_cited_as_folders(cited: CitedProject, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    cited.git("init", "-q", str(tmp_path / "lib"))
    library = CitedProject(tmp_path / "lib")
    library.write("lib.py", "LIMIT = 77\n")
    library.commit()
    cited.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library.top), "sub")
    (cited.top / "alias").symlink_to("src")
    cited.commit()
    assert cited.note("Its LIMIT is 77: see sub/ and sub/lib.py", "alias/") == ("alias/", "sub/")
    assert cited.states() == ["fresh", "fresh"]
    cited.git("rm", "-q", "sub", "alias")
    cited.commit()
    assert cited.states() == ["gone", "gone"]


def test_nothing_the_repository_or_the_caller_names_is_run(
    cited: CitedProject, monkeypatch: Patch
) -> None:
    cited.note(NOTE, PORT)
    trap = f"touch {cited.top / 'ran'}"
    for name in ("core.fsmonitor", "filter.trap.clean", "diff.trap.textconv", "diff.external"):
        cited.git("config", name, trap)
    cited.write(".gitattributes", "*.py filter=trap diff=trap\n")
    cited.replace("src/server.py", "8081", "9090")
    cited.git("-c", "filter.trap.clean=cat", "-c", "core.fsmonitor=false", "add", "-A")
    (cited.top / "ran").unlink(missing_ok=True)
    cited.replace("src/server.py", "9090", "9191")
    for name, value in (("GIT_EXTERNAL_DIFF", trap), ("GIT_DIR", "elsewhere"),
                        ("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "diff.external"),
                        ("GIT_CONFIG_VALUE_0", trap), ("GIT_PYTHON_TRACE", "full")):  # fmt: skip
        monkeypatch.setenv(name, value)
    assert cited.states() == ["drifted"]
    (cited.top / "src/server.py").rename(cited.top / "net.py")
    assert cited.states() == ["drifted net.py#L4"], "renames were looked for"
    (cited.top / "net.py").unlink()
    assert cited.states() == ["gone"], "the work tree was searched for it"
    assert not (cited.top / "ran").exists()


def test_what_was_found_out_may_be_deleted_and_may_be_nonsense(cited: CitedProject) -> None:
    cited.note(NOTE, PORT)
    cited.git("mv", "src/server.py", "net.py")
    cited.commit()
    kept = cited.memory.project.private / "citations.json"
    for damage in (kept.unlink, lambda: kept.write_bytes(b"{]"), lambda: None):
        assert cited.states() == ["moved net.py#L4"]
        damage()
    before = cited.git("status", "--porcelain"), cited.git("for-each-ref")
    assert cited.states() == ["moved net.py#L4"]
    assert (cited.git("status", "--porcelain"), cited.git("for-each-ref")) == before


# Cited lines followed through branches and merges, in real repositories.

HELPERS = "".join(f"\n\ndef helper_{n}(value):\n    return value * {n}\n" for n in range(9))
OTHER = ("value * 3", "value * 33")


@pytest.fixture
def branched(cited: CitedProject) -> CitedProject:
    """The project with a longer file, a note on two places in it, and a branch `side`."""
    cited.write("src/server.py", SERVER + HELPERS)
    cited.commit()
    cited.note(NOTE, PORT, BIND)
    cited.git("branch", "side")
    return cited


def on(cited: CitedProject, branch: str, *edits: tuple[str, str]) -> None:
    """Commit these edits of the file on a branch."""
    cited.git("switch", "-q", branch)
    for old, new in edits:
        cited.replace("src/server.py", old, new)
    cited.commit()


def merge(cited: CitedProject, *how: str) -> None:
    cited.git("switch", "-q", "main")
    cited.git("merge", "-q", "--no-ff", "-m", "merge", *how, "side")


def rename(cited: CitedProject) -> None:
    cited.git("mv", "src/server.py", "src/net.py")
    cited.commit()


@pytest.mark.parametrize(
    ("edit", "port"), [(OTHER, "moved src/net.py#L4"), (("8081", "9090"), "drifted src/net.py#L4")]
)
def test_a_file_renamed_on_one_branch_and_edited_on_another_is_followed(
    branched: CitedProject, edit: tuple[str, str], port: str
) -> None:
    rename(branched)
    on(branched, "side", edit)
    merge(branched)
    assert branched.states() == [port, "moved src/net.py#L9-L10"]
    if edit != OTHER:
        assert branched.checked()[0].diff == "-PORT = 8081\n+PORT = 9090"


def test_a_note_of_a_branch_is_followed_into_a_file_main_renamed(branched: CitedProject) -> None:
    rename(branched)
    on(branched, "side", ("return value * 5", "return value * 5  # five"))
    branched.note("Helper five is odd", "src/server.py#L33")
    merge(branched)
    assert "moved src/net.py#L33" in branched.states()


def test_a_function_cut_out_on_a_branch_is_found_after_the_merge(branched: CitedProject) -> None:
    function = "def start" + SERVER.partition("def start")[2]
    branched.git("switch", "-q", "side")
    branched.write("src/opening.py", f"import socket\n\n\n{function}")
    on(branched, "side", (function, ""))
    on(branched, "main", OTHER)
    merge(branched)
    assert branched.states() == ["fresh", "moved src/opening.py#L6-L7"]


def test_what_a_merge_itself_changed_has_changed(branched: CitedProject) -> None:
    on(branched, "side", OTHER)
    merge(branched, "--no-commit")
    branched.replace("src/server.py", "8081", "9090")
    rename(branched)
    assert branched.states() == ["drifted src/net.py#L4", "moved src/net.py#L9-L10"]


def test_a_change_that_no_merge_took_over_is_none(branched: CitedProject) -> None:
    on(branched, "side", ("8081", "9090"))
    on(branched, "main", OTHER)
    branched.git("merge", "-q", "-s", "ours", "-m", "not that", "side")
    assert branched.states() == ["fresh", "fresh"]


def test_a_line_moved_and_put_back_and_then_edited_drifted(branched: CitedProject) -> None:
    whole = (branched.top / "src/server.py").read_text()
    function = "def start" + SERVER.partition("def start")[2]
    branched.write("src/opening.py", f"import socket\n\n\n{function}")
    on(branched, "main", (function, ""))
    branched.write("src/server.py", whole)  # back again, and the copy stays
    branched.commit()
    assert branched.states() == ["fresh", "fresh"]
    on(branched, "main", ("return sock", "return sock, port"))
    assert branched.states()[1].startswith("drifted")
