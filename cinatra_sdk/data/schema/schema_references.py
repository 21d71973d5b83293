"""The targets of `$ref` and `$dynamicRef`; nothing is ever fetched.

The library that reads references takes long to import.  So it is imported only for a schema with a
reference, or when a graph is built (`load_schemas`).  Besides the schema itself, only the metaschemas of
JSON Schema are known.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote


def is_pointer(reference: str) -> bool:
    """Whether `reference` is a JSON Pointer into the same document."""
    return reference == "#" or reference.startswith("#/")


def pointed(schema: Any, reference: str) -> Any:
    """What a JSON Pointer leads to.

    Raises: `LookupError`.
    """
    found = schema
    for part in unquote(reference[1:]).split("/")[1:]:
        step = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and step.isdecimal() and len(step) < 10:
            found = found[int(step)]
        elif isinstance(found, dict):
            found = found[step]
        else:
            raise LookupError(reference)
    return found


def frames_left() -> int:
    """How many more calls may be made inside each other."""
    frame, used = sys._getframe(), 0  # noqa: SLF001 - there is no other way to know
    while frame.f_back is not None:
        frame, used = frame.f_back, used + 1
    return sys.getrecursionlimit() - used


def load_schemas() -> None:
    """Read from the disk, once, what references may lead to.

    For whatever builds a graph: its nodes may run in an event loop, where reading would stop
    everything else, and where a server such as LangGraph's refuses it.
    """
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # noqa: F401 - loads its files
    from referencing.jsonschema import DRAFT202012  # noqa: F401 - the same


def resolver_of(schema: Any) -> Any:
    """A resolver whose root is `schema`.

    Raises: `LookupError` for an `$id` that is no address.
    """
    from jsonschema_specifications import REGISTRY
    from referencing.jsonschema import DRAFT202012

    return _ask_library(lambda: REGISTRY.resolver_with_root(DRAFT202012.create_resource(schema)))


def inside(resolver: Any, schema: Any) -> Any:
    """The resolver for what is below `schema`, which has an `$id`.

    Raises: `LookupError` where that is no address.
    """
    from referencing.jsonschema import DRAFT202012

    return _ask_library(lambda: resolver.in_subresource(DRAFT202012.create_resource(schema)))


def lookup(resolver: Any, reference: str) -> tuple[Any, Any]:
    """The schema that `reference` names, and the resolver there.

    Raises: `LookupError` where it leads nowhere.
    """
    found = _ask_library(lambda: resolver.lookup(reference))
    return found.contents, found.resolver


def _ask_library(question: Callable[[], Any]) -> Any:
    """The library's answer.  It raises what it meets, in addresses and in parts that are no schemas.

    Raises: `LookupError`.
    """
    from referencing.exceptions import CannotDetermineSpecification, NoInternalID, Unresolvable

    try:
        return question()
    except (Unresolvable, CannotDetermineSpecification, NoInternalID):
        pass
    except (LookupError, ValueError, TypeError, AttributeError):
        pass
    raise LookupError("the reference leads nowhere")
