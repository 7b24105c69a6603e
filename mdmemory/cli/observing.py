"""The command on observations: what tools showed in earlier work, kept in short form."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from mdmemory.cli.output import emit, opened, plural, visible, warn
from mdmemory.errors import UsageError
from mdmemory.observe.observations import Observations
from mdmemory.tools.observations import as_json

if TYPE_CHECKING:
    from mdmemory.observe.observation import Observation

_TYPES = ("decision", "bugfix", "feature", "refactor", "discovery", "change")


def observe_options(parser: ArgumentParser) -> None:
    """Options of `observe`."""
    parser.add_argument(
        "action",
        choices=[*_ACTIONS],
        metavar="ACTION",
        help="\n".join(f"{name}: {what}" for name, (_, what) in _ACTIONS.items()),
    )
    parser.add_argument("what", nargs="*", metavar="WHAT", help="a text, words, or numbers")
    parser.add_argument(
        "--type", default="discovery", choices=_TYPES, help=f"with add: {', '.join(_TYPES)}"
    )
    parser.add_argument(
        "--file", action="append", default=[], help="with add: a file that it is about; repeatable"
    )
    parser.add_argument(
        "--session",
        default="",
        metavar="ID",
        help="only this session; with work, summarize it, too",
    )
    parser.add_argument(
        "--around",
        default="",
        metavar="WHAT",
        help="with list: those around a number or a day, such as 12 or 2026-06-01",
    )
    parser.add_argument(
        "-k",
        type=_count,
        default=20,
        metavar="N",
        help="with list and search: how many (default 20)",
    )


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 2000:
        raise ArgumentTypeError(f"{text} is not a whole number from 1 to 2000")
    return int(text)


def observe(asked: Namespace) -> int:
    """List, search and edit observations: short records of what the assistant's tools showed. They
    are stored only if the setting observe.enabled is true."""
    asked.holder = "observe"
    action, _ = _ACTIONS[asked.action]
    return action(opened(asked).observations(), asked)


def _list(found: Observations, asked: Namespace) -> int:
    _refuse_words(asked)
    if asked.around:
        half = asked.k // 2
        around = found.timeline(
            asked.around, before=half, after=asked.k - half - 1, session=asked.session
        )
        rows = [*around.observations]
    else:
        rows = found.newest(asked.k, session=asked.session)
    if asked.json:
        emit([as_json(each) for each in rows])
        return 0
    for each in rows:
        print(visible(f"{each.head}  ({each.session})" if each.session else each.head))
    if rows:
        print("Show one in full: `mdmemory observe show NUMBER`.")
    else:
        print("No observations." if found.is_on else _OFF)
    if waiting := found.waiting()["pending"]:
        print(f"Waiting to be summarized: {plural(waiting, 'tool use')}.")
    return 0


_OFF = "No observations. They are off: set observe.enabled in your settings."


def _show(found: Observations, asked: Namespace) -> int:
    rows = found.recall(_words(asked, "No observation named."))
    if asked.json:
        emit([as_json(each) for each in rows])
    else:
        print("\n\n".join(visible(each.text) for each in rows))
    return 0


def _search(found: Observations, asked: Namespace) -> int:
    hits = found.search(_words(asked, "No query."), k=asked.k)
    for sentence in hits.said:
        warn(sentence)
    if asked.json:
        from mdmemory.search.results import as_json as shown

        emit({"mode": hits.mode, "hits": [shown(hit) for hit in hits.hits]})
        return 0
    for heading, some in hits.sections():
        if heading and some:
            print(f"{heading}:")
        for hit in some:
            print(visible(f"{hit.score:.2f}  {hit.text.partition(chr(10))[0]}"))
    if not hits.hits:
        print("No matches.")
    return 0


def _add(found: Observations, asked: Namespace) -> int:
    text = _words(asked, "No text.")
    kept = found.add(text, type=asked.type, files=asked.file, session=asked.session)
    _tell("Kept", [kept], asked)
    return 0


def _forget(found: Observations, asked: Namespace) -> int:
    _tell("Dropped", found.forget(_words(asked, "No observation named.")), asked)
    return 0


def _tell(done: str, rows: list[Observation], asked: Namespace) -> None:
    if asked.json:
        emit([as_json(each) for each in rows])
        return
    for each in rows:
        print(visible(f"{done} {each.head}"))


def _promote(found: Observations, asked: Namespace) -> int:
    done = found.promote(_words(asked, "No observation named."))
    if asked.json:
        emit({
            "added": done.added, "pending": done.pending, "dropped": done.dropped,
            "commit": done.commit,
        })  # fmt: skip
        return 0
    for drop in done.dropped:
        reasons = drop["reasons"]
        assert isinstance(reasons, list)
        print(visible(f"{drop['text']}  ({', '.join(reasons)})"))
    if done.pending:
        print("Facts to review: `mdmemory review`.")
    return 0


def _work(found: Observations, asked: Namespace) -> int:
    _refuse_words(asked)
    done = found.work()
    summed = found.summarize(asked.session) if asked.session else None
    failure = done.failure or (summed.failure if summed else None)
    if asked.json:
        emit({
            "kept": done.kept, "waiting": done.waiting, "failed": done.failed,
            "summary": summed.summary.fields if summed and summed.summary else None,
            "failure": failure.code if failure else None,
        })  # fmt: skip
    else:
        stored = plural(done.kept, "observation")
        print(f"Stored {stored}; {done.waiting} waiting, {done.failed} failed.")
    if failure:
        warn(f"{failure.message} {failure.hint}".rstrip())
    return 1 if failure else 0


def _words(asked: Namespace, question: str) -> str:
    """The words after the action, as one text."""
    if not asked.what:
        raise UsageError(question, f"`mdmemory observe {asked.action} WHAT`")
    return " ".join(asked.what)


def _refuse_words(asked: Namespace) -> None:
    if asked.what:
        raise UsageError(f"{asked.action} takes no {' '.join(asked.what)[:40]!r}.", "Remove it.")


_ACTIONS: Mapping[str, tuple[Callable[[Observations, Namespace], int], str]] = {
    "list": (_list, "the newest observations"),
    "show": (_show, "some in full, by number"),
    "search": (_search, "those that answer a question"),
    "add": (_add, "store one in your own words"),
    "forget": (_forget, "delete some, by number"),
    "promote": (_promote, "propose its facts as notes, in `mdmemory review`"),
    "work": (_work, "summarize waiting tool uses"),
}
