"""PluginConstantValuesNode: fixed values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cinatra_sdk.flow.body import NodeBody
from oas_compiler.kinds.plugin_constant_values import PluginConstantValuesNode
from oas_compiler.lower.registry import LoweringSite


def lower_constant_values(site: LoweringSite) -> NodeBody:
    node, frame = site.node, site.frame
    assert isinstance(node, PluginConstantValuesNode)

    def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
        return frame.finish(state, {title: value.value() for title, value in node.constant_values})

    return NodeBody(run=run, computes=True)
