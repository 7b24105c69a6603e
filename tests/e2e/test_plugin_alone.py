"""The plugin without the client: its types, its size, and what it does when its bridge misbehaves.

It is compiled and run by Node, with a bridge that a test wrote in its place.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from client import MISSING, ROOT
from pace import HUNG

from mdmemory.hosts.opencode.wiring import plugin_source

pytestmark = pytest.mark.slow
MODULES = ROOT / ".opencode-client/node_modules"
CONFIG = Path(__file__).parent / "plugin_types/tsconfig.json"
ODD = ["/opt/my tools/mdmemory", 'with "quotes"', "\\", "$&", "喜欢"]


BRIDGE = """
import json, os, sys, time
how = os.environ["HOW"]
with open(os.environ["RECORD"], "a") as record:
    print("start", os.getpid(), os.getcwd(), file=record, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        print(asked["method"], json.dumps(asked["params"]), file=record, flush=True)
        result = {}
        if how == "gone":
            os._exit(0)
        if asked["method"] == "hello":
            tool = {"name": "t", "description": "d", "parameters": {"properties": {}}}
            heard = ["message", "system", "compacting", "idle", "command", "reverted"]
            result = {"hooks": heard, "tools": [tool]}
            result["instructions"] = ["/me/MEMORY.md"]
        if asked["method"] == "message":
            shown = {"message": "Remembered: x", "variant": "success"}
            result = {"parts": ["one", "two"], "toast": shown}
            result["instructions"] = ["/me/MEMORY.md", "/app/MEMORY.md"]
        if asked["method"] == "command":
            print(json.dumps({"event": {"toast": {"message": "Learned: y"}}}))
            result = {"parts": ["Taken back: x."]}
        if how == "die" and asked["method"] != "hello":
            os._exit(1)
        if how == "hang" and asked["method"] == "system":
            time.sleep(4)
        if how == "noise":
            print("not json")
            print(json.dumps({"id": 99}))
            result = {"parts": 5, "context": 1}
        print(json.dumps({"id": asked["id"], "result": result}), flush=True)
    print("end", file=record, flush=True)
"""
DRIVER = """
import plugin from "./MODULE"
const directory = process.env.PLACE
const hooks = await plugin.server({ directory, worktree: directory })
const parts = [{ id: "prt_b", type: "text", text: "hello" }, { id: "prt_a", type: "file" }]
const about = { message: { id: "msg_1" }, parts }
const message = () => hooks["chat.message"]({ sessionID: "ses_1" }, about)
const system = async () => {
  const start = Date.now()
  await hooks["experimental.chat.system.transform"]({ sessionID: "ses_1" }, { system: [] })
  return Date.now() - start
}
const out = { hooks: Object.keys(hooks), tools: Object.keys(hooks.tool ?? {}), parts }
// HERE
console.log(JSON.stringify(out))
"""


class Compiled(NamedTuple):
    """A folder with the plugin as a module of Node, and the bridge that it starts; and what the
    TypeScript compiler said under the types that are published: of it, of one for an odd command,
    and of one that is broken."""

    folder: Path
    told: str


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    assert (MODULES / "typescript").exists(), MISSING
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "bridge.py").write_text(BRIDGE, "utf-8")
    command = [sys.executable, str(folder / "bridge.py")]
    odd = plugin_source(ODD, ODD)
    for name, text in (
        ("mdmemory", plugin_source(command, ["../notes/MEMORY.md", "/own/MEMORY.md"])),
        ("odd", odd),
        ("broken", odd.replace('"chat.message": safe', '"chat.massage": safe')),
    ):
        (folder / f"{name}.ts").write_text(text, "utf-8")
    shutil.copy(CONFIG, folder)
    (folder / "node_modules").symlink_to(MODULES)
    program = ["node", str(MODULES / "typescript/bin/tsc"), "-p", str(folder), "--noEmit", "false"]
    done = subprocess.run(program, capture_output=True, text=True, timeout=HUNG, check=False)
    module = (folder / "mdmemory.js").read_text("utf-8")
    assert "PERSONAL = false" in module
    (folder / "mdmemory.mjs").write_text(module, "utf-8")
    personal = module.replace("PERSONAL = false", "PERSONAL = true")
    (folder / "personal.mjs").write_text(personal, "utf-8")
    return Compiled(folder, done.stdout + done.stderr)


def test_the_plugin_fits_the_published_types_for_any_command(compiled: Compiled) -> None:
    assert "chat.massage" in compiled.told, "nothing was checked"
    lines = [line for line in compiled.told.splitlines() if not line.startswith(" ")]
    assert {Path(line.partition("(")[0]).name for line in lines} == {"broken.ts"}


def test_the_plugin_is_small_and_imports_nothing() -> None:
    text = plugin_source(ODD)
    assert f"= {json.dumps(ODD)}\n" in text
    lines = text.splitlines()
    assert len(lines) < 300
    assert max(map(len, lines)) <= 130
    imports = [line for line in lines if line.startswith("import ")]
    assert all("import type" in line or '"node:' in line for line in imports)
    assert len(re.findall(r"^export ", text, re.MULTILINE)) == 1


class Driven(NamedTuple):
    """What a script gave, what reached the bridge, and the log."""

    out: Any
    record: str
    log: str


Drive = Callable[..., Driven]


@pytest.fixture
def drive(compiled: Compiled, tmp_path: Path) -> Drive:
    """Runs `script` against the plugin, whose bridge misbehaves as `how` says."""

    def run(how: str, script: str, module: str = "mdmemory.mjs", **more: str) -> Driven:
        for name in (".mdmemory", "below"):
            (tmp_path / name).mkdir(exist_ok=True)
        driver = compiled.folder / f"{tmp_path.name}.mjs"
        text = DRIVER.replace("// HERE", script).replace("MODULE", module)
        driver.write_text(text, "utf-8")
        record, log = tmp_path / "record", tmp_path / ".mdmemory/bridge.log"
        known = {"HOW": how, "RECORD": str(record), "PLACE": str(tmp_path / "below")}
        done = subprocess.run(
            ["node", driver], env={**os.environ, **known, **more}, capture_output=True, text=True,
            timeout=HUNG, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        time.sleep(0.2)  # for the bridge to write its last line
        record.touch()
        log.touch()
        texts = record.read_text("utf-8"), log.read_text("utf-8")
        return Driven(json.loads(done.stdout), *texts)

    return run


OTHER = """
const shown = [], showToast = ({ body }) => { shown.push(body); FAULT }
const other = await plugin.server({ directory, client: { tui: { showToast } } })
out.shown = shown
"""


@pytest.mark.parametrize("fault", ["", "throw new Error('no screen')", "return Promise.reject(1)"])
def test_the_user_is_shown_what_became_of_a_wish_and_no_fault_of_it_fails_the_turn(
    drive: Drive, fault: str
) -> None:
    said = "await other['chat.message']({ sessionID: 'ses_1' }, about); await other.dispose()"
    out, _, log = drive("well", OTHER.replace("FAULT", fault) + said)
    assert out["shown"] == [{"title": "mdmemory", "message": "Remembered: x", "variant": "success"}]
    assert ([part.get("text") for part in out["parts"]], log) == (["hello", None, "one", "two"], "")


def test_a_command_a_step_back_and_what_the_bridge_says_unasked_are_handed_on(drive: Drive) -> None:
    script = """
    const output = { parts: [] }, asked = { command: 'memory-undo', sessionID: 'ses_1' }
    await other['command.execute.before']({ ...asked, arguments: 'm-1' }, output)
    const type = 'session.updated', sessionID = 'ses_1'
    const at = (info) => ({ type, properties: { sessionID, info } })
    await other.event({ event: at({}) })
    await other.event({ event: at({ revert: { messageID: 'msg_7' } }) })
    await other.dispose(); out.parts = output.parts
    """
    out, record, log = drive("well", OTHER.replace("FAULT", "") + script)
    assert out["parts"] == [{"type": "text", "synthetic": True, "text": "Taken back: x."}]
    assert [each["message"] for each in out["shown"]] == ["Learned: y"]
    assert '"command": "memory-undo", "arguments": "m-1"' in record
    (told,) = [line for line in record.splitlines() if line.startswith("reverted ")]
    assert json.loads(told.partition(" ")[2]) == {"session": "ses_1", "message": "msg_7"}
    assert log == ""


def test_parts_come_behind_the_users_and_what_nobody_hears_is_not_sent(drive: Drive) -> None:
    tool = "{tool: 'bash', sessionID: 's', callID: 'c', args: {}}, {output: 'large'}"
    script = f"await message(); await hooks['tool.execute.after']({tool}); await hooks.dispose();"
    out, record, log = drive("well", f"{script} await hooks.event({{event: {{type: 'x'}}}})")
    assert [part["id"] for part in out["parts"]] == ["prt_b", "prt_a", "prt_b0", "prt_b00"]
    assert [part.get("text") for part in out["parts"]] == ["hello", None, "one", "two"]
    assert out["tools"] == ["t"]
    first, *_, last = record.splitlines()
    assert first.endswith("/below"), "it runs where OpenCode was started"
    assert (last, "large" in record, log) == ("end", False, "")


def test_a_bridge_that_dies_is_started_four_times_in_all(drive: Drive) -> None:
    script = "for (let n = 0; n < 6; n++) await message(); await hooks.dispose()"
    out, record, log = drive("die", script)
    assert (len(out["parts"]), record.count("start"), log.count("it is started again")) == (2, 4, 3)
    assert log.count("not started again") == 1


def test_behind_a_bridge_that_hangs_no_second_hook_waits(drive: Drive) -> None:
    rest = "await new Promise(r => setTimeout(r, 1500)); await message(); await hooks.dispose()"
    out, record, log = drive("hang", f"out.times = [await system(), await system()]; {rest}")
    first, second = out["times"]
    assert 2_900 < first < 3_900
    assert second < 200
    assert "no answer in time" in log
    assert record.count("system") == 2, "what was asked is done all the same"


def test_answers_that_make_no_sense_fail_no_hook(drive: Drive) -> None:
    compacting = "await hooks['experimental.session.compacting']({sessionID: 's'}, {context: []})"
    out, _, log = drive("noise", f"await message(); {compacting}; await hooks.dispose()")
    assert len(out["parts"]) == 2
    assert ("not understood" in log, "a hook failed" in log) == (True, True)


def test_switched_off_it_only_names_the_files_to_read(drive: Drive, compiled: Compiled) -> None:
    script = "out.config = { instructions: ['mine.md'] }; await hooks.config(out.config)"
    out, record, log = drive("well", script, MDMEMORY_DISABLE="1")
    assert (out["hooks"], record, log) == (["config"], "", "")
    index = str(compiled.folder.parent / "notes/MEMORY.md")
    assert out["config"] == {"instructions": ["mine.md", index, "/own/MEMORY.md"]}


def test_of_two_plugins_for_a_folder_the_newer_one_speaks(drive: Drive) -> None:
    script = "const again = await plugin.server({ directory }); await message();"
    out, record, log = drive("well", f"{script} await again.dispose()")
    assert len(out["parts"]) == 2
    assert (record.count("start"), record.count("end"), log) == (2, 2, "")


CONFIG_HOOK = "out.config = {}; await hooks.config?.(out.config);"
PERSONAL = "personal.mjs"


def test_the_index_of_a_store_that_a_message_made_is_read_then(
    drive: Drive, compiled: Compiled
) -> None:
    script = f"{CONFIG_HOOK} out.first = [...out.config.instructions]; await message();"
    out, _, _ = drive("well", f"{script} await message(); await hooks.dispose()", PERSONAL)
    static = [str(compiled.folder.parent / "notes/MEMORY.md"), "/own/MEMORY.md"]
    assert out["first"] == [*static, "/me/MEMORY.md"]
    assert out["config"]["instructions"] == [*static, "/me/MEMORY.md", "/app/MEMORY.md"]


@pytest.mark.parametrize(
    ("file", "text", "starts"),
    [
        (".opencode/plugin/mdmemory.ts", "", 1),
        ("below/.opencode/plugins/mdmemory.ts", "", 0),
        (".opencode/opencode.json", "// mdmemory: 0.1.0 0123456789abcdef\n{}", 1),
        ("below/.opencode/opencode.json", "{}", 2),  # it is somebody else's
    ],
)
def test_where_a_project_has_its_own_the_persons_returns_no_hooks(
    drive: Drive, tmp_path: Path, file: str, text: str, starts: int
) -> None:
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_text(text, "utf-8")
    script = """
    const { dirname } = await import('node:path')
    out.here = await plugin.server({ directory, worktree: dirname(directory) })
    await out.here.dispose?.(); await hooks.dispose?.()
    """
    out, record, log = drive("well", script, PERSONAL)
    assert ("tool" in out["here"], out["here"] == {}) == (starts == 2, starts < 2)
    assert (record.count("start"), log) == (starts, "")
    assert "tool" in drive("well", script).out["here"], "the project's own goes on"


@pytest.mark.parametrize("way", ["gone", "no launcher", "switched off"])
def test_without_the_program_the_plugin_is_silent(
    drive: Drive, compiled: Compiled, way: str
) -> None:
    module = PERSONAL
    if way == "no launcher":
        text = (compiled.folder / PERSONAL).read_text("utf-8")
        module = "missing.mjs"
        (compiled.folder / module).write_text(text.replace(sys.executable, "/gone/launch"), "utf-8")
    more = {"MDMEMORY_DISABLE": "1"} if way == "switched off" else {}
    out, record, log = drive("gone", "", module, **more)
    assert (out["hooks"], log) == ([], "")
    assert record.count("start") <= 1


def test_one_protocol_is_told_where_a_person_listed_a_projects(drive: Drive) -> None:
    script = "out.config = { instructions: ['.opencode/memory/PROTOCOL.md'] };"
    script += "await hooks.config(out.config); await hooks.dispose()"
    out, _, _ = drive("well", script, PERSONAL)
    assert out["config"]["instructions"] == [".opencode/memory/PROTOCOL.md", "/me/MEMORY.md"]
