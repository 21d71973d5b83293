"""Runs, gates and decisions as people see them.

In: records of the store.  Out: something rich prints; every text from outside is made safe.

    gates_table(waiting, now)   ->  RUN       GATE          STEP  RISK       AGE
                                    3f2a91bc  review_gate   2     read_only  4 min
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from cinatra_sdk.people import recorded_name
from oas_compiler.cli.checklist import Checklist
from oas_compiler.cli.checklist_view import checklist_view
from oas_compiler.cli.safe import clean, cut
from oas_compiler.cli.selecting import offered_in, options_for, other_values
from oas_compiler.cli.values import cell, value_view, values_view

if TYPE_CHECKING:
    from cinatra_sdk.gates import Gate
    from cinatra_sdk.runs import Run
    from cinatra_sdk.store.chosen import ChosenContext

COLOURS: Final[Mapping[str, str]] = {
    "completed": "green",
    "waiting": "yellow",
    "running": "cyan",
    "rejected": "magenta",
    "failed": "red",
    "stopped": "red",
}
_UNITS: Final = (("d", 86_400), ("h", 3_600), ("min", 60))


def age(seconds: float) -> str:
    """`4 min`, `2 h`, `3 d`: how long something has been."""
    for unit, length in _UNITS:
        if seconds >= length:
            return f"{int(seconds // length)} {unit}"
    return f"{max(0, int(seconds))} s"


def status_text(status: str) -> Text:
    return Text(clean(status), style=f"bold {COLOURS.get(status, '')}".strip())


# ------------------------------------------------------------------------ lists


def runs_table(runs: Iterable[Run], now: datetime) -> Table:
    table = _list("run", "status", "flow", "waits at", "changed")
    for run in runs:
        table.add_row(
            Text(clean(run.id)),
            status_text(run.status),
            Text(cut(clean(run.flow), 40)),
            Text(cut(", ".join(_waits_at(run)), 60)),
            Text(_since(run.updated_at, now)),
        )
    return table


def _waits_at(run: Run) -> list[str]:
    gates = [clean(gate.id) for gate in run.waiting]
    return [*gates, "(cannot be read)"] if run.unreadable else gates


def gates_table(waiting: Iterable[tuple[Run, Gate]], now: datetime) -> Table:
    table = _list("run", "gate", "name", "step", "risk", "age")
    for run, gate in waiting:
        table.add_row(
            Text(clean(run.id)),
            Text(clean(gate.id)),
            Text(cut(clean(gate.name), 40)),
            Text(str(gate.step)),
            Text(clean(gate.risk)),
            Text(_since(run.updated_at, now)),
        )
    return table


def _list(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(column.upper(), overflow="fold")
    return table


def _since(moment: datetime | None, now: datetime) -> str:
    return "" if moment is None else age((now - moment).total_seconds())


# ------------------------------------------------------------------------ one gate


def gate_view(
    gate: Gate,
    names: Mapping[str, str] | None = None,
    *,
    checklist: Checklist | None = None,
    asking: bool = False,
) -> RenderableType:
    """What a person needs to see before deciding.

    names:     artifact id → name, for a gate that asks for a context selection.
    checklist: with what the person here has ticked already; None begins a new one.
    asking:    somebody is asked right here, who can turn the pages of a long list.
    """
    heading = Text.assemble(
        ("◆ ", "yellow"),
        (clean(gate.name), "bold"),
        (f"   step {gate.step} · risk {clean(gate.risk)} · {clean(gate.id)}", "dim"),
    )
    selector = gate.form.selector
    values = gate.values if selector is None else other_values(gate.values)
    parts: list[RenderableType] = [values_view(values)] if values else []
    if selector is not None:
        parts.append(checklist_view(checklist or Checklist.of(selector, names), asking=asking))
    shown = parts or [Text("no data to show", style="dim italic")]
    return Group(heading, *(below_heading(part) for part in shown))


def below_heading(part: RenderableType) -> Padding:
    """A part of what a gate shows, where it stands under the gate's name; also when shown again."""
    return Padding(part, (0, 0, 0, 2), expand=False)


def how_to_answer(run: Run, gate: Gate, *, alone: bool) -> Text:
    """The commands that answer a gate; `alone`: no other gate of the run waits."""
    from oas_compiler.cli.fields import has_form

    target = shlex.quote(run.id if alone else f"{run.id}/{gate.id}")
    selector = gate.form.selector
    selected = None if selector is None else options_for(selector)
    if selected is not None:
        first = " ".join([f"oasflow answer {target}", *selected])
        other = f"oasflow answer {target}   (at a terminal: shows the list and asks)"
    elif not has_form(gate) and selector is None:
        first = f"oasflow approve {target}"
        free = gate.form.schema is None and gate.form.text_output
        other = f"oasflow answer {target} --text '…'" if free else ""
    else:
        value = shlex.quote(json.dumps(gate.example(), ensure_ascii=False))
        first = f"oasflow answer {target} --value {value}"
        other = ""
    lines = [first, f"oasflow reject {target} --reason '…'", other]
    return _command("\n".join(f"  {clean(line)}" for line in lines if line))


# ------------------------------------------------------------------------ one run


def outcome_view(run: Run, names: Mapping[str, str] | None = None) -> RenderableType:
    """Where a run stands: what came out of it, why it failed, or what it waits for.

    names: artifact id → name, for gates that ask for a context selection.
    """
    return Group(*_outcome(run, names))


