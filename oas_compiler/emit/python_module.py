"""The text of a module, from a compiled flow.

    emit_module(compile_flow("agents/news"))   ->   Emitted(text="…", lends={"call.api_key": …})

The module builds the same plan as the compiler, from which the SDK makes the same graph.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import hashlib
import io
import json
import keyword
import re
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from cinatra_sdk.context.slot_declarations import write_declared
from cinatra_sdk.data.text.message_words import say_number
from cinatra_sdk.flow.graph.runnable_flow import MAX_STEPS
from cinatra_sdk.flow.nodes.start_and_end import End, Start
from cinatra_sdk.flow.plan.plan import FlowPlan, NodePlan, PlannedRoute
from oas_compiler.checks.credential_cover import find_places
from oas_compiler.checks.lookup.written_credentials import is_written_name
from oas_compiler.checks.subject import Subject, spell_number
from oas_compiler.emit.expressions import (
    FILES_OF_KEYS,
    CallText,
    DictText,
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
from oas_compiler.facts.context_declarations import collect_declared_slots
from oas_compiler.findings.finding import Findings
from oas_compiler.ir import JsonValue
from oas_compiler.lower.flow import Flow
from oas_compiler.lower.node_functions import PackageWork
from oas_compiler.pipeline import subject_of
from oas_compiler.text.safe_text import safe, without_secrets
from oas_compiler.text.source import read_source
from oas_compiler.text_edits.json_edits import keys_of

# ----------------------------------------------------------------------------
# One flow as the calls of `FlowGraph` that build it.


_NO_NAME: Final = re.compile(r"[^A-Za-z0-9]+")
_NEXT: Final = "next"
_TAKEN: Final = frozenset({"flow", "host", "make_graph", "port", "written_flow", *dir(builtins)})
"""Names that the module has already."""


class FlowVariables:
    """The variables of one module: a flow that stands in several places has one."""

    def __init__(self) -> None:
        self.known: list[tuple[FlowPlan, str]] = []
        self.by_identity: dict[int, str] = {}
        self._names: set[str] = set(_TAKEN)

    def find(self, plan: FlowPlan) -> str:
        """The variable of an equal flow; empty: there is none yet."""
        name = next((name for known, name in self.known if known == plan), "")
        if name:
            self.by_identity[id(plan)] = name
        return name

    def add(self, plan: FlowPlan) -> str:
        name = self._make_name(plan)
        self.known.append((plan, name))
        self.by_identity[id(plan)] = name
        return name

    def _make_name(self, plan: FlowPlan) -> str:
        base = _NO_NAME.sub("_", plan.id).strip("_").lower() or "inner"
        if base[0].isdigit() or keyword.iskeyword(base):
            base = f"flow_{base}"
        name, number = base, 1
        while name in self._names:
            number += 1
            name = f"{base}_{number}"
        self._names.add(name)
        return name


def write_flows(plan: FlowPlan, records: Records, variables: FlowVariables) -> Iterator[str]:
    """The text of the flows inside, then of the flow itself; each ends with a line feed.

    Raises: `EmitRefused`.
    """
    for node in plan.nodes:
        for inner in node.work.subflows:
            if not variables.find(inner):
                yield from write_flows(inner, records, variables)
    name = variables.add(plan)
    made = [("", plan.id), *_name_if_other(plan.name, plan.id)]
    if plan.outputs:
        made.append(("outputs", records.write_ports(plan.outputs)))
    function = records.take("FlowGraph")
    lines = [_assign(name, CallText(function, made)), ""]
    flows = variables.by_identity
    lines += [write(_add_node(plan, node, name, records, flows)) for node in plan.nodes]
    lines += ["", *(write(call) for call in _add_edges(plan, name))]
    yield "\n".join(lines) + "\n"


def _assign(name: str, call: CallText) -> str:
    return f"{name} = " + write(call, before=len(name) + 3)


def _name_if_other(name: str, node_id: str) -> list[tuple[str, Expression]]:
    return [("name", name)] if name and name != node_id else []


def _add_node(
    plan: FlowPlan, node: NodePlan, name: str, records: Records, flows: Mapping[int, str]
) -> CallText:
    if isinstance(node.work, PackageWork):
        raise EmitRefused(
            f"node '{node.id}' is a {node.work.component.component_type}, a kind that an installed "
            "package adds: its function needs the file"
        )
    arguments: list[tuple[str, Expression]] = [
        ("", node.id),
        ("", records.write_record(node.work, node.id, flows)),
    ]
    arguments += [("name", node.name)] if node.name else []
    arguments += [("shown", node.shown)] if node.shown else []
    arguments += [("inputs", records.write_ports(node.inputs))] if node.inputs else []
    feeds = _list_feeds(plan, node)
    arguments += [("feeds", DictText(feeds))] if feeds else []
    if node.outputs and not _has_outputs_of_inputs(node):
        arguments.append(("outputs", records.write_ports(node.outputs)))
    if node.branches != _list_usual_branches(plan, node):
        arguments.append(("branches", ListText(node.branches)))
    arguments += [("risk", node.risk)] if node.risk else []
    arguments += [("once", True)] if node.once else []
    arguments += [("after", ListText(node.after))] if node.after else []
    return CallText(f"{name}.add_node", arguments)


def _has_outputs_of_inputs(node: NodePlan) -> bool:
    return isinstance(node.work, (Start, End)) and node.outputs == node.inputs


def _list_feeds(plan: FlowPlan, node: NodePlan) -> list[tuple[Expression, Expression]]:
    found: list[tuple[Expression, Expression]] = []
    for one in node.inputs:
        sources = [_write_source(feed.source, feed.output) for feed in plan.feeds_of(node.id, one.title)]  # fmt: skip
        if sources:
            found.append((one.title, sources[0] if len(sources) == 1 else ListText(sources)))
    return found


def _write_source(node: str, output: str) -> Expression:
    return ListText([node, output], "()") if "." in output else f"{node}.{output}"


def _list_usual_branches(plan: FlowPlan, node: NodePlan) -> tuple[str, ...]:
    if isinstance(node.work, End):
        return ()
    return tuple(route.branch for route in plan.routes if route.source == node.id)


def _add_edges(plan: FlowPlan, name: str) -> Iterator[CallText]:
    yield CallText(f"{name}.set_entry_point", [("", plan.start)])
    routes: dict[str, list[PlannedRoute]] = {}
    for route in plan.routes:
        routes.setdefault(route.source, []).append(route)
    for source, ways in routes.items():
        if len(ways) == 1:
            branch = [] if ways[0].branch == _NEXT else [("branch", ways[0].branch)]
            yield CallText(f"{name}.add_edge", [("", source), ("", ways[0].target), *branch])
        else:
            targets = DictText([(way.branch, way.target) for way in ways])
            yield CallText(f"{name}.add_branches", [("", source), ("", targets)])


# ----------------------------------------------------------------------------
# Refuses a module in whose text a literal credential of the flow would stand.
#
#     "headers": {"X-Auth": "9fK2…"}   ->   EmitRefused: … the ApiNode "call" at headers/X-Auth …
#
# A module is committed and shipped.  Sensitive fields stay behind (`expressions.py`), but a credential in a
# header, a body or an address is part of the flow itself, and nothing could lend it.  A credential is a text
# that no command prints (`checks/lookup/written_credentials.py`).


_SHORTEST_PART: Final = 8
"""A shorter value counts where it is a whole text of the module, because it occurs in ordinary words."""
_MOST_PLACES: Final = 5
"""Places that a refusal names."""


def require_no_credential(source: bytes, module: str) -> None:
    """source: the bytes of the flow.  module: what would be written.

    Raises: `EmitRefused`, which names the places of the credentials and no credential.
    """
    read = read_source(source, Findings())
    if read is None:
        return  # it was compiled: there is a document
    subject = subject_of(read, Findings(), None, None)
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


# ----------------------------------------------------------------------------
# The stamp of a module: one line with the hashes of its flow file and of its own text.
#
# # oasflow emit 2: file 5f0c…, text 93b1…
#
# `file` is the sha256 of the flow's bytes, `text` that of the module's syntax tree: so a changed file and a
# changed module can be told apart, and a formatter changes neither.


FORMAT: Final = 2
"""Raise it when the same file becomes another text."""
_LINE: Final = re.compile(
    r"^# oasflow emit (\d{1,6}): file ([0-9a-f]{64}), text ([0-9a-f]{64})\r?$", re.MULTILINE
)
_NOT_SAID: Final = frozenset({"ctx", "kind", "type_comment"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """What the line says."""

    format: int
    file: str
    text: str


def write_stamp(text: str, digest: str) -> str:
    """The line; text: the module.  digest: of the flow's bytes."""
    return f"# oasflow emit {FORMAT}: file {digest}, text {_hash(text)}"


