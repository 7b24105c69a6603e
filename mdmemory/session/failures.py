"""The failure that a tool's result reports: its category and its telling lines. Pure.

Only an exit code other than 0 is a failure. Words such as "error" in the output of a successful
command, or of `git log` or `cat`, are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mdmemory import bounds
from mdmemory.session.cleaning import line
from mdmemory.session.sections import Error, fingerprint

_TOKENS = re.compile(
    r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.|(?P<here><<-?\s*['\"]?\w)|\d?>&[\d-]|&>+"
    r"|(?P<op>&&|\|\||\|&|\||;|\n|&)|[^'\"\\&|;\n<>\d]+|.",
    re.DOTALL,
)
# Words that run another program and say nothing about the command itself.
_WRAPPERS = re.compile(
    r"(?:\s+|\w+=(?:'[^']*'|\"[^\"]*\"|[^\s'\"]*)(?=\s|$)"
    r"|(?:sudo|time|nice|nohup|env|exec|command|npx|bunx|uvx|xvfb-run|dotenv)(?:\s+-{1,2}\w\S*)*\s"
    r"|timeout(?:\s+-{1,2}\S+)*\s+[\d.]+[smhd]?\s"
    r"|(?:pnpm|yarn|bun|npm)\s+(?:exec|dlx|x)\s+(?:--\s+)?"
    r"|(?:uv|poetry|pdm|hatch|rye|pipenv|bundle|conda)\s+(?:run|exec)\s(?:\s*-{1,2}\w\S*)*"
    r"|(?:\S*/)?python[\d.]*\s+-m\s+(?=[a-z])|[({]\s*)+"
)
MAX_WRAPPED = 500  # characters that wrappers may take
_FOLDER = re.compile(r"(?:\S*/)(?=(?:bin|scripts)/)(?:bin|scripts)/")


def list_decisive(command: str) -> tuple[list[str], bool]:
    """The bare commands of a line whose ends its exit code tells about, in order; and whether a
    success of the line means that each of them succeeded."""
    chain: list[tuple[str, str]] = []  # each command with the operator that stands before it
    before, words = "", ""
    for token in _TOKENS.finditer(command):
        if token["here"]:
            break  # what follows is text
        if token["op"] is None:
            words += token[0]
            continue
        chain.append((before, words))
        before, words = token["op"], ""
    known: list[str] = []
    certain = True
    chain.append((before, words))
    for op, written in chain:
        if not (words := written.strip()):
            continue
        if op in (";", "\n", "&"):
            known, certain = [], True
        elif op in ("|", "|&") and "pipefail" not in command and known:
            known.pop()
        certain = certain and op != "||"
        # without assignments, wrappers and its program's folder
        if wrapped := _WRAPPERS.match(words[:MAX_WRAPPED]):
            words = words[wrapped.end() :]
        known.append(_FOLDER.sub("", words, count=1) if _FOLDER.match(words) else words)
    return known, certain


LINES = 5  # of an output, that go into a summary
SUMMARY = 280  # characters
MAX_NAME = 40  # characters of a command there
FILES = 5  # that an error names
MAX_PATH = 200
SHELLS = ("bash", "shell", "sh", "terminal")
INTERRUPTED = frozenset((130, 137, 141, 143))  # by a person, a limit, or a closed pipe
# What programs say that do not call it an error.
REFUSALS = (
    r"\b(?:cannot|can't|could ?n[o']t|could not|unable to|not found|no such|not (?:a|an|allowed"
    r"|permitted|supported|recognized)|denied|refused|rejected|aborted|timed? ?out|unreachable"
    r"|unauthorized|forbidden|invalid|illegal|unknown|unexpected|unrecognized|unsupported|missing"
    r"|does ?n[o']t exist|does not exist|already exists|conflict|killed|exceed(?:s|ed)|expired"
    r"|insufficient|mismatch|undefined|incompatible|no space|out of memory|fehlgeschlagen|fehler"
    r"|nicht gefunden|erreur|échou\w+|introuvable|falló|errore?|erro|falhou)\b"
    r"|错误|失败|找不到|エラー|失敗|오류|실패"
)


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of error: `command` matches the start of its commands, `says` the telling lines of
    their outputs."""

    name: str
    command: str
    says: str = r"\b(?:error|failed|failure|fatal|exception|traceback|panic)\b"


