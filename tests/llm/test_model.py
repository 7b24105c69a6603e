"""Asking a model: nothing is sent unasked, every call ends and is counted, no failure tells."""

import contextlib
import json
import logging
import os
import signal
import stat
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_server import FakeServer
from locks import held_by_another
from pace import HUNG, seldom
from rows import replace
from scripted import Scripted

from mdmemory.cli import main
from mdmemory.compact.plan import parse
from mdmemory.config import person
from mdmemory.config.settings import load_settings
from mdmemory.errors import BadSetting, Busy
from mdmemory.git.lock import Patience, hold_lock, is_held
from mdmemory.llm import choose, schemas
from mdmemory.llm.answer import Answer, ContextExceeded, ModelFailed
from mdmemory.llm.choose import Metered
from mdmemory.llm.openai_api import OpenAIModel
from mdmemory.llm.opencode_run import OpenCodeModel, find_program
from mdmemory.privacy import redacted_text
from mdmemory.store.project import Project
from mdmemory.store.state import State, Usage

Meter = Callable[..., Metered]
Patch = pytest.MonkeyPatch
Begin = Callable[..., OpenCodeModel]
KEY = "sk-proj-aVerySecretKeyThatMustNeverBeSeen0123"
TEXT = "what the user said in confidence"
DAY = "2026-06-01"


TOO_LONG = "prompt is too long: 9000 tokens > 8000 maximum"


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def openai(server: FakeServer, tmp_path: Path, pauses: list[float]) -> OpenAIModel:
    return OpenAIModel(
        "gpt-5-mini", server.url, KEY, tmp_path / "state.db", timeout=5, sleep=pauses.append
    )


def project(folder: Path, **environment: str) -> Project:
    return Project(folder, folder / "notes", load_settings(environment))


def chosen_model(folder: Path, purpose: str, **environment: str) -> Metered:
    environment = {"MDMEMORY_PLANNER": "openai", **environment}
    chosen = choose.model(purpose, project(folder, **environment), DAY, environment)
    assert chosen is not None
    return chosen


def test_a_key_alone_is_no_consent(server: FakeServer, tmp_path: Path) -> None:
    environment = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.url}
    asks = project(tmp_path, **environment)
    for purpose in ("extract", "compact"):
        assert choose.model(purpose, asks, DAY, environment) is None
    assert choose.sends_to(asks.settings) is None
    assert server.requests == []
    assert not (tmp_path / ".mdmemory").exists()


def test_a_project_cannot_choose_who_reads_its_notes(tmp_path: Path) -> None:
    for line in (
        *(
            'planner = "openai"',
            '[openai]\nbase_url = "http://e.example"',
            '[extract]\nmodel = "x"',
        ),
        *('[opencode]\ncommand = "/tmp/evil"', "[llm]\ndaily_calls = 9", "extract.enabled = true"),
        *('search.backend = "postgres"', 'search.embeddings = "openai"', 'search.folders = ["/"]'),
        *('search.embedding_url = "http://x.example"', 'search.embedding_model = "m"'),
    ):
        (tmp_path / "mdmemory.toml").write_text(line, encoding="utf-8")
        with pytest.raises(BadSetting, match="a project may not choose"):
            load_settings({}, project=tmp_path / "mdmemory.toml")


