"""`Difference`, the result of comparing two flows; the pairs of their nodes.

Difference((Change(sign="!", code="gate_removed", message='the gate "review" is gone; …'),))
    .equal     -> False
    .weakened  -> (that change,)
    .to_json() -> {"equal": false, "weakened": 1, "changes": [{…}]}
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, field, fields
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.checks.credentials.value_shapes import credential
from oas_compiler.ir import (
    NOTHING,
    AgentTool,
    AgentToolbox,
    Behind,
    CallRetryPolicy,
    ClientToolNode,
    FlowIR,
    GateStep,
    InputMessageNode,
    Json,
    JsonValue,
    McpToolNode,
    McpTransport,
    Node,
    Path,
    Place,
    Port,
    RemoteToolNode,
    ToolNode,
    open_flows,
    walk,
)
from oas_compiler.text.safe_text import without_secrets

Sign = Literal["!", "-", "+", "~"]
Code = Literal[
    "gate_removed",
    "gate_bypassed",
    "gate_waived",
    "gate_risk_lowered",
    "gate_answer_widened",
    "gate_visits_raised",
    "confirmation_removed",
    "node_unguarded",
    "send_unguarded",
    "send_hidden",
    "send_repeats",
    "flow_changed",
    "port_added",
    "port_removed",
    "port_changed",
    "node_added",
    "node_removed",
    "node_changed",
    "node_renamed",
    "node_moved",
    "control_edge_added",
    "control_edge_removed",
    "control_edge_changed",
    "data_edge_added",
    "data_edge_removed",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference between the two flows."""

    sign: Sign
    """`!` a gate or the guard of a send got weaker, `-` removed, `+` added, `~` changed."""
    code: Code
    message: str
    """One sentence that names the node, the edge or the port."""
    flow: Path = ()
    """What the paths of the nodes of the flow begin with; empty in the outermost flow."""
    node: Path = ()
    """The node's path in the second flow, or in the first for a removed node; empty for the flow
    itself.
    """
    before: str = ""
    """The old value, shortened; empty where the change is not about a value."""
    after: str = ""
    place: Place = Place()
    """The place in the second file; for a removed part, in the first file."""
    gone: bool = False
    """Whether `place` is in the first file."""


@dataclass(frozen=True, slots=True)
class Difference:
    """All differences between two flows, weaker guards first."""

    changes: tuple[Change, ...] = ()

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    def __len__(self) -> int:
        return len(self.changes)

    @property
    def equal(self) -> bool:
        return not self.changes

    @property
    def weakened(self) -> tuple[Change, ...]:
        """The changes after which a gate asks less often, or less strictly, before a node acts."""
        return tuple(change for change in self.changes if change.sign == "!")

    def to_json(self) -> dict[str, JsonValue]:
        """Ready for JSON; the keys of a change are the fields of `Change`."""
        return {
            "equal": self.equal,
            "weakened": len(self.weakened),
            "changes": [_encode_change(change) for change in self.changes],
        }


def _encode_change(change: Change) -> dict[str, JsonValue]:
    return {
        "sign": change.sign,
        "code": change.code,
        "message": without_secrets(change.message),
        "flow": "/".join(change.flow),
        "node": "/".join(change.node),
        "before": change.before,
        "after": change.after,
        "file": "first" if change.gone else "second",
        "line": change.place.line,
        "column": change.place.column,
        "pointer": change.place.pointer,
    }


# ----------------------------------------------------------------------------
# The content of a node apart from its id, and the places where two JSON values differ.
#
# content(node) -> {"name": "Write", "url": "https://…", "data": {…}, "riskClass": "write", …}
# leaves({"a": [1, 2]}, {"a": [1, 3]}) -> (("a/1", 2, 3),)


