"""Testing a flow: driven from start to end in memory, without a database and without a network.

    result = drive(flow, {"topic": "x"}, answers={"review_gate": False})     # or: await adrive(…)
    assert result.status == "rejected"
    assert [call.node for call in result.calls] == ["draft"]

The double is `cinatra_sdk.outside.http_calls.SimulatedPlatform`; give `stubs` to choose its responses.

driver.py   `drive`, `adrive`, and their result; answers, matched with the gates that ask
doubles.py  the calls of a driven run; a double of a provider's files
"""

from cinatra_sdk.testing.doubles import RememberedUploads
from cinatra_sdk.testing.driver import (
    AnswerLike,
    Answers,
    DrivableFlow,
    Result,
    adrive,
    drive,
    sampled_inputs,
    simulation,
)

__all__ = [
    "AnswerLike",
    "Answers",
    "DrivableFlow",
    "RememberedUploads",
    "Result",
    "adrive",
    "drive",
    "sampled_inputs",
    "simulation",
]
