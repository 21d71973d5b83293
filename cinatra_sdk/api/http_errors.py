"""Errors over HTTP: one status and one code for each class, one form of body for all surfaces.

status_of(RunNotFound("there is no run 'n1'"))   ->  404
make_error(RunNotFound("there is no run 'n1'"))  ->  {"detail": "there is no run 'n1'", "code": "run_not_found"}

The table is by name: errors are defined beside what raises them, also above this room.  A test holds it
against every class of the tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from pydantic import with_config
from typing_extensions import TypedDict

from cinatra_sdk.api.gate_json import DESCRIBED
from cinatra_sdk.errors import FlowError, StoreError, StoreUnreachable
from cinatra_sdk.outside.http_calls.protocol import PlatformError


@with_config(DESCRIBED)
class ErrorJson(TypedDict):
    """Why a request was refused, or came to nothing."""

    detail: str
    """A sentence with what to do; safe to show, holds no secret."""
    code: str
    """For programs; never changes."""


class HttpError(NamedTuple):
    """How a class of errors is told over HTTP."""

    status: int | None
    """None: the error says it itself, in `status`."""
    code: str
    """Of the class; an error that has a code of its own is told with that."""


HTTP_ERRORS: Final[Mapping[str, HttpError]] = MappingProxyType(
    {
        "FlowError": HttpError(500, "flow_error"),
        # What the caller sent.
        "InputInvalid": HttpError(422, "input_invalid"),
        "ValueRefused": HttpError(422, "value_refused"),
        "PlaceholderRefused": HttpError(422, "placeholder_refused"),
        "PolicyInvalid": HttpError(422, "policy_invalid"),
        "AnswerInvalid": HttpError(422, "answer_invalid"),
        "NoWords": HttpError(422, "answer_invalid"),
        "AttachmentRefInvalid": HttpError(422, "attachment_ref_invalid"),
        "UserEnvelopeInvalid": HttpError(422, "INVALID_USER_ENVELOPE"),
        "ProposalInvalid": HttpError(422, "invalid_input"),
        # Who the caller is.
        "NotAllowed": HttpError(403, "not_allowed"),
        "ContextMismatch": HttpError(403, "context_mismatch"),
        "ForkRefused": HttpError(403, "fork_refused"),
        "EffectRefused": HttpError(403, "effect_refused"),
        "GovernanceRefused": HttpError(None, "flow_error"),
        "ContextError": HttpError(None, "flow_error"),
        # What is not there; a run of somebody else is not there either.
        "RunNotFound": HttpError(404, "run_not_found"),
        "GateNotFound": HttpError(404, "gate_not_found"),
        "ImageNotFound": HttpError(404, "not_found"),
        "ProposalNotFound": HttpError(404, "not_found"),
        "AttachmentUnreadable": HttpError(404, "attachment_unreadable"),
        # What somebody did before, or does now.
        "ChoiceGone": HttpError(409, "answer_invalid"),
        "GateClosed": HttpError(409, "gate_closed"),
        "GateChanged": HttpError(409, "gate_changed"),
        "GateUnreadable": HttpError(409, "gate_unreadable"),
        "FlowChanged": HttpError(409, "flow_changed"),
        "CheckpointsUnusable": HttpError(409, "checkpoints_unusable"),
        "CheckpointDamaged": HttpError(409, "checkpoints_unusable"),
        "RunExists": HttpError(409, "run_exists"),
        "RunBusy": HttpError(409, "run_busy"),
        "FenceLost": HttpError(409, "fence_lost"),
        "RunEnded": HttpError(409, "run_ended"),
        "RunNotEnded": HttpError(409, "run_not_ended"),
        "RunNotCompleted": HttpError(409, "flow_error"),
        "EffectSettled": HttpError(409, "effect_settled"),
        "EffectUnknown": HttpError(409, "effect_unknown"),
        "ChildWaits": HttpError(409, "child_waits"),
        "EffectDiffers": HttpError(409, "effect_differs"),
        "ShownDiffers": HttpError(409, "shown_differs"),
        "KeyReused": HttpError(409, "value_refused"),
        # A node of the flow.
        "NodeFailed": HttpError(500, "node_failed"),
        "LimitExceeded": HttpError(500, "limit_exceeded"),
        "StateKeyMissing": HttpError(500, "state_key_missing"),
        # This process, its host and its database.
        "EngineUnsupported": HttpError(500, "engine_unsupported"),
        "KindRefused": HttpError(500, "kind_refused"),
        "HostRefused": HttpError(500, "host_refused"),
        "ProposalUnwritten": HttpError(500, "unwritable"),
        "StoreError": HttpError(500, "store_error"),
        "ProcessEnding": HttpError(503, "process_ending"),
        "StoreUnreachable": HttpError(503, "store_error"),
        "NotConfigured": HttpError(503, "not_configured"),
        "NotAdopted": HttpError(503, "not_adopted"),
        "NotReplicated": HttpError(503, "not_replicated"),
        # Whom a flow talks to.
        "UploadFailed": HttpError(502, "upload_failed"),
        "PlatformError": HttpError(502, "platform_error"),
        "PlatformRefused": HttpError(502, "platform_refused"),
        "PlatformUnreachable": HttpError(502, "platform_unreachable"),
        "PlatformResponseError": HttpError(502, "platform_response"),
        "PlatformOutputError": HttpError(502, "platform_output"),
    }
)
"""Every class of the two error trees, by its name."""


REFUSED: Final = "the database of the runs refuses this (its operator finds why in the log)"
UNREACHABLE: Final = "the database of the runs cannot be reached now (try again later)"


def status_of(error: FlowError | PlatformError) -> int:
    """The HTTP status; of a class that is not in the table, that of the nearest class above it."""
    rows = (HTTP_ERRORS.get(kind.__name__) for kind in type(error).__mro__)
    row = next((row for row in rows if row is not None), HTTP_ERRORS["FlowError"])
    if row.status is not None:
        return row.status
    said = getattr(error, "status", None)
    return said if isinstance(said, int) else 500


def make_error(error: FlowError | PlatformError) -> ErrorJson:
    """The body; of a hint only what people can do, and not what is for programs in Python.

    Where the database itself refuses or cannot be reached, nothing is told of it: its address, its roles and
    its options are for whoever operates the process, for whom a surface logs the error itself.
    """
    if isinstance(error, StoreUnreachable):
        return {"detail": UNREACHABLE, "code": error.code}
    if type(error) is StoreError:  # the classes below it speak of runs
        return {"detail": REFUSED, "code": error.code}
    detail = error.for_people if isinstance(error, FlowError) else str(error)
    return {"detail": detail, "code": error.code}
