"""Wires a store into OpenCode, in a project or once per person, and takes it out again; what may be
wrong between the two.

What a person wrote or edited stays; everything is checked before the first byte is written.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from mdmemory import assets, protocol
from mdmemory.config import person
from mdmemory.errors import MdmemoryError
from mdmemory.files import read_regular
from mdmemory.hosts import client_config, launcher, settings_files
from mdmemory.hosts.client_config import WiringRecord
from mdmemory.hosts.opencode import files
from mdmemory.hosts.opencode.files import CONFIGURATION, INDEX_FILE, PLUGIN, Place, Wanted
from mdmemory.hosts.settings_files import OwnFile
from mdmemory.hosts.texts import SKILL
from mdmemory.note.stamps import explain_outdated, read_stamp
from mdmemory.store.project import person_root

DRY_RUN = "A dry run writes nothing. Without it:"
_INIT = "`mdmemory init --opencode`"
_AGAIN = f"Run {_INIT} again"


def install_wiring(
    place: Place, wanted: Wanted, *, mcp: bool = False, dry_run: bool = False,
    record: WiringRecord | None = None,
) -> list[str]:  # fmt: skip
    """Make OpenCode read the protocol and the store's index, and load our plugin; sentences.

    With `mcp` a configuration of ours with an MCP server stands in place of the plugin: never both,
    because a tool that is there twice confuses models. Nothing keeps npm from a folder that is the
    person's; there `record` notes which folders are made. Raises MdmemoryError for a configuration
    that is not valid, and for links.
    """
    _refuse_unwritable(place)
    ours = files.own_files(place, wanted, mcp=mcp)
    fresh, sentences = settings_files.plan_files(ours, place.name)
    settings_files.refuse_no_folders([file.path for file in fresh])
    if mcp:
        sentences += files.missing_settings(place, wanted)
    is_spared = not mcp and not place.config_folder
    if is_spared:
        sentences += files.plan_no_npm(place)[1]
    if dry_run:
        return sentences
    if record and fresh:
        record.note_missing([file.path for file in fresh])
        record.save()
    settings_files.write_own(fresh)
    if is_spared:
        spare_npm(place)
    if mcp:
        files.let_npm(place)
    unwanted = [PLUGIN if mcp else CONFIGURATION, *wanted.left_out]
    return sentences + drop_files(place, unwanted, record)


def remove_wiring(
    place: Place, *, dry_run: bool = False, record: WiringRecord | None = None
) -> list[str]:
    """Take back what `install_wiring` did; sentences on it, [] when nothing of ours is there.

    Only what is as we write it goes. Raises MdmemoryError as `install_wiring` does, before anything
    is changed."""
    _refuse_unwritable(place)
    if not dry_run:
        files.let_npm(place)
    sentences = drop_files(place, files.NAMES, record, dry_run=dry_run)
    wanted = {os.path.realpath(file) for file in place.wanted}
    return sentences + [
        f"{place.name(file)} still lists {entry}, in a spelling that is not ours."
        for file, entry in files.all_instructions(place)
        if place.resolve(entry) in wanted and not dry_run
    ]


def _refuse_unwritable(place: Place) -> None:
    """Raise MdmemoryError where one of our files would be written through a link, or where a
    configuration is not valid. A linked one is a person's, and only read."""
    for name in files.NAMES:
        if name != CONFIGURATION:
            place.refuse_links(place.folder / name)
    files.all_instructions(place)


def drop_files(
    place: Place, names: Sequence[str], record: WiringRecord | None = None, *,
    dry_run: bool = False,
) -> list[str]:  # fmt: skip
    """Remove those of our files that nobody edited; sentences on it.

    Folders that are empty then go too: those of the `record`, in a project all below its root.
    """
    paths = [place.folder / name for name in names]
    gone, sentences = settings_files.plan_removal(paths, place.name)
    if dry_run:
        return sentences
    for path in gone:
        path.unlink()
    if record is None:
        settings_files.drop_empty(
            {each for path in gone for each in path.parents if place.root in each.parents}
        )
    elif gone:
        record.drop_empty_folders()
    return sentences


def is_used(place: Place) -> bool:
    """Whether OpenCode has anything in a project, so that its wiring is worth a word."""
    return place.folder.exists() or bool(place.configurations())


def spare_npm(place: Place) -> list[str]:
    """Spare OpenCode an npm install in the person's own configuration folder; sentences."""
    planned, sentences = files.plan_no_npm(place)
    for path, text in planned.items():
        settings_files.replace_file(path, text.encode(), 0o644)
    return sentences


# --- once per person: that names no version of mdmemory and no store, because the launcher finds
# the one, the bridge the other


def personal_place(environment: Mapping[str, str], store: Path | None = None) -> Place:
    """The person's configuration folder of OpenCode, with their own store."""
    root = person_root(person.person_places(environment))
    return Place(root, store or root, person.opencode_folder(environment))


def is_installed(environment: Mapping[str, str]) -> bool:
    """Whether the person has OpenCode: on the PATH, or a folder of its configuration."""
    program = shutil.which("opencode", path=environment.get("PATH", ""))
    return program is not None or person.opencode_folder(environment).is_dir()


