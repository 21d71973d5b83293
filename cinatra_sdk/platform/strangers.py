"""A platform at an address that a run brought along and this process has not named.

It is called as the run's starter wanted, and gets nothing that proves who is calling: no token,
no conversation of the host.  Its host is looked up and checked as an entry of `allow` is.
"""

from __future__ import annotations

from dataclasses import replace

from cinatra_sdk.platform.http import HttpPlatform
from cinatra_sdk.platform.protocol import Credentials, PlatformCall
from cinatra_sdk.platform.request import Prepared


class StrangersPlatform(HttpPlatform):
    """An `HttpPlatform` that hands on no credential, whatever the activation holds."""

    takes_credentials = False

    def _prepare_request(self, call: PlatformCall) -> Prepared:
        # The run's own id stands in for a conversation: it is the starter's already.
        bare = replace(call, credentials=Credentials(), context_id=call.run_id)
        prepared = super()._prepare_request(bare)
        return replace(prepared, guard=prepared.guard or self._rules.base)
