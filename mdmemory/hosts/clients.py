"""The clients that `mdmemory setup` knows: one table for the command, `status` and `doctor`.

All of them start the same launcher, which goes with the last of them.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from mdmemory.config import person
from mdmemory.config.writing import read_toml
from mdmemory.errors import MdmemoryError
from mdmemory.hosts import client_config, entries, launcher, texts
from mdmemory.hosts.claude import own_memory_settings
from mdmemory.hosts.client_config import Configuration, OwnFile, Wiring, WiringRecord, table_of
from mdmemory.hosts.commands.events import END, KINDS
from mdmemory.hosts.entries import ConfigEntry
from mdmemory.hosts.opencode import wiring as opencode
from mdmemory.hosts.opencode.wiring import DRY_RUN

Environment = Mapping[str, str]


class HookSettings(NamedTuple):
    """The hooks of a client, in a `file` of its folder. `timeout` is in its own unit, and `last`
    the one for the end of a session where that is another; `more` are further keys of each."""

    file: str
    timeout: int
    last: int = 0
    more: Mapping[str, Any] = MappingProxyType({})


class ServerEntry(NamedTuple):
    """The entry of our MCP server: its `file`, the key of all servers there, and its value; the
    file lies in `folder`, where that is not the client's."""

    file: str
    key: str
    value: Mapping[str, Any]
    folder: Callable[[Environment], Path] | None = None


class Client(NamedTuple):
    """A client: its name on the command line, what people call it, its program, and what wires it.

    `folder` is there once it has run, and `variable` may name another place for it. `files` gives
    the wiring of a client that has files of ours only. `permission` is a further entry beside its
    hooks. `note` is what to know when it starts again. `carrier` names what brings the memory
    already, such as a plugin, `twice` says what to do where both do, `findings` looks at what the
    client itself has still to allow, `leave` takes back what earlier versions did to it, and
    `clear` what stands beside its wiring.
    """

    name: str
    title: str
    program: str
    folder: Callable[[Environment], Path]
    variable: str
    server: ServerEntry | None = None
    hooks: HookSettings | None = None
    permission: ConfigEntry | None = None
    files: Callable[[Environment], Wiring] | None = None
    note: str = ""
    carrier: Callable[[Environment], str] = lambda _: ""
    twice: str = ""
    findings: Callable[[Environment, Path], Iterable[str]] = lambda _, project: ()
    leave: Callable[..., list[str]] = lambda _, dry_run: []
    clear: Callable[[Environment], list[str]] = lambda _: []

    def make_wiring(self, environment: Environment) -> Wiring:
        """All that wires it. Who has hooks has our commands and our skill, too."""
        if self.files:
            return self.files(environment)
        home, server = self.folder(environment), self.server
        files: dict[Path, list[ConfigEntry]] = {}
        own: list[OwnFile] = []
        if hooks := self.hooks:
            listed = files[home / hooks.file] = []
            for event, kind in KINDS[self.name].items():
                seconds = (kind == END and hooks.last) or hooks.timeout
                listed.append(entries.hook_entry(self.name, event, **hooks.more, timeout=seconds))
            listed += [self.permission] if self.permission else []
            own = [OwnFile(home / name, text) for name, text in texts.files_for(self.name).items()]
        modes: dict[Path, int] = {}
        if server:
            path = (server.folder or self.folder)(environment) / server.file
            modes[path] = 0o644 if path in files else 0o600  # a file of servers may hold keys
            files.setdefault(path, []).append(ConfigEntry((server.key, "mdmemory"), server.value))
        return Wiring(
            [Configuration(each, of, modes.get(each, 0o644)) for each, of in files.items()], own
        )

    def list_environments(self, environment: Environment) -> list[Environment]:
        """The environment, and what it was where the variable named another place when the client
        was wired there, as the record tells."""
        environments, first = [environment], self.make_wiring(environment).paths()[0]
        record = client_config.read_record(environment)
        for path in record.paths() if self.variable else ():
            for folder in path.parents if path.name == first.name and path != first else ():
                other = {**environment, self.variable: str(folder)}
                wiring = self.make_wiring(other)
                if wiring.paths()[0] == path and record.has_all(wiring):
                    environments.append(other)
        return environments


