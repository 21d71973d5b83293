"""What got less guarded between two flows: gates and the nodes that act on the world outside.

    a gate is gone; no longer on every way to a send that it stood before; waived by
    `requiresApproval: false`; of a lower risk class; with an answer schema that accepts more; with
    more visits
    a send can be reached, or reached again, without any gate; or is no send any more by its risk
    class

Everything is judged on one graph with all subflows opened up, so moving a node into or out of a
subflow changes nothing by itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from oas_compiler.approval import (
    GateSpec,
    Path,
    acting_nodes,
    derive_approval,
    is_send_class,
    waived_gates,
)
from oas_compiler.comparing.changes import called
from oas_compiler.comparing.content import brief
from oas_compiler.comparing.difference import Change, Code
from oas_compiler.comparing.matching import Matching
from oas_compiler.comparing.strictness import as_strict
from oas_compiler.explanation.passage import Passage
from oas_compiler.ir import STRING, FlowIR, InputMessageNode, JsonValue, Node
from oas_compiler.risk import weight

_MOST_LOOPS = 200
"""Sends that are looked at for loops; each is a walk over the flow."""
_NAMED = 3
"""Sends that one message names."""
_VISITS = 100
"""Visits of one gate in one run where the author gave no `maxGateVisits`, or a higher one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Guarding:
    """One flow: its gates, its sends, and the ways between them."""

    flow: FlowIR
    nodes: dict[Path, Node]

    @cached_property
    def passage(self) -> Passage:
        return Passage.of(self.flow)

    @cached_property
    def gates(self) -> dict[Path, GateSpec]:
        return {gate.path: gate for gate in derive_approval(self.flow).gates}

    @cached_property
    def waived(self) -> frozenset[Path]:
        own = {
            path
            for path in self.gates
            if self.nodes[path].cinatra.mapping().get("requiresApproval") is False
        }
        return waived_gates(self.flow) | own

    @cached_property
    def asking(self) -> frozenset[Path]:
        """The gates that stop a run; the author's own `requiresApproval` is a remark only."""
        return frozenset(self.gates) - waived_gates(self.flow)

    @cached_property
    def sends(self) -> frozenset[Path]:
        return frozenset(
            path
            for path, node in acting_nodes(self.flow)
            if is_send_class(node.risk_class) and path not in self.gates
        )

    @cached_property
    def open(self) -> set[Path]:
        """What can be come to without any gate."""
        return self.passage.reached(without=self.asking)

    def repeats(self, send: Path) -> bool:
        """Whether a loop leads from the send to itself without any gate."""
        stack = list(self.passage.following.get(send, ()))
        seen = set(stack)
        while stack:
            current = stack.pop()
            if current == send:
                return True
            if current in self.asking:
                continue
            for target in self.passage.following.get(current, ()):
                if target not in seen:
                    seen.add(target)
                    stack.append(target)
        return False


def weakenings(made: Matching) -> Iterator[Change]:
    """Everything that got weaker from the first flow to the second."""
    old = _Guarding(flow=made.first, nodes=made.nodes[0])
    new = _Guarding(flow=made.second, nodes=made.nodes[1])
    lost = _lost_guards(made, old, new)
    for path, gate in old.gates.items():
        now = made.to_second.get(path)
        if now is None or now not in new.gates:
            yield _removed(path, old, now is not None)
            continue
        yield from _gate(gate, old, new.gates[now], new)
        if path in lost:
            yield _weaker(
                "gate_bypassed", f"is no longer on every way to {_list(lost[path])}", now, new
            )
    yield from _sends(made, old, new)


def _weaker(
    code: Code, what: str, path: Path, new: _Guarding, values: tuple[str, str] = ("", "")
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


def _removed(path: Path, old: _Guarding, retyped: bool) -> Change:
    before = [send for send in sorted(old.sends) if old.passage.always_before(path, send)]
    guarded = f"; it stood before {_list(before)}" if before and path in old.asking else ""
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


def _lost_guards(made: Matching, old: _Guarding, new: _Guarding) -> dict[Path, list[Path]]:
    """Gate, as the first flow calls it → sends, as the second does, that it guards no more."""
    lost: dict[Path, list[Path]] = defaultdict(list)
    reached = new.passage.reached()
    for send in sorted(old.sends):
        now = made.to_second.get(send)
        if now is None or now not in reached:
            continue
        for gate in old.passage.before(send):
            beyond = made.to_second.get(gate)
            if gate in old.asking and beyond in new.gates:
                assert beyond is not None
                if not new.passage.always_before(beyond, now):
                    lost[gate].append(now)
    return lost


def _gate(was: GateSpec, old: _Guarding, now: GateSpec, new: _Guarding) -> Iterator[Change]:
    path = now.path
    one, other = old.nodes[was.path], new.nodes[path]
    assert isinstance(one, InputMessageNode)
    assert isinstance(other, InputMessageNode)
    if path in new.waived and was.path not in old.waived:
        yield _weaker("gate_waived", 'says "requiresApproval": false now', path, new)
    if weight(now.risk_class) < weight(was.risk_class):
        values = was.risk_class, now.risk_class
        yield _weaker("gate_risk_lowered", "has a lower risk class", path, new, values)
    for what, before, after in _answers(one, other):
        if not as_strict(after, before):
            gone = after is True
            words = f"has no {what} any more" if gone else f"may accept more: {what} changed"
            values = brief(before), "" if gone else brief(after)
            yield _weaker("gate_answer_widened", words, path, new, values)
    if _visits(other) > _visits(one):
        values = str(_visits(one)), str(_visits(other))
        yield _weaker("gate_visits_raised", "may be visited more often", path, new, values)


def _visits(node: InputMessageNode) -> int:
    return min(node.max_visits or _VISITS, _VISITS)


def _answers(
    one: InputMessageNode, other: InputMessageNode
) -> Iterator[tuple[str, JsonValue, JsonValue]]:
    """(name, before, after) of each schema that an answer must fit; `True` where there is none."""
    forms = [_forms(node) for node in (one, other)]
    for what in forms[0]:
        yield what, forms[0][what], forms[1].get(what, True)


def _forms(node: InputMessageNode) -> dict[str, JsonValue]:
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


def _sends(made: Matching, old: _Guarding, new: _Guarding) -> Iterator[Change]:
    once = {made.to_second[path] for path in old.sends if path in made.to_second}
    for path in sorted(once - new.sends):
        values = old.nodes[made.to_first[path]].risk_class, new.nodes[path].risk_class
        yield _weaker("send_hidden", "counts as a send no more", path, new, values)
    for number, path in enumerate(sorted(once | new.sends)):
        was = made.to_first.get(path)
        before = was if was in old.sends else None
        if path in new.open:
            if before is None or before not in old.open:
                yield _weaker("send_unguarded", "can act without any gate before it", path, new)
            continue
        repeated = before is not None and old.repeats(before)
        if number < _MOST_LOOPS and new.repeats(path) and not repeated:
            yield _weaker("send_repeats", "can act again in a loop without a gate", path, new)


def _list(paths: list[Path]) -> str:
    named = ", ".join(f'"{"/".join(path)}"' for path in paths[:_NAMED])
    more = len(paths) - _NAMED
    return f"{named} and {more} more" if more > 0 else named
