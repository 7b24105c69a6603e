"""The guards of a text that an op would write: what it may not hold, lose or gain. Pure.

They look at literals and their neighbours, and judge no meaning: whether a text says what its
sources say is a second reading's to tell. Where there is none, they look at names, reasons and the
number of negating words, too. Each refusal is a code and a sentence that names the literal.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence

from mdmemory import unseen
from mdmemory.compact import result
from mdmemory.compact.plan import Merge, Rewrite, shown, sources_of
from mdmemory.errors import BadNote
from mdmemory.note import limits
from mdmemory.note.note import Note
from mdmemory.store.store import StoredNote
from mdmemory.text import literals
from mdmemory.text.conflict import SENTENCE_ENDS, count_negations
from mdmemory.text.normal_form import normal_form
from mdmemory.text.orders import is_order

_CLOSING = re.compile(r"(?<![.,;:!…。，；：！、])[.,;:!…。，；：！、]++(?=\s|$)")
_FORM = re.compile(r"(?m)^[ \t]*(?:[-*+•>#]+[ \t]+|\d{1,2}[.)][ \t]+)+|[`*\"“”]")


def plain(text: str) -> str:
    """A text without what does not matter: case, width, runs of space, closing punctuation.

    A question mark matters, and so does punctuation inside words: C is not C++.
    """
    folded = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return " ".join(_CLOSING.sub(" ", folded.casefold()).split())


def wording(note: Note) -> Hashable:
    """Equal for two notes of one type and kind that have the same sentences, in whatever order; a
    body that says the description once more counts as none."""
    head = note.head
    description, body = _plain_sentences(head.description), _plain_sentences(note.body)
    return (head.type, head.kind, description, body - description)


def same_key(note: Note) -> Hashable:
    """Equal for two notes that say exactly the same: type, kind, sentences and literals."""
    text = f"{note.head.description}\n{note.body}"
    return wording(note), frozenset(literals.literal_tokens(text))


def _plain_sentences(text: str) -> frozenset[str]:
    return frozenset(filter(None, map(plain, SENTENCE_ENDS.split(_FORM.sub("", text)))))


Refusal = tuple[str, str]  # code, sentence

_ANY_DAY = "2000-01-01"  # only to see whether a head can be edited at all
# What a viewer fetches as soon as the note is shown: a picture, an embedded note, an HTML tag.
_FETCHED = re.compile(
    r"(?i)!\[\[(?P<note>[^\[\]\n]{1,300})|!\[[^\[\]]{0,300}\](?:\((?P<url>[^()\s]{0,2000})"
    r"|\[(?P<label>[^\[\]\n]{0,300}))?"
    r"|<(?P<tag>(?:img|image|picture|source|video|audio|iframe|embed|object|link|script|style|svg)"
    r"\b[^<>]{0,2000})|!\["
)


def bad_text(op: Merge | Rewrite, store: Mapping[str, StoredNote]) -> Iterator[Refusal]:
    """What is wrong with the description and body of an op, the first thing first."""
    file = shown(op.target if isinstance(op, Merge) else op.file)
    before = [store[source].note for source in sources_of(op)]
    description = op.description or ""
    is_none = not op.body.strip() and not any(note.body.strip() for note in before)
    if not is_none and (problem := _problem(limits.check_body, op.body)):
        yield "body", f"The body for {file} is refused: {problem}"
    if any(map(is_order, f"{description}\n{op.body}".splitlines())):
        yield "body", f"The text for {file} reads like instructions to an assistant."
    if op.description is not None and (problem := _problem(limits.check_description, description)):
        yield "description", f"The description for {file} is refused: {problem}"
    hidden = unseen.unseen_added((note.text for note in before), f"{description}\n{op.body}")
    if hidden:
        listed = ", ".join(hidden[:5])
        yield "body", f"{file} would gain characters that nobody sees: {listed}."
    if _find_fetched(f"{description}\n{op.body}") - _find_fetched(*(note.text for note in before)):
        yield "body", f"{file} would gain a picture or an embedded file, which viewers fetch."
    try:
        result.changes(op, store, _ANY_DAY)
    except BadNote as found:
        yield "body", f"{file} cannot be written: {found.message}"


def _problem(check: Callable[[str], None], text: str) -> str:
    try:
        check(text)
    except BadNote as problem:
        return problem.message
    return ""


def _find_fetched(*texts: str) -> set[str]:
    """What is fetched where these texts are shown: each with what it names."""
    names = (match for text in texts for match in _FETCHED.finditer(text))
    return {
        (match["note"] or match["url"] or match["label"] or match["tag"] or match[0]).casefold()
        for match in names
    }


_ENDS = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_LISTED = 5  # words named in one message
_SECONDS = re.compile(r"(?<![\w.])(\d{2,18})s\b")


def literal_refusals(
    file: str, sources: Sequence[Note], description: str, body: str,
    merged: Collection[str] = (), *, is_read: bool = False,
) -> Iterator[Refusal]:  # fmt: skip
    """What one note in place of these would lose or gain, `file` as it is shown.

    `merged` are the names of notes that become one: links among them may go. What `is_read` by
    somebody who compares it with its sources may word anew what they name, deny and give as reason:
    of 120 right merges, 21 of the 28 that were refused were refused for such words.
    """
    written = [(note.head.description, note.body) for note in sources]
    if _word_for_word(written, (description, body)):
        return
    texts = [normal_form(as_one(*each)) for each in written]
    after = normal_form(as_one(description, body))
    lost, invented = literals.audit_literals(texts, after, merged=merged, worded=not is_read)
    # "45 days" is compared in seconds, and 45 is no stranger where it stands
    lost = _lacking(lost, [(description, body)])
    invented = _lacking(invented, written)
    if lost:
        yield "literal_lost", f"{file} would lose {_some(lost)}."
    if invented:
        yield "literal_invented", f"{file} would gain {_some(invented)} from nowhere."
    if words := literals.find_moved(texts, after):
        yield "negation", f"{file} would put {_some(words)} in the place of another value."
    if is_read:
        return
    # all that denies is gone, or something denies where nothing did: in between the same is said
    # with more of such words or fewer, and only who reads can tell
    now = count_negations(after)
    if bool(now) != any(map(count_negations, texts)):
        yield "negation", (
            f"{file} would deny something ({now} such words), and its sources deny nothing."
            if now else f"{file} would deny nothing any more, and its sources do."
        )  # fmt: skip


def _lacking(tokens: Sequence[str], texts: Sequence[tuple[str, str]]) -> list[str]:
    """Those of the tokens that stand nowhere in the texts as they are written."""
    whole = "\n".join(as_one(*text) for text in texts)
    return [token for token in tokens if not literals.stands_alone(token, whole)]


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


def as_one(description: str, body: str) -> str:
    """A note as one text."""
    return f"{description}\n\n{body}"


def _some(tokens: Sequence[str]) -> str:
    tokens = [token for token in tokens if f"{token}s" not in tokens]  # a number in its measure
    more = f" and {len(tokens) - _LISTED} more" if len(tokens) > _LISTED else ""
    return ", ".join(_SECONDS.sub(_spell_time, token[:80]) for token in tokens[:_LISTED]) + more


def _spell_time(match: re.Match[str]) -> str:
    """A time, which is compared in seconds, as it is said."""
    seconds = int(match[1])
    for length, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds and not seconds % length:
            return f"{seconds // length} {unit}{'s' if seconds > length else ''}"
    return match[0]
