"""`--host MODULE:FACTORY`: what the operator's own Python lends to the runs of this command.

In: the option, else `OASFLOW_HOST`.  Out: the `HostParts` that the factory returns, or None.

    find_parts("shop_parts:make_parts")     imports shop_parts, also from the current folder

`OASFLOW_HOST` does not look in the current folder: it holds in every folder, also in the folder of
a package that somebody else wrote, which must not choose what is imported.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cinatra_sdk.lending.host_parts import HostParts
    from oas_compiler.cli.terminal import Terminal


def find_parts(option: str) -> HostParts | None:
    """Raises: `HostRefused` for every mistake in the name, the module and the factory."""
    from cinatra_sdk.lending.host_factory import HOST_VARIABLE, load_host

    named = option or os.environ.get(HOST_VARIABLE, "")
    if not named:
        return None
    with contextlib.redirect_stdout(sys.stderr):
        return load_host(named, here=bool(option))


@contextlib.contextmanager
def keeping_stdout(terminal: Terminal) -> Iterator[None]:
    """Within, what tools print goes to stderr where stdout holds one JSON document."""
    if not terminal.as_json:
        yield
        return
    with contextlib.redirect_stdout(sys.stderr):
        yield