def test_a_person_chooses_in_their_own_file_or_environment(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(
        'planner = "openai"\n[openai]\nbase_url = "http://localhost:11434/v1/"\n', encoding="utf-8"
    )
    settings = load_settings({}, personal=tmp_path / "config.toml")
    assert choose.sends_to(settings) == "localhost:11434"
    assert choose.sends_to(load_settings({"MDMEMORY_PLANNER": "openai"})) == "api.openai.com"
    dsn = {"MDMEMORY_SEARCH_BACKEND": "postgres", "MDMEMORY_SEARCH_DSN": "postgresql://db/x"}
    assert choose.sends_to(load_settings(dsn)) == "the PostgreSQL server of search.dsn"


def test_extraction_can_be_off_while_compaction_has_a_model(tmp_path: Path) -> None:
    environment = {"MDMEMORY_PLANNER": "openai", "MEMORY_EXTRACT_ENABLED": "0"}
    asks = project(tmp_path, **environment)
    assert choose.model("extract", asks, DAY, environment) is None
    assert choose.model("compact", asks, DAY, environment) is not None


def test_models_are_named_with_or_without_their_provider(tmp_path: Path) -> None:
    extract, compact, verify = "MEMORY_EXTRACT", "MEMORY_COMPACT", "MDMEMORY_VERIFY"
    for purpose, models, name in (
        ("extract", {}, "gpt-5-mini"),
        ("extract", {extract: "openai/gpt-x"}, "gpt-x"),
        ("compact", {extract: "gpt-x"}, "gpt-x"),
        ("compact", {extract: "gpt-x", compact: "big"}, "big"),
        ("extract", {compact: "big"}, "gpt-5-mini"),
        ("extract", {extract: "openai/openai/gpt-x"}, "openai/gpt-x"),
        ("verify", {verify: "small"}, "small"),
        ("verify", {extract: "gpt-x"}, "gpt-x"),
    ):
        named = {f"{key}_MODEL": model for key, model in models.items()}
        assert chosen_model(tmp_path, purpose, **named).name == name


def test_a_person_may_choose_another_model_to_read_again_what_one_proposes(tmp_path: Path) -> None:
    chosen = {"MDMEMORY_PLANNER": "openai", "MDMEMORY_VERIFY_MODEL": "openai/careful"}
    for purpose in ("extract", "compact"):
        asking = choose.asking(purpose, project(tmp_path, **chosen), DAY)
        assert asking is not None
        assert (asking.model.name, asking.reader.name) == ("gpt-5-mini", "careful")
        own = choose.asking(purpose, project(tmp_path, MDMEMORY_PLANNER="openai"), DAY)
        assert own is not None
        assert own.reader is own.model


def test_the_chosen_model_answers_and_is_counted(server: FakeServer, tmp_path: Path) -> None:
    address = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": KEY}
    chosen = chosen_model(tmp_path, "extract", **address)
    server.say("yes")
    text = "token: ghp_0123456789abcdefghijABCDEFGHIJ012345"
    assert chosen.complete("system", text).text == "yes"
    assert "ghp_" not in json.dumps(server.requests)
    with State(tmp_path / ".mdmemory" / "state.db") as state:
        assert state.usage(DAY) == Usage(1, 100, 10)
    assert chosen.sends_to in server.url


@pytest.fixture
def metered(tmp_path: Path) -> Callable[..., Metered]:
    def make(model: Scripted, *, day: str = DAY, calls: int = 200) -> Metered:
        path = tmp_path / "state.db"
        return Metered(model, "extract", path, day, calls, lambda text: text.replace("hush", "***"))

    return make


def used(tmp_path: Path, day: str = DAY) -> Usage:
    with State(tmp_path / "state.db") as state:
        return state.usage(day)


def test_calls_and_tokens_are_summed_by_day(metered: Meter, tmp_path: Path) -> None:
    model = metered(Scripted("a", "b"))
    model.complete("s", "u")
    model.complete("s", "u")
    metered(Scripted("c"), day="2026-06-02").complete("s", "u")
    assert used(tmp_path) == Usage(2, 200, 20)
    assert used(tmp_path, "2026-06-02") == Usage(1, 100, 10)
    assert used(tmp_path, "2026-06-03") == Usage()


def test_a_call_that_fails_counts_as_a_call(metered: Meter, tmp_path: Path) -> None:
    with pytest.raises(ModelFailed):
        metered(Scripted(ModelFailed("It is down."))).complete("s", "u")
    assert used(tmp_path) == Usage(1, 0, 0)


def test_the_limit_of_a_day_holds_for_all_purposes_and_ends_with_it(metered: Meter) -> None:
    scripted = Scripted("a", "b", "c")
    model = metered(scripted, calls=2)
    model.complete("s", "u")
    model.complete("s", "u")
    with pytest.raises(ModelFailed) as stopped:
        model.complete("s", "u")
    assert stopped.value.code == "over_cap"
    assert "llm.daily_calls" in stopped.value.hint
    assert len(scripted.asked) == 2
    assert metered(scripted, day="2026-06-02", calls=2).complete("s", "u").text == "c"
    with pytest.raises(ModelFailed):
        metered(Scripted("a"), day="2026-06-03", calls=0).complete("s", "u")


def test_what_was_asked_long_ago_is_forgotten(tmp_path: Path) -> None:
    with State(tmp_path / "state.db") as state:
        state.begin_call("2026-01-01", "extract", "m", 9)
        state.begin_call("2026-06-01", "extract", "m", 9)
        assert state.usage("2026-01-01") == Usage()
        assert state.usage("2026-06-01").calls == 1


def test_every_text_is_redacted_whoever_wrote_it(metered: Meter) -> None:
    scripted = Scripted("a")
    metered(scripted).complete("hush 1", "hush 2 \udcff")
    assert (scripted.asked[0].system, scripted.asked[0].user) == ("*** 1", "*** 2 ?")


def test_of_a_question_each_text_is_redacted_by_itself(metered: Meter) -> None:
    scripted = Scripted("a")
    notes = [
        {"file": "a.md", "description": "The report names the root password?"},
        {"file": "b_2!c.md", "description": "The hush host"},
    ]
    model = replace(metered(scripted), redact=lambda text: redacted_text(text.replace("hush", "*")))
    model.complete("s", json.dumps({"today": DAY, "may_remove": 2, "notes": notes}))
    shown = json.loads(scripted.asked[0].user)
    assert shown["notes"] == [notes[0], {**notes[1], "description": "The * host"}]
    assert shown["may_remove"] == 2


def test_no_model_is_asked_while_the_store_is_locked(metered: Meter, tmp_path: Path) -> None:
    scripted = Scripted("a")
    with hold_lock(tmp_path / "lock", "a test"), pytest.raises(RuntimeError):
        metered(scripted).complete("s", "u")
    assert scripted.asked == []
    assert used(tmp_path) == Usage()
    assert metered(scripted).complete("s", "u").text == "a"


def test_a_lock_that_was_not_got_or_failed_inside_leaves_no_mark(tmp_path: Path) -> None:
    held = []
    with contextlib.suppress(KeyError), hold_lock(tmp_path / "lock", "a test"):
        held.append(is_held())
        raise KeyError
    with held_by_another(tmp_path / "lock"), pytest.raises(Busy):
        hold_lock(tmp_path / "lock", "another", Patience(0)).__enter__()
    assert held == [True]
    assert not is_held()
    with hold_lock(tmp_path / "a", "x"), hold_lock(tmp_path / "b", "y"):
        pass
    assert not is_held()


def test_status_says_where_text_goes_and_what_it_cost_but_no_key(
    repository: Path, monkeypatch: Patch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(repository), "--shared"]) == 0
    monkeypatch.chdir(repository)
    monkeypatch.setenv("MDMEMORY_PLANNER", "openai")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    day = today()
    with State(repository / ".mdmemory" / "state.db") as state:
        state.begin_call(day, "compact", "m", 9)
        state.add_tokens(day, "compact", "m", 1200, 34)
    capsys.readouterr()
    assert main(["status"]) == 0
    told = capsys.readouterr().out
    assert "planner     openai: text is sent to api.openai.com; today 1 call, 1200 tokens" in told
    assert main(["config", "list", "--all"]) == 0
    told += capsys.readouterr().out
    assert "openai.api_key = set  (OPENAI_API_KEY)" in told
    assert "compact.model = not set" in told
    assert main(["status", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["sends_to"] == "api.openai.com"
    assert report["tokens_today"] == {"calls": 1, "input": 1200, "output": 34}
    assert KEY not in told + json.dumps(report)


def today() -> str:
    return person.now().date().isoformat()


def test_the_openai_planner_sends_two_messages_and_gives_text_and_cost(
    openai: OpenAIModel, server: FakeServer
) -> None:
    server.say("An answer.")
    assert openai.complete("Be brief.", TEXT) == Answer("An answer.", 100, 10)
    (request,) = server.requests
    assert request["model"] == "gpt-5-mini"
    said = [("system", "Be brief."), ("user", TEXT)]
    assert request["messages"] == [{"role": role, "content": text} for role, text in said]
    assert " ".join(sorted(request)) == (
        "max_completion_tokens messages model reasoning_effort stream stream_options"
    )
    assert server.script.keys == [f"Bearer {KEY}"]
    assert openai.sends_to in server.url


def forms(server: FakeServer) -> list[str]:
    return [body.get("response_format", {}).get("type", "none") for body in server.requests]


def test_an_object_is_asked_for_by_its_schema(openai: OpenAIModel, server: FakeServer) -> None:
    server.say('{"ops": []}')
    assert openai.complete("s", "u", schemas.PLAN).text == '{"ops": []}'
    wanted = server.requests[0]["response_format"]["json_schema"]
    assert wanted == {"name": "answer", "strict": True, "schema": schemas.PLAN}


@pytest.mark.parametrize("known", [{"json_schema"}, {"json_object"}, set()])
def test_what_an_endpoint_understands_is_found_out_once(
    known: set[str], openai: OpenAIModel, server: FakeServer
) -> None:
    tried = ["json_schema", "json_object", "none"]
    asked = tried[: next((at for at, form in enumerate(tried, 1) if form in known), 3)]
    server.script.forms = frozenset(known)
    openai.complete("s", "u", schemas.PLAN)
    assert forms(server) == asked
    openai.complete("s", "u", schemas.PLAN)
    assert forms(server) == [*asked, asked[-1]]
    if asked[-1] != "json_schema":
        assert "JSON schema" in server.requests[-1]["messages"][0]["content"]


def test_a_form_that_is_named_by_a_failing_server_is_given_up(
    openai: OpenAIModel, server: FakeServer
) -> None:
    said = {"error": {"code": 500, "message": "response_format: schema is not supported"}}
    server.misbehave(status=500, body=json.dumps(said).encode())
    server.say('{"ops": []}')
    assert openai.complete("s", "?", schemas.PLAN).text == '{"ops": []}'
    assert forms(server) == ["json_schema", "json_object"]


def test_a_form_that_is_refused_later_is_given_up(openai: OpenAIModel, server: FakeServer) -> None:
    openai.complete("s", "u", schemas.PLAN)
    server.script.forms = frozenset()
    openai.complete("s", "u", schemas.PLAN)
    openai.complete("s", "u", schemas.PLAN)
    assert forms(server) == ["json_schema", "json_schema", "json_object", "none", "none"]


def test_another_model_of_the_same_endpoint_is_found_out_anew(
    openai: OpenAIModel, server: FakeServer, tmp_path: Path
) -> None:
    server.script.forms = frozenset()
    openai.complete("s", "u", schemas.PLAN)
    OpenAIModel("other", server.url, KEY, tmp_path / "state.db").complete("s", "u", schemas.PLAN)
    assert forms(server) == ["json_schema", "json_object", "none"] * 2


def test_a_request_that_is_refused_in_every_form_is_not_remembered(
    openai: OpenAIModel, server: FakeServer
) -> None:
    for _ in range(4):  # at last with the messages alone
        server.fail(400)
    with pytest.raises(ModelFailed) as failed:
        openai.complete("s", "u", schemas.PLAN)
    assert "(400)" in failed.value.message
    openai.complete("s", "u", schemas.PLAN)
    assert forms(server)[-1] == "json_schema"


@pytest.mark.parametrize(
    ("status", "tries", "words"),
    [
        (401, 1, "did not accept the key (401)"),
        (403, 1, "does not let this key use the model (403)"),
        (404, 1, "knows no model gpt-5-mini, or is no such server (404)"),
        (418, 1, "did not take the request (418)"),
        (429, 2, "takes no more requests for now (429)"),
        (500, 2, "failed (500)"),
        (503, 2, "failed (503)"),
        (0, 2, "cannot be reached, or hung up before its answer was whole"),
    ],
)
def test_a_refusal_is_one_sentence_after_the_right_number_of_tries(
    status: int, tries: int, words: str, openai: OpenAIModel, server: FakeServer,
    pauses: list[float], caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    caplog.set_level(logging.DEBUG)
    server.misbehave(status=status)
    server.misbehave(status=status)
    with pytest.raises(ModelFailed) as failed:
        openai.complete("s", TEXT)
    assert failed.value.message == f"{openai.sends_to} {words}."
    assert failed.value.hint.endswith(".")
    assert len(server.requests) == tries
    assert len(pauses) == tries - 1
    assert all(0.5 <= pause <= 1.5 for pause in pauses)
    # the server sends both back in its refusal
    told = f"{failed.value!r} {failed.value.__cause__} {caplog.text}"
    assert KEY not in told
    assert TEXT not in told


def test_a_second_try_may_succeed(openai: OpenAIModel, server: FakeServer) -> None:
    for status in (429, 500, 0):
        server.misbehave(status=status)
        server.say("At last.")
        assert openai.complete("s", "u").text == "At last."


def test_a_pause_that_the_server_names_is_kept_unless_it_is_long(
    openai: OpenAIModel, server: FakeServer, pauses: list[float]
) -> None:
    server.fail(429, retry_after="7")
    openai.complete("s", "u")
    assert pauses == [7.0]
    server.fail(429, retry_after="3600")
    with pytest.raises(ModelFailed):
        openai.complete("s", "u")
    assert pauses == [7.0]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"sent": 30}, "cannot be reached, or hung up"),
        ({"body": b""}, "no chat completion"),
        ({"body": b"<html>Welcome</html>"}, "no chat completion"),
        ({"body": b"[" * 100_000}, "no chat completion"),
        ({"body": b'{"choices": []}'}, "no chat completion"),
        ({"body": b'{"choices": [{"message": null}]}'}, "no chat completion"),
        ({"body": b"\xff\xfe"}, "no chat completion"),
        ({"body": b"x" * 5_000_000}, "more than 4194304 bytes"),
        ({"text": "  \n"}, "gave an empty answer"),
        ({"finish": "length", "text": ""}, "was cut off at its length limit"),
        ({"finish": "content_filter"}, "declined to answer"),
    ],
)
def test_an_answer_that_is_none_is_one_sentence(
    how: dict[str, Any], words: str, openai: OpenAIModel, server: FakeServer
) -> None:
    server.misbehave(**how)
    server.misbehave(**how)
    with pytest.raises(ModelFailed, match=words):
        openai.complete("s", "u")


