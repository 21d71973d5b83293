"""`module:factory`, named by the operator: imported, and called for the parts that this process lends.

    load_host("shop.parts:make_parts", here=True)  ->  HostParts(…)

The name comes from the command line or from `OASFLOW_HOST`, never from a file or a stored run: to
import a module is to run its code.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from cinatra_sdk.data.text.message_words import did_you_mean
from cinatra_sdk.errors import HostRefused
from cinatra_sdk.host_parts.host_parts import HostParts

HOST_VARIABLE: Final = "OASFLOW_HOST"


def load_host(named: str, *, here: bool = False) -> HostParts:
    """The parts that the factory `named` returns; it is called without an argument.

    here: whether the current folder counts among the places of modules, first, as for `python -m`.

    Raises: `HostRefused` for every mistake in the name, the module and the factory; their own words
    are not repeated, because they may hold secrets.
    """
    name, colon, attribute = named.partition(":")
    if not (name and colon and attribute):
        raise HostRefused(
            f"'{named}' is not of the form module:factory", hint="such as shop.parts:make_parts"
        )
    if here:
        _add_current_folder()
    found: Any = _import_module(name, here=here)
    for part in attribute.split("."):
        if not hasattr(found, part):
            nearest = did_you_mean(part, vars(found)) if hasattr(found, "__dict__") else ""
            raise HostRefused(f"the module '{name}' has no '{attribute}'", hint=nearest)
        found = getattr(found, part)
    return _call_factory(named, found)


def _add_current_folder() -> None:
    try:
        folder = os.getcwd()  # noqa: PTH109 - a text, as in the list
    except FileNotFoundError:  # it was deleted
        return
    if not sys.flags.safe_path and folder not in sys.path:
        sys.path.insert(0, folder)


def _import_module(name: str, *, here: bool) -> ModuleType:
    if name.startswith("."):  # to the importer, a name beside another module
        raise _refuse_name(name, here=here)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if missing != name and not name.startswith(f"{missing}."):
            problem = f"the module '{name}' needs the module '{missing}', which is not installed"
            raise HostRefused(problem, hint=f"install {missing}") from error
        raise _refuse_name(name, here=here) from error
    except (Exception, SystemExit) as error:
        problem = f"the module '{name}' cannot be imported: {_describe(error)}"
        raise HostRefused(problem, hint="mend the module") from error


def _refuse_name(name: str, *, here: bool) -> HostRefused:
    is_path = name.startswith(".") or "/" in name or "\\" in name or name.endswith(".py")
    place = " (give its name as Python does, without .py)" if is_path else ""
    return HostRefused(f"there is no module '{name}'{place}", hint=_hint_place(here))


def _hint_place(here: bool) -> str:
    if here:
        return "call this in the folder that holds it, or install it"
    return f"{HOST_VARIABLE} names an installed module, or one of PYTHONPATH"


def _call_factory(named: str, factory: object) -> HostParts:
    if isinstance(factory, HostParts):
        raise HostRefused(f"'{named}' is no function", hint="name a function that returns it")
    if not callable(factory):
        raise HostRefused(f"'{named}' is a {type(factory).__name__}, and no function")
    if not _takes_nothing(factory):
        raise HostRefused(f"'{named}' takes arguments, and is called without any")
    try:
        made = factory()
    except (Exception, SystemExit) as error:
        problem = f"'{named}' returns nothing: {_describe(error)}"
        raise HostRefused(problem, hint="mend the function") from error
    if isinstance(made, HostParts):
        return made
    if inspect.iscoroutine(made):
        made.close()
    raise HostRefused(
        f"'{named}' returns a {type(made).__name__}, and not HostParts",
        hint="return cinatra_sdk.HostParts(…)",
    )


def _takes_nothing(factory: Callable[..., Any]) -> bool:
    try:
        inspect.signature(factory).bind()
    except TypeError:
        return False
    except ValueError:  # a function of C without a signature
        return True
    return True


def _describe(error: BaseException) -> str:
    """`it raises KeyError (parts.py, line 12)`: the kind and the place, without the words."""
    if isinstance(error, SyntaxError):
        return f"it is no Python ({Path(error.filename or '?').name}, line {error.lineno})"
    trace = error.__traceback__
    own = None
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename not in {__file__, importlib.__file__} and "<" not in code.co_filename:
            own = f" ({Path(code.co_filename).name}, line {trace.tb_lineno})"
        trace = trace.tb_next
    what = "ends the process" if isinstance(error, SystemExit) else f"raises {type(error).__name__}"
    return f"it {what}{own or ''}"
