"""InputMessageNode: a gate, built by `build_hitl_gate`.

The compiler adds the policy step, the values to show, the limit of visits, and the next node after
an approval.  A rejection ends the run here: no node is named next, so none can run.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.context.refusal import REFUSED_KEY
from cinatra_sdk.contract import MAX_GATE_VISITS
from cinatra_sdk.errors import LimitExceeded
from cinatra_sdk.gates.answers import APPROVAL_SCHEMA, APPROVED_TEXT
from cinatra_sdk.gates.forms.choosing import form_of
from cinatra_sdk.gates.forms.form import AnswerForm
from cinatra_sdk.gates.gate import gate_id
from cinatra_sdk.gates.hitl import Outcome, Question, build_hitl_gate
from cinatra_sdk.governed.secrets import find_secret, without_secrets
from cinatra_sdk.governed.state import seal
from cinatra_sdk.templates.rendering import Renderer, TemplateError
from cinatra_sdk.values.strict_json import NotStrictJson, read_json
from oas_compiler.control.shown import shown_at
from oas_compiler.ir import (
    STRING,
    FlowIR,
    InputMessageNode,
    Node,
    OutputMessageNode,
)
from oas_compiler.lower.casting import CastError, cast
from oas_compiler.lower.frame import MISSING, Frame
from oas_compiler.lower.names import DECISIONS, MESSAGES, channel_of
from oas_compiler.lower.registry import Lowered, LoweringSite
from oas_compiler.lower.reopening import REFUSED, leading_back_to

_OPENS: Final = re.compile(r"\{[{%#]")
_CLOSES: Final = {"{{": "}}", "{%": "%}", "{#": "#}"}
_QUOTED: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)
"""A quoted text; an unclosed one goes to the end, so that it is read once."""
GATE_READS = ("approval_policy", "rejected_at", "run")


def _text_of(node: InputMessageNode, key: str) -> str:
    """A text of the node's `metadata.cinatra`; empty where it has none of that name."""
    value = node.cinatra.mapping().get(key)
    return value if isinstance(value, str) else ""


def lower_gate(site: LoweringSite) -> Lowered:
    node, frame = site.node, site.frame
    assert isinstance(node, InputMessageNode)
    spec = site.wiring.approval.gate(frame.path)
    output = node.outputs[0]
    form = answer_form(node)
    cap = node.max_visits or MAX_GATE_VISITS
    shown = _Shown(node, frame, site.flow)

    def ask(state: Mapping[str, Any]) -> Question:
        visit = frame.visit(state)
        return Question(
            values=shown.values(state),
            form=form,
            schema=node.answer_schema.mapping() if node.answer_schema else APPROVAL_SCHEMA,
            renderer=spec.renderer,
            gate_id=gate_id(state, node.id, visit),
            visit=visit,
        )

    def write(state: Mapping[str, Any], outcome: Outcome) -> Any:
        decided = decision_record(frame, state, spec.step, outcome)
        if not outcome.approved:
            return rejection(frame, state, outcome, decided)
        value = outcome.value
        if outcome.skipped and value is None:
            value = _skipped_value(node)
        try:
            out = {output.title: cast(value, output.type)}
        except CastError as error:
            raise frame.failed(f"the answer: {error}") from None
        more = {DECISIONS: seal([decided])}
        if not outcome.skipped:
            more[MESSAGES] = seal(shown.messages(state))
        return frame.finish(state, out, more=more)

    gate = build_hitl_gate(
        step_number=spec.step,
        renderer=spec.renderer,
        node=node.id,
        name=spec.name,
        description=spec.description or _text_of(node, "description"),
        risk_class=spec.risk_class,
        ask=ask,
        write=write,
    )

    def run(state: Mapping[str, Any], _runtime: object) -> Any:
        if frame.visit(state) > cap:
            raise LimitExceeded(
                f"gate '{frame.where}' was visited {cap} times, which is its limit",
                node=node.id,
                path=frame.where,
                hint="give the loop a way out"
                + (
                    ""
                    if cap == MAX_GATE_VISITS
                    else f", or raise maxGateVisits (at most {MAX_GATE_VISITS})"
                ),
            )
        return gate(state)

    return Lowered(run=run, reads=(*GATE_READS, *shown.channels()), chooses=True)


def answer_form(node: InputMessageNode) -> AnswerForm:
    """The form of the gate's answers, from the author's schemas."""
    output = node.outputs[0]
    schema = node.answer_schema.mapping() if node.answer_schema is not None else None
    inner = node.cinatra.mapping().get("formSchema")
    if schema is not None and schema.get("x-envelope") == "json-string":
        shape = schema.get("x-envelope-shape")
        inner = {"type": "object", "properties": shape} if isinstance(shape, dict) else inner
    return form_of(
        output=output.title,
        text_output=output.type == STRING,
        answer_schema=schema,
        output_schema=None if output.type == STRING else output.schema.mapping(),
        document_schema=inner if isinstance(inner, dict) else None,
    )


def decision_record(
    frame: Frame, state: Mapping[str, Any], step: int, outcome: Outcome, visit: int | None = None
) -> dict[str, JsonValue]:
    """The decision as the state keeps it, and as an audit reads it later."""
    at_visit = frame.visit(state) if visit is None else visit
    own_id = gate_id(state, frame.node.id, at_visit)
    return outcome.record(own_id, frame.node.id, at_visit, step)