MISSING: Final = object()
MOST_LEAVES = 20
"""Differing places that are named within one value."""
_SHOWN = 80
_BEFORE = 25
"""Characters that are shown before the first difference of two long values."""
_ELSEWHERE = frozenset(
    {
        "id",
        "inputs",
        "outputs",
        "place",
        "subflow",
        "subflows",
        "cinatra",
        "unread",
        "behind",
        "request_place",
        "results",
    }
)
_WIRE_NAMES: Mapping[str, str] = {
    "risk_class": "riskClass",
    "answer_schema": "inputMessageSchema",
    "max_visits": "maxGateVisits",
    "gate_steps": "gateSteps",
    "package_name": "packageName",
    "method": "http_method",
    "query": "query_params",
    "retry": "retry_policy",
    "on_item_error": "onItemError",
    "renderers": "inputRenderers",
    "pattern": "regex_pattern",
    "first_only": "return_first_match_only",
}
_READ_ELSEWHERE = frozenset(
    {
        "effect", "onItemError", "riskClass", "inputMessageSchema", "maxGateVisits", "gateSteps", "packageName",
        "renderer", "inputRenderers", "required", "hidden",
    }
)  # fmt: skip
"""Keys of `metadata.cinatra` that are fields of the IR."""


@lru_cache(maxsize=20_000)
def content(node: Node) -> Mapping[str, JsonValue]:
    """Field → value, under the names that authors write; without id and ports."""
    found: dict[str, JsonValue] = {}
    for member in fields(node):
        value = getattr(node, member.name)
        if member.name not in _ELSEWHERE and value != member.default:
            found[_WIRE_NAMES.get(member.name, member.name)] = _encode_value(value)
    held = {_WIRE_NAMES.get(field.name, field.name) for field in fields(node)}
    for key, value in node.cinatra.mapping().items():
        if key == "inputRenderers" and isinstance(node, InputMessageNode):
            value = _other_renderers(value, node)  # noqa: PLW2901 - the part that is no field
        if key not in held or key not in _READ_ELSEWHERE:
            found[f"metadata.cinatra.{key}"] = value
    found.update(node.unread.mapping())
    if isinstance(node, (ToolNode, RemoteToolNode, ClientToolNode, McpToolNode)):
        found.update(_read_tool(node.behind))
    return found


def _read_tool(tool: Behind) -> Iterator[tuple[str, JsonValue]]:
    """Of a tool what decides who is asked before it works."""
    if tool.risk_class:
        yield "tool/metadata.cinatra.riskClass", tool.risk_class
    if tool.asks_person:
        yield "tool/requires_confirmation", True


def _other_renderers(value: JsonValue, gate: InputMessageNode) -> JsonValue:
    """The renderers except the one of the gate's output, which is the field `renderer`."""
    if not isinstance(value, dict) or not gate.outputs:
        return value
    return {title: name for title, name in value.items() if title != gate.outputs[0].title}


def flow_content(flow: FlowIR) -> Mapping[str, JsonValue]:
    """Field → value of a flow itself, without its nodes."""
    found: dict[str, JsonValue] = {
        "id": flow.id,
        "name": flow.name,
        "description": flow.description,
    }
    for key, value in flow.cinatra.mapping().items():
        found[f"metadata.cinatra.{key}"] = value
    return found


def port_content(port: Port) -> dict[str, JsonValue]:
    """The property as JSON Schema, with its default."""
    found = {key: value for key, value in port.schema.mapping().items() if key != "default"}
    if port.default is not None:
        found["default"] = port.default.value()
    if port.cinatra.text != NOTHING.text:
        found["cinatra"] = port.cinatra.value()
    return found


def likeness(node: Node) -> str:
    """A key that is equal for two nodes with the same content under different ids and names."""
    found: dict[str, JsonValue] = {**content(node)}
    found.pop("name", None)
    for side, ports in (("in", node.inputs), ("out", node.outputs)):
        found[f" {side}"] = [[port.title, port_content(port)] for port in ports]
    if node.subflows:
        found[" inside"] = [*sorted(inner.id for flow in node.subflows for inner in flow.nodes)]
    return f"{type(node).__name__} {Json.of(found).text}"


