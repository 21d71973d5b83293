"""Testing a flow: driven from start to end in memory, without a database and without a network.

    result = drive(flow, {"topic": "x"}, answers={"review_gate": False})     # or: await adrive(…)
    assert result.status == "rejected"
    assert [call.node for call in result.calls] == ["draft"]

The double is `cinatra_sdk.platform.SimulatedPlatform`; give `stubs` to choose its responses.

driving.py      `drive`, `adrive`, and the result of a driven run
answering.py    a test's answers, matched with gates;  recording.py  the calls
flows.py        the protocol of a flow that can be driven, and sampled inputs
uploads.py      a double of a provider's files
"""

from cinatra_sdk.testing.answering import AnswerLike, Answers
from cinatra_sdk.testing.driving import Result, adrive, drive
from cinatra_sdk.testing.flows import DrivableFlow, sampled_inputs, simulation
from cinatra_sdk.testing.uploads import RememberedUploads

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
