"""The drawing of the rooms, in docs/architecture.md, held to: imports go one way, down."""

from __future__ import annotations

import ast
import graphlib
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from pace import HUNG
from rows import each

import mdmemory

PACKAGE = Path(mdmemory.__file__).parent

# From the ground up. A name that ends in a dot stands for a whole room.
FLOORS = (
    ("text.korean", "text.stop_words", "text.words"),
    ("errors", "version", "assets", "bounds", "debugging", "unseen", "wire", "privacy."),
    ("files", "config."),
    ("note.", "git.", "transcripts."),
    ("text.",),
    ("store.",),
    ("citing.",),
    ("protocol", "actions."),
    ("llm.",),
    ("search.",),
    ("capture.", "compact."),
    ("session.",),
    ("observe.", "prompt."),
    ("audit", "audit_model"),
    ("layers",),
    ("memory",),
    ("overview",),
    ("review.",),
    ("tools.",),
    ("memory_tool",),
    ("hosts.", "mcp."),
    ("web.",),
    ("cli.",),
    ("", "__main__"),  # the roof: mdmemory itself
)
HEAVY = {
    "yaml", "frontmatter", "rapidfuzz", "git", "openai", "numpy", "sqlite3", "tomllib",
    "mcp", "msgspec", "pydantic", "tomlkit", "psycopg", "fastembed",
    "snowballstemmer", "git_filter_repo", "starlette", "uvicorn", "jinja2", "markupsafe",
    "markdown_it",
}  # fmt: skip


def module_name(path: Path) -> str:
    """`git.objects` for mdmemory/git/objects.py, `git` for its `__init__`, "" for the package."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


SOURCES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
# the rooms and files that may print, exit, read the environment or ask the clock
INTERFACES = (
    "layers",
    "memory",
    "memory_tool",
    "overview",
    "review",
    "tools",
    "hosts",
    "mcp",
    "web",
    "cli",
    "__main__",
)
BELOW = [name for name in SOURCES if name and name.partition(".")[0] not in INTERFACES]


@cache
def trees() -> dict[str, ast.Module]:
    """Each module, parsed: by the first test that looks, not by whoever collects the tests."""
    return {name: ast.parse(path.read_bytes()) for name, path in SOURCES.items()}


def place(module: str) -> tuple[int, str]:
    """The floor of a module and its room there; the longest name that fits is the one."""
    found = [
        (len(room), floor, room)
        for floor, rooms in enumerate(FLOORS)
        for room in rooms
        if module == room.removesuffix(".") or (room.endswith(".") and module.startswith(room))
    ]
    assert found, f"mdmemory.{module} has no floor: give it one in tests/test_floors.py"
    _, floor, room = max(found)
    return floor, room if room.endswith(".") else "the ground"


def imports(module: str) -> Iterator[tuple[str, int]]:
    """Every module of ours that this one imports, in functions and type checks too, and where."""
    for node in ast.walk(trees()[module]):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"mdmemory.{module}: imports are written in full"
            found = [
                name if name.removeprefix("mdmemory.") in SOURCES else str(node.module)
                for name in (f"{node.module}.{alias.name}" for alias in node.names)
            ]
        else:
            continue
        for name in found:
            if name == "mdmemory" or name.startswith("mdmemory."):
                yield name.removeprefix("mdmemory").removeprefix("."), node.lineno


def import_downwards(module: str) -> None:
    floor, room = place(module)
    for target, line in imports(module):
        below, other = place(target)
        assert below < floor or (below, other) == (floor, room), (
            f"mdmemory/{SOURCES[module].relative_to(PACKAGE)}:{line} imports mdmemory.{target}, "
            "which is not below it"
        )


def test_a_module_imports_from_its_own_room_or_further_down() -> None:
    each(SOURCES, import_downwards)


def test_no_module_imports_itself_by_way_of_others() -> None:
    # the package itself is left out: it loads its one name when it is asked for
    graph = {name: {target for target, _ in imports(name)} - {""} for name in SOURCES if name}
    list(graphlib.TopologicalSorter(graph).static_order())  # raises CycleError


# A room below the interfaces gets these handed in, or does not need them.
FORBIDDEN_CALLS = {"print", "input", "exit", "quit", "breakpoint"}
FORBIDDEN = {
    "os.environ", "os.environb", "os.getenv", "sys.exit", "os._exit", "sys.stdout", "sys.stderr",
    "sys.stdin", "sys.argv", "datetime.now", "datetime.utcnow", "datetime.today", "date.today",
    "time.time", "time.time_ns", "time.localtime", "time.gmtime", "time.strftime", "Path.home",
}  # fmt: skip
# git/repositories.py copies the environment to take the caller's GIT_* variables out of it;
# config/person.py finds the person's files, and reads the clock for the interfaces.
EXCEPTIONS = {
    "git.repositories": {"os.environ"},
    "config.person": {"os.environ", "Path.home", "datetime.now"},
}


def reaches(tree: ast.Module) -> set[str]:
    """What of the machine a module uses, as far as its text shows."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            owner = ast.unparse(node.value).rpartition(".")[2]
            found |= {f"{owner}.{node.attr}"} & FORBIDDEN
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names} & FORBIDDEN
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found |= {node.func.id} & FORBIDDEN_CALLS
        elif isinstance(node, ast.Name):
            found |= {node.id} & {"SystemExit"}
    return found


