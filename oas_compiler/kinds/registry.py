"""The kinds of nodes: those of this folder, and those that installed packages add.

    find_kind("ApiNode")        ->  kinds.api.API
    find_kind("EchoNode")       ->  the record of the entry point `EchoNode`, else None
    find_refusal("FooNode")     ->  why the entry point `FooNode` gives no kind, else None
    kind_of(ApiNode(…))         ->  kinds.api.API

Every module of this folder that holds a `NodeKind` adds a kind; nothing else lists the modules.
A package adds a kind by an entry point of the group `oasflow.kind` whose name is the component type
and whose object is a `NodeKind`.  It is loaded when a file first names a type that is not known here.
A package's kind that cannot be used is refused alone: `find_refusal` says why.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from oas_compiler import kinds
from oas_compiler.component.metadata import refuse_effect
from oas_compiler.component.site import Site
from oas_compiler.ir import Node, Port, UnknownNode
from oas_compiler.kinds.kind import NodeKind, Passage
from oas_compiler.kinds.no_nodes import NO_NODES
from oas_compiler.kinds.packages import (
    GROUP,
    Packages,
    Refusal,
    describe_error,
    read_packages,
    refuse,
)
from oas_compiler.kinds.unknown import UNKNOWN


def find_kind(component_type: str) -> NodeKind | None:
    """The kind with this name; `None` for a type that nobody has registered, or not rightly."""
    if component_type in _BY_TYPE or component_type in NO_NODES:
        return _BY_TYPE.get(component_type)
    return load_plugins().kinds.get(component_type)


def find_refusal(component_type: str) -> Refusal | None:
    """Why the kind that an installed package registers under this type cannot be used.

    None for types of Agent Spec, whatever packages register, and for types that nobody registers.
    """
    if component_type in _BY_TYPE or component_type in NO_NODES:
        return None
    return load_plugins().refused.get(component_type)


def list_refusals() -> tuple[Refusal, ...]:
    """Every kind of an installed package that cannot be used, also of types that no file asks for."""
    return tuple(load_plugins().refused.values())


def name_package_of(kind: NodeKind) -> str | None:
    """The installed package that adds a kind; empty where its name is not known, `None` for a kind
    of oasflow itself.
    """
    if kind is UNKNOWN or _BY_TYPE.get(kind.component_type) is kind:
        return None
    return load_plugins().names.get(kind.component_type, "")


def kind_of(node: Node) -> NodeKind:
    """The kind of an IR node.

    Raises:
        LookupError: for a class that no kind has; no builder makes such a node.

    """
    found = _BY_NODE.get(type(node))
    if found is None:
        added = (kind for kind in load_plugins().kinds.values() if kind.node is type(node))
        found = next(added, None)
    if found is None:
        raise LookupError(f"no kind of node has the class {type(node).__name__}")
    return found


def build_node(kind: NodeKind, site: Site) -> Node | Refusal:
    """The IR node of a component, by the builder of its kind.

    A builder of a package is refused that fails, or that makes a node which rules about gates and
    sends could not see through.
    """
    if "effect" not in (kind.metadata or {}):
        refuse_effect(site)
    package = name_package_of(kind)
    if package is None:
        return kind.build(site)
    try:
        node = kind.build(site)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the border to a package's own code
        why = f"its builder fails with {describe_error(error)}"
        return refuse(kind.component_type, package, why, mend="its builder")
    flaw = _find_node_flaw(kind, node, site)
    if flaw:
        return refuse(kind.component_type, package, flaw, mend="its builder")
    return node


def _find_node_flaw(kind: NodeKind, node: Node, site: Site) -> str:
    """What is wrong with a node that a package's builder made; empty for a right one."""
    if isinstance(node, UnknownNode):
        return ""
    if type(node) is not kind.node:
        return f"its builder makes {type(node).__name__}, not {kind.node.__name__}"
    if node.id != site.component.id:
        return "its builder leaves out the id of the component: give the node **common(site)"
    for name, wanted in (("inputs", Port), ("outputs", Port), ("branches", str)):
        value = getattr(node, name)
        if not isinstance(value, tuple) or not all(isinstance(part, wanted) for part in value):
            return f"its builder makes {name} that are not a tuple of {wanted.__name__}"
    if not node.branches and not kind.flows:
        return "its builder makes no branches, and only an EndNode ends a flow"
    if site.subflows and not node.subflows:
        return f"{kind.node.__name__}.subflows does not give the flows that the node runs"
    if kind.behind and node.behind != site.facts_behind:
        return (
            f"{kind.node.__name__}.behind does not give the facts of the {kind.behind} that it runs"
        )
    return ""


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
    return (*BUILT_IN, *load_plugins().kinds.values())


@cache
def load_plugins() -> Packages:
    """The kinds that installed packages register, and those that are refused."""
    # Looking at what is installed takes as long as checking a small file, and few files need it.
    from importlib.metadata import entry_points

    return read_packages(entry_points(group=GROUP), BUILT_IN)


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
_BY_NODE: Final = {
    made: kind for kind in (*BUILT_IN, UNKNOWN) for made in (kind.node, *kind.variants)
}
