"""Of whom or what a sentence speaks, where its first words tell: "Sarah" of "Sarah owns billing".

A name at the beginning has a capital that says nothing, so the verb behind it has to. English and
German, by the form of words. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from mdmemory.text.frames import Sentence, sentences
from mdmemory.text.statements import is_small
from mdmemory.text.words import sense


def word_set(text: str) -> frozenset[str]:
    """The words of a string, as a set."""
    return frozenset(text.split())


_FURTHEST = 4  # words in front of the verb
_ARTICLES = word_set(
    "the a an our my your his her its their this that these those every each all both "
    "der die das den dem ein eine unser unsere mein meine sein seine ihr ihre dieser diese jeder "
    "jede jedes alle"
)
_VERBS = word_set(
    "is are was were be has have had do does did can could must should shall may might will would "
    "use need want like prefer take run go come get give keep make live lie own work belong depend "
    "happen start stop end begin wait fail expire lead know say said wrote made took went came "
    "ist sind war waren hat haben hatte hatten kann können muss müssen soll sollen sollte darf "
    "dürfen wird werden will wollen mag mögen möchte nutzt nutzen liegt liegen läuft laufen gehört "
    "gehören steht stehen"
)
# Words that begin an order; what follows them is no verb: "Keep answers short".
_ORDERS = word_set(
    "add allow always answer ask assign avoid bring build bump call cap change check choose clean "
    "close collect commit compare compile configure confirm copy count create cut define delete "
    "deploy describe do document don't draw drop enable ensure escape expect explain export extend "
    "fetch fill find first fix follow format generate give group handle have hide import include "
    "install keep label lead leave let limit link list load log look maintain make mark measure "
    "merge mind mock mount move name never no not note only open order pack parse pass pick pin "
    "place plan post prefer prepare print publish pull push put query quote raise read rebase "
    "record release remember remove rename repeat replace reply report request reset restart "
    "restore retry return review rotate round run save say schedule see send serve set share ship "
    "show sign skip sort split squash start state stop store strip sync tag take tell test throw "
    "track translate treat trim try turn update upgrade upload use validate verify wait watch wrap "
    "write"
)
_GERMAN = word_set("der die das und nicht ist sind mit für auf ein eine wird immer kein keine")
# What says little about whom a sentence speaks of.
_VAGUE = word_set(
    "new old slow fast quick big small main long short good bad clean simple other more most many "
    "few first last next project projects work thing things "
    "neu neue neuer neues alt alte alter langsam langsame schnell schnelle groß große klein kleine "
    "lang lange kurz kurze gut gute erste letzte nächste projekt projekte arbeit"
)
_NO_VERBS = word_set("nicht jetzt sonst seit erst fast zuerst selbst gut mit rest")


def subjects(text: str) -> dict[str, str]:
    """The words that the sentences of a text speak of: their sense, and how one is written."""
    found: dict[str, str] = {}
    for sentence in sentences(text):
        found |= {sense(word): _bare(word) for word in _subject(sentence)}
    return found


def _subject(sentence: Sentence) -> Sequence[str]:
    words = list(sentence.words)
    has_article = False
    while words and words[0].casefold() in _ARTICLES:
        has_article = True
        del words[0]
    if not words or (not has_article and words[0].casefold() in _ORDERS):
        return ()
    if words[0][0].isupper() and words[0].endswith(("'s", "’s")):
        return words[:1]
    german = not _GERMAN.isdisjoint(map(str.casefold, sentence.words))
    loose = has_article or not words[0].casefold().endswith("s")
    for at, word in enumerate(words[1 : _FURTHEST + 1], 1):
        if word in _VERBS or (loose and _looks_like_verb(word, german)):
            return [each for each in words[:at] if not is_small(each) and _is_word(each)]
    return ()


def _looks_like_verb(word: str, german: bool) -> bool:
    if not word.islower() or not word.isalpha() or len(word) < 4 or is_small(word):
        return False
    if german:
        return word.endswith("t") and word not in _NO_VERBS
    return word.endswith("s") and not word.endswith(("ss", "us", "is", "ous"))


def _is_word(word: str) -> bool:
    return _bare(word).isalpha() and len(word) > 1 and _bare(word).casefold() not in _VAGUE


def _bare(word: str) -> str:
    return word.removesuffix("'s").removesuffix("’s")
