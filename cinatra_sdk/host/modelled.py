"""The routes of a host with language models: the bridge, the tools by name, and those that it lacks.

    platform = modelled(database, ["openai:gpt-5-mini"], owner=ann)
    standalone(database, settings, beyond=platform)        the same with context slots

A name is `provider:model`, `scripted:FILE`, or the name of a chat model that the host lends.  A script
answers the models of nodes, too (LlmNode, Agent), unless the host lends these.  The
description holds the names, and of a script its path and digest; another process makes the same
platform from it, with keys of its own environment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.bridge.body import DEFAULT_TOOLBOX
from cinatra_sdk.bridge.offered import Offer, OfferedModel, read_model_name
from cinatra_sdk.bridge.route import ROUTE as BRIDGE_ROUTE
from cinatra_sdk.bridge.route import LlmBridge
from cinatra_sdk.bridge.scripted import ScriptFile
from cinatra_sdk.bridge.standing_in import make_standing_model
from cinatra_sdk.bridge.toolboxes import BridgeTool, Toolbox, ToolFailed
from cinatra_sdk.context.actor import Actor
from cinatra_sdk.host.files import lend_files
from cinatra_sdk.host.going import require_going
from cinatra_sdk.lending.host_parts import NO_PARTS, HostParts
from cinatra_sdk.models.config import ModelConfig
from cinatra_sdk.passthrough.child_agents import ChildAgents
from cinatra_sdk.passthrough.drafts import drafts_tool
from cinatra_sdk.passthrough.named import NamedCall, NamedTool
from cinatra_sdk.passthrough.objects import object_tools
from cinatra_sdk.passthrough.platform_tools import plain_tools, trigger_tool
from cinatra_sdk.passthrough.prompts import prompts_tool
from cinatra_sdk.passthrough.route import ROUTE as PASSTHROUGH_ROUTE
from cinatra_sdk.passthrough.route import Passthrough
from cinatra_sdk.platform.protocol import Platform, PlatformCall
from cinatra_sdk.postgres.database import Database
from cinatra_sdk.routed.call import Handler, RouteCall, RouteError, RunOwner
from cinatra_sdk.routed.platform import RoutedPlatform
from cinatra_sdk.store.saved_objects import SavedObjects

SCRIPTED: Final = "scripted:"
MODELS: Final = "models"
SCRIPTS: Final = "scripts"
AGENTS: Final = "agents"
KIND: Final = "routed"
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_ABSENT: Final = {
    "POST /api/auditor/run-skills": "runs the skills of an auditor",
    "POST /api/auditor/exclude": "keeps what a review excludes",
    "POST /api/auditor/apply": "applies what an auditor proposes",
}
"""Routes that public flows call and that this platform does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelNames:
    """The models of a host by name, ready to be offered."""

    names: tuple[str, ...]
    offer: Offer
    scripts: Mapping[str, str]
    """Path → digest, of scripts."""
    stand_in: Any = None
    """Answers in place of the models that nodes ask by themselves: the first script."""

    def describe(self) -> dict[str, JsonValue]:
        return {MODELS: list[JsonValue](self.names), SCRIPTS: dict[str, JsonValue](self.scripts)}


def read_models(
    names: Sequence[str], host: HostParts = NO_PARTS, *, digests: Mapping[str, str] | None = None
) -> ModelNames:
    """digests: of scripts that must not have changed, by path.

    Raises: `ValueError`, which says what is wrong with a name or a script.
    """
    offered: list[OfferedModel | ModelConfig] = []
    kept, scripts, read = [], {}, []
    for name in names:
        if name.startswith(SCRIPTED):
            path = name.removeprefix(SCRIPTED)
            if not path:
                raise ValueError(f"{SCRIPTED} names no file: write {SCRIPTED}FILE")
            script = ScriptFile.read(path, digest=(digests or {}).get(path, ""))
            offered.append(script.offered())
            read.append(script)
            scripts[script.path] = script.digest
            kept.append(f"{SCRIPTED}{script.path}")
            continue
        lent = isinstance(host.models, Mapping) and name in host.models
        offered.append(
            ModelConfig(type="LlmConfig", name=name, provider="host", model=name)
            if lent
            else read_model_name(name)
        )
        kept.append(name)
    offer = Offer.of(offered, lent=host.models, api_key_for=host.api_key_for)
    stand_in = make_standing_model(read[0]) if read else None
    return ModelNames(names=tuple(kept), offer=offer, scripts=scripts, stand_in=stand_in)


def modelled(
    database: Database,
    models: ModelNames,
    *,
    identify: Callable[[PlatformCall], RunOwner],
    host: HostParts = NO_PARTS,
    beyond: Platform | None = None,
    children: ChildAgents | None = None,
) -> RoutedPlatform:
    """The platform of a host.  identify: whose call it is; beyond: for every other call; children:
    agents that flows may call by the name of their package.

    Raises: `ValueError` for tools of the host whose names clash.
    """
    routes = make_routes(database, models.offer, host, children)
    described = models.describe()
    if children is not None:
        described[AGENTS] = children.describe()
    return RoutedPlatform(
        routes, beyond=beyond, identify=identify, described=described, stand_in=models.stand_in
    )


def owned_by(actor: Actor) -> Callable[[PlatformCall], RunOwner]:
    """Of a platform in process, all of whose runs are one person's."""
    return lambda call: RunOwner(run_id=call.run_id, tenant=actor.org_id, person=actor.principal_id)


