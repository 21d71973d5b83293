"""A run and its gates as text, and the commands that answer a gate or settle a call.

In: records of the store.  Out: text for rich to print; every text from outside is made safe.

    gate_view(gate)   ->  ◆ Review the draft   step 1 · risk read_only · review_draft
                            topic  Bees
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from pydantic import JsonValue
from rich.console import Group, RenderableType
from rich.text import Text

from cinatra_sdk.contract import CALL_STEP, ENDED
from cinatra_sdk.data.text.person_texts import recorded_name
from cinatra_sdk.gates.decisions import SHORT
from cinatra_sdk.store.runs.needs import DID_NOT_HAPPEN, HAPPENED, MESSAGE
from oas_compiler.cli.host.resources import Own
from oas_compiler.cli.host.run_requirements import export_first, reasons
from oas_compiler.cli.host.run_resources import addresses
from oas_compiler.cli.terminal.argument_values import blank_out
from oas_compiler.cli.terminal.layout import Indented, Member, Pieces, Words, unbroken
from oas_compiler.cli.terminal.printable_text import clean
from oas_compiler.cli.view.checklist import (
    Checklist,
    checklist_view,
    offered_in,
    options_of_form,
    other_values,
)
from oas_compiler.cli.view.tables import (
    chosen_table,
    decisions_table,
    format_moment,
    format_since,
    list_choosers,
    settlements_table,
    status_text,
    usage_table,
)
from oas_compiler.cli.view.values import (
    MAX_NAME,
    MAX_TEXT,
    NOTE,
    Extent,
    takes_any_text,
    value_view,
    values_view,
)

if TYPE_CHECKING:
    from cinatra_sdk.context.selector import Selector
    from cinatra_sdk.gates.forms.answer_form import AnswerForm
    from cinatra_sdk.gates.gate import Gate
    from cinatra_sdk.outside.models.totals import ModelUsage
    from cinatra_sdk.runs import Run
    from cinatra_sdk.store.artifacts.selections import ChosenContext
    from cinatra_sdk.store.decisions.asked_gates import AskedGate
    from cinatra_sdk.store.runs.settlement import Settlement, UnknownEffect
    from oas_compiler.cli.host.options import GivenOptions
    from oas_compiler.cli.host.run_requirements import Lacking


# ----------------------------------------------------------------------------
# The messages of a run.
#
# In: records of messages.  Out: text for rich to print.
#
#     said before it
#       user       Send the report to Ada.
#       assistant  -> send {"to": "ada"}


def said_view(said: Sequence[Mapping[str, JsonValue]], extent: Extent) -> RenderableType:
    """The messages before a gate, each behind the role of its author."""
    parts: list[RenderableType] = [Text("said before it", style="bold")]
    for message in said:
        role = str(message.get("role", ""))
        parts += [
            Indented(values_view({role: _describe_offer(one) or one}, extent), by=2)
            for one in list_said(message)
        ]
    return Group(*parts)


def without_offer(
    said: Sequence[Mapping[str, JsonValue]], selector: Selector
) -> list[Mapping[str, JsonValue]]:
    """The messages without the offer of this selection, which the checklist of its gate shows."""
    return [one for one in said if offered_in(one.get("content")) != selector]


def list_said(message: Mapping[str, JsonValue]) -> list[JsonValue]:
    """The text of a message, and the calls that a model asks for in it."""
    content, calls = message.get("content", ""), message.get("tool_calls")
    asked = [one for one in calls if isinstance(one, Mapping)] if isinstance(calls, list) else []
    told: list[JsonValue] = [content] if content or not asked else []
    for one in asked:
        arguments = json.dumps(one.get("args"), ensure_ascii=False)
        told.append(f"-> {one.get('name')} {arguments}")
    return told


def _read_answer_with_files(content: Any) -> tuple[str, str]:
    """The text of an envelope, and the names of its files; empty for any other message."""
    if not isinstance(content, str) or not content.startswith('{"text"'):
        return "", ""
    from cinatra_sdk.attachments import UserEnvelopeInvalid, read_user_envelope

    try:
        envelope = read_user_envelope(content, enabled=True)
    except UserEnvelopeInvalid:
        return "", ""
    return envelope.text, ", ".join(ref.shown_name for ref in envelope.attachments or ())


def message_view(content: Any, extent: Extent) -> RenderableType:
    """A message; a message that only carries a context selection to its gate is shown in one
    line, and an answer with files as its text and their names.
    """
    offer = _describe_offer(content)
    if not offer:
        text, names = _read_answer_with_files(content)
        if not names:
            return value_view(content, extent)
        return Group(value_view(text, extent), Text(f"with {clean(names)}", style="dim"))
    return Text(offer, style="dim")


def _describe_offer(content: Any) -> str:
    """A message that only carries a context selection, in a few words; empty for any other."""
    selector = offered_in(content)
    if selector is None:
        return ""
    number = len(selector.candidates)
    what = "candidate" if number == 1 else "candidates"
    return f'{number} {what} for the context slot "{clean(selector.slot_id)}"'


MAX_ERROR: Final = 2_000
"""Characters of an error with its remedy, or of a reason."""


# ------------------------------------------------------------------------ one gate


def gate_view(
    gate: Gate,
    names: Mapping[str, str] | None = None,
    *,
    checklist: Checklist | None = None,
    asking: bool = False,
    extent: Extent | None = None,
) -> RenderableType:
    """Everything that a person needs for deciding, the author's words first.

    names:     artifact id → name, for a gate that asks for a context selection.
    checklist: with this person's ticks; None begins a new one.
    asking:    a person is asked now and can turn the pages of a long list.
    extent:    how much of the values is shown; it knows afterwards whether anything is cut.
    """
    from cinatra_sdk.gates.forms.selection_form import SelectionForm

    extent = extent or Extent()
    form = gate.form
    said: Sequence[Mapping[str, JsonValue]] = gate.said
    if isinstance(form, SelectionForm):
        said = without_offer(said, form.selector)
    parts: list[RenderableType] = [said_view(said, extent)] if said else []
    parts += description_of(gate)
    if isinstance(form, SelectionForm):
        parts += _format_values(other_values(gate.values), extent)
        offered = checklist or Checklist.of(form.selector, names)
        parts.append(checklist_view(offered, asking=asking, extent=extent))
        form = form.carrier
    elif gate.model_question:
        parts.append(value_view(gate.model_question, extent))
    else:
        parts += values_after_message(gate.values, extent)
    # A setup gate shows the given inputs; the inputs that it asks for have no values yet.
    shown = [*parts, *_format_asked_fields(form)] if gate.step == 0 or not parts else parts
    shown = shown or [Text("no data to show", style="dim italic")]
    return Group(gate_heading(gate), *(below_heading(part) for part in shown))


def asked_gate_view(asked: AskedGate, extent: Extent) -> RenderableType:
    """A gate as it was asked, and what became of it."""
    decision = asked.decision
    about = {
        "run": asked.run_id,
        "asked": format_moment(asked.opened_at),
        asked.state: format_moment(asked.settled_at),
        "showed": asked.gate.shown[:SHORT],
        "also showed": ", ".join(one[:SHORT] for one in asked.others),
    }
    told = {name: clean(text) for name, text in about.items() if text}
    most = max(map(len, told))
    parts: list[RenderableType] = [gate_view(asked.gate, extent=extent)]
    parts += [
        Indented(Member(name.ljust(most), Text(text), is_words=False, indent=0))
        for name, text in told.items()
    ]
    if decision is not None:
        parts.append(Indented(decisions_table([decision], extent)))
    elif asked.state == "open":
        parts.append(Indented(Text("it waits for a decision")))
    return Group(*parts)


def gate_heading(gate: Gate) -> Pieces:
    name = Text.assemble(("◆ ", "yellow"), (clean(gate.name), "bold"))
    about = (*_describe_kind(gate), gate.id)
    return Pieces([name, *(Text(clean(part), "dim") for part in about)], after_first="   ")


def description_of(gate: Gate) -> list[RenderableType]:
    text = clean(gate.description, lines=True)
    return [Words(Text(text), 0)] if text else []


def _describe_kind(gate: Gate) -> tuple[str, ...]:
    if gate.model_question:
        return ("a question",)
    step = "before a call" if gate.step == CALL_STEP else f"step {gate.step}"
    return (step, f"risk {gate.risk}")


def values_after_message(values: Mapping[str, Any], extent: Extent) -> list[RenderableType]:
    """The values of a gate, the author's message to the person first."""
    if not _is_message(values.get(MESSAGE)):
        return _format_values(values, extent)
    others = {name: value for name, value in values.items() if name != MESSAGE}
    return [value_view(values[MESSAGE], extent), *_format_values(others, extent)]


