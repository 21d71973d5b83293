"""A platform that refuses every call: for the rejection of a run without lent resources."""

from __future__ import annotations

from pydantic import JsonValue

from cinatra_sdk.platform.protocol import PlatformCall, PlatformRefused


class Nowhere:
    """Refuses every call."""

    def call(self, call: PlatformCall) -> JsonValue:
        url = call.url.partition("?")[0]
        raise PlatformRefused(
            f'node "{call.node}": {url} was not called: the run is there to be rejected',
            node=call.node,
            url=url,
        )

    async def acall(self, call: PlatformCall) -> JsonValue:
        return self.call(call)

    def describe(self) -> dict[str, JsonValue]:
        return {"kind": "nowhere"}
