"""Child agents: dependencies between packages, their versions, and their places on disk.

ranges.py     npm's version ranges
declared.py   a package.json      -> the child agents it asks for
packages.py   folders             -> the agent packages in them
resolve.py    both                -> links, and findings for unresolved child agents
flaws.py      circles, doubles, children that are used and not declared
lock.py       a resolution        -> oasflow-lock.json, or the differences from it

resolve("agents/email-outreach").to_json()
"""

from __future__ import annotations

from oas_compiler.deps.resolve import Link, Resolution, resolve

__all__ = ["Link", "Resolution", "resolve"]
