"""Everything that a run needs and a command does not lend, found before the command does anything.

In: a run, and the options of the command.  Out: each `Lack`, and the complete command.

    lacking(run, GivenOptions(), source)  ->  (Lack("--env CRM_KEY", "a variable that it reads; …"),
                                Lack("--allow https://crm.example", "an address that it may call"))

The missing settings are found by trial: the run's platform is rebuilt, each missing setting is
added, and so on until nothing is missing.
"""

from __future__ import annotations

import functools
import importlib.metadata
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from cinatra_sdk.contract import BASE_URL, ENDED
from cinatra_sdk.errors import FlowError
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.cli.host import resources
from oas_compiler.cli.host.options import GivenOptions
from oas_compiler.cli.host.resources import ALLOW, ANY_HOST, RUN_TOKEN
from oas_compiler.cli.host.run_resources import Manner, tell_what_is_used
from oas_compiler.cli.terminal.argument_values import SECRETS, describe_absent
from oas_compiler.cli.terminal.exits import Exit, Halt
from oas_compiler.cli.terminal.layout import Member, Words, unbroken
from oas_compiler.cli.terminal.printable_text import clean

if TYPE_CHECKING:
    from rich.console import RenderableType

    from cinatra_sdk import RunStore
    from cinatra_sdk.host_parts.host_parts import HostParts
    from cinatra_sdk.runs import Run
    from cinatra_sdk.store.flows.flow_protocol import DurableFlow
    from oas_compiler.cli.terminal.streams import Terminal


# ----------------------------------------------------------------------------
# The needs of a run that only the operator's Python can lend, by `--host`.
#
# In: a run, its stored flow, and what the command lends already.  Out: the reasons, in words.
#
#     list_host_needs(run, source, None)  ->  ["the tools that it calls: look_up_order, refund_order"]
#
# The flow is read and not compiled: looking at a run loads no engine.


_MADE_AGAIN: Final = frozenset({"http", "simulated"})
"""Kinds of platforms that every process can make again from a run's row."""
_MOST_NAMED: Final = 10
"""Tools that are named."""


def list_host_needs(run: Run, source: bytes, lent: HostParts | None) -> list[str]:
    """lent: what `--host` gave; None: there was none."""
    from cinatra_sdk.host_parts.factory import HOST_VARIABLE

    if lent is None and os.environ.get(HOST_VARIABLE):
        return []  # nothing is imported for looking; what goes on with the run does
    return [*_describe_flow_needs(source, lent), *_describe_platform_needs(run.platform, lent)]


def _describe_flow_needs(source: bytes, lent: HostParts | None) -> Iterator[str]:
    from cinatra_sdk.errors import StoreError
    from cinatra_sdk.store.flows.flow_protocol import OAS, split_source

    try:
        kind, header = split_source(source)
    except StoreError:
        return  # whoever goes on with the run is told
    if kind != OAS:
        name = str(header.get("name", ""))
        if name not in {graph.label for graph in (() if lent is None else lent.graphs)}:
            yield f"the hand-written graph {name}"
        return
    known = frozenset() if lent is None else frozenset(lent.tools)
    missing = sorted(_read_tools(source) - known)
    if missing:
        more = "" if len(missing) <= _MOST_NAMED else f" and {len(missing) - _MOST_NAMED} more"
        yield f"the tools that it calls: {', '.join(missing[:_MOST_NAMED])}{more}"


@functools.lru_cache(maxsize=16)
def _read_tools(source: bytes) -> frozenset[str]:
    """Names of the Python functions that the flow calls; empty where it cannot be read."""
    if b"ServerTool" not in source:
        return frozenset()
    from oas_compiler.ir import find_tool_names
    from oas_compiler.pipeline import compile_ir
    from oas_compiler.report.diagnostics import CompileError

    try:
        flow = compile_ir(source).ir
    except CompileError:
        return frozenset()
    return find_tool_names(flow)


def _describe_platform_needs(
    description: Mapping[str, Any], lent: HostParts | None
) -> Iterator[str]:
    from cinatra_sdk.store.flows.flow_protocol import PLATFORMS

    if lent is not None and lent.platform is not None:
        return
    kind = description.get("kind")
    known = isinstance(kind, str) and (
        kind in _MADE_AGAIN
        or bool(tuple(importlib.metadata.entry_points(group=PLATFORMS, name=kind)))
    )
    if not known:
        yield f"a platform of the kind '{kind}', which only its host can make"
    beyond = description.get("beyond")
    for part in (description, beyond if isinstance(beyond, Mapping) else {}):
        if part.get("headers_for"):
            yield f"a platform with its host's headers for {', '.join(map(str, part['headers_for']))}"


_SOME_SECRET: Final = "a secret that is asked about only"  # noqa: S105 - stands for any


@dataclass(frozen=True, slots=True)
class Lack:
    """One resource that a run needs and a command does not lend."""

    option: str
    """The option that lends it, with its value; empty for a variable that is only exported."""
    why: str
    export: str = ""
    """The variable that has to be set first."""


