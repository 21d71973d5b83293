"""`metadata.cinatra.firstTurn`: a node or an agent begins with the context of a first turn.

{"imageId": "image_id", "workspace": "photos"}    ->  ("image_id", "photos")
{"imageId": "image_id"}                           ->  ("image_id", "")

`imageId` names an input; `workspace` names an input, or is a word that the host knows.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from oas_compiler.component.component import Component
from oas_compiler.component.metadata import TEXT, Schema
from oas_compiler.component.site import Site
from oas_compiler.ir import ArrayType, ObjectType, Port

KEY: Final = "firstTurn"
FIRST_TURN_KEYS: Final[dict[str, Schema]] = {
    KEY: {
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
    value = component.cinatra.get(KEY)
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
    pointer = f"{component.pointer}/metadata/cinatra/{KEY}"
    site.findings.error(
        "OAS038",
        f"metadata.cinatra.{KEY} of {site.label} {problem}",
        site.place(pointer + at if "/" not in at[1:] and "~" not in at else pointer),
        hint='write {"imageId": "<title of an input>", "workspace": "<a word that the host knows>"}',
    )
    return None


def named_inputs(component: Component) -> set[str]:
    """The titles that may be inputs: they count as used, without a place in a template."""
    value = component.cinatra.get(KEY)
    if not isinstance(value, dict):
        return set()
    return {one for key in _MEMBERS if isinstance(one := value.get(key), str)}
