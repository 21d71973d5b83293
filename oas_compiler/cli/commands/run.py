"""`oasflow run` and `oasflow resume`: a run driven on Postgres, with a person at the terminal."""

from __future__ import annotations

import signal
import uuid
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.cli.host import local_services, options, resources
from oas_compiler.cli.host.local_services import (
    admit_tools_of_simulation,
    mention_made_up_context,
    read_agents,
)
from oas_compiler.cli.host.options import DriveOptions, GivenOptions
from oas_compiler.cli.host.run_requirements import TypedCommand, flow_to_go_on
from oas_compiler.cli.host.run_resources import tell_services
from oas_compiler.cli.terminal import argument_values
from oas_compiler.cli.terminal.exits import Exit, Halt
from oas_compiler.cli.terminal.keyboard import stopping_at_signals
from oas_compiler.cli.terminal.printable_text import clean
from oas_compiler.cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from cinatra_sdk import RunStore
    from cinatra_sdk.host_parts.host_parts import HostParts
    from cinatra_sdk.langgraph_threads.host_context import HostContext
    from cinatra_sdk.runs import Run
    from cinatra_sdk.store.work.sweep import SweepOptions, SweptRun
    from oas_compiler.cli.ask.run_dialogue import Answers
    from oas_compiler.cli.host.local_services import Context, Models
    from oas_compiler.lower.flow import Flow


@dataclass(frozen=True, kw_only=True)
class RunOptions(options.Lending):
    """The options of `oasflow run`."""

    input_file: Annotated[
        str,
        typer.Option("--input", metavar="FILE", help="JSON object of inputs; - reads stdin."),
    ] = ""
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="One input; may be repeated."),
    ] = None
    simulate: Annotated[
        bool,
        typer.Option(
            "--simulate", help="Make up what platforms and models answer; only tools of --host run."
        ),
    ] = False
    stubs: Annotated[
        str, typer.Option(metavar="FILE", help="Answers of the simulation, JSON or YAML.")
    ] = ""
    record: Annotated[
        str, typer.Option(metavar="FILE", help="Append each simulated call as a line of JSON.")
    ] = ""
    yes: Annotated[
        bool, typer.Option("--yes", help="With --simulate: approve every gate, made-up answers.")
    ] = False
    detach: Annotated[
        bool, typer.Option("--detach", help="Stop at the first gate and say how to answer it.")
    ] = False
    follow: Annotated[
        bool, typer.Option("--follow", help="Print everything that happens, as oasflow follow.")
    ] = False
    base_url: Annotated[
        str, typer.Option(metavar="URL", help="The platform; default CINATRA_BASE_URL.")
    ] = ""
    allow: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="Another origin that may be called; repeatable."),
    ] = None
    timeout: Annotated[float | None, typer.Option(metavar="SECONDS", help="Bound of one call.")] = (
        None
    )
    context_file: Annotated[
        str,
        typer.Option(
            "--context", metavar="FILE", help="Artifacts for context slots, YAML or JSON."
        ),
    ] = ""
    model: options.Model = None
    packages: options.Packages = None
    env: options.Env = None
    components: options.Components = None
    unblock_component: options.Unblock = None
    host: options.Host = ""
    run_id: Annotated[
        str, typer.Option(metavar="ID", help="Name of the run; default: made up.")
    ] = ""
    tenant: options.Tenant = ""
    by: options.As = ""
    db: options.Db = ""
    as_json: options.Json = False

    def refuse_contradiction(self) -> None:
        """Raises: `Halt`."""
        if self.yes and not self.simulate:
            raise Halt("--yes approves without looking: it goes with --simulate only")
        if self.yes and self.detach:
            raise Halt(
                "--yes approves every gate, and --detach stops at the first: leave one of them out"
            )

    def choose_platform(self, parts: HostParts | None) -> resources.PlatformOptions:
        """parts: what `--host` lends."""
        return resources.PlatformOptions(
            simulate=self.simulate,
            stubs=self.stubs,
            record=self.record,
            base_url=self.base_url,
            allow=tuple(self.allow or ()),
            timeout=self.timeout,
            context=self.context_file,
            models=tuple(self.model or ()),
            lent=None if parts is None else parts.platform,
        )


