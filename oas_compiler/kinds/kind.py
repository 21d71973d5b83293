"""`NodeKind`: everything that is said of one kind of node, in one record.

    NodeKind(component_type="EndNode", node=EndNode, build=build_end, fields={…}, …)

A reader, a checker, a picture and a schema ask the record; none keeps a table of kinds of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from oas_compiler.component.fields import Field
from oas_compiler.component.metadata import Schema
from oas_compiler.ir import Node

if TYPE_CHECKING:
    from oas_compiler.component.site import Site

Version: TypeAlias = tuple[int, int, int]
FIRST: Final[Version] = (25, 4, 1)
DRAFT: Final[Version] = (25, 4, 2)
"""Drafts of 26.1.0: what was published there counts since them."""

Shape = Literal["start", "end", "gate", "branch", "call", "message", "step", "subflow"]
"""The shapes of pictures; `step` is a plain box, `subflow` a frame around a flow."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NodeKind:
    """One kind of node; `docs/adding-a-node.md` shows one from beginning to end."""

    component_type: str
    """As files name it."""
    node: type[Node]
    """Its class in the IR: no other kind has the same."""
    build: Callable[[Site], Node]
    """Makes the IR node; where that is not possible `kinds.unknown.build_unknown` makes a stand-in.

    What is wrong is recorded through the site; nothing is raised.
    """
    words: str
    """What a node of it does, in a sentence."""
    fields: Mapping[str, Field] | None
    """Its fields, those of every node among them; `None` where they are not known."""
    since: Version = FIRST
    """The first version of Agent Spec that has it."""
    flows: tuple[str, ...] = ()
    """The fields that hold the flows which it runs: a flow or a list of flows."""
    behind: Literal["", "tool", "agent"] = ""
    """The field that holds the tool or agent which it runs."""
    acts: bool = True
    """Whether it may itself change something outside the run; what its flows do, they say."""
    is_call: bool = False
    """Whether it calls something itself: approval can be asked for it."""
    shows_screens: bool = False
    """Whether a person is shown a screen there, or inside of what it runs."""
    shape: Shape = "step"
    caption: str | Callable[[Any], str] | None = None
    """What pictures write below its name, of itself or worked out of the IR node.

    `None` is the name of its class, "" nothing: its shape says enough.
    """
    metadata: Mapping[str, Schema] | None = None
    """Keys of `metadata.cinatra` that somebody reads; `None` where only a risk class is known."""
    lowering: str = ""
    """`package.module:function`, which makes the LangGraph node; "" where it does not run yet.

    Only `lower/` imports it: a file is checked without LangGraph.
    """

    @property
    def runs(self) -> bool:
        return bool(self.lowering)
