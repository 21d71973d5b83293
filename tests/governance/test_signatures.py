"""Signatures verified with the standard library alone, by what RFC 8032 says and another library makes."""

from __future__ import annotations

import base64
import random

import pytest

from cinatra_sdk.governance.records.signatures import (
    ED25519,
    HMAC,
    ORDER,
    PRIME,
    Key,
    holds_ed25519,
    judge_signature,
    read_key,
)
from tests.governance.record_exports import SECRET, make_pem, make_signer

VECTORS: dict[str, tuple[str, str, str]] = {
    "TEST 1": (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
        ("e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
         "d25bf5f0595bbe24655141438e7a100b"),
    ),
    "TEST 2": (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
        ("92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
         "387b2eaeb4302aeeb00d291612bb0c00"),
    ),
    "TEST 3": (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
        ("6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
         "4a7c15e9716ed28dc027beceea1ec40a"),
    ),
}  # fmt: skip
"""Of RFC 8032, 7.1: public key, message, signature."""
PUBLIC, MESSAGE, SIGNATURE = (bytes.fromhex(one) for one in VECTORS["TEST 3"])


@pytest.mark.parametrize("name", VECTORS)
def test_the_vectors_of_the_standard_hold_and_no_neighbour_of_them(name: str) -> None:
    public, message, signature = (bytes.fromhex(one) for one in VECTORS[name])
    assert holds_ed25519(public, message, signature)
    assert not holds_ed25519(public, message + b"\0", signature)
    for at in (0, 31, 32, 63):
        changed = bytearray(signature)
        changed[at] ^= 1
        assert not holds_ed25519(public, message, bytes(changed))


def test_it_says_what_another_library_says() -> None:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    for _ in range(8):
        key, message = Ed25519PrivateKey.from_private_bytes(rng.randbytes(32)), rng.randbytes(40)
        public, signature = key.public_key().public_bytes_raw(), key.sign(message)
        assert holds_ed25519(public, message, signature)
        changed = bytearray(signature)
        changed[rng.randrange(64)] ^= 1 << rng.randrange(8)
        assert not holds_ed25519(public, message, bytes(changed))


@pytest.mark.parametrize(
    ("public", "signature"),
    [
        (PUBLIC, SIGNATURE[:32] + (int.from_bytes(SIGNATURE[32:], "little") + ORDER).to_bytes(32, "little")),
        (PUBLIC, SIGNATURE + b"\0"),
        (PUBLIC, SIGNATURE[:63]),
        (PUBLIC, b""),
        (PUBLIC[:31], SIGNATURE),
        (b"\xff" * 32, SIGNATURE),
        (PUBLIC, PRIME.to_bytes(32, "little") + SIGNATURE[32:]),
        (PUBLIC, (1 + (1 << 255)).to_bytes(32, "little") + SIGNATURE[32:]),
    ],
    ids=["second spelling of the scalar", "too long", "too short", "empty", "short key", "no point",
         "y not below the prime", "a sign without an x"],
)  # fmt: skip
def test_a_signature_has_one_spelling(public: bytes, signature: bytes) -> None:
    assert not holds_ed25519(public, MESSAGE, signature)


def _list_forms() -> dict[str, bytes]:
    pem = make_pem()[1]
    der = base64.b64decode(b"".join(pem.splitlines()[1:-1]))
    raw = der[-32:]
    return {
        "PEM": pem, "PEM with CRLF": pem.replace(b"\n", b"\r\n"), "DER": der, "32 bytes": raw,
        "hex": raw.hex().encode() + b"\n", "base64": base64.b64encode(raw) + b"\n",
        "PEM after a remark": b"the key of 2026\n" + pem,
    }  # fmt: skip


@pytest.mark.parametrize("form", _list_forms())
def test_a_public_key_is_read_in_every_usual_form(form: str) -> None:
    signer = make_signer("ed25519")
    assert signer is not None
    signed = signer.sign("sha256:x").to_json()
    assert judge_signature(signed, "sha256:x", {"k1": read_key(ED25519, _list_forms()[form])}) == ""


@pytest.mark.parametrize("content", [SECRET, SECRET + b"\n", SECRET.hex().encode() + b"\n"])
def test_a_shared_secret_is_read_with_and_without_the_end_of_its_line(content: bytes) -> None:
    signer = make_signer("hmac")
    assert signer is not None
    signed = signer.sign("sha256:x").to_json()
    assert judge_signature(signed, "sha256:x", {"k1": read_key(HMAC, content)}) == ""


def test_a_secret_that_ends_like_a_line_is_taken_as_it_is() -> None:
    secret = b"x" * 31 + b"\n"
    assert secret in read_key(HMAC, secret).forms


PRIVATE, OWN = make_pem()


@pytest.mark.parametrize(
    ("alg", "content", "said"),
    [
        (HMAC, b"short", "shorter than the 32 bytes"),
        (HMAC, b"", "shorter than the 32 bytes"),
        (HMAC, OWN, "given with --ed25519"),
        (ED25519, PRIVATE, "is a private key"),
        (ED25519, OWN + make_pem(8)[1], "holds 2 keys"),
        (ED25519, b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "is a CERTIFICATE"),
        (ED25519, b"-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----\n", "no Ed25519 public key"),
        (ED25519, b"", "no Ed25519 public key"),
        (ED25519, b"x" * 31, "no Ed25519 public key"),
        (ED25519, b"\xff" * 32, "no Ed25519 public key"),
        (ED25519, b"ab" * 31, "no Ed25519 public key"),
        (ED25519, (1).to_bytes(32, "little"), "no Ed25519 public key"),
        (ED25519, (0).to_bytes(32, "little"), "no Ed25519 public key"),
    ],
    ids=["short", "empty", "PEM as a secret", "private", "two", "certificate", "of another curve",
         "nothing", "31 bytes", "no point", "short hex", "of order 1", "of order 4"],
)  # fmt: skip
def test_a_key_of_another_kind_is_refused_with_what_it_is(
    alg: str, content: bytes, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        read_key(alg, content)


def test_a_public_key_is_no_shared_secret() -> None:
    """Whoever has the public key could otherwise sign with it."""
    from cinatra_sdk.governance.records.record_maker import Signer

    public = read_key(ED25519, OWN)
    forged = Signer.hmac("k1", public.forms[0]).sign("sha256:x").to_json()
    assert "is one of EdDSA" in judge_signature(forged, "sha256:x", {"k1": public})
    assert judge_signature(forged, "sha256:x", {"k1": Key(HMAC, public.forms)}) == ""


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"kid": "k2"}, "is signed with a key that was not given: k2"),
        ({"alg": "none"}, "cannot be read (none)"),
        ({"alg": "EdDSA"}, "is one of HS256"),
        ({"value": "AAAA"}, "does not hold"),
        ({"value": ""}, "does not hold"),
        ({"value": "not base64!"}, "cannot be read"),
        ({"value": None}, "of another form"),
        ({"more": 1}, "of another form"),
        ({"kid": "\x1b[31m"}, r"\x1b[31m"),
    ],
    ids=str,
)
def test_what_a_signature_lacks_is_named(changed: dict[str, object], said: str) -> None:
    signer = make_signer("hmac")
    assert signer is not None
    signed = {**signer.sign("sha256:x").to_json(), **changed}
    told = judge_signature(signed, "sha256:x", {"k1": Key(HMAC, (SECRET,))})
    assert said in told
    assert told.isprintable()