def run(path: options.FlowPath, *, typed: RunOptions) -> Exit:
    """Run a flow; asks at the terminal for what it needs.

    Without a terminal nothing is asked: the run waits at its gate, with exit code 3.
    Tokens come from the environment only: CINATRA_BRIDGE_TOKEN, CINATRA_CONTEXT_ATTEST_KEY,
    CINATRA_RUN_TOKEN.
    """
    typed.refuse_contradiction()
    given = typed.lend()
    parts = given.own.parts
    chosen = typed.choose_platform(parts)
    terminal = typed.open_terminal(by_lines=typed.follow)
    who = resources.person(typed.by)
    values = argument_values.environment(typed.env or [])
    filled = local_services.find_context(chosen)
    if typed.simulate and parts is not None:
        parts = parts.with_parts(models=None)  # a lent model would really be asked
    flow = resources.flow(path, env=values, parts=parts)
    if typed.simulate:
        admit_tools_of_simulation(terminal, flow, typed.host, yes=typed.yes)
    if terminal.err.is_terminal:  # a person reads it; all rules take longer than a short run
        from oas_compiler.cli.commands.check import tell_errors
        from oas_compiler.pipeline import check

        found = check(path, env=values, loading=resources.loading())
        tell_errors(terminal, path, flow.file, found)
    flow = flow.with_platform(resources.platform(flow, chosen))
    beyond = flow.platform if chosen.base_url or chosen.allow else None
    models = local_services.find_models(
        chosen, given.own, beyond, read_agents(typed.packages or (), given.own, path=path)
    )
    mention_made_up_context(terminal, flow, chosen)
    params = argument_values.params(flow.input_schema, typed.input_file, typed.settings or [])
    if typed.simulate:
        params = _with_sampled(terminal, flow, params)
    answers: Answers = "make up" if typed.yes else _choose_answers(terminal, typed.detach)
    if answers == "ask":
        from oas_compiler.cli.ask.input_form import with_asked

        params = with_asked(terminal, flow, params)
    start = _Start(
        terminal=terminal, typed=typed, given=given, by=who, answers=answers, filled=filled,
        models=models,
    )  # fmt: skip
    return start.go(flow, params)


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
        typer.Option(
            "--watch",
            metavar="SECONDS",
            help="With --all: go on for ever, looking at least that often.",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, help="With --all, without --watch: how many runs at most.")
    ] = 100,
    flow: Annotated[
        str, typer.Option(metavar="PATH", help="The flow file, to make sure that it is the same.")
    ] = "",
    detach: Annotated[bool, typer.Option("--detach", help="Do not ask at the gates.")] = False,
    lent: DriveOptions,
) -> Exit:
    """Go on with a run, or be asked at its gates.

    For a run whose process died or was interrupted, for a paused one, for a failed one (its failed node
    is tried again), and for one that waits.  With --all nobody is asked: runs go on to their next stop.
    At the first Ctrl-C, or SIGTERM, runs stop before their next step; the second ends at once.
    """
    from oas_compiler.cli.ask.run_dialogue import Drive

    given = lent.lend()
    if everything:
        if run or flow:
            raise Halt("--all is every run: leave out RUN and --flow")
        if lent.by:
            raise Halt("--all asks nobody: leave out --as")
        return resume_all(given, watch=watch, limit=limit, as_json=lent.as_json)
    if watch is not None:
        raise Halt("--watch goes with --all")
    terminal = lent.open_terminal()
    who = resources.person(lent.by)
    words = (*(("--flow", flow) if flow else ()), *(("--detach",) if detach else ()))
    with resources.store(terminal, lent.db, given.own) as opened:
        store = resources.act_as(opened, who, lent.tenant, given.own.parts)
        found = store.find(_require_run(run), tenant=lent.owner, to_act=True)
        call = TypedCommand("resume", found, words)
        made = flow_to_go_on(store, store.get(found), terminal, given, call)
        if flow and resources.digest(flow) != made.digest:
            made = resources.flow(flow, platform=made.platform, env=made.env, parts=given.own.parts)
        drive = Drive(
            store=store,
            flow=made,
            run_id=found,
            terminal=terminal,
            by=who,
            answers=_choose_answers(terminal, detach),
            given=given,
        )
        return drive.go(
            lambda on_event, credentials: store.resume(
                found,
                flow=made,
                tenant=lent.owner,
                context=credentials,
                on_event=on_event,
                by=who,
            )
        )


