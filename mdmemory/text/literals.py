"""The literals of a text: what a compaction must neither lose nor invent.

Numbers (with dates and versions), URLs, mail addresses, paths, identifiers, code spans, quoted
strings, `Why:` lines, [[links]] and proper nouns, compared as whole tokens. Pure text in, sets of
tokens out.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

from mdmemory.text.conflict import clause_parts
from mdmemory.text.words import (
    CJK,
    ENGLISH,
    all_spellings,
    compiled,
    is_cjk,
    normal_text,
    word_key,
    word_keys,
)

_STEM = 4  # letters of a noun that its ending must leave
LISTED = 20  # lost or invented literals that an audit lists

_END = ".,;:!?…"  # punctuation that follows a literal, not part of it
# a letter, digit or underscore of a script that puts spaces between words
_L = rf"[^\W{CJK}]"
# Lengths are bounded where a text of one letter would make a search quadratic.
_URL = r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,20}+://[^\s<>\"'`)\]，。；：！？、）」』】》]+"
_MAIL = (
    r"(?a)(?<![A-Za-z0-9_])[A-Za-z0-9_.+-]{1,64}+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?::[\w.~/-]+)?"
)
# Rooted, or ending in a file name with an extension: "and/or" is prose.
_PATH = (
    r"(?a)(?<![\w/:.~@+-])(?:(?:~|\.{1,2})?/[\w@+~-][\w.@+~-]*(?:/[\w.@+~-]+)*/?"
    r"|[\w.@+-]+(?:/[\w.@+-]+)*/[\w@+-]+\.[A-Za-z]\w*"
    r"|[\w.@+-]+(?:/[\w.@+-]+){2,}/?"
    r"|[\w.@+-]+(?:/[\w.@+-]+)*/(?![\w/])"
    r"|[A-Za-z]:\\[^\s\"'<>|`，。]+)"
)
_NUMBER = r"\d+(?:[.,:/-]\d+)*"
_DAY = r"\d\d-\d\d"  # of no year
_SIGNED = r"(?:[$€£¥]|(?<![\w)])[-−+])?(?<!\d)\d+(?:[.,:/-]\d+)*(?!\d)[%‰€£¥°]?"
# 10ms, gpt-5-mini, Apache-2.0, snake_case, camelCase: told from words by `_is_identifier`.
_IDENTIFIER = (
    r"(?a)(?<![A-Za-z0-9_])(?=[a-z-]{0,80}+[A-Z0-9_])[A-Za-z0-9]+(?:[_-]+[A-Za-z0-9]+)*"
    r"(?:(?<=-\d)(?:\.\d+)+)?"
)
_OTHER = (
    r"(?a)(?<![\w/:.~@-])[A-Za-z0-9_-]+(?:\.[A-Za-z_][\w-]*)+(?![\w@])"  # dotted names, files
    r"|(?<![\w.@/-])\.[A-Za-z][\w-]+(?:\.[A-Za-z]\w*)*"  # .env
    r"|(?<![\w-])--[A-Za-z][\w-]*(?:=[^\s,;`'\"，。]+)?"  # --flag=value
    r"|(?<![\w.@/])@[A-Za-z][\w-]*(?:/[\w.-]*\w)?"  # @handle, @scope/package
    r"|(?<!\w)[A-Za-z]\w*(?:\+\+|#)(?!\w)"  # C++, C#
)
_OTHER_SIGN = r"\.[A-Za-z_]|--|@|\+\+|#"
_ABBREVIATION = r"(?:[A-Za-z]\.)+[A-Za-z]"  # e.g, i.e: not a dotted name
_CODE = r"(?<!`)`([^`\n]+)`(?!`)"
_FENCE = r"[ \t]*(`{3,}+|~{3,}+)"
_QUOTED = (
    rf"(?<!{_L})\"(?=\S)([^\"\n]{{1,300}})(?<=\S)\"(?!{_L})"
    rf"|(?<!{_L})'(?=\S)([^'\n]{{2,300}})(?<=\S)'(?!{_L})"
    r"|[“„«]\s?([^“”„«»\n]{1,300}?)\s?[”“»]"
    rf"|‘(?=\S)([^‘’\n]{{2,300}})’(?!{_L})"
    r"|「([^「」\n]{1,300})」|『([^『』\n]{1,300})』|《([^《》\n]{1,300})》"
)
_SPAN_SIGN = "[`~\"'“„«‘「『《]"
# the number of a list item, also of "1) one, 2) two": form
_ORDINAL = r"(?m)(?:^[ \t]*[0-9]{1,2}[.)]|(?<= )[0-9]{1,2}\))(?=[ \t])"
_WHY = r"(?mi)^[ \t>*_-]*why[*_]*\s*[:：][*_ \t]*(\S.*)$"
_LINK = r"\[\[([^\[\]|#\n]+)(?:[|#][^\[\]\n]*)?\]\]"
REASON = 0.5  # of the telling words of a `Why:` line, of which more have to stay
_PARAGRAPHS = r"\n[ \t]*\n\s*"
_EASTERN_RUN = "[一二三四五六七八九十百千两〇]+"
_WIDE_DIGITS = {0xFF10 + digit: str(digit) for digit in range(10)}


def linked_names(text: str) -> set[str]:
    """The names that a text links to as [[name]], folded as `fold_link` does."""
    return {fold_link(name) for name in compiled(_LINK).findall(text)}


def fold_link(name: str) -> str:
    """A name as links compare it: composed, without case, without `.md`."""
    plain = name if name.isascii() else unicodedata.normalize("NFC", name)
    return plain.strip().casefold().removesuffix(".md")


def literal_tokens(text: str) -> set[str]:
    """Every literal of a text but its `Why:` lines and proper nouns, each as it is compared."""
    text = _compose_text(text)
    links = (f"[[{name}]]" for name in linked_names(_flatten_text(text)))
    return {*_word_literals(text), *_span_literals(text), *links}


def audit_literals(
    sources: Sequence[str], result: str, *, merged: Collection[str] = (), worded: bool = True
) -> tuple[list[str], list[str]]:
    """What `result` lost of the source texts, and what it holds that none of them has.

    `merged` are the names of the sources: links among them may go, for they are one note now.
    Without `worded` nothing is demanded that another wording or language may say, too: reasons and
    proper nouns. At most 20 of each are listed.
    """
    before, after = _Reading([*map(_compose_text, sources)]), _Reading([_compose_text(result)])
    own = {f"[[{fold_link(name)}]]" for name in merged}
    lost = {*before.lacking_literals(after)} - own
    invented = {*after.lacking_literals(before)}
    if worded:
        lost |= {*before.lacking_words(after), *before.lacking_numbers(after)}
        invented |= {*after.lacking_words(before, strange=True), *after.lacking_numbers(before)}
    return sorted(lost)[:LISTED], sorted(invented)[:LISTED]


class _Reading:
    """One or several texts, read for the literals that are demanded of another reading."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        # One after the other, too: a quotation that two of them open and close is in neither.
        self.whole = _flatten_text("\n".join(texts))
        self.tokens = {token for text in texts for token in _word_literals(text)}
        self.links = linked_names(self.whole)
        self.reasons = [why.strip() for text in texts for why in compiled(_WHY).findall(text)]

    @cached_property
    def folded(self) -> str:
        return _fold_text(self.whole)

    @cached_property
    def vocabulary(self) -> set[str]:
        return {word for piece in cut_pieces(self.whole) for word in _piece_parts(piece)}

    def names(self, folded: str) -> bool:
        """Whether a proper noun is among the words, in whatever number, case or spelling."""
        if not self._vocabulary_forms.isdisjoint(_folded_forms(folded)):
            return True
        return folded in all_spellings() and word_key(folded) in self._vocabulary_keys

    @cached_property
    def _vocabulary_forms(self) -> set[str]:
        return {form for word in self.vocabulary for form in _folded_forms(word)}

    def lacking_literals(self, other: _Reading) -> Iterator[str]:
        """The literals of this one that the other does not have, but for reasons and nouns."""
        # without the numbers of list items
        plain = {
            each for text in self.texts for each in _word_literals(compiled(_ORDINAL).sub("", text))
        }
        yield from (token for token in plain - other.tokens if not other.holds(token))
        yield from (f"[[{name}]]" for name in self.links - other.links)
        for span in {span for text in self.texts for span in _span_literals(text)}:
            # the case of its first letter is form
            forms = {span, span[0].swapcase() + span[1:] if span[0].isalpha() else span}
            if span not in other.tokens and not any(
                stands_alone(form, other.whole) for form in forms
            ):
                yield span

    def lacking_words(self, other: _Reading, *, strange: bool = False) -> Iterator[str]:
        """The reasons and proper nouns of this one that the other does not have.

        `strange`: this is the result, which is a stranger to the sources. Then a `Why:` line need
        not be one there, only made of their words.
        """
        for reason in self.reasons:
            if not other.gives(reason, strange):
                yield f"Why: {reason}"
        german = any(map(is_german, other.texts)) if strange else None
        for text in self.texts:
            for folded, noun in proper_nouns(text, german=german).items():
                if not other.names(folded) and not stands_alone(folded, other.folded):
                    yield noun

    def lacking_numbers(self, other: _Reading) -> Iterator[str]:
        """The digits of the numbers that stand here as words, and there in no form."""
        from mdmemory.text.numbers import IN_ENGLISH, NUMBERS  # few texts need them

        yield from {
            NUMBERS[word] for word in NUMBERS.keys() & self.vocabulary - IN_ENGLISH
        } - other.tokens - other._worded_numbers  # fmt: skip

    def holds(self, token: str) -> bool:
        """Whether a token stands here that a neighbour makes read otherwise ("`" left open), or
        another spelling of it does."""
        if compiled(_NUMBER).fullmatch(token):
            # 29 March is said where 29 March 2026 is
            if compiled(_DAY).fullmatch(token):
                return any(each.endswith(f"-{token}") for each in self.tokens)
            # and 2.6 where 2.6.1 is, and 2 where "two" is
            longer = "." in token and any(each.startswith(f"{token}.") for each in self.tokens)
            return longer or token in self._worded_numbers
        return stands_alone(token, self.whole) or (
            token in all_spellings() and word_key(token) in self._vocabulary_keys
        )

    @cached_property
    def _worded_numbers(self) -> set[str | None]:
        from mdmemory.text.numbers import NUMBERS, eastern_number  # few texts need them

        runs = compiled(_EASTERN_RUN).findall(self.whole)
        return {*map(NUMBERS.get, self.vocabulary), *map(str, map(eastern_number, runs))}

    @cached_property
    def _vocabulary_keys(self) -> set[str]:
        return set(map(word_key, self.vocabulary))

    def gives(self, reason: str, strange: bool) -> bool:
        """Whether a reason stands here: word for word; or in most of its telling words, where there
        is a `Why:` line; or (strange) is made of the words that stand here."""
        if stands_alone(_fold_text(reason), self.folded):
            return True
        words = {word for piece in cut_pieces(reason) for word in _piece_parts(piece)}
        if strange and words <= self.vocabulary:
            return True
        wanted = {*word_keys(reason)}
        return self.reasons != [] and len(wanted & {*word_keys(self.whole)}) > REASON * len(wanted)