def read_stamp(module: str) -> Stamp | None:
    """The stamp of a module; None where it has none, or several."""
    lines = list(_LINE.finditer(module))
    if len(lines) != 1:
        return None
    found = lines[0]
    return Stamp(format=int(found[1]), file=found[2], text=found[3])


def is_untouched(stamp: Stamp, module: str) -> bool:
    """Whether the module says what it said when it was written.

    Raises: `SyntaxError` where it is no Python.
    """
    return stamp.text == _hash(module)


def _hash(module: str) -> str:
    digest = hashlib.sha256()
    for word in _list_words(ast.parse(module)):
        digest.update(word.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()


def _list_words(node: object) -> Iterator[str]:
    """The syntax tree as words that are the same under every version of Python.

    What is empty or absent is left out: newer versions have more such fields.
    """
    if isinstance(node, ast.Constant):
        yield _write_constant(node.value)
    elif isinstance(node, ast.AST):
        yield f"({type(node).__name__}"
        for name, value in ast.iter_fields(node):
            if name not in _NOT_SAID and value not in (None, [], ""):
                yield name
                yield from _list_words(value)
        yield ")"
    elif isinstance(node, list):
        yield "["
        for item in node:
            yield from _list_words(item)
        yield "]"
    else:
        yield _write_constant(node)


def _write_constant(value: object) -> str:
    """A text by its letters: which of them `repr` escapes depends on the version of Python."""
    return ascii(value) if isinstance(value, (str, bytes)) else f"{type(value).__name__} {value!r}"


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


def emit_module(flow: Flow) -> Emitted:
    """The module of a flow.

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
# Whether a module still says what its flow file says.
#
# compare(module, emitted, digest)   ->   Drift(reasons=("the flow file has changed since …",), diff="…")
#
# Formatting and comments of a module count for nothing.


_MOST_LINES: Final = 200
"""Of a difference that is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """How far a module and its file are apart."""

    reasons: tuple[str, ...] = ()
    """In sentences; empty: the two agree."""
    note: str = ""
    """What is other, and changes nothing."""
    diff: str = ""
    """From the module to what the file says now."""
    by_hand: bool = False
    """Whether the module was changed by hand, so that writing it anew loses something."""

    @property
    def agrees(self) -> bool:
        return not self.reasons


class ModuleUnreadable(ValueError):
    """A file that is no module in UTF-8; says why."""


def decode_module(raw: bytes) -> str:
    """The text of a module, as Python reads it.

    Raises: `ModuleUnreadable`, also for a line that names another coding: Python would read other
    words than are shown.
    """
    try:
        coding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        if coding not in ("utf-8", "utf-8-sig"):
            raise ModuleUnreadable(f"it says that its letters are coded as {coding}")
        return raw.decode(coding)
    except (SyntaxError, UnicodeDecodeError):
        raise ModuleUnreadable("it is no text in UTF-8") from None


def compare(module: str, emitted: Emitted, digest: str) -> Drift:
    """module: its text.  digest: sha256 (hex) of the flow's bytes."""
    stamp, now = read_stamp(module), read_stamp(emitted.text)
    assert now is not None  # `emit_module` writes it
    if stamp is None:
        return Drift(
            reasons=("the module has no line of `oasflow emit`: it was not made by it",),
            by_hand=True,
        )
    try:
        untouched = is_untouched(stamp, module)
    except (SyntaxError, ValueError, RecursionError):
        return Drift(reasons=("the module is no Python that can be read",), by_hand=True)
    if untouched and stamp.text == now.text:
        changed = stamp.file != digest
        return Drift(note="the file has changed in what no run reads" if changed else "")
    reasons = _list_reasons(stamp, digest, untouched=untouched)
    return Drift(
        reasons=tuple(reasons), diff=_make_diff(module, emitted.text), by_hand=not untouched
    )


def is_own(module: str) -> bool:
    """Whether a module is as `oasflow emit` wrote it, so that nothing is lost when it is replaced."""
    stamp = read_stamp(module)
    try:
        return stamp is not None and is_untouched(stamp, module)
    except (SyntaxError, ValueError, RecursionError):
        return False


def _list_reasons(stamp: Stamp, digest: str, *, untouched: bool) -> list[str]:
    reasons = []
    if stamp.file != digest:
        reasons.append("the flow file has changed since the module was made")
    if not untouched:
        reasons.append("the module was changed by hand")
    if not reasons:
        older = stamp.format != FORMAT
        reasons.append(
            "another version of oasflow made the module"
            if older
            else "the module was made with other components, or by another version of oasflow"
        )
    return reasons


def _make_diff(before: str, after: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), "the module", "the file now", lineterm="", n=2
    )
    shown = [line for line, _ in zip(lines, range(_MOST_LINES + 1), strict=False)]
    if len(shown) > _MOST_LINES:
        shown[_MOST_LINES:] = ["…"]
    return "\n".join(shown)