HANGS = [
    {"delay": HUNG},
    {"drip": 0.1},
    {"headers_drip": 0.1},
    {"status": 401, "headers_drip": 0.1},
]


@pytest.mark.parametrize("how", seldom(HANGS, 4), ids=str)
def test_a_server_that_hangs_or_drips_is_left_in_time(
    how: dict[str, Any], server: FakeServer, tmp_path: Path
) -> None:
    model = OpenAIModel("m", server.url, KEY, tmp_path / "state.db", timeout=0.5)
    server.misbehave(**how)
    start = time.monotonic()
    with pytest.raises(ModelFailed, match=r"did not answer within 0\.5 s"):
        model.complete("s", "u")
    assert time.monotonic() - start < HUNG / 2
    assert len(server.requests) == 1  # a second try would double the time


def test_a_server_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    model = OpenAIModel("m", "http://127.0.0.1:9/v1", "", tmp_path / "s.db", sleep=lambda _: None)
    with pytest.raises(ModelFailed, match=r"127\.0\.0\.1:9 cannot be reached"):
        model.complete("s", "u")


def test_text_does_not_follow_a_redirect_to_another_host(
    openai: OpenAIModel, server: FakeServer
) -> None:
    with FakeServer() as other:
        server.fail(307, location=f"{other.url}/chat/completions")
        with pytest.raises(ModelFailed, match="points to another address"):
            openai.complete("s", "u")
        assert other.requests == []


