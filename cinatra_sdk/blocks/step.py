"""The common part of every building block of a hand-written graph.

In: the state of a graph.  Out: whether the block works at all, and where its outputs go.

    step = Step(node="draft")
    step.has_work(state)             False once the run was rejected or has ended
    step.update({"subject": "Hi"})   {"draft_output": {"subject": "Hi"}}

The outputs of a block stand under one state key, `<node>_output`, so that a later block reads
them as `{{ draft_output.subject }}`: the mapping language of Cinatra's `childAgent`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias

from langchain_core.runnables import Runnable, RunnableLambda
from langgraph.runtime import get_runtime
from pydantic import JsonValue

from cinatra_sdk.data.json_values import check_value
from cinatra_sdk.data.schema.checker import load_schemas
from cinatra_sdk.data.templates.flow_templates import TemplateError
from cinatra_sdk.errors import FlowError, NodeFailed
from cinatra_sdk.gates.gate import label
from cinatra_sdk.governed.approval_policy import parse_policy
from cinatra_sdk.governed.secret_values import clean_error
from cinatra_sdk.langgraph_threads.host_context import Effects, HostContext, context_of
from cinatra_sdk.langgraph_threads.lineage import (
    arefuse_forks,
    refuse_forks,
    require_known,
    seen_update,
)
from cinatra_sdk.langgraph_threads.state_channels import AUTHORITATIVE, has_ended, seal
from cinatra_sdk.langgraph_threads.tasks import (
    require_own_graph,
    telling_node,
    visit_of,
    visited,
    was_sent,
)
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.platform_calls import aperform_call, perform_call
from cinatra_sdk.outside.http_calls.protocol import (
    DeclaredOutput,
    Platform,
    PlatformCall,
    PlatformError,
)

State: TypeAlias = Mapping[str, Any]
NodeRunnable: TypeAlias = Runnable[Any, Any]


class StateKeyMissing(NodeFailed, ValueError):
    """The state lacks a key that the host's part of the graph writes.

    A `ValueError` too, as Cinatra's agent development guide asks.
    """

    code = "state_key_missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The surroundings of one building block."""

    node: str
    """Its name in the graph, used in platform calls, errors and attestations."""
    into: str | Mapping[str, str] = ""
    """State key that takes all outputs as one object, or output title → state key.
    Empty: `<node>_output`."""
    needs: tuple[str, ...] = ()
    """State keys of decisions (`keep_decision`); the block refuses to run unless all are
    approvals.
    """
    sends: bool = False
    """Whether its risk class is one of sends: then gates that the policy skips without an entry for their
    steps are no approval.
    """
    sealed: bool = False
    """Whether the keys are `Annotated[…, HostOnly]`: then no caller can write them, and a block
    that has written its outputs does nothing.
    """
    effects: Effects = "line"
    """Where the block may act: on its thread's own line, or in forks of it too
    (`cinatra_sdk.langgraph_threads.lineage`).  The host's context overrides this value.
    """

    def __post_init__(self) -> None:
        if not self.node:
            raise ValueError("a building block needs the name of its node")
        require_known(self.effects)
        load_schemas()

    @property
    def output_key(self) -> str:
        return self.into if isinstance(self.into, str) and self.into else f"{self.node}_output"

    def has_work(self, state: State) -> bool:
        """Whether the block may and must run.

        Raises: `StateKeyMissing` without `bearer_token`; `NodeFailed` without a needed approval;
        `FlowChanged` on a thread that another graph began.
        """
        if has_ended(state) or was_sent():
            return False
        require_own_graph(state, self.node)
        if "bearer_token" not in state:
            raise StateKeyMissing(
                f"node '{self.node}': the state has no key 'bearer_token'",
                node=self.node,
                hint='begin the graph with seal_host_fields(); the value is "", also on loopback',
            )
        if self.sealed and all(key in state for key in self._keys()):
            return False
        for key in self.needs:
            decision = state.get(key)
            if not isinstance(decision, Mapping) or decision.get("approved") is not True:
                raise NodeFailed(
                    f"node '{self.node}' was reached without the approval '{key}'",
                    node=self.node,
                    hint="the gate before it writes this key: see keep_decision",
                )
        if self.sends and self.needs:
            self._require_somebody(state)
        return True

    def _require_somebody(self, state: State) -> None:
        """Raise `NodeFailed` where nobody was asked before a send, and the policy does not say so itself."""
        skipped = [state[key].get("step") for key in self.needs if state[key].get("skipped")]
        if len(skipped) < len(self.needs):
            return
        policy = parse_policy(state.get("approval_policy"))
        if policy is not None and any(policy.verdict(step) == "skip" for step in skipped):
            return
        raise NodeFailed(
            f"node '{self.node}' sends, and nobody was asked before it: the approval policy has no "
            f"entry for step {skipped[-1]}",
            node=self.node,
            hint=f'add {{"stepNumber": {skipped[-1]}, "requiresApproval": true}}, and name the gate in '
            "guards=, so that no run begins without an entry",
        )

    def update(self, out: Mapping[str, JsonValue]) -> dict[str, Any]:
        """The outputs as an update of the state.

        Raises: `ValueRefused`.
        """
        check_value(out, where=f"output of node '{self.node}'")
        if isinstance(self.into, str):
            placed: dict[str, Any] = {self.output_key: dict(out)}
        else:
            placed = {key: out[title] for title, key in self.into.items()}
        return {key: seal(value) for key, value in placed.items()} if self.sealed else placed

    def place(self, state: State) -> str:
        """The block as events name it, with the nodes around it."""
        scope = (state.get("run") or {}).get("scope", "")
        own = label(self.node, 1)
        return f"{scope}/{own}" if scope else own

    def _keys(self) -> list[str]:
        return [self.output_key] if isinstance(self.into, str) else list(self.into.values())

    def failed(self, message: str, *, hint: str = "") -> NodeFailed:
        return NodeFailed(f"node '{self.node}': {message}", node=self.node, hint=hint)


