"""Writes variables of a flow, then reads some.

    writes {"seen": "insert"}, the variable ["a"], the input "b"   ->   the variable ["a", "b"]

A variable comes in by the port `variable seen`, and goes out by it to the next node that has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.plan import NodeWork
from cinatra_sdk.flow.site import NodeSite
from cinatra_sdk.values.references import VARIABLE_INSERT, VARIABLE_OVERWRITE, VARIABLE_PORT


@dataclass(frozen=True, slots=True, kw_only=True)
class Variables(NodeWork):
    """Writes variables, then puts out some."""

    kind: ClassVar[str] = "PluginVariableNode"
    writes: Mapping[str, str] = field(default_factory=dict)
    """Variable → `overwrite`, `merge` or `insert`."""
    reads: tuple[str, ...] = ()

    def make_body(self, site: NodeSite) -> NodeBody:
        frame = site.frame

        def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
            given = frame.gather(state)
            written = {
                title: _write(frame, title, operation, given)
                for title, operation in self.writes.items()
            }
            out = {VARIABLE_PORT + title: value for title, value in written.items()}
            for title in self.reads:
                out[title] = written[title] if title in written else given[VARIABLE_PORT + title]
            return frame.finish(state, out)

        return NodeBody(run=run, computes=True)


def _write(frame: Frame, title: str, operation: str, given: Mapping[str, Any]) -> Any:
    """What the variable holds afterwards."""
    value = given[title]
    if operation == VARIABLE_OVERWRITE:
        return value
    before, inserts = given[VARIABLE_PORT + title], operation == VARIABLE_INSERT
    if inserts and isinstance(before, list):
        return [*before, value]
    if not inserts and isinstance(before, list) and isinstance(value, list):
        return [*before, *value]
    if not inserts and isinstance(before, dict) and isinstance(value, dict):
        return {**before, **value}
    raise frame.failed(
        f"variable '{title}' cannot take this value by \"{operation}\"",
        hint="give the variable an empty list, or an empty object, as its default",
    )
