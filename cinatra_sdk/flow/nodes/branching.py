"""Leaves by the branch that a mapping gives for the input's value.

The branch is a total lookup inside the node's body, not a router function: a router that raised
after its node had written would leave the run looking finished.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.plan import NodeWork
from cinatra_sdk.flow.site import NodeSite
from cinatra_sdk.templates.language import json_text

DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Branching(NodeWork):
    """Leaves by the branch for the value of its one input; any other value leaves by `default`."""

    kind: ClassVar[str] = "BranchingNode"
    mapping: Mapping[str, str] = field(default_factory=dict)
    """JSON text of the value, of a text without its quotes → branch."""

    def make_body(self, site: NodeSite) -> NodeBody:
        return make_branching(site.frame, title=site.plan.inputs[0].title, mapping=self.mapping)


def make_branching(frame: Frame, *, title: str, mapping: Mapping[str, str]) -> NodeBody:
    """title: of the input that decides.  mapping: its value, as `key_text` writes it → branch."""

    def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
        branch = mapping.get(key_text(frame.gather(state)[title]), DEFAULT)
        following = frame.routes.get(branch, frame.routes.get(DEFAULT))
        return frame.pass_turn(state, {"out": {}, "branch": branch}, following)

    return NodeBody(run=run, computes=True)


def key_text(value: Any) -> str:
    """The value as mapping keys are written: strings as they are, anything else as JSON text."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json_text(value)
