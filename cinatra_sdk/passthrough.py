"""The passthrough: the route by which a flow calls tools and agents of the host by their names.

    from cinatra_sdk.passthrough import ChildAgents, NamedCall

The room behind it: `host/passthrough/`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.public_names import import_on_use

if TYPE_CHECKING:
    from cinatra_sdk.host.passthrough import ChildAgents, NamedCall, NamedTool, Passthrough

_LATER: Final = {
    "Passthrough": "host.passthrough",
    "NamedTool": "host.passthrough",
    "NamedCall": "host.passthrough",
    "ChildAgents": "host.passthrough",
}

__all__ = [
    "Passthrough",
    "NamedTool",
    "NamedCall",
    "ChildAgents",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_on_use(__name__, _LATER)
