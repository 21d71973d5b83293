"""Files uploaded to the providers of models, one class for each provider.

upload_clients.py  the files of Anthropic, Gemini and OpenAI; the client for a model, under its key
upload_request.py  one exchange with a provider; `ProviderFiles`, the protocol of all clients

A store's ports (`cinatra_sdk.store.artifacts.attachment_store`) call these; a host lends one for each provider whose
key it has.  No key is in an error, a log or a repr.
"""

from __future__ import annotations

from cinatra_sdk.outside.models.uploads.upload_clients import (
    AnthropicFiles,
    GeminiFiles,
    OpenAiFiles,
    open_provider_files,
)
from cinatra_sdk.outside.models.uploads.upload_request import (
    FileToUpload,
    ProviderFiles,
    UploadFailed,
)

__all__ = [
    "FileToUpload",
    "ProviderFiles",
    "OpenAiFiles",
    "AnthropicFiles",
    "GeminiFiles",
    "UploadFailed",
    "open_provider_files",
]
