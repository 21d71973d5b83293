"""The text of a module, from a compiled flow.

    emit_module(compile_flow("agents/news"))   ->   Emitted(text="…", lends={"call.api_key": …})

The module builds the same plan as the compiler, from which the SDK makes the same graph.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Final

from cinatra_sdk.context.slot_declarations import write_declared
from cinatra_sdk.data.text.message_words import say_number
from cinatra_sdk.flow.graph.runnable_flow import MAX_STEPS
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.checks.credentials.credential_cover import find_places
from oas_compiler.checks.credentials.credential_literals import is_written_name
from oas_compiler.checks.subject import Subject, spell_number
from oas_compiler.emit.drift import write_stamp
from oas_compiler.emit.expressions import (
    FILES_OF_KEYS,
    CallText,
    EmitRefused,
    Expression,
    LentNames,
    ListText,
    NameText,
    Records,
    find_names,
    write,
    write_json,
)
from oas_compiler.emit.flow_calls import FlowVariables, write_flows
from oas_compiler.facts.context_declarations import collect_declared_slots
from oas_compiler.ir import JsonValue
from oas_compiler.lower.flow import Flow
from oas_compiler.pipeline import PreparedFile, subject_of_source
from oas_compiler.text.safe_text import safe, without_secrets
from oas_compiler.text_edits.json_edits import keys_of

_LONGEST: Final = 92
_HEAD: Final = '''"""{title}

{about}Made by `oasflow emit`; it needs no flow file.  It builds a `FlowGraph` of oasflow, whose
`add_node`, `add_edge` and `set_entry_point` are named as those of LangGraph's `StateGraph`.

    from cinatra_sdk import HostParts, HttpPlatform, RunStore

    mine = flow.lent(HostParts(platform=HttpPlatform("https://cinatra.example.org"){tools}{secrets}))
    with RunStore.open(host=HostParts(graphs=[flow])) as store:
        run = store.start(mine, {{…}})

`flow` is used as what `compile_flow` gives; `flow.graph(checkpointer)` makes the LangGraph graph.
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

    Its calls are simulated; put `.lent(HostParts(platform=…))` behind `flow` for real ones, and tools=… there
    where the flow has tools of the host.
    """
    del config
    return flow.graph(fuse=False)
'''
_ALWAYS: Final = (
    ("typing", "Any"),
    ("cinatra_sdk", "HostParts"),
    ("cinatra_sdk.flow", "written_flow"),
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


def emit_module(flow: Flow, prepared: PreparedFile | None = None) -> Emitted:
    """The module of a flow; prepared: its file, where that was read already.

    Raises: `EmitRefused` for a flow with a node of an installed package, or with a credential that is
    written out in a place where nothing lends it.
    """
    names = LentNames(taken=find_names(flow.ir))
    records, variables = Records(names), FlowVariables()
    flows = list(write_flows(flow.plan, records, variables))
    for module, name in _ALWAYS:
        records.take(name, module)
    made = _write_flow_call(flow, variables.by_identity[id(flow.plan)])
    code = "\n\n".join([*flows, made]) + _TAIL
    head = _write_head(flow, names)
    rest = "\n".join([_FUTURE, *_write_imports(records), ""]) + "\n" + code
    written = prepared.read_alone() if prepared is not None else subject_of_source(flow.source)
    if written is not None:
        require_no_credential(written, head + rest)
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
    answers = flow.compiled.control.autonomous_slots
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


# ----------------------------------------------------------------------------
# Refuses a module in whose text a literal credential of the flow would stand.
#
#     "headers": {"X-Auth": "9fK2…"}   ->   EmitRefused: … the ApiNode "call" at headers/X-Auth …
#
# A module is committed and shipped.  Sensitive fields stay behind (`expressions.py`), but a credential in a
# header, a body or an address is part of the flow itself, and nothing could lend it.  A credential is a text
# that no command prints (`checks/credentials/credential_literals.py`).


_SHORTEST_PART: Final = 8
"""A shorter value counts where it is a whole text of the module, because it occurs in ordinary words."""
_MOST_PLACES: Final = 5
"""Places that a refusal names."""


def require_no_credential(subject: Subject, module: str) -> None:
    """subject: the file.  module: what would be written.

    Raises: `EmitRefused`, which names the places of the credentials and no credential.
    """
    texts = [one.value for one in ast.walk(ast.parse(module)) if isinstance(one, ast.Constant)]
    whole = {text for text in texts if isinstance(text, str)}
    numbers = {spell_number(one) for one in texts if isinstance(one, (int, float))}
    whole |= numbers | {f"-{one}" for one in numbers}
    found = [
        (pointer, (*own, *parts))
        for pointer, own, parts in find_places(subject)
        if parts or not _names_a_file(pointer, own[0])
    ]
    left = dict.fromkeys(
        pointer
        for pointer, secrets in found
        if any(_stands_in(secret, whole) for secret in secrets)
    )
    if left:
        places = ", ".join(_describe_place(subject, one) for one in list(left)[:_MOST_PLACES])
        for secret in (one for _, secrets in found for one in secrets):
            # an id or a name may repeat one
            places = places.replace(secret, "…") if len(secret) >= _SHORTEST_PART else places
        more = f" and {len(left) - _MOST_PLACES} more" if len(left) > _MOST_PLACES else ""
        raise EmitRefused(
            f"the flow has {say_number(len(left), 'credential')} written out, which would "
            f"stand in the module: {places}{more}; remove each and make it invalid, or write a placeholder "
            "such as {{API_KEY}}, which the environment of the run fills in (--env API_KEY)"
        )


def _names_a_file(pointer: str, value: str) -> bool:
    """Whether it only says in which file a key is: the module needs that, as `expressions.py` does."""
    return pointer.rpartition("/")[2] in FILES_OF_KEYS and "\n" not in value


def _describe_place(subject: Subject, pointer: str) -> str:
    """`the ApiNode "call" at headers/X-Api-Key`; a name that is a credential itself is left out."""
    around, below = pointer, ""
    found = subject.written_at(around)
    while found is None and around:
        around = around.rpartition("/")[0]
        found = subject.written_at(around)
        below = pointer[len(around) :]
    names = [
        "…" if is_written_name(key, is_sent=True) else without_secrets(key)[:80]
        for key in keys_of(below)
    ]
    label = without_secrets(found.label) if found is not None else "the document"
    return f"{label} at {'/'.join(names)}" if names else label


def _stands_in(secret: str, texts: set[str]) -> bool:
    if len(secret) < _SHORTEST_PART:
        return secret in texts
    spellings = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    return any(one in text for text in texts for one in spellings)
