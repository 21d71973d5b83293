"""What the options say about the reading of flow files; every command that reads one asks here.

--components parts.yaml --unblock-component StdioTransport   ->   Loading(components=[…], policy=…)
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

from cinatra_sdk.values.json_text import JsonValue
from oas_compiler.cli.exits import Halt

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


def lent_secrets() -> dict[str, JsonValue]:
    """The values of sensitive fields in the files of `--components`.

    Raises: `Halt` for a file that cannot be used.
    """
    files = component_files()
    if files is None:
        return {}
    from oas_compiler.document.registry import read_registry
    from oas_compiler.findings.finding import Findings

    findings = Findings()
    found = read_registry(list(files), findings)
    if findings.errors:
        raise Halt(f"--components: {findings.errors[0]}")
    return dict(found.secrets)


def repeat_options() -> list[str]:
    """The options as a later command on the same run needs them."""
    words = [word for file in component_files() or () for word in ("--components", file)]
    return words + [word for name in _UNBLOCKED.get() for word in ("--unblock-component", name)]


def loading() -> Loading:
    """What the options give to the reading of a flow file."""
    from oas_compiler.document.policy import LoaderPolicy
    from oas_compiler.pipeline import Loading

    policy = LoaderPolicy.of(blocked=blocked_components())
    return Loading(components=component_files(), policy=policy)
