"""However a secret comes in, it is in no file, name, commit or database afterwards."""

import json
import random
import string
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pace import HUNG

from mdmemory.capture.extracted import Caller
from mdmemory.capture.fact import FactCall
from mdmemory.errors import MdmemoryError
from mdmemory.hosts.background import Log
from mdmemory.hosts.opencode.hooks import Hooks
from mdmemory.layers import Layers
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


def test_a_transcript_with_secrets_leaves_none(project: Path, tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    path.write_bytes(transcript())
    Memory.open(project).extract(path.read_bytes())
    assert found_in(project) == []


def test_a_message_with_secrets_leaves_none_and_both_are_told_why(project: Path) -> None:
    def nothing(*_: object, **__: object) -> None:
        return None

    hooks = Hooks(partial(Layers.open, project, automatic=True), nothing, Log())  # type: ignore[arg-type]
    for at, text in enumerate(SAID):
        part = {"type": "text", "text": text}
        asked = {"session": "ses_1", "message": f"msg_{at}", "parts": [part]}
        told = json.dumps(hooks.methods()["message"](asked))
        assert WORD not in told
        assert TOKEN not in told
        if at:
            assert "password manager" in told, text
    assert found_in(project) == []


def test_an_import_with_secrets_leaves_none(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in (
        (f"wifi-password-{WORD}.md", "The printers stand on the second floor by the stairs.\n"),
        ("keys.md", f"- The shop's deploy job takes {TOKEN} from Jonas\n- password: {WORD}\n"),
    ):
        (folder / name).write_text(text, encoding="utf-8")
    memory = Memory.open(project)
    for path in sorted(folder.iterdir()):
        memory.import_from(path)
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
