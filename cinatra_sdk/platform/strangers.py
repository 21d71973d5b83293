"""A platform at an address that only the run names, not this process.

The address is called as the run asks, but gets nothing that proves the caller: no token and no
conversation of the host.  Its host is resolved and checked like the host of an entry of `allow`.
"""

from __future__ import annotations

from dataclasses import replace

from cinatra_sdk.platform.http import HttpPlatform
from cinatra_sdk.platform.protocol import Credentials, PlatformCall
from cinatra_sdk.platform.request import Prepared


class StrangersPlatform(HttpPlatform):
    """An `HttpPlatform` that never sends a credential."""

    takes_credentials = False

    def _prepare_request(self, call: PlatformCall) -> Prepared:
        # The run's own id replaces the conversation's id: the person who started the run knows it
        # already.
        bare = replace(call, credentials=Credentials(), context_id=call.run_id)
        prepared = super()._prepare_request(bare)
        return replace(prepared, guard=prepared.guard or self._rules.base)
