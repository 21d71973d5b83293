"""Signatures by a shared secret and by Ed25519, verified with Python's standard library alone.

    judge_signature({"kid": "k1", "alg": "EdDSA", "value": "…"}, "sha256:…", {"k1": read_key(ED25519, pem)})

In: a signature, the signed text, and keys by their names.  Out: the problem, or an empty text.
`verifier.py` runs with this file beside it and without the package, so this file imports nothing of the
package.  It verifies and cannot sign: Ed25519 is computed with public values alone, so the time that it
takes reveals nothing.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

HMAC, ED25519 = "HS256", "EdDSA"
DER = bytes.fromhex("302a300506032b6570032100")
"""Before the 32 bytes of an Ed25519 public key in a file (RFC 8410)."""

PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
CURVE = -121665 * pow(121666, -1, PRIME) % PRIME
Point = tuple[int, int, int, int]
"""X, Y, Z, T with x = X/Z, y = Y/Z, xy = T/Z (RFC 8032, 5.1.4)."""
ZERO: Point = (0, 1, 1, 0)


def add_points(one: Point, two: Point) -> Point:
    a = (one[1] - one[0]) * (two[1] - two[0]) % PRIME
    b = (one[1] + one[0]) * (two[1] + two[0]) % PRIME
    c, d = 2 * CURVE * one[3] * two[3] % PRIME, 2 * one[2] * two[2] % PRIME
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % PRIME, g * h % PRIME, f * g % PRIME, e * h % PRIME


def sum_multiples(n: int, one: Point, m: int = 0, two: Point = ZERO) -> Point:
    """N times one point and m times another."""
    steps, found = (ZERO, one, two, add_points(one, two)), ZERO
    for bit in range(max(n.bit_length(), m.bit_length()) - 1, -1, -1):
        found = add_points(found, found)
        step = (n >> bit & 1) + 2 * (m >> bit & 1)
        found = add_points(found, steps[step]) if step else found
    return found


def read_point(text: bytes) -> Point | None:
    """None for what is no point, and for a second spelling of one."""
    y = int.from_bytes(text, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    square = (y * y - 1) * pow(CURVE * y * y + 1, -1, PRIME) % PRIME
    x = pow(square, (PRIME + 3) // 8, PRIME)
    x = x if (x * x - square) % PRIME == 0 else x * pow(2, (PRIME - 1) // 4, PRIME) % PRIME
    if len(text) != 32 or y >= PRIME or (x * x - square) % PRIME or (x == 0 and sign):
        return None
    x = x if x & 1 == sign else PRIME - x
    return x, y, 1, x * y % PRIME


def are_same(one: Point, two: Point) -> bool:
    return not any((one[i] * two[2] - two[i] * one[2]) % PRIME for i in (0, 1))


BASE = read_point((4 * pow(5, -1, PRIME) % PRIME).to_bytes(32, "little")) or ZERO


def holds_ed25519(public: bytes, message: bytes, signature: bytes) -> bool:
    """RFC 8032, 5.1.7, by the stricter equation, as OpenSSL has it."""
    key, nonce = read_point(public), read_point(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if key is None or nonce is None or len(signature) != 64 or scalar >= ORDER:
        return False
    mixed = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little")
    minus = (-key[0] % PRIME, key[1], key[2], -key[3] % PRIME)
    return are_same(sum_multiples(scalar, BASE, mixed % ORDER, minus), nonce)


@dataclass(frozen=True)
class Key:
    """What somebody verifies with."""

    alg: str
    forms: tuple[bytes, ...] = field(repr=False)
    """The bytes that its file may mean: as they are, without the end of the line, of hex."""

    def verifies(self, message: bytes, signature: bytes) -> bool:
        if self.alg == ED25519:
            return any(holds_ed25519(form, message, signature) for form in self.forms)
        made = (hmac.new(form, message, hashlib.sha256).digest() for form in self.forms)
        return any(hmac.compare_digest(one, signature) for one in made)


def read_key(alg: str, content: bytes) -> Key:
    """Of a file.  Raises: `ValueError` with what is wrong with it."""
    text = content.strip()
    raw = bytes.fromhex(text.decode()) if re.fullmatch(rb"([0-9a-fA-F]{2})+", text) else b""
    if alg == HMAC:
        if b"-----BEGIN" in content:
            raise ValueError("is PEM, and no shared secret; a public key is given with --ed25519")
        forms = tuple(form for form in (content, text, raw) if len(form) >= 32)
        if not forms:
            raise ValueError("is shorter than the 32 bytes of a shared secret")
        return Key(HMAC, forms)
    key = content if len(content) == 32 else raw or read_public_key(content)
    key = key.removeprefix(DER) if len(key) == 44 else key
    point = read_point(key) if len(key) == 32 else None
    if point is None or are_same(sum_multiples(8, point), ZERO):  # such a key verifies anything
        raise ValueError("is no Ed25519 public key: PEM, DER, or 32 bytes, also in hex or base64")
    return Key(ED25519, (key,))


def read_public_key(content: bytes) -> bytes:
    """The bytes in PEM, of DER or of base64.  Raises: `ValueError`."""
    blocks = re.findall(rb"-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \1-----", content)
    if any(b"PRIVATE" in label for label, _ in blocks):
        raise ValueError("is a private key: whoever verifies needs the public one only")
    if len(blocks) > 1:
        raise ValueError(f"holds {len(blocks)} keys: give a file for each")
    if blocks and blocks[0][0] != b"PUBLIC KEY":
        raise ValueError(f"is a {blocks[0][0].decode()}, and no Ed25519 public key")
    inside = blocks[0][1] if blocks else content
    return content if content.startswith(DER) else decode_base64(b"".join(inside.split())) or b""


def decode_base64(text: bytes) -> bytes | None:
    """None for what is not the one spelling of some bytes."""
    try:
        found = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return found if base64.b64encode(found) == text else None


def judge_signature(signature: Any, message: str, keys: Mapping[str, Key]) -> str:
    """What is wrong, after a name; empty where it holds.  Without keys only its form is read."""
    members = signature if isinstance(signature, dict) else {}
    if set(members) != {"kid", "alg", "value"} or {type(one) for one in members.values()} != {str}:
        return "has a signature of another form"
    kid, alg, value = (members[name] for name in ("kid", "alg", "value"))
    made, key = decode_base64(value.encode("ascii", "replace")), keys.get(kid)
    if made is None or alg not in (HMAC, ED25519):
        return f"has a signature that cannot be read ({show(alg)})"
    if key is None:
        return f"is signed with a key that was not given: {show(kid)}" if keys else ""
    if key.alg != alg:
        return f"is signed with {alg}, and the key {show(kid)} is one of {key.alg}"
    return "" if key.verifies(message.encode(), made) else "has a signature that does not hold"


def show(value: Any) -> str:
    """A foreign text for a terminal: short, and without letters that command it."""
    text = str(value) if len(str(value)) <= 120 else f"{str(value)[:119]}…"
    return text if text.isprintable() else ascii(text)[1:-1]
