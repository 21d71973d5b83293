"""Records of a store as JSON fit the exported schemas, and the command line prints the same."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.api import (
    API_VERSION,
    SHAPES,
    make_decision_page,
    make_error,
    make_event_list,
    make_need_page,
    make_run,
    make_run_page,
    make_whole_run,
    schema_of,
)
from cinatra_sdk.data.schema.problems import first_problem
from cinatra_sdk.errors import RunNotFound
from cinatra_sdk.runs import Run
from cinatra_sdk.store import ArtifactStore
from oas_compiler import compile_flow
from oas_compiler.cli.app import app_for
from tests.flows import end, flow_of, gate, port, start, tool
from tests.sources import ROOT

SCHEMAS = ROOT / "docs" / "schemas" / "api" / API_VERSION
FLOW = flow_of(
    start(port("x", default="bees")),
    gate("ask", inputs=[port("x")], riskClass="send_external_message"),
    tool("post", "post", [port("x")], [port("y")]),
    end(),
    edges=[("start", "x", "ask", "x"), ("start", "x", "post", "x")],
)
ONCE = json.loads(json.dumps(FLOW))
for component in ONCE["$referenced_components"].values():
    if component.get("id") == "post":
        component.setdefault("metadata", {}).setdefault("cinatra", {})["effect"] = "at_most_once"


def fail(x: str) -> str:
    raise RuntimeError("the line went dead")


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    """`r1` waits at its gate, `r2` for a call to be settled, `r3` failed, `r4` was stopped."""
    with RunStore.open(fresh_database) as opened:
        for name, document in (("r1", FLOW), ("r2", ONCE), ("r3", FLOW), ("r4", FLOW)):
            flow = compile_flow(document, tools={"post": fail})
            opened.start(flow, {}, name, by="ann")
            if name in ("r2", "r3"):
                opened.answer(name, "ask", Decision.approve(by="ann", reason="fine"), flow=flow)
        opened.stop("r4", by="ben", reason="no longer needed")
        yield opened


@pytest.fixture
def told(fresh_database: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.setenv("DATABASE_URL", fresh_database)

    def call(*words: str) -> Any:
        done = CliRunner().invoke(app_for(words), [*words, "--json"], catch_exceptions=False)
        return json.loads(done.stdout)

    return call


def make_whole(store: RunStore, name: str) -> Any:
    return make_whole_run(
        store.get(name), decisions=store.decisions(name), unknown=store.unknown(name),
        chosen=ArtifactStore(store.database).chosen_in(name), settlements=store.settlements(name),
        usage=store.usage(name),
    )  # fmt: skip


def without_time(page: Any) -> Any:
    """Ages are of the moment at which somebody looked."""
    for one in [*page["needs"], *page["gates"]]:
        assert isinstance(one.pop("age_seconds"), int)
        one.pop("command", None)
        one.pop("commands", None)
    return page


def test_runs_fit_their_schemas_and_are_what_the_command_line_prints(
    store: RunStore, told: Callable[..., Any]
) -> None:
    (key,) = [one.key for one in store.unknown("r2")]
    store.settle("r2", key, happened=True, value={"y": "posted"}, by="ann")
    for name in ("r1", "r2", "r3", "r4"):
        whole = make_whole(store, name)
        assert first_problem(schema_of("WholeRunJson"), whole) == ""
        assert told("show", name) == whole
        assert first_problem(schema_of("RunJson"), make_run(store.get(name))) == ""
    assert whole["stopped"]["by"] == "ben"
    assert make_whole(store, "r2")["settlements"][0]["value"] == {"y": "posted"}


def test_lists_fit_their_schemas_and_are_what_the_command_line_prints(
    store: RunStore, told: Callable[..., Any]
) -> None:
    (key,) = [one.key for one in store.unknown("r2")]
    page = store.page()
    runs = make_run_page(page, store.unknown_keys(page.items))
    assert store.unknown_keys(page.items) == {"r2": (key,)}
    assert first_problem(schema_of("RunPageJson"), runs) == ""
    assert told("runs") == runs
    assert {one["id"]: [need["kind"] for need in one["needs"]] for one in runs["runs"]} == {
        "r1": ["gate"], "r2": ["call"], "r3": ["failed"], "r4": [],
    }  # fmt: skip

    needs = make_need_page(store.needs(), store.database.now())
    assert first_problem(schema_of("NeedPageJson"), needs) == ""
    assert without_time(told("gates")) == without_time(needs)

    first = make_need_page(store.needs(limit=1), store.database.now())
    assert (len(first["needs"]), bool(first["next"])) == (1, True)

    events = make_event_list(store.told("r3"))
    assert first_problem(schema_of("EventListJson"), events) == ""
    assert told("show", "r3", "--events") == events

    decisions = make_decision_page(store.decisions_page("r3"))
    assert first_problem(schema_of("DecisionPageJson"), decisions) == ""
    assert [one["by"] for one in decisions["decisions"]] == ["ann"]


def test_a_failure_that_is_tried_again_and_a_child_tell_so(store: RunStore) -> None:
    about = {"owner": "mail-agent", "session": "s1", "deadline": datetime(2030, 1, 1, tzinfo=UTC)}
    flow = compile_flow(FLOW, tools={"post": fail})
    store.create(flow, {}, "c1", parent="r1", parent_path="ask", **about)  # type: ignore[typeddict-item]
    child = make_run(store.get("c1"))
    assert first_problem(schema_of("RunJson"), child) == ""
    names = ("owner", "session", "parent", "parent_path", "deadline", "failures", "retry_at")
    assert [child[name] for name in names] == [  # type: ignore[literal-required]
        "mail-agent", "s1", "r1", "ask", "2030-01-01T00:00:00.000+00:00", 0, None,
    ]  # fmt: skip
    assert make_run(store.get("r1"))["parent"] is None
    failed = store.get("r3")
    again = make_run(replace(failed, retry_at=failed.updated_at))
    assert (again["failures"], again["retry_at"]) == (1, again["updated_at"])


def test_every_member_of_a_run_is_told(store: RunStore) -> None:
    """One that is added to `Run` is added here, or a page would not know it."""
    other = {
        "input": "inputs", "stopped_by": "stopped", "stop_reason": "stopped", "stopper": "stopped",
        "paused_by": "paused", "paused_at": "paused",
    }  # fmt: skip
    told = {other.get(one.name, one.name) for one in fields(Run)}
    assert told - {*make_run(store.get("r1"))} == {"platform"}, "of the host, not of the run"


def test_every_time_has_milliseconds_and_a_zone(store: RunStore) -> None:
    (key,) = [one.key for one in store.unknown("r2")]
    before = make_whole(store, "r2")
    store.settle("r2", key, happened=False, by="ann")
    after = make_whole(store, "r2")
    times = [*find_times(before), *find_times(after)]
    assert before["unknown"][0]["begun_at"] in times
    assert after["settlements"][0]["at"] in times
    for time in times:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d", time), time


def find_times(value: Any, name: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for member, below in value.items():
            yield from find_times(below, member)
    elif isinstance(value, list):
        for below in value:
            yield from find_times(below, name)
    elif isinstance(value, str) and (name == "at" or name.endswith("_at")):
        yield value


def test_an_error_fits_its_schema() -> None:
    assert first_problem(schema_of("ErrorJson"), make_error(RunNotFound("there is no run"))) == ""


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_published_schemas_are_those_of_the_code(name: str) -> None:
    published = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    assert published == schema_of(name), "run scripts/schemas"
    assert published["$id"] == f"urn:oasflow:api:v1:{name}"


def test_no_schema_is_published_that_the_code_does_not_have() -> None:
    assert {path.stem for path in Path(SCHEMAS).glob("*.json")} == {*SHAPES}
