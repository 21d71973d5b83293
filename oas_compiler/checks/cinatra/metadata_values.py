"""The values in `metadata.cinatra` of a component have the types that a host reads.

    "metadata": {"cinatra": "…"}                                 ->   OAS135: no object
    "requiresApproval": "true"                                   ->   OAS135 without quotes
    "gateSteps": [{"gateCout": 2}]                               ->   OAS135 did you mean "gateCount"?
    "gateSteps": [{"hitlOwnedBy": "parent"}]                     ->   OAS135 childAgent, self

The types are those of the dialect (`schema/dialect.py`).  A key that another rule checks is left to that rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from cinatra_sdk.data.text.message_words import did_you_mean
from oas_compiler.checks.lookup.value_flaws import (
    Flaw,
    has_block,
    known_keys,
    misspelt,
    misspelt_keys,
    tell,
)
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.document.scope import Unread
from oas_compiler.findings.finding import describe
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue
from oas_compiler.schema.dialect import gate_step, keys_of
from oas_compiler.text.marks import child

_TOLD: Final = frozenset(
    {
        "agentDependencies", "contextSlots", "effect", "formSchema", "hidden", "hitlScreens",
        "inputMessageSchema", "inputRenderers", "inputTitles", "llm", "maxGateVisits",
        "packageVersion", "renderer", "required", "riskClass", "type",
    }
)  # fmt: skip
"""Keys whose values other rules check."""
_TOLD_OF: Final = frozenset({("FlowNode", "packageName"), ("AgentNode", "requiresApproval")})
_TOLD_IN_STEPS: Final = frozenset({"renderer", "riskClass", "requiresApproval"})
_KINDS: Final[Mapping[str, tuple[type, str]]] = {
    "string": (str, "a string"),
    "boolean": (bool, "true or false"),
    "array": (list, "a list"),
    "object": (dict, "an object"),
    "integer": (int, "a whole number"),
}
_MOST: Final = 200
"""Entries of a list that are checked."""


@rule(
    code="OAS135",
    name="metadata-values",
    severity="warning",
    summary="A value in metadata.cinatra is of another kind than a host reads, or has a misspelt key.",
    fix="Write a value of the kind that the message names.",
    source="Cinatra, metadata.cinatra",
    needs="cinatra",
    fixable=True,
    bad='"requiresApproval": "true"',
    good='"requiresApproval": true',
)
def metadata_values(subject: Subject, report: Report) -> None:
    misread = subject.unread_lines(Unread.YAML_WORD)
    for component in subject.components:
        for flaw in _find_component_flaws(subject, component):
            if misread and subject.place(flaw.pointer).line in misread:
                continue
            within = f" in metadata.cinatra of {component.label}"
            tell(report, flaw, subject.place, within=within)


def _find_component_flaws(subject: Subject, component: Written) -> Iterator[Flaw]:
    if not has_block(component):
        metadata = component.value.get("metadata")
        is_root = subject.root is not None and component.pointer == subject.root.pointer
        if isinstance(metadata, dict) and not is_root:  # OAS022, OAS102
            yield Flaw(
                f"an object is missing, there is {describe(metadata['cinatra'])},",
                component.at("metadata", "cinatra"),
                'write it as an object: {"riskClass": "read_only", …}',
            )
        return
    at = component.at("metadata", "cinatra")
    for key, schema in (keys_of(component.type) or {}).items():
        value = component.cinatra.get(key)
        if key == "gateSteps":
            schema = {"type": "array", "items": gate_step()}  # noqa: PLW2901 - without its reference
            if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
                continue  # OAS038
        elif (
            key in _TOLD
            or (component.type, key) in _TOLD_OF
            or key not in known_keys(component.type)
        ):
            continue
        yield from _find_value_flaws(key, value, schema, child(at, key))


def _find_value_flaws(
    name: str, value: JsonValue, schema: Mapping[str, JsonValue], at: str
) -> Iterator[Flaw]:
    """The problems of one value and of the values inside it."""
    if value is None:
        return
    kind = schema.get("type")
    if isinstance(kind, str) and not _is_of(value, kind):
        yield Flaw(
            f"{name} must be {_KINDS[kind][1]}, not {describe(value)},", at, _format_hint(value)
        )
        return
    known = schema.get("enum")
    if isinstance(known, list) and value not in known:
        words = [str(word) for word in known]
        text = value if isinstance(value, str) else ""
        shown = f'"{text[:80]}"' if text else describe(value)
        yield Flaw(
            f"{name} is {shown}, which no host knows,",
            at,
            did_you_mean(text, words) or f"it is one of {', '.join(words)}",
        )
    items, members = schema.get("items"), schema.get("properties")
    if isinstance(value, list) and isinstance(items, dict):
        for index, entry in enumerate(value[:_MOST]):
            yield from _find_value_flaws(f"an entry of {name}", entry, items, f"{at}/{index}")
    if isinstance(value, dict) and isinstance(members, dict):
        yield from _in_object(name, value, members, at)


def _in_object(
    name: str, value: Mapping[str, JsonValue], members: Mapping[str, JsonValue], at: str
) -> Iterator[Flaw]:
    for key, meant in misspelt_keys(value, frozenset(members)).items():
        yield misspelt(f'"{key[:80]}" of {name} is read by nobody', child(at, key), meant)
    for key, schema in members.items():
        if isinstance(schema, dict) and key not in _TOLD_IN_STEPS:
            yield from _find_value_flaws(f"{key} of {name}", value.get(key), schema, child(at, key))


def _is_of(value: JsonValue, kind: str) -> bool:
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, _KINDS[kind][0])


def _format_hint(value: JsonValue) -> str:
    word = value.strip().casefold() if isinstance(value, str) else ""
    meant = {"true": "true", "yes": "true", "false": "false", "no": "false"}.get(word, "")
    if meant or word.isdecimal():
        return f"write {meant or word} without quotes"
    if isinstance(value, (int, float)):
        return f'quote it: "{str(value).lower() if isinstance(value, bool) else value}"'
    return "correct it, or leave it out"
