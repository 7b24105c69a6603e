"""Stores of any size for measuring: the same seed gives the same bytes.

Heads and bodies as mdmemory writes them, and one in twenty as a person might, which has to go
through YAML.
"""

import random
from datetime import date, timedelta
from pathlib import Path

HAND_MADE = 0.05
FIRST_DAY = date(2025, 1, 1)
DAYS = 400
TYPES = {"user": 2, "feedback": 3, "project": 4, "reference": 1}  # how often, relatively
SOURCES = {"extraction": 7, "explicit": 2, "manual": 1}
WORDS = (
    *("pnpm", "npm", "lockfile", "workspace", "monorepo", "release", "branch", "review", "squash"),
    *("commit", "tests", "fixture", "pytest", "ruff", "mypy", "postgres", "redis", "queue"),
    *("worker", "deploy", "staging", "dashboard", "alert", "latency", "budget", "short", "answers"),
    *("plain", "English", "tables", "diagrams", "morning", "meeting", "Berlin", "laptop", "vim"),
    *("keyboard", "editor", "theme", "invoice", "customer", "contract", "migration", "schema"),
    *("index", "backup", "restore", "rollout", "cache", "header", "token", "proxy", "timeout"),
    *("retry", "snapshot", "docs", "changelog", "license", "the", "for", "is", "not", "and"),
    *("简短", "回答", "数据库"),
)


def write_store(folder: Path, count: int, seed: int = 1) -> None:
    """Write `count` notes into the folder, which must exist."""
    for file, text in notes(count, seed).items():
        (folder / file).write_text(text, encoding="utf-8")


def notes(count: int, seed: int = 1) -> dict[str, str]:
    """The text of each note, by file name."""
    dice = random.Random(seed)
    found = {}
    for number in range(count):
        type = _pick(dice, TYPES)
        name = "-".join(w.lower() for w in dice.sample(WORDS, 3)) + f"-{number}"
        write = _by_hand if dice.random() < HAND_MADE else _by_machine
        found[f"{type}-{name}.md"] = write(dice, type, name)
    return found


def _by_machine(dice: random.Random, type: str, name: str) -> str:
    created = dice.randrange(DAYS)
    lines = [f"name: {name}", f"description: {_sentence(dice, 8)}", "metadata:", f"  type: {type}"]
    if type == "project" and dice.random() < 0.3:
        lines.append("  kind: decision")
    lines.append(f"  source: {_pick(dice, SOURCES)}")
    if dice.random() < 0.1:
        lines.append(f"  importance: {dice.choice(['low', 'high'])}")
    updated = created if dice.random() < 0.8 else dice.randrange(created, DAYS)
    lines += [f"  created: {_day(created)}", f"  updated: {_day(updated)}"]
    if dice.random() < 0.15:
        lines.append(f"  reinforced: {dice.randint(1, 6)}")
        lines.append(f"  last_reinforced: {_day(dice.randrange(updated, DAYS))}")
    if dice.random() < 0.7:
        lines += [f"  session: ses_{dice.randrange(16**8):08x}", f"  turn: msg_{dice.random()}"]
    return "---\n" + "\n".join(lines) + f"\n---\n\n{_body(dice)}\n"


def _by_hand(dice: random.Random, type: str, name: str) -> str:
    """Comments, quotes, folded lines, flow style, keys of the person's own."""
    day = _day(dice.randrange(DAYS))
    heads = [
        f"# by hand\nname: '{name}'\ndescription: >-\n  {_sentence(dice, 5)}\n"
        f"  {_sentence(dice, 4)}\ntags: [a, b]\nmetadata: {{type: {type}, created: {day}}}",
        f'description: "{_sentence(dice, 7)}: \\u00e9"\nname: {name}\nmetadata:\n'
        f"    type: {type}   # four spaces\n    created: {day}",
    ]
    return f"---\n{dice.choice(heads)}\n---\n{_body(dice)}\n"


def _body(dice: random.Random) -> str:
    sentences = [_sentence(dice, dice.randint(6, 16)) + "." for _ in range(dice.randint(1, 6))]
    return " ".join(sentences) + f"\n\nWhy: {_sentence(dice, 9)}. See [[{dice.choice(WORDS)}]]."


def _sentence(dice: random.Random, words: int) -> str:
    return " ".join(dice.choices(WORDS, k=words)).capitalize()


def _day(number: int) -> str:
    return (FIRST_DAY + timedelta(days=number)).isoformat()


def _pick(dice: random.Random, weights: dict[str, int]) -> str:
    return dice.choices(list(weights), list(weights.values()))[0]
