"""Random flows of every kind of node that runs: branches, loops, gates, calls, tools, subflows."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping
from typing import Any

from tests.flows import (
    api,
    branching,
    end,
    flow_node,
    flow_of,
    gate,
    message,
    node,
    port,
    start,
    tool,
)

Json = dict[str, Any]
WORDS = ("again", "on", "else")


def random_flow(seed: int, *, depth: int = 1, asks: bool = True) -> Json:
    """A flow that ends, or takes more steps than a run may; asks: whether gates may be in it."""
    chance = random.Random(seed)
    nodes = [_random_node(chance, place, depth, asks=asks) for place in range(chance.randint(3, 9))]
    edges: list[tuple[str, str, str, str]] = []
    routes: list[tuple[str, str | None, str]] = []
    order = ["start", *(made["id"] for made in nodes), "end"]
    texts = [("start", "topic")]
    for place, made in enumerate(nodes, start=1):
        for title in _inputs_of(made):
            source, output = chance.choice(texts)
            edges.append((source, output, made["id"], title))
        if made["component_type"] == "BranchingNode":
            for branch in made["branches"]:
                back = chance.random() < 0.3
                target = chance.choice(order[1 : place + 1] if back else order[place + 1 :])
                routes.append((made["id"], branch, target))
        texts += [(made["id"], output["title"]) for output in made.get("outputs") or ()]
    routes += [
        (before, None, after)
        for before, after in itertools.pairwise(order)
        if not any(before == source for source, *_rest in routes)
    ]
    edges.append((*chance.choice(texts), "end", "text"))  # type: ignore[arg-type]  # four texts
    inputs = [port("topic", default="bees")]
    return flow_of(
        start(*inputs),
        *nodes,
        end(port("text", default="none")),
        edges=edges,
        routes=routes,
        id_=f"flow-{seed}-{depth}",
    )


def counting_tools() -> Mapping[str, Callable[..., Any]]:
    """A tool that says another word each time, the same in every run that begins anew."""
    said: dict[str, int] = {}

    def choose(text: str = "") -> str:
        said[text[:20]] = said.get(text[:20], 0) + 1
        return WORDS[said[text[:20]] % len(WORDS)]

    return {"choose": choose}


def _random_node(chance: random.Random, place: int, depth: int, *, asks: bool) -> Json:
    id_ = f"n{place}"
    kinds = ["template", "template", "branch", "branch", "message", "regex", "api", "tool"]
    if asks:
        kinds.insert(-2, "gate")
    kind = chance.choice([*kinds, "flow"] if depth else kinds)
    text = port("text", default="x")
    if kind == "template":
        return node(
            "PluginTemplateNode",
            id_,
            template=chance.choice(["{{ text }}!", "{{ text | length }}", "{{ text[0] }}"]),
            inputs=[text],
            outputs=[port("output")],
        )
    if kind == "branch":
        return branching(id_, text, {"again": "again", "on": "on"})
    if kind == "message":
        return message(id_, "said: {{ text }}", text)
    if kind == "regex":
        return node(
            "PluginRegexNode",
            id_,
            regex_pattern="[a-z]+",
            output_key="output",
            inputs=[text],
            outputs=[port("output")],
        )
    if kind == "gate":
        return gate(id_, inputs=[text])
    if kind == "api":
        return api(id_, outputs=[port("answer")], data={"text": "{{ text }}"}, inputs=[text])
    if kind == "flow":
        inner = random_flow(chance.randint(0, 10**6), depth=depth - 1, asks=asks)
        return {**flow_node(id_, inner), "inputs": inner["inputs"], "outputs": inner["outputs"]}
    return tool(id_, "choose", [text], [port("chosen")])


def _inputs_of(made: Json) -> list[str]:
    return [one["title"] for one in made.get("inputs") or ()]
