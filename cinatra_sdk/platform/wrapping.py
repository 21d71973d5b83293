"""`WrappedPlatform`: the base of a platform that stands around another one.

    class Slowed(WrappedPlatform):
        def call(self, call):
            time.sleep(1)
            return super().call(call)

Beyond its three methods a platform may have abilities, which others look for by name: whether it
keeps artifacts (`KeepsArtifacts`), holds proofs back (`HoldsProofsBack`), may get credentials, or
answers without calling anybody (`simulates`).
A wrapper that lacks the name hides the ability, and nobody notices.  This base hands on every ability
that the inner platform has, and none that it lacks.
"""

from __future__ import annotations

from typing import Final

from pydantic import JsonValue

from cinatra_sdk.platform.protocol import Platform, PlatformCall

ABILITIES: Final = (
    "withdrawn",
    "holds_proofs_back",
    "takes_credentials",
    "unnamed",
    "beyond",
    "simulates",
    "stand_in",
)
"""What is looked for by name on a platform, beyond the protocol `Platform`."""


class WrappedPlatform:
    """Hands every call on to `inner`; subclasses override `call` and `acall`, both.

    Whoever made `inner` closes it.  An ability that the subclass has itself is the subclass's own.
    """

    def __init__(self, inner: Platform) -> None:
        self.inner = inner
        for name in ABILITIES:
            # On the object: on the class, each wrapper would seem to have every ability.
            if hasattr(inner, name) and not hasattr(type(self), name):
                setattr(self, name, getattr(inner, name))

    def call(self, call: PlatformCall) -> JsonValue:
        return self.inner.call(call)

    async def acall(self, call: PlatformCall) -> JsonValue:
        return await self.inner.acall(call)

    def describe(self) -> dict[str, JsonValue]:
        return self.inner.describe()
