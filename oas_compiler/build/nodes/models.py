"""LlmNode and AgentNode: not run yet, but their ports are known, so that edges can be checked.

LlmNode with prompt "About {{ topic }}"   ->  input "topic", output "generated_text": string
AgentNode over an Agent                   ->  the agent's inputs and outputs
"""

from __future__ import annotations

from oas_compiler import ir
from oas_compiler.build.nodes.calls import build_unknown
from oas_compiler.build.nodes.inference import next_only, specialised, template_inputs
from oas_compiler.build.nodes.site import Site, common
from oas_compiler.ir import Json, Port


def build_llm(site: Site) -> ir.Node:
    outputs = site.declared("outputs")
    if outputs is None:
        schema = Json.of({"type": "string"})
        outputs = (Port(title="generated_text", type=ir.STRING, schema=schema, place=site.place()),)
    config = site.component.fields.get("llm_config")
    return ir.LlmNode(
        **common(site),
        inputs=template_inputs(site, "prompt_template"),
        outputs=outputs,
        branches=next_only(site),
        prompt_template=site.component.text("prompt_template"),
        llm_config=Json.of(config) if config is not None else ir.NOTHING,
    )


def build_agent(site: Site) -> ir.Node:
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    agent = site.flow.agents.get(site.component.id)
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
    )
