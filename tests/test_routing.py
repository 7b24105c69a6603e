"""Whatever a session, an assistant or an import says goes to the store that it belongs to."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pace import HUNG
from projects import Git, Patch
from scripted import Scripted

from mdmemory import Memory
from mdmemory.capture.extracted import Caller
from mdmemory.capture.fact import FactCall
from mdmemory.capture.notice import notice_wishes
from mdmemory.capture.quote_proof import WHY
from mdmemory.capture.store_fact import Stored
from mdmemory.errors import NoStore
from mdmemory.note.note import read_fields
from mdmemory.tools.table import call_tool
from mdmemory.transcripts.turns import Turn

WORK = "Remember that deploys go out on Tuesdays only."
NAME = "Remember that my name is Ada Okafor."
TABS = "Remember that in all my projects I indent with tabs."
FACTS = (
    "Deploys go out on Tuesdays only.", "The user's name is Ada Okafor.",
    "In all my projects I indent with tabs.",
)  # fmt: skip
MAKEFILES = "Makefiles are indented with tabs, never spaces."
SAID = f"{WORK}\n\n{NAME}\n\n{TABS}"


@pytest.fixture
def home(empty_home: Path) -> Path:
    return empty_home / "mdmemory"


def notes(store: Path) -> list[str]:
    return sorted(each.name for each in store.glob("[!A-Z_]*.md"))


def transcript(*said: str, session: str = "ses_1") -> bytes:
    messages = [
        {"info": {"id": f"msg_{at}", "role": "user"}, "parts": [{"type": "text", "text": text}]}
        for at, text in enumerate(said, 1)
    ]
    return json.dumps({"info": {"id": session}, "messages": messages}).encode()


def keep(layers: Memory, *facts: str, session: str = "ses_1", turn: str = "msg_1") -> list[Stored]:
    """Keep what a message asks for, and end its turn without a call."""
    wishes = facts or notice_wishes(SAID).wishes
    layers.keep_wishes(wishes, session=session, turn=turn, message=SAID)
    return layers.settle_wishes(session)


def put(layers: Memory, fact: str, said: str = "", type: str = "") -> Stored:
    """What an assistant stores by a call, on these words of the user."""
    caller = Caller("ses_1", (Turn("msg_1", "user", said),) if said else ())
    return layers.store(FactCall(fact, type, quote=said), caller)


def extract(layers: Memory) -> None:
    layers.extract(transcript(WORK, NAME, TABS))


def summary(layers: Memory) -> None:
    turns = [Turn(str(n), "user", text) for n, text in enumerate((WORK, NAME, TABS))]
    types = ("feedback", "user", "feedback")
    lines = (f"- [{type}] {fact}" for type, fact in zip(types, FACTS, strict=True))
    layers.summary("ses_1", "\n".join(("Memory candidates:", *lines)), turns)


def promote(layers: Memory) -> None:
    said = [
        "Deploys go out on Tuesdays only, the on-call team is complete then.",
        "My name is Ada Okafor, and I decided to indent with tabs in all my projects.",
        "I agreed to call myself Ada everywhere from now on.",
    ]
    with layers.main.session("ses_1") as own:
        for text in said:
            own.message("assistant", f"[Decision: {text}]", now=layers.main.now())
    layers.promote("ses_1", [Turn(str(n), "user", text) for n, text in enumerate(said)])


def store(layers: Memory) -> None:
    for fact, said, type in zip(FACTS, (WORK, NAME, TABS), ("", "user", ""), strict=True):
        put(layers, fact, said, type)


def import_(layers: Memory) -> None:
    path = layers.start / "facts.md"
    path.write_text("".join(f"- {fact}\n" for fact in FACTS), encoding="utf-8")
    layers.import_from(path)
    path.unlink()


FEEDERS = (keep, extract, summary, promote, store, import_)


@pytest.mark.parametrize("feed", FEEDERS)
def test_no_feeder_brings_what_is_personal_into_a_shared_store(
    repository: Path, home: Path, git: Git, feed: Callable[[Memory], None]
) -> None:
    Memory.init(repository)
    feed(Memory.around(repository))
    shared, own = notes(repository / "notes/memory"), notes(home / "me")
    assert len(shared) == 1
    assert "tuesdays" in shared[0]
    assert own
    told = git(repository, "log", "--all", "-p") + git(repository, "status", "--porcelain", "-uall")
    assert "Ada" not in told
    assert "tabs" not in told, feed


def test_a_fact_about_the_user_replaces_no_shared_note(repository: Path, home: Path) -> None:
    memory = Memory.init(repository)[0]
    old = memory.add("tabs", type="feedback", description="Go is indented with tabs").file
    quote = "I indent Go with spaces now"
    call = FactCall(quote, "user", quote=quote, replaces=(old,))
    done = Memory.around(repository).store(call, Caller("ses_1", (Turn("msg_1", "user", quote),)))
    assert (done.superseded, done.left) == ((), ((old, WHY["other_store"]),))
    assert (notes(repository / "notes/memory"), notes(home / "me")) == ([old], [done.file[3:]])


def test_facts_of_both_layers_are_a_commit_in_each(repository: Path, home: Path, git: Git) -> None:
    Memory.init(repository, home=True)
    layers = Memory.around(repository)
    put(layers, "The user speaks Danish.", "I speak Danish.", type="user")
    before = {name: git(home / name, "rev-parse", "HEAD") for name in ("project", "me")}
    extract(layers)
    assert {name: git(home / name, "rev-parse", "HEAD^") for name in before} == before


def test_the_files_of_both_layers_are_told_apart(repository: Path, home: Path) -> None:
    Memory.init(repository, home=True)
    files = [each.file for each in keep(Memory.around(repository))]
    mine = [file for file in files if file.startswith("me/")]
    assert (len(files), len(mine)) == (3, 2)
    assert sorted(file.removeprefix("me/") for file in mine) == notes(home / "me")


def test_a_session_that_is_read_later_stores_nothing_again(repository: Path, home: Path) -> None:
    keep(Memory.around(repository))
    before = notes(home / "me"), notes(home / "project")
    done = Memory.around(repository).extract(transcript(SAID))
    assert (done.added, done.reinforced) == ([], [])
    assert (notes(home / "me"), notes(home / "project")) == before


def test_what_the_persons_store_says_is_not_stored_again_for_a_project(repository: Path) -> None:
    layers = Memory.around(repository)
    layers.add(MAKEFILES, everywhere=True)
    (done,) = keep(layers, MAKEFILES)
    assert (done.existed, done.commit) == (True, None)
    stored = put(layers, MAKEFILES, type="feedback")
    assert (stored.existed, stored.file[:3]) == (True, "me/")


def test_a_shared_store_has_it_since_others_do_not_see_the_persons(repository: Path) -> None:
    Memory.init(repository)
    layers = Memory.around(repository)
    layers.add(MAKEFILES, everywhere=True)
    keep(layers, MAKEFILES)
    assert len(notes(repository / "notes/memory")) == 1


@pytest.mark.parametrize("why", ["no repository", "listed", "CI"])
def test_a_fact_of_a_folder_without_a_store_says_where_it_belongs(
    empty_home: Path, repository: Path, home: Path, monkeypatch: Patch, why: str
) -> None:
    folder = empty_home / "letters" if why == "no repository" else repository
    folder.mkdir(exist_ok=True)
    Memory.around(folder).for_type("user")
    if why == "listed":
        monkeypatch.setenv("MDMEMORY_PROJECTS", "listed")
    if why == "CI":
        monkeypatch.setenv("CI", "1")
    layers = Memory.around(folder)
    keep(layers, "deploys go out on Tuesdays only", "my name is Ada Okafor")
    put(layers, "The letters are printed on paper of 90 grams.")
    named = {note.file: read_fields(note.note)["metadata"] for note in layers.main.notes()}
    place = "~/letters" if why == "no repository" else str(repository)
    about = {file: head.get("project") for file, head in named.items()}  # type: ignore[attr-defined]
    assert about.pop("user-my-name-is-ada-okafor.md") is None
    assert [*about.values()] == [place, place]
    file = next(iter(about))
    layers.main.edit(file, body="They are printed on other paper.")
    assert f"\n  project: {place}\n" in layers.main.note(file).note.text
    assert [name for name in os.listdir(home) if not name.startswith(".")] == ["me"]


def test_under_ci_no_store_is_made(repository: Path, home: Path, monkeypatch: Patch) -> None:
    monkeypatch.setenv("CI", "true")
    layers = Memory.around(repository)
    assert keep(layers) == []
    with pytest.raises(NoStore, match="CI is set"):
        Memory.init(repository, home=True)
    with pytest.raises(NoStore, match="CI is set"):
        put(layers, "The user's name is Ada Okafor.", type="user")
    assert not home.exists()


def test_where_the_project_is_uncertain_facts_wait_until_it_is_known(
    repository: Path, home: Path, tmp_path: Path
) -> None:
    Memory.init(repository, home=True)
    copy = shutil.copytree(repository, tmp_path / "copy")
    layers = Memory.around(copy)
    layers.for_type("user")
    assert keep(layers) == []
    assert notes(home / "project") == []
    Memory.init(copy, home=True)
    assert len(Memory.around(copy).settle_wishes("ses_1")) == 3
    assert (len(notes(home / "copy")), len(notes(home / "me"))) == (1, 2)


def test_a_personal_wish_that_waited_at_a_shared_store_becomes_the_persons(
    repository: Path, home: Path
) -> None:
    Memory.init(repository)
    Memory.around(repository).keep_wishes(notice_wishes(SAID).wishes, session="s", turn="1")
    Memory.around(repository).settle_wishes("s", "2")
    assert len(notes(repository / "notes/memory")) == 1
    assert len(notes(home / "me")) >= 1
    assert Memory.around(repository).main.kept_wishes() == []


def test_two_that_keep_the_first_fact_at_once_make_one_store(repository: Path, home: Path) -> None:
    code = (
        "import sys; from mdmemory import Memory\n"
        "n = sys.argv[1]; words = ['one', 'two', 'three'][int(n)]\n"
        "layers = Memory.around('.'); layers.keep_wishes([f'the port of {words} is 800{n}', "
        "f'my number is {words} and no other'], session=f's{n}', turn='t')\n"
        "layers.begin_for_wishes(); layers.settle_wishes(f's{n}')"
    )
    racing = [
        subprocess.Popen([sys.executable, "-P", "-c", code, str(n)], cwd=repository)
        for n in range(3)
    ]
    assert [process.wait(HUNG) for process in racing] == [0, 0, 0]
    made = [name for name in sorted(os.listdir(home)) if not name.startswith(".")]
    assert made in (["project"], ["me", "project"])
    assert len([*notes(home / "project"), *notes(home / "me")]) >= 3


def test_a_model_sees_the_notes_of_both_layers_and_each_candidate_goes_to_its_own(
    repository: Path, home: Path
) -> None:
    layers = Memory.around(repository)
    keep(layers, "my name is Ada Okafor", session="ses_0")
    (mine,) = notes(home / "me")
    said = (
        "We deploy on Tuesdays only, the on-call team is complete then.",
        "By the way, I speak Danish and German.",
        "As I said, my name is Ada Okafor.",
    )

    def fact(type: str, quote: str) -> dict[str, object]:
        return {
            "action": "add", "type": type, "kind": "", "title": "", "fact": quote, "why": "",
            "quote": quote, "replaces": [],
        }  # fmt: skip

    again = {**fact("", said[2]), "action": "reinforce", "replaces": [f"me/{mine}"]}
    model = Scripted({"candidates": [fact("project", said[0]), fact("user", said[1]), again]})
    done = layers.extract(transcript(*said), model=model)
    shown = [each["file"] for each in json.loads(model.asked[0].user)["notes"]]
    assert shown in ([mine], [f"me/{mine}"])
    assert len(notes(home / "project")) == 1, done
    assert len(notes(home / "me")) == 2, done
    assert layers.extract(transcript(*said), model=Scripted()).added == [], "it was read"
    assert Memory.around(repository).extract(transcript(*said), model=Scripted()).added == []


def test_the_summary_of_a_host_is_told_the_notes_of_both_layers(repository: Path) -> None:
    layers = Memory.around(repository)
    keep(layers)
    request, shown = layers.summary_request()
    assert len(shown) == 3
    assert sum(file.startswith("me/") for file in shown) == 2
    assert "Ada Okafor" in request


def test_a_tool_names_the_store_that_it_made_and_each_layer(repository: Path, home: Path) -> None:
    layers = Memory.around(repository)
    first = call_tool(layers, "memory_store", {"fact": "The staging host is called beta."})
    assert f"first note in {home / 'project'}" in first.text
    second = call_tool(layers, "memory_store", {"fact": "The proxy of the shop is called gamma."})
    assert "first note" not in second.text
    call_tool(layers, "memory_store", {"fact": "The user speaks Danish at home.", "type": "user"})
    (mine,) = notes(home / "me")
    assert call_tool(layers, "memory_get", {"file": f"me/{mine}"}).structured["layer"] == "user"
    assert len(notes(home / "project")) == 2
