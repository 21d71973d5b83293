"""What needs a person is one list: gates, calls to settle, failed runs that nobody tries again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cinatra_sdk import Decision, InputInvalid, RunStore
from cinatra_sdk.store.evidence.decision_records import DecisionRecords
from cinatra_sdk.store.health import examine
from oas_compiler import compile_flow
from tests.flows import end, flow_of, gate, port, start, tool

OPEN: Any = "open"
ANN = Decision.approve(by="ann")


def call(effect: str = "") -> Any:
    act = tool("post", "post", [port("x")], [port("y")])
    if effect:
        act.setdefault("metadata", {}).setdefault("cinatra", {})["effect"] = effect
    return act


def flow(*nodes: Any, name: str = "one") -> Any:
    document = flow_of(start(port("x", default="1")), *nodes, end(), edges=EDGES, name=name)
    return compile_flow(document, tools={"post": fail})


EDGES = [("start", "x", "post", "x")]


def fail(x: str) -> str:
    raise RuntimeError("the line went dead")


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database) as opened:
        yield opened


@pytest.fixture
def three(store: RunStore) -> RunStore:
    """A gate, a call of which nobody knows whether it happened, and a failed run."""
    shows = gate("ask", inputs=[port("x")], riskClass="send_external_message")
    asks = compile_flow(
        flow_of(
            start(port("x")), shows, end(), edges=[("start", "x", "ask", "x")], name="Asking Flow"
        )
    )
    store.start(asks, {"x": "Bees in Ägypten"}, "r1", by="ann")
    store.start(flow(call("at_most_once")), run_id="r2", by="ben")
    store.start(flow(call()), run_id="r3", tenant="acme", by="ben")
    return store


def runs(store: RunStore, **wanted: Any) -> list[str]:
    return [need.run_id for need in store.needs(**wanted).items]


def test_gates_calls_and_failed_runs_stand_in_one_list_with_what_answers_them(
    three: RunStore,
) -> None:
    asked, unknown, failed = three.needs().items
    assert [need.kind for need in (asked, unknown, failed)] == ["gate", "call", "failed"]
    shown = three.get("r1").waiting[0].shown[:16]
    assert asked.command == f"oasflow approve r1/ask --shown {shown}"
    assert (asked.flow, asked.started_by) == ("Asking Flow", "ann")
    assert asked.content == "x: Bees in Ägypten"
    (key,) = [one.key for one in three.unknown("r2")]
    settle = f"oasflow settle r2 {key}"
    assert unknown.commands == (
        f'{settle} --happened --value \'{{"…": "…"}}\'',
        f"{settle} --did-not-happen",
    )
    assert (unknown.command, unknown.name) == (unknown.commands[0], key)
    assert unknown.content.startswith("post by post: ")
    assert "the line went dead" in unknown.content
    assert (failed.command, failed.tenant) == ("oasflow resume r3", "acme")
    assert "the line went dead" in failed.content
    assert [need.run_id for need in asyncio.run(three.aneeds()).items] == ["r1", "r2", "r3"]


def test_after_a_resume_a_call_still_says_why_nobody_knows(fresh_database: str) -> None:
    def lose(x: str) -> str:
        raise RuntimeError(f"the line went dead, key sk-{'a' * 30} {'x' * 5_000}")

    made = flow_of(start(port("x", default="1")), call("at_most_once"), end(), edges=EDGES)
    acting = compile_flow(made, tools={"post": lose})
    with RunStore.open(fresh_database) as store:
        first = store.start(acting, run_id="r1")
    with RunStore.open(fresh_database) as store:  # a restart
        again = store.resume("r1", flow=acting)
        (unknown,), (need,) = store.unknown("r1"), store.needs().items
    for told in (str(first.error), str(again.error), unknown.why, need.content):
        assert "the line went dead" in told
        assert "sk-aaaa" not in told
        assert len(told) < 2_000
    assert again.error is not None
    assert "an earlier attempt ended so: " in str(again.error["message"])


def test_what_was_answered_is_needed_no_more(three: RunStore) -> None:
    three.answer("r1", "ask", ANN)
    (unknown,) = three.unknown("r2")
    three.settle("r2", unknown.key, happened=True, value={"y": "1"}, by="ann")
    three.stop("r3", by="ann")
    assert three.needs().items == []


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"kind": "call"}, ["r2"]),
        ({"kind": "failed"}, ["r3"]),
        ({"tenant": "acme"}, ["r3"]),
        ({"run_id": "r2"}, ["r2"]),
        ({"flow": "Asking Flow"}, ["r1"]),
        ({"started_by": "ben"}, ["r2", "r3"]),
        ({"risk": "send_external_message"}, ["r1"]),
        ({"risk": "read_only"}, []),
        ({"step": 1}, ["r1"]),
        ({"step": 2}, []),
        ({"text": "BEES"}, ["r1"]),
        ({"text": "ägypten"}, ["r1"]),
        ({"text": "ÄGYPTEN"}, ["r1"]),
        ({"text": "line went dead"}, ["r2", "r3"]),
        ({"text": "wasps"}, []),
        ({"text": "%"}, []),
    ],
)
def test_a_filter_leaves_what_fits_it(three: RunStore, wanted: Any, found: list[str]) -> None:
    assert runs(three, **wanted) == found
    gates = [one for one in ["r1"] if one in found]
    if "kind" not in wanted:
        assert [one.run_id for one in three.gates(**wanted).items] == gates


def test_pages_follow_each_other_without_a_gap(three: RunStore) -> None:
    seen, after = [], ""
    for _ in range(3):
        page = three.needs(limit=1, after=after)
        seen += [need.kind for need in page.items]
        after = page.next
    assert (seen, after) == (["gate", "call", "failed"], "")
    with pytest.raises(InputInvalid, match="no cursor of this list"):
        three.needs(after=three.gates(limit=1).next or "x")


def test_a_step_that_is_no_number_is_no_filter(store: RunStore) -> None:
    wrong: Any = "1"
    with pytest.raises(InputInvalid, match="'step' is no whole number"):
        store.needs(step=wrong)


def test_one_gate_that_cannot_be_read_hides_nothing_else(three: RunStore) -> None:
    with three.database.connection() as rows:
        rows.execute(
            "insert into gates (run_id, gate_id, payload_sha256, node, visit, step, interrupt, payload,"
            " response_schema) values ('r1', 'broken', 'x', 'n', 1, 1, 'i', '5', '5')"
        )
    page = three.needs()
    assert [need.kind for need in page.items] == ["gate", "call", "failed"]
    assert [one.run_id for one in page.unreadable] == ["r1"]
    assert runs(three, text="bees") == ["r1"]
    assert runs(three, risk="send_external_message") == ["r1"]


def test_the_examination_counts_them_and_finds_something_to_do(
    three: RunStore, fresh_database: str
) -> None:
    found = examine(fresh_database)
    assert (found.gates_total, found.calls_total, found.dead_letters_total) == (1, 1, 1)
    assert [one.run_id for one in found.calls] == ["r2"]
    told = " ".join(found.findings)
    for words in ("1 gate waits", "1 call has to be settled", "1 failed run waits"):
        assert words in told
    others = examine(fresh_database, tenant="acme")
    assert (others.gates_total, others.calls_total, others.dead_letters_total) == (0, 0, 1)


@pytest.mark.parametrize(
    ("door", "told"),
    [
        (lambda s: s.needs(kind="gates"), "'kind' is 'gates'.*did you mean \"gate\".*gate, call, failed"),
        (lambda s: s.needs(kind=""), "'kind' is ''.*one of: gate, call, failed"),
        (lambda s: s.needs(risk="read-only"), "no risk class 'read-only'.*did you mean \"read_only\""),
        (lambda s: s.gates(risk="bogus"), "no risk class 'bogus'.*known are approval"),
        (lambda s: s.list(status="wating"), "'status' is 'wating'.*did you mean \"waiting\""),
        (lambda s: s.page(status="open"), "'status' is 'open'.*running, waiting"),
        (lambda s: asyncio.run(s.alist(status="Failed")), "'status' is 'Failed'"),
        (lambda s: s.effects("r2", status="lost"), "'status' is 'lost'.*begun, done, failed, unknown"),
        (lambda s: DecisionRecords(s.database).page(status=OPEN), "'status' is 'open'.*DECIDED"),
        (lambda s: s.list(status="sk-abcdefghijklmnopqrstuvwxyz"), r"'status' is '\[redacted\]'"),
        (lambda s: s.list(status=7), "'status' is"),
    ],
    ids=["kind", "no kind", "risk", "risk of a gate", "status", "status of a page", "async", "effects",
         "records", "a credential", "no text"],
)  # fmt: skip
def test_a_word_that_no_filter_has_is_refused_with_those_that_it_has(
    three: RunStore, door: Callable[[RunStore], Any], told: str
) -> None:
    with pytest.raises(InputInvalid, match=told):
        door(three)


def test_an_authors_own_risk_class_is_a_word_as_soon_as_anything_has_it(store: RunStore) -> None:
    own = gate("ask", riskClass="invoice_create")
    started = store.start(compile_flow(flow_of(start(), own, end())), run_id="r1")
    assert runs(store, risk="invoice_create") == ["r1"]
    assert runs(store, risk="email_send") == []
    assert store.needs(risk="invoice_create", kind="call").items == []
    store.answer("r1", started.waiting[0].id, ANN)
    assert runs(store, risk="invoice_create") == []
    assert runs(store, kind="gate", tenant="nobody") == []
