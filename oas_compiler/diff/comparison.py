"""Compares two flows as graphs, not as texts.  In: two flows.  Out: all their differences.

    difference = diff(compile_ir("old.json").ir, compile_ir("new.json").ir)
    difference.weakened     for reviewers: gates that guard less, sends without a gate
    difference.to_json()

The order of keys and lists, and where things stand in the file, make no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from functools import cached_property

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.control.flow_control import FlowControl
from oas_compiler.control.gates import GateSpec
from oas_compiler.control.risk_classes import weight
from oas_compiler.diff.changes import called, plain_changes
from oas_compiler.diff.difference import (
    Change,
    Code,
    Difference,
    Matching,
    brief,
    contrasted,
    match,
)
from oas_compiler.diff.schema_strictness import as_strict
from oas_compiler.ir import STRING, FlowIR, InputMessageNode, JsonValue, Node, Path
from oas_compiler.kinds.registry import kind_of

# ----------------------------------------------------------------------------
# One flow of a comparison: the nodes that act, and the gates on every way to each node.
#
# start → draft → review → apply → send      acting: draft, apply, send;  sends: send
#     gates_before({("review",): 0})(("apply",)) -> 1, a bit mask: one `&` compares all gates at once


@dataclass(frozen=True, kw_only=True, eq=False)
class ComparedFlow(FlowControl):
    """One flow: its gates, its acting nodes, and the ways between them."""

    nodes: dict[Path, Node]

    @cached_property
    def acting(self) -> frozenset[Path]:
        """The nodes that can change something outside the run, sends or not."""
        return self.sends | {path for path, node in self.nodes.items() if _may_act(node)}

    def gates_before(self, numbers: Mapping[Path, int]) -> Callable[[Path], int]:
        """Node → the gates on every way to it, as one number; 0 also for a node that is never
        reached.

        numbers: numbers of the gates to look for: bit n is the gate with number n.
        """
        masks = self.graph.gather_above({p: 1 << n for p, n in numbers.items()})
        return lambda path: masks.get(self.graph.done(path), 0)


def bits(mask: int) -> Iterator[int]:
    """The numbers of the bits that are set."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def _may_act(node: Node) -> bool:
    """Whether a node of its kind can change something outside the run, or runs flows that may."""
    kind = kind_of(node)
    return kind.acts or bool(kind.flows)


# ----------------------------------------------------------------------------
# Finds weaker guards between two flows: gates, and nodes that act on the world outside.
#
#     a gate is gone; on no way any more, or no longer on every way to a node that acts and that it
#     stood before (a call, a tool, a subflow: sends or not); waived by `requiresApproval: false` in
#     `gateSteps`; of a lower risk class; with an answer schema that accepts more; with more visits
#     a send can be reached, or reached again, without any gate; or is no send any more by its risk
#     class
#
# Both flows are compared as one graph with all subflows expanded, so moving a node into or out of a
# subflow alone is no change.


_MOST_LOOPS = 200
"""Sends that are examined for loops; each needs a walk over the flow."""
_NAMED = 3
"""Nodes that one message names."""
_VISITS = 100
"""Visits of one gate in one run where the author gave no `maxGateVisits`, or a higher one."""


def weakenings(made: Matching, old: ComparedFlow, new: ComparedFlow) -> Iterator[Change]:
    """Everything that got weaker from the first flow to the second."""
    guards = _compare_guards(made, old, new)
    for path, gate in old.gates.items():
        now = made.to_second.get(path)
        if now is None or now not in new.gates:
            yield _make_gate_removal(
                path, old, guards.stood_before.get(path, []), retyped=now is not None
            )
            continue
        yield from _compare_gates(gate, old, new.gates[now], new)
        what = _describe_bypass(path, now, guards, old, new)
        if what:
            yield _make_weakening("gate_bypassed", what, now, new)
    yield from _compare_sends(made, old, new)
    yield from _compare_confirmations(made, old, new)
    for path in guards.bare:
        yield _make_weakening("node_unguarded", "can act without any gate before it", path, new)


def _compare_confirmations(
    made: Matching, old: ComparedFlow, new: ComparedFlow
) -> Iterator[Change]:
    """Calls and agents that a person confirmed each time, and confirms no more."""
    for path, node in old.nodes.items():
        now = made.to_second.get(path)
        if now is None or now not in new.nodes or not node.behind.asks_person:
            continue
        if not new.nodes[now].behind.asks_person:
            yield _make_weakening("confirmation_removed", "asks no person any more", now, new)


