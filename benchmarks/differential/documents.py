"""One small document for each component type: does a runtime load it?

The types of cases.py are not repeated: their runs say more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.differential.cases import Json, end, flow, inner, node, port, start, tool

MODEL = node("OpenAiConfig", "gpt", model_id="gpt-5")
WEB = node("StreamableHTTPTransport", "web", url="https://mcp.example/mcp")


def list_documents() -> Iterator[tuple[str, Json]]:
    """(component type, document)."""
    for name, model in _list_models():
        yield name, _asking(model)
    yield "LlmNode", _asking(MODEL)
    yield "LlmNode, several outputs", _asking(MODEL, [port("brand"), port("hp", "integer")])
    api = node("ApiNode", "call", url="https://h.example/{{id}}", http_method="GET", inputs=[port("id")],
               outputs=[port("name")], data={}, query_params={}, headers={})  # fmt: skip
    yield "ApiNode", _around(api)
    for name, own in _list_tools():
        yield f"{name} in a ToolNode", _around(node("ToolNode", "call", tool=own, inputs=own["inputs"], outputs=own["outputs"]))  # fmt: skip
        yield f"{name} of an Agent", _agent(tools=[own])
    yield "MCPToolBox", _agent(toolboxes=[node("MCPToolBox", "box", client_transport=WEB)])
    yield "MCPToolSpec", _agent(toolboxes=[node("MCPToolBox", "box", client_transport=WEB, tool_filter=[
        "search", node("MCPToolSpec", "send", inputs=[], outputs=[])])])  # fmt: skip
    yield "Agent", _agent()
    yield "Agent, outputs", _agent(outputs=[port("report")])
    yield "Agent in an AgentNode", _working(_agent())
    yield "Flow in an AgentNode", _working(inner(flow(start(port("id")), end(port("id")), data=[("start", "id", "end", "id")]), "inside"))  # fmt: skip
    yield "SpecializedAgent", _special()
    yield "ManagerWorkers", _document(node("ManagerWorkers", "group", group_manager=_member("boss"), workers=[_member("hand")], inputs=[], outputs=[]))  # fmt: skip
    for mode in ("never", "optional", "always"):
        first, second = _member("one"), _member("two")
        yield f"Swarm, handoff {mode}", {
            **_document(node("Swarm", "swarm", first_agent={"$component_ref": "one"}, handoff=mode, inputs=[], outputs=[],
                             relationships=[[{"$component_ref": "one"}, {"$component_ref": "two"}]])),
            "$referenced_components": {"one": first, "two": second},
        }  # fmt: skip
    way = node("A2AConnectionConfig", "way")
    session = {"timeout": 60.0, "poll_interval": 2.0, "max_retries": 5}
    yield "A2AAgent", _document(node("A2AAgent", "remote", agent_url="https://a2a.example", connection_config=way, session_parameters=session, inputs=[], outputs=[]))  # fmt: skip
    client = node("OciClientConfigWithInstancePrincipal", "client", service_endpoint="https://oci.example", auth_type="INSTANCE_PRINCIPAL")  # fmt: skip
    yield "OciAgent", _document(node("OciAgent", "oci", agent_endpoint_id="x", client_config=client, inputs=[], outputs=[]))  # fmt: skip
    for kind in ("MessageSummarizationTransform", "ConversationSummarizationTransform"):
        yield kind, _agent(transforms=[node(kind, "shorter", llm=MODEL, datastore=None)])


def _list_models() -> Iterator[tuple[str, Json]]:
    yield "LlmConfig", node("LlmConfig", "m", model_id="gpt-5", provider="openai", api_provider="openai")  # fmt: skip
    yield "OpenAiConfig", MODEL
    for kind in ("OpenAiCompatibleConfig", "VllmConfig", "OllamaConfig"):
        yield kind, node(kind, "m", model_id="llama", url="http://model.example")
    auth = node("GeminiAIStudioAuthConfig", "auth")
    yield "GeminiConfig", node("GeminiConfig", "m", model_id="gemini", auth=auth)
    client = node("OciClientConfigWithInstancePrincipal", "client", service_endpoint="https://oci.example", auth_type="INSTANCE_PRINCIPAL")  # fmt: skip
    yield "OciGenAiConfig", node("OciGenAiConfig", "m", model_id="cohere", compartment_id="c", serving_mode="ON_DEMAND", client_config=client)  # fmt: skip


def _list_tools() -> Iterator[tuple[str, Json]]:
    ports: dict[str, Any] = {
        "inputs": [port("id")],
        "outputs": [port("name")],
        "description": "look",
    }
    yield "ServerTool", tool("echo", [port("text")], [port("said")])
    yield "ClientTool", node("ClientTool", "look", **ports)
    yield "RemoteTool", node("RemoteTool", "look", url="https://h.example/{{id}}", http_method="GET", data={}, query_params={}, headers={}, **ports)  # fmt: skip
    yield "MCPTool", node("MCPTool", "look", client_transport=WEB, **ports)
    yield "BuiltinTool", node("BuiltinTool", "look", tool_type="echo", executor_name="any", tool_version="1", configuration={}, **ports)  # fmt: skip


def _document(root: Json) -> Json:
    return {**root, "agentspec_version": "26.1.2"}


def _member(name: str, **more: Any) -> Json:
    return node("Agent", name, description=name, llm_config=MODEL, system_prompt="Help.", inputs=[], **{"outputs": [], "tools": [], **more})  # fmt: skip


def _agent(**more: Any) -> Json:
    return _document(_member("agent", **more))


def _working(agent: Json) -> Json:
    own = {key: value for key, value in agent.items() if key != "agentspec_version"}
    return _around(node("AgentNode", "work", agent=own, inputs=own["inputs"], outputs=own["outputs"]))  # fmt: skip


def _special() -> Json:
    more = node("AgentSpecializationParameters", "more", additional_instructions="Be short.", additional_tools=[], inputs=[], outputs=[])  # fmt: skip
    return _document(node("SpecializedAgent", "special", agent=_member("base"), agent_specialization_parameters=more, inputs=[], outputs=[]))  # fmt: skip


def _asking(model: Json, outputs: list[Json] | None = None) -> Json:
    given = outputs or [port("generated_text")]
    return _around(node("LlmNode", "ask", llm_config=model, prompt_template="Say {{id}}", inputs=[port("id")], outputs=given))  # fmt: skip


def _around(own: Json) -> Json:
    ins = own["inputs"] or [port("id")]
    return flow(
        start(*ins), own, end(*own["outputs"]),
        data=[*(("start", one["title"], own["id"], one["title"]) for one in own["inputs"]),
              *((own["id"], one["title"], "end", one["title"]) for one in own["outputs"])],
    )  # fmt: skip
