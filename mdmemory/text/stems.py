"""Words as they are compared for their sense: the forms of one word are one, and so are words of
one meaning and known short forms. English and German. Pure.
"""

from __future__ import annotations

import re
from functools import lru_cache

from mdmemory.text import polarity
from mdmemory.text.statements import SMALL, is_cjk, word_set

# Words that a sentence may have or not have, beside those of `SMALL`.
_EMPTY = SMALL | word_set(
    "about after again against around because before both but etc even got get gets here if "
    "into its like likewise more most much no not one only out over same should some such "
    "than then there these those through too under until up very via well what when where "
    "which while who whose why yes user users person people team still "
    "first come comes came go goes went gone done make makes made written used kept put puts "
    "set sets "
    "der die das den dem des ein eine einen einem einer eines und oder aber auch als am an auf aus "
    "bei beim bis da dann dass denn dies diese dieser dieses doch durch er es für gegen hat haben "
    "ich ihr im in ins ist ja jede jeden jeder jedes jetzt man mit nach noch nur ob ohne schon "
    "sein seine sich sie sind so soll sollen sollte über um uns unser unsere unter vom von vor war "
    "waren was weil wenn werden wie wir wird zu zum zur immer alle allen aller alles bitte nutzer "
    "dazu davon damit dafür darüber darauf daran darin dabei dort hier stets kommt kommen "
    "geht gehen erst zuerst danach bevor nachdem du ihm ihn ihnen mir dir euch etwas nichts "
    "gemacht geschrieben verwendet genutzt gesetzt macht machen "
    "benutzer person kann können muss müssen darf dürfen"
)
# What means the same in notes; each word stands for all its forms.
_GROUPS = tuple(
    group.split()
    for group in (
        "answer reply response antwort rückmeldung",
        "short brief concise terse kurz knapp",
        "long detailed verbose ausführlich lang",
        "want prefer like love enjoy use utilize choose favor favour wish expect employ work works "
        "mag mögen möchte will wollen bevorzugt bevorzugen nutzt nutzen verwendet verwenden "
        "benutzt benutzen wünscht wünschen arbeitet arbeiten",
        "take last need require dauert dauern braucht brauchen",
        "delete remove drop erase löschen gelöscht entfernen entfernt",
        "make create build erstellen erstellt",
        "run execute call invoke ausführen aufrufen laufen läuft ausgeführt",
        "start begin launch starten beginnen beginnt startet",
        "end finish stop enden beenden endet",
        "write written wrote schreiben geschrieben schreibt",
        "keep store save kept hold speichern gespeichert bewahren aufbewahren",
        "lie live sit reside located found liegt liegen steht stehen befindet",
        "show display anzeigen zeigt zeigen",
        "check verify validate prüfen geprüft prüft",
        "fix repair correct beheben behoben",
        "send sent schicken senden gesendet geschickt",
        "happen occur passiert geschieht",
        "say tell said told explain state sagen sagt erklären erklärt",
        "repository repo repos",
        "database db datenbank",
        "configuration config konfiguration settings",
        "documentation docs doc dokumentation doku",
        "directory folder dir verzeichnis ordner",
        "application app anwendung",
        "environment env umgebung",
        "development dev entwicklung",
        "production prod produktion",
        "administrator admin",
        "javascript js",
        "typescript ts",
        "kubernetes k8s",
        "message msg nachricht",
        "mail email e-mail",
        "information info",
        "language sprache",
        "project projekt",
        "deploy deployment rollout ausrollen deployen",
        "release veröffentlichen veröffentlichung",
        "meeting besprechung termin treffen",
        "big large groß",
        "small little klein",
        "quick fast schnell",
        "current present aktuell derzeitig",
        "simple easy einfach",
        "each every all any",
    )
)
_ENDINGS = (
    *("ations", "ation", "ments", "ment", "ungen", "ings", "ung", "ing"),
    *("ed", "es", "en", "er", "em", "e", "s", "n", "t"),
)
_LEFT = 4  # letters that an ending must leave; a plural s leaves three
_POSSESSIVE = re.compile(r"['’]s?$")


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A word without its endings, folded. Unlike words may meet in one, so it judges sameness in
    favour of the same."""
    word = _POSSESSIVE.sub("", word.casefold())
    if not word.isalpha() or is_cjk(word[0]):
        return word
    while True:
        if word.endswith(("ies", "ied")) and len(word) > _LEFT:
            word = f"{word[:-3]}y"
        for ending in _ENDINGS:
            rest = len(word) - len(ending)
            enough = rest >= (3 if ending == "s" else _LEFT)
            if enough and word.endswith(ending) and not word.endswith("ss"):
                word = word[:rest]
                break
        else:
            break
    return word[:-1] if len(word) > 4 and word[-1] == word[-2] and word[-1] != "s" else word


_SENSES = {stem(word): f"={group[0]}" for group in _GROUPS for word in group}


@lru_cache(maxsize=50_000)
def sense(word: str) -> str:
    """The same for all forms of a word and for words that mean the same."""
    found = stem(word)
    return _SENSES.get(found, found)


def is_known(word: str) -> bool:
    """Whether the word is on the list of those that others can stand for."""
    return stem(word) in _SENSES


def is_small(word: str) -> bool:
    """Whether a word carries no fact of its own; a negation does."""
    folded = word.casefold()
    return folded in _EMPTY and not polarity.is_negation(folded)
