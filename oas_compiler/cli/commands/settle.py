"""`oasflow settle`: a person's word on a call of which nobody knows whether it happened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cinatra_sdk.errors import NotAllowed, NotConfigured
from oas_compiler.cli.commands.run import resume
from oas_compiler.cli.host import options, resources
from oas_compiler.cli.host.options import DriveOptions, GivenOptions
from oas_compiler.cli.host.run_requirements import options_of_run
from oas_compiler.cli.terminal import argument_values
from oas_compiler.cli.terminal.exits import Exit, Halt
from oas_compiler.cli.terminal.printable_text import clean

if TYPE_CHECKING:
    from rich.console import RenderableType

    from cinatra_sdk import RunStore
    from cinatra_sdk.runs import Run
    from cinatra_sdk.store.runs.settlement import Settlement
    from oas_compiler.cli.terminal.streams import Terminal


def settle(
    run: options.RunId,
    key: Annotated[
        str,
        typer.Argument(
            metavar="[KEY]", help="The call's key; not needed where it is the only one."
        ),
    ] = "",
    *,
    happened: Annotated[
        bool | None,
        typer.Option("--happened/--did-not-happen", help="Whether the call was made."),
    ] = None,
    value: Annotated[
        str | None,
        typer.Option(metavar="JSON", help="With --happened: the outputs of its node, an object."),
    ] = None,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="How you know; kept for good.")
    ] = "",
    lent: DriveOptions,
) -> Exit:
    """Say whether a call happened that may be made once only, and go on with its run.

    After --happened the run goes on with the value; after --did-not-happen it makes the call.
    `oasflow show` lists such calls with their keys.
    """
    from cinatra_sdk.api.run_json import make_run

    options.refuse_empty_run(run)
    if value is not None and not happened:
        raise Halt("--value goes with --happened: a call that was not made gave nothing")
    argument_values.refuse_placeholder(value, "--value")
    outputs: Any = None if value is None else argument_values.json_value(value, "--value")
    argument_values.refuse_placeholder(outputs, "--value")
    given = lent.lend()
    terminal = lent.open_terminal()
    reason = options.drop_placeholder(terminal, reason)
    who = resources.person(lent.by)
    with resources.store(terminal, lent.db, given.own) as opened:
        store = resources.act_as(opened, who, lent.tenant, given.own.parts)
        found = store.find(run, tenant=lent.owner, to_act=True)
        if happened is None:
            raise _build_unsaid(store, store.get(found), key, given)
        settled = store.settle(
            found,
            key or _find_only_key(store, store.get(found), given),
            happened=happened,
            value=outputs,
            by=who,
            reason=reason,
            tenant=lent.owner,
        )
        left = len(store.unknown(found))
    if left or settled.status != "running":
        terminal.say(f"settled; calls that still have to be settled: {left}")
        terminal.data(make_run(settled), of_run=True)
        return Exit.WAITING
    return _go_on(terminal, settled, lent)


def _go_on(terminal: Terminal, settled: Run, lent: DriveOptions) -> Exit:
    """Drive the run on; where this command cannot, the word that was given counts all the same."""
    from cinatra_sdk.api.run_json import make_run

    try:
        return resume(settled.id, lent=lent)
    except Halt as refused:
        if refused.code != "not_configured":
            raise
        terminal.say("settled; to go on with the run, this command lacks:", *refused.then)
    except (NotAllowed, NotConfigured) as refused:
        terminal.say(f"settled; the run is not gone on with here: {clean(str(refused))}")
    terminal.data(make_run(settled), of_run=True)
    return Exit.WAITING


def _build_unsaid(store: RunStore, run: Run, key: str, given: GivenOptions) -> Halt:
    """Nobody said whether the call was made: the commands that say it."""
    keys = [call.key for call in store.unknown(run.id)]
    known = [key] if key in keys else keys
    if not known:
        return _build_settled(run)
    return Halt(
        "say whether the call was made: --happened or --did-not-happen",
        then=_list_settling(store, run, known, given),
    )


def _find_only_key(store: RunStore, run: Run, given: GivenOptions) -> str:
    """The call that is meant without a key: one that was settled before may be the one that the person
    looked up, and then nobody guesses.

    Raises: `Halt`, which shows the commands with their keys.
    """
    keys = [call.key for call in store.unknown(run.id)]
    if not keys:
        raise _build_settled(run)
    if len(keys) > 1:
        raise Halt(
            f"{len(keys)} calls of run '{run.id}' have to be settled; name one: {', '.join(keys)}",
            then=_list_settling(store, run, keys, given),
        )
    before = store.settlements(run.id)
    if before:
        raise Halt(
            f"{_describe_settled(run, keys[0], before)}; what has to be settled now:",
            exit=Exit.CONFLICT,
            code="call_unnamed",
            then=_list_settling(store, run, keys, given),
        )
    return keys[0]


def _describe_settled(run: Run, key: str, before: Sequence[Settlement]) -> str:
    """Why a call is not guessed; before: what people said of calls of the run, the last word last."""
    same = next((one for one in reversed(before) if one.key == key), None)
    if same is None:
        return (
            f"run '{run.id}' has had more than one call to settle, and the command does not say "
            f"which it is for; '{before[-1].key}' was settled by {before[-1].by}"
        )
    said = "happened" if same.happened else "did not happen"
    return (
        f"call '{key}' of run '{run.id}' was settled before ({same.by}: it {said}), it was made once "
        "more, and again nobody knows whether it happened; the command does not say which of the "
        "two it is about"
    )


def _list_settling(
    store: RunStore, run: Run, keys: list[str], given: GivenOptions
) -> list[RenderableType]:
    from oas_compiler.cli.view.run_view import command_line, settle_commands

    whole = options_of_run(store, run, given)
    return [command_line(line) for key in keys for line in settle_commands(run.id, key, whole)]


def _build_settled(run: Run) -> Halt:
    return Halt(
        f"no call of run '{run.id}' has to be settled", exit=Exit.CONFLICT, code="effect_settled"
    )
