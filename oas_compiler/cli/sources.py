"""What the options say about the reading of flow files; every command that reads one asks here.

--components parts.yaml --unblock-component StdioTransport   ->   Loading(components=[…], policy=…)
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from oas_compiler.pipeline import Loading

_FILES: Final[ContextVar[tuple[str, ...]]] = ContextVar("component_files", default=())
_UNBLOCKED: Final[ContextVar[tuple[str, ...]]] = ContextVar("unblocked_types", default=())


def take_components(files: list[str] | None) -> list[str] | None:
    """The callback of `--components`."""
    _FILES.set(tuple(files or ()))
    return files


def take_unblocked(types: list[str] | None) -> list[str] | None:
    """The callback of `--unblock-component`."""
    _UNBLOCKED.set(tuple(types or ()))
    return types


def component_files() -> tuple[str, ...] | None:
    """The files of `--components`; None: there are none."""
    return _FILES.get() or None


def blocked_components() -> tuple[str, ...]:
    """The component types that stay blocked."""
    from oas_compiler.document.policy import USUALLY_BLOCKED

    return tuple(name for name in USUALLY_BLOCKED if name not in _UNBLOCKED.get())


def loading() -> Loading:
    """What the options give to the reading of a flow file."""
    from oas_compiler.document.policy import LoaderPolicy
    from oas_compiler.pipeline import Loading

    policy = LoaderPolicy.of(blocked=blocked_components())
    return Loading(components=component_files(), policy=policy)
