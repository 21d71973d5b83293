"""A decision at the command line: finds the gate, makes the decision, and drives the run on."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NoReturn, TypeAlias

from cinatra_sdk.data.text.message_words import say_number
from cinatra_sdk.errors import AnswerInvalid, GateChanged, HostRefused
from cinatra_sdk.gates.decisions import SHORT, Decision
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.cli.host import options, resources
from oas_compiler.cli.host.options import DriveOptions, GivenOptions, drop_placeholder
from oas_compiler.cli.host.resources import find_parts
from oas_compiler.cli.host.run_requirements import TypedCommand, flow_to_go_on, options_of_run
from oas_compiler.cli.terminal.exits import Exit, Halt
from oas_compiler.cli.terminal.printable_text import clean
from oas_compiler.cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from rich.console import RenderableType

    from cinatra_sdk import RunStore
    from cinatra_sdk.gates.gate import Gate
    from cinatra_sdk.host_parts.host_parts import HostParts
    from cinatra_sdk.langgraph_threads.host_context import HostContext
    from cinatra_sdk.runs import OnEvent, Run
    from cinatra_sdk.store.flows.flow_protocol import DurableFlow
    from oas_compiler.cli.ask.run_dialogue import Begin, Drive


# ----------------------------------------------------------------------------
# The decision record of a governed run that a command ends without its flow: who signs it.
#
#     `lend_signer(terminal, store, host)`
#     `store.stop(run_id)`
#     tell_unsigned(terminal, store, run_id, host)    "the decision record dr_r1_3 is not signed, …"


_NO_SIGNER: Final = "the host has no signer (GovernancePorts(signer=…)): records of governed runs stay without a signature"


def lend_signer(terminal: Terminal, store: RunStore, option: str) -> HostParts | None:
    """Lend the store the signer of the host, if it has one, and no other part of it; gives the parts.

    No factory that fails prevents the end of a run: it is told.
    """
    try:
        parts = find_parts(option)
    except HostRefused as refused:
        terminal.note(f"the host is not used: {clean(str(refused))}")
        return None
    if parts is None:
        return None
    if (
        parts.governance is None
    ):  # it governs nothing; `tell_unsigned` tells of a record without signature
        return parts
    from cinatra_sdk.governance.governance import Governance
    from cinatra_sdk.governance.records.record_maker import Signer

    governance: object = parts.governance  # a factory may put anything there
    signer: object = governance.ports.signer if isinstance(governance, Governance) else None
    if isinstance(signer, Signer):
        store.lend_signer(signer)
    else:
        terminal.note(_NO_SIGNER)
    return parts


def tell_unsigned(terminal: Terminal, store: RunStore, run_id: str, option: str) -> None:
    """Say that a run's last record has no signature; a run that no pack governs has no record.

    option: `--host` of the command.
    """
    from cinatra_sdk.host_parts.factory import HOST_VARIABLE
    from cinatra_sdk.store.evidence.decision_records import DecisionRecords

    last = DecisionRecords(store.database).page(run_id=run_id, limit=1).items
    if last and last[0].record.signature is None:
        way = "--host MODULE:FACTORY (or OASFLOW_HOST) lends a signer"
        if option or os.environ.get(HOST_VARIABLE):
            way = "the host of this command did not sign it"
        terminal.note(
            f"the decision record {clean(last[0].record.record_id)} is not signed, and verifying it "
            f"with keys names it: {way}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Decider:
    """The person who answers, and the options that all answers share."""

    who: str
    given: GivenOptions
    as_json: bool
    reason: str = ""
    """Why; kept with the decision."""
    words: tuple[str, ...] = ()
    """The command's own options as typed, for a refusal that repeats the command."""
    shown: str = ""
    """What the person saw, as `--shown` says it; empty without."""

    def act_on(self, terminal: Terminal, opened: RunStore, command: str) -> RunStore:
        """The store for this person, with the policy of `--host`; for a rejection with its signer, too."""
        parts = self.given.own.parts
        if command == "reject":
            parts = lend_signer(terminal, opened, self.given.own.host)
        return resources.act_as(opened, self.who, self.given.tenant, parts)


def name_decider(
    lent: DriveOptions,
    reason: str,
    *words: str,
    shown: str | None = None,
    imports: bool = True,
) -> Decider:
    """shown: as `--shown` says it; None: it was not given.  imports: see `DriveOptions.lend`.

    Raises: `Halt` for an empty hash, which a script fills in from an empty place; `HostRefused`.
    """
    from cinatra_sdk.gates.decisions import read_shown

    given = lent.lend(imports=imports)
    refuse_empty_hash(shown)
    reason = drop_placeholder(lent.open_terminal(), reason)
    words += list_options(("--reason", reason or None), ("--as", lent.by or None))
    return Decider(
        who=resources.person(lent.by),
        given=given,
        as_json=lent.as_json,
        reason=reason,
        words=words,
        shown=read_shown(shown or ""),
    )


