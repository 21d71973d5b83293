"""Shortens the conversation that the model of an agent sees: a message that is too long, or too many messages.

    Shortening(most_size=20_000, …)                       a longer message becomes its summary
    Shortening(most_messages=50, keep=10, …)              a summary in place of all but the last ten

A node before the model's asks for one summary at each visit, as an effect of the kind `model`, and
stores it in its record; the conversation of the run stays as it was said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.runtime import Runtime
from pydantic import JsonValue

from cinatra_sdk.data.author_json import NOTHING, Json
from cinatra_sdk.data.retry_policy import CallRetryPolicy
from cinatra_sdk.flow.plan.channel_names import MESSAGES, channel_of
from cinatra_sdk.flow.plan.frame import Frame, NodeBody
from cinatra_sdk.flow.plan.plan import NodeSite, NodeWork
from cinatra_sdk.flow.requests.allowances import make_render, read_model_settings
from cinatra_sdk.flow.requests.model_question import ModelAsker, ModelSettings, PreparedQuery
from cinatra_sdk.flow.visit.talk import read_conversation
from cinatra_sdk.langgraph_threads.host_context import HostContext, context_of
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.effect import EffectResult, Usage, hash_json
from cinatra_sdk.outside.effects.execution import aperform, perform
from cinatra_sdk.outside.http_calls.protocol import DeclaredOutput, PlatformCall
from cinatra_sdk.outside.http_calls.response_outputs import declared_outputs
from cinatra_sdk.outside.models.config import ModelConfig

if TYPE_CHECKING:
    from cinatra_sdk.outside.models.question import Live


State = Mapping[str, Any]
_TEXTS: Final = "texts"
"""Of the record: summaries by the id of their message."""
_UNTIL: Final = "until"
"""Of the record: the id of the last message that the summary stands for."""
_SUMMARY: Final = "summary"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSummary(NodeWork):
    """Makes summaries of what the model of an agent would see, one at each visit."""

    kind: ClassVar[str] = "AgentShortenNode"
    acts: ClassVar[bool] = True
    llm: Json = field(default=NOTHING, repr=False)
    """The model and its settings: an LlmConfig of Agent Spec."""
    instructions: str
    template: str
    """Of the text in place of what is summarized, with the placeholder `summary`."""
    most_size: int | None = None
    """Characters of one message; None: the conversation is shortened."""
    most_messages: int | None = None
    most_characters: int | None = None
    keep: int = 10
    """Messages at the end that stay as they are."""
    shortened_by: tuple[str, ...] = ()
    """The nodes before it that make summaries."""

    @property
    def repeats(self) -> bool:
        return True

    def make_body(self, site: NodeSite) -> NodeBody:
        seen = list_shortenings(site, self.shortened_by)
        return make_shortening(site.frame, self.make_settings(site), seen)

    def make_settings(self, site: NodeSite) -> Shortening:
        render = make_render(site.frame, self.template, "template of the summary")
        return Shortening(
            model=read_model_settings(site.wiring, self.llm),
            instructions=self.instructions,
            format_summary=lambda summary: render({"summary": summary}),
            most_size=self.most_size,
            most_messages=self.most_messages,
            most_characters=self.most_characters,
            keep=self.keep,
        )


def list_shortenings(site: NodeSite, nodes: Iterable[str]) -> tuple[Seen, ...]:
    """What the nodes with these ids have made shorter, in order."""
    found: list[Seen] = []
    for node_id in nodes:
        work = site.find_work(node_id)
        assert isinstance(work, AgentSummary)
        found.append(Seen(channel=channel_of(node_id), shortening=work.make_settings(site)))
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortening:
    """When a summary is made, by whom, and how it is put."""

    model: ModelSettings
    instructions: str
    format_summary: Callable[[str], str]
    most_size: int | None = None
    """Characters of one message; None: the conversation is what is shortened."""
    most_messages: int | None = None
    most_characters: int | None = None
    """Of the whole conversation."""
    keep: int = 10
    """Messages at the end that stay as they are."""

    def apply(
        self, messages: Sequence[BaseMessage], record: Mapping[str, Any]
    ) -> list[BaseMessage]:
        """The messages with the summaries of the record in place of what they stand for."""
        if self.most_size is not None:
            texts: Mapping[str, str] = record.get(_TEXTS) or {}
            return [self._replace(one, texts.get(str(one.id))) for one in messages]
        ids = [one.id for one in messages]
        until = record.get(_UNTIL)
        if until not in ids:
            return list(messages)
        summary = HumanMessage(self.format_summary(str(record[_SUMMARY])), id=until)
        return [summary, *messages[ids.index(until) + 1 :]]

    def _replace(self, message: BaseMessage, summary: str | None) -> BaseMessage:
        if summary is None:
            return message
        return message.model_copy(update={"content": self.format_summary(summary)})

    def find_due(
        self, messages: Sequence[BaseMessage], record: Mapping[str, Any]
    ) -> list[BaseMessage]:
        """What has to be summarized next; empty: nothing."""
        if self.most_size is not None:
            done = record.get(_TEXTS) or {}
            size = self.most_size
            due = (one for one in messages if len(str(one.text)) > size and str(one.id) not in done)
            return [one for one, _ in zip(due, range(1), strict=False)]
        shown = self.apply(messages, record)
        if not self._is_long(shown):
            return []
        cut = max(len(shown) - self.keep, 0)
        while cut and isinstance(shown[cut], ToolMessage):
            cut -= 1  # a result stays with the message that asked for it
        has_summary = bool(shown) and record.get(_UNTIL) == shown[0].id
        return shown[:cut] if cut > (1 if has_summary else 0) else []

    def _is_long(self, messages: Sequence[BaseMessage]) -> bool:
        if self.most_messages is not None and len(messages) > self.most_messages:
            return True
        characters = sum(len(str(one.text)) for one in messages)
        return self.most_characters is not None and characters > self.most_characters

    def keep_summary(
        self, due: Sequence[BaseMessage], record: Mapping[str, Any], summary: str
    ) -> dict[str, Any]:
        """What the record has after the summary was made."""
        if self.most_size is not None:
            return {_TEXTS: {**(record.get(_TEXTS) or {}), str(due[0].id): summary}}
        return {_UNTIL: str(due[-1].id), _SUMMARY: summary}


def make_shortening(frame: Frame, settings: Shortening, before: Sequence[Seen] = ()) -> NodeBody:
    """The body of the node; before: the shortenings whose result this one sees."""
    asker = ModelAsker(frame=frame, settings=settings.model)

    def prepare(
        state: State, runtime: Runtime[HostContext]
    ) -> tuple[PreparedQuery, list[BaseMessage]] | None:
        messages = see(state, read_conversation(state, runtime.context), before)
        due = settings.find_due(messages, state.get(frame.channel) or {})
        if not due:
            return None
        query = _SummaryQuery(instructions=settings.instructions, text=_format(due))
        return asker.prepare(state, runtime.context, query), due

    def leave(
        state: State, due: Sequence[BaseMessage], made: EffectResult | None
    ) -> dict[str, Any]:
        own: Mapping[str, Any] = state.get(frame.channel) or {}
        kept = {name: own[name] for name in (_TEXTS, _UNTIL, _SUMMARY) if name in own}
        if made is None:
            return frame.pass_turn(state, {"out": {}, **kept}, frame.routes["next"])
        kept.update(settings.keep_summary(due, own, str(made.value)))
        return frame.pass_turn(state, {"out": {}, **kept}, frame.id)

    def run(state: State, runtime: Runtime[HostContext]) -> dict[str, Any]:
        asked = prepare(state, runtime)
        if asked is None:
            return leave(state, (), None)
        query, due = asked
        door = context_of(runtime.context).door
        return leave(state, due, perform(query.effect, query.answer, door))

    async def arun(state: State, runtime: Runtime[HostContext]) -> dict[str, Any]:
        asked = prepare(state, runtime)
        if asked is None:
            return leave(state, (), None)
        query, due = asked
        door = context_of(runtime.context).door
        return leave(state, due, await aperform(query.effect, query.aanswer, door))

    reads = (MESSAGES, *(one.channel for one in before))
    return NodeBody(run=run, arun=arun, reads=reads, acts=True, performs=True, chooses=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A shortening, and the channel of the node that makes its summaries."""

    channel: str
    shortening: Shortening


