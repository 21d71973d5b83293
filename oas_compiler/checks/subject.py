"""The subject of the rules: the document as written, the flows built from it, the package.

    Subject(document=…, flow=FlowIR(…), package=Package(…))
        .flows          the root flow and every subflow, each once
        .components     every component of the document as the author wrote it
        .texts          every string of the document, with where it stands

Rules about the behaviour of a flow read `flows`.  Rules about the text of a file read `components`
and `texts`, which exist even when the flow could not be built.  Each value is computed once.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, NamedTuple

from cinatra_sdk.contract import BASE_URL_MARK
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.component_facts.component import with_article
from oas_compiler.control.flow_control import FlowControl
from oas_compiler.document.component_types import USUAL_POLICY, LoaderPolicy
from oas_compiler.document.scope import Document, Unread, read_cinatra
from oas_compiler.ir import FlowIR, JsonValue, Place
from oas_compiler.text.marks import child

if TYPE_CHECKING:
    from oas_compiler.control.context_slots import SlotFlow
    from oas_compiler.package.package import Package
    from oas_compiler.package.package_programs import Script

_FLOW_NAMES: Final = frozenset(
    f"{stem}{suffix}" for stem in ("oas", "agent") for suffix in (".json", ".yaml", ".yml")
)
_PLATFORM: Final = re.compile(BASE_URL_MARK)
"""The placeholder by which calls name their platform."""
_LABELS: Final = ("name", "title", "key", "header", "field", "param", "id")
_LABELLED: Final = frozenset(
    {"value", "val", "const", "content", "default", "example", "examples", "values", "enum", "literal"}
)  # fmt: skip
"""Members that an object holds beside the name of what they are."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Written:
    """A component as the author wrote it; nothing of it has been checked."""

    value: dict[str, JsonValue]
    pointer: str
    flow: str
    """Pointer of the Flow that contains the component; a Flow's own pointer for a Flow."""
    depth: int
    """How many Flows stand around that Flow: 0 for the root flow and its components."""

    @property
    def type(self) -> str:
        return self.text("component_type")

    @property
    def id(self) -> str:
        return self.text("id")

    @property
    def label(self) -> str:
        """As messages name it: `the ApiNode "draft"`."""
        name = self.id or self.text("name")
        return f'the {self.type} "{name[:80]}"' if name else with_article(self.type)

    @property
    def cinatra(self) -> dict[str, JsonValue]:
        """`metadata.cinatra`; empty where there is none."""
        return read_cinatra(self.value) or {}

    def text(self, key: str) -> str:
        found = self.value.get(key)
        return found if isinstance(found, str) else ""

    def items(self, key: str) -> list[JsonValue]:
        found = self.value.get(key)
        return found if isinstance(found, list) else []

    def titles(self, key: str) -> tuple[str, ...]:
        """Titles of the properties listed under `inputs` or `outputs`."""
        return tuple(
            title
            for item in self.items(key)
            if isinstance(item, dict) and isinstance(title := item.get("title"), str)
        )

    def at(self, *keys: str | int) -> str:
        """Pointer of something below: `at("outputs", 0, "type")`."""
        pointer = self.pointer
        for key in keys:
            pointer = child(pointer, str(key))
        return pointer


