"""`metadata.cinatra` of a node: the schemas of its keys, and reading them.

cinatra_text(site, "renderer")       ->  metadata.cinatra.renderer, reported if not a string
NODE_KEYS["riskClass"]               ->  {"type": "string"}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from oas_compiler.component.site import Site
from oas_compiler.ir import AT_LEAST_ONCE, AT_MOST_ONCE, JsonValue
from oas_compiler.text.descriptions import describe

Schema = dict[str, JsonValue]

TEXT: Final[Schema] = {"type": "string"}
FLAG: Final[Schema] = {"type": "boolean"}
TEXTS: Final[Schema] = {"type": "array", "items": {"type": "string"}}
TEXT_MAP: Final[Schema] = {"type": "object", "additionalProperties": {"type": "string"}}
ANY: Final[Schema] = {}
SCHEMA: Final[Schema] = {"allOf": [{"$ref": "#/$defs/jsonSchema"}]}
NODE_KEYS: Final[Mapping[str, Schema]] = {
    "riskClass": TEXT,
    "requiresApproval": FLAG,
    "description": TEXT,
    "purpose": TEXT,
    "packageName": TEXT,
    "renderer": TEXT,
    "a2uiSurfaceId": TEXT,
    "sideEffects": FLAG,
}
"""What a host reads of a node that does something."""
CHILD_KEYS: Final[Mapping[str, Schema]] = {
    "hitlOwnedBy": {"enum": ["childAgent", "self"]},
    "a2uiSurfaceIdOverride": TEXT,
}
"""What a host reads of a node that hands work to another agent, beside these."""


EFFECT_KEYS: Final[Mapping[str, Schema]] = {"effect": {"enum": [AT_MOST_ONCE, AT_LEAST_ONCE]}}
"""What this compiler reads of a node that makes an effect, beside these."""


def cinatra_effect(site: Site) -> str:
    """`at_most_once` where the author wrote it; empty for at least once, which is the default."""
    value = site.component.cinatra.get("effect")
    if value not in (None, AT_MOST_ONCE, AT_LEAST_ONCE):
        cinatra_error(site, "effect", f'"{AT_MOST_ONCE}" or "{AT_LEAST_ONCE}"')
    return AT_MOST_ONCE if value == AT_MOST_ONCE else ""


def refuse_effect(site: Site) -> None:
    """Report `at_most_once` at a node that could not keep it: an author would rely on it."""
    if site.component.cinatra.get("effect") == AT_MOST_ONCE:
        site.findings.error(
            "OAS038",
            f'metadata.cinatra.effect of {site.label} is "{AT_MOST_ONCE}", which only an ApiNode and '
            "a ToolNode can keep",
            site.place(f"{site.component.pointer}/metadata/cinatra/effect"),
            hint="write it at the nodes that make the calls",
        )


def cinatra_texts(site: Site, key: str) -> tuple[str, ...]:
    """A list of strings in `metadata.cinatra`."""
    value = site.component.cinatra.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        cinatra_error(site, key, "a list of strings")
        return ()
    return tuple(dict.fromkeys(name for name in value if isinstance(name, str)))


def cinatra_text_map(site: Site, key: str) -> dict[str, str]:
    """An object of strings in `metadata.cinatra`."""
    value = site.component.cinatra.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        cinatra_error(site, key, "an object of strings")
        return {}
    return {name: text for name, text in value.items() if isinstance(text, str)}


def cinatra_text(site: Site, key: str) -> str:
    """A string in `metadata.cinatra`."""
    value = site.component.cinatra.get(key)
    if value is not None and not isinstance(value, str):
        cinatra_error(site, key, "a string")
    return value if isinstance(value, str) else ""


def cinatra_error(site: Site, key: str, wanted: str) -> None:
    value = site.component.cinatra.get(key)
    site.findings.error(
        "OAS038",
        f"metadata.cinatra.{key} of {site.label} must be {wanted}, not {describe(value)}",
        site.place(f"{site.component.pointer}/metadata/cinatra/{key}"),
        hint=_format_hint(key, value, wanted),
    )


def _format_hint(key: str, value: JsonValue, wanted: str) -> str:
    """The value as it was surely meant, else an example of the form."""
    if wanted == "a list of strings" and isinstance(value, str):
        return f'write "{key}": ["{value[:80]}"]'
    if wanted.startswith("a whole number") and isinstance(value, str) and value.isdecimal():
        return f'write "{key}": {value[:20]}, without quotes'
    forms = {
        "a string": f'write "{key}": "…"',
        "a list of strings": f'write "{key}": ["…"]',
        "an object of strings": f'write "{key}": {{"…": "…"}}',
        "a list of objects": f'write "{key}": [{{…}}]',
        "a JSON Schema object": f'write "{key}": {{"type": "object", …}}',
    }
    return forms.get(wanted, f"write {wanted}, or leave it out")
