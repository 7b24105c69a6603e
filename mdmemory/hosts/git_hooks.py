"""Puts one marked line into four git hooks of a repository: it brings MEMORY.md up to date.

The line never fails a git command, never waits, and can be taken out exactly. The rest of a hook is
the person's.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from mdmemory.errors import MdmemoryError, NoGit
from mdmemory.files import is_inside, name_refusals, read_regular, write_atomic
from mdmemory.git import repositories
from mdmemory.git.commits_of_store import History
from mdmemory.store.project import Project

MARK = b"# mdmemory: refresh the index"
MADE = MARK + b" (and the reason for this file)"  # the line's end in a hook that we made

# During these operations git changes the work tree itself, and a changed MEMORY.md would stop it,
# or keep it from restoring what it has stashed. A rebase restores that after post-rewrite.
_IN_GIT_DIR = '$(ls "$(git rev-parse --git-dir)")'
_QUIET = f'case "{_IN_GIT_DIR}" in *rebase-*|*sequencer*|*BISECT_LOG*|*AUTOSTASH*) ;; *)'
_IN_REBASE = '$(ls "$(git rev-parse --git-dir)"/rebase-* 2>/dev/null)'
_GUARDS = {
    "post-commit": _QUIET,
    "post-merge": _QUIET,
    "post-checkout": _QUIET,
    "post-rewrite": f'case "${{1:-}}: {_IN_REBASE}" in *autostash*) ;; rebase:*)',
}
_SHELLS = {b"sh", b"bash", b"dash", b"zsh", b"ksh", b"ash", b"mksh"}
_SHEBANG = re.compile(rb"#![ \t]*(\S+)[ \t]*([^\r\n]*)\r?\n?")


def program_words() -> list[str]:
    """The words by which other programs start mdmemory; the first is an absolute path."""
    script = Path(sys.executable).with_name("mdmemory")
    if os.access(script, os.X_OK):
        return [str(script)]
    # -P: modules are not searched in the current folder
    return [sys.executable, "-P", "-m", "mdmemory"]


def install_hooks(project: Project, program: Sequence[str]) -> list[str]:
    """Put the line into each hook; sentences on the changes, [] when all is in place.

    A hook that is no shell script, a link, or one that git does not run is left alone and named.
    Raises MdmemoryError where the folder of hooks is not the person's own.
    """
    repository = _store_repository(project)
    folder = _hooks_folder(repository)
    start = _start_folder(project, repository, folder)
    sentences: list[str] = []
    with name_refusals(folder):
        folder.mkdir(parents=True, exist_ok=True)
    words = shlex.join([*program, "index"])
    words = f"(cd {shlex.quote(start)} && {words})" if start else words
    if "\n" in words:
        raise MdmemoryError("A path with a line break in it cannot stand in a hook.")
    changed = []
    for name, guard in _GUARDS.items():
        run = f"{guard} {words} </dev/null >/dev/null 2>&1 || : ;; esac"
        line = os.fsencode(f'[ -n "${{MDMEMORY_DISABLE:-}}" ] || {run}')
        changed += [name] if _put_line(folder / name, line, sentences) else []
    if not changed:
        return sentences
    names = " and ".join(filter(None, (", ".join(changed[:-1]), changed[-1])))
    sentences.insert(0, f"MEMORY.md now follows git: a line in {names} in {folder}.")
    is_inner = is_inside(folder, repository.top) and not is_inside(folder, repository.git_dir)
    if is_inner and len(History(repository, folder).list_ignored(_GUARDS)) < len(_GUARDS):
        sentences.append(f"git tracks {folder}, so the line goes to whoever gets your commits.")
    return sentences


def remove_hooks(project: Project) -> list[str]:
    """Take out our lines, and the hooks that hold nothing else; sentences, or []."""
    try:
        folder = _hooks_folder(_store_repository(project))
    except NoGit:
        return []
    except MdmemoryError as problem:
        return [f"No hook was changed: {problem.message}"]
    sentences = []
    for path in (folder / name for name in _GUARDS):
        if path.is_symlink() or not path.is_file():
            continue
        without, mark = _without_line(read_regular(path))
        if not mark:
            continue
        if mark == MADE and without == b"#!/bin/sh\n":
            path.unlink()
        else:
            write_atomic(path, without, mode=path.stat().st_mode & 0o777)
        sentences.append(f"Took the line out of {path}.")
    return sentences


def _store_repository(project: Project) -> repositories.Repository:
    repository = repositories.find(project.store)
    if repository is None:
        raise NoGit(f"{project.store} is in no git repository.", "Run `mdmemory init` first.")
    return repository


def _hooks_folder(repository: repositories.Repository) -> Path:
    """The folder in which git looks for hooks. Raises MdmemoryError if others own it."""
    # our own git commands set this value, too: only the values from files count
    words = ("config", "--show-scope", "-z", "--path", "--get-all", "core.hooksPath")
    fields = os.fsdecode(repository.ask(*words) or b"").split("\0")
    values = zip(fields[::2], fields[1::2], strict=False)
    named = ([""] + [value for scope, value in values if scope != "command"])[-1]
    path = repository.top / named if named else repository.common_dir / "hooks"
    folder = Path(os.path.realpath(path))
    inside = is_inside(folder, repository.top) or is_inside(folder, repository.common_dir)
    if folder.exists() and not folder.is_dir():
        raise MdmemoryError(f"core.hooksPath is {path}, so git runs no hooks here.",
                            "Unset it: `git config --unset core.hooksPath`.")  # fmt: skip
    if inside or (folder.is_dir() and folder.stat().st_uid == os.getuid()):
        return folder
    raise MdmemoryError(
        f"The hooks of {repository.top} lie in {folder}, which is not yours alone to change.",
        "Set core.hooksPath to a folder of your own, or go without hooks.",
    )


def _start_folder(project: Project, repository: repositories.Repository, folder: Path) -> str:
    """The folder in which the line starts mdmemory; git runs the line at the top of the work tree.

    Not `--store`: a branch from before the store has none.
    """
    if not is_inside(project.root, repository.top):
        return str(project.root)  # a store that is a repository of its own
    inside = os.path.relpath(os.path.realpath(project.root), os.path.realpath(repository.top))
    ours = is_inside(folder, repository.top) or is_inside(folder, repository.common_dir)
    if not ours and inside != ".":
        raise MdmemoryError(
            f"The hooks in {folder} are for all your repositories, but the project lies below the "
            f"top of this one, in {inside}.",
            "Set core.hooksPath for this repository, or go without hooks.",
        )
    # relative: linked worktrees share the hooks, but each has its own store
    return "" if inside == "." else f"./{inside}"


def _put_line(path: Path, line: bytes, sentences: list[str]) -> bool:
    """Whether the hook had to change."""
    if not os.path.lexists(path):
        write_atomic(path, b"#!/bin/sh\n" + line + b" " + MADE + b"\n", mode=0o755)
        return True
    problem = _why_unsuitable(path)
    if problem:
        sentences.append(f"Left {path} alone: {problem}.")
        return False
    text = read_regular(path)
    without, mark = _without_line(text)
    shebang = _SHEBANG.match(without)
    at = shebang.end() if shebang else 0
    head = without[:at] if without[:at].endswith(b"\n") or not at else without[:at] + b"\n"
    # first, not last: an `exit` would skip it, and the hook's last command decides its exit code
    fresh = head + line + b" " + (mark or MARK) + b"\n" + without[at:]
    if fresh == text:
        return False
    write_atomic(path, fresh, mode=path.stat().st_mode & 0o777)
    return True


def _without_line(text: bytes) -> tuple[bytes, bytes]:
    """The hook without our line, and the line's mark (b"" when there was none)."""
    lines = text.splitlines(keepends=True)
    marks = [mark for line in lines for mark in (MARK, MADE) if line.rstrip().endswith(mark)]
    rest = [line for line in lines if not line.rstrip().endswith((MARK, MADE))]
    return b"".join(rest), marks[0] if marks else b""


def _why_unsuitable(path: Path) -> str:
    """Why the line cannot stand in this hook, or ""."""
    if path.is_symlink() or not path.is_file():
        return "it is a link, or no file"
    if not os.access(path, os.X_OK):
        return "it is not executable, so git does not run it (`chmod +x` changes that)"
    text = read_regular(path)
    if b"\0" in text:
        return "it is a compiled program"
    shebang = _SHEBANG.match(text)
    if shebang is None:
        return ""  # git gives it to sh
    words = [shebang[1], *shebang[2].split()]
    if os.path.basename(words[0]) == b"env":
        words = [word for word in words[1:] if not word.startswith(b"-") and b"=" not in word]
    program = os.path.basename(words[0]) if words else b"env"
    return "" if program in _SHELLS else f"it is written for {os.fsdecode(program)}, no shell"
