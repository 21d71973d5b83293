"""The resources of this process that a continued run uses, told before the run continues.

In: a run, and the options of this command.  Out: lines on stderr.

    run r1: Newsletter (agents/newsletter), of tenant acme, started by ann, sha256 5f0c12ab34cd
      calls https://cinatra.example.org with CINATRA_RUN_TOKEN; also https://crm.example.com
      asks model openai/gpt-5 with OPENAI_API_KEY; MCP server shop, the program mcp-shop
      reads CRM_KEY of this process

Another person may have started the run and chosen all of these.  A command that is refused because
it does not lend all of them prints the same lines first, with "would call" and "would read".
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from rich.text import Text

from cinatra_sdk.contract import BASE_URL
from oas_compiler.cli.about_services import list_services, list_stored_services, stored_flow_acts
from oas_compiler.cli.layout import Pieces
from oas_compiler.cli.opening import RUN_TOKEN
from oas_compiler.cli.safe import clean

if TYPE_CHECKING:
    from cinatra_sdk.runs import Run
    from oas_compiler.cli.opening import Own
    from oas_compiler.cli.terminal import Terminal
    from oas_compiler.lower.flow import Flow

Manner = Literal["done", "refused", "rejected"]
"""Whether the run continues, is refused a resource, or is rejected and gets no resource."""
_CALLS: Final = {"done": "calls", "refused": "would call", "rejected": "calls"}
_ASKS: Final = {"done": "asks", "refused": "would ask", "rejected": "asks"}
_READS: Final = {"done": "reads", "refused": "would read", "rejected": "reads"}


def tell_what_is_used(
    terminal: Terminal, run: Run, own: Own, manner: Manner, source: bytes
) -> None:
    """Tell the flow and its owner, the addresses and credentials of its calls, whom else it asks,
    and the variables it reads.

    source: of the run's flow; empty for a run that is rejected.
    """
    for pieces in what_is_used(run, own, manner, source):
        terminal.say(Pieces([Text(piece) for piece in pieces], between=" "))


def what_is_used(run: Run, own: Own, manner: Manner, source: bytes) -> list[list[str]]:
    """The lines in pieces, safe for a terminal and without values of variables."""
    named = [clean(run.flow), f"({clean(run.file)})"] if run.file else [clean(run.flow)]
    named[-1] += ","
    tenant = f"of tenant {clean(run.tenant)}," if run.tenant else "of no tenant,"
    starter = [f"started by {clean(run.started_by)},"] if run.started_by else []
    whose = [f"run {clean(run.id)}:", *named, tenant, *starter, f"sha256 {run.digest[:12]}"]
    services = list_asked(run, source, own)
    asks = _prefix_verb(_ASKS[manner], _join_services(services)) if services else []
    calls = _describe_calls(run, own, manner)
    if own.platform is None and is_simulated_for_nothing(run, source):
        calls = []
    if asks and calls == [f"  {_CALLS[manner]} nothing"]:
        calls = []
    lines = [whose, calls, asks, _describe_variables(run, manner)]
    return [line for line in lines if line]


def list_asked(run: Run, source: bytes, own: Own) -> list[str]:
    """Models, servers and agents that the run asks; none where a simulation answers for them."""
    if _is_simulated(run.platform) and own.platform is None:
        return []
    return list_stored_services(source, own.parts, script=_find_script(run.platform))


def tell_services(terminal: Terminal, flow: Flow, own: Own) -> None:
    """Tell whom a run that begins will ask, beside its platform."""
    platform = flow.platform.describe()
    services = (
        []
        if _is_simulated(platform)
        else list_services(flow.ir, own.parts, script=_find_script(platform))
    )
    if services:
        pieces = _prefix_verb(_ASKS["done"], _join_services(services))
        terminal.say(Pieces([Text(piece) for piece in pieces], between=" "))


def is_simulated_for_nothing(run: Run, source: bytes) -> bool:
    """Whether the platform of a run is simulated and its flow makes no call that this could matter
    to; source: as in `tell_what_is_used`.
    """
    return run.platform.get("kind") == "simulated" and not stored_flow_acts(source)


def _join_services(services: Sequence[str]) -> list[str]:
    """The services as pieces of a line."""
    return [*(f"{one};" for one in services[:-1]), services[-1]]


def _is_simulated(platform: Mapping[str, Any]) -> bool:
    beyond = platform.get("beyond")
    part = beyond if isinstance(beyond, Mapping) else platform
    return part.get("kind") == "simulated"


def _describe_calls(run: Run, own: Own, manner: Manner) -> list[str]:
    verb = _CALLS[manner]
    if manner == "rejected":
        return [f"  {verb} nothing: the run is rejected"]
    functions = ["and the functions that --host lends"] if own.parts and own.parts.tools else []
    return [*_describe_platform(run, own, manner), *functions]


def _describe_platform(run: Run, own: Own, manner: Manner) -> list[str]:
    verb = _CALLS[manner]
    if own.platform is not None:
        return _prefix_verb(verb, _describe_own_platform(own.platform.describe()))
    platform = run.platform
    if platform.get("kind") != "local":
        return _prefix_verb(verb, addresses(platform, own, manner))
    fills, beyond = "  fills context slots from this database", platform.get("beyond")
    if not isinstance(beyond, Mapping):
        return [fills]
    pieces = addresses(beyond, own, manner)
    if beyond.get("kind") == "routed":  # its pieces begin with a verb
        return [f"{fills};", *pieces]
    return [f"{fills};", *_prefix_verb(verb, pieces, indent="")]


def _describe_own_platform(described: Mapping[str, Any]) -> list[str]:
    """The addresses of the platform that `--host` lends: who wrote it knows its credentials."""
    listed = [described.get("base_url"), *_read_text_list(described.get("allow"))]
    named = [str(address) for address in listed if address]
    return _join_with_commas([*named, "by the platform of --host"])


def _prefix_verb(verb: str, pieces: Sequence[str], indent: str = "  ") -> list[str]:
    return [f"{indent}{verb} {pieces[0]}", *pieces[1:]]


def _find_script(platform: object) -> str:
    """The script that answers in place of a flow's own models; empty: there is none."""
    while isinstance(platform, Mapping):
        names = _read_text_list(platform.get("models"))
        script = next((one for one in names if one.startswith("scripted:")), "")
        if script:
            return script
        platform = platform.get("beyond")
    return ""


