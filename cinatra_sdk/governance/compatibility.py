"""Whether packs fit this runtime, and each other.

    {"requires": {"oasflow": ">=0.1 <1", "ctxpack.base": "^2.1.0", "contextos.pack": "^2.0.0"}}

A name that is neither a contract of this runtime nor a pack of the same request is not there.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from typing import Final

from cinatra_sdk.governance.contracts.packs import ContextPack
from cinatra_sdk.governance.refusals import GovernanceRefused
from cinatra_sdk.governance.registry import Published
from cinatra_sdk.values.version_ranges import is_range, satisfies

CONTRACTS: Final = {
    "contextos.pack": "2.0.0",
    "contextos.tool_call": "1.0.0",
    "contextos.tool_result": "1.0.0",
    "contextos.decision_record": "1.0.0",
}
"""What this runtime speaks."""


@cache
def _read_own_version() -> str:
    return version("oasflow")


def _require_contract(pack: ContextPack) -> None:
    meta = pack.contract_meta
    known = CONTRACTS[meta.contract_name]
    if not satisfies(known, f"^{meta.contract_version}"):
        raise GovernanceRefused(
            "PACK_INCOMPATIBLE",
            f"'{pack.ref}' is written for {meta.contract_name} {meta.contract_version}, "
            f"and {known} is there",
        )


def require_compatible(packs: Iterable[Published]) -> None:
    """Raises: `GovernanceRefused` (PACK_INCOMPATIBLE), which names the pack and what it needs."""
    every = tuple(packs)
    there = {**CONTRACTS, "oasflow": _read_own_version()}
    there.update(one.ref.rpartition("@")[::2] for one in every)
    for one in every:
        if isinstance(one, ContextPack):
            _require_contract(one)
        meta = (
            one.contract_meta.compatibility if isinstance(one, ContextPack) else one.compatibility
        )
        for name, wanted in meta.requires.items():
            found = there.get(name)
            if found is None:
                problem = "which is not there"
            elif not is_range(wanted):
                problem = "which is no range of versions"
            elif not satisfies(found, wanted):
                problem = f"and {found} is there"
            else:
                continue
            raise GovernanceRefused(
                "PACK_INCOMPATIBLE", f"'{one.ref}' needs {name[:100]} {wanted[:100]}, {problem}"
            )
