"""StartNode and EndNode: seals the host's keys, asks for missing inputs; ends the flow with its outputs.

In the outermost flow the StartNode is also the setup gate (step 0): while a visible required input is
missing, it pauses once per visit, for one field, or for all fields where one of them asks for the
grouped form.  Then it passes the turn on.  In a subflow the host's part arrives sealed from the parent,
and nobody is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar

from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import JsonValue

from cinatra_sdk.contract import FALLBACK_RENDERER, RUN_ID_INPUTS, SETUP_STEP
from cinatra_sdk.data.author_json import NOTHING, Json
from cinatra_sdk.data.ports import TypedPort
from cinatra_sdk.errors import InputInvalid
from cinatra_sdk.flow.plan.caller_inputs import SetupInputs, accepted_inputs, require_no_stray
from cinatra_sdk.flow.plan.casts import CastError, caster
from cinatra_sdk.flow.plan.channel_names import (
    BRANCH,
    CURSOR,
    DECISIONS,
    ENDED,
    INPUTS,
    OUTPUTS,
    node_name,
)
from cinatra_sdk.flow.plan.frame import MISSING, Frame, NodeBody
from cinatra_sdk.flow.plan.plan import NodeSite, NodeWork
from cinatra_sdk.flow.visit.confirmation import decision_record, rejection
from cinatra_sdk.flow.visit.talk import Asked, discuss
from cinatra_sdk.gates.forms.schema_form import SchemaForm
from cinatra_sdk.gates.gate import gate_id
from cinatra_sdk.gates.hitl import Outcome, Question, build_hitl_gate
from cinatra_sdk.governed.approval_policy import parse_policy, require_entries
from cinatra_sdk.governed.secret_values import without_secrets
from cinatra_sdk.langgraph_threads.host_context import (
    HostContext,
    _Derived,
    context_of,
    name_ledger,
)
from cinatra_sdk.langgraph_threads.state_channels import seal
from cinatra_sdk.light_imports.records import dataclass

GROUPED_RENDERER = "@cinatra-ai/agent-builder:grouped-setup-form"
SETUP_NAME = "Setup"
"""Name of the gate for people where the StartNode has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start(NodeWork):
    """The start of a flow; the inputs of the node are those of the flow."""

    kind: ClassVar[str] = "StartNode"
    required: tuple[str, ...] = ()
    """Inputs without which the run cannot begin, in the order in which they are asked."""
    hidden: tuple[str, ...] = ()
    """Inputs that only the caller supplies; a person is never asked for them."""
    renderers: Mapping[str, str] = field(default_factory=dict)
    """Input → id of the screen that asks for it."""
    data_sources: Json = NOTHING
    """Input → where a host finds its values, for the schema of the inputs."""

    @property
    def repeats(self) -> bool:
        return True

    def list_setup(self, inputs: tuple[TypedPort, ...]) -> SetupInputs:
        return SetupInputs(
            inputs=inputs, required=self.required, hidden=self.hidden, renderers=self.renderers
        )

    def make_body(self, site: NodeSite) -> NodeBody:
        setup = self.list_setup(site.plan.inputs)
        if site.depth > 0:
            return make_inner_start(site.frame, setup)
        wiring = site.wiring
        return make_start(
            site.frame,
            setup,
            name=site.plan.name,
            digest=wiring.digest,
            policy=wiring.policy,
            guards=wiring.guards,
        )


def make_inner_start(frame: Frame, setup: SetupInputs) -> NodeBody:
    """The start of a flow inside another one."""

    def run(state: Mapping[str, Any], _runtime: object) -> Any:
        # The parent's word, sealed; also where a client wrote into the subflow before it began.
        frame.require_own_run(state)
        if state.get(CURSOR) is not None:
            return _go_on(state)
        begun = _begin_cursor(frame, state)
        out = _with_defaults(frame, setup, state.get(INPUTS) or {})
        return frame.finish(begun, out)

    return NodeBody(run=run, reads=(INPUTS, CURSOR, "run"), takes_turns=False, chooses=True)


