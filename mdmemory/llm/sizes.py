"""How long a question to a model may be: what a text costs in tokens, what a model's window holds.

No tokenizer is asked: each model has its own, and a window that is found too small halves the
question anyway. The estimate is near the tokenizers that cut finest.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from mdmemory.llm.answer import Asking, Model, ModelFailed, Schema, in_words

UNBOUNDED = 10**9  # tokens of a window that nobody knows
LEAST = 1_000  # tokens; no server is believed that has less
FRAME = 60  # tokens that a chat puts around its two messages
MAX_ANSWER = 16_000  # tokens: most servers refuse to be asked for more
THOUGHT = 8_000  # tokens that a model may think before it answers; they count as its answer

# Hundredths of a token, from the counts of o200k, cl100k and Mistral's v3 tokenizer over this
# repository's code, docs, sessions and word lists and prose in 14 languages: 0.95 to 1.3 times the
# largest of the three counts (a hash or base64: 0.7), and up to 1.4 times the smallest in English.
_PIECES = re.compile(
    r"[A-Za-z]+|[0-9]|[\u0080-\u052f]|[\u0530-\u2fff]|[\u3000-\uffff]|[\U00010000-\U0010ffff]"
    r"|[^\sA-Za-z0-9]|[\n\t]| {2,}"
)
_WORD, _LONG_WORD, _LETTER, _LETTER_OF_CODE = 115, 150, 23, 80
_DIGIT, _SIGN, _ACCENTED, _OTHER, _WIDE, _PICTURE = 115, 86, 92, 132, 138, 400
_WORDS = re.compile(r"[^\W\d_\u3000-\uffff]+")  # no tokenizer puts two of them into one token
_CUT_AT = 1_024  # windows that are set by hand are multiples of it


def tokens(text: str) -> int:
    """About how many tokens a text is, rather too many than too few: in English prose and code a
    token is 3 to 3.5 characters by this count, in Chinese 0.7."""
    hundredths = sum(_weight(piece) for piece in _PIECES.findall(text))
    return -(-hundredths // 100)


def was_cut(system: str, user: str, count: int, window: int = 0) -> bool:
    """Whether a server that `count` of so many input tokens read only a part of these texts.

    Some cut what is too long for them and say nothing. A count under 2,048, the smallest window in
    use, is not believed: it is of something else, as of what was not in a cache. By chance a count
    can be that of a full window: where the `window` is known (0: it is not), only that one counts.
    """
    if count < 2 * _CUT_AT:
        return False
    wide = sum("\u3000" <= char <= "\uffff" for char in user)
    fewest = len(_WORDS.findall(user)) * 9 // 10 + wide // 3
    is_full = (count + 1) % _CUT_AT <= 1 and count + 1 >= window
    return count < fewest or (is_full and count < tokens(system) + tokens(user))


def _weight(piece: str) -> int:
    first, length = piece[0], len(piece)
    if "A" <= first <= "z" and piece.isalpha():
        if length > 16:
            return _LETTER_OF_CODE * length  # a key, a hash: no tokenizer knows it
        return _WORD if length <= 4 else _LONG_WORD if length <= 7 else _LETTER * length
    if first.isascii():
        return _DIGIT if first.isdigit() else _SIGN
    if first < "\u0530":
        return _ACCENTED
    return _OTHER if first < "\u3000" else _WIDE if first < "\U00010000" else _PICTURE


class Room(NamedTuple):
    """The `tokens` that the text of one question may have; UNBOUNDED where the model's window is
    not known, 0 or less where the window holds no more than the system text."""

    tokens: int

    def less(self, used: int) -> Room:
        """The room that is left where `used` tokens are used for something else."""
        return self if self.tokens >= UNBOUNDED else Room(self.tokens - used)

    def characters(self, most: int, like: str = "") -> int:
        """How many characters the question may have: at most `most`, and 0 where none fit.

        `like` is text of the kind that it will hold, for what its script costs (else English).
        """
        if self.tokens >= UNBOUNDED:
            return most
        per_token = len(like) / tokens(like) if like.strip() else 3.0
        return max(0, min(most, int(self.tokens * per_token)))

    def measure(self, most: int) -> Callable[[str], int]:
        """What a text takes of a question that holds `most`: its characters, or more where its
        tokens are what the question is short of. Texts whose sum is at most `most` fit."""
        if self.tokens >= UNBOUNDED:
            return len
        if self.tokens <= 0:
            return lambda _: most + 1
        return lambda text: max(len(text), -(-tokens(text) * most // self.tokens))


ANYTHING = Room(UNBOUNDED)


def room(asking: Asking, schema: Schema | None = None) -> Room:
    """How much the text of a question to this model may hold, as far as it is known now.

    Taken off the window: the system text, the `schema` in words, and two fifths of what is left
    for the answer. Ask again after a ContextExceeded: more is known then.
    """
    window = context_tokens(asking.model)
    if not window:
        return ANYTHING
    free = window - FRAME - _fixed(asking.system, in_words(schema) if schema else "")
    answer = min(free * 2 // 5, MAX_ANSWER + THOUGHT)
    return Room(free - answer)


@cache
def _fixed(system: str, schema: str) -> int:
    return tokens(system) + tokens(schema)


def no_room(model: Model) -> ModelFailed:
    """The failure where the window holds no question besides the system text."""
    return ModelFailed(
        f"The context of {model.name or model.kind} ({context_tokens(model)} tokens) holds no "
        "question beside the instructions.",
        "Choose a model with a larger one, or set llm.context_tokens to what the server holds.",
        "context",
    )


def context_tokens(model: object) -> int:
    """The tokens that a model's window is known to hold; 0 if that is not known.

    A model need not say: one that a program of the person's hands in may lack the property.
    """
    known = getattr(model, "context_tokens", 0)
    return known if isinstance(known, int) else 0


def answer_tokens(question: int, fixed: int, window: int) -> int:
    """The most tokens an answer may have: a plan repeats at most the notes it was shown, and the
    model may think first. `question` and `fixed` (system text and form) are tokens, as is the
    `window` (0: unknown), which holds all three. At least 1."""
    wanted = min(question + THOUGHT, MAX_ANSWER)
    return max(1, min(wanted, window - FRAME - fixed - question)) if window else wanted
