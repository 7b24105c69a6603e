"""Every function that is given text from outside, and how it is called with one text.

`EVERY` has one row for each; `SPARED` names the modules whose expressions see no such text, and
what they see. A module that uses expressions and stands in neither is found by `test_linear.py`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from types import ModuleType

from mdmemory import audit, bounds, privacy, protocol, unseen
from mdmemory.actions import word_diff
from mdmemory.actions.note_history import TextChange
from mdmemory.capture import candidates, fact, note_text, notice, quote_proof, summary
from mdmemory.capture import run as capturing
from mdmemory.capture.imports import markdown, okf
from mdmemory.capture.imports import run as importing
from mdmemory.capture.quote_proof import invented_literals
from mdmemory.citing import citation, cite
from mdmemory.cli import history
from mdmemory.compact import dialogue, plan, text_guards
from mdmemory.config import settings, table
from mdmemory.errors import MdmemoryError
from mdmemory.git import log, repositories
from mdmemory.hosts import entries
from mdmemory.hosts.commands import events
from mdmemory.llm import json_answer, manners, sizes
from mdmemory.note import editing, frontmatter, limits, note, stamps, yaml_head
from mdmemory.observe import compress, observation, timeline
from mdmemory.privacy import redaction
from mdmemory.prompt import message_part
from mdmemory.search import by_message, chunks, database, feeders, query
from mdmemory.search.postgres import postgres
from mdmemory.session import changes, cleaning, failures, pruning, sections
from mdmemory.store import conflicts, index, note_links, strangers
from mdmemory.store.store import StoredNote
from mdmemory.text import (
    conflict,
    dates,
    literals,
    normal_form,
    numbers,
    orders,
    search_words,
    stop_words,
    words,
)
from mdmemory.tools import table as tools
from mdmemory.transcripts import (
    claude,
    codex,
    gemini,
    injected,
    opencode,
    session_files,
    sources,
    turns,
)
from mdmemory.transcripts.turns import Turn
from mdmemory.web import markdown as pages

# All of this room is one function: what finds secrets.
PRIVACY = [
    importlib.import_module(each.name)
    for each in pkgutil.iter_modules(privacy.__path__, "mdmemory.privacy.")
]
Call = Callable[[str], object]
forget = normal_form.normal_form.cache_clear  # what was found before, a clock shall not see
DAY = "2026-06-20"
TODAY = date(2026, 6, 20)
NOTE = 200_000  # characters of a note that a hand wrote; its file may have 4 MiB
FACT, MESSAGE, ANSWER, QUERY = bounds.FACT, bounds.MESSAGE, bounds.CANDIDATES, bounds.QUERY
OF_MESSAGE, HEAD, BODY = bounds.QUERY_OF_MESSAGE, frontmatter.MAX_HEAD, limits.MAX_BODY


@dataclass(frozen=True)
class Row:
    """One function: `call` gives it a text of at most `most` characters. The units come from the
    expressions of its own module and of `more`."""

    name: str
    call: Call
    module: str
    most: int = bounds.MESSAGE
    more: tuple[str, ...] = ()


def row(
    call: Call, module: ModuleType, what: str = "", most: int = bounds.MESSAGE, *more: ModuleType
) -> Row:
    name = _name(module)
    whole = f"{name}:{what}" if what else name
    return Row(whole, call, name, most, tuple(map(_name, more)))


def rows(module: ModuleType, names: str, most: int = bounds.MESSAGE) -> list[Row]:
    return [row(getattr(module, name), module, name, most) for name in names.split()]


def _name(module: ModuleType) -> str:
    return module.__name__.removeprefix("mdmemory.")


def _note(text: str) -> note.Note:
    head = f"---\nname: a\ndescription: {text[:200]!r}\ntype: project\n---\n\n"
    return note.parse(f"{head}{text}", "a.md")


def _head(text: str) -> note.Note:
    return note.parse(f"---\n{text}\n---\n\nb\n", "a.md")


def _links(text: str) -> object:
    return note_links.rewrite_links(_note(text), [note_links.Link("a.md", "b", "c")])


def _dead_links(text: str) -> object:
    return [*audit.MemoryTexts(Path("/nowhere")).link_findings(audit.Text("a.md", 1, text))]


def _stored(text: str) -> StoredNote:
    return StoredNote("a.md", "0" * 64, _note(text))


def _export(text: str) -> object:
    info = {"id": "m1", "role": "user"}
    message = {"info": info, "parts": [{"type": "text", "text": f'"{text}"'}]}
    return opencode.build_transcript({"id": "s"}, [message])


def _claude(text: str) -> object:
    message = {"role": "user", "content": text}
    said = {"type": "user", "sessionId": "s", "uuid": "u", "message": message}
    return claude.transcript([said])


def _codex(text: str) -> object:
    content = [{"type": "text", "text": text}]
    said = {"type": "item_completed", "item": {"type": "UserMessage", "content": content}}
    return codex.transcript([{"type": "event_msg", "timestamp": "2026", "payload": said}])


def _folder_of_codex(text: str) -> object:
    return codex._FOLDER.search(text.encode("utf-8", "replace")[: codex._START])


def _gemini(text: str) -> object:
    parts = [{"text": text}, {"text": f"<hook_context>{text}</hook_context>"}]
    return gemini.transcript([{"id": "m", "type": "user", "content": parts}])


def _fences(text: str) -> str:
    open_ = ""
    for line in text.split("\n"):
        open_ = injected.fence_after(line, open_)
    return open_


def _failure(category: str) -> Call:
    commands = {"typecheck": "mypy", "lint": "ruff", "test": "pytest", "build": "make", "tool": "x"}
    command = commands.get(category, "python x")
    return lambda text: failures.find_failure("bash", {"command": command}, text, 1)


def _prune(level: str) -> Call:
    return lambda text: pruning.prune(text, tool="bash", args={}, level=level, where="there")


def _patterns(speaker: str) -> Call:
    return lambda text: changes.find_mentions(text, speaker)


def _proved(claim: str, quote: str, text: str) -> object:
    said = [Turn("1", "assistant", f"{text}?"), Turn("2", "user", text)]
    return quote_proof.of_fact(claim, quote, said)


def _forget(text: str) -> object:
    said = [Turn("1", "assistant", f"{text}?"), Turn("2", "user", text)]
    return quote_proof.of_forgetting(text[: bounds.FACT], said, _note("b"))


def _dates(text: str) -> object:
    claimed = dates.named_dates("2026-12-01")
    return quote_proof.is_given(claimed[0], text, date(2026, 6, 19)), dates.named_dates(text)


def _fitted(text: str) -> object:
    light = by_message.everyday_stems(text)
    return [by_message.is_light(term, light) for term in query.parse(text, TODAY).terms]


def _marks(text: str) -> object:
    return query.mark_words("port of the proxy 端口", text)


def _written(text: str) -> object:
    return editing.edit(_note(text), set={"metadata.updated": DAY}, body=f"{text}.")


def _difference(text: str) -> object:
    change = TextChange("a.md", "", text, f"{text[::-1]} a")
    return history._in_words([change]), word_diff.diff_sides(text, change.after)


def _result(text: str) -> object:
    memory = sections.Sections()
    return changes.take_result(memory, "bash", {"command": "pytest"}, text, 1)


def _patch(text: str) -> object:
    return changes.take_result(sections.Sections(), "apply_patch", {"patchText": text}, text, 0)


def _setting(text: str) -> None:
    for kind in (table.model, table.key, table.address, table.dsn, table.whole(0)):
        quietly(kind.read)(text)


def _lines(text: str) -> object:
    lines = frontmatter.LINES.findall(text)
    return [frontmatter.comment_of(each) for each in frontmatter.scan(lines)]


def _moved(text: str) -> object:
    return literals.find_moved([text, "a is 1"], f"{text} a is 2 and b is 1")


def _text_guards(text: str) -> object:
    op = plan.Rewrite("a.md", "A description", text, "reason")
    return list(text_guards.bad_text(op, {"a.md": _stored("b")}))


def _literals(before: str, after: str) -> object:
    sources = [_note(before), _note("b")]
    return list(text_guards.literal_refusals("a.md", sources, "A fact", after))


def _sentences(text: str) -> object:
    found = _note(text)
    return text_guards.same_key(found), text_guards.wording(found)


def _recited(text: str) -> object:
    head = f"---\nname: a\nmetadata:\n  cites: [b, {text}\n---\n\nb\n"
    listed = f"---\nname: a\nmetadata:\n  cites:\n    - b\n    - {text}\n---\n\nb\n"
    found = (note.parse(each, "a.md") for each in (head, listed))
    return [editing.recite(each, {"b": "c"}) for each in found]


def _claimed(data: bytes, text: str) -> object:
    return cite.lines_of_claims(data, text)


def _addresses(text: str) -> object:
    return list(cite.find_addresses(f"https://example.org/a/b/blob/{text}", ("example.org/a/b",)))


def quietly(call: Call) -> Call:
    """The call, where a refusal of the text is an answer like any other."""

    def quiet(text: str) -> object:
        try:
            return call(text)
        except (MdmemoryError, ValueError, RecursionError):
            return None

    return quiet


EVERY = (
    # what is said
    *rows(notice, "notice_wishes without_unwanted holds_everywhere typed_text type_of"),
    row(lambda text: (notice.is_request(text), notice.wants_gone(text)), notice, "is_request"),
    row(lambda text: capturing._CONTROL.sub("", text), capturing),
    *rows(message_part, "is_statement"),
    *rows(dialogue, "read_yes"),
    *rows(
        note_text,
        "name_of description_of bare_line word_note as_sentence canonical_key pointer_key",
    ),
    row(turns.clean, turns, "cleaned", MESSAGE, injected, privacy),
    *rows(sources, "read_plain"),
    row(_export, opencode),
    row(_claude, claude),
    row(_codex, codex),
    row(_folder_of_codex, codex, "_FOLDER"),
    row(_gemini, gemini),
    *rows(session_files, "is_plain_name is_uuid"),
    row(_fences, injected),
    *rows(injected, "without_memory"),
    *rows(unseen, "without_unseen shown_text"),
    *rows(privacy, "strip_private"),
    row(redaction.redact, redaction, "redact", MESSAGE, *PRIVACY),
    row(lambda text: summary.parse(text, []), summary),
    row(lambda text: fact.fact_of(text), fact, "fact_of"),
    *rows(fact, "hook_line"),
    *rows(fact, "form_reasons", FACT),
    row(
        lambda text: invented_literals(text, ["a"]),
        quote_proof,
        "invented_literals",
        FACT,
        literals,
    ),
    row(lambda text: invented_literals("a `b`", [text]), quote_proof, "sources", MESSAGE, literals),
    row(_dates, quote_proof, "given", MESSAGE, dates),
    row(lambda text: _proved(text[:FACT], text[:400], text), quote_proof, "of_fact"),
    row(lambda text: _proved("a", f"{text[:400]} ... {text[:500]}", text), quote_proof, "quote"),
    row(_forget, quote_proof, "of_forgetting"),
    # imports
    row(lambda text: list(markdown.of_file(text, "there")), markdown),
    *rows(markdown, "split_blocks day word_of"),
    row(importing._ABOUT_USER.search, importing),
    row(importing._JSON.match, importing),
    row(lambda text: [*audit.text_findings(audit.Text("a.md", 1, text))], audit),
    row(_dead_links, audit, "links"),
    *rows(okf, "note_text"),
    row(lambda text: okf.note_text(f"---\n{text}"), okf, "below a fence"),
    row(
        lambda text: strangers.sync_copies({text: "a", f"MEMORY{text}": "b"}),
        strangers,
        "copies",
        255,
    ),
    # what a model answers
    row(candidates.parse, json_answer, "", ANSWER),
    row(lambda text: candidates.parse(f"a [ {text}"), json_answer, "list", ANSWER),
    row(lambda text: candidates.parse(f'[{{"a": "{text}'), json_answer, "open", ANSWER),
    row(lambda text: json_answer.read_object(text, ("a",)), json_answer, "single", ANSWER),
    *rows(plan, "parse", MESSAGE),
    *rows(sizes, "tokens"),
    row(lambda text: sizes.was_cut("", text, 5_000), sizes, "cut"),
    row(lambda text: manners.read(400, text.encode(), "", manners.FIELDS), manners),
    row(_text_guards, text_guards, "", BODY),
    row(lambda text: _literals(text, "a"), text_guards, "before", BODY),
    row(lambda text: _literals("a", text), text_guards, "after", BODY),
    row(lambda text: _literals(text, f"{text} a"), text_guards, "both", BODY),
    # what notes claim
    *rows(literals, "literal_tokens linked_names cut_pieces proper_nouns", NOTE),
    row(lambda text: literals.audit_literals([text], "a"), literals, "lost", NOTE),
    row(lambda text: literals.audit_literals(["a"], text), literals, "invented", NOTE),
    row(lambda text: literals.audit_literals([text], f"{text} a"), literals, "both", NOTE),
    *rows(conflict, "count_negations", NOTE),
    row(lambda text: conflict.reversed_words(text, f"not {text}"), conflict, "reversed", NOTE),
    row(lambda text: conflict.other_literal(text, f"{text} 1"), conflict),
    *rows(orders, "is_order"),
    row(_moved, literals, "moved", NOTE),
    row(normal_form.normal_form, normal_form, "", NOTE, dates, numbers),
    *rows(words, "stem_of"),
    *rows(words, "word_keys word_parts", NOTE),
    row(_sentences, text_guards, "", NOTE),
    *rows(text_guards, "plain", NOTE),
    # what tools show
    *(row(_failure(each.name), failures, each.name) for each in failures.CATEGORIES),
    row(lambda text: failures.find_failure("bash", {"command": text}, "x", 1), failures, "command"),
    row(lambda text: failures.list_succeeded("bash", {"command": text}, 0), failures, "succeeded"),
    *rows(failures, "paths list_decisive"),
    *rows(cleaning, "visible clean"),
    row(lambda text: cleaning.line(text, 200), cleaning, "line"),
    *(row(_patterns(each), changes, each) for each in ("user", "assistant", "tool")),
    *(row(_prune(each), pruning, each) for each in pruning.LEVELS),
    row(_result, changes),
    row(_patch, changes, "patch"),
    *rows(sections, "key"),
    row(lambda text: compress.event_of("s", "bash", {"command": text}, text, 1), compress),
    *rows(observation, "parse_ids"),
    *rows(timeline, "_clean"),
    row(_difference, word_diff, "diff_sides"),
    row(lambda text: word_diff.diff_lines(text, f"{text[::-1]} a"), word_diff, "diff_lines"),
    row(lambda text: pages.render(text, lambda name: f"/{name}"), pages, "rendered", pages.MOST),
    # queries
    row(lambda text: query.parse(text, TODAY), query, "parse", QUERY, dates, words),
    row(lambda text: query.mark_words(text, text), query, "mark_words", QUERY, words),
    row(_marks, query, "highlight", NOTE, words),
    row(lambda text: dates.asked_dates(text, TODAY), dates, "asked_dates", QUERY),
    row(lambda text: dates.date_words(text), dates, "date_words", NOTE),
    *rows(message_part, "safe", NOTE),
    row(message_part.read_typed, notice, "message"),
    row(_fitted, by_message, "", OF_MESSAGE),
    row(lambda text: [found[0] for found in words.match_words(text)], words, "match_words", NOTE),
    *rows(search_words, "index_text", NOTE),
    row(search_words.rule_of, search_words, "rule_of", NOTE, words),
    *rows(search_words, "written_names compound_halves", QUERY),
    row(search_words.asked_pieces, search_words, "asked_pieces", QUERY, words),
    row(lambda text: stop_words.likely_languages((), text), stop_words, "likely_languages", QUERY),
    *rows(database, "unlink_text", NOTE),
    row(lambda text: postgres.term_phrases(query.Term(((text,),))), postgres, "", NOTE),
    row(lambda text: list(chunks.cut_text(text)), chunks, "", NOTE),
    *rows(feeders, "_without_private", NOTE),
    # files
    row(lambda text: note.parse(text, "a.md"), note, "parse", NOTE),
    row(_head, note, "head", HEAD),
    row(_note, note, "body", NOTE),
    *rows(frontmatter, "read _by_line", HEAD),
    row(lambda text: editing.put(text, "metadata.updated", DAY, "\n"), editing, "", HEAD),
    row(_written, editing, "edit", BODY),
    *rows(limits, "slugify check_body"),
    row(lambda text: limits.check_line("It", text), limits, "check_line"),
    *rows(conflicts, "parse", NOTE),
    row(_links, note_links, "", NOTE),
    *rows(index, "clean_line"),
    row(lambda text: log.parse("0" * 40, "1", "s", text), log),
    *rows(events, "harmless_text without_angles"),
    *rows(entries, "JsoncText"),
    row(lambda text: entries.drop_value(f'{{"a": 1{text}}}', ["a"]), entries, "drop_value"),
    row(
        lambda text: entries.put_value(f'{{"a": {{}}{text}}}', ["a", "b"], 1), entries, "put_value"
    ),
    row(lambda text: entries.put_value(f'{text}{{"a": {{}}}}', ["a", "b"], 1), entries, "before"),
    *rows(stamps, "drop_stamp"),
    row(lambda text: protocol._split_sections(text), protocol),
    row(_setting, table),
    row(lambda text: settings._ONLY_STORE.fullmatch(text), settings),
    *rows(repositories, "parse_remote"),
    *rows(citation, "parse"),
    row(lambda text: citation.MAY_CITE.search(text), citation, "may_cite", NOTE),
    *rows(cite, "find_paths find_commits", NOTE),
    row(_addresses, cite, "find_addresses", NOTE),
    row(lambda text: _claimed(b"a = 1\n", text), cite, "text", BODY),
    row(lambda text: _claimed(text.encode(), "`a` is 17"), cite, "data", NOTE),
    row(_recited, editing, "", HEAD - 100),  # a longer head is refused, another way
    row(tools._visible_text, cleaning),
    row(lambda text: editing.copy_key(text, "tags", "tags: [a]\n", "\n"), editing, "", HEAD),
    row(_lines, frontmatter, "", HEAD),
    row(yaml_head.HeadHandler.FM_BOUNDARY.split, yaml_head, "", HEAD),
    *rows(tools, "_line_numbers"),
    row(lambda text: tools._PLACE.fullmatch(text), tools, "place"),
)

SPARED = {
    "citing.lines": "git's own line on a change",
    "compact.guards": "the reason of an op, which has 500 characters",
    "compact.result": "a date of a note",
    "cli.notes": "what a person types",
    "actions.replacing": "git's own line on an author",
    "hosts.git_hooks": "the first line of a person's own hook",
    "hosts.opencode.wiring": "our own plugin",
    "session.storage": "an id of ours",
    "actions.editing": "the name of a note, which has 80 bytes",
    "git.journal": "our own journal",
    "git.lock": "who holds the lock, as we wrote it",
    "git.replacement": "names of files",
    "git.objects": "git's own objects",
    "store.home": "a store's own settings, and git's own configuration",
    "actions.move": "a store's own settings",
    "actions.undo": "lines of a note at their beginnings",
}
