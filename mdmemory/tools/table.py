"""The table of tools for assistants of all hosts, and the call of a tool; and the tools on notes:
search, get, store, forget. They return no text of notes on hold, only their number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mdmemory.capture.extracted import Caller
from mdmemory.capture.fact import FactCall
from mdmemory.citing.citation import tell_drift
from mdmemory.config.settings import Settings
from mdmemory.errors import UsageError
from mdmemory.layers import MINE, PROJECT, USER
from mdmemory.memory import Memory
from mdmemory.note.limits import TYPES
from mdmemory.note.note import SUPERSEDED
from mdmemory.prompt import lines
from mdmemory.session.cleaning import UNSEEN
from mdmemory.tools.session import OBSERVATIONS, SESSION
from mdmemory.tools.tool import (
    AS_DATA,
    LONGEST,
    Tool,
    ToolAnswer,
    check_arguments,
    make_schema,
    text,
    whole_schema,
)
from mdmemory.tools.tool import texts_schema as listed

if TYPE_CHECKING:
    from mdmemory.capture.store_fact import Stored
    from mdmemory.search.results import Hit


__all__ = ["SESSION", "TOOLS", "Caller", "Tool", "ToolAnswer", "call_tool", "offered_tools"]

_CUT = "(The answer is cut here: ask for less.)"
SOURCES = ("memory", "sessions", "files", "observations", "all")

_LINES_SHOWN = 12  # of the passage of one of the first hits
_IN_FULL = 3  # hits; of the others one line is shown
_NO_PROOF = "A match is no proof: check whether one answers, and do not guess."
_LINE = 600  # characters of such a line
_ROOM = LONGEST - 1_000  # characters of a note in an answer, beside what is said of it
_PLACE = re.compile(r"(?s)(.+?):(\d{1,9})(?:-(\d{1,9}))?")
_LINES = re.compile(r"\s*(\d{1,9})(?:\s*-\s*(\d{1,9}))?\s*")


# --- memory_search


def _search(layers: Memory, given: Mapping[str, Any], _: Caller) -> ToolAnswer:
    from mdmemory.search.results import Found, as_json

    query, source, results = given["query"], given["source"], Found("keyword", ())
    if layers.there():
        results = layers.search(query, k=given["max_results"], source=source)
        named = (
            hit._replace(file=f"{layers.prefix_of(hit.layer)}{hit.file}") for hit in results.hits
        )
        results = results._replace(hits=tuple(named))
    structured = {
        "mode": results.mode, "hits": [as_json(hit) for hit in results.hits],
        "said": [*results.said],
    }  # fmt: skip
    if not results.hits:
        nothing = "No matches: do not guess an answer."
        return ToolAnswer("\n".join([nothing, *results.said]), structured)
    what = "note" if all(hit.source == "memory" for hit in results.hits) else "place"
    old = sum(hit.status == SUPERSEDED for hit in results.hits)  # these are counted apart
    counts = ((len(results.hits) - old, what), (old, f"superseded {what}"))
    numbers = " and ".join(f"{count} {what}{'s' * (count > 1)}" for count, what in counts if count)
    wordless = results.wordless
    hits = [_hit_lines(at, hit, query, wordless) for at, hit in enumerate(results.hits, 1)]
    parts = [f"Found {numbers}. {_NO_PROOF}\n{AS_DATA}", *hits]
    return ToolAnswer("\n\n".join([*parts, *results.said]), structured)


def _hit_lines(number: int, hit: Hit, query: str, wordless: str) -> str:
    """A hit for an assistant; `wordless` says how one was found that shares no word."""
    from mdmemory.search.results import telling_lines

    about = [f"source: {hit.source}", hit.date] if hit.source != "memory" else []
    words = f"words: {', '.join(hit.matched)}" if hit.matched else wordless
    about += [hit.mark, words]
    place = f"[{number}] {hit.file}:{hit.start_line}-{hit.end_line}"
    place += f" ({'; '.join(filter(None, about))})"
    if number > _IN_FULL:
        facts = filter(None, (hit.description, *telling_lines(hit, query, 1, _LINE)))
        return f"{place} {' · '.join(line.strip()[:_LINE] for line in facts)}".rstrip()
    title = "" if hit.description else hit.title
    hit_lines = telling_lines(hit, query, _LINES_SHOWN, _LINE)
    lines = [f"{place} {title}".rstrip(), hit.description, *hit_lines]
    return "\n".join(line[:_LINE] for line in lines if line)


# --- memory_get


def _get_note(layers: Memory, given: Mapping[str, Any], _: Caller) -> ToolAnswer:
    from mdmemory.search.results import cites_as_json

    file, lines = given["file"], _line_numbers(given.get("lines", ""))
    place = _PLACE.fullmatch(file)  # as memory_search writes it
    if place:
        file, lines = place[1], lines or _line_numbers(file[len(place[1]) + 1 :])
    owner, name = layers.holding(file)
    passage = owner.get(name, lines)
    cites = owner.known_citations([passage.file]).get(passage.file, ())
    passage = passage._replace(file=f"{layers.prefix_of(owner.layer)}{passage.file}")
    more = ""
    if len(passage.text) > _ROOM:  # as many lines as the answer has room for
        shown = passage.text[:_ROOM].split("\n")
        shown = shown[:-1] or shown  # the last one is cut
        end = passage.start_line + len(shown) - 1
        rest = f"Go on with lines={end + 1}-{passage.end_line}."
        rest = rest if end < passage.end_line else "The rest of this line is in the file alone."
        more = f"\n\n(It is cut here. {rest})"
        passage = passage._replace(text="\n".join(shown), end_line=end)
    where = f"{passage.file}:{passage.start_line}-{passage.end_line}"
    if passage.to_verify:
        where += f" [{passage.to_verify}d old, verify]"
    if mark := tell_drift(cites)[1]:
        where += f" [{mark}]"
    structured = {**passage._asdict(), "layer": owner.layer, "cites": cites_as_json(cites)}
    return ToolAnswer(f"{where}\n{AS_DATA}\n\n{passage.text}{more}", structured)


def _line_numbers(lines: str) -> tuple[int, int] | None:
    if not lines.strip():
        return None
    match = _LINES.fullmatch(lines)
    if not match:
        raise UsageError(f"{lines[:40]!r} names no lines.", "Write 3-10, or 3.")
    return int(match[1]), int(match[2] or match[1])


# --- memory_store


def _store_fact(layers: Memory, given: Mapping[str, Any], caller: Caller) -> ToolAnswer:
    texts = {name: given.get(name, "") for name in ("type", "title", "why", "quote", "declined")}
    replaces, keeps = (tuple(given.get(name, ())) for name in ("replaces", "keeps"))
    call = FactCall(given["fact"], **texts, replaces=replaces, keeps=keeps)
    before = layers.there()
    done = layers.store(call, caller)
    if done.declined:
        sentence = _DECLINED[done.declined]
        return ToolAnswer(
            f"Nothing was stored. {sentence}", {"declined": done.declined},
            lines.of_declined(call.quote or call.fact, sentence),
        )  # fmt: skip
    sentences = _stored_sentences(done)
    made = next((str(each.project.store) for each in layers.there() if each not in before), "")
    if made:
        sentences.append(f"It is the first note in {made}: tell the user.")
    fields = {
        **done._asdict(), "near": [each._asdict() for each in done.near],
        "superseded": [{**pair} for pair in done.superseded],
        # files of the person's are named `me/FILE` beside a project's
        "layer": USER if done.file.startswith(MINE) or not layers.of_project else PROJECT,
    }  # fmt: skip
    near = [f"- {each.file}: {each.text}" for each in done.near]
    told_near = [_NEAR, AS_DATA, *near] if near else []
    is_new = not done.existed or done.superseded or done.id
    toast = lines.of_tool(done, made) if is_new else None
    return ToolAnswer("\n".join([" ".join(sentences), *told_near]), fields, toast)


_DECLINED = {
    "moment": "It is for this session only.",
    "joke": "It was no request.",
    "elsewhere": "It goes to another place.",
    "secret": "Secrets belong in a password manager.",
}
_NEAR = (
    "It is kept beside these near notes. If it makes one of them untrue, send the same call again "
    "with `replaces`:"
)


def _stored_sentences(done: Stored) -> list[str]:
    """The sentences about a stored note."""
    if done.existed:
        state = "the user's words confirm it now" if done.id else "nothing was changed"
        if done.status == SUPERSEDED:
            state = "the user has said otherwise since, so it is superseded"
        sentences = [f"{done.file} says this already; {state}."]
    else:
        where = f"commit {done.commit[:10]}" if done.commit else "not committed"
        if done.waits:
            where = "saved in git; the next mdmemory command of the user commits it"
        sentences = [f"Stored {done.file} ({where})."]
    if done.status == "unconfirmed":
        sentences.append(
            f"It is unconfirmed{'' if done.superseded else ' and replaces nothing'}: {done.why}. "
            f"Store it again in the user's own words with their sentence as `quote`, "
            f"or let them run `mdmemory review {done.name} "
            "keep`."
        )
    sentences += lines.tell_replaced(done.superseded, done.ids)
    for file, why in done.left:
        sentences.append(f"{file} was not replaced: {why}.")
    if done.redacted:
        sentences.append(f"Possible secrets were left out ({', '.join(done.redacted)}).")
    return sentences


# --- memory_forget


def _forget_notes(layers: Memory, given: Mapping[str, Any], caller: Caller) -> ToolAnswer:
    done = layers.forget(given["names"], given["quote"], caller)
    fields = {key: value for key, value in done._asdict().items() if value}
    names = ", ".join(file.removesuffix(".md") for file in (*done.files, *done.also))
    id = done.ids[-1] if done.ids else ""
    line = f"{lines.cut(f'Forgotten: {names}')}. {lines.back(id)}"
    toast = lines.show(line, "success", most=400) if done.files else None
    sentences = []
    if done.files:
        gone = " and ".join([*done.files, *done.also])
        back = ", ".join(f"`mdmemory undo {id}`" for id in done.ids)
        sentences.append(f"Forgotten: {gone}.{f' To take it back: {back}.' if back else ''}")
        gone_names = [file.removesuffix(".md") for file in done.files]
        erase = " ".join(f"`mdmemory forget {name} --erase`" for name in gone_names)
        sentences.append(f"The text stays in git history until the user runs {erase}.")
    for file, why in done.left:
        waits = "; it waits for the user in `mdmemory review`" if file in done.waiting else ""
        sentences.append(f"{file} is still there: {why}{waits}.")
    return ToolAnswer("\n".join(sentences), fields, toast)


# --- the table

NOTES = (
    Tool(
        "memory_search",
        "Search the memory",
        "Find what is known from earlier sessions. Use it before you answer about past work, a "
        "decision, a preference or a person that the index does not settle.",
        make_schema(
            "query",
            query=text("Words, or a question."),
            max_results=whole_schema("At most so many.", least=1, most=50, default=6),
            source=text("memory: notes; sessions: what was said; files: the user's; "
                        "observations: of tools; all: the first three.",
                        among=SOURCES, default="memory"),
        ),
        True, False, _search,
    ),
    Tool(
        "memory_get",
        "Read a note",
        "Read a note. Use it before you rely on a detail that its index line does not hold.",
        make_schema(
            "file",
            file=text("Such as me/user-name.md."),
            lines=text("Such as 3-10."),
        ),
        True, False, _get_note,
    ),
    Tool(
        "memory_store",
        "Store or change a fact",
        "Keep one lasting fact, or change what is remembered. Use it when the user asks to "
        "remember something, or states a preference, rule, decision, correction or pointer that "
        "matters next month. Not for tasks, plans, secrets, or what files and pages say.",
        make_schema(
            "fact",
            fact=text("One clean sentence that stands alone, in the user's language and words. Of "
                      "a rule with an exception: both."),
            type=text("user: who they are; feedback: how to work; project: goals, decisions, facts "
                      "of the work; reference: where something is.", among=TYPES),
            quote=text("The user's typed words that say it, unchanged: the proof. Without it, "
                       "nothing is replaced."),
            replaces=listed("Files of notes that it makes untrue. A former note comes back so."),
            keeps=listed("Near notes that stay true."),
            why=text("The user's reason."),
            title=text("A few words, or nothing."),
            declined=text("Why the request in `fact` is not for the memory: nothing is stored.",
                          among=("moment", "joke", "elsewhere", "secret")),
        ),
        False, False, _store_fact,
    ),
    Tool(
        "memory_forget",
        "Forget notes",
        "Remove notes that no longer hold and have no successor; it can be undone. Use it when "
        "the user asks to forget something, or says that it ended.",
        make_schema(
            "names", "quote",
            names=listed("Their files."),
            quote=text("The user's typed words that ask for it."),
        ),
        False, True, _forget_notes,
    ),
)  # fmt: skip


TOOLS: tuple[Tool, ...] = (*NOTES, *OBSERVATIONS, SESSION)


def offered_tools(settings: Settings) -> list[Tool]:
    """The tools, without those of what is switched off: observations, the memory of a session."""
    seen = [*NOTES]
    seen += OBSERVATIONS if settings.switch("observe.enabled") else ()
    return [*seen, SESSION] if settings.switch("session.memory") else seen


def call_tool(
    layers: Memory, name: str, arguments: Mapping[str, Any], caller: Caller | None = None
) -> ToolAnswer:
    """The answer of a tool. Raises UsageError for an unknown tool or wrong arguments, and the
    MdmemoryError of the tool."""
    tool = next((each for each in TOOLS if each.name == name), None)
    if tool is None:
        raise UsageError(
            f"There is no tool {name[:40]!r}.",
            f"There are: {', '.join(each.name for each in TOOLS)}.",
        )
    given = check_arguments(name, tool.parameters, arguments)
    target = layers if tool in NOTES else layers.main
    answer = tool.run(target, given, caller or Caller())
    text = answer.text if len(answer.text) <= LONGEST else f"{answer.text[: LONGEST - 60]}\n{_CUT}"
    most = LONGEST  # of one text; the longest ones give way
    while len(str(answer_text := _all_visible(answer.structured, most))) > 2 * LONGEST and most:
        most //= 2
    return ToolAnswer(_visible_text(text), answer_text, answer.toast)


def _visible_text(text: str) -> str:
    """`text` with invisible characters replaced; line ends stay."""
    return UNSEEN.sub("\ufffd", text.replace("\r\n", "\n"))


def _all_visible(value: Any, most: int) -> Any:
    """A JSON value with all its texts `_visible_text`, and at most so many characters of each."""
    if isinstance(value, str):
        return _visible_text(value[:most])
    if isinstance(value, Mapping):
        return {key: _all_visible(each, most) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_all_visible(each, most) for each in value]
    return value
