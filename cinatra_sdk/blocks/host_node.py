"""First and last node of a hand-written graph, and gates whose decisions cannot be forged.

    graph.add_node("host_node", seal_host_fields(POLICY, inputs={"goal": {"type": "string"}}))
    graph.add_node("review", gate_once("review_decision", build_hitl_gate(
        step_number=2, node="review",
        write=keep_decision("review_decision", node="review", step_number=2))))
    graph.add_node("terminal_node", terminal_node(requires=("send_output",)))

    first  {"goal": "x"}  ->  {"bearer_token": "", "approval_policy": {…}, "run": {…},
                               "input_params": {"goal": "x"}, "status": "running"}
    gate   approved       ->  {"review_decision": {"approved": true, "by": …, "at": …}}
    last                  ->  {"status": "completed"}, or {"status": "rejected"}

R-01: the host's values win over a caller's, because the channels of governed keys accept only
sealed values, once.  A caller who jumps (`Command(goto=…)`, `update_state`) reaches nodes that
refuse to act, because the decisions and outputs they need are sealed too.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langgraph.runtime import get_runtime
from pydantic import JsonValue

from cinatra_sdk.blocks.step import NodeRunnable, State, node_of
from cinatra_sdk.data.json_values import check_value
from cinatra_sdk.data.schema.checker import load_schemas
from cinatra_sdk.data.schema.problems import first_problem
from cinatra_sdk.errors import FlowChanged, InputInvalid, NodeFailed
from cinatra_sdk.gates.gate import gate_id
from cinatra_sdk.gates.hitl import GateNode, Outcome
from cinatra_sdk.governed.approval_policy import parse_policy, require_entries
from cinatra_sdk.langgraph_threads.host_context import DERIVED, HostContext, context_of, name_ledger
from cinatra_sdk.langgraph_threads.lineage import does_not_act
from cinatra_sdk.langgraph_threads.state_channels import has_ended, seal
from cinatra_sdk.langgraph_threads.tasks import own_shape, require_own_graph, was_sent

INPUT_PARAMS = "input_params"
"""State key (`Annotated[dict, HostOnly]`) of the inputs that the run was started with."""


def seal_host_fields(
    policy: Mapping[str, JsonValue] | None = None,
    *,
    inputs: Mapping[str, Mapping[str, JsonValue]] | None = None,
    guards: Sequence[tuple[int, str, str]] = (),
    digest: str = "",
) -> NodeRunnable:
    """The first node: writes the governed keys from `runtime.context`.

    policy:  the graph's own approval policy, where the host gives none; None = no policy.
    inputs:  input title → JSON Schema: checked, then kept in `input_params`, where a later
             input on the thread cannot change them.  A `default` makes an input optional.
    guards:  (step number, gate, node) of each gate before a node of a send class: a policy
             without an entry for one refuses to start.
    digest:  pins the run to this version of the graph, where the author keeps one.  Graphs whose
             nodes or state keys have other names are told apart without it.

    A further input on a thread that has begun changes nothing.
    Raises: `PolicyInvalid` here for the graph's own policy; when it runs `PolicyInvalid`,
    `InputInvalid`, `ValueRefused`; `FlowChanged` on a thread that another graph began.
    """
    parse_policy(policy)
    load_schemas()
    own = copy.deepcopy(dict(policy)) if policy is not None else None

    def run(state: State) -> dict[str, Any]:
        if was_sent():
            return {}
        _require_own_run(state, digest)
        runtime = get_runtime(HostContext)
        host = context_of(runtime.context)
        update: dict[str, Any] = {}
        if "approval_policy" not in state:
            given = own if host.approval_policy is DERIVED else host.approval_policy
            require_entries(parse_policy(given), guards)
            update["approval_policy"] = seal(given)
        if inputs is not None and INPUT_PARAMS not in state:
            update[INPUT_PARAMS] = seal(_taken_in(inputs, state))
        if "bearer_token" not in state:
            # Always empty: a real token is in the runtime context only.
            update["bearer_token"] = seal("")
        if "run" not in state:
            update["run"] = seal(_build_run_identity(host, runtime.execution_info, digest))
        return {**update, **ending("running")}

    return does_not_act(node_of("seal_host_fields", run))


def _require_own_run(state: State, digest: str) -> None:
    """Raise `FlowChanged` where another graph, or another version of it, sealed the thread's
    run.
    """
    require_own_graph(state, "seal_host_fields")
    identity = state.get("run")
    if identity is None:
        if "approval_policy" in state and state.get("status") is not None:
            raise FlowChanged(
                "the thread holds a run without an identity: another graph began it",
                hint="start a new thread",
            )
        return
    # An inner graph gets its run from the outer graph, and compares only its shape.
    if not identity.get("scope") and identity.get("digest", "") != digest:
        raise FlowChanged(
            "the thread holds a run of another version of this graph",
            hint="go on with the version that began it, or start a new thread",
        )


def _build_run_identity(host: HostContext, execution: Any, digest: str) -> dict[str, Any]:
    thread = str((execution.thread_id if execution is not None else "") or "")
    return {
        "run_id": host.run_id or thread,
        "tenant": host.tenant,
        "thread": thread,
        "digest": digest,
        "graph": own_shape(),
        "scope": host.scope,
        **name_ledger(host),
    }


def _taken_in(schemas: Mapping[str, Mapping[str, JsonValue]], state: State) -> dict[str, Any]:
    taken = {}
    for title, schema in schemas.items():
        if title not in state:
            if "default" not in schema:
                raise InputInvalid(f"the required input '{title}' is missing")
            taken[title] = schema["default"]
            continue
        value = state[title]
        check_value(value, where=f"input '{title}'")
        problem = first_problem(schema, value)
        if problem:
            raise InputInvalid(f"input '{title}' does not fit: {problem}")
        taken[title] = value
    return taken


def terminal_node(*, requires: Sequence[str] = ()) -> NodeRunnable:
    """The last node: `{"status": "rejected"}` after a rejection, else `{"status": "completed"}`.

    requires: state keys without which the run is not complete, so that a jump to this node
              ends nothing.  A graph that stands in another one (`subgraph`) must name some: the
              decisions and outputs that every way through it writes.
    Raises (when it runs): `NodeFailed` naming the first missing key; `FlowChanged` on a thread
    that another graph began.
    """

    def run(state: State) -> dict[str, Any]:
        if was_sent():
            return {}
        if state.get("rejected_at"):
            return ending("rejected")
        require_own_graph(state, "terminal_node")
        _require_state_keys(state, "terminal_node", requires)
        return {**ending("completed"), **(end_of(state) if requires else {})}

    node = does_not_act(node_of("terminal_node", run))
    object.__setattr__(node, "ends_unsealed", not requires)  # read by `subgraph`
    return node


def ending(status: str, *, at: str = "") -> dict[str, Any]:
    """The update that sets the run's status; `at` is the time of a rejection."""
    return {"rejected_at": at, "status": status} if at else {"status": status}


