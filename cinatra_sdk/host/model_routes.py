"""The routes of a host with language models: the bridge, and the tools that flows call by name.

    platform = modelled(database, ["openai:gpt-5-mini"], owner=ann)
    standalone(database, settings, beyond=platform)        the same with context slots

A name is `provider:model`, `scripted:FILE`, or the name of a chat model that the host lends.  A script
answers for the models of nodes too (LlmNode, Agent), unless the host lends these.  The description of the
platform holds the names, and of a script its path and digest; another process makes the same platform
from it, with keys of its own environment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from pydantic import JsonValue

from cinatra_sdk.attachments import AsyncAttachmentPorts, AttachmentPorts
from cinatra_sdk.context.candidates import Actor
from cinatra_sdk.contract import ENDED
from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.host.bridge.answer_scripts import ScriptFile, make_standing_model
from cinatra_sdk.host.bridge.bridge_route import ROUTE as BRIDGE_ROUTE
from cinatra_sdk.host.bridge.bridge_route import LlmBridge
from cinatra_sdk.host.bridge.model_offers import Offer, OfferedModel, read_model_name
from cinatra_sdk.host.bridge.request_body import DEFAULT_TOOLBOX
from cinatra_sdk.host.bridge.toolboxes import BridgeTool, Toolbox, ToolFailed
from cinatra_sdk.host.passthrough.agent_runs import ChildAgents
from cinatra_sdk.host.passthrough.host_tools import (
    drafts_tool,
    object_tools,
    plain_tools,
    prompts_tool,
    trigger_tool,
)
from cinatra_sdk.host.passthrough.passthrough_route import ROUTE as PASSTHROUGH_ROUTE
from cinatra_sdk.host.passthrough.passthrough_route import NamedCall, NamedTool, Passthrough
from cinatra_sdk.host_parts.host_parts import NO_PARTS, HostParts, RunIdentity
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.protocol import Platform, PlatformCall
from cinatra_sdk.outside.models.config import ModelConfig
from cinatra_sdk.outside.models.uploads import ProviderFiles, open_provider_files
from cinatra_sdk.outside.routes import (
    Handler,
    RouteCall,
    RoutedPlatform,
    RouteError,
    RunOwner,
)
from cinatra_sdk.postgres.connection import one
from cinatra_sdk.store.artifacts.attachment_store import AttachmentStore
from cinatra_sdk.store.artifacts.object_store import SavedObjects
from cinatra_sdk.store.database import Database

# ----------------------------------------------------------------------------
# Whether the run of a call still goes on, by its row: asked while a model talks for it.
#
# require_going(database)(RunOwner(run_id="r1"))      None; RouteError 409 "run_ended" after a reject


def require_going(database: Database) -> Callable[[RunOwner], None]:
    """Raises: `RouteError`; `StoreError` where the database does not answer."""

    def require(owner: RunOwner) -> None:
        if not owner.run_id:
            return
        with database.connection() as connection:
            row = one(connection, "load_standing", {"run_id": owner.run_id})
        if row is None:  # a run without a store
            return
        if row["rejected_at_gate"] or row["status"] in ENDED:
            status = "rejected" if row["rejected_at_gate"] else row["status"]
            raise RouteError(
                409, "run_ended", f"the run is {status}: its model is not asked, and calls no tool"
            )

    return require


# ----------------------------------------------------------------------------
# The attached files of a database for the bridge: those of the calling run's own tenant.
#
#     lend_files(database, offer)(RunOwner(tenant="acme"), gpt)    the ports of "acme", under gpt's key
#     lend_files(database, offer)(RunOwner(), gpt)                 None: nobody's run reads a file
#
# Nothing is uploaded where the host's own chat model answers: nobody here knows its provider and key.


Ports: TypeAlias = "AttachmentPorts | AsyncAttachmentPorts | None"


def lend_files(
    database: Database, offer: Offer, host: HostParts = NO_PARTS
) -> Callable[[RunOwner, OfferedModel], Ports]:
    """The ports of a run's tenant, which upload to the provider of the chosen model.

    A host that lends `attachments_for` decides in their place, for runs that have a tenant.
    """
    store, own = AttachmentStore(database), host.attachments_for

    def lend(owner: RunOwner, model: OfferedModel) -> Ports:
        if not owner.tenant:
            return None  # also a host's own function could not tell whose files to lend
        if own is not None:
            run = RunIdentity(id=owner.run_id, tenant=owner.tenant, started_by=owner.person)
            return own(run, model.config)
        return store.ports(owner.tenant, _open_files(offer, model))

    return lend


def _open_files(offer: Offer, model: OfferedModel) -> Mapping[str, ProviderFiles]:
    """Empty where this process uploads nothing for the model; the note to the model says so."""
    try:
        if offer.is_lent(model):
            return {}
        return open_provider_files(model.config, offer.find_key(model))
    except NotConfigured:
        return {}


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
    lent = NO_PARTS if host is None else host
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
    return ChildAgents(
        database=database, digests=dict(digests), host=NO_PARTS if host is None else host
    )


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
