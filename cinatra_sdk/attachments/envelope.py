"""The text of a user, which may be an envelope: a text with attachments, as JSON.

    read_user_envelope('{"text": "Sum up.", "attachments": [{…}]}', enabled=True)
        -> UserEnvelope(text="Sum up.", attachments=(AttachmentRef(…),))
    read_user_envelope('{"text": "Sum up."}', enabled=False)
        -> UserEnvelope(text='{"text": "Sum up."}', attachments=None)

The caller says whether the text is an envelope (`user_envelope` of the bridge's body): a text that only
looks like an envelope stays a text.  A caller that announces an envelope and sends something else is
refused before a model is asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from pydantic import JsonValue

from cinatra_sdk.attachments.attachment_refs import (
    MAX_REFS,
    MEMBERS,
    AttachmentRef,
    AttachmentRefInvalid,
    UserEnvelopeInvalid,
    read_ref,
    read_refs,
)
from cinatra_sdk.data.json_values import NotStrictJson, read_json
from cinatra_sdk.light_imports.records import dataclass

_KEYS = ("text", "attachments")


@dataclass(frozen=True, slots=True, kw_only=True)
class UserEnvelope:
    """The text of a user, and the files that come with the text."""

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


# ----------------------------------------------------------------------------
# A person's answer with files, on its way through an agent that only takes text.
#
#     wrap_resume("Use these.", [{"artifactId": "a1", …}])
#         `'{"text":"Use these.","attachments":[{"artifactId":"a1",…}]}'`
#     `read_resume({"userResponse": "Use these.", "tone": "dry"})`
#         -> ResumedAnswer(text="Use these.", submitted_values={"tone": "dry"})
#
# Messages between agents (A2A) stay text: the refs ride inside the one text part, never as parts of their
# own.  Whoever forwards that text to the bridge says `user_envelope: true`, or the model sees the JSON.


APPROVED: Final = "[Approved by operator]"
"""The text of an answer without words."""

_BLANKS: Final = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""What the host's own language takes for blank; Python's list differs in a few characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumedAnswer:
    """The answer of a person, as it reaches the waiting run."""

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


# ----------------------------------------------------------------------------
# Which person's answer reaches which call of the bridge as an envelope.
#
#     find_answer_rules(
#         [BridgeCall(node="review", body={"user": "{{note}}", "user_envelope": True},
#                     sources={"note": [("ask", "note")]})],
#         gates=[("ask", "note")])
#         -> (AnswerRule(gate="ask", output="note", call="review"),)
#
# The flow decides, and no guess: the call says `user_envelope: true`, and its whole `user` is the output of
# a gate.  An answer that no rule names goes on as the text that the person wrote, so its refs must not be
# wrapped into it: that call would show the JSON to its model.


_VISIT: Final = re.compile(r"#\d+(?=\[\d+\]|/|\Z)")
_ITEM: Final = re.compile(r"\[\d+\](?=/|\Z)")
_ALONE: Final = re.compile(r"\s*\{\{\s*([^{}|\s]+)\s*\}\}\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeCall:
    """A call to the bridge, as the flow file has it."""

    node: str
    body: Mapping[str, JsonValue]
    """As the author wrote it, with placeholders."""
    sources: Mapping[str, Sequence[tuple[str, str]]]
    """Name of a placeholder → the outputs (node, name) that may fill it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRule:
    """The answer of `gate`, under the name `output`, is the `user` of the call that `call` makes."""

    gate: str
    """As the id of a gate at its first visit, in the first of several flows: `write/ask`."""
    output: str
    call: str

    def takes(self, gate_id: str) -> bool:
        """Whether it is about the gate with this id, at any visit, and for any item of a map."""
        place = _VISIT.sub("", gate_id)
        return self.gate in (place, _ITEM.sub("", place))


def find_answer_rules(
    calls: Iterable[BridgeCall], gates: Iterable[tuple[str, str]]
) -> tuple[AnswerRule, ...]:
    """A rule for each pair of a gate's output and a call that takes it as an envelope.

    gates: the outputs (node, name) that hold the words of a person.
    """
    answered = frozenset(gates)
    return tuple(
        AnswerRule(gate=node, output=output, call=call.node)
        for call in calls
        if call.body.get("user_envelope") is True
        for node, output in call.sources.get(_name_of_user(call.body.get("user")), ())
        if (node, output) in answered
    )


def wrap_answer(text: str, refs: object, *, gate: str, rules: Sequence[AnswerRule]) -> str:
    """The text that goes on from a gate: an envelope where a rule takes its answer as such.

    gate: its id, with the visit.
    """
    if any(rule.takes(gate) for rule in rules):
        return wrap_resume(text, refs)
    return text


def opens_answer(body: JsonValue) -> bool:
    """Whether a call with this body, as its author wrote it, opens one value as an envelope."""
    if not isinstance(body, Mapping) or body.get("user_envelope") is not True:
        return False
    return bool(_name_of_user(body.get("user")))


def _name_of_user(user: JsonValue) -> str:
    """The placeholder that is the whole of `user`; empty where there are other words around it."""
    alone = _ALONE.fullmatch(user) if isinstance(user, str) else None
    return alone[1] if alone else ""