def _describe_models(platform: Mapping[str, Any]) -> str:
    names = ", ".join(_read_text_list(platform.get("models")))
    return f"asks {names or 'no language model'}" + (
        "" if platform.get("beyond") is None else "; calls another platform, too"
    )


def addresses(platform: Mapping[str, Any], own: Own, manner: Manner) -> list[str]:
    """The addresses that a platform calls, in pieces of a line; `platform` is its description."""
    kind = platform.get("kind")
    if kind == "local":
        beyond = platform.get("beyond")
        here = "this database, to fill context slots"
        if not isinstance(beyond, Mapping) or beyond.get("kind") == "simulated":
            return [here if beyond is None else f"{here}; its platform is simulated"]
        return [f"{here};", *addresses(beyond, own, manner)]
    if kind == "routed":
        return [_describe_models(platform)]
    if kind != "http":
        return ["no address: its platform is simulated" if kind == "simulated" else "what its host made of it"]  # fmt: skip
    others = _read_text_list(platform.get("allow"))
    if platform.get("base_url", "") is None:  # it calls listed addresses only
        others += [one for one in own.allowed or () if one not in others]
        return (
            [*_join_with_commas(others), "without the platform's credentials"]
            if others
            else ["nothing"]
        )
    base_url = str(platform.get("base_url") or own.settings.get(BASE_URL, ""))
    told = [base_url, *_describe_credentials(platform, base_url, own, manner)]
    others += [one for one in own.allowed or () if one not in (base_url, *others)]
    if others:
        told[-1] += ";"
        told += _join_with_commas([f"also {others[0]}", *others[1:]])
    return [clean(piece) for piece in told]


def _read_text_list(listed: object) -> list[str]:
    """A list of texts from a row; empty where the row holds any other value."""
    return [str(item) for item in listed] if isinstance(listed, list) else []


def _join_with_commas(addresses: Sequence[str]) -> list[str]:
    """The pieces, with a comma after each but the last."""
    return [*(clean(f"{one},") for one in addresses[:-1]), *map(clean, addresses[-1:])]


def _describe_credentials(
    platform: Mapping[str, Any], base_url: str, own: Own, manner: Manner
) -> list[str]:
    """The names of the credentials that are sent to an address."""
    from cinatra_sdk.platform.remaking import is_named, is_own

    is_mine = is_own(base_url, own.settings)
    strange = "an address that this process has not named"
    try:
        named = is_mine or is_named(base_url, own.settings)
    except ValueError:
        named = False  # not an address: continuing the run reports it
    if manner == "refused":
        return [] if named else [f"({strange})"]
    if not is_mine:
        return ["without credentials"] if named else ["without credentials,", strange]
    held = [RUN_TOKEN] if os.environ.get(RUN_TOKEN) else []
    held += _read_text_list(platform.get("needs"))
    return [f"with {', '.join(held)}"] if held else ["without credentials"]


def _describe_variables(run: Run, manner: Manner) -> list[str]:
    verb = _READS[manner]
    names = [] if manner == "rejected" else sorted(clean(name) for name in run.variables)
    if not names:
        return [f"  {verb} no variable"]
    listed = [f"{name}," for name in names[:-1]]
    return [*_prefix_verb(verb, [*listed, names[-1]]), "of this process"]
