"""Corrects the misspelt fields of a document, so that each slip makes only one finding.

    {"component_type": "ApiNode", "id": "a", "uri": "…"}
        ->  OAS023 at "uri", and {"component_type": "ApiNode", "id": "a", "url": "…"} to go on with

All later stages see the corrected fields, so a misspelt field causes no further findings.  A
document with a slip has an error, so that a guess never runs.

For an optional field, a similar key may be the author's own.  It counts as a slip only if its value
shows this; else it stays unknown, with a warning (OAS024).

    {"component_type": "ApiNode", "meta": {"cinatra": {…}}}   ->  OAS023: metadata
    {"component_type": "ApiNode", "meta": {"owner": "ann"}}   ->  nothing here
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import cached_property
from typing import Final, TypeAlias

from cinatra_sdk.data.ports import REFERENCE
from cinatra_sdk.data.text.message_words import is_slip_of_short, plain
from oas_compiler.component_facts.component import SHAPES, Field, with_article
from oas_compiler.document.component_types import fields_of, is_known
from oas_compiler.document.scope import is_reference
from oas_compiler.findings.finding import Edit, Findings
from oas_compiler.ir import JsonValue
from oas_compiler.text.marks import child
from oas_compiler.text.source import Source

_Container: TypeAlias = "dict[str, JsonValue] | list[JsonValue]"
_Place: TypeAlias = "tuple[_Container, str | int, str]"
"""What holds a value, under which key, and its pointer."""
_TYPE: Final = "component_type"
_OTHER_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "url": ("uri", "endpoint", "address"),
    "http_method": ("method", "verb"),
    "data": ("body", "payload"),
    "subflow": ("flow",),
    "from_branch": ("branch",),
    "from_node": ("from",),
    "to_node": ("target_node", "to"),
    "source_node": ("from",),
    "destination_node": ("target_node", "to"),
    "source_output": ("output",),
    "destination_input": ("input", "target_input"),
    "regex_pattern": ("pattern", "regex"),
    "metadata": ("meta",),
}
"""What the field is called elsewhere."""
_LEFT_ALONE: Final = frozenset({"description", "name", "state", "component_plugin_name"})
"""Fields that a run does without: a near name may be the author's own."""
_NOT_WALKED: Final = frozenset({"metadata", "inputs", "outputs", "branches", "data", "default"})
_MOST_COMPARED: Final = 20
"""Unknown fields of a component among which a missing one is looked for."""
_MOST_SLIPS: Final = 500
"""Slips of a file that are put right; nobody reads more."""
_LONGEST_COMPARED: Final = 80
_SHORTEST: Final = 4
"""Characters of a field that is compared by likeness; of shorter ones only letters are counted."""
_CUTOFF: Final = 0.75


def respelled(source: Source, findings: Findings) -> Source:
    """The same source with every misspelt field put right, and a finding (OAS023) for each.

    It finds every place under the name that was meant; its bytes stay those that were read.
    """
    walk = _Walk(source, findings)
    value = walk.over(source.value)
    return replace(walk.source, value=value) if walk.source.renamed else source


class _Walk:
    def __init__(self, source: Source, findings: Findings) -> None:
        self._renamed: dict[str, str] = {}
        self.source = replace(source, renamed=self._renamed)
        self._findings = findings

    def over(self, root: JsonValue) -> JsonValue:
        """The value with its fields put right; what was given stays as it is."""
        holder: list[JsonValue] = [root]
        waiting: list[_Place] = [(holder, 0, "")]
        while waiting:
            around, key, pointer = waiting.pop()
            value = _read_member(around, key)
            below: list[_Place]
            if isinstance(value, dict):
                members = self._respell_component(value, pointer)
                below = [
                    (members, name, child(pointer, name)) for name in _list_component_keys(members)
                ]
                _set_member(around, key, members)
            elif isinstance(value, list):
                items = list(value)
                below = [(items, index, f"{pointer}/{index}") for index in range(len(items))]
                _set_member(around, key, items)
            else:
                continue
            waiting.extend(reversed(below))
        return holder[0]

    def _respell_component(self, value: dict[str, JsonValue], pointer: str) -> dict[str, JsonValue]:
        slips = self._find_slips(value, pointer)
        meant = set(slips.values())  # where one stands with null, it is as good as absent
        return {
            slips.get(name, name): member for name, member in value.items() if name not in meant
        }

    @cached_property
    def _branches(self) -> Mapping[str, frozenset[str]]:
        """Id of a node → the branches that it names, but the one that every node has."""
        return {
            name: found - {"next"} for name, found in _branches_by_id(self.source.value).items()
        }

    def _is_field_meant(self, name: str, value: JsonValue, around: Mapping[str, JsonValue]) -> bool:
        """Whether the value of an optional field's other word says that the field is meant."""
        if name == "metadata":
            return isinstance(value, dict) and "cinatra" in value
        if name == "from_branch":
            left = around.get("from_node")
            node = left.get(REFERENCE) if isinstance(left, dict) else None
            return isinstance(node, str) and value in self._branches.get(node, ())
        return True

    def _find_slips(self, value: dict[str, JsonValue], pointer: str) -> dict[str, str]:
        """Field as written → field that is meant, of one component."""
        if is_reference(value) or len(self._renamed) >= _MOST_SLIPS:
            return {}
        slips: dict[str, str] = {}
        kind = value.get(_TYPE)
        if kind is None:
            slips = _slip_of_type(value)
            kind = next((value[name] for name in slips), None)
        table = fields_of(kind) if isinstance(kind, str) else None
        if table is not None:
            slips |= _slips_of_fields(value, table, self._is_field_meant)
        for name, meant in slips.items():
            self._report_slip(value, str(kind), pointer, name=name, meant=meant)
        return slips

    def _report_slip(
        self, value: Mapping[str, JsonValue], kind: str, pointer: str, *, name: str, meant: str
    ) -> None:
        at = child(pointer, meant)
        self._renamed[at] = name
        label = value.get("id") or value.get("name")
        of = f'the {kind} "{label}"' if isinstance(label, str) else with_article(kind)
        self._findings.error(
            "OAS023",
            f'{of} has no "{meant}", it has "{name[:80]}"',
            self.source.place(at),
            hint=f'did you mean "{meant}"?',
            fix=(Edit(pointer=at, key=meant),),
        )


