"""Which statements of a run wait for the disk: what a person said, a send, a call at most once, an end.

All others are on the disk with the next that waits; a database that crashes before that loses work
that is done again under the same keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from cinatra_sdk import Decision, RunStore, SimulatedPlatform
from cinatra_sdk.postgres import connection as statements
from oas_compiler import compile_flow
from tests.flows import api, end, flow_of, gate, start


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database) as opened:
        yield opened


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> dict[str, bool]:
    """Statement → whether its transaction waits for the disk."""
    found: dict[str, bool] = {}
    carry_out = statements._carry_out

    def look(connection: Any, query: str, parameters: Any, **how: Any) -> Any:
        with connection.transaction():
            cursor = carry_out(connection, query, parameters, **how)
            (row,) = connection.execute("show synchronous_commit").fetchall()
            found[query] = row["synchronous_commit"] == "on"
        return cursor

    monkeypatch.setattr(statements, "_carry_out", look)
    return found


def flow_with(*, risk: str = "read_only", once: bool = False) -> Any:
    call = api("call", risk=risk)
    if once:
        call["metadata"]["cinatra"]["effect"] = "at_most_once"
    flow = flow_of(start(), gate("ok", riskClass=risk), call, end())
    return compile_flow(flow, platform=SimulatedPlatform())


@pytest.mark.parametrize(
    ("flow", "begin", "result"),
    [
        (flow_with(), False, False),
        (flow_with(risk="email_send"), True, False),
        (flow_with(once=True), True, True),
    ],
    ids=["a call", "a send", "a call at most once"],
)
def test_what_a_person_said_and_what_cannot_be_done_again_waits_for_the_disk(
    store: RunStore, waits: dict[str, bool], flow: Any, begin: bool, result: bool
) -> None:
    assert store.start(flow, run_id="r1").status == "waiting"
    assert (waits["insert_run"], waits["claim_run"], waits["end_activation"]) == (
        False,
        False,
        True,
    )
    assert store.answer("r1", "ok", Decision.approve(by="ann")).status == "completed"
    assert (waits["insert_decision"], waits["end_activation"]) == (True, True)
    assert (waits["begin_effect"], waits["end_effect"]) == (begin, result)


def test_a_run_that_is_left_to_another_process_waits_for_the_disk(
    store: RunStore, waits: dict[str, bool]
) -> None:
    store.create(flow_with(), run_id="r1")
    assert waits["insert_run"]


def test_a_flow_that_the_database_lost_is_stored_again(store: RunStore) -> None:
    flow = flow_with()
    store._flows.stored.keep(flow.digest, True)  # as after a crash that lost it
    assert store.start(flow, run_id="r1").status == "waiting"
