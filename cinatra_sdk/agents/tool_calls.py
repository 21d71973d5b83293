"""The calls of an agent: takes each in turn to the node that runs it, then back to the model.

    {"text": "", "calls": [search, send]}     →  search → calls → send → calls → model
    {"text": "Done.", "calls": []}            →  the end

The result of a tool goes to the model here, and so does the reason why a call cannot be made: the tool
is unknown, or does not take the arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, TypeAlias

from langchain_core.messages import BaseMessage
from pydantic import JsonValue

from cinatra_sdk.agents.model_step import ANSWER, is_text, needs_submit
from cinatra_sdk.agents.tool_offers import (
    SUBMIT,
    AgentTool,
    ListedTool,
    OfferedTool,
    OfferedToolbox,
    ResultTool,
    read_values,
)
from cinatra_sdk.data.json_values import NotStrictJson, read_json
from cinatra_sdk.data.ports import TypedPort
from cinatra_sdk.flow.nodes.mcp_tool_node import FAILED
from cinatra_sdk.flow.plan.channel_names import MESSAGES, channel_of
from cinatra_sdk.flow.plan.frame import Frame, NodeBody
from cinatra_sdk.flow.plan.plan import NodeSite, NodeWork
from cinatra_sdk.flow.visit.confirmation import CHANGED, DENIED
from cinatra_sdk.flow.visit.talk import give_result, hear
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.tool_loop import (
    ArgumentsUnusable,
    DueCall,
    ModelCall,
    UnmadeCall,
    format_result,
    walk_calls,
)

State = Mapping[str, Any]
Step: TypeAlias = DueCall[AgentTool] | UnmadeCall
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
    read = [settings.model, *(tool.node for tool in settings.tools if not tool.hands_over)]
    read += [node for box in settings.toolboxes for node in (box.lists, box.calls)]
    channels = tuple(map(channel_of, read))

    def run(state: State, _runtime: object) -> Any:
        return _Turn(frame, settings, state).go_on()

    return NodeBody(run=run, reads=channels, computes=True)


class _Turn:
    """One visit: the results so far are told, then comes the next call."""

    def __init__(self, frame: Frame, settings: AgentCalls, state: State) -> None:
        self._frame, self._settings, self._state = frame, settings, state
        self._answer = state[channel_of(settings.model)]["out"][ANSWER]
        self._own: Mapping[str, Any] = state.get(frame.channel) or {}
        self._said: list[BaseMessage] = []
        self._offered: dict[str, OfferedTool | ListedTool] = {
            tool.name: tool for tool in settings.tools
        }
        for box in settings.toolboxes:
            for listed in box.list_tools(state):
                self._offered.setdefault(listed.name, listed)

    def go_on(self) -> Any:
        calls: list[ModelCall] = self._answer["calls"]
        begun = self._find_begun()
        if begun is not None:
            self._tell_result(calls[begun])
        steps = self._walk(calls, 0 if begun is None else begun + 1)
        for step in steps:
            if isinstance(step, DueCall):
                return self._leave_loop(step, steps) if step.tool.ends else self._begin(step)
            self._tell_unmade(step)
        return self._ask_again() if calls else self._end(self._answer["text"])

    def _find_begun(self) -> int | None:
        """The index of the call that a tool has just made; None: the model has just answered."""
        model = self._state[channel_of(self._settings.model)]
        if not self._own or self._own["seq"] < model["seq"]:
            return None
        return int(self._own[_AT])

    def _walk(self, calls: Sequence[ModelCall], first: int) -> Iterator[Step]:
        tools: dict[str, AgentTool] = {**self._offered}
        if needs_submit(self._settings.results):  # else nobody has offered it
            tools[SUBMIT] = ResultTool(results=self._settings.results)
        return walk_calls(calls, tools, offered=self._offered, first=first)

    def _begin(self, step: DueCall[AgentTool]) -> dict[str, Any]:
        """On to the node of the tool."""
        assert not isinstance(step.tool, ResultTool)  # it ends the loop
        record = {"out": step.arguments, _AT: step.index, _MENDS: self._mends()}
        return self._leave(record, self._frame.routes[step.tool.node])

    def _leave_loop(self, due: DueCall[AgentTool], after: Iterator[Step]) -> dict[str, Any]:
        """The result is given, or another agent goes on: no call after it is made."""
        node = "" if isinstance(due.tool, ResultTool) else due.tool.node
        self._say(due.call, "handed over" if node else "accepted")
        for step in after:
            assert isinstance(step, UnmadeCall)  # behind what ends the loop
            self._tell_unmade(step)
        return self._leave_for(node) if node else self._finish(due.arguments)

    def _tell_unmade(self, step: UnmadeCall) -> None:
        name = step.call["name"]
        gives = name == SUBMIT and needs_submit(self._settings.results)
        if gives and step.why == "unusable":
            self._count_mend(step.problem)
        begins = {
            "unknown": f"there is no tool '{name[:80]}'; ",
            "unusable": f"the {'result cannot be used' if gives else 'call cannot be made'}: ",
            "late": "not made: ",
        }
        self._refuse(step.call, begins[step.why] + step.problem)

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

    def _tell_result(self, call: ModelCall) -> None:
        tool = self._offered[call["name"]]
        record = self._state[channel_of(tool.node)]
        unmade = record.get(DENIED) or record.get(FAILED)
        if unmade:
            self._refuse(call, str(unmade))
        else:
            result = _format_outputs(tool.titles, record["out"])
            changed = record.get(CHANGED)  # the model asked for other arguments
            self._say(call, f"{changed}\n{result}" if changed else result)

    def _say(self, call: ModelCall, text: str) -> None:
        self._said.append(give_result(self._frame, self._state, call, text))

    def _refuse(self, call: ModelCall, why: str) -> None:
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
    return format_result(out[titles[0]] if len(titles) == 1 else dict(out))
