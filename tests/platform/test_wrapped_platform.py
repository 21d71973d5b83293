"""A platform around another one hands on what the inner one can, and nothing that it cannot."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from cinatra_sdk.outside.http_calls.description import takes_credentials, unnamed
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
from cinatra_sdk.outside.http_calls.protocol import (
    HoldsProofsBack,
    KeepsArtifacts,
    Platform,
    PlatformCall,
    WrappedPlatform,
)
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.testing.doubles import Recorder

CALL = PlatformCall(node="n", path="n", method="POST", url="{{CINATRA_BASE_URL}}/x")


class Plain:
    """Only what every platform has."""

    def call(self, call: PlatformCall) -> Any:
        return {"called": call.node}

    async def acall(self, call: PlatformCall) -> Any:
        return {"awaited": call.node}

    def describe(self) -> dict[str, Any]:
        return {"kind": "plain"}


class Knowing(Plain):
    """Can all that others look for by name."""

    holds_proofs_back = True
    takes_credentials = False
    unnamed = ("http://elsewhere",)

    def withdrawn(self, run_id: str, triples: Sequence[Any]) -> Sequence[str]:
        return [f"gone from {run_id}"]


class Own(WrappedPlatform):
    """Answers for artifacts itself."""

    def withdrawn(self, run_id: str, triples: Sequence[Any]) -> Sequence[str]:
        return [f"own {run_id}"]


WRAPPERS = pytest.mark.parametrize("wrap", [WrappedPlatform, Recorder])


@WRAPPERS
def test_what_the_inner_platform_can_the_outer_can(wrap: Any) -> None:
    outer = wrap(wrap(Knowing()))
    assert isinstance(outer, Platform)
    assert isinstance(outer, KeepsArtifacts)
    assert outer.withdrawn("r1", []) == ["gone from r1"]
    assert isinstance(outer, HoldsProofsBack)
    assert outer.holds_proofs_back
    assert not takes_credentials(outer)
    assert unnamed(outer) == ("http://elsewhere",)


@WRAPPERS
@pytest.mark.parametrize("inner", [Plain(), SimulatedPlatform(), HttpPlatform(None)])
def test_and_nothing_that_it_cannot(wrap: Any, inner: Platform) -> None:
    outer = wrap(inner)
    assert not isinstance(outer, KeepsArtifacts)
    assert isinstance(outer, HoldsProofsBack) == isinstance(inner, HoldsProofsBack)
    assert takes_credentials(outer) == takes_credentials(inner)


def test_what_a_subclass_can_itself_is_its_own() -> None:
    for inner in (Knowing(), Plain()):
        outer = Own(inner)
        assert isinstance(outer, KeepsArtifacts)
        assert outer.withdrawn("r1", []) == ["own r1"]


@WRAPPERS
def test_calls_go_to_the_inner_platform(wrap: Any) -> None:
    outer = wrap(Plain())
    assert outer.call(CALL) == {"called": "n"}
    assert asyncio.run(outer.acall(CALL)) == {"awaited": "n"}
    assert outer.describe() == {"kind": "plain"}
