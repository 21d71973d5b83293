"""A hand-written graph as a stored flow: any process can continue its runs.

    # shop/refunds.py
    def build(host: HostParts, checkpointer: Any) -> Any:      # the graph of docs/hand-written-graphs.md
        return build_graph(host.platform, checkpointer)

    refunds = graph_flow(build, policy=POLICY, inputs=INPUTS)

    RunStore.open(host=HostParts(graphs=[refunds]))            # in every process that goes on with runs

A run is pinned to the text of the module: the digest of its flow is that of the text.  A stored run holds
the name of the graph.  The name is looked up among the graphs that the process lends; no module is imported
by it.
"""

from __future__ import annotations

import hashlib
import inspect
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pydantic import JsonValue

from cinatra_sdk.contract import GRAPH_LAYOUT
from cinatra_sdk.data.json_values import check_value
from cinatra_sdk.data.schema.problems import first_problem
from cinatra_sdk.data.text.author_files import read_named
from cinatra_sdk.errors import FlowChanged, InputInvalid, NotConfigured
from cinatra_sdk.governed.approval_policy import parse_policy, require_entries
from cinatra_sdk.host_parts.host_parts import NO_PARTS, HostParts
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.protocol import Platform
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.store.arguments import check_kinds
from cinatra_sdk.store.flows.flow_protocol import join_source, split_source

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from cinatra_sdk.activations import Graph


log = logging.getLogger("oasflow.flow")

GRAPH: Final = "graph"
"""The kind of these flows."""

MOST_BYTES: Final = 10_000_000
"""Of a module."""

