"""The memory folder: the person's own store, and one for each project.

Each is a git repository of its own, and its mdmemory.toml names the project that it belongs to.
A project's folder holds nothing of ours: its store is found from here.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from mdmemory.config.table import OWNER, PERSON, PROJECT_FILE
from mdmemory.errors import BadSetting, MdmemoryError, NoStore, RepositoryState
from mdmemory.files import read_regular
from mdmemory.git import private_folder, repositories
from mdmemory.git.repositories import Identity

_FOLDERS = 20  # folders and commits that are remembered of one project, the newest last
_NAME_BYTES = 80
_CHANGE = "Choose another with `memory.home` in your config.toml."
_LISTS = ("roots", "remotes", "folders", "seen")


class Known(NamedTuple):
    """A project's store: its folder, and what the project is known by.

    `roots` are first commits, `remotes` places as `host/path`, `folders` the git directories in
    which the project was seen, `seen` commits that were checked out there.
    """

    store: Path
    roots: tuple[str, ...] = ()
    remotes: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()

    def resembles(self, project: Identity) -> bool:
        """Whether it may be the project. One with other remotes is a fork, or of one template."""
        if set(self.remotes) & set(project.remotes):
            return True
        are_other = bool(self.remotes and project.remotes)
        return bool(set(self.roots) & set(project.roots)) and not are_other

    def shares_project(self, other: Known) -> bool:
        """Whether both may be stores of one project, as far as both say."""
        if not all(entry.roots or entry.remotes for entry in (self, other)):
            return True
        return bool(set(self.roots) & set(other.roots) or set(self.remotes) & set(other.remotes))

    def with_all_of(self, other: Known) -> Known:
        """The entry with what another machine knows of the same project, the newest last."""
        lists = (_add_newest(getattr(other, name), getattr(self, name)) for name in _LISTS)
        return Known(self.store, *lists)

    def met(self, project: Identity) -> Known:
        """The entry with what is known of the project now, the newest last."""
        now = (project.roots, project.remotes, (str(project.common_dir),), (project.head,))
        return Known(self.store, *now).with_all_of(self)


class Match(NamedTuple):
    """A project's store, or those that a person has to choose from.

    `moved`: the store was known by first commit and remotes, not by its place.
    """

    entry: Known | None = None
    moved: bool = False
    asked: tuple[Known, ...] = ()


# --- the folder


def read_entries(home: Path, naming: Sequence[str] = ("",)) -> Iterator[Known]:
    """The projects' stores in the folder `home`, by name: those whose file has a text of `naming`.

    A link there is not followed.
    """
    try:
        names = sorted(os.listdir(home))
    except (FileNotFoundError, NotADirectoryError):
        return
    for name in names:
        folder = home / name
        if name == PERSON or name.startswith(".") or folder.is_symlink():
            continue
        path = folder / PROJECT_FILE
        if not path.is_file():
            continue
        data = read_regular(path)
        is_named = any(text.encode("utf-8", "replace") in data for text in naming)
        if is_named and (entry := parse_known(data, folder)) is not None:
            yield entry


def free_folder(home: Path, name: str) -> Path:
    """A folder in `home` that is not there yet, named like the project (`-2` where taken)."""
    plain = re.sub(r"[^\w.-]+", "-", name).strip("-.") or "project"
    plain = plain.encode()[:_NAME_BYTES].decode("utf-8", "ignore")
    number, free = 1, plain
    while free.casefold() == PERSON or os.path.lexists(home / free):
        number += 1
        free = f"{plain}-{number}"
    return home / free


def prepare_home(home: Path) -> Path:
    """Make the memory folder, for the person alone (0700), where it is missing.

    Raises NoStore where it cannot hold a store: a file, a link, a folder that cannot be written.
    """
    require_folder(home)
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as problem:
        why = problem.strerror
        raise NoStore(f"The memory folder {home} cannot be made: {why}.", _CHANGE) from problem
    if not os.access(home, os.W_OK | os.X_OK):
        raise NoStore(f"The memory folder {home} cannot be written.", _CHANGE)
    return home


def require_folder(home: Path) -> None:
    """Raise NoStore where something else than a folder has the memory folder's name."""
    if home.is_symlink():
        raise NoStore(f"The memory folder {home} is a link, and links are not followed.", _CHANGE)
    if home.exists() and not home.is_dir():
        raise NoStore(f"The memory folder {home} is a file.", _CHANGE)


# --- what a store says of its project


def read(store: Path) -> Known | None:
    """What the store's mdmemory.toml says of its project; None where it names none.

    Raises BadSetting where that is not a table of lists of text.
    """
    path = store / PROJECT_FILE
    try:
        data = path.read_bytes()
    except OSError as problem:
        raise BadSetting(f"{path} cannot be read: {problem}.", "Correct that file.") from problem
    return parse_known(data, store)


def parse_known(data: bytes, store: Path) -> Known | None:
    """The same from the bytes of that file."""
    import tomllib

    path = store / PROJECT_FILE
    try:
        table = tomllib.loads(data.decode("utf-8")).get(OWNER)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise BadSetting(f"{path} cannot be read: {problem}.", "Correct that file.") from problem
    if table is None:
        return None
    lists = [table.get(name, []) if isinstance(table, dict) else None for name in _LISTS]
    for value in lists:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise BadSetting(
                f"The table [{OWNER}] in {path} is not what mdmemory writes there.",
                f"Give {', '.join(_LISTS)} as lists of text.",
            )
    return Known(store, *(tuple(value) for value in lists if value is not None))


