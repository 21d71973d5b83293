"""Values that do not get into the text of a module: the process lends them.

    {"Authorization": "Bearer s3cret"}      ->  {"$component_ref": "call.sensitive_headers"}
    {"Authorization": "Bearer {{TOKEN}}"}   ->  stays: nothing of a credential stands there

The names are those of Agent Spec's sensitive fields, and `HostParts(secrets=…)` has their values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from cinatra_sdk.values.references import REFERENCE
from cinatra_sdk.values.sensitive import read_name
from oas_compiler.document.sensitive import SENSITIVE_FIELDS
from oas_compiler.ir import FlowIR, JsonValue, McpListNode, McpToolNode, walk
from oas_compiler.ir.exporting import ir_to_json, list_sealed

_PLACEHOLDER: Final = re.compile(r"\{\{\s*[A-Za-z_][A-Za-z0-9_]*\s*\}\}")
"""Of the environment, or of an input; not an expression, which may spell anything."""
_SCHEME: Final = re.compile(r"(?:bearer|basic|token|apikey|api-key|key) ", re.IGNORECASE)
_FILES: Final = frozenset(
    {"key_file", "cert_file", "ca_file", "ssl_ca_cert", "ssl_cert", "ssl_key"}
)
"""Sensitive fields that hold the name of a file; not what is in it."""
_PARAMETERS: Final = "default_generation_parameters"
"""Parameters of a model: a provider's `user` is no login, and nothing lends what stands there."""
_ALWAYS_SECRET: Final = frozenset({"api_key", "client_secret", "credentials", "password"})


class EmitRefused(Exception):
    """A flow that cannot become a module; says why."""


class LentNames:
    """The names that stand for values in one module; taken: those that the file has already."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.values: dict[str, JsonValue] = {}
        self.taken = frozenset(taken)

    def replace_all(self, owner: str, field: str, value: dict[str, JsonValue]) -> JsonValue:
        """A sensitive object, without its literal values; owner: whose field it is."""
        return value if _is_written(value) else self._name(owner, field, value)

    def replace_fields(self, owner: str, value: JsonValue) -> JsonValue:
        """`value` without the literal values of sensitive fields anywhere in it.

        Raises: `EmitRefused` for a credential among the parameters of a model.
        """
        if isinstance(value, list):
            return [self.replace_fields(owner, item) for item in value]
        if not isinstance(value, dict):
            return value
        named = value.get("id")
        owner = named if isinstance(named, str) and named else owner
        return {key: self._replace_field(owner, key, member) for key, member in value.items()}

    def _replace_field(self, owner: str, key: str, member: JsonValue) -> JsonValue:
        if key == _PARAMETERS:
            _refuse_secrets(owner, member)
            return member
        is_file = key in _FILES and isinstance(member, str) and "\n" not in member
        if key not in SENSITIVE_FIELDS or is_file:
            return self.replace_fields(owner, member)
        if member in (None, "", {}) or read_name(member) or _is_written(member):
            return member
        return self._name(owner, key, member)

    def _name(self, owner: str, field: str, value: JsonValue) -> JsonValue:
        name, number = f"{owner}.{field}", 1
        while name in self.taken or self.values.setdefault(name, value) != value:
            number += 1
            name = f"{owner}_{number}.{field}"
        return {REFERENCE: name}


def find_names(flow: FlowIR) -> frozenset[str]:
    """The names that stand for sensitive values in the file itself."""
    servers = [
        node.server for _, node in walk(flow) if isinstance(node, (McpToolNode, McpListNode))
    ]
    held: list[JsonValue] = [sealed.value() for sealed in list_sealed(flow)]
    held += [server.settings.value() for server in servers]
    held.append(ir_to_json(flow))
    return frozenset(name for value in held for name in _iterate_names(value))


def _iterate_names(value: JsonValue) -> Iterable[str]:
    name = read_name(value)
    if name:
        yield name
    elif isinstance(value, dict):
        for member in value.values():
            yield from _iterate_names(member)
    elif isinstance(value, list):
        for item in value:
            yield from _iterate_names(item)


def _refuse_secrets(owner: str, parameters: JsonValue) -> None:
    for key in parameters if isinstance(parameters, dict) else ():
        if key in _ALWAYS_SECRET:
            raise EmitRefused(
                f"the parameters of the model of '{owner}' have a credential, '{key}': nothing lends "
                "it there; take it out, or give the model its api_key"
            )


def _is_written(value: JsonValue) -> bool:
    """Whether every text in it is made of placeholders, but for a word such as Bearer before one."""
    if read_name(value):
        return True
    if isinstance(value, dict):
        return all(_is_written(member) for member in value.values())
    if isinstance(value, list):
        return all(_is_written(item) for item in value)
    if not isinstance(value, str):
        return value is None or isinstance(value, bool)
    text = value.strip()
    scheme = _SCHEME.match(text)
    rest = text[scheme.end() :] if scheme else text
    return not text or (not _PLACEHOLDER.sub("", rest).strip() and bool(rest.strip()))
