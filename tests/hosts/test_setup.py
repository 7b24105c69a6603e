"""`mdmemory setup` connects a person's clients once, and takes out exactly what it put in."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pace import HUNG

from mdmemory.hosts import clients, launcher
from mdmemory.hosts.opencode.wiring import plugin_constants
from mdmemory.note.stamps import add_stamp, drop_stamp

Say = Callable[..., tuple[int, str]]
PLUGIN = ".config/opencode/plugin/mdmemory.ts"


@pytest.fixture
def wired(empty_home: Path, say: Say) -> Path:
    """A home that OpenCode is set up in."""
    say("opencode")
    return empty_home


def test_nothing_keeps_npm_from_the_persons_folder(wired: Path, say: Say) -> None:
    names = {path.name for path in (wired / ".config/opencode").iterdir()}
    assert names == {"plugin", "memory", "command", "skills"}
    say("--remove")
    assert "npm install" in say("opencode", "--dry-run")[1]


def test_what_is_written_names_no_version_of_the_program(wired: Path) -> None:
    assert plugin_constants((wired / PLUGIN).read_text("utf-8")) == {
        "COMMAND": [str(wired / ".config/mdmemory/launch")],
        "INSTRUCTIONS": ["../memory/PROTOCOL.md"],
    }


def test_what_a_person_edited_stays(wired: Path, say: Say) -> None:
    command = wired / ".config/opencode/command/remember.md"
    mine = command.read_bytes() + b"Mine now.\n"
    command.write_bytes(mine)
    for words in ("opencode", "--remove"):
        assert f"Left {command}" in say(words)[1]
    assert command.read_bytes() == mine


def test_the_folders_that_an_earlier_version_made_go_too(wired: Path, say: Say) -> None:
    record = wired / ".local/state/mdmemory/wiring.json"
    made = [each for each in json.loads(record.read_text())["made"] if Path(each).is_dir()]
    record.unlink()
    record.with_name("opencode-folders.json").write_text(json.dumps(made))
    assert (say("--remove")[0], [*wired.iterdir()]) == (0, [])


def test_without_a_client_one_has_to_be_named(
    empty_home: Path, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    code, said = say()
    assert (code, "No client" in said, "`mdmemory setup opencode`" in said) == (1, True, True)
    assert [*empty_home.iterdir()] == []


def test_an_unknown_client_is_one_sentence(empty_home: Path, say: Say) -> None:
    told = "mdmemory: There is no client 'emacs' that mdmemory knows. Known: opencode, claude, "
    assert say("opencode", "emacs") == (2, f"{told}codex, gemini, cursor, vscode.\n")
    assert [*empty_home.iterdir()] == []


def test_a_script_hears_which_clients_and_what_was_done(say: Say) -> None:
    answer = json.loads(say("opencode", "--json")[1])
    assert answer["clients"] == ["opencode"]
    assert any("launch" in sentence for sentence in answer["said"])


def start(*words: str) -> subprocess.CompletedProcess[str]:
    how = {"capture_output": True, "text": True, "timeout": HUNG, "check": False}
    return subprocess.run([launcher.launcher_place(), *words], **how)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A launcher of a script that prints its words."""
    text, place = "import sys\nprint(sys.argv[1:])\n", launcher.launcher_place()
    path = program(tmp_path / "the program's place/mdmemory", f"#!{sys.executable}\n{text}")
    program(place, launcher.launcher_text(path).decode())
    return path


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(0o755)
    return path


def launched() -> str:
    return launcher.launcher_place().read_text("utf-8")


@pytest.mark.parametrize("gone", ["program", "python", "right"])
def test_the_launcher_hands_on_its_words_and_ends_silently_where_the_program_is_gone(
    script: Path, gone: str
) -> None:
    assert start("bridge", "two words").stdout == "['bridge', 'two words']\n"
    if gone == "program":
        script.unlink()
    elif gone == "python":
        script.write_text("#!/gone/bin/python3 -P\n", "utf-8")
    else:
        script.chmod(0o644)
    done = start("bridge")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("code", [1, 2, 127])
def test_a_hook_never_fails_a_turn_whatever_becomes_of_the_program(script: Path, code: int) -> None:
    script.write_text(f"#!{sys.executable}\nraise SystemExit({code})\n", "utf-8")
    assert (start("hook", "gemini").returncode, start("mcp").returncode) == (0, code)


def test_an_update_of_the_program_changes_nothing_for_the_clients(
    empty_home: Path, tmp_path: Path, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside, link = Path(sys.executable).with_name("mdmemory"), tmp_path / "bin/mdmemory"
    link.parent.mkdir()
    link.symlink_to(beside)
    monkeypatch.setenv("PATH", f"{link.parent}{os.pathsep}{os.environ['PATH']}")
    say("opencode")
    assert f"program={link}\n" in launched(), "the stable name"
    plugin = (empty_home / PLUGIN).read_bytes()
    monkeypatch.setenv("PATH", "/nowhere")
    say("opencode")
    assert f"program={beside}\n" in launched()
    assert (empty_home / PLUGIN).read_bytes() == plugin


def test_another_program_is_not_started(
    tmp_path: Path, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = program(tmp_path / "mdmemory", "#!/bin/sh\necho stolen\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    say("opencode")
    assert str(other) not in launched()


def test_a_file_of_somebody_else_in_its_place_stays(say: Say) -> None:
    mine = "#!/bin/sh\necho mine\n"
    program(launcher.launcher_place(), mine)
    code, said = say("opencode")
    assert (code, "is not a file of mdmemory" in said) == (1, True), said
    assert say("--remove") == (0, "Nothing to remove.\n")
    assert launched() == mine


def test_doctor_names_what_setup_would_write_anew(empty_home: Path, say: Say) -> None:
    def found() -> list[str]:
        return [*clients.client_findings(os.environ, empty_home)]

    assert found() == []
    say("opencode")
    assert found() == []
    launcher.launcher_place().write_bytes(launcher.launcher_text(Path("/gone/mdmemory")))
    (said,) = found()
    assert said.endswith("does not start this mdmemory. Run `mdmemory setup opencode` again.")
    say("opencode")
    plugin = empty_home / PLUGIN
    plugin.write_bytes(add_stamp(drop_stamp(plugin.read_text("utf-8")), PLUGIN, "0.0.9"))
    (said,) = found()
    assert "is of mdmemory 0.0.9" in said
    plugin.write_text(plugin.read_text("utf-8") + "// mine\n", "utf-8")
    (said,) = found()
    assert "was edited" in said
