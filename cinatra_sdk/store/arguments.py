"""Checks of the arguments of the store's methods: the name of who acts; ids, tenants, ages, limits."""

from __future__ import annotations

import functools
import inspect
import math
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

from cinatra_sdk.data.text.message_words import did_you_mean
from cinatra_sdk.data.text.person_texts import (
    UNKEEPABLE,
    escape_hidden,
    reason_text,
)
from cinatra_sdk.errors import AnswerInvalid, InputInvalid
from cinatra_sdk.governed.person import Person, PersonRecord
from cinatra_sdk.governed.secret_values import find_secret, redact


def read_actor(by: str | Person) -> str:
    """The name as it is kept; may be empty.

    Raises: `AnswerInvalid` for a name that a gate would refuse, and for one that holds a credential.
    """
    return PersonRecord.of(by).name


def check_reason(reason: str) -> str:
    """The reason as it is kept.

    Raises: `AnswerInvalid` for a reason that no row takes, or that holds a credential.
    """
    said = reason_text(reason)
    if find_secret(said):
        raise AnswerInvalid("the reason holds a credential", hint="leave it out")
    return said


# ----------------------------------------------------------------------------
# Arguments of the store's methods that people and programs hand on: ids, tenants, ages, limits.
#
# check_names(run_id="r1", tenant=None)     taken
# check_names(run_id=b"r1")                 InputInvalid: 'run_id' is a bytes, not a text
# check_kinds(limit="x")                    InputInvalid: 'limit' is a str, not a whole number …
# check_word("kind", "gates", NEED_KINDS)    InputInvalid: 'kind' is 'gates', which is none of its words
#
# A driver's error, or one of Python's own, would name neither the argument nor the rule.  The methods of
# a class under `@check_arguments` are called with arguments of the right kinds only: an argument has the
# same kind in all of them, by its name.


_TOLD: Final = 80
"""Characters of a given word that an error repeats."""
LONGEST: Final = 2_000
"""Characters of an argument; the longest ids are paths of gates."""


def check_names(most: int = LONGEST, /, **names: object) -> None:
    """Refuse arguments that no database takes, and longer ones than `most` characters; None is no
    argument.

    Raises: `InputInvalid`, which names the argument.
    """
    for name, given in names.items():
        problem = _find_problem(given, most)
        if problem:
            raise InputInvalid(f"'{name}' {problem}", hint="give a text as the store lists it")


def _find_problem(given: object, most: int) -> str:
    if given is None:
        return ""
    if not isinstance(given, str):
        return f"is a {type(given).__name__}, not a text"
    if len(given) > most:
        return f"has more than {most:,} characters"
    found = UNKEEPABLE.search(given)
    return f"holds U+{ord(found[0]):04X}, which no database takes" if found else ""


def check_word(name: str, given: str | None, known: Iterable[str]) -> None:
    """Refuse a word of a filter that no item of the list has: an empty page would say that nothing
    fits.  None sets no condition.

    Raises: `InputInvalid`, which names the argument and the words that it takes.
    """
    words = [*known]
    if given is None or given in words:
        return
    check_names(**{name: given})
    nearest = did_you_mean(given, words)
    raise InputInvalid(
        f"'{name}' is '{name_word(given)}', which is none of its words",
        hint=f"{nearest} " * bool(nearest) + f"it is one of: {', '.join(words)}",
    )


def name_word(given: str) -> str:
    """A given word for an error text, without credentials and what nobody sees."""
    return escape_hidden(redact(given)[:_TOLD])


MOST: Final = 2**31 - 1
"""Of a number of rows, runs or threads."""
OLDEST: Final = timedelta(days=1_000_000)
"""The longest age: the database has moments that far back, and not as far as a timedelta goes."""

_Class = TypeVar("_Class", bound=type)


def _is_number(given: object) -> bool:
    """A whole number may be longer than any float, which `isnan` does not take."""
    if isinstance(given, float):
        return not math.isnan(given)
    return isinstance(given, int) and not isinstance(given, bool)


def _is_age(given: object) -> bool:
    return given is None or (isinstance(given, timedelta) and timedelta() <= given <= OLDEST)


def _is_count(given: object, least: int) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and least <= given <= MOST


def _is_flow(given: object) -> bool:
    """As far as a look at it can tell: of a `DurableFlow` some members are costly to make."""
    return not isinstance(given, type) and all(
        callable(getattr(given, name, None)) for name in ("graph", "input", "config")
    )


_COUNT: Final = (
    f"not a whole number from 1 to {MOST:,}",
    "leave it out, or give a number above 0: a page has at least one item",
)
_SECONDS: Final = "not a number of seconds from 0 up", "give a number such as 30.0"
_AGE: Final = "not an age", f"give a timedelta from datetime, from 0 to {OLDEST.days:,} days"
_FLAG: Final = "neither True nor False", "say which"
_FLOW: Final = "not a flow", "compile the file first: compile_flow(…)"

