"""A small agent that Cinatra takes without a word; each test changes one thing of it.

flow = mail_agent()
about(flow)["type"] = "agent"
parts(flow)["write"]["data"].pop("agent_id")
"""

from __future__ import annotations

from typing import Any

from tests.flows import api, end, flow_node, flow_of, gate, node, port, start

Json = dict[str, Any]
PARTS = "/$referenced_components"
ABOUT = "/metadata/cinatra"


def bridge(id_: str, **data: Any) -> Json:
    """A call of the model bridge with the inputs topic and agent_run_id."""
    return api(
        id_,
        url="{{CINATRA_BASE_URL}}/api/llm-bridge",
        inputs=[port("topic"), port("agent_run_id")],
        outputs=[port("draft")],
        data={
            "agent_id": "mail-agent",
            "agent_run_id": "{{ agent_run_id }}",
            "user": "About {{ topic }}",
            **data,
        },
    )


def mail_agent(*more: Json, id_: str = "mail") -> Json:
    """start, write (a bridge call), review (a gate), then `more`, end."""
    return flow_of(
        start(
            port("topic"),
            port("cinatra_run_id", default=""),
            required=["topic"],
            hidden=["cinatra_run_id"],
        ),
        bridge("write"),
        gate("review"),
        *more,
        end(port("draft")),
        edges=[
            ("start", "topic", "write", "topic"),
            ("start", "cinatra_run_id", "write", "agent_run_id"),
            ("write", "draft", "end", "draft"),
        ],
        id_=id_,
    )


def around(flow: Json, *more: Json) -> Json:
    """A flow that runs `flow` as the subflow `mail`; its components stand below INNER."""
    inputs = [port("topic"), port("cinatra_run_id", default="")]
    return flow_of(
        start(*inputs, required=["topic"], hidden=["cinatra_run_id"]),
        flow_node("sub", flow),
        *more,
        end(port("draft")),
        edges=[
            ("start", "topic", "sub", "topic"),
            ("start", "cinatra_run_id", "sub", "cinatra_run_id"),
            ("sub", "draft", "end", "draft"),
        ],
        id_="outer",
    )


INNER = f"{PARTS}/mail"
"""Pointer of the subflow in `around(mail_agent())`."""


def about(flow: Json) -> Json:
    """`metadata.cinatra` of a flow or node."""
    cinatra: Json = flow["metadata"]["cinatra"]
    return cinatra


def parts(flow: Json) -> Json:
    """The components of a flow by their ids."""
    components: Json = flow["$referenced_components"]
    return components


def agent_node(id_: str = "helper", **cinatra: Any) -> Json:
    """An AgentNode; the compiler does not run one yet, the rules look at it all the same."""
    return node("AgentNode", id_, agent={"component_type": "Agent", "name": "x"}, cinatra=cinatra)
