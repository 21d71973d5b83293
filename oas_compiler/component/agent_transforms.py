"""The transforms of an agent as nodes before its model.

ConversationSummarizationTransform    ->  AgentShortenNode("shorten", most_messages=50, keep=10, …)

Source of the usual numbers and words: the package of Agent Spec.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from oas_compiler import ir
from oas_compiler.component.agent import LoadedAgent, LoadedTransform
from oas_compiler.component.agent_words import SHORTEN
from oas_compiler.component.requests import report_retry_policy
from oas_compiler.component.site import Site, label_of
from oas_compiler.ir import Json
from oas_compiler.text.descriptions import describe

_INSTRUCTIONS: Final = (
    "Summarize what follows in a few sentences. Keep what matters for going on. Answer with the summary "
    "alone: it takes the place of the original."
)
_OF_MESSAGE: Final = "Summarized message: {{summary}}"
_OF_CONVERSATION: Final = "Summarized conversation: {{summary}}"
_MOST_SIZE: Final = 20_000
_MOST_MESSAGES: Final = 50
_KEEP: Final = 10


def build_transforms(
    site: Site, agent: LoadedAgent, prefix: str = ""
) -> Iterator[ir.AgentShortenNode]:
    """prefix: of the ids of the nodes."""
    before: list[str] = []
    for number, transform in enumerate(agent.transforms, 1):
        node_id = f"{prefix}{SHORTEN}" if number == 1 else f"{prefix}{SHORTEN}_{number}"
        yield _build_transform(site, transform, node_id, tuple(before))
        before.append(node_id)


def _build_transform(
    site: Site, transform: LoadedTransform, node_id: str, before: tuple[str, ...]
) -> ir.AgentShortenNode:
    component = transform.component
    of_message = component.type == "MessageSummarizationTransform"
    template = "summarized_message_template" if of_message else "summarized_conversation_template"
    usual = _OF_MESSAGE if of_message else _OF_CONVERSATION
    return ir.AgentShortenNode(
        id=node_id,
        name=component.name,
        place=site.place(component.pointer),
        instructions=component.text("summarization_instructions") or _INSTRUCTIONS,
        template=component.text(template) or usual,
        llm_config=_read_model(site, transform),
        most_size=_read_number(site, transform, "max_message_size", _MOST_SIZE)
        if of_message
        else None,
        most_messages=None
        if of_message
        else _read_number(site, transform, "max_num_messages", _MOST_MESSAGES),
        most_characters=_read_number(site, transform, "max_num_characters", None),
        keep=_read_number(site, transform, "min_num_messages", _KEEP) or _KEEP,
        shortened_by=before,
    )


def _read_model(site: Site, transform: LoadedTransform) -> Json:
    if transform.model is None:
        return ir.NOTHING
    report_retry_policy(site, transform.model)
    return Json.of({"component_type": transform.model.type, **transform.model.fields})


def _read_number(
    site: Site, transform: LoadedTransform, name: str, usual: int | None
) -> int | None:
    """A whole number above 0; null means that there is no bound where the file says null."""
    component = transform.component
    if name not in component.fields:
        return usual
    value = component.fields[name]
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    site.findings.error(
        "OAS022",
        f"{name} of {label_of(component)} must be a whole number above 0, not {describe(value)}",
        site.place(component.at(name)),
    )
    return usual
