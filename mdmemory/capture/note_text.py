"""How a note words a fact: its name, its description, and a body where that adds something. Pure.

The words stay those of who said them. What goes is what asks to remember ("please note that"), what
says that something changed ("from now on"), and whatever would stand in a note twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

from mdmemory.capture.duplicates import canonical, folded, pointer
from mdmemory.capture.fact_type import languages_of
from mdmemory.capture.triggers import weight
from mdmemory.note import limits
from mdmemory.note.limits import MAX_DESCRIPTION, MAX_NAME_BYTES
from mdmemory.privacy.redaction import MARK
from mdmemory.text.wordlists import in_languages, match, pattern
from mdmemory.text.words import CJK, STOP_CJK, is_cjk, keys, runs

NAME_WORDS = 5
NAME_WIDTH = 12  # CJK characters of a name
_READ = 1_000  # characters of a fact that its name and its reason are looked for in
_SENTENCE = 24  # the weight of a description that says enough without what follows
_CLAIM = 12  # the weight of what a reason is given for
_REASON = 8  # the weight of a reason
_SHARED = 0.5  # of the words of a description that a text has which says the same fact anew

_CLAUSE_END = re.compile(r"[，。；：！？、,;:!?]|\.(?=\s|\Z)|[ ][–—-][ ]")
_URL = re.compile(r"\b[a-z][a-z0-9+]*://\S+")
_SHORT = re.compile(r"\b(?:i|we|you|they|it|he|she|that|there)['’]\w+|['’]s\b", re.IGNORECASE)
_NOT = re.compile(r"(?<=\w)n['’]t\b", re.IGNORECASE)
_TERM = rf"\d[\d.,:/-]*\d|[^\W_{CJK}]+"  # a word, or a number with its points
_NUMBER = re.compile(r"[\d.,:/-]*\d[\d.,:/-]*(?:%|[a-z]{1,2})?")
_LEAD = (
    r"(?:{note.lead}\b[,:;–—-]?[ ]*|{note.lead_joined}[，,：:、 ]*"
    r"|{note.lead_marked}[ ]?[,:，：、][ ]*){1,4}"
)
_TAIL = r"[，,;]?[ ]*{note.tail}[.!。！]*\Z"
_WHY = r"[,，;]? ?\b{note.why}\b ?|[，,]{note.why_joined}"
# The end of a sentence, but not of "e.g." or "St."
_NEXT = re.compile(r"(?<=\w{4}[.!?])[ ]+(?=[^\W\d_a-zß-ÿ])|(?<=[。！？])(?=.)")
_PLAIN_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*[,.;:!?]*")
_VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)
_JAPANESE = re.compile(
    "[\u30a0-\u30ff\u3400-\u9fff\uf900-\ufaff]+|[^\\W\u3040-\u30ff\u3400-\u9fff]+"
)
_KOREAN_ENDINGS = re.compile(
    r"(?<=..)(?:입니다|이에요|예요|에서는?|으로|까지|부터|에게|은|는|이|가|을|를|에|로|와|과|도|의)$"
)


def bare(fact: str) -> str:
    """The fact in one line without the words of a request or a change around it."""
    line = " ".join(fact.split())
    lead = match(_LEAD, line)
    rest = line[lead.end() :] if lead else line
    rest = rest[:-60] + pattern(_TAIL, rest[-60:]).sub("", rest[-60:])
    return rest if re.search(r"\w{2}", rest) else line


def worded(fact: str) -> tuple[str, str]:
    """The description and the body of a note that states the fact: its first sentence, and what
    follows it, with a reason as its `Why:`. The body is "" where nothing follows."""
    text = bare(fact)
    first, rest = _divided(text)
    reason = ""
    why = pattern(_WHY, first[:_READ]).search(first[:_READ])
    if why and weight(first[: why.start()]) >= _CLAIM and weight(first[why.end() :]) >= _REASON:
        first, reason = first[: why.start()], _ended(first[why.end() :])
    description = description_of(as_sentence(first))
    if description.endswith("…"):
        return description, fact.strip()
    return description, "\n\n".join(part for part in (rest, reason and f"Why: {reason}") if part)


def as_sentence(text: str) -> str:
    """The text with a capital at its beginning, unless that is a name written small, and without
    the point at its end."""
    first = _PLAIN_WORD.match(text)
    is_word = first and first.end() in (len(text), text.find(" ")) and _is_word(first[0])
    begun = text[0].upper() + text[1:] if is_word else text
    return begun[:-1] if re.search(r"(?<![.…])[.。]\Z", begun) else begun


def beside(description: str, body: str) -> str:
    """The body of a note with this description: "" where it says the same."""
    return "" if canonical(body) == canonical(description) else body


def keys_of_fact(fact: str) -> set[str]:
    """The keys that a note may have which states the fact."""
    return {canonical(bare(fact)), canonical(" ".join(worded(fact))), pointer(bare(fact))} - {""}


def keys_of_text(description: str, body: str) -> set[str]:
    """The keys of the facts that a note of this text states; a cut description states none."""
    hook = "" if description.endswith("…") else description
    whole = canonical(f"{hook} {body}")
    return {canonical(body), canonical(hook), whole, pointer(hook), pointer(body)} - {""}


def stating(keys: Collection[str]) -> Callable[[str, str], bool]:
    """Whether a note of a description and a body has one of these keys, by `keys_of_text`. Most
    notes have not, and lack a word that they would need."""
    needed = {_needed(key) for key in keys}

    def has(description: str, body: str) -> bool:
        text = folded(f"{description} {body}")
        if not any(word in text for word in needed):
            return False
        return not keys_of_text(description, body).isdisjoint(keys)

    return has


def may_state(keys: Collection[str]) -> Callable[[str], bool]:
    """Whether a text has a word that a note needs which has one of these keys, in its description
    or its body. No is certain."""
    needed = {_needed(key) for key in keys}

    def may(text: str) -> bool:
        text = folded(text)
        return any(word in text for word in needed)

    return may


def _needed(key: str) -> str:
    """What the folded text of a note holds that has this key: the longest word, and of the key of
    a pointer, which begins with its address, the machine."""
    _, is_pointer, address = key.partition("://")
    return folded(re.split("[/ ]", address)[0]) if is_pointer else max(key.split(), key=len)


def said_anew(description: str, body: str, text: str) -> tuple[str, str] | None:
    """The description and the body ("": none) of a note whose fact `text` says anew: the note says
    nothing beyond its description, and half of the words that matter in that are in the text. None
    where the text is something else to say, and so a body."""
    if beside(description, body.strip()) or "\n\n" in text.strip():
        return None
    wanted, there = {*keys(description)}, {*keys(text)}
    if not wanted or len(wanted & there) < _SHARED * len(wanted):
        return None
    fresh, rest = worded(" ".join(text.split()))
    return fresh, rest or (text if body.strip() else "")


def description_of(fact: str) -> str:
    """The fact as one line of at most 220 characters, cut after a word where there is one."""
    line = " ".join(fact.split())
    if len(line) <= MAX_DESCRIPTION:
        return line
    room = line[: MAX_DESCRIPTION - 1]
    word = room.rfind(" ") if line[MAX_DESCRIPTION - 1] != " " else len(room)
    # Text without spaces, as Chinese or a long link, is cut where the room ends.
    return room[: word if word > MAX_DESCRIPTION // 2 else len(room)].rstrip() + "…"


def _divided(text: str) -> tuple[str, str]:
    """The first sentence of a text that says enough alone, and the rest."""
    for end in _NEXT.finditer(text):
        if weight(text[: end.start()]) >= _SENTENCE:
            return text[: end.start()], text[end.end() :]
    return text, ""


def _is_word(text: str) -> bool:
    """Whether this is a word and no name that is written small: "npm", "iPhone"."""
    plain = text.rstrip(",.;:!?")
    small = plain[1:].islower() or len(plain) == 1 or not plain[1:].isupper()
    return (
        small
        and plain[1:] == plain[1:].lower()
        and bool(_VOWEL.search(plain) or not plain.isascii())
    )


def _ended(reason: str) -> str:
    return reason.rstrip(" .。")


# --- the name ------------------------------------------------------------------------------------


def name_of(fact: str) -> str:
    """A name from the first clause: its first five words that carry meaning, without numbers and
    links unless there is little else."""
    fact = bare(MARK.sub(" ", fact)[:_READ])
    why = pattern(_WHY, fact).search(fact)
    fact = fact[: why.start()] if why and weight(fact[: why.start()]) >= _CLAIM else fact
    plain = _NOT.sub("nt", _SHORT.sub(" ", _URL.sub(" ", fact).strip() or fact))
    first = _CLAUSE_END.split(plain, maxsplit=1)[0]
    for text in (first, plain):
        words = [word for word in _telling(text) if not _NUMBER.fullmatch(word)]
        if len(words) > 1:
            break
    else:
        words = _telling(plain) or runs(plain)
    return limits.slug(_joined(words)) or limits.slug(fact)[:MAX_NAME_BYTES] or "fact"


def _joined(words: list[str]) -> str:
    """The first words, as many as a name has room for."""
    kept: list[str] = []
    width = 0
    for word in words[:NAME_WORDS]:
        width += len(word) if is_cjk(word[-1]) else 2
        if kept and width > NAME_WIDTH:
            break
        kept.append(word[:NAME_WIDTH] if is_cjk(word[-1]) else word)
    return " ".join(kept)


def _telling(text: str) -> list[str]:
    """The words of a text that tell notes apart, each once, in their order."""
    languages = languages_of(text)
    empty = in_languages("{note.empty}", languages)
    found: dict[str, str] = {}
    for piece in _pieces(text, languages):
        if not empty.fullmatch(piece):
            found.setdefault(piece.casefold(), piece)
    return list(found.values())


def _pieces(text: str, languages: tuple[str, ...]) -> Iterator[str]:
    """The words of a text; of one without blanks what stands between its small words."""
    if languages == ("ja",):
        return (run for run in _JAPANESE.findall(text) if len(run) > 1 or not is_cjk(run))
    if languages == ("zh",):
        cut = re.sub(STOP_CJK, " ", text)
        found = re.findall(rf"[{CJK}]+|{_TERM}", cut)
        return (run for run in found if len(run) > 1 or not is_cjk(run))
    words = re.findall(rf"{_TERM}|[^\W_]+", text)
    if languages == ("ko",):
        return (_KOREAN_ENDINGS.sub("", word) for word in words)
    return iter(words)
