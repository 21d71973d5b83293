"""Tokens that the models of a run used, by model and node, and their price where the host knows it.

total_usage(records, price)    ->  (ModelUsage(model="openai/gpt-5", calls=2, …, cost=Decimal("0.01"),
                                               nodes=(NodeUsage(node="outer/ask", calls=2, …),)),)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import Any, Protocol, TypeAlias, TypedDict

from pydantic import JsonValue

from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.effect import Usage

Price: TypeAlias = "Callable[[str, Usage], Decimal | float | int | None] | None"
"""Money for what a model, `openai/gpt-5`, used up; None: not known."""


class _Counts(TypedDict):
    calls: int
    input_tokens: int
    output_tokens: int


class _Made(Protocol):
    """A call of a run, as the store keeps it."""

    @property
    def kind(self) -> str: ...
    @property
    def capability(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def usage(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeUsage:
    """The answers of one model to one node, in all its visits."""

    node: str
    """Its path: the nodes around it, then its own id."""
    calls: int
    input_tokens: int
    output_tokens: int
    cost: Decimal | None = None


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
    nodes: tuple[NodeUsage, ...] = ()
    """The same by node, in the order in which they first asked."""

    def to_json(self) -> dict[str, JsonValue]:
        """As JSON; the cost as a text, so that no digit is lost."""
        return {**_to_json(self), "nodes": [_to_json(one) for one in self.nodes]}


def _to_json(one: ModelUsage | NodeUsage) -> dict[str, JsonValue]:
    return {**asdict(one), "cost": None if one.cost is None else str(one.cost)}


def total_usage(made: Iterable[_Made], price: Price = None) -> tuple[ModelUsage, ...]:
    """The totals by model and node, in the order in which the models were first asked.

    Raises: `NotConfigured` where the host's prices fail.
    """
    found: dict[str, dict[str, list[Usage]]] = {}
    for one in made:
        model = _name_model(one)
        if model and one.usage:
            of_nodes = found.setdefault(model, {})
            of_nodes.setdefault(one.path, []).append(_read_usage(one.usage))
    return tuple(_total_model(model, of_nodes, price) for model, of_nodes in found.items())


def _name_model(one: _Made) -> str:
    """The model of a call; of a platform's call the one that the platform asked for it."""
    return one.capability if one.kind == "model" else str(one.usage.get("model") or "")


def _total_model(model: str, of_nodes: Mapping[str, list[Usage]], price: Price) -> ModelUsage:
    used = _add([one for usages in of_nodes.values() for one in usages])
    nodes = []
    for node, usages in of_nodes.items():
        own = _add(usages)
        nodes.append(NodeUsage(node=node, **_count(own), cost=_ask_price(model, own, price)))
    cost = _ask_price(model, used, price)
    return ModelUsage(model=model, **_count(used), cost=cost, nodes=tuple(nodes))


def _count(used: Usage) -> _Counts:
    return _Counts(
        calls=used.calls, input_tokens=used.input_tokens, output_tokens=used.output_tokens
    )


def _read_usage(usage: Mapping[str, Any]) -> Usage:
    return Usage(
        calls=int(usage.get("calls") or 0),
        input_tokens=int(usage.get("input_tokens") or 0),
        output_tokens=int(usage.get("output_tokens") or 0),
    )


def _add(used: Sequence[Usage]) -> Usage:
    return Usage(
        calls=sum(one.calls for one in used),
        input_tokens=sum(one.input_tokens for one in used),
        output_tokens=sum(one.output_tokens for one in used),
    )


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
