"""A node that runs another agent as a tool call, through the platform.

In: a mapping from the child's declared inputs to templates over the state.
Out: the child's declared outputs, under the node's state key.

    graph.add_node("drafts", child_agent(
        platform, node="drafts", package="@acme/email-drafts", after="recipients",
        input_mapping={"goal": "{{input_params.goal}}", "to": "{{child_output.recipients}}"},
        outputs={"drafts": {"type": "array"}}))

    POST {{CINATRA_BASE_URL}}/api/agents/passthrough
         {"tool": "@acme/email-drafts", "input": {"goal": "…", "to": […]}, "agent_run_id": "r1"}
    state  {"drafts_output": {"drafts": […]}}

A child gets its declared inputs and nothing else of the parent's state.  It acts with the authority
of the run's owner, whom the platform knows by the run's id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import JsonValue

from cinatra_sdk.blocks.step import NodeRunnable, PlatformStep, State, Step, template_values
from cinatra_sdk.engine.runtime_context import Effects
from cinatra_sdk.platform.protocol import BASE_URL_PLACEHOLDER, Platform
from cinatra_sdk.templates.rendering import Renderer

TOOL_URL: Final = f"{BASE_URL_PLACEHOLDER}/api/agents/passthrough"


def child_agent(
    platform: Platform,
    *,
    node: str,
    package: str,
    input_mapping: Mapping[str, JsonValue],
    outputs: Mapping[str, Mapping[str, JsonValue]],
    into: str | Mapping[str, str] = "",
    needs: Sequence[str] = (),
    sealed: bool = False,
    risk_class: str = "read_only",
    after: str = "",
    url: str = TOOL_URL,
    timeout: float | None = None,
    effects: Effects = "line",
    at_most_once: bool = False,
) -> NodeRunnable:
    """A node that runs the agent `package` and waits for its outputs.

    input_mapping: the child's input → template: `{{input_params.X}}`, `{{child_output.X}}`
                   (of the node `after`), `{{<node>_output.X}}`; a lone placeholder keeps its type.
    outputs:       title → JSON Schema of the child's outputs; a `default` makes an output optional.
    into, needs, sealed, effects: see `cinatra_sdk.blocks.step.Step`.
    url:           where the platform runs tools.
    at_most_once: a call that may have happened is never made again: the run then needs a ledger,
               and fails with `EffectUnknown` after a crash in the middle of the call.

    The node does nothing once the run is rejected or ended.
    Raises: `ValueError` here for a malformed block; when it runs `StateKeyMissing`,
    `NodeFailed`, `PlatformError`.
    """
    if not package:
        raise ValueError(f"child_agent '{node}': package must name a published agent")
    inputs = Renderer(dict(input_mapping))

    def body(state: State, run_id: str) -> JsonValue:
        given = inputs.render(template_values(state, after=after))
        request: dict[str, JsonValue] = {"tool": package, "input": given}
        if run_id:
            request["agent_run_id"] = run_id
        return request

    return PlatformStep(
        step=Step(node=node, into=into, needs=tuple(needs), sealed=sealed, effects=effects),
        platform=platform,
        url=url,
        body=body,
        outputs=outputs,
        risk_class=risk_class,
        timeout=timeout,
        at_most_once=at_most_once,
    ).node()
