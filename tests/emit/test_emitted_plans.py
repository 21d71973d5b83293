"""A module builds the very plan that the compiler makes of its file, and imports nothing else."""

from __future__ import annotations

import ast
import contextlib
import subprocess
import sys
from pathlib import Path

import pytest

from oas_compiler import CompileError
from oas_compiler.emit.drift import compare
from oas_compiler.emit.python_module import emit_module
from tests.emit.modules import compile_whole, import_emitted
from tests.samples import AGENTSPEC, CINATRA, needs_corpus

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(ROOT.glob("examples/*/cinatra/oas.json"))
GOLDEN = sorted((ROOT / "tests" / "golden").glob("kind_*.json"))
ALLOWED = {"__future__", "typing", "langgraph", "langchain_core", "langchain", "cinatra_sdk"}


def require_equal(file: Path, folder: Path) -> None:
    flow = compile_whole(file, secrets=None)
    module, emitted = import_emitted(flow, folder, f"emitted_{file.stem}_{len(file.parts)}")
    assert module.flow.plan == flow.plan
    assert module.flow.approval_policy == flow.approval_policy
    assert tuple(module.flow.guards) == tuple(flow.guards)
    assert module.flow.input_schema == flow.input_schema
    assert module.flow.output_schema == flow.output_schema
    assert module.flow.steering == flow.steering
    assert compare(emitted.text, emitted.text, flow.digest).agrees


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.parts[-3])
def test_the_module_of_an_example_has_the_plan_of_its_file(file: Path, tmp_path: Path) -> None:
    require_equal(file, tmp_path)


@needs_corpus
@pytest.mark.parametrize("file", CINATRA, ids=lambda file: file.parts[-3])
def test_the_module_of_a_public_agent_has_the_plan_of_its_file(file: Path, tmp_path: Path) -> None:
    require_equal(file, tmp_path)


NOT_SUPPORTED = {"ociagent", "ocigenaiconfig"}
NOT_RUN = {"kind_trigger_wait", "kind_unknown"}


@needs_corpus
@pytest.mark.parametrize("file", AGENTSPEC, ids=lambda file: file.stem)
def test_the_module_of_a_configuration_has_the_plan_of_its_file(file: Path, tmp_path: Path) -> None:
    if file.stem in NOT_SUPPORTED:
        with pytest.raises(CompileError, match="OAS090"):
            compile_whole(file, secrets=None)
        return
    with contextlib.suppress(CompileError):  # tests/build/test_compile_corpus.py says why
        require_equal(file, tmp_path)


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_the_module_of_each_kind_of_node_has_the_plan_of_its_file(
    file: Path, tmp_path: Path
) -> None:
    if file.stem in NOT_RUN:
        with pytest.raises(CompileError):
            compile_whole(file, secrets=None)
    else:
        require_equal(file, tmp_path)


def test_a_module_imports_the_engine_and_the_sdk_only() -> None:
    text = emit_module(compile_whole(EXAMPLES[0])).text
    tops = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            tops |= {one.name.split(".")[0] for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            tops.add(str(node.module).split(".")[0])
    assert tops <= ALLOWED


def test_importing_a_module_loads_no_compiler(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(emit_module(compile_whole(EXAMPLES[0])).text)
    code = "import own, sys; print(any(name.startswith('oas_compiler') for name in sys.modules))"
    told = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == "False"


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.parts[-3])
def test_a_linter_finds_nothing_in_a_module(file: Path, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(emit_module(compile_whole(file)).text)
    told = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "E,F,W,I,B,UP,Q",
         "--ignore", "E501", "own.py"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert told.returncode == 0, told.stdout + told.stderr
