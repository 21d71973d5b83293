"""The events of a node for the host: started, finished, paused, failed; and which errors count as a failure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from langgraph.errors import GraphBubbleUp, GraphDrained, GraphInterrupt

from cinatra_sdk.errors import (
    ChildWaits,
    EffectDiffers,
    EffectRefused,
    EffectUnknown,
    FlowError,
    ForkRefused,
    InputInvalid,
    LimitExceeded,
    NodeFailed,
    ShownDiffers,
    ValueRefused,
)
from cinatra_sdk.events import RunEvent, Tell, tell_event, tell_node
from cinatra_sdk.flow.plan.channel_names import DECISIONS, MESSAGES
from cinatra_sdk.flow.plan.frame import Frame
from cinatra_sdk.langgraph_threads.host_context import context_of
from cinatra_sdk.langgraph_threads.list_channels import read_records, read_said
from cinatra_sdk.langgraph_threads.state_channels import unseal
from cinatra_sdk.outside.http_calls.protocol import PlatformError

State = Mapping[str, Any]


def find_listener(runtime: Any) -> Tell | None:
    """Who listens to the run's events; None without a listener."""
    return context_of(runtime.context).tell


class NodeTelling:
    """The events of one visit of a node."""

    __slots__ = ("_path", "_tell", "_visit")

    def __init__(self, tell: Tell, frame: Frame, state: State) -> None:
        self._tell = tell
        self._path = frame.place(state)
        self._visit = frame.visit(state)

    def started(self) -> None:
        tell_node(self._tell, "started", path=self._path, visit=self._visit)

    def finished(self, frame: Frame, update: Any) -> None:
        """update: of `Frame.finish` or `Frame.pass_turn`; anything else is a node without a turn."""
        if not isinstance(update, Mapping) or frame.channel not in update:
            return
        record = update[frame.channel]
        data: dict[str, Any] = {"next": record["next"]}
        if "branch" in record:
            data["branch"] = record["branch"]
        decided = unseal(update.get(DECISIONS))
        if isinstance(decided, list) and decided:
            data["decision"] = decided[-1]
        tell_node(self._tell, "finished", path=self._path, visit=self._visit, data=data)
        if "decision" in data and data["decision"].get("skipped"):
            self._tell_skip(data["decision"])
        for message in read_records(read_said(update.get(MESSAGES, []))):
            if message.get("path", self._path) == self._path:  # a node inside has told its own
                self._tell_message(message)

    def stopped(self, error: BaseException) -> None:
        """The node paused at a gate, or failed."""
        if isinstance(error, GraphInterrupt):
            tell_node(self._tell, "paused", path=self._path, visit=self._visit)
            return
        if isinstance(error, GraphDrained):
            return  # as after a crash: it begins again when the run goes on
        # The text of anybody else's error may quote the values of the run.
        is_ours = isinstance(error, (FlowError, PlatformError))
        said = str(error)[:2000] if is_ours else type(error).__name__
        data = {"error": said, "code": str(getattr(error, "code", "")) if is_ours else ""}
        tell_node(self._tell, "failed", path=self._path, visit=self._visit, data=data)

    def _tell_skip(self, decided: Mapping[str, Any]) -> None:
        """Nobody was asked: a store keeps that as a decision of the policy."""
        data = {key: decided[key] for key in ("gate", "node", "step")}
        event = RunEvent(
            kind="decision", name="auto_skipped", path=self._path, visit=decided["visit"], data=data
        )
        tell_event(self._tell, event)

    def _tell_message(self, message: Mapping[str, Any]) -> None:
        data = {key: message[key] for key in ("id", "role", "content") if key in message}
        event = RunEvent(kind="message", name="said", path=self._path, visit=self._visit, data=data)
        tell_event(self._tell, event)


# ----------------------------------------------------------------------------
# What counts as a failure of a flow inside a node, for a node that goes on after one.
#
# NodeFailed, PlatformError, …     ->  a failure
# a pause, a rejection, a stop     ->  none: it goes out of the node as out of any other
# EffectUnknown, ChildWaits, …     ->  none: the run must not go on by itself


FAILURES: Final = (NodeFailed, PlatformError, InputInvalid, ValueRefused)
"""Whatever `is_failure` is true of is one of these."""
_NO_FAILURES: Final = (
    ChildWaits, EffectDiffers, EffectRefused, EffectUnknown, ForkRefused, LimitExceeded, ShownDiffers,
    GraphBubbleUp,
)  # fmt: skip


def is_failure(error: BaseException) -> bool:
    """Whether a node that takes failures may go on after `error`."""
    return isinstance(error, FAILURES) and not isinstance(error, _NO_FAILURES)


def describe_failure(error: BaseException) -> str:
    """The node and the kind of a failure; its text may say more than its reader should know."""
    where = getattr(error, "path", "") or getattr(error, "node", "")
    code = getattr(error, "code", "") or "failed"
    return f"node '{where}' failed ({code})" if where else f"the flow failed ({code})"
