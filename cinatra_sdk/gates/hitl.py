"""Gates: nodes that pause for a person.

In: the state of a graph.  Out: a pause with a payload, then an update made from the answer.

    graph.add_node("drafts_review", build_hitl_gate(
        step_number=3, renderer="@cinatra-ai/email-drafting-agent:output",
        values=lambda state: {"drafts": state["drafts"]}, output="drafts_note"))

    pauses with  {"xRenderer": "@cinatra-ai/…:output", "schema": {…approved…}, "values": {…}}
    answered by  {"approved": true}                    -> {"drafts_note": "[Approved by operator]"}
    answered by  {"approved": false, "reason": "no"}   -> {"rejected_at": "…", "status": "rejected"}

Each gate is one node with one `interrupt` and no effect before it: the engine runs a paused node
again from its top, and shows only the first interrupt of a node.  A rejection is *returned* as an
update.  Cinatra's agent development guide says "writes `state["rejected_at"]` and returns {}"; but
a write into a node's input state is lost, and the next node would send.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from langgraph.config import get_config
from langgraph.runtime import get_runtime
from langgraph.types import Command, interrupt
from pydantic import JsonValue, ValidationError
from pydantic_core import (
    CoreConfig,
    PydanticCustomError,
    SchemaSerializer,
    SchemaValidator,
    core_schema,
)

from cinatra_sdk.context.selector import SCREEN_KEY, is_selector
from cinatra_sdk.contract import FALLBACK_RENDERER, is_send_class
from cinatra_sdk.data.json_values import check_value
from cinatra_sdk.data.schema.checker import load_schemas
from cinatra_sdk.errors import AnswerInvalid, GateChanged, NodeFailed, PolicyInvalid, ValueRefused
from cinatra_sdk.gates.answers import APPROVAL_SCHEMA, Answer
from cinatra_sdk.gates.decisions import refuse_other_payload
from cinatra_sdk.gates.dialects import drop_shown_args
from cinatra_sdk.gates.forms.answer_form import AnswerForm
from cinatra_sdk.gates.forms.form_choice import form_of
from cinatra_sdk.gates.forms.schema_form import SchemaForm
from cinatra_sdk.gates.forms.selection_form import SelectionForm
from cinatra_sdk.gates.gate import GATE_KEY, gate_id, read_answer, selector_of
from cinatra_sdk.governed.approval_policy import parse_policy
from cinatra_sdk.governed.host_keys import find_governed, without_governed
from cinatra_sdk.governed.secret_values import find_secret, redact
from cinatra_sdk.langgraph_internals.task_facts import (
    copy_mark,
    is_invalid_resume,
    read_node_name,
    read_step,
)
from cinatra_sdk.langgraph_threads.host_context import HostContext, context_of
from cinatra_sdk.langgraph_threads.lineage import does_not_act, place_of, write_beyond
from cinatra_sdk.langgraph_threads.list_channels import read_record
from cinatra_sdk.langgraph_threads.tasks import (
    own_channels,
    require_own_graph,
    tell_skip,
    telling_node,
    visit_of,
    visited,
    was_sent,
)
from cinatra_sdk.light_imports.records import dataclass

# ----------------------------------------------------------------------------
# The messages before a gate inside a flow, for the person who decides there.
#
# In: the state of the gate's own flow.  Out: the last messages, as records of `Run.messages`.
#
#     a gate of an agent  ->  {"said": [{"role": "user", "content": "Send it"}, {"role": "assistant", …}]}
#     a gate of the root  ->  {}      what was said before it is the run's own conversation
#
# The messages of a flow inside a node join the conversation of the run when that flow has ended; until then
# a person would decide without them.  Every pause stores the list, so it is short.


_MOST: Final = 20
"""Messages, the last ones."""
_MOST_LETTERS: Final = 20_000
"""Characters of all of them, as JSON."""

Record = dict[str, JsonValue]


def describe_said(state: Mapping[str, Any]) -> dict[str, JsonValue]:
    """The last of what the gate's flow has heard and said, as `said`; empty where that is nothing,
    and for a flow in no other.
    """
    run = state.get("run")
    if not isinstance(run, Mapping) or not run.get("scope"):
        return {}
    host = context_of(get_runtime(HostContext).context)
    conversation = [*host.heard, *(state.get("messages") or ())][-_MOST:]
    held = (host.credentials.run_token, host.credentials.bearer_token)
    records = (_make_showable(read_record(one), held) for one in reversed(conversation))
    taken: list[JsonValue] = [*_take_last(one for one in records if one is not None)]
    return {"said": taken[::-1]} if taken else {}


def _make_showable(record: Record, held: tuple[str, ...]) -> Record | None:
    """A message as a gate may show it: a gate refuses to show credentials, governed keys and what no
    database stores, and what was said must not keep a person from being asked.  None where nothing of
    it can be shown.
    """
    clean: Any = _clean(without_governed(record, where="what was said before a gate"), held)
    try:
        check_value(clean, where="what was said before a gate")
    except ValueRefused:
        return None
    return None if find_secret(clean) or find_governed(clean) else clean


def _clean(value: Any, held: tuple[str, ...]) -> Any:
    """Without credentials: cut out of texts, and members left out that are named like some."""
    if isinstance(value, str):
        return redact(value, held)
    if isinstance(value, list):
        return [_clean(item, held) for item in value]
    if not isinstance(value, dict):
        return value
    made = {redact(key, held): _clean(item, held) for key, item in value.items()}
    return {key: item for key, item in made.items() if not find_secret({key: item})}


def _take_last(records: Iterable[Record]) -> Iterable[Record]:
    """Those that fit; of a last message that alone is too long its beginning.

    records: the last one first.
    """
    room = _MOST_LETTERS
    for record in records:
        size = len(json.dumps(record, ensure_ascii=False))
        if size > room:
            if room == _MOST_LETTERS:
                kept = {key: said for key, said in record.items() if key != "tool_calls"}
                yield {**kept, "content": str(record["content"])[:room]}
            return
        room -= size
        yield record


# ----------------------------------------------------------------------------
# The identity of a gate in a hand-written graph: the name of its node, and its visit.
#
# In: the node that runs now, and the state of its graph.  Out: its name and its visit, from 1.
#
#     while not good:  draft → review     ->  gates "review", "review#2", "review#3"
#
# Two gates of a graph have two nodes, so no two gates share an id, and an answer to an earlier visit
# never fits a later question.  Compiled flows count visits themselves (`cinatra_sdk.flow.plan.frame`).


def own_name() -> str:
    """The name of the running node in its graph; "gate" outside of any graph."""
    return read_node_name(_read_config()) or "gate"


def gate_visit(node: str) -> int:
    """How often the gate `node` was reached, this time included.

    A graph whose state does not inherit from `GovernedState` keeps no count.  There the number of
    the engine's step is returned: it differs between visits, and stays the same when the gate runs
    again to take its answer.
    """
    visit = visit_of(node)
    return max(1, read_step(_read_config())) if visit is None else visit


def with_visit(update: Any, node: str) -> Any:
    """The update of an answered gate, with its visit counted."""
    counted = visited(node, visit_of(node))
    if isinstance(update, Mapping):
        return {**update, **counted}
    if isinstance(update, Command) and (update.update is None or isinstance(update.update, dict)):
        return replace(update, update={**(update.update or {}), **counted})
    return update


def require_rejectable(node: str) -> None:
    """Raise `NodeFailed` where the running graph has no state key for a rejection."""
    channels = own_channels()
    if channels and "rejected_at" not in channels:
        raise NodeFailed(
            f"gate '{node}' stands in a graph whose state has no key 'rejected_at': "
            "a rejection would be lost, and the next node would run",
            node=node,
            hint="let the state inherit from cinatra_sdk.GovernedState",
        )


def _read_config() -> Mapping[str, Any]:
    try:
        return get_config()
    except RuntimeError:
        return {}  # called as a plain function


State: TypeAlias = Mapping[str, Any]
Update: TypeAlias = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The end of one visit of a gate."""

    approved: bool
    skipped: bool = False
    """The policy did not ask for approval; no person was involved."""
    denied: bool = False
    """A person denied the call before which the gate stands; the run goes on without it."""
    value: JsonValue = None
    """The value of the gate's output."""
    reason: str = ""
    by: str = ""
    at: str = ""
    """ISO 8601 time with zone."""

    @property
    def decision(self) -> str:
        """`approved`, `rejected` or `denied`."""
        return "approved" if self.approved else "denied" if self.denied else "rejected"

    def record(self, gate_id: str, node: str, visit: int, step: int) -> dict[str, JsonValue]:
        """The outcome as JSON without the value, for the state's list of decisions."""
        denied: dict[str, JsonValue] = {"denied": True} if self.denied else {}
        return {
            "gate": gate_id,
            "node": node,
            "visit": visit,
            "step": step,
            "approved": self.approved,
            "skipped": self.skipped,
            **denied,
            "reason": self.reason,
            "by": self.by,
            "at": self.at,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The question of one visit of a gate; a gate with a fixed question builds it from its
    options.
    """

    values: Mapping[str, JsonValue]
    form: AnswerForm
    schema: Mapping[str, JsonValue]
    """The payload's schema."""
    renderer: str
    gate_id: str
    visit: int
    field: str = ""
    """The one input of the run that the gate asks for, named in the payload; else empty."""
    risk: str = ""
    """Class of risk of what is asked about now; empty: the gate's own."""
    name: str = ""
    """For people; empty: the gate's own."""
    asked: str = ""
    """What is to be answered in words, at a gate that asks a question; else empty."""


GateNode: TypeAlias = Callable[[State], Update]


def build_hitl_gate(
    *,
    step_number: int,
    renderer: str = FALLBACK_RENDERER,
    node: str = "",
    name: str = "",
    description: str = "",
    risk_class: str = "read_only",
    schema: Mapping[str, JsonValue] | None = None,
    values: Callable[[State], Mapping[str, JsonValue]] | Sequence[str] = (),
    output: str = "",
    always: bool = False,
    ask: Callable[[State], Question] | None = None,
    write: Callable[[State, Outcome], Update] | None = None,
) -> GateNode:
    """A node that pauses for a person, unless the policy says otherwise.

    step_number: the entry of `state["approval_policy"]["steps"]` that governs this gate.
    renderer:    id of the screen that shows the gate.
    node, name:  the gate's id and its name for people; both default to the name of the node in
                 its graph.
    description: the author's text for the person who decides, shown first.
    risk_class:  a send class makes a missing policy entry an error instead of a skip.
    schema:      JSON Schema of the answer's value; None asks for approval or free text.
    values:      the domain data to show: a function of the state, or names of state keys.
    output:      state key for the answer's value; empty writes nothing on approval, and takes no
                 text.
    always:      the gate asks whatever the policy says.
    ask, write:  for builders of graphs: the whole question, and the whole update, by function.

    The node does nothing once `rejected_at` is set.
    Raises: `ValueError` for a governed key among the names in `values`.  Raises (when it runs):
    `PolicyInvalid`; `NodeFailed` where a secret or a governed key would be shown, or where the
    graph has no key `rejected_at` that could keep a rejection; and `FlowChanged` on a thread that
    another graph began.
    """
    load_schemas()
    if not callable(values):
        _require_shown(values)
    # Without a key for the answer nothing of the graph can read a text.
    unread = not output and write is None
    form = form_of(output=output or "approved", answer_schema=schema, unread=unread)

    def fixed_question(state: State) -> Question:
        shown = values(state) if callable(values) else {k: state[k] for k in values if k in state}
        own = node or own_name()
        visit = gate_visit(own)
        return Question(
            values=shown,
            form=form,
            schema=schema or APPROVAL_SCHEMA,
            renderer=renderer,
            gate_id=gate_id(state, own, visit),
            visit=visit,
        )

    def default_write(_state: State, outcome: Outcome) -> Update:
        if not outcome.approved:
            return {"rejected_at": outcome.at, "status": "rejected"}
        return {output: outcome.value} if output else {}

    question_of = ask or fixed_question
    update_of = write or default_write

    def gate(state: State) -> Update:
        if state.get("rejected_at") or was_sent():
            return {}
        own = node or own_name()
        if ask is None:  # a builder that gives `ask` checks the run itself
            require_own_graph(state, own)
            require_rejectable(own)
            path = gate_id(state, own, 1)
            with telling_node(path=path, visit=gate_visit(own)) as told:
                return pass_gate(state, own, told)
        return pass_gate(state, own, None)

    def pass_gate(state: State, own: str, told: dict[str, Any] | None) -> Update:
        if not always and not asks(state, step_number, risk_class, own):
            value = _choose_unasked_selection(question_of(state)) if is_selector(renderer) else None
            skipped = Outcome(approved=True, skipped=True, value=value, at=now())
            _tell_skip(told, state, own, step_number, skipped)
            return update_of(state, skipped)
        question = _add_selector(question_of(state), own)
        about: dict[str, JsonValue] = {
            "id": question.gate_id,
            "node": own,
            "visit": question.visit,
            "step": step_number,
            "risk": question.risk or risk_class,
            "name": question.name or name or own,
            **({"description": description} if description else {}),
            **describe_said(state),
        }
        answer = _interrupt_for_answer(question, about)
        write_beyond(place_of(get_config(), get_runtime().execution_info), own)
        outcome = _build_outcome(answer)
        _tell_outcome(told, outcome.record(question.gate_id, own, question.visit, step_number))
        update = update_of(state, outcome)
        return update if ask is not None else with_visit(update, own)

    return does_not_act(gate)


def _tell_skip(
    told: dict[str, Any] | None, state: State, own: str, step: int, outcome: Outcome
) -> None:
    """Tell that nobody was asked; told: None where the builder of the graph tells it."""
    if told is None:
        return
    visit = gate_visit(own)
    record = outcome.record(gate_id(state, own, visit), own, visit, step)
    _tell_outcome(told, record)
    tell_skip(record, path=gate_id(state, own, 1))


def _tell_outcome(told: dict[str, Any] | None, record: dict[str, JsonValue]) -> None:
    if told is not None:
        told["decision"] = record


def _require_shown(names: Sequence[str]) -> None:
    """Raise `ValueError` for a state key that no gate may show."""
    for name in names:
        found = find_governed({name: None}) or find_secret({name: "x"})
        if found:
            raise ValueError(f"a gate cannot show {found}: leave it out of values")


def _add_selector(question: Question, node: str) -> Question:
    """A question for a context selection, with the data for its screen and the allowed selection.

    Raises: `NodeFailed` where no answer could be valid, so that no person is asked in vain.
    """
    selector = selector_of(question.renderer, question.values)
    if selector is None:
        return question
    offered, needed = len(selector.candidates), selector.rules.min_items
    if offered < needed:
        raise NodeFailed(
            f"gate '{node}' cannot be answered: the slot \"{selector.slot_id}\" needs at least "
            f"{needed}, {offered} can be chosen (below_min_items)",
            node=node,
            code="below_min_items",
            hint="add an artifact that the slot accepts and the run's owner may see, in a project one "
            "of that project, then start a new run",
        )
    form = SelectionForm(carrier=question.form, selector=selector)
    by_author = isinstance(question.form, SchemaForm)
    return replace(
        question,
        values={**question.values, SCREEN_KEY: selector.screen()},
        form=form,
        schema=question.schema if by_author else form.schema(),
    )


def _choose_unasked_selection(question: Question) -> JsonValue:
    """The selection of a gate that the policy skips, made without a person."""
    selector = selector_of(question.renderer, question.values)
    return None if selector is None else selector.unasked()


def asks(state: State, step_number: int, risk_class: str, node: str) -> bool:
    """Whether the policy in the state wants a person at this step.

    Raises: `PolicyInvalid` for a malformed policy, and for a send class without an entry;
    `NodeFailed` where the state has no `approval_policy` key at all: then the graph lacks its host
    node, which differs from a host without a policy.
    """
    if "approval_policy" not in state:
        raise NodeFailed(
            f"gate '{node}' finds no approval_policy in the state",
            node=node,
            hint="seal the host's policy in the graph's first node: see cinatra_sdk.blocks.seal",
        )
    policy = parse_policy(state["approval_policy"])
    verdict = policy.verdict(step_number) if policy is not None else "absent"
    if verdict == "absent" and is_send_class(risk_class):
        raise PolicyInvalid(
            f"the approval policy has no entry for step {step_number}, "
            f"and gate '{node}' guards a '{risk_class}'",
            hint=f'add {{"stepNumber": {step_number}, "requiresApproval": true}}',
        )
    return verdict == "ask"


def _interrupt_for_answer(question: Question, about: dict[str, JsonValue]) -> Answer:
    """The one interrupt of a gate; returns when the run is resumed with a fitting answer."""
    gate_id = str(about["id"])
    values = dict(question.values)
    check_value(values, where=f"the payload of gate '{gate_id}'")
    secret = find_secret([values, about.get("description", "")])
    found = f"a secret: {secret}" if secret else find_governed(values)
    if found:
        raise NodeFailed(
            f"gate '{gate_id}' would show {found}",
            node=str(about["node"]),
            hint="leave it out of the gate's values and description",
        )
    payload: dict[str, JsonValue] = {
        "xRenderer": question.renderer or FALLBACK_RENDERER,
        "schema": dict(question.schema),
        "values": values,
    }
    if question.field:
        payload["fieldName"] = question.field
    response = question.form.schema()
    if question.asked:
        response["description"] = question.asked
    response[GATE_KEY] = {**about, **question.form.to_record()}
    refusals: list[AnswerInvalid | GateChanged] = []
    asked = _checked_type(question.form, gate_id, payload, response, refusals)
    try:
        answer: Answer = interrupt(payload, response_schema=asked)
    except ValidationError as error:
        if not is_invalid_resume(error) or not refusals:
            raise
        refusal = refusals[-1]
        copy_mark(error, onto=refusal)
        raise refusal from None
    return answer


def _checked_type(
    form: AnswerForm,
    gate: str,
    payload: dict[str, JsonValue],
    response: dict[str, JsonValue],
    refusals: list[AnswerInvalid | GateChanged],
) -> type[Any]:
    """A type that validates with the form of the gate; refusals: takes its errors.

    A type and not a dict, because the engine then checks the answer inside `interrupt` and stores
    no answer that does not fit: the gate stays open for another answer.
    """
    values = payload["values"]
    shown = values if isinstance(values, dict) else {}

    def read(raw: object) -> Answer:
        try:
            refuse_other_payload(raw, payload, gate=gate)
            return read_answer(form, drop_shown_args(raw, shown), gate=gate)
        except (AnswerInvalid, GateChanged) as error:
            refusals.append(error)
            # Only this project's message, without the library's text around it.
            raise PydanticCustomError(error.code, "{told}", {"told": str(error)}) from None

    schema = core_schema.no_info_plain_validator_function(
        read,
        metadata={"pydantic_js_functions": [lambda _core, _handler: response]},
    )

    class GateAnswer:
        __pydantic_core_schema__ = schema
        # A person may have pasted a secret into the answer: the engine's error must not quote it.
        __pydantic_validator__ = SchemaValidator(
            schema, CoreConfig(hide_input_in_errors=True, title="the answer")
        )
        __pydantic_serializer__ = SchemaSerializer(schema)

        @classmethod
        def __get_pydantic_json_schema__(cls, _core: Any, _handler: Any) -> dict[str, JsonValue]:
            return response

    return GateAnswer


def _build_outcome(answer: Answer) -> Outcome:
    return Outcome(
        approved=answer.approved,
        denied=answer.denied,
        value=answer.value,
        reason=answer.reason,
        by=answer.by,
        at=answer.at or now(),
    )


def now() -> str:
    """The time as every record of a run writes it: ISO 8601, UTC, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