def refuse_empty_hash(*hashes: str | None) -> None:
    """Raises: `Halt`."""
    if "" in hashes:
        raise Halt(
            "--shown is empty: give the letters that the printed command has, or leave it out"
        )


def list_options(*options: tuple[str, str | None]) -> tuple[str, ...]:
    """The given options with their values."""
    return tuple(word for option, value in options if value is not None for word in (option, value))


def ask_person(target: str, about: Decider) -> Exit:
    """Find the gate, ask the person at the terminal, and drive the run to its next stop."""
    terminal = Terminal.open(as_json=about.as_json)
    with resources.store(terminal, about.given.db, about.given.own) as opened:
        store = about.act_on(terminal, opened, "answer")
        found = find_gate(store, target, about.given)
        run, gate = found.run, found.gate
        found.refuse_other(about.shown)
        call = TypedCommand("answer", f"{run.id}/{gate.id}", about.words)
        flow = flow_to_go_on(store, run, terminal, about.given, call)
        return make_drive(store, run, flow, terminal, about).ask(run, gate)


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
    with resources.store(terminal, about.given.db, about.given.own) as opened:
        store = about.act_on(terminal, opened, command)
        found = find_gate(store, target, about.given, command)
        try:
            return _carry_out(
                store, terminal, found, decide, about, command=command, complete=complete
            )
        except AnswerInvalid as error:
            error.hint = _complete_hint(error.hint, store, found, about.given)
            raise


def _carry_out(
    store: RunStore,
    terminal: Terminal,
    found: MeantGate,
    decide: Decide,
    about: Decider,
    *,
    command: str,
    complete: Complete | None,
) -> Exit:
    """Make the decision, and drive the run on with it."""
    decision = decide_found(store, found, decide, about, command=command, complete=complete)
    # What the run calls is told only for a decision that can be about what the gate shows.
    found.refuse_other(decision.shown)
    drive = prepare(store, found, terminal, about, command=command, decision=decision)
    if drive is not None:
        return drive.go(call_answer(store, found, decision, drive.flow, about.given))
    reject = call_answer(store, found, decision, None, about.given)
    context = resources.host(about.given.tenant)
    if about.given.own.host:
        terminal.note(
            "a rejection needs no flow: of the host it uses the signer and the policy (may)"
        )
    done = tell_rejection(terminal, about.given, lambda: reject(None, context))
    tell_unsigned(terminal, store, found.run.id, about.given.own.host)
    return done


_PLACE: Final = re.compile(r'oasflow (approve|reject) RUN/GATE(?: --shown HASH)?(?: --reason "…")?')
"""The commands that the hint of a refused answer names, which knows no run."""
_PLAIN_ANSWER: Final = 'an answer that fits: {"approved": true}'


def _complete_hint(hint: str, store: RunStore, found: MeantGate, given: GivenOptions) -> str:
    """The hint of a refused answer in commands that can be typed: run, gate and what it shows are
    known here, and a whole answer is nothing that `--value` takes.
    """
    from oas_compiler.cli.view.run_view import seen_of

    gate, whole = found.gate, options_of_run(store, found.run, given)

    def write(name: str) -> str:
        why = ("--reason", "…") if name == "reject" else ()
        return whole.command(name, f"{found.run.id}/{gate.id}", *seen_of(gate), *why)

    fitting = write("approve")
    if gate.is_editable:
        arguments = json.dumps(gate.values.get("arguments"), ensure_ascii=False)
        fitting = f"an edit gives all arguments; as they are shown: --value {shlex.quote(arguments)}; to approve them so: {fitting}"
    return _PLACE.sub(lambda named: write(named[1]), hint).replace(_PLAIN_ANSWER, fitting)


def decide_found(
    store: RunStore,
    found: MeantGate,
    decide: Decide,
    about: Decider,
    *,
    command: str,
    complete: Complete | None = None,
) -> Decision:
    """The decision of the command, about what the person saw."""
    decision = decide(found.gate, about.who)
    if command == "approve":
        refuse_without_data(store, found, decision, about.given)
    if complete is not None:
        decision = complete(store, found.run, found.gate.id, decision)
    unnamed = "" if found.is_named else found.gate.shown
    return replace(decision, shown=about.shown or unnamed)