_JS = r"(?:npm|pnpm|yarn|bun|deno task)\s+(?:run\s+|-\w+\s+)*"
# The first that matches a command is its category. A command of no category is `tool`.
CATEGORIES: tuple[Category, ...] = (
    Category(
        "typecheck",
        r"(?:mypy|dmypy|pyright|basedpyright|pyre|ty|tsc|vue-tsc|svelte-check|flow)\b|cargo check\b"
        rf"|{_JS}(?:type-?check|types|tsc|check-types)\b|make (?:mypy|type-?check|types)\b",
        r"\berror\b|TS\d{3,5}",
    ),
    Category(
        "lint",
        r"(?:ruff|flake8|pylint|eslint|biome|prettier|stylelint|shellcheck|golangci-lint|rubocop)\b"
        r"|(?:black|isort)\b.* --check|cargo (?:clippy|fmt)\b|go vet\b|pre-commit\b"
        rf"|{_JS}(?:lint|format)\b|make (?:lint|format)\b",
        r"\b(?:error|warning)\b|:\d+:\d+",
    ),
    Category(
        "test",
        r"(?:pytest|py\.test|unittest|tox|nox|jest|vitest|mocha|ava|rspec|phpunit|ctest|cypress)\b"
        r"|playwright test\b|(?:go|cargo|dotnet|mix|swift|rake|deno|just|zig build) test\b"
        r"|cargo nextest\b|(?:\./)?(?:mvnw?|gradlew?)\b.*\b(?:test|verify|check)\b"
        rf"|{_JS}(?:test|t\b)|make (?:\S*test\S*|check)\b|node --test\b",
        r"\b(?:FAIL(?:ED|URE)?|ERROR|failed|failing)\b|(?<=\w)(?:Error|Exception)\b|^E\s|✕|✗",
    ),
    Category(
        "build",
        r"(?:make|cmake|ninja|meson|bazel|webpack|rollup|esbuild|gcc|cc|g\+\+|clang\S*|rustc|javac)"
        r"(?=\s|$)|(?:vite|next|astro|cargo|go|docker|swift|zig|dotnet) build\b"
        rf"|(?:\./)?(?:mvnw?|gradlew?)\b|{_JS}build\b|docker compose build\b|build\b",
    ),
    Category(
        "runtime",
        r"(?:python[\d.]*|node|deno|bun|ruby|perl|php|java|lua|tsx|ts-node|Rscript)\b(?!\s+-V)"
        rf"|(?:go|cargo|dotnet|swift) run\b|{_JS}(?:start|dev|serve)\b|\./\S+",
        r"(?<=\w)(?:Error|Exception)\b|\b(?:error|panic|fatal)\b|Traceback",
    ),
    Category("tool", r"(?!)"),
)
# Commands that show things: their output is no error of theirs, and neither is an empty result.
SHOWING = (
    r"git\s+(?:-\S+\s+(?:[^-\s]\S*\s+)?)*(?:log|show|diff|status|blame|grep|reflog|rev-parse|rev-list"
    r"|ls-files|ls-tree|describe|cat-file|branch|shortlog|merge-base|config|check-ignore)\b"
    r"|(?:cat|bat|head|tail|less|more|ls|find|fd|tree|e?grep|fgrep|rg|ag|ack|diff|cmp|test|which"
    r"|type|echo|printf|wc|sort|uniq|awk|sed|cut|tr|jq|yq|tee|xargs|true|false|cd|pwd|sleep|kill"
    r"|pgrep|pkill|ps|stat|file|du|df|printenv|export|set|source|read|man|history|comm|nl)\b|\[|\."
    r"(?=\s)"
)
_PATH = re.compile(
    r"(?<![\w:/@.+-])(?:\.{0,2}/)?(?:[\w.+-]+/)*[\w+-][\w.+-]*\.[A-Za-z]\w{0,7}(?=[^\w/]|$)"
)


