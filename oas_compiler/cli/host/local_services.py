"""`--model`, `--packages` and `--context`: services of a local platform for a run, in this process.

In: names (`openai:gpt-5-mini`, `scripted:answers.yaml`) and a flow.  Out: the flow on that platform.

    models = find_models(options, own, beyond)  reads names and scripts; asks no model yet
    models.on(store, flow, filled, …)           the flow, calling the models of this process

The row of the run holds the names, and of a script its path and digest: any process goes on with the run.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from cinatra_sdk.data.text.message_words import say_number
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.cli.host.resources import USUAL_ORG, Own, PlatformOptions
from oas_compiler.cli.terminal.exits import Halt
from oas_compiler.cli.terminal.printable_text import clean
from oas_compiler.cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable

    from cinatra_sdk import RunStore
    from cinatra_sdk.host.bridge.model_offers import Offer, OfferedModel
    from cinatra_sdk.host.context_file import ContextFile
    from cinatra_sdk.host.host_settings import LocalSettings
    from cinatra_sdk.host.model_routes import ModelNames
    from cinatra_sdk.host.passthrough.agent_runs import ChildAgents
    from cinatra_sdk.host_parts.host_parts import HostParts
    from cinatra_sdk.outside.http_calls.protocol import Platform, PlatformCall
    from cinatra_sdk.outside.routes import RoutedPlatform, RunOwner
    from oas_compiler.deps.agent_packages import AgentPackage
    from oas_compiler.lower.flow import Flow


NO_AGENTS: Final[Mapping[str, Flow]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The models of a command."""

    names: ModelNames
    parts: HostParts
    beyond: Platform | None
    """The platform of the options, for calls that the local one has no route for."""
    agents: Mapping[str, Flow] = field(default_factory=dict)
    """Child agents by the name of their package."""

    def on(
        self, store: RunStore, flow: Flow, filled: Context | None, *, tenant: str, by: str
    ) -> tuple[Flow, ChildAgents | None]:
        """`flow` on a platform of this process, and its children, which are to work on the platform
        that the flow has at last.  by: who started the run.
        """
        from cinatra_sdk.host.model_routes import owned_by
        from cinatra_sdk.host.standalone_platform import standalone

        settings = make_settings(tenant, by) if filled is None else filled.file.settings
        children = keep_agents(store, self.agents, self.parts)
        routed = make_platform(
            store,
            self.names,
            self.parts,
            owned_by(settings.owner),
            beyond=self.beyond,
            children=children,
        )
        if filled is not None:  # the context file puts its own platform around it
            return flow.with_platform(routed), children
        made = flow.with_platform(standalone(store.database, settings, beyond=routed))
        return made, children


def find_models(
    options: PlatformOptions,
    own: Own,
    beyond: Platform | None,
    agents: Mapping[str, Flow] = NO_AGENTS,
) -> Models | None:
    """The models that the options name; None where they name none.

    agents: those of `--packages`.

    Raises: `Halt`.
    """
    if not options.models:
        if agents:
            raise Halt("--packages goes with --model: the agents are called through this process")
        return None
    if options.simulate:
        raise Halt("--simulate asks no model: leave out --simulate or --model")
    names = read_names(options.models, own)
    return Models(names=names, parts=own.lend(), beyond=beyond, agents=agents)


def keep_agents(
    store: RunStore, agents: Mapping[str, Flow], parts: HostParts
) -> ChildAgents | None:
    """The child agents, stored; None where there are none."""
    from cinatra_sdk.host.passthrough.agent_runs import ChildAgents

    return ChildAgents.keep(store.database, agents, parts) if agents else None


def read_names(models: tuple[str, ...], own: Own) -> ModelNames:
    """Raises: `Halt`, which says what is wrong with a name, or which key its model lacks."""
    from cinatra_sdk.host.model_routes import read_models

    try:
        found = read_models(models, own.lend())
    except ValueError as error:
        raise Halt(f"--model: {error}") from None
    for one in found.offer.models:
        _require_key(found.offer, one)
    return found


def _require_key(offer: Offer, model: OfferedModel) -> None:
    """A run that waits at a gate first should not find out days later."""
    from cinatra_sdk.outside.models.clients import find_key_variable

    variable = find_key_variable(model.config)
    if variable and not offer.is_lent(model) and not offer.find_key(model):
        raise Halt(
            f"--model: {model.config.name} needs a key: set {variable}, or lend one with --host"
        )


