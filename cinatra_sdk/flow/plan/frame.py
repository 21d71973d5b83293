"""The common part of every node of a flow: checks the turn, gathers inputs, writes outputs.

In: the surroundings of one node.  Out: a `Frame`, which the function of the node (`NodeBody`) uses:

    if not frame.has_turn(state): return {}
    values = frame.gather(state)
    …the work of this node…
    return frame.finish(state, out)

A node does nothing unless the cursor names it (`cinatra_sdk.langgraph_threads.state_channels.Turn`) and the sealed
record of the node before agrees.  This rule stops all later nodes after a rejection, and makes jumps
into a flow harmless.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from langgraph.types import Command
from pydantic import JsonValue

from cinatra_sdk import contract
from cinatra_sdk.data.author_json import Json
from cinatra_sdk.data.json_values import check_value
from cinatra_sdk.data.ports import TypedPort
from cinatra_sdk.errors import FlowChanged, LimitExceeded, NodeFailed
from cinatra_sdk.flow.plan.casts import CastError
from cinatra_sdk.flow.plan.channel_names import CURSOR, node_name
from cinatra_sdk.gates.gate import label
from cinatra_sdk.langgraph_threads.host_context import Effects
from cinatra_sdk.langgraph_threads.state_channels import SEALED, has_ended, seal
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.effect import Effect, EffectKind

SEEN = "seen"
"""Of a record: the checkpoint up to which a node that acted has looked for forks; also the name under
which a node's own look goes with the state that its body is given."""
SHOWN = "shown"
"""Of a record by which a node passes the turn to itself: hash of the effect that a person approved."""
ENDED = "ended"
"""Of such a record: the `seq` of the visit that its outputs are of."""
MISSING: Any = object()
_NO_MORE: Mapping[str, Any] = MappingProxyType({})


def pin_of(digest: str, around: tuple[str, ...]) -> str:
    """What a run's identity holds for the nodes of one level to compare: file, layout, FlowNodes around.

    The level, because a client that runs the outer graph in the namespace of a subflow finds the
    turn of the subflow's node there, and may have a node of that name outside.
    """
    return f"{digest}/{contract.LAYOUT}/{'/'.join(around)}"


def with_seen(state: Mapping[str, Any], seen: str) -> Mapping[str, Any]:
    """The state with what was looked at now, for the node's own record."""
    return {**state, SEEN: seen} if seen else state


@dataclass(frozen=True, slots=True)
class InputSource:
    """One data edge into an input."""

    channel: str
    output: str
    cast: Callable[[Any], Any] | None
    edge: str
    """`node.output`, for errors."""


