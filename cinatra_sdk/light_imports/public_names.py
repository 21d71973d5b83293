"""Public names of a package that are imported on first use.

In: each name, and the module that has it.  Out: `__getattr__` and `__dir__` of the package.

    _LATER = {"RunStore": "store.run_store"}
    __getattr__, __dir__ = import_on_use(__name__, _LATER)

So an import of a public path loads only the modules behind the names that are used: checking a file needs
no LangGraph and no database.  Editors and type checkers see no such name, so a package imports the same
names for them under `TYPE_CHECKING`; tests/test_public_names.py compares both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def import_on_use(
    package: str, places: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """places: the names → the modules that have them, told without the first word of `package`."""
    top = package.partition(".")[0]

    def find_name(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{top}.{places[name]}"), name)

    return find_name, lambda: sorted(places)
