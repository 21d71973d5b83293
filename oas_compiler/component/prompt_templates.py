"""WayFlow's templates of prompts: several messages in place of one.

    [{"role": "system", "contents": [{"type": "text", "content": "Be {{ style }}."}]}, …]
        ->  (("system", "Be {{ style }}."), …)

What a template says about tools, parsers and pictures is refused where it says something.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from oas_compiler.component.fields import COMPONENT_FIELDS, Field, is_used
from oas_compiler.ir import JsonValue

TEMPLATE: Final = "PluginPromptTemplate"
CONVERSATION: Final = "conversation"
_PLACEHOLDER: Final = "$$__CHAT_HISTORY_PLACEHOLDER__$$"
_PLAN: Final = "__PLAN__"
"""A variable that WayFlow fills in where it plans, which it does not by itself."""
_PROMPTS: Final = (
    "{{custom_instruction}}",
    "{% if custom_instruction %}{{custom_instruction}}{% endif %}",
)
_ROLES: Final = ("system", "user", "assistant")
_HARMLESS: Final = frozenset(
    {"PluginRemoveEmptyNonUserMessageTransform", "PluginCoalesceSystemMessagesTransform"}
)
"""Transforms of what is left out, or put together, here in any case."""


def read_messages(messages: JsonValue) -> tuple[tuple[str, str], ...] | None:
    """(role, template) of each; `None` where one of them is no text."""
    found: list[tuple[str, str]] = []
    for message in messages if isinstance(messages, list) else [None]:
        read = _read_message(message) if isinstance(message, dict) else None
        if read is None:
            return None
        found.append(read)
    return tuple(found)


def is_unusual_template(template: JsonValue) -> bool:
    """Whether an agent's template asks its model in another way than with its prompt, then with the
    conversation, and with tools as the provider takes them.
    """
    if template is None:
        return False
    if not isinstance(template, dict) or template.get("native_tool_calling") is False:
        return True
    if template.get("output_parser") or template.get("generation_config"):
        return True
    messages = read_messages(template.get("messages"))
    if messages is None or (CONVERSATION, "") not in messages:
        return True
    texts = {text for _, text in messages if _PLAN not in text}
    return not texts <= {"", *_PROMPTS}


def _read_message(message: Mapping[str, JsonValue]) -> tuple[str, str] | None:
    role, contents = message.get("role"), message.get("contents")
    if not isinstance(role, str) or role not in _ROLES or not isinstance(contents, list):
        return None
    if message.get("tool_requests") or message.get("tool_result"):
        return None
    texts = []
    for part in contents:
        text = part.get("content") if isinstance(part, dict) else None
        if not isinstance(text, str) or (isinstance(part, dict) and part.get("type") != "text"):
            return None
        texts.append(text)
    text = "\n".join(texts)
    return (CONVERSATION, "") if text == _PLACEHOLDER else (role, text)


def _are_unreadable(messages: JsonValue) -> bool:
    return read_messages(messages) is None


def change_messages(transforms: JsonValue) -> bool:
    """Whether transforms change what a model is told."""
    listed = transforms if isinstance(transforms, list) else [transforms] if transforms else []
    kinds = [one.get("component_type") if isinstance(one, dict) else None for one in listed]
    return not all(isinstance(kind, str) and kind in _HARMLESS for kind in kinds)


PROMPT_FIELDS: Final[Mapping[str, Mapping[str, Field]]] = {
    TEMPLATE: {
        **COMPONENT_FIELDS,
        "messages": Field(
            "list", "The messages; their texts are templates.", required=True,
            refused=_are_unreadable,
        ),
        "output_parser": Field("any", "Reads the answer.", refused=is_used),
        "inputs": Field("list", "The names in the texts.", is_read=False),
        "pre_rendering_transforms": Field("any", "Changes the conversation.", is_read=False),
        "post_rendering_transforms": Field("any", "Changes the messages.", refused=change_messages),
        "tools": Field("list", "Tools that the model may call.", refused=is_used),
        "native_tool_calling": Field("any", "How tools are offered.", is_read=False),
        "response_format": Field("any", "The form of the answer.", is_read=False),
        "native_structured_generation": Field("any", "How that is asked.", is_read=False),
        "strict_output_validation": Field("any", "Whether it is cast.", is_read=False),
        "generation_config": Field("any", "Parameters of the model.", refused=is_used),
    },
    **{
        kind: {**COMPONENT_FIELDS} for kind in sorted(_HARMLESS)
    },
}  # fmt: skip
PROMPT_WORDS: Final[Mapping[str, str]] = {
    TEMPLATE: "The messages that a model is asked with.",
    "PluginCoalesceSystemMessagesTransform": "Puts the first messages of the system together.",
    "PluginRemoveEmptyNonUserMessageTransform": "Leaves out empty messages.",
}
