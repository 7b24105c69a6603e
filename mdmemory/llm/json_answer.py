"""What was asked for, out of a model's answer, whatever it wrote around it or in what form. Pure.

An object counts where it stands in the answer whole; one that was cut off or damaged is counted as
lost. Of several answers in one the last counts; nothing counts that stands in reasoning.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

from mdmemory.errors import MdmemoryError

MAX_DEPTH = 24  # a plan needs 4, wrapped in a string or two a few more
MAX_STEPS = 100_000  # values, and every 200 characters of a string; a large answer has a tenth
_DEEP = 3  # how often a list may be wrapped in objects, lists and strings
_ALONE = re.compile(r"(?m)^[ \t`]*(?:json)?[ \t]*\[\s*\][ \t`]*$")  # an empty list
_PLACEHOLDER = re.compile(r"\s*<[a-z][^<>\n]{0,60}>\s*")  # as the examples in our prompts have them
_BETWEEN = re.compile(r"(?:[\s,;]++|```\w*)*+")  # of objects that stand one after the other


class Damaged(NamedTuple):
    """A list or an object that is not whole, and what could be read of it. `is_closed`: its end
    was found, but a key stands in it twice, or in something it holds."""

    part: list[Any] | dict[str, Any]
    is_closed: bool = False


_Place = tuple[Any, str]  # a value, and what stands between it and the one before

_NOTHING = object()  # no value begins here

# What reasoning stands in. A closing one without an opening one ends reasoning, too.
_THOUGHT = r"(?:\w{1,12}:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratchpad)"
_OPEN = rf"<{_THOUGHT}>|◁{_THOUGHT}▷|\[THINK\]|<\|channel\|>(?:analysis|commentary)"
_CLOSE = rf"</{_THOUGHT}>|◁/{_THOUGHT}▷|\[/THINK\]|<\|channel\|>final"
_MARK = re.compile(rf"(?P<close>{_CLOSE})|(?P<open>{_OPEN})|[{{\[]", re.IGNORECASE)
_CLOSING = re.compile(_CLOSE, re.IGNORECASE)

_SPACE = re.compile(r"[\s\ufeff\u200b]++|(?://|#)[^\n]*+")
_NEXT = re.compile(r"\}\s*+(?:,\s*+)?(?=\{)")  # from one object of a list to the next
_KEY = re.compile(r"[^\W\d][\w$-]*+")
_NUMBER = re.compile(r"[-+]?\d[\w.:+-]*+")
_WORD = re.compile(r"[A-Za-z]++")
_WORDS: dict[str, Any] = {
    "true": True, "True": True, "false": False, "False": False, "null": None, "None": None,
    "undefined": None, "NaN": float("nan"), "Infinity": float("inf"),
}  # fmt: skip
_STRINGS = {
    first: re.compile(rf"[{first}]((?:[^\\{last}]++|\\.)*+)[{last}]", re.DOTALL)
    for first, last in {
        '"': '"', "'": "'", "“": "“”„", "”": "“”„", "„": "“”„", "‘": "‘’‚", "’": "‘’‚", "‚": "‘’‚",
    }.items()
}  # fmt: skip
_TO_PLAIN = re.compile(r"\\(.)|\"", re.DOTALL)


class NotJson(ValueError):
    """`why` says what is wrong with a text, as half a sentence; of a key that stands twice in one
    object it is `key`."""

    def __init__(self, why: str, key: str | None = None) -> None:
        super().__init__(why)
        self.why, self.key = why, key


def strict(text: str, number: Callable[[str], Any] = str) -> Any:
    """The one value that the whole text is. Raises NotJson where it is not exactly JSON, where a
    key stands twice, or where it is nested too deep. A number is what `number` makes of it."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        for key, value in pairs:
            if key in fields:
                raise NotJson("has a key twice", key)
            fields[key] = value
        return fields

    def refuse(word: str) -> Any:
        raise NotJson(f"holds {word}, which is not JSON")

    try:
        return json.loads(
            text, object_pairs_hook=once, parse_int=number, parse_float=number,
            parse_constant=refuse,
        )  # fmt: skip
    except RecursionError:
        raise NotJson("is nested too deep") from None
    except json.JSONDecodeError as problem:
        raise NotJson(f"is not one JSON object at line {problem.lineno}") from None


