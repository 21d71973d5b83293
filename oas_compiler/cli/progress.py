"""The progress of a run, one line per visit of a node, under the author's own names.

In: events of an activation.  Out: lines on stderr.

    ✓ Recipients » Generate recipient list  0.3 s
    ◆ Recipients » Review recipients  waits for a person
    ✗ Recipients » Review recipients  rejected by ann: wrong list
    ✓ Each letter[3] » Draft                the element of a map, counted from 0 as in ids of gates
    ✓ Both » The second flow » Check        one of several flows
    ✓ Helper » Helper (model)               an agent's model has the turn

A run of a module has the names of the file that it was made of.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from rich.control import Control
from rich.segment import ControlType
from rich.text import Text

from cinatra_sdk.events.event import split_path
from cinatra_sdk.flow.plan import open_plans
from oas_compiler.cli.layout import Pieces
from oas_compiler.cli.safe import clean, cut
from oas_compiler.cli.terminal import Terminal

if TYPE_CHECKING:
    from cinatra_sdk.events.event import RunEvent
    from cinatra_sdk.flow.plan import FlowPlan, NodePlan, Path

_MARKS: Final = {"done": ("✓", "green"), "waits": ("◆", "yellow"), "failed": ("✗", "red")}
_PLAIN_MARKS: Final = {"done": "+", "waits": "?", "failed": "x"}


class Progress:
    """Prints events; never raises, because watching a run must not make it fail."""

    def __init__(self, flow: FlowPlan | None, terminal: Terminal) -> None:
        """flow: None for a hand-written graph, whose nodes go by their own names."""
        nodes = {} if flow is None else dict(_walk(flow))
        self._names = {} if flow is None else names_of(flow)
        self._inner = frozenset(path for path, node in nodes.items() if node.work.subflows)
        self._setups = {
            path: node.id for path, node in nodes.items() if node.work.kind == "StartNode"
        }
        self._repeating = frozenset(path for path, node in nodes.items() if node.work.repeats)
        self._terminal = terminal
        self._begun: dict[str, float] = {}
        self._live = terminal.err.is_terminal and terminal.err.color_system is not None

    def __call__(self, event: RunEvent) -> None:
        path, shown = self._read_path(event.path)
        if event.kind != "node" or path in self._inner:
            return
        name = clean(shown)
        if event.name == "started":
            self._begun[event.path] = time.monotonic()
            self._print_running(name)
            return
        seconds = time.monotonic() - self._begun.pop(event.path, time.monotonic())
        self._clear_line()
        following = event.data.get("next")
        if following is not None and self._setups.get(path) == following:
            return  # shown again as the gate that asks for inputs
        if self._only_asks(event, path):
            return  # shown again as the gate before its call, which was not made
        state, ending = _describe_finish(event)
        took = [f"{seconds:.1f} s"] if seconds >= 0.1 and event.name != "paused" else []
        line = Text.assemble("  ", self._choose_mark(state), f" {name}")
        endings = [Text(words, "dim") for words in (*ending, *took)]
        self._terminal.say(Pieces([line, *endings], between="  "))

    def _only_asks(self, event: RunEvent, path: Path) -> bool:
        """Whether the node passed the turn to itself for a person, and did nothing yet."""
        to_itself = bool(path) and event.data.get("next") == path[-1]
        return to_itself and path not in self._repeating and "decision" not in event.data

    def _read_path(self, event_path: str) -> tuple[Path, str]:
        """The path of an event's node in the flow, and the name of the node's visit."""
        path: Path = ()
        names: list[str] = []
        for node_id, item in split_path(event_path):
            path = (*path, node_id)
            name = self._names.get(path, node_id)
            flow = (*path, f"[{item}]")
            if flow in self._names:  # one of several flows
                names += [name, self._names[flow]]
                path = flow
            else:
                names.append(name if item is None else f"{name}[{item}]")
        return path, (" » " if self._names else "/").join(names)

    def _print_running(self, name: str) -> None:
        if self._live:
            most = max(10, self._terminal.err.width - 6)
            self._terminal.say_part(Text(f"  … {cut(name, most)}", style="dim"))

    def _clear_line(self) -> None:
        if self._live:
            back = Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2))
            self._terminal.say_part(back)

    def _choose_mark(self, state: str) -> tuple[str, str]:
        mark, colour = _MARKS[state]
        utf = self._terminal.err.encoding.lower().startswith("utf")
        return (mark if utf else _PLAIN_MARKS[state]), colour


def _describe_finish(event: RunEvent) -> tuple[str, list[str]]:
    """The mark and the text for a finished node."""
    decided = event.data.get("decision")
    if event.name == "failed":
        return "failed", []
    if event.name == "paused":
        return "waits", ["waits for a person"]
    if not isinstance(decided, dict) or decided.get("skipped"):
        return "done", []
    denied = "denied" if decided.get("denied") else "rejected"
    kind = "approved" if decided.get("approved") else denied
    who, why = clean(str(decided.get("by") or "")), clean(str(decided.get("reason") or ""))
    told = kind + (f" by {who}" if who else "")
    if kind == "approved":
        return "done", [told]
    if kind == "denied":
        return "done", [f"{told}: {why}" if why else told]
    return "failed", [f"{told}: {why}" if why else told]


def names_of(flow: FlowPlan) -> Mapping[Path, str]:
    """Paths of nodes → names of the author; of several flows in one node each has its name, too."""
    names: dict[Path, str] = {}
    for path, node in _walk(flow):
        own = node.name or node.id
        names[path] = f"{own} (model)" if node.work.kind == "AgentModelNode" else own
        for inside, subflow in open_plans(node, path):
            if inside != path:
                names[inside] = subflow.name or subflow.id
    return names


def _walk(flow: FlowPlan, around: Path = ()) -> Iterator[tuple[Path, NodePlan]]:
    """Every node at every depth with its path."""
    for node in flow.nodes:
        path = (*around, node.id)
        yield path, node
        for inside, subflow in open_plans(node, path):
            yield from _walk(subflow, inside)
