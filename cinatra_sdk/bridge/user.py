"""The seam for attachments: the text of a request's person, and what hangs on it.

    read_user(body)                            ("Summarize it", (AttachmentRef(…),))
    await attach(refs, provider=…, …)          (blocks of LangChain for the model, a note for it)

Without references nothing is looked at, and nothing is added to what the model is sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol

from pydantic import Field, JsonValue, ValidationError

from cinatra_sdk.bridge.body import (
    MOST_ATTACHMENTS,
    AttachmentRef,
    BridgeBody,
    ClosedBody,
    list_issues,
)
from cinatra_sdk.routed.call import RouteError, RunOwner
from cinatra_sdk.values.strict_json import NotStrictJson, read_json

Blocks = list[dict[str, Any]]
_UNAVAILABLE: Final = "resolver unavailable for this run"
_LONGEST_NAME: Final = 120


class _Envelope(ClosedBody):
    text: str
    attachments: list[AttachmentRef] = Field(default_factory=list, max_length=MOST_ATTACHMENTS)


class Attach(Protocol):
    """Makes what a model is sent of attachments, and the note about those that it cannot read."""

    async def __call__(
        self, refs: Sequence[AttachmentRef], *, provider: str, model: str, owner: RunOwner
    ) -> tuple[Blocks, str]: ...


def read_user(body: BridgeBody) -> tuple[str, tuple[AttachmentRef, ...]]:
    """The text as the model gets it, and the references of the envelope and of the body, in order.

    Raises: `RouteError` 400 `INVALID_USER_ENVELOPE`.
    """
    more = tuple(body.attachments or ())
    if not body.user_envelope:
        return body.user, more
    problem = ""
    try:
        envelope = _Envelope.model_validate(read_json(body.user, to_keep=False))
    except NotStrictJson as error:
        problem = f"it is no JSON: {error}"
    except ValidationError as error:
        place, rule = list_issues(error)[0]
        problem = f"{place}: {rule}"
    if problem:
        raise _refuse(problem)
    refs = (*envelope.attachments, *more)
    if len(refs) > MOST_ATTACHMENTS:
        raise _refuse(f"it has {len(refs)} attachments, and at most {MOST_ATTACHMENTS} are taken")
    return envelope.text, refs


async def attach_none(
    refs: Sequence[AttachmentRef], *, provider: str, model: str, owner: RunOwner
) -> tuple[Blocks, str]:
    """Of a host that keeps no attachments: the model is told what it cannot read."""
    del provider, model, owner
    if not refs:
        return [], ""
    lines = [f"- {_name(ref)} ({_clean(ref.mime)}): {_UNAVAILABLE}" for ref in refs]
    head = "[ATTACHMENTS] A note of the system, not of the user. You cannot read these:"
    return [], "\n".join([head, *lines])


def _name(ref: AttachmentRef) -> str:
    return _clean(ref.title or ref.filename or ref.artifact_id)


def _clean(text: str) -> str:
    """One line of a bounded length: the text is somebody's, and goes into the system's prompt."""
    return "".join(letter if letter.isprintable() else " " for letter in text)[:_LONGEST_NAME]


def _refuse(reason: str) -> RouteError:
    code: JsonValue = "INVALID_USER_ENVELOPE"
    return RouteError(
        400,
        "INVALID_USER_ENVELOPE",
        reason,
        more={"error": "invalid_user_envelope", "code": code, "reason": reason},
    )
