"""The host's context of one activation, completed by what the process lends.

In: the context that a caller gave, or None, and the parts.  Out: the context with a ledger, a policy
and a budget, and with credentials where the caller gave no context.

    lend_context(None, RunIdentity(id="r1"), HostParts(credentials_for=tokens_of))
    -> host_context(run_token=…, bearer_token=…)

What a context says itself wins: it was made for this run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from cinatra_sdk.effects.door import Door
from cinatra_sdk.engine.runtime_context import HostContext, context_of, host_context
from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.lending.host_parts import HostParts, RunIdentity
from cinatra_sdk.platform.protocol import Credentials


def lend_context(given: HostContext | None, run: RunIdentity, *lent: HostParts) -> HostContext:
    """`given`, completed by the parts, the first of which come first; unchanged where the host did
    not make it, so that whoever binds it to its run refuses it.

    Raises: `NotConfigured` where `credentials_for` or `ledger_for` fails.
    """
    host = _make_context(run, lent) if given is None else given
    if context_of(host) is not host:
        return host
    door = host.door
    for parts in lent:
        door = lend_door(door, parts, run)
    files = host.files or _lend_files(run, lent)
    if door is host.door and files is host.files:
        return host
    return replace(host, door=door, files=files)


def _lend_files(run: RunIdentity, lent: Sequence[HostParts]) -> Any:
    """From the model that a node asks to the ports for the run's files; None where nobody lends any."""
    own = next((parts.attachments_for for parts in lent if parts.attachments_for), None)
    return None if own is None else partial(own, run)


def lend_door(door: Door, parts: HostParts, run: RunIdentity) -> Door:
    """`door` with the parts of the process where it has none of its own."""
    lent = {"allow": parts.allow_effect, "spend": parts.spend, "spent": parts.spent}
    missing: dict[str, Any] = {
        name: part
        for name, part in lent.items()
        if part is not None and getattr(door, name) is None
    }
    if door.ledger is None and parts.ledger_for is not None:
        try:
            missing["ledger"] = parts.ledger_for(run)
        except Exception as error:
            raise _refuse_part("ledger_for", run, type(error).__name__) from error
    return replace(door, **missing) if missing else door


def _make_context(run: RunIdentity, lent: Sequence[HostParts]) -> HostContext:
    ask = next((parts.credentials_for for parts in lent if parts.credentials_for), None)
    if ask is None:
        return host_context()
    try:
        tokens = ask(run)
    except Exception as error:
        # Its words are not repeated: they may name the credentials.
        raise _refuse_part("credentials_for", run, type(error).__name__) from error
    if not isinstance(tokens, Credentials):
        raise _refuse_part("credentials_for", run, f"a {type(tokens).__name__}, no Credentials")
    try:
        return host_context(
            tenant=run.tenant, run_token=tokens.run_token, bearer_token=tokens.bearer_token
        )
    except (TypeError, ValueError):
        raise _refuse_part("credentials_for", run, "a token of too few characters") from None


def _refuse_part(name: str, run: RunIdentity, what: str) -> NotConfigured:
    return NotConfigured(
        f"the host's {name} gives {what} for run '{run.id}'", hint=f"mend {name} in its HostParts"
    )
