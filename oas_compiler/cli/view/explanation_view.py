"""An explanation as text for 80 columns and more.

In: an `Explanation`.  Out: text for rich to print: the flow, its inputs, nodes, gates, sends, calls
and results, and the data that a host derives.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from cinatra_sdk.contract import is_send_class
from cinatra_sdk.data.text.message_words import say_number
from oas_compiler.cli.terminal.printable_text import clean as _clean
from oas_compiler.cli.terminal.printable_text import cut
from oas_compiler.explain import Explanation
from oas_compiler.explain.explanation import (
    TOOL_WORDS,
    Feed,
    GateFacts,
    NodeFacts,
    Read,
    Send,
    Write,
)
from oas_compiler.ir import Json, JsonValue
from oas_compiler.text.safe_text import without_secrets

# ----------------------------------------------------------------------------
# Building blocks of the views of an explanation: tables without lines, and short safe texts.


MAX_DEFAULT: Final = 40
MAX_NAME: Final = 48
MAX_LINES: Final = 20
NOTE: Final = "dim"


def clean(text: str, *, lines: bool = False) -> str:
    """A text of a flow, safe for a terminal and without text that looks like a credential."""
    return _clean(without_secrets(text), lines=lines)


def grid(columns: int) -> Table:
    """A table; only the last column may break, so names stay whole."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for index in range(columns):
        last = index == columns - 1
        table.add_column(
            no_wrap=not last, overflow="fold" if last else "ignore", min_width=0 if index else 5
        )
    return table


def name_of(text: str) -> str:
    """A name for a column that never breaks."""
    return cut(clean(text), MAX_NAME)


def word(text: str) -> Text:
    return Text(clean(text), style=NOTE)


def indented(thing: RenderableType, by: int = 4) -> Padding:
    return Padding(thing, (0, 0, 0, by), expand=False)


def lines_of(names: Sequence[str]) -> str:
    """Texts in lines; of many texts the first ones."""
    shown = [clean(name) for name in names[:MAX_LINES]]
    if len(shown) < len(names):
        shown.append(f"… and {len(names) - len(shown)} more; --json has all")
    return "\n".join(shown)


def short(value: Json) -> str:
    return cut(clean(value.text), MAX_DEFAULT)


def risk_style(risk: str) -> str:
    return "bold red" if is_send_class(risk) else NOTE


# ----------------------------------------------------------------------------
# The nodes of an explanation, its gates and its sends.
#
# In: an `Explanation`.  Out: text for rich to print.
#
#     ◆ review  InputMessageNode  step 1 · read_only
#         then   send
#         reads  draft   write
#         gives  answer  send.note
#
# `reads draft  write` means: the input `draft` comes from the output `draft` of the node `write`; an
# output with another name is written `write.text`.


MAX_READERS: Final = 12


def nodes_view(explained: Explanation) -> RenderableType:
    top = Tree("", hide_root=True, guide_style="dim")
    branches = {"": top}
    shown_at = find_showing_gates(explained)
    for node in explained.nodes:
        # an id may hold a slash itself
        around = branches[node.path.removesuffix(f"/{node.id}")] if node.depth else top
        details = details_of(node, shown_at=shown_at.get(node.path, ()))
        label = Group(title_of(node), Padding(details, (0, 0, 0, 4)))
        branches[node.path] = around.add(label)
        for flow in node.flows:
            name = Text(clean(flow.name or flow.id), style="italic")
            branches[flow.path] = branches[node.path].add(name)
    return indented(top, 2)


def title_of(node: NodeFacts, *, full: bool = False) -> Text:
    mark, colour = ("◆", "yellow") if node.gate is not None else ("●", "cyan")
    title = Text.assemble((mark, colour), " ", (clean(node.path if full else node.id), "bold"))
    title.append(f"  {node.role or node.type}", NOTE)
    facts = []
    if node.steps:
        facts.append(f"step{'s' if len(node.steps) > 1 else ''} {', '.join(map(str, node.steps))}")
    elif node.gate is not None:
        facts.append(f"step {node.gate.step}")
    risk = node.gate.risk_class if node.gate is not None else node.risk_class
    if risk:
        facts.append(clean(risk))
    if facts:
        # a gate does not send: its risk class describes the nodes that it guards
        style = NOTE if node.gate is not None else risk_style(risk)
        title.append("  " + " · ".join(facts), style)
    if not node.reached:
        title.append("  never runs", "red")
    return title