def stands_alone(token: str, text: str) -> bool:
    """Whether the token stands in the text with nothing touching it that could belong to it."""
    at = text.find(token) if token else -1
    while at >= 0:
        end = at + len(token)
        before, after = text[at - 1 : at] if at else "", text[end : end + 1]
        begins = _is_wordy(token[0]) or token[0] in "-./~@"
        is_free = not (begins and (_is_wordy(before) or before in _JOINS_BEFORE))
        if is_free and _is_wordy(token[-1]):
            goes_on = after and after in ".:,'’" and _is_wordy(text[end + 1 : end + 2])
            is_free = not (_is_wordy(after) or after in _JOINS_AFTER)
            is_free = is_free and (not goes_on or text[end : end + 3] in _OWNS)
        if is_free:
            return True
        at = text.find(token, at + 1)
    return False


_JOINS_BEFORE = frozenset("-./~@\\+")
_JOINS_AFTER = frozenset("-/@+#=\\")
_OWNS = frozenset(("'s ", "’s "))


def _is_wordy(char: str) -> bool:
    return bool(char) and (char.isalnum() or char == "_") and not is_cjk(char)


def _compose_text(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).translate(_WIDE_DIGITS)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _flatten_text(text: str) -> str:
    """Each paragraph on one line: where a line breaks is form."""
    return "\n".join(" ".join(part.split()) for part in compiled(_PARAGRAPHS).split(text))


