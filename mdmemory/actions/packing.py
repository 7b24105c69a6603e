"""Which packages and image builds of a project would take its memory along, and the line to add.

Only files of the project are read; no build runs. What a builder leaves out by itself is not
named, and where its rules say more than is understood here, it is named rather than not.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from mdmemory.errors import MdmemoryError
from mdmemory.files import read_if_there
from mdmemory.records import dataclass
from mdmemory.store.project import Project

_LIMIT = 1024 * 1024  # bytes of a file of the project that is read
_LINES, _LINE = 1000, 300  # rules of one file, and characters of one, that are looked at
_IMAGES = ("Dockerfile", "Containerfile")


@dataclass(frozen=True, slots=True)
class Taken:
    """A builder that takes `paths` along (relative to the folder of its `file`)."""

    file: Path
    builder: str
    paths: tuple[str, ...]
    advice: str


@dataclass(frozen=True)
class Build:
    """A folder from which something may be built, and what of ours lies in it.

    `paths` are relative folders of ours; `tracked` says of each whether the project's git has it.
    """

    folder: Path
    paths: Mapping[str, bool]

    def lines(self, *names: str) -> list[str] | None:
        """The lines of the first of these files that is there; None where none is."""
        for name in names:
            try:
                data = read_if_there(self.folder / name, _LIMIT)
            except MdmemoryError:
                data = b""
            if data is not None:
                lines = data.decode("utf-8", "replace").splitlines()[:_LINES]
                return [line.strip() for line in lines if len(line) <= _LINE]
        return None

    def read(self, name: str) -> Any:
        """What a TOML or JSON file says; {} where it is missing or says nothing."""
        import json
        import tomllib  # only where somebody asks doctor

        try:
            text = (read_if_there(self.folder / name, _LIMIT) or b"").decode("utf-8")
            return json.loads(text) if name.endswith("json") else tomllib.loads(text)
        except (MdmemoryError, ValueError, RecursionError):
            return {}

    @cached_property
    def python(self) -> Any:
        return self.read("pyproject.toml")

    def taken(self, goes: Callable[[str], bool], among: Sequence[str] | None = None) -> list[str]:
        """Those of our folders of which a file goes along."""
        return [path for path in (self.paths if among is None else among) if goes(f"{path}/x.md")]


def taken(folder: Path, paths: Mapping[str, bool]) -> Iterator[Taken]:
    """The builders in `folder` that would take some of `paths` (relative) along."""
    build = Build(folder, paths)
    for look in (_npm, _vsce, _python, _cargo, _images):
        yield from look(build)


def around(project: Project, *, tracked: bool) -> Iterator[Taken]:
    """What the builders of a project take of its store and state; `tracked`: the store is part of
    the project's repository. Of a store outside any repository there is nothing to say."""
    folders = []
    for folder in project.store.parents:
        folders.append(folder)
        if (folder / ".git").exists():
            break
    else:
        return
    ours = {project.store: tracked, project.private: False}
    there = {path: known for path, known in ours.items() if path.is_dir()}
    for folder in folders:
        inside = {
            path.relative_to(folder).as_posix(): known
            for path, known in there.items()
            if path.is_relative_to(folder) and not _is_within(path, there)
        }
        if inside:
            yield from taken(folder, inside)


def _is_within(path: Path, others: Iterable[Path]) -> bool:
    return any(path != other and path.is_relative_to(other) for other in others)


def _npm(build: Build) -> Iterator[Taken]:
    package = build.read("package.json")
    if not isinstance(package, dict) or not package.get("name") or package.get("private") is True:
        return
    if "vscode" in _table(package, "engines"):
        return
    rules = build.lines(".npmignore", ".gitignore") or []

    def goes(file: str) -> bool:
        folder, _, name = file.rpartition("/")
        own = build.lines(f"{folder}/.npmignore", f"{folder}/.gitignore") or []
        if "files" in package:
            return _is_in(_list(package, "files"), file) and not ignores(own, name)
        return not ignores(rules, file) and not ignores(own, name)

    for path in build.taken(goes):
        advice = f"Write the line `*` into {path}/.npmignore."
        yield Taken(build.folder / "package.json", "npm", (path,), advice)


def _vsce(build: Build) -> Iterator[Taken]:
    package = build.read("package.json")
    if not isinstance(package, dict) or "vscode" not in _table(package, "engines"):
        return
    if "files" in package:
        found = build.taken(lambda file: _is_in(_list(package, "files"), file))
        advice = "Take them out of `files` there."
    else:
        rules = build.lines(".vscodeignore") or []
        found = build.taken(lambda file: not ignores(rules, file, anchored=True))
        advice = f"Add to .vscodeignore: {_said(f'{path}/**' for path in found)}."
    if found:
        yield Taken(build.folder / "package.json", "vsce", tuple(found), advice)


