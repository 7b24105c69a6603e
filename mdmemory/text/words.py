"""Words as every room compares them: cut, folded, without endings, one for all its spellings.

Pure. Chinese, Japanese and Korean put no spaces between words, or join what belongs to them, so
their text counts in pairs of characters; where it tells texts apart, Korean without particles.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from _thread import get_ident
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class _Stemmer(Protocol):
        def stemWord(self, word: str) -> str: ...


# A character class of regular expressions, without its brackets.
CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
# An expression is compiled when it is first used: no command pays for one that it does not need.
compiled: Callable[[str], re.Pattern[str]] = cache(re.compile)
_IS_CJK = f"[{CJK}]"
_KOREAN = "[\uac00-\ud7a3]"
# Plain strings: compiled only for text that needs them (`re` keeps them); each takes 2 ms.
_WORD = f"[^\\W_{CJK}]+"
_RUN = f"[{CJK}]+|[^\\W_{CJK}]+"
_CHARACTER = f"[{CJK}]|[^\\W_{CJK}]+"
_PLAIN = re.compile(r"[^\W_]+")
_MARKS = "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]"
_POSSESSIVE = re.compile(r"['’]s?$")
_SYNONYMS = Path(__file__).parent / "words" / "synonyms.txt"
_ENGLISH_ENDS = "cdegilmnrsty"  # the last letters of all endings that the stemmer takes off
_CJK = "\u3000"  # what is greater is Chinese, Japanese or Korean, and has no endings
LONGEST = 64  # letters of a word that may have an ending
# A word without such an ending is no inflected German word; a final s is left to the English one.
_GERMAN_ENDINGS = tuple("e em en er ern es est st et end ung ig ik isch lich heit keit".split())


def normal_text(text: str) -> str:
    """The text with one form for each character: full-width letters become plain ones."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def is_cjk(char: str) -> bool:
    """Whether a character belongs to a script that counts in pairs of characters."""
    return char > "\u3000" and compiled(_IS_CJK).match(char) is not None


def char_grams(word: str) -> list[str]:
    """The pairs of characters in a run of CJK; any other word, and a single character, alone."""
    if len(word) == 1 or not is_cjk(word[0]):
        return [word]
    return [word[at : at + 2] for at in range(len(word) - 1)]


def match_words(text: str) -> Iterator[re.Match[str]]:
    """The words of a text in scripts that have spaces."""
    is_plain = text.isascii() or not compiled(_IS_CJK).search(text)
    return (_PLAIN if is_plain else re.compile(_WORD)).finditer(text)


def word_runs(text: str) -> list[str]:
    """The words and the runs of CJK of a text, as they are written."""
    if text.isascii() or not compiled(_IS_CJK).search(text):
        return _PLAIN.findall(text)
    return re.findall(_RUN, text)


def word_parts(text: str) -> list[str]:
    """The words of a text as they are written, CJK character by character."""
    if text.isascii() or not compiled(_IS_CJK).search(text):
        return _PLAIN.findall(text)
    return re.findall(_CHARACTER, text)


def word_tokens(text: str) -> list[str]:
    """The words of a text in lower case, CJK in pairs of characters."""
    if text.isascii():
        return _PLAIN.findall(text.casefold())
    return [each for run in word_runs(normal_text(text).casefold()) for each in char_grams(run)]


def word_keys(text: str) -> list[str]:
    """The words of a text that tell it from others, each as its `word_key`, in their order; Korean
    ones by what they say."""
    plain = normal_text(text)
    if text.isascii() or not compiled(_KOREAN).search(plain):
        words_found = word_tokens(plain)
    else:
        from mdmemory.text.korean import core_of  # with it comes a table that nothing else needs

        words_found = []
        for word in word_runs(plain.casefold()):
            if compiled(_KOREAN).match(word):
                # a character alone is a verb where it lost an ending, and mostly a particle else
                word = core_of(word) if len(word) > 1 else ""
            words_found += char_grams(word) if word else ()
    telling = (
        w for w in words_found if w not in STOP and (len(w) > 1 or compiled(_KOREAN).match(w))
    )
    return [word if word > _CJK else word_key(word) for word in telling]


@lru_cache(maxsize=100_000)
def word_key(word: str) -> str:
    """One word for all forms and spellings of a word: of `postgres`, `PostgreSQL` and so on."""
    stem_found = stem_of(word)
    return _name_keys().get(stem_found, stem_found)


def word_synonyms(word: str) -> tuple[tuple[str, ...], ...]:
    """The other spellings of a name in lower case, each as its words."""
    return _name_spellings().get(stem_of(word), ())


# --- stems


@lru_cache(maxsize=100_000)
def stem_of(word: str) -> str:
    """A word in lower case without accents and endings, English or German ones."""
    word = word.casefold()
    if word[-1:] in "'’s":
        word = _POSSESSIVE.sub("", word)
    if not word.isascii():
        if word[:1] and is_cjk(word[0]):
            return word
        plain = compiled(_MARKS).sub("", unicodedata.normalize("NFD", word))
        word = unicodedata.normalize("NFC", plain)
    if not word.isalpha() or not 2 < len(word) <= LONGEST:
        return word
    if word[-1] in _ENGLISH_ENDS:  # another word is its own stem, and needs no stemmer
        word = _load_stemmer("english", get_ident()).stemWord(word)
    if word.endswith(_GERMAN_ENDINGS):
        word = _load_stemmer("german", get_ident()).stemWord(word)
    return word


