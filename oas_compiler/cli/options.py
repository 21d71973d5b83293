"""The options that several commands share, each described once."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from oas_compiler.cli.opening import Own

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
        help="A run, and its gate; GATE may be left out when one gate waits.",
    ),
]


def lent(env: list[str] | None, base_url: str, allow: list[str] | None, record: str) -> Own:
    """What the options lend to a run that somebody else may have started."""
    return Own(
        env=tuple(env or ()),
        base_url=base_url,
        allow=None if allow is None else tuple(allow),
        record=record,
    )
