"""The command that finds: search."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from mdmemory.cli.commands import show_value, visible_text, warn_person
from mdmemory.cli.progress import Progress

if TYPE_CHECKING:
    from mdmemory.layers import Layers
    from mdmemory.search.results import Hit

_SHOWN = 4  # lines of a hit that are shown to a person
_TOLD = 3  # of these, where the description stands above them
_NO_PROOF = "A match is no proof."
_WIDTH = 400  # characters of such a line
_MARK = ("\x1b[1;33m", "\x1b[0m")
_TITLE = ("\x1b[1m", "\x1b[0m")


def run_search(layers: Layers, options: Namespace) -> int:
    query, every = " ".join(options.query), options.all_projects
    with Progress(None if every else layers.main, json=options.json) as progress:
        results = layers.search(
            query, k=options.k, source=options.source, at=options.at, report=progress.step,
            all_projects=every,
        )  # fmt: skip
    for sentence in results.said:
        warn_person(sentence)
    if options.json:
        from mdmemory.search.results import as_json

        hits = [as_json(hit) for hit in results.hits]
        return show_value(options, {"mode": results.mode, "hits": hits})
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    colour = colour and os.environ.get("TERM") != "dumb"
    wordless = results.wordless
    shown = [_shown_hit(hit, layers, query, colour, wordless) for hit in results.hits]
    print("\n\n".join([*shown, _NO_PROOF] if shown else ["No matches."]))
    return 0


def _shown_hit(hit: Hit, layers: Layers, query: str, colour: bool, wordless: str) -> str:
    from mdmemory.search.query import mark_words
    from mdmemory.search.results import telling_lines

    file = hit.file
    if hit.source == "memory":
        file = f"{hit.project}/{file}" if hit.project else layers.shown(hit.layer, file)
    place = f"{file}:{hit.start_line}-{hit.end_line}"
    title = f"{_TITLE[0]}{visible_text(place)}{_TITLE[1]}" if colour else visible_text(place)
    status = f"  [{visible_text(hit.mark)}]" if hit.mark else ""
    status += visible_text(f"  {', '.join(hit.matched) or wordless}")
    if hit.source == "sessions":  # the id of a session says little
        status += visible_text(f"  {hit.date}  {hit.title}".rstrip())
    lines = [hit.description] if hit.description else []
    lines += telling_lines(hit, query, _TOLD if lines else _SHOWN, _WIDTH)
    rows = [f"{title}{status}"]
    for line in lines:
        line = visible_text(line)[:_WIDTH]
        for start, end in reversed(mark_words(query, line)) if colour else ():
            line = f"{line[:start]}{_MARK[0]}{line[start:end]}{_MARK[1]}{line[end:]}"
        rows.append(f"    {line}")
    return "\n".join(rows)
