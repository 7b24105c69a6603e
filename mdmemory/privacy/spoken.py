"""What a sentence says: "the PIN of the safe is now 1", "use x as password", "Mit x kommst du ins
WLAN". A word that stands out goes where a label or a lock stands beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from mdmemory.privacy import lexicon, values
from mdmemory.privacy.lexicon import CODES, LOCK, SHOWN, THING, Label, Span, compile_shape, leads_to
from mdmemory.privacy.values import JOINED, NONE, PLAIN, STRONG, WEAK, grade_word, is_pinlike
from mdmemory.text.words import CJK, is_cjk

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
_AT_END = (
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
_OPENING = r"\d|[^\W\d_][!$#%&*+][^\W_]|[a-zß-ÿа-яё]\.?[A-ZÀ-ÞА-ЯЁ]"
# A name and what joins a password to it: "admin with x".
_USER_AND = (
    r"\b(?:admin|root|administrator)[^\s\w]{0,2}(?:[ ,]+\w{1,7})?[ ,]*"
    r"(?:\b(?:mit|und|et|avec|y|con|e|com|and|with|с|и|а)\b|と|和|에|랑)[ ]?\Z"
)
# What stands behind a means in Japanese and Korean.
_PARTICLE = "で(?:す|した)?(?!は)|を使|로|으로"
# Codes that are no secret: "the exit code is 4711".
_OTHER_CODE = (
    r"\b(?:status|error|exit|zip|area|country|http|return|response|postal|source|fehler|product|dial|qr"
    r"|post|errore|erreur|erro|ошибки|postleit|currency|language)[ -]?\Z"
)
_INFINITIVE = r"\b(?:to|zu)\s+\Z"
_GOES_ON = r"\s+(?:in|on|at|when|if|after|before|every|until|for)\b"
_PHRASE_STOP = r"[.,;!?，。；、！？\n\"”»」]|[" + CJK + r"]|$"


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
        typed = typed and is_typed(lower, left, right)
        plain = typed or any(label.kind in ("password", "phrase") for label in named)
        odd = plain or _STANDS_OUT.search(text, left, right)
        worth = odd and (_CANDIDATE if named else compile_shape(_OPENING)).search(text, left, right)
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
        year = _YEAR.fullmatch(word.text)
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
    if _ODD.search(text, start, end):
        return True
    is_typed = text[max(0, start - 4) : start].lower() == "mit "
    return end - start > 3 and (is_typed or compile_shape(_AT_END).match(text, end) is not None)


# --- one word


def _kind_of(
    text: str, lower: str, word: _Word, labels: Sequence[Label],
    opens: Sequence[Label], sentence: tuple[int, int],
) -> str:  # fmt: skip
    """What a word is, "" where it is no secret."""
    left, right = sentence
    code = is_pinlike(word.text)
    other = code or word.quoted or _is_key(word.text) or is_voucher(word.text)
    if word.grade == NONE and not other:
        return ""
    if values.made_up(word.text) or values.is_placeholder(word.text):
        return ""
    before = lower[left : word.start]
    if values.is_neutral(before):
        return ""
    label = next((each for each in reversed(labels) if 0 <= word.start - each.end <= _REACH), None)
    if label and _is_named(text, lower, word, label, code, right):
        return _kind_shown(label)
    later = next((each for each in labels if each.start >= word.end), None)
    if later and later.start - word.end <= 60 and _named_later(lower, word, later, code):
        return _kind_shown(later)
    opened = [each for each in opens if each.kind != THING]
    if opened and _is_opening(lower, word, before, code, right, opened):
        return "pin" if code else "password"
    if tells_secret(lower, word, sentence, labels, opens):
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
    at_end = compile_shape(_AT_END).match(text, word.end) is not None
    if re.search(_INFINITIVE, between) and compile_shape(_GOES_ON).match(lower, word.end):
        at_end = False  # "set the password to expire in 30 days"
    if label.kind == "pin":
        return _is_code(text, word, code, between, joined)
    if label.kind in ("secret", "session") or (label.kind == "weak" and _is_key(word.text)):
        near = joined or (label.kind == "secret" and len(between.split()) <= 4)
        return _is_key(word.text) and near and _is_apart(between)
    if label.kind == "pass" and code and label.word in CODES:
        other = re.search(_OTHER_CODE, lower[max(0, label.start - 16) : label.start])
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
        year = _YEAR.fullmatch(word.text) and between.endswith((" in ", " im ", " en "))
        return near and not year and not values.is_counted(text, word.end)
    return word.grade >= WEAK and joined


def _is_password(word: _Word, between: str, joined: bool, states: bool, at_end: bool) -> bool:
    bare = between.strip(" \t\"'`“„«‘「『(,、:：?*")
    if word.grade == STRONG:
        return True
    if word.quoted and word.grade == NONE:
        is_one = values.is_passwordlike(word.text, False)
        return states and is_one and not values.is_placeholder(word.text)
    if word.grade == WEAK:
        return joined or not bare or (at_end and len(bare.split()) <= 5)
    if word.grade == JOINED:
        return (states or not bare) and at_end
    if is_pinlike(word.text) and word.grade == NONE:
        return at_end and (states or (len(bare.split()) <= 3 and len(word.text) >= 6))
    if between.strip() == "(" and word.text.endswith("!"):
        return True  # in brackets behind the label
    if word.grade == PLAIN:
        stated = states and at_end and re.fullmatch(_WHOSE, bare) is not None
        return stated and not values.says_about(word.text) and _is_name(word, bare)
    return False


# Words between a label and its verb that only say whose or what for.
_WHOSE = (
    r"(?:(?:for|of|to|on|at|für|von|vom|zum|zur|der|des|im|de|del|du|des|della|dello|do|da|dos|pour|para"
    r"|per|от|для|к|в)\b[^.?!]*?)?\s*\S+(?:\s\S+)?"
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
    if not lexicon.follows_from("as", between) or len(between.split()) > 6:
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
) -> bool:
    """Whether a word opens what the sentence speaks of."""
    if word.grade == STRONG:
        return True
    joined = leads_to("with", before) or compile_shape(_PARTICLE).match(lower, word.end) is not None
    after = lower[word.end : right]
    if code:
        locks = [each for each in opens if each.kind == LOCK]
        near = any(0 <= word.start - each.end <= 60 for each in locks)
        opened = any(0 <= each.start - word.end <= 2 for each in opens)
        long = len(word.text) >= 4 and not _YEAR.fullmatch(word.text)
        return (opened or (near and joined)) and long and not values.is_counted(lower, word.end)
    if word.grade == WEAK:
        return joined and bool(re.search(r"\d", word.text))
    if re.search(_USER_AND, before[-40:]):
        return word.grade >= PLAIN and ("-" in word.text or word.grade == JOINED)
    return word.grade == JOINED and joined and re.match(_AT_END, after) is not None


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
        if words and compile_shape(_PHRASE_STOP).match(text, at + len(words)):
            yield at, at + len(words), "passphrase"
        if words or blank.end() > 80:
            return


# --- what a sentence gives away by how it is built: a word is weighed by what it looks like, what
# the sentence speaks of, and the place that it stands in

_ENOUGH = 8
_FULL = ("password", "phrase", "pin", "secret", "codes")
_ENDS = (
    rf"[\"'`»”’)*\]]*[ \t]*(?:$|\n|[.,;!?](?:\s|$|[{CJK}])|[，。；、！？]|[{CJK}]"
    r"|(?:lol|haha|btw|please|bitte|danke|voilà|merci|gracias|obrigado|grazie|ok|ein|an|rein)\b)"
)
# "on web12", "to db7": a place, no secret.
_PLACE = (
    r"\b(?:on|at|of|in|for|from|auf|im|am|von|für|bei|sur|pour|chez|en|del?|du|do|da|di|su|sul|em|no"
    r"|na|в|от|из|к)\s+\Z"
)
_FROM_TO = r"\b(?:from|von|de|da|с)\s+\Z"
_TO = r"\s+(?:to|auf|zu|à|en|a|para|por|per|на)\s"
# "x as the new password"; "x as password manager" is none.
_AS = (
    r"[\"'`»”’)!,]*\s+(?:as|als|como|come|comme|de|für|for|как|в качестве)\s+(?:[^\W\d]+\s+){0,2}"
    r"|\s?(?:을|를)?\s?"
)
_OF_SECRET = re.compile(
    r"[ -]?(?:manager|store|field|policy|hash|reset|prompt|backend|provider|file)"
)
# "type" and such are nouns, too.
_TWO_FACED = r"\b(?:types?|enters?|input|say|entre|marca|compose|tape|answer)\s+\Z"
_NAMED_USER = (
    r"\b(?:root|admin|user|usuario|usuário|utente|benutzer|account|konto|conta|compte)\b"
    r"[^.]{1,60}?\s"
    r"(?P<label>[^\W\d]+)\s+\Z"
)
_ASKED = re.compile(
    r"\b(?:asks?|prompts?|fragt|gefragt|demande|pregunta|pide|pergunta|pede|chiede|спросит|просит)\b"
    r"[^.]{0,40}\Z"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_GROUPS = r"(?=[A-Z0-9-]*\d)(?=[A-Z0-9-]*[A-Z])[A-Z0-9]{2,6}(?:-[A-Z0-9]{2,6})+"
_NAMED_GROUPS = re.compile(r"AES|SHA|RSA|ISO|CVE|UTF|RFC|GPT|EC|HMAC|CHACHA|HS|RS|UTC|GMT|\d{4}-")
_ALGORITHM = re.compile(r"(?i:sha|x509|md5|rsa|ecdsa|aes|pkcs|base|zip|sig)[-v]?\d")
# A line of code or of a table of settings: what is secret there, labels tell.
_CODE = re.compile(r"\w\(|[{};]|[\"']\s*[,:)\]+]|->|=|#\s*noqa|\\|</|://")
_CHANGED = re.compile(
    r"replac|chang|remplac|cambia|reempla|troque|substitu|sostitu|ersetz|geänder|смени|поменя|замени|mud[eoa]"
)
_SET_BEHIND = r"\s+(?:gesetzt|genommen|vergeben|gewählt|eingestellt|eingetragen)\b"
_BY_US = r"\b(?:ich|wir)\s+\Z"
_LOWER_GERMAN = re.compile(r"mit\s+\Z")
_GERMAN_ENTRY = (
    r"\s+(?:kommst|kommt|komme|kommen|gehst|meldest|melde|logge|loggst|öffne\w*|entsperr\w*|geht)\b"
    r"|\s+(?:an|ein|rein|auf)\b"
)


@cache
def _any_word(*names: str) -> re.Pattern[str]:
    """Any word of these lists; "mit" leads to what is typed, too."""
    listed = {word for name in names for word in lexicon.listed_words(name)}
    joined = lexicon.any_of(word for word in listed if any(map(is_cjk, word)))
    plain = lexicon.any_of(word for word in listed if not any(map(is_cjk, word)))
    return re.compile(rf"(?<!\w)(?:{plain}{'|mit' if 'enter' in names else ''})(?!\w)|{joined}")


def is_voucher(shown: str) -> bool:
    """Whether a word is groups of capitals and digits, as codes that come by post are."""
    return re.fullmatch(_GROUPS, shown) is not None and not _NAMED_GROUPS.match(shown)


def is_typed(lower: str, left: int, right: int) -> bool:
    """Whether something in that part of a text, in small letters, is to be typed or still is so."""
    part = lower[left:right]
    plain = _typed_words().isdisjoint(lexicon.compile_shape(r"\w+").findall(part))
    if plain and (part.isascii() or not lexicon.compile_shape(f"[{CJK}]").search(part)):
        return False  # cheap to see, and so in most sentences
    return _any_word("enter", "stays").search(lower, left, right) is not None


@cache
def _typed_words() -> frozenset[str]:
    """The words that an expression for typing begins with, if it is no Chinese or so."""
    listed = ("mit", *lexicon.listed_words("enter"), *lexicon.listed_words("stays"))
    return frozenset(first[0] for word in listed if (first := re.match(r"\w+", word)))


def speaks_about(sentence: str) -> bool:
    """Whether a sentence in small letters speaks of secrets (their length, their end) alone."""
    return _any_word("about").search(sentence) is not None


def tells_secret(
    lower: str, word: _Word, sentence: tuple[int, int], labels: Sequence[Label],
    opens: Sequence[Label],
) -> bool:  # fmt: skip
    """Whether a word is what its sentence gives away."""
    start, end, shown, rated = word.start, word.end, word.text, word.grade
    before, after = lower[sentence[0] : start], lower[end : sentence[1]]
    code = is_pinlike(shown) and not _YEAR.fullmatch(shown) and not values.is_counted(lower, end)
    if _CODE.search(lower, *sentence) or values.is_id(shown) or _ALGORITHM.match(shown):
        return False
    topic = _topic_grade(labels, opens, code)
    weight = _word_weight(shown, rated, code)
    if not topic or not weight or shown.lower() in lexicon.listed_words("tools"):
        return False
    if rated == PLAIN and shown.endswith("!") and not re.match(_ENDS, after):
        rated, weight = JOINED, 2
    lock = any(each.kind == "pin" for each in labels) or any(each.kind == LOCK for each in opens)
    if code and (topic < 3 or (weight < 3 and not lock)):
        return False
    place = max(_place_weight(before, after, rated, code), _label_weight(lower, start, end, labels))
    ends = re.match(_ENDS, after) is not None
    if rated == NONE and not code and (topic < 3 or place < 2):
        return False
    camel = rated == JOINED and not re.search(r"[-_./!]", shown)
    if camel and (place < 3 or all(each.kind not in ("password", "phrase") for each in labels)):
        return False
    if rated == PLAIN and not code:
        return _is_plain(before, after, word, ends, labels, opens)
    if code and place < 2:
        # it is all that the sentence names after the word for a PIN
        whole = lower[slice(*sentence)]
        pin = any(each.kind == "pin" or each.word == "passcode" for each in labels)
        lone = len(re.findall(r"\d[\d-]*", whole)) == 1 and before.strip()
        if not (pin and lone) or speaks_about(whole):
            return False
        place = 2
    if place < 2 and re.search(_PLACE, before):
        return False
    if place < 3 and speaks_about(lower[slice(*sentence)]):
        return False
    return topic + weight + place + ends >= _ENOUGH


def _topic_grade(labels: Sequence[Label], opens: Sequence[Label], code: bool) -> int:
    """How plainly a sentence speaks of a secret: 3 by its name, 2 by what opens."""
    full = ("pin", "password", "phrase") if code else _FULL
    if any(label.kind in full for label in labels):
        return 3
    if any(label.kind == LOCK for label in opens) and code:
        return 3
    soft = sum(label.kind != THING for label in opens)
    if labels or soft:
        return 3 if labels and soft else 2
    return 1 if opens else 0


def _word_weight(shown: str, rated: int, code: bool) -> int:
    """How much a word looks like a secret, 0 to 4."""
    if code:
        return 3 if sum(map(str.isdigit, shown)) >= 4 else 2
    if rated == STRONG:
        return 4
    if rated == WEAK:
        digits = sum(map(str.isdigit, shown))
        return 4 if digits >= 2 or re.search(r"[_.-]|[a-zà-ÿа-я][A-ZА-Я]", shown) else 3
    if rated == NONE:
        return 3 if is_voucher(shown) else 0
    return 2 if rated == JOINED else 1


def _place_weight(before: str, after: str, rated: int, code: bool) -> int:
    """How much the place of a word says that it is a value, 0 to 3."""
    if leads_to("enter", before) or leads_to("stays", before) or leads_to("states", before):
        return 3
    if before.rstrip().endswith((":", "：", "→")) or lexicon.follows_from("entered", after):
        return 3
    if re.search(_FROM_TO, before) and re.match(_TO, after):
        return 3
    if leads_to("using", before):
        return 3 if _CHANGED.search(before) or rated >= WEAK or code else 2
    if leads_to("with", before) or leads_to("is", before):
        return 2
    bare = before.strip()
    return 2 if bare.endswith(("/", ",", "，", "—", "–")) or not bare else 0


def _label_weight(lower: str, start: int, end: int, labels: Sequence[Label]) -> int:
    """The same, by the label that stands beside it: "the PIN 1", "x as password"."""
    before = next((each for each in reversed(labels) if each.end <= start), None)
    if before and not lower[before.end : start].strip(" \"'`(") and before.kind in _FULL:
        return 2
    later = next((each for each in labels if each.start >= end), None)
    if later is None or later.kind not in _FULL or _OF_SECRET.match(lower, later.end):
        return 0
    return 3 if re.fullmatch(_AS, lower[end : later.start]) else 0


def _is_plain(
    before: str, after: str, word: _Word, ends: bool, labels: Sequence[Label],
    opens: Sequence[Label],
) -> bool:  # fmt: skip
    """Whether a plain word is given away: it is typed, or it is still the password."""
    shown = word.text
    if values.says_about(shown) or len(shown) < 4:
        return False
    if opens and _LOWER_GERMAN.search(before) and re.match(_GERMAN_ENTRY, after) and len(shown) > 5:
        return shown.islower() or shown.endswith("!")
    full = any(label.kind in _FULL for label in labels)
    whose = re.search(_NAMED_USER, before)
    if full and ends and whose and leads_to("with", before[: whose.start("label")]):
        return any(label.word == whose["label"] for label in labels)
    if full and re.match(_SET_BEHIND, after) and re.search(_BY_US, before):
        return True
    plainly = len(shown) >= 6 and not re.search(_TWO_FACED, before)
    asks = full or any(label.kind != THING for label in opens) or (plainly and bool(labels))
    if not ends or not asks:
        return False
    if leads_to("enter", before):
        return full or word.quoted or len(shown) >= 6
    if _ASKED.search(before) and leads_to("states", before) and shown.isascii() and len(shown) > 6:
        return not shown.endswith(("al", "en", "ar", "ant", "ent"))
    return full and leads_to("stays", before)
