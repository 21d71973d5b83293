"""The bytes that LangChain's chat models send to a provider, with and without files.

What they say is what the providers' documents ask for; the order of the keys is that of each client.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, SystemMessage

from cinatra_sdk.attachments import (
    ChatTurn,
    PreparedTurns,
    model_arguments,
    prepare_turns,
    write_blocks,
)
from tests.attachments.samples import RecordingPorts, ref
from tests.platform.loopback_server import LoopbackServer, Reply

GOLDEN = Path(__file__).parent / "golden"
MODELS = {"openai": "gpt-5", "anthropic": "claude-opus-4", "gemini": "gemini-2.5-pro"}
URI = "https://g.example/v1beta/files/1"


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    loopback = LoopbackServer()
    # The clients are not to like the answer: what they sent is what counts.
    loopback.replies = [Reply(status=400, body=b'{"error": {"message": "no"}}')]
    yield loopback
    loopback.close()


def prepare(provider: str, *, files: bool) -> PreparedTurns:
    ports = RecordingPorts(uploads={"a1": URI if provider == "gemini" else "file-1"})
    turn = ChatTurn(role="user", text="Sum up.")
    refs = [ref()] if files else []
    return prepare_turns(
        "Be brief.", [turn], request_refs=refs, provider=provider, model=MODELS[provider], ports=ports
    )  # fmt: skip


def connect(provider: str, url: str, **more: Any) -> Any:
    if provider == "openai":
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(model="gpt-5", api_key="k", base_url=url, max_retries=0, **more)
    if provider == "anthropic":
        package = pytest.importorskip("langchain_anthropic", reason="the extra anthropic")
        return package.ChatAnthropic(
            model="claude-opus-4", api_key="k", base_url=url, max_retries=0, max_tokens=9
        )
    package = pytest.importorskip("langchain_google_genai", reason="the extra google")
    return package.ChatGoogleGenerativeAI(
        model="gemini-2.5-pro", google_api_key="k", base_url=url, max_retries=0, temperature=0
    )


def send(server: LoopbackServer, provider: Any, *, files: bool, **more: Any) -> bytes:
    model, prepared = connect(provider, server.url, **more), prepare(provider, files=files)
    (turn,) = prepared.turns
    asked = [
        SystemMessage(prepared.system),
        HumanMessage(write_blocks(provider, turn.text, turn.parts)),
    ]
    # Whatever the client makes of the refusal.
    with pytest.raises(Exception, match=r"400|no"):
        model.bind(**model_arguments(provider, turn.parts)).invoke(asked)
    return server.last.body


@pytest.mark.parametrize("files", [False, True], ids=["without files", "with a file"])
@pytest.mark.parametrize("form", ["chat", "responses"])
def test_openai_gets_these_bytes(server: LoopbackServer, form: str, files: bool) -> None:
    sent = send(server, "openai", files=files, use_responses_api=form == "responses")
    name = f"openai_{form}{'_with_file' if files else ''}.json"
    assert sent == (GOLDEN / name).read_bytes().strip()


@pytest.mark.parametrize("files", [False, True], ids=["without files", "with a file"])
@pytest.mark.parametrize("provider", ["anthropic", "gemini"])
def test_the_others_get_these_bytes(server: LoopbackServer, provider: str, files: bool) -> None:
    sent = send(server, provider, files=files)
    name = f"{provider}{'_with_file' if files else ''}.json"
    assert sent == (GOLDEN / name).read_bytes().strip()
    if provider == "anthropic":
        said = server.last.headers.get("anthropic-beta")
        assert said == ("files-api-2025-04-14" if files else None)


@pytest.mark.parametrize("form", ["chat", "responses"])
def test_a_request_without_files_is_that_of_a_program_that_knows_no_files(
    server: LoopbackServer, form: str
) -> None:
    responses = form == "responses"
    with_feature = send(server, "openai", files=False, use_responses_api=responses)
    plain = connect("openai", server.url, use_responses_api=responses)
    with pytest.raises(Exception, match=r"400|no"):
        plain.invoke([SystemMessage("Be brief."), HumanMessage("Sum up.")])
    assert server.last.body == with_feature