def find_showing_gates(explained: Explanation) -> dict[str, tuple[str, ...]]:
    """Path of a node → the ids of the gates that show its outputs without an edge."""
    found: dict[str, tuple[str, ...]] = {}
    for node in explained.nodes:
        around = node.path.removesuffix(node.id)
        for before in node.gate.shows_after if node.gate is not None else ():
            path = f"{around}{before}"
            found[path] = (*found.get(path, ()), node.id)
    return found


def details_of(
    node: NodeFacts, *, full: bool = False, shown_at: Sequence[str] = ()
) -> RenderableType:
    """shown_at: the gates that show the node's outputs."""
    tables = (_format_facts(node, full), _format_ports(node, full, shown_at))
    return Group(*(table for table in tables if table.row_count))


def _format_facts(node: NodeFacts, full: bool) -> Table:
    """Facts about the whole node: a word and its text."""
    table = grid(2)
    if full and node.gate is None and node.name not in {"", node.id}:
        table.add_row(word("name"), Text(clean(node.name)))
    if node.package:
        table.add_row(word("child"), Text(clean(node.package)))
    if node.call is not None:
        table.add_row(word("calls"), _format_call(node))
    if node.confirmed:
        table.add_row(word("asks"), Text("a person, each time before it works"))
    for what in node.told:
        table.add_row(word("tells"), Text(clean(what)))
    if full and node.prompt:
        table.add_row(word("prompt"), Text(clean(node.prompt, lines=True)))
    if len(node.ways) == 1:
        table.add_row(word("then"), Text(clean(node.ways[0].to) or "nowhere"))
    return table


def _format_ports(node: NodeFacts, full: bool, shown_at: Sequence[str]) -> Table:
    """The node's branches, inputs and outputs: a word, the name, and its source or target."""
    table = grid(3)
    for way in node.ways if len(node.ways) > 1 else ():
        line = Text(clean(way.to) or "nowhere")
        if way.values:
            line.append(f"  for {', '.join(map(clean, way.values))}", NOTE)
        table.add_row(word("on"), Text(name_of(way.branch), style="magenta"), line)
    # the inputs of a subflow are shown at its FlowNode
    for read in node.reads if full or node.type != "StartNode" else ():
        what = _format_read(read)
        if full and read.templates:
            what.append(f"  in {', '.join(map(clean, read.templates))}", NOTE)
        table.add_row(word("reads"), name_of(read.input), what)
    before: list[str] = []
    for write in node.writes if full or node.type != "EndNode" else ():
        readers = _list_readers(write)
        same = len(readers) > 1 and readers == before
        before = readers
        what = Text("the same", NOTE) if same else _format_readers(write, shown_at, full=full)
        table.add_row(word("gives"), name_of(write.output), what)
    return table


def _format_call(node: NodeFacts) -> Text:
    call = node.call
    assert call is not None
    if call.kind in TOOL_WORDS:
        return Text(f"the {clean(call.target)}")
    line = Text.assemble((clean(call.method), "green"), " ", clean(call.url))
    if call.tool:
        line.append(f"  tool {clean(call.tool)}", NOTE)
    return line


def _format_read(read: Read) -> Text:
    if read.origin == "run":
        return Text("the run's input", NOTE)
    if read.origin == "parent":
        return Text(_format_source(read.feeds[0], read.input))
    if read.origin == "nothing":
        return Text("nothing", "red")
    if read.origin == "default":
        assert read.default is not None
        return Text(f"default {short(read.default)}", NOTE)
    line = Text(_format_sources(read))
    if read.default_counts and read.default is not None:
        line.append(f", else default {short(read.default)}", NOTE)
    return line


