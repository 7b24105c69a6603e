"""One text as it is compared with another: its words, what it denies, the values it names.

Words are folded; Chinese, Japanese and Korean, which put no space between words, come as bigrams.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_LETTER = rf"[^\W{_CJK}]"
_TOKEN = re.compile(
    rf"[{_CJK}]+|{_LETTER}(?:{_LETTER}|[+#]|[.@/:'’-](?={_LETTER}))*|[.,;:!?，。；：！？、]"
)
_CLAUSE = frozenset(".,;:!?，。；：！？、")
_MARKS = re.compile(r"(?<!\w)[*_#]+|[*_]+(?!\w)|[`>\[\]()\"“”]+")


def word_set(text: str) -> frozenset[str]:
    """A list of words, written as one string."""
    return frozenset(text.split())


STOP = word_set(
    "a an and are as at be been by do does did for from had has have he her his i in is it its my "
    "of on or our she so that the their them they this to was we were will with you your"
)
_NEGATION = re.compile(
    r"not|never|no|none|nothing|neither|nor|cannot|without|avoid|avoids|stop|stopped|refuses?|"
    r"\w+n['’]t|nicht|kein\w*|nie|niemals|ne|pas|jamais"
)
_NEGATION_CJK = re.compile(r"不要|不用|不再|不会|不需要|从不|從不|禁止|没有|沒有|不|没|沒|别|別|勿")
_TIMES = word_set(
    "monday tuesday wednesday thursday friday saturday sunday january february april june july "
    "august september october november december two three four five six seven eight nine ten "
    "eleven twelve daily weekly monthly yearly hourly"
)
_TIMES_CJK = re.compile(
    r"(?:周|星期|礼拜)[一二三四五六日天]|[一二三四五六七八九十百千两]+(?=[点月号天个次年周时分])"
)


class Statement:
    """One text, cut up for comparing; what only similar texts need is worked out on demand."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.cut = _cut(text)

    @cached_property
    def ordered(self) -> str:
        """Its words, sorted: what token_sort_ratio compares."""
        return " ".join(sorted(token for token in self.cut if token not in _CLAUSE))

    @cached_property
    def words(self) -> frozenset[str]:
        plain = [token for token in self.cut if token not in _CLAUSE]
        return frozenset(word for token in plain for word in (token, *_grams(token)))

    @cached_property
    def negated(self) -> frozenset[str]:
        return frozenset(_negated(self.cut))

    @cached_property
    def values(self) -> frozenset[str]:
        return frozenset(_values(self.text, self.cut))


def words(text: str) -> list[str]:
    """The words of a text in their order, folded."""
    return [word for token in _cut(text) if token not in _CLAUSE for word in _grams(token)]


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _cut(text: str) -> list[str]:
    return _TOKEN.findall(_MARKS.sub(" ", _fold(text)))


def _grams(token: str) -> list[str]:
    if not re.match(rf"[{_CJK}]", token) or len(token) == 1:
        return [token]
    return [token[at : at + 2] for at in range(len(token) - 1)]


def _negated(cut: list[str]) -> set[str]:
    """The words that stand under a negation: up to three after it, within its clause."""
    found: set[str] = set()
    for at, token in enumerate(cut):
        if _NEGATION.fullmatch(token):
            found.update(_following(cut[at + 1 : at + 6]))
        for match in _NEGATION_CJK.finditer(token):
            rest = token[match.end() : match.end() + 5]
            found.update(_grams(rest) if len(rest) > 1 else [])
    return found


def _following(after: list[str]) -> list[str]:
    clause = after[: next((at for at, token in enumerate(after) if token in _CLAUSE), len(after))]
    return [token for token in clause if token not in STOP][:3]


def _values(text: str, cut: list[str]) -> set[str]:
    found = {token for token in cut if token in _TIMES or _is_identifier(token)}
    found.update(token.removeprefix("v") for token in cut if any(map(str.isdigit, token)))
    found.update(match.group() for match in _TIMES_CJK.finditer(text))
    return found | _proper_nouns(text)


def _is_identifier(token: str) -> bool:
    return "_" in token or bool(re.search(r"\w[.@/]\w|[+#]$", token))


def _proper_nouns(text: str) -> set[str]:
    """Capitalised inside a sentence, of mixed case, or all capitals; nothing in German prose."""
    inside = re.findall(r"(?<=[\w,;:)] )[^\W\d_][\w'’.-]*", text)
    capital = [word for word in inside if word[0].isupper() and word not in ("I", "Why")]
    shaped = re.findall(r"\b(?:[A-Z]{2,}|[A-Za-z]+[a-z][A-Z]\w*)\b", text)
    if len(capital) > 0.15 * len(inside) and len(inside) >= 20:
        capital = []  # a language that capitalises its nouns
    return {word.casefold().rstrip(".'’-") for word in (*capital, *shaped)}