def end_of(state: State) -> dict[str, Any]:
    """The sealed mark that a graph reached its own end; an outer graph trusts only this mark."""
    return {"ended": seal({"scope": (state.get("run") or {}).get("scope", "")})}


def keep_decision(key: str, *, node: str, step_number: int) -> Callable[[State, Outcome], Any]:
    """`write=` of a gate that keeps its decision in the state key `key`.

    The key is `Annotated[dict, HostOnly]`: only the gate writes it, once.
    """

    def write(state: State, outcome: Outcome) -> dict[str, Any]:
        decided = {key: seal(outcome.record(gate_id(state, node, 1), node, 1, step_number))}
        if outcome.approved:
            return decided
        return {**decided, **ending("rejected", at=outcome.at)}

    return write


def gate_once(key: str, gate: GateNode, *, requires: Sequence[str] = ()) -> GateNode:
    """`gate`, asking once per run: once its decision is in `key`, the gate does nothing.

    requires: state keys that the gate shows; a missing key means that somebody jumped to the gate.
    Raises (when it runs): `NodeFailed`, and the errors of `gate`.
    """

    def once(state: State) -> Any:
        if key in state or has_ended(state):
            return {}
        _require_state_keys(state, key, requires)
        return gate(state)

    return does_not_act(once)


def _require_state_keys(state: State, who: str, keys: Sequence[str]) -> None:
    missing = next((key for key in keys if key not in state), "")
    if missing:
        raise NodeFailed(
            f"'{who}' was reached before '{missing}' was there",
            node=who,
            hint="start the run with an input; nothing may jump into the middle of it",
        )
