"""Tokens and cost of a run, by model and by node."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from cinatra_sdk.outside.models.totals import ModelUsage, NodeUsage, total_usage
from oas_compiler.cli.view.tables import usage_table


@dataclass
class Made:
    path: str
    used: tuple[int, int, int]
    kind: str = "model"
    capability: str = "openai/gpt-5"
    usage: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        names = ("calls", "input_tokens", "output_tokens")
        self.usage = dict(zip(names, self.used, strict=True))


MADE = [
    Made("ask", (1, 10, 2)),
    Made("outer/write", (2, 5, 1)),
    Made("ask", (1, 20, 3)),
    Made("ask", (1, 100, 9), capability="ollama/llama"),
    Made("send", (1, 7, 7), kind="http"),
]


def price(_model: str, used: Any) -> Decimal:
    return Decimal("0.1") * used.input_tokens


def test_tokens_are_totalled_by_model_and_within_it_by_node() -> None:
    gpt, llama = total_usage(MADE, price)
    assert gpt == ModelUsage(
        model="openai/gpt-5", calls=4, input_tokens=35, output_tokens=6, cost=Decimal("3.5"),
        nodes=(
            NodeUsage(node="ask", calls=2, input_tokens=30, output_tokens=5, cost=Decimal("3.0")),
            NodeUsage(node="outer/write", calls=2, input_tokens=5, output_tokens=1, cost=Decimal("0.5")),
        ),
    )  # fmt: skip
    assert (llama.input_tokens, [one.node for one in llama.nodes]) == (100, ["ask"])


def test_the_json_has_the_nodes_with_their_costs_as_texts() -> None:
    told = total_usage(MADE, price)[0].to_json()
    assert told["cost"] == "3.5"
    assert told["nodes"][1] == {  # type: ignore[index,call-overload]  # a list of objects
        "node": "outer/write", "calls": 2, "input_tokens": 5, "output_tokens": 1, "cost": "0.5",
    }  # fmt: skip


def test_a_model_that_several_nodes_asked_has_a_row_for_each() -> None:
    rows = usage_table(total_usage(MADE)).rows
    assert [str(row[0]) for row in rows] == [
        "openai/gpt-5", "  ask", "  outer/write", "ollama/llama",
    ]  # fmt: skip
