"""What a sentence says: "the PIN of the safe is now 1", "use x as password", "Mit x kommst du ins
WLAN". A word that stands out goes where a label or a lock stands beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mdmemory.privacy import frames, values
from mdmemory.privacy.lexicon import CODES, LOCK, SHOWN, THING, Label, follows_from, leads_to
from mdmemory.privacy.matching import CJK, Span
from mdmemory.privacy.values import JOINED, NONE, PLAIN, STRONG, WEAK, grade_word, is_pinlike

_REACH = 160  # characters that a sentence may have between a label and its value
_LONGEST = 400  # characters of a sentence that are looked at, around a label
# An expression that begins with one set of characters skips all others quickly; what has to stand
# around them is looked at behind it.
_BEHIND = r"(?=[\"'»”)]*\s+(?!(?:[iI]t|[Tt]hat|[Ee]s|[Cc]['’]) ?['’i])|[\"')]*$)"
_END = re.compile(
    r"[.?!。！？\n](?:(?<=[。！？\n])"
    # not "The secret? It's x9"
    rf"|(?:(?<=[.?])|(?<=!)(?<!\d!)(?!\s[a-zß-ÿа-яё])){_BEHIND})"
)
_TOKEN = re.compile(
    rf"(?<![A-Za-z0-9])[\"“„«「『`](?P<quoted>[^\"“”„»」』`\n]{{3,60}})[\"”“»」』`]|(?P<plain>[^\s，。；、！？：「」『』（）“”„«»\"`{CJK}]+)"
)
_AT_END = re.compile(
    r"[\"'`»”’)*\]]*[ \t]*(?:$|\n|[.,;!?](?:\s|$|["
    + CJK
    + r"])|[，。；、！？]|["
    + CJK
    + r"]|[—–-] "
    r"|(?:lol|haha|btw|please|and|und|et|y|e|и|for|für|pour|para|per|для|ein|an|btw|when|if|until|till|bis|on|at|in|this|now)\b)"
)
# What no plain word has: a digit, a sign or a capital within.
_ODD = re.compile(r"[\d!$#%&*+_@/-]|[a-zß-ÿа-яё][A-ZÀ-ÞА-ЯЁ]|\w[.]\w")
# What a sentence needs where no plain word is looked at: one of those, or a quote.
_STANDS_OUT = re.compile(
    r"[\d!$#%&*+_@/\"“„«「『`.A-ZÀ-ÞА-ЯЁ-]"
    r"(?:(?<=[^.A-ZÀ-ÞА-ЯЁ])|(?<=[a-zß-ÿа-яё][A-ZÀ-ÞА-ЯЁ])|(?<=\w\.)(?=\w))"
)
# Without one of these a sentence tells no secret: something odd, a quote, or a verb for it.
_CANDIDATE = re.compile(
    r"[\d!$#%&*+_@/\"'“„«「『`]|\w[.-]\w|[a-zß-ÿа-яё][A-ZÀ-ÞА-ЯЁ]|\b(?:is|was|to|ist|lautet|heißt|est|es|é|è|это|are)\b"
)
# The same where nothing but a lock is named.
_OPENING = re.compile(r"\d|[^\W\d_][!$#%&*+][^\W_]|[a-zß-ÿа-яё]\.?[A-ZÀ-ÞА-ЯЁ]")
# A name and what joins a password to it: "admin with x".
_USER_AND = re.compile(
    r"\b(?:admin|root|administrator)[^\s\w]{0,2}(?:[ ,]+\w{1,7})?[ ,]*"
    r"(?:\b(?:mit|und|et|avec|y|con|e|com|and|with|с|и|а)\b|と|和|에|랑)[ ]?\Z"
)
# What stands behind a means in Japanese and Korean.
_PARTICLE = re.compile("で(?:す|した)?(?!は)|を使|로|으로")
# Codes that are no secret: "the exit code is 4711".
_OTHER_CODE = re.compile(
    r"\b(?:status|error|exit|zip|area|country|http|return|response|postal|source|fehler|product|dial|qr"
    r"|post|errore|erreur|erro|ошибки|postleit|currency|language)[ -]?\Z"
)
_INFINITIVE = re.compile(r"\b(?:to|zu)\s+\Z")
_GOES_ON = re.compile(r"\s+(?:in|on|at|when|if|after|before|every|until|for)\b")
_PHRASE_STOP = re.compile(r"[.,;!?，。；、！？\n\"”»」]|[" + CJK + r"]|$")


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a sentence, where it stands in the text, and how far it stands out."""

    start: int
    end: int
    text: str
    grade: int
    quoted: bool


