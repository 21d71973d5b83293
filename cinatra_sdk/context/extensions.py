"""The installed artifact extensions, and the expansion of a slot's list of extensions.

    installed: voice, house-voice (satisfies voice), loud-voice (satisfies house-voice)
    expanded(["voice"], installed)   ->   {"voice", "house-voice"}          one hop, no closure

The list comes from the host's registry; a caller never supplies it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol


class ExtensionRegistry(Protocol):
    """The host's knowledge of installed artifact extensions."""

    def installed(self) -> Mapping[str, Collection[str]]:
        """Package name → package names that it satisfies."""
        ...


@dataclass(frozen=True, slots=True)
class InstalledExtensions:
    """A registry with a fixed content, for a standalone host and for tests."""

    extensions: Mapping[str, Collection[str]] = field(default_factory=dict)

    def installed(self) -> Mapping[str, Collection[str]]:
        return self.extensions


def expanded(accepted: Iterable[str], registry: ExtensionRegistry) -> tuple[str, ...]:
    """The accepted extensions and every installed one that satisfies one of them, sorted.

    Only the directly accepted names are expanded: an added extension adds no further ones, in any
    order of the registry.
    """
    direct = frozenset(accepted)
    added = {
        name for name, satisfies in registry.installed().items() if direct.intersection(satisfies)
    }
    return tuple(sorted(direct | added))
