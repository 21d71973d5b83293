"""The arguments of a confirmed call as a person edited them, in place of those that were shown.

    shown {"to": "ann"}, approved with the value {"to": "bob"}
        ->  the node works with {"to": "bob"}, under a key of its own, in the visit that was asked about

The edit stands in the record by which the node passes the turn to itself, beside the hash of what the
person approved; a visit that was not asked about has neither.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.effects.effect import hash_json
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.names import CURSOR
from cinatra_sdk.flow.site import NodeSite
from cinatra_sdk.values.ports import TypedPort

State = Mapping[str, Any]
EDITED: Final = "edited"
"""Of a record by which a node passes the turn to itself: the arguments that a person gave."""
CHANGED: Final = "changed"
"""Of the record of a node whose call a person edited: what whoever asked for the call is told."""


class EditedFrame(Frame):
    """The surroundings of a node whose call a person may edit."""

    __slots__ = ()

    def gather(self, state: State) -> dict[str, Any]:
        """As of every frame; after an edit exactly what the person gave."""
        edited = find_edited(self, state)
        return Frame.gather(self, state) if edited is None else dict(edited)

    def effect_key(self, state: State) -> str:
        """As of every frame; the key of an edited call is one of its arguments, too."""
        key, edited = Frame.effect_key(self, state), find_edited(self, state)
        if edited is None:
            return key
        return hashlib.sha256(f"{key}\n{hash_json(dict(edited))}".encode()).hexdigest()


def find_edited(frame: Frame, state: State) -> Mapping[str, JsonValue] | None:
    """The arguments that a person gave for this visit; None where they are those that were shown."""
    record = state.get(frame.channel)
    if record is None or record["next"] != frame.id or record["seq"] != state[CURSOR]["seq"]:
        return None
    edited: Mapping[str, JsonValue] | None = record.get(EDITED)
    return edited


def open_to_edits(site: NodeSite) -> NodeSite:
    """The place of a node whose call a person may edit."""
    own = {one.name: getattr(site.frame, one.name) for one in fields(site.frame)}
    return replace(site, frame=EditedFrame(**own))


def make_edit_schema(inputs: Sequence[TypedPort]) -> dict[str, JsonValue]:
    """JSON Schema of the arguments of a tool: all of them, and no others."""
    properties: dict[str, JsonValue] = {port.title: port.schema.mapping() for port in inputs}
    return {
        "type": "object",
        "properties": properties,
        "required": [port.title for port in inputs],
        "additionalProperties": False,
    }
