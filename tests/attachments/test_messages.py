"""Files in a conversation of LangChain's messages."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from cinatra_sdk.attachments import (
    AttachedMessages,
    AttachmentRefInvalid,
    aattach_files,
    attach_files,
)
from tests.attachments.samples import AwaitedPorts, RecordingPorts, ref, wire

FILE = {"type": "file", "file_id": "file-a1", "mime_type": "application/pdf"}


def attach(messages: list[BaseMessage], **more: Any) -> AttachedMessages:
    given: dict[str, Any] = {"provider": "openai", "model": "gpt-5", "ports": RecordingPorts()}
    return attach_files(messages, **given | more)


def asked() -> list[BaseMessage]:
    return [SystemMessage("Be brief."), HumanMessage("Sum up.")]


def test_the_files_of_a_request_stand_in_the_last_message_of_the_person() -> None:
    messages = [*asked(), AIMessage("Of what?")]
    attached = attach(messages, request_refs=[ref()])
    assert attached.messages[0] is messages[0]
    assert attached.messages[1].content == [{"type": "text", "text": "Sum up."}, FILE]
    assert attached.messages[2] is messages[2]
    assert attached.arguments == {}
    assert messages[1].content == "Sum up.", "the caller's own message is left alone"


def test_a_message_of_a_person_may_bring_its_own_refs() -> None:
    own = HumanMessage("This.", additional_kwargs={"attachments": [wire()]})
    attached = attach([own, AIMessage("Yes?"), HumanMessage("Sum up.")])
    assert attached.messages[0].content == [{"type": "text", "text": "This."}, FILE]
    assert attached.messages[2].content == "Sum up."


@pytest.mark.parametrize("position", ["before", "after"])
def test_what_cannot_be_read_is_said_in_the_system_message(position: Any) -> None:
    attached = attach(asked(), request_refs=[ref(mime="application/zip")], position=position)
    system = str(attached.messages[0].content)
    note, brief = system.index("[ATTACHMENTS"), system.index("Be brief.")
    assert (note < brief) == (position == "before")
    assert attached.messages[1].content == "Sum up."


def test_a_conversation_without_a_system_message_gets_one_for_the_note() -> None:
    attached = attach([HumanMessage("Sum up.")], request_refs=[ref()], ports=None)
    assert [message.type for message in attached.messages] == ["system", "human"]
    assert "resolver unavailable for this run" in str(attached.messages[0].content)


def test_anthropic_is_told_that_there_are_files() -> None:
    betas = ["mcp-client-2025-11-20"]
    about: dict[str, Any] = {"provider": "anthropic", "model": "claude-3", "betas": betas}
    attached = attach(asked(), request_refs=[ref()], **about)
    assert attached.arguments == {"betas": ["mcp-client-2025-11-20", "files-api-2025-04-14"]}
    assert attach(asked(), **about).arguments == {}


def test_the_names_of_files_for_a_provider_lead_to_it() -> None:
    ports = RecordingPorts(uploads={"a1": "https://g.example/1"})
    attached = attach(
        asked(), request_refs=[ref()], provider="google", model="gemini-2.5-pro", ports=ports
    )
    content: Any = attached.messages[1].content
    assert content[1]["file_id"] == "https://g.example/1"


def test_a_server_that_only_speaks_as_openai_does_gets_no_files_and_a_note() -> None:
    attached = attach(asked(), request_refs=[ref()], provider="openai_compatible")
    assert "of openai_compatible reads no attached files" in str(attached.messages[0].content)
    assert attached.messages[1].content == "Sum up."


@pytest.mark.parametrize("ports", [RecordingPorts(), None])
def test_without_refs_the_messages_are_the_same_and_nobody_is_asked(ports: Any) -> None:
    messages = asked()
    attached = attach(messages, ports=ports)
    assert all(now is before for now, before in zip(attached.messages, messages, strict=True))
    assert attached.arguments == {}
    assert ports is None or ports.calls == []


def test_it_is_the_same_on_an_event_loop() -> None:
    inner = RecordingPorts()
    about: Any = {"provider": "openai", "model": "gpt-5", "request_refs": [ref(), ref(mime="a/b")]}
    awaited = asyncio.run(aattach_files(asked(), ports=AwaitedPorts(inner), **about))
    assert awaited == attach(asked(), **about)
    untouched = asyncio.run(aattach_files(asked(), provider="openai", model="gpt-5"))
    assert untouched == AttachedMessages(messages=asked())


def test_refs_of_a_message_are_read_strictly() -> None:
    broken = HumanMessage("This.", additional_kwargs={"attachments": [wire(size="5")]})
    with pytest.raises(AttachmentRefInvalid, match=r"attachments\[0\].size"):
        attach([broken])


def test_blocks_that_a_message_has_already_stay_before_its_files() -> None:
    picture = {"type": "image", "url": "https://x.example/1.png"}
    messages: Any = [
        SystemMessage([{"type": "text", "text": "Be brief."}]),
        HumanMessage([{"type": "text", "text": "Sum up."}, picture]),
    ]
    attached = attach(messages, request_refs=[ref()])
    assert attached.messages[1].content == [{"type": "text", "text": "Sum up."}, picture, FILE]
    noted = attach(messages, request_refs=[ref()], ports=None)
    content: Any = noted.messages[0].content
    assert content[0]["text"].startswith("[ATTACHMENTS")
    assert content[1] == {"type": "text", "text": "Be brief."}
