"""What going on with a run uses of this process, said before it is done.

In: a run and its flow, made again for this process.  Out: three lines on stderr.

    run r1: Newsletter (agents/newsletter), of tenant acme, sha256 5f0c12ab34cd
      calls https://cinatra.example.org with CINATRA_RUN_TOKEN; also https://crm.example.com
      reads CRM_KEY of this process

Who started the run may be somebody else, and may have chosen all of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from oas_compiler.cli.safe import clean

if TYPE_CHECKING:
    from cinatra_sdk.runs import Run
    from oas_compiler.cli.terminal import Terminal
    from oas_compiler.lower.flow import Flow

RUN_TOKEN = "CINATRA_RUN_TOKEN"  # noqa: S105 - the name of a variable


def tell_what_is_used(terminal: Terminal, run: Run, flow: Flow | None) -> None:
    """Say whose flow it is, which addresses it calls with what, and which variables it reads."""
    for line in what_is_used(run, flow):
        terminal.say(line)


def what_is_used(run: Run, flow: Flow | None) -> tuple[str, str, str]:
    """The three lines, safe for a terminal; no value of a variable is in them.

    flow: None where it cannot be made again, so that its run can only be rejected.
    """
    file = f" ({clean(run.file)})" if run.file else ""
    tenant = f"of tenant {clean(run.tenant)}" if run.tenant else "of no tenant"
    names = ", ".join(sorted(flow.env)) if flow is not None else ""
    return (
        f"run {clean(run.id)}: {clean(run.flow)}{file}, {tenant}, sha256 {run.digest[:12]}",
        f"  {clean(_calls(flow))}",
        f"  reads {clean(names)} of this process" if names else "  reads no variable",
    )


def _calls(flow: Flow | None) -> str:
    if flow is None:
        return _reach({"kind": "nowhere"}, trusted=True)
    from cinatra_sdk.platform.remaking import takes_credentials

    return _reach(flow.platform.describe(), trusted=takes_credentials(flow.platform))


def _reach(description: Mapping[str, Any], *, trusted: bool) -> str:
    kind = description.get("kind")
    if kind == "simulated":
        return "calls nothing: its platform is simulated"
    if kind == "local":
        beyond = description.get("beyond")
        here = "fills context slots from this database"
        return here if beyond is None else f"{here}; {_reach(beyond, trusted=trusted)}"
    if kind == "nowhere":
        return "calls nothing: the run is rejected"
    if kind != "http":
        return "calls what its host made of it"
    if description.get("base_url", "") is None:
        listed = ", ".join(description.get("allow", []))
        return f"calls {listed} without the platform's credentials" if listed else "calls nothing"
    others = "; also " + ", ".join(description["allow"]) if description.get("allow") else ""
    return f"calls {description['base_url']} {_proofs(description, trusted)}{others}"


def _proofs(description: Mapping[str, Any], trusted: bool) -> str:
    """The names of what proves there who is calling."""
    if not trusted:
        return "without credentials, an address that this process has not named"
    held = [RUN_TOKEN] if os.environ.get(RUN_TOKEN) else []
    held += description.get("needs", [])
    return f"with {', '.join(held)}" if held else "without credentials"
