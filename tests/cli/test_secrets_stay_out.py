"""However a secret comes in, it is in no file, name, commit or database afterwards."""

import json
import os
import random
import re
import stat
import string
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from pace import HUNG
from stores import BeginStore

from mdmemory.capture.extracted import Caller
from mdmemory.capture.fact import FactCall
from mdmemory.errors import MdmemoryError
from mdmemory.hosts.background import Log, Starter
from mdmemory.hosts.opencode.hooks import Hooks
from mdmemory.memory import Memory

NOISE = random.Random(11)
TOKEN = "gh" + "p_" + "".join(NOISE.choices(string.ascii_letters + string.digits, k=36))
WORD = "kestrel" + "".join(NOISE.choices(string.digits, k=4)) + "!x"
SAID = (
    f"Remember: the staging server takes {TOKEN} from the deploy job of the shop.",
    f"Remember that my API key is {TOKEN}.",
    f"Remember that the wifi password at the office is {WORD}.",
    f"Merk dir, dass das Passwort für den Testserver {WORD} lautet.",
    f"记住：数据库密码是{WORD}。",
    f"Recuerda que la contraseña del servidor es {WORD}.",
)


def found_in(root: Path) -> list[str]:
    """Where the secrets stand: names and bytes of files, and all that git has."""
    words = ("git", "cat-file", "--batch-all-objects", "--batch")
    objects = subprocess.run(words, cwd=root, check=True, capture_output=True, timeout=HUNG).stdout
    files = [path for path in root.rglob("*") if path.is_file()]
    # a name is in small letters, with hyphens for what no name may have
    told = {secret: (secret.encode(), secret.lower().encode()) for secret in (TOKEN, WORD)}
    told[WORD] += (WORD.replace("!", "-").encode(),)
    places = [("git", objects)] + [(str(path), str(path).encode()) for path in files]
    places += [(str(path), path.read_bytes()) for path in files]
    return [
        place for place, data in places
        if any(form in data for forms in told.values() for form in forms)
    ]  # fmt: skip


def transcript() -> bytes:
    messages = [
        {"info": {"id": f"msg_{at}", "role": "user"}, "parts": [{"type": "text", "text": text}]}
        for at, text in enumerate(SAID)
    ]
    return json.dumps({"info": {"id": "ses_1"}, "messages": messages}).encode()


def test_a_transcript_with_secrets_leaves_none(project: Path) -> None:
    Memory.open(project).extract(transcript())
    assert found_in(project) == []


def test_a_message_with_secrets_leaves_none_and_both_are_told_why(project: Path) -> None:
    start = Starter(lambda: ["mdmemory"], project)
    hooks = Hooks(partial(Memory.around, project, automatic=True), start, Log())
    for at, text in enumerate(SAID):
        part = {"type": "text", "text": text}
        asked = {"session": "ses_1", "message": f"msg_{at}", "parts": [part]}
        told = json.dumps(hooks.methods()["message"](asked))
        assert [secret for secret in (WORD, TOKEN) if secret in told] == []
        assert not at or "password manager" in told, text
    assert found_in(project) == []


def test_an_import_with_secrets_leaves_none(project: Path, tmp_path: Path) -> None:
    for name, text in (
        ("keys.md", f"- The shop's deploy job takes {TOKEN} from Jonas\n- password: {WORD}\n"),
        (f"wifi-password-{WORD}.md", "The printers stand on the second floor by the stairs.\n"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
        Memory.open(project).import_from(tmp_path / name)
    assert found_in(project) == []


def test_what_an_assistant_stores_or_a_person_adds_holds_none(project: Path) -> None:
    memory = Memory.open(project)
    store = partial(memory.store, caller=Caller())
    store(FactCall(f"The shop's deploy job runs at night with {TOKEN} on Mondays", title=TOKEN))
    tries: tuple[Callable[[], object], ...] = (
        lambda: store(FactCall(f"My API key is {TOKEN}")),
        lambda: store(FactCall("The office wifi is fast", title=f"wifi password {WORD}")),
        lambda: store(FactCall("The shop opens at nine", quote=f"my PIN is {WORD}")),
        lambda: memory.add(TOKEN, type="user", description="A name", body="Text."),
        lambda: memory.add(TOKEN.lower(), type="user", description=f"Is {TOKEN}", body="Text."),
        lambda: memory.add("a-b", type="user", description="Words", body=f"the PIN is {WORD}"),
        lambda: memory.edit(memory.notes()[0].file, body=f"The wifi password is {WORD}"),
    )
    told = []
    for attempt in tries:
        try:
            attempt()
        except MdmemoryError as refused:
            told += [refused.message, refused.hint]
    assert told
    assert TOKEN.lower() not in " ".join(told).lower()
    assert found_in(project) == []


# --verbose and MDMEMORY_DEBUG say what is done, and nothing of what the notes say.

TOLD = "The launch code word is heron"
LINE = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z mdmemory\[\d+\] "

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(begin_store: BeginStore, repository: Path) -> Run:
    begin_store()

    def step(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-P", "-m", "mdmemory", *words], cwd=repository,
            env={**os.environ, **variables}, capture_output=True, text=True, timeout=HUNG,
        )  # fmt: skip

    return step


ADD = ("add", "secret-bird", "--type", "feedback", "--description", TOLD, "Body of the bird.")


def test_verbose_names_git_commands_and_files_on_stderr_alone(run: Run, repository: Path) -> None:
    done = run("--json", *ADD, "--verbose")
    assert done.returncode == 0
    assert json.loads(done.stdout)["name"] == "secret-bird"
    lines = done.stderr.splitlines()
    assert all(re.match(LINE, line) for line in lines)
    assert any(re.search(r"git update-ref: \d+ ms, exit 0$", line) for line in lines)
    written = repository / "notes/memory/feedback-secret-bird.md"
    assert any(line.endswith(f"{written}: written") for line in lines)


@pytest.mark.slow
def test_no_word_of_a_note_and_no_secret_is_logged(run: Run) -> None:
    done = run("--verbose", *ADD), run("compact", "--verbose"), run("search", TOLD, "--verbose")
    for each in done:
        assert each.returncode == 0
        assert not {*TOLD.split()[-4:], "Body"} & {*re.findall(r"\w+", each.stderr)}


@pytest.mark.slow
def test_a_file_gets_the_lines_of_every_process_and_only_its_owner_reads_it(
    run: Run, tmp_path: Path
) -> None:
    log = tmp_path / "debug.log"
    for words in (ADD, ("list",), ("log",)):
        assert run(*words, MDMEMORY_DEBUG=str(log)).stderr == ""
    lines = log.read_text("utf-8").splitlines()
    assert len({line.split()[1] for line in lines}) >= 2
    assert all(re.match(LINE, line) for line in lines)
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


@pytest.mark.slow
def test_a_log_that_cannot_be_written_stops_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for place in (tmp_path / "link", tmp_path, tmp_path / "gone/debug.log"):
        done = run("list", MDMEMORY_DEBUG=str(place))
        assert (done.returncode, done.stderr.count("\n")) == (0, 1)
        assert "MDMEMORY_DEBUG" in done.stderr
    assert not (tmp_path / "elsewhere").exists()


def test_nobody_who_does_not_ask_loads_logging(run: Run, repository: Path) -> None:
    code = (
        "import sys; from mdmemory.cli import main; main(['list']); print('logging' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=repository, capture_output=True, text=True,
        timeout=HUNG,
    )  # fmt: skip
    assert done.stdout.endswith("False\n")