def _format_values(values: Mapping[str, Any], extent: Extent) -> list[RenderableType]:
    return [values_view(values, extent)] if values else []


def _format_asked_fields(form: AnswerForm) -> list[RenderableType]:
    """The fields that a gate asks for, with their kinds and the author's descriptions.

    Empty for a gate that asks for a yes.
    """
    from cinatra_sdk.data.ports import properties_of
    from oas_compiler.cli.view.values import kind, words_of

    if form.fields_schema is None:
        return []
    fields = properties_of(form.fields_schema) or {form.output: form.fields_schema}
    return [
        Member(
            clean(name),
            Text("\n".join([kind(part), *words_of(name, part)])),
            is_words=True,
            indent=0,
        )
        for name, part in fields.items()
    ]


def _is_message(value: Any) -> bool:
    """Whether `output` is a message to the person, and not an output of a node."""
    return isinstance(value, str) and len(value.split()) > 1


def below_heading(part: RenderableType) -> Indented:
    """A part of the view of a gate, below the name of the gate."""
    return Indented(part, by=2)


# ----------------------------------------------------------------------------
# Gates of the same node in several runs: first what all of them show, then the rest of each gate.
#
#     ◆ Review the draft   step 1 · risk read_only · review_draft
#       the same at all 2:
#         body  Hello
#     1 of 2 · run n1 · waiting · Newsletter
#       topic  Bees
#     2 of 2 · run n2 · waiting · Newsletter
#       topic  Ants
#
# Together the parts show all that `gate_view` shows.