def _values(text: str) -> list[_Place]:
    """The lists and objects of a text outside of reasoning, in their order; one that holds others
    stands for them. What can be read of a `Damaged` one is looked at first, then what is in it.
    """
    reader, at, end = _Reader(text), 0, 0
    placed: list[_Place] = []
    while (mark := _MARK.search(text, at)) and reader.steps < MAX_STEPS:
        if mark["close"]:
            placed, at = [], mark.end()
        elif mark["open"]:
            closing = _CLOSING.search(text, mark.end())
            at = closing.end() if closing else len(text)
        else:
            value, at = reader.read(mark.start())
            if _says_something(value):
                placed.append((value, text[end : mark.start()]))
                end = at
            else:
                at = mark.start() + 1
    return placed


def string(text: str) -> str | None:
    """The string that the whole text is, as where JSON was put into JSON; else None."""
    if text[:1] not in _STRINGS:
        return None
    value, end = _Reader(text).read(0)
    return value if end == len(text) and isinstance(value, str) else None


def _says_something(value: Any) -> bool:
    """Whether it holds an object that is whole, or is whole itself; not the "[" of some prose."""
    if not isinstance(value, Damaged):
        return True
    inner = value.part.values() if isinstance(value.part, dict) else value.part
    return any(isinstance(each, dict | list | Damaged) and _says_something(each) for each in inner)