def _format_sources(read: Read) -> str:
    if len(read.feeds) == 1:
        return _format_source(read.feeds[0], read.input)
    names = [_format_source(feed, read.input) for feed in read.feeds]
    # the StartNode runs first: its value counts until another source has run
    if read.base is not None:
        base = names.pop(read.feeds.index(read.base))
        return f"{_join_alternatives(names)}, else {base}"
    return _join_alternatives(names)


def _join_alternatives(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{' or '.join(names)}, the last to run"


def _format_source(feed: Feed, name: str) -> str:
    return clean(feed.node if feed.output == name else f"{feed.node}.{feed.output}")


def _list_readers(write: Write) -> list[str]:
    """The readers of an output; an input with the output's name is not repeated."""
    return [clean(reader.removesuffix(f".{write.output}")) for reader in write.readers]


def _format_readers(write: Write, shown_at: Sequence[str], *, full: bool) -> Text:
    readers = _list_readers(write)
    readers += [f"shown at {clean(gate)}" for gate in shown_at if clean(gate) not in readers]
    if write.leaves_as:
        readers.append("the run's result" if write.leaves_as == "result" else write.leaves_as)
    if not readers:
        return Text("not used", NOTE)
    shown = readers if full else readers[:MAX_READERS]
    line = Text(", ".join(shown))
    if len(shown) < len(readers):
        line.append(f" and {len(readers) - len(shown)} more", NOTE)
    return line


# ------------------------------------------------------------------------ gates and sends


def gates_view(explained: Explanation) -> RenderableType | None:
    if not explained.gates:
        return None
    blocks: list[RenderableType] = []
    for gate in explained.gates:
        title = Text.assemble((f"{gate.step:>2}  ", "yellow"), (clean(gate.path), "bold"))
        title.append(f"  {clean(gate.risk_class)}", NOTE)
        blocks += [title, indented(gate_lines(gate))]
    return indented(Group(*blocks), 2)


def gate_lines(gate: GateFacts) -> Table:
    table = grid(2)
    table.add_row(word("name"), clean(gate.name))
    table.add_row(word("screen"), clean(gate.renderer))
    if not gate.asks:
        table.add_row(word("asks"), Text("nobody: its step says requiresApproval false", "red"))
    table.add_row(
        word("answer"), Text.assemble(clean(gate.answer), (_format_asked_fields(gate), NOTE))
    )
    of_flow = [f"{name} of the flow" for name in gate.shows_inputs if name not in gate.shows]
    shown = [*gate.shows, *(f"what {node} gave" for node in gate.shows_after), *of_flow]
    shown += ["its message"] if gate.shows_message else []
    if shown:
        table.add_row(word("shows"), clean(", ".join(shown)))
    if gate.max_visits is not None:
        table.add_row(word("at most"), say_number(gate.max_visits, "visit"))
    if is_send_class(gate.risk_class) and not gate.guards and not gate.also_before:
        table.add_row(word("guards"), Text("nothing that sends, in spite of its class", NOTE))
    if gate.guards:
        table.add_row(word("guards"), Text(lines_of(gate.guards), "green"))
    if gate.also_before:
        sends = lines_of(gate.also_before)
        table.add_row(word("before"), Text.assemble(sends, ("  on some ways only", NOTE)))
    return table


def _format_asked_fields(gate: GateFacts) -> str:
    """The fields that a person fills in, the required ones marked."""
    schema = gate.answer_schema.mapping() if gate.answer_schema is not None else {}
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict) or not properties:
        return ""
    needed = required if isinstance(required, list) else []
    names = [f"{clean(name)}{'*' if name in needed else ''}" for name in properties]
    return f"  {', '.join(names)}"


def sends_view(explained: Explanation) -> RenderableType | None:
    if not explained.sends:
        return None
    blocks: list[RenderableType] = []
    for send in explained.sends:
        title = Text.assemble((clean(send.path), "bold"), (f"  {clean(send.risk_class)}", "red"))
        blocks += [title, indented(send_lines(send))]
    return indented(Group(*blocks), 2)


