"""A public flow with an LlmNode, which the SDK of Agent Spec wrote, asks a scripted model."""

from __future__ import annotations

from pathlib import Path

import pytest

from cinatra_sdk.data.schema.samples import sample
from cinatra_sdk.outside.models.model_scripts import ScriptedModel
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "agentspec"


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus of public flows is not beside it")
def test_a_public_flow_asks_its_model() -> None:
    (file,) = CORPUS.rglob("example_serialized_flow_with_properties.*")
    model = ScriptedModel(lambda asked: sample(asked.schema, name="answer"))
    flow = compile_flow(file, models={"*": model})
    schemas = flow.input_schema["properties"]
    assert isinstance(schemas, dict)
    result = drive(flow, {name: sample(dict(one), name=name) for name, one in schemas.items()})
    assert result.error is None
    assert result.status == "completed"
    assert len(model.asked) == 1
