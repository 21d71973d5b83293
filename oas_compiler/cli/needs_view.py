"""What needs a person, as people see it and as `--json` prints it.

In: records of `RunStore.needs`.  Out: a table, or a record for each; both with the command that
answers, with the options that this command was given.

    RUN  NEEDS     AT            FLOW        STARTED BY  CONTENT        STEP  RISK       AGE    COMMAND
    n1   decision  confirm_send  Newsletter  ann         subject: Bees  2     send_…     4 min  oasflow …

Where this is too wide, cells are cut and the command stands below its row; on a narrow terminal each
row is a block of lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from cinatra_sdk.contract import CALL_STEP
from oas_compiler.cli.layout import Compact, Listing
from oas_compiler.cli.records import format_time, gate_record
from oas_compiler.cli.render import commands_of
from oas_compiler.cli.safe import clean, cut
from oas_compiler.cli.tables import format_since

if TYPE_CHECKING:
    from cinatra_sdk.store.needs import GateToDecide, Need
    from oas_compiler.cli.next_steps import GivenOptions

_WORDS: Final = frozenset({"flow", "started by", "content"})
_NEEDS: Final = {"gate": "decision", "call": "settling", "failed": "resuming"}
_LEAST: Final = {
    "run": 12, "at": 12, "flow": 12, "started by": 10, "content": 30, "risk": 12, "tenant": 8,
}  # fmt: skip
"""Fewest columns of the terminal in which a cell says enough."""
LINE: Final = 60
"""Characters of the line that tells of the content."""


def needs_table(needs: Sequence[Need], now: datetime, given: GivenOptions) -> Compact:
    of_tenants = any(need.tenant for need in needs)
    columns = [
        "run", "needs", "at", "flow", "started by", "content", "step", "risk", "age",
        *(["tenant"] if of_tenants else []), "command",
    ]  # fmt: skip
    rows = []
    for need in needs:
        step, risk = _describe_step(need)
        texts = (
            need.run_id, _NEEDS[need.kind], _describe_place(need), cut(need.flow, 40),
            need.started_by, cut(need.content, LINE), step, risk, format_since(need.since, now),
            *([need.tenant] if of_tenants else []), command_of(need, given),
        )  # fmt: skip
        rows.append([Text(clean(text)) for text in texts])
    only_gates = all(need.kind == "gate" for need in needs)
    return Compact(
        listing=Listing(columns, rows, words=_WORDS),
        below="command",
        least=_LEAST,
        leaves_out=(*(("needs",) if only_gates else ()), "started by", "step", "flow"),
    )


def command_of(need: Need, given: GivenOptions) -> str:
    """The command that answers it; of a gate, the one that approves it; of a call, without what only a
    person knows who has looked.
    """
    if need.kind == "gate":
        return commands_of(need.run_id, need.gate, given)[0]
    if need.kind == "call":
        return given.command("settle", need.run_id, need.call.key)
    return given.command("resume", need.run_id)


def need_record(need: Need, now: datetime, given: GivenOptions) -> dict[str, Any]:
    """Anything that needs a person, in the same members."""
    _, risk = _describe_step(need)
    return {
        "kind": need.kind,
        "run": need.run_id,
        "name": need.name,
        "at": _describe_place(need),
        "flow": need.flow,
        "tenant": need.tenant,
        "started_by": need.started_by,
        "content": need.content,
        "step": need.gate.step if need.kind == "gate" else None,
        "risk": risk or None,
        "shown": need.gate.shown if need.kind == "gate" else None,
        "waiting_since": format_time(need.since),
        "age_seconds": _count_seconds(need, now),
        "command": command_of(need, given),
    }


def waiting_record(need: GateToDecide, now: datetime, given: GivenOptions) -> dict[str, Any]:
    """A waiting gate with the run it belongs to."""
    return {
        "run": need.run_id,
        "flow": need.flow,
        "tenant": need.tenant,
        "started_by": need.started_by,
        "waiting_since": format_time(need.since),
        "age_seconds": _count_seconds(need, now),
        "command": command_of(need, given),
        **gate_record(need.gate),
    }


def _count_seconds(need: Need, now: datetime) -> int:
    return max(0, int((now - need.since).total_seconds()))


def _describe_place(need: Need) -> str:
    """The gate's id, the node of the call, or the code of the failure."""
    return need.call.path if need.kind == "call" else need.name


def _describe_step(need: Need) -> tuple[str, str]:
    if need.kind == "gate":
        step = "call" if need.gate.step == CALL_STEP else str(need.gate.step)
        return step, need.gate.risk
    return "", need.risk if need.kind == "call" else ""
