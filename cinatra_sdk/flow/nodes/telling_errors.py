"""A node whose failure is no failure of its run, but a text that it puts out.

    the tool raises ValueError: no such id   ->  {"found": "node 'look': tool 'look' raised ValueError: …"}

What counts as a failure is what a CatchExceptionNode catches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.failures import FAILURES, is_failure
from cinatra_sdk.flow.frame import Frame

State = Mapping[str, Any]


def make_telling(frame: Frame, body: NodeBody, *, output: str) -> NodeBody:
    """`body`, whose failures are told; output: the one output of the node."""

    def tell(state: State, error: Exception) -> Any:
        if not is_failure(error):
            raise error
        return frame.finish(state, {output: str(error)})

    def run(state: State, runtime: object) -> Any:
        try:
            return body.run(state, runtime)
        except FAILURES as error:
            return tell(state, error)

    async def arun(state: State, runtime: object) -> Any:
        try:
            return (
                body.run(state, runtime) if body.arun is None else await body.arun(state, runtime)
            )
        except FAILURES as error:
            return tell(state, error)

    return replace(body, run=run, arun=arun)
