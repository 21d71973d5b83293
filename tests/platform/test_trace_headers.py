"""The trace that a call belongs to, as the receiver sees it."""

from __future__ import annotations

from loopback_server import LoopbackServer

from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.outside.http_calls.call_headers import sending_trace
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from tests.flows import api, end, flow_of, port, start
from tests.governance.small_pack import make_small_pack
from tests.platform.conftest import MakeCall

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-b9c7c989f97918e1-01"
FLOW = flow_of(
    start(port("to")), api("send", data={"to": "{{to}}"}, inputs=[port("to")]), end(),
    edges=[("start", "to", "send", "to")],
)  # fmt: skip


def test_a_call_carries_the_trace_that_it_belongs_to(
    server: LoopbackServer, make_call: MakeCall
) -> None:
    with HttpPlatform(server.url) as platform:
        platform.call(make_call())
        with sending_trace({"traceparent": PARENT, "tracestate": "tenant=acme"}):
            platform.call(make_call())
            platform.call(make_call(headers={"TraceParent": "of the author"}))
        platform.call(make_call())
    seen = [(one.headers.get("traceparent"), one.headers.get("tracestate")) for one in server.seen]
    assert seen == [
        (None, None), (PARENT, "tenant=acme"), ("of the author", "tenant=acme"), (None, None),
    ]  # fmt: skip


def test_calls_of_a_governed_flow_have_spans_of_one_trace(server: LoopbackServer) -> None:
    with HttpPlatform(server.url) as platform:
        governed = compile_flow(
            FLOW, governance=Governance.of(make_small_pack()), platform=platform
        )
        for person in ("ann", "bob"):
            assert drive(governed, {"to": person}, platform=platform).status == "completed"
        assert drive(compile_flow(FLOW), {"to": "ann"}, platform=platform).status == "completed"
    spans = [one.headers.get("traceparent", "").split("-") for one in server.seen]
    assert len(spans[0]) == len(spans[1]) == 4
    assert spans[2] == [""], "the control: no pack, no trace"