def test_a_missing_key_is_told_before_anything_is_sent(tmp_path: Path) -> None:
    model = OpenAIModel("m", "https://api.openai.com/v1", "", tmp_path / "state.db")
    with pytest.raises(BadSetting, match=r"no key for api\.openai\.com"):
        model.complete("s", "u")


def test_an_odd_account_of_tokens_is_estimated_instead(
    openai: OpenAIModel, server: FakeServer
) -> None:
    choice = '"choices": [{"message": {"content": "a"}}]'
    for usage in ("null", "7", '{"prompt_tokens": -1, "completion_tokens": true}'):
        server.misbehave(body=f'{{{choice}, "usage": {usage}}}'.encode())
        assert openai.complete("s", "u") == Answer("a", 4, 2)


def test_the_key_is_not_in_what_a_program_may_print_of_the_model(openai: OpenAIModel) -> None:
    assert KEY not in repr(openai)


def test_a_bad_key_or_address_is_not_repeated() -> None:
    with pytest.raises(BadSetting) as refused:
        load_settings({"OPENAI_API_KEY": "sk-with a space"})
    assert "sk-with" not in refused.value.message
    assert refused.value.__cause__ is None
    with pytest.raises(BadSetting) as refused:
        load_settings({"OPENAI_BASE_URL": "https://me:hunter2@example.com/v1"})
    assert "hunter2" not in refused.value.message


