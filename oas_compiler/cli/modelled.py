"""`--model NAME`: a run on a local platform with language models, in this process.

In: names (`openai:gpt-5-mini`, `scripted:answers.yaml`) and a flow.  Out: the flow on that platform.

    models = modelled.named(chosen, own)        reads names and scripts; nothing is asked yet
    models.on(store, flow, filled, …)           the flow, calling the models of this process

The run's row keeps the names, and of a script its path and digest: any process goes on with the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from oas_compiler.cli.exits import Halt
from oas_compiler.cli.opening import USUAL_ORG, Own, PlatformOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from cinatra_sdk import RunStore
    from cinatra_sdk.bridge.offered import Offer, OfferedModel
    from cinatra_sdk.host.modelled import ModelNames
    from cinatra_sdk.host.settings import LocalSettings
    from cinatra_sdk.lending.host_parts import HostParts
    from cinatra_sdk.passthrough import ChildAgents
    from cinatra_sdk.platform import Platform, PlatformCall
    from cinatra_sdk.routed import RoutedPlatform, RunOwner
    from oas_compiler.cli.context import Context
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
        from cinatra_sdk.host.modelled import owned_by
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


def named(
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
    from cinatra_sdk.passthrough import ChildAgents

    return ChildAgents.keep(store.database, agents, parts) if agents else None


def read_names(models: tuple[str, ...], own: Own) -> ModelNames:
    """Raises: `Halt`, which says what is wrong with a name, or which key its model lacks."""
    from cinatra_sdk.host.modelled import read_models

    try:
        found = read_models(models, own.lend())
    except ValueError as error:
        raise Halt(f"--model: {error}") from None
    for one in found.offer.models:
        _require_key(found.offer, one)
    return found


def _require_key(offer: Offer, model: OfferedModel) -> None:
    """A run that waits at a gate first should not find out days later."""
    from cinatra_sdk.models.connecting import find_key_variable

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
    from cinatra_sdk.host.modelled import modelled

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
    from cinatra_sdk.host.settings import ActorSettings, LocalSettings

    actor = ActorSettings.model_validate({"orgId": tenant or USUAL_ORG, "principalId": by})
    return LocalSettings.model_validate({"actor": actor})
