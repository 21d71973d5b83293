from __future__ import annotations

from tests.checks.context.slot_samples import SLOT, selecting, slotted
from tests.checks.rule_case import findings, found
from tests.flows import api, port

CODE = "OAS165"
VOICE = {**SLOT, "slotId": "voice"}
NAMES = ("contextSlotBindings", "brandContextSlotBindings", "voiceContextSlotBindings")


def fed(brand, voice, slots=(SLOT, VOICE)):
    write = api("write", inputs=[port(name, "array", default=[]) for name in NAMES])
    edges = [
        ("context_brand", "contextSlotBindings", "write", brand),
        ("context_voice", "contextSlotBindings", "write", voice),
    ]
    nodes = (selecting("context_brand"), selecting("context_voice"), write)
    return slotted(*nodes, slots=slots, edges=edges)


def test_two_slots_do_not_feed_one_input():
    (finding,) = findings(fed("contextSlotBindings", "contextSlotBindings"), CODE)
    assert finding.pointer == "/data_flow_connections/1"
    assert finding.message == (
        'write.contextSlotBindings takes the context slot "voice" and "brand" too: '
        "only one of them arrives"
    )
    assert '"voiceContextSlotBindings"' in finding.hint
    assert found(fed("brandContextSlotBindings", "voiceContextSlotBindings"), CODE) == []


def test_one_slot_may_feed_one_input_by_two_edges():
    flow = fed("contextSlotBindings", "voiceContextSlotBindings")
    edges = flow["data_flow_connections"]
    edges.append({**edges[0], "name": "again", "source_output": "contextRefs"})
    assert found(flow, CODE) == []