def _word_literals(text: str) -> Iterator[str]:
    """The literals that hold no white space: they are cut the same way wherever they stand."""
    for token in compiled(_SIGNED).findall(text):
        number = token.strip("-−+$€£¥%‰°")
        yield from (number,) if number == token else (number, token)
    # Looking for the sign first is many times as fast as searching for the form.
    for sign, form in (("://", _URL), ("@", _MAIL), ("/", _PATH), ("\\", _PATH)):
        if sign in text:
            yield from (token.rstrip(_END) for token in compiled(form).findall(text))
    if compiled(_OTHER_SIGN).search(text):
        others = (token.rstrip(_END) for token in compiled(_OTHER).findall(text))
        yield from (token for token in others if not compiled(_ABBREVIATION).fullmatch(token))
    yield from filter(_is_identifier, compiled(_IDENTIFIER).findall(text))


def _is_identifier(token: str) -> bool:
    if token.isalpha():  # camelCase; a capital in front makes it a proper noun
        return token[0].islower() and not token.islower()
    digits = sum(map(str.isdigit, token))
    if token[0] in "vV" and digits == len(token) - 1:
        return False  # v2 is the number 2
    return "_" in token or 0 < digits < len(token) - token.count("-")


def _span_literals(text: str) -> Iterator[str]:
    """The literals that may hold white space: code spans, lines of code blocks, quoted strings."""
    if not compiled(_SPAN_SIGN).search(text):
        return
    flat = _flatten_text(text)
    yield from filter(None, (" ".join(span.split()) for span in compiled(_CODE).findall(flat)))
    for groups in compiled(_QUOTED).findall(flat):
        yield from filter(None, (span.strip().rstrip(_END) for span in groups))
    fence, block = "", list[str]()  # a code block that is left open holds none
    for line in text.split("\n") if "```" in text or "~~~" in text else ():
        mark = compiled(_FENCE).match(line)
        if fence and mark and mark[1].startswith(fence):
            yield from filter(None, (" ".join(each.split()) for each in block))
            fence = ""
        elif fence:
            block.append(line)
        elif mark:
            fence, block = mark[1], []