# --- the opencode planner, with a stand-in for the client --------------------------------------

EVENTS = [
    {"type": "step_start", "sessionID": "ses_1", "part": {"type": "step-start"}},
    {"type": "text", "sessionID": "ses_1", "part": {"type": "text", "text": '{"ops"'}},
    {"type": "text", "sessionID": "ses_1", "part": {"type": "text", "text": ": []}"}},
    {"type": "step_finish", "sessionID": "ses_1", "part": {
        "type": "step-finish", "reason": "stop",
        "tokens": {"input": 7, "output": 2, "reasoning": 1, "cache": {"read": 30, "write": 0}}}},
]  # fmt: skip

STAND_IN = """#!{python}
import json, os, sys, time
with open({log!r}, "a") as log:
    said = sys.stdin.read()
    print(json.dumps([sys.argv[1:], dict(os.environ), os.getcwd(), said]), file=log)
if sys.argv[1] == "run":
{script}
"""


@pytest.fixture
def client(tmp_path: Path) -> Callable[..., OpenCodeModel]:
    """An `opencode` that prints these events, or runs this script."""
    program = tmp_path / "bin" / "opencode"
    program.parent.mkdir()

    def make(
        *events: object, script: str = "", timeout: float = 20, name: str = ""
    ) -> OpenCodeModel:
        lines = [f"    print({json.dumps(event)!r})" for event in events] or ["    pass"]
        text = STAND_IN.format(
            python=sys.executable, log=str(tmp_path / "log"), script="\n".join([*lines, script])
        )
        program.write_text(text, encoding="utf-8")
        program.chmod(0o755)
        environment = {
            "PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PWD": "/", "OPENCODE": "1",
            "OPENCODE_PERMISSION": '{"*":"allow"}', "PROVIDER_KEY": "k",
            "OPENCODE_CONFIG_CONTENT":
                '{"model": "{env:M}", "agent": {"mine": {}}, "share": "auto"}',
        }  # fmt: skip
        return OpenCodeModel(name, program, environment, timeout)

    return make


