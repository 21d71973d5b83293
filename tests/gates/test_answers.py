"""What a person may send to a gate of any kind."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.forms.approval_forms import TextForm

APPROVAL = TextForm(output="userResponse")


@pytest.mark.parametrize(
    "approved", ["true", 1, 0, "yes", None, [True], {"approved": True}, 1.0], ids=repr
)
def test_nothing_but_json_true_and_false_decides(approved: Any) -> None:
    with pytest.raises(AnswerInvalid, match="neither true nor false"):
        APPROVAL.read({"approved": approved})


@pytest.mark.parametrize("raw", [None, True, "approve", 1, [], [{"approved": True}]], ids=repr)
def test_an_answer_that_is_no_object_is_refused(raw: Any) -> None:
    with pytest.raises(AnswerInvalid, match="not an object"):
        APPROVAL.read(raw)


def test_an_answer_without_a_decision_is_refused() -> None:
    with pytest.raises(AnswerInvalid, match="'approved' is missing"):
        APPROVAL.read({"value": "x"})


def test_unknown_keys_are_refused_by_name() -> None:
    with pytest.raises(AnswerInvalid, match="unknown keys: goto"):
        APPROVAL.read({"approved": True, "goto": "send"})


@pytest.mark.parametrize("text", ["", 3, None, ["a"]], ids=repr)
def test_user_response_must_be_a_non_empty_string(text: Any) -> None:
    with pytest.raises(AnswerInvalid, match="userResponse"):
        APPROVAL.read({"approved": True, "userResponse": text})


def test_value_and_user_response_together_are_refused() -> None:
    with pytest.raises(AnswerInvalid, match="both"):
        APPROVAL.read({"approved": True, "userResponse": "a", "value": "b"})


def test_a_rejection_with_a_value_is_refused() -> None:
    with pytest.raises(AnswerInvalid, match="rejection carries no value"):
        APPROVAL.read({"approved": False, "value": "x"})


def test_a_rejection_keeps_who_and_why() -> None:
    answer = APPROVAL.read({"approved": False, "by": "ann", "reason": "wrong list"})
    assert (answer.approved, answer.by, answer.reason) == (False, "ann", "wrong list")


@pytest.mark.parametrize(
    "value",
    ["a\x00b", "\ud800", {"__overwrite__": 1}, {"type": "__overwrite__"}, float("nan"), 2**70],
)
def test_values_that_no_database_could_keep_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="the answer"):
        APPROVAL.read({"approved": True, "value": value})


def test_an_answer_over_the_limit_is_refused() -> None:
    with pytest.raises(AnswerInvalid, match="larger than 65536 bytes"):
        APPROVAL.read({"approved": True, "value": "x" * 70_000})
