"""The calls of an agent: takes one after the other to the node that runs it, then back to the model.

    {"text": "", "calls": [search, send]}     →  search → calls → send → calls → model
    {"text": "Done.", "calls": []}            →  the end

What a tool gave is told to the model here, and so is a call that cannot be made: of an unknown tool,
or with arguments that the tool does not take.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from langchain_core.messages import BaseMessage
from pydantic import JsonValue

from cinatra_sdk.agents.model_step import ANSWER, is_text
from cinatra_sdk.agents.tool_offers import (
    SUBMIT,
    ArgumentsUnusable,
    OfferedTool,
    OfferedToolbox,
    read_values,
)
from cinatra_sdk.data.json_values import NotStrictJson, read_json
from cinatra_sdk.data.ports import TypedPort
from cinatra_sdk.flow.nodes.mcp_tool_node import FAILED, RESULT
from cinatra_sdk.flow.plan.channel_names import MESSAGES, channel_of
from cinatra_sdk.flow.plan.frame import Frame
from cinatra_sdk.flow.plan.node_body import NodeBody
from cinatra_sdk.flow.plan.plan import NodeSite, NodeWork
from cinatra_sdk.flow.visit.confirmation import CHANGED, DENIED
from cinatra_sdk.flow.visit.talk import give_result, hear

State = Mapping[str, Any]
AGAIN: Final = "again"
"""The branch back to the model."""
_AT: Final = "at"
"""Of the record: the index of the call that a tool is working on."""
_MENDS: Final = "mends"
"""Of the record: how often the model was told that its result cannot be used."""
_MOST_MENDS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCalls(NodeWork):
    """Goes through the calls that the model of an agent asked for, then back to the model."""

    kind: ClassVar[str] = "AgentCallsNode"
    model: str
    """Id of the node that asks the model."""
    tools: tuple[OfferedTool, ...] = ()
    toolboxes: tuple[OfferedToolbox, ...] = ()
    results: tuple[TypedPort, ...] = ()
    """What the agent has to give before it ends."""

    def make_body(self, site: NodeSite) -> NodeBody:
        return make_agent_calls(site.frame, self)


def make_agent_calls(frame: Frame, settings: AgentCalls) -> NodeBody:
    """The body of the node that goes through the calls of an agent."""
    tools = {tool.name: tool for tool in settings.tools}
    read = [settings.model, *(tool.node for tool in settings.tools if not tool.hands_over)]
    read += [node for box in settings.toolboxes for node in (box.lists, box.calls)]
    channels = tuple(map(channel_of, read))

    def run(state: State, _runtime: object) -> Any:
        return _Turn(frame, settings, tools, state).go_on()

    return NodeBody(run=run, reads=channels, computes=True)


class _Turn:
    """One visit: the results so far are told, then comes the next call."""

    def __init__(
        self,
        frame: Frame,
        settings: AgentCalls,
        tools: Mapping[str, OfferedTool],
        state: State,
    ) -> None:
        self._frame, self._settings, self._tools, self._state = frame, settings, tools, state
        self._answer = state[channel_of(settings.model)]["out"][ANSWER]
        self._own: Mapping[str, Any] = state.get(frame.channel) or {}
        self._said: list[BaseMessage] = []

    def go_on(self) -> Any:
        calls: list[dict[str, Any]] = self._answer["calls"]
        begun = self._find_begun()
        if begun is not None:
            self._tell_result(calls[begun])
        for index in range(0 if begun is None else begun + 1, len(calls)):
            update = self._make(index, calls[index], calls[index + 1 :])
            if update is not None:
                return update
        return self._ask_again() if calls else self._end(self._answer["text"])

    def _find_begun(self) -> int | None:
        """The index of the call that a tool has just made; None: the model has just answered."""
        model = self._state[channel_of(self._settings.model)]
        if not self._own or self._own["seq"] < model["seq"]:
            return None
        return int(self._own[_AT])

    def _make(
        self, index: int, call: dict[str, Any], after: list[dict[str, Any]]
    ) -> dict[str, Any] | None:
        """On to the node of the tool; None where there is no such call to be made."""
        if call["name"] == SUBMIT and self._settings.results:
            return self._submit(call, after)
        tool = self._tools.get(call["name"])
        if tool is None:
            listed = self._find_listed(call["name"])
            if listed is not None:
                return self._make_listed(index, call, *listed)
            names = ", ".join(self._list_names()) or "none"
            self._refuse(call, f"there is no tool '{call['name'][:80]}'; the tools are: {names}")
            return None
        try:
            arguments = tool.read_arguments(call["args"])
        except ArgumentsUnusable as error:
            self._refuse(call, f"the call cannot be made: {error}")
            return None
        if tool.hands_over:
            return self._hand_over(call, after, tool)
        return self._begin(index, arguments, tool.node)

    def _make_listed(
        self, index: int, call: dict[str, Any], box: OfferedToolbox, tool: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        try:
            arguments = box.read_arguments(tool, call["args"])
        except ArgumentsUnusable as error:
            self._refuse(call, f"the call cannot be made: {error}")
            return None
        return self._begin(index, arguments, box.calls)

    def _begin(self, index: int, arguments: dict[str, JsonValue], node: str) -> dict[str, Any]:
        record = {"out": arguments, _AT: index, _MENDS: self._mends()}
        return self._leave(record, self._frame.routes[node])

    def _find_listed(self, name: str) -> tuple[OfferedToolbox, dict[str, Any]] | None:
        """The toolbox that has the tool, and the tool as it was listed."""
        for box in self._settings.toolboxes:
            for tool in box.read(self._state):
                if tool["name"] == name:
                    return box, tool
        return None

    def _list_names(self) -> list[str]:
        boxes = self._settings.toolboxes
        return [*self._tools, *(tool["name"] for box in boxes for tool in box.read(self._state))]

    def _hand_over(
        self, call: dict[str, Any], after: list[dict[str, Any]], tool: OfferedTool
    ) -> dict[str, Any]:
        self._say(call, "handed over")
        for other in after:
            self._refuse(other, "not made: the conversation was handed over before it")
        return self._leave_for(tool.node)

    def _submit(self, call: dict[str, Any], after: list[dict[str, Any]]) -> dict[str, Any] | None:
        try:
            values = read_values(self._settings.results, call["args"])
        except ArgumentsUnusable as error:
            self._count_mend(str(error))
            self._refuse(call, f"the result cannot be used: {error}")
            return None
        self._say(call, "accepted")
        for other in after:
            self._refuse(other, "not made: the result was given before it")
        return self._finish(values)

    def _end(self, text: str) -> Any:
        """The model has said its last: the text, where that is the result."""
        results = self._settings.results
        if not results:
            return self._finish({})
        if is_text(results):
            return self._finish({results[0].title: text})
        try:
            return self._finish(read_values(results, read_json(text)))
        except (NotStrictJson, ArgumentsUnusable) as error:
            problem = str(error) if isinstance(error, ArgumentsUnusable) else "it is no JSON object"
        self._count_mend(problem)
        wanted = f"This is not the result: {problem}. Give the result by calling {SUBMIT}."
        self._said += hear(self._frame, self._state, wanted)
        return self._ask_again()

    def _mends(self) -> int:
        return int(self._own.get(_MENDS, 0))

    def _count_mend(self, problem: str) -> None:
        mends = self._mends() + 1
        if mends > _MOST_MENDS:
            raise self._frame.failed(
                f"the agent did not give its outputs in {_MOST_MENDS} tries more: {problem}",
                hint="see its prompt and its outputs",
            )
        self._own = {**self._own, _MENDS: mends}

    def _tell_result(self, call: dict[str, Any]) -> None:
        tool = self._tools.get(call["name"])
        listed = self._find_listed(call["name"]) if tool is None else None
        node = tool.node if tool is not None else listed[0].calls if listed is not None else ""
        record = self._state[channel_of(node)]
        unmade = record.get(DENIED) or record.get(FAILED)
        if unmade:
            self._refuse(call, str(unmade))
        else:
            titles = [port.title for port in tool.outputs] if tool is not None else [RESULT]
            result = _format_outputs(titles, record["out"])
            changed = record.get(CHANGED)  # the model asked for other arguments
            self._say(call, f"{changed}\n{result}" if changed else result)

    def _say(self, call: Mapping[str, Any], text: str) -> None:
        self._said.append(give_result(self._frame, self._state, call, text))

    def _refuse(self, call: Mapping[str, Any], why: str) -> None:
        self._said.append(give_result(self._frame, self._state, call, why, failed=True))

    def _ask_again(self) -> dict[str, Any]:
        return self._leave_for(AGAIN)

    def _leave_for(self, branch: str) -> dict[str, Any]:
        """To a model: no call is open."""
        record = {"out": {}, _AT: -1, _MENDS: self._mends()}
        return self._leave(record, self._frame.routes[branch])

    def _finish(self, values: dict[str, JsonValue]) -> dict[str, Any]:
        return self._frame.finish(self._state, values, more=self._more())

    def _leave(self, record: dict[str, Any], following: str) -> dict[str, Any]:
        return self._frame.pass_turn(self._state, record, following, self._more())

    def _more(self) -> dict[str, Any]:
        return {MESSAGES: self._said} if self._said else {}


def _format_outputs(titles: Sequence[str], out: Mapping[str, Any]) -> str:
    """What a tool gave, as the model reads it."""
    if not titles:
        return "done"
    value: Any = out[titles[0]] if len(titles) == 1 else dict(out)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
