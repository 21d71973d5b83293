"""Several targets of one command: all shown, then one question to the person, then all carried out.

    oasflow approve n1/review n2/review n3/review
        shows each gate as `oasflow show` does, asks once, approves what was shown

Content that the gates of one node have in common, in several runs, is shown once, above the gates.

Without a terminal nobody sees anything.  So each target then names its gate and, with `--shown`, the content
that the person saw before.  A refused target does not stop the others; the command ends with the worst exit
code of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from cinatra_sdk.data.text.message_words import say_number
from cinatra_sdk.gates.decisions import SHORT
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.cli.ask.decision import (
    Decide,
    Decider,
    MeantGate,
    answer_gate,
    call_answer,
    decide_found,
    find_gate,
    prepare,
    refuse_empty_hash,
    tell_unsigned,
)
from oas_compiler.cli.host import resources
from oas_compiler.cli.host.run_requirements import Lacking, format_lacking, lacking, refusal
from oas_compiler.cli.terminal.exits import Exit, Halt, exit_of, problem_of
from oas_compiler.cli.terminal.layout import Listing, Pieces, Words, unbroken
from oas_compiler.cli.terminal.printable_text import clean
from oas_compiler.cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from cinatra_sdk import RunStore
    from cinatra_sdk.gates.decisions import Decision
    from cinatra_sdk.runs import Run


WORST: Final = (
    Exit.OK, Exit.WAITING, Exit.REJECTED, Exit.FAILED, Exit.FINDINGS, Exit.USAGE, Exit.CONFLICT,
    Exit.UNREACHABLE, Exit.BUG,
)  # fmt: skip
"""Exit codes of one target, the worst last: a refusal is worse than any end of a run."""
_YES: Final = frozenset({"", "y", "yes"})
_NO: Final = frozenset({"q", "quit"})
"""The keys that the question names leave everything waiting; `no` is asked again, since it may be meant
as a rejection.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTarget:
    """A gate that the command names, and the decision for it."""

    typed: str
    shown: str
    """What the person saw, as `--shown` says it; empty without."""
    decide: Decide


@dataclass(slots=True, kw_only=True)
class TargetOutcome:
    """What came of one target."""

    target: str
    exit: Exit = Exit.WAITING
    did: str = "left waiting"
    run: Run | None = None
    problem: dict[str, Any] | None = None
    """`{"code", "message"}` of the refusal, with what else its error has in JSON."""

    def to_json(self) -> dict[str, Any]:
        from cinatra_sdk.api.run_json import make_run_summary

        return {
            "target": self.target,
            "outcome": self.did,
            "run": None if self.run is None else make_run_summary(self.run),
            "error": self.problem,
            "exit": int(self.exit),
        }

    def refuse(self, error: Exception) -> None:
        self.exit, code, message = problem_of(error)
        more = error.more if isinstance(error, Halt) else {}
        self.did, self.problem = "refused", {"code": code, "message": message, **more}


def read_targets(
    targets: Sequence[str], shown: Sequence[str] | None, decide: Decide
) -> list[NamedTarget]:
    """The targets, each with its `--shown`.

    Raises: `Halt` for a target that is named twice, and where the hashes are not as many.
    """
    refuse_empty_hash(*(shown or ()))
    hashes = shown or [""] * len(targets)
    if len(hashes) != len(targets):
        raise Halt(
            f"{say_number(len(targets), 'target')}, and --shown "
            f"{say_number(len(hashes), 'time')}: give it once for each, in "
            "their order"
        )
    twice = next((one for one in targets if list(targets).count(one) > 1), None)
    if twice is not None:
        raise Halt(f"'{twice}' is named twice")
    return [
        NamedTarget(typed=typed, shown=seen, decide=decide)
        for typed, seen in zip(targets, hashes, strict=True)
    ]


def decide_targets(command: str, targets: Sequence[NamedTarget], about: Decider) -> Exit:
    """Decide one gate at once; several after they have been shown."""
    if len(targets) == 1:
        alone = targets[0]
        with_hash = _with_hash(about, alone.shown)
        return answer_gate(command, alone.typed, alone.decide, with_hash)
    terminal = Terminal.open(as_json=about.as_json)
    if not terminal.asks:
        _require_named(targets)
    with resources.store(terminal, about.given.db, about.given.own) as opened:
        store = about.act_on(terminal, opened, command)
        round_ = _Round(store=store, terminal=terminal, command=command, about=about)
        ready = [round_.look(f"{at} of {len(targets)}", one) for at, one in enumerate(targets, 1)]
        round_.tell_lacking()
        round_.show([(at, one[0]) for at, one in enumerate(ready, 1) if one is not None])
        number = sum(one is not None for one in ready)
        which, them = ("this gate", "it") if number == 1 else (f"these {number} gates", "them")
        question = f"{command} {which} [Enter], leave {them} waiting [q]: "
        if number and confirm(terminal, question):
            for outcome, one in zip(round_.outcomes, ready, strict=True):
                if one is not None:
                    round_.carry_out(outcome, *one)
    return tell_outcomes(terminal, round_.outcomes)