def calls(tmp_path: Path) -> list[tuple[list[str], dict[str, str], str, str]]:
    return [tuple(json.loads(line)) for line in (tmp_path / "log").read_text().splitlines()]


def test_the_opencode_planner_runs_an_agent_without_tools_and_tidies_up(
    client: Begin, tmp_path: Path
) -> None:
    model = client(*EVENTS, name="openai/gpt-x")
    answer = model.complete("SYSTEM {env:HOME} {file:/etc/passwd}", "USER\n@file", schemas.PLAN)
    assert answer == Answer('{"ops": []}', 37, 3)
    (words, environment, folder, said), (deletion, *_) = calls(tmp_path)
    assert words == [
        "run", "--pure", "--format", "json", "--title", "mdmemory asks",
        "--agent", "mdmemory-answer", "--model", "openai/gpt-x",
    ]  # fmt: skip
    assert said == "USER\n@file"
    assert deletion[:3] == ["session", "delete", "ses_1"]
    assert environment["PWD"] == folder
    assert not Path(folder).exists()
    assert environment["MDMEMORY_DISABLE"] == environment["OPENCODE_DISABLE_PROJECT_CONFIG"] == "1"
    assert environment["PROVIDER_KEY"] == "k"
    assert not {"OPENCODE", "OPENCODE_PERMISSION"} & set(environment)
    told = environment["OPENCODE_CONFIG_CONTENT"]
    config = json.loads(told)
    assert (config["model"], config["share"]) == ("{env:M}", "disabled")
    assert config["agent"]["mine"] == {}
    agent = config["agent"]["mdmemory-answer"]
    assert agent["permission"] == {"*": "deny"}
    assert agent["prompt"].startswith("SYSTEM {env:HOME} {file:/etc/passwd}")
    assert json.dumps(schemas.PLAN, separators=(",", ":")) in agent["prompt"]
    assert "{env:HOME}" not in told
    assert "{file:" not in told


def ask_one_that_hangs(client: Begin, folder: Path, **child: bool) -> int:
    """Ask a client that hangs with a child that does; the number of the child."""
    words = f"['sleep', '{HUNG}'], start_new_session={child.get('leaves', False)}"
    script = (
        f"    import subprocess\n    child = subprocess.Popen({words})\n"
        f"    open({str(folder / 'child')!r}, 'w').write(str(child.pid))\n"
        f"    sys.stdout.flush(); time.sleep({HUNG})"
    )
    with pytest.raises(ModelFailed, match="gave no answer within 3 s"):
        client(EVENTS[0], script=script, timeout=3).complete("s", TEXT)
    return int((folder / "child").read_text())


