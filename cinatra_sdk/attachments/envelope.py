"""The text of a user, which may be an envelope: a text with attachments, as JSON.

    read_user_envelope('{"text": "Sum up.", "attachments": [{…}]}', enabled=True)
        -> UserEnvelope(text="Sum up.", attachments=(AttachmentRef(…),))
    read_user_envelope('{"text": "Sum up."}', enabled=False)
        -> UserEnvelope(text='{"text": "Sum up."}', attachments=None)

The caller says whether it is one (`user_envelope` of the bridge's body): a text that only looks like an
envelope stays the text that it is.  A caller that says so and sends something else is refused before
anything is asked of a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from cinatra_sdk.attachments.errors import AttachmentRefInvalid, UserEnvelopeInvalid
from cinatra_sdk.attachments.refs import MAX_REFS, AttachmentRef, read_refs
from cinatra_sdk.values.strict_json import NotStrictJson, read_json

_KEYS = ("text", "attachments")


@dataclass(frozen=True, slots=True, kw_only=True)
class UserEnvelope:
    """What a user says, and the files that come with it."""

    text: str
    attachments: tuple[AttachmentRef, ...] | None = None
    """None where there is none: then the request of a caller without attachments is made."""


def read_user_envelope(
    user: str,
    *,
    enabled: bool = False,
    attachments: Sequence[AttachmentRef] | JsonValue = (),
) -> UserEnvelope:
    """The text and its files: first those of the envelope, then those of the body; none is left out
    because it comes twice.

    user:        `user` of the body.
    enabled:     `user_envelope` of the body; absent means False.
    attachments: `attachments` of the body, read or as JSON.

    Raises: `UserEnvelopeInvalid`; `AttachmentRefInvalid` for the body's own `attachments`.
    """
    if not isinstance(enabled, bool):
        raise UserEnvelopeInvalid(
            "user_envelope is neither true nor false", fix="send a JSON boolean"
        )
    of_body = read_refs(attachments)
    text, of_envelope = _open_envelope(user) if enabled else (user, ())
    merged = (*of_envelope, *of_body)
    if len(merged) > MAX_REFS:
        raise UserEnvelopeInvalid(
            f"the request has {len(merged)} attachments", fix=f"send {MAX_REFS} at most"
        )
    return UserEnvelope(text=text, attachments=merged or None)


def _open_envelope(user: str) -> tuple[str, tuple[AttachmentRef, ...]]:
    value = _read_object(user)
    unknown = sorted(value.keys() - set(_KEYS))
    if unknown:
        raise UserEnvelopeInvalid(
            f"the envelope has the unknown key {unknown[0][:80]!r}",
            fix=f"known are {', '.join(_KEYS)}",
        )
    text = value.get("text")
    if not isinstance(text, str):
        wrong = "has no text" if "text" not in value else "has a text that is no string"
        raise UserEnvelopeInvalid(f"the envelope {wrong}", fix='write "text", which may be ""')
    if "attachments" not in value:
        return text, ()
    problem = ""
    try:
        refs = read_refs(value["attachments"])
    except AttachmentRefInvalid as error:
        problem = str(error)
    if problem:
        raise UserEnvelopeInvalid(problem)
    if len(refs) > MAX_REFS:
        raise UserEnvelopeInvalid(
            f"the envelope has {len(refs)} attachments", fix=f"send {MAX_REFS} at most"
        )
    return text, refs


def _read_object(user: str) -> dict[str, JsonValue]:
    problem, fix = "", 'send {"text": …}, or leave user_envelope out'
    value: JsonValue = None
    try:
        value = read_json(user)
    except NotStrictJson as error:
        problem = f"the text of user is not JSON of one reading: {error}"
    if problem:
        raise UserEnvelopeInvalid(problem, fix=fix)
    if not isinstance(value, dict):
        raise UserEnvelopeInvalid("the text of user is JSON, but no object", fix=fix)
    return value