def _python(build: Build) -> Iterator[Taken]:
    backend = _table(build.python, "build-system").get("build-backend", "")
    if not isinstance(backend, str):
        return
    scripts = any((build.folder / name).is_file() for name in ("setup.py", "setup.cfg"))
    if not backend and scripts:
        backend = "setuptools"
    for begins, look in _BACKENDS.items():
        if backend.startswith(begins):
            name, file, goes, advice = look(build)
            if found := build.taken(goes):
                yield Taken(build.folder / file, name, tuple(found), advice(found))


_Sdist = tuple[str, str, Callable[[str], bool], Callable[[Sequence[str]], str]]


def _hatch(build: Build) -> _Sdist:
    shared = _table(build.python, "tool", "hatch", "build")
    sdist = _table(shared, "targets", "sdist")

    def rules(name: str) -> list[str]:
        return _list(sdist, name) or _list(shared, name)

    ignored = [] if sdist.get("ignore-vcs", shared.get("ignore-vcs")) else build.lines(".gitignore")

    def goes(file: str) -> bool:
        only = rules("only-include")
        if (only and not _is_in(only, file)) or ignores(rules("exclude"), file):
            return False
        if ignores(rules("artifacts"), file):
            return True
        wanted = rules("include")
        return (not wanted or ignores(wanted, file)) and not ignores(ignored or [], file)

    return "hatchling", "pyproject.toml", goes, _listed_in("tool.hatch.build.targets.sdist")


def _setuptools(build: Build) -> _Sdist:
    requires = " ".join(_list(_table(build.python, "build-system"), "requires"))
    by_git = "setuptools-scm" in requires.replace("_", "-") or "setuptools-git" in requires
    rules = [line.split() for line in build.lines("MANIFEST.in") or [] if line[:1] != "#"]

    def goes(file: str) -> bool:
        tracked = build.paths.get(file.rpartition("/")[0], False)
        found = by_git and tracked
        for words in filter(None, rules):
            if _speaks_of(words, file):
                found = words[0] in ("graft", "include", "recursive-include", "global-include")
        return found

    def advice(paths: Sequence[str]) -> str:
        return f"Add to the end of MANIFEST.in: {_said(f'prune {path}' for path in paths)}."

    name = "MANIFEST.in" if build.lines("MANIFEST.in") is not None else "pyproject.toml"
    return "setuptools", name, goes, advice


def _speaks_of(words: Sequence[str], file: str) -> bool:
    """Whether a line of MANIFEST.in is about this file."""
    command, *rest = words
    if command in ("graft", "prune"):
        return any(_is_in([folder], file) for folder in rest)
    if command in ("recursive-include", "recursive-exclude"):
        return bool(rest) and _is_in(rest[:1], file) and _fits_name(rest[1:], file)
    if command in ("global-include", "global-exclude"):
        return _fits_name(rest, file)
    return command in ("include", "exclude") and ignores(rest, file, anchored=True)


def _fits_name(patterns: Sequence[str], file: str) -> bool:
    return any(fnmatchcase(file.rpartition("/")[2], pattern) for pattern in patterns)


def _by_lists(name: str, table: str, includes: Sequence[str], excludes: str) -> Callable[..., Any]:
    """A builder that takes its own package, and what lists in a table of pyproject.toml name."""

    def look(build: Build) -> _Sdist:
        said = _table(build.python, *table.split("."))
        wanted = [pattern for include in includes for pattern in _list(said, include)]
        without = _list(said, excludes)

        def goes(file: str) -> bool:
            return _is_in(wanted, file) and not ignores(without, file, anchored=True)

        return name, "pyproject.toml", goes, _listed_in(table, excludes, "/**")

    return look


_BACKENDS: Mapping[str, Callable[[Build], _Sdist]] = {
    "hatchling": _hatch,
    "setuptools": _setuptools,
    "flit": _by_lists("flit", "tool.flit.sdist", ["include"], "exclude"),
    "pdm": _by_lists("pdm", "tool.pdm.build", ["includes", "source-includes"], "excludes"),
    "poetry": _by_lists("poetry", "tool.poetry", ["include"], "exclude"),
}


