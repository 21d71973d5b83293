"""The value that a function of the host gave, checked by its type; or an error that names the function.

    ask_host("roles_of", lambda: roles_of("ann"), frozenset, set)   ->  its result
    ask_host("signer", lambda: 3, bytes)                            ->  NotConfigured: the host's signer gave a int

The text of the function's own error is not repeated: it may hold a credential.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import iscoroutine
from typing import Any, Final

from cinatra_sdk.errors import FlowError, NotConfigured
from cinatra_sdk.governance.contracts.invocation import IdentityClaim

_KINDS: Final[Mapping[type, str]] = {
    str: "a text", bytes: "bytes", bool: "True or False", int: "a whole number",
    IdentityClaim: "an IdentityClaim",
}  # fmt: skip


def ask_host(name: str, ask: Callable[[], Any], *wanted: type, or_none: bool = False) -> Any:
    """What `ask` gives, if it is of one of the wanted types.

    name: of the host's function, as its author knows it.
    Raises: `NotConfigured`; an error of ours that the function raises itself passes as it is.
    """
    try:
        made = ask()
    except FlowError:
        raise
    except Exception as error:  # noqa: BLE001 - a function of the host may raise anything
        problem = f"failed ({type(error).__name__})"
    else:
        if isinstance(made, wanted) or (or_none and made is None):
            return made
        problem = f"gave a {type(made).__name__}"
        if iscoroutine(made):
            made.close()  # nobody awaits it
    kinds = [_KINDS.get(one, f"a {one.__name__}") for one in wanted] + ["None"] * or_none
    raise refuse_host(name, problem, " or ".join(kinds))


def refuse_host(name: str, problem: str, wanted: str) -> NotConfigured:
    return NotConfigured(f"the host's {name} {problem}", hint=f"mend {name}: it gives {wanted}")
