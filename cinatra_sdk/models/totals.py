"""What the models of a run used up: tokens by model, and their price where the host knows it.

total_usage(records, price)    ->  (ModelUsage(model="openai/gpt-5", calls=2, …, cost=Decimal("0.01")),)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any, Protocol, TypeAlias

from pydantic import JsonValue

from cinatra_sdk.effects.effect import Usage
from cinatra_sdk.errors import NotConfigured

Price: TypeAlias = "Callable[[str, Usage], Decimal | float | int | None] | None"
"""Money for what a model, `openai/gpt-5`, used up; None: not known."""


class _Made(Protocol):
    """A call of a run, as the store keeps it."""

    @property
    def kind(self) -> str: ...
    @property
    def capability(self) -> str: ...
    @property
    def usage(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUsage:
    """The answers of one model in one run."""

    model: str
    calls: int
    """How often it answered."""
    input_tokens: int
    output_tokens: int
    cost: Decimal | None = None
    """By the host's prices; None where the host has none."""

    def to_json(self) -> dict[str, JsonValue]:
        """As JSON; the cost as a text, so that no digit is lost."""
        return {**asdict(self), "cost": None if self.cost is None else str(self.cost)}


def total_usage(made: Iterable[_Made], price: Price = None) -> tuple[ModelUsage, ...]:
    """The totals by model, in the order in which the models were first asked.

    Raises: `NotConfigured` where the host's prices fail.
    """
    found: dict[str, list[Usage]] = {}
    for one in made:
        if one.kind == "model" and one.usage:
            found.setdefault(one.capability, []).append(_read_usage(one.usage))
    return tuple(_add(model, used, price) for model, used in found.items())


def _read_usage(usage: Mapping[str, Any]) -> Usage:
    names = ("calls", "input_tokens", "output_tokens")
    return Usage(**{name: int(usage.get(name) or 0) for name in names})


def _add(model: str, used: list[Usage], price: Price) -> ModelUsage:
    total = Usage(
        calls=sum(one.calls for one in used),
        input_tokens=sum(one.input_tokens for one in used),
        output_tokens=sum(one.output_tokens for one in used),
    )
    return ModelUsage(model=model, **asdict(total), cost=_ask_price(model, total, price))


def _ask_price(model: str, used: Usage, price: Price) -> Decimal | None:
    if price is None:
        return None
    problem = ""
    try:
        cost = price(model, used)
        return None if cost is None else Decimal(str(cost))
    except Exception as error:  # noqa: BLE001 - the host's own code
        problem = type(error).__name__
    raise NotConfigured(
        f"the host's price fails with {problem} for the model {model}",
        hint="mend price in its HostParts",
    )
