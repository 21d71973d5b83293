"""Checks that a host's context belongs to the run that it is given for.

In: a run's id and tenant, the context that `start`, `answer` or `resume` was given, and the tenant
that the caller named.  Out: the context bound to the run, or `ContextMismatch`.

    bound_context(host_context(run_id="r2", run_token="…"), run_id="r1", tenant="acme")
    -> ContextMismatch: the context is for run 'r2', not for 'r1'

A context without a run id counts for the run it is given with.  A context without a tenant does
too, unless it holds a credential: a credential belongs to somebody, so for a tenant's run the
caller must name the tenant, in the context or beside it (`tenant=`).
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cinatra_sdk.errors import ContextMismatch, NotConfigured
from cinatra_sdk.langgraph_threads.host_context import HostContext, context_of, host_context
from cinatra_sdk.outside.http_calls.call_addresses import shown
from cinatra_sdk.outside.http_calls.description import takes_credentials, unnamed
from cinatra_sdk.store.flows.flow_protocol import DurableFlow


def bound_context(
    given: HostContext | None, *, run_id: str, tenant: str, named: str | None = None
) -> HostContext:
    """`given`, bound to the run `run_id` of `tenant`; `named` is the caller's `tenant=`.

    Raises: `ContextMismatch`.
    """
    host = host_context() if given is None else given
    if not is_host_context(host):
        raise ContextMismatch(
            "the context was not made by the host", hint="make it with flow.context(…)"
        )
    if host.run_id and host.run_id != run_id:
        raise ContextMismatch(
            f"the context is for run '{host.run_id}', not for run '{run_id}'",
            hint="give each run its own context",
        )
    said = named if not host.tenant and named is not None else host.tenant
    if said != tenant and (said or _holds_credentials(host)):
        raise ContextMismatch(
            f"the context is {_describe_tenant(said)}, and run '{run_id}' is {_describe_tenant(tenant)}",
            hint=_format_tenant_hint(tenant),
        )
    return replace(host, run_id=run_id, tenant=tenant)


def is_host_context(given: object) -> bool:
    """Whether `host_context` made this context; False for a context from the wire, for instance."""
    return isinstance(given, HostContext) and context_of(given) is given


def refuse_strangers(flow: DurableFlow, host: HostContext) -> None:
    """Raise `NotConfigured` where secrets of this process would go to an address that only the run
    names.

    Secrets are the context's credentials, sent to the run's own address, and the values of the
    flow's placeholders, sent to any address that the run may call.
    """
    if _holds_credentials(host) and not takes_credentials(flow.platform):
        about: Any = flow.platform.describe()
        address = (about.get("beyond") or about).get("base_url", "a platform")
        raise NotConfigured(
            f"run '{host.run_id}' calls {address}, which this process has not named, "
            "and the context holds credentials",
            hint="set CINATRA_BASE_URL to it if it is yours, or leave the credentials out",
        )
    addresses = [shown(address) for address in unnamed(flow.platform)]
    if flow.env and addresses:
        raise NotConfigured(
            f"run '{host.run_id}' may send {', '.join(sorted(flow.env))} of this process to "
            f"{addresses[0]}, which only the run names",
            hint=f"list it in OASFLOW_ALLOW if you mean to ({_format_allow_options(addresses)} at the command "
            "line), or lend the run nothing",
        )


def _format_allow_options(addresses: Sequence[str]) -> str:
    return " ".join(f"--allow {shlex.quote(address)}" for address in addresses)


def _format_tenant_hint(tenant: str) -> str:
    if not tenant:
        return "leave the tenant out: at the command line --tenant and OASFLOW_TENANT"
    named = f"at the command line --tenant {shlex.quote(tenant)}"
    return f"name the run's tenant in the context that holds its credentials; {named}"


def _holds_credentials(host: HostContext) -> bool:
    return bool(host.credentials.run_token or host.credentials.bearer_token)


def _describe_tenant(tenant: str) -> str:
    return f"of tenant '{tenant}'" if tenant else "of no tenant"
