"""Rows of what lives on: OpenCode's bridge, the MCP server, and the hooks of the other clients."""

import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from bench.speed.measure import Cost, Talking, of_process, peak_of, started
from bench.speed.rows import Table
from bench.speed.world import SCRIPT, World

from mdmemory import Memory
from mdmemory.hosts import launcher
from mdmemory.hosts.bridge import asking

OFTEN, SELDOM = 200, 12  # runs of what is cheap, and of what writes
LINES = "\n".join(f"src/module_{n}.py:{n * 7}: line {n} of some output" for n in range(25_000))
OUTPUTS = {"8 kB": 8_000, "100 kB": 100_000, "1 MB": 1_000_000}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}}
COMMAND = launcher.any_shell_line("hook claude")


class Bridge:
    """The bridge of OpenCode's plugin, asked as the plugin asks it."""

    def __init__(self, world: World, env: dict[str, str]) -> None:
        self.talking = Talking([str(SCRIPT), "bridge"], world.project, env)
        self._turn = count()

    def ask(self, method: str, **params: Any) -> Any:
        """The result."""
        return self.talking.ask({"id": next(self._turn), "method": method, "params": params})

    def say(self, text: str, session: str = "ses_1") -> Any:
        """A message of the user's."""
        parts = [{"type": "text", "text": text}]
        return self.ask("message", session=session, message=f"msg_{next(self._turn)}", parts=parts)

    def use(self, output: str) -> Any:
        """A tool of the host's, with its output."""
        shown = {"tool": "bash", "args": {"command": "make"}, "output": output, "exit": 0}
        return self.ask("tool", session="ses_1", **shown)

    def call(self, tool: str, **arguments: Any) -> Any:
        """A tool of ours."""
        return self.ask("call", session="ses_1", tool=tool, arguments=arguments)


def bridge(table: Table, world: World, env: dict[str, str]) -> None:
    """The calls of OpenCode's plugin."""
    names = [f"bridge: {each}" for each in (*BRIDGE, *(f"tool output of {n}" for n in OUTPUTS))]
    if not table.wants(*names, "bridge: start to first answer"):
        return
    world.settle()
    table.row("bridge: start to first answer", world.size, lambda: _started(world, env), rounds=4)
    asked = Bridge(world, env)
    asked.ask("hello", protocol=1, shows=True, mode="tui")
    turn = count()
    asked.say("hello")
    asked.ask("system", session="ses_1")
    time.sleep(1)

    def often(what: str, ask: Callable[[], object], rounds: int = OFTEN) -> None:
        table.often(
            f"bridge: {what}", world.size, lambda: asked.talking.step(ask), rounds,
            floors=world.floors, is_first_thread=what.startswith(("message", "system", "tool")),
        )  # fmt: skip

    often("message, nothing asked", lambda: asked.say(f"How do I list the files of {next(turn)}?"))
    often("message that brings notes", lambda: asked.say(world.question, f"ses_{next(turn)}"), 100)
    often("system", lambda: asked.ask("system", session="ses_1"))
    for what, size in OUTPUTS.items():
        rounds = 100 if size < 200_000 else 30
        often(f"tool output of {what}", lambda s=size: asked.use(_output(next(turn), s)), rounds)
    _tools(often, asked.call, world, f"bridge-{world.size}")
    remember = "Remember that service {} listens on {}."
    kept = lambda: asked.say(remember.format(world.name(), next(turn)))  # noqa: E731
    often("message that is stored", kept, SELDOM)
    often("compacting", lambda: asked.ask("compacting", session="ses_1"), SELDOM)
    asked.talking.end()


BRIDGE = (
    *("message, nothing asked", "message that brings notes", "system", "message that is stored"),
    *("memory_search", "memory_get", "memory_store"),
    *("memory_forget", "session_memory", "compacting"),
)


def _started(world: World, env: dict[str, str]) -> Cost:
    def begin() -> Talking:
        asked = Bridge(world, env)
        asked.ask("system", session="ses_1")
        return asked.talking

    return started(begin)


def _output(turn: int, size: int) -> str:
    return f"{turn}\n{LINES[:size]}"


def _tools(
    often: Callable[[str, Callable[[], object], int], None],
    call: Callable[..., object], world: World, who: str,
) -> None:  # fmt: skip
    """The tools for assistants, by whatever host."""
    turn = count()

    def store() -> object:
        fact = f"The {who}-{next(turn)} service listens on port {next(turn)}."
        return call("memory_store", fact=fact, type="project", quote="")

    often("memory_search", lambda: call("memory_search", query=world.question), 100)
    often("memory_get", lambda: call("memory_get", file=f"{world.known}.md"), 30)
    often("session_memory", lambda: call("session_memory", action="read"), 20)
    often("memory_store", store, SELDOM)
    gone = iter(world.files[2 if who.startswith("mcp") else 3 :: 4])
    often("memory_forget", lambda: call("memory_forget", names=[next(gone)], quote=""), 8)


