"""Chat models behind one seam: what a flow file names, what a host lends, what is asked.

attempts.py       tries, and the time between them; what a client's error says
clients.py        providers: their packages, their keys, their names of parameters; the model that
                  answers: lent by the host, or connected
config.py         `ModelConfig`: the model as the file names it; read from an LlmConfig
model_scripts.py  `ScriptedModel`, the double for tests
question.py       one question, its answer as outputs: text, or an object by schema, mended once;
                  one turn of a conversation with a model that may call tools
recordings.py     `RecordingModel`, `ReplayingModel`: answers kept in a file
totals.py         `ModelUsage`: what the models of a run used up, and its price
uploads/       files uploaded to providers, for questions that name them

Each name is imported on first use: reading a config must not load LangChain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.public_names import import_on_use

if TYPE_CHECKING:
    from cinatra_sdk.outside.models.clients import Models, connect_model
    from cinatra_sdk.outside.models.config import ModelConfig
    from cinatra_sdk.outside.models.model_scripts import ScriptedModel, ScriptedReply
    from cinatra_sdk.outside.models.recordings import RecordingModel, ReplayingModel
    from cinatra_sdk.outside.models.totals import ModelUsage, NodeUsage

_LATER: Final = {
    "ModelConfig": "outside.models.config",
    "Models": "outside.models.clients",
    "connect_model": "outside.models.clients",
    "ScriptedModel": "outside.models.model_scripts",
    "ScriptedReply": "outside.models.model_scripts",
    "RecordingModel": "outside.models.recordings",
    "ReplayingModel": "outside.models.recordings",
    "ModelUsage": "outside.models.totals",
    "NodeUsage": "outside.models.totals",
}

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

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_on_use(__name__, _LATER)