def test_below_the_interfaces_nothing_prints_leaves_or_asks_the_machine() -> None:
    reached = {module: reaches(trees()[module]) for module in BELOW}
    wrong = {module: found - EXCEPTIONS.get(module, set()) for module, found in reached.items()}
    assert {module: found for module, found in wrong.items() if found} == {}


def test_the_exceptions_are_still_needed() -> None:
    assert all(reaches(trees()[module]) >= named for module, named in EXCEPTIONS.items())


def open_with_a_place(module: str) -> None:
    text = ast.get_docstring(trees()[module]) or ""
    assert text, f"mdmemory.{module or 'the package'} has no docstring"
    assert len(text.splitlines()) <= 5


def test_every_module_opens_with_its_place_in_one_to_five_lines() -> None:
    each(SOURCES, open_with_a_place)


def at_top(tree: ast.Module) -> set[str]:
    """The packages that a module imports as soon as it is imported itself."""
    named = [node for node in tree.body if isinstance(node, ast.Import)]
    from_ = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    names = [alias.name for node in named for alias in node.names]
    return {name.partition(".")[0] for name in (*names, *(str(node.module) for node in from_))}


def test_heavy_packages_are_loaded_where_they_are_used() -> None:
    def check(module: str) -> None:
        # nothing reads the state but by way of sqlite3, so it stands at the top of those
        opens = ("state", "database_file", "catalog")
        allowed = {"sqlite3"} if module.removeprefix("store.") in opens else set()
        # a plan's ops are its records, and only a pass and its readers load them
        allowed |= {"msgspec"} if module == "compact.plan" else set()
        # the command imports this room in its function, and nothing else does
        allowed |= {"yaml", "frontmatter"} if module == "note.yaml_head" else set()
        allowed |= {"starlette", "markupsafe"} if module.startswith("web.") else set()
        assert at_top(trees()[module]) & HEAVY <= allowed

    each(SOURCES, check)


# Setting an entry of a person's configuration: set-up for all projects will need it.
AHEAD = {
    # the bridge of the command for hooks starts it
    "hosts.commands.hooks.CommandHooks",
    # set-up writes the files, and hooks judge what was typed
    "hosts.texts.files_for", "hosts.texts.typed",
    # hooks put in what was typed
    "session.heard.put", "session.heard.forget",
    # the hooks of Claude Code and `setup claude` ask these
    "hosts.claude.own_memory_notes.take_in", "hosts.claude.own_memory_settings.carried",
    "hosts.claude.own_memory_settings.withdraw",
}  # fmt: skip


