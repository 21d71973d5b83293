"""`--packages DIR`: agents that flows may call by the name of their package.

read_agents(["agents"], own)                       {"@x/drafts": <the newest version's flow>, …}
read_agents(["agents"], own, path="agents/email")  the versions that this package asks for
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from oas_compiler.cli.exits import Halt
from oas_compiler.cli.opening import Own

if TYPE_CHECKING:
    from oas_compiler.deps.packages import AgentPackage
    from oas_compiler.lower.flow import Flow

log = logging.getLogger("oasflow.packages")


def read_agents(folders: Sequence[str], own: Own, *, path: str = "") -> dict[str, Flow]:
    """The flow of each package in and below the folders, by the package's name.

    A package whose flow does not compile here is left out, with a warning: it may be nobody's child.

    Raises: `Halt` for a folder that is none, and where no package is left.
    """
    if not folders:
        return {}
    from oas_compiler.lower.compile import compile_flow
    from oas_compiler.report.diagnostics import CompileError

    found: dict[str, Flow] = {}
    for name, package in _choose(folders, path).items():
        try:
            found[name] = compile_flow(package.folder, host=own.lend())
        except CompileError as error:
            first = next(iter(error.diagnostics))
            log.warning("%s is no child agent here: %s", package.label, first.message)
    if not found:
        raise Halt(f"--packages {folders[0]}: there is no package of an agent that runs here")
    return found


def _choose(folders: Sequence[str], path: str) -> dict[str, AgentPackage]:
    from oas_compiler.deps import resolve
    from oas_compiler.deps.packages import stock
    from oas_compiler.findings.finding import Findings
    from oas_compiler.package.ranges import in_order

    for folder in folders:
        if not Path(folder).is_dir():
            raise Halt(f"--packages {folder}: this is no folder")
    chosen: dict[str, AgentPackage] = {}
    for name, copies in stock([Path(folder) for folder in folders], Findings()).by_name.items():
        newest = in_order({one.version for one in copies})[-1]
        package = next(one for one in copies if one.version == newest)
        if name and package.flow_file is not None:
            chosen[name] = package
    if path and Path(path).is_dir():
        for link in resolve(path, roots=list(folders)).links:
            if link.chosen is not None and link.chosen.flow_file is not None:
                chosen[link.wanted.name] = link.chosen
    return chosen
