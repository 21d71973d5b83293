"""A gate of a flow, built by `build_hitl_gate`; the values that it shows; a message to the user.

A rejection ends the run here: the gate names no next node, so no node can run.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from pydantic import JsonValue

from cinatra_sdk.context.candidates import REFUSED_KEY
from cinatra_sdk.contract import MAX_GATE_VISITS
from cinatra_sdk.data.author_json import Json
from cinatra_sdk.data.json_values import NotStrictJson, read_json
from cinatra_sdk.data.ports import STRING, TypedPort
from cinatra_sdk.data.templates.flow_templates import Renderer, TemplateError
from cinatra_sdk.errors import LimitExceeded
from cinatra_sdk.flow.nodes.start_and_end import Start
from cinatra_sdk.flow.plan.casts import CastError, cast
from cinatra_sdk.flow.plan.channel_names import DECISIONS, channel_of
from cinatra_sdk.flow.plan.frame import MISSING, Frame, NodeBody
from cinatra_sdk.flow.plan.plan import NodeSite, NodeWork
from cinatra_sdk.flow.visit.confirmation import GATE_READS, decision_record, rejection
from cinatra_sdk.flow.visit.governance_gate import REFUSED
from cinatra_sdk.flow.visit.talk import Asked, discuss, say
from cinatra_sdk.gates.answers import APPROVAL_SCHEMA, APPROVED_TEXT
from cinatra_sdk.gates.forms.answer_form import AnswerForm
from cinatra_sdk.gates.forms.form_choice import form_of
from cinatra_sdk.gates.gate import gate_id
from cinatra_sdk.gates.hitl import Outcome, Question, build_hitl_gate
from cinatra_sdk.governed.secret_values import find_secret, redact, without_secrets
from cinatra_sdk.langgraph_threads.state_channels import seal
from cinatra_sdk.light_imports.records import dataclass

# ----------------------------------------------------------------------------
# The values that a gate of a flow shows.


_OPENS: Final = re.compile(r"\{[{%#]")
_CLOSES: Final = {"{{": "}}", "{%": "%}", "{#": "#}"}
_QUOTED: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)
"""A quoted text; an unclosed one goes to the end, so that it is read once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownValues:
    """The data that a gate shows.

    From the least to the most specific: the flow's visible inputs, what the node before put out,
    the gate's message (its own, else that of the node before), and its own declared inputs.
    A message that its author wrote as one JSON object is shown by its members, any other as `output`.
    Only the author's own choices (message, declared inputs) may fail on a secret; what the
    runtime adds by itself is left out instead.
    """

    frame: Frame
    start: str
    """Channel of the StartNode."""
    hidden: frozenset[str]
    """Inputs of the flow that no person sees."""
    message: Renderer | None
    """The gate's own message."""
    authored: frozenset[str]
    """Names that the author wrote into the message itself."""
    previous: Mapping[str, frozenset[str]]
    """Channels of the nodes before, each with the names in the text of its message."""
    finalizes: tuple[str, ...] = ()
    """Channels of the nodes that ask this gate again."""

    def channels(self) -> tuple[str, ...]:
        return (self.start, *self.previous, *self.finalizes)

    def values(self, state: Mapping[str, Any]) -> dict[str, JsonValue]:
        extra: dict[str, JsonValue] = {}
        started = state.get(self.start)
        if started is not None:
            extra.update({k: v for k, v in started["out"].items() if k not in self.hidden})
        before, last = self._find_last_record(state)
        if last is not None:
            extra.update(last["out"])
        own: dict[str, JsonValue] = {}
        found = self._find_inputs(state)
        if self.message is not None:
            text = self._render(self.message, found)
            own.update({} if text is None else _message_values(text, self.authored))
        elif last is not None and "message" in last:
            own.update(_message_values(last["message"], self.previous[before]))
        own.update(_replace_missing(found))
        return {**without_secrets(extra), **own, **self._read_refusal(state)}

    def find_message(self, state: Mapping[str, Any]) -> str | None:
        """The gate's own message; None where it has none, or its inputs have no value yet."""
        if self.message is None:
            return None
        return self._render(self.message, self._find_inputs(state))

    def _find_inputs(self, state: Mapping[str, Any]) -> dict[str, Any]:
        return {plan.title: self.frame.look_up(plan, state) for plan in self.frame.inputs}

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
            raise self.frame.failed(f"message: {error}") from None
        # An input of the same name may hide it on the screen; in the conversation it would stand.
        if secret := find_secret(text):
            raise self.frame.failed(f"message: it would show a secret: {secret}")
        return text

    def _read_refusal(self, state: Mapping[str, Any]) -> dict[str, JsonValue]:
        """Why a person is asked again, at the gate of a context selection."""
        for channel in self.finalizes:
            refused = (state.get(channel) or {}).get(REFUSED)
            if refused is not None:
                return {REFUSED_KEY: {k: v for k, v in refused.items() if k != "times"}}
        return {}

    def _find_last_record(self, state: Mapping[str, Any]) -> tuple[str, Mapping[str, Any] | None]:
        records = [(c, state[c]) for c in self.previous if state.get(c) is not None]
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


def find_quoted_texts(message: str | None) -> frozenset[str]:
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


# ----------------------------------------------------------------------------
# A message to the user, and the payload of the next gate.
#
# The text is kept with the node's record too: where it is one JSON object, the gate that runs next
# shows its members as values (Cinatra's convention for filling a screen).


@dataclass(frozen=True, slots=True, kw_only=True)
class Message(NodeWork):
    """Says something to the user."""

    kind: ClassVar[str] = "OutputMessageNode"
    message: str
    """A template over the node's inputs."""

    def make_body(self, site: NodeSite) -> NodeBody:
        return make_message(site.frame, message=self.message)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageWithOutput(Message):
    """A message that is an output of its node, too."""

    kind: ClassVar[str] = "PluginOutputMessageNode"


def make_message(frame: Frame, *, message: str) -> NodeBody:
    """message: a template over the node's inputs; an output of the node gets the text."""
    renderer = Renderer(message)

    def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
        try:
            text = renderer.text(frame.gather(state))
        except TemplateError as error:
            raise frame.failed(f"message: {error}") from None
        given = {port.title: text for port in frame.outputs}
        update = frame.finish(state, given, more=say(frame, state, text))
        update[frame.channel]["message"] = text
        return update

    return NodeBody(run=run, computes=True)


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
