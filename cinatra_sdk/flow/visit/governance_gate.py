"""A node of a governed flow: rules judge its calls, and a person decides where a rule asks for a gate.

    calls → a rule asks for a gate → asks → approved → calls, with exactly what was shown

The node begins as any other.  Where the door says that a person has to approve the call (`GateNeeded`),
the node passes the turn to itself and asks, in a superstep of its own.  After the answer it begins again,
and the door compares the call with the hash that the person approved.  A rejection ends the run, and a
denial leaves the call out, as at every gate before a call (`flow/visit/confirmation.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol

from pydantic import JsonValue

from cinatra_sdk.context.candidates import MOST_ALONE, MOST_ASKED
from cinatra_sdk.contract import CALL_STEP, FALLBACK_RENDERER
from cinatra_sdk.flow.plan.channel_names import DECISIONS, MESSAGES, channel_of
from cinatra_sdk.flow.plan.frame import SHOWN, Frame, NodeBody, effect_of
from cinatra_sdk.flow.visit.confirmation import (
    DENIED,
    EDITED,
    GATE_READS,
    decision_record,
    describe_denial,
    rejection,
    say_denied,
)
from cinatra_sdk.flow.visit.talk import Asked, discuss, has_open_call
from cinatra_sdk.gates.forms.approval_forms import CONFIRMATION_SCHEMA, ConfirmationForm
from cinatra_sdk.gates.gate import gate_id
from cinatra_sdk.gates.hitl import Outcome, Question, build_hitl_gate
from cinatra_sdk.langgraph_threads.state_channels import seal
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.effect import Effect
from cinatra_sdk.outside.effects.permits import GateNeeded, Governor, governed_by

State = Mapping[str, Any]
ASKING: Final = "asking"
"""Of a record by which a node passes the turn to itself: what a person is asked now."""
PASSED: Final = "passed"
"""Of such a record: the gates that persons have passed for this visit."""


class FlowRules(Protocol):
    """The rules of a governed flow; safe to share between threads and runs."""

    def make_governor(
        self,
        state: State,
        frame: Frame,
        passed: Sequence[Mapping[str, Any]],
        *,
        inputs: Mapping[str, Any],
    ) -> Governor:
        """The rules of one visit of a node.

        inputs: of the flow in which the node stands, which conditions read as `context`.
        passed: the gates that persons have passed: `{"gate", "snapshot_hash", "by"}`.
        """
        ...

    def describe_gate(self, state: State, gate: str) -> dict[str, JsonValue]:
        """What a person is told of a gate besides the call: its description, the role that it asks for."""
        ...

    def give_back(self, state: State, asked: Mapping[str, Any]) -> None:
        """The budget that was held for the call which a person was asked about: they said no."""
        ...

    def find_approver_problem(self, state: State, gate: str, person: str) -> str:
        """Why the person may not pass the gate; empty where they may."""
        ...


def make_ruled(site: Any, body: NodeBody, rules: FlowRules) -> NodeBody:
    """`body` under the rules; site: of the node."""
    frame: Frame = site.frame
    ruled = _Ruled(frame, body, rules, channel_of(site.flow.start))
    gate = build_hitl_gate(
        step_number=CALL_STEP,
        node=frame.id,
        name=site.plan.name or frame.id,
        risk_class=frame.risk or "read_only",
        always=True,
        ask=ruled.ask,
        write=ruled.write,
    )

    def run(state: State, *rest: Any) -> Any:
        if ruled.read_asked(state) is not None:
            return gate(state)
        try:
            with governed_by(ruled.make_governor(state)):
                ruled.examine_whole(state)
                made = body.run(state, *rest)
        except GateNeeded as needed:
            return ruled.pass_to_person(state, needed)
        return made

    async def arun(state: State, *rest: Any) -> Any:
        if ruled.read_asked(state) is not None:
            return gate(state)
        try:
            with governed_by(ruled.make_governor(state)):
                ruled.examine_whole(state)
                made = (
                    body.run(state, *rest) if body.arun is None else await body.arun(state, *rest)
                )
        except GateNeeded as needed:
            return ruled.pass_to_person(state, needed)
        return made

    start = channel_of(site.flow.start)
    reads = tuple(dict.fromkeys((*body.reads, *GATE_READS, start)))
    return replace(
        body, run=run, arun=arun, reads=reads, chooses=True, computes=False, in_process=False
    )


def describe_call(asked: Mapping[str, Any]) -> dict[str, JsonValue]:
    """What a person sees of a call: itself, what it rests on, and the hash of both."""
    note: dict[str, JsonValue] = {"note": asked["note"]} if asked.get("note") else {}
    return {
        "call": asked["capability"],
        "arguments": asked["arguments"],
        "approval_gate": asked["gate"],
        "approval_mode": asked["mode"],
        "evidence": asked["evidence"],
        "evidence_snapshot_hash": asked["snapshot_hash"],
        **note,
    }


@dataclass(frozen=True, slots=True)
class _Ruled:
    frame: Frame
    body: NodeBody
    rules: FlowRules
    start: str
    """State key of what the flow was given."""

    def read_asked(self, state: State) -> Mapping[str, Any] | None:
        """What a person is to be asked now; None: nothing."""
        record = self._read_own(state)
        asked: Mapping[str, Any] | None = record.get(ASKING)
        return asked

    def make_governor(self, state: State) -> Governor:
        record = state.get(self.start) or {}
        return self.rules.make_governor(
            state,
            self.frame,
            self._read_own(state).get(PASSED) or [],
            inputs=record.get("out") or {},
        )

    def examine_whole(self, state: State) -> None:
        """A node that acts without the door is one effect as a whole."""
        if self.body.performs or not self.body.acts:
            return
        governor = self.make_governor(state)
        effect: Effect = governor.examine(effect_of(self.frame, state))
        governor.redeem(effect)

    def pass_to_person(self, state: State, needed: GateNeeded) -> Any:
        return self._go_on(state, {ASKING: needed.asked})

    def ask(self, state: State) -> Question:
        asked = self.read_asked(state)
        assert asked is not None  # otherwise the node acts
        visit = self.frame.visit(state)
        gate = str(asked["gate"])
        values = describe_call(asked) | self.rules.describe_gate(state, gate)
        # Each question of a visit has an id of its own: another gate, or another person asked.
        times = f":{asked['times']}" if asked.get("times") else ""
        return Question(
            values=values,
            form=ConfirmationForm(output=self.frame.id, call=str(asked["capability"])),
            schema=CONFIRMATION_SCHEMA,
            renderer=FALLBACK_RENDERER,
            gate_id=f"{gate_id(state, self.frame.id, visit)}:{gate}{times}",
            visit=visit,
            # As the packs have it: the class that the author wrote may be a lesser one.
            risk=str(asked["mode"]),
        )

    def write(self, state: State, outcome: Outcome) -> Any:
        frame, asked = self.frame, self.read_asked(state)
        assert asked is not None  # see `ask`
        decided = decision_record(frame, state, CALL_STEP, outcome)
        question = Asked(text=f"Call {asked['capability']}", implied=True)
        if not outcome.approved:
            self.rules.give_back(state, asked)
        is_told = outcome.denied and has_open_call(state[MESSAGES])
        talk = {} if is_told else discuss(frame, state, question, outcome)
        more = {DECISIONS: seal([decided]), **talk}
        if outcome.denied:
            update = frame.finish(state, say_denied(frame, outcome), more=more)
            update[frame.channel][DENIED] = describe_denial(outcome)
            return update
        if not outcome.approved:
            return rejection(frame, state, outcome, decided, talk)
        gate = str(asked["gate"])
        problem = self.rules.find_approver_problem(state, gate, outcome.by)
        if problem:
            again = {**asked, "note": problem, "times": int(asked.get("times") or 0) + 1}
            return self._go_on(state, {ASKING: again}, more)
        passed = {"gate": gate, "snapshot_hash": asked["snapshot_hash"], "by": outcome.by}
        kept = [*(self._read_own(state).get(PASSED) or []), passed]
        return self._go_on(state, {PASSED: kept}, more)

    def _go_on(
        self, state: State, record: Mapping[str, Any], more: Mapping[str, Any] | None = None
    ) -> Any:
        """Pass the turn to this node itself, within the same visit."""
        own = self._read_own(state)
        kept = {key: own[key] for key in (SHOWN, EDITED, PASSED) if key in own}
        visits = {"visits": self.frame.visit(state) - 1}
        return self.frame.go_on(state, {**kept, **visits, **record}, more or {})

    def _read_own(self, state: State) -> Mapping[str, Any]:
        """The record by which the node passed the turn to itself; empty where it did not."""
        record = state.get(self.frame.channel)
        if record is None or record["next"] != self.frame.id:
            return {}
        found: Mapping[str, Any] = record if record["seq"] == state["cursor"]["seq"] else {}
        return found


# ----------------------------------------------------------------------------
# Sends a choice that cannot be recorded any more back to the node that resolved its slot.
#
#     resolve → gate → finalize      refused: the artifact was deleted after the decision
#             → resolve → gate#2     asked again, about what there is now; both decisions stay
#
# An autonomous slot resolves again without a person, a few times; then its error is the run's.


REFUSED: Final = "refused"
"""Member of a finalize's record: why it went back, and what had been chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WayBack:
    """From a finalize to the node that resolved its slot."""

    resolve: str
    gates: frozenset[str]
    """The gates between the two: where a person chose."""

    @property
    def most(self) -> int:
        return MOST_ASKED if self.gates else MOST_ALONE
