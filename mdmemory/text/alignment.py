"""What of some texts stands in another one that says the same in other words, clause by clause.

Pure. A text is cut into clauses, and a clause into the words and literals that carry its meaning;
then each of them is looked for on the other side, in any form of it. Takes texts in normal form.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path

from mdmemory.text.gaps import is_small
from mdmemory.text.words import CJK, is_cjk, sense

_BREAK = re.compile(
    r"(?P<sentence>[.!?…]+(?=[\s\"'”»)]|$)|\n+|[;；。！？])|(?P<clause>,(?=\s)(?!\s(?:which|who|whose|qui|dont|che|cui)\b)|(?P<colon>:(?=\s)|[：=])|[，、()（）]|\s[—–-]+\s|[—→])"
)
_JOINT = frozenset(
    "and but while whereas und aber während et mais tandis y e pero mientras mas enquanto ma "
    "mentre "
    "except ausser sauf salvo excepto exceto eccetto tranne if wenn falls unless "
    "because weil denn da since parce porque perché puisque because comme como siccome until "
    "bis or".split()
)
_DENIES = re.compile(
    r"(?:not|never|no|none|nothing|nobody|nowhere|neither|nor|cannot|without|avoid\w*|skip\w*|"
    r"omit\w*|"
    r"refus\w*|reject\w*|forbid\w*|forbad\w*|prohibit\w*|disallow\w*|unsupported|disabled?|off|"
    r"nicht|kein\w*|nie|niemals|niemand\w*|nichts|nirgends|ohne|weder|statt|anstatt|verboten|"
    r"verbietet|"
    r"untersagt|pas|jamais|aucune?|sans|rien|personne|nulle|interdite?s?|refuse\w*|ni|"
    r"non|não|nunca|jamás|sin|tampoco|ningun[oa]?|ningún|nada|nadie|prohibid[oa]s?|rechaza\w*|"
    r"sem|nem|ninguém|nenhuma?|proibid[oa]s?|recusa\w*|inutile|"
    r"senza|mai|nessun[oa]?|niente|nulla|né|vietat[oa]|rifiuta\w*|instead|rather)\Z"
)
_DENIES_EAST = re.compile(
    r"不|没|沒|无|無|勿|莫|禁|别|非|拒|ない|ません|なかった|ずに|せず|なく|未"
)
# Where these signs deny nothing.
_AFFIRMS_EAST = re.compile(
    r"不(?:仅|僅|但|过|過|错|同|断|管|如)|差不多|无(?:损|線|线|论|論)|没(?:关|問|问)|特别|分别|区别|别的|非常|問題ない|"
    r"構わない|かまわない|差し支えない|かもしれない|なければ(?:なら|いけ)ない|なくては(?:なら|いけ)ない|だけでなく|少なくとも|間もなく|未満|"
    r"不足|不满|不到|不超过|不低于|不高于|不少于|不多于"
)
_AFFIRMS = re.compile(
    r"(?i)\b(?:no|not|nicht|non|não|pas|no) (?:more|less|fewer|later|earlier|mehr|weniger|"
    r"später|más|"
    r"menos|mais|plus|moins|più|meno) (?:than|als|de|que|di|do)\b|\bnot only\b|\bnicht nur\b"
)
_GOES_OFF = frozenset(
    "go goes went going sign signs kick kicks cut cuts drop drops take takes log logs hand".split()
)
_GERMAN = re.compile(
    r"(?i)\b(?:der|die|das|dem|den|des|und|ist|nicht|mit|für|auf|eine?|wird|immer|keine?[mnr]?|"
    r"vom|zum|im|am|"
    r"bei|vor|nach|ab|bis|zur|beim|darf|niemand|durch|von|seit|wenn|weil|ohne|nur|an|alle|"
    r"jede[rs]?)\b|[äöüß]"
)
_REASONS = frozenset(
    "because since as weil denn da car puisque comme parce porque pues pois como perché siccome "
    "poiché why warum so therefore".split()
)
_ONLY = re.compile(
    r"(?:only|solely|exclusively|merely|nur|ausschliesslich|lediglich|seulement|uniquement|"
    r"exclusivement|solo|sólo|solamente|únicamente|exclusivamente|só|somente|apenas|soltanto|"
    r"esclusivamente|unicamente)\Z"
)
_ONLY_EAST = re.compile(r"只(?!有\s?$)|仅|僅|だけ|のみ|に限|限定")
# What limits a fact as well: an exception, a condition, the rest named beside it.
_LIMITS = re.compile(
    r"(?:except|other|others|otherwise|else|reserved|if|unless|until|provided|once|just|alone|"
    r"solo?e?|"
    r"sonst|andere\w*|ausser|wenn|falls|sofern|bis|höchstens|allein|sauf|autres?|si|réservée?s?|"
    r"sola?|"
    r"excepto|salvo|otr[oa]s|resto|reservad[oa]s?|exceto|outr[oa]s|desde|se|eccetto|tranne|"
    r"altr[ie]|quando|purché|hormis|exceptée?s?|menos|moins|meno)\Z"
)
_EXCEPT = frozenset(
    "except ausser sauf excepto salvo exceto eccetto tranne hormis excepté exceptés exceptée "
    "exceptées".split()
)
_LIMITS_EAST = re.compile("以外|除|なら|ただし|其他|其余|才|前提|場合|たら|とき")
_WORD = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+(?:[._@#/:+-]+[^\W_{CJK}]+)*(?:['’]\w+)?|[_/\w.-]+")
_LITERAL = re.compile(r"[\d_@#/\\:+]|\w\.\w")
_KATAKANA = re.compile("[\u30a0-\u30ff]{2,}|[\u4e00-\u9fff\u3400-\u4dbf]+")
_DAY_EAST = re.compile("(?:周|星期|礼拜)([一二三四五六日天])")
_SMALL_EAST = re.compile(
    "我们|应该|需要|可以|用户|所有|进行|一律|全部|の|[个個吗呢吧啊的了是在和与或把被也都就则時时]"
)
_LIGHT_SIGNS = frozenset(
    "因为所以虽然但而且并才就会要能可请将把被让给对从到于由则即也还又很更最都只每个次些这那此其之时候后前先再下上里外内中间使用"
    "進进行通过按照根据作需应该必须有無无不没執执場合時限構認等際以後間方事物必要可能回全部様者入出取付化"
)
_DENIAL = 8  # letters of a word that denies and says something besides
_FORM = 4  # letters that two forms of a word begin with
_MOST = 600  # words among which a compound is looked for
_INSIDE = 5  # letters of a word that is found in a compound


@dataclass(frozen=True)
class Token:
    """A word or literal that carries meaning, as it is compared."""

    text: str
    is_literal: bool
    is_light: bool = False
    link: str = field(default="", compare=False)  # the small word right before it, folded
    is_name: bool = field(default=False, compare=False)  # a capital that no German noun explains


@dataclass
class Clause:
    """What stands between two signs of punctuation."""

    tokens: list[Token] = field(default_factory=list)
    sentence: int = 0
    denies: bool = False
    excludes: bool = False  # all else, as "only" does
    limits: bool = False  # in another way
    excepts: bool = False  # names what it does not hold for
    is_reason: bool = False
    is_named: bool = False  # by what stands before its colon


@lru_cache(maxsize=256)
def clauses(text: str, *, portuguese: bool = False) -> tuple[Clause, ...]:
    """The clauses of a text that carry something. In Portuguese "no" is "in the"."""
    found: list[Clause] = []
    text = _AFFIRMS.sub(" ", text)
    sentence = at = 0
    is_named = False
    for sign in [*_BREAK.finditer(text), None]:
        piece = text[at : sign.start() if sign else len(text)]
        cut = _split(piece, sentence, portuguese)
        cut[0].is_named = is_named
        found.extend(cut)
        if sign:
            is_named = sign["colon"] is not None
            at = sign.end()
            sentence += sign["sentence"] is not None
    return tuple(clause for clause in found if clause.tokens or clause.denies)


def _split(piece: str, sentence: int, portuguese: bool) -> list[Clause]:
    found = [Clause(sentence=sentence)]
    is_german = _GERMAN.search(piece) is not None
    begin = len(piece) - len(piece.lstrip())
    last = word = ""
    for match in _WORD.finditer(piece):
        written = match[0].strip("._-/:+")
        if not written:
            continue
        folded = written.casefold()
        last, word = word if is_small(word) else "", folded
        if folded in _JOINT and (found[-1].tokens or found[-1].denies):
            found.append(Clause(sentence=sentence))
        clause = found[-1]
        if is_cjk(written[0]):
            plain = _AFFIRMS_EAST.sub(" ", written)
            clause.denies |= _DENIES_EAST.search(plain) is not None
            clause.excludes |= _ONLY_EAST.search(plain) is not None
            clause.limits |= _LIMITS_EAST.search(plain) is not None
            clause.excepts |= re.search("以外|除", plain) is not None
            clause.tokens.extend(_eastern(written))
            continue
        clause.excludes |= _ONLY.match(folded) is not None
        clause.limits |= _LIMITS.match(folded) is not None
        clause.excepts |= folded in _EXCEPT
        clause.is_reason |= folded in _REASONS
        bare = re.sub(r"['’]s?$", "", folded)
        if _denies(bare, piece, match) and not (bare == "no" and portuguese):
            clause.denies = True
            if len(bare) > _DENIAL:
                clause.tokens.append(Token(bare, False, True))
        elif _LITERAL.search(bare):
            clause.tokens.append(Token(bare, True, bare in light()))
        else:
            elided = re.sub(r"^(?:l|d|n|c|s|j|m|t|qu|dell|all|nell|sull|un)['’]", "", bare)
            for part in elided.split("-"):
                if part and not is_small(part) and folded not in _JOINT:
                    is_name = written[0].isupper() and not is_german and match.start() > begin
                    link = last or bare[: len(bare) - len(elided)].rstrip("'’")
                    clause.tokens.append(Token(part, False, part in light(), link, is_name))
            if "-" in elided:
                clause.tokens.append(Token(elided, False, True))
    return found


def _denies(folded: str, piece: str, match: re.Match[str]) -> bool:
    if folded == "mai":
        return match[0] == "mai"
    if folded == "off":
        before = piece[: match.start()].split()[-1:]
        by = re.match(r"\s+by\s+(?:[\d~]|about|roughly|around|some|a\s)", piece[match.end() :])
        return by is None and not _GOES_OFF.intersection(before)
    return _DENIES.match(folded) is not None or re.search(r"n['’]t$", folded) is not None


@cache
def light() -> frozenset[str]:
    """The words that a sentence may gain or lose and still say the same."""
    lines = (Path(__file__).parent / "words" / "light.txt").read_text("utf-8").splitlines()
    return frozenset(word.casefold() for line in lines if line[:1] != "#" for word in line.split())


def _eastern(run: str) -> Iterable[Token]:
    yield from (Token(f"周{day[1]}", True) for day in _DAY_EAST.finditer(run))
    run = _DAY_EAST.sub(" ", run)
    for part in _KATAKANA.findall(_SMALL_EAST.sub(" ", _DENIES_EAST.sub(" ", run))):
        if part[0] < "\u3100" or len(part) == 1:
            yield Token(part, False)
        else:
            yield from (Token(part[at : at + 2], False) for at in range(len(part) - 1))


class Vocabulary:
    """Words, to be asked for in any form."""

    def __init__(self, tokens: Iterable[Token]) -> None:
        self.texts = {token.text for token in tokens}
        self._found: dict[str, str] = {}
        self._senses = {sense(text): text for text in sorted(self.texts)}
        self._begins: dict[str, list[str]] = defaultdict(list)
        for text in sorted(self.texts):
            self._begins[text[:3]].append(text)
        self._characters = {char for text in self.texts for char in text if is_cjk(char)}

    def has(self, token: Token) -> bool:
        """Whether the token stands here, or another form of it."""
        return bool(self.form(token))

    def form(self, token: Token) -> str:
        """The form in which a token stands here; "" where none does."""
        text = token.text
        if text not in self._found:
            self._found[text] = self._form(token)
        return self._found[text]

    def missing(self, tokens: Iterable[Token]) -> dict[str, float]:
        """What of these tokens does not stand here, each with its weight: words, and signs of
        Chinese and Japanese, of which two make a word."""
        found: dict[str, float] = {}
        for token in tokens:
            if token.is_light:
                continue
            if token.text[0] > "\u30ff" and is_cjk(token.text[0]):
                signs = (sign for sign in token.text if sign not in _LIGHT_SIGNS)
                found |= {sign: 0.5 for sign in signs if sign not in self._characters}
            elif not self.form(token):
                found[token.text] = 1.0
        return found

    def _form(self, token: Token) -> str:
        text = token.text
        if text in self.texts:
            return text
        if text[0] > "\u30ff" and is_cjk(text[0]):
            # two signs that stand here apart say what they say together
            return text if all(char in self._characters for char in text) else ""
        if token.is_literal:
            return ""
        if known := self._senses.get(sense(text)):
            return known
        near = (each for each in self._begins.get(text[:3], ()) if are_forms(text, each))
        if found := next(near, ""):
            return found
        if len(text) < _INSIDE:
            return ""
        if len(self.texts) > _MOST:
            return ""
        longer = (each for each in self.texts if len(each) >= _INSIDE)
        tail = text.removesuffix("n")  # Pumpen of a Chlorpumpe
        return next(
            (each for each in longer if text in each or each in text or each.endswith(tail)), ""
        )


@lru_cache(maxsize=100_000)
def are_forms(one: str, other: str) -> bool:
    """Whether two folded words begin alike, as the forms of one word do."""
    if one == other:
        return True
    same = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        same += 1
    longest, shortest = max(len(one), len(other)), min(len(one), len(other))
    if same == shortest and shortest >= 3 and longest - shortest <= 3:
        return True
    return same >= _FORM and same >= 0.6 * longest


def weights(tokens: Iterable[Token]) -> float:
    """How much some tokens say: 1 for a word, half for a sign of Chinese or Japanese."""
    return sum(Vocabulary(()).missing(tokens).values())


def in_some_form(word: str, known: Vocabulary, text: Iterable[Clause]) -> bool:
    """Whether a word with a capital stands in a text as no name: Friday-afternoon, Anfragen."""
    parts = [part for part in word.casefold().split("-") if part]
    if not parts or not "".join(parts).isalpha() or is_cjk(word[0]):
        return False
    plain = {token.text for clause in text for token in clause.tokens if not token.is_name}
    return all(part in light() or known.form(Token(part, False)) in plain for part in parts)
