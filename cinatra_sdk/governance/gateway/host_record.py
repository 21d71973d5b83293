"""`GovernanceParts`: all that a host lends to governed runs; `Governance` adds the functions over it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, Final, TypeAlias

from cinatra_sdk.governance.contracts.invocation import AgentIdentity, RunBudget, UserClaims
from cinatra_sdk.governance.gateway.admission import HostWord
from cinatra_sdk.governance.gateway.planners import Planner
from cinatra_sdk.governance.packs.pack_registry import PackRegistry
from cinatra_sdk.governance.run.host_functions import ask_host, refuse_host
from cinatra_sdk.governance.run.host_ports import GovernancePorts
from cinatra_sdk.light_imports.records import dataclass

WordFor: TypeAlias = Callable[[Mapping[str, Any]], HostWord]
"""From the identity of a run (`run_id`, `tenant`) to what the host knows about it."""
UserFor: TypeAlias = Callable[[Mapping[str, Any]], UserClaims | None]
"""From the identity of a run (`run_id`, `tenant`, `started_by`) to the person for whom it acts; None: nobody."""
_BLANK: Final = re.compile(r"\s+")
"""A name in a record has none."""
_WORDS: Final[Mapping[str, Any]] = {
    "tenant": str, "run_id": str, "safety_mode": str, "budget": RunBudget, "user": UserClaims,
    "agent": AgentIdentity, "started_by": str,
}  # fmt: skip
"""Of a `HostWord`: what each member is."""
_TEXTS: Final = ("tenant", "run_id", "started_by")
"""Never None."""
LOCAL_TENANT = "local"
"""Of runs without a tenant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GovernanceParts:
    """Safe to share between threads and runs."""

    registry: PackRegistry
    planner: Planner | None = field(default=None, repr=False)
    """Makes the plans of the loop (`graphs.governed_run`); compiled flows need none."""
    ports: GovernancePorts = field(default_factory=GovernancePorts)
    word_for: WordFor | None = field(default=None, repr=False)
    """None: the tenant of the run, and what its packs say."""
    pack_refs: tuple[str, ...] = ()
    """The packs of every flow of the host, and of every request of the loop.  Empty: flows have none, and a
    request of the loop names its own, of each the newest version.
    """
    intent: str = ""
    """Of compiled flows; empty: the name of the flow."""
    agent: AgentIdentity | None = None
    """None: of compiled flows one with the name of the flow, of the loop the one that its claim names."""
    agents: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Compiled flows that the loop may call, by their names: `agent:acme/billing@1.0.0`."""
    user_for: UserFor | None = field(default=None, repr=False)
    """None: whoever started the run, with no role and no scopes."""

    @property
    def governs_flows(self) -> bool:
        """Whether every flow of the host stands under its packs."""
        return bool(self.pack_refs)

    def read_word(self, run: Mapping[str, Any]) -> HostWord:
        """What the host says of a run; a run that has an id keeps it, so that its records bear it.

        Raises: `NotConfigured` where a function of the host fails, or gives something else.
        """
        known = str(run.get("run_id") or "")
        tenant = str(run.get("tenant") or LOCAL_TENANT)
        word = HostWord(tenant=tenant) if self.word_for is None else self._ask_word(run)
        by = str(run.get("started_by") or "")
        return replace(
            word,
            run_id=known or word.run_id,
            started_by=by,
            user=word.user or self._name_user(run, by),
            agent=word.agent or self.agent,
        )

    def _ask_word(self, run: Mapping[str, Any]) -> HostWord:
        ask = self.word_for
        assert ask is not None
        word: HostWord = ask_host("word_for", lambda: ask(run), HostWord)
        for name, kind in _WORDS.items():
            said = getattr(word, name)
            if not isinstance(said, kind) and (said is not None or name in _TEXTS):
                problem = f"gave a HostWord whose {name} is a {type(said).__name__}"
                raise refuse_host("word_for", problem, f"one whose {name} is a {kind.__name__}")
        if not word.tenant:
            raise refuse_host("word_for", "gave a HostWord without a tenant", "one with a tenant")
        return word

    def _name_user(self, run: Mapping[str, Any], by: str) -> UserClaims | None:
        ask = self.user_for
        if ask is not None:
            # None: nobody whom the host knows, which admission refuses.
            named: UserClaims | None = ask_host(
                "user_for", lambda: ask(run), UserClaims, or_none=True
            )
            return named
        return UserClaims.read({"user_id": _BLANK.sub("_", by)}) if by else None
