"""The kinds of nodes: those of this folder, and those that installed packages add.

    find_kind("ApiNode")        ->  kinds.api.API
    find_kind("EchoNode")       ->  the record of the entry point `EchoNode`, else None
    kind_of(ApiNode(…))         ->  kinds.api.API

Every module of this folder that holds a `NodeKind` adds a kind; nothing else lists the modules.
A package adds a kind by an entry point of the group `oasflow.kind` whose name is the component type
and whose object is a `NodeKind`.  It is loaded when a file first names a type that is not known here.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from oas_compiler import kinds
from oas_compiler.ir import FlowIR, Node, UnknownNode
from oas_compiler.kinds.kind import NodeKind, Passage
from oas_compiler.kinds.no_nodes import NO_NODES
from oas_compiler.kinds.unknown import UNKNOWN

GROUP: Final = "oasflow.kind"
"""The group of entry points."""


class KindRefused(ImportError):
    """An installed package registers an invalid kind of node."""


def find_kind(component_type: str) -> NodeKind | None:
    """The kind with this name; `None` for a type that nobody has registered.

    Raises:
        KindRefused: for an entry point of the group that does not lead to a kind of that name.

    """
    if component_type in _BY_TYPE or component_type in NO_NODES:
        return _BY_TYPE.get(component_type)
    return load_plugins().get(component_type)


def kind_of(node: Node) -> NodeKind:
    """The kind of an IR node.

    Raises:
        KindRefused: for a class that no kind has.

    """
    found = _BY_NODE.get(type(node))
    if found is None:
        added = (kind for kind in load_plugins().values() if kind.node is type(node))
        found = next(added, None)
    if found is None:
        raise KindRefused(f"no kind of node has the class {type(node).__name__}")
    return found


def require_kind(kind: NodeKind, node: Node, subflows: tuple[FlowIR, ...]) -> None:
    """Refuse a node that its builder made wrongly: rules about gates and sends would miss it.

    Raises:
        KindRefused: for a class of another kind, and for a node that hides the flows it runs.

    """
    if isinstance(node, UnknownNode):
        return
    if type(node) is not kind.node:
        made = type(node).__name__
        raise KindRefused(
            f"{kind.component_type}: its builder makes {made}, not {kind.node.__name__}"
        )
    if subflows and not node.subflows:
        raise KindRefused(
            f"{kind.component_type}: {kind.node.__name__}.subflows does not give the flows that the "
            "node runs"
        )


def type_of(node: Node) -> str:
    """The component type of an IR node, as its file has it."""
    return node.component_type if isinstance(node, UnknownNode) else kind_of(node).component_type


def passage_of(node: Node) -> Passage:
    """How control goes through the flows that a node runs."""
    name = type_of(node)
    kind = find_kind(name)
    if kind is not None:
        return kind.passage
    return "all" if name.endswith("ParallelFlowNode") else "any"  # plugins call theirs so, too


def all_kinds() -> tuple[NodeKind, ...]:
    """Every kind, those of packages last."""
    return (*BUILT_IN, *load_plugins().values())


@cache
def load_plugins() -> dict[str, NodeKind]:
    """The kinds that installed packages register, by component type."""
    # Looking at what is installed takes as long as checking a small file, and few files need it.
    from importlib.metadata import entry_points

    found: dict[str, NodeKind] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        try:
            kind = entry.load()
        except Exception as error:
            why = str(error) or type(error).__name__
            raise KindRefused(f"{entry.value} cannot be imported: {why}") from error
        if not isinstance(kind, NodeKind) or kind.component_type != entry.name:
            raise KindRefused(f"{entry.value} is not a NodeKind with the name {entry.name}")
        if entry.name in _BY_TYPE or (entry.name in found and found[entry.name] is not kind):
            raise KindRefused(f"{entry.value}: there is a kind of node {entry.name} already")
        found[entry.name] = kind
    check_kinds((*BUILT_IN, *found.values()))
    return found


def check_kinds(kinds: tuple[NodeKind, ...]) -> None:
    """Refuse two kinds with the same class in the IR: the kind of a node would be ambiguous."""
    classes: dict[type[Node], str] = {}
    for kind in kinds:
        if kind.node is UnknownNode:
            continue
        other = classes.setdefault(kind.node, kind.component_type)
        if other != kind.component_type:
            name = kind.node.__name__
            raise KindRefused(f"{kind.component_type} and {other} have one class, {name}")


def _load_built_in() -> tuple[NodeKind, ...]:
    """The record of every module of this folder, in the order of the modules' names."""
    names = sorted(module.name for module in iter_modules(kinds.__path__))
    modules = [import_module(f"{kinds.__name__}.{name}") for name in names if name != "registry"]
    found = [value for module in modules for value in vars(module).values()]
    records = (value for value in found if isinstance(value, NodeKind) and value is not UNKNOWN)
    return tuple(dict.fromkeys(records))


BUILT_IN: Final[tuple[NodeKind, ...]] = _load_built_in()
"""The kinds of this folder."""
_BY_TYPE: Final = {kind.component_type: kind for kind in BUILT_IN}
_BY_NODE: Final = {kind.node: kind for kind in (*BUILT_IN, UNKNOWN)}
