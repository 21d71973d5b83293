"""`Flow`: a compiled flow, for hosts; and the way from a file to it in one call.

flow = compile_flow("agents/email/cinatra/oas.json", platform=HttpPlatform(base_url="http://host"))
graph = flow.graph(checkpointer=saver)
graph.invoke(flow.input({"topic": "x"}), flow.config(run_id="r1"), context=flow.context(run_id="r1"))
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

from pydantic import JsonValue

from cinatra_sdk.data.sensitive_fields import lend_secrets
from cinatra_sdk.data.text.message_words import did_you_mean
from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.flow.graph.runnable_flow import MAX_STEPS, PlannedFlow
from cinatra_sdk.flow.plan.plan import FlowPlan, NodePlan, PlannedFeed, PlannedRoute
from cinatra_sdk.host_parts.host_parts import FlowParts, HostParts, join_parts
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.protocol import Platform
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from oas_compiler.checks.compile_rules import RUNNING
from oas_compiler.control.approval import Approval
from oas_compiler.control.gates import GateSpec, find_heard_gates
from oas_compiler.document.component_types import LoaderPolicy
from oas_compiler.document.outside_components import ComponentsInput
from oas_compiler.ir import (
    AT_MOST_ONCE,
    FlowIR,
    Json,
    McpListNode,
    McpToolNode,
    Node,
    Path,
    find_tool_names,
    open_flows,
    walk,
)
from oas_compiler.ir.printout import ir_to_json, list_sealed
from oas_compiler.lower.node_functions import PlanSite, plain_ports, plan_work, returning_to
from oas_compiler.pipeline import Compiled, Loading, compile_ir
from oas_compiler.schema.flow_schemas import input_schema, output_schema
from oas_compiler.text.safe_text import safe

if TYPE_CHECKING:
    from cinatra_sdk.governance.contracts.context_pack import ContextPack
    from cinatra_sdk.governance.governance import Governance
    from cinatra_sdk.outside.models.clients import Models


# ----------------------------------------------------------------------------
# A checked flow as a plan: each node with what it does, without anything of a host.
#
# In: `FlowIR` and the approval that it implies.  Out: `cinatra_sdk.flow.plan.plan.FlowPlan`, of which the
# SDK makes a graph, and `emit/` a module.


def plan_flow(flow: FlowIR, approval: Approval) -> FlowPlan:
    """The plan of `flow`.

    Its edges stand in the order of its nodes, so that flows that say the same have equal plans.
    """
    return _plan_flow(flow, approval, (), find_heard_gates(flow))


def _plan_flow(flow: FlowIR, approval: Approval, around: Path, heard: Collection[Path]) -> FlowPlan:
    """around: the path of the node that runs the flow.  heard: see `find_heard_gates`."""
    nodes = tuple(_plan_node(flow, node, approval, around, heard) for node in flow.nodes)
    return FlowPlan(
        id=flow.id,
        name=flow.name,
        outputs=plain_ports(flow.outputs),
        start=flow.start,
        nodes=nodes,
        routes=tuple(
            PlannedRoute(node.id, branch, target)
            for node in nodes
            for branch, target in flow.routes_of(node.id).items()
        ),
        feeds=tuple(
            PlannedFeed(edge.source, edge.output, edge.target, edge.input)
            for node in nodes
            for port in node.inputs
            for edge in flow.feeds.get((node.id, port.title), ())
        ),
    )


def _plan_node(
    flow: FlowIR, node: Node, approval: Approval, around: Path, heard: Collection[Path]
) -> NodePlan:
    path = (*around, node.id)
    inside = tuple(
        _plan_flow(inner, approval, place, heard) for place, inner in open_flows(node, path)
    )
    site = PlanSite(
        node=node, flow=flow, path=path, approval=approval, inside=inside, is_heard=path in heard
    )
    shown = safe(node.name)
    return NodePlan(
        id=node.id,
        name=node.name,
        shown="" if shown == node.name else shown,
        work=plan_work(site),
        inputs=plain_ports(node.inputs),
        outputs=plain_ports(node.outputs),
        branches=node.branches,
        risk=node.risk_class or node.behind.risk_class,
        once=node.effect == AT_MOST_ONCE,
        after=returning_to(flow, node),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Flow(PlannedFlow):
    """A compiled flow.  Immutable; share it between threads and runs."""

    compiled: Compiled = field(repr=False)

    __repr__ = PlannedFlow.__repr__

    @property
    def ir(self) -> FlowIR:
        return self.compiled.ir

    @cached_property
    def plan(self) -> FlowPlan:
        """What each node does, as plain data."""
        return plan_flow(self.ir, self.approval)

    @property
    def name(self) -> str:
        return self.ir.name

    @property
    def digest(self) -> str:
        """sha256 (hex) of exactly the bytes that were compiled; a run is pinned to it."""
        return self.compiled.digest

    @property
    def source(self) -> bytes:
        """The bytes that were compiled."""
        return self.compiled.source_bytes

    @property
    def file(self) -> str:
        """The file as the caller named it; empty for bytes and dicts."""
        return self.compiled.file

    @property
    def approval(self) -> Approval:
        return self.compiled.control.approval

    @property
    def approval_policy(self) -> dict[str, JsonValue]:
        """The policy that the file implies: `{"steps": [{"stepNumber": 1, …}]}`."""
        return self.approval.policy()

    @property
    def guards(self) -> Sequence[tuple[int, str, str]]:
        return self.approval.guards

    @property
    def gates(self) -> tuple[GateSpec, ...]:
        """Every gate at any depth, in the order of the policy's steps."""
        return self.approval.gates

    @property
    def input_schema(self) -> dict[str, JsonValue]:
        """JSON Schema of the parameters; `required` are those a run cannot begin without."""
        return input_schema(self.ir)

    @property
    def output_schema(self) -> dict[str, JsonValue]:
        """JSON Schema of the outputs."""
        return output_schema(self.ir)

    @property
    def steering(self) -> dict[str, JsonValue]:
        """Stubs that lead a simulation past the flow's gates; see `oas_compiler.control.simulation_answers`."""
        return self.compiled.control.steering

    def mermaid(self) -> str:
        """The flow as Mermaid text: OAS names, gates, branches, loops, subflows as boxes."""
        # Imported late: few who compile a flow look at its picture.
        from oas_compiler.draw.mermaid import mermaid_text

        return mermaid_text(self.ir)