@dataclass(frozen=True, kw_only=True)
class _Start:
    """A run that begins, with everything that its command has prepared."""

    terminal: Terminal
    typed: RunOptions
    given: GivenOptions
    by: str
    answers: Answers
    filled: Context | None
    models: Models | None

    def go(self, flow: Flow, params: dict[str, Any]) -> Exit:
        from cinatra_sdk.flow.plan.channel_names import INPUTS
        from oas_compiler.cli.ask.run_dialogue import Drive
        from oas_compiler.cli.commands.runs import EventPrinter

        given, by, run_id = self.given, self.by, self.typed.run_id
        if run_id:
            _refuse_unusable_id(run_id)
        name = run_id or uuid.uuid4().hex[:12]
        # Check the inputs before starting a database; a missing input is reported only once.
        params = flow.input(params)[INPUTS]
        with resources.store(self.terminal, given.db) as store:
            if run_id:
                _refuse_known_id(store, run_id)
            flow = self._place(store, flow)
            self.terminal.say(f"run {clean(name)}  {clean(flow.name)}")
            tell_services(self.terminal, flow, given.own)
            acting = resources.act_as(store, by, given.tenant, given.own.parts)
            drive = Drive(
                # The simulation answers in no person's name.
                store=store if self.answers == "make up" else acting,
                flow=flow,
                run_id=name,
                terminal=self.terminal,
                by=by,
                answers=self.answers,
                given=given,
                from_start=True,
                printer=EventPrinter(store, name, self.terminal) if self.typed.follow else None,
            )
            return drive.go(
                lambda on_event, credentials: acting.start(
                    flow,
                    params,
                    name,
                    tenant=given.tenant,
                    by=by,
                    context=credentials,
                    on_event=on_event,
                )
            )

    def _place(self, store: RunStore, flow: Flow) -> Flow:
        """`flow` on the platform that this process makes of `--model` and `--context`."""
        children = None
        if self.models is not None:
            flow, children = self.models.on(
                store, flow, self.filled, tenant=self.given.tenant, by=self.by
            )
        if self.filled is not None:
            flow = self.filled.on(store, flow, self.terminal)
        if children is not None:
            children.work_on(flow.platform)
        return flow


def _refuse_known_id(store: RunStore, run_id: str) -> None:
    """Raises: `Halt`."""
    from cinatra_sdk.errors import RunNotFound

    try:
        store.get(run_id)
    except RunNotFound:
        return
    raise Halt(f"there is a run '{run_id}' already", exit=Exit.CONFLICT, code="run_exists")


def _refuse_unusable_id(run_id: str) -> None:
    """Raises: `Halt` where the store would refuse the id, before anything is printed or started."""
    from cinatra_sdk.errors import InputInvalid
    from cinatra_sdk.store.runs.run_rows import checked_run_id

    try:
        checked_run_id(run_id)
    except InputInvalid as refused:
        raise Halt(f"--run-id: {refused.for_people}", code=refused.code) from None


def _choose_answers(terminal: Terminal, detach: bool) -> Answers:
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


# ----------------------------------------------------------------------------
# `oasflow resume --all`: goes on with the runs that nobody works on.


def resume_all(given: GivenOptions, *, watch: float | None, limit: int, as_json: bool) -> Exit:
    """Until nothing is due; with `watch`, until a signal ends the process, looking at least that often.

    At a signal the runs stop before their next steps and stay due: SIGTERM is an end as any other.
    """
    _refuse_watch(watch, as_json=as_json)
    terminal = Terminal.open(as_json=as_json)
    swept: list[SweptRun] = []
    with (
        resources.store(terminal, given.db, given.own) as store,
        stopping_at_signals(lambda: store.drain(wait=0), _CUT_OFF) as interrupts,
    ):
        if watch is not None:
            tell = partial(_tell, terminal)
            _sweep(store, given, {"watch": watch, "on_swept": tell, "stop": interrupts.news})
        else:
            swept = _sweep(store, given, {"limit": limit, "stop": interrupts.news})
    for one in swept:
        _tell(terminal, one)
    if interrupts.number == signal.SIGINT:
        raise KeyboardInterrupt
    if watch is not None:
        return Exit.OK
    if not swept and not interrupts.number:
        terminal.say("no run can go on that nobody works on")
    terminal.data({"runs": [_record(one) for one in swept]}, of_run=True)
    return Exit.FAILED if any(one.problem for one in swept) else Exit.OK


def _refuse_watch(watch: float | None, *, as_json: bool) -> None:
    """Raises: `Halt`."""
    if watch is not None and as_json:
        raise Halt("--watch never ends, and --json prints one document: leave one of them out")
    if watch is not None and watch <= 0:
        raise Halt("--watch is a number of seconds above 0")


_CUT_OFF: Final = "\nended; whoever goes on with the runs makes the calls again that were cut off\n"


def _sweep(store: RunStore, given: GivenOptions, told: SweepOptions) -> list[SweptRun]:
    def lend(run: Run) -> HostContext | None:
        # The token of the environment belongs to the tenant that the command names.
        return resources.host(given.tenant, lends=run.tenant == given.tenant)

    about: SweepOptions = {**told, "tenant": given.tenant or None, "credentials_for": lend}
    return store.sweep(**about)


def _tell(terminal: Terminal, one: SweptRun) -> None:
    if one.problem:
        terminal.note(f"run {clean(one.run_id)} ({one.reason}) is left: {clean(one.problem)}")
    elif one.status:
        terminal.show(f"run {clean(one.run_id)} ({one.reason}): {one.status}")


def _record(one: SweptRun) -> dict[str, Any]:
    return {
        "id": one.run_id,
        "tenant": one.tenant,
        "reason": one.reason,
        "status": one.status or None,
        "problem": one.problem or None,
    }
