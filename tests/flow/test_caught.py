"""A CatchExceptionNode: what it catches, what goes through it, and what is said of the error."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from cinatra_sdk import Decision, RunStore, SimulatedPlatform
from cinatra_sdk.outside.http_calls.protocol import PlatformCall
from cinatra_sdk.testing import adrive, drive
from oas_compiler import Flow, compile_flow
from tests import flows
from tests.flow.containers import parallel
from tests.flows import api, branching, end, gate, message, node, port, start

Json = dict[str, Any]
INFO: Json = {"title": "info", "anyOf": [{"type": "string"}, {"type": "null"}]}


def flow_of(*nodes: Json, **fields: Any) -> Json:
    return flows.flow_of(*nodes, **fields, agentspec_version="26.1.2")


SECRET = "tok_a1b2c3d4e5f6g7h8"


class Breaking(SimulatedPlatform):
    """Answers calls, but for those to `broken`."""

    def __init__(self, *broken: str) -> None:
        super().__init__()
        self.broken = broken
        self.seen: list[str] = []

    def call(self, call: PlatformCall) -> Any:
        self.seen.append(call.node)
        if call.node in self.broken:
            raise ConnectionError(f"no way to {SECRET}")
        return {"y": "made"}

    async def acall(self, call: PlatformCall) -> Any:
        return self.call(call)


def call(id_: str = "call") -> Json:
    return api(id_, outputs=[port("y")])


def fragile(*inside: Json, default: str | None = "none") -> Json:
    """A flow whose last call makes its output."""
    made = port("y") if default is None else port("y", default=default)
    return flow_of(
        start(), *inside, call(), end(made, branch_name="fine"),
        id_="fragile", edges=[("call", "y", "end", "y")],
    )  # fmt: skip


def catching(subflow: Json, **fields: Any) -> Json:
    """Ends at "end" where all is well, else at "other"."""
    return flow_of(
        start(),
        node("CatchExceptionNode", "try", subflow=subflow, **fields),
        end(port("y"), INFO),
        end(port("y"), INFO, id_="other", branch_name="ERROR"),
        routes=[
            ("start", None, "try"),
            ("try", "fine", "end"),
            ("try", "caught_exception_branch", "other"),
        ],
        edges=[
            (source, output, ended, title)
            for ended in ("end", "other")
            for source, output, title in (
                ("try", "y", "y"),
                ("try", "caught_exception_info", "info"),
            )
        ],
    )


def run(flow: Flow, **how: Any) -> tuple[Any, ...]:
    """Driven both ways."""
    how["platform"] = flow.platform
    result = drive(flow, **how)
    again = asyncio.run(adrive(flow, **how))
    assert (again.status, again.outputs, again.branch) == (
        result.status,
        result.outputs,
        result.branch,
    )
    return result.status, result.outputs, result.branch


def test_a_flow_that_goes_well_leaves_by_its_own_branch() -> None:
    flow = compile_flow(catching(fragile()), platform=Breaking())
    assert run(flow) == ("completed", {"y": "made", "info": None}, "next")


def test_a_flow_that_fails_gives_its_defaults_and_tells_nothing_but_the_place() -> None:
    flow = compile_flow(catching(fragile()), platform=Breaking("call"))
    said = "node 'try/call' failed (node_failed)"
    assert run(flow) == ("completed", {"y": "none", "info": said}, "ERROR")


def test_a_default_of_the_node_wins() -> None:
    given = [port("y", default="own"), {**INFO, "title": "caught_exception_info", "default": None}]
    flow = compile_flow(catching(fragile(default=None), outputs=given), platform=Breaking("call"))
    assert run(flow)[1]["y"] == "own"


def test_the_text_of_the_error_is_told_where_the_author_asks_for_it() -> None:
    source = catching(fragile(), metadata={"cinatra": {"exceptionInfo": "message"}})
    flow = compile_flow(source, platform=Breaking("call"))
    context = flow.context(run_id="r", bearer_token=SECRET)
    info = drive(flow, platform=flow.platform, context=context).outputs["info"]
    assert "ConnectionError: no way to" in info
    assert SECRET not in info


def test_another_word_for_what_is_told_is_refused() -> None:
    from oas_compiler import check

    source = catching(fragile(), metadata={"cinatra": {"exceptionInfo": "all"}})
    found = [one for one in check(source).findings if "exceptionInfo" in one.message]
    assert {one.code for one in found} == {"OAS038", "OAS135"}


@pytest.mark.parametrize("fuse", [True, False])
def test_a_flow_that_fails_inside_another_is_caught_by_the_nearest(fuse: bool) -> None:
    inner = catching(fragile())
    inner["id"] = "inner"
    for one in inner["$referenced_components"].values():
        if one["id"] == "end":
            one["branch_name"] = "fine"
    outer = flow_of(
        start(),
        node("CatchExceptionNode", "outer", subflow=_with_default(inner)),
        end(port("y"), id_="done"),
        routes=[
            ("start", None, "outer"),
            *(("outer", name, "done") for name in ("fine", "ERROR", "caught_exception_branch")),
        ],
        edges=[("outer", "y", "done", "y")],
    )
    flow = compile_flow(outer, platform=Breaking("call"), fuse=fuse)
    assert run(flow)[:2] == ("completed", {"y": "none"})


def _with_default(flow: Json) -> Json:
    for made in (*flow["outputs"], *_ends(flow)):
        made.setdefault("default", None if made["title"] == "info" else "outer")
    return flow


def _ends(flow: Json) -> list[Json]:
    components = flow["$referenced_components"].values()
    ends = [one for one in components if one["component_type"] == "EndNode"]
    return [made for one in ends for made in one["outputs"]]


# ------------------------------------------------------------------ people


def test_a_gate_inside_pauses_the_run_and_its_decision_outlives_the_failure() -> None:
    flow = compile_flow(catching(fragile(gate("ask"))), platform=Breaking("call"))
    result = drive(flow, platform=flow.platform, answers=lambda _gate: True)
    assert [one.id for one in result.gates] == ["try/ask"]
    assert (result.status, result.branch) == ("completed", "ERROR")
    assert [one["gate"] for one in result.decisions] == ["try/ask"]


def test_a_rejection_inside_ends_the_run() -> None:
    platform = Breaking("call")
    flow = compile_flow(catching(fragile(gate("ask"))), platform=platform)
    result = drive(flow, platform=flow.platform, answers=lambda _gate: False)
    assert (result.status, platform.seen) == ("rejected", [])


def beside_a_gate() -> Json:
    """One branch fails while the other waits for a person."""
    asking = flow_of(
        start(), gate("ask"), end(port("a", default="")), id_="asking",
        edges=[("ask", "userResponse", "end", "a")],
    )  # fmt: skip
    return flow_of(
        start(), parallel(asking, fragile()), end(port("y", default="none"), branch_name="fine"),
        id_="beside", edges=[("both", "y", "end", "y")],
    )  # fmt: skip


def test_a_branch_that_fails_beside_a_gate_is_caught_and_the_gate_closes(
    fresh_database: str,
) -> None:
    flow = compile_flow(catching(beside_a_gate()), platform=Breaking("call"))
    assert run(flow, answers=lambda _gate: True)[::2] == ("completed", "ERROR")
    with RunStore.open(fresh_database) as store:
        stored = store.start(flow, run_id="r1")
        assert (stored.status, stored.branch, stored.waiting) == ("completed", "ERROR", ())


def test_a_stored_run_is_answered_inside_and_goes_the_other_way(fresh_database: str) -> None:
    flow = compile_flow(catching(fragile(gate("ask"))), platform=Breaking("call"))
    with RunStore.open(fresh_database) as store:
        assert store.start(flow, run_id="r1").waiting[0].id == "try/ask"
        stored = store.answer("r1", "try/ask", Decision.approve(by="ann"), flow=flow)
        assert (stored.status, stored.branch) == ("completed", "ERROR")
        assert [one.decided_by for one in store.decisions("r1")] == ["ann"]
        assert stored.failures == 0


# ------------------------------------------------------------------ what is not caught


def test_a_bound_on_steps_is_not_caught() -> None:
    around = flow_of(
        start(),
        message("round", "again"),
        branching("way", port("branching_mapping_key", default="never"), {"now": "out"}),
        end(port("y", default=""), branch_name="fine"),
        routes=[("start", None, "round"), ("round", None, "way"), ("way", "default", "round"),
                ("way", "out", "end")],
        id_="endless",
    )  # fmt: skip
    flow = compile_flow(catching(around), max_steps=20)
    result = drive(flow)
    assert result.status == "failed"
    assert getattr(result.error, "code", "") == "limit_exceeded"


def test_a_call_of_which_nobody_knows_whether_it_happened_waits_for_a_person(
    fresh_database: str,
) -> None:
    source = catching(fragile())
    source["$referenced_components"]["fragile"]["$referenced_components"]["call"]["metadata"]["cinatra"]["effect"] = "at_most_once"  # fmt: skip
    flow = compile_flow(source, platform=Breaking("call"))
    with RunStore.open(fresh_database) as store:
        stored = store.start(flow, run_id="r1")
        assert (stored.status, stored.error and stored.error["code"]) == (
            "waiting",
            "effect_unknown",
        )
