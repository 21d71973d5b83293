"""Files uploaded to the providers of models, one class for each provider.

file.py             `FileToUpload` in, `CachedFile` out: the one method that all have
openai_files.py     OpenAI's files
anthropic_files.py  Anthropic's files, which are in beta
gemini_files.py     Gemini's resumable upload, and the wait until a file can be used
choosing.py         the one for a model, under the model's key
client.py           one exchange with a provider: what is sent, and what may be told of a failure
multipart.py        the body of a form with one file, which is never whole in memory

A store's ports (`cinatra_sdk.store.attachments`) call these; a host lends one for each provider whose
key it has.  No key is in an error, a log or a repr.
"""

from __future__ import annotations

from cinatra_sdk.models.uploads.anthropic_files import AnthropicFiles
from cinatra_sdk.models.uploads.choosing import open_provider_files
from cinatra_sdk.models.uploads.client import UploadFailed
from cinatra_sdk.models.uploads.file import FileToUpload, ProviderFiles
from cinatra_sdk.models.uploads.gemini_files import GeminiFiles
from cinatra_sdk.models.uploads.openai_files import OpenAiFiles

__all__ = [
    "FileToUpload",
    "ProviderFiles",
    "OpenAiFiles",
    "AnthropicFiles",
    "GeminiFiles",
    "UploadFailed",
    "open_provider_files",
]
