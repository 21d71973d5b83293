"""Documents as large, as deep and as repetitive as a file may be.

    document("gate steps")  ->  {"component_type": "Flow", …}   with 10,000 entries in gateSteps

Each is within the bounds of `oas_compiler/text/input_bounds.py` or just beyond one of them, so that no rule
can count on reading having refused it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

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
)
from tests.mutants.mutations import Mutant

Json = dict[str, Any]
MANY: Final = 10_000
LONG: Final = 2_000_000
"""Characters of one very long string."""

_SPITEFUL: Final = {
    "spaces": " " * LONG,
    "braces": "{" * LONG,
    "open placeholders": "{{ " * (LONG // 3),
    "placeholders": "{{ topic }}" * (LONG // 11),
    "comments": "{# " * (LONG // 3),
    "blocks": "{% if a %}" * (LONG // 10),
    "raw": "{% raw %}" * (LONG // 9),
    "words": "a" * LONG,
    "digits": "1" * LONG,
    "dots": "1." * (LONG // 2),
    "dashes": "-" * LONG,
    "slashes": "/" * LONG,
    "backslashes": "\\" * LONG,
    "at signs": "@a" * (LONG // 2),
    "bars": "|| " * (LONG // 3),
    "parentheses": "(" * LONG,
    "key": "sk-" * (LONG // 3),
    "bearer": "Bearer " * (LONG // 7),
    "token": "eyJ" * (LONG // 3),
    "equals": "password=" * (LONG // 9),
    "addresses": "https://a:b@" * (LONG // 12),
    "hosts": "http://" + "a." * (LONG // 2),
    "lines": "\n" * LONG,
    "headings": "## " * (LONG // 3),
    "brackets": "[a" * (LONG // 2),
    "underscores": "a_" * (LONG // 2),
    "quotes": '"' * LONG,
    "escaped quotes": '\\"' * (LONG // 2),
    "backticks": "`a" * (LONG // 2),
    "colons": "a: " * (LONG // 3),
    "questions": "a ? b : " * (LONG // 8),
    "angles": "<a " * (LONG // 3),
    "stars": "*a" * (LONG // 2),
    "dollars": "${" * (LONG // 2),
    "commas": "a," * (LONG // 2),
    "other spaces": "\u2028\u00a0" * (LONG // 4),
}
"""Texts that regular expressions take quadratic time for when they are written carelessly."""


def _small(**fields: Any) -> Json:
    return flow_of(start(port("topic")), gate("ask"), api("call"), end(), **fields)


def _cinatra(**about: Any) -> Json:
    made = _small()
    made["metadata"]["cinatra"].update(about)
    return made


def _inside(component: str, **about: Any) -> Json:
    made = _small()
    found = made["$referenced_components"][component]
    found["metadata"]["cinatra"].update(about)
    return made


def _everywhere(text: str) -> Json:
    """The text in every place whose words a rule looks at, as far as 8 MB allow."""
    return flow_of(
        start(port("topic", default=text[: LONG // 8])),
        gate("ask", inputMessageSchema={"type": "string", "pattern": text[: LONG // 8]}),
        api(
            "call",
            data={"user": text[: LONG // 8]},
            url=text[: LONG // 8],
            headers={"a": text[:999]},
        ),
        message("say", text[: LONG // 8]),
        node("PluginRegexNode", "find", regex_pattern=text[: LONG // 8], inputs=[port("text")]),
        node("PluginTemplateNode", "fill", template=text[: LONG // 8], outputs=[port("output")]),
        end(),
        description=text[: LONG // 8],
        agentspec_version=text[: LONG // 8],
    )


def _chain(nodes: int) -> Json:
    """A long line of gates and calls, each fed from the one before."""
    inner = [
        gate(f"n{i}", output=port("x"))
        if i % 2
        else api(f"n{i}", outputs=[port("x")], data={"a": f"{{{{ x{i} }}}}"}, risk="email_send")
        for i in range(nodes - 2)
    ]
    edges = [(f"n{i}", "x", f"n{i + 1}", f"x{i + 1}") for i in range(nodes - 3)]
    return flow_of(start(port("x")), *inner, end(), edges=edges)


def _tangle(nodes: int) -> Json:
    """Branching nodes that lead back to every earlier one: many cycles, many paths."""
    names = [f"b{i}" for i in range(nodes)]
    inner = [
        branching(name, port("v"), {"on": "on", "back": "back", "far": "far"}) for name in names
    ]
    routes: list[tuple[str, str | None, str]] = [("start", None, "b0")]
    for i, name in enumerate(names):
        following = names[i + 1] if i + 1 < nodes else "end"
        routes += [(name, "default", following), (name, "on", names[(i * 7) % nodes])]
        routes += [(name, "back", names[max(0, i - 1)]), (name, "far", names[(i * i) % nodes])]
    edges = [("start", "v", name, "v") for name in names]
    return flow_of(start(port("v")), *inner, end(), routes=routes, edges=edges)


def _diamonds(count: int) -> Json:
    """Two ways at each of many places: more paths than anything can list."""
    inner: list[Json] = []
    routes: list[tuple[str, str | None, str]] = [("start", None, "b0")]
    for i in range(count):
        inner += [
            branching(f"b{i}", port("v"), {"left": "left"}),
            gate(f"g{i}"),
            api(f"a{i}", risk="email_send"),
        ]
        following = f"b{i + 1}" if i + 1 < count else "end"
        routes += [(f"b{i}", "default", f"g{i}"), (f"b{i}", "left", f"a{i}")]
        routes += [(f"g{i}", None, following), (f"a{i}", None, following)]
    edges = [("start", "v", f"b{i}", "v") for i in range(count)]
    return flow_of(start(port("v")), *inner, end(), routes=routes, edges=edges)


def _nested_flows(depth: int, *, twice: bool = False) -> Json:
    """Flows inside each other; `twice`: each runs the one inside it two times."""
    made = flow_of(start(), api("send", risk="email_send"), end(), id_="f0")
    for level in range(1, depth):
        runs = [flow_node(f"run{level}", made)]
        if twice:
            again = {"$component_ref": made["id"]}
            runs.append(node("FlowNode", f"again{level}", subflow=again))
        made = flow_of(start(), *runs, end(), id_=f"f{level}")
    return made


def _nested_schema(depth: int, keyword: str) -> Json:
    schema: Any = {"type": "string"}
    for _ in range(depth):
        schema = {keyword: [schema, {"type": "null"}]} if keyword == "anyOf" else {keyword: schema}
    return _inside("ask", inputMessageSchema=schema)


def _forked_schema(depth: int) -> Json:
    """References that lead to two more each: unfolded, it would not end."""
    definitions: Json = {f"d{depth}": {"type": "string"}}
    for i in range(depth):
        both = [{"$ref": f"#/$defs/d{i + 1}"}, {"$ref": f"#/$defs/d{i + 1}"}]
        definitions[f"d{i}"] = {"allOf": both}
    return _inside("ask", inputMessageSchema={"$ref": "#/$defs/d0", "$defs": definitions})


def _port_types(count: int) -> Json:
    """An edge between two unions of many types: every pair could be compared."""
    many = [{"type": "object", "properties": {f"p{i}": {"type": "string"}}} for i in range(count)]
    return flow_of(
        start(port("v", None, anyOf=many)),
        end(port("v", None, anyOf=list(reversed(many)))),
        edges=[("start", "v", "end", "v")],
    )


def _deep_port(depth: int) -> Json:
    schema: Json = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "array", "items": schema}
    titled = {"title": "v", **schema}
    return flow_of(start(titled), end(titled), edges=[("start", "v", "end", "v")])


_SLOT: Final = {
    "slotId": "brand", "acceptedArtifactExtensions": ["@acme/a"], "selectionMode": "interactive",
    "resolutionMode": "accumulate", "minItems": 0,
}  # fmt: skip
_STEP: Final = {"name": "ask", "description": "Ask", "renderer": "@acme/x:y", "gateCount": 1}

DOCUMENTS: Final[dict[str, Callable[[], Json]]] = {
    "8 MB of one text": lambda: _small(description="a" * (8 * 1024 * 1024 - 8_000)),
    "8 MB of escapes": lambda: _small(description="\n" * (4 * 1024 * 1024 - 8_000)),
    "100,000 strings": lambda: _small(metadata={"cinatra": {"list": ["{{ x }}"] * 100_000}}),
    "100,000 members": lambda: _small(metadata={f"k{i}": "v" for i in range(100_000)}),
    "300,000 values": lambda: _small(metadata={"cinatra": {"list": [[0]] * 150_000}}),
    "64 deep": lambda: _nested_value(58),
    "64 deep schema": lambda: _nested_schema(54, "items"),
    "64 deep unions": lambda: _nested_schema(26, "anyOf"),
    "64 deep port": lambda: _deep_port(54),
    "forked references": lambda: _forked_schema(40),
    "wide unions": lambda: _port_types(3_000),
    "5,000 nodes": lambda: _chain(5_000),
    "5,000 nodes of one id": lambda: _same_ids(5_000),
    "1,500 nodes in a tangle": lambda: _tangle(1_500),
    "diamonds": lambda: _diamonds(1_200),
    "20 flows deep": lambda: _nested_flows(20),
    "flows that run twice": lambda: _nested_flows(12, twice=True),
    "10,000 ports": lambda: _ports(MANY),
    "10,000 unknown fields": lambda: _small(**{f"fild{i}": 1 for i in range(MANY)}),
    "10,000 near misses": lambda: _near_misses(3_000),
    "10,000 slots": lambda: _cinatra(
        contextSlots=[{**_SLOT, "slotId": f"slot{i}"} for i in range(MANY)]
    ),
    "10,000 slots of one name": lambda: _cinatra(contextSlots=[_SLOT] * MANY),
    "10,000 screens": lambda: _cinatra(hitlScreens=[f"@acme/agent:screen{i}" for i in range(MANY)]),
    "10,000 strange screens": lambda: _cinatra(hitlScreens=[{"renderer": [i]} for i in range(MANY)]),
    "10,000 gate steps": lambda: _inside("ask", gateSteps=[_STEP] * MANY),
    "10,000 dependencies": lambda: _cinatra(
        agentDependencies={f"@acme/a{i}": "^1.0.0" for i in range(MANY)}
    ),
    "10,000 required": lambda: _inside("start", required=[f"topik{i}" for i in range(MANY)]),
    "10,000 mappings": lambda: flow_of(
        start(port("v")), branching("b", port("v"), {f"k{i}": "x" for i in range(MANY)}), end()
    ),
    "10,000 headers": lambda: flow_of(
        start(), api("call", headers={f"x-{i}": "Bearer {{ t }}" for i in range(MANY)}), end()
    ),
    **{f"everywhere {name}": lambda t=text: _everywhere(t) for name, text in _SPITEFUL.items()},
}  # fmt: skip


def _nested_value(depth: int) -> Json:
    value: Any = "{{ x }}"
    for i in range(depth):
        value = [value] if i % 2 else {"a": value}
    made = _small()
    made["metadata"]["cinatra"]["deep"] = value
    return made


def _same_ids(nodes: int) -> Json:
    made = _chain(nodes)
    for component in made["$referenced_components"].values():
        component["id"] = "same"
    return made


def _ports(count: int) -> Json:
    titles = [f"p{i}" for i in range(count)]
    edges = [("start", title, "end", title) for title in titles]
    ports = [port(title) for title in titles]
    return flow_of(start(*ports), end(*ports), edges=edges)


def _near_misses(count: int) -> Json:
    """Edges that name a port that is nearly, but never, there: each wants a hint."""
    ports = [port(f"recipient{i}") for i in range(count)]
    edges = [("start", f"recipeint{i}", "end", f"recpient{i}") for i in range(count)]
    return flow_of(start(*ports), end(*ports), edges=edges)


def hostile() -> Iterator[tuple[str, Mutant]]:
    """Every document with its name; those about packages are last."""
    for name, make in DOCUMENTS.items():
        raw = json.dumps(make()).encode()
        yield name, Mutant(kind="hostile", seed=name, files={"oas.json": raw}, given="bytes")
    flow = json.dumps(_small()).encode()
    for name, files in _packages():
        yield (
            name,
            Mutant(
                kind="hostile", seed=name, files={"cinatra/oas.json": flow, **files}, given="folder"
            ),
        )


def _packages() -> Iterator[tuple[str, dict[str, bytes]]]:
    manifest: Json = {"name": "@test/agent", "version": "1.0.0", "cinatra": {"kind": "agent"}}
    ranges = {f"@acme/a{i}": "^1.0.0 || >=2 <3" for i in range(MANY)}
    listed = [{"packageName": f"@acme/a{i}", "range": "^1.0.0"} for i in range(MANY)]
    for name, given in (("object", ranges), ("list", listed)):
        text = json.dumps({**manifest, "cinatra": {"agentDependencies": given}})
        yield f"10,000 dependencies as {name}", {"package.json": text.encode()}
    for name, text in _SPITEFUL.items():
        short = text[: 400 * 1024 // max(1, len(text[:1].encode()))]
        version = {**manifest, "version": short, "dependencies": {"@acme/a": short}}
        yield (
            f"package {name}",
            {
                "package.json": json.dumps(version).encode(),
                "SKILL.md": b"## What I retrieve myself (MCP)\n" + short.encode()[: 500 * 1024],
                "scripts/run.py": short.encode()[: 500 * 1024],
            },
        )
    many = {f"scripts/s{i}.py": b"import os\n" for i in range(3_000)}
    yield "3,000 scripts", {"package.json": json.dumps(manifest).encode(), **many}
