"""A node whose way out a model chooses, by naming one of several tasks.

the model says "I pick refund."   ->  {"selected_choice": "refund"}, by the branch of that task
the model names none of them      ->  {"selected_choice": "default"}, by "default"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langgraph.runtime import Runtime

from cinatra_sdk.effects import EffectResult, aperform, perform
from cinatra_sdk.engine.runtime_context import HostContext, context_of
from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.model_effects import ModelAsker, ModelSettings, PreparedQuery
from cinatra_sdk.flow.nodes.llm import LlmQuery
from cinatra_sdk.values.json_text import Json
from cinatra_sdk.values.ports import TypedPort
from cinatra_sdk.values.types import STRING

State = Mapping[str, Any]
DEFAULT: Final = "default"
"""The way out, and the choice, where the model names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceSettings:
    """What the model is asked, and where each of its choices leads."""

    render: Callable[[Mapping[str, Any]], str]
    """The question, from the values of the inputs."""
    model: ModelSettings
    ways: Sequence[tuple[str, str]]
    """(what the model calls a task, branch)."""
    selected: str
    """The output with the name of the task."""
    said: str
    """The output with all that the model said."""


def make_choice(frame: Frame, settings: ChoiceSettings) -> NodeBody:
    """The body of a node whose way out a model chooses."""
    asker = ModelAsker(frame=frame, settings=settings.model)
    text = TypedPort(title=settings.said, type=STRING, schema=Json.of({"type": "string"}))

    def prepare(state: State, runtime: Runtime[HostContext]) -> PreparedQuery:
        prompt = settings.render(frame.gather(state))
        query = LlmQuery(frame=frame, outputs=(text,), prompt=prompt)
        return asker.prepare(state, runtime.context, query)

    def leave(state: State, made: EffectResult) -> dict[str, Any]:
        assert isinstance(made.value, dict)  # made by `LlmQuery`, or stored from it
        said = str(made.value[settings.said])
        name, branch = find_choice(settings.ways, said)
        outputs = {settings.selected: name, settings.said: said}
        return frame.finish(state, outputs, branch=branch)

    def run(state: State, runtime: Runtime[HostContext]) -> dict[str, Any]:
        asked, host = prepare(state, runtime), context_of(runtime.context)
        return leave(state, perform(asked.effect, asked.answer, host.door))

    async def arun(state: State, runtime: Runtime[HostContext]) -> dict[str, Any]:
        asked, host = prepare(state, runtime), context_of(runtime.context)
        return leave(state, await aperform(asked.effect, asked.aanswer, host.door))

    return NodeBody(run=run, arun=arun, acts=True, performs=True)


def find_choice(ways: Sequence[tuple[str, str]], said: str) -> tuple[str, str]:
    """The task that is named first, and its branch; of names at one place the first listed."""
    places = [(said.find(name), number) for number, (name, _) in enumerate(ways)]
    found = min(((at, number) for at, number in places if at >= 0), default=None)
    return (DEFAULT, DEFAULT) if found is None else ways[found[1]]
