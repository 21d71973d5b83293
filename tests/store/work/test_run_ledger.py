"""The ledger in Postgres keeps the rules of a ledger, and outlives the process that wrote it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from cinatra_sdk import RunEnded, RunStore
from cinatra_sdk.errors import AnswerInvalid, EffectSettled, FenceLost
from cinatra_sdk.outside.effects.door import Begun, Ledger, Stored, current_key
from cinatra_sdk.outside.effects.effect import EffectResult, Usage
from cinatra_sdk.store.work.run_ledger import RunLedger
from oas_compiler import compile_flow
from tests.effects.ledger_contract import Bench, LedgerContract
from tests.effects.samples import effect, result
from tests.flows import end, flow_of, node, port, start
from tests.store.work.branches import Branches
from tests.warm import FORKED


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database) as opened:
        yield opened


class InPostgres:
    """A run that nobody has worked on."""

    def __init__(self, store: RunStore) -> None:
        self.store = store
        store.create(Branches(("a",)), run_id="r1", tenant="acme")

    def fetch(self, question: Any, *values: Any) -> list[Any]:
        with self.store.database.connection() as rows:
            return rows.execute(question, values).fetchall()

    def activation(self) -> Ledger:
        (row,) = self.fetch(
            "update work set fence = fence + 1, worker = 'w', lease_until = now() + interval '1 minute'"
            " where run_id = 'r1' returning fence"
        )
        return RunLedger(self.store.database, run_id="r1", fence=row["fence"])

    def stored(self) -> str:
        return "".join(
            row["row"] for row in self.fetch("select to_jsonb(e)::text as row from effects e")
        )

    def status(self, key: str) -> str:
        (row,) = self.fetch("select status from effects where key = %s", key)
        return str(row["status"])

    def settle(self, key: str, made: EffectResult | None) -> None:
        value: Any = None if made is None else made.value
        self.store.settle("r1", key, happened=made is not None, value=value, by="ann")


@pytest.fixture
def bench(store: RunStore) -> InPostgres:
    return InPostgres(store)


class TestRunLedger(LedgerContract):
    @pytest.fixture
    def bench(self, store: RunStore) -> Bench:
        return InPostgres(store)


def test_a_row_says_what_was_done_and_nothing_that_was_sent(bench: InPostgres) -> None:
    made = effect(risk="mail_send", visit=3, item=2, place="outer#2/send")
    bench.activation().begin(made)
    (row,) = bench.fetch("select * from effects")
    kept = ("run_id", "tenant", "kind", "capability", "path", "visit", "item", "risk", "attempts")
    assert [row[name] for name in kept] == [
        "r1", "acme", "http", "POST /mail", "outer#2/send", 3, 2, "mail_send", 1,
    ]  # fmt: skip
    assert row["request_sha256"] == made.request_sha256
    assert "ann" not in bench.stored()


@pytest.mark.parametrize(
    "kept",
    [
        '{"input_tokens": 1e400, "model": "a\\u0000b"}', '{"input_tokens": "many", "calls": 1.5}',
        '{"input_tokens": 99999999999999999999999}', "[1]", '"used"', '{"calls": null, "more": {}}',
    ],
)  # fmt: skip
def test_whatever_stands_in_place_of_a_usage_no_result_is_lost(
    bench: InPostgres, owner_database: str, kept: str
) -> None:
    ledger = bench.activation()
    ledger.begin(effect())
    with psycopg.connect(owner_database, autocommit=True) as owner:
        owner.execute("alter table oasflow.effects disable trigger user")
        owner.execute("update oasflow.effects set usage = %s::json", [kept])
        owner.execute("alter table oasflow.effects enable trigger user")
    ledger.finish(effect(), result(1, usage=Usage(calls=1, input_tokens=7)))
    entry = bench.activation().begin(effect())
    assert isinstance(entry, Stored)
    assert replace(entry.result.usage, model="") == Usage(calls=1, input_tokens=7)


def test_nothing_is_begun_once_the_run_has_ended_but_a_result_is_kept(bench: InPostgres) -> None:
    ledger = bench.activation()
    ledger.begin(effect())
    bench.store.stop("r1", by="ann")
    with pytest.raises(RunEnded, match="run 'r1' is stopped"):
        ledger.begin(effect("k2"))
    ledger.finish(effect(), result())
    assert bench.status("k1") == "done"


def test_the_result_of_an_overtaken_worker_is_not_recorded(bench: InPostgres) -> None:
    old = bench.activation()
    old.begin(effect())
    new = bench.activation()
    with pytest.raises(FenceLost, match="another worker goes on with run 'r1'"):
        old.finish(effect(), result({"id": "late"}))
    assert new.begin(effect()) == Begun(attempt=2)
    new.finish(effect(), result({"id": "m-2"}))
    assert "late" not in bench.stored()


def test_a_settlement_is_kept_for_good_with_who_and_why(bench: InPostgres) -> None:
    bench.activation().begin(effect(once=True))
    bench.activation().begin(effect(once=True))
    (unknown,) = bench.store.unknown("r1")
    assert (unknown.key, unknown.capability, unknown.error["code"]) == (
        "k1",
        "POST /mail",
        "cut_off",
    )
    for wrong in ({"by": " "}, {"by": "ann", "value": ["m-1"]}):
        with pytest.raises(AnswerInvalid):
            bench.store.settle("r1", "k1", happened=True, **wrong)
    bench.store.settle("r1", "k1", happened=False, by="ann", reason="not in the outbox")
    with pytest.raises(EffectSettled):
        bench.store.settle("r1", "k1", happened=False, by="bob")
    (row,) = bench.fetch("select * from settlements")
    assert (row["attempts"], row["happened"], row["settled_by"], row["reason"]) == (
        1, False, "ann", "not in the outbox",
    )  # fmt: skip
    assert [event.name for event in bench.store.told("r1")] == ["created", "settled"]


# ------------------------------------------------------------------ a crash after the result


def flow_with(send: Callable[..., Any], *, once: bool = False) -> Any:
    out = port("out")
    described = {
        "component_type": "ServerTool", "id": "t", "name": "send", "description": "",
        "inputs": [], "outputs": [out],
    }  # fmt: skip
    cinatra = {"riskClass": "read_only", **({"effect": "at_most_once"} if once else {})}
    flow = flow_of(
        start(), node("ToolNode", "send", tool=described, cinatra=cinatra), end(out),
        edges=[("send", "out", "end", "out")],
    )  # fmt: skip
    return compile_flow(flow, tools={"send": send})


def receiver(file: str) -> Callable[[], str]:
    """Counts calls by their keys."""

    def send() -> str:
        with Path(file).open("a", encoding="utf-8") as lines:
            lines.write(f"{current_key()}\n")
        return "sent"

    return send


def die_after_the_result(dsn: str, file: str, *, ledger: bool, once: bool, before: bool) -> None:
    """Work on a run until the ledger has the result; no checkpoint has it yet.

    ledger: whether there is one.  before: die before the ledger has the result.
    """
    finish = RunLedger.finish

    def finish_and_die(self: Any, *given: Any) -> None:
        if ledger and not before:
            finish(self, *given)
        os.kill(os.getpid(), signal.SIGKILL)

    RunLedger.finish = finish_and_die  # type: ignore[method-assign]
    if not ledger:
        RunLedger.begin = lambda _self, _effect: Begun()  # type: ignore[method-assign]
    with RunStore.open(dsn) as store:
        store.start(flow_with(receiver(file), once=once), run_id="r1")


def crash(
    dsn: str, file: Path, *, ledger: bool = True, once: bool = False, before: bool = False
) -> None:
    options = {"ledger": ledger, "once": once, "before": before}
    child: Any = FORKED.Process(target=die_after_the_result, args=(dsn, str(file)), kwargs=options)
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL


@pytest.mark.parametrize("ledger", [True, False], ids=["with the ledger", "without, the control"])
def test_a_stored_result_is_not_called_for_again(
    store: RunStore, fresh_database: str, tmp_path: Path, *, ledger: bool
) -> None:
    file = tmp_path / "calls"
    crash(fresh_database, file, ledger=ledger)
    run = store.work("r1", flow=flow_with(receiver(str(file))))
    assert (run.status, run.outputs) == ("completed", {"out": "sent"})
    calls = file.read_text().split()
    assert len(set(calls)) == 1
    assert len(calls) == (1 if ledger else 2)


@pytest.mark.parametrize("happened", [True, False])
def test_a_call_at_most_once_that_was_cut_off_waits_for_a_person(
    store: RunStore, fresh_database: str, tmp_path: Path, *, happened: bool
) -> None:
    file = tmp_path / "calls"
    flow = flow_with(receiver(str(file)), once=True)
    crash(fresh_database, file, once=True, before=True)
    for _ in range(2):  # however often it is worked on
        run = store.work("r1", flow=flow)
        assert (run.status, run.error and run.error["code"]) == ("waiting", "effect_unknown")
    assert len(file.read_text().split()) == 1
    (unknown,) = store.unknown("r1")
    value = {"out": "found"} if happened else None
    settled = store.settle("r1", unknown.key, happened=happened, value=value, by="ann")
    assert (settled.status, settled.error, store.unknown("r1")) == ("running", None, [])
    run = store.work("r1", flow=flow)
    assert run.outputs == {"out": "found" if happened else "sent"}
    assert len(file.read_text().split()) == (1 if happened else 2)


@pytest.mark.parametrize("rebuilt", [False, True], ids=["flow known", "flow rebuilt"])
def test_what_a_person_says_a_call_gave_has_to_fit_the_outputs_of_its_node(
    store: RunStore, fresh_database: str, tmp_path: Path, *, rebuilt: bool
) -> None:
    file = tmp_path / "calls"
    flow = flow_with(receiver(str(file)), once=True)
    crash(fresh_database, file, once=True, before=True)
    store.work("r1", flow=flow)
    (unknown,) = store.unknown("r1")
    events = len(store.told("r1"))
    tools = {"send": receiver(str(file))} if rebuilt else None
    with RunStore.open(fresh_database, tools=tools) as other:
        asked = other if rebuilt else store
        for value, said in (
            ({"out": 5}, "node 'send', output 'out' does not fit: .*'string', got integer"),
            ({}, "lacks the output 'out' of node 'send' .it is of type string"),
            ({"out": "x", "ouut": 1}, "node 'send' has no output 'ouut' .did you mean \"out\""),
        ):
            with pytest.raises(AnswerInvalid, match=said):
                asked.settle("r1", unknown.key, happened=True, value=value, by="ann")
        assert store.unknown("r1") == [unknown]
        assert len(store.told("r1")) == events, "nothing is written"
        asked.settle("r1", unknown.key, happened=True, value={"out": "found"}, by="ann")
    assert store.work("r1", flow=flow).outputs == {"out": "found"}


def test_a_call_of_a_flow_that_cannot_be_read_is_settled_unchecked(
    store: RunStore, fresh_database: str, tmp_path: Path
) -> None:
    file = tmp_path / "calls"
    flow = flow_with(receiver(str(file)), once=True)
    crash(fresh_database, file, once=True, before=True)
    store.work("r1", flow=flow)
    (unknown,) = store.unknown("r1")
    with RunStore.open(fresh_database) as without_tools:
        settled = without_tools.settle(
            "r1", unknown.key, happened=True, value={"out": "found"}, by="ann"
        )
    assert settled.status == "running"


def test_a_value_that_nothing_declares_brings_no_governed_key(
    store: RunStore, fresh_database: str, tmp_path: Path
) -> None:
    file = tmp_path / "calls"
    crash(fresh_database, file, once=True, before=True)
    store.work("r1", flow=flow_with(receiver(str(file)), once=True))
    (unknown,) = store.unknown("r1")
    said: Any = {"out": "found", "approval_policy": {}, "more": [{"rejected_at": ""}]}
    with RunStore.open(fresh_database) as without_tools:
        without_tools.settle("r1", unknown.key, happened=True, value=said, by="ann")
    with store.database.connection() as connection:
        row = connection.execute("select result from effects").fetchone()
    assert row is not None
    assert row["result"]["value"] == {"out": "found", "more": [{}]}
