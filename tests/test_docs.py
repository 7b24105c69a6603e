"""The documents, held to what the code does."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from blocks import normal
from pace import HUNG
from rows import each
from settings_pages import settings_pages

import mdmemory
from mdmemory import Memory, assets
from mdmemory.cli import main
from mdmemory.cli.commands import COMMANDS
from mdmemory.config.table import TABLE

ROOT = Path(__file__).parents[1]
PACKAGE = Path(mdmemory.__file__).parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
NAMES = [name for name, _, _ in COMMANDS]


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def sections(text: str) -> dict[str, str]:
    """The text under each heading of the second level."""
    found = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


# --- every page --------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_link_of_a_page_leads_somewhere(path: Path) -> None:
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


# --- the README --------------------------------------------------------------------------------


def test_the_readme_names_targets_that_the_makefile_has() -> None:
    named = set(re.findall(r"\bmake (\w+)\b", page("README.md") + page("CONTRIBUTING.md")))
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert {"demo", "test"} <= named <= targets


def test_the_readme_sets_up_without_make_as_the_makefile_does() -> None:
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").replace("$(BIN)", ".venv/bin")
    recipe = recipe.replace("$(PYTHON)", "python3").replace(" --quiet", "")
    recipe = recipe.replace("\\\n\t\t|| ", "\n\t")  # the second way of two
    (block,) = re.findall(r"^```sh\n(python3 -m venv.*?)^```$", page("README.md"), re.M | re.S)
    for line in block.splitlines():
        assert f"\t{line}\n" in recipe


# --- docs/settings.md, docs/settings-advanced.md -----------------------------------------------


def test_the_settings_pages_are_what_the_table_says() -> None:
    for name, text in settings_pages().items():
        assert page(f"docs/{name}") == text, "run `python tests/docs/settings_pages.py`"


def test_the_first_settings_page_has_the_few_that_people_change() -> None:
    shown = re.findall(r"^\| `([a-z_.]+)`", page("docs/settings.md"), re.MULTILINE)
    assert shown == [setting.name for setting in TABLE if setting.common]
    assert len(shown) == 12


def test_every_variable_that_the_code_reads_is_on_a_settings_page() -> None:
    code = "".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))
    read = set(re.findall(r'"((?:MDMEMORY|MEMORY|XDG)_[A-Z_]*[A-Z])"', code)) | {"NO_COLOR"}
    pages = page("docs/settings.md") + page("docs/settings-advanced.md")
    assert read <= set(re.findall(r"`([A-Z_]+)`", pages))


# --- docs/command-line.md ----------------------------------------------------------------------

COMMAND_LINE = sections(page("docs/command-line.md"))


def test_the_page_has_every_command_in_order() -> None:
    assert [name for name in COMMAND_LINE if name in NAMES] == NAMES


@pytest.mark.parametrize("command", NAMES)
def test_the_page_has_exactly_the_options_of_a_command(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    shown = capsys.readouterr().out
    real = set(re.findall(r"^ +(?:-\w, )?(--?[a-z][a-z-]*)", shown, re.MULTILINE))
    told = set(re.findall(r"^\| `(--?[a-z][a-z-]*)", COMMAND_LINE[command], re.MULTILINE))
    assert told == real - {"--help", "--store", "--json", "--verbose"}


def prepare(project: Path, git: Callable[..., str]) -> None:
    """The demo's notes as a store: two that say the same, two that contradict."""
    shutil.copytree(assets.path("templates/demo/notes"), project / "notes/memory")
    shutil.copy(assets.path("templates/demo/transcript.json"), project / "session.json")
    text = (project / "notes/memory/reference-error-dashboard.md").read_text("utf-8")
    (project / "notes/memory/note-without-head.md").write_text(text.split("---")[-1], "utf-8")
    plan = {
        "ops": [
            {"op": "delete", "file": "reference-error-dashboard.md", "reason": "shut down"},
            {"op": "rewrite", "file": "project-postgres-for-billing.md", "body": "A database."},
            {"op": "delete", "file": "user-works-as-backend-engineer.md", "reason": "left"},
        ],
        "digests": {"user-works-as-backend-engineer.md": "0" * 64},
    }
    (project / "plan.json").write_text(json.dumps(plan), "utf-8")


def talk(project: Path) -> None:
    """A session of Claude Code in the project, as it lies in the home."""
    slug = re.sub(r"[^0-9A-Za-z]", "-", str(project))
    file = Path.home() / ".claude/projects" / slug / "0d1f6c1e-6a53-4a0e-9c0b-2f7a3f9f0001.jsonl"
    file.parent.mkdir(parents=True)
    text = (ROOT / "tests/capture/data/claude.jsonl").read_text("utf-8")
    file.write_text(text.replace('"/repo"', json.dumps(str(project))), "utf-8")


ADDED = ("file", "name", "digest", "commit", "layer")  # `edit`, `confirm`, `remove` answer it, too
ADD = ("add", "tabs-in-go", "--type", "feedback", "--description", "Go uses tabs", "gofmt does.")


