"""To look for the notes near a few finds what a look at the words of all notes finds."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from mdmemory.note.note import Head, Note
from mdmemory.text.near import FEW_ASKED, NearDescriptions, Neighbours
from mdmemory.text.words import WantedKeys, key, telling

ROOT = Path(__file__).parents[2]
COMMON = ["service", "deploy", "release", "team", "tests"]
WORDS = [
    *COMMON, "dying", "lying", "tying", "skies", "sky", "cry", "cries", "postgres", "PostgreSQL",
    "k8s", "Kubernetes", "Straße", "Prüfungen", "Prüfung", "naïve", "server's", "配置", "数据库",
    "テスト", "설정은", "설정을", "by", "the", "not", "run", "running", "runs", "universal",
    "university", "x", "10ms", "staging", "stage", "stages", "early", "only",
    "aenderungen", "Änderung", "oeffnen", "Uebung", "news", "a1", "y",
]  # fmt: skip


def descriptions(seed: int, count: int) -> list[str]:
    made = random.Random(seed)
    return [
        " ".join(made.choices(WORDS, k=made.choice((1, 3, 5, 8, 30))))
        + (f" {made.choice(COMMON)}" if made.random() < 0.7 else "")
        for _ in range(count)
    ]


@pytest.mark.parametrize("count", [60, 160, 450])
def test_the_same_notes_are_near(count: int) -> None:
    texts = descriptions(count, count)
    kinds = ["user" if at % 7 == 0 else "work" for at in range(count)]
    heads = [
        Head(f"{at}.md", "", text, kind)
        for at, (text, kind) in enumerate(zip(texts, kinds, strict=True))
    ]
    all_notes = Neighbours([Note("", head, "") for head in heads])
    found = {at: all_notes.near(at) for at in range(count)}
    many = NearDescriptions(texts, kinds)
    assert {at: many.near(at) for at in range(count)} == found  # the later ones by an index
    for start in range(0, count, FEW_ASKED):  # each by a look at all
        some = NearDescriptions(texts, kinds)
        positions = range(start, min(start + FEW_ASKED, count))
        assert {at: some.near(at) for at in positions} == {at: found[at] for at in positions}
    assert sum(map(bool, found.values())) > count // 10


def test_every_word_is_found_by_its_own_key_and_by_no_other() -> None:
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "mdmemory" / "text" / "languages").glob("*")]
    words = {word for page in pages for word in telling(page.read_text("utf-8"))}
    chosen = random.Random(1).sample(sorted(words), 1_500)
    for word in {*telling(" ".join(WORDS)), *chosen}:
        own = key(word) if word < "\u3000" else word
        assert WantedKeys({own}).key(word) == own, word
        assert WantedKeys({"another", "qqqq"}).key(word) in (None, "another")