def see(
    state: State, messages: Sequence[BaseMessage], shortenings: Iterable[Seen]
) -> list[BaseMessage]:
    """The messages with what the shortenings have made of them, one after the other."""
    found = list(messages)
    for one in shortenings:
        found = one.shortening.apply(found, state.get(one.channel) or {})
    return found


def _format(messages: Iterable[BaseMessage]) -> str:
    """The messages as a text, each with who said it."""
    return "\n\n".join(f"{_name(one)}: {_describe(one)}" for one in messages)


def _name(message: BaseMessage) -> str:
    if isinstance(message, ToolMessage):
        return f"result of {message.name or 'a tool'}"
    return "assistant" if isinstance(message, AIMessage) else "user"


def _describe(message: BaseMessage) -> str:
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    asked = [f"[calls {call['name']} with {call['args']}]" for call in calls]
    return " ".join(part for part in (str(message.text), *asked) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class _SummaryQuery:
    instructions: str
    text: str = field(repr=False)

    @property
    def declared(self) -> tuple[DeclaredOutput, ...]:
        return (DeclaredOutput(title="summary", schema={"type": "string"}),)

    def describe(self, config: ModelConfig) -> JsonValue:
        """Of the text, which other effects have shown, a hash."""
        return {
            "model": config.capability,
            "instructions": self.instructions,
            "text_sha256": hash_json(self.text),
        }

    def ask(self, model: Any, rules: CallRetryPolicy, live: Live | None) -> tuple[JsonValue, Usage]:
        from cinatra_sdk.outside.models.question import talk

        del live  # nobody is spoken to
        message, usage = talk(model, self._messages(), rules)
        return str(message.text), usage

    async def aask(
        self, model: Any, rules: CallRetryPolicy, live: Live | None
    ) -> tuple[JsonValue, Usage]:
        from cinatra_sdk.outside.models.question import atalk

        del live
        message, usage = await atalk(model, self._messages(), rules)
        return str(message.text), usage

    def read_simulated(self, call: PlatformCall, response: JsonValue) -> JsonValue:
        return str(next(iter(declared_outputs(call, response).values()), ""))

    def _messages(self) -> list[BaseMessage]:
        return [SystemMessage(self.instructions), HumanMessage(self.text)]