# ----------------------------------------------------------------------------
# Whether the models that a host lends for one flow are models that the flow asks.
#
# require_known_models(flow, {"Wirter": model})   ->   NotConfigured: … did you mean "Writer"?
#
# A model under a misspelt name would be asked for nothing, and a simulation would answer in its place.


_EVERY = "*"


def require_known_models(flow: FlowIR, models: Models) -> None:
    """Raise `NotConfigured` for a name that no model of the flow has."""
    if not isinstance(models, Mapping):
        return
    known = _list_names(flow)
    for name in models:
        if name != _EVERY and name not in known:
            listed = ", ".join(f'"{one}"' for one in known[:10]) or "none"
            raise NotConfigured(
                f"models= names '{str(name)[:80]}', and the flow asks no such model",
                hint=did_you_mean(str(name), known) or f"its models are: {listed}",
            )


def _list_names(flow: FlowIR) -> list[str]:
    """Ids, names and models of the flow's configs, each once."""
    # Imported late: only a host that lends models by their names gets here.
    from cinatra_sdk.outside.models.config import read_model_config

    found: dict[str, None] = {}
    for _, node in walk(flow):
        config = getattr(node, "llm_config", None)
        if isinstance(config, Json):
            found |= dict.fromkeys(read_model_config(config, None).names)
    return list(found)


# ----------------------------------------------------------------------------
# Whether the host has a value for every sensitive field that a file only names.


_OF_SERVERS = (McpToolNode, McpListNode)


def require_secrets(flow: FlowIR, secrets: Mapping[str, Any] | None) -> None:
    """Raise `NotConfigured` for a name without a value; a model's key may be missing."""
    servers = [node.server for _, node in walk(flow) if isinstance(node, _OF_SERVERS)]
    logins = {id(server.login) for server in servers}  # a token stands for all their values
    sealed = (held for held in list_sealed(flow) if id(held) not in logins)
    for held in (*sealed, *(server.settings for server in servers)):
        lend_secrets(held.value(), secrets)