def has_plain_view(gate: Gate) -> bool:
    """Whether `gate_view` of a gate is its heading, its description and its values, and no more."""
    from cinatra_sdk.gates.forms.selection_form import SelectionForm

    is_special = isinstance(gate.form, SelectionForm) or gate.question or gate.said
    return bool(gate.values) and gate.step != 0 and not is_special


def shared_view(gates: Sequence[Gate], extent: Extent | None = None) -> RenderableType:
    """What gates of one node in several runs have in common: their heading, their description and the
    values that all of them show; `rest_view` shows the rest of each.
    """
    parts, common = description_of(gates[0]), find_common(gates)
    if common:
        parts.append(Text(f"the same at all {len(gates)}:", style="dim"))
        parts += [below_heading(part) for part in values_after_message(common, extent or Extent())]
    return Group(gate_heading(gates[0]), *(below_heading(part) for part in parts))


def rest_view(
    gate: Gate, common: Mapping[str, Any], extent: Extent | None = None
) -> RenderableType:
    """The values of a gate that are not `common` to the gates shown with it."""
    rest = {name: value for name, value in gate.values.items() if name not in common}
    parts = values_after_message(rest, extent or Extent()) or [Text("as above", style="dim")]
    return Group(*(below_heading(part) for part in parts))


def find_common(gates: Sequence[Gate]) -> dict[str, Any]:
    """The values that all of the gates show, compared as JSON: 1 and true are two values."""
    shown = [{name: json.dumps(v) for name, v in gate.values.items()} for gate in gates]
    return {
        name: value
        for name, value in gates[0].values.items()
        if all(one.get(name) == shown[0][name] for one in shown)
    }


# ------------------------------------------------------------------------ commands


def how_to_answer(run_id: str, gate: Gate, given: GivenOptions) -> RenderableType:
    """The commands that answer a gate, each with the gate's name and what it shows."""
    return Group(*(command_line(line) for line in commands_of(run_id, gate, given)))


def commands_of(run_id: str, gate: Gate, given: GivenOptions) -> list[str]:
    """The commands that answer a gate; the first command approves it."""
    from cinatra_sdk.gates.forms.approval_forms import TextForm

    def command(name: str, *more: str) -> str:
        return given.command(name, f"{run_id}/{gate.id}", *seen_of(gate), *more)

    reject = command("reject", "--reason", "…")
    if gate.is_question:
        lines = [command("answer", "--text", "…"), reject]
    elif gate.form.needs_data:
        lines = [command_with_data(gate, run_id, given), reject]
    else:
        lines = [command("approve"), reject]
        if gate.is_deniable:
            lines.append(command("deny", "--reason", "…"))
        if isinstance(gate.form, TextForm) and gate.form.takes_words:
            lines.append(command("answer", "--text", "…"))
    if options_of_form(gate.form) is not None:
        lines.append(f"{command('answer')}   (at a terminal: shows the list and asks)")
    return lines


def command_with_data(gate: Gate, run_id: str, given: GivenOptions) -> str:
    """The command that approves a gate with data, or with artifacts, that fit it.

    A … stands for the words of the person, and is refused: an example would be an answer.
    """
    selected = options_of_form(gate.form)
    if selected is None and takes_any_text(gate):
        selected = ["--text", "…"]
    if selected is None:
        selected = ["--value", json.dumps(blank_out(gate.example()), ensure_ascii=False)]
    return given.command("answer", f"{run_id}/{gate.id}", *seen_of(gate), *selected)


