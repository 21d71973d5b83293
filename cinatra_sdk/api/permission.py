"""Whether a person may do something: the one place that every surface and the store ask.

    may(Person(id="ann", tenant="acme", proof="token"), "answer", ActionSubject(kind="gate", tenant="acme", …))
        ->  Verdict(allowed=True)
    may(bob_of_another_tenant, "see", run)
        ->  Verdict(allowed=False, reason="run 'n1' is another tenant's", code="other_tenant")

Asked in this order, and the first refusal counts: everybody of the tenant may do everything; then the
policy of the host (`HostParts(may=…)`), which can only take away; then the rules behind it, such as those
of packs on who approves.  A policy that fails, or answers anything but a `Verdict` of texts, refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from cinatra_sdk.errors import InputInvalid
from cinatra_sdk.governed.person import Person
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.door import Verdict

Action: TypeAlias = Literal["see", "start", "answer", "settle", "pause", "stop", "archive"]
"""`start` is also going on with a run that failed or was paused."""
ACTIONS: Final[tuple[Action, ...]] = get_args(Action)


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
    started_sub: str = ""
    """As `Person.sub` of that person; empty where a name alone was given."""
    started_issuer: str = ""
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


class AskedVerdict(NamedTuple):
    """What `may` says, and whether that is because the policy of the host failed: a host's own refusal
    may have any code, also `policy_failed`.
    """

    verdict: Verdict
    failed: bool = False


def may(
    person: Person,
    action: Action,
    subject: ActionSubject,
    *,
    policy: MayPolicy | None = None,
    rules: Iterable[MayRule] = (),
) -> Verdict:
    """policy: `HostParts.may`; rules: asked behind it, of what the store knows.

    Raises: `InputInvalid` for what is no action.
    """
    answer = ask(person, action, subject, policy)
    if not answer.verdict.allowed:
        return answer.verdict
    for rule in rules:
        said = rule(person, action, subject)
        if said is not None and not said.allowed:
            return said
    return answer.verdict


def ask(
    person: Person, action: Action, subject: ActionSubject, policy: MayPolicy | None
) -> AskedVerdict:
    """As `may`, without rules.  Raises: `InputInvalid` for what is no action."""
    if action not in ACTIONS:
        raise InputInvalid("there is no such action", hint=f"one of {', '.join(ACTIONS)}")
    refused = _refuse_other_tenant(person, subject)
    if refused is not None:
        return AskedVerdict(refused)
    allowed = AskedVerdict(Verdict.allow())
    return allowed if policy is None else _ask_policy(policy, person, action, subject) or allowed


def _refuse_other_tenant(person: Person, subject: ActionSubject) -> Verdict | None:
    if person.tenant is None or person.tenant == subject.tenant:
        return None
    return Verdict.refuse(f"{subject} is another tenant's", code=OTHER_TENANT)


def _ask_policy(
    policy: MayPolicy, person: Person, action: Action, subject: ActionSubject
) -> AskedVerdict | None:
    """The refusal of the host's policy; None where it allows."""
    try:
        said: object = policy(person, action, subject)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a function of the host raises anything
        # Its words are not repeated: they may name a secret.
        return _fail(f"raised {type(error).__name__}")
    # A subclass could change what `allowed` means; a truthy value of another kind allows nothing.
    if type(said) is not Verdict or not isinstance(said.allowed, bool):
        return _fail(f"gave a {type(said).__name__}, and no Verdict")
    if said.allowed:
        return None
    words: dict[str, object] = {name: getattr(said, name) for name in ("reason", "code", "hint")}
    # What is no text may be an error with a secret in it.
    for name, word in words.items():
        if not isinstance(word, str):
            return _fail(f"gave a {type(word).__name__} as its {name}, and no text")
    # On one line: a refusal must not write a line of its own into what a command prints.
    reason = (
        " ".join(said.reason.split()) or f"the host does not let {person.id} {action} {subject}"
    )
    return AskedVerdict(replace(said, reason=reason, code=said.code or POLICY_REFUSED))


def _fail(why: str) -> AskedVerdict:
    return AskedVerdict(Verdict.refuse(f"the host's may {why}", code=POLICY_FAILED), failed=True)
