"""The tools that change what a note says, or forget it: on the user's words, or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from mdmemory.memory import Memory
from mdmemory.privacy import redacted
from mdmemory.prompt import lines
from mdmemory.tools.tool import AS_DATA, Caller, Tool, ToolAnswer, schema, text

if TYPE_CHECKING:
    from mdmemory.capture.forgetting import Forgotten
    from mdmemory.capture.updating import Corrected

_QUOTE = "The user's typed words that ask for it."
_NOTE = "Its file, or its subject."
_KEPT = "Its text stays in git history until the user runs `mdmemory forget {} --erase`."


def _forget(memory: Memory, given: Mapping[str, Any], caller: Caller) -> ToolAnswer:
    done = memory.forget(
        given["note"], quote=given.get("quote", ""), session=caller.session, turns=caller.heard()
    )
    names = ", ".join(map(_name, [done.file, *done.also]))
    is_gone = done.outcome not in ("candidates", "waits")
    toast = lines.of_change(f"Forgotten: {names}", done.id) if is_gone else None
    return ToolAnswer("\n".join(_forgotten(done)), _plain(done), toast)


def _forgotten(done: Forgotten) -> list[str]:
    if done.outcome == "candidates":
        return _offered(done.candidates, "forgotten")
    if done.outcome == "waits":
        return [
            f"{done.file} is still there: {_why(done.why)}. It waits for the user, who can run "
            f"`mdmemory forget {_name(done.file)}`."
        ]
    gone = " and ".join([done.file, *done.also])
    back = f"To take it back: `mdmemory undo {done.id}`." if done.id else ""
    return [f"Forgotten: {gone}. {back}".strip(), _KEPT.format(_name(done.file))]


def _update(memory: Memory, given: Mapping[str, Any], caller: Caller) -> ToolAnswer:
    done = memory.update(
        given["note"], given["content"], quote=given.get("quote", ""), session=caller.session,
        turns=caller.heard(),
    )  # fmt: skip
    is_changed = done.outcome not in ("candidates", "same")
    toast = lines.of_change(_changed(done, given["content"]), done.id) if is_changed else None
    return ToolAnswer("\n".join(_updated(done)), _plain(done), toast)


def _changed(done: Corrected, content: str) -> str:
    fact = redacted(" ".join(content.split()))
    if done.outcome in ("unconfirmed", "flagged"):
        state = "Unconfirmed, and it" if done.outcome == "unconfirmed" else "Stored, and it"
        return f"{state} contradicts {_name(done.before)}: {fact}"
    return f"Changed ({_name(done.before or done.file)}): {fact}"


def _updated(done: Corrected) -> list[str]:
    if done.outcome == "candidates":
        return _offered(done.candidates, "changed")
    if done.outcome in ("unconfirmed", "flagged"):
        mark = ", unconfirmed" if done.outcome == "unconfirmed" else ""
        return [
            f"{done.before} is unchanged: {_why(done.why)}. The new text is stored beside it as "
            f"{done.file}{mark}, and the two are flagged: ask the user which holds."
        ]
    if done.outcome == "same":
        return [f"{done.file} says this already; nothing was changed."]
    what = f"{done.file} replaces {done.before}" if done.outcome == "superseded" else done.file
    said = f"Changed: {what}."
    return [f"{said} To take it back: `mdmemory undo {done.id}`." if done.id else said]


def _offered(candidates: Sequence[tuple[str, str]], verb: str) -> list[str]:
    rows = [f"- {file} — {description}" for file, description in candidates]
    ask = "Ask the user which is meant, then name its file."
    return [f"Nothing was {verb}: several notes may be meant. {ask}", AS_DATA, *rows]


def _plain(done: Forgotten | Corrected) -> dict[str, Any]:
    return {key: value for key, value in asdict(done).items() if value or key == "outcome"}


def _why(why: str) -> str:
    from mdmemory.capture.consent import WHY

    return WHY[why]


def _name(file: str) -> str:
    return file.removesuffix(".md")


CHANGES = (
    Tool(
        "memory_update",
        "Correct a note",
        "Change what one note says. Use it when the user says that it is wrong or has changed.",
        schema(
            "note", "content",
            note=text(_NOTE),
            content=text("The whole new fact."),
            quote=text(_QUOTE),
        ),
        False, False, _update,
    ),
    Tool(
        "memory_forget",
        "Forget a note",
        "Remove one note (it can be undone). Use it when the user asks to forget something.",
        schema("note", note=text(_NOTE), quote=text(_QUOTE)),
        False, True, _forget,
    ),
)  # fmt: skip