@pytest.fixture
def scene(
    repository: Path,
    git: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> dict[str, Any]:
    """The JSON that each command of the page gives in one small project."""
    prepare(repository, git)
    talk(repository)
    monkeypatch.chdir(repository)

    def ask(*words: str) -> Any:
        main([*words, "--json"])
        return json.loads(capsys.readouterr().out)

    found = {"init": ask("init", "--store", "notes/memory"), "an error": ask("show", "nothing")}
    found["config"] = ask("config", "list", "index.max_entries")
    found["setup"] = ask("setup", "opencode", "--dry-run")
    found |= {"list": ask("list"), "show": ask("show", "prefers-pnpm"), "add": ask(*ADD)}
    assert set(ask("edit", "tabs-in-go", "--description", "Go uses tabs, always")) == set(ADDED)
    assert set(ask("confirm", "tabs-in-go")) == set(ADDED)
    found |= {"index": ask("index")}
    found["explain"] = ask("explain", "remember: Uses pnpm, never npm, in every JavaScript project")
    found["extract"] = ask("extract", "--transcript", "session.json")
    found["pending"] = ask("pending")
    found["observe"] = ask("observe", "add", "The gateway answers 429", "--file", "client.py")
    found["compact"] = ask("compact", "--plan", "plan.json")
    ask("compact")
    found["review"] = ask("review")
    found |= {"conflicts": ask("conflicts"), "status": ask("status"), "doctor": ask("doctor")}
    found |= {"log": ask("log"), "diff": ask("diff"), "history": ask("history", "tabs-in-go")}
    found["rename"] = ask("rename", "tabs-in-go", "go-uses-tabs")
    ask("undo")
    ask("remove", "tabs-in-go")
    found["undo"] = ask("undo")
    assert set(ask("remove", "tabs-in-go")) == set(ADDED)
    git(repository, "init", "-q", "--bare", "../remote.git")
    git(repository, "remote", "add", "origin", "../remote.git")
    git(repository, "push", "-q", "-u", "origin", "main")
    found |= {"sync": ask("sync"), "session": ask("session", "list")}
    protocol = repository / ".opencode/memory/PROTOCOL.md"
    protocol.parent.mkdir(parents=True)
    protocol.write_text("# Ours\n\n## The bar\n\nStore little.\n", "utf-8")
    found["trust"] = ask("trust")
    (repository / "server.py").write_text("PORT = 8081\n", "utf-8")
    ask("add", "The server has one port", "--cite", "server.py#L1")
    (repository / "server.py").write_text("PORT = 9090\n", "utf-8")
    found["check"] = ask("check")
    return found


def examples() -> dict[str, Any]:
    """The first JSON block of each section."""
    found = {}
    for name, text in COMMAND_LINE.items():
        blocks = re.findall(r"^```json\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        if blocks:
            found[name] = json.loads(blocks[0])
    return found


def alike(shown: Any, real: Any, where: str) -> None:
    """The same keys all the way down; an op's own keys depend on what it does."""
    if isinstance(real, dict) and isinstance(shown, dict):
        assert ("op" in shown and "op" in real) or set(shown) == set(real), where
        for key in set(shown) & set(real):
            alike(shown[key], real[key], f"{where}.{key}")
    elif isinstance(real, list):
        assert isinstance(shown, list), where
        for item in shown:
            if real:
                alike(item, real[0], f"{where}[]")
    elif shown is not None and real is not None:
        assert type(shown) is type(real), where


def test_each_json_example_has_exactly_the_keys_of_the_real_answer(scene: dict[str, Any]) -> None:
    shown = examples()
    assert set(scene) == set(shown)
    for name, real in scene.items():
        alike(shown[name], real, name)


# --- docs/python.md ----------------------------------------------------------------------------


def test_the_python_sample_runs_as_it_is_shown(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repository)
    shutil.copy(assets.path("templates/demo/transcript.json"), "session.json")
    for sample in re.findall(r"^```python\n(.*?)^```$", page("docs/python.md"), re.M | re.S):
        exec(compile(sample, "docs/python.md", "exec"), {})
    (shown,) = re.findall(r"^```text\n(.*?)^```$", page("docs/python.md"), re.M | re.S)
    out = capsys.readouterr().out
    assert normal(out, str(repository.parent)) == normal(shown)


def test_the_python_page_names_every_method() -> None:
    methods = {name for name in dir(Memory) if not name.startswith("_")}
    assert methods <= set(re.findall(r"`(?:Memory)?\.(\w+)\(", page("docs/python.md")))


def test_the_python_page_names_every_type() -> None:
    named = set(re.findall(r"`(\w+)", page("docs/python.md")))
    assert {*mdmemory.__all__} - {"__version__"} <= named


# --- docs/safety.md ----------------------------------------------------------------------------


def test_every_test_that_a_page_names_exists() -> None:
    tests = "".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    known = set(re.findall(r"^def (test_\w+)\(", tests, re.MULTILINE))
    docs = "".join(path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md"))
    assert set(re.findall(r"`(test_\w+)`", docs)) <= known


SCRIPT = Path(sys.executable).with_name("mdmemory")


@pytest.mark.slow
def test_a_hostile_configuration_of_the_repository_runs_nothing(
    repository: Path, git: Callable[..., str], tmp_path: Path
) -> None:
    prepare(repository, git)
    payload, ran = tmp_path / "payload", tmp_path / "ran"
    payload.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{ran}'\nexit 1\n", encoding="utf-8")
    payload.chmod(0o755)
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
    for words in (
        ("init", "--store", "notes/memory"), ADD,
        ("edit", "tabs-in-go", "--description", "Go uses tabs, always"),
        ("extract", "--transcript", "session.json"), ("compact",), ("log",), ("diff",),
        ("history", "tabs-in-go"), ("undo",), ("remove", "tabs-in-go"), ("list",), ("index",),
        ("conflicts",), ("status",), ("session", "list"), ("doctor",), ("init", "--remove"),
    ):  # fmt: skip
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
    running = [
        subprocess.Popen(
            [*words, f"Fact {n}", f"It is {n}."], cwd=repository, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for n in range(6)
    ]  # fmt: skip
    for process in running:
        _, complaint = process.communicate(timeout=HUNG)
        assert complaint == b""
    assert len(memory.notes()) == 6
    assert [entry.get("Memory-Op") for entry, _ in memory.log()].count("add") == 6
    assert memory.index(check=True).changed == ()
