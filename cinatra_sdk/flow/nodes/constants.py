"""Fixed values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.plan import NodeWork
from cinatra_sdk.flow.site import NodeSite
from cinatra_sdk.values.json_text import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants(NodeWork):
    """Puts out the same values in each run."""

    kind: ClassVar[str] = "PluginConstantValuesNode"
    values: Json
    """Output → value."""

    def make_body(self, site: NodeSite) -> NodeBody:
        frame, values = site.frame, self.values

        def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
            return frame.finish(state, values.mapping())

        return NodeBody(run=run, computes=True)