def template_values(state: State, *, after: str = "") -> dict[str, Any]:
    """The values for templates: the state without authoritative keys, and `child_output` of node
    `after`.
    """
    values = {key: value for key, value in state.items() if key not in AUTHORITATIVE}
    previous = state.get(f"{after}_output") if after else None
    return values if previous is None else {**values, "child_output": previous}


def node_of(
    name: str, run: Callable[..., Any], arun: Callable[..., Awaitable[Any]] | None = None
) -> NodeRunnable:
    """A graph node in its synchronous and asynchronous form; without `arun` it only computes."""
    if arun is not None:
        return RunnableLambda(run, afunc=arun, name=name)

    async def computed(state: State) -> Any:
        return run(state)

    return RunnableLambda(run, afunc=computed, name=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformStep:
    """A block that makes one request through the platform."""

    step: Step
    platform: Platform
    url: str
    body: Callable[[State, str], JsonValue]
    """The rendered body, from the state and the run's id.  May raise `TemplateError`."""
    outputs: Mapping[str, Mapping[str, JsonValue]]
    """Output title → JSON Schema; an output with a `default` may be missing from the answer."""
    risk_class: str = ""
    timeout: float | None = None
    at_most_once: bool = False
    """Whether a call that may have happened is never made again; needs a ledger."""
    refused: Callable[[State, PlatformCall, PlatformError], Mapping[str, Any] | None] | None = None
    """Makes the update when the platform refuses the call; `None`, or a result of `None`, fails the
    node.
    """

    finish: Callable[[State, PlatformCall], PlatformCall] | None = None
    """Puts into the call what is read only when it is made, and is no part of what it is known by."""

    def node(self) -> NodeRunnable:
        """The LangGraph node."""
        platform, step = self.platform, self.step

        def run(state: State) -> dict[str, Any]:
            if not step.has_work(state):
                return {}
            since, runtime = state.get("seen", ""), get_runtime(HostContext)
            seen = refuse_forks(state, runtime, node=step.node, effects=step.effects, since=since)
            visit = visit_of(step.node)
            door = context_of(runtime.context).door
            with telling_node(path=step.place(state), visit=visit or 1):
                call = self._build_call(state, visit)
                try:
                    with _clean_errors(call):
                        out = perform_call(
                            platform,
                            call,
                            door,
                            defaults=self._defaults,
                            finish=self._finish(state),
                        )
                except PlatformError as error:
                    finished = self._build_refused_update(state, call, error)
                else:
                    finished = self.step.update(out)
            return {**finished, **seen_update(seen), **visited(step.node, visit)}

        async def arun(state: State) -> dict[str, Any]:
            if not step.has_work(state):
                return {}
            since, runtime = state.get("seen", ""), get_runtime(HostContext)
            seen = await arefuse_forks(
                state, runtime, node=step.node, effects=step.effects, since=since
            )
            visit = visit_of(step.node)
            door = context_of(runtime.context).door
            with telling_node(path=step.place(state), visit=visit or 1):
                call = self._build_call(state, visit)
                try:
                    with _clean_errors(call):
                        out = await aperform_call(
                            platform,
                            call,
                            door,
                            defaults=self._defaults,
                            finish=self._finish(state),
                        )
                except PlatformError as error:
                    finished = self._build_refused_update(state, call, error)
                else:
                    finished = self.step.update(out)
            return {**finished, **seen_update(seen), **visited(step.node, visit)}

        return node_of(step.node, run, arun)

    def _finish(self, state: State) -> Callable[[PlatformCall], PlatformCall] | None:
        return None if self.finish is None else partial(self.finish, state)

    def _build_call(self, state: State, visit: int | None) -> PlatformCall:
        runtime = get_runtime(HostContext)
        host = context_of(runtime.context)
        identity: Mapping[str, str] = state.get("run") or {}
        run_id, scope = identity.get("run_id", ""), identity.get("scope", "")
        try:
            body = self.body(state, run_id)
        except TemplateError as error:
            raise self.step.failed(f"request: {error}") from None
        return PlatformCall(
            node=self.step.node,
            path=f"{scope}/{self.step.node}" if scope else self.step.node,
            method="POST",
            url=self.url,
            body=body,
            outputs=declared(self.outputs),
            risk_class=self.risk_class,
            run_id=run_id,
            context_id=host.context_id or run_id,
            idempotency_key=effect_key(identity, self._position(visit)),
            once=self.at_most_once,
            visit=visit or 1,
            timeout=self.timeout,
            credentials=host.credentials,
        )

    def _position(self, visit: int | None) -> str:
        """A key that differs for every visit of the node in its graph."""
        if visit is not None:
            return label(self.step.node, visit)
        # The engine's name of the task stays the same when the graph resumes after a crash, and
        # changes after a further input.
        info = get_runtime(HostContext).execution_info
        return f"{self.step.node}\n{info.task_id if info is not None else ''}"

    def _build_refused_update(
        self, state: State, call: PlatformCall, error: PlatformError
    ) -> dict[str, Any]:
        update = None if self.refused is None else self.refused(state, call, error)
        if update is None:
            raise error
        return dict(update)

    @property
    def _defaults(self) -> dict[str, JsonValue]:
        return {
            title: schema["default"]
            for title, schema in self.outputs.items()
            if "default" in schema
        }


@contextmanager
def _clean_errors(call: PlatformCall) -> Iterator[None]:
    """Cut the call's secrets out of a platform's errors, because the engine stores their text."""
    raised: Exception | None = None
    try:
        yield
    except (FlowError, PlatformError) as error:
        raised = error
        if not clean_error(error, call.secrets):
            raised = NodeFailed(f"node '{call.node}': its call failed", node=call.node)
    # Raised outside of the handler, where the original error would stay in its context.
    if raised is not None:
        raise raised


def declared(outputs: Mapping[str, Mapping[str, JsonValue]]) -> tuple[DeclaredOutput, ...]:
    """Schemas by title as the platform's declared outputs."""
    return tuple(
        DeclaredOutput(title=title, schema=schema, has_default="default" in schema)
        for title, schema in outputs.items()
    )


def effect_key(identity: Mapping[str, str], position: str) -> str:
    """The idempotency key of one visit: the same after a crash, never used twice."""
    about = [identity.get(key, "") for key in ("tenant", "run_id", "thread", "scope")]
    return hashlib.sha256("\n".join([*about, position]).encode()).hexdigest()
