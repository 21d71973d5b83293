"""Each type that WayFlow adds is read, or refused with its reason; none is a misspelt word."""

from __future__ import annotations

from typing import Any

import pytest

from oas_compiler.document.component_types import is_known
from oas_compiler.document.wayflow_nodes import list_extended
from oas_compiler.pipeline import check
from tests.flows import plain
from tests.wayflow.nodes import PLUGIN
from tests.wayflow.test_agents import written

NODES = [
    "ExtendedAgentNode",
    "ExtendedLlmNode",
    "ExtendedMapNode",
    "ExtendedParallelFlowNode",
    "ExtendedParallelMapNode",
    "ExtendedToolNode",
    "PluginCatchExceptionNode",
    "PluginChoiceNode",
    "PluginConstantValuesNode",
    "PluginExtractNode",
    "PluginGetChatHistoryNode",
    "PluginInputMessageNode",
    "PluginOutputMessageNode",
    "PluginReadVariableNode",
    "PluginRegexNode",
    "PluginRetryNode",
    "PluginTemplateNode",
    "PluginVariableNode",
    "PluginWriteVariableNode",
]
OTHERS = [
    "ExtendedAgent",
    "ExtendedFlow",
    "PluginCoalesceSystemMessagesTransform",
    "PluginMCPTool",
    "PluginMCPToolBox",
    "PluginMCPToolSpec",
    "PluginManagerWorkers",
    "PluginPromptTemplate",
    "PluginRemoveEmptyNonUserMessageTransform",
    "PluginSSETransport",
    "PluginSSEmTLSTransport",
    "PluginStdioTransport",
    "PluginStreamableHTTPTransport",
    "PluginStreamableHTTPmTLSTransport",
    "PluginSwarm",
]
REFUSED = [
    "PluginAppendTrailingSystemMessageToUserMessageTransform",
    "PluginCanonicalizationMessageTransform",
    "PluginConstantContextProvider",
    "PluginDatastoreCreateNode",
    "PluginDatastoreDeleteNode",
    "PluginDatastoreListNode",
    "PluginDatastoreQueryNode",
    "PluginDatastoreUpdateNode",
    "PluginFlowContextProvider",
    "PluginInMemoryDatastore",
    "PluginJsonOutputParser",
    "PluginJsonToolOutputParser",
    "PluginLlamaMergeToolRequestAndCallsTransform",
    "PluginOciGenAiEmbeddingConfig",
    "PluginOllamaEmbeddingConfig",
    "PluginOpenAiCompatibleEmbeddingConfig",
    "PluginOpenAiEmbeddingConfig",
    "PluginOracleDatabaseDatastore",
    "PluginPythonToolOutputParser",
    "PluginReactMergeToolRequestAndCallsTransform",
    "PluginReactToolOutputParser",
    "PluginRegexOutputParser",
    "PluginSearchConfig",
    "PluginSearchToolBox",
    "PluginSplitPromptOnMarkerMessageTransform",
    "PluginToolBox",
    "PluginToolContextProvider",
    "PluginToolFromToolBox",
    "PluginToolOutputParser",
    "PluginToolRequestAndCallsTransform",
    "PluginVectorConfig",
    "PluginVectorRetrieverConfig",
    "PluginVllmEmbeddingConfig",
]


@pytest.mark.parametrize("kind", [*NODES, *OTHERS])
def test_a_type_that_runs_is_known(kind: str) -> None:
    singles = ("PluginReadVariableNode", "PluginWriteVariableNode")
    assert is_known(kind) or kind in list_extended() or kind in singles


@pytest.mark.parametrize("kind", REFUSED)
def test_a_type_that_does_not_run_is_refused_with_its_reason(kind: str) -> None:
    part = {"component_type": kind, "id": "part", "name": "Part", **PLUGIN}
    found = [one for one in check(plain(written(toolboxes=[part]))).errors if one.code == "OAS090"]
    assert len(found) == 1
    assert f'{kind} "part" (' in found[0].message
    assert "for which no package is installed" not in found[0].message


@pytest.mark.parametrize("kind", [*NODES, *OTHERS, *REFUSED])
@pytest.mark.parametrize("value", [None, 7, "x", [], {}, [7], {"a": 7}])
def test_a_component_of_any_form_gives_findings_and_no_error_of_python(
    kind: str, value: Any
) -> None:
    names = (
        "inputs", "outputs", "branches", "input_mapping", "output_mapping", "variable", "operation",
        "write_variables", "read_variables", "write_operations", "flow", "flows", "unpack_input",
        "max_workers", "except_on", "success_condition", "max_num_trials", "next_branches",
        "prompt_template", "prompt_template_object", "num_tokens", "output_values", "n", "offset",
        "message_types", "output_template", "regex_pattern", "messages", "initial_message", "agents",
    )  # fmt: skip
    part = {
        "component_type": kind,
        "id": "part",
        "name": "Part",
        **PLUGIN,
        **dict.fromkeys(names, value),
    }
    flow = {
        "component_type": "ExtendedFlow", "id": "f", "name": "f", **PLUGIN, "start_node": part,
        "nodes": [part, {"$component_ref": "part"}], "control_flow_connections": [],
        "data_flow_connections": [
            {"component_type": "DataFlowEdge", "source_node": part, "source_output": value,
             "destination_node": {"$component_ref": "part"}, "destination_input": value},
        ],
        "$referenced_components": {"part": part},
    }  # fmt: skip
    assert check(flow).errors