def _piece_parts(piece: str) -> Iterable[str]:
    """The forms in which a word may stand for a proper noun: whole, its parts, without 's."""
    folded = piece.casefold()
    yield folded
    if not folded.isalnum():
        yield from re.split(r"[^\w]", folded)
        yield folded.removesuffix("'s").removesuffix("’s")


def _folded_forms(folded: str) -> Iterator[str]:
    """A word, and what is left of it without the ending of a plural or a genitive."""
    yield folded
    if folded.isalpha():
        for ending in ("s", "es", "n", "en"):
            if folded.endswith(ending) and len(folded) - len(ending) >= _STEM:
                yield folded[: -len(ending)]


def _fold_text(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(_END)


# --- words as they are written, and proper nouns

_PIECE = rf"[{CJK}]+|{_L}(?:{_L}|[+#]|[.@/:'’-](?={_L}))*|[.,;:!?，。；：！？、]|\n\s*\n|\n"
_MARKS = r"(?<!\w)[*_#]+|[*_]+(?!\w)|[`>\[\]()\"“”]+"
# A line that begins anew, whatever the one before it ends with: a bullet, a heading, a reason.
_NEW_LINE = r"\n(?=[ \t]*(?:[-*+•>#|]|\d{1,2}[.)][ \t]|[Ww]hy\b))"
_GERMAN = 0.15  # share of capitals inside sentences beyond which a capital says nothing
# Small words by which a German text is known, and how many of all words they are at least.
_OF_GERMAN = frozenset(
    "der die das den dem des und nicht ist sind wird werden ein eine einen mit auf für von zum zur "
    "wir im am bei aus nur nach bis".split()
)
_OFTEN = 5
_ENOUGH = 20  # words inside sentences that such a share takes
# A line break of hard-wrapped prose is inside a sentence.
_WRAP = r"(?<=[^\n]{40}[\w,])\n(?=[^\W\d_])"
_INSIDE = rf"(?<=[\w,;:)] )(?![{CJK}])[^\W\d_][\w'’.-]*"
_SHAPED = rf"(?<![\w'’])[^\W\d_{CJK}]{{2,}}+(?![\d_])"
_NOT_NAMES = frozenset(("I", "Why", "I'm", "I’m", "I'd", "I’d", "I've", "I’ve", "I'll", "I’ll"))


def cut_pieces(text: str) -> list[str]:
    """A text cut into words, runs of CJK, punctuation, and line breaks.

    A line break that begins something new (a paragraph, a bullet) is a piece of two breaks.
    """
    plain = normal_text(text)
    if "\n" in plain:
        plain = compiled(_NEW_LINE).sub("\n\n", plain)
    matches = compiled(_PIECE).findall(compiled(_MARKS).sub(" ", plain))
    return [piece if piece.strip() else "\n" * min(2, piece.count("\n")) for piece in matches]


def proper_nouns(text: str, *, german: bool | None = None) -> dict[str, str]:
    """The proper nouns of a text, folded, each with one way it is written there.

    A word with a capital inside a sentence, one of mixed case, or all capitals. Where more than
    15 % of the words inside sentences begin with a capital, as in German, a capital there says
    nothing; `german` settles that from outside.
    """
    text = compiled(_WRAP).sub(" ", normal_text(text))
    shaped = [word for word in compiled(_SHAPED).findall(text) if any(map(str.isupper, word[1:]))]
    if german is None:
        german = is_german(text)
    nouns = shaped if german else [*_capital_words(compiled(_INSIDE).findall(text)), *shaped]
    return {_bare_word(word).casefold(): _bare_word(word) for word in nouns}


def _capital_words(inside: list[str]) -> list[str]:
    capital = (word for word in inside if word[0].isupper() and word not in _NOT_NAMES)
    return [word for word in capital if _bare_word(word).casefold() not in ENGLISH]


def is_german(text: str) -> bool:
    """Whether a text writes so many capitals inside sentences that they name nothing."""
    inside = compiled(_INSIDE).findall(compiled(_WRAP).sub(" ", text))
    if sum(word.casefold() in _OF_GERMAN for word in inside) * _OFTEN >= len(inside) > 3:
        return True
    words = [word for word in inside if len(word) > 1]
    nouns = [word for word in _capital_words(inside) if len(word) > 1]
    return len(words) >= _ENOUGH and len(nouns) > _GERMAN * len(words)


def _bare_word(word: str) -> str:
    return word.rstrip(".'’-").removesuffix("'s").removesuffix("’s")


# --- values that changed their places: two addresses, each of which now stands with the name of the
# other. A value belongs to the words of its clause; nothing is said of values that share all.

_MOST_VALUES = 200  # values; a text with more is a table of data

_Clauses = dict[str, frozenset[str]]


def find_moved(sources: Sequence[str], result: str) -> list[str]:
    """The values that the result puts where the sources have another one; sorted."""
    if len(literal_tokens(result)) < 2:
        return []  # nothing to change places with, and cutting up clauses is dear
    before, after = _value_contexts(sources), _value_contexts([result])
    if not 1 < len(before) <= _MOST_VALUES:
        return []
    counts = Counter(word for words in before.values() for word in words)
    own = {value: {one for one in words if counts[one] == 1} for value, words in before.items()}
    owner = {word: value for value, words in own.items() for word in words}
    moved_values = []
    for value in before.keys() & after.keys():
        strange = {owner[word] for word in after[value] & owner.keys()}
        if not own[value] or value in strange or not strange:
            continue
        # what it belonged to has another value now
        if any(own[value] & words for other, words in after.items() if other != value):
            moved_values.append(value)
    return sorted(moved_values)


def _value_contexts(texts: Sequence[str]) -> _Clauses:
    """The words of the clauses that each value stands in."""
    contexts: dict[str, set[str]] = defaultdict(set)
    for text in texts:
        before: set[str] = set()
        for clause in clause_parts(text):
            every = literal_tokens(clause)
            every = every if len(every) <= _MOST_VALUES else set()
            parts = {one for one in every for other in every if one != other and one in other}
            values = every - parts
            for value in sorted(values, key=len, reverse=True):
                clause = clause.replace(value, " ")
            before = {key for key in word_keys(clause) if key[0].isalpha()} or before
            for value in values:
                contexts[value] |= before
    return {value: frozenset(words) for value, words in contexts.items()}
