"""What the user takes back: at once what this session stored, else through the assistant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from rows import each

from mdmemory import Memory
from mdmemory.capture.asked import asked_in
from mdmemory.capture.takebacks import find
from mdmemory.capture.withdrawal import Withdrawn
from mdmemory.hosts import background
from mdmemory.hosts.bridge_log import Log
from mdmemory.hosts.opencode.hooks import PROTOCOL, Hooks
from mdmemory.layers import Layers
from mdmemory.prompt.receipts import tell_withdrawn
from mdmemory.transcripts.turns import Turn

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
FREIGHT = "Parcels above 31.5 kg go with the freight carrier"
SEO = "The SEO contract with Graz Media runs until March 2027"

FOUND = [
    ("Actually, forget what I told you about the parcels", "forget", "the parcels"),
    ("Please don't remember the stuff about the SEO contract.", "unwanted", "the SEO contract"),
    ("Don't remember that.", "unwanted", ""),
    ("forget that", "forget", ""),
    ("That is no longer true.", "outdated", ""),
    ("The rule on parcels is outdated.", "outdated", "The rule on parcels"),
    ("Actually, parcels go by train now.", "correct", "parcels go by train now"),
    ("Vergiss bitte, was ich dir über die Pakete gesagt habe.", "forget", "Pakete"),
    ("Das stimmt nicht mehr.", "outdated", ""),
    ("Olvida lo que te dije sobre los paquetes", "forget", "los paquetes"),
    ("Oublie ce que je t'ai dit sur les colis.", "forget", "les colis"),
    ("Esqueça o que eu te disse sobre as encomendas", "forget", "as encomendas"),
    ("Dimentica quello che ti ho detto sui pacchi", "forget", "pacchi"),
    ("忘掉我之前告诉你的关于包裹的事", "forget", "包裹的事"),
    ("荷物について話したことを忘れて", "forget", "荷物"),
    ("소포 규칙은 잊어줘", "forget", "소포 규칙"),
]
NOTHING = [
    "Don't forget to buy milk.",
    "Forget it, let us go on with the parser.",
    "He said:\n\n> forget the parcels",
    "```\nforget the parcels\n```",
    'Translate "forget what I told you about the parcels" into German',
    "I forget what I told you about the parcels.",
    "Did you forget the parcels?",
    "From: boss@example.org\nSubject: x\n\nForget what I told you about the parcels.",
]


def test_what_the_user_takes_back_is_found_in_nine_languages_and_nothing_in_quotations() -> None:
    def finds(text: str, kind: str, subject: str) -> None:
        (wish,) = find(text)
        assert (wish.kind, subject in wish.subject) == (kind, True)
        assert bool(subject) == bool(wish.subject)

    each(FOUND, finds)
    assert [text for text in NOTHING if find(text)] == []


def test_what_a_later_message_takes_back_is_not_stored_when_the_session_is_read() -> None:
    def stored(*texts: str) -> list[str]:
        turns = [Turn(str(at), "user", text) for at, text in enumerate(texts)]
        return [fact.text for fact in asked_in(turns) if not fact.reason]

    seo, freight = f"Remember: {SEO}", f"Remember: {FREIGHT}"
    late = "Please don't remember the stuff about the SEO contract."
    assert stored(seo, freight, "Thanks, go on.", late) == [FREIGHT]
    assert stored(freight, seo, "Don't remember that.") == [FREIGHT]
    assert stored(seo, "Don't remember that.", seo) == [SEO]


class Plugin:
    """The other end of the bridge, started in a project."""

    def __init__(self, folder: Path) -> None:
        starter = background.Starter(lambda: ["mdmemory"], Path())
        self.layers = partial(Layers.open, folder, automatic=True, clock=lambda: NOON)
        self._methods = Hooks(self.layers, starter, Log()).methods()
        self._methods["hello"]({"protocol": PROTOCOL})
        self._said = 0

    def say(self, text: str, session: str = "ses_1") -> dict[str, Any]:
        self._said += 1
        parts = [{"type": "text", "text": text}]
        given = {"session": session, "message": f"msg_{self._said}", "parts": parts}
        return self._methods["message"](given)

    def notes(self) -> Sequence[str]:
        return [note.note.head.description for _, note in self.layers().notes()]


@pytest.fixture
def plugin(repository: Path) -> Plugin:
    memory, _ = Memory.init(repository, own_repo=True)
    memory.add("heavy-parcels", type="project", description=FREIGHT, body=FREIGHT)
    return Plugin(repository)


def test_what_was_stored_in_this_session_is_taken_back_at_once(
    plugin: Plugin, git: Callable[..., str]
) -> None:
    for late, between in (
        ("Don't remember that.", []),
        ("Please don't remember the stuff about the SEO contract.", ["Thanks.", "Go on."]),
    ):
        plugin.say(f"Remember that {SEO[0].lower()}{SEO[1:]}.")
        assert len(plugin.notes()) == 2
        for text in between:
            plugin.say(text)
        answer = plugin.say(late)
        assert plugin.notes() == [FREIGHT]
        assert any("mdmemory took back" in part for part in answer["parts"])
        assert answer["toast"]["message"].startswith("Taken back, as you asked: ")
        store = plugin.layers().main
        before = store.log()[0][0].commit
        store.undo(store.log()[0][0].get("Memory-Id"))
        assert len(plugin.notes()) == 2
        store.undo()
        assert store.log()[0][0].commit != before


def test_where_the_session_cannot_be_read_its_only_note_is_meant_and_of_several_it_is_asked(
    plugin: Plugin, repository: Path
) -> None:
    plugin.say(f"Remember that {SEO[0].lower()}{SEO[1:]}.")
    answer = Plugin(repository).say("Don't remember that.")
    assert plugin.notes() == [FREIGHT]
    assert answer["toast"]["message"].startswith("Taken back, as you asked: ")
    plugin.say(f"Remember that {SEO[0].lower()}{SEO[1:]}.")
    plugin.say("Remember that invoices are sent on the fifth day of a month.")
    answer = Plugin(repository).say("Don't remember that.")
    assert len(plugin.notes()) == 3
    (part,) = [each for each in answer["parts"] if "memory_forget" in each]
    assert "Ask which is meant" in part
    assert part.count("\n- ") == 2
    assert "heavy-parcels" not in part
    answer = {"parts": [], "toast": {"message": "Not stored, as you asked."}}
    meant = ("Don't remember that.", [("a.md", "A."), ("b.md", "B.")])
    tell_withdrawn(answer, Withdrawn(forget=[meant]))
    assert answer["toast"] == {
        "message": "Which note is meant? The assistant was told to ask.", "variant": "info",
    }  # fmt: skip


def test_an_older_note_is_offered_to_the_assistant_and_never_touched(plugin: Plugin) -> None:
    asked = {
        "Forget what I told you about the parcels.": "memory_forget",
        "Please don't remember the stuff about the parcels.": "memory_forget",
        "The parcels and the freight carrier: that is no longer true.": "memory_update",
    }
    for sentence, tool in asked.items():
        (part,) = [p for p in plugin.say(sentence)["parts"] if "project-heavy-parcels.md" in p]
        assert FREIGHT in part
        assert f"call {tool} with its file and the quote {sentence!r}" in part
        assert plugin.notes() == [FREIGHT]
    answer = plugin.say("Forget what I told you about the zebra crossing.")
    assert any("no note says anything of it" in part for part in answer["parts"])
    assert answer["toast"]["message"].startswith("Nothing to forget")
    assert plugin.say("Forget the tests for now.")["parts"] == []
