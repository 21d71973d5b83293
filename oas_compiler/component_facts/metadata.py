"""`metadata.cinatra` of a node: the schemas of its keys, and reading them.

cinatra_text(site, "renderer")       ->  metadata.cinatra.renderer, reported if not a string
NODE_KEYS["riskClass"]               ->  {"type": "string"}
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from oas_compiler.component_facts.component import Component, Site
from oas_compiler.findings.finding import describe, nearest
from oas_compiler.ir import ANY as ANY_TYPE
from oas_compiler.ir import (
    AT_LEAST_ONCE,
    AT_MOST_ONCE,
    ArrayType,
    JsonValue,
    ObjectType,
    Port,
    UnionType,
)

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


# ----------------------------------------------------------------------------
# `metadata.cinatra.attachments`: the input of a node, or of an agent, that holds files for its model.
#
# "files"    ->  "files"        the input `files` has a list of refs (docs/attachments.md)
# "filse"    ->  OAS038, did you mean "files"?
#
# The input needs no place in a template: its refs go to the model beside the prompt.


ATTACHMENTS_KEY: Final = "attachments"
ATTACHMENT_KEYS: Final[dict[str, Schema]] = {ATTACHMENTS_KEY: TEXT}
"""Of a node that asks a model, and of an Agent."""


def read_attached(site: Site, component: Component, inputs: Collection[Port]) -> str:
    """The title of the input with the refs; empty where nothing is said, or it is wrong."""
    value = component.cinatra.get(ATTACHMENTS_KEY)
    if value is None:
        return ""
    known = {port.title: port for port in inputs}
    hint = 'write "<title of an input>", which has a list of refs'
    if not isinstance(value, str):
        problem = "must be a text"
    elif value not in known:
        problem = f'names "{value[:80]}", which is no input of it'
        hint = nearest(value, set(known), site.findings) or hint
    elif known[value].type != ANY_TYPE and not isinstance(known[value].type, ArrayType | UnionType):
        problem = f'names the input "{value[:80]}", which holds no list'
    else:
        return value
    site.findings.error(
        "OAS038",
        f"metadata.cinatra.{ATTACHMENTS_KEY} of {site.label} {problem}",
        site.place(f"{component.pointer}/metadata/cinatra/{ATTACHMENTS_KEY}"),
        hint=hint,
    )
    return ""


def attached_input(component: Component) -> set[str]:
    """The title that may be an input: it counts as used, without a place in a template."""
    value = component.cinatra.get(ATTACHMENTS_KEY)
    return {value} if isinstance(value, str) else set()


# ----------------------------------------------------------------------------
# `metadata.cinatra.firstTurn`: a node or an agent begins with the context of a first turn.
#
# {"imageId": "image_id", "workspace": "photos"}    ->  ("image_id", "photos")
# {"imageId": "image_id"}                           ->  ("image_id", "")
#
# `imageId` names an input; `workspace` names an input, or is a word that the host knows.


FIRST_TURN_KEY: Final = "firstTurn"
FIRST_TURN_KEYS: Final[dict[str, Schema]] = {
    FIRST_TURN_KEY: {
        "type": "object",
        "required": ["imageId"],
        "properties": {"imageId": TEXT, "workspace": TEXT},
        "additionalProperties": False,
    }
}
"""Of a node that asks a model, and of an Agent."""
_MEMBERS: Final = ("imageId", "workspace")


def read_first_turn(
    site: Site, component: Component, inputs: Collection[Port]
) -> tuple[str, str] | None:
    """The input with the image's id, and the workspace; None where nothing is said, or it is wrong."""
    value = component.cinatra.get(FIRST_TURN_KEY)
    if value is None:
        return None
    known = {port.title: port for port in inputs}
    problem, at = "", ""
    if not isinstance(value, dict):
        problem = "must be an object"
    elif unknown := next((key for key in value if key not in _MEMBERS), None):
        problem, at = f'has the unknown member "{unknown[:80]}"', f"/{unknown}"
    elif wrong := next((k for k in _MEMBERS if not isinstance(value.get(k, ""), str)), None):
        problem, at = f"has a {wrong} that is no string", f"/{wrong}"
    elif (named := str(value.get("imageId", ""))) not in known:
        problem = (
            f'names the image by "{named}", which is no input of it' if named else "lacks imageId"
        )
    elif isinstance(known[named].type, ArrayType | ObjectType):
        problem = f'names the image by "{named}", which holds no text'
    if not problem:
        assert isinstance(value, dict)
        return str(value["imageId"]), str(value.get("workspace", ""))
    pointer = f"{component.pointer}/metadata/cinatra/{FIRST_TURN_KEY}"
    site.findings.error(
        "OAS038",
        f"metadata.cinatra.{FIRST_TURN_KEY} of {site.label} {problem}",
        site.place(pointer + at if "/" not in at[1:] and "~" not in at else pointer),
        hint='write {"imageId": "<title of an input>", "workspace": "<a word that the host knows>"}',
    )
    return None


def named_inputs(component: Component) -> set[str]:
    """The titles that may be inputs: they count as used, without a place in a template."""
    value = component.cinatra.get(FIRST_TURN_KEY)
    if not isinstance(value, dict):
        return set()
    return {one for key in _MEMBERS if isinstance(one := value.get(key), str)}
