"""`mdmemory check`: what the notes cite in the project, and whether it still stands there; and
`mdmemory audit`: what is wrong in any memory, of whichever program."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mdmemory.cli.output import count_noun, emit_json, visible_text
from mdmemory.errors import NotFound

if TYPE_CHECKING:
    from mdmemory.citing.citation import CheckedCitation
    from mdmemory.layers import Layers

_LISTED = 200  # citations, or problems, that are listed; the rest is counted


def run_check(layers: Layers, options: Namespace) -> int:
    files: list[str] = []
    for name in options.names:
        memory, own_name = layers.holding(name)
        if memory is not layers.project:
            raise NotFound(f"{name} is in your own store, and only a project's notes cite.")
        files.append(memory.note(own_name).file)
    citations = layers.citations(files or None, since=options.diff)
    outdated = [each for each in citations if each.is_outdated]
    if options.json:
        emit_json({"ok": not outdated, "citations": [each._asdict() for each in citations]})
        return 1 if outdated else 0
    shown = citations if options.all else [each for each in citations if each.state != "fresh"]
    for line in citation_lines(shown[:_LISTED]):
        print(line)
    if more := len(shown) - _LISTED if shown[_LISTED:] else 0:
        print(f"... and {more} more: `mdmemory check --json` lists all.")
    print(_sum_line(citations, options.diff))
    if outdated:
        print("Next: `mdmemory forget NAME`, `edit` it, or `review NAME keep` if it holds.")
    return 1 if outdated else 0


def citation_lines(checked: Sequence[CheckedCitation]) -> list[str]:
    """Citations as a person reads them: the note's file once, then a line for each with the lines
    of its diff."""
    lines, file = [], ""
    for each in checked:
        if each.file != file:
            file = each.file
            lines.append(visible_text(file))
        more = (f" -> {each.now}" if each.now else "") + (f"  ({each.why})" if each.why else "")
        lines.append(f"  {each.state:<8} {visible_text(each.place)}{visible_text(more)}")
        lines += [f"      {visible_text(line)}" for line in each.diff.splitlines()]
    return lines


def _sum_line(citations: Sequence[CheckedCitation], since: str | None) -> str:
    """How many citations stand how."""
    if since is not None:
        lost = [each for each in citations if each.is_outdated]
        what = count_noun(len(lost), "citation")
        says = [f"{what} stood until {since} and not any more."] if lost else []
        if more := len(citations) - len(lost):
            what = count_noun(more, "citation")
            says.append(f"{what} stood until {since}; this clone cannot tell what became of that.")
        return " ".join(says) or f"Nothing that the notes cite drifts since {since}."
    if not citations:
        return "The notes cite nothing of the project."
    states = [each.state for each in citations]
    counts = ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(sorted(states)))
    notes = len({each.file for each in citations})
    return f"{count_noun(len(citations), 'citation')} in {count_noun(notes, 'note')}: {counts}."


def run_audit(options: Namespace) -> int:
    from mdmemory.audit import audit

    count, findings = audit(Path(options.path), Path.cwd())
    files = count_noun(count, "file")
    if options.json:
        rows = [each._asdict() for each in findings]
        emit_json({"ok": not findings, "files": count, "findings": rows})
        return 1 if findings else 0
    for each in findings[:_LISTED]:
        print(visible_text(f"{each.level}: {each.path}:{each.line}: {each.message}"))
    if more := len(findings) - _LISTED if findings[_LISTED:] else 0:
        print(f"... and {more} more: `mdmemory audit --json PATH` lists all.")
    if not findings:
        print(f"No problems in {files}.")
        return 0
    errors = sum(each.level == "error" for each in findings)
    of_them = f"{count_noun(errors, 'error')}, {count_noun(len(findings) - errors, 'warning')}"
    print(f"{of_them} in {files}. Nothing was changed.")
    return 1
