"""How large the project is, against marks that only fall: `make size`.

    python tests/size.py            # every figure beside its mark and its target; 1 where one grew
    python tests/size.py --record   # lower the marks to what is there; what grew keeps its mark

The marks stand in size.toml. `test_size.py` holds the work tree to them, and them to every earlier
version of the file, so that no edit can raise one.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[1]
MARKS = "tests/size.toml"
SHIPPED = ("protocol", "templates")  # in the wheel beside the package: see pyproject.toml
SLACK = 1.1  # of installed megabytes: another Python or system installs other files
# What falls in one part of such a group may rise in another.
GROUPS = ("rooms.lines", "rooms.files")
# The tokens of `tokenize` in a tenth of its time, and the same in every Python: an f-string is one.
# The group has what counts: no comment, and no text alone on its lines, as a docstring is.
_TOKEN = re.compile(
    r"""
    ^[ ]*r?\"{3}(?:(?!\"{3})[^\\]|\\.)*\"{3}$ | \#.*
    | ((?i:[bfru]{0,2})(?:\"{3}(?:[^\\]|\\[\s\S])*?\"{3}|'{3}(?:[^\\]|\\[\s\S])*?'{3}
        |"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*')
    | \d(?:[eE](?<!0x.)[+-]?\d|[\w.])*|\.\d\w* | \w+
    | \*\*=?|//=?|>>=?|<<=?|->|\.\.\.|[=!<>+*/%&|^@:-]=|[^\s\w\\])
    """,
    re.MULTILINE | re.VERBOSE,
)

Figures = dict[str, int]  # such as `rooms.lines.git`, `wheel.py`, `all.tokens`, by name


# --- what there is -------------------------------------------------------------------------------


def measure(root: Path = ROOT) -> Figures:
    """The size of the work tree at `root`; traced paths are counted by test_paths.py."""
    package = root / "mdmemory"
    sources = {file: file.read_text("utf-8") for file in sorted(package.rglob("*.py"))}
    lines, files = Counter[str](), Counter[str]()
    for file, text in sources.items():
        parts = file.relative_to(package).parts
        room = parts[0] if len(parts) > 1 else "top"
        lines[room] += text.count("\n")
        files[room] += 1
    tests = _texts((root / "tests").rglob("*.py"))
    shipped = [*_files(package), *(each for top in SHIPPED for each in _files(root / top))]
    tables = _texts(package.rglob("notice.toml"))
    wheel = sum_suffixes((file, file.stat().st_size) for file in shipped)
    return {
        "all.lines": lines.total(), "all.files": files.total(),
        "all.tokens": sum(map(count_tokens, sources.values())),
        "tests.lines": sum(text.count("\n") for text in tests), "tests.files": len(tests),
        "tables.rows": sum(_count_rows(tomllib.loads(text)) for text in tables),
        **{f"rooms.lines.{room}": count for room, count in lines.items()},
        **{f"rooms.files.{room}": count for room, count in files.items()},
        **{f"wheel.{suffix}": count for suffix, count in wheel.items()},
    }  # fmt: skip


def sum_suffixes(sizes: Iterable[tuple[Path, int]]) -> Counter[str]:
    """The bytes of files by the last part of their names."""
    sums = Counter[str]()
    for file, length in sizes:
        sums[file.suffix.lstrip(".") or "other"] += length
    return sums


def _count_rows(value: object) -> int:
    if isinstance(value, Mapping):
        return sum(map(_count_rows, value.values()))
    return len(value) if isinstance(value, list) else 1


def measure_program() -> Figures:
    """The settings and commands of the installed program, and the megabytes that it pulls in."""
    from mdmemory.cli.commands import _FIRST_GROUPS, COMMANDS, GROUPS
    from mdmemory.config.table import TABLE

    names = [name for name, *_ in COMMANDS]
    behind = names.index([*GROUPS][_FIRST_GROUPS])
    size = sum(map(_installed_bytes, needed_packages(_own())))
    return {
        "program.settings": len(TABLE), "program.commands": len(names),
        "program.short_help": behind, "program.installed_mb": -(-size // 1_000_000),
    }  # fmt: skip


def count_tokens(source: str) -> int:
    """The tokens of a module without comments, docstrings and layout."""
    return sum(map(bool, _TOKEN.findall(source)))


def _texts(files: Iterable[Path]) -> list[str]:
    return [file.read_text("utf-8") for file in files]


def _files(folder: Path) -> Iterable[Path]:
    found = folder.rglob("*") if folder.is_dir() else ()
    return (each for each in found if each.is_file() and "__pycache__" not in each.parts)


def needed_packages(package: metadata.Distribution) -> list[metadata.Distribution]:
    """The packages that a package without extras needs, as they are installed here."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    waiting, found = list(package.requires or ()), dict[str, metadata.Distribution]()
    while waiting:
        wanted = Requirement(waiting.pop())
        name = canonicalize_name(wanted.name)
        if name not in found and (not wanted.marker or wanted.marker.evaluate({"extra": ""})):
            found[name] = metadata.distribution(name)
            waiting += found[name].requires or ()
    return list(found.values())


def _own() -> metadata.Distribution:
    name = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["name"]
    return metadata.distribution(name)


def _installed_bytes(package: metadata.Distribution) -> int:
    files = (Path(str(package.locate_file(each))) for each in package.files or ())
    return sum(each.stat().st_size for each in files if each.suffix != ".pyc" and each.is_file())


# --- the marks -----------------------------------------------------------------------------------


def read_marks(text: str) -> Figures:
    """The marks in a text of size.toml, and its targets as `targets.NAME`."""
    found: Figures = {}

    def add(table: Mapping[str, object], prefix: str) -> None:
        for name, value in table.items():
            if isinstance(value, Mapping):
                add(value, f"{prefix}{name}.")
            elif isinstance(value, int):
                found[f"{prefix}{name}"] = value

    add(tomllib.loads(text), "")
    return found


def grown(now: Figures, marks: Figures) -> list[str]:
    """A sentence for each figure that is over its mark."""
    return [
        f"{name} is {value:,}, over its mark of {marks.get(name, 0):,}"
        for name, value in now.items()
        if value > marks.get(name, 0) * (SLACK if name == "program.installed_mb" else 1)
    ]


def raised(versions: Sequence[Figures]) -> list[str]:
    """A sentence for each mark that was lower in any version; `versions` end with what is now.

    A part of a group is held to no mark of its own: the sum of the group is, so that one part can
    rise by what others fell. A part of the wheel may go. A mark that began below its target can
    rise to it; targets are held as marks are.
    """
    *before, now = map(_add_sums, versions)
    least: Figures = {}
    for version in before:
        least |= {name: min(least.get(name, mark), mark) for name, mark in version.items()}
    return [
        f"{name} was {mark:,} once, and is {now.get(name, 'gone')} now"
        for name, mark in least.items()
        if now.get(name, 0 if name.startswith(("wheel.", "tables.")) else sys.maxsize)
        > max(mark, now.get(f"targets.{_target_name(name)}", 0))
    ]


def _add_sums(marks: Figures) -> Figures:
    """The marks with the sums of the groups, without the parts that may rise."""
    sums = {
        f"{group} in all": sum(marks[name] for name in marks if name.startswith(f"{group}."))
        for group in (*GROUPS, "wheel")
    }
    return {name: mark for name, mark in marks.items() if not name.startswith(GROUPS)} | sums


def versions(root: Path = ROOT) -> list[Figures]:
    """The marks at every commit that touched the file, and at the end those of the work tree.

    Raises RuntimeError for a shallow clone, whose history does not show them.
    """

    def git(*words: str, given: str = "") -> str:
        done = subprocess.run(
            ["git", *words], cwd=root, input=given, capture_output=True, text=True
        )
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return done.stdout

    if git("rev-parse", "--is-shallow-repository").strip() == "true":
        raise RuntimeError(
            "This clone is shallow, so earlier marks cannot be read: `git fetch --unshallow`, or "
            "`fetch-depth: 0` in a workflow."
        )
    names = git("log", "--full-history", f"--format=%H:{MARKS}", "--", MARKS)
    answer, texts = git("cat-file", "--batch", given=names), list[str]()
    while answer:
        head, _, answer = answer.partition("\n")
        if not head.endswith(" missing"):  # where a commit deleted it
            size = int(head.rpartition(" ")[2])  # in bytes: the file is ASCII
            texts.append(answer[:size])
            answer = answer[size + 1 :]
    return [*map(read_marks, texts), read_marks((root / MARKS).read_text("utf-8"))]


# --- the command ---------------------------------------------------------------------------------


def main(words: Sequence[str]) -> int:
    """Print every figure, or (`--record`) lower the marks; 1 where something grew."""
    path = ROOT / MARKS
    text = path.read_text("utf-8")
    marks = read_marks(text)
    now = {**measure(), **measure_program()}
    if "--record" in words:
        path.write_text(lowered(text, now), "utf-8")
    print(f"{'':28}{'mark':>12}{'now':>12}{'target':>10}")
    for name in (each for each in marks | now if not each.startswith("targets.")):
        target = marks.get(f"targets.{_target_name(name)}", "")
        print(f"{name:28}{marks.get(name, 0):>12,}{now.get(name, '-'):>12}{target:>10}")
    problems = grown(now, marks)
    for problem in problems:
        print(f"{problem}.", file=sys.stderr)
    return 1 if problems else 0


def _target_name(name: str) -> str:
    """What a target is called: by its room, or by what it counts."""
    for prefix in ("rooms.lines.", "program."):
        name = name.removeprefix(prefix)
    return name.removesuffix(".lines").removesuffix(".rows")


def lowered(text: str, now: Figures) -> str:
    """The text of size.toml with each mark that is over what there is lowered to it."""
    section, kept = "", list[str]()
    for line in text.splitlines():
        name, _, value = line.partition(" = ")
        if line.startswith("["):
            section = line.strip("[]")
        key = f"{section}.{name}"
        if value.isdecimal() and section != "targets" and now.get(key, int(value)) < int(value):
            line = f"{name} = {now[key]}"
        elif value.isdecimal() and key.startswith((*GROUPS, "wheel", "tables")) and key not in now:
            continue  # a room that is gone
        kept.append(line)
    return "\n".join(kept) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
