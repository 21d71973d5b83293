"""The state after nodes that have run without the engine."""

from __future__ import annotations

from cinatra_sdk.flow.visit.fusion import StateAfter


def test_a_key_that_is_read_late_has_what_was_added_since() -> None:
    after = StateAfter({})
    after.added["messages"] = ["said in this superstep"]
    after.fill({"messages": ["said before"], "node.a": {"out": {"x": 1}}})
    assert after.state["messages"] == ["said before", "said in this superstep"]
    assert after.state["node.a"] == {"out": {"x": 1}}
    assert after.added["messages"] == ["said in this superstep"], "only these go to the engine"
