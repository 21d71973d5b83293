"""Child agents: dependencies between packages, their versions, and their places on disk.

agent_packages.py  folders -> the agent packages in them
resolution.py      packages, and the child agents that each declares
                   (`oas_compiler/package/dependencies.py`) -> links, and findings for unresolved
                   child agents; circles, doubles, children that are used and not declared;
                   whether a flow's copy of a child agent still equals the child
lock.py            a resolution -> oasflow-lock.json, or the differences from it

resolve("agents/email-outreach").to_json()
"""

from __future__ import annotations

from oas_compiler.deps.resolution import Link, Resolution, resolve
from oas_compiler.package.dependencies import highest, is_range, refusal, satisfies

__all__ = ["Link", "Resolution", "highest", "is_range", "refusal", "resolve", "satisfies"]
