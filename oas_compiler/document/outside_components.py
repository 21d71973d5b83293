"""Components that stand outside of the flow file, joined with it into one document.

flow         {"llm_config": {"$component_ref": "gpt"}, …}
components   {"$referenced_components": {"gpt": {"component_type": "OpenAiConfig", "api_key": "sk-…"}}}
    joined   {…, "$referenced_components": {"gpt": {…, "api_key": {"$component_ref": "gpt.api_key"}}}}
    secrets  {"gpt.api_key": "sk-…"}

Only components that the flow refers to are joined.  Values of sensitive fields never become part of the
document, which is stored with its runs: the host lends these values (`HostParts.secrets`).
Source: Agent Spec, disaggregated configurations and sensitive fields.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from cinatra_sdk.data.ports import REFERENCE
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.document.scope import DEFINITIONS, SENSITIVE_FIELDS, is_sensitive_name
from oas_compiler.findings.finding import Findings
from oas_compiler.ir import JsonValue
from oas_compiler.text.source import Source, file_name, read_mapping, read_source

ComponentsInput = (
    str | os.PathLike[str] | bytes | Mapping[str, object] | Sequence[str | os.PathLike[str]]
)
"""A file of components, several, the bytes of one, or components and values by their ids."""
_HINT: Final = 'a file of components has "$referenced_components", and no component of its own'


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """Components and values by id, and the values of sensitive fields by `<id>.<field>`."""

    definitions: Mapping[str, JsonValue] = field(default_factory=dict)
    secrets: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)


def read_registry(given: ComponentsInput | None, findings: Findings) -> Registry:
    """What is wrong with a file of components is recorded."""
    definitions: dict[str, JsonValue] = {}
    secrets: dict[str, JsonValue] = {}
    for entries, name in _read_all(given, findings):
        for key, value in entries.items():
            known = secrets if is_sensitive_name(key) else definitions
            if key in known and known[key] != value:
                findings.error(
                    "OAS012",
                    f'"{key[:80]}" is defined twice in the components, differently'
                    + (f", again in {name}" if name else ""),
                    hint="give one of the two another name",
                )
            known[key] = value
    sealed = {key: _seal(key, value, secrets) for key, value in definitions.items()}
    registry = Registry(definitions=sealed)
    for value in sealed.values():
        secrets |= _list_lent(_name_lent(value, registry), registry)
    filled = {name: _put_values(value, registry) for name, value in secrets.items()}
    return replace(registry, secrets=filled)


def read_secrets(given: ComponentsInput | None, document: JsonValue) -> Mapping[str, JsonValue]:
    """The values of sensitive fields that the components hold, for the document that `join` made."""
    if given is None:
        return {}
    registry = read_registry(given, Findings())
    return {**registry.secrets, **_list_lent(document, registry)}


def join(read: Source, registry: Registry, findings: Findings) -> Source:
    """The document with the components that it leads to and does not define."""
    value = _name_lent(read.value, registry)
    if not isinstance(value, dict) or not registry.definitions:
        return read
    block = value.get(DEFINITIONS)
    own: dict[str, JsonValue] = block if isinstance(block, dict) else {}
    defined = set(_list_defined(value))
    wanted = dict.fromkeys(_list_references(value))
    more: dict[str, JsonValue] = {}
    for name in wanted:
        if name in own and name in registry.definitions:
            findings.error(
                "OAS012",
                f'"{name[:80]}" is defined in this document and in the components',
                read.place(f"/{DEFINITIONS}"),
                hint="leave one of the two out",
            )
    waiting = [name for name in wanted if name not in defined]
    for name in waiting:
        if name in registry.definitions and name not in more:
            more[name] = _name_lent(registry.definitions[name], registry)
            waiting += _list_references(more[name])
    if not more and value == read.value:
        return read
    joined = {**value, DEFINITIONS: {**own, **more}}
    raw = json.dumps(joined, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return replace(read, value=joined, raw=raw.encode("utf-8", "surrogatepass"))


def _read_all(
    given: ComponentsInput | None, findings: Findings
) -> Iterator[tuple[dict[str, JsonValue], str]]:
    """The definitions of each part, with the name of its file."""
    if given is None:
        return
    if isinstance(given, Mapping):
        value = read_mapping(given, findings) if given else None
        if isinstance(value, dict):
            block = value.get(DEFINITIONS)
            yield (block if isinstance(block, dict) else value), ""
        return
    if isinstance(given, (str, os.PathLike, bytes, bytearray)):
        given = [given]  # type: ignore[list-item]  # bytes are a document, not a sequence of names
    for one in given:
        yield from _read_file(one, findings)


def _read_file(
    one: str | os.PathLike[str] | bytes, findings: Findings
) -> Iterator[tuple[dict[str, JsonValue], str]]:
    name = file_name(one)
    own = Findings()
    read = read_source(one, own)
    findings.findings += [found.in_file(name) for found in own]
    if read is None:
        return
    value = read.value
    block = value.get(DEFINITIONS) if isinstance(value, dict) else None
    if not isinstance(block, dict) or (isinstance(value, dict) and "component_type" in value):
        where = f"{name}: " if name else ""
        findings.error("OAS022", f"{where}this is no file of components", hint=_HINT)
        return
    yield block, name


def _seal(key: str, value: JsonValue, secrets: dict[str, JsonValue]) -> JsonValue:
    """The component with references in place of the values of its sensitive fields."""
    if not isinstance(value, dict):
        return [_seal(key, one, secrets) for one in value] if isinstance(value, list) else value
    own_id = value.get("id") if "component_type" in value else None
    key = own_id if isinstance(own_id, str) and own_id else key
    found: dict[str, JsonValue] = {}
    for name, member in value.items():
        sealed = name in SENSITIVE_FIELDS and "component_type" in value and member
        if sealed and not (isinstance(member, dict) and REFERENCE in member):
            secret = f"{key}.{name}"
            secrets.setdefault(secret, member)
            found[name] = {REFERENCE: secret}
        else:
            found[name] = _seal(key, member, secrets)
    return found


def _name_lent(value: JsonValue, registry: Registry, field: str = "") -> JsonValue:
    """`value` where a reference in a sensitive field to a value of the components (`my_key`) is a
    name of the kind that SDKs write (`my_key.api_key`), so that the value is lent and not joined.
    """
    if isinstance(value, list):
        return [_name_lent(one, registry, field) for one in value]
    if not isinstance(value, dict):
        return value
    name = value.get(REFERENCE)
    if field and isinstance(name, str) and _is_plain_value(name, registry):
        return {REFERENCE: f"{name}.{field}"}
    is_component = "component_type" in value
    return {
        key: _name_lent(
            member, registry, key if is_component and key in SENSITIVE_FIELDS else field
        )
        for key, member in value.items()
    }


def _list_lent(value: JsonValue, registry: Registry) -> dict[str, JsonValue]:
    """The values that the names made by `_name_lent` stand for."""
    names = {name: name.rpartition(".")[0] for name in _list_references(value)}
    return {
        name: registry.definitions[known]
        for name, known in names.items()
        if is_sensitive_name(name) and _is_plain_value(known, registry)
    }


def _put_values(value: JsonValue, registry: Registry) -> JsonValue:
    """A sensitive value with those of the components that its members refer to."""
    if isinstance(value, list):
        return [_put_values(one, registry) for one in value]
    if not isinstance(value, dict):
        return value
    name = value.get(REFERENCE)
    if isinstance(name, str) and _is_plain_value(name, registry):
        return registry.definitions[name]
    return {key: _put_values(member, registry) for key, member in value.items()}


def _is_plain_value(name: str, registry: Registry) -> bool:
    value = registry.definitions.get(name)
    plain = not isinstance(value, dict) or not {REFERENCE, "component_type"} & value.keys()
    return name in registry.definitions and plain


def _list_references(value: JsonValue) -> list[str]:
    """The names that are referred to, each once, in their order."""
    found: dict[str, None] = {}
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, dict):
            name = one.get(REFERENCE)
            if isinstance(name, str):
                found[name] = None
            stack += one.values()
        elif isinstance(one, list):
            stack += one
    return list(found)


def _list_defined(value: JsonValue) -> Iterator[str]:
    """The names that any block of the document defines."""
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, dict):
            block = one.get(DEFINITIONS)
            if isinstance(block, dict):
                yield from block
            stack += one.values()
        elif isinstance(one, list):
            stack += one
