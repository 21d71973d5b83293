"""What needs a person, in one list: gates to decide, calls to settle, failed runs to resume.

for need in store.needs(tenant="acme").items:
    need.kind, need.content, need.command
        "gate"    "subject: Bees; audience: all"      "oasflow approve n1/send --shown db541e85e9210c4b"
        "call"    "POST /api/pay"                     "oasflow settle n1 7f3a --happened …"
        "failed"  "the platform refused (422)"        "oasflow resume n1"
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias, get_args

from cinatra_sdk.context.selector import Selector
from cinatra_sdk.contract import RISK_CLASSES
from cinatra_sdk.data.text.message_words import did_you_mean, say_number
from cinatra_sdk.errors import InputInvalid
from cinatra_sdk.gates.decisions import SHORT
from cinatra_sdk.gates.forms.selection_form import SelectionForm
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.postgres.connection import Row, Rows, one
from cinatra_sdk.store.arguments import MOST as LARGEST
from cinatra_sdk.store.arguments import is_short, name_word
from cinatra_sdk.store.pages import OpenGate, Page, UnreadableGate
from cinatra_sdk.store.runs.run_rows import read_open_gates
from cinatra_sdk.store.runs.settlement import UnknownEffect

MESSAGE: Final = "output"
"""Name of a gate's value that holds the text of a message, where it is no JSON."""
HAPPENED: Final = """--happened --value '{"…": "…"}'"""
"""How a command says that a call happened; … stands for the outputs of its node, and is refused."""
DID_NOT_HAPPEN: Final = "--did-not-happen"
MOST: Final = 200
"""Characters of a content."""

