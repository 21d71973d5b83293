"""Language models: connected, scripted for tests, recorded; and files uploaded to their providers.

    from cinatra_sdk.models import ScriptedModel, ScriptedReply

The rooms behind it: `outside/models/`, and `outside/models/uploads.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.light_imports.public_names import import_on_use

if TYPE_CHECKING:
    from cinatra_sdk.outside.models.clients import Models, connect_model
    from cinatra_sdk.outside.models.config import ModelConfig
    from cinatra_sdk.outside.models.model_scripts import AskedModel, ScriptedModel, ScriptedReply
    from cinatra_sdk.outside.models.recordings import RecordingModel, ReplayingModel
    from cinatra_sdk.outside.models.totals import ModelUsage, NodeUsage
    from cinatra_sdk.outside.models.uploads import (
        AnthropicFiles,
        FileToUpload,
        GeminiFiles,
        OpenAiFiles,
        ProviderFiles,
        UploadFailed,
        open_provider_files,
    )

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
    "AskedModel": "outside.models.model_scripts",
    "FileToUpload": "outside.models.uploads",
    "ProviderFiles": "outside.models.uploads",
    "OpenAiFiles": "outside.models.uploads",
    "AnthropicFiles": "outside.models.uploads",
    "GeminiFiles": "outside.models.uploads",
    "UploadFailed": "outside.models.uploads",
    "open_provider_files": "outside.models.uploads",
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
    "AskedModel",
    "FileToUpload",
    "ProviderFiles",
    "OpenAiFiles",
    "AnthropicFiles",
    "GeminiFiles",
    "UploadFailed",
    "open_provider_files",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_on_use(__name__, _LATER)
