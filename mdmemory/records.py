"""Dataclasses for modules that many commands load.

To load Python's own, and to make a class by it, takes as long as a command does. A class made here
behaves as one of those, and is one to whoever asks `dataclasses`.
"""

from __future__ import annotations

from operator import attrgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import asdict as asdict
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
    from typing import Any

_NONE: Any = type("_None", (), {"__repr__": lambda _: "<made anew>"})()  # no default; a made one
_OWN = "__mdmemory_fields__"


class _Field:
    """What is known of a field: its default or what makes it, and whether `repr` shows it."""

    __slots__ = ("default", "factory", "shown")

    def __init__(self, default: Any = _NONE, factory: Any = _NONE, shown: bool = True) -> None:
        self.default, self.factory, self.shown = default, factory, shown


if not TYPE_CHECKING:

    def field(*, default=_NONE, default_factory=_NONE, repr=True):
        """As in `dataclasses`, where it takes more."""
        return _Field(default, default_factory, repr)

    def dataclass(cls=None, /, *, frozen=False, slots=False):
        """As in `dataclasses`, where it takes more."""
        if cls is None:
            return lambda cls: _made(cls, frozen, slots)
        return _made(cls, frozen, slots)

    def replace(record, /, **changes):
        """The same record with other values."""
        for name in record.__match_args__:
            if name not in changes:
                changes[name] = getattr(record, name)
        return record.__class__(**changes)

    def asdict(record):
        """A record as a dict, and those in its values, too."""
        return {name: _plain(getattr(record, name)) for name in record.__match_args__}


def _plain(value: Any) -> Any:
    # in this order: who asks for the second of a class of ours has it made
    if hasattr(value, _OWN) or hasattr(value, "__dataclass_fields__"):
        return asdict(value)
    if isinstance(value, list | tuple):
        return type(value)(map(_plain, value))
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value


def _made(cls: Any, frozen: bool, slots: bool) -> Any:
    """The class with what a dataclass has. With `slots` it is another one of the same name."""
    fields = _fields(cls)
    names = tuple(fields)
    own = [name for name in cls.__annotations__ if name in fields]
    for name in own:
        if fields[name].default is not _NONE and not slots:
            setattr(cls, name, fields[name].default)
        elif name in cls.__dict__:
            delattr(cls, name)  # no slot may have the name of a value
    if slots:
        cls = _with_slots(cls, own)
    values = _values(names)
    members = {
        "__init__": _init_at_first(cls, fields, frozen),
        "__repr__": _repr(tuple(name for name in names if fields[name].shown)),
        "__eq__": _eq(values),
        "__match_args__": names,
        "__replace__": replace,  # for `copy.replace`
    }
    has_hash = cls.__dict__.get("__hash__") is not None
    if frozen:
        members |= _frozen(cls, frozenset(names))
        if slots:
            members |= {"__getstate__": lambda self: list(values(self)), "__setstate__": _restore}
    for name, member in members.items():
        if name not in cls.__dict__:
            setattr(cls, name, member)
    if not has_hash:
        cls.__hash__ = (lambda self: hash(values(self))) if frozen else None
    setattr(cls, _OWN, (fields, frozen))
    for about in ("__dataclass_fields__", "__dataclass_params__"):
        setattr(cls, about, _Standard(about))
    return cls


def _fields(cls: Any) -> dict[str, _Field]:
    """The fields by name: those of the classes above come first."""
    found: dict[str, _Field] = {}
    for above in cls.__mro__[-1:0:-1]:
        found |= above.__dict__.get(_OWN, ({}, False))[0]
    for name in cls.__annotations__:
        given = cls.__dict__.get(name, _NONE)
        found[name] = given if isinstance(given, _Field) else _Field(given)
        if found[name].default.__class__.__hash__ is None:
            raise ValueError(f"{cls.__name__}.{name}: all records would share this default.")
    return found


def _with_slots(cls: Any, names: list[str]) -> Any:
    members = {
        name: member
        for name, member in cls.__dict__.items()
        if name not in ("__dict__", "__weakref__")
    }
    fresh = type(cls)(cls.__name__, cls.__bases__, members | {"__slots__": tuple(names)})
    fresh.__qualname__ = cls.__qualname__
    return fresh


def _init_at_first(cls: Any, fields: dict[str, _Field], frozen: bool) -> Any:
    """`__init__`, which is made when it is first called: a command makes records of few of the
    classes that it loads, and to make it takes longer than all else of a class."""

    def __init__(self: Any, *values: Any, **named: Any) -> None:
        cls.__init__ = _init(cls, fields, frozen)
        cls.__init__(self, *values, **named)

    return __init__


def _init(cls: Any, fields: dict[str, _Field], frozen: bool) -> Any:
    """`__init__`, written out: nothing else is as quick, and notes are made by the thousand."""
    scope = {"_set": object.__setattr__, "_NONE": _NONE}
    words, lines = ["self"], []
    for name, about in fields.items():
        value = name
        if about.factory is not _NONE:
            scope[f"_made_{name}"] = about.factory
            value = f"_made_{name}() if {name} is _NONE else {name}"
            words.append(f"{name}=_NONE")
        elif about.default is not _NONE:
            scope[f"_default_{name}"] = about.default
            words.append(f"{name}=_default_{name}")
        else:
            words.append(name)
        lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    body = "\n ".join(lines or ["pass"])
    exec(f"def __init__({', '.join(words)}):\n {body}", scope)
    init: Any = scope["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


def _values(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """What gives the values of a record."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda record: tuple(getattr(record, name) for name in names)


def _repr(names: tuple[str, ...]) -> Any:
    def __repr__(self: Any) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({shown})"

    return __repr__


def _eq(values: Callable[[Any], tuple[Any, ...]]) -> Any:
    def __eq__(self: Any, other: object) -> bool:
        if other.__class__ is self.__class__:
            return values(self) == values(other)
        return NotImplemented

    return __eq__


def _frozen(cls: Any, names: frozenset[str]) -> dict[str, Any]:
    """What keeps a record as it was made."""

    def refuse(self: Any, name: str, how: str) -> None:
        if type(self) is cls or name in names:
            from dataclasses import FrozenInstanceError  # only where somebody tries

            raise FrozenInstanceError(f"cannot {how} field {name!r}")

    def __setattr__(self: Any, name: str, value: object) -> None:
        refuse(self, name, "assign to")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        refuse(self, name, "delete")
        super(cls, self).__delattr__(name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


def _restore(self: Any, values: list[Any]) -> None:
    for name, value in zip(self.__match_args__, values, strict=True):
        object.__setattr__(self, name, value)


class _Standard:
    """What `dataclasses` wants to know of a class, made when it first asks."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, _: object, cls: Any) -> Any:
        import dataclasses

        cls = next(each for each in cls.__mro__ if _OWN in each.__dict__)
        fields, frozen = cls.__dict__[_OWN]
        rows = []
        for name, about in fields.items():
            how: dict[str, Any] = {"repr": about.shown}
            how |= {} if about.default is _NONE else {"default": about.default}
            how |= {} if about.factory is _NONE else {"default_factory": about.factory}
            rows.append((name, _annotation(cls, name), dataclasses.field(**how)))
        twin = dataclasses.make_dataclass(cls.__name__, rows, frozen=frozen)
        for each in ("__dataclass_fields__", "__dataclass_params__"):
            setattr(cls, each, getattr(twin, each))
        return getattr(cls, self.name)


def _annotation(cls: Any, name: str) -> Any:
    return next(c.__annotations__[name] for c in cls.__mro__ if name in c.__annotations__)