@pytest.mark.slow
def test_a_client_that_hangs_is_killed_with_its_children(
    client: Begin, tmp_path: Path, monkeypatch: Patch
) -> None:
    monkeypatch.setattr("mdmemory.llm.opencode_run.START", 0.0)
    assert not is_alive(ask_one_that_hangs(client, tmp_path))
    assert calls(tmp_path)[-1][0][:3] == ["session", "delete", "ses_1"]


@pytest.mark.slow
def test_a_client_whose_child_left_its_group_is_not_waited_for(
    client: Begin, tmp_path: Path, monkeypatch: Patch
) -> None:
    monkeypatch.setattr("mdmemory.llm.opencode_run.START", 0.0)
    monkeypatch.setattr("mdmemory.llm.opencode_run._DYING", 0.1)
    child = ask_one_that_hangs(client, tmp_path, leaves=True)
    os.kill(child, signal.SIGKILL)  # it was there, and held our pipe open


def is_alive(process: int) -> bool:
    """Whether it goes on running; a zombie that nobody has waited for does not."""
    end = time.monotonic() + HUNG
    while time.monotonic() < end:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
        state = Path(f"/proc/{process}/stat")
        if state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z":
            return False
        time.sleep(0.02)
    return True


def error(name: str, **data: object) -> list[object]:
    return [{"type": "error", "error": {"name": name, "data": data}}]


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([], "empty answer"),
        (["not an event", [1], None], "empty answer"),
        ([EVENTS[0], {"type": "text", "part": {"type": "text", "text": " "}}], "empty answer"),
        (error("APIError", statusCode=401, message=f"{KEY} {TEXT}"), r"\(error 401\)"),
        (error("UnknownError", message=TEXT), r"\(error UnknownError\)"),
        ([{"type": "error", "error": TEXT}], r"\(error unnamed\)"),
        ([{"type": "error", "error": {"name": TEXT}}], r"\(error unnamed\)"),
        ([{"part": {"type": "step-finish", "reason": "length"}}], "length limit"),
        (error("APIError", statusCode=400, message=TOO_LONG), "takes 8000 tokens"),
    ],
)
def test_what_a_client_fails_with_is_one_sentence(
    events: list[object], words: str, client: Begin
) -> None:
    with pytest.raises(ModelFailed, match=words) as failed:
        client(*events).complete("s", TEXT)
    assert TEXT not in repr(failed.value)
    assert KEY not in repr(failed.value)


def test_an_answer_of_a_client_that_ended_at_its_limit_says_so(client: Begin) -> None:
    cut = {"part": {"type": "step-finish", "reason": "length"}}
    assert client(*EVENTS, cut).complete("s", "u") == Answer('{"ops": []}', 37, 3, cut=True)


def test_a_window_that_a_client_ran_into_is_remembered(metered: Meter, tmp_path: Path) -> None:
    model = metered(Scripted(ContextExceeded("It is too long.", 8_000, (70, 7)), "short"))
    assert model.context_tokens == 0
    with pytest.raises(ContextExceeded):
        model.complete("s", "u")
    assert model.context_tokens == 8_000
    assert used(tmp_path) == Usage(1, 70, 7)


def test_a_session_that_cannot_be_deleted_costs_no_answer(client: Begin, tmp_path: Path) -> None:
    script = "    os.remove(sys.argv[0])"
    assert client(*EVENTS, script=script).complete("s", "u").text == '{"ops": []}'


def test_a_program_that_cannot_be_started_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "opencode").write_text("no program", encoding="utf-8")
    model = OpenCodeModel("", tmp_path / "opencode", {})
    with pytest.raises(ModelFailed, match="could not be started"):
        model.complete("s", "u")


def executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_the_project_supplies_no_program(tmp_path: Path, monkeypatch: Patch) -> None:
    here = tmp_path / "project"
    executable(here / "bin" / "opencode")
    executable(here / "opencode")
    monkeypatch.chdir(here)
    link = tmp_path / "link"
    link.symlink_to(here / "bin")
    for search in ("bin", ".", "", ":", f"{here}/bin", f"{here}", f"{link}"):
        with pytest.raises(BadSetting, match="opencode is not there"):
            find_program("", search, here)
    good = executable(tmp_path / "usr" / "opencode")
    search = f"bin::{here}/bin:{good.parent}:{link}"
    assert find_program("", search, here) == (good, str(good.parent))
    assert find_program("opencode", search, here)[0] == good
    assert find_program(str(good), "", here)[0] == good


