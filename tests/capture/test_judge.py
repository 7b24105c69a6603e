"""What becomes of a candidate: the session and the notes decide, never the model."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import replace

from mdmemory.capture.candidates import MAX_BODIES, Candidate, question, redacted
from mdmemory.capture.claims import invented
from mdmemory.capture.judge import judge
from mdmemory.capture.scene import Judged, Scene
from mdmemory.files import digest
from mdmemory.note.editing import compose
from mdmemory.note.note import parse
from mdmemory.search.near import nearest
from mdmemory.store.store import StoredNote
from mdmemory.transcripts.turns import Turn

TODAY = "2026-06-20"
TURNS = (
    Turn("m1", "user", "We always deploy on Tuesdays, the on-call team is complete then."),
    Turn("m2", "assistant", "Noted. The pipeline needs Docker 27 on every runner."),
    Turn("m3", "user", "The port of the proxy is 8443 now, not 8080."),
)
BLANK = Candidate("add", "", "", "", "", "", "", "")
DEPLOY = replace(
    BLANK, type="project", name="deploy-on-tuesdays", description="Deploys are on Tuesdays",
    body="Deploy on Tuesdays.\n\nWhy: the on-call team is complete then.",
    quote="We always deploy on Tuesdays",
)  # fmt: skip


def note(
    name: str, body: str, *, type: str = "project", kind: str = "", **metadata: str
) -> StoredNote:
    text = compose(
        name=name, type=type, description=body.split("\n")[0][:100], body=body, kind=kind,
        metadata=metadata,
    )  # fmt: skip
    file = f"{type}-{name}.md"
    return StoredNote(file, digest(text.encode()), parse(text, file))


PROXY = note("proxy", "The proxy listens on port 8080, see `proxy.toml`.\n\nWhy: 443 is taken.")
MOVED = replace(
    BLANK, action="update", type="project", file=PROXY.file, name="proxy",
    description="The proxy listens on port 8443, see `proxy.toml`.",
    body="The proxy listens on port 8443, see `proxy.toml`.\n\nWhy: 443 is taken.",
    quote="The port of the proxy is 8443 now, not 8080.", superseded=("8080",),
)  # fmt: skip


def scene(*notes: StoredNote, turns: tuple[Turn, ...] = TURNS, **more: Any) -> Scene:
    seen = {each.file: each.digest for each in notes}
    known = {"shown": seen, "opened": frozenset(seen), "gate": lambda text, type: (), **more}
    return Scene(turns, notes, "ses_1", TODAY, **known)


def fate(candidate: Candidate, *notes: StoredNote, **more: Any) -> tuple[str, tuple[str, ...]]:
    (judged,) = judge([candidate], scene(*notes, **more))
    return judged.outcome, judged.reasons


def dropped(reason: str) -> tuple[str, tuple[str, ...]]:
    return "dropped", (reason,)


# --- proof -------------------------------------------------------------------------------------


def test_a_fact_that_the_user_said_is_added_with_where_it_comes_from() -> None:
    (judged,) = judge([DEPLOY], scene())
    assert judged.outcome == "added"
    head = parse(judged.text or "", judged.file).head
    assert (head.source, head.session, head.turn) == ("extraction", "ses_1", "m1")
    assert (head.created, head.updated, head.problems) == (TODAY, TODAY, ())


@pytest.mark.parametrize(
    "quote", ["We never deploy on Tuesdays", "deploy", "", "We ... Docker 27 ... 8443", "8443"]
)
def test_a_quote_that_is_not_there_or_says_nothing_is_no_evidence(quote: str) -> None:
    assert fate(replace(DEPLOY, quote=quote)) == dropped("no_evidence")


def test_a_quote_may_differ_in_space_case_and_the_form_of_its_marks() -> None:
    assert fate(replace(DEPLOY, quote="“we always\n deploy on   tuesdays…”"))[0] == "added"


def test_a_claim_about_the_user_needs_the_users_words() -> None:
    said = {"description": "Runs Docker 27", "quote": "The pipeline needs Docker 27"}
    for type_ in ("user", "feedback"):
        assert fate(replace(DEPLOY, type=type_, **said)) == dropped("not_the_users_words")
    assert fate(replace(DEPLOY, **said)) == ("pending", ("assistant_said",))


def test_what_the_user_pasted_is_not_in_their_words() -> None:
    turns = (Turn("m1", "user", "Look:\n```\nAlways use yarn here.\n```\n> Never rebase main."),)
    for quote in ("Always use yarn here", "Never rebase main"):
        claim = replace(DEPLOY, description=quote, body=quote, quote=quote)
        assert fate(replace(claim, type="feedback"), turns=turns) == dropped("not_the_users_words")
        assert fate(claim, turns=turns) == ("pending", ("pasted",))


@pytest.mark.parametrize(
    ("texts", "quote"),
    [
        (("don't remember this: the client is a bank",), "the client is a bank"),
        (("The client is a bank.", "Don't remember that."), "The client is a bank."),
        (("不要记住我的生日是五月七号",), "我的生日是五月七号"),
    ],
)
def test_what_must_not_be_remembered_is_not(texts: tuple[str, ...], quote: str) -> None:
    turns = tuple(Turn(f"m{n}", "user", text) for n, text in enumerate(texts))
    claim = replace(DEPLOY, description=quote, body=quote, quote=quote)
    assert fate(claim, turns=turns) == dropped("negated")


def test_doubts_are_left_to_a_person() -> None:
    assert fate(replace(DEPLOY, description="Likes tea", body="Drinks tea.")) == (
        "pending", ("weak_evidence",),
    )  # fmt: skip
    assert fate(replace(DEPLOY, body="Deploy on Tuesdays at 14:30.")) == ("pending", ("invented",))
    turns = (Turn("m1", "user", "Should we deploy on Tuesdays?"),)
    assert fate(replace(DEPLOY, quote="we deploy on Tuesdays"), turns=turns) == (
        "pending", ("question",),
    )  # fmt: skip


def test_a_request_is_no_fact_about_the_work() -> None:
    turns = (Turn("m1", "user", "please deploy on Tuesdays from now on"),)
    claim = replace(DEPLOY, quote="please deploy on Tuesdays")
    assert fate(claim, turns=turns) == dropped("task")
    assert fate(replace(claim, type="feedback"), turns=turns)[0] == "added"


@pytest.mark.parametrize(
    "quote",
    [
        "please deploy on Tuesdays, the auditors are here on all of the other days",
        "please deploy on Tuesdays because the auditors are here on other days",
    ],
)
def test_an_order_with_a_fact_in_it_goes_on_to_the_second_question(quote: str) -> None:
    claim = replace(
        DEPLOY, quote=quote, description="Deploys on Tuesdays, the auditors are here on other days",
        body="Deploys on Tuesdays, the auditors are here on other days.",
    )  # fmt: skip
    assert fate(claim, turns=(Turn("m1", "user", quote),))[0] == "added"


# --- text --------------------------------------------------------------------------------------


def test_the_gate_has_its_say_on_description_body_and_the_users_own_words() -> None:
    def gate(text: str, type: str) -> tuple[str, ...]:
        return ("temporary",) if "right now" in text else ()

    for field in ("description", "body"):
        claim = replace(DEPLOY, **{field: "Deploys are on Tuesdays right now"})
        assert fate(claim, gate=gate) == dropped("temporary")
    turns = (Turn("m1", "user", "We always deploy on Tuesdays right now"),)
    claim = replace(DEPLOY, body="Deploy on Tuesdays.", quote=turns[0].text)
    assert fate(claim, turns=turns, gate=gate) == ("pending", ("temporary",))


def test_memory_secrets_and_broken_text_are_not_stored() -> None:
    block = "<mdmemory>We always deploy on Tuesdays</mdmemory>"
    assert fate(replace(DEPLOY, body=block)) == dropped("memory")
    token = "ghp_" + "a1B2" * 9
    assert fate(replace(DEPLOY, description=token)) == dropped("secret")
    (judged,) = judge([replace(DEPLOY, body=f"Deploy on Tuesdays with {token}")], scene())
    assert token not in (judged.text or "")
    assert fate(replace(DEPLOY, body="<<<<<<< ours\nDeploy")) == dropped("unfit")


def test_a_name_is_made_fit_and_free() -> None:
    taken = note("deploy-on-tuesdays", "Something else.")
    (judged,) = judge([replace(DEPLOY, name="project-Deploy on Tuesdays.md")], scene(taken))
    assert judged.file == "project-deploy-on-tuesdays-2.md"
    (judged,) = judge([replace(DEPLOY, name="!!!")], scene())
    assert judged.file == "project-deploys-tuesdays.md"


# --- what is there already ---------------------------------------------------------------------


def test_a_known_fact_is_reinforced_once_in_seven_days() -> None:
    old = note("deploys", "Deploys are on Tuesdays")
    (judged,) = judge([DEPLOY], scene(old))
    assert (judged.outcome, judged.file) == ("reinforced", old.file)
    fresh = StoredNote(old.file, "d", parse(judged.text or "", old.file))
    assert (fresh.note.head.reinforced, fresh.note.head.last_reinforced) == (1, TODAY)
    again = replace(BLANK, action="reinforce", file=old.file, quote="We always deploy on Tuesdays")
    assert fate(again, fresh) == dropped("known")


def test_the_same_pointer_is_the_same_reference() -> None:
    old = note("board", "The board: https://Boards.example.com/ops/", type="reference")
    turns = (Turn("m1", "user", "ops issues are tracked at https://boards.example.com/ops"),)
    claim = replace(
        DEPLOY, type="reference", description="Ops issues: https://boards.example.com/ops",
        body="Ops issues are at https://boards.example.com/ops.", quote=turns[0].text,
    )  # fmt: skip
    (judged,) = judge([claim], scene(old, turns=turns))
    assert (judged.outcome, judged.file) == ("reinforced", old.file)


@pytest.mark.parametrize(
    ("text", "is_same"),
    [
        ("Let's use Postgres 16 for the ledger service", True),
        ("Let's use Postgres 17 for the ledger service", False),
        ("Let's not use Postgres 16 for the ledger service", False),
        ("Let's use Postgres 16 for the mail service", False),
    ],
)
def test_a_decision_of_the_session_in_other_words_is_no_second_note(
    text: str, is_same: bool
) -> None:
    said = (Turn("m1", "user", text),)
    body = "Postgres 16 is used for the ledger service"
    there = note("ledger", body, kind="decision", session="ses_1")
    given = replace(BLANK, type="project", kind="decision", description=text, body=text, quote=text)
    (found,) = judge([given], scene(there, turns=said))
    assert (found.file == there.file) == is_same
    assert (found.outcome in ("added", "flagged")) != is_same


def test_two_candidates_of_one_fact_give_one_note() -> None:
    first, second = judge([DEPLOY, replace(DEPLOY, name="tuesdays")], scene())
    assert (first.outcome, second.outcome, second.reasons) == ("added", "dropped", ("known",))


def test_what_the_user_asked_for_in_the_same_turns_is_not_stored_twice() -> None:
    asked = note("deploys-tuesdays", "We always deploy on Tuesdays", type="feedback")
    more = {"asked": [(asked.file, asked.note.text)]}
    assert fate(DEPLOY, **more) == dropped("known")
    again = replace(BLANK, action="reinforce", file=asked.file, quote=DEPLOY.quote)
    assert fate(again, **more) == dropped("known")


@pytest.mark.parametrize("action", ["update", "reinforce", "flag"])
def test_a_note_that_the_model_did_not_see_as_it_is_now_is_left_alone(action: str) -> None:
    claim = replace(MOVED, action=action, superseded=())
    left = "pending" if action == "update" else "dropped"  # what the user corrected is not lost
    for why, notes, shown in (
        ("unknown_file", (), {}),
        ("unknown_file", (PROXY,), {}),
        ("note_changed", (PROXY,), {PROXY.file: "0" * 64}),
    ):
        outcome, reasons = fate(claim, *notes, shown=shown)
        assert (outcome, reasons[-1]) == (left, why)
    assert fate(claim, PROXY, held={PROXY.file}) == dropped("held")
    assert fate(replace(claim, file="../x.md"), PROXY) == dropped("unknown_file")
    assert fate(replace(claim, quote="Nobody ever said that here")) in (
        dropped("unknown_file"), dropped("no_evidence"),
    )  # fmt: skip


# --- updates -----------------------------------------------------------------------------------


def test_an_update_changes_only_the_lines_that_change() -> None:
    old = note("proxy", PROXY.note.body, source="manual", importance="high")
    (judged,) = judge([MOVED], scene(old))
    assert judged.outcome == "updated"
    before, after = (text.splitlines() for text in (old.note.text, judged.text or ""))
    changed = [line for line in after if line not in before]
    assert changed == [
        "description: The proxy listens on port 8443, see `proxy.toml`.",
        f"  updated: {TODAY}",
        "The proxy listens on port 8443, see `proxy.toml`.",
    ]


@pytest.mark.parametrize(
    ("change", "fate_of_it"),
    [
        ({"body": MOVED.body.replace("8443", "8444")}, ("pending", ("invented",))),
        (
            {"quote": "The pipeline needs Docker 27 on every runner"},
            ("pending", ("assistant_said", "weak_evidence")),
        ),
        ({"quote": "The proxy is said to be on 8443"}, ("pending", ("no_evidence",))),
        (
            {"superseded": (), "description": "The proxy has a port", "body": "The proxy has one."},
            ("pending", ("literal_lost",)),
        ),
    ],
)
def test_an_update_that_would_lose_or_invent_something_is_not_stored(
    change: dict[str, Any], fate_of_it: tuple[str, tuple[str, ...]]
) -> None:
    assert fate(replace(MOVED, **change), PROXY) == fate_of_it


@pytest.mark.parametrize(
    ("change", "scene_of_it"),
    [
        ({"superseded": ("8080", "9999")}, {}),
        ({"body": MOVED.body.replace("\n\nWhy: 443 is taken.", "")}, {}),
        ({}, {"opened": ()}),
        ({}, {"in_conflict": {PROXY.file}}),
    ],
)
def test_a_correction_that_is_no_update_takes_the_place_of_the_note_if_the_user_named_the_old(
    change: dict[str, Any], scene_of_it: dict[str, Any]
) -> None:
    (judged,) = judge([replace(MOVED, **change)], scene(PROXY, **scene_of_it))
    assert (judged.outcome, judged.old) == ("added", None)
    assert [mark.old for mark in judged.superseded] == [PROXY]


def test_without_git_a_correction_is_flagged() -> None:
    (judged,) = judge([MOVED], scene(PROXY, revertible=False))
    assert (judged.outcome, judged.superseded) == ("flagged", ())


def test_a_correction_that_drops_most_of_the_old_words_is_flagged() -> None:
    old = note("editor", "Works in Helix on Linux, with the gruvbox theme and no mouse at all")
    turns = (Turn("m1", "user", "I moved to Emacs on Linux for good."),)
    claim = replace(
        MOVED, file=old.file, description="Works in Emacs", body="Works in Emacs.",
        quote="I moved to Emacs on Linux for good", superseded=("Helix",),
    )  # fmt: skip
    (judged,) = judge([claim], scene(old, turns=turns, is_anothers=lambda _: True))
    assert (judged.outcome, [each for each, _ in judged.against]) == ("flagged", [old])


# --- contradictions ----------------------------------------------------------------------------


LATELY = (Turn("m1", "user", "Hm, I see the proxy listening on port 8443."),)
SEEN = replace(MOVED, action="flag", superseded=(), quote="I see the proxy listening on port 8443")


def test_a_flag_stores_the_new_fact_and_leaves_the_old_note() -> None:
    (judged,) = judge([SEEN], scene(PROXY, turns=LATELY, is_anothers=lambda _: True))
    assert (judged.outcome, judged.old) == ("flagged", None)
    assert judged.against == ((PROXY, f"the user said: {SEEN.quote}"),)
    assert judged.file == "project-proxy-2.md"


def test_a_flag_replaces_the_note_where_the_users_words_name_the_old_value() -> None:
    (judged,) = judge([replace(MOVED, action="flag", superseded=())], scene(PROXY))
    assert (judged.outcome, judged.old, judged.against) == ("added", None, ())
    (mark,) = judged.superseded
    assert (mark.old, mark.by) == (PROXY, "proxy-2")


def test_of_a_flag_and_an_update_of_one_note_the_flag_is_kept() -> None:
    world = scene(PROXY, turns=(*TURNS, *LATELY), is_anothers=lambda _: True)
    update, flag = judge([MOVED, SEEN], world)
    assert (flag.outcome, update.outcome, update.reasons) == ("flagged", "dropped", ("known",))
    other = replace(MOVED, description="The proxy listens on 8443, see `proxy.toml`.")
    _, second = judge([MOVED, replace(other, body=other.description)], scene(PROXY))
    assert (second.outcome, second.reasons) == ("pending", ("overlap",))


SPACES = note("indent", "Python files are indented with 4 spaces", type="feedback")
TABS = replace(
    BLANK, action="add", type="feedback", name="tabs", quote="indent Python files with 2 spaces",
    description="Python files are indented with 2 spaces",
    body="Python files are indented with 2 spaces.",
)  # fmt: skip
SAID = (Turn("m1", "user", "Please always indent Python files with 2 spaces."),)


@pytest.mark.parametrize(
    "claim",
    [
        TABS,
        replace(TABS, action="reinforce", file=SPACES.file, type="", description="", body="",
                quote="Python files with 2 spaces"),
        replace(TABS, action="update", file=SPACES.file),
    ],
    ids=lambda claim: claim.action,
)  # fmt: skip
def test_what_contradicts_a_near_note_stands_beside_it_whatever_the_model_calls_it(
    claim: Candidate,
) -> None:
    turns = (*SAID, Turn("m2", "user", "Python files are indented with 2 spaces, that is a rule"))
    claim = replace(claim, quote="Python files are indented with 2 spaces")
    (judged,) = judge([claim], scene(SPACES, turns=turns))
    assert (judged.old, judged.file != SPACES.file) == (None, True)
    met = [note for note, _ in judged.against] + [mark.old for mark in judged.superseded]
    assert met == [SPACES]
    theirs = scene(SPACES, turns=turns, is_anothers=lambda _: True)
    (judged,) = judge([claim], theirs)
    assert (judged.outcome, [note for note, _ in judged.against]) == ("flagged", [SPACES])


def test_an_update_of_what_the_user_did_not_name_leaves_the_note_its_text() -> None:
    claim = replace(TABS, action="update", file=SPACES.file, superseded=("4 spaces",))
    assert fate(claim, SPACES, turns=SAID)[0] in ("flagged", "added")
    said = (Turn("m1", "user", "Please indent Python files with 2 spaces, not 4 spaces."),)
    claim = replace(claim, quote="indent Python files with 2 spaces, not 4 spaces")
    assert fate(claim, SPACES, turns=said)[0] == "updated"


def test_a_held_note_is_compared_with_nothing() -> None:
    assert fate(TABS, SPACES, turns=SAID, held={SPACES.file})[0] == "added"


# --- laws --------------------------------------------------------------------------------------

CANDIDATES = st.builds(
    Candidate,
    st.sampled_from(("add", "update", "reinforce", "flag")),
    st.sampled_from(("user", "feedback", "project", "reference")),
    st.sampled_from(("", "decision")),
    st.text(max_size=20),
    st.text(min_size=1, max_size=40) | st.just(MOVED.description),
    st.text(min_size=1, max_size=80) | st.just(MOVED.body),
    st.sampled_from(("", PROXY.file, "../x.md")),
    st.text(max_size=30) | st.sampled_from([turn.text for turn in TURNS]),
    st.sampled_from(((), ("8080",))),
)


@given(st.lists(CANDIDATES, max_size=5))
def test_whatever_a_model_says_no_note_is_touched_twice_and_every_text_is_a_note(
    candidates: list[Candidate],
) -> None:
    judged: list[Judged] = judge(candidates, scene(PROXY))
    assert [each.candidate.action for each in judged] == [each.action for each in candidates]
    written = [each for each in judged if each.text is not None]
    assert len({each.file for each in written}) == len(written)
    for each in written:
        assert "/" not in each.file
        assert parse(each.text or "", each.file).head.problems == ()
        assert each.old is None or each.old.digest == PROXY.digest


# --- what helps to judge -----------------------------------------------------------------------


def test_what_nobody_said_is_invented() -> None:
    assert invented("until 2026-07-01, in 2 weeks, 40 users", ["we have 41 users"]) == ["40"]
    assert invented("Uses GitHub Actions", ["we are on github actions"]) == []


def test_the_nearest_notes_are_found_in_any_script() -> None:
    notes = [note("a", "Deploys run on Tuesdays"), note("b", "喜欢简短的回答"), PROXY]
    assert nearest("When do we deploy? Tuesday?", notes) == (notes[0].file,)
    assert nearest("请给我简短的回答", notes) == (notes[1].file,)
    assert nearest("gardening", notes) == ()


def test_a_turn_that_alone_is_too_long_is_cut_and_says_so() -> None:
    (turn,) = redacted([Turn("m1", "user", "a log " * 10_000)])
    assert len(turn.text) < 24_100
    assert turn.text.endswith("[36000 more characters]")


def test_with_too_many_notes_the_nearest_are_shown_whole_and_others_by_their_heads() -> None:
    notes = [note(f"n{n}", f"Fact {n}. " + "filler " * 300) for n in range(20)] + [PROXY]
    asked = question(TURNS, notes, TODAY)
    assert PROXY.file in asked.opened
    assert 0 < len(asked.opened) < len(asked.shown) <= len(notes)
    assert len(asked.text) < 3 * MAX_BODIES
