"""The guards of a text that an op would write: what no note may hold, and what none may gain.

Pure. Each refusal is a code and a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import combinations, islice

from mdmemory import unseen
from mdmemory.compact import result
from mdmemory.compact.plan import Merge, Rewrite, shown
from mdmemory.compact.rewording import Rewording
from mdmemory.compact.same import as_one
from mdmemory.errors import BadNote
from mdmemory.note import limits
from mdmemory.note.note import Note
from mdmemory.store.store import StoredNote
from mdmemory.text import frames, literals, places, units
from mdmemory.text.contradiction import Profile, contradiction, opposed
from mdmemory.text.normal_form import normal_form
from mdmemory.text.quantities import is_rate
from mdmemory.text.relation import Kind, relation
from mdmemory.text.statements import Statement, flipped, turned
from mdmemory.text.wordlists import search
from mdmemory.text.words import sense

Refusal = tuple[str, str]  # code, sentence

_ANY_DAY = "2000-01-01"  # only to see whether a head can be edited at all
# What tries to pass for the system's voice.
_INSTRUCTION = (
    r"\b{guard.dismiss}\s+(?:(?:all|any|the|your)\s+)*{guard.earlier}\s+(?:\w+\s+)?{guard.told}"
    r"|</?(?:system|system-reminder|assistant|instructions)\b|<\|[a-z_]{2,20}\|>"
)
# What a viewer fetches as soon as the note is shown: a picture, an embedded note, an HTML tag.
_FETCHED = re.compile(
    r"(?i)!\[\[(?P<note>[^\[\]\n]{1,300})|!\[[^\[\]]{0,300}\](?:\((?P<url>[^()\s]{0,2000})"
    r"|\[(?P<label>[^\[\]\n]{0,300}))?"
    r"|<(?P<tag>(?:img|image|picture|source|video|audio|iframe|embed|object|link|script|style|svg)"
    r"\b[^<>]{0,2000})|!\["
)


def bad_text(op: Merge | Rewrite, store: Mapping[str, StoredNote]) -> Iterator[Refusal]:
    """What is wrong with the description and body of an op, the first thing first."""
    sources = op.sources if isinstance(op, Merge) else (op.file,)
    file = shown(op.target if isinstance(op, Merge) else op.file)
    before = [store[source].note for source in sources]
    description = op.description or ""
    is_none = not op.body.strip() and not any(note.body.strip() for note in before)
    if not is_none and (problem := _problem(limits.check_body, op.body)):
        yield "body", f"The body for {file} is refused: {problem}"
    if instructs(f"{description}\n{op.body}"):
        yield "body", f"The text for {file} reads like instructions to an assistant."
    if op.description is not None and (problem := _problem(limits.check_description, description)):
        yield "description", f"The description for {file} is refused: {problem}"
    hidden = unseen.added((note.text for note in before), f"{description}\n{op.body}")
    if hidden:
        listed = ", ".join(hidden[:5])
        yield "body", f"{file} would gain characters that nobody sees: {listed}."
    if _fetched(f"{description}\n{op.body}") - _fetched(*(note.text for note in before)):
        yield "body", f"{file} would gain a picture or an embedded file, which viewers fetch."
    try:
        result.changes(op, store, _ANY_DAY)
    except BadNote as found:
        yield "body", f"{file} cannot be written: {found.message}"


def instructs(text: str) -> bool:
    """Whether a text reads like instructions to an assistant."""
    return search(_INSTRUCTION, text) is not None


def _problem(check: Callable[[str], None], text: str) -> str:
    try:
        check(text)
    except BadNote as problem:
        return problem.message
    return ""


def _fetched(*texts: str) -> set[str]:
    """What is fetched where these texts are shown: each with what it names."""
    found = (match for text in texts for match in _FETCHED.finditer(text))
    return {
        (match["note"] or match["url"] or match["label"] or match["tag"] or match[0]).casefold()
        for match in found
    }


_ENDS = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_WITH_NO = re.compile(r"(?i)\bwith no\b")
_LISTED = 5  # words named in one message
_LONGEST, _LOOKED = 4, 200  # words of a written value, and words among which it is looked for
_PAIRS = 300  # of sources, whose sentences are compared


def meaning(
    file: str, sources: Sequence[Note], description: str, body: str, merged: Collection[str] = ()
) -> Iterator[Refusal]:
    """What is wrong with one note in place of these, `file` as it is shown.

    `merged` are the names of notes that become one: links among them may go.
    """
    written = [(note.head.description, note.body) for note in sources]
    if _word_for_word(written, (description, body)):
        return
    if all(_is_same(note, as_one(description, body)) for note in sources):
        return
    before = [(normal_form(head), normal_form(text)) for head, text in written]
    now = normal_form(description), normal_form(body)
    whole, after = [said(*each) for each in before], said(*now)
    texts = [text for text in whole if text != after]
    reworded = Rewording(before, now)
    lost, invented = literals.audit(texts, after, merged=merged) if texts else ([], [])
    lost, invented = _rated(reworded.really_lost(lost), reworded.really_invented(invented))
    if lost:
        raw = "\n".join(part for note in written for part in note)
        yield "literal_lost", f"{file} would lose {_some(_as_written(lost, raw))}."
    if invented and len(texts) == len(whole):
        told = _some(_as_written(invented, f"{description}\n{body}"))
        yield "literal_invented", f"{file} would gain {told} from nowhere."
    if words := turned(texts, after) if reworded.is_long else reworded.turned():
        yield "negation", f"{file} would turn around what is said of {_some(words)}."
    yield from _misplaced(file, reworded)
    if pair := opposed(
        *(Statement(_WITH_NO.sub("without", each)) for each in ("\n".join(texts), after))
    ):
        yield "negation", f"{file} would say {pair[1]} for {pair[0]}."
    yield from _description(file, sources, description, reworded)
    if words := _missing(whole, after, reworded):
        yield "literal_lost", f"{file} would lose {_some(words)}."
    if pair := frames.replaced(whole, after, reworded.replaces):
        yield "negation", f"{file} would say {pair[0]} for {pair[1]}."
    if words := places.moved(whole, after):
        yield "negation", f"{file} would put {_some(words)} in the place of another value."
    if words := reworded.lost():
        yield "literal_lost", f"{file} would lose {_some(words)}."
    if words := reworded.invented():
        yield "literal_invented", f"{file} would gain {_some(words)} from nowhere."


def _is_same(note: Note, text: str) -> bool:
    """Whether a note says what a text says, in these or in other words."""
    before = as_one(note.head.description, note.body)
    return before == text or relation(before, text).kind is Kind.SAME


def _rated(lost: list[str], invented: list[str]) -> tuple[list[str], list[str]]:
    """The same without "per day" and the like, which may be said otherwise: only one that becomes
    another one counts."""
    if all(any(map(is_rate, each)) for each in (lost, invented)):
        return lost, invented
    plain = ([each for each in words if not is_rate(each)] for words in (lost, invented))
    return next(plain), next(plain)


def _as_written(tokens: Sequence[str], text: str) -> list[str]:
    """Values in normal form as they stand in a text."""
    words = text.split()
    found = {}
    for size in range(_LONGEST, 0, -1):
        for at in range(min(len(words), _LOOKED) - size + 1):
            plain = " ".join(words[at : at + size]).strip(".,;:!?()")
            found[normal_form(plain).strip()] = plain
    return [token if token in text else found.get(token, token) for token in tokens]


def _word_for_word(sources: Sequence[tuple[str, str]], result: tuple[str, str]) -> bool:
    """Whether the result is made of the sources as they are, each body in one piece."""
    before = {line for note in sources for text in note for line in _sentences(text)}
    after = [_sentences(text) for text in result]
    whole = "\n".join(line for lines in after for line in lines)
    bodies = ("\n".join(_sentences(body)) for _, body in sources)
    same = before == {line for lines in after for line in lines}
    return same and all(body in whole for body in bodies)


def _sentences(text: str) -> list[str]:
    return [line.strip() for line in _ENDS.split(text) if line.strip()]


def _misplaced(file: str, reworded: Rewording) -> Iterator[Refusal]:
    """What the sources say as well, but not of that, or not of that alone."""
    if words := reworded.crossed():
        yield "negation", f"{file} would put {_some(words)} in the place of one another."
    if words := reworded.replaced():
        yield "negation", f"{file} would say {words[0]} for {words[1]}."
    if reworded.exclusive() or reworded.excepted():
        yield "negation", f"{file} would say for whom alone something holds, or no longer say it."


def said(description: str, body: str) -> str:
    """A note as one text."""
    return f"{description}\n\n{body}"


def _description(
    file: str, sources: Sequence[Note], description: str, reworded: Rewording
) -> Iterator[Refusal]:
    """What a new description turns around, whatever the body says."""
    old = [note.head.description for note in sources]
    if description in old:
        return
    whole = "\n".join(said(note.head.description, note.body) for note in sources)
    if pair := frames.replaced(old, description, reworded.is_new):
        yield "negation", f"The description of {file} would say {pair[0]} for {pair[1]}."
    words = flipped(old, description, whole)
    if words and not reworded.names_only():
        where = f"The description of {file}"
        yield "negation", f"{where} would turn around what is said of {_some(words)}."
    new = Profile("", description, "")
    for each in old if not reworded.names_only() else ():
        if why := contradiction(Profile("", each, ""), new):
            yield "negation", f"The description of {file} contradicts the old one: {why}."


def _missing(texts: Sequence[str], after: str, reworded: Rewording) -> list[str]:
    """The plain words that a text must keep: of what its sentences speak, what tells two alike
    ones apart, and units."""
    known = frames.vocabulary([after])
    headings = reworded.heading_words()
    found: set[str] = set()
    for text in texts:
        for subject in frames.each_subject(text):
            gone = [word for word in subject if sense(word) not in known]
            if len(gone) == len(subject):
                found.update(filter(reworded.needs, gone))
        found.update(units.lost(text, after))
    for one, other in islice(combinations(texts, 2), _PAIRS):
        rivals = {word for word in frames.rivals(one, other) if not frames.holds(known, word)}
        found |= {word for word in rivals - headings if reworded.lacks(word)}
    return sorted(word for word in found if not any(f" {word}" in other for other in found))


def _some(tokens: Sequence[str]) -> str:
    more = f" and {len(tokens) - _LISTED} more" if len(tokens) > _LISTED else ""
    return ", ".join(token[:80] for token in tokens[:_LISTED]) + more