def find_failure(
    tool: str, args: Mapping[str, Any], output: str, exit_code: int | None
) -> Error | None:
    """The failure that a result reports, or None. `output` is `visible` text."""
    if not exit_code or exit_code in INTERRUPTED:  # None: the tool has none
        return None
    command, output = command_of(tool, args), bounds.ends_of(output)
    category, closed_by = "tool", _mark("tool", tool)
    if command:
        real = [each for each in list_decisive(command)[0] if not re.match(SHOWING, each)]
        if not real:
            return None
        # of several the one whose words are in the output; else the last one
        names = [category_of(each) for each in real]
        says = {name: _find_words(name) for name in names if name != "tool"}
        likely = (name for name in reversed(names) if name in says)
        told = (name for name in likely if re.search(says[name], output))
        category = next(told, names[-1]) if len({*names}) > 1 else names[-1]
        closed_by = _mark(category, real[-1])
    lines = pick_telling(output.split("\n"), category)
    # of an unknown kind the command says more than the kind
    whose = f"{line(command or tool, MAX_NAME)}: " if category == "tool" or not lines else ""
    summary = line(f"{whose}{' | '.join(lines) or f'exit code {exit_code}'}", SUMMARY)
    named = dict.fromkeys(path for each in lines for path in paths(each))
    source = fingerprint(f"{tool}\n{command}")
    files = [line(path, MAX_PATH) for path in [*named][:FILES]]
    return Error(category, summary, fingerprint(summary), source, files, "open", 0, closed_by)


def list_succeeded(tool: str, args: Mapping[str, Any], exit_code: int | None) -> set[str]:
    """The categories of the commands that a result proves successful; of those without a category
    `tool`, and `tool` with a mark of the program, which closes that program's errors alone."""
    if exit_code != 0:
        return set()
    command = command_of(tool, args)
    if not command:
        return {"tool", _mark("tool", tool)}
    known, certain = list_decisive(command)
    real = [each for each in known if certain and not re.match(SHOWING, each)]
    return {name for each in real for name in (category_of(each), _mark(category_of(each), each))}


def _mark(category: str, command: str) -> str:
    """The category; of a command without one also 12 hex digits of its program."""
    program = (command.split(maxsplit=1) or [""])[0]
    return f"tool {fingerprint(program)}" if category == "tool" else category


def category_of(command: str) -> str:
    """The category of a bare command."""
    return next((each.name for each in CATEGORIES if re.match(each.command, command)), "tool")


def command_of(tool: str, args: Mapping[str, Any]) -> str:
    """The command line of a shell tool, "" for any other tool."""
    command = args.get("command")
    is_one = tool.lower() in SHELLS and isinstance(command, str)
    return bounds.beginning_of(str(command)) if is_one else ""


def pick_telling(lines: Iterable[str], category: str) -> list[str]:
    """The first lines that say what went wrong: by the words of the category, else by those of any
    error, else by those of a refusal; at last the last line alone."""
    full = [each.strip() for each in lines if each.strip()]
    for says in (_find_words(category), _find_words(""), REFUSALS):
        if matching := [each for each in full if re.search(says, each, re.IGNORECASE)]:
            return matching[:LINES]
    return full[-1:]


def paths(text: str) -> list[str]:
    """The words of a text that look like paths of files."""
    return [path.removeprefix("./") for path in _PATH.findall(text[:500])]


def _find_words(name: str) -> str:
    return next((each.says for each in CATEGORIES if each.name == name), Category("", "").says)
