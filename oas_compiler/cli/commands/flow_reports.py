"""`oasflow explain`: the inputs, outputs, gates and sends of a flow, without running it; `oasflow diff`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from itertools import groupby
from typing import Annotated, Final

import typer
from rich.text import Text

from cinatra_sdk.data.text.message_words import did_you_mean, say_number
from oas_compiler.checks.credentials.credential_cover import Labels
from oas_compiler.cli.commands.check import tell_errors
from oas_compiler.cli.host import options
from oas_compiler.cli.host.options import FileOptions
from oas_compiler.cli.host.resources import loading
from oas_compiler.cli.terminal.exits import Exit, Halt, report_findings
from oas_compiler.cli.terminal.findings_view import view_of_findings
from oas_compiler.cli.terminal.printable_text import clean
from oas_compiler.cli.terminal.streams import Terminal
from oas_compiler.diff import Change, Difference
from oas_compiler.diff import diff as differences
from oas_compiler.explain import Explanation
from oas_compiler.explain.explainer import explain_prepared
from oas_compiler.explain.explanation import NodeFacts
from oas_compiler.findings.finding import Findings
from oas_compiler.pipeline import Compiled, check_prepared, compile_ir, prepare
from oas_compiler.report.diagnostics import CompileError
from oas_compiler.text.safe_text import without_secrets
from oas_compiler.text.source import read_source


def explain(
    path: options.FlowPath,
    node: Annotated[
        str, typer.Option("--node", metavar="ID", help="Only this node; an id or a path a/b.")
    ] = "",
    *,
    file: FileOptions,
) -> Exit:
    """Say what a flow does: its nodes in order, its gates and what they guard, its calls.

    With --json also the approval policy, the schemas and the mappings that a host derives.
    """
    from oas_compiler.cli.view.explanation_view import explanation_view, node_view

    terminal = file.open_terminal()
    values = file.read_env()
    prepared = prepare(path, env_names=tuple(values), loading=loading())
    explained = explain_prepared(prepared, env=values)
    tell_errors(terminal, path, explained.file, check_prepared(prepared))
    if node:
        chosen = _select_nodes(explained, node)
        for one in chosen:
            terminal.show(node_view(explained, one))
        everything = explained.to_json()["nodes"]
        wanted = {one.path for one in chosen}
        assert isinstance(everything, list)
        records = [one for one in everything if isinstance(one, dict) and one["path"] in wanted]
        terminal.data({"nodes": records})
        return Exit.OK
    terminal.show(explanation_view(explained))
    terminal.data(explained.to_json())
    if explained.findings and not file.as_json:
        terminal.say(view_of_findings(explained.findings))
    return Exit.OK


def _select_nodes(explained: Explanation, name: str) -> tuple[NodeFacts, ...]:
    """Raises: `Halt` when there is no such node."""
    chosen = explained.named(name)
    if not chosen:
        ids = [known for node in explained.nodes for known in (node.id, node.path)]
        hint = did_you_mean(name[:80], ids[:4_000])
        message = f"there is no node '{clean(name)[:80]}' in this flow"
        raise Halt(message + (f"; {clean(hint)}" if hint else ""))
    return chosen


# ----------------------------------------------------------------------------
# `oasflow diff`: the differences between two versions of a flow, gates that got weaker above
# all.


WEAKER: Final = Exit(3)
"""Exit code of this command when a gate is weaker, or a send has lost its gate."""
_COLOURS: Final = {"!": "bold red", "-": "red", "+": "green", "~": "yellow"}


class DiffFormat(StrEnum):
    """The format of the differences."""

    text = "text"
    json = "json"
    github = "github"


def diff(
    first: Annotated[str, typer.Argument(metavar="A", help="The flow as it was.")],
    second: Annotated[str, typer.Argument(metavar="B", help="The flow as it is now.")],
    format: Annotated[  # noqa: A002 - the option's name
        DiffFormat, typer.Option(help="github: annotations for a workflow on GitHub.")
    ] = DiffFormat.text,
    as_json: options.Json = False,
) -> Exit:
    """Compare two versions of a flow: nodes, edges, types, and gates that got weaker.

    Exit code 0: nothing differs; 1: something does; 3: a gate is weaker, or a node can act on the
    world outside without a gate and could not before; 2: a file has errors or cannot be read.
    """
    terminal = Terminal.open(as_json=as_json or format is DiffFormat.json)
    flows, labels = [], Labels()
    for path in (first, second):
        compiled = _compile_flow(path, terminal, labels)
        if compiled is None:
            return Exit.USAGE
        flows.append(compiled)
    found = _locate_flow_changes(differences(flows[0].ir, flows[1].ir), flows[1])
    if format is DiffFormat.github:
        terminal.annotate(_format_annotations(found, flows[0].file, flows[1].file))
    else:
        terminal.show(_format_difference(found))
    terminal.data({"first": flows[0].file, "second": flows[1].file, **found.to_json()})
    if found.weakened:
        return WEAKER
    return Exit.OK if found.equal else Exit.FINDINGS


def _compile_flow(path: str, terminal: Terminal, labels: Labels) -> Compiled | None:
    """The flow at `path`; `None` after saying what is wrong with it."""
    try:
        return compile_ir(path, conceal=labels)
    except CompileError as error:
        message = f"{clean(path)} cannot be compared: it has errors"
        report_findings(terminal, error, message, Exit.USAGE)
        return None


def _locate_flow_changes(found: Difference, second: Compiled) -> Difference:
    """The changes of flows at the lines of the fields that changed."""
    if not any(change.code == "flow_changed" for change in found):
        return found
    source = read_source(second.source_bytes, Findings())
    if source is None:
        return found
    return Difference(
        tuple(
            replace(change, place=source.place(change.place.pointer))
            if change.code == "flow_changed"
            else change
            for change in found
        )
    )


# ---------------------------------------------------------------------------- text


def _format_difference(found: Difference) -> Text:
    if found.equal:
        return Text("the two flows are equal")
    lines = [_format_change(change, "") for change in found.weakened]
    rest = [change for change in found if change.sign != "!"]
    for flow, changes in groupby(rest, key=lambda change: change.flow):
        where = f'subflow "{clean("/".join(flow))}"' if flow else "flow"
        lines.append(Text(where, style="bold"))
        lines += [_format_change(change, "  ") for change in changes]
    lines.append(Text(_format_summary(found)))
    return Text("\n").join(lines)


def _format_change(change: Change, pad: str) -> Text:
    return Text.assemble(
        pad, (change.sign, _COLOURS[change.sign]), f" {clean(without_secrets(change.message))}{clean(_format_values(change))}"
    )  # fmt: skip


def _format_values(change: Change) -> str:
    if not change.before and not change.after:
        return ""
    return f": {change.before or 'nothing'} -> {change.after or 'nothing'}"


def _format_summary(found: Difference) -> str:
    weaker = len(found.weakened)
    every = say_number(len(found), "difference")
    return f"{every}, {weaker} of them weaken{'s' if weaker == 1 else ''} what people decide"


# ---------------------------------------------------------------------------- GitHub


def _format_annotations(found: Difference, first: str, second: str) -> Iterator[str]:
    """Workflow commands; removed parts are shown at the top of the new file."""
    from oas_compiler.report.source_text import path_from_here

    file = path_from_here(second or first)
    for change in found:
        kind = "error" if change.sign == "!" else "notice"
        line = 1 if change.gone else max(1, change.place.line)
        message = without_secrets(change.message) + _format_values(change)
        yield f"::{kind} file={_escape_annotation_property(file)},line={line},title={change.code}::{_escape_annotation_text(message)}"


def _escape_annotation_text(text: str) -> str:
    return clean(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_annotation_property(text: str) -> str:
    return _escape_annotation_text(text).replace(":", "%3A").replace(",", "%2C")
