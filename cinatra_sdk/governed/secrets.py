"""Finding credentials where they must not be: payloads, answers, error texts.

In: a JSON value or a text.  Out: the place of a credential (never its value), or the text with
every secret replaced by `[redacted]`.

    find_secret({"bearer_token": "abc"})  ->  "the key 'bearer_token'"
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.governed.secret_forms import REDACTED, Forms, cut_from, forms_of

SECRET_KEYS: Final = frozenset(
    {
        "bearer_token", "api_key", "apikey", "a2a_bearer_token", "mcp_server_url", "password",
        "secret", "token", "access_token", "refresh_token", "client_secret", "private_key",
        "authorization", "run_token", "__cinatra_run_token__", "bridge_token",
    }
)  # fmt: skip
"""Keys whose non-empty value is a credential (Cinatra's list, and the carriers of run tokens)."""

_SHORTEST_ATTESTATION: Final = 70
_LARGEST: Final = 2**1000
_ATTESTATION: Final = re.compile(
    r"(?i)(?<![a-z0-9])(?:s1|v2)(?::|%3a)[0-9]{9,11}(?::|%3a)[0-9a-f]{64}(?![0-9a-f])"
)
"""Signatures of `HttpPlatform`: valid for minutes, for any holder and for other calls too."""

_PATTERNS: Final = (
    _ATTESTATION,
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
    """The place of a credential in `value`, in words; empty where there is none."""
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
    text = cut_from(text, forms_of(tuple(known)))
    for pattern in _PATTERNS:
        text = pattern.sub(REDACTED, text)
    return text


def cut_out(value: JsonValue, secrets: Iterable[str]) -> JsonValue:
    """`value` with every occurrence of the given secrets in its strings, keys and numbers replaced."""
    forms = forms_of(tuple(secrets))
    return _remove_secrets(value, forms) if forms else value


def _remove_secrets(value: JsonValue, forms: Forms) -> JsonValue:
    if isinstance(value, str):
        # A fast path for every call of a run: most names and words are shorter than any secret.
        if len(value) < forms.shortest and len(value) < _SHORTEST_ATTESTATION:
            return value
        return without_attestations(cut_from(value, forms))
    if isinstance(value, list):
        return [_remove_secrets(item, forms) for item in value]
    if isinstance(value, dict):
        return {
            str(_remove_secrets(key, forms)): _remove_secrets(item, forms)
            for key, item in value.items()
        }
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    # A token of digits may come back as a number.  (No run keeps one of more than 64 bit, and
    # Python does not write one of thousands of digits.)
    digits = repr(value) if 1000 <= abs(value) < _LARGEST else ""
    return REDACTED if cut_from(digits, forms) != digits else value


def without_attestations(text: str) -> str:
    """`text` without signatures of `HttpPlatform`, also those of an earlier call."""
    marked = any(mark in text for mark in ("1:", "2:", "1%3", "2%3"))
    return _ATTESTATION.sub(REDACTED, text) if marked else text


def clean_error(error: BaseException, secrets: Iterable[str]) -> bool:
    """Cut the secrets out of all parts of `error`: text, hint, url, code, cause.

    Returns False where the error still shows a secret, in the name of its class or a computed text.
    """
    known = tuple(secrets)
    error.args = tuple(_clean_part(part, known) for part in error.args)
    for name, held in list(vars(error).items()):
        setattr(error, name, _clean_part(held, known))
    error.__cause__ = error.__context__ = None
    said = f"{type(error).__name__} {error} {error!r}"
    return redact(said, known) == said


def _clean_part(part: Any, known: tuple[str, ...]) -> Any:
    return redact(part, known) if isinstance(part, str) else cut_out(part, known)