def send_lines(send: Send) -> Table:
    table = grid(2)
    if not send.guarded:
        table.add_row(word("guard"), Text("none on at least one way", "bold red"))
    if send.always:
        table.add_row(word("always"), Text(lines_of(send.always), "green"))
    if send.sometimes:
        table.add_row(word("some ways"), lines_of(send.sometimes))
    return table


MAX_PROPERTIES: Final = 12
_ROLES: Final = {
    "asked": "asked before the run",
    "caller": "the caller gives it",
    "optional": "optional",
    "host": "only the host sets it",
}


def explanation_view(explained: Explanation) -> RenderableType:
    """The whole explanation."""
    parts: list[RenderableType] = [_format_heading(explained)]
    sections = (
        ("inputs", _format_inputs(explained)),
        ("nodes", nodes_view(explained)),
        ("gates", gates_view(explained)),
        ("sends", sends_view(explained)),
        ("calls", _format_calls(explained)),
        ("results", _format_results(explained)),
        ("environment", _format_environment(explained)),
        ("what a host derives", _format_derived(explained)),
    )
    for title, content in sections:
        if content is not None:
            parts += [Text(""), Text(title, style="bold underline"), content]
    return Group(*parts)


def node_view(explained: Explanation, node: NodeFacts) -> RenderableType:
    """One node, with the details that the list leaves out."""
    parts: list[RenderableType] = [title_of(node, full=True)]
    if node.description:
        parts.append(indented(Text(clean(node.description), style="italic")))
    shown_at = find_showing_gates(explained).get(node.path, ())
    parts.append(indented(details_of(node, full=True, shown_at=shown_at)))
    if node.gate is not None:
        parts.append(indented(gate_lines(node.gate)))
        if node.gate.answer_schema is not None:
            text = json.dumps(node.gate.answer_schema.value(), indent=2, ensure_ascii=False)
            parts.append(indented(Text("schema of the answer", style=NOTE)))
            parts.append(indented(Text(clean(text, lines=True))))
    send = next((one for one in explained.sends if one.path == node.path), None)
    if send is not None:
        parts.append(indented(send_lines(send)))
    return Group(*parts)


# ------------------------------------------------------------------------ the flow


def _format_heading(explained: Explanation) -> RenderableType:
    gates, sends = len(explained.gates), len(explained.sends)
    calls = sum(node.call is not None for node in explained.nodes)
    counts = [
        say_number(len(explained.nodes), "node"),
        say_number(gates, "gate"),
        say_number(calls, "call"),
        say_number(sends, "send"),
    ]
    named = " ".join(part for part in (explained.package, explained.version) if part)
    lines: list[RenderableType] = [Text(clean(explained.name), style="bold")]
    if named:
        lines.append(Text(clean(named), style="cyan"))
    lines.append(Text(" · ".join(counts), style=NOTE))
    if explained.description:
        lines += [Text(""), Text(clean(explained.description))]
    return Group(*lines)


def _format_inputs(explained: Explanation) -> RenderableType | None:
    if not explained.inputs:
        return None
    table = grid(3)
    for one in explained.inputs:
        how = Text(_ROLES[one.role], style="yellow" if one.role in {"asked", "host"} else "")
        if one.hidden and one.role != "host":
            how.append(", never asked for", NOTE)
        if one.default is not None:
            how.append(f", default {short(one.default)}", NOTE)
        elif one.role == "optional":
            # A node that reads it fails without it, if the node has no default either.
            how.append(", no default", NOTE)
        kind = Text(name_of(one.type), NOTE)
        table.add_row(Text(name_of(one.title), style="bold"), kind, how)
    return indented(table, 2)


def _format_results(explained: Explanation) -> RenderableType | None:
    if not explained.outputs:
        return None
    table = grid(3)
    for one in explained.outputs:
        ends = ", ".join(clean(end) for end in one.readers) or "its default"
        kind = Text(name_of(one.type), NOTE)
        table.add_row(Text(name_of(one.output), style="bold"), kind, ends)
    return indented(table, 2)