def install_personal(
    environment: Mapping[str, str], *, store: Path | None = None, mcp: bool = False,
    no_npm: bool = False, dry_run: bool = False,
) -> list[str]:  # fmt: skip
    """Install what is missing or outdated; sentences, [] when all is in place.

    With `mcp` an MCP server that reads the index of `store` stands in place of the plugin. Only
    with `no_npm` npm is kept from the folder. Raises MdmemoryError where a file of ours would be
    written through a link or over another's.
    """
    where = personal_place(environment, store)
    left_out = [SKILL] if has_skill(environment) else []
    start = [str(launcher.launcher_place(environment))]
    wanted = Wanted(protocol.short_protocol(), start, left_out)
    started = launcher.install_launcher(environment, dry_run=True)
    record = client_config.read_record(environment)
    wired = install_wiring(where, wanted, mcp=mcp, dry_run=dry_run, record=record)
    if not dry_run:
        launcher.install_launcher(environment)
    sentences = [*wired, *started]
    if no_npm and not mcp and not dry_run:
        sentences += spare_npm(where)
    elif sentences and not mcp and not files.is_spared(where):
        sentences.append(
            f"At its next start OpenCode runs `npm install` in {where.folder}, as for every "
            "plugin: some 20 s once, and 90 s at every start without a network."
        )
    return sentences


def remove_personal(environment: Mapping[str, str], *, dry_run: bool = False) -> list[str]:
    """Take out exactly what `install_personal` put in; sentences, [] when nothing of ours is there.
    The launcher stays: other clients may start it."""
    record = client_config.read_record(environment)
    return remove_wiring(personal_place(environment), dry_run=dry_run, record=record)


def is_wired(environment: Mapping[str, str]) -> bool:
    """Whether our plugin is in the person's folder, or a configuration of ours in its place."""
    folder = personal_place(environment).folder
    path = folder / CONFIGURATION
    is_ours = path.is_file() and read_stamp(read_regular(path))
    return (folder / PLUGIN).is_file() or bool(is_ours)


def has_skill(environment: Mapping[str, str]) -> bool:
    """Whether our skill is among Claude Code's, which OpenCode reads as well: one of the same name
    is then never used, and reported in its log."""
    return (person.host_places(environment).claude.parent / SKILL).is_file()


def share_skill(environment: Mapping[str, str]) -> list[str]:
    """Bring a skill that is there already in line with Claude Code's coming or going; sentences."""
    where = personal_place(environment)
    path = where.folder / SKILL
    if not is_wired(environment) or path.is_symlink() or path.is_file() != has_skill(environment):
        return []
    record = client_config.read_record(environment)
    if path.is_file():
        return drop_files(where, [SKILL], record)
    record.note_missing([path])
    record.save()
    settings_files.write_own([OwnFile(path, assets.read(assets.SKILL))])
    return [f"Installed {path}."]


# --- what may be wrong, a sentence each with the next step


def examine_project(place: Place, command: Sequence[str], personal: Path) -> list[str]:
    """All findings on a project. `command` starts this mdmemory, `personal` is the person's own
    configuration folder of OpenCode."""
    findings, path = reading_problems(place, personal), place.folder / PLUGIN
    if not path.is_file():
        return findings
    name = place.name(path)
    if wrong := explain_outdated(read_regular(path), name, f"{_AGAIN}."):
        findings.append(wrong)
    words = _read_constants(path).get("COMMAND")
    if words and not os.access(words[0], os.X_OK):
        findings.append(
            f"{name} starts {words[0]}, which does not exist or cannot be run. {_AGAIN}."
        )
    elif words and words != [*command]:
        findings.append(f"{name} starts another mdmemory than this one: {words[0]}. {_AGAIN}.")
    with suppress(MdmemoryError):  # told by `reading_problems`
        findings += [
            f"The plugin and an MCP server in {place.name(server)} both bring our tools. "
            f"{_AGAIN} to keep the plugin, or with --mcp to keep the server."
            for server in files.serving_configurations(place)[:1]
        ]
    return findings


def reading_problems(place: Place, personal: Path | None = None) -> list[str]:
    """What keeps OpenCode from reading this store's memory; [] when it is wired.

    A plugin in the `personal` folder makes OpenCode read the index of every store.
    """
    personal, path = place.config_folder or personal, place.folder / PLUGIN
    is_wired_here = place.config_folder is None and path.is_file()
    if personal and not is_wired_here and "INSTRUCTIONS" in _read_constants(personal / PLUGIN):
        return []
    try:
        listed = [(entry, place.resolve(entry)) for _, entry in files.all_instructions(place)]
    except MdmemoryError as problem:
        return [problem.message]
    by_plugin = _read_constants(path).get("INSTRUCTIONS", [])
    resolved = {real for _, real in listed}
    resolved |= {os.path.realpath(path.parent / name) for name in by_plugin}
    index = os.path.realpath(place.store / INDEX_FILE)
    findings = []
    for file in place.wanted:
        if os.path.realpath(file) not in resolved:
            findings.append(f"OpenCode does not read {place.shown(file)}. Run {_INIT}.")
        elif not file.exists():
            findings.append(f"OpenCode is told to read {place.shown(file)}, which does not exist.")
    return findings + [
        f"OpenCode also reads {entry}, which is not this store's index."
        for entry, real in dict.fromkeys(listed)
        if real.rpartition("/")[2] == INDEX_FILE and real != index
    ]


def _read_constants(path: Path) -> dict[str, list[str]]:
    text = read_regular(path).decode("utf-8", "replace") if path.is_file() else ""
    return files.plugin_constants(text)


def personal_findings(environment: Mapping[str, str]) -> list[str]:
    """What may be wrong with the person's wiring, a sentence each; [] where there is none."""
    file = personal_place(environment).folder / PLUGIN
    if not file.is_file():
        return []
    wrong = explain_outdated(read_regular(file), file, "Run `mdmemory setup opencode` again.")
    return [wrong] if wrong else []