def _list_component_keys(value: Mapping[str, JsonValue]) -> Iterator[str]:
    """Members that are or hold components; what else is there is the author's own."""
    for name, member in value.items():
        if name not in _NOT_WALKED and isinstance(member, (dict, list)):
            yield name


def _read_member(around: _Container, key: str | int) -> JsonValue:
    return around[str(key)] if isinstance(around, dict) else around[int(key)]


def _set_member(around: _Container, key: str | int, value: JsonValue) -> None:
    if isinstance(around, dict):
        around[str(key)] = value
    else:
        around[int(key)] = value


def _slip_of_type(value: Mapping[str, JsonValue]) -> dict[str, str]:
    """A misspelt `component_type`: the name is near, and its value is a type."""
    for name, kind in list(value.items())[:_MOST_COMPARED]:
        if isinstance(kind, str) and is_known(kind):
            near = len(name) <= _LONGEST_COMPARED and get_close_matches(name, [_TYPE], 1, _CUTOFF)
            if near or plain(name) in {plain(_TYPE), "type"}:
                return {name: _TYPE}
    return {}


def _slips_of_fields(
    value: Mapping[str, JsonValue],
    table: Mapping[str, Field],
    shows: Callable[[str, JsonValue, Mapping[str, JsonValue]], bool],
) -> dict[str, str]:
    unknown = [name for name in value if name not in table and len(name) <= _LONGEST_COMPARED]
    absent = [
        name
        for name in table
        if value.get(name) is None and name not in _LEFT_ALONE and name != _TYPE
    ]
    if not unknown or not absent:
        return {}
    found: dict[str, str] = {}
    # the required ones first: the likeliest to have been meant
    for name in sorted(absent, key=lambda one: not table[one].required):
        free = [
            one
            for one in unknown[:_MOST_COMPARED]
            if one not in found
            and _has_shape(value[one], table[name])
            and (one not in _OTHER_WORDS.get(name, ()) or shows(name, value[one], value))
        ]
        near = _find_nearest_name(name, free)
        if near:
            found[near] = name
    return found


def _branches_by_id(root: JsonValue) -> Mapping[str, frozenset[str]]:
    """The branches that each node of the document can be left by, as far as the document says them.

    A node that runs a flow is left by a branch of that flow; whichever it is, all of them count.
    """
    found: dict[str, frozenset[str]] = {}
    ends: set[str] = set()
    running: list[str] = []
    waiting: list[JsonValue] = [root]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            own = value.get("id")
            if isinstance(own, str):
                found[own] = found.get(own, frozenset()) | _named_branches(value)
                if "subflow" in value or "subflows" in value:
                    running.append(own)
            if isinstance(name := value.get("branch_name"), str):
                ends.add(name)
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return found | {own: found[own] | ends for own in running}


def _named_branches(value: Mapping[str, JsonValue]) -> frozenset[str]:
    mapping, branches = value.get("mapping"), value.get("branches")
    named: list[JsonValue] = [*mapping.values()] if isinstance(mapping, dict) else []
    named += branches if isinstance(branches, list) else ()
    return frozenset(name for name in named if isinstance(name, str))


def _find_nearest_name(name: str, written: list[str]) -> str:
    for one in written:
        if plain(one) == plain(name) or one in _OTHER_WORDS.get(name, ()):
            return one
    if len(name) < _SHORTEST:
        return next((one for one in written if is_slip_of_short(one, name)), "")
    close = get_close_matches(name, written, n=1, cutoff=_CUTOFF)
    return close[0] if close else ""


def _has_shape(value: JsonValue, wanted: Field) -> bool:
    return value is not None and (wanted.kind == "any" or isinstance(value, SHAPES[wanted.kind][0]))
