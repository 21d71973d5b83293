"""The options that several commands share, each described once."""

from __future__ import annotations

import functools
import inspect
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, fields, is_dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, TypedDict, get_type_hints

import typer

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.cli.host import resources
from oas_compiler.cli.host.resources import Own, find_parts, repeat_options
from oas_compiler.cli.terminal.argument_values import PLACEHOLDERS, duration, environment
from oas_compiler.cli.terminal.exits import Exit, Halt
from oas_compiler.cli.terminal.location import DATABASE, hides_database, list_location_options
from oas_compiler.cli.terminal.printable_text import clean
from oas_compiler.cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from cinatra_sdk.store.pages import Page


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
Reason: TypeAlias = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="Why; kept for good.")
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


# ----------------------------------------------------------------------------
# Records of options that commands have in common.
#
# A command takes a record as one parameter; `with_options` describes its fields to typer as options:
#
#     def show(run: options.RunId, *, where: StoreOptions)     oasflow show RUN --tenant … --db … --json


class Printing:
    """What a command with `--json` can do."""

    as_json: bool

    def open_terminal(self, *, by_lines: bool = False) -> Terminal:
        return Terminal.open(as_json=self.as_json, by_lines=by_lines)


class _Placed(Printing):
    """What a command on runs of a database can do."""

    tenant: str
    db: str

    @property
    def owner(self) -> str | None:
        """The tenant whose runs are meant; None: those of every tenant."""
        return self.tenant or None

    @property
    def given(self) -> GivenOptions:
        """What a later command needs to find the same runs."""
        return GivenOptions(tenant=self.tenant, db=self.db)


class Lending(_Placed):
    """What a command that drives a run can do."""

    env: list[str] | None
    base_url: str
    allow: list[str] | None
    record: str
    host: str

    def lend(self, *, imports: bool = True) -> GivenOptions:
        """The resources that the options lend to a run, and the run's database.

        imports: False where nothing is lent: the module of `--host` is then not imported.

        Raises: `HostRefused`.
        """
        own = Own(
            host=self.host,
            parts=find_parts(self.host) if imports else None,
            env=tuple(self.env or ()),
            base_url=self.base_url,
            allow=None if self.allow is None else tuple(self.allow),
            record=self.record,
        )
        return GivenOptions(tenant=self.tenant, db=self.db, own=own)


@dataclass(frozen=True, kw_only=True)
class FileOptions(Printing):
    """With what a flow file is read."""

    env: Env = None
    components: Components = None
    """This and the next reach `host/resources.py` by their callbacks."""
    unblock_component: Unblock = None
    as_json: Json = False

    def read_env(self) -> dict[str, str]:
        """The values of `--env`.  Raises: `Halt`."""
        return environment(self.env or [])


@dataclass(frozen=True, kw_only=True)
class StoreOptions(_Placed):
    """Where the runs are."""

    tenant: Tenant = ""
    db: Db = ""
    as_json: Json = False


@dataclass(frozen=True, kw_only=True)
class DriveOptions(Lending):
    """Who goes on with a run that is stored, where it is, and what this process lends to it."""

    by: As = ""
    env: Env = None
    components: Components = None
    unblock_component: Unblock = None
    base_url: BaseUrl = ""
    allow: Allow = None
    record: Record = ""
    host: Host = ""
    tenant: Tenant = ""
    db: Db = ""
    as_json: Json = False


def with_options(command: Callable[..., Exit]) -> Callable[..., Exit]:
    """`command` with the fields of its records as parameters, in the place of each record."""
    records: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        if is_dataclass(parameter.annotation):
            records[parameter.name] = parameter.annotation
            parameters += _list_parameters(parameter.annotation)
        else:
            parameters.append(parameter)

    @functools.wraps(command)
    def filled(**values: Any) -> Exit:
        made = {
            name: record(**{one.name: values.pop(one.name) for one in fields(record)})
            for name, record in records.items()
        }
        return command(**values, **made)

    filled.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
    return filled


def _list_parameters(record: Any) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(record, include_extras=True)
    for one in fields(record):
        yield inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=one.default,
            annotation=hints[one.name],
        )


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
