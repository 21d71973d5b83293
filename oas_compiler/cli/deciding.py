"""A decision at the command line: finds the gate, makes the decision, and drives the run on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from cinatra_sdk.gates.decisions import Decision
from oas_compiler.cli import opening
from oas_compiler.cli.acting import TypedCommand, flow_to_go_on
from oas_compiler.cli.exits import Exit, Halt
from oas_compiler.cli.next_steps import GivenOptions
from oas_compiler.cli.terminal import Terminal

if TYPE_CHECKING:
    from cinatra_sdk import RunStore
    from cinatra_sdk.engine.runtime_context import HostContext
    from cinatra_sdk.gates.gate import Gate
    from cinatra_sdk.runs import OnEvent, Run
    from cinatra_sdk.store.flows import DurableFlow
    from oas_compiler.cli.drive import Drive


@dataclass(frozen=True, slots=True, kw_only=True)
class Decider:
    """The person who answers, and the options that all answers share."""

    who: str
    given: GivenOptions
    as_json: bool
    words: tuple[str, ...] = ()
    """The command's own options as typed, for a refusal that repeats the command."""


def name_decider(by: str, given: GivenOptions, reason: str, as_json: bool, *words: str) -> Decider:
    words += list_options(("--reason", reason or None), ("--as", by or None))
    return Decider(who=opening.person(by), given=given, as_json=as_json, words=words)


def list_options(*options: tuple[str, str | None]) -> tuple[str, ...]:
    """The given options with their values."""
    return tuple(word for option, value in options if value is not None for word in (option, value))


def ask_person(target: str, about: Decider) -> Exit:
    """Find the gate, ask the person at the terminal, and drive the run to its next stop."""
    terminal = Terminal.open(as_json=about.as_json)
    with opening.store(terminal, about.given.db, about.given.own) as store:
        run, gate_id, gate = find_gate(store, target, about.given)
        if gate is not None:
            call = TypedCommand("answer", f"{run.id}/{gate.id}", about.words)
            flow = flow_to_go_on(store, run, terminal, about.given, call)
            return make_drive(store, run, flow, terminal, about).ask(run, gate)
    return answer_gate("answer", f"{run.id}/{gate_id}", decide_nothing, about)


def answer_gate(
    command: str,
    target: str,
    decide: Decide,
    about: Decider,
    *,
    complete: Complete | None = None,
) -> Exit:
    """Find the gate, decide, and drive the run to its next stop."""
    terminal = Terminal.open(as_json=about.as_json)
    given = about.given
    with opening.store(terminal, given.db, given.own) as store:
        run, gate_id, gate = find_gate(store, target, given)
        # A gate that does not wait goes to the store, which reports who answered it, and when.
        decision = decide(gate, about.who)
        if complete is not None and gate is not None:
            decision = complete(store, run, gate_id, decision)
        to_reject = decision.kind == "rejected"
        call = TypedCommand(command, f"{run.id}/{gate_id}", about.words)
        drive = None
        try:
            flow = flow_to_go_on(store, run, terminal, given, call, to_reject=to_reject)
            drive = make_drive(store, run, flow, terminal, about, lends=not to_reject)
        except Exception:
            if not to_reject:  # a rejection needs no flow
                raise

        def answered(on_event: OnEvent | None, context: HostContext | None) -> Run:
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
        return tell_rejection(terminal, given, lambda: answered(None, opening.host(given.tenant)))


def tell_rejection(terminal: Terminal, given: GivenOptions, reject: Callable[[], Run]) -> Exit:
    """Reject a run whose flow cannot be rebuilt; the store reports the reason."""
    from oas_compiler.cli.exits import exit_of
    from oas_compiler.cli.records import run_record
    from oas_compiler.cli.render import outcome_view

    ended = reject()
    terminal.show(outcome_view(ended, given))
    terminal.data(run_record(ended), of_run=True)
    return exit_of(ended)


def make_drive(
    store: RunStore,
    run: Run,
    flow: DurableFlow,
    terminal: Terminal,
    about: Decider,
    *,
    lends: bool = True,
) -> Drive:
    """A drive with one answer; later gates are left waiting."""
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


def find_gate(store: RunStore, target: str, given: GivenOptions) -> tuple[Run, str, Gate | None]:
    """Run and gate of `RUN` or `RUN/GATE`; the gate's id is everything after the slash."""
    prefix, _, gate_id = target.partition("/")
    if not prefix:
        raise Halt("the run id is empty")
    run = store.get(store.find(prefix, tenant=given.tenant or None, to_act=True))
    gate = find_waiting(run, gate_id, given)
    return run, gate_id if gate is None else gate.id, gate


def find_waiting(run: Run, gate_id: str, given: GivenOptions) -> Gate | None:
    """The named gate; None where it does not wait or cannot be read.

    Raises: `Halt` when no gate is named, unless exactly one gate waits.
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


Decide: TypeAlias = "Callable[[Gate | None, str], Decision]"
"""Makes the decision from the gate (None when it does not wait) and the person's name."""
Complete: TypeAlias = "Callable[[RunStore, Run, str, Decision], Decision]"
"""Puts in what only the store knows, for a gate that waits; takes its id."""


def decide_nothing(_gate: Gate | None, _who: str) -> Decision:
    """A decision for a gate that does not wait: the store refuses it and reports who answered, and
    when.
    """
    from cinatra_sdk.gates.decisions import Decision

    return Decision.reject()
