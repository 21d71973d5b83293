"""PluginVariableNode: writes variables, then reads some."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.frame import Frame
from oas_compiler.kinds.plugin_variable import (
    INSERT,
    OVERWRITE,
    PluginVariableNode,
    name_carrier,
)
from oas_compiler.lower.registry import LoweringSite


def lower_variable(site: LoweringSite) -> NodeBody:
    node, frame = site.node, site.frame
    assert isinstance(node, PluginVariableNode)

    def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
        given = frame.gather(state)
        written = {
            title: _write(frame, title, operation, given) for title, operation in node.writes
        }
        out = {name_carrier(title): value for title, value in written.items()}
        for title in node.reads:
            out[title] = written[title] if title in written else given[name_carrier(title)]
        return frame.finish(state, out)

    return NodeBody(run=run, computes=True)


def _write(frame: Frame, title: str, operation: str, given: Mapping[str, Any]) -> Any:
    """What the variable holds afterwards."""
    value = given[title]
    if operation == OVERWRITE:
        return value
    before = given[name_carrier(title)]
    if operation == INSERT and isinstance(before, list):
        return [*before, value]
    if operation != INSERT and isinstance(before, list) and isinstance(value, list):
        return [*before, *value]
    if operation != INSERT and isinstance(before, dict) and isinstance(value, dict):
        return {**before, **value}
    raise frame.failed(
        f"variable '{title}' cannot take this value by \"{operation}\"",
        hint="give the variable an empty list, or an empty object, as its default",
    )
