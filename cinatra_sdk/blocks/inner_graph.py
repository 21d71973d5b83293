"""A node that runs another graph inside: a gate of the inner graph pauses the whole run.

In: a compiled graph without a checkpointer of its own.  Out: its result, under the node's state
key; a rejection inside rejects the parent too.

    graph.add_node("drafting", subgraph(
        compile_flow("drafting/oas.json", platform=platform).graph(), node="drafting",
        inputs={"inputs": {"topic": "{{input_params.topic}}"}},
        outputs={"subject": "{{outputs.subject}}"}, own_policy=True))

    state  {"drafting_output": {"subject": "Hello"}}
    state  {"rejected_at": "…", "status": "rejected"}      # after a rejection inside

The function around the graph only maps values: the engine runs it again on resume, and the inner
graph continues from its own checkpoint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from jinja2 import meta
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime, get_runtime
from pydantic import JsonValue

from cinatra_sdk.blocks.host_node import ending
from cinatra_sdk.blocks.step import NodeRunnable, State, Step, node_of, template_values
from cinatra_sdk.data.templates.flow_templates import Renderer, TemplateError
from cinatra_sdk.data.templates.language import ENVIRONMENT
from cinatra_sdk.gates.gate import label
from cinatra_sdk.langgraph_threads.host_context import (
    Effects,
    HostContext,
    context_inside,
    context_of,
)
from cinatra_sdk.langgraph_threads.lineage import (
    allows_forks,
    arefuse_forks,
    does_not_act,
    may_act,
    place_of,
    refuse_forks,
)
from cinatra_sdk.langgraph_threads.list_channels import Growing, as_json
from cinatra_sdk.langgraph_threads.reentry import (
    Visit,
    ago_on_inside,
    arequire_line_inside,
    go_on_inside,
    require_line_inside,
)
from cinatra_sdk.langgraph_threads.state_channels import Appended, HostOnly, Record, seal
from cinatra_sdk.langgraph_threads.tasks import shape_of, telling_node, visit_of, visited


def subgraph(
    graph: CompiledStateGraph[Any, Any, Any, Any],
    *,
    node: str,
    inputs: Mapping[str, JsonValue],
    outputs: Mapping[str, JsonValue],
    own_policy: bool = False,
    into: str | Mapping[str, str] = "",
    needs: Sequence[str] = (),
    sealed: bool = False,
    after: str = "",
    effects: Effects = "line",
) -> NodeRunnable:
    """A node that runs `graph` as a subgraph.

    inputs:     the graph's input keys → templates over the parent's state.
    outputs:    title → template over the result of the graph.
    own_policy: the graph brings its approval policy (a compiled flow does); otherwise it works
                under the parent's, and its step numbers are the parent's.
    into, needs, sealed, effects: see `cinatra_sdk.blocks.step.Step`.  The graph inside acts where this
                block may, whatever it was built with.
    after:      node whose outputs templates may call `child_output`.

    The graph gets `bearer_token`, `run` and the policy sealed.  Its state must have
    `ended` of `GovernedState`, which its own last node seals (`terminal_node(requires=…)`, or the
    end of a compiled flow), and what `outputs` reads must be sealed too: a client of a graph server
    can write every plain key.  The node does nothing once the run is rejected or ended.
    Raises: `ValueError` here where `graph` has its own checkpointer or a plain key is read of it;
    when it runs `StateKeyMissing`, `NodeFailed`, `ForkRefused`, `FlowChanged`, and what the nodes
    inside raise.
    """
    if graph.checkpointer:
        raise ValueError(
            f"subgraph '{node}' has a checkpointer of its own: compile it without one, "
            "the parent's keeps its state"
        )
    border = _Border(
        step=Step(node=node, into=into, needs=tuple(needs), sealed=sealed, effects=effects),
        inputs=inputs,
        outputs=outputs,
        own_policy=own_policy,
        after=after,
        shape=shape_of(graph.channels),
    )
    _require_sealed(graph, node, outputs)
    # Nodes inside only check the line of their own graph, so this node checks the outer line for
    # them.  If the inner graph has only gates and computing nodes, the acting nodes after it check
    # the line themselves.
    acts = may_act(graph)
    read = sorted({*graph.output_channels, "ended", "rejected_at"} & set(graph.channels))

    # Both forms refer to `graph` directly, because the engine and Studio find it in their closures.
    def run(state: State, config: RunnableConfig) -> dict[str, Any]:
        if not border.step.has_work(state):
            return {}
        runtime = get_runtime(HostContext)
        if acts:
            refuse_forks(state, runtime, node=node, effects=effects, since=state.get("seen", ""))
        number = visit_of(node)
        scope = border.scope(state, number)
        visit = border.visit(config, runtime, scope, told=number is not None)
        with telling_node(path=border.step.place(state), visit=number or 1):
            result = go_on_inside(visit)
            if result is None:
                entered, context = border.enter(state, scope), border.context(scope)
                result = graph.invoke(entered, config, context=context, output_keys=read)
                require_line_inside(visit)
            left = border.leave(result, scope)
        return {**left, **visited(node, number)}

    async def arun(state: State, config: RunnableConfig) -> dict[str, Any]:
        if not border.step.has_work(state):
            return {}
        runtime = get_runtime(HostContext)
        if acts:
            since = state.get("seen", "")
            await arefuse_forks(state, runtime, node=node, effects=effects, since=since)
        number = visit_of(node)
        scope = border.scope(state, number)
        visit = border.visit(config, runtime, scope, told=number is not None)
        with telling_node(path=border.step.place(state), visit=number or 1):
            result = await ago_on_inside(visit)
            if result is None:
                entered, context = border.enter(state, scope), border.context(scope)
                result = await graph.ainvoke(entered, config, context=context, output_keys=read)
                await arequire_line_inside(visit)
            left = border.leave(result, scope)
        return {**left, **visited(node, number)}

    made = node_of(node, run, arun)
    return made if acts else does_not_act(made)


_SEALED_KINDS: Final = (HostOnly, Appended, Growing, Record)
"""Channels that only nodes write."""


def _require_sealed(
    graph: CompiledStateGraph[Any, Any, Any, Any], node: str, outputs: Mapping[str, JsonValue]
) -> None:
    """Raise `ValueError` where the parent would read a key that any client can write."""
    channels = graph.channels
    if not isinstance(channels.get("ended"), HostOnly):
        raise ValueError(  # noqa: TRY004 - the graph is wrong, not its type
            f"subgraph '{node}': the graph never says that it reached its own end: let its state "
            "inherit from GovernedState, and end it with terminal_node(requires=…)"
        )
    if any(getattr(inner.bound, "ends_unsealed", False) for inner in graph.nodes.values()):
        raise ValueError(
            f"subgraph '{node}': its terminal_node() names nothing that it requires, so a jump there "
            "would pass for an end: give terminal_node(requires=…) the decisions and outputs that "
            "every way through the graph writes"
        )
    for key in sorted(_names_in(dict(outputs))):
        if key in channels and not isinstance(channels[key], _SEALED_KINDS):
            raise ValueError(
                f"subgraph '{node}' reads '{key}' of the graph inside, a key that any client can "
                "write: annotate it with HostOnly, and let a node with sealed=True write it"
            )


def _names_in(template: JsonValue) -> set[str]:
    """The state keys that `template` reads."""
    if isinstance(template, str):
        return set(meta.find_undeclared_variables(ENVIRONMENT.parse(template)))
    if isinstance(template, dict):
        return set().union(*map(_names_in, template.values()))
    return set().union(*map(_names_in, template)) if isinstance(template, list) else set()


class _Border:
    """The values that pass between the parent and the inner graph."""

    def __init__(
        self,
        *,
        step: Step,
        inputs: Mapping[str, JsonValue],
        outputs: Mapping[str, JsonValue],
        own_policy: bool,
        after: str,
        shape: str,
    ) -> None:
        self.step = step
        self._inputs = Renderer(dict(inputs))
        self._outputs = Renderer(dict(outputs))
        self._own_policy = own_policy
        self._after = after
        self._shape = shape

    def context(self, scope: str) -> HostContext:
        """The host's context for the inner graph, without the parent's policy: steps have other
        numbers.

        A graph that seals its governed keys itself (a compiled flow) gets its place in the run from
        here.
        """
        host = context_of(get_runtime(HostContext).context)
        return context_inside(
            host,
            scope=scope,
            own_policy=self._own_policy,
            effects=self.step.effects,
        )

    def visit(
        self, config: RunnableConfig, runtime: Runtime[HostContext], scope: str, *, told: bool
    ) -> Visit | None:
        """The visit of the graph inside, where checkpoints are kept."""
        info = runtime.execution_info
        place = place_of(config, info)
        if place is None or info is None:
            return None
        return Visit(
            place=place,
            own=info.checkpoint_ns,
            scope=scope,
            told=told,
            turn=None,
            node=self.step.node,
            forks=allows_forks(runtime, self.step.effects),
            asks=True,  # unknown for a graph of another author
        )

    def scope(self, state: State, visit: int | None) -> str:
        """The place of the inner graph in the run; without a count every visit is the first."""
        own, scope = label(self.step.node, visit or 1), (state.get("run") or {}).get("scope", "")
        return f"{scope}/{own}" if scope else own

    def enter(self, state: State, scope: str) -> dict[str, Any]:
        # The digest belongs to the outer graph: the inner graph compares its shape.
        inside = {"scope": scope, "graph": self._shape, "digest": ""}
        identity = {**(state.get("run") or {}), **inside}
        governed = {"bearer_token": seal(state["bearer_token"]), "run": seal(identity)}
        if not self._own_policy and "approval_policy" in state:
            governed["approval_policy"] = seal(state["approval_policy"])
        values = template_values(state, after=self._after)
        return {**self._render_template(self._inputs, values, "its inputs"), **governed}

    def leave(self, result: Mapping[str, Any] | None, scope: str) -> dict[str, Any]:
        result = result or {}
        if result.get("rejected_at"):
            return ending("rejected", at=result["rejected_at"])
        if result.get("ended") != {"scope": scope}:
            raise self.step.failed(
                "its graph stopped before it reached an end",
                hint="it ends with terminal_node(requires=…); otherwise somebody wrote into its "
                "state from outside, and a new run is needed",
            )
        values = {key: as_json(value) for key, value in result.items()}
        return self.step.update(self._render_template(self._outputs, values, "its outputs"))

    def _render_template(
        self, template: Renderer, values: Mapping[str, Any], what: str
    ) -> dict[str, Any]:
        try:
            rendered: Any = template.render(values)
        except TemplateError as error:
            raise self.step.failed(f"{what}: {error}") from None
        return dict(rendered)