def write(entry: Known, before: bytes = b'store = "."\n') -> bytes:
    """The text of the store's mdmemory.toml: `before`, with the project's table at its end."""
    lines = [f"[{OWNER}]"]
    for name in _LISTS:
        items = "".join(f"\n  {_toml_string(item)}," for item in getattr(entry, name))
        lines.append(f"{name} = [{items}\n]" if items else f"{name} = []")
    return without_project(before) + ("\n\n" + "\n".join(lines) + "\n").encode()


def without_project(text: bytes) -> bytes:
    """A store's mdmemory.toml without the project's table, and without the line ends before it."""
    return re.sub(rb"(?ms)^\[%s\]\n.*?(?=^\[|\Z)" % OWNER.encode(), b"", text).rstrip(b"\n")


def met_again(store: Path, around: Path, is_moved: bool) -> tuple[bytes, bytes] | None:
    """The old and new text of the store's mdmemory.toml where the project around `around` can be
    known better than it says: a new place, a new remote, a first commit after the first.

    None where there is nothing to write down.
    """
    entry = read(store)
    if entry is None:
        return None
    if not is_moved and not set(entry.seen) <= set(entry.roots):
        text, common = b"", private_folder.common_dir(around)
        with suppress(MdmemoryError):
            text = read_regular(common / "config") if common else b""
        urls = re.findall(r"(?m)^\s*url\s*=\s*(\S+)", text.decode("utf-8", "replace"))
        if all(repositories.parse_remote(url) in entry.remotes for url in urls):
            return None  # asking git takes longer, and tells nothing new
    repository = repositories.find(around)
    # of a project that had no commit when its store was made the first ones are not known yet
    project = repositories.identify(repository, entry.roots or None) if repository else None
    if project is None:
        return None
    before = read_regular(store / PROJECT_FILE)
    after = write(entry.met(project), before)
    return None if after == before else (before, after)


def _add_newest(old: Sequence[str], new: Sequence[str]) -> tuple[str, ...]:
    # what is known keeps its place, or two machines would write their own last for ever
    fresh = [item for item in new if item not in old]
    return tuple([*old, *fresh][-_FOLDERS:])


def _toml_string(text: str) -> str:
    """A TOML basic string; JSON's escapes are TOML's too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


# --- finding a project's store


def find_match(home: Path, start: Path) -> Match:
    """The store in `home` of the project around `start`.

    Its place decides, while the repository there still has the project's first commit; else first
    commit and remotes together, where something shows that the clone is no stranger's. Whatever
    else resembles the project is asked about, never taken.
    """
    require_folder(home)
    common = private_folder.common_dir(start)
    if common is None:  # it may be gone from where a project was
        above = Path(os.path.realpath(start))
        return Match(asked=tuple(_seen_at(home, [up / ".git" for up in (above, *above.parents)])))
    here = _seen_at(home, [common])
    if any(entry.roots for entry in here):
        state = os.stat(common)  # a place may be used by another repository now
        place = (str(start), str(common), state.st_dev, state.st_ino)
        here = [each for each in here if not each.roots or _holds_a_root(*place, each.roots)]
    if len(here) == 1:
        return Match(here[0])
    known = here or list(read_entries(home))
    if not known:
        return Match()
    with suppress(RepositoryState):  # bare, or another's
        if repository := repositories.find(start):
            roots = {root for entry in known for root in entry.roots}
            if project := repositories.identify(repository, roots):
                return search(known, project, repository)
    return Match()


def _seen_at(home: Path, folders: Sequence[Path]) -> list[Known]:
    """The stores of the projects that were seen in one of these git directories."""
    places = {str(folder) for folder in folders}
    # most stores are other projects': their files are not parsed
    near = read_entries(home, [*map(_toml_string, places)])
    return [entry for entry in near if places.intersection(entry.folders)]


def search(known: Sequence[Known], project: Identity, repository: repositories.Repository) -> Match:
    """The store among `known` that is the project's by its first commit and remotes."""
    alike = [entry for entry in known if entry.resembles(project)]
    sure = [entry for entry in alike if _is_sure(entry, project, repository)]
    return Match(sure[0], moved=True) if len(sure) == 1 else Match(asked=tuple(alike))


def _is_sure(entry: Known, project: Identity, repository: repositories.Repository) -> bool:
    if not (set(entry.roots) & set(project.roots) or repositories.is_shallow(repository)):
        return False
    if not set(project.remotes) <= set(entry.remotes):
        return False
    there = [Path(folder) for folder in entry.folders if Path(folder).is_dir()]
    if not project.remotes and (entry.remotes or there):
        return False  # a copy of what is still in its place, and nothing says whose
    # A commit has to show that the clone comes from the project. A stranger can copy a first
    # commit, but has no later one that was seen in the project; and of a clone's own head the
    # project's repository knows, where it is still `there`.
    if project.head in entry.seen:
        return True
    later = [commit for commit in entry.seen if commit not in entry.roots]
    if any(repositories.has_commit(repository, commit) for commit in later):
        return True
    words = ["cat-file", "-e", f"{project.head}^{{commit}}"]
    return any(repositories.run(folder, words).returncode == 0 for folder in there)


@lru_cache(maxsize=64)
def _holds_a_root(start: str, common: str, device: int, inode: int, roots: tuple[str, ...]) -> bool:
    """Whether the repository has one of the first commits, asked of git once in a process for each
    repository, which place and inode tell apart."""
    data = "".join(f"{root}\n" for root in roots).encode()
    try:
        done = repositories.run(Path(start), ["cat-file", "--batch-check"], data=data)
    except FileNotFoundError:
        return True  # without git the place alone decides
    # what git cannot read, because it is damaged, is still the one that was there
    return done.returncode != 0 or b" commit " in done.stdout
