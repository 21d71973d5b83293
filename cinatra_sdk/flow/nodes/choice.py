"""A node whose way out a model chooses, by naming one of several tasks.

the model says "I pick refund."   ->  {"selected_choice": "refund"}, by the branch of that task
the model names none of them      ->  {"selected_choice": "default"}, by "default"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final

from langgraph.runtime import Runtime

from cinatra_sdk.effects import EffectResult, aperform, perform
from cinatra_sdk.engine.runtime_context import HostContext, context_of
from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.lent import make_render, read_model_settings
from cinatra_sdk.flow.model_effects import ModelAsker, ModelSettings, PreparedQuery
from cinatra_sdk.flow.nodes.llm import LlmQuery
from cinatra_sdk.flow.plan import NodeWork
from cinatra_sdk.flow.site import NodeSite
from cinatra_sdk.values.json_text import NOTHING, Json
from cinatra_sdk.values.ports import TypedPort
from cinatra_sdk.values.types import STRING

State = Mapping[str, Any]
DEFAULT: Final = "default"
"""The way out, and the choice, where the model names none."""
STEPS: Final = "next_steps"
"""The name of the tasks in the prompt."""
SELECTED: Final = "selected_choice"
SAID: Final = "llm_output"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice(NodeWork):
    """Lets a model choose the way out."""

    kind: ClassVar[str] = "PluginChoiceNode"
    acts: ClassVar[bool] = True
    prompt: str
    """A template over the node's inputs, and the tasks as `next_steps`."""
    llm: Json = field(default=NOTHING, repr=False)
    """The model and its settings: an LlmConfig of Agent Spec."""
    choices: tuple[tuple[str, str, str], ...] = ()
    """(branch, description, what the model calls the task)."""
    most_tokens: int = 7

    def make_body(self, site: NodeSite) -> NodeBody:
        model = read_model_settings(site.wiring, self.llm)
        parameters = {**model.config.parameters, "max_tokens": self.most_tokens}
        steps = [
            {"step_name": branch, "description": description, "displayed_step_name": shown}
            for branch, description, shown in self.choices
        ]
        render = make_render(site.frame, self.prompt, "prompt")

        def ask(values: Mapping[str, Any]) -> str:
            return render({**values, STEPS: steps})

        settings = ChoiceSettings(
            render=ask,
            model=replace(model, config=replace(model.config, parameters=parameters)),
            ways=tuple((shown, branch) for branch, _, shown in self.choices),
            selected=SELECTED,
            said=SAID,
        )
        return make_choice(site.frame, settings)


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