# --- what each client has of its own


def _read(path: Path) -> Mapping[str, Any]:
    """The object in a JSON file. Raises ValueError and MdmemoryError."""
    data = entries.JsoncText(client_config.read(path) or "{}").data
    return data if isinstance(data, dict) else {}


PERMISSION = ConfigEntry(("permissions", "allow"), "mcp__mdmemory", in_list=True)
CLAUDE_TWICE = (
    "Claude Code has mdmemory as a plugin and by `mdmemory setup`, so each hook runs twice. Run "
    "`mdmemory setup claude --remove` or `claude plugin uninstall mdmemory`."
)


def claude_folder(environment: Environment) -> Path:
    """Where Claude Code keeps the person's settings."""
    return person.host_places(environment).claude.parent


def state_folder(environment: Environment) -> Path:
    """Where the one file lies that is not in that folder, unless a variable moved the folder."""
    return claude_folder(environment) if environment.get("CLAUDE_CONFIG_DIR") else Path.home()


def plugin_carrier(environment: Environment) -> str:
    """What carries the memory into Claude Code already: our plugin; "" where it is not on."""
    try:
        plugins = table_of(_read(claude_folder(environment) / "settings.json"), "enabledPlugins")
    except ValueError:
        return ""
    is_on = any(name.startswith("mdmemory@") and on is True for name, on in plugins.items())
    return "a plugin" if is_on else ""


def claude_findings(environment: Environment, project: Path) -> Iterator[str]:
    """What Claude Code itself keeps from working, a sentence each."""
    path = claude_folder(environment) / "settings.json"
    if _read(path).get("disableAllHooks") is True:
        yield (
            f"{path} switches all hooks off (disableAllHooks), so Claude Code tells the memory "
            "nothing. Take that out."
        )
    # a server of the project's stands before the person's of the same name
    path = project / ".mcp.json"
    if "mdmemory" in table_of(_read(path), "mcpServers"):
        yield (
            f"{path} names a server 'mdmemory', which Claude Code uses in place of the one of "
            "`mdmemory setup`; its index comes a second time. Take it out."
        )


# Codex hands a server twelve variables, and none of these.
_VARIABLES = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
              "MDMEMORY_DISABLE", "CODEX_HOME"]  # fmt: skip
# Without a mode Codex asks about what may destroy: `codex exec` then refuses to forget.
CODEX_SERVER = entries.server_entry(env_vars=_VARIABLES, default_tools_approval_mode="approve")


def codex_folder(environment: Environment) -> Path:
    """Where Codex keeps the person's settings."""
    named = environment.get("CODEX_HOME", "")
    return Path(named) if os.path.isabs(named) else Path.home() / ".codex"


def codex_findings(environment: Environment, project: Path) -> Iterator[str]:
    """What the person has still to do in Codex, a sentence each. It runs a hook only after the
    person trusted it, and trusts the very text of it: what is written here never changes."""
    home = codex_folder(environment)
    settings = read_toml(client_config.read(home / "config.toml") or "")
    if table_of(settings, "features").get("hooks") is False:
        yield (
            f"{home / 'config.toml'} switches hooks off, so Codex tells the memory nothing. Set "
            "`hooks = true` in [features]."
        )
    known = table_of(table_of(settings, "hooks"), "state")
    states = [table_of(known, name) for name in _our_hooks(home / "hooks.json")]
    if any(state.get("enabled") is False for state in states):
        yield (
            "Hooks of mdmemory are switched off in Codex, so it tells the memory nothing of these "
            "events. Switch them on in `/hooks`."
        )
    if not all("trusted_hash" in state for state in states):
        yield (
            "Codex was not asked yet whether it may run the hooks of mdmemory, and runs none until "
            "then. Start `codex` once, and choose to trust them."
        )


