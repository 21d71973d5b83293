"""What the parts of a flow file mean, in one sentence each, for editors.

In: nothing.  Out: tables of words that `dialect.py` puts into the JSON Schema.

    TYPES["ApiNode"]                 ->  "Makes one HTTP call. …"
    FIELDS_OF["ApiNode"]["url"]      ->  "Address of the call; a template."   (else FIELDS["url"])
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

TYPES: Final[Mapping[str, str]] = {
    "Flow": "A sequence of nodes with one StartNode: control edges say what runs next, data edges "
    "what feeds which input.",
    "ControlFlowEdge": "Leads from one branch of a node to the node that runs next.",
    "DataFlowEdge": "Feeds an output of a node into an input of another one.",
    "StartNode": "Where a flow begins; its inputs are the flow's parameters.",
    "EndNode": "Where a flow ends; its outputs are the flow's results.",
    "ApiNode": "Makes one HTTP call; members of the answer become its outputs.",
    "InputMessageNode": "A gate: the run waits here until a person approves, rejects or answers.",
    "OutputMessageNode": "Says something to the person, or carries what the next gate shows.",
    "BranchingNode": "Chooses the way on by the value of its one input.",
    "FlowNode": "Runs another flow inside this one.",
    "ToolNode": "Calls a Python function of the host.",
    "ServerTool": "A Python function that the host registers under this name.",
    "PluginRegexNode": "Finds the matches of a regular expression in a text.",
    "PluginTemplateNode": "Renders a template to a text.",
    "LlmNode": "Asks a language model.",
    "AgentNode": "Lets an agent, or a flow in its place, work.",
    "MapNode": "Runs a flow once for each element of a list, one after the other.",
    "ParallelMapNode": "Runs a flow once for each element of a list, at the same time.",
    "ParallelFlowNode": "Runs several flows at the same time.",
    "CatchExceptionNode": "Runs a flow and goes another way when it fails.",
}

FIELDS: Final[Mapping[str, str]] = {
    "component_type": "What kind of component this is.",
    "id": "The identifier of the component; of a node it is never renamed.",
    "name": "What people see.",
    "description": "What it is for, in words.",
    "metadata": "Further facts; `cinatra` holds those that Cinatra and the gates use.",
    "agentspec_version": "The version of Agent Spec that the document is written for, at its top.",
    "component_plugin_name": "The plugin that adds this component type.",
    "component_plugin_version": "Version of that plugin.",
    "$referenced_components": "The components that `$component_ref` can name, by their names.",
    "inputs": "Inputs, each with a title that edges and templates use.",
    "outputs": "Outputs, each with a title that edges use.",
    "branches": "The ways out of this node; they follow from the node and may be left out.",
    "start_node": "The StartNode of this flow.",
    "nodes": "Every node of the flow, mostly as references.",
    "control_flow_connections": "The control edges: what runs after what.",
    "data_flow_connections": "The data edges; null connects all outputs and inputs of equal names.",
    "state": "Variables of the flow.",
    "from_node": "The node that is left.",
    "from_branch": "The branch it is left by; null or absent is `next`.",
    "to_node": "The node that runs next.",
    "source_node": "The node whose output is taken.",
    "source_output": "Title of that output.",
    "destination_node": "The node that is fed.",
    "destination_input": "Title of its input.",
    "branch_name": "The branch by which a FlowNode around this flow is left.",
    "url": "Address of the call; a template.",
    "http_method": "The HTTP method, such as `POST`.",
    "api_spec_uri": "Where the API is described.",
    "data": "The body: JSON whose strings are templates; a string that is one placeholder carries "
    "the value itself.",
    "query_params": "Query parameters; their values are templates.",
    "headers": "Headers; their values are templates.",
    "sensitive_headers": "Headers that must not be exported.",
    "retry_policy": "How a call that failed is repeated.",
    "url_allow_list": "Addresses that may be called.",
    "json_spec_filter": "Which part of the answer is taken.",
    "message": "The text; a template.",
    "mapping": "Value → branch; any other value leaves by `default`.",
    "subflow": "The flow that is run.",
    "tool": "The tool that is called.",
    "requires_confirmation": "Whether a person must confirm each call.",
    "input_mapping": "Renames inputs of the plugin's node.",
    "output_mapping": "Renames outputs of the plugin's node.",
    "regex_pattern": "The regular expression.",
    "return_first_match_only": "Whether `output` is the first match (a string) or all (a list).",
    "template": "The Jinja template.",
    "llm_config": "The model that is asked.",
    "prompt_template": "What it is asked; a template.",
    "agent": "The agent that works.",
    "reducers": "Output → how the results of all rounds become one.",
    "subflows": "The flows that are run.",
}

FIELDS_OF: Final[Mapping[str, Mapping[str, str]]] = {
    "StartNode": {"inputs": "The flow's parameters."},
    "EndNode": {"outputs": "The flow's results."},
    "ApiNode": {
        "inputs": "Names that the templates use; left out, they follow from the templates.",
        "outputs": "Members of the JSON answer that later nodes use.",
    },
    "InputMessageNode": {
        "inputs": "What the gate shows.",
        "outputs": "Exactly one output: the answer.",
    },
    "BranchingNode": {"inputs": "Exactly one input: the value to branch on."},
    "FlowNode": {
        "inputs": "Left out, these are the subflow's.",
        "outputs": "Left out, these are the subflow's.",
    },
    "ServerTool": {"name": "The name under which the host registers the function."},
}

CINATRA: Final[Mapping[str, str]] = {
    "type": "`flow` or `orchestrator` runs on its own, `node` or `leaf` inside another agent.",
    "packageName": "Name of the npm package that this belongs to, or of the child agent it runs.",
    "packageVersion": "Version of that package; package.json decides.",
    "hitlScreens": "Ids of the screens that this agent may show.",
    "llm": "The model that calls of the bridge prefer.",
    "contextSlots": "Places where a person or the agent picks stored artifacts as context.",
    "docsRef": "Where the agent is described.",
    "produces": "Artifacts that the agent makes.",
    "agentDependencies": "Not read here: child agents are declared in package.json.",
    "reentrantGate": "The gate that a loop comes back to.",
    "toolboxes": "Toolboxes that calls of the bridge may use.",
    "projectPrimitiveTools": "Notes about tools.",
    "parentSatisfiedContextSlots": "Slots whose pick is handed to a child agent.",
    "required": "Inputs that the run cannot begin without, in the order in which they are asked.",
    "hidden": "Inputs that only the caller supplies; nobody is asked for them.",
    "inputRenderers": "Title → id of the screen that asks for it.",
    "inputTitles": "Title → what people see instead.",
    "inputDataSources": "Title → where choices come from.",
    "inputContract": "Notes about the inputs.",
    "riskClass": "What the node does to the world; `…_send`, `…_publish`, `…_post`, `…_delete` and "
    "`send_external_message` act on it and need a gate before them.",
    "requiresApproval": "Of a gate: that it asks. Of a call: for information only.",
    "renderer": "Id of the screen, `@scope/package:screen`.",
    "a2uiSurfaceId": "Id of the surface that the screen is drawn on.",
    "approvalPolicy": "For information only; the policy follows from the gates.",
    "phase": "For information only.",
    "tools": "For information only.",
    "description": "What it is for, in words.",
    "purpose": "What it is for; marks context selection with `author-placed-…` and "
    "`loader-injected-context-resolution-for-<slotId>`.",
    "autoSkipWhenInputsPresent": "A hint for authors; nothing reads it.",
    "inputMessageSchema": "JSON Schema of the answer that a person gives.",
    "formSchema": "JSON Schema of the object inside an answer that is a JSON text.",
    "surfaceGateInputs": "Whether the gate's inputs are shown as one object.",
    "maxGateVisits": "How often one run may come to this gate.",
    "gateSteps": "How the gates inside the subflow are shown, in their order.",
    "a2uiSurfaceIdOverride": "The surface that takes the place of the child agent's own.",
    "hitlOwnedBy": "Whose screens are shown: the child agent's or this one's own.",
    "sideEffects": "Whether the step acts on the world.",
}
