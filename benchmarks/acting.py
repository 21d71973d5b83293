"""Time per superstep of nodes that act: a compiled chain of simulated calls beside a hand-written one.

In: numbers of nodes, a place to keep checkpoints.  Out: one row of figures per number of nodes.

The chain of `benchmarks.chain`, with an ApiNode in the place of each template: every node renders
its request from the output of the node before and the start's `topic`, makes one call of a
`SimulatedPlatform`, and keeps the text of about `size` characters that it answers.

A node that acts also looks whether it stands on its thread's own line; no hand-written node does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.chain import Work, chain_document, own_keys, step_names, template
from benchmarks.steps import REFERENCE, Saver, Variant, by_hand, compared, compiled, of_last_dict
from cinatra_sdk.data.templates.flow_templates import Renderer
from cinatra_sdk.outside.http_calls.protocol import DeclaredOutput, PlatformCall
from cinatra_sdk.outside.http_calls.response_outputs import declared_outputs
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from oas_compiler import compile_flow

URL = "{{CINATRA_BASE_URL}}/api/work"
_OUTPUTS = (DeclaredOutput(title="text", schema={"title": "text", "type": "string"}),)


def measure(nodes: Sequence[int], saver: Saver, *, size: int, repeat: int) -> list[dict[str, Any]]:
    """One row of times for every number of nodes."""
    rows = []
    for number in nodes:
        # A platform for each, so that none answers with what it keeps of the other's calls.
        chosen = variants(number, saver, platform_of(number, size), platform_of(number, size))
        times = compared(chosen, saver, repeat=repeat)
        rows.append({"nodes": number, "output": size, **times})
    return rows


def variants(
    nodes: int, saver: Saver, ours: SimulatedPlatform, theirs: SimulatedPlatform
) -> dict[str, Variant]:
    """The compiled chain on the platform `ours`, and the hand-written one on `theirs`."""
    flow = compile_flow(acting_document(nodes), platform=ours)
    written = own_keys({name: _call(theirs, i, name) for i, name in enumerate(step_names(nodes))})
    by_itself = by_hand(written.compile(checkpointer=saver), nodes, saver, of_last_dict)
    return {"compiled": compiled(flow, nodes, saver), REFERENCE: by_itself}


def acting_document(nodes: int) -> dict[str, Any]:
    """The chain as an OAS flow of ApiNodes."""
    document = chain_document(nodes, size=0)
    for component in document["$referenced_components"].values():
        if component["component_type"] == "PluginTemplateNode":
            request = {
                "url": URL,
                "http_method": "POST",
                "data": {"ask": component.pop("template")},
            }
            component.update(component_type="ApiNode", **request)
    return document


def platform_of(nodes: int, size: int) -> SimulatedPlatform:
    """Answers each node with a text of its own."""
    return SimulatedPlatform(
        {name: {"text": template(i, size)} for i, name in enumerate(step_names(nodes))}
    )


def _call(platform: SimulatedPlatform, index: int, name: str) -> Work:
    """What the hand-written node does: the same request, the same check of the answer."""
    body = Renderer({"ask": template(index, 0)})

    def work(values: Mapping[str, Any]) -> str:
        call = PlatformCall(
            node=name, path=name, method="POST", url=URL, body=body.render(values), outputs=_OUTPUTS
        )
        text: Any = declared_outputs(call, platform.call(call))["text"]
        return str(text)

    return work
