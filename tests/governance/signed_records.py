"""Whether a decision record was signed by a key, and has not changed since."""

from __future__ import annotations

from cinatra_sdk.governance.contracts.decision_record import DecisionRecord
from cinatra_sdk.governance.records.signatures import ED25519, HMAC, Key, judge_signature, read_key


def verify_hmac(record: DecisionRecord, secret: bytes) -> bool:
    """Whether the record was signed with the secret, and has not changed since."""
    return _verifies(record, Key(HMAC, (secret,)))


def verify_ed25519(record: DecisionRecord, public: bytes) -> bool:
    """The same by a public key: PEM, DER, or its 32 bytes.  Raises: `ValueError` for another key."""
    return _verifies(record, read_key(ED25519, public))


def _verifies(record: DecisionRecord, key: Key) -> bool:
    signature = record.signature
    if signature is None or not record.is_intact:
        return False
    return not judge_signature(signature.to_json(), str(record.record_hash), {signature.kid: key})
