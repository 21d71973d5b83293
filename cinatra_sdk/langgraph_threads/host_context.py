"""The host's context: identity, policy and credentials of one run.

It is LangGraph's runtime context (`graph.invoke(…, context=…)`), which is never stored, so the host
gives it again at every activation.

    host_context(run_id="r1", approval_policy={"steps": […]}, run_token="…")

A context that came over the wire as JSON (a server coerces it to this class) lacks the mark
that `host_context` sets and counts as absent: a client of a graph server is not the host.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

from cinatra_sdk.events import RunEvent, Tell
from cinatra_sdk.governed.secret_values import long_enough
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.door import OPEN, Door
from cinatra_sdk.outside.effects.memory_ledgers import LEDGER_NAME, name_run
from cinatra_sdk.outside.http_calls.protocol import Credentials

if TYPE_CHECKING:
    from cinatra_sdk.outside.effects.door import EffectNews, Ledger, Remembered, Verdict
    from cinatra_sdk.outside.effects.effect import Effect, Usage


Effects: TypeAlias = Literal["line", "forks"]
"""Where nodes may act: on their thread's own line, or in forks of it too."""

_HOST: Final = object()


class _Derived:
    """The policy that the compiler derived from the file, unless the host gives its own."""

    def __repr__(self) -> str:
        return "DERIVED"


DERIVED: Final = _Derived()


_C = TypeVar("_C", bound=type[Any])


def _deaf_to_strangers(cls: _C) -> _C:
    """Let the class drop keys that it does not know.

    A graph server makes its context from a client's whole `configurable`.  None of these keys comes
    from the host, so an unknown key must not fail.
    """
    made_from, known = cls.__init__, frozenset(cls.__dataclass_fields__)

    def init(self: Any, **given: Any) -> None:
        made_from(self, **{key: value for key, value in given.items() if key in known})

    cls.__init__ = init
    return cls


@_deaf_to_strangers
@dataclass(frozen=True, slots=True, kw_only=True)
class HostContext:
    """Made by `host_context` (or `Flow.context`); prints no credential."""

    run_id: str = ""
    tenant: str = ""
    started_by: str = ""
    """Whoever started the run; empty where the host names nobody."""
    context_id: str = ""
    """The conversation that the run belongs to; sent as `X-Cinatra-A2A-Context-Id`."""
    approval_policy: Any = DERIVED
    """`{"steps": […]}`; None = the host has no policy; DERIVED = the compiler's."""
    credentials: Credentials = field(default=Credentials(), repr=False)
    scope: str = ""
    """The place of an inner graph in the run: `outer/inner`; empty for the outermost graph."""
    effects: str = ""
    """Where nodes may act, as `Effects`; empty: the graph's own
    setting.
    """
    heard: Any = field(default=(), repr=False, compare=False)
    """The conversation of the flows around an inner one, when they came to it: LangChain messages.
    (For the type, see `door`.)
    """
    tell: Tell | None = field(default=None, repr=False, compare=False)
    """Takes what happens in the run; returns at once, and never raises (see `cinatra_sdk.events`)."""
    door: Any = field(default=OPEN, repr=False, compare=False)
    """A `Door`: what the host demands of every effect.  (Its type says `Any`, because a server reads
    the types here to make a context from a client's JSON, which has no authority in any case.)
    """
    files: Any = field(default=None, repr=False, compare=False)
    """From the `ModelConfig` that a node asks to the ports for the run's files
    (`cinatra_sdk.attachments.uploads`), or None.  (For the type, see `door`.)
    """
    mark: Any = field(default=None, repr=False, compare=False)

    @classmethod
    def __get_pydantic_json_schema__(cls, _core: Any, _handler: Any) -> dict[str, Any]:
        """What a client of a graph server may send: nothing, because a client is not the host."""
        return {
            "title": cls.__name__,
            "type": "object",
            "description": "Only the host says it; what a client sends here is left out.",
        }


_NOBODY: Final = HostContext()
"""Where no host says anything; immutable, so that every node may share it."""


