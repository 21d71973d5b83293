"""The words that both packages obey."""

from __future__ import annotations

import pytest

from cinatra_sdk.contract import ENDED, RUN_ID_INPUTS, TERMINAL, is_send_class


@pytest.mark.parametrize(
    "risk_class",
    ["email_send", "x_publish", "x_post", "x_delete", "send_external_message", "send", "delete"],
)
def test_a_class_that_acts_on_the_world_is_a_send(risk_class: str) -> None:
    assert is_send_class(risk_class)


@pytest.mark.parametrize(
    "risk_class", ["", "read_only", "approval", "sender", "_sent", "post_draft"]
)
def test_any_other_class_is_none(risk_class: str) -> None:
    assert not is_send_class(risk_class)


def test_a_failed_run_has_stopped_and_can_be_tried_again() -> None:
    assert set(TERMINAL) - set(ENDED) == {"failed"}
    assert RUN_ID_INPUTS == ("cinatra_run_id", "agent_run_id")
