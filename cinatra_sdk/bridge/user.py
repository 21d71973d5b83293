"""The text of a request's person, and the files that come with it.

    read_user(body)                          ("Summarize it", (AttachmentRef(…),))
    await attach(refs, "openai", "gpt-5", ports)
        AttachedFiles(blocks=[{"type": "file", …}], note="", arguments={})

Without references nothing is looked at, and nothing is added to what the model is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from cinatra_sdk.attachments import (
    AsyncAttachmentPorts,
    AttachmentPorts,
    AttachmentRef,
    UserEnvelopeInvalid,
    aresolve_attachments,
    find_provider,
    model_arguments,
    read_user_envelope,
    write_file_blocks,
    write_manifest,
)
from cinatra_sdk.bridge.body import BridgeBody
from cinatra_sdk.bridge.offered import OfferedModel
from cinatra_sdk.routed.call import RouteError, RunOwner

PortsFor: TypeAlias = Callable[
    [RunOwner, OfferedModel], AttachmentPorts | AsyncAttachmentPorts | None
]
"""What a host lends for the files of one run and the model that is asked; None: nothing, so the model is
told what it cannot read.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedFiles:
    """What a model is sent of a request's files."""

    blocks: list[dict[str, Any]] = field(default_factory=list)
    """Of LangChain, for those that the model can read."""
    note: str | None = None
    """For the system prompt, about those that it cannot."""
    arguments: dict[str, Any] = field(default_factory=dict)
    """What has to be bound to the model beside the messages."""


def lend_no_ports(_owner: RunOwner, _model: OfferedModel) -> None:
    """Of a host that keeps no files."""


def read_user(body: BridgeBody) -> tuple[str, tuple[AttachmentRef, ...]]:
    """The text as the model gets it, and the references of the envelope and of the body, in order.

    Raises: `RouteError` 400 `INVALID_USER_ENVELOPE`.
    """
    try:
        envelope = read_user_envelope(
            body.user, enabled=bool(body.user_envelope), attachments=tuple(body.attachments or ())
        )
    except UserEnvelopeInvalid as error:
        refused = error
    else:
        return envelope.text, envelope.attachments or ()
    raise RouteError(refused.status, refused.code, str(refused), more=refused.body())


async def attach(
    refs: Sequence[AttachmentRef],
    provider: str,
    model: str,
    ports: AttachmentPorts | AsyncAttachmentPorts | None,
) -> AttachedFiles:
    """Resolve the files for the model that was chosen; see `cinatra_sdk.attachments`."""
    found: Any = find_provider(provider)
    resolved = await aresolve_attachments(refs, found, model, ports)
    return AttachedFiles(
        blocks=write_file_blocks(found, resolved.parts),
        note=write_manifest(resolved.unreadable),
        arguments=model_arguments(found, resolved.parts),
    )