# ----------------------------------------------------------------------------
# From a file to a `Flow`, in one call.


def compile_flow(
    source: str | os.PathLike[str] | bytes | Mapping[str, object],
    *,
    tools: Mapping[str, Callable[..., Any]] | None = None,
    platform: Platform | None = None,
    models: Models = None,
    mcp: Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
    components: ComponentsInput | None = None,
    secrets: Mapping[str, Any] | None = None,
    allowed_components: Collection[str] | None = None,
    blocked_components: Collection[str] | None = None,
    host: HostParts | None = None,
    governance: Governance | ContextPack | Mapping[str, Any] | None = None,
    max_steps: int = MAX_STEPS,
    fuse: bool = True,
    max_parallel: int | None = None,
) -> Flow:
    """Compile an OAS flow.

    source:   path of the file or of its package folder, the bytes of it, or its content as a dict.
    tools:    Python functions by name, for ToolNodes over server tools.
    platform: answers the flow's HTTP calls.  None simulates them, for tests and for looking
              at a graph; a durable run that is started so says it in the log.
    models:   chat models for LLM nodes, by id, name or model of their `llm_config`, `*` for every
              other; or a function of the `ModelConfig`.  Where none is lent, the provider's own is
              asked; without a platform, which is a simulation, answers are made up.
    mcp:      servers in place of those of MCP tools, by the id or name of their transport, `*` for
              every other: anything that `mcp.Client` takes, such as a server of this process.
    env:      values for the `{{UPPER_CASE}}` placeholders in the requests of its ApiNodes (url,
              headers, query, body); treated as secrets, and put in nowhere else.  None of them is a
              variable that the runtime reads itself (`CINATRA_…`, `OASFLOW_…`, `DATABASE_URL`, `PG…`).
    components: what the file refers to and does not define: a file of components, several, or
              components and values by their ids.  They become part of what is stored with runs, but
              for the values of sensitive fields (`api_key`, `sensitive_headers`, …): those are lent by
              the process.
    secrets:  values of sensitive fields that the file or its components only name, by `<id>.<field>`.
    allowed_components, blocked_components: the component types that the file may use, each with those
              below it; as usual all but `StdioTransport`, which starts programs.
    host:     these parts and others (policy, budget, credentials) in one record, of whose variables
              the flow gets those that its file names; a part that is given both ways is refused.
    governance: the packs whose rules every effect of the flow stands under: `Governance.of(pack)`, or
              one pack, also as JSON.  A gate that a rule asks for is a phase of the node before its call, beside the
              gates of the file; see docs/governance.md.  None: the packs that `host` lends for every
              flow (`Governance(pack_refs=…)`); without these no pack governs the flow.
    max_steps: nodes that one run may visit on one level of subflows, from 1 on; a run that takes
              more fails with `LimitExceeded`.  It ends loops that never leave by themselves, and
              is not stored with a durable run: each process that goes on with one gives its own.
    fuse:     nodes that only compute (branches, templates, messages, ends) run in the superstep of
              the node before them, which is several times as fast.  False runs a superstep for each
              node, so that LangGraph's own tools show each; events, errors, calls and pictures are
              the same.
    max_parallel: branches that one node runs at a time (ParallelMapNode, ParallelFlowNode), from 1
              on; None: as many as the engine lets, which is `max_concurrency` of the config, else
              the number of cores and four more.

    Raises: `NotConfigured` for a sensitive field without a value, and a name in `models` that no model
    of the flow has; `CompileError` with every finding, whatever `source` is, also where a context slot cannot
    be read or nothing selects for it (OAS150, OAS151, OAS154); `TypeError` for a tool that cannot be called, and for a part that is given twice; `ValueError` for `max_steps` or `max_parallel`
    below 1; `PlaceholderRefused`.
    """
    if type(max_steps) is not int or max_steps < 1:
        raise ValueError(f"max_steps is a whole number from 1 on, and not {max_steps!r:.100}")
    if max_parallel is not None and (type(max_parallel) is not int or max_parallel < 1):
        raise ValueError(f"max_parallel is a whole number from 1 on, and not {max_parallel!r:.100}")
    given = {
        "platform": platform,
        "tools": tools,
        "models": models,
        "mcp": mcp,
        "env": env,
        "secrets": secrets,
        "allowed_components": allowed_components,
        "blocked_components": blocked_components,
    }
    parts = join_parts(host, given, "compile_flow()")
    # Without `env`: its values are secrets, and get into a request only, when it is sent.
    compiled = compile_ir(
        source,
        tools=parts.tools,
        rules=RUNNING,
        env_names=tuple(parts.env),
        loading=Loading(
            components=components,
            policy=LoaderPolicy.of(parts.allowed_components, parts.blocked_components),
        ),
    )
    if compiled.secrets:
        parts = parts.with_parts(secrets={**compiled.secrets, **(parts.secrets or {})})
    require_secrets(compiled.ir, parts.secrets)
    require_known_models(compiled.ir, models)
    if host is not None and host.env:
        parts = parts.with_parts(env=_choose_read_variables(compiled.ir, parts.env))
    if governance is not None:
        parts = parts.with_parts(governance=_read_governance(governance))
    simulated = parts.platform is None
    if simulated:
        fallback = compiled.control.autonomous_slots
        parts = parts.with_parts(platform=SimulatedPlatform(fallback=fallback))
    return Flow(
        compiled=compiled,
        host=parts,
        max_steps=max_steps,
        fuse=fuse,
        max_parallel=max_parallel,
        platform_given=not simulated,
        governed=parts.governance is not None
        and (governance is not None or parts.governance.governs_flows),
    )


