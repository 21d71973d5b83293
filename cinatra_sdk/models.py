"""Language models: connected, scripted for tests, recorded; and files uploaded to their providers.

    from cinatra_sdk.models import ScriptedModel, ScriptedReply

The rooms behind it: `outside/models/`, and `outside/models/uploads.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.public_names import import_on_use

if TYPE_CHECKING:
    from cinatra_sdk.outside.models import (
        ModelConfig,
        Models,
        ModelUsage,
        NodeUsage,
        RecordingModel,
        ReplayingModel,
        ScriptedModel,
        ScriptedReply,
        connect_model,
    )
    from cinatra_sdk.outside.models.model_scripts import AskedModel
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
    "ModelConfig": "outside.models",
    "Models": "outside.models",
    "connect_model": "outside.models",
    "ScriptedModel": "outside.models",
    "ScriptedReply": "outside.models",
    "RecordingModel": "outside.models",
    "ReplayingModel": "outside.models",
    "ModelUsage": "outside.models",
    "NodeUsage": "outside.models",
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
