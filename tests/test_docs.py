"""The documents, held to what the code does."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from demo_project import prepare
from generated_pages import generated_pages
from pace import HUNG
from projects import Git, Patch, script
from rows import each

import mdmemory
from mdmemory import Memory, assets
from mdmemory.cli.commands import COMMANDS
from mdmemory.tools.table import TOOLS

ROOT = Path(__file__).parents[1]
PACKAGE = Path(mdmemory.__file__).parent
_TOPS = ROOT, PACKAGE, PACKAGE.parent  # apart where a wheel is tried
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
NAMES = [name for name, _, _ in COMMANDS]
# all that pages say of today; the changelog also speaks of what was
TODAY = "".join(path.read_text("utf-8") for path in PAGES if path.name != "CHANGELOG.md")


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


# --- every page --------------------------------------------------------------------------------


def links_lead_somewhere(path: Path) -> None:
    prose = re.sub(r"^```.*?^```$|`[^`\n]*`", "", path.read_text("utf-8"), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        linked = path.parent / name if name else path
        assert linked.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", linked.read_text("utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", line).lower().replace(" ", "-") for line in headings}
            assert anchor in slugs, target


def test_every_link_of_a_page_leads_somewhere() -> None:
    each(PAGES, links_lead_somewhere)


SHIPPED = [*PACKAGE.rglob("*.py"), *(ROOT / "protocol").glob("*.md")]


def name_known_commands(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = re.findall(r"(?:`|^\$ )mdmemory ([a-z]+)\b", text, re.MULTILINE)
    for block in re.findall(r"^ *```(?:sh|console)\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL):
        named += re.findall(r"(?:^ *|\| )mdmemory ([a-z]+)\b", block, re.MULTILINE)
    assert set(named) <= set(NAMES)


def test_every_command_that_is_named_exists() -> None:
    each([*PAGES, *sorted(SHIPPED)], name_known_commands)


def test_every_page_is_reached_from_the_readme() -> None:
    pages = {path.resolve() for path in PAGES} - {ROOT / "CHANGELOG.md"}  # nobody looks there
    reached, ahead = set(), {ROOT / "README.md"}
    while ahead:
        reached |= ahead
        links = {
            (path.parent / target).resolve()
            for path in ahead
            for target in re.findall(r"\]\(([\w./-]+\.md)[)#]", path.read_text("utf-8"))
        }
        ahead = links & pages - reached
    assert reached >= {path for path in pages if path.parent == ROOT / "docs"}


def test_a_page_names_targets_that_the_makefile_has() -> None:
    named = set(re.findall(r"(?:^|`)make ([\w-]+)", TODAY, re.MULTILINE))
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert {"demo", "test", "figures", "bench-drift"} <= named <= targets


def test_the_readme_sets_up_without_make_as_the_makefile_does() -> None:
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").replace("$(BIN)", ".venv/bin")
    recipe = recipe.replace("$(PYTHON)", "python3").replace(" --quiet", "")
    recipe = recipe.replace("\\\n\t\t|| ", "\n\t")  # the second way of two
    (block,) = re.findall(r"^```sh\n(python3 -m venv.*?)^```$", page("README.md"), re.M | re.S)
    for line in block.splitlines():
        assert f"\t{line}\n" in recipe


# --- pages that are made from tables -----------------------------------------------------------


@pytest.mark.parametrize(("name", "text"), generated_pages().items())
def test_a_generated_page_is_what_the_tables_say(name: str, text: str) -> None:
    assert page(f"docs/{name}") == text, "run `python tests/docs/generated_pages.py`"


def test_every_variable_that_the_code_reads_is_on_the_settings_page() -> None:
    code = "".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))
    read = set(re.findall(r'"((?:MDMEMORY|MEMORY|XDG)_[A-Z_]*[A-Z])"', code)) | {"NO_COLOR"}
    assert read <= set(re.findall(r"`([A-Z_]+)`", page("docs/settings.md")))


def test_the_page_on_assistants_names_every_tool() -> None:
    named = set(re.findall(r"`(\w+)`", page("docs/clients.md")))
    assert {tool.name for tool in TOOLS} <= named


def test_every_file_that_the_architecture_names_exists() -> None:
    named = re.findall(r"`((?:\w+/)+\w+\.\w+)`", page("docs/architecture.md"))
    assert len(named) >= 40
    assert [each for each in named if not any((top / each).exists() for top in _TOPS)] == []


def test_the_python_sample_prints_what_is_shown(
    repository: Path, monkeypatch: Patch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repository)
    shutil.copy(assets.asset_path("templates/demo/transcript.json"), "session.json")
    text = page("docs/architecture.md")
    (sample,) = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    (shown,) = re.findall(r"^```text\n(.*?)^```$", text, re.M | re.S)
    exec(compile(sample, "docs/architecture.md", "exec"), {})
    assert capsys.readouterr().out == shown


# --- docs/safety.md ----------------------------------------------------------------------------


def test_every_test_that_a_page_names_exists() -> None:
    tests = "".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    known = set(re.findall(r"^def (test_\w+)\(", tests, re.MULTILINE))
    named = set(re.findall(r"`(test_\w+)`", TODAY))
    assert len(named) > 20
    assert named <= known


ADDED = "--type feedback --description Go gofmt"
SCRIPT = Path(sys.executable).with_name("mdmemory")


@pytest.mark.slow
def test_a_hostile_configuration_of_the_repository_runs_nothing(
    repository: Path, git: Git, tmp_path: Path
) -> None:
    prepare(repository)
    payload, ran = tmp_path / "payload", tmp_path / "ran"
    script(payload, f"echo \"$0 $*\" >> '{ran}'\nexit 1")
    (repository / "hooks").mkdir()
    hooks = ("pre-commit", "post-commit", "reference-transaction", "post-index-change")
    # also what a `.` in the PATH and Python's own search would find in the project
    for name in (*(f"hooks/{hook}" for hook in hooks), "git", "opencode", "vi"):
        shutil.copy(payload, repository / name)
    (repository / "yaml.py").write_text(f"open({str(ran)!r}, 'w')\n", encoding="utf-8")
    for name, value in {
        "core.fsmonitor": str(payload), "core.hooksPath": "hooks", "commit.gpgSign": "true",
        "gpg.program": str(payload), "log.showSignature": "true", "core.editor": str(payload),
        "core.pager": str(payload), "diff.external": str(payload),
        "diff.evil.textconv": str(payload), "diff.evil.command": str(payload),
        "merge.evil.driver": str(payload), "credential.helper": str(payload),
    }.items():  # fmt: skip
        git(repository, "config", name, value)
    (repository / ".git/info/attributes").write_text("*.md diff=evil merge=evil\n", "utf-8")
    for line in (
        "init --store notes/memory", f"add tabs-in-go {ADDED}",
        "edit tabs-in-go --description Go,always", "extract --transcript session.json", "compact",
        "log", "log -p", "log tabs-in-go -p", "undo", "forget tabs-in-go", "list", "index",
        "review", "status", "session", "doctor", "init --remove",
    ):  # fmt: skip
        words = line.split()
        path = f".:{os.environ['PATH']}"
        done = subprocess.run(
            [SCRIPT, *words], cwd=repository, env={**os.environ, "PATH": path},
            capture_output=True, text=True, timeout=HUNG,
        )  # fmt: skip
        # their git is told to sign, and there is no key
        said = [row for row in done.stderr.splitlines() if "without a signature: gpg" not in row]
        assert (done.returncode, said) == (0, []), words
        assert not ran.exists(), (words, ran.read_text("utf-8"))


@pytest.mark.slow
def test_many_processes_at_once_lose_no_note(repository: Path) -> None:
    memory, _ = Memory.init(repository)
    words = (SCRIPT, "add", "fact", "--type", "feedback", "--description")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    running = [
        subprocess.Popen([*words, f"Fact {n}", f"It is {n}."], cwd=repository, **pipes)
        for n in range(6)
    ]
    assert [process.communicate(timeout=HUNG)[1] for process in running] == [b""] * 6
    assert len(memory.notes()) == 6
    assert [entry.get("Memory-Op") for entry, *_ in memory.log()].count("add") == 6
    assert memory.index(check=True).changed == ()


# The site of the documents: what `make docs` makes of the pages (mkdocs.yml, mkdocs_pages.py).


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    """The module that mkdocs loads; mkdocs itself is installed by `make docs` alone."""
    spec = importlib.util.spec_from_file_location("mkdocs_pages", ROOT / "mkdocs_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Loader(yaml.SafeLoader):
    """Reads mkdocs.yml, in which a function is named by a tag of its own."""


Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)


def listed(nav: Any) -> Iterator[str]:
    """The pages that a menu names."""
    if isinstance(nav, str):
        yield nav
    else:
        for each in nav.values() if isinstance(nav, dict) else nav:
            yield from listed(each)


def test_the_menu_of_the_site_names_every_page_once(pages: ModuleType) -> None:
    settings = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader)
    docs = ROOT / "docs"
    wanted = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    assert sorted(listed(settings["nav"])) == sorted(wanted | set(pages.TOP.values()))
    assert settings["strict"] is True
    assert settings["hooks"] == ["mkdocs_pages.py"]


CONVERTED = (
    ("index.md", "see [limits](docs/safety.md#limits)", "see [limits](safety.md#limits)"),
    ("index.md", "![a](docs/images/demo.svg)", "![a](images/demo.svg)"),
    ("index.md", "[Changes](CHANGELOG.md)", "[Changes](changelog.md)"),
    ("safety.md", "[Changes](../CHANGELOG.md)", "[Changes](changelog.md)"),
    ("safety.md", "[search](inbox.md#undo)", "[search](inbox.md#undo)"),
    ("guides/a.md", "[x](../safety.md) [y](../../README.md)", "[x](../safety.md) [y](../index.md)"),
    ("figures.md", "[the notes](../tests/data/search/README.md)", "the notes"),
    ("figures.md", "[a](https://x.org/README.md) [b](#c)", "[a](https://x.org/README.md) [b](#c)"),
    ("figures.md", "[gone](../gone.md)", "[gone](../gone.md)"),  # which mkdocs refuses
    ("index.md", "```\n[a](CHANGELOG.md)\n- b\n```", "```\n[a](CHANGELOG.md)\n- b\n```"),
    ("index.md", "Such as:\n- one\n  - two\n- three", "Such as:\n\n- one\n    - two\n- three"),
    ("index.md", "1. one\n   more\n2. two", "1. one\n   more\n2. two"),
)


def test_a_page_reads_on_the_site_as_in_the_checkout(pages: ModuleType) -> None:
    def check(page: str, before: str, after: str) -> None:
        assert pages.converted(before, page) == after

    each(CONVERTED, check)


def test_a_site_that_would_fetch_something_is_refused(pages: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "own.js").touch()
    (tmp_path / "404.html").write_text("<script src=/own.js></script>", encoding="utf-8")
    page = tmp_path / "a/page.html"
    page.parent.mkdir()
    page.write_text(
        '<a href="https://example.com/read">more</a><link rel="next" href="https://x.org/n">'
        '<script src="../own.js?v=1"></script><img src="data:image/png;base64,AA==">',
        encoding="utf-8",
    )
    (tmp_path / "a.css").write_text("a{background:url(own.js)}/* https://x.org */", "utf-8")
    assert list(pages.outside(tmp_path)) == []
    for fetched in (
        '<script src="https://unpkg.com/x"></script>', '<img src="//cdn.example.com/x.png">',
        '<link rel="stylesheet" href="https://fonts.example.com/css">', '<img src="gone.png">',
    ):  # fmt: skip
        page.write_text(fetched, encoding="utf-8")
        assert len(list(pages.outside(tmp_path))) == 1, fetched
    page.unlink()
    for fetched in ("@import 'https://x.org/a.css';", "a{background:url(//x.org/a.png)}"):
        (tmp_path / "a.css").write_text(fetched, encoding="utf-8")
        assert len(list(pages.outside(tmp_path))) == 1, fetched
