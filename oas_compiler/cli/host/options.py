"""The options that several commands share, each described once."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, TypedDict

import typer

from oas_compiler.cli.host import resources
from oas_compiler.cli.host.resources import Own, repeat_options
from oas_compiler.cli.terminal.argument_values import PLACEHOLDERS, duration
from oas_compiler.cli.terminal.exits import Halt
from oas_compiler.cli.terminal.location import DATABASE, hides_database, list_location_options
from oas_compiler.cli.terminal.streams import Terminal, clean

if TYPE_CHECKING:
    from cinatra_sdk.host_parts.host_parts import HostParts
    from cinatra_sdk.store.pages import Page


# ----------------------------------------------------------------------------
# `--host MODULE:FACTORY`: the parts that the operator's Python lends to the runs of this command.
#
# In: the option, else `OASFLOW_HOST`.  Out: the `HostParts` that the factory returns, or None.
#
#     find_parts("shop_parts:make_parts")     imports shop_parts, also from the current folder
#
# `OASFLOW_HOST` does not look in the current folder: it holds in every folder, also in the folder of
# a package that somebody else wrote, which must not choose what is imported.


ANY_HOST: Final = "MODULE:FACTORY"
"""Stands in printed commands for the function, which nobody here knows."""


def find_parts(option: str) -> HostParts | None:
    """Raises: `HostRefused` for every mistake in the name, the module and the factory."""
    from cinatra_sdk.errors import HostRefused
    from cinatra_sdk.host_parts.factory import HOST_VARIABLE, load_host

    named = option or os.environ.get(HOST_VARIABLE, "")
    if not named:
        return None
    if named == ANY_HOST:
        raise HostRefused(
            f"--host {ANY_HOST} stands for a function of yours that returns HostParts",
            hint="put its name there, such as --host parts:lend",
        )
    with contextlib.redirect_stdout(sys.stderr):
        return load_host(named, here=bool(option))


@contextlib.contextmanager
def keeping_stdout(terminal: Terminal) -> Iterator[None]:
    """Within, what tools print goes to stderr where stdout holds one JSON document."""
    if not terminal.as_json:
        yield
        return
    with contextlib.redirect_stdout(sys.stderr):
        yield


# ----------------------------------------------------------------------------
# Complete commands that continue a run, with every option that this command needed.
#
# In: the options of this command.  Out: one line for a shell.
#
#     `given = GivenOptions(tenant="acme", own=Own(env=("CRM_KEY=sk-1",)))`
#     given.command("approve", "n1")    ->  oasflow approve n1 --tenant acme --env CRM_KEY
#     given.to_export()                 ->  ["CRM_KEY"], where the environment has another value
#
# A value may be a secret and is never repeated: the line names a variable, and `to_export` names the
# variables to export before the line works.


_LOOKS: Final = frozenset({"show", "follow", "gates", "runs", "records"})
"""Commands that only look: they lend a run nothing, and have no option for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenOptions:
    """The options of a command that a later command on the same run needs again."""

    tenant: str = ""
    db: str = ""
    own: Own = field(default_factory=Own)

    def command(self, name: str, target: str, *more: str) -> str:
        """`oasflow NAME TARGET …` for a shell; `more` are the command's own options."""
        return self.command_on(name, [target], *more)

    def command_on(self, name: str, targets: Sequence[str], *more: str) -> str:
        """The same on several targets, or on none."""
        # A run's id may look like an option.
        end = ["--", *targets] if any(one.startswith("-") for one in targets) else []
        if name in _LOOKS:
            options = self._list_location_options()
        elif name in {"reject", "stop"}:
            options = self._list_signing_options()
        else:
            options = self._list_options()
        words = ["oasflow", name, *([] if end else targets), *more, *options, *end]
        return " ".join(shlex.quote(clean(word)) for word in words)

    def to_export(self) -> tuple[str, ...]:
        """Variables to be set first, so that a command with these options does the same."""
        return self.own.differing + ((DATABASE,) if hides_database(self.db) else ())

    def _list_signing_options(self) -> list[str]:
        """What ends a run without its flow, and signs the record of that."""
        host = ["--host", self.own.host] if self.own.host else []
        return [*self._list_location_options(), *host]

    def _list_location_options(self) -> list[str]:
        """The run's tenant and database: enough for stopping or showing the run."""
        return list_location_options(self.tenant, self.db)

    def _list_options(self) -> list[str]:
        words = self._list_location_options()
        if self.own.base_url:
            words += ["--base-url", self.own.base_url]
        for address in self.own.allow or ():
            words += ["--allow", address]
        for name in self.own.names:
            words += ["--env", name]
        if self.own.record:
            words += ["--record", self.own.record]
        if self.own.host:
            words += ["--host", self.own.host]
        return words + repeat_options()


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
        callback=resources.take_components,
    ),
]
Unblock: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--unblock-component",
        metavar="TYPE",
        help="Let a component type through that is blocked: StdioTransport; repeatable.",
        callback=resources.take_unblocked,
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
    str | None,
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


def drop_placeholder(terminal: Terminal, reason: str) -> str:
    """The reason of a decision; empty for the … of a printed command, which is nobody's word."""
    if reason.strip() not in PLACEHOLDERS:
        return reason
    terminal.note(f"--reason {reason.strip()} is the place for your words: no reason is kept")
    return ""


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
