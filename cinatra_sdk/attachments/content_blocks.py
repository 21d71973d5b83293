"""Files of a provider as content blocks of LangChain's messages, and as parts of the provider's requests.

    HumanMessage(write_blocks("openai", "Sum up.", parts))
        content  [{"type": "text", "text": "Sum up."},
                  {"type": "file", "file_id": "file-1", "mime_type": "application/pdf"}]
    HumanMessage(write_blocks("openai", "Sum up.", ()))
        content  "Sum up."

The blocks are LangChain's standard blocks for a file that the provider has; its chat models turn them into
the parts below.  `model_arguments` gives the arguments that a model needs besides the messages.

`ChatOpenAI` writes `input_file` only where it speaks the Responses API, and `file` in chat completions;
OpenAI takes both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.attachments.provider_capabilities import NativeKind, Provider
from cinatra_sdk.attachments.uploads import FilePart

# ----------------------------------------------------------------------------
# Files of a provider as the parts of its own requests.
#
#     `write_content("openai", "Sum up.", parts)`
#         `[{"type": "input_text", "text": "Sum up."}, {"type": "input_file", "file_id": "file-1"}]`
#     `write_content("openai", "Sum up.", ())`
#         "Sum up."
#
# Without parts the request is the same as without attachments.  The text comes first, then the files in their
# order.  Parts of another provider are left out: they would name files that this provider lacks.


FILES_BETA: Final = "files-api-2025-04-14"
"""Anthropic's word for requests with uploaded files."""

NATIVE_KINDS: Final[Mapping[Provider, NativeKind]] = MappingProxyType(
    {
        "openai": "openai_input_file",
        "anthropic": "anthropic_document",
        "gemini": "gemini_file_data",
    }
)


def own_parts(provider: Provider, parts: Sequence[FilePart]) -> tuple[FilePart, ...]:
    """The parts that the provider has, in their order."""
    return tuple(part for part in parts if part.native_kind == NATIVE_KINDS[provider])


def write_content(
    provider: Provider, text: str, parts: Sequence[FilePart]
) -> str | list[dict[str, JsonValue]]:
    """The content of a user's turn; for Gemini a list also where no file is in it.

    A text without a word is left out beside files: Anthropic and Gemini refuse it.
    """
    mine = own_parts(provider, parts)
    if not mine and provider != "gemini":
        return text
    write_text, write_file = _FORMS[provider]
    words = [write_text(text)] if text.strip() or not mine else []
    return [*words, *(write_file(part) for part in mine)]


def list_betas(parts: Sequence[FilePart], others: Sequence[str] = ()) -> tuple[str, ...]:
    """Anthropic's `betas` of a request: the `others`, such as `mcp-client-2025-11-20`, and that of
    files where a document is in it; each once.
    """
    of_files = [FILES_BETA] if own_parts("anthropic", parts) else []
    return tuple(dict.fromkeys([*others, *of_files]))


def _write_openai_text(text: str) -> dict[str, JsonValue]:
    return {"type": "input_text", "text": text}


def _write_openai_file(part: FilePart) -> dict[str, JsonValue]:
    return {"type": "input_file", "file_id": part.provider_file_id}


def _write_anthropic_text(text: str) -> dict[str, JsonValue]:
    return {"type": "text", "text": text}


def _write_anthropic_file(part: FilePart) -> dict[str, JsonValue]:
    return {"type": "document", "source": {"type": "file", "file_id": part.provider_file_id}}


def _write_gemini_text(text: str) -> dict[str, JsonValue]:
    return {"text": text}


def _write_gemini_file(part: FilePart) -> dict[str, JsonValue]:
    return {"fileData": {"mimeType": part.mime, "fileUri": part.provider_file_id}}


_Form = tuple[Callable[[str], dict[str, JsonValue]], Callable[[FilePart], dict[str, JsonValue]]]
_FORMS: Final[Mapping[Provider, _Form]] = {
    "openai": (_write_openai_text, _write_openai_file),
    "anthropic": (_write_anthropic_text, _write_anthropic_file),
    "gemini": (_write_gemini_text, _write_gemini_file),
}


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
    """The arguments of `model.bind(…)` for a request with these parts; empty where none are needed.

    betas: the betas that the model has already, because `bind` replaces them.
    """
    if provider == "anthropic" and own_parts(provider, parts):
        return {"betas": list(list_betas(parts, betas))}
    return {}
