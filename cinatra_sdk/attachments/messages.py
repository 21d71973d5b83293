"""A conversation of LangChain's messages with the files that go with it.

    attach_files([SystemMessage("Be brief."), HumanMessage("Sum up.")], provider="openai",
                 model="gpt-5", request_refs=refs, ports=ports)
        -> AttachedMessages(messages=[SystemMessage("Be brief."), HumanMessage([text, file])],
                            arguments={})

For nodes that ask a chat model: LlmNode, the steps of an agent.  A person's message may bring refs of its
own under `additional_kwargs["attachments"]`, as JSON; so a conversation is stored with refs and never
with the files of a provider, which would soon be gone.  Without any ref the messages come back as they
are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from cinatra_sdk.attachments.blocks import model_arguments, write_blocks, write_file_blocks
from cinatra_sdk.attachments.capabilities import RULES, CapabilityRule, Provider, find_provider
from cinatra_sdk.attachments.manifest import ManifestPosition, place_manifest, write_manifest
from cinatra_sdk.attachments.parts import NATIVE_KINDS
from cinatra_sdk.attachments.ports import AsyncAttachmentPorts, AttachmentPorts
from cinatra_sdk.attachments.refs import AttachmentRef, read_refs
from cinatra_sdk.attachments.resolving import FilePart
from cinatra_sdk.attachments.turns import ChatTurn, PreparedTurns, aprepare_turns, prepare_turns

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

ATTACHMENTS: Final = "attachments"
"""Key of a message's `additional_kwargs` that holds its refs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedMessages:
    """What a chat model is asked."""

    messages: list[BaseMessage]
    arguments: dict[str, Any] = field(default_factory=dict)
    """For `model.bind`; empty where nothing has to be said beside the messages."""


def attach_files(
    messages: Sequence[BaseMessage],
    *,
    provider: str,
    model: str,
    request_refs: Sequence[AttachmentRef] = (),
    ports: AttachmentPorts | None = None,
    betas: Sequence[str] = (),
    position: ManifestPosition = "before",
    rules: Sequence[CapabilityRule] = RULES,
) -> AttachedMessages:
    """The messages with their files as content blocks, and the note about files that cannot be read.

    provider: as a flow's file calls it; a server that only speaks as OpenAI does reads no files.
    betas:    what the model says to Anthropic already.

    Raises: `AttachmentRefInvalid` for refs of a message.
    """
    turns, name = _read_turns(messages), find_provider(provider)
    prepared = prepare_turns(
        None, turns, request_refs=request_refs, provider=name, model=model, ports=ports, rules=rules
    )
    return _write_messages(messages, prepared, name, betas, position)


async def aattach_files(
    messages: Sequence[BaseMessage],
    *,
    provider: str,
    model: str,
    request_refs: Sequence[AttachmentRef] = (),
    ports: AsyncAttachmentPorts | AttachmentPorts | None = None,
    betas: Sequence[str] = (),
    position: ManifestPosition = "before",
    rules: Sequence[CapabilityRule] = RULES,
) -> AttachedMessages:
    """As `attach_files`, for an event loop."""
    turns, name = _read_turns(messages), find_provider(provider)
    prepared = await aprepare_turns(
        None, turns, request_refs=request_refs, provider=name, model=model, ports=ports, rules=rules
    )
    return _write_messages(messages, prepared, name, betas, position)


def _read_turns(messages: Sequence[BaseMessage]) -> list[ChatTurn]:
    """One turn for each message; only a person's carry files."""
    return [
        ChatTurn(
            role="user" if message.type == "human" else "assistant",
            text=str(message.text),
            attachments=read_refs(message.additional_kwargs.get(ATTACHMENTS, ())),
        )
        for message in messages
    ]


def _write_messages(
    messages: Sequence[BaseMessage],
    prepared: PreparedTurns,
    provider: str,
    betas: Sequence[str],
    position: ManifestPosition,
) -> AttachedMessages:
    written: list[BaseMessage] = []
    arguments: dict[str, Any] = {}
    known = _as_known(provider)
    for message, turn in zip(messages, prepared.turns, strict=True):
        if known is not None and turn.parts:
            update = {"content": _write_content(message, known, turn.parts)}
            written.append(message.model_copy(update=update))
            arguments |= model_arguments(known, turn.parts, betas=betas)
        else:
            written.append(message)
    note = write_manifest(prepared.unreadable)
    return AttachedMessages(messages=_place_note(written, note, position), arguments=arguments)


def _write_content(message: BaseMessage, provider: Provider, parts: Sequence[FilePart]) -> object:
    """Text and files; of a message that has blocks already only the files are new."""
    if isinstance(message.content, str):
        return write_blocks(provider, message.content, parts)
    return [*message.content, *write_file_blocks(provider, parts)]


def _as_known(provider: str) -> Provider | None:
    return next((known for known in NATIVE_KINDS if known == provider), None)


def _place_note(
    messages: list[BaseMessage], note: str | None, position: ManifestPosition
) -> list[BaseMessage]:
    """The note in the first system message; in one of its own where there is none."""
    from langchain_core.messages import SystemMessage  # late: reading refs needs no LangChain

    if note is None:
        return messages
    first = messages[0] if messages else None
    if first is None or first.type != "system":
        return [SystemMessage(note), *messages]
    system: Any
    if isinstance(first.content, str):
        system = place_manifest(first.content, note, position=position)
    else:
        block = [{"type": "text", "text": note}]
        system = [*block, *first.content] if position == "before" else [*first.content, *block]
    return [first.model_copy(update={"content": system}), *messages[1:]]
