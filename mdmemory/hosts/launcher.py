"""The launcher: a script by which the clients of a person start mdmemory.

What is written into a client's configuration names it, and so stays the same when mdmemory is
updated or moved. It ends silently and with 0 where the program is gone, and whatever a hook does.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from mdmemory.config import person
from mdmemory.errors import MdmemoryError
from mdmemory.files import is_inside, name_refusals, read_regular, write_atomic

NAME = "launch"
_CACHE = "archive-v0"  # where uv keeps what `uvx` runs
_LONGEST = 4096  # bytes of a script that pip or uv writes
_PROGRAM = "__PROGRAM__"  # stands for the program's path, quoted for the shell
_FIRST = """\
#!/bin/sh
# mdmemory: clients of your assistants start it by this file. `mdmemory setup` writes it anew.
program=__PROGRAM__
"""
# Of the program only Python and the script are needed: the first line of the script names the one.
_TEXT = (
    _FIRST
    + """\
if [ -x "$program" ]; then
  IFS= read -r line <"$program"
  interpreter=${line#??}
  interpreter=${interpreter%% *}
  if [ -x "$interpreter" ]; then
    [ "$1" = hook ] || exec "$program" "$@"
    # 2 and more, such as of a program that is half installed, would stop a turn
    "$program" "$@"
    exit 0
  fi
fi
# The program is gone, and no client is to show an error for that. A hook ends; a client of MCP gets
# a server without tools, and with one resource, because Gemini reports a server that has nothing.
[ "$1" = mcp ] || exit 0
while IFS= read -r line; do
  case $line in *'"id":'*) ;; *) continue ;; esac
  id=${line#*'"id":'}
  id=${id%%[,\\}]*}
  version=${line#*'"protocolVersion":"'}
  version=${version%%'"'*}
  said='"text":"mdmemory is not installed any more: see `mdmemory setup`."'
  named='"uri":"memory://gone","name":"mdmemory is not installed any more"'
  case $line in
    *'"initialize"'*) result='"protocolVersion":"'$version'","capabilities":{"resources":{}},'
      result=$result'"serverInfo":{"name":"mdmemory","version":"0"}' ;;
    *'"resources/read"'*) result='"contents":[{"uri":"memory://gone",'$said'}]' ;;
    *'"resources/list"'*) result='"resources":[{'$named'}]' ;;
    *'"resources/templates/list"'*) result='"resourceTemplates":[]' ;;
    *'"tools/list"'*) result='"tools":[]' ;;
    *'"prompts/list"'*) result='"prompts":[]' ;;
    *) result= ;;
  esac
  printf '%s\\n' '{"jsonrpc":"2.0","id":'"$id"',"result":{'"$result"'}}'
done
"""
)
# How every client starts it, by `sh`. This text never changes: Codex trusts a hook by its hash. It
# has no braces, because editors take `${...}` for a variable of their own.
_COMMAND = (
    'd="$XDG_CONFIG_HOME"; [ "$d" ] || d="$HOME/.config"; l="$d/mdmemory/launch"; '
    '[ -x "$l" ] || exit 0; exec "$l" '
)


def shell_command(words: str) -> str:
    """The text by which `sh -c` starts mdmemory with `words`."""
    return _COMMAND + words


def any_shell_line(words: str) -> str:
    """The same for any shell: a client may run a hook by the person's own, such as fish."""
    return f"sh -c '{shell_command(words)}'"


def launcher_place(environment: Mapping[str, str] | None = None) -> Path:
    """Where the launcher lies: beside the person's settings."""
    return person.person_places(environment).personal_settings.with_name(NAME)


def launcher_text(program: Path) -> bytes:
    """The launcher of the script `program`."""
    return _TEXT.replace(_PROGRAM, shlex.quote(str(program))).encode()


def program_path(environment: Mapping[str, str]) -> Path:
    """The script that starts this mdmemory.

    The `mdmemory` on the PATH where it belongs to this installation: that path outlives an update.
    Else the script beside the running Python. Raises MdmemoryError where there is none.
    """
    beside = Path(sys.executable).with_name("mdmemory")
    known = shutil.which("mdmemory", path=environment.get("PATH", ""))
    if known and os.path.isabs(known):
        if is_inside(Path(known), beside.parent):
            return Path(known)
        with suppress(MdmemoryError):
            first = read_regular(os.path.realpath(known), _LONGEST).partition(b"\n")[0]
            if first == b"#!" + os.fsencode(sys.executable):
                return Path(known)
    if not os.access(beside, os.X_OK):
        raise MdmemoryError(
            f"There is no program {beside} that a client could start.",
            "Install mdmemory, for instance with `pipx install mdmemory-git`, and run this again.",
        )
    return beside


def install_launcher(environment: Mapping[str, str], *, dry_run: bool = False) -> list[str]:
    """Write the launcher where it is missing or starts another program; sentences on it.

    Raises MdmemoryError where the file there is somebody else's.
    """
    path, script = launcher_place(environment), program_path(environment)
    present = _present_bytes(path)
    if present == launcher_text(script):
        return []
    if os.path.lexists(path) and not _is_ours(present):
        raise MdmemoryError(f"{path} is not a file of mdmemory.", "Move it out of the way.")
    refuse_no_folders([path])
    if not dry_run:
        with name_refusals(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, launcher_text(script), mode=0o755)
    sentences = [f"Wrote {path}, which starts {script}."]
    if _CACHE in script.parts:
        sentences.append(
            "That program lies in a cache, which may be emptied: install mdmemory, for instance "
            "with `uv tool install mdmemory-git`, and run this again."
        )
    return sentences


def remove_launcher(path: Path, *, dry_run: bool = False) -> list[str]:
    """Remove the launcher at `path`; sentences, or [] where there is none of ours."""
    if not _is_ours(_present_bytes(path)):
        return []
    if not dry_run:
        path.unlink()
        if not any(path.parent.iterdir()):
            path.parent.rmdir()
    return [f"Removed {path}."]


def _present_bytes(path: Path) -> bytes:
    """The bytes of the file at `path`; none where there is no regular file."""
    return read_regular(path) if path.is_file() and not path.is_symlink() else b""


def _is_ours(data: bytes) -> bool:
    return data.startswith(_FIRST.partition(_PROGRAM)[0].encode())


def refuse_no_folders(paths: Iterable[Path]) -> None:
    """Raise MdmemoryError where what is to be a folder above a file is something else."""
    for path in paths:
        above = next(each for each in path.parents if os.path.lexists(each))
        if not above.is_dir():
            what = "a link that leads nowhere" if above.is_symlink() else "no folder"
            raise MdmemoryError(
                f"{above} is {what}.",
                "Move it out of the way and run this again; nothing was written.",
            )
