"""`NodeKind`: all facts about one kind of node, in one record.

    NodeKind(component_type="EndNode", node=EndNode, build=build_end, fields={…}, …)

Readers, rules, pictures and schemas ask the record; no module has its own table of kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Final, Literal, TypeAlias

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler import ir
from oas_compiler.component_facts.component import Field, Site, common
from oas_compiler.component_facts.metadata import Schema
from oas_compiler.ir import JsonValue, Node

# ----------------------------------------------------------------------------
# A type of another runtime that extends a kind of node, and when it says nothing more.
#
# `Extended("ExtendedToolNode", more={"raise_exceptions": is_on})`


Same = Callable[[JsonValue], bool]
"""Whether a value of a further field changes nothing; null stands for an absent one."""


@dataclass(frozen=True, slots=True)
class Extended:
    """How one type is read as that which it extends."""

    component_type: str
    more: Mapping[str, Same] = field(default_factory=dict)
    """Its further fields, which are left out."""
    renamed: Mapping[str, str] = field(default_factory=dict)


def is_empty(value: JsonValue) -> bool:
    return value in (None, [], {}, "")


def is_off(value: JsonValue) -> bool:
    return value in (None, False)


def is_on(value: JsonValue) -> bool:
    return value is True


def is_any(_value: JsonValue) -> bool:
    return True


def renames_nothing(value: JsonValue) -> bool:
    return value is None or (isinstance(value, dict) and all(k == v for k, v in value.items()))


MAPPINGS: Final[Mapping[str, Same]] = {
    "input_mapping": renames_nothing,
    "output_mapping": renames_nothing,
}
"""Of every node of WayFlow."""


Version: TypeAlias = tuple[int, int, int]
FIRST: Final[Version] = (25, 4, 1)
DRAFT: Final[Version] = (25, 4, 2)
"""Drafts of 26.1.0: everything published in 26.1.0 counts since these drafts."""

Passage = Literal["flow", "caught", "all", "any"]
"""How control goes through the flows that a node runs.

flow    out by the branches of its one flow's EndNodes
caught  the same, and at any time by the branch of a caught exception
all     out when all of its flows have ended
any     at any time: it may run none of them, or run them several times
"""

Shape = Literal["start", "end", "gate", "branch", "call", "message", "step", "subflow"]
"""The shapes of pictures; `step` is a plain box, `subflow` a frame around a flow."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NodeKind:
    """One kind of node; `docs/adding-a-node.md` shows one from beginning to end."""

    component_type: str
    """Its name in files."""
    node: type[Node]
    """Its class in the IR; no other kind has this class."""
    build: Callable[[Site], Node]
    """Makes the IR node; where that is not possible, `kinds.unknown.build_unknown` makes a
    stand-in.

    Errors are recorded through the site; nothing is raised.
    """
    words: str
    """What a node of this kind does, in one sentence."""
    fields: Mapping[str, Field] | None
    """Its fields, including the fields of every node; `None` where the fields are unknown."""
    variants: tuple[type[Node], ...] = ()
    """Other classes in the IR that its builder makes; for kinds of oasflow itself."""
    since: Version = FIRST
    """The first version of Agent Spec that has it."""
    extended: Extended | None = None
    """The type of another runtime that is read as this one where it says the same."""
    flows: tuple[str, ...] = ()
    """The fields that hold the flows that the node runs: a flow or a list of flows."""
    passage: Passage = "any"
    """How control goes through its flows; rules about gates assume the worst for `any`."""
    behind: Literal["", "tool", "agent", "llm_config"] = ""
    """The field that holds the tool, agent or model that the node runs."""
    acts: bool = True
    """Whether the node itself may change something outside the run; its flows count separately."""
    is_call: bool = False
    """Whether the node itself makes a call, for which an approval can be required."""
    shows_screens: bool = False
    """Whether the node, or a flow that it runs, shows a screen to a person."""
    shape: Shape = "step"
    calls: tuple[type[Node], ...] = ()
    """The variants that pictures draw as calls, whatever the shape of the kind."""
    caption: str | Callable[[Any], str] | None = None
    """The text below its name in pictures: a fixed text, or a function of the IR node.

    `None` is the name of its class; "" is no text, because its shape shows the kind.
    """
    metadata: Mapping[str, Schema] | None = None
    """Keys of `metadata.cinatra` that a host or the compiler reads; `None` where only a risk class
    is known.
    """
    lowering: str = ""
    """`package.module:function`, which makes the LangGraph node; "" where it does not run yet.

    Only `lower/` imports it: a file is checked without LangGraph.
    """

    def shape_of(self, node: Node) -> Shape:
        """The shape of one of its nodes; of one that runs flows, what stands inside the frame."""
        return "call" if isinstance(node, self.calls) else self.shape

    @property
    def runs(self) -> bool:
        return bool(self.lowering)


# ----------------------------------------------------------------------------
# The stand-in for a node that cannot be built, so that the rest of its flow can be examined.
#
# a foreign type, a tool or flow that could not be read    ->  UnknownNode with the declared ports


def build_unknown(site: Site) -> ir.Node:
    """A stand-in that knows what the file declares and nothing else."""
    declared = site.component.items("branches")
    branches = tuple(name for name in declared or () if isinstance(name, str))
    return ir.UnknownNode(
        **common(site),
        component_type=site.component.type,
        inputs=site.declared("inputs") or (),
        outputs=site.declared("outputs") or (),
        branches=branches or ("next",),
        subflows=site.readable_subflows,
        behind=site.facts_behind,
    )


UNKNOWN = NodeKind(
    component_type="",
    node=ir.UnknownNode,
    build=build_unknown,
    words="",
    fields=None,
)
"""The kind of the stand-in; no file names it, and it never runs."""