def remade_models(
    description: Mapping[str, Any],
    database: Database,
    actor: Actor,
    *,
    host: HostParts | None,
    beyond: Platform | None,
    children: ChildAgents | None = None,
) -> RoutedPlatform:
    """The platform that `describe()` described.  children: as `read_children` gives them.

    Raises: `ValueError`, which says what is wrong with the description, or what this process lacks.
    """
    unknown = sorted(set(description) - {"kind", MODELS, SCRIPTS, AGENTS, "beyond"})
    names, scripts = description.get(MODELS), description.get(SCRIPTS)
    if unknown:
        raise ValueError(f'a platform of kind "{KIND}" has no setting "{unknown[0]}"')
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f'"{MODELS}" of a stored platform is a list of names')
    if not isinstance(scripts, Mapping) or not all(
        isinstance(one, str) for one in scripts.values()
    ):
        raise ValueError(f'"{SCRIPTS}" of a stored platform gives each path its digest')
    for name in names:
        # A description may name any file: one without a digest would be read whatever it is.
        if name.startswith(SCRIPTED) and not scripts.get(name.removeprefix(SCRIPTED)):
            raise ValueError(f'"{SCRIPTS}" of a stored platform lacks the digest of a script')
    lent = host or NO_PARTS
    models = read_models(names, lent, digests=scripts)
    return modelled(
        database, models, identify=owned_by(actor), host=lent, beyond=beyond, children=children
    )


def read_children(
    description: Mapping[str, Any], database: Database, host: HostParts | None
) -> ChildAgents | None:
    """The child agents that a platform was described with; None where it has none.

    Raises: `ValueError`.
    """
    digests = description.get(AGENTS)
    if digests is None:
        return None
    if not isinstance(digests, Mapping) or not all(
        isinstance(one, str) and _DIGEST.fullmatch(one) for one in digests.values()
    ):
        raise ValueError(
            f'"{AGENTS}" of a stored platform gives each package the digest of its flow'
        )
    return ChildAgents(database=database, digests=dict(digests), host=host or NO_PARTS)


def make_routes(
    database: Database,
    offer: Offer,
    host: HostParts = NO_PARTS,
    children: ChildAgents | None = None,
) -> dict[str, Handler]:
    """The functions of all routes.

    Raises: `ValueError` for two tools of one name in the toolbox `cinatra-mcp`.
    """
    tools = _name_tools(database, host)
    toolboxes = {id_: Toolbox.of(members) for id_, members in host.toolboxes.items()}
    own = Toolbox.of([_offer_tool(tool) for tool in tools.values() if tool.for_models])
    toolboxes[DEFAULT_TOOLBOX] = _join_boxes(own, toolboxes.get(DEFAULT_TOOLBOX, Toolbox()))
    absent = {entry: _refuse_route(entry, about) for entry, about in _ABSENT.items()}
    return {
        BRIDGE_ROUTE: LlmBridge(
            offer=offer,
            toolboxes=toolboxes,
            ports_for=lend_files(database, offer, host),
            may_go_on=require_going(database),
            media_size=host.media_size,
        ),
        PASSTHROUGH_ROUTE: Passthrough.of(
            [*(() if children is None else children.tools()), *tools.values()]
        ),
        **absent,
    }


def _name_tools(database: Database, host: HostParts) -> dict[str, NamedTool]:
    """The tools by name, for flows and for models alike.

    A function of the host takes the place of the one that is built in; what models are told of the
    tool, and whether they are, stays.
    """
    objects = SavedObjects(database)
    built_in = [
        *object_tools(objects),
        drafts_tool(objects),
        trigger_tool(objects),
        prompts_tool(database),
        *plain_tools(),
    ]
    tools = {tool.name: tool for tool in built_in}
    for name, run in host.passthrough.items():
        known = tools.get(name)
        tools[name] = NamedTool(name=name, run=run) if known is None else replace(known, run=run)
    return tools


def _join_boxes(own: Toolbox, lent: Toolbox) -> Toolbox:
    """Raises: `ValueError`, which names a tool that is there twice."""
    joined = own + lent
    names = [tool.name for tool in joined.tools]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is None:
        return joined
    way = f'HostParts(passthrough={{"{twice}": …}}) replaces the built-in tool'
    raise ValueError(
        f'the toolbox "{DEFAULT_TOOLBOX}" has two tools with the name "{twice}": give one another '
        "name" + (f", or {way}" if any(tool.name == twice for tool in own.tools) else "")
    )


def _offer_tool(tool: NamedTool) -> BridgeTool:
    """The tool as a model may call it, for the run whose node asks the model."""

    async def run(call: RouteCall, arguments: dict[str, JsonValue]) -> Any:
        asked = NamedCall(
            tool=tool.name, input=arguments, owner=call.owner, key=call.idempotency_key
        )
        problem = ""
        try:
            return await tool.call(asked)
        except RouteError as error:
            problem = error.message
        raise ToolFailed(problem)

    return BridgeTool(name=tool.name, description=tool.description, schema=tool.schema, run=run)


def _refuse_route(entry: str, about: str) -> Handler:
    def refuse(_call: RouteCall) -> JsonValue:
        raise RouteError(
            501, "route_unavailable",
            f"{entry} {about}, which the local platform does not: run the flow on a platform that "
            "has the route (--base-url)",
        )  # fmt: skip

    return refuse
