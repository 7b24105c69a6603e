"""The command for settings: config."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mdmemory.cli.commands import (
    emit_json,
    is_terminal,
    only_memory,
    open_layers,
    show_value,
    warn_person,
)
from mdmemory.config import person
from mdmemory.config.settings import Settings, check_value, find_setting, load_settings
from mdmemory.config.table import PROJECT_FILE, TABLE, Setting, folders
from mdmemory.errors import MdmemoryError, NoStore, UsageError
from mdmemory.store.project import Project

_SENT = {
    "planner": "sessions and notes",
    "openai.base_url": "sessions and notes",
    "search.embeddings": "queries and searched texts",
    "search.dsn": "all searched texts",
}
# the settings that choose a model
CHOOSING = ("planner", "extract.model", "compact.model", "openai.base_url", "openai.api_key")


def run_config(options: Namespace) -> int:
    _refuse_nonsense(options)
    if options.action == "set":
        return _set_setting(options)
    project = _project_around(options)
    settings = project.settings if project else _own_settings()
    if options.action == "get":
        row = find_setting(options.name)
        return show_value(options, _setting_json(settings, row), settings.shown(row.name))
    for sentence in settings.former:
        warn_person(sentence)
    # those that people set come first; of the others those that are set, unless all are asked for
    is_whole = options.all or options.json or options.name
    rows = [
        row for row in sorted(TABLE, key=lambda row: not row.common)
        if (options.name or "") in row.name
        and (
            settings.origins[row.name] != "default"
            or (not options.changed and (is_whole or row.common))
        )
    ]  # fmt: skip
    lines = [
        f"{row.name} = {settings.shown(row.name)}  ({settings.origins[row.name]})\n    {row.help}"
        for row in rows
    ]
    if rows and not (options.all or options.changed or options.name):
        lines.append(f"{len(TABLE) - len(rows)} more settings: `mdmemory config --all`")
    elif not rows:
        nothing = f"No setting has {options.name!r} in its name."
        lines.append("Every setting has its default." if options.changed else nothing)
    return show_value(options, [_setting_json(settings, row) for row in rows], *lines)


def _refuse_nonsense(options: Namespace) -> None:
    if options.action == "set":
        if options.name is None or (options.value is None) != options.unset:
            raise UsageError(
                "`config set` needs NAME and VALUE.",
                "Or `mdmemory config set NAME --unset` for the default.",
            )
    elif options.value is not None or options.unset or options.everywhere:
        raise UsageError(
            "VALUE, --unset and --global go with set.", "See `mdmemory config --help`."
        )
    elif options.action == "get" and options.name is None:
        raise UsageError("`config get` needs NAME.", "`mdmemory config --all` lists the settings.")


def _project_around(options: Namespace) -> Project | None:
    """The store whose settings count here, if there is one."""
    try:
        return only_memory(open_layers(options)).project
    except NoStore:
        if options.store:
            raise
        return None


def _own_settings(project_file: Path | None = None) -> Settings:
    """The person's settings as their file has them now, and those of a project."""
    places = person.person_places()
    return load_settings(places.environment, places.personal_settings, project_file)


def _setting_json(settings: Settings, row: Setting) -> dict[str, Any]:
    return {
        "name": row.name, "value": None if row.secret else settings.values[row.name],
        "origin": settings.origins[row.name], "default": row.default, "kind": row.kind.words,
        "help": row.help, "personal": row.personal,
    }  # fmt: skip


# --- set