def _our_hooks(file: Path) -> Iterator[str]:
    """The names by which Codex knows our hooks."""
    for event, groups in table_of(_read(file), "hooks").items():
        snake = "".join(f"_{each.lower()}" if each.isupper() else each for each in event)
        for at, group in enumerate(groups if isinstance(groups, list) else ()):
            hooks = group.get("hooks") if isinstance(group, dict) else None
            for number, hook in enumerate(hooks if isinstance(hooks, list) else ()):
                if entries.is_ours(hook):
                    yield f"{file}:{snake.lstrip('_')}:{at}:{number}"


GEMINI_TWICE = (
    "Gemini CLI has mdmemory as an extension and by `mdmemory setup`, so each hook runs twice. Run "
    "`mdmemory setup gemini --remove` or `gemini extensions uninstall mdmemory`."
)


def gemini_folder(environment: Environment) -> Path:
    """Where Gemini CLI keeps the person's settings."""
    named = environment.get("GEMINI_CLI_HOME", "")
    return (Path(named) if os.path.isabs(named) else Path.home()) / ".gemini"


def extension_carrier(environment: Environment) -> str:
    """What carries the memory into Gemini CLI already: our extension; "" where there is none."""
    is_there = (gemini_folder(environment) / "extensions" / "mdmemory").is_dir()
    return "an extension" if is_there else ""


def gemini_findings(environment: Environment, project: Path) -> Iterator[str]:
    """What the person has still to do in Gemini CLI, a sentence each: it runs hooks and servers
    only in folders that a rule trusts; of several rules the one for the longest path holds."""
    home = gemini_folder(environment)
    security = table_of(_read(home / "settings.json"), "security")
    if table_of(security, "folderTrust").get("enabled") is False:
        return
    named = environment.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH", "")
    real, trust = os.path.realpath(project), ("", False)
    for path, rule in _read(Path(named) if named else home / "trustedFolders.json").items():
        of = os.path.realpath(os.path.dirname(path) if rule == "TRUST_PARENT" else path)
        if real == of or real.startswith(of.rstrip(os.sep) + os.sep):
            trust = max(trust, (of, rule != "DO_NOT_TRUST"))
    if not trust[1]:
        yield (
            f"Gemini CLI does not trust {project} yet, and runs no hooks and no server there. "
            "Start `gemini` in it once, and choose to trust the folder."
        )


# Editors that speak MCP, by their own documentation; none of them was run here. They have no hooks
# that carry an index into a prompt, so the server's instructions do.
EDITOR_SERVER: dict[str, Any] = {"command": "sh", "args": ["-c", launcher.shell_command("mcp")]}
# without a folder VS Code starts a person's server in the home folder
VSCODE_SERVER = {"type": "stdio", **EDITOR_SERVER, "cwd": "${workspaceFolder}"}


