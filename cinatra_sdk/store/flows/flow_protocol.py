r"""The flow of a stored run: the protocol that the store needs, its kind, and the loaders that rebuild it.

The SDK knows nothing of OAS files.  A compiler registers entry points, as this project's compiler
does: a loader in the group `oasflow.flow_loader`, by the kind of its flows, and facts about a flow in
`oasflow.flow_facts`.  The kind stands in front of the stored bytes:

    b'{"component_type": "Flow", …}'                     an OAS file: its bytes alone
    b'\x1e{"kind": "graph", "name": "shop:build"}\n…'      another kind: a header, then the body

The header is a record of RFC 7464 (JSON text sequences).  Its first byte is one that neither JSON
nor YAML may hold, so no flow file can pass for another kind.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, Unpack

from pydantic import JsonValue

from cinatra_sdk.context.selection_errors import ContextError
from cinatra_sdk.context.slot_declarations import DeclaredSlots, read_declared
from cinatra_sdk.data.ports import TypedPort
from cinatra_sdk.errors import FlowChanged, NotConfigured, PlaceholderRefused, StoreError
from cinatra_sdk.governed.host_keys import is_runtime_name, refuse_runtime_names
from cinatra_sdk.host_parts.host_parts import FlowParts, HostParts, join_parts
from cinatra_sdk.outside.http_calls.description import platform_from
from cinatra_sdk.outside.http_calls.protocol import Platform
from cinatra_sdk.postgres.connection import Row
from cinatra_sdk.store.database import Database

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from cinatra_sdk.activations import Graph
    from cinatra_sdk.attachments import AnswerRule


OAS: Final = "oas"
"""The kind of bytes without a header: a compiled Agent Spec file."""
_RECORD: Final = b"\x1e"
_MOST: Final = 100_000
"""Bytes of a header."""


def join_source(header: Mapping[str, JsonValue], body: bytes) -> bytes:
    """The bytes to store of a flow; `header` has the members `kind` and those of its kind."""
    text = json.dumps(header, sort_keys=True)
    return _RECORD + text.encode() + b"\n" + body


def split_source(source: bytes) -> tuple[str, Mapping[str, JsonValue]]:
    """The kind of stored bytes, and their header; empty for an OAS file.

    Raises: `StoreError` for a header that cannot be read.
    """
    if not source.startswith(_RECORD):
        return OAS, {}
    line, _, _ = source[1:_MOST].partition(b"\n")
    try:
        header = json.loads(line)
    except ValueError:
        header = None
    if not isinstance(header, dict) or not isinstance(header.get("kind"), str):
        raise StoreError("the stored flow has a header that cannot be read", hint="stop the run")
    return header["kind"], header


GROUP: Final = "oasflow.flow_loader"
"""Group of entry points, named by the kind of flow: functions `(source, *, host) -> DurableFlow`."""
FACTS: Final = "oasflow.flow_facts"
"""Group of entry points, named by the fact: functions of the bytes of a flow.

`context_slots` is a function `(source) -> DeclaredSlots`, which raises `ContextError` where the
slots cannot be read.
"""
PLATFORMS: Final = "oasflow.platform"
"""Group of entry points, named by the kind of platform, for kinds that need the store's database.

