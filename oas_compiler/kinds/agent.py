"""AgentNode: an agent that works, or a flow in its place; it does not run yet.

over an Agent    ->  the placeholders of its system prompt, and its outputs
"""

from __future__ import annotations

from oas_compiler import ir
from oas_compiler.component.fields import NODE_FIELDS, Field
from oas_compiler.component.inference import specialised, template_inputs
from oas_compiler.component.metadata import CHILD_KEYS, NODE_KEYS
from oas_compiler.component.site import Site, common
from oas_compiler.ir import Json, Port
from oas_compiler.kinds.kind import NodeKind
from oas_compiler.kinds.unknown import build_unknown


def build_agent(site: Site) -> ir.Node:
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    agent = site.behind
    if agent is not None:
        inputs = template_inputs(site, "system_prompt", of=agent)
        outputs = site.declared("outputs", agent) or ()
    elif site.subflows_are_whole:
        inputs, outputs = site.subflows[0].inputs, site.subflows[0].outputs
    else:
        return build_unknown(site)
    declared = site.component.items("branches")
    branches = tuple(name for name in declared or () if isinstance(name, str))
    return ir.AgentNode(
        **common(site),
        inputs=specialised(site, "inputs", inputs, "agent"),
        outputs=specialised(site, "outputs", outputs, "agent"),
        branches=branches or ("next",),
        agent=None if agent is None else Json.of(agent.fields),
        subflow=site.subflows[0] if agent is None else None,
        behind=site.facts_behind,
    )


AGENT = NodeKind(
    component_type="AgentNode",
    node=ir.AgentNode,
    build=build_agent,
    words="Lets an agent, or a flow in its place, work.",
    fields={**NODE_FIELDS, "agent": Field("component", "The agent that works.", required=True)},
    flows=("agent",),
    passage="all",
    behind="agent",
    shows_screens=True,
    metadata={**NODE_KEYS, **CHILD_KEYS},
)