def _set_setting(options: Namespace) -> int:
    from mdmemory.actions.configuring import set_for_person, set_for_store
    from mdmemory.llm.choose import sends_to

    row = find_setting(options.name)
    if row.name == "store":
        raise UsageError("The store is not moved by a setting.", "`mdmemory move` moves it.")
    value, given = None, options.value
    if given == "-":
        given = sys.stdin.read().strip()
    elif row.secret and given is not None and is_terminal():
        warn_person("The value is in your shell's history now; `-` reads it from standard input.")
    if not options.unset:
        value = check_value(row, given, row.name)
        if row.kind is folders:
            value = [*filter(None, value.split(os.pathsep))]
    choice = _prepare_choice(row, value, options)
    own = person.person_places().personal_settings
    project = None if row.personal or options.everywhere else _project_around(options)
    if project is None and not (row.personal or options.everywhere):
        raise NoStore(
            "There is no store here whose setting this could be.",
            "`mdmemory config set --global` sets it for all your projects.",
        )
    if project is None:
        file, commit = own, None
        is_new = set_for_person(own, row.name, value)
    else:
        file = project.root / PROJECT_FILE
        is_new, commit = set_for_store(project, row.name, value, "`mdmemory config`")
    answer = {"name": row.name, "file": str(file), "changed": is_new, "commit": commit}
    if not options.json:
        from mdmemory.config.writing import write_value

        where = f"{file} (commit {commit[:10]})" if commit else str(file)
        shown = row.name if row.secret else f"{row.name} = {write_value(value)}"
        if value is None:
            print(f"Removed {row.name} from {where}." if is_new else f"{file} does not set it.")
        else:
            print(f"Wrote {shown} to {where}." if is_new else f"{file} has {shown} already.")
    with suppress(MdmemoryError):  # the value is written; another line of the files is wrong
        fresh = _own_settings(project and project.root / PROJECT_FILE)
        if (origin := fresh.origins[row.name]) not in ("default", str(file)):
            warn_person(f"{origin} sets {row.name} too, and counts here.")
        is_told = row.name in _SENT and not options.json and value != "local"
        if is_told and value not in (None, row.default) and (to := sends_to(fresh)):
            print(f"Text is sent to {to} now; by this setting: {_SENT[row.name]}.")
    if choice:
        from mdmemory.cli import meaning

        if choice[0] == "local":
            answer["meaning"] = meaning.turned_on(choice[1], options)
        elif choice[0] == "off" and not options.json:
            print("\n".join(["Search by meaning is off.", *meaning.turned_off()]))
    if row.name in CHOOSING and not options.unset:
        answer |= try_model(quiet=options.json)
    if options.json:
        emit_json(answer)
    return 0


def _prepare_choice(row: Setting, value: Any, options: Namespace) -> tuple[str, str] | None:
    """What is to make vectors now, made ready, and its model; None if that is not what is set.
    Raises MdmemoryError where it cannot be had."""
    if not row.name.startswith("search.embedding"):
        return None
    from mdmemory.cli import meaning

    if row.name not in meaning.SETTINGS:
        return None
    try:
        settings = _own_settings()
    except MdmemoryError:  # the file has a wrong line, which may be the one to write
        return None
    kind, model = (
        (value or "") if row.name == each else settings.text(each) for each in meaning.SETTINGS
    )
    if row.name == "search.embedding_model" and kind != "local":
        return None
    meaning.prepare_model(kind or "off", model, options)
    return kind or "off", model


def try_model(*, quiet: bool = False) -> dict[str, Any]:
    """Put the known questions to the model that the person's settings choose now, write what it may
    be asked into their file, and say so unless `quiet`; what the JSON has of it.

    A model that cannot be asked keeps what the settings say: that is a warning, and no error.
    """
    from mdmemory.actions.configuring import set_for_person
    from mdmemory.llm import probe

    settings = _own_settings()
    try:
        questions = probe.choose_questions(settings, datetime.now(UTC).date().isoformat())
    except MdmemoryError as problem:
        warn_person(f"The model could not be tried. {problem.sentences}")
        return {}
    if questions is None:
        return {}
    if questions != settings.text("llm.questions"):
        set_for_person(person.person_places().personal_settings, "llm.questions", questions)
    if not quiet:
        print(_SENTENCES[questions])
    return {"questions": questions}


_SENTENCES = {
    "all": "The model answered three questions with known answers right.",
    "pairs": "The model missed one of three questions with known answers. It reads no session, and "
    "is only asked whether two notes say the same (llm.questions = pairs). A larger model may do "
    "more.",
}
