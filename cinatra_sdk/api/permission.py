"""Whether a person may do something: the one place that every surface and the store ask.

    may(Person(id="ann", tenant="acme", proof="token"), "answer", ActionSubject(kind="gate", tenant="acme", …))
        ->  Verdict(allowed=True)
    may(bob_of_another_tenant, "see", run)
        ->  Verdict(allowed=False, reason="run 'n1' is another tenant's", code="other_tenant")

Asked in this order, and the first refusal counts: everybody of the tenant may do everything; then the
policy of the host (`HostParts(may=…)`), which can only take away; then the rules behind it, such as those
of packs on who approves.  A policy that fails, or answers anything but a `Verdict`, refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final, Literal, TypeAlias, get_args

from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.door import Verdict

Action: TypeAlias = Literal["see", "start", "answer", "settle", "stop", "archive"]
"""`start` is also going on with a run that failed."""
ACTIONS: Final[tuple[Action, ...]] = get_args(Action)
Proof: TypeAlias = Literal["host", "terminal", "loopback", "session", "token", "header"]
"""How it is known who the person is: `host`: the program around us says so; `terminal`: the account of
the operating system, or `--as`; `loopback`: a link that was printed there; `session`: a login; `token`: a
bearer token; `header`: a proxy that we trust.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Who asks, and how that was proved; never taken from the body of a request."""

    id: str
    """The name that decisions and events keep."""
    tenant: str | None
    """Whose runs the person deals with; empty: those without a tenant; None: those of every tenant, for
    whoever has the database anyway.
    """
    groups: frozenset[str] = frozenset()
    """As whoever proved the person says it."""
    proof: Proof


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionSubject:
    """What the person would do it to."""

    kind: Literal["run", "gate", "call", "flow"]
    """A `flow` is asked about before there is a run of it."""
    tenant: str
    flow: str = ""
    """The flow's name."""
    run_id: str = ""
    started_by: str = ""
    """The person who started the run."""
    owner: str = ""
    name: str = ""
    """Id of the gate, or key of the call."""
    risk: str = ""
    """Risk class of the gate."""
    decision: Literal["", "approved", "rejected", "denied"] = ""
    """What the person would answer at the gate."""

    def __str__(self) -> str:
        if self.kind == "flow":
            return f"flow '{self.flow}'"
        of_run = f"run '{self.run_id}'"
        return of_run if self.kind == "run" else f"{self.kind} '{self.name}' of {of_run}"


MayRule: TypeAlias = Callable[[Person, Action, ActionSubject], "Verdict | None"]
"""Rules behind the policy; None: nothing to say."""
MayPolicy: TypeAlias = Callable[[Person, Action, ActionSubject], Verdict]
"""The policy of a host."""

OTHER_TENANT: Final = "other_tenant"
POLICY_REFUSED: Final = "not_allowed"
"""Code of a host's refusal that has none of its own."""
POLICY_FAILED: Final = "policy_failed"
"""The policy of the host raised, or gave no verdict: to be mended by the host, and nothing is allowed."""


def may(
    person: Person,
    action: Action,
    subject: ActionSubject,
    *,
    policy: MayPolicy | None = None,
    rules: Iterable[MayRule] = (),
) -> Verdict:
    """policy: `HostParts.may`; rules: asked behind it, of what the store knows."""
    refused = _refuse_other_tenant(person, subject)
    if refused is None and policy is not None:
        refused = _ask_policy(policy, person, action, subject)
    for rule in rules:
        if refused is not None:
            break
        said = rule(person, action, subject)
        refused = None if said is None or said.allowed else said
    return refused or Verdict.allow()


def _refuse_other_tenant(person: Person, subject: ActionSubject) -> Verdict | None:
    if person.tenant is None or person.tenant == subject.tenant:
        return None
    return Verdict.refuse(f"{subject} is another tenant's", code=OTHER_TENANT)


def _ask_policy(
    policy: MayPolicy, person: Person, action: Action, subject: ActionSubject
) -> Verdict | None:
    """The refusal of the host's policy; None where it allows."""
    try:
        said: object = policy(person, action, subject)
    except Exception as error:  # noqa: BLE001 - a function of the host raises anything
        # Its words are not repeated: they may name a secret.
        return Verdict.refuse(f"the host's may raised {type(error).__name__}", code=POLICY_FAILED)
    # A subclass could change what `allowed` means; a truthy value of another kind allows nothing.
    if type(said) is not Verdict or not isinstance(said.allowed, bool):
        return Verdict.refuse(
            f"the host's may gave a {type(said).__name__}, and no Verdict", code=POLICY_FAILED
        )
    if said.allowed:
        return None
    reason = said.reason or f"the host does not let {person.id} {action} {subject}"
    return replace(said, reason=reason, code=said.code or POLICY_REFUSED)
