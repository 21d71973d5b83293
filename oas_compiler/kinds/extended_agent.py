"""ExtendedAgentNode: WayFlow's AgentNode, which may set the agent's outputs and whether the agent asks.

outputs: [{"title": "summary"}], caller_input_mode: "never"
    ->  the agent gives "summary", whatever it declares, and asks nobody
"""

from __future__ import annotations

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.component_facts.component import PLUGIN_FIELDS, Field, Site
from oas_compiler.ir import AgentNode, Node
from oas_compiler.kinds.agent import AGENT, make_agent
from oas_compiler.kinds.kind import NodeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtendedAgentNode(AgentNode):
    """In the IR: an AgentNode, which only its type tells apart."""


def build_extended_agent(site: Site) -> Node:
    asks = site.component.fields.get("caller_input_mode") != "never"
    results = site.declared("outputs") if site.agent is not None else None
    return make_agent(site, ExtendedAgentNode, results=results, asks=asks)


EXTENDED_AGENT = NodeKind(
    component_type="ExtendedAgentNode",
    node=ExtendedAgentNode,
    build=build_extended_agent,
    words="Lets an agent, or a flow in its place, work, and says what it gives.",
    fields={
        **(AGENT.fields or {}),
        **{name: PLUGIN_FIELDS[name] for name in ("input_mapping", "output_mapping")},
        "caller_input_mode": Field("any", "`never`: the agent asks nobody."),
    },
    flows=AGENT.flows,
    passage=AGENT.passage,
    behind=AGENT.behind,
    shows_screens=AGENT.shows_screens,
    caption=AGENT.caption,
    metadata=AGENT.metadata,
    lowering=AGENT.lowering,
)
