"""The child agents that a package.json asks for.

In: `Package.cinatra`.  Out: one `WantedChild` per child agent, by name.

    {"agentDependencies": {"@x/b": "^1.0.0"}}
    {"dependencies": [{"packageName": "@x/b", "kind": "agent", "requirement": "required",
                       "versionConstraint": {"kind": "semver-range", "range": "^1.0.0"}}]}
        ->  WantedChild(name="@x/b", range="^1.0.0", pointer="/cinatra/…")

Both forms are read: `agentDependencies` (agent guide, rule 11), and the entries of the newer
`dependencies` whose kind is `agent`.  If both name the same child, the map decides, and the list's
range is kept for reporting a difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from cinatra_sdk.data.version_ranges import (
    highest,
    in_order,
    is_range,
    is_version,
    refusal,
    satisfies,
)
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.ir import JsonValue
from oas_compiler.package.package import range_of
from oas_compiler.text.marks import child

MAP = "/cinatra/agentDependencies"
LIST = "/cinatra/dependencies"


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedChild:
    """One child agent, as asked for."""

    name: str
    range: JsonValue
    """As written; anything but a text that is a range is reported by whoever resolves it."""
    pointer: str
    """Of the range in package.json."""
    optional: bool = False
    """Whether the package works without it (`"requirement": "optional"`)."""
    other_range: JsonValue = None
    """The range of the list's entry where the map has another one."""

    @property
    def text(self) -> str:
        """The range for people and for JSON."""
        return self.range if isinstance(self.range, str) else ""


def wanted(cinatra: Mapping[str, JsonValue]) -> tuple[WantedChild, ...]:
    """Every child agent of the `cinatra` object of a package.json, sorted by name."""
    found = {one.name: one for one in reversed(list(_read_agent_list(cinatra.get("dependencies"))))}
    for one in _read_agent_map(cinatra.get("agentDependencies")):
        listed = found.get(one.name)
        differs = listed is not None and listed.range != one.range
        found[one.name] = replace(one, other_range=listed.range) if listed and differs else one
    return tuple(sorted(found.values(), key=lambda one: one.name))


def _read_agent_map(value: JsonValue) -> Iterator[WantedChild]:
    if isinstance(value, dict):
        for name, asked in value.items():
            yield WantedChild(name=name, range=asked, pointer=child(MAP, name))


def _read_agent_list(value: JsonValue) -> Iterator[WantedChild]:
    for index, entry in enumerate(value if isinstance(value, list) else ()):
        if not isinstance(entry, dict) or entry.get("kind") != "agent":
            continue
        name = entry.get("packageName")
        if isinstance(name, str) and name:
            asked, key = range_of(entry)
            yield WantedChild(
                name=name,
                range=asked,
                pointer=f"{LIST}/{index}{key}",
                optional=entry.get("requirement") == "optional",
            )


# ----------------------------------------------------------------------------
# npm version ranges: the shared reading of `cinatra_sdk.data.version_ranges`.


__all__ = ["highest", "in_order", "is_range", "is_version", "refusal", "satisfies"]