def make_start(
    frame: Frame,
    setup: SetupInputs,
    *,
    name: str,
    digest: str,
    policy: Callable[[], dict[str, JsonValue]],
    guards: Sequence[tuple[int, str, str]],
) -> NodeBody:
    """The start of the outermost flow.

    name:   for people, of the gate that asks for missing inputs.
    policy: makes the approval policy that holds where the host gives none.
    guards: (step, gate, send) that every policy must say something about.
    """
    ask = _make_setup_gate(frame, setup, name)

    def first(state: Mapping[str, Any], runtime: Runtime[HostContext]) -> Any:
        """The first visit of a thread: everything that only the host says is written here."""
        if "run" in state:
            frame.require_own_run(state)  # begun by a graph without turns, on the same thread
        host = context_of(runtime.context)
        info = runtime.execution_info
        thread = (info.thread_id if info is not None else "") or ""
        run_id = host.run_id or thread
        governing = host.approval_policy
        if isinstance(governing, _Derived):
            governing = policy()
        require_entries(parse_policy(governing), guards)
        caller = state.get(INPUTS)
        given = require_no_stray(
            accepted_inputs(
                setup.inputs, {} if caller is None else caller, ids_of_run=RUN_ID_INPUTS
            )
        ).values
        given |= {p.title: run_id for p in setup.inputs if p.title in RUN_ID_INPUTS}
        identity = {
            "run_id": run_id,
            "tenant": host.tenant,
            "thread": str(thread),
            "digest": digest,
            "pin": frame.pin,
            "scope": host.scope,
            **name_ledger(host),
        }
        sealed = {
            "bearer_token": seal(""),
            "approval_policy": seal(governing),
            "run": seal(identity),
            "status": "running",
        }
        return _take_in(frame, setup, _begin_cursor(frame, state), given, sealed)

    def run(state: Mapping[str, Any], runtime: Runtime[HostContext]) -> Any:
        cursor = state.get(CURSOR)
        if cursor is None:
            return first(state, runtime)
        frame.require_own_run(state)
        if cursor["next"] != frame.id:
            return _go_on(state)
        return ask(state) if frame.has_turn(state) else {}

    reads = (INPUTS, CURSOR, "run", "approval_policy", "rejected_at")
    return NodeBody(run=run, reads=reads, takes_turns=False, asks=True, chooses=True)


def _begin_cursor(frame: Frame, state: Mapping[str, Any]) -> dict[str, Any]:
    return {**state, CURSOR: {"seq": 0, "next": frame.id}}


def _go_on(state: Mapping[str, Any]) -> Any:
    """A further input on a thread that has begun changes nothing: the run goes on where it is."""
    following = state[CURSOR]["next"]
    return {} if following is None else Command(goto=node_name(following))


def _take_in(
    frame: Frame,
    setup: SetupInputs,
    state: Mapping[str, Any],
    given: dict[str, Any],
    more: dict[str, Any],
) -> Any:
    """The inputs so far: on to the first node, or back here to ask for the next one."""
    if setup.list_pending(given):
        return frame.pass_turn(state, {"out": given}, frame.id, more)
    out = _with_defaults(frame, setup, given)
    return frame.finish(state, out, more=more)


def _with_defaults(frame: Frame, setup: SetupInputs, given: Mapping[str, Any]) -> dict[str, Any]:
    values = dict(given)
    for port in setup.inputs:
        if port.title not in values and port.default is not None:
            values[port.title] = port.default.value()
    missing = [title for title in setup.required if title not in values]
    if missing:
        raise InputInvalid(
            f"flow '{frame.where}' is missing the required input '{missing[0]}'",
            hint="the caller supplies it: it is hidden from people",
        )
    return values


