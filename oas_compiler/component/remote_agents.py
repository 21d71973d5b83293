"""An A2AAgent as a flow: the node that speaks to it, and the question of the agent to a person.

start → agent → end
          ↑ ↓ ask
        ask_user
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from oas_compiler import ir
from oas_compiler.component.agent import LoadedRemoteAgent
from oas_compiler.component.agent_words import ASK, END, START, TEXT
from oas_compiler.component.component import Component
from oas_compiler.component.site import Site
from oas_compiler.ir import DataEdge, FlowIR, Json, Port, Route, SealedJson

AGENT: Final = "agent"
BRANCH: Final = "ask"
_QUESTION: Final = "question"
_ANSWER: Final = "answer"
_KEPT: Final = ("timeout", "verify", "key_file", "cert_file", "ssl_ca_cert")


def build_remote_agent(
    site: Site,
    agent: LoadedRemoteAgent,
    *,
    inputs: tuple[Port, ...],
    results: tuple[Port, ...],
    message: str,
    asks: bool,
) -> FlowIR:
    """asks: whether a question of the agent goes to a person."""
    component = agent.shown
    place = site.place(component.pointer)
    question = Port(title=_QUESTION, type=ir.STRING, schema=TEXT, place=place)
    answer = Port(title=_ANSWER, type=ir.STRING, schema=TEXT, place=place)
    more = (replace(answer, default=Json.of("")),) if asks else ()
    node = ir.RemoteAgentNode(
        id=AGENT,
        name=component.name,
        inputs=(*inputs, *more),
        outputs=(*results, *((question,) if asks else ())),
        branches=(BRANCH, "next") if asks else ("next",),
        place=place,
        url=component.text("agent_url"),
        settings=_read_settings(component),
        headers=_read_headers(component),
        results=results,
        message=message,
    )
    asking = ir.ClientToolNode(
        id=ASK,
        name="Ask the user",
        inputs=(question,),
        outputs=(answer,),
        place=place,
        tool_name=ASK,
    )
    routes = [
        Route(source=START, branch="next", target=AGENT),
        Route(source=AGENT, branch="next", target=END),
    ]
    edges = [
        *(DataEdge(source=START, output=p.title, target=AGENT, input=p.title) for p in inputs),
        *(DataEdge(source=AGENT, output=p.title, target=END, input=p.title) for p in results),
    ]
    if asks:
        routes += [
            Route(source=AGENT, branch=BRANCH, target=ASK),
            Route(source=ASK, branch="next", target=AGENT),
        ]
        edges += [
            DataEdge(source=AGENT, output=_QUESTION, target=ASK, input=_QUESTION),
            DataEdge(source=ASK, output=_ANSWER, target=AGENT, input=_ANSWER),
        ]
    return FlowIR(
        id=component.id,
        name=component.name,
        description=component.text("description"),
        inputs=inputs,
        outputs=results,
        start=START,
        nodes=(
            ir.StartNode(id=START, name="Start", inputs=inputs, outputs=inputs, place=place),
            node,
            *((asking,) if asks else ()),
            ir.EndNode(
                id=END, name="End", inputs=results, outputs=results, branches=(), place=place
            ),
        ),
        routes=tuple(routes),
        data_edges=tuple(edges),
        place=place,
    )


def _read_settings(component: Component) -> Json:
    connection = component.mapping("connection_config")
    return Json.of(
        {
            "session": component.mapping("session_parameters"),
            "connection": {name: connection[name] for name in _KEPT if name in connection},
        }
    )


def _read_headers(component: Component) -> SealedJson:
    headers = component.mapping("connection_config").get("headers")
    return SealedJson(Json.of(headers if isinstance(headers, dict) else {}).text)