class Text(NamedTuple):
    """One string value of the document."""

    value: str
    pointer: str
    keys: tuple[str, ...]
    """Names of the object members on the way to it, outermost first; indexes are left out."""
    label: str = ""
    """What the object around it calls it: the header's name of `{"name": …, "value": …}`, the title
    of a property's default; in a list of two texts the first.
    """
    is_number: bool = False
    """Whether it is written as a number, whose digits `value` has."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Subject:
    """Everything that rules may check."""

    document: Document
    flow: FlowIR | None = None
    """The root flow; `None` when there is none or it could not be built."""
    package: Package | None = None
    """The folder around the file; `None` for bytes, mappings and files that stand alone."""
    tools: Collection[str] | None = None
    """Names of the registered server tools; `None` when they are not known."""
    env_names: Collection[str] = ()
    """Placeholders that the host gives a value for, which gets into requests only."""
    policy: LoaderPolicy = USUAL_POLICY
    """The component types that the host lets through."""

    def place(self, pointer: str) -> Place:
        """Where a pointer of the document stands in its text."""
        return self.document.source.place(pointer)

    def unread(self, *ways: Unread) -> frozenset[str]:
        """Pointers of the places that a reader of the document could not take, in these ways."""
        found = self.document.findings
        return frozenset(place.pointer for way in ways for place in found.places_of(way.value))

    def unread_lines(self, way: Unread) -> frozenset[int]:
        """Lines of such places, where the text itself is at fault."""
        return frozenset(place.line for place in self.document.findings.places_of(way.value))

    @cached_property
    def is_cinatra(self) -> bool:
        """Whether the file is meant for Cinatra, even if `metadata.cinatra` is missing.

        Wider than `document.is_cinatra`, which decides how references are read: a file whose root
        lost `metadata.cinatra` is read as a plain file, but reported here as a broken Cinatra file.
        """
        return bool(self.cinatra_by)

    @cached_property
    def cinatra_by(self) -> str:
        """The sign that the file is meant for Cinatra, in words; empty without a sign."""
        if self.document.is_cinatra:
            return "the root flow has metadata.cinatra"
        if self.package is not None and "cinatra" in self.package.manifest:
            return 'package.json has a "cinatra" object'
        name = PurePath(self.document.source.file)
        if name.parts[-2:-1] == ("cinatra",) and name.name in _FLOW_NAMES:
            return f"it is called cinatra/{name.name}"
        found = next(filter(_is_of_cinatra, self.components), None)
        if found is None:
            return ""
        metadata = found.value.get("metadata")
        has_block = isinstance(metadata, dict) and "cinatra" in metadata
        return f"{found.label} {'has metadata.cinatra' if has_block else 'calls the platform'}"

    @property
    def agent(self) -> Package | None:
        """The package, if it belongs to a Cinatra agent; not every folder with a package.json."""
        return self.package if self.is_cinatra else None

    @property
    def scripts(self) -> tuple[tuple[Script, str], ...]:
        """The programs of the agent's package, each with the name of its file in findings."""
        package = self.agent
        scripts = package.scripts if package is not None else ()
        return tuple((one, package.name_of(one.file)) for one in scripts if package is not None)

    @cached_property
    def manifest_texts(self) -> tuple[Text, ...]:
        """Every string value of package.json, as `texts` of the document."""
        source = self.package.source if self.package is not None else None
        return collect_texts(source.value) if source is not None else ()

    @cached_property
    def control(self) -> FlowControl | None:
        """What is derived from the root flow; `None` when it could not be built."""
        return None if self.flow is None else FlowControl(flow=self.flow)

    @property
    def flows(self) -> tuple[FlowIR, ...]:
        """The root flow, then every subflow, also of nodes that do not run yet; each once."""
        return () if self.control is None else self.control.flows

    @cached_property
    def root(self) -> Written | None:
        """The root flow as written; `None` when the document's root is none."""
        root = self.document.root
        if root is None or root.component_type != "Flow":
            return None
        return next((found for found in self.components if found.pointer == root.pointer), None)

    @property
    def slot_flows(self) -> tuple[SlotFlow, ...]:
        """The flows that declare context slots."""
        return () if self.control is None else self.control.slot_flows

    @cached_property
    def selecting(self) -> frozenset[str]:
        """Places (JSON pointers) of the nodes that select for context slots."""
        return frozenset(
            slot.node.place.pointer
            for found in self.slot_flows
            for slot in found.slots
            if slot.node is not None
        )

    @cached_property
    def components(self) -> tuple[Written, ...]:
        """Every object with a `component_type`, outermost first, in file order.

        As written: placeholders of the environment are not filled in.
        """
        return tuple(_walk_components(self.document.source.value, "", ("", -1)))

    def of_type(self, *types: str) -> Iterator[Written]:
        """The components of these types, in file order."""
        numbered = heapq.merge(*(self._by_type.get(name, ()) for name in dict.fromkeys(types)))
        return (found for _, found in numbered)

    def written_at(self, pointer: str) -> Written | None:
        """The component that stands at a pointer."""
        return self._by_pointer.get(pointer)

    @cached_property
    def _by_pointer(self) -> dict[str, Written]:
        return {component.pointer: component for component in self.components}

    @cached_property
    def _by_type(self) -> dict[str, list[tuple[int, Written]]]:
        """Number in `components` and component, by type: many rules ask for one type of many."""
        found: dict[str, list[tuple[int, Written]]] = {}
        for number, component in enumerate(self.components):
            found.setdefault(component.type, []).append((number, component))
        return found

    @cached_property
    def texts(self) -> tuple[Text, ...]:
        """Every string value of the document as written, in file order; keys are no values."""
        return collect_texts(self.document.source.value)

    @cached_property
    def numbers(self) -> tuple[Text, ...]:
        """Every number of the document as written, as the text of its digits."""
        return tuple(collect_numbers(self.document.source.value))


