"""Child agents: dependencies between packages, their versions, and their places on disk.

agent_packages.py  folders -> the agent packages in them
resolution.py      packages -> a link for each declared child agent, and findings
lock.py            a resolution -> oasflow-lock.json, or the differences from it

resolve("agents/email-outreach").to_json()
"""

from __future__ import annotations

from oas_compiler.deps.resolution import Link, Resolution, resolve
from oas_compiler.package.dependencies import highest, is_range, refusal, satisfies

__all__ = ["Link", "Resolution", "highest", "is_range", "refusal", "resolve", "satisfies"]
