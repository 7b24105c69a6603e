"""French, Spanish, Portuguese and Italian words without their endings, by one rule for all four.

Pure. The four share most of their endings, and few words of a question tell which of them it is:
one rule finds a note whatever language was taken for it, and often the word of the sister language.
"""

from __future__ import annotations

SHORTEST = 3  # letters that stay of a word
_SURE = 4  # letters that stay before an ending that makes a noun or adjective
_VOWELS = "aeiou"

# What makes a noun, an adjective or an adverb of another word.
_DERIVING = frozenset(
    # what is done, and who does it
    "acion aciones acao acoes ation ations azione azioni icion iciones icao icoes ition itions "
    "izione izioni amiento amientos imiento imientos amento amentos imento imentos amenti imenti "
    "ement ements issement issements ador adora adores adoras edor edora edores edoras idor idora "
    "idores idoras ateur ateurs atrice atrices atore atori itore itori eur eurs euse euses "
    # of what kind, and how
    "mente amente ablemente ivamente emente able ables ible ibles avel aveis ivel iveis "
    "abile abili ibile ibili idad idades idade ismo ismos isme ismes ista istas iste "
    "istes isti oso osa osos osas eux ico ica icos icas ique iques ici iche ivo iva ivos "
    "ivas ive ives if ifs ivi".split()
)
# What a verb takes; and the number and gender of nouns.
_INFLECTING = frozenset(
    "ar er ir are ere ire arse erse irse arsi ersi irsi arlo arla arlos arlas arle arles "
    "erlo erla erlos erlas erle irlo irla irlos irlas ando iendo endo indo ant ante ants "
    "antes ado ada ados adas ido ida idos idas ato ata ati ate ito ita iti uto uta uti "
    "ute ee ees ie ies ue ues is us ut o a e i as os es an am em en amos emos imos ais "
    "aste iste aron ieron io iou ou ei eu iu aram eram iram aba abas abamos aban ava avas "
    "avamos avam avano avo avi ia ias ian iam iamos eva evano evi iva ivano ara aras "
    "aremos aran arei arao aranno era eras eremos eran erei erao eranno ira iras iremos "
    "iran irei irao iranno aria arias arian ariam eria erias erian eriam iria irias irian "
    "iriam asse assem esse essem isse issem armos ermos irmos arem erem irem ase asen "
    "iese iesen ez ent ait aient iez erai erons erez eront erait eraient irai irons irez "
    "iront irait iraient issent issons issez issait issaient issant iamo ano ono amo emo "
    "imo s x".split()
)
_LONGEST = 9
_PLURALS = {"agens": "agem", "iones": "ion", "aux": "al", "eis": "el", "oes": "ao"}


def stem(word: str) -> str:
    """The part of a word that its forms share. The word is in lower case and has no accents."""
    if len(word) < SHORTEST or not word.isalpha():
        return word
    for plural, single in _PLURALS.items():
        if word.endswith(plural) and len(word) > len(plural) + 1:
            word = word[: -len(plural)] + single
    word = _cut(word)
    while len(word) > SHORTEST and word[-1] in _VOWELS:
        word = word[:-1]
    if len(word) > SHORTEST and word[-1] == word[-2]:  # appeler, appelons
        word = word[:-1]
    if word.endswith("qu") and len(word) > SHORTEST:  # toque, tocar
        return f"{word[:-2]}c"
    return f"{word[:-1]}c" if word[-1] == "z" else word  # luz, luces


def _cut(word: str) -> str:
    """A word without its longest ending that leaves enough of it."""
    for length in range(min(_LONGEST, len(word) - SHORTEST), 0, -1):
        ending = word[-length:]
        if ending in _INFLECTING or (ending in _DERIVING and len(word) - length >= _SURE):
            return word[:-length]
    return word
