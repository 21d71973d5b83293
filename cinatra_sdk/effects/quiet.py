"""Code that says of itself that it does not act: an effect that it makes all the same is refused.

    with refusing_effects():
        …                        perform(effect, do, door)   ->  EffectRefused (kind_does_not_act)

Rules, ledger, forks and the host's policy are asked of nodes that act.  A kind of a package that says it
does not would pass by all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from cinatra_sdk.effects.asking import make_refusal
from cinatra_sdk.effects.effect import Effect

_quiet: ContextVar[bool] = ContextVar("cinatra_quiet", default=False)


@contextmanager
def refusing_effects() -> Iterator[None]:
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


def refuse_quiet(effect: Effect) -> None:
    """Raises: `EffectRefused` inside of `refusing_effects`."""
    if _quiet.get():
        raise make_refusal(
            effect,
            "the kind of the node says that it does not act",
            code="kind_does_not_act",
            hint="NodeKind(acts=True), and NodeBody(acts=True, performs=True)",
        )
