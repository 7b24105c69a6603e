"""Whether a text says in other words what its sources say: no clause lost, none from nowhere, no
two values crossed, nothing denied that was not.

Pure. Takes texts in normal form (`text.normal_form`). Works on any language that the words of
`text.alignment` are cut for; where a wording is too far away to tell, it is a loss.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import combinations

from mdmemory.compact import exchanged
from mdmemory.text.alignment import Clause, Token, Vocabulary, clauses, in_some_form, light, weights
from mdmemory.text.frames import each_subject, sentences
from mdmemory.text.gaps import is_small, is_verb
from mdmemory.text.normal_form import is_portuguese

# Prepositions of place, time and purpose.
_PLACES = frozenset(
    "in on at by to from under over im am auf bei für aus dans sur à pour en para em no na nel "
    "nella su per".split()
)
# German endings of what is no name.
_ABSTRACT = re.compile(r"[A-ZÄÖÜ][a-zäöüß]+(?:ung|keit|heit|schaft|tion|ment)(?:en|s)?\Z")
MOST = 600  # words of all texts; longer ones are not taken apart


class Rewording:
    """Some texts, each a description and a body, and the text in their place."""

    def __init__(self, sources: Sequence[tuple[str, str]], result: tuple[str, str]) -> None:
        self._sources, self.result = sources, result
        whole = "\n".join(part for note in (*sources, result) for part in note)
        cut = partial(clauses, portuguese=is_portuguese(whole))
        self._texts = [cut(part) for note in sources for part in note]
        self._heads = [clause for head, _ in sources for clause in cut(head)]
        self._bodies = [clause for _, body in sources for clause in cut(body)]
        self._before = [*self._heads, *self._bodies]
        self._new_head, self._new_body = cut(result[0]), cut(result[1])
        self._after = [*self._new_head, *self._new_body]
        self._is_one = len(sources) == 1
        self._known = Vocabulary(_tokens(self._before))
        self._said = Vocabulary(_tokens(self._after))

    @cached_property
    def is_long(self) -> bool:
        """Whether there are too many words to be told apart one by one."""
        counts = (len(clause.tokens) for clause in (*self._before, *self._after))
        return sum(counts) > MOST

    # --- clauses

    def lost(self) -> list[str]:
        """The words of the first clause that the result does not carry; empty where it carries
        all of them."""
        for clause in self._bodies if not self.is_long else ():
            gone = self._said.missing(clause.tokens)
            if gone and self._is_gone(clause, sum(gone.values())):
                return [*gone]
            if run := _run(clause, gone, self._new):
                return run
        return [] if self.is_long else exchanged.unlimited(self._bodies, self._new_body)

    def _is_gone(self, clause: Clause, gone: float) -> bool:
        whole, instead = weights(clause.tokens), sum(self._new.values())
        if gone == whole:
            needed = clause.is_reason or clause.is_named or clause.denies
            return whole > 1 or needed or not instead
        return gone > 1 and 2 * gone >= whole and instead < gone

    @cached_property
    def _new(self) -> dict[str, float]:
        """The words of the result that no source has."""
        return self._known.missing(_tokens(self._after))

    @cached_property
    def _gone(self) -> dict[str, float]:
        """The words of the sources that the result has no more."""
        return self._said.missing(_tokens(self._before))

    def replaced(self) -> list[str]:
        """A word, and the one in the place of which it stands: "in production" for "in tests"."""
        if self.is_long:
            return []
        links = ((token.link, token) for token in _tokens(self._bodies))
        old = {link: t.text for link, t in links if link in _PLACES and t.text in self._gone}
        for token in _tokens(self._new_body):
            if token.link in old and token.text in self._new:
                return [token.text, old[token.link]]
        notes = [*self._sources], [self.result]
        old_text, text = ("\n".join(part for note in each for part in note) for each in notes)
        return (
            exchanged.other_days(old_text, text)
            or exchanged.other_sides(old_text, text)
            or exchanged.other_topics(old_text, text)
            or exchanged.other_things(self._bodies, self._new_body, self._known)
            or exchanged.other_company(self._bodies, self._new_body, self._forms)
        )

    def invented(self) -> list[str]:
        """The words of the first clause that no source bears out; empty where all are borne out."""
        if self.is_long:
            return []
        for at, clause in enumerate(self._after):
            new = sum(self._known.missing(clause.tokens).values())
            # a description may name the matter by a word of its own
            most = 1 if at < len(self._new_head) else 0
            if new > most and new == weights(clause.tokens):
                return [*self._known.missing(clause.tokens)]
            if run := _run(clause, self._known.missing(clause.tokens), self._gone):
                return run
        if sum(self._new.values()) >= sum(self._gone.values()) + 2:
            return [*self._new]
        return []

    # --- proper nouns, which an audit compares by their letters

    def really_lost(self, words: Sequence[str]) -> list[str]:
        """Of the literals that an audit misses those that are in no form in the result."""
        return [word for word in words if not in_some_form(word, self._said, self._after)]

    def really_invented(self, words: Sequence[str]) -> list[str]:
        """Of the literals that an audit finds new those that the sources have in no form."""
        heading = {word for word in words if _ABSTRACT.match(word) and word not in self.result[1]}
        named = heading if len(heading) == 1 else set()
        some = (word for word in words if word not in named)
        return [word for word in some if not in_some_form(word, self._known, self._before)]

    def needs(self, word: str) -> bool:
        """Whether a word that the result seems to lack is gone in all its forms, and says more
        than a heading that merged notes no longer need."""
        heading = not self._is_one and word.casefold() not in {
            t.text for t in _tokens(self._bodies)
        }
        return not heading and self.lacks(word)

    def lacks(self, word: str) -> bool:
        """Whether the result has a word in no form."""
        folded = word.casefold()
        token = Token(folded, False, folded in light() or is_small(folded))
        return bool(self._said.missing([token]))

    def replaces(self, new: str, old: str) -> bool:
        """Whether words that stand where others stood say something else: no word between others,
        and none that the sources have elsewhere."""
        come = self._known.missing(_tokens(clauses(new)))
        return bool(come and self._said.missing(_tokens(clauses(old))))

    def is_new(self, new: str, old: str) -> bool:
        """Whether words that stand where others stood are in none of the sources."""
        come = sum(self._known.missing(_tokens(clauses(new))).values())
        return 0 < come == weights(_tokens(clauses(old)))

    def heading_words(self) -> set[str]:
        """The words, as they are written, that stand in headings of notes alone: descriptions
        that speak of no one."""
        bodies = {token.text for token in _tokens(self._bodies)}
        heads = (head for head, _ in self._sources if not each_subject(head))
        words = (word for head in heads for sentence in sentences(head) for word in sentence.words)
        return {word for word in words if word.casefold() not in bodies}

    def names_only(self) -> bool:
        """Whether the new description names the matter and leaves open what holds of it: it lacks
        a word of all that the sources deny, or says what it is about."""
        words = {token.text for clause in self._new_head for token in clause.tokens}
        known = Vocabulary(token for clause in self._new_head for token in clause.tokens)
        if not words or any(clause.denies for clause in self._new_head):
            return False
        denied = [c for c in self._heads if c.denies]
        return bool(denied) and all(known.missing(clause.tokens) for clause in denied)

    # --- what stands with what

    def crossed(self) -> list[str]:
        """Two words that changed the company of two others; empty where none did."""
        if self.is_long:
            return []
        if names := exchanged.other_roles(self._bodies, self._new_body, self._forms):
            return names
        old, new = self._texts, [self._new_head, self._new_body]
        for whole in (True, False):
            before = [each for t in old for each in _groups(t, self._forms_before, whole)]
            after = [each for t in new for each in _groups(t, self._forms, whole)]
            if found := _crossed(_pairs(before), _pairs(after)):
                return found
        bodies = self._texts[1::2]
        before = [each for t in bodies for each in _groups(t, self._forms_before, False)]
        return self._stolen(before, after)

    def _stolen(self, before: list[set[str]], after: list[set[str]]) -> list[str]:
        """A value that took the place of another one of its kind, which stands elsewhere now."""
        kinds = {t.text: kind for t in _tokens(self._before) if (kind := _kind(t))}
        mates, now = _mates(before, kinds), _mates(after, kinds)
        company = _mates(before, dict.fromkeys((word for group in before for word in group), ""))
        for word, values in mates.items():
            for value in values:
                alike = {each for each in kinds if kinds[each] == kinds[value]}
                rivals = (now.get(word, set()) & alike) - values
                if len(values & alike) > 1 or not rivals or value in now[word]:
                    continue
                own = company[value] - {word}.union(*(company[rival] for rival in rivals))
                groups = [group for group in after if value in group]
                if groups and not any(own & group for group in groups):
                    return sorted({value, *rivals})
        return []

    @cached_property
    def _forms_before(self) -> dict[str, str]:
        return {token.text: self._known.form(token) for token in _tokens(self._before)}

    @cached_property
    def _forms(self) -> dict[str, str]:
        """For each word of the result that the sources have, the form in which they have it."""
        return {t.text: form for t in _tokens(self._after) if (form := self._known.form(t))}

    # --- what is denied

    def turned(self) -> list[str]:
        """The words that the sources deny and the result says, or the reverse."""
        before = _denials(self._before, self._forms_before)
        after = _denials(self._after, self._forms)
        freed = sorted(w for w in after if before[w] == {True} and after[w] == {False})
        bound = sorted(w for w in after if before[w] == {False} and after[w] == {True})
        still = [word for word in after if True in before[word] and True in after[word]]
        if bound and (freed or not still):
            return bound
        return (
            self._moved_denial()
            or self._bound_clause(set(bound))
            or self._denied_of_others()
            or self._affirmed_by_description(before)
            or (freed if not still and not any(map(_limits_at_all, self._after)) else [])
            or self._denied_from_nowhere()
        )

    def _moved_denial(self) -> list[str]:
        """The same of the bodies alone, where a description that stays hides it."""
        before = _denials(self._bodies, self._forms_before)
        after = _denials(self._new_body, self._forms)
        both = [word for word in after if word in before]
        freed = [w for w in both if before[w] == {True} and after[w] == {False}]
        bound = [w for w in both if before[w] == {False} and after[w] == {True}]
        return sorted(bound) if freed and bound else []

    def _bound_clause(self, bound: set[str]) -> list[str]:
        """A clause that denies what the sources say, or a literal of it."""
        for clause in self._after:
            words = {self._forms.get(t.text, "") for t in clause.tokens if not t.is_light} - {""}
            if clause.denies and words and words <= bound:
                return sorted(words)
        literals = {token.text for token in _tokens(self._after) if token.is_literal}
        return sorted(literals & bound)

    def _denied_from_nowhere(self) -> list[str]:
        """What the result denies where the sources deny and exclude nothing."""
        if any(map(_limits_at_all, self._before)):
            return []
        denied = (clause for clause in self._after if clause.denies)
        return [token.text for clause in denied for token in clause.tokens]

    def _affirmed_by_description(self, before: Mapping[str, set[bool]]) -> list[str]:
        """What the new description says, as a sentence, of what the sources only deny."""
        old = {token.text for token in _tokens(self._heads)}
        said = self.result[0].casefold().split()
        if any(clause.denies for clause in self._new_head) or not any(map(is_verb, said)):
            return []
        words = [t for t in _tokens(self._new_head) if not t.is_light and t.text not in old]
        forms = [self._forms.get(token.text, "") for token in words]
        known = [form for form in forms if form]
        return [form for form in known if before[form] == {True}]

    def _denied_of_others(self) -> list[str]:
        """Where a word goes of which something is denied, the words of which it is denied now."""
        denied = [token for clause in self._before if clause.denies for token in clause.tokens]
        if not self._said.missing(denied):
            return []
        known = Vocabulary(denied)
        new = [known.missing(clause.tokens) for clause in self._after if clause.denies]
        return sorted(word for words in new for word in words if self._forms.get(word))

    def excepted(self) -> bool:
        """Whether the result makes an exception where the sources hold for all."""
        if not any(clause.excepts for clause in self._after):
            return False
        return not any(c.excepts or c.excludes or c.denies or c.limits for c in self._before)

    def exclusive(self) -> bool:
        """Whether one side alone excludes all else, as "only" does."""
        (only, limits), (only_after, limits_after) = map(_limits, (self._before, self._after))
        return (only and not limits_after) or (only_after and not limits)


def _limits_at_all(clause: Clause) -> bool:
    return clause.denies or clause.excludes or clause.excepts


def _limits(found: Sequence[Clause]) -> tuple[bool, bool]:
    """Whether a text excludes all else, and whether it limits itself in any way."""
    only = any(clause.excludes for clause in found)
    return only, only or any(clause.limits or clause.denies for clause in found)


def _tokens(found: Sequence[Clause]) -> Iterator[Token]:
    return (token for clause in found for token in clause.tokens)


def _run(clause: Clause, missing: dict[str, float], instead: dict[str, float]) -> list[str]:
    """Words side by side that the other side lacks, and more of them than could be reworded."""
    run: list[str] = []
    for token in [*(token for token in clause.tokens if not token.is_light), None]:
        if token and token.text in missing:
            run.append(token.text)
            continue
        if len(run) > max(1, sum(instead.values())):
            return run
        run = []
    return []


def _pair(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one < other else (other, one)


def _groups(found: Sequence[Clause], forms: Mapping[str, str], whole: bool) -> list[set[str]]:
    """The words of each clause, a short one with its neighbour; or of each `whole` sentence."""
    groups: list[tuple[int, set[str]]] = []
    for clause in found:
        words = {forms[t.text] for t in clause.tokens if forms.get(t.text) and _counts(t)}
        is_short = len(words) < 2 or (groups and len(groups[-1][1]) < 2)
        same = groups and groups[-1][0] == clause.sentence
        if same and (whole or clause.is_named or is_short):
            groups[-1][1].update(words)
        else:
            groups.append((clause.sentence, words))
    return [words for _, words in groups]


def _pairs(groups: Sequence[set[str]]) -> set[tuple[str, str]]:
    """The pairs of words that stand in one group."""
    return {pair for words in groups for pair in combinations(sorted(words)[:40], 2)}


def _mates(groups: Sequence[set[str]], kinds: Mapping[str, str]) -> dict[str, set[str]]:
    """For each word the values that stand in its groups."""
    mates: defaultdict[str, set[str]] = defaultdict(set)
    for words in groups:
        values = {word for word in words if word in kinds}
        for word in words:
            mates[word] |= values - {word}
    return mates


def _kind(token: Token) -> str:
    """Of what kind a value is, that two may change places; "" for what is none."""
    if token.is_literal:
        return "number" if token.text[0].isdigit() else "name"
    return "name" if token.is_name else ""


def _crossed(before: set[tuple[str, str]], after: set[tuple[str, str]]) -> list[str]:
    """Two words that changed the company of two others; empty where none did."""
    words = {word for pair in after for word in pair}
    gone = defaultdict(set)
    for one, other in before - after:
        if one in words and other in words:
            gone[one].add(other)
            gone[other].add(one)
    new = after - before
    for one, other in sorted(new):
        for mate in sorted(gone[one]):
            for rival in sorted(gone[other]):
                if len({one, other, mate, rival}) == 4 and _pair(mate, rival) in new:
                    return sorted({one, rival})
    return []


def _counts(token: Token) -> bool:
    return not token.is_light or "-" in token.text


def _denials(found: Sequence[Clause], forms: dict[str, str]) -> defaultdict[str, set[bool]]:
    """For each word whether it stands in clauses that deny, in others, or in both."""
    denied: defaultdict[str, set[bool]] = defaultdict(set)
    for clause in found:
        for token in clause.tokens:
            if form := forms.get(token.text):
                denied[form].add(clause.denies)
                if clause.excludes:  # "only after" is "not before"
                    denied[form] = {True, False}
    return denied