def refuse_without_data(
    store: RunStore, found: MeantGate, decision: Decision, given: GivenOptions
) -> None:
    """Refuse to approve a gate that asks for data with a plain yes.

    Raises: `Halt`, which shows the right command.
    """
    from cinatra_sdk.gates.forms.selection_form import SelectionForm
    from oas_compiler.cli.view.run_view import command_line, command_with_data, seen_of

    gate, run_id = found.gate, found.run.id
    form = gate.form
    if not form.needs_data:
        return
    try:
        gate.check(decision)
    except AnswerInvalid:
        whole = options_of_run(store, found.run, given)
        answered = command_with_data(gate, run_id, whole)
        if isinstance(form, SelectionForm):
            asks = f"which artifacts are chosen for the context slot '{form.selector.slot_id}'"
            way = "with --select ID or --select-none"
        elif gate.is_question:
            asks, way = "a question, and an approval has no words", "with --text"
            answered = whole.command("answer", f"{run_id}/{gate.id}", *seen_of(gate), "--text", "…")
        else:
            asks, way = "for data", "with --value, or at a terminal field by field"
        raise Halt(
            f"gate '{gate.id}' asks {asks}: use oasflow answer {way}",
            then=[command_line(answered)],
            more={"command": answered},
        ) from None


def prepare(
    store: RunStore,
    found: MeantGate,
    terminal: Terminal,
    about: Decider,
    *,
    command: str,
    decision: Decision,
) -> Drive | None:
    """The drive that carries the decision out; None for a rejection whose flow cannot be rebuilt."""
    to_reject = decision.kind == "rejected"
    seen = decision.shown or found.gate.shown
    words = list_options(("--shown", seen[:SHORT]))
    call = TypedCommand(command, f"{found.run.id}/{found.gate.id}", words + about.words)
    try:
        flow = flow_to_go_on(store, found.run, terminal, about.given, call, to_reject=to_reject)
        return make_drive(store, found.run, flow, terminal, about, lends=not to_reject)
    except Exception:
        if not to_reject:  # a rejection needs no flow
            raise
        return None


def call_answer(
    store: RunStore,
    found: MeantGate,
    decision: Decision,
    flow: DurableFlow | None,
    given: GivenOptions,
) -> Begin:
    """Records the decision, and drives the run on, when it is called."""

    def answered(on_event: OnEvent | None, context: HostContext | None) -> Run:
        return store.answer(
            found.run.id,
            found.gate.id,
            decision,
            flow=flow,
            tenant=given.tenant or None,
            context=context,
            on_event=on_event,
        )

    return answered


def tell_rejection(terminal: Terminal, given: GivenOptions, reject: Callable[[], Run]) -> Exit:
    """Reject a run whose flow cannot be rebuilt; the store reports the reason."""
    from cinatra_sdk.api.run_json import make_run
    from oas_compiler.cli.terminal.exits import exit_of
    from oas_compiler.cli.view.run_view import outcome_view

    ended = reject()
    terminal.show(outcome_view(ended, given))
    terminal.data(make_run(ended), of_run=True)
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
    from oas_compiler.cli.ask.run_dialogue import Drive

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


@dataclass(frozen=True, slots=True, kw_only=True)
class MeantGate:
    """The gate that a command means: it waits, and what it shows is known."""

    run: Run
    gate: Gate
    is_named: bool
    """Whether the command named the gate, and not the run alone."""

    def refuse_other(self, shown: str) -> None:
        """Raises: `GateChanged` where the gate shows something else than `shown`."""
        from cinatra_sdk.store.decisions.decision_rows import refuse_changed

        if shown:
            refuse_changed(self.run.id, self.gate, shown)


def find_gate(store: RunStore, target: str, given: GivenOptions, command: str = "") -> MeantGate:
    """Run and gate of `RUN` or `RUN/GATE`; the gate's id is everything after the slash.

    command: the word that decides without showing the gate; with it, a run alone is taken only where
    it cannot mean another gate than the person thinks.  A rejection ends the run whichever it was.

    Raises: for a gate that does not wait, as the store, which tells who decided it, and when.  One
    that opens later is not meant: nobody has seen what it will show.
    """
    prefix, _, gate_id = target.partition("/")
    if not prefix and gate_id:
        raise Halt(f"'{target}' names a gate and no run: write RUN/GATE")
    options.refuse_empty_run(prefix, "RUN/GATE")
    run = store.get(store.find(prefix, tenant=given.tenant or None, to_act=True))
    if gate_id:
        gate = next((gate for gate in run.waiting if gate.id == gate_id), None)
        if gate is None:
            _refuse_absent(store, run, gate_id, given)
        return MeantGate(run=run, gate=gate, is_named=True)
    gate = _find_only_gate(store, run, given)
    if command not in {"", "reject"} and store.questions(run.id).asked != 1:
        raise _build_unnamed(store, run, given, f"oasflow {command} {target}")
    return MeantGate(run=run, gate=gate, is_named=False)