def settle_commands(run_id: str, key: str, given: GivenOptions, *more: str) -> list[str]:
    """The two commands that settle a call: one for a call that happened, one for a call that did not."""
    return [
        given.command("settle", run_id, key, *shlex.split(words), *more)
        for words in (HAPPENED, DID_NOT_HAPPEN)
    ]


def seen_of(gate: Gate) -> tuple[str, str]:
    """The option with the hash of the gate's content, which a decision is about."""
    return ("--shown", gate.shown[:SHORT])


# ------------------------------------------------------------------------ one run


def extent_of(run_id: str, given: GivenOptions, *, whole: bool = False) -> Extent:
    """How much of a run's values is shown, and the command that shows all of them."""
    return Extent(whole=whole, way=f"{given.command('show', run_id, '--full')} has all")


def outcome_view(
    run: Run,
    given: GivenOptions,
    names: Mapping[str, str] | None = None,
) -> RenderableType:
    """Where a run stands: its result, its error, or its waiting gates.

    given: options for the commands that continue the run.  names: artifact id → name, for gates
    that ask for a context selection.
    """
    return Group(*_format_outcome(run, given, extent_of(run.id, given), names))


def run_view(
    run: Run,
    decisions: Sequence[Mapping[str, Any]],
    chosen: Sequence[ChosenContext],
    now: datetime,
    *,
    needed: Lacking,
    names: Mapping[str, str] | None = None,
    extent: Extent | None = None,
    unknown: Sequence[UnknownEffect] = (),
    settled: Sequence[Settlement] = (),
    usage: Sequence[ModelUsage] = (),
    asked: Sequence[str] = (),
    makes_calls: bool = True,
    acts: bool = False,
) -> RenderableType:
    """Everything about a run.

    needed: options for a command that continues the run; `names` as in `outcome_view`.  extent: how
    much of its values is shown.  unknown: calls that a person has to settle.  settled: what people said of others.
    usage: what its models used up.  asked: models, servers and agents that it asks.
    makes_calls: False leaves out whom it calls.  acts: its graph is code of the host.
    """
    extent = extent or Extent()
    parts: list[RenderableType] = [
        Indented(_format_run_facts(run, now, asked, makes_calls, extent, acts=acts))
    ]
    if run.input:
        parts += [_format_title("inputs"), Indented(values_view(run.input, extent))]
    if decisions:
        parts += [_format_title("decisions"), Indented(decisions_table(decisions, extent))]
    if chosen:
        parts += [
            _format_title("context"),
            Indented(chosen_table(chosen, list_choosers(decisions), extent)),
        ]
    if settled:
        parts += [_format_title("settled calls"), Indented(settlements_table(settled, extent))]
    if usage:
        parts += [_format_title("models"), Indented(usage_table(usage))]
    for call in unknown:
        parts += [
            _format_title("may have happened, or not"),
            Indented(
                Text(
                    f"{extent.cut(clean(call.capability), MAX_TEXT)}   "
                    f"by {extent.cut(clean(call.path), MAX_TEXT)}, key {clean(call.key)}"
                )
            ),
            *([Indented(Words(Text(extent.cut(clean(call.why), MAX_ERROR))))] if call.why else []),
            *(
                command_line(line)
                for line in settle_commands(run.id, call.key, needed.whole, "--reason", "…")
            ),
        ]
    first, *rest = _format_outcome(run, needed.whole, extent, names)
    can_go_on = run.status in {"waiting", "failed", "running"} and run.archived_at is None
    if needed.lacks and can_go_on:
        rest += [
            _format_title("to be given by the person who continues it"),
            Indented(Group(*reasons(needed.lacks))),
        ]
    if extent.is_cut:
        rest.append(Words(Text(f"what ends in … is cut; {extent.way}", style=NOTE)))
    return Group(first, *parts, *rest)


def _format_run_facts(
    run: Run, now: datetime, asked: Sequence[str], makes_calls: bool, extent: Extent, *, acts: bool
) -> RenderableType:
    calls = " ".join(addresses(run.platform, Own(), "refused", acts=acts)) if makes_calls else ""
    about = {
        "flow": run.flow,
        "file": run.file,
        "digest": run.digest[:16],
        "tenant": run.tenant,
        "started by": run.started_by,
        "begun": format_moment(run.created_at),
        "changed": f"{format_moment(run.updated_at)} ({format_since(run.updated_at, now)} ago)",
        "calls": "" if asked and calls == "nothing" else calls,
        "asks": "; ".join(asked),
        "reads": ", ".join(sorted(run.variables)),
    }
    told = {name: extent.cut(clean(text), MAX_TEXT) for name, text in about.items() if text}
    most = max(map(len, told))
    words = {"calls", "asks", "reads"}
    return Group(
        *(
            Member(name.ljust(most), Text(text), is_words=name in words, indent=0)
            for name, text in told.items()
        )
    )


