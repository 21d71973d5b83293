"""Nodes that only compute: constants, values out of JSON text, patterns and templates, variables,
the conversation as an output, and branching by a value.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, Final

from langchain_core.messages import AIMessage, BaseMessage
from langgraph.runtime import Runtime
from pydantic import JsonValue

from cinatra_sdk.data.author_json import Json
from cinatra_sdk.data.json_paths import JsonPath, PathError, parse_path, take_path
from cinatra_sdk.data.json_values import NotStrictJson, read_json
from cinatra_sdk.data.patterns.search import Matcher, SearchStopped
from cinatra_sdk.data.ports import VARIABLE_INSERT, VARIABLE_OVERWRITE, VARIABLE_PORT
from cinatra_sdk.data.templates.flow_templates import Renderer, TemplateError
from cinatra_sdk.data.templates.language import json_text
from cinatra_sdk.flow.plan.casts import CastError, cast
from cinatra_sdk.flow.plan.channel_names import MESSAGES
from cinatra_sdk.flow.plan.frame import Frame, NodeBody
from cinatra_sdk.flow.plan.plan import NodeSite, NodeWork
from cinatra_sdk.flow.visit.talk import read_conversation
from cinatra_sdk.langgraph_threads.host_context import HostContext
from cinatra_sdk.light_imports.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants(NodeWork):
    """Puts out the same values in each run."""

    kind: ClassVar[str] = "PluginConstantValuesNode"
    values: Json
    """Output → value."""

    def make_body(self, site: NodeSite) -> NodeBody:
        frame, values = site.frame, self.values

        def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
            return frame.finish(state, values.mapping())

        return NodeBody(run=run, computes=True)


# ----------------------------------------------------------------------------
# Values out of a text with JSON in it.
#
#     'Here: ```json\n{"name": "Ada"}\n```', {"name": ".name"}   ->  {"name": "Ada"}
#
# The text is looked through part by part, between its fences; of several parts that have a value the
# first counts.


_FENCE: Final = "```"
_WORD: Final = "json"
_BRACKETS: Final = (("{", "}"), ("[", "]"))


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonExtraction(NodeWork):
    """Takes values out of a text with JSON in it."""

    kind: ClassVar[str] = "PluginExtractNode"
    ways: Mapping[str, str] = field(default_factory=dict)
    """Output → the way to its value: `.name`."""

    def make_body(self, site: NodeSite) -> NodeBody:
        read = [(title, parse_path(way)) for title, way in self.ways.items()]
        ways = [(title, path) for title, path in read if path is not None]
        return make_extraction(site.frame, text=site.plan.inputs[0].title, ways=ways)


def make_extraction(frame: Frame, *, text: str, ways: Sequence[tuple[str, JsonPath]]) -> NodeBody:
    """text: the input.  ways: output → the path to its value."""
    ports = {port.title: port for port in frame.outputs}

    def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
        parts = list(find_json(str(frame.gather(state)[text])))
        if not parts:
            raise frame.failed("the text has no JSON in it", hint="see what gives the text")
        out: dict[str, Any] = {}
        for title, path in ways:
            port, value = ports[title], _take_first(parts, path)
            try:
                default = value is None and port.default is not None
                out[title] = (
                    port.default.value() if default and port.default else cast(value, port.type)
                )
            except CastError as error:
                raise frame.failed(f"output '{title}': {error}") from None
        return frame.finish(state, out)

    return NodeBody(run=run, computes=True)


def find_json(text: str) -> Iterator[JsonValue]:
    """The JSON values of a text: of each part between fences one, with or without words around it."""
    for part in text.split(_FENCE):
        stripped = part.strip()
        if stripped[: len(_WORD)].lower() == _WORD:
            stripped = stripped[len(_WORD) :].lstrip(": \n")
        for attempt in (stripped, *_cut_brackets(stripped)):
            try:
                yield read_json(attempt, to_keep=False)
            except NotStrictJson:
                continue
            break


def _cut_brackets(text: str) -> Iterator[str]:
    """From the first bracket to the last, the outer kind first."""
    spans = [(text.find(first), text.rfind(last)) for first, last in _BRACKETS]
    for begin, end in sorted(spans):
        if 0 <= begin < end:
            yield text[begin : end + 1]


def _take_first(parts: Sequence[JsonValue], path: JsonPath) -> JsonValue:
    for part in parts:
        try:
            value = take_path(path, part)
        except PathError:
            continue
        if value is not None:
            return value
    return None


# ----------------------------------------------------------------------------
# Text in, matches or text out.


@dataclass(frozen=True, slots=True, kw_only=True)
class Regex(NodeWork):
    """Searches its one input; its one output has all matches, or the first."""

    kind: ClassVar[str] = "PluginRegexNode"
    pattern: str
    first_only: bool = False
    takes_last: bool = False
    """Whether the last match counts in place of the first."""

    def make_body(self, site: NodeSite) -> NodeBody:
        return make_regex(
            site.frame,
            text=site.plan.inputs[0].title,
            output=site.plan.outputs[0].title,
            pattern=self.pattern,
            first=self.first_only,
            last=self.takes_last,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTemplate(NodeWork):
    """Renders a template over its inputs."""

    kind: ClassVar[str] = "PluginTemplateNode"
    template: str

    def make_body(self, site: NodeSite) -> NodeBody:
        output = site.plan.outputs[0].title
        return make_template(site.frame, output=output, template=self.template)


def make_regex(
    frame: Frame, *, text: str, output: str, pattern: str, first: bool, last: bool = False
) -> NodeBody:
    """text, output: titles of the input and the output.  first: the first match alone; last: in its
    place the last one.  Empty matches do not count; of a pattern with one group, the group does.
    """
    matcher = Matcher(pattern)

    def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
        searched = frame.gather(state)[text]
        try:
            found = [part for part in matcher.all_parts(searched) if part]
        except SearchStopped as error:
            raise frame.failed(
                f"regex_pattern: {error}",
                hint="write the pattern without a repetition inside a repetition",
            ) from None
        one = (found[-1] if last else found[0]) if found else ""
        return frame.finish(state, {output: one if first else found})

    async def arun(state: Mapping[str, Any], runtime: object) -> dict[str, Any]:
        # A search may take its time, and the loop serves other runs meanwhile.
        return await asyncio.to_thread(run, state, runtime)

    return NodeBody(run=run, arun=arun, computes=True)


def make_template(frame: Frame, *, output: str, template: str) -> NodeBody:
    """output: title of the output, the rendered text."""
    renderer = Renderer(template)

    def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
        try:
            text = renderer.text(frame.gather(state))
        except TemplateError as error:
            raise frame.failed(f"template: {error}") from None
        return frame.finish(state, {output: text})

    return NodeBody(run=run, computes=True)


# ----------------------------------------------------------------------------
# Writes variables of a flow, then reads some.
#
#     writes {"seen": "insert"}, the variable ["a"], the input "b"   ->   the variable ["a", "b"]
#
# A variable comes in by the port `variable seen`, and goes out by it to the next node that has it.


@dataclass(frozen=True, slots=True, kw_only=True)
class Variables(NodeWork):
    """Writes variables, then puts out some."""

    kind: ClassVar[str] = "PluginVariableNode"
    writes: Mapping[str, str] = field(default_factory=dict)
    """Variable → `overwrite`, `merge` or `insert`."""
    reads: tuple[str, ...] = ()

    def make_body(self, site: NodeSite) -> NodeBody:
        frame = site.frame

        def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
            given = frame.gather(state)
            written = {
                title: _write(frame, title, operation, given)
                for title, operation in self.writes.items()
            }
            out = {VARIABLE_PORT + title: value for title, value in written.items()}
            for title in self.reads:
                out[title] = written[title] if title in written else given[VARIABLE_PORT + title]
            return frame.finish(state, out)

        return NodeBody(run=run, computes=True)


def _write(frame: Frame, title: str, operation: str, given: Mapping[str, Any]) -> Any:
    """What the variable holds afterwards."""
    value = given[title]
    if operation == VARIABLE_OVERWRITE:
        return value
    before, inserts = given[VARIABLE_PORT + title], operation == VARIABLE_INSERT
    if inserts and isinstance(before, list):
        return [*before, value]
    if not inserts and isinstance(before, list) and isinstance(value, list):
        return [*before, *value]
    if not inserts and isinstance(before, dict) and isinstance(value, dict):
        return {**before, **value}
    raise frame.failed(
        f"variable '{title}' cannot take this value by \"{operation}\"",
        hint="give the variable an empty list, or an empty object, as its default",
    )


# ----------------------------------------------------------------------------
# A node that puts out what was said in its run.
#
# template null   ->  [{"message_type": "USER", "content": "Hello"}, …]
# with a template ->  its text, with these messages as `chat_history`


_TYPES: Final = {"human": "USER", "ai": "AGENT", "system": "SYSTEM", "tool": "TOOL_RESULT"}
HISTORY: Final = "chat_history"
"""The name of the messages in a template."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatHistory(NodeWork):
    """Puts out what was said: which messages, and how they are put."""

    kind: ClassVar[str] = "PluginGetChatHistoryNode"
    most: int
    skip: int = 0
    """Messages that are left out at the end that is looked at."""
    from_end: bool = True
    """Whether the last messages are meant, and not the first."""
    types: Sequence[str] | None = None
    """USER, AGENT, …; None: all."""
    template: str | None = None
    """None: a list of the messages."""

    def make_body(self, site: NodeSite) -> NodeBody:
        return make_history(site.frame, self)


