"""The front end needs neither LangGraph nor a database, and loads templates and YAML only when used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_layers import WORDS


def modules_after(code: str) -> set[str]:
    """Top-level modules of a fresh interpreter after running `code`."""
    shown = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    # The words that both packages obey, and the packages around them, which import nothing.
    around = {
        f"cinatra_sdk.{folder}"
        for folder in ("light_imports", "data", "data.text", "data.templates")
    }
    words = {"cinatra_sdk", *around, *WORDS}
    return {name.split(".")[0] for name in shown.stdout.split() if name not in words}


def test_importing_the_front_end_loads_no_heavy_package():
    loaded = modules_after("import oas_compiler.pipeline, oas_compiler.ir.printout")
    heavy = {
        "cinatra_sdk",
        "httpx2",
        "jinja2",
        "jsonschema",
        "langchain_core",
        "langgraph",
        "psycopg",
        "pydantic",
        "rich",
        "typer",
        "yaml",
    }
    assert loaded & heavy == set()


def test_telling_a_host_the_slots_of_a_stored_flow_loads_no_rule_and_no_engine() -> None:
    source = Path(__file__).parent / "golden" / "kind_flow.json"
    loaded = modules_after(
        "import pathlib, sys\n"
        "from oas_compiler.facts.context_declarations import read_declared_slots\n"
        f"read_declared_slots(pathlib.Path({str(source)!r}).read_bytes())\n"
        "for part in ('checks', 'lower', 'cli', 'pipeline'):\n"
        "    assert f'oas_compiler.{part}' not in sys.modules, part"
    )
    heavy = {
        "httpx2",
        "jsonschema",
        "langchain_core",
        "langgraph",
        "psycopg",
        "rich",
        "typer",
        "yaml",
    }
    assert loaded & heavy == set()


@pytest.mark.parametrize("module", ["ir", "port_types", "findings.finding"])
def test_pure_modules_load_the_standard_library_only(module):
    loaded = modules_after(f"import oas_compiler.{module}")
    foreign = loaded - set(sys.stdlib_module_names) - {"oas_compiler", "__main__", "sitecustomize"}
    assert {name for name in foreign if not name.startswith(("_", "distutils"))} == set()


def test_compiling_loads_only_the_rules_that_it_applies() -> None:
    code = (
        "import sys\n"
        "from oas_compiler import compile_flow\n"
        "from oas_compiler.checks.compile_rules import RUNNING\n"
        "from oas_compiler.findings.rule import CheckRule\n"
        "applied = {rule.card.code for rule in RUNNING}\n"
        "loaded = {value.card.code for name, module in list(sys.modules.items())\n"
        "    if name.startswith('oas_compiler.') for value in vars(module).values()\n"
        "    if isinstance(value, CheckRule)}\n"
        "print(*sorted(loaded - applied))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == []


SELDOM = (
    "cinatra_sdk.first_turn",
    "cinatra_sdk.governance",
    "cinatra_sdk.outside.remote_answers.foreign_answer",
    "cinatra_sdk.outside.models.clients",
    "cinatra_sdk.data.text.yaml_reader",
    "oas_compiler.checks.credentials.credential_cover",
    "oas_compiler.checks.credentials.value_shapes",
    "oas_compiler.component_facts.agent_flows",
    "oas_compiler.component_facts.agent_loop",
    "oas_compiler.document.agent_loader",
    "oas_compiler.draw",
    "oas_compiler.package.package",
    "oas_compiler.text.yaml_text",
)
"""What a flow of JSON without models, agents, packs and pictures does not need."""
PLAIN = Path(__file__).parent / "golden" / "kind_start_and_end.json"
RUN_ONCE = (
    f"flow = compile_flow({str(PLAIN)!r})\n"
    "config, context = flow.config(run_id='r'), flow.context(run_id='r')\n"
    "assert '__interrupt__' not in flow.graph().invoke(flow.input({'topic': 'x'}), config, context=context)\n"
)


def modules_of(code: str) -> set[str]:
    """Every module of a fresh interpreter after running `code`."""
    program = f"from oas_compiler import compile_flow\n{code}import sys\nprint(*sys.modules)"
    shown = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(shown.stdout.split())


@pytest.mark.parametrize("code", ["", RUN_ONCE], ids=["imported", "run once"])
def test_compile_flow_loads_nothing_that_a_plain_flow_does_not_need(code: str) -> None:
    loaded = modules_of(code)
    assert "cinatra_sdk.flow.visit.visit" in loaded, "the control: what runs a flow is there"
    assert [name for name in SELDOM if name in loaded] == []
    assert {"yaml", "jinja2", "psycopg"} & loaded == set()


def test_a_run_loads_only_the_nodes_that_its_flow_has() -> None:
    loaded = modules_of(RUN_ONCE)
    nodes = {name for name in loaded if name.startswith("cinatra_sdk.flow.nodes.")}
    assert nodes == {"cinatra_sdk.flow.nodes.start_and_end"}


def test_nothing_of_a_model_is_loaded_before_one_is_asked() -> None:
    """Neither by importing nor by compiling and running a flow."""
    source = Path(__file__).parent / "golden" / "kind_flow.json"
    code = (
        "import cinatra_sdk, oas_compiler\n"
        "from cinatra_sdk.testing import drive\n"
        "from oas_compiler import compile_flow\n"
        f"assert drive(compile_flow({str(source)!r}), answers=lambda gate: True)"
    )
    of_models = {"a2a", "anthropic", "langchain", "langchain_openai", "mcp", "openai", "tiktoken"}
    assert modules_after(code) & of_models == set()
