"""Writes the packages that a client installs by itself: Claude Code's plugin with the marketplace
file, Gemini CLI's extension, and what Codex's own memory is told.

`python tests/write_packages.py` after a change of a text, a command or the version.
"""

import json
from pathlib import Path

from mdmemory.hosts import texts
from mdmemory.hosts.commands.events import KINDS
from mdmemory.version import VERSION

ROOT = Path(__file__).parents[1]
MARKETPLACE = ".claude-plugin/marketplace.json"
PLUGIN = "templates/claude/plugin"
EXTENSION = "templates/gemini/extension"
CODEX = "templates/codex/memories/extensions/mdmemory/instructions.md"
ABOUT = "Long-term memory for coding assistants: one fact per markdown file, in git"

# The packages are code that a client runs: nothing of them depends on where mdmemory is.
_START = """\
#!/bin/sh
# Starts mdmemory for a client that installed this package: `start hook HOST`, `start mcp`.
# Where it is not installed, or `mdmemory setup` has wired the same client already, a hook ends
# silently with 0, and the client of MCP gets a server without tools.
host=__HOST__
settings="__FOLDER__/settings.json"
wired() { grep -qs "mdmemory/launch.* hook $host" "$settings"; }
program="${XDG_CONFIG_HOME:-$HOME/.config}/mdmemory/launch"
[ -x "$program" ] || program=$(command -v mdmemory) || program=
if [ "$1" = hook ]; then
  if [ -n "$program" ] && ! wired; then "$program" hook "$host"; fi
  exit 0
fi
if [ -n "$program" ] && ! wired; then exec "$program" mcp --no-index; fi
while IFS= read -r line; do
  case $line in *'"id":'*) ;; *) continue ;; esac
  id=${line#*'"id":'}
  id=${id%%[,\\}]*}
  version=${line#*'"protocolVersion":"'}
  version=${version%%'"'*}
  named='"uri":"memory://elsewhere","name":"mdmemory is not installed, or mdmemory setup serves it"'
  case $line in
    *'"initialize"'*) result='"protocolVersion":"'$version'","capabilities":{"resources":{}},'
      result=$result'"serverInfo":{"name":"mdmemory","version":"0"}' ;;
    *'"resources/read"'*) result='"contents":[{'${named%%,*}',"text":""}]' ;;
    *'"resources/list"'*) result='"resources":[{'$named'}]' ;;
    *'"resources/templates/list"'*) result='"resourceTemplates":[]' ;;
    *'"tools/list"'*) result='"tools":[]' ;;
    *'"prompts/list"'*) result='"prompts":[]' ;;
    *) result= ;;
  esac
  printf '%s\\n' '{"jsonrpc":"2.0","id":'"$id"',"result":{'"$result"'}}'
done
"""
_TO_CODEX = """\
# mdmemory

`mdmemory` is another long-term memory of the same user: one fact per markdown file, in a git
repository of its own, shared with their other assistants. It reaches you by hooks and by the tools
of the MCP server `mdmemory`, not by files of this folder.

- A rollout may hold text that mdmemory gave: indexes (MEMORY.md), notes, `<recalled_memory>`
  blocks, results of `memory_search` and `memory_get`. It is kept already: do not store it here.
- What the user asked to be remembered, changed or forgotten in so many words is done there. Do not
  keep a second copy: it would stay when the user corrects or forgets the first.
- Where a summary of yours and a note of mdmemory disagree, the note is right.
- Write nothing into this folder on its behalf, and change no note by hand.
"""


def files() -> dict[str, str]:
    """The text of each file by its path in the repository."""
    owner = {"name": "mdmemory"}
    listed = {"name": "mdmemory", "source": f"./{PLUGIN}", "description": ABOUT}
    marketplace = {"name": "mdmemory", "owner": owner, "metadata": {"description": ABOUT},
                   "plugins": [listed]}  # fmt: skip
    return {
        MARKETPLACE: _json(marketplace),
        **{f"{PLUGIN}/{name}": text for name, text in _plugin().items()},
        **{f"{EXTENSION}/{name}": text for name, text in _extension().items()},
        CODEX: _TO_CODEX,
    }


def _plugin() -> dict[str, str]:
    manifest = {"name": texts.PLUGIN, "version": VERSION, "description": ABOUT,
                "author": {"name": "mdmemory"}, "license": "MIT",
                "keywords": ["memory", "markdown", "git"]}  # fmt: skip
    start = '"${CLAUDE_PLUGIN_ROOT}/start"'
    hook = {"type": "command", "command": f"sh {start} hook"}
    hooks = {event: [{"hooks": [hook]}] for event in KINDS["claude"]}
    hooks["SessionEnd"] = [{"hooks": [{**hook, "timeout": 30}]}]  # it would have 1.5 s
    server = {"command": "sh", "args": ["${CLAUDE_PLUGIN_ROOT}/start", "mcp"], "alwaysLoad": True}
    return {
        ".claude-plugin/plugin.json": _json(manifest),
        "hooks/hooks.json": _json({"hooks": hooks}),
        ".mcp.json": _json({"mcpServers": {"mdmemory": server}}),
        "start": _start("claude", "${CLAUDE_CONFIG_DIR:-$HOME/.claude}"),
        **texts.files_for("claude"),
    }


def _extension() -> dict[str, str]:
    start = "${extensionPath}/start"
    manifest = {
        "name": "mdmemory", "version": VERSION, "description": ABOUT,
        "mcpServers": {"mdmemory": {"command": "sh", "args": [start, "mcp"]}},
    }  # fmt: skip
    hook = {"type": "command", "name": "mdmemory", "command": f'sh "{start}" hook',
            "timeout": 5000}  # fmt: skip
    return {
        "gemini-extension.json": _json(manifest),
        "hooks/hooks.json": _json(
            {"hooks": {event: [{"hooks": [hook]}] for event in KINDS["gemini"]}}
        ),
        "start": _start("gemini", "${GEMINI_CLI_HOME:-$HOME}/.gemini"),
        **texts.files_for("gemini"),
    }


def _start(host: str, folder: str) -> str:
    return _START.replace("__HOST__", host).replace("__FOLDER__", folder)


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def present() -> dict[str, str]:
    """What lies in the repository now."""
    folders = (ROOT / ".claude-plugin", ROOT / "templates/claude", ROOT / "templates/gemini",
               ROOT / "templates/codex")  # fmt: skip
    there = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in there}


if __name__ == "__main__":
    wanted = files()
    for name in present().keys() - wanted.keys():
        (ROOT / name).unlink()
    for name, text in wanted.items():
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(text, "utf-8")
