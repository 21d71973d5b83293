"""The passthrough: the route by which a flow calls tools and agents of the host by their names.

    from cinatra_sdk.passthrough import ChildAgents, NamedCall

The room behind it: `host/passthrough/`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.light_imports.public_names import import_on_use

if TYPE_CHECKING:
    from cinatra_sdk.host.passthrough.agent_runs import ChildAgents
    from cinatra_sdk.host.passthrough.passthrough_route import NamedCall, NamedTool, Passthrough

_LATER: Final = {
    "Passthrough": "host.passthrough.passthrough_route",
    "NamedTool": "host.passthrough.passthrough_route",
    "NamedCall": "host.passthrough.passthrough_route",
    "ChildAgents": "host.passthrough.agent_runs",
}

__all__ = [
    "Passthrough",
    "NamedTool",
    "NamedCall",
    "ChildAgents",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_on_use(__name__, _LATER)
