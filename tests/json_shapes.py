"""The shapes of JSON that scripts may rely on: those of the examples in docs/answers.json."""

import json
from pathlib import Path
from typing import Any

SHOWN: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "docs/answers.json").read_text(encoding="utf-8")
)
AGAIN = ["..."]


def fits(name: str, real: Any) -> Any:
    """The answer itself, which has exactly the keys and types of the example of this name."""
    alike(SHOWN[name], real, name)
    return real


def alike(shown: Any, real: Any, where: str) -> None:
    """The same keys all the way down. An op's own keys depend on what it does, and `{}` stands for
    counts by any names."""
    if shown == {}:
        assert all(type(count) is int for count in real.values()), where
    elif isinstance(real, dict) and isinstance(shown, dict):
        assert ("op" in shown and "op" in real) or set(shown) == set(real), where
        for number, key in enumerate(shown):
            if shown[key] == AGAIN:
                before = {*list(shown)[:number], "layer"}
                assert [set(row) for row in real[key]] == [before] * len(real[key]), where
            elif key in real:
                alike(shown[key], real[key], f"{where}.{key}")
    elif isinstance(real, list):
        assert isinstance(shown, list), where
        for number, row in enumerate(real if shown else ()):
            # a note's head is its own: that of the first one is as shown
            mine = {"head": shown[0]["head"]} if number and "head" in shown[0] else {}
            alike(shown[0], {**row, **mine} if mine else row, f"{where}[]")
    elif shown is not None and real is not None:
        assert type(shown) is type(real), where
