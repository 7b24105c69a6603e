"""What stands after a label and a sign: `password: x`, `DB_PASS=x`, `Admin PIN 1`.

What sentences say of a label is in `spoken`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from mdmemory.privacy import values
from mdmemory.privacy.lexicon import CODES, SHOWN, Label, Span, any_of, compile_shape, listed_words
from mdmemory.privacy.values import JOINED, STRONG, WEAK, grade_word, is_pinlike
from mdmemory.text.words import CJK

# A name goes on after its label with one of these: PASSWORD_FILE names no password.
_NO_SECRET = (
    r"(?:length|len|min|max|file|files|path|hash|hashes|hashed|hasher|reset|field|policy|url|uri|name"
    r"|names|id|ids|type|types|ttl|expiry|expires?|expiration|count|limit|limits|hint|prompt|required"
    r"|confirm\w*|store|manager|header|endpoint|algorithm|rotation|size|format|env|ref|salt|kind|bucket"
    r"|budget|usage|in|at|s|rules?|strength|attempts|regex|pattern|validator|version|provider|class|mode"
    r"|dir|dialog|label|column|index|changed|protected|less|auth|input|output|text|error|errors|days)(?![A-Za-z])"
)
_SUFFIX = rf"(?:\[?[_.-](?!{_NO_SECRET})\w{{1,16}}){{0,2}}\]?|[ ]?\d{{1,2}}"
_SIGN = r"=>|->|→|⇒|:=|:{1,2}|=(?!=)|：|＝|\?="
_CLOSE = r"[\"'`\])}*]{0,3}"
_SIGNED = re.compile(
    rf"(?:(?:{_SUFFIX})?{_CLOSE}[ \t]{{0,12}}(?:value[ \t]?)?(?P<sign>{_SIGN})"
    rf"(?P<block>[ \t]*[|>][+-]?\r?\n)?[ \t]{{0,12}}\\?(?:[bru]{{1,2}}(?=[\"']))?"
    rf"|[\"'][ \t]*,[ \t]*(?P<argument>(?=[\"']))"  # define('KEY', 'x'), getenv("KEY", "x")
    rf"|[\"']?[ \t]+(?:value|content)=(?P<markup>(?=[\"']))"
    rf"|[ \t]+(?P<dash>[–—-]|is:|=)[ \t]+)",
    re.IGNORECASE,
)
# Words between a label and its sign: "password for the staging host: x".
_BETWEEN = re.compile(
    rf"(?:[ \t]+(?![-–—])[^\s:：=,;.!?()\"'`{CJK}]{{1,24}}){{1,10}}[ \t]*"
    r"(?P<sign>[:：=]|->|→)[ \t]+"
    rf"|[^\s:：=,;.!?()\"'`，。；、！？a-z]{{0,14}}(?P<cjk>[:：=])[ \t]*"
)
_PLAIN = (
    r"(?:(?!;[ ]?(?:[A-Za-z][\w ]{0,30}=|$|\s)|&(?:amp;)?\w{1,30}=|,[ ]?\w{1,30}[=:]|,(?:\s|$))"
    rf"[^\s，。；、！？」』）】\"'`<>{CJK}])+"
)
VALUE = re.compile(
    r"(?:(?P<q>\\?[\"'`]|“|„|«[  ]?|‘|「|『)(?P<quoted>(?:(?!(?P=q))[^\"`”“»’」』\n]){1,300})"
    r"[\"'`”“»’」』 ]|\*{0,2}"
    rf"(?P<plain>{_PLAIN}))"
)
_CUT = 280  # characters of a value that are looked at
_VERSION = re.compile(r"v?\d+(?:\.\d+)+[-+.]")
_REST = re.compile(r"[A-Za-z0-9+/=_.%~-]*")
_CLAUSE_ENDS = re.compile(r"[\"'`»”’)*\]}]*[ \t]*(?:\r?\n|$|[.,;!?](?:\s|$)|[，。；、！？)）」])")


def find_values(text: str, lower: str, labels: Sequence[Label]) -> Iterator[Span]:
    """The values behind these labels, and the names of users beside passwords."""
    done = 0
    for at, label in enumerate(labels):
        if label.start < done:
            continue  # in a value
        others = (each for each in labels[at + 1 : at + 4] if each.kind != "weak")
        following = next((each.start for each in others), len(text))
        for start, stop, kind in _find_after(text, lower, label, following):
            if stop - start >= _CUT:  # a value that is longer than what was looked at
                stop = _REST.match(text, stop).end()  # type: ignore[union-attr]
            done = stop
            yield start, stop, kind
            if kind == "password":
                before, after = _user_patterns()
                window = max(0, label.start - 120)
                for named in before.finditer(text[window : label.start]):
                    yield from _named_user(named, window)
                if behind := after.match(text[stop : stop + 120]):
                    yield from _named_user(behind, stop)


def _find_after(text: str, lower: str, label: Label, following: int) -> Iterator[Span]:
    signed = _SIGNED.match(text, label.end, label.end + 120)
    if label.kind == "phrase":
        following = len(text)  # "the passphrase of my key: some words"
    if signed and signed["argument"] is not None:
        yield from _find_argument(text, label, signed.end())
    elif signed is None:
        between = _BETWEEN.match(text, label.end, min(label.end + 120, following))
        if between and label.kind in ("phrase", "codes"):
            yield from _find_many(text, label, between.end())
        elif between:
            few = between["sign"] == "=" and len(between[0].split()) <= 3
            yield from _judge_value(text, label, between.end(), ":", far=True, dash=few)
        else:
            yield from _beyond_blank(text, lower, label)
    elif label.kind in ("phrase", "codes"):
        yield from _find_many(text, label, signed.end())
    else:
        yield from _find_signed(text, label, signed)


def _find_argument(text: str, label: Label, at: int) -> Iterator[Span]:
    """The value beside a label in a call: `define('DB_PASSWORD', 'x')`, `getenv("TOKEN", "x")`."""
    call = re.search(r"\w\([ ]?[\"'][\w.-]*\Z", text[max(0, label.start - 40) : label.start])
    match = VALUE.match(text, at, at + 300) if call else None
    value = match["quoted"] or "" if match else ""
    if value and (grade_word(value) >= WEAK or values.is_keylike(value)):
        yield from _judge_value(text, label, at, "=>")


def _find_signed(text: str, label: Label, signed: re.Match[str]) -> Iterator[Span]:
    sign = signed["sign"] or signed["dash"] or ":"
    if signed["markup"] is not None:
        sign = "=>"
    spans = list(_judge_value(text, label, signed.end(), sign, dash=bool(signed["dash"])))
    yield from spans
    if not spans and label.kind == "password" and sign in ":：":
        words = values.find_phrase(text[signed.end() : signed.end() + 160], 4)
        if words and text[signed.end() + len(words) :][:1] in ("", "\n", "\r", ".", '"', "'"):
            at = text.index(words, signed.end())
            yield at, at + len(words), "password"


def _judge_value(
    text: str, label: Label, at: int, sign: str, far: bool = False, dash: bool = False
) -> Iterator[Span]:
    """The value at `at`, if it is what the label names."""
    match = VALUE.match(text, at, at + _CUT + 20)
    if match is None:
        return
    group = "quoted" if match["q"] else "plain"
    start, stop = match.span(group)
    value = match[group]
    if group == "plain":
        value = value.rstrip(".,;:?)]}>*\\")
        stop = start + len(value)
    last = _CLAUSE_ENDS.match(text, stop) is not None
    attached = text[label.end : at] == "=" and label.kind in ("password", "pass")
    joined = attached and re.fullmatch(r"[a-z]+_[a-z]+", value)
    # the name of a setting or a variable for a secret is none
    about = re.search(r"pass|pwd|secret|token|key|user|db|env|var|conf|hash|value", value)
    snake = (far or joined) and not about
    if not value or values.is_placeholder(value) or values.made_up(value):
        return
    if values.is_code(value) and not snake:
        return
    if group == "plain" and text[stop : stop + 1] == "(":
        return
    is_name = _is_name(text, label, sign)
    if far or dash:
        good = _stands_out(label.kind, value, last and (dash or grade_word(value) == JOINED))
    else:
        good = _fits_label(label, value, group == "quoted", last, is_name)
        if label.kind == "pass" and last and not good and ":" in sign:
            # where the name of a user stands shortly before the label: "user: a / pass: b"
            before = text[max(0, label.start - 60) : label.start].lower()
            user = compile_shape(rf"(?<!\w)(?:{any_of(listed_words('user'))})[ ]?[:：=]")
            good = user.search(before) is not None and values.is_passwordlike(value, True)
    if good:
        yield start, stop, SHOWN[label.kind]
        if label.kind == "pin" and group == "plain":
            yield from _more_groups(text, stop)


def _is_name(text: str, label: Label, sign: str) -> bool:
    """Whether the label belongs to the name of a setting: DB_SECRET=x, db.secret: x."""
    after = ("=", "_") if label.kind != "pass" else ("=",)
    joined = text[label.end : label.end + 1] in after and sign in ("=", ":", ":=")
    if label.kind == "pass" and text[label.end : label.end + 1] == "_":
        return False  # pass_threshold
    start = label.start
    return joined or text[start : label.end].isupper() or text[start - 1 : start] in "_."


def _fits_label(label: Label, value: str, quoted: bool, last: bool, is_name: bool) -> bool:
    """Whether a value directly behind a sign is what the label names."""
    kind = label.kind
    if kind == "pin":
        return is_pinlike(value) or (
            grade_word(value) >= WEAK and label.word not in ("pin", "code")
        )
    if kind in ("password", "phrase"):
        if " " in value:
            words = value.split()
            about = sum(map(values.says_about, words))
            is_sentence = value.endswith((".", "?", "!", ":"))
            return len(words) <= 8 and about * 3 < len(words) and not is_sentence
        return values.is_passwordlike(value, quoted or last or is_name)
    if kind == "session":
        return len(value) >= 16 and values.is_keylike(value) and not values.is_id(value)
    if kind == "codes":
        return values.is_keylike(value)
    if " " in value:
        return False
    if kind == "secret" and _VERSION.match(value):
        return False
    if kind == "secret":
        typed = re.fullmatch(r"(?:[A-Z]+[a-z]+)+", value) is not None
        named = is_name and grade_word(value) >= JOINED and not typed
        is_told = named and re.search(r"secret|token", label.word) is not None
        return is_told or values.is_keylike(value)
    if label.word in CODES:
        return not is_name and not quoted and is_pinlike(value) and len(value) >= 4
    if kind == "pass" and is_name and values.is_passwordlike(value, last):
        return True
    if kind == "pass":
        return grade_word(value) >= WEAK or values.is_odd(value) or (quoted and not value.isalpha())
    # "key", "auth": too common a word for anything but what looks random
    if label.word in ("auth", "seed", "keypair", "wif", "nsec", "xprv"):
        plain = re.fullmatch(r"[a-z]+\d?", value)
        return not plain and values.is_odd(value) and values.is_keylike(value)
    random = values.is_noisy(value, 0.33) or (is_name and values.is_hexlike(value))
    if len(value) >= 16 and random:
        return True
    return grade_word(value) == STRONG and not is_name and quoted is False


def _stands_out(kind: str, value: str, last: bool) -> bool:
    """Whether a value is a secret though other words stand between it and its label."""
    if kind == "pin":
        return is_pinlike(value)
    if kind in ("secret", "session"):
        return len(value) >= 12 and (values.is_noisy(value, 0.33) or values.is_hexlike(value))
    if kind == "weak":
        return (len(value) >= 16 and values.is_noisy(value, 0.33)) or (
            last and grade_word(value) == STRONG
        )
    alone = last and (grade_word(value) == JOINED or values.is_passwordlike(value, True))
    return grade_word(value) >= WEAK or alone


# --- a label, a blank and the value

_BLANK = re.compile(r"[\"'`\]]?[ \t]{1,4}(?:no\.?|nr\.?|#)?[ \t]?|(?<=[" + CJK + r"])")


def _beyond_blank(text: str, lower: str, label: Label) -> Iterator[Span]:
    """`wifi password x`, `Admin PIN 1`, `--password x`: no sign but a blank."""
    blank = _BLANK.match(text, label.end)
    if blank is None or label.word in CODES:
        return
    if label.kind in ("phrase", "codes"):
        yield from _find_many(text, label, blank.end(), 1)
        return
    match = VALUE.match(text, blank.end(), blank.end() + _CUT + 20)
    if match is None:
        return
    quoted = bool(match["q"])
    start, stop = match.span("quoted" if quoted else "plain")
    value = text[start:stop]
    if not quoted:
        value = value.rstrip(".,;:?)]}*")
        stop = start + len(value)
    if len(value) < 8 and label.kind in ("secret", "weak", "session"):
        return
    if not value or values.is_for_show(value):
        return
    if _fits_bare(text, lower, label, value, stop, quoted):
        yield start, stop, SHOWN[label.kind]
        if label.kind == "pin":
            yield from _more_groups(text, stop)


def _fits_bare(text: str, lower: str, label: Label, value: str, stop: int, quoted: bool) -> bool:
    is_flag = re.search(r"--?[\w.-]*\Z", text[max(0, label.start - 30) : label.start]) is not None
    is_flag = is_flag and text[label.end : label.end + 1] in " \t"
    if label.kind == "pin":
        return is_pinlike(value) and not values.is_counted(text, stop)
    if label.kind == "session":
        return False
    if label.kind == "secret" or label.kind == "weak":
        keys = ("key", "キー", "키", "schlüssel", "token", "secret")
        long = 8 if label.word.endswith(keys) else 12
        if values.is_hexlike(value):
            return label.kind == "secret" or is_flag or "0x" in value
        noise = values.is_noisy(value, 0.33)
        if label.kind == "secret":
            noise = noise or (values.is_keylike(value) and values.is_odd(value))
        return len(value) >= (long if label.kind == "secret" else 16) and noise and " " not in value
    if is_flag:
        line = text[text.rfind("\n", 0, label.start) + 1 :][:300].partition("\n")[0]
        in_command = len(re.findall(r"(?:^|\s)--?\w", line)) >= 2 or line.lstrip().startswith("$ ")
        plain = grade_word(value) >= 0 and len(value) >= 5
        return grade_word(value) >= JOINED or (plain and in_command)
    if quoted and " " not in value:
        return grade_word(value) >= JOINED
    if label.kind == "password" and is_pinlike(value) and value.isdigit() and len(value) >= 4:
        year = re.fullmatch(r"(?:19|20)\d\d", value)
        alone = _CLAUSE_ENDS.match(text, stop) is not None
        return alone and year is None and not values.is_counted(text, stop)
    known = text[label.start : label.end].isupper() or text[label.start - 1 : label.start] == "_"
    known = known and "_" in text[label.start - 1 : label.end]
    return grade_word(value) >= (JOINED if known else WEAK)


def _more_groups(text: str, stop: int) -> Iterator[Span]:
    """Further groups of digits of the same code, after blanks."""
    more = re.compile(r"(?:[ ]\d{3,4}){1,3}(?![\w:.-])").match(text, stop)
    if more:
        yield stop, more.end(), "pin"


# --- phrases and lists of codes

_CODE = re.compile(
    r"[\s,;|•*\"'\[\]`-]{0,8}(?:\d{1,2}[.)][ \t]+)?"
    r"(?P<code>(?=[\w-]*\d)[A-Za-z0-9]{4,16}(?:-[A-Za-z0-9]{3,10}){0,6}|\d{4}[ ]\d{4})(?![\w@:/.])"
)


def _find_many(text: str, label: Label, at: int, least: int = 1) -> Iterator[Span]:
    """The words of a phrase, or the codes of a list, that stand behind their label."""
    if label.kind == "codes":
        while (match := _CODE.match(text, at)) and match.end() > at:
            yield (*match.span("code"), "recovery_code")
            at = match.end()
        return
    end = text.find("\n", at)
    line = text[at : end if end >= 0 else len(text)][:600]
    quoted = re.match(r"[\"'„“«「`]([^\"'”“»」`\n]{6,400})[\"'”“»」`]", line)
    if quoted:
        yield at + 1, at + quoted.end(1), "passphrase"
        return
    counted = len(line.split())
    if text[at - 1 : at] in ":=：＝ " and (
        words := _listed_words(line, counted, text[label.end : at])
    ):
        begin = at + line.index(words)
        yield begin, begin + len(words), "passphrase"
    elif counted and (value := VALUE.match(text, at, at + 300)) and value["plain"]:
        word = value["plain"].rstrip(".,;:?)]")
        if grade_word(word) >= WEAK or (
            text[label.end : at].strip() and grade_word(word) >= JOINED
        ):
            yield value.start("plain"), value.start("plain") + len(word), "password"


def _listed_words(line: str, counted: int, between: str) -> str:
    """The words of a line that are a phrase: with a sign all of them, else those of a list."""
    if between.strip():
        words_named = values.find_phrase(line.strip(), 3)
        whole = line.strip().rstrip(".")
        is_whole = words_named and counted <= 25 and len(words_named) >= len(whole) - 1
        return whole if is_whole else words_named
    match = re.match(r"[ \t]*((?:[a-z]{3,8}[ ]){11,23}[a-z]{3,8})\b", line)
    return match[1] if match else ""


# --- the name of a user beside a password


@cache
def _user_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A user's name directly before the label of a password, and after a password."""
    joint = r"[\s\"'`,;/|，、；。.&]{0,9}(?:and|with|for|und|et|y|e|и|和|と)?[\s\"'`]{0,3}"
    prefix = r"(?:[A-Za-z0-9]{1,20}[_.-]){0,3}"
    is_ = r"[\"'`]?[ \t]{0,3}(?P<mark>[:=：＝]|(?:is|ist|est|es)\b|是|为|は|는|은|[ \t])[ \t]{0,3}"
    words = sorted(listed_words("user"), reverse=True)
    names = "|".join(re.escape(word).replace(r"\ ", "[ _-]?") for word in words)
    start = rf"(?:(?<![^\W_])|(?-i:(?<=[a-z])(?=[A-Z]))|(?<=[{CJK}])|(?=[{CJK}]))"
    user = rf"{start}(?:{names}){is_}[\"'`]?(?P<user>[^\s\"'`,;，；、。|]{{2,64}})"
    forms = (rf"{user}{joint}{prefix}\Z", rf"\A{joint}{prefix}{user}")
    before, after = (re.compile(form, re.IGNORECASE) for form in forms)
    return before, after


def _named_user(match: re.Match[str], offset: int) -> Iterator[Span]:
    name = match["user"]
    joins = ("and", "has", "had", "with", "uses", "und")
    spoken = not match["mark"].strip() and name.lower() in joins
    call = re.match(r"\w+[(\[].*|(?:self|re\w+)\..*", name)
    if not (spoken or call or values.is_placeholder(name)):
        yield offset + match.start("user"), offset + match.end("user"), "username"
