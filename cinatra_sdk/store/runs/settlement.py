"""A person's word on a call that may have happened: it did, or it did not.

    store.settle("r1", key, happened=True, value={"id": "m-1"}, by="ann", reason="it is in the outbox")

In: the key of an effect with the status `unknown`.  Out: a row that never changes: who said what, and why.
Then the run is `running` again, and its next worker goes on: with the value as the result of the call, or
by making the call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Self

from psycopg.types.json import Json
from pydantic import JsonValue

from cinatra_sdk.data.ports import TypedPort
from cinatra_sdk.data.schema.problems import first_problem
from cinatra_sdk.data.text.message_words import did_you_mean
from cinatra_sdk.data.text.person_texts import reason_text, recorded_name
from cinatra_sdk.errors import AnswerInvalid, EffectSettled
from cinatra_sdk.gates.answers import check_answer_value
from cinatra_sdk.governed.host_keys import without_governed
from cinatra_sdk.governed.person import Person, PersonRecord
from cinatra_sdk.governed.secret_values import find_secret, redact
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.effect import EffectResult, Usage
from cinatra_sdk.postgres.connection import every, one
from cinatra_sdk.store.arguments import check_names
from cinatra_sdk.store.database import Database
from cinatra_sdk.store.pages import read_objects
from cinatra_sdk.store.runs.flow_cache import KnownFlows
from cinatra_sdk.store.runs.run_rows import load_row
from cinatra_sdk.store.subjects import make_run_subject, refuse_other_tenant
from cinatra_sdk.store.work.run_ledger import list_result


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownEffect:
    """A call that may happen once only, and of which nobody knows whether it happened."""

    key: str
    """Its Idempotency-Key."""
    kind: str
    capability: str
    """What was called: method and url, or the name of a tool."""
    path: str
    """The node, as events name it."""
    visit: int
    item: int | None
    attempts: int
    begun_at: datetime
    error: Mapping[str, Any]
    """`{"code": …, "message": …}`: why nobody knows."""
    unreadable: tuple[str, ...] = ()
    """What is wrong with an error that cannot be read, and is empty here."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        objects, problems = read_objects(dict(row), "error")
        return cls(**{**row, **objects, "unreadable": problems})

    @property
    def why(self) -> str:
        """Why nobody knows; empty where it cannot be read."""
        message = self.error.get("message")
        return redact(message) if isinstance(message, str) else ""

    def to_json(self) -> dict[str, JsonValue]:
        told = {"begun_at": self.begun_at.isoformat(), "unreadable": list(self.unreadable)}
        return {**asdict(self), **told}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """A person's word on such a call."""

    key: str
    capability: str
    path: str
    happened: bool
    by: str
    person: PersonRecord
    """The same person, with what was proved of them and by which channel they came."""
    reason: str
    at: datetime
    value: Mapping[str, JsonValue] | None
    """The outputs of the node; None where the call did not happen, or they cannot be read."""
    unreadable: tuple[str, ...] = ()
    """What is wrong with outputs that cannot be read."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        objects, problems = read_objects(dict(row), "result")
        value = objects["result"].get("value")
        if value is not None and not isinstance(value, Mapping):
            value, problems = None, ("result: it is of another form",)
        return cls(
            key=row["key"],
            capability=row["capability"],
            path=row["path"],
            happened=row["happened"],
            by=recorded_name(row["settled_by"]),
            person=PersonRecord.read(row, "by", "settled_by"),
            reason=row["reason"],
            at=row["settled_at"],
            value=value,
            unreadable=problems,
        )

    def to_json(self) -> dict[str, JsonValue]:
        return {**asdict(self), "at": self.at.isoformat(), "unreadable": list(self.unreadable)}


def list_settlements(database: Database, run_id: str, tenant: str | None) -> list[Settlement]:
    """The oldest first.  Raises: `RunNotFound`."""
    with database.connection() as connection:
        load_row(connection, run_id, tenant)
        rows = every(connection, "list_settlements", {"run_id": run_id})
    return [Settlement.of(row) for row in rows]


def list_unknown(database: Database, run_id: str, tenant: str | None) -> list[UnknownEffect]:
    """Raises: `RunNotFound`."""
    with database.connection() as connection:
        load_row(connection, run_id, tenant)
        rows = every(connection, "list_unknown_effects", {"run_id": run_id})
    return [UnknownEffect.of(row) for row in rows]


def settle_effect(
    database: Database,
    flows: KnownFlows,
    run_id: str,
    key: str,
    value: Mapping[str, JsonValue] | None,
    *,
    by: str | Person,
    reason: str,
    channel: str,
    tenant: str | None,
) -> None:
    """Record a person's word.

    value: the outputs of the node, where the call happened; None where it did not.
    Raises: `AnswerInvalid`, `EffectSettled`, `RunNotFound`.
    """
    check_names(run_id=run_id, key=key, tenant=tenant)
    reason = reason_text(reason)
    who = _check(value, by, reason, channel)
    with database.connection() as connection:
        row = load_row(connection, run_id, tenant)
        refuse_other_tenant(by, "settle", make_run_subject(row, key))
        rows = every(connection, "list_unknown_effects", {"run_id": run_id})
        call = next((UnknownEffect.of(one) for one in rows if one["key"] == key), None)
        if call is None:
            raise _build_settled_error(run_id, key)
        if value is not None:
            flow = flows.flow_to_settle(connection, row)
            ports = None if flow is None else flow.outputs_of(call.path)
            value = (
                without_governed(value, where=f"the value for node '{call.path}'")
                if ports is None
                else fit_outputs(call.path, ports, value)
            )
        result = None if value is None else EffectResult(value=dict(value))
        said: dict[str, Any] = {
            "run_id": run_id,
            "key": key,
            "happened": result is not None,
            "result": None if result is None else list_result(result),
            "usage": None if result is None else Json(Usage().to_json()),
            "by": who.name,
            **who.list_columns("by"),
            "reason": reason,
        }
        with connection.transaction():
            # First the lock: a statement that waits for it does not see what was settled meanwhile.
            one(connection, "lock_run_row", {"run_id": run_id})
            if one(connection, "settle_effect", said) is None:
                raise _build_settled_error(run_id, key)


def fit_outputs(
    path: str, ports: Sequence[TypedPort], value: Mapping[str, JsonValue]
) -> dict[str, JsonValue]:
    """What a person gives for the outputs of a node, with the defaults of outputs that are left out.

    Raises: `AnswerInvalid`, which names the output and its type.
    """
    known = {port.title: port for port in ports}
    for title in value:
        if title not in known:
            nearest = did_you_mean(title, known)
            raise AnswerInvalid(
                f"node '{path}' has no output '{title}'",
                hint=nearest or f"its outputs: {', '.join(known) or 'none'}",
            )
    return {title: _fit_output(path, port, value) for title, port in known.items()}


def _fit_output(path: str, port: TypedPort, value: Mapping[str, JsonValue]) -> JsonValue:
    if port.title not in value:
        if port.default is None:
            raise AnswerInvalid(
                f"the value lacks the output '{port.title}' of node '{path}'",
                hint=f"it is of type {_describe_type(port)}",
            )
        return port.default.value()
    given = value[port.title]
    problem = first_problem(port.schema.text, given)
    if problem:
        raise AnswerInvalid(
            f"node '{path}', output '{port.title}' does not fit: {problem}",
            hint=f"it is of type {_describe_type(port)}",
        )
    kept: JsonValue = without_governed(given, where=f"the value for node '{path}'")
    return kept


def _describe_type(port: TypedPort) -> str:
    kinds = port.schema.mapping().get("type", "any")
    return " or ".join(map(str, kinds)) if isinstance(kinds, list) else str(kinds)


def _build_settled_error(run_id: str, key: str) -> EffectSettled:
    return EffectSettled(
        f"no call of run '{run_id}' with the key '{key}' is unknown", hint="see oasflow show"
    )


def _check(
    value: Mapping[str, JsonValue] | None, by: str | Person, reason: str, channel: str
) -> PersonRecord:
    """Who it is, as the row keeps them.  Raises: `AnswerInvalid`."""
    who = PersonRecord.of(by, channel)
    if not who.name:
        raise AnswerInvalid(
            "the word on a call does not say whose it is",
            hint="name them: --as NAME",
            in_python="by=…",
        )
    if value is not None and not isinstance(value, Mapping):
        raise AnswerInvalid(
            "what the call gave is no object", hint='give the outputs of the node: {"id": …}'
        )
    check_answer_value(value)
    found = find_secret([value, reason])
    if found:
        raise AnswerInvalid(f"the word on a call holds a credential: {found}", hint="leave it out")
    return who
