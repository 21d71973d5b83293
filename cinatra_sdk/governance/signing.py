"""Signatures of decision records, with a key that the host keeps.

    Signer.hmac("kid_2026_05", secret)          a shared secret: whoever verifies can also sign
    Signer.ed25519("kid_2026_05", private_pem)  needs the package `cryptography`

What is signed is `record_hash`, which covers every other member of the record, and the manifest of an
export.  To verify either needs no package (`signatures.py`).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.governance.contracts.records import DecisionRecord, RecordSignature
from cinatra_sdk.governance.signatures import ED25519, HMAC, Key, judge_signature, read_key


@dataclass(frozen=True, slots=True)
class Signer:
    """Prints no key."""

    kid: str
    alg: str
    make: Callable[[bytes], bytes] = field(repr=False)

    @classmethod
    def hmac(cls, kid: str, secret: bytes) -> Self:
        """Raises: `ValueError` for a secret of less than 32 bytes."""
        if len(secret) < 32:
            raise ValueError("the secret of a signer needs at least 32 bytes")
        return cls(kid, HMAC, lambda text: hmac.new(secret, text, hashlib.sha256).digest())

    @classmethod
    def ed25519(cls, kid: str, private_pem: bytes) -> Self:
        """private_pem: PKCS #8, not encrypted.  Raises: `NotConfigured`; `TypeError`, `ValueError` for another key."""
        try:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
            from cryptography.hazmat.primitives.serialization import load_pem_private_key
        except ImportError:
            raise NotConfigured(
                "ed25519 signatures need the package cryptography", hint="pip install cryptography"
            ) from None
        key = load_pem_private_key(private_pem, password=None)
        if not isinstance(key, Ed25519PrivateKey):
            raise TypeError("the key is not an Ed25519 key")
        return cls(kid, ED25519, key.sign)

    def sign(self, text: str) -> RecordSignature:
        """text: the hash of a record, or what stands for a manifest."""
        value = base64.b64encode(self.make(text.encode())).decode()
        return RecordSignature(kid=self.kid, alg=self.alg, value=value)


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