_KINDS: Final[Mapping[str, tuple[Callable[[Any], bool], tuple[str, str]]]] = {
    "limit": (lambda x: x is None or _is_count(x, 1), _COUNT),
    "workers": (lambda x: _is_count(x, 1), _COUNT),
    "wait": (lambda x: _is_number(x) and x >= 0, _SECONDS),
    "watch": (
        lambda x: x is None or (_is_number(x) and 0 < x <= MOST),
        ("not a number of seconds above 0", "leave it out, or give a number such as 5.0"),
    ),
    "grace": (lambda x: _is_number(x) and 0 <= x <= MOST, _SECONDS),
    "lease": (lambda x: _is_number(x) and 0 < x <= MOST, _SECONDS),
    "older_than": (_is_age, _AGE),
    "newer_than": (_is_age, _AGE),
    "deadline": (
        lambda x: x is None or isinstance(x, datetime),
        ("not a moment", "give a datetime with a time zone"),
    ),
    "due": (lambda x: isinstance(x, bool), _FLAG),
    "dry_run": (lambda x: isinstance(x, bool), _FLAG),
    "dead_letters": (lambda x: isinstance(x, bool), _FLAG),
    "follow": (lambda x: isinstance(x, bool), _FLAG),
    "to_act": (lambda x: isinstance(x, bool), _FLAG),
    "to_reject": (lambda x: isinstance(x, bool), _FLAG),
    "transcripts": (lambda x: isinstance(x, bool), _FLAG),
    "promoted": (lambda x: isinstance(x, bool), _FLAG),
    "is_open": (lambda x: isinstance(x, bool), _FLAG),
    "flow": (_is_flow, _FLOW),
    "flow, or none": (lambda x: x is None or _is_flow(x), _FLOW),
    "params": (
        lambda x: x is None or isinstance(x, Mapping),
        ("not an object", "give the inputs by name: {'topic': …}"),
    ),
    "on_event": (
        lambda x: x is None or callable(x), ("not a function", "give a function of one event")
    ),
    "on_swept": (
        lambda x: x is None or callable(x), ("not a function", "give a function of one swept run")
    ),
    "stop": (
        lambda x: x is None or isinstance(x, threading.Event),
        ("not an event", "give a threading.Event"),
    ),
    "credentials_for": (
        lambda x: x is None or callable(x), ("not a function", "give a function of one run")
    ),
    "after": (
        lambda x: _is_count(x, 0),
        ("not the number of an event", "give that of the last one that you have, or 0"),
    ),
    "signer": (
        lambda x: x is None or callable(getattr(x, "sign", None)),
        ("not a signer", "give a Signer of cinatra_sdk.governance"),
    ),
}  # fmt: skip
_TEXTS: Final = frozenset(
    {"run_id", "tenant", "started_by", "status", "risk", "text", "kind", "prefix", "record_id",
     "proposal_id", "session", "parent", "parent_path", "key"}
)  # fmt: skip


def check_kinds(**given: object) -> None:
    """Refuse arguments of another kind than the store's methods take, by their names.

    Raises: `InputInvalid`, which names the argument, what it is, and what to give.
    """
    for name, value in given.items():
        if name in _KINDS:
            takes, (rule, hint) = _KINDS[name]
            if not takes(value):
                known = name.split(",")[0]
                raise InputInvalid(f"'{known}' is {_describe(value)}, {rule}", hint=hint)


def _describe(value: object) -> str:
    """A number or a time as it is, where it is short; of all else the kind."""
    if value is None or isinstance(value, float) or is_short(value):
        return repr(value)
    if isinstance(value, timedelta):
        return str(value)
    return f"a {type(value).__name__}"


def is_short(value: object) -> bool:
    """Whether it is a whole number that a message may quote: Python refuses to write the longest."""
    return isinstance(value, int) and abs(value) < 10**29


def check_arguments(checked: _Class) -> _Class:
    """The class, whose public methods refuse arguments of other kinds (`InputInvalid`)."""
    for name, method in list(vars(checked).items()):
        is_async = inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method)
        if inspect.isfunction(method) and not name.startswith("_") and not is_async:
            setattr(checked, name, _check_first(method))
    return checked


def _check_first(method: Callable[..., Any]) -> Callable[..., Any]:
    names = tuple(inspect.signature(method).parameters)[1:]  # without self
    kinds = {name: _find_kind(method, name) for name in (*names, *_KINDS, *_TEXTS)}

    @functools.wraps(method)
    def checked(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        for name, value in (*zip(names, args, strict=False), *kwargs.items()):
            kind = kinds.get(name)
            if kind == "text":
                check_names(**{name: value})
            elif kind is not None:
                check_kinds(**{kind: value})
        return method(self, *args, **kwargs)

    return checked


def _find_kind(method: Callable[..., Any], name: str) -> str | None:
    """What `check_kinds` calls the argument; `text`; None where the method looks itself."""
    own = inspect.signature(method).parameters.get(name)
    if name == "flow":
        if own is None:
            return "text"  # the name of one, in a filter
        return "flow" if own.default is inspect.Parameter.empty else "flow, or none"
    if name == "after":
        # A number of events; else a cursor, which its list reads.
        return "after" if own is not None and own.default == 0 else None
    if name == "status" and own is None:
        return None  # a filter takes several of them
    if name in _TEXTS:
        return "text"
    return name if name in _KINDS else None
