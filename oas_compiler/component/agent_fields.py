"""The fields of the agents that a file may configure.

Source: Agent Spec, Agent, SpecializedAgent, ManagerWorkers, Swarm and A2AAgent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from oas_compiler.component.fields import COMPONENT_FIELDS, PORT_FIELDS, Field, is_used
from oas_compiler.component.prompt_templates import is_unusual_template

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
            "`timeout` and `poll_interval` in seconds; `max_retries` after a lost connection.",
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
