"""What a node's function returned, checked and completed: the update that the engine gets.

    {"node.a": {"seq": 4, "next": "b", …}, "cursor": …}    ->  itself, or Command(update=…, goto="b")
                                                               where the node can choose its way
    None, {"length": 4}                                    ->  NodeFailed

The outputs of a node of an installed package are compared with its declaration, too: nobody else
tests its function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from langgraph.types import Command

from cinatra_sdk.governed.state import has_ended
from oas_compiler.ir.type_names import contrast
from oas_compiler.lower.frame import Frame
from oas_compiler.lower.names import CURSOR
from oas_compiler.lower.registry import Lowered
from oas_compiler.types.casting import is_of_type, type_of

Completion = Callable[[Mapping[str, Any], Any], Any]


def make_completion(frame: Frame, lowered: Lowered, *, of_package: bool) -> Completion:
    """The function from a node's state and update to the update for the engine.

    It raises `NodeFailed` for an update that does not pass the turn on.
    """
    channel, chooses, takes_turns = frame.channel, lowered.chooses, lowered.takes_turns

    def complete(state: Mapping[str, Any], update: Any) -> Any:
        if type(update) is dict and CURSOR in update and channel in update:
            if of_package:
                require_outputs(frame, update[channel])
            return frame.leave(update) if chooses else update
        if isinstance(update, Command) or not takes_turns or has_ended(state):
            return update
        raise frame.failed(
            "its function returned no update of frame.finish",
            hint="end it with `return frame.finish(state, {…})`",
        )

    return complete


def require_outputs(frame: Frame, record: dict[str, Any]) -> None:
    """Compare the outputs in a record with the node's; a default fills in for a missing output.

    Raises: `NodeFailed` naming the output, the wanted and the given type.
    """
    out, ports = dict(record["out"]), {port.title: port for port in frame.node.outputs}
    for title, port in ports.items():
        if title not in out and port.default is not None:
            out[title] = port.default.value()
    if out.keys() != ports.keys():
        raise frame.failed(
            f"its outputs are {_join_names(ports)}, and its function gives {_join_names(out)}",
            hint="frame.finish takes a value for each output, under its title",
        )
    for title, port in ports.items():
        if not is_of_type(out[title], port.type):
            wanted, given = contrast(port.type, type_of(out[title]))
            raise frame.failed(
                f"its output '{title}' is declared as {wanted}, and its function gives {given}"
            )
    record["out"] = out


def _join_names(titles: Mapping[str, Any]) -> str:
    return ", ".join(f"'{title}'" for title in titles) or "none"