def host_context(
    *,
    run_id: str = "",
    tenant: str = "",
    started_by: str = "",
    context_id: str = "",
    approval_policy: Any = DERIVED,
    run_token: str | None = "",
    bearer_token: str | None = "",
    effects: Effects | None = None,
    tell: Tell | None = None,
    before_effect: Callable[[Effect], None] | None = None,
    ledger: Ledger | None = None,
    allow: Callable[[Effect], Verdict] | None = None,
    spend: Callable[[Effect], None] | None = None,
    spent: Callable[[Effect, Usage], None] | None = None,
    on_effect: Callable[[EffectNews], None] | None = None,
) -> HostContext:
    """The host's word for one activation of one run.

    effects: "forks" lets nodes act in forks of the thread too (an older checkpoint, `update_state`
             on one, a copied thread); "line" on the thread's own line only; None: as the graph.
    before_effect: called before every effect; raises where the run must not act any more.
    ledger:  what is known of earlier effects of the run, whose results are replayed; None: only
             its checkpoints are, and for effects that are at most once a ledger in the memory of the
             process that began the run.  See `cinatra_sdk.outside.effects.door` and `process_ledgers`.
    allow, spend, spent, on_effect: policy, budget and watcher; see `cinatra_sdk.outside.effects.Door`.
    started_by: the person who started the run, whom a governed run acts for where nothing else says so.
    tell:    takes every event of the run, in order; see `cinatra_sdk.events.RunEvent`.

    `run_token` and `bearer_token` reach the platform's requests and nothing else: no state,
    no checkpoint, no log, no error text.

    Raises: `ValueError` for a token that is too short to be found in an answer.
    """
    texts = {
        "run_id": run_id, "tenant": tenant, "started_by": started_by, "context_id": context_id,
        "run_token": run_token or "", "bearer_token": bearer_token or "",
    }  # fmt: skip
    for name, text in texts.items():
        if not isinstance(text, str):
            raise TypeError(f"{name} is a {type(text).__name__}, not a string")
    if effects not in (None, "line", "forks"):
        raise ValueError(f'effects is "line" or "forks", not {effects!r}')
    for name in ("run_token", "bearer_token"):
        long_enough(name, texts[name])
    return HostContext(
        run_id=run_id,
        tenant=tenant,
        started_by=started_by,
        context_id=context_id,
        approval_policy=approval_policy,
        credentials=Credentials(run_token=texts["run_token"], bearer_token=texts["bearer_token"]),
        effects=effects or "",
        tell=tell,
        door=Door(
            before=before_effect,
            ledger=ledger,
            allow=allow,
            spend=spend,
            spent=spent,
            told=on_effect,
            tell=tell,
        ),
        mark=_HOST,
    )


def context_inside(
    host: HostContext, *, scope: str, own_policy: bool, effects: Effects
) -> HostContext:
    """The host's context for an inner graph, at `scope`.

    own_policy: the inner graph is governed by its own policy, not by the outer policy.  effects:
    where the outer graph lets nodes act; the host's setting overrides it.  The result always counts
    as made by the host: the additions come from the outer graph's sealed state.
    """
    policy = DERIVED if own_policy else host.approval_policy
    allowed = host.effects or effects
    return replace(host, approval_policy=policy, scope=scope, effects=allowed, mark=_HOST)


def hearing(host: HostContext, heard: Sequence[Any]) -> HostContext:
    """The host's context for a flow inside, which sees the messages so far; they are not stored."""
    return replace(host, heard=tuple(heard), mark=_HOST)


def remembering(host: HostContext, remembered: Remembered) -> HostContext:
    """The host's context for code that may begin again in this activation.

    As it is where the host has a ledger, or where code around is remembered.
    """
    door = host.door
    if door.ledger is not None or door.remembered is not None:
        return host
    return replace(host, door=replace(door, remembered=remembered), mark=_HOST)


def listening(host: HostContext, tell: Tell) -> HostContext:
    """The host's context, whose events go to `tell` too."""
    told = host.tell

    def tell_both(event: RunEvent) -> None:
        if told is not None:
            told(event)
        tell(event)

    both = tell if told is None else tell_both
    return replace(host, tell=both, door=replace(host.door, tell=both), mark=_HOST)


def name_ledger(host: HostContext) -> dict[str, str]:
    """What the identity of a run that begins says of a ledger in memory: nothing where the host has one."""
    return {LEDGER_NAME: name_run()} if host.door.ledger is None else {}


def context_of(given: object) -> HostContext:
    """The host's context, or an empty context where `given` was not made by the host."""
    if isinstance(given, HostContext) and given.mark is _HOST:
        return given
    return _NOBODY
