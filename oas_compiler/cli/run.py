"""`oasflow run` and `oasflow resume`: a run driven on Postgres, with a person at the terminal."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oas_compiler.cli import context, inputs, modelled, opening, options
from oas_compiler.cli.about import tell_services
from oas_compiler.cli.acting import TypedCommand, flow_to_go_on
from oas_compiler.cli.exits import Exit, Halt
from oas_compiler.cli.packages import read_agents
from oas_compiler.cli.safe import clean
from oas_compiler.cli.simulating import admit_tools_of_simulation, mention_made_up_context
from oas_compiler.cli.terminal import Terminal

if TYPE_CHECKING:
    from oas_compiler.cli.context import Context
    from oas_compiler.cli.drive import Answers
    from oas_compiler.cli.modelled import Models
    from oas_compiler.cli.next_steps import GivenOptions
    from oas_compiler.lower.flow import Flow


def run(
    path: options.FlowPath,
    *,
    input_file: Annotated[
        str,
        typer.Option("--input", metavar="FILE", help="JSON object of inputs; - reads stdin."),
    ] = "",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="One input; may be repeated."),
    ] = None,
    simulate: Annotated[
        bool,
        typer.Option(
            "--simulate", help="Make up what platforms and models answer; only tools of --host run."
        ),
    ] = False,
    stubs: Annotated[
        str, typer.Option(metavar="FILE", help="Answers of the simulation, JSON or YAML.")
    ] = "",
    record: Annotated[
        str, typer.Option(metavar="FILE", help="Append each simulated call as a line of JSON.")
    ] = "",
    yes: Annotated[
        bool, typer.Option("--yes", help="With --simulate: approve every gate, made-up answers.")
    ] = False,
    detach: Annotated[
        bool, typer.Option("--detach", help="Stop at the first gate and say how to answer it.")
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="Print everything that happens, as oasflow follow.")
    ] = False,
    base_url: Annotated[
        str, typer.Option(metavar="URL", help="The platform; default CINATRA_BASE_URL.")
    ] = "",
    allow: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="Another origin that may be called; repeatable."),
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Bound of one call.")
    ] = None,
    context_file: Annotated[
        str,
        typer.Option(
            "--context", metavar="FILE", help="Artifacts for context slots, YAML or JSON."
        ),
    ] = "",
    model: options.Model = None,
    packages: options.Packages = None,
    env: options.Env = None,
    components: options.Components = None,
    unblock_component: options.Unblock = None,
    host: options.Host = "",
    run_id: Annotated[
        str, typer.Option(metavar="ID", help="Name of the run; default: made up.")
    ] = "",
    tenant: options.Tenant = "",
    by: options.As = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """Run a flow; asks at the terminal for what it needs.

    Without a terminal nothing is asked: the run waits at its gate, with exit code 3.
    Tokens come from the environment only: CINATRA_BRIDGE_TOKEN, CINATRA_CONTEXT_ATTEST_KEY,
    CINATRA_RUN_TOKEN.
    """
    del components, unblock_component  # their callbacks have told cli/sources.py
    if yes and not simulate:
        raise Halt("--yes approves without looking: it goes with --simulate only")
    given = options.given(env, base_url, allow, record, tenant=tenant, db=db, host=host)
    chosen = opening.PlatformOptions(
        simulate=simulate,
        stubs=stubs,
        record=record,
        base_url=base_url,
        allow=tuple(allow or ()),
        timeout=timeout,
        context=context_file,
        models=tuple(model or ()),
        lent=None if given.own.parts is None else given.own.parts.platform,
    )
    terminal = Terminal.open(as_json=as_json, by_lines=follow)
    who = opening.person(by)
    values = inputs.environment(env or [])
    filled = context.named(chosen)
    parts = given.own.parts
    if simulate and parts is not None:
        parts = parts.with_parts(models=None)  # a lent model would really be asked
    flow = opening.flow(path, env=values, parts=parts)
    if simulate:
        admit_tools_of_simulation(terminal, flow, host, yes=yes)
    if terminal.err.is_terminal:  # a person reads it; all rules take longer than a short run
        from oas_compiler.cli.check import tell_errors

        tell_errors(terminal, path, flow.file, values)
    flow = flow.with_platform(opening.platform(flow, chosen))
    beyond = flow.platform if chosen.base_url or chosen.allow else None
    models = modelled.named(
        chosen, given.own, beyond, read_agents(packages or (), given.own, path=path)
    )
    mention_made_up_context(terminal, flow, chosen)
    params = inputs.params(flow.input_schema, input_file, settings or [])
    if simulate:
        params = _with_sampled(terminal, flow, params)
    answers = _choose_answers(terminal, yes, detach)
    if answers == "ask":
        from oas_compiler.cli.input_form import with_asked

        params = with_asked(terminal, flow, params)
    return _start_run(
        terminal,
        flow,
        params,
        run_id,
        filled=filled,
        models=models,
        by=who,
        given=given,
        answers=answers,
        follow=follow,
    )


def resume(
    run: Annotated[
        str,
        typer.Argument(metavar="[RUN]", help="Id of a run; may be shortened while it is unique."),
    ] = "",
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Every run that can go on and that nobody works on.")
    ] = False,
    watch: Annotated[
        float | None,
        typer.Option("--watch", metavar="SECONDS", help="With --all: again and again, that often."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="With --all: how many runs in a pass.")] = 100,
    flow: Annotated[
        str, typer.Option(metavar="PATH", help="The flow file, to make sure that it is the same.")
    ] = "",
    detach: Annotated[bool, typer.Option("--detach", help="Do not ask at the gates.")] = False,
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
    """Go on with a run, or be asked at its gates.

    For a run whose process died or was interrupted, for a failed one (its failed node is tried
    again), and for one that waits.  With --all nobody is asked: runs go on to their next stop.
    """
    from oas_compiler.cli.drive import Drive

    del components, unblock_component  # their callbacks have told cli/sources.py
    given = options.given(env, base_url, allow, record, tenant=tenant, db=db, host=host)
    if everything:
        if run or flow:
            raise Halt("--all is every run: leave out RUN and --flow")
        from oas_compiler.cli.sweep import resume_all

        return resume_all(given, watch=watch, limit=limit, as_json=as_json)
    if watch is not None:
        raise Halt("--watch goes with --all")
    terminal = Terminal.open(as_json=as_json)
    who = opening.person(by)
    words = (*(("--flow", flow) if flow else ()), *(("--detach",) if detach else ()))
    with opening.store(terminal, db, given.own) as store:
        found = store.find(_require_run(run), tenant=tenant or None, to_act=True)
        call = TypedCommand("resume", found, words)
        made = flow_to_go_on(store, store.get(found), terminal, given, call)
        if flow and opening.digest(flow) != made.digest:
            made = opening.flow(flow, platform=made.platform, env=made.env, parts=given.own.parts)
        drive = Drive(
            store=store,
            flow=made,
            run_id=found,
            terminal=terminal,
            by=who,
            answers=_choose_answers(terminal, False, detach),
            given=given,
        )
        return drive.go(
            lambda on_event, credentials: store.resume(
                found,
                flow=made,
                tenant=tenant or None,
                context=credentials,
                on_event=on_event,
                by=who,
            )
        )


def _start_run(
    terminal: Terminal,
    flow: Flow,
    params: dict[str, Any],
    run_id: str,
    *,
    filled: Context | None,
    models: Models | None,
    by: str,
    given: GivenOptions,
    answers: Answers,
    follow: bool,
) -> Exit:
    from cinatra_sdk.errors import RunNotFound
    from cinatra_sdk.flow.names import INPUTS
    from oas_compiler.cli.drive import Drive
    from oas_compiler.cli.follow import EventPrinter

    if run_id:
        _refuse_unusable_id(run_id)
    name = run_id or uuid.uuid4().hex[:12]
    # Check the inputs before starting a database; a missing input is reported only once.
    params = flow.input(params)[INPUTS]
    with opening.store(terminal, given.db) as store:
        if run_id:
            try:
                store.get(run_id)
            except RunNotFound:
                pass
            else:
                raise Halt(
                    f"there is a run '{run_id}' already", exit=Exit.CONFLICT, code="run_exists"
                )
        children = None
        if models is not None:
            flow, children = models.on(store, flow, filled, tenant=given.tenant, by=by)
        if filled is not None:
            flow = filled.on(store, flow, terminal)
        if children is not None:
            children.work_on(flow.platform)
        terminal.say(f"run {clean(name)}  {clean(flow.name)}")
        tell_services(terminal, flow, given.own)
        drive = Drive(
            store=store,
            flow=flow,
            run_id=name,
            terminal=terminal,
            by=by,
            answers=answers,
            given=given,
            from_start=True,
            printer=EventPrinter(store, name, terminal) if follow else None,
        )
        return drive.go(
            lambda on_event, credentials: store.start(
                flow,
                params,
                name,
                tenant=given.tenant,
                by=by,
                context=credentials,
                on_event=on_event,
            )
        )


def _refuse_unusable_id(run_id: str) -> None:
    """Raises: `Halt` where the store would refuse the id, before anything is printed or started."""
    from cinatra_sdk.errors import InputInvalid
    from cinatra_sdk.store.rows import checked_run_id

    try:
        checked_run_id(run_id)
    except InputInvalid as refused:
        raise Halt(f"--run-id: {refused.for_people}", code=refused.code) from None


def _choose_answers(terminal: Terminal, yes: bool, detach: bool) -> Answers:
    if yes:
        return "make up"
    return "ask" if terminal.asks and not detach else "leave"


def _with_sampled(terminal: Terminal, flow: Flow, params: dict[str, Any]) -> dict[str, Any]:
    from cinatra_sdk.testing import sampled_inputs

    made_up = {k: v for k, v in sampled_inputs(flow).items() if k not in params}
    if made_up:
        terminal.note(f"made up for the simulation: {', '.join(made_up)}")
    return {**made_up, **params}


def _require_run(run: str) -> str:
    if not run:
        raise Halt("RUN is missing or empty: name a run, as oasflow runs lists it, or give --all")
    return run