Each is a function `(description, database, *, env, record, allow) -> Platform`, which raises
`ValueError` as `platform_from` does; one with a parameter `host` gets the `HostParts`, too.  This project's local platform is registered as `local`.
"""


class DurableFlow(Protocol):
    """A flow that can be stored and rebuilt; `oas_compiler.Flow` implements this protocol."""

    @property
    def name(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def source(self) -> bytes: ...
    @property
    def file(self) -> str: ...
    @property
    def lowering(self) -> int: ...
    @property
    def env(self) -> Mapping[str, str]: ...
    @property
    def platform_given(self) -> bool: ...
    @property
    def platform(self) -> Platform: ...
    @property
    def host(self) -> HostParts:
        """What the flow was made with; its policy, budget, ledger and credentials count for runs
        whose context and whose store say nothing.
        """
        ...

    @property
    def is_repeatable(self) -> bool:
        """Whether its nodes only compute, but for what they do through the door for effects.

        Then a worker that takes a run over may repeat steps that were carried out and not stored.
        """
        ...

    @property
    def approval_policy(self) -> dict[str, JsonValue]: ...
    def with_platform(self, platform: Platform) -> DurableFlow:
        """The same flow, calling another platform."""
        ...

    def outputs_of(self, path: str) -> Sequence[TypedPort] | None:
        """The declared outputs of the node at a path of events; None where nobody knows them."""
        ...

    def check_policy(self, policy: Any) -> None: ...
    def graph(self, checkpointer: Any = None) -> Graph: ...
    def input(self, params: Mapping[str, Any] | None = None) -> dict[str, Any]: ...
    def config(self, *, run_id: str) -> RunnableConfig: ...


def load_flow(
    source: bytes, *, digest: str, host: HostParts | None = None, **parts: Unpack[FlowParts]
) -> DurableFlow:
    """The flow in `source`, made by the loader of its kind from what this process lends.

    The bytes choose among the loaders that are installed, and nothing else: no module, no file.

    Raises: `StoreError` when no loader of this kind is installed; `FlowChanged` when the loader
    makes another flow from the same bytes; the loader's own errors.
    """
    lent = join_parts(host, parts, "load_flow()")
    kind, _ = split_source(source)
    loader = next(iter(importlib.metadata.entry_points(group=GROUP, name=kind)), None)
    if loader is None:
        raise StoreError(
            f"nothing is installed that can load flows of the kind '{kind}'",
            hint="install oasflow" if kind == OAS else "install what made the flow",
        )
    flow: DurableFlow = loader.load()(source, host=lent)
    if flow.digest != digest:
        raise FlowChanged(f"the stored flow has the digest {flow.digest[:12]}…, not {digest[:12]}…")
    return flow


def load_declared_slots(source: bytes, *, digest: str) -> DeclaredSlots:
    """The context slots that the flow in `source` declares.

    digest: sha256 (hex) of the flow that the caller means; other bytes are not believed.

    Raises: `StoreError` when nothing is installed that knows flows; `ContextError` `oas_missing`,
    `slot_ambiguous` where the slots cannot be read or the bytes are those of another flow.
    """
    if hashlib.sha256(source).hexdigest() != digest:
        raise ContextError("oas_missing", "the stored bytes are not those of the run's flow")
    found = importlib.metadata.entry_points(group=FACTS, name="context_slots")
    reader = next(iter(found), None)
    kind, header = split_source(source)
    if kind != OAS:
        if "slots" not in header:
            raise ContextError("oas_missing", "a hand-written graph declares no context slots")
        return read_declared(header["slots"])
    if reader is None:
        raise StoreError(
            "nothing is installed that can tell the context slots of flows", hint="install oasflow"
        )
    declared: DeclaredSlots = reader.load()(source)
    return declared


def load_answer_rules(source: bytes) -> tuple[AnswerRule, ...]:
    """Which person's answers the flow in `source` takes with files, and in which calls."""
    if split_source(source)[0] != OAS:
        return ()  # a hand-written graph says nothing of its calls
    reader = next(iter(importlib.metadata.entry_points(group=FACTS, name="answer_rules")), None)
    rules: tuple[AnswerRule, ...] = () if reader is None else reader.load()(source)
    return rules


def values_of(row: Row, own: Mapping[str, str]) -> dict[str, str]:
    """The values of the run's placeholders; the row has only their names.

    own: the values that this process lends to its runs.

    Raises: `NotConfigured` where a value is missing, or must not be read by runs.
    """
    names: list[str] = row["env_names"]
    try:
        refuse_runtime_names(names)
    except PlaceholderRefused as refusal:
        raise NotConfigured(f"run '{row['run_id']}' cannot go on: {refusal}") from None
    missing = [name for name in names if name not in own]
    if missing:
        raise NotConfigured(
            f"run '{row['run_id']}' was compiled with a value for '{missing[0]}', "
            "which this process does not have",
            hint=f"give it with --env {missing[0]}=…, or list the name in OASFLOW_ENV",
            in_python="open the store with env=…, or give the flow",
        )
    return {name: own[name] for name in names}


def unfilled(row: Row) -> dict[str, str]:
    """The run's placeholders, each standing for itself, unfilled."""
    names = [name for name in row["env_names"] if isinstance(name, str)]
    return {name: "{{" + name + "}}" for name in names if not is_runtime_name(name)}


def platform_of(
    row: Row,
    database: Database,
    *,
    settings: Mapping[str, str],
    record: str | None,
    allow: Sequence[str] = (),
    host: HostParts | None = None,
) -> Platform:
    """The run's own platform, rebuilt from its description as far as this process allows.

    Raises: `NotConfigured`, which says what this process lacks, or what is wrong with the
    description.
    """
    description = row["platform"]
    try:
        remake = _remaker_of(description)
        if remake is not None:
            takes_host = "host" in inspect.signature(remake).parameters
            more = {"host": host} if takes_host else {}
            return remake(description, database, env=settings, record=record, allow=allow, **more)
        return platform_from(description, env=settings, record=record, allow=allow)
    except ValueError as error:
        raise NotConfigured(f"the run's platform cannot be made again: {error}") from None


def _remaker_of(description: object) -> Callable[..., Platform] | None:
    """The entry point that rebuilds a platform of this kind; None where `platform_from` knows the
    kind.
    """
    kind = description.get("kind") if isinstance(description, Mapping) else None
    if not isinstance(kind, str) or kind in {"http", "simulated"}:
        return None
    found = next(iter(importlib.metadata.entry_points(group=PLATFORMS, name=kind)), None)
    if found is None:
        return None
    try:
        remake: Callable[..., Platform] = found.load()
    except Exception as error:
        problem = f"{found.value}, which is installed for its kind '{kind}', cannot be loaded"
        raise ValueError(f"{problem}: {type(error).__name__}") from error
    return remake
