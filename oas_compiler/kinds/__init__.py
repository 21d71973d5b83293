"""The kinds of nodes, one module and one record per kind.

kind.py                    `NodeKind`: the record of a kind; a type of another runtime that
                           extends a kind; the stand-in for a node that cannot be built
registry.py                every kind, by component type and by class of the IR; the kinds of
                           installed packages, and why one of them cannot be used; the component
                           types of Agent Spec that are no nodes
plugin_regex.py            pluginRegexNode: the matches of a regular expression in a text; regular
                           expressions
agent.py                   agentNode: an agent that works, or a flow in its place
api.py                     apiNode: one HTTP call
branching.py               branchingNode: a value chooses the branch
catch_exception.py         catchExceptionNode: a flow that may fail
end.py                     endNode: where the outputs of a flow leave
extended_agent.py          extendedAgentNode: WayFlow's AgentNode, which may say what its agent
                           gives and whether it asks
extended_llm.py            extendedLlmNode: WayFlow's LlmNode, which may have several messages and
                           say its answer
extended_map.py            extendedMapNode: WayFlow's map, which unpacks each element of one list
extended_parallel_map.py   extendedParallelMapNode: WayFlow's map whose rounds run at the same
                           time
flow.py                    flowNode: another flow inside this one
input_message.py           inputMessageNode: asks a person
llm.py                     llmNode: one question to a language model
map.py                     mapNode: a flow for each element of a list, one after the other
output_message.py          outputMessageNode: a message to people
parallel_flow.py           parallelFlowNode: several flows at the same time
parallel_map.py            parallelMapNode: a flow for each element of a list, at the same time
plugin_catch_exception.py  pluginCatchExceptionNode: WayFlow's flow that may fail
plugin_chat_history.py     pluginGetChatHistoryNode: what was said in the run, as a text or a list
plugin_choice.py           pluginChoiceNode: a model chooses the way on
plugin_constant_values.py  pluginConstantValuesNode: fixed values, each of which is an output
plugin_extract.py          pluginExtractNode: values out of a text with JSON in it
plugin_output_message.py   pluginOutputMessageNode: a message to people, which is an output, too
plugin_retry.py            pluginRetryNode: WayFlow's flow that is run again until it succeeds
plugin_template.py         pluginTemplateNode: a template rendered to a text
plugin_variable.py         pluginVariableNode: writes variables of its flow, then reads some
start.py                   startNode: where the inputs of a flow enter
tool.py                    toolNode: a Python function of the host, one HTTP call, a tool of the
                           caller or of an MCP server
trigger_wait.py            triggerWaitNode: a run that waits for an event; only its name is known,
                           and it does not run yet
all others        one kind each: its fields, how it is built, how it looks, which function runs it

docs/adding-a-node.md shows how a kind is added, here or by a package of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.public_names import import_on_use

if TYPE_CHECKING:
    from oas_compiler.component.component import NODE_FIELDS, Field, Site, common
    from oas_compiler.component.inference import (
        checked_branches,
        exactly_one,
        next_only,
        template_inputs,
    )
    from oas_compiler.kinds.kind import NodeKind, build_unknown

_LATER: Final = {
    "NodeKind": "kinds.kind",
    "build_unknown": "kinds.kind",
    "NODE_FIELDS": "component.component",
    "Field": "component.component",
    "Site": "component.component",
    "common": "component.component",
    "checked_branches": "component.inference",
    "exactly_one": "component.inference",
    "next_only": "component.inference",
    "template_inputs": "component.inference",
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
