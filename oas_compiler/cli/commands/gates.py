"""`oasflow gates`, `approve`, `reject`, `deny`, `answer`: list waiting gates and decide them from
anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from cinatra_sdk.data.text.author_files import read_named
from oas_compiler.cli.ask.batch import decide_targets, read_targets
from oas_compiler.cli.ask.decision import answer_gate, ask_person, list_options, name_decider
from oas_compiler.cli.host import options, resources
from oas_compiler.cli.host.options import DriveOptions, StoreOptions
from oas_compiler.cli.host.resources import USUAL_ORG
from oas_compiler.cli.host.run_requirements import options_of_runs
from oas_compiler.cli.terminal import argument_values
from oas_compiler.cli.terminal.exits import Exit, Halt
from oas_compiler.cli.terminal.layout import unbroken

if TYPE_CHECKING:
    from cinatra_sdk import RunStore
    from cinatra_sdk.attachments import AttachmentRef
    from cinatra_sdk.gates.decisions import Decision
    from cinatra_sdk.gates.gate import Gate
    from cinatra_sdk.runs import Run
    from oas_compiler.cli.terminal.streams import Terminal


# ----------------------------------------------------------------------------
# `oasflow attach FILE …`: keeps files for models, and prints their refs.
#
#     oasflow attach plan.pdf photo.png
#     [{"artifactId": "att_1…", "mime": "application/pdf", …}, …]
#
# The refs go into an input of a flow (`--set 'files=[…]'`), or with an answer (`oasflow answer --attach`).


MAX_BYTES = 100 * 2**20
"""Bytes of a file: the most that any provider takes."""


def attach(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Files that a model is to read.")
    ],
    *,
    mime: Annotated[
        str,
        typer.Option(metavar="TYPE", help="The type of the files; default: by their names."),
    ] = "",
    by: options.As = "",
    where: StoreOptions,
) -> Exit:
    """Keep files for models, and print the refs by which flows name them.

    A ref goes into an input that holds files, or along with an answer at a gate.
    """
    terminal = where.open_terminal()
    read = [read_attached(path, mime) for path in files]
    with resources.store(terminal, where.db) as store:
        kept = keep(store, read, tenant=where.tenant, by=resources.person(by))
    refs = [ref.wire() for ref in kept]
    terminal.data({"attachments": refs})
    terminal.show(json.dumps(refs, ensure_ascii=False))
    return Exit.OK


def read_attached(path: str, mime: str = "") -> tuple[str, str, bytes]:
    """Name, type and bytes of a file.

    Raises: `Halt`.
    """
    from cinatra_sdk.attachments.manifest import find_type

    try:
        content = read_named(path, MAX_BYTES + 1)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise Halt(f"{path}: {why}", code="unreadable") from None
    except ValueError:
        raise Halt("this is not a file name", code="unreadable") from None
    if len(content) > MAX_BYTES:
        raise Halt(f"{path}: larger than {MAX_BYTES:,} bytes", code="unreadable")
    name = PurePath(path).name
    type_ = mime or find_type(name)
    if not type_:
        raise Halt(
            f"the type of {name} is not known by its name: say it with --mime, such as "
            "--mime application/pdf"
        )
    return name, type_, content


def keep(
    store: RunStore, files: Sequence[tuple[str, str, bytes]], *, tenant: str, by: str
) -> list[AttachmentRef]:
    """Add files to those of the tenant.

    Raises: `InputInvalid`.
    """
    from cinatra_sdk.store.artifacts.attachment_store import AttachmentStore

    kept = AttachmentStore(store.database)
    return [
        kept.add(
            tenant or USUAL_ORG,
            [content],
            mime=mime,
            created_by=by,
            max_bytes=MAX_BYTES,
            filename=name,
        )
        for name, mime, content in files
    ]


def put_in(
    store: RunStore,
    place: tuple[str, str],
    decision: Decision,
    *,
    files: Sequence[tuple[str, str, bytes]],
    tenant: str,
) -> Decision:
    """The decision, whose text is an envelope with the files.

    place: the ids of run and gate.

    Raises: `Halt` where no call opens an envelope: its model would be shown the JSON.
    """
    from cinatra_sdk.attachments import MAX_REFS, wrap_answer

    if len(files) > MAX_REFS:  # the envelope would leave the others out
        raise Halt(f"{len(files)} files are attached; an answer takes {MAX_REFS} at most")
    run_id, gate_id = place
    rules = [rule for rule in store.answer_rules(run_id) if rule.takes(gate_id)]
    if not rules:
        raise Halt(
            f"the answer of gate '{gate_id}' reaches no model with files: a call of the bridge takes "
            'them whose "user" is this answer alone, with "user_envelope": true; leave out --attach'
        )
    refs = [ref.wire() for ref in keep(store, files, tenant=tenant, by=decision.by)]
    text = wrap_answer(str(decision.value), refs, gate=gate_id, rules=rules)
    return replace(decision, value=text)


def gates(
    run: Annotated[
        str,
        typer.Argument(
            metavar="[RUN[/GATE]]",
            help="Only what this run needs; with a gate, how that was asked and what was decided.",
        ),
    ] = "",
    *,
    flow: options.FlowName = "",
    started_by: options.StartedBy = "",
    risk: Annotated[
        str, typer.Option(metavar="CLASS", help="Only gates and calls of this risk class.")
    ] = "",
    step: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Only gates of this step of the policy.")
    ] = None,
    text: Annotated[
        str, typer.Option(metavar="TEXT", help="Only what shows this text somewhere.")
    ] = "",
    older_than: options.OlderThan = "",
    newer_than: options.NewerThan = "",
    limit: Annotated[int, typer.Option(min=1, help="How many, the longest wait first.")] = 100,
    after: options.After = "",
    shown: Annotated[
        str | None,
        typer.Option(metavar="HASH", help="Of a gate that showed several things, the one meant."),
    ] = None,
    where: StoreOptions,
) -> Exit:
    """List what needs a person: gates to decide, calls to settle, failed runs to resume.

    The longest wait first, each with the command that answers it.
    RUN/GATE shows one gate as it was asked, and what became of it, also of a run that has ended.
    """
    from cinatra_sdk.api.page_json import make_page_end
    from oas_compiler.cli.view.needs_view import need_record, needs_table, waiting_record
    from oas_compiler.cli.view.run_view import tell_problems

    terminal = where.open_terminal()
    wanted = options.filters(flow, started_by, older_than, newer_than)
    if "/" in run:
        if wanted or risk or text or after or step is not None:
            raise Halt("RUN/GATE names one gate: leave out what filters gates")
        return _show_asked(terminal, run, shown, where)
    if shown is not None:
        raise Halt("--shown goes with RUN/GATE")
    if run and wanted:
        raise Halt("RUN names one run: leave out what filters runs")
    given = where.given
    with resources.store(terminal, where.db) as store:
        page = store.needs(
            run_id=store.find(run, tenant=where.owner) if run else None,
            tenant=where.owner, risk=risk or None, step=step, text=text or None, limit=limit, after=after,
            **wanted,
        )  # fmt: skip
        now = store.database.now()
        if not page.items:
            resources.refuse_unknown_flow(store, flow)
        whole = options_of_runs(store, (need.run_id for need in page.items), given)
        layouts = store.list_other_layouts(tenant=where.owner)
    if where.as_json:  # this makes up an example of each answer, which is slow
        records = [
            waiting_record(need, now, whole[need.run_id])
            for need in page.items
            if need.kind == "gate"
        ]
        needs = [need_record(need, now, whole[need.run_id]) for need in page.items]
        terminal.data({"needs": needs, "gates": records, **make_page_end(page)}, of_run=True)
    if page.items:
        terminal.say("what needs a person, the longest wait first:")
        terminal.show(needs_table(page.items, now, given, whole))
        shown = given.command("show", run or "RUN")
        terminal.say(
            "what a gate asks, and the commands that answer it:", unbroken(Text(f"  {shown}"))
        )
    else:
        fits = bool(run or risk or text or after or where.tenant or wanted or step is not None)
        terminal.say(
            "nothing that fits needs a person" if fits else "nothing needs a person: no gate waits"
        )
    for gate in page.unreadable:
        for problem in tell_problems(gate.run_id, [gate.problem], given):
            terminal.note(f"run {gate.run_id}: {problem}")
    resources.tell_layouts(terminal, layouts)
    options.tell_more(terminal, page.next)
    return Exit.OK


def _show_asked(terminal: Terminal, target: str, shown: str | None, where: StoreOptions) -> Exit:
    """One gate as it was asked."""
    from cinatra_sdk.api.run_json import make_asked_gate
    from oas_compiler.cli.ask.decision import refuse_empty_hash
    from oas_compiler.cli.view.run_view import asked_gate_view, extent_of

    prefix, _, gate_id = target.partition("/")
    options.refuse_empty_run(prefix, "RUN/GATE")
    refuse_empty_hash(shown)
    with resources.store(terminal, where.db) as store:
        run_id = store.find(prefix, tenant=where.owner)
        asked = store.gate(run_id, gate_id, shown, tenant=where.owner)
    if where.as_json:  # this makes up an example of the answer, which is slow
        terminal.data(make_asked_gate(asked), of_run=True)
    terminal.show(asked_gate_view(asked, extent_of(run_id, where.given, whole=True)))
    return Exit.OK


def approve(
    targets: options.Targets,
    *,
    shown: options.ShownOfEach = None,
    reason: options.Reason = "",
    lent: DriveOptions,
) -> Exit:
    """Approve gates, and drive their runs on.

    The reason is kept with the decision, and is no text for the flow.
    A gate that asks for data or text takes `oasflow answer`.
    Several gates are shown first; at a terminal one Enter then approves them, elsewhere each must be
    named, with its --shown.
    """
    from cinatra_sdk.gates.decisions import Decision

    about = name_decider(lent, reason)

    def decide(gate: Gate, who: str) -> Decision:
        return Decision.approve(by=who, reason=about.reason, value=gate.form.plain_yes)

    return decide_targets("approve", read_targets(targets, shown, decide), about)


def reject(
    targets: options.Targets,
    *,
    shown: options.ShownOfEach = None,
    reason: options.Reason = "",
    lent: DriveOptions,
) -> Exit:
    """Reject gates; their runs end as rejected.

    Nothing after the gate runs.  The exit code is 5.
    Several gates are shown first, as with approve.
    """
    from cinatra_sdk.gates.decisions import Decision

    about = name_decider(lent, reason, imports=False)

    def decide(_gate: Gate, who: str) -> Decision:
        return Decision.reject(by=who, reason=about.reason)

    return decide_targets("reject", read_targets(targets, shown, decide), about)


def deny(
    target: options.Target,
    *,
    shown: options.Shown = None,
    reason: options.Reason = "",
    lent: DriveOptions,
) -> Exit:
    """Deny the call before which a gate stands; the run goes on without it.

    Only a gate that asks for a confirmation can be denied; `oasflow reject` ends the run.
    """
    from cinatra_sdk.gates.decisions import Decision

    about = name_decider(lent, reason, shown=shown)

    def decide(_gate: Gate, who: str) -> Decision:
        return Decision.deny(by=who, reason=about.reason)

    return answer_gate("deny", target, decide, about)


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
    shown: options.Shown = None,
    reason: options.Reason = "",
    lent: DriveOptions,
) -> Exit:
    """Approve a gate with the data or text it asks for, or with artifacts for a context slot.

    At a terminal, and without an option that says the answer, it shows the gate and asks.
    """
    from cinatra_sdk.gates.decisions import Decision

    words = list_options(("--value", value), ("--value-file", value_file), ("--text", text))
    words += list_options(*(("--select", one) for one in select or ()))
    words += ("--select-none",) if select_none else ()
    words += list_options(*(("--attach", one) for one in attach or ()))
    about = name_decider(lent, reason, *words, shown=shown)
    ids = select or ([] if select_none else None)
    ways = (value, value_file, text, select or None, True if select_none else None)
    number = sum(way is not None for way in ways)
    if number == 0 and not reason and lent.open_terminal().asks:
        return ask_person(target, about)
    if number != 1:
        raise Halt("give one of --select, --select-none, --value, --value-file and --text")
    if attach and text is None:
        raise Halt("--attach goes with --text")
    files = [read_attached(path) for path in attach or ()]
    answered = None if ids is not None else _read_answer_value(value, value_file, text)

    def decide(gate: Gate, who: str) -> Decision:
        if ids is None:
            _refuse_stray_selection(gate, answered)
        chosen = answered if ids is None else _make_selection(gate, ids)
        return Decision.approve(by=who, reason=about.reason, value=chosen)

    def wrap(store: RunStore, run: Run, gate_id: str, decision: Decision) -> Decision:
        if not files:
            return decision
        return put_in(store, (run.id, gate_id), decision, files=files, tenant=lent.tenant)

    return answer_gate("answer", target, decide, about, complete=wrap)


def _read_answer_value(value: str | None, file: str | None, text: str | None) -> Any:
    """Raises: `Halt`, also for the … of a printed command."""
    if value is not None:
        argument_values.refuse_placeholder(value, "--value")
        option, answered = "--value", argument_values.json_value(value, "--value")
    elif file is not None:
        option = f"--value-file {file}"
        answered = argument_values.json_value(argument_values.text_of(file, "--value-file"), option)
    else:
        option, answered = "--text", text
    argument_values.refuse_placeholder(answered, option)
    return answered


def _make_selection(gate: Gate, ids: list[str]) -> Any:
    """The envelope of `--select`.

    Raises: `Halt` at a gate without a selection, and for an id that no candidate has.
    """
    from cinatra_sdk.gates.forms.selection_form import SelectionForm
    from oas_compiler.cli.view.checklist import CannotTick, chosen_by_id

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
    from oas_compiler.cli.view.checklist import is_envelope

    if not is_selector(gate.renderer) and is_envelope(value):
        raise Halt(
            f"gate '{gate.id}' does not ask for a context selection, and this value is one: "
            "name the gate that it is for, RUN/GATE"
        )
