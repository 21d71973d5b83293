"""PluginChoiceNode: its settings, read from the IR."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.nodes.choice import ChoiceSettings, make_choice
from oas_compiler.kinds.plugin_choice import SAID, SELECTED, STEPS, PluginChoiceNode
from oas_compiler.lower.nodes.llm import make_render, read_model_settings
from oas_compiler.lower.registry import LoweringSite


def lower_choice(site: LoweringSite) -> NodeBody:
    node = site.node
    assert isinstance(node, PluginChoiceNode)
    model = read_model_settings(site, node.llm_config)
    parameters = {**model.config.parameters, "max_tokens": node.most_tokens}
    steps = [
        {"step_name": branch, "description": description, "displayed_step_name": shown}
        for branch, description, shown in node.choices
    ]
    render = make_render(site.frame, node.prompt_template, "prompt")

    def ask(values: Mapping[str, Any]) -> str:
        return render({**values, STEPS: steps})

    settings = ChoiceSettings(
        render=ask,
        model=replace(model, config=replace(model.config, parameters=parameters)),
        ways=tuple((shown, branch) for branch, _, shown in node.choices),
        selected=SELECTED,
        said=SAID,
    )
    return make_choice(site.frame, settings)
