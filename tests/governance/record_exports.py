"""Exports of decision records as `DecisionRecords.export` writes them, without a database.

make_export([make_chain("r1", signer=signer)], signer=signer)  ->  ["{…}\n", …, "{manifest}\n"]
"""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from cinatra_sdk.governance.contracts.decision_record import DecisionRecord
from cinatra_sdk.governance.contracts.record_format import hash_of
from cinatra_sdk.governance.records.record_maker import Signer, seal_record
from cinatra_sdk.store.evidence.run_export import ExportTally
from tests.governance.test_generated_runs import read_record

SECRET = b"a secret of an auditor and a host"
MADE_AT = "2026-05-04T10:00:00.000Z"
STATUSES = ("IN_FLIGHT", "IN_FLIGHT", "REJECTED")
STANDS = {
    "DECIDED": "completed",
    "REJECTED": "rejected",
    "ESCALATED": "failed",
    "CLOSED": "stopped",
}


@cache
def make_pem(seed: int = 7) -> tuple[bytes, bytes]:
    """A private and a public key, always the same for a seed."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private, public


def make_signer(kind: str) -> Signer | None:
    """kind: `hmac`, `ed25519`, or `none`."""
    if kind == "none":
        return None
    return Signer.hmac("k1", SECRET) if kind == "hmac" else Signer.ed25519("k1", make_pem()[0])


def make_chain(
    run: str = "r1",
    statuses: Sequence[str] = STATUSES,
    *,
    tenant: str = "acme",
    signer: Signer | None = None,
) -> list[dict[str, Any]]:
    """The rows of the records of a run, with what each was made from."""
    rows: list[dict[str, Any]] = []
    before: str | None = None
    for seq, status in enumerate(statuses, 1):
        transcript = {"run": run, "calls": [{"number": seq, "amount": 4200.5}]}
        body = copy.deepcopy(read_record()) | {
            "record_id": f"dr_{run}_{seq}", "sequence": seq, "status": status,
            "previous_record_hash": before, "inputs_refs": {"transcript": hash_of(transcript)},
        }  # fmt: skip
        for member in ("record_hash", "signature"):
            body.pop(member, None)
        record = seal_record(DecisionRecord.read(body), signer)
        before = record.record_hash
        rows.append(
            {
                "run_id": run, "seq": seq, "tenant": tenant, "run_status": STANDS.get(status, "running"),
                "created_at": datetime(2026, 5, 4, 9, seq, tzinfo=UTC), "record_hash": before,
                "record": json.dumps(record.to_json()), "transcript": json.dumps(transcript),
            }
        )  # fmt: skip
    return rows


def make_export(
    chains: Sequence[list[dict[str, Any]]],
    *,
    signer: Signer | None = None,
    tenant: str | None = "acme",
    run: str | None = None,
    transcripts: bool = True,
) -> list[str]:
    tally = ExportTally(tenant=tenant, run=run, transcripts=transcripts)
    lines = [tally.add_record(row) for chain in chains for row in chain]
    return [*lines, tally.end(MADE_AT, signer)]