NeedKind: TypeAlias = Literal["gate", "call", "failed"]
NEED_KINDS: Final[tuple[NeedKind, ...]] = get_args(NeedKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateToDecide(OpenGate):
    """A gate that waits for a decision."""

    kind: Literal["gate"] = "gate"

    @property
    def since(self) -> datetime:
        return self.opened_at

    @property
    def name(self) -> str:
        """The gate's id."""
        return self.gate.id

    @property
    def content(self) -> str:
        """One line of what it shows."""
        return describe_gate(self.gate)

    @property
    def command(self) -> str:
        word = "answer" if self.gate.form.needs_data or self.gate.model_question else "approve"
        target = shlex.quote(f"{self.run_id}/{self.gate.id}")
        return f"oasflow {word} {target} --shown {self.gate.shown[:SHORT]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallToSettle:
    """A call of which nobody knows whether it happened, and that may happen once only."""

    kind: Literal["call"] = "call"
    run_id: str
    tenant: str
    flow: str
    """The flow's name."""
    started_by: str
    since: datetime
    call: UnknownEffect
    risk: str
    """Risk class of the call; empty where it has none."""

    @property
    def name(self) -> str:
        """The call's key."""
        return self.call.key

    @property
    def content(self) -> str:
        why = self.call.why
        return one_line(f"{self.call.capability} by {self.call.path}{f': {why}' if why else ''}")

    @property
    def command(self) -> str:
        """The first of `commands`: refused until a person who has looked puts in what the call gave."""
        return self.commands[0]

    @property
    def commands(self) -> tuple[str, str]:
        """For a call that happened, and for one that did not: only a person who has looked knows which."""
        settle = f"oasflow settle {shlex.join([self.run_id, self.call.key])}"
        return f"{settle} {HAPPENED}", f"{settle} {DID_NOT_HAPPEN}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A failed run that is not tried again until a person resumes it."""

    kind: Literal["failed"] = "failed"
    run_id: str
    tenant: str
    code: str
    """Of its error."""
    since: datetime
    flow: str = ""
    started_by: str = ""
    message: str = ""
    """Of its error."""

    @property
    def name(self) -> str:
        """The code of its error."""
        return self.code

    @property
    def content(self) -> str:
        return one_line(self.message)

    @property
    def command(self) -> str:
        return f"oasflow resume {shlex.quote(self.run_id)}"


Need: TypeAlias = GateToDecide | CallToSettle | DeadLetter


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedPage(Page[Need]):
    """A part of the list of what needs a person, the longest wait first."""

    unreadable: Sequence[UnreadableGate] = ()
    """The gates that have their place on this page and cannot be read."""


def read_need(row: Row) -> tuple[list[Need], list[UnreadableGate]]:
    """A row of `list_needs`."""
    about: dict[str, Any] = {
        "run_id": row["run_id"],
        "tenant": row["tenant"],
        "flow": row["flow_name"],
        "started_by": row["started_by"],
    }
    if row["kind"] == "gate":
        gates, problems = read_open_gates({**row, "opened_at": row["since"]})
        found: list[Need] = [
            GateToDecide(**about, opened_at=one.opened_at, gate=one.gate) for one in gates
        ]
        return found, problems
    about["since"] = row["since"]
    if row["kind"] == "call":
        call = {**row["call"], "error": row["error"]}
        call["begun_at"] = datetime.fromisoformat(call["begun_at"])
        risk = call.pop("risk")
        return [CallToSettle(**about, call=UnknownEffect.of(call), risk=risk)], []
    error = row["error"] if isinstance(row["error"], Mapping) else {}
    about |= {name: str(error.get(name, "")) for name in ("code", "message")}
    return [DeadLetter(**about)], []


def conditions_of(wanted: Mapping[str, Any]) -> Row:
    """What a statement that lists gates compares: the risk and the text as JSON has them.

    Raises: `InputInvalid` for a step that is no number, or none that a policy could have.
    """
    step, risk, text = (wanted.get(name) for name in ("step", "risk", "text"))
    if step is not None and (not isinstance(step, int) or isinstance(step, bool)):
        raise InputInvalid("'step' is no whole number", hint="give the number of a policy's step")
    if step is not None and not -LARGEST <= step <= LARGEST:
        told = f"'step' is {step}" if is_short(step) else "'step' is a number of many digits"
        raise InputInvalid(
            f"{told}, and no policy has such a step", hint="give the number of a policy's step"
        )
    return {
        "step": step,
        "risk": None if risk is None else json.dumps(risk),
        "texts": None if not text else _spell(text),
    }


def refuse_unknown_risk(connection: Rows, risk: str, wanted: Row) -> None:
    """Refuse a class of risk (that no host knows) which nothing in the database has, of the tenant where
    one is named: an empty list would say that nothing of it waits.

    wanted: as `conditions_of` makes it, with the `tenant`.
    Raises: `InputInvalid`.
    """
    row = one(connection, "find_risk", {**wanted, "name": risk})
    if row is not None and row["found"]:
        return
    known = sorted(RISK_CLASSES)
    nearest = did_you_mean(risk, known)
    raise InputInvalid(
        f"there is no risk class '{name_word(risk)}'; "
        + f"{nearest} " * bool(nearest)
        + f"known are {', '.join(known)}, and what ends in _send, _publish, _post or _delete"
    )


def _spell(text: str) -> list[str]:
    """A text in small letters, as it stands in the JSON of a row and as it is."""
    escaped = {json.dumps(one)[1:-1].lower() for one in (text, text.lower(), text.upper())}
    return sorted(escaped | {text.lower()})


def describe_gate(gate: Gate) -> str:
    """One line of what a gate shows: its question, the slot for which something is to be chosen, else
    its values by their names.
    """
    if gate.model_question:
        return one_line(gate.model_question)
    if isinstance(gate.form, SelectionForm):
        return one_line(_describe_selection(gate.form.selector))
    said = [
        _say_named(name, value) for name, value in gate.values.items() if value not in ("", None)
    ]
    return one_line("; ".join(said) or gate.description or gate.name)


def _describe_selection(selector: Selector) -> str:
    """`choose for the context slot 'voice': 3 candidates, at most 2`."""
    rules = selector.rules
    least = f", at least {rules.min_items}" if rules.min_items else ""
    most = "" if rules.max_items is None else f", at most {rules.max_items}"
    offered = say_number(len(selector.candidates), "candidate")
    return f"choose for the context slot '{selector.slot_id}': {offered}{least}{most}"


def _say_named(name: str, value: object) -> str:
    """A message of several words under the runtime's own name needs no name."""
    told = _say(value)
    is_message = name == MESSAGE and isinstance(value, str) and len(value.split()) > 1
    return told if is_message else f"{name}: {told}"


def _say(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def one_line(text: str) -> str:
    line = " ".join(text[: 4 * MOST].split())
    return line if len(line) <= MOST else f"{line[: MOST - 1]}…"
