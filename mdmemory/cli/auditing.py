"""`mdmemory audit`: what is wrong in any memory, of whichever program."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from mdmemory.cli.output import count_noun, emit_json, visible_text

_LISTED = 200  # problems that are listed; the rest is counted


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
