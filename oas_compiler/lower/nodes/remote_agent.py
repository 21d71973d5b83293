"""The node that speaks to an A2AAgent: its settings; what it does is in `cinatra_sdk.a2a`."""

from __future__ import annotations

from typing import Any

from cinatra_sdk.a2a.node import ASK, RemoteAgentSettings, make_remote_agent
from cinatra_sdk.a2a.remote import RemoteAgent
from cinatra_sdk.flow.body import NodeBody
from oas_compiler.ir import RemoteAgentNode
from oas_compiler.lower.lent_secrets import lend_secrets, list_secret_texts
from oas_compiler.lower.nodes.llm import find_simulation, make_allowance
from oas_compiler.lower.registry import LoweringSite, Wiring
from oas_compiler.templates.reading import fill_environment


def lower_remote_agent(site: LoweringSite, node: RemoteAgentNode) -> NodeBody:
    host = site.wiring.host
    settings = RemoteAgentSettings(
        agent=_read_agent(node, site.wiring),
        may_call=make_allowance(site.wiring.platform, host.allow),
        simulation=find_simulation(site.wiring.platform),
        secrets=(*site.wiring.env.values(), *list_secret_texts(host.secrets)),
        results=node.results,
        message=node.message,
        may_ask=ASK in node.branches,
    )
    return make_remote_agent(site.frame, settings)


def _read_agent(node: RemoteAgentNode, wiring: Wiring) -> RemoteAgent:
    lent, env = wiring.host.secrets, wiring.env
    fields: Any = fill_environment(lend_secrets(node.settings.value(), lent), env)
    headers: Any = fill_environment(lend_secrets(node.headers.value(), lent), env)
    connection, session = fields["connection"], fields["session"]
    return RemoteAgent(
        id=node.id,
        name=node.name,
        url=str(fill_environment(node.url, env)),
        headers={name: str(value) for name, value in headers.items()},
        verify=connection.get("verify") is not False,
        key_file=connection.get("key_file") or "",
        cert_file=connection.get("cert_file") or "",
        ca_file=connection.get("ssl_ca_cert") or "",
        request_timeout=_read_seconds(connection.get("timeout"), 600.0),
        timeout=_read_seconds(session.get("timeout"), 60.0),
        poll_interval=_read_seconds(session.get("poll_interval"), 2.0),
        retries=int(_read_seconds(session.get("max_retries"), 5)),
    )


def _read_seconds(value: Any, usual: float) -> float:
    usable = isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
    return float(value) if usable else usual
