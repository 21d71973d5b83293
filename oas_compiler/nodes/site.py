"""What a builder is given: one component, its surroundings, and where findings go.

In: a component and its flow.  Out: the pieces that every node type reads the same way.

    site.declared("inputs")              ->  (Port(title="topic", …),), or None to infer them
    cinatra_text(site, "renderer")       ->  metadata.cinatra.renderer, reported if not a string
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from oas_compiler import ir
from oas_compiler.diagnostics import Diagnostics
from oas_compiler.ir import Json, Place, Port
from oas_compiler.ports import PortReader
from oas_compiler.source import Source
from oas_compiler.spec import Component, Flow


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One component and everything that is needed to build it."""

    component: Component
    flow: Flow
    """The flow it stands in."""
    subflows: tuple[ir.FlowIR, ...] = ()
    """What a node over flows runs, already built; empty when that was not possible."""
    is_cinatra: bool = False
    """Whether the document is of the Cinatra dialect."""
    reader: PortReader
    source: Source
    findings: Diagnostics

    def place(self, pointer: str = "") -> Place:
        return self.source.place(pointer or self.component.pointer)

    def error(self, code: str, message: str, field: str = "", *, hint: str = "") -> None:
        pointer = self.component.at(field) if field else self.component.pointer
        self.findings.error(code, message, self.source.place(pointer), hint=hint)

    def declared(self, field: str, of: Component | None = None) -> tuple[Port, ...] | None:
        """The ports listed under `field`; `None` when the file leaves them to inference."""
        component = of or self.component
        items = component.items(field)
        return None if items is None else self.reader.ports(items, component.at(field))

    @property
    def label(self) -> str:
        return label_of(self.component)

    @property
    def subflows_are_whole(self) -> bool:
        """Whether the ports and branches of what the node runs are known."""
        return bool(self.subflows) and all(flow.is_whole for flow in self.subflows)


def label_of(component: Component) -> str:
    return f'the {component.type} "{component.id}"'


def common(site: Site) -> dict[str, Any]:
    """The fields that every node has."""
    component = site.component
    risk = component.cinatra.get("riskClass")
    return {
        "id": component.id,
        "name": component.name,
        "description": component.text("description"),
        "cinatra": Json.of(component.cinatra),
        "risk_class": risk if isinstance(risk, str) else "",
        "place": site.place(),
    }


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
    site.findings.error(
        "OAS038",
        f"metadata.cinatra.{key} of {site.label} must be {wanted}",
        site.place(f"{site.component.pointer}/metadata/cinatra/{key}"),
    )
