"""Commands that read a session or the whole store: explain, extract, compact."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmemory.cli.commands import (
    UNDO,
    count_noun,
    emit_json,
    leave_receipt,
    only_memory,
    show_value,
    visible_text,
    warn_person,
)
from mdmemory.cli.progress import Progress
from mdmemory.config import person
from mdmemory.errors import Busy, MdmemoryError, NotFound, UsageError
from mdmemory.git.commits_of_store import WAITS
from mdmemory.prompt import lines

if TYPE_CHECKING:
    from mdmemory.capture.extracted import Extracted
    from mdmemory.compact.runner import Outcome
    from mdmemory.memory import Memory

MAX_INPUT = 256 * 1024 * 1024  # bytes; a transcript of months
_PART = 1 << 24


def read(name: str) -> bytes:
    """The bytes of the file `name`, or of standard input for "-".

    Raises NotFound or MdmemoryError, each with what to do.
    """
    if name == "-":
        return sys.stdin.buffer.read(MAX_INPUT)
    try:
        # opened so, a pipe that nobody writes to is empty, where it would otherwise wait for ever
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
        with open(os.open(Path(name).expanduser(), flags), "rb", buffering=0) as file:
            first = file.read(_PART)
            os.set_blocking(file.fileno(), True)
            data = bytearray(first or b"")  # None: the writer is there, and has not written yet
            while first != b"" and len(data) <= MAX_INPUT and (part := file.read(_PART)):
                data += part
    except FileNotFoundError as problem:
        raise NotFound(f"No such file: {name}.", "Check the path.") from problem
    except OSError as problem:
        why = f"{name} cannot be read: {problem.strerror}."
        raise MdmemoryError(why, "Name a file, or - for standard input.") from problem
    if len(data) > MAX_INPUT:
        raise MdmemoryError(f"{name} has more than {MAX_INPUT} bytes.", "Split it into parts.")
    return bytes(data)


def run_explain(layers: Memory, options: Namespace) -> int:
    from mdmemory.capture.run import explain_message as explained
    from mdmemory.hosts import conversation

    text = " ".join(options.text)
    explanation = explained(text, layers)
    explanation["recalled"] = [each.file for each in conversation.notes_for(layers, text)]
    gate: Any = explanation["gate"]
    lines = [f"It asks to remember: {visible_text(fact)}" for fact in explanation["wish"]]
    if explanation["noticed"] == "explicit":
        lines.append(
            "The assistant is told to store it; what it does not is stored as it was said."
        )
    elif explanation["noticed"]:
        lines = ["It may want something of the memory: the assistant is asked to look."]
    else:
        verdict = "pass" if gate["accepted"] else f"be refused ({', '.join(gate['reasons'])})"
        about = f"As a model's proposal its form would {verdict}."
        lines = [f"It does not ask to be remembered. {about}"]
    for each in explanation["near"]:
        lines.append(f"Near it: {each['file']}  {visible_text(each['description'])}")
    if recalled := explanation["recalled"]:
        lines.append(f"With it would go: {', '.join(recalled)}.")
    return show_value(options, explanation, *lines)


def run_extract(layers: Memory, options: Namespace) -> int:
    if bool(options.transcript) == bool(options.session):
        raise UsageError(
            "Name one session: --transcript FILE or --session ID.",
            "`mdmemory session` shows the ids.",
        )
    memory = layers.main
    if options.transcript:
        transcript = read(options.transcript)
    else:
        from mdmemory.search.sources import session_folders
        from mdmemory.transcripts.sources import copy

        # of this project, or of the folder in which we were started, unless all were asked for
        here = None if options.all_projects else [*session_folders(memory.project), Path.cwd()]
        transcript = copy(person.host_places(), options.session, here)
    if not options.after:
        return _read(layers, transcript, options)
    from mdmemory.hosts.background import wait_quiet

    # with the copy in hand: a session that is deleted now loses nothing
    with wait_quiet(
        memory.project, options.session or options.transcript, options.after
    ) as is_newest:
        if not is_newest:
            return 0
        _adopt_changes(memory)
        code = _read(layers, transcript, options)
        if not options.dry_run:
            outcome = memory.compact(if_due=True)
            leave_receipt(memory, lines.of_compaction(outcome))
            if outcome.outcome in ("refused", "failed"):
                said = f"The compaction that was due did not succeed ({outcome.outcome})."
                warn_person(" ".join([said, *(message for _, message in outcome.refusals)]))
            with suppress(MdmemoryError, OSError):
                memory.citations()  # searches and messages show what this finds out
        return code


def _adopt_changes(memory: Memory) -> None:
    """Commit what other hands did and left alone for a while; a busy store has it later."""
    from mdmemory.store.adopt import SETTLED

    with suppress(Busy):
        memory.adopt(settled=SETTLED)


def _read(layers: Memory, transcript: bytes, options: Namespace) -> int:
    from mdmemory import protocol

    with Progress(layers.main, json=options.json) as progress:
        done = layers.extract(
            transcript, dry_run=options.dry_run, again=options.again, report=progress.step
        )
    if options.after and not options.dry_run:
        from mdmemory.hosts import notifications

        files = [*done.added, *done.flagged, *done.updated]
        leave_receipt(layers.main, lines.of_extraction(done, notifications.facts_of(layers, files)))
    if options.json:
        fields: dict[str, Any] = {
            "added": done.added, "updated": done.updated, "reinforced": done.reinforced,
            "flagged": done.flagged, "superseded": done.superseded, "pending": done.pending,
            "dropped": done.dropped, "id": done.id, "commit": done.commit,
            "watermark": done.watermark, "unread": done.unread, "older": done.older,
            "passed_over": done.passed_over, "unreadable": done.unreadable,
            "torn": done.torn,
        }  # fmt: skip
        if done.second is not None:
            fields["second"] = done.second.as_json()
        if done.failure is not None:
            why = done.failure
            fields["error"] = {"code": why.code, "message": why.message, "hint": why.hint}
        emit_json(fields)
    else:
        _tell_extracted(done, options.dry_run)
    if done.model and (sentence := protocol.in_force().said):
        warn_person(sentence)
    if done.failure is None:
        return 0
    warn_person(done.failure.sentences)
    return 1


def _tell_extracted(done: Extracted, dry_run: bool) -> None:
    would = "would be " if dry_run else ""
    written = {
        "added": done.added, "updated": done.updated, "reinforced": done.reinforced,
        "added and flagged": done.flagged,
    }  # fmt: skip
    for what, files in written.items():
        for file in files:
            print(f"{would}{what}: {file}")
    for pair in done.superseded:
        print(f"{would}superseded: {pair['file']} by {pair['by']}")
    for drop in done.dropped:
        print(f"left out ({', '.join(map(str, drop['reasons']))}): {drop['text']}")  # type: ignore[call-overload]
    if not any(written.values()) and not done.pending and done.failure is None:
        nothing = "No new request to remember something."
        print("Nothing worth a note." if done.model else nothing)
    if done.second is not None:
        print(done.second.as_text())
    if done.pending and not dry_run:
        print("Facts to review: `mdmemory review`.")
    for count, noun, tell, sentence in (
        (done.unread, "turn", print, "{} left for the next run."),
        (done.older, "turn", print, "Not read by the model: {} before the newest ones."),
        (done.passed_over, "turn", warn_person,
         "No answer about {} could be read; none is asked for any more."),
        (done.unreadable, "candidate", print, "{} in the model's answer could not be read."),
        (done.torn, "line", warn_person,
         "Not read: {} of the session's file, cut off when its client was stopped."),
    ):  # fmt: skip
        if count:
            tell(sentence.format(count_noun(count, noun)))
    if dry_run and done.model:
        asked_it = f"{done.model} was asked, " if done.failure is None else ""
        print(f"Dry run: {asked_it}nothing was stored.")
    if done.commit:
        print(f"Commit {done.commit[:10]}. {UNDO.format(done.id)}")
    elif done.waits:
        print(f"{WAITS} {UNDO.format(done.id)}")
    elif any(written.values()) and not dry_run:
        warn_person("The notes are stored but not committed; `mdmemory doctor` says why.")


def run_compact(layers: Memory, options: Namespace) -> int:
    from mdmemory import protocol
    from mdmemory.compact.plan import as_json

    memory = only_memory(layers)
    plan = read(options.plan) if options.plan else None
    if options.if_due:
        _adopt_changes(memory)
    with Progress(memory, json=options.json) as progress:
        outcome = memory.compact(
            plan=plan, offline=options.offline, if_due=options.if_due, dry_run=options.dry_run,
            report=progress.step, everything=options.all,
        )  # fmt: skip
    if options.if_due:
        leave_receipt(memory, lines.of_compaction(outcome))
    if options.json:
        emit_json({
            "outcome": outcome.outcome, "checkpoint": outcome.checkpoint, "commit": outcome.commit,
            "planned": [as_json(op) for op in outcome.planned],
            "applied": [as_json(op) for op in outcome.applied],
            "skipped": [{"op": as_json(op), "reason": why} for op, why in outcome.skipped],
            "refused": [
                {"op": as_json(op), "code": code, "message": message}
                for op, code, message in outcome.refused
            ],
            "refusals": [{"code": code, "message": text} for code, text in outcome.refusals],
            "doubts": [{"op": as_json(op), "message": message} for op, message in outcome.doubts],
            "planner": outcome.planner,
            "tokens": {
                "input": outcome.tokens.input, "output": outcome.tokens.output,
                "calls": outcome.tokens.calls,
            },
        })  # fmt: skip
    else:
        _tell_outcome(outcome, options.plan)
    if outcome.model and (sentence := protocol.in_force().said):
        warn_person(sentence)
    return 1 if outcome.outcome in ("refused", "failed") else 0


_WORDS = {
    "noop": "Nothing to do.",
    "not_due": "No compaction is due.",
    "dry_run": "Dry run: nothing changed.",
    "busy": "Another process is writing; nothing changed.",
    "refused": "The plan was refused; nothing changed.",
    "failed": "No plan; nothing changed. The next run tries again.",
}


def _tell_outcome(outcome: Outcome, plan: str | None) -> None:
    from mdmemory.compact.plan import describe

    cost = outcome.tokens
    for op in outcome.applied:
        print(f"{'would ' if outcome.outcome == 'dry_run' else ''}{describe(op)}")
    for op, message in outcome.doubts:
        print(f"in doubt {describe(op)}\n    {message}")
    for op, why in outcome.skipped:
        print(f"skipped {describe(op)}\n    {why}")
    for op, _, message in outcome.refused:
        print(f"refused {describe(op)}\n    {message}")
    plan = "standard input" if plan == "-" else plan
    what = plan or ("plan refused" if outcome.outcome == "refused" else "no plan")
    messages = {(code, message) for _, code, message in outcome.refused}
    for code, message in outcome.refusals:
        is_one_op = code == "schema" and message.startswith("Op ")
        if (code, message) not in messages:
            print(f"{'left out' if is_one_op else what}: {message}")
    if outcome.outcome == "applied":
        commit = (outcome.commit or "")[:10]
        where = f" in commit {commit}." if commit else f". {WAITS}"
        print(f"{count_noun(len(outcome.applied), 'op')}{where} {UNDO.format(outcome.id)}")
    else:
        wrong = plan and (outcome.refusals or outcome.refused)
        again = f" Correct {plan} and run it again." if wrong else ""
        print(((outcome.outcome == "noop" and outcome.why) or _WORDS[outcome.outcome]) + again)
    if cost.calls:
        print(
            f"{outcome.model} was asked {count_noun(cost.calls, 'time')}: "
            f"{count_noun(cost.input, 'token')} in, {cost.output} out."
        )
