"""The command on the hosts' sessions: session."""

from __future__ import annotations

import os
from argparse import Namespace
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from mdmemory.cli.commands import count_noun, only_memory, show_value, visible_text, warn_person
from mdmemory.cli.options import SESSIONS
from mdmemory.config import person
from mdmemory.errors import UsageError
from mdmemory.memory import Memory
from mdmemory.search.sources import session_folders
from mdmemory.tools.session import as_json as observed
from mdmemory.tools.session import sections_shown, stored_content

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mdmemory.observe.observation import Observation

_TITLE = 80  # characters of a title


def run_session(layers: Memory, options: Namespace) -> int:
    memory, id = only_memory(layers), options.id or ""
    if options.work:
        return _work_session(memory, id, options)
    if id and (options.sweep or options.forget):
        raise UsageError("--sweep and --forget take no ID.", "`mdmemory session ID` shows one.")
    if options.sweep:
        done = memory.sweep()
        lines = [
            f"Removed {count_noun(done.files, 'file')} ({done.bytes:,} bytes) and the data of "
            f"{count_noun(done.sessions, 'session')}."
        ]
        if done.errors:
            lines.append(f"{count_noun(done.errors, 'file')} could not be removed.")
        return show_value(options, asdict(done), *lines, failed=bool(done.errors))
    if options.forget:
        return _tell_observations(memory.observations().forget(options.forget), options)
    if id.isdecimal():
        return _tell_observations(memory.observations().recall(id), options)
    if id.startswith("o-"):  # the whole of a shortened output
        from mdmemory.session import storage

        text = storage.get_output(memory.project.private / storage.FOLDER, id)
        return show_value(options, {"id": id, "text": text}, text)
    if id:
        fields = stored_content(memory, id)
        summary = "\n".join(f"{name}: {text}" for name, text in fields["summary"].items() if text)
        promotions = [f"{each['outcome']}: {each['content']}" for each in fields["promotions"]]
        observations = [f"{each['id']}  {each['title']}" for each in fields["observations"]]
        more = {"promotions": promotions, "summary": summary, "observations": observations}
        texts = map(visible_text, sections_shown(fields["sections"] | more))
        return show_value(options, fields, *(text.replace("\n", "\n  ") for text in texts))
    project = memory.project
    from mdmemory.privacy import redacted_text
    from mdmemory.transcripts.sources import TITLES, sessions
    from mdmemory.transcripts.turns import turns_read

    folders = None if options.all_projects else session_folders(project)
    there = sessions(person.host_places(), folders, None if options.all else SESSIONS)
    marks: dict[str, str] = {}
    if there.items and os.path.lexists(project.state_file):  # never made only to look
        from mdmemory.store.state import State

        with State(project.state_file, warn_person) as state:
            known = [each.transcript.session for each in there.items]
            marks = {session: state.watermark(session) or "" for session in known}
    rows: list[dict[str, Any]] = []
    for each in there.items:
        title = redacted_text(each.transcript.label[: _TITLE * 4])
        if len(title) > _TITLE:
            title = f"{title[: _TITLE - 1].rstrip()}…"
        read = turns_read(each.transcript, marks.get(each.transcript.session, ""))
        rows.append({
            "id": each.id, "title": title, "time": _moment_of(each.time), "source": each.source,
            "turns": len(each.transcript.turns), "read": read,
        })  # fmt: skip
    lines = []
    for row in rows:
        title = "".join(sign for sign in " ".join(row["title"].split()) if sign.isprintable())
        time = f"{row['time'][:16].replace('T', ' ')} UTC" if row["time"] else "-"
        unread = f"{count_noun(row['turns'], 'turn')}, {row['turns'] - row['read']} unread"
        host = TITLES[row["source"]]
        lines.append(f"{time:<20}  {host:<11}  {row['id']}  {unread:<20}  {title}".rstrip())
    if not there.is_all:
        lines.append(f"These are the newest {len(rows)}; `mdmemory session --all` shows all.")
    *names, last = TITLES.values()
    nothing = f"No sessions of {', '.join(names)} or {last} in this project."
    lines.append("Read one: `mdmemory extract --session ID`." if rows else nothing)
    code = show_value(options, rows, *lines, failed=bool(there.problems))
    for problem in there.problems:
        warn_person(problem.sentences)
    return code


def _moment_of(milliseconds: int) -> str:
    """ISO 8601 in UTC, "" where the host gave no time that exists."""
    try:
        moment = datetime.fromtimestamp(milliseconds // 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return moment.isoformat() if milliseconds > 0 else ""


# --- what is kept of one session


def _tell_observations(observations: Sequence[Observation], options: Namespace) -> int:
    texts = "\n\n".join(visible_text(each.text) for each in observations)
    return show_value(options, [observed(each) for each in observations], texts)


def _work_session(memory: Memory, id: str, options: Namespace) -> int:
    """Summarize the tool uses that wait, and a session."""
    observations = memory.observations()
    done = observations.work()
    summed = observations.summarize(id) if id else None
    failure = done.failure or (summed.failure if summed else None)
    fields = {
        "kept": done.kept, "waiting": done.waiting, "failed": done.failed,
        "summary": summed.summary.fields if summed and summed.summary else None,
        "failure": failure.code if failure else None,
    }  # fmt: skip
    stored = count_noun(done.kept, "observation")
    line = f"Stored {stored}; {done.waiting} waiting, {done.failed} failed."
    code = show_value(options, fields, line, failed=failure is not None)
    if failure:
        warn_person(failure.sentences)
    return code
