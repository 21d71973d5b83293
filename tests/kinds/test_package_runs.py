"""What the function of a package's kind may return, and what is told where it returns anything else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import metadata
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from cinatra_sdk import host_context
from cinatra_sdk.errors import KindRefused, NodeFailed
from cinatra_sdk.flow.plan.frame import Frame, NodeBody
from cinatra_sdk.outside.effects.door import Verdict
from cinatra_sdk.testing import adrive, drive
from oas_compiler import compile_flow
from oas_compiler.component_facts.component import NODE_FIELDS, Field, Site, common
from oas_compiler.component_facts.inference import checked_branches
from oas_compiler.ir import Node
from oas_compiler.kinds import registry
from oas_compiler.kinds.kind import NodeKind
from oas_compiler.lower.node_functions import LoweringSite
from tests.flows import end, flow_of, node, port, start


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureNode(Node):
    """A node with the outputs and the ways out that its file lists."""


def build_measure(site: Site) -> Node:
    ways = tuple(str(way) for way in site.component.items("ways") or ("next",))
    return MeasureNode(
        **common(site),
        outputs=site.declared("outputs") or (),
        branches=checked_branches(site, ways),
    )


def lower_measure(site: LoweringSite) -> NodeBody:
    return NodeBody(run=lambda state, _runtime: RETURNS["update"](site.frame, state))


def lower_acting(site: LoweringSite) -> NodeBody:
    def run(state: Any, _runtime: Any) -> Any:
        return RETURNS["update"](site.frame, state)

    async def arun(state: Any, _runtime: Any) -> Any:
        return RETURNS["update"](site.frame, state)

    return NodeBody(run=run, arun=arun, acts=True)


def lower_failing(site: LoweringSite) -> NodeBody:
    raise ValueError(f"no way to run {site.node.id}")


def lower_to_nothing(_site: LoweringSite) -> None:
    return None


RETURNS: dict[str, Callable[[Frame, Any], Any]] = {}
"""What the function of the node under test returns."""
MEASURE = NodeKind(
    component_type="MeasureNode",
    node=MeasureNode,
    build=build_measure,
    words="Measures.",
    fields={**NODE_FIELDS, "ways": Field("list", "Its ways out.")},
    acts=False,
    lowering=f"{__name__}:lower_measure",
)
ACTING = replace(MEASURE, acts=True, lowering=f"{__name__}:lower_acting")
FAILING = replace(MEASURE, lowering=f"{__name__}:lower_failing")
NOTHING = replace(MEASURE, lowering=f"{__name__}:lower_to_nothing")


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Any:
    def install(value: str) -> None:
        entry = EntryPoint("MeasureNode", f"{__name__}:{value}", "oasflow.kind")
        monkeypatch.setattr(metadata, "entry_points", lambda group: [entry])
        registry.load_plugins.cache_clear()

    yield install
    registry.load_plugins.cache_clear()


def run_measure(
    returns: Callable[[Frame, Any], Any], *outputs: dict[str, Any], ways: tuple[str, ...] = ()
) -> Any:
    """The run of a flow with one node, whose function returns this."""
    RETURNS["update"] = returns
    measure = node("MeasureNode", "measure", outputs=list(outputs), ways=list(ways))
    routes = [("start", None, "measure"), *(("measure", way, f"to_{way}") for way in ways)]
    ends = [end(id_=f"to_{way}", branch_name=way) for way in ways]
    if not ways:
        edges = [("measure", one["title"], "end", one["title"]) for one in outputs]
        flow = flow_of(start(), measure, end(*outputs), edges=edges)
    else:
        flow = flow_of(start(), measure, *ends, routes=routes)
    return drive(compile_flow(flow), {})


def fail_measure(returns: Callable[[Frame, Any], Any], *outputs: Any, **fields: Any) -> NodeFailed:
    """The error of that run."""
    failed = run_measure(returns, *outputs, **fields).error
    assert isinstance(failed, NodeFailed)
    return failed


@pytest.mark.parametrize("ways", [("long", "short"), ("next", "short"), ("short",)])
def test_a_node_with_other_branches_than_next_leaves_by_the_branch_that_it_names(
    installed: Any, ways: tuple[str, ...]
) -> None:
    installed("MEASURE")
    for way in ways:
        result = run_measure(
            lambda frame, state, way=way: frame.finish(state, {}, branch=way),  # type: ignore[misc]
            ways=ways,
        )
        assert (result.status, result.branch) == ("completed", way)


def test_an_update_that_leaves_by_itself_counts_too(installed: Any) -> None:
    installed("MEASURE")
    result = run_measure(
        lambda frame, state: frame.leave(frame.finish(state, {}, branch="long")),
        ways=("long", "short"),
    )
    assert result.branch == "long"


@pytest.mark.parametrize("branch", ["lnog", "next"])
def test_a_branch_that_the_node_does_not_have_fails_the_node(installed: Any, branch: str) -> None:
    installed("MEASURE")
    failed = fail_measure(
        lambda frame, state: frame.finish(state, {}, branch=branch), ways=("long", "short")
    )
    assert failed.message == (
        f'node \'measure\': it leaves by the branch "{branch}", and its branches are "long", "short"'
    )


@pytest.mark.parametrize("update", [None, {}, {"length": "4"}, "text", {"cursor": b"x"}])
def test_a_function_that_returns_no_update_fails_its_node(installed: Any, update: Any) -> None:
    installed("MEASURE")
    failed = fail_measure(lambda _frame, _state: update, port("size"))
    assert failed.message == ("node 'measure': its function returned no update of frame.finish")


@pytest.mark.parametrize(
    ("type_", "value", "given"),
    [
        ("string", [1, 2], "array<integer>"),
        ("string", 4, "integer"),
        ("integer", 2.5, "number"),
        ("integer", True, "boolean"),
        ("number", "4", "string"),
        ("boolean", 1, "integer"),
        ("array", {"a": 1}, "object{a: integer}"),
        ("object", [1], "array<integer>"),
    ],
)
def test_an_output_of_another_type_than_declared_fails_the_node(
    installed: Any, type_: str, value: Any, given: str
) -> None:
    installed("MEASURE")
    failed = fail_measure(
        lambda frame, state: frame.finish(state, {"size": value}), port("size", type_)
    )
    assert failed.message.startswith("node 'measure': its output 'size' is declared as ")
    assert failed.message.endswith(f"{type_}, and its function gives {given}") or (
        type_ == "array" and "array<any>, and its function gives object" in failed.message
    )


@pytest.mark.parametrize(
    ("type_", "value"),
    [("string", "4"), ("string", None), ("integer", 4), ("integer", 4.0), ("number", 4),
     ("boolean", False), ("array", [1, "a"]), ("object", {"a": [1]}), (None, [1])],
)  # fmt: skip
def test_an_output_of_its_type_is_kept(installed: Any, type_: str | None, value: Any) -> None:
    installed("MEASURE")
    size = port("size", type_)
    result = run_measure(lambda frame, state: frame.finish(state, {"size": value}), size)
    assert result.outputs == {"size": value}


@pytest.mark.parametrize(
    ("out", "given"), [({}, "none"), ({"szie": "4"}, "'szie'"), ({"size": "4", "b": 1}, "'size', 'b'")]
)  # fmt: skip
def test_outputs_of_other_titles_than_declared_fail_the_node(
    installed: Any, out: dict[str, Any], given: str
) -> None:
    installed("MEASURE")
    failed = fail_measure(lambda frame, state: frame.finish(state, out), port("size"))
    assert failed.message == (
        f"node 'measure': its outputs are 'size', and its function gives {given}"
    )


def test_an_output_that_is_left_out_has_its_default(installed: Any) -> None:
    installed("MEASURE")
    size = port("size", default="none")
    result = run_measure(lambda frame, state: frame.finish(state, {}), size)
    assert result.outputs == {"size": "none"}


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("FAILING", f"{__name__}:lower_failing fails with ValueError: no way to run measure"),
        ("NOTHING", f"{__name__}:lower_to_nothing returns no NodeBody, but a NoneType"),
    ],
)
def test_a_lowering_that_makes_no_node_is_told_with_its_kind(
    installed: Any, kind: str, told: str
) -> None:
    installed(kind)
    with pytest.raises(KindRefused) as refused:
        run_measure(lambda frame, state: frame.finish(state, {}))
    assert refused.value.message == (f"MeasureNode of an installed package cannot be used: {told}")


@pytest.mark.parametrize(
    "driven", [drive, lambda *given, **more: asyncio.run(adrive(*given, **more))]
)
def test_the_host_is_asked_before_a_node_that_makes_its_effect_itself(
    installed: Any, driven: Any
) -> None:
    installed("ACTING")
    asked: list[Any] = []
    done: list[str] = []

    def update(frame: Frame, state: Any) -> Any:
        done.append("acted")
        return frame.finish(state, {})

    RETURNS["update"] = update
    flow = compile_flow(flow_of(start(), node("MeasureNode", "measure"), end()))
    refusing = host_context(run_id="r1", allow=lambda _effect: Verdict.refuse("not today"))
    failed = driven(flow, {}, context=refusing)
    assert (failed.status, done) == ("failed", [])
    assert "not today" in str(failed.error)
    driven(flow, {}, context=host_context(run_id="r1", before_effect=asked.append))
    assert done == ["acted"]
    assert [(one.kind, one.capability, one.path) for one in asked] == [
        ("tool", "MeasureNode", "measure")
    ]
