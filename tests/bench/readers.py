"""What a person has to measure on, read from a path: LoCoMo, or questions of their own."""

import json
import os
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Any

from bench import locomo
from bench.corpus import BadDataError, Corpus, Levels, composed
from bench.retrieval import Question

from mdmemory.errors import MdmemoryError
from mdmemory.store.store import Store

QUESTIONS, NOTES, FOLDER = "questions.jsonl", "notes.jsonl", "notes"
FORMATS = (
    f"LoCoMo's file (locomo10.json), or a folder with {QUESTIONS} beside {NOTES}, a folder "
    f"{FOLDER}, or notes (*.md)"
)


def read(path: Path) -> Levels:
    """The collections at a path. Raises BadDataError."""
    path = Path(os.path.expanduser(path))  # make hands `~` on as it is
    if os.path.isdir(path):  # of a path that is too long, pathlib raises
        if (path / QUESTIONS).is_file():
            return {"notes": [collection(path / QUESTIONS)]}
    elif path.suffix == ".jsonl" and os.path.isfile(path):
        return {"notes": [collection(path)]}
    elif os.path.isfile(path):
        data = _json(path)
        if locomo.is_locomo(data):
            try:
                return locomo.levels(data)
            except (KeyError, TypeError, ValueError, IndexError, AttributeError) as problem:
                reason = f"{type(problem).__name__}: {problem}"[:80]
                raise BadDataError(f"{path} is not as LoCoMo publishes it ({reason}).") from None
    else:
        raise BadDataError(f"There is no {path}. DATA is {FORMATS}.")
    raise BadDataError(f"{path} is in no format that is known. DATA is {FORMATS}.")


def collection(path: Path, without: Container[str] = ()) -> Corpus:
    """The questions of a file, one a line, about the notes beside it; `without` those of some ids.
    Raises BadDataError."""
    corpus = Corpus()
    names = add_notes(corpus, path.parent)
    for where, row in rows(path):
        if row.get("id") in without:
            continue
        text, gold = row.get("text", row.get("question")), row.get("answers", row.get("gold"))
        if not isinstance(text, str) or not text.strip():
            raise BadDataError(f'{where}: "text" (or "question") has to be what is asked.')
        if not isinstance(gold, list) or not all(isinstance(each, str) for each in gold):
            raise BadDataError(f'{where}: "answers" (or "gold") has to be a list of notes, or [].')
        if unknown := [each for each in gold if each not in names]:
            raise BadDataError(f"{where}: there is no note {unknown[0][:80]!r}.")
        wanted = frozenset(names[each] for each in gold)
        kind, lang = str(row.get("kind") or ""), str(row.get("lang") or "")
        corpus.questions.append(Question(text, wanted, kind, lang))
    if not corpus.questions:
        raise BadDataError(f"{path} has no question: write one a line.")
    return corpus


def rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each line that is not empty: where it stands, and what it holds. Raises BadDataError."""
    for number, line in enumerate(_text(path).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            row = json.loads(line)
            json.dumps(row, ensure_ascii=False).encode()  # half of a pair in \\ud800 is no text
        except UnicodeEncodeError:
            raise BadDataError(
                f"{where} holds half of a pair of UTF-16, which is no text."
            ) from None
        except (ValueError, RecursionError) as problem:
            raise BadDataError(f"{where} is no JSON: {problem}.") from None
        if not isinstance(row, dict):
            raise BadDataError(f'{where} has to be an object, as {{"text": ..., "answers": []}}.')
        yield where, row


def add_notes(corpus: Corpus, folder: Path) -> dict[str, str]:
    """The notes of a folder; the file by each name that a question may call it by."""
    names: dict[str, str] = {}
    if (folder / NOTES).is_file():
        for where, row in rows(folder / NOTES):
            if not isinstance(row.get("id"), str) or row["id"] in names:
                raise BadDataError(f'{where}: "id" has to be a text of its own.')
            names[row["id"]] = row["id"]
            try:
                corpus.add_note(row["id"], composed(row))
            except KeyError as problem:
                raise BadDataError(f"{where} has no {problem}.") from None
            except TypeError:
                raise BadDataError(f'{where}: "aliases" has to be a list of names.') from None
            except MdmemoryError as problem:
                raise BadDataError(f"{where}: {problem.message}") from None
    else:
        place = folder / FOLDER if (folder / FOLDER).is_dir() else folder
        for stored in Store(place).notes():
            corpus.add_stored(stored)
            names |= dict.fromkeys((stored.file, stored.file.removesuffix(".md")), stored.file)
    if not corpus.documents:
        raise BadDataError(f"There are no notes in {folder}: {NOTES}, a folder {FOLDER}, or *.md.")
    return names


def _json(path: Path) -> Any:
    try:
        return json.loads(_text(path))
    except ValueError:
        return None


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise BadDataError(f"{path} is no text in UTF-8. DATA is {FORMATS}.") from None
    except OSError as problem:
        raise BadDataError(f"{path} cannot be read: {problem.strerror}.") from None
