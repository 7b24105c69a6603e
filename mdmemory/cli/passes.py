"""Commands that read a session or the whole store: explain, extract, compact."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import TYPE_CHECKING, Any

from mdmemory.cli import input_file
from mdmemory.cli.output import emit, opened, plural, warn
from mdmemory.cli.progress import Progress
from mdmemory.config import person
from mdmemory.errors import UsageError
from mdmemory.git.waiting import WAITS

if TYPE_CHECKING:
    from mdmemory.capture.run import Extracted
    from mdmemory.compact.runner import Outcome
    from mdmemory.memory import Memory
MAX_WAIT = 3600  # seconds


def explain_options(parser: ArgumentParser) -> None:
    """Options of `explain`."""
    parser.add_argument("text", nargs="+", metavar="TEXT",
                        help="a message as a user would type it")  # fmt: skip


def explain(asked: Namespace) -> int:
    """Why a message would, or would not, be remembered. Stores nothing."""
    from mdmemory.capture.extract import explain as explained

    asked.holder = "explain"
    found = explained(" ".join(asked.text), opened(asked).notes())
    if asked.json:
        emit(found)
        return 0
    gate: Any = found["gate"]
    if not found["trigger"]:
        told = "would be looked at" if gate["accepted"] else "would be left out, too"
        why = f" ({', '.join(gate['reasons'])})" if gate["reasons"] else ""
        print(f"Nothing in it asks to be remembered. Proposed by a model it {told}{why}.")
    elif gate["accepted"]:
        for fact in found["facts"]:  # type: ignore[attr-defined]
            print(f"It would be stored as {fact['type']}: {fact['text']}")
    else:
        print(f"It would not be stored: {', '.join(gate['reasons'])}.")
    return 0


def extract_options(parser: ArgumentParser) -> None:
    """Options of `extract`."""
    parser.add_argument("--transcript", metavar="FILE",
                        help="the JSON of `opencode export`, a session's file of Claude Code, or "
                             "`User:` and `Assistant:` in plain text; - to read it")  # fmt: skip
    parser.add_argument("--session", metavar="ID",
                        help="a session of this machine; `session list` shows them")  # fmt: skip
    parser.add_argument("--after", metavar="SECONDS", type=_seconds, default=0.0,
                        help="copy the session now, wait so long, then read it, unless a newer "
                             "one waits; then compact if due")  # fmt: skip
    parser.add_argument("--dry-run", action="store_true", help="tell, and store nothing")


def extract(asked: Namespace) -> int:
    """Store what deserves a note in a session, in one commit, once per session and turn.

    What the user asked to remember always; what a model finds, where one is chosen. A dry run asks
    the model, too.
    """
    asked.holder = "extract"
    if bool(asked.transcript) == bool(asked.session):
        raise UsageError(
            "Which session? Name it by either --transcript FILE or --session ID.",
            "`mdmemory session list` shows the ids.",
        )
    memory = opened(asked, automatic=asked.after > 0)
    transcript = input_file.read(asked.transcript) if asked.transcript else _copy(asked.session)
    if not asked.after:
        return _read(memory, transcript, asked)
    from mdmemory.hosts.background import quiet

    # with the copy in hand: a session that is deleted now loses nothing
    with quiet(memory.project, asked.session or asked.transcript, asked.after) as is_newest:
        if not is_newest:
            return 0
        code = _read(memory, transcript, asked)
        if not asked.dry_run:
            _warn_of(memory.compact(if_due=True))
        return code


def _warn_of(outcome: Outcome) -> None:
    if outcome.outcome in ("refused", "failed"):
        why = " ".join(message for _, message in outcome.refusals)
        warn(f"The compaction that was due came to nothing ({outcome.outcome}). {why}".rstrip())


def _read(memory: Memory, transcript: bytes, asked: Namespace) -> int:
    from mdmemory import protocol

    with Progress(memory, json=asked.json) as progress:
        done = memory.extract(transcript, dry_run=asked.dry_run, report=progress.step)
    if asked.json:
        emit(_extracted(done))
    else:
        _tell_extracted(done, asked.dry_run)
    if done.model and (said := protocol.of_project(memory.project).said):
        warn(said)
    if done.failure is None:
        return 0
    warn(f"{done.failure.message} {done.failure.hint}".rstrip())
    return 1


def _extracted(done: Extracted) -> dict[str, Any]:
    found: dict[str, Any] = {
        "added": done.added, "updated": done.updated, "reinforced": done.reinforced,
        "flagged": done.flagged, "dropped": done.dropped, "commit": done.commit,
        "watermark": done.watermark,
    }  # fmt: skip
    if done.failure is not None:
        why = done.failure
        found["error"] = {"code": why.code, "message": why.message, "hint": why.hint}
    return found


def _tell_extracted(done: Extracted, dry_run: bool) -> None:
    would = "would be " if dry_run else ""
    written = {
        "added": done.added, "updated": done.updated, "reinforced": done.reinforced,
        "added and flagged": done.flagged,
    }  # fmt: skip
    for what, files in written.items():
        for file in files:
            print(f"{would}{what}: {file}")
    for drop in done.dropped:
        print(f"left out ({', '.join(map(str, drop['reasons']))}): {drop['text']}")  # type: ignore[call-overload]
    if not any(written.values()):
        print("Nothing in it deserves a note." if done.model else _NOT_ASKED)
    if done.pending and not dry_run:
        print("What is pending waits for you: `mdmemory pending`.")
    if done.unread:
        print(f"{plural(done.unread, 'turn')} left for the next run.")
    if dry_run and done.model:
        print(f"{done.model} was asked; nothing was stored.")
    if done.commit:
        print(f"Commit {done.commit[:10]}. Take it back: `mdmemory undo {done.id}`.")
    elif done.waits:
        print(f"{WAITS} Take it back: `mdmemory undo {done.id}`.")
    elif any(written.values()) and not dry_run:
        warn("What was stored is in no commit; `mdmemory doctor` says why.")


_NOT_ASKED = "Nothing new in it was asked to be remembered."


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= MAX_WAIT:
        raise ArgumentTypeError(f"{text} is no number from 0 to {MAX_WAIT}")
    return seconds


def _copy(session: str) -> bytes:
    from mdmemory.transcripts.sources import copy

    return copy(person.hosts(), session)


def compact_options(parser: ArgumentParser) -> None:
    """Options of `compact`."""
    parser.add_argument("--if-due", action="store_true", help="do nothing when it is not due")
    parser.add_argument("--dry-run", action="store_true", help="tell, and change nothing")
    parser.add_argument("--offline", action="store_true",
                        help="plan without a model, whatever is set")  # fmt: skip
    parser.add_argument("--plan", metavar="FILE", help="apply this plan (JSON), or - to read it")


def compact(asked: Namespace) -> int:
    """Merge duplicates and flag contradictions: a checkpoint, then one revertible commit.

    A model plans where one is chosen in your settings; a dry run asks it, too.
    """
    from mdmemory import protocol

    asked.holder = "compact"
    memory = opened(asked, automatic=asked.if_due)
    plan = input_file.read(asked.plan) if asked.plan else None
    with Progress(memory, json=asked.json) as progress:
        outcome = memory.compact(
            plan=plan, offline=asked.offline, if_due=asked.if_due, dry_run=asked.dry_run,
            report=progress.step,
        )  # fmt: skip
    if asked.json:
        emit(_json(outcome))
    else:
        _tell(outcome)
    if outcome.model and (said := protocol.of_project(memory.project).said):
        warn(said)
    return 1 if outcome.outcome in ("refused", "failed") else 0


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
    "failed": "There is no plan; nothing was changed. The same is asked again later.",
}


def _tell(outcome: Outcome) -> None:
    from mdmemory.compact.runner import describe

    cost = outcome.tokens
    for op in outcome.applied:
        print(f"{'would ' if outcome.outcome == 'dry_run' else ''}{describe(op)}")
    for op, why in outcome.skipped:
        print(f"skipped {describe(op)}\n    {why}")
    for op, code, message in outcome.refused:
        print(f"refused {describe(op)}\n    {message} ({code})")
    what = "plan refused" if outcome.outcome == "refused" else "no plan"
    told = {(code, message) for _, code, message in outcome.refused}
    for code, message in outcome.refusals:
        is_one_op = code == "schema" and message.startswith("Op ")
        if (code, message) not in told:
            print(f"{'left out' if is_one_op else what}: {message} ({code})")
    if outcome.outcome == "applied":
        print(
            f"{plural(len(outcome.applied), 'op')} in commit {str(outcome.commit)[:10]}. "
            f"Take it back: `mdmemory undo {outcome.id}` "
            f"or `git revert {str(outcome.commit)[:10]}`."
            if outcome.commit
            else f"{plural(len(outcome.applied), 'op')}. {WAITS} "
            f"Take it back: `mdmemory undo {outcome.id}`."
        )
    else:
        print(_WORDS[outcome.outcome])
    if cost.calls:
        print(
            f"{outcome.model} was asked {plural(cost.calls, 'time')}: "
            f"{plural(cost.input, 'token')} in, {cost.output} out."
        )
