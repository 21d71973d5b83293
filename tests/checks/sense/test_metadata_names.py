from __future__ import annotations

from tests.checks.rule_case import findings, found
from tests.flows import end, flow_of, gate, start

CODE = "OAS250"


def test_the_reentrant_gate_is_a_gate_of_the_flow():
    made = flow_of(start(), gate("review_text"), end())
    made["metadata"]["cinatra"]["reentrantGate"] = "review_text"
    assert found(made, CODE) == []
    made["metadata"]["cinatra"]["reentrantGate"] = "review_txt"
    (finding,) = findings(made, CODE)
    assert finding.pointer == "/metadata/cinatra/reentrantGate"
    assert finding.hint == 'did you mean "review_text"?'


def test_a_misspelt_block_is_read_by_nobody():
    made = flow_of(start(), gate("ask"), end())
    metadata = made["$referenced_components"]["ask"]["metadata"]
    metadata["team"] = "sales"
    assert found(made, CODE) == []
    metadata["Cinatra"] = metadata.pop("cinatra")
    assert found(made, CODE) == ["/$referenced_components/ask/metadata/Cinatra"]
