"""The fields of component types: the kind and meaning of each, and whether it is read.

    Field("text", "The Jinja template.", required=True, template=True)

In: nothing.  Out: `Field`, and the fields that every component and every node has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from oas_compiler.ir import JsonValue

Kind = Literal["text", "flag", "list", "object", "any", "component"]
"""`component` is a component or a reference to one; `list` may hold either."""

SHAPES: Mapping[Kind, tuple[type, str]] = {
    "text": (str, "a string"),
    "flag": (bool, "true or false"),
    "list": (list, "a list"),
    "object": (dict, "an object"),
    "component": (dict, "a component or a $component_ref"),
}
"""Kind of field → Python types of its values, and its name in messages; `any` is any value."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a component type; null counts as absent unless the kind is `any`."""

    kind: Kind
    words: str
    """What it means, in a sentence for editors."""
    required: bool = False
    template: bool = False
    """Whether its strings are templates, from whose names inputs follow."""
    is_read: bool = True
    """Whether the IR holds the field; fields that no run reads are kept in the node's `unread`."""
    refused: Callable[[JsonValue], bool | str] | None = None
    """Whether a value asks for a feature that does not run yet (OAS090); a text says why."""


def is_used(value: JsonValue) -> bool:
    """Whether a value has any content."""
    return bool(value)


def renames(value: JsonValue) -> bool:
    """Whether a mapping of names gives a name another one."""
    return isinstance(value, dict) and any(key != name for key, name in value.items())


COMPONENT_FIELDS: Final[Mapping[str, Field]] = {
    "component_type": Field("text", "What kind of component this is.", required=True),
    "id": Field("text", "The identifier of the component; of a node it is never renamed."),
    "name": Field("text", "What people see."),
    "description": Field("text", "What it is for, in words."),
    "metadata": Field(
        "object", "Further facts; `cinatra` holds those that Cinatra and the gates use."
    ),
    # survey.py checks it
    "agentspec_version": Field(
        "any", "The version of Agent Spec that the document is written for, at its top."
    ),
    "air_version": Field("any", "The older name of `agentspec_version`."),
    "component_plugin_name": Field(
        "text", "The plugin that adds this component type.", is_read=False
    ),
    "component_plugin_version": Field("text", "Version of that plugin.", is_read=False),
    "$referenced_components": Field(
        "object", "The components that `$component_ref` can name, by their names."
    ),
}
"""Of every component."""

PORT_FIELDS: Final[Mapping[str, Field]] = {
    "inputs": Field("list", "Inputs, each with a title that edges and templates use."),
    "outputs": Field("list", "Outputs, each with a title that edges use."),
}

NODE_FIELDS: Final[Mapping[str, Field]] = {
    **COMPONENT_FIELDS,
    **PORT_FIELDS,
    "id": Field(
        "text",
        "The identifier of the component; of a node it is never renamed.",
        required=True,
    ),
    "branches": Field(
        "list", "The ways out of this node; they follow from the node and may be left out."
    ),
}
"""Of every node."""

PLUGIN_FIELDS: Final[Mapping[str, Field]] = {
    **NODE_FIELDS,
    "input_mapping": Field(
        "object", "Renames inputs of the plugin's node.", is_read=False, refused=renames
    ),
    "output_mapping": Field(
        "object", "Renames outputs of the plugin's node.", is_read=False, refused=renames
    ),
}
"""Of the nodes of Agent Spec's own plugins."""

SUBFLOW: Final = Field("component", "The flow that is run.", required=True)
