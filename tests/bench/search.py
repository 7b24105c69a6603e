"""How well search finds what is asked: `make bench-search [DATA=PATH] [WITH="--misses"]`.

PATH is LoCoMo's file `locomo10.json`, or a folder with `questions.jsonl`, beside which lie
`notes.jsonl`, a folder `notes`, or the notes themselves.
A line of `questions.jsonl` has `text` (or `question`), `answers` (or `gold`): all notes that answer
it, by file or `id`, [] where nothing does; and, if you like, `lang` and `kind`, which get figures
of their own. A line of `notes.jsonl` has `id`, `name`, `description`, `created`, and may have
`type`, `body`, `updated`, `aliases`. Relative dates count from the day of the newest note.

Without PATH the project's own corpora are measured, and the exit is 1 where one of the promises
about them is broken. Every figure stands beside a plain full-text table from the same run, which
is made as well as one can.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import hybrid, own, promises, readers, tables
from bench.corpus import BadDataError, Corpus
from bench.plain import plain
from bench.retrieval import Finder, Outcome, figures, ours, outcomes

Search = Callable[[Corpus], AbstractContextManager[Finder]]
PLAIN, OURS = "plain table", "mdmemory"
SEARCHES: Mapping[str, Search] = {
    PLAIN: lambda corpus: plain(corpus.texts),
    OURS: lambda corpus: ours(corpus.documents, corpus.today),
}


def main(arguments: Sequence[str] | None = None) -> int:
    options = argparse.ArgumentParser(
        prog="make bench-search", description=__doc__.partition("\n\n")[0]
    )
    options.add_argument("data", nargs="?", type=Path, help="what is measured on")
    options.add_argument("--misses", action="store_true", help="list what is not found first")
    options.add_argument("--vectors", action="store_true", help="by words and meaning, too")
    options.add_argument("--model", default=hybrid.MODEL, help="with --vectors (%(default)s)")
    chosen = options.parse_args(arguments)
    try:
        levels = readers.read(chosen.data) if chosen.data else own.levels()
        searches = chosen_searches(chosen.model if chosen.vectors else "")
    except BadDataError as problem:
        print(problem, file=sys.stderr)
        return 1
    found = {name: asked(corpora, searches) for name, corpora in levels.items()}
    lines = [line for name, by_search in found.items() for line in table(name, by_search)]
    left_out = sum(corpus.left_out for corpora in levels.values() for corpus in corpora)
    print(*tables.text(lines), *(misses(found) if chosen.misses else ()), sep="\n")
    if left_out:
        print(f"{left_out} questions are left out: they name no evidence that is there.")
    broken = [] if chosen.data else promises.broken(lines)
    print(*broken, sep="\n", file=sys.stderr, end="\n" if broken else "")
    return 1 if broken else 0


def chosen_searches(model: str) -> Mapping[str, Search]:
    """The searches that are measured. Raises BadDataError for a model that is not here."""
    if not model:
        return SEARCHES
    hybrid.model(model)
    return {**SEARCHES, "and meaning": lambda corpus: hybrid.hybrid(corpus, model)}


def asked(corpora: Sequence[Corpus], searches: Mapping[str, Search]) -> dict[str, list[Outcome]]:
    """What each search finds, over the questions of all collections."""
    found: dict[str, list[Outcome]] = {name: [] for name in searches}
    for corpus in corpora:
        if not corpus.documents:
            continue
        for name, search in searches.items():
            with search(corpus) as find:
                found[name] += outcomes(find, corpus.questions)
    return found


def table(level: str, found: Mapping[str, Sequence[Outcome]]) -> Iterator[tables.Line]:
    """The figures of all questions, of each language and of each kind, where there are several."""
    questions = [outcome.question for outcome in next(iter(found.values()))]
    groups = [("", "all")]
    for key in ("lang", "kind"):
        values = dict.fromkeys(getattr(question, key) for question in questions)
        groups += [(key, value) for value in values if value and len(values) > 1]
    for key, group in groups:
        for search, some in found.items():
            chosen = [o for o in some if not key or getattr(o.question, key) == group]
            yield tables.Line(level, key, group, search, figures(chosen))


def misses(found: Mapping[str, Mapping[str, Sequence[Outcome]]]) -> Iterator[str]:
    """The questions whose answer is not first."""
    for level, by_search in found.items():
        for search, some in by_search.items():
            if search == PLAIN:
                continue
            for outcome in some:
                question, files = outcome.question, outcome.hits.files
                if outcome.rank == 1 or not question.answers:
                    continue
                about = " ".join(filter(None, (level, search, question.lang, question.kind)))
                wanted = " ".join(sorted(question.answers))
                rank = outcome.rank or "-"
                yield f"{about}  {rank:>2}  {question.text}  [{wanted}]  {' '.join(files[:2])}"


if __name__ == "__main__":
    sys.exit(main())
