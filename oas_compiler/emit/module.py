"""The text of a module, from a compiled flow.

    emit_module(compile_flow("agents/news"))   ->   Emitted(text="…", lends={"call.api_key": …})

The module builds the same plan as the compiler, from which the SDK makes the same graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from cinatra_sdk.context.declared import write_declared
from cinatra_sdk.flow.planned import MAX_STEPS
from oas_compiler.control.steering import autonomous_slots
from oas_compiler.emit.credentials_left import require_no_credential
from oas_compiler.emit.flows import FlowVariables, write_flows
from oas_compiler.emit.python_text import CallText, Expression, ListText, NameText, write
from oas_compiler.emit.records import Records, write_json
from oas_compiler.emit.sensitive import LentNames, find_names
from oas_compiler.emit.stamp import write_stamp
from oas_compiler.facts.declared_slots import collect_declared_slots
from oas_compiler.ir import JsonValue
from oas_compiler.lower.flow import Flow
from oas_compiler.text.safe import safe

_LONGEST: Final = 92
_HEAD: Final = '''"""{title}

{about}Made by `oasflow emit`: the flow as a graph of LangGraph, without the file.

    from cinatra_sdk import HostParts, HttpPlatform, RunStore

    mine = flow.lent(HostParts(platform=HttpPlatform("https://cinatra.example.org"){tools}{secrets}))
    with RunStore.open(host=HostParts(graphs=[flow])) as store:
        run = store.start(mine, {{…}})

`flow` is used as what `compile_flow` gives; `flow.graph(checkpointer)` is the plain graph.
"""
'''
_TAIL: Final = '''


def host() -> HostParts:
    """What `--host MODULE:host` names, so that the command line goes on with stored runs.

    The tools, models and secrets of your program stand beside the flow: `HostParts(graphs=[flow], tools={…})`.
    """
    return HostParts(graphs=[flow])


def make_graph(config: RunnableConfig) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The graph for `langgraph.json`: LangGraph's server gives its own checkpointer.

    Its calls are simulated; put `.lent(HostParts(platform=…))` behind `flow` for real ones.
    """
    del config
    return flow.graph(fuse=False)
'''
_ALWAYS: Final = (
    ("typing", "Any"),
    ("cinatra_sdk.lending.host_parts", "HostParts"),
    ("cinatra_sdk.store.written_flow", "written_flow"),
    ("langchain_core.runnables", "RunnableConfig"),
    ("langgraph.graph.state", "CompiledStateGraph"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Emitted:
    """One module."""

    text: str
    lends: Mapping[str, JsonValue] = field(repr=False)
    """Values of the file that the text only names: `HostParts(secrets=…)` lends them."""
    names: tuple[str, ...] = ()
    """Every sensitive value that the host lends, also those that the file itself only names."""


def emit_module(flow: Flow) -> Emitted:
    """The module of a flow.

    Raises: `EmitRefused` for a flow with a node of an installed package, or with a credential that is
    written out in a place where nothing lends it.
    """
    names = LentNames(taken=find_names(flow.ir))
    records, variables = Records(names), FlowVariables()
    flows = list(write_flows(flow.plan, records, variables))
    for module, name in _ALWAYS:
        records.take(module, name)
    made = _write_flow_call(flow, variables.by_identity[id(flow.plan)])
    code = "\n\n".join([*flows, made]) + _TAIL
    head = _write_head(flow, names)
    rest = "\n".join([_FUTURE, *_write_imports(records), ""]) + "\n" + code
    require_no_credential(flow.source, head + rest)
    stamp = write_stamp(f"{head}\n{rest}", flow.digest)
    return Emitted(
        text=f"{head}{stamp}\n\n{rest}",
        lends=dict(names.values),
        names=tuple(sorted({*names.values, *names.taken})),
    )


_FUTURE: Final = "from __future__ import annotations\n"


def _write_head(flow: Flow, names: LentNames) -> str:
    title = _in_docstring(flow.name)
    description = _in_docstring(flow.ir.description)
    about = "".join(f"{line}\n" for line in _wrap(description)) + "\n" if description else ""
    tools = ", tools={…}" if _list_tools(flow) else ""
    secrets = ""
    lent = sorted({*names.values, *names.taken})
    if lent:
        listed = ", ".join(f'"{_in_docstring(name)}": …' for name in lent)
        secrets = f", secrets={{{listed}}}"
    return _HEAD.format(title=title, about=about, tools=tools, secrets=secrets)


def _list_tools(flow: Flow) -> frozenset[str]:
    from oas_compiler.ir import find_tool_names

    return find_tool_names(flow.ir)


def _in_docstring(text: str) -> str:
    """Words of an author on one line, which end no docstring, begin no escape and command no build."""
    said = safe(text).replace("\\", "/").replace('"', "'").strip()[:2000]
    return said.replace("::", "\ua789:").replace("##", "\u266f#")


def _wrap(text: str) -> Iterator[str]:
    line = ""
    for word in text.split():
        if line and len(line) + len(word) + 1 > _LONGEST:
            yield line
            line = word
        else:
            line = f"{line} {word}".strip()
    if line:
        yield line


def _write_imports(records: Records) -> Iterator[str]:
    """The imports in the order of a linter: the standard library, then packages."""
    for own in (True, False):
        if not own:
            yield ""
        for module in sorted(records.imports):
            if (module == "typing") is own:
                yield _write_import(module, sorted(records.imports[module], key=_sort_key))


def _sort_key(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def _write_import(module: str, names: list[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= 100:
        return line
    return f"from {module} import (\n" + "".join(f"    {name},\n" for name in names) + ")"


def _write_flow_call(flow: Flow, variable: str) -> str:
    arguments: list[tuple[str, Expression]] = [
        ("", NameText(variable)),
        ("module", NameText("__name__")),
    ]
    policy = flow.approval_policy
    if policy.get("steps"):
        arguments.append(("policy", write_json(policy)))
    if flow.guards:
        guards = [ListText(list(guard), "()") for guard in flow.guards]
        arguments.append(("guards", ListText(guards)))
    if flow.steering:
        arguments.append(("steering", write_json(flow.steering)))
    answers = autonomous_slots(flow.ir)
    if answers:
        arguments.append(("answers", write_json(answers)))
    declared = collect_declared_slots(flow.ir)
    if any(declared.slots.values()):
        arguments.append(("slots", write_json(write_declared(declared))))
    if flow.max_steps != MAX_STEPS:
        arguments.append(("max_steps", flow.max_steps))
    if not flow.fuse:
        arguments.append(("fuse", False))
    if flow.max_parallel is not None:
        arguments.append(("max_parallel", flow.max_parallel))
    return "flow = " + write(CallText("written_flow", arguments), before=7)