def _refuse_absent(store: RunStore, run: Run, gate_id: str, given: GivenOptions) -> NoReturn:
    """Have the store refuse a decision for a gate that did not wait: it tells what was decided.

    The decision is about what no gate shows, by nobody, so that the store can only refuse it, also
    where the gate opens meanwhile.
    """
    refused = Decision.reject(shown=_SHOWN_BY_NONE)
    context = resources.host(given.tenant)
    try:
        store.answer(run.id, gate_id, refused, tenant=given.tenant or None, context=context)
    except GateChanged:
        raise Halt(
            f"gate '{gate_id}' of run '{run.id}' opened only now: nobody has seen what it shows; "
            f"see it, and decide that: {given.command('show', run.id)}",
            exit=Exit.CONFLICT,
            code="gate_changed",
        ) from None
    raise AssertionError("the store took a decision of nobody")


def _find_only_gate(store: RunStore, run: Run, given: GivenOptions) -> Gate:
    """Raises: `Halt` unless exactly one gate waits."""
    from oas_compiler.cli.view.run_view import told_unreadable

    if len(run.waiting) == 1:
        return run.waiting[0]
    if run.unreadable:
        raise Halt(
            f"run '{run.id}' {'; '.join(told_unreadable(run, given))}",
            exit=Exit.CONFLICT,
            code="gate_unreadable",
        )
    if not run.waiting:
        whole = options_of_run(store, run, given)
        calls = store.unknown(run.id) if run.status == "waiting" else ()
        if calls:
            raise _build_call_to_settle(run, [call.key for call in calls], whole)
        message = _describe_idle(run, store.questions(run.id).last, whole)
        raise Halt(message, exit=Exit.CONFLICT, code="gate_closed")
    names = ", ".join(f"{run.id}/{gate.id}" for gate in run.waiting)
    whole = options_of_run(store, run, given)
    raise Halt(
        f"{len(run.waiting)} gates of run '{run.id}' wait; name one: {names}",
        then=_list_commands(run, whole),
        more={"waiting": _describe_waiting(run, whole)},
    )


def _build_call_to_settle(run: Run, keys: list[str], given: GivenOptions) -> Halt:
    """What a run waits for that no gate asks: somebody's word on its calls."""
    from oas_compiler.cli.view.run_view import command_line, settle_commands

    many = f"{say_number(len(keys), 'call')}, of which nobody knows whether {'it' if len(keys) == 1 else 'they'} happened"
    lines = [line for key in keys for line in settle_commands(run.id, key, given)]
    return Halt(
        f"no gate of run '{run.id}' waits: it waits for a person's word on {many}; settle with:",
        exit=Exit.CONFLICT,
        code="gate_closed",
        then=[command_line(line) for line in lines],
        more={"settle": lines},
    )


def _describe_idle(run: Run, last: str, given: GivenOptions) -> str:
    """Why no gate of a run waits; last: what was decided last."""
    message = f"no gate of run '{run.id}' waits: it is {run.status}" + (f"; {last}" if last else "")
    if (run.error or {}).get("code") == "child_waits" and run.status == "waiting":
        message += "; it waits for a run that it began: see oasflow gates"
    if run.status in {"running", "failed"}:
        message += "; if no process works on it, this goes on with it: "
        message += given.command("resume", run.id)
    return message


def _build_unnamed(store: RunStore, run: Run, given: GivenOptions, typed: str) -> Halt:
    last, given = store.questions(run.id).last, options_of_run(store, run, given)
    return Halt(
        f"run '{run.id}' has asked more than once, and '{typed}' does not say which gate it is for"
        + (f"; {last}" if last else "")
        + "; what waits now:",
        exit=Exit.CONFLICT,
        code="gate_unnamed",
        then=_list_commands(run, given),
        more={"waiting": _describe_waiting(run, given)},
    )


def _list_commands(run: Run, given: GivenOptions) -> list[RenderableType]:
    from oas_compiler.cli.view.run_view import command_line, how_to_answer

    looked = command_line(given.command("show", run.id))
    return [*(how_to_answer(run.id, gate, given) for gate in run.waiting), looked]


def _describe_waiting(run: Run, given: GivenOptions) -> list[dict[str, str]]:
    from oas_compiler.cli.view.run_view import commands_of

    return [
        {"gate": gate.id, "shown": gate.shown, "command": commands_of(run.id, gate, given)[0]}
        for gate in run.waiting
    ]


Decide: TypeAlias = "Callable[[Gate, str], Decision]"
"""Makes the decision from the gate and the person's name."""
Complete: TypeAlias = "Callable[[RunStore, Run, str, Decision], Decision]"
"""Puts in what only the store knows; takes the gate's id."""
_SHOWN_BY_NONE: Final = "0" * 64
