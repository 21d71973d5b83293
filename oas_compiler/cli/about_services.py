"""The models, MCP servers and agents elsewhere that a flow asks, and the names of the keys they get.

In: the stored flow of a run, and what the command lends.  Out: one text for each, without a value.

    model openai/gpt-5 with OPENAI_API_KEY
    model vllm/llama at http://10.0.0.4:8000 without a key
    MCP server shop at https://shop.example.com/mcp with SHOP_KEY
    MCP server files, the program mcp-files
    agent Travel at https://travel.example with travel.headers

Of a key comes the name: a variable of the environment, a placeholder, or a sensitive field whose
value is lent.  The flow is read and not compiled to a graph: looking at a run loads no engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from cinatra_sdk.platform.origin import shown
from cinatra_sdk.templates.environment import ENVIRONMENT_PLACEHOLDER
from cinatra_sdk.values.json_text import Json, JsonValue
from cinatra_sdk.values.sensitive import read_name
from oas_compiler.cli.safe import clean
from oas_compiler.control.elsewhere import acts_at_all
from oas_compiler.ir import FlowIR, McpTransport, RemoteAgentNode, walk

if TYPE_CHECKING:
    from cinatra_sdk.lending.host_parts import HostParts

_MARKED: Final = ("llm_config", "server")
"""Fields of nodes that name a model or a server, whatever the kind of the node."""


def list_stored_services(source: bytes, parts: HostParts | None, *, script: str = "") -> list[str]:
    """source: of a run's flow; empty, or of another kind than a file: nothing is known.

    parts: what `--host` lends.  script: the name of the script that answers in place of models.
    """
    flow = _read_stored_flow(source)
    return [] if flow is None else list_services(flow, parts, script=script)


def stored_flow_acts(source: bytes) -> bool:
    """Whether the flow calls, asks or runs anything; source: as above, and unknown counts as yes."""
    flow = _read_stored_flow(source)
    return flow is None or acts_at_all(flow)


def _read_stored_flow(source: bytes) -> FlowIR | None:
    from cinatra_sdk.errors import StoreError
    from cinatra_sdk.store.flow_kinds import OAS, split_source
    from oas_compiler.document.policy import LoaderPolicy
    from oas_compiler.pipeline import Loading, compile_ir
    from oas_compiler.report.diagnostics import CompileError

    try:
        if not source or split_source(source)[0] != OAS:
            return None
        everything = Loading(policy=LoaderPolicy.of(blocked=()))
        return compile_ir(source, loading=everything).ir
    except (CompileError, StoreError):
        return None  # going on with the run reports it


def list_services(flow: FlowIR, parts: HostParts | None, *, script: str = "") -> list[str]:
    """Each once, in the order of the flow; safe for a terminal."""
    found = (text for _, node in walk(flow) for text in _describe_node(node, parts, script))
    return [clean(text) for text in dict.fromkeys(found)]


def _describe_node(node: object, parts: HostParts | None, script: str) -> Iterator[str]:
    model, server = (getattr(node, name, None) for name in _MARKED)
    if isinstance(model, Json) and model.mapping():
        yield _describe_model(model, parts, script)
    if isinstance(server, McpTransport):
        yield _describe_server(server, parts)
    if isinstance(node, RemoteAgentNode):
        reads = _join_names([node.url, node.settings.value(), node.headers.value()])
        yield f"agent {node.name or node.id} at {shown(node.url)}{reads}"


def _describe_model(llm_config: Json, parts: HostParts | None, script: str) -> str:
    from cinatra_sdk.models.connecting import find_key_variable
    from cinatra_sdk.models.reading import read_model_config

    config = read_model_config(llm_config, None)
    named = f"model {config.capability}"
    at = f" at {shown(config.url)}" if config.url else ""
    models = None if parts is None else parts.models
    if isinstance(models, Mapping) and any(name in models for name in (*config.names, "*")):
        return f"{named} that --host lends"
    if script:
        return f"{script} in place of {named}"
    if models is not None and not isinstance(models, Mapping):
        at = f"{at}, unless --host lends it,"
    if config.api_key:
        return f"{named}{at} with the key of its file"
    asked = "what --host gives" if parts is not None and parts.api_key_for is not None else ""
    # A placeholder is not filled in here: a key is named by a reference, or left out.
    keys = [asked, *_list_names(llm_config.value(), filled=False), find_key_variable(config)]
    told = " or ".join(dict.fromkeys(key for key in keys if key))
    return f"{named}{at} with {told}" if told else f"{named}{at} without a key"


def _describe_server(server: McpTransport, parts: HostParts | None) -> str:
    fields = server.settings.mapping()
    name, url = _read_text(fields, "name") or _read_text(fields, "id"), _read_text(fields, "url")
    named = f"MCP server {name}"
    lent = {} if parts is None else parts.mcp
    if any(one in lent for one in (_read_text(fields, "id"), name, "*")):
        return f"{named} that --host lends"
    where = f" at {shown(url)}" if url else f", the program {_read_text(fields, 'command')}"
    values = [fields, server.sensitive.value(), server.login.value()]
    return f"{named}{where}{_join_names(values)}"


def _read_text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _join_names(values: JsonValue) -> str:
    names = ", ".join(dict.fromkeys(_list_names(values)))
    return f" with {names}" if names else ""


def _list_names(value: JsonValue, *, filled: bool = True) -> Iterator[str]:
    """Sensitive fields that are named in a value, at any depth; filled: placeholders, too."""
    name = read_name(value)
    if name:
        yield name
    elif isinstance(value, str):
        yield from ENVIRONMENT_PLACEHOLDER.findall(value) if filled else ()
    elif isinstance(value, (list, dict)):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _list_names(member, filled=filled)
