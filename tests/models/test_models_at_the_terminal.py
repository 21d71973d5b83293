"""`oasflow run` of a flow that asks a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from oas_compiler.cli.app import app_for
from tests.models.chat_server import serving
from tests.models.llm_flows import ask_flow

PARTS = """
from cinatra_sdk import HostParts
from cinatra_sdk.outside.models.model_scripts import ScriptedModel

def make_parts():
    return HostParts(models={"*": ScriptedModel(["From the host."])})
"""


def run(dsn: str, path: Path, *words: str) -> Any:
    given = ["run", str(path), "--set", "topic=bees", "--db", dsn, "--json", *words]
    return CliRunner().invoke(app_for(given), given)


def write(folder: Path, **config: Any) -> Path:
    path = folder / "oas.json"
    path.write_text(json.dumps(ask_flow(**config)))
    return path


def outputs_of(done: Any) -> Any:
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["outputs"]


def test_a_server_answers_once_its_address_is_opened(fresh_database: str, tmp_path: Path) -> None:
    with serving("Bees.") as server:
        path = write(
            tmp_path, component_type="OpenAiCompatibleConfig", model_id="m", url=server.url
        )
        refused = run(fresh_database, path)
        assert refused.exit_code != 0
        assert "this process does not open" in refused.output
        assert server.bodies == []
        done = run(fresh_database, path, "--allow", server.url)
    assert outputs_of(done) == {"generated_text": "Bees."}


def test_a_model_of_the_host_answers_and_a_simulation_asks_none(
    fresh_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model_parts.py").write_text(PARTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    path = write(tmp_path)
    host = ("--host", "model_parts:make_parts")
    done = run(fresh_database, path, *host)
    assert outputs_of(done) == {"generated_text": "From the host."}
    made_up = run(fresh_database, path, *host, "--simulate")
    assert outputs_of(made_up) == {"generated_text": "simulated generated_text"}


def test_a_lacking_key_is_said(
    fresh_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = run(fresh_database, write(tmp_path))
    assert done.exit_code != 0
    assert "OPENAI_API_KEY is not set" in done.output
