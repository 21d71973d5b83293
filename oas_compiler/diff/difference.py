"""The result of comparing two flows.

Difference((Change(sign="!", code="gate_removed", message='the gate "review" is gone; …'),))
    .equal     -> False
    .weakened  -> (that change,)
    .to_json() -> {"equal": false, "weakened": 1, "changes": [{…}]}
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from oas_compiler.ir import JsonValue, Path, Place
from oas_compiler.text.secrets import without_secrets

Sign = Literal["!", "-", "+", "~"]
Code = Literal[
    "gate_removed",
    "gate_bypassed",
    "gate_waived",
    "gate_risk_lowered",
    "gate_answer_widened",
    "gate_visits_raised",
    "confirmation_removed",
    "node_unguarded",
    "send_unguarded",
    "send_hidden",
    "send_repeats",
    "flow_changed",
    "port_added",
    "port_removed",
    "port_changed",
    "node_added",
    "node_removed",
    "node_changed",
    "node_renamed",
    "node_moved",
    "control_edge_added",
    "control_edge_removed",
    "control_edge_changed",
    "data_edge_added",
    "data_edge_removed",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that differs."""

    sign: Sign
    """`!` a gate or the guard of a send got weaker, `-` removed, `+` added, `~` changed."""
    code: Code
    message: str
    """One sentence that names the node, the edge or the port."""
    flow: Path = ()
    """What the paths of the nodes of the flow begin with; empty in the outermost flow."""
    node: Path = ()
    """The node's path in the second flow, or in the first for a removed node; empty for the flow
    itself.
    """
    before: str = ""
    """The old value, shortened; empty where the change is not about a value."""
    after: str = ""
    place: Place = Place()
    """The place in the second file; for a removed part, in the first file."""
    gone: bool = False
    """Whether `place` is in the first file."""


@dataclass(frozen=True, slots=True)
class Difference:
    """All differences between two flows, weaker guards first."""

    changes: tuple[Change, ...] = ()

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    def __len__(self) -> int:
        return len(self.changes)

    @property
    def equal(self) -> bool:
        return not self.changes

    @property
    def weakened(self) -> tuple[Change, ...]:
        """The changes after which a gate asks less often, or less strictly, before a node acts."""
        return tuple(change for change in self.changes if change.sign == "!")

    def to_json(self) -> dict[str, JsonValue]:
        """Ready for JSON; the keys of a change are the fields of `Change`."""
        return {
            "equal": self.equal,
            "weakened": len(self.weakened),
            "changes": [_encode_change(change) for change in self.changes],
        }


def _encode_change(change: Change) -> dict[str, JsonValue]:
    return {
        "sign": change.sign,
        "code": change.code,
        "message": without_secrets(change.message),
        "flow": "/".join(change.flow),
        "node": "/".join(change.node),
        "before": change.before,
        "after": change.after,
        "file": "first" if change.gone else "second",
        "line": change.place.line,
        "column": change.place.column,
        "pointer": change.place.pointer,
    }
