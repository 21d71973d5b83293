"""A waiting gate: the payload for a person, and the gate's id.

In: LangGraph interrupts that `build_hitl_gate` raised.  Out: `Gate` records.

    graph.get_state(config).interrupts  ->  [Gate(id="review_gate", node="review_gate", …)]

A gate's id is the path of its node with the visit, `outer/inner/review#2`; the first visit has no
number.  Every visit has its own id, so an old answer can never fit a later question.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from pydantic import JsonValue

from cinatra_sdk.context.selector import Selector, is_selector, read_selector
from cinatra_sdk.contract import QUESTION_TOOL
from cinatra_sdk.data.text.message_words import say_number
from cinatra_sdk.errors import AnswerInvalid, GateUnreadable
from cinatra_sdk.gates.answers import TAKES_TEXT, Answer, said_name
from cinatra_sdk.gates.decisions import Decision, hash_payload, refuse_other_payload
from cinatra_sdk.gates.dialects import drop_shown_args
from cinatra_sdk.gates.forms.answer_form import AnswerForm
from cinatra_sdk.gates.forms.approval_forms import (
    ApprovalForm,
    ConfirmationForm,
    ForeignForm,
    TextForm,
)
from cinatra_sdk.gates.forms.form_choice import form_of
from cinatra_sdk.gates.forms.tool_result_form import ResultForm
from cinatra_sdk.light_imports.records import dataclass

if TYPE_CHECKING:
    from langgraph.types import Interrupt

GATE_KEY: Final = "x-gate"
"""Key of the gate's identity in the response schema of an interrupt."""
_MOST_NAMES: Final = 5
"""Members of a given object that an error lists."""
_LONGEST_EXAMPLE: Final = 500
"""Characters of the longest example in an error; `oasflow gates --json` shows longer examples."""


def label(node: str, visit: int) -> str:
    """One part of a gate's id: the node, with the number of its visit from the second visit on.

    Letters that mean something in an id are escaped in a node's own: `/`, `#`, `[`, `]`, `%`.
    """
    name = quote(node, safe=" !$&'()*+,;=:@~^{}<>|\\\"`")
    return name if visit == 1 else f"{name}#{visit}"


def label_item(node: str, visit: int, item: int) -> str:
    """As `label`, for one of the flows that a node runs: `each[0]`, `each#2[0]`."""
    return f"{label(node, visit)}[{item}]"


