"""Finding credentials where they must not be: payloads, answers, error texts.

In: a JSON value or a text.  Out: what was found (its place, never its value), or the text
with every secret replaced by `[redacted]`.

    find_secret({"bearer_token": "abc"})  ->  "the key 'bearer_token'"
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from pydantic import JsonValue

SECRET_KEYS: Final = frozenset(
    {
        "bearer_token", "api_key", "apikey", "a2a_bearer_token", "mcp_server_url", "password",
        "secret", "token", "access_token", "refresh_token", "client_secret", "private_key",
        "authorization", "run_token", "__cinatra_run_token__", "bridge_token",
    }
)  # fmt: skip
"""Keys whose non-empty value is a credential (Cinatra's list, and the carriers of run tokens)."""

_PATTERNS: Final = (
    re.compile(r"\bsk-[A-Za-z0-9_-]{16,}"),
    re.compile(r"\bgh[opars]_[A-Za-z0-9]{20,}"),
    re.compile(r"\bya29\.[A-Za-z0-9_-]{16,}"),
    re.compile(r"\bxox[bpars]-[A-Za-z0-9-]{10,}"),
    re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    re.compile(r"\beyJ[A-Za-z0-9_-]{8,512}\.eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{4,1024}"),
    re.compile(r"(?i:\bBearer)\s+[A-Za-z0-9._~+/-]{16,}"),
)
"""Shapes of well-known credentials; each is linear in the length of the text."""


def find_secret(value: object) -> str:
    """Where `value` holds a credential, in words; empty when it holds none."""
    stack: list[tuple[object, str]] = [(value, "")]
    while stack:
        item, pointer = stack.pop()
        if isinstance(item, str):
            if any(pattern.search(item) for pattern in _PATTERNS):
                return f"a credential at '{pointer or '/'}'"
        elif isinstance(item, Mapping):
            for key, child in item.items():
                if str(key).lower() in SECRET_KEYS and isinstance(child, str) and child:
                    return f"the key '{key}'"
                stack.append((child, f"{pointer}/{key}"))
        elif isinstance(item, (list, tuple)):
            stack.extend((child, f"{pointer}/{i}") for i, child in enumerate(item))
    return ""


def without_secrets(values: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The members of `values` that hold no credential."""
    return {key: value for key, value in values.items() if not find_secret({key: value})}


def redact(text: str, known: Iterable[str] = ()) -> str:
    """`text` without the `known` secrets of the run and without well-known shapes of secrets."""
    for secret in known:
        if len(secret) >= 4:
            text = text.replace(secret, "[redacted]")
    for pattern in _PATTERNS:
        text = pattern.sub("[redacted]", text)
    return text


def cut_out(value: JsonValue, secrets: Iterable[str]) -> JsonValue:
    """`value` with every occurrence of the given secrets in its strings replaced."""
    known = [secret for secret in secrets if len(secret) >= 4]
    return _without(value, known) if known else value


def _without(value: JsonValue, known: list[str]) -> JsonValue:
    if isinstance(value, str):
        for secret in known:
            value = value.replace(secret, "[redacted]")
        return value
    if isinstance(value, list):
        return [_without(item, known) for item in value]
    if isinstance(value, dict):
        return {str(_without(key, known)): _without(item, known) for key, item in value.items()}
    return value
