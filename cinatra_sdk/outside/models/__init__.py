"""Chat models: configured in a file, lent by a host, or scripted.

config.py         `ModelConfig`: the model as the file names it
clients.py        which chat model answers; the clients of the providers, and their keys
question.py       one question, and its answer as the outputs of a node
attempts.py       repeated tries, and the time between them
model_scripts.py  `ScriptedModel`, the double for tests
recordings.py     `RecordingModel`, `ReplayingModel`: answers stored in a file
totals.py         `ModelUsage`: tokens and price of a run
uploads.py        files uploaded to providers, for questions that name them

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