def _group(found: Sequence[tuple[int, MeantGate]]) -> list[list[tuple[int, MeantGate]]]:
    """The gates in their order, those that differ in their values only together."""
    from oas_compiler.cli.view.run_view import has_plain_view

    groups: dict[tuple[object, ...], list[tuple[int, MeantGate]]] = {}
    for number, one in found:
        gate = one.gate
        key: tuple[object, ...] = (number,)
        if has_plain_view(gate):
            key = (one.run.flow, gate.id, gate.name, gate.step, gate.risk, gate.description)
        groups.setdefault(key, []).append((number, one))
    return list(groups.values())


def _with_hash(about: Decider, shown: str) -> Decider:
    from cinatra_sdk.gates.decisions import read_shown

    return replace(about, shown=read_shown(shown))


def _require_named(targets: Sequence[NamedTarget]) -> None:
    for one in targets:
        if "/" not in one.typed or not one.shown:
            raise Halt(
                f"'{one.typed}': without a terminal each of several targets names its gate, "
                "RUN/GATE, and with --shown what you saw; oasflow show prints both"
            )


def show_heading(terminal: Terminal, place: str, run: Run, *, is_close: bool = False) -> None:
    """The line above what is shown of one of several targets; place: `3 of 20`.

    is_close: without an empty line above it.
    """
    told = (place, f"run {run.id}", run.status, run.flow)
    terminal.say(*(() if is_close else ("",)), Pieces([Text(clean(part), "dim") for part in told]))


def confirm(terminal: Terminal, question: str) -> bool:
    """Whether the person says yes to what has been shown; True where nobody can be asked.

    What was typed before the question is no answer to it: see `Keyboard.line`.
    """
    from oas_compiler.cli.terminal.keyboard import Keyboard

    if not terminal.asks:
        return True
    keyboard = Keyboard(terminal)
    while True:
        try:
            typed = keyboard.line(question).strip().lower()
        except (EOFError, KeyboardInterrupt):
            terminal.say("")
            return False
        if typed in _YES | _NO:
            return typed in _YES
        terminal.say("Two keys are known here: Enter does it, and q and Enter leaves all as it is.")


def tell_outcomes(terminal: Terminal, outcomes: Sequence[TargetOutcome]) -> Exit:
    """Tell what came of each target; the exit code is the worst."""
    worst = max((one.exit for one in outcomes), key=_rank)
    terminal.show("", Listing(("target", "outcome", "now"), [_cells(one) for one in outcomes], words=frozenset({"now"})))  # fmt: skip
    terminal.data({"targets": [one.to_json() for one in outcomes], "exit": int(worst)}, of_run=True)
    return worst


def _say_in_cell(problem: dict[str, Any]) -> str:
    """The message of a refusal without its announcement of commands, which stand above the table."""
    message = str(problem["message"])
    if not message.endswith(":"):
        return message
    waiting = ", ".join(str(one["gate"]) for one in problem.get("waiting", ()))
    return f"{message} {waiting}" if waiting else message.rpartition("; ")[0] or message[:-1]


def _rank(code: Exit) -> int:
    return WORST.index(code) if code in WORST else len(WORST)


