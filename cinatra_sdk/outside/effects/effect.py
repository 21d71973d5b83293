"""An effect: the call that a node is about to make outside of its run; and its result.

Effect(kind="http", capability="POST {{CINATRA_BASE_URL}}/api/mail", node="send",
       path="outer/send", arguments={"url": …, "body": {…}}, key="9f…")
"""

from __future__ import annotations

import hashlib
import json
import math
from asyncio import CancelledError
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, field
from typing import Any, Final, Literal, TypeAlias

from pydantic import JsonValue

from cinatra_sdk.errors import ChildWaits, RunBusy, StoreUnreachable
from cinatra_sdk.governed.secret_values import cut_out, redact
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.recorded_errors import record_error
from cinatra_sdk.outside.http_calls.protocol import (
    PlatformError,
    PlatformRefused,
    PlatformResponseError,
    PlatformUnreachable,
)

EffectKind: TypeAlias = Literal["http", "tool", "model", "mcp", "a2a"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One effect of one visit of a node.  Holds no secret but in `secrets`, which never print.

    Raises: `ValueError` without a key.
    """

    kind: EffectKind
    capability: str
    """What is used: method and url without its query, the name of a tool, or `provider/model`."""
    node: str
    """The node's own id: errors name it."""
    path: str
    """The node with the FlowNodes around it, `outer/inner/node`."""
    place: str = ""
    """The node as events name it, with the visits and items around it: `outer#2/each[3]/send`."""
    visit: int = 1
    """How often the node was reached, from 1; unchanged when the effect is tried again."""
    item: int | None = None
    """The element of a map that the node works on, from 0; None outside of maps."""
    arguments: JsonValue = field(default=None, repr=False)
    """What is sent, with names of placeholders in place of their values."""
    risk: str = ""
    """The risk class that the author gave."""
    key: str
    """Names the effect for good: the same after a crash, never used for another effect."""
    shown_sha256: str = ""
    """Hash of what a person approved, where a person approved it; must be `request_sha256`."""
    once: bool = False
    """At most once: an effect that may have happened is never tried again.  Needs a ledger."""
    run_id: str = ""
    simulated: bool = field(default=False, compare=False)
    """Whether nobody is called: a simulation answers."""
    governed: JsonValue = field(default=None, repr=False, compare=False)
    """What the rules of a governed run say of it, for its record; None: no rules govern it."""
    secrets: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """Cut out of arguments, results and errors before anything is stored or told."""

    def __post_init__(self) -> None:
        if not self.key:
            raise ValueError(f"the effect of node '{self.node}' needs a key")
        object.__setattr__(self, "capability", redact(self.capability, self.secrets))
        object.__setattr__(self, "arguments", cut_out(self.arguments, self.secrets))

    @property
    def request_sha256(self) -> str:
        """Hash of `arguments` as canonical JSON."""
        return hash_json(self.arguments)


MOST_USED: Final = 2**53 - 1
LONGEST_MODEL: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Calls and tokens that an effect used, as far as they are known."""

    calls: int = 1
    input_tokens: int = 0
    output_tokens: int = 0
    model: str = ""
    """`provider/model` that a platform asked for the effect; empty where the capability names it, or
    no model was asked.
    """

    def to_json(self) -> dict[str, JsonValue]:
        """As JSON, which `read_usage` reads; without a model where there is none."""
        found: dict[str, JsonValue] = asdict(read_usage(asdict(self)))
        return found if found["model"] else {k: v for k, v in found.items() if k != "model"}


def read_usage(given: Any) -> Usage:
    """What somebody says that an effect used up, whatever it is: a provider's count may be no number, and
    a call that was made is not lost for it.  Counts are whole numbers from 0 to 2**53 - 1; others are 0,
    and what is more is the most.
    """
    told = given if isinstance(given, Mapping) else {}
    counts = {name: _read_count(told.get(name)) for name in ("input_tokens", "output_tokens")}
    model = told.get("model")
    return Usage(
        calls=_read_count(told.get("calls", 1)),
        model=_clean_name(model) if isinstance(model, str) else "",
        **counts,
    )


def _read_count(told: Any) -> int:
    if isinstance(told, bool) or not isinstance(told, (int, float)):
        return 0
    if isinstance(told, float) and not math.isfinite(told):
        return 0
    return max(0, min(int(told), MOST_USED))


def _clean_name(text: str) -> str:
    """Without NUL and halves of letters, which no database takes."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")[:LONGEST_MODEL]


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectResult:
    """What came of an effect."""

    value: JsonValue
    usage: Usage = Usage()
    artifacts: tuple[JsonValue, ...] = ()
    """References to what the effect made elsewhere."""
    status: Literal["done", "replayed"] = "done"
    """`replayed`: read from the ledger, and nothing was called."""