def find_spoken(text: str, lower: str, labels: Sequence[Label]) -> Iterator[Span]:
    """The secrets that sentences with a label, or with something that is opened, name."""
    at = done = 0
    while at < len(labels):
        left, right = _sentence_bounds(text, labels[at].start, labels[at].end, done)
        inside = at + 1
        while inside < len(labels) and labels[inside].start < right:
            inside += 1
        named = [label for label in labels[at:inside] if label.kind in SHOWN]
        opened = [label for label in labels[at:inside] if label.kind not in SHOWN]
        typed = bool(named or any(label.kind != THING for label in opened))
        typed = typed and frames.is_typed(lower, left, right)
        plain = typed or any(label.kind in ("password", "phrase") for label in named)
        odd = plain or _STANDS_OUT.search(text, left, right)
        worth = odd and (_CANDIDATE if named else _OPENING).search(text, left, right)
        if worth or typed:
            yield from _find_told(text, lower, (left, right), named, opened, plain)
        for label in named:
            if label.kind in ("phrase", "password"):
                yield from _find_phrase(text, lower, label, right)
        at, done = inside, right


def _sentence_bounds(text: str, start: int, end: int, done: int) -> tuple[int, int]:
    left = max(done, start - _REACH)
    for match in _END.finditer(text, left, start):
        left = match.end()
    most = min(len(text), end + _LONGEST - _REACH)
    stop = _END.search(text, end + (text[end : end + 1] == "?"), most)  # "The password? x"
    if stop and stop[0] == "?":  # what answers a question belongs to it
        stop = _END.search(text, stop.end() + 1, min(most, stop.end() + 80)) or stop
    return left, stop.end() if stop else most


def _find_told(
    text: str, lower: str, sentence: tuple[int, int], labels: Sequence[Label],
    opens: Sequence[Label], plain: bool,
) -> Iterator[Span]:  # fmt: skip
    label_spans = [(label.start, label.end) for label in labels]
    codes, others = False, []
    for word in _find_words(text, *sentence, plain):
        if any(start < word.end and word.start < end for start, end in label_spans):
            continue
        # the name of a note, "door-1-painted-red", speaks of no door beside itself
        others_open = [each for each in opens if not word.start <= each.start < word.end]
        if not labels and not others_open:
            continue
        kind = _kind_of(text, lower, word, labels, others_open, sentence)
        if kind:
            yield word.start, word.end, kind
        codes = codes or (kind != "" and re.match(r"\d{4}", word.text) is not None)
        if codes and not kind and re.fullmatch(r"\d{4,8}", word.text):
            others.append(word)
    for word in others:  # "the door is 1, the cellar 2"
        neutral = values.is_neutral(lower[sentence[0] : word.start])
        year = re.fullmatch(r"(?:19|20)\d\d", word.text)
        if not (neutral or year or values.is_counted(text, word.end)):
            yield word.start, word.end, "pin"


def _find_words(text: str, left: int, right: int, plain: bool) -> Iterator[_Word]:
    """The words that are worth a look; without `plain` only those that stand out."""
    for match in _TOKEN.finditer(text, left, right):
        quoted = match["quoted"] is not None
        if not quoted and not plain and not _ODD.search(text, *match.span()):
            continue
        start, end = match.span("quoted" if quoted else "plain")
        if not quoted:
            bare = text[start:end]
            shown = bare.lstrip("('‘*_[").rstrip(".,;:?)]}'’*_…")
            if bare.endswith("*") and any(map(str.isdigit, shown)) and not bare.startswith("*"):
                shown = bare  # the star of a keypad
            start += bare.find(shown) if shown else 0
            end = start + len(shown)
        if 3 <= end - start <= 200 and (quoted or _may_be(text, start, end)):
            yield _Word(start, end, text[start:end], grade_word(text[start:end]), quoted)


