"""Files uploaded to the providers of models, one class for each provider.

upload_clients.py  Anthropic's files, which are in beta; Gemini's resumable upload, and the wait
                   until a file can be used; OpenAI's files; the one for a model, under the
                   model's key
upload_request.py  one exchange with a provider: what is sent, and what may be told of a failure;
                   `FileToUpload` in, `CachedFile` out: the one method that all have; the body of
                   a form with one file, which is never whole in memory

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
