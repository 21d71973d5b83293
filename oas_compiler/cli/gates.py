"""`oasflow gates`, `approve`, `reject`, `answer`: what waits, and deciding it from anywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from rich.text import Text

from oas_compiler.cli import inputs, opening, options
from oas_compiler.cli.acting import Call, flow_to_go_on
from oas_compiler.cli.exits import Exit, Halt
from oas_compiler.cli.layout import unbroken
from oas_compiler.cli.next_steps import Given
from oas_compiler.cli.terminal import Terminal

if TYPE_CHECKING:
    from cinatra_sdk import RunStore
    from cinatra_sdk.engine.runtime_context import HostContext
    from cinatra_sdk.gates.decisions import Decision
    from cinatra_sdk.gates.gate import Gate
    from cinatra_sdk.runs import OnEvent, Run
    from oas_compiler.cli.drive import Drive
    from oas_compiler.lower.flow import Flow

LIMIT = 1000
Decide: TypeAlias = "Callable[[Gate | None, str], Decision]"
"""The decision, from the gate (None when it does not wait) and who decides."""

Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; kept for good.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class _By:
    """Who answers, and with which settings: the options that all answers share."""

    who: str
    given: Given
    as_json: bool
    words: tuple[str, ...] = ()
    """Options of the command's own, as they were typed: for a refusal that repeats the call."""


