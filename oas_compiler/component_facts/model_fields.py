"""The fields of the language models that a file may configure.

Source: Agent Spec, LlmConfig and its subtypes; of a DbmsVectorChainLlmConfig nothing is published.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from oas_compiler.component_facts.component import COMPONENT_FIELDS, PORT_FIELDS, Field, is_used
from oas_compiler.ir import JsonValue


def _names_file(value: JsonValue) -> bool:
    """Whether a certificate is named; a reference is what SDKs export in its place."""
    return isinstance(value, str) and bool(value)


_LLM: Final[Mapping[str, Field]] = {
    **COMPONENT_FIELDS,
    "model_id": Field("text", "The provider's name of the model.", required=True),
    "provider": Field("text", "Who made the model."),
    "api_provider": Field("text", "Who serves the model: `openai`, `anthropic`, `ollama`."),
    "api_type": Field("text", "The protocol: `chat_completions` or `responses`."),
    "url": Field("text", "Address of the server."),
    "api_key": Field("text", "The key; better left out, so that the host gives it."),
    "default_generation_parameters": Field(
        "object", "How answers are made: `temperature`, `max_tokens`, `top_p` and others."
    ),
    "retry_policy": Field("object", "How a question that failed is asked again."),
}
_COMPATIBLE: Final[Mapping[str, Field]] = {
    **_LLM,
    "url": Field("text", "Address of the server.", required=True),
    **{
        name: Field("text", words, is_read=False, refused=_names_file)
        for name, words in (
            ("key_file", "File of the client's private key."),
            ("cert_file", "File of the client's certificate."),
            ("ca_file", "File of the authorities that are trusted."),
        )
    },
}
MODEL_FIELDS: Final[Mapping[str, Mapping[str, Field]]] = {
    "LlmConfig": _LLM,
    "OpenAiConfig": _LLM,
    "OpenAiCompatibleConfig": _COMPATIBLE,
    "VllmConfig": _COMPATIBLE,
    "OllamaConfig": _COMPATIBLE,
    "GeminiConfig": {
        **_LLM,
        "auth": Field("component", "How the provider knows the caller.", required=True),
    },
    "OciGenAiConfig": {
        **_LLM,
        "compartment_id": Field("text", "The compartment of the model.", required=True),
        "serving_mode": Field("text", "`ON_DEMAND` or `DEDICATED`."),
        "client_config": Field("component", "How the client reaches the cloud.", required=True),
        "conversation_store_id": Field("text", "Where conversations are kept."),
    },
}
"""By component type."""
MODEL_TYPES: Final = frozenset({*MODEL_FIELDS, "DbmsVectorChainLlmConfig"})
"""What an LlmNode may ask."""
MODEL_WORDS: Final[Mapping[str, str]] = {
    "LlmConfig": "A language model of any provider.",
    "OpenAiConfig": "A model of OpenAI.",
    "OpenAiCompatibleConfig": "A model behind a server that speaks OpenAI's protocol.",
    "VllmConfig": "A model that vLLM serves.",
    "OllamaConfig": "A model that Ollama serves.",
    "GeminiConfig": "A model of Google.",
    "OciGenAiConfig": "A model in Oracle's cloud; a host has to lend it.",
}


# ----------------------------------------------------------------------------
# WayFlow's templates of prompts: several messages in place of one.
#
#     [{"role": "system", "contents": [{"type": "text", "content": "Be {{ style }}."}]}, …]
#         ->  (("system", "Be {{ style }}."), …)
#
# What a template says about tools, parsers and pictures is refused where it says something.


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


# ----------------------------------------------------------------------------
# The fields of the agents that a file may configure.
#
# Source: Agent Spec, Agent, SpecializedAgent, ManagerWorkers, Swarm and A2AAgent.


_TRANSFORM: Final[Mapping[str, Field]] = {
    **COMPONENT_FIELDS,
    "llm": Field("component", "The model that makes the summaries.", required=True),
    "summarization_instructions": Field("text", "What the model is told."),
    "datastore": Field("any", "Where summaries are kept; a run keeps its own.", is_read=False),
    "cache_collection_name": Field("text", "Their collection there.", is_read=False),
    "max_cache_size": Field("any", "How many are kept there.", is_read=False),
    "max_cache_lifetime": Field("any", "How long they are kept there.", is_read=False),
}
_AGENT: Final[Mapping[str, Field]] = {
    **COMPONENT_FIELDS,
    **PORT_FIELDS,
    "llm_config": Field("component", "The model that is asked at each step.", required=True),
    "system_prompt": Field(
        "text", "What the agent is told at first; a template.", required=True, template=True
    ),
    "tools": Field("list", "The tools that the model may call."),
    "toolboxes": Field("list", "Servers whose tools the model may call."),
    "human_in_the_loop": Field("flag", "Whether the agent may ask a person a question."),
    "transforms": Field("list", "What shortens a long conversation."),
}
AGENT_FIELDS: Final[Mapping[str, Mapping[str, Field]]] = {
    "Agent": _AGENT,
    "ExtendedAgent": {
        **_AGENT,
        "initial_message": Field("text", "What the agent asks where nobody has spoken."),
        "caller_input_mode": Field("any", "`never`: the agent may not ask a person."),
        "agents": Field("list", "The agents that it may give work to."),
        "flows": Field("list", "The flows that it may run."),
        "context_providers": Field(
            "list", "Functions that give values of the prompt.", refused=is_used
        ),
        "agent_template": Field(
            "any", "Its own way to ask the model.", refused=is_unusual_template
        ),
        "max_iterations": Field("any", "How often the model is asked.", is_read=False),
        "can_finish_conversation": Field("any", "Whether it may end.", is_read=False),
        "raise_exceptions": Field("any", "Whether a tool may fail.", is_read=False),
        "strict_output_validation": Field("any", "Whether outputs are cast.", is_read=False),
    },
    "SpecializedAgent": {
        **COMPONENT_FIELDS,
        **PORT_FIELDS,
        "agent": Field("component", "The agent that is specialized.", required=True),
        "agent_specialization_parameters": Field(
            "component", "What the agent is told and given in addition.", required=True
        ),
    },
    "ManagerWorkers": {
        **COMPONENT_FIELDS,
        **PORT_FIELDS,
        "group_manager": Field("component", "The agent that gives out the work.", required=True),
        "workers": Field("list", "The agents that work for it.", required=True),
    },
    "Swarm": {
        **COMPONENT_FIELDS,
        **PORT_FIELDS,
        "first_agent": Field("component", "The agent that begins.", required=True),
        "relationships": Field(
            "list", "Pairs of agents: the first may speak to the second.", required=True
        ),
        "handoff": Field(
            "any",
            "Whether an agent hands over to another (always), asks it (never), or may do both "
            "(optional).",
        ),
    },
    "A2AAgent": {
        **COMPONENT_FIELDS,
        **PORT_FIELDS,
        "agent_url": Field("text", "Where the agent's card is.", required=True),
        "connection_config": Field("component", "How it is reached.", required=True),
        "session_parameters": Field(
            "object",
            "`timeout` and `poll_interval` (0.5 at the least) in seconds; `max_retries` after a "
            "lost connection.",
        ),
        "retry_policy": Field("any", "How a request that failed is repeated.", is_read=False),
    },
    "A2AConnectionConfig": {
        **COMPONENT_FIELDS,
        "timeout": Field("any", "Seconds that a request may take."),
        "headers": Field("object", "Headers of each request; never shown or kept."),
        "verify": Field("flag", "Whether the certificate is checked."),
        "key_file": Field("text", "File of the client's private key."),
        "cert_file": Field("text", "File of the client's certificate."),
        "ssl_ca_cert": Field("text", "File of the authorities that are trusted."),
        "retry_policy": Field("any", "How a request that failed is repeated.", is_read=False),
    },
    "MessageSummarizationTransform": {
        **_TRANSFORM,
        "max_message_size": Field("any", "A longer message, in characters, becomes its summary."),
        "summarized_message_template": Field("text", "How a summary is put: `{{summary}}`."),
    },
    "ConversationSummarizationTransform": {
        **_TRANSFORM,
        "max_num_messages": Field("any", "More messages become a summary."),
        "max_num_characters": Field("any", "So do messages with more characters together."),
        "min_num_messages": Field("any", "The last messages, which stay as they are."),
        "summarized_conversation_template": Field("text", "How a summary is put: `{{summary}}`."),
    },
    "AgentSpecializationParameters": {
        **COMPONENT_FIELDS,
        **PORT_FIELDS,
        "additional_instructions": Field("text", "Comes after the agent's own prompt; a template."),
        "additional_tools": Field("list", "More tools."),
        "human_in_the_loop": Field("flag", "Replaces that of the agent; null keeps that one."),
    },
}
"""By component type."""
AGENT_WORDS: Final[Mapping[str, str]] = {
    "Agent": "A model with a prompt and tools, which works until it has an answer.",
    "ExtendedAgent": "An Agent as WayFlow writes it.",
    "SpecializedAgent": "An agent with more instructions and tools.",
    "ManagerWorkers": "An agent that gives out work to other agents.",
    "Swarm": "Agents that hand over to each other, or ask each other.",
    "A2AAgent": "An agent elsewhere, behind the protocol A2A.",
    "A2AConnectionConfig": "How an A2AAgent is reached.",
    "MessageSummarizationTransform": "Puts a summary in place of a long message.",
    "ConversationSummarizationTransform": "Puts a summary in place of many messages.",
    "AgentSpecializationParameters": "What makes an agent a special one.",
}
