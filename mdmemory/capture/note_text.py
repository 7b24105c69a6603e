"""How a note words a fact: its name, its description, and a body where that adds something. Pure.

The words stay those of who said them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection

from mdmemory.capture.notice import letter_weight
from mdmemory.note import limits
from mdmemory.note.limits import MAX_DESCRIPTION
from mdmemory.note.note import Note
from mdmemory.privacy.redaction import MARK
from mdmemory.text.conflict import count_negations
from mdmemory.text.words import CJK, is_cjk, word_keys

NAME_WORDS = 5
NAME_WIDTH = 12  # characters of a name in a script without blanks
_SENTENCE = 24  # the weight of a description that says enough without what follows
_SHARED = 0.5  # of the words of a description that a text has which says the same fact anew

# The end of a sentence, but not of "e.g." or "St."
_NEXT = re.compile(r"(?<=\w{4}[.!?])[ ]+(?=[^\W\d_a-zß-ÿ])|(?<=[。！？])(?=.)")
_PLAIN_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*[,.;:!?]*")
_VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)
_NAME_WORD = rf"[{CJK}]+|(?:[^\W_{CJK}]MARKS)+(?:[.'’+#-]+(?:[^\W_{CJK}]MARKS)+)*"


def bare_line(fact: str) -> str:
    """The fact in one line."""
    return " ".join(fact.split())


def word_note(fact: str) -> tuple[str, str]:
    """The description and the body of a note that states the fact: its first sentence, and what
    follows it. The body is "" where nothing follows; of a list it is the list."""
    line = first = bare_line(fact)
    weight, begin, rest = 0, 0, ""
    for end in _NEXT.finditer(line):  # the first sentence that says enough alone
        weight += letter_weight(line[begin : end.start()])
        begin = end.start()
        if weight >= _SENTENCE:
            first, rest = line[:begin], line[end.end() :]
            break
    description = description_of(as_sentence(first))
    if description.endswith("…") or "\n" in fact.strip():
        return description, fact.strip()
    return description, rest


def as_sentence(text: str) -> str:
    """The text with a capital at its beginning, unless that is a name written small, and without
    the point at its end."""
    first, begun = _PLAIN_WORD.match(text), text
    if first and first.end() in (len(text), text.find(" ")):
        plain = first[0].rstrip(",.;:!?")
        is_small = plain[1:] == plain[1:].lower()  # but for a name: "npm", "iPhone"
        if is_small and (_VOWEL.search(plain) or not plain.isascii()):
            begun = text[0].upper() + text[1:]
    return begun[:-1] if re.search(r"(?<![.…])[.。]\Z", begun) else begun


def body_beside(description: str, body: str) -> str:
    """The body of a note with this description: "" where it says the same."""
    return "" if canonical_key(body) == canonical_key(description) else body


def whole_text(note: Note) -> str:
    """All that a note says."""
    return f"{note.head.description}\n{note.body}"


def keys_of_fact(fact: str) -> set[str]:
    """The keys that a note may have which states the fact."""
    line = bare_line(fact)
    keys = {canonical_key(line), canonical_key(" ".join(word_note(fact))), pointer_key(line)}
    return keys - {""}


def keys_of_text(description: str, body: str) -> set[str]:
    """The keys of the facts that a note of this text states; a cut description states none."""
    hook = "" if description.endswith("…") else description
    whole = canonical_key(f"{hook} {body}")
    keys = {canonical_key(body), canonical_key(hook), whole, pointer_key(hook), pointer_key(body)}
    return keys - {""}


def stating_test(keys: Collection[str]) -> Callable[[str, str], bool]:
    """Whether a note of a description and a body has one of these keys, by `keys_of_text`. Most
    notes have not, and lack a word that they would need."""
    may = may_state(keys)
    return lambda description, body: (
        may(f"{description} {body}") and not keys_of_text(description, body).isdisjoint(keys)
    )


def may_state(keys: Collection[str]) -> Callable[[str], bool]:
    """Whether a text has a word that a note needs which has one of these keys, in its description
    or its body. No is certain."""
    needed = set()
    for key in keys:  # the longest word, and of a pointer, which begins so, the machine
        _, is_pointer, address = key.partition("://")
        word = re.split("[/ ]", address)[0] if is_pointer else max(key.split(), key=len)
        needed.add(fold_plain(word) if is_pointer else word)

    return lambda text: any(map(fold_plain(text).__contains__, needed))


def keys_of(note: Note) -> set[str]:
    """The keys of the facts a note states; a description that was cut states none."""
    return keys_of_text(note.head.description, note.body)


def said_anew(description: str, body: str, text: str) -> tuple[str, str] | None:
    """The description and the body ("": none) of a note whose fact `text` says anew: the note says
    nothing beyond its description, and half of the words that matter in that are in the text. None
    where the text is something else to say, and so a body."""
    if body_beside(description, body.strip()) or "\n\n" in text.strip():
        return None
    wanted, there = {*word_keys(description)}, {*word_keys(text)}
    if not wanted or len(wanted & there) < _SHARED * len(wanted):
        return None
    fresh, rest = word_note(" ".join(text.split()))
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


def name_of(fact: str) -> str:
    """A name for a fact: its first words."""
    text = MARK.sub(" ", fact[:400]).replace("'", "").replace("’", "")
    # vowels of Thai, Hindi and others are marks, which stand on a letter and end no word
    marks = {char for char in text if char > "\u02ff" and unicodedata.category(char)[0] == "M"}
    on_letters = f"[{re.escape(''.join(sorted(marks)))}]*" if marks else ""
    words = re.findall(_NAME_WORD.replace("MARKS", on_letters), text)
    name_words: list[str] = []
    width = 0
    for word in words[:NAME_WORDS]:
        width += len(word) if is_cjk(word[0]) else 2
        if name_words and width > NAME_WIDTH:
            break
        name_words.append(word[:NAME_WIDTH] if is_cjk(word[0]) else word)
    return limits.slugify(" ".join(name_words)) or "fact"


_URL = re.compile(r"(?i:https?)://[^\s<>\"'`)\]}，。；、）】]+")
# Of ASCII only these may tell facts apart by what stands around them; the others never do.
_MARK = re.compile(r"[.+#-]|[^\w\x00-\x7f]")
_BLANKS = {code: " " for code in range(128) if not chr(code).isalnum() and chr(code) not in ".+#-$"}


def canonical_key(text: str) -> str:
    """The key under which a fact is known: NFKC, lower case, and each run of punctuation or space
    one space. Texts with equal keys are the same fact. "" for text without letters or digits.

    What tells facts apart stays: accents and vowel signs, pictures and currencies, the point and
    the minus of a number, and the end of a name such as C++ or C#.
    """
    return " ".join(_MARK.sub(_keep_mark, fold_plain(text)).translate(_BLANKS).split())


def fold_plain(text: str) -> str:
    """The text in lower case, each character in its plainest form."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _keep_mark(mark: re.Match[str]) -> str:
    """The character, where it tells facts apart; else a space."""
    char, text = mark[0], mark.string
    before, after = text[max(0, mark.start() - 1) : mark.start()], text[mark.end() : mark.end() + 1]
    if char == ".":
        telling = before.isdigit() and after.isdigit()
    elif char == "-":
        telling = after.isdigit() and not before.strip()
    elif char in "+#":
        telling = text[max(0, mark.start() - 4) : mark.start()].rstrip("+#")[-1:].isalnum()
    else:
        telling = unicodedata.category(char) in ("Mn", "Mc", "Me", "So", "Sc")
    return char if telling else " "


def pointer_key(text: str) -> str:
    """The key of a fact that says where one thing is: its URL, the host in lower case, without
    fragment and closing slash; and the other words that tell it from others, in any order. "" for a
    text without a URL, with several, or that may deny something: no word of a person's is lost in
    another fact."""
    urls = _URL.findall(text) if len(text) <= MAX_DESCRIPTION else []
    if len(urls) != 1:
        return ""
    rest = text.replace(urls[0], " ")
    about = sorted({*word_keys(rest)})
    if not about or count_negations(rest):
        return ""
    scheme, _, address = urls[0].rstrip(".,;:!?").partition("://")
    host, slash, path = address.partition("#")[0].partition("/")
    identity = f"{scheme.lower()}://{host.lower()}{slash}{path}".rstrip("/")
    return f"{identity} {' '.join(about)}"
