"""The tokens that a platform used of a language model to answer a call, for the caller.

    with collect_use() as used:
        platform.call(call)          the platform calls tell_use(ModelUse(model="openai/gpt-5", …))
    used.total()                     ModelUse(model="openai/gpt-5", calls=2, …); None: no model was asked

Over HTTP the same goes in the header `X-Oasflow-Usage`, as JSON; a `HttpPlatform` believes the header
of its own base address only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, field
from typing import Final

from cinatra_sdk.light_imports.records import dataclass

USAGE_HEADER: Final = "X-Oasflow-Usage"
_MOST: Final = 10**12
"""More tokens than any call uses: a larger number is a mistake, and would not fit a database."""
_LONGEST_NAME: Final = 200
_MODEL: Final = re.compile(rf"[\x21-\x7e]{{1,{_LONGEST_NAME}}}")
_UNWRITTEN: Final = re.compile(r"[^\x21-\x7e]")
_LONGEST: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUse:
    """The answers of one model."""

    model: str
    """`provider/model`."""
    calls: int = 1
    input_tokens: int = 0
    output_tokens: int = 0

    def write_header(self) -> str:
        """The value of the header; ASCII.  Of the model's name what the form of the header takes."""
        name = _UNWRITTEN.sub("_", self.model)[:_LONGEST_NAME] or "_"
        return json.dumps({**asdict(self), "model": name}, separators=(",", ":"))


@dataclass(slots=True)
class CollectedUse:
    """What was told within one call."""

    told: list[ModelUse] = field(default_factory=list)

    def total(self) -> ModelUse | None:
        """The sum; None where no model was asked.  The names of several models are joined by `+`."""
        if not self.told:
            return None
        return ModelUse(
            model="+".join(dict.fromkeys(one.model for one in self.told)),
            calls=sum(one.calls for one in self.told),
            input_tokens=sum(one.input_tokens for one in self.told),
            output_tokens=sum(one.output_tokens for one in self.told),
        )


_collected: ContextVar[CollectedUse | None] = ContextVar("cinatra_model_use", default=None)


@contextmanager
def collect_use() -> Iterator[CollectedUse]:
    """Within, `tell_use` is heard, also from threads and tasks that are given this context."""
    collected = CollectedUse()
    token = _collected.set(collected)
    try:
        yield collected
    finally:
        _collected.reset(token)


def tell_use(use: ModelUse | None) -> None:
    """Tell whoever made the call; nobody listens outside of `collect_use`."""
    collected = _collected.get()
    if collected is not None and use is not None:
        collected.told.append(use)


def read_use_header(text: str) -> ModelUse | None:
    """The use that a header tells; None for anything that is not of its form."""
    if not text or len(text) > _LONGEST:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or set(found) != {"model", *_COUNTS}:
        return None
    model = found["model"]
    counts = [found[name] for name in _COUNTS]
    if not isinstance(model, str) or _MODEL.fullmatch(model) is None:
        return None
    if not all(type(count) is int and 0 <= count <= _MOST for count in counts):
        return None
    return ModelUse(model=model, **dict(zip(_COUNTS, counts, strict=True)))


_COUNTS: Final = ("calls", "input_tokens", "output_tokens")
