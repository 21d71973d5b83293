"""Values that do not get into the text of a module: the process lends them.

    {"Authorization": "Bearer s3cret"}      ->  {"$component_ref": "call.sensitive_headers"}
    {"Authorization": "Bearer {{TOKEN}}"}   ->  stays: nothing of a credential stands there

The names are those of Agent Spec's sensitive fields, and `HostParts(secrets=…)` has their values.
"""

from __future__ import annotations

import re
from typing import Final

from cinatra_sdk.contract import REFERENCE
from cinatra_sdk.values.sensitive import read_name
from oas_compiler.document.sensitive import SENSITIVE_FIELDS
from oas_compiler.ir import JsonValue

_PLACEHOLDER: Final = re.compile(r"\{\{[^{}]*\}\}")
_SCHEME: Final = re.compile(r"[A-Za-z]{0,10}")
_FILES: Final = frozenset(
    {"key_file", "cert_file", "ca_file", "ssl_ca_cert", "ssl_cert", "ssl_key"}
)
"""Sensitive fields that hold the name of a file, not what is in it."""


class LentNames:
    """The names that stand for values in one module."""

    def __init__(self) -> None:
        self.values: dict[str, JsonValue] = {}

    def replace_all(self, owner: str, field: str, value: dict[str, JsonValue]) -> JsonValue:
        """A sensitive object, without its literal values; owner: whose field it is."""
        return value if _is_written(value) else self._name(owner, field, value)

    def replace_fields(self, owner: str, value: JsonValue) -> JsonValue:
        """`value` without the literal values of sensitive fields anywhere in it."""
        if isinstance(value, list):
            return [self.replace_fields(owner, item) for item in value]
        if not isinstance(value, dict):
            return value
        named = value.get("id")
        owner = named if isinstance(named, str) and named else owner
        return {key: self._replace_field(owner, key, member) for key, member in value.items()}

    def _replace_field(self, owner: str, key: str, member: JsonValue) -> JsonValue:
        if key not in SENSITIVE_FIELDS or key in _FILES:
            return self.replace_fields(owner, member)
        if member in (None, "", {}) or read_name(member) or _is_written(member):
            return member
        return self._name(owner, key, member)

    def _name(self, owner: str, field: str, value: JsonValue) -> JsonValue:
        name, number = f"{owner}.{field}", 1
        while self.values.setdefault(name, value) != value:
            number += 1
            name = f"{owner}_{number}.{field}"
        return {REFERENCE: name}


def _is_written(value: JsonValue) -> bool:
    """Whether every text in it is made of placeholders, but for a word such as Bearer."""
    if read_name(value):
        return True
    if isinstance(value, dict):
        return all(_is_written(member) for member in value.values())
    if isinstance(value, list):
        return all(_is_written(item) for item in value)
    if not isinstance(value, str):
        return value is None or isinstance(value, bool)
    rest = _PLACEHOLDER.sub("", value).strip()
    return not rest or (rest != value.strip() and _SCHEME.fullmatch(rest) is not None)
