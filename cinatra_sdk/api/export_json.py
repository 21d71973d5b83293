"""The lines of an export: runs with what their approvals prove, and decision records, as JSON.

Each line of the file is an `EvidenceLineJson` or a `RecordLineJson`; the last one is an `ExportEndJson`, whose
manifest is signed.
`governance/records/verifier.py` reads them and needs nothing but Python's standard library.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias

from pydantic import JsonValue, with_config
from typing_extensions import TypedDict

from cinatra_sdk.api.gate_json import DESCRIBED
from cinatra_sdk.contract import Status

ExportFormat: TypeAlias = Literal["oasflow-export/3"]


@with_config(DESCRIBED)
class EvidencePersonJson(TypedDict):
    """Who did something, as far as the store knows them."""

    name: str
    """As it was given; empty: nobody is named.  Whoever recorded it vouches for it."""
    sub: str
    """The id that the issuer gives them; empty, as all below, where a name alone was given."""
    issuer: str
    kind: Literal["", "person", "service"]
    proof: str
    """How it was proved to whoever recorded it: `host`, `terminal`, `session`, `token`, …"""
    channel: str
    """By which way they came."""


@with_config(DESCRIBED)
class EvidencePolicyJson(TypedDict):
    """The approval policy of a run."""

    of: Literal["host", "flow"]
    """`host`: given with the run; `flow`: derived from the flow when the export was made."""
    value: JsonValue
    sha256: str


@with_config(DESCRIBED)
class EvidenceStopJson(TypedDict):
    """That somebody stopped the run."""

    by: EvidencePersonJson
    reason: str


@with_config(DESCRIBED)
class RunEvidenceJson(TypedDict):
    """The run itself: `data` of its first line.  Moments are in UTC, to a microsecond."""

    status: Status
    flow: str
    """sha256 of the flow's file."""
    flow_name: str
    file: str
    governed: bool
    started_by: EvidencePersonJson
    owner: str
    session: str
    parent: str | None
    parent_path: str
    children: list[str]
    """Ids of the runs that it began; each has an export of its own."""
    variables: list[str]
    """Names of the variables that it was compiled with; no values."""
    inputs: JsonValue
    outputs: JsonValue
    branch: str | None
    messages: JsonValue
    error: JsonValue
    policy: EvidencePolicyJson | None
    """Null: the flow cannot be made here, so decisions name the hash of their policy alone."""
    stopped: EvidenceStopJson | None
    attempts: int
    deadline: str | None
    created_at: str
    updated_at: str
    archived_at: str | None
    gone: list[str]
    """What was removed when the run was archived, in sentences."""


@with_config(DESCRIBED)
class FlowEvidenceJson(TypedDict):
    """The file of the flow, byte by byte."""

    digest: str
    name: str
    file: str
    source: str | None
    """The file, where it is UTF-8."""
    source_base64: str | None
    """Any other file."""


@with_config(DESCRIBED)
class GateEvidenceJson(TypedDict):
    """A gate with what it showed; once for each content that it showed at a visit."""

    gate: str
    node: str
    visit: int
    step: int
    state: Literal["open", "decided", "closed"]
    payload: JsonValue
    payload_sha256: str
    """Of the payload with sorted members and without spaces: a decision names it."""
    answer_schema: JsonValue
    opened_at: str
    deadline: str | None
    settled_at: str | None


@with_config(DESCRIBED)
class DecisionEvidenceJson(TypedDict):
    """Who decided what at a gate, about what, and under which policy."""

    gate: str
    node: str
    visit: int
    step: int
    decision: Literal["approved", "rejected", "denied", "auto_skipped"]
    by: EvidencePersonJson
    reason: str
    answer: JsonValue
    payload_sha256: str
    policy_sha256: str
    at: str


@with_config(DESCRIBED)
class EffectEvidenceJson(TypedDict):
    """A call of the run, with the hashes of what was sent, shown and given; never with what it gave."""

    key: str
    kind: str
    capability: str
    path: str
    visit: int
    item: int | None
    risk: str
    status: Literal["begun", "done", "failed", "unknown"]
    attempts: int
    request_sha256: str
    shown_sha256: str
    """Of the request that a person approved; empty where nobody was asked about this call."""
    result_sha256: str
    """Of the text of the result in the database; empty where there is none."""
    usage: JsonValue
    error: JsonValue
    begun_at: str
    ended_at: str | None


@with_config(DESCRIBED)
class SettlementEvidenceJson(TypedDict):
    """A person's word on a call of which nobody knew whether it happened."""

    key: str
    attempts: int
    happened: bool
    by: EvidencePersonJson
    reason: str
    value: JsonValue
    at: str


@with_config(DESCRIBED)
class EventEvidenceJson(TypedDict):
    """One thing that happened, with its number in the run."""

    seq: int
    at: str
    kind: str
    name: str
    path: str
    visit: int
    data: JsonValue


@with_config(DESCRIBED)
class EvidenceEndJson(TypedDict):
    """The last line of a run."""

    counts: dict[str, int]
    """Number of the lines of each kind; `record`: decision records."""
    lines: list[str]
    """sha256 of the text of each line of the run before this one, in order."""


@with_config(DESCRIBED)
class EvidenceLineJson(TypedDict):
    """A line that tells of a run.

    A JSON value of the run that JSON does not hold exactly, such as a number above 2**53, stands as its
    text: `{"$json": "9007199254740993"}`.
    """

    format: ExportFormat
    run_id: str
    tenant: str
    n: int
    """Number of the line among those of its run, from 1; decision records are not counted."""
    kind: Literal["run", "flow", "gate", "decision", "effect", "settlement", "event", "end"]
    data: (
        RunEvidenceJson
        | FlowEvidenceJson
        | GateEvidenceJson
        | DecisionEvidenceJson
        | EffectEvidenceJson
        | SettlementEvidenceJson
        | EventEvidenceJson
        | EvidenceEndJson
    )


@with_config(DESCRIBED)
class RecordLineJson(TypedDict):
    """A decision record with what stands beside it; a text where the row in the database is no JSON."""

    format: ExportFormat
    run_id: str
    seq: int
    tenant: str
    run_status: Status
    created_at: str
    record: dict[str, JsonValue] | str
    transcript: NotRequired[dict[str, JsonValue] | str]


@with_config(DESCRIBED)
class ExportKeyJson(TypedDict):
    """The key with which the manifest is signed."""

    kid: str
    alg: str


@with_config(DESCRIBED)
class ExportSignatureJson(ExportKeyJson):
    """A signature over `oasflow-manifest:` and the hash of the manifest."""

    value: str
    """Base64."""


@with_config(DESCRIBED)
class EndNameJson(TypedDict):
    """The last line of a run's evidence."""

    lines: int
    end_sha256: str


@with_config(DESCRIBED)
class ManifestJson(TypedDict):
    """What has to be in the export."""

    format: ExportFormat
    made_at: str
    """When the snapshot of the database began, by its clock."""
    tenant: str | None
    run: str | None
    transcripts: bool
    records: int
    counts: dict[str, int]
    heads: dict[str, str]
    without_end: list[str]
    evidence: dict[str, EndNameJson]
    """By run; empty in an export of decision records alone."""
    lines_sha256: str
    key: ExportKeyJson | None
    unreadable: NotRequired[dict[str, list[int]]]
    erased: NotRequired[dict[str, list[int]]]
    """By run, the numbers of the records whose content was erased with a person's values."""


@with_config(DESCRIBED)
class ExportEndJson(TypedDict):
    """The last line of an export."""

    manifest: ManifestJson
    signature: NotRequired[ExportSignatureJson]
