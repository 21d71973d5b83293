"""Files of a provider as content blocks of LangChain's messages.

    HumanMessage(write_blocks("openai", "Sum up.", parts))
        content  [{"type": "text", "text": "Sum up."},
                  {"type": "file", "file_id": "file-1", "mime_type": "application/pdf"}]
    HumanMessage(write_blocks("openai", "Sum up.", ()))
        content  "Sum up."

The blocks are LangChain's standard blocks for a file that the provider has; its chat models write them as
`parts.py` says.  What has to be said beside the messages is in `model_arguments`.

`ChatOpenAI` writes `input_file` only where it speaks the Responses API, and `file` in chat completions;
OpenAI takes both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cinatra_sdk.attachments.capabilities import Provider
from cinatra_sdk.attachments.parts import list_betas, own_parts
from cinatra_sdk.attachments.resolving import FilePart


def write_blocks(
    provider: Provider, text: str, parts: Sequence[FilePart]
) -> str | list[str | dict[str, Any]]:
    """The content of a `HumanMessage`; without files of the provider the text itself."""
    return join_blocks(text, write_file_blocks(provider, parts))


def join_blocks(text: str, blocks: Sequence[dict[str, Any]]) -> str | list[str | dict[str, Any]]:
    """The text and the blocks that come with it; without blocks the text itself.

    A text without a word is left out beside blocks: Anthropic and Gemini refuse it.
    """
    if not blocks:
        return text
    return [*([{"type": "text", "text": text}] if text.strip() else []), *blocks]


def write_file_blocks(provider: Provider, parts: Sequence[FilePart]) -> list[dict[str, Any]]:
    """The blocks of the files alone, for whoever writes the text."""
    # All three packages take this block; Gemini's URI stands in `file_id` too.
    return [
        {"type": "file", "file_id": part.provider_file_id, "mime_type": part.mime}
        for part in own_parts(provider, parts)
    ]


def model_arguments(
    provider: Provider, parts: Sequence[FilePart], *, betas: Sequence[str] = ()
) -> dict[str, Any]:
    """What `model.bind(…)` takes for a request with these parts; empty where nothing has to be said.

    betas: what the model says already: `bind` replaces it.
    """
    if provider == "anthropic" and own_parts(provider, parts):
        return {"betas": list(list_betas(parts, betas))}
    return {}