def vscode_folder(environment: Environment) -> Path:
    """Where VS Code keeps the person's settings."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "Code" / "User"
    base = environment.get("XDG_CONFIG_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".config") / "Code" / "User"


# --- the table

OPENCODE = "opencode"
_CLIENTS = (
    Client(
        OPENCODE, "OpenCode", "opencode", person.opencode_folder, "XDG_CONFIG_HOME",
        files=opencode.personal_wiring, clear=opencode.clear_personal,
    ),
    Client(
        "claude", "Claude Code", "claude", claude_folder, "CLAUDE_CONFIG_DIR",
        # waited for at the start, so that the first request has the tools
        ServerEntry(
            ".claude.json", "mcpServers", entries.server_entry(type="stdio", alwaysLoad=True),
            state_folder,
        ),
        # without a time Claude Code cancels a SessionEnd hook after 1.5 seconds
        HookSettings("settings.json", 30), PERMISSION,
        carrier=plugin_carrier, twice=CLAUDE_TWICE, findings=claude_findings,
        leave=own_memory_settings.withdraw_settings,
    ),
    Client(
        "codex", "Codex", "codex", codex_folder, "CODEX_HOME",
        # nothing makes Codex wait for the server: that would stop it where the server is gone
        ServerEntry("config.toml", "mcp_servers", CODEX_SERVER),
        # Codex warns at each start where the last has more than 3 seconds
        HookSettings("hooks.json", 30, last=3),
        note="`codex` asks whether to trust the new hooks, and runs none before you say yes",
        findings=codex_findings,
    ),
    Client(
        "gemini", "Gemini CLI", "gemini", gemini_folder, "GEMINI_CLI_HOME",
        # without trust a run with -p hides all tools
        ServerEntry("settings.json", "mcpServers", entries.server_entry(trust=True)),
        HookSettings("settings.json", 30_000, more={"name": "mdmemory"}),  # milliseconds
        note="Gemini CLI asks whether to trust a folder, and runs no hooks in others",
        carrier=extension_carrier, twice=GEMINI_TWICE, findings=gemini_findings,
    ),
    Client(
        "cursor", "Cursor", "cursor", lambda _: Path.home() / ".cursor", "",
        ServerEntry("mcp.json", "mcpServers", EDITOR_SERVER),
        note="The wiring of Cursor follows its documentation and was not run here",
    ),
    Client(
        "vscode", "VS Code", "code", vscode_folder, "XDG_CONFIG_HOME",
        ServerEntry("mcp.json", "servers", VSCODE_SERVER),
        note="The wiring of VS Code follows its documentation and was not run here",
    ),
)  # fmt: skip
_BY_NAME = {client.name: client for client in _CLIENTS}
NAMES = (*_BY_NAME,)
NOTES = {client.name: client.note for client in _CLIENTS if client.note}
# how sentences begin that name files, for whom nothing is left to do
OF_FILES = ("Added to ", "Updated ", "Installed ", "Wrote ", "Took our ", "Removed ", "At its ")


def client_title(name: str) -> str:
    """What people call a client."""
    return _BY_NAME[name].title


def is_installed(name: str, environment: Environment) -> bool:
    """Whether the person has a client: its program on the PATH, or the folder of its settings."""
    client, path = _BY_NAME[name], environment.get("PATH", "")
    return bool(shutil.which(client.program, path=path)) or client.folder(environment).is_dir()


def connected_clients(environment: Environment) -> list[str]:
    """The names of the clients that are wired for all projects."""
    return [name for name in NAMES if is_wired(name, environment)]


def is_wired(name: str, environment: Environment) -> bool:
    """Whether anything of ours is in a client's own files, wherever they lay when it was wired."""
    client = _BY_NAME[name]
    try:
        wirings = map(client.make_wiring, client.list_environments(environment))
        return any(map(client_config.is_wired, wirings))
    except MdmemoryError:
        return False  # an invalid file has nothing


def install_clients(
    names: Iterable[str], environment: Environment, *, dry_run: bool = False,
    files: Wiring | None = None,
) -> list[str]:  # fmt: skip
    """Wire clients; sentences on each changed file, and on what stays as it was. `files` are
    OpenCode's in place of those that it gets else.

    Raises MdmemoryError, with nothing written, where a file of any of them is not valid.
    """
    # OpenCode last: it needs no skill of its own where it reads that of Claude Code
    names, record = sorted(names, key=OPENCODE.__eq__), client_config.read_record(environment)
    install = partial(_install_client, environment=environment, record=record, files=files)
    plan = _plan_all(names, partial(install, dry_run=True), "")
    plan += launcher.install_launcher(environment, dry_run=True)
    if dry_run:
        return [*dict.fromkeys([DRY_RUN, *plan])] if plan else []
    if plan:
        record.note_missing([launcher.launcher_place(environment)])
        record.save()
    sentences = [sentence for name in names for sentence in install(name)]
    sentences += _share_skill(names, environment, record)
    # last: until then what is in place already ends silently
    return [*dict.fromkeys([*sentences, *launcher.install_launcher(environment)])]


