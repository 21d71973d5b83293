"""The script of a host as the model of nodes that ask a model by themselves (LlmNode, Agent).

    draft:                                            # an LlmNode: the n-th visit gets the n-th answer
      - Hello
    helper:                                           # an AgentNode: its n-th visit, too, and its
      - - $calls: [{name: search, args: {query: x}}]  # answer is a list of the steps of that visit
        - {report: "…"}                               # an object is the result that it has to give

`*`, and a file that is one list, answer question after question, counted in this process by run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from pydantic import JsonValue

from cinatra_sdk.bridge.scripted import ANY, ScriptFile, is_plain, read_step
from cinatra_sdk.effects.current import current_effect
from cinatra_sdk.effects.effect import Effect
from cinatra_sdk.text.counting import say_number

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from cinatra_sdk.models.scripted import AskedModel, ScriptedReply

SUBMIT: Final = "submit_result"
"""The tool by which an agent gives its result."""
_VISIT: Final = re.compile(r"#([0-9]+)")


class ScriptSilent(LookupError):
    """The script has no answer for a question."""


def make_standing_model(script: ScriptFile) -> BaseChatModel:
    """A chat model that finds by the running effect which node asks it, and for which time."""
    from cinatra_sdk.models.scripted import ScriptedModel

    return ScriptedModel(partial(_reply, script))


@dataclass(frozen=True, slots=True)
class _Place:
    """One way to name who asks."""

    key: str
    answer: int
    """From 1; 0: counted."""
    step: int = 0
    """From 1; 0: the questions of the visit are counted, and the last step stays."""


def _reply(script: ScriptFile, asked: AskedModel) -> ScriptedReply:
    effect = current_effect()
    assert effect is not None  # nodes ask their models within their effects
    places = list(_list_places(effect))
    place = next((one for one in places if one.key in script.answers), None)
    if place is None:
        keys = list(dict.fromkeys(one.key for one in places))
        raise ScriptSilent(script.tell_silence(keys, by_node=True))
    return _make_reply(_choose_step(script, place, effect), asked)


def _list_places(effect: Effect) -> Iterator[_Place]:
    """By the node, then by the agent of which it is a step, then by nothing."""
    around, _, own = effect.path.rpartition("/")
    yield _Place(effect.path, effect.visit)
    yield _Place(own, effect.visit)
    if around:
        visit = _VISIT.search(effect.place.rpartition("/")[0].rpartition("/")[2])
        number = int(visit.group(1)) if visit else 1
        yield _Place(around, number, effect.visit)
        yield _Place(around.rpartition("/")[2], number, effect.visit)
    yield _Place(ANY, 0)


def _choose_step(script: ScriptFile, place: _Place, effect: Effect) -> JsonValue:
    answers, key = script.answers[place.key], place.key
    if not place.answer:
        number = script.count(effect.run_id, f"{ANY}?")
        return _take([step for one in answers for step in _list_steps(one)], number, key)
    steps = _list_steps(_take(answers, place.answer - 1, key))
    if place.step:
        return _take(steps, place.step - 1, key)
    # A node asks again within its visit where the answer does not have the form that it asks for.
    return _take(steps, min(script.count(effect.run_id, effect.key), len(steps) - 1), key)


def _list_steps(answer: JsonValue) -> list[JsonValue]:
    return answer if isinstance(answer, list) else [answer]


def _take(found: list[JsonValue], index: int, key: str) -> JsonValue:
    if index < len(found):
        return found[index]
    raise ScriptSilent(
        f"the script has {say_number(len(found), 'answer')} for {key}, and this is question {index + 1}"
    )


def _make_reply(step: JsonValue, asked: AskedModel) -> ScriptedReply:
    from cinatra_sdk.models.scripted import ScriptedReply

    offered: list[Any] = [one.get("function", {}).get("name") for one in asked.tools]
    if isinstance(step, dict) and is_plain(step) and SUBMIT in offered:
        return ScriptedReply(tool_calls=({"name": SUBMIT, "args": step},))
    return read_step(step)