def _shorten_record(
    outputs: Mapping[str, Any], given: GivenOptions, extent: Extent
) -> Mapping[str, Any]:
    """The outputs of a governed run with the name of its record, which has a view of its own."""
    record = outputs.get("decision_record")
    if extent.whole or not isinstance(record, Mapping) or "agent_identity" not in record:
        return outputs
    name = str(record.get("record_id"))
    return {**outputs, "decision_record": f"{name} (see {given.command('records', name)})"}


def _format_outcome(
    run: Run, given: GivenOptions, extent: Extent, names: Mapping[str, str] | None
) -> Iterator[RenderableType]:
    branch = "" if run.branch in {None, "next"} else extent.cut(clean(str(run.branch)), MAX_NAME)
    by = f"   by branch {branch}" if branch else ""
    stands = Text.assemble("run ", clean(run.id), "  ", status_text(run.status), by)
    yield unbroken(stands)
    if run.messages:
        yield _format_title("messages")
        for message in run.messages:
            for said in list_said(message):
                yield Indented(message_view(said, extent))
    if run.outputs:
        yield _format_title("outputs")
        yield Indented(values_view(_shorten_record(run.outputs, given, extent), extent))
    if run.error is not None:
        yield _format_title("error")
        yield Words(Text(extent.cut(clean(str(run.error.get("message", ""))), MAX_ERROR), "red"))
    if stilled := _describe_who_stilled(run, extent):
        yield Words(Text(stilled))
    if run.status == "waiting" and (run.error or {}).get("code") == "effect_unknown":
        yield command_line(f"{given.command('show', run.id)}   (lists the calls to be settled)")
    for problem in told_unreadable(run, given):
        yield Words(Text(extent.cut(clean(problem), MAX_ERROR), style="red"))
    for gate in run.waiting:
        yield Text("")
        told = {message.get("id") for message in run.messages}
        heard = [message for message in gate.said if message.get("id") not in told]
        yield gate_view(replace(gate, said=tuple(heard)), names, extent=extent)
        yield how_to_answer(run.id, gate, given)
    yield from _how_to_go_on(run, given)


def _describe_who_stilled(run: Run, extent: Extent) -> str:
    """Who stopped or paused it; empty where nobody did."""
    if run.status == "stopped" and run.stopped_by:
        said_why = extent.cut(clean(run.stop_reason), MAX_ERROR)
        reason = f": {said_why}" if run.stop_reason else ""
        return f"stopped by {clean(recorded_name(run.stopped_by))}{reason}"
    if run.paused_at is not None:
        who = clean(recorded_name(run.paused_by)) or "somebody"
        return f"paused by {who}: nobody goes on with it until a person does"
    return ""


def _how_to_go_on(run: Run, given: GivenOptions) -> Iterator[RenderableType]:
    if run.archived_at is not None:
        when = format_moment(run.archived_at)
        yield Words(Text(f"archived {when}: nobody can go on with it; what happened in it stays"))
        return
    if run.status == "failed" and (run.error or {}).get("code") == "below_min_items":
        words = "this run keeps what its slot was offered: start a new one with more artifacts"
        yield Words(Text(words))
        return
    if run.status in {"failed", "running"} or run.paused_at is not None:
        why = "try again" if run.status == "failed" else "if no process works on it"
        why = "goes on" if run.paused_at is not None else why
        yield command_line(f"{given.command('resume', run.id)}   ({why})")
    if run.status in {"failed", "running", "waiting"}:
        yield from export_first(given)


def told_unreadable(run: Run, given: GivenOptions) -> list[str]:
    """The unreadable parts of a stored run, their places, and the remedy."""
    if run.status in ENDED:
        return [f"cannot be read: {problem}" for problem in run.unreadable]
    return tell_problems(run.id, run.unreadable, given)


def tell_problems(run_id: str, problems: Sequence[str], given: GivenOptions) -> list[str]:
    """As `told_unreadable`, of a run that has not ended."""
    if not problems:
        return []
    told = [f"cannot be read: {problem}" for problem in problems]
    way = f"{given.command('resume', run_id)} writes it again from the run's checkpoint"
    return [*told, f"{way}; {given.command('stop', run_id)} ends the run"]


def _format_title(text: str) -> Text:
    return Text(f"  {text}", style="bold")


def command_line(line: str) -> Text:
    """A line to copy, which is never broken here."""
    return unbroken(Text(f"  {line}"))
