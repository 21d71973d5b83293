"""`oasflow gates`, `approve`, `reject`, `answer`: what waits, and deciding it from anywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from oas_compiler.cli import inputs, opening, options
from oas_compiler.cli.exits import Exit, Halt
from oas_compiler.cli.terminal import Terminal

if TYPE_CHECKING:
    from cinatra_sdk import RunStore
    from cinatra_sdk.decisions import Decision
    from cinatra_sdk.gates import Gate
    from cinatra_sdk.runs import Run

LIMIT = 1000
Decide: TypeAlias = "Callable[[Gate | None, str], Decision]"
"""The decision, from the gate (None when it does not wait) and who decides."""

Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; kept for good.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class _By:
    """Who answers, and with which settings: the options that all answers share."""

    by: str
    env: list[str] | None
    db: str
    as_json: bool


def gates(
    run: Annotated[str, typer.Argument(metavar="[RUN]", help="Only the gates of this run.")] = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """List the gates that wait for a person."""
    from oas_compiler.cli.records import waiting_record
    from oas_compiler.cli.render import gates_table

    terminal = Terminal.open(as_json=as_json)
    with opening.store(terminal, db) as store:
        runs = [store.get(store.find(run))] if run else store.list(status="waiting", limit=LIMIT)
    waiting = [(one, gate) for one in runs if one.status == "waiting" for gate in one.waiting]
    now = datetime.now(UTC)
    terminal.data({"gates": [waiting_record(one, gate, now) for one, gate in waiting]})
    if waiting:
        terminal.show(gates_table(waiting, now))
        terminal.say("oasflow show RUN shows what a gate asks; oasflow approve RUN/GATE answers it")
    else:
        terminal.say("no gate waits")
    if len(runs) == LIMIT:
        terminal.note(f"only the gates of {LIMIT} runs are listed")
    return Exit.OK


def approve(
    target: options.Target,
    *,
    reason: Reason = "",
    by: options.As = "",
    env: options.Env = None,
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """Approve a gate, and drive its run on.

    At a gate whose output is text, the reason is that text.
    A gate that asks for data takes `oasflow answer`.
    """
    from cinatra_sdk.decisions import UNSET, Decision
    from oas_compiler.cli.fields import approval_value

    def decide(gate: Gate | None, who: str) -> Decision:
        value = UNSET if gate is None else approval_value(gate)
        return Decision.approve(by=who, reason=reason, value=value)

    return _answer(target, decide, _By(by=by, env=env, db=db, as_json=as_json))


def reject(
    target: options.Target,
    *,
    reason: Reason = "",
    by: options.As = "",
    env: options.Env = None,
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """Reject a gate; the run ends as rejected.

    Nothing after the gate runs.  The exit code is 5.
    """
    from cinatra_sdk.decisions import Decision

    def decide(_gate: Gate | None, who: str) -> Decision:
        return Decision.reject(by=who, reason=reason)

    return _answer(target, decide, _By(by=by, env=env, db=db, as_json=as_json))


def answer(
    target: options.Target,
    *,
    value: Annotated[
        str | None, typer.Option(metavar="JSON", help="The value to approve with.")
    ] = None,
    value_file: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The same from a file; - reads stdin."),
    ] = None,
    text: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The value as plain text.")
    ] = None,
    reason: Reason = "",
    by: options.As = "",
    env: options.Env = None,
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """Approve a gate with the data or text it asks for."""
    from cinatra_sdk.decisions import Decision

    given = _value(value, value_file, text)

    def decide(_gate: Gate | None, who: str) -> Decision:
        return Decision.approve(by=who, reason=reason, value=given)

    return _answer(target, decide, _By(by=by, env=env, db=db, as_json=as_json))


def _value(value: str | None, file: str | None, text: str | None) -> Any:
    if sum(option is not None for option in (value, file, text)) != 1:
        raise Halt("give one of --value, --value-file and --text")
    if value is not None:
        return inputs.json_value(value, "--value")
    if file is not None:
        return inputs.json_value(inputs.text_of(file, "--value-file"), f"--value-file {file}")
    return text


def _answer(target: str, decide: Decide, given: _By) -> Exit:
    """Find the gate, decide, and drive the run to its next stop."""
    from oas_compiler.cli.drive import Drive

    terminal = Terminal.open(as_json=given.as_json)
    who = opening.person(given.by)
    env = inputs.environment(given.env or [])
    with opening.store(terminal, given.db, env) as store:
        run_id, gate_id, decision = _decided(store, target, decide, who)
        flow = opening.flow_of_run(store, run_id)
        drive = Drive(
            store=store, flow=flow, run_id=run_id, terminal=terminal, by=who, answers="leave"
        )
        return drive.go(
            lambda on_event, context: store.answer(
                run_id, gate_id, decision, flow=flow, context=context, on_event=on_event
            )
        )


def _decided(store: RunStore, target: str, decide: Decide, who: str) -> tuple[str, str, Decision]:
    """Run, gate and decision for `RUN` or `RUN/GATE`; the gate's id is everything after the slash."""
    prefix, _, gate_id = target.partition("/")
    if not prefix:
        raise Halt("the run id is empty")
    run = store.get(store.find(prefix))
    gate = _waiting(run, gate_id)
    # A gate that does not wait is handed on: the store knows who answered it, and when.
    return run.id, gate_id if gate is None else gate.id, decide(gate, who)


def _waiting(run: Run, gate_id: str) -> Gate | None:
    """The gate that is meant; None when the one named does not wait.

    Raises: `Halt` when none is named and not exactly one waits.
    """
    if gate_id:
        return next((gate for gate in run.waiting if gate.id == gate_id), None)
    if len(run.waiting) == 1:
        return run.waiting[0]
    if not run.waiting:
        message = f"no gate of run '{run.id}' waits: it is {run.status}"
        raise Halt(message, exit=Exit.CONFLICT, code="gate_closed")
    names = ", ".join(f"{run.id}/{gate.id}" for gate in run.waiting)
    raise Halt(f"{len(run.waiting)} gates of run '{run.id}' wait; name one: {names}")
