"""Very many notes to measure the speed of search on, as like real ones as made-up ones can be.

A note is put together from phrases of the written corpora, in one of their languages, so that its
words follow each other and are as common as words are; and from rare words, most of which few notes
share, as names and terms of a large store do. The same seed gives the same notes.
"""

import random
import re
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from pathlib import Path

from bench import own
from bench.readers import NOTES, rows

SEED = 6
RARE = 40_000  # words; the first are in thousands of notes, most in one or two
NEW = 0.12  # of the words of a text that are rare
LINKED = 0.5
_TYPES = ("user", "feedback", "project", "reference")
_LANGUAGES = {"en": 60, "de": 9, "fr": 7, "es": 6, "pt": 5, "zh": 5, "ja": 4, "ko": 4}


def notes(size: int) -> dict[str, str]:
    """The text of each note, by file."""
    dice = random.Random(SEED)
    rare, weights = _rare(dice)
    drawn = iter(dice.choices(rare, cum_weights=weights, k=40 * size + 100))
    languages = dice.choices([*_LANGUAGES], [*_LANGUAGES.values()], k=size)
    names: list[str] = []
    found: dict[str, str] = {}
    for number, lang in enumerate(languages):
        phrases = _phrases()[lang]
        name = f"{next(drawn)}-{next(drawn)}-{dice.choice(_words()[lang])}"
        if number % 7 == 0:
            name += f"-{number}"
        link = f" See [[{dice.choice(names)}]]." if names and dice.random() < LINKED else ""
        # a description is of one thing, so that it can be told from the others by its words
        description = f"{_text(dice, phrases, drawn, 2)} {next(drawn)} {dice.choice(phrases)}"
        lines = [_text(dice, phrases, drawn, dice.randint(2, 5)) for _ in range(dice.randint(1, 4))]
        kind = dice.choice(_TYPES)
        day = f"2026-{dice.randint(1, 9):02}-{dice.randint(1, 28):02}"
        head = f"name: {name}\ndescription: {description}\nmetadata:\n  type: {kind}"
        head += f"\n  source: extraction\n  created: {day}\n  session: ses_{number // 4:08x}"
        body = ".\n".join(lines)
        found[f"{kind}-{name}.md"] = f"---\n{head}\n---\n\n{body}.{link}\n"
        names.append(name)
    return found


def write_store(folder: Path, size: int) -> list[str]:
    """Write so many notes into the folder, which must exist; their files."""
    texts = notes(size)
    for file, text in texts.items():
        (folder / file).write_text(text, encoding="utf-8")
    return sorted(texts)


def by_name(file: str, text: str) -> str:
    """The words of a note's name."""
    return file.partition("-")[2].removesuffix(".md").replace("-", " ")


def described(file: str, text: str) -> str:
    """The whole description."""
    return text.partition("description: ")[2].partition("\n")[0]


def question(text: str) -> str:
    """What somebody may ask who remembers half of a note: a stretch of its words."""
    words = text.rpartition("---\n")[2].split()
    start = random.Random(len(text)).randrange(max(1, len(words) - 7))
    return " ".join(words[start : start + 7]) + "?"


def _text(dice: random.Random, phrases: list[str], drawn: Iterator[str], parts: int) -> str:
    found = []
    for _ in range(parts):
        phrase = dice.choice(phrases)
        found.append(phrase)
        # so many rare words as make their share of the text
        found += [next(drawn) for _ in range(dice.random() < NEW * (1 + phrase.count(" ")))]
    return " ".join(found)


def _rare(dice: random.Random) -> tuple[list[str], list[float]]:
    """Words that no language has, and their weights, each added to those before it."""
    letters = "bcdfghklmnprstvz"
    words: dict[str, None] = {}
    while len(words) < RARE:
        syllables = (dice.choice(letters) + dice.choice("aeiou") for _ in range(dice.randint(3, 4)))
        words["".join(syllables)] = None
    return [*words], [*accumulate(1 / (rank + 30) for rank in range(RARE))]


@cache
def _phrases() -> dict[str, list[str]]:
    """Stretches of two to six words of the written notes, by language."""
    dice = random.Random(SEED)
    found: dict[str, list[str]] = {lang: [] for lang in _LANGUAGES}
    for lang, text in _sentences():
        words = text.split()
        if len(words) == 1:  # a script without spaces
            words = re.findall(".{1,4}", text)
            joint = ""
        else:
            joint = " "
        at = 0
        while at < len(words):
            length = dice.randint(2, 6)
            found[lang].append(joint.join(words[at : at + length]))
            at += length
    return found


@cache
def _words() -> dict[str, list[str]]:
    """Words of the written notes that can stand in a name, by language."""
    return {
        lang: [word for phrase in phrases for word in re.findall(r"[^\W\d_]{4,20}", phrase.lower())]
        for lang, phrases in _phrases().items()
    }


def _sentences() -> Iterator[tuple[str, str]]:
    """Each sentence of the written notes with its language, without signs that a head minds."""
    for lang, text in _texts():
        for sentence in re.split(r"[.!?。；;\n]\s*", text):
            plain = " ".join(re.sub(r"[^\w\s/%.-]", " ", sentence).split())
            if len(plain) > 3:
                yield lang, plain


def _texts() -> Iterator[tuple[str, str]]:
    for _, row in rows(own.DATA / own.HALVES[0] / NOTES):
        yield row["lang"], f"{row['description']}\n{row.get('body', '')}"
    for file, text in own.freight().texts:
        if not re.search("[\u4e00-\u9fff]", text):
            yield "en", text.rpartition("\n")[0] if file.endswith(".md") else text
