"""OpenCode once per person: a plugin in the person's own configuration folder, for all projects.

What is written names no version of mdmemory and no store: the launcher finds the one, the bridge
the other. A configuration of the person's is never written, and nothing keeps npm from the folder.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from mdmemory import protocol
from mdmemory.config import person
from mdmemory.files import read_regular
from mdmemory.hosts import launcher, own_files, wiring_record
from mdmemory.hosts.opencode import files, wiring
from mdmemory.hosts.opencode.files import Wanted
from mdmemory.hosts.opencode.places import Place
from mdmemory.note.stamps import explain_outdated, read_stamp
from mdmemory.store.project import person_root


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
    files.refuse_links(where)
    left_out = [files.SKILL] if has_skill(environment) else []
    wanted = Wanted(
        protocol.short_protocol(), [str(launcher.launcher_place(environment))], left_out
    )
    started = launcher.install_launcher(environment, dry_run=True)
    record = wiring_record.read(environment)
    wired = wiring.install_wiring(where, wanted, mcp=mcp, dry_run=dry_run, record=record)
    if not dry_run:
        launcher.install_launcher(environment)
    sentences = [*wired, *started]
    if no_npm and not mcp and not dry_run:
        sentences += wiring.spare_npm(where)
    elif sentences and not mcp and not files.is_spared(where):
        sentences.append(
            f"At its next start OpenCode runs `npm install` in {where.folder}, as for every "
            "plugin: some 20 s once, and 90 s at every start without a network."
        )
    return sentences


def remove_personal(environment: Mapping[str, str], *, dry_run: bool = False) -> list[str]:
    """Take out exactly what `install_personal` put in; sentences, [] when nothing of ours is there.
    The launcher stays: other clients may start it."""
    record = wiring_record.read(environment)
    return wiring.remove_wiring(personal_place(environment), dry_run=dry_run, record=record)


def is_wired(environment: Mapping[str, str]) -> bool:
    """Whether our plugin is in the person's folder, or a configuration of ours in its place."""
    folder = personal_place(environment).folder
    configuration = folder / files.CONFIGURATION
    if (folder / files.PLUGIN).is_file():
        return True
    return configuration.is_file() and bool(read_stamp(read_regular(configuration)))


def has_skill(environment: Mapping[str, str]) -> bool:
    """Whether our skill is among Claude Code's, which OpenCode reads as well: one of the same name
    is then never used, and reported in its log."""
    return (person.host_places(environment).claude.parent / files.SKILL).is_file()


def share_skill(environment: Mapping[str, str]) -> list[str]:
    """Bring a skill that is there already in line with Claude Code's coming or going; sentences."""
    where = personal_place(environment)
    path = where.folder / files.SKILL
    if not is_wired(environment) or path.is_symlink() or path.is_file() != has_skill(environment):
        return []
    record, skill = wiring_record.read(environment), files.skill_file(where)
    if path.is_file():
        return wiring.drop_files(where, [files.SKILL], record)
    record.note_missing([path])
    record.save()
    own_files.write([skill])
    return [f"Installed {path}."]


def personal_findings(environment: Mapping[str, str]) -> list[str]:
    """What may be wrong with the person's wiring, a sentence each; [] where there is none."""
    file = personal_place(environment).folder / files.PLUGIN
    if not file.is_file():
        return []
    wrong = explain_outdated(read_regular(file), file, "Run `mdmemory setup opencode` again.")
    return [wrong] if wrong else []