def _may_be(text: str, start: int, end: int) -> bool:
    """Whether a word is worth a look: a plain one where a clause ends with it, or any other."""
    odd = _ODD.search(text, start, end) is not None
    is_told = (
        _AT_END.match(text, end) is not None or text[max(0, start - 4) : start].lower() == "mit "
    )
    return odd or (end - start > 3 and is_told)


# --- one word


def _kind_of(
    text: str, lower: str, word: _Word, labels: Sequence[Label],
    opens: Sequence[Label], sentence: tuple[int, int],
) -> str:  # fmt: skip
    """What a word is, "" where it is no secret."""
    left, right = sentence
    code = is_pinlike(word.text)
    other = code or word.quoted or _is_key(word.text) or frames.is_voucher(word.text)
    if word.grade == NONE and not other:
        return ""
    if values.made_up(word.text) or values.is_placeholder(word.text):
        return ""
    before = lower[left : word.start]
    if values.is_neutral(before):
        return ""
    label = next((each for each in reversed(labels) if each.end <= word.start), None)
    if (
        label
        and word.start - label.end <= _REACH
        and _is_named(text, lower, word, label, code, right)
    ):
        return _kind_shown(label)
    later = next((each for each in labels if each.start >= word.end), None)
    if later and later.start - word.end <= 60 and _named_later(lower, word, later, code):
        return _kind_shown(later)
    opened = [each for each in opens if each.kind != THING]
    if opened and _is_opening(lower, word, before, code, right, opened):
        return "pin" if code else "password"
    seen = (word.start, word.end, word.text, word.grade, word.quoted)
    if frames.tells_secret(lower, seen, sentence, labels, opens):
        return "pin" if code else "password"
    return ""


def _kind_shown(label: Label) -> str:
    return "password" if label.kind in ("phrase", "codes") else SHOWN[label.kind]


def _is_key(value: str) -> bool:
    """Whether it could be nothing but a key: long and random, or long hex."""
    return len(value) >= 16 and (values.is_noisy(value[:200], 0.33) or values.is_hexlike(value))


def _is_named(text: str, lower: str, word: _Word, label: Label, code: bool, right: int) -> bool:
    """Whether a word after a label is what the label names."""
    between = lower[label.end : word.start]
    joined = leads_to("is", between) if between.strip() else False
    states = joined and leads_to("states", between)
    at_end = _AT_END.match(text, word.end) is not None
    if _INFINITIVE.search(between) and _GOES_ON.match(lower, word.end):
        at_end = False  # "set the password to expire in 30 days"
    if label.kind == "pin":
        return _is_code(text, word, code, between, joined)
    if label.kind in ("secret", "session") or (label.kind == "weak" and _is_key(word.text)):
        near = joined or (label.kind == "secret" and len(between.split()) <= 4)
        return _is_key(word.text) and near and _is_apart(between)
    if label.kind == "pass" and code and label.word in CODES:
        other = _OTHER_CODE.search(lower[max(0, label.start - 16) : label.start])
        long = len(word.text) >= 4 and not values.is_counted(text, word.end)
        return states and long and not other
    if label.kind == "weak" or (label.kind == "pass" and word.grade < WEAK):
        return joined and word.grade == STRONG
    return _is_password(word, between, joined, states, at_end)


def _is_apart(between: str) -> bool:
    """Whether nothing between a label and a key says that it is another's: a hash, an id."""
    return not re.search(
        r"hash|digest|commit|sha\d|md5|checksum|fingerprint|integrity|uuid|\bid\b|trace|public|öffentlich"
        r"|publique|pública|pubblica|公钥|公開鍵|공개|открыт|build|etag|\btag\b|version",
        between,
    )


def _is_code(text: str, word: _Word, code: bool, between: str, joined: bool) -> bool:
    if code:
        near = joined or len(between.split()) <= 3 or between.strip() in (":", "：")
        year = re.fullmatch(r"(?:19|20)\d\d", word.text) and between.endswith(
            (" in ", " im ", " en ")
        )
        return near and not year and not values.is_counted(text, word.end)
    return word.grade >= WEAK and joined


