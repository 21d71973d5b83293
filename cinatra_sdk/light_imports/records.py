"""Dataclasses whose source is compiled when it is first needed.

`dataclass` means what the standard decorator means: `field`, `fields`, `replace`, `asdict`, `match`, copies,
pickles, and standard dataclasses that inherit from one are as ever.  Type checkers see the standard one.

    from cinatra_sdk.light_imports.records import dataclass

The standard decorator writes up to six methods for every class as source and compiles them at once, and a
process uses a third of our classes: it was half the processor time of importing our modules
(docs/decisions.md, 2026-11-28).  Here `__init__` is compiled when somebody looks it up, and the other methods
need no source of their own.

Not known: `order`, `unsafe_hash`, `init`, `InitVar`, each refused at the class; two values that are one object count as equal, as in
tuples, on every version of Python.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from dataclasses import dataclass as standard_dataclass
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, Final, cast

__all__ = ["dataclass"]

_put: Final = object.__setattr__


class _Unset:
    """The default of an argument whose value a factory makes."""

    def __repr__(self) -> str:
        return "<factory>"


_UNSET: Final = _Unset()


class _WrittenLater:
    """Stands for the `__init__` of a class until it is looked up, by calling the class for instance."""

    __slots__ = ("_cls", "_frozen", "_slots")

    def __init__(self, cls: type[Any], *, frozen: bool, slots: bool) -> None:
        self._cls, self._frozen, self._slots = cls, frozen, slots

    def __get__(self, instance: object, owner: type[Any]) -> Any:
        # Two threads may both write it: the two are the same, and either may stay.
        written = _write_init(self._cls, frozen=self._frozen, slots=self._slots)
        self._cls.__init__ = written
        return written.__get__(instance, owner)


def _write_init(cls: type[Any], *, frozen: bool, slots: bool) -> Any:
    """The function that the standard decorator would have made."""
    members = fields(cls)
    known: dict[str, Any] = {"_put_": _put, "_unset_": _UNSET}
    body = []
    for one in members:
        value = _write_value(one, known, slots=slots)
        if value:
            name = one.name
            body.append(f"_put_(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    given = [one for one in members if one.init]
    by_place = [_write_parameter(one) for one in given if not one.kw_only]
    by_name = [_write_parameter(one) for one in given if one.kw_only]
    parameters = ", ".join(["self", *by_place, *(["*", *by_name] if by_name else [])])
    lines = "\n  ".join(body or ["pass"])
    source = (
        f"def make({', '.join(known)}):\n def __init__({parameters}):\n  {lines}\n return __init__"
    )
    made: dict[str, Any] = {}
    around = getattr(sys.modules.get(cls.__module__), "__dict__", {})
    exec(source, around, made)  # noqa: S102 - nothing but names of attributes of the class
    init = made["make"](**known)
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {**{one.name: one.type for one in given}, "return": None}
    return init


def _write_value(one: Field[Any], known: dict[str, Any], *, slots: bool) -> str:
    """The expression that `__init__` stores; empty: the class has the value, or a later step sets it."""
    if one.default_factory is not MISSING:
        known[f"_{one.name}_made_"] = one.default_factory
        made = f"_{one.name}_made_()"
        return f"{made} if {one.name} is _unset_ else {one.name}" if one.init else made
    if one.default is not MISSING and (one.init or slots):
        known[f"_{one.name}_default_"] = one.default
    if one.init:
        return one.name
    return f"_{one.name}_default_" if slots and one.default is not MISSING else ""


def _write_parameter(one: Field[Any]) -> str:
    if one.default_factory is not MISSING:
        return f"{one.name}=_unset_"
    return one.name if one.default is MISSING else f"{one.name}=_{one.name}_default_"


# --- the methods that need no source --------------------------------------------------------------


def _read_values(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """What reads these attributes of a record, always as a tuple."""
    if not names:
        return lambda record: ()  # noqa: ARG005 - a record without members
    read = attrgetter(*names)
    return read if len(names) > 1 else lambda record: (read(record),)


def _show_members(names: Sequence[str]) -> Callable[[Any], str]:
    @recursive_repr()
    def show(self: Any) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({shown})"

    return show


def _compare_by(names: Sequence[str]) -> Callable[[Any, object], object]:
    values = _read_values(names)

    def equals(self: Any, other: object) -> object:
        if other.__class__ is self.__class__:
            return values(self) == values(other)
        return NotImplemented

    return equals


def _hash_by(names: Sequence[str]) -> Callable[[Any], int]:
    values = _read_values(names)

    def digest(self: Any) -> int:
        return hash(values(self))

    return digest


def _freeze(cls: type[Any]) -> dict[str, Any]:
    names = frozenset(one.name for one in fields(cls))

    def refuse_change(self: Any, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def refuse_removal(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": refuse_change, "__delattr__": refuse_removal}


def _give_state(self: Any) -> list[Any]:
    """For copies and pickles of what has slots and is frozen."""
    return [getattr(self, one.name) for one in fields(self)]


def _take_state(self: Any, state: Sequence[Any]) -> None:
    for one, value in zip(fields(self), state, strict=True):
        _put(self, one.name, value)


# --- the decorator --------------------------------------------------------------------------------


def _refuse_unknown(cls: type[Any], members: Sequence[Field[Any]]) -> None:
    """Raise `TypeError` for what the standard decorator refuses at the class, or what is not known here."""
    defaulted = ""
    for one in members:
        if not one.init or one.kw_only:
            continue
        if one.default is not MISSING or one.default_factory is not MISSING:
            defaulted = one.name
        elif defaulted:
            raise TypeError(
                f"{cls.__qualname__}: non-default argument {one.name!r} follows default argument "
                f"{defaulted!r}"
            )
    every = vars(cls)["__dataclass_fields__"].values()
    if any(str(getattr(one, "_field_type", "")) == "_FIELD_INITVAR" for one in every):
        raise TypeError(
            f"{cls.__qualname__}: InitVar is not known here: use the standard decorator"
        )


def _make(
    cls: type[Any], *, frozen: bool, slots: bool, kw_only: bool, eq: bool, shown: bool
) -> type[Any]:
    own = vars(cls)
    written = {"__setattr__", "__delattr__"} & set(own)
    if frozen and written:
        raise TypeError(f"cannot overwrite attribute {min(written)} in class {cls.__qualname__}")
    hashes = "__hash__" in own and not (own["__hash__"] is None and "__eq__" in own)
    kept = {name for name in own if name != "__hash__"} | ({"__hash__"} if hashes else set())
    if cls.__doc__ is None:
        cls.__doc__ = cls.__name__  # else the standard decorator asks for the signature
    # A class that inherits from a frozen one has to be made as frozen; the standard decorator sees to it.
    inherits = any(hasattr(base, "__dataclass_params__") for base in cls.__mro__[1:])
    decorate = standard_dataclass(
        init=False, repr=False, eq=False, frozen=frozen and inherits, slots=slots, kw_only=kw_only
    )
    made: Any = decorate(cls)
    members = fields(made)
    _refuse_unknown(made, members)
    compared = [one.name for one in members if one.compare]
    methods: dict[str, Any] = {"__init__": _WrittenLater(made, frozen=frozen, slots=slots)}
    if shown:
        methods["__repr__"] = _show_members([one.name for one in members if one.repr])
    if eq:
        methods["__eq__"] = _compare_by(compared)
        hashed = [one.name for one in members if (one.compare if one.hash is None else one.hash)]
        methods["__hash__"] = _hash_by(hashed) if frozen else None
    if frozen:
        methods |= _freeze(made)
        methods |= {"__getstate__": _give_state, "__setstate__": _take_state} if slots else {}
    for name, method in methods.items():
        if name not in kept:
            setattr(made, name, method)
    said = made.__dataclass_params__
    said.init, said.repr, said.eq, said.frozen = True, shown, eq, frozen
    return cast("type[Any]", made)


def _decorate(
    cls: type[Any] | None = None,
    /,
    *,
    frozen: bool = False,
    slots: bool = False,
    kw_only: bool = False,
    eq: bool = True,
    repr: bool = True,  # noqa: A002 - as the standard decorator calls it
) -> Any:
    def decorate(cls: type[Any]) -> type[Any]:
        return _make(cls, frozen=frozen, slots=slots, kw_only=kw_only, eq=eq, shown=repr)

    return decorate if cls is None else decorate(cls)


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _decorate
