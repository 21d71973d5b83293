"""Tables of runs, decisions, settlements, models and artifacts; ages and moments in their cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rich.text import Text

from cinatra_sdk.api.run_json import list_needs
from cinatra_sdk.data.text.person_texts import recorded_name
from oas_compiler.cli.terminal.layout import Listing
from oas_compiler.cli.terminal.printable_text import clean, cut
from oas_compiler.cli.view.checklist import slot_chosen
from oas_compiler.cli.view.values import Extent, cell

if TYPE_CHECKING:
    from cinatra_sdk.outside.models.totals import ModelUsage, NodeUsage
    from cinatra_sdk.runs import Run
    from cinatra_sdk.store.artifacts.selections import ChosenContext
    from cinatra_sdk.store.runs.settlement import Settlement


Unknown: TypeAlias = Mapping[str, Sequence[str]]
"""Run id → keys of its calls that have to be settled."""
NO_CALLS: Final[Unknown] = MappingProxyType({})
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


def runs_table(runs: Sequence[Run], now: datetime, unknown: Unknown = NO_CALLS) -> Listing:
    """unknown: run id → keys of its calls that have to be settled."""
    # A run of a tenant must be shown with its tenant.
    of_tenants = any(run.tenant for run in runs)
    columns = ["run", "status", "flow", "waits at", "changed", *(["tenant"] if of_tenants else [])]
    return Listing(
        columns, [_run_cells(run, now, of_tenants, unknown) for run in runs], words=_WORDS
    )


def _run_cells(run: Run, now: datetime, of_tenants: bool, unknown: Unknown) -> list[Text]:
    return [
        Text(clean(run.id)),
        status_text(run.status) + Text(_describe_rest(run)),
        Text(cut(clean(run.flow), 40)),
        Text(", ".join(_waits_at(run, unknown.get(run.id, ())))),
        Text(format_since(run.updated_at, now)),
        *([Text(clean(run.tenant))] if of_tenants else []),
    ]


def _describe_rest(run: Run) -> str:
    """Why nobody goes on with it, whatever its status."""
    if run.archived_at is not None:
        return " (archived)"
    return "" if run.paused_at is None else " (paused)"


def _waits_at(run: Run, unknown: Sequence[str]) -> list[str]:
    """The gates of a run; in round brackets the other commands that it waits for."""
    words = {"call": "(settle {})", "failed": "(resume: {})"}
    needs = [clean(words.get(kind, "{}").format(name)) for kind, name in list_needs(run, unknown)]
    return [*needs, "(cannot be read)"] if run.unreadable else needs


def format_since(moment: datetime | None, now: datetime) -> str:
    return "" if moment is None else age((now - moment).total_seconds())


def decisions_table(decisions: Sequence[Mapping[str, Any]], extent: Extent) -> Listing:
    return Listing(
        ("gate", "decision", "by", "at", "reason", "value"),
        [_decision_cells(row, extent) for row in decisions],
        words=frozenset({"reason", "value"}),
    )


def _decision_cells(row: Mapping[str, Any], extent: Extent) -> list[Text]:
    answer = row["answer"] if isinstance(row["answer"], Mapping) else {}
    return [
        Text(clean(row["gate_id"])),
        Text(clean(row["kind"])),
        Text(clean(recorded_name(row["decided_by"]))),
        Text(format_moment(row["decided_at"])),
        Text(extent.cut(clean(row["reason"]), 60)),
        Text(_format_given(answer, extent)),
    ]


def _format_given(answer: Mapping[str, Any], extent: Extent) -> str:
    """The value of an answer; of a call that a person edited its arguments before and after."""
    given = cell(answer["value"], extent) if "value" in answer else ""
    return f"{cell(answer['before'], extent)} → {given}" if "before" in answer else given


def settlements_table(settled: Sequence[Settlement], extent: Extent) -> Listing:
    return Listing(
        ("call", "by the node", "happened", "by", "at", "reason", "value"),
        [_settlement_cells(word, extent) for word in settled],
        words=frozenset({"reason", "value"}),
    )


def _settlement_cells(word: Settlement, extent: Extent) -> list[Text]:
    return [
        Text(clean(word.capability)),
        Text(clean(word.path)),
        Text("yes" if word.happened else "no"),
        Text(clean(word.by)),
        Text(format_moment(word.at)),
        Text(extent.cut(clean(word.reason), 60)),
        Text("" if word.value is None else cell(dict(word.value), extent)),
    ]


def usage_table(usage: Sequence[ModelUsage]) -> Listing:
    """A row for each model; below a model that several nodes asked, one for each of them."""
    priced = any(one.cost is not None for one in usage)
    columns = ["model", "answers", "tokens in", "tokens out", *(["cost"] if priced else [])]
    rows = []
    for one in usage:
        rows.append(_usage_cells(one.model, one, priced))
        if len(one.nodes) > 1:
            rows += [_usage_cells(f"  {own.node}", own, priced) for own in one.nodes]
    return Listing(columns, rows, words=_WORDS)


def _usage_cells(name: str, one: ModelUsage | NodeUsage, priced: bool) -> list[Text]:
    numbers = (str(one.calls), str(one.input_tokens), str(one.output_tokens))
    cost = ("" if one.cost is None else str(one.cost),) if priced else ()
    return [Text(clean(text)) for text in (name, *numbers, *cost)]


def list_choosers(decisions: Sequence[Mapping[str, Any]]) -> list[tuple[datetime, str, str]]:
    """When, for which slot and by whom artifacts were chosen at a gate of the run itself."""
    found = []
    for row in decisions:
        answer = row["answer"] if isinstance(row["answer"], Mapping) else {}
        slot = slot_chosen(answer.get("value", answer.get("userResponse")))
        if slot is not None:
            found.append((row["decided_at"], slot, recorded_name(row["decided_by"])))
    return sorted(found)


def _chosen_by(one: ChosenContext, choosers: Sequence[tuple[datetime, str, str]]) -> str:
    """Who chose: the name of a person at a gate of this run, else the word in the record."""
    names = [who for at, slot, who in choosers if slot == one.slot_id and at <= one.selected_at]
    return names[-1] if names and one.selected_by == "user" else one.selected_by or ""


def chosen_table(
    chosen: Sequence[ChosenContext], choosers: Sequence[tuple[datetime, str, str]], extent: Extent
) -> Listing:
    return Listing(
        ("slot", "artifact", "name", "revision", "extension", "scope", "by", "at"),
        [_chosen_cells(one, _chosen_by(one, choosers), extent) for one in chosen],
        words=_WORDS,
    )


def _chosen_cells(one: ChosenContext, by: str, extent: Extent) -> list[Text]:
    return [
        Text(clean(one.slot_id)),
        Text("none chosen" if one.artifact_id is None else clean(one.artifact_id)),
        Text(extent.cut(clean(one.name), 40)),
        Text("" if one.revision is None else str(one.revision)),
        Text(clean(one.extension or "")),
        Text(one.source_scope or ""),
        Text(clean(by)),
        Text(format_moment(one.selected_at)),
    ]


def format_moment(moment: datetime | None) -> str:
    """Local time with its zone: people compare it with their own clock."""
    return "" if moment is None else moment.astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")


_WORDS: Final = frozenset({"flow", "name"})
"""Columns that may be broken between their words."""