def run_view(
    run: Run,
    decisions: Sequence[Mapping[str, Any]],
    chosen: Sequence[ChosenContext],
    now: datetime,
    *,
    names: Mapping[str, str] | None = None,
) -> RenderableType:
    """Everything about a run; `names` as in `outcome_view`."""
    about = {
        "flow": run.flow,
        "file": run.file,
        "digest": run.digest[:16],
        "tenant": run.tenant,
        "begun": _when(run.created_at),
        "changed": f"{_when(run.updated_at)} ({_since(run.updated_at, now)} ago)",
    }
    facts = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for name, text in about.items():
        if text:
            facts.add_row(Text(name, style="dim"), Text(clean(text), overflow="fold"))
    parts: list[RenderableType] = [_indented(facts)]
    if run.input:
        parts += [_title("inputs"), _indented(values_view(run.input))]
    if decisions:
        parts += [_title("decisions"), _indented(_decisions_table(decisions))]
    if chosen:
        parts += [_title("context"), _indented(_chosen_table(chosen))]
    first, *rest = _outcome(run, names)
    return Group(first, *parts, *rest)


def _outcome(run: Run, names: Mapping[str, str] | None = None) -> Iterator[RenderableType]:
    branch = f"   by branch {run.branch}" if run.branch not in {None, "next"} else ""
    yield Text.assemble("run ", clean(run.id), "  ", status_text(run.status), clean(branch))
    if run.messages:
        yield _title("messages")
        for message in run.messages:
            yield _indented(_message_view(message.get("content", "")))
    if run.outputs:
        yield _title("outputs")
        yield _indented(values_view(run.outputs))
    if run.error is not None:
        yield _title("error")
        yield Text(f"  {clean(str(run.error.get('message', '')))}", style="red")
    if run.status == "stopped" and run.stopped_by:
        reason = f": {clean(run.stop_reason)}" if run.stop_reason else ""
        yield Text(f"  stopped by {clean(recorded_name(run.stopped_by))}{reason}")
    for problem in told_unreadable(run):
        yield Text(f"  {clean(problem)}", style="red")
    for gate in run.waiting:
        alone = len(run.waiting) == 1
        yield Text("")
        yield gate_view(gate, names)
        yield how_to_answer(run, gate, alone=alone)
    if run.status == "failed" and (run.error or {}).get("code") == "below_min_items":
        yield Text(
            "  this run keeps what its slot was offered: start a new one with more artifacts"
        )
    elif run.status in {"failed", "running"}:
        why = "try again" if run.status == "failed" else "if no process works on it"
        yield _command(f"  oasflow resume {shlex.quote(clean(run.id))}   ({why})")


def told_unreadable(run: Run) -> list[str]:
    """What of a stored run cannot be read, where, and what can be done about it."""
    if not run.unreadable:
        return []
    told = [f"cannot be read: {problem}" for problem in run.unreadable]
    if run.status in {"completed", "rejected", "stopped"}:
        return told
    name = shlex.quote(run.id)
    way = f"oasflow resume {name} writes it again from the run's checkpoint"
    return [*told, f"{way}; oasflow stop {name} ends the run"]


def _message_view(content: Any) -> RenderableType:
    """A message; one that only carries a context selection to its gate is told in a line."""
    selector = offered_in(content)
    if selector is None:
        return value_view(content)
    number = len(selector.candidates)
    what = "candidate" if number == 1 else "candidates"
    return Text(f'{number} {what} for the context slot "{clean(selector.slot_id)}"', style="dim")


def _decisions_table(decisions: Sequence[Mapping[str, Any]]) -> Table:
    table = _list("gate", "decision", "by", "at", "reason", "value")
    for row in decisions:
        answer = row["answer"] if isinstance(row["answer"], Mapping) else {}
        table.add_row(
            Text(clean(row["gate_id"])),
            Text(clean(row["kind"])),
            Text(clean(recorded_name(row["decided_by"]))),
            Text(_when(row["decided_at"])),
            Text(cut(clean(row["reason"]), 60)),
            Text(cell(answer["value"]) if "value" in answer else ""),
        )
    return table


def _chosen_table(chosen: Sequence[ChosenContext]) -> Table:
    table = _list("slot", "artifact", "name", "revision", "extension", "scope", "by", "at")
    for one in chosen:
        table.add_row(
            Text(clean(one.slot_id)),
            Text("none chosen" if one.artifact_id is None else clean(one.artifact_id)),
            Text(cut(clean(one.name), 40)),
            Text("" if one.revision is None else str(one.revision)),
            Text(clean(one.extension or "")),
            Text(one.source_scope or ""),
            Text(one.selected_by or ""),
            Text(_when(one.selected_at)),
        )
    return table


def _title(text: str) -> Text:
    return Text(f"  {text}", style="bold")


def _command(text: str) -> Text:
    """Lines to copy: never broken by us."""
    return Text(text, no_wrap=True, overflow="ignore")


def _indented(thing: RenderableType) -> Padding:
    return Padding(thing, (0, 0, 0, 4), expand=False)


def _when(moment: datetime | None) -> str:
    """Local time with its zone: people compare it with their own clock."""
    return "" if moment is None else moment.astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")
