"""Whether a note states a fact is asked of each note, and answered as by its keys."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from mdmemory.capture.note_text import keys_of_fact, keys_of_text, stating

WORDS = (
    "Uses", "uses", "C++", "c#", "ﬁle", "file", "Straße", "STRASSE", "-1.5", "1.5", "İx", "ı", "S",
    "ſ", "K", "\u212a", "https://Straße.example/A", "https://strasse.example/A", "http://a.b/c?d",
    "HTTP://A.B/c?d", "の", "がが", "e\u0301", "é", "…", "note", "_", "—", "🙂",
)  # fmt: skip
texts = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)


@given(texts, texts, texts)
@example("See https://Straße.example/A file", "file: see https://straße.example/A", "")
@example("ﬁle S", "FILE ſ", "")
@example("", "", "")
def test_it_is_the_answer_of_the_keys(fact: str, description: str, body: str) -> None:
    for keys in (keys_of_fact(fact), keys_of_text(fact, body), keys_of_text(description, fact)):
        expected = bool(keys & keys_of_text(description, body))
        assert stating(keys)(description, body) == expected
