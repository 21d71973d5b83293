"""A process that runs a flow of one call on a simulated platform and records the call.

python -m tests.attacks.recording FLOW RECORD     ends with 0 where the run completed
"""

from __future__ import annotations

import sys

from cinatra_sdk import SimulatedPlatform
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow


def run() -> None:
    source, record = sys.argv[1:]
    flow = compile_flow(source, platform=SimulatedPlatform(record=record))
    came = drive(flow, platform=flow.platform)
    print(came)
    sys.exit(came.status != "completed")


if __name__ == "__main__":
    run()
