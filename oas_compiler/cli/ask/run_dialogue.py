"""A run at the terminal: driven on, its gates shown and asked, until it ends or is left waiting.

In: a store, a flow, and the first action (`store.start`, `store.answer`, `store.resume`).
Out: the exit code for where the run stands.

    Drive(store, flow, run_id, terminal, answers="ask").go(lambda on_event: store.start(…))
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, Literal

from rich.control import Control
from rich.segment import ControlType
from rich.text import Text

from cinatra_sdk.api.run_json import make_run
from cinatra_sdk.contract import TERMINAL
from cinatra_sdk.errors import AnswerInvalid, ChoiceGone, GateClosed, ProcessEnding
from cinatra_sdk.events import split_path
from cinatra_sdk.flow.plan.plan import open_plans
from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.langgraph_threads.host_context import HostContext
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.runs import OnEvent, Run
from cinatra_sdk.store import RunStore
from cinatra_sdk.store.flows.flow_protocol import DurableFlow
from oas_compiler.cli.ask.gate_dialogue import Asker
from oas_compiler.cli.host.options import GivenOptions
from oas_compiler.cli.host.resources import artifact_names, host
from oas_compiler.cli.terminal.exits import Exit, error_document, exit_of
from oas_compiler.cli.terminal.keyboard import stopping_at_signals
from oas_compiler.cli.terminal.layout import Pieces
from oas_compiler.cli.terminal.printable_text import clean, cut, printed
from oas_compiler.cli.terminal.streams import Terminal
from oas_compiler.cli.view.run_view import outcome_view

if TYPE_CHECKING:
    from cinatra_sdk.events import RunEvent
    from cinatra_sdk.flow.plan.plan import FlowPlan, NodePlan, Path
    from oas_compiler.cli.commands.runs import EventPrinter


# ----------------------------------------------------------------------------
# The progress of a run, one line per visit of a node, under the author's own names.
#
# In: events of an activation.  Out: lines on stderr.
#
#     ✓ Recipients » Generate recipient list  0.3 s
#     ◆ Recipients » Review recipients  waits for a person
#     ✗ Recipients » Review recipients  rejected by ann: wrong list
#     ✓ Each letter[3] » Draft                the element of a map, counted from 0 as in ids of gates
#     ✓ Both » The second flow » Check        one of several flows
#     ✓ Helper » Helper (model)               an agent's model has the turn
#
# A run of a module has the names of the file that it was made of.


_MARKS: Final = {"done": ("✓", "green"), "waits": ("◆", "yellow"), "failed": ("✗", "red")}
_PLAIN_MARKS: Final = {"done": "+", "waits": "?", "failed": "x"}


class Progress:
    """Prints events; never raises, because watching a run must not make it fail."""

    def __init__(self, flow: FlowPlan | None, terminal: Terminal) -> None:
        """flow: None for a hand-written graph, whose nodes go by their own names."""
        nodes = {} if flow is None else dict(_walk(flow))
        self._names = {} if flow is None else names_of(flow)
        self._inner = frozenset(path for path, node in nodes.items() if node.work.subflows)
        self._setups = {
            path: node.id for path, node in nodes.items() if node.work.kind == "StartNode"
        }
        self._repeating = frozenset(path for path, node in nodes.items() if node.work.repeats)
        self._terminal = terminal
        self._begun: dict[str, float] = {}
        self._live = terminal.err.is_terminal and terminal.err.color_system is not None

    def __call__(self, event: RunEvent) -> None:
        path, shown = self._read_path(event.path)
        if event.kind != "node" or path in self._inner:
            return
        name = clean(shown)
        if event.name == "started":
            self._begun[event.path] = time.monotonic()
            self._print_running(name)
            return
        seconds = time.monotonic() - self._begun.pop(event.path, time.monotonic())
        self._clear_line()
        following = event.data.get("next")
        if following is not None and self._setups.get(path) == following:
            return  # shown again as the gate that asks for inputs
        if self._only_asks(event, path):
            return  # shown again as the gate before its call, which was not made
        state, ending = _describe_finish(event)
        took = [f"{seconds:.1f} s"] if seconds >= 0.1 and event.name != "paused" else []
        line = Text.assemble("  ", self._choose_mark(state), f" {name}")
        endings = [Text(words, "dim") for words in (*ending, *took)]
        self._terminal.say(Pieces([line, *endings], between="  "))

    def _only_asks(self, event: RunEvent, path: Path) -> bool:
        """Whether the node passed the turn to itself for a person, and did nothing yet."""
        to_itself = bool(path) and event.data.get("next") == path[-1]
        return to_itself and path not in self._repeating and "decision" not in event.data

    def _read_path(self, event_path: str) -> tuple[Path, str]:
        """The path of an event's node in the flow, and the name of the node's visit."""
        path: Path = ()
        names: list[str] = []
        for node_id, item in split_path(event_path):
            path = (*path, node_id)
            name = self._names.get(path, node_id)
            flow = (*path, f"[{item}]")
            if flow in self._names:  # one of several flows
                names += [name, self._names[flow]]
                path = flow
            else:
                names.append(name if item is None else f"{name}[{item}]")
        return path, (" » " if self._names else "/").join(names)

    def _print_running(self, name: str) -> None:
        if self._live:
            most = max(10, self._terminal.err.width - 6)
            self._terminal.say_part(Text(f"  … {cut(name, most)}", style="dim"))

    def _clear_line(self) -> None:
        if self._live:
            back = Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2))
            self._terminal.say_part(back)

    def _choose_mark(self, state: str) -> tuple[str, str]:
        mark, colour = _MARKS[state]
        utf = self._terminal.err.encoding.lower().startswith("utf")
        return (mark if utf else _PLAIN_MARKS[state]), colour


def _describe_finish(event: RunEvent) -> tuple[str, list[str]]:
    """The mark and the text for a finished node."""
    decided = event.data.get("decision")
    if event.name == "failed":
        return "failed", []
    if event.name == "paused":
        return "waits", ["waits for a person"]
    if not isinstance(decided, dict) or decided.get("skipped"):
        return "done", []
    denied = "denied" if decided.get("denied") else "rejected"
    kind = "approved" if decided.get("approved") else denied
    who, why = clean(str(decided.get("by") or "")), clean(str(decided.get("reason") or ""))
    told = kind + (f" by {who}" if who else "")
    if kind == "approved":
        return "done", [told]
    if kind == "denied":
        return "done", [f"{told}: {why}" if why else told]
    return "failed", [f"{told}: {why}" if why else told]


def names_of(flow: FlowPlan) -> Mapping[Path, str]:
    """Paths of nodes → names of the author; of several flows in one node each has its name, too."""
    names: dict[Path, str] = {}
    for path, node in _walk(flow):
        own = node.name or node.id
        names[path] = f"{own} (model)" if node.work.kind == "AgentModelNode" else own
        for inside, subflow in open_plans(node, path):
            if inside != path:
                names[inside] = subflow.name or subflow.id
    return names


def _walk(flow: FlowPlan, around: Path = ()) -> Iterator[tuple[Path, NodePlan]]:
    """Every node at every depth with its path."""
    for node in flow.nodes:
        path = (*around, node.id)
        yield path, node
        for inside, subflow in open_plans(node, path):
            yield from _walk(subflow, inside)


Begin = Callable[[OnEvent | None, HostContext | None], Run]
Answers = Literal["ask", "leave", "make up"]
"""Who answers the gates: the person at the terminal, nobody, or the simulation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive:
    """One run, driven by one process."""

    store: RunStore
    flow: DurableFlow
    run_id: str
    terminal: Terminal
    by: str
    answers: Answers
    given: GivenOptions = field(default_factory=GivenOptions)
    """The options that a later command on this run needs too; its tenant must own the run."""
    lends: bool = True
    """Whether the run gets the credentials of this process; a rejection needs no credentials."""
    from_start: bool = False
    """Whether this process sees the whole run, with all its calls."""
    is_quiet: bool = False
    """Whether no line tells of its nodes: it is one of many."""
    printer: EventPrinter | None = None
    """Prints every event of the run in place of a line for each node."""

    def go(self, begin: Begin) -> Exit:
        """Start or continue the run, then answer gate after gate."""
        return self._run_to_exit(lambda: self._to_a_stop(self.carry_out(begin)))

    def ask(self, run: Run, gate: Gate) -> Exit:
        """Ask the person about one gate, then drive the run to its next stop.

        Raises: `GateClosed` when another person was faster.
        """

        def asked() -> Run:
            after = self._answer_by_asking(run, gate)
            return self.store.get(run.id) if after is None else self._to_a_stop(after)

        return self._run_to_exit(asked)

    def _run_to_exit(self, work: Callable[[], Run]) -> Exit:
        try:
            run = work()
        except (KeyboardInterrupt, EOFError):
            self.terminal.say("")
            self.terminal.note(self._kept())
            self.terminal.data(self._describe_interruption())
            return Exit.INTERRUPTED
        self._mention_unused_stubs(run)
        self.terminal.show(outcome_view(run, self.given, artifact_names(self.store, run)))
        self.terminal.data(make_run(run), of_run=True)
        return exit_of(run)

    def _to_a_stop(self, run: Run) -> Run:
        while run.status == "waiting" and run.waiting:
            gate = run.waiting[0]
            try:
                after = (
                    self._answer_by_asking(run, gate)
                    if self.answers == "ask"
                    else self._answer_gate(
                        self._make_up_decision(gate) if self.answers == "make up" else None, gate
                    )
                )
            except AnswerInvalid as error:
                # A made-up answer fits the gate, but the platform may refuse it.
                self._mention_no_answer(gate, error)
                return run
            except GateClosed as error:
                # Another person was faster: their decision counts, and the run has continued.
                self.terminal.note(error.for_people)
                after = self.store.get(run.id)
            if after is None:
                # Another person may have decided while the question was open.
                return self.store.get(run.id) if self.answers == "ask" else run
            run = after
        return run

    def _answer_by_asking(self, run: Run, gate: Gate) -> Run | None:
        """The run after a decision of this person, who is asked again until the decision is
        accepted.

        The platform may refuse a decision that fits the gate, because an artifact was deleted while
        the list was open.  Then the other ticks are kept.
        """
        names = artifact_names(self.store, run)
        asker, checklist = Asker(self.terminal, self.by, names), None
        while True:
            decision = asker.decide(gate, checklist)
            try:
                return self._answer_gate(decision, gate)
            except AnswerInvalid as error:
                self.terminal.error(error.for_people)
                checklist = checklist or asker.checklist(gate)
                if checklist is not None and isinstance(error, ChoiceGone):
                    checklist = checklist.refused(error)

    def _answer_gate(self, decision: Decision | None, gate: Gate) -> Run | None:
        """The run after a decision; None where nobody decided."""
        return None if decision is None else self.carry_out(self._make_answer_call(gate, decision))

    def carry_out(self, begin: Begin) -> Run:
        """Start or continue the run to its next stop; tells of its nodes, and shows no result."""
        words = printed(f"\nnote: {self._kept()}\n")
        data = (
            json.dumps(self._describe_interruption(), indent=2) + "\n"
            if self.terminal.as_json
            else ""
        )
        with stopping_at_signals(self._drain, words, data) as interrupts:
            context = host(self.given.tenant, self.given.own, lends=self.lends)
            try:
                run = self._carry_out(begin, context)
            except ProcessEnding:
                if interrupts.number:
                    raise KeyboardInterrupt from None
                raise
        if interrupts.number and run.status not in TERMINAL:
            raise KeyboardInterrupt
        return run

    def _drain(self) -> None:
        # The person's store asks the host's: nobody else drains.
        RunStore.drain(self.store, wait=0)

    def _carry_out(self, begin: Begin, context: HostContext | None) -> Run:
        with _reserve_stdout(self.terminal):
            if self.printer is not None:
                with self.printer.printing():
                    return begin(None, context)
            if self.is_quiet:
                return begin(None, context)
            # A hand-written graph has the names that its nodes have.
            return begin(Progress(getattr(self.flow, "plan", None), self.terminal), context)

    def _make_answer_call(self, gate: Gate, decision: Decision) -> Begin:
        def answer(on_event: OnEvent | None, context: HostContext | None) -> Run:
            return self.store.answer(
                self.run_id,
                gate,
                decision,
                flow=self.flow,
                tenant=self.given.tenant or None,
                context=context,
                on_event=on_event,
            )

        return answer

    def _kept(self) -> str:
        return f"interrupted; the run is kept: {self.given.command('resume', self.run_id)}"

    def _describe_interruption(self) -> dict[str, Any]:
        return error_document("interrupted", self._kept(), Exit.INTERRUPTED)

    def _make_up_decision(self, gate: Gate) -> Decision | None:
        example = gate.example()
        reason = "" if example is True else "made up by --yes"
        decision = Decision.of(example, by=f"{self.by} (simulation)")
        decision = Decision.approve(by=decision.by, reason=reason, value=decision.value)
        try:
            gate.check(decision)
        except AnswerInvalid as error:
            self._mention_no_answer(gate, error)
            return None
        self.terminal.say(f"  approved: {clean(gate.name)}")
        return decision

    def _mention_no_answer(self, gate: Gate, error: AnswerInvalid) -> None:
        self.terminal.note(f"the simulation has no answer for gate '{gate.id}': {error.for_people}")

    def _mention_unused_stubs(self, run: Run) -> None:
        if not self.from_start or run.status != "completed":
            return
        # A local platform answers context calls itself; the simulation is the platform beyond it.
        platform = getattr(self.flow.platform, "beyond", self.flow.platform)
        if isinstance(platform, SimulatedPlatform) and platform.unused_stubs:
            unused = ", ".join(platform.unused_stubs)
            self.terminal.note(f"stubs that no call matched: {unused}")


@contextlib.contextmanager
def _reserve_stdout(terminal: Terminal) -> Iterator[None]:
    """Within, what tools print goes to stderr where stdout holds one JSON document."""
    if not terminal.as_json:
        yield
        return
    with contextlib.redirect_stdout(sys.stderr):
        yield
