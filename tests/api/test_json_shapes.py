"""Records of a store as JSON fit the exported schemas, and the command line prints the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
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
    runs = make_run_page(store.page(), {"r2": [key]})
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


def test_an_error_fits_its_schema() -> None:
    assert first_problem(schema_of("ErrorJson"), make_error(RunNotFound("there is no run"))) == ""


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_published_schemas_are_those_of_the_code(name: str) -> None:
    published = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    assert published == schema_of(name), "run scripts/schemas"
    assert published["$id"] == f"urn:oasflow:api:v1:{name}"


def test_no_schema_is_published_that_the_code_does_not_have() -> None:
    assert {path.stem for path in Path(SCHEMAS).glob("*.json")} == {*SHAPES}
