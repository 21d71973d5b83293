from __future__ import annotations

from oas_compiler.document.component_types import LoaderPolicy
from oas_compiler.pipeline import Loading, check
from tests.samples import errors, with_node

TRANSPORT = {"component_type": "StdioTransport", "id": "p", "name": "p", "command": "server"}


def over(transport):
    tool = {"component_type": "MCPTool", "id": "t", "name": "t", "client_transport": transport}
    return with_node({"component_type": "ToolNode", "id": "call", "tool": tool})


def test_a_program_of_the_file_is_blocked():
    found = [one for one in check(over(TRANSPORT)).errors if one.code == "OAS094"]
    assert [one.message for one in found] == [
        "the component type StdioTransport is blocked: it starts a program on this machine"
    ]
    assert found[0].place.pointer.endswith("/client_transport")
    assert "--unblock-component StdioTransport" in found[0].hint


def test_an_address_is_not():
    address = {"component_type": "StreamableHTTPTransport", "id": "p", "url": "https://h.example"}
    assert not errors(over(address))


def test_a_host_lets_it_through():
    loading = Loading(policy=LoaderPolicy(blocked=()))
    found = check(over(TRANSPORT), loading=loading)
    assert "OAS094" not in {one.code for one in found.errors}


def test_each_type_is_told_once_and_what_nothing_uses_not_at_all():
    loading = Loading(policy=LoaderPolicy(blocked=("Tool",)))
    flow = over(TRANSPORT)
    flow["$referenced_components"]["spare"] = {
        "component_type": "ClientTool",
        "id": "s",
        "name": "s",
    }
    codes = [one.code for one in check(flow, loading=loading).errors]
    assert codes.count("OAS094") == 1
