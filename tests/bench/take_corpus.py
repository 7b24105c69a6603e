"""Take a written corpus into the project: `python tests/bench/take_corpus.py FOLDER HALF`.

FOLDER holds notes.jsonl, questions.jsonl and messages.jsonl; HALF is a folder in tests/data/search,
as `half-1`. Everything is checked first: the formats, ids and what they refer to, doubles, secrets.
Then the three files are written with the keys that count, one object a line. Exits 1, and writes
nothing, where something is wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.corpus import BadDataError
from bench.own import DATA
from bench.readers import NOTES, QUESTIONS, collection, rows

from mdmemory.privacy import is_secret

MESSAGES = "messages.jsonl"
KEYS = {
    NOTES: ("id", "lang", "type", "name", "description", "body", "created", "aliases"),
    QUESTIONS: ("id", "lang", "gold", "question"),
    MESSAGES: ("id", "lang", "needs", "text"),
}
_NEEDED = {QUESTIONS: ("gold",), MESSAGES: ("needs",)}  # also where they are empty
Row = Mapping[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    options = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    options.add_argument("folder", type=Path)
    options.add_argument("half", help="the folder in tests/data/search, as half-2")
    options.add_argument(
        "--harmless", nargs="*", default=[], metavar="ID", help="rows that are no secret after all"
    )
    chosen = options.parse_args(arguments)
    try:
        collection(chosen.folder / QUESTIONS)
        tables = {name: [row for _, row in rows(chosen.folder / name)] for name in KEYS}
    except BadDataError as problem:
        print(problem, file=sys.stderr)
        return 1
    if wrong := [*problems(tables, chosen.harmless)]:
        print(*wrong, sep="\n", file=sys.stderr)
        return 1
    target = DATA / chosen.half
    target.mkdir(exist_ok=True)
    for name, table in tables.items():
        lines = (compact(row, KEYS[name], _NEEDED.get(name, ())) for row in table)
        (target / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(*counts(tables), sep="\n")
    return 0


def problems(tables: Mapping[str, Sequence[Row]], harmless: Sequence[str] = ()) -> Iterator[str]:
    """What is wrong with the files, a sentence each; `harmless` rows (ids) hold no secret."""
    notes = {row["id"] for row in tables[NOTES]}
    for name, table in tables.items():
        for key in ("id", *(key for key in ("name", "question", "text") if key in KEYS[name])):
            times = Counter(str(row.get(key, "")).strip().casefold() for row in table)
            for value in (value for value, number in times.items() if number > 1 or not value):
                yield f"{name}: {key} {value[:60]!r} is missing or there twice."
        for row in table:
            for each in (*row.get("gold", ()), *row.get("needs", ())):
                if each not in notes:
                    yield f"{name}, {row['id']}: there is no note {each!r}."
            if row["id"] not in harmless and any(is_secret(str(v)) for v in row.values()):
                yield f"{name}, {row['id']}: looks like a secret."


def compact(row: Row, keys: Sequence[str], needed: Sequence[str]) -> str:
    """One line with the keys that have a value."""
    kept = {key: row.get(key) for key in keys if row.get(key) or key in needed}
    return json.dumps(kept, ensure_ascii=False)


def counts(tables: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    """How many rows there are by language, and how many of them find or need nothing."""
    for name, table in tables.items():
        langs = Counter(row["lang"] for row in table)
        empty = sum(not row.get("gold", row.get("needs", True)) for row in table)
        told = ", ".join(f"{lang} {number}" for lang, number in langs.items())
        yield f"{name}: {len(table)} rows ({told}), {empty} without a note"


if __name__ == "__main__":
    sys.exit(main())