def _format_environment(explained: Explanation) -> RenderableType | None:
    if not explained.environment:
        return None
    table = grid(2)
    for one in explained.environment:
        line = f", first in line {one.line}" if one.line else ""
        given = " (given)" if one.given else ""
        table.add_row(
            Text(f"{{{{{one.name}}}}}", style="bold"),
            f"{say_number(one.count, 'time')}{line}{given}",
        )
    return indented(table, 2)


# ------------------------------------------------------------------------ calls and the host


def _format_calls(explained: Explanation) -> RenderableType | None:
    found: dict[tuple[str, str], list[str]] = {}
    for node in explained.nodes:
        if node.call is not None:
            is_request = node.call.kind not in TOOL_WORDS
            called = node.call.url if is_request else node.call.target
            found.setdefault((node.call.method, called), []).append(node.path)
    if not found:
        return None
    blocks: list[RenderableType] = []
    for (method, url), paths in found.items():
        blocks.append(Text.assemble((f"{clean(method)} " if method else "", "green"), clean(url)))
        blocks.append(indented(Text(lines_of(paths), NOTE)))
    return indented(Group(*blocks), 2)


def _format_derived(explained: Explanation) -> RenderableType:
    derived = explained.derived
    table = grid(2)
    steps = derived.approval_policy.mapping()["steps"]
    assert isinstance(steps, list)
    table.add_row(word("approvalPolicy"), say_number(len(steps), "step"))
    table.add_row(word("inputSchema"), _schema_line(derived.input_schema))
    table.add_row(word("outputSchema"), _schema_line(derived.output_schema))
    table.add_row(word("triggerMode"), clean(derived.trigger_mode))
    table.add_row(word("gatedSteps"), _format_gated_steps(explained))
    agents = derived.agent_dependencies.mapping()
    ranges = [
        f"{name} {wanted if isinstance(wanted, str) else '?'}" for name, wanted in agents.items()
    ]
    table.add_row(word("agentDependencies"), clean("\n".join(ranges), lines=True) or "none")
    for key, value in derived.limits.mapping().items() if derived.limits is not None else ():
        table.add_row(word(key), short(Json.of(value)))
    if explained.context_slots:
        table.add_row(word("contextSlots"), clean(", ".join(explained.context_slots)))
    if derived.produces_object_types:
        types = clean(", ".join(derived.produces_object_types))
        table.add_row(word("producesObjectTypes"), types)
    parts: list[RenderableType] = [table]
    seen: set[str] = set()
    for step, node, mapping in derived.input_mapping:
        if node not in seen:
            seen.add(node)
            parts.append(_format_input_mapping(step, node, mapping.mapping()))
    return indented(Group(*parts), 2)


def _format_gated_steps(explained: Explanation) -> Text:
    """The steps that a trigger holds back, in contrast to gates, which hold back every run."""
    line = Text(", ".join(map(str, explained.derived.gated_steps)) or "none")
    if explained.gates and not explained.derived.gated_steps:
        line.append("; no step has side effects of its own, and the gates ask all the same", NOTE)
    return line


def _format_input_mapping(step: int, node: str, mapping: dict[str, JsonValue]) -> RenderableType:
    table = grid(2)
    for name, template in mapping.items():
        table.add_row(name_of(name), Text(clean(str(template)), NOTE))
    title = Text.assemble(("inputMapping ", NOTE), f"step {step} ", (clean(node), "bold"))
    return Group(title, indented(table))


def _schema_line(schema: Json | None) -> str:
    if schema is None:
        return "null"
    described = schema.mapping()
    properties, required = described.get("properties"), described.get("required")
    names = list(properties) if isinstance(properties, dict) else []
    needed = required if isinstance(required, list) else []
    shown = [f"{name}{'*' if name in needed else ''}" for name in names[:MAX_PROPERTIES]]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return clean(", ".join(shown) + more) or "no properties"