def _listed_in(table: str, name: str = "exclude", ending: str = "") -> Callable[..., str]:
    def advice(paths: Sequence[str]) -> str:
        begins = "" if ending else "/"
        listed = ", ".join(f'"{begins}{path}{ending}"' for path in paths)
        return f"Add to `{name}` under [{table}] in pyproject.toml: {listed}."

    return advice


def _cargo(build: Build) -> Iterator[Taken]:
    package = _table(build.read("Cargo.toml"), "package")
    if not package or package.get("publish") is False:
        return
    wanted, without = _list(package, "include"), _list(package, "exclude")

    def goes(file: str) -> bool:
        return ignores(wanted, file) if wanted else not ignores(without, file)

    # it asks git, and so passes over what git is told to ignore
    found = build.taken(goes, [path for path, tracked in build.paths.items() if tracked])
    if found:
        listed = ", ".join(f'"/{path}"' for path in found)
        advice = f"Add to `exclude` under [package] in Cargo.toml: {listed}."
        yield Taken(build.folder / "Cargo.toml", "cargo", tuple(found), advice)


def _images(build: Build) -> Iterator[Taken]:
    for name in _IMAGES:
        sources = _copied(build.lines(name) or [])
        ignoring = f"{name}.dockerignore"
        if build.lines(ignoring) is None:
            ignoring = ".containerignore" if build.lines(".containerignore") else ".dockerignore"
        rules = build.lines(ignoring) or []
        found = build.taken(
            lambda file, sources=sources, rules=rules: (  # type: ignore[misc]
                _is_in(sources, file) and not ignores(rules, file, anchored=True)
            )
        )
        if found:
            advice = f"Add to {ignoring}: {_said(found)}."
            yield Taken(build.folder / name, "the image build", tuple(found), advice)


def _copied(lines: Sequence[str]) -> list[str]:
    """What the COPY and ADD of an image's recipe take from the folder."""
    found: list[str] = []
    for line in lines:
        words = line.replace("[", " ").replace("]", " ").replace(",", " ").replace('"', " ").split()
        if words and words[0].upper() in ("COPY", "ADD"):
            rest = [word for word in words[1:] if not word.startswith("--")]
            if not any(word.startswith("--from") for word in words):
                found += rest[:-1]
    return found


def ignores(lines: Sequence[str], file: str, *, anchored: bool = False) -> bool:
    """Whether rules as in .gitignore hold for a relative file: the last that fits decides.

    `anchored`: a rule without a slash is about the top folder alone, as in .dockerignore.
    """
    parts = file.split("/")
    for depth in range(1, len(parts) + 1):
        held = False
        for line in lines:
            rule = line.removeprefix("!").rstrip()
            if not rule or rule.startswith("#") or (rule.endswith("/") and depth == len(parts)):
                continue
            if _fits(rule.rstrip("/"), parts[:depth], anchored):
                held = not line.startswith("!")
        if held:
            return True
    return False


def _is_in(wanted: Sequence[str], file: str) -> bool:
    """Whether a list of files, folders and patterns, from the top, holds a file."""
    clean = [os.path.normpath(entry.lstrip("/")) if entry.strip("/") else "." for entry in wanted]
    return any(entry in (".", "*", "**", "**/*") for entry in clean) or ignores(
        clean, file, anchored=True
    )


def _fits(rule: str, parts: Sequence[str], anchored: bool) -> bool:
    if "/" not in rule and not anchored:
        return fnmatchcase(parts[-1], rule)
    return _fits_parts(rule.removeprefix("./").lstrip("/").split("/"), parts)


def _fits_parts(rule: Sequence[str], parts: Sequence[str]) -> bool:
    if not rule:
        return not parts
    if rule[0] == "**":
        rest = rule[1:]
        while rest and rest[0] == "**":
            rest = rest[1:]
        return not rest or any(_fits_parts(rest, parts[at:]) for at in range(len(parts)))
    return bool(parts) and fnmatchcase(parts[0], rule[0]) and _fits_parts(rule[1:], parts[1:])


def _table(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _list(table: Any, name: str) -> list[str]:
    """The texts of a list, or the paths of the tables in it."""
    found = table.get(name, []) if isinstance(table, dict) else []
    if not isinstance(found, list):
        return []
    entries = [entry.get("path") if isinstance(entry, dict) else entry for entry in found]
    return [entry for entry in entries[:_LINES] if isinstance(entry, str) and len(entry) <= _LINE]


def _said(lines: Iterator[str] | Sequence[str]) -> str:
    return ", ".join(f"`{line}`" for line in lines)
