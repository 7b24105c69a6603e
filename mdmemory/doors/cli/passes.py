"""Commands that read a session or the whole store: explain, extract, compact."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmemory.doors.cli.output import emit, opened, plural
from mdmemory.errors import BadTranscript, MdmemoryError, NotFound
from mdmemory.files import read_regular

if TYPE_CHECKING:
    from mdmemory.compact.runner import Outcome

MAX_INPUT = 256 * 1024 * 1024  # bytes of a transcript


def explain_options(parser: ArgumentParser) -> None:
    """Options of `explain`."""
    parser.add_argument("text", metavar="TEXT", help="a message as a user would type it")


def explain(asked: Namespace) -> int:
    """Why a message would, or would not, be remembered. Stores nothing."""
    from mdmemory.capture.extract import explain as explained

    asked.holder = "explain"
    found = explained(asked.text, opened(asked).notes())
    if asked.json:
        emit(found)
        return 0
    gate: Any = found["gate"]
    if gate["accepted"]:
        for fact in found["facts"]:  # type: ignore[attr-defined]
            print(f"It would be stored as {fact['type']}: {fact['text']}")
    else:
        print(f"It would not be stored: {', '.join(gate['reasons'])}.")
    return 0


def extract_options(parser: ArgumentParser) -> None:
    """Options of `extract`."""
    parser.add_argument("--transcript", metavar="FILE", required=True,
                        help="the JSON of `opencode export`, or - to read it")  # fmt: skip
    parser.add_argument("--dry-run", action="store_true", help="tell, and store nothing")


def extract(asked: Namespace) -> int:
    """Store what the user asked to remember, in one commit, once per session and turn."""
    asked.holder = "extract"
    memory = opened(asked)
    done = memory.extract(_input(asked.transcript), dry_run=asked.dry_run)
    if asked.json:
        emit({
            "added": done.added, "updated": done.updated, "reinforced": done.reinforced,
            "flagged": done.flagged, "dropped": done.dropped, "commit": done.commit,
            "watermark": done.watermark,
        })  # fmt: skip
        return 0
    would = "would be " if asked.dry_run else ""
    for file in done.added:
        print(f"{would}added: {file}")
    for file in done.reinforced:
        print(f"{would}reinforced: {file}")
    for drop in done.dropped:
        print(f"left out ({', '.join(map(str, drop['reasons']))}): {drop['text']}")  # type: ignore[call-overload]
    if not (done.added or done.reinforced):
        print("Nothing in it was asked to be remembered.")
    if done.commit:
        print(f"Commit {done.commit[:10]}.")
    return 0


def _input(name: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        return read_regular(Path(name).expanduser(), MAX_INPUT)
    except NotFound as problem:
        raise BadTranscript(f"There is no file {name}.", "Check the path.") from problem


def compact_options(parser: ArgumentParser) -> None:
    """Options of `compact`."""
    parser.add_argument("--if-due", action="store_true", help="do nothing when it is not due")
    parser.add_argument("--dry-run", action="store_true", help="tell, and change nothing")
    parser.add_argument("--offline", action="store_true", help="plan without a model (default)")
    parser.add_argument("--plan", metavar="FILE", help="apply this plan (JSON), or - to read it")


def compact(asked: Namespace) -> int:
    """Merge duplicates and flag contradictions: a checkpoint, then one commit that can be undone."""
    asked.holder = "compact"
    memory = opened(asked)
    plan = _plan(asked.plan) if asked.plan else None
    outcome = memory.compact(plan=plan, if_due=asked.if_due, dry_run=asked.dry_run)
    if asked.json:
        emit(_json(outcome))
    else:
        _tell(outcome)
    return 1 if outcome.outcome in ("refused", "failed") else 0


def _plan(name: str) -> bytes:
    try:
        return _input(name)
    except BadTranscript as problem:
        raise MdmemoryError(problem.message, problem.hint, "not_found") from problem


def _json(outcome: Outcome) -> dict[str, Any]:
    from mdmemory.compact.plan import as_json

    return {
        "outcome": outcome.outcome,
        "checkpoint": outcome.checkpoint,
        "commit": outcome.commit,
        "planned": [as_json(op) for op in outcome.planned],
        "applied": [as_json(op) for op in outcome.applied],
        "skipped": [{"op": as_json(op), "reason": why} for op, why in outcome.skipped],
        "refused": [
            {"op": as_json(op), "code": code, "message": message}
            for op, code, message in outcome.refused
        ],
        "refusals": [{"code": code, "message": message} for code, message in outcome.refusals],
        "planner": outcome.planner,
        "tokens": {
            "input": outcome.tokens.input, "output": outcome.tokens.output,
            "calls": outcome.tokens.calls,
        },
    }  # fmt: skip


_WORDS = {
    "noop": "Nothing to do.",
    "not_due": "No compaction is due.",
    "dry_run": "Dry run: nothing was changed.",
    "busy": "Another process is at work; nothing was changed.",
    "refused": "The plan was refused; nothing was changed.",
}


def _tell(outcome: Outcome) -> None:
    from mdmemory.compact.runner import describe

    for op in outcome.applied:
        print(f"{'would ' if outcome.outcome == 'dry_run' else ''}{describe(op)}")
    for op, why in outcome.skipped:
        print(f"skipped {describe(op)}: {why}")
    for op, code, message in outcome.refused:
        print(f"refused {describe(op)}: {message} ({code})")
    for code, message in outcome.refusals:
        print(f"plan refused: {message} ({code})")
    if outcome.outcome == "applied":
        print(
            f"{plural(len(outcome.applied), 'op')} in commit {str(outcome.commit)[:10]}. "
            f"Take it back: `mdmemory undo {outcome.id}` or `git revert {str(outcome.commit)[:10]}`."
        )
    else:
        print(_WORDS[outcome.outcome])