@lru_cache(maxsize=100_000)
def stem_in(language: str, word: str) -> str:
    """A word in lower case without accents and the endings of one language, as `en`; one of a
    language without stemmer as it is."""
    word = word.casefold()
    if language not in _STEMMED or not word.isalpha() or not 2 < len(word) <= LONGEST:
        return word
    if language != "en" or word[-1] in _ENGLISH_ENDS:
        word = _load_stemmer(_STEMMED[language], get_ident()).stemWord(word)
    if word.isascii():
        return word
    return unicodedata.normalize(
        "NFC", compiled(_MARKS).sub("", unicodedata.normalize("NFD", word))
    )


_STEMMED = {
    "en": "english", "de": "german", "fr": "french", "es": "spanish", "pt": "portuguese",
    "it": "italian",
}  # fmt: skip


@lru_cache(maxsize=64)
def _load_stemmer(language: str, _thread: int) -> _Stemmer:
    """The stemmer of a language for a thread, for it holds the word that it works on. Each takes a
    few ms to load, so only a word loads it."""
    from importlib import import_module
    from importlib.util import find_spec, module_from_spec

    name = "snowballstemmer"
    spec = None if name in sys.modules else find_spec(name)
    if spec:  # its own front door loads forty languages, which takes 15 ms more
        sys.modules[name] = module_from_spec(spec)
    try:
        module = import_module(f"{name}.{language}_stemmer")
    finally:
        if spec:
            del sys.modules[name]
    made: _Stemmer = getattr(module, f"{language.title()}Stemmer")()
    return made


# --- synonyms


@cache
def _synonym_groups() -> tuple[tuple[str, ...], ...]:
    """The groups of synonyms.txt."""
    lines = _SYNONYMS.read_text("utf-8").splitlines()
    return tuple(tuple(line.split(", ")) for line in lines if line and not line.startswith("#"))


@cache
def _name_keys() -> dict[str, str]:
    """The key of each stem of a name that has several spellings: the stem of the first one."""
    keys_found: dict[str, str] = {}
    groups = _synonym_groups()
    times = Counter(word for group in groups for word in group)
    for first, *others in groups:
        for word in (first, *others):
            if times[word] == 1 and " " not in word:
                keys_found[stem_of(word)] = stem_of(first)
    return keys_found


@cache
def all_spellings() -> frozenset[str]:
    """The words of all names that have several spellings, as they stand in the table."""
    return frozenset(word for group in _synonym_groups() for word in group)


@cache
def _name_spellings() -> dict[str, tuple[tuple[str, ...], ...]]:
    """The other spellings of each stem of a name."""
    spellings_found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for group in _synonym_groups():
        for each in dict.fromkeys(map(stem_of, group)):
            others = tuple(tuple(word.split()) for word in group if stem_of(word) != each)
            spellings_found[each] = (*spellings_found.get(each, ()), *others)
    return spellings_found


# --- words that say nothing by themselves

# English
_GRAMMAR_EN = (
    "a an and are as at be been by do does did for from had has have he her his i in is it its my "
    "of on or our she so that the their them they this to was we were will with you your"
)
_STOP_EN = (
    "about after again all also am any because being but can could doing done get go got having "
    "here him how if into itself just me mine more most no not once one only out over please shall "
    "should some such than then there these those through too under until up us use used using "
    "user very what when where which while who whom whose why would yours s t d ll m re ve don "
    "doesn didn isn aren wasn won wouldn shouldn couldn"
)
# German
_GRAMMAR_DE = (
    "der die das den dem des ein eine einen einem und zu mit im am auf aus bei für von zum zur ist "
    "sind wird werden"
)
_STOP_DE = (
    "aber als auch bis da dann dass denn dies diese diesem diesen dieser dieses doch du durch "
    "einer eines er es etwas euch gegen habe haben ich ihm ihn ihnen ihr immer ins ja jede jeden "
    "jeder jedes jetzt mich mir nach noch nur ob oder ohne schon sein seine sich sie soll sollen "
    "sollte über um uns unser unsere unter vom vor waren weil welche welchem welchen welcher "
    "welches wenn werde wie wir wo wurde zu"
)

ENGLISH = frozenset(_GRAMMAR_EN.split())
STOP = ENGLISH.union(_STOP_EN.split(), _GRAMMAR_DE.split(), _STOP_DE.split())
# Words of asking and doing: an answer mostly lacks them, so their absence says little.
_LIGHT = (
    "actually always another answer before best better big call called choose chosen come day "
    "decide decided decision different ever exactly explain fact find give good happen happened "
    "help keep kind know last let like long look made main make many mean much need never new now "
    "number off often okay old pick picked prefer preferred put question recommend remember right "
    "run say said see set show start stop still sure take talk tell thing things think time told "
    "try usually want way week work year"
)
LIGHT = frozenset(_LIGHT.split())
