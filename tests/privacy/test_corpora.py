"""Corpora that were written apart from the rules: what must be found of each class, what must stay.

Each holds one text a line, with its secrets in pieces: none stands whole in a file. `first` and
`third` are by other people. `sentences` is by who mended the rules, before they were.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from mdmemory.privacy.redaction import redact

CORPORA = ("first", "third", "sentences")
CLASSES = (
    "vendor_token", "assignment", "connection_string", "private_key", "jwt_cookie_basic_auth",
    "label_value", "prose",
)  # fmt: skip
LANGUAGES = ("en", "de", "fr", "es", "pt", "zh", "ja", "ko", "ru", "it")
# The share that may be missed, and of harmless texts the share that may be touched.
MISSED = {"prose": 0.05, "label_value": 0.04}
MISSED_OF_OWN = 0.08
TOUCHED = 0.004


@cache
def outcome(corpus: str) -> tuple[Counter[tuple[str, str]], list[tuple[str, str, str]], list[str]]:
    """How many texts there are by class and language, those with a secret left, and what was
    wrongly taken."""
    counted: Counter[tuple[str, str]] = Counter()
    left, taken = [], []
    file = Path(__file__).with_name(f"{corpus}.jsonl")
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        secrets = ["".join(parts) for parts in row["parts"]]
        shown, kinds = redact(row["text"].format(*secrets))
        if not row["secret"]:
            counted["harmless", ""] += 1
            taken += [shown] if kinds else []
            continue
        counted[row["class"], row["lang"]] += 1
        if any(secret in shown for secret in secrets):
            left.append((row["class"], row["lang"], shown))
    return counted, left, taken


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("kind", CLASSES)
def test_of_every_class_of_secrets_nearly_all_go(kind: str, corpus: str) -> None:
    counted, left, _ = outcome(corpus)
    every = sum(count for (class_, _), count in counted.items() if class_ == kind)
    missed = [shown for class_, _, shown in left if class_ == kind]
    assert every >= 20 or corpus != "first"
    share = MISSED_OF_OWN if corpus == "sentences" else MISSED.get(kind, 0.0)
    assert len(missed) <= share * every, missed


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_said_of_a_secret_goes_in_every_language(language: str, corpus: str) -> None:
    counted, left, _ = outcome(corpus)
    missed = [shown for class_, lang, shown in left if (class_, lang) == ("prose", language)]
    assert len(missed) <= 0.25 * counted["prose", language], missed
    if corpus != "sentences":
        assert len(missed) <= 0.17 * counted["prose", language], missed


@pytest.mark.parametrize("corpus", CORPORA)
def test_nothing_that_only_looks_like_a_secret_goes(corpus: str) -> None:
    counted, _, taken = outcome(corpus)
    assert len(taken) <= TOUCHED * counted["harmless", ""], taken