def gate_id(state: Mapping[str, Any], node: str, visit: int) -> str:
    """The gate's id in the whole run: the outer nodes with their visits, then the gate."""
    scope = (state.get("run") or {}).get("scope", "")
    own = label(node, visit)
    return f"{scope}/{own}" if scope else own


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One visit of a gate that waits for its decision."""

    id: str
    """Unique in the run; answers name it."""
    node: str
    """The original OAS node id."""
    visit: int
    """How often this gate was reached, from 1."""
    step: int
    """Number of the gate's step in the approval policy."""
    risk: str
    """Risk class of the step."""
    name: str
    """The gate's name for people: the OAS name."""
    renderer: str
    """Id of the screen that shows the gate."""
    schema: Mapping[str, JsonValue]
    """JSON Schema as in the payload."""
    values: Mapping[str, JsonValue]
    """The data that the reviewer sees, typed."""
    payload: Mapping[str, JsonValue]
    """`{xRenderer, schema, values}` exactly as in the interrupt, with `fieldName` where the gate
    asks for one input of the run.
    """
    interrupt: str = ""
    """LangGraph's id of the interrupt; resume with `Command(resume={gate.interrupt: …})`."""
    form: AnswerForm = field(default=TextForm(), repr=False)
    description: str = ""
    """The author's text for the person who decides; empty where the author wrote none."""

    said: tuple[Mapping[str, JsonValue], ...] = field(default=(), repr=False)
    """The last of what was said before it, as in `Run.messages`, where it stands inside a flow that
    has not ended; empty in the outermost flow.
    """
    asked: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)
    """The interrupt's response schema, from which `gate_of` reads a gate."""
    run_id: str = ""
    """The run that asks, at a gate that a store has read: a gate of another run may show the same.
    Empty at a gate of a graph that no store keeps.
    """
    tenant: str = ""
    """The tenant of that run."""

    def to_json(self) -> dict[str, JsonValue]:
        """The gate as JSON; `Gate.from_json` restores it in another process."""
        kept: dict[str, JsonValue] = {
            "interrupt": self.interrupt,
            "payload": dict(self.payload),
            "response_schema": dict(self.asked),
        }
        return {**kept, "run": {"id": self.run_id, "tenant": self.tenant}} if self.run_id else kept

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Gate:
        """Raises: `GateUnreadable` when `data` was not made by `to_json`."""
        if not isinstance(data, Mapping):
            raise GateUnreadable(f"it is no object, got {_type_name(data)}")
        gate = gate_of(
            _Kept(
                value=_read_member(data, "payload", dict),
                id=_read_member(data, "interrupt", str),
                response_schema=_read_member(data, "response_schema", dict),
            )
        )
        if gate is None:
            raise GateUnreadable(f'its response_schema has no "{GATE_KEY}"')
        if "run" not in data:
            return gate
        run = _read_member(data, "run", dict)
        return gate.of_run(_read_member(run, "id", str), _read_member(run, "tenant", str))

    def of_run(self, run_id: str, tenant: str) -> Gate:
        """The same gate, known to be one of this run."""
        return replace(self, run_id=run_id, tenant=tenant)

    @property
    def payload_sha256(self) -> str:
        """sha256 (hex) of the shown payload in canonical JSON; a decision names this hash."""
        return hash_payload(self.payload)

    @property
    def shown(self) -> str:
        """`payload_sha256`: what a decision about this gate names in `Decision.shown`."""
        return self.payload_sha256

    def read(self, raw: object) -> Answer:
        """Check an answer; raises `AnswerInvalid`, and `GateChanged` for one about something else."""
        if isinstance(raw, Mapping) and TAKES_TEXT in raw:
            raise AnswerInvalid(f"gate '{self.id}': the answer has unknown keys: {TAKES_TEXT}")
        refuse_other_payload(raw, self.payload, gate=self.id)
        return read_answer(self.form, drop_shown_args(raw, self.values), gate=self.id)

    def check(self, decision: Decision) -> Answer:
        """Check a decision; raises as `read`."""
        return self.read(decision.wire())

    def make_resume(self, wire: Mapping[str, JsonValue] | list[Any]) -> JsonValue:
        """The value of LangGraph's `Command(resume={gate.interrupt: …})` for an answer.

        The value is the answer itself, except for a pause of a node's own code: the code gets the form that it expects.
        """
        if isinstance(self.form, ForeignForm):
            return self.form.make_resume(self.read(wire))
        if not isinstance(wire, Mapping):
            return wire  # a list of another client
        return {**wire, **self._tell_text(wire)}

    def _tell_text(self, wire: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """`TAKES_TEXT` beside a value that this gate takes and that a gate of today may not."""
        form = self.form
        if not isinstance(form, (TextForm, ApprovalForm)) or not form.is_read:
            return {}
        return {TAKES_TEXT: True} if _has_value(wire) else {}

    @property
    def is_deniable(self) -> bool:
        """Whether the gate stands before a call, which a person can deny so that the run goes on."""
        form = self.form
        return isinstance(form, ConfirmationForm) or (
            isinstance(form, ForeignForm) and form.actions > 0
        )

    @property
    def is_editable(self) -> bool:
        """Whether the gate stands before a call whose arguments a person may edit: the value of an
        approval is then all of them, by name.
        """
        form = self.form
        return isinstance(form, ConfirmationForm) and form.arguments_schema is not None

    @property
    def is_question(self) -> bool:
        """Whether the gate asks for words that the flow goes on with, to which a yes is no answer."""
        form = self.form
        return isinstance(form, (TextForm, ResultForm)) and form.is_question

    @property
    def question(self) -> str:
        """The question of a gate that asks for words; empty for every other gate."""
        described = self.schema.get("description") if isinstance(self.form, TextForm) else None
        own = described if self.is_question and isinstance(described, str) else ""
        return self.model_question or own

    @property
    def model_question(self) -> str:
        """What the model of an agent asks the person; empty for every other gate."""
        arguments = self.values.get("arguments")
        if not isinstance(self.form, ResultForm) or not isinstance(arguments, Mapping):
            return ""
        asked = arguments.get("question")
        is_question = self.values.get("call") == QUESTION_TOOL
        return asked if is_question and isinstance(asked, str) else ""

    @property
    def field(self) -> str:
        """The name that an answer fills: an input of the run at a setup gate, else the gate's
        output.

        Empty at a setup gate that asks for several inputs at once.
        """
        return self.form.output

    def example(self) -> JsonValue:
        """A valid answer: True where a plain approval is enough, else data that fits the schema.

        None where no fitting value can be made up.
        """
        return _find_example_answer(self.form)


def _has_value(wire: Mapping[str, JsonValue]) -> bool:
    return wire.get("approved") is True and ("value" in wire or "userResponse" in wire)


def read_answer(form: AnswerForm, raw: object, *, gate: str) -> Answer:
    """The checked answer of `gate`.

    Raises: `AnswerInvalid`, which names the gate, the name that its answer fills and the kind of
    the given value (never the value: it may be a password), and shows an answer that fits.
    """
    try:
        return form.read(raw)
    except AnswerInvalid as error:
        asked = f"gate '{gate}', '{form.output}'" if form.output else f"gate '{gate}'"
        hints = [hint for hint in (error.hint, _format_fitting_answer(form, raw)) if hint]
        raise AnswerInvalid(
            _escape_surrogates(f"{asked}: {error.message}; given: {_describe_given_answer(raw)}"),
            hint=_escape_surrogates("; ".join(hints)),
            in_python=error.in_python,
        ) from None


def _escape_surrogates(text: str) -> str:
    """`text` in valid UTF-8: a given name may contain half of a surrogate pair."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _describe_given_answer(raw: object) -> str:
    """A description of the given answer by its kind."""
    if not isinstance(raw, Mapping):
        return _describe_value_kind(raw)
    for key in ("value", "userResponse"):
        if key in raw:
            return _describe_value_kind(raw[key])
    return "no value"


def _describe_value_kind(value: object) -> str:
    """The kind of a value; for an object also the names of its members, which may be misspelt."""
    if isinstance(value, Mapping):
        names = ", ".join(f"'{said_name(name)}'" for name in itertools.islice(value, _MOST_NAMES))
        more = len(value) - _MOST_NAMES
        return f"an object with {names or 'no member'}" + (f" and {more} more" if more > 0 else "")
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if isinstance(value, str):
        return f"a text of {say_number(len(value), 'character')}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "a number"
    return json.dumps(value) if value is None or isinstance(value, bool) else "no JSON"


def _format_fitting_answer(form: AnswerForm, raw: object) -> str:
    """A value that would fit, or a whole answer where the value is not the problem."""
    example = _find_example_answer(form)
    if example is None:
        return ""
    fitting: JsonValue = {"approved": True}
    what = "an answer"
    if example is not True:
        decided = isinstance(raw, Mapping) and isinstance(raw.get("approved"), bool)
        what = "a value" if decided else "an answer"
        fitting = example if decided else {"approved": True, "value": example}
    text = json.dumps(fitting, ensure_ascii=False)
    return f"{what} that fits: {text}" if len(text) <= _LONGEST_EXAMPLE else ""


def _find_example_answer(form: AnswerForm) -> JsonValue:
    try:
        return form.example()
    except ValueError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """An interrupt as a row stores it, readable without the engine."""

    value: Any
    id: str
    response_schema: Any


def gate_of(interrupt: Interrupt | _Kept) -> Gate | None:
    """The gate that raised `interrupt`; None for an interrupt that `build_hitl_gate` did not make.

    Raises: `GateUnreadable` where the interrupt has another form, from an earlier version for
    instance.
    """
    response: Any = interrupt.response_schema
    about = response.get(GATE_KEY) if isinstance(response, Mapping) else None
    payload: Any = interrupt.value
    if not isinstance(about, Mapping) or not isinstance(payload, Mapping):
        return None
    renderer, values = (
        _read_member(payload, "xRenderer", str),
        _read_member(payload, "values", Mapping),
    )
    return Gate(
        id=_read_member(about, "id", str),
        node=_read_member(about, "node", str),
        visit=_read_member(about, "visit", int),
        step=_read_member(about, "step", int),
        risk=_read_member(about, "risk", str),
        name=_read_member(about, "name", str),
        renderer=renderer,
        schema=_read_member(payload, "schema", Mapping),
        values=values,
        payload=payload,
        interrupt=interrupt.id,
        asked=response,
        description=_read_member({"description": "", **about}, "description", str),
        said=_read_said(about.get("said")),
        form=form_of(
            output=_read_member(about, "output", str),
            text_output=_read_member(about, "textOutput", bool),
            answer_schema=_read_schema(about, "answerSchema"),
            output_schema=_read_schema(about, "outputSchema"),
            document_schema=_read_schema(about, "innerSchema"),
            bare=about.get("bare") is True,  # earlier versions did not store it
            confirms=about.get("confirms") is True,
            call=str(values.get("call", "")),  # the payload holds it
            foreign=about.get("foreign") is True,
            actions=_read_member({"actions": 0, **about}, "actions", int),
            result=about.get("result") is True,
            question=about.get("question") is True,
            unread=about.get("unread") is True,  # earlier versions did not store it
            # Not stored twice: the payload holds the allowed selection.
            selector=selector_of(renderer, values),
        ),
    )


def _read_member(data: Mapping[str, Any], key: str, kind: type) -> Any:
    """`data[key]`; raises `GateUnreadable` where it is missing or has another type."""
    if key not in data:
        raise GateUnreadable(f'it has no "{key}"')
    value = data[key]
    # True and False are numbers for Python.
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise GateUnreadable(f'its "{key}" is of type {_type_name(value)}')
    return value


def _type_name(value: object) -> str:
    from cinatra_sdk.data.schema.problems import type_name  # for an unreadable gate

    return type_name(value)


def selector_of(renderer: str, values: Mapping[str, JsonValue]) -> Selector | None:
    """The allowed selection of a gate whose screen is a context selector; else None."""
    return read_selector(values) if is_selector(renderer) else None


def _read_said(said: object) -> tuple[Mapping[str, JsonValue], ...]:
    """The messages; earlier versions did not store them."""
    listed = said if isinstance(said, list) else []
    return tuple(one for one in listed if isinstance(one, Mapping))


def _read_schema(about: Mapping[str, Any], key: str) -> dict[str, JsonValue] | None:
    text = about.get(key, "")
    if text is None:
        return None
    written = _read_member(about, key, str)
    try:
        schema = json.loads(written)
    except (ValueError, RecursionError):  # a ValueError also for a number of thousands of digits
        schema = None
    if not isinstance(schema, dict):
        raise GateUnreadable(f'its "{key}" is not the text of a JSON object')
    return schema


def gates_of(interrupts: Iterable[Interrupt]) -> tuple[Gate, ...]:
    """Every gate among `interrupts`, in their order; a pause that is named twice counts once."""
    # The engine names the pauses of a branch inside a branch at each of the nodes around it.
    once = {interrupt.id: interrupt for interrupt in interrupts}
    return tuple(gate for gate in map(gate_of, once.values()) if gate is not None)
