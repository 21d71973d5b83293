"""Nodes that call the platform: a child agent as a tool call, and a question to a language model.

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
from dataclasses import replace
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.attachments.envelope import enclose_text, opens_answer
from cinatra_sdk.blocks.step import NodeRunnable, PlatformStep, State, Step, template_values
from cinatra_sdk.contract import is_send_class
from cinatra_sdk.data.templates.flow_templates import Renderer
from cinatra_sdk.data.templates.language import TemplateError
from cinatra_sdk.host_parts.host_parts import FirstTurnReader, read_text
from cinatra_sdk.langgraph_threads.host_context import Effects
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.protocol import (
    BASE_URL_PLACEHOLDER,
    BRIDGE_PATH,
    Platform,
    PlatformCall,
)
from cinatra_sdk.outside.http_calls.response_outputs import derive_output_schema

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
        step=Step(
            node=node,
            into=into,
            needs=tuple(needs),
            sends=is_send_class(risk_class),
            sealed=sealed,
            effects=effects,
        ),
        platform=platform,
        url=url,
        body=body,
        outputs=outputs,
        risk_class=risk_class,
        timeout=timeout,
        at_most_once=at_most_once,
    ).node()


# ----------------------------------------------------------------------------
# A node that asks a language model, through the platform's bridge.
#
# In: templates over the state.  Out: the declared outputs, under the node's state key.
#
#     graph.add_node("ai_review", llm_step(
#         platform, node="ai_review", agent_id="@acme/outreach",
#         user="Review {{ draft_output.subject }}", outputs={"verdict": {"type": "string"}}))
#
#     POST {{CINATRA_BASE_URL}}/api/llm-bridge
#          {"user": "Review Hello", "agent_id": "@acme/outreach", "agent_run_id": "r1",
#           "output_schema": {…}}
#     state  {"ai_review_output": {"verdict": "accepted"}}
#
# The graph holds no model key: the platform does.


BRIDGE_URL: Final = f"{BASE_URL_PLACEHOLDER}{BRIDGE_PATH}"
OPTIONS: Final = frozenset(
    {
        "max_steps", "model_id", "toolbox_ids", "output_schema", "cinatra_llm", "media",
        "attachments", "user_envelope", "skill_source_path", "package_version",
        "agent_spec_version",
    }
)  # fmt: skip
"""Keys of the bridge's body that an author may add."""


def llm_step(
    platform: Platform,
    *,
    node: str,
    agent_id: str,
    user: str,
    outputs: Mapping[str, Mapping[str, JsonValue]],
    system: str = "",
    options: Mapping[str, JsonValue] | None = None,
    into: str | Mapping[str, str] = "",
    needs: Sequence[str] = (),
    sealed: bool = False,
    risk_class: str = "read_only",
    after: str = "",
    timeout: float | None = None,
    effects: Effects = "line",
    at_most_once: bool = False,
    first_turn: FirstTurnReader | None = None,
    image_id: str = "",
) -> NodeRunnable:
    """A node that posts to `/api/llm-bridge`.

    node:     its name in the graph.
    agent_id: package name of the agent that asks the model.
    user, system: templates over the state (`cinatra_sdk.data.templates.flow_templates`).
    outputs:  title → JSON Schema of the model's outputs; a `default` makes an output optional.
    options:  further keys of the body (`cinatra_llm`, `max_steps`, …), templates too.  Without
              an `output_schema` it is derived from `outputs` where each of them has a type.
    into, needs, sealed, effects: see `cinatra_sdk.blocks.step.Step`.
    after:    node whose outputs templates may call `child_output`.
    at_most_once: a call that may have happened is never made again: the run then needs a ledger,
               and fails with `EffectUnknown` after a crash in the middle of the call.
    first_turn, image_id: the reader of a first turn's context, and a template that gives the image's
               id; the text stands before `system`.  It is read when the call is made, and is no part of
               what the call is known by (docs/first-turn.md).

    The node does nothing once the run is rejected or ended.
    Raises: `ValueError` here for a malformed block; when it runs `StateKeyMissing`,
    `NodeFailed`, `PlatformError`.
    """
    if not agent_id:
        raise ValueError(f"llm_step '{node}': agent_id must name the agent that asks")
    unknown = sorted(set(options or {}) - OPTIONS)
    if unknown:
        raise ValueError(
            f"llm_step '{node}': the bridge takes no '{unknown[0]}'; "
            f"known are {', '.join(sorted(OPTIONS))}"
        )
    if (first_turn is None) != (not image_id):
        raise ValueError(f"llm_step '{node}': first_turn and image_id go together")
    given = dict(options or {})
    opens = opens_answer({**given, "user": user})
    schema = given.pop("output_schema", None) or derive_output_schema(outputs)
    asked, told, more = Renderer(user), Renderer(system), Renderer(given)
    step = Step(
        node=node, into=into, needs=tuple(needs), sends=is_send_class(risk_class), sealed=sealed,
        effects=effects,
    )  # fmt: skip
    opening = None if first_turn is None else _Opening(step, first_turn, Renderer(image_id), after)

    def body(state: State, run_id: str) -> JsonValue:
        values = template_values(state, after=after)
        request: dict[str, JsonValue] = {"user": asked.text(values), "agent_id": agent_id}
        if system:
            request["system"] = told.text(values)
        if run_id:
            request["agent_run_id"] = run_id
        if schema:
            request["output_schema"] = schema
        rendered: Any = more.render(values)
        if opens:
            request["user"] = enclose_text(asked.text(values))
        return {**request, **rendered}

    return PlatformStep(
        step=step,
        platform=platform,
        url=BRIDGE_URL,
        body=body,
        outputs=outputs,
        risk_class=risk_class,
        timeout=timeout,
        at_most_once=at_most_once,
        finish=None if opening is None else opening.put_in,
    ).node()


@dataclass(frozen=True, slots=True)
class _Opening:
    """Puts the context of a first turn before the system prompt of a call."""

    step: Step
    reader: FirstTurnReader
    image_id: Renderer
    after: str

    def put_in(self, state: State, call: PlatformCall) -> PlatformCall:
        """Raises: `NodeFailed`."""
        try:
            image_id = self.image_id.text(template_values(state, after=self.after))
        except TemplateError as error:
            raise self.step.failed(f"image_id: {error}") from None
        text, problem = read_text(self.reader, image_id)
        if problem:
            raise self.step.failed(f"the first turn: {problem}")
        assert isinstance(call.body, dict)  # made by `llm_step`
        system = call.body.get("system")
        return replace(call, body={**call.body, "system": f"{text}\n{system}" if system else text})
