"""LlmNode."""

from __future__ import annotations

from cinatra_sdk.flow.nodes.llm import LlmQuestion
from oas_compiler.ir import LlmNode
from oas_compiler.lower.registry import PlanSite


def lower_llm(site: PlanSite) -> LlmQuestion:
    node = site.node
    assert isinstance(node, LlmNode)
    return LlmQuestion(prompt=node.prompt_template, llm=node.llm_config)
