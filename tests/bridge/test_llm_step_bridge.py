"""`llm_step` of a hand-written graph, on a bridge in this process."""

from __future__ import annotations

from typing import Any

import pytest
from bridge_world import bridge_of, offered

from cinatra_sdk import host_context
from cinatra_sdk.blocks.platform_steps import llm_step
from cinatra_sdk.outside.effects.memory_ledgers import MemoryLedger
from cinatra_sdk.outside.models.model_scripts import ScriptedReply
from tests.blocks.block_samples import CONFIG, graph_of


def step(platform: Any) -> Any:
    outputs: Any = {"verdict": {"type": "string"}}
    return llm_step(
        platform, node="ask", agent_id="@x/a", user="Is {{ goal }} good?", outputs=outputs
    )


def test_a_step_gets_its_outputs_by_their_schema_and_counts_what_they_took() -> None:
    says = [ScriptedReply(text="Yes!", output_tokens=1), ScriptedReply(text='{"verdict": "yes"}', output_tokens=4)]  # fmt: skip
    model, double = offered("openai", "gpt-5-mini", says)
    ledger = MemoryLedger()
    found = graph_of(step(bridge_of(model))).invoke(
        {"goal": "bees"}, CONFIG,
        context=host_context(run_id="r1", ledger=ledger),
    )  # fmt: skip
    assert found["ask_output"] == {"verdict": "yes"}
    assert double.asked[0].text == "Is bees good?"
    (row,) = ledger.rows.values()
    assert '"output_tokens": 5, "model": "openai/gpt-5-mini"' in row.usage


def test_a_state_without_bearer_token_asks_no_model() -> None:
    model, double = offered("openai", "gpt-5-mini", ["never"])
    with pytest.raises(ValueError, match="the state has no key 'bearer_token'"):
        graph_of(step(bridge_of(model)), host=False).invoke({"goal": "bees"}, CONFIG)
    assert double.asked == []


def test_plain_words_reach_a_step_that_opens_an_envelope() -> None:
    model, double = offered("openai", "gpt-5-mini", ["{}", '{"text": "t"}'])
    asking = llm_step(
        bridge_of(model), node="ask", agent_id="@x/a", user="{{ goal }}",
        outputs={"text": {"type": "string"}}, options={"user_envelope": True},
    )  # fmt: skip
    found = graph_of(asking).invoke({"goal": "Fine."}, CONFIG, context=host_context(run_id="r1"))
    assert (found["ask_output"], double.asked[0].text) == ({"text": "t"}, "Fine.")