def _is_password(word: _Word, between: str, joined: bool, states: bool, at_end: bool) -> bool:
    bare = between.strip(" \t\"'`“„«‘「『(,、:：?*")
    if word.grade == STRONG:
        return True
    if word.quoted and word.grade == NONE:
        return (
            states
            and values.is_passwordlike(word.text, False)
            and not values.is_placeholder(word.text)
        )
    if word.grade == WEAK:
        return joined or not bare or (at_end and len(bare.split()) <= 5)
    if word.grade == JOINED:
        return (states or not bare) and at_end
    if is_pinlike(word.text) and word.grade == NONE:
        return at_end and (states or (len(bare.split()) <= 3 and len(word.text) >= 6))
    if between.strip() == "(" and word.text.endswith("!"):
        return True  # in brackets behind the label
    if word.grade == PLAIN:
        whose = _only_whose(bare) is not False
        return (
            states
            and at_end
            and whose
            and not values.says_about(word.text)
            and _is_name(word, bare)
        )
    return False


def _only_whose(bare: str) -> bool:
    """Whether the words between a label and its verb only say whose or what for."""
    return (
        re.fullmatch(
            r"(?:(?:for|of|to|on|at|für|von|vom|zum|zur|der|des|im|de|del|du|des|della|dello|do|da|dos|pour|para"
            r"|per|от|для|к|в)\b[^.?!]*?)?\s*\S+(?:\s\S+)?",
            bare,
        )
        is not None
    )


def _is_name(word: _Word, bare: str) -> bool:
    """Whether a plain word may be a password: in quotes, or one that no sentence ends with."""
    if word.quoted:
        return word.text.isascii() or word.text[0].isupper()
    german = re.search(r"(?:ist|lautet|heißt|heisst|nimmst du|gib)\Z", bare)
    if german:
        return word.text[0].isupper()
    return word.text.isascii() and len(word.text) >= 4


def _named_later(lower: str, word: _Word, label: Label, code: bool) -> bool:
    """Whether a label after a word names it: "x9!b is the root password"."""
    between = lower[word.end : label.start]
    if not between.strip() and label.word in ("паролем", "пином", "кодом"):
        return word.grade >= WEAK
    if not follows_from("as", between) or len(between.split()) > 6:
        return False
    if label.kind == "pin":
        return code
    if label.kind in ("secret", "session"):
        return _is_key(word.text)
    if label.kind == "weak":
        return word.grade == STRONG and len(between.split()) <= 3
    return word.grade >= WEAK or (word.grade == JOINED and word.quoted)


# --- what opens something


def _is_opening(
    lower: str, word: _Word, before: str, code: bool, right: int, opens: Sequence[Label]
) -> bool:  # fmt: skip
    """Whether a word opens what the sentence speaks of."""
    if word.grade == STRONG:
        return True
    joined = leads_to("with", before) or _PARTICLE.match(lower, word.end) is not None
    after = lower[word.end : right]
    if code:
        locks = [each for each in opens if each.kind == LOCK]
        near = any(0 <= word.start - each.end <= 60 for each in locks)
        opened = any(0 <= each.start - word.end <= 2 for each in opens)
        long = len(word.text) >= 4 and not re.fullmatch(r"(?:19|20)\d\d", word.text)
        return (opened or (near and joined)) and long and not values.is_counted(after, 0)
    if word.grade == WEAK:
        return joined and bool(re.search(r"\d", word.text))
    if _USER_AND.search(before[-40:]):
        return word.grade >= PLAIN and ("-" in word.text or word.grade == JOINED)
    return word.grade == JOINED and joined and _AT_END.match(after) is not None


# --- a phrase


def _find_phrase(text: str, lower: str, label: Label, right: int) -> Iterator[Span]:
    """Words behind a label that a verb joins to it: "type blue ladders never sleep"."""
    least = 3 if label.kind == "phrase" else 4
    for blank in re.finditer(r"[ \t]+|(?<=[" + CJK + r"])(?=[a-z])", text[label.end : right]):
        at = label.end + blank.end()
        before = lower[label.end : at]
        if not (leads_to("states", before) or leads_to("stays", before)):
            continue
        words = values.find_phrase(text[at:right].lstrip("\"'„“«「"), least, label.kind == "phrase")
        at += len(text[at:right]) - len(text[at:right].lstrip("\"'„“«「"))
        if label.kind == "password" and any(map(values.says_about, words.split())):
            words = ""
        if words and _PHRASE_STOP.match(text, at + len(words)):
            yield at, at + len(words), "passphrase"
        if words or blank.end() > 80:
            return