def rejection(
    frame: Frame, state: Mapping[str, Any], outcome: Outcome, decided: dict[str, JsonValue]
) -> Any:
    """The update that ends the run as rejected."""
    ending = {"rejected_at": outcome.at, "status": "rejected", DECISIONS: seal([decided])}
    return frame.pass_turn(state, {"out": {}}, None, ending)


def _skipped_value(node: InputMessageNode) -> JsonValue:
    """The output of a gate that the policy skips: its default, else an approval's text."""
    output = node.outputs[0]
    if output.default is not None:
        return output.default.value()
    return APPROVED_TEXT if output.type == STRING else None


class _Shown:
    """The data that a gate shows.

    From the least to the most specific: the flow's visible inputs, what the node before put out,
    the gate's message (its own, else that of the node before), and its own declared inputs.
    A message that its author wrote as one JSON object is shown by its members, any other as `output`.
    Only the author's own choices (message, declared inputs) may fail on a secret; what the
    runtime adds by itself is left out instead.
    """

    def __init__(self, node: InputMessageNode, frame: Frame, flow: FlowIR) -> None:
        self._frame = frame
        start = flow.start_node()
        self._start = channel_of(start.id)
        self._message = None if node.message is None else Renderer(node.message)
        self._authored = _find_quoted_texts(node.message)
        """Names that the author wrote into the message itself."""
        self._hidden = frozenset(start.hidden)
        self._finalizes = tuple(channel_of(id_) for id_ in leading_back_to(flow, node.id))
        self._previous = {
            channel_of(source): _find_quoted_texts(_message_of(flow.by_id[source]))
            for source in shown_at(flow, node.id)
        }
        """Channels of the nodes before, each with the names in the text of its message."""

    def channels(self) -> tuple[str, ...]:
        return (self._start, *self._previous, *self._finalizes)

    def values(self, state: Mapping[str, Any]) -> dict[str, JsonValue]:
        extra: dict[str, JsonValue] = {}
        started = state.get(self._start)
        if started is not None:
            extra.update({k: v for k, v in started["out"].items() if k not in self._hidden})
        before, last = self._find_last_record(state)
        if last is not None:
            extra.update(last["out"])
        own: dict[str, JsonValue] = {}
        found = self._find_inputs(state)
        if self._message is not None:
            text = self._render(self._message, found)
            own.update({} if text is None else _message_values(text, self._authored))
        elif last is not None and "message" in last:
            own.update(_message_values(last["message"], self._previous[before]))
        own.update(_replace_missing(found))
        return {**without_secrets(extra), **own, **self._read_refusal(state)}

    def messages(self, state: Mapping[str, Any]) -> list[dict[str, JsonValue]]:
        """The gate's own message, as the conversation keeps it; the answer is in the decisions."""
        if self._message is None:
            return []
        text = self._render(self._message, self._find_inputs(state))
        if text is None:
            return []
        return [{"role": "assistant", "content": text, "node": self._frame.node.id}]

    def _find_inputs(self, state: Mapping[str, Any]) -> dict[str, Any]:
        return {plan.title: self._frame.look_up(plan, state) for plan in self._frame.inputs}

    def _render(self, message: Renderer, found: Mapping[str, Any]) -> str | None:
        """The gate's own message; `None` if an input of it has no value yet.

        In a loop a later node may supply that input: the gate shows null for it, and asks all the
        same.
        """
        try:
            text = message.text(_replace_missing(found))
        except TemplateError as error:
            if MISSING in found.values():
                return None
            raise self._frame.failed(f"message: {error}") from None
        # An input of the same name may hide it on the screen; in the conversation it would stand.
        if secret := find_secret(text):
            raise self._frame.failed(f"message: it would show a secret: {secret}")
        return text

    def _read_refusal(self, state: Mapping[str, Any]) -> dict[str, JsonValue]:
        """Why a person is asked again, at the gate of a context selection."""
        for channel in self._finalizes:
            refused = (state.get(channel) or {}).get(REFUSED)
            if refused is not None:
                return {REFUSED_KEY: {k: v for k, v in refused.items() if k != "times"}}
        return {}

    def _find_last_record(self, state: Mapping[str, Any]) -> tuple[str, Mapping[str, Any] | None]:
        records = [(c, state[c]) for c in self._previous if state.get(c) is not None]
        return max(records, key=lambda one: one[1]["seq"]) if records else ("", None)


def _replace_missing(found: Mapping[str, Any]) -> dict[str, Any]:
    return {title: None if value is MISSING else value for title, value in found.items()}


def _message_values(text: str, authored: frozenset[str]) -> dict[str, JsonValue]:
    """The members of a message, where the author wrote the name of each; else all of it as text.

    What a model or a caller puts into a message must not replace what else the gate shows.
    """
    try:
        decoded = read_json(text)
    except NotStrictJson:
        decoded = None
    return decoded if isinstance(decoded, dict) and decoded.keys() <= authored else {"output": text}


def _message_of(node: Node) -> str | None:
    return node.message if isinstance(node, OutputMessageNode) else None


def _find_quoted_texts(message: str | None) -> frozenset[str]:
    """The quoted texts that stand in a message outside of its template language."""
    found = set()
    for quoted in _QUOTED.findall(_without_language(message or "")):
        with contextlib.suppress(NotStrictJson):
            found.add(str(read_json(quoted)))
    return frozenset(found)


def _without_language(message: str) -> str:
    parts, at = [], 0
    while opened := _OPENS.search(message, at):
        end = message.find(_CLOSES[opened[0]], opened.end())
        if end < 0:
            break
        parts.append(message[at : opened.start()])
        at = end + 2
    return "".join(parts) + message[at:]
