"""The bridge: the route by which a flow of Cinatra asks a language model of the host.

    from cinatra_sdk.bridge import modelled, owned_by, read_models

The rooms behind it: `host/bridge/`, and `host/model_routes.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.light_imports.public_names import import_on_use

if TYPE_CHECKING:
    from cinatra_sdk.host.bridge.answer_scripts import ScriptFile
    from cinatra_sdk.host.bridge.bridge_route import LlmBridge
    from cinatra_sdk.host.bridge.model_offers import Offer, OfferedModel
    from cinatra_sdk.host.bridge.toolboxes import BridgeTool, Toolbox
    from cinatra_sdk.host.model_routes import make_routes, modelled, owned_by, read_models

_LATER: Final = {
    "LlmBridge": "host.bridge.bridge_route",
    "Offer": "host.bridge.model_offers",
    "OfferedModel": "host.bridge.model_offers",
    "ScriptFile": "host.bridge.answer_scripts",
    "BridgeTool": "host.bridge.toolboxes",
    "Toolbox": "host.bridge.toolboxes",
    "make_routes": "host.model_routes",
    "modelled": "host.model_routes",
    "owned_by": "host.model_routes",
    "read_models": "host.model_routes",
}

__all__ = [
    "LlmBridge",
    "Offer",
    "OfferedModel",
    "ScriptFile",
    "BridgeTool",
    "Toolbox",
    "make_routes",
    "modelled",
    "owned_by",
    "read_models",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_on_use(__name__, _LATER)
