"""The resources of this process that a continued run uses, printed before the run continues.

In: a run, and the options of this command.  Out: lines on stderr.

    run r1: Newsletter (agents/newsletter), of tenant acme, started by ann, sha256 5f0c12ab34cd
      calls https://cinatra.example.org with CINATRA_RUN_TOKEN; also https://crm.example.com
      asks model openai/gpt-5 with OPENAI_API_KEY; MCP server shop, the program mcp-shop
      reads CRM_KEY of this process

Another person may have started the run and chosen all of these.  A command that is refused because
it does not lend all of them prints the same lines first, with "would call" and "would read".
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from rich.text import Text

from cinatra_sdk.contract import BASE_URL
from cinatra_sdk.data.author_json import Json, JsonValue
from cinatra_sdk.data.sensitive_fields import read_name
from cinatra_sdk.data.templates.placeholders import ENVIRONMENT_PLACEHOLDER
from cinatra_sdk.outside.http_calls.call_addresses import shown
from oas_compiler.cli.host.resources import RUN_TOKEN, Own
from oas_compiler.cli.terminal.layout import Pieces
from oas_compiler.cli.terminal.printable_text import clean
from oas_compiler.control.simulation_answers import asks_platform
from oas_compiler.ir import FlowIR, McpTransport, RemoteAgentNode, walk

if TYPE_CHECKING:
    from cinatra_sdk.host_parts.host_parts import HostParts
    from cinatra_sdk.runs import Run
    from oas_compiler.cli.terminal.streams import Terminal
    from oas_compiler.lower.flow import Flow


# ----------------------------------------------------------------------------
# The models, MCP servers and agents elsewhere that a flow asks, and the names of the keys they get.
#
# In: the stored flow of a run, and the parts that the command lends.  Out: one text for each, without a value.
#
#     model openai/gpt-5 with OPENAI_API_KEY
#     model vllm/llama at http://10.0.0.4:8000 without a key
#     MCP server shop at https://shop.example.com/mcp with SHOP_KEY
#     MCP server files, the program mcp-files
#     agent Travel at https://travel.example with travel.headers
#
# Of a key comes the name: a variable of the environment, a placeholder, or a sensitive field whose
# value is lent.  The flow is read and not compiled to a graph: looking at a run loads no engine.


_MARKED: Final = ("llm_config", "server")
"""Fields of nodes that name a model or a server, whatever the kind of the node."""


def list_stored_services(source: bytes, parts: HostParts | None, *, script: str = "") -> list[str]:
    """source: of a run's flow; empty, or of another kind than a file: nothing is known.

    parts: what `--host` lends.  script: the name of the script that answers in place of models.
    """
    flow = _read_stored_flow(source)
    return [] if flow is None else list_services(flow, parts, script=script)


def stored_flow_asks_platform(source: bytes) -> bool:
    """Whether the flow makes calls that its platform answers; source: as above, and unknown counts as
    yes.
    """
    flow = _read_stored_flow(source)
    return flow is None or asks_platform(flow)


def _read_stored_flow(source: bytes) -> FlowIR | None:
    from cinatra_sdk.errors import StoreError
    from cinatra_sdk.store.flows.flow_protocol import OAS, split_source
    from oas_compiler.document.component_types import LoaderPolicy
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
    from cinatra_sdk.outside.models.clients import find_key_variable
    from cinatra_sdk.outside.models.config import read_model_config

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


Manner = Literal["done", "refused", "rejected"]
"""Whether the run continues, is refused a resource, or is rejected and gets no resource."""
_CALLS: Final = {"done": "calls", "refused": "would call", "rejected": "calls"}
_ASKS: Final = {"done": "asks", "refused": "would ask", "rejected": "asks"}
_READS: Final = {"done": "reads", "refused": "would read", "rejected": "reads"}


def tell_what_is_used(
    terminal: Terminal, run: Run, own: Own, manner: Manner, source: bytes
) -> None:
    """Tell the flow and its owner, the addresses and credentials of its calls, whom else it asks,
    and the variables it reads.

    source: of the run's flow; empty for a run that is rejected.
    """
    for pieces in what_is_used(run, own, manner, source):
        terminal.say(Pieces([Text(piece) for piece in pieces], between=" "))


def what_is_used(run: Run, own: Own, manner: Manner, source: bytes) -> list[list[str]]:
    """The lines in pieces, safe for a terminal and without values of variables."""
    named = [clean(run.flow), f"({clean(run.file)})"] if run.file else [clean(run.flow)]
    named[-1] += ","
    tenant = f"of tenant {clean(run.tenant)}," if run.tenant else "of no tenant,"
    starter = [f"started by {clean(run.started_by)},"] if run.started_by else []
    whose = [f"run {clean(run.id)}:", *named, tenant, *starter, f"sha256 {run.digest[:12]}"]
    services = list_asked(run, source, own)
    asks = _prefix_verb(_ASKS[manner], _join_services(services)) if services else []
    calls = _describe_calls(run, own, manner, acts=is_code_of_host(source))
    if own.platform is None and is_simulated_for_nothing(run, source):
        functions = _describe_functions(own)
        calls = _prefix_verb(_CALLS[manner], functions) if functions else []
    if asks and calls == [f"  {_CALLS[manner]} nothing"]:
        calls = []
    lines = [whose, calls, asks, _describe_variables(run, manner)]
    return [line for line in lines if line]


def list_asked(run: Run, source: bytes, own: Own) -> list[str]:
    """Models, servers and agents that the run asks; none where a simulation answers for them."""
    if _is_simulated(run.platform) and own.platform is None:
        return []
    return list_stored_services(source, own.parts, script=_find_script(run.platform))


def list_asked_by_looking(run: Run, source: bytes) -> list[str]:
    """The same for a command that lends nothing: whoever goes on with the run may lend a model or a
    server by `--host`, and then the key that is named is not needed.
    """
    return [
        f"{one}, unless --host lends it" if one.startswith(("model ", "MCP server ")) else one
        for one in list_asked(run, source, Own())
    ]


def tell_services(terminal: Terminal, flow: Flow, own: Own) -> None:
    """Tell whom a run that begins will ask, beside its platform."""
    platform = flow.platform.describe()
    services = (
        []
        if _is_simulated(platform)
        else list_services(flow.ir, own.parts, script=_find_script(platform))
    )
    if services:
        pieces = _prefix_verb(_ASKS["done"], _join_services(services))
        terminal.say(Pieces([Text(piece) for piece in pieces], between=" "))


def is_code_of_host(source: bytes) -> bool:
    """Whether a stored flow is a hand-written graph, of whose functions nobody here knows what they
    call; source: as in `tell_what_is_used`.
    """
    from cinatra_sdk.errors import StoreError
    from cinatra_sdk.store.flows.flow_protocol import OAS, split_source

    try:
        kind, header = split_source(source)
    except StoreError:
        return True
    return kind != OAS and "plan" not in header


def is_simulated_for_nothing(run: Run, source: bytes) -> bool:
    """Whether the platform of a run is simulated and its flow makes no call that this could matter
    to; source: as in `tell_what_is_used`.
    """
    return run.platform.get("kind") == "simulated" and not stored_flow_asks_platform(source)


def _join_services(services: Sequence[str]) -> list[str]:
    """The services as pieces of a line."""
    return [*(f"{one};" for one in services[:-1]), services[-1]]


def _is_simulated(platform: Mapping[str, Any]) -> bool:
    beyond = platform.get("beyond")
    part = beyond if isinstance(beyond, Mapping) else platform
    return part.get("kind") == "simulated"


def _describe_calls(run: Run, own: Own, manner: Manner, *, acts: bool) -> list[str]:
    """acts: whether the run's graph is code of its host."""
    verb = _CALLS[manner]
    if manner == "rejected":
        return [f"  {verb} nothing: the run is rejected"]
    lent = _describe_functions(own)
    told = _describe_platform(run, own, manner, acts=acts)
    if not lent:
        return told
    if told == [f"  {verb} nothing"]:
        return _prefix_verb(verb, lent)
    return [*told[:-1], f"{told[-1]},", *(f"and {one}" for one in lent)]