def _is_of_cinatra(found: Written) -> bool:
    metadata = found.value.get("metadata")
    if isinstance(metadata, dict) and "cinatra" in metadata:
        return True
    return found.type == "ApiNode" and _PLATFORM.search(found.text("url")) is not None


def _walk_components(value: JsonValue, pointer: str, flow: tuple[str, int]) -> Iterator[Written]:
    # the depth is bounded: reading refuses documents that nest deeper than 64 levels
    if isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, (dict, list)):
                yield from _walk_components(item, f"{pointer}/{index}", flow)
    elif isinstance(value, dict):
        kind = value.get("component_type")
        if kind == "Flow":
            flow = (pointer, flow[1] + 1)
        if isinstance(kind, str):
            yield Written(value=value, pointer=pointer, flow=flow[0], depth=max(flow[1], 0))
        for key, member in value.items():
            if isinstance(member, (dict, list)):
                yield from _walk_components(member, child(pointer, key), flow)


def find_label(key: str, siblings: Mapping[str, object]) -> str:
    """What the object calls its member under this key; empty where it says nothing."""
    if key.casefold() not in _LABELLED:
        return ""
    named = (siblings.get(name) for name in _LABELS)
    return next((name for name in named if isinstance(name, str) and name), "")


def find_pair_label(listed: Sequence[object], index: int) -> str:
    """The first of two texts for the second, as in `["X-Api-Key", "…"]`; else empty."""
    first = listed[0] if index == 1 and len(listed) == 2 else ""
    return first if isinstance(first, str) else ""


def collect_numbers(value: JsonValue) -> Iterator[Text]:
    """Every number below a value, as the text of its digits."""
    waiting: list[tuple[JsonValue, str, tuple[str, ...], str]] = [(value, "", (), "")]
    for current, pointer, keys, label in waiting:
        if isinstance(current, dict):
            waiting += [
                (member, child(pointer, key), (*keys, key), find_label(key, current))
                for key, member in current.items()
                if not isinstance(member, str)
            ]
        elif isinstance(current, list):
            waiting += [
                (item, f"{pointer}/{index}", keys, find_pair_label(current, index) or label)
                for index, item in enumerate(current)
                if not isinstance(item, str)
            ]
        elif isinstance(current, (int, float)) and not isinstance(current, bool):
            yield Text(spell_number(current), pointer, keys, label, is_number=True)


def spell_number(number: float) -> str:
    """Its digits as JSON writes them; empty for one too long to be written out."""
    try:
        return repr(number)
    except ValueError:  # more digits than Python writes
        return ""


def collect_texts(value: JsonValue) -> tuple[Text, ...]:
    """Every string below a value, in its order."""
    found = [Text(value, "", ())] if isinstance(value, str) else []
    _add_texts(value, "", (), found)
    return tuple(found)


def _add_texts(
    value: JsonValue, pointer: str, keys: tuple[str, ...], found: list[Text], label: str = ""
) -> None:
    """The strings below `value`; adds to a list because generators inside each other cost more."""
    if isinstance(value, dict):
        for key, member in value.items():
            if isinstance(member, str):
                label = find_label(key, value)
                found.append(Text(member, child(pointer, key), (*keys, key), label))
            elif isinstance(member, dict):
                _add_texts(member, child(pointer, key), (*keys, key), found)
            elif isinstance(member, list):
                label = find_label(key, value)
                _add_texts(member, child(pointer, key), (*keys, key), found, label)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, str):
                first = find_pair_label(value, index)
                found.append(Text(item, f"{pointer}/{index}", keys, first or label))
            elif isinstance(item, (dict, list)):
                _add_texts(item, f"{pointer}/{index}", keys, found)
