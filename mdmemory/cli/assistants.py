"""The command that connects assistants to the memory, once for all projects: setup."""

from __future__ import annotations

import os
from argparse import Namespace

from mdmemory.cli.output import emit_json
from mdmemory.config import person
from mdmemory.config.settings import load_settings
from mdmemory.errors import NotFound, UsageError
from mdmemory.hosts import clients
from mdmemory.store.project import home_of

_KEYS = ("openai.api_key", "search.embedding_key")


def run_setup(options: Namespace) -> int:
    if options.meaning:
        from mdmemory.cli import configuring

        if options.clients or options.remove or options.dry_run:
            raise UsageError(
                "`setup --meaning` stands alone.",
                "`mdmemory config set search.embeddings off` turns it off.",
            )
        named = {"action": "set", "name": "search.embeddings", "value": "local"}
        return configuring.run_config(Namespace(**{**vars(options), **named, "unset": False,
                                               "everywhere": False}))  # fmt: skip
    missing = [name for name in clients.NAMES if not clients.is_installed(name, os.environ)]
    names = _chosen_names(options, missing)
    wired = clients.connected_clients(os.environ)
    work = clients.remove_clients if options.remove else clients.install_clients
    sentences = work(names, os.environ, dry_run=options.dry_run)
    if sentences and not options.remove:
        sentences += [
            f"{clients.client_title(name)} was not found on this machine, "
            "and is wired all the same."
            for name in names
            if name in missing
        ]
    if options.json:
        emit_json({"clients": names, "missing": missing, "said": sentences})
        return 0
    if not sentences:
        print("Nothing to remove." if options.remove else "All is in place; nothing changed.")
        return 0
    is_whole = options.verbose or options.dry_run
    lines = [each for each in sentences if is_whole or not clients.is_of_files(each)]
    places = person.person_places()
    if options.remove and not options.dry_run:  # who is connected no more, and what stays
        if gone := [clients.client_title(name) for name in names if name in wired]:
            lines.append(f"Disconnected: {', '.join(gone)}. Start them again.")
        lines.append(f"Your notes stay in {home_of(places)}.")
        file = str(places.personal_settings)
        origins = load_settings(places.environment, places.personal_settings).origins
        if any(origins[name] == file for name in _KEYS):
            lines.append(f"{file} stays, with an API key in it.")
    elif not options.dry_run:  # what a person wants to know at the end
        names = [name for name in names if clients.is_wired(name, os.environ)]
        notes = "".join(f" {clients.NOTES[name]}." for name in names if name in clients.NOTES)
        lines += [
            f"Connected, for all your projects: {', '.join(map(clients.client_title, names))}.",
            f"Notes will lie in {home_of(places)}: what is about you in `me`, a folder for each "
            "project.",
            "Changed: their settings have our entries, and files of ours lie beside them. "
            "`mdmemory setup --remove --dry-run` names each.",
            f'Next: start them again, and say "Remember that ..." to one.{notes}',
            "To take all of this out again: `mdmemory setup --remove`.",
        ]
    print("\n".join(lines))
    return 0


def _chosen_names(options: Namespace, missing: list[str]) -> list[str]:
    """The clients that are meant, each once; none named: all that are not `missing`."""
    known = ", ".join(clients.NAMES)
    for name in options.clients:
        if name not in clients.NAMES:
            raise UsageError(
                f"There is no client {name!r} that mdmemory knows.", f"Known: {known}."
            )
    if options.clients:
        return [*dict.fromkeys(options.clients)]
    names = [name for name in clients.NAMES if options.remove or name not in missing]
    if not names:
        raise NotFound(
            "No client that mdmemory knows is installed.",
            f"Name one to set it up all the same, such as `mdmemory setup opencode`: {known}.",
        )
    return names