def _describe_functions(own: Own) -> list[str]:
    return ["the functions that --host lends"] if own.parts and own.parts.tools else []


def _describe_platform(run: Run, own: Own, manner: Manner, *, acts: bool) -> list[str]:
    verb = _CALLS[manner]
    if own.platform is not None:
        return _prefix_verb(verb, _describe_own_platform(own.platform.describe()))
    platform = run.platform
    if platform.get("kind") != "local":
        return _prefix_verb(verb, addresses(platform, own, manner, acts=acts))
    fills, beyond = "  fills context slots from this database", platform.get("beyond")
    if not isinstance(beyond, Mapping):
        return [fills]
    pieces = addresses(beyond, own, manner)
    if beyond.get("kind") == "routed":  # its pieces begin with a verb
        return [f"{fills};", *pieces]
    return [f"{fills};", *_prefix_verb(verb, pieces, indent="")]


def _describe_own_platform(described: Mapping[str, Any]) -> list[str]:
    """The addresses of the platform that `--host` lends: who wrote it knows its credentials."""
    listed = [described.get("base_url"), *_read_text_list(described.get("allow"))]
    named = [str(address) for address in listed if address]
    return _join_with_commas([*named, "by the platform of --host"])


def _prefix_verb(verb: str, pieces: Sequence[str], indent: str = "  ") -> list[str]:
    return [f"{indent}{verb} {pieces[0]}", *pieces[1:]]


