"""Ports: the inputs and outputs of nodes and flows."""

from __future__ import annotations

from dataclasses import dataclass, field

from cinatra_sdk.values.json_text import NOTHING, Json
from cinatra_sdk.values.ports import TypedPort
from oas_compiler.ir.values import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Port(TypedPort):
    """One input or output of a node or flow (a Property in Agent Spec).

    `schema` is the property as JSON Schema, without Agent Spec's own wrapping (`json_schema` is
    merged in).
    """

    cinatra: Json = field(default=NOTHING, compare=False)
    """What the author wrote under `cinatra`: what the value is for a host, no part of its type."""
    place: Place = Place()
