"""A call that is confirmed inside of a map and of a subflow: each item asks for itself."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk import Decision
from cinatra_sdk.testing import drive
from oas_compiler import Flow, compile_flow
from tests.flow.containers import around, mapped
from tests.flows import end, flow_node, flow_of, port, start, tool


def sending(sent: list[str], kind: str, *, deep: bool = False) -> Flow:
    """around → each → item: mail (confirmed); `deep` puts the item's call into a subflow of its own."""
    asking = tool("mail", "send", [port("x")], [port("y")])
    asking["tool"]["requires_confirmation"] = True
    item = flow_of(
        start(port("x")), asking, end(port("y")), id_="item",
        edges=[("start", "x", "mail", "x"), ("mail", "y", "end", "y")],
    )  # fmt: skip
    if deep:
        outer = flow_node("sub", item)
        item = flow_of(
            start(port("x")), outer, end(port("y")), id_="deep",
            edges=[("start", "x", "sub", "x"), ("sub", "y", "end", "y")],
        )  # fmt: skip

    def send(x: str) -> str:
        sent.append(x)
        return f"sent {x}"

    return compile_flow(around(mapped(item, kind=kind)), tools={"send": send})


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("kind", ["MapNode", "ParallelMapNode"])
def test_each_item_is_confirmed_or_denied_by_itself(kind: str, deep: bool) -> None:
    sent: list[str] = []

    def decide(gate: Any) -> Any:
        if "[1]" in gate.id:
            return Decision.deny(by="ann", reason="not this one")
        return Decision.approve(by="ann")

    result = drive(sending(sent, kind, deep=deep), answers=decide)
    assert result.status == "completed"
    mail = "sub/mail" if deep else "mail"
    assert sorted(gate.id for gate in result.gates) == [f"each[{n}]/{mail}" for n in range(3)]
    assert sorted(sent) == ["0", "2"]
    assert result.outputs is not None
    (told,) = result.outputs.values()
    assert told == ["sent 0", "[Denied by operator] not this one", "sent 2"]


@pytest.mark.parametrize("kind", ["MapNode", "ParallelMapNode"])
def test_a_rejected_item_ends_the_run_and_no_open_call_is_made(kind: str) -> None:
    sent: list[str] = []
    result = drive(sending(sent, kind), answers=lambda gate: "[0]" in gate.id)
    assert result.status == "rejected"
    assert len(sent) <= 1


def test_a_call_in_a_subflow_is_shown_by_its_path() -> None:
    sent: list[str] = []
    result = drive(sending(sent, "MapNode", deep=True))
    assert (result.status, sent) == ("waiting", [])
    assert result.gates[0].values["call"] == "send"
