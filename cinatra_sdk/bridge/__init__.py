"""`POST /api/llm-bridge`: the route through which a flow of Cinatra asks a language model.

body.py       the request, read strictly;  user.py  its text and attachments (a seam)
offered.py    the models that a host offers;  choosing.py  which one answers, or why none does
scripted.py   models that answer from a file, offline;  standing_in.py  those of LlmNodes and Agents, too
toolboxes.py  the tools that a host lets the model call
talking.py    the conversation: steps, calls of tools, the answer by its schema, mended once
route.py      `LlmBridge`, the function of the route

    bridge = LlmBridge(Offer.of([ModelConfig(type="LlmConfig", provider="openai", model="gpt-5-mini")]))
    RoutedPlatform({"POST /api/llm-bridge": bridge})

Source: the contract of Cinatra's platform; docs/bridge.md describes it.
"""

from __future__ import annotations

from cinatra_sdk.bridge.offered import Offer, OfferedModel
from cinatra_sdk.bridge.route import LlmBridge
from cinatra_sdk.bridge.scripted import ScriptFile
from cinatra_sdk.bridge.toolboxes import BridgeTool, Toolbox

__all__ = ["LlmBridge", "Offer", "OfferedModel", "ScriptFile", "BridgeTool", "Toolbox"]
