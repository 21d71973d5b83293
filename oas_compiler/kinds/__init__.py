"""The kinds of nodes, one module and one record per kind.

kind.py                    `NodeKind`: the record of a kind; the stand-in for an unreadable node
registry.py                every kind, those of installed packages too, by component type
plugin_regex.py            PluginRegexNode: the matches of a regular expression in a text
agent.py                   AgentNode: an agent that works, or a flow in its place
api.py                     ApiNode: one HTTP call
branching.py               BranchingNode: a value chooses the branch
catch_exception.py         CatchExceptionNode: a flow that may fail
end.py                     EndNode: where the outputs of a flow leave
extended_agent.py          ExtendedAgentNode: WayFlow's AgentNode, which may say what its agent
                           gives and whether it asks
extended_llm.py            ExtendedLlmNode: WayFlow's LlmNode, which may have several messages and
                           say its answer
extended_map.py            ExtendedMapNode: WayFlow's map, which unpacks each element of one list
extended_parallel_map.py   ExtendedParallelMapNode: WayFlow's map whose rounds run at the same
                           time
flow.py                    FlowNode: another flow inside this one
input_message.py           InputMessageNode: asks a person
llm.py                     LlmNode: one question to a language model
map.py                     MapNode: a flow for each element of a list, one after the other
output_message.py          OutputMessageNode: a message to people
parallel_flow.py           ParallelFlowNode: several flows at the same time
parallel_map.py            ParallelMapNode: a flow for each element of a list, at the same time
plugin_catch_exception.py  PluginCatchExceptionNode: WayFlow's flow that may fail
plugin_chat_history.py     PluginGetChatHistoryNode: what was said in the run, as a text or a list
plugin_choice.py           PluginChoiceNode: a model chooses the way on
plugin_constant_values.py  PluginConstantValuesNode: fixed values, each of which is an output
plugin_extract.py          PluginExtractNode: values out of a text with JSON in it
plugin_output_message.py   PluginOutputMessageNode: a message to people, which is an output, too
plugin_retry.py            PluginRetryNode: WayFlow's flow that is run again until it succeeds
plugin_template.py         PluginTemplateNode: a template rendered to a text
plugin_variable.py         PluginVariableNode: writes variables of its flow, then reads some
start.py                   StartNode: where the inputs of a flow enter
tool.py                    ToolNode: a Python function of the host, one HTTP call, a tool of the
                           caller or of an MCP server
trigger_wait.py            TriggerWaitNode: a run that waits for an event; only its name is known,
                           and it does not run yet
all others        one kind each: its fields, how it is built, how it looks, which function runs it

docs/adding-a-node.md shows how a kind is added, here or by a package of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.light_imports.public_names import import_on_use

if TYPE_CHECKING:
    from oas_compiler.component_facts.component import NODE_FIELDS, Field, Site, common
    from oas_compiler.component_facts.inference import (
        checked_branches,
        exactly_one,
        next_only,
        template_inputs,
    )
    from oas_compiler.kinds.kind import NodeKind, build_unknown

_LATER: Final = {
    "NodeKind": "kinds.kind",
    "build_unknown": "kinds.kind",
    "NODE_FIELDS": "component_facts.component",
    "Field": "component_facts.component",
    "Site": "component_facts.component",
    "common": "component_facts.component",
    "checked_branches": "component_facts.inference",
    "exactly_one": "component_facts.inference",
    "next_only": "component_facts.inference",
    "template_inputs": "component_facts.inference",
}

__all__ = [
    "NodeKind",
    "build_unknown",
    "NODE_FIELDS",
    "Field",
    "Site",
    "common",
    "checked_branches",
    "exactly_one",
    "next_only",
    "template_inputs",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_on_use(__name__, _LATER)