def _read_governance(given: Governance | ContextPack | Mapping[str, Any]) -> Governance:
    """Raises: `GovernanceRefused` (PACK_INVALID), `TypeError`."""
    # Imported late: most flows have no pack.
    from cinatra_sdk.governance.contracts.context_pack import ContextPack
    from cinatra_sdk.governance.governance import Governance
    from cinatra_sdk.governance.packs.rulebook import require_sound

    if isinstance(given, Governance):
        return given
    if isinstance(given, Mapping):
        given = ContextPack.read(given, code="PACK_INVALID")
    if isinstance(given, ContextPack):
        # Here, where the author sees it, and not first when a run begins.
        require_sound(given)
        return Governance.of(given)
    raise TypeError(
        f"governance is a {type(given).__name__}: give Governance(…), a ContextPack, or its JSON"
    )


def _choose_read_variables(flow: FlowIR, env: Mapping[str, str]) -> dict[str, str]:
    """The variables whose names are anywhere in the flow: one record serves many flows, and each
    process that goes on with a run has to lend the variables that the run was given.
    """
    texts = json.dumps(ir_to_json(flow), ensure_ascii=False)
    texts += "".join(sealed.text for sealed in list_sealed(flow))
    return {name: value for name, value in env.items() if name in texts}


def flow_from_store(
    source: bytes, *, host: HostParts | None = None, **parts: Unpack[FlowParts]
) -> Flow:
    """The flow of a stored run, rebuilt in another process.

    Found by `cinatra_sdk.store` through the entry point `oas` of `oasflow.flow_loader`.
    Raises: `NotConfigured` where a tool is missing; `PlaceholderRefused`, `CompileError`; `TypeError`
    without a platform.
    """
    lent = join_parts(host, parts, "flow_from_store()")
    if lent.platform is None:
        raise TypeError("flow_from_store() needs a platform: a run that has begun is not simulated")
    # By the structure rules alone: rules that prevent a start must not strand a run that has begun.
    policy = LoaderPolicy.of(lent.allowed_components, lent.blocked_components)
    compiled = compile_ir(source, loading=Loading(policy=policy))
    missing = sorted(find_tool_names(compiled.ir) - lent.tools.keys())
    if missing:
        raise NotConfigured(
            f"the flow calls tools that this process was not given: {', '.join(missing)}",
            hint="open the store with tools=…, or host=…; at the command line, --host MODULE:FACTORY",
        )
    require_secrets(compiled.ir, lent.secrets)
    return Flow(compiled=compiled, host=lent)
