r"""The files of a whole conversation: the turn of each file, and one note for all unreadable files.

    prepare_turns("Be brief.", [ChatTurn(role="user", text="Sum up.")], request_refs=refs,
                  provider="openai", model="gpt-5", ports=ports)
        -> PreparedTurns(system="[ATTACHMENTS: …]\n\nBe brief.",
                         turns=(PreparedTurn(role="user", text="Sum up.", parts=(…)),))

Code that asks a model with a conversation enters here, so that each file is either a part of a turn or a
line of the note.  The bridge, whose requests are one turn, resolves the files of that turn by itself.  A
user's turn keeps its own files.  Files of the request go to the last turn of a user, also where an
assistant's turn follows, and only if that turn has no files of its own.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from pydantic import JsonValue

from cinatra_sdk.attachments.attachment_refs import AttachmentRef, read_refs
from cinatra_sdk.attachments.content_blocks import (
    NATIVE_KINDS,
    model_arguments,
    write_blocks,
    write_file_blocks,
)
from cinatra_sdk.attachments.manifest import ManifestPosition, place_manifest, write_manifest
from cinatra_sdk.attachments.provider_capabilities import (
    RULES,
    CapabilityRule,
    Provider,
    find_provider,
)
from cinatra_sdk.attachments.uploads import (
    AsyncAttachmentPorts,
    AttachmentPorts,
    FilePart,
    Resolved,
    UnreadableFile,
    aresolve_attachments,
    resolve_attachments,
)
from cinatra_sdk.light_imports.records import dataclass

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage


NO_TURN: Final = "the request has no message of a user that could carry the file"
OTHER_FILES: Final = "the last message of the user has attachments of its own"
NOT_A_USER: Final = "only a message of a user can carry files"

SMUGGLED: Final = frozenset({"resolvedAttachments", "resolved_attachments"})
"""Keys that only this package makes; a caller's are taken out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTurn:
    """A message of a conversation, as a caller gives it."""

    role: Literal["user", "assistant"]
    text: str
    attachments: tuple[AttachmentRef, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedTurn:
    """One message with the files that the model can read in it."""

    role: Literal["user", "assistant"]
    text: str
    parts: tuple[FilePart, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedTurns:
    """The system text and turns to send; for a caller without attachments, the unchanged words of the caller."""

    system: str | None
    turns: tuple[PreparedTurn, ...]
    unreadable: tuple[UnreadableFile, ...] = ()
    """What the note in `system` lists."""


_Steps: TypeAlias = Generator[Sequence[AttachmentRef], Resolved, PreparedTurns]


def prepare_turns(
    system: str | None,
    turns: Sequence[ChatTurn],
    *,
    provider: str,
    model: str,
    request_refs: Sequence[AttachmentRef] = (),
    ports: AttachmentPorts | None = None,
    position: ManifestPosition = "before",
    rules: Sequence[CapabilityRule] = RULES,
) -> PreparedTurns:
    """Resolve the files of every turn and of the request for one provider, which is final.

    ports:    None where the run has none; then every file is in the note.
    position: where the note stands in the system prompt.
    """
    steps = _prepare(system, turns, request_refs, position)
    resolved: Resolved | None = None
    while True:
        try:
            refs = next(steps) if resolved is None else steps.send(resolved)
        except StopIteration as end:
            prepared: PreparedTurns = end.value
            return prepared
        resolved = resolve_attachments(refs, provider, model, ports, rules=rules)


async def aprepare_turns(
    system: str | None,
    turns: Sequence[ChatTurn],
    *,
    provider: str,
    model: str,
    request_refs: Sequence[AttachmentRef] = (),
    ports: AsyncAttachmentPorts | AttachmentPorts | None = None,
    position: ManifestPosition = "before",
    rules: Sequence[CapabilityRule] = RULES,
) -> PreparedTurns:
    """As `prepare_turns`, for an event loop."""
    steps = _prepare(system, turns, request_refs, position)
    resolved: Resolved | None = None
    while True:
        try:
            refs = next(steps) if resolved is None else steps.send(resolved)
        except StopIteration as end:
            prepared: PreparedTurns = end.value
            return prepared
        resolved = await aresolve_attachments(refs, provider, model, ports, rules=rules)


def _prepare(
    system: str | None,
    turns: Sequence[ChatTurn],
    request_refs: Sequence[AttachmentRef],
    position: ManifestPosition,
) -> _Steps:
    """Says which refs to resolve next; first those of each turn, then those of the request."""
    made: list[PreparedTurn] = []
    unreadable: list[UnreadableFile] = []
    for turn in turns:
        is_user = turn.role == "user"
        resolved = yield turn.attachments if is_user else ()
        made.append(PreparedTurn(role=turn.role, text=turn.text, parts=resolved.parts))
        unreadable += resolved.unreadable
        unreadable += () if is_user else _refuse_all(turn.attachments, NOT_A_USER)
    last = max((place for place, turn in enumerate(made) if turn.role == "user"), default=None)
    if last is None:
        unreadable += _refuse_all(request_refs, NO_TURN)
    elif made[last].parts:
        unreadable += _refuse_all(request_refs, OTHER_FILES)
    else:
        resolved = yield request_refs
        made[last] = PreparedTurn(role="user", text=made[last].text, parts=resolved.parts)
        unreadable += resolved.unreadable
    return PreparedTurns(
        system=place_manifest(system, write_manifest(unreadable), position=position),
        turns=tuple(made),
        unreadable=tuple(unreadable),
    )


def _refuse_all(refs: Sequence[AttachmentRef], reason: str) -> list[UnreadableFile]:
    return [UnreadableFile(ref=ref, reason=reason) for ref in refs]


def strip_resolved(request: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """A caller's request without parts that it claims to have resolved, also inside its messages.

    A part names a file at the provider, under the host's own key: whoever could send parts could have
    files of other tenants read.
    """
    kept = {key: value for key, value in request.items() if key not in SMUGGLED}
    messages = kept.get("messages")
    if isinstance(messages, list):
        kept["messages"] = [
            {key: value for key, value in message.items() if key not in SMUGGLED}
            if isinstance(message, dict)
            else message
            for message in messages
        ]
    return kept


# ----------------------------------------------------------------------------
# A conversation of LangChain's messages with the files that go with it.
#
#     attach_files([SystemMessage("Be brief."), HumanMessage("Sum up.")], provider="openai",
#                  model="gpt-5", request_refs=refs, ports=ports)
#         -> AttachedMessages(messages=[SystemMessage("Be brief."), HumanMessage([text, file])],
#                             arguments={})
#
# For nodes that ask a chat model: LlmNode, the steps of an agent.  A person's message may bring refs of its
# own under `additional_kwargs["attachments"]`, as JSON; so a conversation is stored with refs and never
# with the files of a provider, which would soon be gone.  Without any ref the messages come back as they
# are.


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
