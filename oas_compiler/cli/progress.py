"""The progress of a run, one line per visit of a node, under the author's own names.

In: events of an activation.  Out: lines on stderr.

    ✓ Recipients » Generate recipient list  0.3 s
    ◆ Recipients » Review recipients  waits for a person
    ✗ Recipients » Review recipients  rejected by ann: wrong list
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from rich.control import Control
from rich.segment import ControlType
from rich.text import Text

from oas_compiler.cli.layout import Pieces
from oas_compiler.cli.safe import clean, cut
from oas_compiler.cli.terminal import Terminal
from oas_compiler.ir import FlowIR, StartNode, open_flows, walk

if TYPE_CHECKING:
    from cinatra_sdk.events.event import RunEvent

_MARKS: Final = {"done": ("✓", "green"), "waits": ("◆", "yellow"), "failed": ("✗", "red")}
_PLAIN_MARKS: Final = {"done": "+", "waits": "?", "failed": "x"}


class Progress:
    """Prints events; never raises, because watching a run must not make it fail."""

    def __init__(self, flow: FlowIR | None, terminal: Terminal) -> None:
        """flow: None for a hand-written graph, whose nodes go by their own names."""
        nodes = [] if flow is None else list(walk(flow))
        self._names = {} if flow is None else names_of(flow)
        self._inner = frozenset(path for path, node in nodes if node.subflows)
        self._setups = {path: node.id for path, node in nodes if isinstance(node, StartNode)}
        self._terminal = terminal
        self._begun: dict[tuple[str, ...], float] = {}
        self._live = terminal.err.is_terminal and terminal.err.color_system is not None

    def __call__(self, event: RunEvent) -> None:
        path = event.nodes
        if event.kind != "node" or path in self._inner:
            return
        name = clean(self._names.get(path, "/".join(path)))
        if event.name == "started":
            self._begun[path] = time.monotonic()
            self._print_running(name)
            return
        seconds = time.monotonic() - self._begun.pop(path, time.monotonic())
        self._clear_line()
        following = event.data.get("next")
        if following is not None and self._setups.get(path) == following:
            return  # shown again as the gate that asks for inputs
        state, ending = _describe_finish(event)
        took = [f"{seconds:.1f} s"] if seconds >= 0.1 and event.name != "paused" else []
        line = Text.assemble("  ", self._choose_mark(state), f" {name}")
        endings = [Text(words, "dim") for words in (*ending, *took)]
        self._terminal.say(Pieces([line, *endings], between="  "))

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


def names_of(flow: FlowIR) -> Mapping[tuple[str, ...], str]:
    """Ids of the nodes around a node and its own → names of the author, `Recipients » Review recipients`.

    Of several flows in one node each has its name there, too.
    """
    names: dict[tuple[str, ...], str] = {}
    for path, node in walk(flow):
        around = names.get(path[:-1], "")
        own = node.name or node.id
        names[path] = f"{around} » {own}" if around else own
        for inside, subflow in open_flows(node, path):
            if inside != path:
                names[inside] = f"{names[path]} » {subflow.name or subflow.id}"
    return names
