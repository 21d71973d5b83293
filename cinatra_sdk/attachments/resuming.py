"""A person's answer with files, on its way through an agent that only takes text.

    wrap_resume("Use these.", [{"artifactId": "a1", …}])
        '{"text":"Use these.","attachments":[{"artifactId":"a1",…}]}'
    read_resume({"userResponse": "Use these.", "tone": "dry"})
        -> ResumedAnswer(text="Use these.", submitted_values={"tone": "dry"})

Messages between agents (A2A) stay text: the refs ride inside the one text part, never as parts of their
own.  Whoever forwards that text to the bridge says `user_envelope: true`, or the model sees the JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from cinatra_sdk.attachments.errors import AttachmentRefInvalid
from cinatra_sdk.attachments.refs import MAX_REFS, MEMBERS, AttachmentRef, read_ref

APPROVED: Final = "[Approved by operator]"
"""The text of an answer without words."""

_BLANKS: Final = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""What the host's own language takes for blank; Python's list differs in a few characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumedAnswer:
    """What goes on with a run that waited for a person."""

    text: str
    """The one text part of the message."""
    submitted_values: dict[str, JsonValue] | None
    """The form's values, None where there are none."""

    def parts(self) -> list[dict[str, JsonValue]]:
        """The parts of the A2A message: always one, always text."""
        return [{"kind": "text", "text": self.text}]


def wrap_resume(text: str, refs: object = ()) -> str:
    """The text, with its refs as an envelope; without a valid ref the text itself.

    refs: what a client sent.  Invalid refs are left out and unknown keys of a ref too; the first 20 valid
          refs stay.  Never raises: a person has answered, and the answer must not be lost.
    """
    if isinstance(refs, (str, bytes, Mapping)) or not isinstance(refs, Sequence):
        return text
    kept = _keep_valid(refs)
    if not kept:
        return text
    return _write_json({"text": text, "attachments": [ref.wire() for ref in kept]})


def enclose_text(text: str) -> str:
    """The text of an answer for a call that opens envelopes: words become an envelope without files.

    A person who brings no file answers in plain words, and an approval says `[Approved by operator]`.
    Text that is the JSON of an object stays: it is an envelope, or refused by whoever opens it.
    """
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        parsed = None
    return text if isinstance(parsed, dict) else _write_json({"text": text})


def read_resume(values: Mapping[str, JsonValue]) -> ResumedAnswer:
    """The text and the values of an approval's form.

    Text: `userResponse` as it is where it says something, else `approvalNote` without blanks around it,
    else `[Approved by operator]`.  Values: `userResponse` where it is the JSON of an object; all other
    values where it is no JSON; none where it is other JSON.
    """
    response, note = values.get("userResponse"), values.get("approvalNote")
    if isinstance(response, str) and response.strip(_BLANKS):
        text = response
    else:
        text = (note.strip(_BLANKS) if isinstance(note, str) else "") or APPROVED
    return ResumedAnswer(text=text, submitted_values=_read_submitted(response, values))


def _read_submitted(
    response: JsonValue, values: Mapping[str, JsonValue]
) -> dict[str, JsonValue] | None:
    try:
        parsed: JsonValue = (
            json.loads(response, parse_constant=_refuse)
            if isinstance(response, str)
            else _refuse("")
        )
    except (ValueError, RecursionError):
        return {key: value for key, value in values.items() if key != "userResponse"} or None
    return parsed if isinstance(parsed, dict) else None


def _keep_valid(refs: Iterable[object]) -> list[AttachmentRef]:
    kept: list[AttachmentRef] = []
    for value in refs:
        if len(kept) == MAX_REFS:
            break
        try:
            kept.append(read_ref(_keep_known(value)))
        except AttachmentRefInvalid:
            continue
    return kept


def _keep_known(value: object) -> object:
    if not isinstance(value, Mapping):
        return value
    return {key: value[key] for key in MEMBERS if key in value}


def _write_json(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))  # half a character: only as an escape
    return text


def _refuse(name: str) -> JsonValue:
    raise ValueError(name)