def gates(
    run: Annotated[str, typer.Argument(metavar="[RUN]", help="Only the gates of this run.")] = "",
    *,
    flow: options.FlowName = "",
    started_by: options.StartedBy = "",
    older_than: options.OlderThan = "",
    newer_than: options.NewerThan = "",
    limit: Annotated[int, typer.Option(min=1, help="Of how many runs, at most.")] = LIMIT,
    tenant: options.Tenant = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """List the gates that wait for a person, the latest first."""
    from oas_compiler.cli.records import waiting_record
    from oas_compiler.cli.render import gates_table, told_unreadable

    terminal = Terminal.open(as_json=as_json)
    wanted = options.filters(flow, started_by, older_than, newer_than)
    if run and wanted:
        raise Halt("RUN names one run: leave out what filters runs")
    with opening.store(terminal, db) as store:
        whose = tenant or None
        runs = (
            [store.get(store.find(run, tenant=whose))]
            if run
            else store.list(status="waiting", tenant=whose, limit=limit, **wanted)
        )
        now = store.database.now()
        if not runs:
            opening.refuse_unknown_flow(store, flow)
    waiting = [(one, gate) for one in runs if one.status == "waiting" for gate in one.waiting]
    if as_json:  # an example of each answer is made up for it, which takes a while
        records = [waiting_record(one, gate, now) for one, gate in waiting]
        terminal.data({"gates": records}, of_run=True)
    if waiting:
        terminal.show(gates_table(waiting, now))
        shown = Given(tenant=tenant, db=db).command("show", run or "RUN")
        terminal.say(
            "what a gate asks, and the commands that answer it:", unbroken(Text(f"  {shown}"))
        )
    else:
        terminal.say("no gate waits")
    for one in runs:
        for problem in told_unreadable(one):
            terminal.note(f"run {one.id}: {problem}")
    if len(runs) == limit:
        terminal.note(f"only the gates of {limit} runs are listed; --limit lists more")
    return Exit.OK


def approve(
    target: options.Target,
    *,
    reason: Reason = "",
    by: options.As = "",
    env: options.Env = None,
    base_url: options.BaseUrl = "",
    allow: options.Allow = None,
    record: options.Record = "",
    tenant: options.Tenant = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """Approve a gate, and drive its run on.

    The reason is kept with the decision, and is no text for the flow.
    A gate that asks for data or text takes `oasflow answer`.
    """
    from cinatra_sdk.gates.decisions import UNSET, Decision
    from oas_compiler.cli.fields import approval_value

    given = options.given(env, base_url, allow, record, tenant=tenant, db=db)

    def decide(gate: Gate | None, who: str) -> Decision:
        value = UNSET if gate is None else approval_value(gate)
        decision = Decision.approve(by=who, reason=reason, value=value)
        if gate is not None:
            _refuse_without_data(gate, decision, target, given)
        return decision

    return _answer("approve", target, decide, _by(by, given, reason, as_json))


def _refuse_without_data(gate: Gate, decision: Decision, target: str, given: Given) -> None:
    """A gate that asks for data is not approved by a yes alone.

    Raises: `Halt`, with the command that does it.
    """
    from cinatra_sdk.errors import AnswerInvalid
    from oas_compiler.cli.fields import has_form
    from oas_compiler.cli.render import command_line, command_with_data

    selector = gate.form.selector
    if selector is None and not has_form(gate):
        return
    try:
        gate.check(decision)
    except AnswerInvalid:
        if selector is not None:
            asks = f"which artifacts are chosen for the context slot '{selector.slot_id}'"
            way = "with --select ID or --select-none"
        else:
            asks, way = "for data", "with --value, or at a terminal field by field"
        answered = command_line(command_with_data(gate, target, given))
        raise Halt(
            f"gate '{gate.id}' asks {asks}: use oasflow answer {way}", then=[answered]
        ) from None


def reject(
    target: options.Target,
    *,
    reason: Reason = "",
    by: options.As = "",
    env: options.Env = None,
    base_url: options.BaseUrl = "",
    allow: options.Allow = None,
    record: options.Record = "",
    tenant: options.Tenant = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """Reject a gate; the run ends as rejected.

    Nothing after the gate runs.  The exit code is 5.
    """
    from cinatra_sdk.gates.decisions import Decision

    def decide(_gate: Gate | None, who: str) -> Decision:
        return Decision.reject(by=who, reason=reason)

    given = options.given(env, base_url, allow, record, tenant=tenant, db=db)
    return _answer("reject", target, decide, _by(by, given, reason, as_json))


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
    select: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID", help="An artifact for a context slot, or how its id begins; repeatable."
        ),
    ] = None,
    select_none: Annotated[
        bool, typer.Option("--select-none", help="Choose no artifact for a context slot.")
    ] = False,
    reason: Reason = "",
    by: options.As = "",
    env: options.Env = None,
    base_url: options.BaseUrl = "",
    allow: options.Allow = None,
    record: options.Record = "",
    tenant: options.Tenant = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """Approve a gate with the data or text it asks for, or with artifacts for a context slot.

    At a terminal, and without an option that says the answer, it shows the gate and asks.
    """
    from cinatra_sdk.gates.decisions import Decision

    given = options.given(env, base_url, allow, record, tenant=tenant, db=db)
    words = _words(("--value", value), ("--value-file", value_file), ("--text", text))
    words += _words(*(("--select", one) for one in select or ()))
    words += ("--select-none",) if select_none else ()
    about = _by(by, given, reason, as_json, *words)
    ids = select or ([] if select_none else None)
    ways = (value, value_file, text, select or None, True if select_none else None)
    number = sum(way is not None for way in ways)
    if number == 0 and not reason and Terminal.open(as_json=as_json).asks:
        return _ask(target, about)
    if number != 1:
        raise Halt("give one of --select, --select-none, --value, --value-file and --text")
    answered = None if ids is not None else _value(value, value_file, text)

    def decide(gate: Gate | None, who: str) -> Decision:
        if ids is not None and gate is None:
            return _by_nobody(gate, who)
        if gate is not None and ids is None:
            _refuse_stray_selection(gate, answered)
        chosen = answered if gate is None or ids is None else _selected(gate, ids)
        return Decision.approve(by=who, reason=reason, value=chosen)

    return _answer("answer", target, decide, about)


def _value(value: str | None, file: str | None, text: str | None) -> Any:
    if value is not None:
        return inputs.json_value(value, "--value")
    if file is not None:
        return inputs.json_value(inputs.text_of(file, "--value-file"), f"--value-file {file}")
    return text


def _selected(gate: Gate, ids: list[str]) -> Any:
    """The envelope of `--select`.

    Raises: `Halt` at a gate that selects nothing, and for an id that is no candidate's.
    """
    from oas_compiler.cli.checklist import CannotTick
    from oas_compiler.cli.selecting import answer_value, chosen_by_id

    selector = gate.form.selector
    if selector is None:
        raise Halt(
            f"gate '{gate.id}' does not ask for a context selection: leave out --select "
            "and --select-none"
        )
    try:
        return answer_value(gate.form, chosen_by_id(selector, ids))
    except CannotTick as problem:
        raise Halt(f"--select: {problem}") from None


def _refuse_stray_selection(gate: Gate, value: Any) -> None:
    """A selection sent once more must not approve the gate that came after its own.

    Raises: `Halt`.
    """
    from cinatra_sdk.context.selector import is_selector
    from oas_compiler.cli.selecting import is_envelope

    if not is_selector(gate.renderer) and is_envelope(value):
        raise Halt(
            f"gate '{gate.id}' does not ask for a context selection, and this value is one: "
            "name the gate that it is for, RUN/GATE"
        )


def _by_nobody(_gate: Gate | None, _who: str) -> Decision:
    """For a gate that does not wait: no store records it, but it says who answered, and when."""
    from cinatra_sdk.gates.decisions import Decision

    return Decision.reject()


def _by(by: str, given: Given, reason: str, as_json: bool, *words: str) -> _By:
    words += _words(("--reason", reason or None), ("--as", by or None))
    return _By(who=opening.person(by), given=given, as_json=as_json, words=words)


def _words(*options: tuple[str, str | None]) -> tuple[str, ...]:
    """Options with their values, without those that were not given."""
    return tuple(word for option, value in options if value is not None for word in (option, value))


def _ask(target: str, about: _By) -> Exit:
    """Find the gate, ask the person at the terminal, and drive the run to its next stop."""
    terminal = Terminal.open(as_json=about.as_json)
    with opening.store(terminal, about.given.db, about.given.own) as store:
        run, gate_id, gate = _found(store, target, about.given)
        if gate is not None:
            call = Call("answer", f"{run.id}/{gate.id}", about.words)
            flow = flow_to_go_on(store, run, terminal, about.given, call)
            return _drive(store, run, flow, terminal, about).ask(run, gate)
    return _answer("answer", f"{run.id}/{gate_id}", _by_nobody, about)


def _answer(command: str, target: str, decide: Decide, about: _By) -> Exit:
    """Find the gate, decide, and drive the run to its next stop."""
    terminal = Terminal.open(as_json=about.as_json)
    given = about.given
    with opening.store(terminal, given.db, given.own) as store:
        run, gate_id, gate = _found(store, target, given)
        # A gate that does not wait is handed on: the store knows who answered it, and when.
        decision = decide(gate, about.who)
        to_reject = not decision.approved
        call = Call(command, f"{run.id}/{gate_id}", about.words)
        drive = None
        try:
            flow = flow_to_go_on(store, run, terminal, given, call, to_reject=to_reject)
            drive = _drive(store, run, flow, terminal, about, lends=not to_reject)
        except Exception:
            if not to_reject:  # which needs no flow, whatever is wrong with it
                raise

        def answered(on_event: OnEvent | None, context: HostContext) -> Run:
            return store.answer(
                run.id,
                gate_id,
                decision,
                flow=None if drive is None else drive.flow,
                tenant=given.tenant or None,
                context=context,
                on_event=on_event,
            )

        if drive is not None:
            return drive.go(answered)
        return _rejected_alone(terminal, given, lambda: answered(None, opening.host(given.tenant)))


def _rejected_alone(terminal: Terminal, given: Given, reject: Callable[[], Run]) -> Exit:
    """Reject a run whose flow cannot be made again; the store says why that is."""
    from oas_compiler.cli.exits import exit_of
    from oas_compiler.cli.records import run_record
    from oas_compiler.cli.render import outcome_view

    ended = reject()
    terminal.show(outcome_view(ended, given))
    terminal.data(run_record(ended), of_run=True)
    return exit_of(ended)


def _drive(
    store: RunStore,
    run: Run,
    flow: Flow,
    terminal: Terminal,
    about: _By,
    *,
    lends: bool = True,
) -> Drive:
    """One answer here; the gates that come after it are left waiting."""
    from oas_compiler.cli.drive import Drive

    return Drive(
        store=store,
        flow=flow,
        run_id=run.id,
        terminal=terminal,
        by=about.who,
        answers="leave",
        given=about.given,
        lends=lends,
    )


def _found(store: RunStore, target: str, given: Given) -> tuple[Run, str, Gate | None]:
    """Run and gate of `RUN` or `RUN/GATE`; the gate's id is everything after the slash."""
    prefix, _, gate_id = target.partition("/")
    if not prefix:
        raise Halt("the run id is empty")
    run = store.get(store.find(prefix, tenant=given.tenant or None, to_act=True))
    gate = _waiting(run, gate_id, given)
    return run, gate_id if gate is None else gate.id, gate


def _waiting(run: Run, gate_id: str, given: Given) -> Gate | None:
    """The gate that is meant; None when the one named does not wait, or cannot be read.

    Raises: `Halt` when none is named and not exactly one waits.
    """
    from oas_compiler.cli.render import told_unreadable

    if gate_id:
        return next((gate for gate in run.waiting if gate.id == gate_id), None)
    if len(run.waiting) == 1:
        return run.waiting[0]
    if run.unreadable:
        raise Halt(
            f"run '{run.id}' {'; '.join(told_unreadable(run))}",
            exit=Exit.CONFLICT,
            code="gate_unreadable",
        )
    if not run.waiting:
        message = f"no gate of run '{run.id}' waits: it is {run.status}"
        if run.status in {"running", "failed"}:
            message += "; if no process works on it, this goes on with it: "
            message += given.command("resume", run.id)
        raise Halt(message, exit=Exit.CONFLICT, code="gate_closed")
    names = ", ".join(f"{run.id}/{gate.id}" for gate in run.waiting)
    raise Halt(f"{len(run.waiting)} gates of run '{run.id}' wait; name one: {names}")