def _find_script(platform: object) -> str:
    """The script that answers in place of a flow's own models; empty: there is none."""
    while isinstance(platform, Mapping):
        names = _read_text_list(platform.get("models"))
        script = next((one for one in names if one.startswith("scripted:")), "")
        if script:
            return script
        platform = platform.get("beyond")
    return ""


def _describe_models(platform: Mapping[str, Any]) -> str:
    names = ", ".join(_read_text_list(platform.get("models")))
    return f"asks {names or 'no language model'}" + (
        "" if platform.get("beyond") is None else "; calls another platform, too"
    )


def addresses(
    platform: Mapping[str, Any], own: Own, manner: Manner, *, acts: bool = False
) -> list[str]:
    """The addresses that a platform calls, in pieces of a line; `platform` is its description.

    acts: whether the run's graph is code of its host, which acts whatever platform there is.
    """
    if acts and _is_simulated(platform):
        return ["what its own code calls:", "it is a graph of the host, and that code really acts"]
    kind = platform.get("kind")
    if kind == "local":
        beyond = platform.get("beyond")
        here = "this database, to fill context slots"
        if not isinstance(beyond, Mapping) or beyond.get("kind") == "simulated":
            return [here if beyond is None else f"{here}; its platform is simulated"]
        return [f"{here};", *addresses(beyond, own, manner)]
    if kind == "routed":
        return [_describe_models(platform)]
    if kind != "http":
        return ["no address: its platform is simulated" if kind == "simulated" else "what its host made of it"]  # fmt: skip
    others = _read_text_list(platform.get("allow"))
    if platform.get("base_url", "") is None:  # it calls listed addresses only
        others += [one for one in own.allowed or () if one not in others]
        return (
            [*_join_with_commas(others), "without the platform's credentials"]
            if others
            else ["nothing"]
        )
    base_url = str(platform.get("base_url") or own.settings.get(BASE_URL, ""))
    told = [base_url, *_describe_credentials(platform, base_url, own, manner)]
    others += [one for one in own.allowed or () if one not in (base_url, *others)]
    if others:
        told[-1] += ";"
        told += _join_with_commas([f"also {others[0]}", *others[1:]])
    return [clean(piece) for piece in told]


def _read_text_list(listed: object) -> list[str]:
    """A list of texts from a row; empty where the row holds any other value."""
    return [str(item) for item in listed] if isinstance(listed, list) else []


def _join_with_commas(addresses: Sequence[str]) -> list[str]:
    """The pieces, with a comma after each but the last."""
    return [*(clean(f"{one},") for one in addresses[:-1]), *map(clean, addresses[-1:])]


def _describe_credentials(
    platform: Mapping[str, Any], base_url: str, own: Own, manner: Manner
) -> list[str]:
    """The names of the credentials that are sent to an address."""
    from cinatra_sdk.outside.http_calls.description import is_named, is_own

    is_mine = is_own(base_url, own.settings)
    strange = "an address that this process has not named"
    try:
        named = is_mine or is_named(base_url, own.settings)
    except ValueError:
        named = False  # not an address: continuing the run reports it
    if manner == "refused":
        return [] if named else [f"({strange})"]
    if not is_mine:
        return ["without credentials"] if named else ["without credentials,", strange]
    held = [RUN_TOKEN] if os.environ.get(RUN_TOKEN) else []
    held += _read_text_list(platform.get("needs"))
    return [f"with {', '.join(held)}"] if held else ["without credentials"]


def _describe_variables(run: Run, manner: Manner) -> list[str]:
    verb = _READS[manner]
    names = [] if manner == "rejected" else sorted(clean(name) for name in run.variables)
    if not names:
        return [f"  {verb} no variable"]
    listed = [f"{name}," for name in names[:-1]]
    return [*_prefix_verb(verb, [*listed, names[-1]]), "of this process"]
