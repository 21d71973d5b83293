"""The sends of a document that control can come to without passing a stop; no rule itself.

    start → draft → send, start → check ─no→ mail(start → send)
        -> OpenSend(step=send, way=("start", "draft", "send")), OpenSend(step=send, way=("start", "check", "mail", "mail/send"))

One walk from the outermost StartNode with the stops taken away.  A container of a send class is a
send as a whole, and so may be the calls inside it (control_calls.py).  Subflows, maps and catch
branches are walked through; nothing is said of what comes after a node that could not be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from oas_compiler.checks.control_calls import ContainerCalls
from oas_compiler.checks.control_flow import ControlFlow, Step
from oas_compiler.checks.control_paths import Openings, Waived, below, longer


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSend:
    """A node that acts on the world outside, and a shortest way to it."""

    step: Step
    way: tuple[str, ...]
    is_waived: bool
    """Whether a gate around it asks nobody."""


def open_sends(
    root: ControlFlow, waived: Waived, stops: Callable[[Step], bool]
) -> Iterator[OpenSend]:
    """Each such node once; `waived` are the gates that stop nothing, by their paths from `root`."""
    openings = Openings(stops=stops)
    calls = ContainerCalls(openings=openings)
    waiting: list[tuple[ControlFlow, Waived, tuple[str, ...]]] = [(root, waived, ())]
    walked = {(root.pointer, waived)}
    found: set[str] = set()
    for flow, waived_here, around in waiting:
        for pointer, trail in openings.of(flow, waived_here).trails.items():
            step = flow.steps[pointer]
            way = _way(around, trail)
            if pointer not in found and _is_open(step, calls, waived_here):
                found.add(pointer)
                yield OpenSend(step=step, way=way, is_waived=bool(waived_here))
            inside = below(waived_here, step)
            for inner in step.inner:
                if (inner.pointer, inside) not in walked:
                    walked.add((inner.pointer, inside))
                    waiting.append((inner, inside, way))


def _is_open(step: Step, calls: ContainerCalls, waived: Waived) -> bool:
    """Whether the node, which control can come to, sends without asking a person itself."""
    if not step.sends or step.confirmed or step.is_gap:
        return False
    # what a container is marked with is done when it has run whole, or by a call inside it
    return not step.inner or calls.openings.passes(step, waived) or calls.acts_first(step, waived)


def _way(around: tuple[str, ...], trail: tuple[str, ...]) -> tuple[str, ...]:
    """A way inside a container after the way to it; the inner StartNode says nothing new."""
    if not around:
        return trail
    way = around
    for name in trail[1:]:
        way = longer(way, name if name == "…" else f"{around[-1]}/{name}")
    return way
