"""`oasflow settle`: a person's word on a call of which nobody knows whether it happened."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from oas_compiler.cli import inputs, opening, options
from oas_compiler.cli.exits import Exit, Halt
from oas_compiler.cli.run import resume
from oas_compiler.cli.terminal import Terminal


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
    """Say whether a call happened that may be made once only, and go on with its run.

    After --happened the run goes on with the value; after --did-not-happen it makes the call.
    `oasflow show` lists such calls with their keys.
    """
    options.refuse_empty_run(run)
    if happened is None:
        raise Halt("say whether the call was made: --happened or --did-not-happen")
    if value is not None and not happened:
        raise Halt("--value goes with --happened: a call that was not made gave nothing")
    outputs: Any = None if value is None else inputs.json_value(value, "--value")
    del components, unblock_component  # their callbacks have told cli/sources.py
    given = options.given(env, base_url, allow, record, tenant=tenant, db=db, host=host)
    terminal = Terminal.open(as_json=as_json)
    with opening.store(terminal, db, given.own) as store:
        found = store.find(run, tenant=tenant or None, to_act=True)
        settled = store.settle(
            found,
            key or _find_only_key([call.key for call in store.unknown(found)], found),
            happened=happened,
            value=outputs,
            by=opening.person(by),
            reason=reason,
            tenant=tenant or None,
        )
        left = len(store.unknown(found))
    if left or settled.status != "running":
        terminal.say(f"settled; calls that still have to be settled: {left}")
        return Exit.WAITING
    return resume(
        found, by=by, env=env, base_url=base_url, allow=allow, record=record, host=host,
        tenant=tenant, db=db, as_json=as_json,
    )  # fmt: skip


def _find_only_key(keys: list[str], run_id: str) -> str:
    if len(keys) == 1:
        return keys[0]
    if not keys:
        raise Halt(
            f"no call of run '{run_id}' has to be settled",
            exit=Exit.CONFLICT,
            code="effect_settled",
        )
    raise Halt(
        f"{len(keys)} calls of run '{run_id}' have to be settled; name one: {', '.join(keys)}"
    )
