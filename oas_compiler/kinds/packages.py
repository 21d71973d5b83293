"""The kinds of nodes that installed packages add, and why a package's kind is refused.

    SlugNode = "oasflow_slug.kind:SLUG"    ->  kinds {"SlugNode": SLUG}, package "oasflow-slug"
    FooNode = "nowhere:FOO"                ->  refused {"FooNode": Refusal(…)}, and no other kind

In: the entry points of the group, and the built-in kinds.  A package that cannot be used takes
nothing but its own type away: files that do not name the type are checked as if it were not there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint
from typing import Any, Final

from oas_compiler.ir import Node, UnknownNode
from oas_compiler.kinds.kind import NodeKind
from oas_compiler.kinds.no_nodes import NO_NODES
from oas_compiler.text.safe import safe

GROUP: Final = "oasflow.kind"
"""The group of entry points."""
_MOST_TOLD: Final = 200
"""Characters of another program's error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a kind of a package cannot be used; names the kind and the package."""

    message: str
    hint: str
    """The way out."""

    def __post_init__(self) -> None:
        # Names of entry points, records and errors are the package's own words.
        object.__setattr__(self, "message", safe(" ".join(self.message.split())))
        object.__setattr__(self, "hint", safe(" ".join(self.hint.split())))


@dataclass(frozen=True, slots=True, kw_only=True)
class Packages:
    """What the installed packages add, by component type."""

    kinds: dict[str, NodeKind] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    """The name of the package that adds the kind, as it is installed."""
    refused: dict[str, Refusal] = field(default_factory=dict)
    """Types that a package registers wrongly; none of them is in `kinds`."""


def read_packages(entries: Iterable[EntryPoint], built_in: Iterable[NodeKind]) -> Packages:
    """Load every entry point; a wrong entry is noted in `refused`, and raises nothing."""
    taken = {kind.component_type: kind for kind in built_in}
    found = Packages()
    by_type: dict[str, list[EntryPoint]] = {}
    for entry in sorted(entries, key=lambda entry: (entry.name, entry.value)):
        by_type.setdefault(entry.name, []).append(entry)
    misnamed: dict[str, Refusal] = {}
    for name, rivals in by_type.items():
        kind = _find_kind(rivals, taken, misnamed)
        if isinstance(kind, Refusal):
            found.refused[name] = kind
        else:
            found.kinds[name] = kind
            found.names[name] = name_package(rivals[0])
    for name, refusal in misnamed.items():
        if name not in found.kinds:
            found.refused.setdefault(name, refusal)
    _refuse_shared_classes(found, taken)
    return found


def name_package(entry: EntryPoint) -> str:
    """The name under which the entry point's package is installed; empty where it is not known."""
    return entry.dist.name if entry.dist is not None else ""


def refuse(what: str, package: str, why: str, *, mend: str) -> Refusal:
    """The refusal of a kind: what cannot be used, of which package, why, and the way out."""
    named = f' of the package "{package}"' if package else " of an installed package"
    other = f"uninstall {package}" if package else "uninstall the package"
    return Refusal(message=f"{what}{named} cannot be used: {why}", hint=f"{other}, or mend {mend}")


def describe_error(error: BaseException) -> str:
    """A package's own error in one line, shortened."""
    try:
        text = " ".join(safe(str(error)).split())
    except Exception:  # noqa: BLE001 - a stranger's __str__ may do anything
        text = ""
    name = type(error).__name__
    return f"{name}: {text[:_MOST_TOLD]}" if text else name


def _find_kind(
    rivals: list[EntryPoint], taken: Mapping[str, NodeKind], misnamed: dict[str, Refusal]
) -> NodeKind | Refusal:
    """The kind of all entries of one name."""
    name = rivals[0].name
    if name in NO_NODES:
        return _refuse_entry(rivals[0], f"{name} is a component of Agent Spec that is no node")
    if name in taken:
        return _refuse_entry(rivals[0], f"there is a kind of node {name} in oasflow already")
    made = [_load(entry, misnamed) for entry in rivals]
    refusal = next((one for one in made if isinstance(one, Refusal)), None)
    if refusal is None and any(kind is not made[0] for kind in made):
        refusal = _refuse_rivals(rivals)
    return refusal or made[0]


def _refuse_entry(entry: EntryPoint, why: str) -> Refusal:
    return refuse(entry.name, name_package(entry), why, mend="its entry point")


def _refuse_rivals(rivals: list[EntryPoint]) -> Refusal:
    named = " and ".join(
        f"{entry.value} (package {name_package(entry) or 'unknown'})" for entry in rivals
    )
    return Refusal(
        message=f"{rivals[0].name} cannot be used: several packages register a kind of this name: "
        f"{named}",
        hint="uninstall all of them but one",
    )


def _load(entry: EntryPoint, misnamed: dict[str, Refusal]) -> NodeKind | Refusal:
    """The record behind the entry; a record of another name is noted under that name, too."""
    try:
        kind = entry.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a package may do anything at import
        return _refuse_entry(entry, f"{entry.value} cannot be imported: {describe_error(error)}")
    if not isinstance(kind, NodeKind):
        made = type(kind).__name__
        return _refuse_entry(entry, f"{entry.value} is no NodeKind, but of the class {made}")
    if kind.component_type != entry.name:
        refusal = _refuse_entry(
            entry,
            f"its entry point has the name {entry.name}, and the record {entry.value} has the "
            f'component_type "{kind.component_type}"; the two must be equal',
        )
        misnamed[kind.component_type] = refusal
        return refusal
    flaw = _find_flaw(kind)
    return _refuse_entry(entry, f"the record {entry.value} is wrong: {flaw}") if flaw else kind


def _find_flaw(kind: NodeKind) -> str:
    """What of a record does not fit together; empty for a record that does."""
    node: Any = kind.node
    if not isinstance(node, type) or not issubclass(node, Node):
        return "`node` must be a subclass of oas_compiler.ir.Node"
    if not callable(kind.build):
        return "`build` must be a function"
    used = (*kind.flows, *((kind.behind,) if kind.behind else ()))
    missing = [name for name in used if name not in (kind.fields or {})]
    return f'"{missing[0]}" must be one of its `fields`' if missing else ""


def _refuse_shared_classes(found: Packages, taken: Mapping[str, NodeKind]) -> None:
    """Refuse kinds with the same class in the IR: the kind of a node would be ambiguous."""
    users: dict[type[Node], list[str]] = {UnknownNode: ["UnknownNode"]}
    for name, kind in (*taken.items(), *found.kinds.items()):
        users.setdefault(kind.node, []).append(name)
    for node, names in users.items():
        for name in names if len(names) > 1 else ():
            if name in found.kinds:
                others = " and ".join(other for other in names if other != name)
                del found.kinds[name]
                found.refused[name] = refuse(
                    name,
                    found.names.pop(name),
                    f"{name} and {others} have one class, {node.__name__}",
                    mend="its record",
                )
