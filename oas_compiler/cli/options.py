"""The options that several commands share, each described once."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypedDict

import typer

from oas_compiler.cli import sources
from oas_compiler.cli.exits import Halt
from oas_compiler.cli.hosting import find_parts
from oas_compiler.cli.inputs import duration
from oas_compiler.cli.next_steps import GivenOptions
from oas_compiler.cli.opening import Own
from oas_compiler.cli.safe import clean
from oas_compiler.cli.terminal import Terminal

if TYPE_CHECKING:
    from cinatra_sdk.store.paging import Page

Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON document on stdout, nothing else.")
]
Db: TypeAlias = Annotated[
    str,
    typer.Option(
        "--db",
        metavar="DSN",
        help="PostgreSQL to use; default DATABASE_URL, else the local server.",
    ),
]
Env: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--env",
        metavar="KEY[=VALUE]",
        help="A value for {{KEY}} in the file; without =VALUE the environment's; repeatable.",
    ),
]
Components: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--components",
        metavar="FILE",
        help="Components that the file refers to and does not define; repeatable.",
        callback=sources.take_components,
    ),
]
Unblock: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--unblock-component",
        metavar="TYPE",
        help="Let a component type through that is blocked: StdioTransport; repeatable.",
        callback=sources.take_unblocked,
    ),
]
Tenant: TypeAlias = Annotated[
    str,
    typer.Option(
        "--tenant",
        metavar="NAME",
        envvar="OASFLOW_TENANT",
        show_envvar=False,
        help="Only runs of this tenant; default OASFLOW_TENANT.",
    ),
]
BaseUrl: TypeAlias = Annotated[
    str,
    typer.Option(
        "--base-url", metavar="URL", help="The platform that is yours; default CINATRA_BASE_URL."
    ),
]
Allow: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--allow", metavar="ORIGIN", help="An origin that the run may call; default OASFLOW_ALLOW."
    ),
]
Record: TypeAlias = Annotated[
    str,
    typer.Option(
        "--record", metavar="FILE", help="Append each call simulated here as a line of JSON."
    ),
]
Model: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="Answer the flow's model calls here: provider:model or scripted:FILE; repeatable.",
    ),
]
Packages: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--packages",
        metavar="DIR",
        help="Agents that flows may call by the name of their package, in and below; repeatable.",
    ),
]
Host: TypeAlias = Annotated[
    str,
    typer.Option(
        "--host",
        metavar="MODULE:FACTORY",
        help="Python function that returns HostParts: tools, platform; default OASFLOW_HOST.",
    ),
]
As: TypeAlias = Annotated[
    str, typer.Option("--as", metavar="NAME", help="Who decides; default: your user name.")
]
FlowPath: TypeAlias = Annotated[
    str, typer.Argument(metavar="PATH", help="A flow file, or the folder of an agent.")
]
RunId: TypeAlias = Annotated[
    str, typer.Argument(metavar="RUN", help="Id of a run; may be shortened while it is unique.")
]
Target: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="RUN[/GATE]",
        help="A run, and its gate; GATE may be left out where the run has only ever asked once.",
    ),
]
Targets: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN[/GATE]...",
        help="Runs, and their gates; several are shown first, then decided.",
    ),
]
Shown: TypeAlias = Annotated[
    str,
    typer.Option(
        "--shown", metavar="HASH", help="What you saw, as printed with the gate; else refused."
    ),
]
ShownOfEach: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--shown",
        metavar="HASH",
        help="What you saw, as printed with the gate; else refused.  One for each target.",
    ),
]


FlowName: TypeAlias = Annotated[
    str, typer.Option("--flow", metavar="NAME", help="Only runs of the flow with this name.")
]
StartedBy: TypeAlias = Annotated[
    str, typer.Option("--started-by", metavar="NAME", help="Only runs that this person started.")
]
OlderThan: TypeAlias = Annotated[
    str,
    typer.Option(
        "--older-than",
        metavar="AGE",
        help="Only what is unchanged, or waits, for that long: 30min, 2h, 3d.",
    ),
]
NewerThan: TypeAlias = Annotated[
    str,
    typer.Option(
        "--newer-than", metavar="AGE", help="Only what changed, or waits, within that time."
    ),
]


After: TypeAlias = Annotated[
    str, typer.Option("--after", metavar="CURSOR", help="The page after the one that ended so.")
]


def refuse_empty_run(run: str, name: str = "RUN") -> None:
    """Raises: `Halt` for an empty id, as of a variable of the shell that is not set."""
    if not run:
        raise Halt(f"{name} is empty: give the id of a run, as oasflow runs lists it")


def tell_more(terminal: Terminal, cursor: str) -> None:
    """Say that a list goes on after a page, and how; cursor: empty for the last page."""
    if cursor:
        terminal.say(f"there are more; --limit shows more at once, --after {cursor} the next")


def list_unreadable(page: Page[Any]) -> dict[str, list[dict[str, str]]]:
    """The member of a list's JSON that names the rows which cannot be read."""
    return {"unreadable": [one.to_json() for one in page.unreadable]}


def tell_unreadable(terminal: Terminal, page: Page[Any]) -> None:
    """A line for each row of a page that cannot be read."""
    for one in page.unreadable:
        terminal.note(clean(f"run {one.run_id}: cannot be read: {one.problem}"))


class Filters(TypedDict, total=False):
    """Conditions for runs that are listed, as `RunStore.list` takes them."""

    flow: str
    started_by: str
    older_than: timedelta
    newer_than: timedelta


def given(
    env: list[str] | None,
    base_url: str,
    allow: list[str] | None,
    record: str,
    *,
    tenant: str,
    db: str,
    host: str,
    imports: bool = True,
) -> GivenOptions:
    """The resources that the options lend to a run, and the run's database.

    imports: False where nothing is lent: the module of `--host` is then not imported.

    Raises: `HostRefused`.
    """
    own = Own(
        host=host,
        parts=find_parts(host) if imports else None,
        env=tuple(env or ()),
        base_url=base_url,
        allow=None if allow is None else tuple(allow),
        record=record,
    )
    return GivenOptions(tenant=tenant, db=db, own=own)


def filters(flow: str, started_by: str, older_than: str, newer_than: str) -> Filters:
    """Conditions for `RunStore.list`, of the options that were given."""
    found: Filters = {}
    if flow:
        found["flow"] = flow
    if started_by:
        found["started_by"] = started_by
    if older_than:
        found["older_than"] = duration(older_than, "--older-than")
    if newer_than:
        found["newer_than"] = duration(newer_than, "--newer-than")
    return found