def _make_weakening(
    code: Code, what: str, path: Path, new: ComparedFlow, values: tuple[str, str] = ("", "")
) -> Change:
    """values: before and after."""
    node = new.nodes[path]
    noun = "the gate" if isinstance(node, InputMessageNode) else "the node"
    return Change(
        sign="!",
        code=code,
        message=f"{noun} {called(path, node)} {what}",
        flow=path[:-1],
        node=path,
        before=values[0],
        after=values[1],
        place=node.place,
    )


# ---------------------------------------------------------------------------- gates


def _make_gate_removal(
    path: Path, old: ComparedFlow, before: list[Path], *, retyped: bool
) -> Change:
    guarded = f"; it stood before {_format_paths(before)}" if before else ""
    node = old.nodes[path]
    what = "is no gate any more" if retyped else "is gone"
    return Change(
        sign="!",
        code="gate_removed",
        message=f"the gate {called(path, node)} {what}{guarded}",
        flow=path[:-1],
        node=path,
        place=node.place,
        gone=True,
    )


def _describe_bypass(
    path: Path, now: Path, guards: _Guards, old: ComparedFlow, new: ComparedFlow
) -> str:
    """The message about a gate that guards less; empty for any other gate."""
    lost = guards.lost.get(path, [])
    if path in old.asking and path in old.reached and now not in new.reached:
        return "is on no way any more" + (
            f"; it stood before {_format_paths(lost)}" if lost else ""
        )
    if lost:
        return f"is no longer on every way to {_format_paths(lost)}"
    if path in guards.idle:
        before = _format_paths(guards.stood_before[path])
        return f"is before nothing that acts any more; it stood before {before}"
    return ""


@dataclass(slots=True)
class _Guards:
    """The nodes that each gate of the first flow guarded and no longer guards.

    Of many nodes, only one more than a message names is kept.
    """

    lost: dict[Path, list[Path]] = field(default_factory=dict)
    """Remaining gate → the nodes that it no longer guards, by their paths in the second flow."""
    stood_before: dict[Path, list[Path]] = field(default_factory=dict)
    """Every gate → the nodes that it guarded, by their paths in the first flow."""
    idle: set[Path] = field(default_factory=set)
    """Gates that guarded an acting node and now guard none."""
    bare: list[Path] = field(default_factory=list)
    """Nodes of the second flow without a gate that several gates guarded together."""


def _compare_guards(made: Matching, old: ComparedFlow, new: ComparedFlow) -> _Guards:
    """All gates are compared at once for each node, as bits of one number: near linear work."""
    asking = [path for path in old.gates if path in old.asking]
    beside = [made.to_second.get(path) for path in asking]
    stays = [now if now in new.gates else None for now in beside]
    gone = sum(1 << number for number, now in enumerate(stays) if now is None)
    was_before = old.gates_before({path: number for number, path in enumerate(asking)})
    is_before = new.gates_before(
        {now: number for number, now in enumerate(stays) if now is not None}
    )
    lost, stood_before = _Named(), _Named()
    found = _Guards()
    for path in _sort_acting_nodes(old):
        was = was_before(path)
        stood_before.add(was, path)
        now = made.to_second.get(path)
        if now is None or not new.acts(now) or not (now in new.acting or path in old.sends):
            continue
        lost.add(was & ~gone & ~is_before(now), now)
        together = not was and old.acts(path) and not old.is_open(path)
        if together and new.is_open(now) and now not in new.sends and path not in old.sends:
            found.bare.append(now)
    if any(new.acts(path) and path not in made.to_first for path in new.acting):
        # the guarded nodes are gone, and a new node acts without the gate
        still = 0
        for path in new.acting:
            still |= is_before(path)
        found.idle = {asking[n] for n in stood_before.by_number if not (still | gone) >> n & 1}
    found.lost = {asking[number]: paths for number, paths in lost.by_number.items()}
    found.stood_before = {asking[number]: paths for number, paths in stood_before.by_number.items()}
    return found


def _sort_acting_nodes(guarding: ComparedFlow) -> list[Path]:
    """The acting nodes in the order of messages: sends first, then inner nodes before outer
    ones.
    """
    return sorted(
        guarding.acting,
        key=lambda path: (path not in guarding.sends, path in guarding.graph.containers, path),
    )


