"""Files as the parts of a provider's request, and as LangChain's content blocks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from cinatra_sdk.attachments import (
    FilePart,
    list_betas,
    model_arguments,
    write_blocks,
    write_content,
)
from tests.attachments.samples import ref, vectors

MCP = "mcp-client-2025-11-20"


def parts_of(row: dict[str, Any]) -> list[FilePart]:
    return [
        FilePart(ref=ref(), native_kind=kind, provider_file_id=file_id, mime=mime)
        for kind, file_id, mime in row["parts"]
    ]


@pytest.mark.parametrize("row", vectors("parts"))
def test_each_row_of_the_vectors_is_written_byte_by_byte(row: dict[str, Any]) -> None:
    content = write_content(row["provider"], "Sum up.", parts_of(row))
    assert json.dumps(content) == json.dumps(row["content"])
    blocks = write_blocks(row["provider"], "Sum up.", parts_of(row))
    assert json.dumps(blocks) == json.dumps(row["blocks"])


@pytest.mark.parametrize("row", [row for row in vectors("parts") if "betas" in row.values[0]])
def test_the_word_for_files_is_said_only_where_there_are_documents(row: dict[str, Any]) -> None:
    parts = parts_of(row)
    assert list_betas(parts) == tuple(row["betas"])
    assert list_betas(parts, [MCP]) == tuple(row["mcp"])
    expected = {"betas": row["mcp"]} if row["betas"] else {}
    assert model_arguments("anthropic", parts, betas=[MCP]) == expected


def test_a_word_that_is_said_already_is_said_once() -> None:
    parts = parts_of({"parts": [["anthropic_document", "file-1", "application/pdf"]]})
    assert list_betas(parts, ["files-api-2025-04-14", MCP]) == ("files-api-2025-04-14", MCP)


@pytest.mark.parametrize("provider", ["openai", "gemini"])
def test_other_providers_need_no_word(provider: Any) -> None:
    kind = {"openai": "openai_input_file", "gemini": "gemini_file_data"}[provider]
    parts = parts_of({"parts": [[kind, "https://x/1", "application/pdf"]]})
    assert model_arguments(provider, parts) == {}
    assert list_betas(parts) == ()


def test_langchain_takes_the_blocks_for_standard_ones() -> None:
    parts = parts_of({"parts": [["openai_input_file", "file-1", "application/pdf"]]})
    message = HumanMessage(write_blocks("openai", "Sum up.", parts))
    assert [block["type"] for block in message.content_blocks] == ["text", "file"]
