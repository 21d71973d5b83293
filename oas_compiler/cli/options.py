"""The options that several commands share, each described once."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

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
        "--env", metavar="KEY=VALUE", help="A value for {{KEY}} in the file; may be repeated."
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
