"""Chat models behind one seam: what a flow file names, what a host lends, what is asked.

config.py      `ModelConfig`: the model as the file names it;  reading.py  read from an LlmConfig
choosing.py    the model that answers: lent by the host, or connected
connecting.py  providers: their packages, their keys, their names of parameters
asking.py      one question, its answer as outputs: text, or an object by schema, mended once
talking.py     one turn of a conversation with a model that may call tools
retrying.py    tries, and the time between them;  failures.py  what a client's error says
scripted.py    `ScriptedModel`, the double for tests
recorded.py    `RecordingModel`, `ReplayingModel`: answers kept in a file
totals.py      `ModelUsage`: what the models of a run used up, and its price
uploads/       files uploaded to providers, for questions that name them

Each name is imported on first use: reading a config must not load LangChain.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from cinatra_sdk.models.choosing import Models
    from cinatra_sdk.models.config import ModelConfig
    from cinatra_sdk.models.connecting import connect_model
    from cinatra_sdk.models.recorded import RecordingModel, ReplayingModel
    from cinatra_sdk.models.scripted import ScriptedModel, ScriptedReply
    from cinatra_sdk.models.totals import ModelUsage, NodeUsage

__all__ = [
    "ModelConfig",
    "Models",
    "connect_model",
    "ScriptedModel",
    "ScriptedReply",
    "RecordingModel",
    "ReplayingModel",
    "ModelUsage",
    "NodeUsage",
]

_LATER: Final = {
    "ModelConfig": "config",
    "Models": "choosing",
    "connect_model": "connecting",
    "ScriptedModel": "scripted",
    "ScriptedReply": "scripted",
    "RecordingModel": "recorded",
    "ReplayingModel": "recorded",
    "ModelUsage": "totals",
    "NodeUsage": "totals",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"cinatra_sdk.models.{_LATER[name]}"), name)
