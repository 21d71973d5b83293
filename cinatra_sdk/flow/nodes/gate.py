"""A gate of a flow, built by `build_hitl_gate`.

A rejection ends the run here: no node is named next, so none can run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import JsonValue

from cinatra_sdk.contract import MAX_GATE_VISITS
from cinatra_sdk.errors import LimitExceeded
from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.casting import CastError, cast
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.names import DECISIONS, channel_of
from cinatra_sdk.flow.nodes.deciding import GATE_READS, decision_record, rejection
from cinatra_sdk.flow.nodes.message import Message
from cinatra_sdk.flow.nodes.shown import ShownValues, find_quoted_texts
from cinatra_sdk.flow.nodes.start import Start
from cinatra_sdk.flow.plan import NodeWork
from cinatra_sdk.flow.site import NodeSite
from cinatra_sdk.flow.talk import Asked, discuss
from cinatra_sdk.gates.answers import APPROVAL_SCHEMA, APPROVED_TEXT
from cinatra_sdk.gates.forms.choosing import form_of
from cinatra_sdk.gates.forms.form import AnswerForm
from cinatra_sdk.gates.gate import gate_id
from cinatra_sdk.gates.hitl import Outcome, Question, build_hitl_gate
from cinatra_sdk.governed.secrets import redact
from cinatra_sdk.governed.state import seal
from cinatra_sdk.templates.rendering import Renderer
from cinatra_sdk.values.json_text import Json
from cinatra_sdk.values.ports import TypedPort
from cinatra_sdk.values.types import STRING


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanGate(NodeWork):
    """Asks a person; the answer is the node's one output."""

    kind: ClassVar[str] = "InputMessageNode"
    step: int
    """The step of the approval policy that governs it."""
    name: str
    renderer: str
    """The screen that shows it; empty: the host's own."""
    risk_class: str
    description: str = ""
    message: str | None = None
    """What it says: a template over the node's inputs."""
    schema: Json | None = None
    """Of the answer; None asks for approval or text."""
    document: Json | None = None
    """JSON Schema of the document that a text output carries."""
    shows: tuple[str, ...] = ()
    """The nodes before it, of which the last one that ran is shown."""
    is_question: bool = False
    """Whether it asks for a text that the flow goes on with, to which a yes is no answer."""
    is_unread: bool = False
    """Whether nothing of the flow reads what it puts out, so that a text would only approve."""
    again: tuple[str, ...] = ()
    """The nodes that may come back to it, and say why."""
    max_visits: int | None = None

    @property
    def asks(self) -> bool:
        return True

    def make_form(self, output: TypedPort) -> AnswerForm:
        """The form of the answers."""
        return form_of(
            output=output.title,
            text_output=output.type == STRING,
            answer_schema=None if self.schema is None else self.schema.mapping(),
            output_schema=None if output.type == STRING else output.schema.mapping(),
            document_schema=None if self.document is None else self.document.mapping(),
            question=self.is_question,
            unread=self.is_unread,
        )

    def make_body(self, site: NodeSite) -> NodeBody:
        output = site.plan.outputs[0]
        governed = GovernedGate(
            step=self.step,
            name=self.name,
            renderer=self.renderer,
            risk_class=self.risk_class,
            description=self.description,
        )
        return make_gate(
            site.frame,
            governed,
            output=output,
            form=self.make_form(output),
            schema=self.schema,
            shown=self._list_shown(site),
            max_visits=self.max_visits,
        )

    def _list_shown(self, site: NodeSite) -> ShownValues:
        start = site.flow.start_node
        hidden = start.work.hidden if isinstance(start.work, Start) else ()
        return ShownValues(
            frame=site.frame,
            start=channel_of(start.id),
            hidden=frozenset(hidden),
            message=None if self.message is None else Renderer(self.message),
            authored=find_quoted_texts(self.message),
            previous={
                channel_of(node_id): find_quoted_texts(_read_message(site.find_work(node_id)))
                for node_id in self.shows
            },
            finalizes=tuple(channel_of(node_id) for node_id in self.again),
        )


def _read_message(work: NodeWork) -> str | None:
    return work.message if isinstance(work, Message) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class GovernedGate:
    """How one gate is asked, and the step of the approval policy that governs it."""

    step: int
    name: str
    renderer: str
    risk_class: str
    description: str = ""


def make_gate(
    frame: Frame,
    governed: GovernedGate,
    *,
    output: TypedPort,
    form: AnswerForm,
    schema: Json | None,
    shown: ShownValues,
    max_visits: int | None = None,
) -> NodeBody:
    """output: takes the answer's value.  schema: of the answer; None asks for approval or text."""
    cap = max_visits or MAX_GATE_VISITS

    def ask(state: Mapping[str, Any]) -> Question:
        visit = frame.visit(state)
        question = asked(state).text if form.needs_words and schema is None else ""
        return Question(
            values=shown.values(state),
            form=form,
            schema=schema.mapping() if schema else _schema_of(form, question),
            asked=question,
            renderer=governed.renderer,
            gate_id=gate_id(state, frame.id, visit),
            visit=visit,
        )

    def write(state: Mapping[str, Any], outcome: Outcome) -> Any:
        decided = decision_record(frame, state, governed.step, outcome)
        # Nobody was asked at a skipped gate, whose message may lack what it would show.
        talk = {} if outcome.skipped else discuss(frame, state, asked(state), outcome)
        if not outcome.approved:
            return rejection(frame, state, outcome, decided, talk)
        value = outcome.value
        if outcome.skipped and value is None:
            value = _skipped_value(output)
        try:
            out = {output.title: cast(value, output.type)}
        except CastError as error:
            raise frame.failed(f"the answer: {error}") from None
        return frame.finish(state, out, more={DECISIONS: seal([decided]), **talk})

    def asked(state: Mapping[str, Any]) -> Asked:
        own = shown.find_message(state)
        if own is not None:
            return Asked(text=own)
        return Asked(text=redact(governed.description or governed.name), implied=True)

    gate = build_hitl_gate(
        step_number=governed.step,
        renderer=governed.renderer,
        node=frame.id,
        name=governed.name,
        description=governed.description,
        risk_class=governed.risk_class,
        ask=ask,
        write=write,
    )

    def run(state: Mapping[str, Any], _runtime: object) -> Any:
        if frame.visit(state) > cap:
            raise LimitExceeded(
                f"gate '{frame.where}' was visited {cap} times, which is its limit",
                node=frame.id,
                path=frame.where,
                hint="give the loop a way out"
                + (
                    ""
                    if cap == MAX_GATE_VISITS
                    else f", or raise maxGateVisits (at most {MAX_GATE_VISITS})"
                ),
            )
        return gate(state)

    return NodeBody(run=run, reads=(*GATE_READS, *shown.channels()), asks=True, chooses=True)


def _schema_of(form: AnswerForm, question: str) -> Mapping[str, JsonValue]:
    """JSON Schema in the payload of a gate without one of its author: of a question that of its text,
    with what is asked; else that of a yes.
    """
    if not question or form.fields_schema is None:
        return APPROVAL_SCHEMA
    return {**form.fields_schema, "description": question}


def _skipped_value(output: TypedPort) -> JsonValue:
    """The output of a gate that the policy skips: its default, else an approval's text."""
    if output.default is not None:
        return output.default.value()
    return APPROVED_TEXT if output.type == STRING else None