class _Reader:
    """Reads values of one text; a number is its digits, as a string. `steps` is the work done so
    far."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.steps = 0
        self._at = 0
        self._no_next = len(text) + 1  # from here on no further object of a list begins

    def read(self, start: int) -> tuple[Any, int]:
        """The value that begins there, and where it ends."""
        self._at = start
        return self._value(0), max(self._at, start + 1)

    def _value(self, depth: int) -> Any:
        self.steps += 1
        first = self.text[self._at : self._at + 1]
        if depth > MAX_DEPTH or self.steps > MAX_STEPS:
            return _NOTHING
        if first == "{":
            return self._object(depth)
        if first == "[":
            return self._list(depth)
        if first in _STRINGS:
            return self._string(first)
        if number := _NUMBER.match(self.text, self._at):
            self._at = number.end()
            return number[0]
        word = _WORD.match(self.text, self._at)
        if word is None or word[0] not in _WORDS:
            return _NOTHING
        self._at = word.end()
        return _WORDS[word[0]]

    def _object(self, depth: int) -> Any:
        fields: dict[str, Any] = {}
        is_whole = True
        self._at += 1
        while True:
            sign = self._next()
            if sign == "}":
                self._at += 1
                return fields if is_whole else Damaged(fields, is_closed=True)
            if sign == ",":
                self._at += 1
                continue
            key = self._key(sign)
            if key is None or self._next() != ":":
                return Damaged(fields)
            self._at += 1
            self._next()
            value = self._value(depth + 1)
            if value is _NOTHING:
                return Damaged(fields)
            is_whole = is_whole and key not in fields and not isinstance(value, Damaged)
            fields[key] = value if key not in fields else Damaged({}, is_closed=True)
            if _is_open(value) or self._next() not in ("}", ","):
                return Damaged(fields)

    def _key(self, sign: str) -> str | None:
        if sign in _STRINGS:
            value = self._string(sign)
            return value if isinstance(value, str) else None
        bare = _KEY.match(self.text, self._at)
        if bare is None:
            return None
        self._at = bare.end()
        return bare[0]

    def _list(self, depth: int) -> Any:
        items: list[Any] = []
        self._at += 1
        while True:
            sign = self._next()
            if sign == "]":
                self._at += 1
                is_whole = not any(isinstance(each, Damaged) for each in items)
                return items if is_whole else Damaged(items, is_closed=True)
            if sign == ",":
                self._at += 1
                continue
            value = self._value(depth + 1) if sign not in ("", "}") else _NOTHING
            if value is not _NOTHING:
                items.append(value)
            # after an object a comma may be missing, after a string that could be a quote within
            ends = ("]", ",", "{") if isinstance(value, dict) else ("]", ",")
            is_lost = value is _NOTHING or _is_open(value) or self._next() not in ends
            last = items[-1] if items else None
            is_object = isinstance(last.part if isinstance(last, Damaged) else last, dict)
            if is_lost and not (is_object and self._go_on()):
                return Damaged(items)

    def _go_on(self) -> bool:
        """Go to the next object of a list of which one could not be read."""
        may_be = self._at < self._no_next and self.steps <= MAX_STEPS
        following = _NEXT.search(self.text, self._at) if may_be else None
        if following is None:
            self._no_next = min(self._no_next, self._at)
            return False
        self._at = following.end()
        return True

    def _string(self, first: str) -> Any:
        match = _STRINGS[first].match(self.text, self._at)
        self.steps += ((match.end() if match else len(self.text)) - self._at) // 200
        if match is None:
            return _NOTHING
        inner = match[1]
        try:
            plain = inner if first == '"' else _TO_PLAIN.sub(_as_json, inner)
            value = json.loads(f'"{plain}"', strict=False) if "\\" in plain else plain
        except ValueError:
            return _NOTHING
        self._at = match.end()
        return value

    def _next(self) -> str:
        """The sign that follows, behind blanks and comments."""
        before = self._at
        while True:
            if space := _SPACE.match(self.text, self._at):
                self._at = space.end()
            elif self.text.startswith("/*", self._at):
                end = self.text.find("*/", self._at + 2)
                self._at = end + 2 if end >= 0 else len(self.text)
            else:
                self.steps += (self._at - before) // 200
                return self.text[self._at : self._at + 1]


def _as_json(piece: re.Match[str]) -> str:
    """A piece of a string in other quotes as it stands in double ones."""
    if piece[1] is None:
        return '\\"'
    return piece[1] if piece[1] in "'‘’‚“”„" else piece[0]


def _is_open(value: Any) -> bool:
    return isinstance(value, Damaged) and not value.is_closed


class BadAnswer(MdmemoryError):
    """An answer that nothing of what was asked for could be read out of; asking again may help."""

    code = "bad_answer"

    def __init__(self, why: str) -> None:
        self.why = why  # "holds no list of ops"
        super().__init__(
            f"The model's answer {why}; none of it was used.",
            "It is asked again later. If this happens again, choose another model: extract.model "
            "or compact.model in your settings.",
        )


class ObjectsRead(NamedTuple):
    """The objects of a list, each with the fields that were asked for, as far as it has them.

    `lost` counts those that were not whole.
    """

    objects: tuple[dict[str, Any], ...] = ()
    lost: int = 0


def read_list(text: str, key: str, *, fields: Collection[str], mark: str) -> ObjectsRead:
    """The objects under `key`, or of a list that stands alone, is wrapped once more or has another
    name. There an object is known by the field `mark`. Raises BadAnswer. Values are as they came:
    whoever asks checks them with `as_text`, `as_texts` and `as_word`."""
    last = _last(text, key, mark)
    if last is None:
        raise BadAnswer(f"holds no list of {key} that can be read")
    inner = last.part if isinstance(last, Damaged) else last
    named = [_named(each) for each in inner if isinstance(each, dict)]
    good = [each for each in named if each is not None]
    if inner and not good:
        raise BadAnswer(f"holds {key}, and none of them is whole")
    objects = tuple({name: each[name] for name in each if name in fields} for each in good)
    return ObjectsRead(objects, len(inner) - len(good))


def read_object(text: str, names: Collection[str]) -> dict[str, Any]:
    """The object that has one of these fields at least, with those of them that it has. Raises
    BadAnswer."""
    for value, _ in reversed(_places(text, _DEEP)):
        for fields in filter(None, map(_named, _objects(value, _DEEP))):
            if not fields.keys().isdisjoint(names):
                return {name: fields[name] for name in fields if name in names}
    raise BadAnswer("holds no object that can be read")


def as_text(value: Any) -> str | None:
    """A value where text was asked for: "" for none, None where it is no text that can be stored.
    A number is its digits."""
    if value is None:
        return ""
    # it can be written as UTF-8: JSON may carry half a surrogate pair
    is_sound = isinstance(value, str) and not re.search("[\ud800-\udfff\x00]", value)
    return value if is_sound else None


def as_texts(value: Any) -> list[str] | None:
    """A value where a list of texts was asked for: a single one is a list of one."""
    if value is None or value == "":
        return []
    values = value if isinstance(value, list) else [value]
    texts = [text for each in values if each is not None and (text := as_text(each)) is not None]
    return texts if len(texts) == len(values) else None


def as_word(value: Any) -> str | None:
    """A value where one of a few words was asked for, in lower case; None where it is no text."""
    text = as_text(value)
    return text if text is None else text.strip().lower()


def _named(value: dict[str, Any]) -> dict[str, Any] | None:
    """The object with its keys in lower case, and without what is copied from an example; None
    where two of its keys are one then."""
    fields = {key.strip().lower(): _drop_placeholders(each) for key, each in value.items()}
    return fields if len(fields) == len(value) else None


def _drop_placeholders(value: Any) -> Any:
    if isinstance(value, list):
        return [each for each in map(_drop_placeholders, value) if each != ""]
    return "" if isinstance(value, str) and _PLACEHOLDER.fullmatch(value) else value


# --- where the answer stands


def _places(text: str, deep: int) -> list[_Place]:
    """The values of a text, each with what stands before it."""
    text = text.strip(" \t\r\n\ufeff\u200b")
    try:
        value = strict(text)
    except ValueError:
        value = string(text)
    if isinstance(value, str):
        return _places(value, deep - 1) if deep else []
    if value is not None:
        return [(value, "")]
    places = _values(text)
    if not places and deep and text.lstrip("[{ \n")[:2] == '\\"':
        inner = string(f'"{text}"')  # a string of JSON without its own quotes
        return [] if inner is None else _places(inner, deep - 1)
    return places


def _last(text: str, key: str, mark: str) -> Any:
    """The last list of the text that fits, else the last objects that follow one another as one;
    None where there is neither."""
    places = _places(text, _DEEP)
    lists = [_list(value, key, mark, _DEEP) for value, _ in places if value != []]
    if fitting := [each for each in lists if each is not None]:
        return fitting[-1]
    if len(lists) < len(places) and _ALONE.search(text):  # "- [ ] to do" is no answer
        return []
    run: list[Any] = []
    for value, before in places:
        if not _is_marked(value, mark):
            continue
        run = [*run, value] if run and _BETWEEN.fullmatch(before) else [value]
    return run or None


def _list(value: Any, key: str, mark: str, deep: int) -> Any:
    """The list that a value holds: a list, or Damaged with one; None where it holds none."""
    inner = value.part if isinstance(value, Damaged) else value
    if isinstance(inner, str):
        if not deep or inner.lstrip()[:1] not in ("{", "["):
            return None
        lists = [_list(each, key, mark, deep - 1) for each, _ in _places(inner, deep - 1)]
        return next((each for each in reversed(lists) if each is not None), None)
    if isinstance(inner, list):
        if any(_is_marked(each, mark) for each in inner) or value == []:
            return value
        is_wrapped = len(inner) == 1 and inner[0] != [] and deep
        return _list(inner[0], key, mark, deep - 1) if is_wrapped else None
    if not isinstance(inner, dict) or not deep or _is_marked(value, mark):
        return None
    names = {name.strip().lower(): each for name, each in inner.items()}
    for name in (key, key.removesuffix("s")):
        if name in names:
            return _under_its_key(names[name], key, mark, deep)
    for each in inner.values():
        items = _list(each, key, mark, deep - 1) if not isinstance(each, list) or each else None
        if items:
            return items
    is_empty = len(inner) == 1 and [*inner.values()] == [[]] and not isinstance(value, Damaged)
    return [] if is_empty else None


def _under_its_key(value: Any, key: str, mark: str, deep: int) -> Any:
    inner = value.part if isinstance(value, Damaged) else value
    if inner is None or inner == "":
        return []
    if isinstance(inner, list):
        objects = any(isinstance(each, dict | Damaged) for each in inner)
        is_lost = not objects if inner else isinstance(value, Damaged)
        return None if is_lost else value
    return [value] if _is_marked(value, mark) else _list(value, key, mark, deep - 1)


def _is_marked(value: Any, mark: str) -> bool:
    """Whether a value is one of the objects that were asked for, whole or not."""
    inner = value.part if isinstance(value, Damaged) else value
    return isinstance(inner, dict) and any(
        name.strip().lower() == mark and isinstance(each, str) for name, each in inner.items()
    )


def _objects(value: Any, deep: int) -> Iterator[dict[str, Any]]:
    """The whole objects that a value is, or holds, the outer ones first."""
    inner = value.part if isinstance(value, Damaged) else value
    if isinstance(inner, str) and inner.lstrip()[:1] == "{":
        inner = [each for each, _ in reversed(_places(inner, deep - 1))] if deep else []
    elif isinstance(inner, dict):
        if inner is value:
            yield inner
        inner = [*inner.values()]
    for each in inner if isinstance(inner, list) and deep else ():
        yield from _objects(each, deep - 1)