def _cells(outcome: TargetOutcome) -> list[Text]:
    now = ""
    if outcome.problem is not None:
        lacks = [str(one["option"] or one["export"]) for one in outcome.problem.get("lacking", ())]
        now = f"needs {', '.join(lacks)}" if lacks else _say_in_cell(outcome.problem)
    elif outcome.run is not None:
        gates = ", ".join(gate.id for gate in outcome.run.waiting)
        now = f"{outcome.run.status}{f' at {gates}' if gates else ''}"
    style = "red" if outcome.problem is not None else ""
    return [Text(clean(outcome.target)), Text(outcome.did, style), Text(clean(now))]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    """One command on several gates."""

    store: RunStore
    terminal: Terminal
    command: str
    about: Decider
    outcomes: list[TargetOutcome] = field(default_factory=list)
    lacking: list[tuple[MeantGate, Lacking]] = field(default_factory=list)
    """The gates whose runs need more than the command gives them."""

    def look(self, place: str, target: NamedTarget) -> tuple[MeantGate, Decision] | None:
        """One gate, and its decision; None where it cannot be decided, which its outcome then says.

        place: `3 of 20`.
        """
        outcome = TargetOutcome(target=target.typed)
        self.outcomes.append(outcome)
        try:
            found = find_gate(self.store, target.typed, self.about.given, self.command)
            about = _with_hash(self.about, target.shown)
            found.refuse_other(about.shown)
            decision = decide_found(self.store, found, target.decide, about, command=self.command)
            lacks = self._find_lacking(found)
        except Exception as error:  # noqa: BLE001 - one target keeps no other from being decided
            self._refuse(place, outcome, error)
            return None
        name = f"{found.run.id}/{found.gate.id}"
        if any(one.target == name and one is not outcome for one in self.outcomes):
            self._refuse(place, outcome, Halt(f"'{target.typed}' is a gate that is named before"))
            return None
        outcome.target = name
        if lacks:
            self.lacking.append((found, lacks))
            whole = self._write_whole([found], lacks)
            outcome.refuse(refusal(found.run, lacks, whole))
            return None
        return found, replace(decision, shown=found.gate.shown)

    def _find_lacking(self, found: MeantGate) -> Lacking | None:
        """What the run needs beside the options; a rejection needs nothing.  Raises: `Halt`."""
        if self.command == "reject":
            return None
        return lacking(found.run, self.about.given, self.store.source(found.run.id))

    def _write_whole(self, gates: Sequence[MeantGate], lacks: Lacking) -> str:
        """The command on these gates, with all that their runs lack."""
        targets = [f"{one.run.id}/{one.gate.id}" for one in gates]
        seen = [word for one in gates for word in ("--shown", one.gate.shown[:SHORT])]
        return lacks.whole.command_on(self.command, targets, *seen, *self.about.words)

    def tell_lacking(self) -> None:
        """Tell, before anybody is asked, what runs need beside the options, and the command that gives
        it to them: one for all that lack the same.
        """
        groups: dict[str, list[tuple[MeantGate, Lacking]]] = {}
        for found, lacks in self.lacking:
            groups.setdefault(repr(lacks), []).append((found, lacks))
        for group in groups.values():
            gates, lacks = [found for found, _ in group], group[0][1]
            names = ", ".join(f"{one.run.id}/{one.gate.id}" for one in gates)
            number = say_number(len(gates), "run needs", "runs need")
            why = f"{number} more than this command gives; nothing was done there"
            self.terminal.say(
                "",
                Words(Text(clean(f"refused: {names}"), "dim"), 0),
                Words(Text(why, "red")),
                *format_lacking(lacks, self._write_whole(gates, lacks)),
            )

    def _refuse(self, place: str, outcome: TargetOutcome, error: Exception) -> None:
        """Refuse, and tell it before the question, which counts only what is shown."""
        outcome.refuse(error)
        told = Text(clean(f"{place} · refused: {outcome.target}"), "dim")
        why = Words(Text(clean((outcome.problem or {}).get("message", "")), "red"))
        then = error.then if isinstance(error, Halt) else ()
        self.terminal.say("", unbroken(told), why, *then)

    def show(self, found: Sequence[tuple[int, MeantGate]]) -> None:
        """Show the gates; those of one node of a flow together, below what they have in common.

        found: with the number of each among the targets.
        """
        from oas_compiler.cli.host.resources import artifact_names
        from oas_compiler.cli.view.run_view import (
            extent_of,
            find_common,
            gate_view,
            rest_view,
            shared_view,
        )

        given = self.about.given

        for same in _group(found):
            gates, is_one = [one.gate for _, one in same], len(same) == 1
            common = {} if is_one else find_common(gates)
            if not is_one:
                self.terminal.say("", shared_view(gates, extent_of(same[0][1].run.id, given)))
            for number, one in same:
                place = f"{number} of {len(self.outcomes)}"
                show_heading(self.terminal, place, one.run, is_close=not is_one)
                names = artifact_names(self.store, one.run) if is_one else None
                extent = extent_of(one.run.id, given)
                self.terminal.say(
                    gate_view(one.gate, names, extent=extent)
                    if is_one
                    else rest_view(one.gate, common, extent)
                )

    def carry_out(self, outcome: TargetOutcome, found: MeantGate, decision: Decision) -> None:
        store, given = self.store, self.about.given
        try:
            drive = prepare(
                store, found, self.terminal, self.about, command=self.command, decision=decision
            )
            flow = None if drive is None else drive.flow
            answer = call_answer(store, found, decision, flow, given)
            if drive is None:
                run = answer(None, resources.host(given.tenant))
                tell_unsigned(self.terminal, store, run.id, given.own.host)
            else:
                run = replace(drive, is_quiet=True).carry_out(answer)
        except Exception as error:  # noqa: BLE001 - as above
            outcome.refuse(error)
        else:
            outcome.did, outcome.run, outcome.exit = decision.kind, run, exit_of(run)
        told = "refused" if outcome.problem else outcome.did
        self.terminal.say(unbroken(Text(clean(f"  {told}: {outcome.target}"))))
