"""`metadata.cinatra.attachments`: the input of a node, or of an agent, that holds files for its model.

"files"    ->  "files"        the input `files` has a list of refs (docs/attachments.md)
"filse"    ->  OAS038, did you mean "files"?

The input needs no place in a template: its refs go to the model beside the prompt.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from oas_compiler.component.component import Component
from oas_compiler.component.metadata import TEXT, Schema
from oas_compiler.component.site import Site
from oas_compiler.findings.spelling import nearest
from oas_compiler.ir import ANY as ANY_TYPE
from oas_compiler.ir import ArrayType, Port, UnionType

KEY: Final = "attachments"
ATTACHMENT_KEYS: Final[dict[str, Schema]] = {KEY: TEXT}
"""Of a node that asks a model, and of an Agent."""


def read_attached(site: Site, component: Component, inputs: Collection[Port]) -> str:
    """The title of the input with the refs; empty where nothing is said, or it is wrong."""
    value = component.cinatra.get(KEY)
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
        f"metadata.cinatra.{KEY} of {site.label} {problem}",
        site.place(f"{component.pointer}/metadata/cinatra/{KEY}"),
        hint=hint,
    )
    return ""


def attached_input(component: Component) -> set[str]:
    """The title that may be an input: it counts as used, without a place in a template."""
    value = component.cinatra.get(KEY)
    return {value} if isinstance(value, str) else set()