Build: TypeAlias = "Callable[[HostParts, Any], Graph]"
"""Makes the graph from what the host lends, with a platform, and a checkpointer or None."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GraphFlow:
    """Implements `DurableFlow`.  Immutable; share it between threads and runs."""

    build: Build = field(repr=False)
    name: str
    label: str
    """What a stored run calls the graph: `module:function`."""
    source: bytes = field(repr=False)
    """A header with the label, and the text of the module."""
    file: str = ""
    """The file of the module, as shown to people."""
    host: HostParts
    """What the host lends; with a platform."""
    platform_given: bool
    inputs: Mapping[str, Mapping[str, JsonValue]] | None = field(default=None, repr=False)
    policy: Mapping[str, JsonValue] | None = None
    guards: Sequence[tuple[int, str, str]] = ()
    governed: bool = False
    """Whether the graph is the canonical loop of a governed run, which has decision records."""
    repeats: bool = False
    """Whether its functions act only by `perform` and by blocks of this SDK, as their author says."""

    @property
    def recorder(self) -> Any:
        """Writes the decision records of a governed run; None: it has none."""
        governance = self.host.governance
        return governance.make_loop_recorder() if self.governed and governance else None

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.source).hexdigest()

    @property
    def lowering(self) -> int:
        return GRAPH_LAYOUT

    @property
    def is_repeatable(self) -> bool:
        """Nobody knows what its functions do but their author; those of the canonical loop are ours."""
        return self.repeats or self.governed

    @property
    def env(self) -> Mapping[str, str]:
        """Empty: a hand-written graph has no placeholders."""
        return {}

    @property
    def platform(self) -> Platform:
        assert self.host.platform is not None  # see `host`
        return self.host.platform

    @property
    def approval_policy(self) -> dict[str, JsonValue]:
        """The graph's own policy, where the host gives none."""
        return dict(self.policy or {"steps": []})

    def outputs_of(self, _path: str) -> None:
        """None: nodes of a hand-written graph declare no outputs."""
        return

    def check_policy(self, policy: Any) -> None:
        """Raise `PolicyInvalid` when a run of this graph may not start under `policy`."""
        require_entries(parse_policy(policy), self.guards)

    def lent(self, host: HostParts) -> GraphFlow:
        """The same graph with other parts; without a platform among them its HTTP calls are simulated."""
        given = host.platform is not None
        parts = host if given else host.with_parts(platform=SimulatedPlatform())
        return replace(self, host=parts, platform_given=given)

    def under(self, governance: Any) -> GraphFlow:
        """The same graph under the packs and the planner of `governance`."""
        return replace(self, host=self.host.with_parts(governance=governance))

    def require_parts(self) -> None:
        """Nothing: nobody knows what its functions need."""

    def with_platform(self, platform: Platform) -> GraphFlow:
        return self.lent(self.host.with_parts(platform=platform))

    def graph(self, checkpointer: Any = None) -> Graph:
        return self.build(self.host, checkpointer)

    def input(self, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The input of the graph: `params` as they are, or checked against `inputs`.

        Keys that are no inputs are dropped, with a warning in the log.
        Raises: `InputInvalid`, `ValueRefused`.
        """
        check_kinds(params=params)
        given = dict(params or {})
        check_value(given, where="the inputs")
        if self.inputs is None:
            return given
        for title in given.keys() - self.inputs.keys():
            log.warning("input ignored: %s: not an input of this graph", title)
        for title, schema in self.inputs.items():
            if title not in given and "default" not in schema:
                raise InputInvalid(f"the required input '{title}' is missing")
            problem = first_problem(schema, given[title]) if title in given else None
            if problem:
                raise InputInvalid(f"input '{title}' does not fit: {problem}")
        return {title: value for title, value in given.items() if title in self.inputs}

    def config(self, *, run_id: str) -> RunnableConfig:
        return {"configurable": {"thread_id": run_id}}


def graph_flow(
    build: Build,
    *,
    name: str = "",
    label: str = "",
    inputs: Mapping[str, Mapping[str, JsonValue]] | None = None,
    policy: Mapping[str, JsonValue] | None = None,
    guards: Sequence[tuple[int, str, str]] = (),
    host: HostParts = NO_PARTS,
    governed: bool = False,
    repeats: bool = False,
) -> GraphFlow:
    """A hand-written governed graph as a flow for `RunStore`.

    build:  a function at the top of a module, `(host, checkpointer) -> graph`.  Its graph seals its
            host's fields and ends by `terminal_node`; a state key `outputs` is the run's outputs.
    name:   shown to people; default: the module's last name.
    label:  what a stored run calls the graph; default `module:function`.
    inputs: input title → JSON Schema, as at `seal_host_fields`; None takes every input.
    policy, guards: as at `seal_host_fields`.
    host:   what runs that this process starts are lent; without a platform they are simulated.
    governed: whether its nodes are those of `cinatra_sdk.governance.loop`: see `graphs.governed_run`.
    repeats: whether its functions give the same again and act only by `perform` and by blocks of this SDK,
            which know what was done before.  Then a run outlives its checkpoints: where these are damaged,
            or another version wrote them, they are made again from the evidence (`oasflow verify`).

    Only the module's own text counts for the digest, not that of the modules that it imports.

    Raises: `ValueError` for a function without a module's file, or of the program's own module
    (`__main__`) without a label; `PolicyInvalid`.
    """
    require_entries(parse_policy(policy), guards if policy is not None else ())
    module, function = build.__module__, build.__qualname__
    if "<" in function:
        raise ValueError(f"'{function}' is no function at the top of a module")
    if module == "__main__" and not label:
        raise ValueError("this module is the program itself: give label=, or import the module")
    own = label or f"{module}:{function}"
    file = find_module_file(module)
    made = GraphFlow(
        build=build,
        name=name or module.rpartition(".")[2],
        label=own,
        source=join_source({"kind": GRAPH, "name": own}, read_module(file)),
        file=str(file),
        host=host,
        platform_given=False,
        inputs=inputs,
        policy=policy,
        guards=tuple(guards),
        governed=governed,
        repeats=repeats,
    )
    return made.lent(host)


def load_graph_flow(source: bytes, *, host: HostParts) -> Any:
    """The graph of a stored run, from among those that the process lends.

    Raises: `NotConfigured` where it lends none of this name; `FlowChanged` where the text of its
    module is another one.
    """
    _, header = split_source(source)
    name = str(header.get("name", ""))[:200]
    found = next((graph for graph in host.graphs if graph.label == name), None)
    if found is None:
        raise NotConfigured(
            f"the run is of the hand-written graph '{name}', which this process does not lend",
            hint="give it with HostParts(graphs=[…]); at the command line --host module:factory",
        )
    if found.source != source:
        raise FlowChanged(
            f"the module of the graph '{name}' changed since the run began",
            hint="go on with the module as it was, or end the run: reject it, or stop it",
        )
    ready = found.lent(host)
    ready.require_parts()
    return ready


def read_module(file: Path) -> bytes:
    """The whole text of a module, to which runs are pinned.

    Raises: `ValueError` for one of more than `MOST_BYTES`; `OSError`.
    """
    text = read_named(file, MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        raise ValueError(
            f"the module {file} has more than {MOST_BYTES:,} bytes: a run is pinned to its text"
        )
    return text


def find_module_file(module: str) -> Path:
    """The file of an imported module.

    Raises: `ValueError` where it has none.
    """
    try:
        return Path(inspect.getfile(sys.modules[module]))
    except (KeyError, TypeError):
        raise ValueError(
            f"the module '{module}' has no file: a run is pinned to its text"
        ) from None
