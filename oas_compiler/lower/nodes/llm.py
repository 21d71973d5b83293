"""LlmNode, also as WayFlow extends it, and the node whose way out a model chooses."""

from __future__ import annotations

from cinatra_sdk.flow.nodes.choice import ModelChoice
from cinatra_sdk.flow.nodes.llm import LlmMessages, LlmQuestion
from oas_compiler.ir import ExtendedLlmNode, LlmNode
from oas_compiler.kinds.plugin_choice import PluginChoiceNode
from oas_compiler.lower.registry import PlanSite


def lower_llm(site: PlanSite) -> LlmQuestion:
    node = site.node
    assert isinstance(node, LlmNode)
    if isinstance(node, ExtendedLlmNode):
        return LlmMessages(
            prompt=node.prompt_template,
            llm=node.llm_config,
            before=node.before,
            says=node.says,
            first_turn=node.first_turn,
            attached=node.attached,
        )
    return LlmQuestion(
        prompt=node.prompt_template,
        llm=node.llm_config,
        first_turn=node.first_turn,
        attached=node.attached,
    )


def lower_choice(site: PlanSite) -> ModelChoice:
    node = site.node
    assert isinstance(node, PluginChoiceNode)
    return ModelChoice(
        prompt=node.prompt_template,
        llm=node.llm_config,
        choices=node.choices,
        most_tokens=node.most_tokens,
    )