def make_platform(
    store: RunStore,
    names: ModelNames,
    parts: HostParts,
    identify: Callable[[PlatformCall], RunOwner],
    *,
    beyond: Platform | None = None,
    children: ChildAgents | None = None,
) -> RoutedPlatform:
    """Raises: `Halt` for tools of `--host` whose names clash."""
    from cinatra_sdk.host.model_routes import modelled

    try:
        return modelled(
            store.database,
            names,
            identify=identify,
            host=parts,
            beyond=beyond,
            children=children,
        )
    except ValueError as error:
        raise Halt(f"--host: {error}") from None


def make_settings(tenant: str, by: str) -> LocalSettings:
    """Of a person without a context file."""
    from cinatra_sdk.host.host_settings import ActorSettings, LocalSettings

    actor = ActorSettings.model_validate({"orgId": tenant or USUAL_ORG, "principalId": by})
    return LocalSettings.model_validate({"actor": actor})


# ----------------------------------------------------------------------------
# `--packages DIR`: agents that flows may call by the name of their package.
#
# read_agents(["agents"], own)                       {"@x/drafts": <the newest version's flow>, …}
# read_agents(["agents"], own, path="agents/email")  the versions that this package asks for


log = logging.getLogger("oasflow.packages")


def read_agents(folders: Sequence[str], own: Own, *, path: str = "") -> dict[str, Flow]:
    """The flow of each package in and below the folders, by the package's name.

    A package whose flow does not compile here is left out, with a warning: it may be nobody's child.

    Raises: `Halt` for a folder that is none, and where no package is left.
    """
    if not folders:
        return {}
    from oas_compiler.lower.flow import compile_flow
    from oas_compiler.report.diagnostics import CompileError

    found: dict[str, Flow] = {}
    for name, package in _choose(folders, path).items():
        try:
            found[name] = compile_flow(package.folder, host=own.lend())
        except CompileError as error:
            first = next(iter(error.diagnostics))
            log.warning("%s is no child agent here: %s", package.label, first.message)
    if not found:
        raise Halt(f"--packages {folders[0]}: there is no package of an agent that runs here")
    return found


def _choose(folders: Sequence[str], path: str) -> dict[str, AgentPackage]:
    from oas_compiler.deps import resolve
    from oas_compiler.deps.agent_packages import stock
    from oas_compiler.findings.finding import Findings
    from oas_compiler.package.dependencies import in_order

    for folder in folders:
        if not Path(folder).is_dir():
            raise Halt(f"--packages {folder}: this is no folder")
    chosen: dict[str, AgentPackage] = {}
    for name, copies in stock([Path(folder) for folder in folders], Findings()).by_name.items():
        newest = in_order({one.version for one in copies})[-1]
        package = next(one for one in copies if one.version == newest)
        if name and package.flow_file is not None:
            chosen[name] = package
    if path and Path(path).is_dir():
        for link in resolve(path, roots=list(folders)).links:
            if link.chosen is not None and link.chosen.flow_file is not None:
                chosen[link.wanted.name] = link.chosen
    return chosen


# ----------------------------------------------------------------------------
# `oasflow run --simulate`: the answers that the simulation makes up, and the tools that really run.
#
# oasflow run . --simulate --host shop_parts:lend     the tools run; everything else is made up


def admit_tools_of_simulation(
    terminal: Terminal, made: Flow, host_option: str, *, yes: bool
) -> None:
    """Tell that the tools of `--host` really run in a simulation, which makes up all other answers.

    Raises: `Halt` for tools that no option of this command names, and for `--yes` beside tools.
    """
    from cinatra_sdk.host_parts.factory import HOST_VARIABLE
    from oas_compiler.ir import ToolNode

    tools = [node for node in made.compiled.control.calls if isinstance(node, ToolNode)]
    if not tools:
        return
    first = f"first at '{tools[0].name}'"
    if not host_option:
        raise Halt(
            f"--simulate makes up no answers of tools, and those of {HOST_VARIABLE} would really "
            f"run ({first}): give the tools that may run with --simulate --host MODULE:FACTORY, "
            "or leave out --simulate"
        )
    if yes:
        raise Halt(
            f"--yes approves without looking, and tools really run ({first}): leave out --yes"
        )
    names = ", ".join(sorted({clean(node.tool_name) for node in tools}))
    terminal.note(f"the tools of --host really run, calls of platforms are simulated: {names}")


