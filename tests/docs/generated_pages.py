"""The pages with tables that are made: of the settings, and of the commands.

`python tests/docs/generated_pages.py` writes them. A table is between `<!-- its name -->` and
`<!-- end -->`; the rest of a page is written by hand.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from mdmemory.cli.commands import COMMANDS, COMMON, GROUPS, command_parser
from mdmemory.config.table import TABLE, Setting

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("settings.md", "command-line.md")
_PLACE = re.compile(r"(<!-- (\w+) -->\n).*?(<!-- end -->\n)", re.DOTALL)
# What a value must be, as a table shows it; `mdmemory config set` has whole sentences.
SHORTER = (
    (r"^a whole number of at least (\d+)$", r"at least \1"),
    (r"^a whole number from (\d+) to (\d+)$", r"\1 to \2"),
    (r"^0, or a whole number of at least (\d+)$", r"0, or at least \1"),
    (r" without user, query or fragment$|^printable ASCII without spaces$", ""),
    (r"^true or false$|^an? (?:absolute folder|model|command)$", ""),  # the default shows it
    (r"^a list of | such as [^ ,]+(?=,|$)", ""),
)


def generated_pages() -> dict[str, str]:
    """The pages as they have to be, by name. KeyError where a page names no table of ours."""
    made = tables()

    def fill(place: re.Match[str]) -> str:
        return f"{place[1]}\n{made[place[2]]}\n{place[3]}"

    return {page: _PLACE.sub(fill, (DOCS / page).read_text("utf-8")) for page in PAGES}


def tables() -> dict[str, str]:
    """Each table by its name."""
    common = [each for each in TABLE if each.common]
    others = [each for each in TABLE if not each.common]
    shared = " and ".join(f"`{each.name}`" for each in common if not each.personal)
    return {
        "common": _settings(common),
        "shared": f"Of these, a project's file may set {shared}.\n",
        "others": _settings(each for each in others if not each.personal),
        "personal": _settings(each for each in others if each.personal),
        "commands": "".join(_commands()).lstrip(),
    }


def _settings(settings: Iterable[Setting]) -> str:
    head = "name, variable | what it does (value, `default`)\n---|---\n"
    return head + "".join(map(_setting, settings))


def _setting(setting: Setting) -> str:
    names = "<br>".join(f"`{name}`" for name in (setting.name, *setting.variables))
    value = setting.kind.words
    for long, short in SHORTER:
        value = re.sub(long, short, value)
    default = f"`{str(setting.default).lower()}`" if setting.default != "" else ""
    brackets = ", ".join(filter(None, (value, default)))
    return f"{names} | {setting.help}{f' ({brackets})' if brackets else ''}\n"


def _commands() -> Iterator[str]:
    """The commands with their options, under the headings of `--help-all`."""
    for name, _, what in COMMANDS:
        if name in GROUPS:
            yield f"\n## {GROUPS[name]}\n\ncommand | does\n---|---\n"
        parser = command_parser(name)
        usage = (parser.usage or "").removeprefix("mdmemory ")
        usage = usage.replace(" [OPTIONS]", "").replace("|", " or ")
        names = [action.option_strings for action in parser._actions if action.dest not in COMMON]
        options = ", ".join(f"`{option}`" for each in names for option in each)
        yield f"`{usage}` | {what}{f': {options}' if options else ''}\n"


if __name__ == "__main__":
    for page, text in generated_pages().items():
        (DOCS / page).write_text(text, encoding="utf-8")