@dataclass(frozen=True, slots=True)
class Lacking:
    """Everything that a run needs and a command does not lend."""

    lacks: tuple[Lack, ...]
    whole: GivenOptions
    """The options of the command together with everything missing."""

    def __bool__(self) -> bool:
        return bool(self.lacks)


def lacking(run: Run, given: GivenOptions, source: bytes) -> Lacking:
    """Everything that the run needs beyond the given options.

    source: of the run's flow.

    Raises: `Halt` for a given variable without a value that the run does not need.
    """
    lent = given.own.variables
    _refuse_stray(run, given, lent)
    missing = [name for name in asked_variables(run) if name not in lent]
    settings = dict(given.own.settings)
    asked = [] if given.own.platform is not None else _asked_of_platform(run, settings)
    lacks = [_make_variable_lack(name) for name in missing]
    lacks += [_of_platform(run, setting, value) for setting, value in asked]
    own = replace(given.own, env=(*given.own.env, *missing))
    needs = list_host_needs(run, source, given.own.parts)
    if needs:
        lacks += [
            Lack(f"--host {ANY_HOST}", f"a function of yours that lends {need}") for need in needs
        ]
        own = replace(own, host=own.host or ANY_HOST)
    opened = [value for setting, value in asked if setting == ALLOW]
    if opened:
        own = replace(
            own, allow=_list_allowed_addresses(run, settings, (*(own.allowed or ()), *opened))
        )
    own = replace(own, base_url=dict(asked).get(BASE_URL, own.base_url))
    tenant = given.tenant
    if run.tenant and not tenant and os.environ.get(RUN_TOKEN):
        tenant = run.tenant
        lacks.append(
            Lack(f"--tenant {clean(tenant)}", f"whose run it is; {RUN_TOKEN} is a tenant's")
        )
    return Lacking(tuple(lacks), replace(given, own=own, tenant=tenant))


def find_lacking(run: Run, given: GivenOptions, source: bytes) -> Lacking:
    """As `lacking`, for a command that is only printed: of a run that has ended nothing is lacking,
    and a wrong setting of this process is told by the command that goes on with the run.
    """
    if run.status in ENDED:
        return Lacking((), given)
    try:
        return lacking(run, given, source)
    except Halt:
        return Lacking((), given)


def options_of_run(store: RunStore, run: Run, given: GivenOptions) -> GivenOptions:
    """The options with which a command that goes on with the run is printed: those of this command,
    and all that the run lacks beside them.
    """
    return find_lacking(run, given, store.source(run.id)).whole


def options_of_runs(
    store: RunStore, run_ids: Iterable[str], given: GivenOptions
) -> dict[str, GivenOptions]:
    """Run id → the same.  A run that cannot be read hides no other: it gets those of this command."""
    sources: dict[str, bytes] = {}
    found: dict[str, GivenOptions] = {}
    for run_id in dict.fromkeys(run_ids):
        try:
            run = store.get(run_id)
            if run.digest not in sources:
                sources[run.digest] = store.source(run_id)
            found[run_id] = find_lacking(run, given, sources[run.digest]).whole
        except FlowError:
            found[run_id] = given
    return found


def asked_variables(run: Run) -> list[str]:
    """The variables that a run needs, without the runtime's own variables, which cannot be lent."""
    from cinatra_sdk.governed.host_keys import is_runtime_name

    return sorted(name for name in run.variables if not is_runtime_name(name))


def refusal(run: Run, found: Lacking, command: str) -> Halt:
    """The refusal of an incomplete command; `command` is the complete command."""
    return Halt(
        f"run '{run.id}' needs more than this command gives it; nothing was done",
        exit=Exit.USAGE,
        code="not_configured",
        then=format_lacking(found, command),
        more={
            "lacking": [
                {"option": lack.option, "why": lack.why, "export": lack.export}
                for lack in found.lacks
            ],
            "command": command,
        },
    )


def format_lacking(found: Lacking, command: str) -> list[RenderableType]:
    """Each lack with its reason, and the complete command."""
    return [
        *reasons(found.lacks),
        Text("the whole command, if the run shall get all of this:"),
        unbroken(Text(f"  {command}")),
        *export_first(found.whole),
    ]


def reasons(lacks: tuple[Lack, ...]) -> list[RenderableType]:
    """Each lack on its line."""
    names = [lack.option or f"export {lack.export}" for lack in lacks]
    most = min(40, max(map(len, names)))
    return [
        Member(name.ljust(most), Text(clean(lack.why)), is_words=True)
        for name, lack in zip(names, lacks, strict=True)
    ]


def export_first(given: GivenOptions) -> list[RenderableType]:
    """The variables to export before a command with these options works; empty where there are
    none.
    """
    names = given.to_export()
    if not names:
        return []
    told = f"(export {', '.join(map(clean, names))} first: values are not repeated here)"
    return [Words(Text(told, "dim"))]


def _make_variable_lack(name: str) -> Lack:
    if name in os.environ:
        return Lack(f"--env {clean(name)}", "a variable that it reads")
    return Lack(f"--env {clean(name)}", "a variable that it reads; not set here", name)