def make_history(frame: Frame, settings: ChatHistory) -> NodeBody:
    """The body of a node that reads the conversation."""
    renderer = None if settings.template is None else Renderer(settings.template)
    output = frame.outputs[0].title

    def run(state: Mapping[str, Any], runtime: Runtime[HostContext]) -> dict[str, Any]:
        found = _choose(settings, read_conversation(state, runtime.context))
        if renderer is None:
            return frame.finish(state, {output: found})
        try:
            text = renderer.text({**frame.gather(state), HISTORY: found})
        except TemplateError as error:
            raise frame.failed(f"output_template: {error}") from None
        return frame.finish(state, {output: text})

    return NodeBody(run=run, reads=(MESSAGES,))


def _choose(settings: ChatHistory, said: Sequence[BaseMessage]) -> list[dict[str, str]]:
    told = [{"message_type": _name_type(one), "content": str.__str__(one.text)} for one in said]
    if settings.types is not None:
        told = [one for one in told if one["message_type"] in settings.types]
    if settings.from_end:
        end = len(told) - settings.skip
        return told[max(0, end - settings.most) : max(0, end)]
    return told[settings.skip : settings.skip + settings.most]


def _name_type(message: BaseMessage) -> str:
    if isinstance(message, AIMessage) and message.tool_calls:
        return "TOOL_REQUEST"
    return _TYPES.get(message.type, "INTERNAL")


# ----------------------------------------------------------------------------
# Leaves by the branch that a mapping gives for the input's value.
#
# The branch is a total lookup inside the node's body, not a router function: a router that raised
# after its node had written would leave the run looking finished.


DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Branching(NodeWork):
    """Leaves by the branch for the value of its one input; any other value leaves by `default`."""

    kind: ClassVar[str] = "BranchingNode"
    mapping: Mapping[str, str] = field(default_factory=dict)
    """JSON text of the value, of a text without its quotes → branch."""

    def make_body(self, site: NodeSite) -> NodeBody:
        return make_branching(site.frame, title=site.plan.inputs[0].title, mapping=self.mapping)


def make_branching(frame: Frame, *, title: str, mapping: Mapping[str, str]) -> NodeBody:
    """title: of the input that decides.  mapping: its value, as `key_text` writes it → branch."""

    def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
        branch = mapping.get(key_text(frame.gather(state)[title]), DEFAULT)
        following = frame.routes.get(branch, frame.routes.get(DEFAULT))
        return frame.pass_turn(state, {"out": {}, "branch": branch}, following)

    return NodeBody(run=run, computes=True)


def key_text(value: Any) -> str:
    """The value as mapping keys are written: strings as they are, anything else as JSON text."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json_text(value)
