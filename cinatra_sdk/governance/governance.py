"""`Governance`: what a host lends to governed runs, in one record.

HostParts(tools={…}, governance=Governance(registry=FolderRegistry("packs"), planner=planner))
"""

from __future__ import annotations

from typing import Self

from cinatra_sdk.governance.flow_rules import LoopRecorder, PackRules
from cinatra_sdk.governance.gateway.host_record import GovernanceParts
from cinatra_sdk.governance.packs.pack_registry import MemoryRegistry, Published
from cinatra_sdk.governance.run.host_ports import GovernancePorts


class Governance(GovernanceParts):
    """Safe to share between threads and runs."""

    @classmethod
    def of(cls, *packs: Published, ports: GovernancePorts | None = None) -> Self:
        """The rules of packs that the program holds, for a compiled flow."""
        return cls(
            registry=MemoryRegistry(packs),
            pack_refs=tuple(one.ref for one in packs),
            ports=ports or GovernancePorts(),
        )

    def make_loop_recorder(self) -> LoopRecorder:
        """Writes the decision records of the canonical loop."""
        return LoopRecorder(self)

    def make_rules(self, flow: str) -> PackRules:
        """The rules for a compiled flow of this name.

        Raises: `GovernanceRefused` for a reference that is not pinned; `NotConfigured` without one.
        """
        return PackRules(self, flow)