def hash_json(value: JsonValue) -> str:
    """SHA-256 of a JSON value, whatever the order of its members."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def key_at(key: str, index: int) -> str:
    """The key of the effect number `index` of a node that has several; the first has `key` itself."""
    return key if index == 0 else hashlib.sha256(f"{key}\n{index}".encode()).hexdigest()


# ----------------------------------------------------------------------------
# What an error says about an effect: whether a later try may help, and whether it may have happened.
#
# the database cannot be reached           transient, not reached
# PlatformUnreachable (no connection)      transient, not reached
# PlatformUnreachable (timeout)            transient, may have happened
# 429, 5xx                                 transient; a 5xx may have happened
# 400, 404, 422                            permanent: the receiver says that it did nothing
# an exception of a tool                   permanent, may have happened


FailureKind: TypeAlias = Literal["transient", "permanent"]
_LONGEST: Final = 500
"""Characters of an error's text that are kept."""
_NOT_NOW: Final = frozenset({408, 425, 429})
"""Statuses below 500 by which a server asks for a later try."""
_UNDECIDED: Final = frozenset({408, 409, 425})
"""Statuses below 500 that do not tell whether this request, or an earlier one with its key, took effect."""


class NotMade(Exception):
    """The request was surely not made; an error that comes from this one is no unknown outcome."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectFailure:
    """Why an effect has no result; the text is safe to store."""

    kind: FailureKind
    code: str
    message: str
    reached: bool
    """Whether the effect may have happened all the same."""
    usage: Usage | None = None
    """What it used up all the same; None: nothing that anybody knows of."""
    raised: Mapping[str, JsonValue] = field(default_factory=dict)
    """The error itself (`recorded_errors`), for a run that is carried out again from its evidence."""


def read_failure(error: BaseException, secrets: Iterable[str]) -> EffectFailure:
    """The record of `error`, which a call raised.

    An error that was raised from another error (`raise … from`) has the kind of that other error.
    """
    known = tuple(secrets)
    used = getattr(error, "used", None)
    return EffectFailure(
        kind=kind_of(error),
        code=redact(str(getattr(error, "code", "") or type(error).__name__), known)[:100],
        message=redact(_format_text(error), known).replace("\x00", "")[:_LONGEST],
        reached=all(_may_have_reached(one) for one in walk_causes(error)),
        usage=used if isinstance(used, Usage) else None,
        raised=record_error(error, known),
    )


def surely_refused(status: int) -> bool:
    """Whether an answer with the status says that the request which it answers did nothing."""
    return 400 <= status < 500 and status not in _UNDECIDED


def kind_of(error: BaseException) -> FailureKind:
    """`transient` where a later try may help."""
    return "transient" if any(_is_transient(one) for one in walk_causes(error)) else "permanent"


TRANSIENT_ERRORS: Final[tuple[type[BaseException], ...]] = (
    PlatformUnreachable, StoreUnreachable, RunBusy, ChildWaits, TimeoutError, ConnectionError,
    CancelledError,
)  # fmt: skip
"""With which a later try may help, and with the classes derived from them; beside answers of a platform whose
status is 408, 425, 429 or 5xx.
"""


def _is_transient(error: BaseException) -> bool:
    if isinstance(error, PlatformResponseError):
        return error.status is not None and (error.status in _NOT_NOW or error.status >= 500)
    return isinstance(error, TRANSIENT_ERRORS)


def _may_have_reached(error: BaseException) -> bool:
    if isinstance(error, (PlatformRefused, NotMade, ChildWaits)):
        return False
    if isinstance(error, PlatformResponseError) and error.status is not None:
        return not surely_refused(error.status)
    return not (isinstance(error, PlatformError) and error.unsent)


def walk_causes(error: BaseException) -> Iterator[BaseException]:
    """The error and those that it was made from."""
    seen: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in seen:
        seen.append(one)
        yield one
        one = one.__cause__


def list_classes(error: BaseException) -> list[type[BaseException]]:
    """The classes of the error and of those that it was made from, also of one that a node made of them
    without what they say (`NodeFailed.made_from`).
    """
    found: list[type[BaseException]] = []
    for one in walk_causes(error):
        found += type(one), *getattr(one, "made_from", ())
    return found


def _format_text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a stranger's __str__ may do anything
        return ""