def remove_clients(
    names: Iterable[str], environment: Environment, *, dry_run: bool = False
) -> list[str]:
    """Take out what `install_clients` put in; sentences, [] where nothing of ours is there.

    Raises MdmemoryError as `install_clients` does.
    """
    names, record = [*names], client_config.read_record(environment)
    remove = partial(_remove_client, environment=environment, record=record)
    launchers = {launcher.launcher_place(environment), *record.launchers()}
    others = [name for name in NAMES if name not in names and is_wired(name, environment)]
    plan = _plan_all(names, partial(remove, dry_run=True), " --remove")
    sentences = plan if dry_run else [sentence for name in names for sentence in remove(name)]
    sentences += [] if dry_run else _share_skill(names, environment, record)
    for path in () if others else sorted(launchers):
        sentences += launcher.remove_launcher(path, dry_run=dry_run)
    if dry_run:
        return [*dict.fromkeys([DRY_RUN, *sentences])] if sentences else []
    record.drop_empty_folders()
    if not others:
        record.drop()
    elif sentences:
        record.save()
    return [*dict.fromkeys(sentences)]


def _share_skill(names: Sequence[str], environment: Environment, record: WiringRecord) -> list[str]:
    """Bring the skill of an OpenCode that is wired in line with the coming or going of others."""
    if OPENCODE in names or not is_wired(OPENCODE, environment):
        return []
    return client_config.install_wiring(opencode.skill_wiring(environment), record)


def client_findings(environment: Environment, project: Path) -> Iterator[str]:
    """What may be wrong between the clients and the memory of a project, a sentence each."""
    record = client_config.read_record(environment)
    for client in _CLIENTS:
        try:
            its = client.make_wiring(environment)
            if not client_config.is_wired(its):
                continue
        except MdmemoryError:
            continue
        if client.carrier(environment):
            yield client.twice
        again = f"Run `mdmemory setup {client.name}` again."
        yield from client_config.wiring_findings(its, record, again)
        try:
            yield from client.findings(environment, project)
        except (MdmemoryError, ValueError):
            pass  # a file that is not valid is named above
    if wired_names := connected_clients(environment):
        try:
            if launcher.install_launcher(environment, dry_run=True):
                yield (
                    f"{launcher.launcher_place(environment)} does not start this mdmemory. Run "
                    f"`mdmemory setup {' '.join(wired_names)}` again."
                )
        except MdmemoryError as problem:
            yield problem.message


def _plan_all(names: Sequence[str], plan: Callable[[str], list[str]], option: str) -> list[str]:
    """What would be done for all. Where one of them cannot be, the error says how to go on with the
    others."""
    sentences: list[str] = []
    for name in names:
        try:
            sentences += plan(name)
        except MdmemoryError as problem:
            others = " ".join(each for each in names if each != name)
            more = f" For the others: `mdmemory setup {others}{option}`." if others else ""
            raise MdmemoryError(problem.message, f"{problem.hint}{more}", problem.code) from problem
    return sentences


def _install_client(
    name: str, environment: Environment, record: WiringRecord, files: Wiring | None, *,
    dry_run: bool = False,
) -> list[str]:  # fmt: skip
    client = _BY_NAME[name]
    if (carrier := client.carrier(environment)) and not is_wired(name, environment):
        # said only where nothing is in place yet, so that a second run has nothing to say
        known = launcher.install_launcher(environment, dry_run=True)
        sentence = f"{client.title} has mdmemory as {carrier} already, so its settings stay."
        return [sentence] if known else []
    left, its = client.leave(environment, dry_run=dry_run), client.make_wiring(environment)
    if files and name == OPENCODE:
        its = files
    return left + client_config.install_wiring(its, record, dry_run=dry_run)


def _remove_client(
    name: str, environment: Environment, record: WiringRecord, *, dry_run: bool = False
) -> list[str]:
    client = _BY_NAME[name]
    sentences = client.leave(environment, dry_run=dry_run)
    for each in client.list_environments(environment):
        sentences += client_config.remove_wiring(client.make_wiring(each), record, dry_run=dry_run)
        sentences += [] if dry_run else client.clear(each)
    return sentences