def mention_made_up_context(terminal: Terminal, made: Flow, options: PlatformOptions) -> None:
    """Tell the user where a simulation makes up the candidates of a slot."""
    from cinatra_sdk.flow.requests.request_template import usual_url
    from cinatra_sdk.host.local_platform import answers
    from oas_compiler.ir import ApiNode

    if not options.simulate or options.context:
        return
    calls = [node for node in made.compiled.control.calls if isinstance(node, ApiNode)]
    if any(answers(usual_url(node.url)) for node in calls):
        terminal.note(
            "what the context slots may take is simulated: --context FILE fills them from artifacts"
        )


# ----------------------------------------------------------------------------
# `--context FILE`: the context slots of a run, filled from a file of artifacts.
#
# In: the file's name and a flow.  Out: the flow on a platform that answers from the run's database.
#
#     find_context(options)               reads the file; nothing is written yet
#     context.on(store, flow, …)          loads the artifacts, and gives the flow a platform
#
# The file is read once: the run's row and the database keep enough of it for any process that
# continues the run.


MOST_NAMED: Final = 3
"""Unused artifacts that are named one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A context file, and the platform for calls that are not about context."""

    path: str
    file: ContextFile
    has_beyond: bool

    def on(self, store: RunStore, flow: Flow, terminal: Terminal) -> Flow:
        """`flow` on a platform that offers the artifacts of the file, after loading them into the
        database.

        Raises: `Halt` where another owner has an artifact's id; `StoreError`.
        """
        from cinatra_sdk.context.selection_errors import ContextError
        from cinatra_sdk.host.standalone_platform import standalone
        from cinatra_sdk.store.artifacts.artifacts import ArtifactStore

        try:
            ArtifactStore(store.database).load(self.file.loaded)
        except ContextError as error:
            raise Halt(f"--context {self.path}: {error}", code=error.code) from None
        terminal.say(f"context: {say_number(len(self.file.artifacts), 'artifact')}")
        settings = self.file.settings
        self._mention_strangers(flow, terminal)
        if settings.package_name is None and not flow.ir.package_name:
            settings = settings.model_copy(update={"package_name": _package_name(flow) or None})
        beyond = flow.platform if self.has_beyond else None
        return flow.with_platform(standalone(store.database, settings, beyond=beyond))

    def _mention_strangers(self, flow: Flow, terminal: Terminal) -> None:
        """Name the artifacts that no slot accepts: usually an extension is misspelt."""
        from cinatra_sdk.context.candidates import expanded
        from cinatra_sdk.context.selection_errors import ContextError
        from oas_compiler.facts.context_declarations import collect_declared_slots

        settings = self.file.settings
        try:
            own = collect_declared_slots(flow.ir).slots
        except ContextError:
            return  # the run's first call about the slot reports the error
        declared = (*own.values(), *settings.packages.values())
        slots = [slot for found in declared for slot in found]
        if settings.selects_for_other_runs or not slots:
            return  # the slots of another run, or no slots to compare with
        accepted = {name for slot in slots for name in slot.accepted_artifact_extensions}
        taken = set(expanded(accepted, settings.registry))
        strangers = [entry for entry in self.file.artifacts if taken.isdisjoint(entry.extensions)]
        for entry in strangers[:MOST_NAMED]:
            terminal.note(
                f'no slot of this flow takes the artifact "{entry.id}": it is '
                f"{', '.join(entry.extensions)}, and the slots take {', '.join(sorted(taken))}"
            )
        if len(strangers) > MOST_NAMED:
            terminal.note(f"and {len(strangers) - MOST_NAMED} more that no slot takes")


def find_context(options: PlatformOptions) -> Context | None:
    """The context file that the options name; None where they name no file.

    Raises: `Halt`, which lists every wrong place of the file.
    """
    file = read_context(options.context)
    if file is None:
        return None
    return Context(path=options.context, file=file, has_beyond=options.names_platform)


def read_context(path: str) -> ContextFile | None:
    """None for an empty path.  Raises: `Halt`, as `find_context`."""
    from cinatra_sdk.host.context_file import ContextFileError, read_context_file

    if not path:
        return None
    try:
        return read_context_file(path)
    except ContextFileError as error:
        raise Halt(str(error), code="context_file") from None


def _package_name(flow: Flow) -> str:
    """The name in the package.json around a flow's file; empty without a package.json or name."""
    from oas_compiler.findings.finding import Findings
    from oas_compiler.package.package import find_package

    package = find_package(flow.file, Findings()) if flow.file else None
    name = package.manifest.get("name") if package is not None else None
    return name if isinstance(name, str) else ""
