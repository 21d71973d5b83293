"""What is answered at a setup gate is an input of the run: in its record, and for good."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Json

from cinatra_sdk import AnswerInvalid, Decision, Run, RunStore
from cinatra_sdk.contract import SETUP_STEP
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from oas_compiler import compile_flow
from tests.flows import api, end, flow_of, port, start
from tests.store.crasher import crash_at, die_once_recorded
from tests.warm import FORKED

GROUPED = {"site": "@cinatra-ai/agent-builder:grouped-setup-form"}


def asking(**about: Any) -> Any:
    """A flow that asks for a text and for an object, and calls with the text."""
    return flow_of(
        start(
            port("site"), port("style", "object"), port("form", default=""),
            port("secret_id", default=""), required=["site", "style"], hidden=["secret_id"], **about,
        ),
        api("work", inputs=[port("site")], data={"site": "{{ site }}"}, outputs=[port("done")]),
        end(port("site"), port("style", "object"), port("done")),
        edges=[("start", "site", "work", "site"), ("start", "site", "end", "site"),
               ("start", "style", "end", "style"), ("work", "done", "end", "done")],
    )  # fmt: skip


@pytest.fixture
def store(fresh_database: str) -> Any:
    with RunStore.open(fresh_database) as opened:
        yield opened


def begun(store: RunStore, inputs: Any = None, **about: Any) -> Run:
    flow = compile_flow(asking(**about), platform=SimulatedPlatform())
    return store.start(flow, inputs or {}, run_id="r1")


def approve(value: Any) -> Decision:
    return Decision.approve(by="ann", value=value)


def test_the_payload_names_the_field_and_a_form_of_several_names_none(store: RunStore) -> None:
    (single,) = begun(store).waiting
    assert single.step == SETUP_STEP
    assert (single.field, single.payload["fieldName"]) == ("site", "site")
    grouped = compile_flow(asking(inputRenderers=GROUPED), platform=SimulatedPlatform())
    (form,) = store.start(grouped, run_id="r2").waiting
    assert (form.field, "fieldName" in form.payload) == ("", False)


@pytest.mark.parametrize(
    ("site", "style"),
    [
        ("https://a.example", {"tone": "dry"}),
        ({"site": "https://a.example"}, {"style": {"tone": "dry"}}),
        ("https://a.example", {"style": {"tone": "dry", "approval_policy": None}}),
        ("https://a.example", {"tone": "dry", "bearer_token": 1}),
        ("https://a.example", '{"tone": "dry"}'),
    ],
    ids=str,
)
def test_the_bare_value_and_the_object_are_the_same_answer_and_stand_among_the_inputs(
    store: RunStore, fresh_database: str, site: Any, style: Any
) -> None:
    assert begun(store, {"secret_id": "s"}).input == {"secret_id": "s"}
    assert store.answer("r1", "start", approve(site)).input == {
        "secret_id": "s",
        "site": "https://a.example",
    }
    with RunStore.open(fresh_database) as other:  # with nothing but the stored bytes
        run = other.answer("r1", "start#2", approve(style))
    given = {"secret_id": "s", "site": "https://a.example", "style": {"tone": "dry"}}
    assert (run.status, run.input) == ("completed", given)
    assert run.outputs is not None
    assert run.outputs["style"] == {"tone": "dry"}
    assert store.get("r1").input == store.list()[0].input == given
    assert [row["answer"]["value"] for row in store.decisions("r1")] == [
        {"site": "https://a.example"},
        {"style": {"tone": "dry"}},
    ]


def test_a_grouped_form_fills_its_inputs_also_one_that_is_called_form(store: RunStore) -> None:
    begun(store, inputRenderers=GROUPED)
    run = store.answer("r1", "start", approve({"site": "s", "style": {}, "form": "long"}))
    assert (run.status, run.input) == ("completed", {"site": "s", "style": {}, "form": "long"})


def test_an_answer_sets_no_other_input_and_none_is_kept_of_a_refused_or_rejected_one(
    store: RunStore,
) -> None:
    begun(store, inputRenderers=GROUPED)
    with pytest.raises(AnswerInvalid, match=r"gate 'start': .*has a key that is not allowed"):
        store.answer("r1", "start", approve({"site": "s", "style": {}, "secret_id": "mine"}))
    assert store.get("r1").input == {}
    assert store.answer("r1", "start", Decision.reject(by="ann")).input == {}


def test_a_row_that_somebody_wrote_overrides_no_input_and_shows_no_governed_key(
    store: RunStore, fresh_database: str
) -> None:
    begun(store, {"secret_id": "s"})
    forged = {"site": "x", "secret_id": "mine", "approval_policy": {}, "bearer_token": "b"}
    row = """insert into decisions (run_id, gate_id, node, visit, step, kind, answer, decided_by,
        payload_sha256, policy_sha256) values ('r1', %s, 'start', 1, 0, 'approved', %s, 'eve', '', '')"""
    asked = """insert into gates (run_id, gate_id, payload_sha256, node, visit, step, interrupt, payload,
        response_schema) select 'r1', gate_id, '', 'start', 1, 0, 'i', '{}', '{}'
        from (values ('a'), ('b'), ('c')) as of (gate_id)"""
    with psycopg.connect(fresh_database, options="-c search_path=oasflow") as connection:
        connection.execute(asked)
        connection.execute(row, ("a", Json({"approved": True, "value": forged})))
        connection.execute(
            row, ("b", Json({"approved": True, "value": "bare, of a version before"}))
        )
        connection.execute(row, ("c", Json(["no answer"])))
    assert store.get("r1").input == {"secret_id": "s", "site": "x"}


def test_what_is_recorded_fits_the_gate_again_also_at_the_limit_of_its_size(
    store: RunStore,
) -> None:
    begun(store)
    with pytest.raises(AnswerInvalid, match="larger than 65536 bytes"):
        store.answer("r1", "start", approve("x" * (65_536 - 60)))
    assert store.answer("r1", "start", approve("x" * 65_000)).status == "waiting"


def test_a_process_that_dies_between_the_answer_and_the_work_has_kept_the_input(
    store: RunStore, fresh_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(store)
    with RunStore.open(fresh_database) as dying, monkeypatch.context() as patch:
        patch.setattr("cinatra_sdk.store.run_store.activate", _dies)
        with pytest.raises(KeyboardInterrupt):
            dying.answer("r1", "start", approve("https://a.example"))
    _goes_on_after_it(store, fresh_database)


@pytest.mark.long
def test_a_process_that_is_killed_between_the_answer_and_the_work_has_kept_the_input(
    store: RunStore, fresh_database: str
) -> None:
    begun(store)
    child = FORKED.Process(
        target=die_once_recorded, args=(fresh_database, "r1", "start", "https://a.example")
    )
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    _goes_on_after_it(store, fresh_database)


def _dies(*_args: Any, **_more: Any) -> None:
    raise KeyboardInterrupt


def _goes_on_after_it(store: RunStore, fresh_database: str) -> None:
    assert store.get("r1").input == {"site": "https://a.example"}
    with RunStore.open(fresh_database) as other:
        (asked,) = other.resume("r1").waiting
        assert (asked.id, asked.field) == ("start#2", "style")
        run = other.answer("r1", "start#2", approve({}))
    assert (run.status, run.input) == ("completed", {"site": "https://a.example", "style": {}})
    assert [row["gate_id"] for row in store.decisions("r1")] == ["start", "start#2"]


@pytest.mark.long
def test_a_kill_at_every_checkpoint_write_loses_no_input_and_keeps_none_twice(
    fresh_database: str, tmp_path: Path
) -> None:
    file, record = tmp_path / "oas.json", tmp_path / "calls.jsonl"
    file.write_text(json.dumps(asking()))
    points = 0
    for point in range(1, 100):
        run_id = f"r{point}"
        args = (point, fresh_database, str(record), run_id, str(file))
        child = FORKED.Process(target=crash_at, args=args)
        child.start()
        child.join()
        if child.exitcode == 0:
            break
        points += 1
        with RunStore.open(fresh_database, record=record) as other:
            kept = [row["answer"]["value"] for row in other.decisions(run_id)]
            run = other.get(run_id)
            assert run.input == {name: one for value in kept for name, one in value.items()}, point
            run = other.resume(run_id) if run.status != "completed" else run
            while run.waiting:
                gate = run.waiting[0]
                run = other.answer(run_id, gate.id, approve(gate.example()))
            assert (run.status, set(run.input)) == ("completed", {"site", "style"}), point
            assert run.outputs is not None
            assert {name: run.outputs[name] for name in run.input} == run.input, point
            assert len(other.decisions(run_id)) == 2, point
    assert points >= 10
