"""A tool that the caller of the flow runs: the node asks for the result, and goes on with it.

    asks  {"call": "look_up", "arguments": {"id": 7}}
    told  {"name": "Ada"}            its outputs, each cast as along an edge
          {"approved": false}        rejected: the run ends

The caller has the tool and the network; the flow has the question and the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from langgraph.runtime import get_runtime

from cinatra_sdk.contract import CALL_STEP, FALLBACK_RENDERER, QUESTION_TOOL
from cinatra_sdk.effects import Effect
from cinatra_sdk.engine.runtime_context import HostContext, context_of
from cinatra_sdk.errors import ShownDiffers
from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.casting import CastError, cast
from cinatra_sdk.flow.edited import open_to_edits
from cinatra_sdk.flow.effects import effect_of
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.names import DECISIONS
from cinatra_sdk.flow.nodes.confirmed import make_confirmed
from cinatra_sdk.flow.nodes.deciding import GATE_READS, rejection
from cinatra_sdk.flow.plan import NodeWork
from cinatra_sdk.flow.site import NodeSite
from cinatra_sdk.flow.talk import Asked, discuss
from cinatra_sdk.gates.forms.result import ResultForm, result_schema
from cinatra_sdk.gates.gate import gate_id
from cinatra_sdk.gates.hitl import Outcome, Question, build_hitl_gate
from cinatra_sdk.governed.state import seal
from cinatra_sdk.values.ports import TypedPort

State = Mapping[str, Any]
_RESULT: Final = ":result"
"""Behind the id of a gate whose call was confirmed at the gate of that id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientTool(NodeWork):
    """Asks the caller of the flow for the result of a tool."""

    kind: ClassVar[str] = "ClientToolNode"
    acts: ClassVar[bool] = True
    tool: str
    confirmed: bool = False
    """Whether a person confirms the call first."""

    @property
    def asks(self) -> bool:
        return True

    @property
    def asks_person(self) -> bool:
        return self.confirmed

    def make_body(self, site: NodeSite) -> NodeBody:
        if not self.confirmed:
            return make_client_tool(site.frame, tool=self.tool, name=site.plan.name)
        site = open_to_edits(site)
        return make_client_tool(
            site.frame, tool=self.tool, name=site.plan.name, confirmed=site.plan.inputs
        )


def make_client_tool(
    frame: Frame, *, tool: str, name: str, confirmed: Sequence[TypedPort] | None = None
) -> NodeBody:
    """The node that asks its caller for the result of `tool`.

    name: of the node, for people.  confirmed: the inputs of a call that a person confirms first; None:
    nobody confirms it.
    """
    asks_first = confirmed is not None
    ask_result = _make_result_gate(frame, tool=tool, name=name, confirmed=asks_first)

    def describe(state: State) -> Effect:
        held = context_of(get_runtime(HostContext).context).credentials
        return effect_of(
            frame,
            state,
            capability=tool,
            arguments=frame.gather(state),
            secrets=(held.run_token, held.bearer_token),
        )

    def run(state: State, _runtime: object) -> Any:
        if asks_first:
            effect = describe(state)
            if effect.request_sha256 != frame.shown(state):
                raise ShownDiffers(
                    f"node '{frame.where}': a person approved other arguments",
                    node=frame.id,
                    path=frame.where,
                )
        return ask_result(state)

    body = NodeBody(run=run, reads=GATE_READS, asks=True, chooses=True)
    if confirmed is None:
        return body
    return make_confirmed(frame, body, name=name, effect=describe, inputs=confirmed)


def _make_result_gate(
    frame: Frame, *, tool: str, name: str, confirmed: bool
) -> Callable[[State], Any]:
    schema = result_schema(
        {port.title: port.schema.mapping() for port in frame.outputs},
        required=[port.title for port in frame.outputs if port.default is None],
    )
    form = ResultForm(answer_schema=schema, is_question=tool == QUESTION_TOOL)

    def own_id(state: State) -> str:
        asked = gate_id(state, frame.id, frame.visit(state))
        return asked + _RESULT if confirmed else asked

    def ask(state: State) -> Question:
        return Question(
            values={"call": tool, "arguments": frame.gather(state)},
            form=form,
            schema=schema,
            renderer=FALLBACK_RENDERER,
            gate_id=own_id(state),
            visit=frame.visit(state),
        )

    def write(state: State, outcome: Outcome) -> Any:
        decided = outcome.record(own_id(state), frame.id, frame.visit(state), CALL_STEP)
        if not outcome.approved:
            question = Asked(text=f"Run {tool}", implied=True)
            return rejection(
                frame, state, outcome, decided, discuss(frame, state, question, outcome)
            )
        given = outcome.value if isinstance(outcome.value, dict) else {}
        return frame.finish(state, _cast_outputs(frame, given), more={DECISIONS: seal([decided])})

    return build_hitl_gate(
        step_number=CALL_STEP,
        node=frame.id,
        name=name or frame.id,
        risk_class=frame.risk or "read_only",
        always=True,
        ask=ask,
        write=write,
    )


def _cast_outputs(frame: Frame, given: Mapping[str, Any]) -> dict[str, Any]:
    outputs: dict[str, Any] = {}
    for port in frame.outputs:
        if port.title not in given:
            outputs[port.title] = None if port.default is None else port.default.value()
            continue
        try:
            outputs[port.title] = cast(given[port.title], port.type)
        except CastError as error:
            raise frame.failed(f"the result, output '{port.title}': {error}") from None
    return outputs