def _refuse_stray(run: Run, given: GivenOptions, lent: Mapping[str, str]) -> None:
    """Refuse a misspelt name instead of silently leaving it out."""
    asked = asked_variables(run)
    stray = [name for name in given.own.names if name not in lent and name not in asked]
    if stray:
        reads = ", ".join(map(clean, asked)) or "no variable"
        raise Halt(f"{describe_absent(stray[0])}; the run reads {reads}")


# ------------------------------------------------------------------------ the platform


def _asked_of_platform(run: Run, settings: dict[str, str]) -> list[tuple[str, str]]:
    """Settings that the run's platform lacks, with the address for each.

    settings: of this process; the missing settings are added to it.
    """
    description = _http_part(run.platform)
    found: list[tuple[str, str]] = []
    while description is not None:
        asked = _first_asked(run, description, settings)
        if asked is None or asked in found:
            break
        found.append(asked)
        setting, value = asked
        before = settings.get(ALLOW, "").split() if setting == ALLOW else []
        settings[setting] = " ".join([*before, value or _SOME_SECRET])
    return found


def _http_part(description: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The part of the description that makes HTTP calls; None where no part does."""
    part = description.get("beyond") if description.get("kind") == "local" else description
    return part if isinstance(part, Mapping) and part.get("kind") == "http" else None


def _first_asked(
    run: Run, description: Mapping[str, Any], settings: Mapping[str, str]
) -> tuple[str, str] | None:
    """The first missing setting; None where no setting is missing or no setting would help."""
    from cinatra_sdk.outside.http_calls.description import (
        SettingLacking,
        is_named,
        platform_from,
        takes_credentials,
    )
    from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform

    try:
        platform = platform_from(description, env=settings)
    except SettingLacking as refused:
        return refused.setting, refused.value
    except ValueError:
        return None  # the description itself is wrong: the store reports it
    assert isinstance(platform, HttpPlatform)  # as the description says
    platform.close()
    about: Any = platform.describe()
    if os.environ.get(RUN_TOKEN) and not takes_credentials(platform):
        return BASE_URL, about["base_url"]
    called = [one for one in (about["base_url"], *about["allow"]) if one]
    addresses = called if asked_variables(run) else []
    unnamed = next((one for one in addresses if not is_named(one, settings)), None)
    return None if unnamed is None else (ALLOW, unnamed)


def _of_platform(run: Run, setting: str, value: str) -> Lack:
    if setting == BASE_URL:
        held = [name for name in SECRETS if os.environ.get(name)]
        gets = f"; it gets {', '.join(held)}" if held else ""
        return Lack(f"--base-url {clean(value)}", f"the platform that it calls{gets}")
    if setting == ALLOW:
        names = asked_variables(run)
        gets = f"; it may get {', '.join(map(clean, names))}" if names else ""
        return Lack(f"--allow {clean(value)}", f"an address that it may call{gets}")
    return Lack("", "its platform was used with it", setting)


def _list_allowed_addresses(
    run: Run, settings: Mapping[str, str], wanted: tuple[str, ...]
) -> tuple[str, ...]:
    """The addresses for `--allow`, which replaces the whole list of this process."""
    from cinatra_sdk.outside.http_calls.description import is_named

    part = _http_part(run.platform) or {}
    asked = [part.get("base_url", ""), *part.get("allow", [])]
    kept = [
        entry
        for entry in settings[ALLOW].split()
        if any(is_named(address, {ALLOW: entry}) for address in asked if address)
    ]
    return tuple(dict.fromkeys((*wanted, *kept)))


# ----------------------------------------------------------------------------
# Prepares to continue a run: prints the resources that the run uses, and refuses with all that is lacking.
#
# In: a run of the store, the options of the command, and the command for typing again.
# Out: the run's flow, or `Halt` before anything is recorded.
#
#     `TypedCommand("approve", "n1/review", ("--reason", "fine"))`


@dataclass(frozen=True, slots=True)
class TypedCommand:
    """A command that acts on a run, so that it can be printed for typing again."""

    name: str
    target: str
    options: tuple[str, ...] = ()
    """The command's own options, without those that lend resources."""


def flow_to_go_on(
    store: RunStore,
    run: Run,
    terminal: Terminal,
    given: GivenOptions,
    call: TypedCommand,
    *,
    to_reject: bool = False,
) -> DurableFlow:
    """The flow of `run`, after telling what the run uses of this process.

    to_reject: a rejected run makes no calls, so the command lends no resources and lacks none.

    Raises: `Halt`, which names everything that is missing and the complete command.
    """
    source = b"" if to_reject else store.source(run.id)
    found = None if to_reject else lacking(run, given, source)
    manner: Manner = "rejected" if found is None else "refused" if found else "done"
    tell_what_is_used(terminal, run, given.own, manner, source)
    if found:
        whole = found.whole.command(call.name, call.target, *call.options)
        raise refusal(run, found, whole)
    return resources.flow_of_run(store, run.id, given.tenant, to_reject=to_reject)