class Server:
    """The MCP server, asked as a host asks it."""

    def __init__(self, world: World, env: dict[str, str]) -> None:
        self.talking = Talking([str(SCRIPT), "mcp"], world.project, env)
        self._turn = count(1)

    def ask(self, method: str, **params: Any) -> Any:
        """The result."""
        asked = {"jsonrpc": "2.0", "id": next(self._turn), "method": method, "params": params}
        return self.talking.ask(asked)

    def call(self, tool: str, **arguments: Any) -> Any:
        """A tool of ours."""
        return self.ask("tools/call", name=tool, arguments=arguments)


def mcp(table: Table, world: World, env: dict[str, str]) -> None:
    """The MCP server: its start, and each tool."""
    names = [f"mcp: {each}" for each in ("initialize", "tools/list", *BRIDGE)]
    if not table.wants(*names):
        return
    world.settle()

    def begin(*methods: str) -> Talking:
        server = Server(world, env)
        server.ask("initialize", **HELLO)
        for method in methods:
            server.ask(method)
        return server.talking

    for what, methods in (("initialize", ()), ("tools/list", ("tools/list",))):
        step = lambda m=methods: started(lambda: begin(*m))  # noqa: E731
        table.row(f"mcp: {what}", world.size, step, floors=world.floors)
    server = Server(world, env)
    server.ask("initialize", **HELLO)

    def often(what: str, ask: Callable[[], object], rounds: int) -> None:
        table.often(
            f"mcp: {what}", world.size, lambda: server.talking.step(ask), rounds,
            floors=world.floors,
        )  # fmt: skip

    _tools(often, server.call, world, f"mcp-{world.size}")
    server.talking.end()


class Hooks:
    """The command that Claude Code starts at each event of a session."""

    def __init__(self, world: World, env: dict[str, str]) -> None:
        self._world, self._turn = world, count()
        launcher.install_launcher(env)
        self.entry = asking.MapEntry(env, str(world.project), "")

    def event(self, name: str, **more: Any) -> Cost:
        """What the command costs, without the bridge that answers it."""
        told = {
            "hook_event_name": name, "session_id": f"s{next(self._turn) // 5}",
            "cwd": str(self._world.project), "transcript_path": "/none.jsonl", **more,
        }  # fmt: skip
        starter, project = self._world.starter, self._world.project
        return starter.run(project, "sh", "-c", COMMAND, said=json.dumps(told), linger=0.0)

    def bridge(self) -> int:
        """The number of the process that answers, started where there is none."""
        self.event("SessionStart", source="startup")
        until = time.monotonic() + 60
        while True:
            try:
                connection = asking.connect_socket(self.entry.socket(), 5.0)
            except OSError:
                assert time.monotonic() < until, "no bridge came"
                time.sleep(0.05)
                continue
            import socket

            said = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            connection.close()
            return int.from_bytes(said[:4], "little")

    def keep_bridges_off(self) -> None:
        """Let it look as if a bridge had just failed to start."""
        shutil.rmtree(self.entry.folder, ignore_errors=True)
        Path(self.entry.folder).mkdir(parents=True)
        Path(self.entry.mark).touch()

    def end(self, pid: int) -> None:
        """End the bridge."""
        os.kill(pid, signal.SIGKILL)  # told to end, it would start the readings that wait
        shutil.rmtree(Path(self.entry.folder), ignore_errors=True)


def hooks(table: Table, world: World, env: dict[str, str]) -> None:
    """The events of Claude Code: the command's own cost, and what its bridge adds."""
    turn = count()
    events: dict[str, Callable[[Hooks], Cost]] = {
        "session start": lambda h: h.event("SessionStart", source="startup"),
        "prompt": lambda h: h.event(
            "UserPromptSubmit", prompt=f"How do I list the files of {next(turn)}?"
        ),
        "prompt that brings notes": lambda h: h.event("UserPromptSubmit", prompt=world.question),
        "prompt that is stored": lambda h: h.event(
            "UserPromptSubmit",
            prompt=f"Remember that service {world.name()} listens on {8000 + next(turn)}.",
        ),
        "stop": lambda h: h.event("Stop", last_assistant_message="Done."),
        "session end": lambda h: h.event("SessionEnd", reason="other"),
    }
    names = [f"hook: {what}" for what in events]
    alone = [f"hook alone: {what}" for what in events]
    if not table.wants(*names, *alone, *(f"{name}, the bridge" for name in names)):
        return
    world.settle()
    asked = Hooks(world, env)
    pid = asked.bridge()
    for what, do in events.items():
        behind: list[Cost] = []

        def step(do: Callable[[Hooks], Cost] = do, behind: list[Cost] = behind) -> Cost:
            start = of_process(pid)
            cost = do(asked)
            time.sleep(0.02)  # what it does behind the answer
            behind.append(Cost(of_process(pid) - start, cost.wall, peak_of(pid)))
            return cost

        table.row(f"hook: {what}", world.size, step, floors=world.floors, rounds=12)
        if behind:
            each = iter(behind)
            name = f"hook: {what}, the bridge"
            table.often(name, world.size, lambda e=each: next(e), len(behind), unseen=0)
    asked.end(pid)
    for what, do in events.items():

        def without(do: Callable[[Hooks], Cost] = do) -> Cost:
            asked.keep_bridges_off()
            return do(asked)

        table.often(f"hook alone: {what}", world.size, without, 8)
        Memory.around(world.project).settle_wishes()  # else the next events write thirty of them
    shutil.rmtree(asked.entry.folder, ignore_errors=True)
