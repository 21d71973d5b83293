"""Gates, calls and failed runs that wait for a person: as a table for people, as records for `--json`.

In: records of `RunStore.needs`, and the options of each run.  Out: a table, or one record for each
need; both hold the commands that answer, ready to be typed.

    RUN  NEEDS     AT            FLOW        STARTED BY  CONTENT        STEP  RISK     AGE    COMMAND
    n1   decision  confirm_send  Newsletter  ann         subject: Bees  2     send_…   4 min  oasflow …

Where the table is too wide, cells are cut and the commands stand below their row; on a narrow terminal
each row becomes a block of lines:

    n1 · decision at confirm_send · 4 min · risk send_external_message · step 2
      Newsletter · started by ann · subject: Bees
      oasflow approve n1/confirm_send --shown db541e85e9210c4b
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.text import Text

from cinatra_sdk.api.gate_json import find_place, find_risk, make_gate, make_need, make_wait
from cinatra_sdk.contract import CALL_STEP
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.cli.terminal.layout import Compact, Indented, Listing, Pieces, unbroken
from oas_compiler.cli.terminal.printable_text import clean, cut
from oas_compiler.cli.view.run_view import command_line, commands_of, settle_commands
from oas_compiler.cli.view.tables import format_since

if TYPE_CHECKING:
    from cinatra_sdk.store.runs.needs import GateToDecide, Need
    from oas_compiler.cli.host.options import GivenOptions

OptionsOfRuns: TypeAlias = "Mapping[str, GivenOptions]"
"""Run id → the options of commands on it."""
NO_OPTIONS: Final[OptionsOfRuns] = MappingProxyType({})
_WORDS: Final = frozenset({"flow", "started by", "content"})
_NEEDS: Final = {"gate": "decision", "call": "settling", "failed": "resuming"}
_AT: Final = {"gate": "at", "call": "at", "failed": "after"}
_LEAST: Final = {
    "run": 12, "at": 12, "flow": 20, "started by": 10, "content": 30, "risk": 12, "tenant": 8,
}  # fmt: skip
"""Fewest columns of the terminal in which a cell says enough."""
LINE: Final = 60
"""Characters of the line that tells of the content."""
_MOST_FLOW: Final = 40
"""Characters of a flow's name."""


@dataclass(frozen=True, slots=True)
class OneLine:
    """Pieces, and a last text that is cut at the end of the line; without enough room behind the
    pieces, the text stands on the next line.
    """

    pieces: Sequence[Text]
    last: Text
    between: str = " · "
    least: int = 24
    """Fewest columns in which the last text says enough."""

    def __rich_console__(
        self, _console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        taken = sum(piece.cell_len + len(self.between) for piece in self.pieces)
        last = self.last.copy()
        if not self.pieces or taken + min(self.least, last.cell_len) > options.max_width:
            if self.pieces:
                yield Pieces(self.pieces, self.between, indent=0)
            last.truncate(options.max_width, overflow="ellipsis")
            if last.plain:
                yield unbroken(last)
            return
        last.truncate(options.max_width - taken, overflow="ellipsis")
        yield Pieces([*self.pieces, *([last] if last.plain else [])], self.between)


def needs_table(
    needs: Sequence[Need], now: datetime, given: GivenOptions, whole: OptionsOfRuns = NO_OPTIONS
) -> Compact:
    """whole: run id → the options of its commands; a run that is not there has those of `given`."""
    of_tenants = any(need.tenant for need in needs)
    columns = [
        "run", "needs", "at", "flow", "started by", "content", "step", "risk", "age",
        *(["tenant"] if of_tenants else []), "command",
    ]  # fmt: skip
    rows, blocks = [], []
    for need in needs:
        step, risk = _describe_step(need)
        commands = ways_to_answer(need, whole.get(need.run_id, given))
        texts = (
            need.run_id, _NEEDS[need.kind], find_place(need), cut(need.flow, _MOST_FLOW),
            need.started_by, cut(need.content, LINE), step, risk, format_since(need.since, now),
            *([need.tenant] if of_tenants else []),
        )  # fmt: skip
        command = Text("\n".join(clean(line) for line in commands))
        rows.append([*(Text(clean(text)) for text in texts), command])
        blocks += _build_block(need, now, commands)
    only_gates = all(need.kind == "gate" for need in needs)
    return Compact(
        listing=Listing(columns, rows, words=_WORDS),
        below="command",
        least=_LEAST,
        leaves_out=(*(("needs",) if only_gates else ()), "step"),
        narrow=Group(*blocks),
    )


def _build_block(need: Need, now: datetime, commands: Sequence[str]) -> list[RenderableType]:
    """The lines of a row where no table has room: the need and its place, the flow, the commands."""
    step, risk = _describe_step(need)
    place = find_place(need)
    head = [
        Text(clean(need.run_id), "bold"),
        *_make_pieces(
            f"{_NEEDS[need.kind]} {_AT[need.kind]} {place}" if place else _NEEDS[need.kind],
            format_since(need.since, now),
            f"risk {risk}" if risk else "",
            f"step {step}" if step else "",
            f"tenant {need.tenant}" if need.tenant else "",
        ),
    ]
    about = _make_pieces(
        cut(need.flow, _MOST_FLOW), f"started by {need.started_by}" if need.started_by else ""
    )
    content = Text(clean(cut(need.content, LINE)))
    return [
        Pieces(head, indent=2),
        Indented(OneLine(about, content), by=2),
        *(command_line(clean(line)) for line in commands),
    ]


def _make_pieces(*texts: str) -> list[Text]:
    return [Text(clean(text)) for text in texts if text]


def ways_to_answer(need: Need, given: GivenOptions) -> list[str]:
    """The command that approves a gate or resumes a failed run; for a call two commands: only a person
    who has looked knows whether it happened.
    """
    if need.kind == "gate":
        return commands_of(need.run_id, need.gate, given)[:1]
    if need.kind == "call":
        return settle_commands(need.run_id, need.call.key, given)
    return [given.command("resume", need.run_id)]


def need_record(need: Need, now: datetime, given: GivenOptions) -> dict[str, Any]:
    """The record of the SDK, with the commands; given: the options of commands on the run."""
    commands = ways_to_answer(need, given)
    return {**make_need(need, now), "command": commands[0], "commands": commands}


def waiting_record(need: GateToDecide, now: datetime, given: GivenOptions) -> dict[str, Any]:
    """A waiting gate with the run it belongs to, and the command that answers it."""
    command = ways_to_answer(need, given)[0]
    return {**make_wait(need, now), "command": command, **make_gate(need.gate)}


def _describe_step(need: Need) -> tuple[str, str]:
    if need.kind != "gate":
        return "", find_risk(need)
    step = "call" if need.gate.step == CALL_STEP else str(need.gate.step)
    return step, find_risk(need)