def _make_setup_gate(frame: Frame, setup: SetupInputs, name: str) -> Any:
    """The gate that asks for missing inputs; one visit asks for one field or one form."""
    ports = {port.title: port for port in setup.inputs}

    def ask(state: Mapping[str, Any]) -> Question:
        given = state[frame.channel]["out"]
        visit = frame.visit(state) - 1
        fields = _choose_asked_fields(setup, given)
        schema = _form_schema(fields, setup.list_pending(given), ports)
        single = fields[0] if len(fields) == 1 else ""
        return Question(
            values=without_secrets({k: v for k, v in given.items() if k not in setup.hidden}),
            form=SchemaForm(
                output=single, text_output=False, answer_schema=schema, bare=bool(single)
            ),
            schema=ports[single].schema.mapping() if single else schema,
            renderer=(setup.renderers.get(single) or FALLBACK_RENDERER)
            if single
            else GROUPED_RENDERER,
            gate_id=gate_id(state, frame.id, visit),
            visit=visit,
            field=single,
        )

    def write(state: Mapping[str, Any], outcome: Outcome) -> Any:
        visit = frame.visit(state) - 1
        decided = decision_record(frame, state, SETUP_STEP, outcome, visit)
        given = dict(state[frame.channel]["out"])
        fields = _choose_asked_fields(setup, given)
        asked = Asked(text=f"{name or SETUP_NAME}: {', '.join(fields)}", implied=True, visit=visit)
        talk = discuss(frame, state, asked, outcome)
        if not outcome.approved:
            return rejection(frame, state, outcome, decided, talk)
        filled = {fields[0]: outcome.value} if len(fields) == 1 else outcome.value
        assert isinstance(filled, dict)
        accepted = accepted_inputs(tuple(ports[title] for title in fields), filled)
        more = {DECISIONS: seal([decided]), **talk}
        return _take_in(frame, setup, state, given | accepted.values, more)

    # Missing inputs are asked for whatever the policy says: the run cannot begin without.
    return build_hitl_gate(
        step_number=SETUP_STEP,
        node=frame.id,
        name=name or SETUP_NAME,
        always=True,
        ask=ask,
        write=write,
    )


def _choose_asked_fields(setup: SetupInputs, given: Mapping[str, Any]) -> list[str]:
    """The fields of the next pause: one, or the whole form where a pending field asks for it."""
    missing = setup.list_pending(given)
    if len(missing) < 2 or all(setup.renderers.get(title) != GROUPED_RENDERER for title in missing):
        return missing[:1]
    optional = [
        port.title
        for port in setup.inputs
        if port.title not in missing and port.title not in given and port.title not in setup.hidden
    ]
    return [*missing, *optional]


def _form_schema(
    fields: list[str], required: list[str], ports: Mapping[str, TypedPort]
) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {title: ports[title].schema.mapping() for title in fields},
        "required": [title for title in required if title in fields],
        "additionalProperties": False,
    }


# ----------------------------------------------------------------------------
# The end of a flow: collects the flow's outputs and ends the run as completed.


@dataclass(frozen=True, slots=True, kw_only=True)
class End(NodeWork):
    """The end of a flow."""

    kind: ClassVar[str] = "EndNode"
    branch: str = "next"
    """The branch by which a node around the flow goes on."""

    def make_body(self, site: NodeSite) -> NodeBody:
        return make_end(
            site.frame,
            inputs=site.plan.inputs,
            outputs_of_flow=site.flow.outputs,
            branch=self.branch,
        )


def make_end(
    frame: Frame,
    *,
    inputs: Sequence[TypedPort],
    outputs_of_flow: Sequence[TypedPort],
    branch: str,
) -> NodeBody:
    """inputs: of this end.  branch: the branch of an enclosing node that this end leaves by."""
    plans = {plan.title: plan for plan in frame.inputs}
    types = {port.title: port.type for port in inputs}

    def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
        outputs = {}
        for port in outputs_of_flow:
            plan = plans.get(port.title)
            value = frame.look_up(plan, state) if plan is not None else MISSING
            if value is MISSING and port.default is not None:
                # An output that this end does not produce takes the flow-level default.
                value = port.default.value()
            elif value is not MISSING:
                convert = caster(types[port.title], port.type)
                try:
                    value = value if convert is None else convert(value)
                except CastError as error:
                    raise frame.failed(f"output '{port.title}': {error}") from None
            if value is MISSING:
                raise frame.failed(
                    f"the flow's output '{port.title}' has no value on this way through the flow",
                    hint="feed it by a data edge on every way, or give it a default",
                )
            outputs[port.title] = value
        ending = {
            OUTPUTS: seal(outputs),
            BRANCH: seal(branch),
            ENDED: seal({"scope": state["run"]["scope"]}),
            "status": "completed",
        }
        return frame.finish(state, outputs, more=ending)

    return NodeBody(run=run, computes=True)
