"""The package of docs/adding-a-node.md, built, installed beside this one, and used on its flow."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs" / "plugin-slug"
FLOW = EXAMPLE / "flow.json"
TWO_WAYS = EXAMPLE / "two-ways.json"

USE = """
import json, sys
from cinatra_sdk.testing import drive
from oas_compiler import check, compile_flow
from oas_compiler.diff import diff
from oas_compiler.draw import lay_out, svg_text
from oas_compiler.draw.mermaid import mermaid_text
from oas_compiler.explain import explain
from oas_compiler.ir.printout import ir_to_json
from oas_compiler.ir.printout import print_ir
from oas_compiler.pipeline import compile_ir
from oas_compiler.schema.dialect import dialect_schema

file, other, two_ways = sys.argv[1:]
flow, changed = compile_ir(file).ir, compile_ir(other).ir
print(json.dumps({
    "findings": [finding.code for finding in check(file)],
    "ir": print_ir(flow),
    "ir_json": ir_to_json(flow)["nodes"][1],
    "explained": explain(file).to_json()["nodes"][1]["type"],
    "mermaid": mermaid_text(flow),
    "svg": svg_text(lay_out(flow)),
    "diff": json.dumps(diff(flow, changed).to_json()),
    "schema": dialect_schema()["$defs"]["SlugNode"],
    "ways": [
        drive(compile_flow(two_ways), {"topic": topic}).branch
        for topic in ("Bees", "Bees & Wasps & Hornets")
    ],
    "other_findings": [finding.code for finding in check(two_ways)],
    "outputs": drive(compile_flow(file), {"topic": "Bees & Wasps"}).outputs,
}))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process that finds the built package among the installed ones."""
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copytree(EXAMPLE, folder / "source")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=folder / "source", check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder / "site")
    return {**os.environ, "PYTHONPATH": str(folder / "site")}


@pytest.fixture(scope="module")
def told(installed: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What is said of the flow, and of the same flow with another text."""
    other = tmp_path_factory.mktemp("other") / "flow.json"
    other.write_text(FLOW.read_text().replace("About {{ topic }}", "On {{ topic }}"))
    command = [sys.executable, "-W", "ignore", "-c", USE, str(FLOW), str(other), str(TWO_WAYS)]
    done = subprocess.run(command, env=installed, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def test_a_flow_over_the_kind_has_no_findings(told: Any) -> None:
    assert told["findings"] == []


def test_its_ir_has_the_port_that_follows_from_the_template(told: Any) -> None:
    lines = [line.strip() for line in told["ir"].splitlines()]
    at = lines.index('address SlugNode "Address"')
    assert lines[at + 1 : at + 4] == ["in  topic: any", "out slug: string", 'text: "About {{ topic }}"']  # fmt: skip
    assert (told["ir_json"]["kind"], told["ir_json"]["separator"]) == ("SlugNode", "-")


def test_it_is_explained_and_drawn(told: Any) -> None:
    assert told["explained"] == "SlugNode"
    assert 'n_address["Address"]' in told["mermaid"]
    assert ">slug<" in told["svg"]


def test_another_text_is_a_difference(told: Any) -> None:
    assert "On {{ topic }}" in told["diff"]


def test_the_schema_of_flow_files_knows_it(told: Any) -> None:
    assert told["schema"]["required"] == ["component_type", "id", "text"]
    assert told["schema"]["properties"]["text"]["description"] == "The text; a template."


def test_it_runs(told: Any) -> None:
    assert told["outputs"] == {"slug": "about-bees-wasps"}


def test_a_node_of_two_branches_leaves_by_the_branch_that_its_function_names(told: Any) -> None:
    assert told["other_findings"] == []
    assert told["ways"] == ["fits", "too_long"]


def check_flow(text: str, folder: Path, env: dict[str, str]) -> str:
    file = folder / "flow.json"
    file.write_text(text)
    command = [sys.executable, "-c", "from oas_compiler.cli import main; main()", "check", str(file)]  # fmt: skip
    return subprocess.run(command, env=env, check=False, capture_output=True, text=True).stdout


def test_what_is_wrong_with_its_fields_is_told(installed: dict[str, str], tmp_path: Path) -> None:
    flow = json.loads(FLOW.read_text())
    address = flow["$referenced_components"]["address"]
    address |= {"text": "{{ topc", "separator": "--", "txet": ""}
    found = check_flow(json.dumps(flow), tmp_path, installed)
    assert set(re.findall(r"OAS\d+", found)) >= {"OAS022", "OAS024", "OAS080"}


def add_package(folder: Path, name: str, entry_points: str) -> None:
    """A package without code, as an installer leaves it."""
    about = folder / f"{name}-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (about / "entry_points.txt").write_text(f"[oasflow.kind]\n{entry_points}\n")


def test_a_package_that_is_broken_takes_no_findings_of_other_files_away(
    installed: dict[str, str], tmp_path: Path
) -> None:
    add_package(tmp_path, "broken", "BrokenNode = nowhere.at:ALL\nLeavingNode = leaving:ALL")
    (tmp_path / "leaving.py").write_text("import sys\n\nsys.exit(0)\n")
    path = os.pathsep.join((installed["PYTHONPATH"], str(tmp_path)))
    env = {**installed, "PYTHONPATH": path}
    text = FLOW.read_text()
    assert "OAS" not in check_flow(text, tmp_path, env)
    found = check_flow(text.replace("SlugNode", "BrokenNode"), tmp_path, env)
    assert set(re.findall(r"OAS\d+", found)) == {"OAS055"}
    assert 'BrokenNode of the package "broken" cannot be used: nowhere.at:ALL cannot be imported' in found  # fmt: skip
    found = check_flow(text.replace("SlugNode", "LeavingNode"), tmp_path, env)
    assert "leaving:ALL cannot be imported: SystemExit: 0" in found


WITHOUT = """
import importlib.metadata, sys
found = importlib.metadata.entry_points
importlib.metadata.entry_points = lambda **wanted: [
    entry for entry in found(**wanted) if entry.name not in ("SlugNode", "LengthNode")
]
from oas_compiler.cli import main
main()
"""
"""The program where the package is not installed, whatever this environment has."""


def test_without_the_package_the_type_is_not_known() -> None:
    command = [sys.executable, "-c", WITHOUT, "check", str(FLOW)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert '"SlugNode" is not a component type' in done.stdout


@pytest.mark.parametrize(
    "name",
    [
        "pyproject.toml",
        "oasflow_slug/kind.py",
        "oasflow_slug/lowering.py",
        "oasflow_slug/length.py",
        "oasflow_slug/length_lowering.py",
    ],
)
def test_the_documentation_shows_the_files_that_run_here(name: str) -> None:
    text = (ROOT / "docs" / "adding-a-node.md").read_text(encoding="utf-8")
    assert (EXAMPLE / name).read_text(encoding="utf-8") in text