def _encode_value(value: object) -> JsonValue:
    """A field's value as JSON."""
    if isinstance(value, Json):
        return value.value()
    if isinstance(value, GateStep):
        made: dict[str, JsonValue] = {
            "name": value.name,
            "description": value.description,
            "renderer": value.renderer,
            "riskClass": value.risk_class,
            "requiresApproval": value.requires_approval,
            "hitlOwnedBy": value.hitl_owned_by,
            "gateCount": value.gate_count,
        }
        return {key: entry for key, entry in made.items() if entry not in {"", None}}
    if isinstance(value, AgentTool):
        return {"name": value.name, "description": value.description}  # its node has the rest
    if isinstance(value, AgentToolbox):
        return value.calls
    if isinstance(value, McpTransport):
        return {part.name: _encode_value(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, CallRetryPolicy):
        return {key: _encode_value(entry) for key, entry in asdict(value).items()}
    if isinstance(value, tuple):
        return [_encode_value(entry) for entry in value]
    assert value is None or isinstance(value, (str, int, float, bool))
    return value


def leaves(before: object, after: object, at: str = "") -> Iterator[tuple[str, object, object]]:
    """(place, before, after) of every differing leaf; `MISSING` for an absent value."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            inner = f"{at}/{key}" if at else str(key)
            yield from leaves(before.get(key, MISSING), after.get(key, MISSING), inner)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from leaves(one, other, f"{at}/{index}" if at else str(index))
    elif type(before) is not type(after) or before != after:
        yield at, before, after


def _mask_secrets(value: object) -> object:
    """The value, in which every text that looks like a credential is starred."""
    if isinstance(value, str):
        text = without_secrets(value)
        kind = credential(text)
        return f"({kind})" if kind else text
    if isinstance(value, list):
        return [_mask_secrets(entry) for entry in value]
    if isinstance(value, dict):
        return {without_secrets(key): _mask_secrets(entry) for key, entry in value.items()}
    return value


def brief(value: object) -> str:
    """A value on one line, shortened, without text that looks like a credential."""
    text = _format_value(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def contrasted(before: object, after: object) -> tuple[str, str]:
    """Two values, formatted by `brief`; of long values the part around their first difference."""
    one, other = _format_value(before), _format_value(after)
    if not one or not other or max(len(one), len(other)) <= _SHOWN:
        return brief(before), brief(after)
    first = next(
        i for i, (a, b) in enumerate(zip(one + "\0", other + "\1", strict=False)) if a != b
    )
    start = max(0, first - _BEFORE)
    return _cut_text(one, start), _cut_text(other, start)


def _cut_text(text: str, start: int) -> str:
    head = "…" if start else ""
    end = start + _SHOWN - len(head)
    return f"{head}{text[start:]}" if len(text) <= end else f"{head}{text[start : end - 1]}…"


def _format_value(value: object) -> str:
    return "" if value is MISSING else Json.of(_mask_secrets(value)).text


# ----------------------------------------------------------------------------
# Pairs the nodes of two flows.  In: two flows.  Out: the pairs, and the unpaired nodes.
#
#     first   start → review → send              second   start → check → sub(send)
#         -> start = start; review renamed to check (same content, same place); send moved into sub
#
# Nodes with the same path of ids match.  Of several flows in one node those with the same id match,
# then the others in their order.  Among the remaining nodes of one flow, two nodes of one type
# with the same content are one renamed node if they share a name or a neighbour.  Last, a remaining
# node has moved if another one has its id and type, or if it is the only one with its content.


_MOST_ALIKE = 60
"""Largest number of remaining nodes with one content for which neighbours are compared."""


class Level(NamedTuple):
    """A matched pair of flows."""

    around: Path
    """What the paths of its nodes begin with in the first document, () the outermost."""
    first: FlowIR
    beside: Path
    """The same in the second."""
    second: FlowIR


@dataclass(slots=True)
class Matching:
    """The pairs of matched nodes."""

    first: FlowIR
    second: FlowIR
    to_second: dict[Path, Path] = field(default_factory=dict)
    to_first: dict[Path, Path] = field(default_factory=dict)
    flows: list[Level] = field(default_factory=list)
    nodes: tuple[dict[Path, Node], dict[Path, Node]] = field(default_factory=lambda: ({}, {}))

    def pair(self, one: Path, other: Path) -> None:
        self.to_second[one] = other
        self.to_first[other] = one

    def left(self) -> tuple[list[Path], list[Path]]:
        """The nodes without a counterpart."""
        first, second = self.nodes
        return (
            [path for path in first if path not in self.to_second],
            [path for path in second if path not in self.to_first],
        )


def match(first: FlowIR, second: FlowIR) -> Matching:
    """Match the nodes of two flows, at every depth."""
    made = Matching(first, second)
    for nodes, flow in zip(made.nodes, (first, second), strict=True):
        nodes.update(walk(flow))
    _match_flows(made, Level((), first, (), second))
    _match_moved(made)
    return made


def _match_flows(made: Matching, root: Level) -> None:
    """Match two flows, and the flows inside matched nodes."""
    waiting = [root]
    while waiting:
        level = waiting.pop()
        around, one, beside, other = level
        made.flows.append(level)
        pairs = [(node.id, node.id) for node in one.nodes if node.id in other.by_id]
        pairs = [pair for pair in pairs if _is_free(made, around, beside, pair)]
        for pair in pairs:
            made.pair((*around, pair[0]), (*beside, pair[1]))
        renamed = _match_renamed(made, level)
        for a, b in (*pairs, *renamed):
            old, new = (*around, a), (*beside, b)
            waiting.extend(pair_flows(one.by_id[a], old, other.by_id[b], new))


def pair_flows(one: Node, around: Path, other: Node, beside: Path) -> Iterator[Level]:
    """The flows of two matched nodes, with the paths `around` and `beside`, in pairs."""
    olds, news = open_flows(one, around), open_flows(other, beside)
    free = list(news)
    same: dict[Path, tuple[Path, FlowIR]] = {}
    for inside, old in olds:
        found = next((new for new in free if new[1].id == old.id), None)
        if found is not None:
            free.remove(found)
            same[inside] = found
    rest = iter(free)
    for inside, old in olds:
        found = same.get(inside) or next(rest, None)
        if found is not None:
            yield Level(inside, old, *found)


def _is_free(made: Matching, around: Path, beside: Path, pair: tuple[str, str]) -> bool:
    return (*around, pair[0]) not in made.to_second and (*beside, pair[1]) not in made.to_first


def _match_renamed(made: Matching, level: Level) -> Iterator[tuple[str, str]]:
    """Match renamed nodes of one flow; yields their pairs of ids."""
    around, one, beside, other = level
    olds = _group_alike(node for node in one.nodes if (*around, node.id) not in made.to_second)
    news = _group_alike(node for node in other.nodes if (*beside, node.id) not in made.to_first)
    for key, candidates in olds.items():
        others = news.get(key, [])
        if len(candidates) > _MOST_ALIKE or len(others) > _MOST_ALIKE:
            continue
        scored = sorted(
            (
                (
                    -_count_common_neighbours(made, level, old.id, new.id)
                    - 2 * (old.name == new.name),
                    i,
                    j,
                )
                for i, old in enumerate(candidates)
                for j, new in enumerate(others)
            )
        )
        for score, i, j in scored:
            a, b = candidates[i].id, others[j].id
            if score < 0 and _is_free(made, around, beside, (a, b)):
                made.pair((*around, a), (*beside, b))
                yield a, b


def _group_alike(nodes: Iterable[Node]) -> dict[str, list[Node]]:
    found: dict[str, list[Node]] = defaultdict(list)
    for node in nodes:
        found[likeness(node)].append(node)
    return found


def _count_common_neighbours(made: Matching, level: Level, old: str, new: str) -> int:
    """Number of common neighbours of two nodes along the control edges."""
    around, one, beside, other = level
    before = [(*around, source) for source in one.sources_of(old)]
    after = [(*around, target) for target in one.routes_of(old).values()]
    sources = {(*beside, source) for source in other.sources_of(new)}
    targets = {(*beside, target) for target in other.routes_of(new).values()}
    return sum(made.to_second.get(path) in sources for path in before) + sum(
        made.to_second.get(path) in targets for path in after
    )


def _match_moved(made: Matching) -> None:
    for by_id in (True, False):
        olds, news = (_select_unique(made.nodes[side], made.left()[side], by_id) for side in (0, 1))
        for key, old in olds.items():
            new = news.get(key)
            if new is None or old in made.to_second or new in made.to_first:
                continue
            made.pair(old, new)
            for level in pair_flows(made.nodes[0][old], old, made.nodes[1][new], new):
                _match_flows(made, level)


def _select_unique(nodes: dict[Path, Node], left: list[Path], by_id: bool) -> dict[str, Path]:
    """Key → the only remaining node with this key; keys of several nodes are left out."""
    found: dict[str, Path] = {}
    several: set[str] = set()
    for path in left:
        node = nodes[path]
        key = f"{type(node).__name__} {node.id}" if by_id else f"{node.name} {likeness(node)}"
        if key in found:
            several.add(key)
        found[key] = path
    return {key: path for key, path in found.items() if key not in several}
