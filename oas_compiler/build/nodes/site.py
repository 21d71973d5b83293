"""What a builder is given: one component, its surroundings, and where findings go.

In: a component and its flow.  Out: the pieces that every node type reads the same way.

    site.declared("inputs")              ->  (Port(title="topic", …),), or None to infer them
    cinatra_text(site, "renderer")       ->  metadata.cinatra.renderer, reported if not a string
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from oas_compiler import ir
from oas_compiler.build.ports import PortReader
from oas_compiler.document.spec import Component, Flow
from oas_compiler.findings.finding import Findings
from oas_compiler.ir import NOTHING, Json, JsonValue, Place, Port
from oas_compiler.templates.reading import TemplateReader
from oas_compiler.text.descriptions import describe
from oas_compiler.text.source import Source

_READ: Final = frozenset(
    {
        "component_type", "id", "name", "description", "metadata", "agentspec_version",
        "inputs", "outputs", "branches", "branch_name", "url", "http_method", "data", "headers",
        "query_params", "message", "mapping", "subflow", "subflows", "tool", "template",
        "regex_pattern", "return_first_match_only", "$referenced_components", "llm_config",
        "prompt_template", "agent", "reducers",
    }
)  # fmt: skip
"""Fields of nodes that the IR holds."""
_SAME: Final[Mapping[str, str]] = {"StartNode": "inputs", "EndNode": "outputs"}
"""The ports of the flow that a node repeats: a flaw of an equal one is said at the flow."""


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
    unread: set[str]
    """Ids of the nodes of the flow whose ports are not all known; "" for the flow's own."""
    source: Source
    findings: Findings
    templates: TemplateReader

    def place(self, pointer: str = "") -> Place:
        return self.source.place(pointer or self.component.pointer)

    def error(self, code: str, message: str, field: str = "", *, hint: str = "") -> None:
        pointer = self.component.at(field) if field else self.component.pointer
        self.findings.error(code, message, self.source.place(pointer), hint=hint)

    def declared(self, field: str, of: Component | None = None) -> tuple[Port, ...] | None:
        """The ports listed under `field`; `None` when the file leaves them to inference."""
        component = of or self.component
        if self.is_flawed(field, component):
            self._miss(component)
        items = component.items(field)
        if items is None:
            return None
        same = _SAME.get(component.type, "")
        told = self.flow.component.items(same) or () if same else ()
        ports = self.reader.ports(items, component.at(field), told=told)
        if self.is_flawed(field, component):
            self._miss(component)
        return ports

    def is_flawed(self, field: str, of: Component | None = None) -> bool:
        """Whether the list of ports under `field` could not be read whole, which was reported.

        Of a list that holds flawed entries this is known once it was read.
        """
        component = of or self.component
        return field in component.unread or component.at(field) in self.reader.flawed

    def _miss(self, component: Component) -> None:
        """The ports that this node has are not known."""
        self.unread.add("" if component is self.flow.component else self.component.id)

    @property
    def has_unread_ports(self) -> bool:
        """Whether ports of the node, or of what it runs, are known not to be known."""
        return self.component.id in self.unread

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
        "unread": unread(component),
        "place": site.place(),
    }


def unread(component: Component) -> Json:
    """What the author wrote and no field of the IR holds."""
    found = {name: value for name, value in component.fields.items() if name not in _READ}
    metadata = component.fields.get("metadata")
    if isinstance(metadata, dict) and metadata.keys() - {"cinatra"}:
        found["metadata"] = {key: part for key, part in metadata.items() if key != "cinatra"}
    return Json.of(found) if found else NOTHING


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
        hint=_cure(key, value, wanted),
    )


def _cure(key: str, value: JsonValue, wanted: str) -> str:
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
