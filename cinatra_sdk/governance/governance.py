"""`Governance`: what a host lends to governed runs, in one record.

HostParts(tools={…}, governance=Governance(registry=FolderRegistry("packs"), planner=planner))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from cinatra_sdk.governance.admission import HostWord
from cinatra_sdk.governance.planning import Planner
from cinatra_sdk.governance.ports import GovernancePorts
from cinatra_sdk.governance.registry import PackRegistry

WordFor: TypeAlias = Callable[[Mapping[str, Any]], HostWord]
"""From the identity of a run (`run_id`, `tenant`) to what the host knows about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Governance:
    """Safe to share between threads and runs."""

    registry: PackRegistry
    planner: Planner | None = field(default=None, repr=False)
    """Makes the plans of the loop (`graphs.governed_run`); compiled flows need none."""
    ports: GovernancePorts = field(default_factory=GovernancePorts)
    word_for: WordFor | None = field(default=None, repr=False)
    """None: the tenant of the run, and what its packs say."""

    def read_word(self, run: Mapping[str, Any]) -> HostWord:
        if self.word_for is not None:
            return self.word_for(run)
        return HostWord(tenant=run.get("tenant", ""), run_id=run.get("run_id", ""))