def test_a_command_is_absolute_or_a_name(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    for command in ("./opencode", "bin/opencode", "../opencode"):
        path.write_text(f'[opencode]\ncommand = "{command}"\n', encoding="utf-8")
        with pytest.raises(BadSetting):
            load_settings({}, personal=path)
    path.write_text('[opencode]\ncommand = ""\n', encoding="utf-8")
    assert load_settings({}, personal=path).text("opencode.command") == ""


def test_the_opencode_planner_is_chosen_with_the_persons_own_model(tmp_path: Path) -> None:
    here = tmp_path / "project"
    here.mkdir()
    program = executable(tmp_path / "usr" / "opencode")
    environment = {"MDMEMORY_PLANNER": "opencode", "PATH": str(program.parent)}
    chosen = chosen_model(here, "extract", **environment)
    assert (chosen.kind, chosen.name) == ("opencode", "the default of opencode")
    told = choose.sends_to(project(here, **environment).settings)
    assert told == chosen.sends_to == "OpenCode's default provider"
    environment["MEMORY_EXTRACT_MODEL"] = "anthropic/claude"
    told = choose.sends_to(project(here, **environment).settings)
    assert told == chosen_model(here, "compact", **environment).sends_to
    assert told == "OpenCode's provider anthropic"
    with pytest.raises(BadSetting, match="has no provider"):
        chosen_model(here, "extract", **{**environment, "MEMORY_EXTRACT_MODEL": "claude"})


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict) and schema.get("type") == "object":
        yield schema
    inner = schema.values() if isinstance(schema, dict) else schema
    for each in inner if isinstance(schema, dict | list) else ():
        yield from objects(each)


@pytest.mark.parametrize("schema", [schemas.CANDIDATES, schemas.PLAN])
def test_schemas_are_fit_for_strict_endpoints(schema: dict[str, Any]) -> None:
    assert schema["type"] == "object"
    found = list(objects(schema))
    assert found
    for each in found:
        assert each["additionalProperties"] is False
        assert each["required"] == list(each["properties"])
    assert "null" not in json.dumps(schema)


def test_what_the_schema_of_a_plan_allows_is_read_as_a_plan() -> None:
    variants: Any = schemas.PLAN["properties"]
    values: dict[str, Any] = {"string": "x", "array": ["a.md", "b.md"]}
    ops = [
        {
            key: inner.get("enum", [values[inner["type"]]])[0]
            for key, inner in variant["properties"].items()
        }
        for variant in variants["ops"]["items"]["anyOf"]
    ]
    assert [op["op"] for op in ops] == ["merge", "rewrite", "delete", "flag"]
    assert len(parse(json.dumps({"ops": ops})).ops) == 4


@pytest.mark.parametrize(
    ("verdicts", "questions"), [("ok lost added", "all"), ("ok ok ok", "pairs")]
)
def test_a_model_that_a_person_chooses_is_tried_and_what_it_may_be_asked_is_written(
    server: FakeServer, empty_home: Path, capsys: pytest.CaptureFixture[str],
    verdicts: str, questions: str,
) -> None:  # fmt: skip
    rows = [{"number": str(n), "verdict": v} for n, v in enumerate(verdicts.split(), 1)]
    server.script.is_raw = True
    server.say(json.dumps({"verdicts": rows}))
    for name, value in (("openai.base_url", server.url), ("extract.model", "tiny")):
        assert main(["config", "set", name, value]) == 0
    assert server.requests == [], "nothing is sent before a planner is chosen"
    assert main(["config", "set", "planner", "openai"]) == 0
    assert ("missed one" in capsys.readouterr().out) == (questions == "pairs")
    written = load_settings({}, empty_home / ".config/mdmemory/config.toml")
    assert written.text("llm.questions") == questions


@pytest.mark.slow
def test_a_model_that_cannot_be_tried_is_a_warning_and_stays_chosen(
    empty_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "set", "openai.base_url", "http://127.0.0.1:9/v1"]) == 0
    assert main(["config", "set", "planner", "openai"]) == 0
    assert "The model could not be tried. 127.0.0.1:9 cannot" in capsys.readouterr().err
    assert (
        load_settings({}, empty_home / ".config/mdmemory/config.toml").text("planner") == "openai"
    )
