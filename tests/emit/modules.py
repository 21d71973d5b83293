"""Modules that are emitted, written down and imported."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from oas_compiler import compile_flow
from oas_compiler.emit.python_module import Emitted, emit_module
from oas_compiler.ir import find_tool_names
from oas_compiler.lower.flow import Flow
from oas_compiler.pipeline import compile_ir


def no_tool(**_arguments: Any) -> Any:
    return {}


def compile_whole(source: Any, **parts: Any) -> Flow:
    """A flow with a function for each of its tools, which makes no call."""
    tools = dict.fromkeys(find_tool_names(compile_ir(source).ir), no_tool)
    return compile_flow(source, tools={**tools, **parts.pop("tools", {})}, **parts)


def import_text(text: str, folder: Path, name: str) -> ModuleType:
    """The module of a text, as a program imports it."""
    file = folder / f"{name}.py"
    file.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def import_emitted(flow: Flow, folder: Path, name: str) -> tuple[ModuleType, Emitted]:
    emitted = emit_module(flow)
    return import_text(emitted.text, folder, name), emitted