class _Named:
    """Gate → the first few nodes, for many gates at a time."""

    def __init__(self) -> None:
        self.by_number: dict[int, list[Path]] = {}
        self._full = 0

    def add(self, gates: int, node: Path) -> None:
        for number in bits(gates & ~self._full):
            named = self.by_number.setdefault(number, [])
            if any(inner[: len(node)] == node for inner in named):
                continue  # a container with a named node inside
            named.append(node)
            if len(named) > _NAMED:
                self._full |= 1 << number


def _compare_gates(
    was: GateSpec, old: ComparedFlow, now: GateSpec, new: ComparedFlow
) -> Iterator[Change]:
    path = now.path
    one, other = old.nodes[was.path], new.nodes[path]
    assert isinstance(one, InputMessageNode)
    assert isinstance(other, InputMessageNode)
    if path in new.waived and was.path not in old.waived:
        yield _make_weakening("gate_waived", 'says "requiresApproval": false now', path, new)
    if weight(now.risk_class) < weight(was.risk_class):
        values = was.risk_class, now.risk_class
        yield _make_weakening("gate_risk_lowered", "has a lower risk class", path, new, values)
    for what, before, after in _pair_answer_schemas(one, other):
        if not as_strict(after, before):
            gone = after is True
            words = f"has no {what} any more" if gone else f"may accept more: {what} changed"
            values = (brief(before), "") if gone else contrasted(before, after)
            yield _make_weakening("gate_answer_widened", words, path, new, values)
    if _read_max_visits(other) > _read_max_visits(one):
        values = str(_read_max_visits(one)), str(_read_max_visits(other))
        yield _make_weakening("gate_visits_raised", "may be visited more often", path, new, values)


def _read_max_visits(node: InputMessageNode) -> int:
    return min(node.max_visits or _VISITS, _VISITS)


def _pair_answer_schemas(
    one: InputMessageNode, other: InputMessageNode
) -> Iterator[tuple[str, JsonValue, JsonValue]]:
    """(name, before, after) of each schema that an answer must fit; `True` for a missing schema."""
    forms = [_collect_answer_schemas(node) for node in (one, other)]
    for what in forms[0]:
        yield what, forms[0][what], forms[1].get(what, True)


def _collect_answer_schemas(node: InputMessageNode) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    if node.answer_schema is not None:
        schema = node.answer_schema.value()
        found["inputMessageSchema"] = schema
        shape = schema.get("x-envelope-shape") if isinstance(schema, dict) else None
        if isinstance(shape, dict):
            found["x-envelope-shape"] = {"type": "object", "properties": shape}
    form = node.cinatra.mapping().get("formSchema")
    if isinstance(form, dict):
        found["formSchema"] = form
    for port in node.outputs[:1]:
        if port.type != STRING or "enum" in port.schema.mapping():
            found[f'output "{port.title}"'] = port.schema.value()
    return found


# ---------------------------------------------------------------------------- sends


def _compare_sends(made: Matching, old: ComparedFlow, new: ComparedFlow) -> Iterator[Change]:
    once = {made.to_second[path] for path in old.sends if path in made.to_second}
    for path in sorted(once - new.sends):
        values = old.nodes[made.to_first[path]].risk_class, new.nodes[path].risk_class
        yield _make_weakening("send_hidden", "counts as a send no more", path, new, values)
    for number, path in enumerate(sorted(once | new.sends)):
        was = made.to_first.get(path)
        before = was if was in old.sends else None
        if new.is_open(path):
            if before is None or not old.is_open(before):
                yield _make_weakening(
                    "send_unguarded", "can act without any gate before it", path, new
                )
            continue
        repeated = before is not None and old.repeats(before)
        if number < _MOST_LOOPS and new.repeats(path) and not repeated:
            yield _make_weakening(
                "send_repeats", "can act again in a loop without a gate", path, new
            )


def _format_paths(paths: Iterable[Path]) -> str:
    names = [f'"{"/".join(path)}"' for path in paths]
    return ", ".join(names[:_NAMED]) + (" and more" if len(names) > _NAMED else "")


__all__ = ["Change", "Difference", "diff"]


def diff(first: FlowIR, second: FlowIR) -> Difference:
    """The differences of `second` from `first`; both flows must compile."""
    made = match(first, second)
    old = ComparedFlow(flow=made.first, nodes=made.nodes[0])
    new = ComparedFlow(flow=made.second, nodes=made.nodes[1])
    return Difference((*weakenings(made, old, new), *plain_changes(made, old, new)))