def own_names(node: ast.stmt) -> list[str]:
    """The names that a statement at the top of a module defines."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return [each.id for each in targets if isinstance(each, ast.Name)]
    return []


def imported(tree: ast.Module) -> list[tuple[str, str]]:
    """What a module imports, with the name that it has there: `load`, `store.catalog.load`. What a
    module passes on, as `layers` does with the rooms, goes by its own name."""
    found: list[tuple[str, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}".removeprefix("mdmemory.")
                if node.module == "mdmemory.layers":
                    whole = dict(imported(trees()["layers"])).get(alias.name, whole)
                found.append((alias.asname or alias.name, whole))
    return found


def used_elsewhere(tree: ast.Module) -> set[str]:
    """What a module uses of others, as `store.catalog.load`: imported, or by way of a module."""
    names = imported(tree)
    used = {whole for _, whole in names}
    modules = {name: whole for name, whole in names if whole in SOURCES}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            first, _, rest = ast.unparse(node).partition(".")
            used.add(f"{modules.get(first, first)}.{rest}")
    return used


def used_here(tree: ast.Module) -> set[str]:
    """The names at the top of a module that it reads itself, outside of their own definitions."""
    read: set[str] = set()
    for statement in tree.body:
        names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
        read |= names.difference(own_names(statement))
    return read


def test_what_nothing_but_a_test_would_use_is_not_there() -> None:
    defined: set[str] = set()
    for module, tree in trees().items():
        if module and not module.startswith("cli."):  # commands are found by their table
            names = {name for statement in tree.body for name in own_names(statement)}
            defined |= {f"{module}.{name}" for name in names - used_here(tree)}
    public = {f"{module}.{name}" for name, module in mdmemory._MODULE_OF.items()}
    idle = defined.difference(public, AHEAD, *map(used_elsewhere, trees().values()))
    assert {each for each in idle if not each.partition("__")[2]} == set()


# Called by the library whose class it overrides.
OVERRIDES = {"error"}
# Called by the programs that have a `Memory` or a `MemoryTool`.
GIVEN = {"handle", "init", "to_dict"}


def test_every_method_is_called_by_the_package_itself() -> None:
    methods: set[str] = set()
    called: set[str] = set()
    for tree in trees().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                called.add(node.attr)
            elif isinstance(node, ast.ClassDef):
                methods |= {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
    assert {each for each in methods - called if not each.startswith("__")} == OVERRIDES | GIVEN


def test_one_place_knows_where_state_lies_and_opens_it() -> None:
    """Everything else says `project.state_file`, which no link or foreign file can stand for."""
    named = {
        module
        for module, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value == "state.db"
    }
    assert named == {"git.private_folder"}


@pytest.mark.parametrize(
    "code",
    [
        "import mdmemory",
        "from mdmemory.note import note; note.parse('---\\nname: a\\n---\\n\\nB\\n', 'a.md')",
        "import mdmemory.cli as c; c.main(['frobnicate'])",
    ],
)
def test_the_common_way_loads_nothing_heavy(code: str) -> None:
    code = f"{code}; import sys; print(*sorted({HEAVY!r} & set(sys.modules)))"
    words = [sys.executable, "-P", "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=HUNG)
    assert done.stdout == "\n"


# --- the drawing and the names  ------------------------------------------------------------------


def rooms() -> list[str]:
    """What a drawing has to show: each folder of the package, as `hosts/opencode/`, and each
    module that lies in none."""
    folders = (path.parent for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE)
    modules = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__", "__main__"}
    return sorted([*(f"{path.relative_to(PACKAGE).as_posix()}/" for path in folders), *modules])


def on_the_page() -> list[str]:
    """The rooms as docs/architecture.md draws them."""
    page = (Path(__file__).parents[1] / "docs/architecture.md").read_text(encoding="utf-8")
    section = page.partition("\n## The rooms\n")[2].partition("\n## ")[0]
    drawn = re.findall(r"^- ((?:`[\w/]+`(?:, )?)+): \S", section, re.MULTILINE)
    return [name for each in drawn for name in re.findall(r"`([\w/]+)`", each)]


def test_the_drawing_has_each_room_once_from_the_ground_up() -> None:
    drawn = on_the_page()
    assert sorted(drawn) == rooms()
    floors = [place(f"{name.replace('/', '.')}x" if "/" in name else name)[0] for name in drawn]
    assert floors == sorted(floors)


def test_a_public_class_name_stands_once() -> None:
    places: dict[str, list[str]] = {}
    for module, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(module)
    assert {name: modules for name, modules in places.items() if len(modules) > 1} == {}
