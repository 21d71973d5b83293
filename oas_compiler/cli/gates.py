"""`oasflow gates`, `approve`, `reject`, `deny`, `answer`: list waiting gates and decide them from
anywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from oas_compiler.cli import inputs, opening, options
from oas_compiler.cli.exits import Exit, Halt
from oas_compiler.cli.layout import unbroken
from oas_compiler.cli.next_steps import GivenOptions
from oas_compiler.cli.terminal import Terminal

if TYPE_CHECKING:
    from cinatra_sdk import RunStore
    from cinatra_sdk.gates.decisions import Decision
    from cinatra_sdk.gates.gate import Gate
    from cinatra_sdk.runs import Run
from oas_compiler.cli.attach import put_in, read_attached
from oas_compiler.cli.deciding import (
    answer_gate,
    ask_person,
    decide_nothing,
    list_options,
    name_decider,
)

Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; kept for good.")]


def gates(
    run: Annotated[str, typer.Argument(metavar="[RUN]", help="Only the gates of this run.")] = "",
    *,
    flow: options.FlowName = "",
    started_by: options.StartedBy = "",
    older_than: options.OlderThan = "",
    newer_than: options.NewerThan = "",
    limit: Annotated[int, typer.Option(min=1, help="How many, the longest wait first.")] = 100,
    after: options.After = "",
    tenant: options.Tenant = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """List the gates that wait for a person, the longest wait first."""
    from oas_compiler.cli.records import waiting_record
    from oas_compiler.cli.render import tell_problems
    from oas_compiler.cli.tables import gates_table

    terminal = Terminal.open(as_json=as_json)
    wanted = options.filters(flow, started_by, older_than, newer_than)
    if run and wanted:
        raise Halt("RUN names one run: leave out what filters runs")
    with opening.store(terminal, db) as store:
        whose = tenant or None
        named = store.find(run, tenant=whose) if run else None
        page = store.gates(run_id=named, tenant=whose, limit=limit, after=after, **wanted)
        now = store.database.now()
        if not page.items:
            opening.refuse_unknown_flow(store, flow)
    if as_json:  # this makes up an example of each answer, which is slow
        records = [waiting_record(gate, now) for gate in page.items]
        listed = {"gates": records, "next": page.next or None}
        terminal.data(listed | options.list_unreadable(page), of_run=True)
    if page.items:
        terminal.show(gates_table(page.items, now))
        shown = GivenOptions(tenant=tenant, db=db).command("show", run or "RUN")
        terminal.say(
            "what a gate asks, and the commands that answer it:", unbroken(Text(f"  {shown}"))
        )
    else:
        terminal.say("no gate waits")
    for gate in page.unreadable:
        for problem in tell_problems(gate.run_id, [gate.problem]):
            terminal.note(f"run {gate.run_id}: {problem}")
    options.tell_more(terminal, page.next)
    return Exit.OK


def approve(
    target: options.Target,
    *,
    reason: Reason = "",
    by: options.As = "",
    env: options.Env = None,
    components: options.Components = None,
    unblock_component: options.Unblock = None,
    base_url: options.BaseUrl = "",
    allow: options.Allow = None,
    record: options.Record = "",
    host: options.Host = "",
    tenant: options.Tenant = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """Approve a gate, and drive its run on.

    The reason is kept with the decision, and is no text for the flow.
    A gate that asks for data or text takes `oasflow answer`.
    """
    from cinatra_sdk.gates.decisions import UNSET, Decision

    del components, unblock_component  # their callbacks have told cli/sources.py
    given = options.given(env, base_url, allow, record, tenant=tenant, db=db, host=host)

    def decide(gate: Gate | None, who: str) -> Decision:
        value = UNSET if gate is None else gate.form.plain_yes
        decision = Decision.approve(by=who, reason=reason, value=value)
        if gate is not None:
            _refuse_without_data(gate, decision, target, given)
        return decision

    return answer_gate("approve", target, decide, name_decider(by, given, reason, as_json))


def _refuse_without_data(gate: Gate, decision: Decision, target: str, given: GivenOptions) -> None:
    """Refuse to approve a gate that asks for data with a plain yes.

    Raises: `Halt`, which shows the right command.
    """
    from cinatra_sdk.errors import AnswerInvalid
    from cinatra_sdk.gates.forms.selection import SelectionForm
    from oas_compiler.cli.render import command_line, command_with_data

    form = gate.form
    if not form.needs_data:
        return
    answered = command_with_data(gate, target, given)
    try:
        gate.check(decision)
    except AnswerInvalid:
        if isinstance(form, SelectionForm):
            asks = f"which artifacts are chosen for the context slot '{form.selector.slot_id}'"
            way = "with --select ID or --select-none"
        elif gate.is_question:
            asks, way = "a question, and an approval has no words", "with --text"
            answered = given.command("answer", target, "--text", "…")
        else:
            asks, way = "for data", "with --value, or at a terminal field by field"
        raise Halt(
            f"gate '{gate.id}' asks {asks}: use oasflow answer {way}", then=[command_line(answered)]
        ) from None


def reject(
    target: options.Target,
    *,
    reason: Reason = "",
    by: options.As = "",
    env: options.Env = None,
    components: options.Components = None,
    unblock_component: options.Unblock = None,
    base_url: options.BaseUrl = "",
    allow: options.Allow = None,
    record: options.Record = "",
    host: options.Host = "",
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

    del components, unblock_component  # their callbacks have told cli/sources.py
    given = options.given(
        env, base_url, allow, record, tenant=tenant, db=db, host=host, imports=False
    )
    return answer_gate("reject", target, decide, name_decider(by, given, reason, as_json))


def deny(
    target: options.Target,
    *,
    reason: Reason = "",
    by: options.As = "",
    env: options.Env = None,
    components: options.Components = None,
    unblock_component: options.Unblock = None,
    base_url: options.BaseUrl = "",
    allow: options.Allow = None,
    record: options.Record = "",
    host: options.Host = "",
    tenant: options.Tenant = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """Deny the call before which a gate stands; the run goes on without it.

    Only a gate that asks for a confirmation can be denied; `oasflow reject` ends the run.
    """
    from cinatra_sdk.gates.decisions import Decision

    def decide(_gate: Gate | None, who: str) -> Decision:
        return Decision.deny(by=who, reason=reason)

    del components, unblock_component  # their callbacks have told cli/sources.py
    given = options.given(env, base_url, allow, record, tenant=tenant, db=db, host=host)
    return answer_gate("deny", target, decide, name_decider(by, given, reason, as_json))


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
    attach: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="A file that goes with --text to a model; repeatable."),
    ] = None,
    reason: Reason = "",
    by: options.As = "",
    env: options.Env = None,
    components: options.Components = None,
    unblock_component: options.Unblock = None,
    base_url: options.BaseUrl = "",
    allow: options.Allow = None,
    record: options.Record = "",
    host: options.Host = "",
    tenant: options.Tenant = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """Approve a gate with the data or text it asks for, or with artifacts for a context slot.

    At a terminal, and without an option that says the answer, it shows the gate and asks.
    """
    from cinatra_sdk.gates.decisions import Decision

    del components, unblock_component  # their callbacks have told cli/sources.py
    given = options.given(env, base_url, allow, record, tenant=tenant, db=db, host=host)
    words = list_options(("--value", value), ("--value-file", value_file), ("--text", text))
    words += list_options(*(("--select", one) for one in select or ()))
    words += ("--select-none",) if select_none else ()
    words += list_options(*(("--attach", one) for one in attach or ()))
    about = name_decider(by, given, reason, as_json, *words)
    ids = select or ([] if select_none else None)
    ways = (value, value_file, text, select or None, True if select_none else None)
    number = sum(way is not None for way in ways)
    if number == 0 and not reason and Terminal.open(as_json=as_json).asks:
        return ask_person(target, about)
    if number != 1:
        raise Halt("give one of --select, --select-none, --value, --value-file and --text")
    if attach and text is None:
        raise Halt("--attach goes with --text")
    files = [read_attached(path) for path in attach or ()]
    answered = None if ids is not None else _read_answer_value(value, value_file, text)

    def decide(gate: Gate | None, who: str) -> Decision:
        if ids is not None and gate is None:
            return decide_nothing(gate, who)
        if gate is not None and ids is None:
            _refuse_stray_selection(gate, answered)
        chosen = answered if gate is None or ids is None else _make_selection(gate, ids)
        return Decision.approve(by=who, reason=reason, value=chosen)

    def wrap(store: RunStore, run: Run, gate_id: str, decision: Decision) -> Decision:
        if not files:
            return decision
        return put_in(store, (run.id, gate_id), decision, files=files, tenant=tenant)

    return answer_gate("answer", target, decide, about, complete=wrap)


def _read_answer_value(value: str | None, file: str | None, text: str | None) -> Any:
    if value is not None:
        return inputs.json_value(value, "--value")
    if file is not None:
        return inputs.json_value(inputs.text_of(file, "--value-file"), f"--value-file {file}")
    return text


def _make_selection(gate: Gate, ids: list[str]) -> Any:
    """The envelope of `--select`.

    Raises: `Halt` at a gate without a selection, and for an id that no candidate has.
    """
    from cinatra_sdk.gates.forms.selection import SelectionForm
    from oas_compiler.cli.checklist import CannotTick
    from oas_compiler.cli.selecting import chosen_by_id

    form = gate.form
    if not isinstance(form, SelectionForm):
        raise Halt(
            f"gate '{gate.id}' does not ask for a context selection: leave out --select "
            "and --select-none"
        )
    try:
        return form.carry_envelope(chosen_by_id(form.selector, ids))
    except CannotTick as problem:
        raise Halt(f"--select: {problem}") from None


def _refuse_stray_selection(gate: Gate, value: Any) -> None:
    """A repeated selection must not approve the gate after its own gate.

    Raises: `Halt`.
    """
    from cinatra_sdk.context.selector import is_selector
    from oas_compiler.cli.selecting import is_envelope

    if not is_selector(gate.renderer) and is_envelope(value):
        raise Halt(
            f"gate '{gate.id}' does not ask for a context selection, and this value is one: "
            "name the gate that it is for, RUN/GATE"
        )
