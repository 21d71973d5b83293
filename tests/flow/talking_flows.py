"""Random flows that talk: messages and gates, in loops, subflows, maps and parallel branches."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count, pairwise
from typing import Any

from cinatra_sdk.gates.forms.approval_forms import TextForm
from cinatra_sdk.gates.gate import Gate
from tests.flow.containers import texts
from tests.flows import branching, end, flow_node, flow_of, gate, message, node, port, start

Json = dict[str, Any]


def talking_flow(seed: int) -> Json:
    """A flow from the text `x`; its gates are answered by `say_again`."""
    return _Making(random.Random(seed)).flow("flow", "y", depth=2)


def say_again(gate_: Gate) -> str | bool:
    """`again` for two rounds of a loop, then `on`; a yes at a gate whose text nothing reads."""
    if isinstance(gate_.form, TextForm) and not gate_.form.takes_words:
        return True
    return "again" if gate_.visit < 3 else "on"


class _Making:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.numbers: Iterator[int] = count()

    def flow(self, id_: str, output: str, *, depth: int) -> Json:
        given = texts("xs", default=["1", "2"])
        nodes: list[Json] = [start(port("x", default="bees"), given)]
        edges: list[tuple[str, str, str, str]] = []
        back: dict[str, str] = {}
        for _ in range(self.chance.randint(1, 4 if depth == 2 else 2)):
            for made in self.nodes(depth, back):
                nodes.append(made)
                edges += self.feed(made)
        nodes.append(end(port(output)))
        edges.append(("start", "x", "end", output))
        routes: list[tuple[str, str | None, str]] = []
        for one, after in pairwise(made["id"] for made in nodes):
            if one in back:
                routes += [(one, "again", back[one]), (one, "default", after)]
                edges.append((one.replace("b", "g"), "userResponse", one, "said"))
            else:
                routes.append((one, None, after))
        return flow_of(*nodes, edges=edges, routes=routes, id_=id_)

    def nodes(self, depth: int, back: dict[str, str]) -> list[Json]:
        own = next(self.numbers)
        kinds = ["message", "gate", "loop", *(["subflow", "map", "parallel"] if depth else [])]
        kind = self.chance.choice(kinds)
        if kind == "message":
            return [message(f"m{own}", f"{own}: {{{{ x }}}}", port("x"))]
        if kind == "gate":
            return [gate(f"g{own}")]
        if kind == "loop":
            back[f"b{own}"] = f"m{own}"
            return [
                message(f"m{own}", f"round {own}"),
                gate(f"g{own}"),
                branching(f"b{own}", port("said"), {"again": "again"}),
            ]
        if kind == "subflow":
            return [flow_node(f"s{own}", self.flow(f"f{own}", "y", depth=depth - 1))]
        if kind == "map":
            inner = self.flow(f"f{own}", "y", depth=depth - 1)
            sort = self.chance.choice(["ParallelMapNode", "MapNode"])
            return [node(sort, f"e{own}", subflow=inner)]
        flows = [
            self.flow(f"f{own}-{place}", f"y{place}", depth=depth - 1)
            for place in range(self.chance.randint(2, 3))
        ]
        return [node("ParallelFlowNode", f"p{own}", subflows=flows)]

    def feed(self, made: Json) -> list[tuple[str, str, str, str]]:
        """Data edges into a node, all from the start."""
        own, kind = made["id"], made["component_type"]
        if kind in ("ParallelMapNode", "MapNode"):
            return [("start", "xs", own, "iterated_x"), ("start", "xs", own, "iterated_xs")]
        if kind in ("FlowNode", "ParallelFlowNode"):
            return [("start", "x", own, "x"), ("start", "xs", own, "xs")]
        return [
            ("start", "x", own, one["title"])
            for one in made.get("inputs", ())
            if one["title"] == "x"
        ]
