"""A run at the terminal: driven on, its gates shown and asked, until it ends or is left waiting.

In: a store, a flow, and the first action (`store.start`, `store.answer`, `store.resume`).
Out: the exit code for where the run stands.

    Drive(store, flow, run_id, terminal, answers="ask").go(lambda on_event: store.start(…))
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from cinatra_sdk.engine.runtime_context import HostContext
from cinatra_sdk.errors import AnswerInvalid, ChoiceGone, GateClosed
from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.platform import SimulatedPlatform
from cinatra_sdk.runs import OnEvent, Run
from cinatra_sdk.store import RunStore
from cinatra_sdk.store.flows import DurableFlow
from oas_compiler.cli.artifact_names import artifact_names
from oas_compiler.cli.ask import Asker
from oas_compiler.cli.exits import Exit, exit_of
from oas_compiler.cli.hosting import keeping_stdout
from oas_compiler.cli.interrupts import ending_at_once
from oas_compiler.cli.next_steps import GivenOptions
from oas_compiler.cli.opening import host
from oas_compiler.cli.progress import Progress
from oas_compiler.cli.records import run_record
from oas_compiler.cli.render import outcome_view
from oas_compiler.cli.safe import clean, printed
from oas_compiler.cli.terminal import Terminal

if TYPE_CHECKING:
    from oas_compiler.cli.follow import EventPrinter

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
        return self._run_to_exit(lambda: self._to_a_stop(self._run_activation(begin)))

    def carry_out(self, begin: Begin) -> Run:
        """Start or continue the run to its next stop; shows nothing."""
        return self._run_activation(begin)

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
        self.terminal.data(run_record(run), of_run=True)
        return exit_of(run)

    def _to_a_stop(self, run: Run) -> Run:
        while run.status == "waiting" and run.waiting:
            gate = run.waiting[0]
            try:
                after = (
                    self._answer_by_asking(run, gate)
                    if self.answers == "ask"
                    else self._answer_gate(self._choose_decision(gate), gate)
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
        asker, checklist = self._make_asker(run), None
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
        return (
            None
            if decision is None
            else self._run_activation(self._make_answer_call(gate, decision))
        )

    def _run_activation(self, begin: Begin) -> Run:
        """One stretch of work, from here to the next stop."""
        words = printed(f"\nnote: {self._kept()}\n")
        data = (
            json.dumps(self._describe_interruption(), indent=2) + "\n"
            if self.terminal.as_json
            else ""
        )
        with ending_at_once(words, data):
            context = host(self.given.tenant, self.given.own, lends=self.lends)
            with keeping_stdout(self.terminal):
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
        code = int(Exit.INTERRUPTED)
        return {"error": {"code": "interrupted", "message": self._kept(), "exit": code}}

    def _choose_decision(self, gate: Gate) -> Decision | None:
        """The decision without a person: made up, or None."""
        return self._made_up(gate) if self.answers == "make up" else None

    def _make_asker(self, run: Run) -> Asker:
        names = artifact_names(self.store, run)
        return Asker(self.terminal, self.by, names)

    def _made_up(self, gate: Gate) -> Decision | None:
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