@dataclass(frozen=True, slots=True)
class InputPlan:
    """The sources of one input of a node."""

    title: str
    sources: tuple[InputSource, ...]
    default: Json | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The surroundings of one node."""

    id: str
    """The node's id, as its author wrote it."""
    path: tuple[str, ...]
    """Ids of the nodes around it, from the outermost on, then its own."""
    channel: str
    inputs: tuple[InputPlan, ...]
    before: tuple[str, ...]
    """State keys of the nodes that can pass the turn to it."""
    routes: Mapping[str, str]
    """branch → id of the next node."""
    branches: tuple[str, ...]
    """Its ways out; empty for the end of a flow."""
    outputs: tuple[TypedPort, ...]
    kind: str = ""
    """The kind of the node, for whoever is told of its effects: `ApiNode`."""
    risk: str = ""
    """The risk class of its effects, as the author gave it."""
    once: bool = False
    """Whether its effects happen at most once; else they are tried again under one key."""
    max_steps: int
    pin: str
    """Which runs are its own: see `pin_of`."""
    where: str
    """The path as text, for errors."""
    output_where: str
    """What `check_value` calls the node's output."""
    effects: Effects
    """Where the graph lets its nodes act."""

    def failed(self, message: str, *, hint: str = "") -> NodeFailed:
        """An error of this node, naming it."""
        return NodeFailed(
            f"node '{self.where}': {message}", node=self.id, path=self.where, hint=hint
        )

    def channels(self) -> list[str]:
        """State keys that `has_turn`, `gather`, `visit` and `finish` read."""
        sources = (source.channel for plan in self.inputs for source in plan.sources)
        return ["run", self.channel, *self.before, *sources]

    def has_turn(self, state: Mapping[str, Any]) -> bool:
        """Whether this node has the turn.

        Raises: `LimitExceeded` when the run has taken more steps than any sane flow; `FlowChanged`
        when it is a run of another flow, on the same thread.
        """
        cursor = state.get(CURSOR)
        if cursor is None or cursor["next"] != self.id:
            return False
        if self._find_passing_record(state) is None:
            return False
        self.require_own_run(state)
        self.require_steps_left(state)
        return True

    def require_steps_left(self, state: Mapping[str, Any]) -> None:
        """Raise `LimitExceeded` when the run has taken more steps than any sane flow."""
        if state[CURSOR]["seq"] >= self.max_steps:
            raise LimitExceeded(
                f"node '{self.where}': the run has taken {self.max_steps} steps without an end",
                node=self.id,
                path=self.where,
                hint="a loop has no way out",
            )

    def _find_passing_record(self, state: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The record of the step that passed the turn here; None where none has, or it was taken.

        A checkpoint holds the cursor as plain text, which another graph on the thread may have
        written, where it has a key of that name; records are sealed.
        """
        seq, own = state[CURSOR]["seq"], state.get(self.channel)
        if own is not None and own["seq"] > seq:
            return None
        for channel in self.before:
            record: Mapping[str, Any] | None = state.get(channel)
            if record is not None and record["seq"] == seq:
                return record if record["next"] == self.id else None
        return None

    def seen_before(self, state: Mapping[str, Any]) -> str:
        """Up to which checkpoint a node that acted before has looked for forks; empty: none has."""
        passed = self._find_passing_record(state)
        return "" if passed is None else str(passed.get(SEEN, ""))

    def require_own_run(self, state: Mapping[str, Any]) -> None:
        """Raise `FlowChanged` unless the run was begun by this flow, in this layout and at this level."""
        run = state.get("run") or {}
        if run.get("pin") == self.pin:
            return
        begun = f"digest {run['digest'][:12]}…" if run.get("digest") else "no digest"
        raise FlowChanged(
            f"node '{self.where}' runs on a thread that another flow began, another version of it, "
            f"or another level ({begun}, this is {self.pin[:12]}…)",
            hint="go on with the flow that began it, or start a new thread",
        )

    def visit(self, state: Mapping[str, Any]) -> int:
        """The number of the running visit of this node, from 1."""
        record = state.get(self.channel)
        return 1 if record is None else record["visits"] + 1

    def shown(self, state: Mapping[str, Any]) -> str:
        """Hash of the effect that a person approved for this visit; empty where nobody was asked."""
        record = state.get(self.channel)
        if record is None or record["next"] != self.id or record["seq"] != state[CURSOR]["seq"]:
            return ""
        return str(record.get(SHOWN, ""))

    def place(self, state: Mapping[str, Any]) -> str:
        """Its path as events have it: with the visits and items of the nodes around it."""
        scope = (state.get("run") or {}).get("scope", "")
        own = label(self.id, 1)
        return f"{scope}/{own}" if scope else own

    def gather(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """The value of every input: of the source that ran last, else the default.

        Raises: `NodeFailed` naming the input that has neither.
        """
        values = {}
        for plan in self.inputs:
            value = self.look_up(plan, state)
            if value is MISSING:
                fed = ", ".join(source.edge for source in plan.sources) or "nothing"
                raise self.failed(
                    f"input '{plan.title}' has no value: it is fed by {fed} and has no default",
                    hint="give it a default, or start the run with that input",
                )
            values[plan.title] = value
        return values

    def look_up(self, plan: InputPlan, state: Mapping[str, Any]) -> Any:
        """The value of one input, or `MISSING`."""
        newest = -1
        found: InputSource | None = None
        value: Any = MISSING
        for source in plan.sources:
            record = state.get(source.channel)
            if record is None or source.output not in record["out"]:
                continue
            ended = record.get(ENDED, record["seq"])
            if ended > newest:
                newest, found, value = ended, source, record["out"][source.output]
        if found is None:
            return plan.default.value() if plan.default is not None else MISSING
        if found.cast is None:
            return value
        try:
            return found.cast(value)
        except CastError as error:
            raise self.failed(f"input '{plan.title}' from {found.edge}: {error}") from None

    def finish(
        self,
        state: Mapping[str, Any],
        out: Mapping[str, Any],
        *,
        branch: str = "next",
        more: Mapping[str, Any] = _NO_MORE,
    ) -> dict[str, Any]:
        """The update that ends this visit and passes the turn along `branch`; `more` goes with it.

        Raises: `NodeFailed` for a branch that the node does not have; `ValueRefused`.
        """
        check_value(out, where=self.output_where)
        following = self.routes.get(branch)
        if following is None and self.branches and branch not in self.branches:
            raise self.failed(
                f'it leaves by the branch "{branch}", and its branches are '
                + ", ".join(f'"{name}"' for name in self.branches),
                hint="finish(…, branch=…) takes one of them",
            )
        return self.pass_turn(state, {"out": out}, following, more)

    def pass_turn(
        self,
        state: Mapping[str, Any],
        record: Mapping[str, Any],
        following: str | None,
        more: Mapping[str, Any] = _NO_MORE,
    ) -> dict[str, Any]:
        """As `finish`, with the whole record and the next node given; None ends the run."""
        turn = {"seq": state[CURSOR]["seq"] + 1, "next": following}
        seen = state.get(SEEN) or self.seen_before(state)
        about = {**turn, "visits": self.visit(state), **({SEEN: seen} if seen else {})}
        return {self.channel: {**about, **record, **SEALED}, CURSOR: seal(turn), **more}

    def go_on(
        self,
        state: Mapping[str, Any],
        record: Mapping[str, Any],
        more: Mapping[str, Any] = _NO_MORE,
    ) -> dict[str, Any]:
        """The update that passes the turn to this node itself.  Its outputs stay those of the visit
        before: they may feed its own inputs.
        """
        own = state.get(self.channel)
        kept = (
            {"out": {}} if own is None else {"out": own["out"], ENDED: own.get(ENDED, own["seq"])}
        )
        return self.pass_turn(state, {**kept, **record}, self.id, more)

    def leave(self, update: dict[str, Any]) -> Command[Any]:
        """An update of `finish` or `pass_turn`, then straight to the node that has the turn next."""
        following = update[self.channel]["next"]
        goto = () if following is None else node_name(following)
        return Command(update=update, goto=goto)

    def effect_key(self, state: Mapping[str, Any]) -> str:
        """The idempotency key of this visit's effect: the same after a crash, never used twice."""
        run = state.get("run") or {}
        own = label(self.id, self.visit(state))
        text = "\n".join([run.get("tenant", ""), run.get("run_id", ""), run.get("scope", ""), own])
        return hashlib.sha256(text.encode()).hexdigest()


# ----------------------------------------------------------------------------
# What a node of a flow does outside of its run, as an effect.
#
# `effect_of(frame, state, kind="tool", capability="lookup", arguments={"id": 7})`


def effect_of(
    frame: Frame,
    state: Mapping[str, Any],
    *,
    kind: EffectKind = "tool",
    capability: str = "",
    arguments: JsonValue = None,
    secrets: tuple[str, ...] = (),
) -> Effect:
    """The effect of this visit of the node.

    capability: empty: the kind of the node, for a node that makes its effect by itself.
    """
    return Effect(
        kind=kind,
        capability=capability or frame.kind,
        node=frame.id,
        path=frame.where,
        place=frame.place(state),
        visit=frame.visit(state),
        arguments=arguments,
        risk=frame.risk,
        key=frame.effect_key(state),
        shown_sha256=frame.shown(state),
        once=frame.once,
        run_id=(state.get("run") or {}).get("run_id", ""),
        secrets=secrets,
    )


NodeFunction: TypeAlias = Callable[..., Any]
AsyncNodeFunction: TypeAlias = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeBody:
    """The function of one LangGraph node, and facts about it."""

    run: NodeFunction
    """`(state, runtime) -> update`."""
    arun: AsyncNodeFunction | None = None
    """The asynchronous form; None where the node only computes."""
    reads: tuple[str, ...] = ()
    """State keys that the node reads beyond its frame's."""
    takes_turns: bool = True
    """Whether it runs in its turn only; a StartNode decides for itself."""
    acts: bool = False
    """Whether it, or a node inside it, does something outside the run: the host is asked before."""
    performs: bool = False
    """Whether its function goes through `cinatra_sdk.outside.effects.perform` itself; else the host is asked
    before the function runs, and nothing of it can be replayed.
    """
    computes: bool = False
    """Whether it only computes, in little time: then it can run in another node's superstep."""
    in_process: bool = False
    """Whether all it does outside the run is to call a function of this process, once."""
    asks: bool = False
    """Whether it is a gate of `build_hitl_gate` itself, which reads its own answers."""
    contains: bool = False
    """Whether it runs flows; its function then takes `(state, config, runtime)`."""
    subgraph: Any = None
    """The one graph that it runs itself, for pictures and for whoever looks into its state."""
    chooses: bool = False
    """Whether it can go on elsewhere than its one branch leads: a gate that ends the run, for one.

    A node with other branches than `next` alone chooses in any case.
    """


# ----------------------------------------------------------------------------
# What a node's function returned, checked: an update that passes the turn on.
#
#     {"node.a": {"seq": 4, "next": "b", …}, "cursor": …}    ->  itself
#     None, {"length": 4}                                    ->  NodeFailed
#
# The outputs of a node that an installed package adds are compared with its declaration, too: nobody
# else tests its function.


Completion = Callable[[Mapping[str, Any], Any], Any]
CompareOutputs = Callable[[Frame, dict[str, Any]], None]
"""Compares the outputs in a node's record with its declaration; raises `NodeFailed`."""


def make_completion(frame: Frame, body: NodeBody, compare: CompareOutputs | None) -> Completion:
    """The function from a node's state and update to the same update, checked.

    It raises `NodeFailed` for an update that does not pass the turn on.
    """
    channel, takes_turns = frame.channel, body.takes_turns

    def complete(state: Mapping[str, Any], update: Any) -> Any:
        if type(update) is dict and CURSOR in update and channel in update:
            if compare is not None:
                compare(frame, update[channel])
            return update
        if isinstance(update, Command) or not takes_turns or has_ended(state):
            return update
        raise frame.failed(
            "its function returned no update of frame.finish",
            hint="end it with `return frame.finish(state, {…})`",
        )

    return complete
