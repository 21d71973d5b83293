"""A node that runs another graph inside: a gate in there pauses the whole run.

In: a compiled graph without a checkpointer of its own.  Out: what it returns, under the node's
state key; a rejection inside is a rejection of the parent.

    graph.add_node("drafting", subgraph(
        compile_flow("drafting/oas.json", platform=platform).graph(), node="drafting",
        inputs={"inputs": {"topic": "{{input_params.topic}}"}},
        outputs={"subject": "{{outputs.subject}}"}, own_policy=True))

    state  {"drafting_output": {"subject": "Hello"}}
    state  {"rejected_at": "…", "status": "rejected"}      # where a person said no inside

The function around the graph only maps values: the engine runs it again on resume, and the
graph inside goes on from its own checkpoint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import get_runtime
from pydantic import JsonValue

from cinatra_sdk.gates import label
from cinatra_sdk.host_node import ending
from cinatra_sdk.runtime_context import HostContext, context_inside, context_of
from cinatra_sdk.state import seal
from cinatra_sdk.step import NodeRunnable, State, Step, node_of, template_values
from cinatra_sdk.templates import Renderer, TemplateError


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
) -> NodeRunnable:
    """A node that runs `graph` as a subgraph.

    inputs:     the graph's input keys → templates over the parent's state.
    outputs:    title → template over what the graph returned.
    own_policy: the graph brings its approval policy (a compiled flow does); otherwise it works
                under the parent's, and its step numbers are the parent's.
    into, needs, sealed: see `cinatra_sdk.step.Step`.
    after:      node whose outputs templates may call `child_output`.

    The graph gets `bearer_token`, `run` and the policy sealed, and its output schema must have
    `status` and `rejected_at`.  The node does nothing once the run is rejected or ended.
    Raises: `ValueError` here where `graph` has its own checkpointer; when it runs
    `StateKeyMissing`, `NodeFailed`, and what the nodes inside raise.
    """
    if graph.checkpointer:
        raise ValueError(
            f"subgraph '{node}' has a checkpointer of its own: compile it without one, "
            "the parent's keeps its state"
        )
    border = _Border(
        step=Step(node=node, into=into, needs=tuple(needs), sealed=sealed),
        inputs=inputs,
        outputs=outputs,
        own_policy=own_policy,
        after=after,
    )

    # Both forms name `graph` themselves: that is how the engine and Studio find it inside.
    def run(state: State, config: RunnableConfig) -> dict[str, Any]:
        if not border.step.has_work(state):
            return {}
        entered = border.enter(state)
        return border.leave(graph.invoke(entered, config, context=border.context(state)))

    async def arun(state: State, config: RunnableConfig) -> dict[str, Any]:
        if not border.step.has_work(state):
            return {}
        entered = border.enter(state)
        return border.leave(await graph.ainvoke(entered, config, context=border.context(state)))

    return node_of(node, run, arun)


class _Border:
    """What crosses between the parent and the graph inside."""

    def __init__(
        self,
        *,
        step: Step,
        inputs: Mapping[str, JsonValue],
        outputs: Mapping[str, JsonValue],
        own_policy: bool,
        after: str,
    ) -> None:
        self.step = step
        self._inputs = Renderer(dict(inputs))
        self._outputs = Renderer(dict(outputs))
        self._own_policy = own_policy
        self._after = after

    def context(self, state: State) -> HostContext:
        """The host's word for the graph inside: the parent's policy is not that of its steps.

        A graph that seals its host fields itself (a compiled flow) learns its place from here.
        """
        host = context_of(get_runtime(HostContext).context)
        return context_inside(host, scope=self._scope(state), own_policy=self._own_policy)

    def _scope(self, state: State) -> str:
        own, scope = label(self.step.node, 1), (state.get("run") or {}).get("scope", "")
        return f"{scope}/{own}" if scope else own

    def enter(self, state: State) -> dict[str, Any]:
        identity = {**(state.get("run") or {}), "scope": self._scope(state)}
        governed = {"bearer_token": seal(state["bearer_token"]), "run": seal(identity)}
        if not self._own_policy and "approval_policy" in state:
            governed["approval_policy"] = seal(state["approval_policy"])
        values = template_values(state, after=self._after)
        return {**self._rendered(self._inputs, values, "its inputs"), **governed}

    def leave(self, result: Mapping[str, Any]) -> dict[str, Any]:
        if result.get("rejected_at"):
            return ending("rejected", at=result["rejected_at"])
        if result.get("status") != "completed":
            raise self.step.failed(
                "its graph stopped before it reached an end",
                hint="its terminal node must write status, and its output schema must have it",
            )
        return self.step.update(self._rendered(self._outputs, result, "its outputs"))

    def _rendered(self, template: Renderer, values: Mapping[str, Any], what: str) -> dict[str, Any]:
        try:
            rendered: Any = template.render(values)
        except TemplateError as error:
            raise self.step.failed(f"{what}: {error}") from None
        return dict(rendered)
